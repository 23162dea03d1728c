/* SPDX-License-Identifier: Apache-2.0
 *
 * core.h - the parts of the extension module heddle._core, which is written for CPython's limited API of version 3.11:
 * one binary serves that version and all later ones.
 *
 *     arrays.c     arrays of other libraries as memory, and memory as their arrays
 *     memory.c     memory that batches write
 *     result.c     what a batch delivered
 *     calls.c      a call of an operation: parameters, batch, result
 *     table.c      the type Table
 *     steps.c      the steps of kernels in the simulator
 *     operators.c  kernels of operators of PyTorch
 *     module.c     the module, its error, and the library's lists
 *
 * The module can be loaded by the main interpreter only, so its state is in static variables. All functions are called
 * with the GIL held, unless their comment says otherwise. A function that fails sets a Python exception and returns -1
 * or NULL.
 */
#ifndef HP_CORE_H
#define HP_CORE_H

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdatomic.h>

#include "base/op.h"
#include "heddle.h"
#include "python/src/dlpack.h"

/* ---- Errors (module.c) ------------------------------------------------------------------------------------------ */

/* Raises heddle.Error with the status and a sentence; returns NULL. */
PyObject *hp_fail(hd_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same with hd_why(). */
PyObject *hp_fail_why(hd_status status);
/* Raises heddle.Error about the argument `what`, caused by the exception that is set, unless this is an Error already,
 * or one that is not about the argument: MemoryError, KeyboardInterrupt. Returns NULL. */
PyObject *hp_fail_about(const char *what);
/* The number `o`, which the caller names `what`: an object with __index__, from 0 to 2^64 - 1. */
int hp_number(PyObject *o, const char *what, uint64_t *number);
/* A function of heddle/_arrays.py; a borrowed reference. */
PyObject *hp_helper(const char *name);

/* ---- Types of elements ------------------------------------------------------------------------------------------- */

enum { HP_DIMENSIONS = 8, HP_VIEW_DIMENSIONS = HP_DIMENSIONS + 2 /* items and rows of an item */ };

typedef struct hp_type {
    uint8_t code; /* DL_INT ... */
    uint8_t bits;
} hp_type;

/* "float32" */
const char *hp_type_name(hp_type t, char text[32]);
static inline bool hp_type_same(hp_type a, hp_type b) { return a.code == b.code && a.bits == b.bits; }

/* The type and shape of one value of a table. Opaque bytes have type uint8 and the shape (value_bytes). */
typedef struct hp_value {
    hp_type type;
    int ndim;
    int64_t shape[HP_DIMENSIONS];
    uint64_t bytes; /* of a value */
    bool opaque;    /* arrays of any type are accepted, if a row has so many bytes */
} hp_value;

/* ---- Arrays (arrays.c) ------------------------------------------------------------------------------------------- */

/* Which library an array is of; outputs are made by the same. The numbers are known to heddle/_arrays.py. */
typedef enum hp_kind {
    HP_PLAIN, /* buffers, lists and numbers: outputs are NumPy's if it is there, else memoryviews */
    HP_NUMPY,
    HP_TORCH,
    HP_CUPY,
    HP_JAX,
    HP_OTHER, /* any with the array API's from_dlpack */
    HP_KIND_COUNT
} hp_kind;

typedef struct hp_library {
    PyObject *type; /* of arrays; a reference */
    hp_kind kind;
    const dl_exchange *exchange; /* or NULL */
} hp_library;

typedef enum hp_hold { HP_EMPTY, HP_BUFFER, HP_BORROWED, HP_MANAGED, HP_MANAGED_OLD } hp_hold;

/* An array that is in use: its memory stays until hp_array_leave. */
typedef struct hp_array {
    hp_hold hold;
    PyObject *object; /* a reference */
    Py_buffer buffer;
    void *managed;
    hp_library library; /* the type is borrowed */
    void *data;
    uint64_t bytes, rows; /* of the whole array; the first dimension */
    hp_type type;         /* bits 0: none that a table can have */
    const char *form;     /* such a type in a buffer, or NULL */
    int ndim;
    const int64_t *shape;
    bool read_only;
    dl_device device;
} hp_array;

/* Takes the array `o`, which the caller names `what`. Numbers and lists are converted to `wanted`, and to rows of
 * `row`, if that is not NULL. `stream` is the one that the batch will run on, as __dlpack__ names it, or NULL. */
int hp_array_take(hp_array *a, PyObject *o, const char *what, hp_type wanted, const hp_value *row, PyObject *stream,
                  bool writable);
void hp_array_leave(hp_array *a);
/* Fails if memory does not say what a tensor of PyTorch is, or if a call that writes it would break a gradient.
 * `complex`: its elements may be. */
int hp_tensor_check(PyObject *tensor, const char *what, bool complex, bool writable);
/* PyTorch learns that these tensors, a list, are written, so that no gradient is computed from what they were. */
int hp_tensors_written(PyObject *tensors);
/* Whether the array is in the memory of a device, which this machine does not reach. */
bool hp_array_on_device(const hp_array *a);

const hp_library *hp_library_of(PyTypeObject *type);
/* The device of an array of a library with an exchange table. */
int hp_exchange_device(const dl_exchange *e, PyObject *o, dl_device *device);

/* The kind of arrays where the caller gave none: NumPy's if it is there. */
int hp_kind_usual(hp_kind *kind);

/* Where an array goes: which library's it is, and in which block: of memory.c, or an array of bytes on a device. */
typedef struct hp_place {
    hp_kind kind;
    PyObject *space; /* of HP_OTHER: the namespace of the array API, or NULL */
    PyObject *block;
    char *data; /* of the block */
    dl_device device;
    const dl_exchange *exchange; /* of the library, or NULL */
    bool on_device;
} hp_place;

/* An array over part of a block. A new reference. */
PyObject *hp_view(const hp_place *p, uint64_t offset, hp_type type, int ndim, const int64_t *shape);
/* The same for values, whose own dimensions come last: (rows, ...), or (items, rows, ...). */
PyObject *hp_view_values(const hp_place *p, uint64_t offset, const hp_value *v, int ndim, const int64_t *rows);

int hp_arrays_ready(void);

/* ---- Memory (memory.c) ------------------------------------------------------------------------------------------- */

/* Memory of this machine, aligned to 64 bytes; not cleared. The object has the buffer protocol. */
PyObject *hp_memory(uint64_t bytes, void **data);
/* Memory of a device, allocated by a library; not cleared. `current`: the batch runs on `stream`, and that is the
 * library's current one. */
PyObject *hp_memory_on_device(const dl_exchange *e, dl_device device, uint64_t bytes, void *stream, bool current,
                              void **data);
/* An array is made over memory of a device. */
void hp_memory_lent(PyObject *memory);
/* Clears memory that a batch of a device will write: in the order of its stream, or at once where the device does not
 * reach it. */
int hp_memory_clear(dl_device device, void *p, uint64_t bytes, void *stream);
/* The same without the GIL, and without an exception: 0, or the error's number (hd_device_seam). */
int hp_memory_zero(dl_device device, void *p, uint64_t bytes, void *stream);
/* Frees the memory that is kept for later results. */
void hp_memory_drop_kept(void);

/* A new array of a library with an exchange table, shape (count); not cleared. */
PyObject *hp_library_array(const dl_exchange *e, dl_device device, hp_type type, int64_t count, void **data);

int hp_memory_ready(PyObject *module);

/* ---- Results (result.c) ------------------------------------------------------------------------------------------ */

typedef enum hp_out {
    HP_OUT_SCORE,
    HP_OUT_PTR,
    HP_OUT_KEY,
    HP_OUT_VALUE,
    HP_OUT_COUNT,
    HP_OUT_LIST_KEY, /* from here on every byte that can be read was written */
    HP_OUT_LIST_SCORE,
    HP_OUT_LIST_ITEM,
    HP_OUT_LIST_VALUE,
    HP_OUT_ROWS,
    HP_OUT_OUTCOME,
    HP_OUT_FOUND,
    HP_OUT_MORE,
    HP_OUTS
} hp_out;

/* How large a result is. */
typedef struct hp_extent {
    uint64_t n, list_rows; /* items; rows that the list may have */
    bool ranged;           /* keys and values have `limit` rows for each item */
    uint64_t limit;
} hp_extent;

/* What a batch writes: one block of memory with all outputs. The views are made when they are asked for. */
typedef struct hp_result {
    PyObject_HEAD hp_place place;
    PyObject *view[HP_OUTS]; /* made so far; the caller's own array of values */
    PyObject *listed;        /* made so far */
    uint32_t has;            /* a bit for each output */
    hp_extent extent;
    uint64_t at[HP_OUTS]; /* offset in the block */
    uint64_t unwritten;   /* bytes at the block's start that items may leave as they are */
    uint64_t bytes;       /* of the block */
    hp_value value;
    hd_op op;
} hp_result;

extern PyTypeObject *hp_result_type;
int hp_results_ready(PyObject *module);
/* A new result; `has` says which outputs. `keys` are the batch's, or NULL: their library and device make the block,
 * which is not cleared. stream, current: as for hp_memory_on_device. */
hp_result *hp_result_new(const hp_array *keys, const hp_value *value, hd_op op, hp_extent extent, uint32_t has,
                         void *stream, bool current);
/* The name of an output, and the type of its elements, unless it is values. */
const char *hp_out_name(hp_out out);
hp_type hp_out_type(hp_out out);
/* The view of one output; a new reference. None if the batch did not deliver it. */
PyObject *hp_result_view(hp_result *r, hp_out out);
/* The list, a heddle.Listed; a new reference. None if the operation lists nothing. */
PyObject *hp_result_listed(hp_result *r);
/* The arrays that were made of it so far are about to be written. */
int hp_result_written(const hp_result *r);
/* Gives the batch the addresses of the outputs. */
void hp_result_outputs(const hp_result *r, hd_batch *b);

/* ---- Tables (table.c, calls.c) ----------------------------------------------------------------------------------- */

typedef struct hp_table {
    PyObject_HEAD hd_table *table; /* NULL: closed */
    _Atomic uint32_t calls;        /* that run now, on any thread, and a bit of table.c: the last of them closes it */
    bool on_device;                /* backend cuda */
    bool on_host_machine;
    hp_value value;
    hd_elem elem; /* of accum_or_assign */
    bool elem_known;
    uint32_t repeats;       /* for measurements: how many times a call runs its batch; 0: once */
    double seconds;         /* of the last call's batches, together */
    PyObject *config;       /* names and texts that the table was opened with, a dict */
    PyObject *steps;        /* a list that receives the steps of every batch, or NULL (steps.c) */
    atomic_bool watched;    /* repeats or steps are set */
    int64_t number;         /* for operators; 0: none */
    struct hp_table *next;  /* with a number of the same chain (operators.c) */
    _Atomic uint32_t users; /* operators that use the object without the GIL */
} hp_table;

extern PyTypeObject *hp_table_type;
int hp_tables_ready(PyObject *module);

/* Begins and ends a call that uses the table. hp_table_begin fails if the table is closed. */
int hp_table_begin(hp_table *t);
void hp_table_end(hp_table *t);
/* The same without the GIL, for a table that was opened. hp_table_enter raises nothing. */
bool hp_table_enter(hp_table *t);
void hp_table_leave(hp_table *t);

/* Methods of Table, one per operation, and what they are in words: name, signature, documentation. */
extern PyMethodDef *hp_call_methods;
int hp_calls_ready(void);
PyObject *hp_call_rows(void); /* for stubs and documentation: a list of dicts */
/* Clears the rows and scores of keys that were not found. Each of `value` and `score` may be NULL. Needs no GIL. */
void hp_clear_absent(const bool *found, uint64_t n, char *value, uint64_t value_bytes, uint64_t *score);

/* ---- Operators of PyTorch (operators.c) -------------------------------------------------------------------------- */

/* use_number(table, number): operators use the table by that number from now on. register_operators(): after PyTorch
 * was imported, and the operators were defined. guard_operator(function), operator_failed(error): see operators.c. */
extern PyMethodDef hp_operator_functions[];
/* The table has no number any more. Waits for the operators that use it. */
void hp_operators_forget(hp_table *t);

/* ---- Steps (steps.c) --------------------------------------------------------------------------------------------- */

int hp_steps_set(hp_table *t, bool on);
/* Appends what the last batch did to t->steps. */
int hp_steps_take(hp_table *t, const hd_batch *b);

/* ---- For tests --------------------------------------------------------------------------------------------------- */

/* Whether arrays that say that they are on a CUDA device count as reachable by tables of the simulator, whose memory is
 * this machine's: so rules for devices are tested without one. */
extern bool hp_pretend_device;

#endif

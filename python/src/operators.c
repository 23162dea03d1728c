/* SPDX-License-Identifier: Apache-2.0
 *
 * operators.c - kernels of the operators torch.ops.heddle.* for PyTorch's dispatcher, which calls them without Python
 * and without the GIL.
 *
 * A kernel runs the batches that can be run as they are: the table is open, all arrays are contiguous, of exactly the
 * table's types and shapes, and where the table is. Whatever else there is, right or wrong, is up to the operator of
 * the same name in the namespace heddle_python, which is the implementation in Python (heddle/torch/_ops.py). So rules
 * and sentences about arguments exist once.
 *
 * Errors: a kernel can throw PyTorch's exception only, which arrives in Python as a RuntimeError. The exception that is
 * meant waits in `failure`, and guard_operator, through which Python calls an operator, raises it instead.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "python/src/core.h"
#include "python/src/torch_abi.h"

static torch_abi torch;

/* ---- Tables by number -------------------------------------------------------------------------------------------- */

enum { CHAINS = 64 };
static hp_table *chain[CHAINS]; /* of tables whose numbers have the same rest */
static pthread_mutex_t chains = PTHREAD_MUTEX_INITIALIZER;

static hp_table **chain_of(int64_t number) { return &chain[(uint64_t)number % CHAINS]; }

/* The table of a number, in a call that `leave` ends; NULL: there is none, or it is closed, or only calls with the GIL
 * may use it. */
static hp_table *enter(int64_t number)
{
    pthread_mutex_lock(&chains);
    hp_table *t = *chain_of(number);
    while (t && t->number != number) t = t->next;
    if (t && (atomic_load(&t->watched) || !hp_table_enter(t))) t = NULL;
    if (t) atomic_fetch_add(&t->users, 1);
    pthread_mutex_unlock(&chains);
    return t;
}

static void leave(hp_table *t)
{
    hp_table_leave(t);
    atomic_fetch_sub(&t->users, 1);
}

void hp_operators_forget(hp_table *t)
{
    if (!t->number) return;
    pthread_mutex_lock(&chains);
    hp_table **at = chain_of(t->number);
    while (*at != t) at = &(*at)->next;
    *at = t->next;
    pthread_mutex_unlock(&chains);
    if (!atomic_load(&t->users)) return;
    PyThreadState *state = PyEval_SaveThread();
    while (atomic_load(&t->users)) sched_yield();
    PyEval_RestoreThread(state);
}

static PyObject *use_number(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *object;
    long long number;
    if (!PyArg_ParseTuple(args, "O!L", hp_table_type, &object, &number)) return NULL;
    hp_table *t = (hp_table *)object;
    if (hp_table_begin(t)) return NULL;
    pthread_mutex_lock(&chains);
    bool takes = !t->number && number;
    if (takes) {
        t->number = number;
        t->next = *chain_of(number);
        *chain_of(number) = t;
    }
    pthread_mutex_unlock(&chains);
    hp_table_end(t);
    return PyBool_FromLong(takes);
}

/* ---- Types of elements ------------------------------------------------------------------------------------------- */

static struct {
    const char *symbol;
    hp_type type;
    int32_t dtype; /* PyTorch's number; -1: it has none */
} types[] = {
    { "aoti_torch_dtype_float32", { DL_FLOAT, 32 }, -1 },   { "aoti_torch_dtype_float16", { DL_FLOAT, 16 }, -1 },
    { "aoti_torch_dtype_bfloat16", { DL_BFLOAT, 16 }, -1 }, { "aoti_torch_dtype_float64", { DL_FLOAT, 64 }, -1 },
    { "aoti_torch_dtype_uint8", { DL_UINT, 8 }, -1 },       { "aoti_torch_dtype_int8", { DL_INT, 8 }, -1 },
    { "aoti_torch_dtype_int16", { DL_INT, 16 }, -1 },       { "aoti_torch_dtype_int32", { DL_INT, 32 }, -1 },
    { "aoti_torch_dtype_int64", { DL_INT, 64 }, -1 },       { "aoti_torch_dtype_uint16", { DL_UINT, 16 }, -1 },
    { "aoti_torch_dtype_uint32", { DL_UINT, 32 }, -1 },     { "aoti_torch_dtype_uint64", { DL_UINT, 64 }, -1 },
    { "aoti_torch_dtype_bool", { DL_BOOL, 8 }, -1 }
};
enum { TYPES = sizeof types / sizeof *types };

static int32_t dtype_of(hp_type type)
{
    for (int i = 0; i < TYPES; i++)
        if (hp_type_same(types[i].type, type)) return types[i].dtype;
    return -1;
}

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

typedef struct tensor {
    void *data;
    int64_t ndim, *sizes;
    int32_t dtype, device_type, device;
} tensor;

/* What a contiguous tensor is; false: it is another, or cannot be read. */
static bool read_tensor(torch_tensor o, tensor *t)
{
    bool contiguous = false;
    return !torch.is_contiguous(o, &contiguous) && contiguous && !torch.dtype(o, &t->dtype) &&
           !torch.dimensions(o, &t->ndim) && !torch.sizes(o, &t->sizes) && !torch.device_type(o, &t->device_type) &&
           !torch.device_index(o, &t->device) && !torch.data(o, &t->data);
}

static bool same_device(const tensor *a, const tensor *b)
{
    return a->device_type == b->device_type && a->device == b->device;
}

/* ---- One call ---------------------------------------------------------------------------------------------------- */

typedef enum rows { ROWS_NONE, ROWS_IN, ROWS_OUT, ROWS_CHANGED, ROWS_NEW } rows; /* CHANGED: a copy is written */
typedef enum tells { TELLS_NOTHING, TELLS_FOUND, TELLS_OUTCOME } tells;

typedef struct operation {
    const char *name;
    hd_op op;
    rows rows;
    tells tells;
    const char *in_python;
    torch_kernel *kernel;
} operation;

typedef struct job {
    const operation *o;
    hp_table *t;
    tensor keys, rows;
    hd_batch b;
    torch_tensor made[2]; /* the results */
    int count;
} job;

/* From this size on new rows of this machine are up to Python: memory.c keeps such memory for later results. */
enum { LARGE = 1 << 20 };

static bool keys_fit(const job *j)
{
    const tensor *k = &j->keys;
    int32_t device = j->t->on_device ? torch.device_cuda() : torch.device_cpu();
    bool integers = k->dtype == dtype_of((hp_type){ DL_INT, 64 }) || k->dtype == dtype_of((hp_type){ DL_UINT, 64 });
    return integers && k->ndim == 1 && k->sizes[0] > 0 && k->device_type == device;
}

/* Whether rows have the table's type and shape. */
static bool rows_fit(const job *j)
{
    const hp_value *v = &j->t->value;
    const tensor *r = &j->rows;
    if (r->dtype != dtype_of(v->type) || r->ndim != v->ndim + 1 || r->sizes[0] != j->keys.sizes[0]) return false;
    for (int i = 0; i < v->ndim; i++)
        if (r->sizes[i + 1] != v->shape[i]) return false;
    return same_device(r, &j->keys);
}

static bool apart(const tensor *k, const tensor *r, uint64_t row_bytes)
{
    const char *keys = k->data, *values = r->data;
    uint64_t n = (uint64_t)k->sizes[0];
    return keys + n * sizeof(uint64_t) <= values || values + n * row_bytes <= keys;
}

/* The memory of a result that was made. */
static void *keep_made(job *j)
{
    void *data = NULL;
    return torch.data(j->made[j->count++], &data) ? NULL : data;
}

/* Makes a result: one number per key, or one value. NULL: that failed. */
static void *make(job *j, hp_type type, const hp_value *v)
{
    int64_t sizes[HP_DIMENSIONS + 1] = { j->keys.sizes[0] }, strides[HP_DIMENSIONS + 1], items = 1;
    int ndim = 1 + (v ? v->ndim : 0);
    for (int i = 1; i < ndim; i++) sizes[i] = v->shape[i - 1];
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = items;
        items *= sizes[i];
    }
    int32_t dtype = dtype_of(type);
    if (dtype < 0) return NULL;
    int failed = torch.empty(ndim, sizes, strides, dtype, j->keys.device_type, j->keys.device, &j->made[j->count]);
    return failed ? NULL : keep_made(j);
}

/* PyTorch learns that a tensor is written: a copy of a tensor to itself does that alone. */
static bool tell_written(torch_tensor t)
{
    bool on = torch.gradients_on();
    torch.set_gradients(false);
    int failed = torch.copy(t, t, 0);
    torch.set_gradients(on);
    return !failed;
}

/* A copy without a gradient: what the batch makes of it depends on the table. */
static int copy_of(torch_tensor t, torch_tensor *made)
{
    bool on = torch.gradients_on();
    torch.set_gradients(false);
    int failed = torch.clone(t, made);
    torch.set_gradients(on);
    return failed;
}

/* The batch's rows of values. */
static bool take_rows(job *j, const uint64_t *stack)
{
    const hp_value *v = &j->t->value;
    rows rows = j->o->rows;
    if (rows == ROWS_NONE) return true;
    if (!v->bytes) return false;
    if (rows == ROWS_NEW) {
        bool large = !j->t->on_device && j->b.n * v->bytes >= LARGE;
        if (!large) j->b.value_out = make(j, v->type, v);
        return j->b.value_out;
    }
    torch_tensor given = (torch_tensor)(uintptr_t)stack[3];
    if (!read_tensor(given, &j->rows) || !rows_fit(j) || (rows == ROWS_OUT && !tell_written(given))) return false;
    if (rows == ROWS_IN) j->b.value = j->rows.data;
    if (rows == ROWS_OUT) j->b.value_out = j->rows.data;
    if (rows == ROWS_CHANGED && !copy_of(given, &j->made[j->count])) j->b.value = j->b.value_out = keep_made(j);
    return rows == ROWS_IN || (j->b.value_out && apart(&j->keys, &j->rows, v->bytes));
}

static bool take_tells(job *j)
{
    tells tells = j->o->tells;
    if (tells == TELLS_NOTHING) return true;
    if (tells == TELLS_FOUND) return (j->b.found = make(j, (hp_type){ DL_BOOL, 8 }, NULL));
    return (j->b.outcome = make(j, (hp_type){ DL_UINT, 8 }, NULL));
}

/* Prepares the batch; false: it is up to Python. Nothing has run then. */
static bool prepare(job *j, const uint64_t *stack)
{
    hd_batch *b = &j->b;
    if (hp_pretend_device || !read_tensor((torch_tensor)(uintptr_t)stack[2], &j->keys) || !keys_fit(j)) return false;
    b->op = j->o->op;
    b->n = (uint64_t)j->keys.sizes[0];
    b->key = j->keys.data;
    b->elem = j->t->elem;
    if (b->op == HD_OP_ACCUM_OR_ASSIGN && !j->t->elem_known) return false;
    if (!take_rows(j, stack) || !take_tells(j)) return false;
    if (!j->t->on_device) return true;
    if (torch.cuda_stream(j->keys.device, &b->stream)) return false;
    dl_device device = { DL_CUDA, j->keys.device };
    return j->o->rows != ROWS_NEW || !hp_memory_zero(device, b->value_out, b->n * j->t->value.bytes, b->stream);
}

static hd_status run_batch(job *j)
{
    hd_batch *b = &j->b;
    hd_status s = hd_run(j->t->table, b);
    if (!s && j->o->rows == ROWS_NEW && !j->t->on_device)
        hp_clear_absent(b->found, b->n, b->value_out, j->t->value.bytes, NULL);
    return s;
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static _Thread_local PyObject *failure;  /* the exception that the operator's caller is to get */
static _Thread_local char sentence[512]; /* what PyTorch's exception says */

static void set_failure(PyObject *error)
{
    PyObject *text = PyObject_Str(error);
    const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    snprintf(sentence, sizeof sentence, "%s", utf8 ? utf8 : "an operator failed");
    Py_XDECREF(text);
    PyErr_Clear();
    Py_XDECREF(failure);
    failure = Py_NewRef(error);
}

/* A batch that the library refused. */
static void fail_batch(hd_status s, const char *why)
{
    PyObject *type, *error, *trace;
    PyGILState_STATE state = PyGILState_Ensure();
    hp_fail(s, "%s", why);
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    set_failure(error);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    PyGILState_Release(state);
}

static PyObject *operator_failed(PyObject *module, PyObject *error)
{
    (void)module;
    set_failure(error);
    return Py_NewRef(Py_None);
}

/* Whether the tensor `out` of an operator may be written: the dispatcher does not look. -1: an error is set. */
static int check_out(PyObject *names)
{
    PyObject *out = names ? PyDict_GetItemString(names, "out") : NULL;
    const hp_library *l = out ? hp_library_of(Py_TYPE(out)) : NULL;
    if (out && !l) return -1;
    return l && l->kind == HP_TORCH ? hp_tensor_check(out, "out", true, true) : 0;
}

/* Calls an operator; if it fails, raises what its kernel meant. */
static PyObject *call_guarded(PyObject *function, PyObject *args, PyObject *names)
{
    if (check_out(names)) return NULL;
    Py_CLEAR(failure);
    PyObject *result = PyObject_Call(function, args, names);
    if (result || !failure) return result;
    PyObject *error = failure;
    failure = NULL;
    PyErr_Clear();
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF(error);
    return NULL;
}

static PyObject *guard_operator(PyObject *module, PyObject *function)
{
    static PyMethodDef guarded = { "operator", (PyCFunction)(void (*)(void))call_guarded, METH_VARARGS | METH_KEYWORDS,
                                   NULL };
    (void)module;
    return PyCFunction_New(&guarded, function);
}

/* ---- The kernels ------------------------------------------------------------------------------------------------- */

static void delete_tensors(uint64_t *stack, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) torch.delete_tensor((torch_tensor)(uintptr_t)stack[i]);
}

static void delete_made(job *j)
{
    while (j->count) torch.delete_tensor(j->made[--j->count]);
}

/* Throws, through the caller's frames and this one. So none of them holds anything. */
static void throw_sentence(const operation *o) { torch.check(false, o->name, "heddle", 0, sentence); }

static void run_in_python(const operation *o, uint64_t *stack, uint64_t results)
{
    bool failed = torch.call(o->in_python, "", stack);
    if (failed) snprintf(sentence, sizeof sentence, "heddle: %s failed", o->in_python);
    if (failed || !failure) {
        if (failed) throw_sentence(o);
        return;
    }
    delete_tensors(stack, 0, results);
    throw_sentence(o);
}

static void run(const operation *o, uint64_t *stack, uint64_t arguments, uint64_t results)
{
    job j = { .o = o, .t = enter((int64_t)stack[0]) };
    char why[sizeof sentence] = "";
    bool ready = j.t && prepare(&j, stack);
    hd_status s = ready ? run_batch(&j) : HD_OK;
    if (s) snprintf(why, sizeof why, "%s", hd_why());
    if (j.t) leave(j.t);
    if (!ready) {
        delete_made(&j);
        run_in_python(o, stack, results);
        return;
    }
    delete_tensors(stack, 1, arguments);
    if (s) {
        delete_made(&j);
        fail_batch(s, why);
        throw_sentence(o);
    }
    for (int i = 0; i < j.count; i++) stack[i] = (uint64_t)(uintptr_t)j.made[i];
}

/* A kernel is not told its operator, so each has a function. */
enum { FIND, FIND_OUT, CONTAINS, TOUCH, FIND_OR_INSERT, INSERT_OR_ASSIGN, ASSIGN, ACCUM_OR_ASSIGN, ERASE, OPERATIONS };
static const operation operations[OPERATIONS];

#define KERNEL(function, row) \
    static void function(uint64_t *stack, uint64_t in, uint64_t out) { run(&operations[row], stack, in, out); }
KERNEL(run_find, FIND)
KERNEL(run_find_out, FIND_OUT)
KERNEL(run_contains, CONTAINS)
KERNEL(run_touch, TOUCH)
KERNEL(run_find_or_insert, FIND_OR_INSERT)
KERNEL(run_insert_or_assign, INSERT_OR_ASSIGN)
KERNEL(run_assign, ASSIGN)
KERNEL(run_accum_or_assign, ACCUM_OR_ASSIGN)
KERNEL(run_erase, ERASE)
#undef KERNEL

#define PYTHON "heddle_python::"
static const operation operations[OPERATIONS] = {
    [FIND] = { "find", HD_OP_FIND, ROWS_NEW, TELLS_FOUND, PYTHON "find", run_find },
    [FIND_OUT] = { "find_out", HD_OP_FIND, ROWS_OUT, TELLS_NOTHING, PYTHON "find_out", run_find_out },
    [CONTAINS] = { "contains", HD_OP_CONTAINS, ROWS_NONE, TELLS_FOUND, PYTHON "contains", run_contains },
    [TOUCH] = { "touch", HD_OP_TOUCH, ROWS_NEW, TELLS_FOUND, PYTHON "touch", run_touch },
    [FIND_OR_INSERT] = { "find_or_insert", HD_OP_FIND_OR_INSERT, ROWS_CHANGED, TELLS_OUTCOME, PYTHON "find_or_insert",
                         run_find_or_insert },
    [INSERT_OR_ASSIGN] = { "insert_or_assign", HD_OP_INSERT_OR_ASSIGN, ROWS_IN, TELLS_OUTCOME,
                           PYTHON "insert_or_assign", run_insert_or_assign },
    [ASSIGN] = { "assign", HD_OP_ASSIGN, ROWS_IN, TELLS_OUTCOME, PYTHON "assign", run_assign },
    [ACCUM_OR_ASSIGN] = { "accum_or_assign", HD_OP_ACCUM_OR_ASSIGN, ROWS_IN, TELLS_OUTCOME, PYTHON "accum_or_assign",
                          run_accum_or_assign },
    [ERASE] = { "erase", HD_OP_ERASE, ROWS_NONE, TELLS_OUTCOME, PYTHON "erase", run_erase },
};

/* ---- Registration ------------------------------------------------------------------------------------------------ */

static const struct {
    const char *symbol;
    size_t at; /* of the pointer in torch_abi */
} functions[] = {
    { "aoti_torch_abi_version", offsetof(torch_abi, version) },
    { "aoti_torch_device_type_cpu", offsetof(torch_abi, device_cpu) },
    { "aoti_torch_device_type_cuda", offsetof(torch_abi, device_cuda) },
    { "aoti_torch_delete_tensor_object", offsetof(torch_abi, delete_tensor) },
    { "aoti_torch_get_data_ptr", offsetof(torch_abi, data) },
    { "aoti_torch_get_dim", offsetof(torch_abi, dimensions) },
    { "aoti_torch_get_sizes", offsetof(torch_abi, sizes) },
    { "aoti_torch_get_dtype", offsetof(torch_abi, dtype) },
    { "aoti_torch_get_device_type", offsetof(torch_abi, device_type) },
    { "aoti_torch_get_device_index", offsetof(torch_abi, device_index) },
    { "aoti_torch_is_contiguous", offsetof(torch_abi, is_contiguous) },
    { "aoti_torch_empty_strided", offsetof(torch_abi, empty) },
    { "aoti_torch_clone", offsetof(torch_abi, clone) },
    { "aoti_torch_copy_", offsetof(torch_abi, copy) },
    { "aoti_torch_grad_mode_is_enabled", offsetof(torch_abi, gradients_on) },
    { "aoti_torch_grad_mode_set_enabled", offsetof(torch_abi, set_gradients) },
    { "aoti_torch_library_init_impl", offsetof(torch_abi, library) },
    { "aoti_torch_library_impl", offsetof(torch_abi, implement) },
    { "aoti_torch_call_dispatcher", offsetof(torch_abi, call) },
    { "aoti_torch_check", offsetof(torch_abi, check) },
};

/* A function of a library that is loaded; false: there is none. */
static bool find_function(void *library, const char *symbol, void *pointer)
{
    void *f = library ? dlsym(library, symbol) : NULL;
    memcpy(pointer, &f, sizeof f);
    return f;
}

/* Finds PyTorch's functions; false: this PyTorch gets no kernels in C. */
static bool find_torch(void)
{
    void *library = dlopen("libtorch_cpu.so", RTLD_NOLOAD | RTLD_LAZY);
    bool all = library;
    for (size_t i = 0; all && i < sizeof functions / sizeof *functions; i++)
        all = find_function(library, functions[i].symbol, (char *)&torch + functions[i].at);
    if (!all) return false;
    uint64_t version = torch.version(), minor = version >> 48 & 0xff;
    if (version >> 56 != 2 || minor < TORCH_MINOR_LEAST || minor > TORCH_MINOR_MOST) return false;
    for (int i = 0; i < TYPES; i++) {
        int32_t (*dtype)(void) = NULL;
        if (find_function(library, types[i].symbol, &dtype)) types[i].dtype = dtype();
    }
    find_function(dlopen("libtorch_cuda.so", RTLD_NOLOAD | RTLD_LAZY), "aoti_torch_get_current_cuda_stream",
                  &torch.cuda_stream);
    return true;
}

/* Registers the kernels for a dispatch key; a list of the names. PyTorch keeps the library for good. */
static PyObject *register_for(const char *key)
{
    torch_library library;
    PyObject *names = PyList_New(0);
    if (!names || torch.library("heddle", key, "heddle", 0, &library)) return names;
    for (int i = 0; i < OPERATIONS; i++) {
        if (torch.implement(library, operations[i].name, operations[i].kernel)) continue;
        PyObject *name = PyUnicode_FromString(operations[i].name);
        int failed = !name || PyList_Append(names, name);
        Py_XDECREF(name);
        if (failed) return Py_DECREF(names), NULL;
    }
    return names;
}

/* {dispatch key: names of operators whose kernels are in C}. Once for all. */
static PyObject *register_operators(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    bool found = find_torch();
    PyObject *cpu = found ? register_for("CPU") : PyList_New(0);
    PyObject *cuda = found && torch.cuda_stream ? register_for("CUDA") : PyList_New(0);
    if (cpu && cuda) return Py_BuildValue("{s:N,s:N}", "CPU", cpu, "CUDA", cuda);
    Py_XDECREF(cpu);
    Py_XDECREF(cuda);
    return NULL;
}

PyMethodDef hp_operator_functions[] = {
    { "use_number", use_number, METH_VARARGS, NULL },
    { "register_operators", register_operators, METH_NOARGS, NULL },
    { "guard_operator", guard_operator, METH_O, NULL },
    { "operator_failed", operator_failed, METH_O, NULL },
    { NULL, NULL, 0, NULL },
};

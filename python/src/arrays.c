/* SPDX-License-Identifier: Apache-2.0
 *
 * arrays.c - arrays of other libraries as memory, and memory as their arrays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "python/src/core.h"

const char *hp_type_name(hp_type t, char text[32])
{
    static const char *const code[] = { "int", "uint", "float", "handle", "bfloat", "complex", "bool" };
    if (t.code == DL_BOOL) return "bool";
    snprintf(text, 32, "%s%u", t.code < sizeof code / sizeof *code ? code[t.code] : "type", t.bits);
    return text;
}

/* ---- Libraries --------------------------------------------------------------------------------------------------- */

enum { LIBRARIES = 64 };
static hp_library library[LIBRARIES];
static size_t libraries;

static const dl_exchange *exchange_of(PyObject *type)
{
    PyObject *capsule = PyObject_GetAttrString(type, "__dlpack_c_exchange_api__");
    if (!capsule) return PyErr_Clear(), NULL;
    dl_exchange_header *h = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    Py_DECREF(capsule);
    if (!h) PyErr_Clear();
    while (h && h->version.major != 1) h = h->previous;
    return (const dl_exchange *)h;
}

const hp_library *hp_library_of(PyTypeObject *type)
{
    for (size_t i = 0; i < libraries; i++)
        if (library[i].type == (PyObject *)type) return &library[i];
    PyObject *number = PyObject_CallFunctionObjArgs(hp_helper("kind_of"), (PyObject *)type, NULL);
    if (!number) return NULL;
    long kind = PyLong_AsLong(number);
    Py_DECREF(number);
    if (kind < 0 || kind >= HP_KIND_COUNT) return PyErr_SetString(PyExc_SystemError, "kind_of: no such kind"), NULL;
    size_t i = libraries < LIBRARIES ? libraries++ : LIBRARIES - 1;
    Py_XDECREF(library[i].type);
    library[i] = (hp_library){ Py_NewRef((PyObject *)type), (hp_kind)kind, exchange_of((PyObject *)type) };
    return &library[i];
}

int hp_kind_usual(hp_kind *kind)
{
    const hp_library *l = hp_library_of(&PyList_Type);
    if (!l) return -1;
    *kind = l->kind;
    return 0;
}

/* ---- Arrays in --------------------------------------------------------------------------------------------------- */

/* Interned: each new text would get a place in the interpreter's cache of attributes. */
static PyObject *dlpack_name, *is_neg_name, *is_conj_name, *requires_grad_name;

/* Whether elements of a buffer's format are, or contain, references of Python's: the format has an O outside of names,
 * which stand between colons. */
static bool has_objects(const char *format)
{
    bool name = false;
    for (; format && *format; format++) {
        if (*format == ':') name = !name;
        if (*format == 'O' && !name) return true;
    }
    return false;
}

/* The element type of a buffer's format; bits 0: it is none that a table can have. */
static hp_type type_of_format(const char *format, Py_ssize_t bytes)
{
    if (!format) return (hp_type){ DL_UINT, 8 };
    if (*format == '@' || *format == '=' || *format == '<') format++;
    if (!*format || format[1]) return (hp_type){ 0, 0 };
    uint8_t bits = (uint8_t)(8 * bytes);
    if (strchr("bhilqn", *format)) return (hp_type){ DL_INT, bits };
    if (strchr("BHILQNc", *format)) return (hp_type){ DL_UINT, bits };
    if (strchr("efd", *format)) return (hp_type){ DL_FLOAT, bits };
    return *format == '?' ? (hp_type){ DL_BOOL, 8 } : (hp_type){ 0, 0 };
}

/* What a type is that no table has. */
static const char *type_in_words(const hp_array *a, char text[64])
{
    const char *form = a->form ? a->form : "", *order = "";
    if (*form == '>' || *form == '!') order = " of the other byte order";
    if (*form && strchr("@=<>!", *form)) form++;
    int bits = 8 * (int)a->buffer.itemsize;
    hp_type t = type_of_format(form, a->buffer.itemsize);
    char name[32];
    if (!a->form)
        snprintf(text, 64, "vector");
    else if (*form == 'T')
        snprintf(text, 64, "structure");
    else if (form[strspn(form, "0123456789")] && strchr("swup", form[strspn(form, "0123456789")]))
        snprintf(text, 64, "text");
    else if (*form == 'Z' || *form == 'g')
        snprintf(text, 64, "%s%d%s", *form == 'Z' ? "complex" : "float", bits, order);
    else if (t.bits)
        snprintf(text, 64, "%s%s", hp_type_name(t, name), order);
    else
        snprintf(text, 64, "the format '%.30s'", a->form);
    return text;
}

static int take_buffer(hp_array *a, PyObject *o, const char *what, bool writable)
{
    if (PyObject_GetBuffer(o, &a->buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0))) {
        PyErr_Clear();
        if (PyObject_GetBuffer(o, &a->buffer, PyBUF_FULL_RO)) {
            PyObject *kind, *error, *trace; /* not pending while an attribute is looked up */
            PyErr_Fetch(&kind, &error, &trace);
            bool other_way = PyObject_HasAttr(o, dlpack_name);
            if (!other_way) return PyErr_Restore(kind, error, trace), -1;
            Py_XDECREF(kind);
            Py_XDECREF(error);
            Py_XDECREF(trace);
            return 1;
        }
        bool gaps = !PyBuffer_IsContiguous(&a->buffer, 'C');
        PyBuffer_Release(&a->buffer);
        hp_fail(HD_EINVAL, "%s: %s", what, gaps ? "not contiguous; pass a copy" : "read-only, but the call writes it");
        return -1;
    }
    a->hold = HP_BUFFER;
    if (has_objects(a->buffer.format)) return hp_fail(HD_EINVAL, "%s: elements are Python objects", what), -1;
    a->data = a->buffer.buf;
    a->bytes = (uint64_t)a->buffer.len;
    a->type = type_of_format(a->buffer.format, a->buffer.itemsize);
    a->form = a->buffer.format;
    a->ndim = a->buffer.ndim;
    _Static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "shapes of buffers are 64 bits");
    a->shape = (const int64_t *)(const void *)a->buffer.shape;
    a->read_only = a->buffer.readonly;
    a->device = (dl_device){ DL_CPU, 0 };
    return 0;
}

static int take_tensor(hp_array *a, const dl_tensor *t, const char *what)
{
    uint64_t items = 1;
    int32_t on = t->device.type;
    if (on != DL_CPU && on != DL_CUDA && on != DL_CUDA_HOST && on != DL_CUDA_MANAGED)
        return hp_fail(HD_EINVAL, "%s: on a device of DLPack's type %d, which no table reaches", what, on), -1;
    for (int i = t->ndim - 1; i >= 0; i--) {
        if (t->strides && t->shape[i] != 1 && t->strides[i] != (int64_t)items) {
            uint64_t all = 1;
            for (int k = 0; k < t->ndim; k++) all *= (uint64_t)t->shape[k];
            if (all) return hp_fail(HD_EINVAL, "%s: not contiguous; pass a copy", what), -1;
        }
        items *= (uint64_t)t->shape[i];
    }
    a->bytes = items * ((t->type.bits + 7u) / 8) * t->type.lanes;
    if (a->bytes && !t->data) return hp_fail(HD_EINVAL, "%s: its library gives no memory of it", what), -1;
    a->data = (char *)t->data + t->byte_offset;
    a->type = (hp_type){ t->type.code, t->type.lanes == 1 ? t->type.bits : 0 };
    a->ndim = t->ndim;
    a->shape = t->shape;
    a->device = t->device;
    return 0;
}

static int take_managed(hp_array *a, const dl_managed *m, const char *what, bool writable)
{
    a->read_only = m->flags & DL_READ_ONLY;
    if (writable && m->flags & DL_IS_COPIED)
        return hp_fail(HD_EINVAL, "%s: its library delivers a copy, but the call writes it", what), -1;
    return take_tensor(a, &m->tensor, what);
}

static int take_exchange(hp_array *a, PyObject *o, const char *what, bool writable)
{
    const dl_exchange *e = a->library.exchange;
    if (e->borrow) {
        dl_tensor t;
        if (e->borrow(o, &t)) return -1;
        a->hold = HP_BORROWED;
        return take_tensor(a, &t, what);
    }
    dl_managed *m;
    if (e->from_object(o, &m)) return -1;
    a->hold = HP_MANAGED;
    a->managed = m;
    return take_managed(a, m, what, writable);
}

int hp_exchange_device(const dl_exchange *e, PyObject *o, dl_device *device)
{
    dl_tensor t;
    dl_managed *m;
    if (e->borrow) {
        if (e->borrow(o, &t)) return -1;
        *device = t.device;
        return 0;
    }
    if (e->from_object(o, &m)) return -1;
    *device = m->tensor.device;
    if (m->deleter) m->deleter(m);
    return 0;
}

/* o.__dlpack__(stream=..., max_version=(1, 0)), or without the version for producers of earlier ones. */
static PyObject *capsule_of(PyObject *o, PyObject *stream)
{
    PyObject *args = PyTuple_Pack(2, o, stream ? stream : Py_None), *capsule = NULL;
    if (args) capsule = PyObject_CallObject(hp_helper("capsule_of"), args);
    Py_XDECREF(args);
    return capsule;
}

/* Py_DECREF where an exception may be set, which the object's destructor must not see. */
static void drop(PyObject *o)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    Py_DECREF(o);
    PyErr_Restore(type, error, trace);
}

static int take_capsule(hp_array *a, PyObject *o, const char *what, PyObject *stream, bool writable)
{
    PyObject *capsule = capsule_of(o, stream);
    if (!capsule) return -1;
    int failed = -1;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        dl_managed *m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (m->version.major != 1)
            hp_fail(HD_EINVAL, "%s: DLPack %u.%u is not supported", what, m->version.major, m->version.minor);
        else if (!PyCapsule_SetName(capsule, "used_dltensor_versioned")) {
            a->hold = HP_MANAGED;
            a->managed = m;
            failed = take_managed(a, m, what, writable);
        }
    } else {
        dl_managed_old *m = PyCapsule_GetPointer(capsule, "dltensor");
        if (m && !PyCapsule_SetName(capsule, "used_dltensor")) {
            a->hold = HP_MANAGED_OLD;
            a->managed = m;
            failed = take_tensor(a, &m->tensor, what);
        }
    }
    drop(capsule);
    return failed;
}

static PyObject *shape_tuple(int ndim, const int64_t *shape)
{
    PyObject *t = PyTuple_New(ndim);
    for (int i = 0; t && i < ndim; i++) {
        PyObject *n = PyLong_FromLongLong(shape[i]);
        if (!n) return Py_DECREF(t), NULL;
        PyTuple_SetItem(t, i, n);
    }
    return t;
}

static int take_converted(hp_array *a, PyObject *o, const char *what, hp_type wanted, const hp_value *row)
{
    PyObject *shape = shape_tuple(row ? row->ndim : 0, row ? row->shape : NULL);
    PyObject *args = Py_BuildValue("OiiN", o, wanted.code, wanted.bits, shape), *array = NULL;
    if (args) array = PyObject_CallObject(hp_helper("convert"), args);
    Py_XDECREF(args);
    if (!array) return -1;
    int failed = take_buffer(a, array, what, false);
    Py_XDECREF(a->object);
    a->object = array;
    return failed;
}

/* A method of a tensor that tells something: 1, 0, or -1 if it fails. */
static int tells(PyObject *tensor, PyObject *method)
{
    PyObject *is = PyObject_CallMethodObjArgs(tensor, method, NULL);
    int truth = is ? PyObject_IsTrue(is) : -1;
    Py_XDECREF(is);
    return truth;
}

int hp_tensor_check(PyObject *tensor, const char *what, bool complex, bool writable)
{
    int neg = tells(tensor, is_neg_name), conj = neg >= 0 && complex ? tells(tensor, is_conj_name) : neg;
    if (neg < 0 || conj < 0) return -1;
    if (neg || conj)
        return hp_fail(HD_EINVAL, "%s: a tensor with PyTorch's lazy %s bit; pass %s.resolve_%s()", what,
                       neg ? "negative" : "conjugate", what, neg ? "neg" : "conj"),
               -1;
    if (!writable) return 0;
    PyObject *needs = PyObject_GetAttr(tensor, requires_grad_name), *on = NULL;
    if (needs == Py_True) on = PyObject_CallFunctionObjArgs(hp_helper("torch_gradients_on"), NULL);
    int refused = !needs || PyErr_Occurred() ? -1 : on == Py_True ? 1 : 0;
    Py_XDECREF(needs);
    Py_XDECREF(on);
    if (refused > 0)
        hp_fail(HD_EINVAL,
                "%s: the tensor requires grad, but the call has no gradient; pass %s.detach(), or use "
                "torch.no_grad()",
                what, what);
    return refused ? -1 : 0;
}

int hp_tensors_written(PyObject *tensors)
{
    static PyObject *written; /* a function of PyTorch */
    if (!written) written = PyObject_CallFunctionObjArgs(hp_helper("torch_written"), NULL);
    PyObject *none = written ? PyObject_CallFunctionObjArgs(written, tensors, NULL) : NULL;
    Py_XDECREF(none);
    return none ? 0 : -1;
}

static int take(hp_array *a, PyObject *o, const char *what, hp_type wanted, const hp_value *row, PyObject *stream,
                bool writable)
{
    if (a->library.exchange) return take_exchange(a, o, what, writable);
    if (PyObject_CheckBuffer(o)) {
        int failed = take_buffer(a, o, what, writable);
        if (failed <= 0) return failed;
        return take_capsule(a, o, what, stream, writable);
    }
    if (PyObject_HasAttr(o, dlpack_name)) return take_capsule(a, o, what, stream, writable);
    if (writable) return hp_fail(HD_EINVAL, "%s: not an array", what), -1;
    return take_converted(a, o, what, wanted, row);
}

/* What holds for every array. The library takes values at any address. */
static int check_taken(const hp_array *a, const char *what, const hp_value *row, bool writable)
{
    char words[64];
    uint64_t unit = a->type.bits / 8u;
    if (!a->type.bits && !(row && row->opaque))
        return hp_fail(HD_EINVAL, "%s: elements of type %s, which no table has", what, type_in_words(a, words)), -1;
    if (writable && a->read_only) return hp_fail(HD_EINVAL, "%s: read-only, but the call writes it", what), -1;
    if (row || !a->bytes || unit < 2 || (uintptr_t)a->data % unit == 0) return 0;
    hp_fail(HD_EINVAL, "%s: misaligned: its address is no multiple of %d; pass a copy", what, (int)unit);
    return -1;
}

int hp_array_take(hp_array *a, PyObject *o, const char *what, hp_type wanted, const hp_value *row, PyObject *stream,
                  bool writable)
{
    const hp_library *l = hp_library_of(Py_TYPE(o));
    if (!l) return -1;
    a->library = *l;
    a->object = Py_NewRef(o);
    if (writable && l->kind == HP_JAX) hp_fail(HD_EINVAL, "%s: arrays of JAX cannot be written", what);
    int failed = PyErr_Occurred() ? -1 : take(a, o, what, wanted, row, stream, writable);
    if (!failed && l->kind == HP_TORCH && a->hold != HP_BUFFER)
        failed = hp_tensor_check(o, what, a->type.code == DL_COMPLEX, writable);
    if (failed)
        hp_fail_about(what);
    else
        failed = check_taken(a, what, row, writable);
    if (failed) {
        hp_array_leave(a);
        return -1;
    }
    a->rows = a->ndim ? (uint64_t)a->shape[0] : 1;
    return 0;
}

void hp_array_leave(hp_array *a)
{
    PyObject *type, *error, *trace; /* a deleter may run Python, which must not see an error, and may clear it */
    PyErr_Fetch(&type, &error, &trace);
    if (a->hold == HP_BUFFER) PyBuffer_Release(&a->buffer);
    if (a->hold == HP_MANAGED && ((dl_managed *)a->managed)->deleter) ((dl_managed *)a->managed)->deleter(a->managed);
    if (a->hold == HP_MANAGED_OLD && ((dl_managed_old *)a->managed)->deleter)
        ((dl_managed_old *)a->managed)->deleter(a->managed);
    a->hold = HP_EMPTY;
    Py_CLEAR(a->object);
    PyErr_Restore(type, error, trace);
}

bool hp_array_on_device(const hp_array *a) { return a->device.type == DL_CUDA; }

/* ---- Arrays out -------------------------------------------------------------------------------------------------- */

/* NumPy's, once it is imported: ndarray, and the dtypes of all elements. */
static PyObject *numpy_ndarray;
static struct {
    hp_type type;
    PyObject *dtype;
} numpy_type[16];
static size_t numpy_types;

static PyObject *numpy_dtype(hp_type t)
{
    for (size_t i = 0; i < numpy_types; i++)
        if (hp_type_same(numpy_type[i].type, t)) return numpy_type[i].dtype;
    PyObject *args = Py_BuildValue("(ii)", t.code, t.bits), *dtype = NULL;
    if (args) dtype = PyObject_CallObject(hp_helper("numpy_dtype"), args);
    Py_XDECREF(args);
    if (!dtype) return NULL;
    if (numpy_types == sizeof numpy_type / sizeof *numpy_type) numpy_types--; /* the references of all stay */
    numpy_type[numpy_types].type = t;
    numpy_type[numpy_types].dtype = dtype;
    return numpy_type[numpy_types++].dtype;
}

static PyObject *numpy_view(PyObject *block, uint64_t offset, hp_type type, int ndim, const int64_t *shape)
{
    if (!numpy_ndarray) {
        PyObject *numpy = PyImport_ImportModule("numpy");
        if (!numpy) return NULL;
        numpy_ndarray = PyObject_GetAttrString(numpy, "ndarray");
        Py_DECREF(numpy);
        if (!numpy_ndarray) return NULL;
    }
    PyObject *dtype = numpy_dtype(type), *args = PyTuple_New(4), *array = NULL;
    if (dtype && args) {
        PyTuple_SetItem(args, 0, shape_tuple(ndim, shape));
        PyTuple_SetItem(args, 1, Py_NewRef(dtype));
        PyTuple_SetItem(args, 2, Py_NewRef(block));
        PyTuple_SetItem(args, 3, PyLong_FromUnsignedLongLong(offset));
        if (!PyErr_Occurred()) array = PyObject_Call(numpy_ndarray, args, NULL);
    }
    Py_XDECREF(args);
    return array;
}

/* Tensors over part of a block, for a library: by its exchange table, or in a capsule of the older form, which all
 * libraries know. They have a reference to the block. */
typedef struct lent {
    dl_managed managed;
    int64_t shape[HP_VIEW_DIMENSIONS];
} lent;

typedef struct lent_old {
    dl_managed_old managed;
    int64_t shape[HP_VIEW_DIMENSIONS];
} lent_old;

/* A library may give a tensor back on any thread. */
static void give_back(void *tensor, void *block)
{
    if (Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF((PyObject *)block);
        PyGILState_Release(state);
    }
    free(tensor);
}

static void lent_back(dl_managed *m) { give_back(m, m->context); }
static void lent_old_back(dl_managed_old *m) { give_back(m, m->context); }

/* `own` is the tensor's memory for its shape. */
static dl_tensor part_of(const hp_place *p, uint64_t offset, hp_type type, int ndim, const int64_t *shape, int64_t *own)
{
    memcpy(own, shape, sizeof *shape * (size_t)ndim);
    return (dl_tensor){
        .data = p->data + offset, .device = p->device, .ndim = ndim, .type = { type.code, type.bits, 1 }, .shape = own
    };
}

static PyObject *exchange_view(const hp_place *p, uint64_t offset, hp_type type, int ndim, const int64_t *shape)
{
    lent *l = calloc(1, sizeof *l);
    void *object = NULL;
    if (!l) return PyErr_NoMemory();
    if (p->on_device) hp_memory_lent(p->block);
    l->managed.version = (dl_version){ 1, 0 };
    l->managed.context = Py_NewRef(p->block);
    l->managed.deleter = lent_back;
    l->managed.tensor = part_of(p, offset, type, ndim, shape, l->shape);
    return p->exchange->to_object(&l->managed, &object) ? NULL : object;
}

static void capsule_free(PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, "dltensor")) return; /* a library has it */
    dl_managed_old *m = PyCapsule_GetPointer(capsule, "dltensor");
    m->deleter(m);
}

static PyObject *capsule_view(const hp_place *p, uint64_t offset, hp_type type, int ndim, const int64_t *shape)
{
    lent_old *l = calloc(1, sizeof *l);
    if (!l) return PyErr_NoMemory();
    l->managed.context = Py_NewRef(p->block);
    l->managed.deleter = lent_old_back;
    l->managed.tensor = part_of(p, offset, type, ndim, shape, l->shape);
    PyObject *capsule = PyCapsule_New(l, "dltensor", capsule_free);
    if (!capsule) return lent_old_back(&l->managed), NULL;
    PyObject *args = Py_BuildValue("Ni", capsule, p->device.id), *array = NULL;
    if (args) array = PyObject_CallObject(hp_helper("jax_array"), args);
    Py_XDECREF(args);
    return array;
}

static bool is_empty(int ndim, const int64_t *shape)
{
    for (int i = 0; i < ndim; i++)
        if (shape[i] == 0) return true;
    return false;
}

PyObject *hp_view(const hp_place *p, uint64_t offset, hp_type type, int ndim, const int64_t *shape)
{
    if (p->exchange) return exchange_view(p, offset, type, ndim, shape);
    if (p->kind == HP_NUMPY) return numpy_view(p->block, offset, type, ndim, shape);
    if (p->kind == HP_JAX && p->on_device && !is_empty(ndim, shape)) return capsule_view(p, offset, type, ndim, shape);
    PyObject *args = Py_BuildValue("iOOiKiiN", p->kind, p->space ? p->space : Py_None, p->block, p->on_device,
                                   (unsigned long long)offset, type.code, type.bits, shape_tuple(ndim, shape)),
             *array = NULL;
    if (args) array = PyObject_CallObject(hp_helper("view"), args);
    Py_XDECREF(args);
    return array;
}

PyObject *hp_view_values(const hp_place *p, uint64_t offset, const hp_value *v, int ndim, const int64_t *rows)
{
    int64_t shape[HP_VIEW_DIMENSIONS];
    memcpy(shape, rows, sizeof *shape * (size_t)ndim);
    memcpy(shape + ndim, v->shape, sizeof *shape * (size_t)v->ndim);
    return hp_view(p, offset, v->type, v->ndim + ndim, shape);
}

int hp_arrays_ready(void)
{
    const struct {
        PyObject **name;
        const char *text;
    } names[] = { { &dlpack_name, "__dlpack__" },
                  { &is_neg_name, "is_neg" },
                  { &is_conj_name, "is_conj" },
                  { &requires_grad_name, "requires_grad" } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!*names[i].name && !(*names[i].name = PyUnicode_InternFromString(names[i].text))) return -1;
    return 0;
}

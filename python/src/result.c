/* SPDX-License-Identifier: Apache-2.0
 *
 * result.c - what a batch delivered. All outputs are in one block of memory; attributes make arrays over parts of it
 * when they are read. So a call pays for one allocation, however many outputs it has.
 */
#include <string.h>

#include "base/seam.h"
#include "python/src/core.h"

bool hp_pretend_device;

PyTypeObject *hp_result_type;

static const hp_type u64 = { DL_UINT, 64 }, u32 = { DL_UINT, 32 }, u8 = { DL_UINT, 8 }, truth = { DL_BOOL, 8 };

/* The outputs, in the order of their places in the block: those with the greatest alignment first. */
static const struct {
    const char *name, *doc;
    bool listed;   /* has list_rows rows, not n */
    uint8_t bytes; /* of a row; 0: value_bytes */
} outs[HP_OUTS] = {
    [HP_OUT_SCORE] = { "score", "Scores of the entries that were found: uint64, shape (n).", false, 8 },
    [HP_OUT_PTR] = { "ptr", "Addresses of values in the table: uint64, shape (n).", false, 8 },
    [HP_OUT_KEY] = { "key",
                     "Keys of the entries that an ordered operation found; zeros in the other rows: uint64, shape (n), "
                     "of a range (n, limit).",
                     false, 8 },
    [HP_OUT_VALUE] = { "value",
                       "Values of the entries that were found; zeros in the other rows, unless `out` was "
                       "given: shape (n, ...), of a range (n, limit, ...).",
                       false, 0 },
    [HP_OUT_COUNT] = { "count", NULL, true, 8 },
    [HP_OUT_LIST_KEY] = { "list_key", NULL, true, 8 },
    [HP_OUT_LIST_SCORE] = { "list_score", NULL, true, 8 },
    [HP_OUT_LIST_ITEM] = { "list_item", NULL, true, 8 },
    [HP_OUT_LIST_VALUE] = { "list_value", NULL, true, 0 },
    [HP_OUT_ROWS] = { "rows", "How many entries of its range each item has: uint32, shape (n).", false, 4 },
    [HP_OUT_OUTCOME] = { "outcome", "What became of each item, a heddle.Outcome: uint8, shape (n).", false, 1 },
    [HP_OUT_FOUND] = { "found",
                       "Whether the key was there when the item took effect; of ordered operations, whether there is "
                       "such an entry: bool, shape (n).",
                       false, 1 },
    [HP_OUT_MORE] = { "more", "Whether the range of each item has more entries than `rows`: bool, shape (n).", false,
                      1 },
};

const char *hp_out_name(hp_out out) { return outs[out].name; }
hp_type hp_out_type(hp_out out)
{
    switch (out) {
    case HP_OUT_FOUND:
    case HP_OUT_MORE: return truth;
    case HP_OUT_OUTCOME: return u8;
    case HP_OUT_ROWS: return u32;
    default: return u64;
    }
}

/* ---- The block --------------------------------------------------------------------------------------------------- */

/* Whether each item has several rows of the output. */
static bool is_ranged(const hp_result *r, int out)
{
    return r->extent.ranged && (out == HP_OUT_KEY || out == HP_OUT_VALUE);
}

static uint64_t lay_out(hp_result *r)
{
    uint64_t at = 0;
    for (int out = 0; out < HP_OUTS; out++) {
        if (!(r->has >> out & 1)) continue;
        uint64_t rows = out == HP_OUT_COUNT ? 1 : outs[out].listed ? r->extent.list_rows : r->extent.n;
        if (is_ranged(r, out)) rows *= r->extent.limit;
        r->at[out] = at;
        at += rows * (outs[out].bytes ? outs[out].bytes : r->value.bytes);
        at = (at + 63) & ~(uint64_t)63;
        if (out < HP_OUT_LIST_KEY) r->unwritten = at;
    }
    return at ? at : 64;
}

/* Bytes of the library and device of `like`. */
static int take_device_block(hp_result *r, const hp_array *like, void *stream, bool current)
{
    const dl_exchange *e = like->library.exchange;
    if (e) {
        void *data = NULL;
        r->place.block = hp_memory_on_device(e, like->device, r->bytes, stream, current, &data);
        r->place.data = data;
        return r->place.block ? 0 : -1;
    }
    PyObject *args = Py_BuildValue("iOK", like->library.kind, like->object, (unsigned long long)r->bytes), *pair = NULL;
    if (args) pair = PyObject_CallObject(hp_helper("device_block"), args);
    Py_XDECREF(args);
    if (!pair) return -1;
    r->place.block = Py_XNewRef(PyTuple_GetItem(pair, 0));
    PyObject *address = PyTuple_GetItem(pair, 1);
    r->place.data = address ? PyLong_AsVoidPtr(address) : NULL;
    Py_DECREF(pair);
    return r->place.block && !PyErr_Occurred() ? 0 : -1;
}

/* A block of outputs, or, if the outcomes are all that there is, and the library can, an array of them. */
static int take_block(hp_result *r, const hp_array *keys, void *stream, bool current)
{
    void *data = NULL;
    const hp_place *p = &r->place;
    if (p->exchange && p->on_device && r->has == 1u << HP_OUT_OUTCOME) {
        r->view[HP_OUT_OUTCOME] = hp_library_array(p->exchange, p->device, u8, (int64_t)r->extent.n, &data);
        r->place.data = data;
        return r->view[HP_OUT_OUTCOME] ? 0 : -1;
    }
    if (p->on_device) return take_device_block(r, keys, stream, current);
    r->place.block = hp_memory(r->bytes, &data);
    r->place.data = data;
    return r->place.block ? 0 : -1;
}

/* Which library's arrays the outputs are, and whether they are on a device. A library that cannot allocate there gets
 * outputs in host memory. */
static int choose_place(hp_place *p, const hp_array *keys)
{
    if (!keys) return hp_kind_usual(&p->kind);
    const hp_library *l = &keys->library;
    p->kind = l->kind;
    p->device = keys->device;
    p->on_device = hp_array_on_device(keys) && (l->exchange || (l->kind >= HP_TORCH && l->kind < HP_OTHER));
    if (!p->on_device) p->device = (dl_device){ DL_CPU, 0 };
    if (!p->on_device && hp_array_on_device(keys)) return hp_kind_usual(&p->kind);
    p->exchange = l->exchange;
    if (p->on_device || p->exchange || l->kind != HP_OTHER) return 0;
    p->space = PyObject_CallFunctionObjArgs(hp_helper("namespace_of"), keys->object, NULL);
    return p->space ? 0 : -1;
}

hp_result *hp_result_new(const hp_array *keys, const hp_value *value, hd_op op, hp_extent extent, uint32_t has,
                         void *stream, bool current)
{
    hp_result *r = PyObject_GC_New(hp_result, hp_result_type);
    if (!r) return NULL;
    memset((char *)r + sizeof(PyObject), 0, sizeof *r - sizeof(PyObject));
    r->op = op;
    r->extent = extent;
    r->has = value->bytes ? has : has & ~(1u << HP_OUT_VALUE | 1u << HP_OUT_LIST_VALUE);
    r->value = *value;
    r->bytes = lay_out(r);
    int failed = choose_place(&r->place, keys);
    if (!failed) failed = take_block(r, keys, stream, current);
    PyObject_GC_Track(r);
    if (failed) Py_CLEAR(r);
    return r;
}

static void *place(const hp_result *r, hp_out out) { return r->has >> out & 1 ? r->place.data + r->at[out] : NULL; }

void hp_result_outputs(const hp_result *r, hd_batch *b)
{
    b->score_out = place(r, HP_OUT_SCORE);
    b->ptr = place(r, HP_OUT_PTR);
    b->list_key = place(r, HP_OUT_LIST_KEY);
    b->list_score = place(r, HP_OUT_LIST_SCORE);
    b->list_item = place(r, HP_OUT_LIST_ITEM);
    b->list_value = place(r, HP_OUT_LIST_VALUE);
    b->count = place(r, HP_OUT_COUNT);
    b->value_out = place(r, HP_OUT_VALUE);
    b->key_out = place(r, HP_OUT_KEY);
    b->rows = place(r, HP_OUT_ROWS);
    b->more = place(r, HP_OUT_MORE);
    b->outcome = place(r, HP_OUT_OUTCOME);
    b->found = place(r, HP_OUT_FOUND);
}

/* ---- Views ------------------------------------------------------------------------------------------------------- */

static PyObject *view_of_rows(hp_result *r, int out, int64_t rows)
{
    int64_t shape[2] = { rows, (int64_t)r->extent.limit };
    int ndim = is_ranged(r, out) ? 2 : 1;
    if (out == HP_OUT_VALUE || out == HP_OUT_LIST_VALUE)
        return hp_view_values(&r->place, r->at[out], &r->value, ndim, shape);
    return hp_view(&r->place, r->at[out], hp_out_type((hp_out)out), ndim, shape);
}

PyObject *hp_result_view(hp_result *r, hp_out out)
{
    if (!(r->has >> out & 1) && !r->view[out]) return Py_NewRef(Py_None);
    if (!r->view[out]) r->view[out] = view_of_rows(r, out, (int64_t)r->extent.n);
    return Py_XNewRef(r->view[out]);
}

static PyObject *get_view(PyObject *self, void *out)
{
    return hp_result_view((hp_result *)self, (hp_out)(intptr_t)out);
}

/* The number of rows of the list. On a device the read waits for the batch. */
static int list_count(hp_result *r, int64_t *count)
{
    if (!r->place.on_device || hp_pretend_device) {
        uint64_t rows;
        memcpy(&rows, place(r, HP_OUT_COUNT), sizeof rows);
        *count = (int64_t)rows;
        return 0;
    }
    int64_t one = 1;
    PyObject *view = hp_view(&r->place, r->at[HP_OUT_COUNT], (hp_type){ DL_INT, 64 }, 1, &one),
             *number = view ? PyObject_CallFunctionObjArgs(hp_helper("number"), view, NULL) : NULL;
    Py_XDECREF(view);
    if (!number) return -1;
    *count = PyLong_AsLongLong(number);
    Py_DECREF(number);
    return PyErr_Occurred() ? -1 : 0;
}

PyObject *hp_result_listed(hp_result *r)
{
    static const hp_out member[] = { HP_OUT_LIST_KEY, HP_OUT_LIST_VALUE, HP_OUT_LIST_SCORE, HP_OUT_LIST_ITEM };
    int64_t rows;
    if (r->listed) return Py_NewRef(r->listed);
    if (!(r->has >> HP_OUT_COUNT & 1)) return Py_NewRef(Py_None);
    if (list_count(r, &rows)) return NULL;
    PyObject *args = PyTuple_New(4);
    for (int i = 0; args && i < 4; i++) {
        PyObject *view = r->has >> member[i] & 1 ? view_of_rows(r, member[i], rows) : Py_NewRef(Py_None);
        if (!view) {
            Py_DECREF(args);
            return NULL;
        }
        PyTuple_SetItem(args, i, view);
    }
    if (args) r->listed = PyObject_CallObject(hp_helper("Listed"), args);
    Py_XDECREF(args);
    return Py_XNewRef(r->listed);
}

int hp_result_written(const hp_result *r)
{
    PyObject *all = r->place.kind == HP_TORCH ? PyList_New(0) : NULL;
    int failed = r->place.kind == HP_TORCH && !all ? -1 : 0;
    for (int out = 0; all && out < HP_OUTS && !failed; out++)
        if (r->view[out]) failed = PyList_Append(all, r->view[out]);
    for (int i = 0; all && r->listed && i < 4 && !failed; i++) {
        PyObject *view = PyTuple_GetItem(r->listed, i);
        if (view != Py_None) failed = PyList_Append(all, view);
    }
    if (all && !failed && PyList_Size(all)) failed = hp_tensors_written(all);
    Py_XDECREF(all);
    return failed;
}

static PyObject *get_listed(PyObject *self, void *unused)
{
    (void)unused;
    return hp_result_listed((hp_result *)self);
}

static PyObject *get_op(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(hd_op_name(((hp_result *)self)->op));
}

static Py_ssize_t result_length(PyObject *self) { return (Py_ssize_t)((hp_result *)self)->extent.n; }

static int result_traverse(PyObject *self, visitproc visit, void *arg)
{
    hp_result *r = (hp_result *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(r->place.block);
    Py_VISIT(r->place.space);
    Py_VISIT(r->listed);
    for (int i = 0; i < HP_OUTS; i++) Py_VISIT(r->view[i]);
    return 0;
}

static int result_clear(PyObject *self)
{
    hp_result *r = (hp_result *)self;
    Py_CLEAR(r->listed);
    for (int i = 0; i < HP_OUTS; i++) Py_CLEAR(r->view[i]);
    Py_CLEAR(r->place.block);
    Py_CLEAR(r->place.space);
    return 0;
}

static void result_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    result_clear(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* With its first rows, unless a read of them waits for a device. */
static PyObject *result_repr(PyObject *self)
{
    hp_result *r = (hp_result *)self;
    PyObject *rows = r->place.on_device ? PyUnicode_FromString("")
                                        : PyObject_CallFunctionObjArgs(hp_helper("first_rows"), self, NULL),
             *text = NULL;
    if (rows)
        text = PyUnicode_FromFormat("<heddle.Result of %s: %llu items>%U", hd_op_name(r->op),
                                    (unsigned long long)r->extent.n, rows);
    Py_XDECREF(rows);
    return text;
}

static PyGetSetDef result_members[] = {
    { "value", get_view, NULL, NULL, (void *)(intptr_t)HP_OUT_VALUE },
    { "found", get_view, NULL, NULL, (void *)(intptr_t)HP_OUT_FOUND },
    { "outcome", get_view, NULL, NULL, (void *)(intptr_t)HP_OUT_OUTCOME },
    { "key", get_view, NULL, NULL, (void *)(intptr_t)HP_OUT_KEY },
    { "rows", get_view, NULL, NULL, (void *)(intptr_t)HP_OUT_ROWS },
    { "more", get_view, NULL, NULL, (void *)(intptr_t)HP_OUT_MORE },
    { "score", get_view, NULL, NULL, (void *)(intptr_t)HP_OUT_SCORE },
    { "ptr", get_view, NULL, NULL, (void *)(intptr_t)HP_OUT_PTR },
    { "listed", get_listed, NULL,
      "The list that the operation delivers, with the members key, value, score and item: absent keys (find_missed), "
      "evicted entries and refused items (insert_and_evict), or entries (export). On a device the first read waits for "
      "the batch.",
      NULL },
    { "evicted", get_listed, NULL, "The same as `listed`.", NULL },
    { "missed", get_listed, NULL, "The same as `listed`.", NULL },
    { "op", get_op, NULL, "The name of the operation.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot result_slots[] = {
    { Py_tp_dealloc, result_free },
    { Py_tp_traverse, result_traverse },
    { Py_tp_clear, result_clear },
    { Py_tp_repr, result_repr },
    { Py_sq_length, result_length },
    { Py_tp_getset, result_members },
    { Py_tp_doc, (void *)(intptr_t) "What a batch delivered. An attribute is an array of the library that the keys "
                                    "came from, or None." },
    { 0, NULL },
};
static PyType_Spec result_spec = { "heddle.Result", sizeof(hp_result), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                   result_slots };

int hp_results_ready(PyObject *module)
{
    for (PyGetSetDef *m = result_members; m->name; m++)
        if (m->get == get_view) m->doc = outs[(intptr_t)m->closure].doc;
    hp_result_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &result_spec, NULL);
    return hp_result_type ? PyModule_AddObjectRef(module, "Result", (PyObject *)hp_result_type) : -1;
}

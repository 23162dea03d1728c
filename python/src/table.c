/* SPDX-License-Identifier: Apache-2.0
 *
 * table.c - the type _core.Table, of which heddle.Table is a subclass: opening and closing, and the calls that are not
 * operations of a batch.
 */
#include <string.h>

#include "lib/params.h"
#include "python/src/core.h"

PyTypeObject *hp_table_type;

/* ---- Calls that use a table -------------------------------------------------------------------------------------- */

enum { CLOSING = 1u << 31 }; /* a bit of hp_table.calls */

/* The table, which is the caller's to close. */
static hd_table *take(hp_table *t)
{
    hd_table *table = t->table;
    t->table = NULL;
    return table;
}

static void close_now(hp_table *t)
{
    hd_table *table = take(t);
    if (!table) return;
    PyThreadState *state = PyEval_SaveThread();
    hd_close(table);
    PyEval_RestoreThread(state);
}

/* The table is closed here if no call runs, else by the last of the calls. */
static void close_when_unused(hp_table *t)
{
    if (atomic_fetch_or(&t->calls, CLOSING) == 0) close_now(t);
}

static bool is_closed(const hp_table *t) { return !t->table || atomic_load(&t->calls) & CLOSING; }

/* Ends a call; true: the caller closes the table. */
static bool leave(hp_table *t) { return atomic_fetch_sub(&t->calls, 1) == (CLOSING | 1); }

bool hp_table_enter(hp_table *t)
{
    uint32_t calls = atomic_load(&t->calls);
    while (!(calls & CLOSING))
        if (atomic_compare_exchange_weak(&t->calls, &calls, calls + 1)) return true;
    return false;
}

void hp_table_leave(hp_table *t)
{
    if (leave(t)) hd_close(take(t));
}

int hp_table_begin(hp_table *t)
{
    if (t->table && hp_table_enter(t)) return 0;
    return hp_fail(HD_EINVAL, "the table is closed"), -1;
}

void hp_table_end(hp_table *t)
{
    if (leave(t)) close_now(t);
}

/* Begins a call of the library without the GIL; NULL: the table is closed. */
static PyThreadState *begin(hp_table *t) { return hp_table_begin(t) ? NULL : PyEval_SaveThread(); }

/* Ends it, with its status. -1: it failed, and the error is raised. */
static int end(hp_table *t, PyThreadState *state, hd_status s)
{
    PyEval_RestoreThread(state);
    if (s) hp_fail_why(s);
    hp_table_end(t);
    return s ? -1 : 0;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* (code, bits, shape), or None for opaque bytes. */
static int value_of(PyObject *spec, uint32_t value_bytes, hp_value *v)
{
    PyObject *shape = NULL;
    int code, bits;
    *v =
        (hp_value){ .type = { DL_UINT, 8 }, .ndim = 1, .shape = { value_bytes }, .bytes = value_bytes, .opaque = true };
    if (!spec || spec == Py_None) return 0;
    if (!PyArg_ParseTuple(spec, "iiO!", &code, &bits, &PyTuple_Type, &shape)) return -1;
    v->opaque = false;
    v->type = (hp_type){ (uint8_t)code, (uint8_t)bits };
    v->ndim = (int)PyTuple_Size(shape);
    if (v->ndim > HP_DIMENSIONS) return hp_fail(HD_EINVAL, "value: more than %d dimensions", HP_DIMENSIONS), -1;
    uint64_t bytes = (uint64_t)bits / 8;
    for (int i = 0; i < v->ndim; i++) {
        v->shape[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
        if (PyErr_Occurred()) return -1;
        if (v->shape[i] < 0 || v->shape[i] > HD_VALUE_BYTES_MAX)
            return hp_fail(HD_EINVAL, "value: a dimension is not in 0 to %u", HD_VALUE_BYTES_MAX), -1;
        bytes *= (uint64_t)v->shape[i];
        if (bytes > HD_VALUE_BYTES_MAX) return hp_fail(HD_EINVAL, "value: more than %u bytes", HD_VALUE_BYTES_MAX), -1;
    }
    if (bytes == value_bytes) return 0;
    hp_fail(HD_EINVAL, "value: %llu bytes, but the table has values of %u", (unsigned long long)bytes, value_bytes);
    return -1;
}

static void elem_of(hp_table *t)
{
    static const struct {
        hp_type type;
        hd_elem elem;
    } elems[] = {
        { { DL_FLOAT, 32 }, HD_F32 }, { { DL_FLOAT, 16 }, HD_F16 }, { { DL_BFLOAT, 16 }, HD_BF16 },
        { { DL_FLOAT, 64 }, HD_F64 }, { { DL_INT, 32 }, HD_I32 },   { { DL_UINT, 32 }, HD_I32 },
        { { DL_INT, 64 }, HD_I64 },   { { DL_UINT, 64 }, HD_U64 },  { { DL_INT, 16 }, HD_I16 },
        { { DL_UINT, 16 }, HD_I16 },  { { DL_INT, 8 }, HD_I8 },     { { DL_UINT, 8 }, HD_U8 },
    };
    for (size_t i = 0; !t->value.opaque && i < sizeof elems / sizeof *elems; i++) {
        if (!hp_type_same(elems[i].type, t->value.type)) continue;
        t->elem = elems[i].elem;
        t->elem_known = true;
    }
}

/* A field that is given beside a file: the file decides it, or it is a field of another design. The same value as the
 * file's is none's fault. */
static hd_status check_beside_file(const hd_snapshot_info *file, const char *name, const char *text)
{
    const hd_config *is = &file->config;
    const hd_params *s;
    const hd_param *p = hd_param_named(name, is->design, &s);
    hd_config given = *is;
    char in_file[256];
    if (!p) return HD_OK; /* hd_config_set refuses it */
    if (s->design && (!is->design || strcmp(s->design, is->design) != 0))
        return hp_fail(HD_EINVAL, "%s: the file has a table of design %s, which has no such field", name, file->design),
               HD_EINVAL;
    if (!hd_param_in_files(p) || hd_param_set(p, hd_params_in(s, &given), text)) return HD_OK;
    if (hd_param_same(p, hd_params_of(s, is), hd_params_of(s, &given))) return HD_OK;
    hd_param_print(p, hd_params_of(s, is), in_file, sizeof in_file);
    hp_fail(HD_EINVAL, "%s: %.80s, but the file decides it: it has %s", name, text, in_file);
    return HD_EINVAL;
}

/* Fills in a configuration from a dict of texts, which must stay: those of a new table, or what is given beside a
 * file. */
static int configure(hd_config *c, PyObject *config, const hd_snapshot_info *file)
{
    PyObject *name, *text;
    Py_ssize_t at = 0;
    PyObject *design = PyDict_GetItemString(config, "design");
    const char *named = design ? PyUnicode_AsUTF8AndSize(design, NULL) : NULL;
    if (design && !named) return -1;
    *c = file ? file->config : named ? hd_config_of(named) : hd_config_default();
    while (PyDict_Next(config, &at, &name, &text)) {
        const char *n = PyUnicode_AsUTF8AndSize(name, NULL), *v = n ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
        if (!v || (file && check_beside_file(file, n, v))) return -1;
        hd_status s = hd_config_set(c, n, v);
        if (s) return hp_fail_why(s), -1;
    }
    return 0;
}

/* The header of a file; false: the error is raised. */
static bool read_header(PyObject *path, hd_snapshot_info *file)
{
    const char *name = PyBytes_AsString(path);
    if (!name) return false;
    PyThreadState *state = PyEval_SaveThread();
    hd_status s = hd_snapshot_inspect(name, file);
    PyEval_RestoreThread(state);
    file->config.epoch = file->epoch;
    return s ? hp_fail_why(s), false : true;
}

/* Opens a table; NULL if that fails. `path`: bytes, or NULL. */
static hd_table *open_table(const hd_config *c, PyObject *path)
{
    hd_table *table = NULL;
    const char *name = path ? PyBytes_AsString(path) : NULL;
    if (path && !name) return NULL;
    PyThreadState *state = PyEval_SaveThread();
    hd_status s = name ? hd_open_snapshot(name, c, &table) : hd_open(c, &table);
    PyEval_RestoreThread(state);
    return s ? hp_fail_why(s), NULL : table;
}

/* Table(config, value, path=None) */
static int table_init(PyObject *self, PyObject *args, PyObject *names)
{
    hp_table *t = (hp_table *)self;
    PyObject *config, *value, *path = NULL;
    hd_config c;
    hd_snapshot_info file;
    hd_info info;
    hp_value type;
    if (names && PyDict_Size(names)) return PyErr_SetString(PyExc_TypeError, "_core.Table takes no keywords"), -1;
    if (!PyArg_ParseTuple(args, "O!O|O&", &PyDict_Type, &config, &value, PyUnicode_FSConverter, &path)) return -1;
    bool known = (!path || read_header(path, &file)) && !configure(&c, config, path ? &file : NULL);
    hd_table *table = known ? open_table(&c, path) : NULL;
    Py_XDECREF(path);
    if (!table) return -1;
    hd_status s = hd_table_info(table, &info);
    int failed = s ? (hp_fail_why(s), -1) : value_of(value, info.value_bytes, &type);
    if (!failed && t->table) failed = (hp_fail(HD_EINVAL, "the table is open"), -1);
    if (failed) {
        hd_close(table);
        return -1;
    }
    t->value = type;
    t->elem_known = false;
    t->on_device = strcmp(info.backend, "cuda") == 0;
    t->on_host_machine = strcmp(info.backend, "host") == 0;
    elem_of(t);
    Py_XDECREF(t->config);
    t->config = Py_NewRef(config);
    t->table = table;
    atomic_store(&t->calls, 0);
    return 0;
}

static void table_free(PyObject *self)
{
    hp_table *t = (hp_table *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    hp_operators_forget(t);
    close_now(t);
    Py_CLEAR(t->steps);
    Py_CLEAR(t->config);
    freefunc give = (freefunc)PyType_GetSlot(type, Py_tp_free);
    give(self);
    Py_DECREF(type);
}

static int table_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((hp_table *)self)->steps);
    return 0;
}

static int table_clear(PyObject *self)
{
    Py_CLEAR(((hp_table *)self)->steps);
    return 0;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static PyObject *table_close(PyObject *self, PyObject *unused)
{
    (void)unused;
    close_when_unused((hp_table *)self);
    return Py_NewRef(Py_None);
}

static PyObject *number_call(PyObject *self, PyObject *number, const char *what,
                             hd_status (*call)(hd_table *, uint64_t))
{
    hp_table *t = (hp_table *)self;
    uint64_t n;
    PyThreadState *state;
    if (hp_number(number, what, &n) || !(state = begin(t))) return NULL;
    return end(t, state, call(t->table, n)) ? NULL : Py_NewRef(Py_None);
}

static PyObject *table_grow(PyObject *self, PyObject *n) { return number_call(self, n, "buckets", hd_grow); }
static PyObject *table_reserve(PyObject *self, PyObject *n) { return number_call(self, n, "capacity", hd_reserve); }
static PyObject *table_shrink(PyObject *self, PyObject *n) { return number_call(self, n, "buckets", hd_shrink); }
static PyObject *table_set_near(PyObject *self, PyObject *n) { return number_call(self, n, "near", hd_set_near); }

static PyObject *plain_call(PyObject *self, hd_status (*call)(hd_table *))
{
    hp_table *t = (hp_table *)self;
    PyThreadState *state = begin(t);
    return !state || end(t, state, call(t->table)) ? NULL : Py_NewRef(Py_None);
}

static PyObject *table_check(PyObject *self, PyObject *unused) { return (void)unused, plain_call(self, hd_check); }
static PyObject *table_persist(PyObject *self, PyObject *unused) { return (void)unused, plain_call(self, hd_persist); }

/* A call with a path; -1 if it failed. *number: what the call delivers. */
static int path_call(hp_table *t, PyObject *path, hd_status (*call)(hd_table *, const char *, uint64_t *),
                     uint64_t *number)
{
    PyObject *bytes;
    if (!PyUnicode_FSConverter(path, &bytes)) return -1;
    const char *name = PyBytes_AsString(bytes);
    PyThreadState *state = begin(t);
    int failed = !state || end(t, state, call(t->table, name, number)) ? -1 : 0;
    Py_DECREF(bytes);
    return failed;
}

static hd_status save_to(hd_table *table, const char *path, uint64_t *unused)
{
    (void)unused;
    return hd_save(table, path);
}

static PyObject *table_save(PyObject *self, PyObject *path)
{
    return path_call((hp_table *)self, path, save_to, NULL) ? NULL : Py_NewRef(Py_None);
}

static PyObject *table_load(PyObject *self, PyObject *path)
{
    uint64_t dropped = 0;
    return path_call((hp_table *)self, path, hd_load, &dropped) ? NULL : PyLong_FromUnsignedLongLong(dropped);
}

static PyObject *table_counters(PyObject *self, PyObject *unused)
{
    (void)unused;
    hp_table *t = (hp_table *)self;
    hd_counters k;
    PyThreadState *state = begin(t);
    if (!state || end(t, state, hd_counters_sync(t->table, &k))) return NULL;
    PyObject *outcomes = PyDict_New(), *ops = PyDict_New(), *all = NULL;
    bool failed = !outcomes || !ops;
    for (int i = 0; !failed && i < HD_OUTCOME_COUNT; i++) {
        PyObject *n = PyLong_FromUnsignedLongLong(k.outcome[i]);
        failed = !n || PyDict_SetItemString(outcomes, hd_outcome_name((hd_outcome)i), n);
        Py_XDECREF(n);
    }
    for (int i = 0; !failed && i < HD_OP_COUNT_; i++) {
        PyObject *n = PyLong_FromUnsignedLongLong(k.op[i]);
        failed = !n || PyDict_SetItemString(ops, hd_op_name((hd_op)i), n);
        Py_XDECREF(n);
    }
    if (!failed)
        all = Py_BuildValue("{s:K,s:K,s:O,s:O}", "batches", (unsigned long long)k.batches, "items",
                            (unsigned long long)k.items, "outcomes", outcomes, "ops", ops);
    Py_XDECREF(outcomes);
    Py_XDECREF(ops);
    return all;
}

static int put_text(PyObject *dict, const char *name, const char *text)
{
    PyObject *o = PyUnicode_FromString(text);
    int failed = !o || PyDict_SetItemString(dict, name, o);
    Py_XDECREF(o);
    return failed ? -1 : 0;
}

static int put_number(PyObject *dict, const char *name, uint64_t n)
{
    PyObject *o = PyLong_FromUnsignedLongLong(n);
    int failed = !o || PyDict_SetItemString(dict, name, o);
    Py_XDECREF(o);
    return failed ? -1 : 0;
}

/* A design's own fields, whichever it has; `beside`: those alone that a snapshot does not have, as texts. */
static int put_own(PyObject *dict, const hd_info *info, bool beside)
{
    const hd_params *s;
    for (size_t i = 1; (s = hd_params_at(i)); i++) {
        if (strcmp(s->design, info->design) != 0) continue;
        for (size_t k = 0; k < s->count; k++) {
            const hd_param *p = &s->row[k];
            const void *in = hd_params_of_table(s, info);
            bool words = p->type == HD_PARAM_TEXT || p->type == HD_PARAM_NAME || p->type == HD_PARAM_ENUM;
            char text[256];
            if (beside && hd_param_in_files(p)) continue;
            hd_param_print(p, in, text, sizeof text);
            if (words || beside ? put_text(dict, p->name, text) : put_number(dict, p->name, hd_param_number(p, in)))
                return -1;
        }
    }
    return 0;
}

/* Of a table with a file. */
static int put_image(PyObject *dict, const hd_image_info *image)
{
    const hd_recovery *did = &image->recovered;
    PyObject *all, *found = PyDict_New();
    int failed = !found || PyDict_SetItemString(found, "was_clean", did->was_clean ? Py_True : Py_False) ||
                 put_number(found, "records", did->records) || put_number(found, "bytes", did->bytes) ||
                 put_number(found, "cleared", did->cleared) || put_number(found, "ns", did->ns);
    all = !failed && image->generation ? PyDict_New() : NULL;
    if (all)
        failed = put_number(all, "generation", image->generation) ||
                 put_number(all, "durable_batch", image->durable_batch) ||
                 PyDict_SetItemString(all, "recovered", found) || PyDict_SetItemString(dict, "image", all);
    Py_XDECREF(found);
    Py_XDECREF(all);
    return failed || PyErr_Occurred() ? -1 : 0;
}

/* The call waits for nothing, so it keeps the GIL. */
static int info_of(hp_table *t, hd_info *info)
{
    if (hp_table_begin(t)) return -1;
    hd_status s = hd_table_info(t->table, info);
    if (s) hp_fail_why(s);
    hp_table_end(t);
    return s ? -1 : 0;
}

static PyObject *table_info(PyObject *self, void *unused)
{
    (void)unused;
    hd_info i;
    if (info_of((hp_table *)self, &i)) return NULL;
    const struct {
        const char *name;
        uint64_t number;
    } numbers[] = {
        { "capacity", i.capacity },
        { "buckets", i.buckets },
        { "base_buckets", i.base_buckets },
        { "stash_buckets", i.stash_buckets },
        { "places", i.places },
        { "keys", i.keys },
        { "slots", i.slots },
        { "value_bytes", i.value_bytes },
        { "values_device_bytes", i.values_device_bytes },
        { "values_host_bytes", i.values_host_bytes },
        { "seed", i.seed },
        { "now", i.now },
        { "epoch", i.epoch },
        { "threads", i.threads },
        { "memory_bytes", i.memory_bytes },
    };
    PyObject *dict = PyDict_New();
    bool failed = !dict || put_text(dict, "design", i.design) || put_text(dict, "backend", i.backend) ||
                  put_text(dict, "policy", i.policy) || put_text(dict, "policy_flags", i.policy_flags) ||
                  put_text(dict, "lock", i.lock);
    for (size_t k = 0; !failed && k < sizeof numbers / sizeof *numbers; k++)
        failed = put_number(dict, numbers[k].name, numbers[k].number);
    if (!failed) failed = put_own(dict, &i, false) || put_image(dict, &i.image);
    if (failed) Py_CLEAR(dict);
    return dict;
}

/* What a table has that its snapshot does not, as names and texts: with them the snapshot opens as the same table, but
 * in memory alone: its file is open. */
static PyObject *table_beside(PyObject *self, PyObject *unused)
{
    (void)unused;
    hp_table *t = (hp_table *)self;
    hd_info i;
    if (info_of(t, &i)) return NULL;
    PyObject *dict = PyDict_New();
    int failed = !dict;
    for (size_t k = 0; !failed && k < hd_params_common.count; k++) {
        const hd_param *p = &hd_params_common.row[k];
        PyObject *given = hd_param_in_files(p) ? NULL : PyDict_GetItemString(t->config, p->name);
        if (given && strcmp(p->name, "file") != 0) failed = PyDict_SetItemString(dict, p->name, given);
    }
    if (!failed) failed = put_own(dict, &i, true);
    if (failed) Py_CLEAR(dict);
    return dict;
}

/* name: "epoch" or "clock" */
static PyObject *get_time(PyObject *self, void *name)
{
    hd_info i;
    if (info_of((hp_table *)self, &i)) return NULL;
    return PyLong_FromUnsignedLongLong(strcmp((const char *)name, "epoch") == 0 ? i.epoch : i.now);
}

static int set_time(PyObject *self, PyObject *number, void *name)
{
    hp_table *t = (hp_table *)self;
    const char *field = (const char *)name;
    bool epoch = strcmp(field, "epoch") == 0;
    hd_status s;
    if (!number) return PyErr_Format(PyExc_AttributeError, "%s cannot be deleted", field), -1;
    uint64_t n;
    if (hp_number(number, field, &n)) return -1;
    if (epoch && n > UINT32_MAX) return hp_fail(HD_EINVAL, "epoch: %llu is above 2^32 - 1", (unsigned long long)n), -1;
    if (hp_table_begin(t)) return -1;
    Py_BEGIN_ALLOW_THREADS;
    s = epoch ? hd_epoch_set(t->table, (uint32_t)n) : hd_clock_set(t->table, n);
    Py_END_ALLOW_THREADS;
    if (s) hp_fail_why(s);
    hp_table_end(t);
    return s ? -1 : 0;
}

static PyObject *get_now(PyObject *self, void *unused)
{
    (void)unused;
    hp_table *t = (hp_table *)self;
    uint64_t now = 0;
    PyThreadState *state = begin(t);
    return !state || end(t, state, hd_clock_sync(t->table, &now)) ? NULL : PyLong_FromUnsignedLongLong(now);
}

static PyObject *get_load_factor(PyObject *self, void *unused)
{
    (void)unused;
    hp_table *t = (hp_table *)self;
    double factor = 0;
    PyThreadState *state = begin(t);
    return !state || end(t, state, hd_load_factor_sync(t->table, &factor)) ? NULL : PyFloat_FromDouble(factor);
}

static PyObject *get_closed(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(is_closed((hp_table *)self));
}

static Py_ssize_t table_length(PyObject *self)
{
    hp_table *t = (hp_table *)self;
    uint64_t size = 0;
    PyThreadState *state = begin(t);
    return !state || end(t, state, hd_size_sync(t->table, &size)) ? -1 : (Py_ssize_t)size;
}

static void watch(hp_table *t) { atomic_store(&t->watched, t->repeats || t->steps); }

/* From now on a call runs its batch so many times; 0: once. Returns the seconds of the last call's batches. */
static PyObject *table_repeat(PyObject *self, PyObject *repeats)
{
    hp_table *t = (hp_table *)self;
    unsigned long n = PyLong_AsUnsignedLong(repeats);
    if (PyErr_Occurred()) return NULL;
    t->repeats = (uint32_t)n;
    watch(t);
    return PyFloat_FromDouble(t->seconds);
}

/* on: whether steps are recorded from now on, or the list that they go on with. Returns the list that there was. */
static PyObject *table_record_steps(PyObject *self, PyObject *on)
{
    hp_table *t = (hp_table *)self;
    bool goes_on = PyList_Check(on);
    int is = goes_on ? 1 : PyObject_IsTrue(on);
    if (is < 0 || hp_table_begin(t)) return NULL;
    PyObject *steps = Py_XNewRef(t->steps);
    int failed = hp_steps_set(t, is);
    if (!failed && goes_on) {
        Py_DECREF(t->steps);
        t->steps = Py_NewRef(on);
    }
    watch(t);
    hp_table_end(t);
    if (failed) return Py_XDECREF(steps), NULL;
    return steps ? steps : Py_NewRef(Py_None);
}

/* ---- The type ---------------------------------------------------------------------------------------------------- */

static PyMethodDef calls[] = {
    { "close", table_close, METH_NOARGS,
      "close($self)\n--\n\nFrees the table. A call of it that runs on another thread ends first; later calls raise "
      "heddle.Error." },
    { "grow", table_grow, METH_O, "grow($self, buckets)\n--\n\nGrows the table to `buckets` buckets (hd_grow)." },
    { "reserve", table_reserve, METH_O,
      "reserve($self, capacity)\n--\n\nGrows the table to at least `capacity` entries (hd_reserve)." },
    { "shrink", table_shrink, METH_O,
      "shrink($self, buckets)\n--\n\nShrinks a table of design hive to `buckets` buckets, or more (hd_shrink)." },
    { "set_near", table_set_near, METH_O,
      "set_near($self, near)\n--\n\nChanges how many bytes of device memory a table of design ovs or sl may take; 0: "
      "no "
      "limit (hd_set_near)." },
    { "check", table_check, METH_NOARGS,
      "check($self)\n--\n\nVerifies every invariant of the table; heddle.Error names the first that does not hold." },
    { "persist", table_persist, METH_NOARGS,
      "persist($self)\n--\n\nMakes all batches so far durable, if the table has a file (hd_persist)." },
    { "save", table_save, METH_O, "save($self, path)\n--\n\nSaves the table to a file (hd_save)." },
    { "load", table_load, METH_O,
      "load($self, path)\n--\n\nReplaces the entries by those of a file, and returns how many found no slot "
      "(hd_load)." },
    { "counters", table_counters, METH_NOARGS,
      "counters($self)\n--\n\nExact totals since the table was opened, as a dict: batches, items, outcomes, ops." },
    { "_beside_snapshot", table_beside, METH_NOARGS, NULL },
    { "_repeat", table_repeat, METH_O, NULL },
    { "_record_steps", table_record_steps, METH_O, NULL },
};

static PyGetSetDef members[] = {
    { "info", table_info, NULL, "What the table is now, as a dict: the fields of hd_info.", NULL },
    { "epoch", get_time, set_time, "The epoch of all batches that follow.", (void *)(uintptr_t) "epoch" },
    { "clock", get_time, set_time, "The time of the next item; clock=device: when the table was opened.",
      (void *)(uintptr_t) "clock" },
    { "now", get_now, NULL, "The present time of the table's clock. clock=device: the read waits for the device.",
      NULL },
    { "load_factor", get_load_factor, NULL, "Entries per slot. The read waits for all earlier batches.", NULL },
    { "closed", get_closed, NULL, "Whether the table was closed.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef methods[sizeof calls / sizeof *calls + HD_OP_COUNT_ + 3];

int hp_tables_ready(PyObject *module)
{
    size_t n = sizeof calls / sizeof *calls;
    memcpy(methods, calls, sizeof calls);
    for (const PyMethodDef *m = hp_call_methods; m->ml_name; m++) methods[n++] = *m;
    PyType_Slot slots[] = {
        { Py_tp_init, table_init },
        { Py_tp_dealloc, table_free },
        { Py_tp_traverse, table_traverse },
        { Py_tp_clear, table_clear },
        { Py_tp_methods, methods },
        { Py_tp_getset, members },
        { Py_mp_length, table_length },
        { Py_tp_new, PyType_GenericNew },
        { Py_tp_doc, (void *)(intptr_t) "A table; heddle.Table is its documented subclass." },
        { 0, NULL },
    };
    PyType_Spec spec = { "heddle._core.Table", sizeof(hp_table), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots };
    hp_table_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return hp_table_type ? PyModule_AddObjectRef(module, "Table", (PyObject *)hp_table_type) : -1;
}

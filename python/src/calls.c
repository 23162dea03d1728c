/* SPDX-License-Identifier: Apache-2.0
 *
 * calls.c - a call of an operation. The library's table of operations (base/op.h) says what each of them needs and
 * delivers. From it come the methods of Table with their parameters, their documentation and their results: a new
 * operation needs no line here.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/seam.h"
#include "python/src/core.h"

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

typedef enum parameter {
    P_KEYS,
    P_UPPER,
    P_LIMIT,
    P_VALUES,
    P_HOLDER,
    P_PRED,
    P_A,
    P_B,
    P_START,
    P_N,
    P_SCORES,
    P_FLAGS,
    P_OPS,
    P_INCLUSIVE,
    P_EVICTED,
    P_RAW_SCORES,
    P_GROW,
    P_DISTINCT,
    P_OUT,
    P_ZERO,
    P_STREAM,
    P_KERNEL,
    PARAMETERS
} parameter;

static struct {
    const char *name, *usual, *type, *what;
    PyObject *text; /* the name, interned */
} parameters[PARAMETERS] = {
    [P_KEYS] = { "keys", NULL, "ArrayLike", "keys: int64 or uint64, shape (n)" },
    [P_UPPER] = { "upper", NULL, "ArrayLike",
                  "the last key of each range: int64 or uint64, shape (n); 2**64 - 1 is no upper bound" },
    [P_LIMIT] = { "limit", NULL, "int", "the most entries of a range" },
    [P_VALUES] = { "values", NULL, "ArrayLike | None", "values: shape (n, ...), of the table's type" },
    [P_HOLDER] = { "holder", "0", "int", "who pins, a number other than 0; 0 pins nothing" },
    [P_PRED] = { "predicate", NULL, "str", "the name of a predicate: a row of heddle.rows('predicates')" },
    [P_A] = { "a", "0", "int", "the predicate's first argument" },
    [P_B] = { "b", "0", "int", "its second argument" },
    [P_START] = { "start", "0", "int", "the first slot" },
    [P_N] = { "slots", "None", "int | None", "how many slots; None: all from `start` on" },
    [P_SCORES] = { "scores", "None", "ArrayLike | None", "input of the policy: uint64 or int64, shape (n)" },
    [P_FLAGS] = { "flags", "None", "ArrayLike | None", "a heddle.Accum per item: uint8, shape (n)" },
    [P_OPS] = { "ops", NULL, "ArrayLike", "the operation of each item: heddle.Op, uint8, shape (n)" },
    [P_INCLUSIVE] = { "inclusive", "False", "bool", "an entry with the key itself counts" },
    [P_EVICTED] = { "evicted", "False", "bool", "list evicted entries and refused items: the result has them" },
    [P_RAW_SCORES] = { "raw_scores", "False", "bool", "store `scores` as they are, whatever the policy" },
    [P_GROW] = { "grow", "None", "float | None",
                 "grow the table as needed to keep this load factor; 0: only for items that are PENDING" },
    [P_DISTINCT] = { "distinct", "False", "bool", "the promise that no key occurs twice" },
    [P_OUT] = { "out", "None", "ArrayLike | dict[str, ArrayLike] | Result | None",
                "an array that receives the values; a dict of arrays by the names of a result, which alone are "
                "written, "
                "and which the call returns; or the result of an equal call, whose arrays are written again" },
    [P_ZERO] = { "zero", "False", "bool", "in `out`, the values and scores of absent keys become zeros" },
    [P_STREAM] = { "stream", "None", "object", "of a device; None: the current stream of the arrays' library" },
    [P_KERNEL] = { "kernel", "None", "str | None", "the kernel variant; None: the table selects one" },
};

enum { OPTIONS_FROM = P_SCORES }; /* from here on by keyword, too late for a place */

typedef struct method {
    const char *name;
    hd_op op;
    bool mixed;
    uint8_t parameter[PARAMETERS], count, required, placed; /* `placed` may be given by place */
    char doc[2048];
} method;

/* The operations; names that are shorter; mixed batches. */
enum { METHOD_INSERT = HD_OP_COUNT_, METHOD_MIXED, METHODS };
static method methods[METHODS];

static void add(method *m, parameter p, bool required)
{
    m->parameter[m->count++] = p;
    if (required) m->required = m->count;
}

/* Those that may be given by place. */
static void set_inputs(method *m, uint32_t needs)
{
    bool keyed = needs & HD_NEEDS_KEY;
    if (m->mixed) add(m, P_OPS, true);
    if (keyed) add(m, P_KEYS, true);
    if (needs & HD_NEEDS_KEY2) add(m, P_UPPER, true);
    if (needs & HD_GIVES_ROWS) add(m, P_LIMIT, true);
    if (needs & HD_NEEDS_VALUE) add(m, P_VALUES, false);
    if (needs & HD_NEEDS_HOLDER) add(m, P_HOLDER, true);
    if (needs & HD_NEEDS_PRED) {
        add(m, P_PRED, true);
        add(m, P_A, false);
        add(m, P_B, false);
    }
    if (needs & HD_OF_SLOTS) {
        add(m, P_START, false);
        add(m, P_N, false);
    }
    m->placed = m->count;
    if (needs & HD_SCORES) {
        add(m, P_SCORES, false);
        m->placed = m->count;
    }
}

/* Lookups and touches: what they deliver of absent keys has no other use. */
static bool may_zero(const method *m)
{
    return !m->mixed && hd_op_does(m->op, HD_GIVES_BOTH) && !hd_op_does(m->op, HD_NEEDS_VALUE);
}

static void set_options(method *m, uint32_t needs)
{
    if (m->op == HD_OP_ACCUM_OR_ASSIGN || m->mixed) add(m, P_FLAGS, false);
    if (hd_op_family(m->op) == HD_FAMILY_NEIGHBOUR) add(m, P_INCLUSIVE, false);
    if (m == &methods[METHOD_INSERT]) add(m, P_EVICTED, false);
    if (needs & HD_MAY_PIN && !m->mixed) add(m, P_HOLDER, false);
    if (needs & HD_SCORES && !m->mixed) add(m, P_RAW_SCORES, false);
    if (hd_op_family(m->op) == HD_FAMILY_UPSERT || m->mixed) add(m, P_GROW, false);
    if (needs & HD_NEEDS_KEY) add(m, P_DISTINCT, false);
    if (needs & HD_NEEDS_KEY) add(m, P_OUT, false);
    if (may_zero(m)) add(m, P_ZERO, false);
    add(m, P_STREAM, false);
    add(m, P_KERNEL, false);
}

/* "find($self, keys, *, out=None)\n--\n\n" and the sentences. */
static void set_doc(method *m, const char *what)
{
    char *at = m->doc, *end = m->doc + sizeof m->doc;
    at += snprintf(at, (size_t)(end - at), "%s($self", m->name);
    for (int i = 0; i < m->count; i++) {
        const char *usual = i < m->required ? NULL : parameters[m->parameter[i]].usual;
        if (i == m->placed) at += snprintf(at, (size_t)(end - at), ", *");
        at += snprintf(at, (size_t)(end - at), ", %s", parameters[m->parameter[i]].name);
        if (i >= m->required) at += snprintf(at, (size_t)(end - at), "=%s", usual ? usual : "None");
    }
    at += snprintf(at, (size_t)(end - at), ")\n--\n\n%c%s.\n", what[0] - 'a' + 'A', what + 1);
    for (int i = 0; i < m->count && at < end; i++)
        at += snprintf(at, (size_t)(end - at), "\n%s: %s", parameters[m->parameter[i]].name,
                       parameters[m->parameter[i]].what);
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

typedef struct arguments {
    PyObject *given[PARAMETERS]; /* borrowed; NULL: not given, or None */
} arguments;

static int name_argument(const method *m, PyObject *name)
{
    for (int i = 0; i < m->count; i++)
        if (parameters[m->parameter[i]].text == name) return m->parameter[i];
    for (int i = 0; i < m->count; i++)
        if (PyUnicode_CompareWithASCIIString(name, parameters[m->parameter[i]].name) == 0) return m->parameter[i];
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", m->name, name);
    return -1;
}

static int take_arguments(const method *m, arguments *a, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    if (n > m->placed) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments (%zd given)", m->name, m->placed, n);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) a->given[m->parameter[i]] = args[i];
    Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < named; i++) {
        int p = name_argument(m, PyTuple_GetItem(names, i));
        if (p < 0) return -1;
        if (a->given[p]) {
            PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%s'", m->name, parameters[p].name);
            return -1;
        }
        a->given[p] = args[n + i];
    }
    for (int i = 0; i < m->required; i++) {
        if (!a->given[m->parameter[i]]) {
            PyErr_Format(PyExc_TypeError, "%s() missing the argument '%s'", m->name, parameters[m->parameter[i]].name);
            return -1;
        }
    }
    for (int i = 0; i < m->count; i++) {
        parameter p = (parameter)m->parameter[i];
        if (a->given[p] != Py_None) continue;
        if (i < m->required) return hp_fail(HD_EINVAL, "%s: None", parameters[p].name), -1;
        a->given[p] = NULL;
    }
    return 0;
}

static int number_of(const arguments *a, parameter p, uint64_t *number)
{
    if (!a->given[p]) return 0;
    return hp_number(a->given[p], parameters[p].name, number);
}

static int truth_of(const arguments *a, parameter p, bool *truth)
{
    int is = a->given[p] ? PyObject_IsTrue(a->given[p]) : 0;
    *truth = is > 0;
    return is < 0 ? -1 : 0;
}

static int text_of(const arguments *a, parameter p, const char **text)
{
    if (!a->given[p]) return 0;
    *text = PyUnicode_AsUTF8AndSize(a->given[p], NULL);
    return *text ? 0 : -1;
}

/* ---- One call ---------------------------------------------------------------------------------------------------- */

enum {
    IN_KEYS,
    IN_UPPER,
    IN_VALUES,
    IN_SCORES,
    IN_FLAGS,
    IN_OPS,
    IN_OUT,
    IN_OUT_SCORE,
    IN_OUT_PTR,
    IN_OUT_KEY,
    IN_OUT_OUTCOME,
    IN_OUT_FOUND,
    IN_OUT_ROWS,
    IN_OUT_MORE,
    INS
};

typedef struct call {
    hp_table *t;
    const method *m;
    uint32_t needs;
    arguments a;
    hp_array in[INS];
    hd_batch b;
    PyObject *stream; /* as __dlpack__ names it; a reference */
    hp_result *result;
    bool fresh;    /* the result's memory is to be cleared: it is new, or zero=True */
    PyObject *own; /* the caller's dict of outputs; borrowed */
    bool zero, growing;
    double target;
    bool counts; /* the operation delivers a number */
    uint64_t number;
} call;

static const hp_type u64 = { DL_UINT, 64 }, u8 = { DL_UINT, 8 };

/* The stream on which a library with an exchange table works now. */
static int stream_of_exchange(call *c, const dl_exchange *e, PyObject *keys)
{
    dl_device at;
    void *stream = NULL;
    if (hp_exchange_device(e, keys, &at)) return hp_fail_about("keys"), -1;
    if (at.type != DL_CUDA) return 0;
    if (e->current_stream(at.type, at.id, &stream)) return -1;
    c->b.stream = stream;
    return 0;
}

/* The address of a stream: a number, or an object of a library. */
static int stream_of(call *c)
{
    PyObject *given = c->a.given[P_STREAM], *keys = c->a.given[P_KEYS], *number = NULL;
    if (!c->t->on_device && !hp_pretend_device) return 0;
    if (given) {
        number = PyObject_CallFunctionObjArgs(hp_helper("stream_number"), given, NULL);
    } else if (keys) {
        const hp_library *l = hp_library_of(Py_TYPE(keys));
        if (!l) return -1;
        if (l->exchange) return stream_of_exchange(c, l->exchange, keys);
        if (l->kind <= HP_NUMPY) return 0;
        PyObject *args = Py_BuildValue("iO", l->kind, keys);
        if (args) number = PyObject_CallObject(hp_helper("current_stream"), args);
        Py_XDECREF(args);
    } else {
        return 0;
    }
    if (!number) return -1;
    uint64_t name = 0;
    int failed = hp_number(number, "stream", &name);
    Py_DECREF(number);
    if (failed) return -1;
    c->b.stream = (void *)(uintptr_t)name;
    c->stream = PyLong_FromUnsignedLongLong(name ? name : 1); /* __dlpack__ calls the default stream 1, not 0 */
    return c->stream ? 0 : -1;
}

static int check_place(const call *c, const hp_array *a, const char *what)
{
    if (c->t->on_device || (hp_pretend_device && c->t->on_host_machine) || a->device.type != DL_CUDA) return 0;
    hp_fail(HD_EINVAL, "%s: on device cuda:%d, but the table is in host memory", what, a->device.id);
    return -1;
}

static int check_type(const hp_array *a, const char *what, hp_type t, hp_type or)
{
    char is[32], want[32], also[32];
    if (hp_type_same(a->type, t) || hp_type_same(a->type, or)) return 0;
    hp_fail(HD_EINVAL, "%s: elements of type %s; %s or %s is needed", what, hp_type_name(a->type, is),
            hp_type_name(t, want), hp_type_name(or, also));
    return -1;
}

static int check_rows(const hp_array *a, const char *what, uint64_t n, int dimensions)
{
    if (a->ndim != dimensions) {
        hp_fail(HD_EINVAL, "%s: %d dimensions instead of %d", what, a->ndim, dimensions);
        return -1;
    }
    if (a->rows == n) return 0;
    hp_fail(HD_EINVAL, "%s: %llu rows, but there are %llu keys", what, (unsigned long long)a->rows,
            (unsigned long long)n);
    return -1;
}

/* Takes a column of n numbers of 8 or 64 bits. */
static int take_column(call *c, int in, parameter p, hp_type t, hp_type or)
{
    hp_array *a = &c->in[in];
    const char *what = parameters[p].name;
    if (!c->a.given[p]) return 0;
    if (hp_array_take(a, c->a.given[p], what, t, NULL, c->stream, false)) return -1;
    if (a->ndim == 0 && in == IN_KEYS)
        c->b.n = 1;
    else if (in == IN_KEYS)
        c->b.n = a->rows;
    if (check_type(a, what, t, or) || check_place(c, a, what)) return -1;
    return a->ndim == 0 && c->b.n == 1 ? 0 : check_rows(a, what, c->b.n, 1);
}

/* Rows have the shape of a value, or are flat. */
static int check_shape(const hp_array *a, const char *what, const hp_value *v)
{
    int at = a->ndim - v->ndim; /* 0: one value */
    bool same = at >= 0 && at <= 1;
    for (int i = 0; same && i < v->ndim; i++) same = a->shape[at + i] == v->shape[i];
    if (same || a->ndim == 2 || !a->bytes) return 0;
    hp_fail(HD_EINVAL, "%s: rows of another shape than the table's values", what);
    return -1;
}

/* Outputs of a range have `limit` rows for each key. */
static bool is_ranged(const call *c, int in) { return c->needs & HD_GIVES_ROWS && (in == IN_OUT || in == IN_OUT_KEY); }

static int check_ranged(const call *c, const hp_array *a, const char *what, int dimensions)
{
    if (a->ndim != dimensions) return check_rows(a, what, c->b.n, dimensions);
    if (a->rows != c->b.n) return check_rows(a, what, c->b.n, dimensions);
    if (a->shape[1] == (int64_t)c->b.limit) return 0;
    hp_fail(HD_EINVAL, "%s: %lld rows for each key, but the limit is %u", what, (long long)a->shape[1], c->b.limit);
    return -1;
}

static int check_values(const call *c, const hp_array *a, const char *what, bool ranged)
{
    const hp_value *v = &c->t->value;
    char is[32], want[32];
    if (check_place(c, a, what)) return -1;
    if (!v->opaque && !hp_type_same(a->type, v->type) &&
        !(v->type.code == DL_BFLOAT && hp_type_same(a->type, (hp_type){ DL_UINT, 16 }))) {
        hp_fail(HD_EINVAL, "%s: elements of type %s, but the table has %s", what, hp_type_name(a->type, is),
                hp_type_name(v->type, want));
        return -1;
    }
    uint64_t rows = ranged ? c->b.n * c->b.limit : c->b.n;
    if (ranged && check_ranged(c, a, what, v->ndim + 2)) return -1;
    if (a->rows != c->b.n && !(a->ndim == v->ndim && c->b.n == 1)) {
        hp_fail(HD_EINVAL, "%s: %llu rows, but there are %llu keys", what, (unsigned long long)a->rows,
                (unsigned long long)c->b.n);
        return -1;
    }
    if (a->bytes == rows * v->bytes) return v->opaque || ranged ? 0 : check_shape(a, what, v);
    hp_fail(HD_EINVAL, "%s: %llu bytes, but %llu values have %llu", what, (unsigned long long)a->bytes,
            (unsigned long long)rows, (unsigned long long)(rows * v->bytes));
    return -1;
}

static int take_values(call *c, int in, PyObject *array, const char *what, bool writable)
{
    hp_array *a = &c->in[in];
    const hp_value *v = &c->t->value;
    if (hp_array_take(a, array, what, v->type, v, c->stream, writable)) return -1;
    return check_values(c, a, what, is_ranged(c, in));
}

static int take_inputs(call *c)
{
    if (take_column(c, IN_KEYS, P_KEYS, u64, (hp_type){ DL_INT, 64 })) return -1;
    if (take_column(c, IN_UPPER, P_UPPER, u64, (hp_type){ DL_INT, 64 })) return -1;
    if (take_column(c, IN_SCORES, P_SCORES, u64, (hp_type){ DL_INT, 64 })) return -1;
    if (take_column(c, IN_FLAGS, P_FLAGS, u8, u8) || take_column(c, IN_OPS, P_OPS, u8, u8)) return -1;
    PyObject *values = c->a.given[P_VALUES];
    if (values && take_values(c, IN_VALUES, values, parameters[P_VALUES].name, false)) return -1;
    hd_batch *b = &c->b;
    b->key = c->in[IN_KEYS].data;
    b->key2 = c->in[IN_UPPER].data;
    b->score = c->in[IN_SCORES].data;
    b->flag = c->in[IN_FLAGS].data;
    b->each = c->in[IN_OPS].data;
    b->value = c->in[IN_VALUES].data;
    return 0;
}

static int take_numbers(call *c)
{
    hd_batch *b = &c->b;
    if (number_of(&c->a, P_HOLDER, &b->holder) || number_of(&c->a, P_A, &b->pred_arg[0]) ||
        number_of(&c->a, P_B, &b->pred_arg[1]) || number_of(&c->a, P_START, &b->start))
        return -1;
    uint64_t limit = 0;
    if (number_of(&c->a, P_LIMIT, &limit)) return -1;
    if (limit > UINT32_MAX)
        return hp_fail(HD_EINVAL, "limit: %llu is more than 2^32 - 1", (unsigned long long)limit), -1;
    b->limit = (uint32_t)limit;
    if (text_of(&c->a, P_PRED, &b->pred) || text_of(&c->a, P_KERNEL, &b->kernel)) return -1;
    if (truth_of(&c->a, P_DISTINCT, &b->distinct) || truth_of(&c->a, P_RAW_SCORES, &b->raw_scores) ||
        truth_of(&c->a, P_ZERO, &c->zero) || truth_of(&c->a, P_INCLUSIVE, &b->inclusive))
        return -1;
    if (c->a.given[P_GROW]) {
        c->growing = true;
        c->target = PyFloat_AsDouble(c->a.given[P_GROW]);
        if (PyErr_Occurred()) return -1;
    }
    return 0;
}

/* The slots of export and promote. */
static int take_slots(call *c)
{
    hd_info info;
    hd_status s = hd_table_info(c->t->table, &info);
    if (s) return hp_fail_why(s), -1;
    uint64_t most = info.places > c->b.start ? info.places - c->b.start : 0;
    c->b.n = most;
    if (number_of(&c->a, P_N, &c->b.n)) return -1;
    if (c->b.n <= most || c->b.start > info.places) return 0; /* the library refuses such a start */
    hp_fail(HD_EINVAL, "slots: %llu, but from `start` on there are %llu", (unsigned long long)c->b.n,
            (unsigned long long)most);
    return -1;
}

/* The flags of an operation; a mixed batch also delivers what its finds do. */
static uint32_t needs_of(const method *m, hd_op op) { return hd_op_row_of(op)->needs | (m->mixed ? HD_GIVES_BOTH : 0); }

/* Whether the operation delivers a number. */
static bool is_counted(uint32_t needs, hd_op op)
{
    return !(needs & (HD_NEEDS_KEY | HD_LISTS)) && hd_op_family(op) != HD_FAMILY_CLEAR;
}

/* Which outputs an operation has. own: the caller has an array for its values. */
static uint32_t outputs_of(uint32_t needs, bool own)
{
    uint32_t has = 0;
    bool keyed = needs & HD_NEEDS_KEY;
    if (keyed) has |= 1u << HP_OUT_OUTCOME;
    if (keyed && needs & (HD_GIVES_BOTH | HD_GIVES_PTR)) has |= 1u << HP_OUT_FOUND;
    if (needs & HD_GIVES_KEY) has |= 1u << HP_OUT_KEY;
    if (needs & HD_GIVES_ROWS) has |= 1u << HP_OUT_ROWS | 1u << HP_OUT_MORE;
    if (needs & HD_GIVES_VALUE && !own) has |= 1u << HP_OUT_VALUE;
    if (needs & HD_GIVES_SCORE && !own) has |= 1u << HP_OUT_SCORE;
    if (needs & HD_NEEDS_PTR) has |= 1u << HP_OUT_PTR;
    if (needs & HD_LISTS) has |= 1u << HP_OUT_LIST_KEY | 1u << HP_OUT_LIST_ITEM | 1u << HP_OUT_COUNT;
    if (needs & HD_LISTS_ENTRIES) has |= 1u << HP_OUT_LIST_VALUE | 1u << HP_OUT_LIST_SCORE;
    return has;
}

static bool overlap(const hp_array *a, const char *p, uint64_t bytes)
{
    return a->hold && a->bytes && bytes && (char *)a->data < p + bytes && p < (char *)a->data + a->bytes;
}

/* Arrays of the caller that receive outputs. */
static const struct {
    hp_out out;
    uint32_t needs; /* of the operations that have it, one of these */
    const char *what;
} owns[INS - IN_OUT] = {
    { HP_OUT_VALUE, HD_GIVES_VALUE, "out['value']" },   { HP_OUT_SCORE, HD_GIVES_SCORE, "out['score']" },
    { HP_OUT_PTR, HD_GIVES_PTR, "out['ptr']" },         { HP_OUT_KEY, HD_GIVES_KEY, "out['key']" },
    { HP_OUT_OUTCOME, HD_NEEDS_KEY, "out['outcome']" }, { HP_OUT_FOUND, HD_NEEDS_KEY, "out['found']" },
    { HP_OUT_ROWS, HD_GIVES_ROWS, "out['rows']" },      { HP_OUT_MORE, HD_GIVES_ROWS, "out['more']" },
};

/* Whether bytes that the call writes overlap one of the first `ins` arrays. find_or_insert may write its values. */
static int check_overlap(const call *c, const char *what, const char *p, uint64_t bytes, int ins, bool may_be_values)
{
    static const parameter name[IN_OUT] = { P_KEYS, P_UPPER, P_VALUES, P_SCORES, P_FLAGS, P_OPS };
    for (int i = 0; i < ins; i++) {
        if (i == IN_VALUES && may_be_values && c->in[i].data == p) continue;
        if (!overlap(&c->in[i], p, bytes)) continue;
        return hp_fail(HD_EINVAL, "%s: overlaps %s", what,
                       i < IN_OUT ? parameters[name[i]].name : owns[i - IN_OUT].what),
               -1;
    }
    return 0;
}

/* Takes the array that receives the values. */
static int take_out(call *c, PyObject *out)
{
    hp_array *a = &c->in[IN_OUT];
    if (!(c->needs & HD_GIVES_VALUE))
        return hp_fail(HD_EINVAL, "out: %s delivers no values; pass a dict of arrays", hd_op_name(c->b.op)), -1;
    if (take_values(c, IN_OUT, out, "out", true)) return -1;
    c->b.value_out = a->data;
    return check_overlap(c, "out", a->data, a->bytes, IN_OUT, hd_op_does(c->b.op, HD_NEEDS_VALUE | HD_GIVES_VALUE));
}

/* Takes an array that receives numbers: scores, addresses, outcomes, or what was found. */
static int take_own(call *c, int in, PyObject *array)
{
    hp_array *a = &c->in[in];
    const char *what = owns[in - IN_OUT].what;
    hp_type t = hp_out_type(owns[in - IN_OUT].out), or = t.bits == 8 ? u8 : (hp_type){ DL_INT, t.bits };
    if (hp_array_take(a, array, what, t, NULL, c->stream, true)) return -1;
    if (check_type(a, what, t, or) || check_place(c, a, what)) return -1;
    if (is_ranged(c, in) ? check_ranged(c, a, what, 2) : check_rows(a, what, c->b.n, 1)) return -1;
    return check_overlap(c, what, a->data, a->bytes, in, false);
}

/* Which of the caller's arrays has this name; -1: the operation has no such output. */
static int own_named(const call *c, PyObject *name)
{
    for (int i = 0; i < INS - IN_OUT; i++)
        if (c->needs & owns[i].needs && PyUnicode_CompareWithASCIIString(name, hp_out_name(owns[i].out)) == 0)
            return IN_OUT + i;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    return text ? (hp_fail(HD_EINVAL, "out: %s has no output '%.40s'", hd_op_name(c->b.op), text), -1) : -1;
}

/* The arrays of a dict, by their numbers in call.in; references. */
static int find_owns(const call *c, PyObject *dict, PyObject *given[INS])
{
    PyObject *name, *array;
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &name, &array)) {
        int in = PyUnicode_Check(name) ? own_named(c, name) : (hp_fail(HD_EINVAL, "out: a name is no text"), -1);
        if (in < 0) return -1;
        given[in] = Py_NewRef(array);
    }
    return 0;
}

/* Takes the dict of the caller's arrays. */
static int take_owns(call *c, PyObject *dict)
{
    PyObject *given[INS] = { NULL };
    if (c->needs & HD_LISTS)
        return hp_fail(HD_EINVAL, "out: %s delivers a list; pass the result of an equal call", hd_op_name(c->b.op)), -1;
    int failed = find_owns(c, dict, given);
    for (int in = IN_OUT; in < INS; in++) {
        if (given[in] && !failed) failed = in == IN_OUT ? take_out(c, given[in]) : take_own(c, in, given[in]);
        Py_XDECREF(given[in]); /* the call has its own */
    }
    c->own = dict;
    hd_batch *b = &c->b;
    b->score_out = c->in[IN_OUT_SCORE].data;
    b->ptr = c->in[IN_OUT_PTR].data;
    b->key_out = c->in[IN_OUT_KEY].data;
    b->outcome = c->in[IN_OUT_OUTCOME].data;
    b->found = c->in[IN_OUT_FOUND].data;
    b->rows = c->in[IN_OUT_ROWS].data;
    b->more = c->in[IN_OUT_MORE].data;
    return failed;
}

static hp_extent extent_of(const call *c)
{
    uint64_t n = c->needs & HD_NEEDS_KEY || c->needs & HD_LISTS ? c->b.n : 1; /* the entry with the least key */
    bool ranged = c->needs & HD_GIVES_ROWS;
    return (hp_extent){ n, c->needs & HD_LISTS ? c->b.n : 0, ranged, ranged ? c->b.limit : 0 };
}

/* Whether values of the two are arrays of the same type and shape. */
static bool same_values(const hp_value *a, const hp_value *b)
{
    return a->bytes == b->bytes && a->opaque == b->opaque && hp_type_same(a->type, b->type) && a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, sizeof *a->shape * (size_t)a->ndim) == 0;
}

/* Whether the result is of an equal call. Its values and scores may be where an earlier `out` said. */
static bool is_of_equal_call(const call *c, const hp_result *r)
{
    const uint32_t either = 1u << HP_OUT_VALUE | 1u << HP_OUT_LIST_VALUE | 1u << HP_OUT_SCORE;
    return r->op == c->b.op && r->extent.n == c->b.n && r->extent.limit == extent_of(c).limit &&
           ((r->has ^ outputs_of(c->needs, true)) & ~either) == 0 && same_values(&r->value, &c->t->value) &&
           (!r->place.on_device || c->t->on_device || hp_pretend_device);
}

/* The result of an equal call, whose memory is written again. */
static int reuse(call *c, hp_result *r)
{
    PyObject *own = r->view[HP_OUT_VALUE]; /* the caller's, if the block has no values */
    if (!is_of_equal_call(c, r)) return hp_fail(HD_EINVAL, "out: the result of another kind of call"), -1;
    if (check_overlap(c, "out", r->place.data, r->bytes, IN_OUT, false) || hp_result_written(r)) return -1;
    Py_CLEAR(r->listed);
    c->fresh = c->zero;
    c->result = (hp_result *)Py_NewRef((PyObject *)r);
    hp_result_outputs(r, &c->b);
    if (!(r->has >> HP_OUT_VALUE & 1) && own && take_out(c, own)) return -1;
    return 0;
}

static int take_outputs(call *c)
{
    PyObject *out = c->a.given[P_OUT];
    if (out && Py_TYPE(out) == hp_result_type) return reuse(c, (hp_result *)out);
    if (out && PyDict_Check(out)) return take_owns(c, out);
    if (out && c->needs & HD_GIVES_ROWS)
        return hp_fail(HD_EINVAL,
                       "out: an item of %s has several rows; pass a dict of arrays, or the result of an "
                       "equal call",
                       hd_op_name(c->b.op)),
               -1;
    const hp_array *keys = c->in[IN_KEYS].hold ? &c->in[IN_KEYS] : NULL;
    c->result = hp_result_new(keys, &c->t->value, c->b.op, extent_of(c), outputs_of(c->needs, out != NULL), c->b.stream,
                              !c->a.given[P_STREAM]);
    if (!c->result) return -1;
    c->fresh = true;
    hp_result_outputs(c->result, &c->b);
    if (!out) return 0;
    c->result->view[HP_OUT_VALUE] = Py_NewRef(out);
    return take_out(c, out);
}

/* ---- Rows of absent keys ----------------------------------------------------------------------------------------- */

/* They become zeros in the memory of a new result, and with zero=True in the caller's arrays. If the batch has ended
 * when its call returns, and says what it found, these rows alone are cleared, afterwards. Else all rows are cleared
 * before it. */
typedef struct clearing {
    const bool *found; /* what this machine can read after the batch; NULL: all is cleared before */
    char *value;       /* to clear afterwards, or NULL */
    uint64_t *score, *key;
} clearing;

/* The caller's arrays of values and scores. They may be pinned, and no call on a device waits for a batch there. */
static int clear_owns(call *c, clearing *how)
{
    bool after = how->found && !c->t->on_device;
    for (int in = IN_OUT; in <= IN_OUT_KEY; in++) {
        const hp_array *a = &c->in[in];
        if (!a->hold || in == IN_OUT_PTR) continue;
        if (after && in == IN_OUT)
            how->value = a->data;
        else if (after && in == IN_OUT_KEY)
            how->key = a->data;
        else if (after)
            how->score = a->data;
        else if (!c->t->on_device)
            memset(a->data, 0, a->bytes);
        else if (hp_memory_clear(a->device, a->data, a->bytes, c->b.stream))
            return -1;
    }
    return 0;
}

/* The memory of a result. */
static int clear_result(call *c, clearing *how)
{
    hp_result *r = c->result;
    if (r->place.on_device) return hp_memory_clear(r->place.device, r->place.data, r->unwritten, c->b.stream);
    if (!how->found) return memset(r->place.data, 0, r->unwritten), 0;
    if (r->has >> HP_OUT_PTR & 1) memset(c->b.ptr, 0, c->b.n * sizeof *c->b.ptr);
    if (r->has >> HP_OUT_COUNT & 1) *c->b.count = 0;
    if (r->has >> HP_OUT_SCORE & 1) how->score = c->b.score_out;
    if (r->has >> HP_OUT_KEY & 1) how->key = c->b.key_out;
    if (r->has >> HP_OUT_VALUE & 1) how->value = c->b.value_out;
    return 0;
}

static int clear_before(call *c, clearing *how)
{
    if (!c->fresh && !c->zero) return 0;
    bool ended = c->result ? !c->result->place.on_device : !c->t->on_device;
    /* What a mixed batch finds does not say which of its items deliver a value; what a range finds, not how many. */
    if (ended && !c->m->mixed && !(c->needs & HD_GIVES_ROWS)) how->found = c->b.found;
    if (c->fresh && clear_result(c, how)) return -1;
    return c->zero ? clear_owns(c, how) : 0;
}

static void clear_rows(uint64_t i, uint64_t rows, char *value, uint64_t value_bytes, uint64_t *score)
{
    if (value) memset(value + i * value_bytes, 0, rows * value_bytes);
    if (score) memset(score + i, 0, rows * sizeof *score);
}

/* Eight rows at a time, of which often all or none were found. */
void hp_clear_absent(const bool *found, uint64_t n, char *value, uint64_t value_bytes, uint64_t *score)
{
    const uint64_t all_found = 0x0101010101010101;
    if (!value && !score) return;
    for (uint64_t i = 0; i < n; i += 8) {
        uint64_t eight = 1, rows = n - i < 8 ? n - i : 8;
        if (rows == 8) memcpy(&eight, found + i, 8);
        if (eight == all_found) continue;
        if (eight == 0) clear_rows(i, 8, value, value_bytes, score);
        for (uint64_t k = i; eight && k < i + rows; k++)
            if (!found[k]) clear_rows(k, 1, value, value_bytes, score);
    }
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

static hd_status run_once(call *c)
{
    return c->growing ? hd_run_growing(c->t->table, &c->b, c->target) : hd_run(c->t->table, &c->b);
}

/* What the batch costs without Python. */
static hd_status run_repeats(hp_table *t, hd_batch *b)
{
    struct timespec from, to;
    hd_status s = HD_OK;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (uint32_t i = 0; i < t->repeats && !s; i++) s = hd_run(t->table, b);
    clock_gettime(CLOCK_MONOTONIC, &to);
    t->seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    return s;
}

/* JAX has no streams that a caller knows, so its arrays are given to it when they are written. */
static int wait_for_library(const call *c)
{
    if (!c->result->place.on_device || c->result->place.kind != HP_JAX || hp_pretend_device) return 0;
    const hd_device_seam *d = &hd_device_os;
    PyThreadState *state = PyEval_SaveThread();
    int failed = d->wait(d->self, c->b.stream);
    PyEval_RestoreThread(state);
    return failed ? (hp_fail(HD_ECUDA, "outputs: %s", d->error(d->self, failed)), -1) : 0;
}

/* Tensors of the caller that the batch writes. */
static int tell_libraries(const call *c)
{
    PyObject *tensors = NULL;
    int failed = 0;
    for (int in = IN_OUT; in < INS && !failed; in++) {
        const hp_array *a = &c->in[in];
        if (!a->hold || a->library.kind != HP_TORCH) continue;
        if (!tensors && !(tensors = PyList_New(0))) return -1;
        failed = PyList_Append(tensors, a->object);
    }
    if (tensors && !failed) failed = hp_tensors_written(tensors);
    Py_XDECREF(tensors);
    return failed;
}

/* Whether an item may add to a value. Operations in a device's memory are not looked at: they may. */
static bool may_add(const call *c)
{
    const uint8_t *op = (const uint8_t *)c->b.each;
    if (!op) return c->b.op == HD_OP_ACCUM_OR_ASSIGN;
    if (c->t->value.bytes == 0) return false;
    return hp_array_on_device(&c->in[IN_OPS]) || memchr(op, HD_OP_ACCUM_OR_ASSIGN, (size_t)c->b.n) != NULL;
}

static int run(call *c)
{
    hp_table *t = c->t;
    hd_status s;
    c->counts = is_counted(c->needs, c->b.op);
    if (c->counts) c->b.count = &c->number;
    c->b.elem = t->elem;
    if (!t->elem_known && may_add(c))
        return hp_fail(HD_EINVAL, "accum_or_assign: the table has opaque values; open it with a type of numbers"), -1;
    clearing how = { NULL, NULL, NULL, NULL };
    if (tell_libraries(c) || clear_before(c, &how)) return -1;
    PyThreadState *state = PyEval_SaveThread();
    s = t->repeats ? run_repeats(t, &c->b) : run_once(c);
    if (!s) hp_clear_absent(how.found, c->b.n, how.value, t->value.bytes, how.score);
    if (!s) hp_clear_absent(how.found, c->b.n, NULL, 0, how.key);
    PyEval_RestoreThread(state);
    int failed = s ? (hp_fail_why(s), -1) : 0;
    if (!failed && c->result) failed = wait_for_library(c);
    if (!failed && t->steps) failed = hp_steps_take(t, &c->b);
    return failed;
}

/* The pair of key and value of the entry that min or max found; None: there is none. */
static PyObject *entry_found(const call *c)
{
    if (!c->number) return Py_NewRef(Py_None);
    PyObject *rows = hp_result_view(c->result, HP_OUT_VALUE), *value = rows;
    if (rows && rows != Py_None) {
        value = PySequence_GetItem(rows, 0);
        Py_DECREF(rows);
    }
    return value ? Py_BuildValue("KN", (unsigned long long)*c->b.key_out, value) : NULL;
}

static PyObject *call_result(call *c)
{
    if (c->own) return Py_NewRef(c->own);
    if (!c->result) return c->counts ? PyLong_FromUnsignedLongLong(c->number) : Py_NewRef(Py_None);
    if (!(c->needs & HD_NEEDS_KEY)) return c->counts ? entry_found(c) : hp_result_listed(c->result);
    uint32_t more = c->result->has & ~(1u << HP_OUT_OUTCOME);
    if (!more && !c->result->view[HP_OUT_VALUE]) return hp_result_view(c->result, HP_OUT_OUTCOME);
    return Py_NewRef((PyObject *)c->result);
}

/* Takes the arguments, and runs the batch. */
static int take_and_run(call *c)
{
    bool keyed = c->needs & HD_NEEDS_KEY;
    if (stream_of(c) || take_numbers(c)) return -1;
    if (keyed && take_inputs(c)) return -1;
    if (c->needs & HD_OF_SLOTS && take_slots(c)) return -1;
    if ((keyed || c->needs & (HD_LISTS | HD_GIVES_KEY)) && take_outputs(c)) return -1;
    return run(c);
}

static PyObject *call_operation(PyObject *self, int number, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    call c;
    memset(&c, 0, sizeof c);
    c.t = (hp_table *)self;
    c.m = &methods[number];
    bool evicted = false;
    if (take_arguments(c.m, &c.a, args, n, names) || truth_of(&c.a, P_EVICTED, &evicted)) return NULL;
    if (hp_table_begin(c.t)) return NULL; /* from here on: arguments run Python's code, which may close the table */
    c.b.op = evicted ? HD_OP_INSERT_AND_EVICT : c.m->op;
    c.needs = needs_of(c.m, c.b.op);
    int failed = take_and_run(&c);
    for (int i = 0; i < INS; i++)
        if (c.in[i].hold) hp_array_leave(&c.in[i]);
    hp_table_end(c.t);
    PyObject *result = failed ? NULL : call_result(&c);
    Py_XDECREF(c.stream);
    Py_XDECREF((PyObject *)c.result);
    return result;
}

/* ---- The methods ------------------------------------------------------------------------------------------------- */

#define METHOD(number, name, what, role, family, does)                                                 \
    static PyObject *call_##name(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) \
    {                                                                                                  \
        return call_operation(self, HD_OP_##number, args, n, names);                                   \
    }
HD_OP_ROWS(METHOD)
#undef METHOD

static PyObject *call_insert(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    return call_operation(self, METHOD_INSERT, args, n, names);
}

static PyObject *call_mixed(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    return call_operation(self, METHOD_MIXED, args, n, names);
}

#define FUNCTION(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS
static PyMethodDef rows[METHODS + 1] = {
#define METHOD(number, name, what, role, family, does) [HD_OP_##number] = { #name, FUNCTION(call_##name), NULL },
    HD_OP_ROWS(METHOD)
#undef METHOD
        [METHOD_INSERT] = { "insert", FUNCTION(call_insert), NULL },
    [METHOD_MIXED] = { "mixed", FUNCTION(call_mixed), NULL },
};
PyMethodDef *hp_call_methods = rows;

int hp_calls_ready(void)
{
    for (int p = 0; p < PARAMETERS; p++) {
        parameters[p].text = PyUnicode_InternFromString(parameters[p].name);
        if (!parameters[p].text) return -1;
    }
    for (int i = 0; i < METHODS; i++) {
        method *m = &methods[i];
        *m = (method){ .name = rows[i].ml_name, .op = i < HD_OP_COUNT_ ? (hd_op)i : HD_OP_INSERT_OR_ASSIGN };
        m->mixed = i == METHOD_MIXED;
        uint32_t needs = needs_of(m, m->op);
        set_inputs(m, needs);
        set_options(m, needs);
        set_doc(m, m->mixed ? "item i has the operation ops[i] (design hive)" : hd_op_row_of(m->op)->what);
        rows[i].ml_doc = m->doc;
    }
    return 0;
}

/* A list of strings: the outputs, and "count" of an operation that delivers a number. */
static PyObject *outputs_row(const method *m)
{
    uint32_t needs = needs_of(m, m->op), has = outputs_of(needs, false);
    PyObject *list = PyList_New(0);
    if (is_counted(needs, m->op)) has |= 1u << HP_OUT_COUNT;
    for (int out = 0; list && out < HP_OUTS; out++) {
        PyObject *name = has >> out & 1 ? PyUnicode_FromString(hp_out_name((hp_out)out)) : Py_NewRef(Py_None);
        if (!name || (name != Py_None && PyList_Append(list, name))) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *parameters_row(const method *m)
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < m->count; i++) {
        int p = m->parameter[i];
        const char *usual = i < m->required ? "" : parameters[p].usual ? parameters[p].usual : "None";
        PyObject *row = Py_BuildValue("{s:s,s:s,s:s,s:s,s:i}", "name", parameters[p].name, "type", parameters[p].type,
                                      "default", usual, "what", parameters[p].what, "placed", i < m->placed);
        if (!row || PyList_Append(list, row)) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

PyObject *hp_call_rows(void)
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < METHODS; i++) {
        const method *m = &methods[i];
        PyObject *given = parameters_row(m), *gives = given ? outputs_row(m) : NULL;
        const char *what = m->mixed ? "each item its own operation" : hd_op_row_of(m->op)->what;
        PyObject *row = gives ? Py_BuildValue("{s:s,s:s,s:O,s:O}", "name", m->name, "what", what, "gives", gives,
                                              "parameters", given)
                              : NULL;
        if (!row || PyList_Append(list, row)) Py_CLEAR(list);
        Py_XDECREF(row);
        Py_XDECREF(gives);
        Py_XDECREF(given);
    }
    return list;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * case.c - reading and writing case strings (case.h): one table of fields serves both ways.
 */
#include "workload/case.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/design.h"
#include "base/error.h"
#include "base/parse.h"
#include "lib/params.h"
#include "policies/expression.h"

typedef hd_case_field field;

static const char *const clocks[] = { "logical", "device", NULL };
static const char *const betweens[] = { "nothing", "grow", "shrink", "load", "reshape", "reopen", "near", NULL };
static const char *const elems[] = {
    "drawn", "f32", "f16", "bf16", "i32", "i64", "u64", "f64", "i8", "u8", "i16", NULL
};
_Static_assert(sizeof elems / sizeof *elems == HD_ELEM_COUNT + 2, "a name for each hd_elem");
static const char *const outputs[] = { "all", "none", "some", NULL };
static const char *const layouts[] = {
    "usual", "planes", "pairs", "words", "masks", "sorted", "inline", "cells", NULL
};

static const char *const durables[] = { "none", "process", "line", "disk", NULL };
static const char *const commits[] = { "batch", "call", NULL };

#define AT(member) offsetof(hd_case, member), sizeof((hd_case *)0)->member

static const field fields[] = {
    { "policy", HD_CASE_TEXT, AT(policy), 0, 0, HD_POLICIES, NULL },
    { "backend", HD_CASE_TEXT, AT(backend), 0, 0, HD_BACKENDS, NULL },
    { "lock", HD_CASE_TEXT, AT(lock), 0, 0, HD_LOCKS, NULL },
    { "buckets", HD_CASE_U64, AT(buckets), 0, 1ull << 40, -1, NULL },
    { "capacity", HD_CASE_U64, AT(capacity), 1, 1ull << 48, -1, NULL },
    { "slots", HD_CASE_U32, AT(slots), HD_SLOTS_MIN, HD_SLOTS_MAX, -1, NULL },
    { "value", HD_CASE_U32, AT(value_bytes), 0, HD_VALUE_BYTES_MAX, -1, NULL },
    { "layout", HD_CASE_NAMED, AT(layout), 0, 0, -1, layouts },
    { "table_seed", HD_CASE_U64, AT(table_seed), 0, UINT64_MAX, -1, NULL },
    { "clock", HD_CASE_NAMED, AT(table.clock), 0, 0, -1, clocks },
    { "threads", HD_CASE_U32, AT(threads), 0, 4096, -1, NULL },
    { "batch", HD_CASE_U64, AT(batch), 1, 1ull << 32, -1, NULL }, /* NxM: also batches */
    { "keys", HD_CASE_TEXT, AT(keys), 0, 0, -1, NULL },
    { "distinct", HD_CASE_BOOL, AT(distinct), 0, 1, -1, NULL },
    { "epoch_every", HD_CASE_U32, AT(epoch_every), 0, UINT32_MAX, -1, NULL },
    { "reserved", HD_CASE_U32, AT(reserved_ppm), 0, 1000000, -1, NULL },
    { "duplicate", HD_CASE_U32, AT(duplicate_ppm), 0, 1000000, -1, NULL },
    { "extreme", HD_CASE_U32, AT(extreme_ppm), 0, 1000000, -1, NULL },
    { "raw", HD_CASE_U32, AT(raw_ppm), 0, 1000000, -1, NULL },
    { "seed", HD_CASE_U64, AT(seed), 0, UINT64_MAX, -1, NULL },
    { "small", HD_CASE_BOOL, AT(small), 0, 1, -1, NULL },
    { "judge", HD_CASE_BOOL, AT(judge), 0, 1, -1, NULL },
    { "between", HD_CASE_NAMED, AT(between), 0, 0, -1, betweens },
    { "outputs", HD_CASE_NAMED, AT(outputs), 0, 0, -1, outputs },
    { "fill", HD_CASE_U32, AT(fill), 0, 100, -1, NULL },
    { "sorted", HD_CASE_BOOL, AT(sorted), 0, 1, -1, NULL },
    { "limit", HD_CASE_U32, AT(limit), 0, 1u << 20, -1, NULL },
    { "skew", HD_CASE_U32, AT(skew), 0, 15, -1, NULL },
    { "holder", HD_CASE_U64, AT(holder), 0, UINT64_MAX, -1, NULL },
    { "predicate", HD_CASE_TEXT, AT(predicate), 0, 0, HD_PREDICATES, NULL },
    { "elem", HD_CASE_NAMED, AT(elem), 0, 0, -1, elems },
    { "file", HD_CASE_TEXT, AT(file), 0, 0, -1, NULL },
    { "durable", HD_CASE_NAMED, AT(table.durable), 0, 0, -1, durables },
    { "commit", HD_CASE_NAMED, AT(table.commit), 0, 0, -1, commits },
};
enum { FIELDS = sizeof fields / sizeof *fields };
_Static_assert(FIELDS <= 64, "one bit each");

const hd_case_field *hd_case_field_at(size_t i) { return i < FIELDS ? &fields[i] : NULL; }

static const char *const others[] = { "mix", "mixed", "serve" };
enum { OTHERS = sizeof others / sizeof *others };

const char *hd_case_op_at(size_t i)
{
    if (i < HD_OP_COUNT_) return hd_op_name((hd_op)i);
    return i < HD_OP_COUNT_ + OTHERS ? others[i - HD_OP_COUNT_] : NULL;
}

static const uint64_t batches_most = 1ull << 40;

hd_case hd_case_default(void)
{
    hd_case c;
    memset(&c, 0, sizeof c);
    c.table = hd_config_default();
    strcpy(c.design, c.table.design);
    strcpy(c.op, "serve");
    strcpy(c.kernel, "ref");
    strcpy(c.policy, "lru");
    strcpy(c.lock, "ordered");
    strcpy(c.predicate, "all");
    strcpy(c.keys, "zipf:0.99,1Mi");
    c.capacity = 1 << 16;
    c.slots = 128;
    c.value_bytes = 8;
    c.batch = 4096;
    c.batches = 256;
    c.seed = 1;
    return c;
}

hd_case hd_case_of(const char *design)
{
    hd_case c = hd_case_default();
    hd_config f = hd_config_of(design);
    snprintf(c.design, sizeof c.design, "%s", design);
    snprintf(c.policy, sizeof c.policy, "%s", f.policy);
    c.slots = f.slots;
    c.value_bytes = f.value_bytes;
    return c;
}

/* Where the case's kernel runs: as it says, or on the first backend that has one of that name. */
static const char *backend_of(const hd_case *c)
{
    const hd_design *d = hd_design_named(c->design);
    const hd_backend *on;
    if (c->backend[0]) return c->backend;
    for (size_t i = 0; d && (on = hd_backend_at(d, i)); i++)
        if (hd_variant_named(hd_variants_on(d, on), c->kernel)) return on->name;
    return hd_config_default().backend;
}

hd_config hd_case_config(const hd_case *c)
{
    hd_config f = c->table;
    f.design = c->design;
    f.backend = backend_of(c);
    f.policy = c->policy;
    f.lock = c->lock;
    if (c->file[0]) f.file = c->file;
    f.capacity = c->buckets ? c->buckets * c->slots : c->capacity; /* fits: 2^40 x 2^10 */
    f.slots = c->slots;
    f.value_bytes = c->value_bytes;
    f.layout = c->layout;
    f.seed = c->table_seed;
    f.threads = c->threads;
    return f;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static hd_status take_text(const char *what, const char *text, char *to, size_t bytes)
{
    size_t n = strlen(text);
    if (n == 0) return hd_fail(HD_EINVAL, "%s: it is empty", what);
    if (n >= bytes) return hd_fail(HD_EINVAL, "%s: '%.40s...' is longer than %zu characters", what, text, bytes - 1);
    memcpy(to, text, n + 1);
    return HD_OK;
}

/* Whether it is the policy of a design that has no other. */
static bool only_policy(const char *name)
{
    const hd_design *d;
    for (size_t i = 0; (d = hd_design_at(i)); i++)
        if (d->policy && strcmp(d->policy, name) == 0) return true;
    return false;
}

static hd_status take_registered(const field *f, const char *text, char *to)
{
    hd_row row;
    if (f->names == HD_POLICIES) {
        hd_policy_use use;
        hd_status status = only_policy(text) ? HD_OK : hd_policy_read(text, &use);
        return status ? status : take_text(f->name, text, to, f->bytes);
    }
    for (size_t i = 0; hd_list((hd_kind)f->names, i, &row); i++)
        if (strcmp(row.name, text) == 0) return take_text(f->name, text, to, f->bytes);
    return hd_fail_name(f->name, text, (hd_kind)f->names);
}

static hd_status take_number_of(const field *f, const char *text, void *to)
{
    char nearest[HD_NEAREST_TEXT];
    hd_nearest near = { text, NULL, 0 };
    for (int i = 0; f->values[i]; i++) {
        if (strcmp(text, f->values[i]) == 0) return memcpy(to, &i, sizeof i), HD_OK; /* enumerations are ints */
        hd_nearest_try(&near, f->values[i]);
    }
    return hd_fail(HD_EINVAL, "%s: there is no '%.60s'%s", f->name, text, hd_nearest_text(&near, "", nearest));
}

/* "64x4": 64 items, 4 batches. Without x, the number of batches stays. */
static hd_status take_batch(const char *text, hd_case *c)
{
    char n[64];
    const char *x = strchr(text, 'x');
    size_t length = x ? (size_t)(x - text) : strlen(text);
    if (x && x == text + 1 && text[0] == '0')
        return hd_fail(HD_EINVAL, "batch: '%.40s' is not NxM with decimal N", text);
    if (length >= sizeof n) return hd_fail(HD_EINVAL, "batch: '%.40s...' is not NxM", text);
    memcpy(n, text, length);
    n[length] = 0;
    uint64_t items = 0, batches = c->batches;
    hd_status s = hd_parse_u64("batch", n, 1, 1ull << 32, &items);
    if (s == HD_OK && x) s = hd_parse_u64("batch", x + 1, 0, batches_most, &batches);
    if (s) return s;
    c->batch = items;
    c->batches = batches;
    return HD_OK;
}

static hd_status take_field(const field *f, const char *text, hd_case *c)
{
    char *to = (char *)c + f->at;
    uint64_t v;
    if (strcmp(f->name, "batch") == 0) return take_batch(text, c);
    if (f->form == HD_CASE_TEXT)
        return f->names < 0 ? take_text(f->name, text, to, f->bytes) : take_registered(f, text, to);
    if (f->form == HD_CASE_NAMED) return take_number_of(f, text, to);
    hd_status s = hd_parse_u64(f->name, text, f->least, f->most, &v);
    if (s) return s;
    if (f->form == HD_CASE_BOOL) *(bool *)to = v != 0;
    if (f->form == HD_CASE_U32) *(uint32_t *)(void *)to = (uint32_t)v;
    if (f->form == HD_CASE_U64) *(uint64_t *)(void *)to = v;
    return HD_OK;
}

/* The bit of hd_case.set that is a design's field's: behind those of `fields`. */
static unsigned param_bit(const hd_params *of, const hd_param *p)
{
    const hd_params *s;
    size_t bit = FIELDS;
    for (size_t i = 1; (s = hd_params_at(i)) && s != of; i++) bit += s->count;
    bit += (size_t)(p - of->row);
    HD_ASSERT(bit < 64);
    return (unsigned)bit;
}

/* A field of another design that is set to nothing is as if it had not been set. */
static hd_status set_param(hd_case *c, const hd_params *of, const hd_param *p, const char *value)
{
    void *in = hd_params_in(of, &c->table);
    hd_status s = hd_param_set(p, in, value);
    if (s) return s;
    c->set |= 1ull << param_bit(of, p);
    if (strcmp(of->design, c->design) != 0 && hd_param_unused(p, in)) hd_param_reset(p, in);
    return HD_OK;
}

hd_status hd_case_set(hd_case *c, const char *name, const char *value)
{
    char nearest[HD_NEAREST_TEXT];
    hd_nearest near = { name, NULL, 0 };
    for (size_t i = 0; i < FIELDS; i++) {
        if (strcmp(name, fields[i].name) != 0) continue;
        hd_status s = take_field(&fields[i], value, c);
        if (!s) c->set |= 1ull << i;
        return s;
    }
    const hd_params *of;
    const hd_param *p = hd_param_named(name, c->design, &of);
    if (p && of->design) return set_param(c, of, p, value);
    for (size_t i = 0; i < FIELDS; i++) hd_nearest_try(&near, fields[i].name);
    for (size_t i = 1; (of = hd_params_at(i)); i++)
        for (size_t k = 0; k < of->count; k++) hd_nearest_try(&near, of->row[k].name);
    return hd_fail(HD_EINVAL, "case: there is no '%.60s='%s", name, hd_nearest_text(&near, "", nearest));
}

bool hd_case_has(const hd_case *c, const char *name)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (strcmp(name, fields[i].name) == 0) return c->set >> i & 1;
    const hd_params *of;
    const hd_param *p = hd_param_named(name, c->design, &of);
    return p && of->design && c->set >> param_bit(of, p) & 1;
}

static hd_status take_named(char *word, char *equals, hd_case *c)
{
    *equals = 0;
    if (hd_case_has(c, word)) return hd_fail(HD_EINVAL, "case: '%s=' is given twice", word);
    return hd_case_set(c, word, equals + 1);
}

static hd_status take_op(const char *text, hd_case *c)
{
    char nearest[HD_NEAREST_TEXT];
    hd_nearest near = { text, NULL, 0 };
    const char *name;
    for (size_t i = 0; (name = hd_case_op_at(i)); i++) {
        if (strcmp(text, name) == 0) return take_text("op", text, c->op, sizeof c->op);
        hd_nearest_try(&near, name);
    }
    return hd_fail(HD_EINVAL, "op: there is no '%.60s'%s", text, hd_nearest_text(&near, "", nearest));
}

/* DESIGN.OP.KERNEL, or OP alone. The design's usual fields come with it, before those that are said. */
static hd_status take_head(char *word, hd_case *c)
{
    char design[sizeof c->design];
    char *op = strchr(word, '.'), *kernel = op ? strchr(op + 1, '.') : NULL;
    if (!op) return take_op(word, c);
    if (!kernel || strchr(kernel + 1, '.')) return hd_fail(HD_EINVAL, "case: '%.60s' is not DESIGN.OP.KERNEL", word);
    *op++ = 0;
    *kernel++ = 0;
    hd_status s = take_text("design", word, design, sizeof design);
    if (s == HD_OK) *c = hd_case_of(design);
    if (s == HD_OK) s = take_op(op, c);
    if (s == HD_OK) s = take_text("kernel", hd_kernel_renamed(kernel), c->kernel, sizeof c->kernel);
    return s;
}

enum { WORD_MOST = 511 };

/* The next word of the text, of which *text is what is left; "": there is none. */
static hd_status next_word(const char **text, char *word)
{
    *text += strspn(*text, " \t\r\n");
    size_t n = strcspn(*text, " \t\r\n");
    if (n > WORD_MOST) return hd_fail(HD_EINVAL, "case: a word of %zu characters: '%.40s...'", n, *text);
    memcpy(word, *text, n);
    word[n] = 0;
    *text += n;
    return HD_OK;
}

/* All words of a kind: the head, which is the one without '=', or the fields. */
static hd_status take_words(const char *text, bool fields_now, hd_case *c)
{
    char word[WORD_MOST + 1];
    bool head = false;
    hd_status s;
    while (!(s = next_word(&text, word)) && word[0]) {
        char *equals = strchr(word, '=');
        if (!equals && head) return hd_fail(HD_EINVAL, "case: '%.60s' is not NAME=VALUE", word);
        head = head || !equals;
        if (fields_now != (equals != NULL)) continue;
        s = equals ? take_named(word, equals, c) : take_head(word, c);
        if (s) return s;
    }
    return s;
}

hd_status hd_case_parse(const char *text, hd_case *c)
{
    hd_case read = hd_case_default();
    hd_status s = take_words(text, false, &read);
    if (!s) s = take_words(text, true, &read);
    if (!s) *c = read;
    return s;
}

/* ---- Writing --------------------------------------------------------------------------------- */

typedef struct printing {
    char *text;
    size_t bytes, used; /* used: the length it would need */
} printing;

static void put(printing *p, const char *name, const char *value)
{
    size_t room = p->used < p->bytes ? p->bytes - p->used : 0;
    int n =
        snprintf(room ? p->text + p->used : NULL, room, "%s%s%s%s", p->used ? " " : "", name, *name ? "=" : "", value);
    p->used += n > 0 ? (size_t)n : 0;
}

static void put_whole(printing *p, const char *name, uint64_t v)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, v);
    put(p, name, digits);
}

static void put_field(printing *p, const field *f, const hd_case *c, const hd_case *usual)
{
    const char *at = (const char *)c + f->at, *as_usual = (const char *)usual + f->at;
    if (strcmp(f->name, "batch") == 0) {
        char pair[48];
        snprintf(pair, sizeof pair, "%" PRIu64 "x%" PRIu64, c->batch, c->batches);
        if (c->batch != usual->batch || c->batches != usual->batches) put(p, f->name, pair);
        return;
    }
    if (f->form == HD_CASE_TEXT ? strcmp(at, as_usual) == 0 : memcmp(at, as_usual, f->bytes) == 0) return;
    switch (f->form) { /* GCOVR_EXCL_BR_LINE: every form has its case */
    case HD_CASE_TEXT: put(p, f->name, at); break;
    case HD_CASE_NAMED: put(p, f->name, f->values[*(const int *)(const void *)at]); break;
    case HD_CASE_BOOL: put_whole(p, f->name, *(const bool *)at); break;
    case HD_CASE_U32: put_whole(p, f->name, *(const uint32_t *)(const void *)at); break;
    case HD_CASE_U64: put_whole(p, f->name, *(const uint64_t *)(const void *)at); break;
    }
}

/* Those of the design that are not usual, and those of others that are set to something. */
static void put_params(printing *p, const hd_case *c, const hd_case *usual)
{
    const hd_params *s;
    char text[64];
    for (size_t i = 1; (s = hd_params_at(i)); i++)
        for (size_t k = 0; k < s->count; k++) {
            const void *in = hd_params_of(s, &c->table);
            bool own = strcmp(s->design, c->design) == 0;
            if (own ? hd_param_same(&s->row[k], in, hd_params_of(s, &usual->table)) : hd_param_unused(&s->row[k], in))
                continue;
            hd_param_print(&s->row[k], in, text, sizeof text);
            put(p, s->row[k].name, text);
        }
}

size_t hd_case_print(const hd_case *c, char *text, size_t bytes)
{
    hd_case usual = hd_case_of(c->design);
    printing p = { text, bytes, 0 };
    char head[sizeof c->design + sizeof c->op + sizeof c->kernel + 2];
    snprintf(head, sizeof head, "%s.%s.%s", c->design, c->op, c->kernel);
    if (bytes) text[0] = 0;
    put(&p, "", head);
    for (size_t i = 0; i < FIELDS; i++) {
        put_field(&p, &fields[i], c, &usual);
        if (strcmp(fields[i].name, "value") == 0) put_params(&p, c, &usual);
    }
    return p.used;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

const char *hd_case_differs(const hd_case *a, const hd_case *b)
{
    if (strcmp(a->design, b->design) != 0) return "design";
    if (strcmp(a->op, b->op) != 0) return "op";
    if (strcmp(a->kernel, b->kernel) != 0) return "kernel";
    for (size_t i = 0; i < FIELDS; i++) {
        const char *x = (const char *)a + fields[i].at, *y = (const char *)b + fields[i].at;
        bool same = fields[i].form == HD_CASE_TEXT ? strcmp(x, y) == 0 : memcmp(x, y, fields[i].bytes) == 0;
        if (!same || a->batches != b->batches) return same ? "batch" : fields[i].name;
    }
    return hd_params_differ(&a->table, &b->table);
}

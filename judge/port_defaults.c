/* SPDX-License-Identifier: Apache-2.0
 *
 * port_defaults.c - what a port has that leaves members of judge_design out: see design.h.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/op.h"
#include "judge/design.h"
#include "judge/port_hosted.h"
#include "judge/kernels.h"
#include "judge/making.h"
#include "judge/rules.h"

/* ---- Kernels --------------------------------------------------------------------------------- */

bool fixture_row(const judge_design *d, uint32_t row, judge_row *r)
{
    return d->row ? d->row(row, r) : fixture_row_of_variant(d->host->variants, row, r);
}

bool fixture_runs(const judge_design *d, uint32_t row, hd_op op)
{
    if (op == JUDGE_MIXED && !d->mix) return false;
    return d->runs ? d->runs(row, op) : hosted_runs(d, row, op);
}

const char *fixture_unsupported(const judge_design *d, uint32_t row, const hd_case *c)
{
    return d->unsupported ? d->unsupported(row, c) : hosted_unsupported(d, row, c);
}

judge_small fixture_wide(const judge_design *d) { return d->wide.slots ? d->wide : d->small; }

/* ---- Memory ---------------------------------------------------------------------------------- */

size_t fixture_table_size(const judge_design *d) { return d->table_size ? d->table_size : d->host->gpu->state_bytes; }

/* Never 0: fixtures allocate it. */
size_t fixture_args_size(const judge_design *d) { return d->args_size ? d->args_size : fixture_table_size(d); }

hd_status fixture_shape(fixture *s, const hd_case *c)
{
    hd_status status = s->design->host ? hosted_shape(s, c) : HD_OK;
    return status || !s->design->shape ? status : s->design->shape(s, c);
}

static uint8_t *region_of(const void *table, const judge_memory *m) { return (uint8_t *)hd_field(table, m->at); }

/* Region i of the fixture's table. Growth by several steps brings arrays that have one address after another. */
static uint8_t *laid_at(const fixture *s, uint32_t i)
{
    bool grows = i >= s->table_memories - s->growth_memories;
    return grows ? s->memory + s->region[i].at : region_of(s->table, &s->table_memory[i]);
}

/* The addresses of its regions are set. */
static void table_laid(const judge_design *d, void *table)
{
    if (d->host) hosted_taken(d, table);
    if (d->laid) d->laid(table);
}

void fixture_lay_table(fixture *s)
{
    const judge_design *d = s->design;
    judge_memory *all = s->table_memory;
    uint32_t ports = d->memory ? d->memory(s, all) : 0;
    uint32_t hosted = ports + (d->host ? hosted_memory(s, all + ports) : 0);
    s->growth_memories = s->part[0].kernel && s->part[0].kernel->grows_to ? hosted_growth_memory(s, all, hosted) : 0;
    s->table_memories = hosted + s->growth_memories;
    for (uint32_t i = 0; i < s->table_memories; i++) {
        void *at = fixture_room(s, all[i].name, all[i].bytes, i >= ports && i < hosted);
        hd_field_set(s->table, all[i].at, at);
    }
    if (s->memory) table_laid(d, s->table);
}

void fixture_view(const fixture *s, uint8_t *memory, void *table)
{
    const judge_memory *all = s->table_memory;
    if (table != s->table) memcpy(table, s->table, fixture_table_size(s->design));
    for (uint32_t i = 0; i < s->table_memories; i++)
        hd_field_set(table, all[i].at, memory + (laid_at(s, i) - s->memory));
    table_laid(s->design, table);
}

void fixture_clear(fixture *s)
{
    const judge_memory *all = s->table_memory;
    for (uint32_t i = 0; i < s->table_memories; i++)
        if (all[i].byte != HD_AS_IT_COMES) memset(laid_at(s, i), all[i].byte, all[i].bytes);
    if (s->design->clear) s->design->clear(s);
}

void fixture_args(fixture *s, uint32_t k)
{
    if (s->design->args)
        s->design->args(s, k);
    else
        hosted_args(s, k);
}

/* ---- What a table holds ---------------------------------------------------------------------- */

judge_scores fixture_scores(const fixture *s) { return s->design->scores ? s->design->scores(s) : JUDGE_NO_SCORES; }

/* One batch of insertions with random values. */
typedef struct insertion {
    hd_batch b;
    uint64_t *key, *score, *ptr;
    uint8_t *value, *outcome;
} insertion;

static bool insertion_open(insertion *x, const fixture *s, uint64_t n)
{
    memset(x, 0, sizeof *x);
    x->key = (uint64_t *)calloc(2 * n + 1, 8);
    x->score = x->key + n;
    x->value = (uint8_t *)calloc(n + 1, s->value_bytes + 1u);
    x->outcome = x->value + n * s->value_bytes;
    x->b.op = HD_OP_INSERT_OR_ASSIGN;
    x->b.key = x->key;
    x->b.value = x->value;
    x->b.outcome = x->outcome;
    return x->key && x->value;
}

static void insertion_close(insertion *x)
{
    free(x->key);
    free(x->value);
}

/* Half of the batches' keys come first, then any others, up to twice as many as there are places. */
bool fixture_fill_by_insertion(fixture *s, hd_rng *g)
{
    uint64_t places = fixture_places(s->design, s->table), lot = hd_rng_below(g, 4), items = 0, n = 0;
    uint64_t most = lot == 0 ? 0 : lot == 1 ? places / 2 : lot == 2 ? places : 2 * places;
    insertion x;
    for (uint32_t k = 0; k < s->parts; k++) items += s->part[k].batch.n;
    if (!insertion_open(&x, s, items + most)) return insertion_close(&x), false;
    for (uint32_t k = 0; k < s->parts; k++) {
        const hd_batch *b = &s->part[k].batch;
        for (uint64_t i = 0; judge_keyed_batch(b) && i < b->n && n < most; i++)
            if (b->key[i] < s->keys && hd_rng_below(g, 2)) x.key[n++] = b->key[i];
    }
    for (; n < most; n++) x.key[n] = fixture_draw_key(s, g, s->keys);
    for (uint64_t i = 0; i < n; i++) x.score[i] = fixture_draw_score(s, g, FIXTURE_SCORES);
    fixture_draw_values(s, g, x.value, n * s->value_bytes, s->elem);
    x.b.n = n;
    x.b.score = fixture_scores(s) == JUDGE_NO_SCORES ? NULL : x.score;
    fixture_apply(s, s->table, 0, &x.b);
    insertion_close(&x);
    return true;
}

bool fixture_fill(fixture *s, hd_rng *g)
{
    return s->design->fill ? s->design->fill(s, g) : fixture_fill_by_insertion(s, g);
}

void fixture_apply(const fixture *s, void *table, uint32_t k, const hd_batch *b)
{
    if (s->design->apply)
        s->design->apply(s, table, k, b);
    else
        hosted_apply(s, table, k, b);
}

/* ---- Entries --------------------------------------------------------------------------------- */

static uint32_t value_bytes_of(const judge_design *d, const void *table)
{
    return d->host && !d->value_bytes ? hosted_value_bytes(table) : d->value_bytes;
}

uint64_t fixture_places(const judge_design *d, const void *v) { return d->first(v, d->buckets(v)); }

/* The place of key in w: in bucket b, or in any when it roams; fixture_places: nowhere. */
static uint64_t find_place(const judge_design *d, const void *w, uint64_t b, uint64_t key)
{
    uint64_t e = d->roams ? 0 : d->first(w, b), end = d->roams ? fixture_places(d, w) : d->first(w, b + 1);
    while (e < end && d->key_at(w, e) != key) e++;
    return e < end ? e : fixture_places(d, w);
}

const char *fixture_differs(const judge_design *d, const void *v, const void *w, uint64_t e)
{
    if (d->differs) return d->differs(v, w, e);
    uint64_t b = 0;
    while (d->first(v, b + 1) <= e) b++;
    uint64_t there = find_place(d, w, b, d->key_at(v, e));
    uint32_t bytes = value_bytes_of(d, v);
    if (there == fixture_places(d, w)) return d->roams ? "is not in" : "is not in this bucket of";
    return bytes && memcmp(d->value_at(v, e), d->value_at(w, there), bytes) != 0 ? "has another value than in" : NULL;
}

void fixture_describe(const judge_design *d, const void *table, uint64_t e, char *line, size_t bytes)
{
    if (d->describe) {
        d->describe(table, e, line, bytes);
        return;
    }
    uint64_t key = d->key_at(table, e), value = 0;
    uint32_t value_bytes = value_bytes_of(d, table);
    if (value_bytes) memcpy(&value, d->value_at(table, e), value_bytes < 8 ? value_bytes : 8);
    if (key >= HD_KEY_RESERVED)
        snprintf(line, bytes, key == HD_KEY_EMPTY ? "-" : "locked");
    else
        snprintf(line, bytes, value_bytes ? "%" PRIx64 " value %" PRIx64 : "%" PRIx64, key, value);
}

bool fixture_names(const fixture *s, const char *region, uint64_t at, char *text, size_t bytes)
{
    return s->design->names && s->design->names(s, region, at, text, bytes);
}

/* ---- The judgement --------------------------------------------------------------------------- */

const char *fixture_say(char why[JUDGE_SENTENCE], const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(why, JUDGE_SENTENCE, format, ap);
    va_end(ap);
    return why;
}

/* The outputs of one item. */
typedef struct shown {
    uint8_t outcome, *value, *list_value;
    uint64_t score, *key, list_key, list_score, list_item, count;
    uint32_t rows;
    bool more;
    void *ptr;
} shown;

/* Element i of an array that may be left out. */
static const void *nth(const void *p, uint64_t i, size_t bytes) { return p ? (const uint8_t *)p + i * bytes : NULL; }

/* Item i of b as a batch of its own, whose outputs are x's. */
static hd_batch one_item(const hd_batch *b, uint64_t i, uint32_t value_bytes, shown *x)
{
    hd_batch one = *b;
    one.n = 1;
    one.key = b->key + i;
    one.value = nth(b->value, i, value_bytes);
    one.score = (const uint64_t *)nth(b->score, i, sizeof *b->score);
    one.flag = (const uint8_t *)nth(b->flag, i, 1);
    one.each = (const uint8_t *)nth(b->each, i, 1);
    one.outcome = &x->outcome;
    one.found = NULL; /* the caller's is of another item */
    one.value_out = x->value;
    one.score_out = &x->score;
    one.ptr = &x->ptr;
    one.key2 = (const uint64_t *)nth(b->key2, i, sizeof *b->key2);
    one.key_out = x->key;
    one.rows = &x->rows;
    one.more = &x->more;
    one.list_key = &x->list_key;
    one.list_value = x->list_value;
    one.list_score = &x->list_score;
    one.list_item = &x->list_item;
    one.count = &x->count;
    return one;
}

/* The same of the rows of an ordered operation. */
static const char *rows_otherwise(const hd_batch *b, uint64_t i, uint32_t value_bytes, const shown *x)
{
    uint64_t each = hd_batch_rows(b), rows = judge_order_of(b) == JUDGE_BETWEEN ? x->rows : 1;
    if (memcmp(b->key_out + i * each, x->key, rows * sizeof *x->key) != 0) return "delivered another key";
    const uint8_t *value = (const uint8_t *)b->value_out + i * each * value_bytes;
    return memcmp(value, x->value, rows * value_bytes) != 0 ? "delivered a wrong value" : NULL;
}

/* NULL when item i delivered what the reference did. */
static const char *shown_otherwise(const hd_batch *b, uint64_t i, uint32_t value_bytes, const shown *x)
{
    static _Thread_local char text[64];
    hd_outcome o = (hd_outcome)x->outcome;
    hd_op op = judge_item_op(b, i);
    if (b->outcome[i] != o) {
        snprintf(text, sizeof text, "the reference says %s", hd_outcome_name(o));
        return text;
    }
    if (judge_order_of(b) == JUDGE_BETWEEN && b->rows[i] != x->rows) return "delivered a wrong number of rows";
    if (judge_order_of(b) == JUDGE_BETWEEN && judge_more_byte(b, i) != x->more)
        return "says wrongly whether there are more";
    if (!judge_delivers(op, o)) return NULL;
    if (judge_order_of(b)) return rows_otherwise(b, i, value_bytes, x);
    if (judge_ops[op].value_out && memcmp((const uint8_t *)b->value_out + i * value_bytes, x->value, value_bytes) != 0)
        return "delivered a wrong value";
    return judge_ops[op].score_out && b->score_out[i] != x->score ? "delivered a wrong score" : NULL;
}

/* A copy of the table's memory, region after region; copied back: into the table. */
static void copy_table(const fixture *s, const void *table, uint8_t *copy, bool back)
{
    const judge_memory *all = s->table_memory;
    for (uint32_t i = 0; i < s->table_memories; copy += all[i++].bytes)
        memcpy(back ? region_of(table, &all[i]) : copy, back ? copy : region_of(table, &all[i]), all[i].bytes);
}

const char *fixture_accept_by_reference(const fixture *s, void *model, uint32_t k, uint64_t i, judge_listing *l)
{
    const hd_batch *b = &s->part[k].batch;
    shown x;
    memset(&x, 0, sizeof x);
    uint64_t rows = hd_batch_rows(b) + 1;
    x.key = (uint64_t *)calloc(1, rows * sizeof *x.key + s->table_bytes + (rows + 1) * s->value_bytes);
    if (!x.key) return "no memory to judge it";
    uint8_t *room = (uint8_t *)(x.key + rows);
    x.value = room + s->table_bytes;
    x.list_value = x.value + rows * s->value_bytes;
    const hd_batch one = one_item(b, i, s->value_bytes, &x);
    copy_table(s, model, room, false);
    fixture_apply(s, model, k, &one);
    const char *why = shown_otherwise(b, i, s->value_bytes, &x);
    if (why) copy_table(s, model, room, true);
    l->listed = !b->each && judge_ops[b->op].list && x.count == 1;
    l->key = x.list_key;
    l->score = x.list_score;
    if (l->listed && s->value_bytes) memcpy(l->value, one.list_value, s->value_bytes);
    free(x.key);
    return why;
}

const char *fixture_accept(const fixture *s, void *model, uint32_t k, uint64_t i, const simt_ticket_record *t,
                           judge_listing *l)
{
    return s->design->accept ? s->design->accept(s, model, k, i, t, l) : fixture_accept_by_reference(s, model, k, i, l);
}

const char *fixture_check(const fixture *s, const void *table, char why[JUDGE_SENTENCE])
{
    const judge_design *d = s->design;
    return d->check ? d->check(table, why) : hosted_check(s, table, why);
}

bool fixture_persistent(const fixture *s, uint32_t i)
{
    const judge_design *d = s->design;
    return d->recover && s->region[i].at < s->table_bytes && (!d->persistent || d->persistent(s, s->region[i].name));
}

const char *fixture_watch(const fixture *s, uint8_t *before, bool weak, char why[JUDGE_SENTENCE])
{
    const judge_design *d = s->design;
    if (d->watch) return d->watch(s, before, weak, why);
    return !d->idle || d->idle(s, why) ? NULL : fixture_check(s, s->table, why);
}

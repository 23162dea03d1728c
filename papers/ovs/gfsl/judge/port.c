/* SPDX-License-Identifier: Apache-2.0
 *
 * port.c - the port of the skip list gfsl to the judge: how entries are read, what a fixture has in its table, which
 * outcomes are possible, and the invariants between steps.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gfsl/gpu/launch.h"
#include "gfsl/gpu/state.h"
#include "judge/design.h"
#include "judge/rules.h"
#include "judge/words/words.h"
#include "ref/rule.h"
#include "gfsl/ref/gfsl.h"

extern const hd_design hd_design_gfsl;

static gfsl_view *view_in(const void *table) { return &((gfsl_table_state *)(uintptr_t)table)->v; }

/* ---- Entries: a bucket is a chunk ------------------------------------------------------------- */

static uint64_t buckets(const void *table) { return view_in(table)->chunks; }
static uint64_t first(const void *table, uint64_t b) { return b * view_in(table)->slots; }

static uint64_t key_at(const void *table, uint64_t e)
{
    const gfsl_view *v = view_in(table);
    return gfsl_has(v, e) ? gfsl_key(*gfsl_slot(v, e)) : HD_KEY_EMPTY;
}

static uint8_t *value_at(const void *table, uint64_t e) { return (uint8_t *)gfsl_slot(view_in(table), e); }

static const char *bucket_name(const void *table, uint64_t b, char *text, size_t bytes)
{
    static const char *const states[] = { "", ", locked", ", a zombie", ", free" };
    uint64_t seal = gfsl_at(view_in(table), b)[view_in(table)->slots + 1];
    snprintf(text, bytes, "chunk %" PRIu64 " of level %" PRIu32 "%s", b, gfsl_level(seal), states[gfsl_state(seal)]);
    return text;
}

/* Names a byte of a region. */
static bool names(const fixture *s, const char *region, uint64_t at, char *text, size_t bytes)
{
    const gfsl_view *v = view_in(s->table);
    uint64_t word = at / 8, chunk = word / gfsl_words(v), slot = word % gfsl_words(v);
    if (strcmp(region, "capacity: chunks") != 0) return false;
    if (slot < v->slots)
        snprintf(text, bytes, "bucket %" PRIu64 ", slot %" PRIu64, chunk, slot);
    else
        snprintf(text, bytes, "%s of chunk %" PRIu64, slot == v->slots ? "link" : "seal", chunk);
    return true;
}

/* ---- A fixture's table ------------------------------------------------------------------------ */

static void clear(fixture *s) { gfsl_clear(view_in(s->table)); }

static void apply(const fixture *s, void *table, uint32_t k, const hd_batch *b)
{
    uint64_t tally[HD_OUTCOME_COUNT] = { 0 };
    (void)s, (void)k;
    gfsl_run_batch(view_in(table), b, tally);
}

/* One more than the greatest key of a batch that a table can hold. */
static uint64_t keys_end(const fixture *s)
{
    uint64_t end = 1;
    for (uint32_t k = 0; k < s->parts; k++) {
        const hd_batch *b = &s->part[k].batch;
        for (uint64_t i = 0; judge_keyed_batch(b) && i < b->n; i++)
            if (b->key[i] < s->keys && b->key[i] >= end) end = b->key[i] + 1;
    }
    return end;
}

/* Keys up to the greatest of the batches come, or any keys, until the list is empty, small, or near its end. Then some
 * leave, so that chunks have few entries. */
static bool fill(fixture *s, hd_rng *g)
{
    gfsl_view *v = view_in(s->table);
    const word_table t = gfsl_words_of(v);
    uint64_t lot = hd_rng_below(g, 4), places = gfsl_places(v), left;
    uint64_t n = lot == 0 ? 0 : lot == 1 ? places / 4 : lot == 2 ? places / 2 : places;
    uint64_t end = hd_rng_below(g, 4) ? keys_end(s) : s->keys;
    while (n-- > 0) {
        uint64_t key = fixture_draw_key(s, g, end);
        if (gfsl_find(v, key) == WORD_NOWHERE) gfsl_place(v, key, hd_rng_below(g, UINT32_MAX));
    }
    left = hd_rng_below(g, 2) ? hd_rng_below(g, 100) : 0;
    for (uint64_t e = 0; e < places; e++)
        if (gfsl_has(v, e) && hd_rng_below(g, 100) < left) t.remove(v, e);
    gfsl_settle(v);
    return true;
}

/* ---- The judgement ---------------------------------------------------------------------------- */

/* How many chunks the first table had free. An item takes one on each level at most, and one to merge. */
static bool may_be_pending(const fixture *s)
{
    gfsl_table_state then;
    fixture_view(s, s->initial, &then);
    uint32_t levels = gfsl_pools(&then.v) == 1 ? then.v.levels : 1; /* whose chunks are in the pool of level 0 */
    uint64_t free = then.v.end[0] - gfsl_pool_begin(&then.v, 0);
    for (uint32_t level = 0; level < levels; level++) free -= then.v.head[level] - 1;
    return free < (judge_word_others(s) + 1) * (levels + 1);
}

static const char *accept(const fixture *s, void *model, uint32_t k, uint64_t i, const simt_ticket_record *t,
                          judge_listing *l)
{
    gfsl_view *v = view_in(model);
    const word_table table = gfsl_words_of(v);
    if (judge_order_of(&s->part[k].batch)) return fixture_accept_by_reference(s, model, k, i, l);
    word_item it;
    word_seen seen;
    const char *why = judge_word_item(s, k, i, t, l, &it, &seen);
    if (why) return why;
    /* the key is brought by an operation that may bring it */
    bool enters = judge_ops[it.op].enters && !(it.op == HD_OP_ACCUM_OR_ASSIGN && it.flag == HD_ADD);
    bool absent =
        it.key < word_keys(GFSL_HALF) && !hd_flag_is_none(it.op, it.flag) && gfsl_find(v, it.key) == WORD_NOWHERE;
    if (absent && enters) {
        if (seen.outcome == HD_PENDING) return may_be_pending(s) ? NULL : "PENDING, and chunks are free";
        if (seen.outcome != HD_INSERTED) return "the key was absent, and it was not inserted";
        if (gfsl_place(v, it.key, it.value) == WORD_NOWHERE) gfsl_press(v, it.key, it.value);
        return gfsl_find(v, it.key) == WORD_NOWHERE ? "INSERTED, but the reference has no room" : NULL;
    }
    why = word_accept(&table, &it, &seen, 0);
    gfsl_settle(v);
    return why;
}

static const char *move(void *model, uint64_t from, uint64_t to)
{
    (void)model, (void)from, (void)to;
    return "keys of gfsl move without a ticket";
}

static const char *check(const void *table, char why[JUDGE_SENTENCE])
{
    gfsl_check(view_in(table), true, why);
    return why[0] ? why : NULL;
}

/* While no chunk is locked. weak: stores become visible later, in another order. */
static const char *watch(const fixture *s, uint8_t *before, bool weak, char why[JUDGE_SENTENCE])
{
    const gfsl_view *v = view_in(s->table);
    (void)before;
    if (weak) return NULL;
    for (uint64_t c = 0; c < v->chunks; c++)
        if (gfsl_state(gfsl_at(v, c)[v->slots + 1]) == GFSL_LOCKED) return NULL;
    gfsl_check(v, false, why);
    return why[0] ? why : NULL;
}

static bool runs(uint32_t row, hd_op op)
{
    static const uint8_t each = HD_OP_INSERT_OR_ASSIGN;
    static const hd_info any = { .buckets = 1 };
    hd_batch b;
    memset(&b, 0, sizeof b);
    b.op = op == JUDGE_MIXED ? HD_OP_INSERT_OR_ASSIGN : op;
    b.each = op == JUDGE_MIXED ? &each : NULL;
    return !gfsl_unsupported_row(hd_variant_row_numbered(gfsl_variants, row), &any, &b);
}

static const uint8_t mixture[HD_OP_COUNT_] = {
    [HD_OP_FIND] = 4,
    [HD_OP_CONTAINS] = 1,
    [HD_OP_ASSIGN] = 1,
    [HD_OP_ASSIGN_VALUES] = 1,
    [HD_OP_INSERT_OR_ASSIGN] = 4,
    [HD_OP_FIND_OR_INSERT] = 2,
    [HD_OP_ACCUM_OR_ASSIGN] = 1,
    [HD_OP_ERASE] = 4,
};

static const judge_space_rule rules[] = {
    { "slots!=6,14,30", "chunks of 6, 14 or 30 entries" },
    { "value!=4", "values of 4 bytes" },
    { "clock=device", "a dictionary keeps no times" },
    { "layout!=usual,words", "it has words" },
    { "far=data level_pools=0", "one pool mixes the chunks of all levels" },
    { "between=shrink", "it does not shrink" },
    { "between=near", "its far chunks stay far" },
    { "kernel=cuda.* batch!=1x16 distinct=0", "the order of a GPU's items is not known" },
    { "holder=7 op=find_or_insert,find_or_insert_ptr", "a dictionary has no pins" },
    { NULL, NULL },
};

/* clang-format off */
const judge_design judge_design_gfsl = {
    .name = "gfsl", .rules = rules, .keys = (1ull << GFSL_HALF) - WORD_LEAVING, .host = &hd_design_gfsl,
    .dictionary = true, .roams = true, .shifts = true, .mix = mixture, .runs = runs, .small = { 6, "uniform:60" },
    .clear = clear, .fill = fill, .apply = apply, .buckets = buckets, .first = first, .key_at = key_at,
    .value_at = value_at, .bucket_name = bucket_name, .names = names, .accept = accept, .move = move, .check = check,
    .watch = watch
};
/* clang-format on */

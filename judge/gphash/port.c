/* SPDX-License-Identifier: Apache-2.0
 *
 * port.c - the port of GPHash to the judge: how entries are read, what may have become of an item, and the invariants
 * while items run. The table, the kernels and the reference are those of backend "host".
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gpu/gphash/state.h"
#include "gpu/gphash/rows.h"
#include "judge/design.h"
#include "judge/rules.h"
#include "judge/steps.h"
#include "ref/gphash/gphash.h"
#include "ref/rule.h"

extern const hd_design hd_design_gphash;

static const gphash_state *state_of(const void *table) { return (const gphash_state *)table; }
static const gphash_view *view_of(const void *table) { return &state_of(table)->v; }

/* The reference's table over the same memory. */
enum { MARKS = 1 << 12 /* cells of a fixture's table, at most 2^18 */ };
static gphash_table model_over(const void *table, gphash_view v)
{
    static _Thread_local uint64_t marks[MARKS];
    const gphash_state *o = state_of(table);
    gphash_table t = { v, o->words->head, o->words->tail };
    HD_ASSERT(gphash_cells(&t.v) <= 64 * MARKS, "the table of a fixture is too large");
    t.v.mark = marks; /* of the reference alone: they are not in the table's memory */
    return t;
}
/* Over the slots that are searched. */
static gphash_table model_of(const void *table) { return model_over(table, *view_of(table)); }

/* Units that lie apart have the cache's copies, and every third unit is warm. */
static void warm_cache(gphash_state *o)
{
    const gphash_cache *c = &o->cache;
    const uint64_t units = gphash_units(&o->v, c->of), copies = c->copies < units ? c->copies : units;
    for (uint64_t u = 0; u < units; u++) c->copy_of[u] = 0;
    for (uint64_t u = 0; u < units; u++) c->heat[u] = (uint32_t)(u % 3);
    for (uint64_t k = 0; k < copies; k++) {
        uint64_t unit = k * (units / copies);
        c->copy_of[unit] = (uint32_t)k + 1;
        c->holder[k] = (uint32_t)unit;
        gphash_make_copy(o, unit);
    }
}

/* What the reference did to it. */
static void model_end(const gphash_table *t, void *table)
{
    gphash_state *o = (gphash_state *)table;
    if (gphash_is_near(o)) gphash_copy_slots(&o->v, o->far, o->v.level);
    warm_cache(o);
    o->words->head = t->head;
    o->words->tail = t->tail;
}

/* ---- Entries --------------------------------------------------------------------------------- */

static uint64_t buckets(const void *table) { return gphash_buckets(view_of(table)); }
static uint64_t first(const void *table, uint64_t b) { return b * view_of(table)->slots; }
static uint64_t key_at(const void *table, uint64_t e) { return *gphash_key_at(view_of(table), e); }
static uint8_t *value_at(const void *table, uint64_t e) { return (uint8_t *)gphash_value(view_of(table), e); }

static uint32_t candidates(const void *table, uint64_t key, uint64_t *bucket)
{
    const gphash_view *v = view_of(table);
    uint32_t n = 0;
    for (uint32_t lane = 0; lane < GPHASH_LANES && n < JUDGE_CANDIDATES_MOST; lane += v->slots)
        bucket[n++] = gphash_candidate(v, gphash_hash(v, key), lane) / v->slots;
    return n;
}

static uint32_t buckets_of_key(const hd_case *c)
{
    uint32_t n = c->table.gphash.levels * c->table.gphash.hashes;
    return n < JUDGE_CANDIDATES_MOST ? n : (uint32_t)JUDGE_CANDIDATES_MOST;
}

static void describe(const void *table, uint64_t e, char *line, size_t bytes)
{
    const gphash_view *v = view_of(table);
    uint64_t key = *gphash_key_at(v, e), number = *gphash_number_at(v, e);
    if (key == HD_KEY_EMPTY)
        snprintf(line, bytes, "-");
    else if (key >= HD_KEY_RESERVED)
        snprintf(line, bytes, "%s", key == HD_KEY_LOCKED ? "locked" : "announced");
    else if (v->cell_bytes)
        snprintf(line, bytes, "%" PRIu64 " in cell %" PRIu64, key, gphash_cell_of(number));
    else
        snprintf(line, bytes, "%" PRIu64 " = %" PRIu64, key, number);
}

/* Bucket by bucket, in the order of lanes. */
static void tell(const fixture *s, uint64_t i, const void *before, judge_steps *to)
{
    const hd_batch *b = &s->part[0].batch;
    const gphash_view *v = view_of(before);
    uint64_t key = b->key[i];
    if (key >= HD_KEY_RESERVED || hd_flag_is_none(judge_item_op(b, i), b->flag ? b->flag[i] : HD_EITHER)) {
        judge_step_note(judge_steps_add(to, "ends"), "No table holds this key, or the flag is none.");
        return;
    }
    uint64_t found = gphash_find(v, key), hash = gphash_hash(v, key);
    for (uint32_t lane = 0; lane < GPHASH_LANES; lane += v->slots) {
        uint64_t at = gphash_candidate(v, hash, lane), empty = 0;
        judge_step *step = judge_steps_add(to, "searches");
        judge_step_at(step, "bucket %" PRIu64 " of level %" PRIu32, at / v->slots, gphash_level_of(v, at));
        step->look = at;
        step->looks = v->slots;
        if (found >= at && found < at + v->slots) {
            judge_step_note(step, "Slot %" PRIu64 " has the key that is looked for.", found - at);
            return;
        }
        for (uint32_t slot = 0; slot < v->slots; slot++) empty += *gphash_key_at(v, at + slot) == HD_KEY_EMPTY;
        judge_step_note(step, "The key is not here; empty slots: %" PRIu64 ".", empty);
    }
}

/* ---- The judgement --------------------------------------------------------------------------- */

static uint64_t others(const fixture *s)
{
    uint64_t n = 0;
    for (uint32_t k = 0; k < s->parts; k++)
        if (judge_keyed_batch(&s->part[k].batch)) n += s->part[k].batch.n;
    return n - 1;
}

/* All cells are free. */
static void clear(fixture *s)
{
    gphash_table t = model_of(s->table);
    gphash_clear(&t);
    model_end(&t, s->table);
}

/* How many units get a copy: of the warmest in the range as many as there is room for, which is in copies of other
 * units of the range, and in those of no unit. */
static uint64_t coming(const gphash_state *o, const hd_batch *b)
{
    const gphash_cache *c = &o->cache;
    const uint64_t per = c->of == HD_CACHE_BUCKETS ? o->v.slots : 1, units = gphash_units(&o->v, c->of);
    const uint64_t first = (b->start + per - 1) / per, all = b->start + b->n == gphash_places(&o->v);
    const uint64_t last = b->n == 0 ? first : all ? units : (b->start + b->n + per - 1) / per;
    uint64_t with[GPHASH_HEATS] = { 0 }, without[GPHASH_HEATS] = { 0 }, room = c->copies, came = 0;
    for (uint64_t u = 0; u < units; u++) {
        uint32_t heat = c->heat[u] < GPHASH_HEATS - 1 ? c->heat[u] : GPHASH_HEATS - 1;
        if (u < first || u >= last)
            room -= c->copy_of[u] != 0;
        else
            (c->copy_of[u] ? with : without)[heat]++;
    }
    for (uint32_t heat = GPHASH_HEATS - 1; heat > 0; heat--) {
        room -= with[heat] < room ? with[heat] : room;
        uint64_t here = without[heat] < room ? without[heat] : room;
        came += here;
        room -= here;
    }
    return came;
}

static void apply(const fixture *s, void *table, uint32_t k, const hd_batch *b)
{
    uint64_t tally[HD_OUTCOME_COUNT] = { 0 };
    gphash_table t = model_of(table);
    (void)s, (void)k;
    gphash_run_batch(&t, b, tally);
    if (!b->each && b->op == HD_OP_PROMOTE && b->count) *b->count = coming(state_of(table), b);
    model_end(&t, table);
}

/* An item that inserts takes the slot of its ticket. All others are run by the reference. */
static const char *accept_item(const fixture *s, void *model, uint32_t k, uint64_t i, const simt_ticket_record *t,
                               judge_listing *l)
{
    const hd_batch *b = &s->part[k].batch;
    uint8_t outcome = b->outcome[i];
    if (outcome != HD_INSERTED && outcome != HD_PENDING) return fixture_accept_by_reference(s, model, k, i, l);
    gphash_table m = model_of(model);
    gphash_item it = { judge_item_op(b, i), b->elem, b->flag ? b->flag[i] : HD_EITHER, b->key[i], NULL };
    gphash_seen seen = { (hd_outcome)outcome, t ? t->b : GPHASH_NOWHERE };
    if (b->value) it.value = (const char *)b->value + i * m.v.value_bytes;
    l->listed = false;
    const char *why = gphash_accept(&m, &it, &seen, others(s));
    if (!why) model_end(&m, model);
    return why;
}

/* With this member an item that changes nothing need only be right at some moment: a search is 32 loads. */
static const char *move_key(void *model, uint64_t from, uint64_t to)
{
    (void)model, (void)from, (void)to;
    return "keys of gphash do not move";
}

static const char *check_table(const void *table, char why[JUDGE_SENTENCE])
{
    gphash_table t = model_of(table);
    const gphash_view far = gphash_view_that_lasts(state_of(table));
    gphash_check(&t, why, JUDGE_SENTENCE);
    for (uint64_t e = 0; e < gphash_places(&far) && !why[0]; e++) {
        uint64_t key = *gphash_key_at(&t.v, e);
        bool same = *gphash_key_at(&far, e) == key;
        if (same && key != HD_KEY_EMPTY) same = *gphash_number_at(&far, e) == *gphash_number_at(&t.v, e);
        if (!same) fixture_say(why, "GP-5: place %" PRIu64 " is another one in the near index", e);
    }
    uint64_t unit = why[0] ? GPHASH_NOWHERE : gphash_wrong_copy(state_of(table), false);
    if (unit != GPHASH_NOWHERE) fixture_say(why, "GP-5: the cache has another copy of unit %" PRIu64, unit);
    return why[0] ? why : NULL;
}

/* ---- Crashes --------------------------------------------------------------------------------- */

static hd_status recover(fixture *s, void *table)
{
    gphash_state *o = (gphash_state *)table;
    gphash_table t = model_over(table, gphash_view_that_lasts(o));
    (void)s;
    gphash_recover(&t);
    if (gphash_is_near(o)) gphash_copy_slots(&o->v, o->v.level, o->far);
    model_end(&t, table);
    return HD_OK;
}

/* The ring of free cells and the guards are the device's own. */
static bool persistent(const fixture *s, const char *region)
{
    (void)s;
    return strcmp(region, "capacity: keys") == 0 || strcmp(region, "capacity: numbers") == 0 ||
           strcmp(region, "capacity: values") == 0;
}

/* ---- Between steps --------------------------------------------------------------------------- */

/* Between any two steps a key is in one of its buckets, in one slot, and has a cell of its own tag. */
static const char *watch(const fixture *s, uint8_t *before, bool weak, char why[JUDGE_SENTENCE])
{
    const gphash_view *v = view_of(s->table);
    (void)before, (void)weak;
    for (uint64_t e = 0; e < gphash_places(v); e++) {
        uint64_t key = *gphash_key_at(v, e), number = *gphash_number_at(v, e), hash = gphash_hash(v, key);
        uint32_t level = gphash_level_of(v, e);
        const char *wrong = NULL;
        if (key >= HD_KEY_RESERVED) continue;
        if (gphash_function_of(v, hash, level, (e - gphash_first(v, level)) / v->slots) == v->hashes)
            wrong = "GP-2: the key is in none of its buckets";
        else if (gphash_find(v, key) != e)
            wrong = "GP-1: the key is in two slots";
        else if (v->cell_bytes && number != GPHASH_NONE &&
                 (gphash_tag_of(number) != gphash_tag(hash) || gphash_cell_of(number) >= gphash_cells(v)))
            wrong = "GP-4: the key has another key's number";
        if (wrong) return fixture_say(why, "%s, in flight (place %" PRIu64 ")", wrong, e);
    }
    return NULL;
}

static bool runs(uint32_t row, hd_op op)
{
    bool mixed = op == JUDGE_MIXED;
    return !gphash_row_lacks(gphash_row(row), mixed ? HD_OP_FIND : op, mixed);
}

/* Half of the items insert, so that the table fills up; a fifth erases. */
static const uint8_t mixture[HD_OP_COUNT_] = {
    [HD_OP_INSERT_OR_ASSIGN] = 3, [HD_OP_FIND_OR_INSERT] = 1, [HD_OP_ACCUM_OR_ASSIGN] = 1, [HD_OP_FIND] = 2,
    [HD_OP_CONTAINS] = 1,         [HD_OP_ASSIGN] = 1,         [HD_OP_ASSIGN_VALUES] = 1,   [HD_OP_ERASE] = 3,
};

/* clang-format off */
const judge_design judge_design_gphash = {
    .name = "gphash", .buckets_of_key = buckets_of_key, .keys = HD_KEY_RESERVED, .host = &hd_design_gphash,
    .dictionary = true, .wide_keys = true, .roams = true, .mix = mixture, .runs = runs, .small = { 8, "uniform:40" },
    .clear = clear, .apply = apply, .buckets = buckets, .first = first, .key_at = key_at, .value_at = value_at,
    .describe = describe, .candidates = candidates, .tell = tell, .accept = accept_item, .move = move_key,
    .check = check_table, .watch = watch, .recover = recover, .persistent = persistent
};
/* clang-format on */

/* SPDX-License-Identifier: Apache-2.0
 *
 * port.c - the port of the ordered table to the judge: how entries are read, and when an item may be PENDING.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/sl/state.h"
#include "gpu/sl/rows.h"
#include "judge/design.h"
#include "judge/rules.h"
#include "judge/steps.h"
#include "ref/rule.h"
#include "ref/sl/sl.h"

extern const hd_design hd_design_sl;

static const sl_homes *homes_of(const void *table) { return &((const sl_state *)table)->at; }

/* ---- Entries: a bucket is a home -------------------------------------------------------------- */

static uint64_t buckets(const void *table) { return homes_of(table)->v.homes; }
static uint64_t first(const void *table, uint64_t b) { return b * homes_of(table)->v.fit; }

static uint64_t *words_at(const sl_homes *h, uint64_t place)
{
    uint64_t near = h->near * h->v.fit;
    return place < near ? h->v.word + place * h->v.words : h->far + (place - near) * h->v.words;
}

/* Of an entry that is there. */
static uint64_t key_in(const sl_homes *h, uint64_t place)
{
    return h->v.words == 1 ? *words_at(h, place) >> 32 : *words_at(h, place);
}

static uint64_t key_at(const void *table, uint64_t e)
{
    const sl_homes *h = homes_of(table);
    if (h->v.count[e / h->v.fit] == 0 || !sl_has_entry(&h->v, e / h->v.fit, (uint32_t)(e % h->v.fit)))
        return HD_KEY_EMPTY;
    return key_in(h, e);
}

static uint8_t *value_at(const void *table, uint64_t e)
{
    const sl_homes *h = homes_of(table);
    return (uint8_t *)(words_at(h, e) + h->v.words - 1);
}

static const char *bucket_name(const void *table, uint64_t b, char *text, size_t bytes)
{
    const sl_view *v = &homes_of(table)->v;
    snprintf(text, bytes, "%shome %" PRIu64, v->used[b / 64] >> b % 64 & 1 ? "" : "free ", b);
    return text;
}

/* Names a byte of a region. */
static bool names(const fixture *s, const char *region, uint64_t at, char *text, size_t bytes)
{
    const sl_homes *h = homes_of(s->table);
    static const char *const of_home[] = { "bound", "home", "count" };
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(of_home[i]);
        if (strncmp(region, "capacity: ", 10) != 0 || strncmp(region + 10, of_home[i], n) != 0) continue;
        snprintf(text, bytes, "%s of %s %" PRIu64, of_home[i], i < 2 ? "segment" : "home", at / (i ? 4 : 8));
        return true;
    }
    if (strcmp(region, "capacity: near keys") == 0) {
        uint64_t line = at / sl_near_key_bytes(&h->v), each = sl_home_lines(&h->v);
        snprintf(text, bytes, "near key of line %" PRIu64 " of home %" PRIu64, line % each, h->near + line / each);
        return true;
    }
    if (strcmp(region, "capacity: filled lines") == 0) {
        uint64_t line = at / 4 * sl_group_lines(&h->v) + at % 4, each = sl_home_lines(&h->v);
        snprintf(text, bytes, "entries of line %" PRIu64 " of home %" PRIu64, line % each, h->near + line / each);
        return true;
    }
    bool far = strcmp(region, "capacity: far segments") == 0;
    if (!far && strcmp(region, "capacity: segments") != 0) return false;
    uint64_t place = at / (8u * h->v.words) + (far ? h->near * h->v.fit : 0);
    snprintf(text, bytes, "bucket %" PRIu64 ", slot %" PRIu64, place / h->v.fit, place % h->v.fit);
    return true;
}

/* The regions are filled with zeroes: only the first segment is missing. */
static void clear(fixture *s)
{
    const sl_state *o = (const sl_state *)s->table;
    o->at.v.used[0] = 1;
    o->words->numbers.rows = 1;
}

/* Moves the entries of a far home, which has no gaps, up to places behind gaps. */
static void make_gaps(const sl_homes *h, uint64_t home, hd_rng *g)
{
    const sl_view *v = &h->v;
    uint64_t lines = sl_home_lines(v), each = sl_line_entries(v), left = v->count[home];
    uint32_t *filled = sl_filled_in(v, home);
    memset(filled, 0, sl_home_groups(v) * sizeof *filled);
    for (uint64_t line = lines; line-- > 0;) {
        uint64_t least = left > line * each ? left - line * each : 0, most = left < each ? left : each,
                 some = least + hd_rng_below(g, most - least + 1), first = home * v->fit + line * each;
        left -= some;
        memmove(words_at(h, first), words_at(h, home * v->fit + left), some * v->words * 8);
        filled[line / sl_group_lines(v)] |= (uint32_t)some << 8 * (line % sl_group_lines(v));
    }
    for (uint64_t line = 0, least = 0; line < lines; line++) {
        uint64_t some = sl_filled_line(v, filled, line), first = home * v->fit + line * each;
        sl_set_near_key(v, (home - h->near) * lines + line, some ? key_in(h, first) : least);
        if (some) least = key_in(h, first + some - 1) + 1;
    }
}

/* Half of the far segments get gaps. */
static bool fill(fixture *s, hd_rng *g)
{
    const sl_homes *h = homes_of(s->table);
    if (!fixture_fill_by_insertion(s, g)) return false;
    for (uint64_t home = h->near; home < h->v.homes; home++)
        if (h->v.count[home] && hd_rng_below(g, 2)) make_gaps(h, home, g);
    return true;
}

/* ---- Room in the model ------------------------------------------------------------------------ */

/* All entries in order. */
typedef struct entries {
    uint64_t n, *key, *value;
} entries;

static bool gather(const sl_state *o, entries *x)
{
    const sl_homes *h = &o->at;
    uint64_t rows = o->words->numbers.rows;
    x->key = (uint64_t *)calloc(2 * sl_places(&h->v) + 1, sizeof *x->key);
    x->value = x->key + sl_places(&h->v);
    x->n = 0;
    for (uint64_t row = 0; x->key && row < rows; row++)
        for (uint64_t at = 0, place = h->v.home[row] * (uint64_t)h->v.fit; at < h->v.fit; at++, place++) {
            if (key_at(o, place) == HD_KEY_EMPTY) continue;
            x->key[x->n] = key_at(o, place);
            memcpy(&x->value[x->n++], value_at(o, place), 4 * h->v.words);
        }
    return x->key != NULL;
}

/* The next n entries, from entry `at` on, are the segment of the next row; key: its bound if it has none. */
static uint64_t lay_segment(const sl_state *o, const entries *x, uint64_t at, uint64_t n, uint64_t key)
{
    const sl_homes *h = &o->at;
    uint64_t row = o->words->numbers.rows++;
    h->v.bound[row] = row == 0 ? 0 : n ? x->key[at] : key;
    if (row && n && key < x->key[at]) h->v.bound[row] = key;
    h->v.home[row] = (uint32_t)row;
    h->v.count[row] = (uint32_t)n;
    h->v.used[row / 64] |= 1ull << row % 64;
    uint32_t *filled = sl_filled_in(&h->v, row), group = sl_group_lines(&h->v) * sl_line_entries(&h->v);
    for (uint64_t i = 0; filled && i < h->v.fit; i += group)
        filled[i / group] = sl_filled_full(&h->v, i < n ? n - i : 0);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t *word = words_at(h, row * h->v.fit + i), k = at + i;
        word[0] = h->v.words == 1 ? x->key[k] << 32 | x->value[k] : x->key[k];
        if (h->v.words == 2) word[1] = x->value[k];
    }
    return at + n;
}

/* Kernels share out entries over segments in another way than the reference, which takes items one after another. Where
 * its table is short of homes and theirs was not, it is packed: all segments are full but the one that the key belongs
 * to. */
static void make_room(const sl_state *o, uint64_t key)
{
    const sl_view *v = &o->at.v;
    uint64_t below = 0, at = 0, left = 0;
    entries x;
    if (!gather(o, &x)) return;
    while (below < x.n && x.key[below] < key) below++;
    bool there = below < x.n && x.key[below] == key;
    if (!there && x.n < sl_places(v)) {
        memset(v->count, 0, v->homes * sizeof *v->count);
        memset(v->used, 0, (v->homes + 63) / 64 * sizeof *v->used);
        o->words->numbers.rows = 0;
        while (below - at >= v->fit) at = lay_segment(o, &x, at, v->fit, x.key[at]);
        left = x.n - at;
        at = lay_segment(o, &x, at, left < v->fit ? left : v->fit - 1, key);
        for (; at < x.n; at += left) {
            left = x.n - at < v->fit ? x.n - at : v->fit;
            lay_segment(o, &x, at, left, x.key[at]);
        }
    }
    free(x.key);
}

/* ---- The judgement ---------------------------------------------------------------------------- */

/* Without a free home, neighbours together have more than half of what fits in one. So a table whose items are PENDING
 * has more entries than a quarter of its places. */
static bool may_be_pending(const sl_state *o)
{
    uint64_t n = 0;
    for (uint64_t home = 0; home < o->at.v.homes; home++) n += o->at.v.count[home];
    return 4 * n > sl_places(&o->at.v);
}

/* Whether the kernels, run as a batch of their own, left a home free. Items are PENDING only where all were taken. */
static bool left_home(const fixture *s)
{
    const sl_view *v = &homes_of(s->table)->v;
    uint64_t used = 0;
    for (uint64_t w = 0; w * 64 < v->homes; w++) used += (uint64_t)__builtin_popcountll(v->used[w]);
    return s->parts == 1 && used < v->homes;
}

static const char *accept(const fixture *s, void *model, uint32_t k, uint64_t i, const simt_ticket_record *t,
                          judge_listing *l)
{
    const hd_batch *b = &s->part[k].batch;
    const sl_state *o = (const sl_state *)model;
    hd_outcome is = (hd_outcome)b->outcome[i];
    bool enters = judge_ops[b->op].enters && !(b->flag && b->op == HD_OP_ACCUM_OR_ASSIGN && b->flag[i] == HD_ADD);
    (void)t;
    if (is == HD_PENDING && enters && b->key[i] < s->keys && may_be_pending(o)) {
        for (uint64_t e = 0; e < sl_places(&o->at.v); e++)
            if (key_at(model, e) == b->key[i]) return "the key was there";
        l->listed = false;
        return left_home(s) ? "there was room: a segment is free" : NULL;
    }
    if (is == HD_INSERTED) make_room(o, b->key[i]);
    return fixture_accept_by_reference(s, model, k, i, l);
}

/* ---- How the reference looks for a key -------------------------------------------------------- */

/* The entry that an operation on the key finds: of ordered ones the neighbour, or the first of a range. SL_NOWHERE. */
static uint64_t finds(const sl_view *v, const hd_batch *b, uint64_t i)
{
    uint64_t key = b->key[i];
    sl_at at = { 0, 0 };
    bool there;
    switch (judge_order_of(b)) {
    case JUDGE_ABOVE: there = sl_first_from(v, key + !b->inclusive, &at); break;
    case JUDGE_BELOW: there = (b->inclusive || key) && sl_last_to(v, key - !b->inclusive, &at); break;
    case JUDGE_BETWEEN: there = sl_first_from(v, key, &at) && sl_key(v, sl_place_at(v, at)) <= b->key2[i]; break;
    default: return sl_find(v, key);
    }
    return there ? sl_place_at(v, at) : SL_NOWHERE;
}

static void tell(const fixture *s, uint64_t i, const void *before, judge_steps *to)
{
    const hd_batch *b = &s->part[0].batch;
    const sl_state *o = (const sl_state *)before;
    sl_view v = *sl_view_of(s->reference); /* all homes in one piece */
    hd_plane all[HD_MEMORY_MOST];
    if (b->key[i] >= s->keys || hd_flag_is_none(b->op, b->flag ? b->flag[i] : HD_EITHER)) {
        judge_step_note(judge_steps_add(to, "ends"), "No table holds this key, or the flag is none.");
        return;
    }
    int n = hd_gpu_planes(judge_design_sl.host->gpu, before, s->reference, true, all, NULL);
    for (int k = 0; k < n; k++)
        if (all[k].bytes) memcpy(all[k].here, all[k].there, (size_t)all[k].bytes);
    v.rows = o->words->numbers.rows;
    sl_close_gaps(&v);
    uint64_t row = sl_row(&v, b->key[i]), found = finds(&v, b, i),
             home = found == SL_NOWHERE ? v.home[row] : found / v.fit;
    judge_step *step = judge_steps_add(to, "searches");
    judge_step_at(step, "directory");
    judge_step_note(step, "Of %" PRIu64 " segments the key belongs to number %" PRIu64 ", in home %" PRIu32 ".", v.rows,
                    row, v.home[row]);
    step = judge_steps_add(to, "searches");
    judge_step_at(step, "home %" PRIu64, home);
    step->look = home * v.fit;
    step->looks = v.fit;
    if (found == SL_NOWHERE)
        judge_step_note(step, "The search ends between two entries, or at the end of the %" PRIu32 ".", v.count[home]);
    else
        judge_step_note(step, "Entry %" PRIu64 " has the key that is looked for.", found % v.fit);
}

static bool runs(uint32_t row, hd_op op)
{
    return op != JUDGE_MIXED && !sl_unsupported(op) && sl_row_numbered(row)->family == (uint32_t)sl_family_of(op);
}

/* clang-format off */
const judge_design judge_design_sl = {
    .name = "sl", .keys = (1ull << 32) - 3, .host = &hd_design_sl, .dictionary = true, .roams = true,
    .shifts = true, .runs = runs, .small = { 8, "uniform:40", "segment", "128" }, .fill = fill,
    .buckets = buckets, .first = first, .clear = clear, .key_at = key_at, .value_at = value_at,
    .bucket_name = bucket_name, .names = names, .accept = accept, .tell = tell
};
/* clang-format on */

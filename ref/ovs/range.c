/* SPDX-License-Identifier: Apache-2.0
 *
 * range.c - the directory of a table with ranges, and what a round of its resizing does (range.h).
 */
#include "ref/ovs/range.h"

#include <string.h>

#include "base/error.h"
#include "ref/ovs/ovs.h"

static const uint64_t all_keys = 1ull << OVS_HALF;

/* ---- A plan's memory ------------------------------------------------------------------------- */

enum { ROW_BYTES = sizeof(uint64_t) + sizeof(ovs_task) + sizeof(uint32_t) };

hd_status ovs_plan_take(ovs_plan *p, const hd_seams *s, uint64_t rows, uint64_t waiting)
{
    void *block = NULL, *wait = NULL;
    memset(p, 0, sizeof *p);
    hd_status status = hd_take(s, "resizing: segments", rows, ROW_BYTES, &block);
    if (!status && waiting) status = hd_take(s, "resizing: keys", waiting, sizeof *p->wait, &wait);
    if (status && block) hd_give(s, block, rows, ROW_BYTES);
    if (status) return status;
    p->wait = (uint32_t *)wait;
    p->taken = waiting;
    p->rows = rows;
    p->was = (uint64_t *)block;
    p->task = (ovs_task *)(void *)(p->was + rows);
    p->keys = (uint32_t *)(void *)(p->task + rows);
    return HD_OK;
}

void ovs_plan_give(ovs_plan *p, const hd_seams *s)
{
    if (p->was) hd_give(s, p->was, p->rows, ROW_BYTES);
    if (p->wait) hd_give(s, p->wait, p->taken, sizeof *p->wait);
    memset(p, 0, sizeof *p);
}

hd_status ovs_plan_for_size(ovs_plan *p, const ovs_view *v, const hd_seams *s, uint64_t segments)
{
    memset(p, 0, sizeof *p);
    return v->ranges ? ovs_plan_take(p, s, ovs_segments(v) > segments ? ovs_segments(v) : segments, 0) : HD_OK;
}

/* ---- The directory --------------------------------------------------------------------------- */

void ovs_set_segments(ovs_view *v, uint64_t segments)
{
    v->level = word_level(v->base, segments);
    v->split = segments - (v->base << v->level);
    HD_ASSERT(segments >= v->base && v->split < v->base << v->level, "linear hashing has no such number of segments");
}

void ovs_cut_evenly(ovs_view *v)
{
    uint64_t n = ovs_segments(v), wide = all_keys / n, more = all_keys % n, first = 0;
    for (uint64_t g = 0; g < n; g++) {
        v->row[g] = ovs_row_pack(first, g);
        first += wide + (g < more);
    }
    HD_ASSERT(first == all_keys && ovs_is_directory_sound(v));
}

void ovs_rows_undo(ovs_view *v, const ovs_plan *p, uint64_t segments)
{
    ovs_set_segments(v, segments);
    memcpy(v->row, p->was, segments * sizeof *v->row);
    HD_ASSERT(ovs_is_directory_sound(v));
}

/* The first key that is above the range of row r. */
static uint64_t row_end(const ovs_view *v, uint64_t r)
{
    return r + 1 < ovs_segments(v) ? ovs_row_first(v->row[r + 1]) : all_keys;
}

static uint32_t *keys_of(const ovs_view *v, const ovs_plan *p, uint64_t r)
{
    return &p->keys[ovs_row_segment(v->row[r])];
}

/* ---- A snapshot's directory ------------------------------------------------------------------ */

static const uint32_t NO_LAST = UINT32_MAX; /* of a segment without a key; as a key it is reserved */

/* Rows of the segments with keys, by segment, with their least keys; how many. last: the greatest keys, by segment. */
static uint64_t learn_rows(ovs_view *v, const hd_keys *keys, uint32_t *last, bool *sane)
{
    uint64_t m = 0, slot, key;
    while (*sane && keys->next(keys->self, &slot, &key)) {
        uint64_t g = slot / ovs_segment_slots(v);
        *sane = key < word_keys(OVS_HALF);
        if (last[g] == NO_LAST) v->row[m++] = ovs_row_pack(all_keys - 1, g);
        if (last[g] == NO_LAST || last[g] < key) last[g] = (uint32_t)key;
        if (key < ovs_row_first(v->row[m - 1])) v->row[m - 1] = ovs_row_pack(key, g);
    }
    return m;
}

static void sort_rows(uint64_t *row, uint64_t n)
{
    for (uint64_t gap = n; gap > 1;) {
        gap = gap < 5 ? gap / 2 : gap * 5 / 11; /* the last one is 1 */
        for (uint64_t i = gap; i < n; i++) {
            uint64_t x = row[i], at = i;
            for (; at >= gap && row[at - gap] > x; at -= gap) row[at] = row[at - gap];
            row[at] = x;
        }
    }
}

/* The first key behind those of row i - 1. */
static uint64_t gap_begin(const ovs_view *v, const uint32_t *last, uint64_t i)
{
    return i ? last[ovs_row_segment(v->row[i - 1])] + 1ull : 0;
}

/* The keys that no segment has between its least and its greatest one; 0: two segments overlap. */
static uint64_t free_keys(const ovs_view *v, const uint32_t *last, uint64_t m)
{
    uint64_t all = 0;
    for (uint64_t i = 0; i <= m; i++) {
        uint64_t begin = gap_begin(v, last, i), end = i < m ? ovs_row_first(v->row[i]) : all_keys;
        if (end < begin) return 0;
        all += end - begin;
    }
    return all;
}

/* The rows of segments without keys come between the m sorted ones, from the last to the first. `width` keys are
 * free, at least as many as such segments. */
static void fill_gaps(ovs_view *v, const uint32_t *last, uint64_t m, uint64_t width)
{
    uint64_t n = ovs_segments(v), empty = n - m, before = width, at = n, g = n, end = all_keys;
    for (uint64_t i = m + 1; i-- > 0;) {
        uint64_t begin = gap_begin(v, last, i), w = end - begin, had = empty * before / width;
        before -= w;
        uint64_t k = had - empty * before / width;
        if (k == 0 && i < m) v->row[at] = ovs_row_pack(i ? end - w / 2 : 0, ovs_row_segment(v->row[at]));
        for (uint64_t j = k; j-- > 0;) {
            while (last[--g] != NO_LAST) {
            }
            v->row[--at] = ovs_row_pack(begin + j * w / k, g);
        }
        if (i == 0) break;
        end = ovs_row_first(v->row[i - 1]);
        v->row[--at] = v->row[i - 1];
    }
    HD_ASSERT(at == 0, "OVS-7: a segment has no row");
    HD_ASSERT(ovs_is_directory_sound(v));
}

hd_status ovs_learn(ovs_view *v, const hd_seams *s, const hd_keys *keys)
{
    uint64_t n = ovs_segments(v);
    bool sane = true;
    void *p = NULL;
    hd_status status = hd_take(s, "load: ranges", n, sizeof(uint32_t), &p);
    if (status) return status;
    uint32_t *last = (uint32_t *)p;
    for (uint64_t g = 0; g < n; g++) last[g] = NO_LAST;
    uint64_t m = learn_rows(v, keys, last, &sane), width = 0;
    sort_rows(v->row, m);
    if (sane) width = free_keys(v, last, m);
    sane = sane && width >= n - m && width;
    if (sane && m) fill_gaps(v, last, m, width);
    if (sane && !m) ovs_cut_evenly(v); /* as it was opened */
    hd_give(s, p, n, sizeof(uint32_t));
    return sane ? HD_OK : hd_fail(HD_ECORRUPT, "the ranges of keys of segments overlap, or a key is reserved");
}

/* ---- Splits ---------------------------------------------------------------------------------- */

/* What rows are compared by: their keys, or their width. */
static uint64_t weight_of(const ovs_view *v, const ovs_plan *p, uint64_t r, bool by_width)
{
    return by_width ? row_end(v, r) - ovs_row_first(v->row[r]) : *keys_of(v, p, r);
}

static uint64_t heaviest(const ovs_view *v, const ovs_plan *p, bool by_width)
{
    uint64_t most = 0;
    for (uint64_t r = 0; r < ovs_segments(v); r++) {
        uint64_t weight = weight_of(v, p, r, by_width);
        if (weight > most) most = weight;
    }
    return most;
}

/* How many rows weigh `least` or more. */
static uint64_t rows_of(const ovs_view *v, const ovs_plan *p, uint64_t least, bool by_width)
{
    uint64_t n = 0;
    for (uint64_t r = 0; r < ovs_segments(v); r++) n += weight_of(v, p, r, by_width) >= least;
    return n;
}

/* The least weight, of those above half of the heaviest, that `most` rows at most have or exceed. */
static uint64_t least_weight(const ovs_view *v, const ovs_plan *p, uint64_t most, uint64_t heavy, bool by_width)
{
    uint64_t low = heavy / 2 + 1, high = heavy + 1;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (rows_of(v, p, middle, by_width) <= most)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void add_split(const ovs_view *v, ovs_plan *p, uint64_t r, uint64_t wait, uint64_t waits)
{
    uint64_t from = ovs_row_segment(v->row[r]);
    HD_ASSERT(p->tasks < p->rows, "a round has more splits than there is room for");
    p->task[p->tasks] = (ovs_task){ .from = (uint32_t)from,
                                    .to = (uint32_t)(ovs_segments(v) + p->tasks),
                                    .keys = p->keys[from],
                                    .wait = (uint32_t)wait,
                                    .waits = (uint32_t)waits,
                                    .first = (uint32_t)ovs_row_first(v->row[r]),
                                    .last = (uint32_t)(row_end(v, r) - 1) };
    p->tasks++;
}

void ovs_plan_splits(const ovs_view *v, ovs_plan *p, uint64_t most)
{
    bool by_width = heaviest(v, p, false) < 2;
    uint64_t heavy = heaviest(v, p, by_width), least = least_weight(v, p, most, heavy, by_width);
    uint64_t others = most - rows_of(v, p, least, by_width); /* that weigh one less */
    p->tasks = p->moves = 0;
    for (uint64_t r = 0; r < ovs_segments(v); r++) {
        uint64_t weight = weight_of(v, p, r, by_width);
        bool other = others && weight + 1 == least && weight > heavy / 2;
        if (weight < least && !other) continue;
        others -= other;
        add_split(v, p, r, 0, 0);
    }
    HD_ASSERT(p->tasks <= most, "a round has more splits than were asked for");
}

/* ---- Room for keys --------------------------------------------------------------------------- */

/* What a segment has at most after rounds for keys that wait. */
static uint64_t full_enough(const ovs_view *v) { return ovs_segment_slots(v) / 4 * 3; }

uint64_t ovs_rows_for_room(const ovs_view *v, uint64_t n)
{
    uint64_t segments = ovs_segments(v), split = n < segments ? n : segments;
    /* a segment of weight w becomes 2 w / full_enough, or two, at most; all that are split have 4/3 of it and n */
    return segments + 4 * split + 2 * (n / full_enough(v)) + 2;
}

static void sift(uint32_t *key, uint64_t at, uint64_t n)
{
    for (uint64_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && key[child] < key[child + 1]) child++;
        if (key[at] >= key[child]) break;
        uint32_t was = key[at];
        key[at] = key[child];
        key[child] = was;
    }
}

static void sort(uint32_t *key, uint64_t n)
{
    for (uint64_t i = n / 2; i-- > 0;) sift(key, i, n);
    for (uint64_t last = n; last-- > 1;) {
        uint32_t most = key[0];
        key[0] = key[last];
        key[last] = most;
        sift(key, 0, last);
    }
}

void ovs_plan_wait(ovs_plan *p, const uint64_t *key, uint64_t n)
{
    uint64_t all = 0;
    for (uint64_t i = 0; i < n; i++)
        if (key[i] < word_keys(OVS_HALF)) p->wait[all++] = (uint32_t)key[i];
    sort(p->wait, all);
    p->waiting = 0;
    for (uint64_t i = 0; i < all; i++)
        if (i == 0 || p->wait[i] != p->wait[i - 1]) p->wait[p->waiting++] = p->wait[i];
}

void ovs_plan_room(const ovs_view *v, ovs_plan *p, bool first)
{
    uint64_t at = 0;
    p->tasks = p->moves = 0;
    for (uint64_t r = 0; r < ovs_segments(v) && at < p->waiting; r++) {
        uint64_t begin = at, end = row_end(v, r);
        while (at < p->waiting && p->wait[at] < end) at++;
        if (at == begin || end - ovs_row_first(v->row[r]) < 2) continue;
        if (first || *keys_of(v, p, r) > full_enough(v)) add_split(v, p, r, begin, at - begin);
    }
}

uint64_t ovs_plan_weigh(const ovs_view *v, ovs_plan *p)
{
    uint64_t segments = ovs_segments(v);
    for (uint64_t j = 0; j < p->tasks; j++) {
        ovs_task *t = &p->task[j];
        uint64_t parts = 2;
        t->keys = p->keys[t->from] += t->waits;
        while ((t->keys + parts - 1) / parts > full_enough(v)) parts *= 2;
        segments += parts - 1;
    }
    return segments;
}

void ovs_rows_split(ovs_view *v, ovs_plan *p)
{
    uint64_t n = ovs_segments(v), j = p->tasks;
    memcpy(p->was, v->row, n * sizeof *v->row);
    for (uint64_t r = n; r-- > 0;) {
        const ovs_task *t = j ? &p->task[j - 1] : NULL;
        uint64_t row = v->row[r];
        if (t && t->from == ovs_row_segment(row)) {
            v->row[r + j] = ovs_row_pack(t->first, t->to);
            p->keys[t->to] = t->keys - t->keys / 2; /* of fewer than two keys it does not matter where they are */
            p->keys[t->from] = t->keys / 2;
            j--;
        }
        v->row[r + j] = row;
    }
    ovs_set_segments(v, n + p->tasks);
    HD_ASSERT(j == 0, "a split has no row");
    HD_ASSERT(ovs_is_directory_sound(v));
}

/* ---- Merges ---------------------------------------------------------------------------------- */

static uint64_t sum_of(const ovs_view *v, const ovs_plan *p, uint64_t r)
{
    return (uint64_t)*keys_of(v, p, r) + *keys_of(v, p, r + 1);
}

void ovs_plan_merges(const ovs_view *v, ovs_plan *p, uint64_t most)
{
    uint64_t pairs = ovs_segments(v) - 1, least = UINT64_MAX;
    p->tasks = p->moves = 0;
    for (uint64_t r = 0; r < pairs; r++)
        if (sum_of(v, p, r) < least) least = sum_of(v, p, r);
    for (uint64_t r = 0; r < pairs && p->tasks < most; r++) {
        uint64_t sum = sum_of(v, p, r), a = ovs_row_segment(v->row[r]), b = ovs_row_segment(v->row[r + 1]);
        if (!ovs_may_merge(v, sum) || sum > 2 * least + ovs_segment_slots(v) / 8) continue;
        p->task[p->tasks++] = (ovs_task){ .from = (uint32_t)(a < b ? b : a), .to = (uint32_t)(a < b ? a : b) };
        r++; /* its neighbour is taken */
    }
}

/* The rows of pairs that are done become one; how many. */
static uint64_t join_rows(ovs_view *v, ovs_plan *p)
{
    uint64_t n = ovs_segments(v), j = 0, at = 0, joined = 0;
    for (uint64_t r = 0; r < n; r++) {
        const ovs_task *t = j < p->tasks ? &p->task[j] : NULL;
        uint64_t row = v->row[r], segment = ovs_row_segment(row);
        bool pair = t && (t->from == segment || t->to == segment);
        if (pair && t->done) {
            p->keys[t->to] += p->keys[t->from];
            row = ovs_row_pack(ovs_row_first(row), t->to);
            joined++;
            r++;
        } else if (pair) {
            p->keys[t->from] = (uint32_t)ovs_segment_slots(v); /* so it fits nowhere */
            v->row[at++] = row;
            row = v->row[++r];
        }
        j += pair;
        v->row[at++] = row;
    }
    return joined;
}

void ovs_rows_merge(ovs_view *v, ovs_plan *p)
{
    uint64_t n = ovs_segments(v), j = 0;
    memcpy(p->was, v->row, n * sizeof *v->row);
    n -= join_rows(v, p);
    ovs_set_segments(v, n);
    for (uint64_t r = 0; r < n; r++) {
        uint64_t segment = ovs_row_segment(v->row[r]);
        if (segment < n) continue;
        while (!p->task[j].done || p->task[j].from >= n) j++;
        HD_ASSERT(j < p->tasks && p->tasks + p->moves < p->rows, "no segment has become free for one that moves");
        uint32_t home = p->task[j++].from;
        p->task[p->tasks + p->moves++] = (ovs_task){ .from = (uint32_t)segment, .to = home };
        p->keys[home] = p->keys[segment];
        v->row[r] = ovs_row_pack(ovs_row_first(v->row[r]), home);
    }
    HD_ASSERT(ovs_is_directory_sound(v));
}

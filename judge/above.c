/* SPDX-License-Identifier: Apache-2.0
 *
 * above.c - how many entries of the map are pinned or have at least a score. One whose score is unknown may have it.
 */
#include <stdlib.h>

#include "judge/state.h"

static bool may_be_above(const hd_oracle *o, const judge_entry *e, uint64_t least)
{
    return e->holder || !judge_score_known(o, e) || e->score >= least;
}

bool judge_enough_above(const hd_oracle *o, uint64_t want, uint64_t least)
{
    const judge_entry *e;
    for (uint64_t p = 0; want && (e = judge_map_next(&o->map, &p));) want -= may_be_above(o, e, least);
    return want == 0;
}

const char *judge_greatest_victim(hd_oracle *o, uint64_t *score)
{
    enum { SMALL = 4096 };
    uint64_t n = 0, k = o->need - 1, low = 0, high = o->map.n - 1;
    const judge_entry *e;
    *score = UINT64_MAX;
    if (o->map.n > SMALL || o->map.n <= k) return NULL;
    if (o->rank_room < o->map.n) {
        uint64_t *wide = (uint64_t *)realloc(o->rank, 2 * (size_t)o->map.n * sizeof *wide);
        if (!wide) return judge_no_memory;
        o->rank = wide;
        o->rank_room = 2 * o->map.n;
    }
    for (uint64_t p = 0; (e = judge_map_next(&o->map, &p));)
        o->rank[n++] = may_be_above(o, e, UINT64_MAX) ? UINT64_MAX : e->score;
    while (low < high) { /* descending */
        uint64_t pivot = o->rank[low + (high - low) / 2], l = low, r = high;
        for (;;) {
            while (o->rank[l] > pivot) l++;
            while (o->rank[r] < pivot) r--;
            if (l >= r) break;
            uint64_t x = o->rank[l];
            o->rank[l++] = o->rank[r];
            o->rank[r--] = x;
        }
        if (k <= r)
            high = r;
        else
            low = r + 1;
    }
    *score = o->rank[k];
    return NULL;
}

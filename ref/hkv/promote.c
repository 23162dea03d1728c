/* SPDX-License-Identifier: Apache-2.0
 *
 * promote.c - in-bucket tiers: which entries of a bucket have their values near. Beyond the paper, whose tiers do
 * not look at what an entry is worth (section 3.6).
 *
 * The worst near entry and the best far one change places, until no far one is better. So an entry moves only if it has
 * to, and a second pass moves none. Empty slots are worse than any entry, and pinned entries stay where they are.
 */
#include <string.h>

#include "ref/hkv/hkv.h"
#include "ref/hkv/lists.h"

static bool is_empty(const hkv_view *v, uint64_t e) { return v->digest[e] == HKV_NO_DIGEST; }

/* Is what lies at e worth more than what lies at f? */
static bool is_better(const hkv_view *v, uint64_t e, uint64_t f)
{
    if (is_empty(v, e) || is_empty(v, f)) return is_empty(v, f) && !is_empty(v, e);
    return *hkv_score_at(v, e) > *hkv_score_at(v, f);
}

static bool may_move(const hkv_view *v, uint64_t e) { return is_empty(v, e) || !hkv_holder_of(v, e); }

/* Of slots [from, to) of bucket b the first that is best, or worst; HKV_NOWHERE when all are pinned. */
static uint64_t choose(const hkv_view *v, uint64_t b, uint32_t from, uint32_t to, bool best)
{
    uint64_t chosen = HKV_NOWHERE;
    for (uint32_t s = from; s < to; s++) {
        uint64_t e = hkv_entry(v, b, s);
        if (!may_move(v, e)) continue;
        if (chosen == HKV_NOWHERE || (best ? is_better(v, e, chosen) : is_better(v, chosen, e))) chosen = e;
    }
    return chosen;
}

static void exchange(void *x, void *y, size_t bytes)
{
    uint8_t *p = (uint8_t *)x, *q = (uint8_t *)y;
    for (size_t i = 0; i < bytes; i++) {
        uint8_t byte = p[i];
        p[i] = q[i];
        q[i] = byte;
    }
}

static void change_places(const hkv_view *v, uint64_t near, uint64_t far)
{
    if (is_empty(v, near))
        memcpy(hkv_value(v, near), hkv_value(v, far), v->value_bytes); /* no value is left behind */
    else
        exchange(hkv_value(v, near), hkv_value(v, far), v->value_bytes);
    exchange(hkv_key_at(v, near), hkv_key_at(v, far), 8);
    exchange(hkv_score_at(v, near), hkv_score_at(v, far), 8);
    exchange(v->digest + near, v->digest + far, 1);
    uint64_t *bound = v->bound ? v->bound + far / HKV_BOUNDED : NULL;
    if (bound && *bound > *hkv_score_at(v, far)) *bound = *hkv_score_at(v, far);
    HD_ASSERT(hkv_is_sound(v, near) && hkv_is_sound(v, far));
    HD_ASSERT(near / v->slots == far / v->slots && hkv_is_near(v, near) && !hkv_is_near(v, far));
}

static uint64_t promote_bucket(const hkv_view *v, uint64_t b)
{
    uint32_t near = (uint32_t)hkv_near_of(v, b);
    for (uint64_t moved = 0;; moved++) {
        uint64_t worst = choose(v, b, 0, near, false), best = choose(v, b, near, v->slots, true);
        if (worst == HKV_NOWHERE || best == HKV_NOWHERE || !is_better(v, best, worst)) return moved;
        change_places(v, worst, best);
    }
}

typedef struct promotion {
    hkv_view *v;
    uint64_t first, buckets, moved;
} promotion;

static void promote_share(hd_team *m, uint32_t t, uint32_t many, void *context)
{
    promotion *p = (promotion *)context;
    uint64_t moved = 0, last = hd_team_share(p->buckets, t + 1, many);
    for (uint64_t b = hd_team_share(p->buckets, t, many); b < last; b++) moved += promote_bucket(p->v, p->first + b);
    hkv_add_in_turn(m, t, moved, &p->moved, NULL, NULL);
}

uint64_t hkv_promote(hkv_view *v, uint64_t start, uint64_t n, uint32_t threads)
{
    uint64_t first = start / v->slots + (start % v->slots != 0),
             last = (start + n) / v->slots + ((start + n) % v->slots != 0);
    if (!v->far || !v->striped) return 0;
    promotion p = { v, first, last > first ? last - first : 0, 0 };
    hd_team_run(n > 1 << 16 ? threads : 1, n, promote_share, &p);
    return p.moved;
}

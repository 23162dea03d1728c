/* SPDX-License-Identifier: Apache-2.0
 *
 * queues.c - see queues.h.
 */
#include "ref/hkv/queues.h"

#include <string.h>

#include "ref/rule.h"

/* ---- Counters of keys ------------------------------------------------------------------------ */

bool hkv_is_counted(const hkv_view *v, const hkv_item *it)
{
    return v->count && !it->raw && hd_rule_of(it->op, it->flag)->insert;
}

static void count_in(const hkv_view *v, uint64_t b, uint64_t h)
{
    const uint32_t words = hkv_count_words(v->slots);
    uint64_t *counted = v->count + b * words, *group = counted + hkv_count_at(v->slots, h);
    for (uint32_t row = 0; row < HKV_COUNT_ROWS; row++) {
        uint32_t shift = hkv_count_shift(h, row);
        if ((group[row] >> shift & HKV_COUNT_MOST) < HKV_COUNT_MOST) group[row] += 1ull << shift;
    }
    if (++*counted < hkv_count_sample(v->slots, v->dual)) return;
    *counted /= 2;
    for (uint32_t i = 4; i < words; i++) counted[i] = hkv_counts_halved(counted[i]);
}

void hkv_count(const hkv_view *v, const hkv_home *at, uint64_t key)
{
    for (uint32_t k = 0; k < hkv_homes(v); k++) count_in(v, at->bucket[k], hkv_count_hash(key));
}

/* How often bucket b has counted the key. */
static uint8_t counted(const hkv_view *v, uint64_t b, uint64_t key)
{
    uint64_t h = hkv_count_hash(key), least = HKV_COUNT_MOST;
    const uint64_t *group = v->count + b * hkv_count_words(v->slots) + hkv_count_at(v->slots, h);
    for (uint32_t row = 0; row < HKV_COUNT_ROWS; row++) {
        uint64_t count = group[row] >> hkv_count_shift(h, row) & HKV_COUNT_MOST;
        if (count < least) least = count;
    }
    return (uint8_t)least;
}

void hkv_counts_keep(const hkv_view *v, const hkv_home *at, uint64_t *room)
{
    const uint32_t words = hkv_count_words(v->slots);
    for (uint32_t k = 0; k < hkv_homes(v); k++)
        memcpy(room + k * words, v->count + at->bucket[k] * words, words * sizeof *room);
}

void hkv_counts_put_back(const hkv_view *v, const hkv_home *at, const uint64_t *room)
{
    const uint32_t words = hkv_count_words(v->slots);
    for (uint32_t k = 0; k < hkv_homes(v); k++)
        memcpy(v->count + at->bucket[k] * words, room + k * words, words * sizeof *room);
}

/* ---- Queues and ghosts ----------------------------------------------------------------------- */

static uint64_t ask(const hkv_view *v, uint32_t function, uint64_t old, const hkv_taking *t)
{
    return hd_queue_function(v->policy, &v->program, function, old, t->in);
}

/* The first ghost of the hash in bucket b. */
static uint64_t ghost_in(const hkv_view *v, uint64_t b, uint32_t fingerprint)
{
    uint64_t e = hkv_entry(v, b, 0), end = hkv_entry(v, b + 1, 0);
    while (e < end && (v->ghost[e] == 0 || (v->ghost[e] & INT32_MAX) != fingerprint)) e++;
    return e < end ? e : HKV_NOWHERE;
}

/* The bucket's ghosts. */
static void count_ghosts(const hkv_view *v, hkv_taking *t)
{
    for (uint64_t e = hkv_entry(v, t->bucket, 0); e < hkv_entry(v, t->bucket + 1, 0); e++) {
        uint64_t word = v->ghost[e];
        if (!word) {
            if (t->room == HKV_NOWHERE) t->room = e;
            continue;
        }
        uint32_t list = hkv_ghost_list(word);
        uint64_t *oldest = &t->oldest[list - 1];
        if (list == 1) t->in.ghosts1++;
        if (list == 2) t->in.ghosts2++;
        if (*oldest == HKV_NOWHERE || word < v->ghost[*oldest]) *oldest = e;
        if (word >> 32 > t->newest) t->newest = word >> 32;
    }
}

hkv_taking hkv_taking_of(const hkv_view *v, const hkv_item *it, const hkv_home *at, uint64_t bucket, bool full)
{
    hkv_taking t = { bucket, it->in, HKV_NOWHERE, { HKV_NOWHERE, HKV_NOWHERE }, HKV_NOWHERE, 0, 0 };
    t.in.slots = (uint16_t)v->slots;
    t.in.full = full;
    for (uint64_t e = hkv_entry(v, bucket, 0); e < hkv_entry(v, bucket + 1, 0); e++) {
        uint64_t score = *hkv_score_at(v, e); /* of a free slot it is 0 */
        t.in.upper = (uint16_t)(t.in.upper + (score >> 63));
        t.in.middle = (uint16_t)(t.in.middle + (score >> 62 == 1));
    }
    if (v->count) t.in.freq = counted(v, bucket, it->key);
    if (!v->ghost) return t;
    uint32_t fingerprint = hkv_fingerprint(hd_hash(it->key, v->seed));
    t.in.state = v->state[bucket];
    for (uint32_t k = 0; t.ghost == HKV_NOWHERE && k < hkv_homes(v); k++)
        t.ghost = ghost_in(v, at->bucket[k], fingerprint);
    if (t.ghost != HKV_NOWHERE) t.in.ghost = (uint8_t)hkv_ghost_list(v->ghost[t.ghost]);
    count_ghosts(v, &t);
    t.in.state = ask(v, HD_NEXT_STATE, 0, &t);
    return t;
}

/* The entry of bucket b with the lowest score, after its bits in `turn` are turned; halves: of the upper queue if it is
 * 2, of the others if it is 1, of all if it is 3. */
static uint64_t lowest(const hkv_view *v, uint64_t b, uint64_t turn, uint32_t halves)
{
    uint64_t first = HKV_NOWHERE;
    for (uint64_t e = hkv_entry(v, b, 0); e < hkv_entry(v, b + 1, 0); e++) {
        uint64_t score = *hkv_score_at(v, e);
        if (v->digest[e] == HKV_NO_DIGEST || hkv_holder_of(v, e) || !(halves & 1u << (score >> 63))) continue;
        if (first == HKV_NOWHERE || (score ^ turn) < (*hkv_score_at(v, first) ^ turn)) first = e;
    }
    return first;
}

uint64_t hkv_first_to_leave(const hkv_view *v, hkv_taking *t)
{
    uint64_t first = lowest(v, t->bucket, hd_turn_of(ask(v, HD_UPPER_FIRST, 0, t)), 3);
    if (!v->count) return first;
    t->in.freq_old = t->in.freq_rival = 0;
    if (first == HKV_NOWHERE) return first;
    uint64_t rival = lowest(v, t->bucket, 0, *hkv_score_at(v, first) >> 63 ? 1 : 2);
    t->in.freq_old = counted(v, t->bucket, *hkv_key_at(v, first));
    if (rival != HKV_NOWHERE) t->in.freq_rival = counted(v, t->bucket, *hkv_key_at(v, rival));
    return first;
}

void hkv_ask_to_remember(const hkv_view *v, hkv_taking *t, uint64_t old)
{
    if (!v->ghost) return;
    uint64_t list = ask(v, HD_REMEMBER, old, t), from = list ? ask(v, HD_FORGET, 0, t) : 0;
    t->list = (uint32_t)(list < 2 ? list : 2);
    uint64_t forgotten = from ? t->oldest[from > 1] : HKV_NOWHERE;
    if (forgotten == HKV_NOWHERE) return;
    if (forgotten == t->ghost) t->in.ghost |= 4;
    t->room = forgotten;
}

void hkv_take(const hkv_view *v, const hkv_taking *t, uint64_t gone_key)
{
    if (!v->ghost) return;
    v->state[t->bucket] = t->in.state;
    if (t->ghost != HKV_NOWHERE) v->ghost[t->ghost] = 0;
    if (!t->list) return;
    uint64_t first = hkv_entry(v, t->bucket, 0), order = t->newest + 1, room = t->room;
    if (room == HKV_NOWHERE && t->ghost / v->slots == t->bucket) room = t->ghost;
    if (room == HKV_NOWHERE) { /* the oldest of all */
        uint64_t a = t->oldest[0], b = t->oldest[1];
        room = a == HKV_NOWHERE || (b != HKV_NOWHERE && v->ghost[b] < v->ghost[a]) ? b : a;
    }
    for (uint64_t e = first; order > UINT32_MAX && e < first + v->slots; e++) v->ghost[e] = 0;
    v->ghost[room] =
        hkv_ghost_word(order > UINT32_MAX ? 1 : order, t->list, hkv_fingerprint(hd_hash(gone_key, v->seed)));
}

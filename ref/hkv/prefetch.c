/* SPDX-License-Identifier: Apache-2.0
 *
 * prefetch.c - see prefetch.h.
 */
#include "ref/hkv/prefetch.h"

#include "base/design.h"
#include "base/op.h"
#include "ref/hkv/digests.h"
#include "ref/hkv/least.h"

enum {
    VALUE_LINES = 8,        /* of a value; the processor goes on with longer ones by itself          */
    CACHE_BYTES = 512 << 10 /* of a table that needs no prefetches */
};

hkv_uses hkv_uses_of(const hkv_view *v, const hd_batch *b)
{
    const hd_op_row *row = hd_op_row_of(b->op);
    bool gives = row->needs & HD_GIVES_VALUE && b->value_out, writes = row->needs & HD_WRITES_VALUE;
    hkv_uses uses = { v->value_bytes && (gives || writes || row->family == HD_FAMILY_UPSERT),
                      row->needs & HD_SCORES || (row->needs & HD_GIVES_SCORE && b->score_out) ||
                          row->family == HD_FAMILY_ERASE,
                      row->family == HD_FAMILY_UPSERT };
    return uses;
}

hkv_pace hkv_pace_of(const hkv_view *v, hkv_uses uses)
{
#ifdef HD_VERIFY
    bool cached = false; /* checked builds look ahead in every table */
    (void)v;
#else
    bool cached = hkv_capacity(v) <= CACHE_BYTES / (HD_METADATA_MOST + (uint64_t)v->value_bytes);
#endif
    hkv_pace pace = { cached        ? 0
                      : uses.insert ? HKV_STAGES
                      : uses.value  ? 2
                                    : 1,
                      uses.insert && !cached ? HKV_WINDOW / 2 : HKV_WINDOW };
    return pace;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* GCC takes a function that does nothing but prefetch for one without effects, and leaves out its calls. The empty
 * statement is an effect. */
static inline void ask_line(const void *p)
{
    __builtin_prefetch(p);
    __asm__ volatile("");
}

static void ask(const void *p, uint64_t bytes)
{
    for (const char *at = (const char *)p; at < (const char *)p + bytes; at += HKV_LINE) ask_line(at);
}

/* Also of an entry that spans two lines, or whose value does. */
static void ask_value(const hkv_view *v, uint64_t e)
{
    const uint8_t *value = hkv_value(v, e);
    uint64_t bytes = v->value_bytes < VALUE_LINES * HKV_LINE ? v->value_bytes : VALUE_LINES * HKV_LINE;
    ask(value, bytes);
    ask_line(value + bytes - 1);
}

static void ask_key(const hkv_view *v, uint64_t e, bool score)
{
    ask_line(hkv_key_at(v, e));
    if (score && v->step == 1) ask_line(hkv_score_at(v, e));
    if (v->pins) ask_line(v->holder + e);
}

/* ---- What is seen, and asked for next ----------------------------------------------------- */

void hkv_ask_digests(const hkv_view *v, hkv_window *w)
{
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t k = 0; k < hkv_homes(v); k++) ask(v->digest + hkv_entry(v, w->home[i].bucket[k], 0), v->slots);
}

/* Adds a guess if `so`, and does not branch on that: whether a digest or a key matches cannot be predicted. */
static inline void guess(hkv_window *w, bool so, uint32_t item, uint64_t entry)
{
    w->by[w->guesses] = (uint8_t)item;
    w->entry[w->guesses] = entry;
    w->guesses += so & (w->guesses < HKV_GUESSES);
    HD_ASSERT(item < w->n, "a guess is for an item that the window lacks");
}

/* An entry for each bit. More than one are rare. */
static inline void guess_all(hkv_window *w, uint32_t item, uint64_t first, uint64_t match)
{
    do {
        guess(w, match != 0, item, first + (uint32_t)__builtin_ctzll(match | 1ull << 63));
        match &= match - 1;
    } while (match);
}

/* Asks for the keys whose digest is an item's. All digests are compared before the first mask is looked into: the
 * processor is not good at both at once. */
static void look_at_digests(const hkv_view *v, const hd_batch *b, hkv_uses uses, hkv_window *w)
{
    const uint32_t homes = hkv_homes(v), all = w->n * homes;
    hkv_mask match[2 * HKV_WINDOW];
    (void)b;
    w->guesses = 0;
    for (uint32_t s = 0; s < v->slots; s += HKV_DIGESTS_AT_ONCE) {
        for (uint32_t k = 0; k < all; k++)
            match[k] = hkv_slots_with(v, w->home[k / homes].bucket[k % homes], s, w->home[k / homes].digest);
        for (uint32_t k = 0; k < all; k++) {
            uint64_t first = hkv_entry(v, w->home[k / homes].bucket[k % homes], s);
            guess_all(w, k / homes, first, (uint64_t)match[k]);
            guess_all(w, k / homes, first + 64, (uint64_t)(match[k] >> 64));
        }
    }
    for (uint32_t k = 0; k < w->guesses; k++) ask_key(v, w->entry[k], uses.score);
}

/* Asks for the values of the keys that are there. */
static void look_at_keys(const hkv_view *v, const hd_batch *b, hkv_uses uses, hkv_window *w)
{
    uint32_t guesses = w->guesses;
    w->guesses = w->found = 0;
    for (uint32_t k = 0; k < guesses; k++) {
        bool equal = *hkv_key_at(v, w->entry[k]) == b->key[w->item[w->by[k]]];
        w->found |= (uint32_t)equal << w->by[k];
        guess(w, equal, w->by[k], w->entry[k]);
    }
    for (uint32_t k = 0; k < w->guesses && uses.value; k++) ask_value(v, w->entry[k]);
}

/* Asks for an empty slot of each item that is not `found`, or else for what says who leaves its buckets, which are then
 * guessed. */
static void look_at_room(const hkv_view *v, const hd_batch *b, hkv_uses uses, hkv_window *w)
{
    (void)b;
    w->guesses = 0;
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t k = 0; k < hkv_homes(v) && !(w->found >> i & 1); k++) {
            uint64_t first = hkv_entry(v, w->home[i].bucket[k], 0);
            uint32_t s = hkv_first_with(v, w->home[i].bucket[k], HKV_NO_DIGEST);
            if (s < v->slots) {
                ask_key(v, first + s, true);
                if (uses.value) ask_value(v, first + s);
            } else {
                guess(w, true, i, first);
                if (v->bound)
                    ask(v->bound + first / HKV_BOUNDED, v->slots / HKV_BOUNDED * sizeof *v->bound);
                else
                    ask(hkv_score_at(v, first), v->slots * sizeof *v->score * v->step);
            }
        }
}

/* Asks for the scores of the group with the least bound, which are guessed: it has the least score almost always. */
static void look_at_bounds(const hkv_view *v, const hd_batch *b, hkv_uses uses, hkv_window *w)
{
    (void)b, (void)uses;
    for (uint32_t k = 0; k < w->guesses && v->bound; k++) {
        uint64_t least;
        w->entry[k] += hkv_least_bound(v, w->entry[k], &least);
        ask(hkv_score_at(v, w->entry[k]), HKV_BOUNDED * sizeof *v->score * v->step);
    }
}

/* Asks for the entry that leaves. */
static void look_at_scores(const hkv_view *v, const hd_batch *b, hkv_uses uses, hkv_window *w)
{
    (void)b;
    for (uint32_t k = 0; k < w->guesses; k++) {
        uint64_t least;
        uint32_t s =
            v->bound ? hkv_least_of_group(v, w->entry[k], &least) : hkv_least_score(v, w->entry[k], v->slots, &least);
        ask_key(v, w->entry[k] + s, false);
        if (uses.value) ask_value(v, w->entry[k] + s);
    }
}

void hkv_look_ahead(const hkv_view *v, const hd_batch *b, hkv_uses uses, uint32_t stage, hkv_window *w)
{
    static void (*const look[HKV_STAGES])(const hkv_view *, const hd_batch *, hkv_uses,
                                          hkv_window *) = { look_at_digests, look_at_keys, look_at_room, look_at_bounds,
                                                            look_at_scores };
    HD_ASSERT(stage < HKV_STAGES);
    look[stage](v, b, uses, w);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * part.c - see part.h. A part has the near entries of a range of buckets, and the counts of the homes that the buckets
 * lie in; far entries are in this machine's memory already, and are used there. Parts that are filled mark empty places
 * by a key that none can have; when all are on the device, kernels make the counts and the directory (check.h).
 */
#include "gpu/sl/part.h"

#include <string.h>

#include "base/error.h"
#include "gpu/sl/kernel_numbers.h"
#include "gpu/sl/state.h"
#include "gpu/sort_launch.h"
#include "ref/sl/sl.h"

static const sl_state *own_in(const void *state) { return (const sl_state *)state; }
static const sl_homes *homes_in(const void *state) { return &own_in(state)->at; }

static uint64_t slots_of(const void *state) { return own_in(state)->gpu.info.slots; }
static uint64_t entry_bytes(const sl_homes *h) { return 8u * h->v.words; }

/* ---- Parts ----------------------------------------------------------------------------------- */

static uint64_t entries_bytes(const void *state, uint64_t buckets)
{
    return buckets * slots_of(state) * entry_bytes(homes_in(state));
}

/* Homes that so many buckets lie in, at most: the first and the last one in part. */
static uint64_t homes_of_part(const void *state, uint64_t buckets)
{
    return buckets * slots_of(state) / homes_in(state)->v.fit + 2;
}

/* The counts follow the entries, and the numbers of entries of the lines of far homes. */
static uint64_t part_bytes(const void *state, uint64_t buckets)
{
    uint64_t words = 1 + sl_home_groups(&homes_in(state)->v);
    return entries_bytes(state, buckets) + homes_of_part(state, buckets) * words * sizeof(uint32_t);
}

static uint32_t *counts_in(const void *state, const hd_part *p)
{
    return (uint32_t *)(void *)((uint8_t *)p->memory + entries_bytes(state, p->buckets));
}

static uint32_t *filled_in(const void *state, const hd_part *p)
{
    return counts_in(state, p) + homes_of_part(state, p->buckets);
}

static uint64_t first_place(const void *state, const hd_part *p) { return p->first * slots_of(state); }
static uint64_t end_place(const void *state, const hd_part *p) { return (p->first + p->buckets) * slots_of(state); }

/* The counts are not written back: a part that is filled has none. */
static int part_planes(const void *state, const hd_part *p, hd_plane *all)
{
    const sl_homes *h = homes_in(state);
    uint64_t first = first_place(state, p), end = end_place(state, p), near = h->near * h->v.fit,
             bytes = entry_bytes(h), near_end = end < near ? end : near, home = first / h->v.fit;
    all[0] = (hd_plane){ "counts", h->v.count + home, counts_in(state, p),
                         ((end - 1) / h->v.fit - home + 1) * sizeof(uint32_t) };
    int n = 1;
    uint64_t far = home < h->near ? h->near : home, end_home = (end - 1) / h->v.fit + 1, groups = sl_home_groups(&h->v);
    if (far < end_home)
        all[n++] =
            (hd_plane){ "filled lines", h->v.filled + (far - h->near) * groups,
                        filled_in(state, p) + (far - home) * groups, (end_home - far) * groups * sizeof(uint32_t) };
    if (first < near_end)
        all[n++] = (hd_plane){ "segments", h->v.word + first * h->v.words, p->memory, (near_end - first) * bytes };
    return n;
}

static uint64_t *words_in(const void *state, const hd_part *p, uint64_t place)
{
    const sl_homes *h = homes_in(state);
    uint64_t near = h->near * h->v.fit;
    if (place >= near) return h->far + (place - near) * h->v.words;
    HD_ASSERT(place >= first_place(state, p) && place < end_place(state, p), "a place is of another part");
    return (uint64_t *)p->memory + (place - first_place(state, p)) * homes_in(state)->v.words;
}

static uint64_t key_of(const sl_view *v, const uint64_t *word) { return v->words == 1 ? *word >> 32 : *word; }

/* The words of entry number `index` of a home; words, at: see sl_index_of, if the home is far. */
static uint64_t *entry_in(const void *state, const hd_part *p, uint64_t home, uint32_t index, const uint32_t *words,
                          sl_walk *at)
{
    const sl_view *v = &homes_in(state)->v;
    return words_in(state, p, home * v->fit + (words ? sl_index_of(v, words, index, at) : index));
}

static size_t part_next(const void *state, const hd_part *p, hd_entry *e, size_t most)
{
    const sl_homes *h = homes_in(state);
    const sl_view *v = &h->v;
    uint64_t at = e->slot, end = end_place(state, p), first = first_place(state, p) / v->fit;
    size_t n = 0;
    while (at < end && n < most) {
        uint64_t home = at / v->fit, next = (home + 1) * v->fit;
        const uint32_t *words = home < h->near ? NULL : filled_in(state, p) + (home - first) * sl_home_groups(v);
        uint32_t count = counts_in(state, p)[home - first];
        sl_walk walk = { 0, 0 };
        for (; at < end && n < most && at % v->fit < count && at < next; at++) {
            uint64_t *word = entry_in(state, p, home, (uint32_t)(at % v->fit), words, &walk);
            e[n++] = (hd_entry){ at, key_of(v, word), 0, v->words == 1 ? word : word + 1 };
        }
        if (n < most) at = next; /* no more in this home */
    }
    if (n == 0) e->slot = end;
    return n;
}

static bool part_put_at(const void *state, const hd_part *p, const hd_entry *e)
{
    const sl_view *v = &homes_in(state)->v;
    uint64_t value = 0, *word = words_in(state, p, e->slot);
    bool follows = e->slot % v->fit == 0 || e->slot == first_place(state, p) ||
                   key_of(v, words_in(state, p, e->slot - 1)) < sl_keys(v);
    if (e->key >= sl_keys(v) || e->score != 0 || !follows) return false;
    memcpy(&value, e->value, sl_value_bytes(v));
    word[0] = v->words == 1 ? e->key << 32 | value : e->key;
    if (v->words == 2) word[1] = value;
    return true;
}

static void part_clear(const void *state, const hd_part *p)
{
    const sl_homes *h = homes_in(state);
    uint64_t first = first_place(state, p), end = end_place(state, p), near = h->near * h->v.fit;
    memset(p->memory, 0xff, part_bytes(state, p->buckets));
    if (first < near) first = near;
    if (first < end) memset(words_in(state, p, first), 0xff, (end - first) * entry_bytes(h));
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static hd_status launch(const hd_gpu_machine *m, uint32_t kernel, const sl_check_args *c, uint64_t lanes)
{
    return m->on.launch(m->on.self, kernel, c, sizeof *c, hd_launch_blocks(&m->on, lanes, SL_THREADS), SL_THREADS);
}

/* Sorts homes by half of their first keys. */
static hd_status sort_homes(const sl_state *o, const hd_gpu_machine *m, sl_check_args *c, bool high)
{
    static const gpu_sort_kernels sorting = { SL_NUMBER_sort_count, SL_NUMBER_sort_scan, SL_NUMBER_sort_lay };
    uint64_t homes = c->a.v.homes, *sorted = c->codes;
    c->high = high;
    hd_status status = launch(m, SL_NUMBER_settle_label, c, homes);
    if (!status)
        status = gpu_sort_launch(&m->on, sorting, homes, NULL, 32, c->codes, c->other, o->sort_count, sl_sort_shares(o),
                                 &sorted);
    if (sorted == c->other) c->other = c->codes;
    c->codes = sorted;
    return status;
}

static hd_status part_filled(void *state, const hd_gpu_machine *m)
{
    sl_state *o = (sl_state *)state;
    sl_check_args c = sl_check_args_of(o);
    c.codes = o->at.room.bound;
    c.other = o->at.v.bound;
    hd_status status = m->on.zero(m->on.self, o->at.v.used, (c.a.v.homes + 63) / 64 * 8);
    if (!status) status = m->on.zero(m->on.self, &o->words->numbers.rows, sizeof(uint64_t));
    if (!status) status = launch(m, SL_NUMBER_settle_homes, &c, c.a.v.homes * 32);
    if (!status) status = sort_homes(o, m, &c, false);
    if (!status && c.a.v.words == 2) status = sort_homes(o, m, &c, true);
    if (!status) status = launch(m, SL_NUMBER_settle_rows, &c, c.a.v.homes);
    if (status || !c.a.v.near_key) return status;
    return launch(m, SL_NUMBER_settle_near, &c, sl_near_lines(&c.a.v));
}

const hd_gpu_parts sl_parts = { part_bytes, part_planes, part_next, part_put_at, part_clear, NULL, part_filled, NULL };

sl_check_args sl_check_args_of(const sl_state *o)
{
    return (sl_check_args){ sl_args_of(o, &o->at), &o->words->check, NULL, NULL, 0, o->gpu.info.slots };
}

hd_status sl_check_there(void *state, const hd_gpu_machine *m)
{
    const sl_state *o = (const sl_state *)state;
    const sl_check_args c = sl_check_args_of(o);
    uint64_t rows = 0, homes = c.a.v.homes, steps = c.a.v.fit + 1ull, at;
    sl_check_words found;
    char why[256] = "";
    memset(&found, 0, sizeof found);
    hd_status status = m->on.zero(m->on.self, c.words, sizeof *c.words);
    if (!status) status = launch(m, SL_NUMBER_check_rows, &c, homes);
    if (!status) status = m->read(m->self, &rows, &c.a.numbers->rows, sizeof rows);
    if (!status) status = m->read(m->self, &found, c.words, sizeof found);
    if (status) return status;
    sl_say_used(rows, homes, found.used, found.stray != 0, why, sizeof why);
    if (!why[0] && found.row)
        sl_say_broken(~found.row / SL_RULES, 0, (sl_rule)(~found.row % SL_RULES), why, sizeof why);
    if (why[0]) return hd_fail(HD_ECORRUPT, "%s", why);
    status = launch(m, SL_NUMBER_check_entries, &c, rows * SL_THREADS);
    if (!status) status = m->read(m->self, &found, c.words, sizeof found);
    if (status || !found.entry) return status;
    at = ~found.entry / SL_RULES;
    sl_say_broken(at / steps, (uint32_t)(at % steps), (sl_rule)(~found.entry % SL_RULES), why, sizeof why);
    return hd_fail(HD_ECORRUPT, "%s", why);
}

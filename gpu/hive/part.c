/* SPDX-License-Identifier: Apache-2.0
 *
 * part.c - see part.h. A part has the words of a range of buckets, one after another, wherever their segments are on
 * the device. The buckets of the stash follow the table's. What a part lacks follows from the words: after a table was
 * filled by parts, a kernel writes the masks and the count of the stash, and shuts the buckets that keys have passed.
 */
#include "gpu/hive/part.h"

#include <string.h>

#include "base/error.h"
#include "gpu/hive/check_args.h"
#include "gpu/hive/kernel_numbers.h"
#include "gpu/hive/state.h"
#include "ref/hive/hive.h"

static uint64_t bytes_of(const hive_view *v, uint64_t buckets) { return buckets * v->slots * hive_word_bytes(v); }

static const hive_view *view_in(const void *state) { return &((const hive_state *)state)->v; }

static uint64_t part_bytes(const void *state, uint64_t buckets) { return bytes_of(view_in(state), buckets); }

/* How many buckets from b on lie one after another on the device. */
static uint64_t run_from(const hive_view *v, uint64_t b)
{
    uint64_t all = hive_buckets(v), end = v->base;
    if (b >= all) return all + v->stash_buckets - b;
    while (end <= b) end *= 2;
    return (end < all ? end : all) - b;
}

static int part_planes(const void *state, const hd_part *p, hd_plane *all)
{
    const hive_view *v = view_in(state);
    uint64_t end = p->first + p->buckets, n;
    uint8_t *here = (uint8_t *)p->memory;
    int planes = 0;
    for (uint64_t b = p->first; b < end; b += n) {
        n = run_from(v, b);
        if (n > end - b) n = end - b;
        HD_ASSERT(n > 0 && planes < HD_MEMORY_MOST, "a run of buckets is empty");
        all[planes++] = (hd_plane){ "buckets", hive_bucket(v, b), here, bytes_of(v, n) };
        here += bytes_of(v, n);
    }
    HD_ASSERT(here == (uint8_t *)p->memory + part_bytes(state, p->buckets), "runs make up the part");
    return planes;
}

static uint8_t *slot_in(const hive_view *v, const hd_part *p, uint64_t e)
{
    HD_ASSERT(e / v->slots >= p->first && e / v->slots < p->first + p->buckets, "a slot is of another part");
    return (uint8_t *)p->memory + (e - p->first * v->slots) * hive_word_bytes(v);
}

static uint64_t word_in(const hive_view *v, const uint8_t *slot)
{
    uint64_t word = 0;
    memcpy(&word, slot, hive_word_bytes(v));
    return word;
}

static size_t part_next(const void *state, const hd_part *p, hd_entry *e, size_t most)
{
    const hive_view *v = view_in(state);
    uint64_t at = e->slot, end = (p->first + p->buckets) * v->slots;
    size_t n = 0;
    for (; at < end && n < most; at++) {
        uint8_t *slot = slot_in(v, p, at);
        uint64_t word = word_in(v, slot);
        if (hive_is_key(v, word))
            e[n++] = (hd_entry){ at, hive_key_of(v, word), 0, slot }; /* a value is the low half */
    }
    if (n == 0) e->slot = at;
    return n;
}

static bool part_put_at(const void *state, const hd_part *p, const hd_entry *e)
{
    const hive_view *v = view_in(state);
    uint64_t value = 0;
    if (e->key >= hive_keys(v) || e->score != 0) return false;
    if (!hive_is_home(v, hive_hash(v, e->key), e->slot / v->slots)) return false;
    memcpy(&value, e->value, v->half / 8);
    uint64_t word = hive_pack(v, e->key, value);
    memcpy(slot_in(v, p, e->slot), &word, hive_word_bytes(v));
    return true;
}

static void part_clear(const void *state, const hd_part *p)
{
    memset(p->memory, 0xff, (size_t)part_bytes(state, p->buckets)); /* fresh */
}

/* ---- Kernels --------------------------------------------------------------------------------- */

enum { THREADS = 128 };

static hive_check_args args_of(const hive_state *o)
{
    return (hive_check_args){ o->v, hive_stashed_of(o), &o->words->check };
}

static hd_status launch(const hd_gpu_machine *m, uint32_t kernel, const hive_check_args *a)
{
    return m->on.launch(m->on.self, kernel, a, sizeof *a, hd_launch_blocks(&m->on, hive_places(&a->v), THREADS),
                        THREADS);
}

static hd_status part_filled(void *state, const hd_gpu_machine *m)
{
    hive_state *o = (hive_state *)state;
    const hive_check_args a = args_of(o);
    hd_status status = m->on.zero(m->on.self, a.stashed, sizeof *a.stashed);
    if (!status) status = launch(m, HIVE_NUMBER_settle, &a);
    return status ? status : m->read(m->self, &o->v.stashed, a.stashed, sizeof o->v.stashed);
}

const hd_gpu_parts hive_parts = {
    part_bytes, part_planes, part_next, part_put_at, part_clear, NULL, part_filled, NULL
};

hd_status hive_check_there(void *state, const hd_gpu_machine *m)
{
    const hive_state *o = (const hive_state *)state;
    const hive_check_args a = args_of(o);
    hive_check_words found = { 0, 0 };
    uint64_t counted = 0;
    char why[256] = "";
    hd_status status = m->on.zero(m->on.self, a.words, sizeof *a.words);
    if (!status) status = launch(m, HIVE_NUMBER_check, &a);
    if (!status) status = m->read(m->self, &found, a.words, sizeof found);
    if (!status) status = m->read(m->self, &counted, a.stashed, sizeof counted);
    if (status) return status;
    if (found.first)
        hive_say_broken(&o->v, ~found.first / HIVE_RULES, (int)(~found.first % HIVE_RULES), why, sizeof why);
    else
        hive_say_stashed(&o->v, found.stashed, counted, why, sizeof why);
    return why[0] ? hd_fail(HD_ECORRUPT, "%s", why) : HD_OK;
}

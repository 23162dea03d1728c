/* SPDX-License-Identifier: Apache-2.0
 *
 * accept.c - whether an item of a Hive table may have had its outcome (by hive_accept), and the invariants between
 * steps and at rest.
 */
#include <inttypes.h>
#include <string.h>

#include "judge/hive/fixture.h"
#include "judge/rules.h"
#include "judge/words/words.h"

static hive_view *model_of(void *table) { return &((hive_fixture_table *)table)->state.v; }

/* ---- One item -------------------------------------------------------------------------------- */

/* An item that claims a fresh slot and releases it leaves it vacant, and while it is claimed the bucket may look
 * full to other items. So a bucket that others worked at may have been closed, though the reference's is still open:
 * closes it in the model, too. comparison_watch checks that no key is behind an open bucket of the kernels' table. */
static void shut_way(hive_view *v, uint64_t key, uint64_t to)
{
    uint64_t h = hive_hash(v, key), step = 0, b = 0;
    while (hive_fixture_way(v, h, &step, &b) && b != to) hive_shut(v, b);
}

const char *hive_fixture_accept(const fixture *s, void *model, uint32_t k, uint64_t i, const simt_ticket_record *t,
                                judge_listing *l)
{
    hive_view *v = model_of(model);
    hive_item it;
    hive_seen seen;
    const char *why = judge_word_item(s, k, i, t, l, &it, &seen);
    if (why) return why;
    if (seen.entry != HIVE_NOWHERE && judge_word_others(s) && hive_find(v, it.key) == HIVE_NOWHERE)
        shut_way(v, it.key, seen.entry / v->slots);
    return hive_accept(v, &it, &seen,
                       2 * judge_word_others(s)); /* each other item may hold one slot and need another */
}

const char *hive_fixture_move(void *model, uint64_t from, uint64_t to)
{
    hive_view *v = model_of(model);
    uint64_t places = hive_places(v);
    if (from < places && to < places && hive_is_key(v, hive_read(v, from)) && hive_is_free(v, hive_read(v, to)))
        shut_way(v, hive_key_of(v, hive_read(v, from)), to / v->slots);
    return hive_accept_move(v, from, to);
}

/* ---- At rest --------------------------------------------------------------------------------- */

const char *hive_fixture_check(const void *table, char why[JUDGE_SENTENCE])
{
    hive_check(&((const hive_fixture_table *)table)->state.v, why, JUDGE_SENTENCE);
    return why[0] ? why : NULL;
}

/* ---- In flight ------------------------------------------------------------------------------- */

/* The slots that belong to a key while it moves through the table. */
typedef struct tracks {
    uint64_t shown, claimed, leaving; /* slots */
    uint64_t last;                    /* one of the slots that show it */
    bool behind_open;                 /* one of them is behind an open bucket */
    /* a slot of the key is in a bucket where it may not be */
    bool beside;
} tracks;

static tracks tracks_of(const hive_view *v, uint64_t key)
{
    tracks k = { 0, 0, 0, HIVE_NOWHERE, false, false };
    uint64_t h = hive_hash(v, key), step = 0, b = 0, passed[HIVE_HASHES_MOST], n = 0,
             claimed = hive_sign(v, HIVE_CLAIMED, key), leaving = hive_sign(v, HIVE_LEAVING, key);
    bool open = false;
    while (hive_fixture_way(v, h, &step, &b)) {
        bool again = false;
        for (uint64_t i = 0; i < n; i++) again = again || passed[i] == b;
        if (step <= v->hashes) passed[n++] = b;
        if (again) continue; /* two candidate buckets are the same */
        for (uint64_t e = b * v->slots; e < (b + 1) * v->slots; e++) {
            uint64_t word = hive_read(v, e);
            bool here = hive_key_of(v, word) == key;
            k.shown += here;
            k.claimed += word == claimed;
            k.leaving += word == leaving;
            if (here) k.last = e;
            k.behind_open = k.behind_open || (here && open);
        }
        open = open || hive_is_open(v, b);
    }
    return k;
}

static bool on_way(const hive_view *v, uint64_t key, uint64_t bucket)
{
    uint64_t h = hive_hash(v, key), step = 0, b = 0;
    while (hive_fixture_way(v, h, &step, &b))
        if (b == bucket) return true;
    return false;
}

/* The key that a slot belongs to, or is claimed for; HIVE_NOWHERE: it is free. */
static uint64_t whose(const hive_view *v, uint64_t word)
{
    return hive_is_free(v, word) ? HIVE_NOWHERE : hive_is_key(v, word) ? hive_key_of(v, word) : hive_value_of(v, word);
}

static const char *slot_wrong(const hive_view *v, uint64_t e)
{
    uint64_t word = hive_read(v, e), key = whose(v, word);
    if (key == HIVE_NOWHERE)
        return word == hive_fresh(v) || word == hive_vacant(v)
                   ? NULL
                   : "a free slot says neither fresh nor vacant (HIVE-3, in flight)";
    if (key >= hive_keys(v)) return "a key that is none (HIVE-1, in flight)";
    if (!on_way(v, key, e / v->slots)) return "a key is in none of its buckets (HIVE-2, in flight)";
    if (!hive_is_key(v, word)) return NULL;
    tracks k = tracks_of(v, key);
    return k.shown > 1     ? "a key shows in two slots (HIVE-1, in flight)"
           : k.behind_open ? "a key is behind a bucket that is open (HIVE-4, in flight)"
                           : NULL;
}

/* A bit is taken before its slot and given back after it: a slot whose bit says free is free. */
static const char *mask_wrong(const hive_view *v, uint64_t b)
{
    uint64_t at;
    const hive_segment *g = hive_segment_of(v, b, &at);
    if (!g->mask) return NULL;
    for (uint32_t i = 0; i < v->slots; i++)
        if (g->mask[at] >> i & 1 && !hive_is_free(v, hive_read(v, b * v->slots + i)))
            return "the mask gives a slot away that is taken (HIVE-5, in flight)";
    return NULL;
}

/* A key of the first table that no item erases is visible in a slot, or its destination is claimed while it leaves. */
static const char *lost(const fixture *s, const hive_view *v, const hive_view *then, uint64_t e, char *why)
{
    uint64_t word = hive_read(then, e), key = hive_key_of(then, word);
    if (!hive_is_key(then, word) || hive_key_of(v, hive_read(v, e)) == key) return NULL;
    tracks k = tracks_of(v, key);
    if (k.shown || (k.leaving && k.claimed) || judge_word_erases(s, key)) return NULL;
    return fixture_say(why,
                       "key %" PRIx64 " was in bucket %" PRIu64 ", slot %" PRIu64
                       ", no item erases it, and it is nowhere",
                       key, e / v->slots, e % v->slots);
}

/* weak: stores become visible later, but in order. */
const char *hive_fixture_watch(const fixture *s, uint8_t *before, bool weak, char why[JUDGE_SENTENCE])
{
    const hive_fixture_table *t = hive_fixture_table_of(s);
    const hive_view *v = &t->state.v;
    hive_fixture_table then;
    uint64_t stashed = 0;
    (void)before, (void)weak;
    fixture_view(s, s->initial, &then);
    for (uint64_t e = 0; e < hive_places(v); e++) {
        const char *wrong = slot_wrong(v, e);
        if (!wrong && e % v->slots == 0) wrong = mask_wrong(v, e / v->slots);
        if (wrong) {
            char name[48];
            return fixture_say(why, "%s, slot %" PRIu64 ": %s",
                               hive_fixture_bucket_name(t, e / v->slots, name, sizeof name), e % v->slots, wrong);
        }
        stashed += e >= hive_capacity(v) && hive_is_key(v, hive_read(v, e));
    }
    if (stashed > *hive_fixture_stashed(t))
        return fixture_say(why, "the stash has %" PRIu64 " entries, and counts %" PRIu64 " (HIVE-6, in flight)",
                           stashed, *hive_fixture_stashed(t));
    const char *gone = NULL;
    for (uint64_t e = 0; e < hive_places(&then.state.v) && !gone; e++) gone = lost(s, v, &then.state.v, e, why);
    return gone;
}

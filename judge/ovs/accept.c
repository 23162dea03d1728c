/* SPDX-License-Identifier: Apache-2.0
 *
 * accept.c - whether an item of an ovs table may have had its outcome (by ovs_accept), and the invariants between
 * steps and at rest.
 */
#include <inttypes.h>
#include <string.h>

#include "judge/ovs/fixture.h"
#include "judge/rules.h"
#include "judge/words/words.h"

/* An item that claims a fresh slot and gives it back leaves it vacant, and while it is claimed the bucket may look full
 * to other items. So a bucket that others worked at may not be open any more, though the reference's still is: shuts it
 * in the model, too. The watch checks that no key is behind an open bucket of the kernels' table. */
static void shut_way(ovs_view *v, uint64_t key, uint64_t to)
{
    for (uint32_t step = 0; step < ovs_way(v) && ovs_way_bucket(v, ovs_hash(v, key), step) != to; step++)
        ovs_shut(v, ovs_way_bucket(v, ovs_hash(v, key), step));
}

const char *ovs_fixture_accept(const fixture *s, void *model, uint32_t k, uint64_t i, const simt_ticket_record *t,
                               judge_listing *l)
{
    ovs_view *v = ovs_view_in(model);
    word_item it;
    word_seen seen;
    const char *why = judge_word_item(s, k, i, t, l, &it, &seen);
    if (why) return why;
    if (seen.entry != OVS_NOWHERE && judge_word_others(s) && ovs_find(v, it.key) == OVS_NOWHERE)
        shut_way(v, it.key, ovs_bucket_of(v, seen.entry));
    return ovs_accept(v, &it, &seen, 2 * judge_word_others(s)); /* each other item may hold one slot and need another */
}

const char *ovs_fixture_move(void *model, uint64_t from, uint64_t to)
{
    (void)model, (void)from, (void)to;
    return "keys of ovs do not move";
}

const char *ovs_fixture_check(const void *table, char why[JUDGE_SENTENCE])
{
    ovs_check(ovs_view_in(table), why, JUDGE_SENTENCE);
    return why[0] ? why : NULL;
}

/* ---- In flight ------------------------------------------------------------------------------- */

/* How many slots show the key; *behind: one of them is behind a bucket that is open. */
static uint64_t times_shown(const ovs_view *v, uint64_t key, bool *behind)
{
    uint64_t n = 0, h = ovs_hash(v, key);
    bool open = false;
    *behind = false;
    for (uint32_t step = 0; step < ovs_way(v); step++) {
        uint64_t b = ovs_way_bucket(v, h, step);
        const uint64_t *word = ovs_bucket(v, b);
        for (uint32_t slot = 0; slot < ovs_slots(v); slot++) {
            bool here = ovs_key_in(v, word[slot]) == key;
            n += here;
            *behind = *behind || (here && open);
        }
        open = open || ovs_is_open(v, b);
    }
    return n;
}

/* A slot of a key, or claimed for one. */
static const char *slot_wrong(const ovs_view *v, uint64_t e)
{
    uint64_t word = *ovs_at(v, e), b = ovs_bucket_of(v, e);
    bool is_key = ovs_is_key_in(v, word), behind;
    uint64_t key = is_key ? ovs_key_in(v, word) : word_value_of(OVS_HALF, word);
    if (word == ovs_fresh_in(v) || word == ovs_vacant_in(v)) return NULL;
    if (v->pairs && word == ovs_pair_busy()) return NULL; /* it does not say for which key */
    if (!is_key && (v->pairs || word != word_sign(OVS_HALF, WORD_CLAIMED, key)))
        return "a slot without a key is not free, and not claimed (OVS-3, in flight)";
    uint64_t h = ovs_hash(v, key);
    if (ovs_segment_of(v, h) != b >> v->line_bits || ovs_step_of(v, h, b & (ovs_lines(v) - 1)) >= ovs_way(v))
        return "a key is not on its way (OVS-2, in flight)";
    if (!is_key) return NULL;
    if (times_shown(v, key, &behind) > 1) return "a key shows in two slots (OVS-1, in flight)";
    return behind ? "a key is behind a bucket that is open (OVS-4, in flight)" : NULL;
}

/* weak: stores become visible later, but in order. A key of the first table that no item erases stays in its slot. */
const char *ovs_fixture_watch(const fixture *s, uint8_t *before, bool weak, char why[JUDGE_SENTENCE])
{
    const ovs_view *v = ovs_fixture_view(s);
    ovs_fixture_table then;
    (void)before, (void)weak;
    fixture_view(s, s->initial, &then);
    for (uint64_t e = 0; e < ovs_places(v); e++) {
        uint64_t was = *ovs_at(&then.state.v, e);
        const char *wrong = slot_wrong(v, e);
        if (!wrong && ovs_is_key_in(v, was) && ovs_key_in(v, *ovs_at(v, e)) != ovs_key_in(v, was) &&
            !judge_word_erases(s, ovs_key_in(v, was)))
            wrong = "a key was here, no item erases it, and it is gone";
        if (wrong)
            return fixture_say(why, "bucket %" PRIu64 ", slot %" PRIu32 ": %s", ovs_bucket_of(v, e), ovs_slot_in(v, e),
                               wrong);
    }
    return NULL;
}

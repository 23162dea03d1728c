/* SPDX-License-Identifier: Apache-2.0
 *
 * explain.c - how the reference of Hive looks for a key: its candidate buckets in order, then the stash, up to a bucket
 * that is open.
 */
#include <inttypes.h>
#include <stdio.h>

#include "judge/hive/fixture.h"
#include "judge/rules.h"
#include "judge/steps.h"
#include "ref/rule.h"

/* What a bucket says of a key. */
typedef struct look {
    uint64_t found, free; /* slots; HIVE_NOWHERE: it has not the key */
    bool open;
} look;

static look look_at(const hive_view *v, uint64_t b, uint64_t key)
{
    look l = { HIVE_NOWHERE, 0, hive_is_open(v, b) };
    for (uint64_t e = b * v->slots; e < (b + 1) * v->slots; e++) {
        uint64_t word = hive_read(v, e);
        l.free += hive_is_free(v, word);
        if (hive_is_key(v, word) && hive_key_of(v, word) == key) l.found = e;
    }
    return l;
}

static void tell_hash(const hive_view *v, uint64_t key, judge_steps *to)
{
    char buckets[96] = "";
    size_t used = 0;
    uint64_t h = hive_hash(v, key);
    for (uint32_t i = 0; i < v->hashes && used < sizeof buckets; i++)
        used += (size_t)snprintf(buckets + used, sizeof buckets - used, "%s%" PRIu64, i ? ", " : "",
                                 hive_candidate(v, h, i));
    judge_step *step = judge_steps_add(to, "hashes");
    judge_step_at(step, "key");
    judge_step_note(step, "The candidate buckets of key %" PRIx64 " are %s, in this order.", key, buckets);
}

/* True: the search is over. */
static bool tell_look(const void *table, const hive_view *v, uint64_t b, uint64_t key, judge_steps *to)
{
    look l = look_at(v, b, key);
    char name[STEP_PLACE];
    judge_step *step = judge_steps_add(to, "searches");
    judge_step_at(step, "%s", hive_fixture_bucket_name(table, b, name, sizeof name));
    step->look = b * v->slots;
    step->looks = v->slots;
    if (l.found != HIVE_NOWHERE)
        judge_step_note(step, "Slot %" PRIu64 " has the key.", l.found % v->slots);
    else if (l.open)
        judge_step_note(step,
                        "The key is not here. The bucket is open: no key that may be in it was placed in a later one, "
                        "so the search ends.");
    else
        judge_step_note(step, "The key is not here; %" PRIu64 " of %" PRIu32 " slots are free.", l.free, v->slots);
    return l.found != HIVE_NOWHERE || l.open;
}

void hive_fixture_tell(const fixture *s, uint64_t i, const void *before, judge_steps *to)
{
    const hive_view *v = &((const hive_fixture_table *)before)->state.v;
    uint64_t key = s->part[0].batch.key[i], h = hive_hash(v, key), step = 0, b = 0, seen = HIVE_NOWHERE;
    const hd_batch *batch = &s->part[0].batch;
    if (key >= hive_keys(v) || hd_flag_is_none(judge_item_op(batch, i), batch->flag ? batch->flag[i] : HD_EITHER)) {
        judge_step_note(judge_steps_add(to, "ends"), "No table holds this key, or the flag is none.");
        return;
    }
    tell_hash(v, key, to);
    while (hive_fixture_way(v, h, &step, &b)) {
        if (step > v->hashes && v->stashed == 0) break;
        if (b != seen && tell_look(before, v, b, key, to)) return;
        seen = b;
    }
}

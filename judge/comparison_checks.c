/* SPDX-License-Identifier: Apache-2.0
 *
 * comparison_checks.c - what must hold after a run: lists, counts, contents, and what is beside them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "judge/comparison_parts.h"

/* ---- Lists and counts of keyed batches ------------------------------------------------------- */

const char *comparison_check_list(comparison *a, uint32_t k)
{
    const fixture_part *p = &a->s->part[k];
    const hd_batch *b = &p->batch;
    uint32_t bytes = a->s->value_bytes;
    uint64_t at = 0;
    if (b->each || !judge_ops[b->op].list) return NULL;
    for (uint64_t i = 0; i < b->n; i++) {
        const judge_listing *l = &a->list[k][i];
        if (!l->listed) continue;
        const char *why = at >= *b->count             ? "is missing from the list"
                          : b->list_item[at] != i     ? "is not the next of the list"
                          : b->list_key[at] != l->key ? "listed another key"
                                                      : NULL;
        if (!why && b->op == HD_OP_INSERT_AND_EVICT) {
            if (b->list_score[at] != l->score)
                why = "listed a wrong score";
            else if (bytes && memcmp((const uint8_t *)b->list_value + at * bytes, l->value, bytes) != 0)
                why = "listed a wrong value";
        }
        if (why)
            return fixture_say(a->why, "%s: item %" PRIu64 " (key %" PRIx64 ", %s) %s", comparison_part(a, k), i,
                               b->key[i], hd_outcome_name((hd_outcome)b->outcome[i]), why);
        at++;
    }
    return *b->count == at ? NULL
                           : fixture_say(a->why, "%s: the list has %" PRIu64 " entries, and should have %" PRIu64,
                                         comparison_part(a, k), *b->count, at);
}

/* The operations of a mixed batch, as its kernel counted them. */
static const char *check_op_tally(comparison *a, uint32_t k)
{
    const fixture_part *p = &a->s->part[k];
    uint64_t op[HD_OP_COUNT_] = { 0 };
    for (uint64_t i = 0; i < p->batch.n; i++) op[p->batch.each[i]]++;
    for (int o = 0; o < HD_OP_COUNT_; o++)
        if (op[o] != p->op_tally[o])
            return fixture_say(a->why, "%s: %" PRIu64 " items are %s, but %" PRIu64 " were counted",
                               comparison_part(a, k), op[o], hd_op_name((hd_op)o), p->op_tally[o]);
    return NULL;
}

const char *comparison_check_tally(comparison *a, uint32_t k)
{
    const fixture_part *p = &a->s->part[k];
    uint64_t outcome[HD_OUTCOME_COUNT] = { 0 };
    for (uint64_t i = 0; comparison_keyed(p) && i < p->batch.n; i++) outcome[p->batch.outcome[i]]++;
    for (int o = 0; o < HD_OUTCOME_COUNT; o++)
        if (outcome[o] != p->tally[o])
            return fixture_say(a->why, "%s: %" PRIu64 " items were %s, but %" PRIu64 " were counted",
                               comparison_part(a, k), outcome[o], hd_outcome_name((hd_outcome)o), p->tally[o]);
    return p->op_tally && p->batch.each ? check_op_tally(a, k) : NULL;
}

const char *comparison_check_conservation(comparison *a)
{
    uint64_t before = 0, after = 0, inserted = 0, erased = 0;
    for (uint64_t b = 0; b < a->d->buckets(a->s->table); b++) after += fixture_entries(a->d, a->s->table, b);
    for (uint64_t b = 0; b < a->d->buckets(a->then); b++) before += fixture_entries(a->d, a->then, b);
    for (uint32_t k = 0; k < a->s->parts; k++) {
        const fixture_part *p = &a->s->part[k];
        if (!comparison_keyed(p)) return NULL;
        for (uint64_t i = 0; i < p->batch.n; i++) {
            inserted += p->batch.outcome[i] == HD_INSERTED;
            erased += p->batch.outcome[i] == HD_ERASED;
        }
    }
    return before + inserted == after + erased
               ? NULL
               : fixture_say(a->why,
                             "%" PRIu64 " entries, %" PRIu64 " more inserted, %" PRIu64 " erased, and now %" PRIu64,
                             before, inserted, erased, after);
}

/* ---- Against the reference in item order ----------------------------------------------------- */

void comparison_run_reference(comparison *a, uint32_t k)
{
    fixture_part *p = &a->s->part[k];
    hd_batch b = p->batch;
    const uint64_t *key = b.key, *score = b.score;
    const uint8_t *flag = b.flag;
    const void *value = b.value;
    judge_arrays_lend(&a->expected[k], &b);
    if (!p->batch.found) b.found = NULL;
    judge_arrays_arm(&a->expected[k]);
    b.key = key;
    b.score = score;
    b.flag = flag;
    b.value = value;
    b.key2 = p->batch.key2;
    fixture_apply(a->s, a->model, k, &b);
    for (uint64_t i = 0; comparison_keyed(p) && i < b.n; i++)
        if (judge_delivers_ptr(judge_item_op(&b, i), (hd_outcome)b.outcome[i]) && b.ptr[i])
            b.ptr[i] = a->s->memory + ((uint8_t *)b.ptr[i] - a->model_memory);
}

const char *comparison_check_exact(comparison *a, uint32_t k)
{
    const judge_arrays *got = &a->s->part[k].arrays, *want = &a->expected[k];
    for (int x = JUDGE_OUTCOME; x <= JUDGE_COUNT; x++) {
        const uint8_t *g = (const uint8_t *)judge_arrays_at(got, (judge_array)x),
                      *w = (const uint8_t *)judge_arrays_at(want, (judge_array)x);
        for (size_t i = 0; i < got->used[x]; i++)
            if (g[i] != w[i])
                return fixture_say(a->why, "%s: byte %zu of %s is not the reference's", comparison_part(a, k), i,
                                   judge_array_name((judge_array)x));
    }
    return NULL;
}

/* ---- Contents -------------------------------------------------------------------------------- */

enum { ENTRY_TEXT = 128 };

/* Of an entry in words the part in which it differs: "value 0x7737" of "5 score 17 value 7737". */
static void differing_part(char entry[ENTRY_TEXT], const char *why)
{
    char whole[ENTRY_TEXT];
    const char *part = strstr(strcpy(whole, entry), strstr(why, "score") ? "score " : "value ");
    if (part && strncmp(part, "value ", 6) == 0)
        snprintf(entry, ENTRY_TEXT, "value 0x%s", part + 6);
    else if (part)
        strcpy(entry, part);
}

/* Entry e, and the reference's entry of the key, if it has one. */
static const char *say_differs(comparison *a, uint64_t e, const char *why)
{
    const judge_design *d = a->d;
    const void *v = a->s->table;
    char name[64], here[ENTRY_TEXT], there[ENTRY_TEXT];
    uint64_t key = d->key_at(v, e), places = fixture_places(d, a->model), other = 0;
    while (other < places && d->key_at(a->model, other) != key) other++;
    fixture_place(d, v, e, name, sizeof name);
    if (other == places) return fixture_say(a->why, "%s: key 0x%" PRIx64 " %s the reference's", name, key, why);
    fixture_describe(d, v, e, here, sizeof here);
    fixture_describe(d, a->model, other, there, sizeof there);
    differing_part(here, why);
    differing_part(there, why);
    return fixture_say(a->why, "%s: key 0x%" PRIx64 " %s the reference's: expected %s, found %s", name, key, why, there,
                       here);
}

const char *comparison_check_contents(comparison *a)
{
    const judge_design *d = a->d;
    const void *v = a->s->table;
    char name[64];
    uint64_t all[2] = { 0, 0 };
    for (uint64_t b = 0; b < d->buckets(v); b++) {
        for (uint64_t e = d->first(v, b); e < d->first(v, b + 1); e++) {
            if (d->key_at(v, e) >= HD_KEY_RESERVED) continue;
            const char *why = fixture_differs(d, v, a->model, e);
            if (why) return say_differs(a, e, why);
        }
        uint64_t here = fixture_entries(d, v, b), there = fixture_entries(d, a->model, b);
        if (here != there && !d->roams)
            return fixture_say(a->why, "%s has %" PRIu64 " entries, and should have %" PRIu64,
                               fixture_bucket(d, v, b, name, sizeof name), here, there);
        all[0] += here;
        all[1] += there;
    }
    return all[0] == all[1]
               ? NULL
               : fixture_say(a->why, "the table has %" PRIu64 " entries, and should have %" PRIu64, all[0], all[1]);
}

const char *comparison_check_beside(comparison *a)
{
    return a->d->beside ? a->d->beside(a->s, a->model, a->now, a->why) : NULL;
}

const char *comparison_check_rest(comparison *a)
{
    const char *why = a->d->idle ? a->d->idle(a->s, a->why) : NULL, *beside = why ? NULL : fixture_guards(a->s);
    if (beside) why = fixture_say(a->why, "bytes beside the plane '%s' were written", beside);
    return why ? why : fixture_check(a->s, a->now, a->why);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * policy_walk.c - requests one by one through a small table.
 */
#include "tools/policy_walk.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "lib/params.h"
#include "heddle_view.h"
#include "policies/hashes/hash.h"

static hd_status open_all(policy_walk *w)
{
    hd_status s = hd_open(&w->config, &w->table);
    if (!s) s = hd_table_info(w->table, &w->info);
    if (!s) s = hd_policy_read(w->info.policy, &w->use);
    if (!s) s = hd_source_open_spec(w->c.keys, w->c.seed, &w->source);
    return s;
}

hd_status policy_walk_open(policy_walk *w, const hd_case *c, uint64_t scores)
{
    memset(w, 0, sizeof *w);
    w->c = *c;
    w->scores = scores;
    w->config = hd_case_config(&w->c);
    w->config.value_bytes = 0;
    w->random = hd_rng_from(c->seed);
    uint64_t wanted = 1 + hd_params_number(&w->config, w->config.design, "dual");
    hd_status s = HD_OK;
    if (c->buckets != wanted)
        s = hd_fail(HD_EINVAL, "buckets: it is 1, or 2 with dual=1: each key may then be in every bucket");
    else if (c->buckets * c->slots > POLICY_PLACES_MOST)
        s = hd_fail(HD_EINVAL, "slots: more than %d in all are not drawn", POLICY_PLACES_MOST);
    else if (w->config.clock != HD_CLOCK_LOGICAL)
        s = hd_fail(HD_EINVAL, "clock: only the logical one gives the same steps every time");
    if (!s) s = open_all(w);
    if (!s && w->use.program.flags & HD_QUEUES)
        s = hd_fail(HD_EINVAL, "policy: %s has queues, which are not drawn; heddle sim shows what it keeps",
                    w->use.text);
    if (!s && w->info.places != w->info.buckets * w->info.slots)
        s = hd_fail(HD_EINVAL, "design: a table of it has slots outside of its buckets");
    if (s) policy_walk_close(w);
    return s;
}

void policy_walk_close(policy_walk *w)
{
    hd_source_close(w->source);
    hd_close(w->table);
    w->source = NULL;
    w->table = NULL;
}

/* ---- A request ------------------------------------------------------------------------------- */

static hd_status read_entries(policy_walk *w, policy_entry *e)
{
    hd_view v;
    hd_status s = hd_view_open(w->table, NULL, &v);
    if (s) return s;
    for (uint64_t i = 0; i < w->info.places; i++) {
        hd_view_entry row = { 0, 0, NULL };
        e[i].present = hd_view_row(&v, i, &row);
        e[i].key = row.key;
        e[i].score = row.score;
    }
    return hd_view_close(w->table, NULL);
}

static uint64_t place_of(const policy_walk *w, const policy_entry *e, uint64_t key)
{
    uint64_t i = 0;
    while (i < w->info.places && !(e[i].present && e[i].key == key)) i++;
    return i < w->info.places ? i : POLICY_NOWHERE;
}

/* The least score of a full table, and the first place that has it: of both buckets the key's first one comes first. */
static uint64_t least_of(const policy_walk *w, const policy_entry *e, uint64_t key)
{
    uint64_t first = hd_first_bucket(hd_hash(key, w->info.seed), w->info.buckets) * w->info.slots, least = first;
    for (uint64_t n = 1; n < w->info.places; n++) {
        uint64_t i = (first + n) % w->info.places;
        if (e[i].score < e[least].score) least = i;
    }
    return least;
}

static bool is_full(const policy_walk *w, const policy_entry *e)
{
    uint64_t n = 0;
    while (n < w->info.places && e[n].present) n++;
    return n == w->info.places;
}

/* What the request gives, and when it happens. */
static hd_status begin(policy_walk *w, policy_step *s, bool *more)
{
    hd_request r;
    size_t got = 0;
    hd_info now;
    hd_status status = hd_source_next(w->source, &r, 1, &got);
    *more = !status && got == 1;
    if (!status && !*more) return HD_OK;
    if (!status && w->c.epoch_every && w->requests && w->requests % w->c.epoch_every == 0)
        status = hd_epoch_set(w->table, (uint32_t)(w->requests / w->c.epoch_every));
    if (!status) status = hd_table_info(w->table, &now);
    if (status) return status;
    s->request = w->requests++;
    s->key = r.key;
    s->in.given = w->scores ? 1 + hd_rng_below(&w->random, w->scores) : 1;
    s->in.now = s->in.tick = now.now;
    s->in.epoch = now.epoch;
    return HD_OK;
}

/* What the policy spares before an entry leaves the full table e, which has the new scores then. */
static void spare(const policy_walk *w, policy_step *s, policy_entry *e)
{
    while ((w->use.program.flags & HD_SPARES) && s->in.spared < w->info.places) {
        uint64_t at = least_of(w, e, s->key),
                 score = hd_on_evict(w->use.number, &w->use.program, e[at].score, s->in, false);
        if (score == e[at].score) return;
        s->spare[s->in.spared++] = (policy_spared){ at, e[at].score, score };
        e[at].score = score;
    }
}

/* The least score of the bucket of place `of`, without that place; 0: no entry is there. */
static uint64_t least_beside(const policy_walk *w, const policy_entry *e, uint64_t of)
{
    uint64_t first = of / w->info.slots * w->info.slots, least = UINT64_MAX;
    bool any = false;
    for (uint64_t i = first; i < first + w->info.slots; i++) {
        if (i == of || !e[i].present) continue;
        any = true;
        if (e[i].score < least) least = e[i].score;
    }
    return any ? least : 0;
}

/* What the two states of the table say. `gone`: what the batch listed. */
static void conclude(const policy_walk *w, policy_step *s, uint64_t gone_key, uint64_t gone_score)
{
    policy_entry before[POLICY_PLACES_MOST];
    memcpy(before, s->before, w->info.places * sizeof *before);
    uint64_t was = place_of(w, before, s->key);
    s->place = place_of(w, s->after, s->key);
    s->old = was == POLICY_NOWHERE ? 0 : before[was].score;
    s->score = s->outcome == HD_REFUSED ? gone_score : s->place == POLICY_NOWHERE ? 0 : s->after[s->place].score;
    s->compared = was == POLICY_NOWHERE && s->outcome != HD_RESERVED && is_full(w, before);
    s->victim = gone_key;
    s->victim_score = gone_score;
    if (s->compared) spare(w, s, before);
    if (was == POLICY_NOWHERE && s->place != POLICY_NOWHERE && (w->use.program.flags & HD_READS_LEAST))
        s->in.least = least_beside(w, before, s->place);
    if (!s->compared) return;
    uint64_t least = least_of(w, before, s->key);
    s->least = before[least].score;
    s->bucket = (s->outcome == HD_EVICTED ? s->place : least) / w->info.slots;
    s->admission = hd_admission(w->use.number, &w->use.program, s->in);
}

hd_status policy_walk_next(policy_walk *w, policy_step *s, bool *more)
{
    uint8_t outcome = HD_MISS;
    uint64_t gone_key = 0, gone_score = 0, count = 0;
    policy_entry *before = w->entry[w->requests % 2], *after = w->entry[(w->requests + 1) % 2];
    memset(s, 0, sizeof *s);
    hd_status status = begin(w, s, more);
    if (!*more) return status;
    hd_batch b = { .op = HD_OP_INSERT_AND_EVICT, .n = 1, .key = &s->key, .outcome = &outcome };
    b.score = w->scores ? &s->in.given : NULL;
    b.list_key = &gone_key;
    b.list_score = &gone_score;
    b.count = &count;
    if (!status) status = hd_run(w->table, &b);
    if (!status) status = read_entries(w, after);
    if (status) return status;
    s->outcome = (hd_outcome)outcome;
    s->before = before;
    s->after = after;
    conclude(w, s, gone_key, gone_score);
    return HD_OK;
}

/* ---- The parts of a score -------------------------------------------------------------------- */

bool policy_walk_has_epoch(const policy_walk *w)
{
    static const uint64_t number[] = { 1, 7, 1000 };
    const uint64_t step = 1ull << 32;
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        hd_score_in in = { .given = number[i], .now = number[i], .tick = number[i], .epoch = 1 }, later = in;
        later.epoch = 2;
        if (hd_on_insert(w->use.number, &w->use.program, later) - hd_on_insert(w->use.number, &w->use.program, in) !=
            step)
            return false;
    }
    return true;
}

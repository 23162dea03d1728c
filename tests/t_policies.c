/* SPDX-License-Identifier: Apache-2.0
 *
 * t_policies.c - every policy over a whole trace against the model (tests/model.h), in single and dual mode and in
 * several shapes; and the flags of every policy, claimed or not, against a search for inputs that refute them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/claims.h"
#include "policies/policy.h"
#include "tests/model.h"

/* ---- Scores that a caller may give ----------------------------------------------------------- */

static uint64_t rising(uint64_t i, uint64_t *random)
{
    (void)random;
    return 1000 + i;
}
static uint64_t falling(uint64_t i, uint64_t *random)
{
    (void)random;
    return UINT64_MAX - 5 - i;
}
static uint64_t anything(uint64_t i, uint64_t *random)
{
    (void)i;
    return test_random(random);
}
static uint64_t few(uint64_t i, uint64_t *random)
{
    (void)i;
    return test_below(random, 4);
}
static uint64_t extreme(uint64_t i, uint64_t *random)
{
    static const uint64_t edge[] = {
        0, 1, 0xfffffffeu, 0xffffffffu, 0x100000000u, INT64_MAX, UINT64_MAX - 1, UINT64_MAX
    };
    (void)i;
    return edge[test_below(random, 8)];
}

typedef struct scores {
    const char *name;
    uint64_t (*give)(uint64_t i, uint64_t *random); /* NULL: the batch has no scores, which means 1 */
} scores;

static const scores no_scores = { "none", NULL };
static const scores given_rising = { "rising", rising }, given_falling = { "falling", falling };
static const scores given_anything = { "random", anything }, given_few = { "0..3", few },
                    given_extreme = { "extreme", extreme };

/* ---- The epoch, by request ------------------------------------------------------------------- */

enum { EPOCH_REQUESTS = 10000 };

static uint32_t still(uint64_t i)
{
    (void)i;
    return 0;
}
static uint32_t forward(uint64_t i) { return (uint32_t)(i / EPOCH_REQUESTS); }
static uint32_t to_and_fro(uint64_t i)
{
    return (uint32_t)(i / EPOCH_REQUESTS) % 3 == 1 ? UINT32_MAX : (uint32_t)(i / EPOCH_REQUESTS) / 2;
}

/* ---- One run --------------------------------------------------------------------------------- */

typedef struct plan {
    const char *policy;
    const scores *given;
    uint32_t (*epoch)(uint64_t i);
} plan;

static const plan plans[] = {
    { "lru", &no_scores, still },
    { "lfu", &no_scores, still },
    { "lfu", &given_few, still },
    { "lfu", &given_extreme, still },
    { "epoch_lru", &no_scores, still },
    { "epoch_lru", &no_scores, forward },
    { "epoch_lru", &no_scores, to_and_fro },
    { "epoch_lfu", &no_scores, forward },
    { "epoch_lfu", &given_extreme, forward },
    { "epoch_lfu", &given_few, to_and_fro },
    { "custom", &given_rising, still },
    { "custom", &given_falling, still },
    { "custom", &given_anything, still },
    { "custom", &given_few, still },
    { "custom", &given_extreme, still },
    { "fifo", &no_scores, still },
    { "fifo", &given_extreme, forward },
    { "epoch_fifo", &no_scores, still },
    { "epoch_fifo", &no_scores, forward },
    { "epoch_fifo", &given_few, to_and_fro },
    { "clock", &no_scores, still },
    { "clock", &given_extreme, forward },
    { "sieve", &no_scores, still },
    { "sieve", &given_few, to_and_fro },
    { "lru2", &no_scores, still },
    { "lrfu", &no_scores, still },
    { "slru", &no_scores, still },
    { "twoq", &no_scores, still },
    { "s3fifo", &given_few, still },
    { "arc", &no_scores, still },
    { "tinylfu", &no_scores, still },
    { "wtinylfu", &no_scores, still },
    { "expr:on_insert=now;on_hit=(old>>1)+(now>>1)", &no_scores, still },
    { "expr:on_insert=now;on_hit=max(old,now)+(now-old<=1000?2*given:given);admission=MAX", &given_few, still },
    { "expr:on_insert=given;on_hit=old+given", &given_few, still },
    { "expr:on_insert=given;on_hit=max(old,given)+1;admission=MAX", &given_extreme, still },
};

typedef struct shape {
    uint64_t buckets;
    uint32_t slots, value_bytes;
} shape;

static const shape shapes[] = { { 1, 128, 8 }, { 16, 64, 0 }, { 80, 128, 24 }, { 7, 100, 5 } };

enum { MOST = 1000, VALUE_MOST = 24 };

/* Every output of one batch. */
typedef struct outputs {
    uint8_t fate[MOST], value[MOST * VALUE_MOST], gone_value[MOST * VALUE_MOST];
    uint64_t score[MOST], gone[MOST], gone_score[MOST], gone_item[MOST], count;
} outputs;

static void upserts(hd_table *t, model *m, const uint64_t *key, uint64_t n, const plan *p, uint64_t from,
                    uint64_t *random)
{
    static outputs o;
    for (uint64_t i = 0; i < n; i++) {
        value_make(o.value + i * m->value_bytes, m->value_bytes, key[i], from + i);
        o.score[i] = p->given->give ? p->given->give(from + i, random) : 1;
    }
    hd_batch b = test_batch(HD_OP_INSERT_AND_EVICT, n, key, o.value, o.fate);
    b.score = p->given->give ? o.score : NULL;
    test_lists(&b, o.gone, o.gone_value, o.gone_score, o.gone_item, &o.count);
    must(test_in_order(t, &b));
    uint64_t g = 0;
    for (uint64_t i = 0; i < n; i++, m->now++) {
        model_entry left = { 0, 0, NULL };
        if (o.fate[i] == HD_EVICTED || o.fate[i] == HD_REFUSED) {
            check(g < o.count && o.gone_item[g] == i, "request %llu is %s, the list does not say who left",
                  (ull)(from + i), hd_outcome_name((hd_outcome)o.fate[i]));
            left = (model_entry){ o.gone[g], o.gone_score[g], o.gone_value + g * m->value_bytes };
            g++;
        }
        const char *no =
            model_upsert(m, key[i], o.value + i * m->value_bytes, o.score[i], (hd_outcome)o.fate[i], &left);
        check(!no, "request %llu: %s", (ull)(from + i), no);
    }
    check(g == o.count, "%llu entries listed, %llu left", (ull)o.count, (ull)g);
}

/* Operations that neither insert nor evict, on the trace's own keys. */
static void others(hd_table *t, model *m, const uint64_t *key, uint64_t n, const plan *p, uint64_t from,
                   uint64_t *random)
{
    static const hd_op ops[] = { HD_OP_TOUCH,         HD_OP_ASSIGN, HD_OP_ASSIGN_VALUES,
                                 HD_OP_ASSIGN_SCORES, HD_OP_ERASE,  HD_OP_FIND };
    static outputs o;
    static uint8_t value_out[MOST * VALUE_MOST];
    static uint64_t score_out[MOST];
    hd_op op = ops[test_below(random, sizeof ops / sizeof ops[0])];
    bool writes = op == HD_OP_ASSIGN || op == HD_OP_ASSIGN_VALUES,
         scores = op != HD_OP_ASSIGN_VALUES && op != HD_OP_ERASE && op != HD_OP_FIND;
    bool reads = op == HD_OP_TOUCH || op == HD_OP_FIND;
    for (uint64_t i = 0; i < n; i++) {
        value_make(o.value + i * m->value_bytes, m->value_bytes, key[i], ~(from + i));
        o.score[i] = p->given->give ? p->given->give(from + i, random) : 1;
    }
    hd_batch b = { .op = op,
                   .n = n,
                   .key = key,
                   .value = writes ? o.value : NULL,
                   .score = scores && p->given->give ? o.score : NULL,
                   .outcome = o.fate,
                   .value_out = reads ? value_out : NULL,
                   .score_out = reads ? score_out : NULL };
    must(test_in_order(t, &b));
    for (uint64_t i = 0; i < n; i++, m->now++) {
        int64_t at = model_find(m, key[i]);
        hd_outcome found = reads               ? HD_HIT
                           : op == HD_OP_ERASE ? HD_ERASED
                                               : HD_UPDATED,
                   want = at == MODEL_NONE ? HD_MISS : found;
        check(o.fate[i] == want, "%s of key %llu: %s instead of %s", hd_op_name(op), (ull)key[i],
              hd_outcome_name((hd_outcome)o.fate[i]), hd_outcome_name(want));
        if (at == MODEL_NONE) continue;
        uint8_t *value = m->value + (uint64_t)at * m->value_bytes;
        if (op == HD_OP_ERASE) {
            model_erase(m, at);
            continue;
        }
        if (reads)
            check(!memcmp(value, value_out + i * m->value_bytes, m->value_bytes), "%s of key %llu: wrong value",
                  hd_op_name(op), (ull)key[i]);
        if (writes) memcpy(value, o.value + i * m->value_bytes, m->value_bytes);
        if (scores) m->score[at] = model_on_hit(m, m->score[at], o.score[i]);
        if (reads)
            check(score_out[i] == m->score[at], "%s of key %llu: score %llu instead of %llu", hd_op_name(op),
                  (ull)key[i], (ull)score_out[i], (ull)m->score[at]);
    }
}

static void run(const plan *p, const shape *s, bool dual, hd_admit admit, bool mixed, const uint64_t *key, uint64_t n)
{
    test_case("hkv.insert_and_evict policy=%s buckets=%llu slots=%u%s admit=%s keys=cloudPhysicsIO scores=%s mixed=%d",
              p->policy, (ull)s->buckets, s->slots, dual ? " dual" : "", admit == HD_ADMIT_ALWAYS ? "always" : "score",
              p->given->name, mixed);
    hd_table *t = test_table(.backend = test_backend("ref"), .policy = p->policy, .capacity = s->buckets * s->slots,
                             .slots = s->slots, .value_bytes = s->value_bytes, .hkv.dual = dual, .hkv.admit = admit,
                             .seed = s->buckets == 7 ? 0x1234567890abcdefu : 0, .threads = 1);
    model m;
    model_open(&m, t);
    uint64_t random = 7, lengths = 11, some;
    for (uint64_t i = 0; i < n; i += some) {
        uint64_t left = EPOCH_REQUESTS - i % EPOCH_REQUESTS; /* the epoch moves between batches */
        some = 1 + test_below(&lengths, MOST);
        if (some > left) some = left;
        if (some > n - i) some = n - i;
        m.epoch = p->epoch(i);
        must(hd_epoch_set(t, m.epoch));
        upserts(t, &m, key + i, some, p, i, &random);
        if (mixed)
            others(t, &m, key + test_below(&lengths, n - some + 1), 1 + test_below(&lengths, some), p, i, &random);
    }
    const char *no = model_compare(&m, t);
    check(!no, "%s", no);
    must(hd_check(t));
    model_close(&m);
    hd_close(t);
}

static void run_all(bool dual, bool mixed)
{
    static const char trace[] = "cloudPhysicsIO.oracleGeneral.zst";
    char spec[4200] = "zipf:0.9,50000"; /* instead, and as long */
    if (test_has_data(trace)) snprintf(spec, sizeof spec, "oracleGeneral:%s", test_data(trace));
    uint64_t n, runs = 0, *key = test_keys(spec, 1, test_some(113872), &n);
    for (size_t p = 0; p < sizeof plans / sizeof plans[0]; p++)
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            for (int admit = HD_ADMIT_SCORE; admit <= HD_ADMIT_ALWAYS; admit++) {
                if (dual && shapes[s].buckets < 2) continue;
                if (mixed && test_scale() == 1 && (p + s + (size_t)admit) % 3) continue; /* a third will do */
                if (!test_takes((p * 16 + s) * 2 + (uint64_t)admit)) continue;
                run(&plans[p], &shapes[s], dual, (hd_admit)admit, mixed, key, n);
                runs++;
            }
    test_tried("differential", runs * n, "requests of %llu runs of %s against the model", (ull)runs,
               test_has_data(trace) ? trace : spec);
    free(key);
}

static void whole_trace(void)
{
    for (int dual = 0; dual < 2; dual++) run_all(dual, false);
}
static void mixed(void)
{
    for (int dual = 0; dual < 2; dual++) run_all(dual, true);
}

/* ---- Flags: what is claimed holds, what is not claimed does not ------------------------------ */

static uint64_t some_u64(uint64_t *random)
{
    switch (test_below(random, 4)) {
    case 0: return test_below(random, 4);
    case 1: return UINT64_MAX - test_below(random, 4);
    case 2: return (uint64_t)UINT32_MAX - 2 + test_below(random, 5);
    default: return test_random(random) >> test_below(random, 64);
    }
}

/* Inputs as a run can produce them: the clock does not go back; score and epoch are the caller's. */
static hd_score_in next_in(uint64_t *random, uint64_t *now)
{
    uint64_t step = some_u64(random);
    *now = *now + step < *now ? UINT64_MAX : *now + step;
    hd_score_in in = { .given = some_u64(random), .now = *now, .tick = *now, .epoch = (uint32_t)some_u64(random) };
    return in;
}

enum { FLAG_CHAINS = 200000 };

static void flags(void)
{
    for (uint32_t p = 0; p < HD_POLICY_COUNT; p++) {
        const hd_policy_row *row = &hd_policy_rows[p];
        uint32_t gone = hd_claims_refuted(p, NULL, UINT32_MAX, FLAG_CHAINS);
        test_case("policy %s", row->name);
        check(!(gone & HD_MONOTONE) == !!(row->flags & HD_MONOTONE), "MONOTONE is %s",
              gone & HD_MONOTONE ? "claimed, and refuted" : "not claimed, and holds");
        check(!(gone & HD_ORDER_FREE) == !!(row->flags & HD_ORDER_FREE), "ORDER_FREE is %s",
              gone & HD_ORDER_FREE ? "claimed, and refuted" : "not claimed, and holds");
        check(!(gone & HD_SCORE_ADMITS) == !!(row->flags & HD_SCORE_ADMITS), "SCORE_ADMITS is %s",
              gone & HD_SCORE_ADMITS ? "claimed, and refuted" : "not claimed, and holds");
        check(!(gone & HD_SCORE_IS_TIME) == !!(row->flags & HD_SCORE_IS_TIME), "SCORE_IS_TIME is %s",
              gone & HD_SCORE_IS_TIME ? "claimed, and refuted" : "not claimed, and holds");
        bool add = !(gone & HD_HITS_ADD) && (gone & HD_ORDER_FREE); /* where hits ignore the old score, none adds */
        check(add == !!(row->flags & HD_HITS_ADD), "HITS_ADD is %s", add ? "not claimed, and holds" : "claimed");
        check(!!(gone & HD_SCORES_USED) == !!(row->flags & HD_SCORES_USED), "SCORES_USED is wrong");
        check((gone & HD_KEEPS_ORDER) == (row->flags & HD_KEEPS_ORDER), "SPARES or READS_LEAST is wrong");
        bool all = (row->flags & HD_KEEPS_ORDER) && !(gone & HD_ADMITS_ALL); /* others are not given the flag */
        check(all == !!(row->flags & HD_ADMITS_ALL), "ADMITS_ALL is wrong");
    }
}

/* SCORES_NEEDED: an insert without scores is the caller's mistake; with it, and for the others, it is not. */
static void scores_needed(void)
{
    for (uint32_t p = 0; p < HD_POLICY_COUNT; p++) {
        hd_config c = test_usual(.backend = test_backend("ref"), .capacity = 64, .slots = 16,
                                 .policy = hd_policy_rows[p].name, .value_bytes = 8);
        test_case("policy %s", c.policy);
        hd_table *t;
        must(hd_open(&c, &t));
        uint64_t key = 1, value = 2, score = 3;
        hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 1, .key = &key, .value = &value };
        if (hd_policy_rows[p].flags & HD_SCORES_NEEDED)
            must_fail(hd_run(t, &b), HD_EINVAL, "score");
        else
            must(hd_run(t, &b));
        b.score = &score;
        must(hd_run(t, &b));
        hd_close(t);
    }
}

/* The three functions themselves, against the model's restatement. */
static void functions(void)
{
    for (uint32_t p = 0; p < HD_POLICY_COUNT; p++) {
        uint64_t random = 3, now = 0;
        model m = { 0 };
        strcpy(m.policy, hd_policy_rows[p].name);
        test_case("policy %s", m.policy);
        if (!model_restates(&m)) {
            test_note("policy %s is stated once: its functions are compared with nothing", m.policy);
            continue;
        }
        for (int i = 0; i < 100000; i++, now = i % 8 ? now : 0) {
            hd_score_in in = next_in(&random, &now);
            uint64_t old = some_u64(&random);
            m.now = in.now;
            m.epoch = in.epoch;
            check(hd_on_insert(p, NULL, in) == model_on_insert(&m, in.given), "on_insert given=%llu now=%llu epoch=%u",
                  (ull)in.given, (ull)in.now, in.epoch);
            check(hd_on_hit(p, NULL, old, in) == model_on_hit(&m, old, in.given),
                  "on_hit old=%llu given=%llu now=%llu epoch=%u", (ull)old, (ull)in.given, (ull)in.now, in.epoch);
        }
    }
}

static const struct CMUnitTest tests[] = { unit(functions), unit(flags), unit(scores_needed), unit(whole_trace),
                                           unit(mixed) };

int main(void) { return test_run(tests); }

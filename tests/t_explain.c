/* SPDX-License-Identifier: Apache-2.0
 *
 * t_explain.c - what `heddle explain` shows of a policy (tools/policy_walk.h) against a model of one or two buckets
 * that takes scores from the judge's rules: every step of every policy and of ten expressions.
 */
#include <inttypes.h>
#include <string.h>

#include "judge/rules.h"
#include "tests/testing.h"
#include "tools/policy_walk.h"

static const char *const expressions[] = {
    "expr:on_insert=given;on_hit=old+given",
    "expr:on_insert=now;on_hit=(old>>1)+(now>>1)",
    "expr:on_insert=now;on_hit=now+1000",
    "expr:on_insert=now>>1;on_hit=(now>>1)+(1<<63);admission=MAX",
    "expr:on_insert=(epoch<<32)+1;on_hit=(epoch<<32)+min((old&0xffffffff)+given,0xffffffff)",
    "expr:on_insert=given;on_hit=min(old+given,20);admission=MAX",
    "expr:on_insert=MAX-now;on_hit=old",
    "expr:on_insert=(now%7)*given;on_hit=old^now;admission=now%11",
    "expr:on_insert=tick;on_hit=old>now?old:now+given",
    "expr:on_insert=0;on_hit=old+1;admission=given>5",
};

/* A table as the contract describes it. */
typedef struct model {
    judge_policy policy;
    uint64_t requests, epoch_every, scores, slots, places;
    bool always;
    policy_entry entry[POLICY_PLACES_MOST];
} model;

static uint64_t place_in(const model *m, uint64_t key)
{
    for (uint64_t i = 0; i < m->places; i++)
        if (m->entry[i].present && m->entry[i].key == key) return i;
    return POLICY_NOWHERE;
}

static uint64_t entries_in(const model *m, uint64_t bucket)
{
    uint64_t n = 0;
    for (uint64_t i = bucket * m->slots; i < (bucket + 1) * m->slots; i++) n += m->entry[i].present;
    return n;
}

static bool same_entries(const model *m, const policy_entry *e)
{
    for (uint64_t i = 0; i < m->places; i++) {
        const policy_entry *a = &m->entry[i];
        if (a->present != e[i].present) return false;
        if (a->present && (a->key != e[i].key || a->score != e[i].score)) return false;
    }
    return true;
}

/* NULL, or what is wrong with what the step says the request was given. */
static const char *input_wrong(const model *m, const policy_step *s)
{
    uint64_t epoch = m->epoch_every ? m->requests / m->epoch_every : 0;
    if (s->request != m->requests) return "the number of the request";
    if (s->in.now != m->requests || s->in.tick != m->requests) return "the clock";
    if (s->in.epoch != epoch) return "the epoch";
    return s->in.given < 1 || s->in.given > (m->scores ? m->scores : 1) ? "the given score" : NULL;
}

static const char *hit_wrong(model *m, const policy_step *s, judge_score_in in, uint64_t at)
{
    if (s->outcome != HD_UPDATED) return "a present key was not updated";
    if (s->compared) return "a hit compares nothing";
    if (s->place != at) return "the entry of a hit moved";
    if (s->old != m->entry[at].score) return "the old score";
    if (s->score != judge_score_hit(&m->policy, s->old, in)) return "the score after the hit";
    m->entry[at].score = s->score;
    return NULL;
}

static const char *insert_wrong(model *m, const policy_step *s)
{
    if (s->outcome != HD_INSERTED) return "there is room, and the key was not inserted";
    if (s->compared) return "an insert into a free slot compares nothing";
    if (s->place >= m->places || m->entry[s->place].present) return "the slot of the new key was not free";
    uint64_t mine = entries_in(m, s->place / m->slots);
    for (uint64_t b = 0; b < m->places / m->slots; b++)
        if (entries_in(m, b) < mine) return "the other bucket has fewer entries (D1)";
    return NULL;
}

static const char *full_wrong(const model *m, const policy_step *s, judge_score_in in)
{
    uint64_t least = UINT64_MAX, admission = judge_admission(&m->policy, in);
    for (uint64_t i = 0; i < m->places; i++) least = m->entry[i].score < least ? m->entry[i].score : least;
    if (!s->compared) return "a full bucket must compare";
    if (s->least != least) return "the least score";
    if (s->admission != admission) return "the admission score";
    if (!m->always && admission < least) return s->outcome == HD_REFUSED ? NULL : "the key should have been refused";
    if (s->outcome != HD_EVICTED) return "an entry should have been evicted";
    if (s->victim_score != least) return "the victim's score is not the least";
    uint64_t victim = place_in(m, s->victim);
    if (victim == POLICY_NOWHERE || m->entry[victim].score != least)
        return "the victim is no entry with the least score";
    if (victim != s->place) return "the new key is not in the victim's slot";
    return s->bucket == victim / m->slots ? NULL : "the victim's bucket";
}

/* NULL, or what is wrong with a step. The model has made the request then. */
static const char *step_wrong(model *m, const policy_step *s)
{
    judge_score_in in = { s->in.given, s->in.now, s->in.tick, s->in.epoch };
    uint64_t at = place_in(m, s->key), used = 0;
    const char *why = input_wrong(m, s);
    if (!why && !same_entries(m, s->before)) why = "the entries before";
    for (uint64_t b = 0; b < m->places / m->slots; b++) used += entries_in(m, b);
    if (!why)
        why = at != POLICY_NOWHERE ? hit_wrong(m, s, in, at)
              : used < m->places   ? insert_wrong(m, s)
                                   : full_wrong(m, s, in);
    if (why) return why;
    if (at == POLICY_NOWHERE && s->score != judge_score_new(&m->policy, in)) return "the score of the new key";
    if (at == POLICY_NOWHERE && s->outcome != HD_REFUSED) m->entry[s->place] = (policy_entry){ true, s->key, s->score };
    if (s->outcome == HD_REFUSED && s->place != POLICY_NOWHERE) return "a refused key is in the table";
    m->requests++;
    return same_entries(m, s->after) ? NULL : "the entries afterwards";
}

static hd_case case_of(const char *policy, bool dual, bool always, uint64_t slots, const char *keys, uint64_t seed)
{
    hd_case c = hd_case_default();
    strcpy(c.op, "insert_and_evict");
    strcpy(c.kernel, "ref");
    strcpy(c.keys, keys);
    strcpy(c.policy, policy);
    c.slots = (uint32_t)slots;
    c.buckets = dual ? 2 : 1;
    c.table.hkv.dual = dual;
    c.table.hkv.admit = always ? HD_ADMIT_ALWAYS : HD_ADMIT_SCORE;
    c.epoch_every = 50;
    c.seed = seed;
    return c;
}

static model model_of(const hd_case *c, uint64_t scores)
{
    model m = { .epoch_every = c->epoch_every, .scores = scores, .slots = c->slots, .places = c->slots * c->buckets };
    m.always = c->table.hkv.admit == HD_ADMIT_ALWAYS;
    check(judge_policy_find(c->policy, &m.policy), "the judge does not know %s", c->policy);
    return m;
}

static uint64_t walk(const hd_case *c, uint64_t scores, uint64_t requests)
{
    model m = model_of(c, scores);
    static policy_walk w;
    policy_step s;
    bool more;
    uint64_t of[HD_OUTCOME_COUNT] = { 0 };
    must(policy_walk_open(&w, c, scores));
    for (uint64_t i = 0; i < requests; i++) {
        must(policy_walk_next(&w, &s, &more));
        check(more, "the source ended at request %" PRIu64, i);
        const char *why = step_wrong(&m, &s);
        check(!why, "request %" PRIu64 ", key %" PRIu64 ": %s", i, s.key, why);
        of[s.outcome]++;
    }
    bool epoch = policy_walk_has_epoch(&w);
    check(epoch == (strstr(c->policy, "epoch") != NULL), "has an epoch part: %d", epoch);
    check(of[HD_UPDATED] && of[HD_INSERTED] && of[HD_EVICTED] + of[HD_REFUSED], "not every outcome came about");
    policy_walk_close(&w);
    return requests;
}

/* Both modes and both ways of admission, with given scores and without. */
static void walk_all_ways(const char *policy)
{
    for (uint64_t way = 0; way < 8; way++) {
        bool dual = way & 1, always = way >> 1 & 1, gives = way >> 2 & 1 || strcmp(policy, "custom") == 0;
        hd_case c = case_of(policy, dual, always, dual ? 3 : 4 + way % 3, way % 3 ? "uniform:11" : "uniform:30", way);
        test_case("policy=%s dual=%d admit=%d scores=%d", policy, dual, always, gives ? 9 : 0);
        uint64_t n = walk(&c, gives ? 9 : 0, test_times(10000));
        test_tried("differential", n, "requests of %s, step by step", policy);
    }
}

static void every_policy_agrees_with_the_model(void **unused)
{
    hd_row row;
    (void)unused;
    for (size_t i = 0; hd_list(HD_POLICIES, i, &row); i++) walk_all_ways(row.name);
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) walk_all_ways(expressions[i]);
}

/* ---- The model objects ----------------------------------------------------------------------- */

static void tell_lie(policy_step *s, unsigned lie)
{
    switch (lie) {
    case 0: s->request++; break;
    case 1: s->in.now++; break;
    case 2: s->in.epoch++; break;
    case 3: s->in.given = 0; break;
    case 4: s->outcome = s->outcome == HD_EVICTED ? HD_INSERTED : HD_EVICTED; break;
    case 5: s->place ^= 1; break;
    case 6: s->score++; break;
    case 7: s->compared = !s->compared; break;
    case 8: s->after = s->before; break;
    case 9: s->old++; break; /* from here on: of some outcomes */
    case 10: s->admission++; break;
    case 11: s->least++; break;
    case 12: s->victim++; break;
    case 13: s->victim_score++; break;
    case 14: s->bucket++; break;
    default: s->outcome = s->outcome == HD_REFUSED ? HD_EVICTED : HD_REFUSED;
    }
}

/* Whether a lie is one of a step with this outcome. */
static bool lie_shows(const policy_step *s, unsigned lie)
{
    bool evicted = s->outcome == HD_EVICTED, refused = s->outcome == HD_REFUSED;
    if (lie == 9) return s->outcome == HD_UPDATED;
    if (lie == 10 || lie == 11 || lie == 15) return s->compared;
    if (lie >= 12 && lie <= 14) return evicted;
    return !refused || (lie != 5 && lie != 8);
}

static void false_steps_are_found(void **unused)
{
    enum { LIES = 16 };
    (void)unused;
    for (unsigned lie = 0; lie < LIES; lie++) {
        hd_case c = case_of("expr:on_insert=given;on_hit=old+given", lie % 2, false, 4, "uniform:16", lie);
        model m = model_of(&c, 9);
        static policy_walk w;
        policy_step s;
        bool more;
        uint64_t told = 0;
        must(policy_walk_open(&w, &c, 9));
        for (uint64_t i = 0; i < 400; i++) {
            must(policy_walk_next(&w, &s, &more));
            model copy = m;
            policy_step altered = s;
            tell_lie(&altered, lie);
            if (lie_shows(&s, lie)) {
                test_case("lie %u, request %" PRIu64, lie, i);
                check(step_wrong(&copy, &altered), "it was believed");
                told++;
            }
            check(!step_wrong(&m, &s), "the truth was not believed");
        }
        check(told, "lie %u was never told", lie);
        policy_walk_close(&w);
    }
}

static void other_tables_are_refused(void **unused)
{
    static policy_walk w;
    (void)unused;
    hd_case c = case_of("lru", false, false, 4, "uniform:8", 1);
    c.buckets = 2;
    must_fail(policy_walk_open(&w, &c, 0), HD_EINVAL, "buckets");
    c = case_of("lru", true, false, 4, "uniform:8", 1);
    c.buckets = 3;
    must_fail(policy_walk_open(&w, &c, 0), HD_EINVAL, "buckets");
    c = case_of("lru", false, false, POLICY_PLACES_MOST + 1, "uniform:8", 1);
    must_fail(policy_walk_open(&w, &c, 0), HD_EINVAL, "slots");
    c = case_of("lru", false, false, 4, "uniform:8", 1);
    c.table.clock = HD_CLOCK_DEVICE;
    must_fail(policy_walk_open(&w, &c, 0), HD_EINVAL, "clock");
    c = case_of("custom", false, false, 4, "uniform:8", 1);
    policy_step s;
    bool more;
    must(policy_walk_open(&w, &c, 0));
    must_fail(policy_walk_next(&w, &s, &more), HD_EINVAL, "score");
    policy_walk_close(&w);
}

static const struct CMUnitTest tests[] = { unit(every_policy_agrees_with_the_model), unit(false_steps_are_found),
                                           unit(other_tables_are_refused) };

int main(void) { return test_run(tests); }

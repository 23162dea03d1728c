/* SPDX-License-Identifier: Apache-2.0
 *
 * t_explain.c - what `heddle explain` shows. A policy (tools/policy_walk.h) against a model of one or two buckets that
 * takes scores from the judge's rules: every step of every policy and of ten expressions. The reference
 * (judge/steps.h): its steps turn the table before an item into the table after it, and fit the outcome.
 */
#include <inttypes.h>
#include <string.h>

#include "judge/design.h"
#include "judge/kernels.h"
#include "judge/rules.h"
#include "judge/steps.h"
#include "policies/expression.h"
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
    "expr:on_insert=least+spared;on_hit=old+1;admission=MAX;on_evict=old+given%3",
    "expr:on_insert=given;on_hit=old+1;admission=given;on_evict=old&1?old+7:old",
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

/* The model spares as long as its least entry is spared. */
static const char *spared_wrong(model *m, const policy_step *s, judge_score_in in)
{
    for (in.spared = 0; in.spared < m->places; in.spared++) {
        uint64_t least = UINT64_MAX;
        for (uint64_t i = 0; i < m->places; i++) least = m->entry[i].score < least ? m->entry[i].score : least;
        uint64_t score = judge_score_spared(&m->policy, least, in);
        if (score <= least) break;
        const policy_spared *x = &s->spare[in.spared]; /* of several with that score, in the order of the buckets */
        if (in.spared >= s->in.spared || m->entry[x->place].score != least || x->before != least || x->after != score)
            return "an entry that is spared";
        m->entry[x->place].score = score;
    }
    return in.spared == s->in.spared ? NULL : "so many entries are not spared";
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
    judge_score_in in = { s->in.given, s->in.now, s->in.tick, s->in.epoch, s->in.spared, s->in.least };
    uint64_t at = place_in(m, s->key), used = 0;
    const char *why = input_wrong(m, s);
    if (!why && !same_entries(m, s->before)) why = "the entries before";
    for (uint64_t b = 0; b < m->places / m->slots; b++) used += entries_in(m, b);
    if (!why)
        why = at != POLICY_NOWHERE ? hit_wrong(m, s, in, at)
              : used < m->places   ? insert_wrong(m, s)
                                   : spared_wrong(m, s, in);
    if (!why && at == POLICY_NOWHERE && used == m->places) why = full_wrong(m, s, in);
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

/* Those with queues are refused. */
static bool has_queues(const char *policy)
{
    hd_policy_use use;
    must(hd_policy_read(policy, &use));
    return use.program.flags & HD_QUEUES;
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
    if (has_queues(policy)) {
        hd_case c = case_of(policy, false, false, 4, "uniform:11", 0);
        static policy_walk w;
        must_fail(policy_walk_open(&w, &c, 0), HD_EINVAL, "has queues");
        return;
    }
    for (uint64_t way = 0; way < 8; way++) {
        bool dual = way & 1, always = way >> 1 & 1, gives = way >> 2 & 1 || strcmp(policy, "custom") == 0;
        hd_case c = case_of(policy, dual, always, dual ? 3 : 4 + way % 3, way % 3 ? "uniform:11" : "uniform:30", way);
        test_case("policy=%s dual=%d admit=%d scores=%d", policy, dual, always, gives ? 9 : 0);
        uint64_t n = walk(&c, gives ? 9 : 0, test_times(10000));
        test_tried("differential", n, "requests of %s, step by step", policy);
    }
}

static void every_policy_agrees_with_the_model(void)
{
    hd_row row;
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

static void false_steps_are_found(void)
{
    enum { LIES = 16 };
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

static void other_tables_are_refused(void)
{
    static policy_walk w;
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

/* ---- Steps of the reference ------------------------------------------------------------------ */

typedef struct scene {
    fixture_kernel kernel;
    fixture *s;
    judge_moment before, after;
    judge_steps t;
} scene;

/* False: no kernel of the design runs the operation on such a table, so there is no fixture. */
static bool scene_open(scene *x, const judge_design *d, hd_case *c, hd_op op)
{
    memset(x, 0, sizeof *x);
    snprintf(c->op, sizeof c->op, "%s", fixture_op_name(op));
    uint32_t row = 0;
    while (fixture_row_name(d, row) && (!fixture_runs(d, row, op) || fixture_unsupported(d, row, c))) row++;
    if (!fixture_row_name(d, row)) return false;
    snprintf(c->kernel, sizeof c->kernel, "%s", fixture_row_name(d, row));
    x->kernel = fixture_kernel_at(d, row, 32, 1);
    const fixture_kernel *const kernels[] = { &x->kernel };
    must(fixture_open(c, kernels, 1, &x->s));
    must(judge_moment_open(&x->before, x->s));
    must(judge_moment_open(&x->after, x->s));
    return true;
}

static void scene_close(scene *x)
{
    judge_steps_close(&x->t);
    judge_moment_close(&x->before);
    judge_moment_close(&x->after);
    fixture_close(x->s);
}

static hd_case scene_case(const judge_design *d, bool dual, uint64_t seed)
{
    hd_case c = hd_case_of(d->name);
    c.slots = d->small.slots;
    c.buckets = 2 + seed % 4;
    c.batch = 12;
    c.batches = 1;
    snprintf(c.keys, sizeof c.keys, "uniform:%u", 12 + (unsigned)(seed % 3) * 40);
    c.table.hkv.dual = dual;
    if (dual && seed % 2) strcpy(c.policy, "lfu");
    if (dual && seed % 5 == 0) strcpy(c.policy, "custom");
    c.duplicate_ppm = 200000;
    c.seed = seed;
    if (d->small.field) must(hd_case_set(&c, d->small.field, d->small.value));
    return c;
}

static const judge_step *step_that(const judge_steps *t, const char *does)
{
    for (uint64_t i = 0; i < t->steps; i++)
        if (strcmp(t->step[i].does, does) == 0) return &t->step[i];
    return NULL;
}

static bool finds_key(const judge_steps *t)
{
    for (uint64_t i = 0; i < t->steps; i++)
        if (strstr(t->step[i].note, "has the key")) return true;
    return false;
}

/* NULL, or what does not fit the outcome of the item. */
static const char *outcome_unsupported(const judge_steps *t, hd_op op, hd_outcome o)
{
    const judge_step *evicts = step_that(t, "evicts"), *admits = step_that(t, "admits");
    bool absent = o == HD_INSERTED || o == HD_EVICTED || o == HD_REFUSED || o == HD_PENDING;
    if (o == HD_RESERVED) return t->steps == 1 ? NULL : "a reserved key has one step";
    if ((o == HD_EVICTED) != (evicts != NULL)) return "evicts";
    if ((o == HD_INSERTED) != (step_that(t, "inserts") != NULL)) return "inserts";
    if ((o == HD_ERASED) != (step_that(t, "removes") != NULL)) return "removes";
    if ((o == HD_REFUSED) != (step_that(t, "refuses") != NULL)) return "refuses";
    if (evicts && (!admits || admits->look != evicts->set[0].place))
        return "the victim is not the one that was compared";
    if (absent && finds_key(t)) return "the search found a key that was absent";
    bool unpinned = op == HD_OP_UNLOCK_KEYS && o == HD_MISS;
    return !absent && !unpinned && finds_key(t) != (o != HD_MISS) ? "what the search found" : NULL;
}

/* False steps: one less, another place, another entry. */
static void find_lies(scene *x, uint64_t i)
{
    char why[STEP_NOTE];
    const judge_design *d = x->s->design;
    for (uint64_t k = 0; k < x->t.steps; k++) {
        judge_step *step = &x->t.step[k], was = *step;
        if (!step->sets) continue;
        step->sets--;
        /* the second half of a move may be what a later step says, too */
        bool told = judge_steps_wrong(&x->t, 0, d, x->before.table, x->after.table, why) != NULL;
        *step = was;
        if (strcmp(step->does, "moves") == 0) continue;
        check(told || strcmp(step->before, step->after) == 0, "item %" PRIu64 ": the step that %s was left out", i,
              step->does);
        if (strcmp(step->does, "removes") == 0) continue; /* of a free slot nothing is compared but that it is free */
        snprintf(step->set[0].entry, sizeof step->set[0].entry, "another");
        check(judge_steps_wrong(&x->t, 0, d, x->before.table, x->after.table, why), "item %" PRIu64 ": another entry",
              i);
        *step = was;
    }
}

static uint64_t tell_items(scene *x, hd_op op, uint64_t *moved)
{
    char why[STEP_NOTE] = "";
    const hd_batch *b = &x->s->part[0].batch;
    for (uint64_t i = 0; i < b->n; i++) {
        judge_moment_after(&x->before, x->s, i);
        judge_moment_after(&x->after, x->s, i + 1);
        x->t.steps = 0;
        must(judge_steps_of_item(&x->t, x->s, i, x->before.table, x->after.table));
        const char *wrong = judge_steps_wrong(&x->t, 0, x->s->design, x->before.table, x->after.table, why);
        check(!wrong, "item %" PRIu64 ": %s", i, wrong);
        wrong = outcome_unsupported(&x->t, b->each ? (hd_op)b->each[i] : op, (hd_outcome)b->outcome[i]);
        check(!wrong, "item %" PRIu64 ", %s: %s", i, hd_outcome_name((hd_outcome)b->outcome[i]), wrong);
        find_lies(x, i);
        for (uint64_t k = 0; k < x->t.steps; k++) *moved += strcmp(x->t.step[k].does, "moves") == 0;
    }
    return b->n;
}

static void steps_are_what_the_reference_did(void)
{
    const judge_design *d;
    uint64_t items = 0, moved = 0;
    for (size_t k = 0; (d = judge_design_at(k)); k++)
        for (int op = 0; op <= JUDGE_MIXED; op++)
            for (uint64_t seed = 1; seed <= test_times(60); seed++)
                for (int dual = 0; dual <= d->dual; dual++) {
                    hd_case c = scene_case(d, dual, seed);
                    scene x;
                    if (d->shifts) continue; /* its changes are not told entry by entry */
                    if ((op == JUDGE_MIXED && !d->mix) || (op != JUDGE_MIXED && !judge_ops[op].keyed)) continue;
                    test_case("%s.%s dual=%d seed=%" PRIu64, d->name, fixture_op_name((hd_op)op), dual, seed);
                    if (scene_open(&x, d, &c, (hd_op)op)) items += tell_items(&x, (hd_op)op, &moved);
                    scene_close(&x);
                }
    check(moved, "no entry moved");
    test_tried("differential", items, "items of the reference, told in steps");
}

static void steps_of_growth(void)
{
    const judge_design *d;
    uint64_t moved = 0;
    char why[STEP_NOTE] = "";
    for (size_t k = 0; (d = judge_design_at(k)); k++)
        for (uint64_t seed = 1; d->resize && seed <= test_times(200); seed++) {
            hd_case c = scene_case(d, false, seed);
            scene x;
            test_case("%s seed=%" PRIu64, d->name, seed);
            check(scene_open(&x, d, &c, HD_OP_INSERT_OR_ASSIGN), "there is no such table");
            judge_moment_after(&x.before, x.s, 0);
            must(fixture_resize(x.s, c.buckets + 1 + seed % 2));
            must(judge_steps_of_change(&x.t, d, x.before.table, x.s->table));
            const char *wrong = judge_steps_wrong(&x.t, 0, d, x.before.table, x.s->table, why);
            check(!wrong, "%s", wrong);
            for (uint64_t i = 0; i < x.t.steps; i++) {
                check(strcmp(x.t.step[i].does, "moves") == 0, "growth %s", x.t.step[i].does);
                moved++;
            }
            scene_close(&x);
        }
    check(moved, "no entry moved");
}

static const struct CMUnitTest tests[] = { unit(every_policy_agrees_with_the_model), unit(false_steps_are_found),
                                           unit(other_tables_are_refused), unit(steps_are_what_the_reference_did),
                                           unit(steps_of_growth) };

int main(void) { return test_run(tests); }

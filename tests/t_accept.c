/* SPDX-License-Identifier: Apache-2.0
 *
 * t_accept.c - the two functions of the reference agree (judge/hkv/apply_vs_accept.h): hkv_accept allows what hkv_apply
 * does, and leaves the same state; it refuses every other result, and changes nothing.
 */
#include <string.h>

#include "judge/hkv/apply_vs_accept.h"
#include "lib/table.h"
#include "tests/testing.h"

static void test_faces(void)
{
    faces_counts n;
    char why[FACES_TEXT];
    faces_search(test_times(400), 300, &n, why);
    check(!why[0], "%s", why);
    test_tried("differential", n.items, "items by both faces of the reference, %llu lies refused", (ull)n.lies);
}

/* A dual choice made on an older state: allowed when asked for, and only then; never one of a third bucket. */
static void test_old_choice(void)
{
    hd_rng g = hd_rng_from(2);
    uint64_t seen_other = 0, full_others = 0, lies = 0;
    for (int n = 0; n < 2000; n++) {
        faces_table t, other;
        char believed[FACES_TEXT];
        faces_make(&t, &g, HD_POLICY_custom);
        if (!t.view.dual) continue;
        hkv_item it = { .op = HD_OP_INSERT_OR_ASSIGN };
        uint64_t value = 0;
        it.value = &value;
        for (uint64_t i = hd_rng_below(&g, 2 * hkv_capacity(&t.view)); i; i--) {
            hkv_seen seen;
            it.key = hd_rng_next(&g) >> 1;
            it.in.given = 1 + hd_rng_below(&g, 1000);
            hkv_apply(&t.view, &it, &seen, NULL);
        }
        it.key = hd_rng_next(&g) >> 1;
        it.in.given = 1001;
        faces_copy(&other, &t);
        hkv_seen here = { HD_MISS, HKV_NOWHERE, 0, false, NULL, 0, 0 };
        hkv_apply(&t.view, &it, &here, NULL);
        uint64_t h = hd_hash(it.key, t.view.seed), first = hd_first_bucket(h, t.view.buckets),
                 second = hd_second_bucket(h, t.view.buckets);
        for (uint64_t e = 0; e < hkv_capacity(&other.view); e++) {
            hkv_seen elsewhere = here;
            bool taken = other.digest[e] != HKV_NO_DIGEST;
            if (e / t.view.slots == first || e / t.view.slots == second || taken != (here.outcome == HD_EVICTED))
                continue;
            elsewhere.entry = e;
            elsewhere.gone_key = taken ? other.key[e] : here.gone_key;
            elsewhere.gone_score = taken ? other.score[e] : here.gone_score;
            check(!faces_lie(&other, &it, &elsewhere, HKV_ANY_CHOICE, "the bucket is no candidate", believed), "%s",
                  believed);
            lies++;
        }
        uint64_t b = here.entry / t.view.slots == first ? second : first;
        hkv_seen there = here;
        there.entry = hkv_entry(&t.view, b, 0);
        uint64_t least = HKV_NOWHERE;
        for (uint64_t e = there.entry; e < there.entry + t.view.slots; e++) {
            if (here.outcome == HD_INSERTED && other.digest[e] == HKV_NO_DIGEST) least = e;
            if (here.outcome == HD_EVICTED && (least == HKV_NOWHERE || other.score[e] < other.score[least])) least = e;
        }
        if (least == HKV_NOWHERE || (here.outcome == HD_EVICTED && other.score[least] == here.gone_score)) continue;
        there.gone_key = other.key[least];
        there.gone_score = other.score[least];
        check(!faces_lie(&other, &it, &there, HKV_EXACT_CHOICE, "the other bucket was to be chosen", believed), "%s",
              believed);
        if (there.outcome == HD_EVICTED) { /* of full buckets the choice is never old */
            check(!faces_lie(&other, &it, &there, HKV_ANY_CHOICE, "the other bucket was to be chosen", believed), "%s",
                  believed);
            full_others++;
            continue;
        }
        const char *why = hkv_accept(&other.view, &it, &there, HKV_ANY_CHOICE);
        check(!why, "the other bucket, %s: %s", hd_outcome_name(there.outcome), why);
        check(hkv_find(&other.view, it.key) / t.view.slots == b, "accepted, but not where it was said to be");
        seen_other++;
    }
    check(seen_other > 100, "only %llu choices had another side", (ull)seen_other);
    check(full_others > 100, "only %llu choices between full buckets had another side", (ull)full_others);
    check(lies > 1000, "only %llu choices of a third bucket", (ull)lies);
    test_note("%llu choices of the other bucket, %llu of a third one", (ull)seen_other, (ull)lies);
}

/* ---- Each lie by its sentence ---------------------------------------------------------------- */

/* Four buckets of two slots, empty; of one candidate each, or two. */
static void make_small(faces_table *t, bool dual)
{
    hd_rng g = hd_rng_from(3);
    faces_make(t, &g, HD_POLICY_custom);
    t->view.dual = dual;
    t->view.buckets = 4;
    t->view.slots = 2;
    t->view.admit_always = 0;
    hkv_clear(&t->view, 1);
}

/* The first key from `from` on whose candidates are buckets 0 and, in dual mode, 1. */
static uint64_t key_of_first(const faces_table *t, uint64_t from)
{
    for (;; from++) {
        uint64_t h = hd_hash(from, t->view.seed);
        if (hd_first_bucket(h, 4) == 0 && (!t->view.dual || hd_second_bucket(h, 4) == 1)) return from;
    }
}

static hkv_item item_of(hd_op op, uint64_t key, uint64_t score)
{
    static const uint64_t value = 7;
    hkv_item it = { .op = op, .key = key, .value = &value, .in.given = score, .holder = 1 };
    return it;
}

/* Entries of bucket b, of these scores; 0: none. Those of odd scores are pinned. */
static void put_in(faces_table *t, uint64_t b, uint64_t score0, uint64_t score1)
{
    const uint64_t score[2] = { score0, score1 };
    for (uint32_t s = 0; s < 2; s++) {
        uint64_t e = hkv_entry(&t->view, b, s), key = key_of_first(t, 1);
        if (score[s] == 0) continue;
        while (hkv_find(&t->view, key) != HKV_NOWHERE) key = key_of_first(t, key + 1);
        t->key[e] = key;
        t->score[e] = score[s];
        t->digest[e] = hd_digest(hd_hash(key, t->view.seed));
        hkv_item pin = item_of(HD_OP_LOCK_KEYS, key, 0);
        hkv_seen seen;
        if (score[s] % 2) hkv_apply(&t->view, &pin, &seen, NULL);
    }
}

static void test_each_lie(void)
{
    enum { ABSENT = -1, RESERVED_KEY = -2, THIRD = 6, UNKNOWN = -3 };
    static const struct {
        bool dual;
        uint64_t score[4], given; /* of buckets 0 and 1; of a new key */
        hd_outcome outcome;
        int entry; /* the slot it took, or the entry it evicted */
        hkv_strictness strictness;
        const char *no; /* NULL: that is how it may have been */
    } told[] = {
        { false, { 3, 5, 0, 0 }, 9, HD_REFUSED, UNKNOWN, HKV_EXACT_CHOICE, NULL }, /* both are pinned */
        { false, { 3, 5, 0, 0 }, 9, HD_INSERTED, 0, HKV_EXACT_CHOICE, "inserted, but there was no room" },
        { false, { 3, 5, 0, 0 }, 9, HD_EVICTED, 0, HKV_EXACT_CHOICE, "evicted, but every entry was pinned" },
        { false, { 2, 4, 0, 0 }, 9, HD_INSERTED, 0, HKV_EXACT_CHOICE, "inserted, but there was no room" },
        { false, { 2, 4, 0, 0 }, 9, HD_EVICTED, ABSENT, HKV_EXACT_CHOICE, "evicted a key that was absent" },
        { false, { 2, 4, 0, 0 }, 9, HD_EVICTED, RESERVED_KEY, HKV_EXACT_CHOICE, "evicted a key that was absent" },
        { false, { 2, 4, 0, 0 }, 9, HD_EVICTED, 0, HKV_EXACT_CHOICE, NULL },
        { false, { 2, 4, 0, 0 }, 9, HD_EVICTED, 1, HKV_EXACT_CHOICE, "whose score was not the least" },
        { false, { 2, 4, 0, 0 }, 1, HD_EVICTED, 0, HKV_EXACT_CHOICE, "should have been refused" },
        { false, { 2, 4, 0, 0 }, 9, HD_REFUSED, UNKNOWN, HKV_EXACT_CHOICE, "the least score was no greater" },
        { false, { 2, 4, 0, 0 }, 9, HD_REFUSED, UNKNOWN, HKV_ANY_CHOICE, "the least score was no greater" },
        { false, { 3, 4, 0, 0 }, 9, HD_EVICTED, 0, HKV_EXACT_CHOICE, "evicted a pinned entry" },
        { false, { 2, 0, 0, 0 }, 9, HD_REFUSED, UNKNOWN, HKV_EXACT_CHOICE, "refused, but there was room" },
        { false, { 2, 0, 0, 0 }, 9, HD_EVICTED, 0, HKV_EXACT_CHOICE, "evicted, but there was room" },
        { false, { 2, 0, 0, 0 }, 9, HD_INSERTED, THIRD, HKV_EXACT_CHOICE, "outside its candidate buckets" },
        { false, { 2, 0, 0, 0 }, 9, HD_INSERTED, UNKNOWN, HKV_EXACT_CHOICE, NULL },
        { false, { 2, 0, 0, 0 }, 9, HD_MISS, UNKNOWN, HKV_EXACT_CHOICE, "the operation inserts" },
        { true, { 2, 0, 0, 0 }, 9, HD_INSERTED, 0, HKV_EXACT_CHOICE, "inserted into the fuller bucket" },
        { true, { 2, 0, 0, 0 }, 9, HD_INSERTED, 0, HKV_ANY_CHOICE, NULL },
        { true, { 2, 0, 0, 0 }, 9, HD_INSERTED, 2, HKV_EXACT_CHOICE, NULL },
        { true, { 2, 0, 0, 0 }, 9, HD_INSERTED, THIRD, HKV_ANY_CHOICE, "outside its candidate buckets" },
        { true, { 2, 4, 0, 0 }, 9, HD_INSERTED, 0, HKV_ANY_CHOICE, "inserted into a full bucket" },
        { true, { 4, 6, 8, 10 }, 7, HD_REFUSED, UNKNOWN, HKV_EXACT_CHOICE, "the least score was no greater" },
        { true, { 4, 6, 8, 10 }, 7, HD_REFUSED, UNKNOWN, HKV_ANY_CHOICE, "the least score was no greater" },
        { true, { 4, 6, 8, 10 }, 9, HD_REFUSED, UNKNOWN, HKV_ANY_CHOICE, "the least score was no greater" },
        { true, { 4, 6, 3, 5 }, 7, HD_REFUSED, UNKNOWN, HKV_EXACT_CHOICE, "the least score was no greater" },
        { true, { 4, 6, 3, 5 }, 7, HD_REFUSED, UNKNOWN, HKV_ANY_CHOICE, "the least score was no greater" },
        { true, { 1, 3, 5, 7 }, 9, HD_REFUSED, UNKNOWN, HKV_EXACT_CHOICE, NULL },
        { true, { 1, 3, 5, 7 }, 9, HD_EVICTED, 0, HKV_ANY_CHOICE, "evicted, but every entry was pinned" },
        { true,
          { 4, 6, 8, 10 },
          9,
          HD_EVICTED,
          2,
          HKV_EXACT_CHOICE,
          "evicted from the bucket that was not to be chosen" },
        { true,
          { 4, 6, 8, 10 },
          9,
          HD_EVICTED,
          2,
          HKV_ANY_CHOICE,
          "evicted from the bucket that was not to be chosen" },
        { true, { 4, 6, 8, 10 }, 9, HD_EVICTED, 0, HKV_EXACT_CHOICE, NULL },
    };
    for (size_t k = 0; k < sizeof told / sizeof *told; k++) {
        faces_table t;
        char why[FACES_TEXT];
        make_small(&t, told[k].dual);
        put_in(&t, 0, told[k].score[0], told[k].score[1]);
        put_in(&t, 1, told[k].score[2], told[k].score[3]);
        hkv_check(&t.view, why, sizeof why);
        check(told[k].dual || !why[0], "%s", why);
        uint64_t key = key_of_first(&t, 5000);
        hkv_item it = item_of(HD_OP_INSERT_OR_ASSIGN, key, told[k].given);
        hkv_seen seen = { told[k].outcome, HKV_NOWHERE, 0, false, NULL, 0, 0 };
        bool evicts = told[k].outcome == HD_EVICTED;
        if (told[k].entry >= 0 && !evicts) seen.entry = (uint64_t)told[k].entry;
        if (told[k].entry >= 0 && evicts)
            seen.gone_key = t.key[told[k].entry], seen.gone_score = t.score[told[k].entry];
        if (told[k].entry == ABSENT) seen.gone_key = key_of_first(&t, 9000);
        if (told[k].entry == RESERVED_KEY) seen.gone_key = HD_KEY_EMPTY;
        test_case("case %d: %s", (int)k, hd_outcome_name(told[k].outcome));
        if (told[k].no) {
            check(!faces_lie(&t, &it, &seen, told[k].strictness, told[k].no, why), "%s", why);
            const char *no = hkv_accept(&t.view, &it, &seen, told[k].strictness);
            check(strstr(no, told[k].no), "told was: '%s'", no);
            continue;
        }
        const char *no = hkv_accept(&t.view, &it, &seen, told[k].strictness);
        check(!no, "%s", no);
        check((hkv_find(&t.view, key) != HKV_NOWHERE) == (told[k].outcome != HD_REFUSED),
              "accepted, but it has not happened");
        check(!evicts || hkv_find(&t.view, seen.gone_key) == HKV_NOWHERE, "who left is still there");
    }
}

/* ---- Invariants ------------------------------------------------------------------------------ */

enum { HERE = 0, ELSEWHERE = 9, HOLDER = 3 }; /* a slot with an entry, a slot without, the holder of the entry's pin */

static uint64_t bound[2];

/* Four buckets of four slots; two entries in the first one, of which the first is pinned. Seed and keys are such that
 * slot 0 is the one's. */
static void make_sound(faces_table *t)
{
    hd_rng g = hd_rng_from(3);
    hkv_seen seen;
    uint64_t value = 0;
    hkv_item it = { .value = &value, .in.given = 5, .holder = HOLDER };
    faces_make(t, &g, HD_POLICY_custom);
    t->view.dual = 0;
    t->view.buckets = 4;
    t->view.slots = 4;
    hkv_clear(&t->view, 1);
    t->view.bound = bound;
    bound[0] = bound[1] = 0;
    for (it.key = 0; t->digest[HERE + 1] == HKV_NO_DIGEST; it.key++) {
        if (hd_first_bucket(hd_hash(it.key, t->view.seed), 4) != 0) continue;
        it.op = HD_OP_INSERT_OR_ASSIGN;
        hkv_apply(&t->view, &it, &seen, NULL);
        it.op = HD_OP_LOCK_KEYS;
        if (t->view.pins == 0) hkv_apply(&t->view, &it, &seen, NULL);
    }
}

static void lose_digest(faces_table *t) { t->digest[HERE] = HKV_NO_DIGEST; }
static void leave_digest(faces_table *t) { t->digest[ELSEWHERE] = 7; }
static void exchange_digest(faces_table *t) { t->digest[HERE] ^= 1; }
static void move_away(faces_table *t)
{
    t->digest[ELSEWHERE] = t->digest[HERE + 1];
    t->key[ELSEWHERE] = t->key[HERE + 1];
    t->digest[HERE + 1] = HKV_NO_DIGEST;
    t->key[HERE + 1] = HD_KEY_EMPTY;
    t->score[HERE + 1] = 0;
}
static void copy_entry(faces_table *t)
{
    t->digest[HERE + 2] = t->digest[HERE];
    t->key[HERE + 2] = t->key[HERE];
}
static void leave_locked(faces_table *t) { t->key[HERE] = HD_KEY_LOCKED; }
static void leave_replaced(faces_table *t) { t->key[HERE] = HKV_KEY_REPLACED; }
static void pin_absent(faces_table *t) { hkv_make_empty(&t->view, HERE); }
static void pin_lost(faces_table *t) { t->holder[HERE] = 0; }
static void pin_uncounted(faces_table *t) { t->view.pins = 2; }
static void pin_misplaced(faces_table *t)
{
    t->holder[ELSEWHERE] = t->holder[HERE];
    t->holder[HERE] = 0;
}
static void leave_score(faces_table *t) { t->score[ELSEWHERE] = 1; }
static void raise_bound(faces_table *t) { (void)t, bound[0] = 1; }
static void repeat_order(faces_table *t)
{
    static uint64_t ghost[4 * 4];
    ghost[1] = hkv_ghost_word(7, 1, 5);
    ghost[3] = hkv_ghost_word(7, 2, 6);
    t->view.ghost = ghost;
}

/* hd_check finds violations: the test breaks each invariant, alone if possible, and hd_check reports its number. */
static void test_invariants(void)
{
    static const struct {
        const char *number;
        void (*broken)(faces_table *);
    } cases[] = { { "HKV-1", lose_digest },    { "HKV-1", leave_digest },  { "HKV-2", exchange_digest },
                  { "HKV-3", move_away },      { "HKV-4", copy_entry },    { "HKV-5", leave_locked },
                  { "HKV-5", leave_replaced }, { "HKV-6", pin_absent },    { "HKV-6", pin_lost },
                  { "HKV-6", pin_uncounted },  { "HKV-6", pin_misplaced }, { "HKV-7", leave_score },
                  { "HKV-8", raise_bound },    { "HKV-9", repeat_order } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        faces_table t;
        char why[256];
        make_sound(&t);
        test_case("case %d: %s", (int)k, cases[k].number);
        hkv_check(&t.view, why, sizeof why);
        check(!why[0], "before it was broken: %s", why);
        cases[k].broken(&t);
        hkv_check(&t.view, why, sizeof why);
        check(strncmp(why, cases[k].number, strlen(cases[k].number)) == 0, "told was: '%s'", why);
    }
}

/* In dual mode an entry may be in either of its buckets, and in no third; and what is reserved is nowhere. */
static void test_homes(void)
{
    for (uint64_t b = 0; b < 4; b++) {
        faces_table t;
        char why[256];
        make_small(&t, true);
        put_in(&t, b, 2, 0);
        test_case("a key of buckets 0 and 1 in bucket %llu", (ull)b);
        hkv_check(&t.view, why, sizeof why);
        check(b < 2 ? !why[0] : strncmp(why, "HKV-3", 5) == 0, "told was: '%s'", why);
        /* to the end of all keys */
        for (uint64_t key = HD_KEY_RESERVED; key; key++)
            check(hkv_find(&t.view, key) == HKV_NOWHERE, "a reserved key was found");
    }
}

/* What the reference's checker says is what hd_check says, whichever part of a table's state is wrong. */
static void test_told_by_the_table(void)
{
    for (int k = 0; k < 2; k++) {
        uint64_t key = 5, value = 6;
        hd_table *t = test_table(.backend = k ? "host" : "ref", .capacity = 64, .slots = 16, .value_bytes = 8);
        must(hd_run(t, &(hd_batch){ .op = HD_OP_INSERT_OR_ASSIGN, .n = 1, .key = &key, .value = &value }));
        must(hd_check(t));
        hkv_view *v = hkv_view_of(k ? *(void **)t->state : t->state); /* the host's state begins with the reference's */
        uint64_t e = hkv_find(v, key);
        check(e != HKV_NOWHERE, "the key is not there");
        v->digest[e] ^= 1;
        must_fail(hd_check(t), HD_ECORRUPT, v->digest[e] ? "HKV-2: the digest is not the key's" : "HKV-1");
        v->digest[e] ^= 1;
        must(hd_check(t));
        hd_close(t);
    }
}

/* ---- Faces that are wrong -------------------------------------------------------------------- */

/* Between apply_vs_accept.c and the reference stand these: the reference's, but for what `between` says. */
typedef struct untruth {
    const char *sentence;                   /* of the search */
    bool refuses;                           /* hkv_accept refuses the truth                         */
    bool (*believes)(const hkv_seen *seen); /* ... approves this lie                               */
    void (*spoils)(hkv_view *v);            /* ... leaves this behind when it approves the truth    */
    void (*touches)(hkv_view *v);           /* ... leaves this behind when it refuses a lie         */
    bool broken;                            /* hkv_check has a sentence                             */
} untruth;

static const untruth *between;
static bool told; /* the truth of the item, to hkv_accept: */
static hd_outcome truth;
static uint64_t victims; /* lies about the evicted entry so far */

void __real_hkv_apply(hkv_view *v, const hkv_item *it, hkv_seen *seen, void *gone_value);
const char *__real_hkv_accept(hkv_view *v, const hkv_item *it, const hkv_seen *seen, hkv_strictness strictness);
void __real_hkv_check(const hkv_view *v, char *why, size_t bytes);
void __wrap_hkv_apply(hkv_view *v, const hkv_item *it, hkv_seen *seen, void *gone_value);
const char *__wrap_hkv_accept(hkv_view *v, const hkv_item *it, const hkv_seen *seen, hkv_strictness strictness);
void __wrap_hkv_check(const hkv_view *v, char *why, size_t bytes);

void __wrap_hkv_apply(hkv_view *v, const hkv_item *it, hkv_seen *seen, void *gone_value)
{
    told = false;
    victims = 0;
    __real_hkv_apply(v, it, seen, gone_value);
}

const char *__wrap_hkv_accept(hkv_view *v, const hkv_item *it, const hkv_seen *seen, hkv_strictness strictness)
{
    bool lie = told;
    if (!lie) truth = seen->outcome;
    told = true;
    if (!between) return __real_hkv_accept(v, it, seen, strictness);
    if (!lie && between->refuses) return "of a whim";
    if (lie && between->believes && between->believes(seen)) return NULL;
    const char *no = __real_hkv_accept(v, it, seen, strictness);
    if (!no && !lie && between->spoils) between->spoils(v);
    if (no && between->touches) between->touches(v);
    return no;
}

void __wrap_hkv_check(const hkv_view *v, char *why, size_t bytes)
{
    __real_hkv_check(v, why, bytes);
    if (between && between->broken) snprintf(why, bytes, "HKV-0: of a whim");
}

static bool other_outcome(const hkv_seen *s) { return s->outcome == HD_REFUSED && !s->score_shown && !s->value; }
static bool of_victim(const hkv_seen *s)
{
    return truth == HD_EVICTED && s->outcome == HD_EVICTED && !s->score_shown && !s->value;
}
static bool other_victim(const hkv_seen *s) { return of_victim(s); }
/* each lie is told twice */
static bool victim_of_other_score(const hkv_seen *s) { return of_victim(s) && ++victims % 2 == 0; }
static bool other_score(const hkv_seen *s) { return s->score_shown; }
static bool other_value(const hkv_seen *s) { return s->value != NULL; }

static uint64_t any_entry(const hkv_view *v)
{
    uint64_t e = 0;
    while (e < hkv_capacity(v) && *hkv_key_at(v, e) >= HD_KEY_RESERVED) e++;
    return e;
}

/* What is done to the first entry, if there is one. */
#define TO_ENTRY(name, act)           \
    static void name(hkv_view *v)     \
    {                                 \
        uint64_t e = any_entry(v);    \
        if (e < hkv_capacity(v)) act; \
    }
TO_ENTRY(spoil_score, ++*hkv_score_at(v, e))
TO_ENTRY(spoil_value, ++*hkv_value(v, e))
TO_ENTRY(spoil_away, hkv_make_empty(v, e))
TO_ENTRY(spoil_key, *hkv_key_at(v, e) ^= 1u << 20)

static void spoil_single(hkv_view *v)
{
    if (!v->dual) spoil_score(v);
}

/* One entry more, in an empty slot. */
static void spoil_more(hkv_view *v)
{
    uint64_t e = 0;
    while (e < hkv_capacity(v) && *hkv_key_at(v, e) != HD_KEY_EMPTY) e++;
    if (e == hkv_capacity(v)) return;
    v->digest[e] = 1;
    *hkv_key_at(v, e) = 1000;
}

/* To another bucket that it may be in. */
static void spoil_place(hkv_view *v)
{
    uint64_t n = hkv_capacity(v);
    for (uint64_t e = 0; v->dual && e < n; e++) {
        uint64_t key = *hkv_key_at(v, e), h = hd_hash(key, v->seed), first = hd_first_bucket(h, v->buckets),
                 second = hd_second_bucket(h, v->buckets);
        if (key >= HD_KEY_RESERVED || hkv_holder_of(v, e)) continue;
        uint64_t b = e / v->slots == first ? second : first;
        for (uint64_t to = hkv_entry(v, b, 0); to < hkv_entry(v, b, 0) + v->slots; to++) {
            if (*hkv_key_at(v, to) != HD_KEY_EMPTY) continue;
            uint64_t score = *hkv_score_at(v, e), value;
            memcpy(&value, hkv_value(v, e), sizeof value);
            uint8_t digest = v->digest[e];
            hkv_make_empty(v, e);
            v->digest[to] = digest;
            *hkv_key_at(v, to) = key;
            *hkv_score_at(v, to) = score;
            memcpy(hkv_value(v, to), &value, sizeof value);
            return;
        }
    }
}

/* Or NULL. */
static uint64_t *any_pin(hkv_view *v)
{
    for (uint64_t e = 0; e < hkv_capacity(v); e++)
        if (v->holder[e]) return &v->holder[e];
    return NULL;
}

static void spoil_holder(hkv_view *v)
{
    uint64_t *p = any_pin(v);
    if (p) *p ^= 4;
}
static void spoil_pin(hkv_view *v) /* of another slot */
{
    uint64_t *p = any_pin(v), holder = p ? *p : 0;
    if (!p) return;
    *p = 0;
    v->holder[((uint64_t)(p - v->holder) + 1) % hkv_capacity(v)] = holder;
}
static void spoil_pins(hkv_view *v) { v->pins++; }
static void touch_digest(hkv_view *v) { v->digest[0] ^= 1; }
static void touch_key(hkv_view *v) { *hkv_key_at(v, 0) ^= 1; }
static void touch_score(hkv_view *v) { *hkv_score_at(v, 0) ^= 1; }
static void touch_value(hkv_view *v) { *hkv_value(v, 0) ^= 1; }
static void touch_pin(hkv_view *v) { v->holder[0] ^= 1; }

static void test_wrong_faces(void)
{
    static const untruth all[] = {
        { .sentence = NULL },
        { .sentence = "was refused: of a whim", .refuses = true },
        { .sentence = "accepted although another outcome was the only one (outcome refused)",
          .believes = other_outcome },
        { .sentence = "accepted although the victim was not the least of the bucket to choose (outcome evicted)",
          .believes = other_victim },
        { .sentence = "accepted although the victim had another score (outcome evicted)",
          .believes = victim_of_other_score },
        { .sentence = "accepted although the score was another", .believes = other_score },
        { .sentence = "accepted although the value was another (outcome hit)", .believes = other_value },
        { .sentence = "accepted, and the states differ", .spoils = spoil_score },
        { .sentence = "single: ", .spoils = spoil_single },
        { .sentence = "accepted, and the states differ", .spoils = spoil_value },
        { .sentence = "accepted, and the states differ", .spoils = spoil_more },
        { .sentence = "accepted, and the states differ", .spoils = spoil_away },
        { .sentence = "accepted, and the states differ", .spoils = spoil_key },
        { .sentence = "accepted, and the states differ", .spoils = spoil_place },
        { .sentence = "accepted, and the states differ", .spoils = spoil_holder },
        { .sentence = "accepted, and the states differ", .spoils = spoil_pin },
        { .sentence = "accepted, and the states differ", .spoils = spoil_pins },
        { .sentence = "refused, and still changed the table (", .touches = touch_digest },
        { .sentence = "refused, and still changed the table (", .touches = touch_key },
        { .sentence = "refused, and still changed the table (", .touches = touch_score },
        { .sentence = "refused, and still changed the table (", .touches = touch_value },
        { .sentence = "refused, and still changed the table (", .touches = touch_pin },
        { .sentence = "refused, and still changed the table (", .touches = spoil_pins },
        { .sentence = "HKV-0: of a whim", .broken = true },
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        faces_counts n;
        char why[FACES_TEXT];
        test_case("wrong face %zu", k);
        between = &all[k];
        faces_search(40, 300, &n, why);
        between = NULL;
        check(all[k].sentence ? strstr(why, all[k].sentence) != NULL : !why[0], "'%s'", why);
        check(!all[k].sentence || (strncmp(why, "table ", 6) == 0 && strstr(why, ", policy ") &&
                                   (strstr(why, "single: ") || strstr(why, "dual: "))),
              "%s", why);
    }
}

static const struct CMUnitTest accept[] = { unit(test_faces),      unit(test_old_choice),        unit(test_each_lie),
                                            unit(test_homes),      unit(test_told_by_the_table), unit(test_invariants),
                                            unit(test_wrong_faces) };

int main(void) { return test_run(accept); }

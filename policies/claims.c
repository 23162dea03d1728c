/* SPDX-License-Identifier: Apache-2.0
 *
 * claims.c - which flags of policy.h a policy has. Kernels rely on flags, so an expression gets one only if it is
 * proven by the rules below, each of which holds for saturating arithmetic.
 */
#include "policies/claims.h"

#include "base/assert.h"
#include "policies/policy.h"

/* ---- Proof: one expression is never above another ---------------------------------------------- */

/* Steps that a proof may take: more would prove few things more. */
enum { PROOF_STEPS = 20000 };

typedef struct proof {
    const hd_nodes *all;
    uint32_t left;
} proof;

static bool not_above(proof *p, uint32_t a, uint32_t b);

/* Whether a is never above b for the form of b: b is at least one of its parts, or lies between parts that are all at
 * least a. */
static bool not_above_parts(proof *p, uint32_t a, const hd_node *b)
{
    const hd_node *node = p->all->node;
    switch (b->operation) {
    case HD_STEP_ADD:
    case HD_STEP_MAX:
    case HD_STEP_OR: return not_above(p, a, b->child[0]) || not_above(p, a, b->child[1]);
    case HD_STEP_MIN: return not_above(p, a, b->child[0]) && not_above(p, a, b->child[1]);
    case HD_STEP_SELECT: return not_above(p, a, b->child[1]) && not_above(p, a, b->child[2]);
    case HD_STEP_MUL:
        return (node[b->child[1]].least > 0 && not_above(p, a, b->child[0])) ||
               (node[b->child[0]].least > 0 && not_above(p, a, b->child[1]));
    case HD_STEP_SHL: return not_above(p, a, b->child[0]);
    default: return false;
    }
}

/* The same for the form of a. */
static bool parts_not_above(proof *p, const hd_node *a, uint32_t b)
{
    const hd_node *node = p->all->node;
    switch (a->operation) {
    case HD_STEP_MIN:
    case HD_STEP_AND: return not_above(p, a->child[0], b) || not_above(p, a->child[1], b);
    case HD_STEP_MAX: return not_above(p, a->child[0], b) && not_above(p, a->child[1], b);
    case HD_STEP_SELECT: return not_above(p, a->child[1], b) && not_above(p, a->child[2], b);
    case HD_STEP_DIV: return node[a->child[1]].least > 0 && not_above(p, a->child[0], b);
    case HD_STEP_SUB:
    case HD_STEP_SHR:
    case HD_STEP_MOD: return not_above(p, a->child[0], b);
    default: return false;
    }
}

static bool not_above(proof *p, uint32_t a, uint32_t b)
{
    if (p->left == 0) return false;
    HD_ASSERT(a < p->all->count && b < p->all->count, "a proof is about what is no node");
    p->left--;
    const hd_node *x = &p->all->node[a], *y = &p->all->node[b];
    return a == b || x->most <= y->least || not_above_parts(p, a, y) || parts_not_above(p, x, b);
}

static bool is_not_above(const hd_nodes *all, uint32_t a, uint32_t b)
{
    proof p = { all, PROOF_STEPS };
    return not_above(&p, a, b);
}

/* ---- Proof: an expression does not fall as time goes on ----------------------------------------- */

enum { TIME_STEADY = 0, TIME_UP = 1, TIME_DOWN = 2, TIME_EITHER = 3 };

static uint32_t turned(uint32_t way) { return way >> 1 | (way & 1) << 1; }

static uint32_t by_time(const hd_nodes *all, uint32_t n);

/* `a ^ MAX` is MAX - a. Other bits make what rises with time go up and down. */
static uint32_t bits_by_time(const hd_nodes *all, const hd_node *n, uint32_t a, uint32_t b)
{
    if (n->operation == HD_STEP_XOR && hd_node_is(all, n->child[1], UINT64_MAX)) return turned(a);
    return a | b ? TIME_EITHER : TIME_STEADY;
}

static uint32_t by_time_of(const hd_nodes *all, const hd_node *n)
{
    uint32_t a = by_time(all, n->child[0]), b = by_time(all, n->child[1]);
    switch (n->operation) {
    case HD_STEP_ADD:
    case HD_STEP_MUL:
    case HD_STEP_MIN:
    case HD_STEP_MAX:
    case HD_STEP_SHL: return a | b;
    case HD_STEP_SUB:
    case HD_STEP_DIV:
    case HD_STEP_SHR: return a | turned(b);
    case HD_STEP_LOG2:
    case HD_STEP_EXP2: return a;
    case HD_STEP_LT:
    case HD_STEP_LE: return turned(a) | b;
    case HD_STEP_SELECT: return a ? TIME_EITHER : b | by_time(all, n->child[2]);
    default: return bits_by_time(all, n, a, b);
    }
}

/* What the expression does if now and tick rise and the other inputs stay. */
static uint32_t by_time(const hd_nodes *all, uint32_t number)
{
    const hd_node *n = &all->node[number];
    bool time = hd_node_reads(all, number, HD_OF_NOW) || hd_node_reads(all, number, HD_OF_TICK);
    if (!time) return TIME_STEADY;
    return n->operation == HD_STEP_LOAD ? TIME_UP : by_time_of(all, n);
}

static bool does_not_fall(const hd_nodes *all, uint32_t n) { return (by_time(all, n) & TIME_DOWN) == 0; }

/* ---- Proof: hits add up ------------------------------------------------------------------------ */

/* The same for all items of a batch: no input but the epoch. */
static bool is_steady(const hd_nodes *all, uint32_t n) { return (all->node[n].reads & ~(1u << HD_OF_EPOCH)) == 0; }

static uint32_t zeros_of(uint64_t x)
{
    uint32_t n = 0;
    while (n < 64 && !(x >> n & 1)) n++;
    return n;
}

/* So many of the lowest bits are 0, whatever the inputs are. Numbers that may be saturated have none. */
static uint32_t low_zeros(const hd_nodes *all, uint32_t number)
{
    const hd_node *n = &all->node[number];
    if (hd_node_is_constant(all, number)) return zeros_of(n->least);
    if (n->operation == HD_STEP_LOAD || n->most == UINT64_MAX) return 0;
    uint32_t a = low_zeros(all, n->child[0]), b = low_zeros(all, n->child[1]), sum = a + b;
    uint64_t by = all->node[n->child[1]].least;
    switch (n->operation) {
    case HD_STEP_ADD:
    case HD_STEP_OR: return a < b ? a : b;
    case HD_STEP_MUL: return sum < 64 ? sum : 64;
    case HD_STEP_SHL: return by < 64 - a ? a + (uint32_t)by : 64;
    default: return 0;
    }
}

/* A hit that counts: `above` and, in the bits below it, min(part + gives, cap). part is `old`, or its lowest bits. */
typedef struct counting {
    uint32_t above, joins; /* 0: nothing is above; joined by HD_STEP_ADD or HD_STEP_OR */
    uint32_t part, gives, cap, bits;
} counting;

/* How many of the lowest bits of `old` n is; 0: something else. */
static uint32_t bits_of_old(const hd_nodes *all, uint32_t number)
{
    const hd_node *n = &all->node[number];
    if (hd_node_is_input(all, number, HD_OF_OLD)) return 64;
    bool mask = n->operation == HD_STEP_AND, mod = n->operation == HD_STEP_MOD;
    if (!(mask || mod) || !hd_node_is_input(all, n->child[0], HD_OF_OLD) || !hd_node_is_constant(all, n->child[1]))
        return 0;
    uint64_t ones = all->node[n->child[1]].least - (mod ? 1 : 0);
    return ones & (ones + 1) ? 0 : zeros_of(ones + 1);
}

/* `given`, a multiple of it, or a constant. */
static bool is_given(const hd_nodes *all, uint32_t number)
{
    const hd_node *n = &all->node[number];
    if (n->operation == HD_STEP_LOAD) return n->of == HD_OF_GIVEN || n->of == HD_OF_CONSTANT;
    return (n->operation == HD_STEP_MUL || n->operation == HD_STEP_SHL) &&
           hd_node_is_input(all, n->child[0], HD_OF_GIVEN) && hd_node_is_constant(all, n->child[1]);
}

/* Whether n is min(part + gives, cap), or part + gives. */
static bool counts_in(const hd_nodes *all, uint32_t number, counting *c)
{
    const hd_node *n = &all->node[number];
    uint64_t most = UINT64_MAX;
    c->cap = 0;
    if (n->operation == HD_STEP_MIN && hd_node_is_constant(all, n->child[1])) {
        c->cap = n->child[1];
        most = all->node[c->cap].least;
        n = &all->node[n->child[0]];
    }
    if (n->operation != HD_STEP_ADD) return false;
    for (int k = 0; k < 2; k++) {
        c->part = n->child[k];
        c->gives = n->child[1 - k];
        c->bits = bits_of_old(all, c->part);
        if (c->bits && is_given(all, c->gives)) return c->bits == 64 || most >> c->bits == 0;
    }
    return false;
}

static bool counts(const hd_nodes *all, uint32_t hit, counting *c)
{
    const hd_node *n = &all->node[hit];
    c->above = c->joins = 0;
    if (counts_in(all, hit, c)) return true;
    if (n->operation != HD_STEP_ADD && n->operation != HD_STEP_OR) return false;
    for (int k = 0; k < 2; k++) {
        uint32_t above = n->child[1 - k];
        if (!is_steady(all, above) || !counts_in(all, n->child[k], c)) continue;
        c->above = above;
        c->joins = n->operation;
        return c->bits < 64 && low_zeros(all, above) >= c->bits;
    }
    return false;
}

/* Whether a second hit changes nothing: old, max(old,1000), old|1. */
static bool is_idempotent(const hd_nodes *all, uint32_t hit)
{
    const hd_node *n = &all->node[hit];
    if (hd_node_is_input(all, hit, HD_OF_OLD)) return true;
    bool may = n->operation == HD_STEP_MIN || n->operation == HD_STEP_MAX || n->operation == HD_STEP_AND ||
               n->operation == HD_STEP_OR;
    return may && ((hd_node_is_input(all, n->child[0], HD_OF_OLD) && is_steady(all, n->child[1])) ||
                   (hd_node_is_input(all, n->child[1], HD_OF_OLD) && is_steady(all, n->child[0])));
}

static bool read_given(const hd_nodes *all, const uint32_t function[])
{
    bool reads = false;
    for (int f = 0; f < HD_FUNCTIONS; f++) reads = reads || hd_node_reads(all, function[f], HD_OF_GIVEN);
    return reads;
}

/* A hit that adds a constant counts hits only if no function reads given scores. */
static bool hits_add(const hd_nodes *all, const uint32_t function[])
{
    counting c;
    uint32_t hit = function[HD_ON_HIT];
    if (is_idempotent(all, hit)) return true;
    return counts(all, hit, &c) && !(hd_node_is_constant(all, c.gives) && read_given(all, function));
}

void hd_claims_count_hits(hd_nodes *all, uint32_t function[])
{
    counting c;
    if (read_given(all, function) || !counts(all, function[HD_ON_HIT], &c)) return;
    uint32_t given = hd_node_input(all, HD_OF_GIVEN), gives = hd_node_binary(all, HD_STEP_MUL, given, c.gives),
             hit = hd_node_binary(all, HD_STEP_ADD, c.part, gives);
    if (c.cap) hit = hd_node_binary(all, HD_STEP_MIN, hit, c.cap);
    if (c.joins) hit = hd_node_binary(all, c.joins, c.above, hit);
    function[HD_ON_HIT] = hit;
}

/* ---- The flags ------------------------------------------------------------------------------- */

/* The node of an input; all->count: no expression reads it. */
static uint32_t node_of(const hd_nodes *all, uint32_t of)
{
    uint32_t n = 0;
    while (n < all->count && !hd_node_is_input(all, n, of)) n++;
    return n;
}

/* A hit never lowers a score, in whatever order items run: on_hit is never below old. */
static bool rises_always(const hd_nodes *all, uint32_t hit)
{
    uint32_t old = node_of(all, HD_OF_OLD);
    return old < all->count ? is_not_above(all, old, hit) : all->node[hit].least == UINT64_MAX;
}

/* A hit never lowers a score, if items run in the order of the clock. on_hit depends on time alone and does not fall;
 * new entries are not above it, so no entry of the table is above what a hit now gives. And it is not below now, so
 * this holds also for scores that are below the clock and that no hit wrote (hd_load). */
static bool rises_by_time(const hd_nodes *all, uint32_t insert, uint32_t hit)
{
    uint32_t times = 1u << HD_OF_NOW | 1u << HD_OF_TICK;
    if (all->node[hit].reads & ~times || !does_not_fall(all, hit) || !is_not_above(all, insert, hit)) return false;
    uint32_t now = node_of(all, HD_OF_NOW);
    return now < all->count && is_not_above(all, now, hit);
}

/* Items of one key run as a group, led by the last of them: no other may have a greater admission score by
 * the time alone. */
static uint32_t group_flags(const hd_nodes *all, const uint32_t function[], uint32_t evicts)
{
    if (evicts & HD_COUNTS) return 0;
    /* what a refused item spared would be seen by the next one of its key */
    if ((evicts & HD_KEEPS_ORDER) && !(evicts & HD_ADMITS_ALL)) return 0;
    if (!does_not_fall(all, function[HD_ADMISSION])) return 0;
    if (hits_add(all, function)) return HD_HITS_ADD;
    return hd_node_reads(all, function[HD_ON_HIT], HD_OF_OLD) ? 0 : HD_ORDER_FREE;
}

static bool takes_logarithms(const hd_nodes *all, const uint32_t function[])
{
    for (int f = 0; f < HD_FUNCTIONS; f++)
        if (all->node[function[f]].reads & HD_NODE_LOGARITHMS) return true;
    return false;
}

static bool reads_counts(const hd_nodes *all, const uint32_t function[])
{
    bool reads = false;
    for (uint32_t of = HD_OF_FREQ; of <= HD_OF_FREQ_RIVAL; of++)
        for (int f = 0; f < HD_FUNCTIONS; f++) reads = reads || hd_node_reads(all, function[f], of);
    return reads;
}

/* Those of on_evict and of what on_insert asks of the bucket. */
static uint32_t evict_flags(const hd_nodes *all, const uint32_t function[])
{
    uint32_t flags = 0;
    uint32_t old = node_of(all, HD_OF_OLD), evict = function[HD_ON_EVICT];
    bool queues = function[HD_UPPER_FIRST] != 0, leaves = evict == old;
    if (!leaves && !queues) leaves = old < all->count ? is_not_above(all, evict, old) : all->node[evict].most == 0;
    if (!leaves) flags |= HD_SPARES;
    if (queues) flags |= HD_QUEUES;
    if (function[HD_REMEMBER] || function[HD_NEXT_STATE]) flags |= HD_REMEMBERS;
    if (reads_counts(all, function)) flags |= HD_COUNTS;
    if (hd_node_reads(all, function[HD_ON_INSERT], HD_OF_LEAST)) flags |= HD_READS_LEAST;
    if (flags && hd_node_is(all, function[HD_ADMISSION], UINT64_MAX)) flags |= HD_ADMITS_ALL;
    return flags || takes_logarithms(all, function) ? flags | HD_COMPILED_APART : 0;
}

uint32_t hd_claims_proven(const hd_nodes *all, const uint32_t function[])
{
    uint32_t insert = function[HD_ON_INSERT], hit = function[HD_ON_HIT], admission = function[HD_ADMISSION];
    uint32_t evicts = evict_flags(all, function), flags = group_flags(all, function, evicts) | evicts;
    /* kernels rely on the order of the clock only then, and a spared entry's score is no time */
    bool ordered = (flags & HD_ORDER_FREE) && !(flags & HD_SPARES);
    if (rises_always(all, hit) || (ordered && rises_by_time(all, insert, hit))) flags |= HD_MONOTONE;
    if (is_not_above(all, admission, insert)) flags |= HD_SCORE_ADMITS;
    if (ordered && hd_node_is_input(all, insert, HD_OF_NOW) && hd_node_is_input(all, hit, HD_OF_NOW))
        flags |= HD_SCORE_IS_TIME;
    if (read_given(all, function)) flags |= HD_SCORES_USED;
    return flags;
}

/* ---- The search for what refutes them ----------------------------------------------------------- */

/* A policy, the flags that are left to refute, the last random number, and the clock. */
typedef struct search {
    uint32_t policy;
    const hd_program *program;
    uint32_t sought;
    uint64_t random, now;
} search;

/* SplitMix64. */
static uint64_t any_u64(search *s)
{
    uint64_t z = s->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Small and large ones, those around 2^32, and those around the constants of the program. */
static uint64_t some_u64(search *s)
{
    uint64_t r = any_u64(s), more = r >> 8;
    switch (r % 5) {
    case 0: return more % 4;
    case 1: return UINT64_MAX - more % 4;
    case 2: return (uint64_t)UINT32_MAX - 2 + more % 5;
    case 3:
        if (s->policy == HD_POLICY_EXPRESSION)
            return s->program->constant[more % HD_PROGRAM_CONSTANTS] + more / 64 % 3 - 1;
        return more % 100;
    default: return any_u64(s) >> more % 64;
    }
}

static bool has_queues(const search *s)
{
    if (s->policy != HD_POLICY_EXPRESSION) return (hd_policy_row_of(s->policy)->flags & HD_QUEUES) != 0;
    return s->program->begin[HD_UPPER_FIRST] < s->program->end[HD_UPPER_FIRST];
}

/* A bucket with queues, as a run can leave it. */
static void some_bucket(search *s, hd_score_in *in)
{
    in->slots = (uint16_t)(2 + any_u64(s) % 1023);
    in->full = any_u64(s) % 4 != 0;
    in->upper = (uint16_t)(any_u64(s) % (in->slots + 1u));
    in->state = some_u64(s);
    in->ghosts1 = (uint16_t)(any_u64(s) % (in->slots + 1u));
    in->ghosts2 = (uint16_t)(any_u64(s) % (in->slots + 1u - in->ghosts1));
    uint64_t list = any_u64(s) % 3;
    in->middle = (uint16_t)(any_u64(s) % (in->slots + 1u - in->upper));
    in->freq = any_u64(s) & 15;
    in->freq_old = any_u64(s) & 15;
    in->freq_rival = any_u64(s) & 15;
    in->ghost = (uint8_t)((list == 1 && in->ghosts1) || (list == 2 && in->ghosts2) ? list : 0);
}

/* Inputs as a run can produce them: the clock does not go back; score and epoch are the caller's. */
static hd_score_in next_in(search *s)
{
    s->now = hd_saturating_add(s->now, some_u64(s));
    HD_ASSERT(s->policy != HD_POLICY_EXPRESSION || s->program, "an expression has a program");
    uint64_t given = some_u64(s);
    hd_score_in in = { .given = given, .now = s->now, .tick = s->now, .epoch = (uint32_t)some_u64(s) };
    bool queues = has_queues(s);
    if (!(s->sought & HD_KEEPS_ORDER) && !queues) return in; /* other searches go the way they went */
    in.spared = (uint16_t)(some_u64(s) % 2049);
    in.least = some_u64(s);
    if (queues) some_bucket(s, &in);
    return in;
}

static uint64_t on_insert(const search *s, hd_score_in in) { return hd_on_insert(s->policy, s->program, in); }
static uint64_t on_hit(const search *s, uint64_t old, hd_score_in in)
{
    return hd_on_hit(s->policy, s->program, old, in);
}
static uint64_t admission(const search *s, hd_score_in in) { return hd_admission(s->policy, s->program, in); }

/* Whether a hit, and a hit that gives `more`, have the effect of one that gives both. */
static bool adds(const search *s, uint64_t old, hd_score_in in, uint64_t more)
{
    hd_score_in other = in, both = in;
    in.given %= 1u << 22;
    other.given = more % (1u << 22);
    other.now += more >> 40; /* of the same epoch, but not of the same time */
    other.tick += more >> 40;
    both.given = in.given + other.given;
    uint64_t once = on_hit(s, old, both);
    return on_hit(s, on_hit(s, old, in), other) == once && on_hit(s, on_hit(s, old, other), in) == once;
}

/* Whether a later item that gives the same has a lower admission score. */
static bool admission_falls(search *s, hd_score_in in)
{
    hd_score_in later = in;
    later.now = later.tick = hd_saturating_add(in.now, some_u64(s));
    return admission(s, later) < admission(s, in);
}

/* Whether an earlier hit shows behind a hit, or any behind one of a newer entry. */
static bool earlier_shows(search *s, uint64_t old, hd_score_in in)
{
    hd_score_in early = in, late = in;
    early.given = some_u64(s);
    early.now = early.tick = in.now >> any_u64(s) % 64;
    late.now = late.tick = hd_saturating_add(in.now, some_u64(s));
    uint64_t insert = on_insert(s, late);
    return on_hit(s, on_hit(s, old, early), in) != on_hit(s, old, in) ||
           on_hit(s, on_hit(s, insert, early), in) != on_hit(s, insert, in) ||
           on_hit(s, on_hit(s, insert, in), early) != on_hit(s, insert, early);
}

static uint64_t queue_function(const search *s, uint32_t function, uint64_t old, hd_score_in in)
{
    return hd_queue_function(s->policy, s->program, function, old, in);
}

/* Whether another item of the key, another bucket, or a later count has what an item that may be refused must not
 * tell. */
static bool refuses_by_item(search *s, hd_score_in in)
{
    if (admission(s, in) == UINT64_MAX) return false;
    hd_score_in other = in, there = in;
    other.given = some_u64(s);
    other.now = other.tick = some_u64(s);
    if (has_queues(s)) some_bucket(s, &there);
    there.least = some_u64(s);
    hd_score_in later = in;
    later.freq = any_u64(s) & 15;
    later.freq_old = any_u64(s) & 15;
    if (has_queues(s) && queue_function(s, HD_UPPER_FIRST, 0, in) != queue_function(s, HD_UPPER_FIRST, 0, later))
        return true;
    return admission(s, in) != admission(s, other) || on_insert(s, in) != on_insert(s, there) ||
           hd_on_evict(s->policy, s->program, in.least, in, has_queues(s)) != in.least;
}

/* Whether given scores matter: with another one, a score differs. */
static bool uses_given(search *s, uint64_t old, hd_score_in in)
{
    hd_score_in other = in;
    other.given = some_u64(s);
    return on_hit(s, old, in) != on_hit(s, old, other) || on_insert(s, in) != on_insert(s, other) ||
           admission(s, in) != admission(s, other);
}

/* Whether a new entry's score depends on what stays. */
static bool reads_least(search *s, hd_score_in in)
{
    hd_score_in other = in;
    other.least = some_u64(s);
    return on_insert(s, in) != on_insert(s, other);
}

/* Whether an answer depends on how often keys came. */
static bool reads_freq(search *s, uint64_t old, hd_score_in in)
{
    hd_score_in other = in;
    other.freq = any_u64(s) & 15;
    other.freq_old = any_u64(s) & 15;
    other.freq_rival = any_u64(s) & 15;
    bool reads =
        admission(s, in) != admission(s, other) || on_insert(s, in) != on_insert(s, other) ||
        hd_on_evict(s->policy, s->program, old, in, true) != hd_on_evict(s->policy, s->program, old, other, true);
    for (uint32_t f = HD_UPPER_FIRST; f < HD_FUNCTIONS; f++)
        reads = reads || queue_function(s, f, old, in) != queue_function(s, f, old, other);
    return reads;
}

/* Of those about what leaves a bucket: what the policy does, and does not say. */
static uint32_t evicts_by(search *s, uint64_t old, hd_score_in in)
{
    uint32_t gone = 0;
    bool queues = has_queues(s);
    if (queues && queue_function(s, HD_UPPER_FIRST, 0, in)) gone |= HD_QUEUES;
    if (queues && (queue_function(s, HD_REMEMBER, old, in) || queue_function(s, HD_NEXT_STATE, 0, in) != in.state))
        gone |= HD_REMEMBERS;
    if (queues && (s->sought & HD_COUNTS) && reads_freq(s, old, in)) gone |= HD_COUNTS;
    if ((s->sought & HD_SPARES) && hd_on_evict(s->policy, s->program, old, in, queues) != old) gone |= HD_SPARES;
    if ((s->sought & HD_READS_LEAST) && reads_least(s, in)) gone |= HD_READS_LEAST;
    if ((s->sought & HD_ADMITS_ALL) && admission(s, in) != UINT64_MAX) gone |= HD_ADMITS_ALL;
    return gone;
}

/* Of the flags that are sought. */
static uint32_t refuted_by(search *s, uint64_t old, hd_score_in in)
{
    uint64_t score = on_hit(s, old, in);
    uint32_t left = s->sought, gone = 0;
    if (score < old) gone |= HD_MONOTONE;
    if ((left & HD_SCORE_ADMITS) && on_insert(s, in) < admission(s, in)) gone |= HD_SCORE_ADMITS;
    if ((left & HD_ORDER_FREE) && score != on_hit(s, some_u64(s), in)) gone |= HD_ORDER_FREE;
    if ((left & (HD_ORDER_FREE | HD_HITS_ADD)) && admission_falls(s, in)) gone |= HD_ORDER_FREE | HD_HITS_ADD;
    if (score != in.now || on_insert(s, in) != in.now) gone |= HD_SCORE_IS_TIME;
    if ((left & HD_HITS_ADD) && !adds(s, old, in, some_u64(s))) gone |= HD_HITS_ADD;
    if ((left & HD_SCORES_USED) && uses_given(s, old, in)) gone |= HD_SCORES_USED;
    if ((left & HD_LATEST_COUNTS) && (earlier_shows(s, old, in) || refuses_by_item(s, in))) gone |= HD_LATEST_COUNTS;
    gone |= evicts_by(s, old, in);
    if (gone & HD_COUNTS) gone |= HD_QUEUES | HD_ORDER_FREE | HD_HITS_ADD; /* each item counts */
    return gone & left;
}

uint32_t hd_claims_refuted(uint32_t policy, const hd_program *program, uint32_t sought, uint32_t chains)
{
    enum { HITS = 4 };
    search s = { policy, program, sought, 5, 0 };
    for (uint32_t i = 0; i < chains && s.sought; i++) {
        s.now = i % 2 ? 0 : some_u64(&s);
        uint64_t old = on_insert(&s, next_in(&s));
        for (int hits = 0; hits < HITS; hits++) {
            hd_score_in in = next_in(&s);
            s.sought &= ~refuted_by(&s, old, in);
            old = on_hit(&s, old, in);
        }
    }
    return sought & ~s.sought;
}

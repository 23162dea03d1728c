/* SPDX-License-Identifier: Apache-2.0
 *
 * policy.h - what a score policy is, and the list of them. Pure functions make the scores
 * (doc/contract-hkv.md; HKV section 3.3 "Scoring policies"):
 *
 *     NAME_on_insert(in)      the score of a new entry
 *     NAME_on_hit(old, in)    the score of an entry that was used
 *     NAME_admission(in)      what a full bucket's least score is held against
 *     NAME_on_evict(old, in)  asked of the entry that is about to leave. If it returns more than `old`, the entry is
 *                             spared: it stays with that score, and the search for the least goes on
 *
 * The entries of a bucket may be queues: the upper one has scores of at least 2^63, the middle one of the others those
 * of at least 2^62, the lower one the rest. And the bucket may remember keys that left, its ghosts, in two lists, and a
 * word, its state; and it may count how often keys come:
 *
 *     NAME_upper_first(in)    the queue that gives up an entry first: 0 the lower one, 1 the upper, 2 the middle
 *     NAME_remember(old, in)  the list, 1 or 2, that the key of the entry that leaves is added to; 0: none
 *     NAME_forget(in)         the list whose oldest key is forgotten before one is added; 0: none
 *     NAME_next_state(in)     the new state
 *
 * A policy is one header that defines the first three and ends in its row, and one line of registry.inc. Or it defines
 * the first four, or all, and on CUDA the kernels are compiled apart for it:
 *
 *     HD_POLICY(name, "what it is", flags)
 *     HD_POLICY_APART(name, "what it is", flags)
 *     HD_POLICY_QUEUES(name, "what it is", flags)
 *
 * The text is shared by the reference, the host machine and CUDA.
 *
 * Or a policy is a text of such expressions (expression.h), compiled to a program (program.h). Its number is
 * HD_POLICY_EXPRESSION, unless a row has the same functions.
 */
#ifndef HD_POLICY_H
#define HD_POLICY_H

#include <string.h>

#include "base/named.h"
#include "policies/program.h"

/* Flags. Claimed ones are verified, unclaimed ones refuted, by tests/t_policies.c. Those of expressions are found
 * (claims.h). */
enum {
    HD_MONOTONE = 1, /* a hit never lowers a score, for inputs that a run can produce in order */
    /* a hit does not read the old score, and the admission score does not fall as the clock goes on */
    HD_ORDER_FREE = 2,
    HD_SCORES_USED = 4,   /* reads the caller's scores, when there are any                          */
    HD_SCORES_NEEDED = 8, /* cannot do without them                                                */
    /* the score of a new entry is never below its admission score, so it is at least the victim's score */
    HD_SCORE_ADMITS = 16,
    /* the score of an insert and of a hit is the clock at the item, so it identifies the item that wrote it */
    HD_SCORE_IS_TIME = 32,
    /* two hits have the effect of one that gives the sum of both, in either order; the admission score does not fall as
     * the clock goes on */
    HD_HITS_ADD = 64,
    HD_SPARES = 128,      /* on_evict spares entries: kernels hold the bucket, and ask it */
    HD_READS_LEAST = 256, /* on_insert reads `least`                                      */
    HD_ADMITS_ALL = 512,  /* the admission score is 2^64 - 1                              */
    /* on CUDA a file of its own compiles the kernels for it: it spares, reads `least`, has queues, takes logarithms */
    HD_COMPILED_APART = 1024,
    HD_QUEUES = 2048,    /* upper_first decides which queue an entry leaves; what on_evict gives may be less than old */
    HD_REMEMBERS = 4096, /* the table has ghosts and states: remember, forget, next_state */
    HD_COUNTS = 8192,    /* it counts keys: a function reads freq, freq_old or freq_rival */
    /* A hit after an earlier one has the effect that it has alone. So have hits of a new entry that are not later than
     * its insert, in any order. All keys are admitted, or admission asks only for counts, nothing is spared, and the
     * score of a new entry is that of its item alone. Not said of policies with HD_ORDER_FREE or HD_HITS_ADD. */
    HD_LATEST_COUNTS = 16384
};

/* What an eviction leaves matters to the next one. */
enum { HD_KEEPS_ORDER = HD_SPARES | HD_READS_LEAST | HD_QUEUES | HD_REMEMBERS | HD_COUNTS };

/* Items of one key can run as a group (gpu/hkv/repeated_keys.h). */
enum { HD_IN_GROUPS = HD_ORDER_FREE | HD_HITS_ADD | HD_LATEST_COUNTS };

#define HD_UPPER_QUEUE  (1ull << 63)
#define HD_MIDDLE_QUEUE (1ull << 62)

/* What upper_first gives, as the bit by which scores are turned: the lowest that is turned leaves first. */
HD_FN uint64_t hd_turn_of(uint64_t first) { return first == 2 ? HD_MIDDLE_QUEUE : first ? HD_UPPER_QUEUE : 0; }

/* The epoch above, 32 bits of score below: any later epoch beats any earlier one. */
HD_FN uint64_t hd_epoch_score(uint32_t epoch, uint32_t low) { return (uint64_t)epoch << 32 | low; }

/* Times of the device's clock in ticks of 2^20 ns, about a millisecond, of which 2^32 take 52 days. Ticks begin at the
 * multiple of 52 days before the table was opened. So the first 2^32 of them are the low 32 bits of ns >> 20, and later
 * ones go on from there. A clock that was set back is at tick 0. */
HD_FN uint64_t hd_tick_of(uint64_t now_ns, uint64_t opened_ns)
{
    uint64_t tick = now_ns >> 20, first = opened_ns >> 52 << 32;
    return tick < first ? 0 : tick - first;
}

/* The tick of a time of the table's clock. opened: of a table with the device's clock; 0: the clock is the logical one,
 * whose times are its ticks. */
HD_FN uint64_t hd_tick_at(uint64_t now, uint64_t opened) { return opened ? hd_tick_of(now, opened) : now; }

/* The tick as a score of the upper queue; as one of the lower queue, of so many bits. */
HD_FN uint64_t hd_upper_tick(hd_score_in in) { return hd_saturating_add(in.tick, HD_UPPER_QUEUE); }
HD_FN uint64_t hd_lower_tick(hd_score_in in, uint32_t bits) { return in.tick >> bits ? (1ull << bits) - 1 : in.tick; }

HD_FN uint32_t hd_saturate32(uint64_t x) { return x > UINT32_MAX ? UINT32_MAX : (uint32_t)x; }

#define HD_POLICY_TEXT
#define HD_POLICY(name, what, flags)
#include "policies/registry.inc"
#undef HD_POLICY
#undef HD_POLICY_TEXT

typedef enum hd_policy {
#define HD_POLICY(name, what, flags) HD_POLICY_##name,
#include "policies/registry.inc"
#undef HD_POLICY
    HD_POLICY_COUNT,
    HD_POLICY_EXPRESSION = HD_POLICY_COUNT, /* the functions are a program's */
    HD_POLICY_UNKNOWN,
    HD_POLICY_LOADED /* the first of those that a program loads from files (lib/loaded.h) */
} hd_policy;

/* A policy of a file, which runs in this process alone: the functions of hd_on_insert and so on. */
typedef struct hd_loaded_policy {
    const char *name, *what;
    uint32_t flags;
    uint64_t (*on_insert)(hd_score_in in);
    uint64_t (*on_hit)(uint64_t old, hd_score_in in);
    uint64_t (*admission)(hd_score_in in);
    uint64_t (*on_evict)(uint64_t old, hd_score_in in); /* NULL: it spares nothing */
    /* NULL: it has no queues, or no ghosts and states. */
    uint64_t (*upper_first)(hd_score_in in);
    uint64_t (*remember)(uint64_t old, hd_score_in in);
    uint64_t (*forget)(hd_score_in in);
    uint64_t (*next_state)(hd_score_in in);
} hd_loaded_policy;

/* A function (HD_ON_INSERT, ...) of such a policy. */
#ifdef __CUDACC__
HD_FN uint64_t hd_loaded_score(uint32_t policy, uint32_t function, uint64_t old, hd_score_in in)
{
    return (void)policy, (void)function, (void)old, (void)in, 0;
}
#else
/* Kernel text of files finds it in the program that loads them (simt/host.map). */
#ifdef __cplusplus
extern "C"
#endif
    __attribute__((visibility("default"))) uint64_t
    hd_loaded_score(uint32_t policy, uint32_t function, uint64_t old, hd_score_in in);
#endif

/* A caller that knows that no table of its has an expression passes NULL: its text then runs no program. */
HD_FN uint64_t hd_run_program(const hd_program *program, uint32_t function, uint64_t old, hd_score_in in)
{
    return program ? hd_program_run(program, function, old, in) : 0;
}

/* Of a policy that is no row: of a file, or of expressions. */
HD_FN uint64_t hd_run_other(uint32_t policy, const hd_program *program, uint32_t function, uint64_t old, hd_score_in in)
{
    if (policy >= HD_POLICY_LOADED) return hd_loaded_score(policy, function, old, in);
    return hd_run_program(program, function, old, in);
}

/* The rows that the functions below can be asked for. */
#ifdef HD_POLICIES_PLAIN
#define HD_POLICY_APART(name, what, flags)
#define HD_POLICY_QUEUES(name, what, flags)
#endif

/* `program` is the table's; it is read where `policy` is HD_POLICY_EXPRESSION. */
HD_FN uint64_t hd_on_insert(uint32_t policy, const hd_program *program, hd_score_in in)
{
    switch (policy) { /* GCOVR_EXCL_BR_LINE */
#define HD_POLICY(name, what, flags) \
    case HD_POLICY_##name:           \
        return name##_on_insert(in);
#include "policies/registry.inc"
#undef HD_POLICY
    default: return hd_run_other(policy, program, HD_ON_INSERT, 0, in);
    }
}

HD_FN uint64_t hd_on_hit(uint32_t policy, const hd_program *program, uint64_t old, hd_score_in in)
{
    switch (policy) { /* GCOVR_EXCL_BR_LINE */
#define HD_POLICY(name, what, flags) \
    case HD_POLICY_##name:           \
        return name##_on_hit(old, in);
#include "policies/registry.inc"
#undef HD_POLICY
    default: return hd_run_other(policy, program, HD_ON_HIT, old, in);
    }
}

HD_FN uint64_t hd_admission(uint32_t policy, const hd_program *program, hd_score_in in)
{
    switch (policy) { /* GCOVR_EXCL_BR_LINE */
#define HD_POLICY(name, what, flags) \
    case HD_POLICY_##name:           \
        return name##_admission(in);
#include "policies/registry.inc"
#undef HD_POLICY
    default: return hd_run_other(policy, program, HD_ADMISSION, 0, in);
    }
}

#undef HD_POLICY_APART
#undef HD_POLICY_QUEUES

/* HD_SPARES: the score with which the entry stays; `old`: it leaves. queues: HD_QUEUES. */
HD_FN uint64_t hd_on_evict(uint32_t policy, const hd_program *program, uint64_t old, hd_score_in in, bool queues)
{
    uint64_t score = old;
    switch (policy) {                /* GCOVR_EXCL_BR_LINE */
#define HD_POLICY(name, what, flags) /* leaves */
#define HD_POLICY_APART(name, what, flags) \
    case HD_POLICY_##name:                 \
        score = name##_on_evict(old, in);  \
        break;
#define HD_POLICY_QUEUES HD_POLICY_APART
#include "policies/registry.inc"
#undef HD_POLICY_QUEUES
#undef HD_POLICY_APART
#undef HD_POLICY
    default: score = policy < HD_POLICY_COUNT ? old : hd_run_other(policy, program, HD_ON_EVICT, old, in); break;
    }
    return score < old && !queues ? old : score;
}

/* HD_QUEUES: what HD_UPPER_FIRST and the functions behind it give. A program may be without them. */
HD_FN uint64_t hd_queue_function(uint32_t policy, const hd_program *program, uint32_t function, uint64_t old,
                                 hd_score_in in)
{
    switch (policy) {                /* GCOVR_EXCL_BR_LINE */
#define HD_POLICY(name, what, flags) /* has none */
#define HD_POLICY_APART(name, what, flags)
#define HD_POLICY_QUEUES(name, what, flags)                            \
    case HD_POLICY_##name:                                             \
        if (function == HD_UPPER_FIRST) return name##_upper_first(in); \
        if (function == HD_REMEMBER) return name##_remember(old, in);  \
        return function == HD_FORGET ? name##_forget(in) : name##_next_state(in);
#include "policies/registry.inc"
#undef HD_POLICY_QUEUES
#undef HD_POLICY_APART
#undef HD_POLICY
    default: break;
    }
    bool lacks = policy < HD_POLICY_LOADED && (!program || program->begin[function] == program->end[function]);
    if (policy < HD_POLICY_COUNT || lacks) return function == HD_NEXT_STATE ? in.state : 0;
    return hd_run_other(policy, program, function, old, in);
}

/* Whether a function of the program reads times. */
static inline bool hd_program_reads_time(const hd_program *p)
{
    bool reads = false;
    for (int f = 0; f < HD_FUNCTIONS; f++)
        for (uint32_t i = p->begin[f]; i < p->end[f]; i++)
            reads = reads || p->step[i] >> 8 == HD_OF_NOW || p->step[i] >> 8 == HD_OF_TICK;
    return reads;
}

/* Whether scores depend on when a batch happens. */
static inline bool hd_policy_reads_time(uint32_t policy, const hd_program *program)
{
    const hd_score_in early = hd_score_in_of(1, 1, 1, 0), late = hd_score_in_of(1, 2, 2, 0);
    if (policy == HD_POLICY_EXPRESSION) return hd_program_reads_time(program);
    return hd_on_insert(policy, NULL, early) != hd_on_insert(policy, NULL, late) ||
           hd_on_hit(policy, NULL, 0, early) != hd_on_hit(policy, NULL, 0, late);
}

/* The same, for an item whose score as a new entry is known. A program often has one function for both. */
HD_FN uint64_t hd_admission_beside(uint32_t policy, const hd_program *program, hd_score_in in, uint64_t inserted)
{
    bool same =
        policy == HD_POLICY_EXPRESSION && program && program->begin[HD_ADMISSION] == program->begin[HD_ON_INSERT];
    HD_ASSERT(inserted == hd_on_insert(policy, program, in), "the score is not that of the item as a new entry");
    return same ? inserted : hd_admission(policy, program, in);
}

/* The rows as data, in the order of hd_policy. */
typedef struct hd_policy_row {
    const char *name, *what;
    uint32_t flags;
} hd_policy_row;

static const hd_policy_row hd_policy_rows[] = {
#define HD_POLICY(name, what, flags)       { #name, what, flags },
#define HD_POLICY_APART(name, what, flags) { #name, what, (flags) | HD_COMPILED_APART },
#define HD_POLICY_QUEUES                   HD_POLICY_APART
#include "policies/registry.inc"
#undef HD_POLICY_QUEUES
#undef HD_POLICY_APART
#undef HD_POLICY
};

/* Row i of all, with those of files behind the others; NULL past the last. And that of a number, of a row or a file. */
const hd_policy_row *hd_policy_at(size_t i);
const hd_policy_row *hd_policy_row_of(uint32_t number);

/* A policy of a file: HD_EINVAL says why it cannot be added. Its flags are tested. */
hd_status hd_policy_load(const hd_loaded_policy *p);
void hd_policy_forget(uint32_t n); /* the last n of them */
/* Its number; HD_POLICY_COUNT: there is none. */
uint32_t hd_loaded_policy_named(const char *name);

/* The number of the row of that name; HD_POLICY_COUNT: there is none. */
static inline uint32_t hd_policy_named(const char *name)
{
    if (strcmp(name, "2q") == 0) name = "twoq"; /* names in C begin with a letter */
    uint32_t row = hd_named_row(hd_policy_rows, sizeof *hd_policy_rows, HD_POLICY_COUNT, name);
    return row < HD_POLICY_COUNT ? row : hd_loaded_policy_named(name);
}

#endif

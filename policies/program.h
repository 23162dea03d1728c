/* SPDX-License-Identifier: Apache-2.0
 *
 * program.h - a policy expression, compiled: steps of an accumulator machine, and the function that runs them. The
 * reference, the host machine and CUDA share this text; policies/expression.c makes the steps.
 *
 * A step is an operation and its operand: an input, a saved value or a constant of the program. The machine has an
 * accumulator and the values that steps read by number: the inputs, and HD_PROGRAM_SAVED places for what waits.
 *
 * Arithmetic is unsigned, of 64 bits, and saturates: doc/contract-hkv.md, "Policy expressions".
 */
#ifndef HD_PROGRAM_H
#define HD_PROGRAM_H

#include "policies/hashes/hash.h"
#include "simt/fn.h"

enum {
    HD_PROGRAM_STEPS = 96,     /* of all functions together */
    HD_PROGRAM_CONSTANTS = 12, /* different ones                  */
    HD_PROGRAM_SAVED = 4,      /* values that wait at a time      */
    HD_PROGRAM_TEXT = 512,     /* bytes of a policy's text and its end */
    HD_PROGRAM_KEPT = 240      /* of one that a file keeps */
};

/* The operations: a binary one replaces the accumulator `a` by the result of a and the operand `x`. The order of these
 * is that of the table in expression.c. */
enum {
    HD_STEP_LOAD,   /* x */
    HD_STEP_SELECT, /* a: x; else the value saved in the place before that of x */
    HD_STEP_ADD,
    HD_STEP_SUB,
    HD_STEP_MUL,
    HD_STEP_DIV,
    HD_STEP_MOD,
    HD_STEP_MIN,
    HD_STEP_MAX,
    HD_STEP_AND,
    HD_STEP_OR,
    HD_STEP_XOR,
    HD_STEP_SHL,
    HD_STEP_SHR,
    HD_STEP_LT,
    HD_STEP_LE,
    HD_STEP_GT,
    HD_STEP_GE,
    HD_STEP_EQ,
    HD_STEP_NE,
    HD_STEP_LOG2, /* of a; x does not matter */
    HD_STEP_EXP2, /* likewise */
    HD_STEP_SAVE  /* and the next HD_PROGRAM_SAVED - 1: saves a in place 0 and so on; x */
};

/* Operands: inputs; HD_PROGRAM_SAVED places; inputs of policies that spare or have queues; the constants. */
enum {
    HD_OF_OLD,
    HD_OF_GIVEN,
    HD_OF_NOW,
    HD_OF_TICK,
    HD_OF_EPOCH,
    HD_OF_SAVED,
    HD_OF_LEAST = HD_OF_SAVED + HD_PROGRAM_SAVED,
    HD_OF_SPARED,
    HD_OF_BUCKET_SLOTS,
    HD_OF_FULL,
    HD_OF_UPPER,
    HD_OF_STATE,
    HD_OF_GHOST,
    HD_OF_GHOSTS1,
    HD_OF_GHOSTS2,
    HD_OF_MIDDLE,
    HD_OF_FREQ,
    HD_OF_FREQ_OLD,
    HD_OF_FREQ_RIVAL,
    HD_OF_CONSTANT
};

/* HD_POLICIES_PLAIN is defined by kernels that no policy with HD_COMPILED_APART runs in (gpu/hkv/spare.h): they need
 * neither its inputs and operations nor its rows. */
#ifdef HD_POLICIES_PLAIN
enum { HD_PROGRAM_VALUES = HD_OF_LEAST };
#define HD_PROGRAM_FN HD_FN
#else
enum { HD_PROGRAM_VALUES = HD_OF_CONSTANT };
#define HD_PROGRAM_FN HD_FN_APART /* each place would have a copy of all of it */
#endif

/* A policy without queues has the first four; of a program, the others may be without steps. */
enum {
    HD_ON_INSERT,
    HD_ON_HIT,
    HD_ADMISSION,
    HD_ON_EVICT,
    HD_UPPER_FIRST,
    HD_REMEMBER,
    HD_FORGET,
    HD_NEXT_STATE,
    HD_FUNCTIONS
};

/* What a policy's functions are given. */
typedef struct hd_score_in {
    uint64_t given; /* the caller's score of the item; 1 when there is none */
    uint64_t now;   /* the table's clock at the item                        */
    uint64_t tick;  /* the same in ticks that 2^32 of last for long: hd_tick_at */
    uint32_t epoch; /* the table's epoch                                    */
    /* Of a policy that asks for them (HD_READS_LEAST, HD_SPARES); else 0. */
    uint16_t spared; /* how many entries this item has spared so far        */
    /* Of a policy with queues, about the bucket that the item's entry comes to; else 0 (HD_QUEUES, HD_REMEMBERS). */
    uint8_t full;   /* 1: an entry must leave; 0: a slot is free           */
    uint8_t ghost;  /* in which list the key is remembered: 1 or 2; 0: in none. on_insert: 4 more, if this item has made
                      the table forget it                                 */
    uint64_t least; /* on_insert: the least score of the entries that stay in the bucket, without pinned ones; 0: none
                         stays                                               */
    uint64_t state; /* what next_state gave last; in all functions but next_state: what it gives now */
    uint16_t slots; /* of a bucket                                         */
    uint16_t upper; /* entries with a score of 2^63 or more, before any was spared */
    uint16_t ghosts1; /* keys that are remembered in list 1                  */
    uint16_t ghosts2; /* and in list 2                                       */
    uint16_t middle;  /* entries with a score of 2^62 to 2^63 - 1, as `upper` */
    /* How often keys came lately, 0 to 15 (HD_COUNTS): the item's, with this time; that of the entry which is asked
     * about or would leave; that of the entry which would leave first among those of the other half, upper or not. */
    uint8_t freq, freq_old, freq_rival;
} hd_score_in;

/* Of an item of which nothing else is known. */
HD_FN hd_score_in hd_score_in_of(uint64_t given, uint64_t now, uint64_t tick, uint32_t epoch)
{
    hd_score_in in;
    in.given = given;
    in.now = now;
    in.tick = tick;
    in.epoch = epoch;
    in.spared = 0;
    in.full = in.ghost = 0;
    in.least = in.state = 0;
    in.slots = in.upper = in.ghosts1 = in.ghosts2 = in.middle = 0;
    in.freq = in.freq_old = in.freq_rival = 0;
    return in;
}

typedef struct hd_program {
    uint64_t constant[HD_PROGRAM_CONSTANTS];
    uint16_t step[HD_PROGRAM_STEPS]; /* operation | operand << 8                           */
    uint8_t begin[HD_FUNCTIONS];     /* function f is the steps [begin[f], end[f])         */
    uint8_t end[HD_FUNCTIONS];       /* equal functions are the same steps                 */
    uint32_t flags;                  /* of the policy: those of its row, or those that were found (claims.h) */
} hd_program;

/* ---- Arithmetic ------------------------------------------------------------------------------ */

HD_FN uint64_t hd_saturating_add(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }
HD_FN uint64_t hd_saturating_sub(uint64_t a, uint64_t b) { return a < b ? 0 : a - b; }

HD_FN uint64_t hd_saturating_mul(uint64_t a, uint64_t b)
{
    if ((a | b) >> 32 == 0) return a * b;
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX), left = (a >> 32) * (b & UINT32_MAX),
             right = (a & UINT32_MAX) * (b >> 32);
    bool over = (a >> 32 && b >> 32) || left >> 32 || right >> 32;
    uint64_t cross = (left << 32) + (right << 32);
    if (over || cross < left << 32) return UINT64_MAX;
    return hd_saturating_add(low, cross);
}

/* a x 2^by. */
HD_FN uint64_t hd_saturating_shl(uint64_t a, uint64_t by)
{
    if (a == 0) return 0;
    return by >= 64 || a << by >> by != a ? UINT64_MAX : a << by;
}
HD_FN uint64_t hd_shr(uint64_t a, uint64_t by) { return by >= 64 ? 0 : a >> by; }

/* A number divided by 0 is above all numbers, and leaves all of itself. */
HD_FN uint64_t hd_div(uint64_t a, uint64_t b) { return b ? a / b : UINT64_MAX; }
HD_FN uint64_t hd_mod(uint64_t a, uint64_t b) { return b ? a % b : a; }

/* Logarithms and powers of two, with 16 bits of fraction: 65536 times the logarithm, rounded down, and the inverse.
 * They are the same on all machines, and do not fall as x rises. log2(0) is 0. */
HD_FN_APART uint64_t hd_log2(uint64_t x)
{
    uint64_t n = 63, fraction = 0;
    if (x == 0) return 0;
    for (uint32_t by = 32; by; by /= 2)
        if (x >> (64 - by) == 0) {
            x <<= by;
            n -= by;
        }
    for (uint32_t bit = 0; bit < 16; bit++) { /* x, in units of 2^63, is squared; its square is in units of 2^62 */
        x = hd_mulhi64(x, x);
        fraction = fraction << 1 | x >> 63;
        if (!(x >> 63)) x <<= 1;
    }
    return n << 16 | fraction;
}

/* The 32 highest bits of the power; at most 2^64 - 1. */
HD_FN_APART uint64_t hd_exp2(uint64_t x)
{
    const uint64_t root[16] = { /* 2^63 times 2 to the power of 2^-16, 2^-15, ... 2^-1 */
                                0x800058b92abbae02u, 0x8000b17292f702a3u, 0x800162e61bed4a48u, 0x8002c5d00fdcfcb6u,
                                0x80058baf7fee3b5du, 0x800b179c82028fd0u, 0x8016302f17467628u, 0x802c6436d0e04f50u,
                                0x8058d7d2d5e5f6b0u, 0x80b1ed4fd999ab6cu, 0x8164d1f3bc030773u, 0x82cd8698ac2ba1d7u,
                                0x85aac367cc487b14u, 0x8b95c1e3ea8bd6e6u, 0x9837f0518db8a96fu, 0xb504f333f9de6484u
    };
    uint64_t n = x >> 16, power = 1ull << 63;
    if (n >= 64) return UINT64_MAX;
    for (uint32_t bit = 0; bit < 16; bit++) { /* without branches: no processor could predict them */
        uint64_t more = hd_mulhi64(power, root[bit]) << 1, set = (uint64_t)0 - (x >> bit & 1);
        power ^= (power ^ more) & set;
    }
    return (power >> 32 << 32) >> (63 - n);
}

/* Of a binary operation. */
HD_FN uint64_t hd_step_result(uint32_t operation, uint64_t a, uint64_t x)
{
    switch (operation) { /* GCOVR_EXCL_BR_LINE: every operation has its case */
    case HD_STEP_ADD: return hd_saturating_add(a, x);
    case HD_STEP_SUB: return hd_saturating_sub(a, x);
    case HD_STEP_MUL: return hd_saturating_mul(a, x);
    case HD_STEP_DIV: return hd_div(a, x);
    case HD_STEP_MOD: return hd_mod(a, x);
    case HD_STEP_MIN: return a < x ? a : x;
    case HD_STEP_MAX: return a < x ? x : a;
    case HD_STEP_AND: return a & x;
    case HD_STEP_OR: return a | x;
    case HD_STEP_XOR: return a ^ x;
    case HD_STEP_SHL: return hd_saturating_shl(a, x);
    case HD_STEP_SHR: return hd_shr(a, x);
    case HD_STEP_LT: return a < x;
    case HD_STEP_LE: return a <= x;
    case HD_STEP_GT: return a > x;
    case HD_STEP_GE: return a >= x;
    case HD_STEP_EQ: return a == x;
    case HD_STEP_NE: return a != x;
#ifndef HD_POLICIES_PLAIN
    case HD_STEP_LOG2: return hd_log2(a);
    case HD_STEP_EXP2: return hd_exp2(a);
#endif
    default: return x;
    }
}

/* ---- The machine ----------------------------------------------------------------------------- */

HD_FN uint64_t hd_operand(const hd_program *p, const uint64_t *value, uint32_t of)
{
    HD_ASSERT(of < HD_OF_CONSTANT + HD_PROGRAM_CONSTANTS, "a step has an operand that the program lacks");
    return of < HD_OF_CONSTANT ? value[of] : p->constant[of - HD_OF_CONSTANT];
}

/* Runs a function of the program. Its first step is a load. On a device all lanes of a warp take the same branches, and
 * the values lie in local memory, where a step finds them by number. */
HD_PROGRAM_FN uint64_t hd_program_run(const hd_program *p, uint32_t function, uint64_t old, hd_score_in in)
{
    uint64_t value[HD_PROGRAM_VALUES];
    value[HD_OF_OLD] = old;
    value[HD_OF_GIVEN] = in.given;
    value[HD_OF_NOW] = in.now;
    value[HD_OF_TICK] = in.tick;
    value[HD_OF_EPOCH] = in.epoch;
#ifndef HD_POLICIES_PLAIN
    value[HD_OF_LEAST] = in.least;
    value[HD_OF_SPARED] = in.spared;
    value[HD_OF_BUCKET_SLOTS] = in.slots;
    value[HD_OF_FULL] = in.full;
    value[HD_OF_UPPER] = in.upper;
    value[HD_OF_STATE] = in.state;
    value[HD_OF_GHOST] = in.ghost;
    value[HD_OF_GHOSTS1] = in.ghosts1;
    value[HD_OF_GHOSTS2] = in.ghosts2;
    value[HD_OF_MIDDLE] = in.middle;
    value[HD_OF_FREQ] = in.freq;
    value[HD_OF_FREQ_OLD] = in.freq_old;
    value[HD_OF_FREQ_RIVAL] = in.freq_rival;
#endif
    uint32_t i = p->begin[function], end = p->end[function];
    HD_ASSERT(i < end && end <= HD_PROGRAM_STEPS, "a function has no steps");
    HD_ASSERT((p->step[i] & 255u) == HD_STEP_LOAD, "the first step is a load");
    uint64_t a = hd_operand(p, value, (uint32_t)p->step[i] >> 8);
    while (++i < end) {
        uint32_t operation = p->step[i] & 255u, of = (uint32_t)p->step[i] >> 8;
        uint64_t x = hd_operand(p, value, of);
        if (operation >= HD_STEP_ADD && operation < HD_STEP_SAVE) {
            a = hd_step_result(operation, a, x);
            continue;
        }
        HD_ASSERT(operation < HD_STEP_SAVE + HD_PROGRAM_SAVED, "a value is saved where there is no place");
        HD_ASSERT(operation != HD_STEP_SELECT || (of > HD_OF_SAVED && of < HD_OF_CONSTANT), "two values are saved");
        if (operation >= HD_STEP_SAVE) value[HD_OF_SAVED + operation - HD_STEP_SAVE] = a;
        a = operation == HD_STEP_SELECT && a == 0 ? value[of - 1] : x;
    }
    return a;
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * draw.h - the batches of a point, item by item: keys, values, and the check of an answer. The same code is compiled
 * for a device's kernels and for loops on this machine.
 *
 * A key is a scrambled number. Successive numbers give new keys; in a design with few possible keys, until all are
 * used. Hits are keys of a list, in a pseudo-random order without repetition, so a batch is distinct by construction.
 *
 * A value is computed from its key, word by word, and from a generation, its first byte. So a value shows whether it
 * belongs to its key, whether all of it was written at once, and when.
 */
#ifndef HD_BENCH_DRAW_H
#define HD_BENCH_DRAW_H

#include "heddle.h"
#include "policies/hashes/hash.h"
#include "workload/zipf.h"

/* ---- Order without repetition ---------------------------------------------------------------- */

/* A permutation of 0 to n - 1: four rounds of Feistel's over the next even power of two, and on along its cycle while
 * the result is n or more. */
typedef struct bench_order {
    uint64_t n, seed;
    uint32_t half; /* bits of each half */
} bench_order;

HD_FN bench_order bench_order_of(uint64_t n, uint64_t seed)
{
    bench_order o = { n, seed, 1 };
    while (o.half < 32 && 1ull << 2 * o.half < n) o.half++;
    return o;
}

HD_FN uint64_t bench_ordered(const bench_order *o, uint64_t i)
{
    uint64_t mask = (1ull << o->half) - 1;
    do {
        uint64_t left = i >> o->half, right = i & mask;
        for (uint32_t round = 0; round < 4; round++) {
            uint64_t mixed = left ^ (hd_mix64(o->seed + HD_GOLDEN * (right << 2 | round)) & mask);
            left = right;
            right = mixed;
        }
        i = left << o->half | right;
    } while (i >= o->n);
    return i;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/* Of all keys that a design holds, those below `keys`; of none where they do not run out: any of 64 bits. */
HD_FN bench_order bench_names_of(uint64_t keys)
{
    bench_order none = { 0, 0, 0 };
    return keys >> 62 ? none : bench_order_of(keys, 1);
}

HD_FN uint64_t bench_name(const bench_order *names, uint64_t number)
{
    return names->n ? bench_ordered(names, number % names->n) : hd_scramble(number);
}

typedef struct bench_draw {
    uint64_t n, hits;        /* items of the batch, and of them keys of the list       */
    uint64_t fresh;          /* the others are keys number fresh, fresh + 1, ...       */
    bench_order names;       /* bench_names_of */
    const uint64_t *present; /* (presents) */
    uint64_t presents, at;   /* hits are numbers at, at + 1, ... of its order          */
    bench_order items, list; /* of n and of presents                                   */
    bool skewed;             /* instead: ranks of `law`; hits of n of the items on average draw from the list */
    hd_zipf law;             /* over presents, or more: ranks that the list has not are fresh keys */
    uint64_t seed;
} bench_draw;

HD_FN uint64_t bench_skewed_key(const bench_draw *d, uint64_t i)
{
    hd_rng chance = hd_rng_from(d->seed + i);
    uint64_t rank = hd_zipf_rank(&d->law, &chance) - 1;
    if (rank >= d->presents || hd_rng_below(&chance, d->n) >= d->hits) return bench_name(&d->names, d->fresh + rank);
    return d->present[bench_ordered(&d->list, rank)];
}

HD_FN uint64_t bench_key(const bench_draw *d, uint64_t i)
{
    if (d->skewed) return bench_skewed_key(d, i);
    uint64_t r = bench_ordered(&d->items, i);
    if (r >= d->hits) return bench_name(&d->names, d->fresh + r - d->hits);
    return d->present[bench_ordered(&d->list, (d->at + r) % d->presents)];
}

/* ---- Scores ---------------------------------------------------------------------------------- */

/* A caller's score of item i: higher than all of an earlier batch; those of one batch are in no order. */
HD_FN uint64_t bench_score(uint64_t batch, uint64_t i)
{
    return batch << 32 | (hd_mix64(batch * HD_GOLDEN + i) & UINT32_MAX);
}

/* ---- Mixed batches --------------------------------------------------------------------------- */

/* Half of its items insert keys that are not there; three tenths look, two tenths erase, and of those as many find
 * their keys as are drawn from the list, in the same proportion. */
typedef struct bench_mix {
    uint64_t n, hits;  /* n 0: none is mixed */
    bench_order items; /* as the drawing has it */
} bench_mix;

HD_FN uint64_t bench_mixed_inserts(uint64_t n) { return n - n / 2; }
HD_FN uint64_t bench_mixed_erases(uint64_t others) { return others * 2 / 5; }

HD_FN bench_mix bench_mix_of(const bench_draw *d)
{
    bench_mix m = { d->n, d->hits, d->items };
    return m;
}

/* Item i: hd_op, and what becomes of it in a table that has room (hd_outcome). */
HD_FN uint8_t bench_mixed_op(const bench_mix *m, uint64_t i, uint8_t *fate)
{
    uint64_t r = bench_ordered(&m->items, i), others = m->n - bench_mixed_inserts(m->n);
    bool there = r < m->hits, erases = there ? r < bench_mixed_erases(m->hits)
                                             : r - m->hits < bench_mixed_erases(others) - bench_mixed_erases(m->hits);
    if (r >= others) return *fate = HD_INSERTED, (uint8_t)HD_OP_INSERT_OR_ASSIGN;
    *fate = (uint8_t)(!there ? HD_MISS : erases ? HD_ERASED : HD_HIT);
    return (uint8_t)(erases ? HD_OP_ERASE : HD_OP_FIND);
}

/* ---- Values ---------------------------------------------------------------------------------- */

enum { BENCH_ANY = 0x100 /* generation */ };

HD_FN uint32_t bench_word(uint64_t key, uint32_t generation, uint32_t w)
{
    uint32_t mixed = (uint32_t)hd_mix64(key ^ (uint64_t)(generation + 1) << 32 ^ w * HD_GOLDEN);
    return w ? mixed : (mixed & ~0xffu) | generation;
}

/* A value is a whole number of words of 32 bits. */
HD_FN void bench_value(uint64_t key, uint32_t generation, uint32_t words, uint32_t *value)
{
    for (uint32_t w = 0; w < words; w++) value[w] = bench_word(key, generation, w);
}

typedef enum bench_value_is { BENCH_RIGHT, BENCH_WRONG, BENCH_ZERO } bench_value_is;

HD_FN bench_value_is bench_value_of(uint64_t key, uint32_t generation, uint32_t words, const uint32_t *value)
{
    uint32_t differ = 0, any = 0, is = generation;
    if (words && generation == BENCH_ANY) is = value[0] & 0xff;
    for (uint32_t w = 0; w < words; w++) {
        differ |= value[w] ^ bench_word(key, is, w);
        any |= value[w];
    }
    return !differ ? BENCH_RIGHT : any ? BENCH_WRONG : BENCH_ZERO;
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* The arrays of a batch that ran. Values are checked where the outcome is one of `of`, a bit each; without outcomes,
 * all values. */
typedef struct bench_answers {
    uint64_t n;
    const uint64_t *key;
    const uint8_t *outcome; /* NULL: none */
    const void *value;      /* (n, words); NULL: none */
    void *const *ptr;       /* (n) instead, into the table; NULL: none */
    const uint64_t *score;  /* (n); NULL: none */
    uint64_t score_least;
    uint32_t words, generation; /* BENCH_ANY */
    uint32_t of;
    bench_mix mix; /* of a mixed batch: what its outcomes should be */
} bench_answers;

enum { BENCH_TOLD_VALUES = HD_OUTCOME_COUNT, BENCH_TOLD_OLD = BENCH_TOLD_VALUES + 3, BENCH_TOLD_ODD, BENCH_TOLD };

/* Counts: items by outcome; values by bench_value_is; scores below score_least; items of a mixed batch with a wrong
 * outcome, except PENDING ones. */
typedef struct bench_told {
    uint64_t count[BENCH_TOLD];
} bench_told;

/* What item i adds 1 to: up to four numbers of count[], told in word[]; returns how many. */
HD_FN uint32_t bench_answer(const bench_answers *a, uint64_t i, uint32_t word[4])
{
    uint32_t words = 0, outcome = HD_HIT;
    if (a->outcome) {
        outcome = a->outcome[i] < HD_OUTCOME_COUNT ? a->outcome[i] : 0u + HD_OUTCOME_COUNT - 1;
        word[words++] = outcome;
        if (a->mix.n) {
            uint8_t fate;
            bench_mixed_op(&a->mix, i, &fate);
            if (outcome != fate && !(fate == HD_INSERTED && outcome == HD_PENDING)) word[words++] = BENCH_TOLD_ODD;
        }
        if (!(a->of >> outcome & 1)) return words;
    }
    const uint32_t *value = (const uint32_t *)a->value;
    if (value) value += i * a->words;
    if (a->ptr) value = (const uint32_t *)a->ptr[i];
    if (value)
        word[words++] = 0u + BENCH_TOLD_VALUES + bench_value_of(a->key[i], a->generation, a->words, value);
    else if (a->ptr)
        word[words++] = 0u + BENCH_TOLD_VALUES + BENCH_WRONG;
    if (a->score && a->score[i] < a->score_least) word[words++] = BENCH_TOLD_OLD;
    return words;
}

#endif

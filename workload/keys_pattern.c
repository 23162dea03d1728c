/* SPDX-License-Identifier: Apache-2.0
 *
 * keys_pattern.c - eight sequences of keys that differ in how near successive keys are to each other (Patel, Sarkar,
 * Biswas, Chaudhuri: Designing GPU Data Structures for Efficient Memory Oversubscription, OOPSLA 2026, Table 2).
 *
 *     pattern:KIND,LENGTH[,range=RANGE][,block=N]
 *
 * KIND is a row of the table below, LENGTH the number of requests of the sequence, which then begins again. A sequence
 * is cut into blocks of N requests (default 500,000,000, as in the paper). The keys of a dense kind are among 1 to
 * LENGTH. Those of a sparse kind are among 1 to RANGE: `sparse` is 2^32 - 2, every key of 32 bits that the paper
 * allows, and the default; `artifact` is 4,000,000,000, the range of the authors' generators; or a number. Their
 * sequences of 4,000,000,000 requests are therefore as dense as the dense ones.
 *
 * A kind with repeats has, in each block, a fifth of requests whose key is a random one of the block's other requests;
 * all other keys of a sequence are different. Request i is computed from i and the seed: the order of a block, and the
 * keys of its range that it has, are permutations.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "workload/rng.h"
#include "workload/workload.h"

/* ---- The kinds ------------------------------------------------------------------------------- */

typedef enum key_order { ASCENDING, ZIGZAG /* least, greatest, next to least ... */, RANDOM } key_order;

typedef struct key_kind {
    const char *name;
    key_order order; /* of all keys; RANDOM: within a block            */
    unsigned blocks; /* a block is so many times N; 0: the sequence is one */
    bool dense;      /* the range is the sequence's length, else RANGE  */
    bool repeats;    /* a fifth of the requests                         */
    bool shuffled;   /* the blocks of the range come in random order    */
} key_kind;

static const key_kind kinds[] = {
    { "mi", ASCENDING, 0, true, false, false }, /* monotonically increasing                                */
    { "du", RANDOM, 1, true, false, false },    /* dense, unique                                           */
    { "dr", RANDOM, 1, true, true, false },     /* dense, repeats                                          */
    { "su", RANDOM, 0, false, false, false },   /* sparse, unique                                          */
    { "sr", RANDOM, 0, false, true, false },    /* sparse, repeats                                         */
    { "sur", RANDOM, 1, false, false, true },   /* sparse, unique, each block from a part of the range     */
    { "dul", RANDOM, 2, true, false, false },   /* as du, in larger blocks; LENGTH is rounded up to whole blocks */
    { "zz", ZIGZAG, 0, false, false, false },   /* 1, RANGE, 2, RANGE - 1 ...                              */
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static hd_status kind_find(const char *text, const key_kind **k)
{
    char all[64] = "";
    for (size_t i = 0; i < KINDS; i++) {
        if (strcmp(kinds[i].name, text) == 0) {
            *k = &kinds[i];
            return HD_OK;
        }
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", kinds[i].name);
    }
    return hd_fail(HD_EINVAL, "KIND: '%.60s' is none of %s", text, all);
}

/* ---- Permutations of 0 to n - 1 -------------------------------------------------------------- */

/* A Feistel network over the bits of n - 1, whose two halves differ by at most a bit: a bijection of the numbers below
 * a power of two, which is less than 2 n. A result from n on is permuted again, as in format-preserving encryption.
 * `key`, a random word, chooses the permutation. */
static uint64_t permuted(uint64_t key, uint64_t n, uint64_t i)
{
    enum { ROUNDS = 6 };
    if (n <= 1) return 0;
    const unsigned bits = 64 - (unsigned)__builtin_clzll(n - 1), low = bits / 2;
    const uint64_t low_mask = (1ull << low) - 1, high_mask = (1ull << (bits - low)) - 1;
    do {
        uint64_t right = i & low_mask, left = i >> low;
        for (uint64_t round = 0; round < ROUNDS; round += 2) {
            left ^= hd_avalanche(key + (round << 60) + right) & high_mask;
            right ^= hd_avalanche(key + ((round + 1) << 60) + left) & low_mask;
        }
        i = left << low | right;
    } while (i >= n);
    return i;
}

/* ---- The sequence ---------------------------------------------------------------------------- */

typedef struct pattern {
    hd_source source;
    const key_kind *kind;
    uint64_t seed, length, at;
    uint64_t block, blocks; /* requests of a block; how many blocks */
    uint64_t range, width;  /* keys; those of a block of the range  */
} pattern;

typedef enum chance { OF_BLOCKS, OF_REQUESTS, OF_KEYS, OF_REPEATS } chance;

/* A random word for each use, and block or request. */
static uint64_t chance_of(const pattern *p, chance use, uint64_t i)
{
    return hd_avalanche(hd_avalanche(p->seed + ((uint64_t)use + 1) * HD_GOLDEN) + i * HD_GOLDEN);
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t repeats_of(const pattern *p, uint64_t requests) { return p->kind->repeats ? requests / 5 : 0; }

static uint64_t random_key(const pattern *p, uint64_t i)
{
    __extension__ typedef unsigned __int128 wide;
    const uint64_t block = i / p->block, first = block * p->block, requests = least(p->block, p->length - first);
    const uint64_t distinct = requests - repeats_of(p, requests);
    const uint64_t part = p->kind->shuffled ? permuted(chance_of(p, OF_BLOCKS, 0), p->blocks, block) : block;
    const uint64_t keys = least(p->width, p->range - part * p->width);
    uint64_t which = i - first;
    if (distinct < requests) {
        which = permuted(chance_of(p, OF_REQUESTS, block), requests, which);
        if (which >= distinct) which = (uint64_t)((wide)chance_of(p, OF_REPEATS, i) * distinct >> 64);
    }
    return 1 + part * p->width + permuted(chance_of(p, OF_KEYS, block), keys, which);
}

static uint64_t key_at(const pattern *p, uint64_t i)
{
    switch (p->kind->order) {
    case ASCENDING: return 1 + i;
    case ZIGZAG: return i % 2 ? p->range - i / 2 : 1 + i / 2;
    default: return random_key(p, i);
    }
}

static hd_status pattern_next(hd_source *s, hd_request *r, size_t max, size_t *got)
{
    pattern *p = (pattern *)s;
    for (size_t i = 0; i < max; i++, p->at = p->at + 1 < p->length ? p->at + 1 : 0)
        r[i] = (hd_request){ .key = key_at(p, p->at), .size = 1, .verb = HD_READ };
    *got = max;
    return HD_OK;
}

static void pattern_close(hd_source *s) { hd_give(s->seams, s, 1, sizeof(pattern)); }

/* ---- Its arguments --------------------------------------------------------------------------- */

static hd_status range_read(const char *text, uint64_t *range)
{
    *range = strcmp(text, "artifact") ? UINT32_MAX - 1u : 4000000000u;
    if (strcmp(text, "artifact") == 0 || strcmp(text, "sparse") == 0) return HD_OK;
    return hd_parse_u64("range", text, 1, HD_KEY_RESERVED - 1, range);
}

/* Blocks and parts of the range of a sequence whose other members are there. `block` is the option. */
static hd_status parts_set(pattern *p, uint64_t block)
{
    p->block = p->kind->blocks ? p->kind->blocks * block : p->length;
    p->blocks = (p->length - 1) / p->block + 1;
    if (p->kind->dense) p->range = p->kind->blocks == 2 ? p->blocks * p->block : p->length;
    p->width = p->kind->dense ? p->block : p->range / p->blocks;
    if (p->width < least(p->block, p->length))
        return hd_fail(HD_EINVAL,
                       "range: %" PRIu64 " keys in %" PRIu64 " parts are too few for blocks of %" PRIu64 " requests",
                       p->range, p->blocks, p->block);
    return HD_OK;
}

static hd_status pattern_open(const hd_source_args *a, hd_source **s)
{
    enum { LONGEST = 62 }; /* bits of a length; of a block one less: what is rounded up is no reserved key */
    static const char *const known[] = { "range", "block", NULL };
    pattern p = { .source = { .next = pattern_next, .close = pattern_close }, .seed = a->seed };
    uint64_t block = 0;
    hd_status e = hd_source_shape(a, 2, known);
    if (!e) e = kind_find(a->arg[0], &p.kind);
    if (!e) e = hd_parse_u64("LENGTH", a->arg[1], 1, 1ull << LONGEST, &p.length);
    if (!e) e = range_read(hd_source_option(a, "range", "sparse"), &p.range);
    if (!e) e = hd_parse_u64("block", hd_source_option(a, "block", "500000000"), 1, 1ull << (LONGEST - 1), &block);
    if (!e) e = parts_set(&p, block);
    if (e) return e;
    const uint64_t whole = p.length / p.block, rest = p.length % p.block;
    p.source.keys = whole * (p.block - repeats_of(&p, p.block)) + rest - repeats_of(&p, rest);
    e = hd_source_take(a, "pattern keys", sizeof p, &p.source, s);
    if (e) return e;
    p.source = **s;
    *(pattern *)*s = p;
    return HD_OK;
}

const hd_source_row hd_workload_pattern = { "pattern", "sequences that differ in how near successive keys are",
                                            "pattern:KIND,LENGTH[,range=RANGE][,block=N]", false, pattern_open };

/* SPDX-License-Identifier: Apache-2.0
 *
 * model_counts.c - what the model counts of keys (doc/contract-hkv.md, "Policies that count keys"): an array of numbers
 * for each bucket. It shares no line with ref/ or policies/.
 */
#include "tests/model.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 4, WIDTH = 16, MOST = 15 };

struct model_counts {
    uint8_t *of; /* (groups, ROWS, WIDTH) */
    uint64_t uses;
};

static uint64_t groups(const model *m)
{
    uint64_t n = 1;
    while (2 * n < m->slots) n *= 2;
    return n;
}

bool model_has_counts(const model *m) { return !strcmp(m->policy, "tinylfu") || !strcmp(m->policy, "wtinylfu"); }

void model_counts_open(model *m)
{
    if (!model_has_counts(m)) return;
    m->counts = (struct model_counts *)test_alloc(m->buckets, sizeof *m->counts);
    for (uint64_t b = 0; b < m->buckets; b++)
        m->counts[b] = (struct model_counts){ (uint8_t *)test_alloc(groups(m), ROWS * WIDTH), 0 };
    for (uint64_t b = 0; b < m->buckets; b++) memset(m->counts[b].of, 0, groups(m) * ROWS * WIDTH);
}

void model_counts_close(model *m)
{
    for (uint64_t b = 0; m->counts && b < m->buckets; b++) free(m->counts[b].of);
    free(m->counts);
}

/* The counter of a key in a row. */
static uint8_t *counter(const model *m, uint64_t b, uint64_t key, unsigned row)
{
    uint64_t h = key + 11400714819323198485u; /* MurmurHash3's fmix64 */
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    h = h ^ (h >> 33);
    uint64_t group = h % groups(m), column = h / 4294967296u;
    for (unsigned r = 0; r < row; r++) column /= WIDTH;
    return &m->counts[b].of[(group * ROWS + row) * WIDTH + column % WIDTH];
}

void model_count(model *m, uint64_t key)
{
    uint64_t b[2];
    unsigned n = model_has_counts(m) ? model_buckets(m, key, b) : 0;
    for (unsigned k = 0; k < n; k++) {
        for (unsigned row = 0; row < ROWS; row++) {
            uint8_t *c = counter(m, b[k], key, row);
            if (*c < MOST) ++*c;
        }
        if (++m->counts[b[k]].uses < 10 * (uint64_t)n * m->slots)
            continue; /* in two buckets, ten for each slot of both */
        m->counts[b[k]].uses /= 2;
        for (uint64_t i = 0; i < groups(m) * ROWS * WIDTH; i++) m->counts[b[k]].of[i] /= 2;
    }
}

uint64_t model_count_of(const model *m, uint64_t b, uint64_t key)
{
    uint64_t least = MOST;
    for (unsigned row = 0; row < ROWS; row++)
        if (*counter(m, b, key, row) < least) least = *counter(m, b, key, row);
    return least;
}

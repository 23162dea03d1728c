/* SPDX-License-Identifier: Apache-2.0
 *
 * mutate.c - makes an input: one of the corpus with a few changes, or random bytes, short ones more often than long
 * ones.
 */
#include "fuzz/mutate.h"

#include <string.h>

#include "workload/rng.h"

typedef struct work {
    uint8_t *p;
    size_t n, most;
    hd_rng rng;
} work;

static size_t below(work *w, size_t n) { return n ? (size_t)hd_rng_below(&w->rng, n) : 0; }

/* Lengths whose logarithms are as likely. */
static size_t length(work *w, size_t most)
{
    size_t bits = 0;
    while (bits < 30 && (size_t)1 << bits < most) bits++;
    size_t n = below(w, ((size_t)1 << below(w, bits + 1)) + 1);
    return n < most ? n : most;
}

/* A gap of n bytes at `at`, as far as there is room; how many came. */
static size_t open_gap(work *w, size_t at, size_t n)
{
    if (n > w->most - w->n) n = w->most - w->n;
    memmove(w->p + at + n, w->p + at, w->n - at);
    w->n += n;
    return n;
}

static void put(work *w, size_t at, const uint8_t *p, size_t n, bool over)
{
    if (over && n > w->n - at) n = w->n - at;
    if (!over) n = open_gap(w, at, n);
    memmove(w->p + at, p, n);
}

static void remove_some(work *w)
{
    size_t at = below(w, w->n), n = 1 + length(w, w->n - at);
    if (n > w->n - at) n = w->n - at;
    memmove(w->p + at, w->p + at + n, w->n - at - n);
    w->n -= n;
}

/* A piece of the input itself, to another place. */
static void copy_some(work *w)
{
    uint8_t piece[256];
    size_t from = below(w, w->n), n = 1 + length(w, sizeof piece - 1);
    if (n > w->n - from) n = w->n - from;
    memcpy(piece, w->p + from, n);
    put(w, below(w, w->n + 1), piece, n, below(w, 2));
}

static void noise(work *w)
{
    size_t at = below(w, w->n + 1), n = open_gap(w, at, 1 + length(w, 64));
    for (size_t i = 0; i < n; i++) w->p[at + i] = (uint8_t)hd_rng_next(&w->rng);
}

/* A number that programs stumble over, in 1, 2, 4 or 8 bytes. */
static void number(work *w)
{
    static const uint64_t odd[] = { 0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    15,
                                    16,
                                    31,
                                    32,
                                    63,
                                    64,
                                    127,
                                    128,
                                    255,
                                    256,
                                    32767,
                                    65535,
                                    65536,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    1ull << 32,
                                    1ull << 62,
                                    1ull << 63,
                                    UINT64_MAX - 2,
                                    UINT64_MAX - 1,
                                    UINT64_MAX };
    uint64_t v = odd[below(w, sizeof odd / sizeof *odd)];
    uint8_t bytes[8];
    memcpy(bytes, &v, sizeof bytes);
    put(w, below(w, w->n + 1), bytes, (size_t)1 << below(w, 4), below(w, 4) != 0);
}

static void word(work *w, const char *const *words)
{
    size_t many = 0;
    while (words[many]) many++;
    const char *one = words[below(w, many)];
    put(w, below(w, w->n + 1), (const uint8_t *)one, strlen(one), below(w, 4) == 0);
}

static void splice(work *w, const fuzz_corpus *c)
{
    const fuzz_input *other = &c->input[below(w, c->n)];
    size_t from = below(w, other->n), n = other->n - from;
    size_t at = below(w, w->n + 1);
    if (below(w, 2)) w->n = at; /* this one's beginning, that one's end */
    put(w, at, other->bytes + from, n, false);
}

static void change(work *w, const fuzz_target *t, const fuzz_corpus *c)
{
    size_t kind = below(w, t->word ? 12 : 10);
    if (w->n == 0) kind = kind < 10 ? 9 : kind;
    switch (kind) {
    case 0: w->p[below(w, w->n)] ^= (uint8_t)(1u << below(w, 8)); return;
    case 1: w->p[below(w, w->n)] = (uint8_t)hd_rng_next(&w->rng); return;
    case 2: w->p[below(w, w->n)] += (uint8_t)(below(w, 2) ? 1 : 255); return;
    case 3: remove_some(w); return;
    case 4: copy_some(w); return;
    case 5: number(w); return;
    case 6: w->n = below(w, w->n); return;
    case 7:
    case 8:
        if (c && c->n) {
            splice(w, c);
            return;
        }
        noise(w);
        return;
    case 9: noise(w); return;
    default: word(w, t->word); return;
    }
}

size_t fuzz_make(const fuzz_target *t, const fuzz_corpus *c, uint64_t seed, uint64_t k, uint8_t *bytes)
{
    work w = { bytes, 0, t->most, hd_rng_from(seed * HD_GOLDEN ^ k) };
    if (c && c->n && below(&w, 8)) {
        const fuzz_input *in = &c->input[below(&w, c->n)];
        w.n = in->n < t->most ? in->n : t->most;
        memcpy(w.p, in->bytes, w.n);
    } else {
        w.n = length(&w, t->most);
        for (size_t i = 0; i < w.n; i++) w.p[i] = (uint8_t)hd_rng_next(&w.rng);
    }
    for (size_t left = 1 + length(&w, 16); left; left--) change(&w, t, c);
    return w.n;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * sample.h - a part of the keys, with all their requests, as SHARDS chooses it (curve.h): those whose hash is at most a
 * limit.
 */
#ifndef HD_SAMPLE_H
#define HD_SAMPLE_H

#include <math.h>

#include "workload/rng.h"

typedef struct sample {
    uint64_t limit, mixer; /* no key of a generator is the mixer, for its hash would be 0 */
} sample;

/* rate: above 0; from 1 on all keys are in it. */
static inline sample sample_of(double rate, uint64_t seed)
{
    double limit = ldexp(rate, 64);
    return (sample){ rate >= 1 ? UINT64_MAX : (uint64_t)limit - (limit >= 1),
                     hd_avalanche(hd_avalanche(seed + 1) + HD_GOLDEN) };
}

static inline uint64_t sample_hash(const sample *s, uint64_t key) { return hd_avalanche(key ^ s->mixer); }
static inline bool sample_has(const sample *s, uint64_t key) { return sample_hash(s, key) <= s->limit; }
/* The share of all hashes that are in it. */
static inline double sample_rate(const sample *s) { return ldexp((double)s->limit, -64) + ldexp(1, -64); }

/* The units of a small cache over the sample that stands for one of so many. */
static inline uint64_t sample_units(double rate, uint64_t units)
{
    double scaled = round((double)units * rate);
    return scaled < 1 ? 1 : (uint64_t)scaled;
}

/* The text of --sample: a rate (0.01, 1%, 1/64), or, where `most` is not NULL, a number of keys, which leaves *rate as
 * it is. TOOL_OK, or what was said. */
int sample_parse(const char *text, double *rate, uint64_t *most);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * curve.h - the misses of caches of many sizes in one pass over requests: of LRU by stack distances, exactly, or of a
 * sample of the keys as SHARDS does (Waldspurger et al., "Efficient MRC construction with SHARDS", FAST '15); and of
 * any exact cache by small caches over the sampled requests (Waldspurger et al., "Cache modeling and optimization using
 * miniature simulations", ATC '17).
 *
 * A key is sampled if its hash is at most a limit, and then all its requests are. The rate is the share of all hashes
 * that are. A sample of at most so many keys begins with all of them; the key with the greatest hash leaves when there
 * are too many, and the limit falls below it. A sampled request stands for 1 / rate requests, and so do its distances.
 */
#ifndef HD_CURVE_H
#define HD_CURVE_H

#include "tools/baseline.h"

typedef struct curve curve;

typedef struct curve_config {
    const uint64_t *capacity; /* (capacities), ascending; the caller's while the curve lives */
    size_t capacities;        /* at least 1 */
    bool bytes;               /* they are in bytes, not in entries */
    double rate;              /* above 0, at most 1 */
    uint64_t most;            /* keys of the sample; 0: no limit, and the rate stays */
    uint64_t seed;            /* of the hash that samples */
    bool keeps;               /* the sampled requests, for curve_mini */
} curve_config;

typedef struct curve_facts {
    uint64_t requests, reserved; /* those for reserved keys are in no other number */
    uint64_t sampled;            /* requests, while the pass went on */
    uint64_t keys, units;        /* of the sample at the end: keys, and entries or bytes */
    uint64_t resized;            /* sampled requests with another size than the key's one before */
    double rate;                 /* at the end */
} curve_facts;

/* HD_ENOMEM. */
hd_status curve_open(const curve_config *config, curve **c);
void curve_close(curve *c); /* NULL is fine */
/* HD_ENOMEM; HD_EINVAL: more than 2^29 keys, or 2^64 bytes. */
hd_status curve_run(curve *c, const hd_request *r, size_t n);
curve_facts curve_about(const curve *c);

/* Misses of LRU with capacity number k. Exact at rate 1, but for objects that changed their size (resized). Of a sample
 * with the correction of SHARDS-adj: the hits of a cache of any size get the requests that the sample lacks, or lose
 * those that it has too many; the result is 0 to `requests`. */
double curve_misses(const curve *c, size_t k);
/* Misses of another exact cache, with the same correction, by a cache of the capacity times the rate. HD_ENOMEM. */
hd_status curve_mini(curve *c, const baseline_row *row, size_t k, double *misses);

#endif

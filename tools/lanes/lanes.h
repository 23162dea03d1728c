/* SPDX-License-Identifier: Apache-2.0
 *
 * lanes.h - a trace in memory, and the misses of many exact caches over it, each cache in a lane (lane.h) of a device
 * or of this machine. Capacities are in entries. The results are those of tools/baseline.h.
 */
#ifndef HD_LANES_H
#define HD_LANES_H

#include "base/seam.h"
#include "tools/caches/index.h"
#include "tools/lanes/lane.h"
#include "tools/sample.h"
#include "workload/workload.h"

/* Of "full:lru"; LANE_BLANK: lanes do not have it. */
lane_policy lanes_policy(const char *name);
const char *lanes_name(size_t i); /* NULL past the end */

typedef struct lanes_key {
    uint64_t key;
    uint32_t last; /* its last request, from 1 */
} lanes_key;

/* The requests of the sample, without those for reserved keys. Zero but for the first two fields it is empty. */
typedef struct lanes_trace {
    sample chosen;   /* sample_of(1, 0): all keys */
    uint64_t warmup; /* the first so many requests do not count */

    uint64_t read;                                /* requests, all */
    uint64_t reserved, unsampled, sampled, bytes; /* of those that count */
    uint32_t requests, keys, counted;             /* kept; different keys; the first kept one that counts */
    bool sized;                                   /* the sizes are kept */
    uint32_t *id, *since, *next;                  /* (requests), as in lanes_args */
    uint64_t *size;                               /* (requests), or NULL */
    lanes_key *key;                               /* (keys) */
    cache_index index;
    uint64_t room, key_room;
} lanes_trace;

/* HD_ENOMEM; HD_EINVAL: more than 2^32 - 2 requests, 2^31 - 1 keys or 2^64 bytes. */
hd_status lanes_trace_add(lanes_trace *t, const hd_request *r, size_t n);
void lanes_trace_close(lanes_trace *t);

typedef struct lanes_cache {
    lane_policy policy;
    uint64_t capacity;
    uint64_t misses, evicted, missed_bytes; /* out */
} lanes_cache;

typedef struct lanes_facts {
    size_t groups;  /* of caches that had memory at a time */
    uint64_t bytes; /* of the device's memory, at most */
    uint32_t width; /* lanes of a warp, in the last group */
} lanes_facts;

/* Told how many steps of lanes are over, of how many; true ends the run with HD_EIO. */
typedef struct lanes_watch {
    bool (*stops)(void *self, uint64_t done, uint64_t total);
    void *self;
} lanes_watch;

/* This machine, which runs one lane after the other. */
extern const hd_device_seam lanes_host;

/* width: lanes of a warp, or 0: as few as let half of the warps run at a time. Caches that do not fit the device's
 * memory together run in groups. HD_ECUDA: there is no device, or it failed. HD_ENOMEM. */
hd_status lanes_run(const lanes_trace *t, const hd_device_seam *d, uint32_t width, lanes_watch watch,
                    lanes_cache *cache, size_t caches, lanes_facts *facts);

#endif

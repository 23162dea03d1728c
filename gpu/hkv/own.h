/* SPDX-License-Identifier: Apache-2.0
 *
 * own.h - HKV's part of a table's state on the backends: for launch.c and for the judge's port.
 */
#ifndef HD_HKV_OWN_H
#define HD_HKV_OWN_H

#include "base/backend.h"
#include "concurrency/word.h"
#include "gpu/hkv/args.h"
#include "gpu/hkv/check_args.h"
#include "gpu/hkv/grow_args.h"

/* Words that kernels count in. Every upsert reads `pins`, and every warp adds to the tally. If both are in one line of
 * the L2 cache, inserts into a table with room are 3% slower on an H200. */
typedef struct hkv_words {
    uint64_t tally[HD_OUTCOME_COUNT];
    uint64_t apart[32 - HD_OUTCOME_COUNT]; /* tally and pins: 256 bytes */
    hkv_pins pins;
    hd_word word;    /* of the batch lock group3 */
    uint64_t moment; /* hkv_args.moment; batches that overlap share it */
    uint64_t lost;   /* hkv_args.lost */
    uint64_t sum;    /* hd_gpu_own.sum */
    hkv_grow_words grow;
    hkv_check_words check;
} hkv_words;

/* Those of a batch: 0 at rest. */
typedef struct hkv_counts {
    uint64_t segment[HKV_SEGMENTS], cursor[HKV_CURSORS];
    uint32_t left[HKV_LEFT_COUNTS];
} hkv_counts;

/* Pointers are the machine's. */
typedef struct hkv_own {
    hd_gpu_own gpu;
    hkv_view v; /* on the host machine the reference's, as a batch finds it */
    hkv_words *words;
    hkv_counts *counts;
    uint32_t *lock;                     /* (buckets)             */
    uint8_t *stage_flag;                /* (window of lists)     */
    uint64_t *stage_key;                /* (window of lists)     */
    uint64_t *stage_score;              /* (window of lists)     */
    uint8_t *stage_value;               /* (window of lists, value_bytes) */
    uint64_t *fetch_entry;              /* (window of fetches); NULL: far values are read as they come */
    uint32_t *fetch_rank, *fetch_order; /* likewise             */
    uint32_t *fetch_count;              /* (HKV_FETCH_COUNTS)   */
    uint32_t *claim;                    /* (4 x window of groups, rounded up to a power of two); NULL: no groups */
    uint32_t *role;                     /* (window of groups)   */
    hkv_group *group;                   /* (window of groups)   */
    uint64_t *left_before;              /* (window of groups)   */
    uint32_t *left_item;                /* (HKV_LEFT_LISTS, window of groups) */
    bool unfinished;                    /* hkv_launcher */
    /* While the table grows: hkv_grow_args. */
    uint32_t *grow_bucket;
    uint8_t *grow_aside;
    hkv_stray *grow_stray;
    uint8_t *grow_stray_value;
} hkv_own;

#endif

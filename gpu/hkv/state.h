/* SPDX-License-Identifier: Apache-2.0
 *
 * state.h - HKV's part of a table's state on the backends: for launch.c, memory.c, whole_table.c and the judge's port.
 */
#ifndef HD_HKV_STATE_H
#define HD_HKV_STATE_H

#include "base/backend.h"
#include "concurrency/word.h"
#include "gpu/hkv/args.h"
#include "gpu/hkv/check_args.h"
#include "gpu/hkv/resize_args.h"

/* Words that kernels count in. Every upsert reads `pins`, and every warp adds to the tally. If both are in one line of
 * the L2 cache, inserts into a table with room are 3% slower on an H200. */
typedef struct hkv_words {
    uint64_t tally[HD_OUTCOME_COUNT];
    uint64_t apart[32 - HD_OUTCOME_COUNT]; /* tally and pins: 256 bytes */
    hkv_pins pins;
    hd_word word;    /* of the batch lock group3 */
    uint64_t moment; /* hkv_args.moment; batches that overlap share it */
    uint64_t lost;   /* hkv_args.lost */
    uint64_t sum;    /* hd_gpu_state.sum */
    hkv_grow_words grow;
    hkv_check_words check;
} hkv_words;

/* Those of a batch: 0 at rest. */
typedef struct hkv_counts {
    uint64_t segment[HKV_SEGMENTS], cursor[HKV_CURSORS];
    uint32_t left[HKV_LEFT_COUNTS];
} hkv_counts;

/* Pointers are the machine's. */
typedef struct hkv_state {
    hd_gpu_state gpu;
    hkv_view v; /* on the host machine the reference's, as a batch finds it */
    hkv_words *words;
    hkv_counts *counts;
    hkv_args kept;      /* what is the same for all batches: the locks, and scratch */
    hkv_grow_args grow; /* while the table grows */
    bool unfinished;    /* hkv_launcher */
} hkv_state;

/* memory.c: members of hkv_gpu. */
int hkv_memory(const void *state, hd_memory *all);
void hkv_begin_table(void *state);
void hkv_taken(void *state);
bool hkv_needs(const void *state, const hd_batch *b, hd_memory *array, hd_info *info);
void *hkv_view_of_state(void *entries);
void hkv_before_batch(void *state, void *entries);
void hkv_after_batch(void *state, void *entries, bool good);
hd_status hkv_open_here(const void *state, const hd_seams *s, void **staged);

/* Items of a window of lists; of fetches of far values, 0: none; of groups (repeated_keys.h), 0: none. */
uint64_t hkv_list_window(const hd_gpu_state *gpu);
uint64_t hkv_fetch_window(const hd_gpu_state *gpu);
uint64_t hkv_left_window(const hd_gpu_state *gpu);

#endif

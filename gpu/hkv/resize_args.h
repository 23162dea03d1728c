/* SPDX-License-Identifier: Apache-2.0
 *
 * resize_args.h - what the kernels of growth are given (resize.h), for them and for the code that launches them.
 */
#ifndef HKV_RESIZE_ARGS_H
#define HKV_RESIZE_ARGS_H

#include "gpu/hkv/args.h"

enum {
    HKV_GROW_THREADS = 128,
    HKV_GROW_AT_ONCE = 4,                 /* slots, or pieces of values, that a lane loads before it stores one */
    HKV_GROW_STEP = 32 * HKV_GROW_AT_ONCE /* slots of a warp */
};

/* An entry of a bucket none of whose children may have it. */
typedef struct hkv_stray {
    uint64_t entry; /* where it was */
    uint64_t key, score, holder;
    uint64_t next; /* the next stray of the same bucket, plus 1; 0: none */
} hkv_stray;

/* Counts of a growth; 0 at its beginning. */
typedef struct hkv_grow_words {
    uint64_t drawn;  /* buckets that warps have taken */
    uint64_t moved;  /* buckets whose entries are in their new places */
    uint64_t strays; /* there may be more than there is room for */
} hkv_grow_words;

/* A word of hkv_grow_args.bucket: this bit, or the first stray that the children receive, plus 1. 0: none. */
#define HKV_GROW_MOVED 0x80000000u

typedef struct hkv_grow_args {
    hkv_view from, to; /* to.buckets is a multiple of from's; both may have planes at the same address */
    const hkv_pins *pins_from;
    hkv_pins *pins_to; /* the same, if it is one table */
    hkv_grow_words *words;
    uint32_t *bucket;     /* (from.buckets) 0 at the beginning; NULL: nothing is in place, and there are no strays */
    bool in_place;        /* the planes but the values are */
    bool values_in_place; /* the near values are */
    uint8_t *aside;       /* (aside_warps, aside_bytes): the near values of one bucket each; NULL: none overlap */
    uint64_t aside_warps, aside_bytes;
    uint64_t stray_room;
    hkv_stray *stray;     /* (stray_room) */
    uint8_t *stray_value; /* (stray_room, value_bytes) */
} hkv_grow_args;

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * args.h - what every kernel of the HKV table is given, by value: the table, the batch, the moment, and the room that
 * the table keeps for kernels. All pointers are device memory.
 *
 *   lock      a word per bucket: 0 free, 1 held. The item that holds it owns the bucket's keys, digests, scores and
 *             values. Upserts and erases take the locks of all candidate buckets of the key, in ascending order
 *             (coalesced.h locks less). Readers take none, because the batch lock keeps inserters and updaters away.
 *             Updates own single entries: they exchange the key for HD_KEY_LOCKED.
 *   pins      the number of pinned keys. Kernels do not read v.pins, the host's copy. pin_lock guards pins and v.pin.
 *   stage     lists are in item order. A batch that lists runs window by window. Item i of a window stores its list
 *             entry at index i - first and sets a flag; one more launch compacts the entries (list.h). stage_flag is
 *             NULL if no list is wanted, stage_value if the list has no values.
 *   segment   while a list is made: for each part of a range, the number of entries that it lists, plus one. At rest
 *             these are 0, and so are cursor[HKV_DRAWN] and cursor[HKV_LEFT].
 *   fetch     find leaves far values to two more launches, which fetch them in the order of their addresses (fetch.h),
 *             window by window. Item i stores the entry that it waits for at index i - first. fetch_entry is NULL if
 *             find reads far values itself.
 *   left      a batch whose keys may repeat runs in passes (passes.h). For each pass: the items of the window that it
 *             leaves to the next pass, and their number; and for each item that pass `absent` left, its position in
 *             that list. At rest the first count is 0. left_item is NULL if such a batch is one launch.
 *
 * In flight: in a bucket whose lock is free, HKV-1 to HKV-4 hold for every entry whose key is not HD_KEY_LOCKED. In a
 * bucket whose lock is held they hold for such entries too, except for stores that are not visible yet: an owner
 * removes the key first and publishes it last.
 */
#ifndef HKV_ARGS_H
#define HKV_ARGS_H

#include "heddle.h"
#include "ref/hkv/layout.h"

enum { HKV_SEGMENTS = 1024 /* at most */, HKV_SEGMENT_LEAST = 2048 /* items, or slots */ };

/* Words of `cursor`. */
enum {
    HKV_LENGTH /* two: the list's before a window, at its number modulo 2; after it, at the other */,
    HKV_DRAWN = 2,
    HKV_LEFT,
    HKV_CURSORS
};

enum {
    HKV_FETCH_BINS = 4096 /* at most */,
    HKV_FETCH_COUNTS = HKV_FETCH_BINS + 1,
    HKV_FETCH_BIN_LEAST = 6 /* log2 of bytes */
};

/* What hkv_args.pass says: the batch at once, or which of its passes. */
enum { HKV_WHOLE, HKV_PRESENT, HKV_ABSENT, HKV_PRESENT_AGAIN, HKV_REST, HKV_LEFT_COUNTS = 3, HKV_LEFT_LISTS = 3 };
HD_FN bool hkv_is_present(uint32_t pass) { return pass == HKV_PRESENT || pass == HKV_PRESENT_AGAIN; }

/* What stage_flag says. */
enum { HKV_NOT_LISTED, HKV_LISTED, HKV_LISTED_INPUT /* key and value are the item's own */ };

typedef struct hkv_args {
    hkv_view v;
    uint32_t *lock;     /* (buckets) */
    uint32_t *pins;     /* (1) */
    uint32_t *pin_lock; /* (1) */

    /* The batch (hd_batch). */
    uint32_t op;        /* hd_op   */
    uint32_t elem;      /* hd_elem */
    uint32_t predicate; /* hd_predicate; all: where the operation has none */
    uint32_t epoch;
    uint32_t policy_flags;
    bool distinct; /* no key twice */
    uint64_t n;
    uint64_t first, last; /* this launch runs items, or slots, [first, last) */
    const uint64_t *key;
    const uint8_t *value;
    const uint64_t *score; /* NULL: 1 each */
    const uint8_t *flag;   /* NULL: HD_EITHER */
    uint64_t holder, start;
    uint64_t pred_arg[2];
    uint64_t clock, per_item; /* item i happens at clock + i x per_item */
    bool times_tell;          /* scores are times, per_item is 1, and a score of [clock, clock + n) is what an item of
                                 this batch, of this very run of it, wrote */

    uint8_t *outcome;
    uint8_t *value_out;
    uint64_t *score_out;
    uint64_t *ptr;
    uint64_t *list_key, *list_score, *list_item, *count;
    uint8_t *list_value;
    uint64_t *tally; /* (HD_OUTCOME_COUNT): outcomes are added */

    uint8_t *stage_flag;   /* (window) */
    uint64_t *stage_key;   /* (window) */
    uint64_t *stage_score; /* (window) */
    uint8_t *stage_value;  /* (window, value_bytes) */
    uint64_t *segment;     /* (HKV_SEGMENTS) */
    uint64_t *cursor;      /* (HKV_CURSORS) */
    uint32_t window;       /* its number */

    /* (window of fetches): the entry of the far value that an item waits for; UINT64_MAX: none */
    uint64_t *fetch_entry;
    uint32_t *fetch_rank;  /* likewise: how many items of its bin were there before it              */
    uint32_t *fetch_order; /* likewise: the items that wait, less first, bin after bin              */
    /* (HKV_FETCH_COUNTS): how many wait for each bin of the far tier; at rest 0; then, how many wait */
    uint32_t *fetch_count;
    uint32_t fetch_bins;  /* so many are in use        */
    uint32_t fetch_shift; /* a bin is 2^this bytes     */

    uint32_t pass;
    uint32_t *left_item;  /* (HKV_LEFT_LISTS, left_window): two lists of items, less first; and of each item where it
                              is in what the absent left, if it is there; else anything */
    uint32_t *left_count; /* (HKV_LEFT_COUNTS): of the passes in their order */
    uint64_t left_window; /* items */
} hkv_args;

#endif

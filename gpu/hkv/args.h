/* SPDX-License-Identifier: Apache-2.0
 *
 * args.h - what every kernel of the HKV table is given, by value: the table, the batch, the moment, and the room that
 * the table keeps for kernels. All pointers are device memory.
 *
 *   lock      a word per bucket: 0 free, 1 held. The item that holds it owns the bucket's keys, digests, scores and
 *             values. Upserts and erases take the locks of all candidate buckets of the key, in ascending order
 *             (coalesced.h locks less). Readers take none, because the batch lock keeps inserters and updaters away.
 *             Updates own single entries: they exchange the key for HD_KEY_LOCKED.
 *   pins      the number of pinned entries. Kernels do not read v.pins, the host's copy.
 *   stage     lists are in item order. A batch that lists runs window by window. Item i of a window stores its list
 *             entry at index i - first and sets a flag; one more launch compacts the entries (list.h). stage_flag is
 *             NULL if no list is wanted, stage_value if the list has no values.
 *   segment   while a list is made: for each part of a range, the number of entries that it lists, plus one. At rest
 *             these are 0, and so are cursor[HKV_DRAWN] and cursor[HKV_LEFT].
 *   fetch     find leaves far values to two more launches, which fetch them in the order of their addresses (fetch.h),
 *             window by window. Item i stores the entry that it waits for at index i - first. fetch_entry is NULL if
 *             find reads far values itself.
 *   claim     a batch whose keys may repeat runs in several launches (repeated_keys.h). `claim` has the first item of
 *             each key, `role` what an item is to its key, `group` what its items count together, by the number of
 *             the first item; left_item has lists. At rest `claim`, `role` and the counts of the lists are 0. claim is
 *             NULL if such a batch is one launch.
 *
 * In flight: in a bucket whose lock is free, HKV-1 to HKV-4 hold for every entry whose key is not HD_KEY_LOCKED. In a
 * bucket whose lock is held they hold for such entries too, except for stores that are not visible yet: an owner
 * removes the key first and publishes it last.
 */
#ifndef HKV_ARGS_H
#define HKV_ARGS_H

#include "base/op.h"
#include "heddle.h"
#include "policies/policy.h"
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

/* What hkv_groups_args.pass says: the batch at once, or which of its launches (repeated_keys.h). */
enum { HKV_WHOLE, HKV_SINGLES, HKV_LEADERS, HKV_REST };

/* A word of `claim` has an item number of 20 bits: a window has at most so many items. The count of a group and the sum
 * of the low HKV_GIVEN_LOW_BITS bits of the scores that its items give are one word, so that one atomic adds both. The
 * high bits are added up in a word of their own. Neither sum overflows. */
enum {
    HKV_CLAIM_ITEM_BITS = 20,
    HKV_CLAIM_ITEMS = 1 << HKV_CLAIM_ITEM_BITS,
    HKV_GIVEN_BITS = 42,
    HKV_GIVEN_LOW_BITS = HKV_GIVEN_BITS - HKV_CLAIM_ITEM_BITS
};

/* Lists in left_item, of numbers of items less `first`. The lists from HKV_FIRST_OF on have no count of their own. */
enum {
    HKV_MEMBERS /* the items of each key that comes more than once */,
    HKV_GROUPS /* the first item of each such key */,
    HKV_RESTS /* items that run alone */,
    HKV_LISTS_COUNTED,
    HKV_FIRST_OF = HKV_LISTS_COUNTED /* of each member, the first item of its key */,
    HKV_RANK_OF /* of each member, how many joined its group before it */,
    HKV_LEFT_LISTS,
};

/* What `role` says of an item: no other has its key; it is the first of several; it is another one, or runs alone. */
enum { HKV_SINGLE, HKV_HAS_GROUP, HKV_IN_LIST };

/* Counts in left_count: of the lists, and of two of them before they were emptied. */
enum { HKV_MEMBERS_WERE = HKV_LISTS_COUNTED, HKV_RESTS_WERE, HKV_LEFT_COUNTS };

/* What the items of a key count together. Items are ranked: the number of the item above its rank of 32 bits. */
typedef struct hkv_group {
    uint64_t joined;    /* how many items, above the sum of the low bits of what they give */
    uint64_t last;      /* the ranked item with the greatest number; if ranks do not lead */
    uint64_t admission; /* the greatest admission score; if hkv_groups_args.picks              */
    uint64_t picked;    /* the ranked item that has it; likewise                          */
    uint64_t before;    /* of the leader: the score that it found, or that of its new entry (spare.h), */
    union {
        uint64_t entry; /* its entry, HKV_NONE: none,                                     */
        uint64_t high;  /* until it ends: the sum of the high bits of what the items give */
    };
    uint32_t outcome; /* and its outcome */
    /* Two items: the first, and another. With flags of accum_or_assign, of the items that hit: the number of the last
     * + 1, and HKV_CLAIM_ITEMS - the number of the first; 0: none hits. */
    uint32_t two[2];
    uint32_t refused; /* how many of its items are refused before the leader is admitted (hkv_group_tries_again) */
} hkv_group;

/* What stage_flag says. */
enum { HKV_NOT_LISTED, HKV_LISTED, HKV_LISTED_INPUT /* key and value are the item's own */ };

typedef struct hkv_pins {
    uint64_t count; /* of pinned entries                                  */
    uint64_t plane; /* the address of v.holder, as the last pin knew it   */
} hkv_pins;

/* What a batch that lists is put together in (list.h). */
typedef struct hkv_list_args {
    uint8_t *stage_flag;   /* (window) */
    uint64_t *stage_key;   /* (window) */
    uint64_t *stage_score; /* (window) */
    uint8_t *stage_value;  /* (window, value_bytes) */
    uint64_t *segment;     /* (HKV_SEGMENTS) */
    uint64_t *cursor;      /* (HKV_CURSORS) */
    uint32_t window;       /* its number */
    uint32_t parts_log;    /* so many blocks share a segment of the list, as a power of two */
} hkv_list_args;

/* Items that wait for a far value (fetch.h), by their number less `first`. */
typedef struct hkv_fetch_args {
    uint64_t *entry; /* (window of fetches): the entry of the value; UINT64_MAX: none                 */
    uint32_t *rank;  /* likewise: how many items of its bin were there before it                      */
    uint32_t *order; /* likewise: the items that wait, bin after bin                                  */
    uint32_t *count; /* (HKV_FETCH_COUNTS): how many wait for each bin; at rest 0; then, how many wait */
    uint32_t bins;   /* so many are in use    */
    uint32_t shift;  /* a bin is 2^this bytes */
} hkv_fetch_args;

/* A window of a batch whose keys may repeat (repeated_keys.h). */
typedef struct hkv_groups_args {
    uint32_t pass;         /* HKV_WHOLE, ... */
    uint32_t claim_mask;   /* words of `claim` that this window uses, less 1; they are a power of two */
    bool picks;            /* given scores choose the leader */
    bool admit_alike;      /* without `picks`: all items have the same admission score */
    uint32_t *claim;       /* (4 x left_window, rounded up to a power of two) */
    uint32_t *role;        /* (left_window) */
    hkv_group *group;      /* (left_window) */
    uint64_t *left_before; /* (left_window): of each member, what those that joined before it give */
    uint32_t *left_item;   /* (HKV_LEFT_LISTS, left_window) */
    uint32_t *left_count;  /* (HKV_LEFT_COUNTS) */
    uint64_t left_window;  /* items */
} hkv_groups_args;

typedef struct hkv_args {
    hkv_view v;
    uint32_t *lock; /* (buckets) */
    hkv_pins *pins;

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
    uint64_t holder;       /* 0: the batch changes no pins */
    uint64_t start;
    uint64_t pred_arg[2];
    uint64_t clock, per_item; /* item i happens at clock + i x per_item */
    /* HD_CLOCK_DEVICE: all items happen at *moment, which a launch before the others reads from the device's clock.
     * NULL: the logical clock, or hd_config.now. opened: what the clock said when the table was opened; 0: it is the
     * logical one. */
    uint64_t *moment, opened;
    uint64_t *lost;  /* find_or_insert_ptr with times_tell: clock + 1 if an item evicted another item's entry */
    bool times_tell; /* scores are times, per_item is 1, and a score of [clock, clock + n) is what an item of
                                 this batch, of this very run of it, wrote */

    uint8_t *outcome;
    uint8_t *found;
    uint8_t *value_out;
    uint64_t *score_out;
    uint64_t *ptr;
    uint64_t *list_key, *list_score, *list_item, *count;
    uint8_t *list_value;
    uint64_t *tally; /* (HD_OUTCOME_COUNT): outcomes are added */

    hkv_list_args list;
    hkv_fetch_args fetch;
    hkv_groups_args groups;

    const hd_program *program; /* v.program, as a kernel of kernels_expression.cu was given it. Others have NULL */
} hkv_args;

/* find_or_insert_ptr delivers entry numbers, plus 1, where an address does not tell its entry. */
HD_FN bool hkv_ptr_is_number(const hkv_args *a) { return a->v.far || !a->v.value_bytes; }

/* find_or_insert_ptr: an item that evicts an entry of its own batch knows by the score which item has the pointer, and
 * that no other has it. Then no launch has to check the pointers (pointers.h). */
HD_FN bool hkv_loser_is_known(const hkv_args *a) { return a->distinct && a->times_tell && !hkv_ptr_is_number(a); }

/* True: members of a group deliver scores that depend on the order in which they joined it. */
HD_FN bool hkv_ranks(const hkv_args *a)
{
    return (a->policy_flags & HD_HITS_ADD) && a->score_out && HD_OP_IN(a->op, HD_OPS_GIVE_SCORE);
}

HD_FN uint32_t *hkv_left(const hkv_args *a, uint32_t list)
{
    return a->groups.left_item + list * a->groups.left_window;
}

#endif

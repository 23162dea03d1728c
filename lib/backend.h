/* SPDX-License-Identifier: Apache-2.0
 *
 * backend.h - what the backends that run the kernels of gpu/hkv have in common: a batch as the kernels' argument, and the words
 * that kernels count in.
 */
#ifndef HD_BACKEND_H
#define HD_BACKEND_H

#include <string.h>

#include "concurrency/word.h"
#include "gpu/hkv/rows.h"
#include "lib/design.h"
#include "lib/op.h"
#include "lib/select.h"
#include "policies/policy.h"
#include "predicates/predicate.h"

/* In the memory of the backend. */
typedef struct hkv_words {
    uint64_t tally[HD_OUTCOME_COUNT], segment[HKV_SEGMENTS], cursor[HKV_CURSORS]; /* these two 0 at rest */
    uint32_t pins, pin_lock, left[HKV_LEFT_COUNTS];
    hd_word word; /* of the batch lock group3 */
} hkv_words;

/* The room beside the planes. */
typedef struct hkv_room {
    hkv_words *words;
    uint32_t *lock;        /* (buckets)             */
    uint8_t *stage_flag;   /* (window)              */
    uint64_t *stage_key;   /* (window)              */
    uint64_t *stage_score; /* (window)              */
    uint8_t *stage_value;  /* (window, value_bytes) */
    uint64_t *fetch_entry;                /* (window of fetches); NULL: far values are read as they come */
    uint32_t *fetch_rank, *fetch_order;   /* likewise             */
    uint32_t *fetch_count;                /* (HKV_FETCH_COUNTS)   */
    uint32_t *left_item;                  /* (HKV_LEFT_LISTS, window of passes) */
} hkv_room;

/* How many items at a time put off far values: no more than there are entries, which is plenty for a small table. 0: none do. */
static inline uint64_t hkv_fetch_window(const hd_info *info)
{
    enum { MOST = 1 << 20 };
    if (!hd_select_sorted(info, UINT64_MAX)) return 0;
    return info->capacity < MOST ? info->capacity : MOST;
}

static inline uint64_t hkv_fetch_counts(const hd_info *info) { return hkv_fetch_window(info) ? HKV_FETCH_COUNTS : 0; }

/* How many items at a time go through passes: no fewer than a window that lists has. 0: none do, for only gather has passes. */
static inline uint64_t hkv_left_window(const hd_info *info)
{
    enum { LEAST = 1 << 14, MOST = 1 << 20 };
    if (hkv_rows[HKV_NUMBER_gather_upsert].fits(info)) return 0;
    return info->capacity < LEAST ? LEAST : info->capacity < MOST ? info->capacity : MOST;
}

static inline uint64_t hkv_left_words(const hd_info *info) { return HKV_LEFT_LISTS * hkv_left_window(info); }
static inline uint64_t hkv_left_bytes(const hd_info *info) { return hkv_left_words(info) * sizeof(uint32_t); }

/* What the room for fetches takes. */
static inline uint64_t hkv_fetch_bytes(const hd_info *info)
{
    return hkv_fetch_window(info) * (sizeof(uint64_t) + 2 * sizeof(uint32_t)) + hkv_fetch_counts(info) * sizeof(uint32_t);
}

/* All but first, last and window, which hkv_launch sets. */
static inline hkv_args hkv_args_of(const hd_info *info, const hkv_view *v, const hkv_room *room, const hd_batch *b, hd_when when)
{
    hkv_args a;
    memset(&a, 0, sizeof a);
    a.v = *v;
    a.lock = room->lock;
    a.pins = &room->words->pins;
    a.pin_lock = &room->words->pin_lock;
    a.op = b->op;
    a.elem = b->elem;
    a.predicate = hd_predicate_of(b);
    a.epoch = when.epoch;
    a.policy_flags = hd_policy_rows[v->policy].flags;
    a.distinct = b->distinct;
    a.n = b->n;
    a.key = b->key;
    a.value = b->op == HD_OP_FIND_OR_INSERT_PTR ? NULL : (const uint8_t *)b->value;
    a.score = b->score;
    a.flag = b->flag;
    a.holder = b->holder;
    a.start = b->start;
    a.pred_arg[0] = b->pred_arg[0];
    a.pred_arg[1] = b->pred_arg[1];
    a.clock = when.clock;
    a.per_item = when.per_item;
    a.times_tell = when.own && a.policy_flags & HD_SCORE_IS_TIME;
    a.outcome = b->outcome;
    a.value_out = (uint8_t *)b->value_out;
    a.score_out = b->score_out;
    a.ptr = (uint64_t *)(void *)b->ptr;
    a.list_key = b->list_key;
    a.list_score = b->list_score;
    a.list_item = b->list_item;
    a.list_value = (uint8_t *)b->list_value;
    a.count = b->count;
    a.tally = room->words->tally;
    a.segment = room->words->segment;
    a.cursor = room->words->cursor;
    a.stage_flag = room->stage_flag;
    a.stage_key = room->stage_key;
    a.stage_score = room->stage_score;
    a.stage_value = room->stage_value;
    a.fetch_entry = hd_select_sorted(info, b->n) ? room->fetch_entry : NULL;
    a.fetch_rank = room->fetch_rank;
    a.fetch_order = room->fetch_order;
    a.fetch_count = room->fetch_count;
    a.left_item = room->left_item;
    a.left_count = room->words->left;
    a.left_window = hkv_left_window(info);
    return a;
}

#endif

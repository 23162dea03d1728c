/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.h - the variants of registry.h as data, and the launches of a batch, which are the same for the host machine and
 * for CUDA.
 */
#ifndef HKV_ROWS_H
#define HKV_ROWS_H

#include "base/backend.h"
#include "base/op.h"
#include "gpu/hkv/args.h"
#include "gpu/hkv/kernel_numbers.h"
#include "gpu/hkv/variant.h"
#include "heddle.h"
#include "policies/policy.h"

/* The variants of registry.h; a NULL ends them. */
extern const hd_variant *hkv_variants[];

/* A kernel of the host machine by number; NULL: there is none. */
hd_host_text *hkv_host_kernel(uint32_t kernel);

/* Row `row`; NULL past the last. */
static inline const hd_variant_row *hkv_row(uint32_t row) { return hd_variant_row_numbered(hkv_variants, row); }

/* The name of its variant. */
static inline const char *hkv_row_name(uint32_t row) { return hd_variant_row_name(hkv_variants, row); }

static inline uint32_t hkv_row_count(void) { return hd_variant_row_count(hkv_variants); }

/* Whether a row is the first of its variant: a loop over these visits every variant once. */
static inline bool hkv_is_first(uint32_t row) { return hd_variant_is_first(hkv_variants, row); }

/* The row by which a variant runs a family; hkv_row_count(): it does not. */
static inline uint32_t hkv_row_of(const char *variant, hkv_family family)
{
    return hd_variant_row_of(hkv_variants, variant, family);
}

/* ---- A batch as launches --------------------------------------------------------------------- */

/* Copies what the caller gave. The rest of the arguments (table, predicate, tally, room) is set by the caller of this
 * function. */
static inline void hkv_args_of_batch(hkv_args *a, const hd_batch *b)
{
    a->op = b->op;
    a->elem = b->elem;
    a->distinct = b->distinct;
    a->n = b->n;
    a->key = b->key;
    a->value = b->op == HD_OP_FIND_OR_INSERT_PTR ? NULL : (const uint8_t *)b->value;
    a->score = b->score;
    a->flag = b->op == HD_OP_ACCUM_OR_ASSIGN ? b->flag : NULL;
    a->holder = HD_OP_IN(b->op, HD_OPS_PIN) ? b->holder : 0;
    a->start = b->start;
    a->pred_arg[0] = b->pred_arg[0];
    a->pred_arg[1] = b->pred_arg[1];
    a->outcome = b->outcome;
    a->found = (uint8_t *)(void *)b->found;
    a->value_out = (uint8_t *)b->value_out;
    a->score_out = b->score_out;
    a->ptr = (uint64_t *)(void *)b->ptr;
    a->list_key = b->list_key;
    a->list_score = b->list_score;
    a->list_item = b->list_item;
    a->list_value = (uint8_t *)b->list_value;
    a->count = b->count;
}

/* What the launches of a batch need. */
typedef struct hkv_launcher {
    hd_launcher on;
    uint64_t window;       /* items that the list buffer holds     */
    uint64_t fetch_window; /* items that the room for fetches holds */
    /* the table's: a batch that failed may have left counts that are 0 at rest */
    bool *unfinished;
} hkv_launcher;

static inline hd_status hkv_launch_one(const hkv_launcher *l, uint32_t kernel, const hkv_args *a, uint32_t lanes,
                                       uint32_t threads)
{
    if (a->first == a->last) return HD_OK;
    return l->on.launch(l->on.self, kernel, a, sizeof *a,
                        hd_launch_blocks(&l->on, (a->last - a->first) * lanes, threads), threads);
}

static inline bool hkv_list_wanted(const hkv_args *a)
{
    return a->list_key || a->list_value || a->list_score || a->list_item || a->count;
}

/* How many blocks share a segment of a list that has so many segments, as a power of two: large values of a batch's
 * list are divided among them. An export has a segment for each block. */
static inline uint32_t hkv_list_parts_log(const hkv_args *a, uint64_t segments)
{
    enum { BLOCKS = 1024, BYTES_EACH = 64, MOST_LOG = 4 };
    uint32_t log = 0;
    if (!a->list_value || !a->list.stage_flag) return 0;
    while (log < MOST_LOG && segments << (log + 1) <= BLOCKS && (uint32_t)BYTES_EACH << (log + 1) <= a->v.value_bytes)
        log++;
    return log;
}

/* A block for each part of each segment of the list. */
static inline hd_status hkv_launch_list(const hkv_launcher *l, uint32_t kernel, hkv_args *a, uint32_t threads)
{
    uint64_t segments = (a->last - a->first) / HKV_SEGMENT_LEAST + 2, most = HKV_SEGMENTS, blocks;
    a->list.parts_log = hkv_list_parts_log(a, segments);
    blocks = segments << a->list.parts_log;
    if (a->first == a->last) return a->count ? l->on.zero(l->on.self, a->count, sizeof *a->count) : HD_OK;
    if (most > l->on.blocks_most) most = l->on.blocks_most;
    return l->on.launch(l->on.self, kernel, a, sizeof *a, blocks < most ? blocks : most, threads);
}

/* The next items of the batch, at most `window`. False: that was all. */
static inline bool hkv_next_window(hkv_args *a, uint64_t window)
{
    a->first = a->last;
    a->last = a->n - a->first < window ? a->n : a->first + window;
    return a->first < a->n;
}

/* The words of `claim` for so many items, less 1. */
static inline uint32_t hkv_claim_mask(uint64_t items)
{
    uint64_t words = 4;
    while (words < 4 * items) words *= 2;
    return (uint32_t)(words - 1);
}

/* Before and after launches that count in the table's room. The last of them leaves the counts at 0, as the first found
 * them; where it was never put there, the next batch that counts does it. */
static inline hd_status hkv_counts_begin(const hkv_launcher *l, const hkv_args *a)
{
    hd_status s = HD_OK;
    bool zero = *l->unfinished;
    if (zero && a->fetch.count) s = l->on.zero(l->on.self, a->fetch.count, HKV_FETCH_COUNTS * sizeof *a->fetch.count);
    if (zero && a->groups.claim && !s)
        s = l->on.zero(l->on.self, a->groups.left_count, HKV_LEFT_COUNTS * sizeof *a->groups.left_count);
    if (zero && a->groups.claim && !s)
        s = l->on.zero(l->on.self, a->groups.claim,
                       (hkv_claim_mask(a->groups.left_window) + 1ull) * sizeof *a->groups.claim);
    if (zero && a->groups.claim && !s)
        s = l->on.zero(l->on.self, a->groups.role, a->groups.left_window * sizeof *a->groups.role);
    if (!s) *l->unfinished = true;
    return s;
}

static inline hd_status hkv_counts_end(const hkv_launcher *l, hd_status s)
{
    if (!s) *l->unfinished = false;
    return s;
}

/* Whether updates of such a policy have groups. Where scores are times, an item need not wait for another of its key,
 * but for one that replaces values alone, and one that copies a value out, which claims the entry. */
static inline bool hkv_updates_in_groups(uint32_t op, bool value_out, uint32_t policy_flags)
{
    return op == HD_OP_ASSIGN_VALUES || (op == HD_OP_TOUCH && value_out) || !(policy_flags & HD_SCORE_IS_TIME);
}

/* Whether `row` runs the batch in the launches of repeated_keys.h: keys may repeat, and items of one key would wait for
 * each other. */
static inline bool hkv_has_groups(uint32_t row, const hkv_args *a)
{
    if (!a->groups.claim || a->distinct || a->n < 2) return false;
    if (!(a->policy_flags & HD_IN_GROUPS)) return false;
    if ((a->policy_flags & HD_COUNTS) && a->op == HD_OP_ACCUM_OR_ASSIGN && a->flag) return false; /* some count */
    if (row == hkv_row_of("coalesced", HKV_UPSERT)) return true;
    return row == hkv_row_of("coalesced", HKV_UPDATE) && hkv_updates_in_groups(a->op, a->value_out, a->policy_flags);
}

/* A launch over a list, whose length the host does not know: no more blocks than keep a device busy. */
static inline hd_status hkv_launch_listed(const hkv_launcher *l, uint32_t kernel, const hkv_args *a, uint32_t lanes,
                                          uint32_t threads)
{
    enum { RESIDENT = 8 /* blocks of a multiprocessor */ };
    uint64_t blocks = hd_launch_blocks(&l->on, (a->last - a->first) * lanes, threads),
             most = RESIDENT * l->on.blocks_few;
    if (most && most < blocks) blocks = most;
    return l->on.launch(l->on.self, kernel, a, sizeof *a, blocks, threads);
}

/* Whether items of the launch hold the locks of two buckets: in dual mode all upserts do, except those of coalesced at
 * level NEVER (hkv_coalesced_locking). */
static inline bool hkv_locks_two(uint32_t row, const hkv_args *a)
{
    uint32_t flags = a->policy_flags;
    if (!a->v.dual || hkv_row(row)->family != HKV_UPSERT) return false;
    if (row != hkv_row_of("coalesced", HKV_UPSERT) || a->v.admit_always || a->holder || flags & HD_KEEPS_ORDER)
        return true;
    return !((a->distinct || a->groups.pass == HKV_SINGLES) && (flags & HD_MONOTONE) && (flags & HD_SCORE_ADMITS));
}

/* For a launch whose items hold the locks of two buckets: as many items at a time as the table has buckets, or a warp.
 * An item tries the lock of its lower bucket first, and drops it if it cannot get the other. So if many items wait for
 * each bucket, those of low buckets come first. A new key then chooses between a bucket whose keys have all come and
 * one whose keys have not, by least scores that say nothing yet, and the table keeps less of the best entries. 1,024
 * buckets of 128 slots, batches of 131,072 keys, share of the best entries that stay:
 *
 *     items at a time     1        1,024    2,048    8,192    67,584
 *     items that run      1        188      210      217      153
 *     share               99.56%   99.56%   99.53%   99.30%   97.5%     (by a model of the locks; an H200 had 97.4%) */
static inline hkv_launcher hkv_few_at_a_time(const hkv_launcher *all, const hkv_args *a, uint32_t lanes,
                                             uint32_t *threads)
{
    enum { WARP = 32 };
    hkv_launcher few = *all;
    uint64_t most = a->v.buckets * lanes;
    if (all->on.blocks_told) return few;
    if (most < *threads) *threads = most < WARP ? (uint32_t)WARP : (uint32_t)most / WARP * WARP;
    if (most < *threads) most = *threads;
    if (few.on.blocks_most > most / *threads) few.on.blocks_most = most / *threads;
    return few;
}

/* Erases and updates of coalesced write single sectors at random addresses. With too many lanes at a time the memory
 * gets slower, and with too few, items that write nothing wait. Rates on an H200, 1e9 keys/s, by blocks of a
 * multiprocessor:
 *
 *     blocks                                       4      5      6      8      12     32
 *     erase, hits, 128 Mi entries, dim 8           5.43   -      5.08   4.66   -      4.35
 *     erase, 60% hits, 16 Mi entries               8.08   8.61   8.95   9.05   8.44   8.57
 *     erase, 60% hits, 16 Mi entries, dual         6.01   6.70   7.15   7.42   7.36   7.33
 *     erase, misses, 16 Mi entries                 16.1   18.4   19.6   21.1   21.4   21.6
 *     assign_scores, hits, dim 64                  10.7   11.9   12.0   11.6   -      -     (its registers allow 8) */
static inline hkv_launcher hkv_few_that_write(const hkv_launcher *all, uint32_t row)
{
    enum { BLOCKS = 6 /* of a multiprocessor */ };
    hkv_launcher few = *all;
    uint32_t family = hkv_row(row)->family;
    if (family != HKV_ERASE && family != HKV_UPDATE) return few;
    if (row != hkv_row_of("coalesced", (hkv_family)family)) return few;
    uint64_t most = BLOCKS * all->on.blocks_few;
    if (most && !all->on.blocks_told && most < few.on.blocks_most) few.on.blocks_most = most;
    return few;
}

/* The launch of row `row` over items, or over a list of them. */
static inline hd_status hkv_launch_row(const hkv_launcher *all, uint32_t row, const hkv_args *a, bool listed)
{
    uint32_t lanes = hkv_row(row)->lanes, threads = hkv_row(row)->threads;
    const hkv_launcher l =
        hkv_locks_two(row, a) ? hkv_few_at_a_time(all, a, lanes, &threads) : hkv_few_that_write(all, row);
    return listed ? hkv_launch_listed(&l, row, a, lanes, threads) : hkv_launch_one(&l, row, a, lanes, threads);
}

/* The policy's input for item i of a batch without scores, by the table's clock. */
static inline hd_score_in hkv_unscored_in(const hkv_args *a, uint64_t i)
{
    uint64_t now = a->clock + i * a->per_item;
    hd_score_in in = hd_score_in_of(1, now, hd_tick_at(now, a->opened), a->epoch);
    return in;
}

/* Whether all items of the window have the same admission score. It does not fall from item to item (hkv_has_groups).
 * By the device's clock all items have one time. */
static inline bool hkv_admit_alike(const hkv_args *a)
{
    if (a->moment || a->v.admit_always) return true;
    const hd_program *p = &a->v.program;
    return hd_admission(a->v.policy, p, hkv_unscored_in(a, a->first)) ==
           hd_admission(a->v.policy, p, hkv_unscored_in(a, a->last - 1));
}

/* Items [first, last), no more than a window of groups where it has them. */
static inline hd_status hkv_launch_items(const hkv_launcher *l, uint32_t row, hkv_args *a)
{
    enum { THREADS = 128 };
    if (!hkv_has_groups(row, a)) return hkv_launch_row(l, row, a, false);
    hd_status s = hkv_counts_begin(l, a);
    a->groups.claim_mask = hkv_claim_mask(a->last - a->first);
    a->groups.picks = a->score && hkv_row(row)->family == HKV_UPSERT;
    a->groups.admit_alike = hkv_row(row)->family != HKV_UPSERT || (!a->score && hkv_admit_alike(a));
    if (!s) s = hkv_launch_one(l, HKV_NUMBER_groups_claim, a, 1, THREADS);
    if (!s) s = hkv_launch_listed(l, HKV_NUMBER_groups_join, a, 1, THREADS);
    if (!s && a->groups.picks) s = hkv_launch_listed(l, HKV_NUMBER_groups_pick, a, 1, THREADS);
    a->groups.pass = HKV_SINGLES;
    if (!s) s = hkv_launch_row(l, row, a, false);
    a->groups.pass = HKV_LEADERS;
    if (!s) s = hkv_launch_row(l, row, a, true);
    a->groups.pass = HKV_WHOLE;
    if (!s) s = hkv_launch_listed(l, HKV_NUMBER_groups_deliver, a, 1, THREADS);
    a->groups.pass = HKV_REST;
    if (!s && a->score && hkv_ranks(a)) s = hkv_launch_row(l, row, a, true);
    a->groups.pass = HKV_WHOLE;
    return hkv_counts_end(l, s);
}

/* Window after window. */
static inline hd_status hkv_launch_groups(const hkv_launcher *l, uint32_t row, hkv_args *a)
{
    hd_status s = HD_OK;
    for (a->last = 0; !s && hkv_next_window(a, a->groups.left_window);) s = hkv_launch_items(l, row, a);
    return s;
}

/* A keyed batch that lists: window after window, each run and then listed. */
static inline hd_status hkv_launch_windows(const hkv_launcher *l, uint32_t row, hkv_args *a)
{
    hd_status s = HD_OK;
    if (!a->list_value) a->list.stage_value = NULL;
    if (a->n == 0) return hkv_launch_list(l, HKV_NUMBER_list, a, 128);
    for (a->list.window = 0, a->last = 0; !s && hkv_next_window(a, l->window); a->list.window++) {
        s = hkv_launch_items(l, row, a);
        if (!s) s = hkv_launch_list(l, HKV_NUMBER_list, a, 128);
    }
    return s;
}

/* Whether far values are put off, and fetched in the order of their addresses. */
static inline bool hkv_fetches(const hkv_args *a)
{
    return a->op == HD_OP_FIND && a->value_out && a->v.far && a->fetch.entry;
}

enum {
    HKV_SORT_THREADS = 256,
    HKV_SORT_ITEMS = 4 /* of a thread: every block begins with all bins */,
    HKV_FETCH_THREADS = 128
};

/* The far tier in bins: as many as can be, but none narrower than the least. */
static inline void hkv_fetch_cut(hkv_args *a)
{
    uint64_t most = (hkv_capacity(&a->v) - hkv_near_values(&a->v)) * a->v.value_bytes - 1; /* where the last byte is */
    for (a->fetch.shift = HKV_FETCH_BIN_LEAST; most >> a->fetch.shift >= HKV_FETCH_BINS;) a->fetch.shift++;
    a->fetch.bins = (uint32_t)(most >> a->fetch.shift) + 1;
}

/* A find that puts off: window after window, each run, sorted, fetched. */
static inline hd_status hkv_launch_fetches(const hkv_launcher *l, uint32_t row, hkv_args *a)
{
    hd_status s = hkv_counts_begin(l, a);
    if (s) return s;
    hkv_fetch_cut(a);
    for (a->last = 0; !s && hkv_next_window(a, l->fetch_window);) {
        uint64_t threads = (a->last - a->first + HKV_SORT_ITEMS - 1) / HKV_SORT_ITEMS;
        s = hkv_launch_one(l, row, a, hkv_row(row)->lanes, hkv_row(row)->threads);
        if (!s)
            s = l->on.launch(l->on.self, HKV_NUMBER_fetch_sort, a, sizeof *a,
                             hd_launch_blocks(&l->on, threads, HKV_SORT_THREADS), HKV_SORT_THREADS);
        if (!s)
            s = l->on.launch(l->on.self, HKV_NUMBER_fetch_values, a, sizeof *a, l->on.blocks_few, HKV_FETCH_THREADS);
    }
    return hkv_counts_end(l, s);
}

/* True: the items of the batch list something, by way of the list buffer. */
static inline bool hkv_stages(const hkv_args *a)
{
    return (a->op == HD_OP_FIND_MISSED || a->op == HD_OP_INSERT_AND_EVICT) && hkv_list_wanted(a);
}

/* A table without entries, or of another size, remembers nothing. */
static inline hd_status hkv_forget_all(const hd_launcher *on, const hkv_view *v)
{
    hd_status s = HD_OK;
    if (v->ghost) s = on->zero(on->self, v->ghost, hkv_capacity(v) * sizeof *v->ghost);
    if (v->state && !s) s = on->zero(on->self, v->state, v->buckets * sizeof *v->state);
    if (v->count && !s) s = on->zero(on->self, v->count, v->buckets * hkv_count_words(v->slots) * sizeof *v->count);
    return s;
}

/* The launches of hkv_launch() but the last of find_or_insert_ptr. */
static inline hd_status hkv_launch_operation(const hkv_launcher *l, uint32_t row, hkv_args a)
{
    const hd_variant_row *r = hkv_row(row);
    bool stages = hkv_stages(&a);
    bool counts = r->family == HKV_SWEEP || r->family == HKV_PROMOTE;
    hd_status s = r->family == HKV_CLEAR ? hkv_forget_all(&l->on, &a.v) : HD_OK;
    bool fetches = hkv_fetches(&a);
    if (!stages) a.list.stage_flag = NULL;
    if (!fetches) a.fetch.entry = NULL;
    bool keyed = hd_op_does((hd_op)a.op, HD_NEEDS_KEY), ranged = hd_op_does((hd_op)a.op, HD_OF_SLOTS);
    a.first = ranged ? a.start : 0;
    a.last = keyed ? a.n : ranged ? a.start + a.n : hkv_capacity(&a.v);
    a.list.window = 0;
    if (s) return s;
    if (stages) return hkv_launch_windows(l, row, &a);
    if (fetches) return hkv_launch_fetches(l, row, &a);
    if (hkv_has_groups(row, &a)) return hkv_launch_groups(l, row, &a);
    if (r->family == HKV_EXPORT) return hkv_launch_list(l, row, &a, r->threads);
    if (counts && a.count) s = l->on.zero(l->on.self, a.count, sizeof *a.count);
    return s ? s : hkv_launch_row(l, row, &a, false);
}

/* Runs the batch that `a` describes (all but first, last, window) by kernel `row`. */
static inline hd_status hkv_launch(const hkv_launcher *l, uint32_t row, hkv_args a)
{
    enum { THREADS = 256 };
    hd_status s = hkv_launch_operation(l, row, a);
    if (s || a.op != HD_OP_FIND_OR_INSERT_PTR || !a.ptr || hkv_loser_is_known(&a)) return s;
    a.first = 0;
    a.last = a.n;
    return hkv_launch_one(l, HKV_NUMBER_pointers, &a, 1, THREADS);
}

#endif

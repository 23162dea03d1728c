/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - whole batches, on one thread or on several with the same result.
 *
 * Items act on each other only through a bucket that both can reach. So a single-bucket batch is split by
 * bucket and not by item: every thread reads every key, and applies, in item order, those whose bucket is in
 * its own range. Nothing is sorted, nothing allocated, and each bucket sees the order that one thread
 * would give it. Updates in dual mode never move an entry, so they are split the same way by first bucket.
 * Reads are split by item.
 *
 * On one thread: inserts in dual mode (two buckets may have two owners), what changes pins (one count of pins), and
 * insert_and_evict when a list is wanted (its order is that of the items).
 */
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/op.h"
#include "predicates/predicate.h"
#include "ref/hkv/hkv.h"

enum { PARALLEL_ITEMS = 2048 }; /* fewer items are not worth waking threads for: a fork costs some 10 us */

/* ---- One item in, one item out --------------------------------------------------------------- */

static hkv_item item_at(const hkv_view *v, const hd_batch *b, hkv_when when, uint64_t i)
{
    hkv_item it;
    it.op = b->op;
    it.elem = b->elem;
    it.flag = b->flag ? b->flag[i] : HD_EITHER;
    it.key = b->key[i];
    it.value = b->value && b->op != HD_OP_FIND_OR_INSERT_PTR ? (const char *)b->value + i * v->value_bytes : NULL;
    it.in.given = b->score ? b->score[i] : 1;
    it.in.now = when.clock + i * when.per_item;
    it.in.tick = when.by_device ? hd_tick_of(it.in.now, when.opened) : it.in.now;
    it.in.epoch = when.epoch;
    it.holder = b->holder;
    return it;
}

static void deliver(const hkv_view *v, const hd_batch *b, uint64_t i, const hkv_seen *seen)
{
    if (b->outcome) b->outcome[i] = (uint8_t)seen->outcome;
    uint32_t does = hd_op_row_of(b->op)->needs;
    bool found = seen->outcome == HD_HIT || seen->outcome == HD_PINNED;
    bool placed = seen->outcome == HD_INSERTED || seen->outcome == HD_EVICTED;
    if ((does & HD_GIVES_VALUE) && found && b->value_out && v->value_bytes)
        memcpy((char *)b->value_out + i * v->value_bytes, hkv_value(v, seen->entry), v->value_bytes);
    if ((does & HD_GIVES_SCORE) && found && b->score_out) b->score_out[i] = seen->score;
    if (!(does & HD_GIVES_PTR) || !b->ptr || seen->outcome == HD_RESERVED) return;
    if (b->op == HD_OP_FIND_OR_INSERT_PTR)
        b->ptr[i] = found || placed ? (void *)(uintptr_t)(seen->entry + 1) : NULL; /* give_pointers */
    else if (found)
        b->ptr[i] = hkv_value(v, seen->entry);
}

/* A later item may have evicted the entry that an item of find_or_insert_ptr found or inserted. So b->ptr has numbers
 * of entries, plus 1, until all items have run. */
static void give_pointers(const hkv_view *v, const hd_batch *b)
{
    for (uint64_t i = 0; i < b->n; i++) {
        if (b->key[i] >= HD_KEY_RESERVED || !b->ptr[i]) continue;
        uint64_t e = (uint64_t)(uintptr_t)b->ptr[i] - 1;
        b->ptr[i] = *hkv_key_at(v, e) == b->key[i] ? hkv_value(v, e) : NULL;
    }
}

/* ---- Lists: compacted in item order ---------------------------------------------------------- */

static bool list_wanted(const hd_batch *b)
{
    return b->list_key || b->list_value || b->list_score || b->list_item || b->count;
}

static void list_put(const hkv_view *v, const hd_batch *b, uint64_t at, uint64_t key, const void *value, uint64_t score,
                     uint64_t item)
{
    if (b->list_key) b->list_key[at] = key;
    if (b->list_score) b->list_score[at] = score;
    if (b->list_item) b->list_item[at] = item;
    if (b->list_value && value && v->value_bytes)
        memcpy((char *)b->list_value + at * v->value_bytes, value, v->value_bytes);
}

/* insert_and_evict: lists the entry that item i evicted, or the refused item i. The victim's value is in the list
 * already. */
static void list_gone(const hkv_view *v, const hd_batch *b, uint64_t at, uint64_t i, const hkv_item *it,
                      const hkv_seen *seen)
{
    if (seen->outcome == HD_EVICTED)
        list_put(v, b, at, seen->gone_key, NULL, seen->gone_score, i);
    else
        list_put(v, b, at, it->key, it->value, seen->score, i);
}

/* ---- Keyed batches --------------------------------------------------------------------------- */

/* Items first to last - 1 whose first bucket is in [low, high), in order. */
typedef struct part {
    uint64_t first, last;
    uint64_t low, high;
} part;

static bool has_role(const hd_batch *b, hd_role role) { return hd_op_row_of(b->op)->role == role; }

/* Memory that an item will need is asked for a few items early: its digests, and for an insert the scores, which an
 * eviction reads from end to end. A table that the cache holds needs none of it. */
static void look_ahead(const hkv_view *v, const hd_batch *b, uint64_t i, uint64_t last)
{
    enum { AHEAD = 8, LINE = 64, CACHED_ENTRIES = 1 << 16 };
    if (i + AHEAD >= last || hkv_capacity(v) <= CACHED_ENTRIES) return;
    uint64_t e = hkv_entry(v, hd_first_bucket(hd_hash(b->key[i + AHEAD], v->seed), v->buckets), 0);
    for (uint32_t s = 0; s < v->slots; s += LINE) __builtin_prefetch(v->digest + e + s);
    if (has_role(b, HD_READER) || has_role(b, HD_UPDATER)) return;
    const char *score = (const char *)hkv_score_at(v, e);
    for (size_t at = 0; at < (size_t)v->slots * 8 * v->step; at += LINE) __builtin_prefetch(score + at);
}

static void run_part(hkv_view *v, const hd_batch *b, hkv_when when, part p, uint64_t *tally)
{
    bool all = p.low == 0 && p.high == v->buckets;
    bool evicts = b->op == HD_OP_INSERT_AND_EVICT && list_wanted(b);
    uint64_t gone = 0;
    for (uint64_t i = p.first; i < p.last; i++) {
        look_ahead(v, b, i, p.last);
        if (!all) {
            uint64_t bucket = hd_first_bucket(hd_hash(b->key[i], v->seed), v->buckets);
            if (bucket < p.low || bucket >= p.high) continue;
        }
        hkv_item it = item_at(v, b, when, i);
        hkv_seen seen;
        hkv_apply(v, &it, &seen, evicts && b->list_value ? (char *)b->list_value + gone * v->value_bytes : NULL);
        deliver(v, b, i, &seen);
        tally[seen.outcome]++;
        if (evicts && (seen.outcome == HD_EVICTED || seen.outcome == HD_REFUSED))
            list_gone(v, b, gone++, i, &it, &seen);
    }
    if (evicts && b->count) *b->count = gone;
}

static bool is_missed(const hkv_view *v, const hd_batch *b, uint64_t i)
{
    if (b->outcome) return b->outcome[i] == HD_MISS;
    return b->key[i] < HD_KEY_RESERVED && hkv_find(v, b->key[i]) == HKV_NOWHERE;
}

/* find_missed's list of items first to last - 1, from place `at` on; returns the next place. */
static uint64_t list_missed(const hkv_view *v, const hd_batch *b, uint64_t first, uint64_t last, uint64_t at)
{
    for (uint64_t i = first; i < last; i++)
        if (is_missed(v, b, i)) {
            if (b->list_key) b->list_key[at] = b->key[i];
            if (b->list_item) b->list_item[at] = i;
            at++;
        }
    return at;
}

/* A share of 0 .. n - 1 for thread t of many. */
static uint64_t share(uint64_t n, uint64_t t, uint64_t many) { return n / many * t + (n % many * t) / many; }

/* Adds what this thread counted, in the order of the threads; returns the sum of those before it. Every thread of the
 * parallel region calls it. counts (HD_OUTCOME_COUNT) goes to tally; NULL: there are none. */
static uint64_t add_in_turn(uint64_t many, uint64_t mine, uint64_t *sum, const uint64_t *counts, uint64_t *tally)
{
    uint64_t before = 0;
#ifdef _OPENMP
#pragma omp for ordered schedule(static, 1)
#endif
    for (uint64_t k = 0; k < many; k++) {
#ifdef _OPENMP
#pragma omp ordered
#endif
        {
            before = *sum;
            *sum += mine;
            for (int o = 0; counts && o < HD_OUTCOME_COUNT; o++) tally[o] += counts[o];
        }
    }
    return before;
}

static uint32_t threads_for(const hkv_view *v, const hd_batch *b, hkv_when when)
{
    bool alone = (v->dual && has_role(b, HD_INSERTER)) || hd_op_family(b->op) == HD_FAMILY_PIN || hkv_batch_pins(b) ||
                 (b->op == HD_OP_INSERT_AND_EVICT && list_wanted(b));
    return alone || b->n < PARALLEL_ITEMS ? 1 : when.threads;
}

static void run_keyed(hkv_view *v, const hd_batch *b, hkv_when when, uint64_t *tally)
{
    uint32_t threads = threads_for(v, b, when);
    uint64_t missed_before = 0; /* by the threads of lower number */
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel num_threads((int)threads) if (threads > 1)
#endif
    {
        uint64_t t = 0, many = 1, mine[HD_OUTCOME_COUNT] = { 0 };
#ifdef _OPENMP
        t = (uint64_t)omp_get_thread_num();
        many = (uint64_t)omp_get_num_threads();
#endif
        part p = { 0, b->n, 0, v->buckets };
        if (has_role(b, HD_READER)) {
            p.first = share(b->n, t, many);
            p.last = share(b->n, t + 1, many);
        } else {
            p.low = share(v->buckets, t, many);
            p.high = share(v->buckets, t + 1, many);
        }
        run_part(v, b, when, p, mine);
        uint64_t at = add_in_turn(many, mine[HD_MISS], &missed_before, mine, tally);
        if (b->op == HD_OP_FIND_MISSED && list_wanted(b)) list_missed(v, b, p.first, p.last, at);
    }
    if (b->op == HD_OP_FIND_MISSED && b->count) *b->count = missed_before;
}

/* ---- Table-wide operations ------------------------------------------------------------------- */

static bool holds(const hkv_view *v, const hd_batch *b, uint32_t predicate, uint64_t e)
{
    if (v->digest[e] == HKV_NO_DIGEST) return false;
    return hd_predicate_holds(predicate, *hkv_key_at(v, e), *hkv_score_at(v, e), hkv_value(v, e), v->value_bytes,
                              b->pred_arg[0], b->pred_arg[1]);
}

/* Entries [first, last) that the predicate holds for: listed from place `at` on when `list`, erased when the
 * operation is erase_if, counted always. */
static uint64_t scan(hkv_view *v, const hd_batch *b, uint32_t predicate, uint64_t first, uint64_t last, bool list,
                     uint64_t at)
{
    uint64_t n = 0;
    for (uint64_t e = first; e < last; e++) {
        if (!holds(v, b, predicate, e)) continue;
        if (b->op == HD_OP_ERASE_IF) {
            if (hkv_holder_of(v, e)) continue;
            hkv_make_empty(v, e);
        }
        if (list) list_put(v, b, at + n, *hkv_key_at(v, e), hkv_value(v, e), *hkv_score_at(v, e), e);
        n++;
    }
    return n;
}

/* Whether what the scan finds becomes a list. */
static bool scan_lists(const hd_batch *b, bool exports)
{
    return exports && (b->list_key || b->list_value || b->list_score || b->list_item);
}

static void run_scan(hkv_view *v, const hd_batch *b, hkv_when when)
{
    bool exports = b->op == HD_OP_EXPORT || b->op == HD_OP_EXPORT_IF, list = scan_lists(b, exports);
    uint64_t start = exports ? b->start : 0, n = exports ? b->n : hkv_capacity(v), before = 0;
    uint32_t predicate = hd_predicate_of(b), threads = n < PARALLEL_ITEMS ? 1 : when.threads;
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel num_threads((int)threads) if (threads > 1)
#endif
    {
        uint64_t t = 0, many = 1;
#ifdef _OPENMP
        t = (uint64_t)omp_get_thread_num();
        many = (uint64_t)omp_get_num_threads();
#endif
        uint64_t first = start + share(n, t, many), last = start + share(n, t + 1, many), at = 0;
        uint64_t mine = list && many == 1 ? 0 : scan(v, b, predicate, first, last, false, 0);
        at = add_in_turn(many, mine, &before, NULL, NULL);
        if (list) mine = scan(v, b, predicate, first, last, true, at);
        if (list && many == 1) before = mine;
    }
    if (b->count) *b->count = before;
}

void hkv_clear(hkv_view *v, uint32_t threads)
{
    uint64_t entries = hkv_capacity(v);
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel for num_threads((int)threads) if (threads > 1 && entries > 1 << 20)
#endif
    for (uint64_t e = 0; e < entries; e++) hkv_make_empty(v, e);
    if (v->holder) memset(v->holder, 0, entries * sizeof *v->holder);
    v->pins = 0;
}

static void run_promote(hkv_view *v, const hd_batch *b, hkv_when when)
{
    uint64_t moved = hkv_promote(v, b->start, b->n, when.threads);
    if (b->count) *b->count = moved;
}

bool hkv_batch_pins(const hd_batch *b)
{
    return b->n > 0 && (b->op == HD_OP_LOCK_KEYS || (b->holder && hd_op_does(b->op, HD_MAY_PIN)));
}

void hkv_run_batch(hkv_view *v, const hd_batch *b, hkv_when when, uint64_t *tally)
{
    if (b->op == HD_OP_CLEAR)
        hkv_clear(v, when.threads);
    else if (b->op == HD_OP_PROMOTE)
        run_promote(v, b, when);
    else if (!hd_op_does(b->op, HD_NEEDS_KEY))
        run_scan(v, b, when);
    else
        run_keyed(v, b, when, tally);
    if (b->op == HD_OP_FIND_OR_INSERT_PTR && b->ptr) give_pointers(v, b);
}

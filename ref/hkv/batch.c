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
#include "ref/hkv/ahead.h"

enum { PARALLEL_ITEMS = 2048 }; /* fewer items are not worth waking threads for: a fork costs some 10 us */

/* ---- One item in, one item out --------------------------------------------------------------- */

static bool list_wanted(const hd_batch *b)
{
    return b->list_key || b->list_value || b->list_score || b->list_item || b->count;
}

/* What is the same for all items of a batch. */
typedef struct course {
    const hd_batch *b;
    hkv_when when;
    uint32_t does; /* hd_op_row.needs */
    hkv_uses uses;
    bool evicts; /* lists what leaves and what is refused */
    bool values; /* reads b->value */
} course;

static course course_of(const hkv_view *v, const hd_batch *b, hkv_when when)
{
    const hd_op_row *row = hd_op_row_of(b->op);
    course c = { b,
                 when,
                 row->needs,
                 hkv_uses_of(v, b),
                 b->op == HD_OP_INSERT_AND_EVICT && list_wanted(b),
                 b->value && b->op != HD_OP_FIND_OR_INSERT_PTR };
    return c;
}

/* Of the item, what is the same for all. */
static hkv_item item_of(const course *c)
{
    hkv_item it;
    memset(&it, 0, sizeof it);
    it.op = c->b->op;
    it.elem = c->b->elem;
    it.flag = HD_EITHER;
    it.in.given = 1;
    it.in.epoch = c->when.epoch;
    it.holder = c->b->holder;
    return it;
}

/* Makes it item i. */
static inline void item_set(hkv_item *it, const hkv_view *v, const course *c, uint64_t i)
{
    const hd_batch *b = c->b;
    it->key = b->key[i];
    if (b->flag) it->flag = b->flag[i];
    if (c->values) it->value = (const char *)b->value + i * v->value_bytes;
    if (b->score) it->in.given = b->score[i];
    it->in.now = c->when.clock + i * c->when.per_item;
    it->in.tick = c->when.by_device ? hd_tick_of(it->in.now, c->when.opened) : it->in.now;
}

static inline void deliver(const hkv_view *v, const course *c, uint64_t i, const hkv_seen *seen)
{
    const hd_batch *b = c->b;
    if (b->outcome) b->outcome[i] = (uint8_t)seen->outcome;
    if (!(c->does & (HD_GIVES_BOTH | HD_GIVES_PTR))) return;
    bool found = seen->outcome == HD_HIT || seen->outcome == HD_PINNED;
    bool placed = seen->outcome == HD_INSERTED || seen->outcome == HD_EVICTED;
    if ((c->does & HD_GIVES_VALUE) && found && b->value_out && v->value_bytes)
        memcpy((char *)b->value_out + i * v->value_bytes, hkv_value(v, seen->entry), v->value_bytes);
    if ((c->does & HD_GIVES_SCORE) && found && b->score_out) b->score_out[i] = *hkv_score_at(v, seen->entry);
    if (!(c->does & HD_GIVES_PTR) || !b->ptr || seen->outcome == HD_RESERVED) return;
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

/* The next items of the part, from *i on. Their digests are asked for. */
static void take_window(const hkv_view *v, const hd_batch *b, const part *p, uint32_t items, uint64_t *i, hkv_window *w)
{
    uint32_t n = 0;
    uint64_t at = *i;
    for (; at < p->last && n < items; at++) {
        hkv_home home = hkv_home_of(v, b->key[at]);
        if (home.bucket[0] < p->low || home.bucket[0] >= p->high) continue;
        w->item[n] = at;
        w->home[n++] = home;
    }
    w->n = n;
    *i = at;
    hkv_ask_digests(v, w);
}

static void run_window(hkv_view *v, const course *c, hkv_item *it, const hkv_window *w, uint64_t *gone, uint64_t *tally)
{
    for (uint32_t k = 0; k < w->n; k++) {
        uint64_t i = w->item[k];
        hkv_seen seen;
        item_set(it, v, c, i);
        void *gone_value = c->evicts && c->b->list_value ? (char *)c->b->list_value + *gone * v->value_bytes : NULL;
        hkv_apply_at(v, it, &w->home[k], &seen, gone_value);
        deliver(v, c, i, &seen);
        tally[seen.outcome]++;
        if (c->evicts && (seen.outcome == HD_EVICTED || seen.outcome == HD_REFUSED))
            list_gone(v, c->b, (*gone)++, i, it, &seen);
    }
}

static void run_part(hkv_view *v, const course *c, part p, uint64_t *tally)
{
    hkv_pace pace = hkv_pace_of(v, c->uses);
    uint32_t way = pace.stages + 1; /* windows on their way */
    uint64_t gone = 0, i = p.first;
    hkv_item it = item_of(c);
    hkv_window w[HKV_STAGES + 1];
    for (uint32_t k = 0; k < way; k++) w[k].n = w[k].guesses = w[k].found = 0;
    for (uint32_t now = 0, idle = 0; idle <= way; now = (now + 1) % way) {
        /* from the newest window to the oldest one, which runs */
        take_window(v, c->b, &p, pace.items, &i, &w[now]);
        for (uint32_t k = 0; k < pace.stages; k++) hkv_look_ahead(v, c->b, c->uses, k, &w[(now + way - k - 1) % way]);
        hkv_window *oldest = &w[(now + 1) % way];
        idle = oldest->n ? 0 : idle + 1;
        run_window(v, c, &it, oldest, &gone, tally);
        oldest->n = 0;
    }
    if (c->evicts && c->b->count) *c->b->count = gone;
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
    const course c = course_of(v, b, when);
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
        run_part(v, &c, p, mine);
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

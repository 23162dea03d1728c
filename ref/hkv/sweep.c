/* SPDX-License-Identifier: Apache-2.0
 *
 * sweep.c - operations on all entries, or on a range of slots: each thread has a share of the slots.
 */
#include <string.h>

#include "base/op.h"
#include "policies/predicates/predicate.h"
#include "ref/hkv/lists.h"
#include "ref/hkv/share.h"

static bool holds(const hkv_view *v, const hd_batch *b, uint32_t predicate, uint64_t e)
{
    if (v->digest[e] == HKV_NO_DIGEST) return false;
    if (predicate == HD_PREDICATE_all) return true; /* its digest was all that had to be read */
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
        if (list) hkv_list_put(v, b, at + n, *hkv_key_at(v, e), hkv_value(v, e), *hkv_score_at(v, e), e);
        n++;
    }
    return n;
}

/* Whether what the scan finds becomes a list. */
static bool scan_lists(const hd_batch *b, bool exports)
{
    return exports && (b->list_key || b->list_value || b->list_score || b->list_item);
}

typedef struct sweep {
    hkv_view *v;
    const hd_batch *b;
    uint64_t found;
} sweep;

/* Scans a share of the batch's slots. */
static void scan_share(hd_team *m, uint32_t t, uint32_t many, void *context)
{
    sweep *s = (sweep *)context;
    hkv_view *v = s->v;
    const hd_batch *b = s->b;
    bool exports = b->op == HD_OP_EXPORT || b->op == HD_OP_EXPORT_IF, list = scan_lists(b, exports);
    uint64_t start = exports ? b->start : 0, n = exports ? b->n : hkv_capacity(v);
    uint64_t first = start + hd_team_share(n, t, many), last = start + hd_team_share(n, t + 1, many);
    uint32_t predicate = hd_predicate_of(b);
    uint64_t mine = list && many == 1 ? 0 : scan(v, b, predicate, first, last, false, 0);
    uint64_t at = hkv_add_in_turn(m, t, mine, &s->found, NULL, NULL);
    uint64_t listed = list ? scan(v, b, predicate, first, last, true, at) : 0;
    HD_ASSERT(!list || many == 1 || listed == mine, "the list has another length than was counted");
    if (list && many == 1) s->found = listed;
}

void hkv_run_scan(hkv_view *v, const hd_batch *b, hkv_when when)
{
    bool exports = b->op == HD_OP_EXPORT || b->op == HD_OP_EXPORT_IF;
    uint64_t n = exports ? b->n : hkv_capacity(v);
    sweep s = { v, b, 0 };
    hd_team_run(n < HKV_PARALLEL_ITEMS ? 1 : when.threads, n, scan_share, &s);
    HD_ASSERT(s.found <= n, "more entries than slots");
    if (b->count) *b->count = s.found;
}

static void clear_share(hd_team *m, uint32_t t, uint32_t many, void *context)
{
    hkv_view *v = (hkv_view *)context;
    (void)m;
    uint64_t entries = hkv_capacity(v), last = hd_team_share(entries, t + 1, many);
    for (uint64_t e = hd_team_share(entries, t, many); e < last; e++) hkv_make_empty(v, e);
}

void hkv_clear(hkv_view *v, uint32_t threads)
{
    uint64_t entries = hkv_capacity(v);
    hd_team_run(entries > 1 << 20 ? threads : 1, entries, clear_share, v);
    if (v->holder) memset(v->holder, 0, entries * sizeof *v->holder);
    if (v->ghost) memset(v->ghost, 0, entries * sizeof *v->ghost);
    if (v->state) memset(v->state, 0, v->buckets * sizeof *v->state);
    if (v->count) memset(v->count, 0, hkv_counts_of(v) * sizeof *v->count);
    v->pins = 0;
}

void hkv_run_promote(hkv_view *v, const hd_batch *b, hkv_when when)
{
    uint64_t moved = hkv_promote(v, b->start, b->n, when.threads);
    if (b->count) *b->count = moved;
}

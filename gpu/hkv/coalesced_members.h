/* SPDX-License-Identifier: Apache-2.0
 *
 * coalesced_members.h - what the members of a group deliver, after the leader has taken effect for all of them
 * (repeated_keys.h).
 */
#ifndef HKV_COALESCED_MEMBERS_H
#define HKV_COALESCED_MEMBERS_H

#include "gpu/hkv/coalesced_loop.h"

/* ---- Sums of members that add ---------------------------------------------------------------- */

/* A sum of pieces of members' values that has not been added to its entry yet. */
typedef struct hkv_sum {
    uint8_t *at; /* the piece in the entry's value; NULL: nothing to add */
    simt_v4 sum;
} hkv_sum;

SIMT_FN void hkv_sum_end(const hkv_args *a, hkv_sum *s, uint32_t bytes)
{
    if (s->at) gpu_piece_add(a->elem, s->at, bytes, s->sum);
    s->at = (uint8_t *)0;
}

/* Adds a sum to the entry's piece `at`: the same piece as before, if the sum has one. */
SIMT_FN void hkv_sum_add(const hkv_args *a, hkv_sum *s, uint8_t *at, simt_v4 x)
{
    s->sum = s->at ? gpu_piece_sum(a->elem, s->sum, x) : x;
    s->at = at;
}

/* Adds up the sums of lanes with the same `run`, which are neighbours among the lanes that have the same piece: those
 * `sharers` apart. The first of them keeps the sum. */
SIMT_FN void hkv_sums_meet(simt_tile w, const hkv_args *a, hkv_sum *s, uint32_t sharers, uint32_t run)
{
    SIMT_ROLLED
    for (uint32_t next = sharers; next < 32; next *= 2) {
        uint32_t from = w.rank + next < 32 ? w.rank + next : w.rank;
        bool same = from != w.rank;
        hkv_sum other;
        if (simt_shfl_u32(w, run, from) != run) same = false;
        other.at = (uint8_t *)(uintptr_t)simt_shfl_u64(w, (uintptr_t)s->at, from);
        other.sum.x = simt_shfl_u32(w, s->sum.x, from);
        other.sum.y = simt_shfl_u32(w, s->sum.y, from);
        other.sum.z = simt_shfl_u32(w, s->sum.z, from);
        other.sum.w = simt_shfl_u32(w, s->sum.w, from);
        if (same && other.at) hkv_sum_add(a, s, other.at, other.sum);
    }
    bool first = simt_shfl_u32(w, run, w.rank < sharers ? w.rank : w.rank - sharers) != run;
    if (!first && w.rank >= sharers) s->at = (uint8_t *)0;
}

/* Adds values of members to the values of their entries, for the lanes with `adds`; other lanes pass NULL. Neighbouring
 * lanes with the same `run` have members of one group. A value consists of pieces of 16 bytes, or of one element where
 * an address or the size is no multiple of 16. 2^bits lanes take the pieces of one value, and each adds up those of
 * several members before it writes, as long as they go to the same entry. */
SIMT_FN void hkv_members_add(simt_tile w, const hkv_args *a, uint8_t *to, const uint8_t *from, bool adds, uint32_t run)
{
    bool wide = simt_all(w, ((uintptr_t)to | (uintptr_t)from | a->v.value_bytes) % 16 == 0);
    uint32_t bytes = wide ? 16 : gpu_elem_bytes(a->elem), n = a->v.value_bytes / bytes, bits = 0;
    if (!simt_any(w, adds)) return;
    while (bits < 5 && 1u << bits < n) bits++;
    uint32_t sharers = 1u << bits, first = w.rank & ~(sharers - 1);
    SIMT_ROLLED
    for (uint32_t e = w.rank - first; e < (n + sharers - 1) >> bits << bits; e += sharers) {
        uint32_t sum_run = simt_shfl_u32(w, run, first);
        hkv_sum s;
        s.at = (uint8_t *)0;
        s.sum.x = s.sum.y = s.sum.z = s.sum.w = 0;
        SIMT_ROLLED
        for (uint32_t member = first; member < first + sharers; member++) {
            uint8_t *target = (uint8_t *)(uintptr_t)simt_shfl_u64(w, (uintptr_t)to, member);
            const uint8_t *source = (const uint8_t *)(uintptr_t)simt_shfl_u64(w, (uintptr_t)from, member);
            uint32_t its_run = simt_shfl_u32(w, run, member);
            if (its_run != sum_run) hkv_sum_end(a, &s, bytes);
            sum_run = its_run;
            if (e < n && target) hkv_sum_add(a, &s, target + e * bytes, gpu_piece_load(source + e * bytes, bytes));
        }
        simt_join();
        hkv_sums_meet(w, a, &s, sharers, sum_run);
        hkv_sum_end(a, &s, bytes);
        simt_join();
    }
}

/* ---- The order of members that add ----
 *
 * Most adds of skewed batches go to few entries, and the adds to one entry run one after the other. So a warp takes
 * many members at a time, and puts those of a group side by side: it counts the members of each bin of groups, and
 * gives every bin a range of places. Members of two groups in one bin may come in turn; they are then added up in
 * several runs. */

/* How many members a warp orders at a time at most, and how many bins there are. */
enum { HKV_ORDER_BITS = 8, HKV_ORDER_MOST = 1 << HKV_ORDER_BITS, HKV_ORDER_BINS = HKV_ORDER_MOST };

/* Words in the rows of the warp, 32 in each: HKV_ORDER_MOST places, and then the bins. */
SIMT_FN uint32_t *hkv_order_word(uint8_t *rows, uint32_t k)
{
    return (uint32_t *)(void *)(rows + k / 32 * HKV_COALESCED_ROW) + k % 32;
}

/* The bin of member k: by its group. */
SIMT_FN uint32_t *hkv_order_bin(const hkv_args *a, uint8_t *rows, uint32_t k)
{
    uint32_t first = simt_ld_u32(hkv_left(a, HKV_FIRST_OF) + k);
    return hkv_order_word(rows, HKV_ORDER_MOST + (first * 0x9e3779b1u >> (32 - HKV_ORDER_BITS)));
}

/* Replaces the count of each bin by the number of members in the bins before it. */
SIMT_FN void hkv_order_sum(simt_tile w, uint8_t *rows)
{
    uint32_t before = 0;
    SIMT_ROLLED
    for (uint32_t k = w.rank; k < HKV_ORDER_BINS; k += 32) {
        uint32_t *bin = hkv_order_word(rows, HKV_ORDER_MOST + k), mine = simt_ld_u32(bin), sum = mine;
        SIMT_UNROLL
        for (uint32_t d = 1; d < 32; d *= 2) {
            uint32_t other = simt_shfl_u32(w, sum, w.rank < d ? w.rank : w.rank - d);
            if (w.rank >= d) sum += other;
        }
        simt_st_u32(bin, before + sum - mine);
        before += simt_shfl_u32(w, sum, 31);
    }
}

/* Orders members [at, at + n) of the list: place k has the number of one, less `at`. */
SIMT_FN void hkv_order_members(simt_tile w, const hkv_args *a, uint8_t *rows, uint32_t at, uint32_t n)
{
    simt_sync_tile(w);
    for (uint32_t k = w.rank; k < HKV_ORDER_BINS; k += 32) simt_st_u32(hkv_order_word(rows, HKV_ORDER_MOST + k), 0);
    simt_sync_tile(w);
    for (uint32_t k = w.rank; k < n; k += 32) simt_shared_add_u32(hkv_order_bin(a, rows, at + k), 1);
    simt_sync_tile(w);
    hkv_order_sum(w, rows);
    simt_sync_tile(w);
    for (uint32_t k = w.rank; k < n; k += 32) {
        uint32_t place = simt_shared_add_u32(hkv_order_bin(a, rows, at + k), 1);
        simt_st_u32(hkv_order_word(rows, place), k);
    }
    simt_sync_tile(w);
}

/* How many members a warp takes at a time: where they add, so many that no warp takes members twice, up
 * to HKV_ORDER_MOST. */
SIMT_FN uint32_t hkv_members_at_a_time(const hkv_args *a, uint32_t n)
{
    uint32_t each = 32;
    if (a->op != HD_OP_ACCUM_OR_ASSIGN) return each;
    while (each < HKV_ORDER_MOST && (uint64_t)each * hkv_warps() < n) each *= 2;
    return each;
}
/* ---- What a member delivers ------------------------------------------------------------------ */

/* Whether member n was refused before the leader was admitted: any of those that do not come last. */
SIMT_FN bool hkv_member_refused(const hkv_args *a, hkv_group *g, uint32_t n)
{
    if (!hkv_counts_keys(a) || !hkv_was_placed(simt_ld_u32(&g->outcome))) return false;
    if ((int32_t)simt_ldrlx_u32(&g->refused) <= 0 || n == hkv_group_other(a, g)) return false;
    return (int32_t)simt_add_u32(&g->refused, UINT32_MAX, SIMT_RELAXED) > 0;
}

/* What became of the member of rule r, when its leader had `outcome`. Where flags tell, the leader says whether the key
 * was present. */
SIMT_FN uint32_t hkv_member_outcome(const hkv_args *a, uint64_t entry, uint32_t outcome, hkv_rule r)
{
    if (hkv_was_placed(outcome)) return r.found;
    if (!hkv_flags_tell(a) || outcome == HD_MISS) return outcome;
    if (outcome == HD_REFUSED) return r.insert ? HD_REFUSED : HD_MISS;
    return r.rescore && hkv_is_pinned(a, entry) ? HD_PINNED : r.found;
}

/* The last hit of the group, if it comes after the leader and all others; HKV_NO_MEMBER: the leader is the last. */
SIMT_FN uint32_t hkv_member_at_end(const hkv_args *a, const hkv_group *g, bool placed)
{
    if (placed) return hkv_group_other(a, g);
    return hkv_flags_tell(a) ? hkv_group_last_hit(g) : HKV_NO_MEMBER;
}

/* The place of a member in the order of its group, where the leader has place 0 (repeated_keys.h). Members whose hits
 * neither add up nor ignore earlier ones come in the order of the batch. */
SIMT_FN int64_t hkv_member_place(const hkv_args *a, const hkv_group *g, uint32_t n, uint32_t rank, bool placed)
{
    if (n == hkv_member_at_end(a, g, placed) && !hkv_ranks(a)) return 1ll << 32;
    if (a->policy_flags & HD_LATEST_COUNTS) rank = n;
    return placed ? (int64_t)rank + 1 : (int64_t)rank - (1ll << 32);
}

/* The score after member k. */
SIMT_FN uint64_t hkv_member_score(const hkv_args *a, const hkv_group *g, uint32_t k, uint64_t i, uint32_t rank,
                                  bool placed)
{
    uint64_t lead = hkv_group_leader(a, g);
    hd_score_in in = hkv_score_in(a, i), lead_in = hkv_score_in(a, a->first + hkv_ranked_item(lead));
    bool anew = placed && !hkv_keeps_order(a);
    uint64_t from = anew ? hd_on_insert(a->v.policy, hkv_program(a), lead_in) : simt_ld_u64(&g->before);
    if (a->policy_flags & HD_HITS_ADD) {
        in.given += a->score ? simt_ld_u64(a->groups.left_before + k) : rank;
        if (hkv_ranked_rank(lead) < rank) in.given -= lead_in.given; /* the leader comes last, or was counted already */
    }
    return hd_on_hit(a->v.policy, hkv_program(a), from, in);
}

/* A member that is told what became of it. */
typedef struct hkv_told {
    hkv_one one;
    const uint8_t *from; /* where the value that it delivers, or adds, comes from */
    uint8_t *sum;        /* the value that it adds to; NULL: none                 */
} hkv_told;

/* Member k, which is not the leader: its outcome, its score, and which values it moves. */
SIMT_FN void hkv_tell(const hkv_args *a, hkv_told *m, hkv_group *g, uint32_t k, uint32_t n)
{
    uint64_t leader = hkv_group_leader(a, g);
    bool refused = hkv_member_refused(a, g, n);
    uint32_t led = refused ? HD_REFUSED : simt_ld_u32(&g->outcome), rank = hkv_member_rank(a, k);
    bool placed = hkv_was_placed(led);
    hkv_one *o = &m->one;
    o->i = a->first + n;
    hkv_rule r = hkv_rule_of(a, o->i);
    o->key = simt_ld_u64(a->key + o->i);
    o->entry = refused ? HKV_NONE : simt_ld_u64(&g->entry);
    o->outcome = hkv_member_outcome(a, o->entry, led, r);
    o->score = hd_on_insert(a->v.policy, hkv_program(a), hkv_score_in(a, o->i));
    if (o->outcome == HD_PINNED)
        o->score = simt_ld_u64(&g->before);
    else if (hkv_was_found(o->outcome) && a->score_out)
        o->score = hkv_member_score(a, g, k, o->i, rank, placed);
    if (hkv_was_found(o->outcome) && hkv_delivers_value(a->op) && a->value_out) {
        m->from = (placed ? a->value : a->value_out) + (a->first + hkv_ranked_item(leader)) * a->v.value_bytes;
        o->out = a->value_out + o->i * a->v.value_bytes;
    }
    /* An entry that another item has evicted since has lost the sum, too. */
    if (r.change == HKV_ADD && o->outcome == HD_UPDATED && simt_ld_u64(hkv_key_at(&a->v, o->entry)) == o->key) {
        m->from = a->value + o->i * a->v.value_bytes;
        m->sum = hkv_value(&a->v, o->entry);
    }
    simt_ticket_beside(o->i, o->outcome, 0, o->entry, a->first + hkv_ranked_item(leader),
                       hkv_member_place(a, g, n, rank, placed));
}

/* Numbers the runs of neighbouring lanes with the same x. Returns the number of this lane's run. */
SIMT_FN uint32_t hkv_run_of_lanes(simt_tile w, uint32_t x)
{
    uint32_t before = simt_shfl_u32(w, x, w.rank ? w.rank - 1 : 0);
    uint32_t starts = simt_ballot(w, w.rank == 0 || before != x);
    return simt_popc(starts & (0xffffffffu >> (31 - w.rank)));
}

/* Delivers the outputs of member k, for the lanes with `valid`. */
SIMT_FN void hkv_follow(simt_tile w, const hkv_args *a, uint64_t *tally, uint32_t k, bool valid)
{
    hkv_told m;
    m.one = hkv_begin_with(a, a->last, 0);
    m.from = (const uint8_t *)0;
    m.sum = (uint8_t *)0;
    uint32_t first = HKV_CLAIM_ITEMS; /* of no group */
    if (valid) {
        uint32_t n = simt_ld_u32(hkv_left(a, HKV_MEMBERS) + k);
        first = simt_ld_u32(hkv_left(a, HKV_FIRST_OF) + k);
        hkv_group *g = a->groups.group + first;
        simt_st_u32(a->groups.role + n, HKV_SINGLE);
        valid = n != hkv_ranked_item(hkv_group_leader(a, g));
        if (valid) hkv_tell(a, &m, g, k, n);
        if (valid) hkv_tally_add(tally, m.one.outcome);
        if (valid) hkv_deliver_early(a, &m.one);
        if (valid) hkv_deliver(a, &m.one);
    }
    simt_join();
    if (a->op == HD_OP_ACCUM_OR_ASSIGN)
        hkv_members_add(w, a, m.sum, m.from, m.sum != (uint8_t *)0, hkv_run_of_lanes(w, first));
    else
        hkv_rows_copy(w, m.one.out, m.from, m.one.out != (uint8_t *)0, a->v.value_bytes);
}

/* Members write their outputs; the table of claims and the counts are 0 again. */
SIMT_FN void hkv_groups_deliver(const hkv_args *a)
{
    SIMT_SHARED(uint8_t, all_rows, HKV_COALESCED_THREADS * HKV_COALESCED_ROW);
    simt_tile w = simt_tile_of(32);
    uint8_t *rows = all_rows + (simt_thread() & ~31u) * HKV_COALESCED_ROW;
    uint64_t *tally = hkv_row_tally(rows);
    uint32_t n = simt_ld_u32(a->groups.left_count + HKV_MEMBERS_WERE), each = hkv_members_at_a_time(a, n), rounds = 0;
    bool orders = a->op == HD_OP_ACCUM_OR_ASSIGN;
    simt_st_u64(tally, 0);
    for (uint64_t at = each * hkv_warp_number(); at < n; at += each * hkv_warps()) {
        uint32_t here = n - at < each ? (uint32_t)(n - at) : each;
        if (orders) hkv_order_members(w, a, rows, (uint32_t)at, here);
        for (uint32_t k = w.rank; k - w.rank < here; k += 32) {
            uint32_t place = orders && k < here ? simt_ld_u32(hkv_order_word(rows, k)) : k;
            hkv_follow(w, a, tally, (uint32_t)at + place, k < here);
            if (++rounds % 64 == 0) hkv_tally_flush(w, a, tally);
        }
    }
    hkv_tally_flush(w, a, tally);
    hkv_claims_clear(a);
}

#endif

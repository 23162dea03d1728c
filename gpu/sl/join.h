/* SPDX-License-Identifier: Apache-2.0
 *
 * join.h - what erase and erase_if do instead of merging: entries are removed in place, and neighbours that became
 * small are joined (SL-6).
 *
 * Which segments are joined follows from their counts alone. A *part* of the directory has 32, then 32^2, then 32^3
 * rows, and so on; one thread takes a part. At the first level it goes over the rows of its part, and lets a segment
 * join the one before it where they may be one. Then no two neighbours within a part may be one, and its first row
 * stays. At each further level a thread goes over the 32 parts that its part consists of: only the last segment of one
 * and the first segment of the next can still be joined. Where they are, that makes segments larger only, so that what
 * holds between all others still holds. If a part has only one segment left, and that joins, the next border is tried
 * with the sum.
 *
 *   into    (sl_room.fresh), by row: the row whose segment it joins; itself: it stays
 *   offset  (sl_room.first), by row: how many entries of the segment that it joins come before its own
 *   sum     (sl_room.free), by row that stays: entries
 *   last    (sl_room.last), by the first row of a part: the last row of the part that stays
 */
#ifndef SL_JOIN_H
#define SL_JOIN_H

#include "gpu/sl/share.h"

/* ---- Removal --------------------------------------------------------------------------------- */

/* How many of the list's [low, high) are at most x. */
SIMT_FN uint32_t sl_gone_to(const sl_args *a, uint32_t low, uint32_t high, uint32_t x)
{
    uint32_t first = low;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (simt_ld_u32(a->room.add_at + middle) <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low - first;
}

/* Entry x of the segment at place `first`, whose part of the list is [low, high), moves down or goes. e: its words,
 * which all threads of the block have read. */
SIMT_FN void sl_move_down(const sl_args *a, uint64_t first, uint32_t low, uint32_t high, uint32_t x, sl_entry e)
{
    uint32_t gone = sl_gone_to(a, low, high, x), last = low + gone - 1;
    if (gone == 0) return;
    if (simt_ld_u32(a->room.add_at + last) != x) {
        sl_put_entry(a, first + x - gone, e);
    } else {
        uint32_t item = simt_ld_u32(a->room.add_item + last);
        simt_ticket(a->b.first + item, HD_ERASED, 0, first + x);
    }
}

/* A block takes a row. Tiles from the front: entries move down, so what a tile writes over has been read. */
SIMT_FN void sl_remove_listed(const sl_args *a)
{
    uint64_t rows = sl_rows(a);
    for (uint64_t row = simt_block(); row < rows; row += simt_blocks()) {
        uint32_t low = simt_ld_u32(a->room.first + row), high = simt_ld_u32(a->room.first + row + 1);
        if (low == high) continue;
        uint32_t home = simt_ld_u32(a->v.home + row), count = simt_ld_u32(a->v.count + home);
        uint64_t first = sl_home_place(a, home);
        for (uint32_t x = simt_ld_u32(a->room.add_at + low); x < count; x += simt_threads()) {
            sl_entry e;
            e.key = e.value = 0;
            if (x + simt_thread() < count) e = sl_entry_at(a, first + x + simt_thread());
            simt_sync_block();
            if (x + simt_thread() < count) sl_move_down(a, first, low, high, x + simt_thread(), e);
            simt_join();
        }
        if (simt_thread() == 0) simt_st_u32(a->v.count + home, count - (high - low));
        simt_join();
    }
}

/* Whether the entry has what the batch's predicate asks for. */
SIMT_FN bool sl_holds(const sl_args *a, uint64_t place, uint64_t key)
{
    if (a->b.predicate == HD_PREDICATE_all) return true;
    return hd_predicate_holds(a->b.predicate, key, 0, sl_value_in(a, place), sl_value_bytes(&a->v), a->b.pred_arg[0],
                              a->b.pred_arg[1]);
}

/* erase_if: a warp takes a row. */
SIMT_FN void sl_remove_if(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t rows = sl_rows(a), removed = 0;
    for (uint64_t row = sl_warp(); row < rows; row += sl_warps()) {
        uint32_t home = simt_ld_u32(a->v.home + row), count = simt_ld_u32(a->v.count + home), kept = 0, all;
        uint64_t first = sl_home_place(a, home);
        for (uint32_t x = 0; x < count; x += 32) {
            bool is = x + w.rank < count;
            sl_entry e;
            e.key = e.value = 0;
            if (is) e = sl_entry_at(a, first + x + w.rank);
            bool stays = is && !sl_holds(a, first + x + w.rank, e.key);
            simt_sync_tile(w);
            uint32_t to = kept + sl_bits_before(w, stays, &all);
            if (stays && to != x + w.rank) sl_put_entry(a, first + to, e);
            simt_join();
            kept += all;
        }
        if (w.rank == 0 && kept != count) simt_st_u32(a->v.count + home, kept);
        simt_join();
        removed += w.rank == 0 ? count - kept : 0;
    }
    if (a->b.count && w.rank == 0 && removed) simt_add_u64(a->b.count, removed, SIMT_RELAXED);
}

/* ---- Which segments join --------------------------------------------------------------------- */

/* An empty segment joins any, and so keeps the only one that may be empty. */
SIMT_FN bool sl_joins(const sl_args *a, uint32_t low, uint32_t high)
{
    return low == 0 || high == 0 || low + high <= a->v.fit / 2;
}

/* The last segment so far, and its entries. */
typedef struct sl_joined {
    uint64_t row;
    uint32_t sum;
} sl_joined;

/* A segment of `sum` entries, or a part that begins with it, is next. */
SIMT_FN bool sl_join_next(const sl_args *a, sl_joined *j, uint64_t row, uint32_t sum)
{
    if (!sl_joins(a, j->sum, sum)) return false;
    simt_st_u32(a->room.fresh + row, (uint32_t)j->row);
    simt_st_u32(a->room.first + row, j->sum);
    j->sum += sum;
    simt_st_u32(a->room.free + j->row, j->sum);
    return true;
}

SIMT_FN void sl_join_stays(const sl_args *a, sl_joined *j, uint64_t row, uint32_t sum)
{
    j->row = row;
    j->sum = sum;
    simt_st_u32(a->room.fresh + row, (uint32_t)row);
    simt_st_u32(a->room.first + row, 0);
    simt_st_u32(a->room.free + row, sum);
}

SIMT_FN uint32_t sl_count_of_row(const sl_args *a, uint64_t row)
{
    return simt_ld_u32(a->v.count + simt_ld_u32(a->v.home + row));
}

/* The first level: a part is of a->span rows. */
SIMT_FN void sl_join_rows(const sl_args *a, uint64_t first, uint64_t end)
{
    sl_joined j;
    sl_join_stays(a, &j, first, sl_count_of_row(a, first));
    for (uint64_t row = first + 1; row < end; row++) {
        uint32_t sum = sl_count_of_row(a, row);
        if (!sl_join_next(a, &j, row, sum)) sl_join_stays(a, &j, row, sum);
    }
    simt_st_u32(a->room.last + first, (uint32_t)j.row);
}

/* Further ones: the part has parts of `each` rows. */
SIMT_FN void sl_join_parts(const sl_args *a, uint64_t first, uint64_t end, uint64_t each)
{
    sl_joined j;
    j.row = simt_ld_u32(a->room.last + first);
    j.sum = simt_ld_u32(a->room.free + j.row);
    for (uint64_t row = first + each; row < end; row += each) {
        uint32_t last = simt_ld_u32(a->room.last + row);
        bool joins = sl_join_next(a, &j, row, simt_ld_u32(a->room.free + row));
        if (joins && last == row) continue; /* and nothing is left of the part */
        j.row = last;
        j.sum = simt_ld_u32(a->room.free + last);
    }
    simt_st_u32(a->room.last + first, (uint32_t)j.row);
}

/* A thread takes a part. */
SIMT_FN void sl_join(const sl_args *a)
{
    uint64_t rows = sl_rows(a);
    for (uint64_t first = gpu_thread() * a->span; first < rows; first += gpu_threads() * a->span) {
        uint64_t end = rows - first < a->span ? rows : first + a->span;
        if (a->span == SL_JOIN)
            sl_join_rows(a, first, end);
        else
            sl_join_parts(a, first, end, a->span / SL_JOIN);
    }
}

/* ---- Joining --------------------------------------------------------------------------------- */

/* The row that the row's segment joins; itself: it stays. *offset: where its entries go. */
SIMT_FN uint64_t sl_joins_row(const sl_args *a, uint64_t row, uint32_t *offset)
{
    uint64_t at = row, to = simt_ld_u32(a->room.fresh + row);
    *offset = 0;
    while (to != at) {
        *offset += simt_ld_u32(a->room.first + at);
        at = to;
        to = simt_ld_u32(a->room.fresh + at);
    }
    return to;
}

/* A block takes a row. */
SIMT_FN void sl_join_entries(const sl_args *a)
{
    uint64_t rows = sl_rows(a);
    for (uint64_t row = simt_block(); row < rows; row += simt_blocks()) {
        uint32_t offset, count = sl_count_of_row(a, row);
        uint64_t to = sl_joins_row(a, row, &offset);
        if (to == row || count == 0) continue;
        uint64_t from = sl_home_place(a, simt_ld_u32(a->v.home + row)),
                 into = sl_home_place(a, simt_ld_u32(a->v.home + to)) + offset;
        for (uint32_t x = simt_thread(); x < count; x += simt_threads())
            sl_put_entry(a, into + x, sl_entry_at(a, from + x));
        simt_join();
    }
}

SIMT_FN bool sl_stays(const sl_args *a, uint64_t row, uint64_t end)
{
    return row < end && simt_ld_u32(a->room.fresh + row) == row;
}

SIMT_FN void sl_stay_count(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t rows = sl_rows(a);
    for (uint32_t share = sl_warp(); share < a->row_shares; share += sl_warps()) {
        uint64_t end = sl_share_begin(rows, share + 1, a->row_shares);
        uint32_t stay = 0;
        for (uint64_t at = sl_share_begin(rows, share, a->row_shares); at < end; at += 32)
            stay += simt_popc(simt_ballot(w, sl_stays(a, at + w.rank, end)));
        sl_note(w, a->room.share + share, stay);
    }
}

/* A row that stays gets its row in the next directory; the home of one that does not is free. */
SIMT_FN void sl_stay_row(const sl_args *a, uint64_t row, bool stays, uint64_t to)
{
    uint32_t home = simt_ld_u32(a->v.home + row);
    simt_st_u32(a->v.count + home, stays ? simt_ld_u32(a->room.free + row) : 0);
    if (!stays) {
        simt_and_u32(sl_used_word(a, home), ~(1u << home % 32), SIMT_RELAXED);
        return;
    }
    simt_st_u64(a->room.bound + to, simt_ld_u64(a->v.bound + row));
    simt_st_u32(a->room.home + to, home);
}

SIMT_FN void sl_stay_write(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t rows = sl_rows(a);
    for (uint32_t share = sl_warp(); share < a->row_shares; share += sl_warps()) {
        uint64_t end = sl_share_begin(rows, share + 1, a->row_shares);
        uint32_t to = sl_share_before(w, a->room.share, share), all;
        for (uint64_t at = sl_share_begin(rows, share, a->row_shares); at < end; at += 32) {
            bool stays = sl_stays(a, at + w.rank, end);
            uint32_t before = sl_bits_before(w, stays, &all);
            if (at + w.rank < end) sl_stay_row(a, at + w.rank, stays, to + before);
            simt_join();
            to += all;
        }
        if (w.rank == 0 && share + 1 == a->row_shares) simt_st_u64(&a->numbers->next, to);
        simt_join();
    }
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * relocate.h - carries all segments to memory with another number of homes, when a table grows or shrinks. The places
 * are those that the reference gives them (ref/sl/design.c). The counts of the new memory are 0, and no home is used.
 * And carries words alone, when another number of homes becomes near.
 */
#ifndef SL_RELOCATE_H
#define SL_RELOCATE_H

#include "gpu/sl/relocate_args.h"
#include "gpu/sl/share.h"

/* Entries of the segments [row, end). */
SIMT_FN uint64_t sl_entries_of(simt_tile w, const sl_args *a, uint64_t row, uint64_t end)
{
    uint64_t n = 0;
    for (uint64_t at = row + w.rank; at < end; at += 32) n += simt_ld_u32(a->v.count + simt_ld_u32(a->v.home + at));
    simt_join();
    return simt_reduce_add_u64(w, n);
}

/* room.bound of `from`, by row: entries before the row's. A warp takes a share of the rows, and adds up those before
 * it. */
SIMT_FN void sl_carry_sums(const sl_carry_args *c)
{
    const sl_args *a = &c->from;
    simt_tile w = simt_tile_of(32);
    for (uint32_t share = gpu_warp(); share < a->row_shares; share += gpu_warps()) {
        uint64_t row = gpu_share_begin(c->rows, share, a->row_shares),
                 end = gpu_share_begin(c->rows, share + 1, a->row_shares), n = sl_entries_of(w, a, 0, row);
        for (; row < end; row += 32) {
            uint32_t mine = 0, all;
            if (row + w.rank < end) mine = simt_ld_u32(a->v.count + simt_ld_u32(a->v.home + row + w.rank));
            uint32_t before = gpu_sum_before_all(w, mine, &all);
            if (row + w.rank < end) simt_st_u64(a->room.bound + row + w.rank, n + before);
            simt_join();
            n += all;
        }
    }
}

SIMT_FN void sl_carry_use(const sl_args *to, uint64_t row, uint64_t bound, uint32_t home, uint32_t count)
{
    simt_st_u64(to->v.bound + row, bound);
    simt_st_u32(to->v.home + row, home);
    simt_st_u32(to->v.count + home, count);
    simt_or_u32(sl_used_word(to, home), 1u << home % 32, SIMT_RELAXED);
}

/* The row's segment, entry by entry, to places from `to` on. Full homes: the first entry of a home makes its row. */
SIMT_FN void sl_carry_entries(const sl_carry_args *c, uint64_t from, uint32_t count, uint64_t to)
{
    for (uint32_t x = simt_thread(); x < count; x += simt_threads()) {
        sl_entry e = sl_entry_at(&c->from, sl_place_of(&c->from, from, x));
        sl_put_entry(&c->to, to + x, e);
        uint64_t home = (to + x) >> c->to.shift;
        if (c->how == SL_CARRY_FULL && to + x == sl_home_place(&c->to, home))
            sl_carry_use(&c->to, home, home ? e.key : 0, (uint32_t)home, c->to.v.fit);
    }
    simt_join();
}

/* Lines of far homes that the row's `count` entries were carried to; segments there have no gaps. */
SIMT_FN void sl_carry_lines(const sl_carry_args *c, uint64_t row, uint64_t to, uint32_t count)
{
    uint64_t fit = c->to.v.fit, end = to + fit, filled = to + count;
    if (c->how == SL_CARRY_FULL) {
        const sl_args *a = &c->from;
        uint32_t last = simt_ld_u32(a->v.count + simt_ld_u32(a->v.home + c->rows - 1));
        end = row + 1 == c->rows ? (filled + fit - 1) & ~(fit - 1) : filled;
        filled = simt_ld_u64(a->room.bound + c->rows - 1) + last;
    }
    sl_lay_lines(&c->to, to, end, filled, simt_thread(), simt_threads());
}

/* A block takes a row. */
SIMT_FN void sl_carry(const sl_carry_args *c)
{
    const sl_args *a = &c->from;
    for (uint64_t row = simt_block(); row < c->rows; row += simt_blocks()) {
        uint32_t home = simt_ld_u32(a->v.home + row), count = simt_ld_u32(a->v.count + home),
                 into = c->how == SL_CARRY_SAME || c->how == SL_CARRY_WORDS ? home : (uint32_t)row;
        uint64_t to = sl_home_place(&c->to, into), bound = simt_ld_u64(a->v.bound + row);
        if (c->how == SL_CARRY_FULL) to = simt_ld_u64(a->room.bound + row);
        sl_carry_entries(c, sl_home_place(a, home), count, to);
        sl_carry_lines(c, row, to, count);
        if (simt_thread() == 0 && c->how < SL_CARRY_FULL) sl_carry_use(&c->to, row, bound, into, count);
        simt_join();
    }
}

/* One thread: the last home may be filled in part; the number of rows. size: entries of the table. */
SIMT_FN void sl_carry_end(const sl_carry_args *c)
{
    if (gpu_thread() != 0) return;
    const sl_args *a = &c->from;
    uint64_t rows = c->rows;
    if (c->how == SL_CARRY_FULL) {
        uint32_t last = simt_ld_u32(a->v.count + simt_ld_u32(a->v.home + rows - 1));
        uint64_t size = simt_ld_u64(a->room.bound + rows - 1) + last;
        rows = (size + c->to.v.fit - 1) >> c->to.shift;
        simt_st_u32(c->to.v.count + rows - 1, (uint32_t)(size - sl_home_place(&c->to, rows - 1)));
    }
    simt_st_u64(&c->to.numbers->rows, rows);
}

#endif

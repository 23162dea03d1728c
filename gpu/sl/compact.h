/* SPDX-License-Identifier: Apache-2.0
 *
 * compact.h - what erase and erase_if do instead of merging: entries are removed in place, and neighbours that become
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
 *   offset  (sl_room.offset), by row: how many entries of the segment that it joins come before its own
 *   kept    (sl_room.kept), by row: its own entries that stay
 *   sum     (sl_room.free), by row that stays: entries
 *   last    (sl_room.last), by the first row of a part: the last row of the part that stays. Then, by row: its home
 */
#ifndef SL_COMPACT_H
#define SL_COMPACT_H

#include "gpu/sl/insert_merge.h"

/* ---- What stays ------------------------------------------------------------------------------ */

/* How many of the list's [low, high) are at most x. */
SIMT_FN uint32_t sl_gone_to(const sl_args *a, uint32_t low, uint32_t high, uint32_t x)
{
    uint32_t first = low;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (simt_ld_u32(a->window.add_at + middle) <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low - first;
}

/* Whether the entry has what the batch's predicate asks for. */
SIMT_FN bool sl_holds(const sl_args *a, uint64_t place, uint64_t key)
{
    if (a->b.predicate == HD_PREDICATE_all) return true;
    return hd_predicate_holds(a->b.predicate, key, 0, sl_value_in(a, place), sl_value_bytes(&a->v), a->b.pred_arg[0],
                              a->b.pred_arg[1]);
}

/* erase_if: a warp takes a row. */
SIMT_FN void sl_keep_count(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t rows = sl_rows(a), removed = 0;
    for (uint64_t row = gpu_warp(); row < rows; row += gpu_warps()) {
        uint32_t home = simt_ld_u32(a->v.home + row), count = simt_ld_u32(a->v.count + home), mine = 0;
        uint64_t first = sl_home_place(a, home);
        bool far = first >= a->near_places;
        for (uint32_t x = w.rank; x < (far ? a->v.fit : count); x += 32)
            if (!far || sl_is_entry(a, first + x)) mine += !sl_holds(a, first + x, sl_key_at(a, first + x, false));
        simt_join();
        uint32_t kept = simt_reduce_add_u32(w, mine);
        if (w.rank == 0) simt_st_u32(a->room.kept + row, kept);
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
    simt_st_u32(a->room.offset + row, j->sum);
    j->sum += sum;
    simt_st_u32(a->room.free + j->row, j->sum);
    return true;
}

SIMT_FN void sl_join_stays(const sl_args *a, sl_joined *j, uint64_t row, uint32_t sum)
{
    j->row = row;
    j->sum = sum;
    simt_st_u32(a->room.fresh + row, (uint32_t)row);
    simt_st_u32(a->room.offset + row, 0);
    simt_st_u32(a->room.free + row, sum);
}

SIMT_FN uint32_t sl_kept_of_row(const sl_args *a, uint64_t row) { return simt_ld_u32(a->room.kept + row); }

/* The first level: a part is of a->span rows. */
SIMT_FN void sl_join_rows(const sl_args *a, uint64_t first, uint64_t end)
{
    sl_joined j;
    sl_join_stays(a, &j, first, sl_kept_of_row(a, first));
    for (uint64_t row = first + 1; row < end; row++) {
        uint32_t sum = sl_kept_of_row(a, row);
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
        *offset += simt_ld_u32(a->room.offset + at);
        at = to;
        to = simt_ld_u32(a->room.fresh + at);
    }
    return to;
}

SIMT_FN bool sl_stays(const sl_args *a, uint64_t row, uint64_t end)
{
    return row < end && simt_ld_u32(a->room.fresh + row) == row;
}

SIMT_FN void sl_stay_count(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t rows = sl_rows(a);
    for (uint32_t share = gpu_warp(); share < a->row_shares; share += gpu_warps()) {
        uint64_t end = gpu_share_begin(rows, share + 1, a->row_shares);
        uint32_t stay = 0;
        for (uint64_t at = gpu_share_begin(rows, share, a->row_shares); at < end; at += 32)
            stay += simt_popc(simt_ballot(w, sl_stays(a, at + w.rank, end)));
        sl_note(w, a->window.share + share, stay);
    }
}

/* A row that stays gets its row in the next directory. Each row's home is kept for the commit. */
SIMT_FN void sl_stay_row(const sl_args *a, uint64_t row, bool stays, uint64_t to)
{
    uint32_t home = simt_ld_u32(a->v.home + row);
    simt_st_u32(a->room.last + row, home);
    if (!stays) return;
    simt_st_u64(a->room.bound + to, simt_ld_u64(a->v.bound + row));
    simt_st_u32(a->room.home + to, home);
}

SIMT_FN void sl_stay_sums(const sl_args *a, uint64_t rows, uint64_t stay)
{
    simt_st_u64(&a->numbers->next, stay);
    simt_st_u64(&a->numbers->fresh, rows - stay);
    simt_st_u64(&a->numbers->was, rows);
    simt_st_u64(&a->numbers->other, 0);
}

SIMT_FN void sl_stay_write(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t rows = sl_rows(a);
    for (uint32_t share = gpu_warp(); share < a->row_shares; share += gpu_warps()) {
        uint64_t end = gpu_share_begin(rows, share + 1, a->row_shares);
        uint32_t to = sl_share_before(w, a->window.share, share), all;
        for (uint64_t at = gpu_share_begin(rows, share, a->row_shares); at < end; at += 32) {
            bool stays = sl_stays(a, at + w.rank, end);
            uint32_t before = sl_bits_before(w, stays, &all);
            if (at + w.rank < end) sl_stay_row(a, at + w.rank, stays, to + before);
            simt_join();
            to += all;
        }
        if (w.rank == 0 && share + 1 == a->row_shares) sl_stay_sums(a, rows, to);
        simt_join();
    }
}

/* ---- The commit ------------------------------------------------------------------------------ */

/* Where entries of a row come from, and where those that stay go. */
typedef struct sl_move {
    uint64_t from, to;    /* places */
    uint32_t low, high;   /* erase: the row's part of the list */
    uint32_t kept, count; /* entries that stay, and before */
} sl_move;

SIMT_FN sl_move sl_move_of(const sl_args *a, uint64_t row, uint64_t to)
{
    sl_move m;
    m.from = sl_home_place(a, simt_ld_u32(a->room.last + row));
    m.to = to;
    m.kept = simt_ld_u32(a->room.kept + row);
    m.low = m.high = 0;
    if (a->b.op == HD_OP_ERASE) {
        m.low = simt_ld_u32(a->room.first + row);
        m.high = simt_ld_u32(a->room.first + row + 1);
    }
    m.count = m.kept + (m.high - m.low);
    return m;
}

/* Entry x of an erase. e: its words, which all threads of the block have read. */
SIMT_FN void sl_move_listed_entry(const sl_args *a, const sl_move *m, uint32_t x, sl_entry e)
{
    uint32_t gone = sl_gone_to(a, m->low, m->high, x), last = m->low + gone - 1;
    if (gone && simt_ld_u32(a->window.add_at + last) == x) return;
    if (gone || m->to != m->from) sl_put_entry(a, m->to + x - gone, e);
}

/* erase: a block moves what stays. In place, tiles from the front: entries move down, so what a tile writes over has
 * been read. */
SIMT_FN void sl_move_listed(const sl_args *a, const sl_move *m)
{
    uint32_t first = m->to == m->from && m->low < m->high ? simt_ld_u32(a->window.add_at + m->low) : 0;
    if (m->to == m->from && m->low == m->high) return;
    for (uint32_t x = first; x < m->count; x += simt_threads()) {
        sl_entry e;
        e.key = e.value = 0;
        if (x + simt_thread() < m->count) e = sl_entry_at(a, m->from + x + simt_thread());
        simt_sync_block();
        if (x + simt_thread() < m->count) sl_move_listed_entry(a, m, x + simt_thread(), e);
        simt_join();
    }
}

/* Whether an entry of an erase is in the row's part of the list; code: see sl_code_at. */
SIMT_FN bool sl_is_listed(const sl_args *a, uint32_t low, uint32_t high, uint32_t code)
{
    uint32_t gone = sl_gone_to(a, low, high, code);
    return gone && simt_ld_u32(a->window.add_at + low + gone - 1) == code;
}

/* Whether an entry stays. [low, high): what an erase lists of its row or group, if that is far. */
SIMT_FN bool sl_entry_stays(const sl_args *a, uint64_t place, uint64_t key, uint32_t low, uint32_t high)
{
    uint32_t shift = sl_line_shift(&a->v), index = (uint32_t)(place & (a->v.fit - 1));
    if (a->b.op != HD_OP_ERASE) return !sl_holds(a, place, key);
    return !sl_is_listed(a, low, high, sl_code_at(a, index >> shift, index & ((1u << shift) - 1)));
}

/* erase_if, and entries of a far segment: the first warp of a block does. It ends when all that stay were found. */
SIMT_FN void sl_move_if(const sl_args *a, const sl_move *m)
{
    simt_tile w = simt_tile_of(32);
    uint32_t all;
    for (uint32_t x = 0, kept = 0; kept < m->kept; x += 32) {
        bool is = x + w.rank < a->v.fit && (m->from < a->near_places || sl_is_entry(a, m->from + x + w.rank));
        sl_entry e;
        e.key = e.value = 0;
        if (is) e = sl_entry_at(a, m->from + x + w.rank);
        bool stays = is && sl_entry_stays(a, m->from + x + w.rank, e.key, m->low, m->high);
        simt_sync_tile(w);
        uint32_t to = kept + sl_bits_before(w, stays, &all);
        if (stays && to < m->kept && m->to + to != m->from + x + w.rank) sl_put_entry(a, m->to + to, e);
        simt_join();
        kept += all;
    }
}

SIMT_FN void sl_move_row(const sl_args *a, uint64_t row, uint64_t to)
{
    sl_move m = sl_move_of(a, row, to);
    if (a->b.op == HD_OP_ERASE && m.from < a->near_places)
        sl_move_listed(a, &m);
    else if (simt_thread() < 32)
        sl_move_if(a, &m);
    simt_join();
    simt_sync_block();
}

/* The entries of the rows behind `row`, up to the next one that stays, follow its own. */
SIMT_FN void sl_move_joined(const sl_args *a, uint64_t row, uint64_t rows, uint64_t first)
{
    simt_tile w = simt_tile_of(32);
    bool ends = false;
    for (uint64_t at = row + 1; !ends; at += 32) {
        bool joins = at + w.rank < rows && !sl_stays(a, at + w.rank, rows);
        uint32_t all = simt_ballot(w, joins), front = ~all ? simt_ffs(~all) - 1 : 32, mine = 0;
        if (w.rank < front) mine = simt_ld_u32(a->room.kept + at + w.rank);
        uint32_t some = simt_ballot(w, mine != 0);
        for (; some; some &= some - 1) {
            uint32_t offset;
            uint64_t from = at + simt_ffs(some) - 1;
            sl_joins_row(a, from, &offset);
            sl_move_row(a, from, first + offset);
        }
        ends = front < 32;
    }
}

/* ---- Far segments ---------------------------------------------------------------------------- */

/* Which entries of a group stay, and of them those of lane's line that come before its own. */
typedef struct sl_thinned {
    sl_entry e;
    bool stays;
    uint32_t bits, to; /* bits: lanes whose entries stay; to: the index in the line */
} sl_thinned;

/* A lane looks at place x of a group, which begins at `group`; filled: the group's word; [low, high): the group's part
 * of the list, if the batch has one; touched: a bit for each line that has some of it. */
SIMT_FN sl_thinned sl_thin_one(simt_tile w, const sl_args *a, uint64_t group, uint32_t x, uint32_t filled, uint32_t low,
                               uint32_t high, uint32_t touched)
{
    uint32_t shift = sl_line_shift(&a->v), in_line = x & ((1u << shift) - 1), line = x >> shift;
    sl_thinned t;
    t.e.key = t.e.value = 0;
    t.stays = x < 1u << sl_group_shift(a) && touched >> line & 1 && in_line < sl_filled_of(filled, line);
    if (t.stays) {
        t.e = sl_entry_at(a, group + x);
        t.stays = sl_entry_stays(a, group + x, t.e.key, low, high);
    }
    simt_join();
    t.bits = simt_ballot(w, t.stays);
    t.to = simt_popc(t.bits & ((1u << w.rank) - 1) & ~((1u << (w.rank & ~((1u << shift) - 1))) - 1));
    return t;
}

/* A warp removes entries of a group in place, line by line. */
SIMT_FN void sl_thin_group(simt_tile w, const sl_args *a, uint64_t group, uint32_t low, uint32_t high, uint32_t touched)
{
    uint32_t shift = sl_line_shift(&a->v), filled = sl_filled_at(a, sl_group_of(a, group)), word = 0;
    sl_thinned one = sl_thin_one(w, a, group, w.rank, filled, low, high, touched),
               two = sl_thin_one(w, a, group, 32 + w.rank, filled, low, high, touched);
    simt_sync_tile(w);
    uint64_t line_of = group + (w.rank & ~((1u << shift) - 1));
    if (one.stays && line_of + one.to != group + w.rank) sl_put_entry(a, line_of + one.to, one.e);
    if (two.stays && line_of + two.to != group + w.rank) sl_put_entry(a, line_of + 32 + two.to, two.e);
    simt_join();
    for (uint32_t line = 0; line < SL_GROUP_LINES; line++) {
        uint32_t from = line << shift, bits = from < 32 ? one.bits >> from : two.bits >> (from - 32), n;
        n = touched >> line & 1 ? simt_popc(bits & ((1u << (1u << shift)) - 1)) : sl_filled_of(filled, line);
        word |= n << 8 * line;
    }
    if (w.rank == 0) simt_st_u32(a->v.filled + sl_group_of(a, group), word);
    simt_join();
}

/* The group that number k of a row's list is in; first: place of the home. */
SIMT_FN uint64_t sl_listed_group(const sl_args *a, uint64_t first, uint32_t k)
{
    uint32_t index = sl_code_line(a, simt_ld_u32(a->window.add_at + k)) << sl_line_shift(&a->v);
    return first + (index & ~((1u << sl_group_shift(a)) - 1));
}

/* Warps of a block take so many numbers of a row's list at a time. */
enum { SL_LISTED = 8 };

/* Which of the numbers from k on are the first ones of their groups. The row's part of the list is [from, end). */
SIMT_FN uint32_t sl_firsts_of_groups(simt_tile w, const sl_args *a, uint64_t first, uint32_t from, uint32_t k,
                                     uint32_t end)
{
    bool is = w.rank < SL_LISTED && k + w.rank < end;
    k += w.rank;
    if (is) is = k == from || sl_listed_group(a, first, k) != sl_listed_group(a, first, k - 1);
    simt_join();
    return simt_ballot(w, is);
}

/* How much of the list each line of a group has, a byte each. A group has at most 64 of it. The group's part begins at
 * k, so the sum says where it ends. */
SIMT_FN uint32_t sl_listed_by_line(simt_tile w, const sl_args *a, uint64_t first, uint64_t group, uint32_t k,
                                   uint32_t end)
{
    uint32_t mine = 0;
    for (uint32_t at = k + w.rank; at < end && at < k + 64; at += 32) {
        uint64_t place = first + (sl_code_line(a, simt_ld_u32(a->window.add_at + at)) << sl_line_shift(&a->v));
        if (place - group < 1u << sl_group_shift(a)) mine += 1u << 8 * sl_line_in_group(a, place);
    }
    simt_join();
    return simt_reduce_add_u32(w, mine);
}

/* A warp takes the group whose part of the list begins at k. */
SIMT_FN void sl_thin_listed(simt_tile w, const sl_args *a, uint64_t first, uint32_t k, uint32_t end)
{
    uint64_t group = sl_listed_group(a, first, k);
    uint32_t listed = sl_listed_by_line(w, a, first, group, k, end), touched = 0;
    for (uint32_t line = 0; line < SL_GROUP_LINES; line++) touched |= (sl_filled_of(listed, line) ? 1u : 0u) << line;
    sl_thin_group(w, a, group, k, k + sl_filled_sum(listed), touched);
}

/* Warps of a block take the groups that the row's part of the list is in, or, without a list, all. */
SIMT_FN void sl_thin_row(const sl_args *a, uint64_t row, uint64_t first)
{
    simt_tile w = simt_tile_of(32);
    uint32_t warp = simt_thread() / 32, step = 1u << sl_group_shift(a);
    if (a->b.op == HD_OP_ERASE) {
        uint32_t from = simt_ld_u32(a->room.first + row), end = simt_ld_u32(a->room.first + row + 1);
        for (uint32_t k = from + SL_LISTED * warp; k < end; k += simt_threads() / 32 * SL_LISTED)
            for (uint32_t firsts = sl_firsts_of_groups(w, a, first, from, k, end); firsts; firsts &= firsts - 1)
                sl_thin_listed(w, a, first, k + simt_ffs(firsts) - 1, end);
    } else {
        for (uint32_t x = warp * step; x < a->v.fit; x += simt_threads() / 32 * step)
            if (sl_filled_at(a, sl_group_of(a, first + x))) sl_thin_group(w, a, first + x, 0, 0, 15);
    }
    simt_join();
}

/* A block takes a far row that stays. Where no row joins it, only lines that lose entries are touched. Else all its
 * entries and theirs follow each other without gaps. */
SIMT_FN void sl_commit_far_row(const sl_args *a, uint64_t row, uint64_t rows, uint64_t first)
{
    uint32_t home = simt_ld_u32(a->room.last + row), sum = simt_ld_u32(a->room.free + row);
    if (row + 1 == rows || sl_stays(a, row + 1, rows)) {
        if (sum != simt_ld_u32(a->v.count + home)) sl_thin_row(a, row, first);
        simt_sync_block(); /* all have read the count */
        return;
    }
    sl_move_row(a, row, first);
    sl_move_joined(a, row, rows, first);
    sl_lay_lines(a, first, first + a->v.fit, first + sum, simt_thread(), simt_threads());
}

/* What the row's part of the list says is not there from now on. */
SIMT_FN void sl_tell_erased(const sl_args *a, uint64_t row)
{
    if (!simt_tells() || a->b.op != HD_OP_ERASE) return;
    uint32_t end = simt_ld_u32(a->room.first + row + 1);
    for (uint32_t k = simt_ld_u32(a->room.first + row) + simt_thread(); k < end; k += simt_threads()) {
        simt_ticket(sl_listed_item(a, k), HD_ERASED, 0, SL_NO_PLACE);
    }
    simt_join();
}

/* A block takes a row that stays, and those that join it. */
SIMT_FN void sl_commit_row(const sl_args *a, uint64_t row, uint64_t rows, uint64_t first)
{
    sl_move_row(a, row, first);
    sl_move_joined(a, row, rows, first);
}

/* One lane notes that a row changes, and is not merged as a whole. */
SIMT_FN void sl_note_other(const sl_args *a, uint64_t row)
{
    uint64_t at = simt_add_u64(&a->numbers->other, 1, SIMT_RELAXED);
    simt_st_u32(a->room.rows + a->v.homes - 1 - at, (uint32_t)row);
}

SIMT_FN uint64_t sl_other_row(const sl_args *a, uint64_t at) { return simt_ld_u32(a->room.rows + a->v.homes - 1 - at); }

/* Which rows change. A thread takes a row. */
SIMT_FN void sl_survey_joined(const sl_args *a)
{
    uint64_t rows = simt_ld_u64(&a->numbers->was);
    for (uint64_t row = gpu_thread(); row < rows; row += gpu_threads()) {
        uint32_t count = simt_ld_u32(a->v.count + simt_ld_u32(a->room.last + row));
        bool joined = row + 1 < rows && !sl_stays(a, row + 1, rows);
        if (joined || !sl_stays(a, row, rows) || sl_kept_of_row(a, row) != count) sl_note_other(a, row);
    }
}

/* A block takes a row. One that joins another is moved by that one's block; its home is free. */
SIMT_FN void sl_commit_joined_of(const sl_args *a, bool far)
{
    uint64_t rows = simt_ld_u64(&a->numbers->was), all = far ? simt_ld_u64(&a->numbers->other) : rows;
    for (uint64_t at = simt_block(); at < all; at += simt_blocks()) {
        uint64_t row = far ? sl_other_row(a, at) : at;
        uint32_t home = simt_ld_u32(a->room.last + row);
        uint64_t first = sl_home_place(a, home);
        bool stays = sl_stays(a, row, rows);
        if (stays && far && first >= a->near_places)
            sl_commit_far_row(a, row, rows, first);
        else if (stays)
            sl_commit_row(a, row, rows, first);
        simt_join();
        sl_tell_erased(a, row);
        if (simt_thread() != 0) continue;
        simt_st_u32(a->v.count + home, stays ? simt_ld_u32(a->room.free + row) : 0);
        if (!stays) simt_and_u32(sl_used_word(a, home), ~(1u << home % 32), SIMT_RELAXED);
    }
    simt_join();
    sl_publish(a);
}

SIMT_FN void sl_commit_joined(const sl_args *a) { sl_commit_joined_of(a, false); }
SIMT_FN void sl_commit_joined_far(const sl_args *a) { sl_commit_joined_of(a, true); }

#endif

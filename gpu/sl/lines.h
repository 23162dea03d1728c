/* SPDX-License-Identifier: Apache-2.0
 *
 * lines.h - new keys in far segments. A line has room behind its entries, and lines without entries lie between
 * others, so a change of few entries touches few lines. New keys of a group of lines go into their own lines where
 * these have room. Else the entries of neighbouring lines of the group, as few as suffice, are shared out among them.
 * Where a group has too many, the segment is merged as a whole, and its lines are spread over its home again.
 */
#ifndef SL_LINES_H
#define SL_LINES_H

#include "gpu/sl/compact.h"

/* ---- Survey ---------------------------------------------------------------------------------- */

/* Whether there are more new keys for a group than it has room for: lanes take numbers of the list, and look whether
 * the one that would be too many is in the same group. */
SIMT_FN bool sl_too_many_listed(simt_tile w, const sl_args *a, uint64_t first, uint32_t from, uint32_t end)
{
    bool too_many = false;
    for (uint32_t at = from; at < end && !too_many; at += 32) {
        uint32_t k = at + w.rank;
        bool mine = false;
        if (k < end) {
            uint64_t group = sl_listed_group(a, first, k);
            uint32_t room = (1u << sl_group_shift(a)) - sl_filled_sum(sl_filled_at(a, sl_group_of(a, group)));
            mine = room < end - k && sl_listed_group(a, first, k + room) == group;
        }
        simt_join();
        too_many = simt_any(w, mine);
    }
    return too_many;
}

/* The row is merged as a whole: sums of its groups are made, and the list says how many entries are below each new key.
 */
SIMT_FN void sl_survey_whole(simt_tile w, const sl_args *a, const sl_plan *p, uint32_t from, uint32_t end)
{
    sl_sum_groups(w, a, p->first);
    for (uint32_t k = from + w.rank; k < end; k += 32) {
        uint32_t code = simt_ld_u32(a->window.add_at + k), line = sl_code_line(a, code);
        uint64_t place = p->first + ((uint64_t)line << sl_line_shift(&a->v)), group = sl_group_of(a, place);
        uint32_t before = sl_filled_before(sl_filled_at(a, group), sl_line_in_group(a, place));
        simt_st_u32(a->window.add_at + k, simt_ld_u32(a->room.before + group) + before + sl_code_below(a, code));
    }
    if (w.rank == 0) {
        uint64_t at = simt_add_u64(&a->numbers->whole, 1, SIMT_RELAXED);
        simt_st_u32(a->room.rows + at, (uint32_t)p->row);
    }
    simt_join();
}

/* Which rows change, and how. A warp takes a row. */
SIMT_FN void sl_survey(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t rows = sl_rows(a);
    for (uint64_t row = gpu_warp(); row < rows; row += gpu_warps()) {
        if (!sl_has_list(a, row)) continue;
        sl_plan p = sl_plan_of(a, row, rows, simt_ld_u32(a->v.home + row));
        uint32_t from = p.at, end = simt_ld_u32(a->room.first + row + 1);
        bool whole = p.first >= a->near_places &&
                     (p.pieces > 1 || p.adds < end - from || sl_too_many_listed(w, a, p.first, from, end));
        if (whole)
            sl_survey_whole(w, a, &p, from, end);
        else if (w.rank == 0)
            sl_note_other(a, row);
        simt_join();
    }
}

/* ---- One group ------------------------------------------------------------------------------- */

/* What becomes of a group: entries by line, a byte each. Lines [low, high] are shared out; low > high: none are. */
typedef struct sl_shared_out {
    uint64_t group;                /* place */
    uint32_t filled, adds, both;   /* before; new keys; and the sums of both */
    uint32_t k, end;               /* the group's part of the list */
    uint32_t low, high, sum, next; /* sum: of the lines that are shared out; next: entries afterwards */
} sl_shared_out;

SIMT_FN uint32_t sl_sum_of_lines(uint32_t word, uint32_t low, uint32_t high)
{
    return sl_filled_before(word, high) + sl_filled_of(word, high) - sl_filled_before(word, low);
}

/* The lines with too many entries, and their neighbours until there is room. A neighbour with fewer comes first. */
SIMT_FN void sl_share_out(const sl_args *a, sl_shared_out *s)
{
    uint32_t each = sl_line_entries(&a->v), last = sl_group_lines(&a->v) - 1;
    s->low = SL_GROUP_LINES;
    s->high = s->sum = 0;
    s->next = s->both;
    for (uint32_t line = 0; line <= last; line++) {
        if (sl_filled_of(s->both, line) <= each) continue;
        if (s->low > line) s->low = line;
        s->high = line;
    }
    if (s->low > s->high) return;
    s->sum = sl_sum_of_lines(s->both, s->low, s->high);
    while (s->sum > each * (s->high - s->low + 1)) {
        bool down =
            s->low > 0 && (s->high == last || sl_filled_of(s->both, s->low - 1) <= sl_filled_of(s->both, s->high + 1));
        uint32_t line = down ? --s->low : ++s->high;
        s->sum += sl_filled_of(s->both, line);
    }
    uint32_t lines = s->high - s->low + 1;
    for (uint32_t j = 0; j < lines; j++) {
        uint32_t line = s->low + j, n = s->sum * (j + 1) / lines - s->sum * j / lines;
        s->next = (s->next & ~(0xffu << 8 * line)) | n << 8 * line;
    }
}

SIMT_FN bool sl_is_shared_out(const sl_shared_out *s, uint32_t line) { return s->low <= line && line <= s->high; }

/* The place of number x of what a line would have. */
SIMT_FN uint64_t sl_shared_place(const sl_args *a, const sl_shared_out *s, uint32_t line, uint32_t x)
{
    if (sl_is_shared_out(s, line)) {
        x += sl_filled_before(s->both, line) - sl_filled_before(s->both, s->low);
        for (line = s->low; line < s->high && x >= sl_filled_of(s->next, line); line++)
            x -= sl_filled_of(s->next, line);
    }
    return s->group + (line << sl_line_shift(&a->v)) + x;
}

/* An entry of a group, old or new, and where it goes; SL_NO_PLACE: it stays, or there is none. */
typedef struct sl_moved {
    sl_entry e;
    uint64_t to;
} sl_moved;

/* The old entry at place x of the group. */
SIMT_FN sl_moved sl_moved_old(const sl_args *a, const sl_shared_out *s, uint32_t x)
{
    uint32_t shift = sl_line_shift(&a->v), line = x >> shift, below = x & ((1u << shift) - 1);
    sl_moved m;
    m.to = SL_NO_PLACE;
    m.e.key = m.e.value = 0;
    if (x >= 1u << sl_group_shift(a) || below >= sl_filled_of(s->filled, line)) return m;
    if (!sl_is_shared_out(s, line) && sl_filled_of(s->adds, line) == 0) return m;
    uint32_t at = (uint32_t)((s->group + x) & (a->v.fit - 1)) >> shift,
             before = sl_gone_to(a, s->k, s->end, sl_code_at(a, at, below)) - sl_filled_before(s->adds, line);
    uint64_t to = sl_shared_place(a, s, line, below + before);
    if (to == s->group + x) return m;
    m.e = sl_entry_at(a, s->group + x);
    m.to = to;
    return m;
}

/* Number k of the list. */
SIMT_FN sl_moved sl_moved_new(const sl_args *a, const sl_shared_out *s, uint32_t k)
{
    sl_moved m;
    m.to = SL_NO_PLACE;
    m.e.key = m.e.value = 0;
    if (k >= s->end) return m;
    uint32_t code = simt_ld_u32(a->window.add_at + k), line = sl_code_line(a, code) & (sl_group_lines(&a->v) - 1);
    m.e.key = simt_ld_u64(a->window.add_key + k);
    m.e.value = sl_given(a, sl_listed_item(a, k));
    m.to = sl_shared_place(a, s, line, sl_code_below(a, code) + (k - s->k) - sl_filled_before(s->adds, line));
    return m;
}

SIMT_FN void sl_put_new(const sl_args *a, const sl_moved *m, uint32_t k)
{
    uint64_t i = simt_tells() && m->to != SL_NO_PLACE ? sl_listed_item(a, k) : 0;
    if (m->to == SL_NO_PLACE) return;
    sl_put_entry(a, m->to, m->e);
    simt_ticket_store(i, HD_INSERTED, 0, m->to);
    sl_mark_merged(a, k);
}

/* A warp takes the group whose part of the row's list begins at k. All lanes read what moves, and then write. */
SIMT_FN void sl_merge_group(simt_tile w, const sl_args *a, uint64_t first, uint32_t k, uint32_t end)
{
    sl_shared_out s;
    s.group = sl_listed_group(a, first, k);
    s.filled = sl_filled_at(a, sl_group_of(a, s.group));
    s.adds = sl_listed_by_line(w, a, first, s.group, k, end);
    s.k = k;
    s.end = k + sl_filled_sum(s.adds);
    s.both = s.filled + s.adds;
    sl_share_out(a, &s);
    sl_moved old = sl_moved_old(a, &s, w.rank), more = sl_moved_old(a, &s, 32 + w.rank),
             added = sl_moved_new(a, &s, k + w.rank), others = sl_moved_new(a, &s, k + 32 + w.rank);
    simt_sync_tile(w);
    if (old.to != SL_NO_PLACE) sl_put_entry(a, old.to, old.e);
    if (more.to != SL_NO_PLACE) sl_put_entry(a, more.to, more.e);
    sl_put_new(a, &added, k + w.rank);
    sl_put_new(a, &others, k + 32 + w.rank);
    if (w.rank == 0) simt_st_u32(a->v.filled + sl_group_of(a, s.group), s.next);
    simt_join();
}

/* ---- The commit ------------------------------------------------------------------------------ */

/* A block takes a far row whose groups have room: its warps take groups. */
SIMT_FN void sl_merge_lines(const sl_args *a, const sl_plan *p)
{
    simt_tile w = simt_tile_of(32);
    uint64_t first = p->first;
    uint32_t from = p->at, end = p->at + p->adds;
    for (uint32_t k = from + simt_thread() / 32 * SL_LISTED; k < end; k += simt_threads() / 32 * SL_LISTED)
        for (uint32_t firsts = sl_firsts_of_groups(w, a, first, from, k, end); firsts; firsts &= firsts - 1)
            sl_merge_group(w, a, first, k + simt_ffs(firsts) - 1, end);
    simt_sync_block(); /* all have read the count */
    if (simt_thread() == 0) simt_st_u32(a->v.count + p->home, p->total);
    simt_join();
}

/* A block merges what stays in the row's home into its stage, and writes that to the home. */
SIMT_FN void sl_merge_staged(const sl_args *a, const sl_plan *p)
{
    uint64_t *stage = a->room.stage + ((uint64_t)simt_block() << a->shift) * a->v.words;
    sl_piece q = sl_piece_of(a, p, 0);
    sl_spread s = sl_spread_of(a, p->first, q.to, p->pieces == 1);
    for (uint32_t d = simt_thread(), add = 0; d < q.to; d += simt_threads()) {
        uint32_t add_end = q.add_end - add < simt_threads() ? q.add_end : add + simt_threads();
        sl_merged m = sl_merged_at(a, p, add, add_end, d, true);
        uint64_t i = m.fresh && simt_tells() ? sl_listed_item(a, p->at + m.before) : 0;
        sl_store_entry(a, stage + (uint64_t)d * a->v.words, m.e);
        if (m.fresh) {
            simt_ticket_store(i, HD_INSERTED, 0, sl_spread_place(a, &s, d));
            sl_mark_merged(a, p->at + m.before);
        }
        add = m.before;
    }
    simt_sync_block();
    for (uint32_t d = simt_thread(); d < q.to; d += simt_threads()) {
        sl_entry e = sl_load_entry(a, stage + (uint64_t)d * a->v.words);
        uint64_t place = sl_spread_place(a, &s, d);
        sl_put_entry(a, place, e);
        sl_spread_gaps(a, &s, d, place, e.key);
    }
    sl_spread_fill(a, &s);
    if (simt_thread() == 0) simt_st_u32(a->v.count + p->home, q.to);
    simt_sync_block();
}

SIMT_FN void sl_commit_far(const sl_args *a)
{
    uint64_t rows = simt_ld_u64(&a->numbers->was), whole = simt_ld_u64(&a->numbers->whole),
             other = simt_ld_u64(&a->numbers->other);
    uint32_t stages = simt_blocks() < a->stages ? simt_blocks() : a->stages;
    for (uint64_t at = simt_block(); at < other; at += simt_blocks()) {
        uint64_t row = sl_other_row(a, at);
        sl_plan p = sl_plan_of(a, row, rows, sl_old_home(a, row));
        if (p.first >= a->near_places)
            sl_merge_lines(a, &p);
        else if (p.adds)
            sl_merge_in_place(a, &p);
    }
    simt_join();
    for (uint64_t at = simt_block(); simt_block() < stages && at < whole; at += stages) {
        uint64_t row = simt_ld_u32(a->room.rows + at);
        sl_plan p = sl_plan_of(a, row, rows, sl_old_home(a, row));
        if (p.adds) sl_merge_staged(a, &p);
    }
    simt_join();
    sl_use_fresh(a);
    sl_publish(a);
}

SIMT_FN void sl_merge_fresh_far(const sl_args *a) { sl_merge_fresh_of(a, true); }

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * insert_merge.h - the steps of a window after its list (args.h): the plan says how many segments each segment becomes,
 * the merge puts the list into them, and the commit replaces the directory.
 */
#ifndef SL_INSERT_MERGE_H
#define SL_INSERT_MERGE_H

#include "gpu/sl/heads.h"

/* ---- The plan -------------------------------------------------------------------------------- */

/* The first of the list that is not below the key. */
SIMT_FN uint32_t sl_list_from(const sl_args *a, uint32_t adds, uint64_t key)
{
    uint32_t low = 0, high = adds;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (simt_ld_u64(a->window.add_key + middle) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The part of the list that belongs to a row is from *first on. How many. */
SIMT_FN uint32_t sl_list_of_row(const sl_args *a, uint64_t row, uint64_t rows, uint32_t *first)
{
    uint32_t adds = (uint32_t)simt_ld_u64(&a->numbers->adds), end = adds;
    *first = row ? sl_list_from(a, adds, simt_ld_u64(a->v.bound + row)) : 0;
    if (row + 1 < rows) end = sl_list_from(a, adds, simt_ld_u64(a->v.bound + row + 1));
    return end - *first;
}

/* What becomes of a segment. Its entries, and those of the list that there is room for, fill `pieces` segments: its own
 * home and fresh ones. */
typedef struct sl_plan {
    uint64_t row, first; /* first: place of its home */
    uint32_t home, count, at, adds, pieces, total;
    bool full; /* all new keys are above all: pieces are filled one after another, as ascending keys do. Else evenly */
} sl_plan;

/* How many pieces so many entries should have: evenly filled ones to three quarters, so that the next split is not
 * soon. At least half of a segment is in each, which keeps SL-6. */
SIMT_FN uint32_t sl_pieces_for(const sl_args *a, uint64_t total, bool full)
{
    uint64_t fit = a->v.fit;
    if (total <= fit) return 1;
    return (uint32_t)(full ? (total + fit - 1) / fit : (4 * total + 3 * fit - 1) / (3 * fit));
}

/* A far segment that is nearly full would be merged as a whole again and again. It is split before it is full, if there
 * are homes for all that are. Each part, with any neighbour, has more than half of what fits, which keeps SL-6. */
SIMT_FN bool sl_splits_early(const sl_args *a, const sl_plan *p, uint64_t rows)
{
    uint32_t fit = a->v.fit, total = p->count + p->adds;
    if (p->first < a->near_places || !p->adds || total <= fit - fit / 16 || total > fit || p->full) return false;
    if (p->row && simt_ld_u32(a->v.count + simt_ld_u32(a->v.home + p->row - 1)) <= fit / 32) return false;
    return p->row + 1 == rows || simt_ld_u32(a->v.count + simt_ld_u32(a->v.home + p->row + 1)) > fit / 32;
}

/* All but pieces and total; `full` if sl_plan_count has found it out. home: the row's. */
SIMT_FN sl_plan sl_plan_begin(const sl_args *a, uint64_t row, uint64_t rows, uint32_t home, uint32_t at, uint32_t adds)
{
    sl_plan p;
    p.row = row;
    p.home = home;
    p.first = sl_home_place(a, p.home);
    p.count = simt_ld_u32(a->v.count + p.home);
    p.at = at;
    p.adds = adds;
    p.pieces = 1;
    p.total = p.count;
    p.full = row + 1 == rows && simt_ld_u64(&a->numbers->full);
    return p;
}

/* Whether all new keys of the row are above its entries. */
SIMT_FN bool sl_adds_above(const sl_args *a, const sl_plan *p)
{
    if (!p->adds) return false;
    uint32_t at = simt_ld_u32(a->window.add_at + p->at);
    if (p->first < a->near_places) return at == p->count;
    return sl_entry_from(a, p->first, sl_code_index(a, at)) == a->v.fit;
}

SIMT_FN uint64_t sl_free_homes(const sl_args *a, uint64_t rows) { return a->v.homes - rows; }

SIMT_FN sl_plan sl_plan_of(const sl_args *a, uint64_t row, uint64_t rows, uint32_t home)
{
    uint32_t at = simt_ld_u32(a->room.first + row), end = simt_ld_u32(a->room.first + row + 1);
    uint64_t before = simt_ld_u32(a->room.fresh + row), after = simt_ld_u32(a->room.fresh + row + 1),
             free = sl_free_homes(a, rows), room;
    sl_plan p = sl_plan_begin(a, row, rows, home, at, end - at);
    if (after > free) after = free;
    p.pieces = after > before ? (uint32_t)(1 + after - before) : 1;
    p.total = p.count + p.adds;
    room = (uint64_t)p.pieces * a->v.fit;
    if (p.total > room) { /* homes are short: the last of the list are PENDING */
        p.total = (uint32_t)room;
        p.adds = p.total - p.count;
    }
    return p;
}

/* How many entries come before piece k. */
SIMT_FN uint32_t sl_plan_border(const sl_args *a, const sl_plan *p, uint32_t k)
{
    uint64_t filled = (uint64_t)k * a->v.fit;
    if (!p->full) return (uint32_t)((uint64_t)p->total * k / p->pieces);
    return filled < p->total ? (uint32_t)filled : p->total;
}

/* Whether a home of a lane's share is free. */
SIMT_FN bool sl_is_free(const sl_args *a, uint64_t home, uint64_t end)
{
    return home < end && !(simt_ld_u32(sl_used_word(a, home)) >> home % 32 & 1);
}

/* A lane takes a row, and then a home. */
SIMT_FN void sl_plan_count(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t rows = sl_rows(a);
    for (uint32_t share = gpu_warp(); share < a->row_shares; share += gpu_warps()) {
        uint64_t end = gpu_share_begin(rows, share + 1, a->row_shares), homes = a->v.homes;
        uint32_t fresh = 0, free = 0, early = 0;
        for (uint64_t at = gpu_share_begin(rows, share, a->row_shares); at < end; at += 32) {
            uint64_t row = at + w.rank;
            uint32_t first, want = 0;
            if (row < end) {
                uint32_t adds = sl_list_of_row(a, row, rows, &first);
                sl_plan p = sl_plan_begin(a, row, rows, simt_ld_u32(a->v.home + row), first, adds);
                p.full = a->b.op != HD_OP_ERASE && row + 1 == rows && sl_adds_above(a, &p);
                if (row + 1 == rows) simt_st_u64(&a->numbers->full, p.full);
                if (a->b.op != HD_OP_ERASE) want = sl_pieces_for(a, (uint64_t)p.count + adds, p.full) - 1;
                if (a->b.op != HD_OP_ERASE && sl_splits_early(a, &p, rows)) want = SL_EARLY;
                simt_st_u32(a->room.first + row, first);
                simt_st_u32(a->room.fresh + row, want);
                simt_st_u32(a->room.kept + row, p.count - (a->b.op == HD_OP_ERASE ? adds : 0));
            }
            simt_join();
            early += simt_popc(simt_ballot(w, want == SL_EARLY));
            fresh += simt_reduce_add_u32(w, want == SL_EARLY ? 0 : want);
        }
        end = gpu_share_begin(homes, share + 1, a->row_shares);
        for (uint64_t at = gpu_share_begin(homes, share, a->row_shares); at < end; at += 32)
            free += simt_popc(simt_ballot(w, sl_is_free(a, at + w.rank, end)));
        sl_note(w, a->window.share + share, fresh);
        sl_note(w, a->window.share + SL_SHARES + share, free);
        sl_note(w, a->room.last + share, early);
    }
}

/* The last share knows all sums. */
SIMT_FN void sl_plan_sums(const sl_args *a, uint64_t rows, uint32_t fresh)
{
    uint64_t free = sl_free_homes(a, rows), taken = fresh < free ? fresh : free;
    simt_st_u32(a->room.fresh + rows, fresh);
    simt_st_u32(a->room.first + rows, (uint32_t)simt_ld_u64(&a->numbers->adds));
    simt_st_u64(&a->numbers->fresh, taken);
    simt_st_u64(&a->numbers->next, rows + taken);
    simt_st_u64(&a->numbers->was, rows);
    simt_st_u64(&a->numbers->whole, 0);
    simt_st_u64(&a->numbers->other, 0);
}

/* How many homes a row wants that would be split early: 1 if there are enough for all. */
SIMT_FN uint32_t sl_plan_early(simt_tile w, const sl_args *a, uint64_t rows)
{
    if (!a->v.near_key) return 0;
    uint64_t want =
        (uint64_t)sl_share_before(w, a->window.share, a->row_shares) + sl_share_before(w, a->room.last, a->row_shares);
    return want <= sl_free_homes(a, rows);
}

SIMT_FN void sl_plan_write(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t rows = sl_rows(a);
    uint32_t early = sl_plan_early(w, a, rows);
    for (uint32_t share = gpu_warp(); share < a->row_shares; share += gpu_warps()) {
        uint64_t end = gpu_share_begin(rows, share + 1, a->row_shares), homes = a->v.homes;
        uint32_t fresh = sl_share_before(w, a->window.share, share), all,
                 free = sl_share_before(w, a->window.share + SL_SHARES, share);
        if (early) fresh += sl_share_before(w, a->room.last, share);
        for (uint64_t at = gpu_share_begin(rows, share, a->row_shares); at < end; at += 32) {
            uint32_t want = at + w.rank < end ? simt_ld_u32(a->room.fresh + at + w.rank) : 0;
            if (want == SL_EARLY) want = early;
            uint32_t before = gpu_sum_before_all(w, want, &all);
            if (at + w.rank < end) simt_st_u32(a->room.fresh + at + w.rank, fresh + before);
            simt_join();
            fresh += all;
        }
        if (w.rank == 0 && share + 1 == a->row_shares) sl_plan_sums(a, rows, fresh);
        simt_join();
        end = gpu_share_begin(homes, share + 1, a->row_shares);
        for (uint64_t at = gpu_share_begin(homes, share, a->row_shares); at < end; at += 32) {
            bool is = sl_is_free(a, at + w.rank, end);
            uint32_t to = free + sl_bits_before(w, is, &all);
            if (is) simt_st_u32(a->room.free + to, (uint32_t)(at + w.rank));
            simt_join();
            free += all;
        }
    }
}

/* ---- Merge ----------------------------------------------------------------------------------- */

/* How many of the row's list come before place d of what is merged: the k-th comes to place k + add_at. It is from
 * `low` to `high`. */
SIMT_FN uint32_t sl_adds_before(const sl_args *a, const sl_plan *p, uint32_t low, uint32_t high, uint32_t d)
{
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (simt_ld_u32(a->window.add_at + p->at + middle) + middle < d)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A piece: the places [from, to) of what is merged, with part [add, add_end) of the row's list. */
typedef struct sl_piece {
    uint32_t from, to, add, add_end;
} sl_piece;

SIMT_FN sl_piece sl_piece_of(const sl_args *a, const sl_plan *p, uint32_t k)
{
    sl_piece q;
    q.from = sl_plan_border(a, p, k);
    q.to = sl_plan_border(a, p, k + 1);
    q.add = sl_adds_before(a, p, 0, p->adds, q.from);
    q.add_end = sl_adds_before(a, p, q.add, p->adds, q.to);
    return q;
}

/* The item of number k of the list. */
SIMT_FN uint64_t sl_listed_item(const sl_args *a, uint32_t k)
{
    return a->b.first + (uint32_t)simt_ld_u64(a->window.word + simt_ld_u32(a->window.add_from + k));
}

/* What comes to a place: an entry of the old segment, or a new one. */
typedef struct sl_merged {
    sl_entry e;
    uint32_t before; /* of the row's list */
    bool fresh;      /* it is that number of the list */
} sl_merged;

/* d: place of what is merged; before: from `low` to `high`; far: the segment may be. Threads of a warp take places in a
 * row, and so store whole lines. */
SIMT_FN sl_merged sl_merged_at(const sl_args *a, const sl_plan *p, uint32_t low, uint32_t high, uint32_t d, bool far)
{
    sl_merged m;
    m.before = sl_adds_before(a, p, low, high, d);
    uint32_t at = p->at + m.before;
    m.fresh = m.before < p->adds && simt_ld_u32(a->window.add_at + at) + m.before == d;
    if (m.fresh) {
        m.e.key = simt_ld_u64(a->window.add_key + at);
        m.e.value = sl_given(a, sl_listed_item(a, at));
    } else {
        m.e = sl_entry_at(a, far ? sl_place_of(a, p->first, d - m.before) : p->first + d - m.before);
    }
    return m;
}

/* Number k of the list has been inserted. */
SIMT_FN void sl_mark_merged(const sl_args *a, uint32_t k)
{
    simt_st_u32(a->window.mark + simt_ld_u32(a->window.add_from + k), SL_MERGED);
}

SIMT_FN void sl_put_merged(const sl_args *a, const sl_plan *p, const sl_merged *m, uint64_t place)
{
    uint32_t at = p->at + m->before;
    uint64_t i = m->fresh && simt_tells() ? sl_listed_item(a, at) : 0;
    sl_put_entry(a, place, m->e);
    if (!m->fresh) return;
    simt_ticket_store(i, HD_INSERTED, 0, place);
    sl_mark_merged(a, at);
}

/* The row that fresh segment `g` is split from. */
SIMT_FN uint64_t sl_row_of_fresh(const sl_args *a, uint64_t rows, uint64_t g)
{
    uint64_t low = 0, high = rows; /* fresh[low] <= g < fresh[high] */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (simt_ld_u32(a->room.fresh + middle) <= g)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- What is written to a far home ----------------------------------------------------------- */

/* n entries share out among `used` lines, and these are spread over the lines of the home, so that changes find room
 * nearby. */
typedef struct sl_spread {
    uint64_t first; /* place of the home */
    uint32_t n, used, lines;
    bool loose;
} sl_spread;

/* loose: lines have room, too, as far as the home has lines. Else all but the last one are full, so that warps write
 * whole lines. */
SIMT_FN sl_spread sl_spread_of(const sl_args *a, uint64_t first, uint32_t n, bool loose)
{
    uint32_t each = sl_line_entries(&a->v), filled = loose ? each - each / 4 : each;
    sl_spread s;
    s.first = first;
    s.n = n;
    s.loose = loose;
    s.lines = 1u << (a->shift - sl_line_shift(&a->v));
    s.used = (n + filled - 1) / filled;
    if (s.used > s.lines) s.used = s.lines;
    return s;
}

/* x * y / z */
SIMT_FN uint32_t sl_part_of(uint32_t x, uint32_t y, uint32_t z)
{
    uint64_t product = (uint64_t)x * y;
    return product >> 32 ? (uint32_t)(product / z) : (uint32_t)product / z;
}

/* Which line of the home line j of those that are used is; how many entries come before it. */
SIMT_FN uint32_t sl_spread_line(const sl_spread *s, uint32_t j) { return sl_part_of(2 * j + 1, s->lines, 2 * s->used); }
SIMT_FN uint32_t sl_spread_before(const sl_args *a, const sl_spread *s, uint32_t j)
{
    if (s->loose) return sl_part_of(s->n, j, s->used);
    return j < s->used ? j << sl_line_shift(&a->v) : s->n;
}

/* How many entries a line of the home gets. */
SIMT_FN uint32_t sl_spread_filled(const sl_args *a, const sl_spread *s, uint32_t line)
{
    uint32_t j = sl_part_of(line, s->used, s->lines);
    if (j < s->used && sl_spread_line(s, j) < line) j++;
    if (j > 0 && sl_spread_line(s, j - 1) == line) j--;
    if (j >= s->used || sl_spread_line(s, j) != line) return 0;
    return sl_spread_before(a, s, j + 1) - sl_spread_before(a, s, j);
}

/* Threads of a block note it, before or after the entries are written. */
SIMT_FN void sl_spread_fill(const sl_args *a, const sl_spread *s)
{
    uint32_t lines = sl_group_lines(&a->v), groups = (uint32_t)sl_home_groups(&a->v);
    for (uint32_t g = simt_thread(); g < groups; g += simt_threads()) {
        uint32_t word = 0;
        for (uint32_t line = 0; line < lines; line++) word |= sl_spread_filled(a, s, g * lines + line) << 8 * line;
        simt_st_u32(a->v.filled + sl_group_of(a, s->first) + g, word);
    }
    simt_join();
}

/* Where entry x goes. */
SIMT_FN uint64_t sl_spread_place(const sl_args *a, const sl_spread *s, uint32_t x)
{
    uint32_t shift = sl_line_shift(&a->v),
             j = s->loose ? (uint32_t)(((uint64_t)(x + 1) * s->used - 1) / s->n) : x >> shift;
    return s->first + ((uint64_t)sl_spread_line(s, j) << shift) + (x - sl_spread_before(a, s, j));
}

/* Near keys of the lines without entries that follow entry x, or come before the first one. place: its own */
SIMT_FN void sl_spread_gaps(const sl_args *a, const sl_spread *s, uint32_t x, uint64_t place, uint64_t key)
{
    uint32_t shift = sl_line_shift(&a->v), line = (uint32_t)(place - s->first) >> shift, next = s->lines;
    if (!s->loose && x && x + 1 < s->n && (x + 1) >> shift == x >> shift) return;
    if (x + 1 < s->n) next = (uint32_t)(sl_spread_place(a, s, x + 1) - s->first) >> shift;
    for (uint32_t k = 0; x == 0 && k < line; k++) sl_note_near_key(a, s->first + ((uint64_t)k << shift), 0);
    for (uint32_t k = line + 1; k < next; k++) sl_note_near_key(a, s->first + ((uint64_t)k << shift), key + 1);
}

/* ---- Fresh segments -------------------------------------------------------------------------- */

/* A block takes a fresh segment. far: the table has far segments. */
SIMT_FN void sl_merge_fresh_of(const sl_args *a, bool far)
{
    uint64_t rows = sl_rows(a), all = simt_ld_u64(&a->numbers->fresh);
    for (uint64_t g = simt_block(); g < all; g += simt_blocks()) {
        uint64_t row = sl_row_of_fresh(a, rows, g);
        sl_plan p = sl_plan_of(a, row, rows, simt_ld_u32(a->v.home + row));
        uint32_t k = (uint32_t)(g - simt_ld_u32(a->room.fresh + row)) + 1, home = simt_ld_u32(a->room.free + g);
        sl_piece q = sl_piece_of(a, &p, k);
        uint64_t to = row + g + 1; /* so many rows and fresh segments are before it */
        uint64_t first = sl_home_place(a, home);
        bool spread = far && first >= a->near_places;
        sl_spread s = sl_spread_of(a, first, q.to - q.from, false);
        for (uint32_t d = q.from + simt_thread(), add = q.add; d < q.to; d += simt_threads()) {
            uint32_t add_end = q.add_end - add < simt_threads() ? q.add_end : add + simt_threads();
            sl_merged m = sl_merged_at(a, &p, add, add_end, d, far);
            uint32_t x = d - q.from;
            uint64_t place = spread ? sl_spread_place(a, &s, x) : first + x;
            sl_put_merged(a, &p, &m, place);
            if (spread) sl_spread_gaps(a, &s, x, place, m.e.key);
            if (d == q.from) simt_st_u64(a->room.bound + to, m.e.key);
            add = m.before;
        }
        simt_join();
        if (spread) sl_spread_fill(a, &s);
        if (simt_thread() != 0) continue;
        simt_st_u32(a->room.home + to, home);
        simt_st_u32(a->room.last + g, q.to - q.from);
    }
}

SIMT_FN void sl_merge_fresh(const sl_args *a) { sl_merge_fresh_of(a, false); }

/* ---- Old segments ---------------------------------------------------------------------------- */

/* Entries move up: places are filled in tiles, from the last one on. All threads read what comes to their places of a
 * tile, and write when all have. What comes to later tiles does not lie at or above the first place of this one. */
enum { SL_MOVED = 4 /* places that a thread fills at a time */ };

/* The places [low, high). add, add_end: how many of the list come before `low`, and before `high` */
SIMT_FN void sl_merge_tile(const sl_args *a, const sl_plan *p, uint32_t low, uint32_t high, uint32_t add,
                           uint32_t add_end)
{
    sl_merged m[SL_MOVED];
    SIMT_UNROLL
    for (uint32_t k = 0; k < SL_MOVED; k++) {
        uint32_t d = low + k * simt_threads() + simt_thread();
        if (d < high) m[k] = sl_merged_at(a, p, add, add_end, d, false);
    }
    simt_sync_block();
    SIMT_UNROLL
    for (uint32_t k = 0; k < SL_MOVED; k++) {
        uint32_t d = low + k * simt_threads() + simt_thread();
        if (d < high) sl_put_merged(a, p, &m[k], p->first + d);
    }
    simt_join();
}

/* Whether some of the list belong to the row. */
SIMT_FN bool sl_has_list(const sl_args *a, uint64_t row)
{
    uint32_t first = simt_ld_u32(a->room.first + row);
    return first != simt_ld_u32(a->room.first + row + 1);
}

/* What stays of a row's segment in its home is merged there. A block takes it. */
SIMT_FN void sl_merge_in_place(const sl_args *a, const sl_plan *p)
{
    sl_piece q = sl_piece_of(a, p, 0);
    uint32_t low, tile = SL_MOVED * simt_threads(), least = simt_ld_u32(a->window.add_at + p->at), end = q.add_end;
    for (uint32_t high = q.to; high > least; high = low) {
        low = (high - 1) / tile * tile; /* so that tiles begin with lines */
        if (low < least) low = least;
        uint32_t add = sl_adds_before(a, p, 0, end, low);
        sl_merge_tile(a, p, low, high, add, end);
        end = add;
    }
    simt_sync_block(); /* all have read the count */
    if (simt_thread() == 0) simt_st_u32(a->v.count + p->home, q.to);
    simt_join();
}

/* ---- The directory --------------------------------------------------------------------------- */

/* Where the row is in the next directory. */
SIMT_FN uint64_t sl_next_row(const sl_args *a, uint64_t row, uint64_t fresh)
{
    uint64_t before = simt_ld_u32(a->room.fresh + row);
    return row + (before < fresh ? before : fresh);
}

/* A thread per row of the old directory. */
SIMT_FN void sl_next_rows(const sl_args *a)
{
    uint64_t rows = sl_rows(a), fresh = simt_ld_u64(&a->numbers->fresh);
    for (uint64_t row = gpu_thread(); row < rows && fresh; row += gpu_threads()) {
        uint64_t to = sl_next_row(a, row, fresh);
        simt_st_u64(a->room.bound + to, simt_ld_u64(a->v.bound + row));
        simt_st_u32(a->room.home + to, simt_ld_u32(a->v.home + row));
    }
}

/* The next directory takes the place of the old one, if it differs. A thread per row. No lane of the launch may read
 * the old one meanwhile. */
SIMT_FN void sl_publish(const sl_args *a)
{
    if (simt_ld_u64(&a->numbers->fresh) == 0) return;
    uint64_t rows = simt_ld_u64(&a->numbers->next);
    for (uint64_t row = gpu_thread(); row < rows; row += gpu_threads()) {
        simt_st_u64(a->v.bound + row, simt_ld_u64(a->room.bound + row));
        simt_st_u32(a->v.home + row, simt_ld_u32(a->room.home + row));
    }
    if (gpu_thread() == 0) simt_st_u64(&a->numbers->rows, rows);
    simt_join();
}

/* A thread per fresh segment. */
SIMT_FN void sl_use_fresh(const sl_args *a)
{
    uint64_t fresh = simt_ld_u64(&a->numbers->fresh);
    for (uint64_t g = gpu_thread(); g < fresh; g += gpu_threads()) {
        uint32_t home = simt_ld_u32(a->room.free + g);
        simt_st_u32(a->v.count + home, simt_ld_u32(a->room.last + g));
        simt_or_u32(sl_used_word(a, home), 1u << home % 32, SIMT_RELAXED);
    }
    simt_join();
}

/* The home of a row of the old directory, while that is written over. */
SIMT_FN uint32_t sl_old_home(const sl_args *a, uint64_t row)
{
    uint64_t fresh = simt_ld_u64(&a->numbers->fresh);
    const uint32_t *home = fresh ? a->room.home : a->v.home;
    return simt_ld_u32(home + (fresh ? sl_next_row(a, row, fresh) : row));
}

/* A block takes a row. */
SIMT_FN void sl_commit(const sl_args *a)
{
    uint64_t rows = simt_ld_u64(&a->numbers->was);
    for (uint64_t row = simt_block(); row < rows; row += simt_blocks()) {
        if (!sl_has_list(a, row)) continue;
        sl_plan p = sl_plan_of(a, row, rows, sl_old_home(a, row));
        if (p.adds) sl_merge_in_place(a, &p); /* else all are PENDING */
    }
    simt_join();
    sl_use_fresh(a);
    sl_publish(a);
}

#endif

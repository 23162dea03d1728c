/* SPDX-License-Identifier: Apache-2.0
 *
 * check.h - kernels over a table at rest: hd_check, and the end of hd_load, so that no table is copied to the host for
 * them. hd_check asks for the rules in the order of the reference (ref/sl/check.c), and reports the first row, or
 * entry, that breaks one.
 */
#ifndef SL_CHECK_H
#define SL_CHECK_H

#include "gpu/sl/check_args.h"
#include "gpu/sl/share.h"

/* ---- hd_check -------------------------------------------------------------------------------- */

SIMT_FN bool sl_is_used(const sl_args *a, uint64_t home) { return simt_ld_u32(sl_used_word(a, home)) >> home % 32 & 1; }

/* Whether the lines of a far home have another number of entries, or one of them too many. */
SIMT_FN bool sl_filled_wrong(const sl_args *a, uint32_t home, uint32_t count)
{
    uint64_t first = sl_home_place(a, home), n = 0;
    bool wrong = false;
    if (first < a->near_places) return false;
    for (uint32_t group = 0; group < sl_home_groups(&a->v); group++)
        for (uint32_t line = 0, word = sl_filled_at(a, sl_group_of(a, first) + group); line < sl_group_lines(&a->v);
             line++) {
            n += sl_filled_of(word, line);
            wrong = wrong || sl_filled_of(word, line) > sl_line_entries(&a->v);
        }
    return wrong || n != count;
}

SIMT_FN uint32_t sl_row_rule(const sl_args *a, uint64_t row, uint64_t rows)
{
    uint32_t home = simt_ld_u32(a->v.home + row);
    if (home >= a->v.homes || !sl_is_used(a, home)) return SL_RULE_HOME;
    uint64_t bound = simt_ld_u64(a->v.bound + row);
    if (row == 0 && bound != 0) return SL_RULE_FIRST_BOUND;
    if (row && bound <= simt_ld_u64(a->v.bound + row - 1)) return SL_RULE_BOUND;
    uint32_t count = simt_ld_u32(a->v.count + home);
    if (count > a->v.fit) return SL_RULE_FULL;
    if (count == 0 && rows > 1) return SL_RULE_EMPTY;
    return sl_filled_wrong(a, home, count) ? SL_RULE_FILLED : SL_RULES;
}

/* A thread takes a home, and the row of that number. */
SIMT_FN void sl_check_rows(const sl_check_args *c)
{
    const sl_args *a = &c->a;
    uint64_t rows = simt_ld_u64(&a->numbers->rows), used = 0, stray = 0;
    for (uint64_t home = gpu_thread(); home < a->v.homes; home += gpu_threads()) {
        bool is = sl_is_used(a, home);
        used += is;
        stray += !is && simt_ld_u32(a->v.count + home) != 0;
        uint32_t rule = home < rows ? sl_row_rule(a, home, rows) : SL_RULES;
        if (rule != SL_RULES) simt_max_u64(&c->words->row, ~(SL_RULES * home + rule), SIMT_RELAXED);
    }
    gpu_add_up(&c->words->used, used);
    gpu_add_up(&c->words->stray, stray);
}

SIMT_FN void sl_broken_entry(const sl_check_args *c, uint64_t row, uint32_t index, uint32_t rule)
{
    uint64_t at = (c->a.v.fit + 1ull) * row + index;
    simt_max_u64(&c->words->entry, ~(SL_RULES * at + rule), SIMT_RELAXED);
}

/* The least key that may be at place x of a home, after the entries before it. */
SIMT_FN uint64_t sl_key_from(const sl_args *a, uint64_t first, uint32_t x)
{
    uint32_t before = x - 1;
    if (x == 0) return 0;
    if (first >= a->near_places) before = sl_entry_before(a, first, x);
    return before == a->v.fit ? 0 : sl_key_at(a, first + before, false) + 1;
}

/* Whether the line that begins at place x of a far home has a wrong near key, which is at least `least`, or `key` if it
 * is not SL_NO_KEY. */
SIMT_FN bool sl_near_key_wrong(const sl_args *a, uint64_t first, uint32_t x, uint64_t least, uint64_t key)
{
    if (first < a->near_places || (x & (sl_line_entries(&a->v) - 1)) != 0) return false;
    uint64_t line = sl_line_of(a, first + x), near_key = sl_near_key_at(a, line);
    if (x && near_key < sl_near_key_at(a, line - 1)) return true;
    return key != SL_NO_KEY ? near_key != key : near_key < least;
}

/* The rule that place x of a home breaks. The segment's keys are from `bound` to below `limit`. */
SIMT_FN uint32_t sl_place_rule(const sl_args *a, uint64_t first, uint32_t x, uint64_t bound, uint64_t limit)
{
    uint64_t key = SL_NO_KEY, least = sl_key_from(a, first, x);
    if (sl_is_entry(a, first + x)) {
        key = sl_key_at(a, first + x, false);
        if (key < least) return SL_RULE_ORDER;
        if (key < bound) return SL_RULE_BELOW;
        if (key >= limit) return SL_RULE_ABOVE;
    }
    return sl_near_key_wrong(a, first, x, least, key) ? SL_RULE_NEAR_KEY : SL_RULES;
}

/* The rows keep their rules. A block takes a row. */
SIMT_FN void sl_check_entries(const sl_check_args *c)
{
    const sl_args *a = &c->a;
    uint64_t rows = simt_ld_u64(&a->numbers->rows);
    for (uint64_t row = simt_block(); row < rows; row += simt_blocks()) {
        uint32_t home = simt_ld_u32(a->v.home + row), count = simt_ld_u32(a->v.count + home), before = 0;
        uint64_t first = sl_home_place(a, home), bound = simt_ld_u64(a->v.bound + row), limit = sl_keys(&a->v);
        if (row + 1 < rows) limit = simt_ld_u64(a->v.bound + row + 1);
        for (uint32_t x = simt_thread(); x < (first < a->near_places ? count : a->v.fit); x += simt_threads()) {
            uint32_t rule = sl_place_rule(a, first, x, bound, limit);
            if (rule != SL_RULES) sl_broken_entry(c, row, x, rule);
        }
        simt_join();
        if (simt_thread() != 0 || row == 0) continue;
        before = simt_ld_u32(a->v.count + simt_ld_u32(a->v.home + row - 1));
        if (before + count <= a->v.fit / 2) sl_broken_entry(c, row, a->v.fit, SL_RULE_SMALL);
    }
}

/* ---- The end of hd_load ---------------------------------------------------------------------- */

/* An empty table is filled bucket by bucket. In a bucket that is filled, places without an entry have a key that none
 * can have; in others only the first one has. When all are filled, what follows from the entries is written here:
 * counts, used homes, and the directory, whose rows are the homes in the order of their first keys. */

/* A thread takes a bucket. */
SIMT_FN void sl_mark_buckets(const sl_check_args *c)
{
    uint64_t buckets = sl_places(&c->a.v) / c->slots;
    for (uint64_t b = gpu_thread(); b < buckets; b += gpu_threads())
        simt_st_u64(sl_words(&c->a, b * c->slots), UINT64_MAX);
}

/* How many entries a home has; more than fit, if there is an entry behind an empty place. */
SIMT_FN uint32_t sl_settle_count(simt_tile w, const sl_check_args *c, uint64_t home)
{
    const sl_args *a = &c->a;
    uint32_t count = 0;
    bool ends = false, gap = false;
    for (uint32_t x = 0; x < a->v.fit && !gap; x += 32) {
        uint32_t at = x + w.rank;
        bool looks = at < a->v.fit && (!ends || at % c->slots == 0), is = false;
        if (looks) is = sl_key_at(a, sl_home_place(a, home) + at, false) < sl_keys(&a->v);
        uint32_t all = simt_ballot(w, is), front = ends ? 0 : simt_ffs(~all) - 1;
        if (!ends && all == 0xffffffffu) front = 32;
        if (!ends) count += front;
        /* behind the first empty place only the first places of buckets say something */
        ends = ends || front < 32;
        gap = simt_any(w, is && at >= count && at % c->slots == 0);
    }
    return gap ? a->v.fit + 1 : count;
}

SIMT_FN uint32_t sl_settle_code(const sl_check_args *c, uint64_t home)
{
    uint64_t key = sl_key_at(&c->a, sl_home_place(&c->a, home), false);
    if (simt_ld_u32(c->a.v.count + home) == 0) return SL_NO_CODE;
    return (uint32_t)(c->high ? key >> 32 : key);
}

/* A warp takes a home. */
SIMT_FN void sl_settle_homes(const sl_check_args *c)
{
    const sl_args *a = &c->a;
    simt_tile w = simt_tile_of(32);
    for (uint64_t home = gpu_warp(); home < a->v.homes; home += gpu_warps()) {
        uint32_t count = sl_settle_count(w, c, home);
        if (w.rank == 0 && count) {
            simt_add_u64(&a->numbers->rows, 1, SIMT_RELAXED);
            simt_or_u32(sl_used_word(a, home), 1u << home % 32, SIMT_RELAXED);
        }
        if (w.rank == 0) simt_st_u32(a->v.count + home, count);
        simt_join();
    }
}

/* A thread takes a home, or a word of one that is sorted already by the low half. */
SIMT_FN void sl_settle_label(const sl_check_args *c)
{
    for (uint64_t at = gpu_thread(); at < c->a.v.homes; at += gpu_threads()) {
        uint64_t home = at;
        if (c->high) home = (uint32_t)simt_ld_u64(c->codes + at);
        simt_st_u64(c->codes + at, (uint64_t)sl_settle_code(c, home) << 32 | home);
    }
}

/* The near keys of what was filled, and how many entries lines have. A thread takes a line. */
SIMT_FN void sl_settle_near(const sl_check_args *c)
{
    const sl_args *a = &c->a;
    uint32_t each = sl_line_entries(&a->v);
    for (uint64_t place = a->near_places + gpu_thread() * each; place < sl_places(&a->v);
         place += gpu_threads() * each) {
        uint64_t home = place >> a->shift;
        uint64_t filled = sl_home_place(a, home) + simt_ld_u32(a->v.count + home);
        if (place < filled) sl_note_near_key(a, place, sl_key_at(a, place, false));
        sl_lay_lines(a, place, place + 1, filled, 0, 1);
    }
}

/* A thread takes a row. codes may be the bounds. */
SIMT_FN void sl_settle_rows(const sl_check_args *c)
{
    const sl_args *a = &c->a;
    for (uint64_t row = gpu_thread(); row < a->v.homes; row += gpu_threads()) {
        uint32_t home = (uint32_t)simt_ld_u64(c->codes + row);
        uint64_t bound = row ? sl_key_at(a, sl_home_place(a, home), false) : 0;
        simt_st_u32(a->v.home + row, home);
        simt_st_u64(a->v.bound + row, bound);
    }
    if (gpu_thread() != 0 || simt_ld_u64(&a->numbers->rows) != 0) return;
    simt_st_u64(&a->numbers->rows, 1); /* an empty table: its segment is in the first home of the order */
    simt_or_u32(sl_used_word(a, 0), 1, SIMT_RELAXED);
}

#endif

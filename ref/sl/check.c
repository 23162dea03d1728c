/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - every invariant of layout.h, by number, for a table at rest.
 */
#include <inttypes.h>
#include <stdio.h>

#include "ref/sl/sl.h"

static bool is_used(const sl_view *v, uint64_t home) { return v->used[home / 64] >> home % 64 & 1; }

/* Homes that are marked as used; UINT64_MAX: a free one has entries. */
static uint64_t used_homes(const sl_view *v)
{
    uint64_t n = 0;
    for (uint64_t home = 0; home < v->homes; home++) {
        if (!is_used(v, home) && v->count[home]) return UINT64_MAX;
        n += is_used(v, home);
    }
    return n;
}

static bool filled_wrong(const sl_view *v, uint64_t home)
{
    const uint32_t *words = v->stale ? NULL : sl_filled_in(v, home);
    uint64_t n = 0;
    for (uint64_t line = 0; words && line < sl_home_lines(v); line++) {
        uint32_t some = sl_filled_line(v, words, line);
        if (some > sl_line_entries(v)) return true;
        n += some;
    }
    return words && n != v->count[home];
}

static sl_rule row_wrong(const sl_view *v, uint64_t row)
{
    if (v->home[row] >= v->homes || !is_used(v, v->home[row])) return SL_RULE_HOME;
    if (row == 0 && v->bound[0] != 0) return SL_RULE_FIRST_BOUND;
    if (row && v->bound[row] <= v->bound[row - 1]) return SL_RULE_BOUND;
    if (sl_count(v, row) > v->fit) return SL_RULE_FULL;
    if (sl_count(v, row) == 0 && v->rows > 1) return SL_RULE_EMPTY;
    return filled_wrong(v, v->home[row]) ? SL_RULE_FILLED : SL_RULES;
}

/* Whether the line that begins at place `index` of the row's segment has a wrong near key. before: the last key of the
 * lines before it, if any has one. */
static bool near_key_wrong(const sl_view *v, uint64_t row, uint32_t index, const uint64_t *before)
{
    uint64_t home = v->home[row];
    if (!sl_filled_in(v, home) || v->stale || index % sl_line_entries(v)) return false;
    uint64_t line = (home - v->near) * sl_home_lines(v) + index / sl_line_entries(v), key = sl_near_key(v, line);
    if (index && key < sl_near_key(v, line - 1)) return true;
    if (sl_has_entry(v, home, index)) return key != sl_key(v, sl_place(v, row, index));
    return before && *before >= key;
}

static bool has_entry(const sl_view *v, uint64_t row, uint32_t index)
{
    return v->stale ? index < sl_count(v, row) : sl_has_entry(v, v->home[row], index);
}

/* What is wrong with place `index` of the row. */
static sl_rule place_wrong(const sl_view *v, uint64_t row, uint32_t index, const uint64_t *before)
{
    if (has_entry(v, row, index)) {
        uint64_t key = sl_key(v, sl_place(v, row, index)), limit = row + 1 < v->rows ? v->bound[row + 1] : sl_keys(v);
        if (before && key <= *before) return SL_RULE_ORDER;
        if (key < v->bound[row]) return SL_RULE_BELOW;
        if (key >= limit) return SL_RULE_ABOVE;
    }
    return near_key_wrong(v, row, index, before) ? SL_RULE_NEAR_KEY : SL_RULES;
}

bool sl_is_sound(const sl_view *v, sl_at at)
{
    uint64_t row = at.row, limit = row + 1 < v->rows ? v->bound[row + 1] : sl_keys(v);
    if (row >= v->rows || v->home[row] >= v->homes || !is_used(v, v->home[row])) return false;
    if (row ? v->bound[row] <= v->bound[row - 1] : v->bound[0] != 0) return false;
    uint32_t count = sl_count(v, row), i = at.index;
    if (count > v->fit || (count == 0 && v->rows > 1)) return false;
    if (i >= count) return true;
    uint64_t key = sl_key(v, sl_place(v, row, i));
    return key >= v->bound[row] && key < limit && (i == 0 || sl_key(v, sl_place(v, row, i - 1)) < key) &&
           (i + 1 == count || key < sl_key(v, sl_place(v, row, i + 1)));
}

static void check_row(const sl_view *v, uint64_t row, char *why, size_t bytes)
{
    sl_rule wrong = SL_RULES;
    uint32_t index = 0, end = v->near_key && v->home[row] >= v->near ? v->fit : sl_count(v, row);
    uint64_t last, *before = NULL;
    for (; index < end && wrong == SL_RULES; index++) {
        wrong = place_wrong(v, row, index, before);
        if (!has_entry(v, row, index)) continue;
        last = sl_key(v, sl_place(v, row, index));
        before = &last;
    }
    if (wrong == SL_RULES && row && sl_count(v, row - 1) + sl_count(v, row) <= v->fit / 2) wrong = SL_RULE_SMALL;
    if (wrong != SL_RULES) sl_say_broken(row, index - 1, wrong, why, bytes);
}

/* ---- Sentences ------------------------------------------------------------------------------- */

void sl_say_broken(uint64_t row, uint32_t index, sl_rule rule, char *why, size_t bytes)
{
    static const char *const sentence[SL_RULES] = {
        [SL_RULE_HOME] = "SL-1: its home is none that is used",
        [SL_RULE_FIRST_BOUND] = "SL-2: the first bound is not 0",
        [SL_RULE_BOUND] = "SL-2: its bound is not above the one before",
        [SL_RULE_FULL] = "SL-3: it has more entries than fit",
        [SL_RULE_EMPTY] = "SL-3: it is empty, and not the only one",
        [SL_RULE_FILLED] = "SL-8: its lines have another number of entries",
        [SL_RULE_ORDER] = "SL-4: the key is not above the one before",
        [SL_RULE_BELOW] = "SL-5: the key is below the segment's bound",
        [SL_RULE_ABOVE] = "SL-5: the key is not below the next bound, or the limit",
        [SL_RULE_NEAR_KEY] = "SL-7: the near key of its line is another",
        [SL_RULE_SMALL] = "SL-6: two neighbours fill at most half of a segment",
    };
    if (rule < SL_RULE_ORDER)
        snprintf(why, bytes, "%s (segment %" PRIu64 ")", sentence[rule], row);
    else if (rule < SL_RULE_SMALL)
        snprintf(why, bytes, "%s (segment %" PRIu64 ", entry %" PRIu32 ")", sentence[rule], row, index);
    else
        snprintf(why, bytes, "%s (segments %" PRIu64 " and %" PRIu64 ")", sentence[rule], row - 1, row);
}

void sl_say_used(uint64_t rows, uint64_t homes, uint64_t used, bool stray, char *why, size_t bytes)
{
    why[0] = 0;
    if (rows == 0 || rows > homes || (used != rows && !stray))
        snprintf(why, bytes,
                 "SL-1: the directory has %" PRIu64 " segments, and %" PRIu64 " of %" PRIu64 " homes are used", rows,
                 used, homes);
    else if (stray)
        snprintf(why, bytes, "SL-3: a free home has entries");
}

void sl_check(const sl_view *v, char *why, size_t bytes)
{
    uint64_t used = used_homes(v);
    sl_say_used(v->rows, v->homes, used, used == UINT64_MAX, why, bytes);
    for (uint64_t row = 0; row < v->rows && !why[0]; row++) {
        sl_rule wrong = row_wrong(v, row);
        if (wrong != SL_RULES) sl_say_broken(row, 0, wrong, why, bytes);
    }
    for (uint64_t row = 0; row < v->rows && !why[0]; row++) check_row(v, row, why, bytes);
}

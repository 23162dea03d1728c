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

static const char *row_wrong(const sl_view *v, uint64_t row)
{
    if (v->home[row] >= v->homes || !is_used(v, v->home[row])) return "SL-1: its home is none that is used";
    if (row == 0 ? v->bound[0] != 0 : v->bound[row] <= v->bound[row - 1])
        return row ? "SL-2: its bound is not above the one before" : "SL-2: the first bound is not 0";
    if (sl_count(v, row) > v->fit) return "SL-3: it has more entries than fit";
    if (sl_count(v, row) == 0 && v->rows > 1) return "SL-3: it is empty, and not the only one";
    return NULL;
}

/* What is wrong with entry `index` of the row. */
static const char *entry_wrong(const sl_view *v, uint64_t row, uint32_t index)
{
    uint64_t key = sl_key(v, sl_place(v, row, index));
    uint64_t limit = row + 1 < v->rows ? v->bound[row + 1] : sl_keys(v);
    if (index && key <= sl_key(v, sl_place(v, row, index - 1))) return "SL-4: the key is not above the one before";
    if (key < v->bound[row]) return "SL-5: the key is below the segment's bound";
    return key >= limit ? "SL-5: the key is not below the next bound, or the limit" : NULL;
}

static void check_row(const sl_view *v, uint64_t row, char *why, size_t bytes)
{
    const char *wrong = NULL;
    uint32_t index = 0;
    for (; index < sl_count(v, row) && !wrong; index++) wrong = entry_wrong(v, row, index);
    if (wrong) snprintf(why, bytes, "%s (segment %" PRIu64 ", entry %" PRIu32 ")", wrong, row, index - 1);
    if (!wrong && row && sl_count(v, row - 1) + sl_count(v, row) <= v->fit / 2)
        snprintf(why, bytes,
                 "SL-6: two neighbours fill at most half of a segment (segments %" PRIu64 " and %" PRIu64 ")", row - 1,
                 row);
}

void sl_check(const sl_view *v, char *why, size_t bytes)
{
    uint64_t used = used_homes(v);
    why[0] = 0;
    if (v->rows == 0 || v->rows > v->homes || (used != v->rows && used != UINT64_MAX))
        snprintf(why, bytes,
                 "SL-1: the directory has %" PRIu64 " segments, and %" PRIu64 " of %" PRIu64 " homes are used", v->rows,
                 used, v->homes);
    else if (used == UINT64_MAX)
        snprintf(why, bytes, "SL-3: a free home has entries");
    for (uint64_t row = 0; row < v->rows && !why[0]; row++) {
        const char *wrong = row_wrong(v, row);
        if (wrong) snprintf(why, bytes, "%s (segment %" PRIu64 ")", wrong, row);
    }
    for (uint64_t row = 0; row < v->rows && !why[0]; row++) check_row(v, row, why, bytes);
}

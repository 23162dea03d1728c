/* SPDX-License-Identifier: Apache-2.0
 *
 * sl.c - single entries and segments: search, insert, split, remove, join.
 */
#include "ref/sl/sl.h"

#include <string.h>

#include "base/design.h"
#include "base/op.h"

/* ---- Homes ----------------------------------------------------------------------------------- */

static bool is_used(const sl_view *v, uint64_t home) { return v->used[home / 64] >> home % 64 & 1; }

static void use(sl_view *v, uint64_t home)
{
    HD_ASSERT(home < v->homes && !is_used(v, home), "SL-1: a home has two segments");
    v->used[home / 64] |= 1ull << home % 64;
    v->count[home] = 0;
}

static void give_back(sl_view *v, uint64_t home)
{
    HD_ASSERT(is_used(v, home), "SL-1: a home is given back twice");
    v->used[home / 64] &= ~(1ull << home % 64);
    v->count[home] = 0;
}

/* The free home with the lowest number; SL_NOWHERE: there is none. */
static uint64_t free_home(const sl_view *v)
{
    for (uint64_t w = 0; v->rows < v->homes && w <= (v->homes - 1) / 64; w++)
        if (~v->used[w]) return w * 64 + (uint64_t)__builtin_ctzll(~v->used[w]);
    return SL_NOWHERE;
}

/* ---- The directory --------------------------------------------------------------------------- */

static void add_row(sl_view *v, uint64_t row, uint64_t bound, uint64_t home)
{
    HD_ASSERT(row <= v->rows && v->rows < v->homes, "SL-1: more segments than homes");
    memmove(v->bound + row + 1, v->bound + row, (v->rows - row) * sizeof *v->bound);
    memmove(v->home + row + 1, v->home + row, (v->rows - row) * sizeof *v->home);
    v->bound[row] = bound;
    v->home[row] = (uint32_t)home;
    v->rows++;
}

static void drop_row(sl_view *v, uint64_t row)
{
    HD_ASSERT(row < v->rows && v->rows > 1, "SL-1: a table has a segment");
    give_back(v, v->home[row]);
    v->rows--;
    memmove(v->bound + row, v->bound + row + 1, (v->rows - row) * sizeof *v->bound);
    memmove(v->home + row, v->home + row + 1, (v->rows - row) * sizeof *v->home);
    v->bound[0] = 0;
}

/* ---- Positions ------------------------------------------------------------------------------- */

/* Segments are empty only where there is one alone; so this goes on by one row at most. */
static bool step_on(const sl_view *v, sl_at *at)
{
    if (at->index < sl_count(v, at->row)) return true;
    if (at->row + 1 >= v->rows) return false;
    *at = (sl_at){ at->row + 1, 0 };
    HD_ASSERT(sl_count(v, at->row) > 0, "SL-3: a segment is empty, and not the only one");
    return true;
}

bool sl_first_from(const sl_view *v, uint64_t key, sl_at *at)
{
    at->row = sl_row(v, key);
    at->index = sl_index(v, at->row, key);
    return step_on(v, at);
}

bool sl_after(const sl_view *v, sl_at *at)
{
    at->index++;
    return step_on(v, at);
}

bool sl_before(const sl_view *v, sl_at *at)
{
    if (at->index > 0) return at->index--, true;
    if (at->row == 0) return false;
    at->row--;
    HD_ASSERT(sl_count(v, at->row) > 0, "SL-3: a segment is empty, and not the only one");
    at->index = sl_count(v, at->row) - 1;
    return true;
}

bool sl_last_to(const sl_view *v, uint64_t key, sl_at *at)
{
    at->row = sl_row(v, key);
    at->index = sl_index(v, at->row, key);
    if (at->index < sl_count(v, at->row) && sl_key(v, sl_place_at(v, *at)) == key) return true;
    return sl_before(v, at);
}

/* ---- Entries --------------------------------------------------------------------------------- */

void *sl_value_at(const sl_view *v, uint64_t place)
{
    /* of a word the low half, which comes first: hosts are little-endian (configure) */
    return v->words == 1 ? v->word + place : v->word + 2 * place + 1;
}

static uint64_t *words_at(const sl_view *v, uint64_t place) { return v->word + place * v->words; }

static size_t bytes_of(const sl_view *v, uint64_t entries) { return (size_t)(entries * v->words * sizeof *v->word); }

uint64_t sl_find(const sl_view *v, uint64_t key)
{
    uint64_t row = sl_row(v, key);
    uint32_t index = sl_index(v, row, key);
    uint64_t place = sl_place(v, row, index);
    return index < sl_count(v, row) && sl_key(v, place) == key ? place : SL_NOWHERE;
}

void sl_set_near_key(const sl_view *v, uint64_t line, uint64_t key)
{
    if (v->words == 1)
        ((uint32_t *)v->near_key)[line] = (uint32_t)key;
    else
        ((uint64_t *)v->near_key)[line] = key;
}

void sl_renew_near(sl_view *v)
{
    uint32_t each = sl_line_entries(v), group = each * sl_group_lines(v);
    v->stale = false;
    for (uint64_t home = v->near; v->near_key && home < v->homes; home++) {
        uint32_t count = v->count[home];
        uint64_t line = (home - v->near) * sl_home_lines(v);
        for (uint32_t x = 0; x < v->fit; x += each)
            sl_set_near_key(v, line + x / each, x < count ? sl_key(v, home * v->fit + x) : UINT64_MAX);
        for (uint32_t x = 0; x < v->fit; x += group)
            sl_filled_in(v, home)[x / group] = sl_filled_full(v, x < count ? count - x : 0);
    }
}

void sl_close_gaps(sl_view *v)
{
    if (!v->near_key || v->stale) return;
    for (uint64_t home = v->near; home < v->homes; home++) {
        sl_walk at = { 0, 0 };
        for (uint32_t n = 0; n < v->count[home]; n++) {
            uint64_t from = home * v->fit + sl_index_of(v, sl_filled_in(v, home), n, &at);
            HD_ASSERT(from < (home + 1) * v->fit && sl_has_entry(v, home, (uint32_t)(from % v->fit)),
                      "SL-8: lines have fewer entries than their segment");
            sl_set(v, home * v->fit + n, sl_key(v, from), sl_value(v, from));
        }
    }
    sl_renew_near(v);
}

/* ---- Insert ---------------------------------------------------------------------------------- */

/* Moves the entries from `index` on to a new segment behind this one. */
static void split_at(sl_view *v, uint64_t row, uint32_t index, uint64_t home)
{
    uint32_t moved = sl_count(v, row) - index;
    HD_ASSERT(index > 0 && index < sl_count(v, row), "SL-3: a split leaves an empty segment");
    use(v, home);
    add_row(v, row + 1, sl_key(v, sl_place(v, row, index)), home);
    memcpy(words_at(v, sl_place(v, row + 1, 0)), words_at(v, sl_place(v, row, index)), bytes_of(v, moved));
    v->count[home] = moved;
    v->count[v->home[row]] -= moved;
    HD_ASSERT(sl_is_sound(v, (sl_at){ row, index - 1 }) && sl_is_sound(v, (sl_at){ row + 1, 0 }));
}

/* The row of a segment with room for the key, which belongs to the full one of `row`; SL_NOWHERE: there is no home. */
static uint64_t make_room(sl_view *v, uint64_t row, uint64_t key)
{
    uint64_t home = free_home(v);
    if (home == SL_NOWHERE) return SL_NOWHERE;
    bool above_all = row + 1 == v->rows && sl_index(v, row, key) == v->fit;
    if (above_all) {
        use(v, home);
        add_row(v, row + 1, key, home);
        return row + 1;
    }
    split_at(v, row, v->fit / 2, home);
    return key >= v->bound[row + 1] ? row + 1 : row;
}

bool sl_insert(sl_view *v, uint64_t key, uint64_t value)
{
    uint64_t row = sl_row(v, key);
    if (sl_count(v, row) == v->fit) row = make_room(v, row, key);
    if (row == SL_NOWHERE) return false;
    uint32_t index = sl_index(v, row, key), above = sl_count(v, row) - index;
    uint64_t place = sl_place(v, row, index);
    memmove(words_at(v, place + 1), words_at(v, place), bytes_of(v, above));
    sl_set(v, place, key, value);
    v->count[v->home[row]]++;
    HD_ASSERT(sl_is_sound(v, (sl_at){ row, index }));
    return true;
}

/* ---- Remove ---------------------------------------------------------------------------------- */

/* Joins the segments of rows row and row + 1 if there are such rows and both fill at most half of one. */
static bool join(sl_view *v, uint64_t row)
{
    if (row + 1 >= v->rows) return false;
    uint32_t low = sl_count(v, row), high = sl_count(v, row + 1);
    if (low + high > v->fit / 2) return false;
    memcpy(words_at(v, sl_place(v, row, low)), words_at(v, sl_place(v, row + 1, 0)), bytes_of(v, high));
    v->count[v->home[row]] = low + high;
    drop_row(v, row + 1);
    HD_ASSERT(low + high == 0 || sl_is_sound(v, (sl_at){ row, low ? low - 1 : 0 }));
    return true;
}

void sl_remove(sl_view *v, uint64_t key)
{
    uint64_t row = sl_row(v, key);
    uint32_t index = sl_index(v, row, key), above = sl_count(v, row) - index - 1;
    uint64_t place = sl_place(v, row, index);
    HD_ASSERT(index < sl_count(v, row) && sl_key(v, place) == key, "a key is removed that is not there");
    memmove(words_at(v, place), words_at(v, place + 1), bytes_of(v, above));
    v->count[v->home[row]]--;
    if (sl_count(v, row) == 0 && v->rows > 1) {
        drop_row(v, row);
        return;
    }
    if (row > 0 && join(v, row - 1)) row--;
    join(v, row);
    HD_ASSERT(row + 1 >= v->rows || sl_count(v, row) + sl_count(v, row + 1) > v->fit / 2, "SL-6: neighbours are small");
    HD_ASSERT(row == 0 || sl_count(v, row - 1) + sl_count(v, row) > v->fit / 2, "SL-6: neighbours are small");
    HD_ASSERT(sl_find(v, key) == SL_NOWHERE, "SL-4: a key is there that was removed");
}

void sl_settle(sl_view *v)
{
    for (uint64_t row = 0; row < v->rows;) {
        if (sl_count(v, row) == 0 && v->rows > 1)
            drop_row(v, row);
        else if (!join(v, row))
            row++;
    }
}

/* ---- The whole table ------------------------------------------------------------------------- */

void sl_clear(sl_view *v)
{
    memset(v->count, 0, v->homes * sizeof *v->count);
    memset(v->used, 0, (v->homes + 63) / 64 * sizeof *v->used);
    v->rows = 0;
    use(v, 0);
    add_row(v, 0, 0, 0);
}

uint64_t sl_size(const sl_view *v)
{
    uint64_t n = 0;
    for (uint64_t home = 0; home < v->homes; home++) n += v->count[home];
    return n;
}

/* The bound of a segment that begins with `key`, between keys of the segments before and after it. */
bool sl_put(sl_view *v, uint64_t place, uint64_t key, uint64_t value)
{
    uint64_t home = place / v->fit, row;
    uint32_t index = (uint32_t)(place % v->fit);
    if (key >= sl_keys(v) || index != v->count[home]) return false;
    if (v->rows == 1 && sl_count(v, 0) == 0) { /* the table is empty: its only segment is in this home */
        give_back(v, v->home[0]);
        v->home[0] = (uint32_t)home;
        use(v, home);
    }
    row = sl_row(v, key);
    if (!is_used(v, home)) {
        if (sl_key(v, sl_place(v, row, 0)) > key) { /* it comes before what is the first segment so far */
            v->bound[row] = sl_key(v, sl_place(v, row, 0));
            add_row(v, row, 0, home);
        } else {
            add_row(v, ++row, key, home);
        }
        use(v, home);
    }
    if (v->home[row] != home || sl_index(v, row, key) != index) return false;
    if (row > 0 && sl_key(v, sl_place(v, row - 1, sl_count(v, row - 1) - 1)) >= key) return false;
    sl_set(v, place, key, value);
    v->count[home]++;
    v->stale = true;
    return true;
}

/* Appends n entries, from `place` of v on, to the last segment of `to` and to new ones. */
static void append(const sl_view *v, uint64_t place, uint32_t n, sl_view *to)
{
    while (n) {
        uint32_t room = to->fit - sl_count(to, to->rows - 1);
        if (room == 0) {
            uint64_t home = free_home(to);
            HD_ASSERT(home != SL_NOWHERE, "the table has no room for its entries");
            use(to, home);
            add_row(to, to->rows, sl_key(v, place), home);
            room = to->fit;
        }
        uint64_t last = to->rows - 1;
        uint32_t some = n < room ? n : room;
        memcpy(words_at(to, sl_place(to, last, sl_count(to, last))), words_at(v, place), bytes_of(v, some));
        to->count[to->home[last]] += some;
        place += some;
        n -= some;
    }
}

void sl_pack(const sl_view *v, sl_view *to)
{
    bool each = v->rows <= to->homes;
    for (uint64_t row = 0; row < v->rows; row++) {
        if (each && row > 0) {
            use(to, row);
            add_row(to, row, v->bound[row], row);
        }
        append(v, sl_place(v, row, 0), sl_count(v, row), to);
    }
    HD_ASSERT(sl_size(to) == sl_size(v), "an entry is lost, or there twice");
}

/* ---- Operations ------------------------------------------------------------------------------ */

const char *sl_unsupported(hd_op op)
{
    switch ((int)op) {
    case HD_OP_TOUCH:
    case HD_OP_ASSIGN_SCORES: return "sl keeps no scores";
    case HD_OP_INSERT_AND_EVICT: return "sl does not evict";
    case HD_OP_FIND_PTR:
    case HD_OP_FIND_OR_INSERT_PTR: return "sl moves entries when others come and leave, so that pointers do not last";
    case HD_OP_LOCK_KEYS:
    case HD_OP_UNLOCK_KEYS: return "sl keeps no pins";
    case HD_OP_PROMOTE: return "sl has no tiers";
    default: return NULL;
    }
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * entry.h - entries in near and far memory, near keys, and the search for a key by one thread.
 */
#ifndef SL_ENTRY_H
#define SL_ENTRY_H

#include "gpu/sl/args.h"
#include "gpu/warp.h"
#include "gpu/words.h"
#include "simt/simt.h"

/* ---- Entries --------------------------------------------------------------------------------- */

/* The words of the entry at a place. */
SIMT_FN uint64_t *sl_words(const sl_args *a, uint64_t place)
{
    if (place < a->near_places) return a->v.word + place * a->v.words;
    return a->far + (place - a->near_places) * a->v.words;
}

SIMT_FN uint8_t *sl_value_in(const sl_args *a, uint64_t place)
{
    return (uint8_t *)(sl_words(a, place) + (a->v.words - 1)); /* of one word the low half, which comes first */
}

SIMT_FN uint64_t sl_home_place(const sl_args *a, uint64_t home) { return home << a->shift; }

typedef struct sl_entry {
    uint64_t key, value;
} sl_entry;

SIMT_FN uint64_t sl_entry_value(const sl_args *a, uint64_t place)
{
    const uint64_t *p = sl_words(a, place);
    if (a->v.words == 1) return simt_ld_u64(p) & 0xffffffffu;
    return simt_ld_u64(p + 1);
}

SIMT_FN sl_entry sl_load_entry(const sl_args *a, const uint64_t *p)
{
    sl_entry e;
    if (a->v.words == 1) {
        uint64_t word = simt_ld_u64(p);
        e.key = word >> 32;
        e.value = word & 0xffffffffu;
    } else {
        simt_v4 v = simt_ld_v4((const simt_v4 *)(const void *)p);
        e.key = (uint64_t)v.y << 32 | v.x;
        e.value = (uint64_t)v.w << 32 | v.z;
    }
    return e;
}

SIMT_FN sl_entry sl_entry_at(const sl_args *a, uint64_t place) { return sl_load_entry(a, sl_words(a, place)); }

/* Of the line of a far place; counted from the first far one. */
SIMT_FN uint64_t sl_line_of(const sl_args *a, uint64_t place)
{
    return (place - a->near_places) >> sl_line_shift(&a->v);
}

SIMT_FN uint64_t sl_near_key_at(const sl_args *a, uint64_t line)
{
    if (a->v.words == 1) return simt_ld_u32((const uint32_t *)a->v.near_key + line);
    return simt_ld_u64((const uint64_t *)a->v.near_key + line);
}

/* ---- Groups of lines ------------------------------------------------------------------------- */

/* A group has 1 << sl_group_shift places; which of the group's lines has the place. */
SIMT_FN uint32_t sl_group_shift(const sl_args *a)
{
    uint32_t shift = sl_line_shift(&a->v) + 2;
    return shift < a->shift ? shift : a->shift;
}
SIMT_FN uint32_t sl_line_in_group(const sl_args *a, uint64_t place)
{
    return (uint32_t)(place & ((1u << sl_group_shift(a)) - 1)) >> sl_line_shift(&a->v);
}

/* Of the group of a far place; counted from the first far one. */
SIMT_FN uint64_t sl_group_of(const sl_args *a, uint64_t place) { return (place - a->near_places) >> sl_group_shift(a); }

/* How many entries the lines of a group have, a byte each; those of a line; all, at most 255. */
SIMT_FN uint32_t sl_filled_at(const sl_args *a, uint64_t group) { return simt_ld_u32(a->v.filled + group); }
SIMT_FN uint32_t sl_filled_in_line(const sl_args *a, uint64_t place)
{
    return sl_filled_of(sl_filled_at(a, sl_group_of(a, place)), sl_line_in_group(a, place));
}
SIMT_FN uint32_t sl_filled_sum(uint32_t word) { return (word * 0x01010101u) >> 24; }
/* Of those before a line. */
SIMT_FN uint32_t sl_filled_before(uint32_t word, uint32_t line) { return sl_filled_of(word * 0x01010100u, line); }

/* Where a head belongs in a far segment: behind so many entries of a line. Such codes ascend as keys do. */
SIMT_FN uint32_t sl_code_at(const sl_args *a, uint32_t line, uint32_t below)
{
    return line << (sl_line_shift(&a->v) + 1) | below;
}
SIMT_FN uint32_t sl_code_line(const sl_args *a, uint32_t code) { return code >> (sl_line_shift(&a->v) + 1); }
SIMT_FN uint32_t sl_code_below(const sl_args *a, uint32_t code) { return code & (2 * sl_line_entries(&a->v) - 1); }
/* The index of the place there; it may be in the next line. */
SIMT_FN uint32_t sl_code_index(const sl_args *a, uint32_t code)
{
    return (sl_code_line(a, code) << sl_line_shift(&a->v)) + sl_code_below(a, code);
}

/* The index of the first entry from a place of a far home on; fit: there is none. first: place of the home. */
SIMT_FN uint32_t sl_entry_from(const sl_args *a, uint64_t first, uint32_t index)
{
    uint32_t each = sl_line_entries(&a->v);
    while (index < a->v.fit) {
        if ((index & (each - 1)) < sl_filled_in_line(a, first + index)) return index;
        index = (index & ~(each - 1)) + each;
    }
    return a->v.fit;
}

/* The index of the last entry before it; fit: there is none. */
SIMT_FN uint32_t sl_entry_before(const sl_args *a, uint64_t first, uint32_t index)
{
    uint32_t each = sl_line_entries(&a->v);
    while (index > 0) {
        uint32_t line = (index - 1) & ~(each - 1), filled = sl_filled_in_line(a, first + line), most = index - line;
        if (filled) return line + (filled < most ? filled : most) - 1;
        index = line;
    }
    return a->v.fit;
}

/* The place of the first entry of a row, and of the last one; SL_NO_PLACE: it has none. */
SIMT_FN uint64_t sl_first_of_row(const sl_args *a, uint64_t row)
{
    uint32_t home = simt_ld_u32(a->v.home + row), index = 0;
    uint64_t first = sl_home_place(a, home);
    if (simt_ld_u32(a->v.count + home) == 0) return SL_NO_PLACE;
    if (first >= a->near_places) index = sl_entry_from(a, first, 0);
    return first + index;
}
SIMT_FN uint64_t sl_last_of_row(const sl_args *a, uint64_t row)
{
    uint32_t home = simt_ld_u32(a->v.home + row), count = simt_ld_u32(a->v.count + home);
    uint64_t first = sl_home_place(a, home);
    if (count == 0) return SL_NO_PLACE;
    return first + (first >= a->near_places ? sl_entry_before(a, first, a->v.fit) : count - 1);
}

/* Whether a place of a home has an entry. */
SIMT_FN bool sl_is_entry(const sl_args *a, uint64_t place)
{
    uint64_t home = place >> a->shift;
    if (place < a->near_places) return place - sl_home_place(a, home) < simt_ld_u32(a->v.count + home);
    return (place & (sl_line_entries(&a->v) - 1)) < sl_filled_in_line(a, place);
}

/* The place of entry number `n` of the segment that begins at `first`. room.before has the sums of a far one. */
SIMT_FN uint64_t sl_place_of(const sl_args *a, uint64_t first, uint32_t n)
{
    if (first < a->near_places) return first + n;
    uint32_t shift = sl_group_shift(a), low = 0, high = 1u << (a->shift - shift), line = 0;
    uint64_t group = sl_group_of(a, first);
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (simt_ld_u32(a->room.before + group + middle) <= n)
            low = middle;
        else
            high = middle;
    }
    uint32_t word = sl_filled_at(a, group + low);
    n -= simt_ld_u32(a->room.before + group + low);
    for (; line + 1 < SL_GROUP_LINES && n >= sl_filled_of(word, line); line++) n -= sl_filled_of(word, line);
    return first + (low << shift) + (line << sl_line_shift(&a->v)) + n;
}

/* room.before of a far segment, for sl_place_of. A warp. */
SIMT_FN void sl_sum_groups(simt_tile w, const sl_args *a, uint64_t first)
{
    uint32_t groups = 1u << (a->shift - sl_group_shift(a)), sum = 0, all;
    uint64_t group = sl_group_of(a, first);
    for (uint32_t at = w.rank; at - w.rank < groups; at += 32) {
        uint32_t mine = at < groups ? sl_filled_sum(sl_filled_at(a, group + at)) : 0,
                 before = gpu_sum_before_all(w, mine, &all);
        if (at < groups) simt_st_u32(a->room.before + group + at, sum + before);
        simt_join();
        sum += all;
    }
    simt_sync_tile(w);
}

/* The near key of the line that the place begins, if it is far and begins one. */
SIMT_FN void sl_note_near_key(const sl_args *a, uint64_t place, uint64_t key)
{
    if (place < a->near_places || (place & (sl_line_entries(&a->v) - 1)) != 0) return;
    if (a->v.words == 1)
        simt_st_u32((uint32_t *)a->v.near_key + sl_line_of(a, place), (uint32_t)key);
    else
        simt_st_u64((uint64_t *)a->v.near_key + sl_line_of(a, place), key);
}

SIMT_FN void sl_store_entry(const sl_args *a, uint64_t *p, sl_entry e)
{
    if (a->v.words == 1) {
        simt_st_u64(p, e.key << 32 | e.value);
    } else {
        simt_v4 v;
        v.x = (uint32_t)e.key;
        v.y = (uint32_t)(e.key >> 32);
        v.z = (uint32_t)e.value;
        v.w = (uint32_t)(e.value >> 32);
        simt_st_v4((simt_v4 *)(void *)p, v);
    }
}

/* All entries are written here, so near keys are right whenever entries are. */
SIMT_FN void sl_put_entry(const sl_args *a, uint64_t place, sl_entry e)
{
    sl_note_near_key(a, place, e.key);
    sl_store_entry(a, sl_words(a, place), e);
}

/* Lines of far homes that a thread, of several that share [from, end), writes near keys and numbers of entries of: the
 * segments there have no gaps, and places from `filled` on have no entry. Near keys of lines with entries are noted
 * already. from: begins a home, or a line that another call goes up to. */
SIMT_FN void sl_lay_lines(const sl_args *a, uint64_t from, uint64_t end, uint64_t filled, uint64_t thread,
                          uint64_t threads)
{
    uint64_t each = sl_line_entries(&a->v), place = (from + each - 1) & ~(each - 1);
    if (place < a->near_places) place = a->near_places;
    for (place += each * thread; place < end; place += each * threads) {
        if (place >= filled) sl_note_near_key(a, place, SL_NO_KEY);
        if (sl_line_in_group(a, place) == 0)
            simt_st_u32(a->v.filled + sl_group_of(a, place),
                        sl_filled_full(&a->v, place < filled ? filled - place : 0));
    }
    simt_join();
}

/* shared: other lanes of the launch may change values, and with words of one key and value these words. */
SIMT_FN uint64_t sl_key_at(const sl_args *a, uint64_t place, bool shared)
{
    const uint64_t *p = sl_words(a, place);
    uint64_t word;
    if (a->v.words == 1 && shared)
        word = simt_ldrlx_u64(p);
    else
        word = simt_ld_u64(p);
    return a->v.words == 1 ? word >> 32 : word;
}

/* ---- Search ---------------------------------------------------------------------------------- */

/* Where a key is, or would be: the first entry that is not below it. */
typedef struct sl_spot {
    uint64_t row, place;   /* place: of `index` */
    uint32_t index, count; /* index = count: all entries of the segment are below the key */
    bool there;            /* the entry has the key */
} sl_spot;

SIMT_FN uint64_t sl_rows(const sl_args *a) { return simt_ld_u64(&a->numbers->rows); }

/* The row of the segment that the key belongs to. */
SIMT_FN uint64_t sl_row_of(const sl_args *a, uint64_t rows, uint64_t key)
{
    uint64_t low = 0, high = rows; /* bound[low] <= key < bound[high] */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (simt_ld_u64(a->v.bound + middle) <= key)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* About where among `count` entries of keys from `least` to below `limit` the key is, if they are spread evenly. */
SIMT_FN uint32_t sl_guess(uint64_t key, uint64_t least, uint64_t limit, uint32_t count)
{
    float part = (float)(key - least) / (float)(limit - least) * (float)count;
    uint32_t at = (uint32_t)part;
    return at < count ? at : count - 1;
}

/* What is known of an index: it is from `low` to `high`. */
typedef struct sl_between {
    uint32_t low, high;
} sl_between;

/* What a search goes over: entries, whose values other lanes of the launch may change; or near keys. */
typedef enum sl_over { SL_ENTRIES, SL_SHARED_ENTRIES, SL_NEAR_KEYS } sl_over;

/* at: a place, or a line */
SIMT_FN uint64_t sl_probe(const sl_args *a, uint64_t at, sl_over over)
{
    return over == SL_NEAR_KEYS ? sl_near_key_at(a, at) : sl_key_at(a, at, over == SL_SHARED_ENTRIES);
}

/* Goes up or down from `at` in growing steps, until the index is between two of them. */
SIMT_FN sl_between sl_gallop(const sl_args *a, uint64_t first, uint32_t at, uint32_t count, uint64_t key, sl_over over)
{
    sl_between b;
    b.low = 0;
    b.high = count;
    uint32_t step = 4;
    bool up = sl_probe(a, first + at, over) < key;
    if (up)
        b.low = at + 1;
    else
        b.high = at;
    while (b.high - b.low > step) {
        uint32_t probe = up ? b.low + step : b.high - step;
        bool below = sl_probe(a, first + probe, over) < key;
        if (below)
            b.low = probe + 1;
        else
            b.high = probe;
        if (below != up) break;
        step *= 4;
    }
    return b;
}

/* The index of the first of `count` entries from `first` on whose key is at least `key`. */
SIMT_FN uint32_t sl_seek(const sl_args *a, uint64_t first, uint32_t count, uint64_t key, uint64_t least, uint64_t limit,
                         sl_over over)
{
    if (count == 0) return 0;
    sl_between b = sl_gallop(a, first, sl_guess(key, least, limit, count), count, key, over);
    while (b.low < b.high) {
        uint32_t middle = b.low + (b.high - b.low) / 2;
        if (sl_probe(a, first + middle, over) < key)
            b.low = middle + 1;
        else
            b.high = middle;
    }
    return b.low;
}

/* The segment that a key belongs to: its row, and its keys are from `least` to below `limit`. */
typedef struct sl_belongs {
    uint64_t row, least, limit, first; /* first: place */
    uint32_t count;
} sl_belongs;

SIMT_FN sl_belongs sl_where(const sl_args *a, uint64_t key)
{
    sl_belongs in;
    uint64_t rows = sl_rows(a);
    in.row = sl_row_of(a, rows, key);
    in.least = simt_ld_u64(a->v.bound + in.row);
    in.limit = in.row + 1 < rows ? simt_ld_u64(a->v.bound + in.row + 1) : sl_keys(&a->v);
    uint32_t home = simt_ld_u32(a->v.home + in.row);
    in.first = sl_home_place(a, home);
    in.count = simt_ld_u32(a->v.count + home);
    return in;
}

/* key: at most sl_keys */
SIMT_FN sl_spot sl_search(const sl_args *a, uint64_t key, bool shared)
{
    sl_spot s;
    sl_belongs in = sl_where(a, key);
    s.row = in.row;
    s.count = in.count;
    s.index = sl_seek(a, in.first, in.count, key, in.least, in.limit, shared ? SL_SHARED_ENTRIES : SL_ENTRIES);
    s.place = in.first + s.index;
    s.there = s.index < s.count && sl_key_at(a, s.place, shared) == key;
    return s;
}

/* ---- Items ----------------------------------------------------------------------------------- */

SIMT_FN uint32_t sl_flag_of(const gpu_batch *b, uint64_t i)
{
    if (!b->flag || b->op != HD_OP_ACCUM_OR_ASSIGN) return HD_EITHER;
    return simt_ld_u8(b->flag + i);
}

/* The key of item i; SL_NO_KEY: the item is RESERVED. */
SIMT_FN uint64_t sl_item_key(const sl_args *a, uint64_t i)
{
    uint64_t key = simt_ld_u64(a->b.key + i);
    return key < sl_keys(&a->v) && sl_flag_of(&a->b, i) <= HD_EITHER ? key : SL_NO_KEY;
}

/* An outcome for counts: no item. */
enum { SL_NO_ITEM = HD_OUTCOME_COUNT };

/* What every item gives. */
SIMT_FN void sl_deliver_outcome(const gpu_batch *b, uint64_t i, uint32_t outcome)
{
    if (b->outcome) simt_st_u8(b->outcome + i, (uint8_t)outcome);
    if (b->found) simt_st_u8(b->found + i, HD_OP_IN(outcome, HD_OUTCOMES_FOUND));
    if (b->stage_flag) simt_st_u8(b->stage_flag + (i - b->first), outcome == HD_MISS);
}

SIMT_FN void sl_deliver_value(const sl_args *a, uint64_t row, uint64_t value)
{
    uint32_t bytes = sl_value_bytes(&a->v);
    if (a->b.value_out) gpu_elem_store(a->b.value_out + row * bytes, bytes, value);
}

SIMT_FN void sl_deliver_entry(const sl_args *a, uint64_t row, sl_entry e)
{
    if (a->key_out) simt_st_u64(a->key_out + row, e.key);
    sl_deliver_value(a, row, e.value);
}

#endif

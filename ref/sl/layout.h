/* SPDX-License-Identifier: Apache-2.0
 *
 * layout.h - where the bytes of an ordered table are: segments of ascending entries, and a directory of the segments.
 *
 *   entry      value_bytes 4: one word of 8 bytes, key << 32 | value, with keys below 2^32 - 3
 *              value_bytes 8: two words, the key and the value, with keys below HD_KEY_RESERVED
 *   home       the memory of one segment: `fit` entries. The table has `homes` of them, which lie one after another.
 *              The place of an entry is home * fit + index
 *   segment    entries that ascend by key and fill a home from its front without gaps. A segment has no header. In far
 *              memory there may be gaps, but in no line (see below)
 *   directory  one row per segment, ascending by key: `bound`, below which the segment has no key, and the number of
 *              its home. The first bound is 0, so every key belongs to exactly one segment. How many entries a segment
 *              has is noted by home
 *   line       128 bytes of a home, from its front on: 16 words
 *   near keys  a table may have homes in far memory, behind a bus: all from number `near` on. Of each of their lines
 *              the first key is noted in near memory, so that a search reads one line of far memory. A line without an
 *              entry has a near key, too: keys from there to the next line's belong into that line
 *   group      SL_GROUP_LINES lines of a home, or all of them. Near memory has a word per far group: how many entries
 *              each of its lines has, the first line in the lowest byte. The entries of a line fill it from its front,
 *              so a change of few entries touches few lines. The reference closes all gaps before it runs a batch
 *
 * A search is two binary searches: in the directory, then in the segment. A range is contiguous within each segment.
 *
 *   insert   into the segment that the key belongs to: the entries above it move up. A full segment is split first: its
 *            upper half moves to a free home. A key above all others, whose segment is full, begins a segment of its
 *            own instead, so that ascending keys fill their segments. Without a free home the item is PENDING
 *   erase    the entries above it move down. A segment that is empty gives its home back, unless it is the only one;
 *            two neighbours that together fill at most half of a segment become one
 *
 * The free home with the lowest number is taken first.
 *
 * Differs: GFSL (Moscovici, Cohen, Petrank, PACT '17) keeps chunks of 16 or 32 entries in linked lists of several
 * levels. Here a segment is as large as the shared memory of a thread block, and the directory is an array.
 *
 * Invariants, by number (ref/sl/check.c):
 *   SL-1  the directory has 1 to `homes` rows; their homes are marked as used, and no more homes are. (That they differ
 *         follows from SL-3 and SL-5: the keys of one segment are not within the bounds of two rows)
 *   SL-2  the first bound is 0, and bounds ascend
 *   SL-3  a segment has 1 to `fit` entries, or none if it is the only one; a free home has none
 *   SL-4  the keys of a segment ascend
 *   SL-5  they are not below the segment's bound, and below the next one's, and below the limit
 *   SL-6  two neighbours together have more than half of `fit` entries
 *   SL-7  the near key of a line of a far segment is the first key of the line, if the line has an entry; else it is
 *         above the keys of all lines before it. The near keys of a segment do not descend
 *   SL-8  the lines of a far segment have as many entries as the segment, and none has more than fit in it
 */
#ifndef HD_SL_LAYOUT_H
#define HD_SL_LAYOUT_H

#include "heddle.h"
#include "simt/fn.h"

enum { SL_SEGMENT_LEAST = 128, SL_SEGMENT_USUAL = 64 << 10, SL_SLOTS_LEAST = 8, SL_SLOTS_USUAL = 16 };
#define SL_SEGMENT_MOST (1u << 30)
enum { SL_LINE_WORDS = 16, SL_GROUP_LINES = 4 };

/* The invariants as hd_check asks for them: of rows, of entries, then of neighbours. */
typedef enum sl_rule {
    SL_RULE_HOME,
    SL_RULE_FIRST_BOUND,
    SL_RULE_BOUND,
    SL_RULE_FULL,
    SL_RULE_EMPTY,
    SL_RULE_FILLED,
    SL_RULE_ORDER, /* from here on of entries */
    SL_RULE_BELOW,
    SL_RULE_ABOVE,
    SL_RULE_NEAR_KEY,
    SL_RULE_SMALL, /* of two neighbours */
    SL_RULES       /* none is broken */
} sl_rule;

typedef struct sl_view {
    uint64_t *word;  /* (homes * fit * words) */
    uint64_t *bound; /* (homes), of which `rows` are in use */
    uint32_t *home;  /* the same */
    uint32_t *count; /* (homes), by home: entries */
    uint64_t *used;  /* a bit for each home, the lowest of a word first */
    uint64_t rows, homes;
    uint32_t fit;   /* entries of a full segment */
    uint32_t words; /* of an entry: 1 or 2 */
    uint64_t near;  /* homes before this one have no near keys */
    void *
        near_key; /* (lines of the other homes) of 4 bytes, or, if an entry has two words, of 8; NULL: there are none */
    uint32_t *filled; /* (groups of the other homes) with near keys: entries by line */
    bool owns_near;   /* close gives them back */
    bool stale;       /* entries have been put, and their near keys not yet */
} sl_view;

/* Keys below this one can be held. */
HD_FN uint64_t sl_keys(const sl_view *v) { return v->words == 1 ? (1ull << 32) - 3 : HD_KEY_RESERVED; }
HD_FN uint32_t sl_value_bytes(const sl_view *v) { return 4 * v->words; }
HD_FN uint64_t sl_places(const sl_view *v) { return v->homes * v->fit; }

/* The place of entry `index` of the segment of row `row`; how many the segment has. */
HD_FN uint64_t sl_place(const sl_view *v, uint64_t row, uint32_t index)
{
    return (uint64_t)v->home[row] * v->fit + index;
}
HD_FN uint32_t sl_count(const sl_view *v, uint64_t row) { return v->count[v->home[row]]; }

HD_FN uint64_t sl_key(const sl_view *v, uint64_t place)
{
    return v->words == 1 ? v->word[place] >> 32 : v->word[2 * place];
}

HD_FN uint64_t sl_value(const sl_view *v, uint64_t place)
{
    return v->words == 1 ? v->word[place] & 0xffffffffu : v->word[2 * place + 1];
}

HD_FN void sl_set(const sl_view *v, uint64_t place, uint64_t key, uint64_t value)
{
    if (v->words == 1) {
        v->word[place] = key << 32 | (value & 0xffffffffu);
    } else {
        v->word[2 * place] = key;
        v->word[2 * place + 1] = value;
    }
}

/* Of a line; how many lines a home has. */
HD_FN uint32_t sl_line_shift(const sl_view *v) { return v->words == 1 ? 4 : 3; }
HD_FN uint32_t sl_line_entries(const sl_view *v) { return 1u << sl_line_shift(v); }
HD_FN uint64_t sl_home_lines(const sl_view *v) { return v->fit >> sl_line_shift(v); }
HD_FN uint64_t sl_near_lines(const sl_view *v) { return (v->homes - v->near) * sl_home_lines(v); }
HD_FN uint32_t sl_near_key_bytes(const sl_view *v) { return 4 * v->words; }

/* Of a group; how many groups a home has. */
HD_FN uint32_t sl_group_lines(const sl_view *v)
{
    return sl_home_lines(v) < SL_GROUP_LINES ? (uint32_t)sl_home_lines(v) : (uint32_t)SL_GROUP_LINES;
}
HD_FN uint64_t sl_home_groups(const sl_view *v) { return sl_home_lines(v) / sl_group_lines(v); }
HD_FN uint64_t sl_near_groups(const sl_view *v) { return (v->homes - v->near) * sl_home_groups(v); }

/* Entries of a line of a group's word. */
HD_FN uint32_t sl_filled_of(uint32_t word, uint32_t line) { return word >> 8 * line & 0xff; }

/* The word of a group of a segment without gaps, whose entries from the group's first on are `left`. */
HD_FN uint32_t sl_filled_full(const sl_view *v, uint64_t left)
{
    uint32_t word = 0, each = sl_line_entries(v);
    for (uint32_t line = 0; line < sl_group_lines(v) && left; line++) {
        uint32_t some = left < each ? (uint32_t)left : each;
        word |= some << 8 * line;
        left -= some;
    }
    return word;
}

/* Of a home's words: the entries of a line of it. */
HD_FN uint32_t sl_filled_line(const sl_view *v, const uint32_t *words, uint64_t line)
{
    uint32_t lines = sl_group_lines(v);
    return sl_filled_of(words[line / lines], (uint32_t)line % lines);
}

/* Where a walk over the entries of a home is: `before` entries are in the lines before `line`. */
typedef struct sl_walk {
    uint64_t line;
    uint32_t before;
} sl_walk;

/* The index of the place in a far home of entry number `n`, which the home has; words: the home's. *at: 0 at the
 * beginning; numbers may not descend. */
HD_FN uint32_t sl_index_of(const sl_view *v, const uint32_t *words, uint32_t n, sl_walk *at)
{
    for (; at->line + 1 < sl_home_lines(v); at->line++) {
        uint32_t some = sl_filled_line(v, words, at->line);
        if (n - at->before < some) break;
        at->before += some;
    }
    return ((uint32_t)at->line << sl_line_shift(v)) + (n - at->before);
}

/* The words of a far home; NULL: it has none. */
HD_FN uint32_t *sl_filled_in(const sl_view *v, uint64_t home)
{
    return v->near_key && home >= v->near ? v->filled + (home - v->near) * sl_home_groups(v) : NULL;
}

/* Whether place `index` of a home has an entry. */
HD_FN bool sl_has_entry(const sl_view *v, uint64_t home, uint32_t index)
{
    const uint32_t *words = sl_filled_in(v, home);
    if (!words) return index < v->count[home];
    return (index & (sl_line_entries(v) - 1)) < sl_filled_line(v, words, index >> sl_line_shift(v));
}

/* The near key of a line, which is counted from the first of home `near`. */
HD_FN uint64_t sl_near_key(const sl_view *v, uint64_t line)
{
    return v->words == 1 ? ((const uint32_t *)v->near_key)[line] : ((const uint64_t *)v->near_key)[line];
}

/* The row of the segment that the key belongs to. */
HD_FN uint64_t sl_row(const sl_view *v, uint64_t key)
{
    uint64_t low = 0, high = v->rows; /* bound[low] <= key < bound[high] */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (v->bound[middle] <= key)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The index of the first entry of the row whose key is at least `key`; sl_count: there is none. */
HD_FN uint32_t sl_index(const sl_view *v, uint64_t row, uint64_t key)
{
    uint32_t low = 0, high = sl_count(v, row);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sl_key(v, sl_place(v, row, middle)) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif

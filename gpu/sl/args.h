/* SPDX-License-Identifier: Apache-2.0
 *
 * args.h - what every kernel of the ordered table is given, by value, and where its entries are. All pointers are
 * device memory, or host memory that the device reaches.
 *
 * Readers and updaters (look.h, update.h) take a thread per item: a search is a binary search in the directory and a
 * search in one segment. Updaters store a value by one access.
 *
 * A table with far segments has kernels of its own for these, for the heads and for apply (far.h): a warp searches for
 * the keys of its items together, and reads one line of far memory for each. Batches of many items are sorted by key
 * first, so that lines are read in the order of addresses, and once for neighbours.
 *
 * Batches that bring keys in or remove them run alone. Owner computes: no kernel takes a lock, and no kernel waits for
 * another one of its launch. A batch is cut into windows, and a window is a fixed sequence of launches, which read on
 * the device how much there is to do:
 *
 *   sort     items by key (gpu/sort.h). Equal keys are then neighbours, a *run*; the first item of a run is its *head*
 *   heads    each head searches the table. Insertions: heads of absent keys are marked. Erase: heads of present keys
 *   list     the marked heads become a list in the order of keys: key, item, and the index in the segment, or, in a far
 *            one, the line and the index in it (sl_code_at)
 *   plan     per segment: which part of the list is its own, and how many segments it becomes
 *   survey   far rows only: whether their lines have room for the new keys, or the segment is merged as a whole
 *   merge    a block per fresh segment reads the old segment and the list
 *   next     the new directory is written beside the old one
 *   commit   old segments are merged in place, and the new directory takes the place of the old one. Of far segments
 *            whose lines have room only these lines are touched (lines.h)
 *   apply    all items but those that inserted find their keys present, and run like updaters, or find that there was
 *            no home for them (PENDING)
 *
 * Erase replaces merge and next by the choice of segments that are joined, and commits in its own way (compact.h).
 *
 * No launch before the commit changes what is in the table, and the commit is one launch: a device that refuses a
 * launch leaves a table that is whole. So the commit reads nothing of the old directory; what it needs has been
 * copied.
 *
 * Tickets: INSERTED at the store of the entry into its segment; ERASED where the commit reads the list; all
 * others at the access that ends their search or changes the value. INSERTED comes before all other items of the key,
 * because `apply` is a later launch.
 */
#ifndef SL_ARGS_H
#define SL_ARGS_H

#include "gpu/batch.h"
#include "ref/sl/layout.h"

enum {
    SL_THREADS = 128, /* of a block */
    SL_SHARES = 4096, /* of whatever is counted first and then listed, at most */
    SL_JOIN = 32      /* parts that a thread joins at each level of compact.h */
};
#define SL_NO_KEY   UINT64_MAX
#define SL_NO_CODE  UINT32_MAX
#define SL_MERGED   UINT32_MAX
#define SL_EARLY    UINT32_MAX /* sl_room.fresh: of a row that is split early if there are homes */
#define SL_NO_PLACE UINT64_MAX

/* Words that kernels count in. */
typedef struct sl_numbers {
    uint64_t rows;  /* of the directory; kernels do not read sl_view.rows, the host's copy */
    uint64_t adds;  /* heads that are listed: of keys to be inserted, or to be erased */
    uint64_t fresh; /* homes that are taken, or given back; 0: the directory stays */
    uint64_t next;  /* rows of the next directory */
    uint64_t was;   /* rows of the old one, while that is written over */
    uint64_t full;  /* all new keys of the last row are above its entries */
    uint64_t whole; /* far rows that are merged as a whole */
    uint64_t other; /* other rows of a table with far segments that change */
} sl_numbers;

/* What a window of items needs. */
typedef struct sl_window {
    uint64_t *word;     /* (window) code << 32 | item, in order */
    uint64_t *add_key;  /* (window) the list: keys, */
    uint32_t *add_from; /* (window) the positions in `word` that they come from, */
    uint32_t *add_at;   /* (window) and the index in the segment: before which entry, or of which */
    uint32_t *mark;     /* (window) by position in `word`: 0, or one more than that index; SL_MERGED: it is inserted */
    uint32_t *share;    /* (2, SL_SHARES): what each share of what is counted has */
} sl_window;

/* And what it needs of the table's size. */
typedef struct sl_room {
    uint32_t *first; /* (homes + 1), by row: its first in the list */
    uint32_t *fresh; /* (homes + 1), by row: how many fresh segments come before its own */
    uint32_t *free;  /* (homes): free homes, ascending */
    /* (homes): entries of fresh segments, in the order of `free`; and see compact.h. Before that, by share: the rows
     * that are split early if there are homes */
    uint32_t *last;
    uint32_t *kept;   /* (homes), by row: entries that stay; see compact.h */
    uint32_t *offset; /* (homes), by row: see compact.h */
    /* (homes): rows that change, if segments are far: those merged as a whole from the front on, the others from the
     * end down */
    uint32_t *rows;
    uint32_t *before; /* (groups of far homes): entries of the groups of the home before it, where they are needed */
    uint64_t *stage;  /* (stages, words of a segment): what is merged before it is written to a far home */
    uint64_t *bound;  /* (homes): the next directory */
    uint32_t *home;   /* (homes) */
} sl_room;

typedef struct sl_args {
    sl_view v;     /* of its words those of the first homes, which are near */
    uint64_t *far; /* the words of the others */
    uint64_t near_places;
    const uint64_t
        *order;     /* (last - first) code << 32 | item: the order that a far batch runs in; NULL: as they come */
    uint32_t shift; /* fit = 1 << shift */
    sl_numbers *numbers;
    gpu_batch b;

    /* ordered operations; see hd_batch */
    const uint64_t *key2;
    uint64_t *key_out;
    uint32_t *rows_out;
    uint8_t *more;
    uint32_t limit;
    bool inclusive;

    sl_window window;
    sl_room room;
    uint32_t item_shares, row_shares; /* into how many shares the window is cut, and the homes */
    uint32_t stages;                  /* blocks that have room.stage */
    uint32_t label;                   /* sl_label: what the words' codes are to be */
    uint64_t span;                    /* sl_join: rows of a part */
} sl_args;

/* Codes of a sort. Keys of 64 bits are sorted by their low half, then by their high half. */
enum {
    SL_LABEL_FIRST = 1, /* words are made; else their items are known */
    SL_LABEL_FLAG = 2,  /* 0: the item may insert, 1: it may not */
    SL_LABEL_LOW = 4,
    SL_LABEL_HIGH = 8
};

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * args.h - the arguments of the GPHash kernels, and how items of a batch agree with each other. Words are those of
 * ref/gphash/layout.h; all accesses to a slot's two words are atomic.
 *
 * find       A warp reads the key words of the key's 32 slots. The slot with the key has a number; its cell is read
 *            when the key word and the number are both seen again. No cell comes back within a batch, and a number is
 *            its cell's for ever, so both were right at one moment.
 * update     The new value goes to a new cell; then a compare-and-swap makes the number name it. An item that fails
 *            begins again, or, where all items of the batch replace values, has been overwritten by the other one.
 * erase      A compare-and-swap makes the number GPHASH_NONE: from here on the key is not there. Then the slot is
 *            emptied. In layout inline the slot is locked instead of the compare-and-swap.
 * insert     1. A compare-and-swap locks an empty slot: HD_KEY_LOCKED.
 *            2. The number word gets the key's hash, which is the key in another form; then the key word says so:
 *               GPHASH_ANNOUNCED. Fence.
 *            3. The other 31 slots are read. A locked one is waited for: it is announced, published or emptied soon.
 *               One that shows the key ends the attempt, as does an announcement of the same key at an earlier slot:
 *               the slot is given back. An announcement of the same key at a later slot is waited for: its item sees
 *               this one, or publishes before it could.
 *            4. The slot is locked again, the number is written, and then the key: the item has taken effect.
 *            Of two items that insert one key, at least one sees the other's announcement, since each announces before
 *            it reads. If only the earlier one sees the other, it waits, and then sees the key. An item waits only
 *            while it is announced, and only for later slots and for locked ones, which wait for nothing: so no two
 *            items wait for each other. No item announces a key that it has seen announced: else the first one might
 *            wait for one after another.
 *
 * Layout inline has no numbers, and a value may be equal to an earlier one. There an item that reads or changes the
 * value of a key while others may erase, or that adds to it, holds the guard of the slot's bucket, a lock in the
 * device's own memory: a crash finds no trace of it.
 *
 * Key words, numbers and cells may be on a medium that keeps them. simt_fence_system() stands where a step has to be
 * durable before the next one:
 *
 *   after the lock of a slot, in layout cells: no key that has left finds the next number (gphash_lock_unfenced)
 *   after a cell, before its number (gphash_value_late)
 *   after a number or value, before its key (gphash_key_before_number)
 *   after GPHASH_NONE, in layout inline after the lock, before the slot is empty: so the key is in no other slot while
 *   a crash may bring it back (gphash_fence_of_device, gphash_erased_returns)
 *
 * With a near index (HD_INDEX_NEAR) all of this happens in a copy of the slots, near, and none of these fences is
 * needed. Each item notes the slot that it has changed (gphash_change). When a window's items have ended, launches
 * bring the changes to the slots that last, which are far: first the keys that have left; then numbers, or values
 * inline; then the keys that have come (bring.h). So a far slot is emptied before it gets another key's number, and has
 * its number before its key; cells are durable when the launch of the items ends. Of a key whose items erase and insert
 * it the crash finds a state between them. Several items may have changed one slot: each brings what the near slot has
 * at last.
 *
 * In parentheses is the bug of judge/museum/bugs that is the absence of the fence; a crash finds it. No other fence is
 * needed. Stores to one word become durable in order, so that a later change of a number or key brings the earlier one
 * along; the end of a launch makes all stores durable; and erase_if and clear run alone: no order of the two stores
 * that empty a slot leaves another entry in it.
 */
#ifndef GPHASH_ARGS_H
#define GPHASH_ARGS_H

#include "gpu/batch.h"
#include "ref/gphash/layout.h"

#define GPHASH_ANNOUNCED (UINT64_MAX - 2) /* a key word: the slot's number is the hash of the key that is coming */

enum {
    GPHASH_GUARDS = 1 << 15,
    GPHASH_QUAD = 4,    /* lanes per key of the rows of `quad` */
    GPHASH_SAMPLE = 16, /* of so many lookups one counts for the cache */
    GPHASH_HEATS = 64   /* heat of so much less 1, and more, is alike */
};

/* What promotion counts in (cache.h). */
typedef struct gphash_cache_words {
    uint32_t units[GPHASH_HEATS]; /* of the range, by heat */
    uint32_t spares, held;        /* copies that no unit has; units of the range that have one */
    uint32_t least, ties;         /* the least heat that is hot, and how many units of the heat below are */
    uint32_t tied, came;          /* of these so many have been asked for; units that get a copy */
} gphash_cache_words;

/* Copies of units, in device memory. All pointers are NULL without a cache. */
typedef struct gphash_cache {
    uint32_t *copy_of; /* (units) 1 + the number of its copy; 0: it has none */
    uint32_t *heat;    /* (units) */
    uint32_t *holder;  /* (copies) the unit that the copy was made of, which may have lost it since: copy_of tells */
    uint32_t *spare;   /* (copies) of promotion: copies that no unit has */
    uint8_t *copy;     /* (copies, unit_bytes): a cell; or a bucket's keys, and then its numbers */
    gphash_cache_words *word;
    uint64_t copies;
    uint32_t unit_bytes;
    uint32_t sample; /* items GPHASH_SAMPLE * k + sample count heat */
    hd_cache of;
} gphash_cache;

typedef struct gphash_args {
    gphash_view v; /* first */
    gpu_batch b;
    uint64_t *head, *tail;           /* of the ring of free cells                                  */
    uint32_t *guard;                 /* (GPHASH_GUARDS) */
    gphash_level far[GPHASH_LEVELS]; /* with a near index: the slots that last, of which those of v are a copy */
    /* (items of a window) likewise, gphash_change; of lookups whose values are fetched later the cells. NULL: nothing
     * is noted */
    uint64_t *changed;
    /* (items of a window) code << 32 | item less b.first (gpu/sort.h): the code is that of a far address, a slot or
     * cell without its `coarse` lowest bits. Items note it, and then are in its order. NULL: in their own. Of lookups
     * there are *fetched of them */
    uint64_t *order;
    uint64_t *fetched;
    uint64_t *ordered; /* where in the ring the cells begin that were given back and are not in order, or before */
    uint64_t room;     /* items that `changed` and `order` have room for */
    uint32_t coarse;
    /* With a near index: a byte for each page of the far arrays, which is 1 where they change (pages.h). NULL:
     * it is not asked for. */
    uint8_t *page;
    gphash_cache cache;
    bool near;    /* there is a near index */
    bool alone;   /* nothing changes while the batch runs: it is one of readers */
    bool guarded; /* layout inline: a key may go, or values are read and changed */
} gphash_args;

enum { GPHASH_ORDER_BITS = 16 /* of a code */ };
#define GPHASH_NO_CELL UINT64_MAX

/* What an item has changed, a word: 4 x the slot + what. 0: nothing. */
typedef enum gphash_change {
    GPHASH_CAME = 1, /* its key, and its number or value */
    GPHASH_SET,      /* its number or value */
    GPHASH_LEFT      /* its key */
} gphash_change;

/* Of the kernels of recovery, and of those that put all free cells in order. */
typedef struct gphash_recover_args {
    gphash_view v;
    gphash_level lasting[GPHASH_LEVELS]; /* the slots that last */
    bool near;                           /* those of v are a copy */
    uint64_t *tail;                      /* of the ring, which begins at 0 */
    uint32_t *mark;                      /* (cells / 32, rounded up) bits: in use; or free ... */
    bool marks_free;                     /* ... then */
    uint64_t first, last;                /* the cells that are laid in the ring, if they are free */
    uint64_t head, end;                  /* the ring that was */
    uint64_t *cleared, *wrong; /* slots that a crash left incomplete; entries that break an invariant, or NULL:
                                            not looked for */
} gphash_recover_args;

/* Of the kernel that makes the ring of a table that has grown once more. */
typedef struct gphash_ring_args {
    gphash_view v; /* with the present ring */
    uint32_t *next;
    uint64_t first, last;  /* ends of the present ring                      */
    uint64_t *head, *tail; /* where they are: they become those of the next */
} gphash_ring_args;

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * words.h - what the references of all dictionaries do alike whose entries are words (layout.h): one item by its rule,
 * and batches. A design says by a word_table where its slots are, and how it finds, places and removes a key.
 */
#ifndef HD_REF_WORDS_H
#define HD_REF_WORDS_H

#include "base/design.h"
#include "ref/words/layout.h"

/* One item of a keyed operation. */
typedef struct word_item {
    hd_op op;
    hd_elem elem;  /* accum_or_assign                */
    uint32_t flag; /* accum_or_assign: hd_accum      */
    uint64_t key;
    uint64_t value; /* in the low bits                */
} word_item;

/* What became of it. */
typedef struct word_seen {
    hd_outcome outcome;
    uint64_t entry; /* where the key is now; WORD_NOWHERE when it is not there. To `accept`: the slot that was taken, or
                       WORD_NOWHERE when that is not known                                          */
    uint64_t value; /* its value now. To `accept`: what was delivered, when shown                 */
    bool shown;
} word_seen;

/* A table. `v` is the first argument of its functions. */
typedef struct word_table {
    void *v;
    uint32_t half;
    uint64_t places;
    void *(*slot)(const void *v, uint64_t e); /* the word, and so the value, its low half; of a pair the key word */
    uint64_t (*find)(const void *v, uint64_t key);            /* WORD_NOWHERE: absent */
    uint64_t (*place)(void *v, uint64_t key, uint64_t value); /* of a key that is absent; WORD_NOWHERE: no room */
    void (*remove)(void *v, uint64_t e);                      /* the key in slot e */
    const char *(*absent)(void *v, const word_item *it, const word_seen *seen, uint64_t busy); /* word_accept */
} word_table;

/* NULL, or why no dictionary of words runs the operation. */
const char *word_unsupported(hd_op op);

/* Applies one item. */
void word_apply(const word_table *t, const word_item *it, word_seen *seen);

/* NULL: `seen` may have become of `it` now, and has now happened to the table. Else why not, and the table is
 * unchanged. busy: how many others may hold a slot for a moment while `it` looks for one. An item that inserts and
 * whose key is absent is judged by `absent`. Static storage. */
const char *word_accept(const word_table *t, const word_item *it, const word_seen *seen, uint64_t busy);

/* Runs all items of a checked batch, item 0 first; but not HD_OP_CLEAR. tally[] (HD_OUTCOME_COUNT) gets the outcomes.
 */
void word_run(const word_table *t, const hd_batch *b, uint64_t *tally);

/* hd_backend.next. */
size_t word_next(const word_table *t, hd_entry *e, size_t most);

/* The value of an entry that is to be put into a table. */
uint64_t word_value_in(uint32_t half, const hd_entry *e);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * gfsl.h - the sequential reference of the skip list GFSL: one item, a batch, the check of its invariants.
 */
#ifndef HD_REF_GFSL_H
#define HD_REF_GFSL_H

#include "gfsl/ref/layout.h"
#include "ref/words/words.h"

/* For the row of the design. */
extern const hd_backend gfsl_reference;
extern const hd_params gfsl_params;
void gfsl_usual(hd_config *c);

enum { GFSL_WHY = 256 /* bytes of a sentence, at most */ };

gfsl_view *gfsl_view_of(void *state);
gfsl_view gfsl_view_for(const hd_info *info); /* without memory */

/* NULL, or why gfsl does not run the operation. */
const char *gfsl_unsupported(hd_op op);

void gfsl_clear(const gfsl_view *v);
/* Whether place e has an entry of the table: its chunk is of level 0 and in use. */
bool gfsl_has(const gfsl_view *v, uint64_t e);
/* The place of a key; WORD_NOWHERE. */
uint64_t gfsl_find(const gfsl_view *v, uint64_t key);
/* Brings a key that is absent; its place, or WORD_NOWHERE if no chunk is free. */
uint64_t gfsl_place(gfsl_view *v, uint64_t key, uint64_t value);
/* The same where no chunk is free: first the entries of level 0 move to its first chunks, which become full, and the
 * index is dropped. */
uint64_t gfsl_press(gfsl_view *v, uint64_t key, uint64_t value);
/* Links and index entries that lead to zombies lead to what is behind them; zombies become free. */
void gfsl_settle(const gfsl_view *v);
word_table gfsl_words_of(gfsl_view *v);

/* The place of the least key that is not below `key`, and of the greatest that is not above it; WORD_NOWHERE. There are
 * no zombies in the second. */
uint64_t gfsl_first_from(const gfsl_view *v, uint64_t key);
uint64_t gfsl_last_to(const gfsl_view *v, uint64_t key);
void gfsl_remove(gfsl_view *v, uint64_t e);

/* Runs a checked batch, item 0 first. tally[] (HD_OUTCOME_COUNT) gets the outcomes. */
void gfsl_run_batch(gfsl_view *v, const hd_batch *b, uint64_t *tally);

/* Writes the first invariant that does not hold into `why`; else it is empty. resting: no batch runs, so that there are
 * no zombies. */
void gfsl_check(const gfsl_view *v, bool resting, char why[GFSL_WHY]);

#endif

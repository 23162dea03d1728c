/* SPDX-License-Identifier: Apache-2.0
 *
 * hive.h - the Hive table, sequentially: the contract made executable for a dictionary that never evicts.
 *
 * It has two faces, as hkv.h has: `hive_apply` runs one item, `hive_accept` judges what another implementation
 * says became of one.
 */
#ifndef HD_HIVE_H
#define HD_HIVE_H

#include "base/design.h"
#include "ref/hive/layout.h"
#include "ref/words/words.h"

/* For the row of the design. */
extern const hd_backend hive_reference;
extern const hd_params hive_params;
void hive_usual(hd_config *c);

typedef word_item hive_item;
typedef word_seen hive_seen;

/* NULL, or why a Hive table does not run the operation. */
const char *hive_unsupported(hd_op op);

/* Applies one item (section IV-A and IV-B). */
void hive_apply(hive_view *v, const hive_item *it, hive_seen *seen);

/* NULL: `seen` may have become of `it` now, and has now happened to v. Else why not, and v is unchanged. `busy`: how
 * many others may hold a slot for a moment while `it` looks for one. Static storage. */
const char *hive_accept(hive_view *v, const hive_item *it, const hive_seen *seen, uint64_t busy);

/* The same for what an insert does to others: the key in slot `from` has been displaced to the free slot `to`. */
const char *hive_accept_move(hive_view *v, uint64_t from, uint64_t to);

/* The entry that holds `key`, or HIVE_NOWHERE. */
uint64_t hive_find(const hive_view *v, uint64_t key);

/* What is in a slot, and to write it, mask and all. */
uint64_t hive_read(const hive_view *v, uint64_t e);
void hive_write(hive_view *v, uint64_t e, uint64_t word);

/* The table to words.c. */
word_table hive_words_of(hive_view *v);

/* Where its value's bytes are: the low half of the word, and so its beginning. */
void *hive_value_at(const hive_view *v, uint64_t e);

/* Takes the key in slot e away. */
void hive_remove(hive_view *v, uint64_t e);

/* Puts a key that is not there into exactly that slot, which is free; false: it cannot be there. The buckets that it
 * passes are not open from now on. */
bool hive_put(hive_view *v, uint64_t e, uint64_t key, uint64_t value);

/* Fills a public view of the table. */
void hive_show(const hive_view *v, hd_view *view);

/* Puts a key that is not there wherever it belongs; HIVE_NOWHERE: there is no room. */
uint64_t hive_place(hive_view *v, uint64_t key, uint64_t value);

/* Moves the key in slot e to the next bucket on its way that has room and is not `except`; false: there is none. */
bool hive_move_on(hive_view *v, uint64_t e, uint64_t except);

/* Whether bucket b is open; and that it is not from now on: fresh slots become vacant as far as that takes. */
bool hive_is_open(const hive_view *v, uint64_t b);
void hive_shut(hive_view *v, uint64_t b);

/* ---- Whole batches and tables ---------------------------------------------------------------- */

/* Runs all items of a checked batch, item 0 first; tally[] (HD_OUTCOME_COUNT) gets the outcomes. */
void hive_run_batch(hive_view *v, const hd_batch *b, uint64_t *tally);

/* Every slot fresh. */
void hive_clear(hive_view *v);

/* "" when every invariant holds, else a sentence that begins with the number of the first that does not. */
void hive_check(const hive_view *v, char *why, size_t bytes);
/* Whether slot e and its bucket break no invariant, for assertions. */
bool hive_is_sound(const hive_view *v, uint64_t e);

/* The sentences of hive_check, for what a kernel has found: slot e breaks a rule (HIVE_RULE_LOCKED, ...); so many
 * entries are in the stash and so many are counted there, "" if that is right. */
void hive_say_broken(const hive_view *v, uint64_t e, int rule, char *why, size_t bytes);
void hive_say_stashed(const hive_view *v, uint64_t seen, uint64_t counted, char *why, size_t bytes);

/* The next bucket is split (section IV-C1), the last one merged into its partner (IV-C2; false: there is no room, and
 * it was not). The segment that is needed is there; levels and split move. Neither looks into the stash. */
void hive_split(hive_view *v);
bool hive_merge(hive_view *v);

/* Every entry of an old stash goes where it belongs in v, whose own stash is empty and has room for all of them. */
void hive_restash(hive_view *v, const hive_segment *old, uint64_t buckets);

/* ---- The state that hive_reference opens ----------------------------------------------------- */

hive_view *hive_view_of(void *state);
/* A view of that shape whose segments are nowhere yet. */
hive_view hive_view_for(const hd_info *info);
/* What a table of that shape says of itself; how many buckets a stash has for so many, and how many segments they
 * need. */
void hive_tell(const hive_view *v, hd_info *info);
uint64_t hive_stash_for(uint64_t buckets);
/* What is meant by `spare` of hd_config where buckets have so many slots. */
uint32_t hive_spare_for(uint32_t slots, uint32_t spare);
/* hive_view.functions of hd_hive_config.hash: "mix64", or names of `heddle list hashes`, with commas between. */
hd_status hive_functions_of(const char *names, uint32_t hashes, uint32_t *functions);
uint32_t hive_segments_for(const hive_view *v, uint64_t buckets);
/* HD_EINVAL where the table cannot become one of so many buckets. */
hd_status hive_may_have(const hive_view *v, uint64_t buckets);

#endif

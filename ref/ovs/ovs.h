/* SPDX-License-Identifier: Apache-2.0
 *
 * ovs.h - the ovs table, sequentially: the contract made executable for a dictionary of segments.
 *
 * It has two faces, as hive.h has: `ovs_apply` runs one item, `ovs_accept` judges what another implementation says
 * became of one.
 */
#ifndef HD_OVS_H
#define HD_OVS_H

#include "base/design.h"
#include "ref/ovs/layout.h"
#include "ref/words/words.h"

/* For the row of the design. */
extern const hd_backend ovs_reference;
extern const hd_params ovs_params;
void ovs_usual(hd_config *c);

/* NULL, or why no ovs table runs the operation, or none of that shape. */
const char *ovs_unsupported(hd_op op);
const char *ovs_unsupported_for(const hd_info *info, hd_op op);

/* Applies one item. */
void ovs_apply(ovs_view *v, const word_item *it, word_seen *seen);

/* NULL: `seen` may have become of `it` now, and has now happened to v. Else why not, and v is unchanged. `busy`: how
 * many others may hold a slot for a moment while `it` looks for one. Static storage. */
const char *ovs_accept(ovs_view *v, const word_item *it, const word_seen *seen, uint64_t busy);

/* The entry that holds `key`, or OVS_NOWHERE. */
uint64_t ovs_find(const ovs_view *v, uint64_t key);

/* Puts a key that is not there wherever it belongs; OVS_NOWHERE: there is no room. */
uint64_t ovs_place(ovs_view *v, uint64_t key, uint64_t value);

/* Puts a key that is not there into exactly that slot, which is free; false: it cannot be there. The buckets that it
 * passes are not open from now on. */
bool ovs_put(ovs_view *v, uint64_t e, uint64_t key, uint64_t value);

/* Slot e holds this word, or key word, from now on, and the digest that belongs to it. */
void ovs_write(const ovs_view *v, uint64_t e, uint64_t word);
/* Slot e holds this key and value from now on. */
void ovs_write_entry(const ovs_view *v, uint64_t e, uint64_t key, uint64_t value);
/* The digest of slot e; it has one. */
uint32_t ovs_digest_in(const ovs_view *v, uint64_t e);

/* Whether bucket b is open; and that it is not from now on: fresh slots become vacant. */
bool ovs_is_open(const ovs_view *v, uint64_t b);
void ovs_shut(ovs_view *v, uint64_t b);

/* The first free slot of bucket b, or OVS_NOWHERE; and how many it has. */
uint64_t ovs_free_slot(const ovs_view *v, uint64_t b);
uint64_t ovs_free_slots(const ovs_view *v, uint64_t b);

/* Fills a public view of the table. */
void ovs_show(const ovs_view *v, hd_view *view);

/* ---- Whole batches and tables ---------------------------------------------------------------- */

/* Runs all items of a checked batch, item 0 first; tally[] (HD_OUTCOME_COUNT) gets the outcomes. */
void ovs_run_batch(ovs_view *v, const hd_batch *b, uint64_t *tally);

/* Every slot fresh. */
void ovs_clear(ovs_view *v);

/* The table to words.c. */
word_table ovs_words_of(ovs_view *v);

/* "" when every invariant holds, else a sentence that begins with the number of the first that does not. */
void ovs_check(const ovs_view *v, char *why, size_t bytes);
/* Whether slot e, the slots of a segment (of a large one 256 of them), or the directory of a table with ranges break no
 * invariant, for assertions. */
bool ovs_is_sound(const ovs_view *v, uint64_t e);
bool ovs_is_segment_sound(const ovs_view *v, uint64_t g);
bool ovs_is_directory_sound(const ovs_view *v);
/* The same, for what a kernel has found: slot e breaks a rule (OVS_RULE_FREE, ...), or row r (OVS_ROW_ORDER, ...). */
void ovs_say_broken(const ovs_view *v, uint64_t e, int rule, char *why, size_t bytes);
void ovs_say_row_broken(uint64_t r, int rule, char *why, size_t bytes);
void ovs_say_copy_broken(uint64_t i, int rule, char *why, size_t bytes); /* word i of all sets: OVS_COPY_SIGN, ... */

/* The next segment is split; the last one is merged into its partner (false: its keys do not fit, and it was not). The
 * extent that is needed is there; level and split move. */
void ovs_split(ovs_view *v);
bool ovs_merge(ovs_view *v);

/* So many segments, or as few as there is room for; with ranges too. The extents that are needed are there, and rows
 * for them. p: of as many rows as the larger table has segments (ovs_plan_for_size); without ranges it is not
 * used. */
void ovs_resize(ovs_view *v, ovs_plan *p, uint64_t segments);

/* With ranges: begins a plan that makes room for keys that found none (range.h), and returns how many segments the
 * table will have, at most; and carries it out. */
uint64_t ovs_plan_for(const ovs_view *v, ovs_plan *p, const uint64_t *key, uint64_t n);
void ovs_make_room(ovs_view *v, ovs_plan *p);

/* The reference has no use for copies, and only drops them: those of a key, or all. */
void ovs_forget_copies_of(const ovs_view *v, uint64_t key);
void ovs_forget_copies(const ovs_view *v);

/* Notes a copy of the key's entry, if it has one that may be copied, at place `at` of its set. */
void ovs_copy_entry(const ovs_view *v, uint64_t key, uint32_t at);

/* ---- The state that ovs_reference opens ------------------------------------------------------ */

ovs_view *ovs_view_of(void *state);
/* A view of that shape whose extents are nowhere yet; near_most is that of a table without scratch in the device's
 * memory. */
ovs_view ovs_view_for(const hd_info *info);
/* What a table of that shape says of itself; how many extents it has for so many segments. */
void ovs_tell(const ovs_view *v, hd_info *info);
uint32_t ovs_extents_for(const ovs_view *v, uint64_t segments);
/* The rows of a directory that has room for all segments of as many extents; 0: the table has none. */
uint64_t ovs_rows_for(const ovs_view *v, uint64_t segments);
/* How many segments so many buckets are, rounded up. HD_EINVAL where the table cannot have them. */
hd_status ovs_segments_for(const ovs_view *v, uint64_t buckets, uint64_t *segments);

#endif

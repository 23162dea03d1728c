/* SPDX-License-Identifier: Apache-2.0
 *
 * sl.h - the ordered table, sequentially: the contract made executable for a dictionary that keeps its keys in order.
 */
#ifndef HD_SL_H
#define HD_SL_H

#include "base/design.h"
#include "ref/sl/layout.h"

/* For the row of the design. */
extern const hd_backend sl_reference;
extern const hd_params sl_params;
void sl_usual(hd_config *c);

#define SL_NOWHERE UINT64_MAX

/* A position in the order of keys. */
typedef struct sl_at {
    uint64_t row;
    uint32_t index;
} sl_at;

/* NULL, or why the table does not run the operation. */
const char *sl_unsupported(hd_op op);

/* The first entry whose key is at least `key`, and the one after and before a position. false: there is none. */
bool sl_first_from(const sl_view *v, uint64_t key, sl_at *at);
bool sl_after(const sl_view *v, sl_at *at);
bool sl_before(const sl_view *v, sl_at *at);
/* The last entry whose key is at most `key`. */
bool sl_last_to(const sl_view *v, uint64_t key, sl_at *at);
HD_FN uint64_t sl_place_at(const sl_view *v, sl_at at) { return sl_place(v, at.row, at.index); }

/* The place of the key; SL_NOWHERE: it is not there. */
uint64_t sl_find(const sl_view *v, uint64_t key);
/* Inserts a key that is not there; false: there is no room (PENDING), and nothing has changed. */
bool sl_insert(sl_view *v, uint64_t key, uint64_t value);
/* Removes a key that is there. */
void sl_remove(sl_view *v, uint64_t key);

/* Puts a key into exactly that place of a table that is filled home by home, ascending within each; false: it cannot be
 * there. */
bool sl_put(sl_view *v, uint64_t place, uint64_t key, uint64_t value);
/* Where the bytes of its value are. */
void *sl_value_at(const sl_view *v, uint64_t place);

/* Every home free but the first, which has an empty segment. */
void sl_clear(sl_view *v);
/* Joins neighbours and gives empty segments' homes back after entries of any segments were removed. */
void sl_settle(sl_view *v);
/* Copies all entries into the empty table `to`, which has room: segment by segment, or, if it has too few homes for
 * that, into segments that are full. */
void sl_pack(const sl_view *v, sl_view *to);

uint64_t sl_size(const sl_view *v);

/* Writes the near key of a line, which is counted from the first of home `near`. */
void sl_set_near_key(const sl_view *v, uint64_t line, uint64_t key);
/* Writes all near keys, if there are any, and how many entries the lines have, of segments without gaps. */
void sl_renew_near(sl_view *v);
/* Moves the entries of far segments together, so that there are no gaps. */
void sl_close_gaps(sl_view *v);
/* Near keys for homes from `near` on, and memory for them, which close gives back. */
hd_status sl_take_near(sl_view *v, uint64_t near, const hd_seams *s);

/* Runs all items of a checked batch, item 0 first; tally[] (HD_OUTCOME_COUNT) gets the outcomes. */
void sl_run_batch(sl_view *v, const hd_batch *b, uint64_t *tally);

/* "" when every invariant holds, else a sentence that begins with the number of the first that does not. */
void sl_check(const sl_view *v, char *why, size_t bytes);
/* Whether an entry and its row break no invariant, but of lines (SL-7, SL-8), which hold between batches. For
 * assertions. */
bool sl_is_sound(const sl_view *v, sl_at at);
/* Its sentences: of a row, or of its entry `index`; of the number of homes that are marked as used, stray: one that is
 * not has entries. */
void sl_say_broken(uint64_t row, uint32_t index, sl_rule rule, char *why, size_t bytes);
void sl_say_used(uint64_t rows, uint64_t homes, uint64_t used, bool stray, char *why, size_t bytes);

/* The numbers of a table of that shape, and no memory. */
sl_view sl_view_for(const hd_info *info);
/* What a table with so many homes says of itself. */
void sl_tell(hd_info *info, uint64_t homes);
/* The fewest homes with so many buckets. HD_EINVAL: the table may not have so many, or so few. */
hd_status sl_may_have(const hd_info *info, uint64_t buckets, uint64_t *homes);
/* How many homes a table with `had` gets that should have `homes`: no fewer than its entries fill. v: its numbers. */
uint64_t sl_homes_to_have(sl_view v, uint64_t had, uint64_t homes, uint64_t size);

/* The state that sl_reference opens. */
sl_view *sl_view_of(void *state);

#endif

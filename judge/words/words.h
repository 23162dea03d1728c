/* SPDX-License-Identifier: Apache-2.0
 *
 * words.h - what the ports of all dictionaries do alike whose entries are words (ref/words/words.h).
 */
#ifndef HD_JUDGE_WORDS_H
#define HD_JUDGE_WORDS_H

#include "judge/design.h"
#include "ref/words/words.h"

/* Item i of part k and what became of it, for word_accept; sets *l. NULL, or what cannot be. */
const char *judge_word_item(const fixture *s, uint32_t k, uint64_t i, const simt_ticket_record *t, judge_listing *l,
                            word_item *it, word_seen *seen);

/* The number of items besides the one that is judged. */
uint64_t judge_word_others(const fixture *s);

/* Whether any item may erase the key. */
bool judge_word_erases(const fixture *s, uint64_t key);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * apply_vs_accept.h - tests the two functions of the reference against each other: hkv_accept accepts what hkv_apply
 * did and ends in the same state; it refuses everything else and leaves the state alone. Each try has a small table of
 * its own.
 */
#ifndef HD_JUDGE_APPLY_VS_ACCEPT_H
#define HD_JUDGE_APPLY_VS_ACCEPT_H

#include "ref/hkv/hkv.h"
#include "workload/rng.h"

enum { FACES_ENTRIES = 64, FACES_VALUE_BYTES = 8, FACES_TEXT = 512 };

typedef struct faces_table {
    uint8_t digest[FACES_ENTRIES];
    uint64_t key[FACES_ENTRIES], score[FACES_ENTRIES], value[FACES_ENTRIES], holder[FACES_ENTRIES];
    hkv_view view;
} faces_table;

/* An empty table of some shape. */
void faces_make(faces_table *t, hd_rng *g, uint32_t policy);
void faces_copy(faces_table *to, const faces_table *from);

/* Claims something false about `seen` on a copy of `before`: NULL when it is refused and changes nothing; else
 * `why`, a sentence (FACES_TEXT) that names the false claim, `which`. */
const char *faces_lie(const faces_table *before, const hkv_item *it, const hkv_seen *seen, hkv_strictness strictness,
                      const char *which, char *why);

typedef struct faces_counts {
    uint64_t tables, items, lies;
} faces_counts;

/* Random items on random tables through both functions, every fourth with all false claims. why: "" or the first
 * error (FACES_TEXT). */
void faces_search(uint64_t tables, uint64_t items, faces_counts *n, char *why);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * twin.h - one batch for two tables, one of the reference and one of another backend: random inputs, guarded outputs
 * (judge/arrays.h), and a comparison of the results.
 */
#ifndef TWIN_H
#define TWIN_H

#include "judge/arrays.h"
#include "tests/testing.h"

typedef struct twin {
    judge_arrays ref, own;
    uint64_t *deck; /* (keys) from which distinct keys are drawn */
    uint64_t keys;
} twin;

/* For batches of at most `most` items with keys 1 to `keys`, no fewer. */
void twin_open(twin *w, uint64_t most, uint64_t keys, uint32_t value_bytes);
void twin_close(twin *w);

/* The same batch into *ref and *own: n items of distinct keys, values that are their key's and `time`'s, other inputs
 * at random. A range of slots where the operation has one. */
void twin_draw(twin *w, hd_batch *ref, hd_batch *own, hd_op op, uint64_t n, const hd_info *info, uint64_t time,
               uint64_t *random);
/* Whether tables of such values can add in whole numbers: floats differ between machines in what NaN they make. */
bool twin_adds(uint32_t value_bytes, hd_elem *elem);

/* NULL: every output is the same, or was left alone, and nothing else was written; else what is not. Pointers are
 * compared in that only; exported lists too, unless `places`: entries may lie in other slots. */
const char *twin_differs(const twin *w, const hd_batch *ref, const hd_batch *own, bool places);

#endif

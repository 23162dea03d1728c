/* SPDX-License-Identifier: Apache-2.0
 *
 * mutate.h - inputs by number: input k of a seed and a corpus is always the same.
 */
#ifndef HD_FUZZ_MUTATE_H
#define HD_FUZZ_MUTATE_H

#include "fuzz/corpus.h"
#include "fuzz/fuzz.h"

/* Fills at most t->most bytes; how many. */
size_t fuzz_make(const fuzz_target *t, const fuzz_corpus *c, uint64_t seed, uint64_t k, uint8_t *bytes);

#endif

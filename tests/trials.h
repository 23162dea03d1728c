/* SPDX-License-Identifier: Apache-2.0
 *
 * trials.h - trials of lives (judge/trial.h) in tests: nothing is wrong, and it is said how much was tried.
 */
#ifndef TRIALS_H
#define TRIALS_H

#include "judge/trial.h"
#include "tests/lives.h"

/* trial_cuts, in which nothing is wrong unless x expects it. Some recoveries are cut, too. */
void lives_cut(trial *x, const life *had, const cuts *c, size_t from, uint64_t random);
/* A life of each shape; `random` as in cuts_each. */
void lives_all(const shape *shapes, size_t n, const char *backend, uint64_t changes, uint64_t random);
/* Each call of the seam fails once in a life. */
void lives_fail(const shape *shapes, size_t n);
/* A recovery that follows another one changes no byte but those of superblocks. */
void lives_recover(const shape *shapes, size_t n);
/* A change that w has had, and that is promised. */
void lives_note(life *l, cuts *c, const world *w);
/* One change, whose record needs a larger journal than there is: the entries stay where they are. */
void lives_larger_journal(life *l, hd_table *t, cuts *c, uint32_t value_bytes);

#endif

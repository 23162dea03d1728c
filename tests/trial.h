/* SPDX-License-Identifier: Apache-2.0
 *
 * trial.h - lives of tables with files that end in a power cut or a call that fails, and every file that is left.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include "tests/life.h"

/* Files that cuts have left. */
typedef struct trial {
    const life *had;
    uint64_t random;
    uint64_t promised, number; /* of the file that was left; changes that its recovery found */
    uint64_t tried, cut_again; /* files; of these, left by a recovery that was cut */
    bool expects;              /* something wrong, which is counted */
    uint64_t wrong;
} trial;

/* Cuts at each event from `from` on, `random` as in cuts_each. What one backend has left another one opens. Some
 * recoveries are cut, too. */
void trial_cuts(trial *x, const life *had, const cuts *c, size_t from, uint64_t random);
/* One change, whose record needs a larger journal than there is: the entries stay where they are. */
void trial_larger_journal(life *l, hd_table *t, cuts *c, uint32_t value_bytes);
/* A life of each shape that is closed and opened once, with a cut at any time; `random` as in cuts_each. */
void trial_lives(const shape *shapes, size_t n, const char *backend, uint64_t changes, uint64_t random);
/* Each call of the seam fails once in a life. */
void trial_failures(const shape *shapes, size_t n);
/* A recovery that follows another one changes no byte but those of superblocks. */
void trial_recoveries(const shape *shapes, size_t n);

#endif

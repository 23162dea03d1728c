/* SPDX-License-Identifier: Apache-2.0
 *
 * trial.h - lives of tables with files that end in a power cut, a call that fails or damage, and every file that is
 * left.
 */
#ifndef HD_JUDGE_TRIAL_H
#define HD_JUDGE_TRIAL_H

#include "judge/life.h"

typedef struct trial {
    const life *had;
    hd_rng random;
    uint64_t again;            /* of so many recoveries one is cut, too; 0: none */
    uint64_t syncs;            /* of so many syncs that fail one is followed by cuts, too; 0: each */
    uint64_t promised, number; /* of the file that was left; changes that its recovery found */
    uint64_t tried, cut_again; /* files; of these, left by a recovery that was cut */
    uint64_t refused;          /* of the files, damaged ones that did not open */
    bool expects;              /* it goes on when something is wrong */
    uint64_t wrong;            /* how often something was */
    char before[128];          /* the call that has failed; "": none */
    char why[512];             /* "", or what was wrong first */
} trial;

/* Cuts at each event from `from` on, `random` as in cuts_each. What one backend has left `ref` opens. */
void trial_cuts(trial *x, const life *had, const cuts *c, size_t from, uint64_t random);

/* Each of these is a life of its own, *l, and stops at the first thing that is wrong. A life that is closed and opened
 * once, with a cut at any time. */
void trial_live(trial *x, life *l, const shape *s, const char *backend, uint64_t seed, uint64_t changes,
                uint64_t random);
/* Call number `at` of the seam fails, in the way of cuts.fail_with: nothing that was promised is lost, and from then on
 * the table is only to be read. False: there was no such call. */
bool trial_fail(trial *x, life *l, const shape *s, int with, uint64_t seed, uint64_t at);
/* The process is killed; then a byte of a superblock or of a record changes, or the file is cut short. It is refused;
 * or, unless it is short, it has all changes up to one, and if a superblock is damaged all that were promised. *left is
 * the file before that; free(left->bytes). */
void trial_damage(trial *x, life *l, const shape *s, uint64_t seed, uint64_t changes, cuts_file *left);

#endif

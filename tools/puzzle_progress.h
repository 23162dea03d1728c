/* SPDX-License-Identifier: Apache-2.0
 *
 * puzzle_progress.h - what a player has done: tries, puzzles solved, hints seen. A file of the user's,
 * $XDG_STATE_HOME/heddle/puzzles.json (else in ~/.local/state), which appears when it is complete. A file that cannot
 * be read is kept as puzzles.json.damaged, and progress begins again.
 */
#ifndef HD_TOOLS_PUZZLE_PROGRESS_H
#define HD_TOOLS_PUZZLE_PROGRESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct puzzle_progress {
    uint64_t tries, hints;
    bool solved;
    double best; /* the lowest cost per key of an accepted answer */
} puzzle_progress;

/* The file, which the caller releases; NULL: there is no place for it. */
json_t *puzzle_progress_read(void);

/* What it says of the puzzle of that name; zeros where that is nothing. */
puzzle_progress puzzle_progress_in(const json_t *all, const char *name);

/* The same, where no other puzzle is asked for. */
puzzle_progress puzzle_progress_of(const char *name);

/* Writes it. False: it cannot be kept; that was said on standard error. */
bool puzzle_progress_keep(const char *name, const puzzle_progress *p);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * puzzle_try.h - compiles an answer with the C compiler and judges it in a process of its own. An answer may be any
 * program: one that does not compile, crashes, never ends or leaves is rejected with a sentence.
 */
#ifndef HD_TOOLS_PUZZLE_TRY_H
#define HD_TOOLS_PUZZLE_TRY_H

#include <jansson.h>

#include "learn/puzzles/puzzle.h"

/* Judges the file `path` as an answer to p. *verdict: an object, which the caller releases:
 *   "by"        null: accepted; else the check that objected, a puzzle's or "compiler", "kernel", "crash", "left"
 *   "idea"      the sentence that names the idea, or null
 *   "detail"    what happened: a sentence, perhaps more lines; or null
 *   "schedule"  the shortest failing schedule, or null; "weak": whether memory is weak in it
 *   "schedules" how many were run
 *   "sectors", "atomics", "steps"   per key; negative: not measured
 *   "story"     of the failing run (heddle.story/1), or null
 * TOOL_OK; TOOL_STOPPED; or TOOL_SYSTEM, and it was said what is missing. */
int puzzle_try(const puzzle *p, const char *path, json_t **verdict);

/* Writes the headers that an answer includes to `folder`. TOOL_OK, or it was said what is wrong. */
int puzzle_headers(const char *folder);

#endif

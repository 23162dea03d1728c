/* SPDX-License-Identifier: Apache-2.0
 *
 * puzzle_story.h - the last run of a puzzle's kernel as a story: its arrays as panels, its lanes' accesses as steps.
 */
#ifndef HD_TOOLS_PUZZLE_STORY_H
#define HD_TOOLS_PUZZLE_STORY_H

#include "judge/story.h"
#include "learn/puzzles/puzzle.h"

/* path: of the answer, text: what is in it. NULL: memory was refused. The machine's last run had a trace. */
story *puzzle_story(const puzzle *p, const puzzle_bed *b, const simt_machine *m, const puzzle_verdict *v,
                    const char *path, const char *text);

#endif

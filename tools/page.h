/* SPDX-License-Identifier: Apache-2.0
 *
 * page.h - stories as a web page: one file that needs no network, with the player tools/pages/story.js, its style, and
 * the stories as JSON. The page's Content-Security-Policy allows that script and that style alone.
 */
#ifndef HD_TOOLS_PAGE_H
#define HD_TOOLS_PAGE_H

#include <jansson.h>

#include "judge/story.h"
#include "tools/output.h"

/* A page has at most so many bytes: of a longer story it shows as many steps as there is room for, and says so. */
enum { PAGE_BYTES = 1500000 };

/* Writes a page of stories (heddle.story/1), side by side. A TOOL_* code; a failure was said. */
int page_write(const char *path, const char *title, json_t *const *story, size_t stories);

/* Adds the texts of the kernels that the story's sites name, as far as the command carries them: the lines around the
 * sites; other lines are empty. */
void page_add_sources(json_t *story);

/* The end of a report with stories: JSON gets the first as its member "story", and `html`, if it is not NULL, a page of
 * all of them. Closes the stories, prints the report, and returns `code` or the code of a failure. */
int page_close_report(out *o, int code, const char *html, const char *title, story **s, size_t stories);

#endif

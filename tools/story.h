/* SPDX-License-Identifier: Apache-2.0
 *
 * story.h - stories, as the verbs include them.
 */
#ifndef HD_TOOLS_STORY_H
#define HD_TOOLS_STORY_H

#include "judge/story.h"

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * team.h - teams of OpenMP's threads, and children of fork.
 *
 * A child of fork has one thread. The runtime keeps the threads of a team for the next one, and in the child it would
 * wait for threads that do not exist there.
 */
#ifndef HD_TEAM_H
#define HD_TEAM_H

#include <stdint.h>

/* How many threads a team may have that would like `threads`: 1 in a child of a process that has asked for more. */
uint32_t hd_team(uint32_t threads);

#endif

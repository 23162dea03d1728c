/* SPDX-License-Identifier: Apache-2.0
 *
 * beside.h - the programs that belong to the command and are not in the search path.
 */
#ifndef HD_BESIDE_H
#define HD_BESIDE_H

#include <stdbool.h>
#include <sys/types.h>

enum { BESIDE_BYTES = 4096 };

/* Where `name` is: beside the command in a build tree, else where `make install` put it: first relative to the command,
 * so that a moved installation still finds its own. False: nowhere; path is then where it should be. */
bool beside_find(const char *name, char path[BESIDE_BYTES]);

/* Starts argv (its program is looked for in PATH where it has no slash) with one end of a pipe as its descriptor `as`,
 * and without the other end.
 * 0, or an errno. */
int beside_start(char *const *argv, int end, int as, int other, pid_t *pid);
/* Ends the one that was started last and not waited for; a signal handler may call it. */
void beside_stop(void);
/* Its exit code, 128 when a signal ended it. 0, or an errno. */
int beside_wait(pid_t pid, int *code);

#endif

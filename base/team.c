/* SPDX-License-Identifier: Apache-2.0
 *
 * team.c - teams of OpenMP's threads, and children of fork.
 */
#include "base/team.h"

#include <pthread.h>
#include <stdbool.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool child; /* set before a child has a second thread */

static void begin_child(void) { child = true; }
static void watch(void) { (void)pthread_atfork(NULL, NULL, begin_child); } /* without memory: as if it was never asked */

uint32_t hd_team(uint32_t threads)
{
    if (threads <= 1) return threads;
    pthread_once(&once, watch);
    return child ? 1 : threads;
}

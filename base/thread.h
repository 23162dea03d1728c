/* SPDX-License-Identifier: Apache-2.0
 *
 * thread.h - threads that a program does not know of.
 */
#ifndef HD_THREAD_H
#define HD_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* Starts a thread with all signals blocked, so that they go to the threads that the program knows. False: there is no
 * thread. */
static inline bool hd_thread_start(pthread_t *thread, void *(*work)(void *), void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* its arguments are right, so that it cannot fail */
    bool started = pthread_create(thread, NULL, work, context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

#endif

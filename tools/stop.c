/* SPDX-License-Identifier: Apache-2.0
 *
 * stop.c - the signals that ask the command to stop.
 */
#include <signal.h>

#include "tools/beside.h"
#include "tools/tool.h"

static volatile sig_atomic_t stopped; /* the signal's number; 0: none came */

bool tool_stopped(void) { return stopped != 0; }
int tool_stop_code(void) { return 128 + stopped; }

static void on_stop(int sig)
{
    if (!stopped) stopped = sig;
    beside_stop();                           /* the signal may have come to this process alone */
    if (sig != SIGHUP) signal(sig, SIG_DFL); /* the second one does not ask; a terminal that closes sends two */
}

/* Calls that wait are not started again: they end with EINTR. A process that ignores SIGHUP (nohup) goes
 * on ignoring it. */
void tool_catch_signals(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    struct sigaction ours = { .sa_handler = on_stop }, before;
    sigemptyset(&ours.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        bool ignored = signals[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler == SIG_IGN;
        if (!ignored) sigaction(signals[i], &ours, NULL);
    }
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * beside.c - see beside.h.
 */
#include "tools/beside.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#ifndef HD_PKGLIBEXECDIR
#define HD_PKGLIBEXECDIR "/usr/local/libexec/heddle"
#endif

bool beside_find(const char *name, char path[BESIDE_BYTES])
{
    static const char *const place[] = { "tools", "judge/museum", "../tools", "../libexec/heddle" };
    char here[BESIDE_BYTES];
    ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
    here[n > 0 ? n : 0] = 0;
    char *slash = strrchr(here, '/');
    for (size_t i = 0; slash && i < sizeof place / sizeof *place; i++) {
        int length = snprintf(path, BESIDE_BYTES, "%.*s/%s/%s", (int)(slash - here), here, place[i], name);
        if (length < BESIDE_BYTES && access(path, R_OK) == 0) return true;
    }
    snprintf(path, BESIDE_BYTES, "%s/%s", HD_PKGLIBEXECDIR, name);
    return access(path, R_OK) == 0;
}

/* The process that runs now, for a signal handler; 0: none. */
static volatile sig_atomic_t running;

void beside_stop(void)
{
    if (running > 0) kill((pid_t)running, SIGTERM);
}

int beside_start(char *const *argv, int end, int as, int other, pid_t *pid)
{
    posix_spawn_file_actions_t a;
    int e = posix_spawn_file_actions_init(&a);
    if (e) return e;
    e = posix_spawn_file_actions_adddup2(&a, end, as);
    if (!e) e = posix_spawn_file_actions_addclose(&a, other);
    if (!e) e = posix_spawnp(pid, argv[0], &a, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&a);
    if (!e) running = (sig_atomic_t)*pid;
    return e;
}

int beside_wait(pid_t pid, int *code)
{
    int status = 0;
    siginfo_t ended;
    while (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) < 0)
        if (errno != EINTR) return errno;
    running = 0; /* before its number can be another's */
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return errno;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return 0;
}

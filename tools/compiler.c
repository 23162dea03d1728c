/* SPDX-License-Identifier: Apache-2.0
 *
 * compiler.c - see compiler.h.
 */
#include "tools/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/tool.h"

char *compiler_named(const char *variable, const char *usual)
{
    const char *given = getenv(variable);
    return strdup(given && *given ? given : usual);
}

int compiler_words(char *text, char **argv)
{
    int n = 0;
    for (char *w = strtok(text, " \t"); w && n < COMPILER_WORDS / 2; w = strtok(NULL, " \t")) argv[n++] = w;
    return n;
}

int compiler_run(char *const *argv, const char *messages, unsigned seconds)
{
    pid_t pid = fork();
    if (pid < 0) return -1;
    if (pid == 0) {
        struct rlimit cpu = { seconds, seconds };
        int in = open("/dev/null", O_RDONLY), out = open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        setrlimit(RLIMIT_CPU, &cpu);
        alarm(3 * seconds);
        if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(126);
        execvp(argv[0], argv);
        _exit(COMPILER_NONE);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return -1;
        if (tool_stopped()) kill(pid, SIGTERM);
    }
    return tool_stopped() ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int compiler_said(int code, const char *name, const char *variable)
{
    bool of_c = strcmp(variable, "CC") == 0;
    if (tool_stopped()) return TOOL_STOPPED;
    if (code == COMPILER_NONE)
        return tool_say(TOOL_SYSTEM, "there is no C%s compiler '%s'; install one%s, or name it in the variable %s",
                        of_c ? "" : "UDA", name, of_c ? " (Debian: apt install gcc)" : "", variable);
    return code < 0 ? tool_say(TOOL_SYSTEM, "the compiler '%s' cannot be run", name) : TOOL_OK;
}

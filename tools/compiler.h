/* SPDX-License-Identifier: Apache-2.0
 *
 * compiler.h - runs the compiler of the user's machine.
 */
#ifndef HD_TOOLS_COMPILER_H
#define HD_TOOLS_COMPILER_H

enum { COMPILER_WORDS = 64, COMPILER_NONE = 127 /* as the shell has it */ };

/* The value of a variable of the environment, or `usual` where it is empty: for free(). NULL: no memory. */
char *compiler_named(const char *variable, const char *usual);

/* Its words, which end in `text`, at most COMPILER_WORDS / 2; the number of them. */
int compiler_words(char *text, char **argv);

/* Runs a command whose messages go to a file, for at most so many seconds of a processor. Its exit code; -1: it cannot
 * be started, or was stopped. */
int compiler_run(char *const *argv, const char *messages, unsigned seconds);

/* What to say of that code; TOOL_OK: nothing. variable: what names another compiler. */
int compiler_said(int code, const char *name, const char *variable);

#endif

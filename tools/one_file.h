/* SPDX-License-Identifier: Apache-2.0
 *
 * one_file.h - compiles a file of kernels or predicates (doc/extending.md) to a shared object in a cache. The key of an
 * object is what the preprocessor makes of the file and of all that it includes, with the compiler's words and version.
 */
#ifndef HD_TOOLS_ONE_FILE_H
#define HD_TOOLS_ONE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/beside.h"

typedef struct one_file {
    const char *given;         /* its name, as the user has it      */
    char path[BESIDE_BYTES];   /* from the root                     */
    char object[BESIDE_BYTES]; /* in the cache                      */
    bool cuda;                 /* made by nvcc                      */
    uint64_t hits;             /* of the cache for it, with this one; 0: it was compiled now */
    double seconds;            /* that this took                    */
} one_file;

/* TOOL_OK, or the exit code after what the compiler and a sentence said. */
int one_file_compile(const char *given, bool cuda, one_file *f);

/* A whole file, ending in 0: for free(). NULL: it cannot be read. */
char *one_file_text(const char *path, size_t *n);

#endif

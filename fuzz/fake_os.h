/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_os.h - replaces the operating system in a target's library calls: files in memory, and memory that is counted
 * and may be refused. Each input has its own world; at its end nothing may be left in it.
 */
#ifndef HD_FUZZ_FAKE_OS_H
#define HD_FUZZ_FAKE_OS_H

#include "judge/mem_files.h"

typedef struct fuzz_world {
    judge_shelf shelf;
    hd_seams seams;      /* what the library is given                                */
    uint64_t live, peak; /* bytes                                                    */
    uint64_t takes;      /* calls so far ...                                         */
    uint64_t refuse_at;  /* ... of which this one is refused, from 1; 0: none        */
    uint64_t live_most;  /* a take beyond this many bytes is refused; 0: no limit    */
    uint64_t refused;    /* how many were                                            */
    uint64_t read_most;  /* a read gives at most so many bytes; 0: no limit          */
    bool pipes;          /* no file has a size, as no pipe has one                   */
} fuzz_world;

/* It must stay where it is while its seams are in use. */
void fuzz_world_open(fuzz_world *w);
/* NULL, or what was left: memory, an open file, a file beside those that the target put there or has the right to
 * make. */
const char *fuzz_world_close(fuzz_world *w, const char *const *files);

/* A file of these bytes, in the place of one of that name. False: no memory, or no room on the shelf. */
bool fuzz_world_put(fuzz_world *w, const char *name, const uint8_t *bytes, size_t n);

#endif

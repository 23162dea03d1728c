/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.h - runs a target on many inputs, in child processes, so that a crash is a result. It makes an input that
 * fails small. Equal seeds, corpora and numbers of runs give equal results.
 */
#ifndef HD_FUZZ_DRIVER_H
#define HD_FUZZ_DRIVER_H

#include "fuzz/corpus.h"
#include "fuzz/fuzz.h"

enum { FUZZ_WHY = 1024 };

typedef struct fuzz_find {
    bool wrong;         /* something was found                                                       */
    bool crashed;       /* the process ended, or had to be ended; else the target objected           */
    char why[FUZZ_WHY]; /* its sentence, or how the process ended                                    */
    uint64_t run;       /* number of the input, the corpus first, from 0                             */
    const char *name;   /* of the input, when it is one of the corpus; the corpus's                  */
    uint8_t *bytes;     /* (n) the smallest that is wrong in the same way; to be freed by hunt_close */
    size_t n, n_before; /* as it was found: n_before                                                 */
    uint64_t tries;     /* runs spent on making it small                                             */
} fuzz_find;

typedef struct fuzz_hunt {
    /* in */
    const fuzz_target *target;
    const fuzz_corpus *corpus; /* run first, then changed; NULL: none         */
    uint64_t seed;
    uint64_t runs;                                                 /* made inputs at most                         */
    uint64_t time_ns;                                              /* and about so long; 0: no limit              */
    uint64_t input_s;                                              /* seconds after which an input hangs; 0: 60   */
    uint64_t tries;                                                /* runs at most to make it small; 0: 4,000     */
    bool loud;                                                     /* what a process that crashes says is heard   */
    int (*progress)(void *context, uint64_t done, uint64_t total); /* nonzero: stop; may be NULL */
    void *context;
    /* out */
    uint64_t executions; /* inputs that were run, without the tries     */
    uint64_t steps;      /* what was judged in them                     */
    double seconds;
    fuzz_find found;
} fuzz_hunt;

/* Until something is found, or everything is run. HD_ENOMEM, HD_EIO: it could not be run. */
hd_status fuzz_hunt_run(fuzz_hunt *h);
void fuzz_hunt_close(fuzz_hunt *h);

/* What t says of these bytes; in a process of its own, since it may have to run them. As much as was said before an
 * end. */
void fuzz_tell(const fuzz_target *t, const uint8_t *bytes, size_t n, char *text, size_t room);

#endif

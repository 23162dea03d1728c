/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz.h - the targets. A target is one file, fuzz/fuzz_NAME.c, that ends in its row; one line in fuzz/targets.inc; one
 * in Makefile.am; and seeds in fuzz/corpus/NAME/. With these `heddle fuzz` runs it, a test replays its corpus, and
 * programs for libFuzzer and AFL++ are built (README.md).
 */
#ifndef HD_FUZZ_H
#define HD_FUZZ_H

#include "heddle.h"

typedef struct fuzz_target {
    const char *name;
    const char *what; /* is fed, and what must hold; a sentence                            */
    size_t most;      /* bytes of an input; bytes after them are ignored                   */
    uint32_t cost;    /* about how many microseconds of a core an input takes, to share out time */
    /* One input, any bytes. NULL, or a sentence that says what is wrong; valid until the thread's next call. Keeps
     * nothing of one input for the next. *steps grows by the operations, records or reads that were judged. */
    const char *(*run)(const uint8_t *bytes, size_t n, uint64_t *steps);
    /* What the bytes mean, for people, a line or more; as snprintf. */
    size_t (*tell)(const uint8_t *bytes, size_t n, char *text, size_t room);
    const char *const *word; /* what mutations may put in, ending in NULL; NULL: nothing in particular */
} fuzz_target;

const fuzz_target *fuzz_target_at(size_t i);           /* NULL past the end  */
const fuzz_target *fuzz_target_find(const char *name); /* NULL: there is none */

/* The sentence of a run that went wrong; returns it. */
const char *fuzz_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* How commands begin that a target prints: "heddle", until a caller says more. */
const char *fuzz_command(void);
void fuzz_command_is(const char *begin);

/* Text made piece by piece, for tell: as snprintf, never beyond its room, always ending in NUL. */
typedef struct fuzz_text {
    char *p;
    size_t room, used; /* used: what it would need */
} fuzz_text;
fuzz_text fuzz_text_in(char *p, size_t room);
/* A target's tell by its run, which puts what it does into t. */
size_t fuzz_tell_run(const char *(*run)(const uint8_t *, size_t, uint64_t *, fuzz_text *), const uint8_t *bytes,
                     size_t n, char *text, size_t room);
void fuzz_put(fuzz_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fuzz_put_quoted(fuzz_text *t, const uint8_t *bytes, size_t n); /* as a C string, cut after 400 */

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * faulty.h - file seams that fail on request, with a ledger of memory, and files that exist only in memory.
 */
#ifndef FAULTY_H
#define FAULTY_H

#include "tests/testing.h"

/* How the chosen call goes wrong. SHORT and INTERRUPTED happen at every read and write from there on,
 * and must be invisible; the others happen once. */
typedef enum fault_kind { NO_FAULT, FAULT_EIO, FAULT_ENOSPC, FAULT_INTERRUPTED, FAULT_SHORT } fault_kind;

typedef struct faulty {
    counting memory; /* its .seams is what the code under test gets */
    fault_kind kind;
    uint64_t at;        /* the file call, from 1                       */
    uint64_t calls;     /* file calls so far; closing and removing are counted, and fail, too */
    const char *failed; /* the call that was made to fail              */
    int open;           /* descriptors open now                        */
    uint64_t random;
    const void *bytes; /* not NULL: every file that is opened is these bytes, and none is written */
    size_t n, position;
} faulty;

void faulty_init(faulty *f, fault_kind kind, uint64_t at);
/* Nothing is held any more. */
void faulty_settled(const faulty *f);

/* A file of test_folder(): static storage, four names at a time. */
const char *test_path(const char *name);
void test_write(const char *path, const void *p, size_t n);
/* NULL when there is none; free() it. */
uint8_t *test_read(const char *path, size_t *n);
void test_same_files(const char *a, const char *b);
/* How many files test_folder() holds. */
unsigned test_files(void);

#endif

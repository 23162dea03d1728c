/* SPDX-License-Identifier: Apache-2.0
 *
 * mem_files.h - a few files in memory behind the file seam: snapshots without a disk, in which any I/O call can be made
 * to fail.
 */
#ifndef HD_JUDGE_MEM_FILES_H
#define HD_JUDGE_MEM_FILES_H

#include "base/seam.h"

enum { SHELF_FILES = 8, SHELF_DESCRIPTORS = 16, SHELF_NAME = 256 };

typedef struct judge_shelf_file {
    char name[SHELF_NAME];
    uint8_t *bytes; /* (room) */
    size_t size, room;
    bool there; /* it has a name; without one it exists until it is closed */
    int open;   /* descriptors */
} judge_shelf_file;

/* Of a descriptor. */
typedef struct shelf_place {
    judge_shelf_file *file; /* NULL: free */
    size_t at;              /* where the next read or write goes */
} shelf_place;

typedef struct judge_shelf {
    judge_shelf_file file[SHELF_FILES];
    shelf_place descriptor[SHELF_DESCRIPTORS];
    const char *outside; /* the path of a file that is the operating system's all the same; NULL: none */
    hd_seams seams;      /* memory and time: the operating system's; files: this shelf's */

    /* Faults. Calls are counted from 1; call number `fail_at` (0: none) fails with errno `fail_with`, and
     * with `fail_after` every later one too. SHELF_SHORT: a read or write moves one byte only. */
    uint64_t calls, fail_at;
    int fail_with;
    bool fail_after;
} judge_shelf;

enum { SHELF_SHORT = -1 };

/* The shelf must stay where it is while its seams are in use. */
void judge_shelf_open(judge_shelf *s);
void judge_shelf_close(judge_shelf *s);
uint64_t judge_shelf_files(const judge_shelf *s);                     /* files that have a name */
uint64_t judge_shelf_descriptors(const judge_shelf *s);               /* that are open          */
judge_shelf_file *judge_shelf_find(judge_shelf *s, const char *name); /* NULL: none */

#endif

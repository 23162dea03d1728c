/* SPDX-License-Identifier: Apache-2.0
 *
 * conform_device.h - one suite for the calls that go over a whole table of any design, on a fake device: hd_save,
 * hd_load, hd_for_each, hd_check. tests/conform_device.c has what is the same for all designs.
 * tests/designs/NAME_device.c has the data of a design, and the tests that only this design needs.
 */
#ifndef CONFORM_DEVICE_H
#define CONFORM_DEVICE_H

#include "lib/backend_cuda.h"
#include "lib/cuda_state.h"
#include "lib/table.h"
#include "tests/device_tables.h"

typedef unsigned long long ull;

/* Tables of which one is twice as large as the other: no call takes more host memory for the larger one. */
typedef struct device_large {
    hd_config (*config)(uint64_t times);
    hd_staging_sizes parts;
    uint64_t more, in_files; /* but for so many bytes: memory_is_bounded */
} device_large;

typedef struct device_design {
    size_t shapes;
    const char *(*name)(size_t shape);
    hd_config (*config)(size_t shape);
    uint64_t part;                             /* bytes of the parts in which a table is copied */
    void (*opened)(hd_table *t, size_t shape); /* NULL: the table is as it should be            */
    /* Inserts n entries, some twice, and erases some of them. Default: fill_dictionary */
    void (*fill)(hd_table *t, uint64_t n, uint64_t seed);
    uint64_t full;     /* eighths of its places: so many entries fill it, or nearly */
    uint64_t grows_by; /* buckets; 0: it does not */
    size_t growths;    /* shapes more, with which growth alone is tried: the last in memory that cannot grow */
    bool roams;        /* an entry may be in another slot after a load */
    uint64_t stride;   /* one in so many calls of the device fails; in long runs one in an eighth */
    void (*loaded)(bench *saved,
                   bench *other); /* what is to be seen of a table that was loaded besides. NULL: nothing */
    /* For hd_check. Changes some bytes of the device's memory, at random; so many times to each of the tables */
    void (*damage)(bench *b, uint64_t *random);
    int damages;
    uint64_t tables;
    void (*more)(hd_table *t); /* what every other table has besides. NULL: nothing */
    size_t rule_at;            /* the digit in a message that is the rule's number */
    unsigned rules;            /* that are broken: bits */
    const device_large *large; /* NULL: not tried */
    const struct CMUnitTest *tests;
    size_t tests_n;
} device_design;

extern const device_design device_this; /* the program's design */

/* Opens a table of the shape on a fake device. */
void device_open(bench *b, size_t shape);
/* Inserts into it so many parts of 24 of what fills it. */
void device_fill(hd_table *t, uint64_t parts, uint64_t seed);
/* A table on a backend of this machine, with what a file has. */
hd_table *device_open_here(const char *backend, hd_config c, const char *path);

enum { DEVICE_FEW = 1, DEVICE_HALF = 12, DEVICE_FULL = 24 };

#endif

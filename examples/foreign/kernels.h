/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.h - what judge.c launches.
 */
#ifndef FOREIGN_KERNELS_H
#define FOREIGN_KERNELS_H

typedef struct table_args {
    void *table; /* (mask + 1) entries of two words */
    unsigned mask;
    const unsigned *key;
    unsigned *value;
    unsigned n, *placed;
} table_args;

void get_or_insert_run(const void *args);
void get_or_insert_at_once_run(const void *args);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * lives.h - lives of tables with files (judge/life.h) in tests: their shapes, and calls that must go well.
 */
#ifndef LIVES_H
#define LIVES_H

#include <string.h>

#include "judge/life.h"
#include "tests/fake_device.h"

enum { LIFE_CHANGES = 40 /* of a usual life */, LIFE_SHAPES = 9, LIFE_PROCESS_SHAPES = 5 };

/* lives_init() comes first, in main: it makes them complete. */
extern shape life_shapes[LIFE_SHAPES], life_process_shapes[LIFE_PROCESS_SHAPES];
extern fake_device life_device;
void lives_init(void);
/* A member that is 0 has what is usual for the design (test_usual); tables on backend cuda are on life_device. */
void lives_complete(shape *s, size_t n);

hd_table *life_open(const life *l, const char *backend, cuts *c);
/* A new life, of a table in a file that is new. */
hd_table *life_start(life *l, cuts *c, const shape *s, const char *backend, uint64_t seed);
/* Nothing is wrong with the table; how many changes it has. */
uint64_t life_compare(const life *l, hd_table *t, uint64_t promised);
/* free(copy.bytes). */
cuts_file life_copy(const cuts_file *f);

#endif

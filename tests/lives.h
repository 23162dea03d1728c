/* SPDX-License-Identifier: Apache-2.0
 *
 * lives.h - tables with files that live: changes whose results are known, cuts and failures at any time, and what is
 * left compared with what was promised.
 */
#ifndef LIVES_H
#define LIVES_H

#include "lib/journal.h"
#include "lib/table.h"
#include "tests/cuts.h"
#include "tests/fake_device.h"

enum { KEYS = 96, WIDE = 1024 /* bytes of the largest value */, LIFE_MOST = 1600, ABSENT = -1 };

/* By key: its value, or ABSENT. */
typedef struct world {
    int64_t value[KEYS];
} world;

typedef struct shape {
    const char *name;
    hd_config config;
} shape;

/* What a table has had. Every change has a number, from 1, and `after` is what was there then. */
typedef struct life {
    const shape *of;
    const char *backend;
    world after[LIFE_MOST + 1];
    uint64_t changes, promised;
    uint64_t random;
    hd_status failed;         /* the first call that did */
    _Atomic uint64_t *shared; /* what is promised, for another process; NULL: none asks */
} life;

/* Of files that were left. */
typedef struct trial {
    const life *had;
    uint64_t random;
    uint64_t promised, number; /* of the file that was left; changes that its recovery found */
    uint64_t tried, again;     /* files; of these, left by a recovery that was cut */
    bool expects;              /* something wrong, which is counted */
    uint64_t wrong;
} trial;

extern fake_device life_device;

bool life_is_in_process(const shape *s);
/* seams NULL: those of the operating system, whose files count as if they were in memory. */
hd_config life_config(const shape *s, const char *backend, hd_seams *seams);
void life_look(hd_table *t, world *w);
/* Different keys, so that their order does not matter. A batch that could not be made durable has run. */
hd_status life_batch(life *l, hd_table *t, world *w);
/* All values change by hd_for_each; a kill during that may leave half a value, so in mode process it is a batch. */
hd_status life_flip(life *l, hd_table *t, world *w, uint32_t bytes);

void life_begin(life *l, const shape *s, const char *backend, uint64_t seed);
/* So many changes, or until one fails, or the process dies. After a failure the change is there, too, for every reader;
 * whether the file has it is open. */
void life_live(life *l, hd_table *t, cuts *c, uint64_t changes);
hd_table *life_open(const life *l, const char *backend, cuts *c);
/* The process is killed: nothing is written from then on. */
void life_kill(cuts *c, hd_table *t);
/* How many changes the table has; what it has is what was there after these, and they are no fewer than `promised`. */
uint64_t life_compare(const life *l, hd_table *t, uint64_t promised);
hd_superblock life_superblock(const cuts_file *f);

/* A cuts_try of a trial. What one backend has left another one opens. Some recoveries are cut, too. */
void life_try(void *context, const cuts_file *left, uint64_t mark);
/* A life of each shape that is closed and opened once, with a cut at any time. */
void life_cut(const shape *shapes, size_t n, const char *backend, uint64_t changes);
/* Each call of the seam fails once in a life. */
void life_fail(const shape *shapes, size_t n);

#endif

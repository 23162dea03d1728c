/* SPDX-License-Identifier: Apache-2.0
 *
 * life.h - the life of a table with a file: changes that are drawn, what the table has after each of them, and how many
 * of them it has promised to keep. A judge cuts the power, kills or breaks something, and compares what opens then.
 */
#ifndef HD_JUDGE_LIFE_H
#define HD_JUDGE_LIFE_H

#include <stdatomic.h>

#include "judge/cuts.h"
#include "lib/image.h"

enum {
    LIFE_KEYS = 96,
    LIFE_WIDE = 1024, /* bytes of the widest value */
    LIFE_MOST = 1600, /* changes */
    LIFE_ABSENT = -1
};

/* By key: its value, or LIFE_ABSENT. */
typedef struct world {
    int64_t value[LIFE_KEYS];
} world;

typedef struct shape {
    const char *name;
    hd_config config;
    const hd_device_seam *device; /* of tables on backend cuda; NULL: this machine's */
    bool churns;                  /* most batches take more cells than are free at their beginning */
} shape;

static inline bool life_in_process(const shape *s) { return s->config.durable == HD_DURABLE_PROCESS; }

/* What a table has had. Every change has a number, from 1, and `after` is what was there then. */
typedef struct life {
    const shape *of;
    const char *backend;
    world after[LIFE_MOST + 1];
    uint64_t buckets[LIFE_MOST + 1]; /* likewise */
    uint64_t changes, promised;
    hd_rng random;
    hd_status failed;         /* the first call that did */
    _Atomic uint64_t *shared; /* what is promised, for another process; NULL: none asks */
} life;

/* seams NULL: those of the operating system, whose files count as if they were in memory. */
hd_config life_config(const shape *s, const char *backend, hd_seams *seams);
hd_status life_look(hd_table *t, world *w);

void life_begin(life *l, const shape *s, const char *backend, uint64_t seed);
hd_status life_table(const life *l, const char *backend, cuts *c, hd_table **t);
/* One change, of which *w is told: a batch; each value. */
hd_status life_batch(life *l, hd_table *t, world *w);
hd_status life_flip(life *l, hd_table *t, world *w, uint32_t value_bytes);
/* Changes until one fails, or the process dies. c: where they are marked, NULL: nowhere. */
void life_live(life *l, hd_table *t, cuts *c, uint64_t changes);
/* The process is killed: nothing is written from then on. */
void life_kill(cuts *c, hd_table *t);
/* "", or what is wrong with the table. What it has must be what was there after *is changes, and these are no fewer
 * than `promised`. */
const char *life_wrong(const life *l, hd_table *t, uint64_t promised, uint64_t *is);

/* The superblock that counts. */
hd_superblock life_superblock(const uint8_t *file);

#endif

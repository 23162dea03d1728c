/* SPDX-License-Identifier: Apache-2.0
 *
 * points.h - `heddle bench --backend NAME`: which points are wanted, one after the other.
 */
#ifndef HD_POINTS_H
#define HD_POINTS_H

#include "bench/device/goals.h"
#include "tools/tool.h"

enum { POINTS_LIST = 16 };

typedef struct points_options {
    const char *backend;
    const char *const *save; /* (saves) files */
    int saves;
    uint64_t repeat;     /* 0: the usual  */
    const char *command; /* as it can be typed again */
} points_options;

/* What the words ask for. An empty list stands for what the design's table of goals has. */
typedef struct points_wish {
    const char *design, *backend;
    const bench_goals *goals;
    hd_op op[POINTS_LIST];
    double hits[POINTS_LIST], load[POINTS_LIST], zipf[POINTS_LIST]; /* zipf 0: distinct keys */
    uint64_t dim[POINTS_LIST], capacity[POINTS_LIST], batch[POINTS_LIST], bulk[POINTS_LIST], slots[POINTS_LIST],
        hashes[POINTS_LIST], spares[POINTS_LIST], dual[POINTS_LIST];
    hd_layout layout[POINTS_LIST];
    hd_tiers tiers[POINTS_LIST];
    hd_fetch fetch[POINTS_LIST];
    double near[POINTS_LIST];
    const char *variant[POINTS_LIST]; /* NULL: the table's choice */
    const char *hash[POINTS_LIST];    /* NULL: the usual          */
    int ops, hit_shares, loads, zipfs, dims, capacities, batches, bulks, slot_numbers, hash_numbers, spare_numbers,
        hash_names, duals, layouts, tierings, fetches, nears, variants;
    bool as_goals; /* neither batch nor bulk was asked for: rows have the calls of their goals */
    bool all_variants, limits_only;
    bench_effort effort;
    char text[4096]; /* what variant[] points into */
} points_wish;

/* Of hd_layout and hd_fetch, by number; then NULL. */
extern const char *const points_layout_names[], *const points_fetch_names[];

/* Reads the words of the command line; TOOL_OK, or it was said which is wrong. */
int points_wish_read(points_wish *w, const char *backend, char **word, int words);

/* Where tables of a backend are measured; NULL: not in this build. */
const bench_device *bench_device_for(const char *backend);

int points_run(tool_line *line, const points_options *o);

#endif

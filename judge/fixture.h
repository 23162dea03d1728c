/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.h - a small test case for kernels on the simulator: a table that is partly or completely full, and one batch,
 * or two that run at the same time. Everything is drawn from a case string, so the string reproduces the fixture:
 *
 *     hkv.insert_or_assign.tlpv1 policy=lfu buckets=2 slots=4 batch=8x1 keys=uniform:12 pins=3 seed=5
 *
 * Fixtures are drawn to provoke faults: most buckets are full or have one free slot, keys are repeated, some keys are
 * reserved. Designs add their own difficulties: the batch wants the keys with the lowest scores, some scores are 0 or
 * 2^64 - 1, some keys are pinned.
 *
 * A fixture knows memory, regions with guards between them, batches and launches. The design's port (judge/design.h)
 * knows the table.
 */
#ifndef HD_JUDGE_FIXTURE_H
#define HD_JUDGE_FIXTURE_H

#include "judge/arrays.h"
#include "workload/case.h"
#include "simt/machine.h"

enum { FIXTURE_PARTS = 2, FIXTURE_REGIONS = 64 };

struct judge_design;

/* How strictly the results of a kernel can be judged. */
typedef enum fixture_strictness {
    FIXTURE_EXACT,  /* the reference's result in item order */
    FIXTURE_ORDER,  /* the reference's result in the order of the tickets */
    FIXTURE_CHOICE, /* the same, but the choice between two buckets may be outdated */
    FIXTURE_SET,    /* the same entries in every bucket at the end */
    FIXTURE_SHAPE   /* invariants; no key and no value that no item accounts for; nothing else touched */
} fixture_strictness;

/* What runs a batch. */
typedef struct fixture_kernel {
    const char *name;
    fixture_strictness strictness;
    /* Queues the launches of a batch on one stream. args: the part's. NULL: by the design's host (port_hosted.h). */
    hd_status (*queue)(const struct fixture_kernel *k, simt_machine *m, const void *args, uint32_t stream);
    void (*text)(const void *args); /* launched in place of the row's kernels; NULL: those */
    uint32_t lanes;                 /* lanes that work together on an item or on a group of items */
    /* at most so many threads of a block and blocks; 0: as the row says, 8 */
    uint32_t threads, blocks;
    uint32_t row;    /* of its design                                                              */
    uint64_t window; /* lists are made for so many items at a time; 0: for all of a batch          */
    /* The table grows to so many buckets and runs no batch, or then_runs it: for crash_trial. 0: it does not grow */
    uint64_t grows_to;
    bool then_runs;
} fixture_kernel;

typedef struct fixture_part {
    const fixture_kernel *kernel;
    hd_batch batch;
    judge_arrays arrays;
    void *args;      /* (fixture_args_size): what kernels are given, and what the design has besides */
    uint64_t *tally; /* (HD_OUTCOME_COUNT), device memory */
    /* (HD_OP_COUNT_), device memory: where the kernels count the operations of a mixed batch; NULL: they do not */
    uint64_t *op_tally;
} fixture_part;

typedef struct fixture_region {
    const char *name;
    size_t at, bytes;
    bool of_host;    /* a piece of the design's hd_gpu: port_hosted.c makes it known to machines */
    bool persistent; /* a crash leaves something of it */
} fixture_region;

/* A region of the table's memory: its address is stored in the table at byte `at`. */
typedef struct judge_memory {
    const char *name;
    size_t at;
    uint64_t bytes;
    int byte; /* that an empty table is filled with; HD_AS_IT_COMES: nothing */
} judge_memory;
enum { JUDGE_MEMORY_MOST = 48 };

typedef struct fixture {
    const struct judge_design *design;
    hd_case c[FIXTURE_PARTS];
    uint32_t parts, value_bytes;
    uint64_t keys; /* the table can hold those below this */
    fixture_part part[FIXTURE_PARTS];
    void *table;     /* (fixture_table_size): the table as its design knows it, over `memory` */
    void *reference; /* for port_hosted.c: a state of the design's reference; NULL: the port brings its own */
    uint64_t clock;  /* of part 0; part 1 begins where that ends */
    uint32_t epoch;
    hd_elem elem; /* of every batch that has values: judge_summable */
    bool has_elem;
    uint8_t *memory;           /* (bytes) all device memory but the batches' arrays ... */
    uint8_t *initial;          /* (bytes) ... and its contents before every run */
    size_t bytes, table_bytes; /* the table comes first: all that one batch leaves to the next */
    /* The table's regions: the port's, then those of the design's hd_gpu. */
    judge_memory table_memory[JUDGE_MEMORY_MOST];
    uint32_t table_memories, growth_memories; /* the last ones are those that growth brings */
    uint32_t growth_launches;                 /* of the last run */
    fixture_region region[FIXTURE_REGIONS];
    uint32_t regions, laid; /* laid: how many fixture_room has given out */
} fixture;

/* Makes the fixture of c[0 .. parts - 1]; the table is c[0]'s. The kernels stay the caller's until fixture_close().
 * HD_EINVAL: there is no such fixture. */
hd_status fixture_open(const hd_case *c, const fixture_kernel *const *kernel, uint32_t parts, fixture **s);
void fixture_close(fixture *s); /* NULL is fine */

/* "find"; "mixed", which is JUDGE_MIXED. */
const char *fixture_op_name(hd_op op);
bool fixture_op_named(const char *name, hd_op *op); /* false: no batch has such a name */

/* Changes item i of a part, before the first run. */
void fixture_item(fixture *s, uint32_t part, uint64_t i, uint64_t key, uint64_t score);
/* Call it after any other change of a part's batch. */
void fixture_changed(fixture *s, uint32_t part);

/* ---- Batch after batch (judge/fixture_batches.c) ------------------------------------------------------- */

/* An empty table of c[0]'s shape, for batches of at most c->batch items that come one after another. */
hd_status fixture_open_empty(const hd_case *c, fixture **s);
/* The next batch: op by k on n keys, which become fewer where the case wants them distinct. Values, and scores where
 * the table needs them, are drawn. Operations on the whole table take no keys. HD_EINVAL: the table cannot run it. */
hd_status fixture_batch(fixture *s, const fixture_kernel *k, hd_op op, const uint64_t *key, uint64_t n);
/* Runs the batch by the reference, on s->table, in item order. fixture_begin goes on from the result. */
void fixture_reference(fixture *s);
/* Runs begin from now on with the table of `memory` (s->memory or a copy of it) and with this clock. */
void fixture_begin(fixture *s, const uint8_t *memory, uint64_t clock);
/* Resizes the table by the reference, between batches; runs then begin with the result. HD_EINVAL: it cannot. */
hd_status fixture_resize(fixture *s, uint64_t buckets);

/* Prepares a run: resets memory, announces the regions, queues the launches. */
hd_status fixture_prepare(fixture *s, simt_machine *m);

/* NULL, or the region whose guards were written. */
const char *fixture_guards(const fixture *s);

/* ---- Two tables of one shape (judge/draw.c) -------------------------------------------------- */

uint64_t fixture_places(const struct judge_design *d, const void *v);              /* of the table */
uint64_t fixture_entries(const struct judge_design *d, const void *v, uint64_t b); /* in bucket b  */
bool fixture_bucket_differs(const struct judge_design *d, const void *v, const void *w, uint64_t b);
uint64_t fixture_buckets_differ(const fixture *s, const fixture *t); /* of two fixtures' tables */
/* "bucket 1, slot 3"; returns text */
const char *fixture_place(const struct judge_design *d, const void *v, uint64_t e, char *text, size_t bytes);
/* "bucket 1" */
const char *fixture_bucket(const struct judge_design *d, const void *v, uint64_t b, char *text, size_t bytes);
/* The buckets that differ, side by side; text as snprintf. */
size_t fixture_draw(const struct judge_design *d, const void *v, const char *v_name, const void *w, const char *w_name,
                    char *text, size_t bytes);

#endif

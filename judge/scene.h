/* SPDX-License-Identifier: Apache-2.0
 *
 * scene.h - a small situation for kernels on the host machine: a table that is partly or wholly full, and one batch of items that
 * meet in it, or two that run at the same time. All of it is drawn from a case string, so the string is the situation:
 *
 *     hkv.insert_or_assign.tlpv1 policy=lfu buckets=2 slots=4 batch=8x1 keys=uniform:12 pins=3 seed=5
 *
 * What is drawn is what goes wrong in caches: most buckets are full or have one slot left, the keys that the batch wants are the
 * ones with the least scores, keys come twice, some scores are 0 or 2^64 - 1, some keys are pinned, some are reserved.
 */
#ifndef HD_JUDGE_SCENE_H
#define HD_JUDGE_SCENE_H

#include "gpu/hkv/args.h"
#include "judge/arrays.h"
#include "lib/case.h"
#include "simt/machine.h"

enum { SCENE_PARTS = 2, SCENE_REGIONS = 48 };

/* How exactly a kernel can be held to what the reference says. */
typedef enum scene_strictness {
    SCENE_EXACT, /* as the reference in item order                                                        */
    SCENE_ORDER, /* as the reference in the order of the tickets                                          */
    SCENE_CHOICE, /* the same, but where either of two buckets may take a key, the choice may be a moment old */
    SCENE_SET,   /* at the end the same entries in every bucket as the reference's in item order          */
    SCENE_SHAPE  /* invariants, conservation, nothing touched that is none of its business                */
} scene_strictness;

/* What runs a batch. */
typedef struct scene_kernel {
    const char *name;
    scene_strictness strictness;
    /* Queues the launches of batch a, on one stream. */
    hd_status (*queue)(const struct scene_kernel *k, simt_machine *m, const hkv_args *a, uint32_t stream);
    /* For scene_queue: one launch of `text`, `lanes` to an item, blocks of `threads`. For judge/kernels.c: a row, and limits. */
    void (*text)(const void *args);
    uint32_t lanes, threads, blocks;
    const void *row;
} scene_kernel;

hd_status scene_queue(const scene_kernel *k, simt_machine *m, const hkv_args *a, uint32_t stream);

typedef struct scene_part {
    const scene_kernel *kernel;
    hd_batch batch;
    judge_arrays arrays;
    hkv_args args;
    uint64_t *tally;     /* (HD_OUTCOME_COUNT), device memory */
    uint8_t *stage_flag; /* (n), device memory                */
    uint64_t *fetch_entry; /* (n), device memory; NULL: far values are read as they come */
} scene_part;

typedef struct scene_region {
    const char *name;
    size_t at, bytes;
} scene_region;

typedef struct scene {
    hd_case c[SCENE_PARTS];
    uint32_t parts;
    scene_part part[SCENE_PARTS];
    hkv_view v;         /* as kernels see it */
    uint32_t *lock, *pin_lock, *pins;
    uint64_t clock;     /* of part 0; part 1 begins where that ends */
    uint32_t epoch;
    uint8_t *memory;    /* (bytes) all that kernels see but the batches' arrays ... */
    uint8_t *initial;   /* (bytes) ... and as it is before every run; guards lie between the regions */
    size_t bytes, table_bytes; /* the table is first */
    scene_region region[SCENE_REGIONS];
    uint32_t regions;
} scene;

/* The situation that c[0 .. parts - 1] describe: the table is c[0]'s. HD_EINVAL for what cannot be a scene. */
hd_status scene_open(const hd_case *c, const scene_kernel *const *kernel, uint32_t parts, scene **s);
void scene_close(scene *s); /* NULL is fine */

/* Changes item i of a part, before the first run; for those who want a certain one. */
void scene_item(scene *s, uint32_t part, uint64_t i, uint64_t key, uint64_t score);

/* ---- Batch after batch (judge/turns.c) ---- */

/* An empty table of c[0]'s shape, for batches of at most c->batch items that come one after another. */
hd_status scene_open_empty(const hd_case *c, scene **s);
/* The next batch: op by k on n keys, which become fewer where the case wants them distinct. Values, and scores where the policy
 * needs them, are drawn. Operations on the whole table take no keys. HD_EINVAL: the table cannot run it. */
hd_status scene_batch(scene *s, const scene_kernel *k, hd_op op, const uint64_t *key, uint64_t n);
/* The batch, by the reference: on s->v, in item order. For the next, go on from where this one ends: scene_begin. */
void scene_reference(scene *s);
/* What runs begin with from now on: table, locks and pins of `memory`, which is s->memory or was copied from it, and the clock. */
void scene_begin(scene *s, const uint8_t *memory, uint64_t clock);

/* Before a run: memory as it was, regions, launches. */
hd_status scene_prepare(scene *s, simt_machine *m);

/* A view of the same table over other memory, of table_bytes. */
hkv_view scene_view(const scene *s, uint8_t *memory);

/* ---- Two tables of one shape (judge/draw.c) ---- */

uint64_t scene_entries(const hkv_view *v, uint64_t b); /* in bucket b */
/* NULL when entry e of v is in the same bucket of w, with the same value and score; else a sentence up to the name of w. */
const char *scene_entry_differs(const hkv_view *v, const hkv_view *w, uint64_t e);
bool scene_bucket_differs(const hkv_view *v, const hkv_view *w, uint64_t b);
/* The buckets that differ, side by side; text as snprintf. */
size_t scene_draw(const hkv_view *v, const char *v_name, const hkv_view *w, const char *w_name, char *text, size_t bytes);

/* NULL, or the region beside which something was written. */
const char *scene_guards(const scene *s);

#endif

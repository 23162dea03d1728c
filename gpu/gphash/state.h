/* SPDX-License-Identifier: Apache-2.0
 *
 * state.h - GPHash's part of a table's state on the backends: for launch.c, memory.c and the judge's port.
 */
#ifndef HD_GPHASH_STATE_H
#define HD_GPHASH_STATE_H

#include "base/backend.h"
#include "concurrency/word.h"
#include "gpu/gphash/args.h"
#include "gpu/gphash/pages.h"
#include "gpu/launches.h"
#include "gpu/sort_launch.h"

/* Words that kernels count in. */
typedef struct gphash_words {
    uint64_t tally[HD_OUTCOME_COUNT], op[HD_OP_COUNT_];
    uint64_t head, tail;       /* of the ring of free cells */
    uint64_t fetched, ordered; /* gphash_args.fetched, .ordered */
    uint64_t sum;              /* hd_gpu_state.sum            */
    uint64_t cleared, wrong;   /* gphash_recover_args   */
    gphash_cache_words cache;
    hd_word word; /* of the batch lock group3  */
} gphash_words;

/* Whether far arrays may have changed and gphash_state.page does not say where: no; since it was read last; at any
 * time, because the caller has pointers to values, or a launch has failed. */
typedef enum gphash_unmarked { GPHASH_NOTHING, GPHASH_ONCE, GPHASH_ALWAYS } gphash_unmarked;

/* Pointers are the machine's. */
typedef struct gphash_state {
    hd_gpu_state gpu;
    gphash_view v;                   /* on the host machine the reference's, as a batch finds it */
    gphash_level far[GPHASH_LEVELS]; /* with a near index: the slots that last, and v has the copy */
    /* (gphash_notes) gphash_args.changed and order, and room to sort; NULL where the table does without. */
    uint64_t *changed, *order, *unsorted;
    uint32_t *count;           /* (gpu_sort_counts) */
    uint8_t *page, *next_page; /* with a near index: gphash_args.page; of a table that grows */
    gphash_unmarked unmarked;
    bool marks; /* pages are marked, since they were asked for once */
    gphash_words *words;
    gphash_cache cache;  /* but for `sample` */
    uint32_t batches;    /* so far: each has another sample of lookups */
    uint32_t *guard;     /* (GPHASH_GUARDS) */
    uint32_t *next_free; /* the ring, marks and units of a table that grows */
    uint64_t *next_mark;
    uint32_t *next_copy_of, *next_heat;
    gpu_batch kept; /* gphash_args.b, with the scratch of lists */
} gphash_state;

/* memory.c: members of gphash_gpu; and the arrays that growth brings, whose addresses are those of a table with a level
 * more. How many. */
int gphash_memory(const void *state, hd_memory *all);
enum { GPHASH_GROWTH_ARRAYS = 10 };
int gphash_growth_memory(const gphash_state *o, hd_memory *all);
int gphash_level_memory(const gphash_state *o, uint32_t level, hd_memory *all);
int gphash_ring_memory(const gphash_state *o, hd_memory *all);
int gphash_marks_memory(const gphash_state *o, hd_memory *all); /* o->next_mark, of a recovery on a device */
static inline bool gphash_is_near(const gphash_state *o) { return o->gpu.info.gphash.index == HD_INDEX_NEAR; }
/* Items of a window that notes something. */
static inline uint64_t gphash_notes(const gphash_state *o)
{
    uint64_t most = gphash_window_then(&o->v, 0);
    return o->gpu.window_most && o->gpu.window_most < most ? o->gpu.window_most : most;
}
static inline uint32_t gphash_sort_shares(const gphash_state *o)
{
    return gpu_sort_shares(gphash_notes(o), GPU_SORT_SHARES_MOST);
}
/* The slots that last. */
static inline const gphash_level *gphash_lasting(const gphash_state *o)
{
    return gphash_is_near(o) ? o->far : o->v.level;
}
/* The reference's view of the table: without the near index. */
gphash_view gphash_view_that_lasts(const gphash_state *o);
/* On the host machine: fills the copy of a unit; the first unit whose copy is another one, GPHASH_NOWHERE: none. drop:
 * all such units lose theirs. */
void gphash_make_copy(const gphash_state *o, uint64_t unit);
uint64_t gphash_wrong_copy(const gphash_state *o, bool drop);
/* The near index becomes the far slots, or the reverse; in this machine's memory. */
void gphash_copy_slots(const gphash_view *v, const gphash_level *to, const gphash_level *from);
void gphash_begin_table(void *state);
void gphash_taken(void *state);
void *gphash_view_of_state(void *entries);
void gphash_before_batch(void *state, void *entries);
void gphash_after_batch(void *state, void *entries, bool good);
hd_status gphash_shape_there(const hd_config *c, hd_info *info, bool device);
hd_status gphash_open_here(const void *state, const hd_seams *s, void **staged);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * state.h - the inside of the host machine. A file uses those below it, and none above:
 *
 *   observers.c   the machine with all its observers, of which each is one file that uses observer.h:
 *     meter.c       sectors and lines per warp instruction
 *     bounds.c      regions, shared arrays, initialisation
 *     race.c        happens-before by vector clocks
 *     trace.c       what every lane did, as events
 *     weak.c        store buffers and older values, by race.c's clocks
 *     persist.c     stores to persistent memory that a crash may lose
 *   machine.c     open, launch, run: blocks come and go, lanes start and end
 *   collective.c  ballots, shuffles, reductions, barriers
 *   memory.c      loads, stores, read-modify-writes, async copies: the order in which checks happen
 *   raw.c         C accesses that go around the dialect, in a build that tells of them
 *   space.c       regions of device memory, arrays of shared memory
 *   schedule.c    every decision, and the five strategies that make it; schedule_text.c: schedules as text
 *   list.c        arrays and hash tables on the machine's memory seam
 *   finding.c     what a failure says
 *   fiber.c       stacks, and the switch between them
 *
 * A lane runs until it *stops*: at an access that may be preempted, a collective that is not complete, a barrier, a
 * backoff, its end. Then the machine decides which lane runs next. The lane that stops does this if a switch is all
 * there is to do; otherwise the hub does it, on the thread's own stack.
 */
#ifndef HD_SIMT_STATE_H
#define HD_SIMT_STATE_H

#include "simt/fiber.h"
#include "simt/machine.h"
#include "simt/simt.h"

enum {
    STACK_BYTES = 64 << 10,
    COPIES = 64,
    SHARED_ARRAYS = 16,
    REGIONS = 160, /* of a table that has grown many times, and a batch's arrays */
    PAGE = 4096,
    PAGES = 64,
    WARP_LANES = 32,
    OBSERVERS = 8,
    SPINS_FAIR = 512 /* accesses in a row without a stop, after which a lane lets others run */
};

/* A growing array on the machine's memory seam. */
typedef struct vec {
    void *p;
    size_t n, places, size; /* elements, room, bytes of one */
} vec;

typedef struct pending_copy {
    uint8_t *shared;
    const uint8_t *global;
    uint32_t group;
    bool done;
} pending_copy;

struct warp;
struct block;

/* What a switch needs is in its first 64 bytes: lanes run in any order, and each is a miss of the first cache. */
typedef struct lane {
    _Alignas(64) simt_ids ids;
    uint32_t number;  /* in the machine: slot order */
    const char *site; /* of its last operation: where it stopped */
    struct warp *warp;
    uint32_t spins;
    uint32_t held; /* effects of it that observers hold back */
    hd_fiber fiber;
    /* collectives */
    simt_collective_op op;
    uint32_t mask;
    pending_copy *copies;
    uint32_t copies_n, copy_group;
} lane;

/* A collective that lanes have come to, as long as some of them wait. */
typedef struct gathering {
    const char *site;
    simt_collective_op op;
    uint32_t mask, come; /* bits of lanes */
} gathering;

typedef struct warp {
    lane *member[WARP_LANES];
    struct block *block;
    uint32_t alive, ready, waiting, at_barrier, yielding; /* bits of lanes; waiting: in a collective */
    uint32_t candidates, candidates_n; /* the lanes that the scheduler may choose among ready and yielding ones
                                        * (schedule_ready) */
    int64_t priority, lane_priority[WARP_LANES];
    uint32_t best; /* of the candidates the lane with the highest priority, if it is known */
    bool best_known;
    uint32_t number;
    const char *site[WARP_LANES]; /* where each lane stopped, and before which kind of access; 0: before none */
    uint32_t stop_kind[WARP_LANES];
    gathering at[WARP_LANES];                       /* by the lowest lane of its mask */
    uint64_t given[WARP_LANES], result[WARP_LANES]; /* by lane, of its last collective */
    uint32_t arg[WARP_LANES];
    uint64_t begun[WARP_LANES]; /* the item that each lane started last, if has_begun has its bit */
    uint32_t has_begun;
} warp;

typedef struct shared_array {
    const char *site, *name;
    size_t offset, bytes;
} shared_array;

/* Of a byte of shared memory. */
enum { BYTE_UNWRITTEN, BYTE_WRITTEN, BYTE_IN_FLIGHT };

typedef struct launch {
    void (*kernel)(const void *);
    void *args;
    size_t args_bytes;
    uint32_t blocks, threads, stream;
    uint32_t started, ended; /* blocks */
} launch;

typedef struct block {
    launch *of;
    warp *warps; /* (warps_n), consecutive in the machine */
    uint32_t warps_n, number, alive, arrived;
    const char *barrier;
    uint8_t *shared, *written; /* (shared_bytes) */
    size_t shared_used;
    shared_array array[SHARED_ARRAYS];
    uint32_t arrays;
} block;

typedef struct region {
    uint8_t *p;
    size_t bytes;
    const char *name;
    bool far; /* behind the bus */
    bool persistent;
} region;

/* simt_machine_persisted(), at the end of a launch. */
typedef struct persisted_range {
    size_t launch; /* number in the queue */
    const void *p;
    size_t bytes;
} persisted_range;

/* Open addressing over 64-bit keys, emptied by a new generation. The element begins with these two. */
typedef struct slot_head {
    uint64_t key;
    uint64_t generation;
} slot_head;

typedef struct table {
    uint8_t *p;
    size_t places, size, n; /* places: a power of two */
} table;

/* An observer with its state. */
struct simt_observer;
typedef struct watcher {
    const struct simt_observer *observer;
    void *self;
} watcher;

/* simt_owns(): item `item` of a stream has place b. */
typedef struct place_owner {
    uint64_t b, item;
    uint32_t stream;
} place_owner;

struct simt_machine {
    hd_seams seams;
    size_t state_bytes;           /* of the machine with the states of its observers */
    watcher observers[OBSERVERS]; /* (observers_n) all that there are */
    watcher watching[OBSERVERS];  /* (watching_n) those of this run   */
    uint32_t observers_n, watching_n;
    /* Of those the ones with the hook, and one whose observer is NULL: an access is the most frequent event. */
    watcher on_access[OBSERVERS + 1], on_load[OBSERVERS + 1], on_store[OBSERVERS + 1], on_done[OBSERVERS + 1];
    simt_config config;
    simt_finding finding;
    simt_totals totals;
    hd_fiber hub;
    const void *thread; /* that ran it last */
    lane *now;

    region memory[REGIONS];
    uint32_t regions;
    const region *last_region[PAGES]; /* by page */
    vec launches;                     /* launch */
    vec persisted;                    /* persisted_range */
    uint64_t forgotten;               /* how often regions and launches were forgotten */

    lane *lanes;
    warp *warps;
    block *blocks;
    uint32_t lanes_n, warps_n, blocks_n, warps_per_block;
    char *stacks;
    size_t stacks_bytes;
    uint8_t *shared;
    size_t shared_bytes;
    uint8_t *lane_memory;
    size_t lane_memory_bytes;
    uint32_t running; /* blocks that are resident */

    uint64_t random;   /* decisions draw on it; a replay draws none */
    uint64_t decision; /* number of the next one */
    vec schedule;      /* simt_decision: those that were not 0 */
    size_t replayed;
    vec tape; /* search: choice and number of choices per decision */
    uint32_t preemptions;
    bool patient; /* lanes that back off yield until all other lanes have run, where chance would not do that */
    uint32_t lanes_open, warps_open; /* how many candidates, and warps with some */
    lane *last_lane;
    warp *last_warp;
    uint32_t last_lanes; /* of the last warp: the group that ran */
    uint32_t group_left; /* lanes of the group that runs in lock step, which have not run yet */
    int64_t low_priority;
    vec change_points; /* uint64_t */

    uint64_t generation; /* of the tables' elements: one a run */
    uint32_t held;       /* effects that observers hold back, of all lanes */
    bool wrote;          /* to memory since the watcher was called; true at the beginning of a run */
    vec tickets, starts, owners;
};

extern _Thread_local simt_machine *simt_current; /* the one that runs on this thread; finding.c */

#endif

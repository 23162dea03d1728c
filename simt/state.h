/* SPDX-License-Identifier: Apache-2.0
 *
 * state.h - the inside of the host machine.
 *
 *   machine.c     open, launch, run: blocks come and go, lanes start and end
 *   schedule.c    every decision, and the five strategies that make it
 *   collective.c  ballots, shuffles, reductions, barriers
 *   memory.c      loads, stores, read-modify-writes, async copies: the order in which checks happen
 *   bounds.c      regions, shared arrays, initialisation
 *   race.c        happens-before by vector clocks
 *   weak.c        store buffers and older values
 *   meter.c       sectors and lines per warp instruction
 *   raw.c         C accesses that go around the dialect, in a build that tells of them
 *   story.c       what a failure says
 *
 * A lane runs until it *stops*: at an access that may be preempted, a collective that is not complete, a barrier, a
 * backoff, its end. Then it is decided who runs next: by the lane that stops, where a switch is all there is to do,
 * else by the hub, on the thread's own stack.
 */
#ifndef HD_SIMT_STATE_H
#define HD_SIMT_STATE_H

#include "simt/fiber.h"
#include "simt/machine.h"
#include "simt/simt.h"

enum {
    STACK_BYTES = 64 << 10,
    STORE_BUFFER = 16,
    COPIES = 64,
    NESTING = 24,
    SHARED_ARRAYS = 16,
    REGIONS = 160, /* of a table that has grown many times, and a batch's arrays */
    PAGE = 4096,
    PAGES = 64,
    WARP_LANES = 32,
    CLOCKS_FRESH = 1024, /* lanes in one run that still have a clock each; more share them, and races may be missed */
    SPINS_FAIR = 512     /* accesses in a row without a stop, after which a lane lets others run */
};

/* A growing array on the machine's memory seam. */
typedef struct vec {
    void *p;
    size_t n, places, size; /* elements, room, bytes of one */
} vec;

typedef enum lane_state { LANE_GONE, LANE_READY, LANE_COLLECTIVE, LANE_BARRIER } lane_state;

/* A store that is not yet visible to others. */
typedef struct pending_store {
    _Alignas(16) uint8_t value[16];
    uint8_t *p;
    uint32_t bytes, kind;
    const char *site;
    bool ticketed;
    simt_ticket_record ticket;
} pending_store;

typedef struct pending_copy {
    uint8_t *shared;
    const uint8_t *global;
    uint32_t group;
    bool done;
} pending_copy;

/* One turn of a loop, told from line numbers: which line, how often in a row. */
typedef struct turn {
    uint64_t place; /* line and kind */
    uint32_t n;
} turn;

struct warp;
struct block;

/* What a switch needs is in its first 64 bytes: lanes run in any order, and each is a miss of the first cache. */
typedef struct lane {
    _Alignas(64) simt_ids ids;
    uint32_t number; /* in the machine: slot order */
    lane_state state;
    uint32_t stop_kind;
    const char *site; /* of its last operation: where it stopped */
    struct warp *warp;
    uint32_t spins;
    uint32_t clock; /* index of its own component */
    hd_fiber fiber;
    /* collectives */
    simt_collective_op op;
    uint32_t mask, arg;
    uint64_t given, result;
    /* scheduling */
    int64_t priority;
    /* memory order */
    uint32_t *known;    /* (width): its vector clock */
    uint32_t *acquired; /* (width): what relaxed loads saw, for a fence to come */
    uint32_t *fenced;   /* (width): known at its last fence, for relaxed stores to come */
    pending_store *stores;
    uint32_t stores_n;
    pending_copy *copies;
    uint32_t copies_n, copy_group;
    /* meter */
    turn turns[NESTING];
    uint32_t turns_n, joins;
} lane;

typedef struct warp {
    lane *member[WARP_LANES];
    struct block *block;
    uint32_t alive, ready, waiting, at_barrier, yielding; /* bits of lanes; waiting: in a collective */
    uint32_t candidates, candidates_n; /* whom the scheduler may choose: of ready and yielding, by schedule_ready */
    int64_t priority;
    uint32_t number;
    vec open; /* instruction: warp instructions that lanes may still join */
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
    /* (width): what its lanes know when they begin, and what they knew at their end: the next of the stream begins with
     * it */
    uint32_t *begun, *known;
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
} region;

/* Open addressing over 64-bit keys, emptied by a new generation. The element begins with these two. */
typedef struct slot_head {
    uint64_t key;
    uint64_t generation;
} slot_head;

typedef struct table {
    uint8_t *p;
    size_t places, size, n; /* places: a power of two */
} table;

struct simt_machine {
    hd_seams seams;
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

    uint64_t random, shadow_random; /* decisions draw on the one, the race detector on the other: a replay draws none */
    uint64_t decision;              /* number of the next one */
    vec schedule;                   /* simt_decision: those that were not 0 */
    size_t replayed;
    vec tape; /* search: choice and number of choices per decision */
    uint32_t preemptions;
    bool direct;  /* a lane that stops chooses the next itself, and switches to it */
    bool patient; /* lanes that back off make way, where chance would not see to it, until everybody has */
    uint32_t lanes_open, warps_open; /* how many candidates, and warps with some */
    lane *last_lane;
    warp *last_warp;
    uint32_t last_lanes; /* of the last warp: the group that ran */
    int64_t low_priority;
    vec change_points; /* uint64_t */

    uint64_t generation;
    uint32_t width, clocks; /* components of a vector clock; handed out */
    uint32_t *clock_memory;
    size_t clock_memory_n;
    uint32_t buffered; /* stores in all buffers */
    table shadow, syncs, pasts;
    vec sync_clocks; /* (width) uint32_t */

    vec tickets, events, starts, sites;
};

extern _Thread_local simt_machine *simt_current;

/* machine.c */
bool vec_push(simt_machine *m, vec *v, const void *element);
void vec_of(simt_machine *m, vec *v, size_t size);                    /* empties it, for elements of that size */
void *table_at(simt_machine *m, table *t, uint64_t key, bool create); /* NULL: absent, or no memory (a finding) */
void lane_stop(lane *l, const char *site, uint32_t kind); /* to the hub; returns when it is scheduled again */
_Noreturn void lane_hang(lane *l);                        /* after a finding: never scheduled again */
uint64_t machine_random(uint64_t *state);

/* schedule.c */
simt_strategy schedule_strategy(const simt_machine *m); /* the one that made the schedule, when it is replayed */
void schedule_begin(simt_machine *m);
uint32_t schedule_choose(simt_machine *m, uint32_t n); /* 0 <= answer < n, 0 the quiet one */
void schedule_run(simt_machine *m);
lane *schedule_next(simt_machine *m); /* by lane: whose turn it is; NULL: the hub's */
void schedule_backoff(simt_machine *m, lane *l);
/* these lanes of w are ready from now on, and no others */
void schedule_ready(simt_machine *m, warp *w, uint32_t lanes);

/* collective.c */

/* bounds.c */
block *block_of_shared(simt_machine *m, const void *p);
void bounds_check(simt_machine *m, const char *site, const void *p, uint32_t bytes, bool write);

/* race.c */
bool race_begin(simt_machine *m, uint64_t lanes);
void race_lane_begins(simt_machine *m, lane *l, const launch *of);
void race_lane_ends(simt_machine *m, const lane *l, launch *of);
void race_access(simt_machine *m, const char *site, const void *p, uint32_t bytes, bool write, bool atomic);
void race_forget(simt_machine *m, const uint8_t *p, size_t bytes); /* memory that begins anew */
void race_read(simt_machine *m, const void *p, bool acquire);
void race_write(simt_machine *m, const void *p, bool release, bool rmw);
void race_fence(simt_machine *m);
void race_join(simt_machine *m, lane *const *lanes, uint32_t n); /* a barrier: all know what each knew */

/* weak.c */
void weak_drain(simt_machine *m, lane *l);
void weak_drain_some(simt_machine *m);
bool weak_load(simt_machine *m, const void *p, uint32_t bytes, uint32_t kind, void *v);
void weak_store(simt_machine *m, const char *site, void *p, uint32_t bytes, uint32_t kind, const void *v);
void weak_before(simt_machine *m, const void *p, uint32_t bytes, bool release);
void weak_wrote(simt_machine *m, lane *l, const void *p, uint32_t bytes, uint64_t before, uint64_t after);
void weak_forget(simt_machine *m, const void *p);

/* meter.c */
void meter_access(simt_machine *m, const char *site, uint32_t kind, const void *p, uint32_t bytes);
void meter_close(simt_machine *m, warp *w);

/* story.c */
void found(simt_machine *m, simt_fault fault, const char *format, ...) __attribute__((format(printf, 3, 4)));
void found_more(simt_machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *collective_name(simt_collective_op op);
const char *kind_name(uint32_t kind);
void event_note(simt_machine *m, const char *site, const char *what, const void *p, uint32_t bytes, uint64_t before,
                uint64_t after);

#endif

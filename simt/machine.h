/* SPDX-License-Identifier: Apache-2.0
 *
 * machine.h - the host SIMT machine: runs kernels on one thread under a scheduler that is in the caller's hand, and
 * objects to what a GPU would leave undefined. doc/dialect.md teaches it; state.h shows its inside.
 *
 *     simt_machine_open(NULL, &m);
 *     simt_machine_region(m, keys, bytes, "keys");         // device memory: everything else is out of bounds
 *     simt_machine_launch(m, kernel, &args, sizeof args, blocks, threads, 0);
 *     if (!simt_machine_run(m, &config)) puts(simt_machine_finding(m)->story);
 *
 * Same configuration, same launches, same memory: same interleaving, on every compiler.
 */
#ifndef HD_MACHINE_H
#define HD_MACHINE_H

#include "base/seam.h"

typedef struct simt_machine simt_machine;

/* The unit of scheduling: a lane (independent thread scheduling), or a group of a warp's lanes that stand at one
 * site. */
typedef enum simt_unit { SIMT_BY_LANE, SIMT_BY_WARP } simt_unit;

typedef enum simt_strategy {
    SIMT_ROUND_ROBIN, /* every lane as far as it goes                                                   */
    SIMT_RANDOM,      /* any unit, at every stop                                                         */
    SIMT_PCT,         /* random priorities and pct_depth - 1 random places where the running one falls last */
    SIMT_SEARCH,      /* all schedules with at most `bound` preemptions, one a run: simt_machine_next    */
    SIMT_REPLAY       /* the schedule given                                                              */
} simt_strategy;

/* At which accesses a lane may be preempted (kinds of simt_host.h). */
enum { SIMT_AT_NONE = 0, SIMT_AT_SYNC = 16 | 32 | 64, SIMT_AT_ATOMIC = SIMT_AT_SYNC | 4 | 8, SIMT_AT_ALL = 127 };

/* A decision that did not take its first choice: decision number `at` took `choice`. A schedule is a list of them. */
typedef struct simt_decision {
    uint64_t at;
    uint32_t choice;
} simt_decision;

typedef struct simt_config {
    simt_unit unit;
    simt_strategy strategy;
    uint32_t preempt; /* SIMT_AT_... */
    uint64_t seed;
    uint32_t pct_depth, pct_length; /* 0: 3, 1,000 */
    uint32_t bound;
    /* SIMT_SEARCH by warp: a group that has just met in a collective, or begins, continues at once up to its next
     * possible preemption, which loses no outcome. To leave a group that can continue, or a warp, is a preemption; the
     * choice among a warp's other groups is not. */
    bool local_first;
    const simt_decision *schedule; /* SIMT_REPLAY: (schedule_n), by `at` ... */
    size_t schedule_n;
    simt_strategy replayed; /* ... and the strategy that made it: it says what there is to decide */
    bool race;              /* happens-before                                                            */
    bool weak;              /* store buffers, and relaxed loads that return older values; implies race   */
    bool meter;             /* count sectors, lines, atomics                                             */
    const void *metered;    /* ... in this memory, of so many bytes; 0: anywhere                         */
    size_t metered_bytes;
    bool persist;              /* keep account of stores to persistent regions: persist.h                    */
    bool cumulative;           /* ... and a fence makes durable what its lane knows, too; implies race       */
    uint64_t crash_at;         /* ... and the run ends before this event of persistent memory; 0: it does not */
    const simt_decision *lost; /* simt_explore_crashes, SIMT_REPLAY: (lost_n), what the crash's image has lost */
    size_t lost_n;
    /* Called just before an event, by its number, that makes stores durable. NULL: it is not */
    void (*durable)(void *durables, simt_machine *m, uint64_t event);
    void *durables;
    bool quiet;            /* draw no tickets                                                           */
    bool trace;            /* record every event, for reports */
    uint64_t step_limit;   /* 0: 10 million                                                             */
    uint32_t resident;     /* blocks at a time; 0: 4                                                    */
    uint32_t shared_bytes; /* per block; 0: 16 KiB                                                      */
    /* Called between steps: after every watch_every-th (0: never), if memory was written since the last call. It
     * returns a sentence to stop the run. */
    const char *(*watch)(void *context);
    void *context;
    uint32_t watch_every;
} simt_config;

/* Lanes, random, preempted at every access, race detector on, seed 1. */
simt_config simt_config_default(void);
/* Warps in turn, each as far as it goes; no race detector. */
simt_config simt_config_in_turn(void);

hd_status simt_machine_open(const hd_seams *seams, simt_machine **m); /* NULL: the operating system's */
void simt_machine_close(simt_machine *m);
const hd_seams *simt_machine_seams(const simt_machine *m);

/* Device memory that kernels may touch. The machine keeps the pointer, not the bytes. A region with the word "far" in
 * its name stands for memory of the host, which a device reaches over the bus. */
hd_status simt_machine_region(simt_machine *m, void *p, size_t bytes, const char *name);
/* A crash leaves something of the region that begins at p: persist.h. HD_EINVAL: it is not made of words of 8 bytes. */
hd_status simt_machine_persistent(simt_machine *m, const void *p);
/* The host makes all stores to these bytes durable that are visible when the launch that was queued last ends; now, if
 * none is queued. */
hd_status simt_machine_persisted(simt_machine *m, const void *p, size_t bytes);
/* The region that begins at p is gone, if there is one. */
void simt_machine_region_end(simt_machine *m, const void *p);
void simt_machine_forget(simt_machine *m); /* all regions and launches */

/* Queues a kernel: `blocks` of `threads`. Kernels of one stream run in order, those of different streams at the same
 * time. args are copied. The queue is emptied by run. */
hd_status simt_machine_launch(simt_machine *m, void (*kernel)(const void *), const void *args, size_t args_bytes,
                              uint32_t blocks, uint32_t threads, uint32_t stream);

typedef enum simt_fault {
    SIMT_NO_FAULT,
    SIMT_MISMATCH, /* lanes of one mask at different collectives, or at one with different masks */
    SIMT_LEFT,     /* a mask names a lane that has left, or a barrier misses one                 */
    SIMT_OUTSIDE,  /* the caller is not in its mask, or a shuffle reads a lane that is not       */
    SIMT_DEADLOCK, /* lanes wait for each other                                                  */
    SIMT_BOUNDS,
    SIMT_SPACE, /* the instruction cannot access this kind of memory */
    SIMT_MISALIGNED,
    SIMT_UNINITIALISED, /* shared memory that was never written */
    SIMT_IN_FLIGHT,     /* an async copy's target, read before its wait */
    SIMT_ENDLESS,
    SIMT_RACE,
    SIMT_RAW,      /* device memory dereferenced outside of the dialect */
    SIMT_WATCHED,  /* the watcher objected */
    SIMT_RESOURCE, /* shared memory or host memory ran out */
    SIMT_CRASH,    /* config.crash_at */
    SIMT_FAULT_COUNT
} simt_fault;

const char *simt_fault_name(simt_fault f);

typedef struct simt_finding {
    simt_fault fault;
    char story[2048]; /* a sentence, then a line per lane concerned: site, block, lane, mask */
    uint64_t step;
} simt_finding;

/* Runs all queued kernels to their end: true; or until something is found: false. */
bool simt_machine_run(simt_machine *m, const simt_config *c);
const simt_finding *simt_machine_finding(const simt_machine *m);

/* The lane that runs on this thread now, and the site of its last operation; false: none does. A signal handler may
 * call it. */
bool simt_machine_now(uint32_t *block, uint32_t *thread, const char **site);

/* SIMT_SEARCH: makes the next run the next schedule; false when all were run. */
bool simt_machine_next(simt_machine *m);
void simt_machine_restart(simt_machine *m); /* search from the first again */

/* The last run's schedule. (*n), valid until the next run. */
const simt_decision *simt_machine_schedule(const simt_machine *m, size_t *n);
/* "12:1 40:3"; the number of bytes it would need. */
size_t simt_schedule_print(const simt_decision *s, size_t n, char *text, size_t bytes);
/* The reverse; HD_EINVAL for text that is none. *n: in the places of s, out how many. */
hd_status simt_schedule_parse(const char *text, simt_decision *s, size_t *n);

/* When an item took effect, in order. */
typedef struct simt_ticket_record {
    uint64_t item, a, b;
    uint32_t what;
    uint32_t stream;  /* of the launch that drew it */
    uint64_t started; /* tickets drawn before the item's first lane started it */
    uint64_t beside;  /* simt_ticket_beside: the other item, and the place; 0: none */
    int64_t place;
} simt_ticket_record;
const simt_ticket_record *simt_machine_tickets(const simt_machine *m, size_t *n);

/* The recorded events (config.trace), for reports and for teaching. */
typedef struct simt_event {
    uint64_t step;
    const char *site, *what; /* static storage */
    uint32_t block, thread, bytes;
    const void *p;
    uint64_t before, after; /* the value read, or replaced and written */
    uint64_t after_high;    /* of a store of 16 bytes, the upper half */
    uint32_t stream;        /* of the launch */
} simt_event;
const simt_event *simt_machine_events(const simt_machine *m, size_t *n);
/* The region that holds p and the offset in it; "shared" for shared memory; "" when there is none. */
const char *simt_machine_name(const simt_machine *m, const void *p, uint64_t *offset);

/* Region i of the device memory, in the order in which they were announced; false past the last. */
bool simt_machine_region_at(const simt_machine *m, uint32_t i, const void **p, size_t *bytes, const char **name);

typedef struct simt_totals {
    uint64_t steps, switches, decisions;
    uint64_t hash;                                         /* of the interleaving: equal hashes, equal schedules */
    uint64_t instructions, sectors, lines, bytes, atomics; /* of warps on device memory, when config.meter */
    uint64_t far_sectors;                                  /* of them, those in far regions */
} simt_totals;
simt_totals simt_machine_totals(const simt_machine *m);

/* One site's share of the totals. */
typedef struct simt_site {
    const char *site;
    uint32_t kind;
    bool shared;
    uint64_t instructions, lanes, sectors, lines, bytes;
} simt_site;
const simt_site *simt_machine_sites(simt_machine *m, size_t *n); /* in the order of the text */

/* "steps.h:41" of ".../gpu/hkv/steps.h:41": sites as messages show them. */
const char *simt_site_name(const char *site);

#endif

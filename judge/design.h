/* SPDX-License-Identifier: Apache-2.0
 *
 * design.h - a table design's port to the judge of kernels: one judge_design struct and a line of judge/designs.inc.
 * `heddle sched`, `diff`, `explain`, `run --kernels`, the kernel fuzzers and the museum then cover the design's
 * kernels. Fixtures, comparisons and schedule searches are generic: they know batches, memory, entry numbers and
 * tickets, and call the port for everything that depends on the table.
 *
 * A port is small. A design with a backend "host" gives its hd_design in `host`; then the judge takes the kernels, the
 * table's shape, its memory and its reference from there, and the port has to say only how entries are read:
 *
 *     const judge_design judge_design_NAME = {
 *         .name = "NAME", .keys = HD_KEY_RESERVED, .host = &hd_design_NAME, .roams = true,
 *         .small = { 4, "uniform:12" }, .buckets = ..., .first = ..., .key_at = ..., .value_at = ...
 *     };
 *
 * Each member says below whether it is required, or what its default is (judge/port_defaults.c). Terms:
 *
 *   table    a struct of table_size bytes: the table's shape and the addresses of its memory. Only the port reads it.
 *            A comparison has three tables over three copies of the memory: the kernels' table, the reference's, and
 *            the kernels' table before the run. The memory is any number of regions. Regions that growth brings into
 *            use exist from the beginning.
 *   place    the number of an entry's slot, counted from 0 through all buckets. Tickets use these numbers. A stash
 *            counts as one or more buckets after the others (bucket_name).
 *   ticket   a record that an item draws in the step in which it takes effect: its outcome; in b the place of its key
 *            (the former place after an erase); in a the evicted key, if any. A ticket of item JUDGE_MOVE is no item's:
 *            it says that the entry at place a is from now on at place b (`move`). A place must not be reused before
 *            the ticket that frees it.
 *
 * In a mixed batch, and in every batch of a design with `move`, a search is many loads during which other items take
 * effect, so an item that changes nothing (HIT without a score, MISS, PENDING, RESERVED) need only be right at some
 * moment of the batch. The judge calls `accept` for such items before the first ticket and after each ticket of their
 * key or of a move (PENDING: after each ticket) until it agrees. All other items are judged at their tickets.
 */
#ifndef HD_JUDGE_DESIGN_H
#define HD_JUDGE_DESIGN_H

#include "base/backend.h"
#include "judge/fixture.h"
#include "workload/rng.h"

struct judge_steps;

#define JUDGE_MOVE UINT64_MAX
/* In place of an operation: a batch in which each item has its own (hd_batch.each), cases DESIGN.mixed.KERNEL. */
#define JUDGE_MIXED HD_OP_COUNT_

/* A row: a variant, and how it runs some operations. The rows of a variant are consecutive. */
typedef struct judge_row {
    const char *variant;
    uint32_t lanes, threads; /* per item, per block */
    fixture_strictness strictness;
} judge_row;

/* The usual table of `heddle sched` and `explain`. */
typedef struct judge_small {
    uint32_t slots;
    const char *keys;
    const char *field, *value; /* one more field of the case; NULL: none */
} judge_small;

/* What the reference says that an item has to list. */
typedef struct judge_listing {
    bool listed;
    uint64_t key, score;
    uint8_t *value; /* (value_bytes) */
} judge_listing;

typedef enum judge_scores { JUDGE_NO_SCORES, JUDGE_SCORES_GIVEN_OR_NOT, JUDGE_SCORES_NEEDED } judge_scores;

enum { JUDGE_SENTENCE = 512, JUDGE_CANDIDATES_MOST = 16 };
/* Writes a sentence; returns it. */
const char *fixture_say(char why[JUDGE_SENTENCE], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What there is not of a design (judge/space.inc has the form of `words`). */
typedef struct judge_space_rule {
    const char *words, *reason;
} judge_space_rule;

typedef struct judge_design {
    const char *name;              /* required: hd_case.design            */
    uint64_t keys;                 /* required: keys below it can be held */
    const judge_space_rule *rules; /* of a design that is not in judge/space.inc; its words are NULL: the end */
    /* The design, whose hd_gpu has kernels for backend "host". Without it all members marked "host" are required. */
    const hd_design *host;
    /* The bytes of a value, where all tables have the same. Default: host: as the table's info says. */
    uint32_t value_bytes;
    bool dual; /* its cases have dual=0 and dual=1 */
    /* In how many buckets a key may be. Default: one, or two with dual=1. */
    uint32_t (*buckets_of_key)(const hd_case *c);
    bool
        dictionary; /* no scores, no evictions, PENDING is possible; keys are as wide as values of fewer than 8 bytes */
    bool wide_keys; /* a dictionary's keys have 64 bits, whatever its values have */
    bool roams;     /* a key may be in any place: contents are compared as one set, not bucket by bucket */
    bool shifts;    /* entries move when others come and go: the places in tickets are not compared */

    /* ---- Kernels ----------------------------------------------------------------------------- */
    judge_small small, wide; /* required; wide: for kernels that do not fit the small one (default: small) */
    bool (*row)(uint32_t row, judge_row *r); /* false past the last. Default: host */
    bool (*runs)(uint32_t row, hd_op op);    /* an operation or JUDGE_MIXED. Default: host */
    const char *(*unsupported)(uint32_t row,
                               const hd_case *c); /* why it cannot run such a table, or NULL. Default: host */
    /* (HD_OP_COUNT_) how often each operation is drawn for a mixed batch. Default: no mixed batches */
    const uint8_t *mix;
    /* Queues the launches of a batch; args: the part's. Default: host, by its hd_gpu */
    hd_status (*queue)(const fixture_kernel *k, simt_machine *m, const void *args, uint32_t stream);
    fixture_kernel (*kernel)(uint32_t row); /* default: from `row`, with `queue` */

    /* ---- A fixture's table --------------------------------------------------------------------- */
    /* Default: host: the design's state (hd_gpu.state_bytes), with which a larger table begins */
    size_t table_size;
    size_t args_size; /* of fixture_part.args, which `args` fills. Default: the table's */
    /* Completes s->table, but for its memory. HD_EINVAL says why there is no such table. host: it is complete already;
     * default: that is all */
    hd_status (*shape)(fixture *s, const hd_case *c);
    /* The table's memory, region by region; how many. host: only its entries, as the reference's state has them on
     * backend "host"; default: as they are on a device */
    uint32_t (*memory)(const fixture *s, judge_memory all[JUDGE_MEMORY_MOST]);
    /* The addresses of its memory are in *table: derives from them, and from the counts that are there, what else it
     * has. Default: host: what the design derives from them; that is all */
    void (*laid)(void *table);
    void (*clear)(
        fixture *s); /* makes the table empty, after the regions were filled. Default: nothing is left to do */
    /* Puts entries into it; the batches are drawn already. false: no memory. Default: inserts keys of the batches and
     * others by `apply`, so that the table is empty, half full or full */
    bool (*fill)(fixture *s, hd_rng *g);
    void (*args)(fixture *s, uint32_t k);     /* part[k].args from its batch. Default: host */
    judge_scores (*scores)(const fixture *s); /* default: JUDGE_NO_SCORES */
    /* host: whether no score in the table can be mistaken for a time of n items from `clock` on (hd_when.own). Default:
     * none can */
    bool (*times_tell)(const fixture *s, uint64_t clock, uint64_t n);
    /* host: whether no score in the table is above `clock` (hd_when.rises). Default: none is */
    bool (*rises)(const fixture *s, uint64_t clock);
    /* Runs a batch of part k's kind, with any arrays, on *table by the reference, in item order. Default: host */
    void (*apply)(const fixture *s, void *table, uint32_t k, const hd_batch *b);
    hd_status (*resize)(fixture *s, void *table, uint64_t buckets); /* by the reference. Default: HD_EINVAL */

    /* ---- Entries ----------------------------------------------------------------------------- */
    uint64_t (*buckets)(const void *table);           /* required */
    uint64_t (*first)(const void *table, uint64_t b); /* required: bucket b's first place; b = buckets: all places */
    uint64_t (*places)(const fixture *s);             /* the most that growth can reach. Default: it does not grow */
    /* required: HD_KEY_EMPTY: the place is empty; another key from HD_KEY_RESERVED up: an item is changing it */
    uint64_t (*key_at)(const void *table, uint64_t e);
    /* What pointers show. Required for `differs` and `describe` to be left out where values have bytes */
    uint8_t *(*value_at)(const void *table, uint64_t e);
    /* NULL when w has the entry at place e of v where it should be, with value and score; else a sentence up to the
     * name of w. Default: by key_at and value_at, in the same bucket, or anywhere when it roams */
    const char *(*differs)(const void *v, const void *w, uint64_t e);
    /* A place as one line of a drawing. Default: its key and value, or "-" */
    void (*describe)(const void *table, uint64_t e, char *line, size_t bytes);
    const char *(*bucket_name)(const void *table, uint64_t b, char *text, size_t bytes); /* default: "bucket 7" */
    /* Names byte `at` of a region: "key in bucket 1, slot 3"; false: it has no name. Default: none has.
     * Stories show the named memory as tables (cells.h has the forms of names that become cells) */
    bool (*names)(const fixture *s, const char *region, uint64_t at, char *text, size_t bytes);
    /* The buckets that a key may be in, in the order of the search, without a stash; how many, at most
     * JUDGE_CANDIDATES_MOST. Default: not known */
    uint32_t (*candidates)(const void *table, uint64_t key, uint64_t *bucket);
    /* How the reference decides about item i of part 0, on the table `before`, in steps that change nothing
     * (judge/steps.h). Default: it says only what changes */
    void (*tell)(const fixture *s, uint64_t i, const void *before, struct judge_steps *to);

    /* ---- The judgement ----------------------------------------------------------------------- */
    /* Lets item i of part k take effect on `model`, with its outputs and its ticket t (NULL: none); l: what it then has
     * to list. Returns NULL, or why it cannot have happened; model is then as it was. Default: `apply` runs the item
     * alone, and its outcome and outputs must be equal */
    const char *(*accept)(const fixture *s, void *model, uint32_t k, uint64_t i, const simt_ticket_record *t,
                          judge_listing *l);
    const char *(*move)(void *model, uint64_t from, uint64_t to); /* as a ticket says. Default: entries do not move */
    /* All below return NULL, or a sentence about what is wrong, in `why`. */
    /* What tables hold beside entries, like pins. Default: nothing */
    const char *(*beside)(const fixture *s, const void *model, const void *now, char why[JUDGE_SENTENCE]);
    /* What part k's operation promises besides. Default: nothing */
    const char *(*promised)(const fixture *s, const void *model, uint32_t k, char why[JUDGE_SENTENCE]);
    /* No lock is held, nothing is half done, counts that are 0 at rest are 0. Default: `check` covers it */
    const char *(*idle)(const fixture *s, char why[JUDGE_SENTENCE]);
    const char *(*check)(const void *table, char why[JUDGE_SENTENCE]); /* invariants at rest. Default: host */
    /* Invariants between any two steps; weak: with store buffers. before: the fixture's memory when they last held, if
     * that is known, else NULL: what has not changed since need not be looked at. Default: `check` whenever `idle`, if
     * there is one, says that the table is at rest */
    const char *(*watch)(const fixture *s, uint8_t *before, bool weak, char why[JUDGE_SENTENCE]);

    /* ---- Crashes (judge/crash.h) ------------------------------------------------------------- */

    /* Makes a table at rest of what a crash has left in the persistent regions of *table; hd_why() of a failure says
     * why it cannot. The other regions are as those of an empty table. It may be cut at any word that it changes, and
     * begin again. Default: no region is persistent */
    hd_status (*recover)(fixture *s, void *table);
    /* Of a design with `recover`: whether the region is persistent. Default: all regions of the table are */
    bool (*persistent)(const fixture *s, const char *region);
} judge_design;

#define JUDGE_DESIGN(name) extern const judge_design judge_design_##name;
#include "judge/designs.inc"
#undef JUDGE_DESIGN

/* As hd_design_add. */
hd_status judge_design_add(const judge_design *d, const char *before);
/* Adds the designs of the program that are not in the library: each program with a judge has one such function, and
 * calls it before all else. */
hd_status add_own_designs(void);

const judge_design *judge_design_at(size_t i);            /* NULL past the end    */
const judge_design *judge_design_named(const char *name); /* NULL: there is none */
const judge_design *judge_design_of(const hd_case *c);    /* NULL: there are no kernels of it, and hd_why() says so */

/* ---- Members with defaults (judge/port_defaults.c): the judge calls these, never the members ------- */

bool fixture_row(const judge_design *d, uint32_t row, judge_row *r);
bool fixture_runs(const judge_design *d, uint32_t row, hd_op op);
const char *fixture_unsupported(const judge_design *d, uint32_t row, const hd_case *c);
judge_small fixture_wide(const judge_design *d);
size_t fixture_table_size(const judge_design *d);
size_t fixture_args_size(const judge_design *d);
judge_scores fixture_scores(const fixture *s);
hd_status fixture_shape(fixture *s, const hd_case *c);
void fixture_lay_table(fixture *s);
void fixture_clear(fixture *s);
bool fixture_fill(fixture *s, hd_rng *g);
/* The default of judge_design.fill. */
bool fixture_fill_by_insertion(fixture *s, hd_rng *g);
void fixture_args(fixture *s, uint32_t k);
void fixture_view(const fixture *s, uint8_t *memory, void *table);
void fixture_apply(const fixture *s, void *table, uint32_t k, const hd_batch *b);
const char *fixture_differs(const judge_design *d, const void *v, const void *w, uint64_t e);
void fixture_describe(const judge_design *d, const void *table, uint64_t e, char *line, size_t bytes);
bool fixture_names(const fixture *s, const char *region, uint64_t at, char *text, size_t bytes);
const char *fixture_accept(const fixture *s, void *model, uint32_t k, uint64_t i, const simt_ticket_record *t,
                           judge_listing *l);
/* For `accept`: `apply` runs the item alone, and its outcome and outputs must be equal. */
const char *fixture_accept_by_reference(const fixture *s, void *model, uint32_t k, uint64_t i, judge_listing *l);
const char *fixture_check(const fixture *s, const void *table, char why[JUDGE_SENTENCE]);
const char *fixture_watch(const fixture *s, uint8_t *before, bool weak, char why[JUDGE_SENTENCE]);
/* Whether region number i of the fixture is persistent: fixture_region.persistent. */
bool fixture_persistent(const fixture *s, uint32_t i);

/* A source's key, as one that the design can hold. */
static inline uint64_t fixture_holdable(const judge_design *d, uint64_t key)
{
    return d->keys < HD_KEY_RESERVED ? key % d->keys : key;
}

/* For `fill`: bytes, and scores as the case has them. */
void fixture_draw_values(const fixture *s, hd_rng *g, uint8_t *p, uint64_t bytes, hd_elem e); /* judge_summable */
uint64_t fixture_draw_key(const fixture *s, hd_rng *g, uint64_t below);
uint64_t fixture_draw_score(const fixture *s, hd_rng *g, uint64_t below);

enum { FIXTURE_SCORES = 16 }; /* scores that are drawn are below this, but for extreme ones */

#endif

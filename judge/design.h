/* SPDX-License-Identifier: Apache-2.0
 *
 * design.h - what a table design is to the judge of kernels. Fixtures, the judgement, searches of schedules, tours,
 * drawings and fuzzers know batches, memory, places and tickets; a design says what its table is. It is one struct of
 * functions and a line of judge/designs.inc. Then `heddle sched`, `diff`, `explain`, `run --kernels`, the fuzzers of
 * kernels and the museum know its kernels without a line of their own.
 *
 * The words:
 *
 *   table    the design's own struct of table_size bytes: where its memory is and what shape it has. Nobody else looks
 *            into it. The kernels' table, the reference's and the table before the run are three of them over three
 *            copies of the memory. The memory may be any number of regions: segments that growth brings into use are
 *            laid at once, and `view` says how many of them there are by now.
 *   place    where an entry may be, numbered from 0 through all buckets: the number that tickets say. What is no
 *            bucket, like a stash, is one more bucket after the others (bucket_name).
 *   ticket   an item drew it in the step that made it true, with its outcome, and in b the place where its key is, or
 *            was when it was erased; in a the key that left, when one did. An item of JUDGE_MOVE is nobody's: the entry
 *            at place a is from now on at place b (`move`). No item's place may be taken before its holder's own
 *            ticket, or its move's, has left it.
 *
 * In a mixed batch, and in every batch of a design whose entries move, a search is many loads while much goes on, and
 * nobody can say when it took effect. So what an item says that changes nothing (HIT without a score, MISS, PENDING,
 * RESERVED) need only have been true at some moment of the batch, whenever it drew its ticket: which order the items of
 * a batch take is nobody's business. `accept` is asked about such items without a ticket, before the first ticket and
 * after each that is about their key or moves anybody (PENDING: after each), until it agrees; it leaves the model as it
 * is. All others are judged at their tickets.
 */
#ifndef HD_JUDGE_DESIGN_H
#define HD_JUDGE_DESIGN_H

#include "judge/fixture.h"
#include "workload/rng.h"

#define JUDGE_MOVE UINT64_MAX
/* As an operation: batches in which each item has its own (hd_batch.each), cases DESIGN.mixed.KERNEL. */
#define JUDGE_MIXED HD_OP_COUNT_

/* A kernel: a variant, and the operations that it runs for it. Rows of a variant stand together. */
typedef struct judge_row {
    const char *variant;
    uint32_t lanes, threads; /* of an item, of a block */
    fixture_strictness strictness;
} judge_row;

/* A small table, for people to look at. */
typedef struct judge_small {
    uint32_t slots;
    const char *keys;
} judge_small;

/* What the reference says that an item has to list. */
typedef struct judge_listing {
    bool listed;
    uint64_t key, score;
    uint8_t *value; /* (value_bytes) */
} judge_listing;

/* A region of the table's memory: fixture.table has the pointer to it at `at`. */
typedef struct judge_memory {
    const char *name;
    size_t at;
    uint64_t bytes;
} judge_memory;
enum { JUDGE_MEMORY_MOST = 32 };

typedef enum judge_scores { JUDGE_NO_SCORES, JUDGE_SCORES_GIVEN_OR_NOT, JUDGE_SCORES_NEEDED } judge_scores;

enum { JUDGE_SENTENCE = 512 };
/* Writes a sentence; returns it. */
const char *fixture_say(char why[JUDGE_SENTENCE], const char *format, ...) __attribute__((format(printf, 2, 3)));

typedef struct judge_design {
    const char *name; /* hd_case.design                        */
    uint64_t keys;    /* it can hold those below this           */
    bool dual;        /* its cases have dual=0 and dual=1       */
    /* no scores, evicts nothing, may answer PENDING; keys have as many bytes as values, where those have fewer than 8 */
    bool dictionary;
    bool roams; /* in which of its buckets a key is, is nobody's business: contents are compared as one set */

    /* ---- Kernels ----------------------------------------------------------------------------- */
    bool (*row)(uint32_t row, judge_row *r); /* false past the last */
    bool (*runs)(uint32_t row, hd_op op);    /* or JUDGE_MIXED */
    /* (HD_OP_COUNT_): how often each operation is drawn for a mixed batch; NULL: there are none */
    const uint8_t *mix;
    const char *(*unfit)(uint32_t row, const hd_case *c); /* why it cannot run such a table, or NULL; NULL: all can */
    fixture_kernel (*kernel)(uint32_t row);               /* name, strictness, queue, lanes, row */
    judge_small small, wide;                              /* wide: for kernels that do not fit the small one */
    void (*bend)(hd_case *c); /* any case becomes one of a table that can be; NULL: all are */

    /* ---- A fixture's table --------------------------------------------------------------------- */
    size_t table_size, args_size; /* of the structs behind fixture.table and fixture_part.args */
    /* s->table, but for its memory. HD_EINVAL says why there is no such table. */
    hd_status (*shape)(fixture *s, const hd_case *c);
    /* The table's memory, region by region, as its shape wants it; how many. NULL: lay_table and view say it. */
    uint32_t (*memory)(const fixture *s, judge_memory all[JUDGE_MEMORY_MOST]);
    /* Asks for memory with fixture_room: first the table's, then what part k's kernels need beside it. Each is called
     * twice, and the same is to be asked for again: first it gets nothing, then all of it. lay_part NULL: nothing. */
    void (*lay_table)(fixture *s);
    void (*lay_part)(fixture *s, uint32_t k);
    void (*clear)(fixture *s);                /* the table's memory: empty, no lock held, no counts */
    bool (*fill)(fixture *s, hd_rng *g);      /* false: no memory. The batches are drawn already  */
    void (*args)(fixture *s, uint32_t k);     /* part[k].args from its batch */
    judge_scores (*scores)(const fixture *s); /* NULL: JUDGE_NO_SCORES */
    /* *table: s->table as it would be over `memory`, which has the regions that s->memory has; counts that lie there
     * are read. */
    void (*view)(const fixture *s, uint8_t *memory, void *table);
    /* Part k's batch, whose arrays may be others, by the reference, in item order. */
    void (*apply)(const fixture *s, void *table, uint32_t k, const hd_batch *b);
    hd_status (*resize)(fixture *s, void *table, uint64_t buckets); /* by the reference; NULL: HD_EINVAL */

    /* ---- Entries ----------------------------------------------------------------------------- */
    uint64_t (*buckets)(const void *table);
    /* place in bucket b; of the bucket after the last: how many places there are */
    uint64_t (*first)(const void *table, uint64_t b);
    uint64_t (*places)(const fixture *s); /* as many as there can be, however far the table grows; NULL: it does not */
    /* HD_KEY_EMPTY: nobody; from HD_KEY_RESERVED up: somebody has hold of it */
    uint64_t (*key_at)(const void *table, uint64_t e);
    uint8_t *(*value_at)(const void *table, uint64_t e); /* what pointers show; NULL: it delivers none */
    /* NULL when the entry at place e of v is where it should be in w, with value and score; else a sentence up to the
     * name of w. */
    const char *(*differs)(const void *v, const void *w, uint64_t e);
    /* an entry as one line of a drawing, or what an empty place says */
    void (*describe)(const void *table, uint64_t e, char *line, size_t bytes);
    const char *(*bucket_name)(const void *table, uint64_t b, char *text, size_t bytes); /* NULL: they are "bucket 7" */
    /* "key in bucket 1, slot 3": byte `at` of one of its regions; false: it has no name for that. NULL: for none. */
    bool (*names)(const fixture *s, const char *region, uint64_t at, char *text, size_t bytes);

    /* ---- The judgement ----------------------------------------------------------------------- */
    /* Item i of part k takes effect on `model` now, as its outputs and its ticket t say (NULL: it drew none); l is what
     * it then has to list. NULL, or why it may not have, and model is as it was. */
    const char *(*accept)(const fixture *s, void *model, uint32_t k, uint64_t i, const simt_ticket_record *t,
                          judge_listing *l);
    /* an entry moves, as a ticket says; NULL: none ever does */
    const char *(*move)(void *model, uint64_t from, uint64_t to);
    /* All below: NULL, or a sentence about what is wrong, in `why`. */
    /* what tables hold beside entries, like pins; NULL: nothing */
    const char *(*beside)(const fixture *s, const void *model, const void *now, char why[JUDGE_SENTENCE]);
    /* what part k's operation says besides; NULL: nothing */
    const char *(*promised)(const fixture *s, const void *model, uint32_t k, char why[JUDGE_SENTENCE]);
    /* no lock is held, nothing is half done, what is to be 0 at rest is; NULL: check says so */
    const char *(*idle)(const fixture *s, char why[JUDGE_SENTENCE]);
    const char *(*check)(const void *table, char why[JUDGE_SENTENCE]); /* invariants at rest */
    /* ... and between any two steps; weak: with store buffers. NULL: check, whenever idle has no objection */
    const char *(*watch)(const fixture *s, bool weak, char why[JUDGE_SENTENCE]);
} judge_design;

#define JUDGE_DESIGN(name) extern const judge_design judge_design_##name;
#include "judge/designs.inc"
#undef JUDGE_DESIGN

const judge_design *judge_design_at(size_t i);            /* NULL past the end    */
const judge_design *judge_design_named(const char *name); /* NULL: there is none */
const judge_design *judge_design_of(const hd_case *c);    /* NULL: there are no kernels of it, and hd_why() says so */

/* What a design that leaves these functions out has. */
judge_scores fixture_scores(const fixture *s);
const char *fixture_unfit(const judge_design *d, uint32_t row, const hd_case *c);
bool fixture_names(const fixture *s, const char *region, uint64_t at, char *text, size_t bytes);
void fixture_lay_table(fixture *s);
void fixture_view(const fixture *s, uint8_t *memory, void *table);
const char *fixture_watch(const fixture *s, bool weak, char why[JUDGE_SENTENCE]);

/* A source's key, as one that the design can hold. */
static inline uint64_t fixture_holdable(const judge_design *d, uint64_t key)
{
    return d->keys < HD_KEY_RESERVED ? key % d->keys : key;
}

/* The next region: `bytes` between guards; NULL while it is only asked for. For lay_table and lay_part. */
void *fixture_room(fixture *s, const char *name, uint64_t bytes);

/* For `fill`: bytes, and scores as the case has them. */
void fixture_draw_bytes(hd_rng *g, uint8_t *p, uint64_t bytes, uint64_t mask);
uint64_t fixture_value_mask(hd_elem e); /* bits that keep any float finite, or all */
uint64_t fixture_draw_score(const fixture *s, hd_rng *g, uint64_t below);

enum { FIXTURE_SCORES = 16 }; /* scores that are drawn are below this, but for extreme ones */

#endif

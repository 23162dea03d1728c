/* SPDX-License-Identifier: Apache-2.0
 *
 * design.h - what a design of tables is to the spine, a row, and what a backend is, functions over a state. A design's
 * row stands in gpu/X/design.c or, without kernels, in ref/X/design.c; lib/designs.inc lists the rows.
 */
#ifndef HD_DESIGN_H
#define HD_DESIGN_H

#include <string.h>

#include "base/param.h"
#include "base/seam.h"
#include "base/variant.h"
#include "heddle_view.h"

enum {
    HD_METADATA_MOST = 18, /* bytes per entry besides its value, in any layout */
    HD_THREADS_MOST = 1024 /* of a table: OpenMP's runtime keeps something of each thread on a stack */
};

/* One entry, as for_each and snapshots see it. */
typedef struct hd_entry {
    uint64_t slot, key, score;
    void *value; /* (value_bytes), in the table */
} hd_entry;

/* An array of a table's memory that an image has (lib/image.h). Those of one name and number follow each other: to the
 * file they are one extent, so that it does not depend on how many parts an array has. bytes: a multiple of 8. */
enum { HD_EXTENTS_MOST = 128, HD_EXTENT_PAGE = 4096 };
typedef struct hd_extent {
    const char *name; /* static */
    uint32_t number;  /* of those of this name */
    void *p;
    uint64_t bytes;
    /* Not 0: it has cells of so many bytes, as have all such extents, whose cells are numbered in their order. What is
     * in a cell matters if a word names it: one of an extent with `names`, by its lower 32 bits. Words of empty slots
     * may name cells, too, and other words the same ones: such cells are not taken for free. */
    uint32_t cell_bytes;
    bool names;
} hd_extent;

/* What is read of entries, as bits. */
enum { HD_PART_KEYS = 1 << 0, HD_PART_SCORES = 1 << 1, HD_PART_VALUES = 1 << 2, HD_PART_ALL = 7 };

/* A walk over entries, in the order of their slots. */
typedef enum hd_walk_how {
    HD_WALK_READ,   /* next alone */
    HD_WALK_CHANGE, /* next, and the caller may change values */
    HD_WALK_FILL    /* put_at alone, into an empty table */
} hd_walk_how;

/* When a batch happens. */
typedef struct hd_when {
    uint64_t clock;    /* item i happens at clock + i x per_item */
    uint64_t per_item; /* 1: logical clock; 0: the device's      */
    uint32_t epoch;
    bool own;        /* its items' times are no other batch's, and no score so far */
    bool by_device;  /* HD_CLOCK_DEVICE: kernels read their device's clock, and not `clock` */
    uint64_t opened; /* HD_CLOCK_DEVICE: what the clock said when the table was opened (hd_tick_of); else 0 */
    bool rises;      /* no score is above its items' times: an item that stores its time lowers none (HD_MONOTONE) */
    bool repeats;  /* it stores logical times, which launches of a graph would repeat, and the table is not to do so */
    bool by_score; /* a full bucket refuses a key with a low score, also in a table that admits all keys */
} hd_when;

/* How many items a batch has, for the choice of a kernel. */
typedef enum hd_amount { HD_MANY, HD_FEW, HD_FEWEST, HD_AMOUNTS } hd_amount;

/* The keys of a snapshot, in the order of their slots. False: there is no further one. */
typedef struct hd_keys {
    bool (*next)(void *self, uint64_t *slot, uint64_t *key);
    void *self;
} hd_keys;

typedef struct hd_design hd_design;

/* Where the state of a table is and what runs its batches, as functions that a table calls. lib/ has a constant for
 * each machine that runs kernels (lib/registry.c lists them), for all designs; and each design has its reference, the
 * backend "ref". Whether a table learns, resizes, has a view and so on is the design's: a function that is NULL in its
 * reference is called on none of its backends. Only stage to walked, clock, grow, view_end, tally and
 * changed are each backend's own. */
typedef struct hd_backend {
    const char *name;
    bool device_arrays; /* batches may bring arrays that only a device can read: the spine does not look into them */
    /* Of a reference: which code runs a batch, as in hd_design. NULL: the design's kernels do. */
    const hd_variant *const *variants;
    const char *(*unsupported)(const hd_variant_row *row, const hd_info *info, const hd_batch *b);
    /* Whether a design with hd_gpu has kernels for it. NULL in a reference. */
    bool (*runs)(const hd_design *d);
    /* Checks the configuration (HD_EINVAL names the field) and completes `info`: buckets, capacity, memory_bytes. Here
     * and in open a reference leaves d alone, which may be NULL. */
    hd_status (*shape)(const hd_design *d, const hd_config *c, hd_info *info);
    /* An empty table of that shape; all memory is taken here. */
    hd_status (*open)(const hd_design *d, const hd_info *info, const hd_seams *s, void **state);
    void (*close)(void *state, const hd_seams *s);
    /* Everything below up to move_all is between stage, which brings entries and pins to where this machine can
     * read them (values only when asked for), and settle, which brings them back when they were changed. Both NULL:
     * they are here. After a failed settle the state is only to be closed. */
    hd_status (*stage)(void *state, bool values);
    hd_status (*settle)(void *state, bool changed);
    /* A walk, in which entries come in parts, so that host memory does not depend on the size of the table. Between
     * walk and walked e->slot never decreases, but after look, which begins a pass that reads `what` alone. A copy that
     * fails ends a pass early; look and walked return the first failure so far. keep: what was changed is to be in the
     * table. A walk that reads may run beside batches that read. look and walked NULL: entries are here, and walk, if
     * it is not NULL, only prepares the table for changes. */
    hd_status (*walk)(void *state, hd_walk_how how);
    hd_status (*look)(void *state, uint32_t what);
    hd_status (*walked)(void *state, bool keep);
    /* What HD_CLOCK_DEVICE says at this time. NULL: hd_time_seam.unix_ns does. */
    hd_status (*clock)(void *state, uint64_t *ns);
    /* HD_ECORRUPT and the first invariant that fails. Also outside of stage and walk. */
    hd_status (*check)(void *state);
    /* The first entries at or after e->slot, in order, into e[0] to e[most - 1]; how many. There may be more than it
     * has given; 0 says that there are none. Values stay where they are until the next call. */
    size_t (*next)(void *state, hd_entry *e, size_t most);
    /* An empty state that will be filled learns from all keys where keys belong. HD_ECORRUPT: they cannot lie so. Only
     * where a field that `learns` (base/param.h) says so. */
    hd_status (*learn)(void *state, const hd_seams *s, const hd_keys *keys);
    /* Puts an entry into exactly that empty slot; false: the key cannot be there. */
    bool (*put_at)(void *state, const hd_entry *e);
    /* Moves all entries and pins into an empty state with a multiple of the buckets. Cannot fail. */
    void (*move_all)(void *from, void *to);
    /* Gives the table the shape `info`, which has a multiple of its buckets, with all entries and pins. *state may be
     * another state then, and the old one is closed. After a failure all is as it was. NULL, or hd_gpu.grow is NULL: a
     * state is opened, and move_all moves the entries into it. */
    hd_status (*grow)(const hd_design *d, const hd_seams *s, const hd_info *info, void **state);
    /* Gives the state so many buckets, in place, or, where they are fewer, as few as there is room for. `info` becomes
     * what it is then, also where that fails. NULL: move_all is how it grows, and it does not shrink. */
    hd_status (*resize)(void *state, const hd_seams *s, uint64_t buckets, hd_info *info);
    bool grows_only; /* of a reference with resize: hd_shrink refuses its tables */
    /* Of a reference with resize: whether growth can have made this shape of one of base_buckets. NULL: it can. */
    bool (*grown)(const hd_info *info);
    /* Changes how many bytes of the device's memory the state may take, 0: any, and moves entries accordingly. `info`
     * becomes what the state is then, also where that fails. NULL: entries stay where they are. */
    hd_status (*set_near)(void *state, const hd_seams *s, uint64_t near_bytes, hd_info *info);
    /* Keys found no slot, as long as the table is as it is (n of them, in this machine's memory): grows it where they
     * belong, and says so in *made and as resize does. *made false: room does not depend on keys, and nothing has
     * changed. NULL: that is so for all tables. Repeated for the same keys it ends. */
    hd_status (*room_for)(void *state, const hd_seams *s, const uint64_t *key, uint64_t n, hd_info *info, bool *made);
    /* Fills a view (heddle_view.h), whose memory stays where it is until view_end. The caller holds the lock as reader.
     * NULL: the design has none. view_end NULL: nothing to do. */
    hd_status (*view)(void *state, void *stream, hd_view *view);
    hd_status (*view_end)(void *state, void *stream);
    /* Before a checked batch is run: takes what it needs and the table has not yet, and says so in info, the table's.
     * After a failure nothing has changed. NULL: there is no such thing. */
    hd_status (*prepare)(void *state, const hd_seams *s, const hd_batch *b, hd_info *info);
    /* Adds the outcomes (HD_OUTCOME_COUNT), and the operations (HD_OP_COUNT_) of mixed batches, that launch could not
     * yet tell, and forgets them; waits. NULL: there are none. */
    hd_status (*tally)(void *state, uint64_t *outcome, uint64_t *op);
    /* The arrays that the entries consist of, at most HD_EXTENTS_MOST; how many. With hd_info they say all of the
     * table. NULL: it has no file (hd_config.file). */
    int (*extents)(void *state, hd_extent *all);
    /* These are as a file had them: sets right what a crash left, and derives the rest. HD_ECORRUPT: an invariant does
     * not hold; it may be left out where did->was_clean. */
    hd_status (*recovered)(void *state, hd_recovery *did);
    /* Which pages of the extents may have changed since this was asked last, or the table was opened: `page` has a byte
     * for each page (HD_EXTENT_PAGE) of each array, which is 1 and becomes 0 if the page has not changed. No batch
     * runs. NULL: any page may have changed. */
    hd_status (*changed)(void *state, uint8_t *page, uint64_t pages);
    /* Free cells are taken in the order of their addresses from now on, behind the one that was taken last: what is
     * written to them then fills pages of the file. NULL: it has no cells, or takes them so always. */
    hd_status (*arrange)(void *state);
    /* Of a reference: `recovered` can do that wherever a batch was cut between two stores of words, each array is an
     * extent of its own, and each has its memory to itself. */
    bool survives_kill;
    /* Runs a checked batch by that row of the variants. tally (HD_OUTCOME_COUNT) gets the outcomes of keyed items.
     * Fails (HD_ECUDA, HD_EKERNEL, HD_ENOMEM) only where there is a device that can. */
    hd_status (*launch)(void *state, uint32_t row, const hd_batch *b, hd_when when, uint64_t *tally);
} hd_backend;

struct hd_design {
    const char *name, *what;
    const char *policy;      /* the only one: it keeps no scores. NULL: any row of policies/registry.inc */
    const hd_params *params; /* the fields of hd_config that are its own; NULL: none */
    /* Changes the common fields of hd_config_default() to what is usual here. NULL: nothing. */
    void (*usual)(hd_config *c);
    const hd_backend *ref; /* its reference */
    /* What backends ask of its kernels (base/backend.h). NULL: no kernels run its batches, and all below is NULL. */
    const hd_gpu *gpu;
    /* Which kernels run a batch: the variants, whose rows are numbered in their order. A NULL ends them. */
    const hd_variant *const *variants;
    bool loads; /* `variants` ends in HD_VARIANTS_END: files can add to it (lib/loaded.h) */
    /* NULL when the row can run the batch on such a table; else why not. Of the batch only op, and whether it is mixed,
     * count. */
    const char *(*unsupported)(const hd_variant_row *row, const hd_info *info, const hd_batch *b);
    /* The host machine's kernel of a number (base/variant.h); NULL: there is none. Itself NULL: the host machine does
     * not run them. */
    hd_host_text *(*host_kernel)(uint32_t kernel);
    /* The name of the variant that suits the operation best on such a table at this load factor (choice 0), second best
     * (1), and so on; NULL: there are no more. A pure function. The table takes the first that fits, and where none
     * does, the first row of the design that fits. select itself NULL: always that. */
    const char *(*select)(hd_op op, const hd_info *info, double load_factor, hd_amount amount, uint32_t choice);
    /* HD_FEW and HD_FEWEST are batches of at most so many items. 0: none. few_items is the largest. */
    uint64_t few_items, fewest_items, fewest_distinct; /* fewest_distinct: where the batch promises distinct keys */
    /* few_items counts only on a backend that has `device_arrays`; elsewhere it is 0. */
    bool few_on_device;
    /* Kernels that update own what they change while they change it: several such batches may run at a time. */
    bool owns;
};

/* What runs batches of the design on a backend. */
static inline const hd_variant *const *hd_variants_on(const hd_design *d, const hd_backend *on)
{
    return on->variants ? on->variants : d->variants;
}
/* hd_design.few_items there. */
static inline uint64_t hd_few_items_on(const hd_design *d, const hd_backend *on)
{
    return on == d->ref || (d->few_on_device && !on->device_arrays) ? 0 : d->few_items;
}

/* A state as this machine sees it, and the end of that; HD_OK where the backend has no such functions. */
static inline hd_status hd_stage(const hd_backend *on, void *state, bool values)
{
    return on->stage ? on->stage(state, values) : HD_OK;
}
static inline hd_status hd_settle(const hd_backend *on, void *state, bool changed)
{
    return on->settle ? on->settle(state, changed) : HD_OK;
}

/* A walk. Where entries are in this machine's memory, these functions do nothing. */
static inline hd_status hd_walk(const hd_backend *on, void *state, hd_walk_how how)
{
    return on->walk ? on->walk(state, how) : HD_OK;
}
static inline hd_status hd_look(const hd_backend *on, void *state, uint32_t what)
{
    return on->look ? on->look(state, what) : HD_OK;
}
static inline hd_status hd_walked(const hd_backend *on, void *state, bool keep)
{
    return on->walked ? on->walked(state, keep) : HD_OK;
}

/* Entries one by one. Begins with all zeroes. */
enum { HD_ENTRIES = 64 /* that are asked for at a time */ };
typedef struct hd_entries {
    hd_entry e[HD_ENTRIES];
    size_t n, at;  /* that are there; of them, given */
    uint64_t slot; /* where the next ones are */
} hd_entries;

/* The next entry, until the next call; NULL: there is none. */
static inline hd_entry *hd_entries_next(hd_entries *x, const hd_backend *on, void *state)
{
    if (x->at == x->n) {
        x->e[0].slot = x->slot;
        x->at = 0;
        x->n = on->next(state, x->e, HD_ENTRIES);
        if (x->n == 0) return NULL;
        x->slot = x->e[x->n - 1].slot + 1;
    }
    return &x->e[x->at++];
}

/* How many there are. */
static inline uint64_t hd_entries_count(const hd_backend *on, void *state)
{
    hd_entries all;
    all.n = all.at = 0;
    all.slot = 0;
    uint64_t n = 0;
    while (hd_entries_next(&all, on, state)) n++;
    return n;
}

/* For a message: where a design is that the library had before; else "". */
const char *hd_design_elsewhere(const char *name);
/* A program adds a design to those of the library, before its first table. In lists it comes before the one of that
 * name, or last (NULL). Its fields are in hd_config.own. HD_EINVAL: there is one of its name or with such fields, or
 * there is no room. */
enum { HD_DESIGNS_MOST = 16 };
hd_status hd_design_add(const hd_design *d, const char *before);
/* The designs of the program, and the backends of a design in it, its reference first. NULL: past the end, or there is
 * none of that name; d NULL: no backend. */
const hd_design *hd_design_at(size_t i);
const hd_design *hd_design_named(const char *name);
const hd_backend *hd_backend_at(const hd_design *d, size_t i);
const hd_backend *hd_backend_named(const hd_design *d, const char *name);

/* What a kernel row says of an operation that is another row's, and of a mixed batch where its design has none. */
#define HD_OTHER_OPERATION "it does not run this operation"
#define HD_NOT_MIXED       "it runs one operation at a time"
/* What a design says of operations that need an order of keys, if it has none. */
#define HD_UNORDERED "it keeps no order of keys"

/* A row of a variant of a design on a backend: which code runs a batch. */
typedef struct hd_kernel {
    const hd_design *design;
    const hd_backend *backend;
    const hd_variant *variant;
    const hd_variant_row *is;
    uint32_t row; /* its number */
} hd_kernel;

/* Row `row` of the variants there; false past the last. */
static inline bool hd_kernel_of(const hd_design *d, const hd_backend *on, uint32_t row, hd_kernel *k)
{
    k->design = d;
    k->backend = on;
    k->is = hd_variant_row_at(hd_variants_on(d, on), row, &k->variant);
    k->row = row;
    return k->is != NULL;
}

bool hd_kernel_at(size_t i, hd_kernel *k); /* of all designs on all backends; false past the end */
/* hd_kernel_of by name; false, too, where there is no such design or backend. */
bool hd_kernel_named(const char *design, const char *backend, uint32_t row, hd_kernel *k);
/* The present name of a kernel that had another one (hd_variant.formerly); any other name as it is. */
const char *hd_kernel_renamed(const char *name);

static inline const char *hd_kernel_unsupported(const hd_kernel *k, const hd_info *info, const hd_batch *b)
{
    return (k->backend->unsupported ? k->backend->unsupported : k->design->unsupported)(k->is, info, b);
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * held.h - two calls of one table, one after the other, while the streams of the first are held up: what each gives,
 * and what the table holds then. The calls are all operations of base/op.h with all arrays they know, and the calls of
 * heddle.h that take a table. t_held.c makes them on a fake device whose streams run only when a call waits, and
 * held_cuda.cu on a GPU behind a kernel that waits. Only public functions of the library are called.
 */
#ifndef HELD_H
#define HELD_H

#include "heddle.h"
#include "base/op.h"

#ifndef HELD_LIST
#define HELD_LIST 400 /* slots that an export lists, at most */
#endif

enum { HELD_ITEMS = 16, HELD_LIMIT = 2, HELD_VALUE = 8, HELD_KEYS = 60, HELD_NUMBERS = 72 };

typedef enum held_memory { HELD_DEVICE, HELD_HOST, HELD_PINNED, HELD_MEMORIES } held_memory;

typedef struct held_arrays {
    uint64_t key[HELD_ITEMS], key2[HELD_ITEMS], score[HELD_ITEMS];
    uint8_t value[HELD_ITEMS * HELD_VALUE], flag[HELD_ITEMS], each[HELD_ITEMS];
    /* from here on: written by the call */
    uint64_t count, score_out[HELD_ITEMS], key_out[HELD_ITEMS * HELD_LIMIT], list_key[HELD_LIST], list_score[HELD_LIST],
        list_item[HELD_LIST];
    void *ptr[HELD_ITEMS];
    uint32_t rows[HELD_ITEMS];
    uint8_t value_out[HELD_ITEMS * HELD_LIMIT * HELD_VALUE], list_value[HELD_LIST * HELD_VALUE], outcome[HELD_ITEMS];
    bool found[HELD_ITEMS], more[HELD_ITEMS];
} held_arrays;

/* What a call or a table said, in numbers that are equal in equal runs. */
typedef struct held_got {
    hd_status status;
    uint64_t n, number[HELD_NUMBERS];
} held_got;

typedef struct held_side held_side;
typedef struct held_pair held_pair;
typedef struct held_how held_how;

/* Where the tables are. take: HELD_DEVICE or HELD_PINNED. read and write are done when they return, and wait for all
 * work there, as finish does. open and close: around all tables of a variant. */
typedef struct held_place {
    void *self;
    void (*open)(void *self, uint64_t page);
    void (*close)(void *self);
    void *(*take)(void *self, held_memory memory, size_t bytes);
    void (*give)(void *self, held_memory memory, void *p);
    void (*write)(void *self, void *to, const void *from, size_t bytes);
    void (*read)(void *self, void *to, const void *from, size_t bytes);
    void (*finish)(void *self);
    /* Puts a copy of a device's memory on a stream. HELD_HOST: as far as that does not wait. */
    void (*put)(void *self, held_memory memory, void *to, const void *from, size_t bytes, void *stream);
    /* The first call's stream is held up; or, if `early`, in orders from 2 on, all work that is put anywhere from
     * before the table is opened (first: NULL). release: both calls have returned, and all work gets done. */
    void (*hold)(void *self, const held_side *first, const held_how *h);
    void (*release)(void *self, const held_side *first, const held_side *second, const held_how *h);
    void (*tried)(void *self, const held_pair *p, const held_how *h, bool same); /* NULL: nothing */
    void (*begin)(void *self, const char *what); /* before each step, what it is, in words; NULL: nothing */
    const hd_seams *seams;
    const char *folder; /* for files */
    void *stream[2];
    int orders; /* of HELD_ORDERS */
    bool early;
    bool roomy; /* items of a batch have no order there: nothing is evicted, and no bucket is full */
} held_place;

typedef struct held_call {
    const char *name;
    hd_status (*call)(struct held_side *s, hd_table *t, hd_batch *b);
    bool waits;  /* for all earlier batches, and is done when it returns */
    bool batch;  /* the arrays of *b are used, on its stream */
    bool last;   /* no call may follow */
    bool tables; /* not an operation of base/op.h */
    hd_op op;
    hd_role role;
    uint32_t does;
} held_call;

/* All calls; NULL past the last. */
const held_call *held_call_at(size_t i);
/* The functions of the public headers that they make, with a blank around each. */
extern const char held_functions[];

/* A table of a variant; NULL past the last. */
typedef struct held_variant {
    const char *name, *design;
    void (*set)(hd_config *c);
    bool near;     /* part of it is in host memory: near_bytes is the least that works */
    uint64_t page; /* of a fake device; 0: as it comes */
} held_variant;
const held_variant *held_variant_at(size_t i);

/* A call to be made: what it is, where its arrays are, on which stream. */
struct held_side {
    const held_call *call;
    held_memory memory;
    void *stream;
    uint64_t seed;
    held_arrays *there;
    void *from; /* of a device: what is copied to the arrays, on the stream, before the call */
    const held_place *place;
    hd_info then; /* of the table, before either call */
    held_got got;
};

/* ---- Two calls ------------------------------------------------------------------------------- */

struct held_pair {
    const held_variant *variant;
    const char *lock, *policy;
    const held_call *call[2];
    held_memory memory[2];
};

enum { HELD_STREAMS = 4, HELD_THREADS = 3, HELD_ORDERS = 4 };

struct held_how {
    bool delayed, swapped; /* swapped: the second call is made first */
    int streams, threads, order;
    uint64_t without; /* for place.hold */
};

typedef struct held_result {
    held_got side[2], end;
} held_result;

/* What two calls give without delay, by held_how.streams and swapped: tables on side streams count more batches. */
typedef struct held_wanted {
    bool has[HELD_STREAMS][2];
    held_result r[HELD_STREAMS][2];
} held_wanted;

/* Whether the calls give what they give without delay: of one order, or of any where none is promised. */
bool held_right(const held_place *place, const held_pair *p, const held_how *h, held_wanted *w, held_result *got);
/* In words, static storage: a pair, and what a wrong one gave. */
const char *held_named(const held_pair *p, const held_how *h);
const char *held_where(const held_result *got, const held_result *want);
/* Writes the files that hd_load loads. */
void held_files(const held_place *place, const held_variant *v);

/* ---- All pairs ------------------------------------------------------------------------------- */

enum { HELD_CALLS_MOST = 96 };

typedef struct held_tally {
    uint64_t runs, differ, callers; /* callers: it is for the caller to keep the two apart */
    bool tried[HELD_CALLS_MOST][HELD_CALLS_MOST], possible[HELD_CALLS_MOST][HELD_CALLS_MOST];
} held_tally;

/* The pairs of calls that variant `number` has: those that were not tried yet, and one in `share` of the others; in all
 * ways, or in `ways` if that is not 0. No more after so many seconds, if that is not 0. */
void held_try(const held_place *place, size_t number, uint64_t share, uint64_t ways, double seconds, held_tally *n);
/* "12 of 13 pairs of 4 calls, ..." */
const char *held_told(const held_tally *n);

#endif

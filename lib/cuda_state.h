/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_state.h - a table in a device's memory, as the files of backend "cuda" share it: backend_cuda.c (open, close,
 * batches), cuda_memory.c (its memory), cuda_grow.c and cuda_whole.c (calls of the whole table).
 */
#ifndef HD_CUDA_STATE_H
#define HD_CUDA_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/ask.h"
#include "base/backend.h"
#include "concurrency/streams.h"
#include "lib/staging.h"

enum { HD_CUDA_SEEN = 256 /* addresses of arrays that are remembered */ };

enum { HD_CUDA_WALK_PIECES = 2 };

/* A walk over the entries (cuda_walk.c); zero: there is none. */
typedef struct hd_cuda_walk_state {
    bool on;
    hd_walk_how how;
    uint32_t what; /* is copied of the entries: HD_PART_KEYS, ... */
    void *stream;
    uint8_t *memory;                   /* (HD_CUDA_WALK_PIECES, bytes), pinned */
    uint64_t bytes, each;              /* of a piece; buckets in it */
    hd_part part[HD_CUDA_WALK_PIECES]; /* what the pieces have; buckets 0: nothing */
    void *event[HD_CUDA_WALK_PIECES];  /* behind the last copy of the piece */
    int now;                           /* the piece that is read */
    bool stored;                       /* since hd_gpu_parts.filled was called last */
    hd_status status;                  /* the first failure */
} hd_cuda_walk_state;

typedef struct hd_cuda {
    const hd_design *design;
    const hd_gpu *gpu;
    const hd_seams *seams;
    const hd_device_seam *seam;
    hd_device device;
    void *together; /* the pieces HD_TOGETHER, one allocation */
    void *room;     /* the pieces HD_OF_BATCH, another one    */
    hd_cuda_walk_state walk;
    pthread_mutex_t walking; /* one walk at a time, and its caller holds it. Before busy */
    void *staged;            /* a state of the reference between stage and settle */
    bool staged_values;
    hd_streams streams;
    _Atomic uintptr_t seen[HD_CUDA_SEEN]; /* arrays of the device; 0: none */
    _Atomic uint32_t seen_turn;
    hd_staging staging;   /* its mutex is taken before busy */
    pthread_mutex_t busy; /* held while a batch is put on a stream, and while a view is open */
    hd_visit viewing;     /* of the view that is open */
    /* (gpu->state_bytes): a hd_gpu_state and the design's; its pointers are the device's */
    _Alignas(max_align_t) unsigned char state[];
} hd_cuda;

static inline hd_gpu_state *hd_cuda_state(hd_cuda *c) { return (hd_gpu_state *)(void *)c->state; }

/* A call of the device's seam, as a status that says what it was for. */
#define HD_CUDA_ASK(c, what, call, ...) HD_ASK((c)->seam, what, call, __VA_ARGS__)

/* The table's device, for the calling thread; and back to the one it had. leave returns `status` or, when that is good,
 * its own. */
hd_status hd_cuda_enter(const hd_cuda *c, int *before);
hd_status hd_cuda_leave(const hd_cuda *c, int before, hd_status status);

/* Waits for the stream, after a failure, too: no copy may arrive after its memory has another owner. */
hd_status hd_cuda_wait_anyway(const hd_cuda *c, const char *what, hd_status status, void *stream);

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Device memory: at least one byte, and no more than can be addressed. give: NULL is none. */
hd_status hd_cuda_take(const hd_cuda *c, const char *what, uint64_t bytes, void **p);
void hd_cuda_give(const hd_cuda *c, void *p);

/* What arrays that share an allocation are aligned to. */
uint64_t hd_cuda_placed(uint64_t bytes);
/* One array more, behind *bytes of others, if all of them can be addressed; size is not 0. */
hd_status hd_cuda_place(const char *what, uint64_t count, uint64_t size, uint64_t *bytes);

/* A piece HD_APART, or one that can grow; its address goes to the state. fill: puts its byte there on the default
 * stream. */
hd_status hd_cuda_take_piece(hd_cuda *c, const hd_memory *piece);
hd_status hd_cuda_fill_piece(const hd_cuda *c, const hd_memory *piece);
void hd_cuda_give_piece(hd_cuda *c, const hd_memory *piece);

/* One allocation for all pieces of that kind, named after the first one. *p is NULL if they have no bytes. */
hd_status hd_cuda_take_together(hd_cuda *c, const hd_memory *all, int n, hd_put put, void **p);
/* This machine's memory, pinned. */
hd_status hd_cuda_take_pinned(hd_cuda *c, const hd_memory *piece);
void hd_cuda_give_pinned(hd_cuda *c, void *p, uint64_t bytes);

/* All that the state's shape asks for, filled; hd_cuda_give_all gives back what was taken, also after a failure. */
hd_status hd_cuda_take_all(hd_cuda *c);
void hd_cuda_give_all(hd_cuda *c);

/* ---- Walks (cuda_walk.c) --------------------------------------------------------------------- */

/* hd_backend.next and put_at between hd_cuda_walk and hd_cuda_walked. flush: what was put so far is in the table. */
size_t hd_cuda_walk_next(hd_cuda *c, hd_entry *e, size_t most);
bool hd_cuda_walk_put_at(hd_cuda *c, const hd_entry *e);
hd_status hd_cuda_walk_flush(hd_cuda *c);

/* ---- Launching ------------------------------------------------------------------------------- */

typedef struct hd_cuda_stream {
    hd_cuda *c;
    void *stream;
    const char *what; /* as messages call what is run */
    void **prepared;  /* the stream's (hd_launch); NULL: none */
} hd_cuda_stream;

hd_launcher hd_cuda_launcher(hd_cuda_stream *o);
/* What calls of the whole table ask the device with (cuda_grow.c). */
hd_gpu_machine hd_cuda_machine(hd_cuda_stream *o);

/* ---- Members of hd_backend_cuda -------------------------------------------------------------- */

/* bare: as open, but the planes are as they come: all of them will be written. */
hd_status hd_cuda_open_bare(const hd_design *d, const hd_info *info, const hd_seams *s, void **state);
void hd_cuda_close(void *state, const hd_seams *s);
hd_status hd_cuda_grow(const hd_design *d, const hd_seams *s, const hd_info *info, void **state);
/* cuda_walk.c */
hd_status hd_cuda_walk(void *state, hd_walk_how how);
hd_status hd_cuda_look(void *state, uint32_t what);
hd_status hd_cuda_walked(void *state, bool keep);
/* cuda_whole.c */
hd_status hd_cuda_stage(void *state, bool values);
hd_status hd_cuda_settle(void *state, bool changed);
hd_status hd_cuda_check(void *state);
size_t hd_cuda_next(void *state, hd_entry *e, size_t most);
hd_status hd_cuda_learn(void *state, const hd_seams *s, const hd_keys *keys);
bool hd_cuda_put_at(void *state, const hd_entry *e);
void hd_cuda_move_all(void *from, void *to);
hd_status hd_cuda_tally(void *state, uint64_t *outcome, uint64_t *op);
hd_status hd_cuda_clock(void *state, uint64_t *ns);
hd_status hd_cuda_resize(void *state, const hd_seams *s, uint64_t buckets, hd_info *info);
hd_status hd_cuda_set_near(void *state, const hd_seams *s, uint64_t near_bytes, hd_info *info);
hd_status hd_cuda_room_for(void *state, const hd_seams *s, const uint64_t *key, uint64_t n, hd_info *info, bool *made);

#endif

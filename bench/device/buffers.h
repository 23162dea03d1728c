/* SPDX-License-Identifier: Apache-2.0
 *
 * buffers.h - the arrays of a queue of calls, all made before the first call is timed. Each call has its own inputs and
 * outputs, so no cache has its inputs, and its outputs are not overwritten in a cache.
 */
#ifndef HD_BENCH_BUFFERS_H
#define HD_BENCH_BUFFERS_H

#include "base/op.h"
#include "bench/device/fixture.h"

/* What a batch of an operation brings along, besides keys: what one asks of it, and no more. */
enum {
    TRAY_VALUE = 1, /* in                               */
    TRAY_OUT = 2,   /* values out                       */
    TRAY_PTR = 4,
    TRAY_OUTCOME = 8, /* where it is an answer, not a log */
    TRAY_LIST = 16,   /* keys, values, scores, count      */
    TRAY_EACH = 32,   /* of a mixed batch: every item's operation */
    TRAY_KEYS = 64,   /* of a list: keys and count        */
    TRAY_COUNT = 128,
    TRAY_KEY_OUT = 256 /* keys of neighbours */
};

/* A mixed batch (draw.h), where an operation is asked for. */
#define BENCH_MIXED HD_OP_COUNT_
enum { BENCH_OPS = HD_OP_COUNT_ + 1 };

typedef struct bench_buffers_row {
    hd_op op;
    uint32_t arrays;
    hd_outcome found; /* what becomes of an item whose key is there */
    bool point;       /* points measure it (point.h), not cliffs.h alone */
} bench_buffers_row;

/* NULL: no operation that points measure; bench_buffers_any: that is measured at all. */
const bench_buffers_row *bench_buffers_row_of(hd_op op);
const bench_buffers_row *bench_buffers_any(hd_op op);
/* hd_op_name, and "mixed". */
const char *bench_buffers_name(hd_op op);

/* All items whose keys are not there insert them. */
static inline bool bench_buffers_inserts(hd_op op)
{
    return hd_op_family(op) == HD_FAMILY_UPSERT && op != HD_OP_ACCUM_OR_ASSIGN;
}

typedef struct bench_buffers {
    const bench_buffers_row *row;
    uint64_t n, calls;
    uint8_t *memory; /* the device's */
    uint64_t bytes;
    uint64_t call_bytes;
    /* for checks: (n), (n, words), (n) */
    uint8_t *outcome;
    void *value_out;
    uint64_t *score_out;
} bench_buffers;

/* How many calls of n items fit into `most` bytes; at least one. */
uint64_t bench_buffers_calls(const bench_shape *shape, const bench_buffers_row *row, uint64_t n, uint64_t most);

/* Lays out arrays for so many calls; takes memory where it had less. Zeroed buffers have none. */
hd_status bench_buffers_set(bench_buffers *t, const bench_device *device, const bench_shape *shape,
                            const bench_buffers_row *row, uint64_t n, uint64_t calls);
void bench_buffers_drop(bench_buffers *t, const bench_device *device);

/* Call number c as a batch: its arrays are there, what is in them is not. */
hd_batch bench_buffers_batch(const bench_buffers *t, const bench_fixture *s, uint64_t c);

#endif

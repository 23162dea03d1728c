/* SPDX-License-Identifier: Apache-2.0
 *
 * staging.h - runs a batch on a device whose arrays are partly in host memory that kernels do not reach. The arrays
 * go through a ring of pinned slots, which the table owns. A batch goes in one of three ways:
 *
 *     direct   a batch of few bytes: kernels work on the copy in the pinned slot itself. No device copy is made
 *     pieces   other batches, if their items may run one after another: while the device works on one piece, several
 *              threads copy the next piece into the ring, and the outputs of the last one out of it
 *     whole    batches that cannot be cut: all arrays are copied to the device, and the outputs back, slot by slot.
 *              Also batches that count entries: thousands of warps add to the number, and an addition to pinned memory
 *              takes a microsecond
 *
 * A batch cannot be cut if an item of one piece could take back what an earlier piece delivered (find_or_insert_ptr:
 * hd_op says to which key a pointer belongs), if only some of its lists are in host memory, or if a captured batch of
 * the table could run between two pieces. Items of a batch may take effect in any order, so in other batches one piece
 * after another is a valid order. The caller keeps other batches away meanwhile.
 */
#ifndef HD_STAGING_H
#define HD_STAGING_H

#include <pthread.h>

#include "base/backend.h"

/* Sizes; the usual ones are hd_staging_usual. Tests have smaller ones. */
typedef struct hd_staging_sizes {
    uint64_t slot_bytes;   /* of a pinned slot                                    */
    uint64_t direct_bytes; /* a batch of at most so many bytes runs `direct`       */
} hd_staging_sizes;

enum { HD_STAGING_SLOTS = 4 };

extern const hd_staging_sizes hd_staging_usual;

typedef struct hd_staging {
    const hd_seams *seams;
    const char *device; /* its name, for messages */
    hd_staging_sizes sizes;
    uint8_t *ring; /* (HD_STAGING_SLOTS, slot_bytes), pinned; NULL before the first batch that needs it */
    void *event[HD_STAGING_SLOTS];
    uint8_t *room; /* device memory that arrays are copied to; grows with the largest batch or piece */
    uint64_t room_bytes;
    pthread_mutex_t mutex; /* one batch at a time */
} hd_staging;

/* Bytes of pinned memory of a table. hd_info.memory_bytes has them from the beginning. */
static inline uint64_t hd_staging_bytes(const hd_staging_sizes *sizes) { return HD_STAGING_SLOTS * sizes->slot_bytes; }

/* Puts a batch, or a piece of one that begins at item (export: slot) `first`, on its stream. */
typedef hd_status hd_put_batch(void *self, const hd_batch *b, uint64_t first);

void hd_staging_open(hd_staging *h, const hd_seams *seams, const char *device);
void hd_staging_close(hd_staging *h);

/* Runs batch b, and waits for it. all: its `used` arrays (hd_batch_arrays); reach: where each of them is, at least one
 * of them HD_REACH_NONE. uncut: the batch must not run in pieces. HD_ENOMEM: nothing has run. After another failure
 * some pieces may have run. */
hd_status hd_staging_run(hd_staging *h, const hd_batch *b, uint32_t value_bytes, const hd_array *all,
                         const hd_reach *reach, int used, bool uncut, hd_put_batch *put, void *self);

#endif

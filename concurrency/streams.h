/* SPDX-License-Identifier: Apache-2.0
 *
 * streams.h - a batch lock on a device, where a batch runs after its call has returned: steps on the streams keep what
 * is put on one stream apart from what other streams do. The host waits for nothing. The caller lets one thread in at a
 * time.
 *
 * By events. Batches that may run together make up a phase. The first batch of a phase waits for events behind all
 * batches of the phase before, and records an event for those that join the phase on other streams. Compatible batches
 * therefore follow the phase before and nothing else. A batch waits for no event of its own stream.
 *
 * By the word. A kernel before the batch takes the word, one behind it gives it back (word.h).
 *
 * Stream capture. By events: which phases surround a launch of the graph is not known when it is captured. From the
 * first capture on, the table's batches run one after another, in the order of the calls and launches, each behind an
 * event of the one before. By the word: launches compete for it like any batch.
 *
 * Batches that list share the memory in which lists are made: they follow each other, readers or not.
 */
#ifndef HD_STREAMS_H
#define HD_STREAMS_H

#include "concurrency/lock.h"
#include "concurrency/word.h"
#include "base/seam.h"

enum { HD_STREAM_SLOTS = 32 }; /* streams that are distinguished; with more, some wait without need */

/* A stream, by its last batch. */
typedef struct hd_stream_slot {
    uint64_t stream;        /* hd_stream_state.id */
    void *event;            /* behind the batch   */
    uint64_t batch;         /* its number; 0: the slot was never used */
    void *prepared;         /* hd_launch.prepared of the stream */
    uint64_t phase, joined; /* of that batch; which phase's beginning the stream has waited for */
} hd_stream_slot;

typedef struct hd_streams {
    const hd_device_seam *seam;
    hd_apart apart;
    uint32_t together;
    hd_stream_slot slot[HD_STREAM_SLOTS];
    uint64_t batches;
    uint64_t phase;            /* the present one's number */
    hd_role role;              /* and what its batches are */
    void *begun;               /* event before its first batch */
    void *listed;              /* event behind the last batch that lists */
    hd_stream_state listed_on; /* its stream */
    uint64_t capture;          /* the last one that a batch was put into; 0: none, and so no graph is launched */
    void *captured;            /* on this stream */
    void *last;                /* event behind the last batch, once there are captures */
    hd_word *word;             /* the device's */
    const hd_gpu *gpu;         /* whose kernels change the word */
    bool stuck;                /* the word was taken and cannot be given back */
} hd_streams;

/* A batch about to be put on a stream. */
typedef struct hd_visit {
    void *stream;
    hd_role role;
    bool lists;
    hd_stream_state is;   /* the stream's */
    hd_stream_slot *slot; /* enter's and leave's own */
} hd_visit;

hd_status hd_streams_open(hd_streams *s, const hd_device_seam *seam, const hd_lock_row *row, hd_word *word,
                          const hd_gpu *gpu);
void hd_streams_close(hd_streams *s);

/* HD_EINVAL: this capture has the table on another stream, and the order of the two could not be kept. */
hd_status hd_streams_may_capture(const hd_streams *s, const hd_visit *v);
/* What is put on the stream between the two has effect apart from what conflicts with it. Leave, also when what was put
 * has failed; it returns `status` or, when that was good, its own. */
hd_status hd_streams_enter(hd_streams *s, hd_visit *v);
hd_status hd_streams_leave(hd_streams *s, const hd_visit *v, hd_status status);

/* Between enter and leave: where the stream's prepared launch is kept (hd_launch); NULL: nowhere. A prepared launch
 * runs after its earlier launch, on whatever stream that was. It is therefore not used where this could make a stream
 * wait for another one: in a slot that belonged to another stream until now, and by the word, whose kernels wait on the
 * device. In a capture it is not used either. */
void **hd_streams_prepared(const hd_streams *s, const hd_visit *v);

/* What is put on the NULL stream between the two comes after all batches that were put on any, and is alone. */
hd_status hd_streams_join(hd_streams *s);
hd_status hd_streams_part(hd_streams *s, hd_status status);

#endif

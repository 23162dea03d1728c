/* SPDX-License-Identifier: Apache-2.0
 *
 * streams.h - a lock on a device, where a batch runs after its call has returned: what is put on one stream is kept
 * apart from what other streams do, by steps on the streams themselves. The host waits for nothing, and whoever calls
 * sees to it that one thread is here at a time.
 *
 * By marks. Batches that may run together make up a phase. The first one of a phase waits for marks behind all batches
 * of the phase before, and leaves a mark for those that join it on other streams. Compatible batches therefore follow
 * nothing but the phase before, and each waits for one mark more than it has company at most.
 *
 * By the word. A step before the batch waits for it, a step behind gives it back (word.h).
 *
 * Recordings (a stream that is captured into a graph). By marks: who records cannot know the phases of its replays.
 * From the first recording on, the table's batches run one after another, in the order of the calls and launches, each
 * behind a mark that the one before leaves. By the word: replays compete for it like any batch.
 *
 * Batches that list share the room in which lists are made: they follow each other, readers or not.
 */
#ifndef HD_STREAMS_H
#define HD_STREAMS_H

#include "concurrency/lock.h"
#include "concurrency/word.h"
#include "base/seam.h"

enum { HD_STREAM_SLOTS = 32 }; /* streams that are told apart; of more, some wait for others without need */

/* A stream, by its last batch. */
typedef struct hd_stream_slot {
    void *stream, *mark;
    uint64_t batch;         /* its number; 0: the lane was never used */
    uint64_t phase, joined; /* of that batch; which phase's beginning the stream has waited for */
} hd_stream_slot;

typedef struct hd_streams {
    const hd_device_seam *seam;
    hd_apart apart;
    uint32_t together;
    hd_stream_slot lane[HD_STREAM_SLOTS];
    uint64_t batches;
    uint64_t phase;        /* the present one's number */
    hd_role role;          /* and what its batches are */
    void *begun;           /* before its first batch   */
    void *listed;          /* behind the last batch that lists */
    uint64_t recording;    /* the last one that a batch was put into; 0: none, and so none is replayed */
    void *recorded;        /* on this stream */
    void *last;            /* behind the last batch, once there are recordings */
    hd_word *word;         /* the device's */
    uint32_t enter, leave; /* kernels: hd_word_enter, hd_word_leave */
    bool stuck;            /* nobody can give the word back any more */
} hd_streams;

/* A batch about to be put on a stream. */
typedef struct hd_visit {
    void *stream;
    hd_role role;
    bool lists;
    uint64_t recording;   /* 0: none */
    hd_stream_slot *lane; /* enter's and leave's own */
} hd_visit;

hd_status hd_streams_open(hd_streams *s, const hd_device_seam *seam, const hd_lock_row *row, hd_word *word,
                          uint32_t enter, uint32_t leave);
void hd_streams_close(hd_streams *s);

/* HD_EINVAL: this recording has the table on another stream, and the order of the two could not be kept. */
hd_status hd_streams_may_record(const hd_streams *s, const hd_visit *v);
/* What is put on the stream between the two has effect apart from what conflicts with it. Leave, also when what was put
 * has failed; it returns `status` or, when that was good, its own. */
hd_status hd_streams_enter(hd_streams *s, hd_visit *v);
hd_status hd_streams_leave(hd_streams *s, const hd_visit *v, hd_status status);

/* What is put on the NULL stream between the two comes after all batches that were put on any, and is alone. */
hd_status hd_streams_join(hd_streams *s);
hd_status hd_streams_part(hd_streams *s, hd_status status);

#endif

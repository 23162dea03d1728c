/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_device.h - a device without a GPU: memory that only its kernels and copies can access, streams that run their
 * work only when a call waits for it, recordings of streams, kernels that the host machine runs, and calls that fail
 * on request.
 */
#ifndef FAKE_DEVICE_H
#define FAKE_DEVICE_H

#include "base/design.h"
#include "simt/machine.h"
#include "tests/testing.h"

enum {
    FAKE_PIECES = 256,
    FAKE_FAR = 32,
    FAKE_WORK = 65536,
    FAKE_RECORDED = 256,
    FAKE_SITES = 256,
    FAKE_FRAMES = 3,
    FAKE_INVALID = 1,
    FAKE_LAUNCH_FAILED = 719
};

typedef enum fake_kind { FAKE_COPY, FAKE_FILL, FAKE_LAUNCH, FAKE_WAIT, FAKE_RECORD } fake_kind;

typedef enum fake_pace {
    FAKE_LAZY,  /* nothing */
    FAKE_HOLD,  /* all that can, but the work of stream `held` and what waits for it */
    FAKE_CHANCE /* what chance takes */
} fake_pace;

/* Streams whose work runs: each waits for the one before it in the list. */
typedef struct fake_running {
    const void *stream;
    const struct fake_running *outer;
} fake_running;

/* Something put on a stream. */
typedef struct fake_work {
    fake_kind kind;
    void *stream, *to;
    const void *from; /* this machine's bytes are kept, as CUDA keeps those of pageable memory */
    void *kept;
    size_t bytes;
    int byte;
    hd_launch launch;
    size_t mark; /* FAKE_WAIT: all of mark_stream's work before this number (fake_device.before) */
    void *mark_stream;
    void *event; /* FAKE_WAIT, FAKE_RECORD in a recording: the event itself */
    bool done;
} fake_work;

/* Memory that can grow, and has one address or several. */
typedef struct fake_memory {
    int fd;
    size_t bytes, names;
} fake_memory;

typedef struct fake_piece {
    void *p;
    size_t bytes, mapped;
    bool others;         /* another device's */
    fake_memory *memory; /* NULL: it cannot grow */
} fake_piece;

/* Work that was put on a stream to be done at each replay. */
typedef struct fake_recording {
    uint64_t number;
    void *stream, *branch; /* branch: NULL, or a stream that follows the first into the recording */
    fake_work *work;       /* (FAKE_RECORDED) */
    size_t works;
} fake_recording;

/* A place in the code that waits: by the addresses that its calls return to, the innermost first. */
typedef struct fake_site {
    uint64_t number, times;
    void *at[FAKE_FRAMES];
} fake_site;

typedef struct fake_device {
    hd_device_seam seam; /* counting.seams.device = &fake.seam */
    simt_machine *machine;
    const hd_design *host;                        /* whose kernels are launched; NULL: of the library's designs */
    fake_piece piece[FAKE_PIECES], far[FAKE_FAR]; /* far: this machine's, that kernels reach */
    fake_work *work;
    const fake_running *running;
    size_t pieces, fars, works, events, streams, prepared, prepared_runs, copies,
        before;                                  /* before: so much work was done and forgotten */
    uint64_t live_bytes, peak_bytes, most_bytes; /* most_bytes: what there is of memory, 0: any */
    uint64_t poison;                             /* what is in new memory: test_poison; 0xa5 at first */
    uint64_t most_far_bytes;                     /* what may be pinned, 0: any */
    uint64_t far_bytes, far_peak;                /* pinned now, and at most */
    fake_recording *recording;                   /* NULL: none at this time */
    uint64_t recordings;
    uint64_t clock_ns; /* what its clock said last */
    void **made;       /* (mades): streams that the table made */
    size_t mades;
    uint64_t renewed; /* how often all streams were destroyed and others made at their addresses */
    int device;       /* that the thread uses */
    uint64_t page;    /* hd_device.page; the machine's at first */
    /* The chosen call, from 1, fails with `code`; with `sticky` all later ones do, too. */
    uint64_t calls, fail_at;
    int code;
    bool sticky;
    const char *failed; /* its name */
    uint64_t skip_wait; /* the wait for an event, from 1, that is not put on its stream */
    bool skipped;
    bool quick;     /* this machine may access all memory, and of large memory the beginning alone is poisoned */
    fake_pace pace; /* what runs at each call without a wait for it */
    const void *held;
    uint64_t chance; /* random numbers */
    /* Where in the code waits are asked for, but so many frames, if not 0; those of `without` are left out. */
    int watches;
    uint64_t without;
    fake_site site[FAKE_SITES];
    size_t sites;
} fake_device;

void fake_init(fake_device *f);
/* Checks that everything was given back. */
void fake_settled(fake_device *f);
/* All work is done. */
void fake_finish(fake_device *f);

/* Arrays of the device, for batches that bring such; fake_read and fake_write wait for all work. */
void *fake_array(fake_device *f, const void *from, size_t bytes);
/* Of this machine, pinned; of another device, which kernels and this machine cannot access. */
void *fake_pinned_array(fake_device *f, const void *from, size_t bytes);
void *fake_array_of_another(fake_device *f, size_t bytes);
void fake_read(fake_device *f, void *to, const void *from, size_t bytes);
void fake_drop(fake_device *f, void *p);
/* The test may read and write all memory over there until the next call of the seam that works. */
void fake_let_in(fake_device *f);
void fake_write(fake_device *f, void *to, const void *from, size_t bytes);

/* One recording at a time; replays of it on any stream. */
void fake_record(fake_device *f, void *stream);
void fake_branch(fake_device *f, void *stream);
fake_recording *fake_recorded(fake_device *f);
void fake_replay(fake_device *f, const fake_recording *r, void *stream);
void fake_forget(fake_recording *r);

#endif

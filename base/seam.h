/* SPDX-License-Identifier: Apache-2.0
 *
 * seam.h - the only ways the library reaches the outside: memory, files, time, a device. Each is a small
 * table of functions, so that a test can make any one call fail, once or for good.
 */
#ifndef HD_SEAM_H
#define HD_SEAM_H

#include "heddle.h"

typedef struct hd_memory_seam {
    /* bytes > 0, align a power of two; NULL when refused. The memory is not cleared. */
    void *(*take)(void *self, size_t bytes, size_t align);
    void (*give)(void *self, void *p, size_t bytes); /* p may be NULL */
    void *self;
} hd_memory_seam;

/* As POSIX has them: -1 and errno on failure; short reads and writes and EINTR may happen. */
typedef struct hd_file_seam {
    int (*open)(void *self, const char *path, int flags, int mode);
    ptrdiff_t (*read)(void *self, int fd, void *p, size_t bytes);
    ptrdiff_t (*write)(void *self, int fd, const void *p, size_t bytes);
    int (*size)(void *self, int fd, uint64_t *bytes);
    int (*seek)(void *self, int fd, uint64_t offset); /* from the beginning */
    int (*sync)(void *self, int fd);
    int (*close)(void *self, int fd);
    int (*rename)(void *self, const char *from, const char *to);
    int (*unlink)(void *self, const char *path);
    int (*sync_folder)(void *self, const char *path); /* of the folder that holds `path` */
    bool (*special)(void *self, const char *path);    /* is a device or a pipe there, not to be replaced by a file? */
    ptrdiff_t (*read_at)(void *self, int fd, void *p, size_t bytes, uint64_t offset);
    ptrdiff_t (*write_at)(void *self, int fd, const void *p, size_t bytes, uint64_t offset);
    int (*sync_data)(void *self, int fd); /* and what is necessary to read it: the file's size */
    uint64_t sync_bytes;                  /* what could be written in the time of a sync, nearly */
    int (*lock)(void *self, int fd);      /* until it is closed; EWOULDBLOCK: another opening of the file has it */
    /* Whole pages of memory: zeros (fd -1), or those of a file from `offset` on, shared with it. at: in place of pages
     * that this function gave; NULL: anywhere. NULL and errno on failure. map NULL: files cannot be mapped. */
    void *(*map)(void *self, void *at, size_t bytes, int fd, uint64_t offset);
    void (*unmap)(void *self, void *p, size_t bytes);
    bool (*in_memory)(void *self, int fd); /* its file system has no disk. NULL: all of them */
    /* Pages of a file from its beginning on, where the file is memory that outlives power. NULL and errno on failure;
     * EOPNOTSUPP: it is no such file, or this processor cannot write lines back to it. map_lines NULL: no file is. */
    void *(*map_lines)(void *self, size_t bytes, int fd);
    /* The lines of such pages that have these bytes are on their way; when `fence` has returned they are there. */
    void (*write_back)(void *self, const void *p, size_t bytes);
    void (*fence)(void *self);
    void *self;
} hd_file_seam;

typedef struct hd_time_seam {
    uint64_t (*now_ns)(void *self);  /* monotonic: for durations */
    uint64_t (*unix_ns)(void *self); /* since 1970: HD_CLOCK_DEVICE on this machine */
    void *self;
} hd_time_seam;

/* One kernel to run: a row of the device's table of kernels, and its argument by value. */
typedef struct hd_gpu hd_gpu; /* base/backend.h */

typedef struct hd_launch {
    const hd_gpu *gpu; /* whose kernels are numbered */
    uint32_t kernel;
    uint32_t threads; /* per block */
    uint64_t blocks;  /* or as many as run at a time: kernels go over their items in strides */
    const void *args;
    size_t args_bytes;
    /* Where a prepared launch is kept, which makes later launches on the same stream faster. *prepared is NULL before
     * the first launch; the seam sets it, and prepared_destroy frees it. NULL: none is kept. Always NULL in a
     * capture. */
    void **prepared;
} hd_launch;

typedef enum hd_way { HD_TO_DEVICE, HD_FROM_DEVICE, HD_WITHIN_DEVICE } hd_way;

/* The device of the calling thread. */
typedef struct hd_device {
    int number;
    uint32_t processors; /* each runs some 2,048 threads at a time */
    uint64_t page;       /* memory that can grow has a multiple of so many bytes; 0: none can grow */
    char name[128];
} hd_device;

typedef struct hd_stream_state {
    uint64_t id;      /* no other stream of this process has had it: one address may be two streams, in turn. 0 in a
                         capture */
    uint64_t capture; /* which capture the stream is in; 0: none                                              */
} hd_stream_state;

/* Memory, as kernels of the thread's device see it. */
typedef enum hd_reach {
    HD_REACH_NONE,   /* this machine's, out of their reach */
    HD_REACH_BOTH,   /* kernels and this machine reach it by the same address: managed, or pinned and mapped */
    HD_REACH_DEVICE, /* the device's, or another one's that they may access */
    HD_REACH_OTHER   /* another device's, out of their reach */
} hd_reach;

enum { HD_DEVICE_NO_MEMORY = 2 }; /* what `take` returns then: CUDA's number for it */

/* A device: memory of its own, and streams of work on it, which wait for nothing unless said. Each function returns
 * 0, or a number that `error` puts into words. Once work on a device has failed, whatever follows may fail too. All but
 * find and use are for the device that the calling thread uses. */
typedef struct hd_device_seam {
    int (*find)(void *self, hd_device *device); /* is there one that can run the kernels? */
    int (*use)(void *self, int device, int *before);
    int (*take)(void *self, void **p, size_t bytes); /* bytes > 0; not cleared */
    int (*give)(void *self, void *p);                /* waits for all work     */
    /* Memory that can grow; only where hd_device.page is not 0. grow: *q is memory of so many bytes, which are more. It
     * begins with that of p: what is stored by one address is loaded by the other. p stays, and both are given back, in
     * any order. The rest is not cleared. */
    int (*take_growing)(void *self, void **p, size_t bytes);
    int (*grow)(void *self, void *p, size_t bytes, void **q);
    /* Memory of this machine that kernels reach, too, by the same address: pinned, and slow to them. Not cleared. */
    int (*take_pinned)(void *self, void **p, size_t bytes);
    int (*give_pinned)(void *self, void *p, size_t bytes); /* waits for all work */
    /* Whole pages of this machine's memory become such memory, and are the caller's again; unpin waits for all work. */
    int (*pin)(void *self, void *p, size_t bytes);
    int (*unpin)(void *self, void *p);
    int (*copy)(void *self, void *to, const void *from, size_t bytes, hd_way way, void *stream);
    int (*fill)(void *self, void *to, int byte, size_t bytes, void *stream);
    int (*launch)(void *self, const hd_launch *l, void *stream);
    /* Loads all kernels of these now: the first launch of each may otherwise wait for all that runs. NULL: it never
     * does. */
    int (*load)(void *self, const hd_gpu *gpu);
    int (*prepared_destroy)(void *self, void *prepared); /* of hd_launch.prepared */
    int (*wait)(void *self, void *stream);               /* until all work of the stream is done */
    /* A stream that waits for no other, not even for the default one. */
    int (*stream_make)(void *self, void **stream);
    int (*stream_destroy)(void *self, void *stream); /* its work goes on */
    /* Which stream it is, and whether it is being captured into a graph. */
    int (*stream_state)(void *self, void *stream, hd_stream_state *state);
    /* An event is a point in a stream: done when the work before it is. *event is made when NULL. `capture` is the
     * stream's (hd_stream_state). In a capture both become nodes of the graph, which act at each launch. */
    int (*event_record)(void *self, void **event, void *stream, uint64_t capture);
    int (*event_wait)(void *self, void *event, void *stream, uint64_t capture); /* by what follows in the stream */
    int (*event_sync)(void *self, void *event); /* the caller waits until the event is done; not one of a capture */
    int (*event_destroy)(void *self, void *event);
    int (*reach)(void *self, const void *p, hd_reach *reach);
    const char *(*error)(void *self, int code); /* until the thread's next such call */
    void *self;
} hd_device_seam;

struct hd_seams {
    hd_memory_seam memory;
    hd_file_seam file;
    hd_time_seam time;
    const hd_device_seam *device; /* NULL: hd_device_os, when a table is opened */
    hd_allocator allocator;       /* the caller's memory of the device, and pinned memory; NULL functions: the seam's */
    hd_memory_seam pinned;        /* in place of both for pinned memory, which is zeros then; NULL functions: nothing */
};

extern const hd_seams hd_seams_os;

/* CUDA's, or one that never finds a device. It is in lib/: for lib/ and above. */
extern const hd_device_seam hd_device_os;

/* Whole-buffer forms, shared by everything that does I/O: they go on after EINTR and after short
 * transfers. Failures are HD_EIO with path, byte offset and errno's text. */
hd_status hd_file_read_at_most(const hd_seams *s, int fd, const char *path, void *p, size_t bytes, size_t *got);
hd_status hd_file_write_all(const hd_seams *s, int fd, const char *path, const void *p, size_t bytes);
/* The same at an offset. HD_ECORRUPT: the file ends before. */
hd_status hd_file_read_all_at(const hd_seams *s, int fd, const char *path, uint64_t offset, void *p, size_t bytes);
hd_status hd_file_write_all_at(const hd_seams *s, int fd, const char *path, uint64_t offset, const void *p,
                               size_t bytes);

/* count * size bytes, checked for overflow, aligned to 128; HD_ENOMEM with `what` in the sentence.
 * *p is NULL and HD_OK for 0 bytes. */
hd_status hd_take(const hd_seams *s, const char *what, uint64_t count, uint64_t size, void **p);
void hd_give(const hd_seams *s, void *p, uint64_t count, uint64_t size);

#endif

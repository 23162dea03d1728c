/* SPDX-License-Identifier: Apache-2.0
 *
 * write_behind.h - a file that is written block after block by a thread, while the caller fills the next block. The
 * thread starts with the second block: a small file is written by the caller. So is every block, if no thread can be
 * made.
 */
#ifndef HD_WRITE_BEHIND_H
#define HD_WRITE_BEHIND_H

#include <pthread.h>

#include "base/seam.h"

enum { HD_WRITING_BLOCK = 1 << 20 /* bytes written at a time */ };

typedef struct hd_writing {
    const hd_seams *seams;
    int fd;
    const char *path;  /* for messages */
    uint8_t *block[2]; /* (HD_WRITING_BLOCK) each */
    unsigned filling;  /* the block that the caller fills; the thread writes the other one */
    hd_status status;  /* of the first write that failed; nothing is written after it. The thread's while it writes */
    char why[512];     /* hd_why() of it: the thread's is not the caller's */
    uint64_t sent;     /* blocks; the second one starts the thread */
    bool threaded;     /* there is a thread */
    /* Under `lock`. */
    size_t pending; /* bytes of the other block that are to be written; 0: it is free */
    bool ended;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} hd_writing;

/* HD_ENOMEM: no blocks, and nothing to close. */
hd_status hd_writing_open(hd_writing *w, const hd_seams *s);
/* The block that the caller fills next. */
static inline uint8_t *hd_writing_block(const hd_writing *w) { return w->block[w->filling]; }
/* Writes the first `bytes` of that block to w->fd; hd_writing_block() is another one then, or the same. HD_EIO: an
 * earlier block was not written, and nothing is any more. */
hd_status hd_writing_send(hd_writing *w, size_t bytes);
/* Waits until all blocks are written, and ends the thread. HD_EIO: one was not, and hd_why() says why. */
hd_status hd_writing_end(hd_writing *w);
/* Gives the blocks back; after hd_writing_end. */
void hd_writing_close(hd_writing *w);

#endif

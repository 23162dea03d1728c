/* SPDX-License-Identifier: Apache-2.0
 *
 * write_behind.c - a file that is written by a thread (write_behind.h).
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "lib/write_behind.h"

hd_status hd_writing_open(hd_writing *w, const hd_seams *s)
{
    memset(w, 0, sizeof *w);
    w->seams = s;
    for (int i = 0; i < 2; i++) {
        void *block;
        hd_status status = hd_take(s, "save: buffer", 1, HD_WRITING_BLOCK, &block);
        if (status) {
            hd_writing_close(w);
            return status;
        }
        w->block[i] = (uint8_t *)block;
    }
    return HD_OK;
}

void hd_writing_close(hd_writing *w)
{
    HD_ASSERT(!w->threaded, "a thread writes blocks that are given back");
    for (int i = 0; i < 2; i++) hd_give(w->seams, w->block[i], 1, HD_WRITING_BLOCK);
}

static void write_block(hd_writing *w, const uint8_t *block, size_t bytes)
{
    w->status = hd_file_write_all(w->seams, w->fd, w->path, block, bytes);
    if (w->status) snprintf(w->why, sizeof w->why, "%s", hd_why());
}

static void *write_all(void *context)
{
    hd_writing *w = (hd_writing *)context;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!w->pending && !w->ended) pthread_cond_wait(&w->changed, &w->lock);
        if (!w->pending) break;
        const uint8_t *block = w->block[1 - w->filling];
        size_t bytes = w->pending;
        pthread_mutex_unlock(&w->lock);
        if (!w->status) write_block(w, block, bytes);
        pthread_mutex_lock(&w->lock);
        HD_ASSERT(w->pending == bytes && block == w->block[1 - w->filling], "a block changes while it is written");
        w->pending = 0;
        pthread_cond_signal(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void start(hd_writing *w)
{
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->threaded = hd_thread_start(&w->thread, write_all, w);
    if (w->threaded) return;
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}

/* lock is held. Waits until the other block is written. */
static void wait_for_other(hd_writing *w)
{
    while (w->pending) pthread_cond_wait(&w->changed, &w->lock);
}

hd_status hd_writing_send(hd_writing *w, size_t bytes)
{
    HD_ASSERT(bytes <= HD_WRITING_BLOCK && !w->ended);
    if (w->sent++ == 1) start(w);
    if (!w->threaded) {
        if (!w->status) write_block(w, hd_writing_block(w), bytes);
        return w->status;
    }
    pthread_mutex_lock(&w->lock);
    wait_for_other(w);
    hd_status status = w->status;
    w->filling = 1 - w->filling;
    w->pending = bytes;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    return status;
}

hd_status hd_writing_end(hd_writing *w)
{
    if (w->threaded) {
        pthread_mutex_lock(&w->lock);
        wait_for_other(w);
        w->ended = true;
        pthread_cond_signal(&w->changed);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
        pthread_cond_destroy(&w->changed);
        pthread_mutex_destroy(&w->lock);
        w->threaded = false;
    }
    return w->status ? hd_fail(w->status, "%s", w->why) : HD_OK;
}

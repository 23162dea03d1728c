/* SPDX-License-Identifier: Apache-2.0
 *
 * lazy.c - see lazy.h.
 */
#include "judge/museum/lazy.h"

#include <stdlib.h>
#include <string.h>

static void work_until(lazy *d, size_t end)
{
    for (; d->done < end; d->done++) {
        const lazy_work *w = &d->work[d->done];
        if (w->to)
            memcpy(w->to, w->from, w->bytes);
        else
            d->kernel(d, &w->batch);
    }
}

static int take(void *self, void **p, size_t bytes) { return (void)self, (*p = calloc(1, bytes)) ? 0 : 2; }
static int give(void *self, void *p) { return (void)self, free(p), 0; }
static int give_pinned(void *self, void *p, size_t bytes) { return (void)self, (void)bytes, free(p), 0; }

lazy_work *lazy_next(lazy *d) { return d->works < LAZY_WORKS ? &d->work[d->works++] : NULL; }

static int copy(void *self, void *to, const void *from, size_t bytes, hd_way way, void *stream)
{
    lazy_work *w = lazy_next((lazy *)self);
    (void)way, (void)stream;
    if (w) *w = (lazy_work){ .to = to, .from = from, .bytes = bytes };
    return w ? 0 : 1;
}

static int record(void *self, void **event, void *stream, uint64_t capture)
{
    lazy *d = (lazy *)self;
    (void)stream, (void)capture;
    if (!*event && d->events == LAZY_EVENTS) return 1;
    if (!*event) *event = &d->event[d->events++];
    *(size_t *)*event = d->works;
    return 0;
}

static int event_sync(void *self, void *event) { return work_until((lazy *)self, *(size_t *)event), 0; }
static int event_wait(void *self, void *event, void *stream, uint64_t capture)
{
    return (void)self, (void)event, (void)stream, (void)capture, 0; /* all work is in one order */
}
static int destroy(void *self, void *event) { return (void)self, (void)event, 0; }
static int wait_all(void *self, void *stream)
{
    return (void)stream, work_until((lazy *)self, ((lazy *)self)->works), 0;
}
static int stream_make(void *self, void **stream) { return *stream = self, 0; }
static int stream_destroy(void *self, void *stream) { return (void)self, (void)stream, 0; }
static int use(void *self, int device, int *before) { return (void)self, *before = device, 0; }
static const char *no_error(void *self, int code) { return (void)self, (void)code, "no more work"; }

void lazy_init(lazy *d)
{
    memset(d, 0, sizeof *d);
    d->seam = (hd_device_seam){ .use = use,
                                .take = take,
                                .give = give,
                                .take_pinned = take,
                                .give_pinned = give_pinned,
                                .copy = copy,
                                .wait = wait_all,
                                .stream_make = stream_make,
                                .stream_destroy = stream_destroy,
                                .event_record = record,
                                .event_wait = event_wait,
                                .event_sync = event_sync,
                                .event_destroy = destroy,
                                .error = no_error,
                                .self = d };
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * counter_device.c - see counter_device.h.
 */
#include "tools/counter_device.h"

#include <stdlib.h>

#include "base/ask.h"
#include "base/error.h"
#include "tools/memory.h"

enum { TURNS = 2 /* arrays of keys: one is counted, another is filled */ };

struct counter_device {
    tally *counts;
    const hd_device_seam *seam;
    void *copies, *batches; /* streams */
    uint64_t *key[TURNS];   /* (the most that a batch of the tally has) of the device, as all arrays */
    void *one;              /* (the most, value_bytes) */
    void *copied[TURNS];    /* events: its keys are there ... */
    void *counted[TURNS];   /* ... and were counted */
    unsigned turn;
};

static const char what[] = "keys on the device";
#define ASK(d, call, ...) HD_ASK((d)->seam, what, call, __VA_ARGS__)

static hd_status take_all(counter_device *d)
{
    const tally *t = d->counts;
    hd_status e = HD_OK;
    for (int i = 0; i < TURNS && !e; i++) {
        void *p = NULL;
        e = memory_take_far(d->seam, what, t->most * sizeof(uint64_t), &p);
        d->key[i] = (uint64_t *)p;
    }
    if (!e) e = memory_take_far(d->seam, what, t->most * t->value_bytes, &d->one);
    if (!e) e = ASK(d, stream_make, &d->copies);
    if (!e) e = ASK(d, stream_make, &d->batches);
    if (!e) e = ASK(d, copy, d->one, t->one, t->most * t->value_bytes, HD_TO_DEVICE, d->batches);
    return e;
}

hd_status counter_device_open(tally *t, counter_device **to)
{
    counter_device *d = (counter_device *)calloc(1, sizeof *d);
    if (!d) return hd_fail(HD_ENOMEM, "the memory of a batch was refused");
    d->counts = t;
    d->seam = t->device;
    hd_status e = take_all(d);
    if (e)
        counter_device_close(d);
    else
        *to = d;
    return e;
}

hd_status counter_device_give(counter_device *d, const uint64_t *key, size_t n)
{
    unsigned i = d->turn++ % TURNS;
    hd_status e = d->counted[i] ? ASK(d, event_wait, d->counted[i], d->copies, 0) : HD_OK;
    if (!e) e = ASK(d, copy, d->key[i], key, n * sizeof *key, HD_TO_DEVICE, d->copies);
    if (!e) e = ASK(d, event_record, &d->copied[i], d->copies, 0);
    if (!e) e = ASK(d, event_wait, d->copied[i], d->batches, 0);
    if (!e) e = tally_add_far(d->counts, d->key[i], d->one, n, d->batches);
    if (!e) e = ASK(d, event_record, &d->counted[i], d->batches, 0);
    return e ? e : ASK(d, event_sync, d->copied[i]);
}

hd_status counter_device_end(counter_device *d)
{
    hd_status e = ASK(d, wait, d->batches);
    return e ? e : tally_settle(d->counts);
}

void counter_device_close(counter_device *d)
{
    if (!d) return;
    if (d->copies) d->seam->wait(d->seam->self, d->copies);
    if (d->batches) d->seam->wait(d->seam->self, d->batches);
    for (int i = 0; i < TURNS; i++) {
        if (d->copied[i]) d->seam->event_destroy(d->seam->self, d->copied[i]);
        if (d->counted[i]) d->seam->event_destroy(d->seam->self, d->counted[i]);
        memory_give_far(d->seam, d->key[i]);
    }
    memory_give_far(d->seam, d->one);
    if (d->copies) d->seam->stream_destroy(d->seam->self, d->copies);
    if (d->batches) d->seam->stream_destroy(d->seam->self, d->batches);
    free(d);
}

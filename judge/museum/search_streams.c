/* SPDX-License-Identifier: Apache-2.0
 *
 * search_streams.c - looks for a bug in what a batch lock puts on streams. The device here runs nothing: it only keeps
 * account of which batches come before each stream's next step. A batch that conflicts with an earlier one must come
 * after it.
 */
#include <stdio.h>
#include <string.h>

#include "concurrency/streams.h"
#include "base/error.h"
#include "judge/museum/streams.h"
#include "workload/rng.h"

enum { BATCHES = 48, STREAMS = 5, EVENTS = 256 };

/* A set of batches: those that are done when a place on a stream is reached. */
typedef uint64_t done;

typedef struct account {
    hd_device_seam seam;
    done stream[STREAMS + 1]; /* 0: the NULL stream */
    done event[EVENTS];
    int events;
} account;

static char address[STREAMS + 1];

static done *of(account *a, void *stream) { return &a->stream[stream ? (char *)stream - address : 0]; }

static int record(void *self, void **event, void *stream, uint64_t capture)
{
    (void)capture;
    account *a = (account *)self;
    if (!*event && a->events == EVENTS) return 1;
    if (!*event) *event = &a->event[a->events++];
    *(done *)*event = *of(a, stream);
    return 0;
}

static int wait(void *self, void *event, void *stream, uint64_t capture)
{
    (void)capture;
    return *of((account *)self, stream) |= *(done *)event, 0;
}

static int destroy(void *self, void *event) { return (void)self, (void)event, 0; }
static const char *no_error(void *self, int code) { return (void)self, (void)code, "no more events"; }

/* NULL, or which batch does not come after which. */
static const char *put_batches(const hd_lock_row *row, hd_rng *g, char why[128])
{
    account a;
    hd_streams s;
    hd_role role[BATCHES];
    memset(&a, 0, sizeof a);
    a.seam.event_record = record;
    a.seam.event_wait = wait;
    a.seam.event_destroy = destroy;
    a.seam.error = no_error;
    a.seam.self = &a;
    if (hd_streams_open(&s, &a.seam, row, NULL, NULL)) return hd_why();
    const char *wrong = NULL;
    for (int b = 0; b < BATCHES && !wrong; b++) {
        hd_visit v;
        memset(&v, 0, sizeof v);
        v.is.id = 1 + hd_rng_below(g, STREAMS);
        v.stream = &address[v.is.id];
        v.role = role[b] = (hd_role)hd_rng_below(g, HD_ROLES);
        hd_status status = hd_streams_enter(&s, &v);
        for (int e = 0; e < b && !status && !wrong; e++) {
            bool together = role[e] == v.role && (row->together >> v.role & 1);
            if (together || *of(&a, v.stream) >> e & 1) continue;
            snprintf(why, 128,
                     "batch %d, on one stream, does not come after batch %d, on another, with which it conflicts", b,
                     e);
            wrong = why;
        }
        *of(&a, v.stream) |= (done)1 << b;
        if (hd_streams_leave(&s, &v, status)) wrong = hd_why();
    }
    hd_streams_close(&s);
    return wrong;
}

const char *museum_look_streams(const museum_search *s, museum_sight *sight, const char *words)
{
    const hd_lock_row *row = hd_lock_named(words);
    if (!row) return "there is no such lock";
    for (uint64_t seed = 1; seed <= s->fixtures && !sight->found; seed++) {
        char why[128];
        hd_rng g = hd_rng_from(seed);
        const char *wrong = put_batches(row, &g, why);
        sight->tries++;
        sight->seed = seed;
        if (wrong) museum_heard(s, sight, MUSEUM_ORDER, wrong);
    }
    return NULL;
}

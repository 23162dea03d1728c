/* SPDX-License-Identifier: Apache-2.0
 *
 * streams.c - see streams.h; concurrency/ordered.pml is the order by events as a model.
 */
#include "concurrency/streams.h"

#include <string.h>

#include "base/ask.h"
#include "base/assert.h"
#include "base/backend.h"

#define ASK(s, what, call, ...) HD_ASK((s)->seam, what, call, __VA_ARGS__)

/* What follows on the batch's stream waits for the event, when there is one. */
static hd_status follow(const hd_streams *s, void *event, const hd_visit *v)
{
    return event ? ASK(s, "lock: batches before", event_wait, event, v->stream, v->is.capture) : HD_OK;
}

hd_status hd_streams_open(hd_streams *s, const hd_device_seam *seam, const hd_lock_row *row, hd_word *word,
                          const hd_gpu *gpu)
{
    HD_ASSERT(row->apart != HD_APART_BY_WORD || (word && gpu), "the lock has a word, and kernels that change it");
    memset(s, 0, sizeof *s);
    s->seam = seam;
    s->apart = row->apart;
    s->together = row->together;
    s->word = word;
    s->gpu = gpu;
    if (row->apart == HD_APART_BY_WORD && seam->load) { /* or the first use of a kernel waits for those of the word */
        hd_status status = ASK(s, "lock: its kernels", load, gpu);
        if (status) return status;
    }
    /* a replay may wait for it before a batch records it */
    return ASK(s, "lock: an empty table", event_record, &s->last, NULL, 0);
}

void hd_streams_close(hd_streams *s)
{
    void *const all[] = { s->begun, s->listed, s->last };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]) s->seam->event_destroy(s->seam->self, all[i]);
    for (hd_stream_slot *l = s->slot; l < s->slot + HD_STREAM_SLOTS; l++) {
        if (l->event) s->seam->event_destroy(s->seam->self, l->event);
        if (l->prepared) s->seam->prepared_destroy(s->seam->self, l->prepared);
    }
    memset(s, 0, sizeof *s);
}

/* The stream's slot, or the one that was used longest ago: then the stream's next batch also waits for that one's. */
static hd_stream_slot *slot_of(hd_streams *s, uint64_t stream)
{
    hd_stream_slot *oldest = s->slot;
    for (hd_stream_slot *l = s->slot; l < s->slot + HD_STREAM_SLOTS; l++) {
        if (l->batch && l->stream == stream) return l;
        if (l->batch < oldest->batch) oldest = l;
    }
    return oldest;
}

/* Whether the slot's last batch was on the same stream. */
static bool is_slot_of(const hd_stream_slot *l, const hd_visit *v) { return l->batch && l->stream == v->is.id; }

/* The batch is the slot's last one from now on. What is prepared for another stream is no use to this one. */
static void take_slot(hd_streams *s, const hd_visit *v)
{
    hd_stream_slot *l = v->slot;
    HD_ASSERT(l->batch <= s->batches, "a slot has a batch that is still to come");
    HD_ASSERT(l->phase <= s->phase, "a slot has a phase that is still to come");
    if (l->prepared && !is_slot_of(l, v)) {
        s->seam->prepared_destroy(s->seam->self, l->prepared);
        l->prepared = NULL;
    }
    l->stream = v->is.id;
    l->batch = ++s->batches;
    l->phase = s->phase;
}

/* ---- By events ------------------------------------------------------------------------------- */

/* The batch is the first of a phase: after all that were in the one before. */
static hd_status begin_phase(hd_streams *s, const hd_visit *v)
{
    hd_status status = HD_OK;
    HD_ASSERT(!s->phase || (unsigned)s->role < HD_ROLES);
    for (hd_stream_slot *l = s->slot; l < s->slot + HD_STREAM_SLOTS && !status; l++)
        if (l != v->slot && l->batch && l->phase == s->phase) status = follow(s, l->event, v);
    if (!status && s->capture) status = follow(s, s->last, v);
    if (!status && (s->together >> v->role & 1))
        status = ASK(s, "lock: a phase", event_record, &s->begun, v->stream, v->is.capture);
    if (status) return status;
    s->phase++;
    s->role = v->role;
    return HD_OK;
}

/* The batches of one stream are in order by themselves; its slot's event is waited for where it is another stream's. */
static hd_status enter_by_events(hd_streams *s, const hd_visit *v)
{
    bool joins = !s->capture && s->phase && s->role == v->role && (s->together >> v->role & 1);
    bool own = is_slot_of(v->slot, v);
    HD_ASSERT(!v->is.capture, "a captured batch is in no phase");
    HD_ASSERT(v->slot->joined <= s->phase, "a stream has joined a phase that is still to come");
    hd_status status = own ? HD_OK : follow(s, v->slot->event, v);
    if (!status && !joins)
        status = begin_phase(s, v);
    else if (!status && (!own || v->slot->joined != s->phase))
        status = follow(s, s->begun, v);
    if (!status) v->slot->joined = s->phase;
    return status;
}

/* After what is there when the graph is launched: streams as they were when it was captured, and the last batch of
 * those since. */
static hd_status capture_by_events(hd_streams *s, const hd_visit *v)
{
    hd_status status = HD_OK;
    HD_ASSERT(v->is.capture, "a batch that is not captured has a phase");
    if (v->is.capture == s->capture) return HD_OK; /* on the same stream */
    for (int i = 0; i < HD_STREAM_SLOTS && !status; i++) status = follow(s, s->slot[i].event, v);
    if (!status) status = follow(s, s->last, v);
    if (status) return status;
    s->capture = v->is.capture;
    s->captured = v->stream;
    return HD_OK;
}

hd_status hd_streams_may_capture(const hd_streams *s, const hd_visit *v)
{
    if (s->apart != HD_APART_BY_EVENTS || !v->is.capture || v->is.capture != s->capture || v->stream == s->captured)
        return HD_OK;
    return hd_fail(HD_EINVAL, "stream: this capture has a batch of the table on another stream");
}

/* ---- By the word ----------------------------------------------------------------------------- */

static hd_status step(const hd_streams *s, uint32_t kernel, hd_role role, void *stream)
{
    hd_word_args a = { s->word, (uint32_t)role, s->together };
    hd_launch l = { s->gpu, kernel, 32, 1, &a, sizeof a, NULL };
    return ASK(s, "lock: its word", launch, &l, stream);
}

static hd_status enter_by_word(const hd_streams *s, hd_role role, void *stream)
{
    if (s->stuck)
        return hd_fail(HD_ECUDA, "lock: an earlier batch could not give its word back: the table can only be closed");
    return step(s, s->gpu->word_enter, role, stream);
}

static hd_status leave_by_word(hd_streams *s, hd_role role, void *stream)
{
    hd_status status = step(s, s->gpu->word_leave, role, stream);
    if (status)
        s->stuck = step(s, s->gpu->word_leave, role, stream) != HD_OK; /* once more: others would wait for ever */
    return status;
}

/* ---- A batch --------------------------------------------------------------------------------- */

/* Launches of a captured batch that lists are alone: no event can order them. */
static hd_role role_by_word(const hd_visit *v) { return v->is.capture && v->lists ? HD_INSERTER : v->role; }

/* Whether the batch takes part in the order of those that list. */
static bool lists_in_order(const hd_streams *s, const hd_visit *v)
{
    return v->lists && !(v->is.capture && s->apart == HD_APART_BY_EVENTS);
}

/* Whether the last batch that listed was on the same stream, which keeps the two in order by itself. */
static bool is_own_list(const hd_streams *s, const hd_visit *v)
{
    return !v->is.capture && !s->listed_on.capture && s->listed_on.id == v->is.id;
}

hd_status hd_streams_enter(hd_streams *s, hd_visit *v)
{
    hd_status status = HD_OK;
    v->slot = v->is.capture ? NULL : slot_of(s, v->is.id);
    /* Before the word is taken: a batch that lists may have to wait for others, which need it. And before a phase
     * begins, which needs a batch. */
    if (lists_in_order(s, v) && !is_own_list(s, v)) status = follow(s, s->listed, v);
    if (!status && s->apart == HD_APART_BY_EVENTS)
        status = v->is.capture ? capture_by_events(s, v) : enter_by_events(s, v);
    else if (!status && v->is.capture)
        s->capture = v->is.capture;
    if (!status && s->apart == HD_APART_BY_WORD) status = enter_by_word(s, role_by_word(v), v->stream);
    return status;
}

/* An event behind the batch. Where it cannot be recorded the stream is waited for, so that the older event holds. */
static hd_status record_behind(hd_streams *s, void **event, const hd_visit *v, hd_status status)
{
    int code = s->seam->event_record(s->seam->self, event, v->stream, v->is.capture);
    if (code && !v->is.capture) s->seam->wait(s->seam->self, v->stream);
    return status ? status : HD_TOLD(s->seam, code, "event_record", "lock: a batch");
}

hd_status hd_streams_leave(hd_streams *s, const hd_visit *v, hd_status status)
{
    HD_ASSERT((v->slot == NULL) == (v->is.capture != 0), "a batch leaves that has not entered");
    if (s->apart == HD_APART_BY_WORD) {
        hd_status left = leave_by_word(s, role_by_word(v), v->stream);
        if (!status) status = left;
    }
    if (v->slot) {
        status = record_behind(s, &v->slot->event, v, status);
        take_slot(s, v);
    }
    if (s->capture && s->apart != HD_APART_BY_WORD) status = record_behind(s, &s->last, v, status);
    if (lists_in_order(s, v)) {
        status = record_behind(s, &s->listed, v, status);
        s->listed_on = v->is;
    }
    return status;
}

void **hd_streams_prepared(const hd_streams *s, const hd_visit *v)
{
    bool kept = v->slot && s->apart != HD_APART_BY_WORD && is_slot_of(v->slot, v);
    return kept ? &v->slot->prepared : NULL;
}

hd_status hd_streams_join(hd_streams *s)
{
    hd_status status = HD_OK;
    const hd_visit v = { NULL, HD_INSERTER, false, { 0, 0 }, NULL };
    for (int i = 0; i < HD_STREAM_SLOTS && !status; i++) status = follow(s, s->slot[i].event, &v);
    if (!status) status = follow(s, s->last, &v);
    if (!status && s->apart == HD_APART_BY_WORD) status = enter_by_word(s, HD_INSERTER, NULL);
    return status;
}

hd_status hd_streams_part(hd_streams *s, hd_status status)
{
    hd_status left = s->apart == HD_APART_BY_WORD ? leave_by_word(s, HD_INSERTER, NULL) : HD_OK;
    return status ? status : left;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * streams.c - see streams.h; concurrency/ordered.pml is the order by marks as a model.
 */
#include "concurrency/streams.h"

#include <string.h>

#include "base/ask.h"

#define ASK(s, what, call, ...) HD_ASK((s)->seam, what, call, __VA_ARGS__)

/* What follows on the stream waits for the mark, when there is one. */
static hd_status follow(const hd_streams *s, void *mark, void *stream)
{
    return mark ? ASK(s, "lock: batches before", after, mark, stream) : HD_OK;
}

hd_status hd_streams_open(hd_streams *s, const hd_device_seam *seam, const hd_lock_row *row, hd_word *word,
                          uint32_t enter, uint32_t leave)
{
    memset(s, 0, sizeof *s);
    s->seam = seam;
    s->apart = row->apart;
    s->together = row->together;
    s->word = word;
    s->enter = enter;
    s->leave = leave;
    /* a replay may wait for it before anybody else leaves it */
    return ASK(s, "lock: an empty table", mark, &s->last, NULL);
}

void hd_streams_close(hd_streams *s)
{
    void *const all[] = { s->begun, s->listed, s->last };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]) s->seam->unmark(s->seam->self, all[i]);
    for (int i = 0; i < HD_STREAM_SLOTS; i++)
        if (s->lane[i].mark) s->seam->unmark(s->seam->self, s->lane[i].mark);
    memset(s, 0, sizeof *s);
}

/* The stream's, or the one that was used longest ago: then its batches come before the stream's next. */
static hd_stream_slot *lane_of(hd_streams *s, void *stream)
{
    hd_stream_slot *oldest = s->lane;
    for (hd_stream_slot *l = s->lane; l < s->lane + HD_STREAM_SLOTS; l++) {
        if (l->batch && l->stream == stream) return l;
        if (l->batch < oldest->batch) oldest = l;
    }
    if (oldest->stream != stream) oldest->joined = 0;
    oldest->stream = stream;
    return oldest;
}

/* ---- By marks -------------------------------------------------------------------------------- */

/* The batch is the first of a phase: after all that were in the one before. */
static hd_status begin_phase(hd_streams *s, const hd_visit *v)
{
    hd_status status = HD_OK;
    for (hd_stream_slot *l = s->lane; l < s->lane + HD_STREAM_SLOTS && !status; l++)
        if (l != v->lane && l->batch && l->phase == s->phase) status = follow(s, l->mark, v->stream);
    if (!status && s->recording) status = follow(s, s->last, v->stream);
    if (!status && (s->together >> v->role & 1)) status = ASK(s, "lock: a phase", mark, &s->begun, v->stream);
    if (status) return status;
    s->phase++;
    s->role = v->role;
    return HD_OK;
}

/* The lane's own mark is waited for, too: one address may be two streams, one after the other, or of two threads. */
static hd_status enter_by_marks(hd_streams *s, const hd_visit *v)
{
    bool joins = !s->recording && s->phase && s->role == v->role && (s->together >> v->role & 1);
    hd_status status = follow(s, v->lane->mark, v->stream);
    if (!status && !joins)
        status = begin_phase(s, v);
    else if (!status && v->lane->joined != s->phase)
        status = follow(s, s->begun, v->stream);
    if (!status) v->lane->joined = s->phase;
    return status;
}

/* After whatever is there when it is replayed: streams as they were when it was recorded, and the last batch of those
 * since. */
static hd_status record_by_marks(hd_streams *s, const hd_visit *v)
{
    hd_status status = HD_OK;
    if (v->recording == s->recording) return HD_OK; /* on the same stream */
    for (int i = 0; i < HD_STREAM_SLOTS && !status; i++) status = follow(s, s->lane[i].mark, v->stream);
    if (!status) status = follow(s, s->last, v->stream);
    if (status) return status;
    s->recording = v->recording;
    s->recorded = v->stream;
    return HD_OK;
}

hd_status hd_streams_may_record(const hd_streams *s, const hd_visit *v)
{
    if (s->apart != HD_APART_BY_MARKS || !v->recording || v->recording != s->recording || v->stream == s->recorded)
        return HD_OK;
    return hd_fail(HD_EINVAL, "stream: this capture has a batch of the table on another stream");
}

/* ---- By the word ----------------------------------------------------------------------------- */

static hd_status step(const hd_streams *s, uint32_t kernel, hd_role role, void *stream)
{
    hd_word_args a = { s->word, (uint32_t)role, s->together };
    hd_launch l = { kernel, 32, 1, &a, sizeof a };
    return ASK(s, "lock: its word", launch, &l, stream);
}

static hd_status enter_by_word(const hd_streams *s, hd_role role, void *stream)
{
    if (s->stuck)
        return hd_fail(HD_ECUDA, "lock: an earlier batch could not give its word back: the table can only be closed");
    return step(s, s->enter, role, stream);
}

static hd_status leave_by_word(hd_streams *s, hd_role role, void *stream)
{
    hd_status status = step(s, s->leave, role, stream);
    if (status) s->stuck = step(s, s->leave, role, stream) != HD_OK; /* once more: others would wait for ever */
    return status;
}

/* ---- A batch --------------------------------------------------------------------------------- */

/* Replays of a batch that lists are alone: nobody can order them by a mark. */
static hd_role role_by_word(const hd_visit *v) { return v->recording && v->lists ? HD_INSERTER : v->role; }

hd_status hd_streams_enter(hd_streams *s, hd_visit *v)
{
    hd_status status = HD_OK;
    v->lane = v->recording ? NULL : lane_of(s, v->stream);
    /* Not while the word is held: who lists may have to wait for others to get it. And first: a phase that has begun
     * needs a batch. */
    if (v->lists && !(v->recording && s->apart == HD_APART_BY_MARKS)) status = follow(s, s->listed, v->stream);
    if (!status && s->apart == HD_APART_BY_MARKS)
        status = v->recording ? record_by_marks(s, v) : enter_by_marks(s, v);
    else if (!status && v->recording)
        s->recording = v->recording;
    if (!status && s->apart == HD_APART_BY_WORD) status = enter_by_word(s, role_by_word(v), v->stream);
    return status;
}

/* A mark behind the batch; what cannot be marked is waited for, so that an older mark says the truth. */
static hd_status leave_mark(hd_streams *s, void **mark, const hd_visit *v, hd_status status)
{
    int code = s->seam->mark(s->seam->self, mark, v->stream);
    if (code && !v->recording) s->seam->wait(s->seam->self, v->stream);
    return status ? status : HD_TOLD(s->seam, code, "mark", "lock: a batch");
}

hd_status hd_streams_leave(hd_streams *s, const hd_visit *v, hd_status status)
{
    if (s->apart == HD_APART_BY_WORD) {
        hd_status left = leave_by_word(s, role_by_word(v), v->stream);
        if (!status) status = left;
    }
    if (v->lane) {
        status = leave_mark(s, &v->lane->mark, v, status);
        v->lane->batch = ++s->batches;
        v->lane->phase = s->phase;
    }
    if (s->recording && s->apart != HD_APART_BY_WORD) status = leave_mark(s, &s->last, v, status);
    if (v->lists && !(v->recording && s->apart == HD_APART_BY_MARKS)) status = leave_mark(s, &s->listed, v, status);
    return status;
}

hd_status hd_streams_join(hd_streams *s)
{
    hd_status status = HD_OK;
    for (int i = 0; i < HD_STREAM_SLOTS && !status; i++) status = follow(s, s->lane[i].mark, NULL);
    if (!status) status = follow(s, s->last, NULL);
    if (!status && s->apart == HD_APART_BY_WORD) status = enter_by_word(s, HD_INSERTER, NULL);
    return status;
}

hd_status hd_streams_part(hd_streams *s, hd_status status)
{
    hd_status left = s->apart == HD_APART_BY_WORD ? leave_by_word(s, HD_INSERTER, NULL) : HD_OK;
    return status ? status : left;
}

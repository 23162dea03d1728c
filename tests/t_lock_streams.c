/* SPDX-License-Identifier: Apache-2.0
 *
 * t_lock_streams.c - batch locks on the streams of a fake device: which batch comes after which, for every row of
 * concurrency/registry.inc: a batch waits for all batches that it must wait for, and for no other; with recordings, and
 * when calls of the device fail.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "concurrency/streams.h"
#include "gpu/hkv/rows.h"
#include "tests/fake_device.h"

enum { BATCHES = 60, STREAMS = 6, MANY_STREAMS = HD_STREAM_SLOTS + 8, KEYS = 8, WORKS = 2048 };

typedef struct put_batch {
    hd_op op;
    hd_role role;
    bool lists;
    int stream;
    size_t first, end; /* its pieces of work */
} put_batch;

typedef struct streams_fixture {
    fake_device fake;
    counting memory;
    hd_table *t;
    const hd_lock_row *row;
    uint64_t *key, *out; /* the device's: keys; room for every output */
    put_batch batch[BATCHES];
    int batches;
    bool after[WORKS][BATCHES]; /* work w comes after all of batch b */
} streams_fixture;

static char stream_address[MANY_STREAMS];

static streams_fixture *fixture_open(const char *lock)
{
    streams_fixture *s = (streams_fixture *)test_alloc(1, sizeof *s);
    uint64_t key[KEYS];
    fake_init(&s->fake);
    counting_init(&s->memory);
    s->memory.seams.device = &s->fake.seam;
    s->t = test_table(.backend = "cuda", .lock = lock, .capacity = 64, .slots = 16, .seams = &s->memory.seams,
                      .value_bytes = 8);
    s->row = hd_lock_named(lock);
    for (uint64_t i = 0; i < KEYS; i++) key[i] = i;
    s->key = (uint64_t *)fake_array(&s->fake, key, sizeof key);
    s->out = (uint64_t *)fake_array(&s->fake, NULL, 1 << 14);
    return s;
}

static void fixture_close(streams_fixture *s)
{
    must(hd_check(s->t)); /* all of it has run */
    hd_close(s->t);
    fake_drop(&s->fake, s->key);
    fake_drop(&s->fake, s->out);
    fake_settled(&s->fake);
    free(s);
}

static hd_status put_any(streams_fixture *s, uint64_t *random, int streams)
{
    static const struct {
        hd_op op;
        hd_role role;
        bool lists;
    } ops[] = { { HD_OP_FIND, HD_READER, false },
                { HD_OP_FIND_MISSED, HD_READER, true },
                { HD_OP_EXPORT, HD_READER, true },
                { HD_OP_SIZE, HD_READER, false },
                { HD_OP_ASSIGN, HD_UPDATER, false },
                { HD_OP_TOUCH, HD_UPDATER, false },
                { HD_OP_INSERT_OR_ASSIGN, HD_INSERTER, false },
                { HD_OP_INSERT_AND_EVICT, HD_INSERTER, true },
                { HD_OP_ERASE, HD_INSERTER, false } };
    size_t k = test_below(random, 3) ? test_below(random, 6) : test_below(random, 9);
    put_batch *p = &s->batch[s->batches++];
    *p = (put_batch){
        ops[k].op, ops[k].role, ops[k].lists, (int)test_below(random, (uint64_t)streams), s->fake.works, 0
    };
    hd_batch b = { .op = p->op,
                   .n = KEYS,
                   .key = s->key,
                   .value = s->key,
                   .list_key = s->out,
                   .count = s->out + 1024,
                   .stream = &stream_address[p->stream] };
    hd_status status = hd_run(s->t, &b);
    p->end = s->fake.works;
    return status;
}

static void put_random(streams_fixture *s, uint64_t *random, int streams) { must(put_any(s, random, streams)); }

/* The batch's own: what its lock puts on the stream aside. */
static bool is_effect(const fake_work *w)
{
    bool word = w->kind == FAKE_LAUNCH &&
                (w->launch.kernel == HKV_NUMBER_word_enter || w->launch.kernel == HKV_NUMBER_word_leave);
    return w->kind != FAKE_WAIT && !word;
}

/* From what lies on the streams: the batches that each piece of work comes after. */
static void trace_order(streams_fixture *s)
{
    size_t last[MANY_STREAMS];
    check(s->fake.works < WORKS, "%d pieces of work", (int)s->fake.works);
    memset(s->after, 0, sizeof s->after);
    for (int k = 0; k < MANY_STREAMS; k++) last[k] = SIZE_MAX;
    for (size_t w = 0; w < s->fake.works; w++) {
        const fake_work *work = &s->fake.work[w];
        int k = (int)((const char *)work->stream - stream_address);
        size_t from[2] = { k >= 0 && k < MANY_STREAMS ? last[k] : SIZE_MAX, SIZE_MAX };
        if (work->kind == FAKE_WAIT && work->mark > s->fake.before)
            for (size_t x = work->mark - s->fake.before; x-- > 0;)
                if (s->fake.work[x].stream == work->mark_stream) {
                    from[1] = x;
                    break;
                }
        for (int f = 0; f < 2; f++)
            for (int b = 0; from[f] != SIZE_MAX && b < s->batches; b++) {
                size_t end = s->batch[b].end;
                while (end > s->batch[b].first && !is_effect(&s->fake.work[end - 1])) end--; /* its last effect */
                s->after[w][b] |= s->after[from[f]][b] || from[f] + 1 == end;
            }
        if (k >= 0 && k < MANY_STREAMS) last[k] = w;
    }
}

static bool is_after(const streams_fixture *s, int late, int early)
{
    size_t w = s->batch[late].first;
    while (!is_effect(&s->fake.work[w])) w++;
    return s->after[w][early];
}

/* From the lock's row: what must come after what, and what need not. */
static void order_wanted(const streams_fixture *s, bool chained, bool (*want)[BATCHES])
{
    bool marks = s->row->apart == HD_APART_BY_EVENTS;
    memset(want, 0, sizeof(bool[BATCHES][BATCHES]));
    for (int y = 0; y < s->batches; y++)
        for (int x = y - 1; x >= 0; x--) {
            const put_batch *p = &s->batch[x], *q = &s->batch[y];
            bool conflict = marks && (chained || !(p->role == q->role && (s->row->together >> p->role & 1)));
            if (!conflict && p->stream != q->stream && !(p->lists && q->lists)) continue;
            want[y][x] = true;
            for (int z = 0; z < x; z++) want[y][z] |= want[x][z];
        }
}

/* exact: and nothing waits that need not. */
static const char *order_wrong(streams_fixture *s, bool chained, bool exact)
{
    static char why[256];
    static bool want[BATCHES][BATCHES];
    trace_order(s);
    order_wanted(s, chained, want);
    for (int y = 0; y < s->batches; y++)
        for (int x = 0; x < y; x++) {
            bool is = is_after(s, y, x);
            if (is == want[y][x] || (is && !exact)) continue;
            snprintf(why, sizeof why, "batch %d (%s, stream %d) %s batch %d (%s, stream %d)", y,
                     hd_op_name(s->batch[y].op), s->batch[y].stream,
                     is ? "waits without need for" : "does not wait for", x, hd_op_name(s->batch[x].op),
                     s->batch[x].stream);
            return why;
        }
    return NULL;
}

/* Each batch lies between the word's two steps, in its role, and what it waits for before them. */
static const char *bracket_wrong(const streams_fixture *s)
{
    for (int b = 0; b < s->batches; b++) {
        const put_batch *p = &s->batch[b];
        size_t w = p->first;
        while (w < p->end && s->fake.work[w].kind == FAKE_WAIT) w++;
        const fake_work *enter = &s->fake.work[w], *leave = &s->fake.work[p->end - 1];
        if (enter->kind != FAKE_LAUNCH || enter->launch.kernel != HKV_NUMBER_word_enter ||
            ((const hd_word_args *)enter->kept)->role != (uint32_t)p->role)
            return "a batch that does not begin with the word";
        if (leave->kind != FAKE_LAUNCH || leave->launch.kernel != HKV_NUMBER_word_leave)
            return "a batch that does not end with the word";
        for (w++; w + 1 < p->end; w++)
            if (!is_effect(&s->fake.work[w])) return "a batch that waits while it holds the word";
    }
    return NULL;
}

static void every_row_orders_streams(void)
{
    const hd_lock_row *row;
    for (size_t i = 0; (row = hd_lock_at(i)); i++)
        for (uint64_t round = 0; round < test_times(30); round++) {
            bool many = round % 5 == 4;
            uint64_t random = round + 1;
            streams_fixture *s = fixture_open(row->name);
            test_case("lock %s, round %d", row->name, (int)round);
            while (s->batches < BATCHES) put_random(s, &random, many ? MANY_STREAMS : STREAMS);
            const char *wrong = order_wrong(s, false, !many);
            if (!wrong && row->apart == HD_APART_BY_WORD) wrong = bracket_wrong(s);
            check(!wrong, "%s", wrong);
            fixture_close(s);
        }
}

/* A read of all keys. */
static hd_batch read_all(const streams_fixture *s, hd_op op)
{
    hd_batch b = { .op = op, .n = KEYS, .key = s->key };
    return b;
}

/* With a recording of the table's all follow each other, by marks; the word goes on as before. */
static void a_recording_chains_what_follows(void)
{
    const hd_lock_row *row;
    for (size_t i = 0; (row = hd_lock_at(i)); i++) {
        uint64_t random = 7;
        streams_fixture *s = fixture_open(row->name);
        test_case("lock %s, after a recording", row->name);
        hd_batch b = read_all(s, HD_OP_FIND);
        b.stream = &stream_address[0];
        fake_record(&s->fake, b.stream);
        must(hd_run(s->t, &b));
        fake_recording *r = fake_recorded(&s->fake);
        while (s->batches < BATCHES) put_random(s, &random, STREAMS);
        const char *wrong = order_wrong(s, row->apart == HD_APART_BY_EVENTS, row->apart == HD_APART_BY_WORD);
        check(!wrong, "%s", wrong);
        for (int k = 0; k < 3; k++) fake_replay(&s->fake, r, &stream_address[k]);
        fixture_close(s);
        fake_forget(r);
    }
}

/* The table has one room to list in: what is recorded waits for it at each replay, too, whatever the lock. */
static void a_recorded_list_waits_for_the_last(void)
{
    const hd_lock_row *row;
    for (size_t i = 0; (row = hd_lock_at(i)); i++) {
        streams_fixture *s = fixture_open(row->name);
        test_case("lock %s, a list and then the replay of one", row->name);
        hd_batch b = read_all(s, HD_OP_FIND_MISSED);
        b.list_key = s->out;
        b.count = s->out + 1024;
        b.stream = &stream_address[1];
        s->batch[0] = (put_batch){ b.op, HD_READER, true, 1, s->fake.works, 0 };
        must(hd_run(s->t, &b));
        s->batch[0].end = s->fake.works;
        b.stream = &stream_address[0];
        fake_record(&s->fake, b.stream);
        must(hd_run(s->t, &b));
        fake_recording *r = fake_recorded(&s->fake);
        s->batch[1] = (put_batch){ b.op, HD_READER, true, 2, s->fake.works, 0 };
        fake_replay(&s->fake, r, &stream_address[2]);
        s->batch[1].end = s->fake.works;
        s->batches = 2;
        trace_order(s);
        check(is_after(s, 1, 0), "the replay does not wait");
        fixture_close(s);
        fake_forget(r);
    }
}

/* Each wait that the lock asks for between two streams, once not done. */
static void a_wait_that_is_left_out_is_found(void)
{
    uint64_t found = 0, all = 0;
    for (uint64_t k = 1; k < 200; k++) {
        uint64_t random = 3;
        streams_fixture *s = fixture_open("ordered");
        s->fake.skip_wait = k;
        while (s->batches < BATCHES) put_random(s, &random, STREAMS);
        bool was_asked = s->fake.skipped;
        test_case("wait %d is left out", (int)k);
        const char *wrong = order_wrong(s, false, false);
        all += was_asked;
        found += was_asked && wrong;
        fixture_close(s);
    }
    test_note("%llu of %llu waits between streams that were left out were found; others are implied", (ull)found,
              (ull)all);
    check(all > 40 && found * 2 >= all, "%llu of %llu", (ull)found, (ull)all);
}

/* Streams are distinguished by an identity, not by their address: a new stream may have the address of an old one. */
static void a_new_stream_at_an_old_address_waits(void)
{
    for (int renewed = 0; renewed < 2; renewed++) {
        streams_fixture *s = fixture_open("ordered");
        hd_batch b = read_all(s, HD_OP_INSERT_OR_ASSIGN);
        b.value = s->key;
        b.stream = &stream_address[0];
        must(hd_run(s->t, &b));
        s->fake.renewed += (uint64_t)renewed;
        size_t first = s->fake.works, waits = 0;
        must(hd_run(s->t, &b));
        for (size_t w = first; w < s->fake.works; w++) waits += s->fake.work[w].kind == FAKE_WAIT;
        check(waits == (size_t)renewed, "%s stream: %d waits", renewed ? "another" : "the same", (int)waits);
        fixture_close(s);
    }
}

/* A batch that fails has left: all roles get in afterwards. */
static void errors_in_between(void)
{
    const hd_lock_row *row;
    static const hd_op ops[] = { HD_OP_FIND, HD_OP_ASSIGN, HD_OP_INSERT_OR_ASSIGN, HD_OP_EXPORT };
    for (size_t i = 0; (row = hd_lock_at(i)); i++) {
        streams_fixture *s = fixture_open(row->name);
        hd_table *here = test_table(.lock = row->name, .capacity = 64, .slots = 16, .value_bytes = 8);
        for (int k = 0; k < 16; k++) {
            hd_batch b = { .op = ops[k % 4], .n = KEYS, .stream = &stream_address[k % 3] };
            test_case("lock %s, %s fails", row->name, hd_op_name(b.op));
            b.key = NULL;
            if (b.op == HD_OP_EXPORT) b.n = 1000;
            must_fail(hd_run(here, &b), HD_EINVAL, NULL);
            must_fail(hd_run(s->t, &b), HD_EINVAL, NULL);
            must(hd_check(here));
            if (b.op == HD_OP_EXPORT) continue;
            b.key = s->key;
            b.value = s->key;
            /* `use`, `reach` for each new address, `records`, then the lock's or the batch's */
            s->fake.fail_at = s->fake.calls + 2 + (uint64_t)(k / 8);
            s->fake.code = FAKE_INVALID;
            must_fail(hd_run(s->t, &b), HD_ECUDA, NULL);
            s->fake.fail_at = 0;
            must(hd_run(s->t, &b));
            must(hd_check(s->t));
        }
        hd_close(here);
        fixture_close(s);
    }
}

/* What a lock asks of the device fails once, before anything of the batch is on its stream: the others are in order as
 * if it had never come. Returns whether it was so. */
static bool order_without(const hd_lock_row *row, uint64_t round, uint64_t call)
{
    uint64_t random = round + 1;
    streams_fixture *s = fixture_open(row->name);
    test_case("lock %s, round %llu, call %llu fails", row->name, (ull)round, (ull)call);
    while (s->batches < BATCHES / 3) put_random(s, &random, STREAMS);
    uint64_t ran = s->fake.before;
    s->fake.fail_at = s->fake.calls + call;
    s->fake.code = FAKE_INVALID;
    /* what cannot be marked is waited for */
    bool counts = put_any(s, &random, STREAMS) == HD_ECUDA && s->fake.before == ran;
    s->fake.fail_at = 0;
    const put_batch *failed = &s->batch[--s->batches];
    for (size_t w = failed->first; w < failed->end; w++) counts = counts && !is_effect(&s->fake.work[w]);
    while (s->batches < BATCHES) put_random(s, &random, STREAMS);
    const char *wrong = counts ? order_wrong(s, false, false) : NULL;
    check(!wrong, "%s", wrong);
    fixture_close(s);
    return counts;
}

static void errors_before_a_batch_leave_the_order(void)
{
    enum { CALLS = 12 };
    const hd_lock_row *row;
    uint64_t all = 0;
    for (size_t i = 0; (row = hd_lock_at(i)); i++)
        for (uint64_t round = 0; round < test_times(8) && row->apart == HD_APART_BY_EVENTS; round++)
            for (uint64_t call = 1; call <= CALLS; call++) all += order_without(row, round, call);
    test_tried("device-faults", all, "batches that failed before they began, under every lock");
    check(all > 0, "none failed");
}

/* Two readers run on separate streams, and an inserter comes after them; then the same with two batches that list. Each
 * device call of the last batch fails once: no batch starts without its waits, and when the failed batch is run again,
 * the first attempt has left no trace. */
static void what_a_batch_waits_for_may_fail(void)
{
    static const hd_op ops[][3] = { { HD_OP_FIND, HD_OP_FIND, HD_OP_INSERT_OR_ASSIGN },
                                    { HD_OP_FIND_MISSED, HD_OP_FIND, HD_OP_EXPORT } };
    const hd_lock_row *row;
    uint64_t failures = 0;
    for (size_t i = 0; (row = hd_lock_at(i)); i++)
        for (size_t k = 0; k < 2; k++)
            for (uint64_t call = 1; call <= 12; call++) {
                streams_fixture *s = fixture_open(row->name);
                for (int n = 0; n < 4; n++) {
                    hd_op op = ops[k][n < 3 ? n : 2];
                    hd_batch b = read_all(s, op);
                    b.value = s->key;
                    b.list_key = s->out;
                    b.count = s->out + 1024;
                    b.stream = &stream_address[n < 3 ? n : 3];
                    if (n == 2) s->fake.fail_at = s->fake.calls + call, s->fake.code = FAKE_INVALID;
                    s->batch[s->batches] = (put_batch){
                        op, hd_op_row_of(op)->role, hd_op_row_of(op)->role == HD_READER && op != HD_OP_FIND,
                        n,  s->fake.works,          0
                    };
                    hd_status status = hd_run(s->t, &b);
                    s->batch[s->batches].end = s->fake.works;
                    test_case("lock %s, %s after %s: call %llu fails", row->name, hd_op_name(op), hd_op_name(ops[k][0]),
                              (ull)call);
                    check(!status || (n == 2 && s->fake.failed), "%s: %s", hd_status_name(status), hd_why());
                    /* work of a failed batch may be on its stream; it is not checked */
                    bool gone = status != HD_OK;
                    s->batches += !gone;
                    failures += gone;
                    if (n == 2) s->fake.fail_at = 0;
                }
                const char *wrong = s->fake.before ? NULL : order_wrong(s, false, false);
                check(!wrong, "%s", wrong);
                fixture_close(s);
            }
    test_tried("device-faults", failures, "batches that failed at what they wait for, under every lock");
}

/* The release of the word fails, and so does the second try: the next batch would wait for ever. So the table refuses
 * every later call with an error, and can be closed. A failure before the word was taken, or one that the second try
 * repairs, fails this batch only. */
static void a_word_that_stays_away_stops_the_table(void)
{
    uint64_t stopped = 0, went_on = 0;
    for (uint64_t call = 1, more = 1; more; call++)
        for (int for_good = 0; for_good < 2; for_good++) {
            streams_fixture *s = fixture_open("group3");
            hd_batch b = read_all(s, HD_OP_INSERT_OR_ASSIGN);
            b.value = s->key;
            test_case("lock group3, call %llu fails%s", (ull)call, for_good ? ", and those after it" : "");
            s->fake.fail_at = s->fake.calls + call;
            s->fake.code = FAKE_LAUNCH_FAILED;
            s->fake.sticky = for_good;
            hd_status status = hd_run(s->t, &b);
            more = s->fake.failed != NULL;
            s->fake.fail_at = 0;
            s->fake.sticky = false;
            check(!more == !status, "%s although %s failed", hd_status_name(status), more ? s->fake.failed : "nothing");
            bool stops = hd_run(s->t, &b) != HD_OK;
            check(!stops || for_good, "one failure stops the table: %s", hd_why());
            for (int k = 0; k < 3 && stops; k++) must_fail(hd_run(s->t, &b), HD_ECUDA, "could not give its word back");
            if (stops)
                must_fail(hd_check(s->t), HD_ECUDA, "could not give its word back");
            else
                must(hd_check(s->t)); /* and so all of it has run */
            stopped += stops;
            went_on += !stops;
            hd_close(s->t);
            fake_drop(&s->fake, s->key);
            fake_drop(&s->fake, s->out);
            fake_settled(&s->fake);
            free(s);
        }
    check(stopped && went_on > 3, "%llu tables stopped, %llu went on", (ull)stopped, (ull)went_on);
}

static const struct CMUnitTest tests[] = { unit(every_row_orders_streams),
                                           unit(a_recording_chains_what_follows),
                                           unit(a_recorded_list_waits_for_the_last),
                                           unit(a_wait_that_is_left_out_is_found),
                                           unit(a_new_stream_at_an_old_address_waits),
                                           unit(errors_in_between),
                                           unit(errors_before_a_batch_leave_the_order),
                                           unit(what_a_batch_waits_for_may_fail),
                                           unit(a_word_that_stays_away_stops_the_table) };

int main(void) { return test_run(tests); }

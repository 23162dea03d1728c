/* SPDX-License-Identifier: Apache-2.0
 *
 * t_calls.c - the device calls that a table makes: a few allocations when it is opened; for a batch with arrays of the
 * device its launches and a few words, but no allocation, no copy and no wait, for every operation, variant, list and
 * predicate; and no allocation of host memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/hkv/rows.h"
#include "base/op.h"
#include "tests/fake_device.h"

enum { N = 200, CAPACITY = 4 * 128, VALUE = 32, TAKES_MOST = 4, SAME_STREAM = 3, OTHER_STREAM = 6 };

/* ---- A device that counts -------------------------------------------------------------------- */

typedef enum call { TAKE, GIVE, COPY, WAIT, FILL, LAUNCH, RECORD, WAIT_EVENT, REACH, CALLS } call;
static const char *const call_names[] = { "take",   "give",         "copy",       "wait", "fill",
                                          "launch", "event_record", "event_wait", "reach" };

typedef struct counted {
    fake_device fake; /* first: the seam's functions know it by its address */
    hd_device_seam real;
    uint64_t n[CALLS];
} counted;

static counted *count(void *self, call k)
{
    counted *c = (counted *)self;
    c->n[k]++;
    return c;
}

static int count_take(void *self, void **p, size_t bytes) { return count(self, TAKE)->real.take(self, p, bytes); }
static int count_give(void *self, void *p) { return count(self, GIVE)->real.give(self, p); }
static int count_copy(void *self, void *to, const void *from, size_t bytes, hd_way way, void *stream)
{
    return count(self, COPY)->real.copy(self, to, from, bytes, way, stream);
}
static int count_wait(void *self, void *stream) { return count(self, WAIT)->real.wait(self, stream); }
static int count_fill(void *self, void *to, int byte, size_t bytes, void *stream)
{
    return count(self, FILL)->real.fill(self, to, byte, bytes, stream);
}
static int count_launch(void *self, const hd_launch *l, void *stream)
{
    return count(self, LAUNCH)->real.launch(self, l, stream);
}
static int count_event_record(void *self, void **event, void *stream, uint64_t capture)
{
    return count(self, RECORD)->real.event_record(self, event, stream, capture);
}

static int count_event_wait(void *self, void *event, void *stream, uint64_t capture)
{
    return count(self, WAIT_EVENT)->real.event_wait(self, event, stream, capture);
}

static int count_reach(void *self, const void *p, hd_reach *reach)
{
    return count(self, REACH)->real.reach(self, p, reach);
}

static void counted_init(counted *c)
{
    memset(c, 0, sizeof *c);
    fake_init(&c->fake);
    c->real = c->fake.seam;
    c->fake.seam.take = count_take;
    c->fake.seam.give = count_give;
    c->fake.seam.copy = count_copy;
    c->fake.seam.wait = count_wait;
    c->fake.seam.fill = count_fill;
    c->fake.seam.launch = count_launch;
    c->fake.seam.event_record = count_event_record;
    c->fake.seam.event_wait = count_event_wait;
    c->fake.seam.reach = count_reach;
}

/* ---- A table, and a batch that wants all it can get ------------------------------------------ */

typedef struct arrays {
    uint64_t key[N], score[N], score_out[N], list_key[N], list_score[N], list_item[N], count;
    uint8_t value[N * VALUE], value_out[N * VALUE], list_value[N * VALUE], flag[N], outcome[N];
    void *ptr[N];
} arrays;

typedef struct bed {
    counted c;
    counting memory;
    hd_table *t;
    arrays here, *there;
    int stream;
    uint64_t batches, asked; /* asked: where arrays are */
    bool sorts, adds; /* find puts off what is far; the policy adds to the old score, so that no item may be left out */
} bed;

static void bed_open_as(bed *d, const char *policy, hd_layout layout, uint64_t near_bytes, hd_fetch fetch)
{
    d->adds = strstr(policy, "lfu");
    d->sorts = near_bytes && fetch == HD_FETCH_SORTED;
    counted_init(&d->c);
    counting_init(&d->memory);
    d->memory.seams.device = &d->c.fake.seam;
    /* with room for pins, or the first batch that pins took memory: t_device */
    d->t = test_table(.backend = "cuda", .policy = policy, .seams = &d->memory.seams, .capacity = CAPACITY,
                      .value_bytes = VALUE, .layout = layout, .hkv.device_value_bytes = near_bytes, .hkv.fetch = fetch,
                      .hkv.pins = 1);
    memset(&d->here, 0, sizeof d->here);
    d->there = (arrays *)fake_array(&d->c.fake, NULL, sizeof d->here);
}

static void bed_open(bed *d, hd_layout layout, uint64_t near_bytes, hd_fetch fetch)
{
    bed_open_as(d, "lru", layout, near_bytes, fetch);
}

static void bed_close(bed *d)
{
    hd_close(d->t);
    fake_drop(&d->c.fake, d->there);
    fake_settled(&d->c.fake);
}

static hd_batch batch_at(arrays *a, hd_op op, const char *kernel, void *stream)
{
    hd_batch b = { .op = op, .elem = HD_U64, .n = N, .pred = "score_below", .pred_arg = { 50 } };
    test_point(&b, a);
    b.holder = hd_op_does(op, HD_NEEDS_HOLDER) ? 7 : 0;
    b.stream = stream;
    b.kernel = kernel;
    return b;
}

/* New keys, so that a table of little more than two batches soon evicts. */
static void send_keys(bed *d, uint64_t *random)
{
    for (uint64_t i = 0; i < N; i++) d->here.key[i] = test_below(random, 2 * CAPACITY);
    fake_write(&d->c.fake, d->there, &d->here, sizeof d->here);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void open_takes_a_handful(void)
{
    bed *d = (bed *)test_alloc(1, sizeof *d);
    bed_open(d, HD_LAYOUT_PAIRS, CAPACITY * VALUE / 4, HD_FETCH_SORTED);
    check(d->c.n[TAKE] > 0 && d->c.n[TAKE] <= TAKES_MOST, "a table is %llu allocations", (ull)d->c.n[TAKE]);
    test_note("a table is %llu allocations", (ull)d->c.n[TAKE]);
    bed_close(d);
    check(d->c.n[GIVE] == d->c.n[TAKE], "%llu were given back", (ull)d->c.n[GIVE]);
    free(d);
}

static bool lists(hd_op op) { return op == HD_OP_FIND_MISSED || op == HD_OP_INSERT_AND_EVICT; }
/* Of updates that have values to copy out. Where scores are times, only some have groups. */
static bool updates_in_groups(const bed *d, hd_op op)
{
    return d->adds || op == HD_OP_ASSIGN_VALUES || op == HD_OP_TOUCH;
}

/* The launches of a batch whose keys may repeat (gpu/hkv/repeated_keys.h): five, and where scores are given one that
 * picks leaders, and where they are delivered, too, one for items that give high ones. 1: it has no groups. */
static uint64_t group_launches(const bed *d, hd_op op, const char *ran, bool scores)
{
    bool upserts = hkv_family_of((uint32_t)op) == HKV_UPSERT, updates = hkv_family_of((uint32_t)op) == HKV_UPDATE;
    bool groups = strstr(ran, ".coalesced") && (upserts || (updates && updates_in_groups(d, op)));
    return groups ? 5u + (d->adds && scores ? HD_OP_IN(op, HD_OPS_GIVE_SCORE) + upserts : 0u) : 1u;
}

/* Whether it uses the table's one room for lists. */
static uint64_t makes_list(const bed *d, hd_op op)
{
    bool updates = hkv_family_of((uint32_t)op) == HKV_UPDATE && updates_in_groups(d, op);
    return lists(op) || updates || op == HD_OP_EXPORT || op == HD_OP_EXPORT_IF || (op == HD_OP_FIND && d->sorts);
}

static void one(bed *d, hd_op op, const char *kernel, void *stream, bool same_stream)
{
    test_case("%s by %s", hd_op_name(op), kernel ? kernel : "the table's choice");
    hd_batch b = batch_at(d->there, op, kernel, stream);
    uint64_t calls = d->c.fake.calls, takes = d->memory.takes;
    memset(d->c.n, 0, sizeof d->c.n);
    must(hd_run(d->t, &b));
    for (int k = TAKE; k <= WAIT; k++)
        check(d->c.n[k] == 0, "the batch had the device %s %llu times", call_names[k], (ull)d->c.n[k]);
    check(d->memory.takes == takes, "the batch took %llu pieces of this machine's memory",
          (ull)(d->memory.takes - takes));
    uint64_t launches = (op == HD_OP_FIND && d->sorts ? 3 : group_launches(d, op, b.ran, b.score != NULL)) +
                        (lists(op) ? 1 : 0) + (op == HD_OP_FIND_OR_INSERT_PTR ? 1 : 0),
             fills = hd_op_adds_up(hd_op_row_of(op)) ? 1 : 0;
    check(d->c.n[LAUNCH] == launches, "%llu launches", (ull)d->c.n[LAUNCH]);
    check(d->c.n[FILL] == fills, "%llu fills", (ull)d->c.n[FILL]);
    d->batches++;
    d->asked += d->c.n[REACH];
    /* use, stream_state, event_record; another for what lists are made in, and, after another stream's batch,
     * waits for its events. */
    uint64_t besides = d->c.fake.calls - calls - launches - fills - d->c.n[REACH];
    uint64_t most = (uint64_t)(same_stream ? SAME_STREAM : OTHER_STREAM) + makes_list(d, op);
    check(besides <= most, "%llu calls besides its launches, and %llu are enough", (ull)besides, (ull)most);
    check(!same_stream || d->c.n[WAIT_EVENT] == 0, "it waits for an event of its own stream");
}

static void batches_launch_and_no_more(void)
{
    static const struct {
        const char *policy;
        hd_layout layout;
        uint64_t near_bytes;
        hd_fetch fetch;
    } tables[] = { { "lru", HD_LAYOUT_PAIRS, 0, HD_FETCH_USUAL },
                   { "lru", HD_LAYOUT_PLANES, 0, HD_FETCH_SORTED },
                   { "lru", HD_LAYOUT_PAIRS, CAPACITY * VALUE / 4, HD_FETCH_SORTED },
                   { "lru", HD_LAYOUT_PAIRS, CAPACITY * VALUE / 4, HD_FETCH_DIRECT },
                   { "lfu", HD_LAYOUT_PAIRS, 0, HD_FETCH_USUAL } };
    uint64_t random = 1, batches = 0;
    for (size_t l = 0; l < sizeof tables / sizeof *tables; l++) {
        bed *d = (bed *)test_alloc(1, sizeof *d);
        bed_open_as(d, tables[l].policy, tables[l].layout, tables[l].near_bytes, tables[l].fetch);
        hd_info info;
        must(hd_table_info(d->t, &info));
        for (uint32_t row = 0; row <= hkv_row_count(); row++) {
            if (row < hkv_row_count() && hkv_row(row)->fits(&info)) continue;
            for (int op = 0; op < HD_OP_COUNT_; op++) {
                if (hd_op_does((hd_op)op, HD_ORDERED)) continue;
                if (row < hkv_row_count() && hkv_family_of((uint32_t)op) != hkv_row(row)->family) continue;
                for (int again = 0; again < 3; again++, batches++) {
                    send_keys(d, &random);
                    one(d, (hd_op)op, row < hkv_row_count() ? hkv_row_name(row) : NULL, again == 2 ? &d->stream : NULL,
                        again == 1);
                }
            }
        }
        must(hd_check(d->t));
        /* an array's place is asked for once, but for addresses that take turns in the table's memory of them */
        check(d->asked <= 2 * HD_ARRAYS_MOST && d->batches > 4 * HD_ARRAYS_MOST,
              "%llu arrays of %llu batches were asked for", (ull)d->asked, (ull)d->batches);
        bed_close(d);
        free(d);
    }
    test_note("%llu batches", (ull)batches);
}

/* Batches do not; calls of the whole table say that they do, and where the streams' order is not the calls' it
 * matters. */
static void clear_waits(void)
{
    bed *d = (bed *)test_alloc(1, sizeof *d);
    bed_open(d, HD_LAYOUT_PAIRS, 0, HD_FETCH_USUAL);
    memset(d->c.n, 0, sizeof d->c.n);
    must(hd_clear(d->t));
    check(d->c.n[WAIT] > 0, "the clear was on its way when the call returned");
    bed_close(d);
    free(d);
}

/* Finds on two streams run side by side; but what they put off is written down in one room, and there they follow each
 * other. */
static void what_is_put_off_keeps_finds_apart(void)
{
    uint64_t after[2];
    for (int sorts = 0; sorts < 2; sorts++) {
        bed *d = (bed *)test_alloc(1, sizeof *d);
        bed_open(d, HD_LAYOUT_PAIRS, CAPACITY * VALUE / 4, sorts ? HD_FETCH_SORTED : HD_FETCH_DIRECT);
        hd_batch b = batch_at(d->there, HD_OP_FIND, NULL, &d->stream);
        must(hd_run(d->t, &b));
        b.stream = NULL;
        must(hd_run(d->t, &b));
        memset(d->c.n, 0, sizeof d->c.n);
        b.stream = &d->stream;
        must(hd_run(d->t, &b));
        after[sorts] = d->c.n[WAIT_EVENT];
        bed_close(d);
        free(d);
    }
    test_case("three finds in turn on two streams");
    check(after[1] == after[0] + 1, "the third waits for %llu marks, and for %llu where values are put off",
          (ull)after[0], (ull)after[1]);
}

/* Arrays of this machine are copied and waited for: what is counted above is there to be seen. */
static void copies_and_waits_are_seen(void)
{
    bed *d = (bed *)test_alloc(1, sizeof *d);
    bed_open(d, HD_LAYOUT_PAIRS, CAPACITY * VALUE / 4, HD_FETCH_SORTED);
    hd_batch b = batch_at(&d->here, HD_OP_INSERT_AND_EVICT, NULL, NULL);
    memset(d->c.n, 0, sizeof d->c.n);
    must(hd_run(d->t, &b));
    /* of few bytes: the kernels' arrays are in pinned memory; a wait before it is written, and one for the batch */
    check(d->c.n[TAKE] == 0 && d->c.n[COPY] == 0 && d->c.n[WAIT] == 2, "%llu, %llu, %llu", (ull)d->c.n[TAKE],
          (ull)d->c.n[COPY], (ull)d->c.n[WAIT]);
    bed_close(d);
    free(d);
}

/* An addition to pinned memory takes a microsecond, and every warp that finds entries adds. */
static void numbers_are_added_up_on_the_device(void)
{
    bed *d = (bed *)test_alloc(1, sizeof *d);
    uint64_t n = 0, random = 3;
    bed_open(d, HD_LAYOUT_PAIRS, 0, HD_FETCH_USUAL);
    send_keys(d, &random);
    hd_batch b = batch_at(d->there, HD_OP_INSERT_OR_ASSIGN, NULL, NULL);
    must(hd_run(d->t, &b));
    memset(d->c.n, 0, sizeof d->c.n);
    must(hd_size_sync(d->t, &n));
    check(n > 0 && d->c.n[COPY] == 1, "%llu entries, %llu copies", (ull)n, (ull)d->c.n[COPY]);
    bed_close(d);
    free(d);
}

static const struct CMUnitTest tests[] = { unit(open_takes_a_handful),
                                           unit(batches_launch_and_no_more),
                                           unit(clear_waits),
                                           unit(what_is_put_off_keeps_finds_apart),
                                           unit(copies_and_waits_are_seen),
                                           unit(numbers_are_added_up_on_the_device) };

int main(void) { return test_run(tests); }

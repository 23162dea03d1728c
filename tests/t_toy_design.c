/* SPDX-License-Identifier: Apache-2.0
 *
 * t_toy_design.c - the backends run a design that is not HKV (toy_design.h): its batches, the copies of its arrays, its
 * walks, its growth in place; and all of this with failing allocations or a failing device.
 */
#include <string.h>

#include "base/error.h"
#include "lib/backend_cuda.h"
#include "lib/table.h"
#include "tests/fake_device.h"
#include "tests/toy_design.h"

enum { KEYS = 60 };

/* ---- A table without a spine ----------------------------------------------------------------- */

typedef struct world {
    const hd_backend *on;
    counting memory;
    fake_device device;
    hd_info info;
    void *state;
    uint64_t tally[HD_OUTCOME_COUNT];
} world;

static void world_begin(world *w, const hd_backend *on)
{
    memset(w, 0, sizeof *w);
    w->on = on;
    counting_init(&w->memory);
    fake_init(&w->device);
    w->device.host = &toy_design;
    w->memory.seams.device = &w->device.seam;
}

static hd_status world_open(world *w, uint32_t boards)
{
    hd_config c = hd_config_default();
    c.capacity = (uint64_t)boards * TOY_PLACES;
    memset(&w->info, 0, sizeof w->info);
    w->info.value_bytes = 8;
    w->info.lock = "ordered";
    w->state = NULL;
    must(w->on->shape(&toy_design, &c, &w->info));
    return w->on->open(&toy_design, &w->info, &w->memory.seams, &w->state);
}

static void world_end(world *w)
{
    if (w->state) w->on->close(w->state, &w->memory.seams);
    fake_settled(&w->device);
    check(w->memory.live_bytes == 0, "%llu bytes were not given back", (ull)w->memory.live_bytes);
}

static hd_status resize(world *w, uint64_t buckets)
{
    return w->on->resize(w->state, &w->memory.seams, buckets, &w->info);
}

static hd_status run(world *w, uint32_t row, hd_batch *b)
{
    static const hd_when when = { .per_item = 1, .rises = true };
    hd_status status = w->on->launch(w->state, row, b, when, w->tally);
    uint64_t ops[HD_OP_COUNT_] = { 0 };
    if (!status && w->on->tally) status = w->on->tally(w->state, w->tally, ops);
    return status;
}

static uint64_t value_of(uint64_t key, uint64_t time) { return key * 1000 + time; }

/* Keys first, first + step, ... at that time; what became of them. */
static hd_status insert(world *w, uint64_t first, uint64_t step, uint64_t n, uint64_t time, uint8_t *outcome)
{
    uint64_t key[KEYS], value[KEYS];
    hd_batch b = { .n = 0 };
    for (uint64_t i = 0; i < n; i++) key[i] = first + step * i, value[i] = value_of(key[i], time);
    b.op = HD_OP_INSERT_OR_ASSIGN;
    b.n = n;
    b.key = key;
    b.value = value;
    b.outcome = outcome;
    return run(w, TOY_INSERT, &b);
}

/* Exactly the keys 0 to n - 1 are there, each with the value of its time. */
static void holds(world *w, uint64_t n, const uint64_t *time)
{
    uint64_t key[KEYS], value[KEYS];
    uint8_t outcome[KEYS];
    hd_batch b = { .n = 0 };
    for (uint64_t i = 0; i < KEYS; i++) key[i] = i, value[i] = 7, outcome[i] = 99;
    b.op = HD_OP_FIND;
    b.n = KEYS;
    b.key = key;
    b.value_out = value;
    b.outcome = outcome;
    must(run(w, TOY_LOOKUP, &b));
    for (uint64_t i = 0; i < KEYS; i++) {
        check(outcome[i] == (i < n ? HD_HIT : HD_MISS), "key %llu: %s", (ull)i,
              hd_outcome_name((hd_outcome)outcome[i]));
        check(value[i] == (i < n ? value_of(i, time[i]) : 7), "key %llu has the value %llu", (ull)i, (ull)value[i]);
    }
    hd_entries all = { .n = 0 };
    uint64_t seen = 0;
    must(hd_stage(w->on, w->state, true));
    must((w->on->check)(w->state));
    while (hd_entries_next(&all, w->on, w->state)) seen++;
    must(hd_settle(w->on, w->state, false));
    check(seen == n, "%llu entries are walked over, not %llu", (ull)seen, (ull)n);
}

static const hd_backend *const backends[] = { &hd_backend_host, &hd_backend_cuda };
enum { BACKENDS = sizeof backends / sizeof *backends };

/* ---- Batches --------------------------------------------------------------------------------- */

static void batches_of_two_launches(void)
{
    for (int d = 0; d < BACKENDS; d++) {
        world w;
        uint8_t outcome[KEYS];
        uint64_t time[KEYS];
        test_case("%s", backends[d]->name);
        world_begin(&w, backends[d]);
        must(world_open(&w, 2));
        must(insert(&w, 0, 1, 40, 1, outcome));
        for (int i = 0; i < 40; i++) check(outcome[i] == HD_INSERTED, "item %d", i);
        for (int i = 0; i < 40; i++) time[i] = 1;
        must(insert(&w, 0, 2, 25, 2, outcome));
        for (int i = 0; i < 25; i++) check(outcome[i] == (i < 20 ? HD_UPDATED : HD_INSERTED), "item %d", i);
        for (int i = 0; i < 20; i++) time[2 * i] = 2;
        must(insert(&w, 41, 2, 4, 3, outcome)); /* 41 to 47: there are 40, 42, ... 48 already */
        must(insert(&w, 40, 1, 9, 4, outcome));
        for (int i = 40; i < 49; i++) time[i] = 4;
        holds(&w, 49, time);
        check(w.tally[HD_INSERTED] == 49 && w.tally[HD_UPDATED] == 29 && w.tally[HD_HIT] == 49 &&
                  w.tally[HD_MISS] == KEYS - 49,
              "%llu, %llu, %llu, %llu", (ull)w.tally[HD_INSERTED], (ull)w.tally[HD_UPDATED], (ull)w.tally[HD_HIT],
              (ull)w.tally[HD_MISS]);
        world_end(&w);
    }
}

/* Find, insert, find again: each item its own operation, and in order, for one lane runs them. */
static void mixed_batches(void)
{
    for (int d = 0; d < BACKENDS; d++) {
        static const uint8_t each[] = { HD_OP_FIND, HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND, HD_OP_INSERT_OR_ASSIGN,
                                        HD_OP_FIND };
        static const uint8_t fate[] = { HD_MISS, HD_INSERTED, HD_HIT, HD_UPDATED, HD_HIT };
        const uint64_t key[5] = { 9, 9, 9, 9, 9 }, value[5] = { 0, 10, 0, 11, 0 };
        uint64_t found[5] = { 7, 7, 7, 7, 7 };
        uint8_t outcome[5];
        world w;
        hd_batch b = { .n = 0 };
        test_case("%s", backends[d]->name);
        world_begin(&w, backends[d]);
        must(world_open(&w, 2));
        b.op = HD_OP_EXPORT; /* is not read */
        b.n = 5;
        b.each = each;
        b.key = key;
        b.value = value;
        b.value_out = found;
        b.outcome = outcome;
        must(run(&w, TOY_MIXED, &b));
        for (int i = 0; i < 5; i++)
            check(outcome[i] == fate[i], "item %d: %s", i, hd_outcome_name((hd_outcome)outcome[i]));
        check(found[0] == 7 && found[1] == 7 && found[2] == 10 && found[3] == 7 && found[4] == 11, "%llu, %llu, %llu",
              (ull)found[0], (ull)found[2], (ull)found[4]);
        world_end(&w);
    }
}

/* What is put in between stage and settle is there afterwards. */
static void entries_come_back(void)
{
    for (int d = 0; d < BACKENDS; d++) {
        world w;
        uint64_t time[KEYS];
        test_case("%s", backends[d]->name);
        world_begin(&w, backends[d]);
        must(world_open(&w, 2));
        must(hd_stage(w.on, w.state, true));
        for (uint64_t i = 0; i < 10; i++) {
            uint64_t value = value_of(i, time[i] = 5);
            hd_entry e = { i % 2 * TOY_PLACES + i / 2, i, 0, &value }; /* of two boards */
            check(w.on->put_at(w.state, &e), "key %llu", (ull)i);
        }
        must(hd_settle(w.on, w.state, true));
        holds(&w, 10, time);
        world_end(&w);
    }
}

/* The host machine tells of a kernel that reads what is not the table's. */
static void a_kernel_astray_is_told_of(void)
{
    world w;
    hd_batch b = { .op = HD_OP_SIZE };
    simt_config watchful = simt_config_default();
    world_begin(&w, &hd_backend_host);
    hd_host_usual(&watchful, 1, 32);
    must(world_open(&w, 1));
    hd_host_usual(NULL, 0, 0);
    must_fail(run(&w, TOY_ASTRAY, &b), HD_EKERNEL, "size: host machine: ");
    must_fail(run(&w, TOY_ASTRAY, &b), HD_EKERNEL, "toy_design.c:");
    world_end(&w);
}

/* ---- Growth in place ------------------------------------------------------------------------- */

static void growth_in_place(void)
{
    static const uint32_t steps[] = { 2, 3, 4, 2, 4, 3, 2 };
    for (int d = 0; d < BACKENDS; d++) {
        world w;
        uint8_t outcome[KEYS];
        uint64_t time[KEYS], n = 20;
        world_begin(&w, backends[d]);
        must(world_open(&w, 1));
        must(insert(&w, 0, 1, n, 1, outcome));
        for (int i = 0; i < KEYS; i++) time[i] = 1;
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            uint64_t bytes = w.device.live_bytes, boards = w.info.buckets;
            test_case("%s, %llu boards, then %u", backends[d]->name, (ull)boards, (unsigned)steps[s]);
            must(resize(&w, steps[s]));
            check(w.info.buckets == steps[s] && w.info.capacity == steps[s] * TOY_PLACES, "%llu boards",
                  (ull)w.info.buckets);
            /* a board's entries and writes; the host machine takes memory of its own, too */
            uint64_t grown = w.device.live_bytes - bytes;
            check(w.on == &hd_backend_host || grown == (steps[s] - boards) * TOY_PLACES * (16 + 4),
                  "%llu bytes were taken, or given", (ull)grown);
            holds(&w, n, time);
            if (n + 10 <= KEYS && steps[s] >= 2) must(insert(&w, n, 1, 10, 1, outcome)), n += 10;
            holds(&w, n, time);
        }
        must_fail(resize(&w, 1), HD_EINVAL, "1 of 1 boards would have too many entries");
        must_fail(resize(&w, 5), HD_EINVAL, "no toy has 5 boards");
        check(w.info.buckets == 2, "%llu boards", (ull)w.info.buckets);
        holds(&w, n, time);
        world_end(&w);
    }
}

static hd_status refuse_to_stage(void *state, bool values)
{
    (void)state, (void)values;
    return hd_fail(HD_ENOMEM, "a stage was refused");
}

/* A design without kernels for growth: this machine moves the entries into a new state. */
static void growth_into_a_new_state(void)
{
    for (int d = 0; d < BACKENDS; d++) {
        world w;
        uint8_t outcome[KEYS];
        uint64_t time[KEYS];
        hd_backend no_stage = *backends[d];
        no_stage.stage = refuse_to_stage;
        world_begin(&w, backends[d]);
        must(world_open(&w, 2));
        must(insert(&w, 0, 1, 20, 1, outcome));
        for (int i = 0; i < KEYS; i++) time[i] = 1;
        test_case("%s, 2 boards, then 4", backends[d]->name);
        hd_table t = { 0 };
        t.design = &toy_design; /* whose reference does not resize */
        t.seams = w.memory.seams;
        t.info = w.info;
        t.info.slots = TOY_PLACES;
        t.info.design = "hkv"; /* the spine chooses kernels among listed designs; none is run */
        t.info.backend = "ref";
        t.state = w.state;
        t.backend = &no_stage;
        must_fail(hd_table_grow(&t, 4), HD_ENOMEM, "a stage was refused");
        check(t.state == w.state && t.info.buckets == 2, "it grew to %llu boards", (ull)t.info.buckets);
        t.backend = backends[d];
        must(hd_table_grow(&t, 4));
        check(t.state != w.state && t.info.buckets == 4, "%llu boards", (ull)t.info.buckets);
        w.state = t.state;
        w.info = t.info;
        holds(&w, 20, time);
        world_end(&w);
    }
}

/* ---- Refused and failed ---------------------------------------------------------------------- */

/* Whatever fails: what was there is there, once, on the boards that info tells of. */
static void still_in_order(world *w, uint64_t n)
{
    uint64_t time[KEYS];
    for (int i = 0; i < KEYS; i++) time[i] = 1;
    holds(w, n, time);
}

static void memory_is_refused(void)
{
    uint64_t refused = 0;
    for (int d = 0; d < BACKENDS; d++)
        for (uint64_t at = 1, good = 0; !good; at++) {
            world w;
            uint8_t outcome[KEYS];
            test_case("%s, take %llu", backends[d]->name, (ull)at);
            world_begin(&w, backends[d]);
            w.memory.refuse_at = at;
            hd_status status = world_open(&w, 2);
            if (!status) {
                w.memory.refuse_at = 0;
                must(insert(&w, 0, 1, 30, 1, outcome));
                w.memory.refuse_at = at;
                uint64_t before = w.memory.takes;
                w.memory.refuse_at = before + (at > before ? at - before : 0);
                status = resize(&w, 4);
                good = !status;
                if (status) check(w.info.buckets == 2, "%llu boards", (ull)w.info.buckets);
                w.memory.refuse_at = 0;
                still_in_order(&w, 30);
            }
            check(status == HD_OK || status == HD_ENOMEM, "%s", hd_why());
            refused += status == HD_ENOMEM;
            world_end(&w);
        }
    test_note("%llu takes refused", (ull)refused);
    check(refused >= 8, "%llu takes refused", (ull)refused);
}

/* Each call of the device that one of these makes fails once: open, insert, resize up, resize down. */
static void the_device_fails(void)
{
    static const int codes[] = { HD_DEVICE_NO_MEMORY, FAKE_LAUNCH_FAILED };
    uint64_t failed = 0;
    for (int down = 0; down < 2; down++)
        for (int code = 0; code < 2; code++)
            for (uint64_t at = 1, good = 0; !good; at++) {
                world w;
                uint8_t outcome[KEYS];
                world_begin(&w, &hd_backend_cuda);
                must(world_open(&w, down ? 4 : 2));
                must(insert(&w, 0, 1, 30, 1, outcome));
                w.device.code = codes[code];
                w.device.fail_at = w.device.calls + at;
                hd_status status = resize(&w, down ? 2 : 4);
                good = w.device.failed == NULL;
                w.device.fail_at = 0;
                test_case("%s, call %llu (%s) fails with %d", down ? "down" : "up", (ull)at,
                          good ? "none" : w.device.failed, codes[code]);
                failed += !good;
                check(status == HD_OK || status == HD_ECUDA || status == HD_EKERNEL || status == HD_ENOMEM, "%s",
                      hd_why());
                check(!good || !status, "%s", hd_why());
                still_in_order(&w, 30);
                must(resize(&w, down ? 1 : 4));
                still_in_order(&w, 30);
                world_end(&w);
            }
    test_note("%llu calls of the device failed", (ull)failed);
    check(failed >= 2 * 2 * 8, "%llu", (ull)failed);
}

static void opening_fails(void)
{
    for (uint64_t at = 1, good = 0; !good; at++) {
        world w;
        world_begin(&w, &hd_backend_cuda);
        w.device.code = FAKE_INVALID;
        w.device.fail_at = at;
        test_case("call %llu", (ull)at);
        hd_status status = world_open(&w, 3);
        good = w.device.failed == NULL;
        w.device.fail_at = 0;
        check(good == !status, "%s", hd_why());
        world_end(&w);
    }
}

static const struct CMUnitTest tests[] = {
    unit(batches_of_two_launches),    unit(mixed_batches),    unit(entries_come_back),
    unit(a_kernel_astray_is_told_of), unit(growth_in_place),  unit(growth_into_a_new_state),
    unit(memory_is_refused),          unit(the_device_fails), unit(opening_fails)
};

int main(void) { return test_run(tests); }

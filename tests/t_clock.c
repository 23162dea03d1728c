/* SPDX-License-Identifier: Apache-2.0
 *
 * t_clock.c - HD_CLOCK_DEVICE: all items of a batch have one time, which the clock of the kernels' device said while
 * the batch ran; so has each launch of a graph. Ticks of epoch_lru do not wrap. The clocks are the test's own; the
 * device is the fake one.
 */
#include <string.h>

#include "base/op.h"
#include "gpu/hkv/kernel_numbers.h"
#include "lib/table.h"
#include "tests/fake_device.h"
#include "tests/snapshots.h"

enum { KEYS = 48, ITEMS = 96, CAPACITY = 64, SLOTS = 16 };

static const uint64_t DAY_NS = 86400000000000, IN_2027_NS = 1800000000000000000, MOST_NS = 1ull << 52;

/* ---- Tables by a clock of the test ----------------------------------------------------------- */

/* seams: of tables that are not the device's. */
typedef struct world {
    fake_device fake;
    hd_seams seams;
    uint64_t here_ns;
    bool far;
    hd_table *table;
} world;

static uint64_t here_now(void *self) { return ((world *)self)->here_ns += 1000; }
static uint64_t no_time(void *self) { return (void)self, 7; }

static uint64_t *clock_of(world *w) { return w->far ? &w->fake.clock_ns : &w->here_ns; }

static hd_config config_on(world *w, const char *backend, const char *policy)
{
    hd_config c = test_usual(.backend = backend, .policy = policy, .capacity = CAPACITY, .slots = SLOTS,
                             .clock = HD_CLOCK_DEVICE, .seams = &w->seams, .value_bytes = 8);
    return c;
}

static void world_init(world *w, const char *backend)
{
    memset(w, 0, sizeof *w);
    fake_init(&w->fake);
    w->seams = hd_seams_os;
    w->seams.time = (hd_time_seam){ no_time, here_now, w };
    w->seams.device = &w->fake.seam;
    w->here_ns = IN_2027_NS;
    w->far = strcmp(backend, "cuda") == 0;
}

static void world_open(world *w, const char *backend, const char *policy)
{
    world_init(w, backend);
    hd_config c = config_on(w, backend, policy);
    must(hd_open(&c, &w->table));
}

static void world_close(world *w)
{
    hd_close(w->table);
    fake_settled(&w->fake);
}

static const char *const backends[] = { "ref", "host", "cuda" };
enum { BACKENDS = sizeof backends / sizeof *backends };

/* ---- One time a batch ------------------------------------------------------------------------ */

typedef struct arrays {
    uint64_t key[ITEMS], value[ITEMS], score_out[ITEMS], list_key[ITEMS], list_score[ITEMS], list_item[ITEMS], count;
    uint8_t outcome[ITEMS];
} arrays;

static hd_batch batch_over(arrays *a, hd_op op, bool repeats)
{
    hd_batch b = { .op = op, .n = repeats ? ITEMS : KEYS, .distinct = !repeats, .elem = HD_U64, .key = a->key };
    b.value = a->value;
    b.outcome = a->outcome;
    b.list_key = a->list_key, b.list_score = a->list_score, b.list_item = a->list_item, b.count = &a->count;
    return b;
}

/* Each key of the batch that is there has a score of [from, to], and all have the same. */
static void one_time(world *w, const arrays *a, uint64_t n, uint64_t from, uint64_t to)
{
    uint64_t key[ITEMS], score[ITEMS], at = 0;
    uint8_t outcome[ITEMS];
    memcpy(key, a->key, sizeof key);
    hd_batch find = { .op = HD_OP_FIND, .n = n, .key = key, .score_out = score, .outcome = outcome };
    must(hd_run(w->table, &find));
    for (uint64_t i = 0; i < n; i++) {
        if (outcome[i] != HD_HIT) continue;
        check(score[i] > from && score[i] < to, "item %llu has the score %llu, not between %llu and %llu", (ull)i,
              (ull)score[i], (ull)from, (ull)to);
        check(!at || score[i] == at, "items have the scores %llu and %llu", (ull)at, (ull)score[i]);
        at = score[i];
    }
    check(at, "no key is there");
}

static void a_batch_has_one_time_of_its_own(void)
{
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_TOUCH,           HD_OP_ASSIGN,
                                 HD_OP_ASSIGN_SCORES,    HD_OP_FIND_OR_INSERT,  HD_OP_FIND_OR_INSERT_PTR,
                                 HD_OP_ACCUM_OR_ASSIGN,  HD_OP_INSERT_AND_EVICT };
    static const char *const kernels[] = { "coalesced", "tlpv1", "warp" };
    for (int on = 0; on < BACKENDS; on++)
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
            for (int repeats = 0; repeats < 2; repeats++) {
                world w;
                void *ptr[ITEMS];
                world_open(&w, backends[on], "lru");
                arrays a = { 0 };
                for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
                    hd_batch b = batch_over(&a, ops[o], repeats);
                    for (uint64_t i = 0; i < ITEMS; i++) a.key[i] = o / 4 * 30 + (i * 7) % KEYS;
                    b.ptr = ptr;
                    b.kernel = on ? kernels[k] : NULL;
                    uint64_t before = *clock_of(&w);
                    must(hd_run(w.table, &b));
                    test_case("%s, %s%s", backends[on], b.ran, repeats ? ", repeated keys" : "");
                    one_time(&w, &a, b.n, before, *clock_of(&w) + 1);
                }
                must(hd_check(w.table));
                world_close(&w);
            }
}

/* A find reads no clock, and no launch of its is for one. */
static void lookups_ask_for_no_time(void)
{
    for (int on = 0; on < BACKENDS; on++) {
        world w;
        world_open(&w, backends[on], "lru");
        arrays a = { 0 };
        uint64_t before = *clock_of(&w);
        hd_batch b = batch_over(&a, HD_OP_CONTAINS, true);
        must(hd_run(w.table, &b));
        test_case("%s", backends[on]);
        check(on == 0 || *clock_of(&w) == before, "the clock was read");
        world_close(&w);
    }
}

static uint64_t score_of_insert(world *w, uint64_t key)
{
    uint64_t value = 0, score = 0;
    hd_batch insert = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 1, .key = &key, .value = &value };
    hd_batch find = { .op = HD_OP_FIND, .n = 1, .key = &key, .score_out = &score };
    must(hd_run(w->table, &insert));
    must(hd_run(w->table, &find));
    return score;
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

/* Each launch of a graph happens at a time of its own, later than its capture. */
static void a_replay_has_a_new_time(void)
{
    static char stream;
    world w;
    arrays a = { 0 };
    for (uint64_t i = 0; i < ITEMS; i++) a.key[i] = i % KEYS;
    world_open(&w, "cuda", "lru");
    arrays *there = (arrays *)fake_array(&w.fake, &a, sizeof a);
    for (int repeats = 0; repeats < 2; repeats++) {
        hd_batch b = batch_over(there, HD_OP_INSERT_OR_ASSIGN, repeats);
        b.stream = &stream;
        fake_record(&w.fake, &stream);
        must(hd_run(w.table, &b));
        fake_recording *r = fake_recorded(&w.fake);
        for (int k = 0; k < 3; k++) {
            uint64_t before = w.fake.clock_ns += MOST_NS / 1000;
            fake_replay(&w.fake, r, &stream);
            test_case("launch %d of a graph of %s", k, b.ran);
            one_time(&w, &a, b.n, before, before + MOST_NS / 1000);
        }
        fake_forget(r);
    }
    fake_drop(&w.fake, there);
    world_close(&w);
}

/* A graph repeats the logical times of its capture, so a batch that stores times is only captured by the device's
 * clock, or if the table allows it. Raw scores, lookups and policies without times are no matter. */
static void logical_times_are_not_captured(void)
{
    static const struct {
        const char *policy;
        hd_clock clock;
        hd_op op;
        bool allowed, raw, refused;
    } all[] = {
        { "lru", HD_CLOCK_LOGICAL, HD_OP_INSERT_OR_ASSIGN, false, false, true },
        { "fifo", HD_CLOCK_LOGICAL, HD_OP_TOUCH, false, false, true },
        { "epoch_lru", HD_CLOCK_LOGICAL, HD_OP_FIND_OR_INSERT, false, false, true },
        { "epoch_fifo", HD_CLOCK_LOGICAL, HD_OP_ASSIGN_SCORES, false, false, true },
        { "expr:on_insert=given;on_hit=old+(now>>4)", HD_CLOCK_LOGICAL, HD_OP_TOUCH, false, false, true },
        { "expr:on_insert=tick+1", HD_CLOCK_LOGICAL, HD_OP_TOUCH, false, false, true },
        { "expr:on_insert=given;on_hit=old+3", HD_CLOCK_LOGICAL, HD_OP_TOUCH, false, false, false },
        { "lfu", HD_CLOCK_LOGICAL, HD_OP_INSERT_OR_ASSIGN, false, false, false },
        { "epoch_lfu", HD_CLOCK_LOGICAL, HD_OP_INSERT_OR_ASSIGN, false, false, false },
        { "custom", HD_CLOCK_LOGICAL, HD_OP_INSERT_OR_ASSIGN, false, false, false },
        { "lru", HD_CLOCK_LOGICAL, HD_OP_FIND, false, false, false },
        { "lru", HD_CLOCK_LOGICAL, HD_OP_INSERT_OR_ASSIGN, false, true, false },
        { "lru", HD_CLOCK_LOGICAL, HD_OP_INSERT_OR_ASSIGN, true, false, false },
        { "lru", HD_CLOCK_DEVICE, HD_OP_INSERT_OR_ASSIGN, false, false, false },
    };
    static char stream;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        world w;
        hd_info before, after;
        arrays a = { 0 };
        world_init(&w, "cuda");
        hd_config c = config_on(&w, "cuda", all[i].policy);
        c.clock = all[i].clock;
        c.hkv.capture_times = all[i].allowed;
        must(hd_open(&c, &w.table));
        arrays *there = (arrays *)fake_array(&w.fake, &a, sizeof a);
        hd_batch b = batch_over(there, all[i].op, true);
        b.n = 1;
        b.score = b.key;
        b.raw_scores = all[i].raw;
        b.stream = &stream;
        must(hd_table_info(w.table, &before));
        fake_record(&w.fake, &stream);
        test_case("%s of %s, clock %d, allowed %d, raw %d", all[i].policy, hd_op_name(all[i].op), all[i].clock,
                  all[i].allowed, all[i].raw);
        if (all[i].refused)
            must_fail(hd_run(w.table, &b), HD_EINVAL,
                      "would repeat its times; take the clock 'device', or set capture_times");
        else
            must(hd_run(w.table, &b));
        fake_forget(fake_recorded(&w.fake));
        must(hd_table_info(w.table, &after));
        check(!all[i].refused || after.now == before.now, "a refused batch took ticks");
        fake_drop(&w.fake, there);
        world_close(&w);
    }
}

/* What hd_clock_sync says is the time of the next item, or the device's. */
static void the_clock_is_read(void)
{
    for (int on = 0; on < BACKENDS; on++) {
        world w;
        uint64_t now = 0;
        world_open(&w, backends[on], "lru");
        uint64_t before = *clock_of(&w);
        must(hd_clock_sync(w.table, &now));
        test_case("%s", backends[on]);
        check(now >= before && now <= *clock_of(&w) && score_of_insert(&w, 1) >= now, "%llu", (ull)now);
        hd_close(w.table);
        hd_config c = config_on(&w, backends[on], "lru");
        c.clock = HD_CLOCK_LOGICAL;
        must(hd_open(&c, &w.table));
        must(hd_clock_set(w.table, 41));
        must(hd_clock_sync(w.table, &now));
        check(now == 41 && score_of_insert(&w, 1) == 41, "%llu", (ull)now);
        must_fail(hd_clock_sync(NULL, &now), HD_EINVAL, "table: NULL");
        must_fail(hd_clock_sync(w.table, NULL), HD_EINVAL, "now: NULL");
        world_close(&w);
    }
}

/* ---- Ticks of epoch_lru ---------------------------------------------------------------------- */

/* Two years in one epoch, with growth and a snapshot between: scores rise with the time, and their low 32 bits are
 * those of ns >> 20. While the table is younger than 2^52 ns, as the clock counts them, the high ones are the epoch. */
static void ticks_last_for_years(void)
{
    enum { DAYS = 730, STEP = 5, EPOCH = 9 };
    for (int on = 0; on < BACKENDS; on++) {
        world w;
        uint64_t last = 0, first = 0;
        world_open(&w, backends[on], "epoch_lru");
        must(hd_epoch_set(w.table, EPOCH));
        for (uint64_t day = 0; day < DAYS; day += STEP) {
            test_case("%s, day %llu", backends[on], (ull)day);
            *clock_of(&w) = IN_2027_NS + day * DAY_NS;
            uint64_t score = score_of_insert(&w, day), low = *clock_of(&w) >> 20 & 0xffffffff;
            if (!day) first = *clock_of(&w) / MOST_NS;
            check(score > last, "score %llx after %llx", (ull)score, (ull)last);
            check((score & 0xffffffff) == low, "score %llx at %llx", (ull)score, (ull)low);
            check(score >> 32 == EPOCH + *clock_of(&w) / MOST_NS - first, "score %llx", (ull)score);
            last = score;
            if (day / STEP % 40 == 20) must(hd_grow(w.table, CAPACITY / SLOTS * (day / STEP < 40 ? 2 : 8)));
            if (day / STEP % 40 == 30) {
                hd_config c = config_on(&w, backends[on], "epoch_lru");
                const char *path = test_path("years");
                must(hd_save(w.table, path));
                hd_close(w.table);
                must(hd_open_snapshot(path, &c, &w.table));
            }
        }
        must(hd_epoch_set(w.table, EPOCH + 1));
        check(score_of_insert(&w, 1) > last + (1ull << 32) - (1ull << 20), "the next epoch is no later");
        world_close(&w);
    }
}

/* The logical clock's ticks are carried likewise; at the end of all scores they stay there. */
static void logical_ticks_are_carried(void)
{
    for (int on = 0; on < BACKENDS; on++) {
        world w;
        world_init(&w, backends[on]);
        hd_config c = config_on(&w, backends[on], "epoch_lru");
        c.clock = HD_CLOCK_LOGICAL;
        c.epoch = 3;
        must(hd_open(&c, &w.table));
        test_case("%s", backends[on]);
        atomic_store(&w.table->clock, (1ull << 32) - 1);
        uint64_t low = score_of_insert(&w, 1), high = score_of_insert(&w, 2);
        check(low == (4ull << 32) - 1 && high == (4ull << 32) + 1, "scores %llx, then %llx", (ull)low, (ull)high);
        must(hd_epoch_set(w.table, UINT32_MAX));
        check(score_of_insert(&w, 3) == UINT64_MAX, "a score that is no last one");
        world_close(&w);
    }
}

/* A table keeps its own clock where the file is of the other kind, or does not tell when its table was opened. */
static void files_of_other_clocks(void)
{
    for (int on = 0; on < BACKENDS; on++) {
        world w;
        hd_info info;
        hd_table *logical;
        world_open(&w, backends[on], "epoch_lru");
        hd_config c = config_on(&w, backends[on], "epoch_lru");
        c.clock = HD_CLOCK_LOGICAL;
        must(hd_open(&c, &logical));
        must(hd_table_info(w.table, &info));
        uint64_t opened = info.now;
        test_case("%s", backends[on]);
        check(opened > IN_2027_NS && opened <= *clock_of(&w), "opened at %llu", (ull)opened);
        const char *path = test_path("other_clock");
        must(hd_save(logical, path));
        must(hd_load(w.table, path, NULL));
        must(hd_table_info(w.table, &info));
        check(info.now == opened, "the logical clock came with the file");
        check(score_of_insert(&w, 1) >> 32 == 0, "ticks of another table");
        must(hd_save(w.table, path));
        must(hd_load(logical, path, NULL));
        must(hd_table_info(logical, &info));
        check(info.now == 0, "the device's clock came with the file");
        atomic_store(&w.table->clock, 0); /* as files of former versions have it */
        must(hd_save(w.table, path));
        atomic_store(&w.table->clock, opened);
        must(hd_load(w.table, path, NULL));
        must(hd_table_info(w.table, &info));
        check(info.now == opened, "a time of opening came with a file that has none");
        hd_close(logical);
        world_close(&w);
    }
}

/* A clock that says less than when the table was opened: tick 0. */
static void a_clock_that_was_set_back(void)
{
    world w;
    world_open(&w, "host", "epoch_lru");
    w.here_ns = 5 * DAY_NS;
    check(score_of_insert(&w, 1) == 0, "a tick from before the beginning");
    world_close(&w);
}

/* ---- Other beginnings ------------------------------------------------------------------------ */

static uint64_t told_now(void *at) { return *(uint64_t *)at; }

/* The times of a trace begin at 0. A table that was opened then, and one that was loaded from it, go on alike. */
static void a_clock_that_begins_at_0(void)
{
    for (int on = 0; on < BACKENDS; on++) {
        world w;
        hd_table *copy;
        hd_info a, b;
        uint64_t at = 0;
        world_init(&w, backends[on]);
        hd_config c = config_on(&w, backends[on], "epoch_lru");
        c.now = told_now;
        c.now_context = &at;
        must(hd_open(&c, &w.table));
        for (uint64_t k = 0; k < 3 * CAPACITY; k++) score_of_insert(&w, k);
        must(hd_save(w.table, test_path("from_0")));
        at = 60 * DAY_NS;
        must(hd_open_snapshot(test_path("from_0"), &c, &copy));
        test_case("%s", backends[on]);
        must(hd_table_info(w.table, &a));
        must(hd_table_info(copy, &b));
        check(a.now == 1 && b.now == 1, "opened at %llu, the copy at %llu", (ull)a.now, (ull)b.now);
        uint64_t score = score_of_insert(&w, 1000);
        hd_table *first = w.table;
        w.table = copy;
        check(score && score_of_insert(&w, 1000) == score, "score %llx, and another one in the copy", (ull)score);
        hd_close(first);
        world_close(&w);
    }
}

/* What hd_clock_set sets is what hd_info.now says, and the times of items follow from it. */
static void a_clock_can_be_set(void)
{
    for (int on = 0; on < BACKENDS; on++) {
        world w;
        hd_info info;
        world_init(&w, backends[on]);
        hd_config c = config_on(&w, backends[on], "lru");
        c.clock = HD_CLOCK_LOGICAL;
        must(hd_open(&c, &w.table));
        test_case("%s", backends[on]);
        must(hd_clock_set(w.table, 1000));
        check(score_of_insert(&w, 1) == 1000, "an item at another time than the clock's");
        must(hd_clock_set(w.table, 10));
        check(w.table->scores_ahead, "a score that is ahead of the clock is not known to be");
        must(hd_table_info(w.table, &info));
        check(info.now == 10 && score_of_insert(&w, 1) == 10, "a clock that was set back");
        must(hd_clock_set(w.table, INT64_MAX));
        must_fail(hd_clock_set(w.table, 1ull + INT64_MAX), HD_EINVAL, "clock");
        must_fail(hd_clock_set(NULL, 1), HD_EINVAL, "table");
        hd_close(w.table);

        c = config_on(&w, backends[on], "epoch_lru");
        must(hd_open(&c, &w.table));
        uint64_t young = score_of_insert(&w, 1);
        must(hd_clock_set(w.table, *clock_of(&w) - MOST_NS));
        must(hd_table_info(w.table, &info));
        check(info.now < *clock_of(&w) && score_of_insert(&w, 1) >> 32 == (young >> 32) + 1, "ticks of an older table");
        must_fail(hd_clock_set(w.table, 0), HD_EINVAL, "clock");
        world_close(&w);
    }
}

static const struct CMUnitTest tests[] = {
    unit(a_batch_has_one_time_of_its_own), unit(lookups_ask_for_no_time), unit(a_replay_has_a_new_time),
    unit(logical_times_are_not_captured),  unit(the_clock_is_read),       unit(ticks_last_for_years),
    unit(logical_ticks_are_carried),       unit(files_of_other_clocks),   unit(a_clock_that_was_set_back),
    unit(a_clock_that_begins_at_0),        unit(a_clock_can_be_set)
};

int main(void) { return test_run(tests); }

/* SPDX-License-Identifier: Apache-2.0
 *
 * t_allocator.c - memory and time that the caller manages: hd_config.allocator and hd_config.now.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/device_tables.h"

enum { SLOTS = 16, BUCKETS = 8, KEYS = 200 };

/* ---- An allocator ---------------------------------------------------------------------------- */

/* It takes what a fake device would, and refuses call number `refuse`; 0: none. */
typedef struct allocations {
    fake_device *fake;
    uint64_t calls, refuse;
    uint64_t host, device, pinned; /* allocations that are not given back */
    uint64_t hosts, devices, pins; /* allocations so far */
} allocations;

static bool refused(allocations *p) { return ++p->calls == p->refuse; }

static void *pool_take(void *context, size_t bytes, size_t align)
{
    allocations *p = (allocations *)context;
    if (refused(p)) return NULL;
    p->host++, p->hosts++;
    return hd_seams_os.memory.take(hd_seams_os.memory.self, bytes, align);
}

static void pool_give(void *context, void *memory, size_t bytes)
{
    ((allocations *)context)->host -= memory != NULL;
    hd_seams_os.memory.give(hd_seams_os.memory.self, memory, bytes);
}

static int pool_device_take(void *context, void **memory, size_t bytes)
{
    allocations *p = (allocations *)context;
    if (refused(p)) return HD_DEVICE_NO_MEMORY;
    p->device++, p->devices++;
    return p->fake->seam.take(p->fake, memory, bytes);
}

static int pool_device_give(void *context, void *memory)
{
    allocations *p = (allocations *)context;
    check(memory != NULL, "NULL is given back");
    p->device--;
    return p->fake->seam.give(p->fake, memory);
}

static int pool_pinned_take(void *context, void **memory, size_t bytes)
{
    allocations *p = (allocations *)context;
    *memory = NULL;
    if (refused(p)) return 0; /* no error, and no memory either */
    p->pinned++, p->pins++;
    return p->fake->seam.take_pinned(p->fake, memory, bytes);
}

static int pool_pinned_give(void *context, void *memory, size_t bytes)
{
    allocations *p = (allocations *)context;
    check(memory != NULL, "NULL is given back");
    p->pinned--;
    return p->fake->seam.give_pinned(p->fake, memory, bytes);
}

static hd_allocator allocator_of(allocations *p)
{
    return (hd_allocator){ .take = pool_take,
                           .give = pool_give,
                           .device_take = pool_device_take,
                           .device_give = pool_device_give,
                           .pinned_take = pool_pinned_take,
                           .pinned_give = pool_pinned_give,
                           .context = p };
}

/* ---- A table on it --------------------------------------------------------------------------- */

typedef struct world {
    fake_device fake;
    counting memory;
    allocations pool;
    hd_table *t;
} world;

static hd_config config_of(const char *design)
{
    hd_config c =
        test_usual(.design = design, .slots = SLOTS, .capacity = BUCKETS * SLOTS, .value_bytes = 4, .backend = "cuda");
    return c;
}

static hd_status world_open(world *w, const char *design, uint64_t refuse)
{
    hd_config c = config_of(design);
    fake_init(&w->fake);
    w->fake.page = 4096;
    counting_init(&w->memory);
    w->memory.seams.device = &w->fake.seam;
    w->pool = (allocations){ .fake = &w->fake, .refuse = refuse };
    hd_allocator a = allocator_of(&w->pool);
    c.allocator = &a;
    c.seams = &w->memory.seams;
    w->t = NULL;
    hd_status status = hd_open(&c, &w->t);
    memset(&a, 0, sizeof a); /* hd_open has copied it */
    return status;
}

static void world_close(world *w)
{
    hd_close(w->t);
    check(w->pool.host + w->pool.device + w->pool.pinned == 0, "%llu, %llu and %llu allocations were not given back",
          (ull)w->pool.host, (ull)w->pool.device, (ull)w->pool.pinned);
    check(w->memory.live_bytes == 0 && w->memory.peak_bytes == 0, "memory of the host came from elsewhere");
    fake_settled(&w->fake);
}

static hd_status insert(hd_table *t, uint64_t first)
{
    uint64_t key[KEYS];
    uint32_t value[KEYS];
    uint8_t outcome[KEYS];
    for (uint64_t i = 0; i < KEYS; i++) key[i] = first + i, value[i] = (uint32_t)(7 * key[i]);
    hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, KEYS, key, value, outcome);
    return hd_run_growing(t, &b, 0);
}

/* Every call that takes memory, in turn. */
enum { ACTS = 7 };
static const char *const act_name[ACTS] = { "a batch", "a walk", "growth", "save", "load", "load of another shape",
                                            "check" };

static hd_status act(world *w, int k, const char *path, const char *another)
{
    visits v = { 0, 0, 0, 4 };
    switch (k) {
    case 0: return insert(w->t, 1000);
    case 1: return hd_for_each(w->t, change, &v);
    case 2: return hd_grow(w->t, 4 * BUCKETS);
    case 3: return hd_save(w->t, path);
    case 4: return hd_load(w->t, path, NULL);
    case 5: return hd_load(w->t, another, NULL);
    default: return hd_check(w->t);
    }
}

static const char *const designs[] = { "hkv", "hive" };

/* A table of the design that has another seed and some keys. */
static void save_other(const char *design, const char *path)
{
    hd_config c = config_of(design);
    hd_table *t;
    c.backend = "ref";
    c.seed = 5;
    must(hd_open(&c, &t));
    must(insert(t, 5));
    must(hd_save(t, path));
    hd_close(t);
}

static void all_memory_is_the_caller_s(void)
{
    for (int d = 0; d < 2; d++) {
        world w;
        const char *path = file_named("allocator"), *another = file_named("another");
        save_other(designs[d], another);
        must(world_open(&w, designs[d], 0));
        check(w.pool.devices > 0 && w.pool.hosts > 0, "%llu, %llu", (ull)w.pool.devices, (ull)w.pool.hosts);
        must(insert(w.t, 1));
        check(w.pool.pins > 0, "host arrays are not copied by the caller's pinned memory");
        for (int k = 0; k < ACTS; k++) {
            test_case("%s, %s", designs[d], act_name[k]);
            must(act(&w, k, path, another));
            must(hd_check(w.t));
        }
        world_close(&w);
    }
}

/* One allocation after the other is refused. */
static void refusals(void)
{
    uint64_t n = 0;
    for (int d = 0; d < 2; d++) {
        const char *path = file_named("allocator"), *another = file_named("another");
        save_other(designs[d], another);
        for (int k = -1; k < ACTS; k++)
            for (uint64_t at = 1, more = 1; more; at++) {
                world w;
                uint64_t before = 0, after = 0;
                test_case("%s, %s, allocation %llu is refused", designs[d], k < 0 ? "hd_open" : act_name[k], (ull)at);
                hd_status status = world_open(&w, designs[d], k < 0 ? at : 0);
                if (k >= 0) {
                    must(insert(w.t, 1));
                    must(hd_save(w.t, path));
                    must(hd_size_sync(w.t, &before));
                    w.pool.calls = 0;
                    w.pool.refuse = at;
                    status = act(&w, k, path, another);
                }
                more = w.pool.calls >= at;
                w.pool.refuse = 0;
                check(status == (more ? HD_ENOMEM : HD_OK), "%s: %s", hd_status_name(status), hd_why());
                n += more;
                if (w.t) must(hd_check(w.t));
                if (w.t) must(hd_size_sync(w.t, &after));
                check(!more || k <= 0 || before == after, "%llu entries, and %llu afterwards", (ull)before, (ull)after);
                world_close(&w);
            }
    }
    test_tried("memory", n, "allocations that the caller's allocator refused");
}

/* A function without its counterpart is a mistake. */
static void half_a_pair(void)
{
    allocations p = { .fake = NULL };
    for (int k = 0; k < 6; k++) {
        hd_config c = hd_config_default();
        hd_allocator a = allocator_of(&p);
        hd_table *t;
        if (k == 0) a.take = NULL;
        if (k == 1) a.give = NULL;
        if (k == 2) a.device_take = NULL;
        if (k == 3) a.device_give = NULL;
        if (k == 4) a.pinned_take = NULL;
        if (k == 5) a.pinned_give = NULL;
        c.allocator = &a;
        must_fail(hd_open(&c, &t), HD_EINVAL, "allocator");
        must_fail(hd_open_snapshot(file_named("none"), &c, &t), HD_EINVAL, "allocator");
    }
}

/* Without functions for a device, the table takes that memory itself, and the host's from the caller. */
static void host_memory_alone(void)
{
    static const char *const backends[] = { "ref", "host" };
    for (int k = 0; k < 2; k++) {
        allocations p = { .fake = NULL };
        hd_config c = config_of("hkv");
        hd_allocator a = { .take = pool_take, .give = pool_give, .context = &p };
        hd_table *t;
        c.backend = backends[k];
        c.allocator = &a;
        must(hd_open(&c, &t));
        must(insert(t, 1));
        must(hd_grow(t, 2 * BUCKETS));
        must(hd_check(t));
        check(p.hosts > 2 && p.host > 0, "%llu", (ull)p.hosts);
        hd_close(t);
        check(p.host == 0, "%llu were not given back", (ull)p.host);
    }
}

/* ---- Time ------------------------------------------------------------------------------------ */

static uint64_t told(void *context) { return *(const uint64_t *)context; }

static uint64_t score_of(hd_table *t, uint64_t key)
{
    uint64_t score = 0;
    hd_batch b = test_batch(HD_OP_FIND, 1, &key, NULL, NULL);
    b.score_out = &score;
    must(hd_run(t, &b));
    return score;
}

static void put(hd_table *t, uint64_t key)
{
    uint32_t value = 1;
    hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, 1, &key, &value, NULL);
    must(hd_run(t, &b));
}

static void time_is_the_caller_s(void)
{
    static const char *const backends[] = { "ref", "host", "cuda" };
    for (int k = 0; k < 3; k++) {
        fake_device fake;
        counting memory;
        uint64_t now = 1000;
        hd_config c = config_of("hkv");
        hd_info info;
        hd_table *t;
        test_case("%s", backends[k]);
        fake_init(&fake);
        counting_init(&memory);
        memory.seams.device = &fake.seam;
        c.backend = backends[k];
        c.seams = &memory.seams;
        c.now = told;
        c.now_context = &now;
        c.clock = HD_CLOCK_DEVICE;
        must(hd_open(&c, &t));
        must(hd_table_info(t, &info));
        check(info.now == 1000, "opened at %llu", (ull)info.now);
        now = 2000;
        put(t, 1);
        check(score_of(t, 1) == 2000, "%llu", (ull)score_of(t, 1));
        now = 1500; /* counts as 2000 */
        put(t, 2);
        check(score_of(t, 2) == 2000, "%llu", (ull)score_of(t, 2));
        now = 3000;
        put(t, 1);
        check(score_of(t, 1) == 3000 && score_of(t, 2) == 2000, "%llu, %llu", (ull)score_of(t, 1), (ull)score_of(t, 2));
        must(hd_check(t));
        hd_close(t);
        fake_settled(&fake);
    }
}

/* epoch_lru counts in units of 2^20 ns. The logical clock does not call hd_config.now. */
static void time_of_other_scores(void)
{
    static const char *const backends[] = { "ref", "host" };
    for (int k = 0; k < 4; k++) {
        uint64_t now = 5ull << 52 | 9ull << 20 | 77;
        hd_config c = config_of("hkv");
        hd_table *t;
        c.backend = backends[k % 2];
        c.policy = k < 2 ? "epoch_lru" : "lru";
        c.now = told;
        c.now_context = &now;
        c.clock = k < 2 ? HD_CLOCK_DEVICE : HD_CLOCK_LOGICAL;
        c.epoch = 3;
        must(hd_open(&c, &t));
        put(t, 1);
        uint64_t expected = k < 2 ? 3ull << 32 | 9 : 0;
        check(score_of(t, 1) == expected, "%s on %s: %llx", c.policy, c.backend, (ull)score_of(t, 1));
        hd_close(t);
    }
}

static const struct CMUnitTest tests[] = { unit(all_memory_is_the_caller_s),
                                           unit(refusals),
                                           unit(half_a_pair),
                                           unit(host_memory_alone),
                                           unit(time_is_the_caller_s),
                                           unit(time_of_other_scores) };

int main(void) { return test_run(tests); }

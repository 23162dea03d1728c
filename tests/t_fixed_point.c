/* SPDX-License-Identifier: Apache-2.0
 *
 * t_fixed_point.c - saving and loading is a fixed point: a table that was loaded has the shape of the file, and saves
 * the same bytes, however often, whatever the table went through before: growth, erasure, shrinking. Of all designs and
 * their fields, on all backends; "cuda" is the fake device.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fake_device.h"
#include "tests/snapshots.h"

enum { ROUNDS = 2 };

typedef struct shape {
    const char *design, *saved, *other; /* fields that a file has, and those that it has not */
    uint64_t keys, range;               /* so many new keys, below `range` */
} shape;

static const shape shapes[] = {
    { "hkv", "capacity=96 slots=8", "device_value_bytes=200", 150, 500 },
    { "hkv", "capacity=96 slots=8 dual=1 policy=epoch_lru", "", 150, 500 },
    { "hkv", "capacity=60 slots=15 admit=always value_bytes=0", "", 90, 500 },
    { "hive", "capacity=64 slots=8", "", 150, 4000 },
    { "hive", "capacity=64 hashes=3 spare=2 seed=9", "", 150, 4000 },
    { "hive", "capacity=64 hash=bithash1,bithash2 value_bytes=2", "", 150, 60000 },
    { "ovs", "capacity=64 segment=256", "near=9000000", 150, 4000 },
    { "ovs", "capacity=64 segment=256 value_bytes=8", "near=9000000", 150, 4000 },
    { "ovs", "capacity=100 segment=1024", "guide=digest copies=64", 150, 900 },
    { "ovs", "capacity=16 segment=128 partition=range", "", 150, 400 },
    { "ovs", "capacity=96 segment=256 partition=range", "near=9000000", 150, 1u << 31 },
    { "ovs", "capacity=500 segment=512 partition=range", "copies=64", 40, 100 },
    { "ovs", "capacity=999 segment=256 partition=range", "guide=digest", 0, 1 },
    { "sl", "capacity=64 segment=256", "", 150, 4000 },
    { "sl", "capacity=64 segment=256 value_bytes=8", "near=9100000", 150, 4000 },
    { "sl", "capacity=64 segment=1024 slots=8", "near=9100000", 150, 1u << 31 },
};

static const char *const backends[] = { "ref", "host", "cuda" };

typedef struct world {
    fake_device fake;
    hd_seams seams;
    const shape *s;
    const char *backend;
    char words[2][128];
    uint64_t random;
} world;

/* The files of this test need not outlive the machine. */
static int no_sync(void *self, int fd) { return (void)self, (void)fd, 0; }
static int no_sync_folder(void *self, const char *path) { return (void)self, (void)path, 0; }

/* text: words NAME=VALUE, which are kept in `words` as long as the configuration is used. */
static void set_words(hd_config *c, const char *text, char words[128])
{
    char *rest = words;
    snprintf(words, 128, "%s", text);
    for (char *name; (name = strtok_r(rest, " ", &rest));) {
        char *value = strchr(name, '=');
        *value = 0;
        must(hd_config_set(c, name, value + 1));
    }
}

/* whole: with the fields that a file has. */
static hd_config config_of(world *w, bool whole)
{
    hd_config c = hd_config_of(w->s->design);
    c.backend = w->backend;
    c.seams = &w->seams;
    set_words(&c, whole ? w->s->saved : "", w->words[0]);
    set_words(&c, w->s->other, w->words[1]);
    return c;
}

/* ---- What a table goes through --------------------------------------------------------------- */

static void put_some(world *w, hd_table *t, uint64_t n, bool grows)
{
    uint64_t *key = (uint64_t *)test_alloc(n + 1, 8), *value = (uint64_t *)test_alloc(n + 1, 8);
    for (uint64_t i = 0; i < n; i++) key[i] = test_below(&w->random, w->s->range), value[i] = key[i] * 3;
    hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, n, key, value, NULL);
    must(grows ? hd_run_growing(t, &b, 0) : hd_run(t, &b));
    free(key);
    free(value);
}

/* Each of so many keys with a chance of `one_in`. */
static void erase_some(world *w, hd_table *t, uint64_t one_in)
{
    uint64_t n = w->s->range < 5000 ? w->s->range : 0, k = 0, *key = (uint64_t *)test_alloc(n + 1, 8);
    for (uint64_t i = 0; i < n; i++)
        if (test_below(&w->random, one_in) == 0) key[k++] = i;
    hd_batch b = test_batch(HD_OP_ERASE, k, key, NULL, NULL);
    must(hd_run(t, &b));
    free(key);
}

static void grow(world *w, hd_table *t)
{
    hd_info i;
    (void)w;
    must(hd_table_info(t, &i));
    must(hd_grow(t, i.buckets * 2));
}

static void shrink(world *w, hd_table *t)
{
    hd_info i;
    (void)w;
    must(hd_table_info(t, &i));
    if (i.base_buckets) must(hd_shrink(t, i.base_buckets));
}

/* One thing more than the times before. */
static void live(world *w, hd_table *t, int stage)
{
    switch (stage) {
    case 1: put_some(w, t, w->s->keys, true); return;
    case 2: erase_some(w, t, 3); return;
    case 3: grow(w, t); return;
    case 4: put_some(w, t, w->s->keys / 4, true); return;
    case 5: erase_some(w, t, 1); return;
    case 6: shrink(w, t); return;
    default: return;
    }
}
enum { STAGES = 7 };

/* ---- Back and forth -------------------------------------------------------------------------- */

static void same_shape(hd_table *t, hd_table *u)
{
    hd_info a, b;
    must(hd_table_info(t, &a));
    must(hd_table_info(u, &b));
    check(a.buckets == b.buckets && a.places == b.places && a.capacity == b.capacity,
          "%llu buckets, and %llu when loaded", (ull)a.buckets, (ull)b.buckets);
    check(a.base_buckets == b.base_buckets, "from %llu buckets on, and from %llu", (ull)a.base_buckets,
          (ull)b.base_buckets);
    check(a.slots == b.slots && a.seed == b.seed && a.now == b.now && a.epoch == b.epoch, "slots, seed or times");
    check(b.memory_bytes <= a.memory_bytes, "%llu bytes, and %llu when loaded", (ull)a.memory_bytes,
          (ull)b.memory_bytes); /* a directory keeps its room when it becomes smaller */
}

static void same_file(const char *a, const char *b)
{
    size_t n, m;
    uint8_t *p = test_read(a, &n), *q = test_read(b, &m);
    check(n == m && memcmp(p, q, n) == 0, "%zu bytes, and %zu of a table that was loaded", n, m);
    free(p);
    free(q);
}

/* The table is left as a loaded one. */
static void there_and_back(world *w, hd_table **t)
{
    char first[256];
    hd_config c = config_of(w, false);
    snprintf(first, sizeof first, "%s", test_path("first"));
    must(hd_save(*t, first));
    for (int round = 0; round < ROUNDS; round++) {
        hd_table *u;
        uint64_t dropped = 7;
        must(hd_open_snapshot(first, &c, &u));
        must(hd_check(u));
        same_shape(*t, u);
        must(hd_load(*t, first, &dropped));
        check(dropped == 0, "%llu dropped", (ull)dropped);
        must(hd_check(*t));
        same_shape(*t, u);
        must(hd_save(*t, test_path("again")));
        same_file(first, test_path("again"));
        must(hd_save(u, test_path("again")));
        same_file(first, test_path("again"));
        hd_close(*t);
        *t = u;
    }
}

static void one_shape(const shape *s, const char *backend)
{
    world w;
    hd_table *t;
    memset(&w, 0, sizeof w);
    fake_init(&w.fake);
    w.seams = hd_seams_os;
    w.seams.device = &w.fake.seam;
    w.seams.file.sync = no_sync;
    w.seams.file.sync_folder = no_sync_folder;
    w.s = s;
    w.backend = backend;
    hd_config c = config_of(&w, true);
    must(hd_open(&c, &t));
    for (int stage = 0; stage < STAGES; stage++) {
        test_case("shape %d on %s, stage %d", (int)(s - shapes), backend, stage);
        live(&w, t, stage);
        there_and_back(&w, &t);
    }
    hd_close(t);
    fake_settled(&w.fake);
}

static void on_all_backends(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (size_t on = 0; on < sizeof backends / sizeof *backends; on++) one_shape(&shapes[k], backends[on]);
}

static const struct CMUnitTest tests[] = { unit(on_all_backends) };

int main(void) { return test_run(tests); }

/* SPDX-License-Identifier: Apache-2.0
 *
 * t_image_kills.c - tables with files of the operating system. A process that is killed at any time leaves what it has
 * promised; one whose table is its file may also leave any part of the batch, or growth, that ran.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/journal.h"
#include "lib/table.h"
#include "tests/faulty.h"
#include "tests/lives.h"

/* ---- One file -------------------------------------------------------------------------------- */

/* On the operating system's files: a file is one table's, and opens as a snapshot does when that is closed. */
static void one_table_of_a_file(void)
{
    hd_table *t, *u;
    hd_config config = life_config(&life_shapes[0], "ref", NULL);
    char path[4200];
    uint64_t key[3] = { 1, 2, 3 }, size;
    uint32_t value[3] = { 10, 20, 30 };
    uint8_t outcome[3];
    snprintf(path, sizeof path, "%s", test_path("image"));
    config.file = path;
    must(hd_open(&config, &t));
    must_fail(hd_open(&config, &u), HD_EINVAL, "open as another table");
    hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, 3, key, value, outcome);
    must(hd_run(t, &b));
    must_fail(hd_open_snapshot(path, NULL, &u), HD_EINVAL, "open as another table");
    hd_close(t);
    size_t bytes, again;
    uint8_t *was = test_read(path, &bytes);
    must(hd_open_snapshot(path, NULL, &u));
    must(hd_size_sync(u, &size));
    check(size == 3, "%llu entries", (ull)size);
    must(hd_clear(u));
    hd_close(u);
    hd_snapshot_info info;
    must(hd_snapshot_inspect(path, &info));
    check(strcmp(info.design, "ovs") == 0 && info.buckets == 6, "%s, %llu buckets", info.design, (ull)info.buckets);
    uint8_t *is = test_read(path, &again);
    check(bytes == again && memcmp(was, is, bytes) == 0, "a file that was only read has changed");
    free(was);
    free(is);
    must_fail(hd_open_snapshot(path, &config, &u), HD_EINVAL, "file");
}

/* A snapshot that is loaded into a table with a file is in the file. */
static void loaded(void)
{
    life l;
    world w;
    hd_table *t, *from = test_table(.design = "hive", .backend = "ref", .value_bytes = 4, .slots = 16, .capacity = 640);
    const char *path = test_path("saved");
    hd_config config = life_config(&life_shapes[4], "ref", NULL);
    life_begin(&l, &life_shapes[4], "ref", 9);
    life_live(&l, from, NULL, 20);
    must(hd_save(from, path));
    hd_close(from);
    config.file = test_path("with snapshot");
    for (int open = 0; open < 2; open++) {
        must(hd_open(&config, &t));
        if (!open) must(hd_load(t, path, NULL));
        must(life_look(t, &w));
        check(memcmp(&w, &l.after[l.changes], sizeof w) == 0, "the file has something else than the snapshot");
        hd_close(t);
    }
}

/* ---- Kills ----------------------------------------------------------------------------------- */

/* A number that a child tells this process. */
static _Atomic uint64_t *shared_open(void)
{
    void *page = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(page != MAP_FAILED, "no memory");
    return (_Atomic uint64_t *)page;
}

static void shared_close(_Atomic uint64_t *shared) { munmap((void *)shared, sizeof(uint64_t)); }

static pid_t child_begin(void)
{
    pid_t child = fork();
    check(child >= 0, "no child");
    return child;
}

enum { SEED = 21 };

/* A life without a file, as its children have it with one. */
static void live_here(life *had, const shape *s, const char *backend, uint64_t changes)
{
    hd_table *t;
    hd_config config = life_config(s, backend, NULL);
    config.file = NULL;
    life_begin(had, s, backend, SEED);
    must(hd_open(&config, &t));
    life_live(had, t, NULL, changes);
    hd_close(t);
}

static pid_t live_in_child(const life *had, const hd_config *config, _Atomic uint64_t *shared)
{
    static life l;
    hd_table *t;
    life_begin(&l, had->of, had->backend, SEED);
    l.shared = shared;
    atomic_store(shared, 0);
    unlink(config->file);
    pid_t child = child_begin();
    if (child) return child;
    if (hd_open(config, &t)) _exit(1);
    life_live(&l, t, NULL, had->changes);
    _exit(l.failed != HD_OK);
}

static void end_child(pid_t child, uint64_t microseconds)
{
    usleep((useconds_t)microseconds);
    kill(child, SIGKILL);
    check(waitpid(child, NULL, 0) == child, "no child");
}

/* A child is killed at any time: what it promised is there. */
static uint64_t kill_child(const life *had, const hd_config *config, uint64_t microseconds, _Atomic uint64_t *shared)
{
    hd_table *t;
    end_child(live_in_child(had, config, shared), microseconds);
    must(hd_open(config, &t));
    uint64_t is = life_compare(had, t, atomic_load(shared));
    hd_close(t);
    return is;
}

static void killed(void)
{
    const uint64_t rounds = test_is_long() ? 2000 : test_times(200);
    uint64_t least = UINT64_MAX, most = 0, random = 1;
    _Atomic uint64_t *shared = shared_open();
    for (uint64_t round = 0; round < rounds; round++) {
        const shape *s = &life_shapes[round % LIFE_SHAPES];
        hd_config config = life_config(s, "ref", NULL);
        life had;
        live_here(&had, s, "ref", 2 * LIFE_CHANGES);
        config.file = test_path("killed");
        test_case("%s, kill %llu", s->name, (ull)round);
        uint64_t is = kill_child(&had, &config, test_below(&random, 60000), shared);
        if (is < least) least = is;
        if (is > most) most = is;
    }
    shared_close(shared);
    check(most > least, "every child was killed after %llu changes", (ull)most);
    test_tried("cuts", rounds, "kills of a process that changes a table, after %llu to %llu changes", (ull)least,
               (ull)most);
}

/* ---- Mode process ---------------------------------------------------------------------------- */

typedef struct kills {
    life *had; /* without a file */
    uint64_t ns;
    _Atomic uint64_t *shared;
    uint64_t random, torn, in_growth, in_recovery;
} kills;

/* A child that opens the file, and is killed or ends without closing it. */
static void open_in_child(const hd_config *config, bool ends, uint64_t microseconds)
{
    hd_table *t;
    pid_t child = child_begin();
    if (child == 0) _exit(hd_open(config, &t) != HD_OK);
    if (!ends) {
        end_child(child, microseconds);
        return;
    }
    int how = 0;
    check(waitpid(child, &how, 0) == child && how == 0, "the file does not open");
}

/* The bytes of all arrays. */
static uint64_t arrays_sum(const char *path)
{
    size_t bytes;
    uint8_t *file = test_read(path, &bytes);
    const hd_superblock is = life_superblock(file);
    uint64_t sum = 0;
    for (uint32_t e = 0; e < is.extents; e++)
        sum = XXH3_64bits_withSeed(file + is.extent[e].offset, (size_t)is.extent[e].bytes, sum);
    free(file);
    return sum;
}

/* All that was promised is there, and of one later change any part. */
static void judge_left(kills *x, hd_table *t)
{
    const life *had = x->had;
    const uint64_t promised = atomic_load(x->shared);
    hd_info info;
    world w;
    must(hd_check(t));
    must(hd_table_info(t, &info));
    uint64_t is = info.image.durable_batch, next = is == promised && is < had->changes ? is + 1 : is, size, there = 0;
    check(is == promised || is == promised + 1, "it has %llu changes, and %llu were promised", (ull)is, (ull)promised);
    must(life_look(t, &w));
    for (uint64_t k = 0; k < LIFE_KEYS; k++) {
        check(w.value[k] == had->after[is].value[k] || w.value[k] == had->after[next].value[k],
              "after %llu changes key %llu has %lld, not %lld or %lld", (ull)is, (ull)k, (long long)w.value[k],
              (long long)had->after[is].value[k], (long long)had->after[next].value[k]);
        there += w.value[k] != LIFE_ABSENT;
    }
    must(hd_size_sync(t, &size));
    check(size == there, "%llu entries, of which %llu have keys that were inserted", (ull)size, (ull)there);
    const uint64_t was = had->buckets[is], will = had->buckets[next];
    check(info.buckets == was || info.buckets == will, "%llu buckets, not %llu or %llu", (ull)info.buckets, (ull)was,
          (ull)will);
    x->in_growth += was != will;
    x->torn += memcmp(&w, &had->after[is], sizeof w) != 0 && memcmp(&w, &had->after[next], sizeof w) != 0;
}

/* The kill comes while the child opens the file; at any time, of which growth takes most; or soon after any change. */
static void kill_at_some_time(kills *x, const hd_config *config)
{
    const uint64_t changes = x->had->changes, all = x->ns / 1000;
    const bool early = test_below(&x->random, 16) == 0, any = test_below(&x->random, 2);
    const uint64_t until = any ? 0 : test_below(&x->random, changes);
    pid_t child = live_in_child(x->had, config, x->shared);
    while (!early && atomic_load(x->shared) <= until) usleep(20);
    end_child(child, test_below(&x->random, early ? 20000 : 1 + (any ? all : 4 * all / changes)));
}

static void kill_in_process(kills *x, hd_config *config, const char *other)
{
    hd_table *t;
    kill_at_some_time(x, config);
    config->backend = other;
    for (; test_below(&x->random, 4) == 0; x->in_recovery++) open_in_child(config, false, test_below(&x->random, 4000));
    if (test_below(&x->random, 4) == 0) {
        open_in_child(config, true, 0);
        uint64_t once = arrays_sum(config->file);
        open_in_child(config, true, 0);
        check(arrays_sum(config->file) == once, "the second recovery changed the table");
    }
    must(hd_open(config, &t));
    judge_left(x, t);
    hd_close(t);
}

static void kills_of(const shape *s, const char *backend, uint64_t rounds, kills *x)
{
    static life had;
    const char *other = strcmp(backend, "ref") == 0 ? "host" : "ref";
    hd_config config = life_config(s, backend, NULL); /* a child has a copy of the device */
    uint64_t began = hd_seams_os.time.now_ns(NULL);
    live_here(&had, s, backend, strcmp(backend, "ref") == 0 ? LIFE_MOST : LIFE_MOST / 8);
    x->had = &had;
    x->ns = hd_seams_os.time.now_ns(NULL) - began;
    config.file = test_path("process");
    for (uint64_t round = 0; round < rounds; round++) {
        test_case("%s on %s, kill %llu", s->name, backend, (ull)round);
        config.backend = backend;
        kill_in_process(x, &config, round % 2 ? other : backend);
    }
}

static void killed_in_process(void)
{
    const uint64_t all = 5 * LIFE_PROCESS_SHAPES, part = ((test_is_long() ? 10000 : test_times(400)) + all - 1) / all;
    kills x = { .random = 9, .shared = shared_open() };
    for (size_t s = 0; s < LIFE_PROCESS_SHAPES; s++) {
        kills_of(&life_process_shapes[s], "ref", 3 * part, &x);
        kills_of(&life_process_shapes[s], "host", part, &x);
        kills_of(&life_process_shapes[s], "cuda", part, &x);
    }
    shared_close(x.shared);
    check((x.torn && x.in_growth) || !test_is_long(), "no kill came in the middle of a batch, or none in growth");
    test_tried("cuts", all * part, "kills of a process whose table is its file");
    test_note("%llu of them cut a batch, %llu growth, and %llu others a recovery", (ull)x.torn, (ull)x.in_growth,
              (ull)x.in_recovery);
}

int main(void)
{
    const struct CMUnitTest tests[] = { unit(killed), unit(killed_in_process), unit(one_table_of_a_file),
                                        unit(loaded) };
    lives_init();
    return test_run(tests);
}

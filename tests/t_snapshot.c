/* SPDX-License-Identifier: Apache-2.0
 *
 * t_snapshot.c - loading a snapshot restores the table; the file is byte for byte as doc/snapshot.md says; and if the
 * saving process is killed at any moment, the path has the previous or the new snapshot, complete.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/snapshots.h"

static const snapshot_shape small = { "lru", 4, 8, 8, false, HD_ADMIT_SCORE, 0 };

/* ---- Back and forth -------------------------------------------------------------------------- */

static void round_trip(const snapshot_shape *s, uint64_t upserts)
{
    hd_table *t = shape_open(s), *u, *w = shape_open(s);
    hd_snapshot_info said;
    hd_info a, b;
    hd_config c = test_config();
    uint64_t dropped = 99, size;
    c.threads = 1;
    must(hd_epoch_set(t, 7));
    if (upserts) feed(t, upserts, 1);
    must(hd_size_sync(t, &size));
    const char *path = test_path("round_trip");
    must(hd_save(t, path));

    must(hd_snapshot_inspect(path, &said));
    struct stat st;
    check(!stat(path, &st) && said.file_bytes == (uint64_t)st.st_size, "the file has %llu bytes", (ull)said.file_bytes);
    uint32_t version = strncmp(s->policy, "expr:", 5) == 0 ? 2 : 1;
    check(said.version == version && !strcmp(said.design, "hkv") && !strcmp(said.policy, s->policy),
          "version, design or policy");
    check(said.buckets == s->buckets && said.slots == s->slots && said.capacity == s->buckets * s->slots, "the shape");
    check(said.value_bytes == s->value_bytes && said.dual == s->dual && said.admit == s->admit && said.seed == s->seed,
          "value_bytes, dual, admit or seed");
    check(said.size == size && said.clock == upserts && said.epoch == 7, "size, clock or epoch");
    check(said.config.hkv.dual == s->dual && said.config.hkv.admit == s->admit && said.config.slots == s->slots &&
              !strcmp(said.config.policy, s->policy) && !strcmp(said.config.design, "hkv"),
          "the configuration");

    must(hd_open_snapshot(path, &c, &u)); /* a table of its own */
    must(hd_table_info(t, &a));
    must(hd_table_info(u, &b));
    check(a.capacity == b.capacity && a.slots == b.slots && a.hkv.dual == b.hkv.dual && a.hkv.admit == b.hkv.admit &&
              a.seed == b.seed && !strcmp(a.policy, b.policy) && b.hkv.pins == c.hkv.pins && b.clock == a.clock,
          "the loaded table has another shape");
    same_table(t, u);
    hd_config nowhere = c;
    hd_table *none;
    nowhere.backend = "nowhere";
    must_fail(hd_open_snapshot(path, &nowhere, &none), HD_EINVAL, "nowhere");
    nowhere.backend = NULL;
    must_fail(hd_open_snapshot(path, &nowhere, &none), HD_EINVAL, "backend");

    feed(w, 50, 2); /* a table that had something else */
    must(hd_load(w, path, &dropped));
    check(dropped == 0, "%llu entries dropped", (ull)dropped);
    same_table(t, w);

    /* and all three go on alike: the clock is where it was. */
    feed_in_order(t, test_some(200), 3);
    feed_in_order(u, test_some(200), 3);
    feed_in_order(w, test_some(200), 3);
    same_table(t, u);
    same_table(t, w);
    hd_close(t);
    hd_close(u);
    hd_close(w);
}

static void round_trips(void)
{
    static const char *const policies[] = {
        "lru",    "lfu",  "epoch_lru",  "epoch_lfu",
        "custom", "fifo", "epoch_fifo", "expr:on_insert=given;on_hit=now+(old>>1)"
    };
    static const struct {
        uint64_t buckets;
        uint32_t slots, value_bytes;
    } shapes[] = { { 1, 2, 8 }, { 1, 9, 0 }, { 3, 7, 5 }, { 16, 128, 64 }, { 2, 1024, 8 }, { 5, 33, 1000 } };
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++)
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            for (unsigned mode = 0; mode < 4; mode++) {
                if ((mode & 1) && shapes[s].buckets < 2) continue;
                snapshot_shape is = { policies[p],     shapes[s].buckets,
                                      shapes[s].slots, shapes[s].value_bytes,
                                      mode & 1,        mode & 2 ? HD_ADMIT_ALWAYS : HD_ADMIT_SCORE,
                                      p * 1000 + s };
                round_trip(&is, 0);
                round_trip(&is, 1);
                round_trip(&is, is.buckets * is.slots * 2 / 3);
                round_trip(&is, is.buckets * is.slots * 4);
            }
    snapshot_shape widest = { "lru", 1, 16, HD_VALUE_BYTES_MAX, false, HD_ADMIT_SCORE, 0 };
    round_trip(&widest, 40);
}

/* Pins are of the process, and stay behind. */
static void pins_are_dropped(void)
{
    hd_table *t = shape_open(&small);
    uint64_t key = 5, value = 6;
    uint8_t fate;
    hd_batch in = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 1, .key = &key, .value = &value };
    hd_batch lock = { .op = HD_OP_LOCK_KEYS, .n = 1, .key = &key, .holder = 1, .outcome = &fate };
    hd_batch erase = { .op = HD_OP_ERASE, .n = 1, .key = &key, .outcome = &fate };
    must(hd_run(t, &in));
    must(hd_run(t, &lock));
    must(hd_save(t, test_path("pins")));
    must(hd_run(t, &erase));
    check(fate == HD_PINNED, "%s", hd_outcome_name((hd_outcome)fate));
    must(hd_load(t, test_path("pins"), NULL));
    must(hd_run(t, &erase));
    check(fate == HD_ERASED, "%s", hd_outcome_name((hd_outcome)fate));
    hd_close(t);
}
/* ---- The bytes ------------------------------------------------------------------------------- */

static const snapshot_shape golden_shape = { "custom", 4, 9, 12, true, HD_ADMIT_ALWAYS, 0x0123456789abcdefu };

/* Version 2. */
static const snapshot_shape golden_policy_shape = {
    "expr:on_insert=given;on_hit=max(old,now)+given;admission=MAX", 4, 9, 12, true, HD_ADMIT_SCORE, 0x0123456789abcdefu
};

/* Never to change: tests/golden/ has its bytes. */
static hd_table *golden_table(const snapshot_shape *shape)
{
    hd_table *t = shape_open(shape);
    uint64_t key[24], score[24];
    uint8_t value[24][12];
    for (uint64_t i = 0; i < 24; i++) {
        key[i] = i * i * i + 1;
        score[i] = i * 0x0101010101010101u;
        for (uint64_t k = 0; k < 12; k++) value[i][k] = (uint8_t)(i * 12 + k);
    }
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 24, .key = key, .value = value, .score = score };
    hd_batch gone = { .op = HD_OP_ERASE, .n = 3, .key = key + 4 };
    must(hd_run(t, &b));
    must(hd_run(t, &gone));
    must(hd_epoch_set(t, 3));
    return t;
}

static void bytes_are_as_documented(void)
{
    hd_table *t = golden_table(&golden_shape);
    must(hd_save(t, test_path("bytes")));
    model_contents c;
    contents_take(&c, t);
    size_t bytes, at[5];
    uint8_t *p = test_read(test_path("bytes"), &bytes);
    check(bytes == 384 + (36 + 7) / 8 + c.n * (16 + 12), "%zu bytes", bytes);
    check(!memcmp(p, "HEDDLE\r\n", 8) && snapshot_number(p + 8, 4) == 1 && snapshot_number(p + 12, 4) == 256,
          "magic, version or header bytes");
    check(!memcmp(p + 16, "hkv\0\0\0\0\0\0\0\0\0\0\0\0", 16) && !memcmp(p + 32, "custom\0\0\0\0\0\0\0\0\0", 16),
          "design or policy");
    check(snapshot_number(p + 48, 8) == 4 && snapshot_number(p + 56, 4) == 9 && snapshot_number(p + 60, 4) == 12,
          "shape");
    check(snapshot_number(p + 64, 8) == golden_shape.seed && snapshot_number(p + 72, 8) == 27 &&
              snapshot_number(p + 80, 4) == 3 && snapshot_number(p + 84, 4) == 3,
          "seed, clock, epoch or flags");
    check(snapshot_number(p + 88, 8) == c.n && snapshot_number(p + 96, 8) == bytes, "size or file bytes");
    for (int i = 104; i < 240; i++) check(p[i] == 0, "byte %d is %d", i, p[i]);
    check(snapshot_sum_is(p + 240, p, 240), "the header's sum");

    snapshot_sections(p, bytes, at);
    for (int i = 0; i < 4; i++) {
        check(!memcmp(p + at[i], (const char *const[]){ "SLOT", "KEYS", "SCOR", "VALS" }[i], 4) &&
                  snapshot_number(p + at[i] + 4, 4) == 0,
              "the head of section %d", i);
        check(snapshot_sum_is(p + at[i + 1] - 16, p + at[i], at[i + 1] - 16 - at[i]), "the sum of section %d", i);
    }
    uint64_t entry = 0;
    for (uint64_t slot = 0; slot < 40; slot++) {
        if (!(p[at[0] + 16 + slot / 8] >> slot % 8 & 1)) continue;
        uint64_t i = 0;
        while (i < c.n && c.slot[i] != slot) i++;
        check(i < c.n, "slot %llu is marked, and empty", (ull)slot);
        check(snapshot_number(p + at[1] + 16 + 8 * entry, 8) == c.key[i] &&
                  snapshot_number(p + at[2] + 16 + 8 * entry, 8) == c.score[i],
              "key or score of slot %llu", (ull)slot);
        check(!memcmp(p + at[3] + 16 + 12 * entry, c.value + 12 * i, 12), "value of slot %llu", (ull)slot);
        entry++;
    }
    check(entry == c.n, "%llu slots are marked, %llu entries", (ull)entry, (ull)c.n);
    free(p);
    contents_give(&c);
    hd_close(t);
}

/* Never to change, either: Hive's, grown from two buckets, with keys in the stash, and slots that are only vacant.
 * hash: its functions. */
static hd_table *golden_dictionary(const char *hash)
{
    hd_table *t;
    uint64_t key[100], count;
    uint16_t value[100];
    hd_config c = test_usual(.design = "hive", .capacity = 16, .slots = 8, .value_bytes = 2, .hive.hashes = 3,
                             .hive.spare = 2, .seed = golden_shape.seed);
    must(hd_config_set(&c, "hash", hash));
    must(hd_open(&c, &t));
    for (uint64_t i = 0; i < 100; i++) {
        key[i] = i * i * 5 + i;
        value[i] = (uint16_t)(i * 257);
    }
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 100, .key = key, .value = value };
    hd_batch gone = { .op = HD_OP_ERASE, .n = 9, .key = key + 4 };
    hd_batch stash = { .op = HD_OP_EXPORT, .start = 5 * 8, .n = 8, .count = &count };
    must(hd_grow(t, 5));
    must(hd_run(t, &b));
    must(hd_run(t, &gone));
    must(hd_run(t, &stash));
    check(count > 2, "%llu in the stash", (ull)count);
    return t;
}

static hd_table *golden_ordered(void)
{
    hd_table *t;
    uint64_t key[40], value[40];
    hd_config c = test_usual(.design = "sl", .capacity = 64, .slots = 8, .value_bytes = 8, .sl.segment_bytes = 128);
    for (uint64_t i = 0; i < 40; i++) key[i] = i * 37 % 41 * 1000, value[i] = i;
    must(hd_open(&c, &t));
    must(hd_upsert(t, 40, key, value, NULL, NULL));
    must(hd_erase(t, 9, key, NULL));
    return t;
}

/* Three segments of two buckets, grown from two; some slots are only vacant. */
static hd_table *golden_segments(void)
{
    hd_table *t;
    uint64_t key[70];
    uint32_t value[70];
    hd_config c = test_usual(.design = "ovs", .capacity = 64, .seed = golden_shape.seed, .ovs.segment_bytes = 256,
                             .value_bytes = 4);
    for (uint64_t i = 0; i < 70; i++) key[i] = i * i * 7 + i, value[i] = (uint32_t)i * 65537;
    must(hd_open(&c, &t));
    must(hd_grow(t, 6));
    must(hd_upsert(t, 70, key, value, NULL, NULL));
    must(hd_erase(t, 9, key + 4, NULL));
    return t;
}

/* The file of that name under tests/golden/ is what such a table is saved as, and opens. HEDDLE_WRITE_GOLDEN=1 writes
 * the files anew: for a new version of the format, never for another reason. */
static hd_table *same_bytes(hd_table *t, const char *name)
{
    const char *top = getenv("top_srcdir");
    char path[4200];
    hd_table *u;
    snprintf(path, sizeof path, "%s/tests/golden/%s", top ? top : ".", name);
    if (!getenv("HEDDLE_WRITE_GOLDEN") && access(path, R_OK)) {
        hd_close(t);
        test_skip("the files of tests/golden are not here: set top_srcdir");
    }
    must(hd_save(t, getenv("HEDDLE_WRITE_GOLDEN") ? path : test_path("golden")));
    if (getenv("HEDDLE_WRITE_GOLDEN")) must(hd_save(t, test_path("golden")));
    size_t bytes, want_bytes;
    uint8_t *p = test_read(test_path("golden"), &bytes), *want = test_read(path, &want_bytes);
    check(bytes == want_bytes, "%s: %zu bytes, golden %zu", name, bytes, want_bytes);
    for (size_t i = 0; i < bytes; i++)
        check(p[i] == want[i], "%s: byte %zu is %02x, golden %02x", name, i, p[i], want[i]);
    must(hd_open_snapshot(path, NULL, &u));
    free(p);
    free(want);
    return u;
}

static void golden(void)
{
    static const char *const hash[] = { HD_HASH_USUAL, "bithash1,crc64,city32" }, *const name[] = {
        "snapshot-1-hive", "snapshot-1-hive-named"
    };
    hd_table *t, *u;
    for (int k = 0; k < 2; k++) {
        t = golden_table(k ? &golden_policy_shape : &golden_shape);
        u = same_bytes(t, k ? "snapshot-2" : "snapshot-1");
        same_table(t, u);
        hd_close(t);
        hd_close(u);
    }
    for (int k = 0; k < 2; k++) {
        t = golden_dictionary(hash[k]);
        u = same_bytes(t, name[k]);
        must(hd_check(u));
        hd_close(t);
        hd_close(u);
    }
    for (int k = 0; k < 2; k++) {
        t = k ? golden_segments() : golden_ordered();
        u = same_bytes(t, k ? "snapshot-1-ovs" : "snapshot-1-sl");
        must(hd_check(u));
        hd_close(t);
        hd_close(u);
    }
}

/* A program that has closed its standard input: the next file that is opened has number 0. */
static void without_standard_input(void)
{
    if (test_far()) test_skip("a forked child has no device");
    snapshot_shape s = { "lru", 8, 16, 8, false, HD_ADMIT_SCORE, 0 };
    hd_table *t = shape_open(&s);
    feed(t, 100, 1);
    char path[4200];
    int status;
    snprintf(path, sizeof path, "%s", test_path("zero"));
    pid_t child = fork();
    check(child >= 0, "cannot fork");
    if (child == 0) _exit(close(0) || hd_save(t, path) ? 1 : hd_load(t, path, NULL) ? 2 : 0);
    check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child's %s",
          WEXITSTATUS(status) == 1 ? "save failed" : "load failed");
    hd_close(t);
}

/* ---- A save that fails, and a process that dies ---------------------------------------------- */

/* 200 times: a child that saves two tables in turn is killed at a random moment. The file has one of the two, complete.
 */
static void killed_while_saving(void)
{
    if (test_far()) test_skip("a forked child has no device");
    snapshot_shape s = { "lru", 40, 64, 40, false, HD_ADMIT_SCORE, 0 };
    hd_table *odd = shape_open(&s), *even = shape_open(&s), *t;
    hd_config c = shape_config(&s);
    model_contents first, second, now;
    uint64_t random = 8, was_first = 0, parts = 0, rounds = test_times(200);
    feed(odd, 4000, 1);
    feed(even, 3000, 2);
    contents_take(&first, odd);
    contents_take(&second, even);
    char path[4200];
    snprintf(path, sizeof path, "%s", test_path("killed"));
    must(hd_save(odd, path));
    for (uint64_t round = 0; round < rounds; round++) {
        test_case("kill -9 while saving, round %llu", (ull)round);
        pid_t child = fork();
        check(child >= 0, "cannot fork");
        if (child == 0)
            for (int i = 0;; i++)
                if (hd_save(i % 2 ? odd : even, path)) _exit(9);
        struct timespec nap = { 0, (long)(1000 + test_below(&random, 4000000)) };
        nanosleep(&nap, NULL);
        int status;
        kill(child, SIGKILL);
        check(waitpid(child, &status, 0) == child && WIFSIGNALED(status), "a save failed in the child");
        must(hd_open_snapshot(path, &c, &t));
        contents_take(&now, t);
        bool is_first = contents_equal(&now, &first, true);
        check(is_first || contents_equal(&now, &second, true), "neither the one table nor the other");
        was_first += is_first;
        contents_give(&now);
        hd_close(t);

        DIR *d = opendir(test_folder()); /* what a crash may leave behind */
        for (struct dirent *e; (e = readdir(d));)
            if (strstr(e->d_name, ".part")) {
                unlink(test_path(e->d_name));
                parts++;
            }
        closedir(d);
    }
    test_note("%llu kills: the one table %llu times, the other %llu, a part left behind %llu times", (ull)rounds,
              (ull)was_first, (ull)(rounds - was_first), (ull)parts);
    test_tried("snapshots", rounds, "kills of a process that saves: the old file or the new one, whole");
    contents_give(&first);
    contents_give(&second);
    hd_close(odd);
    hd_close(even);
}

/* A save that fails leaves the old file, and nothing beside it. */
static void failed_save_leaves_no_part(void)
{
    hd_table *t = shape_open(&small);
    const char *path = test_path("taken");
    unsigned files = test_files();
    check(!mkdir(path, 0700), "cannot make %s", path);
    must_fail(hd_save(t, path), HD_EIO, "rename"); /* a folder is in the way */
    check(test_files() == files + 1, "a part was left");
    check(!rmdir(path), "cannot remove %s", path);
    must(hd_save(t, path));
    must(hd_save(t, path));
    check(test_files() == files + 1, "a part was left");
    unlink(path);
    hd_close(t);
}

/* What is no file is written to, and stays what it is. */
static void to_devices_and_pipes(void)
{
    hd_table *t = shape_open(&small);
    feed(t, 20, 1);
    struct stat st;
    const char *pipe = test_path("pipe"), *file = test_path("beside");
    check(!mkfifo(pipe, 0600), "cannot make %s", pipe);
    must(hd_save(t, file));
    size_t bytes;
    uint8_t *want = test_read(file, &bytes), got[4096];
    int reader = open(pipe, O_RDONLY | O_NONBLOCK);
    must(hd_save(t, pipe));
    check(reader >= 0 && read(reader, got, sizeof got) == (ssize_t)bytes && !memcmp(got, want, bytes),
          "the file's bytes did not come through the pipe");
    check(!stat(pipe, &st) && S_ISFIFO(st.st_mode), "the pipe is none any more");
    /* there is no going back in a pipe: that is what is said, and not that the file in it is cut short */
    int writer = open(pipe, O_WRONLY | O_NONBLOCK);
    check(writer >= 0 && write(writer, want, bytes) == (ssize_t)bytes, "the pipe does not take a file");
    must_fail(hd_load(t, pipe, NULL), HD_EIO, "a pipe or a device");
    close(writer);
    unlink(pipe);
    unlink(file);
    /* had the pipe been replaced, the devices would be */
    must(hd_save(t, "/dev/null"));
    check(!stat("/dev/null", &st) && S_ISCHR(st.st_mode), "/dev/null is no device any more");
    if (!access("/dev/full", W_OK)) {
        must_fail(hd_save(t, "/dev/full"), HD_EIO, "/dev/full");
        check(!stat("/dev/full", &st) && S_ISCHR(st.st_mode), "/dev/full is no device any more");
    }
    must_fail(hd_save(t, "/dev/fd/999999"), HD_EIO, "/dev/fd/999999: cannot be opened"); /* the name of no open file */
    close(reader);
    free(want);
    hd_close(t);
}

/* Files longer than what is read or written at a time: after a write that failed there is no other, and a read that
 * fails is the load's failure, whichever it is. */
static void long_files_fail(void)
{
    static const snapshot_shape s = { "lru", 2, 20, HD_VALUE_BYTES_MAX, false, HD_ADMIT_SCORE, 0 },
                                other = { "lru", 3, 16, HD_VALUE_BYTES_MAX, false, HD_ADMIT_SCORE, 0 };
    enum { WELL = 0 };
    hd_table *t = shape_open(&s);
    uint64_t failures = 0, before, after;
    const char *path = test_path("long"), *kept = test_path("kept");
    feed(t, 30, 1);
    must(hd_save(t, kept));
    must(hd_size_sync(t, &before));
    hd_close(t);
    for (int act = 0; act < 3; act++) /* save; load; load into another shape */
        for (uint64_t call = 1, more = 1; more; call++) {
            faulty f;
            faulty_init(&f, act ? FAULT_EIO : FAULT_ENOSPC, WELL);
            hd_config c = shape_config(act == 2 ? &other : &s);
            c.seams = &f.memory.seams;
            must(hd_open(&c, &t));
            if (act == 0) must(hd_load(t, kept, NULL));
            unsigned files = test_files();
            f.calls = 0, f.at = call;
            test_case("%s, file call %llu fails", act ? "load" : "save", (ull)call);
            hd_status status = act ? hd_load(t, kept, NULL) : hd_save(t, path);
            uint64_t calls = f.calls;
            more = f.failed != NULL;
            check(status == (more && strcmp(f.failed, "close") != 0 ? HD_EIO : status), "%s although %s failed",
                  hd_status_name(status), f.failed);
            check(status == HD_OK || (status == HD_EIO && more), "%s: %s", hd_status_name(status), hd_why());
            if (!act) {
                /* close, unlink */
                check(!more || strcmp(f.failed, "write") != 0 || calls <= call + 2,
                      "%llu calls after a write that failed", (ull)(calls - call));
                check(test_files() == files + (access(path, F_OK) == 0), "a part was left");
                unlink(path);
            }
            f.at = WELL;
            must(hd_size_sync(t, &after));
            check(after == (act && status ? 0 : before), "%llu entries", (ull)after);
            must(hd_check(t));
            hd_close(t);
            faulty_settled(&f);
            failures += more;
        }
    unlink(kept);
    check(failures > 20, "only %llu failed", (ull)failures);
    test_tried("files", failures, "file calls of long snapshots that failed");
}

static bool no_threads;
static uint64_t threads_made;
int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *context);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *context);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *context)
{
    threads_made++;
    return no_threads ? EAGAIN : __real_pthread_create(t, a, f, context);
}

/* A file of many blocks is written by a thread; if there is none, by the caller, with the same bytes. A small file asks
 * for no thread. */
static void threads_that_write(void)
{
    static const snapshot_shape s = { "lfu", 4, 32, HD_VALUE_BYTES_MAX, false, HD_ADMIT_SCORE, 0 };
    hd_table *t = shape_open(&s), *u = shape_open(&small);
    const char *path = test_path("by_thread"), *other = test_path("by_caller"), *tiny = test_path("tiny");
    feed(t, 120, 3);
    threads_made = 0;
    must(hd_save(u, tiny));
    check(threads_made == 0, "%llu threads for a small file", (ull)threads_made);
    must(hd_save(t, path));
    check(threads_made == 1, "%llu threads", (ull)threads_made);
    no_threads = true;
    must(hd_save(t, other));
    no_threads = false;
    check(threads_made == 2, "a thread was asked for %llu times", (ull)threads_made - 1);
    test_same_files(path, other);
    must(hd_load(t, other, NULL));
    unlink(path);
    unlink(other);
    unlink(tiny);
    hd_close(u);
    hd_close(t);
}

/* Each write of a file of many blocks fails in turn, by a thread and by the caller: the call says why, no block is
 * written after it, and the old file stays. */
static void threads_that_fail(void)
{
    static const snapshot_shape s = { "lru", 4, 32, HD_VALUE_BYTES_MAX, false, HD_ADMIT_SCORE, 0 };
    const char *path = test_path("old");
    uint64_t failures = 0;
    for (int by_caller = 0; by_caller < 2; by_caller++)
        for (uint64_t call = 1, more = 1; more; call++) {
            faulty f;
            hd_table *t;
            faulty_init(&f, FAULT_ENOSPC, 0);
            hd_config c = shape_config(&s);
            c.seams = &f.memory.seams;
            must(hd_open(&c, &t));
            must(hd_save(t, path));
            feed(t, 120, 3);
            test_case("%s, file call %llu fails", by_caller ? "by the caller" : "by a thread", (ull)call);
            no_threads = by_caller;
            f.calls = 0, f.at = call;
            hd_status status = hd_save(t, path);
            no_threads = false;
            f.at = 0;
            more = f.failed != NULL;
            failures += more;
            check(status == HD_OK || (status == HD_EIO && more && strstr(hd_why(), path)), "%s: %s",
                  hd_status_name(status), hd_why());
            check(!more || strcmp(f.failed, "write") != 0 || f.calls <= call + 2,
                  "%llu calls after a write that failed", (ull)(f.calls - call));
            hd_snapshot_info info;
            must(hd_snapshot_inspect(path, &info));
            check((info.size != 0) == (status == HD_OK || strstr(hd_why(), "folder") != NULL), "%llu entries: %s",
                  (ull)info.size, hd_why());
            hd_close(t);
            faulty_settled(&f);
        }
    unlink(path);
    check(failures > 20, "only %llu failed", (ull)failures);
    test_tried("files", failures, "file calls of long snapshots that failed, with a thread and without");
}

static ptrdiff_t writes_nothing(void *self, int fd, const void *p, size_t bytes)
{
    return (void)self, (void)fd, (void)p, (void)bytes, 0;
}

/* What the seam of files says of the system, and makes of answers that no regular file gives. */
static void the_systems_files(void)
{
    const hd_file_seam *os = &hd_seams_os.file;
    uint64_t bytes = 7;
    int ends[2], folder = open(test_folder(), O_RDONLY), file = open(test_path("size"), O_RDWR | O_CREAT, 0600);
    char longest[8192];
    check(!pipe(ends) && folder >= 0 && file >= 0 && write(file, "three", 3) == 3, "no files to ask for");
    check(os->size(NULL, ends[0], &bytes) == 0 && bytes == 0, "a pipe has %llu bytes", (ull)bytes);
    check(os->size(NULL, file, &bytes) == 0 && bytes == 3, "a file of 3 bytes has %llu", (ull)bytes);
    check(os->size(NULL, folder, &bytes) == -1 && errno == EISDIR, "a folder has a size");
    close(ends[1]);
    close(ends[0]);
    close(folder);
    close(file);
    check(os->size(NULL, file, &bytes) == -1 && errno == EBADF, "what is closed has a size");

    check(os->sync_folder(NULL, test_path("anything")) == 0, "a folder cannot be synced: %s", strerror(errno));
    check(os->sync_folder(NULL, "no folder at all") == 0, "the working folder cannot be synced: %s", strerror(errno));
    check(os->sync_folder(NULL, "/proc/self/status") == 0, "a file system that cannot sync is no failure: %s",
          strerror(errno));
    check(os->sync_folder(NULL, "/no/such/folder") == -1 && errno == ENOENT, "a folder that is not there was synced");
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 2] = '/';
    longest[sizeof longest - 1] = 0;
    check(os->sync_folder(NULL, longest) == -1 && errno == ENAMETOOLONG, "a name that is too long was cut");

    static const char *const special[] = { "/dev/null", "/dev/stdout",   "/dev/stdin",
                                           "/dev/fd/1", "/dev/fd/77777", "/proc/self/fd/0" },
                             *const usual[] = { "/proc/self", "/no/such/file", "", "/dev" };
    for (size_t k = 0; k < sizeof special / sizeof *special; k++)
        check(os->special(NULL, special[k]), "'%s' would be replaced by a file", special[k]);
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
        check(!os->special(NULL, usual[k]), "'%s' would be written to as it is", usual[k]);
    check(!os->special(NULL, test_path("size")), "a file would be written to as it is");

    hd_seams stuck = hd_seams_os;
    stuck.file.write = writes_nothing;
    must_fail(hd_file_write_all(&stuck, 1, "a file", "x", 1), HD_EIO, "a file: cannot write: no progress");
    unlink(test_path("size"));
}

static uint64_t five(void *self) { return (void)self, 5; }

/* Scores that a clock of the device has left are not taken for those of the batch: all are 5 here, and so is the time
 * of an item of the next one. */
static void scores_of_another_clock(void)
{
    enum { N = 16 };
    uint64_t key[N], before[N], after[N], got[N];
    hd_seams seams = hd_seams_os;
    hd_table *t, *u;
    seams.time.unix_ns = five;
    hd_config c = test_usual(.backend = test_backend("ref"), .capacity = 4 * N, .slots = N, .value_bytes = 8,
                             .clock = HD_CLOCK_DEVICE, .seams = &seams);
    for (uint64_t i = 0; i < N; i++) key[i] = 1 + i / 2, before[i] = 100 + i, after[i] = 200 + i;
    must(hd_open(&c, &t));
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = N, .key = key, .value = before };
    must(hd_run(t, &b));
    const char *path = test_path("another_clock");
    must(hd_save(t, path));
    hd_close(t);

    static const char *const kernel[] = { "coalesced", "tlpv1" };
    for (size_t k = 0; k < sizeof kernel / sizeof *kernel; k++) {
        test_case("%s", kernel[k]);
        c.backend = "host";
        c.clock = HD_CLOCK_LOGICAL;
        c.seams = NULL;
        must(hd_open(&c, &u));
        must(hd_load(u, path, NULL));
        hd_batch assign = { .op = HD_OP_ASSIGN, .n = N, .key = key, .value = after, .kernel = kernel[k] };
        must(hd_run(u, &assign));
        hd_batch find = { .op = HD_OP_FIND, .n = N, .key = key, .value_out = got };
        must(hd_run(u, &find));
        for (uint64_t i = 0; i < N; i++)
            check(got[i] == after[i / 2 * 2] || got[i] == after[i / 2 * 2 + 1], "key %llu has %llu", (ull)key[i],
                  (ull)got[i]);
        hd_close(u);
    }
    unlink(path);
}

/* ---- Names ----------------------------------------------------------------------------------- */

typedef struct taken_names {
    const hd_file_seam *real;
    int taken, opened; /* temporary names beside the path that exist already; names that were tried */
} taken_names;

static int open_if_free(void *self, const char *path, int flags, int mode)
{
    taken_names *n = (taken_names *)self;
    if (flags & O_EXCL && ++n->opened <= n->taken) {
        errno = EEXIST;
        return -1;
    }
    return n->real->open(n->real->self, path, flags, mode);
}

/* What killed processes left is passed over, up to a point. */
static void names_beside(void)
{
    static const struct {
        int taken, opened;
        hd_status status;
    } all[] = { { 0, 1, HD_OK }, { 3, 4, HD_OK }, { 99, 100, HD_OK }, { 100, 100, HD_EIO } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        taken_names n = { &hd_seams_os.file, all[i].taken, 0 };
        hd_seams seams = hd_seams_os;
        const char *path = test_path("taken");
        seams.file.self = &n; /* the operating system's do not look at it */
        seams.file.open = open_if_free;
        test_case("%d names are taken", all[i].taken);
        hd_table *t = test_table(.backend = test_backend("ref"), .seams = &seams, .threads = 1, .value_bytes = 8);
        hd_status status = hd_save(t, path);
        check(status == all[i].status, "%s: %s", hd_status_name(status), hd_why());
        check(n.opened == all[i].opened, "%d names were tried", n.opened);
        if (!status) must(hd_load(t, path, NULL));
        hd_close(t);
    }
}

/* A path that has no room for what comes beside it is refused. */
static void longest_names(void)
{
    hd_config c = test_config();
    hd_table *t;
    char longest[8192];
    size_t bytes = 4000;
    c.threads = 1;
    must(hd_open(&c, &t));
    hd_status status = HD_OK;
    /* from paths too long for any file system to paths too long for the library */
    for (hd_status last = HD_EIO; bytes < sizeof longest; bytes += 8) {
        memset(longest, 'x', bytes);
        longest[bytes] = 0;
        status = hd_save(t, longest);
        check(status == HD_EIO || status == HD_EINVAL, "%zu bytes: %s", bytes, hd_status_name(status));
        check(status == last || last == HD_EIO, "%zu bytes are short enough, and fewer were not", bytes);
        last = status;
    }
    must_fail(status, HD_EINVAL, "path: longer than");
    hd_close(t);
}

static const struct CMUnitTest tests[] = { unit(round_trips),
                                           unit(pins_are_dropped),
                                           unit(bytes_are_as_documented),
                                           unit(golden),
                                           unit(failed_save_leaves_no_part),
                                           unit(without_standard_input),
                                           unit(killed_while_saving),
                                           unit(to_devices_and_pipes),
                                           unit(long_files_fail),
                                           unit(threads_that_write),
                                           unit(threads_that_fail),
                                           unit(the_systems_files),
                                           unit(scores_of_another_clock),
                                           unit(names_beside),
                                           unit(longest_names) };

int main(void) { return test_run(tests); }

/* SPDX-License-Identifier: Apache-2.0
 *
 * t_reshape.c - loading a snapshot into a table of another shape: the entries that the policy would keep remain; a
 * table that cannot load it refuses with the reason.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/snapshots.h"

static void another_table(void)
{
    snapshot_shape s = { "lru", 4, 8, 8, false, HD_ADMIT_SCORE, 0 }, policy = s, wider = s;
    policy.policy = "lfu";
    wider.value_bytes = 9;
    hd_table *t = shape_open(&s), *p = shape_open(&policy), *w = shape_open(&wider), *none = NULL;
    hd_snapshot_info info;
    model_contents before, after;
    feed(t, 20, 1);
    feed(p, 20, 2);
    feed(w, 20, 3);
    must(hd_save(t, test_path("another")));
    contents_take(&before, p);
    must_fail(hd_load(p, test_path("another"), NULL), HD_EINVAL, "policy");
    contents_take(&after, p);
    check(contents_equal(&before, &after, true), "the table changed");
    contents_give(&before);
    contents_give(&after);
    must_fail(hd_load(w, test_path("another"), NULL), HD_EINVAL, "value_bytes");
    must_fail(hd_load(t, test_path("nowhere"), NULL), HD_EIO, "nowhere");
    must_fail(hd_open_snapshot(test_path("nowhere"), NULL, &none), HD_EIO, "nowhere");
    must_fail(hd_snapshot_inspect(test_path("nowhere"), &info), HD_EIO, "nowhere");
    must_fail(hd_load(t, test_folder(), NULL), HD_EIO, NULL); /* a folder */
    must_fail(hd_save(t, test_path("no/folder")), HD_EIO, "no/folder");
    must_fail(hd_save(t, NULL), HD_EINVAL, "path");
    must_fail(hd_save(t, ""), HD_EIO, "path: it is empty");
    must_fail(hd_save(NULL, test_path("another")), HD_EINVAL, "table");
    must_fail(hd_load(t, NULL, NULL), HD_EINVAL, "path");
    must_fail(hd_load(NULL, test_path("another"), NULL), HD_EINVAL, "table");
    must_fail(hd_snapshot_inspect(test_path("another"), NULL), HD_EINVAL, "info");
    must_fail(hd_open_snapshot(test_path("another"), NULL, NULL), HD_EINVAL, "table");
    must(hd_load(t, test_path("another"), NULL));
    hd_close(t);
    hd_close(p);
    hd_close(w);
}

/* A table without entries, into one with some, of whatever shape: then it has none. And a file that is too short to
 * have a header. */
static void next_to_nothing(void)
{
    static const snapshot_shape from = { "lru", 4, 8, 8, false, HD_ADMIT_SCORE, 0 };
    hd_table *t = shape_open(&from);
    must(hd_save(t, test_path("empty")));
    hd_close(t);
    for (int k = 0; k < 5; k++) {
        snapshot_shape to = from;
        uint64_t dropped = 7, size;
        to.buckets += k == 1;
        to.dual = k == 2;
        to.seed = k == 3;
        to.slots += k == 4;
        t = shape_open(&to);
        feed(t, 20, 1);
        test_case("shape %d", k);
        must(hd_load(t, test_path("empty"), &dropped));
        must(hd_size_sync(t, &size));
        check(size == 0 && dropped == 0, "%llu entries, %llu dropped", (ull)size, (ull)dropped);
        must(hd_check(t));
        feed(t, 20, 2);
        must(hd_check(t));
        hd_close(t);
    }
    static const char noise[] =
        "a text that is longer than the magic number of a snapshot, and shorter than its header";
    t = shape_open(&from);
    for (size_t n = 1; n < sizeof noise; n++) {
        test_case("%zu bytes of text", n);
        test_write(test_path("noise"), noise, n);
        must_fail(hd_load(t, test_path("noise"), NULL), HD_ECORRUPT, "no Heddle snapshot");
    }
    hd_close(t);
}

/* A configuration that names what a file decides. */
static void a_file_decides(void)
{
    static const struct {
        const char *design, *name, *text;
    } says[] = {
        { "hkv", "device_value_bytes", "64" }, { "hkv", "near", "64" },       { "hkv", "policy", "lfu" },
        { "sl", "near", "9100000" },           { "ovs", "capacity", "9999" }, { "ovs", "seed", "5" },
        { "ovs", "partition", "range" },       { "ovs", "segment", "512" },   { "hive", "hashes", "3" },
        { "ovs", "value_bytes", "8" },         { "ovs", "slots", "32" },      { "ovs", "epoch", "1" },
        { "ovs", "clock", "device" },          { "ovs", "design", "hive" },
    };
    static const char *const agrees[][2] = { { "near", "256" },  { "capacity", "100" }, { "segment", "256" },
                                             { "copies", "64" }, { "threads", "2" },    { "design", "ovs" } };
    hd_table *t, *u;
    hd_config c = test_usual(.design = "ovs", .capacity = 128, .ovs.segment_bytes = 256, .value_bytes = 4);
    must(hd_open(&c, &t));
    must(hd_save(t, test_path("decides")));
    hd_close(t);
    for (size_t i = 0; i < sizeof says / sizeof *says; i++) {
        c = hd_config_of(says[i].design);
        must(hd_config_set(&c, says[i].name, says[i].text));
        test_case("%s of %s", says[i].name, says[i].design);
        must_fail(hd_open_snapshot(test_path("decides"), &c, &u), HD_EINVAL, "decides");
    }
    for (size_t i = 0; i < sizeof agrees / sizeof *agrees; i++) {
        c = hd_config_of("ovs");
        must(hd_config_set(&c, agrees[i][0], agrees[i][1]));
        test_case("%s", agrees[i][0]);
        must(hd_open_snapshot(test_path("decides"), &c, &u));
        hd_close(u);
    }
    c = hd_config_default(); /* of another design, and nothing else */
    must(hd_open_snapshot(test_path("decides"), &c, &u));
    hd_close(u);
}

/* A table with little device memory, and a file whose shape would take more: its few entries have room. A file of the
 * same shape does not fit, and that is the table's limit and no damage. */
static void near_is_the_tables(void)
{
    hd_table *big, *small, *same;
    uint64_t key = 1, value = 1, dropped;
    hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, 1, &key, &value, NULL);
    hd_config c = test_usual(.design = "sl", .backend = "host", .capacity = 10, .value_bytes = 4);
    must(hd_open(&c, &big));
    must(hd_run(big, &b));
    c.sl.segment_bytes = 256;
    must(hd_open(&c, &same));
    must(hd_grow(same, 4096));
    c.sl.near_bytes = 9019648;
    must(hd_open(&c, &small));
    must(hd_save(big, test_path("big")));
    must(hd_load(small, test_path("big"), &dropped));
    check(dropped == 0, "%llu dropped", (ull)dropped);
    must(hd_save(same, test_path("same")));
    must_fail(hd_load(small, test_path("same"), NULL), HD_EINVAL, "near");
    must(hd_check(small));
    hd_close(big);
    hd_close(small);
    hd_close(same);
}

static int greater_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* The scores that each bucket of a single-mode table must hold: the best `slots` of those that belong there. */
static void best_per_bucket(const model_contents *from, const model_contents *kept, const model *m)
{
    uint64_t *want = (uint64_t *)test_alloc(from->n, 8), *have = (uint64_t *)test_alloc(kept->n, 8), b[2];
    for (uint64_t bucket = 0; bucket < m->buckets; bucket++) {
        uint64_t n = 0, k = 0;
        for (uint64_t i = 0; i < from->n; i++)
            if (model_buckets(m, from->key[i], b) && b[0] == bucket) want[n++] = from->score[i];
        for (uint64_t i = 0; i < kept->n; i++)
            if (model_buckets(m, kept->key[i], b) && b[0] == bucket) have[k++] = kept->score[i];
        qsort(want, (size_t)n, 8, greater_first);
        qsort(have, (size_t)k, 8, greater_first);
        check(k == (n < m->slots ? n : m->slots), "bucket %llu has %llu entries of %llu", (ull)bucket, (ull)k, (ull)n);
        check(!k || !memcmp(want, have, (size_t)k * 8), "bucket %llu did not keep the best", (ull)bucket);
    }
    free(want);
    free(have);
}

/* Dual: an entry is dropped only if both of its buckets are full of entries with higher scores (all scores differ). */
static void dropped_for_better(const model_contents *from, const model_contents *kept, model *m)
{
    uint64_t *used = (uint64_t *)test_alloc(m->buckets, 8), *least = (uint64_t *)test_alloc(m->buckets, 8), b[2];
    memset(used, 0, m->buckets * 8);
    memset(least, 0xff, m->buckets * 8);
    for (uint64_t i = 0; i < kept->n; i++) {
        uint64_t bucket = kept->slot[i] / m->slots;
        used[bucket]++;
        if (kept->score[i] < least[bucket]) least[bucket] = kept->score[i];
    }
    for (uint64_t i = 0, k = 0; i < from->n; i++) {
        for (k = 0; k < kept->n && kept->key[k] != from->key[i]; k++) {
        }
        if (k < kept->n) continue;
        model_buckets(m, from->key[i], b);
        for (int j = 0; j < 2; j++)
            check(used[b[j]] == m->slots && least[b[j]] > from->score[i],
                  "key %llu was dropped: bucket %llu has %llu entries, the least score is %llu", (ull)from->key[i],
                  (ull)b[j], (ull)used[b[j]], (ull)least[b[j]]);
    }
    free(used);
    free(least);
}

static void into(const snapshot_shape *from, const snapshot_shape *to, uint64_t upserts)
{
    hd_table *t = shape_open(from), *u = shape_open(to);
    model_contents a, b;
    model m;
    uint64_t dropped = 99;
    feed(t, upserts, 6);
    feed(u, 30, 7);
    must(hd_epoch_set(t, 9));
    must(hd_save(t, test_path("into")));
    must(hd_load(u, test_path("into"), &dropped));
    must(hd_check(u));
    contents_take(&a, t);
    contents_take(&b, u);
    test_case("snapshot policy=%s buckets=%llu slots=%u%s into buckets=%llu slots=%u%s", from->policy,
              (ull)from->buckets, from->slots, from->dual ? " dual" : "", (ull)to->buckets, to->slots,
              to->dual ? " dual" : "");
    check(b.now == a.now && b.epoch == a.epoch, "clock %llu, epoch %u", (ull)b.now, b.epoch);
    check(dropped == a.n - b.n, "%llu dropped of %llu, %llu kept", (ull)dropped, (ull)a.n, (ull)b.n);
    for (uint64_t i = 0, k = 0; i < b.n; i++) {
        while (k < a.n && a.key[k] != b.key[i]) k++;
        check(k < a.n && a.score[k] == b.score[i] &&
                  !memcmp(a.value + k * a.value_bytes, b.value + i * b.value_bytes, a.value_bytes),
              "key %llu was not saved so", (ull)b.key[i]);
    }
    model_open(&m, u);
    if (from == to)
        check(dropped == 0, "%llu dropped by a table of the same shape", (ull)dropped);
    else if (to->dual)
        dropped_for_better(&a, &b, &m);
    else
        best_per_bucket(&a, &b, &m);
    model_close(&m);
    contents_give(&a);
    contents_give(&b);
    hd_close(t);
    hd_close(u);
}

static void another_shape(void)
{
    static const snapshot_shape shapes[] = {
        { "custom", 8, 16, 8, false, HD_ADMIT_SCORE, 0 },  { "custom", 8, 16, 8, true, HD_ADMIT_SCORE, 0 },
        { "custom", 3, 16, 8, false, HD_ADMIT_SCORE, 0 },  { "custom", 3, 16, 8, true, HD_ADMIT_SCORE, 0 },
        { "custom", 40, 9, 8, false, HD_ADMIT_ALWAYS, 5 }, { "custom", 40, 9, 8, true, HD_ADMIT_ALWAYS, 5 },
        { "custom", 2, 2, 8, true, HD_ADMIT_SCORE, 0 },    { "custom", 8, 16, 8, false, HD_ADMIT_SCORE, 77 },
    };
    for (size_t a = 0; a < sizeof shapes / sizeof shapes[0]; a++)
        for (size_t b = 0; b < sizeof shapes / sizeof shapes[0]; b++) {
            into(&shapes[a], &shapes[b], 60);
            into(&shapes[a], &shapes[b], 1000);
        }
}

/* Equal scores: as many stay as there is room for, and every other one is counted. */
static void equal_scores(void)
{
    snapshot_shape big = { "custom", 16, 16, 8, false, HD_ADMIT_SCORE, 0 },
                   small = { "custom", 3, 16, 8, false, HD_ADMIT_SCORE, 0 };
    for (int is_dual = 0; is_dual < 2; is_dual++) {
        small.dual = is_dual;
        hd_table *t = shape_open(&big), *u = shape_open(&small);
        uint64_t key[200], score[200], before, after, dropped;
        for (uint64_t i = 0; i < 200; i++) key[i] = i, score[i] = i % 2;
        hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 200, .key = key, .value = key, .score = score };
        must(hd_run(t, &b));
        must(hd_save(t, test_path("equal")));
        must(hd_load(u, test_path("equal"), &dropped));
        must(hd_size_sync(t, &before));
        must(hd_size_sync(u, &after));
        check(after == 48 && dropped == before - after, "%llu of %llu kept, %llu dropped", (ull)after, (ull)before,
              (ull)dropped);
        hd_close(t);
        hd_close(u);
    }
}
static const struct CMUnitTest tests[] = { unit(another_table),   unit(a_file_decides), unit(near_is_the_tables),
                                           unit(next_to_nothing), unit(another_shape),  unit(equal_scores) };

int main(void) { return test_run(tests); }

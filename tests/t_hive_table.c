/* SPDX-License-Identifier: Apache-2.0
 *
 * t_hive_table.c - Hive's kernels through heddle.h: the bucket of a new key, and the counters of large batches.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/backend_host.h"
#include "tests/hive_tables.h"
#include "tests/snapshots.h"

/* ---- The bucket of a new key ----------------------------------------------------------------- */

enum { FILLED = 1100 };

/* The share of FILLED keys, brought in by batches, that are in their first bucket. kernel: NULL, by the reference. */
static double in_first(hd_config c, const char *kernel, bool distinct)
{
    static uint64_t key[FILLED], slot[2 * FILLED], listed[2 * FILLED];
    static uint32_t value[FILLED];
    static uint8_t outcome[FILLED];
    hd_info info;
    hd_table *t;
    uint64_t count, n = 0;
    c.backend = kernel ? "host" : "ref";
    test_case("%s%s, slots=%u spare=%u", kernel ? kernel : "ref", distinct ? ", distinct keys" : "", c.slots,
              c.hive.spare);
    must(hd_open(&c, &t));
    must(hd_table_info(t, &info));
    hive_view v = hive_view_for(&info);
    for (uint64_t i = 0; i < FILLED; i++) key[i] = i * 2654435761u % 4294967291u;
    for (uint64_t i = 0; i < FILLED; i += FILLED / 10) {
        hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN,
                       .n = FILLED / 10,
                       .key = key + i,
                       .value = value,
                       .outcome = outcome,
                       .distinct = distinct,
                       .kernel = kernel };
        must(hd_run(t, &b));
        for (uint64_t k = 0; k < b.n; k++)
            check(outcome[k] == HD_INSERTED, "item %llu: %s", (ull)k, hd_outcome_name((hd_outcome)outcome[k]));
    }
    hd_batch all = { .op = HD_OP_EXPORT, .n = info.places, .list_key = listed, .list_item = slot, .count = &count };
    must(hd_run(t, &all));
    check(count == FILLED, "%llu entries", (ull)count);
    for (uint64_t i = 0; i < count; i++) n += slot[i] / info.slots == hive_candidate(&v, hive_hash(&v, listed[i]), 0);
    hd_close(t);
    return (double)n / FILLED;
}

/* Kernels choose between a key's buckets as the reference does, but for those that fill while a batch looks at them. */
static void newcomers_go_where_they_do(void **state)
{
    static const struct {
        const char *kernel;
        uint32_t slots, spare;
        hd_layout layout;
    } rows[] = { { "batched", 8, 0, HD_LAYOUT_WORDS },  { "batched", 8, 1, HD_LAYOUT_WORDS },
                 { "batched", 16, 4, HD_LAYOUT_WORDS }, { "tile", 16, 4, HD_LAYOUT_WORDS },
                 { "tile", 8, 1, HD_LAYOUT_MASKS },     { "wabc", 32, 4, HD_LAYOUT_MASKS },
                 { "wabc", 32, 15, HD_LAYOUT_MASKS } };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int distinct = 0; distinct < 2; distinct++) {
            hd_config c = hd_config_of("hive");
            c.slots = rows[i].slots, c.hive.spare = rows[i].spare, c.layout = rows[i].layout;
            c.capacity = 1200;
            double want = in_first(c, NULL, distinct), got = in_first(c, rows[i].kernel, distinct);
            test_note("%s of %u slots, %u spare%s: %.3f of the keys in their first bucket, %.3f by the reference",
                      rows[i].kernel, c.slots, c.hive.spare, distinct ? ", distinct" : "", got, want);
            check(got > want - 0.015 && got < want + 0.015,
                  "%.3f of the keys are in their first bucket, and %.3f by the reference", got, want);
        }
}

/* The next key from *from on whose buckets are these. */
static uint64_t key_of(const hive_view *v, uint64_t *from, uint64_t first, uint64_t second)
{
    for (uint64_t k = *from;; k += 2) {
        uint64_t h = hive_hash(v, k);
        if (hive_candidate(v, h, 0) != first || hive_candidate(v, h, 1) != second) continue;
        *from = k + 2;
        return k;
    }
}

/* Two new keys find buckets 0 and 1 full. One entry of these can be displaced, to bucket 2. The later new key must not
 * displace an entry from bucket 2 to bucket 3: bucket 2 is open, so a search would stop there and miss the entry. */
static void nobody_goes_past_an_open_bucket(void **state)
{
    enum { SLOTS = 8, KEYS = 3 * SLOTS - 2 };
    hive_shape s = { 4, SLOTS, 4, 2, HD_LAYOUT_WORDS, 1, 0, NULL };
    (void)state;
    for (int distinct = 0; distinct < 2; distinct++) {
        hd_table *t = hive_table(&s, NULL), *gpu;
        hive_view *v = hive_view_in(t);
        uint64_t from = 0, key[KEYS + 2], dropped;
        uint32_t value[KEYS + 2] = { 0 };
        uint8_t outcome[KEYS + 2];
        for (uint64_t e = 0; e < KEYS; e++) {
            key[e] = e == 0          ? key_of(v, &from, 0, 2)
                     : e < SLOTS     ? key_of(v, &from, 1, 0)
                     : e < 2 * SLOTS ? key_of(v, &from, 0, 1)
                                     : key_of(v, &from, 2, 3);
            hive_write(v, e, hive_pack(v, key[e], 0));
        }
        key[KEYS] = key_of(v, &from, 0, 1);
        key[KEYS + 1] = key_of(v, &from, 0, 1);
        must(hd_check(t));
        const char *path = test_path("crowded");
        must(hd_save(t, path));
        hd_close(t);
        hd_config c = hive_config(&s);
        c.backend = "host";
        must(hd_open(&c, &gpu));
        must(hd_load(gpu, path, &dropped));
        test_case("two newcomers, %s", distinct ? "distinct" : "that might be one");
        hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN,
                       .n = 2,
                       .key = key + KEYS,
                       .value = value,
                       .outcome = outcome,
                       .distinct = distinct,
                       .kernel = "batched" };
        must(hd_run(gpu, &b));
        check(outcome[0] == HD_INSERTED && outcome[1] == HD_INSERTED, "%s, %s", hd_outcome_name((hd_outcome)outcome[0]),
              hd_outcome_name((hd_outcome)outcome[1]));
        must(hd_check(gpu));
        hd_batch all = { .op = HD_OP_CONTAINS, .n = KEYS + 2, .key = key, .outcome = outcome };
        must(hd_run(gpu, &all));
        for (uint64_t i = 0; i < KEYS + 2; i++)
            check(outcome[i] == HD_HIT, "key %llu: %s", (ull)i, hd_outcome_name((hd_outcome)outcome[i]));
        hd_close(gpu);
    }
}

/* ---- Mixed batches --------------------------------------------------------------------------- */

enum { N = 40 };

/* Large batches by few lanes, all of whose items end alike: a lane counts what becomes of thousands before the table's
 * counters have it. */
static void large_batches_are_counted(void **state)
{
    enum { LARGE = 20000 };
    static const char *const variants[] = { "batched", "tile" };
    static uint64_t key[LARGE];
    static uint32_t value[LARGE];
    static uint8_t outcome[LARGE];
    (void)state;
    for (uint64_t i = 0; i < LARGE; i++) key[i] = i;
    for (int k = 0; k < 4; k++) {
        hd_config c = hd_config_of("hive");
        hd_counters told;
        hd_table *t;
        uint64_t fates[HD_OUTCOME_COUNT] = { 0 };
        c.backend = "host", c.capacity = c.slots = 8;
        hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN,
                       .n = LARGE,
                       .key = key,
                       .value = value,
                       .outcome = outcome,
                       .distinct = k > 1,
                       .kernel = variants[k % 2] };
        test_case("%u keys for a bucket of hive by %s, %s", (unsigned)LARGE, b.kernel,
                  b.distinct ? "distinct" : "which might repeat");
        must(hd_open(&c, &t));
        must(hd_host_lanes(t, 1, 32));
        must(hd_run(t, &b));
        for (uint64_t i = 0; i < LARGE; i++) fates[outcome[i]]++;
        must(hd_counters_sync(t, &told));
        for (int o = 0; o < HD_OUTCOME_COUNT; o++)
            check(told.outcome[o] == fates[o], "%s: %llu counted of %llu", hd_outcome_name((hd_outcome)o),
                  (ull)told.outcome[o], (ull)fates[o]);
        check(fates[HD_PENDING] > LARGE - 100, "%llu pending", (ull)fates[HD_PENDING]);
        hd_close(t);
    }
}

static const struct CMUnitTest table[] = { unit(newcomers_go_where_they_do), unit(nobody_goes_past_an_open_bucket),
                                           unit(large_batches_are_counted) };

int main(void) { return test_run(table); }

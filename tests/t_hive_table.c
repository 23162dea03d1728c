/* SPDX-License-Identifier: Apache-2.0
 *
 * t_hive_table.c - Hive through heddle.h: snapshots of tables that have grown, snapshots of another shape, and files
 * with wrong headers; walks and exports that include the stash; the counters of mixed batches, and mixed batches that
 * are refused.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/backend_host.h"
#include "base/op.h"
#include "tests/hive_tables.h"
#include "tests/snapshots.h"

/* ---- Tables with something everywhere -------------------------------------------------------- */

/* Grown from its first buckets, so full that the stash has some; what is in it is in the map. */
static hd_table *grown(const hive_shape *s, uint64_t buckets, hive_map *map, const hd_seams *seams)
{
    hd_table *t = hive_table(s, seams);
    hive_view *v = hive_view_in(t);
    uint64_t r = s->seed + 77;
    hive_map_open(map, buckets * s->slots * 3 + 100);
    if (buckets > s->buckets) must(hd_grow(t, buckets));
    for (uint64_t n = 0; v->stashed < 3 && n < 100 * map->keys; n++) {
        hive_item it = { HD_OP_INSERT_OR_ASSIGN, HD_I32, HD_EITHER, test_below(&r, map->keys),
                         test_random(&r) & hive_field(v) };
        hive_seen seen;
        uint64_t value;
        hive_apply(v, &it, &seen);
        hive_map_apply(map, &it, s->value_bytes, seen.outcome, &value);
    }
    check(v->stashed >= 3, "%llu in the stash of %llu buckets", (ull)v->stashed, (ull)buckets);
    return t;
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

static void all_of_it_back(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < HIVE_SHAPES; i++) {
        hive_shape s = hive_shape_at(i, 3), other = hive_shape_at(i + 1 + i % 3, 2);
        hive_map map;
        hd_table *t = grown(&s, 20 + i, &map, NULL), *u, *w;
        hd_snapshot_info said;
        hd_info a, b;
        uint64_t dropped = 99;
        const char *path = test_path("hive");
        must(hd_save(t, path));
        must(hd_snapshot_inspect(path, &said));
        must(hd_table_info(t, &a));
        check(!strcmp(said.design, "hive") && !strcmp(said.policy, "none") && said.buckets == 20 + i &&
                  said.base_buckets == 3 && said.size == map.n && said.slots == s.slots,
              "the header says %llu buckets, %llu at first", (ull)said.buckets, (ull)said.base_buckets);
        check(said.config.hive.hashes == a.hive.hashes && said.config.hive.spare == a.hive.spare &&
                  !strcmp(said.config.hive.hash, a.hive.hash) && !said.config.hkv.dual,
              "the configuration");
        hd_config c = hd_config_default();
        c.layout = s.layout;
        must(hd_open_snapshot(path, &c, &u));
        must(hd_table_info(u, &b));
        check(a.buckets == b.buckets && a.base_buckets == b.base_buckets && a.stash_buckets == b.stash_buckets &&
                  a.places == b.places && a.keys == b.keys && a.hive.hashes == b.hive.hashes &&
                  a.hive.spare == b.hive.spare && !strcmp(a.hive.hash, b.hive.hash) && a.slots == b.slots &&
                  a.layout == b.layout && a.seed == b.seed && a.memory_bytes == b.memory_bytes,
              "the loaded table is another");
        hive_map_compare(&map, u);
        hive_image image;
        hive_image_take(&image, hive_view_in(t)); /* fresh slots may have become vacant, keys are where they were */
        for (uint64_t e = 0; e < image.places; e++)
            check(!hive_is_key(hive_view_in(t), image.word[e]) || hive_read(hive_view_in(u), e) == image.word[e],
                  "slot %llu", (ull)e);
        hive_image_give(&image);
        must(hd_grow(u, 50 + i)); /* and it goes on */
        hive_map_compare(&map, u);
        must(hd_shrink(u, 3));
        hive_map_compare(&map, u);
        hd_close(u);

        hd_table *same = hive_table(&s, NULL); /* as few buckets as it began with: it takes the file's */
        must(hd_load(same, path, &dropped));
        must(hd_table_info(same, &b));
        check(dropped == 0 && b.buckets == a.buckets && b.base_buckets == 3, "%llu dropped, %llu buckets", (ull)dropped,
              (ull)b.buckets);
        hive_map_compare(&map, same);
        hd_close(same);

        other.value_bytes = s.value_bytes; /* another shape makes room; a dictionary drops nothing */
        other.seed = s.seed + i % 2;
        w = hive_table(&other, NULL);
        dropped = 99;
        must(hd_load(w, path, &dropped));
        check(dropped == 0, "%llu dropped", (ull)dropped);
        hive_map_compare(&map, w);
        other.value_bytes = 6 - s.value_bytes;
        hd_table *no = hive_table(&other, NULL);
        must_fail(hd_load(no, path, NULL), HD_EINVAL, "value_bytes");
        hd_table *cache;
        c = hd_config_default();
        c.capacity = 64, c.slots = 8, c.value_bytes = s.value_bytes;
        must(hd_open(&c, &cache));
        must_fail(hd_load(cache, path, NULL), HD_EINVAL, "design");
        hd_close(cache);
        hd_close(no);
        hd_close(w);
        hive_map_close(&map);
        hd_close(t);
    }
}

/* Numbers that make no sense beside the others, under a sum that is right; and every other number of buckets. */
static void headers_that_lie(void **state)
{
    static const struct {
        const char *name;
        int at, bytes;
    } field[] = { { "base_buckets", 104, 8 }, { "stash_buckets", 112, 8 }, { "hashes", 120, 4 },
                  { "spare", 124, 4 },        { "hash", 128, 8 },          { "buckets", 48, 8 },
                  { "slots", 56, 4 },         { "value_bytes", 60, 4 },    { "seed", 64, 8 },
                  { "flags", 84, 4 },         { "size", 88, 8 },           { "zero", 160, 4 } };
    static const uint64_t numbers[] = { 0,          1,          2,          3,          4,          5,
                                        7,          8,          13,         16,         19,         20,
                                        21,         31,         32,         33,         64,         255,
                                        1 << 16,    0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32, (1ull << 32) + 3,
                                        1ull << 58, 1ull << 61, INT64_MAX,  1ull << 63, UINT64_MAX };
    (void)state;
    uint64_t tried = 0, refused = 0;
    for (uint64_t i = 0; i < HIVE_SHAPES; i += 5) {
        hive_shape s = hive_shape_at(i, 3);
        counting memory;
        hive_map map;
        hd_table *t = grown(&s, 20, &map, NULL), *victim, *none;
        size_t bytes;
        const char *path = test_path("lying");
        must(hd_save(t, path));
        uint8_t *good = test_read(path, &bytes), *p = (uint8_t *)test_alloc(bytes, 1);
        counting_init(&memory);
        victim = hive_table(&s, &memory.seams);
        hive_image before;
        hive_image_take(&before, hive_view_in(victim));
        for (size_t f = 0; f < sizeof field / sizeof *field; f++)
            for (size_t x = 0; x < sizeof numbers / sizeof *numbers; x++, tried++) {
                uint64_t live = memory.live_bytes, dropped;
                memcpy(p, good, bytes);
                for (int k = 0; k < field[f].bytes; k++) p[field[f].at + k] = (uint8_t)(numbers[x] >> 8 * k);
                if (memcmp(p, good, bytes) == 0) continue;
                snapshot_sum(p + 240, p, 240);
                test_write(path, p, bytes);
                test_case("hive snapshot, %s = %llu", field[f].name, (ull)numbers[x]);
                memory.peak_bytes = live;
                hd_status status = hd_load(victim, path, &dropped);
                /* its value_bytes may be those of another table; how it admits says nothing of a dictionary; where keys
                 * have two buckets they may have a third; any few slots may be spare, and what lies in the table is no
                 * worse for it */
                bool sane = (f == 9 && (uint32_t)numbers[x] == 2) || (f == 2 && (uint32_t)numbers[x] == 3 && !s.hash) ||
                            (f == 3 && (uint32_t)numbers[x] < s.slots / 2);
                bool moved = f == 8 ||
                             f == 2; /* a table of another seed, or of other hashes, does not read where entries were */
                check(status == HD_ECORRUPT || (f == 7 && status == HD_EINVAL) || ((sane || moved) && status == HD_OK),
                      "%s: %s", hd_status_name(status), hd_why());
                refused += status != HD_OK;
                if (status)
                    check(memory.live_bytes == live && memory.peak_bytes - live <= 128 * bytes + 4096 &&
                              hive_image_is(&before, hive_view_in(victim)),
                          "the table has noticed, or %llu bytes were taken", (ull)(memory.peak_bytes - live));
                if (!status) {
                    hive_map_compare(&map, victim);
                    hd_close(victim);
                    victim = hive_table(&s, &memory.seams);
                }
                none = NULL;
                status = hd_open_snapshot(path, NULL, &none);
                check(status == HD_ECORRUPT || (sane && status == HD_OK), "hd_open_snapshot: %s: %s",
                      hd_status_name(status), status ? hd_why() : "");
                hd_close(none);
            }
        hive_image_give(&before);
        hd_close(victim);
        check(memory.live_bytes == 0, "%llu bytes are still held", (ull)memory.live_bytes);
        free(good);
        free(p);
        hive_map_close(&map);
        hd_close(t);
    }
    test_tried("snapshots", refused, "headers of Hive's that make no sense, with sums that do, of %llu", (ull)tried);
}

/* A snapshot cut, or with a bit flipped, anywhere. */
static void damage(void **state)
{
    (void)state;
    hive_shape s = { 3, 8, 4, 3, HD_LAYOUT_MASKS, 9, HD_SPARE_USUAL, NULL };
    hive_map map;
    hd_table *t = grown(&s, 7, &map, NULL), *victim = hive_table(&s, NULL), *none = NULL;
    size_t bytes;
    const char *path = test_path("damaged");
    must(hd_save(t, path));
    uint8_t *good = test_read(path, &bytes);
    int fd = open(path, O_WRONLY);
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        uint8_t byte = (uint8_t)(good[bit / 8] ^ 1u << bit % 8);
        test_case("hive snapshot of %zu bytes, bit %zu flipped", bytes, bit);
        check(pwrite(fd, &byte, 1, (off_t)(bit / 8)) == 1, "cannot write %s", path);
        must_fail(hd_load(victim, path, NULL), HD_ECORRUPT, NULL);
        if (bit % 8 == 0) must_fail(hd_open_snapshot(path, NULL, &none), HD_ECORRUPT, NULL);
        if (bit % 8 == 7) check(pwrite(fd, &good[bit / 8], 1, (off_t)(bit / 8)) == 1, "cannot write %s", path);
    }
    close(fd);
    for (size_t n = bytes; n-- > 0;) {
        test_case("hive snapshot of %zu bytes cut to %zu", bytes, n);
        check(!truncate(path, (off_t)n), "cannot truncate %s", path);
        must_fail(hd_load(victim, path, NULL), HD_ECORRUPT, NULL);
    }
    test_tried("snapshots", 9 * bytes, "bits flipped and lengths cut to, of a Hive table's");
    test_write(path, good, bytes);
    must(hd_load(victim, path, NULL));
    hive_map_compare(&map, victim);
    free(good);
    hive_map_close(&map);
    hd_close(victim);
    hd_close(t);
}

/* ---- Walks ----------------------------------------------------------------------------------- */

static int add_one(void *context, uint64_t key, uint64_t score, void *value)
{
    uint64_t x = 0, bytes = *(const uint64_t *)context;
    (void)key, (void)score;
    memcpy(&x, value, bytes);
    x++;
    memcpy(value, &x, bytes);
    return 0;
}

static int stop_at_third(void *context, uint64_t key, uint64_t score, void *value)
{
    (void)key, (void)score, (void)value;
    return ++*(uint64_t *)context == 3;
}

static void walks(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < HIVE_SHAPES; i++) {
        hive_shape s = hive_shape_at(i, 2);
        hive_map map;
        hd_table *t = grown(&s, 9, &map, NULL);
        hive_view *v = hive_view_in(t);
        uint64_t bytes = s.value_bytes, places = hive_places(v), calls = 0, n = 0, count, step = 1 + i * 3, beyond = 0;
        must(hd_for_each(t, add_one, &bytes));
        for (uint64_t k = 0; k < map.keys; k++) map.value[k] = (map.value[k] + 1) & hive_field(v);
        hive_map_compare(&map, t);
        must(hd_for_each(t, stop_at_third, &calls));
        check(calls == 3, "%llu calls", (ull)calls);

        uint64_t *keys = (uint64_t *)test_alloc(places, 8), *slots = (uint64_t *)test_alloc(places, 8),
                 *scores = (uint64_t *)test_alloc(places, 8);
        uint8_t *values = (uint8_t *)test_alloc(places, 4);
        for (uint64_t start = 0; start < places; start += step) { /* in pieces, the stash among them */
            hd_batch b = { .op = HD_OP_EXPORT,
                           .start = start,
                           .n = places - start < step ? places - start : step,
                           .list_key = keys + n,
                           .list_item = slots + n,
                           .list_score = scores + n,
                           .list_value = values + n * bytes,
                           .count = &count };
            must(hd_run(t, &b));
            n += count;
        }
        check(n == map.n, "%llu entries exported of %llu", (ull)n, (ull)map.n);
        for (uint64_t k = 0; k < n; k++) {
            uint64_t value = 0;
            memcpy(&value, values + k * bytes, bytes);
            check(map.there[keys[k]] && map.value[keys[k]] == value && scores[k] == 0 &&
                      (k == 0 || slots[k] > slots[k - 1]),
                  "entry %llu", (ull)k);
            check(hive_find(v, keys[k]) == slots[k], "key %llu is not in slot %llu", (ull)keys[k], (ull)slots[k]);
            beyond += slots[k] >= hive_capacity(v);
        }
        check(beyond == v->stashed && beyond >= 3, "%llu of the stash's", (ull)beyond);
        hd_batch bad = { .op = HD_OP_EXPORT, .start = 1, .n = places, .count = &count };
        must_fail(hd_run(t, &bad), HD_EINVAL, "beyond");

        /* every fourth key goes, those of the stash with them */
        hd_batch erase = { .op = HD_OP_ERASE_IF, .pred = "key_masked", .pred_arg = { 3, 1 }, .count = &count };
        must(hd_run(t, &erase));
        for (uint64_t k = 1; k < map.keys; k += 4) map.n -= map.there[k], count -= map.there[k], map.there[k] = false;
        check(count == 0, "%lld erased too many", (long long)count);
        hive_map_compare(&map, t);
        must(hd_clear(t));
        memset(map.there, 0, map.keys * sizeof *map.there);
        map.n = 0;
        hive_map_compare(&map, t);
        check(v->stashed == 0 && hive_read(v, 0) == hive_fresh(v) && hive_read(v, places - 1) == hive_fresh(v),
              "a clear table is not fresh");
        free(keys);
        free(slots);
        free(scores);
        free(values);
        hive_map_close(&map);
        hd_close(t);
    }
}

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

static void mixed_are_counted(void **state)
{
    uint8_t each[N], outcome[N];
    uint64_t key[N], items[HD_OP_COUNT_] = { 0 }, fates[HD_OUTCOME_COUNT] = { 0 }, r = 8;
    uint32_t value[N];
    hd_counters c;
    hive_shape s = { 2, 8, 4, 2, HD_LAYOUT_WORDS, 1, HD_SPARE_USUAL, NULL };
    (void)state;
    hd_table *t = hive_table(&s, NULL);
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < N; i++) {
            do each[i] = (uint8_t)test_below(&r, HD_OP_COUNT_);
            while (!hd_op_does((hd_op)each[i], HD_MIXES));
            key[i] = test_below(&r, 60) ? test_below(&r, 50) : HD_KEY_EMPTY;
            value[i] = (uint32_t)test_random(&r);
            items[each[i]]++;
        }
        hd_batch b = {
            .op = HD_OP_COUNT_, .n = N, .each = each, .key = key, .value = value, .elem = HD_I32, .outcome = outcome
        };
        must(hd_run(t, &b)); /* op is not read */
        for (int i = 0; i < N; i++) fates[outcome[i]]++;
    }
    must(hd_counters_sync(t, &c));
    for (int o = 0; o < HD_OP_COUNT_; o++)
        check(c.op[o] == items[o] && (items[o] > 0) == hd_op_does((hd_op)o, HD_MIXES), "%s: %llu counted of %llu",
              hd_op_name((hd_op)o), (ull)c.op[o], (ull)items[o]);
    for (int o = 0; o < HD_OUTCOME_COUNT; o++)
        check(c.outcome[o] == fates[o], "%s: %llu counted of %llu", hd_outcome_name((hd_outcome)o), (ull)c.outcome[o],
              (ull)fates[o]);
    check(c.items == 200 * N && c.batches == 200 && fates[HD_PENDING] > 0 && fates[HD_RESERVED] > 0, "%llu items",
          (ull)c.items);
    hd_close(t);
}

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

static void mixed_are_refused(void **state)
{
    uint8_t each[N], outcome[N], flag[N];
    uint64_t key[N], untouched = 0;
    uint32_t value[N];
    hive_shape s = { 2, 8, 4, 2, HD_LAYOUT_MASKS, 1, HD_SPARE_USUAL, NULL };
    (void)state;
    hd_table *t = hive_table(&s, NULL), *cache;
    for (int i = 0; i < N; i++)
        key[i] = (uint64_t)i, value[i] = 1, each[i] = HD_OP_INSERT_OR_ASSIGN, flag[i] = HD_EITHER;
    memset(outcome, 0xee, sizeof outcome);
    hd_batch
        good = { .n = N, .each = each, .key = key, .value = value, .elem = HD_I32, .outcome = outcome, .flag = flag },
        b;
    for (unsigned o = 0; o < 256; o++) {
        if (hd_op_does((hd_op)o, HD_MIXES)) continue;
        each[N - 1] = (uint8_t)o;
        b = good;
        test_case("mixed with operation %u", o);
        must_fail(hd_run(t, &b), HD_EINVAL, "item 39");
        must_fail(hd_run_growing(t, &b, 0), HD_EINVAL, "item 39");
    }
    each[N - 1] = HD_OP_ACCUM_OR_ASSIGN;
    b = good, b.key = NULL;
    must_fail(hd_run(t, &b), HD_EINVAL, "key");
    b = good, b.value = NULL;
    must_fail(hd_run(t, &b), HD_EINVAL, "value");
    b = good, b.elem = HD_ELEM_COUNT;
    must_fail(hd_run(t, &b), HD_EINVAL, "elem");
    b = good, b.elem = HD_I64;
    must_fail(hd_run(t, &b), HD_EINVAL, "elem");
    b = good, flag[N - 1] = 3;
    must_fail(hd_run(t, &b), HD_EINVAL, "flag");
    b = good, flag[N - 1] = HD_ADD, b.kernel = "tlpv1";
    must_fail(hd_run(t, &b), HD_EINVAL, "kernel");
    for (int i = 0; i < N; i++) untouched += outcome[i] == 0xee;
    hd_counters c;
    must(hd_counters_sync(t, &c));
    check(untouched == N && c.items == 0 && c.batches == 0, "a refused batch was told of");
    hd_config cc = hd_config_default();
    cc.capacity = 64, cc.slots = 8, cc.value_bytes = 4;
    must(hd_open(&cc, &cache));
    b = good;
    must_fail(hd_run(cache, &b), HD_EINVAL, "one operation at a time");
    hd_close(cache);
    static const hd_op unfit[] = {
        HD_OP_TOUCH,     HD_OP_ASSIGN_SCORES, HD_OP_INSERT_AND_EVICT, HD_OP_FIND_OR_INSERT_PTR,
        HD_OP_LOCK_KEYS, HD_OP_UNLOCK_KEYS,   HD_OP_PROMOTE
    };
    static void *ptr[N];
    for (size_t k = 0; k < sizeof unfit / sizeof *unfit; k++) {
        uint64_t count;
        hd_batch plain = { .op = unfit[k],
                           .n = unfit[k] == HD_OP_PROMOTE ? 8 : N,
                           .key = key,
                           .value = value,
                           .ptr = ptr,
                           .holder = 1,
                           .count = &count };
        test_case("%s", hd_op_name(unfit[k]));
        must_fail(hd_run(t, &plain), HD_EINVAL, "hive");
    }
    must(hd_check(t));
    hd_close(t);
}

/* ---- Configurations -------------------------------------------------------------------------- */

static bool same_config(const hd_config *a, const hd_config *b)
{
    return !strcmp(a->design, b->design) && !strcmp(a->policy, b->policy) && !strcmp(a->backend, b->backend) &&
           !strcmp(a->lock, b->lock) && a->capacity == b->capacity && a->slots == b->slots &&
           a->value_bytes == b->value_bytes && a->hive.hashes == b->hive.hashes && a->hive.spare == b->hive.spare &&
           !strcmp(a->hive.hash, b->hive.hash) && a->hkv.pins == b->hkv.pins && a->layout == b->layout;
}

/* Any bytes, with no NUL where there is no room for it. */
static void set_hash(hd_config *c, const char *text)
{
    size_t n = strlen(text) + 1;
    memcpy(c->hive.hash, text, n < sizeof c->hive.hash ? n : sizeof c->hive.hash);
}

static void configurations(void **state)
{
    (void)state;
    hd_config a = hd_config_default(), b = hd_config_of("hkv"), c = hd_config_of(NULL), h = hd_config_of("hive"),
              x = hd_config_of("beehive");
    hd_table *t = NULL;
    check(same_config(&a, &b) && same_config(&a, &c), "hkv is not the default");
    check(!strcmp(h.design, "hive") && !strcmp(h.policy, "none") && h.slots == 16 && h.value_bytes == 4 &&
              h.hive.hashes == 2 && h.hive.spare == HD_SPARE_USUAL && !strcmp(h.hive.hash, "mix64"),
          "what is usual for hive");
    check(!strcmp(x.design, "beehive") && x.slots == a.slots, "an unknown design");
    must_fail(hd_open(&x, &t), HD_EINVAL, "design");
#define WRONG(change, word)                          \
    do {                                             \
        hd_config w = h;                             \
        change;                                      \
        test_case("%s", #change);                    \
        must_fail(hd_open(&w, &t), HD_EINVAL, word); \
        check(!t, "a table came of it");             \
    } while (0)
    static const uint32_t no_slots[] = { 0, 1, 4, 7, 9, 24, 33, 64, 128, UINT32_MAX },
                          no_bytes[] = { 0, 1, 3, 8, 16, UINT32_MAX }, no_hashes[] = { 0, 1, 4, UINT32_MAX };
    for (size_t k = 0; k < sizeof no_slots / sizeof *no_slots; k++) WRONG(w.slots = no_slots[k], "slots");
    for (size_t k = 0; k < sizeof no_bytes / sizeof *no_bytes; k++) WRONG(w.value_bytes = no_bytes[k], "value_bytes");
    for (size_t k = 0; k < sizeof no_hashes / sizeof *no_hashes; k++) WRONG(w.hive.hashes = no_hashes[k], "hashes");
    WRONG(set_hash(&w, ""), "hash: there is no ''");
    WRONG(set_hash(&w, "bithash1,bithash3"), "nearest: bithash1");
    WRONG(set_hash(&w, "bithash1,"), "hash: there is no ''");
    WRONG(set_hash(&w, "bithash1"), "functions for 1 candidate buckets");
    WRONG(set_hash(&w, "bithash1,bithash2,city32"), "functions for 3 candidate buckets");
    WRONG(set_hash(&w, "bithash1,bithash2,bithash1,bithash2"), "longer than 31");
    WRONG((w.hive.hashes = 3, set_hash(&w, "bithash1,bithash2")), "functions for 2 candidate buckets");
    WRONG((w.hive.hashes = 3, set_hash(&w, "crc32,city32,crc32")), "'crc32' twice");
    WRONG(w.hive.spare = 16, "spare");
    WRONG((w.slots = 8, w.hive.spare = 4), "spare");
    WRONG(w.hive.spare = UINT32_MAX - 1, "spare");
    WRONG(w.capacity = 0, "capacity");
    WRONG(w.capacity = UINT64_MAX, "capacity");
    WRONG(w.capacity = (32ull << 31) + 1, "capacity");
    WRONG(w.hkv.dual = true, "dual");
    WRONG(w.hkv.device_value_bytes = 1, "device_value_bytes");
    WRONG(w.clock = HD_CLOCK_DEVICE, "clock");
    WRONG(w.policy = "lru", "policy");
    WRONG(w.policy = NULL, "policy");
    WRONG(w.layout = HD_LAYOUT_PLANES, "layout");
    WRONG(w.layout = HD_LAYOUT_PAIRS, "layout");
    WRONG(w.layout = (hd_layout)9, "layout");
#undef WRONG
    a.layout = HD_LAYOUT_MASKS;
    must_fail(hd_open(&a, &t), HD_EINVAL, "layout");
    a = hd_config_default();
    a.policy = "none";
    must_fail(hd_open(&a, &t), HD_EINVAL, "policy");
    a = hd_config_default();
    a.hive.spare = 1;
    must_fail(hd_open(&a, &t), HD_EINVAL, "spare");
    a = hd_config_default();
    set_hash(&a, "city64");
    must_fail(hd_open(&a, &t), HD_EINVAL, "hash");
    for (uint32_t slots = 8; slots <= 32; slots *= 2)
        for (uint32_t spare = 0; spare <= slots / 2; spare++) {
            hd_info info;
            h.slots = slots, h.capacity = 100, h.hive.spare = spare < slots / 2 ? spare : HD_SPARE_USUAL;
            must(hd_open(&h, &t));
            must(hd_table_info(t, &info));
            check(info.hive.spare == (spare < slots / 2 ? spare
                                      : slots == 16     ? 3
                                                        : slots / 8),
                  "%u slots, and %u are spare", slots, info.hive.spare);
            hd_close(t);
        }
}

/* By kernels: of the lists of find_missed there may be any, and erase_if need not count. */
static void lists_left_out(void **state)
{
    enum { EVERY = 8, THERE = 5 };
    (void)state;
    for (int k = 0; k < 4; k++) {
        const hive_shape s = hive_shape_at(0, 4);
        hd_config c = hive_config(&s);
        hd_table *t;
        uint64_t key[EVERY], list[EVERY] = { 0 }, count = 0, value[EVERY] = { 0 }, size;
        uint8_t outcome[EVERY];
        c.backend = "host";
        test_case("list %d", k);
        must(hd_open(&c, &t));
        for (uint64_t i = 0; i < EVERY; i++) key[i] = 20 + i;
        hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, THERE, key, value, outcome);
        must(hd_run(t, &b));
        b = test_batch(HD_OP_FIND_MISSED, EVERY, key, NULL, outcome);
        b.list_key = k == 1 ? list : NULL;
        b.list_item = k == 2 ? list : NULL;
        b.count = k == 3 ? &count : NULL;
        must(hd_run(t, &b));
        for (uint64_t i = 0; i < EVERY; i++) {
            check(outcome[i] == (i < THERE ? HD_HIT : HD_MISS), "key %llu", (ull)key[i]);
            if (i < THERE) continue;
            check(list[i - THERE] == (k == 1 ? key[i] : k == 2 ? i : 0), "%llu is listed", (ull)list[i - THERE]);
        }
        check(count == (k == 3 ? EVERY - THERE : 0), "%llu are counted", (ull)count);
        b = (hd_batch){ .op = HD_OP_ERASE_IF, .pred = "all", .count = k % 2 ? &count : NULL };
        count = 0;
        must(hd_run(t, &b));
        must(hd_size_sync(t, &size));
        check(size == 0 && count == (k % 2 ? THERE : 0), "%llu entries, %llu erased", (ull)size, (ull)count);
        hd_close(t);
    }
}

static const struct CMUnitTest table[] = { unit(lists_left_out),
                                           unit(all_of_it_back),
                                           unit(headers_that_lie),
                                           unit(damage),
                                           unit(walks),
                                           unit(newcomers_go_where_they_do),
                                           unit(nobody_goes_past_an_open_bucket),
                                           unit(mixed_are_counted),
                                           unit(large_batches_are_counted),
                                           unit(mixed_are_refused),
                                           unit(configurations) };

int main(void) { return test_run(table); }

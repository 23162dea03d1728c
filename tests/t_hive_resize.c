/* SPDX-License-Identifier: Apache-2.0
 *
 * t_hive_resize.c - growth and shrinking of Hive: bucket by bucket through five levels and back, and with a stash that
 * fills and drains.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/hive_tables.h"

static uint64_t buckets_of(hd_table *t)
{
    hd_info info;
    must(hd_table_info(t, &info));
    check(info.capacity == info.buckets * info.slots && info.places == info.capacity + info.stash_buckets * info.slots,
          "places");
    check(hive_buckets(hive_view_in(t)) == info.buckets && info.stash_buckets > info.buckets / HIVE_STASH_SHARE,
          "buckets");
    return info.buckets;
}

/* ---- Every bucket ---------------------------------------------------------------------------- */

/* Inserts keys from *next on until so many slots are taken; all go in. */
static void fill_to(hd_table *t, hive_map *m, const hive_shape *s, uint64_t *next, uint64_t entries)
{
    for (; m->n < entries; ++*next) {
        uint64_t value = 0;
        uint32_t word = (uint32_t)(*next * 2654435761u);
        uint8_t outcome;
        hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 1, .key = next, .value = &word, .outcome = &outcome };
        must(hd_run(t, &b));
        hive_item it = { b.op, HD_I32, HD_EITHER, *next, word };
        check(hive_map_apply(m, &it, s->value_bytes, (hd_outcome)outcome, &value) == outcome && outcome == HD_INSERTED,
              "key %llu is %s", (ull)*next, hd_outcome_name((hd_outcome)outcome));
    }
}

static void erase_some(hd_table *t, hive_map *m, uint64_t n)
{
    for (uint64_t k = 0; n && k < m->keys; k++) {
        if (!m->there[k]) continue;
        hd_batch b = { .op = HD_OP_ERASE, .n = 1, .key = &k };
        must(hd_run(t, &b));
        m->there[k] = false;
        m->n--;
        n--;
    }
}

/* One bucket at a time to 32 times as many, four fifths full, and back, as full as it gets. */
static uint64_t there_and_back(const hive_shape *s)
{
    uint64_t most = s->buckets << 5, next = 0, steps = 0;
    hd_table *t = hive_table(s, NULL);
    hive_map map;
    hive_map_open(&map, most * s->slots + 8);
    for (uint64_t buckets = s->buckets; buckets < most; steps++) {
        fill_to(t, &map, s, &next, buckets * s->slots * 4 / 5);
        must(hd_grow(t, ++buckets));
        check(buckets_of(t) == buckets, "%llu buckets instead of %llu", (ull)buckets_of(t), (ull)buckets);
        hive_map_compare(&map, t);
    }
    for (uint64_t buckets = most, refused = 0; buckets > s->buckets; steps++) {
        must(hd_shrink(t, buckets - 1));
        uint64_t now = buckets_of(t);
        check(now == buckets || now == buckets - 1, "%llu buckets, %llu wanted", (ull)now, (ull)(buckets - 1));
        hive_map_compare(&map, t);
        refused = now == buckets ? refused + 1 : 0;
        check(refused < 2 * s->slots, "%llu buckets, %llu entries, and it does not shrink", (ull)buckets, (ull)map.n);
        if (now == buckets) {
            check(map.n * 2 > buckets * s->slots, "no room for %llu entries in %llu buckets less one", (ull)map.n,
                  (ull)buckets);
            erase_some(t, &map, s->slots / 2);
        }
        buckets = now;
    }
    check(map.n * 5 > s->buckets * s->slots, "only %llu entries are left", (ull)map.n);
    hive_map_close(&map);
    hd_close(t);
    return steps;
}

static void every_bucket(void **state)
{
    static const uint64_t bases[] = { 1, 3, 8 };
    (void)state;
    uint64_t steps = 0;
    for (uint64_t i = 0; i < HIVE_SHAPES; i++)
        for (uint64_t k = 0; k < 3; k++) {
            hive_shape s = hive_shape_at(i, bases[k]);
            if (test_takes(i * 3 + k) && (test_scale() > 1 || k == i % 3 || k == 0)) steps += there_and_back(&s);
        }
    test_note("%llu buckets split and merged, all contents compared after each", (ull)steps);
}

/* ---- The stash ------------------------------------------------------------------------------- */

/* Keys that all have the same buckets: those fill up, then the stash; then they are pending; and growth lets them
 * out. */
static void stash_fills_and_drains(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < HIVE_SHAPES; i++) {
        hive_shape s = hive_shape_at(i, 80);
        hd_table *t = hive_table(&s, NULL);
        hive_view *v = hive_view_in(t);
        hive_map map;
        uint64_t keys = hive_keys(v), limit = hive_stash_limit(v), entered = 0, first = 0, shared = 2;
        if (keys > 1 << 24) keys = 1 << 24;
        hive_map_open(&map, keys);
        for (uint64_t k = 0; k < keys && v->stashed < limit; k++) {
            uint64_t h = hive_hash(v, k), b = hive_candidate(v, h, 0), c = hive_candidate(v, h, 1);
            /* of buckets 0 and 1 */
            bool fits = (b < shared) && (c < shared) && (v->hashes < 3 || hive_candidate(v, h, 2) < shared);
            hive_item it = { HD_OP_INSERT_OR_ASSIGN, HD_I32, HD_EITHER, k, k % 1000 };
            hive_seen seen;
            uint64_t value;
            if (!fits) continue;
            hive_apply(v, &it, &seen);
            check(hive_map_apply(&map, &it, s.value_bytes, seen.outcome, &value) == seen.outcome &&
                      seen.outcome == HD_INSERTED,
                  "key %llu is %s", (ull)k, hd_outcome_name(seen.outcome));
            if (entered++ == 0) first = k;
        }
        if (v->half == 16 && v->stashed < limit) { /* too few of such keys among 2^16 */
            check(entered < 400, "%llu keys, and the stash has %llu", (ull)entered, (ull)v->stashed);
            hive_map_compare(&map, t);
        } else {
            check(entered == 2ull * s.slots + limit, "%llu entered, and the stash takes %llu", (ull)entered,
                  (ull)limit);
            uint64_t k = first + 1, value = 0;
            while (k < keys && (map.there[k] || hive_candidate(v, hive_hash(v, k), 0) >= shared ||
                                hive_candidate(v, hive_hash(v, k), 1) >= shared ||
                                (v->hashes > 2 && hive_candidate(v, hive_hash(v, k), 2) >= shared)))
                k++;
            while (k < keys && map.there[k]) k++;
            hive_map_compare(&map, t);
            if (k < keys) {
                hive_item it = { HD_OP_INSERT_OR_ASSIGN, HD_I32, HD_EITHER, k, 5 };
                hive_seen seen;
                hive_apply(v, &it, &seen);
                check(seen.outcome == HD_PENDING, "one more is %s", hd_outcome_name(seen.outcome));
                it.op = HD_OP_ERASE; /* one leaves the stash: there is a place */
                it.key = hive_key_of(v, hive_read(v, hive_capacity(v)));
                for (uint64_t e = hive_capacity(v); !hive_is_key(v, hive_read(v, e));)
                    it.key = hive_key_of(v, hive_read(v, ++e));
                hive_apply(v, &it, &seen);
                check(hive_map_apply(&map, &it, s.value_bytes, seen.outcome, &value) == seen.outcome &&
                          v->stashed == limit - 1,
                      "%llu in the stash", (ull)v->stashed);
                it = (hive_item){ HD_OP_INSERT_OR_ASSIGN, HD_I32, HD_EITHER, k, 5 };
                hive_apply(v, &it, &seen);
                check(hive_map_apply(&map, &it, s.value_bytes, seen.outcome, &value) == HD_INSERTED &&
                          seen.outcome == HD_INSERTED,
                      "it is %s", hd_outcome_name(seen.outcome));
            }
        }
        uint64_t before = v->stashed;
        for (uint64_t n = 81; n <= 320; n += n < 100 ? 1 : 44) {
            must(hd_grow(t, n));
            hive_map_compare(&map, t);
        }
        check(v->stashed < before / 2 || before == 0, "%llu are still in the stash, of %llu", (ull)v->stashed,
              (ull)before);
        must(hd_shrink(t, 80));
        hive_map_compare(&map, t);
        hive_map_close(&map);
        hd_close(t);
    }
}

/* ---- As far by kernels ----------------------------------------------------------------------- */

/* Whether a table on that backend, grown from 4 buckets to 16, comes back to 4 that are three quarters full. */
static bool comes_back(const hive_shape *s, const char *backend)
{
    uint64_t key[4 * HIVE_SLOTS_MOST], n = 3ull * s->slots;
    uint32_t value[4 * HIVE_SLOTS_MOST] = { 0 };
    uint8_t outcome[4 * HIVE_SLOTS_MOST];
    hd_config c = hive_config(s);
    hd_info info;
    hd_table *t;
    c.backend = backend;
    must(hd_open(&c, &t));
    must(hd_grow(t, 16));
    for (uint64_t i = 0; i < n; i++) key[i] = i;
    hd_batch b = {
        .op = HD_OP_INSERT_OR_ASSIGN, .n = n, .key = key, .value = value, .outcome = outcome, .distinct = true
    };
    must(hd_run(t, &b));
    must(hd_shrink(t, 4));
    must(hd_check(t));
    b.op = HD_OP_CONTAINS, b.value = NULL;
    must(hd_run(t, &b));
    for (uint64_t i = 0; i < n; i++) check(outcome[i] == HD_HIT, "key %llu is lost by %s", (ull)i, backend);
    must(hd_table_info(t, &info));
    hd_close(t);
    return info.buckets == 4;
}

/* Pairs with more keys than a bucket holds are thinned out, and tried again, by the kernels as by the reference. */
static void as_far_by_kernels(void **state)
{
    uint64_t tables = 0, reference = 0, kernels = 0;
    (void)state;
    for (uint64_t i = 0; i < HIVE_SHAPES; i++)
        for (uint64_t k = 0; k < test_times(4); k++, tables++) {
            hive_shape s = hive_shape_at(i, 4);
            s.seed += k;
            test_case("hive slots=%u value=%u hashes=%u seed=%llu, from 16 buckets to 4", s.slots, s.value_bytes,
                      s.hashes, (ull)s.seed);
            reference += comes_back(&s, "ref");
            kernels += comes_back(&s, "host");
        }
    check(10 * reference > 9 * tables && 10 * kernels > 9 * tables,
          "of %llu tables %llu shrink by the reference, %llu by kernels", (ull)tables, (ull)reference, (ull)kernels);
    test_note("of %llu tables %llu shrink by the reference, %llu by kernels", (ull)tables, (ull)reference,
              (ull)kernels);
}

static const struct CMUnitTest resize[] = { unit(every_bucket), unit(stash_fills_and_drains), unit(as_far_by_kernels) };

int main(void) { return test_run(resize); }

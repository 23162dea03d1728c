/* SPDX-License-Identifier: Apache-2.0
 *
 * t_hive_resize.c - growth and shrinking of Hive: bucket by bucket through five levels and back, between mixed batches,
 * with a stash that fills and drains; and by hd_run_growing, which counts every item once. If an allocation fails, the
 * table does not change.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/hive_tables.h"

/* ---- Mixed batches against the map ----------------------------------------------------------- */

enum { BATCH_MOST = 512 };

typedef struct arrays {
    uint8_t each[BATCH_MOST], flag[BATCH_MOST], outcome[BATCH_MOST];
    uint64_t key[BATCH_MOST];
    uint8_t value[4 * BATCH_MOST], out[4 * BATCH_MOST], out_before[4 * BATCH_MOST];
} arrays;

static uint64_t number_at(const uint8_t *p, uint64_t i, uint32_t bytes)
{
    uint64_t x = 0;
    memcpy(&x, p + i * bytes, bytes);
    return x;
}

static hd_batch mixed(arrays *a, const hive_shape *s, uint64_t n, uint64_t keys, uint64_t inserts_of_8, uint64_t *r)
{
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND,     HD_OP_ERASE,  HD_OP_ACCUM_OR_ASSIGN,
                                 HD_OP_FIND_OR_INSERT,   HD_OP_CONTAINS, HD_OP_ASSIGN, HD_OP_ASSIGN_VALUES };
    for (uint64_t i = 0; i < n; i++) {
        hd_op op = test_below(r, 8) < inserts_of_8 ? HD_OP_INSERT_OR_ASSIGN : ops[test_below(r, 8)];
        /* no whole number is of 2 bytes */
        if (s->value_bytes == 2 && op == HD_OP_ACCUM_OR_ASSIGN) op = HD_OP_FIND_OR_INSERT;
        a->each[i] = (uint8_t)op;
        a->flag[i] = (uint8_t)test_below(r, 3);
        a->key[i] = i && test_below(r, 4) == 0 ? a->key[test_below(r, i)] : test_below(r, keys);
    }
    for (uint64_t i = 0; i < n * s->value_bytes; i++)
        a->value[i] = (uint8_t)test_random(r), a->out[i] = a->out_before[i] = (uint8_t)test_random(r);
    memset(a->outcome, 0xee, sizeof a->outcome);
    hd_batch b = test_batch((hd_op)0, n, a->key, a->value, a->outcome);
    b.each = a->each, b.flag = a->flag, b.elem = HD_I32, b.value_out = a->out;
    return b;
}

/* Item by item. `order`: the items as they took effect; NULL: item 0 first. Returns how many are pending. */
static uint64_t follow(hive_map *m, const arrays *a, const hive_shape *s, const uint64_t *order, uint64_t n)
{
    uint64_t pending = 0;
    for (uint64_t p = 0; p < n; p++) {
        uint64_t i = order ? order[p] : p, value = 0;
        hive_item it = { (hd_op)a->each[i], HD_I32, a->flag[i], a->key[i], number_at(a->value, i, s->value_bytes) };
        hd_outcome want = hive_map_apply(m, &it, s->value_bytes, (hd_outcome)a->outcome[i], &value);
        check(a->outcome[i] == want, "item %llu, %s of key %llu: %s instead of %s", (ull)i, hd_op_name(it.op),
              (ull)it.key, hd_outcome_name((hd_outcome)a->outcome[i]), hd_outcome_name(want));
        bool delivers = want == HD_HIT && (it.op == HD_OP_FIND || it.op == HD_OP_FIND_OR_INSERT);
        uint64_t expected = delivers ? value : number_at(a->out_before, i, s->value_bytes),
                 got = number_at(a->out, i, s->value_bytes);
        check(got == expected, "item %llu, %s, %s: value_out is %llx instead of %llx", (ull)i, hd_op_name(it.op),
              hd_outcome_name(want), (ull)got, (ull)expected);
        pending += want == HD_PENDING;
    }
    return pending;
}

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

/* Not by one bucket, but by any number, between mixed batches. */
static void between_batches(void **state)
{
    static arrays a;
    (void)state;
    uint64_t items = 0, pending = 0;
    for (uint64_t i = 0; i < HIVE_SHAPES; i++) {
        hive_shape s = hive_shape_at(i, 1 + i % 5);
        uint64_t r = i + 100, least = s.buckets, keys = least * s.slots * 12;
        hd_table *t = hive_table(&s, NULL);
        hive_map map;
        hive_map_open(&map, keys);
        for (uint64_t k = 0; k < test_quarter(60); k++) {
            uint64_t n = 1 + test_below(&r, BATCH_MOST), now = buckets_of(t), to = least + test_below(&r, 15 * least);
            hd_batch b = mixed(&a, &s, n, keys, k / 20 % 2 ? 0 : 5, &r);
            must(hd_run(t, &b));
            check(strcmp(b.ran, "hive.mixed.ref") == 0, "it was run by %s", b.ran);
            pending += follow(&map, &a, &s, NULL, n);
            if (to >= now)
                must(hd_grow(t, to));
            else
                must(hd_shrink(t, to));
            check(to >= now ? buckets_of(t) == to : buckets_of(t) >= to, "%llu buckets instead of %llu",
                  (ull)buckets_of(t), (ull)to);
            hive_map_compare(&map, t);
            items += n;
        }
        hive_map_close(&map);
        hd_close(t);
    }
    check(test_scale() > 1 || pending > 0, "nothing was ever pending");
    test_tried("differential", items, "items of mixed batches between growth and shrinking, %llu pending",
               (ull)pending);
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

/* ---- hd_run_growing -------------------------------------------------------------------------- */

static uint64_t pending_so_far(hd_table *t)
{
    hd_counters n;
    must(hd_counters_sync(t, &n));
    return n.outcome[HD_PENDING];
}

/* Without a target, the items that are not pending at first take effect in their order, and then the others. With one,
 * the batch runs in parts, in the order of its items, and none of them fills the table. */
static void growing_mixed(void **state)
{
    static arrays a, first;
    (void)state;
    uint64_t items = 0, grew = 0;
    for (uint64_t i = 0; i < HIVE_SHAPES; i++)
        for (int with_target = 0; with_target < 2; with_target++) {
            hive_shape s = hive_shape_at(i, 1 + i % 3);
            uint64_t r = i * 7 + 3, keys = 4000;
            double target = with_target ? 0.5 : 0;
            hd_table *t = hive_table(&s, NULL);
            hive_map map;
            hive_map_open(&map, keys);
            for (uint64_t k = 0; k < test_times(16); k++) {
                uint64_t n = 1 + test_below(&r, BATCH_MOST), order[BATCH_MOST], at = 0, was = buckets_of(t);
                hd_batch b = mixed(&a, &s, n, keys, 3, &r);
                first = a;
                hd_batch c = b; /* the same without growing, on the same table: which items are PENDING at first */
                c.each = first.each, c.key = first.key, c.value = first.value, c.flag = first.flag,
                c.outcome = first.outcome, c.value_out = first.out;
                hive_image image;
                hive_view *v = hive_view_in(t);
                hive_image_take(&image, v);
                must(hd_run(t, &c));
                hive_image_back(&image, v);
                hive_image_give(&image);
                for (int again = 0; again < 2; again++)
                    for (uint64_t j = 0; j < n; j++)
                        if ((first.outcome[j] == HD_PENDING && !with_target) == again) order[at++] = j;
                uint64_t pending = pending_so_far(t);
                must(hd_run_growing(t, &b, target));
                pending = pending_so_far(t) - pending;
                check(!with_target || pending == 0, "%llu items met a full table", (ull)pending);
                check(follow(&map, &a, &s, order, n) == 0, "an item is still pending");
                hive_map_compare(&map, t);
                double load;
                must(hd_load_factor_sync(t, &load));
                check(!with_target || load <= target, "load factor %.3f", load);
                grew += buckets_of(t) > was;
                items += n;
            }
            hive_map_close(&map);
            hd_close(t);
        }
    check(grew > HIVE_SHAPES, "only %llu batches made a table grow", (ull)grew);
    test_tried("differential", items, "items of batches that grow the table when they must, each counted once");
}

static const struct CMUnitTest resize[] = { unit(every_bucket), unit(between_batches), unit(stash_fills_and_drains),
                                            unit(as_far_by_kernels), unit(growing_mixed) };

int main(void) { return test_run(resize); }

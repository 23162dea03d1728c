/* SPDX-License-Identifier: Apache-2.0
 *
 * t_ovs.c - the ovs table: where its slots are, ways and splits; random items beside a map, with growing and shrinking;
 * PENDING; vacant slots; near and far parts; other limits while a table is open; ranges of keys, their directory and
 * medians; the invariants; snapshots and views; and, on a fake device, that a table never takes more of its memory than
 * `near` allows.
 */
#include <stdlib.h>
#include <string.h>

#include "gpu/ovs/own.h"
#include "gpu/ovs/rows.h"
#include "lib/backend_cuda.h"
#include "lib/cuda_state.h"
#include "ref/ovs/ovs.h"
#include "ref/ovs/range.h"
#include "tests/device_tables.h"
#include "tests/hive_tables.h"

enum { KEYS = 3000 };

static hd_config config_of(uint64_t segments, uint32_t segment_bytes, uint64_t near)
{
    hd_config c = hd_config_of("ovs");
    c.ovs.segment_bytes = segment_bytes;
    c.ovs.near_bytes = near;
    c.capacity = segments * segment_bytes / 8;
    test_case("ovs segments=%llu segment=%u near=%llu", (ull)segments, segment_bytes, (ull)near);
    return c;
}

static hd_table *table_of(hd_config c)
{
    hd_table *t;
    must(hd_open(&c, &t));
    return t;
}

static ovs_view *view_of(hd_table *t) { return ovs_view_of(t->state); }

static hd_info info_of(hd_table *t)
{
    hd_info info;
    must(hd_table_info(t, &info));
    return info;
}

static hd_config pairs_config(uint64_t segments, uint32_t segment_bytes, uint64_t near)
{
    hd_config c = config_of(segments, segment_bytes, near);
    c.value_bytes = 8;
    c.capacity /= 2;
    return c;
}

/* Shape i: segments of 1, 2, 8 and 128 buckets; none, one, three or all of them near; by hashes, then by ranges; from
 * WORDS on, of pairs. */
enum { WORDS = 96, SHAPES = 112 };
static hd_config shape_at(uint64_t i)
{
    static const uint32_t segment[] = { 128, 256, 1024, 128 * 128 };
    bool pairs = i >= WORDS;
    uint32_t bytes = segment[i % 4];
    const uint64_t near[] = { 1, bytes, 3 * bytes + 5, 0 };
    if (pairs) return pairs_config(1 + i % 3, bytes, near[i / 4 % 4]);
    hd_config c = config_of(1 + i / 4 % 3, bytes, near[i / 12 % 4]);
    if (i % 3 == 1) c.ovs.guide = HD_GUIDE_DIGEST;
    if (i >= 48) c.ovs.partition = HD_PARTITION_RANGE;
    return c;
}

/* ---- Layout ---------------------------------------------------------------------------------- */

/* The part that slot e is in, and where it is there. */
static uint64_t *part_with(const ovs_view *v, const uint64_t *slot, bool *near)
{
    for (uint32_t part = 0; part < 2 * OVS_EXTENTS; part++) {
        const ovs_extent *x = &v->extent[part / 2];
        uint64_t *p = part % 2 ? x->far : x->near, few = ovs_extent_near(v, part / 2),
                 segments = part % 2 ? ovs_extent_segments(v, part / 2) - few : few;
        *near = part % 2 == 0;
        if (p && slot >= p && slot < p + segments * ovs_segment_words(v)) return p;
    }
    return NULL;
}

static int by_address(const void *a, const void *b)
{
    uint64_t *const *x = (uint64_t *const *)a, *const *y = (uint64_t *const *)b;
    return (*x > *y) - (*x < *y);
}

static void every_slot_has_one_home(void **state)
{
    uint64_t slots = 0;
    (void)state;
    for (uint64_t i = 0; i < SHAPES; i++) {
        hd_table *t = table_of(shape_at(i));
        hd_view view;
        for (int grown = 0; grown < 4; grown++) {
            const ovs_view *v = view_of(t);
            hd_info info = info_of(t);
            uint64_t **at = (uint64_t **)test_alloc(info.places, sizeof *at), near_slots = 0;
            must(hd_view_open(t, NULL, &view));
            for (uint64_t e = 0; e < info.places; e++) {
                bool near, told = e / ovs_segment_slots(v) < v->near_most;
                at[e] = ovs_at(v, e);
                check(part_with(v, at[e], &near) && near == told, "slot %llu is %s (OVS-5)", (ull)e,
                      told ? "not near" : "not far");
                check(hd_view_word(&view, e) == (const uint8_t *)at[e], "the view has slot %llu elsewhere", (ull)e);
                check((uintptr_t)at[e - e % 2] % 16 == 0, "slot %llu is not aligned", (ull)e);
                near_slots += near;
            }
            must(hd_view_close(t, NULL));
            qsort(at, info.places, sizeof *at, by_address);
            for (uint64_t e = 1; e < info.places; e++) check(at[e] != at[e - 1], "two slots have one home");
            uint64_t each = 4 + info.value_bytes + 4 * v->pairs;
            check(info.values_device_bytes >= near_slots * each &&
                      info.values_host_bytes >= (info.places - near_slots) * each,
                  "%llu near and %llu far bytes for %llu near slots of %llu", (ull)info.values_device_bytes,
                  (ull)info.values_host_bytes, (ull)near_slots, (ull)info.places);
            check(info.buckets % ovs_lines(v) == 0, "%llu buckets are no whole segments", (ull)info.buckets);
            slots += info.places;
            free(at);
            must(hd_grow(t, info.buckets + info.buckets / 2 + 1));
        }
        hd_close(t);
    }
    test_tried("differential", slots, "slots of segments, near and far");
}

/* Where a hash belongs, by the sentence of layout.h. */
static void hashes_name_segments(void **state)
{
    uint64_t r = 7;
    (void)state;
    for (int n = 0; n < 20000; n++) {
        ovs_view v;
        memset(&v, 0, sizeof v);
        v.base = 1 + test_below(&r, n % 2 ? 5 : 100000);
        v.level = (uint32_t)test_below(&r, 9);
        v.split = test_below(&r, v.base << v.level);
        v.line_bits = (uint32_t)test_below(&r, 12);
        uint64_t h = test_random(&r), high = h >> 32, a = high * v.base >> 32,
                 segment = a + v.base * (high % (1ull << v.level));
        if (segment < v.split) segment = a + v.base * (high % (1ull << (v.level + 1)));
        check(ovs_segment_of(&v, h) == segment && segment < ovs_segments(&v), "segment %llu, not %llu",
              (ull)ovs_segment_of(&v, h), (ull)segment);
        ovs_view more = ovs_one_more(v);
        uint64_t then = ovs_segment_of(&more, h);
        check(then == segment || (segment == v.split && then == ovs_segments(&v)),
              "a split of segment %llu sends a key of %llu to %llu", (ull)v.split, (ull)segment, (ull)then);
        for (uint64_t step = 0; step < ovs_way(&v); step++) {
            uint64_t b = ovs_way_bucket(&v, h, step);
            check(b >> v.line_bits == segment && ovs_step_of(&v, h, b & (ovs_lines(&v) - 1)) == step,
                  "step %llu of the way is bucket %llu", (ull)step, (ull)b);
        }
        check(ovs_way(&v) == (ovs_lines(&v) < 64 ? ovs_lines(&v) : 64), "a way of %u buckets", ovs_way(&v));
    }
}

static void shapes_are_refused(void **state)
{
    static const test_refusal wrong[] = {
        { "slots=32", "slots" },
        { "value_bytes=2", "value_bytes" },
        { "value_bytes=16", "value_bytes" },
        { "segment=100", "segment" },
        { "segment=192", "power" },
        { "segment=2147483648", "segment" },
        { "layout=masks", "layout" },
        { "clock=device", "clock" },
        { "policy=lru", "policy" },
        { "hashes=2", "hive" },
        { "partition=median", "partition" },
        { "capacity=18446744073709551615", "capacity" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        hd_config c = hd_config_of("ovs");
        hd_table *t = NULL;
        char name[32], *value;
        snprintf(name, sizeof name, "%s", wrong[i].text);
        value = strchr(name, '=');
        *value++ = 0;
        test_case("%s", wrong[i].text);
        if (strcmp(name, "hashes") == 0) {
            c.hive.hashes = 3;
            must_fail(hd_open(&c, &t), HD_EINVAL, wrong[i].word);
            continue;
        }
        hd_status status = hd_config_set(&c, name, value);
        if (!status) must_fail(hd_open(&c, &t), HD_EINVAL, wrong[i].word);
        check(!t, "it was opened");
    }
    hd_table *t = NULL;
    hd_config c = pairs_config(1, 256, 0);
    c.ovs.guide = HD_GUIDE_DIGEST;
    must_fail(hd_open(&c, &t), HD_EINVAL, "guide");
    c = pairs_config(1, 256, 0);
    c.slots = 32;
    must_fail(hd_open(&c, &t), HD_EINVAL, "slots: ovs has buckets of 8");
    t = table_of(config_of(1, 256, 0));
    for (int op = 0; op < HD_OP_COUNT_; op++) {
        hd_kernel k;
        hd_batch b = test_batch((hd_op)op, 0, NULL, NULL, NULL);
        check(hd_kernel_named("ovs", "ref", 0, &k), "no kernel");
        const char *why = hd_kernel_unfit(&k, &t->info, &b), *hive = hive_unfit((hd_op)op);
        check(!why == !hive, "%s: ovs says %s, hive %s", hd_op_name((hd_op)op), why ? why : "yes", hive ? hive : "yes");
    }
    hd_close(t);
}

/* What pairs of words do not offer: batches that are mixed, and kernels with keys beside `wide` and `flip`. The table
 * chooses `flip` for large batches, if segments may be far. */
static void pairs_have_two_kernels(void **state)
{
    static const char *const backends[] = { "ref", "host" };
    static const char *const others[] = { "quad", "probe4", "probe8", "probe16", "probe32" };
    static const hd_op ops[] = { HD_OP_FIND, HD_OP_FIND_MISSED, HD_OP_ASSIGN, HD_OP_ACCUM_OR_ASSIGN, HD_OP_ERASE };
    const uint64_t key = 5, value = 1ull << 40;
    const uint8_t each = HD_OP_INSERT_OR_ASSIGN;
    (void)state;
    for (int k = 0; k < 2; k++) {
        hd_config c = pairs_config(2, 1024, 1024);
        c.backend = backends[k];
        hd_table *t = table_of(c);
        hd_info info = info_of(t);
        check(info.slots == 8 && info.value_bytes == 8 && info.keys == UINT64_MAX - 2 && info.places == 2 * 64,
              "%u slots, keys below %llu", info.slots, (ull)info.keys);
        uint8_t outcome;
        hd_batch b = test_batch(HD_OP_FIND, 1, &key, &value, &outcome);
        b.each = &each;
        must_fail(hd_run(t, &b), HD_EINVAL, "one operation at a time");
        for (size_t i = 0; k && i < sizeof others / sizeof *others; i++) {
            b = test_batch(HD_OP_INSERT_OR_ASSIGN, 1, &key, &value, &outcome);
            b.kernel = others[i];
            must_fail(hd_run(t, &b), HD_EINVAL, "only wide, sorted and flip");
        }
        for (size_t i = 0; k && i < sizeof ops / sizeof *ops; i++) {
            uint64_t count = 0;
            char ran[64];
            b = test_batch(ops[i], 1, &key, ops[i] == HD_OP_ASSIGN || ops[i] == HD_OP_ACCUM_OR_ASSIGN ? &value : NULL,
                           &outcome);
            b.elem = HD_U64;
            if (ops[i] == HD_OP_FIND_MISSED) b.count = &count;
            must(hd_run(t, &b));
            snprintf(ran, sizeof ran, "ovs.%s.wide", hd_op_name(ops[i]));
            check(strcmp(b.ran, ran) == 0, "%s, not %s", b.ran, ran);
        }
        hd_close(t);
    }
    for (int amount = HD_MANY; amount >= 0; amount--)
        for (uint64_t near = 0; near < 2; near++) {
            hd_info info = { .value_bytes = 8, .ovs.near_bytes = near };
            const char *name = ovs_select(HD_OP_FIND, &info, 0.5, (hd_amount)amount, 0);
            check(strcmp(name, near && amount == HD_MANY ? "sorted" : "wide") == 0, "near=%llu: %s", (ull)near, name);
        }
    hd_config c = config_of(2, 1024, 1024);
    c.backend = "host";
    hd_table *t = table_of(c);
    hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, 1, &key, &value, NULL);
    b.kernel = "wide";
    must_fail(hd_run(t, &b), HD_EINVAL, "of values of 4 bytes");
    hd_close(t);
}

/* ---- Items ----------------------------------------------------------------------------------- */

typedef struct trial {
    hd_table *t;
    hive_map map;
    uint64_t r, pending, items;
    bool distinct; /* a kernel runs the items, in no order: no key comes twice in a batch */
} trial;

static void run_items(trial *x, uint64_t n)
{
    enum { BATCH = 64 };
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN,
                                 HD_OP_INSERT_OR_ASSIGN,
                                 HD_OP_FIND_OR_INSERT,
                                 HD_OP_ACCUM_OR_ASSIGN,
                                 HD_OP_FIND,
                                 HD_OP_ASSIGN,
                                 HD_OP_ERASE,
                                 HD_OP_ERASE,
                                 HD_OP_CONTAINS };
    hd_info info = info_of(x->t);
    uint32_t bytes = info.value_bytes;
    bool pairs = bytes == 8; /* whose batches are not mixed */
    hd_elem elem = pairs ? HD_U64 : HD_I32;
    uint64_t key[BATCH], number[BATCH];
    uint8_t value[BATCH * 8], out[BATCH * 8], each[BATCH], outcome[BATCH];
    for (uint64_t done = 0; done < n; done += BATCH) {
        hd_op all = ops[test_below(&x->r, sizeof ops / sizeof *ops)];
        uint64_t first = x->distinct ? test_below(&x->r, KEYS) : 0;
        for (int i = 0; i < BATCH; i++) {
            key[i] = test_below(&x->r, 40) ? test_below(&x->r, KEYS) : info.keys + test_below(&x->r, 3);
            if (x->distinct) key[i] = (first + (uint64_t)i * 7) % KEYS;
            number[i] = test_random(&x->r) >> (64 - 8 * bytes);
            memcpy(value + (uint32_t)i * bytes, &number[i], bytes);
            each[i] = (uint8_t)(pairs ? all : ops[test_below(&x->r, sizeof ops / sizeof *ops)]);
        }
        hd_batch b = test_batch(pairs ? all : HD_OP_FIND, BATCH, key, value, outcome);
        if (!pairs) b.each = each;
        if (!pairs || all == HD_OP_FIND || all == HD_OP_FIND_OR_INSERT) b.value_out = out;
        if (pairs && (all == HD_OP_FIND || all == HD_OP_CONTAINS || all == HD_OP_ERASE)) b.value = NULL;
        b.elem = elem;
        must(hd_run(x->t, &b));
        for (int i = 0; i < BATCH; i++) {
            word_item it = { (hd_op)each[i], elem, HD_EITHER, key[i], number[i] };
            uint64_t is = 0, got = 0;
            hd_outcome told = (hd_outcome)outcome[i], right = hive_map_apply(&x->map, &it, bytes, told, &is);
            check(told == right, "%s of %llu: %s, not %s", hd_op_name(it.op), (ull)key[i], hd_outcome_name(told),
                  hd_outcome_name(right));
            bool shown = told == HD_HIT && (it.op == HD_OP_FIND || it.op == HD_OP_FIND_OR_INSERT);
            memcpy(&got, out + (uint32_t)i * bytes, bytes);
            check(!shown || got == is, "key %llu: value %llu, not %llu", (ull)key[i], (ull)got, (ull)is);
            x->pending += told == HD_PENDING;
        }
        x->items += BATCH;
    }
}

static void items_are_a_maps(void **state)
{
    uint64_t items = 0, pending = 0, merged = 0;
    (void)state;
    for (uint64_t i = 0; i < SHAPES; i++) {
        if (!test_takes(i)) continue;
        trial x = { .t = table_of(shape_at(i)), .r = i };
        hive_map_open(&x.map, KEYS);
        for (int round = 0; round < 12; round++) {
            hd_info before = info_of(x.t);
            run_items(&x, 512);
            if (round % 3 == 2)
                must(hd_shrink(x.t, before.base_buckets));
            else
                must(hd_grow(x.t, before.buckets + 1 + test_below(&x.r, before.buckets)));
            merged += round % 3 == 2 ? before.buckets - info_of(x.t).buckets : 0;
            hive_map_compare(&x.map, x.t);
        }
        must(hd_clear(x.t));
        x.map.n = 0;
        memset(x.map.there, 0, KEYS * sizeof *x.map.there);
        hive_map_compare(&x.map, x.t);
        items += x.items;
        pending += x.pending;
        hive_map_close(&x.map);
        hd_close(x.t);
    }
    check(merged && pending, "%llu buckets merged, %llu items pending", (ull)merged, (ull)pending);
    test_tried("differential", items, "items of segments beside a map");
}

static hd_outcome insert(hd_table *t, uint64_t key, uint32_t value)
{
    uint8_t outcome;
    uint64_t wide = value; /* of 4 bytes the low half, which comes first */
    hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, 1, &key, &wide, &outcome);
    must(hd_run(t, &b));
    return (hd_outcome)outcome;
}

static hd_outcome erase(hd_table *t, uint64_t key)
{
    uint8_t outcome;
    hd_batch b = test_batch(HD_OP_ERASE, 1, &key, NULL, &outcome);
    must(hd_run(t, &b));
    return (hd_outcome)outcome;
}

/* Finds of keys that are values of the table: those which are no keys there are absent. */
static void values_are_no_keys(hd_table *t, const char *kernel, const uint64_t *key, const uint64_t *value, int n)
{
    uint8_t outcome[16];
    hd_batch b = test_batch(HD_OP_FIND, (uint64_t)n, value, NULL, outcome);
    b.kernel = kernel;
    must(hd_run(t, &b));
    for (int i = 0; i < n; i++) {
        int j = 0;
        while (j < n && key[j] != value[i]) j++;
        hd_outcome right = value[i] >= HD_KEY_RESERVED ? HD_RESERVED : j < n ? HD_HIT : HD_MISS;
        check(outcome[i] == right, "key %llx: %s", (ull)value[i], hd_outcome_name((hd_outcome)outcome[i]));
    }
}

/* Every key below the limit, and every value; in place, in views, and after the table has grown and shrunk. */
static void pairs_hold_any_key(void **state)
{
    enum { N = 9 };
    static const char *const backends[] = { "ref", "host" }, *const kernels[] = { NULL, "wide", "sorted", "flip" };
    const uint64_t key[N] = {
        0, 1, UINT32_MAX - 2, UINT32_MAX, 1ull << 63, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 2, UINT64_MAX - 3
    };
    (void)state;
    for (int k = 0; k < 2; k++) {
        hd_config c = pairs_config(1, 256, 1);
        uint64_t value[N], out[N];
        uint8_t outcome[N];
        c.backend = backends[k];
        hd_table *t = table_of(c);
        for (int i = 0; i < N; i++) value[i] = i % 3 ? ~key[i] : key[i];
        value[1] = UINT64_MAX; /* as a fresh key word; other values are as keys that are absent */
        hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, N, key, value, outcome);
        must(hd_run_growing(t, &b, 0));
        for (int i = 0; i < N; i++)
            check(outcome[i] == (key[i] < HD_KEY_RESERVED ? HD_INSERTED : HD_RESERVED), "key %llx: %s", (ull)key[i],
                  hd_outcome_name((hd_outcome)outcome[i]));
        for (int way = 0; way < 4; way++) {
            hd_view view;
            hd_view_entry e;
            uint64_t rows = 0;
            b = test_batch(HD_OP_FIND, N, key, NULL, outcome);
            b.value_out = out;
            b.kernel = k ? kernels[way] : NULL;
            must(hd_run(t, &b));
            for (int i = 0; i < N; i++)
                check(key[i] >= HD_KEY_RESERVED || (outcome[i] == HD_HIT && out[i] == value[i]),
                      "key %llx: %s, value %llx", (ull)key[i], hd_outcome_name((hd_outcome)outcome[i]), (ull)out[i]);
            values_are_no_keys(t, b.kernel, key, value, N);
            must(hd_view_open(t, NULL, &view));
            for (uint64_t s = 0; s < view.places; s++) {
                int i = 0;
                if (!hd_view_row(&view, s, &e)) continue;
                while (i < N && key[i] != e.key) i++;
                check(i < N && *(const uint64_t *)e.value == value[i] && e.score == 0, "the view has key %llx",
                      (ull)e.key);
                rows++;
            }
            must(hd_view_close(t, NULL));
            check(rows == 6, "the view has %llu entries", (ull)rows);
            must(hd_check(t));
            must(way == 0 ? hd_grow(t, 4 * info_of(t).buckets) : hd_shrink(t, info_of(t).base_buckets));
        }
        hd_close(t);
    }
}

/* PENDING: no slot of the way is free. Growth ends it, and hd_run_growing needs no word of it. */
static void full_ways_are_pending(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SHAPES; i++) {
        hd_table *t = table_of(shape_at(i));
        const ovs_view *v = view_of(t);
        uint64_t key = 0;
        hd_outcome o;
        while ((o = insert(t, key, 1)) == HD_INSERTED) key++;
        check(o == HD_PENDING, "%s", hd_outcome_name(o));
        for (uint32_t step = 0; step < ovs_way(v); step++)
            check(ovs_free_slots(v, ovs_way_bucket(v, ovs_hash(v, key), step)) == 0, "a slot is free at step %u", step);
        if (ovs_lines(v) >= 64 && !v->ranges) /* keys 0, 1, ... are in one range, of two or three */
            check((double)key / (double)info_of(t).places > 0.9, "pending after %llu of %llu", (ull)key,
                  (ull)info_of(t).places);
        check(insert(t, key - 1, 2) == HD_UPDATED, "a key that is there needs no room");
        uint8_t outcome;
        uint64_t value = 3;
        hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, 1, &key, &value, &outcome);
        must(hd_run_growing(t, &b, 0));
        check(outcome == HD_INSERTED, "%s after growth", hd_outcome_name((hd_outcome)outcome));
        must(hd_check(t));
        hd_close(t);
    }
}

/* An erased slot ends no search, and the next key whose way it is on takes it. */
static void vacant_slots_are_used_again(void **state)
{
    (void)state;
    hd_table *t = table_of(config_of(1, 512, 0)); /* four buckets */
    ovs_view *v = view_of(t);
    uint64_t n = 0, own[40], others = 0;
    for (uint64_t key = 0; n < 40; key++)
        if (ovs_start(v, ovs_hash(v, key)) == 1) own[n++] = key;
    for (n = 0; n < 20; n++) check(insert(t, own[n], (uint32_t)n) == HD_INSERTED, "key %llu", (ull)n);
    uint64_t first = ovs_find(v, own[3]), last = ovs_find(v, own[19]);
    check(first / OVS_SLOTS == 1 && last / OVS_SLOTS == 2, "slots %llu and %llu", (ull)first, (ull)last);
    check(erase(t, own[3]) == HD_ERASED && *ovs_at(v, first) == ovs_vacant(), "it is not vacant");
    check(!ovs_is_open(v, 1) && ovs_find(v, own[19]) == last, "a search ends at a vacant slot");
    check(insert(t, own[19], 7) == HD_UPDATED, "it was inserted twice");
    check(insert(t, own[20], 8) == HD_INSERTED && ovs_find(v, own[20]) == first, "the vacant slot was not taken");
    for (uint64_t e = 0; e < ovs_places(v); e++) others += *ovs_at(v, e) == ovs_vacant();
    check(others == 0, "%llu slots are vacant", (ull)others);
    must(hd_check(t));
    hd_close(t);
}

/* A split or a merge leaves fresh slots, and keys as early on their ways as there is room. */
static void resizing_refreshes(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SHAPES; i++) {
        hd_table *t = table_of(shape_at(i));
        uint64_t places = info_of(t).places, key = 0;
        while (key < places && insert(t, key, 1) == HD_INSERTED) key++;
        for (uint64_t k = 0; k < key; k += 2) check(erase(t, k) == HD_ERASED, "key %llu", (ull)k);
        must(hd_grow(t, 2 * info_of(t).buckets));
        for (int shrunk = 0; shrunk < 2; shrunk++) {
            const ovs_view *v = view_of(t);
            for (uint64_t e = 0; e < ovs_places(v); e++)
                check(*ovs_at(v, e) != ovs_vacant_in(v), "slot %llu is vacant after it was %s", (ull)e,
                      shrunk ? "merged" : "split");
            must(hd_check(t));
            must(hd_shrink(t, info_of(t).base_buckets));
        }
        check(info_of(t).buckets == info_of(t).base_buckets, "half full, and not merged");
        hd_close(t);
    }
}

/* Keys that fill more than nine tenths of one segment are not merged into it. */
static void crowded_pairs_stay(void **state)
{
    (void)state;
    for (uint64_t share = 80; share <= 100; share += 5) {
        hd_table *t = table_of(config_of(1, 1024, 0));
        uint64_t places = info_of(t).places, n = places * share / 100;
        must(hd_grow(t, 2 * info_of(t).buckets));
        for (uint64_t key = 0; key < n; key++) check(insert(t, key, 1) == HD_INSERTED, "key %llu", (ull)key);
        must(hd_shrink(t, info_of(t).base_buckets));
        check((info_of(t).buckets == info_of(t).base_buckets) == (share <= 90), "%llu%% of a segment: %llu buckets",
              (ull)share, (ull)info_of(t).buckets);
        must(hd_check(t));
        for (uint64_t key = 0; key < n; key++) check(insert(t, key, 2) == HD_UPDATED, "key %llu is lost", (ull)key);
        hd_close(t);
    }
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

static hd_config ranges_of(uint64_t segments, uint32_t segment_bytes)
{
    hd_config c = config_of(segments, segment_bytes, 0);
    c.ovs.partition = HD_PARTITION_RANGE;
    return c;
}

static uint64_t keys_in(const ovs_view *v, uint64_t g)
{
    uint64_t n = 0;
    for (uint64_t s = 0; s < ovs_segment_slots(v); s++) n += ovs_is_key(ovs_segment_at(v, g)[s]);
    return n;
}

/* A key's segment is that of the last row whose first key is not above it; what hashes say of other tables is not
 * asked. */
static void rows_name_segments(void **state)
{
    uint64_t r = 5;
    (void)state;
    for (uint64_t segments = 1; segments < 40; segments += 3) {
        hd_table *t = table_of(ranges_of(segments, 128));
        const ovs_view *v = view_of(t);
        for (int grown = 0; grown < 3; grown++) {
            for (int n = 0; n < 400; n++) {
                uint64_t row = test_below(&r, ovs_segments(v)), first = ovs_row_first(v->row[row]),
                         key = n % 3 ? (first - (uint64_t)(n % 2)) & 0xffffffff : test_random(&r) >> 32, last = 0;
                for (uint64_t k = 0; k < ovs_segments(v); k++)
                    if (ovs_row_first(v->row[k]) <= key) last = k;
                uint64_t h = ovs_hash(v, key);
                check(ovs_segment_of(v, h) == ovs_row_segment(v->row[last]), "key %llu is not in row %llu", (ull)key,
                      (ull)last);
                check((uint32_t)h == (uint32_t)hd_hash(key, v->seed), "the way is not the hash's");
            }
            for (int n = 0; n < 20; n++) insert(t, test_random(&r) >> 32 >> test_below(&r, 20), 1);
            must(hd_grow(t, info_of(t).buckets + 1 + test_below(&r, 20)));
        }
        hd_close(t);
    }
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = (const uint64_t *)a, *y = (const uint64_t *)b;
    return (*x > *y) - (*x < *y);
}

/* Of n keys of one segment the lower n / 2 stay, and the others go to the new one; fewer than two are not looked at. */
static void splits_are_at_medians(void **state)
{
    enum { MOST = 100 };
    uint64_t r = 11;
    (void)state;
    for (uint64_t n = 0; n < MOST; n++) {
        hd_table *t = table_of(ranges_of(1, 1024));
        const ovs_view *v = view_of(t);
        uint64_t key[MOST], shift = test_below(&r, 25);
        for (uint64_t i = 0; i < n; i++) {
            do key[i] = test_random(&r) >> 32 >> shift;
            while (insert(t, key[i], 1) != HD_INSERTED);
        }
        qsort(key, n, sizeof *key, by_number);
        must(hd_grow(t, info_of(t).buckets + 1));
        uint64_t bound = ovs_row_first(v->row[1]);
        check(ovs_segments(v) == 2 && ovs_row_segment(v->row[0]) == 0 && ovs_row_segment(v->row[1]) == 1, "the rows");
        check(n < 2 ? bound == 1ull << 31 : key[n / 2 - 1] < bound && bound <= key[n / 2],
              "%llu keys are split at %llu, not behind %llu", (ull)n, (ull)bound, (ull)(n > 1 ? key[n / 2 - 1] : 0));
        check(n < 2 || (keys_in(v, 0) == n / 2 && keys_in(v, 1) == n - n / 2), "%llu and %llu", (ull)keys_in(v, 0),
              (ull)keys_in(v, 1));
        must(hd_check(t));
        hd_close(t);
    }
}

/* Keys that lie together, or in clusters, or on both ends: growth ends, and no segment is much fuller than others. */
static void skewed_keys_fill_segments_alike(void **state)
{
    enum { BATCH = 500, N = 20000 };
    (void)state;
    for (uint64_t kind = 0; kind < 8; kind++) {
        hd_config c = ranges_of(1 + kind % 4 * 3, kind % 2 ? 128 : 1024);
        if (kind >= 4) c.backend = "host";
        hd_table *t = table_of(c);
        uint64_t n = kind >= 4 ? N / 10 : N, key[BATCH], most = 0, r = kind;
        uint32_t value[BATCH] = { 0 };
        uint8_t outcome[BATCH];
        for (uint64_t i = 0; i < n; i += BATCH) {
            for (uint64_t k = 0; k < BATCH; k++) {
                uint64_t x = i + k;
                key[k] = kind % 4 == 0 ? x : kind % 4 == 1 ? x / 50 << 16 | x % 50 : x % 2 ? 0xfffffff0 - x : x;
                if (kind % 4 == 3) key[k] = (test_random(&r) >> 32) / (1 + test_below(&r, 1 << 20));
            }
            hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, BATCH, key, value, outcome);
            must(hd_run_growing(t, &b, 0));
        }
        must(hd_check(t));
        uint64_t size;
        must(hd_size(t, &size));
        must(hd_grow(t, 2 * info_of(t).buckets));
        must(hd_check(t));
        const ovs_view *v = kind >= 4 ? NULL : view_of(t);
        for (uint64_t g = 0; v && g < ovs_segments(v); g++)
            if (keys_in(v, g) > most) most = keys_in(v, g);
        check(!v || most <= 4 * size / ovs_segments(v) + 1, "a segment has %llu of %llu keys", (ull)most, (ull)size);
        check(info_of(t).places < 16 * size, "%llu places for %llu keys", (ull)info_of(t).places, (ull)size);
        must(hd_shrink(t, info_of(t).base_buckets));
        check(info_of(t).places < 3 * size, "%llu places for %llu keys", (ull)info_of(t).places, (ull)size);
        must(hd_check(t));
        hd_close(t);
    }
}

/* What a round of splits takes, beside a sort of all segments by their keys. */
static void rounds_take_the_fullest(void **state)
{
    enum { SEGMENTS = 50 };
    uint64_t r = 3;
    (void)state;
    for (int n = 0; n < 300; n++) {
        uint64_t row[2 * SEGMENTS], was[2 * SEGMENTS], sorted[SEGMENTS], taken = 0, least = UINT64_MAX, most, left = 0;
        uint32_t keys[2 * SEGMENTS];
        ovs_task task[2 * SEGMENTS];
        ovs_view v;
        memset(&v, 0, sizeof v);
        v.base = SEGMENTS;
        v.ranges = 1;
        v.line_bits = 5;
        v.row = row;
        ovs_cut_evenly(&v);
        ovs_plan p = { .keys = keys, .was = was, .task = task, .rows = 2 * SEGMENTS };
        for (int g = 0; g < SEGMENTS; g++) sorted[g] = keys[g] = (uint32_t)test_below(&r, n % 3 ? 500 : 3);
        qsort(sorted, SEGMENTS, sizeof *sorted, by_number);
        most = 1 + test_below(&r, SEGMENTS);
        ovs_plan_splits(&v, &p, most);
        uint64_t heaviest = sorted[SEGMENTS - 1];
        if (heaviest < 2) continue;
        for (uint64_t j = 0; j < p.tasks; j++) {
            check(j == 0 || task[j].from > task[j - 1].from, "a segment is taken twice");
            check(task[j].to == SEGMENTS + j && task[j].keys == keys[task[j].from], "task %llu", (ull)j);
            check(2 * keys[task[j].from] > heaviest, "%u keys beside %llu", keys[task[j].from], (ull)heaviest);
            if (keys[task[j].from] < least) least = keys[task[j].from];
            taken += keys[task[j].from];
        }
        for (uint64_t j = 0; j < p.tasks; j++) left += sorted[SEGMENTS - 1 - j];
        bool all = p.tasks == SEGMENTS || 2 * sorted[SEGMENTS - 1 - p.tasks] <= heaviest;
        check(taken == left && (p.tasks == most || all), "%llu tasks of %llu, with %llu keys of %llu", (ull)p.tasks,
              (ull)most, (ull)taken, (ull)left);
    }
}

/* ---- Invariants ------------------------------------------------------------------------------ */

/* v: the view of t, an empty table of three segments of 128 buckets: a way has half of them. f: the device whose memory
 * that is, or NULL. */
static void broken_table_is_found(hd_table *t, ovs_view *v, fake_device *f)
{
    for (uint64_t key = 0; key < (v->pairs ? 2000 : 4000); key++)
        check(insert(t, key, 1) == HD_INSERTED, "key %llu", (ull)key);
    if (f) fake_let_in(f);
    uint64_t e = ovs_find(v, 77), h = ovs_hash(v, 77), word = *ovs_at(v, e), free_slot, lines = ovs_lines(v);
    const struct {
        uint64_t bucket, word;
        const char *says;
    } bad[] = {
        { ovs_bucket_of(v, e), word_sign(OVS_HALF, WORD_EMPTY, 5), "OVS-3: a free slot" },
        { ovs_bucket_of(v, e), v->pairs ? ovs_pair_busy() : word_sign(OVS_HALF, WORD_CLAIMED, 77),
          "OVS-3: a slot is claimed" },
        { ((ovs_segment_of(v, h) + 1) % 3) * lines + 5, word, "OVS-2: the key is in another segment" },
        { ovs_segment_of(v, h) * lines + ovs_step_in(v, h, OVS_WAY + 3), word, "OVS-2: the key is in a bucket" },
        { ovs_way_bucket(v, h, 40), v->pairs ? 77 : word_pack(OVS_HALF, 77, 9), "OVS-1: the key is in two slots" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        free_slot = ovs_free_slot(v, bad[i].bucket);
        if (i == 0 && v->pairs) continue; /* every word of these is a key or a sign */
        if (i < 2) free_slot = e;
        check(free_slot != OVS_NOWHERE, "no room for the trial");
        uint64_t was = *ovs_at(v, free_slot);
        *ovs_at(v, free_slot) = bad[i].word;
        test_case("%s", bad[i].says);
        must_fail(hd_check(t), HD_ECORRUPT, bad[i].says);
        if (f) fake_let_in(f);
        *ovs_at(v, free_slot) = was;
        must(hd_check(t));
        if (f) fake_let_in(f);
    }
    test_case("behind an open bucket");
    check(erase(t, 77) == HD_ERASED, "77");
    if (f) fake_let_in(f);
    uint64_t far = ovs_free_slot(v, ovs_way_bucket(v, h, 63));
    check(far != OVS_NOWHERE, "no room behind");
    *ovs_at(v, far) = word;
    ovs_bucket(v, ovs_way_bucket(v, h, 0))[3] = ovs_fresh_in(v);
    must_fail(hd_check(t), HD_ECORRUPT, "OVS-4");
}

/* v: the view of t, a table with ranges and three segments. there: the device's copy of the directory, or NULL. */
static void broken_directory_is_found(hd_table *t, ovs_view *v, uint64_t *there, fake_device *f)
{
    must(hd_check(t));
    if (f) fake_let_in(f);
    const uint64_t *row = v->row;
    const struct {
        uint64_t at, row;
        const char *says;
    } bad[] = {
        { 0, ovs_row_pack(1, 0), "OVS-7: the first key is not above that of the row before (row 0" },
        { 2, ovs_row_pack(ovs_row_first(row[1]), 2),
          "OVS-7: the first key is not above that of the row before (row 2" },
        { 1, ovs_row_pack(ovs_row_first(row[1]), 3), "OVS-7: the row names no segment (row 1" },
        { 1, ovs_row_pack(ovs_row_first(row[1]), 2), "OVS-7: a segment has no row, or several" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t was = row[bad[i].at];
        test_case("%s", bad[i].says);
        v->row[bad[i].at] = bad[i].row;
        if (there) there[bad[i].at] = bad[i].row;
        must_fail(hd_check(t), HD_ECORRUPT, bad[i].says);
        if (f) fake_let_in(f);
        if (there) v->row[bad[i].at] = was;
        if (there) must_fail(hd_check(t), HD_ECORRUPT, "OVS-7");
        if (f) fake_let_in(f);
        v->row[bad[i].at] = was;
        if (there) there[bad[i].at] = was;
        must(hd_check(t));
        if (f) fake_let_in(f);
    }
    if (!there) return;
    there[1]++;
    must_fail(hd_check(t), HD_ECORRUPT, "OVS-7: the device has another row (row 1");
}

static void broken_tables_are_found(void **state)
{
    (void)state;
    for (int pairs = 0; pairs < 2; pairs++) {
        hd_table *t = table_of(pairs ? pairs_config(3, 16384, 20000) : config_of(3, 16384, 20000));
        broken_table_is_found(t, view_of(t), NULL);
        hd_close(t);
    }
    hd_config c = config_of(3, 256, 0);
    c.ovs.partition = HD_PARTITION_RANGE;
    hd_table *t = table_of(c);
    broken_directory_is_found(t, view_of(t), NULL, NULL);
    hd_close(t);
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

static const char *path_of(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    return path;
}

static void snapshots_keep_segments(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SHAPES; i += 5) {
        trial x = { .t = table_of(shape_at(i)), .r = i };
        const char *path = path_of("ovs.heddle");
        hive_map_open(&x.map, KEYS);
        must(hd_grow(x.t, info_of(x.t).buckets * 2 + 3));
        run_items(&x, 1024);
        must(hd_save(x.t, path));
        hd_info was = info_of(x.t);
        static const char *const backends[] = { "ref", "host" };
        for (int k = 0; k < 4; k++) {
            hd_config c = shape_at(i);
            c.backend = backends[k % 2];
            c.ovs.near_bytes = k / 2 ? 0 : c.ovs.near_bytes;
            hd_table *t = table_of(c);
            uint64_t dropped = 1;
            must(hd_load(t, path, &dropped));
            bool as_saved = info_of(t).buckets == was.buckets && info_of(t).base_buckets == was.base_buckets;
            check(dropped == 0 && (as_saved || c.ovs.partition == HD_PARTITION_RANGE), "%llu dropped, %llu buckets",
                  (ull)dropped, (ull)info_of(t).buckets);
            check(info_of(t).ovs.near_bytes == c.ovs.near_bytes, "the limit is the file's");
            hive_map_compare(&x.map, t);
            hd_close(t);
        }
        bool pairs = i >= WORDS;
        uint32_t twice = 2 * was.ovs.segment_bytes;
        hd_config larger = pairs ? pairs_config(1, twice, 0) : config_of(1, twice, 0);
        if (i % 2 && !pairs) larger.ovs.partition = HD_PARTITION_RANGE;
        hd_table *other = table_of(larger);
        must(hd_load(other, path, NULL));
        check(info_of(other).ovs.segment_bytes == 2 * was.ovs.segment_bytes, "it took the file's segments");
        hive_map_compare(&x.map, other);
        hd_close(other);
        hive_map_close(&x.map);
        hd_close(x.t);
    }
}

/* ---- A device's memory ----------------------------------------------------------------------- */

static hd_config guided_config(uint64_t segments, uint32_t segment_bytes, uint64_t near, bool guided, bool ranges)
{
    hd_config c = config_of(segments, segment_bytes, near);
    if (guided) c.ovs.guide = HD_GUIDE_DIGEST;
    if (ranges) c.ovs.partition = HD_PARTITION_RANGE;
    return c;
}

static uint64_t far_least(uint32_t segment_bytes)
{
    bench b;
    hd_config c = config_of(4, segment_bytes, 1);
    c.backend = "cuda";
    bench_begin(&b);
    c.seams = &b.memory.seams;
    must_fail(hd_open(&c, &b.far), HD_EINVAL, "near: 1 bytes are fewer than the ");
    uint64_t least = strtoull(strstr(hd_why(), "than the ") + 9, NULL, 10);
    check(b.fake.live_bytes == 0 && b.fake.far_bytes == 0, "it took memory");
    fake_settled(&b.fake);
    return least;
}

static ovs_own *own_there(hd_table *t) { return (ovs_own *)(void *)((hd_cuda *)t->state)->own; }
static ovs_view *view_there(hd_table *t) { return &own_there(t)->v; }

/* By the kernel, in near segments and in far ones. */
static void a_device_finds_broken_tables(void **state)
{
    (void)state;
    for (uint64_t near = 0; near < 4; near++) {
        bench b;
        bench_begin(&b);
        uint64_t limit = far_least(16384) + near / 2 * 4 * 16384;
        bench_open_table(&b, near % 2 ? pairs_config(3, 16384, limit) : config_of(3, 16384, limit));
        broken_table_is_found(b.far, view_there(b.far), &b.fake);
        hd_close(b.far);
        fake_settled(&b.fake);
    }
    for (int copy = 0; copy < 2; copy++) { /* of the directory, by kernels */
        bench b;
        bench_begin(&b);
        bench_open_table(&b, guided_config(3, 256, copy ? 0 : far_least(256), false, true));
        ovs_own *o = own_there(b.far);
        check((o->row_there != NULL) == copy, "the device %s the directory", copy ? "has not" : "has");
        broken_directory_is_found(b.far, &o->v, o->row_there, &b.fake);
        hd_close(b.far);
        fake_settled(&b.fake);
    }
}

/* Takes are counted at the seam: with the room of kernels, and while the table grows and shrinks. */
static void near_is_a_limit(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 32; i++) {
        bool guided = i % 16 >= 8, ranges = i >= 16;
        uint32_t segment = i % 2 ? 4096 : 128;
        uint64_t least = far_least(segment), near = least + i / 2 % 4 * 3 * segment, near_most = 0;
        if (guided) near += 5 * segment / 4 + (ranges ? 1024 : 0); /* and the directory */
        const hd_staging_sizes sizes = { 4096, 0 };
        bench b;
        bench_begin(&b);
        bench_open_table(&b, guided_config(5, segment, near, guided, ranges));
        hd_cuda_staging(b.far, &sizes);
        check(b.fake.peak_bytes <= near, "%llu bytes taken, %llu allowed", (ull)b.fake.peak_bytes, (ull)near);
        for (int n = 0; n < 5; n++) {
            hd_info info = info_of(b.far);
            const ovs_view *v = view_there(b.far);
            if (n == 0) near_most = v->near_most; /* a quarter may be room to sort */
            bool many = (near_most + 1) * segment >= (near - least) / 4 * (guided ? 1 : 3);
            check(near_most <= (near - least) / segment && many, "%llu segments are near", (ull)near_most);
            check(v->guided >= guided && (guided || v->guided == 0), "%u extents have digests", v->guided);
            check(v->near_most == near_most, "%llu segments are near, not %llu", (ull)v->near_most, (ull)near_most);
            check(info.values_device_bytes + info.values_host_bytes >= info.places * 8, "segments without a home");
            if (n == 3)
                must(hd_shrink(b.far, info.base_buckets));
            else
                must(hd_grow(b.far, info.buckets * 2));
            check(b.fake.peak_bytes <= near, "%llu bytes taken, %llu allowed", (ull)b.fake.peak_bytes, (ull)near);
            check(b.fake.live_bytes + info.values_host_bytes > 0 &&
                      b.fake.far_bytes >= info_of(b.far).values_host_bytes,
                  "%llu bytes pinned", (ull)b.fake.far_bytes);
        }
        uint64_t taken = b.fake.peak_bytes;
        check(guided || ranges || taken + segment + 2048 >= near || info_of(b.far).values_host_bytes == 0,
              "%llu bytes of %llu are used", (ull)taken, (ull)near);
        hd_close(b.far);
        fake_settled(&b.fake);
    }
}

/* Items, growth, walks and snapshots where some segments are far, beside a map. */
static void a_device_agrees(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 20; i++) {
        bool guided = i / 4 == 1 || i / 4 == 4, pairs = i / 4 == 2, ranges = i / 4 >= 3;
        uint32_t segment = i % 2 ? 1024 : 256, bytes = pairs ? 8 : 4;
        uint64_t near = far_least(segment) + (i / 2 % 2 ? 3 * segment : 0), digests = guided ? 3 * segment / 4 : 0;
        const hd_staging_sizes sizes = { 640, 0 }; /* a part of a walk has a few buckets */
        bench b;
        bench_begin(&b);
        hd_config c =
            pairs ? pairs_config(3, segment, near) : guided_config(3, segment, near + digests, guided, ranges);
        bench_open_table(&b, c);
        hd_cuda_staging(b.far, &sizes);
        trial x = { .t = b.far, .r = i };
        uint64_t key[64], n = 0;
        uint64_t number[64];
        uint8_t value[64 * 8];
        hive_map_open(&x.map, KEYS);
        for (int round = 0; round < 6; round++) {
            for (int k = 0; k < 64; k++) {
                key[k] = n++ * 7 % KEYS;
                number[k] = test_random(&x.r) >> (64 - 8 * bytes);
                memcpy(value + (uint32_t)k * bytes, &number[k], bytes);
            }
            uint8_t outcome[64];
            hd_batch batch = test_batch(HD_OP_INSERT_OR_ASSIGN, 64, key, value, outcome);
            must(hd_run(x.t, &batch));
            for (int k = 0; k < 64; k++) {
                word_item it = { HD_OP_INSERT_OR_ASSIGN, HD_I32, HD_EITHER, key[k], number[k] };
                uint64_t is;
                check(hive_map_apply(&x.map, &it, bytes, (hd_outcome)outcome[k], &is) == outcome[k], "key %llu",
                      (ull)key[k]);
            }
            must(round == 3 ? hd_shrink(x.t, info_of(x.t).base_buckets) : hd_grow(x.t, info_of(x.t).buckets + 17));
            hive_map_compare(&x.map, x.t);
        }
        const char *path = path_of("far.heddle");
        must(hd_save(x.t, path));
        hd_table *here = table_of(pairs ? pairs_config(3, segment, 0) : config_of(3, segment, 0));
        must(hd_load(here, path, NULL));
        hive_map_compare(&x.map, here);
        must(hd_check(x.t));
        must(hd_save(here, path));
        must(hd_load(x.t, path, NULL));
        hive_map_compare(&x.map, x.t);
        must(hd_check(x.t));
        ovs_view *v = view_there(x.t);
        for (uint64_t k = 0; k < KEYS; k += 5) { /* new keys go on where the file ends */
            uint32_t one = 1;
            hd_outcome o = insert(x.t, k, one);
            word_item it = { HD_OP_INSERT_OR_ASSIGN, HD_I32, HD_EITHER, k, one };
            uint64_t is;
            check(hive_map_apply(&x.map, &it, bytes, o, &is) == o, "key %llu: %s", (ull)k, hd_outcome_name(o));
        }
        hive_map_compare(&x.map, x.t);
        uint64_t most = (near - far_least(segment)) / segment; /* more digests may have come with the file's shape */
        check(guided || ranges ? v->near_most <= most : v->near_most == most, "%llu near", (ull)v->near_most);
        hd_close(here);
        hive_map_close(&x.map);
        hd_close(x.t);
        fake_settled(&b.fake);
    }
}

/* ---- Another limit --------------------------------------------------------------------------- */

/* Every number of near segments after every other, on ref and host: entries and slots are what they were. */
static void entries_stay_while_segments_move(void **state)
{
    uint64_t moved = 0;
    (void)state;
    for (uint64_t i = 0; i < 2 * SHAPES; i += 5) {
        if (!test_takes(i)) continue;
        hd_config c = shape_at(i / 2);
        c.backend = i % 2 ? "host" : "ref";
        trial x = { .t = table_of(c), .r = i, .distinct = i % 2 };
        hive_map_open(&x.map, KEYS);
        for (uint64_t round = 0; round < 8; round++) {
            hd_info was = info_of(x.t);
            uint64_t segments = was.capacity * 8 / was.ovs.segment_bytes,
                     near = test_below(&x.r, segments + 2) * was.ovs.segment_bytes + test_below(&x.r, 2);
            run_items(&x, 128);
            must(hd_set_near(x.t, near));
            hd_info is = info_of(x.t);
            check(is.ovs.near_bytes == near && is.capacity == was.capacity && is.keys == was.keys, "near=%llu: %llu",
                  (ull)near, (ull)is.ovs.near_bytes);
            check(!near || is.values_device_bytes <= near, "%llu near bytes of %llu", (ull)is.values_device_bytes,
                  (ull)near);
            check(is.values_device_bytes + is.values_host_bytes == was.values_device_bytes + was.values_host_bytes,
                  "%llu and %llu bytes of segments", (ull)is.values_device_bytes, (ull)is.values_host_bytes);
            moved += is.values_device_bytes != was.values_device_bytes;
            hive_map_compare(&x.map, x.t);
            must(hd_check(x.t));
            if (round == 3) must(hd_grow(x.t, was.buckets * 3));
            if (round == 6) must(hd_shrink(x.t, was.base_buckets));
        }
        hive_map_close(&x.map);
        hd_close(x.t);
    }
    check(moved, "no segment moved");
    test_tried("differential", moved, "limits changed, beside a map");
}

/* Takes are counted at the seam, at every moment of the call. */
static void no_moment_exceeds_both_limits(bench *b, uint64_t was, uint64_t near, uint64_t least)
{
    uint64_t most = was && near ? (was > near ? was : near) : UINT64_MAX;
    uint64_t copies = ((hd_cuda *)b->far->state)->staging.room_bytes; /* of batches' arrays: they do not count */
    test_case("near %llu, then %llu", (ull)was, (ull)near);
    b->fake.peak_bytes = b->fake.live_bytes;
    if (near && near < least) {
        uint64_t live = b->fake.live_bytes, far = b->fake.far_bytes;
        must_fail(hd_set_near(b->far, near), HD_EINVAL, "that the table's kernels need");
        check(b->fake.peak_bytes == live && b->fake.far_bytes == far, "a refusal took memory");
        check(info_of(b->far).ovs.near_bytes == was, "a refusal changed the limit");
        return;
    }
    must(hd_set_near(b->far, near));
    hd_info info = info_of(b->far);
    check(b->fake.peak_bytes - copies <= most, "%llu bytes taken, %llu allowed", (ull)b->fake.peak_bytes, (ull)most);
    check(!near || b->fake.live_bytes - copies <= near, "%llu bytes kept, %llu allowed", (ull)b->fake.live_bytes,
          (ull)near);
    check(info.ovs.near_bytes == near, "the limit is %llu", (ull)info.ovs.near_bytes);
    check(b->fake.far_bytes >= info.values_host_bytes, "%llu bytes pinned", (ull)b->fake.far_bytes);
    check(near || info.values_host_bytes == 0, "%llu bytes are far", (ull)info.values_host_bytes);
    must(hd_check(b->far));
}

/* Limits go up and down at random; between them items run, and the table grows and shrinks. */
static void a_limit_changes_within_it(void **state)
{
    uint64_t changes = 0, with_digests = 0, without = 0;
    (void)state;
    for (uint64_t i = 0; i < 6 + test_times(18); i++) {
        bool guided = i % 2, pairs = i % 6 == 2, ranges = !pairs && i / 2 % 2;
        uint32_t segment = i / 2 % 3 == 0 ? 256 : i / 2 % 3 == 1 ? 4096 : 32768;
        uint64_t least = far_least(segment), whole = 40 * segment, near = i % 5 ? least + whole : 0;
        const hd_staging_sizes sizes = { 4096, 0 };
        bench b;
        bench_begin(&b);
        hd_config c = guided_config(5, segment, near, guided, ranges);
        if (pairs) c.value_bytes = 8, c.capacity /= 2;
        bench_open_table(&b, c);
        hd_cuda_staging(b.far, &sizes);
        trial x = { .t = b.far, .r = i, .distinct = true };
        hive_map_open(&x.map, KEYS);
        for (int round = 0; round < 10; round++) {
            static const uint64_t some[] = { 0, 1, 2, 5, 40 };
            uint64_t then = least + test_below(&x.r, some[test_below(&x.r, 5)] * segment + 1);
            if (test_below(&x.r, 8) == 0) then = 0;
            if (test_below(&x.r, 10) == 0) then = least - 1;
            if (test_below(&x.r, 6) == 0) then = least + 4000000 + test_below(&x.r, 4000000); /* larger windows */
            run_items(&x, 64);
            no_moment_exceeds_both_limits(&b, near, then, least);
            near = info_of(b.far).ovs.near_bytes;
            hive_map_compare(&x.map, x.t);
            b.fake.peak_bytes = b.fake.live_bytes;
            if (round == 3 || round == 5) must(hd_grow(b.far, info_of(b.far).buckets * 3 / 2));
            if (round == 7) must(hd_shrink(b.far, info_of(b.far).base_buckets));
            uint64_t copies = ((hd_cuda *)b.far->state)->staging.room_bytes;
            check(!near || b.fake.peak_bytes - copies <= near, "%llu bytes taken by growth", (ull)b.fake.peak_bytes);
            *(view_there(b.far)->guided ? &with_digests : &without) += guided;
            changes++;
        }
        hive_map_compare(&x.map, x.t);
        must(hd_check(x.t));
        hive_map_close(&x.map);
        hd_close(b.far);
        fake_settled(&b.fake);
    }
    check(with_digests && without, "%llu times digests, %llu times none", (ull)with_digests, (ull)without);
    test_tried("device memory", changes, "limits changed, counted at the seam");
}

int main(void)
{
    const struct CMUnitTest ovs[] = {
        unit(every_slot_has_one_home),
        unit(hashes_name_segments),
        unit(shapes_are_refused),
        unit(pairs_have_two_kernels),
        unit(items_are_a_maps),
        unit(pairs_hold_any_key),
        unit(full_ways_are_pending),
        unit(vacant_slots_are_used_again),
        unit(resizing_refreshes),
        unit(crowded_pairs_stay),
        unit(rows_name_segments),
        unit(splits_are_at_medians),
        unit(skewed_keys_fill_segments_alike),
        unit(rounds_take_the_fullest),
        unit(broken_tables_are_found),
        unit(snapshots_keep_segments),
        unit(near_is_a_limit),
        unit(a_device_agrees),
        unit(entries_stay_while_segments_move),
        unit(a_limit_changes_within_it),
        unit(a_device_finds_broken_tables),
    };
    return test_run(ovs);
}

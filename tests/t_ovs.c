/* SPDX-License-Identifier: Apache-2.0
 *
 * t_ovs.c - the ovs table: where its slots are, near and far; ways and splits; vacant slots; ranges of keys, their
 * directory and medians.
 */
#include <stdlib.h>
#include <string.h>

#include "gpu/ovs/rows.h"
#include "ref/ovs/ovs.h"
#include "ref/ovs/range.h"
#include "lib/table.h"
#include "tests/testing.h"

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
    uint32_t bytes = segment[i % 4];
    const uint64_t near[] = { 1, bytes, 3 * bytes + 5, 0 };
    if (i >= WORDS) return pairs_config(1 + i % 3, bytes, near[i / 4 % 4]);
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

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = (const uint64_t *)a, *y = (const uint64_t *)b;
    return (*x > *y) - (*x < *y);
}

static void every_slot_has_one_home(void)
{
    uint64_t slots = 0;
    for (uint64_t i = 0; i < SHAPES; i++) {
        hd_table *t = table_of(shape_at(i));
        hd_view view;
        for (int grown = 0; grown < 4; grown++) {
            const ovs_view *v = view_of(t);
            hd_info info = test_info(t);
            uint64_t *at = (uint64_t *)test_alloc(info.places, sizeof *at), near_slots = 0;
            must(hd_view_open(t, NULL, &view));
            for (uint64_t e = 0; e < info.places; e++) {
                bool near, told = e / ovs_segment_slots(v) < v->near_most;
                const uint64_t *slot = ovs_at(v, e);
                at[e] = (uintptr_t)slot;
                check(part_with(v, slot, &near) && near == told, "slot %llu is %s (OVS-5)", (ull)e,
                      told ? "not near" : "not far");
                check(hd_view_word(&view, e) == (const uint8_t *)slot, "the view has slot %llu elsewhere", (ull)e);
                check(at[e - e % 2] % 16 == 0, "slot %llu is not aligned", (ull)e);
                near_slots += near;
            }
            must(hd_view_close(t, NULL));
            qsort(at, info.places, sizeof *at, by_number);
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
static void hashes_name_segments(void)
{
    uint64_t r = 7;
    for (int n = 0; n < 20000; n++) {
        ovs_view v = { .base = 1 + test_below(&r, n % 2 ? 5 : 100000) };
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

/* Batches of pairs are not mixed. The table chooses `wide`; for large batches `sorted`, if segments may be far. */
static void pairs_have_two_kernels(void)
{
    static const hd_op ops[] = { HD_OP_FIND, HD_OP_FIND_MISSED, HD_OP_ASSIGN, HD_OP_ACCUM_OR_ASSIGN, HD_OP_ERASE };
    const uint64_t key = 5, value = 1ull << 40;
    const uint8_t each = HD_OP_INSERT_OR_ASSIGN;
    hd_config c = pairs_config(2, 1024, 1024);
    hd_table *t = table_of(c);
    hd_batch b = test_batch(HD_OP_FIND, 1, &key, &value, NULL);
    b.each = &each;
    must_fail(hd_run(t, &b), HD_EINVAL, "one operation at a time");
    hd_close(t);
    c.backend = "host";
    t = table_of(c);
    hd_info info = test_info(t);
    check(info.slots == 8 && info.value_bytes == 8 && info.keys == UINT64_MAX - 2 && info.places == 2 * 64,
          "%u slots, keys below %llu", info.slots, (ull)info.keys);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        uint64_t count = 0;
        bool changes = ops[i] == HD_OP_ASSIGN || ops[i] == HD_OP_ACCUM_OR_ASSIGN;
        b = test_batch(ops[i], 1, &key, changes ? &value : NULL, NULL);
        b.elem = HD_U64;
        if (ops[i] == HD_OP_FIND_MISSED) b.count = &count;
        must(hd_run(t, &b));
        check(strcmp(strrchr(b.ran, '.'), ".wide") == 0, "it was run by %s", b.ran);
    }
    hd_close(t);
    for (int amount = HD_MANY; amount >= 0; amount--)
        for (uint64_t near = 0; near < 2; near++) {
            info = (hd_info){ .value_bytes = 8, .ovs.near_bytes = near };
            const char *name = ovs_select(HD_OP_FIND, &info, 0.5, (hd_amount)amount, 0);
            check(strcmp(name, near && amount == HD_MANY ? "sorted" : "wide") == 0, "near=%llu: %s", (ull)near, name);
        }
}

static void copies_take_their_bytes(void)
{
    uint64_t bytes[4];
    for (int k = 0; k < 4; k++) {
        hd_config c = config_of(6, 1024, 1024);
        c.backend = k / 2 ? "host" : "ref";
        c.ovs.copy_bytes = k % 2 ? 64 : 0;
        hd_table *t = table_of(c);
        bytes[k] = test_info(t).memory_bytes;
        hd_close(t);
    }
    for (int k = 1; k < 4; k += 2)
        check(bytes[k] == bytes[k - 1] + 64, "copies take %llu bytes", (ull)(bytes[k] - bytes[k - 1]));
}

/* ---- Items ----------------------------------------------------------------------------------- */

/* An erased slot ends no search, and the next key whose way it is on takes it. */
static void vacant_slots_are_used_again(void)
{
    hd_table *t = table_of(config_of(1, 512, 0)); /* four buckets */
    ovs_view *v = view_of(t);
    uint64_t n = 0, own[40], others = 0;
    for (uint64_t key = 0; n < 40; key++)
        if (ovs_start(v, ovs_hash(v, key)) == 1) own[n++] = key;
    for (n = 0; n < 20; n++) check(test_put(t, own[n], (uint32_t)n) == HD_INSERTED, "key %llu", (ull)n);
    uint64_t first = ovs_find(v, own[3]), last = ovs_find(v, own[19]);
    check(first / OVS_SLOTS == 1 && last / OVS_SLOTS == 2, "slots %llu and %llu", (ull)first, (ull)last);
    check(test_erase(t, own[3]) == HD_ERASED && *ovs_at(v, first) == ovs_vacant(), "it is not vacant");
    check(!ovs_is_open(v, 1) && ovs_find(v, own[19]) == last, "a search ends at a vacant slot");
    check(test_put(t, own[19], 7) == HD_UPDATED, "it was inserted twice");
    check(test_put(t, own[20], 8) == HD_INSERTED && ovs_find(v, own[20]) == first, "the vacant slot was not taken");
    for (uint64_t e = 0; e < ovs_places(v); e++) others += *ovs_at(v, e) == ovs_vacant();
    check(others == 0, "%llu slots are vacant", (ull)others);
    must(hd_check(t));
    hd_close(t);
}

/* A split or a merge leaves fresh slots, and keys as early on their ways as there is room. */
static void resizing_refreshes(void)
{
    for (uint64_t i = 0; i < SHAPES; i++) {
        hd_table *t = table_of(shape_at(i));
        uint64_t places = test_info(t).places, key = 0;
        while (key < places && test_put(t, key, 1) == HD_INSERTED) key++;
        for (uint64_t k = 0; k < key; k += 2) check(test_erase(t, k) == HD_ERASED, "key %llu", (ull)k);
        must(hd_grow(t, 2 * test_info(t).buckets));
        for (int shrunk = 0; shrunk < 2; shrunk++) {
            const ovs_view *v = view_of(t);
            for (uint64_t e = 0; e < ovs_places(v); e++)
                check(*ovs_at(v, e) != ovs_vacant_in(v), "slot %llu is vacant after it was %s", (ull)e,
                      shrunk ? "merged" : "split");
            must(hd_check(t));
            must(hd_shrink(t, test_info(t).base_buckets));
        }
        check(test_info(t).buckets == test_info(t).base_buckets, "half full, and not merged");
        hd_close(t);
    }
}

/* Keys that fill more than nine tenths of one segment are not merged into it. */
static void crowded_pairs_stay(void)
{
    for (uint64_t share = 80; share <= 100; share += 5) {
        hd_table *t = table_of(config_of(1, 1024, 0));
        uint64_t places = test_info(t).places, n = places * share / 100;
        must(hd_grow(t, 2 * test_info(t).buckets));
        for (uint64_t key = 0; key < n; key++) check(test_put(t, key, 1) == HD_INSERTED, "key %llu", (ull)key);
        must(hd_shrink(t, test_info(t).base_buckets));
        check((test_info(t).buckets == test_info(t).base_buckets) == (share <= 90), "%llu%% of a segment: %llu buckets",
              (ull)share, (ull)test_info(t).buckets);
        must(hd_check(t));
        for (uint64_t key = 0; key < n; key++) check(test_put(t, key, 2) == HD_UPDATED, "key %llu is lost", (ull)key);
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
static void rows_name_segments(void)
{
    uint64_t r = 5;
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
            for (int n = 0; n < 20; n++) test_put(t, test_random(&r) >> 32 >> test_below(&r, 20), 1);
            must(hd_grow(t, test_info(t).buckets + 1 + test_below(&r, 20)));
        }
        hd_close(t);
    }
}

/* Of n keys of one segment the lower n / 2 stay, and the others go to the new one; fewer than two are not looked at. */
static void splits_are_at_medians(void)
{
    enum { MOST = 100 };
    uint64_t r = 11;
    for (uint64_t n = 0; n < MOST; n++) {
        hd_table *t = table_of(ranges_of(1, 1024));
        const ovs_view *v = view_of(t);
        uint64_t key[MOST], shift = test_below(&r, 25);
        for (uint64_t i = 0; i < n; i++) {
            do key[i] = test_random(&r) >> 32 >> shift;
            while (test_put(t, key[i], 1) != HD_INSERTED);
        }
        qsort(key, n, sizeof *key, by_number);
        must(hd_grow(t, test_info(t).buckets + 1));
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
static void skewed_keys_fill_segments_alike(void)
{
    enum { BATCH = 500, N = 20000 };
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
        uint64_t size = test_size(t);
        must(hd_grow(t, 2 * test_info(t).buckets));
        must(hd_check(t));
        const ovs_view *v = kind >= 4 ? NULL : view_of(t);
        for (uint64_t g = 0; v && g < ovs_segments(v); g++)
            if (keys_in(v, g) > most) most = keys_in(v, g);
        check(!v || most <= 4 * size / ovs_segments(v) + 1, "a segment has %llu of %llu keys", (ull)most, (ull)size);
        check(test_info(t).places < 16 * size, "%llu places for %llu keys", (ull)test_info(t).places, (ull)size);
        must(hd_shrink(t, test_info(t).base_buckets));
        check(test_info(t).places < 3 * size, "%llu places for %llu keys", (ull)test_info(t).places, (ull)size);
        must(hd_check(t));
        hd_close(t);
    }
}

/* What a round of splits takes, beside a sort of all segments by their keys. */
static void rounds_take_the_fullest(void)
{
    enum { SEGMENTS = 50 };
    uint64_t r = 3;
    for (int n = 0; n < 300; n++) {
        uint64_t row[2 * SEGMENTS], was[2 * SEGMENTS], sorted[SEGMENTS], taken = 0, least = UINT64_MAX, most, left = 0;
        uint32_t keys[2 * SEGMENTS];
        ovs_task task[2 * SEGMENTS];
        ovs_view v = { .base = SEGMENTS, .ranges = 1, .line_bits = 5, .row = row };
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

static const struct CMUnitTest ovs[] = { unit(every_slot_has_one_home),     unit(hashes_name_segments),
                                         unit(pairs_have_two_kernels),      unit(copies_take_their_bytes),
                                         unit(vacant_slots_are_used_again), unit(resizing_refreshes),
                                         unit(crowded_pairs_stay),          unit(rows_name_segments),
                                         unit(splits_are_at_medians),       unit(skewed_keys_fill_segments_alike),
                                         unit(rounds_take_the_fullest) };

int main(void) { return test_run(ovs); }

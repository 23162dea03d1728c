/* SPDX-License-Identifier: Apache-2.0
 *
 * t_tiers.c - values in two tiers: where each lies, what fits the budget, which come near. That every operation gives the same with tiers and without
 * is for the tests of every operation, which turn them on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/table.h"
#include "ref/hkv.h"
#include "tests/testing.h"

typedef unsigned long long ull;

/* ---- Where values lie --------------------------------------------------------------------------------------------- */

/* Value e lies at p in that tier, where no other value does. */
static void mark(uint8_t *taken, const uint8_t *tier, uint64_t tier_bytes, const uint8_t *p, uint32_t bytes, uint64_t e)
{
    check(p >= tier && p + bytes <= tier + tier_bytes, "value %llu lies outside of its tier", (ull)e);
    for (uint32_t i = 0; i < bytes; i++) {
        check(!taken[p - tier + i], "value %llu lies on another", (ull)e);
        taken[p - tier + i] = 1;
    }
}

static void addresses_of(const hd_config *c)
{
    hd_table *t;
    hd_info info;
    uint64_t all = 0, near = 0;
    test_case("buckets=%llu slots=%u value=%u tiers=%d near=%llu", (ull)(c->capacity / c->slots), c->slots, c->value_bytes, c->tiers, (ull)c->near_bytes);
    must(hd_open(c, &t));
    must(hd_table_info(t, &info));
    const hkv_view *v = hkv_view_of(t->state);
    all = info.capacity * info.value_bytes;
    uint8_t *taken[2] = { (uint8_t *)test_alloc(1, all + 1), (uint8_t *)test_alloc(1, all + 1) };
    for (uint64_t e = 0; e < info.capacity; e++) {
        bool is_near = hkv_is_near(v, e);
        mark(taken[is_near], is_near ? v->value : v->far, is_near ? info.near_value_bytes : info.far_value_bytes, hkv_value(v, e), info.value_bytes, e);
        near += is_near;
        if (e == 0) continue;
        bool same_stripe = c->tiers == HD_TIERS_POSITION || e % info.slots;
        check(!is_near || !same_stripe || hkv_is_near(v, e - 1), "value %llu is near, and the one before it is not", (ull)e);
        check(c->tiers == HD_TIERS_POSITION || e < info.slots || is_near == hkv_is_near(v, e % info.slots), "bucket %llu has another split", (ull)(e / info.slots));
    }
    uint64_t rows = c->tiers == HD_TIERS_BUCKET ? info.buckets : 1;
    check(info.near_value_bytes == near * info.value_bytes && info.near_value_bytes + info.far_value_bytes == all, "%llu near, %llu far, of %llu",
          (ull)info.near_value_bytes, (ull)info.far_value_bytes, (ull)all);
    check(!c->near_bytes || info.near_value_bytes <= c->near_bytes, "%llu bytes are over the budget", (ull)info.near_value_bytes);
    check(info.far_value_bytes == 0 || c->near_bytes - info.near_value_bytes < rows * info.value_bytes, "the budget has room for more than %llu", (ull)info.near_value_bytes);
    check(c->near_bytes || info.far_value_bytes == 0, "there is a far tier, and no budget");
    free(taken[0]);
    free(taken[1]);
    hd_close(t);
}

static void every_value_has_its_place(void **state)
{
    static const uint32_t slots[] = { 2, 3, 8, 33, 128 }, bytes[] = { 0, 1, 8, 24 };
    (void)state;
    for (int i = 0; i < 5 * 4 * 4 * 2; i++) {
        hd_config c = hd_config_default();
        c.slots = slots[i % 5];
        c.value_bytes = bytes[i / 5 % 4];
        c.capacity = c.slots * (1 + (uint64_t)i / 20 % 4);
        c.tiers = i / 80 ? HD_TIERS_POSITION : HD_TIERS_BUCKET;
        uint64_t all = c.capacity * c.value_bytes;
        for (uint64_t k = 0; k <= 7; k++) {
            c.near_bytes = k < 2 ? k : all * (k - 1) / 6 + (k == 5);
            addresses_of(&c);
        }
    }
}

/* ---- Promotion ---------------------------------------------------------------------------------------------------- */

enum { KEYS = 900, VALUE = 16 };

static void value_of(uint64_t key, uint64_t *value) { value[0] = key * 3 + 1, value[1] = ~key; }

static uint64_t promote(hd_table *t, uint64_t start, uint64_t n)
{
    uint64_t moved = 0;
    hd_batch b = { .op = HD_OP_PROMOTE, .start = start, .n = n, .count = &moved };
    must(hd_run(t, &b));
    return moved;
}

/* Keys of random scores, more than there is room for; some of those that stayed are pinned, some are erased again. */
static void fill(hd_table *t, uint64_t seed)
{
    static uint64_t key[KEYS], score[KEYS], value[KEYS][2];
    uint64_t random = seed;
    for (uint64_t i = 0; i < KEYS; i++) {
        key[i] = test_below(&random, 3 * KEYS);
        score[i] = test_below(&random, 50);
        value_of(key[i], value[i]);
    }
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = KEYS, .key = key, .score = score, .value = value };
    must(hd_run(t, &b));
    b.op = HD_OP_ERASE;
    b.n = KEYS / 5;
    must(hd_run(t, &b));
    b.op = HD_OP_LOCK_KEYS;
    b.holder = 1;
    b.key = key + KEYS / 2;
    b.n = 10;
    must(hd_run(t, &b));
}

/* Every key is found with its value. The sum of the scores that are near, plus one each. */
static uint64_t near_scores(hd_table *t, const hd_info *info)
{
    static uint64_t key[3 * KEYS], score[3 * KEYS];
    static uint8_t outcome[3 * KEYS];
    static void *ptr[3 * KEYS];
    uint64_t sum = 0, value[2], size = 0, found = 0;
    for (uint64_t i = 0; i < 3 * KEYS; i++) key[i] = i;
    hd_batch b = { .op = HD_OP_FIND_PTR, .n = 3 * KEYS, .key = key, .ptr = ptr, .score_out = score, .outcome = outcome };
    must(hd_run(t, &b));
    const hkv_view *v = hkv_view_of(strcmp(info->backend, "ref") == 0 ? t->state : *(void **)t->state); /* the host's begins with the reference's */
    for (uint64_t i = 0; i < 3 * KEYS; i++) {
        if (outcome[i] != HD_HIT) continue;
        value_of(key[i], value);
        check(memcmp(ptr[i], value, VALUE) == 0, "key %llu has another's value", (ull)key[i]);
        bool near = (uint8_t *)ptr[i] >= v->value && (uint8_t *)ptr[i] < v->value + info->near_value_bytes;
        sum += near ? score[i] + 1 : 0;
        found++;
    }
    must(hd_size_sync(t, &size));
    check(found == size, "%llu of %llu entries are found", (ull)found, (ull)size);
    return sum;
}

/* Scores near rise, and only while something moves; a part at a time gives what the whole does; nothing is lost. */
static void the_best_come_near(void **state)
{
    static const char *const policies[] = { "lfu", "custom" };
    (void)state;
    for (uint64_t i = 0; i < 32; i++) {
        hd_config c = hd_config_default();
        hd_table *t[2];
        hd_info info;
        c.policy = policies[i % 2];
        c.slots = i / 2 % 2 ? 32 : 21;
        c.capacity = 12 * c.slots;
        c.value_bytes = VALUE;
        c.dual = i / 4 % 2;
        c.backend = i / 16 ? "host" : "ref";
        c.tiers = i / 8 % 2 ? HD_TIERS_POSITION : HD_TIERS_BUCKET;
        c.near_bytes = c.capacity * VALUE / (3 + i % 5);
        c.layout = HD_LAYOUT_PAIRS;
        test_case("backend=%s policy=%s slots=%u dual=%d tiers=%d near=%llu", c.backend, c.policy, c.slots, c.dual, c.tiers, (ull)c.near_bytes);
        for (int k = 0; k < 2; k++) {
            must(hd_open(&c, &t[k]));
            fill(t[k], i);
        }
        must(hd_table_info(t[0], &info));
        uint64_t before = near_scores(t[0], &info), moved = promote(t[0], 0, info.capacity), after = near_scores(t[0], &info), parts = 0;
        must(hd_check(t[0]));
        check((moved > 0) == (c.tiers == HD_TIERS_BUCKET) && (after > before) == (moved > 0), "%llu moved, and from %llu it is %llu", (ull)moved, (ull)before, (ull)after);
        check(promote(t[0], 0, info.capacity) == 0, "a second pass moved something");
        for (uint64_t at = 0; at < info.capacity; at += 17) parts += promote(t[1], at, info.capacity - at < 17 ? info.capacity - at : 17);
        check(parts == moved && near_scores(t[1], &info) == after, "in parts %llu moved, at once %llu", (ull)parts, (ull)moved);
        check(promote(t[0], info.capacity, 0) == 0, "beyond the end something moved");
        must(hd_check(t[1]));
        hd_close(t[0]);
        hd_close(t[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_has_its_place),
        cmocka_unit_test(the_best_come_near),
    };
    return test_run(tests);
}

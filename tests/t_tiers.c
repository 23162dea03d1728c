/* SPDX-License-Identifier: Apache-2.0
 *
 * t_tiers.c - values in two tiers: where each lies, what fits the budget. That every operation gives the same with tiers and without
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_has_its_place),
    };
    return test_run(tests);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * gphash_device.c - GPHash tables, for tests/conform_device.h: both layouts, new tables and such as have grown.
 */
#include "gpu/gphash/own.h"
#include "ref/gphash/gphash.h"
#include "tests/conform_device.h"
#include "workload/case.h"

/* Cases whose table is opened, and how many buckets it then grows to. */
static const struct {
    const char *text;
    uint64_t buckets;
} shapes[] = {
    { "gphash.mixed.warp capacity=192", 0 },
    { "gphash.mixed.warp capacity=192 layout=cells", 0 },
    { "gphash.mixed.warp capacity=96 layout=cells value=3", 24 },
    { "gphash.mixed.warp capacity=96 value=5", 40 },
    { "gphash.mixed.warp capacity=192 layout=cells index=far", 0 },
    { "gphash.mixed.phase capacity=192 index=near", 0 },
    { "gphash.mixed.phase capacity=96 layout=cells value=3 index=near", 24 },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static const char *name(size_t i) { return shapes[i].text; }

static hd_config config(size_t i)
{
    static hd_case c[SHAPES];
    must(hd_case_parse(shapes[i].text, &c[i]));
    return hd_case_config(&c[i]);
}

static void opened(hd_table *t, size_t i)
{
    if (shapes[i].buckets) must(hd_grow(t, shapes[i].buckets));
}

/* A key, or a number, becomes another. */
static void damage(bench *b, uint64_t *random)
{
    fake_let_in(&b->fake);
    const gphash_view lasting = gphash_view_that_lasts((gphash_own *)(void *)((hd_cuda *)b->far->state)->own),
                      *v = &lasting;
    uint64_t places = gphash_places(v), e = test_below(random, places), from = test_below(random, places);
    const uint64_t keys[] = { *gphash_key_at(v, from), HD_KEY_LOCKED, *gphash_key_at(v, e) };
    if (v->cell_bytes && test_below(random, 2))
        *gphash_number_at(v, e) = test_below(random, 2) ? *gphash_number_at(v, from) : GPHASH_NONE;
    else
        *gphash_key_at(v, e) = keys[test_below(random, 3)];
}

const device_design device_this = { .shapes = SHAPES,
                                    .name = name,
                                    .config = config,
                                    .part = 640,
                                    .opened = opened,
                                    .grows_by = 1,
                                    .stride = 8,
                                    .full = 6,
                                    .damage = damage,
                                    .damages = 2,
                                    .tables = 100,
                                    .rule_at = 3,
                                    .rules = 0x1e };

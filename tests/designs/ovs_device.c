/* SPDX-License-Identifier: Apache-2.0
 *
 * ovs_device.c - the tables larger than the device's memory, for tests/conform_device.h: segments that are near, and
 * some in this machine's memory.
 */
#include <stdlib.h>

#include "gpu/ovs/own.h"
#include "ref/ovs/ovs.h"
#include "tests/conform_device.h"
#include "workload/case.h"

/* Cases whose table is opened; and what device memory it has beside the least. */
static const struct {
    const char *text;
    uint64_t near;
} shapes[] = {
    { "ovs.mixed.quad capacity=192 segment=256", 512 },
    { "ovs.mixed.quad capacity=1920 segment=1024 guide=digest", 6000 },
    { "ovs.find.wide capacity=192 segment=1024 value=8", 0 },
    { "ovs.mixed.quad capacity=192 segment=256 partition=range", 0 },
    { "ovs.mixed.quad capacity=480 segment=256 partition=range copies=64 guide=digest", 1 << 20 },
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
    must_fail(hd_set_near(t, 1), HD_EINVAL, "near: 1 bytes");
    const char *at = hd_why() + strlen("near: 1 bytes");
    must(hd_set_near(t, strtoull(at + strcspn(at, "0123456789"), NULL, 10) + shapes[i].near));
}

/* A word becomes another, or a row of the directory and of the device's copy of it. */
static void damage(bench *b, uint64_t *random)
{
    fake_let_in(&b->fake);
    ovs_own *o = (ovs_own *)(void *)((hd_cuda *)b->far->state)->own;
    const ovs_view *v = &o->v;
    uint64_t places = ovs_places(v), *to, from = test_below(random, places), word = *ovs_at(v, from),
             row = test_below(random, ovs_segments(v));
    const uint64_t words[] = { word,
                               word,
                               ovs_fresh_in(v),
                               ovs_vacant_in(v),
                               word_sign(OVS_HALF, WORD_EMPTY, 5),
                               word_sign(OVS_HALF, WORD_CLAIMED, 77) };
    to = ovs_at(v, test_below(random, 2) ? from ^ 1 : test_below(random, places));
    if (v->ranges && test_below(random, 4) == 0) {
        word = ovs_row_pack(test_below(random, 4) ? ovs_row_first(v->row[row]) : 7, test_below(random, 3));
        v->row[row] = word;
        if (o->row_there) o->row_there[row] = word;
    } else {
        *to = words[test_below(random, sizeof words / sizeof *words)];
    }
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
                                    .tables = 200,
                                    .rule_at = 4,
                                    .rules = 0xde };

/* SPDX-License-Identifier: Apache-2.0
 *
 * lives.c - see lives.h.
 */
#include "tests/lives.h"

/* ---- Shapes ---------------------------------------------------------------------------------- */

shape life_shapes[LIFE_SHAPES] = {
    { .name = "ovs", .config = { .design = "ovs", .capacity = 96, .value_bytes = 4, .ovs = { .segment_bytes = 256 } } },
    { .name = "ovs guide",
      .config = { .design = "ovs",
                  .capacity = 64,
                  .value_bytes = 4,
                  .ovs = { .segment_bytes = 128, .near_bytes = 256, .guide = HD_GUIDE_DIGEST } } },
    { .name = "ovs ranges",
      .config = { .design = "ovs",
                  .capacity = 64,
                  .value_bytes = 4,
                  .commit = HD_COMMIT_CALL,
                  .ovs = { .segment_bytes = 128, .partition = HD_PARTITION_RANGE, .copy_bytes = 64 } } },
    { .name = "ovs pairs",
      .config = { .design = "ovs", .capacity = 64, .value_bytes = 8, .ovs = { .segment_bytes = 128 } } },
    { .name = "hive", .config = { .design = "hive", .capacity = 64, .value_bytes = 4, .slots = 8 } },
    { .name = "hive masks",
      .config = { .design = "hive",
                  .capacity = 64,
                  .value_bytes = 2,
                  .slots = 8,
                  .layout = HD_LAYOUT_MASKS,
                  .commit = HD_COMMIT_CALL } },
    { .name = "gphash", .config = { .design = "gphash", .capacity = 48, .value_bytes = 4 } },
    { .name = "gphash wide",
      .config = { .design = "gphash", .capacity = 48, .value_bytes = 40, .commit = HD_COMMIT_CALL } },
    { .name = "gphash cells",
      .config = { .design = "gphash", .capacity = 48, .value_bytes = 8, .layout = HD_LAYOUT_CELLS } },
};

#define IN_PROCESS .design = "gphash", .capacity = 48, .durable = HD_DURABLE_PROCESS
shape life_process_shapes[LIFE_PROCESS_SHAPES] = {
    { .name = "gphash, process", .config = { IN_PROCESS, .value_bytes = 4 } },
    { .name = "gphash pairs, process", .config = { IN_PROCESS, .value_bytes = 8 } },
    { .name = "gphash cells, process", .config = { IN_PROCESS, .value_bytes = 8, .layout = HD_LAYOUT_CELLS } },
    { .name = "gphash wide, process", .config = { IN_PROCESS, .value_bytes = 40, .commit = HD_COMMIT_CALL } },
    { .name = "gphash far, process", .config = { IN_PROCESS, .value_bytes = 12, .gphash = { .index = HD_INDEX_FAR } } },
};

fake_device life_device;

void lives_complete(shape *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        s[i].config = test_usual_of(s[i].config);
        s[i].device = &life_device.seam;
    }
}

void lives_init(void)
{
    fake_init(&life_device);
    lives_complete(life_shapes, LIFE_SHAPES);
    lives_complete(life_process_shapes, LIFE_PROCESS_SHAPES);
}

/* ---- Calls that must go well ----------------------------------------------------------------- */

hd_table *life_open(const life *l, const char *backend, cuts *c)
{
    hd_table *t;
    must(life_table(l, backend, c, &t));
    check(!c->wrong, "%s", c->wrong);
    return t;
}

hd_table *life_start(life *l, cuts *c, const shape *s, const char *backend, uint64_t seed)
{
    test_case("%s on %s, a life of seed %llu", s->name, backend, (ull)seed);
    life_begin(l, s, backend, seed);
    cuts_begin(c, NULL);
    return life_open(l, backend, c);
}

uint64_t life_compare(const life *l, hd_table *t, uint64_t promised)
{
    uint64_t is = 0;
    const char *why = life_wrong(l, t, promised, &is);
    check(!*why, "%s", why);
    return is;
}

cuts_file life_copy(const cuts_file *f)
{
    cuts_file copy;
    check(cuts_copy(&copy, f), "no memory");
    return copy;
}

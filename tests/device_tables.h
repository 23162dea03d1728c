/* SPDX-License-Identifier: Apache-2.0
 *
 * device_tables.h - HKV tables of several shapes, on a fake device and elsewhere.
 */
#ifndef DEVICE_TABLES_H
#define DEVICE_TABLES_H

#include "tests/fake_device.h"
#include "tests/model.h"

typedef struct shape {
    const char *name;
    bool dual, pins;
    hd_layout layout;
    hd_tiers tiers;
    uint32_t value_bytes;
    uint64_t near; /* hd_hkv_config.device_value_bytes, in values */
} shape;

static inline hd_config shape_config(const shape *s, uint64_t buckets, uint32_t slots)
{
    hd_config c = hd_config_default();
    c.slots = slots;
    c.capacity = buckets * slots;
    c.value_bytes = s->value_bytes;
    c.layout = s->layout;
    c.policy = "custom";
    c.hkv.dual = s->dual;
    c.hkv.tiers = s->tiers;
    c.hkv.device_value_bytes = s->near * s->value_bytes;
    c.hkv.pins = s->pins;
    return c;
}

typedef struct bench {
    fake_device fake;
    counting memory;
    hd_table *far;
} bench;

/* page: what memory that can grow comes in; 0: it cannot. */
static inline void bench_open_config(bench *b, hd_config c, uint64_t page)
{
    fake_init(&b->fake);
    b->fake.page = page;
    counting_init(&b->memory);
    b->memory.seams.device = &b->fake.seam;
    c.backend = "cuda";
    c.seams = &b->memory.seams;
    must(hd_open(&c, &b->far));
}

static inline void bench_close(bench *b)
{
    hd_close(b->far);
    fake_settled(&b->fake);
    check(b->memory.live_bytes == 0, "%llu bytes were not given back", (unsigned long long)b->memory.live_bytes);
}

/* Both are whole, and have the same entries in the same slots. */
static inline void same_tables(hd_table *a, hd_table *b)
{
    model_contents x, y;
    must(hd_check(a));
    must(hd_check(b));
    contents_take(&x, a);
    contents_take(&y, b);
    check(contents_equal(&x, &y, true), "%llu and %llu entries, or others", (unsigned long long)x.n,
          (unsigned long long)y.n);
    contents_give(&x);
    contents_give(&y);
}

#endif

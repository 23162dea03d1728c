/* SPDX-License-Identifier: Apache-2.0
 *
 * gphash_device.c - GPHash tables, for tests/conform_device.h: both layouts, new tables and such as have grown.
 */
#include "gpu/gphash/state.h"
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
    { "gphash.mixed.warp capacity=192 index=far cache=buckets", 24 },
    { "gphash.mixed.phase capacity=192 index=near", 0 },
    { "gphash.mixed.phase capacity=192 layout=cells index=near cache=values", 24 },
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
    const gphash_view lasting = gphash_view_that_lasts((gphash_state *)(void *)((hd_cuda *)b->far->state)->state),
                      *v = &lasting;
    uint64_t places = gphash_places(v), e = test_below(random, places), from = test_below(random, places);
    const uint64_t keys[] = { *gphash_key_at(v, from), HD_KEY_LOCKED, *gphash_key_at(v, e) };
    if (v->cell_bytes && test_below(random, 2))
        *gphash_number_at(v, e) = test_below(random, 2) ? *gphash_number_at(v, from) : GPHASH_NONE;
    else
        *gphash_key_at(v, e) = keys[test_below(random, 3)];
}

/* ---- The cache ------------------------------------------------------------------------------- */

enum { HOT = 10, KEYS = 60 };

/* One batch of the hot keys; the value of hot key k is `word + k` in its first bytes. */
static void run(hd_table *t, hd_op op, uint8_t outcome, uint64_t word, void **ptr)
{
    static uint64_t key[HOT], value[HOT][5];
    uint8_t got[HOT];
    uint32_t bytes = test_info(t).value_bytes;
    uint8_t flat[sizeof value];
    for (uint64_t k = 0; k < HOT; k++) key[k] = 100 + k;
    for (uint64_t k = 0; k < HOT; k++) memcpy(flat + k * bytes, (uint64_t[5]){ word + k }, bytes);
    hd_batch b = { .op = op, .n = HOT, .key = key, .outcome = got };
    if (op == HD_OP_ASSIGN) b.value = flat;
    if (op == HD_OP_FIND) b.value_out = value;
    if (op == HD_OP_FIND_PTR) b.ptr = ptr;
    must(hd_run(t, &b));
    for (uint64_t k = 0; k < HOT; k++) {
        check(got[k] == outcome, "key %u: outcome %u", (unsigned)k, got[k]);
        bool same = memcmp((uint8_t *)value + k * bytes, (uint64_t[5]){ word + k }, bytes) == 0;
        check(op != HD_OP_FIND || outcome != HD_HIT || same, "key %u has another value", (unsigned)k);
    }
}

static void promote(hd_table *t, uint64_t least)
{
    uint64_t came = UINT64_MAX;
    hd_info info = test_info(t);
    hd_batch b = { .op = HD_OP_PROMOTE, .n = info.places, .count = &came };
    for (int n = 0; n < 64; n++) run(t, HD_OP_CONTAINS, HD_HIT, 0, NULL), run(t, HD_OP_FIND, HD_HIT, 7000, NULL);
    must(hd_run(t, &b));
    check(came >= least && came <= info.gphash.cached, "%u copies", (unsigned)came);
}

/* Lookups read copies, which show what batches, and callers with pointers, have changed. */
static void copies_are_right(void **unused)
{
    static const char *const tables[] = { "value=8 index=far cache=buckets", "value=16 index=far cache=values",
                                          "value=40 index=near cache=values" };
    (void)unused;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        hd_case c;
        bench b;
        void *ptr[HOT];
        char text[128];
        snprintf(text, sizeof text, "gphash.find.quad capacity=96 %s cached=40", tables[i]);
        test_case("%s", text);
        must(hd_case_parse(text, &c));
        bench_open_config(&b, hd_case_config(&c), 4096);
        fill_dictionary(b.far, KEYS / 2, 3);
        for (uint64_t k = 0; k < HOT; k++) check(test_put(b.far, 100 + k, 1) == HD_INSERTED, "a key");
        run(b.far, HD_OP_ASSIGN, HD_UPDATED, 7000, NULL);
        promote(b.far, 1);
        /* what is behind a copy is not looked at */
        fake_let_in(&b.fake);
        const gphash_view v = gphash_view_that_lasts((gphash_state *)(void *)((hd_cuda *)b.far->state)->state);
        uint64_t e = gphash_find(&v, 103), was;
        memcpy(&was, gphash_value(&v, e), sizeof was);
        memset(gphash_value(&v, e), 0x5a, sizeof was);
        run(b.far, HD_OP_FIND, HD_HIT, 7000, NULL);
        memcpy(gphash_value(&v, e), &was, sizeof was);
        if (v.cell_bytes || !strstr(text, "near")) {
            run(b.far, HD_OP_FIND_PTR, HD_HIT, 0, ptr);
            for (uint64_t k = 0; k < HOT; k++) memcpy(ptr[k], (uint64_t[1]){ 9000 + k }, sizeof(uint64_t));
            run(b.far, HD_OP_FIND, HD_HIT, 9000, NULL);
        }
        run(b.far, HD_OP_ASSIGN, HD_UPDATED, 7000, NULL);
        run(b.far, HD_OP_FIND, HD_HIT, 7000, NULL);
        promote(b.far, 0);
        must(hd_grow(b.far, test_info(b.far).buckets + 1));
        run(b.far, HD_OP_FIND, HD_HIT, 7000, NULL);
        promote(b.far, 1);
        run(b.far, HD_OP_ERASE, HD_ERASED, 0, NULL);
        run(b.far, HD_OP_FIND, HD_MISS, 0, NULL);
        must(hd_check(b.far));
        bench_close(&b);
    }
}

static const struct CMUnitTest tests[] = { unit(copies_are_right) };

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
                                    .rules = 0x1e,
                                    .tests = tests,
                                    .tests_n = 1 };

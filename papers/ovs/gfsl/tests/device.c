/* SPDX-License-Identifier: Apache-2.0
 *
 * device.c - the skip list, for tests/conform_device.h. Then each rule of hd_check broken alone.
 */
#include "gfsl/gpu/state.h"
#include "gfsl/ref/gfsl.h"
#include "tests/conform_device.h"
#include "workload/case.h"

/* Cases whose table is opened. */
static const char *const shapes[] = {
    "gfsl.mixed.chunk buckets=80 slots=6",
    "gfsl.mixed.chunk buckets=30 slots=14",
    "gfsl.mixed.chunk buckets=20 slots=30",
    "gfsl.mixed.chunk buckets=180 slots=6 level_pools=1 far=data unsorted=1",
    "gfsl.mixed.chunk buckets=40 slots=14 far=all keys_per_block=5 blocks=3",
    "gfsl.mixed.chunk buckets=180 slots=6 level_pools=1 keys_per_block=100",
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static const char *name(size_t i) { return shapes[i]; }

static hd_config config(size_t shape)
{
    static hd_case c[SHAPES];
    must(hd_case_parse(shapes[shape], &c[shape]));
    return hd_case_config(&c[shape]);
}

static gfsl_table_state *state_of(bench *b) { return (gfsl_table_state *)(void *)((hd_cuda *)b->far->state)->state; }

/* Word `to` becomes what word `from` is, with some bits, and more. Far chunks are in this machine's memory. */
static void change_word(bench *b, uint64_t *to, const uint64_t *from, uint64_t bits, uint64_t more)
{
    const gfsl_table_state *o = state_of(b);
    bool far = o->v.near == 0 && to != o->v.head && to != o->v.head + GFSL_USED;
    uint64_t is = ((far ? *from : bench_get(b, from, 8)) | bits) + more;
    if (far)
        *to = is;
    else
        bench_put(b, to, is, 8);
}

/* Words of the table that are not as they should be. */
static void damage_is_told(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < SHAPES; i++)
        for (int how = 0; how < 4; how++) {
            static const char *const says[] = { "GFSL-1", "GFSL-3", "GFSL-4", "GFSL-3" };
            bench b;
            test_case("%s, %d", shapes[i], how);
            device_open(&b, i);
            fill_dictionary(b.far, b.far->info.capacity / 3, 3);
            must(hd_check(b.far));
            gfsl_view v = state_of(&b)->v;
            uint64_t *first = gfsl_at(&v, 0), *seal = first + v.slots + 1, *used = v.head + GFSL_USED;
            if (how == 0) change_word(&b, first + 1, first, 0, 0); /* a key twice */
            if (how == 1) change_word(&b, seal, seal, GFSL_LOCKED, 0);
            if (how == 2) change_word(&b, v.head, v.head, 0, 1);
            if (how == 3) change_word(&b, used, used, 0, 1);
            must_fail(hd_check(b.far), HD_ECORRUPT, says[how]);
            bench_close(&b);
        }
}

static const struct CMUnitTest tests[] = { unit(damage_is_told) };

const device_design device_this = { .shapes = SHAPES,
                                    .name = name,
                                    .config = config,
                                    .part = 640,
                                    .roams = true,
                                    .stride = 8,
                                    .full = 3,
                                    .tests = tests,
                                    .tests_n = sizeof tests / sizeof *tests };

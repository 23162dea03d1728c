/* SPDX-License-Identifier: Apache-2.0
 *
 * ovs_device.c - the tables larger than the device's memory, for tests/conform_device.h: segments that are near, and
 * some in this machine's memory. Copies of entries of the latter.
 */
#include <stdlib.h>

#include "gpu/ovs/state.h"
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

/* The least device memory of the table, as the refusal of less says it. */
static uint64_t least_near(hd_table *t)
{
    must_fail(hd_set_near(t, 1), HD_EINVAL, "near: 1 bytes");
    const char *at = hd_why() + strlen("near: 1 bytes");
    return strtoull(at + strcspn(at, "0123456789"), NULL, 10);
}

static void opened(hd_table *t, size_t i) { must(hd_set_near(t, least_near(t) + shapes[i].near)); }

static ovs_state *state_of(bench *b)
{
    fake_let_in(&b->fake);
    return (ovs_state *)(void *)((hd_cuda *)b->far->state)->state;
}

/* A word becomes another, or a row of the directory and of the device's copy of it. */
static void damage(bench *b, uint64_t *random)
{
    ovs_state *o = state_of(b);
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

/* ---- Copies ---------------------------------------------------------------------------------- */

/* A batch by a kernel, of keys that are there. */
static void run_all(hd_table *t, hd_op op, const char *kernel, const uint64_t *key, uint64_t n)
{
    uint32_t *value = (uint32_t *)test_alloc(n, sizeof *value);
    uint8_t *outcome = (uint8_t *)test_alloc(n, 1);
    bool finds = op == HD_OP_FIND;
    for (uint64_t i = 0; i < n; i++) value[i] = finds ? 0 : (uint32_t)key[i] + 7;
    hd_batch b = test_batch(op, n, key, finds ? NULL : value, outcome);
    b.kernel = kernel;
    if (finds) b.value_out = value;
    must(hd_run(t, &b));
    for (uint64_t i = 0; i < n; i++)
        check(value[i] == (uint32_t)key[i] + 7 && outcome[i] != HD_PENDING && outcome[i] != HD_MISS,
              "key %llu: %s, value %u", (ull)key[i], hd_outcome_name((hd_outcome)outcome[i]), value[i]);
    free(outcome);
    free(value);
}

/* Half of all lookups are of a tenth of the keys. There are copies for a fifth. */
static void hot_keys_keep_copies(void **unused)
{
    enum { KEYS = 600, HOT = KEYS / 10, BATCH = 64, TABLES = 4 };
    (void)unused;
    for (uint64_t i = 0; i < TABLES; i++) {
        bench b;
        hd_case c;
        uint64_t key[KEYS], random = i, all = 0, hot = 0;
        must(hd_case_parse("ovs.find.sorted capacity=1536 segment=1024 copies=960", &c));
        bench_open_config(&b, hd_case_config(&c), 4096);
        must(hd_set_near(b.far, least_near(b.far)));
        for (uint64_t k = 0; k < KEYS; k++) key[k] = k;
        for (int k = 0; k < 2; k++) run_all(b.far, HD_OP_INSERT_OR_ASSIGN, "flip", key, KEYS);
        const ovs_view *v = &state_of(&b)->v;
        for (uint64_t k = 0; k < ovs_copy_words(v); k++) check(!v->copy[k], "an update made copies");
        for (int k = 0; k < 300; k++) {
            for (uint64_t j = 0; j < BATCH; j++) key[j] = test_below(&random, j % 2 ? HOT : (uint64_t)KEYS);
            run_all(b.far, HD_OP_FIND, "sorted", key, BATCH);
        }
        v = &state_of(&b)->v;
        for (uint64_t k = 0; k < ovs_copy_words(v); k++) {
            all += v->copy[k] != 0;
            hot += v->copy[k] && ovs_key_of(~v->copy[k]) < HOT;
        }
        check(all == ovs_copy_words(v), "%llu of %llu places are used", (ull)all, (ull)ovs_copy_words(v));
        check(hot >= HOT * 3 / 4, "%llu of %d keys have copies", (ull)hot, HOT);
        must(hd_check(b.far));
        bench_close(&b);
    }
    test_tried("device memory", TABLES, "of copies, and which keys have them");
}

/* Copies of any words, in any sets: hd_check says what the reference says of the same memory. */
static void wrong_copies_are_found(void **unused)
{
    bench b;
    hd_case c;
    uint64_t random = 3;
    unsigned broken = 0;
    (void)unused;
    must(hd_case_parse("ovs.find.sorted capacity=768 segment=1024 copies=512", &c));
    bench_open_config(&b, hd_case_config(&c), 4096);
    must(hd_set_near(b.far, least_near(b.far) + 3 * 1024));
    fill_dictionary(b.far, 500, 1);
    for (int k = 0; k < 400; k++) {
        const ovs_view *v = &state_of(&b)->v;
        char here[256];
        uint64_t word = *ovs_at(v, test_below(&random, ovs_places(v))) + (uint64_t)(k % 3 == 0),
                 at = test_below(&random, ovs_copy_words(v));
        if (k % 2) at = ovs_copy_number(v, ovs_hash(v, ovs_key_of(word))) * OVS_COPIES + at % OVS_COPIES;
        v->copy[at] = ~word;
        ovs_check(v, here, sizeof here);
        if (here[0]) broken |= 1u << ovs_copy_wrong(v, at, ~word);
        test_case("damage %d: %s", k, here);
        hd_status status = hd_check(b.far);
        check(status == (here[0] ? HD_ECORRUPT : HD_OK) && (!status || !strcmp(hd_why(), here)), "%s", hd_why());
        state_of(&b)->v.copy[at] = 0;
    }
    check(broken == (1u << OVS_COPY_SIGN | 1u << OVS_COPY_PLACE | 1u << OVS_COPY_NEAR | 1u << OVS_COPY_RULES),
          "the rules that were broken: %x", broken);
    bench_close(&b);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

/* A table opens with the least memory that the refusal names, copies among it, and with no byte less. */
static void tables_open_within_the_limit(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < SHAPES; i++) {
        bench b;
        hd_config c = config(i);
        if (c.ovs.copy_bytes) c.ovs.copy_bytes = 1 << 18; /* more than what is rounded up */
        bench_open_config(&b, c, 4096);
        c.ovs.near_bytes = least_near(b.far) - 1;
        bench_close(&b);
        bench_begin(&b);
        c.backend = "cuda";
        c.seams = &b.memory.seams;
        test_case("%s, near=%llu", name(i), (ull)c.ovs.near_bytes);
        must_fail(hd_open(&c, &b.far), HD_EINVAL, "that the table's kernels need");
        c.ovs.near_bytes++;
        bench_open_table(&b, c);
        check(b.fake.peak_bytes <= c.ovs.near_bytes, "%llu bytes taken", (ull)b.fake.peak_bytes);
        bench_close(&b);
    }
}

static const struct CMUnitTest tests[] = { unit(hot_keys_keep_copies), unit(wrong_copies_are_found),
                                           unit(tables_open_within_the_limit) };

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
                                    .rules = 0xde,
                                    .tests = tests,
                                    .tests_n = sizeof tests / sizeof *tests };

/* SPDX-License-Identifier: Apache-2.0
 *
 * t_case.c - case strings: a printed case parses to the same case; an invalid word is refused, and the error suggests
 * the nearest one.
 */
#include <string.h>

#include "workload/case.h"
#include "base/parse.h"
#include "tests/testing.h"

static bool same(const hd_case *a, const hd_case *b)
{
    return !strcmp(a->design, b->design) && !strcmp(a->op, b->op) && !strcmp(a->kernel, b->kernel) &&
           !strcmp(a->policy, b->policy) && !strcmp(a->lock, b->lock) && !strcmp(a->keys, b->keys) &&
           a->buckets == b->buckets && a->capacity == b->capacity && a->slots == b->slots &&
           a->value_bytes == b->value_bytes && a->table.hive.hashes == b->table.hive.hashes &&
           a->table.hive.spare == b->table.hive.spare && !strcmp(a->table.hive.hash, b->table.hive.hash) &&
           a->table.hkv.dual == b->table.hkv.dual && a->distinct == b->distinct &&
           a->table.hkv.admit == b->table.hkv.admit && a->table.hkv.tiers == b->table.hkv.tiers &&
           a->table.hkv.device_value_bytes == b->table.hkv.device_value_bytes &&
           a->table.hkv.fetch == b->table.hkv.fetch && a->table_seed == b->table_seed &&
           a->epoch_every == b->epoch_every && a->table.hkv.pins == b->table.hkv.pins && a->threads == b->threads &&
           a->batch == b->batch && a->batches == b->batches && a->seed == b->seed &&
           a->reserved_ppm == b->reserved_ppm && a->duplicate_ppm == b->duplicate_ppm &&
           a->table.clock == b->table.clock && a->extreme_ppm == b->extreme_ppm && a->raw_ppm == b->raw_ppm &&
           a->small == b->small && a->judge == b->judge;
}

static void usual_is_short(void)
{
    char text[64];
    hd_case usual = hd_case_default(), c;
    hd_case_print(&usual, text, sizeof text);
    assert_string_equal(text, "hkv.serve.ref");
    must(hd_case_parse(text, &c));
    assert_true(same(&usual, &c));
    must(hd_case_parse("", &c));
    assert_true(same(&usual, &c));
}

/* A number with few or many digits, within [least, most]. */
static uint64_t any(uint64_t *r, uint64_t least, uint64_t most)
{
    uint64_t v = test_random(r) >> test_below(r, 64);
    return v < least ? least : v > most ? most : v;
}

static hd_case any_case(uint64_t *r)
{
    static const char *const ops[] = { "mix", "serve", "find", "insert_and_evict" },
                             *const policies[] = { "lru", "lfu", "custom", "epoch_lru" },
                             *const locks[] = { "rw", "none", "exclusive" },
                             *const keys[] = { "zipf:0.99,1Mi", "uniform:400", "txt:a=b.txt" };
    hd_case c = hd_case_default();
    strcpy(c.op, ops[test_below(r, 4)]);
    strcpy(c.policy, policies[test_below(r, 4)]);
    strcpy(c.lock, locks[test_below(r, 3)]);
    strcpy(c.keys, keys[test_below(r, 3)]);
    if (test_below(r, 2)) c.buckets = any(r, 0, 1ull << 40);
    if (test_below(r, 2)) c.capacity = any(r, 1, 1ull << 48);
    if (test_below(r, 2)) c.slots = (uint32_t)any(r, 2, 4096);
    if (test_below(r, 2)) c.value_bytes = (uint32_t)any(r, 0, 65536);
    if (test_below(r, 2)) c.table.hive.hashes = 3;
    if (test_below(r, 2)) strcpy(c.table.hive.hash, "crc64,city32");
    if (test_below(r, 2)) c.table.hive.spare = (uint32_t)any(r, 1, UINT32_MAX);
    c.table.hkv.dual = test_below(r, 2), c.distinct = test_below(r, 2), c.judge = test_below(r, 2),
    c.small = test_below(r, 2);
    c.table.hkv.admit = test_below(r, 2) ? HD_ADMIT_ALWAYS : HD_ADMIT_SCORE;
    c.table.hkv.tiers = test_below(r, 2) ? HD_TIERS_POSITION : HD_TIERS_BUCKET;
    c.table.hkv.fetch = (hd_fetch)test_below(r, 3);
    c.table.clock = test_below(r, 2) ? HD_CLOCK_DEVICE : HD_CLOCK_LOGICAL;
    if (test_below(r, 2)) c.table.hkv.device_value_bytes = any(r, 0, UINT64_MAX);
    if (test_below(r, 2)) c.table_seed = any(r, 0, UINT64_MAX);
    if (test_below(r, 2)) c.epoch_every = (uint32_t)any(r, 0, UINT32_MAX);
    if (test_below(r, 2)) c.table.hkv.pins = (uint32_t)any(r, 0, 1u << 30);
    if (test_below(r, 2)) c.threads = (uint32_t)any(r, 0, 4096);
    if (test_below(r, 2)) c.batch = any(r, 1, 1ull << 32);
    if (test_below(r, 2)) c.batches = any(r, 0, 1ull << 40);
    if (test_below(r, 2)) c.seed = any(r, 0, UINT64_MAX);
    if (test_below(r, 2)) c.reserved_ppm = (uint32_t)any(r, 0, 1000000);
    if (test_below(r, 2)) c.duplicate_ppm = (uint32_t)any(r, 0, 1000000);
    if (test_below(r, 2)) c.extreme_ppm = (uint32_t)any(r, 0, 1000000);
    if (test_below(r, 2)) c.raw_ppm = (uint32_t)any(r, 0, 1000000);
    return c;
}

static void printed_parses_back(void)
{
    uint64_t r = 1;
    for (int i = 0; i < 20000; i++) {
        char text[1024], again[1024];
        hd_case c = any_case(&r), back;
        size_t n = hd_case_print(&c, text, sizeof text);
        test_case("%s", text);
        check(n == strlen(text), "the length is said to be %zu", n);
        must(hd_case_parse(text, &back));
        check(same(&c, &back), "it parses to another case");
        hd_case_print(&back, again, sizeof again);
        assert_string_equal(text, again);
    }
}

static void short_room(void)
{
    uint64_t r = 2;
    char whole[1024];
    hd_case c = any_case(&r);
    size_t n = hd_case_print(&c, whole, sizeof whole);
    for (size_t room = 0; room <= n + 1; room++) {
        char text[1024];
        memset(text, '#', sizeof text);
        check(hd_case_print(&c, text, room) == n, "another length for room %zu", room);
        check(text[room] == '#', "written beyond room %zu", room);
        if (room == 0) continue;
        check(strlen(text) == (room <= n ? room - 1 : n) && strncmp(text, whole, strlen(text)) == 0, "room %zu: %s",
              room, text);
    }
}

static void any_order(void)
{
    hd_case a, b;
    must(hd_case_parse("hkv.mix.ref policy=lfu buckets=4 slots=32 batch=64x4 keys=uniform:400 seed=2", &a));
    must(hd_case_parse(" seed=2\tkeys=uniform:400 \n mix batch=64x4 slots=32 buckets=4  policy=lfu ", &b));
    assert_true(same(&a, &b));
    must(hd_case_parse("capacity=1Mi value=0x10 batch=4Ki", &a));
    assert_int_equal(a.capacity, 1 << 20);
    assert_int_equal(a.value_bytes, 16);
    assert_int_equal(a.batch, 4096);
    assert_int_equal(a.batches, hd_case_default().batches);
}

static void configures(void)
{
    hd_case c;
    hd_table *t;
    hd_info info;
    must(hd_case_parse("policy=custom lock=exclusive buckets=5 slots=7 value=24 dual=1 admit=always tiers=position "
                       "near=100 fetch=sorted table_seed=9 pins=3 threads=2",
                       &c));
    hd_config f = hd_case_config(&c);
    must(hd_open(&f, &t));
    must(hd_table_info(t, &info));
    hd_close(t);
    assert_string_equal(info.policy, "custom");
    assert_string_equal(info.lock, "exclusive");
    assert_int_equal(info.buckets, 5);
    assert_int_equal(info.capacity, 35);
    assert_int_equal(info.value_bytes, 24);
    assert_int_equal(info.hkv.dual, true);
    assert_int_equal(info.hkv.admit, HD_ADMIT_ALWAYS);
    assert_int_equal(info.hkv.tiers, HD_TIERS_POSITION);
    assert_int_equal(info.hkv.device_value_bytes, 100);
    assert_int_equal(info.hkv.fetch, HD_FETCH_SORTED);
    assert_int_equal(info.values_device_bytes, 96); /* four of 35 */
    assert_int_equal(info.values_host_bytes, 31 * 24);
    assert_int_equal(info.seed, 9);
    assert_int_equal(info.hkv.pins, 3);
    assert_int_equal(info.threads, 2);
    must(hd_case_parse("hive.mixed.ref buckets=3 slots=16 hashes=3 hash=crc64,city32,mix64 spare=5 layout=masks", &c));
    f = hd_case_config(&c);
    must(hd_open(&f, &t));
    must(hd_table_info(t, &info));
    hd_close(t);
    assert_int_equal(info.hive.hashes, 3);
    assert_int_equal(info.hive.spare, 5);
    assert_string_equal(info.hive.hash, "crc64,city32,mix64");
    assert_int_equal(info.layout, HD_LAYOUT_MASKS);
}

static const test_refusal bad[] = { { "polcy=lru", "nearest: policy" },
                                    { "POLICY=lru", "nearest: policy" },
                                    { "policy=lru policy=lfu", "'policy=' is given twice" },
                                    { "hkv.find.ref batch=1x1 seed=2 batch=1x1", "'batch=' is given twice" },
                                    { "policy=lruu", "lru" },
                                    { "lock=rv", "rw" },
                                    { "admit=allways", "always" },
                                    { "insert_or_asign", "insert_or_assign" },
                                    { "hkv.fnd.ref", "find" },
                                    { "hkv.find", "DESIGN.OP.KERNEL" },
                                    { "hkv.find.ref.more", "DESIGN.OP.KERNEL" },
                                    { "find find", "NAME=VALUE" },
                                    { "slots=1", "slots" },
                                    { "slots=4097", "slots" },
                                    { "slots=", "slots" },
                                    { "slots=many", "slots" },
                                    { "slots=-4", "slots" },
                                    { "value=65537", "value" },
                                    { "dual=2", "dual" },
                                    { "dual=yes", "dual" },
                                    { "capacity=0", "capacity" },
                                    { "buckets=99999999999999", "buckets" },
                                    { "batch=0x4", "batch" },
                                    { "batch=4x", "batch" },
                                    { "batch=x4", "batch" },
                                    { "batch=4x4x4", "batch" },
                                    { "reserved=1000001", "reserved" },
                                    { "seed=18446744073709551616", "seed" },
                                    { "threads=5000", "threads" },
                                    { "keys=", "keys" },
                                    { "=3", "case" },
                                    { "..", "design" },
                                    { "hkv..ref", "op" },
                                    { "hkv.find.", "kernel" },
                                    { "averyveryverylongdesign.find.ref", "design" },
                                    { "batch=0000000000000000000000000000000000000000000000000000000000000064x4",
                                      "is not NxM" } };

static void refusals(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        hd_case c, before;
        memset(&c, 0x5a, sizeof c);
        before = c;
        test_case("%s", bad[i].text);
        must_fail(hd_case_parse(bad[i].text, &c), HD_EINVAL, bad[i].word);
        check(memcmp(&c, &before, sizeof c) == 0, "the case was changed all the same");
    }
}

/* The parser accepts a kernel that does not exist, or not in that design: the table or the batch refuses it. The
 * backend is then the default. */
static void unknown_kernels(void)
{
    static const char *const cases[] = { "hkv.find.nobodys", "other.find.warp" };
    for (int k = 0; k < 2; k++) {
        hd_case c;
        hd_table *t = NULL;
        must(hd_case_parse(cases[k], &c));
        hd_config f = hd_case_config(&c);
        assert_string_equal(f.backend, hd_config_default().backend);
        if (k == 1) must_fail(hd_open(&f, &t), HD_EINVAL, "design: there is no 'other'");
    }
    hd_case c;
    must(hd_case_parse("hkv.find.warp", &c));
    assert_string_equal(hd_case_config(&c).backend, "host");
}

/* A kernel's former name is its present one. */
static void renamed_kernels(void)
{
    static const char *const cases[][2] = { { "hkv.find.gather", "coalesced" }, { "hive.mixed.volley", "batched" } };
    for (int k = 0; k < 2; k++) {
        hd_case c;
        must(hd_case_parse(cases[k][0], &c));
        assert_string_equal(c.kernel, cases[k][1]);
        assert_string_equal(hd_case_config(&c).backend, "host");
        hd_config f = hd_case_config(&c);
        hd_table *t;
        must(hd_open(&f, &t));
        uint64_t key[2] = { 1, 2 };
        uint8_t outcome[2];
        hd_batch b = { .op = HD_OP_FIND, .n = 2, .key = key, .outcome = outcome, .kernel = k ? "volley" : "gather" };
        must(hd_run(t, &b));
        assert_non_null(strstr(b.ran, cases[k][1]));
        hd_close(t);
    }
}

/* What is a whole number, and what a size; what is a number at all. */
static void numbers(void)
{
    static const char none[] = "is not a whole number", none_at_all[] = "is not a number";
    static const struct {
        const char *text, *word; /* NULL: it is one */
        uint64_t least, most, is;
    } whole[] = { { "0", NULL, 0, 9, 0 },
                  { "18446744073709551615", NULL, 0, UINT64_MAX, UINT64_MAX },
                  { "0x1F", NULL, 0, 99, 31 },
                  { "0X1f", NULL, 0, 99, 31 },
                  { "3k", NULL, 0, 9999, 3000 },
                  { "16Gi", NULL, 0, UINT64_MAX, 1ull << 34 },
                  { "", none, 0, 9, 0 },
                  { " 1", none, 0, 9, 0 },
                  { "-1", none, 0, 9, 0 },
                  { "+1", none, 0, 9, 0 },
                  { "1 ", none, 0, 9, 0 },
                  { "0x", none, 0, 9, 0 },
                  { "1K", none, 0, 9999, 0 },
                  { "1.5", none, 0, 9, 0 },
                  { "4", "outside 5 to 9", 5, 9, 0 },
                  { "10", "outside 5 to 9", 5, 9, 0 },
                  { "18446744073709551616", "outside", 0, UINT64_MAX, 0 },
                  { "17179869184Gi", "outside", 0, UINT64_MAX, 0 },
                  { "18446744073709551616k", "outside", 0, UINT64_MAX, 0 } };
    static const struct {
        const char *text, *word;
        double is;
    } any[] = { { "0.5", NULL, 0.5 },
                { "-2", NULL, -2 },
                { "1e0", NULL, 1 },
                { "", none_at_all, 0 },
                { " 1", none_at_all, 0 },
                { "1 ", none_at_all, 0 },
                { "1x", none_at_all, 0 },
                { "x", none_at_all, 0 },
                { "inf", none_at_all, 0 },
                { "nan", none_at_all, 0 },
                { "1e999", none_at_all, 0 },
                { "3.5", "outside -2 to 3", 0 },
                { "-2.5", "outside -2 to 3", 0 } };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        uint64_t v = 12345;
        test_case("whole number '%s'", whole[i].text);
        hd_status s = hd_parse_u64("it", whole[i].text, whole[i].least, whole[i].most, &v);
        if (whole[i].word)
            must_fail(s, HD_EINVAL, whole[i].word);
        else
            must(s);
        check(v == (whole[i].word ? 12345 : whole[i].is), "it is %llu", (ull)v);
    }
    for (size_t i = 0; i < sizeof any / sizeof *any; i++) {
        double v = 12345;
        test_case("number '%s'", any[i].text);
        hd_status s = hd_parse_double("it", any[i].text, -2, 3, &v);
        if (any[i].word)
            must_fail(s, HD_EINVAL, any[i].word);
        else
            must(s);
        check(v == (any[i].word ? 12345 : any[i].is), "it is %g", v);
    }
}

/* Which words were there is not which fields differ from the usual. */
static void set_fields(void)
{
    hd_case c;
    char text[200];
    must(hd_case_parse("hkv.find.ref slots=128 batch=5", &c));
    check(hd_case_has(&c, "slots") && hd_case_has(&c, "batch"), "what was said is not known");
    check(!hd_case_has(&c, "keys") && !hd_case_has(&c, "none"), "more is known than was said");
    must(hd_case_set(&c, "slots", "16"));
    must(hd_case_set(&c, "pins", "3"));
    check(c.slots == 16 && c.table.hkv.pins == 3 && hd_case_has(&c, "pins"), "a field was not set");
    must_fail(hd_case_set(&c, "batch", "7x0x"), HD_EINVAL, "batch");
    must_fail(hd_case_set(&c, "slits", "7"), HD_EINVAL, "slots");
    check(c.batch == 5 && c.batches == 256, "a refused word has changed the case");
    hd_case_print(&c, text, sizeof text);
    check(strcmp(text, "hkv.find.ref slots=16 pins=3 batch=5x256") == 0, "printed: %s", text);
}

static void long_words(void)
{
    char text[2048] = "keys=";
    hd_case c;
    memset(text + 5, 'k', 255);
    must(hd_case_parse(text, &c));
    memset(text + 5, 'k', 256);
    must_fail(hd_case_parse(text, &c), HD_EINVAL, "keys");
    memset(text + 5, 'k', 1000);
    must_fail(hd_case_parse(text, &c), HD_EINVAL, "word");
}

static const struct CMUnitTest cases[] = {
    unit(usual_is_short), unit(printed_parses_back), unit(short_room), unit(any_order),       unit(configures),
    unit(refusals),       unit(set_fields),          unit(long_words), unit(unknown_kernels), unit(renamed_kernels),
    unit(numbers)
};

int main(void) { return test_run(cases); }

/* SPDX-License-Identifier: Apache-2.0
 *
 * t_sl.c - the reference of design sl: how segments split, join and give their homes back; PENDING, and the load factor
 * at which it begins; growing and shrinking; the places of a file's entries.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/table.h"
#include "ref/sl/sl.h"
#include "tests/model.h"

enum { FIT = 16 }; /* entries of a segment of 128 bytes with values of 4 */

static hd_table *table_of(uint64_t homes)
{
    return test_table(.design = "sl", .capacity = homes * FIT, .value_bytes = 4, .sl.segment_bytes = 128);
}

static sl_view *view_in(hd_table *t) { return sl_view_of(t->state); }

static hd_outcome put(hd_table *t, uint64_t key)
{
    hd_outcome o = test_put(t, key, key + 7);
    must(hd_check(t));
    return o;
}

static void take(hd_table *t, uint64_t key)
{
    check(test_erase(t, key) == HD_ERASED, "key %llu is not there", (ull)key);
    must(hd_check(t));
}

static void put_all(hd_table *t, uint64_t from, uint64_t to)
{
    for (uint64_t k = from; k < to; k++) check(put(t, k) == HD_INSERTED, "key %llu", (ull)k);
}

static void take_all(hd_table *t, uint64_t from, uint64_t to)
{
    for (uint64_t k = from; k < to; k++) take(t, k);
}

static void buckets_are(hd_table *t, uint64_t n)
{
    check(test_info(t).buckets == n, "%llu buckets, and not %llu", (ull)test_info(t).buckets, (ull)n);
}

/* The directory is these segments, as "16@0 1@1": how many entries, and the home, of each. */
static void directory_is(hd_table *t, const char *segments)
{
    const sl_view *v = view_in(t);
    char text[512] = "";
    size_t used = 0;
    for (uint64_t k = 0; k < v->rows && used < sizeof text; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u@%u", k ? " " : "", sl_count(v, k), v->home[k]);
    check(strcmp(text, segments) == 0, "the segments are %s", text);
}

/* ---- Segments -------------------------------------------------------------------------------- */

/* Ascending keys fill each segment; others split a full one in the middle. */
static void splits(void)
{
    hd_table *t = table_of(4);
    for (uint64_t k = 1; k <= FIT; k++) put(t, 10 * k);
    directory_is(t, "16@0");
    put(t, 10 * (FIT + 1)); /* above all others */
    directory_is(t, "16@0 1@1");
    check(view_in(t)->bound[1] == 170, "it begins with %llu", (ull)view_in(t)->bound[1]);
    put(t, 165); /* above all of a full segment that is not the last: split, into the upper half */
    directory_is(t, "8@0 9@2 1@1");
    check(view_in(t)->bound[1] == 90 && sl_find(view_in(t), 165) == 2 * FIT + 8, "165 is elsewhere");
    put_all(t, 81, 89);
    directory_is(t, "16@0 9@2 1@1"); /* below bound 90 */
    put(t, 1);                       /* the lower half */
    directory_is(t, "9@0 8@3 9@2 1@1");
    hd_close(t);
}

/* Neighbours that fill half of a segment together are joined, the lower one first; an empty one goes. */
static void joins(void)
{
    hd_table *t = table_of(4);
    put_all(t, 0, 2 * FIT + 1);
    directory_is(t, "16@0 16@1 1@2");
    take(t, 32); /* the last segment is empty */
    directory_is(t, "16@0 16@1");
    take_all(t, 0, FIT); /* the first one: the next begins at 0 */
    directory_is(t, "16@1");
    check(view_in(t)->bound[0] == 0, "keys below %llu have no segment", (ull)view_in(t)->bound[0]);
    put(t, 3); /* split: home 0 is free again */
    directory_is(t, "9@1 8@0");
    take_all(t, 24, 32);
    directory_is(t, "9@1");
    take(t, 3);
    take_all(t, 16, 24);
    directory_is(t, "0@1"); /* the only one stays */
    put(t, 5);
    directory_is(t, "1@1");
    must(hd_clear(t));
    directory_is(t, "0@0");
    hd_close(t);
}

/* Of three full segments so many entries are left; then one more of the middle one goes, and three of the first. */
static void joins_of_both_sides(void)
{
    static const struct {
        uint64_t left[3];
        const char *before, *after, *later;
    } rows[] = {
        { { 4, 5, 16 }, "4@0 5@1 16@2", "8@0 16@2", "5@0 16@2" },
        { { 16, 5, 4 }, "16@0 5@1 4@2", "16@0 8@1", "13@0 8@1" },
        { { 16, 5, 16 }, "16@0 5@1 16@2", "16@0 4@1 16@2", "13@0 4@1 16@2" },
        { { 3, 6, 3 }, "3@0 6@1 3@2", "8@0 3@2", "8@0" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint64_t *left = rows[i].left, middle = 2 * FIT - left[1];
        hd_table *t = table_of(4);
        test_case("%s", rows[i].before);
        put_all(t, 0, 3 * FIT);
        take_all(t, left[0], FIT);
        take_all(t, 2 * FIT + left[2], 3 * FIT);
        take_all(t, FIT, middle);
        directory_is(t, rows[i].before);
        take(t, middle);
        directory_is(t, rows[i].after);
        take_all(t, 0, 3);
        directory_is(t, rows[i].later);
        hd_close(t);
    }
}

/* erase_if settles all segments at once. */
static void sweeps(void)
{
    for (uint64_t kept = 0; kept < 6; kept++) {
        hd_table *t = table_of(8);
        uint64_t count = 0, size, n = 0;
        put_all(t, 0, 6 * FIT);
        /* of each segment but number `kept` all; of the others a quarter */
        must(hd_erase_if(t, "key_masked", 1, 0, &count));
        must(hd_check(t));
        must(hd_erase_if(t, "key_masked", 2, 0, &n));
        count += n;
        must(hd_check(t));
        must(hd_erase_if(t, "key_in", kept ? 0 : FIT, kept ? kept * FIT - 1 : UINT64_MAX, &n));
        must(hd_check(t));
        size = test_size(t);
        test_case("kept %llu", (ull)kept);
        check(count == 6 * FIT * 3 / 4 && size + n == 6 * FIT / 4, "%llu erased, %llu left", (ull)(count + n),
              (ull)size);
        check(size == (kept ? (6 - kept) * FIT / 4 : FIT / 4), "%llu left", (ull)size);
        check(view_in(t)->rows <= 3, "%llu segments", (ull)view_in(t)->rows);
        must(hd_erase_if(t, "all", 0, 0, &n));
        must(hd_check(t));
        check(n == size && view_in(t)->rows == 1, "%llu segments of an empty table", (ull)view_in(t)->rows);
        for (uint64_t k = 0; k < 8; k++) check(put(t, 8 - k) == HD_INSERTED, "key %llu", (ull)(8 - k));
        hd_close(t);
    }
}

/* ---- PENDING --------------------------------------------------------------------------------- */

/* Without a free home a full segment takes no key, and the others do. Nothing has happened to the item. */
static void pending(void)
{
    hd_table *t = table_of(2);
    for (uint64_t k = 0; k < FIT; k++) put(t, 10 * k);
    put(t, 5); /* 9 and 8 */
    put_all(t, 11, 18);
    directory_is(t, "16@0 8@1");
    check(put(t, 18) == HD_PENDING && put(t, 1000) == HD_INSERTED && put(t, 11) == HD_UPDATED, "24 of 32 entries");
    directory_is(t, "16@0 9@1");
    put_all(t, 2000, 2007);
    check(put(t, 3000) == HD_PENDING && put(t, 500) == HD_PENDING, "all 32 entries"); /* above all others, too */
    hd_close(t);
}

/* Inserts the keys of a rule until one is PENDING. */
static double load_at_first(hd_table *t, uint64_t (*key)(uint64_t k, uint64_t *r))
{
    double load;
    uint64_t r = 5, k = 0;
    while (put(t, key(k, &r)) != HD_PENDING) k++;
    must(hd_load_factor_sync(t, &load));
    return load;
}

static uint64_t ascending(uint64_t k, uint64_t *r) { return (void)r, k; }
static uint64_t descending(uint64_t k, uint64_t *r) { return (void)r, 100000 - k; }
static uint64_t any_key(uint64_t k, uint64_t *r) { return (void)k, test_below(r, 100000); }
static uint64_t between(uint64_t k, uint64_t *r) { return (void)r, 1 + 2 * k; }

/* The load factor at the first PENDING: 1 for ascending keys; above a half where nothing is erased, since splits leave
 * halves; and above a quarter however keys come and go, since two neighbours have more than half of a segment. */
static void load_at_pending(void)
{
    enum { HOMES = 64 };
    double load[4];
    for (int how = 0; how < 4; how++) {
        hd_table *t = table_of(HOMES);
        for (uint64_t k = 0; how == 3 && k < HOMES * FIT; k++) put(t, 2 * k);
        /* segments of 8 and of 1, in turn, are the emptiest that there are: no two of them are joined */
        for (uint64_t row = 0; how == 3 && row < HOMES; row++)
            for (uint64_t k = row % 2 ? 1 : FIT / 2; k < FIT; k++) take(t, 2 * (row * FIT + k));
        check(how < 3 || view_in(t)->rows == HOMES, "%llu segments", (ull)view_in(t)->rows);
        load[how] = load_at_first(t, how == 0 ? ascending : how == 1 ? descending : how == 2 ? any_key : between);
        hd_close(t);
    }
    test_note("PENDING at load factor %.3f (ascending keys), %.3f (descending), %.3f (random), %.3f (after erasing)",
              load[0], load[1], load[2], load[3]);
    check(load[0] == 1 && load[1] > 0.5 && load[1] < 0.52 && load[2] > 0.6 && load[2] < 0.8 && load[3] > 0.25 &&
              load[3] < 0.3,
          "another load factor");
}

/* ---- Growing and shrinking ------------------------------------------------------------------- */

/* The first n multiples of `step`, and no other key. */
static void holds_all(hd_table *t, uint64_t n, uint64_t step)
{
    model_contents all;
    contents_take(&all, t);
    check(all.n == n && test_size(t) == n, "%llu of %llu entries", (ull)all.n, (ull)n);
    for (uint64_t k = 0; k < n; k++)
        check(all.key[k] == k * step && ((uint32_t *)(void *)all.value)[k] == k * step + 7, "entry %llu is key %llu",
              (ull)k, (ull)all.key[k]);
    contents_give(&all);
}

static void grows_and_shrinks(void)
{
    hd_table *t = table_of(2);
    for (uint64_t k = 0; k < 2 * FIT; k++) put(t, 3 * k);
    must(hd_grow(t, 70)); /* two words of marks */
    must(hd_check(t));
    hd_info info = test_info(t);
    check(info.buckets == 70 && info.capacity == 70 * FIT && info.places == info.capacity && info.base_buckets == 2,
          "%llu buckets", (ull)info.buckets);
    directory_is(t, "16@0 16@1");
    for (uint64_t k = 70 * FIT; k-- > 2 * FIT;) /* descending: halves */
        if (put(t, 3 * k) == HD_PENDING) break;
    check(view_in(t)->rows == 70 && test_size(t) > 35 * FIT, "%llu segments", (ull)view_in(t)->rows);
    must(hd_clear(t));
    for (uint64_t k = 0; k < 70 * FIT; k++) check(put(t, 3 * k) == HD_INSERTED, "key %llu", (ull)(3 * k));
    holds_all(t, 70 * FIT, 3);
    must(hd_shrink(t, 40)); /* all 70 are needed */
    buckets_are(t, 70);
    uint64_t n;
    must(hd_erase_if(t, "key_in", 3 * 20 * FIT, UINT64_MAX, &n));
    must(hd_shrink(t, 21)); /* segments fit as they are */
    must(hd_check(t));
    buckets_are(t, 21);
    check(view_in(t)->rows == 20, "%llu segments", (ull)view_in(t)->rows);
    holds_all(t, 20 * FIT, 3);
    for (uint64_t k = 0; k < 20; k++) /* half of each segment */
        for (uint64_t i = 0; i < FIT / 2; i++) take(t, 3 * (k * FIT + 2 * i + 1));
    directory_is(t, "8@0 8@1 8@2 8@3 8@4 8@5 8@6 8@7 8@8 8@9 "
                    "8@10 8@11 8@12 8@13 8@14 8@15 8@16 8@17 8@18 8@19");
    must(hd_shrink(t, 12)); /* packed */
    must(hd_check(t));
    check(view_in(t)->rows == 10 && sl_count(view_in(t), 0) == FIT, "%llu segments", (ull)view_in(t)->rows);
    holds_all(t, 10 * FIT, 6);
    must(hd_shrink(t, 2)); /* as few as there can be */
    buckets_are(t, 10);
    holds_all(t, 10 * FIT, 6);
    must_fail(hd_shrink(t, 1), HD_EINVAL, "began with");
    must_fail(hd_grow(t, UINT64_MAX / 16), HD_EINVAL, "more than a table can have");
    must(hd_reserve(t, 11 * FIT - 3));
    buckets_are(t, 11);
    hd_close(t);
}

/* Buckets are parts of segments: a table has whole segments. */
static void buckets_and_segments(void)
{
    hd_config c = hd_config_of("sl");
    hd_table *t;
    hd_info info;
    check(c.sl.segment_bytes == 64 << 10 && c.value_bytes == 4 && c.slots == 16 && !strcmp(c.policy, "none"),
          "the usual");
    c.capacity = 1;
    must(hd_open(&c, &t));
    info = test_info(t);
    check(info.capacity == 8192 && info.buckets == 512 && info.slots == 16 && info.layout == HD_LAYOUT_SORTED &&
              info.sl.segment_bytes == 65536,
          "%llu entries, %llu buckets", (ull)info.capacity, (ull)info.buckets);
    must(hd_grow(t, 513));
    buckets_are(t, 1024);
    must(hd_shrink(t, 513));
    buckets_are(t, 1024);
    must(hd_shrink(t, 512));
    buckets_are(t, 512);
    hd_close(t);
    c.value_bytes = 8;
    c.slots = 4096;
    must(hd_open(&c, &t));
    info = test_info(t);
    check(info.capacity == 4096 && info.buckets == 1, "%llu entries", (ull)info.capacity);
    hd_close(t);
    c.slots = 16; /* the usual number, of a segment of 8 entries */
    c.sl.segment_bytes = 128;
    must(hd_open(&c, &t));
    info = test_info(t);
    check(info.slots == 8 && info.buckets == info.capacity / 8, "%llu slots", (ull)info.slots);
    hd_close(t);
}

/* hd_info says how many bytes of segments are near, and how many far, whatever the limit becomes. */
static void parts_are_told(void)
{
    const uint64_t all = 4096 * 8, limits[] = { 0, 9025024, 9040000, 1ull << 40 };
    hd_table *t =
        test_table(.design = "sl", .backend = "host", .capacity = 4096, .value_bytes = 4, .sl.segment_bytes = 1024);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        must(hd_set_near(t, limits[i]));
        hd_info info = test_info(t);
        test_case("near %llu", (ull)limits[i]);
        bool limited = limits[i] && limits[i] < 1u << 30;
        check(info.values_device_bytes + info.values_host_bytes == all && info.values_device_bytes % 1024 == 0,
              "%llu and %llu bytes", (ull)info.values_device_bytes, (ull)info.values_host_bytes);
        check(limited == (info.values_host_bytes != 0), "%llu bytes are far", (ull)info.values_host_bytes);
    }
    hd_close(t);
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

static hd_entry entry_of(uint64_t slot, uint64_t key, uint32_t *value) { return (hd_entry){ slot, key, 0, value }; }

/* Entries that cannot be where a file says they are. */
static void put_at(void)
{
    static const struct {
        uint64_t slot[4], key[4];
        int good; /* how many are accepted */
        const char *why;
    } tries[] = {
        { { 0, 1, 16, 17 }, { 5, 6, 7, 9 }, 4, "in order" },
        { { 0, 16, 17, 32 }, { 50, 6, 7, 9 }, 4, "homes in another order" },
        { { 16, 32, 48, 49 }, { 50, 20, 70, 80 }, 4, "the first home is free" },
        { { 0, 2, 0, 0 }, { 5, 6, 0, 0 }, 1, "a gap" },
        { { 1, 0, 0, 0 }, { 5, 6, 0, 0 }, 0, "a gap at the front" },
        { { 0, 1, 0, 0 }, { 5, 5, 0, 0 }, 1, "a key twice" },
        { { 0, 1, 0, 0 }, { 5, 4, 0, 0 }, 1, "descending" },
        { { 0, 1, 16, 0 }, { 5, 9, 7, 0 }, 2, "a segment within another" },
        { { 0, 16, 17, 0 }, { 9, 5, 9, 0 }, 2, "a key that is another segment's first" },
        { { 0, 16, 17, 0 }, { 9, 5, 10, 0 }, 2, "a key that belongs to another segment" },
        { { 0, 16, 0, 0 }, { 9, 9, 0, 0 }, 1, "a key twice, in two segments" },
        { { 0, 1, 0, 0 }, { 5, (1ull << 32) - 3, 0, 0 }, 1, "a reserved key" },
    };
    for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
        hd_table *t = table_of(4);
        uint32_t value = 3;
        int n = 0;
        test_case("%s", tries[k].why);
        for (; n < 4; n++) {
            hd_entry e = entry_of(tries[k].slot[n], tries[k].key[n], &value);
            if (!t->backend->put_at(t->state, &e)) break;
        }
        check(n == tries[k].good, "%d entries are accepted", n);
        hd_close(t);
    }
}

static const struct CMUnitTest sl[] = {
    unit(splits),         unit(joins),           unit(joins_of_both_sides), unit(sweeps),
    unit(pending),        unit(load_at_pending), unit(grows_and_shrinks),   unit(buckets_and_segments),
    unit(parts_are_told), unit(put_at)
};

int main(void) { return test_run(sl); }

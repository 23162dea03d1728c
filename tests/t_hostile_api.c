/* SPDX-License-Identifier: Apache-2.0
 *
 * t_hostile_api.c - calls that a careful reader of heddle.h would not make, by class: fields of one design given to
 * another, snapshots whose header no reader accepts, targets of hd_run_growing that no table can meet. Each class has a
 * table of cases.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/table.h"
#include "tests/snapshots.h"

static uint64_t tried;

/* ---- Fields of one design, given to another --------------------------------------------------------------------- */

typedef struct foreign_field {
    const char *design, *field;
    size_t at, bytes;
    uint64_t number;  /* that is not the field's usual one */
    const char *text; /* of hash */
} foreign_field;

#define FIELD(member, number) #member, offsetof(hd_config, member), sizeof((hd_config *)0)->member, number, NULL

static const foreign_field foreign[] = {
    { "hkv", FIELD(hashes, 1) },
    { "hkv", FIELD(hashes, 2) },
    { "hkv", FIELD(hashes, 9) },
    { "hkv", FIELD(hashes, UINT32_MAX) },
    { "hkv", FIELD(spare, 1) },
    { "hkv", FIELD(spare, HD_SPARE_USUAL) },
    { "hkv", "hash", offsetof(hd_config, hash), sizeof(char *), 0, "bithash1,bithash2" },
    { "hkv", "hash", offsetof(hd_config, hash), sizeof(char *), 0, "crc32" },
    { "hkv", FIELD(layout, HD_LAYOUT_WORDS) },
    { "hkv", FIELD(layout, HD_LAYOUT_MASKS) },
    { "hive", FIELD(dual, true) },
    { "hive", FIELD(admit, HD_ADMIT_ALWAYS) },
    { "hive", FIELD(tiers, HD_TIERS_POSITION) },
    { "hive", FIELD(near_bytes, 1) },
    { "hive", FIELD(near_bytes, UINT64_MAX) },
    { "hive", FIELD(fetch, HD_FETCH_SORTED) },
    { "hive", FIELD(fetch, HD_FETCH_DIRECT) },
    { "hive", FIELD(clock, HD_CLOCK_DEVICE) },
    { "hive", FIELD(pins, 1) },
    { "hive", FIELD(pins, 1024) },
    { "hive", FIELD(layout, HD_LAYOUT_PLANES) },
    { "hive", FIELD(layout, HD_LAYOUT_PAIRS) },
};

static void foreign_fields(void **state)
{
    static const char *const backends[] = { "ref", "host" };
    (void)state;
    for (size_t k = 0; k < sizeof foreign / sizeof *foreign * 2; k++, tried++) {
        const foreign_field *f = &foreign[k / 2];
        hd_config c = hd_config_of(f->design);
        hd_table *t = NULL;
        c.backend = backends[k % 2];
        c.capacity = 1024;
        must(hd_open(&c, &t)); /* as it is, it can be opened */
        hd_close(t);
        t = NULL;
        if (f->text)
            memcpy((char *)&c + f->at, &f->text, sizeof f->text);
        else
            memcpy((char *)&c + f->at, &f->number, f->bytes); /* little-endian */
        test_case("%s on %s: %s=%llu%s", f->design, c.backend, f->field, (ull)f->number, f->text ? f->text : "");
        must_fail(hd_open(&c, &t), HD_EINVAL, f->field);
        check(t == NULL, "there is a table");
    }
}

/* ---- Snapshots ----------------------------------------------------------------------------------------------------
 */

static hd_table *some_table(const char *design)
{
    hd_config c = hd_config_of(design);
    hd_table *t;
    uint64_t key[100], value[100] = { 0 };
    c.backend = test_backend("ref");
    c.capacity = 1024;
    must(hd_open(&c, &t));
    for (uint64_t i = 0; i < 100; i++) key[i] = i * 7;
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 100, .key = key, .value = value };
    must(hd_run(t, &b));
    return t;
}

enum { HEADER_BYTES = 256, HASHES_AT = 120 };

/* Sets a 32-bit number of a snapshot's header, and its sum with it. */
static void patch_header(const char *path, size_t at, uint32_t number)
{
    size_t n;
    uint8_t *p = test_read(path, &n);
    check(p && n > HEADER_BYTES, "there is no snapshot");
    memcpy(p + at, &number, sizeof number);
    snapshot_sum(p + HEADER_BYTES - 16, p, HEADER_BYTES - 16);
    test_write(path, p, n);
    free(p);
}

/* An earlier version accepted `hashes` for design hkv and wrote it to the header. Such files load. */
static void files_with_hashes(void **state)
{
    static const uint32_t hashes[] = { 1, 2, 9, UINT32_MAX };
    (void)state;
    for (size_t k = 0; k < sizeof hashes / sizeof *hashes; k++, tried++) {
        hd_table *t = some_table("hkv"), *u = NULL;
        hd_info info;
        uint64_t dropped = 99;
        const char *path = test_path("with_hashes");
        test_case("hashes=%u in the header of a table of hkv", hashes[k]);
        must(hd_save(t, path));
        patch_header(path, HASHES_AT, hashes[k]);
        must(hd_open_snapshot(path, NULL, &u));
        must(hd_table_info(u, &info));
        check(info.hashes == 0, "hashes is %u", info.hashes);
        same_table(t, u);
        must(hd_clear(u));
        must(hd_load(u, path, &dropped));
        check(dropped == 0, "%llu were dropped", (ull)dropped);
        must(hd_save(u, path)); /* and what is saved then is a file like any other */
        hd_close(u);
        u = NULL;
        must(hd_open_snapshot(path, NULL, &u));
        same_table(t, u);
        hd_close(t);
        hd_close(u);
    }
}

/* A table whose numbers no reader would accept is not saved, and the file that was there stays. */
static void save_what_cannot_be_loaded(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++, tried++) {
        hd_table *t = some_table(k < 3 ? "hkv" : "hive"), *u = NULL;
        hd_info info = t->info;
        const char *path = test_path("kept");
        must(hd_save(t, path));
        switch (k) {
        case 0: t->info.base_buckets = 3; break;
        case 1: t->info.spare = 1; break;
        case 2: memcpy(t->info.hash, "crc32", 6); break;
        case 3: t->info.hashes = 9; break;
        case 4: t->info.base_buckets = t->info.buckets + 1; break;
        default: t->info.dual = true; break;
        }
        test_case("header that no reader accepts: %d", k);
        unsigned files = test_files();
        must_fail(hd_save(t, path), HD_ECORRUPT, path);
        check(test_files() == files, "a file was left");
        t->info = info;
        must(hd_open_snapshot(path, NULL, &u)); /* the one from before */
        hd_close(u);
        hd_close(t);
    }
}

/* What the caller says beside the file may be another design's: he may not know which is in it. */
static void snapshots_of_either_design(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++, tried++) {
        hd_table *t = some_table(k ? "hive" : "hkv"), *u = NULL;
        hd_config c = hd_config_of(k ? "hkv" : "hive");
        must(hd_save(t, test_path("either")));
        test_case("a file of %s, and the usual configuration of %s", k ? "hive" : "hkv", c.design);
        c.pins = 8;
        c.hashes = 3;
        c.spare = 1;
        must(hd_open_snapshot(test_path("either"), &c, &u));
        same_table(t, u);
        hd_close(t);
        hd_close(u);
    }
}

static void how_many(void **state)
{
    (void)state;
    test_tried("misuse", tried, "hostile calls of the API, by class");
    assert_true(tried >= 50);
}

int main(void)
{
    const struct CMUnitTest hostile_api[] = {
        cmocka_unit_test(foreign_fields),
        cmocka_unit_test(files_with_hashes),
        cmocka_unit_test(save_what_cannot_be_loaded),
        cmocka_unit_test(snapshots_of_either_design),
        cmocka_unit_test(how_many),
    };
    return test_run(hostile_api);
}

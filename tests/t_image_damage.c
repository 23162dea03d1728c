/* SPDX-License-Identifier: Apache-2.0
 *
 * t_image_damage.c - what a table's file may say: files that are damaged, or are none, are refused; a superblock that
 * is wrong and has right sums does no harm; configurations that a file contradicts, or that cannot have one, are
 * refused.
 */
#include <stdlib.h>

#include "judge/trial.h"
#include "lib/journal.h"
#include "lib/table.h"
#include "tests/lives.h"

/* ---- Damaged files --------------------------------------------------------------------------- */

/* The file is refused, or has all that was promised. */
static bool is_refused(const life *l, const cuts_file *damaged)
{
    cuts c;
    hd_table *t;
    cuts_begin(&c, damaged);
    hd_config config = life_config(l->of, l->backend, &c.seams);
    hd_status status = hd_open(&config, &t);
    check(!status || status == HD_ECORRUPT, "%s: %s", hd_status_name(status), hd_why());
    if (!status) {
        life_compare(l, t, l->promised);
        life_kill(&c, t);
    }
    cuts_end(&c);
    return status != HD_OK;
}

/* Both superblocks are damaged, or there are bytes behind the table. */
static void damage_file(const life *l, const cuts_file *good)
{
    cuts_file bad = life_copy(good), wide = life_copy(good);
    test_case("%s: both superblocks are damaged", l->of->name);
    for (size_t block = 0; block < 2; block++) bad.bytes[block * HD_IMAGE_PAGE + 100] ^= 1; /* in the same place */
    check(is_refused(l, &bad), "a file without a superblock was opened");
    wide.bytes = (uint8_t *)realloc(wide.bytes, wide.room = wide.size + 5000);
    memset(wide.bytes + wide.size, 0xee, 5000);
    wide.size += 5000;
    test_case("%s: 5000 bytes more", l->of->name);
    check(!is_refused(l, &wide), "a file that is too long: %s", hd_why());
    free(bad.bytes);
    free(wide.bytes);
}

static void damaged_files(void)
{
    trial x = { .random = hd_rng_from(1) };
    for (size_t s = 0; s <= LIFE_SHAPES; s++) /* the last one in mode process */
        for (uint64_t changes = 0; changes <= LIFE_CHANGES; changes += 20) {
            life l;
            cuts_file left;
            const shape *of = s < LIFE_SHAPES ? &life_shapes[s] : &life_process_shapes[0];
            test_case("%s, after %llu changes", of->name, (ull)changes);
            trial_damage(&x, &l, of, 77 + changes, changes, &left);
            check(!x.wrong, "%s", x.why);
            damage_file(&l, &left);
            free(left.bytes);
        }
    test_tried("snapshots", x.tried, "damaged files of tables, of which %llu were refused", (ull)x.refused);
}

static void set_sums(hd_superblock *sb)
{
    XXH128_canonical_t sum;
    hd_snapshot_header_sum(&sb->shape, sb->shape.sum);
    XXH128_canonicalFromHash(&sum, XXH3_128bits(sb, offsetof(hd_superblock, sum)));
    memcpy(sb->sum, sum.digest, sizeof sb->sum);
}

/* Superblocks with right sums and a word that is wrong. The file is refused, or is a table of some kind. */
static void forged_files(void)
{
#ifdef HD_VERIFY
    enum { ASSERTS = true }; /* they are for tables whose invariants hold */
#else
    enum { ASSERTS = false };
#endif
    uint64_t refused = 0, random = 6;
    const uint64_t rounds = test_times(2000);
    for (uint64_t round = 0; round < rounds; round++) {
        static const uint64_t words[] = { 0, 1, 7, 4095, 1ull << 31, 1ull << 40, 1ull << 63, UINT64_MAX };
        life l;
        cuts c;
        hd_table *t = life_start(&l, &c, &life_shapes[round % LIFE_SHAPES], "ref", 3);
        life_live(&l, t, &c, 6);
        hd_close(t);
        hd_superblock sb;
        size_t used = offsetof(hd_superblock, extent) + 4 * sizeof *sb.extent,
               at = 4 * test_below(&random, used / 4 - 1);
        uint64_t word = words[test_below(&random, sizeof words / sizeof *words)];
        test_case("%s: word %llx at byte %zu", l.of->name, (ull)word, at);
        for (size_t block = 0; block < 2; block++) {
            memcpy(&sb, c.file.bytes + block * sizeof sb, sizeof sb);
            memcpy((char *)&sb + at, &word, test_below(&random, 2) ? 4 : 8);
            set_sums(&sb);
            memcpy(c.file.bytes + block * sizeof sb, &sb, sizeof sb);
        }
        hd_config config = life_config(l.of, l.backend, &c.seams);
        hd_status status = hd_open(&config, &t);
        check(status == HD_OK || status == HD_ECORRUPT || status == HD_EINVAL, "%s: %s", hd_status_name(status),
              hd_why());
        refused += status != HD_OK;
        bool runs = !status && (hd_check(t) == HD_OK || !ASSERTS);
        if (runs) life_live(&l, t, &c, 6);
        if (!status) hd_close(t);
        cuts_end(&c);
    }
    test_tried("snapshots", rounds, "superblocks with a wrong word and right sums, of which %llu were refused",
               (ull)refused);
}

/* What is no image is left as it is. */
static void other_files(void)
{
    static const char text[] =
        "This is the only copy of a letter, and not a table at all. It is longer than a sector: ";
    cuts_file letter = { .there = true };
    letter.bytes = (uint8_t *)test_alloc(600, 1);
    for (size_t at = 0; at + sizeof text <= 600; at += sizeof text) memcpy(letter.bytes + at, text, sizeof text);
    for (letter.size = 1; letter.size <= 600; letter.size += 599) {
        hd_table *t;
        cuts c;
        cuts_begin(&c, &letter);
        hd_config config = life_config(&life_shapes[0], "ref", &c.seams);
        test_case("a letter of %zu bytes", letter.size);
        must_fail(hd_open(&config, &t), HD_ECORRUPT, "no Heddle image");
        check(c.file.size == letter.size && memcmp(c.file.bytes, letter.bytes, letter.size) == 0, "it has changed");
        cuts_end(&c);
    }
    free(letter.bytes);
}

/* ---- Configurations -------------------------------------------------------------------------- */

static void refused_configs(void)
{
    static const struct {
        hd_config config;
        const char *word;
    } all[] = {
        { { .design = "ovs", .durable = HD_DURABLE_PROCESS, .value_bytes = 4 }, "durable: process is not for" },
        { { .design = "ovs", .lock = "none", .value_bytes = 4 }, "lock" },
        { { .design = "hkv", .value_bytes = 8 }, "file" },
        { { .design = "sl", .value_bytes = 4 }, "file" },
    };
    cuts c;
    hd_table *t;
    cuts_begin(&c, NULL);
    for (size_t i = 0; i <= sizeof all / sizeof *all; i++) {
        hd_config config = test_usual_of(all[i % 4].config);
        config.backend = "ref";
        config.file = i < 4 ? "image" : "";
        config.seams = &c.seams;
        must_fail(hd_open(&config, &t), HD_EINVAL, i < 4 ? all[i].word : "path is empty");
        check(!c.file.there, "a file was made");
    }
    c.seams.file.map = NULL;
    hd_config config = life_config(&life_process_shapes[0], "ref", &c.seams);
    must_fail(hd_open(&config, &t), HD_EINVAL, "durable: these files cannot be mapped");
    cuts_end(&c);
}

/* A file decides the fields that it has. */
static void configs_of_files(void)
{
    cuts c;
    life l;
    hd_table *t = life_start(&l, &c, &life_shapes[0], "ref", 2);
    life_live(&l, t, &c, 9);
    hd_close(t);
    static const struct {
        hd_config config;
        const char *word; /* NULL: it agrees */
    } all[] = {
        { { .design = "ovs", .capacity = 1, .value_bytes = 4 }, NULL },
        { { .design = "hkv", .value_bytes = 8 }, NULL }, /* the usual, which names nothing */
        { { .design = "ovs", .value_bytes = 4, .seed = 9 }, "seed" },
        { { .design = "ovs", .capacity = 1 << 20, .value_bytes = 8 }, "value_bytes" },
        { { .design = "ovs", .capacity = 1 << 24, .value_bytes = 4 }, "capacity" },
        { { .design = "hive", .value_bytes = 4 }, "design" },
        { { .design = "ovs", .value_bytes = 4, .ovs = { .partition = HD_PARTITION_RANGE } }, "partition" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        hd_config config = test_usual_of(all[i].config);
        config.backend = "ref";
        config.file = "image";
        config.seams = &c.seams;
        test_case("configuration %zu", i);
        if (all[i].word) {
            must_fail(hd_open(&config, &t), HD_EINVAL, all[i].word);
            continue;
        }
        must(hd_open(&config, &t));
        life_compare(&l, t, l.changes);
        hd_info info;
        must(hd_table_info(t, &info));
        check(info.image.recovered.was_clean && info.image.recovered.records == 0, "it was not closed");
        hd_close(t);
    }
    cuts_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { unit(damaged_files), unit(forged_files), unit(other_files),
                                        unit(refused_configs), unit(configs_of_files) };
    lives_init();
    return test_run(tests);
}

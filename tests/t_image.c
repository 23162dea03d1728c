/* SPDX-License-Identifier: Apache-2.0
 *
 * t_image.c - tables with a file: whatever a power cut leaves of it, the table that opens from it has all batches up to
 * one, and that is none before the last that was promised. A kill of a process whose table is its file may leave any
 * part of the batch that ran. Files that are damaged are refused. A write that fails makes the table one to read.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/faulty.h"
#include "tests/lives.h"

enum { BATCHES = 40, LARGE = 4096 };

/* ---- Tables ---------------------------------------------------------------------------------- */

/* clang-format off */
static const shape shapes[] = {
    { "ovs",         { .design = "ovs", .capacity = 96, .value_bytes = 4, .ovs = { .segment_bytes = 256 } } },
    { "ovs guide",   { .design = "ovs", .capacity = 64, .value_bytes = 4,
                       .ovs = { .segment_bytes = 128, .near_bytes = 256, .guide = HD_GUIDE_DIGEST } } },
    { "ovs ranges",  { .design = "ovs", .capacity = 64, .value_bytes = 4, .commit = HD_COMMIT_CALL,
                       .ovs = { .segment_bytes = 128, .partition = HD_PARTITION_RANGE, .copy_bytes = 64 } } },
    { "ovs pairs",   { .design = "ovs", .capacity = 64, .value_bytes = 8, .ovs = { .segment_bytes = 128 } } },
    { "hive",        { .design = "hive", .capacity = 64, .value_bytes = 4, .slots = 8 } },
    { "hive masks",  { .design = "hive", .capacity = 64, .value_bytes = 2, .slots = 8, .layout = HD_LAYOUT_MASKS,
                       .commit = HD_COMMIT_CALL } },
    { "gphash",      { .design = "gphash", .capacity = 48, .value_bytes = 4 } },
    { "gphash cells", { .design = "gphash", .capacity = 48, .value_bytes = 8, .layout = HD_LAYOUT_CELLS } },
};
/* clang-format on */
enum { SHAPES = sizeof shapes / sizeof *shapes };

#define IN_PROCESS .design = "gphash", .capacity = 48, .durable = HD_DURABLE_PROCESS
static const shape process_shapes[] = {
    { "gphash, process", { IN_PROCESS, .value_bytes = 4 } },
    { "gphash pairs, process", { IN_PROCESS, .value_bytes = 8 } },
    { "gphash cells, process", { IN_PROCESS, .value_bytes = 8, .layout = HD_LAYOUT_CELLS } },
    { "gphash wide, process", { IN_PROCESS, .value_bytes = 40, .commit = HD_COMMIT_CALL } },
    { "gphash far, process", { IN_PROCESS, .value_bytes = 12, .gphash = { .index = HD_INDEX_FAR } } },
};
enum { PROCESS_SHAPES = sizeof process_shapes / sizeof *process_shapes };
/* ---- Tests ----------------------------------------------------------------------------------- */

static void cuts_on_ref(void) { life_cut(shapes, SHAPES, "ref", BATCHES); }
static void cuts_on_host(void) { life_cut(shapes, SHAPES, "host", 12); }
static void cuts_on_device(void) { life_cut(shapes, SHAPES, "cuda", 12); }

/* A batch whose record needs a larger journal than there is: the entries stay where they are. */
static void journal_gets_room(void)
{
    static const shape wide = {
        "gphash, wide", { .design = "gphash", .capacity = 96, .value_bytes = WIDE, .layout = HD_LAYOUT_CELLS }
    };
    trial x = { .random = 4 };
    life l;
    cuts c;
    life_begin(&l, &wide, "ref", 10);
    cuts_begin(&c, NULL);
    hd_table *t = life_open(&l, l.backend, &c);
    life_live(&l, t, &c, 20);
    size_t from = c.events;
    world w = l.after[l.changes];
    hd_superblock was = life_superblock(&c.file);
    must(life_flip(&l, t, &w, WIDE));
    hd_superblock is = life_superblock(&c.file);
    l.after[++l.changes] = w;
    cuts_mark(&c, l.promised = l.changes);
    life_live(&l, t, &c, 3);
    check(is.journal_bytes > was.journal_bytes, "%llu bytes of journal", (ull)is.journal_bytes);
    check(memcmp(is.extent, was.extent, sizeof is.extent) == 0, "the table has moved");
    life_kill(&c, t);
    x.had = &l;
    cuts_each(&c, from, 2, &x.random, life_try, &x);
    test_tried("cuts", x.tried, "files that a power cut may leave of a journal that gets larger");
    cuts_end(&c);
}

/* Growth that needs a larger journal, too. */
static void journal_grows(void)
{
    static const shape large = {
        "ovs, large", { .design = "ovs", .capacity = 3000, .value_bytes = 4, .ovs = { .segment_bytes = 4096 } }
    };
    trial x = { .random = 9 };
    life l;
    cuts c;
    hd_info info;
    life_begin(&l, &large, "ref", 2);
    cuts_begin(&c, NULL);
    hd_table *t = life_open(&l, l.backend, &c);
    life_live(&l, t, &c, 3);
    size_t from = c.events;
    uint64_t bytes = c.file.size;
    for (int twice = 0; twice < 2; twice++) {
        must(hd_table_info(t, &info));
        must(hd_grow(t, 4 * info.buckets));
        l.after[l.changes + 1] = l.after[l.changes];
        cuts_mark(&c, l.promised = ++l.changes);
        life_live(&l, t, &c, 2);
    }
    check(c.file.size > 4 * bytes, "the file has not grown");
    life_kill(&c, t);
    x.had = &l;
    cuts_each(&c, from, 4, &x.random, life_try, &x);
    test_tried("cuts", x.tried, "files that a power cut may leave of growth");
    cuts_end(&c);
}

/* A recovery that follows another one changes no byte but those of superblocks. */
static void recovery_repeats(void)
{
    for (size_t s = 0; s < SHAPES; s++) {
        life l;
        cuts c;
        life_begin(&l, &shapes[s], "ref", 31 + s);
        cuts_begin(&c, NULL);
        hd_table *t = life_open(&l, l.backend, &c);
        life_live(&l, t, &c, BATCHES);
        life_kill(&c, t);
        test_case("%s: recovered twice", shapes[s].name);
        life_kill(&c, life_open(&l, l.backend, &c));
        cuts_file once = cuts_copy(&c.file);
        life_kill(&c, life_open(&l, l.backend, &c));
        check(once.size == c.file.size, "%zu bytes, then %zu", once.size, c.file.size);
        check(memcmp(once.bytes + HD_IMAGE_BLOCKS, c.file.bytes + HD_IMAGE_BLOCKS, once.size - HD_IMAGE_BLOCKS) == 0,
              "the second recovery changed the file");
        free(once.bytes);
        cuts_end(&c);
    }
}

static void failing_calls(void)
{
    life_fail(shapes, SHAPES);
    life_fail(process_shapes, PROCESS_SHAPES);
}

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

/* How many bytes the superblock names; behind these is space that was given up. */
static uint64_t bytes_of(const cuts_file *f) { return life_superblock(f).file_bytes; }

static uint64_t damage_file(const life *l, const cuts_file *good)
{
    uint64_t refused = 0, random = 1;
    cuts_file bad = cuts_copy(good);
    for (size_t word = 0; word < HD_IMAGE_BLOCKS; word += 8) {
        size_t at = word + test_below(&random, 8);
        uint8_t bit = (uint8_t)(1u << test_below(&random, 8));
        test_case("%s: byte %zu has another bit", l->of->name, at);
        bad.bytes[at] ^= bit;
        refused += is_refused(l, &bad);
        bad.bytes[at] ^= bit;
    }
    for (size_t block = 0; block < 2; block++) { /* both, in the same place */
        test_case("%s: both superblocks are damaged", l->of->name);
        bad.bytes[block * HD_IMAGE_PAGE + 100] ^= 1;
    }
    check(is_refused(l, &bad), "a file without a superblock was opened");
    free(bad.bytes);
    for (size_t bytes = 0; bytes < good->size; bytes += 1 + (size_t)test_below(&random, 700)) {
        cuts_file cut = cuts_copy(good);
        cut.size = bytes;
        test_case("%s: the first %zu of %zu bytes", l->of->name, bytes, good->size);
        if (bytes > HD_IMAGE_SECTOR && bytes < bytes_of(good))
            check(is_refused(l, &cut), "a file that was cut short was opened");
        free(cut.bytes);
    }
    cuts_file wide = cuts_copy(good);
    wide.bytes = (uint8_t *)realloc(wide.bytes, wide.room = wide.size + 5000);
    memset(wide.bytes + wide.size, 0xee, 5000);
    wide.size += 5000;
    test_case("%s: 5000 bytes more", l->of->name);
    check(!is_refused(l, &wide), "a file that is too long: %s", hd_why());
    free(wide.bytes);
    return refused;
}

static void damaged_files(void)
{
    uint64_t files = 0, refused = 0;
    for (size_t s = 0; s < SHAPES; s++)
        for (uint64_t changes = 0; changes <= BATCHES; changes += 9, files++) {
            life l;
            cuts c;
            life_begin(&l, &shapes[s], "ref", 77 + changes);
            cuts_begin(&c, NULL);
            hd_table *t = life_open(&l, l.backend, &c);
            life_live(&l, t, &c, changes);
            life_kill(&c, t);
            refused += damage_file(&l, &c.file);
            cuts_end(&c);
        }
    test_tried("snapshots", files * HD_IMAGE_BLOCKS / 8, "damaged superblocks, of which %llu were refused",
               (ull)refused);
}

/* A record of another generation, of another file, or of later batches ends the journal. */
static void journal_ends(void)
{
    life l;
    cuts c;
    hd_image im;
    hd_journal j;
    life_begin(&l, &shapes[0], "ref", 4);
    cuts_begin(&c, NULL);
    hd_table *t = life_open(&l, l.backend, &c);
    life_live(&l, t, &c, 1);
    life_kill(&c, t);
    must(hd_image_open(&im, &c.seams, "image", true));
    must(hd_journal_take(&j, &c.seams, im.sb.journal_bytes));
    must(hd_journal_read(&j, &im));
    for (int other = 0; other < 5; other++) {
        hd_image as = im;
        as.sb.generation += other == 1;
        as.sb.generation -= other == 2;
        as.sb.id ^= other == 3;
        j.at = 0;
        const hd_record *r = hd_journal_next(&j, &as, im.sb.batch + (other == 4));
        check((r != NULL) == (other == 0), "difference %d: %s record", other, r ? "a" : "no");
    }
    hd_journal_give(&j, &c.seams);
    hd_image_close(&im);
    cuts_end(&c);
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
        life_begin(&l, &shapes[round % SHAPES], "ref", 3);
        cuts_begin(&c, NULL);
        hd_table *t = life_open(&l, l.backend, &c);
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
        hd_config config = life_config(&shapes[0], "ref", &c.seams);
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
    hd_config config = life_config(&process_shapes[0], "ref", &c.seams);
    must_fail(hd_open(&config, &t), HD_EINVAL, "durable: these files cannot be mapped");
    cuts_end(&c);
}

/* A file decides the fields that it has. */
static void configs_of_files(void)
{
    cuts c;
    life l;
    life_begin(&l, &shapes[0], "ref", 2);
    cuts_begin(&c, NULL);
    hd_table *t = life_open(&l, l.backend, &c);
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

/* On the operating system's files: a file is one table's, and opens as a snapshot does when that is closed. */
static void one_table_of_a_file(void)
{
    hd_table *t, *u;
    hd_config config = life_config(&shapes[0], "ref", NULL);
    char path[4200];
    uint64_t key[3] = { 1, 2, 3 }, size;
    uint32_t value[3] = { 10, 20, 30 };
    uint8_t outcome[3];
    snprintf(path, sizeof path, "%s", test_path("image"));
    config.file = path;
    must(hd_open(&config, &t));
    must_fail(hd_open(&config, &u), HD_EINVAL, "open as another table");
    hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, 3, key, value, outcome);
    must(hd_run(t, &b));
    must_fail(hd_open_snapshot(path, NULL, &u), HD_EINVAL, "open as another table");
    hd_close(t);
    size_t bytes, again;
    uint8_t *was = test_read(path, &bytes);
    must(hd_open_snapshot(path, NULL, &u));
    must(hd_size_sync(u, &size));
    check(size == 3, "%llu entries", (ull)size);
    must(hd_clear(u));
    hd_close(u);
    hd_snapshot_info info;
    must(hd_snapshot_inspect(path, &info));
    check(strcmp(info.design, "ovs") == 0 && info.buckets == 6, "%s, %llu buckets", info.design, (ull)info.buckets);
    uint8_t *is = test_read(path, &again);
    check(bytes == again && memcmp(was, is, bytes) == 0, "a file that was only read has changed");
    free(was);
    free(is);
    must_fail(hd_open_snapshot(path, &config, &u), HD_EINVAL, "file");
}

/* A snapshot that is loaded into a table with a file is in the file. */
static void loaded(void)
{
    life l;
    world w;
    hd_table *t, *from = test_table(.design = "hive", .backend = "ref", .value_bytes = 4, .slots = 16, .capacity = 640);
    const char *path = test_path("saved");
    hd_config config = life_config(&shapes[4], "ref", NULL);
    life_begin(&l, &shapes[4], "ref", 9);
    life_live(&l, from, NULL, 20);
    must(hd_save(from, path));
    hd_close(from);
    config.file = test_path("with snapshot");
    for (int open = 0; open < 2; open++) {
        must(hd_open(&config, &t));
        if (!open) must(hd_load(t, path, NULL));
        life_look(t, &w);
        check(memcmp(&w, &l.after[l.changes], sizeof w) == 0, "the file has something else than the snapshot");
        hd_close(t);
    }
}

/* A child makes a file and is killed at any time: what it promised is there. */
static void child_lives(life *l, const hd_config *config, uint64_t changes)
{
    hd_table *t;
    if (hd_open(config, &t)) _exit(1);
    life_live(l, t, NULL, changes);
    _exit(l->failed != HD_OK);
}

static void end_child(pid_t child, uint64_t microseconds)
{
    usleep((useconds_t)microseconds);
    kill(child, SIGKILL);
    check(waitpid(child, NULL, 0) == child, "no child");
}

static uint64_t kill_child(const life *had, const hd_config *config, uint64_t microseconds, _Atomic uint64_t *shared)
{
    life l;
    hd_table *t;
    life_begin(&l, had->of, had->backend, 21);
    l.shared = shared;
    atomic_store(shared, 0);
    unlink(config->file);
    pid_t child = fork();
    check(child >= 0, "no child");
    if (child == 0) child_lives(&l, config, 2 * BATCHES);
    end_child(child, microseconds);
    must(hd_open(config, &t));
    uint64_t is = life_compare(had, t, atomic_load(shared));
    hd_close(t);
    return is;
}

static void killed(void)
{
    const uint64_t rounds = test_times(200);
    uint64_t least = UINT64_MAX, most = 0, random = 1;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(page != MAP_FAILED, "no memory");
    for (uint64_t round = 0; round < rounds; round++) {
        const shape *s = &shapes[round % SHAPES];
        hd_config config = life_config(s, "ref", NULL);
        config.file = NULL;
        life had;
        hd_table *t;
        life_begin(&had, s, "ref", 21);
        must(hd_open(&config, &t));
        life_live(&had, t, NULL, 2 * BATCHES);
        hd_close(t);
        config.file = test_path("killed");
        test_case("%s, kill %llu", s->name, (ull)round);
        uint64_t is = kill_child(&had, &config, test_below(&random, 60000), (_Atomic uint64_t *)page);
        if (is < least) least = is;
        if (is > most) most = is;
    }
    munmap(page, 4096);
    check(most > least, "every child was killed after %llu changes", (ull)most);
    test_tried("cuts", rounds, "kills of a process that changes a table, after %llu to %llu changes", (ull)least,
               (ull)most);
}

/* ---- Mode process ---------------------------------------------------------------------------- */

typedef struct kills {
    life *had; /* without a file */
    uint64_t ns;
    _Atomic uint64_t *shared;
    uint64_t random, torn, in_recovery;
} kills;

/* A child that opens the file, and is killed or ends without closing it. */
static void open_in_child(const hd_config *config, bool ends, uint64_t microseconds)
{
    hd_table *t;
    pid_t child = fork();
    check(child >= 0, "no child");
    if (child == 0) _exit(hd_open(config, &t) != HD_OK);
    if (!ends) {
        end_child(child, microseconds);
        return;
    }
    int how = 0;
    check(waitpid(child, &how, 0) == child && how == 0, "the file does not open");
}

/* The bytes of all arrays. */
static uint64_t arrays_sum(const char *path)
{
    size_t bytes;
    hd_superblock sb[2];
    uint8_t *file = test_read(path, &bytes);
    memcpy(sb, file, sizeof sb);
    const hd_superblock *is = &sb[sb[1].generation > sb[0].generation];
    uint64_t sum = 0;
    for (uint32_t e = 0; e < is->extents; e++)
        sum = XXH3_64bits_withSeed(file + is->extent[e].offset, (size_t)is->extent[e].bytes, sum);
    free(file);
    return sum;
}

/* All that was promised is there, and of one later change any part. */
static void judge_left(kills *x, hd_table *t)
{
    const life *had = x->had;
    const uint64_t promised = atomic_load(x->shared);
    hd_info info;
    world w;
    must(hd_check(t));
    must(hd_table_info(t, &info));
    uint64_t is = info.image.durable_batch, next = is == promised && is < had->changes ? is + 1 : is, size, there = 0;
    check(is == promised || is == promised + 1, "it has %llu changes, and %llu were promised", (ull)is, (ull)promised);
    life_look(t, &w);
    for (uint64_t k = 0; k < KEYS; k++) {
        check(w.value[k] == had->after[is].value[k] || w.value[k] == had->after[next].value[k],
              "after %llu changes key %llu has %lld, not %lld or %lld", (ull)is, (ull)k, (long long)w.value[k],
              (long long)had->after[is].value[k], (long long)had->after[next].value[k]);
        there += w.value[k] != ABSENT;
    }
    must(hd_size_sync(t, &size));
    check(size == there, "%llu entries, of which %llu have keys that were inserted", (ull)size, (ull)there);
    x->torn += memcmp(&w, &had->after[is], sizeof w) != 0 && memcmp(&w, &had->after[next], sizeof w) != 0;
}

static void kill_in_process(kills *x, hd_config *config, const char *other)
{
    static life l;
    hd_table *t;
    bool early = test_below(&x->random, 16) == 0;
    life_begin(&l, x->had->of, x->had->backend, 21);
    l.shared = x->shared;
    atomic_store(x->shared, 0);
    unlink(config->file);
    pid_t child = fork();
    check(child >= 0, "no child");
    if (child == 0) child_lives(&l, config, x->had->changes);
    while (!early && atomic_load(x->shared) == 0) usleep(20);
    end_child(child, test_below(&x->random, early ? 20000 : x->ns / 1000));
    config->backend = other;
    for (; test_below(&x->random, 4) == 0; x->in_recovery++) open_in_child(config, false, test_below(&x->random, 4000));
    if (test_below(&x->random, 4) == 0) {
        open_in_child(config, true, 0);
        uint64_t once = arrays_sum(config->file);
        open_in_child(config, true, 0);
        check(arrays_sum(config->file) == once, "the second recovery changed the table");
    }
    must(hd_open(config, &t));
    judge_left(x, t);
    hd_close(t);
}

static void kills_of(const shape *s, const char *backend, uint64_t rounds, kills *x)
{
    static life had;
    const char *other = strcmp(backend, "ref") == 0 ? "host" : "ref";
    hd_table *t;
    hd_config config = life_config(s, backend, NULL); /* a child has a copy of the device */
    x->had = &had;
    config.file = NULL;
    life_begin(&had, s, backend, 21);
    must(hd_open(&config, &t));
    uint64_t began = hd_seams_os.time.now_ns(NULL);
    life_live(&had, t, NULL, strcmp(backend, "ref") == 0 ? LIFE_MOST : LIFE_MOST / 8);
    x->ns = hd_seams_os.time.now_ns(NULL) - began;
    hd_close(t);
    config.file = test_path("process");
    for (uint64_t round = 0; round < rounds; round++) {
        test_case("%s on %s, kill %llu", s->name, backend, (ull)round);
        config.backend = backend;
        kill_in_process(x, &config, round % 2 ? other : backend);
    }
}

static void killed_in_process(void)
{
    const uint64_t all = 5 * PROCESS_SHAPES, part = ((test_is_long() ? 10000 : test_times(400)) + all - 1) / all;
    kills x = { .random = 9 };
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(page != MAP_FAILED, "no memory");
    x.shared = (_Atomic uint64_t *)page;
    for (size_t s = 0; s < PROCESS_SHAPES; s++) {
        kills_of(&process_shapes[s], "ref", 3 * part, &x);
        kills_of(&process_shapes[s], "host", part, &x);
        kills_of(&process_shapes[s], "cuda", part, &x);
    }
    munmap(page, 4096);
    check(x.torn > 0 || !test_is_long(), "no kill came in the middle of a batch");
    test_tried("cuts", all * part, "kills of a process whose table is its file");
    test_note("%llu of them cut a batch, and %llu others cut a recovery", (ull)x.torn, (ull)x.in_recovery);
}

/* What one mode leaves the other one opens. */
static void modes_alternate(void)
{
    for (size_t s = 0; s < PROCESS_SHAPES; s++) {
        shape of = process_shapes[s];
        life l;
        cuts c;
        life_begin(&l, &of, "ref", 15);
        cuts_begin(&c, NULL);
        of.config.commit = HD_COMMIT_BATCH;
        for (uint64_t round = 0; round < 24; round++) {
            of.config.durable = test_below(&l.random, 2) ? HD_DURABLE_DISK : HD_DURABLE_PROCESS;
            static const char *const on[] = { "ref", "host", "cuda" };
            hd_table *t = life_open(&l, on[round % 3], &c);
            life_compare(&l, t, l.promised);
            life_live(&l, t, &c, test_below(&l.random, 9));
            check(!l.failed, "%s", hd_why());
            if (test_below(&l.random, 4))
                life_kill(&c, t);
            else
                hd_close(t);
        }
        cuts_end(&c);
    }
}

/* ---- On a device ----------------------------------------------------------------------------- */

static bool on_a_disk(void *self, int fd) { return (void)self, (void)fd, false; }

static void files_on_a_device(void)
{
    static const struct {
        hd_index index;
        hd_durable durable;
        const char *why; /* NULL: it opens */
    } opens[] = {
        { HD_INDEX_USUAL, HD_DURABLE_DISK, NULL },
        { HD_INDEX_FAR, HD_DURABLE_DISK, NULL },
        { HD_INDEX_DEVICE, HD_DURABLE_DISK, "index: device" },
        { HD_INDEX_NEAR, HD_DURABLE_PROCESS, "file system in memory" },
    };
    for (size_t i = 0; i < sizeof opens / sizeof *opens; i++) {
        shape of = { "device", { .design = "gphash", .capacity = 48, .value_bytes = 4 } };
        cuts c;
        hd_table *t;
        hd_info info;
        cuts_begin(&c, NULL);
        c.seams.file.in_memory = on_a_disk;
        hd_config config = life_config(&of, "cuda", &c.seams);
        config.gphash.index = opens[i].index;
        config.durable = opens[i].durable;
        hd_status status = hd_open(&config, &t);
        check(status == (opens[i].why ? HD_EINVAL : HD_OK), "%s", hd_why());
        if (status) {
            check(strstr(hd_why(), opens[i].why), "%s", hd_why());
        } else {
            must(hd_table_info(t, &info));
            check(info.gphash.index == (i ? opens[i].index : HD_INDEX_NEAR), "index %d", (int)info.gphash.index);
            uint64_t key[] = { 1, 2 };
            int stream;
            hd_batch b = { .op = HD_OP_ERASE, .n = 2, .key = key, .stream = &stream };
            fake_record(&life_device, &stream);
            check(hd_run(t, &b) == HD_EINVAL && strstr(hd_why(), "captured"), "%s", hd_why());
            fake_forget(fake_recorded(&life_device));
            must(hd_check(t));
            hd_close(t);
        }
        cuts_end(&c);
    }
    fake_settled(&life_device);
}

/* ---- Pages that have changed ----------------------------------------------------------------- */

/* Copies the extents, each from a page on; how many pages that are. */
static uint64_t copy_extents(hd_table *t, uint8_t *to)
{
    hd_extent all[HD_EXTENTS_MOST];
    uint64_t pages = 0;
    int n = t->backend->extents(t->state, all);
    for (int i = 0; i < n; i++) {
        if (to) memcpy(to + pages * HD_EXTENT_PAGE, all[i].p, all[i].bytes);
        pages += (all[i].bytes + HD_EXTENT_PAGE - 1) / HD_EXTENT_PAGE;
    }
    return pages;
}

/* How many pages the backend says may have changed. was, is: copies before and now, or NULL: all that differ are among
 * them. */
static uint64_t count_changed(hd_table *t, const uint8_t *was, const uint8_t *is)
{
    uint64_t pages = copy_extents(t, NULL), n = 0;
    uint8_t *page = (uint8_t *)test_alloc(pages, 1);
    memset(page, 1, pages);
    must(t->backend->changed(t->state, page, pages));
    for (uint64_t k = 0; k < pages; n += page[k++]) {
        bool same = !was || memcmp(was + k * HD_EXTENT_PAGE, is + k * HD_EXTENT_PAGE, HD_EXTENT_PAGE) == 0;
        check(same || page[k], "page %llu of %llu has changed", (ull)k, (ull)pages);
    }
    free(page);
    return n;
}

/* Batch after batch, until the last one clears the table. most: pages that an item changes. */
static void count_batches(hd_table *t, uint32_t value_bytes, uint64_t most)
{
    enum { BATCH = 3 };
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND,     HD_OP_FIND_OR_INSERT,
                                 HD_OP_ASSIGN,           HD_OP_ERASE,    HD_OP_INSERT_OR_ASSIGN,
                                 HD_OP_INSERT_OR_ASSIGN, HD_OP_ERASE_IF, HD_OP_CLEAR };
    uint64_t bytes = copy_extents(t, NULL) * HD_EXTENT_PAGE, random = 5, key[BATCH], erased = 0;
    uint8_t *was = (uint8_t *)test_alloc(bytes, 1), *is = (uint8_t *)test_alloc(bytes, 1);
    uint8_t *value = (uint8_t *)test_alloc(BATCH, value_bytes);
    for (uint64_t round = 0; round < 5 * sizeof ops / sizeof *ops; round++) {
        hd_batch b = { .op = ops[round / 5], .n = BATCH, .key = key, .value = value, .pred = "all" };
        for (uint64_t i = 0; i < BATCH; i++) key[i] = test_below(&random, 20);
        memset(value, (int)round + 1, BATCH * (size_t)value_bytes);
        test_case("values of %u bytes: %s, round %llu", value_bytes, hd_op_name(b.op), (ull)round);
        if (b.op == HD_OP_ERASE_IF) b.count = &erased;
        copy_extents(t, was);
        must(hd_run(t, &b));
        copy_extents(t, is);
        uint64_t n = count_changed(t, was, is);
        if (b.op != HD_OP_CLEAR && b.op != HD_OP_ERASE_IF)
            check(n <= (b.op == HD_OP_FIND ? 0 : BATCH * most), "%llu pages", (ull)n);
        check(count_changed(t, NULL, NULL) == 0, "pages have changed that no one has touched");
    }
    free(was);
    free(is);
    free(value);
}

static int visit_none(void *context, uint64_t key, uint64_t score, void *value)
{
    (void)context, (void)key, (void)score, (void)value;
    return 0;
}

/* The marks of kernels. A walk may have changed any page; from find_ptr on the caller may change any at any time. */
static void marked_pages(void)
{
    static const struct {
        uint32_t value_bytes;
        hd_layout layout;
        uint64_t most;
    } tables[] = { { 8, HD_LAYOUT_INLINE, 2 }, { 5000, HD_LAYOUT_CELLS, 5 }, { 16, HD_LAYOUT_CELLS, 3 } };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const shape of = { "near",
                           { .design = "gphash",
                             .capacity = 1200,
                             .value_bytes = tables[i].value_bytes,
                             .layout = tables[i].layout,
                             .gphash = { .index = HD_INDEX_NEAR } } };
        hd_config c = life_config(&of, "cuda", NULL);
        hd_table *t;
        hd_info info;
        c.file = NULL;
        must(hd_open(&c, &t));
        for (int grown = 0; grown < 2; grown++) {
            if (grown) must(hd_grow(t, 2 * info.buckets));
            must(hd_table_info(t, &info));
            count_changed(t, NULL, NULL);
            count_batches(t, tables[i].value_bytes, tables[i].most);
        }
        uint64_t pages = copy_extents(t, NULL), key = 1, n = 0;
        must(hd_for_each(t, visit_none, NULL));
        check(count_changed(t, NULL, NULL) == pages, "a walk has changed less");
        check(count_changed(t, NULL, NULL) == 0, "the walk goes on");
        void *ptr;
        hd_batch b = { .op = HD_OP_FIND_PTR, .n = 1, .key = &key, .ptr = &ptr };
        if (tables[i].layout == HD_LAYOUT_CELLS) must(hd_run(t, &b));
        for (int twice = 0; twice < 2; twice++) n += count_changed(t, NULL, NULL);
        check(n == (tables[i].layout == HD_LAYOUT_CELLS ? 2 * pages : 0), "%llu of %llu pages", (ull)n, (ull)pages);
        hd_close(t);
    }
}

static hd_status nothing_changed(void *state, uint8_t *page, uint64_t pages)
{
    (void)state;
    memset(page, 0, pages);
    return HD_OK;
}

/* Of a backend that says of no page that it has changed, a verify build ends with the batch; in other builds the file
 * does not have it. */
static void unmarked_pages(void)
{
    life l;
    cuts c;
    world w = { .value = { 0 } };
    life_begin(&l, &shapes[SHAPES - 1], "ref", 3);
    cuts_begin(&c, NULL);
    hd_table *t = life_open(&l, l.backend, &c);
    hd_backend unmarked = *t->backend;
    unmarked.changed = nothing_changed;
    t->backend = &unmarked;
#ifdef HD_VERIFY
    int how = 0;
    pid_t child = fork();
    check(child >= 0, "no child");
    if (child == 0) {
        life_batch(&l, t, &w);
        _exit(0);
    }
    check(waitpid(child, &how, 0) == child && WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT, "it ended with %d", how);
    life_kill(&c, t);
#else
    must(life_batch(&l, t, &w));
    l.after[1] = l.after[0];
    l.changes = 1;
    life_kill(&c, t);
    t = life_open(&l, l.backend, &c);
    life_compare(&l, t, 1);
    hd_close(t);
#endif
    cuts_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit(cuts_on_ref),         unit(cuts_on_host),     unit(cuts_on_device),    unit(journal_grows),
        unit(journal_gets_room),   unit(recovery_repeats), unit(failing_calls),     unit(journal_ends),
        unit(damaged_files),       unit(forged_files),     unit(other_files),       unit(refused_configs),
        unit(configs_of_files),    unit(killed),           unit(killed_in_process), unit(modes_alternate),
        unit(one_table_of_a_file), unit(loaded),           unit(marked_pages),      unit(unmarked_pages),
        unit(files_on_a_device),
    };
    fake_init(&life_device);
    return test_run(tests);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * t_line.c - tables in files on memory that keeps lines (HD_DURABLE_LINE): whatever words a power cut leaves, after a
 * kill, too, the table that opens from it has all batches up to one, and that is none before the last that returned.
 * Without any one kind of write-back, or the fences, that is not so, and is found.
 */
#include "base/lines.h"
#include "tests/faulty.h"
#include "tests/trials.h"

/* ---- Tables ---------------------------------------------------------------------------------- */

#define IN_LINE(name_) .design = name_, .durable = HD_DURABLE_LINE
static shape shapes[] = {
    { .name = "gphash, line", .config = { IN_LINE("gphash"), .capacity = 48, .value_bytes = 4 } },
    { .name = "gphash cells, line",
      .config = { IN_LINE("gphash"), .capacity = 48, .value_bytes = 8, .layout = HD_LAYOUT_CELLS } },
    { .name = "gphash wide, line",
      .config = { IN_LINE("gphash"), .capacity = 48, .value_bytes = 40, .commit = HD_COMMIT_CALL } },
    { .name = "ovs, line",
      .config = { IN_LINE("ovs"), .capacity = 96, .value_bytes = 4, .ovs = { .segment_bytes = 256 } } },
    { .name = "ovs ranges, line",
      .config = { IN_LINE("ovs"), .capacity = 64, .value_bytes = 4, .commit = HD_COMMIT_CALL,
                  .ovs = { .segment_bytes = 128, .partition = HD_PARTITION_RANGE, .copy_bytes = 64 } } },
    { .name = "hive, line", .config = { IN_LINE("hive"), .capacity = 64, .value_bytes = 4, .slots = 8 } },
};
enum { SHAPES = sizeof shapes / sizeof *shapes, CELLS = 1 /* a shape */ };

/* Of changes: short runs make half. */
static uint64_t changes(uint64_t most) { return test_is_long() ? most : most / 2; }

static void cuts_on_ref(void) { lives_all(shapes, SHAPES, "ref", changes(LIFE_CHANGES), test_times(8)); }
static void cuts_on_host(void) { lives_all(shapes, SHAPES, "host", changes(12), test_times(8)); }
static void cuts_on_device(void) { lives_all(shapes, SHAPES, "cuda", changes(12), test_times(8)); }
static void recovery_repeats(void) { lives_recover(shapes, SHAPES); }
static void failing_calls(void) { lives_fail(shapes, SHAPES); }

/* ---- Larger files ---------------------------------------------------------------------------- */

/* A batch whose record needs a larger journal, and growth to more than the file has. */
static void file_gets_larger(void)
{
    const uint32_t bytes = test_is_long() ? LIFE_WIDE : LIFE_WIDE / 4;
    const shape wide = { .name = "gphash, wide",
                         .config = test_usual(IN_LINE("gphash"), .capacity = 96, .value_bytes = bytes) };
    trial x = { .random = hd_rng_from(4) };
    life l;
    cuts c;
    hd_info info;
    hd_table *t = life_start(&l, &c, &wide, "ref", 10);
    life_live(&l, t, &c, 6);
    size_t from = c.events;
    lives_larger_journal(&l, t, &c, bytes);
    const uint64_t had = life_superblock(c.file.bytes).file_bytes;
    must(hd_table_info(t, &info));
    must(hd_grow(t, 2 * info.buckets));
    lives_note(&l, &c, &l.after[l.changes]);
    life_live(&l, t, &c, 3);
    check(life_superblock(c.file.bytes).file_bytes > had, "the file has not grown");
    life_kill(&c, t);
    lives_cut(&x, &l, &c, from, 2);
    test_tried("cuts", x.tried, "files that a power cut may leave of a file that gets larger");
    cuts_end(&c);
}

/* A batch that takes more cells than are free at its beginning, so that it uses some again that it has freed: no cut
 * shows a value of a key under another one. */
static void cells_come_back(void)
{
    enum { N = 3000 };
    trial x = { .random = hd_rng_from(6) };
    life l;
    cuts c;
    static uint64_t key[N], value[N];
    static uint8_t outcome[N];
    hd_table *t = life_start(&l, &c, &shapes[CELLS], "ref", 8);
    for (uint64_t round = 0; round < 3; round++) {
        world w = l.after[l.changes];
        for (uint64_t i = 0; i < N; i++) {
            key[i] = hd_rng_below(&x.random, 40);
            value[i] = (hd_rng_next(&x.random) & 0x7fff) * 0x0001000100010001;
        }
        hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, N, key, value, outcome);
        must(hd_run(t, &b));
        for (uint64_t i = 0; i < N; i++)
            if (outcome[i] == HD_INSERTED || outcome[i] == HD_UPDATED) w.value[key[i]] = (int64_t)(value[i] & 0xffff);
        lives_note(&l, &c, &w);
    }
    life_kill(&c, t);
    lives_cut(&x, &l, &c, 0, 64);
    test_tried("cuts", x.tried, "files that a power cut may leave of batches that use cells twice");
    cuts_end(&c);
}

/* ---- Processes that are killed --------------------------------------------------------------- */

/* A process dies with a write-back or a fence. The next one sees all that was stored, and goes on. Then the power is
 * cut. False: the life had no such step. */
static bool die_at(const shape *s, uint64_t at, trial *x)
{
    life l;
    cuts c;
    hd_table *t = life_start(&l, &c, s, "ref", 9 + at);
    c.steps = 0;
    c.die_at = at;
    life_live(&l, t, &c, 12);
    const bool died = c.dead;
    life_kill(&c, t);
    c.die_at = 0;
    size_t from = c.events;
    test_case("%s: dies at step %llu", s->name, (ull)at);
    t = life_open(&l, l.backend, &c);
    l.changes = life_compare(&l, t, l.promised);
    cuts_mark(&c, l.promised = l.changes);
    life_live(&l, t, &c, 3);
    life_kill(&c, t);
    lives_cut(x, &l, &c, from, 2);
    cuts_end(&c);
    return died;
}

static void killed(void)
{
    trial x = { .random = hd_rng_from(12) };
    uint64_t deaths = 0;
    for (size_t s = 0; s < SHAPES; s++)
        for (uint64_t at = 1 + s; die_at(&shapes[s], at, &x); at += 29) deaths++;
    check(deaths > 2 * SHAPES, "%llu processes died", (ull)deaths);
    test_tried("cuts", x.tried, "files that a power cut may leave after %llu kills", (ull)deaths);
}

/* ---- What is found --------------------------------------------------------------------------- */

enum { SUPERBLOCKS, JOURNAL, EXTENTS, PARTS };
static int kept; /* a part whose lines are not written back */

static bool keeps(const cuts *c, uint64_t offset)
{
    const hd_superblock sb = life_superblock(c->file.bytes);
    int is = EXTENTS;
    if (offset < HD_IMAGE_BLOCKS) is = SUPERBLOCKS;
    if (offset >= sb.journal && offset < sb.journal + sb.journal_bytes) is = JOURNAL;
    return is == kept;
}

/* A life in which something is left out; PARTS: fences. Returns how many of the files that are left are wrong. */
static uint64_t wrong_without(int out, uint64_t *tried)
{
    trial x = { .random = hd_rng_from(5), .expects = true };
    life l;
    cuts c;
    life_begin(&l, &shapes[0], "ref", 3);
    cuts_begin(&c, NULL);
    kept = out;
    c.keeps = out == PARTS ? NULL : keeps;
    c.fences_fail = out == PARTS;
    hd_table *t = life_open(&l, l.backend, &c);
    life_live(&l, t, &c, LIFE_CHANGES);
    life_kill(&c, t);
    lives_cut(&x, &l, &c, 0, 2);
    cuts_end(&c);
    *tried += x.tried;
    return x.wrong;
}

static void all_are_needed(void)
{
    static const char *const names[] = { "superblocks", "the journal", "extents", "fences" };
    uint64_t tried = 0;
    for (int out = SUPERBLOCKS; out <= PARTS; out++) {
        uint64_t wrong = wrong_without(out, &tried);
        check(wrong > 0, "without %s nothing is wrong", names[out]);
        test_note("without %s %llu files are wrong", names[out], (ull)wrong);
    }
    test_tried("cuts", tried, "files that a power cut may leave where something is not written back");
}

/* ---- The operating system -------------------------------------------------------------------- */

/* Lines of common memory are written back: they are as before. */
static void lines_stay(void)
{
    const hd_file_seam *os = &hd_seams_os.file;
    uint8_t bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 7);
    if (!hd_lines_can()) return;
    for (size_t from = 0; from < 130; from++) os->write_back(os->self, bytes + from, sizeof bytes - 2 * from);
    os->fence(os->self);
    for (size_t i = 0; i < sizeof bytes; i++) check(bytes[i] == (uint8_t)(i * 7), "byte %zu has changed", i);
}

/* On a file system that maps files so, a table lives; elsewhere it is refused, and leaves nothing. */
static void files_of_the_system(void)
{
    static hd_seams none;
    life l;
    hd_table *t;
    none = hd_seams_os;
    none.file.map_lines = NULL;
    hd_config config = life_config(&shapes[0], "ref", &none);
    config.file = test_path("line");
    must_fail(hd_open(&config, &t), HD_EINVAL, "durable: line");
    check(test_files() == 0, "a file was left");
    config = life_config(&shapes[0], "ref", NULL);
    config.file = test_path("line");
    life_begin(&l, &shapes[0], "ref", 1);
    for (int twice = 0; twice < 2; twice++) {
        hd_status status = hd_open(&config, &t);
        check(status == HD_OK || (status == HD_EINVAL && strstr(hd_why(), "durable: line")), "%s", hd_why());
        test_note("the folder of this test %s such a file system", status ? "is not on" : "is on");
        if (status) continue;
        life_compare(&l, t, l.promised);
        life_live(&l, t, NULL, LIFE_CHANGES);
        hd_close(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit(cuts_on_ref),     unit(cuts_on_host), unit(cuts_on_device),      unit(file_gets_larger),
        unit(cells_come_back), unit(killed),       unit(recovery_repeats),    unit(failing_calls),
        unit(all_are_needed),  unit(lines_stay),   unit(files_of_the_system),
    };
    lives_init();
    lives_complete(shapes, SHAPES);
    return test_run(tests);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * t_image_cuts.c - tables with a file, and the power: whatever a cut leaves of the file, the table that opens from it
 * has all batches up to one, and that is none before the last that was promised. A write that fails makes the table one
 * to read. What one mode leaves the others open.
 */
#include <errno.h>
#include <fcntl.h>

#include "lib/journal.h"
#include "lib/table.h"
#include "tests/trials.h"

/* ---- Cuts ------------------------------------------------------------------------------------ */

static void cuts_on_ref(void) { lives_all(life_shapes, LIFE_SHAPES, "ref", LIFE_CHANGES, test_times(8)); }
static void cuts_on_host(void) { lives_all(life_shapes, LIFE_SHAPES, "host", 12, test_times(8)); }
static void cuts_on_device(void) { lives_all(life_shapes, LIFE_SHAPES, "cuda", 12, test_times(8)); }
static void recovery_repeats(void) { lives_recover(life_shapes, LIFE_SHAPES); }

static void failing_calls(void)
{
    lives_fail(life_shapes, LIFE_SHAPES);
    lives_fail(life_process_shapes, LIFE_PROCESS_SHAPES);
}

/* What a store may forget before each change. */
typedef enum forgotten { NOTHING, CELLS_NAMED, CELLS_LOGGED, FORGOTTEN } forgotten;

static void forget(hd_store *x, forgotten what)
{
    if (what == CELLS_NAMED && x->cells.n) memset(x->cells.names_of, 0, x->cells.n);
    if (what == CELLS_LOGGED && x->cells.n) memset(x->cells.logged, 0, hd_cells_bits(&x->cells));
}

/* More values than there are free cells: cells that the file names, or of which the journal has bytes, are used again.
 */
static void live_of_cells(trial *x, uint64_t seed, forgotten what)
{
    const shape wide = { .name = "gphash, churn",
                         .config = test_usual(.design = "gphash", .capacity = 96, .value_bytes = 40),
                         .churns = true };
    life l;
    cuts c;
    hd_table *t = life_start(&l, &c, &wide, "ref", seed);
    for (int i = 0; i < 12; i++) {
        world w = l.after[l.changes];
        t->store->seams.file.sync_bytes = hd_rng_below(&l.random, 2) ? 0 : UINT64_MAX;
        forget(t->store, what);
        must(hd_rng_below(&l.random, 4) ? life_batch(&l, t, &w) : life_flip(&l, t, &w, wide.config.value_bytes));
        lives_note(&l, &c, &w);
    }
    life_kill(&c, t);
    test_case("%s: cuts of life %llu", wide.name, (ull)seed);
    lives_cut(x, &l, &c, 0, 4);
    cuts_end(&c);
}

static void cells_are_used_again(void)
{
#ifdef HD_VERIFY
    enum { LAST = CELLS_LOGGED }; /* what is named it compares itself */
#else
    enum { LAST = CELLS_NAMED };
#endif
    trial x = { .random = hd_rng_from(8) };
    for (uint64_t seed = 0; seed < test_times(8); seed++) live_of_cells(&x, seed, NOTHING);
    test_tried("cuts", x.tried, "files that a power cut may leave of cells that are used again");
    for (int what = LAST; what < FORGOTTEN; what++) {
        trial wrong = { .random = hd_rng_from(8), .expects = true };
        for (uint64_t seed = 0; seed < 8 && !wrong.wrong; seed++) live_of_cells(&wrong, seed, (forgotten)what);
        check(wrong.wrong > 0, "it does no harm to forget cells (%d)", what);
    }
}

static void journal_gets_room(void)
{
    const shape wide = { .name = "gphash, wide",
                         .config = test_usual(.design = "gphash", .capacity = 96, .value_bytes = LIFE_WIDE,
                                              .layout = HD_LAYOUT_CELLS) };
    trial x = { .random = hd_rng_from(4) };
    life l;
    cuts c;
    hd_table *t = life_start(&l, &c, &wide, "ref", 13);
    life_live(&l, t, &c, 6);
    size_t from = c.events;
    lives_larger_journal(&l, t, &c, LIFE_WIDE);
    life_live(&l, t, &c, 3);
    life_kill(&c, t);
    lives_cut(&x, &l, &c, from, 2);
    test_tried("cuts", x.tried, "files that a power cut may leave of a journal that gets larger");
    cuts_end(&c);
}

/* Growth that needs a larger journal, too. */
static void journal_grows(void)
{
    const shape large = { .name = "ovs, large",
                          .config = test_usual(.design = "ovs", .capacity = 3000, .value_bytes = 4,
                                               .ovs = { .segment_bytes = 4096 }) };
    trial x = { .random = hd_rng_from(9) };
    life l;
    cuts c;
    hd_info info;
    hd_table *t = life_start(&l, &c, &large, "ref", 2);
    life_live(&l, t, &c, 3);
    size_t from = c.events;
    uint64_t bytes = c.file.size;
    for (int twice = 0; twice < 2; twice++) {
        must(hd_table_info(t, &info));
        must(hd_grow(t, 4 * info.buckets));
        lives_note(&l, &c, &l.after[l.changes]);
        life_live(&l, t, &c, 2);
    }
    check(c.file.size > 4 * bytes, "the file has not grown");
    life_kill(&c, t);
    lives_cut(&x, &l, &c, from, 4);
    test_tried("cuts", x.tried, "files that a power cut may leave of growth");
    cuts_end(&c);
}

/* A record of another generation, of another file, or of later batches ends the journal. */
static void journal_ends(void)
{
    life l;
    cuts c;
    hd_image im;
    hd_journal j;
    hd_table *t = life_start(&l, &c, &life_shapes[0], "ref", 4);
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

/* Pages that are not in the file, lines that are mapped twice or not at all: the recorder objects, and calls fail from
 * then on. */
static void recorder_objects(void)
{
    static const uint64_t word = 1;
    for (int what = 0; what < 3; what++) {
        cuts c;
        cuts_begin(&c, NULL);
        const hd_file_seam *file = &c.seams.file;
        int fd = file->open(file->self, "image", O_CREAT | O_EXCL | O_RDWR, 0666);
        check(file->write_at(file->self, fd, &word, sizeof word, 0) == sizeof word && !c.wrong, "%s", c.wrong);
        if (what == 0) check(!file->map(file->self, NULL, HD_IMAGE_PAGE, fd, 0), "there are pages");
        for (int twice = 0; what == 1 && twice < 2; twice++) file->map_lines(file->self, HD_IMAGE_PAGE, fd);
        if (what == 2) file->write_back(file->self, &word, sizeof word);
        check(c.wrong, "nothing is wrong (%d)", what);
        check(file->sync_data(file->self, fd) < 0 && errno == EIO, "calls go on (%d)", what);
        cuts_end(&c);
    }
}

/* No cell that a word of the file names is taken for free, also where slots are empty and their words stay. */
static void named_cells_are_known(const hd_store *x)
{
    for (uint32_t e = 0; e < x->image.sb.extents && x->cells.n; e++) {
        const uint64_t *word = (const uint64_t *)(const void *)hd_store_copy(x, e);
        for (uint64_t i = 0; x->cells.names[e] && i < x->image.sb.extent[e].bytes / sizeof *word; i++) {
            uint64_t cell = word[i] & UINT32_MAX;
            check(cell >= x->cells.n || x->cells.names_of[cell], "cell %llu is named, and taken for free", (ull)cell);
        }
    }
}

/* What one mode leaves the others open, on any backend. */
static void alternate(const shape *s)
{
    static const hd_durable modes[] = { HD_DURABLE_DISK, HD_DURABLE_LINE, HD_DURABLE_PROCESS };
    static const char *const on[] = { "ref", "host", "cuda" };
    const uint64_t all = strcmp(s->config.design, "gphash") == 0 ? 3 : 2;
    shape of = *s;
    life l;
    cuts c;
    life_begin(&l, &of, "ref", 15);
    cuts_begin(&c, NULL);
    of.config.commit = HD_COMMIT_BATCH;
    for (uint64_t round = 0; round < 24; round++) {
        of.config.durable = modes[hd_rng_below(&l.random, all)];
        hd_table *t = life_open(&l, on[round % all], &c);
        life_compare(&l, t, l.promised);
        life_live(&l, t, &c, hd_rng_below(&l.random, 9));
        named_cells_are_known(t->store);
        check(!l.failed, "%s", hd_why());
        if (hd_rng_below(&l.random, 4))
            life_kill(&c, t);
        else
            hd_close(t);
    }
    cuts_end(&c);
}

static void modes_alternate(void)
{
    for (size_t s = 0; s < LIFE_SHAPES; s++) alternate(&life_shapes[s]);
    for (size_t s = 0; s < LIFE_PROCESS_SHAPES; s++) alternate(&life_process_shapes[s]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit(cells_are_used_again), unit(cuts_on_ref),       unit(cuts_on_host),     unit(cuts_on_device),
        unit(journal_grows),        unit(journal_gets_room), unit(recovery_repeats), unit(failing_calls),
        unit(journal_ends),         unit(modes_alternate),   unit(recorder_objects),
    };
    lives_init();
    return test_run(tests);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * t_image_pages.c - tables with a file on a device: which files it takes; and which pages of a table's arrays batches
 * have changed, so that only those are compared with the file.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/journal.h"
#include "lib/table.h"
#include "tests/lives.h"

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
        const shape of = { .name = "device",
                           .config = test_usual(.design = "gphash", .capacity = 48, .value_bytes = 4),
                           .device = &life_device.seam };
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
        const shape of = { .name = "near",
                           .config =
                               test_usual(.design = "gphash", .capacity = 1200, .value_bytes = tables[i].value_bytes,
                                          .layout = tables[i].layout, .gphash = { .index = HD_INDEX_NEAR }),
                           .device = &life_device.seam };
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
    hd_table *t = life_start(&l, &c, &life_shapes[LIFE_SHAPES - 1], "ref", 3);
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
    const struct CMUnitTest tests[] = { unit(marked_pages), unit(unmarked_pages), unit(files_on_a_device) };
    lives_init();
    return test_run(tests);
}

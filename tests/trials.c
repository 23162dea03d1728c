/* SPDX-License-Identifier: Apache-2.0
 *
 * trials.c - see trials.h.
 */
#include "tests/trials.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/table.h"

static uint64_t again(void) { return test_is_long() ? 64 : 256; }

static void nothing_is_wrong(const trial *x) { check(x->expects || !x->wrong, "%s", x->why); }

void lives_cut(trial *x, const life *had, const cuts *c, size_t from, uint64_t random)
{
    x->again = again();
    trial_cuts(x, had, c, from, random);
    nothing_is_wrong(x);
}

void lives_all(const shape *shapes, size_t n, const char *backend, uint64_t changes, uint64_t random)
{
    trial x = { .random = hd_rng_from(7), .again = again() };
    for (size_t s = 0; s < n; s++) {
        life l;
        if (strcmp(backend, "cuda") == 0 && strcmp(shapes[s].config.design, "gphash") != 0) continue;
        test_case("%s on %s: cuts", shapes[s].name, backend);
        trial_live(&x, &l, &shapes[s], backend, 11 + s, changes, random);
        nothing_is_wrong(&x);
    }
    test_tried("cuts", x.tried, "files that a power cut may leave, opened on %s", backend);
    test_note("%llu of them were left by a recovery that was cut", (ull)x.cut_again);
}

void lives_fail(const shape *shapes, size_t n)
{
    static const int with[] = { EIO, ENOSPC, CUTS_SHORT, EINTR };
    trial x = { .random = hd_rng_from(3), .again = again(), .syncs = test_is_long() ? 1 : 3 };
    uint64_t calls = 0;
    for (size_t s = 0; s < n; s++)
        for (size_t k = 0; k < sizeof with / sizeof *with; k++) {
            static life l;
            test_case("%s: a call fails with %d", shapes[s].name, with[k]);
            for (uint64_t at = 1; trial_fail(&x, &l, &shapes[s], with[k], 6, at); at++, calls++) nothing_is_wrong(&x);
            nothing_is_wrong(&x);
        }
    test_tried("files", calls, "calls for files of tables that failed");
    if (x.tried) test_tried("cuts", x.tried, "files that a power cut may leave after a call that failed");
}

void lives_recover(const shape *shapes, size_t n)
{
    for (size_t s = 0; s < n; s++) {
        life l;
        cuts c;
        hd_table *t = life_start(&l, &c, &shapes[s], "ref", 31 + s);
        life_live(&l, t, &c, LIFE_CHANGES);
        life_kill(&c, t);
        test_case("%s: recovered twice", shapes[s].name);
        life_kill(&c, life_open(&l, l.backend, &c));
        cuts_file once = life_copy(&c.file);
        life_kill(&c, life_open(&l, l.backend, &c));
        check(once.size == c.file.size, "%zu bytes, then %zu", once.size, c.file.size);
        check(memcmp(once.bytes + HD_IMAGE_BLOCKS, c.file.bytes + HD_IMAGE_BLOCKS, once.size - HD_IMAGE_BLOCKS) == 0,
              "the second recovery changed the file");
        free(once.bytes);
        cuts_end(&c);
    }
}

static int present(const world *w)
{
    int n = 0;
    for (int k = 0; k < LIFE_KEYS; k++) n += w->value[k] != LIFE_ABSENT;
    return n;
}

void lives_note(life *l, cuts *c, const world *w)
{
    l->after[++l->changes] = *w;
    cuts_mark(c, l->promised = l->changes);
}

void lives_larger_journal(life *l, hd_table *t, cuts *c, uint32_t value_bytes)
{
    world w = l->after[l->changes];
    while (present(&w) < 2 * LIFE_KEYS / 3) { /* these need no larger one */
        must(life_batch(l, t, &w));
        lives_note(l, c, &w);
    }
    const hd_superblock was = life_superblock(c->file.bytes);
    t->store->seams.file.sync_bytes = UINT64_MAX;
    must(life_flip(l, t, &w, value_bytes));
    const hd_superblock is = life_superblock(c->file.bytes);
    lives_note(l, c, &w);
    check(is.journal_bytes > was.journal_bytes, "%llu bytes of journal", (ull)is.journal_bytes);
    check(memcmp(is.extent, was.extent, sizeof is.extent) == 0, "the table has moved");
}

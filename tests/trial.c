/* SPDX-License-Identifier: Apache-2.0
 *
 * trial.c - see trial.h.
 */
#include "tests/trial.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/table.h"

/* Opens what was left, and compares. NULL: something is wrong, which counts, or is a failure. */
static hd_table *open_left(trial *x, cuts *c, uint64_t promised, uint64_t *is)
{
    hd_table *t = NULL;
    hd_config config = life_config(x->had->of, "ref", &c->seams);
    const char *why = hd_open(&config, &t) ? hd_why() : life_wrong(x->had, t, promised, is);
    x->tried++;
    if (!*why) return t;
    check(x->expects, "%s", why);
    x->wrong++;
    if (t) life_kill(c, t);
    return NULL;
}

/* A recovery that was cut finds what another one found; in mode line once that one had returned. Before, the words of
 * its superblock may complete the one that the first cut had torn. */
static void try_again(void *context, const cuts_file *left, uint64_t mark)
{
    trial *x = (trial *)context;
    const uint64_t promised = mark > x->promised ? mark : x->promised;
    uint64_t is = 0;
    cuts c;
    cuts_begin(&c, left);
    hd_table *t = open_left(x, &c, promised, &is);
    bool exact = mark || x->had->of->config.durable != HD_DURABLE_LINE;
    check(!t || !exact || is == x->number, "a recovery that was cut finds %llu changes, another one %llu", (ull)is,
          (ull)x->number);
    if (t) life_kill(&c, t);
    x->cut_again++;
    cuts_end(&c);
}

static void try_left(void *context, const cuts_file *left, uint64_t mark)
{
    trial *x = (trial *)context;
    cuts c;
    cuts_begin(&c, left);
    hd_table *t = open_left(x, &c, mark, &x->number);
    x->promised = mark;
    if (t) {
        cuts_mark(&c, x->number);
        life_kill(&c, t);
        if (test_below(&x->random, test_is_long() ? 64 : 256) == 0) cuts_each(&c, 0, 4, &x->random, try_again, x);
    }
    cuts_end(&c);
}

void trial_cuts(trial *x, const life *had, const cuts *c, size_t from, uint64_t random)
{
    x->had = had;
    cuts_each(c, from, random, &x->random, try_left, x);
}

static int present(const world *w)
{
    int n = 0;
    for (int k = 0; k < LIFE_KEYS; k++) n += w->value[k] != LIFE_ABSENT;
    return n;
}

void trial_larger_journal(life *l, hd_table *t, cuts *c, uint32_t value_bytes)
{
    while (present(&l->after[l->changes]) < 2 * LIFE_KEYS / 3) life_live(l, t, c, 1);
    const hd_superblock was = life_superblock(c->file.bytes);
    world w = l->after[l->changes];
    t->store->seams.file.sync_bytes = UINT64_MAX;
    must(life_flip(l, t, &w, value_bytes));
    const hd_superblock is = life_superblock(c->file.bytes);
    l->after[++l->changes] = w;
    cuts_mark(c, l->promised = l->changes);
    check(is.journal_bytes > was.journal_bytes, "%llu bytes of journal", (ull)is.journal_bytes);
    check(memcmp(is.extent, was.extent, sizeof is.extent) == 0, "the table has moved");
}

void trial_lives(const shape *shapes, size_t n, const char *backend, uint64_t changes, uint64_t random)
{
    trial x = { .random = 7 };
    for (size_t s = 0; s < n; s++) {
        life l;
        cuts c;
        if (strcmp(backend, "cuda") == 0 && strcmp(shapes[s].config.design, "gphash") != 0) continue;
        hd_table *t = life_start(&l, &c, &shapes[s], backend, 11 + s);
        life_live(&l, t, &c, changes / 2);
        hd_close(t);
        l.promised = l.changes;
        cuts_mark(&c, l.promised);
        t = life_open(&l, l.backend, &c);
        life_compare(&l, t, l.promised);
        life_live(&l, t, &c, changes / 2);
        check(!l.failed, "%s", hd_why());
        life_kill(&c, t);
        test_case("%s on %s: cuts", shapes[s].name, backend);
        trial_cuts(&x, &l, &c, 0, random);
        cuts_end(&c);
    }
    test_tried("cuts", x.tried, "files that a power cut may leave, opened on %s", backend);
    test_note("%llu of them were left by a recovery that was cut", (ull)x.cut_again);
}

/* A call of the seam fails: nothing that was promised is lost, and from then on the table is only to be read. */
static void fail_one_call(const shape *s, int with, uint64_t at, trial *x, bool *done)
{
    life l;
    cuts c;
    hd_table *t = NULL;
    life_begin(&l, s, "ref", 5);
    cuts_begin(&c, NULL);
    c.fail_at = at;
    c.fail_with = with;
    hd_config config = life_config(s, "ref", &c.seams);
    hd_status opened = hd_open(&config, &t);
    test_case("%s: call %llu fails with %d", s->name, (ull)at, with);
    check(!opened || (opened == HD_EIO && c.failed), "%s: %s", hd_status_name(opened), hd_why());
    if (t) life_live(&l, t, &c, 14);
    test_case("%s: call %llu, %s, fails with %d", s->name, (ull)at, c.failed ? c.failed : "none", with);
    if (l.failed) {
        world w;
        check(l.failed == HD_EIO && c.failed, "%s: %s", hd_status_name(l.failed), hd_why());
        life_look(t, &w);
        check(memcmp(&w, &l.after[l.changes], sizeof w) == 0, "the table that is to be read has changed");
        must_fail(hd_clear(t), HD_EIO, "open it again");
        must_fail(hd_grow(t, 1 << 10), HD_EIO, "open it again");
        must_fail(hd_persist(t), HD_EIO, "open it again");
    }
    *done = c.calls < at;
    hd_close(t);
    c.fail_at = 0;
    const bool cut = c.failed && strcmp(c.failed, "sync_data") == 0 && (test_is_long() || at % 3 == 0);
    size_t from = cut ? c.events : SIZE_MAX;
    t = life_open(&l, l.backend, &c);
    life_compare(&l, t, l.promised);
    hd_close(t);
    if (!life_in_process(s)) trial_cuts(x, &l, &c, from < c.events ? from : c.events, 2);
    cuts_end(&c);
}

void trial_failures(const shape *shapes, size_t n)
{
    static const int with[] = { EIO, ENOSPC, CUTS_SHORT, EINTR };
    trial x = { .random = 3 };
    uint64_t tried = 0;
    for (size_t s = 0; s < n; s++)
        for (size_t k = 0; k < sizeof with / sizeof *with; k++) {
            bool done = false;
            for (uint64_t at = 1; !done; at++, tried++) fail_one_call(&shapes[s], with[k], at, &x, &done);
        }
    test_tried("files", tried, "calls for files of tables that failed");
    if (x.tried) test_tried("cuts", x.tried, "files that a power cut may leave after a call that failed");
}

void trial_recoveries(const shape *shapes, size_t n)
{
    for (size_t s = 0; s < n; s++) {
        life l;
        cuts c;
        hd_table *t = life_start(&l, &c, &shapes[s], "ref", 31 + s);
        life_live(&l, t, &c, LIFE_CHANGES);
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

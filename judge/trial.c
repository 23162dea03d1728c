/* SPDX-License-Identifier: Apache-2.0
 *
 * trial.c - see trial.h.
 */
#include "judge/trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lib/table.h"

/* ---- What is said ---------------------------------------------------------------------------- */

static void object(trial *x, const char *where, const char *why)
{
    if (x->wrong++ == 0) snprintf(x->why, sizeof x->why, "%s%s%s", x->before, where, why);
}

/* The part of the file that has this byte. */
static const char *part_of(const cuts_file *left, uint64_t offset)
{
    if (offset < HD_IMAGE_BLOCKS || left->size < HD_IMAGE_BLOCKS) return "the superblocks";
    const hd_superblock sb = life_superblock(left->bytes);
    return offset - sb.journal < sb.journal_bytes ? "the journal" : "the extents";
}

/* How the file came about, in words. */
static void say_cut(const cuts_file *left, const cuts_cut *how, char *text, size_t n)
{
    size_t used = (size_t)snprintf(text, n, "the power is cut before event %zu", how->event);
    if (how->nameless)
        snprintf(text + used, n - used, ", and the folder does not name the file: ");
    else if (how->lost)
        snprintf(text + used, n - used,
                 ", and %zu of %zu pieces that were not durable are lost, the first in %s: ", how->lost, how->open,
                 part_of(left, how->first));
    else
        snprintf(text + used, n - used, ", and nothing is lost: ");
}

/* ---- Cuts ------------------------------------------------------------------------------------ */

/* Opens what was left, and compares. NULL: something is wrong. */
static hd_table *open_left(trial *x, cuts *c, const cuts_file *left, const cuts_cut *how, uint64_t promised,
                           uint64_t *is)
{
    char where[256];
    hd_table *t = NULL;
    const char *why = life_table(x->had, "ref", c, &t) ? hd_why() : life_wrong(x->had, t, promised, is);
    x->tried++;
    if (c->wrong) why = c->wrong;
    if (!*why) return t;
    say_cut(left, how, where, sizeof where);
    object(x, where, why);
    if (t) life_kill(c, t);
    return NULL;
}

static bool goes_on(const trial *x) { return x->expects || !x->wrong; }

/* A recovery that was cut finds what another one found; in mode line once that one had returned. Before, the words of
 * its superblock may complete the one that the first cut had torn. */
static bool try_again(void *context, const cuts_file *left, const cuts_cut *how)
{
    trial *x = (trial *)context;
    const uint64_t promised = how->mark > x->promised ? how->mark : x->promised;
    const bool exact = how->mark || x->had->of->config.durable != HD_DURABLE_LINE;
    uint64_t is = 0;
    cuts c;
    cuts_begin(&c, left);
    hd_table *t = open_left(x, &c, left, how, promised, &is);
    if (t && exact && is != x->number) object(x, "", "a recovery that was cut finds other changes than another one");
    if (t) life_kill(&c, t);
    x->cut_again++;
    cuts_end(&c);
    return goes_on(x);
}

static bool try_left(void *context, const cuts_file *left, const cuts_cut *how)
{
    trial *x = (trial *)context;
    cuts c;
    cuts_begin(&c, left);
    hd_table *t = open_left(x, &c, left, how, how->mark, &x->number);
    x->promised = how->mark;
    if (t) {
        cuts_mark(&c, x->number);
        life_kill(&c, t);
        if (x->again && hd_rng_below(&x->random, x->again) == 0) cuts_each(&c, 0, 4, &x->random, try_again, x);
    }
    cuts_end(&c);
    return goes_on(x);
}

void trial_cuts(trial *x, const life *had, const cuts *c, size_t from, uint64_t random)
{
    x->had = had;
    const char *why = goes_on(x) ? cuts_each(c, from, random, &x->random, try_left, x) : NULL;
    if (why) object(x, "", why);
}

/* ---- Lives ----------------------------------------------------------------------------------- */

/* The table that the file has now, in which *is changes are to be there; NULL: something is wrong. */
static hd_table *open_again(trial *x, life *l, cuts *c, uint64_t *is)
{
    hd_table *t = NULL;
    const char *why = life_table(l, l->backend, c, &t) ? hd_why() : life_wrong(l, t, l->promised, is);
    if (c->wrong) why = c->wrong;
    if (!*why) return t;
    object(x, "when it opens again: ", why);
    if (t) hd_close(t);
    return NULL;
}

/* Changes, of which each goes well. */
static void live(trial *x, life *l, hd_table *t, cuts *c, uint64_t changes)
{
    life_live(l, t, c, changes);
    if (l->failed) object(x, "no call has failed, and a change does: ", hd_why());
}

void trial_live(trial *x, life *l, const shape *s, const char *backend, uint64_t seed, uint64_t changes,
                uint64_t random)
{
    cuts c;
    uint64_t is;
    hd_table *t = NULL;
    life_begin(l, s, backend, seed);
    cuts_begin(&c, NULL);
    if (life_table(l, backend, &c, &t)) object(x, "no call has failed, and hd_open does: ", hd_why());
    if (t) live(x, l, t, &c, changes / 2);
    if (t) hd_close(t);
    l->promised = l->changes;
    cuts_mark(&c, l->promised);
    t = goes_on(x) ? open_again(x, l, &c, &is) : NULL;
    if (t) live(x, l, t, &c, changes / 2);
    if (t) life_kill(&c, t);
    trial_cuts(x, l, &c, 0, random);
    cuts_end(&c);
}

/* ---- Calls that fail ------------------------------------------------------------------------- */

/* After a failure the table is as readers have seen it, and takes no change. */
static const char *is_to_be_read(const life *l, hd_table *t, const cuts *c)
{
    world w;
    if (l->failed != HD_EIO || !c->failed) return hd_why();
    if (life_look(t, &w)) return hd_why();
    if (memcmp(&w, &l->after[l->changes], sizeof w) != 0) return "the table that is to be read has changed";
    if (hd_clear(t) != HD_EIO || hd_grow(t, 1 << 10) != HD_EIO || hd_persist(t) != HD_EIO)
        return "the table that is to be read takes a change";
    return "";
}

/* The file opens again, and then the power is cut. */
static void open_after(trial *x, life *l, cuts *c)
{
    const bool drawn = !x->syncs || c->fail_at % x->syncs == 0,
               synced = drawn && c->failed && strcmp(c->failed, "sync_data") == 0;
    const size_t from = c->events;
    uint64_t is = 0;
    c->fail_at = 0;
    hd_table *t = open_again(x, l, c, &is);
    if (!t) return;
    cuts_mark(c, l->promised = is);
    hd_close(t);
    if (!life_in_process(l->of)) trial_cuts(x, l, c, synced ? from : c->events, 2);
}

bool trial_fail(trial *x, life *l, const shape *s, int with, uint64_t seed, uint64_t at)
{
    enum { CHANGES = 14 };
    cuts c;
    hd_table *t = NULL;
    life_begin(l, s, "ref", seed);
    cuts_begin(&c, NULL);
    c.fail_at = at;
    c.fail_with = with;
    hd_status opened = life_table(l, l->backend, &c, &t);
    if (t) life_live(l, t, &c, CHANGES);
    if (c.failed) snprintf(x->before, sizeof x->before, "call %" PRIu64 " of the seam, %s, fails: ", at, c.failed);
    const char *why = opened && (opened != HD_EIO || !c.failed) ? hd_why() : "";
    if (l->failed) why = is_to_be_read(l, t, &c);
    if (c.wrong) why = c.wrong;
    if (*why) object(x, "", why);
    const bool came = c.calls >= at;
    hd_close(t);
    if (goes_on(x)) open_after(x, l, &c);
    x->before[0] = 0;
    cuts_end(&c);
    return came;
}

/* ---- Damage ---------------------------------------------------------------------------------- */

static void open_damaged(trial *x, const life *l, const cuts_file *bad, uint64_t promised, const char *where)
{
    cuts c;
    hd_table *t = NULL;
    uint64_t is = 0;
    cuts_begin(&c, bad);
    hd_status status = life_table(l, l->backend, &c, &t);
    const char *why = status && status != HD_ECORRUPT ? hd_why() : "";
    if (!status) why = life_wrong(l, t, promised, &is);
    if (c.wrong) why = c.wrong;
    x->tried++;
    x->refused += status != HD_OK;
    if (*why) object(x, where, why);
    if (t) life_kill(&c, t);
    cuts_end(&c);
}

/* A bit of each word of a part of the file. */
static void damage(trial *x, const life *l, cuts_file *bad, uint64_t from, uint64_t bytes, uint64_t promised)
{
    enum { WORD = 8 };
    char where[128];
    for (uint64_t word = from; word < from + bytes && goes_on(x); word += WORD) {
        const uint64_t at = word + hd_rng_below(&x->random, WORD);
        const uint8_t bit = (uint8_t)(1u << hd_rng_below(&x->random, 8));
        snprintf(where, sizeof where, "byte %" PRIu64 ", in %s, has another bit: ", at, part_of(bad, at));
        bad->bytes[at] ^= bit;
        open_damaged(x, l, bad, promised, where);
        bad->bytes[at] ^= bit;
    }
}

static void cut_short(trial *x, const life *l, cuts_file *bad)
{
    const size_t size = bad->size, named = (size_t)life_superblock(bad->bytes).file_bytes;
    char where[128];
    for (size_t left = HD_IMAGE_SECTOR + 1; left < named && goes_on(x); left += 1 + hd_rng_below(&x->random, 700)) {
        const uint64_t refused = x->refused;
        bad->size = left;
        snprintf(where, sizeof where, "of %zu bytes only %zu are left: ", size, left);
        open_damaged(x, l, bad, 0, where);
        if (x->refused == refused) object(x, where, "it opens all the same");
    }
    bad->size = size;
}

void trial_damage(trial *x, life *l, const shape *s, uint64_t seed, uint64_t changes, cuts_file *left)
{
    enum { JOURNAL = 16 << 10 };
    cuts c;
    hd_table *t = NULL;
    life_begin(l, s, "ref", seed);
    cuts_begin(&c, NULL);
    *left = (cuts_file){ .there = false };
    if (life_table(l, l->backend, &c, &t)) object(x, "no call has failed, and hd_open does: ", hd_why());
    if (t) live(x, l, t, &c, changes);
    if (t) life_kill(&c, t);
    if (c.wrong || !cuts_copy(left, &c.file)) object(x, "", c.wrong ? c.wrong : "no memory");
    if (goes_on(x)) {
        const hd_superblock sb = life_superblock(left->bytes);
        damage(x, l, left, 0, HD_IMAGE_BLOCKS, l->promised);
        if (!life_in_process(s)) /* there the journal has no sum */
            damage(x, l, left, sb.journal, sb.journal_bytes < JOURNAL ? sb.journal_bytes : JOURNAL, 0);
        cut_short(x, l, left);
    }
    cuts_end(&c);
}

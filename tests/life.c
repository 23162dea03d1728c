/* SPDX-License-Identifier: Apache-2.0
 *
 * life.c - see life.h.
 */
#include "tests/life.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/table.h"

enum { ITEMS = 12, LARGE = 4096, HALF = -2 /* a value */ };

/* ---- Tables, and what they have after each batch --------------------------------------------- */

/* clang-format off */
const shape life_shapes[LIFE_SHAPES] = {
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

#define IN_PROCESS .design = "gphash", .capacity = 48, .durable = HD_DURABLE_PROCESS
const shape life_process_shapes[LIFE_PROCESS_SHAPES] = {
    { "gphash, process", { IN_PROCESS, .value_bytes = 4 } },
    { "gphash pairs, process", { IN_PROCESS, .value_bytes = 8 } },
    { "gphash cells, process", { IN_PROCESS, .value_bytes = 8, .layout = HD_LAYOUT_CELLS } },
    { "gphash wide, process", { IN_PROCESS, .value_bytes = 40, .commit = HD_COMMIT_CALL } },
    { "gphash far, process", { IN_PROCESS, .value_bytes = 12, .gphash = { .index = HD_INDEX_FAR } } },
};

fake_device life_device;

hd_config life_config(const shape *s, const char *backend, hd_seams *seams)
{
    static hd_seams os;
    hd_config c = test_usual_of(s->config);
    if (!seams) {
        seams = &os;
        os = hd_seams_os;
        os.file.in_memory = NULL;
    }
    seams->device = &life_device.seam;
    c.backend = backend;
    c.file = "image";
    c.seams = seams;
    return c;
}

/* A value is 16 bits, again and again. */
static void put_value(uint8_t *to, uint64_t value, uint32_t bytes)
{
    for (uint32_t at = 0; at < bytes; at += 2) memcpy(to + at, &value, 2);
}

static int64_t value_at(const uint8_t *from, uint32_t bytes)
{
    uint16_t value;
    memcpy(&value, from, 2);
    for (uint32_t at = 0; at < bytes; at += 2)
        if (memcmp(from + at, from, 2) != 0) return HALF;
    return value;
}

void life_look(hd_table *t, world *w)
{
    uint64_t key[LIFE_KEYS];
    uint8_t outcome[LIFE_KEYS], bytes[LIFE_KEYS * LIFE_WIDE];
    hd_info info;
    must(hd_table_info(t, &info));
    for (uint64_t k = 0; k < LIFE_KEYS; k++) key[k] = k;
    hd_batch b = { .op = HD_OP_FIND, .n = LIFE_KEYS, .key = key, .value_out = bytes, .outcome = outcome };
    must(hd_run(t, &b));
    for (uint64_t k = 0; k < LIFE_KEYS; k++)
        w->value[k] = outcome[k] == HD_HIT ? value_at(bytes + k * info.value_bytes, info.value_bytes) : LIFE_ABSENT;
}

/* ---- A life of a table ----------------------------------------------------------------------- */

static const hd_op drawn[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_OR_ASSIGN,
                               HD_OP_FIND_OR_INSERT,   HD_OP_ASSIGN,           HD_OP_ERASE };

/* Different keys, so that their order does not matter. A batch that could not be made durable has run. */
hd_status life_batch(life *l, hd_table *t, world *w)
{
    uint64_t key[ITEMS], first = test_below(&l->random, LIFE_KEYS), step = 1 + 2 * test_below(&l->random, 8);
    uint8_t bytes[ITEMS * LIFE_WIDE], outcome[ITEMS] = { 0 };
    hd_info info;
    hd_op op = drawn[test_below(&l->random, sizeof drawn / sizeof *drawn)];
    must(hd_table_info(t, &info));
    for (uint64_t i = 0; i < ITEMS; i++) {
        uint64_t value = test_random(&l->random) & 0x7fff;
        key[i] = (first + i * step) % LIFE_KEYS;
        put_value(bytes + i * info.value_bytes, value, info.value_bytes);
    }
    hd_batch b = { .op = op, .n = ITEMS, .key = key, .value = bytes, .outcome = outcome };
    hd_status status = hd_run(t, &b);
    for (uint64_t i = 0; i < ITEMS; i++) {
        if (outcome[i] == HD_INSERTED || outcome[i] == HD_UPDATED)
            w->value[key[i]] = value_at(bytes + i * info.value_bytes, info.value_bytes);
        if (outcome[i] == HD_ERASED) w->value[key[i]] = LIFE_ABSENT;
    }
    return status;
}

typedef struct flipping {
    world *w;
    uint32_t bytes;
} flipping;

static int flip(void *context, uint64_t key, uint64_t score, void *value)
{
    const flipping *f = (const flipping *)context;
    (void)score;
    f->w->value[key] ^= 1;
    put_value((uint8_t *)value, (uint64_t)f->w->value[key], f->bytes);
    return 0;
}

/* A kill during hd_for_each may leave half a value. */
hd_status life_flip(life *l, hd_table *t, world *w, uint32_t bytes)
{
    flipping f = { w, bytes };
    return life_in_process(l->of) ? life_batch(l, t, w) : hd_for_each(t, flip, &f);
}

static hd_status change(life *l, hd_table *t, world *w)
{
    hd_info info;
    must(hd_table_info(t, &info));
    switch (test_below(&l->random, 24)) {
    case 0:
        if (info.capacity > LARGE) return life_batch(l, t, w);
        return hd_grow(t, info.buckets + 1 + test_below(&l->random, 3 * info.buckets)); /* twice, or more */
    case 1:
        return hd_design_named(info.design)->ref->grows_only ? life_batch(l, t, w) : hd_shrink(t, info.base_buckets);
    case 2: return life_flip(l, t, w, info.value_bytes);
    case 3: memset(w, 0xff, sizeof *w); return hd_clear(t);
    default: return life_batch(l, t, w);
    }
}

/* After a failure the change is there, too, for every reader; whether the file has it is open. */
void life_live(life *l, hd_table *t, cuts *c, uint64_t changes)
{
    l->buckets[l->changes] = test_info(t).buckets;
    for (uint64_t i = 0; i < changes && !l->failed; i++) {
        world w = l->after[l->changes];
        test_case("%s on %s: change %llu", l->of->name, l->backend, (ull)l->changes + 1);
        l->failed = change(l, t, &w);
        bool call = l->of->config.commit == HD_COMMIT_CALL && !life_in_process(l->of);
        l->after[++l->changes] = w;
        l->buckets[l->changes] = test_info(t).buckets;
        if (!l->failed && call && i % 3 == 2) l->failed = hd_persist(t);
        if (c && c->dead) return;
        if (!l->failed && (!call || i % 3 == 2)) l->promised = l->changes;
        if (c) cuts_mark(c, l->promised);
        if (l->shared) atomic_store(l->shared, l->promised);
    }
}

void life_begin(life *l, const shape *s, const char *backend, uint64_t seed)
{
    memset(l, 0, sizeof *l);
    l->of = s;
    l->backend = backend;
    l->random = seed;
    memset(&l->after[0], 0xff, sizeof l->after[0]);
}

/* ---- Opening what is left -------------------------------------------------------------------- */

void life_kill(cuts *c, hd_table *t)
{
    cuts_die(c);
    hd_close(t);
    c->dead = false;
}

hd_table *life_open(const life *l, const char *backend, cuts *c)
{
    hd_table *t;
    hd_config config = life_config(l->of, backend, &c->seams);
    must(hd_open(&config, &t));
    return t;
}

hd_table *life_start(life *l, cuts *c, const shape *s, const char *backend, uint64_t seed)
{
    life_begin(l, s, backend, seed);
    cuts_begin(c, NULL);
    return life_open(l, backend, c);
}

hd_superblock life_superblock(const uint8_t *file)
{
    hd_superblock sb[2];
    memcpy(sb, file, sizeof sb);
    return sb[sb[1].generation > sb[0].generation];
}

/* "", or what is wrong with the table. What it has must be what was there after *is changes, and these are no fewer
 * than `promised`. */
static const char *wrong_of(const life *l, hd_table *t, uint64_t promised, uint64_t *is)
{
    static char why[256];
    hd_info info;
    world w;
    if (hd_check(t)) return hd_why();
    must(hd_table_info(t, &info));
    *is = info.image.durable_batch;
    snprintf(why, sizeof why, "it has %llu changes; of %llu, %llu were promised", (ull)*is, (ull)l->changes,
             (ull)promised);
    if (*is < promised || *is > l->changes) return why;
    life_look(t, &w);
    for (uint64_t k = 0; k < LIFE_KEYS; k++) {
        if (w.value[k] == l->after[*is].value[k]) continue;
        snprintf(why, sizeof why, "after %llu changes key %llu has %lld, not %lld", (ull)*is, (ull)k,
                 (long long)w.value[k], (long long)l->after[*is].value[k]);
        return why;
    }
    return "";
}

uint64_t life_compare(const life *l, hd_table *t, uint64_t promised)
{
    uint64_t is = 0;
    const char *why = wrong_of(l, t, promised, &is);
    check(!*why, "%s", why);
    return is;
}

/* ---- Trials ---------------------------------------------------------------------------------- */

/* Opens what was left, and compares. NULL: something is wrong, which counts, or is a failure. */
static hd_table *open_left(trial *x, cuts *c, uint64_t promised, uint64_t *is)
{
    hd_table *t = NULL;
    hd_config config = life_config(x->had->of, "ref", &c->seams);
    const char *why = hd_open(&config, &t) ? hd_why() : wrong_of(x->had, t, promised, is);
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

void life_try(trial *x, const life *had, const cuts *c, size_t from, uint64_t random)
{
    x->had = had;
    cuts_each(c, from, random, &x->random, try_left, x);
}

uint64_t life_cut(const shape *shapes, size_t n, const char *backend, uint64_t changes, uint64_t random)
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
        life_try(&x, &l, &c, 0, random);
        cuts_end(&c);
    }
    test_note("%llu of them were left by a recovery that was cut", (ull)x.cut_again);
    return x.tried;
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
    size_t from = c.failed && strcmp(c.failed, "sync_data") == 0 ? c.events : SIZE_MAX;
    t = life_open(&l, l.backend, &c);
    life_compare(&l, t, l.promised);
    hd_close(t);
    if (!life_in_process(s)) life_try(x, &l, &c, from < c.events ? from : c.events, 2);
    cuts_end(&c);
}

uint64_t life_fail(const shape *shapes, size_t n)
{
    static const int with[] = { EIO, ENOSPC, CUTS_SHORT, EINTR };
    trial x = { .random = 3 };
    uint64_t tried = 0;
    for (size_t s = 0; s < n; s++)
        for (size_t k = 0; k < sizeof with / sizeof *with; k++) {
            bool done = false;
            for (uint64_t at = 1; !done; at++, tried++) fail_one_call(&shapes[s], with[k], at, &x, &done);
        }
    return tried;
}

void life_recover_twice(const shape *shapes, size_t n)
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

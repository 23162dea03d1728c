/* SPDX-License-Identifier: Apache-2.0
 *
 * life.c - see life.h.
 */
#include "tests/life.h"

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
    { "gphash wide",  { .design = "gphash", .capacity = 48, .value_bytes = 40, .commit = HD_COMMIT_CALL } },
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
        const bool now = test_below(&l->random, 2); /* free cells are written at once */
        if (t->store) t->store->seams.file.sync_bytes = now ? 0 : UINT64_MAX;
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

const char *life_wrong(const life *l, hd_table *t, uint64_t promised, uint64_t *is)
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
    const char *why = life_wrong(l, t, promised, &is);
    check(!*why, "%s", why);
    return is;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * life.c - see life.h.
 */
#include "judge/life.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/design.h"
#include "base/error.h"
#include "lib/table.h"

enum { ITEMS = 12, MANY = 300 /* of a table that churns */, LARGE = 4096, HALF = -2 /* a value */ };

/* ---- Tables, and what they have after each batch --------------------------------------------- */

hd_config life_config(const shape *s, const char *backend, hd_seams *seams)
{
    static hd_seams os;
    hd_config c = s->config;
    if (!seams) {
        seams = &os;
        os = hd_seams_os;
        os.file.in_memory = NULL;
    }
    if (s->device) seams->device = s->device;
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

hd_status life_look(hd_table *t, world *w)
{
    uint64_t key[LIFE_KEYS];
    uint8_t outcome[LIFE_KEYS], bytes[LIFE_KEYS * LIFE_WIDE];
    hd_info info;
    hd_status status = hd_table_info(t, &info);
    for (uint64_t k = 0; k < LIFE_KEYS; k++) key[k] = k;
    hd_batch b = { .op = HD_OP_FIND, .n = LIFE_KEYS, .key = key, .value_out = bytes, .outcome = outcome };
    if (!status) status = hd_run(t, &b);
    for (uint64_t k = 0; k < LIFE_KEYS && !status; k++)
        w->value[k] = outcome[k] == HD_HIT ? value_at(bytes + k * info.value_bytes, info.value_bytes) : LIFE_ABSENT;
    return status;
}

/* ---- A life of a table ----------------------------------------------------------------------- */

static const hd_op drawn[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_OR_ASSIGN,
                               HD_OP_FIND_OR_INSERT,   HD_OP_ASSIGN,           HD_OP_ERASE };

/* Different keys, so that their order does not matter; or, of a table that churns, any, in their order. A batch that
 * could not be made durable has run. */
hd_status life_batch(life *l, hd_table *t, world *w)
{
    static uint8_t bytes[MANY * LIFE_WIDE];
    const bool churns = l->of->churns && hd_rng_below(&l->random, 4);
    uint64_t key[MANY], first = hd_rng_below(&l->random, LIFE_KEYS), step = 1 + 2 * hd_rng_below(&l->random, 8);
    uint64_t n = churns ? MANY : ITEMS;
    uint8_t outcome[MANY] = { 0 };
    hd_info info;
    hd_op op = churns ? HD_OP_INSERT_OR_ASSIGN : drawn[hd_rng_below(&l->random, sizeof drawn / sizeof *drawn)];
    hd_status status = hd_table_info(t, &info);
    if (status) return status;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t value = hd_rng_next(&l->random) & 0x7fff;
        key[i] = churns ? hd_rng_below(&l->random, LIFE_KEYS / 2) : (first + i * step) % LIFE_KEYS;
        put_value(bytes + i * info.value_bytes, value, info.value_bytes);
    }
    hd_batch b = { .op = op, .n = n, .key = key, .value = bytes, .outcome = outcome };
    status = hd_run(t, &b);
    for (uint64_t i = 0; i < n; i++) {
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
    hd_status status = hd_table_info(t, &info);
    if (status) return status;
    switch (hd_rng_below(&l->random, 24)) {
    case 0:
        if (info.capacity > LARGE) return life_batch(l, t, w);
        return hd_grow(t, info.buckets + 1 + hd_rng_below(&l->random, 3 * info.buckets)); /* twice, or more */
    case 1:
        return hd_design_named(info.design)->ref->grows_only ? life_batch(l, t, w) : hd_shrink(t, info.base_buckets);
    case 2: return life_flip(l, t, w, info.value_bytes);
    case 3: memset(w, 0xff, sizeof *w); return hd_clear(t);
    default: return life_batch(l, t, w);
    }
}

static uint64_t buckets_of(hd_table *t)
{
    hd_info info = { .buckets = 0 };
    return hd_table_info(t, &info) ? 0 : info.buckets;
}

/* After a failure the change is there, too, for every reader; whether the file has it is open. */
void life_live(life *l, hd_table *t, cuts *c, uint64_t changes)
{
    l->buckets[l->changes] = buckets_of(t);
    for (uint64_t i = 0; i < changes && !l->failed && l->changes < LIFE_MOST; i++) {
        world w = l->after[l->changes];
        const bool now = hd_rng_below(&l->random, 2); /* free cells are written at once */
        if (t->store) t->store->seams.file.sync_bytes = now ? 0 : UINT64_MAX;
        l->failed = change(l, t, &w);
        bool call = l->of->config.commit == HD_COMMIT_CALL && !life_in_process(l->of);
        l->after[++l->changes] = w;
        l->buckets[l->changes] = buckets_of(t);
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
    l->random = hd_rng_from(seed);
    memset(&l->after[0], 0xff, sizeof l->after[0]);
}

/* ---- Opening what is left -------------------------------------------------------------------- */

void life_kill(cuts *c, hd_table *t)
{
    cuts_die(c);
    hd_close(t);
    c->dead = false;
}

hd_status life_table(const life *l, const char *backend, cuts *c, hd_table **t)
{
    hd_config config = life_config(l->of, backend, &c->seams);
    return hd_open(&config, t);
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
    if (hd_check(t) || hd_table_info(t, &info)) return hd_why();
    *is = info.image.durable_batch;
    snprintf(why, sizeof why, "it has %" PRIu64 " changes; of %" PRIu64 ", %" PRIu64 " were promised", *is, l->changes,
             promised);
    if (*is < promised || *is > l->changes) return why;
    if (life_look(t, &w)) return hd_why();
    for (uint64_t k = 0; k < LIFE_KEYS; k++) {
        if (w.value[k] == l->after[*is].value[k]) continue;
        snprintf(why, sizeof why, "after %" PRIu64 " changes key %" PRIu64 " has %lld, not %lld", *is, k,
                 (long long)w.value[k], (long long)l->after[*is].value[k]);
        return why;
    }
    return "";
}

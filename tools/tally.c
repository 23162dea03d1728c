/* SPDX-License-Identifier: Apache-2.0
 *
 * tally.c - counting keys.
 */
#include "tools/tally.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tools/parts.h"

static void fill_ones(tally *t, size_t n)
{
    const uint64_t one = 1;
    for (; t->ones < n; t->ones++) memcpy(t->one + t->ones * t->value_bytes, &one, t->value_bytes);
}

/* The table of a dictionary with other values than the usual ones holds longer keys in some designs. */
static hd_status open_table(tally *t, const tally_config *config, hd_config *c, hd_info *info)
{
    hd_status e = hd_open(c, &t->table);
    if (!e) e = hd_table_info(t->table, info);
    if (e || !t->dictionary || !config->k || !keep_kmers(info->keys, config->k)) return e;
    hd_config wide = *c;
    hd_table *other = NULL;
    wide.value_bytes = sizeof(uint64_t);
    if (hd_open(&wide, &other)) return HD_OK;
    hd_close(t->table);
    t->table = other;
    return hd_table_info(other, info);
}

hd_status tally_open(tally *t, const tally_config *config)
{
    memset(t, 0, sizeof *t);
    t->grows = config->capacity == 0;
    hd_config c = keep_config(config->design, config->capacity, sizeof(uint64_t));
    t->dictionary = keep_is_dictionary(&c);
    if (config->backend) c.backend = config->backend;
    c.threads = config->threads;
    c.seed = config->seed;
    c.seams = config->seams;
    hd_info info;
    hd_status e = keep_set(&c, &config->set);
    if (!e) e = open_table(t, config, &c, &info);
    if (e) return e;
    t->capacity = info.capacity;
    t->keys = info.keys;
    t->value_bytes = info.value_bytes;
    t->by_hash = t->grows && !t->dictionary && strcmp(info.backend, "ref") == 0;
    if (strcmp(info.backend, "cuda") == 0) t->device = config->seams ? config->seams->device : &hd_device_os;
    t->listed = 1 << 22;
    t->most = config->most * (tally_gathers(t) ? TALLY_FAR_TIMES : 1);
    t->seed = config->seed;
    t->one = (uint8_t *)malloc(t->most * t->value_bytes);
    if (!t->one) return hd_fail(HD_ENOMEM, "the memory of a batch was refused");
    if (tally_is_far(t)) fill_ones(t, t->most);
    return HD_OK;
}

void tally_close(tally *t)
{
    hd_close(t->table);
    free(t->one);
    t->table = NULL;
    t->one = NULL;
}

void tally_expect(tally *t, double total) { t->total = total; }

uint64_t tally_parted_bytes(const tally *t)
{
    hd_info info;
    return t->by_hash && t->most >= PARTS_BATCH && !hd_table_info(t->table, &info) ? info.memory_bytes : 0;
}

/* A growing table has so many slots for each key. Keys that come by parts of the table (parts.h) fill it unevenly: a
 * part of 1 MiB has 40,000 slots, and of PARTS_BATCH keys of it some wait. */
static double slots_per_key(const tally *t) { return t->by_hash ? 2.5 : 2; }

/* How many different keys there will be if those that are left are new as often as those since the last growth. */
static double expected_entries(const tally *t)
{
    double left = t->total > (double)t->counted ? t->total - (double)t->counted : 0;
    double fresh = (double)(t->entries - t->grown_entries) / (double)(t->counted - t->grown_counted);
    return (double)t->entries + left * fresh;
}

/* By how much a table grows that has to. Small ones double: that is cheap, and says nothing of the keys to come. New
 * keys may become rare, so no step is larger than STEP_MOST. */
static uint64_t growth_of(const tally *t)
{
    enum { EXPECTS_FROM = 8 << 20, STEP_MOST = 8 };
    const double margin = 1.0625;
    if (t->capacity < EXPECTS_FROM || t->total == 0 || t->counted == t->grown_counted) return 2;
    double times = slots_per_key(t) * expected_entries(t) * margin / (double)t->capacity;
    return times < 2 ? 2 : times > STEP_MOST ? STEP_MOST : (uint64_t)times + 1;
}

/* Whether n more keys, all of them new, could fill the table too much. */
static bool needs_room(const tally *t, uint64_t n)
{
    return (double)(t->entries + n) * slots_per_key(t) > (double)t->capacity;
}

static hd_status make_room(tally *t, size_t n)
{
    while (needs_room(t, n)) {
        uint64_t times = growth_of(t);
        hd_status e = hd_grow(t->table, times * (t->capacity / KEEP_SLOTS));
        if (e) return e;
        t->capacity *= times;
        t->growths++;
        t->grown_counted = t->counted;
        t->grown_entries = t->entries;
    }
    return HD_OK;
}

bool tally_is_far(const tally *t) { return t->device && !t->dictionary; }

bool tally_gathers(const tally *t) { return t->device && t->dictionary; }

hd_status tally_settle(tally *t)
{
    hd_status e = t->unsure ? hd_size_sync(t->table, &t->entries) : HD_OK;
    if (!e) t->unsure = 0;
    return e;
}

/* A batch of ones. */
static hd_batch batch_of(const tally *t, const uint64_t *key, const void *one, size_t n)
{
    return (hd_batch){ .op = HD_OP_ACCUM_OR_ASSIGN,
                       .elem = t->value_bytes == sizeof(uint64_t) ? HD_U64 : HD_I32,
                       .n = n,
                       .key = key,
                       .value = one };
}

hd_status tally_add_far(tally *t, const uint64_t *key, const void *one, size_t n, void *stream)
{
    hd_status e = HD_OK;
    if (t->grows && needs_room(t, t->unsure + n)) {
        e = tally_settle(t);
        if (!e) e = make_room(t, n);
    }
    if (e) return e;
    hd_batch b = batch_of(t, key, one, n);
    b.stream = stream;
    e = hd_run(t->table, &b);
    if (e) return e;
    t->unsure += n;
    t->counted += n;
    return HD_OK;
}

static hd_status run_growing(tally *t, hd_batch *b)
{
    const double nearly_full = 0.9;
    hd_info info;
    hd_status e = hd_run_growing(t->table, b, nearly_full);
    if (!e) e = hd_table_info(t->table, &info);
    if (e) return e;
    t->growths += info.capacity != t->capacity;
    t->capacity = info.capacity;
    return HD_OK;
}

size_t tally_batch(const tally *t)
{
    uint64_t n = t->capacity / 16;
    if (n < TALLY_BATCH) n = TALLY_BATCH;
    return n < t->most ? (size_t)n : t->most;
}

hd_status tally_add(tally *t, const uint64_t *key, size_t n, uint8_t *outcome)
{
    hd_status e = t->grows && !t->dictionary ? make_room(t, n) : HD_OK;
    if (e) return e;
    fill_ones(t, n);
    hd_batch b = batch_of(t, key, t->one, n);
    b.outcome = outcome;
    e = t->grows && t->dictionary ? run_growing(t, &b) : hd_run(t->table, &b);
    if (e) return e;
    for (size_t i = 0; i < n; i++) {
        t->entries += outcome[i] == HD_INSERTED;
        if (outcome[i] != HD_RESERVED) continue;
        if (key[i] - t->keys >= TALLY_RESERVED)
            return hd_fail(HD_EINVAL, "key %" PRIu64 " is more than the design can hold, which is below %" PRIu64,
                           key[i], t->keys);
        uint64_t *times = &t->reserved[key[i] - t->keys];
        if ((*times)++ != 0) continue;
        outcome[i] = HD_INSERTED;
        t->entries++;
    }
    t->counted += n;
    return HD_OK;
}

hd_status tally_exact(const tally *t, bool *exact, uint64_t *lost)
{
    hd_status e = keep_lost(t->table, t->grows, lost);
    if (e) return e;
    bool runs_over = t->value_bytes < sizeof(uint64_t) && t->counted >> (8 * t->value_bytes) != 0;
    *exact = *lost == 0 && !runs_over;
    return HD_OK;
}

uint64_t tally_beside(const tally *t)
{
    uint64_t keys = 0;
    for (size_t i = 0; i < TALLY_RESERVED; i++) keys += t->reserved[i] != 0;
    return keys;
}

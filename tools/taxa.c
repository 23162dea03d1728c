/* SPDX-License-Identifier: Apache-2.0
 *
 * taxa.c - see taxa.h.
 */
#include "tools/taxa.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* A k-mer that an item found with the value of another taxon. */
struct taxa_clash {
    uint64_t key;
    uint32_t value; /* that it had */
};

static uint64_t now_ns(void) { return hd_seams_os.time.now_ns(hd_seams_os.time.self); }

/* ---- Opening and closing --------------------------------------------------------------------- */

static hd_status arrays_take(taxa *t)
{
    hd_info info;
    hd_status e = hd_table_info(t->table, &info);
    if (e) return e;
    t->keys = info.keys;
    t->value_bytes = info.value_bytes;
    t->value = (uint8_t *)malloc(t->most * t->value_bytes);
    t->outcome = (uint8_t *)malloc(t->most);
    t->clash = (taxa_clash *)malloc(t->most * sizeof *t->clash);
    t->key = (uint64_t *)malloc(t->most * sizeof *t->key);
    return t->value && t->outcome && t->clash && t->key ? HD_OK
                                                        : hd_fail(HD_ENOMEM, "the memory of a batch was refused");
}

hd_status taxa_open(taxa *t, const taxa_config *config)
{
    memset(t, 0, sizeof *t);
    hd_config c = keep_config(config->design, config->capacity, sizeof(uint32_t));
    if (config->backend) c.backend = config->backend;
    c.threads = config->threads;
    c.seams = config->seams;
    t->grows = config->capacity == 0;
    /* a cache with half of its slots free never has a full bucket */
    t->target = keep_is_dictionary(&c) ? 0.9 : 0.5;
    t->most = config->most;
    hd_status e = keep_set(&c, &config->set);
    if (!e) e = hd_open(&c, &t->table);
    return e ? e : arrays_take(t);
}

hd_status taxa_open_snapshot(taxa *t, const char *path, const taxa_config *config)
{
    hd_snapshot_info info;
    hd_status e = hd_snapshot_inspect(path, &info);
    if (e) return e;
    hd_config c = hd_config_of(info.design); /* which has the field `near` */
    if (config->backend) c.backend = config->backend;
    c.threads = config->threads;
    c.seams = config->seams;
    t->most = config->most;
    e = keep_set(&c, &(keep_settings){ config->set.near, NULL });
    if (!e) e = hd_open_snapshot(path, &c, &t->table);
    return e ? e : arrays_take(t);
}

void taxa_close(taxa *t)
{
    hd_close(t->table);
    for (uint32_t i = 0; i < t->n; i++) free(t->row[i].name);
    free(t->row);
    free(t->value);
    free(t->outcome);
    free(t->clash);
    free(t->key);
    memset(t, 0, sizeof *t);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static bool is_utf8(const char *text)
{
    json_t *j = json_string(text);
    json_decref(j);
    return j != NULL;
}

static char *name_copy(const char *name)
{
    char *copy = strdup(name);
    if (!copy) return NULL;
    bool utf8 = is_utf8(name);
    for (char *c = copy; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte < ' ' || byte == 127 || (byte > 127 && !utf8)) *c = '?';
    }
    return copy;
}

hd_status taxa_name(taxa *t, const char *name, uint64_t kmers)
{
    uint64_t most = t->value_bytes < sizeof(uint32_t) ? 1ull << 8 * t->value_bytes : UINT32_MAX;
    if (t->n + 1 >= most) return hd_fail(HD_EINVAL, "more than %" PRIu64 " taxa", most - 1);
    if (t->n == t->room) {
        uint32_t room = t->room < 16 ? 16 : t->room > UINT32_MAX / 2 ? UINT32_MAX : 2 * t->room;
        taxon *row = (taxon *)realloc(t->row, room * sizeof *row);
        if (!row) return hd_fail(HD_ENOMEM, "the memory of %" PRIu32 " taxa was refused", room);
        t->row = row;
        t->room = room;
    }
    char *copy = name_copy(name);
    if (!copy) return hd_fail(HD_ENOMEM, "the memory of a taxon's name was refused");
    t->row[t->n++] = (taxon){ .name = copy, .kmers = kmers };
    return HD_OK;
}

/* Of equal names in the order of the taxa. */
static int by_name(const void *a, const void *b)
{
    const taxon *x = *(const taxon *const *)a, *y = *(const taxon *const *)b;
    int names = strcmp(x->name, y->name);
    return names ? names : (x > y) - (x < y);
}

static hd_status fail_same(const taxon *x, const taxon *y)
{
    if (!x->path || !y->path) return hd_fail(HD_EINVAL, "two taxa are called %.200s", x->name);
    return hd_fail(HD_EINVAL, "two taxa are called %.200s: %s, byte %" PRIu64 ", and %s, byte %" PRIu64, x->name,
                   x->path, x->byte, y->path, y->byte);
}

hd_status taxa_differ(const taxa *t)
{
    const taxon **row = (const taxon **)malloc((t->n + 1) * sizeof *row);
    if (!row) return hd_fail(HD_ENOMEM, "the memory of %" PRIu32 " names was refused", t->n);
    hd_status e = HD_OK;
    for (uint32_t i = 0; i < t->n; i++) row[i] = &t->row[i];
    qsort(row, t->n, sizeof *row, by_name);
    for (uint32_t i = 1; i < t->n && !e; i++)
        if (strcmp(row[i - 1]->name, row[i]->name) == 0) e = fail_same(row[i - 1], row[i]);
    free(row);
    return e;
}

uint64_t taxa_kmers(const taxa *t)
{
    uint64_t kmers = t->ambiguous;
    for (uint32_t i = 0; i < t->n; i++) kmers += t->row[i].kmers;
    return kmers;
}

/* ---- Values: numbers of value_bytes bytes, little-endian ------------------------------------- */

static void values_put(taxa *t, const uint32_t *value, size_t n)
{
    if (t->value_bytes == sizeof *value) {
        memcpy(t->value, value, n * sizeof *value);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t v = value[i];
        memcpy(t->value + i * t->value_bytes, &v, t->value_bytes);
    }
}

static uint64_t value_at(const taxa *t, size_t i)
{
    uint64_t v = 0;
    memcpy(&v, t->value + i * t->value_bytes, t->value_bytes);
    return v;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const taxa_clash *)a)->key, y = ((const taxa_clash *)b)->key;
    return (x > y) - (x < y);
}

/* Counts what the batch inserted, and lists what it found with another taxon's value. */
static hd_status clashes_find(taxa *t, const uint64_t *key, const uint32_t *value, size_t n, size_t *clashes)
{
    *clashes = 0;
    for (size_t i = 0; i < n; i++) {
        if (t->outcome[i] == HD_RESERVED)
            return hd_fail(HD_EINVAL, "key %" PRIu64 " is more than the table can hold, which is below %" PRIu64,
                           key[i], t->keys);
        if (t->outcome[i] == HD_INSERTED || t->outcome[i] == HD_EVICTED) {
            t->row[value[i] - 1].kmers++;
        } else if (t->outcome[i] == HD_HIT) {
            uint64_t had = value_at(t, i);
            if (had != value[i] && had != TAXA_AMBIGUOUS)
                t->clash[(*clashes)++] = (taxa_clash){ key[i], (uint32_t)had };
        }
    }
    return HD_OK;
}

/* Each of these k-mers once: it belongs to none of the taxa any more. */
static hd_status clashes_settle(taxa *t, size_t clashes)
{
    size_t n = 0;
    qsort(t->clash, clashes, sizeof *t->clash, by_key);
    for (size_t i = 0; i < clashes; i++) {
        if (i && t->clash[i].key == t->clash[i - 1].key) continue;
        t->row[t->clash[i].value - 1].kmers--;
        t->key[n++] = t->clash[i].key;
    }
    t->ambiguous += n;
    memset(t->value, TAXA_AMBIGUOUS, n * t->value_bytes);
    hd_batch b = { .op = HD_OP_ASSIGN_VALUES, .distinct = true, .n = n, .key = t->key, .value = t->value };
    return hd_run(t->table, &b);
}

hd_status taxa_add(taxa *t, const uint64_t *key, const uint32_t *value, size_t n)
{
    uint64_t begin = now_ns();
    size_t clashes = 0;
    values_put(t, value, n);
    hd_batch b = {
        .op = HD_OP_FIND_OR_INSERT, .n = n, .key = key, .value = t->value, .value_out = t->value, .outcome = t->outcome
    };
    hd_status e = t->grows ? hd_run_growing(t->table, &b, t->target) : hd_run(t->table, &b);
    if (!e) e = clashes_find(t, key, value, n, &clashes);
    if (!e && clashes) e = clashes_settle(t, clashes);
    t->added += n;
    t->table_ns += now_ns() - begin;
    return e;
}

/* ---- Finding --------------------------------------------------------------------------------- */

hd_status taxa_find(taxa *t, const uint64_t *key, size_t n, uint32_t *value, bool *found)
{
    uint64_t begin = now_ns();
    memset(t->value, TAXA_AMBIGUOUS, n * t->value_bytes); /* what is absent keeps it */
    hd_batch b = { .op = HD_OP_FIND, .n = n, .key = key, .value_out = t->value, .found = found };
    hd_status e = hd_run(t->table, &b);
    uint64_t most = 0;
    if (!e && t->value_bytes == sizeof *value) memcpy(value, t->value, n * sizeof *value);
    for (size_t i = 0; i < n && !e; i++) {
        uint64_t v = t->value_bytes == sizeof *value ? value[i] : value_at(t, i);
        value[i] = (uint32_t)v;
        most = v > most ? v : most;
    }
    t->table_ns += now_ns() - begin;
    if (!e && most > t->n) e = hd_fail(HD_ECORRUPT, "value %" PRIu64 " of %" PRIu32 " taxa", most, t->n);
    return e;
}

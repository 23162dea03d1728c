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

enum { FIRST_CAPACITY = 1 << 16, FIRST_OF_DICTIONARY = 1 << 10, SLOTS = 128 };
enum { LISTED = 1 << 20 /* slots of a list */ };

/* HKV has room to spare, or what it is given: then in two buckets per key. */
static void shape_cache(const tally *t, uint64_t capacity, hd_config *c)
{
    c->policy = "lfu";
    c->slots = SLOTS;
    c->value_bytes = sizeof(uint64_t);
    c->hkv.dual = !t->grows; /* room to spare needs no second bucket, and one bucket is quicker */
    c->capacity = t->grows ? FIRST_CAPACITY : capacity < 2 * SLOTS ? 2 * SLOTS : capacity;
}

hd_status tally_open(tally *t, const tally_config *config)
{
    const uint64_t one = 1;
    memset(t, 0, sizeof *t);
    t->grows = config->capacity == 0;
    hd_config c = config->design ? hd_config_of(config->design) : hd_config_default();
    t->dictionary = strcmp(c.policy, "none") == 0; /* without scores no entry is the least */
    c.capacity = t->grows ? FIRST_OF_DICTIONARY : config->capacity;
    if (!t->dictionary) shape_cache(t, config->capacity, &c);
    if (config->backend) c.backend = config->backend;
    c.threads = config->threads;
    c.seed = config->seed;
    hd_info info;
    hd_status e = hd_open(&c, &t->table);
    if (!e) e = hd_table_info(t->table, &info);
    if (e) return e;
    t->capacity = info.capacity;
    t->keys = info.keys;
    t->value_bytes = info.value_bytes;
    t->by_hash = t->grows && !t->dictionary && strcmp(info.backend, "ref") == 0;
    t->most = config->most;
    t->seed = config->seed;
    t->one = (uint8_t *)malloc(t->most * t->value_bytes);
    if (!t->one) return hd_fail(HD_ENOMEM, "the memory of a batch was refused");
    for (size_t i = 0; i < t->most; i++) memcpy(t->one + i * t->value_bytes, &one, t->value_bytes);
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
    double times = 2 * expected_entries(t) * margin / (double)t->capacity;
    return times < 2 ? 2 : times > STEP_MOST ? STEP_MOST : (uint64_t)times + 1;
}

/* Grows until n more keys, all of them new, leave the table at most half full. */
static hd_status make_room(tally *t, size_t n)
{
    while (t->entries + n > t->capacity / 2) {
        uint64_t times = growth_of(t);
        hd_status e = hd_grow(t->table, times * (t->capacity / SLOTS));
        if (e) return e;
        t->capacity *= times;
        t->growths++;
        t->grown_counted = t->counted;
        t->grown_entries = t->entries;
    }
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
    hd_batch b = { .op = HD_OP_ACCUM_OR_ASSIGN,
                   .elem = t->value_bytes == sizeof(uint64_t) ? HD_U64 : HD_I32,
                   .n = n,
                   .key = key,
                   .value = t->one,
                   .outcome = outcome };
    e = t->grows && t->dictionary ? run_growing(t, &b) : hd_run(t->table, &b);
    if (e) return e;
    for (size_t i = 0; i < n; i++) {
        t->entries += outcome[i] == HD_INSERTED;
        if (outcome[i] != HD_RESERVED) continue;
        if (key[i] - t->keys >= sizeof t->reserved / sizeof *t->reserved)
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
    hd_counters c;
    hd_status e = hd_counters_sync(t->table, &c);
    if (e) return e;
    bool runs_over = t->value_bytes < sizeof(uint64_t) && t->counted >> (8 * t->value_bytes) != 0;
    /* while it grows they come again */
    *lost = c.outcome[HD_EVICTED] + c.outcome[HD_REFUSED] + (t->grows ? 0 : c.outcome[HD_PENDING]);
    *exact = *lost == 0 && !runs_over;
    return HD_OK;
}

uint64_t tally_beside(const tally *t)
{
    uint64_t keys = 0;
    for (size_t i = 0; i < sizeof t->reserved / sizeof *t->reserved; i++) keys += t->reserved[i] != 0;
    return keys;
}

/* Is given each key, if it asks for keys, with its count. False: it needs no more. */
typedef bool visitor(void *context, uint64_t key, uint64_t times);

/* The entries of a range of slots. */
typedef struct listed {
    uint64_t *key;  /* (LISTED); NULL: no keys are asked for */
    uint8_t *value; /* (LISTED, value_bytes) */
    uint64_t n;
    bool goes_on;
} listed;

static hd_status each_listed(const tally *t, listed *l, uint64_t places, visitor *visit, void *context)
{
    hd_status e = HD_OK;
    for (uint64_t start = 0; start < places && l->goes_on && !e; start += LISTED) {
        uint64_t n = places - start < LISTED ? places - start : LISTED;
        hd_batch b = {
            .op = HD_OP_EXPORT, .start = start, .n = n, .list_key = l->key, .list_value = l->value, .count = &l->n
        };
        e = hd_run(t->table, &b);
        for (uint64_t i = 0; !e && l->goes_on && i < l->n; i++) {
            uint64_t times = 0;
            memcpy(&times, l->value + i * t->value_bytes, t->value_bytes);
            l->goes_on = visit(context, l->key ? l->key[i] : 0, times);
        }
    }
    return e;
}

/* Every key with its count: those of the table in the order of its slots, then the reserved ones. */
static hd_status each(const tally *t, bool keys, visitor *visit, void *context)
{
    hd_info info;
    hd_status e = hd_table_info(t->table, &info);
    if (e) return e;
    listed l = { NULL, (uint8_t *)malloc(LISTED * t->value_bytes), 0, true };
    if (keys) l.key = (uint64_t *)malloc(LISTED * sizeof *l.key);
    if (l.value && (l.key || !keys))
        e = each_listed(t, &l, info.places, visit, context);
    else
        e = hd_fail(HD_ENOMEM, "the memory of a list was refused");
    free(l.key);
    free(l.value);
    for (uint64_t i = 0; i < 3 && !e && l.goes_on; i++)
        if (t->reserved[i]) l.goes_on = visit(context, t->keys + i, t->reserved[i]);
    return e;
}

/* ---- The most frequent: a heap whose root is the least of the best so far -------------------- */

static bool is_before(tally_entry a, tally_entry b) { return a.times != b.times ? a.times > b.times : a.key < b.key; }

typedef struct top_heap {
    tally_entry *entry; /* (most) no child comes after its parent */
    size_t n, most;
} top_heap;

/* Moves x down from place i until its children come before it. */
static void heap_sift(top_heap *h, size_t i, tally_entry x)
{
    for (size_t child = 2 * i + 1; child < h->n; child = 2 * i + 1) {
        if (child + 1 < h->n && is_before(h->entry[child], h->entry[child + 1])) child++;
        if (!is_before(x, h->entry[child])) break;
        h->entry[i] = h->entry[child];
        i = child;
    }
    h->entry[i] = x;
}

static bool top_visit(void *context, uint64_t key, uint64_t times)
{
    top_heap *h = (top_heap *)context;
    tally_entry x = { key, times };
    if (h->n == h->most) {
        if (is_before(x, h->entry[0])) heap_sift(h, 0, x);
        return true;
    }
    size_t i = h->n++;
    for (; i && is_before(h->entry[(i - 1) / 2], x); i = (i - 1) / 2) h->entry[i] = h->entry[(i - 1) / 2];
    h->entry[i] = x;
    return true;
}

static int by_rank(const void *a, const void *b)
{
    const tally_entry *x = (const tally_entry *)a, *y = (const tally_entry *)b;
    return is_before(*x, *y) ? -1 : is_before(*y, *x);
}

hd_status tally_top(const tally *t, size_t most, tally_entry *entry, size_t *got)
{
    top_heap h = { entry, 0, most };
    hd_status e = most ? each(t, true, top_visit, &h) : HD_OK;
    if (!e && h.n) qsort(entry, h.n, sizeof *entry, by_rank);
    *got = h.n;
    return e;
}

/* ---- How many keys occur how often ----------------------------------------------------------- */

/* Counts below FEW are tallied by index. The others are kept as a list, which is short: there are at most
 * counted / FEW of them. */
enum { FEW = 4096 };
typedef struct spectrum {
    uint64_t few[FEW]; /* keys with this count */
    uint64_t *many;    /* (manys) counts       */
    size_t manys, room;
    bool refused; /* memory was */
} spectrum;

static bool spectrum_visit(void *context, uint64_t key, uint64_t times)
{
    (void)key;
    spectrum *s = (spectrum *)context;
    if (times < FEW) {
        s->few[times]++;
        return true;
    }
    if (s->manys == s->room) {
        size_t more = s->room ? 2 * s->room : 64;
        uint64_t *p = (uint64_t *)realloc(s->many, more * sizeof *p);
        if (!p) {
            s->refused = true;
            return false;
        }
        s->many = p;
        s->room = more;
    }
    s->many[s->manys++] = times;
    return true;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

/* The steps in order; how many. */
static size_t spectrum_steps(spectrum *s, tally_step *out)
{
    size_t n = 0;
    for (uint64_t times = 0; times < FEW; times++)
        if (s->few[times]) out[n++] = (tally_step){ times, s->few[times] };
    if (s->manys) qsort(s->many, s->manys, sizeof *s->many, by_number);
    for (size_t i = 0; i < s->manys; i++) {
        if (n && out[n - 1].times == s->many[i])
            out[n - 1].keys++;
        else
            out[n++] = (tally_step){ s->many[i], 1 };
    }
    return n;
}

hd_status tally_spectrum(const tally *t, tally_step **row, size_t *rows)
{
    spectrum *s = (spectrum *)calloc(1, sizeof *s);
    hd_status e = s ? each(t, false, spectrum_visit, s) : HD_OK;
    tally_step *out = s && !s->refused ? (tally_step *)malloc((FEW + s->manys) * sizeof *out) : NULL;
    if (!e && !out) e = hd_fail(HD_ENOMEM, "the histogram's memory was refused");
    size_t n = e ? 0 : spectrum_steps(s, out);
    if (s) free(s->many);
    free(s);
    if (e) {
        free(out);
        return e;
    }
    *row = out;
    *rows = n;
    return HD_OK;
}

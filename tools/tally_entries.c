/* SPDX-License-Identifier: Apache-2.0
 *
 * tally_entries.c - what a tally has counted: lists of its table's entries, a range of slots at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ask.h"
#include "base/error.h"
#include "base/team.h"
#include "tools/memory.h"
#include "tools/tally.h"

/* ---- Lists ----------------------------------------------------------------------------------- */

/* Entries of a range of slots. */
typedef struct listed {
    uint64_t *key;  /* (rows) NULL: no keys are asked for */
    uint8_t *value; /* (rows, value_bytes) */
    uint64_t n;     /* entries */
} listed;

/* Is given the entries of each range, in the order of slots. */
typedef hd_status listed_visitor(void *context, const tally *t, const listed *l);

/* Those of a table on a device come by way of arrays of the device. While one range is visited, the next one comes. */
enum { TURNS = 2 };
typedef struct listing {
    const hd_device_seam *device; /* NULL: none */
    uint64_t slots, rows;         /* of the table; of a range, at most */
    bool keys;
    listed here[TURNS]; /* this machine's; without a device there is the first */
    listed far;         /* the device's */
    uint64_t *far_n;    /* the device's number of entries */
} listing;

static const char what[] = "lists of entries";
#define ASK(l, call, ...) HD_ASK((l)->device, what, call, __VA_ARGS__)

typedef hd_status taker(const hd_device_seam *device, const char *what, size_t bytes, void **p);

static hd_status take_listed(const tally *t, const listing *l, taker *take, listed *to)
{
    void *key = NULL, *value = NULL;
    hd_status e = l->keys ? take(l->device, what, l->rows * sizeof *to->key, &key) : HD_OK;
    if (!e) e = take(l->device, what, l->rows * t->value_bytes, &value);
    *to = (listed){ (uint64_t *)key, (uint8_t *)value, 0 };
    return e;
}

static void listing_close(const tally *t, const listing *l)
{
    for (int i = 0; i < TURNS; i++) {
        memory_give_near(l->device, l->here[i].key, l->rows * sizeof(uint64_t));
        memory_give_near(l->device, l->here[i].value, l->rows * t->value_bytes);
    }
    memory_give_far(l->device, l->far.key);
    memory_give_far(l->device, l->far.value);
    memory_give_far(l->device, l->far_n);
}

static hd_status listing_open(const tally *t, uint64_t slots, bool keys, listing *l)
{
    *l = (listing){ .device = t->device, .slots = slots, .rows = slots < t->listed ? slots : t->listed, .keys = keys };
    void *far_n = NULL;
    hd_status e = HD_OK;
    for (int i = 0; i < (l->device ? TURNS : 1) && !e; i++) e = take_listed(t, l, memory_take_near, &l->here[i]);
    if (!e && l->device) e = take_listed(t, l, memory_take_far, &l->far);
    if (!e && l->device) e = memory_take_far(l->device, what, sizeof *l->far_n, &far_n);
    l->far_n = (uint64_t *)far_n;
    if (e) listing_close(t, l);
    return e;
}

/* Lists the range from `start` on. */
static hd_status export_range(const tally *t, const listing *l, uint64_t start, const listed *to, uint64_t *count)
{
    hd_batch b = { .op = HD_OP_EXPORT, .start = start, .n = l->slots - start < l->rows ? l->slots - start : l->rows };
    b.list_key = to->key;
    b.list_value = to->value;
    b.count = count;
    return hd_run(t->table, &b);
}

static hd_status each_near(const tally *t, listing *l, listed_visitor *visit, void *context)
{
    hd_status e = HD_OK;
    for (uint64_t start = 0; start < l->slots && !e; start += l->rows) {
        e = export_range(t, l, start, l->here, &l->here->n);
        if (!e) e = visit(context, t, l->here);
    }
    return e;
}

static hd_status begin_far(const tally *t, listing *l, uint64_t start, listed *to)
{
    hd_status e = export_range(t, l, start, &l->far, l->far_n);
    return e ? e : ASK(l, copy, &to->n, l->far_n, sizeof to->n, HD_FROM_DEVICE, NULL);
}

static hd_status copy_far(const tally *t, const listing *l, const listed *to)
{
    hd_status e = HD_OK;
    if (to->n) e = ASK(l, copy, to->value, l->far.value, to->n * t->value_bytes, HD_FROM_DEVICE, NULL);
    if (!e && to->n && to->key) e = ASK(l, copy, to->key, l->far.key, to->n * sizeof *to->key, HD_FROM_DEVICE, NULL);
    return e;
}

static hd_status each_far(const tally *t, listing *l, listed_visitor *visit, void *context)
{
    listed *before = NULL;
    unsigned turn = 0;
    hd_status e = begin_far(t, l, 0, l->here);
    for (uint64_t start = 0; start < l->slots && !e; start += l->rows) {
        listed *now = &l->here[turn], *next = &l->here[turn = !turn];
        e = ASK(l, wait, NULL);
        if (!e) e = copy_far(t, l, now);
        /* `next` is still visited: only its number of entries changes, and that was read */
        listed visited = before ? *before : (listed){ NULL, NULL, 0 };
        if (!e && start + l->rows < l->slots) e = begin_far(t, l, start + l->rows, next);
        if (!e && visited.n) e = visit(context, t, &visited);
        before = now;
    }
    if (!e) e = ASK(l, wait, NULL);
    return e || !before ? e : visit(context, t, before);
}

/* Values are counts of 4 or 8 bytes. */
static uint64_t count_at(const tally *t, const listed *l, uint64_t i)
{
    uint32_t few;
    uint64_t times;
    if (t->value_bytes == sizeof times) return memcpy(&times, l->value + i * sizeof times, sizeof times), times;
    return memcpy(&few, l->value + i * sizeof few, sizeof few), few;
}

static hd_status each_listed(const tally *t, bool keys, listed_visitor *visit, void *context)
{
    hd_info info;
    listing l;
    hd_status e = hd_table_info(t->table, &info);
    if (!e) e = listing_open(t, info.places, keys, &l);
    if (e) return e;
    e = l.device ? each_far(t, &l, visit, context) : each_near(t, &l, visit, context);
    if (e && l.device) l.device->wait(l.device->self, NULL); /* for copies that are on their way */
    listing_close(t, &l);
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

static void heap_add(top_heap *h, tally_entry x)
{
    if (h->n == h->most) {
        if (is_before(x, h->entry[0])) heap_sift(h, 0, x);
        return;
    }
    size_t i = h->n++;
    for (; i && is_before(h->entry[(i - 1) / 2], x); i = (i - 1) / 2) h->entry[i] = h->entry[(i - 1) / 2];
    h->entry[i] = x;
}

static hd_status top_visit(void *context, const tally *t, const listed *l)
{
    for (uint64_t i = 0; i < l->n; i++) heap_add((top_heap *)context, (tally_entry){ l->key[i], count_at(t, l, i) });
    return HD_OK;
}

static int by_rank(const void *a, const void *b)
{
    const tally_entry *x = (const tally_entry *)a, *y = (const tally_entry *)b;
    return is_before(*x, *y) ? -1 : is_before(*y, *x);
}

hd_status tally_top(const tally *t, size_t most, tally_entry *entry, size_t *got)
{
    top_heap h = { entry, 0, most };
    hd_status e = most ? each_listed(t, true, top_visit, &h) : HD_OK;
    for (size_t i = 0; i < TALLY_RESERVED && most && !e; i++)
        if (t->reserved[i]) heap_add(&h, (tally_entry){ t->keys + i, t->reserved[i] });
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

/* One for each thread: they are added up at the end. */
typedef struct spectra {
    spectrum *of; /* (threads) */
    uint32_t threads;
} spectra;

static void spectrum_keep(spectrum *s, uint64_t times)
{
    if (s->manys == s->room) {
        size_t more = s->room ? 2 * s->room : 64;
        uint64_t *p = (uint64_t *)realloc(s->many, more * sizeof *p);
        s->refused = s->refused || !p;
        if (!p) return;
        s->many = p;
        s->room = more;
    }
    s->many[s->manys++] = times;
}

static void spectrum_add(spectrum *s, uint64_t times)
{
    if (times < FEW)
        s->few[times]++;
    else
        spectrum_keep(s, times);
}

typedef struct adding {
    const spectra *s;
    const tally *t;
    const listed *l;
} adding;

static void add_share(hd_team *m, uint32_t part, uint32_t many, void *context)
{
    const adding *a = (const adding *)context;
    uint64_t to = hd_team_share(a->l->n, part + 1, many);
    (void)m;
    for (uint64_t i = hd_team_share(a->l->n, part, many); i < to; i++)
        spectrum_add(&a->s->of[part], count_at(a->t, a->l, i));
}

static hd_status spectra_visit(void *context, const tally *t, const listed *l)
{
    const spectra *s = (const spectra *)context;
    adding a = { s, t, l };
    bool refused_any = false;
    hd_team_run(s->threads, l->n, add_share, &a);
    for (uint32_t part = 0; part < s->threads; part++) refused_any = refused_any || s->of[part].refused;
    return refused_any ? hd_fail(HD_ENOMEM, "the histogram's memory was refused") : HD_OK;
}

/* Into the first of them. */
static void spectra_merge(spectra *s)
{
    for (uint32_t i = 1; i < s->threads; i++) {
        for (uint64_t times = 0; times < FEW; times++) s->of->few[times] += s->of[i].few[times];
        for (size_t j = 0; j < s->of[i].manys; j++) spectrum_keep(s->of, s->of[i].many[j]);
    }
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

static hd_status spectra_fill(const tally *t, spectra *s)
{
    hd_status e = each_listed(t, false, spectra_visit, s);
    for (size_t i = 0; i < TALLY_RESERVED; i++)
        if (t->reserved[i]) spectrum_add(s->of, t->reserved[i]);
    spectra_merge(s);
    return e || !s->of->refused ? e : hd_fail(HD_ENOMEM, "the histogram's memory was refused");
}

hd_status tally_spectrum(const tally *t, tally_step **row, size_t *rows)
{
    spectra s = { NULL, hd_team_usual() };
    s.of = (spectrum *)calloc((size_t)s.threads, sizeof *s.of);
    hd_status e = s.of ? spectra_fill(t, &s) : HD_ENOMEM;
    tally_step *out = e ? NULL : (tally_step *)malloc((FEW + s.of->manys) * sizeof *out);
    if (!s.of || (!e && !out)) e = hd_fail(HD_ENOMEM, "the histogram's memory was refused");
    if (!e) {
        *rows = spectrum_steps(s.of, out);
        *row = out;
    }
    for (uint32_t i = 0; s.of && i < s.threads; i++) free(s.of[i].many);
    free(s.of);
    return e;
}

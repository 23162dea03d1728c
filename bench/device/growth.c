/* SPDX-License-Identifier: Apache-2.0
 *
 * growth.c - see growth.h. Keys are numbers, as the bench's draw.h has them: number 0 and on, in their order.
 */
#include "bench/device/growth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/device/point.h"
#include "bench/machine.h"
#include "base/error.h"

typedef struct growing {
    bench_fixture s;
    const bench_growth *g;
    bench_growth_measure *m;
    uint64_t entries;
    uint64_t *key;    /* (n), this machine's or the device's */
    void *value;      /* (n, words), likewise                */
    uint8_t *outcome; /* (n), likewise                       */
    uint8_t *fate;    /* (at_once), the device's: of checks  */
    void *seen;       /* (at_once, words)                    */
} growing;

/* ---- Keys and values ------------------------------------------------------------------------- */

static hd_status name(const growing *q, uint64_t first, uint64_t n, uint64_t *key)
{
    bench_draw d = { .n = n, .fresh = first, .names = bench_names_of(q->s.info.keys), .items = bench_order_of(n, 1) };
    return q->s.device->keys(&d, key);
}

/* `count` numbers from `first` on, to where the batch looks. */
static hd_status draw(growing *q, uint64_t first, uint64_t count, bool here)
{
    const bench_device *d = q->s.device;
    uint32_t words = q->s.shape.words;
    hd_status e = HD_OK;
    if (!here) {
        e = name(q, first, count, q->key);
        return e ? e : d->values(q->key, count, words, 0, q->value);
    }
    for (uint64_t done = 0, some; done < count && !e; done += some) {
        some = count - done < q->s.at_once ? count - done : q->s.at_once;
        e = name(q, first + done, some, q->s.key);
        if (!e) e = d->values(q->s.key, some, words, 0, q->s.value);
        if (!e) e = d->read(q->key + done, q->s.key, some * sizeof *q->key);
        if (!e) e = d->read((uint32_t *)q->value + done * words, q->s.value, some * words * 4);
    }
    return e;
}

/* All keys so far are there, with their values, and no others. */
static hd_status check(growing *q)
{
    uint64_t size = 0, found = 0, right = 0;
    hd_status e = bench_fixture_size(&q->s, &size);
    for (uint64_t done = 0, some; done < q->entries && !e; done += some) {
        some = q->entries - done < q->s.at_once ? q->entries - done : q->s.at_once;
        hd_batch b = { .op = HD_OP_FIND,
                       .distinct = true,
                       .n = some,
                       .key = q->s.key,
                       .outcome = q->fate,
                       .value_out = q->seen,
                       .stream = q->s.device->stream() };
        bench_answers a = { .n = some,
                            .key = q->s.key,
                            .outcome = q->fate,
                            .value = q->seen,
                            .words = q->s.shape.words,
                            .of = 1u << HD_HIT };
        bench_told told;
        e = name(q, done, some, q->s.key);
        if (!e) e = hd_run(q->s.table, &b);
        if (!e) e = q->s.device->answers(&a, &told);
        if (e) return e;
        found += told.count[HD_HIT];
        right += told.count[BENCH_TOLD_VALUES + BENCH_RIGHT];
    }
    if (!e && (size != q->entries || found != q->entries || right != q->entries))
        snprintf(q->m->wrong, sizeof q->m->wrong,
                 "%" PRIu64 " entries, of %" PRIu64 " keys %" PRIu64 " are there, %" PRIu64 " with their values", size,
                 q->entries, found, right);
    if (!e && q->g->invariants && hd_check(q->s.table)) snprintf(q->m->wrong, sizeof q->m->wrong, "%.150s", hd_why());
    return e;
}

/* ---- A table at its load factor -------------------------------------------------------------- */

static void end(growing *q, bool here)
{
    const bench_device *d = q->s.device;
    void *const batch[] = { q->key, q->value, q->outcome }, *const checks[] = { q->fate, q->seen };
    for (size_t i = 0; i < sizeof batch / sizeof *batch; i++) {
        if (here)
            free(batch[i]);
        else if (batch[i])
            d->give(batch[i]);
    }
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (checks[i]) d->give(checks[i]);
    bench_fixture_close(&q->s);
}

static hd_status take(const growing *q, bool here, uint64_t bytes, void **p)
{
    if (!here) return q->s.device->take("bench: batches of a table that grows", bytes, p);
    *p = malloc(bytes);
    return *p ? HD_OK : hd_fail(HD_ENOMEM, "bench: memory for %" PRIu64 " bytes of batches was refused", bytes);
}

/* Opened with `capacity`, and has `entries`; n: items of a batch, 0: none. */
static hd_status begin(growing *q, const bench_device *device, uint64_t capacity, uint64_t entries, uint64_t n,
                       bool here)
{
    bench_shape shape = q->g->shape;
    void *outcome = NULL, *key = NULL, *fate = NULL;
    shape.table.capacity = capacity;
    hd_status e = bench_fixture_open(&q->s, device, &shape);
    if (e) return e;
    if (n) {
        e = take(q, here, n * sizeof *q->key, &key);
        if (!e) e = take(q, here, n * shape.words * 4, &q->value);
        if (!e) e = take(q, here, n, &outcome);
    }
    if (!e) e = device->take("bench: outcomes of a table that grows", q->s.at_once, &fate);
    if (!e) e = device->take("bench: values of a table that grows", q->s.at_once * shape.words * 4, &q->seen);
    q->key = (uint64_t *)key;
    q->outcome = (uint8_t *)outcome;
    q->fate = (uint8_t *)fate;
    if (!e) e = bench_fixture_put_numbers(&q->s, 0, entries, false);
    q->entries = entries;
    q->m->from = q->s.info.capacity;
    return e ? e : device->wait();
}

static hd_status capacity_of(const growing *q, uint64_t *capacity)
{
    hd_info info;
    hd_status e = hd_table_info(q->s.table, &info);
    if (!e) *capacity = info.capacity;
    return e;
}

/* ---- Batches --------------------------------------------------------------------------------- */

/* Grown where so many more would be too many. */
static hd_status make_room(growing *q, bench_growth_way way, uint64_t n)
{
    hd_info info;
    hd_status e = hd_table_info(q->s.table, &info);
    if (e || q->entries + n <= (uint64_t)(q->g->load * (double)info.capacity)) return e;
    uint64_t buckets = point_room(q->entries + n, q->g->load) / info.slots + 1,
             least = info.buckets + info.buckets / 8 + 1, whole = info.base_buckets;
    if (buckets < least) buckets = least;
    while (whole < buckets) whole *= 2;
    q->m->resizes++;
    return hd_grow(q->s.table, way == GROWTH_DOUBLE ? whole : buckets);
}

/* One batch, by a way. The library's growths show in the table. */
static hd_status put(growing *q, bench_growth_way way, uint64_t n)
{
    uint64_t before = 0, after = 0;
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN,
                   .distinct = true,
                   .n = n,
                   .key = q->key,
                   .value = q->value,
                   .outcome = q->outcome,
                   .stream = q->s.device->stream() };
    hd_status e = way == GROWTH_CALLER || way == GROWTH_DOUBLE ? make_room(q, way, n) : HD_OK;
    if (way != GROWTH_CALL) return e ? e : hd_run(q->s.table, &b);
    b.stream = NULL;
    e = capacity_of(q, &before);
    if (!e) e = hd_run_growing(q->s.table, &b, q->g->load);
    if (!e) e = capacity_of(q, &after);
    q->m->resizes += after != before;
    return e;
}

static hd_status fill(growing *q, bench_growth_way way, bool here)
{
    const bench_device *d = q->s.device;
    hd_status e = HD_OK;
    for (uint64_t n; q->entries < q->g->to && !e; q->entries += n) {
        n = q->g->to - q->entries < q->g->n ? q->g->to - q->entries : q->g->n;
        e = draw(q, q->entries, n, here);
        if (!e) e = d->wait();
        double from = machine_wall_s();
        if (!e) e = put(q, way, n);
        if (!e) e = d->wait();
        q->m->seconds += machine_wall_s() - from;
        q->m->items += n;
    }
    return e;
}

hd_status growth_fill(const bench_device *device, const bench_growth *g, bench_growth_way way, bool here,
                      bench_growth_measure *m)
{
    growing q = { .g = g, .m = m };
    uint64_t first = (uint64_t)(g->load * (double)g->shape.table.capacity), room = point_room(g->to, g->load);
    *m = (bench_growth_measure){ .seconds = 0 };
    hd_status e = begin(&q, device, way == GROWTH_NONE ? room : g->shape.table.capacity, first, g->n, here);
    if (!e) e = fill(&q, way, here);
    if (!e) e = capacity_of(&q, &m->capacity);
    if (!e) e = check(&q);
    end(&q, here);
    return e;
}

/* ---- Splitting and merging ------------------------------------------------------------------- */

/* To so many buckets; the entries that took part are those of as many as came or went, twice: of pairs. */
static hd_status resize(growing *q, uint64_t buckets, bench_growth_measure *m)
{
    hd_info was, is;
    q->m = m;
    hd_status e = hd_table_info(q->s.table, &was);
    if (!e) e = q->s.device->wait();
    double from = machine_wall_s();
    if (!e) e = buckets > was.buckets ? hd_grow(q->s.table, buckets) : hd_shrink(q->s.table, buckets);
    m->seconds = machine_wall_s() - from;
    if (!e) e = hd_table_info(q->s.table, &is);
    if (e) return e;
    uint64_t more = is.buckets > was.buckets ? is.buckets : was.buckets,
             fewer = is.buckets > was.buckets ? was.buckets : is.buckets;
    m->from = was.capacity;
    m->capacity = is.capacity;
    m->resizes = more != fewer;
    /* all, where each bucket was split or joined */
    m->items = (uint64_t)((double)q->entries * (double)(more - fewer) / (double)fewer);
    return check(q);
}

hd_status growth_resize(const bench_device *device, const bench_growth *g, bench_growth_measure *up,
                        bench_growth_measure *down)
{
    growing q = { .g = g, .m = up };
    *up = *down = (bench_growth_measure){ .seconds = 0 };
    hd_status e =
        begin(&q, device, g->shape.table.capacity, (uint64_t)(g->load * (double)g->shape.table.capacity), 0, false);
    uint64_t buckets = q.s.info.buckets;
    if (!e) e = resize(&q, buckets + (g->split && g->split < buckets ? g->split : buckets), up);
    if (!e && !*up->wrong) e = resize(&q, buckets, down);
    end(&q, false);
    return e;
}

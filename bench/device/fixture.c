/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.c - fills and empties the table, and lists its keys.
 */
#include "bench/device/fixture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/design.h"
#include "base/error.h"
#include "base/op.h"
#include "bench/device/goals.h"
#include "lib/params.h"
#include "policies/expression.h"

enum { AT_ONCE = 1 << 20, NOT_FULL = 10000 /* of so many entries, one may be missing in a full table */ };

bench_shape bench_shape_of(const char *design, const char *backend)
{
    bench_shape shape = { .table = hd_config_of(design) };
    shape.table.backend = backend;
    return shape;
}

bool bench_shape_dual(const bench_shape *shape)
{
    return hd_params_number(&shape->table, shape->table.design, "dual") != 0;
}

bool bench_shape_scores(const bench_shape *shape, hd_op op)
{
    hd_policy_use use; /* of a design that keeps no scores, "none" is no policy here */
    bool known = hd_policy_read(shape->table.policy, &use) == HD_OK;
    return known && (use.program.flags & HD_SCORES_NEEDED) && hd_op_does(op, HD_SCORES);
}

hd_status bench_fixture_open(bench_fixture *s, const bench_device *device, const bench_shape *shape)
{
    hd_config c = shape->table;
    memset(s, 0, sizeof *s);
    s->device = device;
    s->shape = *shape;
    s->left_out = -1;
    c.value_bytes = shape->words * 4;
    const bench_goals *g = goals_of(c.design);
    if (shape->near > 0 && !g->near) return hd_fail(HD_EINVAL, "near: all entries of %s are near", c.design);
    if (shape->near > 0) g->near(&c, shape->near);
    hd_status e = hd_open(&c, &s->table);
    if (!e) e = hd_table_info(s->table, &s->info);
    if (e) return e;
    const hd_design *design = hd_design_named(s->info.design);
    s->shape.table.layout = s->info.layout;
    hd_params_of_info(design->params, &s->info, &s->shape.table);
    s->evicts = !design->policy;
    uint64_t capacity = s->info.capacity, places = s->info.places;
    s->at_once = capacity < AT_ONCE ? capacity : AT_ONCE;
    const struct {
        void **p;
        uint64_t bytes;
    } all[] = {
        { (void **)(void *)&s->key, s->at_once * 8 }, { &s->value, s->at_once * c.value_bytes },
        { (void **)(void *)&s->listed, places * 8 },  { (void **)(void *)&s->score, places * 8 },
        { (void **)(void *)&s->present, places * 8 }, { (void **)(void *)&s->count, 8 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all && !e; i++)
        e = device->take("bench: room to fill and to list a table", all[i].bytes, all[i].p);
    if (e) bench_fixture_close(s);
    return e;
}

void bench_fixture_close(bench_fixture *s)
{
    void *const all[] = { s->key, s->value, s->listed, s->score, s->present, s->count };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]) s->device->give(all[i]);
    hd_close(s->table);
    memset(s, 0, sizeof *s);
}

void bench_fixture_changed(bench_fixture *s)
{
    s->left_out = -1;
    s->settled = false;
}

hd_status bench_fixture_size(bench_fixture *s, uint64_t *entries) { return hd_size_sync(s->table, entries); }

/* ---- Drawing --------------------------------------------------------------------------------- */

bench_draw bench_fixture_draw(bench_fixture *s, uint64_t n, uint64_t hits, double zipf)
{
    bench_draw d;
    memset(&d, 0, sizeof d);
    d.n = n;
    d.hits = hits;
    d.fresh = s->fresh;
    d.names = bench_names_of(s->info.keys);
    d.present = s->present;
    d.presents = s->presents;
    d.seed = hd_mix64(++s->drawn);
    d.items = bench_order_of(n, d.seed);
    /* one order until the list is made anew: batches do not share hits, either */
    d.list = bench_order_of(s->presents, 1);
    d.at = s->presents ? s->drawn * hits % s->presents : 0;
    d.skewed = zipf > 0 && s->presents > 0;
    if (d.skewed) d.law = hd_zipf_of(zipf, s->presents);
    s->fresh += d.skewed ? s->presents : n - hits;
    return d;
}

hd_status bench_fixture_score(bench_fixture *s, hd_batch *b, uint64_t *score)
{
    if (!bench_shape_scores(&s->shape, b->op)) return HD_OK;
    b->score = score;
    return s->device->scores(++s->scored, b->n, score);
}

/* ---- Filling --------------------------------------------------------------------------------- */

hd_status bench_fixture_put(bench_fixture *s, const uint64_t *key, uint64_t n)
{
    hd_status e = HD_OK;
    for (uint64_t done = 0, some; done < n && !e; done += some) {
        some = n - done < s->at_once ? n - done : s->at_once;
        hd_batch b = {
            .op = HD_OP_INSERT_OR_ASSIGN, .distinct = true, .n = some, .key = key + done, .value = s->value
        };
        b.stream = s->device->stream();
        e = s->device->values(b.key, some, s->shape.words, 0, s->value);
        if (!e) e = bench_fixture_score(s, &b, s->score);
        if (!e) e = hd_run(s->table, &b);
    }
    bench_fixture_changed(s);
    return e;
}

hd_status bench_fixture_put_numbers(bench_fixture *s, uint64_t first, uint64_t n, bool erase)
{
    hd_status e = HD_OK;
    for (uint64_t done = 0, some; done < n && !e; done += some) {
        some = n - done < s->at_once ? n - done : s->at_once;
        bench_draw d;
        memset(&d, 0, sizeof d);
        d.n = some;
        d.fresh = first + done;
        d.names = bench_names_of(s->info.keys);
        d.items = bench_order_of(some, 1);
        e = s->device->keys(&d, s->key);
        if (!e && !erase) e = bench_fixture_put(s, s->key, some);
        if (e || !erase) continue;
        hd_batch b = { .op = HD_OP_ERASE, .distinct = true, .n = some, .key = s->key };
        b.stream = s->device->stream();
        e = hd_run(s->table, &b);
    }
    bench_fixture_changed(s);
    return e;
}

static hd_status insert_fresh(bench_fixture *s, uint64_t n)
{
    uint64_t first = s->fresh;
    s->fresh += n;
    return bench_fixture_put_numbers(s, first, n, false);
}

/* What one more round inserts into a table of `size` entries that is to have `entries`. The last bucket of a table that
 * is to be full fills when most have evicted for a while. */
static uint64_t round_of(const bench_fixture *s, uint64_t size, uint64_t entries)
{
    if (entries < s->info.capacity) return entries - size;
    return s->info.capacity / 2;
}

/* An empty table, and no key was ever in it. */
static hd_status begin_again(bench_fixture *s, bool used_up)
{
    hd_status e = hd_clear(s->table);
    s->blank = false;
    if (used_up) s->fresh = 0;
    bench_fixture_changed(s);
    return e;
}

hd_status bench_fixture_level(bench_fixture *s, uint64_t entries)
{
    enum { ROUNDS = 16 };
    uint64_t size = 0, capacity = s->info.capacity, slack = capacity / 1000;
    uint64_t enough = entries < capacity ? entries - (slack < entries ? slack : 0) : capacity - capacity / NOT_FULL;
    hd_status e = bench_fixture_size(s, &size);
    if (e) return e;
    bool used_up = bench_names_of(s->info.keys).n && s->fresh > s->info.keys / 2; /* names come again */
    if (s->blank || used_up || size > entries + slack) {
        e = begin_again(s, used_up);
        size = 0;
    }
    for (int round = 0; round < ROUNDS && !e && size < enough; round++) {
        e = insert_fresh(s, round_of(s, size, entries));
        if (!e) e = bench_fixture_size(s, &size);
    }
    if (!e && size < enough)
        e = hd_fail(HD_EINVAL,
                    "load: %" PRIu64 " of %" PRIu64 " entries is all that this table takes without evicting as many",
                    size, capacity);
    hd_counters c; /* what is inserted is known to the table only when it is asked: its choice of variant looks at it */
    return e ? e : hd_counters_sync(s->table, &c);
}

/* ---- Listing --------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

/* The score below which a share of score[] is: that of a sample, which is stretches of it. */
static hd_status quantile(bench_fixture *s, uint64_t n, double share, uint64_t *least)
{
    enum { STRETCHES = 64, EACH = 256 };
    uint64_t sample[STRETCHES * EACH], each = n / STRETCHES < EACH ? n / STRETCHES : EACH, got = 0;
    *least = 0;
    if (share <= 0 || each == 0) return HD_OK;
    for (uint64_t i = 0; i < STRETCHES; i++, got += each) {
        hd_status e = s->device->read(sample + got, s->score + n / STRETCHES * i, each * sizeof *sample);
        if (e) return e;
    }
    qsort(sample, got, sizeof *sample, by_size);
    uint64_t at = (uint64_t)((double)got * share);
    *least = sample[at < got ? at : got - 1];
    return HD_OK;
}

hd_status bench_fixture_list(bench_fixture *s, double left_out)
{
    uint64_t n, least;
    if (s->left_out == left_out) return HD_OK;
    hd_batch b = {
        .op = HD_OP_EXPORT, .n = s->info.places, .list_key = s->listed, .list_score = s->score, .count = s->count
    };
    b.stream = s->device->stream();
    hd_status e = hd_run(s->table, &b);
    if (!e) e = s->device->read(&n, s->count, sizeof n);
    if (!e) e = quantile(s, n, left_out, &least);
    if (!e) e = s->device->keep(s->listed, s->score, n, least, s->present, &s->presents);
    if (!e) s->left_out = left_out;
    return e;
}

/* ---- Tiers ----------------------------------------------------------------------------------- */

/* From the rank that is wanted least to the first, some at a time: under lru the scores are then in the order of the
 * ranks, as those of lfu are in the long run. */
hd_status bench_fixture_settle(bench_fixture *s, double zipf)
{
    enum { STEPS = 64 };
    uint64_t step = s->presents / STEPS + 1, left = s->presents;
    hd_status e = HD_OK;
    if (s->settled || zipf <= 0 || s->info.values_host_bytes == 0) return HD_OK;
    if (hd_params_number_of_table(&s->info, "tiers") != HD_TIERS_BUCKET) return HD_OK;
    if (step > s->at_once) step = s->at_once;
    while (left > 0 && !e) {
        uint64_t n = left < step ? left : step;
        bench_draw d = bench_fixture_draw(s, n, n, 0);
        hd_batch b = { .op = HD_OP_TOUCH, .distinct = true, .n = n, .key = s->key, .stream = s->device->stream() };
        d.at = left -= n;
        e = s->device->keys(&d, s->key);
        if (!e) e = bench_fixture_score(s, &b, s->score);
        if (!e) e = hd_run(s->table, &b);
    }
    hd_batch promote = { .op = HD_OP_PROMOTE, .n = s->info.capacity, .stream = s->device->stream() };
    if (!e) e = hd_run(s->table, &promote);
    s->settled = e == HD_OK;
    return e;
}

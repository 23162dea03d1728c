/* SPDX-License-Identifier: Apache-2.0
 *
 * stage.c - fills a table, and lists its keys.
 */
#include "bench/stage.h"

#include <stdlib.h>
#include <string.h>

#include "bench/device/draw.h"
#include "base/error.h"
#include "base/op.h"
#include "lib/params.h"
#include "bench/machine.h"
#include "workload/rng.h"

enum { AT_ONCE = 1 << 16, PRESENT_MOST = 1 << 22 };

void stage_strike(bench_stage *s)
{
    hd_close(s->table);
    free(s->present);
    memset(s, 0, sizeof *s);
}

hd_status stage_run(bench_stage *s, hd_batch *b)
{
    hd_status e = hd_run(s->table, b);
    if (!e && hd_op_does(b->op, HD_NEEDS_KEY)) s->submitted += b->n;
    return e;
}

void stage_changed(bench_stage *s)
{
    free(s->present);
    s->present = NULL;
    s->presents = 0;
}

double stage_load(bench_stage *s)
{
    double load = 0;
    return s->table && hd_load_factor_sync(s->table, &load) == HD_OK ? load : 0;
}

/* ---- Filling --------------------------------------------------------------------------------- */

static void keys_fresh(bench_stage *s, uint64_t *key, uint64_t n)
{
    bench_order names = bench_names_of(s->info.keys);
    for (uint64_t i = 0; i < n; i++) key[i] = bench_name(&names, s->fresh++);
}

/* Different keys until the load factor is `fill`, or within half a percent of it when buckets that are full
 * already take most of the keys. Each batch brings about as many keys as are missing. */
static hd_status fill_with(bench_stage *s, uint64_t *key, const void *value)
{
    uint64_t wanted = (uint64_t)(s->fill * (double)s->info.capacity), enough = wanted - wanted / 200, size = 0,
             before = 0;
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .key = key, .value = value };
    hd_counters c;
    hd_status e = hd_counters_sync(s->table, &c);
    before = c.outcome[HD_INSERTED];
    while (!e && size < wanted && (size < enough || s->fill < 1)) {
        b.n = wanted - size < AT_ONCE ? wanted - size : AT_ONCE;
        if (s->fill >= 1 && b.n < AT_ONCE / 16) b.n = AT_ONCE / 16;
        if (s->fresh > 64 * s->info.capacity + AT_ONCE)
            return hd_fail(HD_EINVAL, "fill: %g of the table does not fill up", s->fill);
        keys_fresh(s, key, b.n);
        e = stage_run(s, &b);
        if (!e) e = hd_counters_sync(s->table, &c);
        size = c.outcome[HD_INSERTED] - before;
    }
    return e;
}

static hd_status fill(bench_stage *s)
{
    uint64_t *key = (uint64_t *)malloc(AT_ONCE * sizeof *key);
    void *value = calloc(AT_ONCE, s->info.value_bytes + 1u);
    hd_status e = key && value ? fill_with(s, key, value) : hd_fail(HD_ENOMEM, "fill: memory was refused");
    free(value);
    free(key);
    return e;
}

/* The fields that make a table what it is. */
static bool shape_equal(const hd_case *a, const hd_case *b)
{
    return strcmp(a->design, b->design) == 0 && strcmp(a->kernel, b->kernel) == 0 &&
           strcmp(a->policy, b->policy) == 0 && strcmp(a->lock, b->lock) == 0 && a->buckets == b->buckets &&
           a->capacity == b->capacity && a->slots == b->slots && a->value_bytes == b->value_bytes &&
           a->table_seed == b->table_seed && a->threads == b->threads && a->layout == b->layout &&
           !hd_params_differ(&a->table, &b->table);
}

hd_status stage_set(bench_stage *s, const hd_case *c, double fill_to)
{
    if (s->table && s->fill == fill_to && shape_equal(&s->c, c)) return HD_OK;
    stage_strike(s);
    int64_t before = machine_resident_bytes();
    s->c = *c;
    s->fill = fill_to;
    hd_config f = hd_case_config(&s->c);
    hd_status e = hd_open(&f, &s->table);
    if (!e) e = hd_table_info(s->table, &s->info);
    if (!e) e = fill(s);
    s->resident_bytes = machine_resident_bytes() - before;
    if (e) stage_strike(s);
    return e;
}

/* ---- What is in it --------------------------------------------------------------------------- */

/* Exports the table and keeps each key with the probability that leaves about PRESENT_MOST of them: keys from all
 * over the table, so that going through them visits all of it. */
static hd_status present_coalesced(bench_stage *s, uint64_t *window, hd_rng *chance)
{
    uint64_t found, stride = s->info.capacity / PRESENT_MOST + 1;
    for (uint64_t start = 0; start < s->info.capacity && s->presents < PRESENT_MOST; start += AT_ONCE) {
        hd_batch b = { .op = HD_OP_EXPORT, .start = start, .list_key = window, .count = &found };
        b.n = s->info.capacity - start < AT_ONCE ? s->info.capacity - start : AT_ONCE;
        hd_status e = stage_run(s, &b);
        if (e) return e;
        for (uint64_t i = 0; i < found && s->presents < PRESENT_MOST; i++)
            if (stride == 1 || hd_rng_below(chance, stride) == 0) s->present[s->presents++] = window[i];
    }
    return s->presents ? HD_OK : hd_fail(HD_EINVAL, "probe: the table is empty");
}

/* Fisher and Yates, as Durstenfeld wrote it. */
static void shuffle(uint64_t *key, uint64_t n, hd_rng *chance)
{
    for (uint64_t i = n; i > 1; i--) {
        uint64_t k = hd_rng_below(chance, i), moved = key[i - 1];
        key[i - 1] = key[k];
        key[k] = moved;
    }
}

static hd_status present_learn(bench_stage *s)
{
    if (s->present) return HD_OK;
    uint64_t most = s->info.capacity < PRESENT_MOST ? s->info.capacity : PRESENT_MOST;
    uint64_t *window = (uint64_t *)malloc(AT_ONCE * sizeof *window);
    s->present = (uint64_t *)malloc(most * sizeof *s->present);
    hd_rng chance = hd_rng_from(1);
    hd_status e =
        window && s->present ? present_coalesced(s, window, &chance) : hd_fail(HD_ENOMEM, "probe: memory was refused");
    free(window);
    if (e)
        stage_changed(s);
    else
        shuffle(s->present, s->presents, &chance);
    s->at = 0;
    return e;
}

hd_status stage_most(bench_stage *s, bench_probe probe, uint64_t *most)
{
    *most = UINT64_MAX;
    if (probe != BENCH_HIT) return HD_OK;
    hd_status e = present_learn(s);
    *most = s->presents;
    return e;
}

hd_status stage_keys(bench_stage *s, bench_probe probe, uint64_t *key, uint64_t n)
{
    if (probe != BENCH_HIT) {
        keys_fresh(s, key, n);
        return HD_OK;
    }
    hd_status e = present_learn(s);
    if (e) return e;
    if (s->at + n > s->presents) s->at = 0;
    memcpy(key, s->present + s->at, n * sizeof *key);
    s->at += n;
    return HD_OK;
}

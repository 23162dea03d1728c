/* SPDX-License-Identifier: Apache-2.0
 *
 * growth.c - see growth.h.
 */
#include "judge/growth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/backend_host.h"
#include "lib/params.h"
#include "base/design.h"
#include "base/error.h"
#include "workload/rng.h"

enum { TIMES_MOST = 4 /* as many buckets as it began with */ };

typedef struct pair {
    uint64_t key, value; /* value_word */
} pair;

typedef struct pairs {
    pair *of;
    uint64_t n, most;
    uint32_t value_bytes;
} pairs;

/* What is resized, and what was in it before. */
typedef struct walk {
    const hd_config *config;
    hd_table *t;
    hd_info info;
    hd_rng rng;
    pairs before, after;
    uint64_t *key;  /* (batch)              */
    uint8_t *value; /* (batch, value_bytes) */
    uint64_t batch;
    uint32_t muted_checks;
    judge_growth *g;
} walk;

/* ---- Contents -------------------------------------------------------------------------------- */

/* A value of up to 8 bytes itself; a hash of a larger one. */
static uint64_t value_word(const uint8_t *value, uint32_t bytes)
{
    uint64_t word = 0;
    for (uint32_t at = 0; at < bytes; at += 8) {
        uint64_t part = 0;
        memcpy(&part, value + at, bytes - at < 8 ? bytes - at : 8);
        word = word * 0x9e3779b97f4a7c15u ^ part;
    }
    return word;
}

static int note(void *context, uint64_t key, uint64_t score, void *value)
{
    pairs *all = (pairs *)context;
    pair p = { key, value_word((const uint8_t *)value, all->value_bytes) };
    (void)score;
    if (all->n < all->most) all->of[all->n] = p;
    return all->n++ == all->most; /* more than there are places */
}

static int by_key(const void *a, const void *b)
{
    const pair *x = (const pair *)a, *y = (const pair *)b;
    return (x->key > y->key) - (x->key < y->key);
}

static hd_status look(walk *w, pairs *all)
{
    all->n = 0;
    hd_status status = hd_for_each(w->t, note, all);
    if (!status && all->n <= all->most) qsort(all->of, all->n, sizeof *all->of, by_key);
    return status;
}

static void object(walk *w, uint32_t by, const char *what, const char *sentence)
{
    judge_growth *g = w->g;
    if (g->wrong[0] || (w->muted_checks & by)) return;
    g->by = by;
    snprintf(g->wrong, sizeof g->wrong, "%s: %s", what, sentence);
}

static void compare(walk *w, const char *what)
{
    const pairs *was = &w->before, *is = &w->after;
    char text[128];
    uint64_t i = 0;
    while (i < was->n && i < is->n && is->n <= is->most && was->of[i].key == is->of[i].key &&
           was->of[i].value == is->of[i].value)
        i++;
    if (i == was->n && i == is->n) return;
    if (is->n > is->most)
        snprintf(text, sizeof text, "more entries than places");
    else if (i == is->n || (i < was->n && was->of[i].key < is->of[i].key))
        snprintf(text, sizeof text, "key %" PRIx64 " is lost", was->of[i].key);
    else if (i < was->n && was->of[i].key == is->of[i].key)
        snprintf(text, sizeof text, "key %" PRIx64 " has another value", is->of[i].key);
    else
        snprintf(text, sizeof text, "key %" PRIx64 " is there, or there once more", is->of[i].key);
    object(w, JUDGE_GROWTH_CONTENTS, what, text);
}

/* ---- Between two times ----------------------------------------------------------------------- */

static hd_status run(walk *w, hd_op op, uint64_t n)
{
    hd_batch b;
    memset(&b, 0, sizeof b);
    b.op = op;
    b.n = n;
    b.key = w->key;
    b.value = w->value;
    return hd_run(w->t, &b);
}

/* Erases some keys and inserts others, as many as there is room for. */
static hd_status churn(walk *w, uint64_t erased, uint64_t inserted)
{
    hd_status status = look(w, &w->before);
    uint64_t n = 0;
    for (; n < erased && w->before.n && !status; n++) w->key[n] = w->before.of[hd_rng_below(&w->rng, w->before.n)].key;
    if (!status) status = run(w, HD_OP_ERASE, n);
    for (uint64_t i = 0; i < inserted; i++) w->key[i] = hd_rng_below(&w->rng, w->info.keys);
    for (uint64_t i = 0; i < inserted * w->info.value_bytes; i++) w->value[i] = (uint8_t)hd_rng_next(&w->rng);
    return status ? status : run(w, HD_OP_INSERT_OR_ASSIGN, inserted);
}

/* ---- One time -------------------------------------------------------------------------------- */

static hd_status count(walk *w)
{
    uint64_t n = 0;
    hd_batch b;
    memset(&b, 0, sizeof b);
    b.op = HD_OP_EXPORT;
    b.start = w->info.capacity;
    b.n = w->info.places - w->info.capacity;
    b.count = &n;
    hd_status status = hd_run(w->t, &b);
    w->g->stashed += n;
    w->g->entries += w->before.n;
    return status;
}

/* With the schedule of `way`. A fault of the machine ends the walk: the contents are then unknown. */
static hd_status resize(walk *w, const simt_config *way, uint64_t to)
{
    char what[96];
    bool grows = to > w->info.buckets;
    hd_status status = look(w, &w->before);
    if (!status) status = count(w);
    if (!status) status = hd_host_configure(w->t, way);
    if (status) return status;
    snprintf(what, sizeof what, "%s from %" PRIu64 " to %" PRIu64 " buckets, seed %" PRIu64,
             grows ? "growth" : "shrinking", w->info.buckets, to, way->seed);
    status = grows ? hd_grow(w->t, to) : hd_shrink(w->t, to);
    if (status == HD_EKERNEL) {
        object(w, JUDGE_GROWTH_MACHINE, what, hd_why());
        return status;
    }
    if (!status) status = hd_table_info(w->t, &w->info);
    if (!status) status = look(w, &w->after);
    if (status) return status;
    if (hd_check(w->t)) object(w, JUDGE_GROWTH_INVARIANTS, what, hd_why());
    compare(w, what);
    w->g->grown += grows;
    w->g->shrunk += !grows;
    w->g->short_of += !grows && w->info.buckets > to;
    return HD_OK;
}

/* Where a limit of device memory can change: another one, if it is enough for the table. */
static hd_status set_near(walk *w, const simt_config *way)
{
    const hd_design *d = hd_design_named(w->info.design);
    char what[96];
    if (!d->ref->set_near) return HD_OK;
    uint64_t least = hd_params_number(w->config, d->name, "near"), bytes = w->info.places * 2 * w->info.value_bytes,
             near = hd_rng_below(&w->rng, 4) ? least + hd_rng_below(&w->rng, bytes + 1) : 0;
    hd_status status = look(w, &w->before);
    if (!status) status = hd_host_configure(w->t, way);
    if (status) return status;
    snprintf(what, sizeof what, "near=%" PRIu64 " of %" PRIu64 " buckets, seed %" PRIu64, near, w->info.buckets,
             way->seed);
    status = hd_set_near(w->t, near);
    if (status == HD_EKERNEL) {
        object(w, JUDGE_GROWTH_MACHINE, what, hd_why());
        return status;
    }
    w->g->moved += !status;
    if (!status || status == HD_EINVAL) status = look(w, &w->after);
    if (status) return status;
    if (hd_check(w->t)) object(w, JUDGE_GROWTH_INVARIANTS, what, hd_why());
    compare(w, what);
    return HD_OK;
}

/* Tables that cannot shrink grow by whole multiples. */
static bool only_grows(const walk *w)
{
    return w->info.base_buckets == 0 || hd_design_named(w->info.design)->ref->grows_only;
}

/* Alternates between more and fewer buckets, from the first number up to a multiple of it. */
static uint64_t another_size(walk *w, bool up)
{
    uint64_t least = w->info.base_buckets, most = TIMES_MOST * least, now = w->info.buckets;
    if (only_grows(w)) return now * (2 + hd_rng_below(&w->rng, 2));
    if (up ? now == most : now == least) up = !up;
    return up ? now + 1 + hd_rng_below(&w->rng, most - now) : least + hd_rng_below(&w->rng, now - least);
}

/* An empty table of the first size, whose batches the reference runs. Every second one grows in planes that begin with
 * the old ones, where the design's kernels can. */
static hd_status open_table(walk *w, uint64_t number)
{
    hd_close(w->t);
    w->t = NULL;
    hd_status status = hd_open(w->config, &w->t);
    if (!status) status = hd_table_info(w->t, &w->info);
    if (!status) status = hd_host_by_reference(w->t, true);
    return status ? status : hd_host_in_place(w->t, number % 2);
}

/* Twice as many keys as there are places fill a table. */
static hd_status fill(walk *w) { return churn(w, 0, 2 * w->info.places); }

static hd_status walk_on(walk *w, const simt_config *way, uint64_t times)
{
    hd_status status = fill(w);
    for (uint64_t i = 0; i < times && !status && !w->g->wrong[0]; i++) {
        simt_config c = *way;
        c.seed += i;
        if (only_grows(w) && i > 0) status = open_table(w, way->seed + i);
        if (only_grows(w) && i > 0 && !status) status = fill(w);
        if (!status) status = resize(w, &c, another_size(w, i % 2 == 0));
        if (!status && !w->g->wrong[0]) status = set_near(w, &c);
        if (!status && !w->g->wrong[0])
            status = churn(w, hd_rng_below(&w->rng, w->batch / 4), hd_rng_below(&w->rng, w->info.places));
    }
    return w->g->wrong[0] ? HD_OK : status;
}

static bool furnish(walk *w)
{
    uint64_t most = w->info.places * TIMES_MOST * 2;
    w->batch = most;
    w->key = (uint64_t *)calloc(most, sizeof *w->key);
    w->value = (uint8_t *)calloc(most, w->info.value_bytes);
    w->before.of = (pair *)calloc(most, sizeof(pair));
    w->after.of = (pair *)calloc(most, sizeof(pair));
    w->before.most = w->after.most = most;
    w->before.value_bytes = w->after.value_bytes = w->info.value_bytes;
    return w->key && w->value && w->before.of && w->after.of;
}

hd_status judge_growth_run(const hd_case *c, const simt_config *way, uint64_t times, uint32_t muted_checks,
                           judge_growth *g)
{
    walk w;
    hd_config config = hd_case_config(c);
    memset(&w, 0, sizeof w);
    memset(g, 0, sizeof *g);
    config.backend = "host";
    w.config = &config;
    w.rng = hd_rng_from(c->seed);
    w.muted_checks = muted_checks;
    w.g = g;
    hd_status status = open_table(&w, way->seed);
    if (!status)
        status = furnish(&w) ? walk_on(&w, way, times) : hd_fail(HD_ENOMEM, "growth: no memory for a table's contents");
    hd_close(w.t);
    free(w.key);
    free(w.value);
    free(w.before.of);
    free(w.after.of);
    return status;
}

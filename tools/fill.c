/* SPDX-License-Identifier: Apache-2.0
 *
 * fill.c - a table filled with different keys, step by step.
 */
#include "tools/fill.h"

#include <stdlib.h>
#include <string.h>

#include "tools/progress.h"

enum { BATCH = 4096, SAMPLE = 65536 };

typedef struct filling {
    hd_table *table;
    uint64_t key[BATCH];
    uint8_t outcome[BATCH];
    uint64_t score[BATCH];
    uint8_t *value; /* (BATCH, value_bytes) */
    uint64_t seed;
    bool scored; /* custom: independent scores, so that the table has something to choose by */
} filling;

/* The i-th key: an odd multiple is a bijection; the multiplier is 2^64 over the golden ratio. */
static uint64_t key_at(uint64_t seed, uint64_t i) { return (seed + i + 1) * 0x9e3779b97f4a7c15u; }

/* Looks random: the high half of a product folded onto the low (not the table's own hash). */
static uint64_t score_of(uint64_t key)
{
    uint64_t x = (key ^ key >> 29) * 0xd1342543de82ef95u; /* a multiplier of Steele and Vigna's */
    return x ^ x >> 32;
}

static hd_status offer(filling *f, uint64_t from, uint64_t to, progress *line, uint64_t last)
{
    hd_status s = HD_OK;
    hd_batch b = {
        .op = HD_OP_INSERT_OR_ASSIGN, .distinct = true, .key = f->key, .value = f->value, .outcome = f->outcome
    };
    if (f->scored) b.score = f->score;
    for (uint64_t i = from; !s && i < to; i += b.n) {
        b.n = to - i < BATCH ? to - i : BATCH;
        for (uint64_t k = 0; k < b.n; k++) {
            f->key[k] = key_at(f->seed, i + k);
            f->score[k] = score_of(f->key[k]);
        }
        s = hd_run(f->table, &b);
        if (progress_at(line, i, last, -1)) break;
    }
    return s;
}

/* Looks for every offered/SAMPLE-th key. */
static hd_status look(filling *f, uint64_t offered, uint64_t *looked, uint64_t *found)
{
    hd_status s = HD_OK;
    uint64_t step = offered > SAMPLE ? offered / SAMPLE : 1;
    hd_batch b = { .op = HD_OP_FIND, .distinct = true, .key = f->key, .outcome = f->outcome, .value_out = f->value };
    *looked = *found = 0;
    for (uint64_t i = 0; !s && i < offered;) {
        for (b.n = 0; b.n < BATCH && i < offered; i += step) f->key[b.n++] = key_at(f->seed, i);
        s = hd_run(f->table, &b);
        for (uint64_t k = 0; k < b.n; k++) *found += f->outcome[k] == HD_HIT;
        *looked += b.n;
    }
    return s;
}

static hd_status step_run(filling *f, uint64_t before, fill_row *r, progress *line, uint64_t last)
{
    hd_counters c;
    uint64_t looked = 0, found = 0, begin = progress_now_ns();
    hd_status s = offer(f, before, r->offered, line, last);
    uint64_t middle = progress_now_ns();
    if (!s) s = look(f, r->offered, &looked, &found);
    uint64_t end = progress_now_ns();
    if (!s) s = hd_counters_sync(f->table, &c);
    if (!s) s = hd_size_sync(f->table, &r->size);
    if (s) return s;
    r->evicted = c.outcome[HD_EVICTED];
    r->refused = c.outcome[HD_REFUSED];
    r->kept = looked ? (double)found / (double)looked : 0;
    r->inserts_per_s = (double)(r->offered - before) / ((double)(middle - begin) * 1e-9);
    r->finds_per_s = (double)looked / ((double)(end - middle) * 1e-9);
    return HD_OK;
}

/* One policy: a table filled to part[0], part[1], ... of its capacity. */
static hd_status fill_table(filling *f, hd_config *c, const double *part, size_t parts, fill_row *row, progress *line)
{
    uint64_t before = 0, last = (uint64_t)(part[parts - 1] * (double)c->capacity + 0.5);
    f->scored = strcmp(c->policy, "custom") == 0;
    hd_status s = hd_open(c, &f->table);
    for (size_t k = 0; !s && !tool_stopped() && k < parts; k++) {
        fill_row *r = &row[k];
        *r = (fill_row){ .policy = c->policy,
                         .asked = part[k],
                         .offered = (uint64_t)(part[k] * (double)c->capacity + 0.5) };
        s = step_run(f, before, r, line, last);
        before = r->offered;
    }
    hd_close(f->table);
    f->table = NULL;
    return s;
}

int fill_run(const replay_plan *p, const replay_list *policies, const double *part, size_t parts, uint64_t capacity,
             fill_row *row)
{
    filling *f = (filling *)calloc(1, sizeof *f);
    if (f && p->value_bytes) f->value = (uint8_t *)calloc(BATCH, p->value_bytes);
    hd_status s = HD_OK;
    int code = f && (f->value || !p->value_bytes) ? TOOL_OK : tool_say(TOOL_SYSTEM, "memory was refused");
    progress line;
    progress_begin(&line, "filling", "keys");
    for (size_t i = 0; !s && !code && i < policies->items; i++) {
        hd_config c = replay_config(p, policies->item[i]);
        c.threads = p->threads;
        replay_shape(p, capacity, &c.slots, &c.capacity);
        f->seed = p->seed;
        s = fill_table(f, &c, part, parts, row + i * parts, &line);
    }
    progress_end(&line);
    if (f) free(f->value);
    free(f);
    if (s) return tool_fail(s);
    return code ? code : tool_stopped() ? TOOL_STOPPED : TOOL_OK;
}

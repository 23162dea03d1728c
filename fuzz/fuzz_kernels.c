/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_kernels.c - GPU kernels on the host machine against the reference: the first bytes say what table it is and how
 * lanes are scheduled, the rest are batches, one after another on a table that began empty, each by any variant that
 * runs its operation. Every item is judged in the order of the tickets, the table slot by slot after each batch, and
 * invariants between steps.
 *
 *   byte 0   schedule: where, units, weak memory     byte 2   keys
 *   byte 1   strategy, watching, threads and blocks  then     the table (fuzz_table_of), and batches: operation,
 *            variant, items - 1, a byte for each key, and what the operation asks for
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "fuzz/fixture.h"
#include "judge/comparison.h"
#include "judge/kernels.h"
#include "judge/rules.h"
#include "lib/params.h"

enum { MOST = 512, ITEMS = 12, BATCHES = 12 };

typedef struct show {
    hd_case c;
    const judge_design *d;
    simt_config config;
    uint32_t threads, blocks;
    bool watch;
    uint64_t keys;
} show;

static bool show_of(show *x, feed *f)
{
    memset(x, 0, sizeof *x);
    hd_case *c = &x->c;
    x->config = fuzz_way(f);
    uint8_t run = feed_byte(f), place = feed_byte(f);
    x->config.strategy = run & 1 ? SIMT_PCT : SIMT_RANDOM;
    x->config.pct_length = 2000;
    x->watch = run & 2;
    x->threads = run & 4 ? 64 : 32;
    x->blocks = 1 + run / 8 % 3;
    x->config.seed = run / 32;
    x->d = fuzz_table_of(f, 3, "host", fuzz_fixed_in_fixtures, c);
    if (!x->d) return false;
    x->keys = 1 + c->buckets * c->slots * (1 + place % 8) / 2;
    c->batch = ITEMS;
    c->batches = 1;
    snprintf(c->keys, sizeof c->keys, "uniform:%" PRIu64, x->keys);
    return true;
}

/* The fields of a batch that fixture_batch does not draw. */
static void finish_batch(fixture *s, feed *f)
{
    fixture_part *p = &s->part[0];
    hd_batch *b = &p->batch;
    uint8_t more = feed_byte(f);
    if (b->each) return;
    if (b->op == HD_OP_LOCK_KEYS || b->op == HD_OP_UNLOCK_KEYS) b->holder = 1 + more % 3;
    if (b->op == HD_OP_ACCUM_OR_ASSIGN && more & 1) {
        uint8_t *flag = (uint8_t *)judge_arrays_at(&p->arrays, JUDGE_FLAG);
        for (uint64_t i = 0; i < b->n; i++) flag[i] = (uint8_t)feed_below(f, 3);
        b->flag = flag;
    }
    if (b->op == HD_OP_ACCUM_OR_ASSIGN || !judge_scores_items(&judge_ops[b->op]) || !(more & 2 || b->score)) return;
    uint64_t *score = (uint64_t *)judge_arrays_at(&p->arrays, JUDGE_SCORE);
    for (uint64_t i = 0; i < b->n; i++) score[i] = feed_number(f);
    b->score = score;
}

/* The next batch of the bytes. False: they, or what is allowed, have ended. */
static bool next_batch(const show *x, fixture *s, feed *f, fixture_kernel *k)
{
    while (feed_more(f)) {
        hd_op op = (hd_op)feed_below(f, HD_OP_COUNT_ + (x->d->mix != NULL)); /* JUDGE_MIXED is the last */
        uint32_t row = fuzz_row(f, x->d, op, &x->c);
        uint64_t key[ITEMS], n = 1 + feed_below(f, ITEMS);
        for (uint64_t i = 0; i < n && (op == JUDGE_MIXED || judge_ops[op].keyed); i++) {
            uint64_t at = feed_below(f, x->keys + 3);
            key[i] = at < x->keys ? at * 0x9e3779b97f4a7c15u % x->d->keys : x->d->keys + at - x->keys;
        }
        bool pins = op == HD_OP_LOCK_KEYS || op == HD_OP_UNLOCK_KEYS;
        if (row == fixture_row_count(x->d) || (pins && !hd_params_number(&x->c.table, x->c.design, "pins")))
            continue; /* a table without room for pins */
        *k = fuzz_kernel(x->d, row, op, x->threads, x->blocks);
        if (fixture_batch(s, k, op, key, n)) continue; /* sums of values that are no numbers */
        finish_batch(s, f);
        fixture_changed(s, 0);
        return true;
    }
    return false;
}

static void put_batch(fuzz_text *t, const fixture *s)
{
    const hd_batch *b = &s->part[0].batch;
    fuzz_put(t, "\n  %s by %s", judge_batch_name(b), s->part[0].kernel->name);
    if (b->holder) fuzz_put(t, " holder=%" PRIu64, b->holder);
    for (uint64_t i = 0; judge_ops[b->op].keyed && i < b->n; i++) {
        fuzz_put(t, " %s%s%" PRIx64, b->each ? hd_op_name(judge_item_op(b, i)) : "", b->each ? ":" : "", b->key[i]);
        if (b->score) fuzz_put(t, "(%" PRIu64 ")", b->score[i]);
    }
}

/* All batches; told, when there is a text for it, before they are run. */
static const char *go_through(const show *x, comparison *a, fixture *s, feed *f, uint64_t *steps, fuzz_text *t)
{
    const char *why = NULL;
    simt_machine *m = fuzz_machine();
    fixture_kernel k;
    for (int i = 0; i < BATCHES && m && !why && next_batch(x, s, f, &k); i++) {
        simt_config c = x->config;
        bool keyed = judge_ops[s->part[0].batch.op].keyed;
        uint64_t n = s->part[0].batch.n;
        comparison_watch_with(a, &c, x->watch ? 1 : 0);
        if (t) put_batch(t, s);
        hd_status status = comparison_run(a, m, &c, &why);
        if (status) return fuzz_say("%s: %s", hd_status_name(status), hd_why());
        if (why) return fuzz_say("batch %d: %s", i, why);
        *steps += keyed ? n : 1;
        fixture_begin(s, s->memory, s->clock + (keyed ? n : 0));
    }
    return why;
}

static const char *run_told(const uint8_t *bytes, size_t n, uint64_t *steps, fuzz_text *t)
{
    feed f = feed_of(bytes, n);
    show x;
    fixture *s = NULL;
    comparison *a = NULL;
    char printed[1024];
    if (!show_of(&x, &f)) return NULL;
    if (t) {
        hd_case_print(&x.c, printed, sizeof printed);
        fuzz_put(t, "%s, %s by %s%s, blocks of %u threads, %u of them; batches:", printed,
                 x.config.strategy == SIMT_PCT ? "pct" : "random", x.config.unit == SIMT_BY_WARP ? "warp" : "lane",
                 x.config.weak ? ", weak memory" : "", x.threads, x.blocks);
    }
    hd_status status = fixture_open_empty(&x.c, &s);
    if (!status) status = comparison_open(s, &a);
    const char *why =
        status ? fuzz_say("%s: %s", hd_status_name(status), hd_why()) : go_through(&x, a, s, &f, steps, t);
    comparison_close(a);
    return why;
}

static const char *run(const uint8_t *bytes, size_t n, uint64_t *steps) { return run_told(bytes, n, steps, NULL); }

static size_t tell(const uint8_t *bytes, size_t n, char *text, size_t room)
{
    return fuzz_tell_run(run_told, bytes, n, text, room);
}

const fuzz_target fuzz_kernels = {
    "kernels", "batches by any GPU kernel on the host machine, against the reference in the order of their tickets",
    MOST,      1050,
    run,       tell,
    NULL
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_table.c - the reference against the judge: the first bytes say what table it is, the rest what happens to it,
 * batch after batch, until they end. Every operation, policy and admission, one and two candidate buckets, few keys
 * that come again and again, reserved ones, scores at the edges, pins, epochs, growth, snapshots; after every batch the
 * whole table is compared with a map that knows no buckets.
 *
 *   byte 0   keys, items of a batch            then     the table (fuzz_table_of), and what happens
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "fuzz/fixture.h"
#include "judge/rules.h"
#include "judge/run.h"

enum { MOST = 1024 };

static uint64_t below(void *self, uint64_t n) { return feed_below((feed *)self, n); }
static uint64_t number(void *self) { return feed_number((feed *)self); }

/* What happens between batches is decided batch by batch. */
static hd_case case_of(feed *f)
{
    static const char *const fixed[][2] = { { "op", "mix" }, { "duplicate", "0" }, { "extreme", "0" }, { NULL, NULL } };
    hd_case c;
    uint8_t load = feed_byte(f);
    if (!fuzz_table_of(f, 6, "ref", fixed, &c)) return c;
    c.seed = load;
    uint64_t capacity = c.buckets * c.slots, keys = capacity * (1 + load % 8) / 2 + 1;
    snprintf(c.keys, sizeof c.keys, "uniform:%" PRIu64, keys < 250 ? keys : 250); /* a key is a byte */
    c.batch = ((const uint64_t[]){ 8, 1, 2, 4, 16, 40 })[load / 8 % 6];
    c.batches = 1 << 20;
    return c;
}

static bool more(void *self) { return feed_more((const feed *)self); }

static const char *run(const uint8_t *bytes, size_t n, uint64_t *steps)
{
    feed f = feed_of(bytes, n);
    hd_case c = case_of(&f);
    hd_choices by = { below, number, more, NULL, &f };
    hd_run_report report;
    hd_status s = hd_case_run_by(&c, &by, &report);
    *steps += report.judged;
    if (s) return fuzz_say("%s: %s", hd_status_name(s), hd_why());
    return report.wrong[0] ? fuzz_say("%s", report.wrong) : NULL;
}

/* ---- For people ------------------------------------------------------------------------------ */

typedef struct telling {
    feed f; /* first: the choices' self is it */
    fuzz_text text;
} telling;

static void tell_batch(void *self, const hd_batch *b)
{
    enum { SHOWN = 12 };
    fuzz_text *t = &((telling *)self)->text;
    fuzz_put(t, "\n  %s", judge_batch_name(b));
    if (b->op == HD_OP_LOCK_KEYS || b->op == HD_OP_UNLOCK_KEYS) fuzz_put(t, " holder=%" PRIu64, b->holder);
    if (b->pred) fuzz_put(t, " %s(%" PRIu64 ", %" PRIu64 ")", b->pred, b->pred_arg[0], b->pred_arg[1]);
    bool keyed = judge_keyed_batch(b);
    if (!keyed && b->n) fuzz_put(t, " slots %" PRIu64 " to %" PRIu64, b->start, b->start + b->n - 1);
    for (uint64_t i = 0; keyed && i < b->n && i < SHOWN; i++) {
        if (b->each) fuzz_put(t, " %s", hd_op_name(judge_item_op(b, i)));
        if (b->key[i] >= HD_KEY_RESERVED)
            fuzz_put(t, " ~0-%" PRIu64, UINT64_MAX - b->key[i]);
        else
            fuzz_put(t, " %" PRIu64, b->key[i]);
        if (b->score) fuzz_put(t, "(%" PRIu64 ")", b->score[i]);
    }
    if (keyed && b->n > SHOWN) fuzz_put(t, " ... (%" PRIu64 " items)", b->n);
}

static size_t tell(const uint8_t *bytes, size_t n, char *text, size_t room)
{
    telling t = { feed_of(bytes, n), fuzz_text_in(text, room) };
    hd_case c = case_of(&t.f);
    char printed[1024];
    hd_choices by = { below, number, more, tell_batch, &t };
    hd_run_report report;
    hd_case_print(&c, printed, sizeof printed);
    fuzz_put(&t.text, "%s, these batches:", printed);
    hd_case_run_by(&c, &by, &report);
    return t.text.used;
}

const fuzz_target fuzz_table = {
    "table", "what happens to a table, against a judge that knows no buckets: all operations, policies and shapes",
    MOST,    45,
    run,     tell,
    NULL
};

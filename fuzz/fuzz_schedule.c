/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_schedule.c - the input is the schedule. The first bytes choose a small situation for a kernel; the rest say
 * which lane runs next, two bytes a decision: how many decisions to skip, at which the first choice is taken, and which
 * choice to take then. After the end of the input a lane runs as long as it can. So the shortest input that fails is
 * the simplest schedule.
 *
 *   byte 0   operation          byte 3   where, units, weak memory
 *   byte 1   variant            byte 4   the fixture's seed
 *   byte 2   items, keys        then     the table (fuzz_table_of), and decisions
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "fuzz/fixture.h"
#include "judge/comparison.h"
#include "judge/kernels.h"
#include "judge/rules.h"

enum {
    MOST = 519,
    HEAD = 7 /* at least */,
    DECISIONS = (MOST - HEAD) / 2,
    PASS = 255,
    THREADS = 32,
    BLOCKS = 2,
    BOUND = 1000
};

typedef struct play {
    hd_case c;
    const judge_design *d;
    hd_op op;
    uint32_t row;
    simt_config config;
    simt_decision schedule[DECISIONS];
    size_t n;
} play;

static bool situation_of(play *x, feed *f)
{
    hd_case *c = &x->c;
    uint8_t first = feed_byte(f);
    hd_op keyed[HD_OP_COUNT_]; /* items of the others do not meet */
    uint64_t ops = judge_keyed_ops(keyed);
    x->op = keyed[first % ops];
    feed variant = feed_of(f->next, feed_left(f) ? 1 : 0);
    feed_byte(f);
    uint8_t items = feed_byte(f);
    x->config = fuzz_way(f);
    uint8_t seed = feed_byte(f);
    x->d = fuzz_table_of(f, 3, "host", fuzz_fixed_in_fixtures, c);
    if (!x->d) return false;
    if (x->d->mix && first / ops % 2) x->op = JUDGE_MIXED;
    snprintf(c->op, sizeof c->op, "%s", fixture_op_name(x->op));
    c->batch = 2 + items % 4;
    c->batches = 1;
    c->seed = seed;
    snprintf(c->keys, sizeof c->keys, "uniform:%u", 2 + items / 64 * 5);
    x->row = fuzz_row(&variant, x->d, x->op, c);
    if (x->row == fixture_row_count(x->d)) return false;
    snprintf(c->kernel, sizeof c->kernel, "%s", fixture_row_name(x->d, x->row));
    return true;
}

static bool play_of(play *x, feed *f)
{
    memset(x, 0, sizeof *x);
    if (!situation_of(x, f)) return false;
    uint64_t at = 0;
    while (feed_more(f)) {
        uint8_t pass = feed_byte(f), choice = feed_byte(f);
        at += pass;
        if (pass == PASS) continue;
        x->schedule[x->n].at = at++;
        x->schedule[x->n++].choice = 1u + choice;
    }
    x->config.strategy = SIMT_REPLAY;
    /* it lets no lane spin while others can go on: the quiet rest of a schedule ends */
    x->config.replayed = SIMT_SEARCH;
    x->config.bound = BOUND;
    x->config.schedule = x->schedule;
    x->config.schedule_n = x->n;
    return true;
}

static const char *run(const uint8_t *bytes, size_t n, uint64_t *steps)
{
    play x;
    feed f = feed_of(bytes, n);
    fixture *s = NULL;
    comparison *a = NULL;
    simt_machine *m = fuzz_machine();
    const char *why = NULL;
    if (!play_of(&x, &f) || !m) return NULL;
    fixture_kernel k = fuzz_kernel(x.d, x.row, x.op, THREADS, BLOCKS);
    const fixture_kernel *kernels[] = { &k };
    hd_status status = fixture_open(&x.c, kernels, 1, &s);
    if (status == HD_EINVAL) return NULL; /* sums of values that are no numbers */
    if (!status) status = comparison_open(s, &a);
    if (!status) {
        comparison_watch_with(a, &x.config, 1);
        status = comparison_run(a, m, &x.config, &why);
        *steps += simt_machine_totals(m).decisions;
    }
    if (status) why = hd_why();
    why = why ? fuzz_say("%s", why) : NULL;
    comparison_close(a);
    return why;
}

static size_t tell(const uint8_t *bytes, size_t n, char *text, size_t room)
{
    static const struct {
        uint32_t at;
        const char *name;
    } place[] = {
        { SIMT_AT_ALL, "all" }, { SIMT_AT_ATOMIC, "atomic" }, { SIMT_AT_SYNC, "sync" }, { SIMT_AT_NONE, "none" }
    };
    play x;
    feed f = feed_of(bytes, n);
    fuzz_text t = fuzz_text_in(text, room);
    char printed[1024], schedule[DECISIONS * 12];
    size_t where = 0;
    if (!play_of(&x, &f)) return 0;
    hd_case_print(&x.c, printed, sizeof printed);
    simt_schedule_print(x.schedule, x.n, schedule, sizeof schedule);
    while (place[where].at != x.config.preempt) where++;
    fuzz_put(&t,
             "%s sched '%s' --unit %s --preempt %s%s --threads %d --blocks %d --strategy search --bound %d "
             "--replay '%s'",
             fuzz_command(), printed, x.config.unit == SIMT_BY_WARP ? "warp" : "lane", place[where].name,
             x.config.weak ? " --weak" : "", THREADS, BLOCKS, BOUND, schedule);
    return t.used;
}

const fuzz_target fuzz_schedule = {
    "schedule", "who runs next, in a small situation of a kernel: no order of its lanes goes wrong",
    MOST,       330,
    run,        tell,
    NULL
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * contention.c - the ablation of the batch lock (HKV section 5.4, Exp 3e): updaters alone, one to ten of them, and the
 * mixes of readers, updaters and inserters, under every lock that keeps them apart, beside what the reader/writer lock
 * makes of them.
 */
#include "tools/contention.h"

#include <string.h>

#include "bench/device/contention.h"
#include "bench/median.h"
#include "concurrency/lock.h"
#include "base/error.h"
#include "base/parse.h"
#include "tools/output.h"

/* The paper's mixes, and finders alone: what a lock costs where no two batches conflict. */
static const struct {
    uint32_t finders, updaters, inserters;
} mixes[] = { { 0, 1, 0 }, { 0, 2, 0 }, { 0, 4, 0 }, { 0, 8, 0 }, { 0, 10, 0 },
              { 4, 5, 1 }, { 4, 2, 4 }, { 8, 1, 1 }, { 10, 0, 0 } };
enum { MIXES = sizeof mixes / sizeof *mixes, LOCKS_MOST = 16 };

typedef struct crowds {
    const points_options *o;
    const bench_device *device;
    char name[128];
    uint64_t capacity, batch, batches, dim;
    double load;
    out *report;
    double base[MIXES][2]; /* the rate of lock rw */
    uint64_t rows;
    int code;
} crowds;

/* clang-format off */
static const out_column column[] = {
    { "lock", "lock", OUT_TEXT }, { "calls", "calls", OUT_TEXT },
    { "finders", "finders", OUT_PLAIN }, { "updaters", "updaters", OUT_PLAIN }, { "inserters", "inserters", OUT_PLAIN },
    { "batch", "batch", OUT_COUNT },
    { "least_per_s", "least", OUT_RATE }, { "items_per_s", "median", OUT_RATE }, { "most_per_s", "most", OUT_RATE },
    { "against_rw", "against rw", OUT_FIXED },
};
/* clang-format on */

static int read_words(crowds *q, const tool_line *line)
{
    const struct {
        const char *name;
        uint64_t least, most, *value; /* NULL: load */
    } words[] = { { "capacity", 1024, 1ull << 36, &q->capacity },
                  { "batch", 1, 1ull << 28, &q->batch },
                  { "batches", 1, 1000000, &q->batches },
                  { "dim", 1, 16384, &q->dim },
                  { "load", 0, 0, NULL } };
    enum { WORDS = sizeof words / sizeof *words };
    static const char *const names[] = { CROWDS_WORD, "capacity=", "batch=", "batches=", "dim=", "load=", NULL };
    for (int i = 0; i < line->words; i++) {
        const char *word = line->word[i];
        if (strcmp(word, CROWDS_WORD) == 0) continue;
        int k = 0;
        size_t n = strcspn(word, "=");
        while (k < WORDS && (strlen(words[k].name) != n || strncmp(word, words[k].name, n) != 0)) k++;
        if (k == WORDS || !word[n])
            return tool_say(TOOL_USAGE, "%.40s: no word of `locks`%s", word, tool_nearest(word, names));
        hd_status e = words[k].value
                          ? hd_parse_u64(words[k].name, word + n + 1, words[k].least, words[k].most, words[k].value)
                          : hd_parse_double(words[k].name, word + n + 1, 0.01, 1, &q->load);
        if (e) return tool_fail(e);
    }
    return TOOL_OK;
}

static hd_status measure(crowds *q, bench_fixture *s, const char *lock, int mix, bool waits)
{
    double rate[POINT_REPEAT_MOST];
    uint64_t repeat = q->o->repeat ? q->o->repeat : 3;
    bench_contention p = { mixes[mix].finders, mixes[mix].updaters, mixes[mix].inserters, q->batch, q->batches, waits };
    for (uint64_t i = 0; i < repeat; i++) {
        bench_contention_measure m;
        hd_status e = bench_fixture_list(s, 0);
        if (!e) e = contention_measure(s, &p, &m);
        if (e) return e;
        if (*m.wrong)
            return q->code = tool_say(TOOL_DIFFERS, "lock %s, %u finders, %u updaters, %u inserters: %s", lock,
                                      p.finders, p.updaters, p.inserters, m.wrong),
                   HD_OK;
        rate[i] = m.seconds > 0 ? (double)m.items / m.seconds : 0;
    }
    double median = median_of(rate, repeat), *base = &q->base[mix][waits];
    if (strcmp(lock, "rw") == 0) *base = median;
    q->rows++;
    out_row(q->report,
            (const out_value[]){ out_text(lock), out_text(waits ? "waited for" : "queued"), out_count(p.finders),
                                 out_count(p.updaters), out_count(p.inserters), out_count(p.n), out_real(rate[0]),
                                 out_real(median), out_real(rate[repeat - 1]),
                                 *base > 0 ? out_real(median / *base) : out_none() });
    return HD_OK;
}

static hd_status by_mixes(crowds *q, const char *lock)
{
    bench_fixture s;
    bench_shape shape = bench_shape_of(hd_config_default().design, q->o->backend);
    shape.table.capacity = q->capacity;
    shape.table.lock = lock;
    shape.words = (uint32_t)q->dim;
    hd_status e = bench_fixture_open(&s, q->device, &shape);
    if (e) return e;
    e = bench_fixture_level(&s, (uint64_t)((double)s.info.capacity * q->load));
    for (int mix = 0; mix < MIXES; mix++)
        for (int waits = 0; waits < 2 && !e && !q->code && !tool_stopped(); waits++)
            e = measure(q, &s, lock, mix, waits);
    hd_counters c;
    if (!e) e = hd_counters_sync(s.table, &c);
    if (!e) e = hd_check(s.table);
    bench_fixture_close(&s);
    return e;
}

/* rw first: the others are held against it. */
static hd_status by_locks(crowds *q)
{
    const hd_lock_row *row;
    hd_status e = by_mixes(q, "rw");
    for (size_t i = 0; (row = hd_lock_at(i)) && !e && !q->code && !tool_stopped(); i++)
        if (row->apart != HD_APART_NOT && strcmp(row->name, "rw") != 0) e = by_mixes(q, row->name);
    return e;
}

int contention_run(tool_line *line, const points_options *o)
{
    crowds q;
    memset(&q, 0, sizeof q);
    q.o = o;
    q.device = bench_device_for(o->backend);
    bool gpu = strcmp(o->backend, "cuda") == 0;
    q.capacity = gpu ? 16 << 20 : 1 << 14;
    q.batch = gpu ? 64 << 10 : 512;
    q.batches = gpu ? 200 : 4;
    q.dim = 16;
    q.load = 0.75;
    int code = read_words(&q, line);
    if (!code)
        code = points_begin(q.device, q.name, &q.report, line->form, "heddle.bench.locks/1", column,
                            sizeof column / sizeof *column);
    if (code) return code;
    out_fact(q.report, "capacity", "capacity", OUT_COUNT, out_count(q.capacity));
    out_fact(q.report, "dim", "floats in a value", OUT_PLAIN, out_count(q.dim));
    out_fact(q.report, "load", "load factor", OUT_REAL, out_real(q.load));
    out_fact(q.report, "batches", "batches of a thread", OUT_COUNT, out_count(q.batches));
    hd_status e = by_locks(&q);
    if (e) q.code = tool_fail(e);
    out_note(q.report, "a thread and a stream each; finders find, updaters assign, inserters insert_or_assign, keys "
                       "that are in the table.\n");
    q.device->close();
    return points_finish(o, q.report, q.rows, q.code);
}

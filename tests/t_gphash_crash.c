/* SPDX-License-Identifier: Apache-2.0
 *
 * t_gphash_crash.c - crashes of GPHash: in batches of each row that changes a table, new or grown, in batches of
 * several launches, and in growth by one level or several. What each crash may leave is recovered and judged
 * (judge/crash.h).
 *
 * The linker puts this file before the machine: a host that forgets to make a launch durable must be found, and so must
 * the absence of any one fence of gpu/gphash/. It also puts the file before the shape of tables, which may have grown.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/op.h"
#include "gpu/batch.h"
#include "gpu/gphash/rows.h"
#include "judge/crash.h"
#include "judge/kernels.h"
#include "judge/rules.h"
#include "ref/gphash/gphash.h"
#include "simt/simt.h"
#include "tests/on_machine.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

extern const judge_design judge_design_gphash;

static simt_machine *machine;

/* ---- In between ------------------------------------------------------------------------------ */

static const char *without; /* a fence for all of the system that is one for the device, "item.h:78"; NULL: none is */

void __real_simt_host_fence_system(const char *site);
void __wrap_simt_host_fence_system(const char *site);
void __wrap_simt_host_fence_system(const char *site)
{
    if (without && strcmp(simt_site_name(site), without) == 0)
        simt_host_fence(site);
    else
        __real_simt_host_fence_system(site);
}

static enum { FORGETS_NOTHING, FORGETS_EARLY, FORGETS_ALL } host; /* launches: none, all but the last, all */
static uint64_t launches, last;                                   /* of this run; of a batch that has several */

hd_status __real_simt_machine_persisted(simt_machine *m, const void *p, size_t bytes);
hd_status __wrap_simt_machine_persisted(simt_machine *m, const void *p, size_t bytes);
hd_status __wrap_simt_machine_persisted(simt_machine *m, const void *p, size_t bytes)
{
    bool forgets = host == FORGETS_ALL || (host == FORGETS_EARLY && launches < last);
    return forgets ? HD_OK : __real_simt_machine_persisted(m, p, bytes);
}

hd_status __real_simt_machine_launch(simt_machine *m, void (*kernel)(const void *), const void *args, size_t bytes,
                                     uint32_t blocks, uint32_t threads, uint32_t stream);
hd_status __wrap_simt_machine_launch(simt_machine *m, void (*kernel)(const void *), const void *args, size_t bytes,
                                     uint32_t blocks, uint32_t threads, uint32_t stream);
hd_status __wrap_simt_machine_launch(simt_machine *m, void (*kernel)(const void *), const void *args, size_t bytes,
                                     uint32_t blocks, uint32_t threads, uint32_t stream)
{
    launches++;
    return __real_simt_machine_launch(m, kernel, args, bytes, blocks, threads, stream);
}

/* The first launch of a run comes after this. */
static hd_status (*prepare)(void *context, simt_machine *m);
static hd_status prepare_counted(void *context, simt_machine *m)
{
    launches = 0;
    return prepare(context, m);
}

static uint32_t grown; /* how many times tables have grown that fixtures begin with */

hd_status __real_gphash_shape_there(const hd_config *c, hd_info *info, bool device);
hd_status __wrap_gphash_shape_there(const hd_config *c, hd_info *info, bool device);
hd_status __wrap_gphash_shape_there(const hd_config *c, hd_info *info, bool device)
{
    hd_status status = __real_gphash_shape_there(c, info, device);
    info->buckets <<= grown;
    const gphash_view v = gphash_view_for(info);
    gphash_tell(&v, info);
    return status;
}

/* ---- Exploring ------------------------------------------------------------------------------- */

/* HEDDLE_TEST_LONG: many times more. */
static uint64_t rounds_of(uint64_t usual) { return test_times(test_is_long() ? 8 * usual : usual); }

/* Fences that make durable what their lane has stored, and those that make durable what it knows, too. */
enum { MODELS = 2 };
static const char *const models[MODELS] = { "fences of a lane's own stores", "cumulative fences" };

static simt_config way(uint64_t n, int model)
{
    simt_config c = simt_config_default();
    c.seed = n * 7919;
    c.unit = n % 4 == 1 ? SIMT_BY_WARP : SIMT_BY_LANE;
    c.strategy = n % 2 ? SIMT_RANDOM : SIMT_PCT;
    c.pct_length = 4000;
    c.preempt = n % 3 == 0 ? SIMT_AT_SYNC : n % 3 == 1 ? SIMT_AT_ATOMIC : SIMT_AT_ALL;
    c.race = false;
    c.weak = n % 4 == 2;
    c.cumulative = model;
    c.step_limit = 20000000;
    return c;
}

typedef struct tried {
    uint64_t points, images, decisions; /* decisions: of what is wrong */
    bool wrong;
} tried;

/* One schedule of a case with all its crashes, of which those with more than `all` images have some; or with every
 * so many-th of them. */
static void explore(const char *given, const fixture_kernel *k, const simt_config *c, uint64_t all, uint64_t every,
                    tried *t)
{
    char text[300];
    hd_case is;
    fixture *s;
    comparison *a;
    simt_recovery how;
    simt_exploration e;
    snprintf(text, sizeof text, "%s%s", given,
             strstr(given, ".phase ") && !strstr(given, "index=") ? " index=near" : "");
    test_case("%s, in a table that has grown %u times", text, grown);
    must(hd_case_parse(text, &is));
    if (fixture_unsupported(&judge_design_gphash, k->row, &is)) return;
    must(fixture_open(&is, &k, 1, &s));
    must(comparison_open(s, &a));
    must(crash_recovery(a, &how));
    how.all = all;
    how.every = every;
    simt_trial trial = crash_trial(a);
    prepare = trial.prepare;
    trial.prepare = prepare_counted;
    must(simt_explore_crashes(machine, &trial, &how, c, 1, 0, host == FORGETS_NOTHING ? 300 : 0, &e));
    check(!e.wrong || without || host != FORGETS_NOTHING, "%s", e.finding.story);
    check(!e.wrong || e.finding.fault == SIMT_CRASH, "%s", e.finding.story);
    t->decisions = e.schedule_n + e.lost_n;
    t->wrong = t->wrong || e.wrong;
    t->images += e.images;
    t->points += e.points;
    simt_exploration_free(machine, &e);
    comparison_close(a);
}

/* ---- Batches --------------------------------------------------------------------------------- */

static bool changes(uint32_t row, int op)
{
    bool mixed = op == JUDGE_MIXED;
    return fixture_runs(&judge_design_gphash, row, (hd_op)op) && (mixed || judge_ops[op].changes);
}

/* "host, items" of "host, items: a lane for each slot ..." */
static void tell(uint32_t row, int model, const tried *t)
{
    const char *what = gphash_row(row)->what[0];
    test_tried("crashes", t->images, "images of %llu crashes of gphash.%s, %.*s, %s", (ull)t->points,
               fixture_row_name(&judge_design_gphash, row), (int)strcspn(what, ":"), what, models[model]);
}

/* Whether an earlier row has the same kernel, and no launches follow it. */
static bool is_known(uint32_t row)
{
    bool known = false;
    for (uint32_t other = 0; other < row; other++)
        known = known || gphash_host_kernel(other) == gphash_host_kernel(row);
    return known && gphash_row(row)->family != GPU_ITEMS;
}

/* As many images as each row and model must have had, in small batches: of tables of one bucket, in which items take
 * each other's slots, and of several levels. */
static void sweep_row(uint32_t row, int model)
{
    static const struct {
        const char *words;
        uint32_t grown;
    } tables[] = {
        { "capacity=6 slots=32 hashes=1 levels=1 keys=uniform:2", 0 },
        { "capacity=6 slots=32 hashes=1 levels=1 value=12 keys=uniform:2", 0 },
        { "capacity=6 slots=4 levels=4 value=9 keys=uniform:30", 0 },
        { "capacity=6 slots=4 levels=4 keys=uniform:9", 0 },
        { "capacity=6 slots=8 value=8 layout=cells keys=uniform:9", 0 },
        { "capacity=6 slots=16 levels=1 value=24 keys=uniform:60", 0 },
        { "capacity=6 slots=32 hashes=1 levels=1 value=12 keys=uniform:30", 1 },
        { "capacity=6 slots=4 levels=4 keys=uniform:30", 2 },
        { "capacity=6 slots=8 value=8 layout=cells keys=uniform:9", 3 },
    };
    enum { IMAGES = 100000, CASES = 20000, SOME = 90 };
    const uint64_t goal = rounds_of(is_known(row) ? IMAGES / 20 : IMAGES);
    tried t = { 0 };
    int ops[HD_OP_COUNT_ + 1], n = 0;
    for (int op = 0; op <= JUDGE_MIXED; op++)
        if (changes(row, op)) ops[n++] = op;
    for (uint64_t i = 0; n && i < rounds_of(CASES) && t.images < goal; i++) {
        char text[256];
        const size_t table = i / (uint64_t)n % COUNT(tables);
        const simt_config c = way(i, model);
        const fixture_kernel k = fixture_kernel_at(&judge_design_gphash, row, 32, 3);
        snprintf(text, sizeof text, "gphash.%s.%s %s batch=%ux1 seed=%llu",
                 fixture_op_name((hd_op)ops[i % (uint64_t)n]), k.name, tables[table].words, 2 + (unsigned)(i % 5),
                 (ull)(300 + i));
        grown = tables[table].grown;
        explore(text, &k, &c, SOME, 0, &t);
        grown = 0;
    }
    if (n) tell(row, model, &t);
    check(!n || t.images >= goal, "%llu images of row %u are too few", (ull)t.images, row);
}

static void each_row_survives(void)
{
    for (uint32_t row = 0; gphash_row(row); row++)
        for (int model = 0; model < MODELS; model++) sweep_row(row, model);
}

/* A batch of three launches, in a table that has grown or not: the later ones take cells that the earlier ones freed,
 * and that entries have again if a crash loses what the earlier ones did. */
static void launches_take_freed_cells(void)
{
    static const char *const ops[] = { "insert_or_assign", "mixed", "accum_or_assign" };
    enum { EVERY = 23 };
    const uint64_t fixtures = rounds_of(3);
    for (uint32_t row = 0; gphash_row(row); row++) {
        if (!changes(row, HD_OP_INSERT_OR_ASSIGN)) continue;
        tried t = { 0 }, forgetful = t;
        const fixture_kernel k = fixture_kernel_at(&judge_design_gphash, row, 32, 3);
        for (uint64_t n = 0; n < fixtures || !forgetful.wrong; n++) {
            char text[256];
            const simt_config c = way(n, 0);
            snprintf(text, sizeof text,
                     "gphash.%s.%s capacity=200 slots=32 hashes=1 levels=1 value=12 batch=700x1 "
                     "keys=uniform:256 seed=%llu",
                     ops[n % COUNT(ops)], k.name, (ull)n);
            host = FORGETS_NOTHING;
            grown = (uint32_t)(n % 2);
            if (n < fixtures) explore(text, &k, &c, 16, EVERY, &t);
            if (n < fixtures) last = launches;
            check(last > 2, "%llu launches", (ull)last);
            host = FORGETS_EARLY;
            if (!forgetful.wrong) explore(text, &k, &c, 16, EVERY, &forgetful);
            host = FORGETS_NOTHING;
            grown = 0;
            check(n < 40, "early launches that are not durable were not found");
        }
        tell(row, 0, &t);
    }
}

/* ---- Fences ---------------------------------------------------------------------------------- */

/* A seed of hashes with which keys 0 and 1 have one tag, as some keys do with any. */
static uint64_t seed_of_one_tag(void)
{
    uint64_t seed = 1;
    while (gphash_tag(hd_hash(0, seed)) != gphash_tag(hd_hash(1, seed))) seed++;
    return seed;
}

/* Finds what is wrong without the fence, in few decisions of the schedule and of what is lost. */
static void is_needed(const char *fence)
{
    static const char *const tables[] = { "slots=32 hashes=1 levels=1", "slots=32 hashes=1 levels=1 value=12" };
    enum { DECISIONS = 60, CASES = 4000 };
    const judge_design *d = &judge_design_gphash;
    const uint64_t table_seed = seed_of_one_tag();
    tried t = { 0 };
    without = fence;
    for (uint64_t n = 0; n < CASES && !(t.wrong && t.decisions <= DECISIONS); n++)
        for (uint32_t row = 0; fixture_row_name(d, row); row++) {
            char text[256];
            simt_config c = n % 2 ? way(n, 0) : simt_config_in_turn();
            c.unit = SIMT_BY_WARP;
            c.step_limit = 100000; /* a warp may wait until then where a schedule is made short */
            const fixture_kernel k = fixture_kernel_at(d, row, 32, 3);
            if (!fixture_runs(d, row, JUDGE_MIXED)) continue;
            snprintf(text, sizeof text,
                     "gphash.mixed.%s capacity=6 %s table_seed=%llu batch=6x1 keys=uniform:2 seed=%llu", k.name,
                     tables[n / 2 % 2], (ull)table_seed, (ull)n);
            t.wrong = false;
            explore(text, &k, &c, 72, 0, &t);
            if (t.wrong && t.decisions <= DECISIONS) break;
        }
    without = NULL;
    check(t.wrong && t.decisions <= DECISIONS, "no crash needs the fence at %s", fence);
    test_note("without the fence at %s: found in %llu images, with %llu decisions", fence, (ull)t.images,
              (ull)t.decisions);
}

/* The fences in the lines of a file; how many. */
static uint64_t fences_of(const char *folder, const char *name)
{
    char path[1024], line[512], fence[512];
    uint64_t n = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    check(f != NULL, "%s", path);
    for (unsigned at = 1; fgets(line, sizeof line, f); at++) {
        if (!strstr(line, "simt_fence_system();")) continue;
        snprintf(fence, sizeof fence, "%s:%u", name, at);
        is_needed(fence);
        n++;
    }
    fclose(f);
    return n;
}

static void each_fence_is_needed(void)
{
    const char *top = getenv("top_srcdir");
    char folder[512];
    uint64_t n = 0;
    snprintf(folder, sizeof folder, "%s/gpu/gphash", top ? top : ".");
    DIR *d = opendir(folder);
    check(d != NULL, "%s", folder);
    for (const struct dirent *e = readdir(d); e; e = readdir(d))
        if (strstr(e->d_name, ".h")) n += fences_of(folder, e->d_name);
    closedir(d);
    check(n >= 5, "%llu fences", (ull)n);
}

/* ---- Growth ---------------------------------------------------------------------------------- */

/* By one level, two or three, of tables that have grown before or not. Half of them run a batch then. */
static void growth_survives(void)
{
    static const char *const tables[] = { "capacity=6 slots=32 hashes=1 levels=1", "capacity=20 slots=8 value=12",
                                          "capacity=40 slots=4 levels=4 value=4",
                                          "capacity=6 slots=2 levels=4 hashes=4 value=24" };
    enum { LEVELS_MOST = 3 };
    static const char *const kernels_of[] = { "warp", "phase index=near" };
    tried by[LEVELS_MOST][2], forgetful[LEVELS_MOST][2];
    uint64_t random = 1;
    memset(by, 0, sizeof by);
    memset(forgetful, 0, sizeof forgetful);
    for (uint64_t n = 0; n < rounds_of(60); n++) {
        char text[256];
        hd_case is;
        fixture *s;
        uint32_t row;
        const uint64_t levels = test_below(&random, LEVELS_MOST), runs = n % 2;
        const simt_config c = way(n, (int)test_below(&random, MODELS));
        snprintf(text, sizeof text, "gphash.%s.%s %s batch=8x1 keys=uniform:60 seed=%llu",
                 runs && test_below(&random, 2) ? "mixed" : "insert_or_assign", kernels_of[test_below(&random, 2)],
                 tables[test_below(&random, COUNT(tables))], (ull)n);
        must(hd_case_parse(text, &is));
        must(fixture_kernel_row(&is, &row));
        fixture_kernel k = fixture_kernel_at(&judge_design_gphash, row, 32, 3);
        const fixture_kernel *kernels[] = { &k };
        grown = (uint32_t)test_below(&random, 3);
        must(fixture_open(&is, kernels, 1, &s));
        k.grows_to = 2 * judge_design_gphash.buckets(s->table) << levels;
        k.then_runs = runs;
        fixture_close(s);
        explore(text, &k, &c, 16, 0, &by[levels][runs]);
        host = FORGETS_ALL;
        explore(text, &k, &c, 16, 0, &forgetful[levels][runs]);
        host = FORGETS_NOTHING;
        grown = 0;
    }
    for (int i = 0; i < 2 * LEVELS_MOST; i++) {
        const tried *t = &by[i / 2][i % 2];
        check(forgetful[i / 2][i % 2].wrong, "a growth that is not durable was not found: levels %d", i / 2 + 1);
        test_tried("crashes", t->images, "images of %llu crashes of growth%s, levels at once: %d", (ull)t->points,
                   i % 2 ? " and a batch" : "", i / 2 + 1);
    }
}

/* A fixture has room for so many arrays, and refuses a growth that brings more. */
static void long_growth_is_refused(void)
{
    hd_case is;
    fixture *s;
    uint32_t row;
    must(hd_case_parse("gphash.insert_or_assign.warp capacity=6 value=12 batch=8x1 keys=uniform:60", &is));
    must(fixture_kernel_row(&is, &row));
    fixture_kernel k = fixture_kernel_at(&judge_design_gphash, row, 32, 3);
    const fixture_kernel *kernels[] = { &k };
    k.grows_to = 1 << 14;
    must(fixture_open(&is, kernels, 1, &s));
    must_fail(fixture_prepare(s, machine), HD_EINVAL, "no place");
    fixture_close(s);
}

int main(void)
{
    const struct CMUnitTest crashes[] = { unit(each_row_survives), unit(launches_take_freed_cells),
                                          unit(each_fence_is_needed), unit(growth_survives),
                                          unit(long_growth_is_refused) };
    return test_run_on(&machine, crashes);
}

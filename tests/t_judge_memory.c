/* SPDX-License-Identifier: Apache-2.0
 *
 * t_judge_memory.c - judges without memory: a failed allocation is no objection, nothing counts as judged after it, and
 * all memory is freed (the address sanitizer checks that). Judges allocate from the C library; the linker puts these
 * functions in between.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/hkv/rows.h"
#include "judge/comparison.h"
#include "judge/design.h"
#include "judge/growth.h"
#include "judge/hive/fixture.h"
#include "judge/hkv/fixture.h"
#include "judge/kernels.h"
#include "judge/oracle.h"
#include "judge/mem_files.h"
#include "judge/map.h"
#include "judge/all_kernels.h"
#include "judge/victims.h"
#include "tests/testing.h"

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);

static uint64_t takes, refuse_at; /* the take, from 1, that is refused; 0: none */

static bool refused(void) { return ++takes == refuse_at; }
void *__wrap_malloc(size_t bytes) { return refused() ? NULL : __real_malloc(bytes); }
void *__wrap_calloc(size_t n, size_t bytes) { return refused() ? NULL : __real_calloc(n, bytes); }
void *__wrap_realloc(void *p, size_t bytes) { return refused() ? NULL : __real_realloc(p, bytes); }
void *__wrap_aligned_alloc(size_t align, size_t bytes) { return refused() ? NULL : __real_aligned_alloc(align, bytes); }

/* *said: it was named as what is wrong. */
typedef hd_status trial(const hd_case *c, bool *said);

/* Each of the first takes, then ever fewer of those that follow. */
static void refuse_each(trial *run, const char *text)
{
    hd_case c;
    must(hd_case_parse(text, &c));
    uint64_t tried = 0;
    for (uint64_t at = 1;; at += 1 + at / 32, tried++) {
        bool said = false;
        test_case("%s, and take %llu is refused", text, (ull)at);
        takes = 0;
        refuse_at = at;
        hd_status status = run(&c, &said);
        refuse_at = 0;
        if (takes < at) {
            check(!status && !said, "nothing was refused: %s", status ? hd_why() : "");
            break;
        }
        check(status == HD_ENOMEM || (!status && said), "%s: %s", hd_status_name(status),
              status ? hd_why() : "it was not reported");
    }
    test_tried("memory", tried, "refused to the judge of %s", text);
}

static hd_status run_case(const hd_case *c, bool *said)
{
    hd_run_report report;
    hd_status status = hd_case_run(c, NULL, NULL, &report);
    if (status) return status;
    *said = strstr(report.wrong, "memory") != NULL;
    check(*said == (report.wrong[0] != 0), "the table is said to be wrong: %s", report.wrong);
    return HD_OK;
}

static void batches(void)
{
    static const char *const all[] = {
        "hkv.mix.ref policy=lfu buckets=4 slots=4 batch=24x12 keys=uniform:60 threads=1 judge=1",
        "hkv.mix.ref policy=custom buckets=3 slots=8 dual=1 value=16 pins=4 batch=24x10 keys=uniform:90 threads=1 "
        "judge=1",
        "hkv.insert_or_assign.ref buckets=2 slots=4 batch=40x3 keys=uniform:90 threads=1 judge=1",
        "hkv.insert_and_evict.ref buckets=2 slots=4 value=0 batch=40x3 keys=uniform:90 threads=1 judge=1",
        "hkv.mix.ref policy=lfu buckets=4 slots=4 batch=24x6 keys=uniform:60 duplicate=200000 distinct=1 threads=1 "
        "judge=1",
        "hkv.serve.ref buckets=2 slots=4 batch=24x3 keys=ycsb:a,60 distinct=1 threads=1",
        "hkv.mix.coalesced buckets=2 slots=16 batch=24x4 keys=uniform:80 threads=1 judge=1",
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) refuse_each(run_case, all[i]);
}

/* A table, its oracle, and what an oracle of more entries than one page of its map is copied to. */
static hd_status copies(const hd_case *c, bool *said)
{
    hd_config config = hd_case_config(c);
    hd_table *t = NULL;
    hd_oracle *o = NULL, *copy = NULL;
    uint64_t key[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    uint8_t outcome[8];
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 8, .key = key, .value = key, .outcome = outcome };
    *said = false;
    hd_status status = hd_open(&config, &t);
    if (!status) status = hd_oracle_open(&config, &o);
    if (!status) status = hd_run(t, &b);
    if (!status) {
        const char *wrong = hd_oracle_batch(o, t, &b, NULL, 0, 0);
        if (!wrong) status = hd_oracle_copy(o, &copy);
        if (!wrong && !status) wrong = hd_oracle_compare(copy, t);
        *said = wrong && strstr(wrong, "memory");
        check(*said == (wrong != NULL), "%s", wrong);
    }
    hd_oracle_close(copy);
    hd_oracle_close(o);
    hd_close(t);
    return status;
}

static void oracles(void)
{
    refuse_each(copies, "hkv.mix.ref policy=lru buckets=4 slots=8 value=8 batch=8x1 keys=uniform:60 threads=1");
}

/* A file that finds no memory to grow: a disk that is full. */
static void shelves(void)
{
    judge_shelf s;
    uint64_t size;
    judge_shelf_open(&s);
    const hd_file_seam *f = &s.seams.file;
    int a = f->open(f->self, "a", O_CREAT | O_WRONLY, 0);
    takes = 0;
    refuse_at = 1;
    check(a >= 0 && f->write(f->self, a, "abc", 3) == -1 && errno == ENOSPC, "errno %d", errno);
    refuse_at = 0;
    check(f->size(f->self, a, &size) == 0 && size == 0, "%llu bytes are there", (ull)size);
    check(f->write(f->self, a, "abc", 3) == 3 && f->close(f->self, a) == 0, "there is memory again");
    judge_shelf_close(&s);
}

static simt_machine *machine;

static hd_status judge_fixture(const hd_case *c, bool *said)
{
    const fixture_kernel kernel = hkv_fixture_kernel_at(hkv_row_of("coalesced", HKV_UPSERT), 32, 1),
                         *kernels[] = { &kernel };
    fixture *s;
    comparison *a;
    hd_status status = fixture_open(c, kernels, 1, &s);
    if (!status) status = comparison_open(s, &a);
    if (status) return status;
    simt_config w = simt_config_default();
    w.shared_bytes = 48 << 10;
    const char *why = NULL;
    status = comparison_run(a, machine, &w, &why);
    *said = why && strstr(why, "memory");
    check(status || *said == (why != NULL), "the kernel is said to be wrong: %s", why);
    comparison_close(a);
    return status;
}

static void fixtures(void)
{
    refuse_at = 0;
    must(simt_machine_open(NULL, &machine));
    refuse_each(judge_fixture,
                "hkv.insert_and_evict.coalesced buckets=2 slots=16 batch=12x1 keys=uniform:40 value=8 pins=3 near=90");
    refuse_each(judge_fixture,
                "hkv.insert_or_assign.coalesced buckets=2 slots=16 batch=8x1 keys=uniform:40 value=0 dual=1");
    simt_machine_close(machine);
}

/* Hive's, which grows afterwards. */
static hd_status judge_hive_fixture(const hd_case *c, bool *said)
{
    uint32_t row = 0;
    while (!fixture_runs(&judge_design_hive, row, HD_OP_INSERT_OR_ASSIGN)) row++;
    const fixture_kernel kernel = fixture_kernel_at(&judge_design_hive, row, 32, 1), *kernels[] = { &kernel };
    fixture *s = NULL;
    (void)said;
    hd_status status = fixture_open(c, kernels, 1, &s);
    if (!status) status = hive_fixture_resize(s, s->table, 3);
    fixture_close(s);
    return status;
}

static hd_status judge_growing(const hd_case *c, bool *said)
{
    simt_config w = simt_config_default();
    judge_growth g;
    w.quiet = true;
    hd_status status = judge_growth_run(c, &w, 2, 0, &g);
    if (status) return status;
    *said = strstr(g.wrong, "memory") != NULL;
    check(*said == (g.wrong[0] != 0), "growth is said to be wrong: %s", g.wrong);
    return HD_OK;
}

static void growth(void)
{
    refuse_each(judge_hive_fixture, "hive.insert_or_assign.tile buckets=2 slots=8 batch=12x1 keys=uniform:40");
    refuse_each(judge_growing, "hive.mix.tile buckets=2 slots=8 seed=3");
    refuse_each(judge_growing, "hkv.mix.coalesced buckets=2 slots=16 seed=3");
}

static hd_status judge_all_kernels(const hd_case *c, bool *said)
{
    all_kernels t;
    hd_status status = all_kernels_run(c, NULL, NULL, &t);
    if (status) return status;
    for (size_t i = 0; i < t.rows; i++) {
        *said = *said || strstr(t.row[i].wrong, "memory");
        check(!t.row[i].wrong[0] || strstr(t.row[i].wrong, "memory"), "the kernel is said to be wrong: %s",
              t.row[i].wrong);
    }
    all_kernels_close(&t);
    return HD_OK;
}

static void tours(void)
{
    refuse_each(judge_all_kernels,
                "hkv.insert_or_assign.coalesced buckets=2 slots=16 batch=32x1 keys=uniform:60 threads=1");
    refuse_each(judge_all_kernels, "hkv.find.tlpv1 buckets=2 slots=16 batch=32x1 keys=uniform:60 threads=1");
}

/* What the judge remembers of a table, and a copy of it. */
static hd_status copy_map(const hd_case *c, bool *said)
{
    (void)c, (void)said;
    judge_map all;
    judge_map copy = { 0 };
    bool there = judge_map_open(&all, 8);
    for (uint64_t key = 1; there && key <= 12; key++) there = judge_map_put(&all, key * 77, &key, key) != NULL;
    bool copied = there && judge_map_copy(&all, &copy);
    check(!copied || copy.n == 12, "a copy of %llu entries", (ull)copy.n);
    check(copied || !copy.at, "a copy that failed holds memory");
    for (uint64_t key = 1; copied && key <= 12; key++) {
        const judge_entry *e = judge_map_find(&copy, key * 77);
        check(e && e->score == key && memcmp(e->value, &key, 8) == 0, "key %llu", (ull)key);
    }
    judge_map_close(&copy);
    judge_map_close(&all);
    return copied ? HD_OK : HD_ENOMEM;
}

/* More evictions than are paired off exactly. */
static hd_status match_victims(const hd_case *c, bool *said)
{
    (void)c;
    uint64_t item;
    bool there = true;
    judge_victims v = { 0 };
    for (uint64_t i = 0; there && i < 600; i++) {
        judge_eviction e = { 2 * i + 1, 5 };
        judge_departure d = { i, 1, 2 * i, 2 * i + 2 };
        there = judge_evicted(&v, e) && judge_departed(&v, d);
    }
    const char *why = there ? judge_victims_match(&v, &item) : NULL;
    *said = why && strstr(why, "memory");
    check(!why || *said, "evictions that pair off: %s", why);
    judge_victims_close(&v);
    return there ? HD_OK : HD_ENOMEM;
}

static void notes(void)
{
    refuse_each(copy_map, "hkv.mix.ref");
    refuse_each(match_victims, "hkv.insert_or_assign.ref");
}

static const struct CMUnitTest judges[] = { unit(batches), unit(oracles), unit(shelves), unit(fixtures),
                                            unit(growth),  unit(tours),   unit(notes) };

int main(void) { return test_run(judges); }

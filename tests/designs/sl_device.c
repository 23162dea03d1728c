/* SPDX-License-Identifier: Apache-2.0
 *
 * sl_device.c - the ordered table, for tests/conform_device.h: budgets of device memory, with segments in host memory.
 * Then growth and shrinking by kernels; joins of many segments; lines of far memory per item.
 */
#include <stdlib.h>

#include "gpu/sl/state.h"
#include "lib/backend_host.h"
#include "tests/conform_device.h"

/* far: homes that are in host memory */
typedef struct dictionary {
    const char *name;
    uint32_t segment, value_bytes;
    uint64_t capacity, far;
} dictionary;

static const dictionary shapes[] = {
    { "near", 128, 4, 700, 0 },
    { "near, 64-bit keys", 256, 8, 500, 0 },
    { "half far", 128, 4, 1280, 40 },
    { "far, 64-bit keys", 128, 8, 400, 49 },
    { "one segment", 1024, 4, 128, 0 },
    { "far, 8 lines", 1024, 4, 4096, 24 },
    { "far, of two words", 1024, 8, 1024, 10 },
};
enum { SHAPES = sizeof shapes / sizeof *shapes, SLOTS = 8 };

static hd_config usual_config(const dictionary *d)
{
    hd_config c = hd_config_of("sl");
    c.slots = SLOTS;
    c.capacity = d->capacity;
    c.value_bytes = d->value_bytes;
    c.sl.segment_bytes = d->segment;
    return c;
}

static uint64_t homes_of(const dictionary *d)
{
    uint64_t bytes = d->capacity * 2 * d->value_bytes;
    return bytes / d->segment + (bytes % d->segment != 0);
}

/* The least device memory of a table so many times as large, as the refusal of less says it. */
static uint64_t least_near(const dictionary *d, uint64_t times)
{
    hd_config c = usual_config(d);
    hd_table *table;
    ull least = 0;
    c.backend = "host";
    c.capacity *= times;
    c.sl.near_bytes = 1;
    check(hd_open(&c, &table) == HD_EINVAL, "one byte of device memory was enough");
    const char *at = strstr(hd_why(), "at least ");
    check(at && sscanf(at, "at least %llu", &least) == 1, "%s", hd_why());
    return least;
}

static hd_config config_of(const dictionary *d)
{
    hd_config c = usual_config(d);
    if (d->far) c.sl.near_bytes = least_near(d, 1) + (homes_of(d) - 1 - d->far) * d->segment;
    return c;
}

static const char *name(size_t i) { return shapes[i].name; }
static hd_config config(size_t i) { return config_of(&shapes[i]); }

/* Parts of a walk begin and end within segments. */
static void open_config(bench *b, hd_config c)
{
    const hd_staging_sizes sizes = { 640, 0 };
    bench_open_config(b, c, 4096);
    hd_cuda_staging(b->far, &sizes);
}
static sl_state *state_of(bench *b) { return (sl_state *)(void *)((hd_cuda *)b->far->state)->state; }

/* ---- Budgets --------------------------------------------------------------------------------- */

/* What a table takes of the device is at most what it may take, and the segments that find no room there are far. */
static void device_memory_is_bounded(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < SHAPES; i++) {
        bench b;
        hd_config c = config_of(&shapes[i]);
        test_case("%s", shapes[i].name);
        device_open(&b, i);
        check(!c.sl.near_bytes || b.fake.peak_bytes <= c.sl.near_bytes, "%llu bytes of %llu", (ull)b.fake.peak_bytes,
              (ull)c.sl.near_bytes);
        check(state_of(&b)->at.near == homes_of(&shapes[i]) - shapes[i].far, "%llu homes of %llu are near",
              (ull)state_of(&b)->at.near, (ull)homes_of(&shapes[i]));
        fill_dictionary(b.far, shapes[i].capacity / 2, 3);
        must(hd_check(b.far));
        check(!c.sl.near_bytes || b.fake.peak_bytes <= c.sl.near_bytes, "%llu bytes of %llu after batches",
              (ull)b.fake.peak_bytes, (ull)c.sl.near_bytes);
        bench_close(&b);
    }
}

/* ---- Growth ---------------------------------------------------------------------------------- */

/* Entries are where the reference puts them when the same table of the host machine grows and shrinks. */
static void resizes_as_the_reference(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < test_times(2 * SHAPES); n++) {
        const dictionary *d = &shapes[n % SHAPES];
        const char *path = file_named("size"), *full = file_named("full");
        hd_config c = usual_config(d);
        bench b;
        hd_info info, there;
        test_case("%s, %llu", d->name, (ull)n);
        if (d->far) c.sl.near_bytes = least_near(d, 8) + 5 * d->segment;
        open_config(&b, c);
        fill_dictionary(b.far, n < 2 * SHAPES ? d->capacity / 8 + 1 : d->capacity / 2, n + 1);
        must(hd_save(b.far, path));
        hd_table *here = device_open_here("host", c, path), *ref = device_open_here("ref", c, path);
        must(hd_table_info(b.far, &info));
        for (uint64_t step = 0; step < 3; step++) {
            uint64_t buckets = step == 0 ? 3 * info.buckets : step == 1 ? 7 * info.buckets : info.buckets;
            must(step < 2 ? hd_grow(b.far, buckets) : hd_shrink(b.far, buckets));
            must(step < 2 ? hd_grow(here, buckets) : hd_shrink(here, buckets));
            must(step < 2 ? hd_grow(ref, buckets) : hd_shrink(ref, buckets));
            must(hd_check(b.far));
            must(hd_check(here));
            same_tables(here, b.far);
            same_tables(ref, b.far);
            if (step < 2) {
                fill_dictionary(b.far, d->capacity * step / 2, n + step);
                must(hd_save(b.far, full));
                must(hd_load(here, full, NULL));
                must(hd_load(ref, full, NULL));
            }
            must(hd_table_info(b.far, &there));
            check(there.memory_bytes >= info.memory_bytes, "memory");
        }
        hd_close(ref);
        hd_close(here);
        bench_close(&b);
    }
}

/* ---- Joining --------------------------------------------------------------------------------- */

/* Inserts keys 7, 14 and so on, or erases those of them that `kept` does not divide; 0: all. */
static void run_sevens(hd_table *t, hd_op op, uint64_t n, uint64_t kept)
{
    uint64_t *key = (uint64_t *)calloc(n, 8), m = 0;
    uint32_t *value = (uint32_t *)calloc(n, 4);
    for (uint64_t i = 0; i < n; i++)
        if (op != HD_OP_ERASE || kept == 0 || i % kept) key[m++] = 7 * i;
    hd_batch b = test_batch(op, m, key, value, NULL);
    must(hd_run(t, &b));
    free(value);
    free(key);
}

/* Of a thousand segments and more, which parts of two levels have, few are left; hd_check knows SL-6. */
static void segments_are_joined(void **unused)
{
    (void)unused;
    static const uint64_t kept[] = { 0, 2, 5, 40, 600, 9000 };
    enum { KEYS = 18000 };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        hd_config c = hd_config_of("sl");
        hd_table *t;
        uint64_t size, left = kept[i] ? (KEYS + kept[i] - 1) / kept[i] : 0;
        test_case("one of %llu keys stays", (ull)kept[i]);
        c.backend = "host";
        c.slots = SLOTS;
        c.capacity = 2 * KEYS;
        c.sl.segment_bytes = 128;
        must(hd_open(&c, &t));
        run_sevens(t, HD_OP_INSERT_OR_ASSIGN, KEYS, 0);
        must(hd_check(t));
        run_sevens(t, HD_OP_ERASE, KEYS, kept[i]);
        must(hd_check(t));
        must(hd_size_sync(t, &size));
        check(size == left, "%llu entries, and not %llu", (ull)size, (ull)left);
        run_sevens(t, HD_OP_INSERT_OR_ASSIGN, KEYS, 0);
        must(hd_check(t));
        hd_batch b = test_batch(HD_OP_ERASE_IF, 0, NULL, NULL, NULL);
        b.pred = "key_masked"; /* every eighth key */
        b.pred_arg[0] = 7;
        b.pred_arg[1] = 3;
        must(hd_run(t, &b));
        must(hd_check(t));
        hd_close(t);
    }
}

/* ---- hd_check -------------------------------------------------------------------------------- */

static uint64_t *word_of(const sl_homes *h, uint64_t place)
{
    uint64_t near = h->near * h->v.fit;
    return place < near ? h->v.word + place * h->v.words : h->far + (place - near) * h->v.words;
}

static void damage(bench *b, uint64_t *random)
{
    const sl_state *o = state_of(b);
    const sl_homes *h = &o->at;
    uint64_t homes = h->v.homes, rows = bench_get(b, &o->words->numbers.rows, 8), row = test_below(random, rows),
             home = bench_get(b, h->v.home + row, 4), place = home * h->v.fit + test_below(random, h->v.fit / 2);
    switch (test_below(random, 11)) {
    case 0: bench_put(b, h->v.home + row, test_below(random, homes + 1), 4); break;
    case 1: bench_put(b, h->v.bound + row, test_below(random, 4) ? test_random(random) % sl_keys(&h->v) : 0, 8); break;
    case 2: bench_put(b, h->v.count + home, test_below(random, h->v.fit + 2), 4); break;
    case 3: bench_put(b, h->v.count + test_below(random, homes), test_below(random, 2), 4); break;
    case 4: bench_put(b, h->v.used, test_random(random), 8); break;
    case 5: bench_put(b, &o->words->numbers.rows, test_below(random, homes + 2), 8); break;
    case 7: /* two small neighbours */
        if (row + 1 == rows) break;
        bench_put(b, h->v.count + home, 1, 4);
        bench_put(b, h->v.count + bench_get(b, h->v.home + row + 1, 4), 1, 4);
        break;
    case 6:
        if (place < h->near * h->v.fit) bench_put(b, word_of(h, place), test_random(random), 8);
        break;
    case 8: /* a near key */
        if (home < h->near) break;
        bench_put(b, (uint8_t *)h->v.near_key + (home - h->near) * sl_home_lines(&h->v) * sl_near_key_bytes(&h->v),
                  test_random(random), sl_near_key_bytes(&h->v));
        break;
    case 9: /* how many entries the lines of the first group have */
        if (home < h->near) break;
        bench_put(b, h->v.filled + (home - h->near) * sl_home_groups(&h->v), test_random(random), 4);
        break;
    default:
        if (place >= h->near * h->v.fit) *word_of(h, place) = test_random(random);
    }
}

/* ---- Far memory ------------------------------------------------------------------------------ */

/* All segments but the first few are far. A batch's keys are every `apart`-th of the table's, or lie between them. */
typedef struct far_point {
    const char *what;
    hd_op op;
    uint64_t n;
    bool present;
    double lines, lines_of_two; /* per item, at most; of entries of two words */
} far_point;

/* Few items find their line alone. Many are sorted, in windows of 4,096 items, and share the table's 1,500 lines, or
 * 3,000. */
static const far_point far_points[] = {
    { "find", HD_OP_FIND, 512, true, 1, 1 },
    { "find, misses", HD_OP_FIND, 512, false, 1, 1 },
    { "contains", HD_OP_CONTAINS, 512, true, 1, 1 },
    { "assign", HD_OP_ASSIGN, 512, true, 2, 2 }, /* it is read, and written */
    { "successor", HD_OP_SUCCESSOR, 512, true, 1.1, 1.2 },
    { "predecessor", HD_OP_PREDECESSOR, 512, true, 1, 1 },
    { "range of 32", HD_OP_RANGE, 512, true, 4.1, 6.7 },
    { "find, sorted", HD_OP_FIND, 16384, true, 0.42, 0.55 },
    { "find, misses, sorted", HD_OP_FIND, 16384, false, 0.42, 0.55 },
    { "assign, sorted", HD_OP_ASSIGN, 16384, true, 0.8, 1.1 },
    { "insert, hits", HD_OP_INSERT_OR_ASSIGN, 16384, true, 1.3, 1.6 },
    { "insert", HD_OP_INSERT_OR_ASSIGN, 8192, false, 2.2, 2.8 },
    { "erase", HD_OP_ERASE, 8192, true, 1.7, 2.5 },
};

/* Batches of few items, two for a segment, of which a quarter is erased before: lines have room. */
static const far_point few_points[] = {
    { "erase of many", HD_OP_ERASE, 6000, true, 2, 2.5 },
    { "erase of few", HD_OP_ERASE, 128, true, 3, 3 },
    { "insert of few", HD_OP_INSERT_OR_ASSIGN, 128, false, 3.2, 3.2 },
    { "insert of few again", HD_OP_INSERT_OR_ASSIGN, 128, false, 3.2, 3.2 },
};
enum {
    FAR_ENTRIES = 24000,
    FAR_POINTS = sizeof far_points / sizeof *far_points,
    FEW_POINTS = sizeof few_points / sizeof *few_points,
    FAR_LIMIT = 32
};

/* What is far on the host machine: the end of the segments. */
static void meter_far(hd_table *t, const hd_config *c)
{
    simt_config m = simt_config_in_turn();
    const void *p, *from = NULL;
    const char *name;
    size_t bytes, segments = 0, keys = 0;
    for (uint32_t i = 0; simt_machine_region_at(hd_host_machine(t), i, &p, &bytes, &name); i++) {
        if (strcmp(name, "capacity: near keys") == 0) keys = bytes;
        if (strcmp(name, "capacity: segments") == 0) from = p, segments = bytes;
    }
    size_t far = keys * 128 / c->value_bytes;
    check(far && far < segments, "%zu bytes of %zu are far", far, segments);
    m.metered = (const uint8_t *)from + segments - far;
    m.metered_bytes = far;
    m.meter = m.quiet = true;
    must(hd_host_configure(t, &m));
}

static uint64_t far_key(uint64_t i, bool present) { return 2 * (i * 7919 % FAR_ENTRIES) * 50000 + !present; }

/* apart: of the batch before */
static double far_lines(hd_table *t, const far_point *p, uint64_t apart)
{
    uint64_t *key = (uint64_t *)aligned_alloc(128, 3 * p->n * 8), *key2 = key + p->n, *value = key2 + p->n,
             *out = (uint64_t *)calloc(p->n * FAR_LIMIT, 16);
    uint32_t *rows = (uint32_t *)calloc(p->n, 4);
    hd_batch b = test_batch(p->op, p->n, key, value, NULL);
    for (uint64_t i = 0; i < p->n; i++) key[i] = far_key(i + apart, p->present), key2[i] = UINT64_MAX, value[i] = i;
    if (p->op == HD_OP_FIND || p->op == HD_OP_RANGE) b.value_out = out + p->n * FAR_LIMIT;
    if (p->op == HD_OP_SUCCESSOR || p->op == HD_OP_PREDECESSOR || p->op == HD_OP_RANGE) b.key_out = out;
    if (p->op == HD_OP_RANGE) b.key2 = key2, b.rows = rows, b.limit = FAR_LIMIT;
    must(hd_run(t, &b));
    free(rows);
    free(out);
    free(key);
    return (double)simt_machine_totals(hd_host_machine(t)).lines / (double)p->n;
}

static void lines_of_points(uint32_t value_bytes, const far_point *point, size_t points)
{
    const dictionary d = { "far", 4096, value_bytes, 40000, 0 };
    const far_point fill = { "fill", HD_OP_INSERT_OR_ASSIGN, FAR_ENTRIES, true, 0, 0 };
    hd_config c = usual_config(&d);
    hd_table *t;
    c.backend = "host";
    c.sl.near_bytes = least_near(&d, 1);
    must(hd_open(&c, &t));
    far_lines(t, &fill, 0);
    meter_far(t, &c);
    for (size_t i = 0; i < points; i++) {
        const far_point *p = &point[i];
        double lines = far_lines(t, p, p->n < 512 ? 6000 + i * p->n : 0),
               most = value_bytes == 4 ? p->lines : p->lines_of_two;
        test_case("%s, values of %u bytes", p->what, value_bytes);
        test_note("%s, %llu items, values of %u: %.3f far lines per item", p->what, (ull)p->n, value_bytes, lines);
        check(lines > 0.1 && lines <= most, "%.3f lines of far memory per item", lines);
        must(hd_check(t));
    }
    hd_close(t);
}

static void lines_of_far_memory(void **unused)
{
    (void)unused;
    for (uint32_t value_bytes = 4; value_bytes <= 8; value_bytes += 4) {
        lines_of_points(value_bytes, far_points, FAR_POINTS);
        lines_of_points(value_bytes, few_points, FEW_POINTS);
    }
}

static const struct CMUnitTest tests[] = { unit(device_memory_is_bounded), unit(resizes_as_the_reference),
                                           unit(segments_are_joined), unit(lines_of_far_memory) };

const device_design device_this = { .shapes = SHAPES,
                                    .name = name,
                                    .config = config,
                                    .part = 640,
                                    .stride = 397,
                                    .full = 8,
                                    .damage = damage,
                                    .damages = 1,
                                    .tables = 160,
                                    .rule_at = 3,
                                    .rules = 0x1fe,
                                    .tests = tests,
                                    .tests_n = sizeof tests / sizeof *tests };

/* SPDX-License-Identifier: Apache-2.0
 *
 * counts.c - counts what GPHash's operations touch, on this machine: the kernel runs batches of one item on the host
 * machine, which reports each access. And how full a table of the reference is when a key finds no room.
 *
 *     counts head MODE                 the names of the columns
 *     counts touched [NAME=VALUE ...]  per operation: cache lines, words, bytes and fences (sections 3.1 and 3.2)
 *     counts load    [NAME=VALUE ...]  the load factor at the first pending insert, of a new table and after each of
 *                                      `grown` growths; entries that growth lost (section 4.2, Figures 7 and 13)
 *
 *     levels=2 hashes=2 slots=8  layout=inline|cells  value=8 (bytes)  capacity=24Ki  load=0.8  keys=500  grown=0
 *
 * Of touched, with layout=cells; slots have full keys (wide.h) unless the key has 8 bytes and heap is 0:
 *
 *     key=8 (bytes)  bits=64 (of a fingerprint)  heap=0|1 (1: full keys behind pointers)
 *
 * Prints a line with tabs per operation, or per growth.
 */
#define EXPERIMENT "counts"
#include "lib/backend_host.h"
#include "papers/gphash/wide.h"
#include "papers/words.h"
#include "ref/gphash/layout.h"

enum { BATCH = 256, VALUE_MOST = 1024, KEY_MOST = 1024, SECTOR = 32, LINE = 128, PAGE = 4096, MOST = 4096, SITES = 32 };

typedef struct words {
    char layout[16];
    uint64_t levels, hashes, slots, value, key, bits, heap, capacity, keys, grown, seed;
    double load;
} words;

/* ---- A table, and its keys ------------------------------------------------------------------- */

static uint64_t key_of(uint64_t number) { return hd_mix64(number) >> 1; }

static hd_table *table_open(const words *w, const char *backend)
{
    hd_config c = hd_config_of("gphash");
    hd_table *t;
    c.backend = backend;
    c.capacity = w->capacity;
    c.slots = (uint32_t)w->slots;
    c.gphash.levels = (uint32_t)w->levels;
    c.gphash.hashes = (uint32_t)w->hashes;
    c.value_bytes = (uint32_t)w->value;
    c.layout = strcmp(w->layout, "cells") == 0 ? HD_LAYOUT_CELLS : HD_LAYOUT_INLINE;
    c.threads = 1;
    c.seed = w->seed;
    must(hd_open(&c, &t));
    return t;
}

/* Runs a batch of keys number first to first + n - 1 (n at most BATCH); outcomes in fate[]. */
static void run(hd_table *t, hd_op op, uint64_t first, uint64_t n, uint8_t *fate)
{
    static uint8_t value[BATCH * VALUE_MOST];
    uint64_t key[BATCH];
    const char *kernel = hd_host_machine(t) ? "warp" : NULL; /* the paper's */
    for (uint64_t i = 0; i < n; i++) key[i] = key_of(first + i);
    hd_batch b = { .op = op, .n = n, .key = key, .outcome = fate, .kernel = kernel };
    if (op == HD_OP_INSERT_OR_ASSIGN || op == HD_OP_ASSIGN) b.value = value;
    if (op == HD_OP_FIND) b.value_out = value;
    must(hd_run(t, &b));
}

/* Keys from number *next on, until there are so many entries, or one finds no room. */
static void fill(hd_table *t, uint64_t entries, uint64_t *next)
{
    uint8_t fate[BATCH];
    bool room = true;
    for (uint64_t size = table_size(t); room && size < entries;) {
        uint64_t n = entries - size < BATCH ? entries - size : BATCH;
        run(t, HD_OP_INSERT_OR_ASSIGN, *next, n, fate);
        *next += n;
        for (uint64_t i = 0; i < n; i++) room = room && fate[i] != HD_PENDING, size += room;
    }
    if (!room) stop("load", "the table takes no more");
}

/* ---- Keys of other sizes --------------------------------------------------------------------- */

/* The linker puts this between a table and its machine: a batch of items runs by the kernel of wide.h instead. */
static wide_keys wide;

void gphash_kernel_warp_items(const void *args);
hd_status __real_simt_machine_launch(simt_machine *m, void (*kernel)(const void *), const void *args, size_t bytes,
                                     uint32_t blocks, uint32_t threads, uint32_t stream);
hd_status __wrap_simt_machine_launch(simt_machine *m, void (*kernel)(const void *), const void *args, size_t bytes,
                                     uint32_t blocks, uint32_t threads, uint32_t stream);
hd_status __wrap_simt_machine_launch(simt_machine *m, void (*kernel)(const void *), const void *args, size_t bytes,
                                     uint32_t blocks, uint32_t threads, uint32_t stream)
{
    if (!wide.full || kernel != gphash_kernel_warp_items)
        return __real_simt_machine_launch(m, kernel, args, bytes, blocks, threads, stream);
    const wide_args x = { *(const gphash_args *)args, wide };
    must(simt_machine_region(m, wide.full, wide.rows * wide.words * sizeof *wide.full, "full keys"));
    return __real_simt_machine_launch(m, wide_kernel_items, &x, sizeof x, blocks, threads, stream);
}

/* Whether a slot has a full key besides its key word. */
static bool is_wide(const words *w) { return w->key != 8 || w->heap; }

/* The full keys of an empty table. */
static void widen(const words *w, hd_table *t)
{
    if (!is_wide(w)) return;
    wide = (wide_keys){ .rows = 1, .words = (uint32_t)(w->key / 8), .pointed = w->heap != 0 };
    wide.fingerprint = w->bits < 64 ? (1ull << w->bits) - 1 : UINT64_MAX;
    while (wide.rows < table_info(t).capacity) wide.rows *= 2;
    size_t bytes = wide.rows * w->key;
    wide.full = (uint64_t *)aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);
    if (!wide.full) stop("memory", "refused");
    memset(wide.full, 0, bytes);
}

/* ---- What one item did ----------------------------------------------------------------------- */

typedef struct set {
    uint64_t of[MOST];
    size_t n;
} set;

static void add(set *s, uint64_t x)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->of[i] == x) return;
    if (s->n == MOST) stop("counting", "more than there is room for");
    s->of[s->n++] = x;
}
/* Each unit of a region that has some of the bytes from offset `at` on. */
static void add_each(set *s, uint64_t region, uint64_t at, uint64_t bytes, uint64_t unit)
{
    for (uint64_t x = at / unit; x <= (at + bytes - 1) / unit; x++) add(s, region + x * unit);
}

typedef enum part { KEYS, FULL_KEYS, NUMBERS, CELLS, PARTS, NO_PART = PARTS } part;

/* Lines and words of the table's parts; written: places, lines and pages of all parts. */
typedef struct did {
    set lines[PARTS], sectors, key_words, written_words, written_lines, written_pages;
    uint64_t key_reads, entries, bytes_read, bytes_written, atomics, fences;
} did;

static part part_of(const simt_machine *m, const void *p, uint64_t *at)
{
    const char *name = p ? simt_machine_name(m, p, at) : "";
    if (strcmp(name, "keys") == 0) return KEYS;
    if (strcmp(name, "full keys") == 0) return FULL_KEYS;
    if (strcmp(name, "numbers") == 0) return NUMBERS;
    return strcmp(name, "cells") == 0 ? CELLS : NO_PART;
}

/* Fences of the warp: a fence that all lanes meet is one. */
static uint64_t fences_of(const simt_event *e, size_t n)
{
    const char *site[SITES];
    uint32_t times[SITES][32] = { 0 }, sites = 0;
    uint64_t fences = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t s = 0;
        if (strcmp(e[i].what, "fence_system") != 0) continue;
        while (s < sites && site[s] != e[i].site) s++;
        if (s == SITES) stop("fences", "at too many places");
        if (s == sites) site[sites++] = e[i].site;
        times[s][e[i].thread % 32]++;
    }
    for (uint32_t s = 0; s < sites; s++) {
        uint32_t most = 0;
        for (uint32_t lane = 0; lane < 32; lane++) most = times[s][lane] > most ? times[s][lane] : most;
        fences += most;
    }
    return fences;
}

/* A full key is durable before its key word is there. */
static void check_order(const simt_machine *m, const simt_event *e, size_t n)
{
    bool waits = false, come = false; /* full key: for a fence; key word */
    for (size_t i = 0; i < n; i++) {
        uint64_t at = 0;
        bool stores = strncmp(e[i].what, "st", 2) == 0;
        part of = part_of(m, e[i].p, &at);
        bool comes = of == KEYS && stores && e[i].after < HD_KEY_RESERVED;
        if (of == FULL_KEYS && stores) waits = true;
        if (strcmp(e[i].what, "fence_system") == 0) waits = false;
        come = come || comes;
        if (waits && come) stop("full key", "it is not durable before its key word");
    }
}

static void did_of(hd_table *t, did *d)
{
    const simt_machine *m = hd_host_machine(t);
    size_t n;
    const simt_event *e = simt_machine_events(m, &n);
    memset(d, 0, sizeof *d);
    d->fences = fences_of(e, n);
    check_order(m, e, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t at = 0;
        part of = part_of(m, e[i].p, &at);
        uint64_t region = (uint64_t)(uintptr_t)e[i].p - at;
        bool reads = strncmp(e[i].what, "ld", 2) == 0, stores = strncmp(e[i].what, "st", 2) == 0;
        if (of == NO_PART) continue;
        add_each(&d->lines[of], region, at, e[i].bytes, LINE);
        add_each(&d->sectors, region, at, e[i].bytes, SECTOR);
        if (of == KEYS && reads) {
            if (e[i].before != HD_KEY_EMPTY && d->key_words.n < GPHASH_LANES) d->entries++;
            add(&d->key_words, region + at);
            d->key_reads++;
        }
        d->atomics += !reads && !stores;
        if (!stores) d->bytes_read += e[i].bytes;
        if (reads) continue;
        d->bytes_written += e[i].bytes;
        add_each(&d->written_words, region, at, e[i].bytes, 8);
        add_each(&d->written_lines, region, at, e[i].bytes, LINE);
        add_each(&d->written_pages, region, at, e[i].bytes, PAGE);
    }
}

/* ---- touched --------------------------------------------------------------------------------- */

typedef enum column {
    KEY_LINES,
    KEY_LINES_MOST,
    FULL_LINES,
    READS_OF_WORD,
    OCCUPIED,
    NUMBER_LINES,
    CELL_LINES,
    SECTORS,
    READ,
    WRITTEN,
    WORDS_WRITTEN,
    LINES_WRITTEN,
    LINES_WRITTEN_MOST,
    PAGES_WRITTEN,
    ATOMICS,
    FENCES,
    FENCES_MOST,
    COLUMNS
} column;

static void most(double *column, double value)
{
    if (value > *column) *column = value;
}

static void sum_up(double *c, const did *d, double share)
{
    c[KEY_LINES] += share * (double)d->lines[KEYS].n;
    most(&c[KEY_LINES_MOST], (double)d->lines[KEYS].n);
    c[FULL_LINES] += share * (double)d->lines[FULL_KEYS].n;
    c[READS_OF_WORD] += share * (double)d->key_reads / (double)d->key_words.n;
    c[OCCUPIED] += share * (double)d->entries;
    c[NUMBER_LINES] += share * (double)d->lines[NUMBERS].n;
    c[CELL_LINES] += share * (double)d->lines[CELLS].n;
    c[SECTORS] += share * (double)d->sectors.n;
    c[READ] += share * (double)d->bytes_read;
    c[WRITTEN] += share * (double)d->bytes_written;
    c[WORDS_WRITTEN] += share * (double)d->written_words.n;
    c[LINES_WRITTEN] += share * (double)d->written_lines.n;
    most(&c[LINES_WRITTEN_MOST], (double)d->written_lines.n);
    c[PAGES_WRITTEN] += share * (double)d->written_pages.n;
    c[ATOMICS] += share * (double)d->atomics;
    c[FENCES] += share * (double)d->fences;
    most(&c[FENCES_MOST], (double)d->fences);
}

static void watch(hd_table *t, bool all)
{
    simt_config c = simt_config_in_turn();
    c.trace = all;
    c.quiet = !all;
    must(hd_host_configure(t, &c));
}

static void touched(const words *w)
{
    static const struct {
        const char *name;
        hd_op op;
        hd_outcome outcome;
    } rows[] = { { "find", HD_OP_FIND, HD_HIT },
                 { "miss", HD_OP_FIND, HD_MISS },
                 { "assign", HD_OP_ASSIGN, HD_UPDATED },
                 { "insert", HD_OP_INSERT_OR_ASSIGN, HD_INSERTED },
                 { "erase", HD_OP_ERASE, HD_ERASED } };
    static did d;
    uint64_t next = 0;
    hd_table *t = table_open(w, "host");
    widen(w, t);
    watch(t, false);
    fill(t, (uint64_t)(w->load * (double)table_info(t).capacity), &next);
    watch(t, true);
    uint64_t there = next;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double c[COLUMNS] = { 0 };
        bool fresh = rows[r].outcome == HD_MISS || rows[r].outcome == HD_INSERTED;
        for (uint64_t i = 0; i < w->keys; i++) {
            uint8_t fate;
            run(t, rows[r].op, fresh ? next++ : --there, 1, &fate);
            if (fate != rows[r].outcome) stop("outcome", hd_outcome_name((hd_outcome)fate));
            did_of(t, &d);
            sum_up(c, &d, 1 / (double)w->keys);
            if (fate == HD_INSERTED) run(t, HD_OP_ERASE, next - 1, 1, &fate);
        }
        printf("%llu\t%llu\t%llu\t%s\t%llu\t%llu\t%llu\t%llu\t%llu\t%g\t%s", (unsigned long long)w->levels,
               (unsigned long long)w->hashes, (unsigned long long)w->slots, w->layout, (unsigned long long)w->value,
               (unsigned long long)w->key, (unsigned long long)w->bits, (unsigned long long)w->heap,
               (unsigned long long)w->capacity, w->load, rows[r].name);
        for (int k = 0; k < COLUMNS; k++) printf("\t%.4g", c[k]);
        printf("\n");
    }
    must(hd_check(t));
    hd_close(t);
    free(wide.full);
}

/* ---- load ------------------------------------------------------------------------------------ */

/* Keys from number *next on until one finds no room: how many entries there are then. */
static uint64_t fill_up(hd_table *t, uint64_t *next)
{
    uint8_t fate[BATCH];
    uint64_t size = table_size(t);
    for (;; *next += BATCH) {
        run(t, HD_OP_INSERT_OR_ASSIGN, *next, BATCH, fate);
        for (int i = 0; i < BATCH; i++) {
            if (fate[i] == HD_PENDING) return *next += BATCH, size;
            size += fate[i] == HD_INSERTED;
        }
    }
}

static void load(const words *w)
{
    uint64_t next = 0, lost = 0;
    hd_table *t = table_open(w, "ref");
    for (uint64_t g = 0;; g++) {
        uint64_t size = fill_up(t, &next), all = table_size(t);
        hd_info info = table_info(t);
        printf("%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%.4f\t%llu\n", (unsigned long long)w->levels,
               (unsigned long long)w->hashes, (unsigned long long)w->slots, (unsigned long long)w->capacity,
               (unsigned long long)w->seed, (unsigned long long)g, (unsigned long long)info.capacity,
               (double)size / (double)info.capacity, (unsigned long long)lost);
        if (g == w->grown) break;
        must(hd_grow(t, 2 * info.buckets));
        must(hd_check(t));
        lost = all - table_size(t);
    }
    hd_close(t);
}

/* ---- Words ----------------------------------------------------------------------------------- */

static const word_mode modes[] = {
    { "touched",
      "levels\thashes\tslots\tlayout\tvalue\tkey\tbits\theap\tcapacity\tload\toperation\tkey_lines\tkey_lines_most\t"
      "full_lines\treads_of_word\toccupied\tnumber_lines\tcell_lines\tsectors\tread\twritten\twords_written\t"
      "lines_written\tlines_written_most\tpages_written\tatomics\tfences\tfences_most",
      touched },
    { "load", "levels\thashes\tslots\tasked\tseed\tgrown\tcapacity\tload\tlost", load },
};

int main(int argc, char **argv)
{
    words w = { .layout = "cells",
                .levels = 2,
                .hashes = 2,
                .slots = 8,
                .value = 128,
                .key = 8,
                .bits = 64,
                .capacity = 24 << 10,
                .keys = 500,
                .load = 0.8 };
    const word_mode *mode = WORD_MODE(argc, argv, modes);
    if (!mode) return 0;
    const word_row rows[] = {
        /* clang-format off */
        { "layout=", WORD_TEXT, 0, w.layout }, { "load=", WORD_REAL, 1, &w.load },
        { "levels=", WORD_WHOLE, 8, &w.levels }, { "hashes=", WORD_WHOLE, 4, &w.hashes },
        { "slots=", WORD_WHOLE, 32, &w.slots }, { "value=", WORD_WHOLE, VALUE_MOST, &w.value },
        { "key=", WORD_WHOLE, KEY_MOST, &w.key }, { "bits=", WORD_WHOLE, 64, &w.bits },
        { "heap=", WORD_WHOLE, 1, &w.heap },
        { "capacity=", WORD_WHOLE, 1 << 26, &w.capacity }, { "keys=", WORD_WHOLE, 1 << 14, &w.keys },
        { "grown=", WORD_WHOLE, 8, &w.grown }, { "seed=", WORD_WHOLE, UINT64_MAX, &w.seed },
        /* clang-format on */
    };
    WORDS_READ(argv + 2, argc - 2, rows);
    if (strcmp(w.layout, "inline") != 0 && strcmp(w.layout, "cells") != 0)
        stop("layout", "it is neither inline nor cells");
    if (mode == modes && (w.keys == 0 || 3.1 * (double)w.keys > w.load * (double)w.capacity))
        stop("keys", "none, or more than there are");
    if (w.key == 0 || w.key % 8 != 0) stop("key", "it is not of words of 8 bytes");
    if (is_wide(&w) && strcmp(w.layout, "cells") != 0) stop("layout", "full keys need cells");
    if (!is_wide(&w) && w.bits != 64) stop("bits", "a key without a full key is its own fingerprint");
    mode->run(&w);
    return 0;
}

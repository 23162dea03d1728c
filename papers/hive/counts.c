/* SPDX-License-Identifier: Apache-2.0
 *
 * counts.c - counts what Hive's operations do, on this machine: kernels run batches of one item on the host machine,
 * which reports the memory that each item touched and its outcome. For a table that was filled, grown or shrunk, the
 * program reads the public interface.
 *
 *     counts head MODE                 the names of the columns
 *     counts touched [NAME=VALUE ...]  places in the table that an operation touches (sections III-A to III-F, IV-B)
 *     counts steps   [NAME=VALUE ...]  in which step of section IV-A inserts of new keys end, how many take the lock,
 *                    how far other keys move (Figure 9)
 *     counts full    [NAME=VALUE ...]  batches of the reference until one insert is pending, and what is there then
 *     counts grow    [NAME=VALUE ...]  buckets that are split, whose entries move (section IV-C1); and merged again
 *                    until there is no room (IV-C2)
 *
 *     kernel=tile|wabc|...   slots=32  layout=masks|words  hashes=2  spare=usual (number)  value=4|2 (bytes)
 *                            capacity=16Ki  load=0.9  keys=500
 *     whole=1                of steps: all inserts from an empty table on, and not some at the load factor
 *
 * Prints a line with tabs; touched a line per operation.
 */
#define EXPERIMENT "counts"
#include "lib/backend_host.h"
#include "papers/words.h"
#include "policies/hashes/hash.h"
#include "ref/hive/layout.h"

enum { LINE = 128, MOST = 4096, MOVED = -1 /* UINT64_MAX: the item of a move's ticket */ };

typedef struct words {
    char kernel[16], layout[16], spare[16];
    uint64_t slots, hashes, value, capacity, keys, whole;
    double load;
} words;

/* ---- A table, and its keys ------------------------------------------------------------------- */

/* Those of the first 2^25 numbers (of 16 bits: of the first 2^14) are all different, and none is one of the three that
 * are no keys. */
static uint32_t key_mask; /* of as many bits as keys have */
static uint64_t key_of(uint64_t number) { return (uint32_t)number * 2654435761u & key_mask; }

static hd_table *table_open(const words *w, const char *backend, uint64_t capacity)
{
    hd_config c = hd_config_of("hive");
    hd_table *t;
    c.backend = backend;
    c.capacity = capacity;
    c.slots = (uint32_t)w->slots;
    c.hive.hashes = (uint32_t)w->hashes;
    c.value_bytes = (uint32_t)w->value;
    c.layout = strcmp(w->layout, "masks") == 0 ? HD_LAYOUT_MASKS : HD_LAYOUT_WORDS;
    c.threads = 1;
    if (strcmp(w->spare, "usual") != 0) {
        uint64_t spare;
        must(hd_parse_u64("spare", w->spare, 0, 31, &spare));
        c.hive.spare = (uint32_t)spare;
    }
    must(hd_open(&c, &t));
    return t;
}

enum { BATCH = 256 };

/* Runs a batch of keys number first to first + n - 1 (n at most BATCH), by the kernel that is named; outcomes in
 * fate[]. */
static void run(hd_table *t, hd_op op, const char *kernel, uint64_t first, uint64_t n, uint8_t *fate)
{
    uint64_t key[BATCH];
    uint32_t value[BATCH];
    bool writes = op == HD_OP_INSERT_OR_ASSIGN || op == HD_OP_ASSIGN;
    for (uint64_t i = 0; i < n; i++) key[i] = key_of(first + i), value[i] = (uint32_t)key[i];
    hd_batch b = { .op = op, .n = n, .key = key, .outcome = fate, .kernel = kernel, .distinct = n == 1 };
    if (writes) b.value = value;
    if (op == HD_OP_FIND) b.value_out = value;
    must(hd_run(t, &b));
}

/* Keys from number *next on, until there are so many entries. */
static void fill(hd_table *t, const char *kernel, uint64_t entries, uint64_t *next)
{
    uint8_t fate[BATCH];
    for (uint64_t size = table_size(t); size < entries;) {
        uint64_t n = entries - size < BATCH ? entries - size : BATCH;
        run(t, HD_OP_INSERT_OR_ASSIGN, kernel, *next, n, fate);
        *next += n;
        for (uint64_t i = 0; i < n; i++) size += fate[i] == HD_INSERTED;
        for (uint64_t i = 0; i < n; i++)
            if (fate[i] == HD_PENDING) stop("load", "the table takes no more");
    }
}

static void watch(hd_table *t, bool all)
{
    simt_config c = simt_config_in_turn();
    c.trace = all;
    c.quiet = !all;
    must(hd_host_configure(t, &c));
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

typedef struct did {
    uint64_t lines, words, bytes_read; /* of buckets, the stash's among them; words: different ones */
    uint64_t word_atomics, mask_atomics, lock_atomics, mask_reads;
    uint64_t moves, entry; /* of other keys; where its own key came                     */
    hd_outcome outcome;
} did;

static bool is_read(const char *what) { return strncmp(what, "ld", 2) == 0; }
static bool is_atomic(const char *what) { return !is_read(what) && strncmp(what, "st", 2) != 0; }

static did did_of(hd_table *t, uint8_t fate, uint32_t word_bytes)
{
    static set lines, words;
    did d = { .outcome = (hd_outcome)fate, .entry = HIVE_NOWHERE };
    const simt_machine *m = hd_host_machine(t);
    size_t n;
    const simt_event *e = simt_machine_events(m, &n);
    lines.n = words.n = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t at = 0, base;
        const char *name = e[i].p ? simt_machine_name(m, e[i].p, &at) : "";
        bool of_words = strcmp(name, "words") == 0, of_masks = strcmp(name, "masks") == 0;
        base = (uint64_t)(uintptr_t)e[i].p - at; /* the region's: there are several of a name */
        for (uint64_t b = at; of_words && b < at + e[i].bytes; b += word_bytes)
            add(&words, base + b), add(&lines, base + b / LINE * LINE);
        if (of_words && is_read(e[i].what)) d.bytes_read += e[i].bytes;
        d.mask_reads += of_masks && is_read(e[i].what);
        d.word_atomics += of_words && is_atomic(e[i].what);
        d.mask_atomics += of_masks && is_atomic(e[i].what);
        d.lock_atomics += strcmp(name, "locks") == 0 && is_atomic(e[i].what);
    }
    d.lines = lines.n;
    d.words = words.n;
    const simt_ticket_record *k = simt_machine_tickets(m, &n);
    for (size_t i = 0; i < n; i++) {
        if (k[i].item == (uint64_t)MOVED)
            d.moves++;
        else if (k[i].what == HD_INSERTED)
            d.entry = k[i].b;
    }
    return d;
}

/* ---- touched --------------------------------------------------------------------------------- */

static void touched(const words *w)
{
    static const struct {
        const char *name;
        hd_op op;
        bool there;
    } rows[] = { { "find", HD_OP_FIND, true },
                 { "find", HD_OP_FIND, false },
                 { "assign", HD_OP_ASSIGN, true },
                 { "insert", HD_OP_INSERT_OR_ASSIGN, false },
                 { "erase", HD_OP_ERASE, true } };
    uint64_t next = 0;
    hd_table *t = table_open(w, "host", w->capacity);
    watch(t, false);
    fill(t, w->kernel, (uint64_t)(w->load * (double)w->capacity), &next);
    watch(t, true);
    uint64_t there = next;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        did sum = { .lines = 0 };
        uint64_t lines_most = 0, atomics_most = 0;
        for (uint64_t i = 0; i < w->keys; i++) {
            uint8_t fate;
            run(t, rows[r].op, w->kernel, rows[r].there ? --there : next++, 1, &fate);
            did d = did_of(t, fate, 2 * (uint32_t)w->value);
            if ((d.outcome != HD_MISS && d.outcome != HD_INSERTED) != rows[r].there)
                stop("outcome", hd_outcome_name(d.outcome));
            uint64_t atomics = d.word_atomics + d.mask_atomics;
            sum.lines += d.lines, sum.words += d.words, sum.bytes_read += d.bytes_read;
            sum.word_atomics += d.word_atomics, sum.mask_atomics += d.mask_atomics, sum.lock_atomics += d.lock_atomics,
                sum.mask_reads += d.mask_reads;
            lines_most = d.lines > lines_most ? d.lines : lines_most;
            atomics_most = atomics > atomics_most ? atomics : atomics_most;
            if (d.outcome == HD_INSERTED && table_size(t) > (uint64_t)(w->load * (double)w->capacity))
                run(t, HD_OP_ERASE, w->kernel, next - 1, 1, &fate);
        }
        double n = (double)w->keys;
        printf("%s\t%s\t%llu\t%llu\t%llu\t%llu\t%g\t%s\t%d\t%.4g\t%llu\t%.4g\t%.4g\t%.4g\t%llu\t%.4g\t%.4g\t%.4g\n",
               w->kernel, w->layout, (unsigned long long)w->slots, (unsigned long long)w->hashes,
               (unsigned long long)w->value, (unsigned long long)w->capacity, w->load, rows[r].name, rows[r].there,
               (double)sum.lines / n, (unsigned long long)lines_most, (double)sum.words / n,
               (double)sum.bytes_read / (2 * (double)w->value) / (double)sum.words, (double)sum.word_atomics / n,
               (unsigned long long)atomics_most, (double)sum.mask_atomics / n, (double)sum.mask_reads / n,
               (double)sum.lock_atomics / n);
    }
    hd_close(t);
}

/* ---- steps ----------------------------------------------------------------------------------- */

enum { CLAIMED_FIRST, CLAIMED_LATER, DISPLACED, STASHED, PENDING, STEPS };

static int step_of(const did *d, const hd_info *info, uint64_t key)
{
    hive_view v = { .base = info->base_buckets,
                    .slots = info->slots,
                    .half = 8 * info->value_bytes,
                    .hashes = info->hive.hashes,
                    .seed = info->seed };
    if (d->outcome == HD_PENDING) return PENDING;
    if (d->entry >= info->capacity) return STASHED;
    if (d->moves) return DISPLACED;
    return d->entry / info->slots == hive_candidate(&v, hive_hash(&v, key), 0) ? CLAIMED_FIRST : CLAIMED_LATER;
}

/* New keys, one a batch, beginning a little below the load factor and ending as far above. */
static void steps(const words *w)
{
    uint64_t next = 0, ends[STEPS] = { 0 }, lines[STEPS] = { 0 }, moves = 0, moves_most = 0, locked = 0, early = 0;
    hd_table *t = table_open(w, "host", w->capacity);
    hd_info info = table_info(t);
    uint64_t level = (uint64_t)(w->load * (double)info.capacity), keys = w->whole ? level : w->keys;
    watch(t, false);
    fill(t, w->kernel, w->whole ? 0 : level - keys / 2, &next);
    watch(t, true);
    for (uint64_t i = 0; i < keys; i++, next++) {
        uint8_t fate;
        run(t, HD_OP_INSERT_OR_ASSIGN, w->kernel, next, 1, &fate);
        did d = did_of(t, fate, 2 * (uint32_t)w->value);
        int s = step_of(&d, &info, key_of(next));
        ends[s]++;
        lines[s] += d.lines;
        moves += d.moves;
        moves_most = d.moves > moves_most ? d.moves : moves_most;
        locked += d.lock_atomics > 0;
        early += d.lock_atomics > 0 && s <= CLAIMED_LATER;
    }
    double n = 0, all = 0;
    for (int s = 0; s < STEPS; s++) n += (double)ends[s], all += (double)lines[s];
    printf("%s\t%s\t%llu\t%llu\t%u\t%g\t%llu\t%.0f", w->kernel, w->layout, (unsigned long long)w->slots,
           (unsigned long long)w->hashes, info.hive.spare, w->load, (unsigned long long)w->whole, n);
    for (int s = 0; s < STEPS; s++) printf("\t%.4g", (double)ends[s] / n);
    for (int s = 0; s < STEPS; s++) printf("\t%.4g", (double)lines[s] / all);
    printf("\t%.4g\t%llu\t%.4g\t%llu\n", (double)moves / n, (unsigned long long)moves_most, (double)locked / n,
           (unsigned long long)early);
    hd_close(t);
}

/* ---- full ------------------------------------------------------------------------------------ */

/* How many keys below number `end` are found. */
static uint64_t found_of(hd_table *t, uint64_t end)
{
    uint64_t found = 0;
    uint8_t fate[BATCH];
    for (uint64_t i = 0; i < end; i += BATCH) {
        uint64_t n = end - i < BATCH ? end - i : BATCH;
        run(t, HD_OP_FIND, NULL, i, n, fate);
        for (uint64_t k = 0; k < n; k++) found += fate[k] == HD_HIT;
    }
    return found;
}

static uint64_t stashed_of(hd_table *t)
{
    hd_info info = table_info(t);
    uint64_t n = info.places - info.capacity, count = 0, *key = (uint64_t *)malloc((n + 1) * 8);
    if (!key) stop("memory", "refused");
    must(
        hd_run(t, &(hd_batch){ .op = HD_OP_EXPORT, .start = info.capacity, .n = n, .list_key = key, .count = &count }));
    free(key);
    return count;
}

/* The first that is pending, and some more: what was confirmed is there. */
static void full(const words *w)
{
    uint64_t next = 0, inserted = 0, at = 0, stashed = 0, pending = 0;
    uint8_t fate[BATCH];
    hd_table *t = table_open(w, "ref", w->capacity);
    hd_info info = table_info(t);
    for (; pending < info.capacity / 16; next += BATCH) {
        run(t, HD_OP_INSERT_OR_ASSIGN, NULL, next, BATCH, fate);
        for (int i = 0; i < BATCH; i++) {
            if (fate[i] == HD_PENDING && pending++ == 0) at = inserted, stashed = stashed_of(t);
            inserted += fate[i] == HD_INSERTED;
        }
    }
    printf("%s\t%llu\t%llu\t%u\t%llu\t%.5g\t%.5g\t%.5g\t%llu\t%lld\n", w->layout, (unsigned long long)w->slots,
           (unsigned long long)w->hashes, info.hive.spare, (unsigned long long)info.capacity,
           (double)at / (double)info.capacity, (double)stashed / (double)info.capacity,
           (double)(info.places - info.capacity) / (double)info.capacity, (unsigned long long)pending,
           (long long)inserted - (long long)found_of(t, next));
    hd_close(t);
}

/* ---- grow ------------------------------------------------------------------------------------ */

typedef struct placed {
    uint64_t key, slot;
} placed;

static int by_key(const void *a, const void *b)
{
    const placed *x = (const placed *)a, *y = (const placed *)b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Every entry, sorted by key. */
static placed *places_of(hd_table *t, uint64_t *n)
{
    uint64_t most = table_info(t).places, *key = (uint64_t *)malloc(most * 8), *slot = (uint64_t *)malloc(most * 8);
    placed *p = (placed *)malloc(most * sizeof *p);
    if (!key || !slot || !p) stop("memory", "refused");
    must(hd_run(t, &(hd_batch){ .op = HD_OP_EXPORT, .n = most, .list_key = key, .list_item = slot, .count = n }));
    for (uint64_t i = 0; i < *n; i++) p[i] = (placed){ key[i], slot[i] };
    qsort(p, *n, sizeof *p, by_key);
    free(key);
    free(slot);
    return p;
}

/* A quarter of the buckets is split; then all that were added go again, as far as there is room. */
static void grow(const words *w)
{
    uint64_t next = 0, n, after, moved = 0, elsewhere = 0, of_split = 0;
    hd_table *t = table_open(w, "host", w->capacity);
    watch(t, false);
    fill(t, w->kernel, (uint64_t)(w->load * (double)w->capacity), &next);
    hd_info was = table_info(t);
    uint64_t split = was.buckets / 4;
    placed *before = places_of(t, &n);
    must(hd_grow(t, was.buckets + split));
    placed *now = places_of(t, &after);
    if (after != n) stop("growth", "entries are lost");
    for (uint64_t i = 0; i < n; i++) {
        bool stash = before[i].slot >= was.capacity, here = before[i].slot / was.slots < split;
        if (before[i].key != now[i].key) stop("growth", "a key is another");
        of_split += here && !stash;
        moved += here && !stash && now[i].slot != before[i].slot;
        elsewhere += !here && !stash && now[i].slot != before[i].slot;
    }
    free(before);
    free(now);
    uint64_t entries = n;
    /* there is no room for all of them in fewer buckets */
    fill(t, w->kernel, (uint64_t)(0.97 * (double)table_info(t).capacity), &next);
    uint64_t had = table_size(t);
    must(hd_shrink(t, was.buckets));
    hd_info is = table_info(t);
    uint64_t lost = had - table_size(t), found = found_of(t, next);
    must(hd_check(t));
    printf("%s\t%s\t%llu\t%llu\t%llu\t%g\t%llu\t%.4g\t%llu\t%llu\t%llu\t%llu\t%lld\n", w->kernel, w->layout,
           (unsigned long long)w->slots, (unsigned long long)was.buckets, (unsigned long long)split,
           (double)entries / (double)was.capacity, (unsigned long long)of_split, (double)moved / (double)of_split,
           (unsigned long long)elsewhere, (unsigned long long)(was.buckets + split), (unsigned long long)was.buckets,
           (unsigned long long)is.buckets, (long long)(lost + (had > found ? had - found : 0)));
    hd_close(t);
}

/* ---- Words ----------------------------------------------------------------------------------- */

static const word_mode modes[] = {
    { "touched",
      "kernel\tlayout\tslots\thashes\tvalue\tcapacity\tload\toperation\tthere\tlines\tlines_most\twords\treads_of_"
      "word\tword_atomics\tatomics_most\tmask_atomics\tmask_reads\tlock_atomics",
      touched },
    { "steps",
      "kernel\tlayout\tslots\thashes\tspare\tload\twhole\tinserts\tfirst\tlater\tdisplaced\tstashed\tpending\tfirst_"
      "lines\tlater_lines\tdisplaced_lines\tstashed_lines\tpending_lines\tmoves\tmoves_most\tlocked\tlocked_early",
      steps },
    { "full", "layout\tslots\thashes\tspare\tcapacity\tload\tstashed\tstash\tpending\tlost", full },
    { "grow", "kernel\tlayout\tslots\tbuckets\tsplit\tload\tentries\tmoved\telsewhere\tgrown\twanted\tgot\tlost",
      grow },
};

/* disjoint: each operation has keys of its own. */
static void words_check(const words *w, bool disjoint)
{
    double most = w->load * (double)w->capacity;
    if (strcmp(w->layout, "masks") != 0 && strcmp(w->layout, "words") != 0)
        stop("layout", "it is neither masks nor words");
    if (disjoint && 3.1 * (double)w->keys > most) stop("keys", "each operation has others");
    if (w->keys == 0 || (double)w->keys > most) stop("keys", "none, or more than there are");
}

int main(int argc, char **argv)
{
    words w = { .kernel = "tile",
                .layout = "masks",
                .spare = "usual",
                .slots = 32,
                .hashes = 2,
                .value = 4,
                .capacity = 1 << 14,
                .keys = 500,
                .load = 0.9 };
    const word_mode *mode = WORD_MODE(argc, argv, modes);
    if (!mode) return 0;
    const word_row rows[] = {
        /* clang-format off */
        { "kernel=", WORD_TEXT, 0, w.kernel }, { "layout=", WORD_TEXT, 0, w.layout },
        { "spare=", WORD_TEXT, 0, w.spare }, { "load=", WORD_REAL, 1, &w.load },
        { "capacity=", WORD_WHOLE, 1 << 24, &w.capacity }, { "slots=", WORD_WHOLE, 32, &w.slots },
        { "hashes=", WORD_WHOLE, 3, &w.hashes }, { "value=", WORD_WHOLE, 4, &w.value },
        { "whole=", WORD_WHOLE, 1, &w.whole }, { "keys=", WORD_WHOLE, 1 << 14, &w.keys },
        /* clang-format on */
    };
    WORDS_READ(argv + 2, argc - 2, rows);
    words_check(&w, mode == modes);
    key_mask = w.value == 2 ? 0xffff : UINT32_MAX;
    mode->run(&w);
    return 0;
}

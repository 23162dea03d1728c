/* SPDX-License-Identifier: Apache-2.0
 *
 * places.c - what an operation asks of memory (Propositions 3.1 and 3.2, Table 3, and the counts behind experiments 3a
 * and 3b): each of `keys` batches of one item is run by a kernel on the host machine, and the different places that it
 * touched in the table are counted. What lanes or instructions share is counted once: this is what has to come from
 * memory, not how often it is asked for.
 *
 *     places OPERATION [NAME=VALUE ...]        find, contains, insert_or_assign, ...
 *
 *     kernel=tlpv1   layout=planes|pairs   policy=lru   dual=0|1   capacity=16Ki   values=0 (bytes)
 *     load=1         of the table that is met; 1: after five times as many keys as it holds
 *     hits=0|1       keys that are there, or not
 *     keys=1000
 *
 * Prints a line per answer, its words, a tab, the number per key: digest_lines (of 128 bytes), keys (read),
 * score_sectors and bound_sectors (of 32 bytes; in layout pairs scores are beside their keys, and key_sectors has
 * both), table_sectors (of all of it), atomics (on the table and its locks), agrees (the share of items whose outcome
 * is the reference's).
 */
#define EXPERIMENT "places"
#include "lib/backend_host.h"
#include "papers/words.h"
#include "workload/rng.h"

enum { SECTOR = 32, LINE = 128, MOST = 8192 };

typedef struct words {
    char op[32], kernel[16], layout[16], policy[16];
    uint64_t capacity, values, keys, dual, hits;
    double load;
} words;

/* Different numbers, few of them. */
typedef struct set {
    uint64_t of[MOST];
    size_t n;
} set;

typedef struct counts {
    uint64_t digest_lines, digest_sectors, keys, key_sectors, score_sectors, bound_sectors, value_sectors, atomics,
        agree;
} counts;

/* ---- The table, and another that knows what should come out ---------------------------------- */

static hd_table *table_open(const words *w, const char *backend)
{
    hd_config c = hd_config_default();
    hd_table *t;
    c.backend = backend;
    c.capacity = w->capacity;
    c.policy = w->policy;
    c.hkv.dual = w->dual == 1;
    c.value_bytes = (uint32_t)w->values;
    c.threads = 1;
    c.layout = strcmp(w->layout, "planes") == 0 ? HD_LAYOUT_PLANES : HD_LAYOUT_PAIRS;
    must(hd_open(&c, &t));
    return t;
}

static void batch_run(hd_table *t, hd_op op, const char *kernel, uint64_t n, const uint64_t *key, void *value,
                      uint8_t *fate)
{
    bool writes = op == HD_OP_INSERT_OR_ASSIGN || op == HD_OP_ASSIGN || op == HD_OP_FIND_OR_INSERT;
    hd_batch b = { .op = op,
                   .n = n,
                   .key = key,
                   .value = writes ? value : NULL,
                   .value_out = op == HD_OP_FIND ? value : NULL,
                   .outcome = fate,
                   .kernel = kernel };
    must(hd_run(t, &b));
}

/* Fills by the kernel that is fastest here, in an order that the reference repeats: one key of a batch after another.
 * How many came. */
static uint64_t fill(const words *w, hd_table *t, hd_table *ref, void *value)
{
    enum { N = 256 };
    uint64_t key[N], came = 0;
    uint8_t fate[N];
    for (double load = 0; w->load < 1 ? load < w->load : came < 5 * w->capacity; came += N) {
        for (int i = 0; i < N; i++) key[i] = hd_scramble(came + (uint64_t)i);
        batch_run(ref, HD_OP_INSERT_OR_ASSIGN, NULL, N, key, value, fate);
        batch_run(t, HD_OP_INSERT_OR_ASSIGN, "tlpv1", N, key, value, fate);
        must(hd_load_factor_sync(ref, &load));
    }
    return came;
}

/* ---- Counting -------------------------------------------------------------------------------- */

static void set_add(set *s, uint64_t x)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->of[i] == x) return;
    if (s->n == MOST) stop("places", "more than there is room for");
    s->of[s->n++] = x;
}

static void add_units(set *s, uint64_t at, uint32_t bytes, uint32_t unit)
{
    for (uint64_t x = at / unit; x <= (at + bytes - 1) / unit; x++) set_add(s, x);
}

static bool is_atomic(const char *what)
{
    return strcmp(what, "cas") == 0 || strcmp(what, "exch") == 0 || strcmp(what, "add") == 0 ||
           strcmp(what, "min") == 0;
}

/* Adds what the machine's last run touched. */
static void count(const simt_machine *m, bool pairs, counts *c)
{
    static set lines, digests, keys, key_sectors, scores, bounds, values;
    size_t n;
    const simt_event *e = simt_machine_events(m, &n);
    lines.n = digests.n = keys.n = key_sectors.n = scores.n = bounds.n = values.n = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t at = 0;
        const char *name = e[i].p ? simt_machine_name(m, e[i].p, &at) : "";
        if (strcmp(name, "digests") == 0)
            add_units(&lines, at, e[i].bytes, LINE), add_units(&digests, at, e[i].bytes, SECTOR);
        if (strcmp(name, "keys") == 0 || strcmp(name, "pairs") == 0) {
            if (strcmp(name, "keys") == 0 || at % 16 == 0) add_units(&keys, at, e[i].bytes, pairs ? 16 : 8);
            add_units(&key_sectors, at, e[i].bytes, SECTOR);
        }
        if (strcmp(name, "scores") == 0) add_units(&scores, at, e[i].bytes, SECTOR);
        if (strcmp(name, "bounds") == 0) add_units(&bounds, at, e[i].bytes, SECTOR);
        if (strcmp(name, "values") == 0) add_units(&values, at, e[i].bytes, SECTOR);
        c->atomics += is_atomic(e[i].what) && strcmp(name, "tally") != 0;
    }
    c->digest_lines += lines.n;
    c->digest_sectors += digests.n;
    c->keys += keys.n;
    c->key_sectors += key_sectors.n;
    c->score_sectors += scores.n;
    c->bound_sectors += bounds.n;
    c->value_sectors += values.n;
}

static counts measure(const words *w, hd_op op)
{
    counts c = { 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    uint8_t *value = (uint8_t *)calloc(256, w->values + 1), fate, want;
    hd_table *t = table_open(w, "host"), *ref = table_open(w, "ref");
    uint64_t came = fill(w, t, ref, value), there = came;
    simt_config m = simt_config_in_turn();
    m.quiet = m.trace = true;
    must(hd_host_configure(t, &m));
    /* not counted: lower bounds become what they are in use */
    uint64_t settle = op == HD_OP_INSERT_OR_ASSIGN ? w->capacity / 16 : 0;
    for (uint64_t i = 0; i < settle + w->keys; i++) {
        uint64_t key = hd_scramble((1ull << 40) + i);
        for (fate = HD_MISS; w->hits && fate != HD_HIT;) { /* the younger ones are there */
            key = hd_scramble(--there);
            batch_run(ref, HD_OP_CONTAINS, NULL, 1, &key, NULL, &fate);
        }
        batch_run(ref, op, NULL, 1, &key, value, &want);
        batch_run(t, op, w->kernel, 1, &key, value, &fate);
        if (i < settle) continue;
        c.agree += fate == want;
        count(hd_host_machine(t), strcmp(w->layout, "pairs") == 0, &c);
    }
    hd_close(t);
    hd_close(ref);
    free(value);
    return c;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static void say(int words_n, char **word, const char *what, uint64_t n, uint64_t keys)
{
    for (int i = 1; i < words_n; i++) printf("%s ", word[i]);
    printf("what=%s\t%.6g\n", what, (double)n / (double)keys);
}

int main(int argc, char **argv)
{
    words w = { .kernel = "tlpv1", .layout = "planes", .policy = "lru", .capacity = 1 << 14, .keys = 1000, .load = 1 };
    if (argc < 2) stop("usage", "places OPERATION [NAME=VALUE ...]");
    snprintf(w.op, sizeof w.op, "%s", argv[1]);
    const word_row rows[] = {
        /* clang-format off */
        { "kernel=", WORD_TEXT, 0, w.kernel },
        { "layout=", WORD_TEXT, 0, w.layout },
        { "policy=", WORD_TEXT, 0, w.policy },
        { "load=", WORD_REAL, 1, &w.load },
        { "capacity=", WORD_WHOLE, 1 << 20, &w.capacity },
        { "values=", WORD_WHOLE, 4096, &w.values },
        { "keys=", WORD_WHOLE, 1 << 16, &w.keys },
        { "dual=", WORD_WHOLE, 1, &w.dual },
        { "hits=", WORD_WHOLE, 1, &w.hits },
        /* clang-format on */
    };
    WORDS_READ(argv + 2, argc > 2 ? argc - 2 : 0, rows);
    int op = 0;
    while (op < HD_OP_COUNT_ && strcmp(hd_op_name((hd_op)op), w.op) != 0) op++;
    if (op == HD_OP_COUNT_) stop("there is no such operation", w.op);
    counts c = measure(&w, (hd_op)op);
    say(argc, argv, "digest_lines", c.digest_lines, w.keys);
    say(argc, argv, "keys", c.keys, w.keys);
    say(argc, argv, "key_sectors", c.key_sectors, w.keys);
    say(argc, argv, "score_sectors", c.score_sectors, w.keys);
    say(argc, argv, "bound_sectors", c.bound_sectors, w.keys);
    say(argc, argv, "table_sectors",
        c.digest_sectors + c.key_sectors + c.score_sectors + c.bound_sectors + c.value_sectors, w.keys);
    say(argc, argv, "atomics", c.atomics, w.keys);
    say(argc, argv, "agrees", c.agree, w.keys);
    return 0;
}

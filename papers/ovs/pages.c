/* SPDX-License-Identifier: Apache-2.0
 *
 * pages.c - which pages of a table the operations of the oversubscription paper touch, and what the model of paging.h
 * makes of them. Runs without a GPU.
 *
 *     pages head
 *     pages run   [NAME=VALUE ...]     batches of one operation on one table, a line
 *     pages probe [NAME=VALUE ...]     exhaustive: do the probe sequences of every small table reach every slot?
 *
 * Tables hold slots of 8 bytes: a 32-bit key (0: empty) and a value. Both are those of the authors' public code:
 *
 *     one   one table (HT-UVM, section 3.1) of keys / load slots, rounded up to an odd number. A group of lanes reads
 *           `group` slots from key * 11400714819323198485 mod slots on, then those after them
 *     two   an outer array of entries of 16 bytes, one for each range of 2^inner keys, and for each range a table like
 *           the above one (HT-OVS, section 4.1). Its slots are the least prime from 2^inner / load on
 *
 * Sizes are those of the paper, divided by `scale`: keys, batches, ranges of keys, memory. Pages, blocks, groups and
 * inner tables are not scaled, so that counts per item stay as they are as long as there are many blocks.
 *
 *     table=one|two          kind=su (workload/keys_pattern.c)  range=sparse|artifact  seed=1
 *     keys=4000 (millions)   batch=100 (millions)               memory=16384 (MiB of the GPU)   scale=256
 *     op=insert|find|miss    hold=4000: find and miss read a table that so many millions of the kind's keys are in
 *     sort=none|key|range|hash   of each batch; hash: by the slot at which a search begins
 *     far=move|remote            pages that are not there are fetched, or accessed over the bus
 *     recent=fault|use           prefetch=1|0                   group=16   load=0.9 (one), 1 (two)   inner=20
 *
 * What the table has is the memory less the keys and values of a batch. Counts: items; table and frames in blocks of
 * 2 MiB; per item groups and sectors of 32 bytes of the table and of the outer array; faults, pages fetched, written
 * and different ones touched; sectors over the bus.
 */
#define EXPERIMENT "pages"
#include "papers/words.h"
#include "papers/ovs/batches.h"

enum { SLOT = PAIR };

typedef struct words {
    inputs in;
    char table[16], far[16], recent[16];
    uint64_t prefetch, group, inner;
    double load;
} words;

/* ---- Tables ---------------------------------------------------------------------------------- */

static bool is_prime(uint64_t n)
{
    for (uint64_t d = 2; d * d <= n; d++)
        if (n % d == 0) return false;
    return n > 1;
}

static uint64_t prime_from(uint64_t n)
{
    while (!is_prime(n)) n++;
    return n;
}

typedef struct table {
    uint32_t *key;                 /* parts x slots                               */
    uint64_t parts, slots, stride; /* stride: bytes from one part to the next     */
    unsigned inner;                /* a part has 2^inner keys; 64: there is one   */
    uint64_t group;
    bool *filled;  /* a part that has a key                       */
    paging *pages; /* NULL: accesses are not modelled             */
    uint64_t groups, sectors, outer_sectors;
} table;

static table table_of(const words *w, uint64_t most_key)
{
    table t = { .group = w->group, .inner = 64, .parts = 1 };
    if (strcmp(w->table, "two") == 0) {
        t.inner = (unsigned)w->inner;
        t.parts = (most_key >> t.inner) + 1;
        t.slots = prime_from((uint64_t)((double)(1ull << t.inner) / w->load));
        t.stride = ((t.slots * SLOT - 1) >> PAGE_BITS << PAGE_BITS) + (1 << PAGE_BITS);
    } else {
        const double held = strcmp(w->in.op, "insert") == 0 ? w->in.keys : w->in.hold;
        t.slots = (uint64_t)((double)scaled_millions(held, &w->in) / w->load) | 1;
        t.stride = t.slots * SLOT;
    }
    t.key = (uint32_t *)calloc(t.parts * t.slots, sizeof *t.key);
    t.filled = (bool *)calloc(t.parts, sizeof *t.filled);
    if (!t.key || !t.filled) stop("table", "there is no memory");
    return t;
}

static uint64_t start_of(const table *t, uint64_t key) { return key * 11400714819323198485u % t->slots; }
static uint64_t part_of(const table *t, uint64_t key) { return t->inner < 64 ? key >> t->inner : 0; }

static void touch(table *t, uint64_t at, uint64_t bytes, bool write)
{
    t->sectors += (at + bytes - 1) / SECTOR - at / SECTOR + 1;
    paging_touch(t->pages, at, bytes, write);
}

/* The slots from `slot` on that a group reads, which may go on at the table's beginning. */
static void touch_group(table *t, uint64_t base, uint64_t slot)
{
    const uint64_t left = t->slots - slot, now = left < t->group ? left : t->group;
    if (!t->pages) return;
    t->groups++;
    touch(t, base + slot * SLOT, now * SLOT, false);
    if (now < t->group) touch(t, base, (t->group - now) * SLOT, false);
}

/* The slot of the key, else the first empty one of the first group that has one, else UINT64_MAX. */
static uint64_t slot_find(table *t, uint64_t part, uint32_t key)
{
    const uint32_t *k = t->key + part * t->slots;
    uint64_t slot = start_of(t, key);
    for (uint64_t seen = 0; seen < t->slots; seen += t->group) {
        uint64_t empty = UINT64_MAX;
        touch_group(t, part * t->stride, slot);
        for (uint64_t lane = 0, at = slot; lane < t->group; lane++, at = at + 1 < t->slots ? at + 1 : 0) {
            if (k[at] == key) return at;
            if (!k[at] && empty == UINT64_MAX) empty = at;
        }
        if (empty != UINT64_MAX) return empty;
        slot = (slot + t->group) % t->slots;
    }
    return UINT64_MAX;
}

/* The key's word is exchanged if it is new; the value is stored in any case. */
static void insert(table *t, uint32_t key)
{
    const uint64_t part = part_of(t, key), slot = slot_find(t, part, key);
    if (slot == UINT64_MAX) stop("insert", "a table is full");
    uint32_t *k = &t->key[part * t->slots + slot];
    if (t->pages) {
        const uint64_t at = part * t->stride + slot * SLOT;
        if (!*k) touch(t, at, SLOT / 2, true);
        touch(t, at + SLOT / 2, SLOT / 2, true);
        if (t->inner < 64) t->outer_sectors += 1u + !*k; /* it is read, and counts a new key */
    }
    t->filled[part] = true;
    *k = key;
}

/* A range without a key ends a search in the outer array. Whether the key was there. */
static bool find(table *t, uint32_t key)
{
    const uint64_t part = part_of(t, key);
    t->outer_sectors += t->inner < 64;
    if (part >= t->parts || (t->inner < 64 && !t->filled[part])) return false;
    const uint64_t slot = slot_find(t, part, key);
    if (slot == UINT64_MAX || !t->key[part * t->slots + slot]) return false;
    touch(t, part * t->stride + slot * SLOT + SLOT / 2, SLOT / 2, false);
    return true;
}

/* ---- Batches --------------------------------------------------------------------------------- */

static uint32_t rank_of(const words *w, const table *t, uint32_t key)
{
    if (strcmp(w->in.sort, "range") == 0) return key >> w->inner;
    return strcmp(w->in.sort, "hash") == 0 ? (uint32_t)start_of(t, key) : key;
}

static void batch_run(const words *w, table *t, batches *b)
{
    const bool inserts = strcmp(w->in.op, "insert") == 0;
    uint64_t found = 0;
    if (strcmp(w->in.sort, "none") != 0) {
        for (uint64_t i = 0; i < b->n; i++) b->items[i].rank = rank_of(w, t, b->items[i].key);
        batch_sort(b);
    }
    for (uint64_t i = 0; i < b->n; i++) {
        if (inserts)
            insert(t, b->items[i].key);
        else
            found += find(t, b->items[i].key);
    }
    if (!inserts && found != (strcmp(w->in.op, "find") == 0 ? b->n : 0)) stop(w->in.op, "a search has a wrong result");
}

static void fill(const words *w, table *t)
{
    batches b = batches_of(&w->in, w->in.hold, 0);
    while (batch_next(&b))
        for (uint64_t i = 0; i < b.n; i++) insert(t, b.items[i].key);
    batches_close(&b);
}

/* ---- The modes ------------------------------------------------------------------------------- */

static const char head[] =
    "table\tkind\trange\tkeys\tbatch\top\thold\tsort\tfar\trecent\tprefetch\tgroup\tload\tinner\t"
    "memory\tscale\titems\tblocks\tframes\tgroups\tsectors\touter_sectors\tfaults\tfetched\t"
    "written\ttouched\tremote";

static void print(const words *w, const table *t, const paging *p, uint64_t items)
{
    const inputs *in = &w->in;
    const double n = (double)items;
    printf("%s\t%s\t%s\t%g\t%g\t%s\t%g\t%s\t%s\t%s\t%d\t%d\t%g\t%d\t%g\t%d\t", w->table, in->kind, in->range, in->keys,
           in->batch, in->op, strcmp(in->op, "insert") ? in->hold : 0, in->sort, w->far, w->recent, (int)w->prefetch,
           (int)w->group, w->load, t->inner < 64 ? (int)t->inner : 0, in->memory, (int)in->scale);
    printf("%llu\t%llu\t%llu\t%.5g\t%.5g\t%.5g\t%llu\t%llu\t%llu\t%llu\t%llu\n", (unsigned long long)items,
           (unsigned long long)p->blocks, (unsigned long long)p->frames, (double)t->groups / n, (double)t->sectors / n,
           (double)t->outer_sectors / n, (unsigned long long)p->faults, (unsigned long long)p->fetched,
           (unsigned long long)p->written, (unsigned long long)p->touched, (unsigned long long)p->sectors);
}

static void run(const words *w)
{
    paging p = { .by_use = strcmp(w->recent, "use") == 0,
                 .prefetch = w->prefetch != 0,
                 .remote = strcmp(w->far, "remote") == 0 };
    table t = table_of(w, top_key(&w->in));
    if (strcmp(w->in.op, "insert") != 0) fill(w, &t);
    if (!paging_start(&p, t.parts * t.stride, room_of(&w->in))) stop("table", "there is no memory");
    t.pages = &p;
    batches b = batches_of(&w->in, w->in.keys, strcmp(w->in.op, "miss") == 0 ? top_key(&w->in) + 1 : 0);
    while (batch_next(&b)) batch_run(w, &t, &b);
    print(w, &t, &p, scaled_millions(w->in.keys, &w->in));
    batches_close(&b);
    free(t.key);
    free(t.filled);
    free(p.block);
}

/* Of every table of up to 1,024 slots, group and step, whether each slot is read within as many groups as there are
 * slots, and after how many groups at the latest. A line for each kind of step: that of the public code, which is the
 * group, and one of double hashing that has no divisor in common with the slots, or has one. */
static void probe(const words *w)
{
    enum { MOST = 1024 };
    static const char *const steps[] = { "group, coprime", "group, not coprime", "hash, coprime", "hash, not coprime" };
    uint64_t tables[4] = { 0 }, missed[4] = { 0 };
    double latest[4] = { 0 };
    for (uint64_t slots = 1; slots <= MOST; slots++)
        for (uint64_t step = 1; step <= (slots > w->group ? slots : w->group); step++) {
            bool seen[MOST] = { false };
            uint64_t left = slots, probes = 0, a = slots, b = step;
            for (uint64_t slot = 0; left && probes < slots; probes++, slot = (slot + step) % slots)
                for (uint64_t lane = 0; lane < w->group; lane++) {
                    left -= !seen[(slot + lane) % slots];
                    seen[(slot + lane) % slots] = true;
                }
            while (b) {
                uint64_t rest = a % b;
                a = b;
                b = rest;
            }
            const int kind = 2 * (step != w->group) + (a != 1);
            const double share = (double)probes / (double)((slots + w->group - 1) / w->group);
            tables[kind]++;
            missed[kind] += left > 0;
            if (!left && share > latest[kind]) latest[kind] = share;
        }
    for (int i = 0; i < 4; i++)
        printf("%d\t%s\t%llu\t%llu\t%g\n", (int)w->group, steps[i], (unsigned long long)tables[i],
               (unsigned long long)missed[i], latest[i]);
}

/* ---- The command line ------------------------------------------------------------------------ */

static void words_check(const words *w)
{
    inputs_check(&w->in);
    one_of("table", w->table, (const char *const[]){ "one", "two", NULL });
    one_of("op", w->in.op, (const char *const[]){ "insert", "find", "miss", NULL });
    one_of("sort", w->in.sort, (const char *const[]){ "none", "key", "range", "hash", NULL });
    one_of("far", w->far, (const char *const[]){ "move", "remote", NULL });
    one_of("recent", w->recent, (const char *const[]){ "fault", "use", NULL });
    if (strcmp(w->table, "two") == 0 && strcmp(w->in.sort, "hash") == 0) stop("sort", "hash is of one table");
    if (w->group == 0 || w->inner < 4 || w->load <= 0) stop("group, inner, load", "out of range");
}

int main(int argc, char **argv)
{
    words w = { .in = { .kind = "su",
                        .range = "sparse",
                        .op = "insert",
                        .sort = "none",
                        .seed = 1,
                        .scale = 256,
                        .keys = 4000,
                        .batch = 100,
                        .hold = 4000,
                        .memory = 16384 },
                .table = "one",
                .far = "move",
                .recent = "fault",
                .prefetch = 1,
                .group = 16,
                .inner = 20 };
    const word_row rows[] = {
        /* clang-format off */
        { "table=", WORD_TEXT, 0, w.table }, { "kind=", WORD_TEXT, 0, w.in.kind },
        { "range=", WORD_TEXT, 0, w.in.range }, { "op=", WORD_TEXT, 0, w.in.op }, { "sort=", WORD_TEXT, 0, w.in.sort },
        { "far=", WORD_TEXT, 0, w.far }, { "recent=", WORD_TEXT, 0, w.recent },
        { "seed=", WORD_WHOLE, UINT32_MAX, &w.in.seed }, { "scale=", WORD_WHOLE, 1 << 20, &w.in.scale },
        { "prefetch=", WORD_WHOLE, 1, &w.prefetch }, { "group=", WORD_WHOLE, 32, &w.group },
        { "inner=", WORD_WHOLE, 30, &w.inner }, { "keys=", WORD_REAL, 4294, &w.in.keys },
        { "batch=", WORD_REAL, 4294, &w.in.batch }, { "memory=", WORD_REAL, 1 << 20, &w.in.memory },
        { "hold=", WORD_REAL, 4294, &w.in.hold }, { "load=", WORD_REAL, 1, &w.load },
        /* clang-format on */
    };
    if (argc < 2) stop("usage", "pages head|run|probe [NAME=VALUE ...]");
    WORDS_READ(argv + 2, argc - 2, rows);
    if (w.load == 0) w.load = strcmp(w.table, "two") == 0 ? 1 : 0.9;
    words_check(&w);
    if (strcmp(argv[1], "head") == 0)
        puts(head);
    else if (strcmp(argv[1], "run") == 0)
        run(&w);
    else if (strcmp(argv[1], "probe") == 0)
        probe(&w);
    else
        stop("there is no such mode", argv[1]);
    return fflush(stdout) || ferror(stdout) ? 4 : 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * chunks.c - the skip list of the oversubscription paper (GFSL, sections 2.2, 3.2 and 4.2), one operation after the
 * other: its chunks, the moves of its searches, and the pages that they touch (paging.h). Runs without a GPU.
 *
 *     chunks head
 *     chunks run [NAME=VALUE ...]      batches of one operation on one list, a line
 *
 * A chunk is 32 words of 8 bytes: 30 of a key and a value or the number of a chunk one level below, one of the chunk's
 * greatest key and the next chunk, a lock. Chunks are numbered in the order in which they are taken. The first chunk of
 * each level has the key 0. A search begins in the first chunk of the highest level. Where the greatest key is less
 * than the key, it moves to the next chunk (lateral). Else it moves to the chunk below (down), by the last key that is
 * not greater; if all keys are greater, by the last key of the chunk before.
 *
 * A full chunk is split: 14 keys move to a new one, pointers to it are repaired one level up, and a key is raised:
 *
 *     raise=code   what the authors' public code does: the greater one of the inserted key and the least moved key,
 *                  with the number of the chunk that the inserted key is in, which may be the old one
 *     raise=least  the new chunk's least key with its number, as a search needs it
 *
 * An erase that leaves at most ten keys moves them to the next chunk, which is split before if it has no room, and
 * repairs the pointers to them. Emptied chunks are passed by and unlinked by later searches, and not used again. The
 * public code repairs from the erased key on if it was the chunk's least. It then searches for a key that the level
 * below does not have any more, and the search may begin again without end. `stuck` counts these; here the repair
 * begins at the next key.
 *
 *     table=one|two          one list (SL-UVM), or one for each range of 2^inner keys (SL-OVS)      inner=21
 *     op=insert|find|erase   index=far|near: near: chunks of higher levels are in device memory, and take their share
 *     kind, range, seed, keys, batch, hold, memory, scale, recent, prefetch   as in pages.c
 *     sort=none|key
 *
 * After the batches the lists are checked: level 0 has each key that was inserted and not erased, in order.
 */
#define EXPERIMENT "chunks"
#include "papers/words.h"
#include "papers/ovs/batches.h"

enum { WORDS = 30, CHUNK = 256, LEVELS = 31, MERGE = WORDS / 3, STAY = WORDS / 2 + 1 };

typedef struct words {
    inputs in;
    char table[16], index[16], raise[16], recent[16];
    uint64_t inner, prefetch;
} words;

/* ---- Chunks ---------------------------------------------------------------------------------- */

typedef struct chunk {
    uint32_t key[WORDS], below[WORDS]; /* below: of level 0 not used                 */
    uint32_t greatest, next;           /* UINT32_MAX of the last chunk; NOWHERE      */
    uint8_t used, level;
    bool emptied;
} chunk;

typedef struct list {
    chunk *at;
    uint32_t taken, most;
    uint32_t first[LEVELS], many[LEVELS]; /* chunks of a level, as the head counts them */
    uint64_t base;                        /* of chunk 0, in bytes                       */
} list;

typedef struct counts {
    uint64_t reads, lateral, down, lateral_index, down_index, splits, merges, exchanges, stuck;
} counts;

typedef struct model {
    const words *w;
    list *lists;
    uint64_t parts;
    unsigned inner;
    bool least, near_index;
    paging *pages; /* NULL: accesses are not modelled */
    counts n;
} model;

static chunk *touch(model *m, list *l, uint32_t c, bool write)
{
    chunk *k = &l->at[c];
    if (!m->pages) return k;
    m->n.reads += !write;
    if (!m->near_index || k->level == 0) paging_touch(m->pages, l->base + (uint64_t)c * CHUNK, CHUNK, write);
    return k;
}

static uint32_t chunk_take(list *l, unsigned level)
{
    if (l->taken == l->most) stop("chunks", "the pool is empty");
    chunk *k = &l->at[l->taken];
    *k = (chunk){ .greatest = UINT32_MAX, .next = NOWHERE, .level = (uint8_t)level };
    return l->taken++;
}

/* The last word whose key is not greater, or -1. */
static int word_of(const chunk *k, uint32_t key)
{
    int i = k->used - 1;
    while (i >= 0 && k->key[i] > key) i--;
    return i;
}

static void list_open(list *l, uint32_t most, uint64_t base)
{
    *l = (list){ .most = most, .base = base };
    l->at = (chunk *)calloc(most, sizeof *l->at);
    if (!l->at) stop("chunks", "there is no memory");
    for (unsigned level = 0; level < LEVELS; level++) {
        l->first[level] = chunk_take(l, level);
        l->at[level].used = 1; /* the key 0 */
        l->at[level].below[0] = level ? level - 1 : NOWHERE;
    }
    l->many[0] = 1;
}

static unsigned height_of(const list *l)
{
    unsigned level = LEVELS - 1;
    while (level && !l->many[level]) level--;
    return level;
}

/* ---- Search ---------------------------------------------------------------------------------- */

static void moved(model *m, unsigned level, bool lateral)
{
    if (!m->pages) return;
    *(lateral ? &m->n.lateral : &m->n.down) += 1;
    if (level) *(lateral ? &m->n.lateral_index : &m->n.down_index) += 1;
}

/* Past emptied chunks from c on. The chunk before them is linked to what comes after; if there is none, the last
 * emptied one takes its place in *before. */
static uint32_t emptied_pass(model *m, list *l, unsigned level, uint32_t *before, uint32_t c)
{
    uint32_t last = NOWHERE;
    for (; l->at[c].emptied; c = l->at[c].next) {
        touch(m, l, c, false);
        moved(m, level, true);
        last = c;
    }
    if (last == NOWHERE) return c;
    if (*before == NOWHERE)
        *before = last;
    else if (!l->at[*before].emptied)
        touch(m, l, *before, true)->next = c;
    return c;
}

/* The chunk of the level, from c on, which the key belongs in; *before: the one to its left, if the way came by it. */
static uint32_t walk(model *m, list *l, unsigned level, uint32_t c, uint32_t key, uint32_t *before)
{
    *before = NOWHERE;
    for (;;) {
        c = emptied_pass(m, l, level, before, c);
        const chunk *k = touch(m, l, c, false);
        if (k->greatest >= key) return c;
        moved(m, level, true);
        *before = c;
        c = k->next;
    }
}

/* path: of each level the chunk that the way led down from; of level 0 the chunk which the key belongs in. */
static void search(model *m, list *l, uint32_t key, uint32_t path[LEVELS])
{
    uint32_t before;
    memcpy(path, l->first, sizeof l->first);
    unsigned level = height_of(l);
    for (uint32_t c = l->first[level];; level--) {
        c = walk(m, l, level, c, key, &before);
        if (level && word_of(&l->at[c], key) < 0) c = before; /* back */
        path[level] = c;
        if (!level) return;
        if (c == NOWHERE || word_of(&l->at[c], key) < 0) stop("search", "a pointer leads past the key");
        moved(m, level, false);
        c = l->at[c].below[word_of(&l->at[c], key)];
    }
}

static bool has(const chunk *k, uint32_t key)
{
    const int i = word_of(k, key);
    return i >= 0 && k->key[i] == key;
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* Each word that is shifted is an exchange, and the new one. */
static void word_insert(model *m, chunk *k, uint32_t key, uint32_t below)
{
    const int at = word_of(k, key) + 1;
    for (int i = k->used; i > at; i--) {
        k->key[i] = k->key[i - 1];
        k->below[i] = k->below[i - 1];
    }
    k->key[at] = key;
    k->below[at] = below;
    if (m->pages) m->n.exchanges += (uint64_t)(k->used - at + 1);
    k->used++;
}

static void word_erase(model *m, chunk *k, uint32_t key)
{
    const int at = word_of(k, key);
    if (at == k->used - 1 && k->next != NOWHERE) k->greatest = at ? k->key[at - 1] : 0;
    for (int i = at; i + 1 < k->used; i++) {
        k->key[i] = k->key[i + 1];
        k->below[i] = k->below[i + 1];
    }
    if (m->pages) m->n.exchanges += (uint64_t)(k->used - at);
    k->used--;
}

/* The keys from word `stay` on, to a new chunk. */
static uint32_t chunk_split(model *m, list *l, uint32_t c, unsigned level, uint8_t stay)
{
    const uint32_t added = chunk_take(l, level);
    chunk *from = touch(m, l, c, true), *to = touch(m, l, added, true);
    if (from->next != NOWHERE) { /* the next chunk is locked meanwhile */
        moved(m, level, true);
        uint32_t before = c;
        touch(m, l, emptied_pass(m, l, level, &before, from->next), true);
    }
    to->used = (uint8_t)(from->used - stay);
    memcpy(to->key, from->key + stay, to->used * sizeof *to->key);
    memcpy(to->below, from->below + stay, to->used * sizeof *to->below);
    to->greatest = from->greatest;
    to->next = from->next;
    from->used = stay;
    from->greatest = from->key[stay - 1];
    from->next = added;
    return added;
}

/* Pointers of the level above to keys that moved. path: that of the least of them. */
static void pointers_repair(model *m, list *l, unsigned level, uint32_t to, uint32_t least, uint32_t most,
                            uint32_t path[LEVELS])
{
    if (level + 1 >= LEVELS) return;
    search(m, l, least, path);
    for (uint32_t c = path[level + 1]; c != NOWHERE;) {
        chunk *k = touch(m, l, c, false);
        bool any = false;
        for (int i = 0; i < k->used && !k->emptied; i++)
            if (k->key[i] >= least && k->key[i] <= most) {
                k->below[i] = to;
                any = true;
            }
        if (any) touch(m, l, c, true);
        if (k->greatest > most) return;
        moved(m, level + 1, true);
        c = k->next;
    }
}

typedef struct raised {
    uint32_t key, below;
    bool any;
} raised;

/* A key into a full chunk; what is raised. path: the key's; of a lesser one that is raised, then its own. */
static raised split_insert(model *m, list *l, uint32_t c, unsigned level, raised one, uint32_t path[LEVELS])
{
    uint32_t of_least[LEVELS];
    const uint32_t key = one.key;
    const uint32_t added = chunk_split(m, l, c, level, STAY);
    const uint32_t least = l->at[added].key[0], most = l->at[added].key[WORDS - STAY - 1];
    const uint32_t in = key > l->at[c].greatest ? added : c;
    word_insert(m, &l->at[in], key, one.below);
    if (m->pages) m->n.splits++;
    pointers_repair(m, l, level, added, least, most, of_least);
    l->many[level]++;
    if (m->least && least < key) memcpy(path, of_least, sizeof of_least);
    if (m->least) return (raised){ l->at[added].key[0], added, true };
    return (raised){ key > least ? key : least, in, true };
}

static bool insert(model *m, list *l, uint32_t key)
{
    uint32_t path[LEVELS], before;
    search(m, l, key, path);
    if (has(&l->at[path[0]], key)) return false;
    raised r = { key, NOWHERE, true };
    for (unsigned level = 0; r.any && level < LEVELS; level++) {
        const uint32_t c = walk(m, l, level, path[level], r.key, &before);
        if (has(&l->at[c], r.key)) break;
        if (l->at[c].used == WORDS) {
            r = split_insert(m, l, c, level, r, path);
            continue;
        }
        word_insert(m, touch(m, l, c, true), r.key, r.below);
        if (level && !l->many[level]) l->many[level] = 1;
        break;
    }
    return true;
}

/* Whether a search that is led to the chunk goes on from there. */
static bool leads_on(const list *l, uint32_t c, uint32_t key)
{
    return l->at[c].emptied || word_of(&l->at[c], key) >= 0;
}

/* A chunk that would keep too few keys: the others go to the next one. Searches that are led to it still read it. */
static void merge(model *m, list *l, uint32_t c, unsigned level, uint32_t key)
{
    uint32_t before = c, path[LEVELS];
    const uint32_t next = emptied_pass(m, l, level, &before, l->at[c].next);
    chunk *from = touch(m, l, c, true), *to = touch(m, l, next, true), kept = *from;
    word_erase(m, &kept, key);
    if (to->used + kept.used > WORDS)
        chunk_split(m, l, next, level, (uint8_t)(to->used / 2 + 1));
    else
        l->many[level]--;
    memmove(to->key + kept.used, to->key, to->used * sizeof *to->key);
    memmove(to->below + kept.used, to->below, to->used * sizeof *to->below);
    memcpy(to->key, kept.key, kept.used * sizeof *to->key);
    memcpy(to->below, kept.below, kept.used * sizeof *to->below);
    to->used = (uint8_t)(to->used + kept.used);
    from->emptied = true;
    if (m->pages) m->n.merges++;
    if (m->pages && from->key[0] == key) m->n.stuck += level > 1 && !leads_on(l, from->below[0], key);
    pointers_repair(m, l, level, next, kept.key[0], kept.key[kept.used - 1], path);
}

static bool erase(model *m, list *l, uint32_t key)
{
    uint32_t path[LEVELS], before;
    search(m, l, key, path);
    if (!has(&l->at[path[0]], key)) return false;
    for (unsigned level = 0, height = height_of(l); level <= height; level++) {
        const uint32_t c = walk(m, l, level, path[level], key, &before);
        chunk *k = &l->at[c];
        if (!has(k, key)) break;
        if (k->next == NOWHERE || k->used - 1 > MERGE)
            word_erase(m, touch(m, l, c, true), key);
        else
            merge(m, l, c, level, key);
    }
    return true;
}

/* ---- Lists that are whole -------------------------------------------------------------------- */

typedef struct shape {
    uint64_t keys, chunks, data, fewest; /* data: chunks of level 0; fewest: keys of one that is not the last */
    unsigned height;
} shape;

static void level_add(const list *l, unsigned level, shape *s)
{
    uint64_t last = 0;
    for (uint32_t c = l->first[level]; c != NOWHERE; c = l->at[c].next) {
        const chunk *k = &l->at[c];
        if (k->emptied) continue;
        s->chunks++;
        s->data += level == 0;
        if (level == 0 && k->next != NOWHERE && k->used < s->fewest) s->fewest = k->used;
        for (int i = 0; i < k->used; i++) {
            if (k->key[i] < last || (k->key[i] == last && last)) stop("list", "keys are not in order");
            last = k->key[i];
            s->keys += level == 0 && last;
        }
        if (k->used && k->greatest < last) stop("list", "a key is greater than its chunk's greatest");
    }
}

static shape shape_of(const model *m)
{
    shape s = { .fewest = WORDS };
    for (uint64_t i = 0; i < m->parts; i++) {
        const list *l = &m->lists[i];
        const unsigned height = height_of(l);
        for (unsigned level = 0; level <= height; level++) level_add(l, level, &s);
        if (height > s.height) s.height = height;
    }
    return s;
}

/* ---- Batches --------------------------------------------------------------------------------- */

static model model_of(const words *w)
{
    const inputs *in = &w->in;
    const bool two = strcmp(w->table, "two") == 0;
    const double held = strcmp(in->op, "insert") == 0 ? in->keys : in->hold;
    model m = { .w = w,
                .inner = two ? (unsigned)w->inner : 64,
                .least = strcmp(w->raise, "least") == 0,
                .near_index = strcmp(w->index, "near") == 0 };
    m.parts = two ? (top_key(in) >> w->inner) + 1 : 1;
    const uint64_t keys = two ? 1ull << w->inner : scaled_millions(held, in), most = keys / 13 + 4096;
    m.lists = (list *)calloc(m.parts, sizeof *m.lists);
    if (!m.lists || most > UINT32_MAX) stop("chunks", "there is no memory");
    for (uint64_t i = 0; i < m.parts; i++) list_open(&m.lists[i], (uint32_t)most, i * most * CHUNK);
    return m;
}

/* Runs one operation on each; how many of the items did something. */
static uint64_t batch_run(model *m, batches *b, bool (*one)(model *m, list *l, uint32_t key), bool sorted)
{
    uint64_t done = 0;
    for (uint64_t i = 0; i < b->n; i++) b->items[i].rank = b->items[i].key;
    if (sorted) batch_sort(b);
    for (uint64_t i = 0; i < b->n; i++) {
        const uint32_t key = b->items[i].key;
        done += one(m, &m->lists[m->inner < 64 ? key >> m->inner : 0], key);
    }
    return done;
}

static bool find(model *m, list *l, uint32_t key)
{
    uint32_t path[LEVELS];
    search(m, l, key, path);
    return has(&l->at[path[0]], key);
}

static const char head[] =
    "table\tkind\trange\tkeys\tbatch\top\thold\tsort\tindex\traise\trecent\tprefetch\tinner\t"
    "memory\tscale\titems\tdone\tblocks\tframes\tchunks\tdata\theight\tfewest\ttaken\treads\t"
    "lateral\tdown\tlateral_index\tdown_index\tsplits\tmerges\texchanges\tstuck\tfaults\tfetched\t"
    "written\ttouched";

#define LLU(x) (unsigned long long)(x)

static void print(const model *m, uint64_t items, uint64_t done)
{
    const words *w = m->w;
    const inputs *in = &w->in;
    const counts *n = &m->n;
    const paging *p = m->pages;
    const shape s = shape_of(m);
    uint64_t taken = 0;
    for (uint64_t i = 0; i < m->parts; i++) taken += m->lists[i].taken;
    printf("%s\t%s\t%s\t%g\t%g\t%s\t%g\t%s\t%s\t%s\t%s\t%d\t%d\t%g\t%d\t", w->table, in->kind, in->range, in->keys,
           in->batch, in->op, strcmp(in->op, "insert") ? in->hold : 0, in->sort, w->index, w->raise, w->recent,
           (int)w->prefetch, m->inner < 64 ? (int)m->inner : 0, in->memory, (int)in->scale);
    printf("%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%u\t%llu\t%llu\t", LLU(items), LLU(done), LLU(p->blocks),
           LLU(p->frames), LLU(s.chunks), LLU(s.data), s.height, LLU(s.fewest), LLU(taken));
    printf("%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t", LLU(n->reads), LLU(n->lateral), LLU(n->down),
           LLU(n->lateral_index), LLU(n->down_index), LLU(n->splits), LLU(n->merges), LLU(n->exchanges), LLU(n->stuck));
    printf("%llu\t%llu\t%llu\t%llu\n", LLU(p->faults), LLU(p->fetched), LLU(p->written), LLU(p->touched));
}

/* The bytes of the higher levels' chunks: a twentieth of all, as the lists turn out (column data). */
static uint64_t room_beside_index(const model *m)
{
    const uint64_t room = room_of(&m->w->in), pool = m->parts * m->lists[0].most * CHUNK;
    return m->near_index && room > pool / 20 ? room - pool / 20 : room;
}

static void run(const words *w)
{
    model m = model_of(w);
    paging p = { .by_use = strcmp(w->recent, "use") == 0, .prefetch = w->prefetch != 0 };
    const bool inserts = strcmp(w->in.op, "insert") == 0, erases = strcmp(w->in.op, "erase") == 0;
    uint64_t there = 0, done = 0;
    batches b;
    if (!inserts) {
        b = batches_of(&w->in, w->in.hold, 0);
        while (batch_next(&b)) there += batch_run(&m, &b, insert, strcmp(w->in.sort, "key") == 0);
        batches_close(&b);
    }
    if (!paging_start(&p, m.parts * m.lists[0].most * CHUNK, room_beside_index(&m)))
        stop("lists", "there is no memory");
    m.pages = &p;
    b = batches_of(&w->in, w->in.keys, 0);
    while (batch_next(&b))
        done += batch_run(&m, &b, inserts ? insert : erases ? erase : find, strcmp(w->in.sort, "key") == 0);
    batches_close(&b);
    const uint64_t expected = inserts ? done : erases ? there - done : there;
    if (shape_of(&m).keys != expected) stop("lists", "keys are missing, or too many");
    print(&m, scaled_millions(w->in.keys, &w->in), done);
    for (uint64_t i = 0; i < m.parts; i++) free(m.lists[i].at);
    free(m.lists);
    free(p.block);
}

/* ---- The command line ------------------------------------------------------------------------ */

int main(int argc, char **argv)
{
    words w = { .in = { .kind = "su",
                        .range = "sparse",
                        .op = "insert",
                        .sort = "key",
                        .seed = 1,
                        .scale = 256,
                        .keys = 2500,
                        .batch = 250,
                        .hold = 2500,
                        .memory = 16384 },
                .table = "one",
                .index = "far",
                .raise = "code",
                .recent = "fault",
                .inner = 21,
                .prefetch = 1 };
    const word_row rows[] = {
        /* clang-format off */
        { "table=", WORD_TEXT, 0, w.table }, { "kind=", WORD_TEXT, 0, w.in.kind },
        { "range=", WORD_TEXT, 0, w.in.range }, { "op=", WORD_TEXT, 0, w.in.op }, { "sort=", WORD_TEXT, 0, w.in.sort },
        { "index=", WORD_TEXT, 0, w.index }, { "raise=", WORD_TEXT, 0, w.raise },
        { "recent=", WORD_TEXT, 0, w.recent }, { "seed=", WORD_WHOLE, UINT32_MAX, &w.in.seed },
        { "scale=", WORD_WHOLE, 1 << 20, &w.in.scale }, { "prefetch=", WORD_WHOLE, 1, &w.prefetch },
        { "inner=", WORD_WHOLE, 30, &w.inner }, { "keys=", WORD_REAL, 4294, &w.in.keys },
        { "batch=", WORD_REAL, 4294, &w.in.batch }, { "memory=", WORD_REAL, 1 << 20, &w.in.memory },
        { "hold=", WORD_REAL, 4294, &w.in.hold },
        /* clang-format on */
    };
    if (argc < 2) stop("usage", "chunks head|run [NAME=VALUE ...]");
    WORDS_READ(argv + 2, argc - 2, rows);
    inputs_check(&w.in);
    one_of("table", w.table, (const char *const[]){ "one", "two", NULL });
    one_of("op", w.in.op, (const char *const[]){ "insert", "find", "erase", NULL });
    one_of("sort", w.in.sort, (const char *const[]){ "none", "key", NULL });
    one_of("index", w.index, (const char *const[]){ "far", "near", NULL });
    one_of("raise", w.raise, (const char *const[]){ "code", "least", NULL });
    one_of("recent", w.recent, (const char *const[]){ "fault", "use", NULL });
    if (w.inner < 8) stop("inner", "at least 8");
    if (strcmp(argv[1], "head") == 0)
        puts(head);
    else if (strcmp(argv[1], "run") == 0)
        run(&w);
    else
        stop("there is no such mode", argv[1]);
    return fflush(stdout) || ferror(stdout) ? 4 : 0;
}

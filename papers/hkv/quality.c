/* SPDX-License-Identifier: Apache-2.0
 *
 * quality.c - what a table keeps: the experiments of HierarchicalKV that are about entries, not time.
 *
 *     quality EXPERIMENT [NAME=VALUE ...]
 *
 *     hits       share of lookups that find their key; keys by Zipf's law (Table 8)
 *     ideal      the same of a table that always holds the `capacity` most popular keys, computed
 *     recent     the same of one that always holds the `capacity` keys used last, computed
 *     evictions  load factor at the first one; different random keys (Table 11)
 *     retention  share of the best `capacity` keys that are there at the end (Table 11)
 *     burst      change of the share of the originals that are found, by a burst of other keys (Table 9)
 *     admitted   share of the burst that entered
 *     bytes      per entry, values left aside (section 5.1)
 *     victims    mean score of the victim of a full bucket, scores even between 0 and 1 (Proposition 3.3)
 *
 * Prints a line of NAME=VALUE words that says what was run, a tab, the answer. The same words give the same line on
 * every machine. Buckets have 128 slots; batches are a 128th of the capacity, as the paper's are.
 */
#define EXPERIMENT "quality"
#include "papers/words.h"
#include "workload/zipf.h"

typedef struct words {
    char policy[16];
    char scores[16]; /* what the caller gives with a key, see give() */
    double alpha;    /* of Zipf's law; 0: every key is another */
    double load;     /* of the table that a burst meets */
    uint64_t capacity;
    uint64_t universe;  /* different keys that there are, ... */
    uint64_t warm, ask; /* ... requests before lookups count, and that count: multiples of the capacity */
    uint64_t burst;     /* how many 16ths of the capacity it has */
    uint64_t seed;
    bool dual;
} words;

static void *take(uint64_t n, size_t each)
{
    void *p = calloc(n, each);
    if (!p) stop("memory", "refused");
    return p;
}

/* ---- A table --------------------------------------------------------------------------------- */

static hd_table *table_open_as(const words *w, const char *policy, uint64_t capacity, hd_layout layout)
{
    hd_config c = hd_config_default();
    hd_table *t;
    c.layout = layout;
    c.policy = policy;
    c.capacity = capacity;
    c.value_bytes = 0;
    c.hkv.dual = w->dual;
    c.threads = 1;
    must(hd_open(&c, &t));
    return t;
}

static hd_table *table_open(const words *w, const char *policy, uint64_t capacity)
{
    return table_open_as(w, policy, capacity, HD_LAYOUT_USUAL);
}

static double size_of(hd_table *t)
{
    uint64_t n;
    must(hd_size_sync(t, &n));
    return (double)n;
}

static void upsert(hd_table *t, uint64_t n, const uint64_t *key, const uint64_t *score, uint8_t *fate)
{
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = n, .key = key, .score = score, .outcome = fate };
    must(hd_run(t, &b));
}

static uint64_t found(hd_table *t, uint64_t n, const uint64_t *key, uint8_t *fate)
{
    hd_batch b = { .op = HD_OP_CONTAINS, .n = n, .key = key, .outcome = fate };
    uint64_t hits = 0;
    must(hd_run(t, &b));
    for (uint64_t i = 0; i < n; i++) hits += fate[i] == HD_HIT;
    return hits;
}

/* ---- Requests: a batch of keys by Zipf's law, and what is given with each -------------------- */

typedef struct feed {
    const words *w;
    hd_zipf zipf;
    hd_rng rng;
    uint64_t n, done; /* per batch; requests so far */
    uint64_t *rank, *key, *score;
    uint8_t *fate;
    uint32_t *seen; /* (universe x capacity): how often each rank came, or when last; NULL: not wanted */
} feed;

static feed feed_open(const words *w)
{
    feed f = { .w = w, .n = w->capacity / 128, .rng = hd_rng_from(w->seed) };
    uint64_t keys = w->universe * w->capacity;
    if (f.n == 0 || w->universe < 2) stop("capacity", "at least 128, and the universe 2");
    if ((w->warm + w->ask) * w->capacity > UINT32_MAX) stop("warm, ask", "more than 2^32 requests");
    f.zipf = hd_zipf_of(w->alpha, keys);
    f.rank = (uint64_t *)take(f.n, sizeof *f.rank);
    f.key = (uint64_t *)take(f.n, sizeof *f.key);
    f.score = (uint64_t *)take(f.n, sizeof *f.score);
    f.fate = (uint8_t *)take(f.n, 1);
    return f;
}

static void feed_remember(feed *f) { f->seen = (uint32_t *)take(f->w->universe * f->w->capacity, sizeof *f->seen); }

static void feed_close(feed *f) { free(f->rank), free(f->key), free(f->score), free(f->fate), free(f->seen); }

static int by_rank(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* What is given with the keys of a batch, by the word scores=
 *
 *     none      nothing: lru and the epochs need nothing, lfu counts 1 for each request
 *     batch     each different key of the batch once, with the number of times that it came
 *     time      the number of the request
 *     lifetime  how often the key was asked for since the beginning: the caller counts, the table does not forget with
 *               the entry
 *     known     the key's share of all requests, known only to the generator
 *
 * Returns how many keys there are to give. */
static uint64_t give(feed *f)
{
    const char *how = f->w->scores;
    uint64_t n = f->n;
    if (strcmp(how, "batch") == 0) {
        uint64_t k = 0;
        qsort(f->rank, n, sizeof *f->rank, by_rank);
        for (uint64_t i = 0; i < n; i++) {
            if (k && f->rank[k - 1] == f->rank[i])
                f->score[k - 1]++;
            else
                f->rank[k] = f->rank[i], f->score[k++] = 1;
        }
        n = k;
        for (uint64_t i = 0; i < n; i++) f->key[i] = hd_scramble(f->rank[i]);
    } else if (strcmp(how, "time") == 0) {
        for (uint64_t i = 0; i < n; i++) f->score[i] = f->done + i;
    } else if (strcmp(how, "lifetime") == 0) {
        for (uint64_t i = 0; i < n; i++) f->score[i] = ++f->seen[f->rank[i]];
    } else if (strcmp(how, "known") == 0) {
        for (uint64_t i = 0; i < n; i++)
            f->score[i] = (uint64_t)(0x1p52 * hd_zipf_h(&f->zipf, (double)(f->rank[i] + 1)));
    } else if (strcmp(how, "none") != 0) {
        stop("scores", how);
    }
    return n;
}

static void draw(feed *f)
{
    for (uint64_t i = 0; i < f->n; i++) {
        f->rank[i] = hd_zipf_rank(&f->zipf, &f->rng) - 1;
        f->key[i] = hd_scramble(f->rank[i]);
    }
}

/* ---- The experiments ------------------------------------------------------------------------- */

/* Table 8. Each batch is looked up, then upserted; an epoch lasts a batch. */
static double hits(const words *w)
{
    feed f = feed_open(w);
    hd_table *t = table_open(w, w->policy, w->capacity);
    uint64_t hit = 0, asked = 0;
    bool scored = strcmp(w->scores, "none") != 0;
    if (strcmp(w->scores, "lifetime") == 0) feed_remember(&f);
    for (uint32_t epoch = 0; f.done < (w->warm + w->ask) * w->capacity; f.done += f.n) {
        draw(&f);
        if (f.done >= w->warm * w->capacity) {
            hit += found(t, f.n, f.key, f.fate);
            asked += f.n;
        }
        must(hd_epoch_set(t, epoch++));
        uint64_t n = give(&f);
        upsert(t, n, f.key, scored ? f.score : NULL, NULL);
    }
    hd_close(t);
    feed_close(&f);
    return (double)hit / (double)asked;
}

/* Ranks with nearly one share: 1 to ONE_BY_ONE alone, then growing runs of them. */
typedef struct cells {
    double *share, *ranks; /* (n) of one rank, of all requests; how many ranks */
    size_t n;
} cells;

static cells cells_of(const words *w)
{
    enum { ONE_BY_ONE = 10000, MOST = 40000 };
    hd_zipf z = hd_zipf_of(w->alpha, 1);
    cells c = { (double *)take(MOST, sizeof(double)), (double *)take(MOST, sizeof(double)), 0 };
    uint64_t last = w->universe * w->capacity;
    double sum = 0;
    for (uint64_t k = 1; k <= last && c.n < MOST;) {
        uint64_t n = k <= ONE_BY_ONE ? 1 : 1 + k / 1000;
        if (n > last + 1 - k) n = last + 1 - k;
        double all =
            n == 1 ? hd_zipf_h(&z, (double)k) : hd_zipf_H(&z, (double)(k + n) - 0.5) - hd_zipf_H(&z, (double)k - 0.5);
        c.ranks[c.n] = (double)n;
        c.share[c.n++] = all / (double)n;
        sum += all;
        k += n;
    }
    for (size_t i = 0; i < c.n; i++) c.share[i] /= sum;
    return c;
}

static void cells_free(cells *c) { free(c->share), free(c->ranks); }

/* No table does better whose requests are drawn one by one, whatever it knows. */
static double ideal(const words *w)
{
    cells c = cells_of(w);
    double room = (double)w->capacity, sum = 0;
    for (size_t i = 0; i < c.n && room > 0; i++) {
        double ranks = c.ranks[i] < room ? c.ranks[i] : room;
        sum += ranks * c.share[i];
        room -= ranks;
    }
    cells_free(&c);
    return sum;
}

/* Of the keys, or of the requests for them, the part whose last request is no more than `age` requests ago. */
static double younger(const cells *c, double age, bool requests)
{
    double sum = 0;
    for (size_t i = 0; i < c->n; i++) {
        double asked = c->share[i] * age, came = asked < 40 ? -hd_expm1(-asked) : 1;
        sum += c->ranks[i] * (requests ? c->share[i] : 1) * came;
    }
    return sum;
}

/* LRU of the whole table (Che, Tung, Wang: Hierarchical Web Caching Systems, IEEE JSAC 20, 2002): the age at which as
 * many keys are younger as there is room for. */
static double recent(const words *w)
{
    cells c = cells_of(w);
    double low = 1, high = 0x1p60;
    for (int i = 0; i < 200; i++) {
        double age = (low + high) / 2;
        *(younger(&c, age, false) < (double)w->capacity ? &low : &high) = age;
    }
    double share = younger(&c, low, true);
    cells_free(&c);
    return share;
}

/* Table 11, line 1. */
static double evictions(const words *w)
{
    enum { N = 4096 };
    uint64_t key[N], entered = 0;
    uint8_t fate[N];
    hd_rng rng = hd_rng_from(w->seed);
    hd_table *t = table_open(w, "lru", w->capacity);
    for (bool full = false; !full;) {
        for (int i = 0; i < N; i++) key[i] = hd_rng_next(&rng);
        upsert(t, N, key, NULL, fate);
        for (int i = 0; i < N && !full; i++) {
            full = fate[i] == HD_EVICTED;
            entered += fate[i] == HD_INSERTED;
        }
    }
    hd_close(t);
    return (double)entered / (double)w->capacity;
}

/* The rank-th greatest of n numbers. */
static uint32_t rank_th(const uint32_t *x, uint64_t n, uint64_t rank)
{
    uint32_t known = 0;
    uint64_t *count = (uint64_t *)take(65536, sizeof *count);
    for (int shift = 16; shift >= 0; shift -= 16) {
        memset(count, 0, 65536 * sizeof *count);
        for (uint64_t i = 0; i < n; i++)
            if (shift == 16 || x[i] >> 16 == known >> 16) count[x[i] >> shift & 0xffff]++;
        uint32_t digit = 0xffff;
        while (rank > count[digit]) rank -= count[digit--];
        known |= digit << shift;
    }
    free(count);
    return known;
}

/* What makes a key one of the best: of lru that it came last, of lfu that it came most often, of custom its score,
 * which is random, and every key another. */
typedef enum best_by { BY_TIME, BY_COUNT, BY_SCORE } best_by;

static best_by best_by_of(const char *policy)
{
    return strcmp(policy, "custom") == 0 ? BY_SCORE : strcmp(policy, "lru") == 0 ? BY_TIME : BY_COUNT;
}

/* The next requests go to the table; f->seen has what each key is worth. */
static void request_and_rate(feed *f, hd_table *t, best_by by)
{
    draw(f);
    for (uint64_t i = 0; i < f->n; i++) {
        if (by == BY_SCORE) f->rank[i] = f->done + i, f->key[i] = hd_scramble(f->done + i);
        uint32_t *worth = &f->seen[f->rank[i]];
        if (by == BY_SCORE)
            f->score[i] = *worth = (uint32_t)(hd_rng_next(&f->rng) >> 32);
        else if (by == BY_TIME)
            *worth = (uint32_t)(f->done + i + 1);
        else
            ++*worth;
    }
    upsert(t, f->n, f->key, by == BY_SCORE ? f->score : NULL, NULL);
}

/* Table 11, line 2: which share of the best keys a table keeps. Keys that are as good as the last of the best count
 * until the best are complete. */
static double retention(const words *w)
{
    best_by by = best_by_of(w->policy);
    uint64_t keys = w->universe * w->capacity, requests = by == BY_SCORE ? keys : w->ask * w->capacity;
    feed f = feed_open(w);
    hd_table *t = table_open(w, w->policy, w->capacity);
    feed_remember(&f);
    for (; f.done < requests; f.done += f.n) request_and_rate(&f, t, by);
    uint32_t least = rank_th(f.seen, keys, w->capacity);
    if (least == 0) least = 1; /* fewer different keys came */
    uint64_t better = 0, as_good = 0, all_better = 0, all = 0;
    for (uint64_t r = 0; r < keys; r += f.n) {
        uint64_t n = keys - r < f.n ? keys - r : f.n;
        for (uint64_t i = 0; i < n; i++) f.key[i] = hd_scramble(r + i);
        found(t, n, f.key, f.fate);
        for (uint64_t i = 0; i < n; i++) {
            bool over = f.seen[r + i] > least, even = f.seen[r + i] == least, in = f.fate[i] == HD_HIT;
            all_better += over, all += over || even;
            better += over && in, as_good += even && in;
        }
    }
    uint64_t best = all < w->capacity ? all : w->capacity, room = best - all_better;
    uint64_t kept = better + (as_good < room ? as_good : room);
    hd_close(t);
    feed_close(&f);
    return (double)kept / (double)best;
}

/* Table 9: a table of different keys, their scores between 2 and 2^20; then others, a 16th of the capacity `burst`
 * times, with a score that is below or above all of them. */
typedef struct aftermath {
    uint64_t before, after; /* originals that are found */
    uint64_t came, entered; /* of the burst             */
} aftermath;

static aftermath burst_of(const words *w)
{
    uint64_t n = w->capacity / 128, drawn = 0;
    uint64_t *key = (uint64_t *)take(n, sizeof *key), *score = (uint64_t *)take(n, sizeof *score);
    uint8_t *fate = (uint8_t *)take(n, 1);
    bool low = strcmp(w->scores, "low") == 0;
    hd_rng rng = hd_rng_from(w->seed);
    hd_table *t = table_open(w, "custom", w->capacity);
    aftermath a = { 0, 0, 0, 0 };
    if (!low && strcmp(w->scores, "high") != 0) stop("scores", "low or high");
    for (; size_of(t) < w->load * (double)w->capacity; drawn += n) {
        for (uint64_t i = 0; i < n; i++) {
            key[i] = hd_scramble(drawn + i);
            score[i] = 2 + hd_rng_below(&rng, 1 << 20);
        }
        upsert(t, n, key, score, NULL);
    }
    for (int after = 0; after < 2; after++) {
        for (; after && a.came < w->burst * w->capacity / 16; a.came += n) {
            for (uint64_t i = 0; i < n; i++) {
                key[i] = hd_scramble(1ull << 40 | (a.came + i));
                score[i] = low ? 1 : 1000000000;
            }
            upsert(t, n, key, score, fate);
            for (uint64_t i = 0; i < n; i++) a.entered += fate[i] != HD_REFUSED;
        }
        for (uint64_t i = 0; i < drawn; i += n) {
            for (uint64_t k = 0; k < n; k++) key[k] = hd_scramble(i + k);
            *(after ? &a.after : &a.before) += found(t, n, key, fate);
        }
    }
    hd_close(t);
    free(key), free(score), free(fate);
    return a;
}

static double burst(const words *w)
{
    aftermath a = burst_of(w);
    return (double)a.after / (double)a.before - 1;
}

static double admitted(const words *w)
{
    aftermath a = burst_of(w);
    return (double)a.entered / (double)a.came;
}

static int least_leaves(void *context, uint64_t key, uint64_t score, void *value)
{
    uint64_t *least = (uint64_t *)context;
    (void)key, (void)value;
    if (score < *least) *least = score;
    return 0;
}

/* Proposition 3.3: one bucket, or the two candidates of a key, filled with random scores; a new key with a higher score
 * than all of them evicts one. Returns the mean score of the victim over `capacity` trials. */
static double victims(const words *w)
{
    enum { SLOTS = 128, MOST = 2 * SLOTS + 1 };
    uint64_t key[MOST], score[MOST], n = w->dual ? 2 * SLOTS : SLOTS, list[2], left[2], count = 0;
    hd_rng rng = hd_rng_from(w->seed);
    hd_table *t = table_open(w, "custom", n);
    double sum = 0;
    for (uint64_t k = 0; k < w->capacity; k++) {
        uint64_t least = UINT64_MAX;
        hd_batch clear = { .op = HD_OP_CLEAR };
        must(hd_run(t, &clear));
        for (uint64_t i = 0; i < n; i++) {
            key[i] = hd_scramble(k * MOST + i);
            score[i] = hd_rng_next(&rng) >> 1;
        }
        upsert(t, n, key, score, NULL);
        must(hd_for_each(t, least_leaves, &least));
        uint64_t new_key = hd_scramble(k * MOST + n), new_score = UINT64_MAX;
        hd_batch b = { .op = HD_OP_INSERT_AND_EVICT,
                       .n = 1,
                       .key = &new_key,
                       .score = &new_score,
                       .list_key = list,
                       .list_score = left,
                       .count = &count };
        must(hd_run(t, &b));
        if (count != 1 || left[0] != least) stop("victims", "who left was not the least");
        sum += (double)left[0] * 0x1p-63;
    }
    hd_close(t);
    return sum / (double)w->capacity;
}

/* In the paper's layout. */
static double bytes(const words *w)
{
    hd_table *t = table_open_as(w, "lru", w->capacity, HD_LAYOUT_PLANES);
    hd_info info;
    must(hd_table_info(t, &info));
    hd_close(t);
    return (double)info.memory_bytes / (double)info.capacity;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    double (*run)(const words *w);
} experiment[] = {
    { "hits", hits },           { "ideal", ideal },         { "recent", recent },
    { "evictions", evictions }, { "retention", retention }, { "burst", burst },
    { "admitted", admitted },   { "victims", victims },     { "bytes", bytes },
};

int main(int argc, char **argv)
{
    words w = { .policy = "lru",
                .scores = "none",
                .alpha = 0.99,
                .load = 0.96,
                .capacity = 1 << 20,
                .universe = 10,
                .warm = 2,
                .ask = 1,
                .burst = 4,
                .seed = 1 };
    uint64_t dual = 0;
    const word_row rows[] = {
        /* clang-format off */
        { "policy=", WORD_TEXT, 0, w.policy },
        { "scores=", WORD_TEXT, 0, w.scores },
        { "alpha=", WORD_REAL, 2, &w.alpha },
        { "load=", WORD_REAL, 2, &w.load },
        { "capacity=", WORD_WHOLE, 1ull << 32, &w.capacity },
        { "universe=", WORD_WHOLE, 1000, &w.universe },
        { "warm=", WORD_WHOLE, 1000000, &w.warm },
        { "ask=", WORD_WHOLE, 1000000, &w.ask },
        { "burst=", WORD_WHOLE, 1000, &w.burst },
        { "seed=", WORD_WHOLE, UINT64_MAX, &w.seed },
        { "dual=", WORD_WHOLE, 1, &dual },
        /* clang-format on */
    };
    WORDS_READ(argv + 2, argc > 2 ? argc - 2 : 0, rows);
    w.dual = dual == 1;
    for (size_t i = 0; argc > 1 && i < sizeof experiment / sizeof *experiment; i++)
        if (strcmp(argv[1], experiment[i].name) == 0) {
            for (int k = 1; k < argc; k++) printf("%s%s", k > 1 ? " " : "", argv[k]);
            printf("\t%.6g\n", experiment[i].run(&w));
            return 0;
        }
    stop("usage", "quality hits|ideal|recent|evictions|retention|burst|admitted|victims|bytes [NAME=VALUE ...]");
}

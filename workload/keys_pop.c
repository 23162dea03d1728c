/* SPDX-License-Identifier: Apache-2.0
 *
 * keys_pop.c - popularity as a production cache measured it: CacheLib's histograms (*.pop.json).
 *
 *     pop:FILE[,onehits=0|1][,scramble=0|1]
 *
 *     { "popularityBuckets": [1, 1, 2, ...],   how many keys there are in each bucket, most popular first
 *       "popularityWeights": [900, 650, 1000, ...], how many requests the keys of the bucket got together
 *       "oneHits": 0.02 }                      the share of requests whose key was never seen again
 *
 * A request picks a bucket in proportion to its weight, then one of its keys. With onehits=1, the default, that
 * share of the requests is for a new key each: no later request asks for it. The keys are numbered in
 * the file's order, from 0, then the new ones; scramble=1, the default, scatters them (rng.h).
 *
 * Buckets are picked by the alias method (Walker 1977, in Vose's form, IEEE TSE 17, 1991), in whole
 * numbers, so exactly: n columns of height W (the sum of the weights) hold n times each weight; column i
 * has its own bucket below a mark and one other bucket above.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "workload/rng.h"
#include "workload/stream.h"
#include "workload/workload.h"

/* 4 MiB of text holds at most 2^20 buckets: n W stays below 2^64. */
enum { FILE_BYTES_MAX = 4 << 20, BUCKETS_MAX = 1 << 20 };
#define WEIGHT_MAX (1ull << 43)
#define KEYS_MAX   (1ull << 62)

typedef struct column {
    uint64_t mark;         /* of W: below it this bucket, from it on the other one */
    uint64_t first, count; /* this bucket's keys                                   */
    uint64_t other;
} column;

typedef struct pop {
    hd_source source;
    hd_rng rng;
    column *columns; /* (n) */
    uint64_t n, weight, keys;
    uint64_t one_hits; /* share, in 2^-53 */
    uint64_t fresh;    /* new keys so far */
    bool scramble;
} pop;

static uint64_t pop_draw(pop *p)
{
    if (p->one_hits && hd_rng_next(&p->rng) >> 11 < p->one_hits) return p->keys + p->fresh++;
    const column *c = &p->columns[hd_rng_below(&p->rng, p->n)];
    if (hd_rng_below(&p->rng, p->weight) >= c->mark) c = &p->columns[c->other];
    return c->first + hd_rng_below(&p->rng, c->count);
}

static hd_status pop_next(hd_source *s, hd_request *r, size_t max, size_t *got)
{
    pop *p = (pop *)s;
    for (size_t i = 0; i < max; i++) {
        uint64_t key = pop_draw(p);
        r[i] = (hd_request){ .key = p->scramble ? hd_scramble(key) : key, .size = 1, .verb = HD_READ };
    }
    *got = max;
    return HD_OK;
}

static void pop_close(hd_source *s)
{
    pop *p = (pop *)s;
    hd_give(s->seams, p->columns, p->n, sizeof(column));
    hd_give(s->seams, p, 1, sizeof(pop));
}

/* ---- Columns from weights -------------------------------------------------------------------- */

/* On entry mark[i] is the weight of bucket i; their sum is W. A column that its bucket does not fill takes
 * what it lacks from a bucket that has more than a column; both are found by one walk each. */
static void columns_fill(column *c, uint64_t n, uint64_t W)
{
    for (uint64_t i = 0; i < n; i++) {
        c[i].mark *= n;
        c[i].other = i;
    }
    uint64_t rich = 0, poor = 0;
    while (rich < n && c[rich].mark <= W) rich++;
    while (poor < n && c[poor].mark >= W) poor++;
    for (uint64_t at = poor; rich < n && at < n;) {
        c[at].other = rich;
        c[rich].mark -= W - c[at].mark;
        if (c[rich].mark < W && rich < poor) {
            at = rich; /* it became poor behind the walk: its column is next */
        } else {
            do poor++;
            while (poor < n && c[poor].mark >= W);
            at = poor;
        }
        while (rich < n && c[rich].mark <= W) rich++;
    }
}

/* ---- Reading the file ------------------------------------------------------------------------ */

typedef struct reader {
    hd_stream *file;
    hd_status status; /* the stream's, and hd_why() is its sentence */
} reader;

static size_t reader_give(void *to, size_t bytes, void *context)
{
    reader *in = (reader *)context;
    const uint8_t *p;
    size_t n;
    in->status = hd_stream_peek(in->file, 1, &p, &n);
    if (!in->status && hd_stream_offset(in->file) + n > FILE_BYTES_MAX)
        in->status = hd_fail(HD_ECORRUPT, "%s: more than %d bytes, too long for a histogram", hd_stream_path(in->file),
                             FILE_BYTES_MAX);
    if (in->status) return (size_t)-1;
    if (n > bytes) n = bytes;
    memcpy(to, p, n);
    hd_stream_skip(in->file, n);
    return n;
}

/* jansson has one allocator for the process; the library leaves it alone, so what the text needs while it is
 * read comes from malloc. */
static hd_status json_read(const hd_seams *seams, const char *path, json_t **root)
{
    reader in = { NULL, HD_OK };
    hd_status e = hd_stream_open(seams, path, &in.file);
    if (e) return e;
    json_error_t error;
    *root = json_load_callback(reader_give, &in, JSON_REJECT_DUPLICATES, &error);
    hd_stream_close(in.file);
    if (in.status) {
        json_decref(*root);
        return in.status;
    }
    if (*root) return HD_OK;
    if (json_error_code(&error) == json_error_out_of_memory)
        return hd_fail(HD_ENOMEM, "%s: no memory for its JSON", path);
    return hd_fail(HD_ECORRUPT, "%s: byte %d, line %d: bad JSON: %s", path, error.position, error.line, error.text);
}

static hd_status array_get(const json_t *root, const char *path, const char *name, const json_t **array)
{
    *array = json_object_get(root, name);
    if (!json_is_array(*array)) return hd_fail(HD_ECORRUPT, "%s: no array '%s'", path, name);
    if (json_array_size(*array) == 0) return hd_fail(HD_ECORRUPT, "%s: %s is empty", path, name);
    return HD_OK;
}

/* Weights that are whole and not too great stay as they are; others are scaled so that their sum is about
 * WEIGHT_MAX and rounded, never down to 0. */
static hd_status weights_read(pop *p, const json_t *weights, const char *path)
{
    double sum = 0;
    bool whole = true;
    for (size_t i = 0; i < p->n; i++) {
        const json_t *w = json_array_get(weights, i);
        double v = json_is_number(w) ? json_number_value(w) : -1;
        if (!(v >= 0) || !isfinite(v))
            return hd_fail(HD_ECORRUPT, "%s: popularityWeights[%zu]: no number from 0", path, i);
        whole &= json_is_integer(w);
        sum += v;
    }
    if (!(sum > 0) || !isfinite(sum))
        return hd_fail(HD_ECORRUPT, "%s: popularityWeights: no positive, finite sum", path);
    double scale = whole && sum <= (double)WEIGHT_MAX ? 1 : (double)WEIGHT_MAX / sum;
    for (size_t i = 0; i < p->n; i++) {
        double v = json_number_value(json_array_get(weights, i)) * scale;
        uint64_t w = v > 0 && v < 1 ? 1 : (uint64_t)(v + 0.5);
        p->columns[i].mark = w;
        p->weight += w;
    }
    return HD_OK;
}

static hd_status buckets_read(pop *p, const json_t *buckets, const char *path)
{
    for (size_t i = 0; i < p->n; i++) {
        const json_t *b = json_array_get(buckets, i);
        json_int_t count = json_integer_value(b); /* 0 for what is no integer */
        if (count < 1 || (uint64_t)count > KEYS_MAX - p->keys)
            return hd_fail(HD_ECORRUPT, "%s: popularityBuckets[%zu]: no count of keys from 1, 2^62 in all", path, i);
        p->columns[i].first = p->keys;
        p->columns[i].count = (uint64_t)count;
        p->keys += (uint64_t)count;
    }
    return HD_OK;
}

static hd_status one_hits_read(pop *p, const json_t *root, const char *path)
{
    const json_t *share = json_object_get(root, "oneHits");
    if (!share) return HD_OK;
    double v = json_is_number(share) ? json_number_value(share) : -1;
    if (!(v >= 0 && v < 1)) return hd_fail(HD_ECORRUPT, "%s: oneHits: no share from 0 to below 1", path);
    p->one_hits = (uint64_t)(v * 0x1p53);
    return HD_OK;
}

static hd_status histogram_read(pop *p, const json_t *root, const char *path)
{
    const json_t *weights, *buckets;
    void *columns = NULL;
    hd_status e = array_get(root, path, "popularityWeights", &weights);
    if (!e) e = array_get(root, path, "popularityBuckets", &buckets);
    if (e) return e;
    size_t n = json_array_size(weights);
    if (n != json_array_size(buckets))
        return hd_fail(HD_ECORRUPT, "%s: %zu weights for %zu buckets", path, n, json_array_size(buckets));
    if (n > BUCKETS_MAX) return hd_fail(HD_ECORRUPT, "%s: %zu buckets; at most %d", path, n, BUCKETS_MAX);
    e = hd_take(p->source.seams, "a popularity histogram", n, sizeof(column), &columns);
    if (e) return e;
    p->columns = (column *)columns;
    p->n = n;
    e = buckets_read(p, buckets, path);
    if (!e) e = weights_read(p, weights, path);
    if (!e) e = one_hits_read(p, root, path);
    if (!e) columns_fill(p->columns, p->n, p->weight);
    return e;
}

static hd_status pop_open(const hd_source_args *a, hd_source **s)
{
    static const char *const known[] = { "onehits", "scramble", NULL };
    bool one_hits = true, scramble = true;
    hd_source *source = NULL;
    const hd_source as = { .next = pop_next, .close = pop_close };
    json_t *root = NULL;
    hd_status e = hd_source_shape(a, 1, known);
    if (!e) e = hd_source_flag(a, "onehits", true, &one_hits);
    if (!e) e = hd_source_flag(a, "scramble", true, &scramble);
    if (!e) e = hd_source_take(a, "popularity keys", sizeof(pop), &as, &source);
    if (e) return e;
    pop *p = (pop *)source;
    p->rng = hd_rng_from(a->seed);
    p->scramble = scramble;
    e = json_read(a->seams, a->arg[0], &root);
    if (!e) e = histogram_read(p, root, a->arg[0]);
    json_decref(root);
    if (e) {
        pop_close(&p->source);
        return e;
    }
    if (!one_hits) p->one_hits = 0;
    p->source.keys = p->one_hits ? 0 : p->keys;
    *s = &p->source;
    return HD_OK;
}

const hd_source_row hd_workload_pop = { "pop", "keys as popular as a production cache measured (CacheLib's *.pop.json)",
                                        "pop:FILE[,onehits=0|1][,scramble=0|1]", true, pop_open };

/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.c - requests through tables.
 */
#include "tools/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "lib/params.h"
#include "tools/input.h"
#include "tools/progress.h"
#include "tools/sample.h"
#include "workload/stream.h"

/* ---- Options --------------------------------------------------------------------------------- */

static error_t choose_score(const char *arg, replay_score *score)
{
    static const char *const name[] = { "next", "size", "time", NULL };
    for (int i = 0; name[i]; i++)
        if (strcmp(name[i], arg) == 0) {
            *score = (replay_score)(REPLAY_NEXT + i);
            return 0;
        }
    tool_say(TOOL_USAGE, "--score: there is no '%.60s'%s", arg, tool_nearest(arg, name));
    return EINVAL;
}

error_t replay_option(int key, const char *arg, void *plan)
{
    replay_plan *p = (replay_plan *)plan;
    if (key == REPLAY_ADMIT) return tool_admit(arg, &p->admit);
    if (key == REPLAY_SCORE) return choose_score(arg, &p->score);
    p->fails = true;
    return tool_read(hd_parse_double("--fail-above", arg, 0, 1, &p->fail_above));
}

uint32_t replay_cores(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (uint32_t)cores : 1;
}

hd_config replay_config(const replay_plan *p, const char *policy)
{
    hd_config c = hd_config_default();
    if (p->backend) c.backend = p->backend;
    c.policy = policy;
    c.value_bytes = p->value_bytes;
    c.seed = p->seed;
    hd_params_number_set(&c, c.design, "dual", p->dual);
    hd_params_number_set(&c, c.design, "admit", p->admit);
    return c;
}

/* ---- Batches --------------------------------------------------------------------------------- */

/* One row's arrays of a batch. */
typedef struct replay_buffers {
    hd_request *request;
    uint64_t *key, *score;
    uint8_t *value; /* (a batch, value_bytes) */
    uint8_t *outcome;
    uint64_t *size;
} replay_buffers;

static uint64_t batch_most(const replay_plan *p) { return p->batch ? p->batch : REPLAY_BATCH; }

static bool buffers_take(replay_buffers *u, const replay_plan *p)
{
    size_t n = (size_t)batch_most(p);
    u->request = (hd_request *)calloc(n, sizeof *u->request);
    u->key = (uint64_t *)calloc(n, sizeof *u->key);
    u->score = (uint64_t *)calloc(n, sizeof *u->score);
    u->value = p->value_bytes ? (uint8_t *)calloc(n, p->value_bytes) : NULL;
    u->outcome = (uint8_t *)calloc(n, 1);
    u->size = (uint64_t *)calloc(n, sizeof *u->size);
    return u->request && u->key && u->score && u->outcome && u->size && (u->value || !p->value_bytes);
}

static void buffers_give(replay_buffers *u)
{
    free(u->request);
    free(u->key);
    free(u->score);
    free(u->value);
    free(u->outcome);
    free(u->size);
}

static hd_status score_fill(replay_buffers *u, size_t n, replay_score score, uint64_t done)
{
    for (size_t i = 0; i < n; i++) {
        const hd_request *r = &u->request[i];
        if (score == REPLAY_NEXT && r->next == 0)
            return hd_fail(HD_EINVAL,
                           "scores: request %" PRIu64 " does not say when its key comes next; "
                           "heddle trace convert to oracleGeneral finds out",
                           done + i + 1);
        if (score == REPLAY_SIZE && r->size > UINT32_MAX)
            return hd_fail(HD_EINVAL, "scores: request %" PRIu64 ": its size does not fit 32 bits", done + i + 1);
        switch (score) {
        case REPLAY_NEXT: u->score[i] = r->next < 0 ? 0 : UINT64_MAX - (uint64_t)r->next; break;
        case REPLAY_SIZE: u->score[i] = UINT32_MAX - r->size; break;
        case REPLAY_TIME: u->score[i] = r->time; break;
        case REPLAY_DEFAULT: u->score[i] = 1; break;
        }
    }
    return HD_OK;
}

/* How many requests until something happens between two of them. */
static size_t batch_size(const replay_plan *p, uint64_t done)
{
    uint64_t n = batch_most(p);
    if (p->limit && p->limit - done < n) n = p->limit - done;
    if (done < p->warmup && p->warmup - done < n) n = p->warmup - done;
    if (p->epoch_every && p->epoch_every - done % p->epoch_every < n) n = p->epoch_every - done % p->epoch_every;
    return (size_t)n;
}

uint64_t replay_units(const replay_plan *p, const replay_row *r)
{
    sample chosen = sample_of(p->rate, p->seed);
    return p->rate > 0 ? sample_units(sample_rate(&chosen), r->capacity) : r->capacity;
}

double replay_miss_ratio(const replay_count *c)
{
    if (c->requests == c->reserved) return -1;
    double misses = c->rate > 0 ? (double)c->misses / c->rate : (double)c->misses;
    double ratio = misses / (double)(c->requests - c->reserved + c->unsampled);
    return ratio < 1 ? ratio : 1;
}

double replay_byte_miss_ratio(const replay_count *c)
{
    return c->bytes ? (double)c->missed_bytes / (double)c->bytes : -1;
}

/* ---- What became of requests ------------------------------------------------------------------- */

/* How many of n <= 255 outcomes are each of four; the loop is one that compilers make vectors of. */
static void some_add(replay_count *c, const uint8_t *outcome, size_t n)
{
    uint8_t inserted = 0, evicted = 0, refused = 0, reserved = 0;
    for (size_t i = 0; i < n; i++) {
        inserted = (uint8_t)(inserted + (outcome[i] == HD_INSERTED));
        evicted = (uint8_t)(evicted + (outcome[i] == HD_EVICTED));
        refused = (uint8_t)(refused + (outcome[i] == HD_REFUSED));
        reserved = (uint8_t)(reserved + (outcome[i] == HD_RESERVED));
    }
    c->misses += (uint64_t)inserted + evicted + refused;
    c->evicted += evicted;
    c->refused += refused;
    c->reserved += reserved;
}

/* Adds the sizes of requests, and of misses; those for reserved keys are in neither sum. false: a sum is too large. n:
 * at most 255, so that the sizes of these requests add up. */
static bool bytes_add(replay_count *c, const uint64_t *size, const uint8_t *outcome, size_t n)
{
    static const uint64_t missed[HD_OUTCOME_COUNT] = {
        [HD_INSERTED] = UINT64_MAX, [HD_EVICTED] = UINT64_MAX, [HD_REFUSED] = UINT64_MAX
    };
    uint64_t all = 0, of_misses = 0; /* stores through c could be to outcome, for the compiler */
    for (size_t i = 0; i < n; i++) all += outcome[i] == HD_RESERVED ? 0 : size[i];
    for (size_t i = 0; i < n; i++) of_misses += size[i] & missed[outcome[i]];
    c->missed_bytes += of_misses;
    return !__builtin_add_overflow(c->bytes, all, &c->bytes);
}

/* size: (n), or NULL if the trace has none. */
static hd_status count_add(replay_count *c, const uint8_t *outcome, const uint64_t *size, size_t n)
{
    enum { SOME = 128 };
    bool sums = true;
    c->requests += n;
    for (size_t i = 0; i < n; i += SOME) {
        size_t some = n - i < SOME ? n - i : SOME;
        some_add(c, outcome + i, some);
        if (size) sums = bytes_add(c, size + i, outcome + i, some) && sums;
    }
    return sums ? HD_OK : hd_fail(HD_EINVAL, "the sizes of all requests are 2^64 bytes or more");
}

/* The window of counted request number `since`, for *w. Windows are made in order. */
static hd_status window_of(replay_row *r, uint64_t since, uint64_t every, replay_count **w)
{
    uint64_t at = since / every;
    if (at >= REPLAY_WINDOWS_MOST)
        return hd_fail(HD_EINVAL, "--every: more than %d windows; they need more requests each", REPLAY_WINDOWS_MOST);
    if (at == r->windows && (at & (at - 1)) == 0) { /* 0 or a power of two: all are taken */
        replay_count *more = (replay_count *)realloc(r->window, (size_t)(at ? 2 * at : 1) * sizeof *more);
        if (!more) return hd_fail(HD_ENOMEM, "--every: %zu windows: memory was refused", r->windows);
        r->window = more;
    }
    if (at == r->windows) r->window[r->windows++] = (replay_count){ .requests = 0 };
    *w = &r->window[at];
    return HD_OK;
}

/* Adds n requests after the warm-up, of which the first is number `since` from 0. */
static hd_status row_add(replay_row *r, const replay_buffers *u, size_t n, uint64_t since, uint64_t every)
{
    const uint64_t *size = r->sized ? u->size : NULL;
    hd_status s = count_add(&r->all, u->outcome, size, n);
    for (size_t i = 0, most; every && i < n && !s; i += most) {
        uint64_t left = every - (since + i) % every;
        replay_count *w;
        s = window_of(r, since + i, every, &w);
        if (s) return s;
        most = left < n - i ? (size_t)left : n - i;
        s = count_add(w, u->outcome + i, size ? size + i : NULL, most);
    }
    return s;
}

/* ---- One row ------------------------------------------------------------------------------------- */

typedef struct replay_pool {
    const replay_plan *plan;
    replay_row *row;
    size_t rows;
    uint32_t table_threads;
    uint32_t *next; /* (nexts) next accesses by position, for exact caches; NULL: the trace knows them, or none asks */
    uint64_t nexts;
    atomic_size_t taken, over; /* rows handed out, rows finished */
    atomic_bool failed;
    progress line;
} replay_pool;

/* One row's replay. */
typedef struct replaying {
    replay_pool *pool;
    replay_row *row;
    replay_buffers *buffers;
    hd_table *table; /* or */
    baseline *cache;
    hd_source *source;
    hd_sink *outcomes; /* NULL: they are not written */
    replay_score score;
    sample chosen;      /* if plan->rate is not 0 */
    const char *kernel; /* of every batch */
    uint64_t done;      /* requests       */
} replaying;

static hd_status table_run(replaying *x, size_t n)
{
    const replay_plan *p = x->pool->plan;
    replay_buffers *u = x->buffers;
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN,
                   .n = n,
                   .key = u->key,
                   .value = u->value,
                   .kernel = x->kernel,
                   .outcome = u->outcome,
                   .score = x->score == REPLAY_DEFAULT ? NULL : u->score };
    hd_status s = HD_OK;
    if (p->epoch_every && x->done % p->epoch_every == 0)
        s = hd_epoch_set(x->table, (uint32_t)(x->done / p->epoch_every));
    if (!s && b.score) s = score_fill(u, n, x->score, x->done);
    return s ? s : hd_run(x->table, &b);
}

static hd_status cache_run(replaying *x, size_t n)
{
    hd_request *r = x->buffers->request;
    const replay_pool *pool = x->pool;
    for (size_t i = 0; pool->next && x->row->full->next && i < n; i++) {
        uint64_t at = x->done + i;
        r[i].next = at < pool->nexts && pool->next[at] ? (int64_t)pool->next[at] : -1;
    }
    return baseline_run(x->cache, r, n, x->buffers->outcome);
}

static void save_failed(replay_row *r, const char *what, hd_status s)
{
    if (!s || r->saved) return;
    r->saved = s;
    snprintf(r->why, sizeof r->why, "%s: %s", what, hd_why());
}

/* Leaves out the requests of keys that the sample lacks; how many stay. */
static size_t sample_keep(const replaying *x, size_t n)
{
    hd_request *r = x->buffers->request;
    size_t kept = 0;
    if (x->pool->plan->rate <= 0) return n;
    for (size_t i = 0; i < n; i++)
        if (r[i].key >= HD_KEY_RESERVED || sample_has(&x->chosen, r[i].key)) r[kept++] = r[i];
    return kept;
}

/* Reads the next `want` requests, or as many as are left, and runs them. */
static hd_status replay_step(replaying *x, size_t want, size_t *got)
{
    const replay_plan *p = x->pool->plan;
    replay_buffers *u = x->buffers;
    hd_status s = hd_source_next(x->source, u->request, want, got);
    if (s || !*got) return s;
    size_t n = sample_keep(x, *got);
    for (size_t i = 0; i < n; i++) {
        u->key[i] = u->request[i].key;
        u->size[i] = u->request[i].size;
    }
    s = x->cache ? cache_run(x, n) : table_run(x, n);
    if (s) return s;
    if (x->done >= p->warmup) {
        s = row_add(x->row, u, n, x->done - p->warmup, p->every);
        x->row->all.unsampled += *got - n;
    }
    if (x->outcomes && !x->row->saved) save_failed(x->row, "--outcomes", hd_sink_write(x->outcomes, u->outcome, n));
    x->done += *got;
    return s;
}

/* Shows the progress of all rows, in the thread that draws; whether to stop. */
static bool replay_stops(const replaying *x, bool draws)
{
    replay_pool *pool = x->pool;
    if (atomic_load(&pool->failed)) return true;
    if (!draws) return tool_stopped();
    double share = request_share(x->source, x->done, pool->plan->limit);
    if (share >= 0) share = ((double)atomic_load(&pool->over) + share) / (double)pool->rows;
    return progress_at(&pool->line, x->done, 0, share);
}

static hd_status row_replay(replaying *x, bool draws)
{
    const replay_plan *p = x->pool->plan;
    replay_row *r = x->row;
    hd_status s = HD_OK;
    x->score = p->score;
    if (x->score == REPLAY_DEFAULT && strcmp(r->policy, "custom") == 0) x->score = REPLAY_NEXT;
    r->sized = x->source->sized;
    if (p->rate > 0) {
        x->chosen = sample_of(p->rate, p->seed);
        r->all.rate = sample_rate(&x->chosen);
    }
    for (bool end = false; !s && !end;) {
        size_t want = batch_size(p, x->done), got = 0;
        s = replay_step(x, want, &got);
        end = replay_stops(x, draws) || got < want || (p->limit && x->done == p->limit);
    }
    r->replayed = x->done;
    source_tell(&r->told, x->source);
    return s;
}

/* In batches of one a kernel gives the reference's figures if it also chooses as the reference among entries of the
 * same score: the first slot. All variants do but coalesced, which takes a victim by its bounds. */
static const char *kernel_of(const replay_plan *p)
{
    bool alone = p->batch == 1 && p->backend && strcmp(p->backend, hd_config_default().backend) != 0;
    return p->kernel ? p->kernel : alone ? "tlpv1" : NULL;
}

/* The table or the exact cache of a row. */
static hd_status row_open(replaying *x)
{
    const replay_plan *p = x->pool->plan;
    replay_row *r = x->row;
    if (r->full) {
        baseline_config c = { .row = r->full,
                              .capacity = replay_units(p, r),
                              .seed = r->seed,
                              .bytes = r->bytes,
                              .always = p->admit == HD_ADMIT_ALWAYS };
        return baseline_open(&c, &x->cache);
    }
    hd_config c = replay_config(p, r->policy);
    c.capacity = r->capacity;
    c.slots = r->slots;
    c.seed = r->seed;
    c.threads = x->pool->table_threads;
    return hd_open(&c, &x->table);
}

/* What the run leaves, besides its figures. */
static void row_save(replaying *x, hd_status s)
{
    const replay_plan *p = x->pool->plan;
    bool whole = !s && !tool_stopped();
    if (whole && x->table) hd_size_sync(x->table, &x->row->entries);
    if (p->save && whole) save_failed(x->row, "--save", hd_save(x->table, p->save));
    if (!x->outcomes) return;
    hd_status closed = hd_sink_close(x->outcomes, whole && !x->row->saved);
    if (whole) save_failed(x->row, "--outcomes", closed);
}

static hd_status row_run(replay_pool *pool, replay_row *r, replay_buffers *u, bool draws)
{
    const replay_plan *p = pool->plan;
    replaying x = { .pool = pool, .row = r, .buffers = u, .kernel = kernel_of(p) };
    hd_status s = row_open(&x);
    uint64_t begin = progress_now_ns();
    if (!s) s = hd_source_open(p->source, &x.source);
    if (!s && r->bytes && !x.source->sized)
        s = hd_fail(HD_EINVAL, "size: %s is in bytes, and the trace has no sizes", r->asked);
    if (!s && p->outcomes) save_failed(r, "--outcomes", hd_sink_open(&input_seams, p->outcomes, &x.outcomes));
    if (!s) s = row_replay(&x, draws);
    r->seconds = (double)(progress_now_ns() - begin) * 1e-9;
    char why[sizeof r->why] = "";
    if (s) snprintf(why, sizeof why, "%s", hd_why());
    row_save(&x, s);
    hd_source_close(x.source);
    hd_close(x.table);
    baseline_close(x.cache);
    return s ? hd_fail(s, "%s", why) : HD_OK;
}

/* ---- All rows -------------------------------------------------------------------------------- */

static void pool_fail(replay_pool *pool, replay_row *r, hd_status s)
{
    r->status = s;
    snprintf(r->why, sizeof r->why, "%s", hd_why());
    atomic_store(&pool->failed, true);
}

static void pool_work(replay_pool *pool, bool draws)
{
    const replay_plan *p = pool->plan;
    replay_buffers u;
    bool ready = buffers_take(&u, p);
    for (size_t i;
         !atomic_load(&pool->failed) && !tool_stopped() && (i = atomic_fetch_add(&pool->taken, 1)) < pool->rows;) {
        hd_status s = HD_OK;
        if (!ready)
            s = hd_fail(HD_ENOMEM, "batch: memory was refused");
        else if (!pool->row[i].repeats && !pool->row[i].ran)
            s = row_run(pool, &pool->row[i], &u, draws);
        if (s) pool_fail(pool, &pool->row[i], s);
        atomic_fetch_add(&pool->over, 1);
    }
    buffers_give(&u);
}

static void *pool_thread(void *pool)
{
    pool_work((replay_pool *)pool, false);
    return NULL;
}

/* A row that repeats the one before it has its results, and shares its windows. */
static void rows_repeat(replay_row *row, size_t rows)
{
    for (size_t i = 1; i < rows; i++) {
        if (!row[i].repeats) continue;
        uint64_t seed = row[i].seed;
        row[i] = row[i - 1];
        row[i].seed = seed;
        row[i].repeats = true;
    }
}

/* Finds the next accesses, if an exact cache asks for them and the trace does not know them. */
static hd_status nexts_find(replay_pool *pool)
{
    const replay_plan *p = pool->plan;
    bool asked = false;
    for (size_t i = 0; i < pool->rows; i++) asked = asked || (pool->row[i].full && pool->row[i].full->next);
    if (!asked) return HD_OK;
    hd_source *source = NULL;
    hd_request first = { .next = -1 };
    size_t got = 0;
    hd_status s = hd_source_open(p->source, &source);
    if (!s) s = hd_source_next(source, &first, 1, &got);
    hd_source_close(source);
    return s || first.next ? s : baseline_next(p->source, p->limit, tool_stopped, &pool->next, &pool->nexts);
}

static void pool_run(replay_pool *pool)
{
    enum { MOST = 256 };
    pthread_t thread[MOST];
    const replay_plan *p = pool->plan;
    size_t threads = p->threads < pool->rows ? p->threads : pool->rows, started = 0;
    if (threads < 1) threads = 1;
    if (threads > MOST) threads = MOST;
    pool->table_threads = p->threads > threads ? p->threads / (uint32_t)threads : 1;
    while (started + 1 < threads && pthread_create(&thread[started], NULL, pool_thread, pool) == 0) started++;
    pool_work(pool, true);
    for (size_t i = 0; i < started; i++) pthread_join(thread[i], NULL);
}

int replay_run(const replay_plan *p, replay_row *row, size_t rows)
{
    replay_pool pool = { .plan = p, .row = row, .rows = rows };
    atomic_init(&pool.taken, 0);
    atomic_init(&pool.over, 0);
    atomic_init(&pool.failed, false);

    progress_begin(&pool.line, "replaying", "requests");
    hd_status s = nexts_find(&pool);
    if (!s) pool_run(&pool);
    progress_end(&pool.line);
    free(pool.next);
    if (s) return tool_fail(s);

    for (size_t i = 0; i < rows; i++)
        if (row[i].status) return tool_fail(hd_fail(row[i].status, "%s", row[i].why));
    rows_repeat(row, rows);
    return tool_stopped() ? TOOL_STOPPED : TOOL_OK;
}

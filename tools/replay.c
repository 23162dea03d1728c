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

#include "base/error.h"
#include "policies/expression.h"
#include "tools/input.h"
#include "tools/progress.h"

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
    return key == REPLAY_ADMIT ? tool_admit(arg, &p->admit) : choose_score(arg, &p->score);
}

/* ---- The shape of a table -------------------------------------------------------------------- */

/* |size - the nearest multiple of slots|, at least `least` buckets; *buckets is that multiple. */
static uint64_t distance(uint64_t size, uint64_t slots, uint64_t least, uint64_t *buckets)
{
    uint64_t b = size / slots + (size % slots * 2 >= slots);
    *buckets = b < least ? least : b;
    uint64_t capacity = *buckets * slots;
    return capacity > size ? capacity - size : size - capacity;
}

void replay_shape(const replay_plan *p, uint64_t size, uint32_t *slots, uint64_t *capacity)
{
    /* Three quarters to five quarters of a line of digests: as fast as 128, and wide enough to come
     * within a few entries of any size. */
    enum { USUAL = 128, NARROW = 96, WIDE = 160 };
    uint64_t least = p->dual ? 2 : 1, buckets = 0;
    *slots = p->slots ? p->slots : USUAL;
    if (!p->slots && size < USUAL * least) { /* one bucket (dual: two) of that size */
        uint64_t s = (size + least / 2) / least;
        *slots = (uint32_t)(s < HD_SLOTS_MIN ? HD_SLOTS_MIN : s);
    }
    uint64_t best = distance(size, *slots, least, &buckets);
    *capacity = buckets * *slots;
    if (p->slots || size < USUAL * least) return;
    for (uint32_t away = 1; away <= WIDE - USUAL; away++)
        for (int below = 0; below < 2; below++) {
            uint32_t s = below ? USUAL - away : USUAL + away;
            uint64_t d = distance(size, s, least, &buckets);
            if (d >= best || s < NARROW) continue;
            best = d;
            *slots = s;
            *capacity = buckets * s;
        }
}

/* ---- Lists of policies and sizes ------------------------------------------------------------- */

/* The next item of the list: up to a comma that is in no parentheses (expr:on_insert=max(now,given)). NULL: there is
 * none. */
static char *next_item(char **rest)
{
    char *item = *rest, *at = item;
    for (int open = 0; at && *at && (*at != ',' || open > 0); at++) open += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    if (item) *rest = *at ? at + 1 : NULL;
    if (item) *at = 0;
    return item;
}

int replay_list_parse(replay_list *l, const char *what, const char *text)
{
    if (snprintf(l->text, sizeof l->text, "%s", text) >= (int)sizeof l->text)
        return tool_say(TOOL_USAGE, "%s: longer than %zu bytes", what, sizeof l->text - 1);
    l->items = 0;
    char *rest = l->text;
    for (char *item; (item = next_item(&rest));) {
        if (!*item) return tool_say(TOOL_USAGE, "%s: '%s' has an empty item", what, text);
        if (l->items == REPLAY_LIST) return tool_say(TOOL_USAGE, "%s: more than %d items", what, REPLAY_LIST);
        l->item[l->items++] = item;
    }
    return TOOL_OK;
}

int replay_policies(const replay_list *policies)
{
    for (size_t i = 0; i < policies->items; i++) {
        hd_policy_use use;
        hd_status status = hd_policy_read(policies->item[i], &use);
        if (status) return tool_fail(status);
    }
    return TOOL_OK;
}

int replay_size_parse(const char *text, uint64_t *entries, double *fraction)
{
    char number[64];
    size_t n = strlen(text);
    bool percent = n && text[n - 1] == '%';
    *fraction = -1;
    *entries = 0;
    if (percent || (strchr(text, '.') && strncmp(text, "0x", 2) != 0)) {
        snprintf(number, sizeof number, "%.*s", (int)(n - percent < 63 ? n - percent : 63), text);
        hd_status s = hd_parse_double("size", number, 0, percent ? 100 : 1, fraction);
        if (s) return tool_fail(s);
        if (percent) *fraction /= 100;
        if (*fraction <= 0) return tool_say(TOOL_USAGE, "size: %s is nothing", text);
        return TOOL_OK;
    }
    hd_status s = hd_parse_u64("size", text, HD_SLOTS_MIN, 1ull << 48, entries);
    return s ? tool_fail(s) : TOOL_OK;
}

/* The sizes of a list, in entries or as shares of the different keys, which are counted when a size is one. */
typedef struct row_sizes {
    uint64_t entries[REPLAY_LIST], distinct;
    double share[REPLAY_LIST]; /* < 0: entries */
    bool shares;
} row_sizes;

static int row_sizes_parse(row_sizes *z, const replay_list *sizes)
{
    memset(z, 0, sizeof *z);
    for (size_t i = 0; i < sizes->items; i++) {
        int code = replay_size_parse(sizes->item[i], &z->entries[i], &z->share[i]);
        if (code) return code;
        z->shares = z->shares || z->share[i] >= 0;
    }
    return TOOL_OK;
}

static int row_sizes_count(row_sizes *z, const replay_plan *p)
{
    uint64_t requests = 0;
    if (!z->shares) return TOOL_OK;
    hd_status s = request_distinct(p->source, p->limit, &requests, &z->distinct);
    if (s) return tool_fail(s);
    return tool_stopped() ? TOOL_STOPPED : TOOL_OK;
}

static int row_take(const replay_plan *p, const row_sizes *z, size_t k, replay_row *r)
{
    r->size = z->share[k] < 0 ? z->entries[k] : (uint64_t)(z->share[k] * (double)z->distinct + 0.5);
    if (r->size < HD_SLOTS_MIN) r->size = HD_SLOTS_MIN;
    replay_shape(p, r->size, &r->slots, &r->capacity);
    return tool_fits("size", r->capacity, p->value_bytes);
}

int replay_rows_take(const replay_plan *p, const replay_list *policies, const replay_list *sizes, replay_row **row,
                     size_t *rows, uint64_t *distinct)
{
    row_sizes z;
    int code = replay_policies(policies);
    if (!code) code = row_sizes_parse(&z, sizes);
    if (code) return code;
    *rows = policies->items * sizes->items;
    if (*rows + z.shares > 1) input_spool(); /* the trace is read that often */
    code = row_sizes_count(&z, p);
    if (code) return code;
    *distinct = z.distinct;

    replay_row *r = (replay_row *)calloc(*rows + 1, sizeof *r);
    if (!r) return tool_say(TOOL_SYSTEM, "memory was refused");
    for (size_t i = 0; !code && i < *rows; i++) {
        size_t k = i % sizes->items;
        r[i].policy = policies->item[i / sizes->items];
        r[i].asked = sizes->item[k];
        code = row_take(p, &z, k, &r[i]);
    }
    *row = r;
    if (code) free(r);
    return code;
}

hd_config replay_config(const replay_plan *p, const char *policy)
{
    hd_config c = hd_config_default();
    if (p->backend) c.backend = p->backend;
    c.policy = policy;
    c.value_bytes = p->value_bytes;
    c.seed = p->seed;
    c.hkv.dual = p->dual;
    c.hkv.admit = p->admit;
    return c;
}

/* ---- One row --------------------------------------------------------------------------------- */

/* One row's arrays of a batch. */
typedef struct replay_buffers {
    hd_request *request;
    uint64_t *key, *score;
    uint8_t *value; /* (a batch, value_bytes) */
} replay_buffers;

static uint64_t batch_most(const replay_plan *p) { return p->batch ? p->batch : REPLAY_BATCH; }

static bool buffers_take(replay_buffers *u, const replay_plan *p)
{
    size_t n = (size_t)batch_most(p);
    u->request = (hd_request *)calloc(n, sizeof *u->request);
    u->key = (uint64_t *)calloc(n, sizeof *u->key);
    u->score = (uint64_t *)calloc(n, sizeof *u->score);
    u->value = p->value_bytes ? (uint8_t *)calloc(n, p->value_bytes) : NULL;
    return u->request && u->key && u->score && (u->value || !p->value_bytes);
}

static void buffers_give(replay_buffers *u)
{
    free(u->request);
    free(u->key);
    free(u->score);
    free(u->value);
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

static void row_count(replay_row *r, const hd_counters *now, const hd_counters *before)
{
    uint64_t d[HD_OUTCOME_COUNT];
    for (int i = 0; i < HD_OUTCOME_COUNT; i++) d[i] = now->outcome[i] - before->outcome[i];
    r->requests = now->items - before->items;
    r->misses = d[HD_INSERTED] + d[HD_EVICTED] + d[HD_REFUSED];
    r->evicted = d[HD_EVICTED];
    r->refused = d[HD_REFUSED];
    r->reserved = d[HD_RESERVED];
}

double replay_miss_ratio(const replay_row *r)
{
    return r->requests > r->reserved ? (double)r->misses / (double)(r->requests - r->reserved) : -1;
}

typedef struct replay_pool {
    const replay_plan *plan;
    replay_row *row;
    size_t rows;
    uint32_t table_threads;
    atomic_size_t next, over; /* rows handed out, rows finished */
    atomic_bool failed;
    progress line;
} replay_pool;

/* One row's replay. */
typedef struct replaying {
    replay_pool *pool;
    replay_buffers *buffers;
    hd_table *table;
    hd_source *source;
    replay_score score;
    const char *kernel; /* of every batch              */
    uint64_t done;      /* requests                    */
    hd_counters before; /* the table's, at the warm-up's end */
} replaying;

/* Reads the next `want` requests, or as many as are left, and runs them. */
static hd_status replay_step(replaying *x, size_t want, size_t *got)
{
    const replay_plan *p = x->pool->plan;
    replay_buffers *u = x->buffers;
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN,
                   .key = u->key,
                   .value = u->value,
                   .kernel = x->kernel,
                   .score = x->score == REPLAY_DEFAULT ? NULL : u->score };
    hd_status s = HD_OK;
    if (p->epoch_every && x->done % p->epoch_every == 0)
        s = hd_epoch_set(x->table, (uint32_t)(x->done / p->epoch_every));
    if (!s) s = hd_source_next(x->source, u->request, want, got);
    for (size_t i = 0; i < *got; i++) u->key[i] = u->request[i].key;
    if (!s && b.score) s = score_fill(u, *got, x->score, x->done);
    b.n = *got;
    if (!s && *got) s = hd_run(x->table, &b);
    x->done += *got;
    if (!s && p->warmup && x->done == p->warmup) s = hd_counters_sync(x->table, &x->before);
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

static hd_status row_replay(replaying *x, replay_row *r, bool draws)
{
    const replay_plan *p = x->pool->plan;
    hd_counters now;
    hd_status s = HD_OK;
    x->score = p->score;
    if (x->score == REPLAY_DEFAULT && strcmp(r->policy, "custom") == 0) x->score = REPLAY_NEXT;
    for (bool end = false; !s && !end;) {
        size_t want = batch_size(p, x->done), got = 0;
        s = replay_step(x, want, &got);
        end = replay_stops(x, draws) || got < want || (p->limit && x->done == p->limit);
    }
    r->replayed = x->done;
    r->skipped = x->source->skipped;
    r->hashed = x->source->hashed;
    if (!s) s = hd_counters_sync(x->table, &now);
    if (!s) row_count(r, &now, x->done < p->warmup ? &now : &x->before);
    return s;
}

/* In batches of one a kernel gives the reference's figures if it also chooses as the reference among entries of the
 * same score: the first slot. All variants do but coalesced, which takes a victim by its bounds. */
static const char *kernel_of(const replay_plan *p)
{
    bool alone = p->batch == 1 && p->backend && strcmp(p->backend, hd_config_default().backend) != 0;
    return p->kernel ? p->kernel : alone ? "tlpv1" : NULL;
}

static hd_status row_run(replay_pool *pool, replay_row *r, replay_buffers *u, bool draws)
{
    const replay_plan *p = pool->plan;
    hd_config c = replay_config(p, r->policy);
    c.capacity = r->capacity;
    c.slots = r->slots;
    c.threads = pool->table_threads;
    replaying x = { .pool = pool, .buffers = u, .kernel = kernel_of(p) };
    hd_status s = hd_open(&c, &x.table);
    uint64_t begin = progress_now_ns();
    if (!s) s = hd_source_open(p->source, &x.source);
    if (!s) s = row_replay(&x, r, draws);
    r->seconds = (double)(progress_now_ns() - begin) * 1e-9;
    if (!s && p->save && !tool_stopped()) r->saved = hd_save(x.table, p->save);
    if (r->saved) snprintf(r->why, sizeof r->why, "%s", hd_why());
    hd_source_close(x.source);
    hd_close(x.table);
    return s;
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
         !atomic_load(&pool->failed) && !tool_stopped() && (i = atomic_fetch_add(&pool->next, 1)) < pool->rows;) {
        hd_status s = ready ? row_run(pool, &pool->row[i], &u, draws) : hd_fail(HD_ENOMEM, "batch: memory was refused");
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

int replay_run(const replay_plan *p, replay_row *row, size_t rows)
{
    enum { MOST = 256 };
    pthread_t thread[MOST];
    size_t threads = p->threads < rows ? p->threads : rows;
    if (threads < 1) threads = 1;
    if (threads > MOST) threads = MOST;
    replay_pool pool = { .plan = p, .row = row, .rows = rows };
    pool.table_threads = p->threads > threads ? p->threads / (uint32_t)threads : 1;
    atomic_init(&pool.next, 0);
    atomic_init(&pool.over, 0);
    atomic_init(&pool.failed, false);

    progress_begin(&pool.line, "replaying", "requests");
    size_t started = 0;
    while (started + 1 < threads && pthread_create(&thread[started], NULL, pool_thread, &pool) == 0) started++;
    pool_work(&pool, true);
    for (size_t i = 0; i < started; i++) pthread_join(thread[i], NULL);
    progress_end(&pool.line);

    for (size_t i = 0; i < rows; i++)
        if (row[i].status) return tool_fail(hd_fail(row[i].status, "%s", row[i].why));
    return tool_stopped() ? TOOL_STOPPED : TOOL_OK;
}

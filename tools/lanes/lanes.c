/* SPDX-License-Identifier: Apache-2.0
 *
 * lanes.c - a trace whose keys are numbers, and groups of lanes over it.
 */
#include "tools/lanes/lanes.h"

#include "base/backend.h"

enum { WARP = 32, WARPS = LANES_BLOCKS * LANES_THREADS / WARP /* that a processor runs at a time */, MANY = 4 * WARP };

static const char *const names[LANE_POLICIES] = {
    [LANE_LRU] = "full:lru",       [LANE_FIFO] = "full:fifo", [LANE_CLOCK] = "full:clock", [LANE_SIEVE] = "full:sieve",
    [LANE_S3FIFO] = "full:s3fifo", [LANE_SLRU] = "full:slru", [LANE_2Q] = "full:2q",       [LANE_ARC] = "full:arc",
};

lane_policy lanes_policy(const char *name)
{
    for (int i = LANE_LRU; i < LANE_POLICIES; i++)
        if (strcmp(names[i], name) == 0) return (lane_policy)i;
    return LANE_BLANK;
}

const char *lanes_name(size_t i) { return i < LANE_POLICIES - LANE_LRU ? names[LANE_LRU + i] : NULL; }

/* ---- The trace ----------------------------------------------------------------------------------------- */

static bool array_room(void *array, uint64_t room, size_t bytes)
{
    void *more = realloc(*(void **)array, (size_t)room * bytes);
    if (more) *(void **)array = more;
    return more != NULL;
}

static hd_status refused(const lanes_trace *t)
{
    return hd_fail(HD_ENOMEM, "a trace of %" PRIu32 " requests, %" PRIu32 " keys: memory was refused", t->requests,
                   t->keys);
}

static hd_status trace_room(lanes_trace *t)
{
    enum { FIRST = 1 << 12 };
    if (t->requests == UINT32_MAX - 1)
        return hd_fail(HD_EINVAL, "more than 2^32 - 2 requests in memory; --sample keeps a part");
    if (t->requests < t->room) return HD_OK;
    t->room = t->room ? 2 * t->room : FIRST;
    bool ok = array_room(&t->id, t->room, sizeof *t->id) && array_room(&t->since, t->room, sizeof *t->since) &&
              array_room(&t->next, t->room, sizeof *t->next) &&
              (!t->sized || array_room(&t->size, t->room, sizeof *t->size));
    return ok ? HD_OK : refused(t);
}

/* The number of a key, which it has from now on. */
static hd_status key_number(lanes_trace *t, uint64_t key, uint32_t *id)
{
    enum { FIRST = 1 << 10 };
    uint32_t tag = cache_tag(key);
    hd_status s = cache_index_room(&t->index);
    if (s) return s;
    *id = cache_index_find(&t->index, (cache_keys){ t->key, sizeof *t->key }, tag, key);
    if (*id != CACHE_NONE) return HD_OK;
    if (t->keys == INT32_MAX) return hd_fail(HD_EINVAL, "more than 2^31 - 1 keys in lanes; --sample keeps a part");
    if (t->keys == t->key_room) {
        t->key_room = t->key_room ? 2 * t->key_room : FIRST;
        if (!array_room(&t->key, t->key_room, sizeof *t->key)) return refused(t);
    }
    *id = t->keys++;
    t->key[*id] = (lanes_key){ .key = key };
    cache_index_add(&t->index, tag, *id);
    return HD_OK;
}

static hd_status request_keep(lanes_trace *t, const hd_request *r)
{
    uint32_t id = 0, i = t->requests;
    hd_status s = trace_room(t);
    if (!s) s = key_number(t, r->key, &id);
    if (s) return s;
    lanes_key *k = &t->key[id];
    t->id[i] = id;
    t->since[i] = k->last;
    t->next[i] = LANE_NONE;
    if (t->sized) t->size[i] = r->size;
    if (k->last) t->next[k->last - 1] = i;
    k->last = ++t->requests;
    return HD_OK;
}

hd_status lanes_trace_add(lanes_trace *t, const hd_request *r, size_t n)
{
    hd_status s = HD_OK;
    for (size_t i = 0; i < n && !s; i++) {
        bool counts = t->read++ >= t->warmup, kept = r[i].key < HD_KEY_RESERVED;
        if (!kept)
            t->reserved += counts;
        else if (!sample_has(&t->chosen, r[i].key)) {
            t->unsampled += counts;
            kept = false;
        }
        if (!kept) continue;
        s = request_keep(t, &r[i]);
        t->sampled += counts;
        if (!counts) t->counted = t->requests;
        if (counts && __builtin_add_overflow(t->bytes, r[i].size, &t->bytes) && !s)
            s = hd_fail(HD_EINVAL, "the sizes of all requests are 2^64 bytes or more");
    }
    return s;
}

void lanes_trace_close(lanes_trace *t)
{
    free(t->id);
    free(t->since);
    free(t->next);
    free(t->size);
    free(t->key);
    free(t->index.at);
}

/* ---- This machine as a device -------------------------------------------------------------------------- */

static int host_find(void *self, hd_device *device)
{
    (void)self;
    *device = (hd_device){ .processors = 1 };
    return 0;
}

static int host_take(void *self, void **p, size_t bytes)
{
    (void)self;
    *p = malloc(bytes);
    return *p ? 0 : HD_DEVICE_NO_MEMORY;
}

static int host_give(void *self, void *p)
{
    (void)self;
    free(p);
    return 0;
}

static int host_copy(void *self, void *to, const void *from, size_t bytes, hd_way way, void *stream)
{
    (void)self, (void)way, (void)stream;
    memcpy(to, from, bytes);
    return 0;
}

static int host_fill(void *self, void *to, int byte, size_t bytes, void *stream)
{
    (void)self, (void)stream;
    memset(to, byte, bytes);
    return 0;
}

static int host_launch(void *self, const hd_launch *l, void *stream)
{
    const lanes_args *a = (const lanes_args *)l->args;
    (void)self, (void)stream;
    for (uint64_t i = 0; i < a->lanes; i++) lane_run(a, i);
    return 0;
}

static int host_wait(void *self, void *stream)
{
    (void)self, (void)stream;
    return 0;
}

static const char *host_error(void *self, int code)
{
    (void)self;
    return code == HD_DEVICE_NO_MEMORY ? "memory was refused" : "it failed";
}

const hd_device_seam lanes_host = { .find = host_find,
                                    .take = host_take,
                                    .give = host_give,
                                    .copy = host_copy,
                                    .fill = host_fill,
                                    .launch = host_launch,
                                    .wait = host_wait,
                                    .error = host_error };

/* ---- Lanes ----------------------------------------------------------------------------------------------- */

const void *lanes_cuda_entry(uint32_t kernel, const void *args);

static const hd_gpu kernels = { .cuda_entry = HD_CUDA_ENTRY(lanes_cuda_entry) };

typedef struct lanes_job {
    const lanes_trace *t;
    const hd_device_seam *d;
    lanes_watch watch;
    lanes_facts *facts;
    uint32_t processors, width; /* of the device; asked for, or 0 */
    lanes_args a;
    lane *here;                 /* (a.lanes), in this machine's memory */
    uint64_t words;             /* of the group's queues */
    uint64_t bytes;             /* taken of the device */
    uint64_t steps_done, steps; /* of all lanes of all groups */
} lanes_job;

static hd_status device_failed(const lanes_job *j, const char *what, int code)
{
    if (!code) return HD_OK;
    return hd_fail(code == HD_DEVICE_NO_MEMORY ? HD_ENOMEM : HD_ECUDA, "%s: %s", what, j->d->error(j->d->self, code));
}

/* Memory of the device, filled with what is at `from`, or with zeros. bytes: none is taken for 0. */
static hd_status piece_take(lanes_job *j, void *field, const char *what, const void *from, uint64_t bytes)
{
    const hd_device_seam *d = j->d;
    void *p = NULL;
    if (!bytes) return HD_OK;
    int code = d->take(d->self, &p, (size_t)bytes);
    if (code) return device_failed(j, what, code);
    *(void **)field = p;
    j->bytes += bytes;
    return device_failed(j, what,
                         from ? d->copy(d->self, p, from, (size_t)bytes, HD_TO_DEVICE, NULL)
                              : d->fill(d->self, p, 0, (size_t)bytes, NULL));
}

static void piece_give(lanes_job *j, void *field, uint64_t bytes)
{
    void **p = (void **)field;
    if (!*p) return;
    (void)j->d->give(j->d->self, *p); /* what failed before is what is said */
    *p = NULL;
    j->bytes -= bytes;
}

static uint64_t multiple(uint64_t n, uint64_t of) { return (n + of - 1) / of * of; }

/* A cache with room for all keys has no use for more. The parts of SLRU are quarters. */
static uint32_t capacity_of(const lanes_job *j, const lanes_cache *cache)
{
    uint64_t most = (cache->policy == LANE_SLRU ? 4 : 1) * (uint64_t)j->t->keys;
    if (most > UINT32_MAX) most = UINT32_MAX;
    return (uint32_t)(cache->capacity < most ? cache->capacity : most);
}

/* The lanes of a group: those of a policy begin a warp. Where there are many, their bytes begin a sector. */
static hd_status group_make(lanes_job *j, const lanes_cache *cache, size_t caches)
{
    uint64_t most = 0, row = caches < MANY ? 1 : WARP;
    for (size_t i = 0; i < caches; i++) most += i && cache[i].policy != cache[i - 1].policy ? 2 * WARP : 1;
    j->here = (lane *)calloc((size_t)most, sizeof *j->here);
    if (!j->here) return hd_fail(HD_ENOMEM, "%zu caches: memory was refused", caches);
    j->a.lanes = j->a.columns = j->a.links = j->words = 0;
    for (size_t i = 0; i < caches; i++) {
        if (i && cache[i].policy != cache[i - 1].policy) {
            j->a.lanes = multiple(j->a.lanes, WARP);
            j->a.columns = multiple(j->a.columns, row);
            j->a.links = multiple(j->a.links, row);
        }
        lane *c = &j->here[j->a.lanes++];
        *c = (lane){ .policy = (uint32_t)cache[i].policy, .capacity = capacity_of(j, &cache[i]), .words = j->words };
        j->words += multiple(lane_words(c), 8); /* whole sectors */
        if (c->policy != LANE_LRU) c->column = j->a.columns++;
        if (c->policy >= LANE_SLRU) c->link = j->a.links++;
    }
    j->a.columns = multiple(j->a.columns, row);
    j->a.links = multiple(j->a.links, row);
    return HD_OK;
}

/* Requests of a launch: some hundredths of a second, so that Ctrl-C is heard. */
static uint32_t launch_requests(const lanes_job *j)
{
    const uint64_t least = 1 << 10, most = 1 << 18, steps = 1 << 28;
    uint64_t n = steps / j->a.lanes;
    return (uint32_t)(n < least ? least : n > most ? most : n);
}

/* As few lanes of a warp as still let half of the warps run at a time: fewer caches wait for each other's misses. On an
 * H200 that is 1.3 times as fast as with all warps, and with a quarter (bench/lab/lanes.tsv). */
static uint32_t width_usual(const lanes_job *j)
{
    uint32_t width = 1;
    while (width < WARP && j->a.lanes > 2 * (uint64_t)j->processors * WARPS * width) width *= 2;
    return width;
}

static hd_status group_launch(lanes_job *j, size_t caches)
{
    lanes_args *a = &j->a;
    const hd_device_seam *d = j->d;
    a->width = j->facts->width = j->width ? j->width : width_usual(j);
    uint64_t warps = (a->lanes + a->width - 1) / a->width;
    hd_launch l = { .gpu = &kernels, .threads = LANES_THREADS, .args = a, .args_bytes = sizeof *a };
    l.blocks = (warps * WARP + LANES_THREADS - 1) / LANES_THREADS;
    for (a->from = 0; a->from < a->requests; a->from = a->to) {
        uint32_t n = launch_requests(j), left = a->requests - a->from;
        a->to = a->from + (n < left ? n : left);
        hd_status s = device_failed(j, "lanes", d->launch(d->self, &l, NULL));
        if (!s) s = device_failed(j, "lanes", d->wait(d->self, NULL));
        if (s) return s;
        j->steps_done += (uint64_t)(a->to - a->from) * caches;
        if (j->watch.stops && j->watch.stops(j->watch.self, j->steps_done, j->steps)) return hd_fail(HD_EIO, "stopped");
    }
    return device_failed(j, "lanes",
                         d->copy(d->self, j->here, a->each, a->lanes * sizeof *j->here, HD_FROM_DEVICE, NULL));
}

/* The lanes of these caches, from the first request to the last. HD_ENOMEM: nothing has run. */
static hd_status group_run(lanes_job *j, lanes_cache *cache, size_t caches)
{
    hd_status s = group_make(j, cache, caches);
    uint64_t lanes = j->a.lanes * sizeof *j->here, words = j->words * sizeof *j->a.word;
    uint64_t states = j->t->keys * j->a.columns, links = 2 * sizeof *j->a.link * j->t->keys * j->a.links;
    if (!s) s = piece_take(j, &j->a.each, "lanes", j->here, lanes);
    if (!s) s = piece_take(j, &j->a.state, "states of keys", NULL, states);
    if (!s) s = piece_take(j, &j->a.word, "queues", NULL, words);
    if (!s) s = piece_take(j, &j->a.link, "links of keys", NULL, links);
    if (!s && j->bytes > j->facts->bytes) j->facts->bytes = j->bytes;
    if (!s) s = group_launch(j, caches);
    if (!s) s = device_failed(j, "lanes", j->d->wait(j->d->self, NULL));
    size_t i = 0;
    for (const lane *c = j->here; !s && i < caches; c++) {
        if (c->policy == LANE_BLANK) continue;
        cache[i].misses = c->misses;
        cache[i].evicted = c->evicted;
        cache[i++].missed_bytes = c->missed_bytes;
    }
    piece_give(j, &j->a.each, lanes);
    piece_give(j, &j->a.state, states);
    piece_give(j, &j->a.word, words);
    piece_give(j, &j->a.link, links);
    free(j->here);
    return s;
}

/* All groups: half as many caches as long as memory is refused. */
static hd_status groups_run(lanes_job *j, lanes_cache *cache, size_t caches)
{
    hd_status s = HD_OK;
    size_t most = caches;
    for (size_t first = 0; first < caches && !s;) {
        size_t n = caches - first < most ? caches - first : most;
        s = group_run(j, cache + first, n);
        if (s == HD_ENOMEM && n > 1) {
            most = n / 2 > WARP ? n / 2 / WARP * WARP : n / 2;
            s = HD_OK;
        } else {
            first += n;
            j->facts->groups++;
        }
    }
    return s;
}

hd_status lanes_run(const lanes_trace *t, const hd_device_seam *d, uint32_t width, lanes_watch watch,
                    lanes_cache *cache, size_t caches, lanes_facts *facts)
{
    lanes_job j = {
        .t = t, .d = d, .watch = watch, .facts = facts, .steps = (uint64_t)t->requests * caches, .width = width
    };
    hd_device device;
    uint64_t bytes = t->requests * sizeof(uint32_t), sizes = t->sized ? t->requests * sizeof(uint64_t) : 0;
    int code = d->find(d->self, &device);
    if (code) return hd_fail(HD_ECUDA, "no CUDA device: %s", d->error(d->self, code));
    *facts = (lanes_facts){ .groups = 0 };
    j.processors = device.processors;
    j.a = (lanes_args){ .requests = t->requests, .counted = t->counted };
    hd_status s = piece_take(&j, &j.a.id, "trace", t->id, bytes);
    if (!s) s = piece_take(&j, &j.a.since, "trace", t->since, bytes);
    if (!s) s = piece_take(&j, &j.a.next, "trace", t->next, bytes);
    if (!s) s = piece_take(&j, &j.a.size, "trace", t->size, sizes);
    if (!s) s = groups_run(&j, cache, caches);
    piece_give(&j, &j.a.id, bytes);
    piece_give(&j, &j.a.since, bytes);
    piece_give(&j, &j.a.next, bytes);
    piece_give(&j, &j.a.size, sizes);
    return s;
}

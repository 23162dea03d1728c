/* SPDX-License-Identifier: Apache-2.0
 *
 * held.c - see held.h.
 */
#include "tests/held.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heddle_view.h"

enum { HOLDER = 7, OTHER_HOLDER = 9 };

/* ---- What was said --------------------------------------------------------------------------- */

static void add(held_got *g, uint64_t x)
{
    if (g->n == HELD_NUMBERS) abort();
    g->number[g->n++] = x;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ b * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 29;
}

static uint64_t mix_bytes(uint64_t a, const void *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) a = mix(a, ((const uint8_t *)p)[i]);
    return a;
}

static bool same(const held_got *a, const held_got *b)
{
    return a->status == b->status && a->n == b->n && memcmp(a->number, b->number, a->n * sizeof *a->number) == 0;
}

/* ---- Calls of the whole table ---------------------------------------------------------------- */

#define CALL(name) static hd_status call_##name(held_side *s, hd_table *t, hd_batch *b)
#define UNUSED     (void)s, (void)t, (void)b

static hd_status add_info(hd_table *t, held_got *got)
{
    hd_info info;
    hd_status status = hd_table_info(t, &info);
    if (status) return status;
    add(got, info.buckets);
    add(got, info.capacity);
    add(got, info.now);
    add(got, info.epoch);
    return status;
}

/* How many batches hd_run_growing makes of one, and how often it asks for the size, is not promised. */
static hd_status add_counters(hd_table *t, held_got *got)
{
    hd_counters n;
    hd_status status = hd_counters_sync(t, &n);
    add(got, n.items);
    for (int o = 0; o < HD_OUTCOME_COUNT; o++) add(got, n.outcome[o]);
    for (int o = 0; o < HD_OP_COUNT_; o++) add(got, o == HD_OP_SIZE ? 0 : n.op[o]);
    return status;
}

/* Sums, since entries may have other slots. */
typedef struct sums {
    uint64_t n, keys, scores, values;
    uint32_t value_bytes;
    bool changes;
} sums;

static int visit(void *context, uint64_t key, uint64_t score, void *value)
{
    sums *s = (sums *)context;
    s->n++;
    s->keys += mix(1, key);
    s->scores += mix(mix(2, key), score);
    s->values += mix_bytes(mix(3, key), value, s->value_bytes);
    if (s->changes && s->value_bytes) ((uint8_t *)value)[0] ^= 1;
    return 0;
}

static hd_status add_entries(hd_table *t, held_got *got, bool changes)
{
    hd_info info;
    hd_table_info(t, &info);
    sums s = { 0, 0, 0, 0, info.value_bytes, changes };
    hd_status status = hd_for_each(t, visit, &s);
    add(got, s.n);
    add(got, s.keys);
    add(got, s.scores);
    add(got, s.values);
    return status;
}

CALL(run) { return UNUSED, hd_run(t, b); }
CALL(run_growing) { return UNUSED, hd_run_growing(t, b, 0.5); }
CALL(table_info) { return UNUSED, add_info(t, &s->got); }
CALL(clock_set) { return UNUSED, hd_clock_set(t, 5000); }
CALL(epoch_set) { return UNUSED, hd_epoch_set(t, 77); }
CALL(counters) { return UNUSED, add_counters(t, &s->got); }
CALL(clear) { return UNUSED, hd_clear(t); }
CALL(for_each) { return UNUSED, add_entries(t, &s->got, true); }
CALL(check) { return UNUSED, hd_check(t); }
CALL(persist) { return UNUSED, hd_persist(t); }
CALL(close) { return UNUSED, hd_close(t), HD_OK; }
CALL(set_near) { return UNUSED, hd_set_near(t, 0); }
CALL(grow) { return UNUSED, hd_grow(t, s->then.buckets * 2); }
CALL(reserve) { return UNUSED, hd_reserve(t, s->then.capacity * 3); }
CALL(shrink) { return UNUSED, hd_shrink(t, s->then.buckets); }

/* By the logical clock; which time a device's says is not promised. */
CALL(clock)
{
    uint64_t now = 0;
    UNUSED;
    hd_status status = hd_clock_sync(t, &now);
    add(&s->got, now);
    return status;
}

CALL(size)
{
    uint64_t size = 0;
    UNUSED;
    hd_status status = hd_size_sync(t, &size);
    add(&s->got, size);
    return status;
}

CALL(load_factor)
{
    double load = 0;
    UNUSED;
    hd_status status = hd_load_factor_sync(t, &load);
    add(&s->got, (uint64_t)(load * 1e9));
    return status;
}

static const char *path_of(const held_place *place, const char *name)
{
    static _Thread_local char path[256];
    snprintf(path, sizeof path, "%s/held-%s", place->folder, name);
    return path;
}

static const char *file_of(const held_place *place, const char *policy)
{
    return path_of(place, strcmp(policy, "lfu") ? "file" : "file-lfu");
}

/* A file, by what a table on this machine makes of it. */
CALL(save)
{
    hd_config config = hd_config_default();
    hd_table *here;
    const char *path = path_of(s->place, s->seed ? "saved" : "saved-first");
    UNUSED;
    hd_status status = hd_save(t, path);
    config.threads = 1;
    if (!status) status = hd_open_snapshot(path, &config, &here);
    if (status) return status;
    status = add_entries(here, &s->got, false);
    if (!status) status = add_info(here, &s->got);
    hd_close(here);
    remove(path);
    return status;
}

CALL(load)
{
    uint64_t dropped = 0;
    UNUSED;
    hd_status status = hd_load(t, file_of(s->place, s->then.policy), &dropped);
    add(&s->got, dropped);
    return status;
}

CALL(view)
{
    hd_view view;
    UNUSED;
    hd_status status = hd_view_open(t, s->stream, &view);
    return status ? status : hd_view_close(t, s->stream);
}

/* ---- The table of calls ---------------------------------------------------------------------- */

#define OP_CALL(number, name, what, role, family, does) \
    { #name, call_run, false, true, false, false, HD_OP_##number, role, does },
#define TABLE_CALL(name)                                                               \
    {                                                                                  \
        "hd_" #name, call_##name, true, false, false, true, HD_OP_SIZE, HD_INSERTER, 0 \
    }
#define UPSERT HD_OP_INSERT_OR_ASSIGN, HD_INSERTER, HD_NEEDS_KEY | HD_NEEDS_VALUE | HD_SCORES

static const held_call calls[] = {
    HD_OP_ROWS(OP_CALL){ "mixed", call_run, false, true, false, true, HD_OP_FIND, HD_INSERTER, ~0u },
    { "raw_scores", call_run, false, true, false, true, UPSERT },
    { "hd_run_growing", call_run_growing, true, true, false, true, UPSERT },
    { "hd_view_open", call_view, false, false, false, true, HD_OP_FIND, HD_READER, 0 },
    TABLE_CALL(table_info),
    TABLE_CALL(clock_set),
    TABLE_CALL(epoch_set),
    { "hd_counters_sync", call_counters, true, false, false, true, HD_OP_SIZE, HD_INSERTER, 0 },
    { "hd_clock_sync", call_clock, true, false, false, true, HD_OP_SIZE, HD_INSERTER, 0 },
    { "hd_size_sync", call_size, true, false, false, true, HD_OP_SIZE, HD_INSERTER, 0 },
    { "hd_load_factor_sync", call_load_factor, true, false, false, true, HD_OP_SIZE, HD_INSERTER, 0 },
    TABLE_CALL(clear),
    TABLE_CALL(for_each),
    TABLE_CALL(check),
    TABLE_CALL(persist),
    TABLE_CALL(grow),
    TABLE_CALL(reserve),
    TABLE_CALL(shrink),
    TABLE_CALL(set_near),
    TABLE_CALL(save),
    TABLE_CALL(load),
    { "hd_close", call_close, true, false, true, true, HD_OP_CLEAR, HD_INSERTER, 0 },
};

const held_call *held_call_at(size_t i) { return i < sizeof calls / sizeof *calls ? &calls[i] : NULL; }

const char held_functions[] =
    " hd_run hd_view_open hd_view_close hd_run_growing hd_table_info hd_clock_set hd_epoch_set "
    "hd_counters_sync hd_clock_sync hd_size_sync hd_load_factor_sync hd_clear hd_for_each hd_check "
    "hd_persist hd_grow "
    "hd_reserve hd_shrink hd_set_near hd_save hd_load hd_close ";

/* ---- A call ---------------------------------------------------------------------------------- */

static void fill(const held_side *s, held_arrays *a)
{
    static const hd_op mixable[] = {
#define MIXABLE(number, name, what, role, family, does) (does) & HD_MIXES ? HD_OP_##number : HD_OP_FIND,
        HD_OP_ROWS(MIXABLE)
    };
    memset(a, 0x5a, sizeof *a);
    for (uint64_t i = 0; i < HELD_ITEMS; i++) {
        a->key[i] = 1 + (i * 7 + s->seed * 28) % (HELD_KEYS + 4);
        a->key2[i] = a->key[i] + i;
        a->score[i] = 2000 + i + s->seed * 100;
        a->flag[i] = (uint8_t)(i % 3);
        a->each[i] = (uint8_t)mixable[(i + s->seed * 5) % HD_OP_COUNT_];
        for (int k = 0; k < HELD_VALUE; k++) a->value[i * HELD_VALUE + (uint64_t)k] = (uint8_t)(i + s->seed * 16 + 1);
    }
    a->count = 0;
}

#define IF(flag, field) \
    if (does & (flag)) b->field = a->field

/* All arrays that the operation knows. */
static void point(const held_side *s, hd_batch *b, held_arrays *a)
{
    uint32_t does = s->call->does;
    bool mixed = does == ~0u, sweeps = !(does & HD_NEEDS_KEY);
    if (mixed) does = HD_NEEDS_KEY | HD_NEEDS_VALUE | HD_GIVES_VALUE;
    memset(b, 0, sizeof *b);
    b->op = s->call->op;
    b->n = HELD_ITEMS;
    b->elem = s->then.value_bytes % 8 ? HD_I32 : HD_U64;
    b->stream = s->stream;
    b->pred = does & HD_NEEDS_PRED ? "key_in" : NULL;
    b->pred_arg[0] = 20;
    b->pred_arg[1] = 40;
    b->limit = HELD_LIMIT;
    b->raw_scores = strcmp(s->call->name, "raw_scores") == 0;
    if (mixed) b->each = a->each;
    if (does & HD_OF_SLOTS) b->n = s->then.places < HELD_LIST ? s->then.places : HELD_LIST;
    if (sweeps && !(does & HD_OF_SLOTS)) b->n = 0;
    if (does & (HD_NEEDS_HOLDER | HD_MAY_PIN)) b->holder = does & HD_NEEDS_HOLDER ? HOLDER : 0;
    IF(HD_NEEDS_KEY, key), b->outcome = a->outcome, b->found = a->found;
    IF(HD_NEEDS_VALUE, value);
    IF(HD_SCORES, score);
    IF(HD_NEEDS_KEY2, key2);
    IF(HD_GIVES_VALUE, value_out);
    IF(HD_GIVES_SCORE, score_out);
    IF(HD_GIVES_PTR, ptr);
    IF(HD_GIVES_KEY, key_out);
    IF(HD_GIVES_ROWS, rows), b->more = a->more;
    IF(HD_LISTS, list_key), b->list_item = a->list_item;
    IF(HD_LISTS_ENTRIES, list_value), b->list_score = a->list_score;
    if (b->op == HD_OP_ACCUM_OR_ASSIGN || mixed) b->flag = a->flag;
    if (sweeps || does & (HD_LISTS | HD_NEEDS_COUNT)) b->count = &a->count;
    if (b->op == HD_OP_CLEAR) b->count = NULL;
}

static void side_begin(held_side *s, hd_table *t)
{
    static held_arrays a;
    const held_place *place = s->place;
    hd_table_info(t, &s->then);
    memset(&s->got, 0, sizeof s->got);
    s->there = NULL;
    if (!s->call->batch) return;
    fill(s, &a);
    s->there =
        (held_arrays *)(s->memory == HELD_HOST ? malloc(sizeof a) : place->take(place->self, s->memory, sizeof a));
    if (!s->there) abort();
    s->from = place->take(place->self, HELD_DEVICE, sizeof a);
    if (!s->from) abort();
    place->write(place->self, s->from, &a, sizeof a);
    memset(&a, 0, sizeof a);
    if (s->memory == HELD_DEVICE)
        place->write(place->self, s->there, &a, sizeof a);
    else
        memcpy(s->there, &a, sizeof a);
}

/* A list of slots is in the order of slots, which is another one in each run: it is added up. */
static void add_list(held_side *s, const held_arrays *a)
{
    bool slots = s->call->does & HD_OF_SLOTS;
    uint64_t rows = 0, at = a->count < HELD_LIST ? a->count : HELD_LIST;
    for (uint64_t i = 0; i < at; i++) {
        uint64_t row = mix(a->list_key[i], slots ? 0 : a->list_item[i]);
        if (s->call->does & HD_LISTS_ENTRIES)
            row = mix_bytes(mix(row, a->list_score[i]), a->list_value + i * HELD_VALUE, slots ? 0 : HELD_VALUE);
        rows = slots ? rows + row : mix(rows, row);
    }
    add(&s->got, rows);
}

static void take_outputs(held_side *s, const held_arrays *a)
{
    uint64_t pointers = 0;
    for (int i = 0; i < HELD_ITEMS; i++) pointers = mix(pointers, a->ptr[i] != NULL);
    add(&s->got, mix_bytes(0, a->outcome, sizeof a->outcome));
    add(&s->got, mix_bytes(0, a->found, sizeof a->found));
    add(&s->got, mix_bytes(0, a->value_out, sizeof a->value_out));
    add(&s->got, mix_bytes(0, a->score_out, sizeof a->score_out));
    add(&s->got, pointers);
    add(&s->got, mix_bytes(0, a->key_out, sizeof a->key_out));
    add(&s->got, mix_bytes(0, a->rows, sizeof a->rows));
    add(&s->got, mix_bytes(0, a->more, sizeof a->more));
    /* how many values became near depends on where entries are */
    add(&s->got, s->call->op == HD_OP_PROMOTE && s->place->roomy ? 0 : a->count);
    if (s->call->does & HD_LISTS) add_list(s, a);
}

static void side_call(held_side *s, hd_table *t)
{
    hd_batch b;
    point(s, &b, s->there);
    if (s->there && s->call->does)
        s->place->put(s->place->self, s->memory, s->there, s->from, sizeof *s->there, s->stream);
    s->got.status = s->call->call(s, t, &b);
    if (!s->there || s->memory != HELD_HOST) return;
    take_outputs(s, s->there);
    memset(s->there, 0xee, sizeof *s->there); /* as if the caller had freed them */
}

static void side_end(held_side *s)
{
    static held_arrays a;
    if (!s->there) return;
    s->place->give(s->place->self, HELD_DEVICE, s->from);
    if (s->memory == HELD_DEVICE) s->place->read(s->place->self, &a, s->there, sizeof a);
    if (s->memory != HELD_HOST) take_outputs(s, s->memory == HELD_DEVICE ? &a : s->there);
    if (s->memory != HELD_HOST)
        s->place->give(s->place->self, s->memory, s->there);
    else
        free(s->there);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void as_it_comes(hd_config *c) { (void)c; }
static void dual_tiers(hd_config *c)
{
    c->hkv.dual = true;
    c->hkv.device_value_bytes = c->capacity * c->value_bytes / 3;
    c->hkv.fetch = HD_FETCH_SORTED;
    c->layout = HD_LAYOUT_PLANES;
}
static void with_pins(hd_config *c) { c->hkv.pins = 32; }
static void masks(hd_config *c) { c->layout = HD_LAYOUT_MASKS; }
static void words_of_8(hd_config *c) { c->value_bytes = 8; }
static void ranges(hd_config *c) { c->ovs.partition = HD_PARTITION_RANGE; }
static void digests(hd_config *c) { c->ovs.guide = HD_GUIDE_DIGEST; }

static void copies(hd_config *c) { c->ovs.copy_bytes = 1024; }

static const held_variant variants[] = {
    { "hkv", "hkv", as_it_comes, false, 0 },
    { "hkv that grows in place, pins", "hkv", with_pins, false, 64 },
    { "hkv, dual, tiers", "hkv", dual_tiers, false, 0 },
    { "hive", "hive", as_it_comes, false, 0 },
    { "hive, masks", "hive", masks, false, 0 },
    { "ovs", "ovs", words_of_8, false, 0 },
    { "ovs, near, digests", "ovs", digests, true, 0 },
    { "ovs, near, copies", "ovs", copies, true, 0 },
    { "ovs, near, ranges", "ovs", ranges, true, 0 },
    { "sl", "sl", as_it_comes, false, 0 },
    { "sl, near, 8 bytes", "sl", words_of_8, true, 0 },
};

const held_variant *held_variant_at(size_t i) { return i < sizeof variants / sizeof *variants ? &variants[i] : NULL; }

static hd_config config_of(const held_place *place, const held_variant *v, const char *lock, const char *policy)
{
    hd_config c = hd_config_of(v->design);
    bool segments = strcmp(v->design, "ovs") == 0 || strcmp(v->design, "sl") == 0;
    c.backend = "cuda";
    c.lock = lock;
    c.seams = place->seams;
    c.capacity = place->roomy ? 1024 : 64;
    if (strcmp(v->design, "hkv") == 0) {
        c.policy = policy;
        c.slots = place->roomy ? 128 : 16;
    }
    if (segments) (c.design[0] == 'o' ? &c.ovs.segment_bytes : &c.sl.segment_bytes)[0] = 256;
    v->set(&c);
    if (strcmp(v->design, "sl") == 0) c.slots = 8;
    return c;
}

/* The least near_bytes, of powers of two. */
static hd_status open_near(hd_config *c, hd_table **t)
{
    uint64_t *near = c->design[0] == 'o' ? &c->ovs.near_bytes : &c->sl.near_bytes;
    hd_status status = HD_EINVAL;
    for (*near = 1024; status == HD_EINVAL && *near < 1ull << 30; *near += *near / 4) status = hd_open(c, t);
    return status;
}

static hd_status put_entries(const held_place *place, hd_table *t, uint64_t first, uint64_t n, uint64_t by)
{
    enum { MOST = HELD_KEYS };
    uint64_t key[MOST], score[MOST];
    uint8_t value[MOST * HELD_VALUE];
    hd_info info;
    hd_table_info(t, &info);
    hd_batch b = { .n = 0 };
    for (uint64_t i = 0; i < n; i++) {
        key[i] = first + i;
        score[i] = by + i;
    }
    for (uint64_t i = 0; i < n * HELD_VALUE; i++) value[i] = (uint8_t)(i * 3 + by);
    b.stream = place->stream[1];
    b.op = HD_OP_INSERT_OR_ASSIGN;
    b.n = n;
    b.key = key;
    b.value = value;
    b.score = score;
    hd_status status = hd_run(t, &b);
    b.op = HD_OP_LOCK_KEYS;
    b.n = 3;
    b.holder = OTHER_HOLDER;
    if (!status) hd_run(t, &b); /* only hkv pins */
    return status;
}

static void fail(const char *variant, const char *what)
{
    fprintf(stderr, "held: %s: %s: %s\n", variant, what, hd_why());
    abort();
}

static hd_table *open_table(const held_place *place, const held_variant *v, const char *lock, const char *policy)
{
    hd_config c = config_of(place, v, lock, policy);
    hd_table *t = NULL;
    hd_status status = v->near ? open_near(&c, &t) : hd_open(&c, &t);
    if (!status) status = put_entries(place, t, 1, HELD_KEYS - 15, 100);
    if (status) fail(v->name, "open");
    return t;
}

static void write_file(const held_place *place, const held_variant *v, const char *policy)
{
    hd_config c = config_of(place, v, "ordered", policy);
    hd_table *t;
    hd_status status = v->near ? open_near(&c, &t) : hd_open(&c, &t);
    if (!status) status = put_entries(place, t, 20, 25, 500);
    if (!status) status = hd_save(t, file_of(place, policy));
    if (status) fail(v->name, "a file");
    hd_close(t);
}

/* Who has pinned what. */
static void add_pins(hd_table *t, held_got *got)
{
    static const uint64_t holders[] = { HOLDER, OTHER_HOLDER };
    uint64_t key[HELD_KEYS + 8];
    uint8_t outcome[HELD_KEYS + 8];
    hd_batch b;
    for (uint64_t i = 0; i < HELD_KEYS + 8; i++) key[i] = i;
    for (int h = 0; h < 2; h++) {
        memset(outcome, 0, sizeof outcome);
        memset(&b, 0, sizeof b);
        b.op = HD_OP_UNLOCK_KEYS;
        b.n = HELD_KEYS + 8;
        b.key = key;
        b.outcome = outcome;
        b.holder = holders[h];
        if (hd_run(t, &b) == HD_OK) add(got, mix_bytes(0, outcome, sizeof outcome));
    }
}

static void look(hd_table *t, held_got *got)
{
    memset(got, 0, sizeof *got);
    got->status = hd_check(t);
    if (!got->status) got->status = add_info(t, got);
    if (!got->status) got->status = add_counters(t, got);
    if (!got->status) got->status = add_entries(t, got, false);
    if (!got->status) add_pins(t, got);
}

/* ---- What is promised of two calls ----------------------------------------------------------- */

static bool is_done_on_return(const held_side *s)
{
    return s->call->waits || (s->call->does && s->memory == HELD_HOST); /* clear has no array */
}

/* Batches of this role may run at the same time. */
static bool overlap(const char *lock, hd_role role)
{
    if (strcmp(lock, "none") == 0) return true;
    if (strcmp(lock, "exclusive") == 0 || role == HD_INSERTER) return false;
    return role == HD_READER || strcmp(lock, "rw") != 0;
}

static bool in_order(const held_side *first, const held_side *second, const char *lock)
{
    bool by_call = strcmp(lock, "group3") != 0 && strcmp(lock, "none") != 0;
    if (first->stream == second->stream || second->call->waits || is_done_on_return(first)) return true;
    return by_call && (first->call->role != second->call->role || !overlap(lock, first->call->role));
}

static bool is_callers_own(const held_side *first, const held_side *second, const char *lock)
{
    return strcmp(lock, "none") == 0 && !in_order(first, second, lock) &&
           (first->call->role != HD_READER || second->call->role != HD_READER);
}

/* ---- Two calls ------------------------------------------------------------------------------- */

typedef struct thread_call {
    held_side *side;
    hd_table *t;
} thread_call;

static void *call_in_thread(void *context)
{
    const thread_call *c = (const thread_call *)context;
    side_call(c->side, c->t);
    return NULL;
}

static pthread_t call_apart(thread_call *c)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, call_in_thread, c)) abort();
    return thread;
}

static void make_calls(const held_place *place, held_side *first, held_side *second, hd_table *t, const held_how *h)
{
    thread_call c[] = { { first, t }, { second, t } };
    if (h->threads == 0 || !h->delayed) {
        side_call(first, t);
        if (!h->delayed) place->finish(place->self);
        side_call(second, t);
        return;
    }
    pthread_t thread = call_apart(&c[0]);
    if (h->threads == 1) pthread_join(thread, NULL);
    pthread_t other = call_apart(&c[1]);
    if (h->threads == 2) pthread_join(thread, NULL);
    pthread_join(other, NULL);
}

static void *stream_of(const held_place *place, const held_how *h, int k)
{
    static const int streams[HELD_STREAMS][2] = { { 0, 0 }, { 0, 1 }, { -1, 1 }, { 0, -1 } };
    int s = streams[h->streams][k];
    return s < 0 ? NULL : place->stream[s];
}

static held_side side_of(const held_place *place, const held_pair *p, const held_how *h, int k)
{
    held_side s = { .place = place,
                    .call = p->call[k],
                    .memory = p->memory[k],
                    .stream = stream_of(place, h, k),
                    .seed = (uint64_t)k };
    return s;
}

static void run(const held_place *place, const held_pair *p, const held_how *h, held_result *r)
{
    held_side side[2];
    bool early = h->delayed && place->early && h->order >= 2;
    memset(r, 0, sizeof *r);
    if (early) place->hold(place->self, NULL, h);
    hd_table *t = open_table(place, p->variant, p->lock, p->policy);
    for (int k = 0; k < 2; k++) {
        side[k] = side_of(place, p, h, k);
        side_begin(&side[k], t);
    }
    held_side *first = &side[h->swapped], *second = &side[!h->swapped];
    if (!early) place->finish(place->self);
    if (h->delayed && !early) place->hold(place->self, first, h);
    make_calls(place, first, second, t, h);
    if (h->delayed)
        place->release(place->self, first, second, h);
    else
        place->finish(place->self);
    for (int k = 0; k < 2; k++) {
        side_end(&side[k]);
        r->side[k] = side[k].got;
    }
    if (second->call->last) return;
    look(t, &r->end);
    hd_close(t);
}

static bool result_same(const held_result *a, const held_result *b)
{
    return same(&a->side[0], &b->side[0]) && same(&a->side[1], &b->side[1]) && same(&a->end, &b->end);
}

static const held_result *want(const held_place *place, const held_pair *p, held_wanted *w, int streams, bool swapped)
{
    const held_how h = { false, swapped, streams, 0, 0, 0 };
    held_result *r = &w->r[streams][swapped];
    if (!w->has[streams][swapped]) run(place, p, &h, r);
    w->has[streams][swapped] = true;
    return r;
}

bool held_right(const held_place *place, const held_pair *p, const held_how *h, held_wanted *w, held_result *got)
{
    const held_side first = side_of(place, p, h, 0), second = side_of(place, p, h, 1);
    run(place, p, h, got);
    if (result_same(got, want(place, p, w, h->streams, false))) return true;
    bool ordered = h->threads != 2 && in_order(&first, &second, p->lock);
    return !ordered && !p->call[1]->last && result_same(got, want(place, p, w, h->streams, true));
}

static bool is_callers(const held_place *place, const held_pair *p, const held_how *h)
{
    const held_side first = side_of(place, p, h, 0), second = side_of(place, p, h, 1);
    if (h->threads == 2 && (p->call[1]->last || strcmp(p->lock, "none") == 0)) return true;
    return is_callers_own(&first, &second, p->lock);
}

const char *held_where(const held_result *got, const held_result *wanted)
{
    static char text[200];
    static const char *const names[] = { "the first call", "the second call", "the table" };
    const held_got *g[] = { &got->side[0], &got->side[1], &got->end };
    const held_got *w[] = { &wanted->side[0], &wanted->side[1], &wanted->end };
    for (int k = 0; k < 3; k++) {
        uint64_t i = 0;
        if (same(g[k], w[k])) continue;
        while (i < g[k]->n && i < w[k]->n && g[k]->number[i] == w[k]->number[i]) i++;
        snprintf(text, sizeof text, "%s: %s instead of %s, number %d of %d", names[k], hd_status_name(g[k]->status),
                 hd_status_name(w[k]->status), (int)i, (int)w[k]->n);
        return text;
    }
    return "nothing";
}

const char *held_named(const held_pair *p, const held_how *h)
{
    static const char *const streams[] = { "one stream", "two streams", "default, then side", "side, then default" };
    static const char *const threads[] = { "one thread", "two threads in turn", "two threads at once" };
    static const char *const orders[] = { "the first held", "by chance", "the first first", "the second first" };
    static const char *const memory[] = { "device", "host", "pinned" };
    static char text[400];
    snprintf(text, sizeof text, "%s, lock %s, %s: %s (%s), then %s (%s); %s, %s, %s", p->variant->name, p->lock,
             p->policy, p->call[0]->name, memory[p->memory[0]], p->call[1]->name, memory[p->memory[1]],
             streams[h->streams], threads[h->threads], orders[h->order]);
    return text;
}

static void begin(const held_place *place, const held_variant *v, const char *what)
{
    char text[400];
    snprintf(text, sizeof text, "%s: %s", v->name, what);
    if (place->begin) place->begin(place->self, text);
}

void held_files(const held_place *place, const held_variant *v)
{
    begin(place, v, "files");
    write_file(place, v, "lru");
    write_file(place, v, "lfu");
}

/* ---- All pairs ------------------------------------------------------------------------------- */

/* Which calls a variant has, asked of a table. */
static void find_supported(const held_place *place, const held_variant *v, bool *has)
{
    const held_how h = { false, false, 0, 0, 0, 0 };
    for (size_t i = 0; held_call_at(i); i++) {
        const held_pair p = { v, "ordered", "lru", { held_call_at(i), NULL }, { HELD_DEVICE, HELD_DEVICE } };
        held_side s = side_of(place, &p, &h, 0);
        begin(place, v, held_call_at(i)->name);
        hd_table *t = open_table(place, v, p.lock, p.policy);
        side_begin(&s, t);
        side_call(&s, t);
        side_end(&s);
        has[i] = s.got.status == HD_OK;
        if (!has[i] && s.got.status != HD_EINVAL) fail(v->name, s.call->name);
        if (!s.call->last) hd_close(t);
    }
}

static uint64_t draw(uint64_t *random, uint64_t n) { return (mix(++*random, 77) >> 11) % n; }

static bool is_in_parts(const held_call *c) { return c->batch && c->waits; }

static void try_pair(const held_place *place, const held_pair *p, uint64_t ways, uint64_t *random, held_tally *n)
{
    const uint64_t all = (uint64_t)HELD_STREAMS * HELD_THREADS * (uint64_t)place->orders;
    held_result got;
    held_wanted w = { 0 };
    for (uint64_t k = 0; k < (ways ? ways : all); k++) {
        uint64_t x = ways ? draw(random, all) : k;
        held_how h = { true,
                       false,
                       (int)(x % HELD_STREAMS),
                       (int)(x / HELD_STREAMS % HELD_THREADS),
                       (int)(x / HELD_STREAMS / HELD_THREADS),
                       0 };
        /* times would tell who came first; and hd_run_growing runs in parts, which others may come between */
        if (strcmp(p->policy, "lru") == 0 || is_in_parts(p->call[0]) || is_in_parts(p->call[1]))
            h.threads %= HELD_THREADS - 1;
        if (is_callers(place, p, &h)) {
            n->callers++;
            continue;
        }
        if (place->begin) place->begin(place->self, held_named(p, &h));
        bool right = held_right(place, p, &h, &w, &got);
        if (place->tried) place->tried(place->self, p, &h, right);
        n->runs++;
        if (right) continue;
        if (n->differ++ < 40)
            printf("# differs: %s: %s\n", held_named(p, &h), held_where(&got, want(place, p, &w, h.streams, false)));
    }
}

static held_pair draw_pair(const held_place *place, const held_variant *v, size_t i, size_t j, uint64_t *random)
{
    static const char *const locks[] = { "ordered", "group3", "rw", "exclusive", "none" };
    const held_how apart = { .streams = 1 };
    held_pair p = {
        v, locks[draw(random, 5)], "lru", { held_call_at(i), held_call_at(j) }, { HELD_DEVICE, HELD_DEVICE }
    };
    for (int k = 0; k < 2; k++) p.memory[k] = (held_memory)draw(random, HELD_MEMORIES);
    /* where they may run in either order, times are no part of the result */
    const held_side first = side_of(place, &p, &apart, 0), second = side_of(place, &p, &apart, 1);
    if (!in_order(&first, &second, p.lock) || draw(random, 2)) p.policy = "lfu";
    return p;
}

void held_try(const held_place *place, size_t number, uint64_t share, uint64_t ways, double seconds, held_tally *n)
{
    const held_variant *v = held_variant_at(number);
    bool has[HELD_CALLS_MOST] = { false };
    uint64_t random = number * 1000003;
    time_t end = time(NULL) + (time_t)seconds;
    place->open(place->self, v->page);
    held_files(place, v);
    find_supported(place, v, has);
    for (size_t i = 0; held_call_at(i); i++)
        for (size_t j = 0; held_call_at(j); j++) {
            if (!has[i] || !has[j] || held_call_at(i)->last) continue;
            n->possible[i][j] = true;
            const held_pair p = draw_pair(place, v, i, j, &random);
            if (n->tried[i][j] && (i * 31 + j + number) % share) continue;
            if (seconds > 0 && time(NULL) >= end) continue;
            n->tried[i][j] = true;
            try_pair(place, &p, ways, &random, n);
        }
    place->close(place->self);
}

const char *held_told(const held_tally *n)
{
    static char text[300];
    int tried = 0, possible = 0, calls = 0;
    while (held_call_at((size_t)calls)) calls++;
    for (int i = 0; i < calls * calls; i++) {
        tried += n->tried[i / calls][i % calls];
        possible += n->possible[i / calls][i % calls];
    }
    snprintf(text, sizeof text,
             "%d of %d pairs of %d calls, %d with streams, threads and orders, %d differ; %d more are the caller's to "
             "separate",
             tried, possible, calls, (int)n->runs, (int)n->differ, (int)n->callers);
    return text;
}

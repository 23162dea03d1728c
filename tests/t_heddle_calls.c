/* SPDX-License-Identifier: Apache-2.0
 *
 * t_heddle_calls.c - every call of heddle_calls.h does what a batch of its operation does. The test makes each call on
 * one table and runs the batch on a second one; outcomes, outputs and contents must be the same. It needs only the
 * library.
 */
#include "heddle.h"
#include "tests/plain.h"

#include <stdlib.h>

enum { N = 64, KEYS = 48, VALUE = 8, CAPACITY = 32, HOLDER = 7 };

/* Every output that a call may have. */
typedef struct outputs {
    uint8_t outcome[N];
    uint64_t value[N], list_key[CAPACITY + N], list_value[CAPACITY + N], list_score[CAPACITY + N], list_item[N], count;
    uint64_t pointee[N];
    void *ptr[N];
    hd_status status;
} outputs;

static uint64_t key[N], value[N], score[N];
static uint8_t flag[N];

static hd_table *open_table(void)
{
    hd_config c = hd_config_default();
    hd_table *t = NULL;
    c.policy = "custom"; /* needs the caller's scores, so that a call that loses them fails */
    c.capacity = CAPACITY;
    c.slots = CAPACITY;
    c.value_bytes = VALUE;
    c.threads = 1;
    if (hd_open(&c, &t)) {
        puts(hd_why());
        exit(1);
    }
    return t;
}

typedef hd_status call(hd_table *t, outputs *o);

/* ---- The calls --------------------------------------------------------------------------------------------------- */

static hd_status call_find(hd_table *t, outputs *o) { return hd_find(t, N, key, o->value, o->outcome); }
static hd_status call_contains(hd_table *t, outputs *o) { return hd_contains(t, N, key, o->outcome); }
static hd_status call_find_ptr(hd_table *t, outputs *o) { return hd_find_ptr(t, N, key, o->ptr, o->outcome); }
static hd_status call_find_missed(hd_table *t, outputs *o)
{
    return hd_find_missed(t, N, key, o->value, o->outcome, o->list_key, o->list_item, &o->count);
}
static hd_status call_touch(hd_table *t, outputs *o) { return hd_touch(t, N, key, score, o->value, o->outcome); }
static hd_status call_assign(hd_table *t, outputs *o) { return hd_assign(t, N, key, value, score, o->outcome); }
static hd_status call_assign_values(hd_table *t, outputs *o) { return hd_assign_values(t, N, key, value, o->outcome); }
static hd_status call_assign_scores(hd_table *t, outputs *o) { return hd_assign_scores(t, N, key, score, o->outcome); }
static hd_status call_accum_or_assign(hd_table *t, outputs *o)
{
    return hd_accum_or_assign(t, N, key, value, HD_U64, score, flag, o->outcome);
}
static hd_status call_upsert(hd_table *t, outputs *o) { return hd_upsert(t, N, key, value, score, o->outcome); }
static hd_status call_insert_or_assign(hd_table *t, outputs *o)
{
    return hd_insert_or_assign(t, N, key, value, score, o->outcome);
}
static hd_status call_import(hd_table *t, outputs *o) { return hd_import(t, N, key, value, score, o->outcome); }
static hd_status call_insert_and_evict(hd_table *t, outputs *o)
{
    return hd_insert_and_evict(t, N, key, value, score, o->outcome, o->list_key, o->list_value, o->list_score,
                               &o->count);
}
static hd_status call_find_or_insert(hd_table *t, outputs *o)
{
    return hd_find_or_insert(t, N, key, value, score, o->value, o->outcome);
}
static hd_status call_find_or_insert_ptr(hd_table *t, outputs *o)
{
    return hd_find_or_insert_ptr(t, N, key, score, o->ptr, o->outcome);
}
static hd_status call_lock_keys(hd_table *t, outputs *o) { return hd_lock_keys(t, N / 4, key, HOLDER, o->outcome); }
static hd_status call_unlock_keys(hd_table *t, outputs *o) { return hd_unlock_keys(t, N, key, HOLDER, o->outcome); }
static hd_status call_erase(hd_table *t, outputs *o) { return hd_erase(t, N, key, o->outcome); }
static hd_status call_erase_if(hd_table *t, outputs *o) { return hd_erase_if(t, "key_masked", 1, 1, &o->count); }
static hd_status call_size(hd_table *t, outputs *o) { return hd_size(t, &o->count); }
static hd_status call_size_if(hd_table *t, outputs *o) { return hd_size_if(t, "key_masked", 3, 2, &o->count); }
static hd_status call_export(hd_table *t, outputs *o)
{
    return hd_export(t, 3, CAPACITY - 3, o->list_key, o->list_value, o->list_score, &o->count);
}
static hd_status call_export_if(hd_table *t, outputs *o)
{
    return hd_export_if(t, 3, CAPACITY - 3, "key_masked", 3, 2, o->list_key, o->list_value, o->list_score, &o->count);
}
static hd_status call_promote(hd_table *t, outputs *o) { return hd_promote(t, 0, CAPACITY, &o->count); }
static hd_status call_upsert_growing(hd_table *t, outputs *o)
{
    return hd_upsert_growing(t, N, key, value, score, o->outcome, 0);
}

/* ---- The same as batches ----------------------------------------------------------------------------------------- */

/* What a call passes on: the fields of its batch, by name. */
enum {
    VALUE_IN = 1,
    SCORE = 2,
    FLAG = 4,
    VALUE_OUT = 8,
    PTR = 16,
    LIST = 32,      /* keys, values, scores and count */
    LIST_ITEM = 64, /* keys, items and count */
    COUNT = 128,
    PRED = 256,
    PRED_ODD = 512,
    HOLDS = 1024,
    SLOTS = 2048,
    GROWING = 4096,
    RAW = 8192
};

typedef struct row {
    const char *name;
    call *run;
    hd_op op;
    uint64_t n, start;
    unsigned fields;
} call_row;

/* clang-format off */
static const call_row rows[] = {
    { "hd_insert_or_assign",   call_insert_or_assign,   HD_OP_INSERT_OR_ASSIGN,   N, 0, VALUE_IN | SCORE },
    { "hd_upsert",             call_upsert,             HD_OP_INSERT_OR_ASSIGN,   N, 0, VALUE_IN | SCORE },
    { "hd_find",               call_find,               HD_OP_FIND,               N, 0, VALUE_OUT },
    { "hd_contains",           call_contains,           HD_OP_CONTAINS,           N, 0, 0 },
    { "hd_find_ptr",           call_find_ptr,           HD_OP_FIND_PTR,           N, 0, PTR },
    { "hd_find_missed",        call_find_missed,        HD_OP_FIND_MISSED,        N, 0, VALUE_OUT | LIST_ITEM },
    { "hd_touch",              call_touch,              HD_OP_TOUCH,              N, 0, SCORE | VALUE_OUT },
    { "hd_assign",             call_assign,             HD_OP_ASSIGN,             N, 0, VALUE_IN | SCORE },
    { "hd_assign_values",      call_assign_values,      HD_OP_ASSIGN_VALUES,      N, 0, VALUE_IN },
    { "hd_assign_scores",      call_assign_scores,      HD_OP_ASSIGN_SCORES,      N, 0, SCORE },
    { "hd_accum_or_assign",    call_accum_or_assign,    HD_OP_ACCUM_OR_ASSIGN,    N, 0, VALUE_IN | SCORE | FLAG },
    { "hd_insert_and_evict",   call_insert_and_evict,   HD_OP_INSERT_AND_EVICT,   N, 0, VALUE_IN | SCORE | LIST },
    { "hd_find_or_insert",     call_find_or_insert,     HD_OP_FIND_OR_INSERT,     N, 0, VALUE_IN | SCORE | VALUE_OUT },
    { "hd_find_or_insert_ptr", call_find_or_insert_ptr, HD_OP_FIND_OR_INSERT_PTR, N, 0, SCORE | PTR },
    { "hd_upsert_growing",     call_upsert_growing,     HD_OP_INSERT_OR_ASSIGN,   N, 0, VALUE_IN | SCORE | GROWING },
    { "hd_import",             call_import,             HD_OP_INSERT_OR_ASSIGN,   N, 0, VALUE_IN | SCORE | RAW },
    { "hd_lock_keys",          call_lock_keys,          HD_OP_LOCK_KEYS,      N / 4, 0, HOLDS },
    { "hd_unlock_keys",        call_unlock_keys,        HD_OP_UNLOCK_KEYS,        N, 0, HOLDS },
    { "hd_export",             call_export,             HD_OP_EXPORT,  CAPACITY - 3, 3, LIST | SLOTS },
    { "hd_export_if",          call_export_if,          HD_OP_EXPORT_IF, CAPACITY - 3, 3, LIST | SLOTS | PRED },
    { "hd_promote",            call_promote,            HD_OP_PROMOTE,     CAPACITY, 0, COUNT | SLOTS },
    { "hd_size",               call_size,               HD_OP_SIZE,               0, 0, COUNT },
    { "hd_size_if",            call_size_if,            HD_OP_SIZE_IF,            0, 0, COUNT | PRED },
    { "hd_erase_if",           call_erase_if,           HD_OP_ERASE_IF,           0, 0, COUNT | PRED_ODD },
    { "hd_erase",              call_erase,              HD_OP_ERASE,              N, 0, 0 },
};
/* clang-format on */

static void batch_inputs(hd_batch *b, const call_row *r)
{
    b->op = r->op;
    b->n = r->n;
    b->start = r->start;
    if (!(r->fields & (SLOTS | PRED | PRED_ODD)) && r->op != HD_OP_SIZE) b->key = key;
    if (r->fields & VALUE_IN) b->value = value;
    if (r->fields & SCORE) b->score = score;
    if (r->fields & FLAG) {
        b->flag = flag;
        b->elem = HD_U64;
    }
    if (r->fields & HOLDS) b->holder = HOLDER;
    b->raw_scores = r->fields & RAW;
    if (r->fields & PRED) {
        b->pred = "key_masked";
        b->pred_arg[0] = 3;
        b->pred_arg[1] = 2;
    }
    if (r->fields & PRED_ODD) {
        b->pred = "key_masked";
        b->pred_arg[0] = 1;
        b->pred_arg[1] = 1;
    }
}

static hd_status run_written_out(hd_table *t, const call_row *r, outputs *o)
{
    hd_batch b = { .n = 0 };
    batch_inputs(&b, r);
    b.outcome = b.key ? o->outcome : NULL;
    if (r->fields & VALUE_OUT) b.value_out = o->value;
    if (r->fields & PTR) b.ptr = o->ptr;
    if (r->fields & (LIST | LIST_ITEM)) b.list_key = o->list_key;
    if (r->fields & LIST) b.list_value = o->list_value;
    if (r->fields & LIST) b.list_score = o->list_score;
    if (r->fields & LIST_ITEM) b.list_item = o->list_item;
    if (r->fields & (COUNT | LIST | LIST_ITEM)) b.count = &o->count;
    return r->fields & GROWING ? hd_run_growing(t, &b, 0) : hd_run(t, &b);
}

/* ---- The comparison ---------------------------------------------------------------------------------------------- */

/* Pointers differ between two tables: what they point to does not. */
static void follow_pointers(outputs *o)
{
    for (int i = 0; i < N; i++) {
        if (o->ptr[i]) memcpy(&o->pointee[i], o->ptr[i], VALUE);
        o->ptr[i] = NULL;
    }
}

static void contents(hd_table *t, outputs *o)
{
    hd_batch b = hd_batch_of(HD_OP_EXPORT, CAPACITY, NULL);
    b.list_key = o->list_key;
    b.list_value = o->list_value;
    b.list_score = o->list_score;
    b.count = &o->count;
    o->status = hd_run(t, &b);
}

static int same(outputs *a, outputs *b)
{
    follow_pointers(a);
    follow_pointers(b);
    return memcmp(a, b, sizeof *a) == 0;
}

static void draw(uint64_t *state)
{
    for (int i = 0; i < N; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        key[i] = (*state >> 33) % KEYS;
        value[i] = *state >> 20;
        score[i] = *state >> 40;
        flag[i] = (uint8_t)((*state >> 50) % 3);
    }
}

/* This program is linked with libheddle, which has no simulator; the sentence names the library that has it. */
static void refuse_host(void)
{
    hd_config c = hd_config_default();
    hd_table *t = NULL;
    hd_row row;
    int listed = 0;
    c.backend = "host";
    ok(hd_open(&c, &t) == HD_EINVAL && !t && strstr(hd_why(), "libheddle-sim"), "backend host is in libheddle-sim");
    for (size_t i = 0; hd_list(HD_BACKENDS, i, &row); i++)
        listed += strcmp(row.name, "host") == 0 && strstr(row.more, "libheddle-sim");
    ok(listed == 1, "and the list of backends says so");
}

/* Values of `bytes` bytes, in arrays that start at an odd byte; addresses in the table. */
static int align_values(uint32_t bytes)
{
    static unsigned char in[N * 64 + 1], out[N * 64 + 1];
    hd_config c = hd_config_default();
    hd_table *t = NULL;
    void *ptrs[N];
    uint64_t keys[N];
    uint32_t divisor = bytes & (0u - bytes), aligned = 0;
    c.capacity = 8 * N; /* no bucket is full */
    c.value_bytes = bytes;
    c.threads = 1;
    for (uint64_t i = 0; i < N; i++) keys[i] = i + 1;
    for (uint64_t i = 0; i < sizeof in; i++) in[i] = (unsigned char)(7 * i + bytes);
    memset(out, 0, sizeof out);
    if (hd_open(&c, &t)) return 0;
    int good = !hd_upsert(t, N, keys, in + 1, NULL, NULL) && !hd_find(t, N, keys, out + 1, NULL) &&
               !hd_find_ptr(t, N, keys, ptrs, NULL) && memcmp(in + 1, out + 1, (size_t)N * bytes) == 0;
    for (int i = 0; i < N && good; i++) aligned += (uintptr_t)ptrs[i] % divisor == 0;
    hd_close(t);
    return aligned == N;
}

/* Under lru, which would score by time. */
static int imports_scores(void)
{
    const uint64_t keys[] = { 1, 2 }, in[] = { 11, 12 }, given[] = { 1ull << 40, 3 };
    uint64_t scores[2] = { 0, 0 };
    hd_config c = hd_config_default();
    hd_table *t = NULL;
    if (hd_open(&c, &t)) return 0;
    hd_batch b = hd_batch_of(HD_OP_FIND, 2, keys);
    b.score_out = scores;
    int good = !hd_import(t, 2, keys, in, given, NULL) && !hd_run(t, &b) && hd_import(t, 2, keys, in, NULL, NULL);
    hd_close(t);
    return good && memcmp(scores, given, sizeof given) == 0;
}

int main(void)
{
    static outputs short_way, long_way, short_end, long_end, untouched;
    hd_table *a = open_table(), *b = open_table();
    uint64_t state = 5;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        const call_row *r = &rows[k];
        draw(&state);
        memset(&short_way, 0, sizeof short_way);
        memset(&long_way, 0, sizeof long_way);
        memset(&short_end, 0, sizeof short_end);
        memset(&long_end, 0, sizeof long_end);
        short_way.status = r->run(a, &short_way);
        long_way.status = run_written_out(b, r, &long_way);
        int told = memcmp(&short_way, &untouched, sizeof untouched) != 0 || r->op == HD_OP_PROMOTE;
        int agree = short_way.status == HD_OK && same(&short_way, &long_way);
        contents(a, &short_end);
        contents(b, &long_end);
        ok(agree && told && same(&short_end, &long_end), r->name);
    }
    ok(hd_find(a, 1, NULL, NULL, NULL) == HD_EINVAL, "a call without keys is refused");
    ok(hd_upsert(a, 1, key, value, NULL, NULL) == HD_EINVAL, "a call without the scores that custom needs is refused");
    hd_close(a);
    hd_close(b);
    ok(imports_scores(), "hd_import stores scores as they are, and needs them");
    refuse_host();
    int right = 0;
    for (uint32_t bytes = 1; bytes <= 64; bytes++) right += align_values(bytes);
    ok(right == 64, "arrays of values start anywhere; values in a table are aligned");
    return plain_finish();
}

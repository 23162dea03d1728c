/* SPDX-License-Identifier: Apache-2.0
 *
 * model.c - see model.h.
 */
#include "tests/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *objection(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *objection(const char *format, ...)
{
    static char sentence[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(sentence, sizeof sentence, format, ap);
    va_end(ap);
    return sentence;
}

void model_open(model *m, hd_table *table)
{
    hd_info info;
    must(hd_table_info(table, &info));
    memset(m, 0, sizeof *m);
    snprintf(m->policy, sizeof m->policy, "%s", info.policy);
    m->buckets = info.buckets;
    m->slots = info.slots;
    m->value_bytes = info.value_bytes;
    m->dual = info.hkv.dual;
    m->always = info.hkv.admit == HD_ADMIT_ALWAYS;
    m->seed = info.seed;
    m->now = info.now;
    m->epoch = info.epoch;
    m->used = (uint32_t *)test_alloc(m->buckets, sizeof *m->used);
    m->key = (uint64_t *)test_alloc(m->buckets * m->slots, sizeof *m->key);
    m->score = (uint64_t *)test_alloc(m->buckets * m->slots, sizeof *m->score);
    m->value = (uint8_t *)test_alloc(m->buckets * m->slots, m->value_bytes);
    model_queues_open(m);
    model_counts_open(m);
}

void model_close(model *m)
{
    model_queues_close(m);
    model_counts_close(m);
    free(m->used);
    free(m->key);
    free(m->score);
    free(m->value);
}

/* ---- Where ----------------------------------------------------------------------------------- */

static uint64_t scaled(uint64_t h, uint64_t n)
{
    /* the upper half of a 128-bit product, by schoolbook multiplication on 32-bit digits */
    uint64_t a = h >> 32, b = h & 0xffffffffu, c = n >> 32, d = n & 0xffffffffu;
    uint64_t middle = a * d + (b * d >> 32);
    uint64_t low_middle = (middle & 0xffffffffu) + b * c;
    return a * c + (middle >> 32) + (low_middle >> 32);
}

/* 1/a modulo 2^64, a odd: a * a is 1 modulo 8, and Newton's step doubles the bits that are right. */
static uint64_t reciprocal(uint64_t a)
{
    uint64_t x = a;
    for (int bits = 3; bits < 64; bits *= 2) x *= 2 - a * x;
    return x;
}

uint64_t model_unhash(uint64_t h, uint64_t seed)
{
    h = (h ^ (h >> 33)) * reciprocal(0xc4ceb9fe1a85ec53u); /* h ^ h >> 33 undoes itself, as 2 x 33 > 64 */
    h = (h ^ (h >> 33)) * reciprocal(0xff51afd7ed558ccdu);
    return (h ^ (h >> 33)) ^ seed;
}

unsigned model_buckets(const model *m, uint64_t key, uint64_t b[2])
{
    uint64_t h = key ^ m->seed; /* MurmurHash3's fmix64 */
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    h = h ^ (h >> 33);
    b[0] = b[1] = scaled(h, m->buckets);
    if (!m->dual) return 1;
    b[1] = scaled((h >> 32) | (h << 32), m->buckets);
    if (b[1] == b[0]) b[1] = (b[0] + 1) % m->buckets;
    return 2;
}

static int64_t find_in(const model *m, uint64_t b, uint64_t key)
{
    for (uint64_t p = b * m->slots, end = p + m->used[b]; p < end; p++)
        if (m->key[p] == key) return (int64_t)p;
    return MODEL_NONE;
}

int64_t model_find(const model *m, uint64_t key)
{
    uint64_t b[2];
    unsigned n = model_buckets(m, key, b);
    int64_t p = find_in(m, b[0], key);
    return p == MODEL_NONE && n == 2 ? find_in(m, b[1], key) : p;
}

uint64_t model_size(const model *m)
{
    uint64_t n = 0;
    for (uint64_t b = 0; b < m->buckets; b++) n += m->used[b];
    return n;
}

/* ---- How much -------------------------------------------------------------------------------- */

static uint64_t plus(uint64_t a, uint64_t b, uint64_t most) { return b > most || a > most - b ? most : a + b; }

static bool policy_is(const model *m, const char *name) { return !strcmp(m->policy, name); }

/* Policies that are expressions, and what they mean. */
typedef struct model_expression {
    const char *text;
    uint64_t (*on_insert)(const model *m, uint64_t given);
    uint64_t (*on_hit)(const model *m, uint64_t old, uint64_t given);
    bool admits; /* no key is refused */
} model_expression;

static uint64_t now_of(const model *m, uint64_t given)
{
    (void)given;
    return m->now;
}
static uint64_t given_itself(const model *m, uint64_t given)
{
    (void)m;
    return given;
}
static uint64_t faded(const model *m, uint64_t old, uint64_t given)
{
    (void)given;
    return plus(old / 2, m->now / 2, UINT64_MAX);
}
/* A key that comes again within 1000 ticks counts double. */
static uint64_t bursts(const model *m, uint64_t old, uint64_t given)
{
    uint64_t more = m->now > old && m->now - old > 1000 ? given : plus(given, given, UINT64_MAX);
    return plus(old > m->now ? old : m->now, more, UINT64_MAX);
}
static uint64_t counted(const model *m, uint64_t old, uint64_t given)
{
    (void)m;
    return plus(old, given, UINT64_MAX);
}
static uint64_t once_more(const model *m, uint64_t old, uint64_t given)
{
    (void)m;
    return plus(old > given ? old : given, 1, UINT64_MAX);
}

static const model_expression expressions[] = {
    { "expr:on_insert=now;on_hit=(old>>1)+(now>>1)", now_of, faded, false },
    { "expr:on_insert=now;on_hit=(((now-old)<=1000)?(given*2):given)+max(old,now);admission=MAX", now_of, bursts,
      true },
    { "expr:on_insert=given;on_hit=old+given", given_itself, counted, false },
    { "expr:on_insert=given;on_hit=max(old,given)+1;admission=MAX", given_itself, once_more, true },
};

static const model_expression *expression_of(const model *m)
{
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++)
        if (policy_is(m, expressions[i].text)) return &expressions[i];
    return NULL;
}

bool model_restates(const model *m)
{
    return policy_is(m, "lru") || policy_is(m, "lfu") || policy_is(m, "epoch_lru") || policy_is(m, "epoch_lfu") ||
           policy_is(m, "custom") || policy_is(m, "fifo") || policy_is(m, "epoch_fifo") || policy_is(m, "clock") ||
           policy_is(m, "sieve") || policy_is(m, "lru2") || policy_is(m, "lrfu") || model_has_queues(m) ||
           expression_of(m);
}

/* Steps of scores of policies that spare: a tick of clock, a sweep of sieve. */
#define CLOCK_TICK  16384u
#define SIEVE_SWEEP 274877906944u

#define LRFU_TICK 64u

static uint64_t times(uint64_t a, uint64_t b) { return a > UINT64_MAX / b ? UINT64_MAX : a * b; }

/* Of the times of two uses and one more. */
static uint64_t two_latest(uint64_t before, uint64_t last, uint64_t now)
{
    if (now > last) return (before > last ? before : last) * 0x100000000u + now;
    return (before > now ? before : now) * 0x100000000u + last;
}

/* The logarithm of 2^(a / 65536) + 2^(b / 65536), rounded as the policy says: the lesser power is of 2^20 when the
 * greater is 2^20, and rounded down. */
static uint64_t sum_of_powers(uint64_t a, uint64_t b)
{
    uint64_t high = a > b ? a : b, apart = high - (a > b ? b : a);
    long double part = apart > 20 * 65536 ? 1 : floorl(exp2l(20 - (long double)apart / 65536));
    return plus(high, (uint64_t)floorl(65536 * log2l((1 << 20) + part)) - 20 * 65536, UINT64_MAX);
}

uint64_t model_on_insert(const model *m, uint64_t given)
{
    uint64_t epoch = (uint64_t)m->epoch * 0x100000000u;
    if (policy_is(m, "lru") || policy_is(m, "fifo")) return m->now;
    if (policy_is(m, "epoch_lru") || policy_is(m, "epoch_fifo")) return plus(epoch, m->now, UINT64_MAX);
    if (policy_is(m, "epoch_lfu")) return epoch + plus(0, given, 0xffffffffu);
    if (policy_is(m, "lru2")) return plus(0, m->now, 0xffffffffu);
    if (policy_is(m, "lrfu")) return times(m->now, LRFU_TICK);
    if (policy_is(m, "clock")) return plus(times(m->now, CLOCK_TICK), 2 * (uint64_t)m->spared, UINT64_MAX);
    if (policy_is(m, "sieve")) return m->least - m->least % SIEVE_SWEEP + 2 * plus(0, m->now, SIEVE_SWEEP / 2 - 1);
    if (model_has_queues(m)) return model_queues_on_insert(m);
    if (expression_of(m)) return expression_of(m)->on_insert(m, given);
    check(model_restates(m), "the model knows no policy %s", m->policy);
    return given;
}

uint64_t model_on_hit(const model *m, uint64_t old, uint64_t given)
{
    if (policy_is(m, "lfu")) return plus(old, given, UINT64_MAX);
    if (policy_is(m, "epoch_lfu"))
        return (uint64_t)m->epoch * 0x100000000u + plus(old % 0x100000000u, given, 0xffffffffu);
    if (policy_is(m, "fifo") || (policy_is(m, "epoch_fifo") && old / 0x100000000u >= m->epoch)) return old;
    if (policy_is(m, "epoch_fifo")) return (uint64_t)m->epoch * 0x100000000u + old % 0x100000000u;
    if (policy_is(m, "clock") || policy_is(m, "sieve")) return old + 1 - old % 2;
    if (policy_is(m, "lru2")) return two_latest(old / 0x100000000u, old % 0x100000000u, plus(0, m->now, 0xffffffffu));
    if (policy_is(m, "lrfu")) return sum_of_powers(old, times(m->now, LRFU_TICK));
    if (model_has_queues(m)) return model_queues_on_hit(m, old, given);
    if (expression_of(m)) return expression_of(m)->on_hit(m, old, given);
    return model_on_insert(m, given);
}

static uint64_t admission(const model *m, uint64_t given)
{
    bool all = policy_is(m, "lfu") || policy_is(m, "clock") || policy_is(m, "sieve") || policy_is(m, "lru2") ||
               policy_is(m, "lrfu") || (expression_of(m) && expression_of(m)->admits);
    return m->always || all ? UINT64_MAX : model_on_insert(m, given);
}

/* ---- Upsert ---------------------------------------------------------------------------------- */

static uint64_t least_of(const model *m, uint64_t b)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t s = 0; s < m->used[b]; s++)
        if (m->score[b * m->slots + s] < least) least = m->score[b * m->slots + s];
    return least;
}

/* D2: the one whose least score is lower */
static uint64_t gives_up(const model *m, const uint64_t b[2], unsigned n)
{
    return n == 2 && least_of(m, b[1]) < least_of(m, b[0]) ? b[1] : b[0];
}

/* The least entry is spared if it was hit: clock puts it behind all, sieve leaves it to the next sweep. */
static void spare(model *m, const uint64_t b[2], unsigned n)
{
    bool clock = policy_is(m, "clock");
    for (m->spared = 0; (clock || policy_is(m, "sieve")) && m->spared < n * m->slots; m->spared++) {
        uint64_t to = gives_up(m, b, n), least = least_of(m, to), p = to * m->slots;
        if (least % 2 == 0) return;
        while (m->score[p] != least) p++; /* one: no two of a logical clock are equal */
        m->score[p] = clock ? model_on_insert(m, 1) : plus(least - 1, SIEVE_SWEEP, UINT64_MAX);
    }
}

/* The least score in bucket b but for that of place p; 0: there is none. */
static uint64_t least_beside(const model *m, uint64_t b, uint64_t p)
{
    uint64_t least = UINT64_MAX, others = 0;
    for (uint64_t q = b * m->slots; q < b * m->slots + m->used[b]; q++)
        if (q != p && ++others && m->score[q] < least) least = m->score[q];
    return others ? least : 0;
}

static void put(model *m, uint64_t p, uint64_t key, const void *value, uint64_t score)
{
    m->key[p] = key;
    m->score[p] = score;
    if (m->value_bytes) memmove(m->value + p * m->value_bytes, value, m->value_bytes);
}

static bool same_value(const model *m, uint64_t p, const void *value)
{
    return !m->value_bytes || !value || !memcmp(m->value + p * m->value_bytes, value, m->value_bytes);
}

static const char *must_be(hd_outcome want, hd_outcome said, uint64_t key, uint64_t b)
{
    if (said == want) return NULL;
    return objection("key %llu, bucket %llu: must be %s, was %s", (ull)key, (ull)b, hd_outcome_name(want),
                     hd_outcome_name(said));
}

static const char *must_be_refused(const model *m, const model_entry *left, uint64_t key, const void *value,
                                   uint64_t score)
{
    if (left->key != key || left->score != score)
        return objection("refused (%llu, %llu) was listed as (%llu, %llu)", (ull)key, (ull)score, (ull)left->key,
                         (ull)left->score);
    if (m->value_bytes && left->value && memcmp(left->value, value, m->value_bytes))
        return objection("refused key %llu was listed with another value", (ull)key);
    return NULL;
}

/* An absent key of a policy with queues, which admits all but for tinylfu. */
static const char *upsert_by_queues(model *m, const uint64_t b[2], unsigned n, uint64_t to, uint64_t key,
                                    const void *value, uint64_t given, hd_outcome said, const model_entry *left)
{
    const char *no;
    int64_t leaves = model_queues_take(m, b, n, to, key);
    uint64_t score = model_on_insert(m, given);
    if (leaves == MODEL_NONE) {
        if ((no = must_be(HD_INSERTED, said, key, to))) return no;
        put(m, to * m->slots + m->used[to]++, key, value, score);
        return NULL;
    }
    uint64_t p = (uint64_t)leaves, at = p / m->slots;
    if (policy_is(m, "tinylfu") && !m->always && model_count_of(m, at, key) <= model_count_of(m, at, m->key[p]))
        return (no = must_be(HD_REFUSED, said, key, at)) ? no : must_be_refused(m, left, key, value, score);
    if ((no = must_be(HD_EVICTED, said, key, at))) return no;
    if (left->key != m->key[p] || left->score != m->score[p])
        return objection("key %llu evicted (%llu, %llu); (%llu, %llu) is to leave", (ull)key, (ull)left->key,
                         (ull)left->score, (ull)m->key[p], (ull)m->score[p]);
    if (!same_value(m, p, left->value))
        return objection("evicted key %llu was listed with another value", (ull)left->key);
    put(m, p, key, value, score);
    return NULL;
}

const char *model_upsert(model *m, uint64_t key, const void *value, uint64_t given, hd_outcome said,
                         const model_entry *left)
{
    uint64_t b[2];
    m->spared = 0;
    m->least = 0;
    unsigned n = model_buckets(m, key, b);
    int64_t found = model_find(m, key);
    const char *no;
    model_count(m, key);
    if (found != MODEL_NONE) {
        uint64_t p = (uint64_t)found;
        if ((no = must_be(HD_UPDATED, said, key, p / m->slots))) return no;
        put(m, p, key, value, model_on_hit(m, m->score[p], given));
        return NULL;
    }

    /* D1: the emptier of the two, while one has room */
    uint64_t to = n == 2 && m->used[b[1]] < m->used[b[0]] ? b[1] : b[0];
    if (model_has_queues(m)) return upsert_by_queues(m, b, n, to, key, value, given, said, left);
    if (m->used[to] < m->slots) {
        if ((no = must_be(HD_INSERTED, said, key, to))) return no;
        m->least = least_beside(m, to, UINT64_MAX);
        put(m, to * m->slots + m->used[to], key, value, model_on_insert(m, given));
        m->used[to]++;
        return NULL;
    }

    spare(m, b, n);
    to = gives_up(m, b, n);
    uint64_t least = least_of(m, to), score = model_on_insert(m, given);
    if (admission(m, given) < least) {
        return (no = must_be(HD_REFUSED, said, key, to)) ? no : must_be_refused(m, left, key, value, score);
    }
    if ((no = must_be(HD_EVICTED, said, key, to))) return no;
    int64_t victim = find_in(m, to, left->key);
    if (victim == MODEL_NONE)
        return objection("key %llu evicted %llu, which is not in bucket %llu", (ull)key, (ull)left->key, (ull)to);
    uint64_t p = (uint64_t)victim;
    if (m->score[p] != least)
        return objection("key %llu evicted %llu with score %llu; the least is %llu", (ull)key, (ull)left->key,
                         (ull)m->score[p], (ull)least);
    if (left->score != least)
        return objection("evicted key %llu had score %llu, listed as %llu", (ull)left->key, (ull)least,
                         (ull)left->score);
    if (!same_value(m, p, left->value))
        return objection("evicted key %llu was listed with another value", (ull)left->key);
    m->least = least_beside(m, to, p);
    put(m, p, key, value, model_on_insert(m, given));
    return NULL;
}

void model_load(model *m, hd_table *table)
{
    model_contents c;
    model_open(m, table);
    contents_take(&c, table);
    for (uint64_t i = 0; i < c.n; i++) {
        uint64_t b = c.slot[i] / m->slots;
        put(m, b * m->slots + m->used[b]++, c.key[i], c.value + i * m->value_bytes, c.score[i]);
    }
    contents_give(&c);
}

void model_erase(model *m, int64_t place)
{
    uint64_t p = (uint64_t)place, b = p / m->slots, last = b * m->slots + --m->used[b];
    put(m, p, m->key[last], m->value + last * m->value_bytes, m->score[last]);
}

/* ---- Contents -------------------------------------------------------------------------------- */

typedef struct line {
    uint64_t key, score, slot, at;
} line;

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const line *)a)->key, y = ((const line *)b)->key;
    return (x > y) - (x < y);
}

void contents_take(model_contents *c, hd_table *table)
{
    hd_info info;
    uint64_t n = 0;
    must(hd_table_info(table, &info));
    uint64_t *key = (uint64_t *)test_alloc(info.places, sizeof *key);
    uint64_t *score = (uint64_t *)test_alloc(info.places, sizeof *score);
    uint64_t *slot = (uint64_t *)test_alloc(info.places, sizeof *slot);
    uint8_t *value = (uint8_t *)test_alloc(info.places, info.value_bytes);
    hd_batch b = { .op = HD_OP_EXPORT,
                   .n = info.places,
                   .list_key = key,
                   .list_value = info.value_bytes ? value : NULL,
                   .list_score = score,
                   .list_item = slot,
                   .count = &n };
    must(hd_run(table, &b));

    line *l = (line *)test_alloc(n, sizeof *l);
    for (uint64_t i = 0; i < n; i++) l[i] = (line){ key[i], score[i], slot[i], i };
    qsort(l, (size_t)n, sizeof *l, by_key);
    memset(c, 0, sizeof *c);
    c->n = n;
    c->now = info.now;
    c->epoch = info.epoch;
    c->value_bytes = info.value_bytes;
    c->key = key;
    c->score = score;
    c->slot = slot;
    c->value = (uint8_t *)test_alloc(n, info.value_bytes);
    for (uint64_t i = 0; i < n; i++) {
        key[i] = l[i].key;
        score[i] = l[i].score;
        slot[i] = l[i].slot;
        if (info.value_bytes)
            memcpy(c->value + i * info.value_bytes, value + l[i].at * info.value_bytes, info.value_bytes);
    }
    free(l);
    free(value);
}

void contents_give(model_contents *c)
{
    free(c->key);
    free(c->score);
    free(c->slot);
    free(c->value);
    memset(c, 0, sizeof *c);
}

bool contents_equal(const model_contents *a, const model_contents *b, bool whole)
{
    size_t words = (size_t)a->n * sizeof *a->key;
    if (a->n != b->n || a->value_bytes != b->value_bytes) return false;
    if (whole && (a->now != b->now || a->epoch != b->epoch)) return false;
    if (!a->n) return true;
    return !memcmp(a->key, b->key, words) && !memcmp(a->score, b->score, words) &&
           !memcmp(a->value, b->value, (size_t)a->n * a->value_bytes) && (!whole || !memcmp(a->slot, b->slot, words));
}

const char *model_compare(const model *m, hd_table *table)
{
    model_contents c;
    const char *no = NULL;
    contents_take(&c, table);
    if (c.n != model_size(m))
        no = objection("the table has %llu entries, the model %llu", (ull)c.n, (ull)model_size(m));
    if (c.now != m->now) no = objection("the table's clock is %llu, the model's %llu", (ull)c.now, (ull)m->now);
    if (c.epoch != m->epoch) no = objection("the table's epoch is %u, the model's %u", c.epoch, m->epoch);
    for (uint64_t i = 0; i < c.n && !no; i++) {
        int64_t p = model_find(m, c.key[i]);
        if (p == MODEL_NONE)
            no = objection("the table has key %llu, the model has not", (ull)c.key[i]);
        else if (i && c.key[i] == c.key[i - 1])
            no = objection("key %llu is in the table twice", (ull)c.key[i]);
        else if (c.slot[i] / m->slots != (uint64_t)p / m->slots)
            no = objection("key %llu is in bucket %llu, the model has it in %llu", (ull)c.key[i],
                           (ull)(c.slot[i] / m->slots), (ull)p / m->slots);
        else if (c.score[i] != m->score[p])
            no = objection("key %llu has score %llu, in the model %llu", (ull)c.key[i], (ull)c.score[i],
                           (ull)m->score[p]);
        else if (!same_value(m, (uint64_t)p, c.value + i * m->value_bytes))
            no = objection("key %llu has another value than in the model", (ull)c.key[i]);
    }
    contents_give(&c);
    return no;
}

void value_make(void *value, uint32_t value_bytes, uint64_t key, uint64_t time)
{
    uint64_t state = key * 0x9e3779b97f4a7c15u + time;
    for (uint32_t i = 0; i < value_bytes; i += 8) {
        uint64_t word = test_random(&state);
        memcpy((uint8_t *)value + i, &word, value_bytes - i < 8 ? value_bytes - i : 8);
    }
}

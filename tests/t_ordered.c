/* SPDX-License-Identifier: Apache-2.0
 *
 * t_ordered.c - ordered operations through heddle.h, against a sorted array: every key from below the least to above
 * the greatest, with the key itself or without, every limit, empty tables, minima that were erased, borders of
 * segments. Rows without an entry keep the caller's bytes. Arguments that are refused. Every wrong answer is noticed by
 * the judge. Designs without an order say so.
 */
#include <stdlib.h>
#include <string.h>

#include "base/backend.h"
#include "base/op.h"
#include "judge/arrays.h"
#include "judge/oracle.h"
#include "judge/rules.h"
#include "judge/state.h"
#include "lib/staging.h"
#include "tests/testing.h"

enum { SPACE = 700, LIMIT_MOST = 40, POISON = 0x5a };

/* Keys are multiples of `step`, from `step` on, so that there are keys beside each of them. */
typedef struct model {
    uint64_t key[SPACE], value[SPACE], n;
} model;

static hd_table *open_ordered(uint32_t value_bytes, uint64_t capacity)
{
    hd_table *t = test_table(.design = "sl", .value_bytes = value_bytes, .slots = 8, .sl.segment_bytes = 128,
                             .capacity = capacity);
    return t;
}

static uint64_t as_stored(uint32_t value_bytes, uint64_t value)
{
    return value_bytes == 4 ? value & 0xffffffffu : value;
}

static void insert(hd_table *t, uint32_t value_bytes, model *m, uint64_t key, uint64_t value)
{
    uint64_t at = 0;
    uint8_t outcome = HD_MISS;
    while (at < m->n && m->key[at] < key) at++;
    must(hd_upsert_growing(t, 1, &key, &value, NULL, &outcome, 0)); /* the low bytes of a number come first */
    if (at == m->n || m->key[at] != key) {
        check(outcome == HD_INSERTED, "key %llu: %s", (ull)key, hd_outcome_name((hd_outcome)outcome));
        memmove(m->key + at + 1, m->key + at, (m->n - at) * sizeof *m->key);
        memmove(m->value + at + 1, m->value + at, (m->n - at) * sizeof *m->value);
        m->n++;
    }
    m->key[at] = key;
    m->value[at] = as_stored(value_bytes, value);
}

static void erase(hd_table *t, model *m, uint64_t at)
{
    uint8_t outcome = HD_MISS;
    must(hd_erase(t, 1, &m->key[at], &outcome));
    check(outcome == HD_ERASED, "key %llu: %s", (ull)m->key[at], hd_outcome_name((hd_outcome)outcome));
    m->n--;
    memmove(m->key + at, m->key + at + 1, (m->n - at) * sizeof *m->key);
    memmove(m->value + at, m->value + at + 1, (m->n - at) * sizeof *m->value);
}

/* ---- Every answer ---------------------------------------------------------------------------- */

static uint64_t value_at(const void *values, uint32_t value_bytes, uint64_t row)
{
    uint64_t value = 0;
    memcpy(&value, (const uint8_t *)values + row * value_bytes, value_bytes);
    return value;
}

static bool is_poison(const void *p, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++)
        if (((const uint8_t *)p)[i] != POISON) return false;
    return true;
}

typedef struct answers {
    uint64_t key[SPACE], upper[SPACE], key_out[SPACE * LIMIT_MOST], value_out[SPACE * LIMIT_MOST];
    uint32_t rows[SPACE];
    uint8_t outcome[SPACE];
    bool found[SPACE], more[SPACE];
} answers;

static void check_row(const model *m, uint32_t value_bytes, const answers *a, uint64_t row, uint64_t at)
{
    check(a->key_out[row] == m->key[at], "row %llu has key %llu, not %llu", (ull)row, (ull)a->key_out[row],
          (ull)m->key[at]);
    check(value_at(a->value_out, value_bytes, row) == m->value[at], "row %llu, key %llu, has another value", (ull)row,
          (ull)m->key[at]);
}

static void check_neighbours(hd_table *t, uint32_t value_bytes, const model *m, answers *a, uint64_t n)
{
    for (int how = 0; how < 4; how++) {
        bool up = how & 1, inclusive = how & 2;
        memset(a->key_out, POISON, sizeof a->key_out);
        memset(a->value_out, POISON, sizeof a->value_out);
        must(up ? hd_successor(t, n, a->key, inclusive, a->key_out, a->value_out, a->outcome)
                : hd_predecessor(t, n, a->key, inclusive, a->key_out, a->value_out, a->outcome));
        for (uint64_t i = 0; i < n; i++) {
            uint64_t key = a->key[i], at = up ? 0 : m->n;
            while (up && at < m->n && (inclusive ? m->key[at] < key : m->key[at] <= key)) at++;
            while (!up && at > 0 && (inclusive ? m->key[at - 1] > key : m->key[at - 1] >= key)) at--;
            bool there = up ? at < m->n : at > 0;
            test_case("%s of %llu%s, %llu entries", up ? "successor" : "predecessor", (ull)key,
                      inclusive ? ", inclusive" : "", (ull)m->n);
            check(a->outcome[i] == (there ? HD_HIT : HD_MISS), "%s", hd_outcome_name((hd_outcome)a->outcome[i]));
            if (there)
                check_row(m, value_bytes, a, i, up ? at : at - 1);
            else
                check(is_poison(&a->key_out[i], 8) && is_poison((uint8_t *)a->value_out + i * value_bytes, value_bytes),
                      "a row was written");
        }
    }
}

static void check_ranges(hd_table *t, uint32_t value_bytes, const model *m, answers *a, uint64_t n, uint32_t limit)
{
    memset(a->key_out, POISON, sizeof a->key_out);
    memset(a->value_out, POISON, sizeof a->value_out);
    hd_batch b = hd_batch_keyed(HD_OP_RANGE, n, a->key, NULL, NULL, a->value_out, NULL, a->outcome);
    b.key2 = a->upper, b.limit = limit, b.key_out = a->key_out, b.rows = a->rows, b.more = a->more, b.found = a->found;
    must(hd_run(t, &b));
    for (uint64_t i = 0; i < n; i++) {
        uint64_t from = 0, to;
        while (from < m->n && m->key[from] < a->key[i]) from++;
        for (to = from; to < m->n && m->key[to] <= a->upper[i];) to++;
        uint64_t rows = to - from < limit ? to - from : limit, row = i * limit;
        test_case("range %llu to %llu, limit %u, %llu entries", (ull)a->key[i], (ull)a->upper[i], limit, (ull)m->n);
        check(a->outcome[i] == (to > from ? HD_HIT : HD_MISS) && a->found[i] == (to > from), "%s",
              hd_outcome_name((hd_outcome)a->outcome[i]));
        check(a->rows[i] == rows, "%u rows instead of %llu", a->rows[i], (ull)rows);
        check(a->more[i] == (to - from > limit), "more is %d", a->more[i]);
        for (uint64_t k = 0; k < rows; k++) check_row(m, value_bytes, a, row + k, from + k);
        check(is_poison(a->key_out + row + rows, (limit - rows) * 8) &&
                  is_poison((uint8_t *)a->value_out + (row + rows) * value_bytes, (limit - rows) * value_bytes),
              "a row behind the last was written");
    }
}

static void check_ends(hd_table *t, uint32_t value_bytes, const model *m)
{
    for (int greatest = 0; greatest < 2; greatest++) {
        uint64_t key, value, count = 99, at = greatest ? m->n - 1 : 0;
        memset(&key, POISON, sizeof key);
        memset(&value, POISON, sizeof value);
        must(greatest ? hd_max(t, &key, &value, &count) : hd_min(t, &key, &value, &count));
        test_case("%s of %llu entries", greatest ? "max" : "min", (ull)m->n);
        check(count == (m->n > 0), "the count is %llu", (ull)count);
        if (m->n)
            check(key == m->key[at] && value_at(&value, value_bytes, 0) == m->value[at], "key %llu instead of %llu",
                  (ull)key, (ull)m->key[at]);
        else
            check(is_poison(&key, 8) && is_poison(&value, 8), "a row was written");
        must(greatest ? hd_max(t, NULL, NULL, &count) : hd_min(t, NULL, NULL, &count));
    }
}

/* All that can be asked of a table: each key up to the greatest and two more, with upper ends of all kinds. */
static void check_all(hd_table *t, uint32_t value_bytes, const model *m, answers *a)
{
    static const uint32_t limits[] = { 0, 1, 2, 7, LIMIT_MOST };
    uint64_t n = 0, last = m->n ? m->key[m->n - 1] + 2 : 3;
    must(hd_check(t));
    for (uint64_t key = 0; key <= last && n < SPACE; key++) a->key[n++] = key;
    check_neighbours(t, value_bytes, m, a, n);
    for (uint64_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        for (uint64_t i = 0; i < n; i++)
            a->upper[i] = i % 4 == 0 ? UINT64_MAX : i % 4 == 1 ? a->key[i] : i % 4 == 2 ? a->key[i] + i % 29 : i / 2;
        check_ranges(t, value_bytes, m, a, n, limits[k]);
    }
    check_ends(t, value_bytes, m);
}

/* Grows from empty to many segments and back again, from below, from above, and everywhere. */
static void all_answers(void)
{
    static answers a;
    uint64_t r = 3, tried = 0;
    for (uint64_t k = 0; k < 8; k++) {
        uint32_t value_bytes = k & 1 ? 8 : 4;
        hd_table *t = open_ordered(value_bytes, 64);
        model m = { .n = 0 };
        check_all(t, value_bytes, &m, &a);
        for (uint64_t i = 0; i < 120; i++) {
            uint64_t key = k / 2 == 0 ? 2 * i + 1 : k / 2 == 1 ? 2 * (120 - i) : test_below(&r, 400);
            insert(t, value_bytes, &m, key, test_random(&r));
            if (i % 7 == 0 || i < 20) check_all(t, value_bytes, &m, &a), tried++;
        }
        check_all(t, value_bytes, &m, &a);
        while (m.n) { /* from the least up, from the greatest down, or any */
            erase(t, &m, k / 2 == 2 ? m.n - 1 : k / 2 == 3 ? test_below(&r, m.n) : 0);
            if (m.n % 7 == 0 || m.n < 20) check_all(t, value_bytes, &m, &a), tried++;
        }
        hd_close(t);
    }
    test_note("%llu tables, each asked for every key", (ull)tried);
}

/* The greatest keys that a table holds, and bounds above them. */
static void greatest_keys(void)
{
    for (uint32_t value_bytes = 4; value_bytes <= 8; value_bytes += 4) {
        hd_table *t = open_ordered(value_bytes, 32);
        hd_info info;
        must(hd_table_info(t, &info));
        check(info.keys == (value_bytes == 4 ? (1ull << 32) - 3 : HD_KEY_RESERVED), "keys below %llu", (ull)info.keys);
        uint64_t key[4] = { 0, 5, info.keys - 1, info.keys }, value[4] = { 1, 2, 3, 4 }, out[8], upper[4];
        uint32_t rows[4];
        uint8_t outcome[4];
        bool more[4];
        must(hd_upsert(t, 4, key, value, NULL, outcome));
        check(outcome[2] == HD_INSERTED && outcome[3] == HD_RESERVED, "%d %d", outcome[2], outcome[3]);
        must(hd_successor(t, 4, key, false, out, NULL, outcome));
        check(out[1] == info.keys - 1 && outcome[2] == HD_MISS && outcome[3] == HD_RESERVED, "%d %d", outcome[2],
              outcome[3]);
        must(hd_predecessor(t, 4, key, false, out, NULL, outcome));
        check(outcome[0] == HD_MISS && out[2] == 5 && outcome[3] == HD_RESERVED, "%d %d", outcome[0], outcome[3]);
        for (uint64_t above = 0; above < 4; above++) {
            for (int i = 0; i < 4; i++) upper[i] = above == 3 ? UINT64_MAX : info.keys - 1 + above;
            memset(rows, POISON, sizeof rows);
            memset(more, true, sizeof more);
            must(hd_range(t, 4, key, upper, 2, out, NULL, rows, more, outcome));
            check(rows[0] == 2 && more[0] && rows[1] == 2 && !more[1] && rows[2] == 1 && !more[2], "%u %u %u", rows[0],
                  rows[1], rows[2]);
            check(outcome[3] == HD_RESERVED && rows[3] == 0 && !more[3], "a reserved key: %d, %u rows", outcome[3],
                  rows[3]);
        }
        hd_close(t);
    }
}

/* Every array of an ordered batch may be left out. */
static void arrays_left_out(void)
{
    hd_table *t = open_ordered(4, 32);
    uint64_t key[2] = { 1, 2 }, upper[2] = { 9, 9 }, value = 7, count;
    must(hd_upsert(t, 1, key, &value, NULL, NULL));
    must(hd_predecessor(t, 2, key, true, NULL, NULL, NULL));
    must(hd_range(t, 2, key, upper, 3, NULL, NULL, NULL, NULL, NULL));
    must(hd_min(t, NULL, NULL, &count));
    hd_batch b = hd_batch_of(HD_OP_RANGE, 0, NULL); /* an empty batch needs none at all */
    must(hd_run(t, &b));
    hd_counters c;
    must(hd_counters_sync(t, &c));
    check(c.op[HD_OP_PREDECESSOR] == 2 && c.op[HD_OP_RANGE] == 2 && c.op[HD_OP_MIN] == 1 && c.op[HD_OP_MAX] == 0,
          "counters: %llu %llu %llu", (ull)c.op[HD_OP_PREDECESSOR], (ull)c.op[HD_OP_RANGE], (ull)c.op[HD_OP_MIN]);
    check(c.outcome[HD_HIT] == 3 && c.outcome[HD_MISS] == 1 && c.items == 5, "%llu hits", (ull)c.outcome[HD_HIT]);
    hd_close(t);
}

static void refused(void)
{
    hd_table *t = open_ordered(8, 32);
    uint64_t key[2] = { 1, 2 };
    hd_batch b = hd_batch_of(HD_OP_RANGE, 2, key);
    must_fail(hd_run(t, &b), HD_EINVAL, "key2");
    b.key2 = key;
    b.n = (uint64_t)PTRDIFF_MAX / 8 / UINT32_MAX + 1;
    b.limit = UINT32_MAX;
    must_fail(hd_run(t, &b), HD_EINVAL, "limit");
    b = hd_batch_of(HD_OP_MIN, 0, NULL);
    must_fail(hd_run(t, &b), HD_EINVAL, "count");
    b = hd_batch_of(HD_OP_SUCCESSOR, 2, NULL);
    must_fail(hd_run(t, &b), HD_EINVAL, "key");
    uint8_t each[2] = { HD_OP_FIND, HD_OP_RANGE };
    b = hd_batch_keyed(HD_OP_FIND, 2, key, key, NULL, NULL, NULL, NULL);
    b.each = each;
    must_fail(hd_run(t, &b), HD_EINVAL, "cannot be mixed");
    each[1] = HD_OP_FIND;
    must_fail(hd_run(t, &b), HD_EINVAL, "one operation at a time");
    hd_close(t);
}

/* Designs whose tables have no order, on every backend that needs no device. */
static void unordered(void)
{
    static const struct {
        const char *design, *backend;
    } on[] = { { "hkv", "ref" }, { "hkv", "host" }, { "hive", "ref" }, { "hive", "host" } };
    for (size_t k = 0; k < sizeof on / sizeof *on; k++)
        for (int op = 0; op < HD_OP_COUNT_; op++) {
            hd_config c = hd_config_of(on[k].design);
            hd_table *t;
            uint64_t key = 1, count = 77;
            if (!hd_op_does((hd_op)op, HD_ORDERED)) continue;
            c.backend = on[k].backend;
            c.capacity = 64;
            must(hd_open(&c, &t));
            test_case("%s on %s, %s", on[k].design, on[k].backend, hd_op_name((hd_op)op));
            hd_batch b = hd_batch_of((hd_op)op, 1, &key);
            b.key2 = &key, b.count = &count;
            must_fail(hd_run(t, &b), HD_EINVAL, "keeps no order of keys");
            check(count == 77, "the count was written");
            hd_close(t);
        }
}

/* ---- Parts of a batch ------------------------------------------------------------------------ */

static const hd_array *array_named(const hd_array *all, int used, const char *name)
{
    for (int i = 0; i < used; i++)
        if (strcmp(all[i].name, name) == 0) return &all[i];
    return NULL;
}

/* What a batch brings: arrays with `limit` rows for each item, and those with one row. */
static void arrays_and_cuts(void)
{
    enum { VALUE = 4, LIMIT = 3, N = 10, AT = 4 };
    static uint8_t room[64];
    hd_array all[HD_ARRAYS_MOST];
    for (int op = 0; op < HD_OP_COUNT_; op++) {
        hd_batch b = { .n = 0 };
        b.op = (hd_op)op, b.n = N, b.limit = LIMIT;
        for (size_t at = 0; at < 8; at++) { /* all pointers */
            static const size_t field[] = { offsetof(hd_batch, key),     offsetof(hd_batch, key2),
                                            offsetof(hd_batch, key_out), offsetof(hd_batch, value_out),
                                            offsetof(hd_batch, rows),    offsetof(hd_batch, more),
                                            offsetof(hd_batch, outcome), offsetof(hd_batch, count) };
            hd_field_set(&b, field[at], room + 8 * at);
        }
        bool range = op == HD_OP_RANGE, ends = op == HD_OP_MIN || op == HD_OP_MAX,
             keyed = hd_op_does((hd_op)op, HD_NEEDS_KEY);
        int used = hd_batch_arrays(&b, VALUE, all);
        const hd_array *keys = array_named(all, used, "key_out"), *values = array_named(all, used, "value_out");
        test_case("%s", hd_op_name((hd_op)op));
        check(!array_named(all, used, "key2") == !range && !array_named(all, used, "rows") == !range &&
                  !array_named(all, used, "more") == !range,
              "arrays of a range");
        check(!keys == !hd_op_does((hd_op)op, HD_ORDERED) && !values == !(keyed || ends), "key_out and value_out");
        uint64_t row = range ? LIMIT : 1;
        if (keys)
            check(keys->row == 8 * row && keys->bytes == (ends ? 8 : 8 * row * N) && values->row == VALUE * row &&
                      values->bytes == (ends ? VALUE : VALUE * row * N) &&
                      keys->flow == (ends ? HD_FLOW_COUNT : HD_FLOW_SOME),
                  "%llu of %llu bytes", (ull)keys->row, (ull)keys->bytes);
        if (!keyed) continue;
        hd_batch part = hd_batch_cut(&b, VALUE, AT, 2);
        check(part.key_out == (keys ? b.key_out + AT * row : b.key_out) && part.n == 2 &&
                  (uint8_t *)part.value_out == (uint8_t *)b.value_out + AT * row * VALUE,
              "a part begins elsewhere");
        check(part.key2 == (range ? b.key2 + AT : b.key2) && part.rows == (range ? b.rows + AT : b.rows) &&
                  part.more == (range ? b.more + AT : b.more),
              "a part's items begin elsewhere");
    }
}

/* ---- Lies ------------------------------------------------------------------------------------ */

typedef struct trial {
    hd_table *t;
    hd_oracle *o;
    judge_arrays arrays;
    hd_batch b;
    uint64_t r;
} trial;

enum { ITEMS = 24, KEYS = 90 };

static void run_batch(trial *x, hd_op op)
{
    hd_batch *b = &x->b;
    hd_info before;
    memset(b, 0, sizeof *b);
    b->op = op;
    b->limit = 4;
    b->n = op == HD_OP_RANGE ? ITEMS / 4 : judge_ops[op].keyed ? ITEMS : 0;
    b->inclusive = test_below(&x->r, 2);
    judge_arrays_lend(&x->arrays, b);
    uint64_t *key = (uint64_t *)judge_arrays_at(&x->arrays, JUDGE_KEY),
             *upper = (uint64_t *)judge_arrays_at(&x->arrays, JUDGE_KEY2);
    uint8_t *value = (uint8_t *)judge_arrays_at(&x->arrays, JUDGE_VALUE);
    b->score = NULL;
    for (uint64_t i = 0; i < b->n; i++) {
        key[i] = test_below(&x->r, 30) ? test_below(&x->r, KEYS) : (1ull << 32) - 3 + test_below(&x->r, 3);
        upper[i] = test_below(&x->r, 4) ? key[i] + test_below(&x->r, KEYS / 4) : UINT64_MAX;
    }
    for (uint64_t i = 0; i < 4 * b->n; i++) value[i] = (uint8_t)test_random(&x->r);
    judge_arrays_arm(&x->arrays);
    must(hd_table_info(x->t, &before));
    must(hd_run(x->t, b));
    const char *wrong = judge_arrays_check(&x->arrays, b);
    check(!wrong, "%s", wrong);
    wrong = hd_oracle_batch(x->o, x->t, b, NULL, before.now, before.epoch);
    check(!wrong, "a truthful batch was accused: %s", wrong);
}

/* The judge must object to the batch as it is now, with that word. */
static void objects(trial *x, const char *word)
{
    const char *wrong = hd_oracle_batch(x->o, x->t, &x->b, NULL, 0, 0);
    check(wrong && strstr(wrong, word), "%s: %s", hd_op_name(x->b.op), wrong ? wrong : "the judge believes it");
}

/* Changes one byte to another, asks, and changes it back. */
static void lie(trial *x, void *p, uint8_t to, const char *word)
{
    uint8_t was = *(uint8_t *)p;
    check(was != to, "no lie");
    *(uint8_t *)p = to;
    objects(x, word);
    *(uint8_t *)p = was;
}

static void lie_about_items(trial *x)
{
    hd_batch *b = &x->b;
    uint64_t limit = b->op == HD_OP_RANGE ? b->limit : 1;
    for (uint64_t i = 0; i < b->n; i++) {
        uint8_t is = b->outcome[i], *value = (uint8_t *)b->value_out + i * limit * 4;
        test_case("%s of %llu, %s", hd_op_name(b->op), (ull)b->key[i], hd_outcome_name((hd_outcome)is));
        lie(x, &b->outcome[i], is == HD_HIT ? HD_MISS : HD_HIT, "expected");
        lie(x, &b->outcome[i], is == HD_RESERVED ? HD_MISS : HD_RESERVED, "expected");
        lie(x, &b->found[i], is != HD_HIT, "found is");
        uint64_t rows = b->op != HD_OP_RANGE ? is == HD_HIT : b->rows[i];
        for (uint64_t k = 0; k < rows; k++) {
            lie(x, &b->key_out[i * limit + k], (uint8_t)(b->key_out[i * limit + k] + 1), "has key");
            lie(x, value + 4 * k, value[4 * k] ^ 1, "another value");
        }
        if (b->op != HD_OP_RANGE) continue;
        lie(x, &b->rows[i], (uint8_t)(b->rows[i] + 1), "rows instead of");
        if (b->rows[i]) lie(x, &b->rows[i], (uint8_t)(b->rows[i] - 1), "rows instead of");
        lie(x, &b->more[i], !b->more[i], "more is");
    }
}

static void lie_about_ends(trial *x)
{
    hd_batch *b = &x->b;
    test_case("%s, count %llu", hd_op_name(b->op), (ull)*b->count);
    lie(x, b->count, *b->count ? 0 : 1, "the count is");
    lie(x, b->count, 2, "the count is");
    if (*b->count == 0) return;
    lie(x, b->key_out, (uint8_t)(*b->key_out + 1), "has key");
    lie(x, b->value_out, *(uint8_t *)b->value_out ^ 1, "another value");
}

/* Whatever an ordered batch has no business with is noticed when it changes. */
static void watch_arrays(trial *x)
{
    hd_batch *b = &x->b;
    uint64_t limit = b->op == HD_OP_RANGE ? b->limit : 1;
    for (uint64_t i = 0; i < b->n; i++) {
        uint64_t rows = b->op == HD_OP_RANGE ? b->rows[i] : b->outcome[i] == HD_HIT;
        for (uint64_t k = rows; k < limit; k++) {
            uint8_t *key = (uint8_t *)&b->key_out[i * limit + k],
                    *value = (uint8_t *)b->value_out + 4 * (i * limit + k);
            *key ^= 1;
            check(judge_arrays_check(&x->arrays, b), "%s: key_out was written", hd_op_name(b->op));
            *key ^= 1, *value ^= 1;
            check(judge_arrays_check(&x->arrays, b), "%s: value_out was written", hd_op_name(b->op));
            *value ^= 1;
        }
        if (b->op == HD_OP_RANGE) continue;
        b->rows[i] ^= 1;
        check(judge_arrays_check(&x->arrays, b), "%s: rows was written", hd_op_name(b->op));
        b->rows[i] ^= 1;
    }
    check(!judge_arrays_check(&x->arrays, b), "all is as it was");
}

static void each_lie(void)
{
    static const hd_op ops[] = { HD_OP_PREDECESSOR, HD_OP_SUCCESSOR, HD_OP_RANGE, HD_OP_MIN, HD_OP_MAX };
    for (uint64_t seed = 0; seed < 30; seed++) {
        trial x = { .r = seed };
        hd_config c = test_usual(.design = "sl", .sl.segment_bytes = 128, .capacity = 256, .value_bytes = 4);
        must(hd_open(&c, &x.t));
        must(hd_oracle_open(&c, &x.o));
        check(judge_arrays_open(&x.arrays, ITEMS, 4), "no memory");
        for (uint64_t k = 0; k < sizeof ops / sizeof *ops; k++) {
            if (seed > 2) run_batch(&x, HD_OP_INSERT_OR_ASSIGN);
            if (seed > 4) run_batch(&x, HD_OP_ERASE);
            run_batch(&x, ops[k]);
            watch_arrays(&x);
            if (judge_ops[ops[k]].keyed)
                lie_about_items(&x);
            else
                lie_about_ends(&x);
        }
        judge_arrays_close(&x.arrays);
        hd_oracle_close(x.o);
        hd_close(x.t);
    }
}

static const struct CMUnitTest ordered[] = { unit(all_answers), unit(greatest_keys), unit(arrays_left_out),
                                             unit(refused),     unit(unordered),     unit(arrays_and_cuts),
                                             unit(each_lie) };

int main(void) { return test_run(ordered); }

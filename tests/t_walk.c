/* SPDX-License-Identifier: Apache-2.0
 *
 * t_walk.c - calls for the whole table: export in pieces, predicates, for_each, sizes, clear, counters, clock, epoch,
 * and the library's lists of its own parts.
 */
#include <stdlib.h>
#include <string.h>

#include "concurrency/lock.h"
#include "base/design.h"
#include "tests/model.h"

enum { SLOTS = 24, BUCKETS = 13, CAPACITY = SLOTS * BUCKETS, VALUE_BYTES = 6 };

/* A table with holes, values of zeros here and there, and scores on both sides of every edge. */
static hd_table *some_table(const char *policy, bool dual, uint64_t entries)
{
    test_case("policy=%s buckets=%d slots=%d%s entries=%llu", policy, BUCKETS, SLOTS, dual ? " dual" : "",
              (ull)entries);
    hd_table *t = test_table(.backend = test_backend("ref"), .policy = policy, .capacity = CAPACITY, .slots = SLOTS,
                             .value_bytes = VALUE_BYTES, .hkv.dual = dual);
    uint64_t random = 17;
    for (uint64_t i = 0; i < entries; i++) {
        uint64_t key = test_below(&random, 4) ? test_random(&random) >> 1 : i,
                 score = test_below(&random, 3) ? test_below(&random, 1000) : test_random(&random);
        uint8_t value[VALUE_BYTES] = { 0 };
        if (i % 5) value_make(value, VALUE_BYTES, key, i);
        if (i % 5 == 1) memset(value, 0, VALUE_BYTES - 1); /* all but the last byte */
        hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 1, .key = &key, .value = value, .score = &score };
        must(hd_run(t, &b));
    }
    return t;
}

/* ---- Export ---------------------------------------------------------------------------------- */

typedef struct list {
    uint64_t key[CAPACITY], score[CAPACITY], slot[CAPACITY], n;
    uint8_t value[CAPACITY * VALUE_BYTES];
} list;

static void export_into(hd_table *t, uint64_t start, uint64_t n, const char *pred, const uint64_t *arg, list *to)
{
    uint64_t count = UINT64_MAX;
    hd_batch b = { .op = pred ? HD_OP_EXPORT_IF : HD_OP_EXPORT,
                   .start = start,
                   .n = n,
                   .pred = pred,
                   .list_key = to->key + to->n,
                   .list_score = to->score + to->n,
                   .list_item = to->slot + to->n,
                   .list_value = to->value + to->n * VALUE_BYTES,
                   .count = &count };
    if (arg) memcpy(b.pred_arg, arg, sizeof b.pred_arg);
    must(hd_run(t, &b));
    check(count <= n && to->n + count <= CAPACITY, "%llu entries in %llu slots", (ull)count, (ull)n);
    for (uint64_t i = to->n; i < to->n + count; i++)
        check(to->slot[i] >= start && to->slot[i] < start + n && (i == to->n || to->slot[i] > to->slot[i - 1]),
              "slot %llu is out of place", (ull)to->slot[i]);
    to->n += count;
}

static bool lists_equal(const list *a, const list *b)
{
    return a->n == b->n && !memcmp(a->key, b->key, a->n * 8) && !memcmp(a->score, b->score, a->n * 8) &&
           !memcmp(a->slot, b->slot, a->n * 8) && !memcmp(a->value, b->value, a->n * VALUE_BYTES);
}

static void export_in_pieces(void)
{
    static list whole, pieces;
    for (int mode = 0; mode < 2; mode++)
        for (uint64_t entries = 0; entries <= 3 * CAPACITY; entries += CAPACITY) {
            hd_table *t = some_table("custom", mode, entries);
            whole.n = 0;
            export_into(t, 0, CAPACITY, NULL, NULL, &whole);
            uint64_t size;
            must(hd_size_sync(t, &size));
            check(whole.n == size, "%llu exported, size %llu", (ull)whole.n, (ull)size);
            for (uint64_t piece = 1; piece <= CAPACITY; piece += piece < 40 ? 1 : 31) {
                pieces.n = 0;
                for (uint64_t at = 0; at < CAPACITY; at += piece)
                    export_into(t, at, CAPACITY - at < piece ? CAPACITY - at : piece, NULL, NULL, &pieces);
                check(lists_equal(&whole, &pieces), "in pieces of %llu it is another table", (ull)piece);
            }
            pieces.n = 0;
            for (uint64_t random = 3, at = 0, some; at < CAPACITY; at += some) { /* odd pieces, empty ones too */
                some = test_below(&random, 20);
                if (some > CAPACITY - at) some = CAPACITY - at;
                export_into(t, at, some, NULL, NULL, &pieces);
            }
            check(lists_equal(&whole, &pieces), "in odd pieces it is another table");
            for (uint64_t i = 0; i < whole.n; i++) { /* and what is listed is what is found */
                uint64_t score;
                uint8_t value[VALUE_BYTES], fate;
                hd_batch f = { .op = HD_OP_FIND,
                               .n = 1,
                               .key = &whole.key[i],
                               .value_out = value,
                               .score_out = &score,
                               .outcome = &fate };
                must(hd_run(t, &f));
                check(fate == HD_HIT && score == whole.score[i] &&
                          !memcmp(value, whole.value + i * VALUE_BYTES, VALUE_BYTES),
                      "key %llu", (ull)whole.key[i]);
            }
            hd_close(t);
        }
}

static void export_at_the_edges(void)
{
    hd_table *t = some_table("lru", false, 3 * CAPACITY);
    uint64_t key[CAPACITY + 1], count = 7;
    memset(key, 0x5a, sizeof key);
    hd_batch b = { .op = HD_OP_EXPORT, .list_key = key, .count = &count };
    must(hd_run(t, &b));
    check(count == 0 && key[0] == 0x5a5a5a5a5a5a5a5au, "n = 0");
    b.start = CAPACITY;
    count = 7;
    must(hd_run(t, &b));
    check(count == 0 && key[0] == 0x5a5a5a5a5a5a5a5au, "start = capacity, n = 0");
    b.n = 1;
    must_fail(hd_run(t, &b), HD_EINVAL, "n");
    b.start = CAPACITY + 1;
    b.n = 0;
    must_fail(hd_run(t, &b), HD_EINVAL, "start");
    b.start = 1;
    b.n = CAPACITY;
    must_fail(hd_run(t, &b), HD_EINVAL, "n");
    b.n = UINT64_MAX; /* start + n wraps */
    must_fail(hd_run(t, &b), HD_EINVAL, "n");
    b.start = UINT64_MAX;
    b.n = 2;
    must_fail(hd_run(t, &b), HD_EINVAL, "start");
    check(key[0] == 0x5a5a5a5a5a5a5a5au, "a failed call wrote");
    b.start = CAPACITY - 1;
    b.n = 1;
    must(hd_run(t, &b)); /* the last slot */
    check(count <= 1 && key[1] == 0x5a5a5a5a5a5a5a5au, "one slot");
    hd_batch counted = { .op = HD_OP_EXPORT, .n = CAPACITY, .count = &count }; /* only counted */
    must(hd_run(t, &counted));
    uint64_t size;
    must(hd_size_sync(t, &size));
    check(count == size, "%llu counted, size %llu", (ull)count, (ull)size);
    hd_close(t);
}

/* ---- Predicates: each row of the registry, restated ------------------------------------------ */

static bool holds(const char *pred, const uint64_t *arg, uint64_t key, uint64_t score, const uint8_t *value)
{
    static const uint8_t zeros[VALUE_BYTES] = { 0 };
    if (!strcmp(pred, "all")) return true;
    if (!strcmp(pred, "score_below")) return score < arg[0];
    if (!strcmp(pred, "score_in")) return !(score < arg[0] || score > arg[1]);
    if (!strcmp(pred, "key_in")) return !(key < arg[0] || key > arg[1]);
    if (!strcmp(pred, "key_masked")) return ((key ^ arg[1]) & arg[0]) == 0 && (arg[1] & ~arg[0]) == 0;
    check(!strcmp(pred, "value_zero"), "this test does not know predicate %s", pred);
    return !memcmp(value, zeros, VALUE_BYTES);
}

static void every_predicate(void)
{
    static list whole, some, rest;
    hd_row row;
    uint64_t rows = 0, tried = 0, held = 0;
    for (; hd_list(HD_PREDICATES, rows, &row); rows++)
        for (int mode = 0; mode < 2; mode++)
            for (uint64_t round = 0; round < 14; round++) {
                hd_table *t = some_table("custom", mode, 2 * CAPACITY);
                whole.n = some.n = rest.n = 0;
                export_into(t, 0, CAPACITY, NULL, NULL, &whole);
                uint64_t random = round, size = 0, erased = 0, want = 0, left;
                const uint64_t pick = whole.key[test_below(&random, whole.n)],
                               a = whole.score[test_below(&random, whole.n)],
                               b = whole.score[test_below(&random, whole.n)];
                uint64_t mask = round % 4 < 2 ? 7 : test_random(&random) & test_random(&random);
                const uint64_t args[6][2] = { { a, UINT64_MAX },
                                              { a < b ? a : b, a < b ? b : a },
                                              { mask, pick & mask },
                                              { pick, pick + (round % 2 ? 0 : UINT64_MAX / 4) },
                                              { 0, 0 },
                                              { UINT64_MAX, UINT64_MAX } };
                const uint64_t *arg = args[round < 8 ? round % 4 : round % 6];
                test_case("predicate %s(%llu, %llu)%s", row.name, (ull)arg[0], (ull)arg[1], mode ? " dual" : "");

                export_into(t, 0, 100, row.name, arg, &some);
                export_into(t, 100, CAPACITY - 100, row.name, arg, &some);
                for (uint64_t i = 0; i < whole.n; i++) {
                    if (!holds(row.name, arg, whole.key[i], whole.score[i], whole.value + i * VALUE_BYTES)) continue;
                    check(want < some.n && some.slot[want] == whole.slot[i] && some.key[want] == whole.key[i] &&
                              some.score[want] == whole.score[i] &&
                              !memcmp(some.value + want * VALUE_BYTES, whole.value + i * VALUE_BYTES, VALUE_BYTES),
                          "export_if left out key %llu", (ull)whole.key[i]);
                    want++;
                }
                check(want == some.n, "export_if gave %llu entries instead of %llu", (ull)some.n, (ull)want);

                hd_batch s = { .op = HD_OP_SIZE_IF, .pred = row.name, .pred_arg = { arg[0], arg[1] }, .count = &size };
                must(hd_run(t, &s));
                check(size == want, "size_if gave %llu instead of %llu", (ull)size, (ull)want);
                hd_batch e = {
                    .op = HD_OP_ERASE_IF, .pred = row.name, .pred_arg = { arg[0], arg[1] }, .count = &erased
                };
                must(hd_run(t, &e));
                must(hd_size_sync(t, &left));
                check(erased == want && left == whole.n - want,
                      "erase_if took %llu instead of %llu, %llu of %llu are left", (ull)erased, (ull)want, (ull)left,
                      (ull)whole.n);
                export_into(t, 0, CAPACITY, NULL, NULL, &rest);
                for (uint64_t i = 0, k = 0; i < whole.n; i++) {
                    if (holds(row.name, arg, whole.key[i], whole.score[i], whole.value + i * VALUE_BYTES)) continue;
                    check(k < rest.n && rest.key[k] == whole.key[i] && rest.score[k] == whole.score[i] &&
                              !memcmp(rest.value + k * VALUE_BYTES, whole.value + i * VALUE_BYTES, VALUE_BYTES),
                          "erase_if took or changed key %llu", (ull)whole.key[i]);
                    k++;
                }
                must(hd_check(t));
                tried += whole.n;
                held += want;
                hd_close(t);
            }
    test_note("%llu predicates, true of %llu entries out of %llu", (ull)rows, (ull)held, (ull)tried);
    check(rows > 0 && held > tried / 50 && held < tried * 49 / 50, "the arguments do not divide the entries");
}

static void predicates_misused(void)
{
    hd_table *t = some_table("lru", false, 50);
    static list before, after;
    uint64_t n = 9;
    before.n = after.n = 0;
    export_into(t, 0, CAPACITY, NULL, NULL, &before);
    hd_batch b = { .op = HD_OP_ERASE_IF, .count = &n };
    must_fail(hd_run(t, &b), HD_EINVAL, "pred");
    b.pred = "score_bellow";
    must_fail(hd_run(t, &b), HD_EINVAL, "score_below"); /* the nearest */
    b.op = HD_OP_SIZE_IF;
    b.pred = "all";
    b.count = NULL;
    must_fail(hd_run(t, &b), HD_EINVAL, "count");
    b.op = HD_OP_SIZE;
    must_fail(hd_run(t, &b), HD_EINVAL, "count");
    check(n == 9, "a failed call wrote");
    export_into(t, 0, CAPACITY, NULL, NULL, &after);
    check(lists_equal(&before, &after), "a failed call changed the table");
    hd_close(t);
}

/* ---- for_each -------------------------------------------------------------------------------- */

typedef struct visit {
    const list *want;
    uint64_t at, stop;
} visit;

static int visit_one(void *context, uint64_t key, uint64_t score, void *value)
{
    visit *v = (visit *)context;
    check(v->at < v->want->n && key == v->want->key[v->at] && score == v->want->score[v->at] &&
              !memcmp(value, v->want->value + v->at * VALUE_BYTES, VALUE_BYTES),
          "entry %llu is key %llu", (ull)v->at, (ull)key);
    memset(value, (int)(key & 0xff), VALUE_BYTES); /* in place */
    return ++v->at == v->stop;
}

static void for_each(void)
{
    static list before, after;
    for (int mode = 0; mode < 2; mode++) {
        hd_table *t = some_table("custom", mode, CAPACITY);
        before.n = after.n = 0;
        export_into(t, 0, CAPACITY, NULL, NULL, &before);
        visit some = { &before, 0, 10 };
        must(hd_for_each(t, visit_one, &some));
        check(some.at == 10, "stopped after %llu", (ull)some.at);
        for (uint64_t i = 0; i < 10; i++)
            memset(before.value + i * VALUE_BYTES, (int)(before.key[i] & 0xff), VALUE_BYTES);
        visit all = { &before, 0, UINT64_MAX };
        must(hd_for_each(t, visit_one, &all));
        check(all.at == before.n, "%llu visits, %llu entries", (ull)all.at, (ull)before.n);
        export_into(t, 0, CAPACITY, NULL, NULL, &after);
        for (uint64_t i = 0; i < after.n * VALUE_BYTES; i++)
            check(after.value[i] == (after.key[i / VALUE_BYTES] & 0xff), "a value was not changed in place");
        must_fail(hd_for_each(t, NULL, NULL), HD_EINVAL, "visit");
        must_fail(hd_for_each(NULL, visit_one, NULL), HD_EINVAL, "table");
        must(hd_clear(t));
        visit none = { &before, 0, 0 };
        must(hd_for_each(t, visit_one, &none));
        check(none.at == 0, "visited an empty table");
        hd_close(t);
    }
}

/* ---- Counters, clock, epoch ------------------------------------------------------------------ */

static void counters_are_exact(void)
{
    enum { N = 64 };
    for (int mode = 0; mode < 2; mode++) {
        hd_table *t = some_table("custom", mode, 0);
        hd_counters got;
        hd_info info;
        hd_counters want = { 0 };
        uint64_t random = 21, ticks = 0, key[N], score[N], scratch[N];
        void *ptr[N];
        uint8_t value[N * VALUE_BYTES] = { 0 }, fate[N], value_out[N * VALUE_BYTES];
        for (int round = 0; round < 4000; round++) {
            hd_op op = (hd_op)test_below(&random, HD_OP_COUNT_);
            if ((op == HD_OP_CLEAR && round % 16) || hd_op_does(op, HD_ORDERED)) continue;
            bool keyed = hd_op_does(op, HD_NEEDS_KEY);
            uint64_t n = test_below(&random, N + 1), count = 0;
            for (uint64_t i = 0; i < n; i++) {
                key[i] =
                    test_below(&random, 20) ? test_below(&random, 2 * CAPACITY) : UINT64_MAX - test_below(&random, 4);
                score[i] = test_below(&random, 3);
            }
            hd_batch b = test_batch(op, n, key, value, fate);
            b.score = score, b.ptr = ptr, b.value_out = value_out, b.elem = HD_F16;
            b.holder = 1 + test_below(&random, 2), b.pred = "value_zero";
            test_lists(&b, NULL, NULL, NULL, scratch, &count);
            if (op == HD_OP_ERASE_IF) b.pred = "key_in", b.pred_arg[1] = 10;
            must(hd_run(t, &b));
            want.batches++;
            want.op[op] += keyed ? n : 1;
            for (uint64_t i = 0; keyed && i < n; i++) want.outcome[fate[i]]++;
            want.items += keyed ? n : 0;
            ticks += keyed ? n : 0;
            must(hd_table_info(t, &info));
            check(info.now == ticks, "%s of %llu: the clock is %llu instead of %llu", hd_op_name(op), (ull)n,
                  (ull)info.now, (ull)ticks);
        }
        must(hd_counters_sync(t, &got));
        for (int o = 0; o < HD_OUTCOME_COUNT; o++) {
            check(got.outcome[o] == want.outcome[o], "%s: %llu counted, %llu seen", hd_outcome_name((hd_outcome)o),
                  (ull)got.outcome[o], (ull)want.outcome[o]);
            check(want.outcome[o] || o == HD_PENDING, "nothing was ever %s", hd_outcome_name((hd_outcome)o));
        }
        for (int o = 0; o < HD_OP_COUNT_; o++)
            check(got.op[o] == want.op[o], "%s: %llu counted, %llu run", hd_op_name((hd_op)o), (ull)got.op[o],
                  (ull)want.op[o]);
        check(got.items == want.items && got.batches == want.batches, "%llu items in %llu batches", (ull)got.items,
              (ull)got.batches);

        hd_batch bad = { .op = HD_OP_FIND, .n = 5 }; /* no key: nothing is counted, no tick taken */
        must_fail(hd_run(t, &bad), HD_EINVAL, "key");
        hd_counters after;
        must(hd_counters_sync(t, &after));
        must(hd_table_info(t, &info));
        check(!memcmp(&after, &got, sizeof got) && info.now == ticks, "a refused batch was counted");
        must(hd_check(t));
        hd_close(t);
    }
}

static void clear_keeps_time(void)
{
    hd_table *t = some_table("epoch_lru", true, 40);
    hd_info before, after;
    hd_counters counted, counts;
    uint64_t size, key = 5;
    double load;
    uint8_t value[VALUE_BYTES] = { 1 };
    must(hd_epoch_set(t, 12));
    must(hd_table_info(t, &before));
    must(hd_counters_sync(t, &counted));
    check(before.epoch == 12 && before.now == 40, "epoch %u, clock %llu", before.epoch, (ull)before.now);
    must(hd_clear(t));
    must(hd_table_info(t, &after));
    must(hd_counters_sync(t, &counts));
    must(hd_size_sync(t, &size));
    must(hd_load_factor_sync(t, &load));
    check(size == 0 && load == 0, "size %llu", (ull)size);
    check(after.now == 40 && after.epoch == 12 && after.memory_bytes == before.memory_bytes,
          "clear moved the clock, the epoch or memory");
    check(!memcmp(counts.outcome, counted.outcome, sizeof counts.outcome) &&
              counts.op[HD_OP_CLEAR] == counted.op[HD_OP_CLEAR] + 1,
          "clear counted outcomes");
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 1, .key = &key, .value = value };
    must(hd_run(t, &b));
    uint64_t score;
    hd_batch f = { .op = HD_OP_FIND, .n = 1, .key = &key, .score_out = &score };
    must(hd_run(t, &f));
    check(score == ((uint64_t)12 << 32 | 40), "score %llx", (ull)score);
    hd_close(t);
}

/* ---- Names and lists ------------------------------------------------------------------------- */

/* A list of names: "?" is the name of what is past its end. */
typedef struct naming {
    const char *of, *(*name)(int i);
    int count;
} naming;

static const char *op_name(int i) { return hd_op_name((hd_op)i); }
static const char *outcome_name(int i) { return hd_outcome_name((hd_outcome)i); }
static const char *status_name(int i) { return hd_status_name((hd_status)i); }
static const char *elem_name(int i) { return hd_elem_name((hd_elem)i); }

static void names(void)
{
    static const naming lists[] = { { "operations", op_name, HD_OP_COUNT_ },
                                    { "outcomes", outcome_name, HD_OUTCOME_COUNT },
                                    { "statuses", status_name, HD_STATUS_COUNT },
                                    { "element types", elem_name, HD_ELEM_COUNT } };
    for (const naming *l = lists; l < lists + sizeof lists / sizeof *lists; l++) {
        for (int i = 0; i <= l->count; i++)
            for (int k = 0; k < i; k++)
                check(strcmp(l->name(i), l->name(k)), "two %s are called %s", l->of, l->name(i));
        check(!strcmp(l->name(l->count), "?"), "what is past the %s is called %s", l->of, l->name(l->count));
    }
    check(!strcmp(hd_op_name(HD_OP_FIND_OR_INSERT_PTR), "find_or_insert_ptr") &&
              !strcmp(hd_outcome_name(HD_EVICTED), "evicted") && !strcmp(hd_status_name(HD_ECORRUPT), "HD_ECORRUPT"),
          "names are those of the header");
    check(!strcmp(hd_version(), "0.1.0"), "version %s", hd_version());
}

static void lists(void)
{
    static const char *const expected[] = {
        [HD_DESIGNS] = "hkv",    [HD_BACKENDS] = "ref", [HD_POLICIES] = "epoch_lfu", [HD_LOCKS] = "rw",
        [HD_PREDICATES] = "all", [HD_KERNELS] = "ref",  [HD_HASHES] = "crc32",       [HD_PARAMETERS] = "dual"
    };
    for (int kind = HD_DESIGNS; kind <= HD_PARAMETERS; kind++) {
        hd_row row, other;
        bool found = false;
        size_t n = 0;
        for (; hd_list((hd_kind)kind, n, &row); n++) {
            check(row.name[0] && row.what[0] && row.more, "row %zu of list %d", n, kind);
            found |= !strcmp(row.name, expected[kind]);
            for (size_t k = 0; k < n && kind != HD_KERNELS; k++)
                check(hd_list((hd_kind)kind, k, &other) &&
                          (strcmp(row.name, other.name) != 0 ||
                           (kind == HD_PARAMETERS && strcmp(row.more, other.more) != 0)),
                      "%s is listed twice", row.name);
        }
        check(found, "%s is not listed", expected[kind]);
        check(!hd_list((hd_kind)kind, n + 1000, &row), "a row past the end");
    }
    check(hd_lock_named("rw") && !hd_lock_named("no lock's") && !hd_lock_named(""), "a lock by a name that is none's");
    const hd_design *d = hd_design_named("hkv");
    check(hd_backend_named(d, "host") && !hd_backend_named(d, "nowhere") && !hd_design_named("nothing"),
          "a design by a name that is none's");
}

static const struct CMUnitTest tests[] = { unit(export_in_pieces),
                                           unit(export_at_the_edges),
                                           unit(every_predicate),
                                           unit(predicates_misused),
                                           unit(for_each),
                                           unit(counters_are_exact),
                                           unit(clear_keeps_time),
                                           unit(names),
                                           unit(lists) };

int main(void) { return test_run(tests); }

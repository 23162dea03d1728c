/* SPDX-License-Identifier: Apache-2.0
 *
 * t_hive.c - what only tables of Hive have. The rules for items and moves, restated, against hive_apply, hive_accept,
 * hive_accept_move and hive_put, for every slot. The load factor. Tables that grow and shrink, by the reference and by
 * kernels. Where kernels put new keys, and what they count.
 */
#include <string.h>

#include "lib/backend_host.h"
#include "lib/table.h"
#include "ref/hive/hive.h"
#include "tests/model.h"
#include "workload/case.h"

static hd_table *table_of(const char *backend, const char *shape)
{
    char text[256];
    hd_case c;
    hd_table *t;
    snprintf(text, sizeof text, "hive.mix.usual %s backend=%s", shape, backend);
    test_case("%s", text);
    must(hd_case_parse(text, &c));
    hd_config config = hd_case_config(&c);
    must(hd_open(&config, &t));
    return t;
}

/* The entries of a table on backend "host" are a state of the reference, which is the first member there. */
static hive_view *view_in(hd_table *t)
{
    return hive_view_of(strcmp(t->info.backend, "host") == 0 ? *(void **)t->state : t->state);
}

/* ---- The rules ------------------------------------------------------------------------------- */

enum { PLACES = 8 * 32 };
typedef struct image {
    uint64_t stashed, word[PLACES];
} image;

static image image_of(const hive_view *v)
{
    image m = { v->stashed, { 0 } };
    for (uint64_t e = 0; e < hive_places(v); e++) m.word[e] = hive_read(v, e);
    return m;
}

static bool is_as(const image *m, const hive_view *v)
{
    image now = image_of(v);
    return memcmp(&now, m, sizeof now) == 0;
}

static void make(hive_view *v, const image *m)
{
    for (uint64_t e = 0; e < hive_places(v); e++) hive_write(v, e, m->word[e]);
    v->stashed = m->stashed;
}

/* Slots of bucket b that are fresh, or all that are free. */
static uint64_t slots_that_are(const hive_view *v, uint64_t b, bool fresh)
{
    uint64_t n = 0;
    for (uint64_t e = b * v->slots; e < (b + 1) * v->slots; e++)
        n += fresh ? hive_read(v, e) == hive_fresh(v) : hive_is_free(v, hive_read(v, e));
    return n;
}

/* Bucket i on the road of a key: its candidates, then the stash, which has one bucket here. */
static uint64_t road(const hive_view *v, uint64_t key, uint32_t i)
{
    return i < v->hashes ? hive_candidate(v, hive_hash(v, key), i) : hive_buckets(v);
}

/* A word of why a key must not come to slot `to` from slot `from` (HIVE_NOWHERE: it is new); NULL: it may. */
static const char *barred(const hive_view *v, uint64_t key, uint64_t from, uint64_t to)
{
    bool is_new = from == HIVE_NOWHERE, behind = is_new, passed = false;
    if (to >= hive_places(v)) return "slot that is none";
    if (!hive_is_free(v, hive_read(v, to))) return "not free";
    if (to >= hive_capacity(v) && (is_new || from < hive_capacity(v)) && v->stashed >= v->slots / 8 * 7)
        return "stash, which was full";
    for (uint32_t i = 0; i <= v->hashes; i++) {
        uint64_t b = road(v, key, i);
        if (behind && (is_new || b != from / v->slots) && b == to / v->slots) return passed ? "HIVE-4" : NULL;
        behind = behind || b == from / v->slots;
        passed = passed || (behind && slots_that_are(v, b, true) > (i < v->hashes ? v->spare : 0));
    }
    return is_new && passed ? "HIVE-4" : "candidate of its";
}

/* The bucket that a new key is put into, where one of its has a free slot: the first with more than the spare ones, or
 * the one with the most. */
static uint64_t chosen(const hive_view *v, uint64_t key)
{
    uint64_t best = HIVE_NOWHERE, most = 0;
    for (uint32_t i = 0; i < v->hashes && most <= v->spare; i++) {
        uint64_t n = slots_that_are(v, road(v, key, i), false);
        if (n > most) most = n, best = road(v, key, i);
    }
    return best;
}

/* ---- Items ----------------------------------------------------------------------------------- */

static hive_item draw(const hive_view *v, bool inserts, uint64_t *r)
{
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND,     HD_OP_ERASE,  HD_OP_ACCUM_OR_ASSIGN,
                                 HD_OP_FIND_OR_INSERT,   HD_OP_CONTAINS, HD_OP_ASSIGN, HD_OP_ASSIGN_VALUES };
    hive_item it = { ops[inserts && test_below(r, 8) < 6 ? 0 : test_below(r, 8)], v->half == 32 ? HD_I32 : HD_F16,
                     (uint32_t)test_below(r, 3), test_below(r, hive_places(v) + 30), test_random(r) & hive_field(v) };
    if (v->half == 16 && it.op == HD_OP_ACCUM_OR_ASSIGN) it.op = HD_OP_ASSIGN; /* no whole number is of 2 bytes */
    if (test_below(r, 50) == 0) it.key = (test_below(r, 2) ? hive_keys(v) : UINT64_MAX - 2) + test_below(r, 3);
    return it;
}

/* The reason has that word, and nothing has changed. NULL: there is none, the table is sound; now it is as before. */
static void says(hd_table *t, const image *was, const char *no, const char *word)
{
    check(word ? no && strstr(no, word) : !no, "'%s', and not '%s'", no ? no : "accepted", word ? word : "accepted");
    if (!word) must(hd_check(t)), make(view_in(t), was);
    check(is_as(was, view_in(t)), "refused (%s), and still changed the table", no);
}

/* Every other outcome than the one that it was. */
static void other_outcomes(hd_table *t, const image *was, const hive_item *it, const hive_seen *truth)
{
    hive_view *v = view_in(t);
    bool comes = truth->outcome == HD_INSERTED || truth->outcome == HD_PENDING;
    uint64_t room = v->slots / 8 * 7 - v->stashed;
    for (uint32_t i = 0; i < v->hashes; i++) room += slots_that_are(v, road(v, it->key, i), false);
    for (unsigned o = 0; o <= HD_OUTCOME_COUNT; o++) {
        hive_seen seen = { (hd_outcome)o, HIVE_NOWHERE, 0, false };
        const char *word = truth->outcome == HD_RESERVED ? "must be answered RESERVED"
                           : o == HD_RESERVED            ? "ordinary one"
                           : truth->outcome == HD_MISS   ? "was absent"
                           : !comes                      ? "the key was present"
                           : o == HD_INSERTED            ? "there was no room"
                           : o != HD_PENDING             ? "the operation inserts"
                           : room                        ? "there was room"
                                                         : NULL;
        if (o != truth->outcome) says(t, was, hive_accept(v, it, &seen, 0), word);
        if (!comes || o != HD_PENDING) continue; /* others may have held the slots that were free */
        says(t, was, hive_accept(v, it, &seen, room), NULL);
        if (room) says(t, was, hive_accept(v, it, &seen, room - 1), "there was room");
    }
}

/* A new key in every slot, by both who may put it there. */
static void every_slot(hd_table *t, const image *was, const hive_item *it)
{
    hive_view *v = view_in(t);
    for (uint64_t e = 0; e <= hive_places(v); e++) {
        hive_seen seen = { HD_INSERTED, e, 0, false };
        const char *word = barred(v, it->key, HIVE_NOWHERE, e);
        says(t, was, hive_accept(v, it, &seen, 0), word);
        bool may = !word || (strcmp(word, "HIVE-4") == 0 && hive_is_home(v, hive_hash(v, it->key), e / v->slots));
        check(hive_put(v, e, it->key, it->value) == may, "slot %llu: %s", (ull)e, word);
        for (uint32_t i = 0; may && road(v, it->key, i) != e / v->slots; i++)
            check(slots_that_are(v, road(v, it->key, i), true) <= v->spare, "a bucket is open");
        if (may) says(t, was, hive_find(v, it->key) == e ? NULL : "it is elsewhere", NULL);
    }
}

static void every_move(hd_table *t, const image *was)
{
    hive_view *v = view_in(t);
    for (uint64_t from = 0, n = hive_places(v) + 1; from < n; from++)
        for (uint64_t to = 0; to < n; to++) {
            uint64_t word = from < n - 1 ? hive_read(v, from) : 0;
            const char *no = from == n - 1 || to == n - 1 ? "slot that is none"
                             : hive_is_key(v, word)       ? barred(v, hive_key_of(v, word), from, to)
                                                          : "slot without a key";
            says(t, was, hive_accept_move(v, from, to), no);
        }
}

/* What apply did, accept allows, with the slot and without, and it makes the same table. */
static void one_item(hd_table *t, const hive_item *it, bool moves, bool untold)
{
    hive_view *v = view_in(t);
    image before = image_of(v), after;
    hive_seen truth;
    uint64_t to = chosen(v, it->key);
    hive_apply(v, it, &truth);
    after = image_of(v);
    make(v, &before);
    if (moves) every_move(t, &before);
    other_outcomes(t, &before, it, &truth);
    if (truth.outcome == HD_INSERTED || truth.outcome == HD_PENDING) every_slot(t, &before, it);
    if (truth.outcome == HD_INSERTED) check(to == HIVE_NOWHERE || to == truth.entry / v->slots, "another bucket");
    truth.shown = truth.outcome == HD_HIT;
    truth.value ^= 1;
    if (truth.shown) says(t, &before, hive_accept(v, it, &truth, 0), "wrong value");
    truth.value ^= 1;
    /* the entry that was there had been displaced before */
    if (untold || (truth.outcome == HD_INSERTED && !hive_is_free(v, before.word[truth.entry])))
        truth.entry = HIVE_NOWHERE;
    const char *no = hive_accept(v, it, &truth, 0);
    check(!no && is_as(&after, v), "%s of key %llu, %s: %s", hd_op_name(it->op), (ull)it->key,
          hd_outcome_name(truth.outcome), no ? no : "accepted, and the tables differ");
    must(hd_check(t));
}

static void items_and_moves(void)
{
    static const char *const shapes[] = { "capacity=8 slots=8 hashes=3 spare=0",
                                          "capacity=16 slots=8 value=2 layout=masks table_seed=4",
                                          "capacity=48 slots=16 hashes=3 layout=masks spare=7",
                                          "capacity=24 slots=8 value=2 spare=3 hash=crc32,murmur3",
                                          "capacity=96 slots=32 hashes=3 spare=2" };
    for (size_t i = 0; i < 5; i++) {
        hd_table *t = table_of("ref", shapes[i]);
        uint64_t r = i;
        for (uint64_t n = 0; n < test_times(800); n++) {
            hive_item it = draw(view_in(t), n / 150 % 2 == 0, &r);
            one_item(t, &it, n % 100 == 99, n % 2);
            if (n % 200 == 199) must(hd_grow(t, t->info.buckets + 1));
        }
        hd_close(t);
    }
    test_tried("differential", 5 * test_times(800), "items of Hive's reference, each with what it might have done");
}

/* ---- How full, how small --------------------------------------------------------------------- */

/* Inserts random keys until one is pending; the load factor. */
static double fill(hd_table *t, uint64_t r)
{
    hive_view *v = view_in(t);
    uint64_t n = 0;
    for (hive_seen seen = { HD_INSERTED, 0, 0, false }; seen.outcome != HD_PENDING; n += seen.outcome == HD_INSERTED) {
        hive_item it = { HD_OP_INSERT_OR_ASSIGN, HD_I32, HD_EITHER, test_below(&r, hive_keys(v)), 1 };
        hive_apply(v, &it, &seen);
    }
    must(hd_check(t));
    return (double)n / (double)hive_places(v);
}

/* Full to their last slots, and to seven eighths of a stash of a sixty-fourth: 0.9980 at most. */
static void tables_get_full(void)
{
    static const struct {
        uint32_t slots, spare; /* spare: the usual number */
    } rows[] = { { 8, 1 }, { 16, 3 }, { 32, 4 } };
    for (uint32_t k = 0; k < 6; k++) {
        char shape[64];
        snprintf(shape, sizeof shape, "capacity=65536 slots=%u hashes=%u", rows[k / 2].slots, 2 + k % 2);
        hd_table *t = table_of("ref", shape);
        double at = fill(t, k);
        test_note("%s: the first item is pending at load factor %.4f", shape, at);
        check(at >= 0.99 && at < 0.9985, "%.4f", at);
        check(t->info.hive.spare == rows[k / 2].spare, "%u spare slots", t->info.hive.spare);
        hd_close(t);
    }
}

/* Growth from 4 buckets that are full to 16 empties the stash; and with three buckets' keys they are 4 again, or nearly
 * always: pairs with more keys than a bucket holds are thinned out, and tried again. */
static bool comes_back(const char *backend, const char *shape)
{
    hd_table *t = table_of(backend, shape);
    model_contents all;
    fill(t, 1);
    const uint64_t few = 3 * t->info.slots, stashed = view_in(t)->stashed;
    contents_take(&all, t);
    must(hd_grow(t, 16));
    must(hd_check(t));
    check(test_size(t) == all.n && 2 * view_in(t)->stashed < stashed, "%llu keys, %llu in the stash", (ull)test_size(t),
          (ull)view_in(t)->stashed);
    hd_batch b = test_batch(HD_OP_ERASE, all.n - few, all.key + few, NULL, NULL);
    must(hd_run(t, &b));
    contents_give(&all);
    must(hd_shrink(t, 4));
    must(hd_check(t));
    check(test_size(t) == few, "%llu keys", (ull)test_size(t));
    bool small = t->info.buckets == 4;
    hd_close(t);
    return small;
}

static void tables_get_small(void)
{
    uint64_t tables = 0, small[2] = { 0 };
    for (uint64_t k = 0; k < test_times(96); k++, tables++) {
        uint32_t slots = 8u << k % 3;
        char shape[128];
        snprintf(shape, sizeof shape, "capacity=%u slots=%u hashes=%u value=%u layout=%s table_seed=%llu", 4 * slots,
                 slots, 2 + (uint32_t)(k / 3 % 2), k / 6 % 2 ? 2 : 4, k / 12 % 2 ? "masks" : "words", (ull)k);
        small[0] += comes_back("ref", shape);
        small[1] += comes_back("host", shape);
    }
    test_note("of %llu tables %llu shrink by the reference, %llu by kernels", (ull)tables, (ull)small[0],
              (ull)small[1]);
    check(10 * small[0] > 9 * tables && 10 * small[1] > 9 * tables, "see above");
}

/* ---- Kernels --------------------------------------------------------------------------------- */

enum { FILLED = 1100 };

/* The share of FILLED keys, brought in by ten batches, that are in their first bucket. */
static double in_first(const char *backend, const char *shape, const char *kernel, bool distinct)
{
    static uint64_t key[FILLED];
    static uint32_t value[FILLED];
    uint64_t n = 0;
    hd_table *t = table_of(backend, shape);
    for (uint64_t i = 0; i < FILLED; i++) key[i] = i * 2654435761u % 4294967291u;
    for (uint64_t i = 0; i < FILLED; i += FILLED / 10) {
        hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, FILLED / 10, key + i, value, NULL);
        b.distinct = distinct, b.kernel = kernel;
        must(hd_run(t, &b));
    }
    const hive_view *v = view_in(t);
    for (uint64_t e = 0; e < hive_capacity(v); e++) {
        uint64_t word = hive_read(v, e);
        n += hive_is_key(v, word) && road(v, hive_key_of(v, word), 0) == e / v->slots;
    }
    check(test_size(t) == FILLED, "%llu entries", (ull)test_size(t));
    hd_close(t);
    return (double)n / FILLED;
}

/* Kernels choose between a key's buckets as the reference does, but for those that fill while a batch looks at them. */
static void newcomers_go_where_they_do(void)
{
    static const char *const rows[][2] = {
        { "batched", "capacity=1200 slots=8 spare=0" },
        { "batched", "capacity=1200 slots=8 spare=1" },
        { "batched", "capacity=1200 slots=16 spare=4" },
        { "tile", "capacity=1200 slots=16 spare=4" },
        { "tile", "capacity=1200 slots=8 spare=1 layout=masks" },
        { "wabc", "capacity=1200 slots=32 spare=4 layout=masks" },
        { "wabc", "capacity=1200 slots=32 spare=15 layout=masks" },
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        double want = in_first("ref", rows[i / 2][1], NULL, i % 2),
               got = in_first("host", rows[i / 2][1], rows[i / 2][0], i % 2);
        check(got > want - 0.015 && got < want + 0.015,
              "%s: %.3f of the keys are in their first bucket, and %.3f by the reference", rows[i / 2][0], got, want);
    }
}

/* Two new keys find buckets 0 and 1 full. One entry of these can be displaced, to bucket 2. The later new key must not
 * displace an entry from bucket 2 to bucket 3: bucket 2 is open, so a search would stop there and miss the entry. */
static void no_key_goes_past_an_open_bucket(void)
{
    enum { SLOTS = 8, KEYS = 3 * SLOTS };
    static const uint64_t roads[][2] = { { 0, 2 }, { 1, 0 }, { 0, 1 }, { 2, 3 } };
    for (int distinct = 0; distinct < 2; distinct++) {
        hd_table *t = table_of("host", "capacity=32 slots=8 spare=0 table_seed=1");
        hive_view *v = view_in(t);
        uint64_t key[KEYS], from = 0;
        uint32_t value[KEYS] = { 0 };
        for (uint64_t e = 0; e < KEYS; e++, from += 2) {
            const uint64_t *way = roads[e == 0 ? 0 : e < SLOTS ? 1 : e < 2 * SLOTS || e >= KEYS - 2 ? 2 : 3];
            while (road(v, from, 0) != way[0] || road(v, from, 1) != way[1]) from += 2;
            key[e] = from;
            if (e < KEYS - 2) hive_write(v, e, hive_pack(v, from, 0));
        }
        must(hd_check(t));
        hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, 2, key + KEYS - 2, value, NULL);
        b.distinct = distinct, b.kernel = "batched";
        must(hd_run(t, &b));
        must(hd_check(t)); /* a search finds each key */
        check(test_size(t) == KEYS, "%llu keys", (ull)test_size(t));
        hd_close(t);
    }
}

/* One warp has so many items that the counts of a lane are added to the table's more than once. */
static void large_batches_are_counted(void)
{
    enum { LARGE = 20000 };
    static uint64_t key[LARGE];
    static uint32_t value[LARGE];
    for (uint64_t i = 0; i < LARGE; i++) key[i] = i;
    for (int k = 0; k < 4; k++) {
        hd_counters told;
        hd_table *t = table_of("host", "capacity=8 slots=8");
        hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, LARGE, key, value, NULL);
        b.distinct = k > 1, b.kernel = k % 2 ? "tile" : "batched";
        must(hd_host_lanes(t, 1, 32));
        must(hd_run(t, &b));
        must(hd_counters_sync(t, &told));
        check(told.outcome[HD_INSERTED] == test_size(t) && told.outcome[HD_PENDING] == LARGE - test_size(t),
              "%llu were pending", (ull)told.outcome[HD_PENDING]);
        hd_close(t);
    }
}

static const struct CMUnitTest hive[] = { unit(items_and_moves),
                                          unit(tables_get_full),
                                          unit(tables_get_small),
                                          unit(newcomers_go_where_they_do),
                                          unit(no_key_goes_past_an_open_bucket),
                                          unit(large_batches_are_counted) };

int main(void) { return test_run(hive); }

/* SPDX-License-Identifier: Apache-2.0
 *
 * t_tiers.c - values in two tiers: the tier of each value, the budget of device memory, and which values promote moves.
 * (The tests of every operation run with tiers, too, and show that tiers do not change results.)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/hkv/args.h"
#include "lib/backend_host.h"
#include "gpu/hkv/select.h"
#include "lib/table.h"
#include "ref/hkv/hkv.h"
#include "tests/testing.h"
#include "tests/variants.h"

/* ---- Where values lie ------------------------------------------------------------------------ */

/* Value e lies at p in that tier, where no other value does. */
static void mark(uint8_t *taken, const uint8_t *tier, uint64_t tier_bytes, const uint8_t *p, uint32_t bytes, uint64_t e)
{
    check(p >= tier && p + bytes <= tier + tier_bytes, "value %llu lies outside of its tier", (ull)e);
    for (uint32_t i = 0; i < bytes; i++) {
        check(!taken[p - tier + i], "value %llu lies on another", (ull)e);
        taken[p - tier + i] = 1;
    }
}

static void addresses_of(const hd_config *c)
{
    hd_table *t;
    hd_info info;
    uint64_t all = 0, near = 0;
    test_case("buckets=%llu slots=%u value=%u tiers=%d near=%llu", (ull)(c->capacity / c->slots), c->slots,
              c->value_bytes, c->hkv.tiers, (ull)c->hkv.device_value_bytes);
    must(hd_open(c, &t));
    must(hd_table_info(t, &info));
    const hkv_view *v = hkv_view_of(t->state);
    all = info.capacity * info.value_bytes;
    uint8_t *taken[2] = { (uint8_t *)test_alloc(1, all + 1), (uint8_t *)test_alloc(1, all + 1) };
    for (uint64_t e = 0; e < info.capacity; e++) {
        bool is_near = hkv_is_near(v, e);
        mark(taken[is_near], is_near ? v->value : v->far, is_near ? info.values_device_bytes : info.values_host_bytes,
             hkv_value(v, e), info.value_bytes, e);
        bool same_stripe = c->hkv.tiers == HD_TIERS_POSITION ? e > 0 : e % info.slots != 0;
        check(!is_near || !same_stripe || hkv_is_near(v, e - 1), "value %llu is near, and the one before it is not",
              (ull)e);
        /* shared out evenly, wherever one looks: so the near values of a bucket's children, when the table has grown,
         * lie where those of the bucket lay */
        uint64_t share =
            info.values_device_bytes / (info.value_bytes ? info.value_bytes : 1) * (e / info.slots) / info.buckets;
        check(c->hkv.tiers == HD_TIERS_POSITION || same_stripe || !info.values_host_bytes || near == share,
              "%llu values before bucket %llu are near, and %llu are its share", (ull)near, (ull)(e / info.slots),
              (ull)share);
        near += is_near;
    }
    check(info.values_device_bytes == near * info.value_bytes &&
              info.values_device_bytes + info.values_host_bytes == all,
          "%llu near, %llu far, of %llu", (ull)info.values_device_bytes, (ull)info.values_host_bytes, (ull)all);
    check(!c->hkv.device_value_bytes || info.values_device_bytes <= c->hkv.device_value_bytes,
          "%llu bytes are over the budget", (ull)info.values_device_bytes);
    check(info.values_host_bytes == 0 || c->hkv.device_value_bytes - info.values_device_bytes < info.value_bytes,
          "the budget has room for more than %llu", (ull)info.values_device_bytes);
    check(c->hkv.device_value_bytes || info.values_host_bytes == 0, "there is a far tier, and no budget");
    free(taken[0]);
    free(taken[1]);
    hd_close(t);
}

static void every_value_has_its_place(void)
{
    static const uint32_t slots[] = { 2, 3, 8, 33, 128 }, bytes[] = { 0, 1, 8, 24 };
    for (int i = 0; i < 5 * 4 * 4 * 2; i++) {
        hd_config c = hd_config_default();
        c.slots = slots[i % 5];
        c.value_bytes = bytes[i / 5 % 4];
        c.capacity = c.slots * (1 + (uint64_t)i / 20 % 4);
        c.hkv.tiers = i / 80 ? HD_TIERS_POSITION : HD_TIERS_BUCKET;
        uint64_t all = c.capacity * c.value_bytes;
        for (uint64_t k = 0; k <= 7; k++) {
            c.hkv.device_value_bytes = k < 2 ? k : all * (k - 1) / 6 + (k == 5);
            addresses_of(&c);
        }
    }
}

/* ---- Promotion ------------------------------------------------------------------------------- */

enum { KEYS = 900, WORDS = 6, VALUE = 8 * WORDS /* three pieces of 16 */ };

static void value_of(uint64_t key, uint64_t *value)
{
    for (uint64_t w = 0; w < WORDS; w++) value[w] = key * 3 + w;
}

static uint64_t promote_by(hd_table *t, uint64_t start, uint64_t n, const char *kernel)
{
    uint64_t moved = 0;
    hd_batch b = { .op = HD_OP_PROMOTE, .start = start, .n = n, .count = &moved, .kernel = kernel };
    must(hd_run(t, &b));
    return moved;
}

static uint64_t promote(hd_table *t, uint64_t start, uint64_t n) { return promote_by(t, start, n, NULL); }

/* Keys of random scores, more than there is room for; some of those that stayed are pinned, some are erased again. */
static void fill(hd_table *t, uint64_t seed)
{
    static uint64_t key[KEYS], score[KEYS], value[KEYS][WORDS];
    uint64_t random = seed;
    for (uint64_t i = 0; i < KEYS; i++) {
        key[i] = test_below(&random, 3 * KEYS);
        score[i] = test_below(&random, 50);
        value_of(key[i], value[i]);
    }
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = KEYS, .key = key, .score = score, .value = value };
    must(hd_run(t, &b));
    b.op = HD_OP_ERASE;
    b.n = KEYS / 5;
    must(hd_run(t, &b));
    b.op = HD_OP_LOCK_KEYS;
    b.holder = 1;
    b.key = key + KEYS / 2;
    b.n = 10;
    must(hd_run(t, &b));
}

/* The host's state begins with the reference's. */
static const hkv_view *view_of(const hd_table *t, const hd_info *info)
{
    return hkv_view_of(strcmp(info->backend, "ref") == 0 ? t->state : *(void **)t->state);
}

/* Every key is found with its value. The sum of the scores that are near, plus one each. */
static uint64_t near_scores(hd_table *t, const hd_info *info)
{
    static uint64_t key[3 * KEYS], score[3 * KEYS];
    static uint8_t outcome[3 * KEYS];
    static void *ptr[3 * KEYS];
    uint64_t sum = 0, value[WORDS], size = 0, found = 0;
    for (uint64_t i = 0; i < 3 * KEYS; i++) key[i] = i;
    hd_batch b = {
        .op = HD_OP_FIND_PTR, .n = 3 * KEYS, .key = key, .ptr = ptr, .score_out = score, .outcome = outcome
    };
    must(hd_run(t, &b));
    const hkv_view *v = view_of(t, info);
    for (uint64_t i = 0; i < 3 * KEYS; i++) {
        if (outcome[i] != HD_HIT) continue;
        value_of(key[i], value);
        check(memcmp(ptr[i], value, VALUE) == 0, "key %llu has another's value", (ull)key[i]);
        bool near = (uint8_t *)ptr[i] >= v->value && (uint8_t *)ptr[i] < v->value + info->values_device_bytes;
        sum += near ? score[i] + 1 : 0;
        found++;
    }
    must(hd_size_sync(t, &size));
    check(found == size, "%llu of %llu entries are found", (ull)found, (ull)size);
    return sum;
}

/* Scores near rise, and only while something moves; a part at a time gives what the whole does; nothing is lost. */
static void the_best_come_near(void)
{
    static const char *const policies[] = { "lfu", "custom" };
    for (uint64_t i = 0; i < 32; i++) {
        hd_table *t[2];
        hd_info info;
        uint32_t slots = i / 2 % 2 ? 32 : 21;
        hd_config c = test_usual(.backend = i / 16 ? "host" : "ref", .policy = policies[i % 2], .capacity = 12 * slots,
                                 .slots = slots, .value_bytes = VALUE, .layout = HD_LAYOUT_PAIRS, .hkv.dual = i / 4 % 2,
                                 .hkv.device_value_bytes = 12 * slots * VALUE / (3 + i % 5),
                                 .hkv.tiers = i / 8 % 2 ? HD_TIERS_POSITION : HD_TIERS_BUCKET);
        test_case("backend=%s policy=%s slots=%u dual=%d tiers=%d near=%llu", c.backend, c.policy, c.slots, c.hkv.dual,
                  c.hkv.tiers, (ull)c.hkv.device_value_bytes);
        for (int k = 0; k < 2; k++) {
            must(hd_open(&c, &t[k]));
            fill(t[k], i);
        }
        must(hd_table_info(t[0], &info));
        uint64_t before = near_scores(t[0], &info),
                 moved = promote_by(t[0], 0, info.capacity, i / 16 && i % 3 == 0 ? "tlpv1" : NULL),
                 after = near_scores(t[0], &info), parts = 0;
        must(hd_check(t[0]));
        check((moved > 0) == (c.hkv.tiers == HD_TIERS_BUCKET) && (after > before) == (moved > 0),
              "%llu moved, and from %llu it is %llu", (ull)moved, (ull)before, (ull)after);
        check(promote(t[0], 0, info.capacity) == 0, "a second pass moved something");
        for (uint64_t at = 0; at < info.capacity; at += 17)
            parts += promote(t[1], at, info.capacity - at < 17 ? info.capacity - at : 17);
        check(parts == moved && near_scores(t[1], &info) == after, "in parts %llu moved, at once %llu", (ull)parts,
              (ull)moved);
        check(promote(t[0], info.capacity, 0) == 0, "beyond the end something moved");
        must(hd_check(t[1]));
        hd_close(t[0]);
        hd_close(t[1]);
    }
}

/* promote does not move pinned entries: while all near entries, or all far ones, are pinned, nothing changes places.
 * Afterwards entries move, and the bounds fall where lower scores went. */
static void who_is_pinned_stays(void)
{
    enum { SLOTS = 16, NEAR = 8 };
    for (uint32_t row = 0; row <= hkv_row_count(); row++) {
        hd_info info;
        uint64_t key[SLOTS + 1], score[SLOTS + 1], value[SLOTS + 1][WORDS], moved = 0;
        if (row < hkv_row_count() && hkv_row(row)->family != HKV_PROMOTE) continue;
        const char *variant = row < hkv_row_count() ? hkv_row_name(row) : NULL;
        test_case("%s", variant ? variant : "ref");
        hd_table *t = test_table(.backend = variant ? "host" : "ref", .policy = "custom", .capacity = SLOTS,
                                 .slots = SLOTS, .value_bytes = VALUE, .layout = HD_LAYOUT_PAIRS,
                                 .hkv.tiers = HD_TIERS_BUCKET, .hkv.device_value_bytes = NEAR * VALUE);
        must(hd_table_info(t, &info));
        for (uint64_t k = 0; k <= SLOTS; k++) value_of(key[k] = k, value[k]), score[k] = k < NEAR ? 10 + k : 100 + k;
        for (uint64_t k = 0; k <= SLOTS;
             k++) /* one after the other into the first empty slot; the last one evicts, and so all scores are read */
            must(hd_run(
                t, &(hd_batch){
                       .op = HD_OP_INSERT_OR_ASSIGN, .n = 1, .key = key + k, .score = score + k, .value = value + k }));
        hd_batch pin = { .op = HD_OP_LOCK_KEYS, .n = NEAR - 1, .key = key + 1, .holder = 1 },
                 go = { .op = HD_OP_PROMOTE, .n = SLOTS, .count = &moved, .kernel = variant };
        /* key 0 has left, and key SLOTS is in its place */
        must(hd_run(t, &pin));
        hd_batch last = { .op = HD_OP_LOCK_KEYS, .n = 1, .key = key + SLOTS, .holder = 1 };
        must(hd_run(t, &last));
        must(hd_run(t, &go));
        check(moved == 0, "%llu of the pinned moved", (ull)moved);
        pin.op = last.op = HD_OP_UNLOCK_KEYS;
        must(hd_run(t, &pin));
        must(hd_run(t, &last));
        hd_batch far = { .op = HD_OP_LOCK_KEYS, .n = NEAR, .key = key + NEAR, .holder = 1 };
        must(hd_run(t, &far));
        must(hd_run(t, &go));
        check(moved == 0, "%llu for the pinned moved", (ull)moved);
        far.op = HD_OP_UNLOCK_KEYS;
        must(hd_run(t, &far));
        must(hd_run(t, &go));
        check(moved == NEAR - 1, "%llu moved", (ull)moved); /* all but the last one, which is the best of all */
        must(hd_check(t));
        hd_close(t);
    }
}

/* One thread, or several, which each have buckets of their own. */
static void threads_promote_the_same(void)
{
    enum { BUCKETS = 1 << 10, SLOTS = 128, ENTRIES = BUCKETS * SLOTS };
    uint64_t n = ENTRIES / 2, random = 4, moved[2], *key = (uint64_t *)test_alloc(n, sizeof *key),
             *score = (uint64_t *)test_alloc(n, sizeof *score), *out[2];
    for (uint64_t i = 0; i < n; i++) key[i] = i, score[i] = test_random(&random);
    for (int k = 0; k < 2; k++) {
        uint64_t count;
        hd_table *t = test_table(.policy = "custom", .capacity = ENTRIES, .slots = SLOTS, .value_bytes = 8,
                                 .hkv.tiers = HD_TIERS_BUCKET, .hkv.device_value_bytes = ENTRIES, .threads = k ? 3 : 1);
        must(hd_run(t, &(hd_batch){ .op = HD_OP_INSERT_OR_ASSIGN, .n = n, .key = key, .score = score, .value = key }));
        moved[k] = promote(t, 0, ENTRIES);
        must(hd_check(t));
        out[k] = (uint64_t *)test_alloc(ENTRIES, sizeof *out[k]);
        must(hd_run(t, &(hd_batch){ .op = HD_OP_EXPORT, .n = ENTRIES, .list_key = out[k], .count = &count }));
        check(count == n, "%llu entries of %llu", (ull)count, (ull)n);
        hd_close(t);
    }
    check(moved[0] > BUCKETS && moved[0] == moved[1], "one thread moved %llu, three %llu", (ull)moved[0],
          (ull)moved[1]);
    check(memcmp(out[0], out[1], n * sizeof *out[0]) == 0, "and not the same ones");
    free(out[0]);
    free(out[1]);
    free(key);
    free(score);
}

/* An empty slot has a score of 0; an entry with one comes near for it all the same. */
static void any_entry_is_worth_more_than_none(void)
{
    enum { SLOTS = 8 };
    for (int i = 0; i < 4; i++) {
        hd_table *t;
        hd_info info;
        uint64_t key[SLOTS], score[SLOTS] = { 0 }, value[SLOTS][WORDS], near = 0;
        void *ptr[SLOTS];
        hd_config c = test_usual(.policy = "custom", .slots = SLOTS, .capacity = SLOTS, .value_bytes = VALUE,
                                 .backend = i / 2 ? "host" : "ref", .hkv.tiers = HD_TIERS_BUCKET,
                                 .hkv.device_value_bytes = SLOTS * VALUE / 2,
                                 .layout = i % 2 ? HD_LAYOUT_PAIRS : HD_LAYOUT_PLANES);
        test_case("backend=%s layout=%d", c.backend, (int)c.layout);
        must(hd_open(&c, &t));
        must(hd_table_info(t, &info));
        for (uint64_t k = 0; k < SLOTS; k++) value_of(key[k] = k, value[k]);
        hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = SLOTS, .key = key, .score = score, .value = value };
        must(hd_run(t, &b));
        b = (hd_batch){ .op = HD_OP_FIND_PTR, .n = SLOTS, .key = key, .ptr = ptr };
        must(hd_run(t, &b));
        const uint8_t *values = view_of(t, &info)->value;
        for (uint64_t k = 0; k < SLOTS; k++)
            if ((uint8_t *)ptr[k] >= values && (uint8_t *)ptr[k] < values + info.values_device_bytes) key[near++] = k;
        b = (hd_batch){ .op = HD_OP_ERASE, .n = near, .key = key };
        must(hd_run(t, &b));
        check(near == SLOTS / 2 && near_scores(t, &info) == 0, "%llu were near, and not all were erased", (ull)near);
        uint64_t moved = promote(t, 0, SLOTS);
        check(moved == near && near_scores(t, &info) == near, "of %llu entries %llu moved", (ull)near, (ull)moved);
        must(hd_check(t));
        hd_close(t);
    }
}

/* ---- Fetches --------------------------------------------------------------------------------- */

typedef struct finds {
    hd_table *t;
    uint64_t most, *key; /* of the items: present, absent and reserved ones, some of them more than once */
    uint8_t *value_out, *outcome;
    uint32_t bytes;
} finds;

enum { GUARD = 32 /* half of it for shifts */, POISON = 0xa5 };

static void known_value(uint64_t key, uint8_t *value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) value[i] = (uint8_t)((key + 1) * 0x9e3779b97f4a7c15u >> (8 * (i % 8)) ^ i);
}

/* Keys 0 to 2 x capacity - 1; those that are even go in, as far as there is room. */
static void finds_open(finds *f, hd_config c, uint64_t most)
{
    uint64_t n = c.capacity, *key = (uint64_t *)test_alloc(n, sizeof *key);
    uint8_t *value = (uint8_t *)test_alloc(n, c.value_bytes);
    memset(f, 0, sizeof *f);
    must(hd_open(&c, &f->t));
    for (uint64_t i = 0; i < n; i++) known_value(key[i] = 2 * i, value + i * c.value_bytes, c.value_bytes);
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = n, .key = key, .value = value };
    must(hd_run(f->t, &b));
    free(key);
    free(value);
    f->most = most;
    f->bytes = c.value_bytes;
    f->key = (uint64_t *)test_alloc(most, sizeof *f->key);
    f->outcome = (uint8_t *)test_alloc(most, 1);
    f->value_out = (uint8_t *)test_alloc(most * f->bytes + 2 * GUARD, 1);
}

static void finds_close(finds *f)
{
    hd_close(f->t);
    free(f->key);
    free(f->outcome);
    free(f->value_out);
}

/* n items, their values from `shift` bytes on: what is there comes out, what is not is left alone. Returns how many
 * were there. */
static uint64_t find_some(finds *f, const char *variant, uint64_t n, uint32_t shift, uint64_t *random)
{
    uint8_t *out = f->value_out + GUARD + shift, *wanted = (uint8_t *)test_alloc(f->bytes, 1);
    uint64_t hits = 0;
    hd_info info;
    must(hd_table_info(f->t, &info));
    for (uint64_t i = 0; i < n; i++)
        f->key[i] = test_below(random, 50)       ? test_below(random, 2 * info.capacity)
                    : i && test_below(random, 2) ? f->key[i / 2]
                                                 : HD_KEY_RESERVED;
    memset(f->value_out, POISON, f->most * f->bytes + 2 * GUARD);
    hd_batch b = { .op = HD_OP_FIND,
                   .n = n,
                   .key = f->key,
                   .value_out = n % 2 ? out : NULL,
                   .outcome = f->outcome,
                   .kernel = variant };
    must(hd_run(f->t, &b)); /* without value_out the batch fetches no far values */
    memset(f->value_out, POISON, f->most * f->bytes + 2 * GUARD);
    b.value_out = out;
    must(hd_run(f->t, &b));
    for (uint64_t i = 0; i < n; i++) {
        bool hit = f->outcome[i] == HD_HIT;
        check(hit || f->outcome[i] == (f->key[i] >= HD_KEY_RESERVED ? HD_RESERVED : HD_MISS), "item %llu is %s", (ull)i,
              hd_outcome_name((hd_outcome)f->outcome[i]));
        if (hit)
            known_value(f->key[i], wanted, f->bytes);
        else
            memset(wanted, POISON, f->bytes);
        check(memcmp(out + i * f->bytes, wanted, f->bytes) == 0,
              "item %llu of %llu, key %llu, which is %s, has another value", (ull)i, (ull)n, (ull)f->key[i],
              hit ? "there" : "not there");
        hits += hit;
    }
    for (uint64_t i = 0; i < GUARD / 2; i++)
        check(out[-1 - (ptrdiff_t)i] == POISON && out[n * f->bytes + i] == POISON,
              "something was written beside the values");
    free(wanted);
    return hits;
}

/* By every variant, of every width, in batches of less than a window, of one, and of several; lanes go in random
 * order. */
static void what_is_far_is_fetched(void **state)
{
    const char *variant = VARIANT_OF(state);
    static const uint32_t bytes[] = { 1, 8, 12, 16, 48, 80, 528 }, slots[] = { 16, 33, 128 };
    uint32_t row = hkv_row_of(variant, HKV_LOOKUP);
    uint64_t hits = 0, random = row;
    if (row == hkv_row_count()) test_skip("it does not look up");
    for (uint64_t i = 0; i < 7 * 3 * 2; i++) {
        if (!test_takes(i)) continue;
        finds f;
        hd_info info;
        simt_config m = simt_config_default();
        uint64_t capacity = 4 * slots[i / 7 % 3];
        hd_config c = test_usual(.backend = test_backend("host"), .capacity = capacity, .slots = slots[i / 7 % 3],
                                 .value_bytes = bytes[i % 7], .layout = HD_LAYOUT_PAIRS, .hkv.dual = i % 2,
                                 .hkv.tiers = i / 2 % 2 ? HD_TIERS_POSITION : HD_TIERS_BUCKET,
                                 .hkv.device_value_bytes = capacity * bytes[i % 7] / (2 + i % 3 * 4) + 1,
                                 .hkv.fetch = i / 21 ? HD_FETCH_DIRECT : HD_FETCH_SORTED);
        m.strategy = SIMT_RANDOM;
        m.preempt = SIMT_AT_ATOMIC;
        m.race = true;
        m.shared_bytes = 48 << 10;
        m.step_limit = 1ull << 40;
        m.seed = i;
        test_case("hkv.find.%s slots=%u value=%u dual=%d tiers=%d near=%llu fetch=%d", variant, c.slots, c.value_bytes,
                  c.hkv.dual, c.hkv.tiers, (ull)c.hkv.device_value_bytes, c.hkv.fetch);
        hd_host_usual(&m, 2, 64);
        finds_open(&f, c, 2 * c.capacity + 3);
        hd_host_usual(NULL, 0, 0);
        must(hd_table_info(f.t, &info));
        if (!hkv_row(row)->fits(&info)) {
            uint64_t n[] = { 1, 2, c.capacity - 1, c.capacity, c.capacity + 1, 2 * c.capacity + 3 };
            for (int k = 0; k < 6; k++) hits += find_some(&f, variant, n[k], (uint32_t)(k + 1) % 3 * 4, &random);
        }
        finds_close(&f);
    }
    check(hits > 0 || test_times(8) < 8, "nothing was found");
    test_note("%-9s %llu values found", variant, (ull)hits);
}

/* All bins in use, windows of 1 Mi items: for a real device. */
/* A far tier of more than all bins are wide at least: they are wider. */
static void bins_are_as_wide_as_they_must(void)
{
    uint64_t random = 9;
    /* of 4,096 bins of 64 bytes: a quarter, all, four times as much */
    for (uint32_t bytes = 64; bytes <= 1024; bytes *= 4) {
        finds f;
        test_case("1 Ki values of %u bytes", bytes);
        hd_config c = test_usual(.backend = "host", .capacity = 1 << 10, .slots = 128, .value_bytes = bytes,
                                 .hkv.device_value_bytes = 4 * bytes, .hkv.fetch = HD_FETCH_SORTED);
        finds_open(&f, c, 2000);
        check(find_some(&f, NULL, 2000, 0, &random) > 500, "few were there");
        finds_close(&f);
    }
}

/* The machine stops in the middle of a find, at different steps of its three launches: the counts of this find do not
 * affect the next one. */
static void a_find_that_was_stopped_leaves_nothing(void)
{
    finds f;
    uint64_t random = 5, stopped = 0;
    hd_config c = test_usual(.backend = "host", .slots = 16, .capacity = 64, .value_bytes = 16,
                             .hkv.device_value_bytes = 200, .hkv.fetch = HD_FETCH_SORTED);
    finds_open(&f, c, 100);
    find_some(&f, "tlpv1", 100, 0, &random);
    for (uint64_t limit = 1;; limit += 1 + limit / 8) {
        simt_config m = simt_config_default();
        hd_batch b = { .op = HD_OP_FIND,
                       .n = 100,
                       .key = f.key,
                       .value_out = f.value_out + GUARD,
                       .outcome = f.outcome,
                       .kernel = "tlpv1" };
        m.race = false;
        m.step_limit = limit;
        must(hd_host_configure(f.t, &m));
        hd_status status = hd_run(f.t, &b);
        m.step_limit = 1ull << 40;
        must(hd_host_configure(f.t, &m));
        if (!status) break;
        test_case("stopped after %llu steps", (ull)limit);
        must_fail(status, HD_EKERNEL, "find: host machine: ");
        find_some(&f, "tlpv1", 100, 0, &random);
        stopped++;
    }
    check(stopped > 20, "it was stopped only %llu times", (ull)stopped);
    finds_close(&f);
}

static void many_are_fetched(void)
{
    uint64_t random = 1, hits = 0;
    if (!test_far()) test_skip("it takes a device");
    for (int i = 0; i < 4; i++) {
        finds f;
        hd_config c = test_usual(.backend = test_backend("host"), .capacity = 3 << 19, .value_bytes = i % 2 ? 48 : 20,
                                 .hkv.tiers = i / 2 ? HD_TIERS_POSITION : HD_TIERS_BUCKET);
        c.hkv.device_value_bytes = c.capacity * c.value_bytes / 10;
        c.hkv.fetch = HD_FETCH_SORTED;
        test_case("value=%u tiers=%d", c.value_bytes, c.hkv.tiers);
        finds_open(&f, c, 5 << 19);
        hits += find_some(&f, NULL, 5 << 19, 0, &random);
        hits += find_some(&f, NULL, 99999, 0, &random);
        finds_close(&f);
    }
    test_note("%llu values found", (ull)hits);
}

/* What sorting takes is taken where it may be done, and told. */
static void room_for_fetches_is_told(void)
{
    uint64_t memory[3][2];
    for (int fetch = 0; fetch < 3; fetch++)
        for (int tiers = 0; tiers < 2; tiers++) {
            hd_info info;
            hd_table *t =
                test_table(.backend = "host", .capacity = 1 << 12, .hkv.device_value_bytes = tiers ? 1 << 10 : 0,
                           .hkv.fetch = (hd_fetch)fetch, .value_bytes = 8);
            must(hd_table_info(t, &info));
            memory[fetch][tiers] = info.memory_bytes;
            hd_close(t);
        }
    uint64_t direct = memory[HD_FETCH_DIRECT][1];
    check(memory[HD_FETCH_SORTED][0] == direct && memory[HD_FETCH_DIRECT][0] == direct &&
              memory[HD_FETCH_USUAL][0] == direct,
          "a table without far values is charged");
    check(memory[HD_FETCH_SORTED][1] == direct + (16u << 12) + 4 * HKV_FETCH_COUNTS,
          "%llu bytes for 4,096 items at most", (ull)(memory[HD_FETCH_SORTED][1] - direct));
    check(memory[HD_FETCH_USUAL][1] == direct, "a table too small to be sorted by itself is charged");
}

/* Where it pays: much far memory and many items. */
static void sorting_is_chosen(void)
{
    hd_info info = { .values_host_bytes = 8ull << 30 };
    check(hkv_select_sorted(&info, 1 << 20) && !hkv_select_sorted(&info, 100), "usual, 8 GiB far");
    info.values_host_bytes = 400u << 20;
    check(!hkv_select_sorted(&info, 1 << 20), "usual, 400 MiB far");
    info.hkv.fetch = HD_FETCH_SORTED;
    check(hkv_select_sorted(&info, 1), "sorted");
    info.values_host_bytes = 0;
    check(!hkv_select_sorted(&info, 1 << 20), "sorted, none far");
    info.hkv.fetch = HD_FETCH_DIRECT;
    info.values_host_bytes = 8ull << 30;
    check(!hkv_select_sorted(&info, 1 << 20), "direct");
}

int main(void)
{
    const struct CMUnitTest of_each[] = { unit(what_is_far_is_fetched) };
    const struct CMUnitTest of_all[] = { unit(every_value_has_its_place),
                                         unit(the_best_come_near),
                                         unit(any_entry_is_worth_more_than_none),
                                         unit(many_are_fetched),
                                         unit(a_find_that_was_stopped_leaves_nothing),
                                         unit(bins_are_as_wide_as_they_must),
                                         unit(threads_promote_the_same),
                                         unit(who_is_pinned_stays),
                                         unit(room_for_fetches_is_told),
                                         unit(sorting_is_chosen) };
    return variants_run(of_each, 1, of_all, sizeof of_all / sizeof *of_all);
}

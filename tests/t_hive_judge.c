/* SPDX-License-Identifier: Apache-2.0
 *
 * t_hive_judge.c - Hive's port to the judge of kernels, member by member: what it says of a word, of a key that another
 * table has not or has otherwise, and of a region's byte; how it resizes a table; each invariant between steps that a
 * table can break; and the items, moves and counts that it refuses.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "judge/comparison.h"
#include "judge/hive/fixture.h"
#include "judge/kernels.h"
#include "tests/on_machine.h"

typedef unsigned long long ull;

static const judge_design *const hive = &judge_design_hive;

enum { SLOTS = 8, BASE = 2 };

static simt_machine *machine;

static fixture_kernel kernel_of(const fixture *s)
{
    uint32_t row;
    must(fixture_kernel_row(&s->c[0], &row));
    return fixture_kernel_at(hive, row, 32, 1);
}

/* An empty table of two buckets. */
static fixture *open_table(const char *tail)
{
    char text[256];
    hd_case c;
    fixture *s;
    snprintf(text, sizeof text, "hive.find.tile buckets=2 slots=8 batch=8x1 keys=uniform:50 %s seed=1", tail);
    test_case("%s", text);
    must(hd_case_parse(text, &c));
    must(fixture_open_empty(&c, &s));
    return s;
}

/* The n-th key, from 0, whose first candidate is bucket b and whose second is the other. */
static uint64_t key_of(const hive_view *v, uint64_t b, uint64_t n)
{
    for (uint64_t key = 1;; key++) {
        uint64_t h = hive_hash(v, key);
        if (hive_candidate(v, h, 0) == b && hive_candidate(v, h, 1) == 1 - b && n-- == 0) return key;
    }
}

/* A key whose candidates are both bucket 0. */
static uint64_t key_of_one(const hive_view *v)
{
    for (uint64_t key = 1;; key++) {
        uint64_t h = hive_hash(v, key);
        if (hive_candidate(v, h, 0) == 0 && hive_candidate(v, h, 1) == 0) return key;
    }
}

/* ---- Entries --------------------------------------------------------------------------------- */

static void says_of(const fixture *s, uint64_t word, const char *want)
{
    char line[64];
    hive_write(hive_fixture_view(s), 3, word);
    fixture_describe(hive, s->table, 3, line, sizeof line);
    check(strcmp(line, want) == 0, "'%s' instead of '%s'", line, want);
}

static void words_are_described(void **state)
{
    static const char *const shapes[] = { "value=4", "value=2", "value=4 layout=masks", "value=2 layout=masks" };
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        fixture *s = open_table(shapes[k]);
        const hive_view *v = hive_fixture_view(s);
        says_of(s, hive_fresh(v), "fresh");
        check(hive->key_at(s->table, 3) == HD_KEY_EMPTY, "a fresh slot is empty");
        says_of(s, hive_vacant(v), "vacant");
        check(hive->key_at(s->table, 3) == HD_KEY_EMPTY, "a vacant slot is empty");
        says_of(s, hive_pack(v, 0x1f, 0xab), "1f value ab");
        check(hive->key_at(s->table, 3) == 0x1f && *hive->value_at(s->table, 3) == 0xab, "its key and value");
        says_of(s, hive_sign(v, HIVE_CLAIMED, 0x1f), "claimed by 1f");
        check(hive->key_at(s->table, 3) == HD_KEY_LOCKED, "a claimed slot is in an item's hands");
        says_of(s, hive_sign(v, HIVE_LEAVING, 0x1f), "leaving 1f");
        char want[64];
        snprintf(want, sizeof want, "no word of a table: %" PRIx64, hive_sign(v, HIVE_EMPTY, 5));
        says_of(s, hive_sign(v, HIVE_EMPTY, 5), want);
        fixture_close(s);
    }
}

static void tables_differ(void **state)
{
    (void)state;
    fixture *s = open_table("value=4"), *t = open_table("value=4");
    hive_view *v = hive_fixture_view(s), *w = hive_fixture_view(t);
    uint64_t key = key_of(v, 0, 0);
    char text[2048];
    check(hive_put(v, 0, key, 7), "it has room");
    check(strcmp(fixture_differs(hive, s->table, t->table, 0), "is not in") == 0, "one has it");
    check(hive_put(w, 5, key, 8), "it has room");
    check(strcmp(fixture_differs(hive, s->table, t->table, 0), "has another value than in") == 0, "another value");
    size_t n = fixture_draw(hive, s->table, "one", t->table, "other", text, sizeof text);
    check(n && strstr(text, "value 7") && strstr(text, "value 8") && strstr(text, "fresh"), "%s", text);
    hive_write(w, 5, hive_pack(w, key, 7));
    check(!fixture_differs(hive, s->table, t->table, 0), "a key may be in any of its slots");
    check(fixture_draw(hive, s->table, "one", t->table, "other", text, sizeof text) == 0, "%s", text);
    check(strcmp(fixture_bucket(hive, s->table, 1, text, sizeof text), "bucket 1") == 0, "%s", text);
    check(strcmp(fixture_bucket(hive, s->table, BASE, text, sizeof text), "stash bucket 0") == 0, "%s", text);
    fixture_close(s);
    fixture_close(t);
}

typedef struct named {
    const char *region;
    uint64_t at; /* in units of what one number of the region has: a word, or 4 bytes */
    const char *want;
} named;

static const named names[] = {
    { "word", 0, "bucket 0, slot 0" },
    { "word", SLOTS + 3, "bucket 1, slot 3" },
    { "word 1", 2, "bucket 2, slot 2" },
    { "word 2", SLOTS, "bucket 5, slot 0" },
    { "stash word", SLOTS + 1, "stash bucket 1, slot 1" },
    { "mask", 1, "mask of bucket 1" },
    { "lock 1", 1, "lock of bucket 3" },
    { "mask 2", 0, "mask of bucket 4" },
    { "stash lock", 0, "lock of stash bucket 0" },
};

static void regions_are_named(void **state)
{
    (void)state;
    for (int narrow = 0; narrow < 2; narrow++) {
        fixture *s = open_table(narrow ? "layout=masks value=2" : "layout=masks value=4");
        char text[64];
        uint64_t known = 0;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            uint64_t bytes = strstr(names[k].region, "word") ? hive_word_bytes(hive_fixture_view(s)) : 4;
            check(fixture_names(s, names[k].region, names[k].at * bytes, text, sizeof text), "%s", names[k].region);
            check(strcmp(text, names[k].want) == 0, "'%s' instead of '%s'", text, names[k].want);
        }
        for (uint32_t i = 0; i < s->regions; i++) known += fixture_names(s, s->region[i].name, 0, text, sizeof text);
        check(known == 3 * (HIVE_SCENE_SEGMENTS + 1), "%llu regions of %u have a name", (ull)known, s->regions);
        fixture_close(s);
    }
}

/* ---- Resizes --------------------------------------------------------------------------------- */

/* The keys in the table. The table is sound. */
static uint64_t keys_in(const fixture *s, uint64_t *sum)
{
    char why[JUDGE_SENTENCE];
    const hive_view *v = hive_fixture_view(s);
    const char *wrong = fixture_check(s, s->table, why);
    uint64_t n = 0;
    check(!wrong, "%s", wrong);
    *sum = 0;
    for (uint64_t e = 0; e < hive_places(v); e++) {
        uint64_t word = hive_read(v, e);
        if (hive_is_key(v, word)) n++, *sum += hd_mix64(word);
    }
    return n;
}

static void fill_table(fixture *s, uint64_t keys)
{
    hive_view *v = hive_fixture_view(s);
    for (uint64_t key = 1; key <= keys; key++) hive_place(v, key, key & 0xff);
    *hive_fixture_stashed(hive_fixture_table_of(s)) = v->stashed;
}

static void tables_are_resized(void **state)
{
    static const char *const shapes[] = { "value=4", "value=2 layout=masks", "value=4 hashes=3 layout=masks" };
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        fixture *s = open_table(shapes[k]);
        const hive_view *v = hive_fixture_view(s);
        uint64_t sum, now, stashed;
        must_fail(fixture_resize(s, BASE - 1), HD_EINVAL, "this table has 2 to 8");
        must_fail(fixture_resize(s, 4 * BASE + 1), HD_EINVAL, "this table has 2 to 8");
        fill_table(s, 40); /* more than it has places for */
        uint64_t n = keys_in(s, &sum);
        stashed = v->stashed;
        check(n < 40 && stashed > 0, "%llu keys, %llu of them in the stash", (ull)n, (ull)stashed);
        for (uint64_t buckets = BASE + 1; buckets <= 4 * BASE; buckets++) {
            must(fixture_resize(s, buckets));
            check(hive_buckets(v) == buckets && keys_in(s, &now) == n && now == sum, "%llu buckets", (ull)buckets);
            check(memcmp(s->memory, s->initial, s->table_bytes) == 0, "runs begin with another table");
        }
        check(v->stashed < stashed, "%llu keys are still in the stash", (ull)v->stashed);
        must(fixture_resize(s, BASE));
        check(keys_in(s, &now) == n && now == sum, "keys were lost");
        fixture_close(s);
        s = open_table(shapes[k]);
        must(fixture_resize(s, 4 * BASE));
        fill_table(s, 60);
        n = keys_in(s, &sum);
        must(fixture_resize(s, BASE)); /* where they do not fit */
        check(hive_buckets(hive_fixture_view(s)) > BASE && keys_in(s, &now) == n && now == sum, "too few buckets");
        fixture_close(s);
        s = open_table(shapes[k]);
        fill_table(s, 9);
        n = keys_in(s, &sum);
        must(fixture_resize(s, 4 * BASE));
        must(fixture_resize(s, BASE));
        check(hive_buckets(hive_fixture_view(s)) == BASE && keys_in(s, &now) == n && now == sum, "and back");
        fixture_close(s);
    }
}

/* ---- Between steps --------------------------------------------------------------------------- */

static void watched(const fixture *s, const char *want)
{
    char why[JUDGE_SENTENCE];
    const char *wrong = fixture_watch(s, NULL, false, why);
    check(want ? wrong && strstr(wrong, want) : !wrong, "'%s' instead of '%s'", wrong ? wrong : "nothing",
          want ? want : "nothing");
}

static void steps_are_watched(void **state)
{
    (void)state;
    fixture *s = open_table("value=4 layout=masks");
    hive_view *v = hive_fixture_view(s);
    const fixture_kernel k = kernel_of(s);
    uint64_t key = key_of(v, 0, 0), other = key_of(v, 1, 0), stash = hive_capacity(v);
    must(fixture_batch(s, &k, HD_OP_FIND, &other, 1));
    watched(s, NULL);
    hive_write(v, 0, hive_sign(v, HIVE_EMPTY, 5));
    watched(s, "bucket 0, slot 0: a free slot says neither fresh nor vacant (HIVE-3, in flight)");
    hive_write(v, 0, hive_sign(v, HIVE_CLAIMED, hive_keys(v)));
    watched(s, "a key that is none (HIVE-1, in flight)");
    hive_write(v, 0, hive_fresh(v));
    hive_write(v, SLOTS, hive_pack(v, key_of_one(v), 1));
    watched(s, "bucket 1, slot 0: a key is in none of its buckets (HIVE-2, in flight)");
    hive_write(v, SLOTS, hive_fresh(v));
    hive_write(v, 0, hive_sign(v, HIVE_CLAIMED, key));
    watched(s, NULL);
    hive_write(v, 0, hive_pack(v, key, 1));
    watched(s, NULL);
    hive_write(v, 1, hive_pack(v, key, 1));
    watched(s, "a key shows in two slots (HIVE-1, in flight)");
    hive_write(v, 1, hive_fresh(v));
    v->segment[0].mask[0] |= 1;
    watched(s, "the mask gives a slot away that is taken (HIVE-5, in flight)");
    v->segment[0].mask[0] &= ~1u;
    hive_write(v, SLOTS, hive_pack(v, key, 1));
    hive_write(v, 0, hive_fresh(v));
    watched(s, "a key is behind a bucket that is open (HIVE-4, in flight)");
    hive_write(v, SLOTS, hive_fresh(v));
    hive_shut(v, 0);
    hive_shut(v, 1);
    for (uint64_t b = hive_ring(v, hive_hash(v, other)); stash / SLOTS != b;) stash += SLOTS;
    hive_write(v, stash, hive_pack(v, other, 1));
    watched(s, "the stash has 1 entries, and counts 0 (HIVE-6, in flight)");
    *hive_fixture_stashed(hive_fixture_table_of(s)) = 1;
    watched(s, NULL);
    fixture_begin(s, s->memory, 0); /* it was there before the first step */
    hive_write(v, stash, hive_vacant(v));
    watched(s, "no item erases it, and it is nowhere");
    must(fixture_batch(s, &k, HD_OP_ERASE, &other, 1));
    watched(s, NULL);
    must(fixture_batch(s, &k, HD_OP_ERASE, &key, 1));
    watched(s, "no item erases it, and it is nowhere");
    must(fixture_batch(s, &k, HD_OP_CLEAR, NULL, 0));
    watched(s, NULL);
    must(fixture_batch(s, &k, HD_OP_FIND, &other, 1));
    hive_write(v, SLOTS, hive_sign(v, HIVE_CLAIMED, other));
    hive_write(v, stash, hive_sign(v, HIVE_LEAVING, other));
    watched(s, NULL);
    fixture_close(s);
}

/* ---- Items ----------------------------------------------------------------------------------- */

static void refused(const char *why, const char *want)
{
    check(why && strstr(why, want), "'%s' instead of '%s'", why ? why : "nothing", want);
}

/* Displaced keys: from and to places of the table, a key, to a free slot of a later candidate. */
static void moves_are_judged(void **state)
{
    (void)state;
    fixture *s = open_table("value=4");
    hive_view *v = hive_fixture_view(s);
    uint64_t key = key_of(v, 0, 0), places = hive_places(v);
    check(hive_put(v, 0, key, 1) && hive_put(v, 1, key_of(v, 0, 1), 1), "there is room");
    refused(hive_fixture_move(s->table, places, 0), "a slot that is none");
    refused(hive_fixture_move(s->table, 0, places), "a slot that is none");
    refused(hive_fixture_move(s->table, 5, SLOTS), "a slot without a key was moved");
    refused(hive_fixture_move(s->table, 0, 1), "a slot that was not free");
    refused(hive_fixture_move(s->table, 0, 2), "no later candidate of its");
    const char *why = hive_fixture_move(s->table, 0, SLOTS + 1);
    check(!why && hive_find(v, key) == SLOTS + 1, "%s", why);
    fixture_close(s);
}

/* A key that others brought, or that is in no bucket of its, cannot have been inserted there. */
static void insertions_are_judged(void **state)
{
    (void)state;
    fixture *s = open_table("value=4");
    hive_view *v = hive_fixture_view(s);
    const fixture_kernel k = kernel_of(s);
    uint64_t key[2] = { key_of(v, 0, 0), key_of_one(v) };
    judge_listing l = { false, 0, 0, NULL };
    simt_ticket_record t;
    memset(&t, 0, sizeof t);
    must(fixture_batch(s, &k, HD_OP_INSERT_OR_ASSIGN, key, 2));
    hd_batch *b = &s->part[0].batch;
    memset(b->outcome, HD_INSERTED, 2);
    t.b = SLOTS;
    refused(hive_fixture_accept(s, s->table, 0, 1, &t, &l), "that bucket is no candidate of its");
    check(hive_find(v, key[1]) == HIVE_NOWHERE, "it was refused, and is there");
    t.b = 3;
    const char *why = hive_fixture_accept(s, s->table, 0, 0, &t, &l);
    check(!why && hive_find(v, key[0]) == 3, "%s", why);
    t.b = 4;
    refused(hive_fixture_accept(s, s->table, 0, 0, &t, &l), "the key was present, and the outcome is another");
    check(hive_find(v, key[0]) == 3, "it came twice");
    must(fixture_batch(s, &k, HD_OP_FIND, key, 1));
    b->outcome[0] = HD_HIT;
    memcpy(b->value_out, hive_value_at(v, 3), 4);
    b->score_out[0] = 1;
    refused(hive_fixture_accept(s, s->table, 0, 0, NULL, &l), "delivered a score, and there are none");
    b->score_out[0] = 0;
    why = hive_fixture_accept(s, s->table, 0, 0, NULL, &l);
    check(!why, "%s", why);
    fixture_close(s);
}

/* What the kernel of a mixed batch counts, and the table that it leaves. */
static void runs_are_judged(void **state)
{
    (void)state;
    hd_case c;
    fixture *s;
    comparison *a;
    uint64_t key[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    simt_config w = simt_config_default();
    const char *why;
    char text[JUDGE_SENTENCE];
    must(hd_case_parse("hive.mixed.tile buckets=2 slots=8 batch=8x1 keys=uniform:50 value=4 seed=1", &c));
    must(fixture_open_empty(&c, &s));
    must(comparison_open(s, &a));
    const fixture_kernel k = kernel_of(s);
    must(fixture_batch(s, &k, JUDGE_MIXED, key, 8));
    must(comparison_run(a, machine, &w, &why));
    check(!why, "%s", why);
    uint64_t *counted = &s->part[0].op_tally[s->part[0].batch.each[0]];
    ++*counted;
    refused(comparison_judge(a, machine), "were counted");
    --*counted;
    why = comparison_judge(a, machine);
    check(!why, "%s", why);
    hive_write(hive_fixture_view(s), 15, hive_sign(hive_fixture_view(s), HIVE_CLAIMED, 9));
    refused(hive_fixture_check(s->table, text), "HIVE-3");
    comparison_close(a);
}

static const struct CMUnitTest members[] = { unit(words_are_described),   unit(tables_differ),
                                             unit(regions_are_named),     unit(tables_are_resized),
                                             unit(steps_are_watched),     unit(moves_are_judged),
                                             unit(insertions_are_judged), unit(runs_are_judged) };

int main(void) { return test_run_on(&machine, members); }

/* SPDX-License-Identifier: Apache-2.0
 *
 * t_hive_judge.c - Hive's port to the judge of kernels: what it says of words, of other tables, and of a region's
 * bytes; every invariant between steps; and the items, moves and counts that it refuses.
 */
#include <string.h>

#include "judge/comparison.h"
#include "judge/hive/fixture.h"
#include "judge/kernels.h"
#include "tests/on_machine.h"

static const judge_design *const hive = &judge_design_hive;
static simt_machine *machine;

enum { SLOTS = 8, STASH = 2 * SLOTS };

/* An empty table of two buckets and a stash of one. */
static fixture *open_table(const char *op, const char *tail)
{
    char text[256];
    hd_case c;
    fixture *s;
    snprintf(text, sizeof text, "hive.%s.tile buckets=2 slots=8 batch=8x1 keys=uniform:50 %s seed=1", op, tail);
    test_case("%s", text);
    must(hd_case_parse(text, &c));
    must(fixture_open_empty(&c, &s));
    return s;
}

static fixture_kernel kernel_of(const fixture *s)
{
    uint32_t row;
    must(fixture_kernel_row(&s->c[0], &row));
    return fixture_kernel_at(hive, row, 32, 1);
}

/* The first key from `key` on whose candidates are these. */
static uint64_t key_of(const hive_view *v, uint64_t first, uint64_t second, uint64_t key)
{
    while (hive_candidate(v, hive_hash(v, key), 0) != first || hive_candidate(v, hive_hash(v, key), 1) != second) key++;
    return key;
}

static void same(const char *got, const char *want)
{
    check(want ? got && strstr(got, want) : !got, "'%s' instead of '%s'", got ? got : "nothing",
          want ? want : "nothing");
}

/* ---- Entries --------------------------------------------------------------------------------- */

static void words_are_described(void **state)
{
    static const char *const says[] = { "fresh",         "vacant",     "1f value ab",
                                        "claimed by 1f", "leaving 1f", "no word of a table: " };
    (void)state;
    for (int k = 0; k < 4 * 6; k++) {
        fixture *s = open_table("find", k / 6 == 0   ? "value=4"
                                        : k / 6 == 1 ? "value=2"
                                        : k / 6 == 2 ? "value=4 layout=masks"
                                                     : "value=2 layout=masks");
        hive_view *v = hive_fixture_view(s);
        const uint64_t words[] = { hive_fresh(v),
                                   hive_vacant(v),
                                   hive_pack(v, 0x1f, 0xab),
                                   hive_sign(v, HIVE_CLAIMED, 0x1f),
                                   hive_sign(v, HIVE_LEAVING, 0x1f),
                                   hive_sign(v, HIVE_EMPTY, 5) };
        char line[64];
        int w = k % 6;
        hive_write(v, 3, words[w]);
        fixture_describe(hive, s->table, 3, line, sizeof line);
        check(strncmp(line, says[w], strlen(says[w]) + (w < 5)) == 0, "'%s' instead of '%s'", line, says[w]);
        check(hive->key_at(s->table, 3) == (w == 2             ? 0x1f
                                            : w == 3 || w == 4 ? HD_KEY_LOCKED
                                                               : HD_KEY_EMPTY),
              "%s", line);
        check(w != 2 || *hive->value_at(s->table, 3) == 0xab, "its value");
        fixture_close(s);
    }
}

static void tables_differ(void **state)
{
    (void)state;
    fixture *s = open_table("find", "value=4"), *t = open_table("find", "value=4");
    hive_view *v = hive_fixture_view(s), *w = hive_fixture_view(t);
    uint64_t key = key_of(v, 0, 1, 1);
    char text[2048];
    check(hive_put(v, 0, key, 7), "it has room");
    same(fixture_differs(hive, s->table, t->table, 0), "is not in");
    check(hive_put(w, 5, key, 8), "it has room");
    same(fixture_differs(hive, s->table, t->table, 0), "has another value than in");
    check(fixture_draw(hive, s->table, "one", t->table, "other", text, sizeof text) > 0, "nothing is drawn");
    same(strstr(text, "value 7") && strstr(text, "value 8") ? text : "", "fresh");
    hive_write(w, 5, hive_pack(w, key, 7));
    same(fixture_differs(hive, s->table, t->table, 0), NULL); /* a key may be in any of its slots */
    check(fixture_draw(hive, s->table, "one", t->table, "other", text, sizeof text) == 0, "%s", text);
    fixture_close(s);
    fixture_close(t);
}

static void regions_are_named(void **state)
{
    static const struct {
        const char *region;
        uint64_t at; /* in words, or in units of 4 bytes */
        const char *want;
    } names[] = { { "word", 0, "bucket 0, slot 0" },
                  { "word", SLOTS + 3, "bucket 1, slot 3" },
                  { "word 1", 2, "bucket 2, slot 2" },
                  { "word 2", SLOTS, "bucket 5, slot 0" },
                  { "stash word", 5, "stash bucket 0, slot 5" },
                  { "mask", 1, "mask of bucket 1" },
                  { "lock 1", 1, "lock of bucket 3" },
                  { "mask 2", 0, "mask of bucket 4" },
                  { "stash lock", 0, "lock of stash bucket 0" } };
    (void)state;
    for (int narrow = 0; narrow < 2; narrow++) {
        fixture *s = open_table("find", narrow ? "layout=masks value=2" : "layout=masks value=4");
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

/* ---- Between steps --------------------------------------------------------------------------- */

enum { FRESH, VACANT, BROKEN, KEY, CLAIMED, LEAVING, MASK, SHUT, COUNT, BEGIN, BATCH }; /* what is done */
enum { NONE, MINE, OTHER, LONE }; /* of whose key: none; by way of bucket 0, of bucket 1; in bucket 0 alone */

typedef struct step {
    int what;
    uint64_t at; /* a slot; BATCH: an operation */
    int whose;
    const char *want;
} step;

static const step steps[] = {
    { BATCH, HD_OP_FIND, OTHER, NULL },
    { BROKEN, 0, NONE, "bucket 0, slot 0: a free slot says neither fresh nor vacant (HIVE-3, in flight)" },
    { CLAIMED, 0, NONE, "a key that is none (HIVE-1, in flight)" },
    { FRESH, 0, NONE, NULL },
    { KEY, SLOTS, LONE, "bucket 1, slot 0: a key is in none of its buckets (HIVE-2, in flight)" },
    { FRESH, SLOTS, NONE, NULL },
    { CLAIMED, 0, MINE, NULL },
    { KEY, 0, MINE, NULL },
    { KEY, 1, MINE, "a key shows in two slots (HIVE-1, in flight)" },
    { FRESH, 1, NONE, NULL },
    { MASK, 0, NONE, "the mask gives a slot away that is taken (HIVE-5, in flight)" },
    { FRESH, 0, NONE, NULL },
    { KEY, SLOTS, MINE, "a key is behind a bucket that is open (HIVE-4, in flight)" },
    { FRESH, SLOTS, NONE, NULL },
    { SHUT, 0, NONE, NULL },
    { SHUT, SLOTS, NONE, NULL },
    { KEY, STASH, OTHER, "the stash has 1 entries, and counts 0 (HIVE-6, in flight)" },
    { COUNT, 0, NONE, NULL },
    { BEGIN, 0, NONE, NULL }, /* it was there before the first step */
    { VACANT, STASH, NONE, "no item erases it, and it is nowhere" },
    { BATCH, HD_OP_ERASE, OTHER, NULL },
    { BATCH, HD_OP_ERASE, MINE, "no item erases it, and it is nowhere" },
    { BATCH, HD_OP_CLEAR, NONE, NULL },
    { LEAVING, STASH, OTHER, NULL },
    { BATCH, HD_OP_FIND, OTHER, "no item erases it, and it is nowhere" },
    { CLAIMED, SLOTS, OTHER, NULL },
};

static void do_step(fixture *s, const step *x, uint64_t key)
{
    const fixture_kernel k = kernel_of(s);
    hive_view *v = hive_fixture_view(s);
    const uint64_t words[] = { hive_fresh(v),
                               hive_vacant(v),
                               hive_sign(v, HIVE_EMPTY, 5),
                               hive_pack(v, key, 1),
                               hive_sign(v, HIVE_CLAIMED, key),
                               hive_sign(v, HIVE_LEAVING, key) };
    switch (x->what) {
    case MASK: v->segment[0].mask[0] |= 1; break;
    case SHUT: hive_shut(v, x->at / SLOTS); break;
    case COUNT: *hive_fixture_stashed(hive_fixture_table_of(s)) = 1; break;
    case BEGIN: fixture_begin(s, s->memory, 0); break;
    case BATCH: must(fixture_batch(s, &k, (hd_op)x->at, x->whose ? &key : NULL, x->whose ? 1 : 0)); break;
    default: hive_write(v, x->at, words[x->what]);
    }
}

static void steps_are_watched(void **state)
{
    (void)state;
    fixture *s = open_table("find", "value=4 layout=masks");
    const hive_view *v = hive_fixture_view(s);
    const uint64_t keys[] = { hive_keys(v), key_of(v, 0, 1, 1), key_of(v, 1, 0, 1), key_of(v, 0, 0, 1) };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        char why[JUDGE_SENTENCE];
        test_case("step %zu", i);
        do_step(s, &steps[i], keys[steps[i].whose]);
        same(fixture_watch(s, NULL, false, why), steps[i].want);
    }
    fixture_close(s);
}

/* ---- Items ----------------------------------------------------------------------------------- */

/* A key that others brought, or that is in no bucket of its, cannot have been inserted there; and no table has scores.
 * Others may have shut the bucket that an inserted or displaced key passes. */
static void items_are_judged(void **state)
{
    (void)state;
    fixture *s = open_table("find", "value=4");
    hive_view *v = hive_fixture_view(s);
    const fixture_kernel k = kernel_of(s);
    uint64_t mine = key_of(v, 0, 1, 1), key[2] = { mine, key_of(v, 0, 0, 1) };
    judge_listing l = { false, 0, 0, NULL };
    simt_ticket_record t;
    memset(&t, 0, sizeof t);
    must(fixture_batch(s, &k, HD_OP_INSERT_OR_ASSIGN, key, 2));
    hd_batch *b = &s->part[0].batch;
    memset(b->outcome, HD_INSERTED, 2);
    t.b = SLOTS;
    same(hive_fixture_accept(s, s->table, 0, 1, &t, &l), "that bucket is no candidate of its");
    check(hive_is_open(v, 1) && hive_find(v, key[1]) == HIVE_NOWHERE, "it was refused, and is there");
    t.b = SLOTS + 1;
    same(hive_fixture_accept(s, s->table, 0, 0, &t, &l), NULL);
    same(hive_fixture_accept(s, s->table, 0, 0, &t, &l), "the key was present, and the outcome is another");
    check(hive_find(v, mine) == SLOTS + 1 && !hive_is_open(v, 0) && hive_is_open(v, 1), "it has shut another bucket");
    same(hive_fixture_move(s->table, SLOTS, 3), "a slot without a key");
    same(hive_fixture_move(s->table, SLOTS + 1, STASH), NULL);
    must(fixture_batch(s, &k, HD_OP_FIND, &mine, 1));
    b->outcome[0] = HD_HIT;
    memcpy(b->value_out, hive_value_at(v, STASH), 4);
    b->score_out[0] = 1;
    same(hive_fixture_accept(s, s->table, 0, 0, NULL, &l), "delivered a score, and there are none");
    b->score_out[0] = 0;
    same(hive_fixture_accept(s, s->table, 0, 0, NULL, &l), NULL);
    fixture_close(s);
}

/* What the kernel of a mixed batch counts, and the table that it leaves. */
static void runs_are_judged(void **state)
{
    static const uint64_t key[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    simt_config w = simt_config_default();
    comparison *a;
    const char *why;
    char text[JUDGE_SENTENCE];
    (void)state;
    fixture *s = open_table("mixed", "value=4");
    const fixture_kernel k = kernel_of(s);
    must(comparison_open(s, &a));
    must(fixture_batch(s, &k, JUDGE_MIXED, key, 8));
    must(comparison_run(a, machine, &w, &why));
    same(why, NULL);
    uint64_t *counted = &s->part[0].op_tally[s->part[0].batch.each[0]];
    ++*counted;
    same(comparison_judge(a, machine), "were counted");
    --*counted;
    same(comparison_judge(a, machine), NULL);
    hive_write(hive_fixture_view(s), 15, hive_sign(hive_fixture_view(s), HIVE_CLAIMED, 9));
    same(hive_fixture_check(s->table, text), "HIVE-3");
    comparison_close(a);
}

static const struct CMUnitTest members[] = { unit(words_are_described), unit(tables_differ),    unit(regions_are_named),
                                             unit(steps_are_watched),   unit(items_are_judged), unit(runs_are_judged) };

int main(void) { return test_run_on(&machine, members); }

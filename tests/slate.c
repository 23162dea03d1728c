/* SPDX-License-Identifier: Apache-2.0
 *
 * slate.c - see slate.h.
 */
#include "tests/slate.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "judge/rules.h"
#include "simt/simt.h"

typedef struct slate {
    uint64_t *key, *value, *runs; /* (slots) persistent; how often a recovery ran, by its own account */
    uint32_t *entries, *lock;
    uint32_t slots;
} slate;

typedef struct slate_args {
    slate t;
    uint32_t op;         /* hd_op ... */
    const uint8_t *each; /* ... or each item's; NULL: all have op */
    uint64_t n;
    const uint64_t *item, *value;
    uint8_t *outcome, *found;
    uint64_t *tally;
} slate_args;

/* ---- Kernels: a thread for each item --------------------------------------------------------- */

typedef enum fault { SOUND, NO_FENCE, DEVICE_FENCE, KEY_FIRST, LATE_ERASE } fault;

SIMT_FN void keep(uint32_t f)
{
    if (f == NO_FENCE) return;
    if (f == DEVICE_FENCE)
        simt_fence();
    else
        simt_fence_system();
}

SIMT_FN uint32_t slot_of(const slate_args *a, uint64_t key)
{
    uint32_t e = 0;
    while (e < a->t.slots && simt_ld_u64(a->t.key + e) != key) e++;
    return e;
}

SIMT_FN void tell(const slate_args *a, uint64_t i, hd_outcome o, uint32_t e)
{
    simt_ticket(i, (uint32_t)o, 0, e);
    if (a->outcome) simt_st_u8(a->outcome + i, (uint8_t)o);
    if (a->found) simt_st_u8(a->found + i, HD_OP_IN(o, HD_OUTCOMES_FOUND));
    simt_add_u64(a->tally + o, 1, SIMT_RELAXED);
}

SIMT_FN void put(const slate_args *a, uint64_t i, uint64_t key, uint64_t value, uint32_t f)
{
    uint32_t e = slot_of(a, key);
    if (e < a->t.slots) {
        simt_st_u64(a->t.value + e, value);
        tell(a, i, HD_UPDATED, e);
        return;
    }
    e = slot_of(a, HD_KEY_EMPTY);
    if (e == a->t.slots) {
        tell(a, i, HD_PENDING, 0);
        return;
    }
    simt_st_u64(a->t.key + e, HD_KEY_LOCKED);
    keep(f);
    if (f != KEY_FIRST) simt_st_u64(a->t.value + e, value);
    keep(f);
    simt_st_u64(a->t.key + e, key);
    tell(a, i, HD_INSERTED, e);
    keep(f);
    if (f == KEY_FIRST) simt_st_u64(a->t.value + e, value);
    simt_st_u32(a->t.entries, simt_ld_u32(a->t.entries) + 1);
}

SIMT_FN void erase(const slate_args *a, uint64_t i, uint64_t key, uint32_t f)
{
    uint32_t e = slot_of(a, key);
    if (e == a->t.slots) {
        tell(a, i, HD_MISS, 0);
        return;
    }
    simt_st_u64(a->t.key + e, HD_KEY_EMPTY);
    tell(a, i, HD_ERASED, e);
    if (f != LATE_ERASE) keep(f);
    simt_st_u32(a->t.entries, simt_ld_u32(a->t.entries) - 1);
}

SIMT_FN void run_item(const slate_args *a, uint32_t f)
{
    uint64_t i = (uint64_t)simt_block() * simt_threads() + simt_thread();
    if (i >= a->n) return;
    uint64_t key = simt_ld_u64(a->item + i);
    const uint32_t *half = (const uint32_t *)(const void *)(a->value + i); /* at any multiple of 4 */
    uint64_t value = simt_ld_u32(half) | (uint64_t)simt_ld_u32(half + 1) << 32;
    uint32_t op = a->each ? simt_ld_u8(a->each + i) : a->op;
    if (key >= HD_KEY_RESERVED) {
        tell(a, i, HD_RESERVED, 0);
        return;
    }
    while (simt_cas_u32(a->t.lock, 0u, 1u, SIMT_ACQUIRE)) simt_backoff(8);
    if (op == HD_OP_ERASE)
        erase(a, i, key, f);
    else
        put(a, i, key, value, f);
    simt_strel_u32(a->t.lock, 0u);
}

SIMT_KERNEL(slate_sound, slate_args, a) { run_item(&a, SOUND); }
SIMT_KERNEL(slate_no_fence, slate_args, a) { run_item(&a, NO_FENCE); }
SIMT_KERNEL(slate_device_fence, slate_args, a) { run_item(&a, DEVICE_FENCE); }
SIMT_KERNEL(slate_key_first, slate_args, a) { run_item(&a, KEY_FIRST); }
SIMT_KERNEL(slate_late_erase, slate_args, a) { run_item(&a, LATE_ERASE); }

static const struct {
    const char *name;
    void (*text)(const void *);
} rows[] = { { "sound", slate_sound },
             { "no_fence", slate_no_fence },
             { "device_fence", slate_device_fence },
             { "key_first", slate_key_first },
             { "late_erase", slate_late_erase } };
enum { ROWS = sizeof rows / sizeof *rows };

static bool row_at(uint32_t row, judge_row *r)
{
    if (row >= ROWS) return false;
    *r = (judge_row){ rows[row].name, 1, 32, FIXTURE_ORDER };
    return true;
}

static bool runs(uint32_t row, hd_op op)
{
    (void)row;
    return op == JUDGE_MIXED || op == HD_OP_INSERT_OR_ASSIGN || op == HD_OP_ERASE;
}

static const uint8_t mix[HD_OP_COUNT_] = { [HD_OP_INSERT_OR_ASSIGN] = 1, [HD_OP_ERASE] = 1 };

static const char *unsupported(uint32_t row, const hd_case *c)
{
    (void)row, (void)c;
    return NULL;
}

static hd_status queue(const fixture_kernel *k, simt_machine *m, const void *args, uint32_t stream)
{
    const slate_args *a = (const slate_args *)args;
    return simt_machine_launch(m, rows[k->row].text, a, sizeof *a, (uint32_t)(a->n + 31) / 32, 32, stream);
}

/* ---- The table ------------------------------------------------------------------------------- */

static slate *of(void *table) { return (slate *)table; }
static const slate *of_const(const void *table) { return (const slate *)table; }

static hd_status shape(fixture *s, const hd_case *c)
{
    of(s->table)->slots = c->slots;
    return c->value_bytes == 8 && c->slots ? HD_OK : hd_fail(HD_EINVAL, "case: a slate has values of 8 bytes");
}

static uint32_t memory(const fixture *s, judge_memory all[JUDGE_MEMORY_MOST])
{
    uint64_t bytes = 8ull * of_const(s->table)->slots;
    const judge_memory five[] = { { "key", offsetof(slate, key), bytes, 0xff },
                                  { "value", offsetof(slate, value), bytes, HD_AS_IT_COMES },
                                  { "runs", offsetof(slate, runs), 8, 0 },
                                  { "entries", offsetof(slate, entries), 4, 0 },
                                  { "lock", offsetof(slate, lock), 4, 0 } };
    memcpy(all, five, sizeof five);
    return 5;
}

static void make_args(fixture *s, uint32_t k)
{
    const hd_batch *b = &s->part[k].batch;
    *(slate_args *)s->part[k].args = (slate_args){ *of(s->table),   (uint32_t)b->op,
                                                   b->each,         b->n,
                                                   b->key,          (const uint64_t *)b->value,
                                                   b->outcome,      (uint8_t *)(void *)b->found,
                                                   s->part[k].tally };
}

static uint32_t place_of(const slate *t, uint64_t key)
{
    uint32_t e = 0;
    while (e < t->slots && t->key[e] != key) e++;
    return e;
}

static hd_outcome apply_item(const slate *t, const hd_batch *b, uint64_t i)
{
    uint64_t key = b->key[i];
    uint32_t e = place_of(t, key);
    bool there = e < t->slots;
    if (key >= HD_KEY_RESERVED) return HD_RESERVED;
    if (judge_item_op(b, i) == HD_OP_ERASE) {
        if (there) t->key[e] = HD_KEY_EMPTY;
        *t->entries -= there;
        return there ? HD_ERASED : HD_MISS;
    }
    if (!there) e = place_of(t, HD_KEY_EMPTY);
    if (e == t->slots) return HD_PENDING;
    t->key[e] = key;
    memcpy(t->value + e, (const uint8_t *)b->value + 8 * i, 8);
    *t->entries += !there;
    return there ? HD_UPDATED : HD_INSERTED;
}

static void apply(const fixture *s, void *table, uint32_t k, const hd_batch *b)
{
    (void)s, (void)k;
    for (uint64_t i = 0; i < b->n; i++) {
        b->outcome[i] = (uint8_t)apply_item(of(table), b, i);
        if (b->found) b->found[i] = HD_OP_IN(b->outcome[i], HD_OUTCOMES_FOUND);
    }
}

static uint64_t buckets(const void *table) { return (void)table, 1; }
static uint64_t first(const void *table, uint64_t b) { return b * of_const(table)->slots; }
static uint64_t key_at(const void *table, uint64_t e) { return of_const(table)->key[e]; }
static uint8_t *value_at(const void *table, uint64_t e) { return (uint8_t *)(of_const(table)->value + e); }

static const char *check_slate(const void *table, char why[JUDGE_SENTENCE])
{
    const slate *t = of_const(table);
    uint32_t n = 0;
    for (uint32_t e = 0; e < t->slots; e++) {
        if (t->key[e] == HD_KEY_LOCKED) return fixture_say(why, "slot %u is claimed", e);
        n += t->key[e] != HD_KEY_EMPTY;
    }
    return n == *t->entries ? NULL : fixture_say(why, "%u entries, and %u are counted", n, *t->entries);
}

static const char *idle(const fixture *s, char why[JUDGE_SENTENCE])
{
    return *of(s->table)->lock ? fixture_say(why, "the lock is held") : NULL;
}

/* ---- Crashes --------------------------------------------------------------------------------- */

slate_recovery slate_recovers;

static bool is_kept(const fixture *s, const char *region)
{
    (void)s;
    return strcmp(region, "entries") != 0 && strcmp(region, "lock") != 0;
}

static hd_status recover(fixture *s, void *table)
{
    const slate *t = of(table);
    (void)s;
    *t->runs += slate_recovers == SLATE_COUNTS;
    if (slate_recovers == SLATE_DROPS) t->key[t->slots - 1] = HD_KEY_EMPTY;
    for (uint32_t e = 0; e < t->slots; e++) {
        bool claimed = t->key[e] == HD_KEY_LOCKED && slate_recovers != SLATE_LEAVES_CLAIMS;
        if (claimed && slate_recovers == SLATE_GIVES_UP) return hd_fail(HD_ECORRUPT, "slot %u is claimed", e);
        if (claimed && slate_recovers == SLATE_ZEROES) t->value[e] = 0;
        if (claimed) t->key[e] = HD_KEY_EMPTY;
        *t->entries += t->key[e] < HD_KEY_RESERVED;
    }
    return HD_OK;
}

/* clang-format off */
const judge_design judge_design_slate = {
    .name = "slate", .keys = HD_KEY_RESERVED, .value_bytes = 8, .dictionary = true, .roams = true,
    .small = { SLATE_SLOTS, "uniform:6" }, .row = row_at, .runs = runs, .unsupported = unsupported, .mix = mix,
    .queue = queue, .table_size = sizeof(slate), .args_size = sizeof(slate_args), .shape = shape, .memory = memory,
    .args = make_args, .apply = apply, .buckets = buckets, .first = first, .key_at = key_at, .value_at = value_at,
    .idle = idle, .check = check_slate, .recover = recover, .persistent = is_kept
};
/* clang-format on */

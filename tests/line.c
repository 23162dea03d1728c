/* SPDX-License-Identifier: Apache-2.0
 *
 * line.c - the table of line.h as a design for the judge of kernels: all that a design must provide.
 */
#include "tests/line.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "judge/design.h"
#include "judge/rules.h"
#include "base/error.h"

enum { SLOTS_MOST = 16 };

static const line_table *of(const void *table) { return (const line_table *)table; }
static line_table *of_fixture(const fixture *s) { return (line_table *)s->table; }
static uint64_t places_of(const line_table *t) { return (uint64_t)*t->parts * t->slots; }
static uint32_t key_of(uint64_t word) { return (uint32_t)(word >> 32); }

/* The place of key among all that are in use; places_of: it is not there. */
static uint64_t where(const line_table *t, uint64_t key)
{
    uint64_t e = 0;
    while (e < places_of(t) && (*line_at(t, e) == LINE_NOBODY || key_of(*line_at(t, e)) != key)) e++;
    return e;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

LINE_VARIANTS(LINE_KERNEL)

#define ROW(name, fault) { #name, 1, 64, FIXTURE_ORDER },
static const judge_row rows[] = { LINE_VARIANTS(ROW) };
enum { ROWS = sizeof rows / sizeof *rows };

static bool row_at(uint32_t row, judge_row *r)
{
    if (row < ROWS) *r = rows[row];
    return row < ROWS;
}

#define TEXT(name, fault) line_kernel_##name,
static void (*const texts[])(const void *) = { LINE_VARIANTS(TEXT) };

static bool runs(uint32_t row, hd_op op)
{
    (void)row;
    return op == JUDGE_MIXED || op == HD_OP_FIND || op == HD_OP_INSERT_OR_ASSIGN || op == HD_OP_ERASE;
}

static const uint8_t mix[HD_OP_COUNT_] = { [HD_OP_FIND] = 3, [HD_OP_INSERT_OR_ASSIGN] = 4, [HD_OP_ERASE] = 3 };

static const char *unsupported(uint32_t row, const hd_case *c)
{
    (void)row;
    return c->slots > SLOTS_MOST ? "it would go along it for too long" : NULL;
}

/* In two launches: the first items, then the others. */
static hd_status queue(const fixture_kernel *k, simt_machine *m, const void *args, uint32_t stream)
{
    line_args a = *(const line_args *)args;
    uint64_t n = a.last, half = (n + 1) / 2;
    hd_status s = HD_OK;
    for (int second = 0; second < 2 && !s; second++) {
        a.first = second ? half : 0;
        a.last = second ? n : half;
        if (a.first < a.last)
            s = simt_machine_launch(m, texts[k->row], &a, sizeof a, 2, k->threads ? k->threads : 64, stream);
    }
    return s;
}

/* ---- A fixture's table ------------------------------------------------------------------------- */

static hd_status shape(fixture *s, const hd_case *c)
{
    if (c->value_bytes != 4) return hd_fail(HD_EINVAL, "case: a line has values of 4 bytes");
    if (c->buckets == 0 || c->buckets > LINE_PARTS)
        return hd_fail(HD_EINVAL, "case: a line has 1 to %d parts", LINE_PARTS);
    of_fixture(s)->slots = c->slots;
    return HD_OK;
}

static uint32_t memory(const fixture *s, judge_memory all[JUDGE_MEMORY_MOST])
{
    static const char *const names[LINE_PARTS] = { "part 0", "part 1", "part 2", "part 3" };
    uint32_t n = 0;
    all[n++] = (judge_memory){ "lock", offsetof(line_table, lock), 4, 0 };
    for (size_t p = 0; p < LINE_PARTS; p++)
        all[n++] = (judge_memory){ names[p], offsetof(line_table, part) + p * sizeof(uint64_t *),
                                   ((const line_table *)s->table)->slots * 8u, 0xff };
    all[n++] = (judge_memory){ "n", offsetof(line_table, n), 4, 0 };
    all[n++] = (judge_memory){ "parts", offsetof(line_table, parts), 4, 0 };
    return n;
}

static void clear(fixture *s) { *of_fixture(s)->parts = (uint32_t)s->c[0].buckets; }

static void put(const line_table *t, uint64_t key, uint32_t value)
{
    uint64_t e = where(t, key);
    if (e == places_of(t) && *t->n < places_of(t)) e = (*t->n)++;
    if (e < places_of(t)) *line_at(t, e) = line_word(key, value);
}

static void make_args(fixture *s, uint32_t k)
{
    line_args *a = (line_args *)s->part[k].args;
    const hd_batch *b = &s->part[k].batch;
    a->t = *of_fixture(s);
    a->op = b->op;
    a->each = b->each;
    a->first = 0;
    a->last = b->n;
    a->key = b->key;
    a->value = (const uint32_t *)b->value;
    a->outcome = b->outcome;
    a->found = (uint8_t *)(void *)b->found;
    a->value_out = (uint32_t *)b->value_out;
    a->tally = s->part[k].tally;
}

static void take_out(const line_table *t, uint64_t e)
{
    uint64_t last = --*t->n;
    *line_at(t, e) = *line_at(t, last);
    *line_at(t, last) = LINE_NOBODY;
}

static hd_outcome apply_item(const line_table *t, const hd_batch *b, uint64_t i)
{
    uint64_t key = b->key[i], e = key < LINE_KEYS ? where(t, key) : 0;
    bool there = e < places_of(t), full = *t->n == places_of(t);
    hd_op op = judge_item_op(b, i);
    if (key >= LINE_KEYS) return HD_RESERVED;
    if (op == HD_OP_FIND) {
        uint32_t value = there ? (uint32_t)*line_at(t, e) : 0;
        if (there) memcpy((uint8_t *)b->value_out + i * 4, &value, 4);
        return there ? HD_HIT : HD_MISS;
    }
    if (op == HD_OP_ERASE) {
        if (there) take_out(t, e);
        return there ? HD_ERASED : HD_MISS;
    }
    uint32_t value;
    memcpy(&value, (const uint8_t *)b->value + i * 4, 4);
    put(t, key, value);
    return there ? HD_UPDATED : full ? HD_PENDING : HD_INSERTED;
}

static void apply(const fixture *s, void *table, uint32_t k, const hd_batch *b)
{
    (void)s, (void)k;
    for (uint64_t i = 0; i < b->n; i++) {
        b->outcome[i] = (uint8_t)apply_item(of(table), b, i);
        if (b->found) b->found[i] = HD_OP_IN(b->outcome[i], HD_OUTCOMES_FOUND);
    }
}

static hd_status resize(fixture *s, void *table, uint64_t buckets)
{
    const line_table *t = of(table);
    (void)s;
    if (buckets == 0 || buckets > LINE_PARTS)
        return hd_fail(HD_EINVAL, "buckets: a line has 1 to %d parts", LINE_PARTS);
    if (*t->n > buckets * t->slots) return hd_fail(HD_EINVAL, "buckets: %" PRIu32 " entries do not fit", *t->n);
    *t->parts = (uint32_t)buckets;
    return HD_OK;
}

/* ---- Entries --------------------------------------------------------------------------------- */

static uint64_t buckets(const void *table) { return *of(table)->parts; }
static uint64_t first(const void *table, uint64_t b) { return b * of(table)->slots; }
static uint64_t places(const fixture *s) { return (uint64_t)LINE_PARTS * of_fixture(s)->slots; }

static uint64_t key_at(const void *table, uint64_t e)
{
    uint64_t word = *line_at(of(table), e);
    return word == LINE_NOBODY ? HD_KEY_EMPTY : key_of(word);
}

/* Words are little-endian here: a test's. */
static uint8_t *value_at(const void *table, uint64_t e) { return (uint8_t *)line_at(of(table), e); }

static const char *bucket_name(const void *table, uint64_t b, char *text, size_t bytes)
{
    (void)table;
    snprintf(text, bytes, "part %" PRIu64, b);
    return text;
}

static bool names(const fixture *s, const char *region, uint64_t at, char *text, size_t bytes)
{
    (void)s;
    if (strncmp(region, "part ", 5) != 0) return false;
    snprintf(text, bytes, "word in %s, slot %" PRIu64, region, at / 8);
    return true;
}

/* ---- The judgement --------------------------------------------------------------------------- */

static const char *accept(const fixture *s, void *model, uint32_t k, uint64_t i, const simt_ticket_record *t,
                          judge_listing *l)
{
    const hd_batch *b = &s->part[k].batch;
    const line_table *table = of(model);
    uint64_t key = b->key[i], e = key < LINE_KEYS ? where(table, key) : 0;
    bool there = e < places_of(table);
    hd_op op = judge_item_op(b, i);
    uint32_t value;
    (void)l;
    if ((key >= LINE_KEYS) != (b->outcome[i] == HD_RESERVED)) return "a key is RESERVED, or it is not";
    switch (b->outcome[i]) {
    case HD_RESERVED: return NULL;
    case HD_HIT:
        if (op != HD_OP_FIND || !there) return "the key is absent";
        /* words are little-endian here: a test's */
        return memcmp((const uint8_t *)b->value_out + i * 4, line_at(table, e), 4) == 0 ? NULL
                                                                                        : "delivered a wrong value";
    case HD_MISS: return there || op == HD_OP_INSERT_OR_ASSIGN ? "the key is present" : NULL;
    case HD_ERASED:
        if (op != HD_OP_ERASE || !there) return "the key is absent";
        *line_at(table, e) = LINE_NOBODY; /* the last entry moves by a ticket of its own */
        --*table->n;
        return NULL;
    case HD_PENDING: return there ? "the key is present" : *table->n < places_of(table) ? "there is room" : NULL;
    default: break;
    }
    if (op != HD_OP_INSERT_OR_ASSIGN || (b->outcome[i] != HD_UPDATED && b->outcome[i] != HD_INSERTED))
        return "the operation knows no such outcome";
    if (there != (b->outcome[i] == HD_UPDATED)) return there ? "the key is present" : "the key is absent";
    if (!there && (!t || t->b != *table->n || t->b >= places_of(table))) return "it did not go behind the last one";
    memcpy(&value, (const uint8_t *)b->value + i * 4, 4);
    *line_at(table, there ? e : t->b) = line_word(key, value);
    *table->n += !there;
    return NULL;
}

static const char *move(void *model, uint64_t from, uint64_t to)
{
    const line_table *t = of(model);
    if (from != *t->n) return "only the last one moves";
    *line_at(t, to) = *line_at(t, from);
    *line_at(t, from) = LINE_NOBODY;
    return NULL;
}

static const char *idle(const fixture *s, char why[JUDGE_SENTENCE])
{
    return *of_fixture(s)->lock ? fixture_say(why, "the lock is still held") : NULL;
}

static const char *check_line(const void *table, char why[JUDGE_SENTENCE])
{
    const line_table *t = of(table);
    for (uint64_t e = 0; e < places_of(t); e++) {
        uint64_t word = *line_at(t, e);
        if ((word != LINE_NOBODY) != (e < *t->n))
            return fixture_say(why, "LINE-1: %" PRIu32 " entries, and place %" PRIu64 " is %s", *t->n, e,
                               word == LINE_NOBODY ? "empty" : "taken");
        if (word != LINE_NOBODY && where(t, key_of(word)) != e)
            return fixture_say(why, "LINE-2: key %" PRIx32 " is there twice", key_of(word));
    }
    return NULL;
}

/* clang-format off */
const judge_design judge_design_line = {
    .name = "line", .keys = LINE_KEYS, .value_bytes = 4, .roams = true, .small = { 4, "uniform:12" },
    .wide = { 8, "uniform:20" }, .row = row_at, .runs = runs, .mix = mix, .unsupported = unsupported, .queue = queue,
    .table_size = sizeof(line_table), .args_size = sizeof(line_args), .shape = shape,
    .memory = memory, .clear = clear, .args = make_args, .apply = apply, .resize = resize, .buckets = buckets,
    .first = first, .places = places, .key_at = key_at, .value_at = value_at, .bucket_name = bucket_name,
    .names = names, .accept = accept, .move = move, .idle = idle, .check = check_line
};
/* clang-format on */

/* SPDX-License-Identifier: Apache-2.0
 *
 * arrays.c - guard zones, poison, and the check of what a batch may write.
 */
#include "judge/arrays.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/backend.h"
#include "judge/rules.h"

/* Arrays are aligned to GUARD, so that counts of memory accesses do not depend on their addresses. */
enum { SKEW_MOST = 16, GUARD = 128 };

static const char *const names[JUDGE_ARRAYS] = { "keys",       "values",    "scores",    "flags",     "key2",
                                                 "outcome",    "found",     "value_out", "score_out", "ptr",
                                                 "key_out",    "rows",      "more",      "list_key",  "list_value",
                                                 "list_score", "list_item", "count",     "each" };

const char *judge_array_name(judge_array which) { return names[which]; }

static size_t item_bytes(const judge_arrays *a, judge_array which)
{
    switch (which) {
    case JUDGE_VALUE:
    case JUDGE_VALUE_OUT:
    case JUDGE_LIST_VALUE: return a->value_bytes;
    case JUDGE_FLAG:
    case JUDGE_OUTCOME:
    case JUDGE_EACH: return 1;
    case JUDGE_FOUND:
    case JUDGE_MORE_OUT: return sizeof(bool);
    case JUDGE_ROWS: return sizeof(uint32_t);
    case JUDGE_PTR: return sizeof(void *);
    default: return sizeof(uint64_t);
    }
}

static bool is_input(int which) { return which <= JUDGE_KEY2 || which == JUDGE_EACH; }

/* Poison differs from byte to byte, so that displaced bytes are found: byte i of a block is FIRST + STEP * i + i / 256,
 * modulo 256. INVERSE * STEP is 1, so that each 256 bytes are the first ones, displaced by INVERSE more. */
enum { POISON_FIRST = 0xa7, POISON_STEP = 29, POISON_INVERSE = 53, POISON_ROW = 256 };

/* The first bytes, twice: a row of any displacement is 256 bytes of them. */
static uint8_t poison[2 * POISON_ROW];
static pthread_once_t poison_made = PTHREAD_ONCE_INIT;

static void make_poison(void)
{
    for (int i = 0; i < 2 * POISON_ROW; i++) poison[i] = (uint8_t)(POISON_FIRST + POISON_STEP * i);
}

/* What bytes `from` on are, up to the next multiple of 256. */
static const uint8_t *poison_at(size_t from)
{
    return poison + (from / POISON_ROW * POISON_INVERSE + from) % POISON_ROW;
}

static size_t row_end(size_t from, size_t to)
{
    size_t end = from - from % POISON_ROW + POISON_ROW;
    return end < to ? end : to;
}

static void poison_range(uint8_t *p, size_t from, size_t to)
{
    for (size_t end; from < to; from = end) {
        end = row_end(from, to);
        memcpy(p + from, poison_at(from), end - from);
    }
}

static bool poisoned(const uint8_t *p, size_t from, size_t to)
{
    for (size_t end; from < to; from = end) {
        end = row_end(from, to);
        if (memcmp(p + from, poison_at(from), end - from) != 0) return false;
    }
    return true;
}

/* Where an array begins in its block. */
static size_t begins(const judge_arrays *a, int which)
{
    bool values = which == JUDGE_VALUE || which == JUDGE_VALUE_OUT || which == JUDGE_LIST_VALUE;
    return GUARD + (values ? a->skew : 0);
}

bool judge_arrays_open(judge_arrays *a, uint64_t most, uint32_t value_bytes)
{
    pthread_once(&poison_made, make_poison);
    memset(a, 0, sizeof *a);
    a->most = most;
    a->value_bytes = value_bytes;
    for (int k = 0; k < JUDGE_ARRAYS; k++) {
        size_t bytes = (size_t)most * item_bytes(a, (judge_array)k) + SKEW_MOST; /* count: 1, even of 0 items */
        size_t whole = (bytes + 2 * GUARD + GUARD - 1) / GUARD * GUARD;
        a->block[k] = (uint8_t *)aligned_alloc(GUARD, whole);
        if (!a->block[k]) {
            judge_arrays_close(a);
            return false;
        }
        memset(a->block[k], 0, whole);
    }
    return true;
}

void judge_arrays_close(judge_arrays *a)
{
    for (int k = 0; k < JUDGE_ARRAYS; k++) free(a->block[k]);
    memset(a, 0, sizeof *a);
}

void *judge_arrays_at(const judge_arrays *a, judge_array which) { return a->block[which] + begins(a, (int)which); }

/* Offsets in hd_batch. The operations of a mixed batch are set by the code that draws them. */
/* clang-format off */
static const size_t field[JUDGE_EACH] = {
    [JUDGE_KEY] = offsetof(hd_batch, key), [JUDGE_VALUE] = offsetof(hd_batch, value),
    [JUDGE_SCORE] = offsetof(hd_batch, score), [JUDGE_FLAG] = offsetof(hd_batch, flag),
    [JUDGE_OUTCOME] = offsetof(hd_batch, outcome), [JUDGE_FOUND] = offsetof(hd_batch, found),
    [JUDGE_VALUE_OUT] = offsetof(hd_batch, value_out),
    [JUDGE_SCORE_OUT] = offsetof(hd_batch, score_out), [JUDGE_PTR] = offsetof(hd_batch, ptr),
    [JUDGE_LIST_KEY] = offsetof(hd_batch, list_key), [JUDGE_LIST_VALUE] = offsetof(hd_batch, list_value),
    [JUDGE_LIST_SCORE] = offsetof(hd_batch, list_score), [JUDGE_LIST_ITEM] = offsetof(hd_batch, list_item),
    [JUDGE_COUNT] = offsetof(hd_batch, count), [JUDGE_KEY2] = offsetof(hd_batch, key2),
    [JUDGE_KEY_OUT] = offsetof(hd_batch, key_out), [JUDGE_ROWS] = offsetof(hd_batch, rows),
    [JUDGE_MORE_OUT] = offsetof(hd_batch, more)
};
/* clang-format on */

void judge_arrays_lend(judge_arrays *a, hd_batch *b)
{
    for (int k = 0; k < JUDGE_ARRAYS; k++) a->used[k] = (size_t)b->n * item_bytes(a, (judge_array)k);
    a->used[JUDGE_COUNT] = sizeof(uint64_t);
    a->used[JUDGE_KEY_OUT] = (size_t)judge_rows_out(b) * item_bytes(a, JUDGE_KEY_OUT);
    a->used[JUDGE_VALUE_OUT] = (size_t)judge_rows_out(b) * item_bytes(a, JUDGE_VALUE_OUT);
    for (int k = 0; k < JUDGE_EACH; k++) hd_field_set(b, field[k], judge_arrays_at(a, (judge_array)k));
}

static uint64_t hash_inputs(const judge_arrays *a)
{
    uint64_t h = 0;
    for (int k = 0; k < JUDGE_ARRAYS; k++)
        if (is_input(k)) h = XXH3_64bits_withSeed(a->block[k] + begins(a, k), a->used[k], h);
    return h;
}

void judge_arrays_arm(judge_arrays *a)
{
    for (int k = 0; k < JUDGE_ARRAYS; k++) {
        size_t end = begins(a, k) + a->used[k];
        poison_range(a->block[k], 0, is_input(k) ? begins(a, k) : end);
        poison_range(a->block[k], end, end + GUARD);
    }
    a->inputs = hash_inputs(a);
}

/* ---- Afterwards ------------------------------------------------------------------------------ */

/* Bytes [from, to) of an array, the guards included at negative and greater offsets, are poison. */
static bool untouched(const judge_arrays *a, int which, size_t from, size_t to)
{
    return poisoned(a->block[which], begins(a, which) + from, begins(a, which) + to);
}

static bool guards_stand(const judge_arrays *a, int which)
{
    size_t end = begins(a, which) + a->used[which];
    return poisoned(a->block[which], 0, begins(a, which)) && poisoned(a->block[which], end, end + GUARD);
}

/* Whether row `row` of the keys and values of entries that an ordered operation found was to be written. */
static bool entry_written(const hd_batch *b, uint64_t row)
{
    switch (judge_order_of(b)) {
    case JUDGE_LEAST:
    case JUDGE_GREATEST: return *b->count == 1;
    case JUDGE_BETWEEN: /* without rows it is not known */
        return b->outcome[row / b->limit] == HD_HIT && (!b->rows || row % b->limit < b->rows[row / b->limit]);
    default: return b->outcome[row] == HD_HIT;
    }
}

/* Whether item i was to be written. */
static bool item_written(const hd_batch *b, judge_array which, uint64_t i)
{
    if (!hd_field(b, field[which])) return false;
    if (judge_order_of(b) && (which == JUDGE_KEY_OUT || which == JUDGE_VALUE_OUT)) return entry_written(b, i);
    if (which >= JUDGE_KEY_OUT) return which != JUDGE_KEY_OUT && judge_order_of(b) == JUDGE_BETWEEN;
    hd_op op = judge_item_op(b, i);
    const judge_op *rule = &judge_ops[op];
    hd_outcome o = rule->keyed ? (hd_outcome)b->outcome[i] : HD_MISS;
    switch (which) {
    case JUDGE_OUTCOME: return rule->keyed;
    case JUDGE_FOUND: return rule->keyed;
    case JUDGE_VALUE_OUT: return rule->keyed && rule->value_out && judge_delivers(op, o);
    case JUDGE_SCORE_OUT: return rule->keyed && rule->score_out && judge_delivers(op, o);
    default: return rule->keyed && judge_delivers_ptr(op, o); /* JUDGE_PTR */
    }
}

static bool lists(const hd_batch *b) { return !b->each && judge_ops[b->op].list; }

static bool counts(const hd_batch *b)
{
    hd_op op = b->op;
    return lists(b) || (!b->each && (op == HD_OP_ERASE_IF || op == HD_OP_SIZE || op == HD_OP_SIZE_IF ||
                                     op == HD_OP_PROMOTE || op == HD_OP_MIN || op == HD_OP_MAX));
}

/* How much of a list's array was to be written: `count` places, or none. */
static uint64_t list_written(const hd_batch *b, judge_array which)
{
    bool keys_only = b->op == HD_OP_FIND_MISSED && (which == JUDGE_LIST_VALUE || which == JUDGE_LIST_SCORE);
    return lists(b) && b->count && !keys_only && hd_field(b, field[which]) ? *b->count : 0;
}

static const char *touched(const char *format, ...) __attribute__((format(printf, 1, 2)));

static const char *touched(const char *format, ...)
{
    static _Thread_local char sentence[160];
    va_list ap;
    va_start(ap, format);
    vsnprintf(sentence, sizeof sentence, format, ap);
    va_end(ap);
    return sentence;
}

static const char *check_items(const judge_arrays *a, const hd_batch *b)
{
    for (uint64_t i = 0; judge_keyed_batch(b) && i < b->n; i++)
        if (b->outcome[i] >= HD_OUTCOME_COUNT)
            return touched("%s: item %" PRIu64 " has no outcome", judge_batch_name(b), i);
    for (int k = JUDGE_OUTCOME; k <= JUDGE_MORE_OUT; k++) {
        size_t bytes = item_bytes(a, (judge_array)k);
        for (uint64_t i = 0; bytes && i < a->used[k] / bytes; i++)
            if (!item_written(b, (judge_array)k, i) && !untouched(a, k, (size_t)i * bytes, (size_t)(i + 1) * bytes))
                return touched("%s: row %" PRIu64 " of %s was written", judge_batch_name(b), i, names[k]);
    }
    return NULL;
}

static const char *check_lists(const judge_arrays *a, const hd_batch *b)
{
    if ((!counts(b) || !b->count) && !untouched(a, JUDGE_COUNT, 0, a->used[JUDGE_COUNT]))
        return touched("%s: count was written", judge_batch_name(b));
    if (lists(b) && b->count && *b->count > b->n)
        return touched("%s: a list of %" PRIu64 " of %" PRIu64, judge_batch_name(b), *b->count, b->n);
    for (int k = JUDGE_LIST_KEY; k <= JUDGE_LIST_ITEM; k++)
        if (!untouched(a, k, (size_t)list_written(b, (judge_array)k) * item_bytes(a, (judge_array)k), a->used[k]))
            return touched("%s: %s was written beyond the list", judge_batch_name(b), names[k]);
    return NULL;
}

const char *judge_arrays_check(const judge_arrays *a, const hd_batch *b)
{
    for (int k = 0; k < JUDGE_ARRAYS; k++)
        if (!guards_stand(a, k))
            return touched("%s: bytes beside the array %s were written", judge_batch_name(b), names[k]);
    if (hash_inputs(a) != a->inputs) return touched("%s: an input array was changed", judge_batch_name(b));
    const char *why = check_items(a, b);
    return why ? why : check_lists(a, b);
}

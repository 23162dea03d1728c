/* SPDX-License-Identifier: Apache-2.0
 *
 * order.c - judges ordered operations. The map's entries, sorted by key for each batch, say which of them an item
 * finds.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/state.h"

static int by_key(const void *a, const void *b)
{
    const judge_entry *x = *(judge_entry *const *)a, *y = *(judge_entry *const *)b;
    return x->key < y->key ? -1 : x->key > y->key;
}

bool judge_sort(hd_oracle *o)
{
    uint64_t n = 0;
    judge_entry *e;
    if (o->sorted_room < o->map.n) {
        judge_entry **wide = (judge_entry **)realloc(o->sorted, 2 * (size_t)o->map.n * sizeof(judge_entry *));
        if (!wide) return false;
        o->sorted = wide;
        o->sorted_room = 2 * o->map.n;
    }
    for (uint64_t p = 0; (e = judge_map_next(&o->map, &p));) o->sorted[n++] = e;
    if (n) qsort(o->sorted, (size_t)n, sizeof *o->sorted, by_key);
    return true;
}

/* How many entries have a key below `key`. */
static uint64_t count_below(const hd_oracle *o, uint64_t key)
{
    uint64_t low = 0, high = o->map.n;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (o->sorted[middle]->key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t count_to(const hd_oracle *o, uint64_t key)
{
    return key == UINT64_MAX ? o->map.n : count_below(o, key + 1);
}

/* The sorted entries that an item finds: `found` from `first` on, of which it delivers `rows`. */
typedef struct expected {
    uint64_t first, found, rows;
} expected;

static expected expect(const hd_oracle *o, const hd_batch *b, uint64_t i)
{
    uint64_t key = b->key ? b->key[i] : 0, below = b->inclusive ? count_to(o, key) : count_below(o, key),
             to = b->inclusive ? count_below(o, key) : count_to(o, key), first = count_below(o, key), end, found;
    switch (judge_order_of(b)) {
    case JUDGE_BELOW: return below ? (expected){ below - 1, 1, 1 } : (expected){ 0, 0, 0 };
    case JUDGE_ABOVE: return to < o->map.n ? (expected){ to, 1, 1 } : (expected){ 0, 0, 0 };
    case JUDGE_BETWEEN:
        end = count_to(o, b->key2[i]);
        found = end > first ? end - first : 0;
        return (expected){ first, found, found < b->limit ? found : b->limit };
    case JUDGE_LEAST: return (expected){ 0, o->map.n > 0, o->map.n > 0 };
    default: return (expected){ o->map.n ? o->map.n - 1 : 0, o->map.n > 0, o->map.n > 0 };
    }
}

static const char *lie(hd_oracle *o, const hd_batch *b, uint64_t i, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static const char *lie(hd_oracle *o, const hd_batch *b, uint64_t i, const char *format, ...)
{
    char what[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    if (!judge_ops[b->op].keyed) return judge_say(o, "%s: %s", hd_op_name(b->op), what);
    return judge_say(o, "item %" PRIu64 " (%s, key %" PRIu64 ", said %s): %s", i, hd_op_name(b->op), b->key[i],
                     hd_outcome_name((hd_outcome)b->outcome[i]), what);
}

/* Row `row` of the batch's keys and values shows entry e. */
static const char *row_wrong(hd_oracle *o, const hd_batch *b, uint64_t i, uint64_t row, const judge_entry *e)
{
    uint32_t bytes = o->value_bytes;
    if (b->key_out && b->key_out[row] != e->key)
        return lie(o, b, i, "row %" PRIu64 " has key %" PRIu64 " instead of %" PRIu64, row, b->key_out[row], e->key);
    if (b->value_out && bytes && memcmp((const uint8_t *)b->value_out + row * bytes, e->value, bytes) != 0)
        return lie(o, b, i, "row %" PRIu64 ", key %" PRIu64 ", has another value", row, e->key);
    return NULL;
}

static const char *rows_wrong(hd_oracle *o, const hd_batch *b, uint64_t i, expected x)
{
    uint64_t from = judge_order_of(b) == JUDGE_BETWEEN ? i * b->limit : i;
    const char *wrong = NULL;
    for (uint64_t k = 0; k < x.rows && !wrong; k++) wrong = row_wrong(o, b, i, from + k, o->sorted[x.first + k]);
    return wrong;
}

/* What a range says beside its rows. */
static const char *extent_wrong(hd_oracle *o, const hd_batch *b, uint64_t i, expected x)
{
    bool more = x.found > x.rows;
    if (b->rows && b->rows[i] != x.rows)
        return lie(o, b, i, "it has %" PRIu32 " rows instead of %" PRIu64, b->rows[i], x.rows);
    if (b->more && judge_more_byte(b, i) != more)
        return lie(o, b, i, "the range has %s, and more is %d", more ? "more entries" : "no more entries",
                   judge_more_byte(b, i));
    return NULL;
}

const char *judge_ordered_item(hd_oracle *o, const hd_batch *b, uint64_t i)
{
    bool reserved = b->key[i] >= o->keys, found;
    expected x = { 0, 0, 0 };
    if (!reserved) x = expect(o, b, i);
    found = x.found > 0;
    hd_outcome is = (hd_outcome)b->outcome[i], outcome = reserved ? HD_RESERVED : found ? HD_HIT : HD_MISS;
    if (is != outcome) return lie(o, b, i, "%s expected", hd_outcome_name(outcome));
    if (b->found && judge_found_byte(b, i) != found)
        return lie(o, b, i, "%s, and found is %d", found ? "there is such an entry" : "there is none",
                   judge_found_byte(b, i));
    const char *wrong = judge_order_of(b) == JUDGE_BETWEEN ? extent_wrong(o, b, i, x) : NULL;
    return wrong ? wrong : rows_wrong(o, b, i, x);
}

const char *judge_ordered_end(hd_oracle *o, const hd_batch *b)
{
    expected x = expect(o, b, 0);
    if (b->count && *b->count != x.found)
        return lie(o, b, 0, "the count is %" PRIu64 " instead of %" PRIu64, *b->count, x.found);
    return rows_wrong(o, b, 0, x);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * whole_table.c - judges operations on the whole table by the map: counts, lists of entries, what a predicate erases.
 */
#include <inttypes.h>
#include <string.h>

#include "judge/state.h"

static bool holds(const hd_oracle *o, const hd_batch *b, const judge_entry *e)
{
    return !judge_ops[b->op].predicate ||
           judge_holds(b->pred, b->pred_arg, e->key, e->score, e->value, o->value_bytes) == 1;
}

static const char *judge_count(hd_oracle *o, const hd_batch *b, uint64_t expected)
{
    if (!b->count || *b->count == expected) return NULL;
    return judge_say(o, "%s: the count is %" PRIu64 " instead of %" PRIu64, hd_op_name(b->op), *b->count, expected);
}

static const char *judge_erase_if(hd_oracle *o, const hd_batch *b)
{
    uint64_t erased = 0;
    judge_entry *e;
    for (uint64_t p = 0; (e = judge_map_next(&o->map, &p));) {
        if (e->holder || !holds(o, b, e)) continue;
        judge_map_drop(&o->map, e->key);
        p--;
        erased++;
    }
    o->live -= erased;
    return judge_count(o, b, erased);
}

static const char *judge_size(hd_oracle *o, const hd_batch *b)
{
    uint64_t n = 0;
    const judge_entry *e;
    for (uint64_t p = 0; (e = judge_map_next(&o->map, &p));) n += holds(o, b, e);
    return judge_count(o, b, n);
}

/* What is wrong with entry l of the list, which is e's; NULL: nothing. */
static const char *exported_wrong(const hd_oracle *o, const hd_batch *b, const judge_entry *e, uint64_t l)
{
    uint32_t bytes = o->value_bytes;
    if (!e) return "is not in the table";
    if (e->mark == o->mark) return "is in the list twice";
    if (!holds(o, b, e)) return "does not satisfy the predicate";
    if (b->list_score && b->list_score[l] != e->score) return "has another score";
    if (b->list_value && bytes && memcmp((const uint8_t *)b->list_value + l * bytes, e->value, bytes) != 0)
        return "has another value";
    if (!b->list_item) return NULL;
    if (b->list_item[l] - b->start >= b->n)
        return "is outside the window"; /* entries before the start are not listed either */
    return l && b->list_item[l] <= b->list_item[l - 1] ? "is out of order" : NULL;
}

/* Entries in ascending slots of the window, each in the map and asked for; all of them when the window is
 * the whole table. */
static const char *judge_export(hd_oracle *o, const hd_batch *b)
{
    if (!b->count || !b->list_key || *b->count > b->n)
        return judge_say(o, "%s: no list, or one that is too long", hd_op_name(b->op));
    o->mark++;
    for (uint64_t l = 0; l < *b->count; l++) {
        judge_entry *e = judge_map_find(&o->map, b->list_key[l]);
        const char *wrong = exported_wrong(o, b, e, l);
        if (wrong)
            return judge_say(o, "%s: entry %" PRIu64 " of the list, key %" PRIu64 ", %s", hd_op_name(b->op), l,
                             b->list_key[l], wrong);
        e->mark = o->mark;
    }
    return b->start == 0 && b->n >= o->capacity ? judge_size(o, b) : NULL;
}

static const char *judge_clear(hd_oracle *o)
{
    judge_map_clear(&o->map);
    o->pins = o->live = 0;
    return NULL;
}

/* The oracle knows no slots: the contents must be equal, and no more entries moved than there are slots. */
static const char *judge_promote(hd_oracle *o, const hd_batch *b)
{
    return b->count && *b->count > o->capacity ? judge_say(o, "promote: %" PRIu64 " entries came near", *b->count)
                                               : NULL;
}

const char *judge_whole_table(hd_oracle *o, const hd_batch *b)
{
    if (judge_ops[b->op].predicate && (!b->pred || judge_holds(b->pred, b->pred_arg, 0, 0, NULL, 0) < 0))
        return judge_say(o, "%s: the judge knows no predicate '%s'", hd_op_name(b->op), b->pred ? b->pred : "(null)");
    switch (b->op) {
    case HD_OP_ERASE_IF: return judge_erase_if(o, b);
    case HD_OP_EXPORT:
    case HD_OP_EXPORT_IF: return judge_export(o, b);
    case HD_OP_SIZE:
    case HD_OP_SIZE_IF: return judge_size(o, b);
    case HD_OP_PROMOTE: return judge_promote(o, b);
    case HD_OP_MIN:
    case HD_OP_MAX: return judge_ordered_end(o, b);
    default: return judge_clear(o);
    }
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * soak_lies.c - stands between a soak and the table (ld --wrap=hd_run). It alters the results of items, or changes a
 * key behind the soak's back; the variable LIE of the environment says which. The arrays are this machine's.
 * t_soak_judge.sh has the objection that each lie must meet.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/op.h"
#include "heddle.h"

hd_status __real_hd_run(hd_table *t, hd_batch *b);
hd_status __wrap_hd_run(hd_table *t, hd_batch *b);

enum { ITEMS_MOST = 3 /* of a batch, that are lied about */ };

typedef enum deed {
    SAYS,
    FOUND,
    VALUE,
    SCORE,
    WRITES,
    LIST_SHORT,
    LIST_TWICE,
    LIST_OTHER,
    COUNTS,
    NEXT,
    ROWS,
    DOES
} deed;

/* Where an item came out as `from`, it is said to have come out as `to`; or something is done to its output, or to the
 * table. */
typedef struct lie {
    const char *name;
    deed what;
    hd_outcome from, to;
    hd_op op; /* DOES: what is done to its key; LIST_*, COUNTS, NEXT, ROWS: batches of this operation */
} lie;

static const lie lies[] = { { "hit_missed", SAYS, HD_HIT, HD_MISS, HD_OP_COUNT_ },
                            { "miss_found", SAYS, HD_MISS, HD_HIT, HD_OP_COUNT_ },
                            { "new_updated", SAYS, HD_INSERTED, HD_UPDATED, HD_OP_COUNT_ },
                            { "old_inserted", SAYS, HD_UPDATED, HD_INSERTED, HD_OP_COUNT_ },
                            { "new_pending", SAYS, HD_INSERTED, HD_PENDING, HD_OP_COUNT_ },
                            { "pending_new", SAYS, HD_PENDING, HD_INSERTED, HD_OP_COUNT_ },
                            { "erased_missed", SAYS, HD_ERASED, HD_MISS, HD_OP_COUNT_ },
                            { "miss_erased", SAYS, HD_MISS, HD_ERASED, HD_OP_COUNT_ },
                            { "reserved_missed", SAYS, HD_RESERVED, HD_MISS, HD_OP_COUNT_ },
                            { "miss_reserved", SAYS, HD_MISS, HD_RESERVED, HD_OP_COUNT_ },
                            { "hit_not_found", FOUND, HD_HIT, HD_HIT, HD_OP_COUNT_ },
                            { "miss_is_found", FOUND, HD_MISS, HD_MISS, HD_OP_COUNT_ },
                            { "other_value", VALUE, HD_HIT, HD_HIT, HD_OP_COUNT_ },
                            { "other_score", SCORE, HD_HIT, HD_HIT, HD_OP_COUNT_ },
                            { "value_of_miss", WRITES, HD_MISS, HD_MISS, HD_OP_COUNT_ },
                            { "list_short", LIST_SHORT, HD_MISS, HD_MISS, HD_OP_FIND_MISSED },
                            { "list_twice", LIST_TWICE, HD_MISS, HD_MISS, HD_OP_FIND_MISSED },
                            { "list_other", LIST_OTHER, HD_MISS, HD_MISS, HD_OP_FIND_MISSED },
                            { "export_short", LIST_SHORT, HD_MISS, HD_MISS, HD_OP_EXPORT },
                            { "export_twice", LIST_TWICE, HD_MISS, HD_MISS, HD_OP_EXPORT },
                            { "export_other", LIST_OTHER, HD_MISS, HD_MISS, HD_OP_EXPORT },
                            { "export_value", VALUE, HD_MISS, HD_MISS, HD_OP_EXPORT },
                            { "size_more", COUNTS, HD_MISS, HD_MISS, HD_OP_SIZE },
                            { "size_if_more", COUNTS, HD_MISS, HD_MISS, HD_OP_SIZE_IF },
                            { "erase_if_more", COUNTS, HD_MISS, HD_MISS, HD_OP_ERASE_IF },
                            { "next_passed", NEXT, HD_HIT, HD_HIT, HD_OP_SUCCESSOR },
                            { "range_short", ROWS, HD_HIT, HD_HIT, HD_OP_RANGE },
                            { "forgets", DOES, HD_INSERTED, HD_INSERTED, HD_OP_ERASE },
                            { "remembers", DOES, HD_ERASED, HD_ERASED, HD_OP_INSERT_OR_ASSIGN },
                            { "pending_stays", DOES, HD_PENDING, HD_PENDING, HD_OP_INSERT_OR_ASSIGN },
                            { "writes_another", DOES, HD_UPDATED, HD_UPDATED, HD_OP_ASSIGN_VALUES },
                            { "adds_twice", DOES, HD_UPDATED, HD_UPDATED, HD_OP_ACCUM_OR_ASSIGN } };

static const lie *chosen(void)
{
    const char *name = getenv("LIE");
    for (size_t i = 0; name && i < sizeof lies / sizeof *lies; i++)
        if (strcmp(lies[i].name, name) == 0) return &lies[i];
    if (!name) return NULL;
    fprintf(stderr, "there is no lie %s\n", name);
    _Exit(3);
}

static uint32_t value_bytes(hd_table *t)
{
    hd_info info;
    return hd_table_info(t, &info) ? 0 : info.value_bytes;
}

/* The key of item i is given `op`; a value is that of the next item. */
static void act(hd_table *t, const hd_batch *b, uint64_t i, hd_op op)
{
    uint32_t bytes = value_bytes(t);
    uint64_t other = op == HD_OP_ACCUM_OR_ASSIGN || b->n < 2 ? i : (i + 1) % b->n;
    hd_batch one = {
        .op = op, .elem = b->elem, .n = 1, .key = b->key + i, .value = (const uint8_t *)b->value + other * bytes
    };
    (void)__real_hd_run(t, &one);
}

static bool suits(const lie *l, const hd_batch *b, uint64_t i)
{
    hd_op op = b->each ? (hd_op)b->each[i] : b->op;
    if (b->outcome[i] != l->from) return false;
    if (l->what == VALUE || l->what == SCORE)
        return op == HD_OP_FIND || op == HD_OP_FIND_MISSED || op == HD_OP_FIND_OR_INSERT;
    return l->op != HD_OP_ACCUM_OR_ASSIGN || op == l->op;
}

static void lie_about(const lie *l, hd_table *t, const hd_batch *b, uint64_t i)
{
    uint32_t bytes = value_bytes(t);
    if (l->what == SAYS) {
        b->outcome[i] = (uint8_t)l->to;
        if (b->found) b->found[i] = HD_OP_IN(l->to, HD_OUTCOMES_FOUND);
    }
    if (l->what == FOUND && b->found) b->found[i] = !b->found[i];
    if (l->what == VALUE || l->what == WRITES) ((uint8_t *)b->value_out)[i * bytes] ^= 1;
    if (l->what == SCORE) b->score_out[i] ^= 1;
    if (l->what == DOES) act(t, b, i, l->op);
}

/* A list of an operation. */
static void bend_list(const lie *l, const hd_batch *b, uint32_t bytes)
{
    uint64_t n = *b->count;
    if (l->what == COUNTS) ++*b->count;
    if (n < 2) return;
    if (l->what == LIST_SHORT) --*b->count;
    if (l->what == LIST_TWICE) b->list_key[n - 1] = b->list_key[n - 2];
    if (l->what == LIST_OTHER) b->list_item[n - 1] += 64;
    if (l->what == VALUE) ((uint8_t *)b->list_value)[(n - 1) * bytes] ^= 1;
}

static bool is_order(const lie *l) { return l->what == NEXT || l->what == ROWS; }

/* The entry of the first item that has one. */
static void bend_order(const lie *l, const hd_batch *b)
{
    for (uint64_t i = 0; i < b->n; i++) {
        if (b->outcome[i] != HD_HIT) continue;
        if (l->what == NEXT) b->key_out[i]++;
        if (l->what == ROWS) b->rows[i]--;
        return;
    }
}

hd_status __wrap_hd_run(hd_table *t, hd_batch *b)
{
    const lie *l = chosen();
    hd_status s = __real_hd_run(t, b);
    if (!l || s) return s;
    if (l->op != HD_OP_COUNT_ && l->what != DOES) {
        if (!b->each && b->op == l->op && is_order(l)) bend_order(l, b);
        if (!b->each && b->op == l->op && b->count && !is_order(l)) bend_list(l, b, value_bytes(t));
        return s;
    }
    int items = 0;
    for (uint64_t i = 0; i < b->n && b->outcome && b->key && items < ITEMS_MOST; i++)
        if (suits(l, b, i)) lie_about(l, t, b, i), items++;
    return s;
}

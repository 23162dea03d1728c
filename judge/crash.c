/* SPDX-License-Identifier: Apache-2.0
 *
 * crash.c - see crash.h.
 */
#include "judge/crash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "judge/comparison_parts.h"

enum { WORD = 8, CUTS_MOST = 64 };

/* A crash that is judged. */
typedef struct crashed {
    comparison *a;
    const fixture *s;
    const simt_ticket_record *ticket;
    size_t tickets;
    bool ended;
    uint8_t *image, *after; /* (table_bytes) the table's memory before recovery and after it */
    uint8_t *value;         /* (value_bytes) of the key that is looked at: what its items make of it ... */
    bool there;             /* ... if they leave it */
} crashed;

/* ---- Recovery -------------------------------------------------------------------------------- */

/* What is not persistent is as in a table that was just opened. */
static void lose_the_rest(const fixture *s)
{
    enum { NOT_WRITTEN = 0xa7 };
    const judge_memory *all = s->table_memory;
    for (uint32_t i = 0; i < s->table_memories; i++)
        if (!fixture_persistent(s, i))
            memset(s->memory + s->region[i].at, all[i].byte == HD_AS_IT_COMES ? NOT_WRITTEN : all[i].byte,
                   s->region[i].bytes);
}

static const char *recover(const crashed *x)
{
    const judge_design *d = x->a->d;
    lose_the_rest(x->s);
    fixture_view(x->s, x->s->memory, x->a->now);
    return d->recover(x->a->s, x->a->now) ? fixture_say(x->a->why, "recovery: %s", hd_why()) : NULL;
}

/* Recovers again, from what is in memory now. */
static const char *recover_again(const crashed *x, const char *when)
{
    const char *why = recover(x);
    for (uint32_t i = 0; i < x->s->regions && !why; i++) {
        const fixture_region *r = &x->s->region[i];
        if (fixture_persistent(x->s, i) && memcmp(x->s->memory + r->at, x->after + r->at, r->bytes) != 0)
            why = fixture_say(x->a->why, "recovery again, after a crash %s, leaves other bytes in '%s'", when, r->name);
    }
    return why;
}

/* A crash in the recovery: at byte `at` of memory one word is as before it, and the others are as after it; and the
 * reverse. */
static const char *cut_at(const crashed *x, size_t at)
{
    uint8_t *memory = x->s->memory;
    memcpy(memory, x->after, x->s->table_bytes);
    memcpy(memory + at, x->image + at, WORD);
    const char *why = recover_again(x, "in it");
    if (why) return why;
    memcpy(memory, x->image, x->s->table_bytes);
    memcpy(memory + at, x->after + at, WORD);
    return recover_again(x, "in it");
}

static const char *check_again(const crashed *x)
{
    const char *why = recover_again(x, "after it");
    uint32_t cuts = 0;
    for (uint32_t i = 0; i < x->s->regions && !why; i++) {
        const fixture_region *r = &x->s->region[i];
        for (size_t at = r->at; fixture_persistent(x->s, i) && at < r->at + r->bytes && !why; at += WORD)
            if (memcmp(x->image + at, x->after + at, WORD) != 0 && cuts++ < CUTS_MOST) why = cut_at(x, at);
    }
    memcpy(x->s->memory, x->after, x->s->table_bytes);
    return why;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/* The place of a key; fixture_places: none. *times: in how many it is. */
static uint64_t place_of(const judge_design *d, const void *table, uint64_t key, uint32_t *times)
{
    uint64_t places = fixture_places(d, table), found = places;
    *times = 0;
    for (uint64_t e = 0; e < places; e++)
        if (d->key_at(table, e) == key && (*times)++ == 0) found = e;
    return found;
}

static const uint8_t *value_of(const crashed *x, const void *table, uint64_t e)
{
    return x->s->value_bytes ? x->a->d->value_at(table, e) : x->value;
}

/* An item takes effect on the key. */
static void happen(crashed *x, const hd_batch *b, uint64_t i, hd_outcome o)
{
    const hd_op op = judge_item_op(b, i);
    const uint32_t bytes = x->s->value_bytes;
    bool enters = o == HD_INSERTED || o == HD_EVICTED, replaces = o == HD_UPDATED && judge_ops[op].value_in,
         adds = o == HD_UPDATED && op == HD_OP_ACCUM_OR_ASSIGN;
    if (o == HD_ERASED) x->there = false;
    if (enters) x->there = true;
    if ((enters || replaces) && bytes) memcpy(x->value, (const uint8_t *)b->value + i * bytes, bytes);
    if (adds) judge_add(b->elem, x->value, (const uint8_t *)b->value + i * bytes, bytes);
}

/* A batch without keys takes effect on it. */
static void happen_to_all(crashed *x, const hd_batch *b, uint64_t key)
{
    if (b->op == HD_OP_CLEAR) x->there = false;
    if (b->op == HD_OP_ERASE_IF && x->there)
        x->there = judge_holds(b->pred, b->pred_arg, key, 0, x->value, x->s->value_bytes) != 1;
}

static void begin(crashed *x, uint64_t key)
{
    uint32_t times;
    uint64_t e = place_of(x->a->d, x->a->then, key, &times);
    x->there = times != 0;
    if (x->there && x->s->value_bytes) memcpy(x->value, value_of(x, x->a->then, e), x->s->value_bytes);
}

/* Whether the table has the key, or not, as x has it; value: what the table has, NULL: nothing. */
static bool is_so(const crashed *x, const uint8_t *value)
{
    if (!value || !x->there) return !value && !x->there;
    return x->s->value_bytes == 0 || memcmp(value, x->value, x->s->value_bytes) == 0;
}

static bool has_ticket(const crashed *x, uint32_t k, uint64_t i)
{
    size_t n = 0;
    while (n < x->tickets && (x->ticket[n].item != i || x->ticket[n].stream != k)) n++;
    return n < x->tickets;
}

/* The items with tickets. Whether it is so at some moment; all: at the end. */
static bool so_by_tickets(crashed *x, uint64_t key, const uint8_t *value, bool all)
{
    begin(x, key);
    bool so = is_so(x, value);
    for (size_t n = 0; n < x->tickets; n++) {
        const simt_ticket_record *t = &x->ticket[n];
        const hd_batch *b = &x->s->part[t->stream].batch;
        if (t->item == JUDGE_MOVE || t->item >= b->n || b->key[t->item] != key) continue;
        happen(x, b, t->item, (hd_outcome)t->what);
        so = (so && !all) || is_so(x, value);
    }
    return so;
}

/* After all of them one that has none, or a batch without keys. */
static bool so_by_others(crashed *x, uint64_t key, const uint8_t *value)
{
    bool so = false;
    for (uint32_t k = 0; k < x->s->parts; k++) {
        const hd_batch *b = &x->s->part[k].batch;
        for (uint64_t i = 0; judge_keyed_batch(b) && i < b->n && !so; i++) {
            if (b->key[i] != key || has_ticket(x, k, i)) continue;
            so_by_tickets(x, key, value, true);
            const judge_op *r = &judge_ops[judge_item_op(b, i)];
            happen(x, b, i, x->there ? r->present : r->enters ? HD_INSERTED : HD_MISS);
            so = is_so(x, value);
        }
        if (judge_keyed_batch(b)) continue;
        so_by_tickets(x, key, value, true);
        happen_to_all(x, b, key);
        so = so || is_so(x, value);
    }
    return so;
}

/* Every part has drawn all its tickets. */
static bool tickets_tell(const crashed *x)
{
    bool tell = x->ended;
    for (uint32_t k = 0; k < x->s->parts; k++)
        tell = tell && (comparison_ordered(&x->s->part[k]) || !judge_ops[x->s->part[k].batch.op].changes);
    return tell;
}

static const char *check_key(crashed *x, uint64_t key)
{
    uint32_t times;
    if (key >= HD_KEY_RESERVED) return NULL;
    uint64_t e = place_of(x->a->d, x->a->now, key, &times), shown = 0;
    if (times > 1) return fixture_say(x->a->why, "after recovery key 0x%" PRIx64 " is in %u places", key, times);
    const uint8_t *value = times ? value_of(x, x->a->now, e) : NULL;
    bool tell = tickets_tell(x);
    if (so_by_tickets(x, key, value, tell) || (!tell && so_by_others(x, key, value))) return NULL;
    const char *items = x->ended ? "all items of the batch" : "no order of the items on it that had begun";
    if (!value)
        return fixture_say(x->a->why, "after recovery key 0x%" PRIx64 " is gone, %s %s", key,
                           x->ended ? "and it should be there after" : "which is right after", items);
    if (x->s->value_bytes) memcpy(&shown, value, x->s->value_bytes < WORD ? x->s->value_bytes : WORD);
    return fixture_say(x->a->why, "after recovery key 0x%" PRIx64 " has the value 0x%" PRIx64 ", %s %s", key, shown,
                       x->ended ? "which is wrong after" : "which is right after", items);
}

static const char *check_keys(crashed *x)
{
    const comparison *a = x->a;
    const char *why = NULL;
    uint64_t now = fixture_places(a->d, a->now), then = fixture_places(a->d, a->then);
    for (uint64_t e = 0; e < now && !why; e++) why = check_key(x, a->d->key_at(a->now, e));
    for (uint64_t e = 0; e < then && !why; e++) why = check_key(x, a->d->key_at(a->then, e));
    for (uint32_t k = 0; k < x->s->parts; k++) {
        const hd_batch *b = &x->s->part[k].batch;
        for (uint64_t i = 0; judge_keyed_batch(b) && i < b->n && !why; i++) why = check_key(x, b->key[i]);
    }
    return why;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static const char *judge(crashed *x)
{
    memcpy(x->image, x->s->memory, x->s->table_bytes);
    fixture_view(x->s, x->s->initial, x->a->then);
    const char *why = recover(x);
    memcpy(x->after, x->s->memory, x->s->table_bytes);
    if (!why) why = fixture_check(x->s, x->a->now, x->a->why);
    if (!why) why = check_keys(x);
    return why ? why : check_again(x);
}

const char *crash_judge(void *context, simt_machine *m, bool ended)
{
    comparison *a = (comparison *)context;
    crashed x = { .a = a, .s = a->s, .ended = ended };
    x.ticket = simt_machine_tickets(m, &x.tickets);
    x.image = (uint8_t *)malloc(2 * x.s->table_bytes + x.s->value_bytes + 1);
    if (!x.image) return "no memory to judge a crash";
    x.after = x.image + x.s->table_bytes;
    x.value = x.after + x.s->table_bytes;
    const char *why = judge(&x);
    free(x.image);
    return why;
}

hd_status crash_recovery(const comparison *a, simt_recovery *r)
{
    if (!a->d->recover) return hd_fail(HD_EINVAL, "design %s recovers nothing after a crash", a->d->name);
    *r = (simt_recovery){ crash_judge, 0, false };
    return HD_OK;
}

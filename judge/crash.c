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
#include "simt/crash.h"

enum { WORD = 8, CUTS_MOST = 8 };

#define NOWHERE UINT64_MAX

/* A key of the table before the batch, or of the batch, and its place then and after recovery. */
typedef struct crashed_key {
    uint64_t key, then, now;
    uint32_t times; /* in how many places it is after recovery */
} crashed_key;

/* A crash that is judged. */
typedef struct crashed {
    comparison *a;
    const fixture *s;
    const simt_ticket_record *ticket;
    size_t tickets, settled; /* simt_crash_tickets */
    bool ended, grown;       /* grown: the table that growth makes counts, and not the one that grows */
    uint8_t *image, *after;  /* (kept) what is persistent before recovery and after it */
    size_t kept;
    uint8_t *value; /* (value_bytes) of the key that is looked at: what its items make of it ... */
    bool there;     /* ... if they leave it */
    crashed_key *key;
    size_t keys;
} crashed;

/* ---- Recovery -------------------------------------------------------------------------------- */

/* Of a growth that had not ended: array i is the growth's, and no part of the table. */
static bool not_yet(const crashed *x, uint32_t i)
{
    return !x->grown && i >= x->s->table_memories - x->s->growth_memories && i < x->s->table_memories;
}

static bool is_kept(const crashed *x, uint32_t i) { return x->s->region[i].persistent && !not_yet(x, i); }

/* Copies what is persistent, or back. NULL: only counts. How many bytes. */
static size_t copy_kept(const crashed *x, uint8_t *copy, bool back)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < x->s->regions; i++) {
        const fixture_region *r = &x->s->region[i];
        uint8_t *at = x->s->memory + r->at;
        if (!r->persistent) continue;
        if (copy) memcpy(back ? at : copy + bytes, back ? copy + bytes : at, r->bytes);
        bytes += r->bytes;
    }
    return bytes;
}

/* What is not persistent is as in a table that was just opened. */
static void lose_the_rest(const crashed *x)
{
    enum { NOT_WRITTEN = 0xa7 };
    const fixture *s = x->s;
    for (uint32_t i = 0; i < s->table_memories; i++) {
        int byte = not_yet(x, i) ? HD_AS_IT_COMES : s->table_memory[i].byte;
        if (!is_kept(x, i))
            memset(s->memory + s->region[i].at, byte == HD_AS_IT_COMES ? NOT_WRITTEN : byte, s->region[i].bytes);
    }
}

static const char *recover(const crashed *x)
{
    const judge_design *d = x->a->d;
    if (x->grown)
        memcpy(x->a->now, x->s->part[0].args, fixture_table_size(d));
    else
        fixture_view(x->s, x->s->memory, x->a->now);
    return d->recover(x->a->s, x->a->now) ? fixture_say(x->a->why, "recovery: %s", hd_why()) : NULL;
}

/* Recovers again, from what is in memory now. */
static const char *recover_again(const crashed *x, const char *when)
{
    const char *why = recover(x);
    const uint8_t *after = x->after;
    for (uint32_t i = 0; i < x->s->regions && !why; i++) {
        const fixture_region *r = &x->s->region[i];
        if (is_kept(x, i) && memcmp(x->s->memory + r->at, after, r->bytes) != 0)
            why = fixture_say(x->a->why, "recovery again, after a crash %s, leaves other bytes in '%s'", when, r->name);
        after += r->persistent ? r->bytes : 0;
    }
    return why;
}

/* A crash in the recovery: of what is kept one word, at byte `at`, is as before it, and the others are as after it;
 * and the reverse. */
static const char *cut_at(const crashed *x, size_t at)
{
    for (int reverse = 0; reverse < 2; reverse++) {
        uint8_t *all = reverse ? x->image : x->after, *one = (reverse ? x->after : x->image) + at;
        uint64_t mine, others;
        memcpy(&others, all + at, WORD);
        memcpy(&mine, one, WORD);
        memcpy(all + at, &mine, WORD);
        copy_kept(x, all, true);
        memcpy(all + at, &others, WORD);
        const char *why = recover_again(x, "in it");
        if (why) return why;
    }
    return NULL;
}

/* Of the words that recovery changes each is cut, or some of many. */
static const char *check_again(const crashed *x)
{
    const char *why = recover_again(x, "after it");
    size_t changed = 0, n = 0;
    for (size_t at = 0; at < x->kept; at += WORD) changed += memcmp(x->image + at, x->after + at, WORD) != 0;
    for (size_t at = 0; at < x->kept && !why; at += WORD)
        if (memcmp(x->image + at, x->after + at, WORD) != 0 && n++ % (changed / CUTS_MOST + 1) == 0)
            why = cut_at(x, at);
    return why;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/* The key's number; keys: it is none of them. */
static size_t number_of(const crashed *x, uint64_t key)
{
    size_t i = 0;
    while (i < x->keys && x->key[i].key != key) i++;
    return i;
}

static void add_key(crashed *x, uint64_t key, uint64_t then)
{
    if (key < HD_KEY_RESERVED && number_of(x, key) == x->keys)
        x->key[x->keys++] = (crashed_key){ key, then, NOWHERE, 0 };
}

/* Where all keys were. */
static void find_then(crashed *x)
{
    const comparison *a = x->a;
    for (uint64_t e = 0; e < fixture_places(a->d, a->then); e++) add_key(x, a->d->key_at(a->then, e), e);
    for (uint32_t k = 0; k < x->s->parts; k++) {
        const hd_batch *b = &x->s->part[k].batch;
        for (uint64_t i = 0; judge_keyed_batch(b) && i < b->n; i++) add_key(x, b->key[i], NOWHERE);
    }
}

/* And where they are; every key that is there must be one of them. */
static const char *find_now(crashed *x)
{
    const comparison *a = x->a;
    for (uint64_t e = 0, places = fixture_places(a->d, a->now); e < places; e++) {
        uint64_t key = a->d->key_at(a->now, e);
        size_t i = key < HD_KEY_RESERVED ? number_of(x, key) : 0;
        if (key >= HD_KEY_RESERVED) continue;
        if (i == x->keys)
            return fixture_say(x->a->why, "after recovery key 0x%" PRIx64 " is there, and no item inserted it", key);
        if (x->key[i].times++ == 0) x->key[i].now = e;
    }
    return NULL;
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

static void begin(crashed *x, const crashed_key *k)
{
    x->there = k->then != NOWHERE;
    if (x->there && x->s->value_bytes) memcpy(x->value, value_of(x, x->a->then, k->then), x->s->value_bytes);
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

/* The items with tickets. Whether it is so at some moment since all is settled that is; all: at the end. */
static bool so_by_tickets(crashed *x, const crashed_key *k, const uint8_t *value, bool all)
{
    const size_t from = all ? x->tickets : x->settled;
    begin(x, k);
    bool so = from == 0 && is_so(x, value);
    for (size_t n = 0; n < x->tickets; n++) {
        const simt_ticket_record *t = &x->ticket[n];
        const hd_batch *b = &x->s->part[t->stream].batch;
        bool mine = t->item < b->n && b->key[t->item] == k->key; /* JUDGE_MOVE is no item */
        if (mine) happen(x, b, t->item, (hd_outcome)t->what);
        if (n + 1 == from || (mine && n + 1 > from)) so = so || is_so(x, value);
    }
    return so;
}

/* After all of them one that has none, or a batch without keys. */
static bool so_by_others(crashed *x, const crashed_key *of, const uint8_t *value)
{
    bool so = false;
    for (uint32_t k = 0; k < x->s->parts; k++) {
        const hd_batch *b = &x->s->part[k].batch;
        for (uint64_t i = 0; judge_keyed_batch(b) && i < b->n && !so; i++) {
            if (b->key[i] != of->key || has_ticket(x, k, i)) continue;
            so_by_tickets(x, of, value, true);
            const judge_op *r = &judge_ops[judge_item_op(b, i)];
            happen(x, b, i, x->there ? r->present : r->enters ? HD_INSERTED : HD_MISS);
            so = is_so(x, value);
        }
        if (judge_keyed_batch(b)) continue;
        so_by_tickets(x, of, value, true);
        happen_to_all(x, b, of->key);
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

static const char *check_key(crashed *x, const crashed_key *k)
{
    const char *items = x->ended ? "all items of the batch" : "no order of the items on it that had begun";
    uint64_t shown = 0;
    if (k->times > 1)
        return fixture_say(x->a->why, "after recovery key 0x%" PRIx64 " is in %u places", k->key, k->times);
    const uint8_t *value = k->times ? value_of(x, x->a->now, k->now) : NULL;
    bool tell = tickets_tell(x), begun = x->grown || !x->s->growth_memories;
    if (so_by_tickets(x, k, value, tell) || (!tell && begun && so_by_others(x, k, value))) return NULL;
    if (!value)
        return fixture_say(x->a->why, "after recovery key 0x%" PRIx64 " is gone, %s %s", k->key,
                           x->ended ? "and it should be there after" : "which is right after", items);
    if (x->s->value_bytes) memcpy(&shown, value, x->s->value_bytes < WORD ? x->s->value_bytes : WORD);
    return fixture_say(x->a->why, "after recovery key 0x%" PRIx64 " has the value 0x%" PRIx64 ", %s %s", k->key, shown,
                       x->ended ? "which is wrong after" : "which is right after", items);
}

static const char *check_keys(crashed *x)
{
    x->keys = 0;
    find_then(x);
    const char *why = find_now(x);
    for (size_t i = 0; i < x->keys && !why; i++) why = check_key(x, &x->key[i]);
    return why;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static const char *judge(crashed *x)
{
    lose_the_rest(x);
    const char *why = recover(x);
    copy_kept(x, x->after, false);
    if (!why) why = fixture_check(x->s, x->a->now, x->a->why);
    if (!why) why = check_keys(x);
    return why ? why : check_again(x);
}

/* Memory for it: all at once, from x->key on. false: there is none. */
static bool furnish(crashed *x)
{
    uint64_t keys = fixture_places(x->a->d, x->a->then);
    for (uint32_t k = 0; k < x->s->parts; k++) keys += x->s->part[k].batch.n;
    x->kept = copy_kept(x, NULL, false);
    x->key = (crashed_key *)malloc(keys * sizeof *x->key + 2 * x->kept + x->s->value_bytes + 1);
    if (!x->key) return false;
    x->image = (uint8_t *)(x->key + keys);
    x->after = x->image + x->kept;
    x->value = x->after + x->kept;
    return true;
}

static bool runs_in_grown(const fixture *s) { return s->growth_memories && s->part[0].kernel->then_runs; }

const char *crash_judge(void *context, simt_machine *m, const simt_crash *crash, bool ended)
{
    comparison *a = (comparison *)context;
    crashed x = { .a = a, .s = a->s, .ended = ended };
    (void)m;
    x.ticket = simt_crash_tickets(crash, &x.tickets, &x.settled);
    x.grown = runs_in_grown(x.s) && simt_crash_launches(crash) >= x.s->growth_launches;
    fixture_view(x.s, x.s->initial, a->then);
    if (!furnish(&x)) return "no memory to judge a crash";
    copy_kept(&x, x.image, false);
    const char *why = judge(&x);
    if (!why && ended && x.s->growth_memories && !x.grown) {
        x.grown = true;
        copy_kept(&x, x.image, true);
        why = judge(&x);
    }
    free(x.key);
    return why;
}

/* After a growth without a crash. */
static const char *grown_judge(void *context, simt_machine *m)
{
    comparison *a = (comparison *)context;
    crashed x = { .a = a, .s = a->s, .ended = true, .grown = true };
    x.ticket = simt_machine_tickets(m, &x.tickets);
    x.settled = x.tickets;
    fixture_view(x.s, x.s->initial, a->then);
    if (!furnish(&x)) return "no memory to judge a growth";
    memcpy(a->now, x.s->part[0].args, fixture_table_size(a->d));
    const char *why = fixture_check(x.s, a->now, a->why);
    if (!why) why = check_keys(&x);
    free(x.key);
    return why;
}

simt_trial crash_trial(comparison *a)
{
    simt_trial t = comparison_trial(a);
    if (a->s->growth_memories) t.judge = grown_judge;
    return t;
}

hd_status crash_recovery(const comparison *a, simt_recovery *r)
{
    if (!a->d->recover) return hd_fail(HD_EINVAL, "design %s recovers nothing after a crash", a->d->name);
    *r = (simt_recovery){ .recover = crash_judge };
    return HD_OK;
}

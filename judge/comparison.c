/* SPDX-License-Identifier: Apache-2.0
 *
 * comparison.c - judges one run: see comparison.h.
 */
#include "judge/comparison.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/design.h"
#include "judge/rules.h"
#include "base/error.h"

struct comparison {
    fixture *s;
    const judge_design *d; /* s's */
    bool weak;             /* runs have store buffers */
    /* (fixture_table_size) the reference's table; the kernels' table before the run and after it */
    void *model, *then, *now;
    uint8_t *model_memory;      /* (table_bytes) */
    uint8_t *seen;              /* (table_bytes) the table when it was last watched and had no fault ... */
    bool has_seen;              /* ... if it was */
    uint64_t *occupant;         /* (places) the key at each place, by the tickets; HD_KEY_EMPTY: none */
    bool *drawn[FIXTURE_PARTS]; /* (n) has a ticket */
    /* (n) of items that change nothing (any_moment): their answer was right at some moment */
    bool *settled[FIXTURE_PARTS];
    judge_listing *list[FIXTURE_PARTS];   /* (n) */
    uint8_t *list_value[FIXTURE_PARTS];   /* (n, value_bytes) */
    judge_arrays expected[FIXTURE_PARTS]; /* of the reference in item order */
    uint32_t deaf, objector;
    char why[JUDGE_SENTENCE];
};

static const char *part_name(const comparison *a, uint32_t k)
{
    static _Thread_local char name[64];
    const fixture_part *p = &a->s->part[k];
    snprintf(name, sizeof name, "%s%s.%s", a->s->parts > 1 ? (k ? "second: " : "first: ") : "",
             judge_batch_name(&p->batch), p->kernel->name);
    return name;
}

static bool keyed(const fixture_part *p) { return judge_keyed_batch(&p->batch); }
static bool reads(const fixture_part *p) { return !p->batch.each && keyed(p) && judge_ops[p->batch.op].reads; }
static bool ordered(const fixture_part *p) { return keyed(p) && p->kernel->strictness <= FIXTURE_CHOICE; }

/* ---- One item -------------------------------------------------------------------------------- */

/* Checks the place of an item's ticket against the places so far, and updates them. */
static const char *move_in(comparison *a, const simt_ticket_record *t, uint64_t key, hd_outcome o)
{
    bool stays = o == HD_HIT || o == HD_UPDATED || o == HD_PINNED, comes = o == HD_INSERTED || o == HD_EVICTED;
    if (a->d->shifts || (!stays && !comes && o != HD_ERASED)) return NULL;
    if (t->b >= fixture_places(a->d, a->s->table)) return "its ticket names no entry of the table";
    uint64_t *there = &a->occupant[t->b], before = stays || o == HD_ERASED ? key
                                                   : o == HD_EVICTED       ? t->a
                                                                           : HD_KEY_EMPTY;
    if (*there != before)
        return o == HD_INSERTED ? "it took a slot that was not empty"
                                : "its ticket names an entry that held another key";
    if (comes) *there = key;
    if (o == HD_ERASED) *there = HD_KEY_EMPTY;
    return NULL;
}

/* Whether a keyed part has items that can take effect at an unknown moment. */
static bool any_moments(const comparison *a, uint32_t k) { return a->s->part[k].batch.each || a->d->move; }

/* Whether any moment of the batch will do for an item: it changed nothing while others inserted, erased or moved, so
 * its ticket does not say when it took effect. */
static bool any_moment(const comparison *a, uint32_t k, uint64_t i)
{
    const hd_batch *b = &a->s->part[k].batch;
    if (!any_moments(a, k)) return false;
    bool rescored = !judge_ops[judge_item_op(b, i)].reads && fixture_scores(a->s) != JUDGE_NO_SCORES;
    return b->outcome[i] == HD_MISS || (b->outcome[i] == HD_HIT && !rescored) || b->outcome[i] == HD_PENDING ||
           b->outcome[i] == HD_RESERVED;
}

/* The key's place, by the tickets; fixture_places: it is in none. */
static uint64_t place_of(const comparison *a, uint64_t key)
{
    uint64_t e = 0, places = fixture_places(a->d, a->s->table);
    while (e < places && a->occupant[e] != key) e++;
    return e;
}

/* Whether an item delivered a pointer to another entry. A reader without a ticket is not checked: the place of its
 * key at that moment is unknown. */
static bool points_elsewhere(const comparison *a, uint32_t k, uint64_t i, const simt_ticket_record *t)
{
    const hd_batch *b = &a->s->part[k].batch;
    if (!judge_delivers_ptr(judge_item_op(b, i), (hd_outcome)b->outcome[i]) || (!t && !any_moment(a, k, i)))
        return false;
    if (b->op == HD_OP_FIND_OR_INSERT_PTR) return false; /* check_pointers */
    uint64_t e = t ? t->b : place_of(a, b->key[i]);
    return e == fixture_places(a->d, a->s->table) || b->ptr[i] != (void *)a->d->value_at(a->s->table, e);
}

/* What `found` should be for an item that takes effect now. */
static judge_found finds(const comparison *a, uint32_t k, uint64_t i)
{
    const hd_batch *b = &a->s->part[k].batch;
    judge_found should = judge_finds(judge_item_op(b, i), (hd_outcome)b->outcome[i]);
    if (should != JUDGE_EITHER) return should;
    return place_of(a, b->key[i]) < fixture_places(a->d, a->s->table) ? JUDGE_PRESENT : JUDGE_ABSENT;
}

/* An item takes effect on the reference's table. t: its ticket, or NULL for one that needs none. */
static const char *accept_item(comparison *a, uint32_t k, uint64_t i, const simt_ticket_record *t)
{
    const hd_batch *b = &a->s->part[k].batch;
    hd_outcome o = (hd_outcome)b->outcome[i];
    const judge_found should = finds(a, k, i);
    const char *why = fixture_accept(a->s, a->model, k, i, t, &a->list[k][i]);
    if (!why && t) why = move_in(a, t, b->key[i], o);
    if (!why && b->found && judge_found_byte(b, i) != (uint8_t)should)
        why = should == JUDGE_PRESENT ? "the key was present, and found is not true"
                                      : "the key was absent, and found is not false";
    if (!why && points_elsewhere(a, k, i, t)) why = "its pointer shows another entry's value";
    return why;
}

/* ---- All items, in the order of their tickets ------------------------------------------------ */

/* A ticket of JUDGE_MOVE: an entry went from one place to another. */
static const char *take_move(comparison *a, const simt_ticket_record *t)
{
    uint64_t places = fixture_places(a->d, a->s->table);
    if (t->a >= places || t->b >= places)
        return fixture_say(a->why, "a ticket for a move from place %" PRIu64 " to %" PRIu64 " of %" PRIu64, t->a, t->b,
                           places);
    uint64_t key = a->occupant[t->a];
    const char *why = key == HD_KEY_EMPTY                 ? "no entry was there"
                      : a->occupant[t->b] != HD_KEY_EMPTY ? "its new place was not empty"
                                                          : a->d->move(a->model, t->a, t->b);
    if (why) {
        char from[64], to[64];
        return fixture_say(a->why, "a move from %s to %s: %s",
                           fixture_place(a->d, a->s->table, t->a, from, sizeof from),
                           fixture_place(a->d, a->s->table, t->b, to, sizeof to), why);
    }
    a->occupant[t->b] = key;
    a->occupant[t->a] = HD_KEY_EMPTY;
    return NULL;
}

static const char *take_ticket(comparison *a, const simt_ticket_record *t)
{
    uint32_t k = t->stream;
    if (k >= a->s->parts) return fixture_say(a->why, "a ticket of stream %" PRIu32 ", where nothing runs", k);
    const fixture_part *p = &a->s->part[k];
    if (t->item == JUDGE_MOVE && a->d->move) return take_move(a, t);
    if (t->item >= p->batch.n)
        return fixture_say(a->why, "%s: a ticket for item %" PRIu64 " of %" PRIu64, part_name(a, k), t->item,
                           p->batch.n);
    if (a->drawn[k][t->item])
        return fixture_say(a->why, "%s: item %" PRIu64 " (key %" PRIx64 ") took effect twice", part_name(a, k), t->item,
                           p->batch.key[t->item]);
    a->drawn[k][t->item] = true;
    if (t->what != p->batch.outcome[t->item])
        return fixture_say(a->why, "%s: item %" PRIu64 " (key %" PRIx64 ") was %s, but %s was delivered",
                           part_name(a, k), t->item, p->batch.key[t->item], hd_outcome_name((hd_outcome)t->what),
                           hd_outcome_name((hd_outcome)p->batch.outcome[t->item]));
    const char *why = any_moment(a, k, t->item) ? NULL : accept_item(a, k, t->item, t);
    return why ? fixture_say(a->why, "%s: item %" PRIu64 " (key %" PRIx64 ", %s): %s", part_name(a, k), t->item,
                             p->batch.key[t->item], hd_outcome_name((hd_outcome)t->what), why)
               : NULL;
}

/* Settles each item whose answer is right at this moment. key: the items of this key; NULL: all. */
static void settle(comparison *a, const uint64_t *key)
{
    for (uint32_t k = 0; k < a->s->parts; k++) {
        const hd_batch *b = &a->s->part[k].batch;
        for (uint64_t i = 0; i < b->n && any_moments(a, k); i++) {
            /* another key may have taken the last room */
            bool now = !key || b->key[i] == *key || b->outcome[i] == HD_PENDING;
            if (!a->settled[k][i] && now && any_moment(a, k, i)) a->settled[k][i] = !accept_item(a, k, i, NULL);
        }
    }
}

/* After a ticket. */
static void settle_after(comparison *a, const simt_ticket_record *t)
{
    if (t->item == JUDGE_MOVE)
        settle(a, NULL);
    else
        settle(a, &a->s->part[t->stream].batch.key[t->item]);
}

/* Items without a ticket. Readers and reserved keys need none, and their order does not matter. */
static const char *take_others(comparison *a, uint32_t k)
{
    const fixture_part *p = &a->s->part[k];
    for (uint64_t i = 0; i < p->batch.n; i++) {
        if (a->settled[k][i] || (a->drawn[k][i] && !any_moment(a, k, i))) continue;
        bool never = any_moment(a, k, i), idle = reads(p) || never || p->batch.outcome[i] == HD_RESERVED;
        const char *why = idle ? accept_item(a, k, i, NULL) : "it never took effect";
        if (why && never)
            return fixture_say(a->why,
                               "%s: item %" PRIu64 " (key %" PRIx64
                               ", %s %s): true at no moment of the batch; at its end: %s",
                               part_name(a, k), i, p->batch.key[i], hd_op_name(judge_item_op(&p->batch, i)),
                               hd_outcome_name((hd_outcome)p->batch.outcome[i]), why);
        if (why)
            return fixture_say(a->why, "%s: item %" PRIu64 " (key %" PRIx64 ", %s): %s", part_name(a, k), i,
                               p->batch.key[i], hd_outcome_name((hd_outcome)p->batch.outcome[i]), why);
    }
    return NULL;
}

/* Replays all tickets in order. All parts are ordered. */
static const char *replay(comparison *a, const simt_machine *m)
{
    size_t n;
    const simt_ticket_record *t = simt_machine_tickets(m, &n);
    for (uint32_t k = 0; k < a->s->parts; k++) {
        memset(a->drawn[k], 0, a->s->part[k].batch.n * sizeof *a->drawn[k]);
        memset(a->settled[k], 0, a->s->part[k].batch.n * sizeof *a->settled[k]);
        for (uint64_t i = 0; i < a->s->part[k].batch.n; i++) a->list[k][i].listed = false;
    }
    const char *why = NULL;
    settle(a, NULL);
    for (size_t i = 0; i < n && !why; i++) {
        why = take_ticket(a, &t[i]);
        if (!why) settle_after(a, &t[i]);
    }
    for (uint32_t k = 0; k < a->s->parts && !why; k++) why = take_others(a, k);
    return why;
}

/* ---- Lists and counts of keyed batches ------------------------------------------------------- */

static const char *check_list(comparison *a, uint32_t k)
{
    const fixture_part *p = &a->s->part[k];
    const hd_batch *b = &p->batch;
    uint32_t bytes = a->s->value_bytes;
    uint64_t at = 0;
    if (b->each || !judge_ops[b->op].list) return NULL;
    for (uint64_t i = 0; i < b->n; i++) {
        const judge_listing *l = &a->list[k][i];
        if (!l->listed) continue;
        const char *why = at >= *b->count             ? "is missing from the list"
                          : b->list_item[at] != i     ? "is not the next of the list"
                          : b->list_key[at] != l->key ? "listed another key"
                                                      : NULL;
        if (!why && b->op == HD_OP_INSERT_AND_EVICT) {
            if (b->list_score[at] != l->score)
                why = "listed a wrong score";
            else if (bytes && memcmp((const uint8_t *)b->list_value + at * bytes, l->value, bytes) != 0)
                why = "listed a wrong value";
        }
        if (why)
            return fixture_say(a->why, "%s: item %" PRIu64 " (key %" PRIx64 ", %s) %s", part_name(a, k), i, b->key[i],
                               hd_outcome_name((hd_outcome)b->outcome[i]), why);
        at++;
    }
    return *b->count == at ? NULL
                           : fixture_say(a->why, "%s: the list has %" PRIu64 " entries, and should have %" PRIu64,
                                         part_name(a, k), *b->count, at);
}

/* The operations of a mixed batch, as its kernel counted them. */
static const char *check_op_tally(comparison *a, uint32_t k)
{
    const fixture_part *p = &a->s->part[k];
    uint64_t op[HD_OP_COUNT_] = { 0 };
    for (uint64_t i = 0; i < p->batch.n; i++) op[p->batch.each[i]]++;
    for (int o = 0; o < HD_OP_COUNT_; o++)
        if (op[o] != p->op_tally[o])
            return fixture_say(a->why, "%s: %" PRIu64 " items are %s, but %" PRIu64 " were counted", part_name(a, k),
                               op[o], hd_op_name((hd_op)o), p->op_tally[o]);
    return NULL;
}

static const char *check_tally(comparison *a, uint32_t k)
{
    const fixture_part *p = &a->s->part[k];
    uint64_t outcome[HD_OUTCOME_COUNT] = { 0 };
    for (uint64_t i = 0; keyed(p) && i < p->batch.n; i++) outcome[p->batch.outcome[i]]++;
    for (int o = 0; o < HD_OUTCOME_COUNT; o++)
        if (outcome[o] != p->tally[o])
            return fixture_say(a->why, "%s: %" PRIu64 " items were %s, but %" PRIu64 " were counted", part_name(a, k),
                               outcome[o], hd_outcome_name((hd_outcome)o), p->tally[o]);
    return p->op_tally && p->batch.each ? check_op_tally(a, k) : NULL;
}

/* ---- Against the reference in item order ----------------------------------------------------- */

static void run_reference(comparison *a, uint32_t k)
{
    fixture_part *p = &a->s->part[k];
    hd_batch b = p->batch;
    const uint64_t *key = b.key, *score = b.score;
    const uint8_t *flag = b.flag;
    const void *value = b.value;
    judge_arrays_lend(&a->expected[k], &b);
    if (!p->batch.found) b.found = NULL;
    judge_arrays_arm(&a->expected[k]);
    b.key = key;
    b.score = score;
    b.flag = flag;
    b.value = value;
    b.key2 = p->batch.key2;
    fixture_apply(a->s, a->model, k, &b);
    for (uint64_t i = 0; keyed(p) && i < b.n; i++)
        if (judge_delivers_ptr(judge_item_op(&b, i), (hd_outcome)b.outcome[i]) && b.ptr[i])
            b.ptr[i] = a->s->memory + ((uint8_t *)b.ptr[i] - a->model_memory);
}

/* What find_or_insert_ptr returned: the address of the entry that the item's ticket names, if the entry has the item's
 * key at the end, and NULL if not. Another part may have changed that since; then either will do. */
static const char *check_pointers(comparison *a, const simt_machine *m)
{
    size_t n;
    const simt_ticket_record *t = simt_machine_tickets(m, &n);
    for (size_t at = 0; at < n; at++) {
        if (t[at].item == JUDGE_MOVE || t[at].what == HD_RESERVED) continue;
        const hd_batch *b = &a->s->part[t[at].stream].batch;
        uint64_t i = t[at].item, e = t[at].b;
        if (b->each || b->op != HD_OP_FIND_OR_INSERT_PTR) continue;
        bool there = t[at].what != HD_REFUSED && a->occupant[e] == b->key[i];
        const void *p = b->ptr[i], *its = t[at].what == HD_REFUSED ? NULL : a->d->value_at(a->s->table, e);
        if (p == (there ? its : NULL) || (a->s->parts > 1 && (!p || p == its))) continue;
        return fixture_say(a->why, "%s: item %" PRIu64 " (key %" PRIx64 ", %s): %s", part_name(a, t[at].stream), i,
                           b->key[i], hd_outcome_name((hd_outcome)t[at].what),
                           !p      ? "its pointer is NULL, and its entry is there"
                           : there ? "its pointer shows another entry's value"
                                   : "it has a pointer, and its key has no entry");
    }
    return NULL;
}

static const char *check_exact(comparison *a, uint32_t k)
{
    const judge_arrays *got = &a->s->part[k].arrays, *want = &a->expected[k];
    for (int x = JUDGE_OUTCOME; x <= JUDGE_COUNT; x++) {
        const uint8_t *g = (const uint8_t *)judge_arrays_at(got, (judge_array)x),
                      *w = (const uint8_t *)judge_arrays_at(want, (judge_array)x);
        for (size_t i = 0; i < got->used[x]; i++)
            if (g[i] != w[i])
                return fixture_say(a->why, "%s: byte %zu of %s is not the reference's", part_name(a, k), i,
                                   judge_array_name((judge_array)x));
    }
    return NULL;
}

/* ---- Contents -------------------------------------------------------------------------------- */

enum { ENTRY_TEXT = 128 };

/* Of an entry in words the part in which it differs: "value 0x7737" of "5 score 17 value 7737". */
static void differing_part(char entry[ENTRY_TEXT], const char *why)
{
    char whole[ENTRY_TEXT];
    const char *part = strstr(strcpy(whole, entry), strstr(why, "score") ? "score " : "value ");
    if (part && strncmp(part, "value ", 6) == 0)
        snprintf(entry, ENTRY_TEXT, "value 0x%s", part + 6);
    else if (part)
        strcpy(entry, part);
}

/* Entry e, and the reference's entry of the key, if it has one. */
static const char *say_differs(comparison *a, uint64_t e, const char *why)
{
    const judge_design *d = a->d;
    const void *v = a->s->table;
    char name[64], here[ENTRY_TEXT], there[ENTRY_TEXT];
    uint64_t key = d->key_at(v, e), places = fixture_places(d, a->model), other = 0;
    while (other < places && d->key_at(a->model, other) != key) other++;
    fixture_place(d, v, e, name, sizeof name);
    if (other == places) return fixture_say(a->why, "%s: key 0x%" PRIx64 " %s the reference's", name, key, why);
    fixture_describe(d, v, e, here, sizeof here);
    fixture_describe(d, a->model, other, there, sizeof there);
    differing_part(here, why);
    differing_part(there, why);
    return fixture_say(a->why, "%s: key 0x%" PRIx64 " %s the reference's: expected %s, found %s", name, key, why, there,
                       here);
}

static const char *check_contents(comparison *a)
{
    const judge_design *d = a->d;
    const void *v = a->s->table;
    char name[64];
    uint64_t all[2] = { 0, 0 };
    for (uint64_t b = 0; b < d->buckets(v); b++) {
        for (uint64_t e = d->first(v, b); e < d->first(v, b + 1); e++) {
            if (d->key_at(v, e) >= HD_KEY_RESERVED) continue;
            const char *why = fixture_differs(d, v, a->model, e);
            if (why) return say_differs(a, e, why);
        }
        uint64_t here = fixture_entries(d, v, b), there = fixture_entries(d, a->model, b);
        if (here != there && !d->roams)
            return fixture_say(a->why, "%s has %" PRIu64 " entries, and should have %" PRIu64,
                               fixture_bucket(d, v, b, name, sizeof name), here, there);
        all[0] += here;
        all[1] += there;
    }
    return all[0] == all[1]
               ? NULL
               : fixture_say(a->why, "the table has %" PRIu64 " entries, and should have %" PRIu64, all[0], all[1]);
}

static const char *check_slots(comparison *a)
{
    const void *v = a->s->table;
    char name[64];
    for (uint64_t e = 0; !a->d->shifts && e < fixture_places(a->d, v); e++)
        if (a->d->key_at(v, e) != a->occupant[e])
            return fixture_say(a->why, "%s: key %" PRIx64 " where the tickets put %" PRIx64,
                               fixture_place(a->d, v, e, name, sizeof name), a->d->key_at(v, e), a->occupant[e]);
    return NULL;
}

static const char *check_beside(comparison *a)
{
    return a->d->beside ? a->d->beside(a->s, a->model, a->now, a->why) : NULL;
}
static const char *check_promised(comparison *a, uint32_t k)
{
    return a->d->promised ? a->d->promised(a->s, a->model, k, a->why) : NULL;
}

/* Entries before + inserted = entries after + erased. An eviction or a refusal leaves the number as it is. */
static const char *check_conservation(comparison *a)
{
    uint64_t before = 0, after = 0, inserted = 0, erased = 0;
    for (uint64_t b = 0; b < a->d->buckets(a->s->table); b++) after += fixture_entries(a->d, a->s->table, b);
    for (uint64_t b = 0; b < a->d->buckets(a->then); b++) before += fixture_entries(a->d, a->then, b);
    for (uint32_t k = 0; k < a->s->parts; k++) {
        const fixture_part *p = &a->s->part[k];
        if (!keyed(p)) return NULL;
        for (uint64_t i = 0; i < p->batch.n; i++) {
            inserted += p->batch.outcome[i] == HD_INSERTED;
            erased += p->batch.outcome[i] == HD_ERASED;
        }
    }
    return before + inserted == after + erased
               ? NULL
               : fixture_say(a->why,
                             "%" PRIu64 " entries, %" PRIu64 " more inserted, %" PRIu64 " erased, and now %" PRIu64,
                             before, inserted, erased, after);
}

static const char *check_rest(comparison *a)
{
    const char *why = a->d->idle ? a->d->idle(a->s, a->why) : NULL, *beside = why ? NULL : fixture_guards(a->s);
    if (beside) why = fixture_say(a->why, "bytes beside the plane '%s' were written", beside);
    return why ? why : fixture_check(a->s, a->now, a->why);
}

/* ---- The judgement --------------------------------------------------------------------------- */

static void begin_again(comparison *a)
{
    const fixture *s = a->s;
    memcpy(a->model_memory, s->initial, s->table_bytes);
    fixture_view(s, a->model_memory, a->model);
    for (uint64_t e = 0; e < fixture_places(a->d, a->model); e++) a->occupant[e] = a->d->key_at(a->model, e);
}

static const char *check_parts(comparison *a, const char *(*check)(comparison *, uint32_t))
{
    const char *why = NULL;
    for (uint32_t k = 0; k < a->s->parts && !why; k++) why = check(a, k);
    return why;
}

static const char *arrays_clean(comparison *a, uint32_t k)
{
    return judge_arrays_check(&a->s->part[k].arrays, &a->s->part[k].batch);
}

void comparison_deafen(comparison *a, uint32_t parts) { a->deaf = parts; }
uint32_t comparison_objector(const comparison *a) { return a->objector; }

static const char *heard(comparison *a, uint32_t part, const char *objection)
{
    if (!objection || (a->deaf & part)) return NULL;
    a->objector = part;
    return objection;
}

/* How strictly the parts together can be compared with the reference. */
typedef struct strictness {
    bool tickets;   /* all items that change something draw tickets */
    bool by_item;   /* some part is judged in item order                         */
    bool reference; /* contents are the reference's                              */
    bool bytes;     /* outputs are the reference's in item order, byte by byte   */
} strictness;

static strictness strictness_of(const fixture *s)
{
    strictness all = { .tickets = true, .by_item = false, .reference = true, .bytes = true };
    for (uint32_t k = 0; k < s->parts; k++) {
        const fixture_part *p = &s->part[k];
        bool exact = p->kernel->strictness == FIXTURE_EXACT;
        all.tickets = all.tickets && ordered(p);
        all.by_item = all.by_item || !ordered(p) || exact;
        all.bytes = all.bytes && (exact || reads(p));
        all.reference = all.reference && p->kernel->strictness != FIXTURE_SHAPE;
    }
    return all;
}

/* *told: the model holds what the table should hold. */
static const char *judge_in_ticket_order(comparison *a, simt_machine *m, bool *told)
{
    const char *first = replay(a, m);
    if (!first) first = check_slots(a);
    if (first) return heard(a, COMPARISON_TICKETS, first);
    *told = true;
    const char *why = heard(a, COMPARISON_CONTENTS, check_contents(a));
    if (!why) why = heard(a, COMPARISON_TICKETS, check_pointers(a, m));
    return why ? why : heard(a, COMPARISON_LISTS, check_parts(a, check_list));
}

static const char *judge_in_item_order(comparison *a, const strictness *all)
{
    begin_again(a);
    for (uint32_t k = 0; k < a->s->parts; k++) run_reference(a, k);
    const char *why = all->bytes ? check_parts(a, check_exact) : NULL;
    if (!why && all->reference) why = check_contents(a);
    return heard(a, COMPARISON_CONTENTS, why);
}

const char *comparison_judge(void *context, simt_machine *m)
{
    comparison *a = (comparison *)context;
    const fixture *s = a->s;
    const strictness all = strictness_of(s);
    fixture_view(s, s->initial, a->then);
    fixture_view(s, s->memory, a->now);
    begin_again(a);
    const char *why = heard(a, COMPARISON_ARRAYS, check_parts(a, arrays_clean));
    bool told = all.by_item; /* the model holds what the table should hold */
    if (!why && all.tickets) why = judge_in_ticket_order(a, m, &told);
    if (!why && all.by_item) why = judge_in_item_order(a, &all);
    if (!why && all.reference && told) why = heard(a, COMPARISON_CONTENTS, check_beside(a));
    if (!why) why = heard(a, COMPARISON_CONTENTS, check_parts(a, check_promised));
    if (!why) why = heard(a, COMPARISON_COUNTS, check_conservation(a));
    if (!why) why = heard(a, COMPARISON_COUNTS, check_parts(a, check_tally));
    return why ? why : heard(a, COMPARISON_REST, check_rest(a));
}

/* ---- In flight ------------------------------------------------------------------------------- */

const char *comparison_watch(void *context)
{
    comparison *a = (comparison *)context;
    const fixture *s = a->s;
    if (a->has_seen && memcmp(a->seen, s->memory, s->table_bytes) == 0) return NULL; /* most steps change nothing */
    const char *why = fixture_watch(s, a->has_seen ? a->seen : NULL, a->weak, a->why);
    a->has_seen = !why;
    if (!why) memcpy(a->seen, s->memory, s->table_bytes);
    return why;
}

/* An operation on the whole table runs alone, takes no lock, and may change slots in any order. */
static bool alone(const comparison *a) { return judge_ops[a->s->part[0].batch.op].changes && !keyed(&a->s->part[0]); }

void comparison_watch_with(comparison *a, simt_config *c, uint32_t n)
{
    if (alone(a)) n = 0;
    a->has_seen = false;
    a->weak = c->weak;
    c->watch = n ? comparison_watch : NULL;
    c->context = a;
    c->watch_every = n;
}

/* ---- Open and close -------------------------------------------------------------------------- */

static hd_status prepare(void *context, simt_machine *m) { return fixture_prepare(((comparison *)context)->s, m); }

simt_trial comparison_trial(comparison *a)
{
    simt_trial t = { a, prepare, comparison_judge, NULL };
    return t;
}

hd_status comparison_run(comparison *a, simt_machine *m, const simt_config *c, const char **why)
{
    simt_machine_forget(m);
    hd_status status = fixture_prepare(a->s, m);
    *why = NULL;
    if (status) return status;
    bool ran = simt_machine_run(m, c);
    const simt_finding *f = simt_machine_finding(m);
    if (!ran && f->fault == SIMT_RESOURCE) return hd_fail(HD_ENOMEM, "%s", f->story);
    *why = ran ? comparison_judge(a, m) : f->story;
    return HD_OK;
}

/* Allocates the comparison's memory; false: there is none. */
static bool furnish(comparison *a)
{
    const fixture *s = a->s;
    uint64_t places = a->d->places ? a->d->places(s) : fixture_places(a->d, s->table);
    a->model_memory = (uint8_t *)aligned_alloc(128, (s->table_bytes + 127) / 128 * 128);
    a->seen = (uint8_t *)malloc(s->table_bytes);
    a->occupant = (uint64_t *)calloc(places, sizeof *a->occupant);
    a->model = calloc(1, fixture_table_size(a->d));
    a->then = calloc(1, fixture_table_size(a->d));
    a->now = calloc(1, fixture_table_size(a->d));
    bool there = a->model_memory && a->seen && a->occupant && a->model && a->then && a->now;
    for (uint32_t k = 0; k < s->parts && there; k++) {
        uint64_t n = s->part[k].batch.n + 1;
        a->drawn[k] = (bool *)calloc(n, sizeof *a->drawn[k]);
        a->settled[k] = (bool *)calloc(n, sizeof *a->settled[k]);
        a->list[k] = (judge_listing *)calloc(n, sizeof *a->list[k]);
        a->list_value[k] = (uint8_t *)calloc(n, s->value_bytes + 1u);
        there = a->drawn[k] && a->settled[k] && a->list[k] && a->list_value[k] &&
                judge_arrays_open(&a->expected[k], s->part[k].arrays.most, s->value_bytes);
        a->expected[k].skew = s->part[k].arrays.skew; /* poison depends on the address, and is compared, too */
        for (uint64_t i = 0; i < n && there; i++) a->list[k][i].value = a->list_value[k] + i * s->value_bytes;
    }
    return there;
}

hd_status comparison_open(fixture *s, comparison **out)
{
    comparison *a = (comparison *)calloc(1, sizeof *a);
    if (a) {
        a->s = s;
        a->d = s->design;
    }
    if (!a || !furnish(a)) {
        if (a)
            comparison_close(a);
        else
            fixture_close(s);
        return hd_fail(HD_ENOMEM, "case: no memory for its judge");
    }
    begin_again(a);
    *out = a;
    return HD_OK;
}

void comparison_close(comparison *a)
{
    if (!a) return;
    for (uint32_t k = 0; k < FIXTURE_PARTS; k++) {
        free(a->drawn[k]);
        free(a->settled[k]);
        free(a->list[k]);
        free(a->list_value[k]);
        judge_arrays_close(&a->expected[k]);
    }
    free(a->model_memory);
    free(a->seen);
    free(a->occupant);
    free(a->model);
    free(a->then);
    free(a->now);
    fixture_close(a->s);
    free(a);
}

size_t comparison_draw(const comparison *a, char *text, size_t bytes)
{
    return fixture_draw(a->d, a->s->table, "the kernel's table", a->model, "the reference's", text, bytes);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * comparison_tickets.c - replays the items of a run on the reference's table in the order of their tickets.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "judge/comparison_parts.h"

const char *comparison_part(const comparison *a, uint32_t k)
{
    static _Thread_local char name[64];
    const fixture_part *p = &a->s->part[k];
    snprintf(name, sizeof name, "%s%s.%s", a->s->parts > 1 ? (k ? "second: " : "first: ") : "",
             judge_batch_name(&p->batch), p->kernel->name);
    return name;
}

/* ---- One item -------------------------------------------------------------------------------- */

/* Checks the place of an item's ticket against the places so far, and updates them. */
static const char *move_in(comparison *a, const simt_ticket_record *t, uint64_t key, hd_outcome o)
{
    bool stays = o == HD_HIT || o == HD_UPDATED || o == HD_PINNED, comes = o == HD_INSERTED || o == HD_EVICTED;
    if (!stays && !comes && o != HD_ERASED) return NULL;
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
    if (!why && t && !a->d->shifts) why = move_in(a, t, b->key[i], o);
    if (!why && b->found && judge_found_byte(b, i) != (uint8_t)should)
        why = should == JUDGE_PRESENT ? "the key was present, and found is not true"
                                      : "the key was absent, and found is not false";
    if (!why && points_elsewhere(a, k, i, t)) why = "its pointer shows another entry's value";
    return why;
}

/* ---- All items ------------------------------------------------------------------------------- */

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
        return fixture_say(a->why, "%s: a ticket for item %" PRIu64 " of %" PRIu64, comparison_part(a, k), t->item,
                           p->batch.n);
    if (a->drawn[k][t->item])
        return fixture_say(a->why, "%s: item %" PRIu64 " (key %" PRIx64 ") took effect twice", comparison_part(a, k),
                           t->item, p->batch.key[t->item]);
    a->drawn[k][t->item] = true;
    if (t->what != p->batch.outcome[t->item])
        return fixture_say(a->why, "%s: item %" PRIu64 " (key %" PRIx64 ") was %s, but %s was delivered",
                           comparison_part(a, k), t->item, p->batch.key[t->item], hd_outcome_name((hd_outcome)t->what),
                           hd_outcome_name((hd_outcome)p->batch.outcome[t->item]));
    const char *why = any_moment(a, k, t->item) ? NULL : accept_item(a, k, t->item, t);
    return why ? fixture_say(a->why, "%s: item %" PRIu64 " (key %" PRIx64 ", %s): %s", comparison_part(a, k), t->item,
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
        bool never = any_moment(a, k, i), idle = comparison_reads(p) || never || p->batch.outcome[i] == HD_RESERVED;
        const char *why = idle ? accept_item(a, k, i, NULL) : "it never took effect";
        if (why && never)
            return fixture_say(a->why,
                               "%s: item %" PRIu64 " (key %" PRIx64
                               ", %s %s): true at no moment of the batch; at its end: %s",
                               comparison_part(a, k), i, p->batch.key[i], hd_op_name(judge_item_op(&p->batch, i)),
                               hd_outcome_name((hd_outcome)p->batch.outcome[i]), why);
        if (why)
            return fixture_say(a->why, "%s: item %" PRIu64 " (key %" PRIx64 ", %s): %s", comparison_part(a, k), i,
                               p->batch.key[i], hd_outcome_name((hd_outcome)p->batch.outcome[i]), why);
    }
    return NULL;
}

const char *comparison_replay(comparison *a, const simt_machine *m)
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

/* ---- The places of the tickets --------------------------------------------------------------- */

const char *comparison_check_slots(comparison *a)
{
    const void *v = a->s->table;
    char name[64];
    for (uint64_t e = 0; !a->d->shifts && e < fixture_places(a->d, v); e++)
        if (a->d->key_at(v, e) != a->occupant[e])
            return fixture_say(a->why, "%s: key %" PRIx64 " where the tickets put %" PRIx64,
                               fixture_place(a->d, v, e, name, sizeof name), a->d->key_at(v, e), a->occupant[e]);
    return NULL;
}

const char *comparison_check_pointers(comparison *a, const simt_machine *m)
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
        return fixture_say(a->why, "%s: item %" PRIu64 " (key %" PRIx64 ", %s): %s", comparison_part(a, t[at].stream),
                           i, b->key[i], hd_outcome_name((hd_outcome)t[at].what),
                           !p      ? "its pointer is NULL, and its entry is there"
                           : there ? "its pointer shows another entry's value"
                                   : "it has a pointer, and its key has no entry");
    }
    return NULL;
}

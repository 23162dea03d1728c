/* SPDX-License-Identifier: Apache-2.0
 *
 * comparison_kept.c - what holds whatever victims a kernel chooses (FIXTURE_SHAPE): a key leaves the table only if an
 * item says that it evicted or erased it, and comes only with an item; a value is one that the key had or was given.
 */
#include <inttypes.h>
#include <string.h>

#include "judge/comparison_parts.h"

/* ---- Keys ------------------------------------------------------------------------------------ */

/* How often the key is in a table. */
static uint64_t times_in(const comparison *a, const void *table, uint64_t key)
{
    uint64_t n = 0, places = fixture_places(a->d, table);
    for (uint64_t e = 0; e < places; e++) n += a->d->key_at(table, e) == key;
    return n;
}

/* How many items brought the key, or erased it. */
static uint64_t times_of_items(const comparison *a, uint64_t key, bool came)
{
    uint64_t n = 0;
    for (uint32_t k = 0; k < a->s->parts; k++) {
        const hd_batch *b = &a->s->part[k].batch;
        for (uint64_t i = 0; i < b->n; i++) {
            hd_outcome o = (hd_outcome)b->outcome[i];
            n += b->key[i] == key && (came ? o == HD_INSERTED || o == HD_EVICTED : o == HD_ERASED);
        }
    }
    return n;
}

static uint64_t times_evicted(const simt_ticket_record *t, size_t n, uint64_t key)
{
    uint64_t times = 0;
    for (size_t i = 0; i < n; i++) times += t[i].item != JUDGE_MOVE && t[i].what == HD_EVICTED && t[i].a == key;
    return times;
}

/* What came is there, or has gone. */
static const char *check_key(comparison *a, const simt_machine *m, uint64_t key)
{
    size_t n;
    const simt_ticket_record *t = simt_machine_tickets(m, &n);
    uint64_t came = times_in(a, a->then, key) + times_of_items(a, key, true),
             went = times_evicted(t, n, key) + times_of_items(a, key, false), now = times_in(a, a->now, key);
    if (key >= HD_KEY_RESERVED || came == now + went) return NULL;
    return fixture_say(a->why, "key 0x%" PRIx64 " %s", key,
                       came > now + went ? "is gone, and no item says that it evicted or erased it"
                                         : "is in the table or left it, and no item brought it");
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Whether the entry at place e of the table has a value that its key had before, or that an item gave. A sum, and the
 * value behind a pointer, may be any. */
static bool value_is_known(const comparison *a, uint64_t e)
{
    const judge_design *d = a->d;
    const uint32_t bytes = a->s->value_bytes;
    const uint64_t key = d->key_at(a->now, e), places = fixture_places(d, a->then);
    const uint8_t *value = bytes && d->value_at ? d->value_at(a->now, e) : NULL;
    bool known = !value;
    for (uint64_t f = 0; f < places && !known; f++)
        known = d->key_at(a->then, f) == key && memcmp(d->value_at(a->then, f), value, bytes) == 0;
    for (uint32_t k = 0; k < a->s->parts; k++) {
        const hd_batch *b = &a->s->part[k].batch;
        for (uint64_t i = 0; i < b->n && !known; i++) {
            hd_op op = judge_item_op(b, i);
            const judge_op *r = &judge_ops[op];
            if (b->key[i] != key || !(r->enters || r->value_in)) continue;
            known = op == HD_OP_ACCUM_OR_ASSIGN || op == HD_OP_FIND_OR_INSERT_PTR ||
                    memcmp((const uint8_t *)b->value + i * bytes, value, bytes) == 0;
        }
    }
    return known;
}

/* ---- All of them ----------------------------------------------------------------------------- */

const char *comparison_check_kept(comparison *a, const simt_machine *m)
{
    const char *why = NULL;
    char name[64];
    for (uint32_t k = 0; k < a->s->parts; k++)
        if (!comparison_keyed(&a->s->part[k])) return NULL;
    for (uint64_t e = 0; e < fixture_places(a->d, a->then) && !why; e++)
        why = check_key(a, m, a->d->key_at(a->then, e));
    for (uint64_t e = 0; e < fixture_places(a->d, a->now) && !why; e++) {
        uint64_t key = a->d->key_at(a->now, e);
        why = check_key(a, m, key);
        if (!why && key < HD_KEY_RESERVED && !value_is_known(a, e))
            why = fixture_say(a->why, "%s: key 0x%" PRIx64 " has a value that it never had and no item gave it",
                              fixture_place(a->d, a->now, e, name, sizeof name), key);
    }
    size_t n;
    const simt_ticket_record *t = simt_machine_tickets(m, &n);
    for (size_t i = 0; i < n && !why; i++)
        if (t[i].item != JUDGE_MOVE && t[i].what == HD_EVICTED) why = check_key(a, m, t[i].a);
    return why;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * judged_lies.c - the lies: each changes one result of a correct run of kernels: a ticket, an output, or a word of the
 * table. Every objection of judge/comparison_*.c answers one of them.
 */
#include "tests/judged.h"

#include <string.h>

#include "ref/hkv/hkv.h"

/* ---- Tickets --------------------------------------------------------------------------------- */

/* The ticket of the first item of that outcome; NULL: there is none. */
static simt_ticket_record *ticket_of(hd_outcome o)
{
    for (size_t i = 0; i < tickets; i++)
        if (ticket[i].what == (uint32_t)o) return &ticket[i];
    return NULL;
}

static simt_ticket_record *hit(void) { return ticket_of(HD_HIT); }

static bool drop(simt_ticket_record *t)
{
    if (!t) return false;
    memmove(t, t + 1, (size_t)(ticket + tickets - (t + 1)) * sizeof *t);
    tickets--;
    return true;
}

static bool ticket_of_nobody(trial *t) { return ticket[0].stream = t->s->parts, true; }
static bool ticket_beyond(trial *t) { return ticket[0].item = t->b->n, true; }

static bool ticket_of_a_move(trial *t) { return (void)t, ticket[0].item = JUDGE_MOVE, true; }

static bool ticket_twice(trial *t)
{
    (void)t;
    if (tickets < 2) return false;
    ticket[1] = ticket[0];
    return true;
}

static bool other_delivered(trial *t)
{
    simt_ticket_record *x = ticket_of(HD_MISS);
    if (!x) return false;
    t->b->outcome[x->item] = HD_PINNED;
    return true;
}

static bool other_found(trial *t, simt_ticket_record *x)
{
    if (!x || !t->b->found) return false;
    t->b->found[x->item] = !t->b->found[x->item];
    return true;
}

static bool hit_not_found(trial *t) { return other_found(t, hit()); }
static bool miss_found(trial *t) { return other_found(t, ticket_of(HD_MISS)); }

static bool without_ticket(trial *t) { return (void)t, drop(ticket_of(HD_HIT)); }
static bool without_ticket_of_reserved(trial *t) { return (void)t, drop(ticket_of(HD_RESERVED)); }

/* A reader needs no ticket, and is judged all the same. */
static bool reader_lies(trial *t)
{
    simt_ticket_record *x = hit();
    if (!x) return false;
    ((uint8_t *)t->b->value_out)[x->item * t->v->value_bytes] ^= 1;
    return drop(x);
}

static bool reader_says_inserted(trial *t)
{
    simt_ticket_record *x = ticket_of(HD_MISS);
    if (!x) return false;
    t->b->outcome[x->item] = HD_INSERTED;
    return drop(x);
}

static bool entry_beyond(trial *t)
{
    simt_ticket_record *x = hit();
    if (!x) return false;
    x->b = hkv_capacity(t->v);
    return true;
}

static bool entry_of_another(trial *t)
{
    simt_ticket_record *x = hit();
    (void)t;
    if (!x) return false;
    x->b ^= 1;
    return true;
}

/* An entry that came, in a slot of its bucket that was taken. */
static bool slot_of_another(trial *t)
{
    simt_ticket_record *x = ticket_of(HD_INSERTED);
    hkv_state then;
    fixture_view(t->s, t->s->initial, &then);
    for (uint32_t k = 0; x && k < t->v->slots; k++) {
        uint64_t e = hkv_entry(t->v, x->b / t->v->slots, k);
        if (!then.v.digest[e]) continue;
        x->b = e;
        return true;
    }
    return false;
}

static bool victim_that_was_not_there(trial *t)
{
    simt_ticket_record *x = ticket_of(HD_EVICTED);
    if (!x) return false;
    x->a = 0x123456789abcdefu;
    (void)t;
    return true;
}

static bool without_ticket_of_victim(trial *t) { return (void)t, drop(ticket_of(HD_EVICTED)); }

/* A ticket names a victim that is still there. */
static bool victim_once_more(trial *t)
{
    simt_ticket_record *x = ticket_of(HD_INSERTED);
    uint64_t e = entry_at(t, true, 0);
    if (!x || e == HKV_NOWHERE) return false;
    x->what = HD_EVICTED;
    x->a = *hkv_key_at(t->v, e);
    return true;
}

static bool insertion_denied(trial *t)
{
    simt_ticket_record *x = ticket_of(HD_INSERTED);
    return x && (t->b->outcome[x->item] = HD_UPDATED);
}

static bool other_value(trial *t)
{
    simt_ticket_record *x = hit();
    if (!x) return false;
    ((uint8_t *)t->b->value_out)[x->item * t->v->value_bytes] ^= 1;
    return true;
}

static bool other_score(trial *t)
{
    simt_ticket_record *x = hit();
    if (!x) return false;
    t->b->score_out[x->item]++;
    return true;
}

static bool other_pointer(trial *t)
{
    simt_ticket_record *x = ticket_of(HD_INSERTED);
    if (!x) return false;
    t->b->ptr[x->item] = (uint8_t *)t->b->ptr[x->item] + t->v->value_bytes;
    return true;
}

static bool pointer_of_another(trial *t)
{
    simt_ticket_record *x = hit();
    if (!x) return false;
    t->b->ptr[x->item] = (uint8_t *)t->b->ptr[x->item] + t->v->value_bytes;
    return true;
}

static bool no_pointer(trial *t)
{
    simt_ticket_record *x = ticket_of(HD_INSERTED);
    if (!x || !t->b->ptr[x->item]) return false;
    t->b->ptr[x->item] = NULL;
    return true;
}

/* An item whose entry a later one evicted. */
static bool pointer_to_nothing(trial *t)
{
    for (size_t i = 0; i < tickets; i++) {
        uint64_t item = ticket[i].item;
        if (ticket[i].what == HD_RESERVED || t->b->ptr[item]) continue;
        t->b->ptr[item] = t->v->value;
        return true;
    }
    return false;
}

/* ---- The table ------------------------------------------------------------------------------- */

static void swap_u64(uint64_t *a, uint64_t *b)
{
    uint64_t x = *a;
    *a = *b;
    *b = x;
}

static void swap_entries(const hkv_view *v, uint64_t e, uint64_t f)
{
    uint8_t d = v->digest[e];
    v->digest[e] = v->digest[f];
    v->digest[f] = d;
    swap_u64(hkv_key_at(v, e), hkv_key_at(v, f));
    swap_u64(hkv_score_at(v, e), hkv_score_at(v, f));
    if (v->holder) swap_u64(v->holder + e, v->holder + f);
    for (uint32_t i = 0; i < v->value_bytes; i++) {
        uint8_t *p = hkv_value(v, e) + i, *q = hkv_value(v, f) + i, x = *p;
        *p = *q;
        *q = x;
    }
}

static bool other_slot(trial *t)
{
    uint64_t e = entry_at(t, true, 0), f = entry_at(t, true, 1);
    if (f == HKV_NOWHERE || e / t->v->slots != f / t->v->slots || t->v->holder[e] || t->v->holder[f]) return false;
    swap_entries(t->v, e, f);
    return true;
}

static bool entry_lost(trial *t)
{
    uint64_t e = entry_at(t, true, 0);
    if (e == HKV_NOWHERE || t->v->holder[e]) return false;
    hkv_make_empty(t->v, e);
    return true;
}

static bool entry_rescored(trial *t)
{
    uint64_t e = entry_at(t, true, 0);
    return e != HKV_NOWHERE && ++*hkv_score_at(t->v, e);
}

static bool entry_spoilt(trial *t)
{
    uint64_t e = entry_at(t, true, 0);
    if (e == HKV_NOWHERE) return false;
    *hkv_value(t->v, e) ^= 1;
    return true;
}

/* Another key and its digest, of no item of the batch. */
static bool entry_replaced(trial *t)
{
    uint64_t e = entry_at(t, true, 0), key = 1000;
    if (e == HKV_NOWHERE || t->v->holder[e]) return false;
    while (hd_first_bucket(hd_hash(key, t->v->seed), t->v->buckets) != e / t->v->slots) key++;
    *hkv_key_at(t->v, e) = key;
    t->v->digest[e] = hd_digest(hd_hash(key, t->v->seed));
    return true;
}

static bool empty_has_score(trial *t)
{
    uint64_t e = entry_at(t, false, 0);
    return e != HKV_NOWHERE && (*hkv_score_at(t->v, e) = 5);
}

/* ---- Pins ------------------------------------------------------------------------------------ */

/* The holder of the first pinned entry; NULL: there is none. */
static uint64_t *some_pin(trial *t)
{
    for (uint64_t e = 0; e < hkv_capacity(t->v); e++)
        if (t->v->holder[e]) return &t->v->holder[e];
    return NULL;
}

static bool other_holder(trial *t)
{
    uint64_t *p = some_pin(t);
    return p && (*p += 7);
}

/* Another entry is pinned instead. */
static bool other_pinned(trial *t)
{
    uint64_t *p = some_pin(t);
    for (uint64_t e = 0; p && e < hkv_capacity(t->v); e++)
        if (t->v->digest[e] && !t->v->holder[e]) return swap_u64(p, &t->v->holder[e]), true;
    return false;
}

static bool pins_miscounted(trial *t) { return some_pin(t) && ++hkv_fixture_state(t->s)->words->pins.count; }

/* The last victim was not the one that its ticket names but a pinned entry, and the other one is still there. */
static bool pinned_evicted(trial *t)
{
    simt_ticket_record *x = ticket_of(HD_EVICTED);
    uint64_t *p = some_pin(t);
    if (!x || !p) return false;
    uint64_t e = (uint64_t)(p - t->v->holder), key = *hkv_key_at(t->v, e);
    if (e / t->v->slots != x->b / t->v->slots) return false;
    *hkv_key_at(t->v, e) = x->a;
    t->v->digest[e] = hd_digest(hd_hash(x->a, t->v->seed));
    x->a = key;
    return true;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static bool list_short(trial *t) { return *t->b->count && (*t->b->count)--; }

/* One entry too many at the end of the list. */
static bool list_long(trial *t)
{
    uint64_t n = *t->b->count;
    if (n == t->b->n) return false;
    t->b->list_key[n] = 1;
    t->b->list_item[n] = 0;
    return ++*t->b->count;
}

static bool list_order(trial *t)
{
    if (*t->b->count < 2) return false;
    swap_u64(&t->b->list_item[0], &t->b->list_item[1]);
    swap_u64(&t->b->list_key[0], &t->b->list_key[1]);
    return true;
}

static bool list_other_key(trial *t) { return *t->b->count && ++t->b->list_key[0]; }
static bool list_other_score(trial *t) { return *t->b->count && ++t->b->list_score[0]; }

static bool list_other_value(trial *t)
{
    if (!*t->b->count) return false;
    *(uint8_t *)t->b->list_value ^= 1;
    return true;
}

/* ---- Counts and the rest --------------------------------------------------------------------- */

static bool counted_twice(trial *t) { return ++t->p->tally[HD_MISS]; }
static bool counted_more(trial *t) { return ++*t->b->count; }
static bool output_beside(trial *t) { return t->b->outcome[-1] ^= 1, true; }
static bool lock_held(trial *t) { return hkv_fixture_state(t->s)->kept.lock[1] = 1, true; }
static bool claim_left(trial *t) { return hkv_fixture_part(t->s, 0)->kept.groups.claim[1] = 3, true; }
static bool role_left(trial *t) { return hkv_fixture_part(t->s, 0)->kept.groups.role[1] = 1, true; }
static bool left_behind(trial *t) { return hkv_fixture_part(t->s, 0)->counts->left[0] = 3, true; }
static bool bin_not_empty(trial *t)
{
    return hkv_fixture_part(t->s, 0)->kept.fetch.count && (hkv_fixture_part(t->s, 0)->kept.fetch.count[5] = 2);
}
static bool beside_keys(trial *t) { return ((uint8_t *)t->v->key)[-1] ^= 1, true; }

static bool second_delivered(trial *t)
{
    hd_batch *b = &t->s->part[1].batch;
    for (uint64_t i = 0; i < b->n; i++) {
        if (b->outcome[i] != HD_MISS) continue;
        b->outcome[i] = HD_REFUSED;
        return true;
    }
    return false;
}

/* A near entry and a far one that is worth less, in a bucket that was asked for, change places. */
static bool far_and_better(trial *t)
{
    const hkv_view *v = t->v;
    uint64_t b = t->b->start / v->slots + (t->b->start % v->slots != 0);
    if (!t->b->n || b * v->slots >= t->b->start + t->b->n) return false;
    for (uint32_t s = 0; s < v->slots; s++)
        for (uint32_t far = s + 1; far < v->slots; far++) {
            uint64_t e = hkv_entry(v, b, s), f = hkv_entry(v, b, far);
            if (!hkv_is_near(v, e) || hkv_is_near(v, f) || !v->digest[e] || !v->digest[f] || v->holder[e] ||
                v->holder[f])
                continue;
            if (*hkv_score_at(v, e) <= *hkv_score_at(v, f)) continue;
            swap_entries(v, e, f);
            return true;
        }
    return false;
}

/* Two entries of a bucket that begins outside of the range. */
static bool moved_outside(trial *t)
{
    const hkv_view *v = t->v;
    uint64_t b = 0;
    while (b < v->buckets && b * v->slots >= t->b->start && b * v->slots < t->b->start + t->b->n) b++;
    if (b == v->buckets || !v->digest[hkv_entry(v, b, 0)] || !v->digest[hkv_entry(v, b, 1)]) return false;
    swap_entries(v, hkv_entry(v, b, 0), hkv_entry(v, b, 1));
    return true;
}

/* A pinned entry and another near one, where promote was asked to look: no worse a choice, but what is pinned stays. */
static bool pinned_moved(trial *t)
{
    const hkv_view *v = t->v;
    for (uint64_t e = t->b->start; e < t->b->start + t->b->n; e++) {
        uint64_t f = e ^ 1, bucket = hkv_entry(v, e / v->slots, 0);
        if (bucket < t->b->start || !v->digest[e] || !v->holder[e] || !hkv_is_near(v, e) || !hkv_is_near(v, f))
            continue;
        swap_entries(v, e, f);
        return true;
    }
    return false;
}

/* ---- Each sentence, once --------------------------------------------------------------------- */

const lie lies[] = {
    { "bytes beside the array outcome", TOUCH, output_beside, COMPARISON_ARRAYS, 0, 0 },

    { "a ticket of stream 1, where nothing runs", TOUCH, ticket_of_nobody, COMPARISON_TICKETS, 0, 0 },
    { "touch.tlpv1: a ticket for item 24 of 24", TOUCH, ticket_beyond, COMPARISON_TICKETS, 0, 0 },
    { "touch.tlpv1: a ticket for item 18446744073709551615 of 24", TOUCH, ticket_of_a_move, COMPARISON_TICKETS, 0, 0 },
    { "took effect twice", TOUCH, ticket_twice, COMPARISON_TICKETS, 0, 0 },
    { "was miss, but pinned was delivered", TOUCH, other_delivered, COMPARISON_TICKETS, 0, 0 },
    { "was miss, but pinned was delivered", FIND, other_delivered, COMPARISON_TICKETS, 0, 0 },
    { "the key was present, and found is not true", TOUCH, hit_not_found, COMPARISON_TICKETS, 0, 0 },
    { "the key was absent, and found is not false", TOUCH, miss_found, COMPARISON_TICKETS, 0, 0 },
    { "and found is not", "hkv.unlock_keys.tlpv1" TABLE, miss_found, COMPARISON_TICKETS, 0, 0 },
    { "it never took effect", TOUCH, without_ticket, COMPARISON_TICKETS, 0, 0 },
    { "its ticket names no entry of the table", TOUCH, entry_beyond, COMPARISON_TICKETS, 0, 0 },
    { "its ticket names an entry that held another key", TOUCH, entry_of_another, COMPARISON_TICKETS, 0, 0 },
    { "it took a slot that was not empty", POINTERS, slot_of_another, COMPARISON_TICKETS, 0, 0 },
    { "its pointer shows another entry's value", POINTERS, other_pointer, COMPARISON_TICKETS, 0, 0 },
    { "its pointer shows another entry's value", TOUCH, pointer_of_another, COMPARISON_TICKETS, 0, 0 },
    { "its pointer is NULL, and its entry is there", POINTERS, no_pointer, COMPARISON_TICKETS, 0, 0 },
    { "it has a pointer, and its key has no entry", "hkv.find_or_insert_ptr.tlpv1" FULL, pointer_to_nothing,
      COMPARISON_TICKETS, 0, 0 },
    { "evicted a key that was absent", UPSERT, victim_that_was_not_there, COMPARISON_TICKETS, 0, 0 },
    { "evicted a key that was absent", EVICT, victim_that_was_not_there, COMPARISON_TICKETS, 0, 0 },
    { "delivered a wrong value", TOUCH, other_value, COMPARISON_TICKETS, 0, 0 },
    { "delivered a wrong score", TOUCH, other_score, COMPARISON_TICKETS, 0, 0 },
    { "delivered a wrong value", FIND, reader_lies, COMPARISON_TICKETS, 0, 0 },
    { "not a miss, but the key was absent", FIND, reader_says_inserted, COMPARISON_TICKETS, 0, 0 },
    { "second: assign.tlpv1: item", TOUCH " + hkv.assign.tlpv1" TABLE, second_delivered, COMPARISON_TICKETS, 0, 0 },
    { "first: touch.tlpv1: item", TOUCH " + hkv.assign.tlpv1" TABLE, other_delivered, COMPARISON_TICKETS, 0, 0 },
    { "where the tickets put", TOUCH, other_slot, COMPARISON_TICKETS, 0, 0 },

    { "has another score than in the reference's", TOUCH, entry_rescored, COMPARISON_CONTENTS, 0, 0 },
    { "has another value than in the reference's", TOUCH, entry_spoilt, COMPARISON_CONTENTS, 0, 0 },
    { "is not in this bucket of the reference's", TOUCH, entry_replaced, COMPARISON_CONTENTS, 0, HELD(FIXTURE_SET) },
    { "entries, and should have", TOUCH, entry_lost, COMPARISON_CONTENTS, 0, HELD(FIXTURE_SET) },
    { "of outcome is not the reference's", TOUCH_WARP, other_delivered, COMPARISON_CONTENTS, COMPARISON_TICKETS,
      HELD(FIXTURE_EXACT) },
    { "of found is not the reference's", TOUCH_WARP, hit_not_found, COMPARISON_CONTENTS, COMPARISON_TICKETS,
      HELD(FIXTURE_EXACT) },
    { "of ptr is not the reference's", "hkv.find_or_insert_ptr.warp" TABLE, other_pointer, COMPARISON_CONTENTS,
      COMPARISON_TICKETS, HELD(FIXTURE_EXACT) },
    { "has a value that it never had", TOUCH_WARP, entry_spoilt, COMPARISON_CONTENTS, 0, HELD(FIXTURE_SHAPE) },
    { "is gone, and no item says", TOUCH_WARP, entry_replaced, COMPARISON_CONTENTS, 0, HELD(FIXTURE_SHAPE) },
    { "is in the table or left it, and no item brought it", UPSERT, insertion_denied, COMPARISON_CONTENTS,
      COMPARISON_COUNTS, HELD(FIXTURE_SHAPE) },
    { "is gone, and no item says", UPSERT, without_ticket_of_victim, COMPARISON_CONTENTS, 0, HELD(FIXTURE_SHAPE) },
    { "is in the table or left it, and no item brought it", UPSERT, victim_once_more, COMPARISON_CONTENTS, 0,
      HELD(FIXTURE_SHAPE) },
    { "was pinned, and is not there", UPSERT, pinned_evicted, COMPARISON_CONTENTS, 0, HELD(FIXTURE_SHAPE) },
    { "byte 0 of count is not the reference's", "hkv.size.tlpv1" TABLE, counted_more, COMPARISON_CONTENTS, 0, 0 },
    { "which the reference does not say", LOCK, other_holder, COMPARISON_CONTENTS, 0, 0 },
    { "which the reference does not say", LOCK, other_pinned, COMPARISON_CONTENTS, 0, 0 },
    { "entries are pinned, and should be", LOCK, pins_miscounted, COMPARISON_CONTENTS, 0, 0 },
    { "is far, and worth more than one that is near", PROMOTE, far_and_better, COMPARISON_CONTENTS, 0, 0 },
    { "was to stay", PROMOTE, pinned_moved, COMPARISON_CONTENTS, 0, 0 },
    { "was to stay", PROMOTE, moved_outside, COMPARISON_CONTENTS, 0, 0 },

    { "is missing from the list", EVICT, list_short, COMPARISON_LISTS, COMPARISON_ARRAYS, 0 },
    { "entries, and should have", "hkv.find_missed.tlpv1" TABLE, list_long, COMPARISON_LISTS, 0, 0 },
    { "is not the next of the list", EVICT, list_order, COMPARISON_LISTS, 0, 0 },
    { "listed another key", EVICT, list_other_key, COMPARISON_LISTS, 0, 0 },
    { "listed a wrong score", EVICT, list_other_score, COMPARISON_LISTS, 0, 0 },
    { "listed a wrong value", EVICT, list_other_value, COMPARISON_LISTS, 0, 0 },

    { "more inserted", TOUCH, entry_lost, COMPARISON_COUNTS, COMPARISON_TICKETS, 0 },
    { "more inserted", TOUCH, entry_lost, COMPARISON_COUNTS, 0, HELD(FIXTURE_SHAPE) },
    { "items were miss, but", TOUCH, counted_twice, COMPARISON_COUNTS, 0, 0 },

    { "the lock of bucket 1 is still held", TOUCH, lock_held, COMPARISON_REST, 0, 0 },
    { "list 0 of the items that were left still counts 3", TOUCH, left_behind, COMPARISON_REST, 0, 0 },
    { "word 1 of the claims is not 0", TOUCH_16, claim_left, COMPARISON_REST, 0, 0 },
    { "item 1 has still a role", TOUCH_16, role_left, COMPARISON_REST, 0, 0 },
    { "bin 5 of the far values still counts 2", "hkv.find.tlpv1 batch=24x1" TIERS, bin_not_empty, COMPARISON_REST, 0,
      0 },
    { "bytes beside the plane 'pair' were written", TOUCH, beside_keys, COMPARISON_REST, 0, 0 },
    { "HKV-7", TOUCH, empty_has_score, COMPARISON_REST, 0, 0 },

    /* A reserved key has no effect, so it needs no ticket. A kernel that promises no order is not blamed for what only
     * an order could show. */
    { NULL, TOUCH " reserved=400000", without_ticket_of_reserved, 0, 0, 0 },
    { NULL, TOUCH_WARP, entry_rescored, 0, 0, HELD(FIXTURE_SHAPE) },
    { NULL, TOUCH_WARP, other_slot, 0, COMPARISON_TICKETS, HELD(FIXTURE_SET) },
    { NULL, TOUCH_WARP, other_slot, 0, COMPARISON_TICKETS, HELD(FIXTURE_EXACT) },
    { NULL, TOUCH_WARP, other_value, 0, COMPARISON_TICKETS, HELD(FIXTURE_SET) },
};

const size_t lies_n = sizeof lies / sizeof *lies;

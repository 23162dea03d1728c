/* SPDX-License-Identifier: Apache-2.0
 *
 * t_judge_kernels.c - who judges kernels is judged (judge/agree.h). Kernels run truthfully, and nothing is said against
 * them. Then one thing of what they left is made another: a ticket, an output, a word of the table; each sentence that the judge has must
 * come out for what it is about, and from the part of the judge that it belongs to. The machine is who
 * keeps the tickets, and the memory: the linker puts this file in between.
 */
#include <stdlib.h>
#include <string.h>

#include "judge/agree.h"
#include "judge/kernels.h"
#include "judge/rules.h"
#include "lib/error.h"
#include "ref/hkv.h"
#include "simt/simt.h"
#include "tests/testing.h"

typedef unsigned long long ull;

enum { TICKETS = 256, SEEDS = 200 };

static simt_machine *machine;

/* ---- What is put in between ---------------------------------------------------------------------------------- */

const simt_ticket_record *__real_simt_machine_tickets(const simt_machine *m, size_t *n);
const simt_ticket_record *__wrap_simt_machine_tickets(const simt_machine *m, size_t *n);

/* The tickets of the last run as the judge is told of them, when `altered`. */
static simt_ticket_record ticket[TICKETS];
static size_t tickets;
static bool altered;

const simt_ticket_record *__wrap_simt_machine_tickets(const simt_machine *m, size_t *n)
{
    if (!altered) return __real_simt_machine_tickets(m, n);
    *n = tickets;
    return ticket;
}

hd_status __real_simt_machine_region(simt_machine *m, void *p, size_t bytes, const char *name);
hd_status __wrap_simt_machine_region(simt_machine *m, void *p, size_t bytes, const char *name);

static uint64_t regions, refuse_at; /* the region, from 1, that the machine has no memory for; 0: none */

hd_status __wrap_simt_machine_region(simt_machine *m, void *p, size_t bytes, const char *name)
{
    return ++regions == refuse_at ? hd_fail(HD_ENOMEM, "region: no memory") : __real_simt_machine_region(m, p, bytes, name);
}

/* ---- A run that something is made of --------------------------------------------------------------------------- */

typedef struct trial {
    scene_kernel kernel[SCENE_PARTS];
    scene *s;
    agree *a;
    scene_part *p; /* the first */
    hd_batch *b;
    hkv_view *v;
} trial;

/* One lie. The scene is the case with a seed that gives occasion to it. */
typedef struct lie {
    const char *sentence, *text; /* what is to be said; "CASE", or "CASE + CASE" */
    bool (*tell)(trial *t);      /* false: this run gives no occasion           */
    uint32_t by, deaf;           /* AGREE_...: who is to say it, and to whom the judge is deaf */
    int held;                    /* 1 + the strictness that the kernel is held to; 0: its row's */
} lie;

/* In turn, so that items come in their order where a kernel has an order. */
static simt_config in_turn(void)
{
    simt_config c = simt_config_default();
    c.unit = SIMT_BY_WARP;
    c.strategy = SIMT_ROUND_ROBIN;
    c.preempt = SIMT_AT_NONE;
    c.shared_bytes = 48 << 10;
    return c;
}

/* Opens the scene, and runs it: nothing may be said. */
static void trial_run(trial *t, const char *text, uint64_t seed, int held)
{
    hd_case c[SCENE_PARTS];
    const scene_kernel *kernels[] = { &t->kernel[0], &t->kernel[1] };
    char word[2][256] = { "", "" };
    const char *plus = strstr(text, " + "), *why = NULL;
    uint32_t parts = plus ? 2 : 1, row;
    size_t first = plus ? (size_t)(plus - text) : strlen(text);
    simt_config w = in_turn();
    snprintf(word[0], sizeof word[0], "%.*s seed=%llu", (int)first, text, (ull)seed);
    if (plus) snprintf(word[1], sizeof word[1], "%s seed=%llu", plus + 3, (ull)seed);
    for (uint32_t k = 0; k < parts; k++) {
        must(hd_case_parse(word[k], &c[k]));
        must(scene_kernel_row(&c[k], &row));
        t->kernel[k] = scene_kernel_at(row, 32, 1);
        if (held) t->kernel[k].strictness = (scene_strictness)(held - 1);
    }
    altered = false;
    must(scene_open(c, kernels, parts, &t->s));
    must(agree_open(t->s, &t->a));
    t->p = &t->s->part[0];
    t->b = &t->p->batch;
    t->v = &t->s->v;
    must(agree_run(t->a, machine, &w, &why));
    check(!why, "a truthful run of %s + %s was accused: %s", word[0], word[1], why);
    const simt_ticket_record *drawn = __real_simt_machine_tickets(machine, &tickets);
    check(tickets <= TICKETS, "%zu tickets", tickets);
    memcpy(ticket, drawn, tickets * sizeof *ticket);
    altered = true;
}

static void trial_close(trial *t)
{
    altered = false;
    agree_close(t->a);
}

/* ---- Tickets ---------------------------------------------------------------------------------------------------- */

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

static bool without_ticket(trial *t) { return (void)t, drop(ticket_of(HD_HIT)); }

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
    hkv_view then = scene_view(t->s, t->s->initial);
    for (uint32_t k = 0; x && k < t->v->slots; k++) {
        uint64_t e = hkv_entry(t->v, x->b / t->v->slots, k);
        if (!then.digest[e]) continue;
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

/* ---- The table ---------------------------------------------------------------------------------------------------- */

/* The entry of rank `nth` that is there, or that is not; HKV_NOWHERE: there are fewer. */
static uint64_t entry_at(const trial *t, bool there, uint64_t nth)
{
    for (uint64_t e = 0; e < hkv_capacity(t->v); e++)
        if ((t->v->digest[e] != HKV_NO_DIGEST) == there && nth-- == 0) return e;
    return HKV_NOWHERE;
}

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
    for (uint32_t i = 0; i < v->value_bytes; i++) {
        uint8_t *p = hkv_value(v, e) + i, *q = hkv_value(v, f) + i, x = *p;
        *p = *q;
        *q = x;
    }
}

static bool other_slot(trial *t)
{
    uint64_t e = entry_at(t, true, 0), f = entry_at(t, true, 1);
    if (f == HKV_NOWHERE || e / t->v->slots != f / t->v->slots) return false;
    swap_entries(t->v, e, f);
    return true;
}

static bool entry_lost(trial *t)
{
    uint64_t e = entry_at(t, true, 0);
    if (e == HKV_NOWHERE) return false;
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

/* Key and digest of one that nobody asked for. */
static bool entry_replaced(trial *t)
{
    uint64_t e = entry_at(t, true, 0), key = 1000;
    if (e == HKV_NOWHERE) return false;
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

/* ---- Pins ------------------------------------------------------------------------------------------------------------ */

static hkv_pin *some_pin(trial *t)
{
    for (uint32_t i = 0; i < t->v->pin_places; i++)
        if (t->v->pin[i].key != HD_KEY_EMPTY) return &t->v->pin[i];
    return NULL;
}

static bool other_holder(trial *t)
{
    hkv_pin *p = some_pin(t);
    return p && (p->holder += 7);
}

static bool other_pinned(trial *t)
{
    hkv_pin *p = some_pin(t);
    return p && (p->key += 77);
}

static bool pins_miscounted(trial *t) { return some_pin(t) && ++*t->s->pins; }

/* ---- Lists ----------------------------------------------------------------------------------------------------------- */

static bool list_short(trial *t) { return *t->b->count && (*t->b->count)--; }

/* One more at its end, which nobody is told to have listed. */
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

/* ---- Counts and the rest --------------------------------------------------------------------------------------------- */

static bool counted_twice(trial *t) { return ++t->p->tally[HD_MISS]; }
static bool counted_more(trial *t) { return ++*t->b->count; }
static bool output_beside(trial *t) { return t->b->outcome[-1] ^= 1, true; }
static bool lock_held(trial *t) { return t->s->lock[1] = 1, true; }
static bool pins_locked(trial *t) { return *t->s->pin_lock = 1, true; }
static bool left_behind(trial *t) { return t->p->args.left_count[0] = 3, true; }
static bool bin_not_empty(trial *t) { return t->p->args.fetch_count && (t->p->args.fetch_count[5] = 2); }
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

/* The best of the near ones and one of the far ones, in a bucket that was asked for, change places. */
static bool far_and_better(trial *t)
{
    const hkv_view *v = t->v;
    uint64_t b = t->b->start / v->slots + (t->b->start % v->slots != 0);
    if (!t->b->n || b * v->slots >= t->b->start + t->b->n) return false;
    for (uint32_t s = 0; s < v->slots; s++)
        for (uint32_t far = s + 1; far < v->slots; far++) {
            uint64_t e = hkv_entry(v, b, s), f = hkv_entry(v, b, far);
            if (!hkv_is_near(v, e) || hkv_is_near(v, f) || !v->digest[e] || !v->digest[f] || hkv_pin_find(v, *hkv_key_at(v, e)) || hkv_pin_find(v, *hkv_key_at(v, f))) continue;
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

/* A pinned entry and another near one, where promote was asked to look: it is no worse a choice, but pinned ones stay. */
static bool pinned_moved(trial *t)
{
    const hkv_view *v = t->v;
    for (uint64_t e = t->b->start; e < t->b->start + t->b->n; e++) {
        uint64_t f = e ^ 1, bucket = hkv_entry(v, e / v->slots, 0);
        if (bucket < t->b->start || !v->digest[e] || !hkv_pin_find(v, *hkv_key_at(v, e)) || !hkv_is_near(v, e) || !hkv_is_near(v, f)) continue;
        swap_entries(v, e, f);
        return true;
    }
    return false;
}

/* ---- Each sentence, once -------------------------------------------------------------------------------------------- */

#define TABLE " buckets=2 slots=8 value=8 batch=24x1 keys=uniform:40 pins=4"
#define FULL " buckets=2 slots=8 value=8 batch=24x1 keys=uniform:400 pins=4 policy=lru"
#define TIERS " buckets=4 slots=8 value=16 keys=uniform:400 pins=4 near=200"
#define TOUCH "hkv.touch.tlpv1" TABLE
#define FIND "hkv.find.tlpv1" TABLE
#define UPSERT "hkv.insert_or_assign.tlpv1" FULL
#define EVICT "hkv.insert_and_evict.tlpv1" FULL
#define LOCK "hkv.lock_keys.tlpv1" TABLE
#define POINTERS "hkv.find_or_insert_ptr.tlpv1" TABLE
#define PROMOTE "hkv.promote.tlpv1" TIERS
#define HELD(strictness) (1 + (int)(strictness))

static const lie lies[] = {
    { "bytes beside the array outcome", TOUCH, output_beside, AGREE_ARRAYS, 0, 0 },

    { "a ticket of stream 1, where nothing runs", TOUCH, ticket_of_nobody, AGREE_TICKETS, 0, 0 },
    { "touch.tlpv1: a ticket for item 24 of 24", TOUCH, ticket_beyond, AGREE_TICKETS, 0, 0 },
    { "took effect twice", TOUCH, ticket_twice, AGREE_TICKETS, 0, 0 },
    { "was miss, but pinned was delivered", TOUCH, other_delivered, AGREE_TICKETS, 0, 0 },
    { "was miss, but pinned was delivered", FIND, other_delivered, AGREE_TICKETS, 0, 0 },
    { "it never took effect", TOUCH, without_ticket, AGREE_TICKETS, 0, 0 },
    { "its ticket names no entry of the table", TOUCH, entry_beyond, AGREE_TICKETS, 0, 0 },
    { "its ticket names an entry that held another key", TOUCH, entry_of_another, AGREE_TICKETS, 0, 0 },
    { "it took a slot that was not empty", POINTERS, slot_of_another, AGREE_TICKETS, 0, 0 },
    { "its pointer shows another entry's value", POINTERS, other_pointer, AGREE_TICKETS, 0, 0 },
    { "evicted a key that was absent", UPSERT, victim_that_was_not_there, AGREE_TICKETS, 0, 0 },
    { "evicted a key that was absent", EVICT, victim_that_was_not_there, AGREE_TICKETS, 0, 0 },
    { "delivered a wrong value", TOUCH, other_value, AGREE_TICKETS, 0, 0 },
    { "delivered a wrong score", TOUCH, other_score, AGREE_TICKETS, 0, 0 },
    { "delivered a wrong value", FIND, reader_lies, AGREE_TICKETS, 0, 0 },
    { "not a miss, but the key was absent", FIND, reader_says_inserted, AGREE_TICKETS, 0, 0 },
    { "second: assign.tlpv1: item", TOUCH " + hkv.assign.tlpv1" TABLE, second_delivered, AGREE_TICKETS, 0, 0 },
    { "first: touch.tlpv1: item", TOUCH " + hkv.assign.tlpv1" TABLE, other_delivered, AGREE_TICKETS, 0, 0 },
    { "where the tickets put", TOUCH, other_slot, AGREE_TICKETS, 0, 0 },

    { "has another score than in the reference's", TOUCH, entry_rescored, AGREE_CONTENTS, 0, 0 },
    { "has another value than in the reference's", TOUCH, entry_spoilt, AGREE_CONTENTS, 0, 0 },
    { "is not in this bucket of the reference's", TOUCH, entry_replaced, AGREE_CONTENTS, 0, HELD(SCENE_SET) },
    { "entries, and should have", TOUCH, entry_lost, AGREE_CONTENTS, 0, HELD(SCENE_SET) },
    { "of outcome is not the reference's", "hkv.touch.warp" TABLE, other_delivered, AGREE_CONTENTS, AGREE_TICKETS, HELD(SCENE_EXACT) },
    { "of ptr is not the reference's", "hkv.find_or_insert_ptr.warp" TABLE, other_pointer, AGREE_CONTENTS, AGREE_TICKETS, HELD(SCENE_EXACT) },
    { "byte 0 of count is not the reference's", "hkv.size.tlpv1" TABLE, counted_more, AGREE_CONTENTS, 0, 0 },
    { "which the reference does not say", LOCK, other_holder, AGREE_CONTENTS, 0, 0 },
    { "which the reference does not say", LOCK, other_pinned, AGREE_CONTENTS, 0, 0 },
    { "keys are pinned, and should be", LOCK, pins_miscounted, AGREE_CONTENTS, 0, 0 },
    { "is far, and worth more than one that is near", PROMOTE, far_and_better, AGREE_CONTENTS, 0, 0 },
    { "was to stay", PROMOTE, pinned_moved, AGREE_CONTENTS, 0, 0 },
    { "was to stay", PROMOTE, moved_outside, AGREE_CONTENTS, 0, 0 },

    { "is missing from the list", EVICT, list_short, AGREE_LISTS, AGREE_ARRAYS, 0 },
    { "entries, and should have", "hkv.find_missed.tlpv1" TABLE, list_long, AGREE_LISTS, 0, 0 },
    { "is not the next of the list", EVICT, list_order, AGREE_LISTS, 0, 0 },
    { "listed another key", EVICT, list_other_key, AGREE_LISTS, 0, 0 },
    { "listed a wrong score", EVICT, list_other_score, AGREE_LISTS, 0, 0 },
    { "listed a wrong value", EVICT, list_other_value, AGREE_LISTS, 0, 0 },

    { "more inserted", TOUCH, entry_lost, AGREE_COUNTS, AGREE_TICKETS, 0 },
    { "more inserted", TOUCH, entry_lost, AGREE_COUNTS, 0, HELD(SCENE_SHAPE) },
    { "items were miss, but", TOUCH, counted_twice, AGREE_COUNTS, 0, 0 },

    { "the lock of bucket 1 is still held", TOUCH, lock_held, AGREE_REST, 0, 0 },
    { "the lock of the pins is still held", LOCK, pins_locked, AGREE_REST, 0, 0 },
    { "3 items are still left to the next pass", TOUCH, left_behind, AGREE_REST, 0, 0 },
    { "bin 5 of the far values still counts 2", "hkv.find.tlpv1 batch=24x1" TIERS, bin_not_empty, AGREE_REST, 0, 0 },
    { "bytes beside the plane 'pair' were written", TOUCH, beside_keys, AGREE_REST, 0, 0 },
    { "HKV-7", TOUCH, empty_has_score, AGREE_REST, 0, 0 },
};

static void every_sentence_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        const lie *l = &lies[i];
        bool told = false;
        for (uint64_t seed = 1; seed <= SEEDS && !told; seed++) {
            trial t;
            test_case("%s, seed %llu, to be answered '%s'", l->text, (ull)seed, l->sentence);
            trial_run(&t, l->text, seed, l->held);
            told = l->tell(&t);
            agree_deafen(t.a, l->deaf);
            const char *why = agree_judge(t.a, machine);
            check(!told || why, "it passed");
            check(told || !why, "nothing was altered, and the answer is: %s", why);
            if (told) check(strstr(why, l->sentence) && agree_objector(t.a) == l->by, "by %u: %s", agree_objector(t.a), why);
            agree_deafen(t.a, 63);
            check(!agree_judge(t.a, machine), "somebody was heard, but all are deaf");
            trial_close(&t);
        }
        check(told, "no seed gave occasion");
    }
}

/* All ways of judging, and nothing to say: parts of which one, both or none have tickets, tables of all kinds. */
static void truth_is_not_accused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int held;
    } truths[] = {
        { "hkv.accum_or_assign.tlpv1" TABLE " reserved=100000 duplicate=300000", 0 },
        { "hkv.insert_and_evict.tlpv1 buckets=2 slots=8 value=0 batch=24x1 keys=uniform:400", 0 },
        { "hkv.find_missed.tlpv1 buckets=2 slots=8 value=0 batch=24x1 keys=uniform:40", 0 },
        { "hkv.unlock_keys.tlpv1" TABLE, 0 },
        { "hkv.erase.tlpv1" TABLE, 0 },
        { "hkv.promote.tlpv1" TABLE, 0 },
        { PROMOTE " tiers=position", 0 },
        { PROMOTE, 0 },
        { "hkv.export_if.tlpv1" TABLE, 0 },
        { FIND " + hkv.size.tlpv1" TABLE, 0 },
        { "hkv.size.tlpv1" TABLE " + " FIND, 0 },
        { "hkv.size.tlpv1" TABLE " + hkv.export.tlpv1" TABLE, 0 },
        { FIND " + hkv.find_ptr.tlpv1" TABLE, HELD(SCENE_EXACT) },
        { FIND " + hkv.find_ptr.tlpv1" TABLE, HELD(SCENE_SET) },
        { FIND " + hkv.find_ptr.tlpv1" TABLE, HELD(SCENE_SHAPE) },
        { TOUCH " + hkv.assign.tlpv1" TABLE, HELD(SCENE_SHAPE) },
    };
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
        for (uint64_t seed = 1; seed <= 6; seed++) {
            trial t;
            test_case("%s, seed %llu", truths[i].text, (ull)seed);
            trial_run(&t, truths[i].text, seed, truths[i].held);
            trial_close(&t);
        }
}

/* A reserved key has no effect, and so no turn. */
static void reserved_keys_need_no_ticket(void **state)
{
    (void)state;
    trial t;
    trial_run(&t, TOUCH " reserved=400000", 1, 0);
    check(drop(ticket_of(HD_RESERVED)), "no occasion");
    const char *why = agree_judge(t.a, machine);
    check(!why, "%s", why);
    check(drop(ticket_of(HD_MISS)), "no occasion");
    why = agree_judge(t.a, machine);
    check(why && strstr(why, "it never took effect"), "%s", why ? why : "it passed");
    trial_close(&t);
}

/* Whoever is held to nothing but shape is not accused of what only an order could tell. */
static void what_cannot_be_known_is_not_said(void **state)
{
    (void)state;
    static const struct {
        bool (*tell)(trial *t);
        int held;
    } unknown[] = { { entry_spoilt, SCENE_SHAPE }, { entry_rescored, SCENE_SHAPE }, { other_slot, SCENE_SET }, { other_slot, SCENE_EXACT }, { other_value, SCENE_SET } };
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        trial t;
        test_case("strictness %d, number %zu", unknown[i].held, i);
        trial_run(&t, "hkv.touch.warp" TABLE, 3, HELD(unknown[i].held));
        check(unknown[i].tell(&t), "no occasion");
        if (unknown[i].held != SCENE_SHAPE) agree_deafen(t.a, AGREE_TICKETS);
        const char *why = agree_judge(t.a, machine);
        check(!why, "%s", why);
        trial_close(&t);
    }
}

/* Each gap between the regions of memory, and the one after the last. */
static void guards_are_watched(void **state)
{
    (void)state;
    trial t;
    trial_run(&t, FIND, 5, 0);
    const scene *s = t.s;
    for (uint32_t i = 0; i <= s->regions; i++) {
        const char *name = s->region[i < s->regions ? i : i - 1].name;
        uint8_t *beside = s->memory + (i < s->regions ? s->region[i].at : s->bytes) - 1;
        test_case("%s of region %u, %s", i < s->regions ? "before" : "after", i, name);
        if (i == 0 && s->region[0].at == 0) continue;
        *beside ^= 1;
        const char *found = scene_guards(s);
        check(found && strcmp(found, name) == 0, "found beside %s", found ? found : "none");
        *beside ^= 1;
        check(!scene_guards(s), "it is as it was");
    }
    trial_close(&t);
}

/* ---- In flight ---------------------------------------------------------------------------------------------------------- */

/* An entry as it may be for a moment, or not. */
static bool no_key_yet(trial *t) { return *hkv_key_at(t->v, entry_at(t, true, 0)) = HD_KEY_EMPTY, true; }
static bool other_digest(trial *t) { return t->v->digest[entry_at(t, true, 0)] ^= 0x55; }
static bool owned(trial *t) { return other_digest(t) && (*hkv_key_at(t->v, entry_at(t, true, 0)) = HD_KEY_LOCKED); }
static bool replaced(trial *t) { return other_digest(t) && (*hkv_key_at(t->v, entry_at(t, true, 0)) = HKV_KEY_REPLACED); }
static bool locked_and_weak(trial *t) { return other_digest(t) && (t->s->lock[entry_at(t, true, 0) / t->v->slots] = 1); }

static bool entry_copied(trial *t, bool same_bucket)
{
    const hkv_view *v = t->v;
    for (uint64_t e = 0; e < hkv_capacity(v); e++)
        for (uint64_t f = e + 1; v->digest[e] && f < hkv_capacity(v); f++) {
            if (v->digest[f] || (e / v->slots == f / v->slots) != same_bucket) continue;
            v->digest[f] = v->digest[e];
            *hkv_key_at(v, f) = *hkv_key_at(v, e);
            return true;
        }
    return false;
}

static bool entry_twice(trial *t) { return entry_copied(t, true); }
static bool entry_elsewhere(trial *t) { return entry_copied(t, false); }

/* The same, and gone from where it was. */
static bool entry_strayed(trial *t)
{
    uint64_t key = 5000, e = entry_at(t, true, 0), home = e / t->v->slots;
    for (;; key++) {
        uint64_t h = hd_hash(key, t->v->seed);
        if (hd_first_bucket(h, t->v->buckets) != home && hd_second_bucket(h, t->v->buckets) != home) break;
    }
    *hkv_key_at(t->v, e) = key;
    t->v->digest[e] = hd_digest(hd_hash(key, t->v->seed));
    return true;
}

static void every_moment_is_watched(void **state)
{
    (void)state;
    static const struct {
        const char *sentence; /* NULL: that may be */
        bool (*tell)(trial *t);
        bool dual, weak;
    } moments[] = {
        { "HKV-1 in flight", no_key_yet, false, false },     { "HKV-2 in flight", other_digest, false, false },   { "HKV-2 in flight", other_digest, false, true },
        { "HKV-2 in flight", locked_and_weak, false, false }, { NULL, locked_and_weak, false, true },              { NULL, owned, false, false },
        { NULL, replaced, false, false },                     { "HKV-3 in flight", entry_strayed, false, false },  { "HKV-3 in flight", entry_strayed, true, false },
        { "HKV-4 in flight", entry_twice, false, false },     { "HKV-4 in flight", entry_twice, true, false },     { "HKV-4 in flight", entry_elsewhere, true, false },
        { "HKV-3 in flight", entry_elsewhere, false, false },
    };
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        bool told = false;
        for (uint64_t seed = 1; seed <= SEEDS && !told; seed++) {
            trial t;
            simt_config c = in_turn();
            test_case("moment %zu: %s, seed %llu", i, moments[i].sentence, (ull)seed);
            trial_run(&t, moments[i].dual ? "hkv.find.tlpv1 dual=1 buckets=5 slots=8 value=8 batch=24x1 keys=uniform:40" : "hkv.find.tlpv1 buckets=5 slots=8 value=8 batch=24x1 keys=uniform:40", seed, 0);
            c.weak = moments[i].weak;
            agree_watch_with(t.a, &c, 3);
            check(c.watch == agree_watch && c.context == t.a && c.watch_every == 3, "the run is not watched");
            check(!agree_watch(t.a), "a sound table: %s", agree_watch(t.a));
            told = entry_at(&t, true, 0) != HKV_NOWHERE && moments[i].tell(&t);
            const char *why = agree_watch(t.a);
            if (told) check(moments[i].sentence ? why && strstr(why, moments[i].sentence) : !why, "%s", why ? why : "it passed");
            trial_close(&t);
        }
        check(told, "no seed gave occasion");
    }
}

/* An operation that has the table for itself may leave it in any order, and is not watched. */
static void who_is_alone_is_not_watched(void **state)
{
    (void)state;
    static const char *const texts[] = { "hkv.clear.tlpv1" TABLE, "hkv.erase_if.tlpv1" TABLE, PROMOTE, "hkv.size.tlpv1" TABLE, TOUCH };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        trial t;
        simt_config c = in_turn();
        test_case("%s", texts[i]);
        trial_run(&t, texts[i], 1, 0);
        agree_watch_with(t.a, &c, 1);
        check((c.watch != NULL) == (i >= 3) && c.watch_every == (i >= 3), "watched every %u steps", c.watch_every);
        trial_close(&t);
    }
}

/* ---- Runs that end otherwise ------------------------------------------------------------------------------------------ */

SIMT_KERNEL(beyond_memory, hkv_args, args) { simt_st_u64(args.v.key + (1u << 30), 1); }

static hd_status queue_beyond(const scene_kernel *k, simt_machine *m, const hkv_args *a, uint32_t stream)
{
    (void)k;
    return simt_machine_launch(m, beyond_memory, a, sizeof *a, 1, 32, stream);
}

static hd_status no_launch(const scene_kernel *k, simt_machine *m, const hkv_args *a, uint32_t stream)
{
    (void)k, (void)m, (void)a, (void)stream;
    return hd_fail(HD_ECUDA, "launch: none today");
}

static void faults_are_told(void **state)
{
    (void)state;
    trial t;
    const char *why = NULL;
    simt_config w = in_turn();
    trial_run(&t, FIND, 1, 0);
    scene_kernel sound = t.kernel[0];
    altered = false;
    t.kernel[0].queue = queue_beyond;
    must(agree_run(t.a, machine, &w, &why));
    check(why && simt_machine_finding(machine)->fault == SIMT_BOUNDS && why == simt_machine_finding(machine)->story, "%s", why ? why : "it passed");
    t.kernel[0] = sound;
    must(agree_run(t.a, machine, &w, &why));
    check(!why, "a sound run after it: %s", why);
    trial_close(&t);
}

/* Nothing runs, and nobody is judged. */
static void a_launch_that_fails_is_no_lie(void **state)
{
    (void)state;
    trial t;
    const char *why = "";
    simt_config w = in_turn();
    trial_run(&t, FIND " + " FIND, 1, 0);
    altered = false;
    for (uint64_t at = 1;; at++) {
        refuse_at = at;
        regions = 0;
        hd_status status = agree_run(t.a, machine, &w, &why);
        if (regions < at) break;
        check(status == HD_ENOMEM && !why, "region %llu was refused: %s, and %s", (ull)at, hd_status_name(status), why ? why : "nobody was judged");
    }
    check(regions > 40 && !why, "%llu regions: %s", (ull)regions, why);
    refuse_at = 0;
    t.kernel[0].queue = no_launch;
    must_fail(agree_run(t.a, machine, &w, &why), HD_ECUDA, "none today");
    check(!why, "and was judged: %s", why);
    trial_close(&t);
}

/* Only buckets that differ are drawn, the kernel's beside the reference's. */
static void what_differs_is_drawn(void **state)
{
    (void)state;
    trial t;
    char text[4096];
    trial_run(&t, TOUCH, 2, 0);
    check(agree_draw(t.a, text, sizeof text) < sizeof text && !strstr(text, "bucket"), "nothing differs: %s", text);
    check(entry_rescored(&t) && agree_judge(t.a, machine), "it passed");
    check(agree_draw(t.a, text, sizeof text) < sizeof text && strstr(text, "the kernel's table") && strstr(text, "the reference's"), "%s", text);
    trial_close(&t);
}

int main(void)
{
    const struct CMUnitTest judges[] = {
        cmocka_unit_test(truth_is_not_accused),          cmocka_unit_test(reserved_keys_need_no_ticket),      cmocka_unit_test(every_sentence_is_said),
        cmocka_unit_test(what_cannot_be_known_is_not_said), cmocka_unit_test(guards_are_watched),
        cmocka_unit_test(every_moment_is_watched),       cmocka_unit_test(who_is_alone_is_not_watched),      cmocka_unit_test(faults_are_told),
        cmocka_unit_test(a_launch_that_fails_is_no_lie), cmocka_unit_test(what_differs_is_drawn),
    };
    if (simt_machine_open(NULL, &machine)) return 1;
    int failed = test_run(judges);
    simt_machine_close(machine);
    return failed;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * ovs.c - ovs one key at a time. This file is the specification; kernels must agree with it.
 */
#include "ref/ovs/ovs.h"

/* ---- Slots ----------------------------------------------------------------------------------- */

uint32_t ovs_digest_in(const ovs_view *v, uint64_t e)
{
    const uint8_t *p = ovs_digest_at(v, e);
    return p[0] | (uint32_t)p[1] << 8;
}

void ovs_write(const ovs_view *v, uint64_t e, uint64_t word)
{
    uint8_t *p = ovs_digest_at(v, e);
    *ovs_at(v, e) = word;
    if (!p) return;
    uint32_t digest = ovs_digest_for(v, word, ovs_digest_in(v, e));
    p[0] = (uint8_t)digest;
    p[1] = (uint8_t)(digest >> 8);
    HD_ASSERT((digest == 0) == (word == ovs_fresh()), "OVS-6: a slot is fresh exactly if its digest is 0");
}

void ovs_write_entry(const ovs_view *v, uint64_t e, uint64_t key, uint64_t value)
{
    HD_ASSERT(e < ovs_places(v));
    HD_ASSERT(key < word_keys(ovs_half(v)), "OVS-1: a sign is stored as a key");
    HD_ASSERT(v->pairs || value <= UINT32_MAX, "a value is longer than its half of the word");
    if (v->pairs) ovs_at(v, e)[OVS_PAIRS] = value;
    ovs_write(v, e, v->pairs ? key : word_pack(OVS_HALF, key, value));
}

/* ---- Buckets --------------------------------------------------------------------------------- */

/* How many slots of bucket b hold this word, or key word. */
static uint32_t slots_with(const ovs_view *v, uint64_t b, uint64_t word)
{
    const uint64_t *bucket = ovs_bucket(v, b);
    uint32_t n = 0;
    for (uint32_t s = 0; s < ovs_slots(v); s++) n += bucket[s] == word;
    return n;
}

/* The first slot of bucket b that has the key. */
static uint64_t slot_of(const ovs_view *v, uint64_t b, uint64_t key)
{
    const uint64_t *bucket = ovs_bucket(v, b);
    uint32_t s = 0;
    while (s < ovs_slots(v) && ovs_key_in(v, bucket[s]) != key) s++;
    return s < ovs_slots(v) ? (b << ovs_slot_bits(v)) + s : OVS_NOWHERE;
}

bool ovs_is_open(const ovs_view *v, uint64_t b) { return slots_with(v, b, ovs_fresh_in(v)) > 0; }

void ovs_shut(ovs_view *v, uint64_t b)
{
    const uint64_t *bucket = ovs_bucket(v, b);
    for (uint32_t s = 0; s < ovs_slots(v); s++)
        if (bucket[s] == ovs_fresh_in(v)) ovs_write(v, (b << ovs_slot_bits(v)) + s, ovs_vacant_in(v));
}

uint64_t ovs_free_slot(const ovs_view *v, uint64_t b)
{
    const uint64_t *bucket = ovs_bucket(v, b);
    uint32_t s = 0;
    while (s < ovs_slots(v) && !ovs_is_free_in(v, bucket[s])) s++;
    return s < ovs_slots(v) ? (b << ovs_slot_bits(v)) + s : OVS_NOWHERE;
}

uint64_t ovs_free_slots(const ovs_view *v, uint64_t b)
{
    return (uint64_t)slots_with(v, b, ovs_fresh_in(v)) + slots_with(v, b, ovs_vacant_in(v));
}

/* ---- Ways ------------------------------------------------------------------------------------ */

uint64_t ovs_find(const ovs_view *v, uint64_t key)
{
    uint64_t h = ovs_hash(v, key);
    for (uint32_t step = 0; key < word_keys(ovs_half(v)) && step < ovs_way(v); step++) {
        uint64_t b = ovs_way_bucket(v, h, step), e = slot_of(v, b, key);
        if (e != OVS_NOWHERE) return e;
        if (ovs_is_open(v, b)) break; /* OVS-4: it is nowhere beyond */
    }
    return OVS_NOWHERE;
}

uint64_t ovs_place(ovs_view *v, uint64_t key, uint64_t value)
{
    uint64_t h = ovs_hash(v, key), e = OVS_NOWHERE;
    for (uint32_t step = 0; e == OVS_NOWHERE && step < ovs_way(v); step++)
        e = ovs_free_slot(v, ovs_way_bucket(v, h, step));
    if (e != OVS_NOWHERE) ovs_write_entry(v, e, key, value);
    HD_ASSERT(e == OVS_NOWHERE || ovs_is_sound(v, e));
    return e;
}

/* How far on the way of a key with hash h bucket b is; OVS_WAY: it is not on it. */
static uint64_t step_to(const ovs_view *v, uint64_t h, uint64_t b)
{
    uint64_t step = ovs_step_of(v, h, b & (ovs_lines(v) - 1));
    return b >> v->line_bits == ovs_segment_of(v, h) && step < ovs_way(v) ? step : (uint64_t)OVS_WAY;
}

bool ovs_put(ovs_view *v, uint64_t e, uint64_t key, uint64_t value)
{
    uint64_t h = ovs_hash(v, key);
    if (key >= word_keys(ovs_half(v)) || e >= ovs_places(v) || !ovs_is_free_in(v, *ovs_at(v, e))) return false;
    uint64_t step = step_to(v, h, ovs_bucket_of(v, e));
    if (step == OVS_WAY) return false;
    while (step-- > 0) ovs_shut(v, ovs_way_bucket(v, h, step));
    ovs_write_entry(v, e, key, value);
    return true;
}

/* ---- One item -------------------------------------------------------------------------------- */

const char *ovs_unsupported(hd_op op)
{
    if (op == HD_OP_FIND_OR_INSERT_PTR) return "ovs gives no pointers to entries that a batch inserts";
    return word_unsupported(op);
}

const char *ovs_unsupported_for(const hd_info *info, hd_op op)
{
    if (info->ovs.copy_bytes && op == HD_OP_FIND_PTR) return "a table with copies of entries gives no pointers to them";
    return ovs_unsupported(op);
}

/* Why a new key cannot have gone to slot e; NULL: it can. */
static const char *barred(const ovs_view *v, uint64_t key, uint64_t e)
{
    uint64_t h = ovs_hash(v, key);
    if (e >= ovs_places(v)) return "inserted into a slot that is none";
    if (!ovs_is_free_in(v, *ovs_at(v, e))) return "inserted into a slot that was not free";
    uint64_t step = step_to(v, h, ovs_bucket_of(v, e));
    if (step == OVS_WAY) return "inserted into a bucket that is not on its way (OVS-2)";
    while (step-- > 0)
        if (ovs_is_open(v, ovs_way_bucket(v, h, step))) return "it passed a bucket that is open (OVS-4)";
    return NULL;
}

/* An item that inserts, and whose key is absent: word_accept. */
static const char *accept_absent(void *table, const word_item *it, const word_seen *seen, uint64_t busy)
{
    ovs_view *v = (ovs_view *)table;
    if (seen->outcome == HD_PENDING) {
        uint64_t room = 0, h = ovs_hash(v, it->key);
        for (uint32_t step = 0; step < ovs_way(v); step++) room += ovs_free_slots(v, ovs_way_bucket(v, h, step));
        return room > busy ? "pending, but there was room" : NULL;
    }
    if (seen->outcome != HD_INSERTED) return "the key was absent, and the operation inserts";
    if (seen->entry == OVS_NOWHERE)
        return ovs_place(v, it->key, it->value) == OVS_NOWHERE ? "inserted, but there was no room" : NULL;
    const char *why = barred(v, it->key, seen->entry);
    if (!why) ovs_write_entry(v, seen->entry, it->key, it->value);
    HD_ASSERT(why || ovs_is_sound(v, seen->entry));
    return why;
}

static void *slot_at(const void *table, uint64_t e) { return ovs_at((const ovs_view *)table, e); }
static uint64_t find_in(const void *table, uint64_t key) { return ovs_find((const ovs_view *)table, key); }
static uint64_t place_in(void *table, uint64_t key, uint64_t value) { return ovs_place((ovs_view *)table, key, value); }
static void remove_from(void *table, uint64_t e)
{
    const ovs_view *v = (const ovs_view *)table;
    HD_ASSERT(ovs_is_key_in(v, *ovs_at(v, e)), "a slot without a key is erased");
    ovs_write(v, e, ovs_vacant_in(v));
}

word_table ovs_words_of(ovs_view *v)
{
    return (word_table){ .v = v,
                         .half = ovs_half(v),
                         .places = ovs_places(v),
                         .slot = slot_at,
                         .find = find_in,
                         .place = place_in,
                         .remove = remove_from,
                         .absent = accept_absent };
}

void ovs_apply(ovs_view *v, const word_item *it, word_seen *seen)
{
    const word_table t = ovs_words_of(v);
    word_apply(&t, it, seen);
    ovs_forget_copies_of(v, it->key);
}

const char *ovs_accept(ovs_view *v, const word_item *it, const word_seen *seen, uint64_t busy)
{
    const word_table t = ovs_words_of(v);
    ovs_forget_copies_of(v, it->key);
    return word_accept(&t, it, seen, busy);
}

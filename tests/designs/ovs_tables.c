/* SPDX-License-Identifier: Apache-2.0
 *
 * ovs_tables.c - the tables larger than the device's memory, for tests/conform_tables.h.
 */
#include "lib/table.h"
#include "ref/ovs/ovs.h"
#include "tests/conform_tables.h"

static const char *const shapes[] = {
    "usual capacity=64 segment=256 near=9100000 keys=uniform:400",
    "usual capacity=64 segment=256 value=8 near=9100000 keys=uniform:400",
    "sorted capacity=100 segment=1024 guide=digest copies=64 keys=zipf:1.1,400",
    "usual capacity=16 segment=128 partition=range keys=uniform:400",
    "usual capacity=96 segment=256 partition=range near=9100000 keys=uniform:2Gi",
    "sorted capacity=500 segment=512 partition=range copies=64 keys=zipf:1.1,900",
    "usual capacity=99 segment=256 partition=range guide=digest keys=uniform:400",
};

static const test_refusal refusals[] = {
    { "slots=32", "slots" },
    { "value_bytes=8 slots=32", "slots: ovs has buckets of 8" },
    { "value_bytes=8 segment=256 guide=digest", "guide" },
    { "value_bytes=2", "value_bytes" },
    { "value_bytes=16", "value_bytes" },
    { "segment=100", "segment" },
    { "segment=192", "power" },
    { "segment=2147483648", "segment" },
    { "layout=masks", "layout" },
    { "clock=device", "clock" },
    { "policy=lru", "policy" },
    { "partition=median", "partition" },
    { "capacity=18446744073709551615", "capacity" },
    { "copies=33", "copies: 33 bytes are no multiple of 32" },
    { "copies=32 value_bytes=8", "copies: tables with values of 8 bytes" },
};

/* ---- Invariants ------------------------------------------------------------------------------ */

#define WORDS  "usual capacity=6144 segment=16384 near=20000"
#define PAIRS  "usual capacity=3072 segment=16384 near=20000 value=8"
#define COPIES "sorted capacity=768 segment=1024 near=3073 copies=512"
#define RANGES "usual capacity=96 segment=256 partition=range"
enum { KEY = 77 };

/* Three segments; of 128 buckets, a way has half of them. */
static void lay(hd_table *t)
{
    hd_info info = test_info(t);
    uint64_t n = info.ovs.partition == HD_PARTITION_RANGE ? 0 : info.places * 5 / 8;
    for (uint64_t key = 0; key < n; key++) check(test_put(t, key, 1) == HD_INSERTED, "key %llu", (ull)key);
}

static void put_word(ovs_view *v, uint64_t bucket, uint64_t word)
{
    uint64_t e = ovs_free_slot(v, bucket);
    check(e != OVS_NOWHERE, "no room for the damage");
    *ovs_at(v, e) = word;
}

/* The first key from `key` on that is there or not, and whose segment is far or near. */
static uint64_t key_where(const ovs_view *v, uint64_t key, bool there, bool far)
{
    while ((ovs_find(v, key) != OVS_NOWHERE) != there || ovs_may_copy(v, ovs_hash(v, key)) != far) key++;
    return key;
}

/* Puts a wrong copy into its key's set, or into another one. */
static void miscopy(hd_table *t, uint64_t n)
{
    const ovs_view *v = ovs_view_of(t->state);
    uint64_t near = key_where(v, 0, true, false), far = key_where(v, 0, true, true),
             absent = key_where(v, 0, false, true), of_far = ovs_copy_number(v, ovs_hash(v, far));
    uint64_t *set = ovs_copy_set(v, ovs_hash(v, n == 2 ? near : n == 4 ? absent : far));
    const uint64_t wrong[] = { word_sign(OVS_HALF, WORD_CLAIMED, 1), word_pack(OVS_HALF, far, 1),
                               word_pack(OVS_HALF, near, 1), word_pack(OVS_HALF, far, 2),
                               word_pack(OVS_HALF, absent, 0) };
    (n == 1 ? v->copy + (of_far ^ 1) * OVS_COPIES : set)[2] = ~wrong[n];
}

static void damage(hd_table *t, uint64_t n)
{
    ovs_view *v = ovs_view_of(t->state);
    uint64_t h = ovs_hash(v, KEY), e = n < 6 ? ovs_find(v, KEY) : 0, *row = v->row, lines = ovs_lines(v),
             word = n < 6 ? *ovs_at(v, e) : 0, segment = n < 6 ? ovs_segment_of(v, h) : 0;
    switch (n) {
    case 0: *ovs_at(v, e) = word_sign(OVS_HALF, WORD_EMPTY, 5); break;
    case 1: *ovs_at(v, e) = v->pairs ? ovs_pair_busy() : word_sign(OVS_HALF, WORD_CLAIMED, KEY); break;
    case 2: put_word(v, (segment + 1) % 3 * lines + 5, word); break;
    case 3: put_word(v, segment * lines + ovs_step_in(v, h, OVS_WAY + 3), word); break;
    case 4: put_word(v, ovs_way_bucket(v, h, 40), v->pairs ? KEY : word_pack(OVS_HALF, KEY, 9)); break;
    case 5:
        test_erase(t, KEY);
        put_word(v, ovs_way_bucket(v, h, 63), word);
        ovs_bucket(v, ovs_way_bucket(v, h, 0))[3] = ovs_fresh_in(v);
        break;
    case 6: row[0] = ovs_row_pack(1, 0); break;
    case 7: row[2] = ovs_row_pack(ovs_row_first(row[1]), 2); break;
    case 8: row[1] = ovs_row_pack(ovs_row_first(row[1]), 3); break;
    default: row[1] = ovs_row_pack(ovs_row_first(row[1]), 2); break;
    }
}

static const table_damage damages[] = {
    { "a sign that is none", "OVS-3: a free slot", WORDS, damage, 0 },
    { "claimed", "OVS-3: a slot is claimed", WORDS, damage, 1 },
    { "busy", "OVS-3: a slot is claimed", PAIRS, damage, 1 },
    { "a key in another segment", "OVS-2: the key is in another segment", WORDS, damage, 2 },
    { "a key in another segment", "OVS-2: the key is in another segment", PAIRS, damage, 2 },
    { "a key beside its way", "OVS-2: the key is in a bucket", WORDS, damage, 3 },
    { "a key beside its way", "OVS-2: the key is in a bucket", PAIRS, damage, 3 },
    { "a key twice", "OVS-1: the key is in two slots", WORDS, damage, 4 },
    { "a key twice", "OVS-1: the key is in two slots", PAIRS, damage, 4 },
    { "a key behind an open bucket", "OVS-4", WORDS, damage, 5 },
    { "a key behind an open bucket", "OVS-4", PAIRS, damage, 5 },
    { "a copy of no key", "OVS-8: a copy is of no entry", COPIES, miscopy, 0 },
    { "a copy in another set", "OVS-8: a copy is in another set than its key's", COPIES, miscopy, 1 },
    { "a copy of a near key", "OVS-8: a copy is of a key of a near segment", COPIES, miscopy, 2 },
    { "a copy with another value", "OVS-8: a copy differs from the entry of its key", COPIES, miscopy, 3 },
    { "a copy of an absent key", "OVS-8: a copy differs from the entry of its key", COPIES, miscopy, 4 },
    { "a first row", "OVS-7: the first key is not above that of the row before (row 0", RANGES, damage, 6 },
    { "a row below", "OVS-7: the first key is not above that of the row before (row 2", RANGES, damage, 7 },
    { "no segment", "OVS-7: the row names no segment (row 1", RANGES, damage, 8 },
    { "a segment twice", "OVS-7: a segment has no row, or several", RANGES, damage, 9 },
};

const table_design table_this = { .name = "ovs",
                                  .shapes = shapes,
                                  .shapes_n = TABLES_COUNT(shapes),
                                  .views = true,
                                  .refusal = refusals,
                                  .refusals = TABLES_COUNT(refusals),
                                  .dictionary = true,
                                  .load = 25,
                                  .unread = 104,
                                  .damage = damages,
                                  .damages = TABLES_COUNT(damages),
                                  .lay = lay };

/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.c - makes an ovs table from a case: its memory and contents.
 */
#include "judge/ovs/fixture.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "judge/rules.h"
#include "ref/ovs/range.h"

/* Extents that growth would add exist from the beginning. */
uint32_t ovs_fixture_memory(const fixture *s, judge_memory all[JUDGE_MEMORY_MOST])
{
    static const char *const names[OVS_SCENE_EXTENTS][2] = { { "word 0", "far 0" },
                                                             { "word 1", "far 1" },
                                                             { "word 2", "far 2" } };
    const ovs_view *v = ovs_fixture_view(s);
    static const char *const digests[OVS_SCENE_EXTENTS] = { "digest 0", "digest 1", "digest 2" };
    uint64_t bytes = ovs_lines(v) * OVS_LINE;
    uint32_t n = 0;
    for (uint32_t k = 0; k < OVS_SCENE_EXTENTS; k++) {
        size_t at = offsetof(ovs_fixture_table, state.v.extent) + k * sizeof(ovs_extent);
        uint64_t near = ovs_extent_near(v, k), far = ovs_extent_segments(v, k) - near;
        if (near) all[n++] = (judge_memory){ names[k][0], at + offsetof(ovs_extent, near), near * bytes, 0xff };
        if (far) all[n++] = (judge_memory){ names[k][1], at + offsetof(ovs_extent, far), far * bytes, 0xff };
        if (k < v->guided)
            all[n++] =
                (judge_memory){ digests[k], at + offsetof(ovs_extent, digest), ovs_digest_bytes(v, near + far), 0 };
    }
    if (v->copy_sets)
        all[n++] = (judge_memory){ "copies", offsetof(ovs_fixture_table, state.v.copy),
                                   ovs_copy_words(v) * sizeof(uint64_t), 0 };
    if (v->ranges)
        all[n++] = (judge_memory){ "row", offsetof(ovs_fixture_table, state.v.row),
                                   (v->base << (OVS_SCENE_EXTENTS - 1)) * sizeof(uint64_t), HD_AS_IT_COMES };
    all[n++] = (judge_memory){ "grown", offsetof(ovs_fixture_table, grown), 2 * sizeof(uint64_t), HD_AS_IT_COMES };
    return n;
}

/* Writes to the table's memory how far it has grown. */
static void note(const ovs_fixture_table *t)
{
    t->grown[0] = t->state.v.level;
    t->grown[1] = t->state.v.split;
}

void ovs_fixture_clear(fixture *s)
{
    ovs_fixture_table *t = ovs_fixture_table_of(s);
    t->state.v.level = 0;
    t->state.v.split = 0;
    if (t->state.v.ranges) ovs_cut_evenly(&t->state.v);
    note(t);
}

void ovs_fixture_laid(void *table)
{
    ovs_fixture_table *t = (ovs_fixture_table *)table;
    t->state.v.level = (uint32_t)t->grown[0];
    t->state.v.split = t->grown[1];
}

/* ---- What is in it --------------------------------------------------------------------------- */

/* The key comes where an insertion would put it, or to a random free slot further on its way. */
static bool bring_in(ovs_view *v, hd_rng *g, uint64_t key)
{
    uint64_t h = ovs_hash(v, key), first = hd_rng_below(g, 4) ? 0 : hd_rng_below(g, ovs_way(v)),
             value = hd_rng_next(g) & word_field(ovs_half(v));
    if (ovs_find(v, key) != OVS_NOWHERE) return false;
    if (first == 0) return ovs_place(v, key, value) != OVS_NOWHERE;
    uint64_t e = ovs_free_slot(v, ovs_way_bucket(v, h, first));
    return e != OVS_NOWHERE && ovs_put(v, e, key, value);
}

/* Some keys leave, so that slots are vacant; and some buckets are shut. */
static void wear(ovs_view *v, hd_rng *g, bool keys_leave)
{
    for (uint64_t e = 0; e < ovs_places(v) && keys_leave; e++)
        if (ovs_is_key_in(v, *ovs_at(v, e)) && hd_rng_below(g, 16) == 0) *ovs_at(v, e) = ovs_vacant_in(v);
    for (uint64_t b = 0; b < ovs_buckets(v); b++)
        if (hd_rng_below(g, 4) == 0) ovs_shut(v, b);
}

/* Half of the far entries have copies. */
static void copy_some(const ovs_view *v, hd_rng *g)
{
    for (uint64_t e = 0; v->copy_sets && e < ovs_places(v); e++)
        if (ovs_is_key(*ovs_at(v, e)) && hd_rng_below(g, 2))
            ovs_copy_entry(v, ovs_key_of(*ovs_at(v, e)), (uint32_t)hd_rng_below(g, OVS_COPIES));
}

/* Keys of the batches and others, until the table is empty, half full, nearly full or full. */
bool ovs_fixture_fill(fixture *s, hd_rng *g)
{
    ovs_view *v = ovs_fixture_view(s);
    uint64_t places = ovs_places(v), lot = hd_rng_below(g, 5), n = 0;
    uint64_t most = lot == 0 ? 0 : lot == 1 ? places / 2 : lot == 2 ? places - 2 : places;
    for (uint32_t k = 0; k < s->parts; k++) {
        const hd_batch *b = &s->part[k].batch;
        for (uint64_t i = 0; judge_keyed_batch(b) && i < b->n && n < most; i++)
            if (b->key[i] < s->keys && hd_rng_below(g, 2)) n += bring_in(v, g, b->key[i]);
    }
    for (uint64_t tries = 64 * places; tries && n < most; tries--) n += bring_in(v, g, fixture_draw_key(s, g, s->keys));
    wear(v, g, lot < 4);
    copy_some(v, g);
    return true;
}

/* ---- Batches --------------------------------------------------------------------------------- */

void ovs_fixture_apply(const fixture *s, void *table, uint32_t k, const hd_batch *b)
{
    uint64_t tally[HD_OUTCOME_COUNT] = { 0 };
    (void)s, (void)k;
    ovs_run_batch(ovs_view_in(table), b, tally);
}

hd_status ovs_fixture_resize(fixture *s, void *table, uint64_t buckets)
{
    ovs_fixture_table *t = (ovs_fixture_table *)table;
    ovs_view *v = &t->state.v;
    uint64_t segments, most = v->base << (OVS_SCENE_EXTENTS - 1);
    ovs_plan p;
    (void)s;
    hd_status status = ovs_segments_for(v, buckets, &segments);
    if (!status && segments > most)
        status = hd_fail(HD_EINVAL, "buckets: this table has at most %" PRIu64, most << v->line_bits);
    if (status) return status;
    status = ovs_plan_for_size(&p, v, &hd_seams_os, segments);
    if (status) return status;
    ovs_resize(v, &p, segments);
    ovs_plan_give(&p, &hd_seams_os);
    note(t);
    return HD_OK;
}

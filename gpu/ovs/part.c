/* SPDX-License-Identifier: Apache-2.0
 *
 * part.c - calls that concern the whole of an ovs table on a device, without a copy of it: its parts in host memory
 * (hd_gpu.parts), and hd_check. A part has room for the words of a range of buckets, one after another. Far segments
 * are in host memory already, and are used there.
 */
#include <string.h>

#include "base/error.h"
#include "gpu/ovs/check_args.h"
#include "gpu/ovs/kernel_numbers.h"
#include "gpu/ovs/state.h"
#include "ref/ovs/ovs.h"
#include "ref/ovs/range.h"

static const ovs_view *view_in(const void *state) { return &((const ovs_state *)state)->v; }

uint64_t ovs_run_from(const ovs_view *v, uint64_t b)
{
    uint64_t g = b >> v->line_bits, all = ovs_segments(v), end = v->base;
    while (end <= g) end *= 2;
    if (end > all) end = all;
    if (ovs_is_near(v, g) && end > v->near_most) end = v->near_most;
    return (end << v->line_bits) - b;
}

static uint64_t part_bytes(const void *state, uint64_t buckets)
{
    (void)state;
    return buckets * OVS_LINE;
}

static uint64_t *word_in(const ovs_view *v, const hd_part *p, uint64_t e)
{
    if (!ovs_is_near(v, ovs_bucket_of(v, e) >> v->line_bits)) return ovs_at(v, e);
    HD_ASSERT(ovs_bucket_of(v, e) >= p->first && ovs_bucket_of(v, e) < p->first + p->buckets, "it is of another part");
    return (uint64_t *)p->memory + ovs_word_in(v, e) - p->first * OVS_LINE_WORDS;
}

static int part_planes(const void *state, const hd_part *p, hd_plane *all)
{
    const ovs_view *v = view_in(state);
    uint64_t end = p->first + p->buckets, run;
    int n = 0;
    for (uint64_t b = p->first; b < end && ovs_is_near(v, b >> v->line_bits); b += run) {
        run = ovs_run_from(v, b);
        if (run > end - b) run = end - b;
        HD_ASSERT(run > 0 && n < HD_MEMORY_MOST, "a run of buckets is empty");
        all[n++] = (hd_plane){ "segments", ovs_bucket(v, b), word_in(v, p, b << ovs_slot_bits(v)), run * OVS_LINE };
    }
    return n;
}

static size_t part_next(const void *state, const hd_part *p, hd_entry *e, size_t most)
{
    const ovs_view *v = view_in(state);
    uint64_t at = e->slot;
    size_t n = 0;
    for (; at < (p->first + p->buckets) << ovs_slot_bits(v) && n < most; at++) {
        uint64_t *word = word_in(v, p, at);
        if (ovs_is_key_in(v, *word)) e[n++] = (hd_entry){ at, ovs_key_in(v, *word), 0, word + OVS_PAIRS * v->pairs };
    }
    if (n == 0) e->slot = at;
    return n;
}

/* Where it comes twice, hd_check finds it. */
static bool part_put_at(const void *state, const hd_part *p, const hd_entry *e)
{
    const ovs_view *v = view_in(state);
    uint64_t h = ovs_hash(v, e->key), b = ovs_bucket_of(v, e->slot), *word = word_in(v, p, e->slot);
    if (e->key >= word_keys(ovs_half(v)) || e->score != 0 || ovs_segment_of(v, h) != b >> v->line_bits) return false;
    if (ovs_step_of(v, h, b & (ovs_lines(v) - 1)) >= ovs_way(v)) return false;
    uint64_t value = word_value_in(ovs_half(v), e);
    *word = v->pairs ? e->key : word_pack(OVS_HALF, e->key, value);
    if (v->pairs) word[OVS_PAIRS] = value;
    return true;
}

/* Far segments of an empty table are empty. */
static void part_clear(const void *state, const hd_part *p)
{
    memset(p->memory, 0xff, (size_t)part_bytes(state, p->buckets)); /* fresh */
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static hd_status launch(const ovs_state *o, const hd_gpu_machine *m, uint32_t kernel)
{
    enum { THREADS = 128 };
    uint64_t *word = o->words->check;
    const ovs_check_args a = { ovs_view_there(o), &word[0], &word[1], &word[2], o->v.row, &word[3] };
    uint64_t blocks = hd_launch_blocks(&m->on, ovs_places(&a.v), THREADS);
    return m->on.launch(m->on.self, kernel, &a, sizeof a, blocks, THREADS);
}

hd_status ovs_renew_there(const ovs_state *o, const hd_gpu_machine *m)
{
    return o->v.guided == 0 ? HD_OK : launch(o, m, OVS_NUMBER_renew);
}

static hd_status part_filled(void *state, const hd_gpu_machine *m)
{
    ovs_state *o = (ovs_state *)state;
    hd_status status = ovs_write_directory(o, &m->on);
    if (!status) status = launch(o, m, OVS_NUMBER_shut);
    return status ? status : ovs_renew_there(o, m);
}

static hd_status part_learn(void *state, const hd_seams *s, const hd_keys *keys)
{
    return ovs_learn(&((ovs_state *)state)->v, s, keys);
}

static hd_status part_changing(void *state, const hd_gpu_machine *m)
{
    return ovs_forget_copies_there((const ovs_state *)state, &m->on);
}

const hd_gpu_parts ovs_parts = { part_bytes, part_planes, part_next,   part_put_at,
                                 part_clear, part_learn,  part_filled, part_changing };

hd_status ovs_check_there(void *state, const hd_gpu_machine *m)
{
    const ovs_state *o = (const ovs_state *)state;
    uint64_t word[4] = { 0 }, row = 0, slot = 0;
    char why[256] = "";
    hd_status status = m->on.zero(m->on.self, o->words->check, sizeof word);
    if (!status) status = launch(o, m, OVS_NUMBER_check);
    if (!status) status = m->read(m->self, word, o->words->check, sizeof word);
    if (status) return status;
    slot = word[0];
    row = word[1];
    if (row)
        ovs_say_row_broken(~row / OVS_ROW_RULES, (int)(~row % OVS_ROW_RULES), why, sizeof why);
    else if (word[2])
        ovs_say_row_broken(ovs_segments(&o->v) - 1, OVS_ROW_TWICE, why, sizeof why);
    else if (slot)
        ovs_say_broken(&o->v, ~slot / OVS_RULES, (int)(~slot % OVS_RULES), why, sizeof why);
    else if (word[3])
        ovs_say_copy_broken(~word[3] / OVS_COPY_RULES, (int)(~word[3] % OVS_COPY_RULES), why, sizeof why);
    return why[0] ? hd_fail(HD_ECORRUPT, "%s", why) : HD_OK;
}

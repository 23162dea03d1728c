/* SPDX-License-Identifier: Apache-2.0
 *
 * near.c - another limit of device memory for a table that is open (hd_gpu.set_near). Segments move between device
 * memory and host memory, and the table gets other room for sorts, and other digests.
 *
 * At no moment does the table take more than the larger of both limits. So digests and near segments that do not fit
 * beside the old and the new room for sorts are given back first. An extent gets its new parts before its old ones are
 * given back; if both near parts are too much, all its segments are far for a moment. After each step the table is
 * whole, so a failure loses no entry.
 */
#include <stdio.h>

#include "base/error.h"
#include "gpu/launches.h"
#include "gpu/ovs/args.h"
#include "gpu/ovs/kernel_numbers.h"
#include "gpu/ovs/state.h"
#include "ref/ovs/ovs.h"

/* What a table is to become. */
typedef struct goal {
    uint64_t near_bytes, near_most;
    uint32_t guided;
} goal;

static uint64_t less(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t beyond(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

static uint32_t extents(const ovs_view *v) { return ovs_extents_for(v, ovs_segments(v)); }

/* ---- Digests --------------------------------------------------------------------------------- */

/* Bytes of those that are there, if the first k extents have digests. */
static uint64_t digest_bytes(const ovs_view *v, uint32_t k)
{
    k = (uint32_t)less(k, extents(v));
    return k ? ovs_digest_bytes(v, v->base << (k - 1)) : 0;
}

/* The piece of extent k where the table has it. */
static hd_memory digest_piece(const ovs_view *v, uint32_t k)
{
    hd_memory parts[OVS_EXTENT_ARRAYS];
    ovs_extents_memory(v, k, parts);
    parts[OVS_EXTENT_ARRAYS - 1].fill = 0;
    return parts[OVS_EXTENT_ARRAYS - 1];
}

static void drop_digests(ovs_state *o, const hd_gpu_machine *m, uint32_t guided)
{
    for (uint32_t k = guided; k < o->v.guided && k < extents(&o->v); k++) {
        hd_memory piece = digest_piece(&o->v, k);
        hd_machine_give(m, o, &piece, 1);
    }
    o->v.guided = guided;
}

static hd_status add_digests(ovs_state *o, const hd_gpu_machine *m, uint32_t guided)
{
    uint32_t had = o->v.guided;
    hd_status status = HD_OK;
    if (guided == had) return HD_OK;
    o->v.guided = guided;
    for (uint32_t k = had; k < guided && k < extents(&o->v) && !status; k++) {
        hd_memory piece = digest_piece(&o->v, k);
        status = hd_machine_take(m, o, &piece, 1);
    }
    if (!status && had < extents(&o->v)) status = ovs_renew_there(o, m);
    if (status) drop_digests(o, m, had);
    return status;
}

/* ---- Segments -------------------------------------------------------------------------------- */

/* Copies the segments of extent k to their homes in `to`, and waits. */
static hd_status copy_extent(const ovs_state *o, const hd_gpu_machine *m, uint32_t k, const ovs_view *to)
{
    enum { THREADS = 128 };
    uint64_t first = ovs_extent_first(to, k), n = ovs_extent_segments(to, k), done;
    n = less(n, ovs_segments(to) - first);
    const ovs_move_args a = { o->v, *to, first, first + n };
    uint64_t blocks = hd_launch_blocks(&m->on, n * ovs_segment_words(to), THREADS);
    hd_status status = m->on.launch(m->on.self, OVS_NUMBER_move, &a, sizeof a, blocks, THREADS);
    return status ? status : m->read(m->self, &done, &o->words->next, sizeof done);
}

/* The first near_most segments are near, as far as extent k goes; the other extents have that already. */
static hd_status rehome(ovs_state *o, const hd_gpu_machine *m, uint32_t k, uint64_t near_most)
{
    enum { WORDS = OVS_EXTENT_ARRAYS - 1 }; /* without digests */
    hd_memory was[OVS_EXTENT_ARRAYS], is[OVS_EXTENT_ARRAYS];
    ovs_view then = o->v;
    then.near_most = near_most;
    HD_ASSERT(!o->other.near && !o->other.far, "an extent has two homes already");
    ovs_extent_memory(&o->v, k, offsetof(ovs_state, other), was);
    ovs_extent_memory(&then, k, offsetof(ovs_state, other), is);
    hd_status status = hd_machine_take(m, o, is, WORDS);
    if (status) return status;
    then.extent[k].near = o->other.near;
    then.extent[k].far = o->other.far;
    status = copy_extent(o, m, k, &then);
    if (status) {
        hd_machine_give(m, o, is, WORDS);
        return status;
    }
    o->other = o->v.extent[k];
    o->v = then;
    hd_machine_give(m, o, was, WORDS);
    o->other.digest = NULL; /* it stays */
    return HD_OK;
}

static uint64_t near_segments(const ovs_view *v) { return less(v->near_most, v->base << (extents(v) - 1)); }

/* most: near segments, at any moment. */
static hd_status move_extent(ovs_state *o, const hd_gpu_machine *m, uint32_t k, uint64_t near_most, uint64_t most)
{
    uint64_t first = ovs_extent_first(&o->v, k), had = ovs_extent_near(&o->v, k),
             has = less(beyond(near_most, first), ovs_extent_segments(&o->v, k));
    hd_status status = HD_OK;
    if (had == has) return HD_OK;
    if (had && has && has > beyond(most, near_segments(&o->v))) status = rehome(o, m, k, first);
    return status ? status : rehome(o, m, k, first + has);
}

/* Near segments become far from the last extent on, far ones near from the first. */
static hd_status move_segments(ovs_state *o, const hd_gpu_machine *m, uint64_t near_most, uint64_t most)
{
    uint32_t n = extents(&o->v);
    hd_status status = HD_OK;
    for (uint32_t k = n; k-- > 0 && !status && near_most < o->v.near_most;)
        status = move_extent(o, m, k, near_most, most);
    for (uint32_t k = 0; k < n && !status && near_most > o->v.near_most; k++)
        status = move_extent(o, m, k, near_most, most);
    HD_ASSERT(status || near_segments(&o->v) <= most, "more segments are near than the limit has room for");
    if (!status) o->v.near_most = near_most;
    return status;
}

/* ---- Room for sorts -------------------------------------------------------------------------- */

static hd_gpu_state limited(const hd_gpu_state *gpu, uint64_t near_bytes)
{
    hd_gpu_state then = *gpu;
    then.info.ovs.near_bytes = near_bytes;
    return then;
}

static uint64_t sort_bytes(const hd_gpu_state *gpu)
{
    hd_memory all[HD_MEMORY_MOST];
    return hd_memory_scratch(all, ovs_sort_memory(gpu, 0, all));
}

/* From here on the limit is the new one. */
static hd_status exchange_sorts(ovs_state *o, const hd_gpu_machine *m, uint64_t near_bytes)
{
    const hd_gpu_state then = limited(&o->gpu, near_bytes);
    hd_memory was[HD_MEMORY_MOST], is[HD_MEMORY_MOST];
    int n = ovs_sort_memory(&o->gpu, offsetof(ovs_state, others), was);
    ovs_sort_memory(&then, offsetof(ovs_state, others), is);
    if (sort_bytes(&o->gpu) != sort_bytes(&then)) {
        hd_status status = hd_machine_take(m, o, is, n);
        if (status) return status;
        const ovs_sorts old = o->sorts;
        o->sorts = o->others;
        o->others = old;
        hd_machine_give(m, o, was, n);
    }
    o->gpu.info.ovs.near_bytes = near_bytes;
    return HD_OK;
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* How many segments may be near, if the table takes so much besides; `limit`: of device memory. */
static uint64_t most_near(const ovs_state *o, uint64_t limit, uint64_t besides)
{
    uint64_t bytes = ovs_scratch_bytes(&o->gpu.info) + digest_bytes(&o->v, o->v.guided) + besides;
    return beyond(limit, bytes) / o->gpu.info.ovs.segment_bytes;
}

static hd_status become(ovs_state *o, const hd_gpu_machine *m, const goal *g, uint64_t limit)
{
    const hd_gpu_state then = limited(&o->gpu, g->near_bytes);
    uint64_t had = sort_bytes(&o->gpu), has = sort_bytes(&then), both = had == has ? 0 : has, near;
    uint32_t keep = (uint32_t)less(o->v.guided, g->guided);
    if (beyond(limit, ovs_scratch_bytes(&o->gpu.info) + both) < digest_bytes(&o->v, keep)) keep = 0;
    drop_digests(o, m, keep);
    near = less(less(o->v.near_most, g->near_most), most_near(o, limit, both));
    hd_status status = move_segments(o, m, near, most_near(o, limit, 0));
    if (!status) status = exchange_sorts(o, m, g->near_bytes);
    if (!status) status = move_segments(o, m, g->near_most, most_near(o, limit, 0));
    HD_ASSERT(status || o->v.near_most == g->near_most);
    return status ? status : add_digests(o, m, g->guided);
}

/* And back, as far as there is memory, if that fails. */
static hd_status become_or_stay(ovs_state *o, const hd_gpu_machine *m, const goal *g)
{
    const goal was = { o->gpu.info.ovs.near_bytes, o->v.near_most, o->v.guided };
    uint64_t limit = was.near_bytes > g->near_bytes ? was.near_bytes : g->near_bytes;
    char why[512];
    if (!o->gpu.device || was.near_bytes == 0 || g->near_bytes == 0) limit = UINT64_MAX;
    hd_status status = become(o, m, g, limit);
    if (!status) return HD_OK;
    snprintf(why, sizeof why, "%s", hd_why());
    if (become(o, m, &was, limit)) hd_fail_because("%s", why); /* the first failure is told */
    return status;
}

hd_status ovs_set_near(void *state, void *entries, const hd_gpu_machine *m, uint64_t near_bytes, hd_info *info)
{
    ovs_state *o = (ovs_state *)state;
    hd_info then = *info;
    then.ovs.near_bytes = near_bytes;
    hd_status status = ovs_fits_near(&then, o->gpu.device);
    if (!status) {
        const ovs_view v = ovs_view_on(&then, o->gpu.device);
        const goal g = { near_bytes, v.near_most, v.guided };
        ovs_drop_directory(o, m);
        status = ovs_forget_copies_there(o, &m->on);
        if (!status) status = become_or_stay(o, m, &g);
        hd_status copied = ovs_copy_directory(o, m, ovs_near_rows_for(&o->gpu.info, o->gpu.device));
        if (!status) status = copied;
    }
    if (entries) *ovs_view_of(entries) = o->v;
    info->ovs.near_bytes = o->gpu.info.ovs.near_bytes;
    ovs_tell_info(o, info);
    return status;
}

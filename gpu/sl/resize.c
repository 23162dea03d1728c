/* SPDX-License-Identifier: Apache-2.0
 *
 * resize.c - a table that grows or shrinks: memory of another size is taken, kernels carry all segments there
 * (relocate.h), and the old memory is given back. Until the last launch has run, the table is what it was.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "gpu/sl/relocate_args.h"
#include "gpu/sl/launch.h"
#include "gpu/sl/state.h"
#include "ref/sl/sl.h"

static void give_homes(const sl_state *o, const hd_gpu_machine *m, size_t at)
{
    hd_memory all[HD_MEMORY_MOST];
    const sl_homes *h = at == offsetof(sl_state, at) ? &o->at : &o->next;
    hd_machine_give(m, o, all, sl_homes_memory(o, h, at, all));
}

static hd_status take_homes(sl_state *o, const hd_gpu_machine *m, uint64_t homes)
{
    hd_memory all[HD_MEMORY_MOST];
    sl_homes_begin(o, &o->next, homes);
    hd_status status = hd_machine_take(m, o, all, sl_homes_memory(o, &o->next, offsetof(sl_state, next), all));
    if (!status && !o->gpu.device) o->next.far = o->next.v.word + o->next.near * o->next.v.fit * o->next.v.words;
    return status;
}

static hd_status launch(const hd_gpu_machine *m, uint32_t kernel, const sl_carry_args *c, uint64_t lanes)
{
    return m->on.launch(m->on.self, kernel, c, sizeof *c, hd_launch_blocks(&m->on, lanes, SL_THREADS), SL_THREADS);
}

static hd_status carry(const sl_state *o, const hd_gpu_machine *m, uint64_t rows, sl_carry_how how)
{
    const sl_carry_args c = { sl_args_of(o, &o->at), sl_args_of(o, &o->next), rows, how };
    hd_status status = HD_OK;
    if (how == SL_CARRY_FULL) status = launch(m, SL_NUMBER_carry_sums, &c, (uint64_t)c.from.row_shares * 32);
    if (!status) status = sl_sum_rows_of(m, &c.from, rows);
    if (!status) status = launch(m, SL_NUMBER_carry, &c, rows * SL_THREADS);
    return status ? status : launch(m, SL_NUMBER_carry_end, &c, 1);
}

/* How many entries the table has, and rows. */
static hd_status measure(const sl_state *o, const hd_gpu_machine *m, uint64_t *size, uint64_t *rows)
{
    sl_args a = sl_args_of(o, &o->at);
    a.b.op = HD_OP_SIZE;
    a.b.count = &o->words->sum;
    hd_status status = m->on.zero(m->on.self, a.b.count, sizeof *a.b.count);
    if (!status)
        status = m->on.launch(m->on.self, hd_variant_row_of(sl_variants, "segments", SL_SWEEP), &a, sizeof a,
                              hd_launch_blocks(&m->on, a.v.homes, SL_THREADS), SL_THREADS);
    if (!status) status = m->read(m->self, size, a.b.count, sizeof *size);
    return status ? status : m->read(m->self, rows, &o->words->numbers.rows, sizeof *rows);
}

static hd_status resize_to(sl_state *o, void *entries, const hd_gpu_machine *m, uint64_t homes)
{
    uint64_t size = 0, rows = 0, had = o->at.v.homes;
    hd_status status = measure(o, m, &size, &rows);
    if (status) return status;
    homes = sl_homes_to_have(sl_view_for(&o->gpu.info), had, homes, size);
    HD_ASSERT(rows > 0 && rows <= had && size <= had * o->at.v.fit, "SL-1: more segments than homes");
    if (homes == had) return HD_OK;
    status = take_homes(o, m, homes);
    if (!status)
        status = carry(o, m, rows, homes > had ? SL_CARRY_SAME : rows <= homes ? SL_CARRY_FIRST : SL_CARRY_FULL);
    if (!status) status = m->read(m->self, &rows, &o->words->numbers.rows, sizeof rows);
    if (status) {
        give_homes(o, m, offsetof(sl_state, next));
        return status;
    }
    sl_homes was = o->at;
    o->at = o->next;
    o->next = was;
    give_homes(o, m, offsetof(sl_state, next));
    HD_ASSERT(rows > 0 && rows <= o->at.v.homes, "SL-1: more segments than homes");
    o->at.v.rows = rows;
    if (entries) *sl_view_of(entries) = o->at.v;
    return HD_OK;
}

hd_status sl_resize_there(void *state, void *entries, const hd_gpu_machine *m, uint64_t buckets, hd_info *info)
{
    sl_state *o = (sl_state *)state;
    uint64_t homes;
    hd_status status = sl_may_have(info, buckets, &homes);
    if (!status) status = sl_fits_near(info, homes);
    if (!status) status = resize_to(o, entries, m, homes);
    sl_tell_info(o, info);
    return status;
}

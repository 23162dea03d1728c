/* SPDX-License-Identifier: Apache-2.0
 *
 * near.c - another limit of device memory for an ordered table that is open (hd_gpu.set_near).
 *
 * The number of near homes changes, and with it the memory of segments and of near keys. Old and new device memory
 * together could exceed the limit. So all segments become far first, with their near keys in host memory, and then the
 * new near homes get their memory. A table that cannot get it stays as it is then: its kernels read near keys over the
 * bus, and the next limit that is set ends that.
 */
#include <stdio.h>

#include "base/error.h"
#include "gpu/sl/relocate_args.h"
#include "gpu/sl/launch.h"
#include "gpu/sl/state.h"
#include "ref/sl/sl.h"

/* Of what depends on the number of near homes. */
static int near_memory(const sl_state *o, const sl_homes *h, size_t at, hd_memory *all)
{
    return sl_near_memory(o, h, at, o->gpu.device, all);
}

/* Of o->next. */
static void give_next(const sl_state *o, const hd_gpu_machine *m)
{
    hd_memory all[HD_MEMORY_MOST];
    hd_machine_give(m, o, all, near_memory(o, &o->next, offsetof(sl_state, next), all));
}

/* o->next is the table with so many near homes, whose segments are not there yet. */
static hd_status take_next(sl_state *o, const hd_gpu_machine *m, uint64_t near, bool keys_here)
{
    hd_memory all[HD_MEMORY_MOST];
    sl_homes *h = &o->next;
    HD_ASSERT(near <= o->at.v.homes, "more homes are near than there are");
    *h = o->at;
    h->near = h->v.near = near;
    h->keys_here = keys_here;
    int n = near_memory(o, h, offsetof(sl_state, next), all);
    for (int i = 0; i < n; i++) hd_field_set(o, all[i].field, NULL);
    hd_status status = hd_machine_take(m, o, all, n);
    if (!status && !o->gpu.device) h->far = h->v.word + near * h->v.fit * h->v.words;
    return status;
}

/* Copies all segments to their homes in o->next, with their near keys, and waits. */
static hd_status carry_words(const sl_state *o, const hd_gpu_machine *m)
{
    uint64_t rows = 0;
    hd_status status = m->read(m->self, &rows, &o->words->numbers.rows, sizeof rows);
    if (status) return status;
    const sl_carry_args c = { sl_args_of(o, &o->at), sl_args_of(o, &o->next), rows, SL_CARRY_WORDS };
    status = sl_sum_rows_of(m, &c.from, rows);
    if (!status)
        status = m->on.launch(m->on.self, SL_NUMBER_carry, &c, sizeof c,
                              hd_launch_blocks(&m->on, rows * SL_THREADS, SL_THREADS), SL_THREADS);
    return status ? status : m->read(m->self, &rows, &o->words->numbers.rows, sizeof rows);
}

/* All of it, or nothing. */
static hd_status rehome(sl_state *o, const hd_gpu_machine *m, uint64_t near, bool keys_here)
{
    hd_status status = take_next(o, m, near, keys_here);
    if (!status) status = carry_words(o, m);
    if (!status) {
        const sl_homes was = o->at;
        o->at = o->next;
        o->next = was;
    }
    give_next(o, m);
    return status;
}

static hd_status move_to(sl_state *o, const hd_gpu_machine *m, uint64_t near)
{
    uint64_t was = o->at.near;
    char why[512];
    if (near == was) return HD_OK;
    hd_status status = was ? rehome(o, m, 0, true) : HD_OK;
    if (status) return status;
    status = rehome(o, m, near, false);
    if (!status || !was) return status;
    snprintf(why, sizeof why, "%s", hd_why());
    if (rehome(o, m, was, false)) hd_fail_because("%s", why); /* the first failure is told */
    return status;
}

hd_status sl_set_near(void *state, void *entries, const hd_gpu_machine *m, uint64_t near_bytes, hd_info *info)
{
    sl_state *o = (sl_state *)state;
    hd_info then = *info;
    then.sl.near_bytes = near_bytes;
    hd_status status = sl_fits_near(&then, o->at.v.homes);
    if (!status) status = move_to(o, m, sl_near_homes(&then, o->at.v.homes));
    if (!status) info->sl.near_bytes = near_bytes;
    if (entries) *sl_view_of(entries) = o->at.v;
    sl_tell_info(o, info);
    return status;
}

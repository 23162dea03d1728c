/* SPDX-License-Identifier: Apache-2.0
 *
 * grow.c - a table grows, shrinks, and changes its limit of device memory.
 */
#include <inttypes.h>
#include <stddef.h>

#include "base/backend.h"
#include "base/error.h"
#include "lib/table.h"

/* Under the lock as inserter, in place. */
static hd_status resize(hd_table *t, uint64_t buckets, bool grows)
{
    hd_info info = t->info;
    if (buckets == 0) return hd_fail(HD_EINVAL, "buckets: a table has at least one");
    if (grows ? buckets < info.buckets : buckets > info.buckets)
        return hd_fail(HD_EINVAL, "buckets: %" PRIu64 " are %s than the present %" PRIu64, buckets,
                       grows ? "fewer" : "more", info.buckets);
    hd_status status = buckets == info.buckets ? HD_OK : t->backend->resize(t->state, &t->seams, buckets, &info);
    hd_table_become(t, &info); /* also where a device failed behind it */
    return status;
}

/* A new state, which the entries move into. The old one stands until the new one is whole. Of the designs here, only
 * those without kernels grow so; a design with kernels may, as long as it has none for growth. */
static hd_status grow_anew(hd_table *t, const hd_info *info)
{
    void *state;
    hd_status status = t->backend->open(t->design, info, &t->seams, &state);
    if (status) return status;
    status = hd_stage(t->backend, t->state, true);
    if (!status && !(status = hd_stage(t->backend, state, true))) {
        t->backend->move_all(t->state, state);
        status = hd_settle(t->backend, state, true);
    }
    if (!status) status = hd_late_tally(t);
    if (status) {
        hd_settle(t->backend, t->state, false);
        t->backend->close(state, &t->seams);
        return status;
    }
    t->backend->close(t->state, &t->seams);
    t->state = state;
    return HD_OK;
}

hd_status hd_larger_shape(const hd_design *d, const hd_backend *on, uint64_t buckets, hd_info *info)
{
    if (buckets > (uint64_t)PTRDIFF_MAX / info->slots / (HD_METADATA_MOST + (uint64_t)info->value_bytes))
        return hd_fail(HD_EINVAL, "buckets: %" PRIu64 " are more than can be addressed", buckets);
    hd_config c = hd_config_default();
    c.capacity = buckets * info->slots;
    c.slots = info->slots;
    c.value_bytes = info->value_bytes;
    hd_params_of_info(d->params, info, &c);
    hd_status status = on->shape(d, &c, info);
    info->places = info->capacity;
    return status;
}

static hd_status grow_table(hd_table *t, uint64_t buckets)
{
    hd_info info = t->info;
    if (t->design->ref->resize) return resize(t, buckets, true);
    if (buckets == 0 || buckets % info.buckets)
        return hd_fail(HD_EINVAL, "buckets: %" PRIu64 " is no multiple of the present %" PRIu64, buckets, info.buckets);
    if (buckets == info.buckets) return HD_OK;
    hd_status status = hd_larger_shape(t->design, t->backend, buckets, &info);
    if (status) return status;
    if (t->backend->grow && t->design->gpu->grow) {
        status = hd_late_tally(t);
        if (!status) status = t->backend->grow(t->design, &t->seams, &info, &t->state);
    } else {
        status = grow_anew(t, &info);
    }
    if (!status) hd_table_become(t, &info);
    return status;
}

/* Under the lock as inserter. */
hd_status hd_table_grow(hd_table *t, uint64_t buckets)
{
    hd_status status = hd_store_may_change(t);
    return status ? status : hd_store_changed(t, grow_table(t, buckets));
}

hd_status hd_table_room_for(hd_table *t, const uint64_t *key, uint64_t n, bool *made)
{
    hd_info info = t->info;
    *made = false;
    if (!t->design->ref->room_for) return HD_OK;
    hd_status status = hd_store_may_change(t);
    if (status) return status;
    status = t->backend->room_for(t->state, &t->seams, key, n, &info, made);
    hd_table_become(t, &info);
    return hd_store_changed(t, status);
}

/* Grows the table to so many buckets, or refuses and leaves it as heddle.h says. */
hd_status hd_grow(hd_table *t, uint64_t buckets)
{
    if (!t) return hd_fail(HD_EINVAL, "table: NULL");
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_status status = hd_table_grow(t, buckets);
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}

/* Shrinks the table to so many buckets, where the design can. */
hd_status hd_shrink(hd_table *t, uint64_t buckets)
{
    if (!t) return hd_fail(HD_EINVAL, "table: NULL");
    const hd_backend *ref = t->design->ref;
    if (!ref->resize || ref->grows_only) return hd_fail(HD_EINVAL, "table: design %s does not shrink", t->design->name);
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_status status = hd_store_may_change(t);
    if (!status) status = hd_store_changed(t, resize(t, buckets, false));
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}

/* Changes the limit of device memory of an open table, where the design can. */
hd_status hd_set_near(hd_table *t, uint64_t near_bytes)
{
    if (!t) return hd_fail(HD_EINVAL, "table: NULL");
    if (!t->design->ref->set_near)
        return hd_fail(HD_EINVAL, "table: design %s does not change its limit of device memory while it is open",
                       t->design->name);
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_info info = t->info;
    hd_status status = t->backend->set_near(t->state, &t->seams, near_bytes, &info);
    hd_table_become(t, &info); /* also where it failed on the way */
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}

/* Grows the table until its capacity is at least this, by whole multiples where the design needs that. */
hd_status hd_reserve(hd_table *t, uint64_t capacity)
{
    if (!t) return hd_fail(HD_EINVAL, "table: NULL");
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_status status = HD_OK;
    uint64_t times = capacity / t->info.capacity + (capacity % t->info.capacity != 0);
    /* no overflow: of the 2^64 entries that can be asked for, a bucket has two at least */
    if (times > 1)
        status = hd_table_grow(t, t->design->ref->resize ? capacity / t->info.slots + (capacity % t->info.slots != 0)
                                                         : times * t->info.buckets);
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}

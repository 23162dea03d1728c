/* SPDX-License-Identifier: Apache-2.0
 *
 * copies.c - copies of entries (layout.h), of a table at rest.
 */

#include <string.h>

#include "ref/ovs/ovs.h"

void ovs_forget_copies_of(const ovs_view *v, uint64_t key)
{
    if (v->copy_sets == 0) return;
    uint64_t *set = ovs_copy_set(v, ovs_hash(v, key));
    for (uint32_t k = 0; k < OVS_COPIES; k++)
        if (ovs_is_copy_of(set[k], key)) set[k] = 0;
}

void ovs_forget_copies(const ovs_view *v)
{
    if (v->copy_sets) memset(v->copy, 0, ovs_copy_words(v) * sizeof *v->copy);
}

void ovs_copy_entry(const ovs_view *v, uint64_t key, uint32_t at)
{
    uint64_t e = ovs_find(v, key), h = ovs_hash(v, key);
    if (e == OVS_NOWHERE || !ovs_may_copy(v, h)) return;
    ovs_forget_copies_of(v, key);
    HD_ASSERT(at < OVS_COPIES && !v->pairs, "OVS-8: a set has no such place");
    ovs_copy_set(v, h)[at] = ~*ovs_at(v, e);
    HD_ASSERT(ovs_copy_wrong(v, ovs_copy_number(v, h) * OVS_COPIES + at, ovs_copy_set(v, h)[at]) == OVS_COPY_RULES);
}

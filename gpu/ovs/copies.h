/* SPDX-License-Identifier: Apache-2.0
 *
 * copies.h - copies of far entries (ref/ovs/layout.h) in kernels. A lane loads a set, one sector, at once.
 */
#ifndef OVS_COPIES_IN_KERNELS_H
#define OVS_COPIES_IN_KERNELS_H

#include "gpu/ovs/args.h"
#include "gpu/words.h"
#include "ref/ovs/layout.h"

typedef struct ovs_set {
    uint64_t *at;
    uint64_t word[OVS_COPIES];
} ovs_set;

SIMT_FN ovs_set ovs_load_set(const ovs_view *v, uint64_t h)
{
    ovs_set s;
    s.at = ovs_copy_set(v, h);
    gpu_load_two(s.at, false, &s.word[0], &s.word[1]);
    gpu_load_two(s.at + 2, false, &s.word[2], &s.word[3]);
    return s;
}

/* Readers: the copy of the key; 0: there is none. One that is found moves towards the front of its set. */
SIMT_FN uint64_t ovs_copy_of(const ovs_view *v, uint64_t h, uint64_t key)
{
    ovs_set s = ovs_load_set(v, h);
    uint64_t found = 0, before = 0;
    uint32_t place = 0;
    SIMT_UNROLL
    for (uint32_t k = OVS_COPIES; k-- > 0;) {
        if (!ovs_is_copy_of(s.word[k], key)) continue;
        found = s.word[k];
        before = k ? s.word[k - 1] : 0;
        place = k;
    }
    if (found && place) {
        simt_strlx_u64(s.at + place - 1, found);
        simt_strlx_u64(s.at + place, before);
    }
    return found;
}

/* Readers: the word of an entry of a far segment gets a copy, in a free place of its set or the last one. */
SIMT_FN void ovs_keep_copy(const ovs_view *v, uint64_t h, uint64_t word)
{
    ovs_set s = ovs_load_set(v, h);
    uint32_t place = OVS_COPIES - 1;
    bool there = false;
    SIMT_UNROLL
    for (uint32_t k = OVS_COPIES; k-- > 0;) {
        there = there || s.word[k] == ~word;
        if (s.word[k] == 0) place = k;
    }
    if (!there) simt_strlx_u64(s.at + place, ~word);
}

/* The entry of the key, with hash h, has changed, or is gone: its copies become `copy`, or 0, which is none. */
SIMT_FN void ovs_renew_copies(const ovs_view *v, uint64_t h, uint64_t key, uint64_t copy)
{
    if (!ovs_may_copy(v, h)) return;
    ovs_set s = ovs_load_set(v, h);
    SIMT_UNROLL
    for (uint32_t k = 0; k < OVS_COPIES; k++)
        if (ovs_is_copy_of(s.word[k], key)) simt_strlx_u64(s.at + k, copy);
}
SIMT_FN void ovs_lose_copies(const ovs_view *v, uint64_t h, uint64_t key) { ovs_renew_copies(v, h, key, 0); }

#endif

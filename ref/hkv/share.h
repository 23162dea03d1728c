/* SPDX-License-Identifier: Apache-2.0
 *
 * share.h - what threads share out, and the parts of a batch's run that are files of their own.
 */
#ifndef HD_HKV_SHARE_H
#define HD_HKV_SHARE_H

#include "ref/hkv/hkv.h"

enum { HKV_PARALLEL_ITEMS = 2048 }; /* fewer items are not worth waking threads for: that takes some 10 us */

/* Which of so many threads runs the items of bucket b. Neighbours are in different shares: all threads take part in a
 * batch whose keys are in one part of the table. */
static inline uint32_t hkv_owner(uint64_t b, uint64_t threads)
{
    return (uint32_t)((uint64_t)(uint32_t)((uint32_t)b * 0x9e3779b1u) * threads >> 32);
}

/* Operations without keys (sweep.c). */
void hkv_run_scan(hkv_view *v, const hd_batch *b, hkv_when when);
void hkv_run_promote(hkv_view *v, const hd_batch *b, hkv_when when);

#endif

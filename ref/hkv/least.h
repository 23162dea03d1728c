/* SPDX-License-Identifier: Apache-2.0
 *
 * least.h - which entry of a bucket, or which group of entries, has the least score or bound. The first one, if several
 * have it.
 */
#ifndef HD_HKV_LEAST_H
#define HD_HKV_LEAST_H

#include "ref/hkv/layout.h"

/* Of the n entries from e on, n > 0: which one it is, and its score. */
uint32_t hkv_least_score(const hkv_view *v, uint64_t e, uint32_t n, uint64_t *least);

/* Of the HKV_BOUNDED entries from e on. */
uint32_t hkv_least_of_group(const hkv_view *v, uint64_t e, uint64_t *least);

/* Of the groups of the bucket that entry e begins: the slot with which it begins, and its bound. */
uint32_t hkv_least_bound(const hkv_view *v, uint64_t e, uint64_t *least);

#endif

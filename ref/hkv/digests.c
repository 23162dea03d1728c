/* SPDX-License-Identifier: Apache-2.0
 *
 * digests.c - see digests.h.
 */
#include "ref/hkv/digests.h"

/* The last step of each size overlaps the one before it. */
hkv_mask hkv_digests_equal(const uint8_t *p, uint32_t n, uint8_t digest)
{
    hkv_mask equal = 0;
    HD_ASSERT(n < HKV_DIGESTS_AT_ONCE);
    if (n >= 64)
        return hkv_digests_equal_64(p, digest) | (hkv_mask)hkv_digests_equal_64(p + n - 64, digest) << (n - 64);
    if (n >= 16) {
        uint64_t some = hkv_digests_equal_16(p + n - 16, digest) << (n - 16);
        for (uint32_t i = 0; i + 16 < n; i += 16) some |= hkv_digests_equal_16(p + i, digest) << i;
        return some;
    }
    if (n >= 8) return hkv_digests_equal_8(p, digest) | hkv_digests_equal_8(p + n - 8, digest) << (n - 8);
    for (uint32_t i = 0; i < n; i++) equal |= (hkv_mask)(p[i] == digest) << i;
    return equal;
}

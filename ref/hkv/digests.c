/* SPDX-License-Identifier: Apache-2.0
 *
 * digests.c - see digests.h.
 */
#include "ref/hkv/digests.h"

hkv_mask hkv_digests_equal(const uint8_t *p, uint32_t n, uint8_t digest)
{
    hkv_mask equal = 0;
    uint32_t i = 0;
    for (; i + 16 <= n; i += 16) equal |= (hkv_mask)hkv_digests_equal_16(p + i, digest) << i;
    for (; i + 8 <= n; i += 8) equal |= (hkv_mask)hkv_digests_equal_8(p + i, digest) << i;
    for (; i < n; i++) equal |= (hkv_mask)(p[i] == digest) << i;
    return equal;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * mix32.h - what MurmurHash3_x86_32 and CityHash32 have in common: a block joins the hash so far, and the finaliser
 * (Appleby).
 */
#ifndef HD_MIX32_H
#define HD_MIX32_H

#include "simt/fn.h"

HD_FN uint32_t hd_rotl32(uint32_t x, int by) { return x << by | x >> (32 - by); }

/* CityHash32's Mur() rotates to the right, by 17 and 19: the same. */
HD_FN uint32_t hd_block32(uint32_t h, uint32_t block)
{
    h ^= hd_rotl32(block * 0xcc9e2d51u, 15) * 0x1b873593u;
    return hd_rotl32(h, 13) * 5 + 0xe6546b64u;
}

HD_FN uint32_t hd_mix32(uint32_t h)
{
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

#endif

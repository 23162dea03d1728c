/* SPDX-License-Identifier: Apache-2.0
 *
 * crc.h - cyclic redundancy checks of keys, a byte at a time by a table (Sarwate: Computation of Cyclic Redundancy
 * Checks via Table Look-Up, CACM 31(8), 1988), in the reflected form: registers of all ones at the beginning, inverted
 * at the end.
 *
 * Entry i of the table is the remainder of byte i, and remainders are linear: it is the XOR of the remainders of i's
 * bits. So eight numbers, the entries 1, 2, 4 ... 128, say all 256, and the compiler multiplies them out.
 */
#ifndef HD_CRC_H
#define HD_CRC_H

#include "simt/fn.h"

/* The entries x ^ (those of the low 1, 2, ... 8 bits), in order; a to h are the remainders of bits 0 to 7. */
#define HD_CRC_2(x, a)                     (x), (x) ^ (a)
#define HD_CRC_4(x, a, b)                  HD_CRC_2(x, a), HD_CRC_2((x) ^ (b), a)
#define HD_CRC_8(x, a, b, c)               HD_CRC_4(x, a, b), HD_CRC_4((x) ^ (c), a, b)
#define HD_CRC_16(x, a, b, c, d)           HD_CRC_8(x, a, b, c), HD_CRC_8((x) ^ (d), a, b, c)
#define HD_CRC_32(x, a, b, c, d, e)        HD_CRC_16(x, a, b, c, d), HD_CRC_16((x) ^ (e), a, b, c, d)
#define HD_CRC_64(x, a, b, c, d, e, f)     HD_CRC_32(x, a, b, c, d, e), HD_CRC_32((x) ^ (f), a, b, c, d, e)
#define HD_CRC_128(x, a, b, c, d, e, f, g) HD_CRC_64(x, a, b, c, d, e, f), HD_CRC_64((x) ^ (g), a, b, c, d, e, f)
#define HD_CRC_256(x, a, b, c, d, e, f, g, h) \
    HD_CRC_128(x, a, b, c, d, e, f, g), HD_CRC_128((x) ^ (h), a, b, c, d, e, f, g)

/* name_of32 and name_of64 by the remainders a to h of the bits 0 to 7, in registers of type T. The seed is the check so
 * far, as if the key were more of the same message: name_of32(b, name_of32(a, 0)) is the check of a's bytes and then
 * b's. */
#define HD_CRC(name, T, a, b, c, d, e, f, g, h)                                                   \
    HD_TABLE(T, name##_table, 256, HD_CRC_256((T)0, a, b, c, d, e, f, g, h))                      \
    HD_FN T name##_steps(T r, int bytes)                                                          \
    {                                                                                             \
        for (int i = 0; i < bytes; i++) r = HD_TABLE_AT(name##_table, r & 0xff) ^ r >> 8;         \
        return r;                                                                                 \
    }                                                                                             \
    HD_FN T name##_of32(uint32_t key, uint64_t seed) { return ~name##_steps(~(T)seed ^ key, 4); } \
    HD_FN T name##_of64(uint64_t key, uint64_t seed)                                              \
    {                                                                                             \
        T r = name##_steps(~(T)seed ^ (uint32_t)key, 4);                                          \
        return ~name##_steps(r ^ (uint32_t)(key >> 32), 4);                                       \
    }

#endif

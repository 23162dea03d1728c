/* SPDX-License-Identifier: Apache-2.0
 *
 * crc32 - CRC-32 of IEEE 802.3, that of Ethernet, gzip and PNG: polynomial 04c11db7, reflected edb88320.
 */
#ifdef HD_HASH_TEXT
#define crc32_bit_0 0x77073096u
#define crc32_bit_1 0xee0e612cu
#define crc32_bit_2 0x076dc419u
#define crc32_bit_3 0x0edb8832u
#define crc32_bit_4 0x1db71064u
#define crc32_bit_5 0x3b6e20c8u
#define crc32_bit_6 0x76dc4190u
#define crc32_bit_7 0xedb88320u
HD_CRC(crc32, uint32_t, crc32_bit_)
#endif
HD_HASH(crc32, "CRC-32 of IEEE 802.3, by a table", 32, HD_HASH_LINEAR | HD_HASH_ONE_TO_ONE)

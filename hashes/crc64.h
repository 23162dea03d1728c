/* SPDX-License-Identifier: Apache-2.0
 *
 * crc64 - CRC-64 of the xz file format: the polynomial of ECMA-182, 42f0e1eba9ea3693, reflected c96c5795d7870f42.
 */
#ifdef HD_HASH_TEXT
#define crc64_bit_0 0xb32e4cbe03a75f6full
#define crc64_bit_1 0xf4843657a840a05bull
#define crc64_bit_2 0x7bd0c384ff8f5e33ull
#define crc64_bit_3 0xf7a18709ff1ebc66ull
#define crc64_bit_4 0x7d9ba13851336649ull
#define crc64_bit_5 0xfb374270a266cc92ull
#define crc64_bit_6 0x64b62bcaebc387a1ull
#define crc64_bit_7 0xc96c5795d7870f42ull
HD_CRC(crc64, uint64_t, crc64_bit_)
#endif
HD_HASH(crc64, "CRC-64 of xz, with the polynomial of ECMA-182, by a table", 64, HD_HASH_LINEAR | HD_HASH_ONE_TO_ONE)

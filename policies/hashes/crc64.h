/* SPDX-License-Identifier: Apache-2.0
 *
 * crc64 - CRC-64 of the xz file format: the polynomial of ECMA-182, 42f0e1eba9ea3693, reflected c96c5795d7870f42.
 */
#ifdef HD_HASH_TEXT
HD_CRC(crc64, uint64_t, 0xb32e4cbe03a75f6full, 0xf4843657a840a05bull, 0x7bd0c384ff8f5e33ull, 0xf7a18709ff1ebc66ull,
       0x7d9ba13851336649ull, 0xfb374270a266cc92ull, 0x64b62bcaebc387a1ull, 0xc96c5795d7870f42ull)
#endif
HD_HASH(crc64, "CRC-64 of xz, with the polynomial of ECMA-182, by a table", 64, HD_HASH_LINEAR | HD_HASH_ONE_TO_ONE)

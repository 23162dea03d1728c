/* SPDX-License-Identifier: Apache-2.0
 *
 * crc32c - CRC-32C (Castagnoli, Bräuer, Herrmann: Optimization of Cyclic Redundancy-Check Codes with 24 and 32 Parity
 * Bits, IEEE Transactions on Communications 41(6), 1993), that of iSCSI: polynomial 1edc6f41, reflected 82f63b78.
 */
#ifdef HD_HASH_TEXT
#define crc32c_bit_0 0xf26b8303u
#define crc32c_bit_1 0xe13b70f7u
#define crc32c_bit_2 0xc79a971fu
#define crc32c_bit_3 0x8ad958cfu
#define crc32c_bit_4 0x105ec76fu
#define crc32c_bit_5 0x20bd8edeu
#define crc32c_bit_6 0x417b1dbcu
#define crc32c_bit_7 0x82f63b78u
HD_CRC(crc32c, uint32_t, crc32c_bit_)
#endif
HD_HASH(crc32c, "CRC-32C of Castagnoli, by a table", 32, HD_HASH_LINEAR | HD_HASH_ONE_TO_ONE)

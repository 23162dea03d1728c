/* SPDX-License-Identifier: Apache-2.0
 *
 * crc32c - CRC-32C (Castagnoli, Bräuer, Herrmann: Optimization of Cyclic Redundancy-Check Codes with 24 and 32 Parity
 * Bits, IEEE Transactions on Communications 41(6), 1993), that of iSCSI: polynomial 1edc6f41, reflected 82f63b78.
 */
#ifdef HD_HASH_TEXT
HD_CRC(crc32c, uint32_t, 0xf26b8303u, 0xe13b70f7u, 0xc79a971fu, 0x8ad958cfu, 0x105ec76fu, 0x20bd8edeu, 0x417b1dbcu,
       0x82f63b78u)
#endif
HD_HASH(crc32c, "CRC-32C of Castagnoli, by a table", 32, HD_HASH_LINEAR | HD_HASH_ONE_TO_ONE)

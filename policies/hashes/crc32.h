/* SPDX-License-Identifier: Apache-2.0
 *
 * crc32 - CRC-32 of IEEE 802.3, that of Ethernet, gzip and PNG: polynomial 04c11db7, reflected edb88320.
 */
#ifdef HD_HASH_TEXT
HD_CRC(crc32, uint32_t, 0x77073096u, 0xee0e612cu, 0x076dc419u, 0x0edb8832u, 0x1db71064u, 0x3b6e20c8u, 0x76dc4190u,
       0xedb88320u)
#endif
HD_HASH(crc32, "CRC-32 of IEEE 802.3, by a table", 32, HD_HASH_LINEAR | HD_HASH_ONE_TO_ONE)

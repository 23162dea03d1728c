/* SPDX-License-Identifier: Apache-2.0
 *
 * select.h - which variant an HKV table takes when the batch names none (hd_design.select).
 */
#ifndef HKV_SELECT_H
#define HKV_SELECT_H

#include "heddle.h"

/* Batches of up to this size are small: latency counts. Measured on an H200 (lab/calls.tsv). */
enum { HKV_FEW_ITEMS = 1024 };

const char *hkv_select(hd_op op, uint32_t value_bytes, double load_factor, bool few, uint32_t choice);

/* Whether a find of n items reads the far values of such a table in the order of their addresses (hd_fetch). A pure
 * function. */
bool hkv_select_sorted(const hd_info *info, uint64_t n);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * select.h - which variant an HKV table takes when the batch names none (hd_design.select).
 */
#ifndef HKV_SELECT_H
#define HKV_SELECT_H

#include "base/design.h"

/* In batches of up to this size latency counts: HD_FEW, and HD_FEWEST if keys may repeat or do not. With eight items of
 * one key `warp` takes as long as the launches of repeated_keys.h, and with more it takes longer. Measured on an H200
 * and an H100 (bench/lab/calls.tsv). */
enum { HKV_FEW_ITEMS = 1024, HKV_FEWEST_ITEMS = 8, HKV_FEWEST_DISTINCT = 64 };

const char *hkv_select(hd_op op, const hd_info *info, double load_factor, hd_amount amount, uint32_t choice);

/* Whether a find of n items reads the far values of such a table in the order of their addresses (hd_fetch). A pure
 * function. */
bool hkv_select_sorted(const hd_info *info, uint64_t n);

#endif

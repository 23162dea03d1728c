/* SPDX-License-Identifier: Apache-2.0
 *
 * part.h - parts of a table on a device in host memory: hd_gpu_parts of HKV.
 */
#ifndef HD_HKV_PART_H
#define HD_HKV_PART_H

#include "base/backend.h"

extern const hd_gpu_parts hkv_parts;

#endif

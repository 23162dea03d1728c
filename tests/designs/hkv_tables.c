/* SPDX-License-Identifier: Apache-2.0
 *
 * hkv_tables.c - HKV, for tests/tables.h.
 */
#include "tests/tables.h"

static const char *const shapes[] = {
    "usual capacity=96 slots=8 device_value_bytes=200 keys=uniform:500",
    "usual capacity=96 slots=8 dual=1 policy=epoch_lru keys=uniform:500",
    "usual capacity=60 slots=15 admit=always value=0 keys=uniform:500",
};

const table_design tables_hkv = { .name = "hkv", .shapes = shapes, .shapes_n = TABLES_COUNT(shapes), .unread = 120 };

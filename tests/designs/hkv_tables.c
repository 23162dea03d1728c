/* SPDX-License-Identifier: Apache-2.0
 *
 * hkv_tables.c - HKV, for tests/conform_tables.h.
 */
#include "tests/conform_tables.h"

static const char *const shapes[] = {
    "usual capacity=96 slots=8 device_value_bytes=200 keys=uniform:500",
    "usual capacity=96 slots=8 dual=1 policy=epoch_lru keys=uniform:500",
    "usual capacity=96 slots=8 layout=planes tiers=position device_value_bytes=333 value=7 keys=uniform:500",
    "usual capacity=96 slots=8 layout=planes dual=1 pins=1 keys=uniform:500",
    "usual capacity=60 slots=15 admit=always value=0 keys=uniform:500",
};

static const test_refusal refusals[] = {
    { "layout=masks", "layout" }, { "layout=sorted", "layout" }, { "policy=none", "policy" },
    { "slots=1", "slots" },       { "capacity=0", "capacity" },
};

const table_design table_this = { .name = "hkv",
                                  .shapes = shapes,
                                  .shapes_n = TABLES_COUNT(shapes),
                                  .views = true,
                                  .refusal = refusals,
                                  .refusals = TABLES_COUNT(refusals),
                                  .unread = 120 };

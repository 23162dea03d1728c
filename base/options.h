/* SPDX-License-Identifier: Apache-2.0
 *
 * options.h - the fields of hd_config that only some designs have. A design names its own (hd_design.options); the
 * others keep the value that hd_config_of gives them.
 */
#ifndef HD_OPTIONS_H
#define HD_OPTIONS_H

#include "base/design.h"

enum {
    HD_OPTION_DUAL = 1,
    HD_OPTION_HASHES = 2,
    HD_OPTION_SPARE = 4,
    HD_OPTION_HASH = 8,
    HD_OPTION_ADMIT = 16,
    HD_OPTION_TIERS = 32,
    HD_OPTION_NEAR = 64,
    HD_OPTION_FETCH = 128,
    HD_OPTION_CLOCK = 256,
    HD_OPTION_PINS = 512
};

/* HD_EINVAL and the first field that is not the design's and has another value than the usual one. */
hd_status hd_options_check(const hd_design *d, const hd_config *c);

/* Gives the fields that are not the design's their usual values. */
void hd_options_drop(const hd_design *d, hd_config *c);

#endif

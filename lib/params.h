/* SPDX-License-Identifier: Apache-2.0
 *
 * params.h - the fields of hd_config as sets of rows (base/param.h): one set for all tables, and one per design.
 */
#ifndef HD_PARAMS_H
#define HD_PARAMS_H

#include "base/param.h"

/* Set i: the common fields, then those of each design that has some. NULL past the end. */
const hd_params *hd_params_at(size_t i);
/* The row whose name or alias that is, of `design` if it has one, else of the first set; *of: its set. NULL: there is
 * none. */
const hd_param *hd_param_named(const char *name, const char *design, const hd_params **of);

/* The row of that name among the design's own. NULL: the design has no such field. */
const hd_param *hd_param_own(const char *name, const char *design, const hd_params **of);

/* Designs that have fields of the same name mean the same by it. So code that serves all designs asks for a number,
 * bool or enum by name, and gets 0 where `design` has no such field. */
uint64_t hd_params_number(const hd_config *c, const char *design, const char *name);
uint64_t hd_params_number_of_table(const hd_info *info, const char *name);
void hd_params_number_set(hd_config *c, const char *design, const char *name, uint64_t v); /* or nothing */
/* The name of the first field, of any design, in which they differ; NULL: there is none. */
const char *hd_params_differ(const hd_config *a, const hd_config *b);

/* Every field, of every design, gets its usual value. */
void hd_params_reset(hd_config *c);
/* Common fields and those of `own` (may be NULL) are in range, and the other designs' are 0 or usual.
 * HD_EINVAL names the first that does not. */
hd_status hd_params_check(const hd_params *own, const char *design, const hd_config *c);
/* Gives the fields of other designs their usual values. */
void hd_params_drop_others(const hd_params *own, hd_config *c);

#endif

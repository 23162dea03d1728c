/* SPDX-License-Identifier: Apache-2.0
 *
 * add.h - the skip list gfsl as a design of the library and of the judge.
 */
#ifndef GFSL_ADD_H
#define GFSL_ADD_H

#include "judge/design.h"

extern const hd_design hd_design_gfsl;
extern const judge_design judge_design_gfsl;

#endif

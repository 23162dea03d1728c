/* SPDX-License-Identifier: Apache-2.0
 *
 * finding.h - a finding is one sentence and a line for each lane concerned.
 */
#ifndef HD_SIMT_FINDING_H
#define HD_SIMT_FINDING_H

#include "simt/state.h"

void found(simt_machine *m, simt_fault fault, const char *format, ...) __attribute__((format(printf, 3, 4)));
void found_more(simt_machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *collective_name(simt_collective_op op);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * raw.h - for a build in which the compiler tells of every C access that kernel text makes (tests/raw_hooks.c): is it one that
 * only the dialect may make?
 */
#ifndef HD_SIMT_RAW_H
#define HD_SIMT_RAW_H

#include "simt/machine.h"

/* A lane runs on this thread, and some of these bytes are device memory or shared. */
bool simt_raw_reaches(const void *p, size_t bytes);

/* Makes it the run's finding, SIMT_RAW; the lane runs no more. where: the place in the text, as well as it is known. */
_Noreturn void simt_raw_found(const void *p, size_t bytes, bool write, const char *where);

#endif

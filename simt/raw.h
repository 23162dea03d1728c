/* SPDX-License-Identifier: Apache-2.0
 *
 * raw.h - for a build in which the compiler reports every C access of kernel text (raw_hooks.c): checks whether only
 * the dialect may make it.
 */
#ifndef HD_SIMT_RAW_H
#define HD_SIMT_RAW_H

#include "simt/machine.h"

/* A lane runs on this thread, and some of these bytes are device memory or shared. */
bool simt_raw_reaches(const void *p, size_t bytes);

/* Reports it as the run's fault, SIMT_RAW; the lane ends. Memory that is not the machine's is called a static variable.
 * where: the place in the text, as far as it is known. */
_Noreturn void simt_raw_found(const void *p, size_t bytes, bool write, const char *where);

/* ---- For programs that link raw_hooks.c ----------------------------------------------------------- */

/* Called before every access of code that is compiled so. pc: the return address of the call. */
void simt_raw_told(const void *p, size_t bytes, bool write, const void *pc);

/* "k_read_4_text at raw_kernels.c:44", until the next call; and "raw_kernels.c:44", for ever. */
const char *simt_raw_place(const void *pc);
const char *simt_raw_line(const void *pc);

#endif

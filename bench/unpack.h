/* SPDX-License-Identifier: Apache-2.0
 *
 * unpack.h - traces are stored compressed; to time the reading of a plain trace, the bench unpacks it first.
 */
#ifndef HD_BENCH_UNPACK_H
#define HD_BENCH_UNPACK_H

#include "heddle.h"

/* Where `file` is: as it is called; in the folder `data` (may be NULL); or there as FILE.zst, then unpacked into
 * a folder of our own. "" when it is nowhere. */
hd_status trace_locate(const char *file, const char *data, char *path, size_t bytes);
/* Removes what was unpacked. */
void trace_forget(void);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * error.h - one status and one sentence per failure.
 */
#ifndef HD_ERROR_H
#define HD_ERROR_H

#include "heddle.h"

/* Sets hd_why() for this thread and returns s:
 *     return hd_fail(HD_EINVAL, "slots: %u is outside 2 to 1024", slots); */
hd_status hd_fail(hd_status s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* HD_EINVAL for a name that is not in a registry: "policy: there is no 'lruu'; nearest: lru; all: lru, lfu, ...". */
hd_status hd_fail_name(const char *field, const char *name, hd_kind kind);

/* Edit distance, for nearest-name messages. */
unsigned hd_edit_distance(const char *a, const char *b);

/* The library's own mistakes: checked in --enable-verify builds only. */
#ifdef HD_VERIFY
#include <assert.h>
#define HD_ASSERT(x) assert(x)
#else
#define HD_ASSERT(x) ((void)sizeof(x))
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * error.h - one status and one sentence per failure.
 */
#ifndef HD_ERROR_H
#define HD_ERROR_H

#include "heddle.h"

/* Sets hd_why() for this thread and is `status`:
 *     return hd_fail(HD_EINVAL, "slots: %u is outside 2 to 1024", slots);
 * A macro, so that whoever compiles or analyses one file alone sees there that a failure is never HD_OK. */
#define hd_fail(status, ...) (hd_fail_because(__VA_ARGS__), (hd_status)(status))

/* HD_EINVAL for a name that is not in a registry: "policy: there is no 'lruu'; nearest: lru; all: lru, lfu, ...". */
#define hd_fail_name(field, name, kind) (hd_fail_because_name(field, name, kind), (hd_status)HD_EINVAL)

/* Their first halves: hd_why() alone. */
void hd_fail_because(const char *format, ...) __attribute__((format(printf, 1, 2)));
void hd_fail_because_name(const char *field, const char *name, hd_kind kind);

/* A name more behind those in `all`, after a comma; cut off where there is no room. */
void hd_name_add(char *all, size_t bytes, const char *name);

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

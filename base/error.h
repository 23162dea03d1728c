/* SPDX-License-Identifier: Apache-2.0
 *
 * error.h - one status and one sentence per failure.
 */
#ifndef HD_ERROR_H
#define HD_ERROR_H

#include "base/assert.h"
#include "heddle.h"

/* Sets hd_why() for this thread and is `status`:
 *     return hd_fail(HD_EINVAL, "slots: %u is outside 2 to 4096", slots);
 * A macro, so that the compiler sees in each file alone that a failure is never HD_OK. */
#define hd_fail(status, ...) (hd_fail_because(__VA_ARGS__), (hd_status)(status))

/* HD_EINVAL for a name that is not in a list: "policy: there is no 'lruu'; nearest: lru; all: lru, lfu, ...". `rows`
 * gives the list as hd_list does. hd_fail_name, for lib/ and above, takes hd_list itself. */
typedef bool hd_rows(hd_kind kind, size_t i, hd_row *row);
#define hd_fail_name_of(field, name, kind, rows) (hd_fail_because_name(field, name, kind, rows), (hd_status)HD_EINVAL)
#define hd_fail_name(field, name, kind)          hd_fail_name_of(field, name, kind, hd_list)

/* Their first halves: hd_why() alone. */
void hd_fail_because(const char *format, ...) __attribute__((format(printf, 1, 2)));
void hd_fail_because_name(const char *field, const char *name, hd_kind kind, hd_rows *rows);

/* A name more behind those in `all`, after a comma; cut off where there is no room. */
void hd_name_add(char *all, size_t bytes, const char *name);

/* The name nearest to a wrong one, kept over a walk through names: { wrong, NULL, 0 }, then one call for each name.
 * Case does not count. A name is near when at most half of the letters differ, or when one is the beginning of the
 * other. */
enum { HD_NEAREST_WORD = 64, HD_NEAREST_TEXT = 96 };
typedef struct hd_nearest {
    const char *wrong, *name; /* NULL: none is near */
    unsigned distance;
} hd_nearest;
void hd_nearest_try(hd_nearest *n, const char *name);
/* "; nearest: " with `before` and the name, or "" when none is near, in text (HD_NEAREST_TEXT). Returns it. */
const char *hd_nearest_text(const hd_nearest *n, const char *before, char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * error.c - one status and one sentence per failure.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char why[512];

const char *hd_why(void) { return why; }

void hd_fail_because(const char *format, ...)
{
    char sentence[sizeof why]; /* an argument may be hd_why() itself */
    va_list ap;
    va_start(ap, format);
    vsnprintf(sentence, sizeof sentence, format, ap);
    va_end(ap);
    memcpy(why, sentence, sizeof why);
}

const char *hd_status_name(hd_status s)
{
    static const char *const name[HD_STATUS_COUNT] = { "HD_OK",  "HD_EINVAL",   "HD_ENOMEM", "HD_ECUDA",
                                                       "HD_EIO", "HD_ECORRUPT", "HD_EKERNEL" };
    return (unsigned)s < HD_STATUS_COUNT ? name[s] : "?";
}

unsigned hd_edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    unsigned row[LONGEST + 1];
    size_t bn = strnlen(b, LONGEST);
    for (size_t j = 0; j <= bn; j++) row[j] = (unsigned)j;
    for (size_t i = 0; a[i] && i < LONGEST; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < bn; j++) {
            unsigned best = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (diagonal + 1 < best) best = diagonal + 1;
            row[j + 1] = best;
        }
    }
    return row[bn];
}

void hd_name_add(char *all, size_t bytes, const char *name)
{
    size_t n = strlen(all);
    snprintf(all + n, bytes - n, "%s%s", n ? ", " : "", name);
}

/* A kernel has a row for each family of operations and each backend. */
static bool is_listed_before(hd_kind kind, size_t i, const char *name)
{
    hd_row row;
    for (size_t before = 0; before < i; before++) {
        hd_list(kind, before, &row);
        if (strcmp(row.name, name) == 0) return true;
    }
    return false;
}

void hd_fail_because_name(const char *field, const char *name, hd_kind kind)
{
    hd_row row, near = { NULL, NULL, NULL };
    unsigned least = ~0u;
    char all[256] = "";
    for (size_t i = 0; hd_list(kind, i, &row); i++) {
        unsigned d = hd_edit_distance(name, row.name);
        if (d < least) {
            least = d;
            near = row;
        }
        if (!is_listed_before(kind, i, row.name)) hd_name_add(all, sizeof all, row.name);
    }
    hd_fail_because("%s: there is no '%.60s'; nearest: %s; all: %s", field, name, near.name, all);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * schedule_text.c - schedules as text: "12:1,40:3".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "simt/machine.h"

size_t simt_schedule_print(const simt_decision *s, size_t n, char *text, size_t bytes)
{
    size_t used = 0;
    if (bytes) text[0] = 0;
    for (size_t i = 0; i < n; i++) {
        char word[40];
        size_t k = (size_t)snprintf(word, sizeof word, "%s%" PRIu64 ":%" PRIu32, i ? "," : "", s[i].at, s[i].choice);
        if (used + k < bytes) memcpy(text + used, word, k + 1);
        used += k;
    }
    return used;
}

/* Digits only: strtoull would take blanks and signs, and a number that is too large for the largest. */
static bool take_number(const char **text, uint64_t most, uint64_t *v)
{
    char *end;
    if ((*text)[0] < '0' || (*text)[0] > '9') return false;
    errno = 0;
    *v = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0 && *v <= most;
}

hd_status simt_schedule_parse(const char *text, simt_decision *s, size_t *n)
{
    size_t places = *n;
    uint64_t last = 0;
    for (*n = 0; *text; ++*n) {
        const char *word = text;
        uint64_t at, choice;
        bool fine = take_number(&text, UINT64_MAX, &at) && *text++ == ':' && take_number(&text, UINT32_MAX, &choice) &&
                    (!*text || *text == ',');
        if (!fine) return hd_fail(HD_EINVAL, "schedule: '%.20s' is no decision (number:choice)", word);
        if (*n && at <= last)
            return hd_fail(HD_EINVAL, "schedule: decision %" PRIu64 " comes after %" PRIu64, at, last);
        if (*n == places) return hd_fail(HD_EINVAL, "schedule: more than %zu decisions", places);
        last = at;
        s[*n].at = at;
        s[*n].choice = (uint32_t)choice;
        text += *text == ',';
    }
    return HD_OK;
}

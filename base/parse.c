/* SPDX-License-Identifier: Apache-2.0
 *
 * parse.c - numbers as people write them, with one way to say no.
 */
#include "base/parse.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* The factor that a size's ending stands for; 0 for an ending that is none. */
static uint64_t factor_of(const char *ending)
{
    static const struct {
        const char *ending;
        uint64_t factor;
    } row[] = {
        { "", 1 },
        { "k", 1000 },
        { "M", 1000000 },
        { "G", 1000000000 },
        { "T", 1000000000000 },
        { "Ki", 1ull << 10 },
        { "Mi", 1ull << 20 },
        { "Gi", 1ull << 30 },
        { "Ti", 1ull << 40 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (strcmp(ending, row[i].ending) == 0) return row[i].factor;
    return 0;
}

hd_status hd_parse_u64(const char *what, const char *text, uint64_t least, uint64_t most, uint64_t *v)
{
    char *end = NULL;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    errno = 0;
    /* strtoull alone would take "-1", " 1" and "" */
    unsigned long long n = isdigit((unsigned char)text[0]) ? strtoull(text, &end, hex ? 16 : 10) : 0;
    uint64_t factor = end ? factor_of(end) : 0;
    if (factor == 0) return hd_fail(HD_EINVAL, "%s: '%s' is not a whole number", what, text);
    if (errno == ERANGE || n > UINT64_MAX / factor || n * factor < least || n * factor > most)
        return hd_fail(HD_EINVAL, "%s: %s is outside %" PRIu64 " to %" PRIu64, what, text, least, most);
    *v = n * factor;
    return HD_OK;
}

hd_status hd_parse_double(const char *what, const char *text, double least, double most, double *v)
{
    char *end = NULL;
    double d = isspace((unsigned char)text[0]) ? 0 : strtod(text, &end);
    if (!end || end == text || *end || !isfinite(d)) return hd_fail(HD_EINVAL, "%s: '%s' is not a number", what, text);
    if (d < least || d > most) return hd_fail(HD_EINVAL, "%s: %s is outside %g to %g", what, text, least, most);
    *v = d;
    return HD_OK;
}

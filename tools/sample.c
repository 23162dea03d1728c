/* SPDX-License-Identifier: Apache-2.0
 *
 * sample.c - the text of --sample.
 */
#include "tools/sample.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "tools/tool.h"

int sample_parse(const char *text, double *rate, uint64_t *most)
{
    size_t n = strlen(text);
    char number[64];
    uint64_t parts = 1;
    bool percent = n && text[n - 1] == '%', part = strncmp(text, "1/", 2) == 0;
    hd_status s;
    snprintf(number, sizeof number, "%.*s", (int)(n - percent < 63 ? n - percent : 63), text);
    if (most && !percent && !part && !strchr(text, '.')) {
        s = hd_parse_u64("--sample", text, 1, UINT32_MAX, most);
        return s ? tool_fail(s) : TOOL_OK;
    }
    s = part ? hd_parse_u64("--sample", text + 2, 1, UINT64_MAX, &parts)
             : hd_parse_double("--sample", number, 0, percent ? 100 : 1, rate);
    if (s) return tool_fail(s);
    if (part) *rate = 1 / (double)parts;
    if (percent) *rate /= 100;
    return *rate > 0 ? TOOL_OK : tool_say(TOOL_USAGE, "--sample: %s keeps no key", text);
}

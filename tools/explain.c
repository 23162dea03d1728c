/* SPDX-License-Identifier: Apache-2.0
 *
 * explain.c - how the subjects of `heddle explain` read their words.
 */
#include "tools/explain.h"
#include "tools/with.h"

#include <string.h>

#include "base/error.h"
#include "base/parse.h"

const char *explain_value(const char *word, const char *name)
{
    size_t n = strlen(name);
    return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

int explain_number(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *n)
{
    hd_status s = hd_parse_u64(name, text, least, most, n);
    return s ? tool_fail(s) : TOOL_OK;
}

int explain_case_word(hd_case *c, const char *word)
{
    char name[32];
    const char *equals = strchr(word, '=');
    if (!equals || equals - word >= (ptrdiff_t)sizeof name)
        return tool_say(TOOL_USAGE, "'%.60s' is not NAME=VALUE", word);
    memcpy(name, word, (size_t)(equals - word));
    name[equals - word] = 0;
    hd_status s = hd_case_set(c, name, equals + 1);
    return s ? tool_fail(s) : TOOL_OK;
}

const char *explain_command(const tool_line *line)
{
    static char text[2048];
    size_t used = (size_t)snprintf(text, sizeof text, "%s explain", with_command());
    for (int i = 0; i < line->words && used < sizeof text; i++) {
        const char *quote = strpbrk(line->word[i], " ;<>()*&|~?") ? "'" : "";
        used += (size_t)snprintf(text + used, sizeof text - used, " %s%s%s", quote, line->word[i], quote);
    }
    return text;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * line.c - reads a line: takes out the words of the bench; the rest is a case string.
 */
#include "bench/line.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "base/parse.h"

static const char *const probes[BENCH_PROBES] = { "hit", "miss", "new", "keys", "trace" };

/* Whether an operation brings in missing keys. */
static bool inserts(hd_op op) { return hd_op_family(op) == HD_FAMILY_UPSERT; }

static hd_status take_probe(const char *text, bench_line *l)
{
    for (int i = 0; i < BENCH_PROBES; i++)
        if (strcmp(text, probes[i]) == 0) return l->probe = (bench_probe)i, HD_OK;
    return hd_fail(HD_EINVAL, "probe: there is no '%.40s'; it is hit, miss, new, keys or trace", text);
}

/* Takes the word if it is one of ours. */
static hd_status take_word(const char *word, bench_line *l, bool *ours)
{
    static const char *const names[] = { "name=", "fill=", "probe=" };
    int which = 0;
    while (which < 3 && strncmp(word, names[which], strlen(names[which])) != 0) which++;
    *ours = which < 3;
    if (!*ours) return HD_OK;
    const char *text = word + strlen(names[which]);
    switch (which) {
    case 0:
        if (snprintf(l->name, sizeof l->name, "%s", text) >= (int)sizeof l->name || !*text)
            return hd_fail(HD_EINVAL, "name: 1 to %zu characters", sizeof l->name - 1);
        return HD_OK;
    case 1: return hd_parse_double("fill", text, 0, 1, &l->fill);
    default: return take_probe(text, l);
    }
}

static hd_status op_find(const char *name, hd_op *op)
{
    for (int i = 0; i < HD_OP_COUNT_; i++)
        if (strcmp(hd_op_name((hd_op)i), name) == 0) return *op = (hd_op)i, HD_OK;
    return hd_fail(HD_EINVAL, "op: '%s' is several operations; the bench times one", name);
}

/* What cannot be: a hit of nothing, a miss that is inserted, a table-wide operation of a trace. */
static hd_status line_check(const bench_line *l)
{
    bool keyed = hd_op_does(l->op, HD_NEEDS_KEY);
    if (l->probe == BENCH_MISS && inserts(l->op))
        return hd_fail(HD_EINVAL, "probe: %s inserts what is missing; say new", l->c.op);
    if (l->probe == BENCH_NEW && !inserts(l->op))
        return hd_fail(HD_EINVAL, "probe: %s does not insert; say miss", l->c.op);
    if (l->probe == BENCH_HIT && keyed && l->fill <= 0)
        return hd_fail(HD_EINVAL, "fill: nothing can be found in an empty table");
    if (l->probe >= BENCH_KEYS && !keyed) return hd_fail(HD_EINVAL, "probe: %s takes no keys", l->c.op);
    if (l->c.epoch_every || l->c.reserved_ppm || l->c.duplicate_ppm || l->c.extreme_ppm || l->c.raw_ppm)
        return hd_fail(HD_EINVAL, "case: epoch_every=, reserved=, duplicate=, extreme= and raw= are not timed");
    return HD_OK;
}

hd_status bench_line_parse(const char *text, bench_line *l)
{
    static const char space[] = " \t\r\n";
    char rest[BENCH_LINE] = "", word[BENCH_LINE];
    bench_line read;
    memset(&read, 0, sizeof read);
    read.probe = BENCH_PROBES;
    read.fill = -1;
    if (strlen(text) >= BENCH_LINE) return hd_fail(HD_EINVAL, "case: a line of %zu characters", strlen(text));
    size_t used = 0;
    for (const char *at = text + strspn(text, space); *at; at += strspn(at, space)) {
        size_t n = strcspn(at, space);
        memcpy(word, at, n);
        word[n] = 0;
        at += n;
        bool ours;
        hd_status e = take_word(word, &read, &ours);
        if (e) return e;
        if (!ours) used += (size_t)snprintf(rest + used, sizeof rest - used, "%s%s", used ? " " : "", word);
    }
    hd_status e = hd_case_parse(rest, &read.c);
    if (!e) e = op_find(read.c.op, &read.op);
    if (e) return e;
    if (read.probe == BENCH_PROBES) read.probe = inserts(read.op) ? BENCH_NEW : BENCH_HIT;
    if (read.fill < 0) read.fill = read.probe == BENCH_TRACE ? 0 : 1;
    if (!*read.name) hd_case_print(&read.c, read.name, sizeof read.name);
    e = line_check(&read);
    if (!e) *l = read;
    return e;
}

bool bench_line_next(const char **text, char line[BENCH_LINE])
{
    while (**text) {
        size_t n = strcspn(*text, "\n"), blank = strspn(*text, " \t\r");
        const char *from = *text;
        *text += n + (from[n] == '\n');
        if (blank >= n || from[blank] == '#') continue;
        snprintf(line, BENCH_LINE, "%.*s", (int)(n < BENCH_LINE ? n : BENCH_LINE), from);
        return true;
    }
    return false;
}

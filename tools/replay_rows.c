/* SPDX-License-Identifier: Apache-2.0
 *
 * replay_rows.c - lists of policies and sizes as rows, and the shape of each row's table.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "policies/expression.h"
#include "tools/input.h"
#include "tools/replay.h"

/* ---- The shape of a table -------------------------------------------------------------------- */

/* |size - the nearest multiple of slots|, at least `least` buckets; *buckets is that multiple. */
static uint64_t distance(uint64_t size, uint64_t slots, uint64_t least, uint64_t *buckets)
{
    uint64_t b = size / slots + (size % slots * 2 >= slots);
    *buckets = b < least ? least : b;
    uint64_t capacity = *buckets * slots;
    return capacity > size ? capacity - size : size - capacity;
}

void replay_shape(const replay_plan *p, uint64_t size, uint32_t *slots, uint64_t *capacity)
{
    /* Three quarters to five quarters of a line of digests: as fast as 128, and wide enough to come
     * within a few entries of any size. */
    enum { USUAL = 128, NARROW = 96, WIDE = 160 };
    uint64_t least = p->dual ? 2 : 1, buckets = 0;
    *slots = p->slots ? p->slots : USUAL;
    if (!p->slots && size < USUAL * least) { /* one bucket (dual: two) of that size */
        uint64_t s = (size + least / 2) / least;
        *slots = (uint32_t)(s < HD_SLOTS_MIN ? HD_SLOTS_MIN : s);
    }
    uint64_t best = distance(size, *slots, least, &buckets);
    *capacity = buckets * *slots;
    if (p->slots || size < USUAL * least) return;
    for (uint32_t away = 1; away <= WIDE - USUAL; away++)
        for (int below = 0; below < 2; below++) {
            uint32_t s = below ? USUAL - away : USUAL + away;
            uint64_t d = distance(size, s, least, &buckets);
            if (d >= best || s < NARROW) continue;
            best = d;
            *slots = s;
            *capacity = buckets * s;
        }
}

/* ---- Lists of policies and sizes ------------------------------------------------------------- */

/* The next item of the list: up to a comma that is in no parentheses (expr:on_insert=max(now,given)). NULL: there is
 * none. */
static char *next_item(char **rest)
{
    char *item = *rest, *at = item;
    for (int open = 0; at && *at && (*at != ',' || open > 0); at++) open += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    if (item) *rest = *at ? at + 1 : NULL;
    if (item) *at = 0;
    return item;
}

int replay_list_parse(replay_list *l, const char *what, const char *text)
{
    if (snprintf(l->text, sizeof l->text, "%s", text) >= (int)sizeof l->text)
        return tool_say(TOOL_USAGE, "%s: longer than %zu bytes", what, sizeof l->text - 1);
    l->items = 0;
    char *rest = l->text;
    for (char *item; (item = next_item(&rest));) {
        if (!*item) return tool_say(TOOL_USAGE, "%s: '%s' has an empty item", what, text);
        if (l->items == REPLAY_LIST) return tool_say(TOOL_USAGE, "%s: more than %d items", what, REPLAY_LIST);
        l->item[l->items++] = item;
    }
    return TOOL_OK;
}

bool replay_list_is_one(const replay_list *sizes) { return sizes->items == 1 && !strstr(sizes->item[0], ".."); }

/* Says what a name that is no exact cache may mean. */
static int baseline_unknown(const char *name)
{
    const char *all[32] = { NULL };
    const baseline_row *b;
    for (size_t i = 0; (b = baseline_at(i)) && i < 31; i++) all[i] = b->name;
    return tool_say(TOOL_USAGE, "policy: there is no '%.60s'%s; heddle list baselines has all", name,
                    tool_nearest(name, all));
}

/* A name that is no policy may be that of an exact cache without its "full:". */
static int exact_cache_say(const char *name, hd_status status)
{
    char full[64];
    snprintf(full, sizeof full, "full:%.58s", name);
    if (baseline_named(full)) return tool_fail(hd_fail(status, "%s; an exact cache is %s", hd_why(), full));
    return tool_fail(hd_fail(status, "%s; heddle list baselines has the exact caches (full:lru)", hd_why()));
}

int replay_policies(const replay_list *policies, bool full)
{
    for (size_t i = 0; i < policies->items; i++) {
        const char *name = policies->item[i];
        if (baseline_named(name) && !full) return tool_say(TOOL_USAGE, "policy: %s is no policy of a table", name);
        if (baseline_named(name)) continue;
        if (strncmp(name, "full", 4) == 0) return baseline_unknown(name);
        hd_policy_use use;
        hd_status status = hd_policy_read(name, &use);
        if (status && full && strncmp(name, "expr:", 5) != 0) return exact_cache_say(name, status);
        if (status) return tool_fail(status);
    }
    return TOOL_OK;
}

/* A number of bytes: it ends with B. */
static int bytes_parse(const char *text, uint64_t *size)
{
    char number[64];
    snprintf(number, sizeof number, "%.*s", (int)strcspn(text, "B"), text);
    hd_status s = text[strcspn(text, "B") + 1] ? HD_EINVAL : hd_parse_u64("size", number, 1, HD_SIZE_MOST, size);
    if (!s) return TOOL_OK;
    return tool_fail(hd_fail(s, "size: '%.60s' is no number of bytes from 1B to 2^56 - 1 (10MiB, 500kB)", text));
}

int replay_size_parse(const char *text, uint64_t *size, double *fraction, bool *bytes)
{
    char number[64];
    size_t n = strlen(text);
    bool percent = n && text[n - 1] == '%';
    *fraction = -1;
    *size = 0;
    *bytes = n && text[n - 1] == 'B' && strncmp(text, "0x", 2) != 0;
    if (*bytes) return bytes_parse(text, size);
    if (percent || (strchr(text, '.') && strncmp(text, "0x", 2) != 0)) {
        snprintf(number, sizeof number, "%.*s", (int)(n - percent < 63 ? n - percent : 63), text);
        hd_status s = hd_parse_double("size", number, 0, percent ? 100 : 1, fraction);
        if (s) return tool_fail(s);
        if (percent) *fraction /= 100;
        if (*fraction <= 0) return tool_say(TOOL_USAGE, "size: %s is nothing", text);
        return TOOL_OK;
    }
    hd_status s = hd_parse_u64("size", text, 1, 1ull << 48, size);
    if (!s) return TOOL_OK;
    return tool_fail(
        hd_fail(s, "%s; a size is a number of entries, a part of the keys (10%%) or of bytes (10MiB)", hd_why()));
}

/* An item of a list of sizes: one size, or `points` of them up to `last` in equal ratios. */
typedef struct size_item {
    uint64_t size, last;
    double share, last_share; /* of the different keys; < 0: it is none */
    uint64_t points;
} size_item;

typedef struct row_size {
    const char *asked;
    uint64_t size;
    bool share;
} row_size;

/* The sizes of a list, in one unit: entries, of which some are shares of the different keys, or bytes. The keys are
 * counted when a size is a share. */
typedef struct row_sizes {
    size_item item[REPLAY_LIST];
    row_size *at; /* (sizes) */
    size_t sizes;
    uint64_t distinct;
    bool shares, bytes;
} row_sizes;

/* FIRST..LAST:N, or one size. */
static int size_item_parse(size_item *m, const char *text, bool *bytes)
{
    char part[64];
    const char *last = strstr(text, ".."), *points = strrchr(text, ':');
    bool other;
    *m = (size_item){ .points = 1 };
    if (!last) return replay_size_parse(text, &m->size, &m->share, bytes);
    if (!points || points < last + 2 || points - text >= (ptrdiff_t)sizeof part)
        return tool_say(TOOL_USAGE, "size: '%.60s' is no range FIRST..LAST:N", text);
    snprintf(part, sizeof part, "%.*s", (int)(last - text), text);
    int code = replay_size_parse(part, &m->size, &m->share, bytes);
    snprintf(part, sizeof part, "%.*s", (int)(points - last) - 2, last + 2);
    if (!code) code = replay_size_parse(part, &m->last, &m->last_share, &other);
    if (code) return code;
    hd_status s = hd_parse_u64("size: the number of a range", points + 1, 2, REPLAY_POINTS_MOST, &m->points);
    if (s) return tool_fail(s);
    bool shares = m->share >= 0;
    if (*bytes != other || shares != (m->last_share >= 0))
        return tool_say(TOOL_USAGE, "size: the ends of '%.60s' are in different units", text);
    if (shares ? m->share >= m->last_share : m->size >= m->last)
        return tool_say(TOOL_USAGE, "size: '%.60s' does not ascend", text);
    return TOOL_OK;
}

static int row_sizes_parse(row_sizes *z, const replay_list *sizes)
{
    memset(z, 0, sizeof *z);
    for (size_t i = 0; i < sizes->items; i++) {
        bool bytes;
        int code = size_item_parse(&z->item[i], sizes->item[i], &bytes);
        if (code) return code;
        if (i && bytes != z->bytes)
            return tool_say(TOOL_USAGE, "size: %s and %s are in bytes and in entries; take one unit", sizes->item[0],
                            sizes->item[i]);
        z->bytes = bytes;
        z->shares = z->shares || z->item[i].share >= 0;
    }
    return TOOL_OK;
}

static int row_sizes_count(row_sizes *z, const replay_plan *p)
{
    uint64_t requests = 0;
    if (!z->shares) return TOOL_OK;
    hd_status s = request_distinct(p->source, p->limit, &requests, &z->distinct);
    if (s) return tool_fail(s);
    return tool_stopped() ? TOOL_STOPPED : TOOL_OK;
}

/* The sizes of an item; equal ones of a range are one. */
static void size_item_add(row_sizes *z, const size_item *m, const char *asked)
{
    bool share = m->share >= 0;
    double first = share ? m->share * (double)z->distinct : (double)m->size;
    double last = share ? m->last_share * (double)z->distinct : (double)m->last;
    for (uint64_t i = 0; i < m->points; i++) {
        double along = i ? first * pow(last / first, (double)i / (double)(m->points - 1)) : first;
        uint64_t size = share || i ? (uint64_t)(along + 0.5) : m->size;
        if (i && i + 1 == m->points && !share) size = m->last;
        if (i && z->at[z->sizes - 1].size == size) continue;
        z->at[z->sizes++] = (row_size){ asked, size, share };
    }
}

static int row_sizes_expand(row_sizes *z, const replay_list *sizes)
{
    uint64_t most = 0;
    for (size_t i = 0; i < sizes->items; i++) most += z->item[i].points;
    z->at = (row_size *)calloc((size_t)most, sizeof *z->at);
    if (!z->at) return tool_say(TOOL_SYSTEM, "memory was refused");
    for (size_t i = 0; i < sizes->items; i++) size_item_add(z, &z->item[i], sizes->item[i]);
    return TOOL_OK;
}

/* A size in bytes, and one entry, are for exact caches alone; they get what they ask for. */
static int row_take_exact(replay_row *r)
{
    r->capacity = r->size;
    if (!r->full && r->bytes)
        return tool_say(TOOL_USAGE, "size: %s: a table of %s holds entries, not bytes; rows full:... take bytes",
                        r->asked, r->policy);
    if (!r->full) return tool_say(TOOL_USAGE, "size: a table of %s has at least %d entries", r->policy, HD_SLOTS_MIN);
    if (r->bytes && !r->full->bytes)
        return tool_say(TOOL_USAGE, "size: %s: %s is defined for entries, not for bytes", r->asked, r->policy);
    return TOOL_OK;
}

static int row_take(const replay_plan *p, const row_sizes *z, size_t k, replay_row *r)
{
    r->bytes = z->bytes;
    r->size = z->at[k].size;
    r->asked = z->at[k].asked;
    if (r->bytes || (r->size == 1 && !z->at[k].share)) return row_take_exact(r);
    if (r->size < HD_SLOTS_MIN) r->size = HD_SLOTS_MIN;
    replay_shape(p, r->size, &r->slots, &r->capacity);
    return r->full ? tool_fits("size", replay_units(p, r), 0) : tool_fits("size", r->capacity, p->value_bytes);
}

/* Whether the trace is read more than once: by rows, and before them. */
static bool reads_again(const replay_plan *p, const replay_list *policies, const replay_list *sizes, bool shares)
{
    size_t readers = shares, rows = replay_list_is_one(sizes) ? replay_seeds(p) : 2;
    bool laned = false;
    for (size_t i = 0; i < policies->items; i++) {
        const baseline_row *b = baseline_named(policies->item[i]);
        bool in_lane = b && p->laned;
        readers += in_lane ? 0 : rows + (b && b->next);
        laned = laned || in_lane;
    }
    return readers + laned > 1;
}

int replay_rows_take(const replay_plan *p, const replay_list *policies, const replay_list *sizes, replay_row **row,
                     size_t *rows, uint64_t *distinct)
{
    row_sizes z;
    int code = replay_policies(policies, true);
    if (!code) code = row_sizes_parse(&z, sizes);
    if (code) return code;
    if (reads_again(p, policies, sizes, z.shares)) input_spool();
    code = row_sizes_count(&z, p);
    if (!code) code = row_sizes_expand(&z, sizes);
    if (code) return code;
    *distinct = z.distinct;

    size_t seeds = replay_seeds(p);
    *rows = policies->items * z.sizes * seeds;
    replay_row *r = (replay_row *)calloc(*rows, sizeof *r);
    code = r ? TOOL_OK : tool_say(TOOL_SYSTEM, "memory was refused");
    for (size_t i = 0; !code && i < *rows; i++) {
        r[i].policy = policies->item[i / seeds / z.sizes];
        r[i].full = baseline_named(r[i].policy);
        r[i].seed = p->seed + i % seeds;
        r[i].repeats = i % seeds && r[i].full && !r[i].full->seeded;
        code = row_take(p, &z, i / seeds % z.sizes, &r[i]);
    }
    free(z.at);
    *row = r;
    if (code) free(r);
    return code;
}

void replay_rows_give(replay_row *row, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        if (!row[i].repeats) free(row[i].window);
    free(row);
}

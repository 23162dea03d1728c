/* SPDX-License-Identifier: Apache-2.0
 *
 * compare.c - compares the whole table with the whole map.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/design.h"
#include "judge/state.h"
#include "lib/params.h"

enum { SLOTS_AT_ONCE = 1024, BYTES_AT_ONCE = 1 << 20 };

typedef struct page {
    uint64_t slots;
    uint64_t *key, *score;
    uint8_t *value;
} page;

static bool page_open(page *p, uint32_t value_bytes)
{
    p->slots = value_bytes > BYTES_AT_ONCE / SLOTS_AT_ONCE ? BYTES_AT_ONCE / value_bytes : SLOTS_AT_ONCE;
    p->key = (uint64_t *)malloc((size_t)p->slots * sizeof(uint64_t));
    p->score = (uint64_t *)malloc((size_t)p->slots * sizeof(uint64_t));
    p->value = (uint8_t *)malloc((size_t)(p->slots * value_bytes + 1));
    return p->key && p->score && p->value;
}

static void page_close(page *p)
{
    free(p->key);
    free(p->score);
    free(p->value);
}

static const char *compare_entry(hd_oracle *o, uint64_t key, uint64_t score, const uint8_t *value)
{
    judge_entry *e = judge_map_find(&o->map, key);
    if (!e) return judge_say(o, "the table holds key %" PRIu64 ", which is not in it", key);
    if (e->mark == o->mark) return judge_say(o, "the table holds key %" PRIu64 " twice", key);
    if (!judge_score_known(o, e)) judge_score_shown(o, e, score);
    if (e->score != score)
        return judge_say(o, "the table holds key %" PRIu64 " with score %" PRIu64 " instead of %" PRIu64, key, score,
                         e->score);
    if (o->value_bytes && memcmp(e->value, value, o->value_bytes) != 0)
        return judge_say(o, "the table holds key %" PRIu64 " with another value", key);
    e->mark = o->mark;
    return NULL;
}

bool judge_table_runs(const hd_info *info, hd_op op, const uint8_t *each)
{
    hd_kernel k;
    hd_batch b;
    memset(&b, 0, sizeof b);
    b.op = op;
    b.each = each;
    for (uint32_t row = 0; hd_kernel_named(info->design, info->backend, row, &k); row++)
        if (!hd_kernel_unsupported(&k, info, &b)) return true;
    return false;
}

/* By export, which tests that operation, too. */
static const char *walk_pages(hd_oracle *o, hd_table *table, const hd_info *info, uint64_t *n)
{
    page p = { 0 };
    const char *wrong = page_open(&p, o->value_bytes) ? NULL : judge_no_memory;
    for (uint64_t start = 0; !wrong && start < info->places; start += p.slots) {
        uint64_t count = 0, left = info->places - start;
        hd_batch b = { .op = HD_OP_EXPORT,
                       .start = start,
                       .n = left < p.slots ? left : p.slots,
                       .list_key = p.key,
                       .list_value = p.value,
                       .list_score = p.score,
                       .count = &count };
        if (hd_run(table, &b))
            wrong = judge_say(o, "export: %s", hd_why());
        else if (count > b.n)
            wrong = judge_say(o, "export of %" PRIu64 " slots gave %" PRIu64 " entries", b.n, count);
        for (uint64_t i = 0; i < count && !wrong; i++)
            wrong = compare_entry(o, p.key[i], p.score[i], p.value + i * o->value_bytes);
        *n += count;
    }
    page_close(&p);
    return wrong;
}

typedef struct visit {
    hd_oracle *o;
    uint64_t n;
    const char *wrong;
} visit;

static int visit_entry(void *context, uint64_t key, uint64_t score, void *value)
{
    visit *v = (visit *)context;
    v->n++;
    v->wrong = compare_entry(v->o, key, score, (const uint8_t *)value);
    return v->wrong != NULL;
}

const char *judge_walk(hd_oracle *o, hd_table *table, hd_info *info, uint64_t *n)
{
    visit v = { o, 0, NULL };
    o->mark++;
    *n = 0;
    if (hd_table_info(table, info)) return judge_say(o, "hd_table_info: %s", hd_why());
    if (judge_table_runs(info, HD_OP_EXPORT, NULL)) return walk_pages(o, table, info, n);
    if (hd_for_each(table, visit_entry, &v)) return judge_say(o, "hd_for_each: %s", hd_why());
    *n = v.n;
    return v.wrong;
}

static const char *lost(hd_oracle *o)
{
    const judge_entry *e;
    for (uint64_t p = 0; (e = judge_map_next(&o->map, &p));)
        if (e->mark != o->mark) return judge_say(o, "the table has lost key %" PRIu64 " and said nothing", e->key);
    return NULL;
}

const char *hd_oracle_compare(hd_oracle *o, hd_table *table)
{
    uint64_t n, size;
    hd_info info;
    const char *wrong = judge_walk(o, table, &info, &n);
    if (!wrong) wrong = lost(o);
    if (wrong) return wrong;
    if (hd_size_sync(table, &size)) return judge_say(o, "hd_size_sync: %s", hd_why());
    return size == n ? NULL : judge_say(o, "the size is said to be %" PRIu64 ", but it is %" PRIu64, size, n);
}

/* Load drops an entry when its candidate buckets are full of better ones, which are still there: best score first. */
static const char *unduly_dropped(hd_oracle *o, const hd_info *info)
{
    uint64_t need = (1 + hd_params_number_of_table(info, "dual")) * info->slots;
    const judge_entry *e, *f;
    for (uint64_t p = 0; (e = judge_map_next(&o->map, &p));) {
        uint64_t above = 0;
        if (e->mark == o->mark) continue;
        for (uint64_t q = 0; above < need && (f = judge_map_next(&o->map, &q));)
            above += f->mark == o->mark && f->score >= e->score;
        if (above < need)
            return judge_say(o, "key %" PRIu64 ", score %" PRIu64 ", was dropped, but lower scores were kept", e->key,
                             e->score);
    }
    return NULL;
}

const char *hd_oracle_compare_part(hd_oracle *o, hd_table *table, uint64_t dropped)
{
    uint64_t n;
    hd_info info;
    const char *wrong = judge_walk(o, table, &info, &n);
    if (wrong) return wrong;
    if (n + dropped != o->map.n)
        return judge_say(o, "%" PRIu64 " entries are there and %" PRIu64 " were said to be dropped, of %" PRIu64, n,
                         dropped, o->map.n);
    return dropped ? unduly_dropped(o, &info) : NULL;
}

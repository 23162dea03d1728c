/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_range.c - the entries of a snapshot with keys between two bounds, in ascending order. A table that keeps its
 * keys in order is asked for them; the entries of others are read and sorted.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/design.h"
#include "base/op.h"
#include "base/parse.h"
#include "tools/output.h"

enum { PAGE = 1024 };

typedef struct entry {
    uint64_t key, score;
    uint8_t *value; /* (value_bytes), in a block */
} entry;

typedef struct range {
    hd_table *table;
    hd_info info;
    uint64_t from, to, limit;
    entry *list; /* (n) */
    uint8_t **block;
    uint64_t n, room, blocks;
    bool more, no_memory;
} range;

/* Room for one more entry; NULL: memory was refused. */
static entry *add(range *r)
{
    if (r->n == r->room) {
        uint64_t room = r->room ? 2 * r->room : PAGE, each = r->info.value_bytes ? r->info.value_bytes : 1;
        entry *wide = (entry *)realloc(r->list, (size_t)room * sizeof *wide);
        if (wide) r->list = wide;
        uint8_t **blocks = (uint8_t **)realloc(r->block, (size_t)(r->blocks + 1) * sizeof *blocks);
        if (blocks) r->block = blocks;
        uint8_t *values = wide && blocks ? (uint8_t *)calloc((size_t)(room - r->room), (size_t)each) : NULL;
        r->no_memory = !values;
        if (!values) return NULL;
        r->block[r->blocks++] = values;
        for (uint64_t i = r->room; i < room; i++) r->list[i].value = values + (i - r->room) * each;
        r->room = room;
    }
    return &r->list[r->n++];
}

static void close_range(range *r)
{
    for (uint64_t i = 0; i < r->blocks; i++) free(r->block[i]);
    free(r->block);
    free(r->list);
    hd_close(r->table);
}

/* ---- A table with an order ------------------------------------------------------------------- */

static bool is_ordered(const hd_info *info)
{
    hd_kernel k;
    hd_batch b = hd_batch_of(HD_OP_RANGE, 0, NULL);
    return hd_kernel_named(info->design, info->backend, 0, &k) && !hd_kernel_unsupported(&k, info, &b);
}

/* Page by page. The last key of a page is below the limit of keys, so the next one is a number. */
static hd_status read_in_order(range *r)
{
    uint64_t key[PAGE], from = r->from;
    uint32_t rows = 0, bytes = r->info.value_bytes;
    uint8_t *value = (uint8_t *)calloc(PAGE, bytes ? bytes : 1);
    hd_status s = HD_OK;
    r->no_memory = !value;
    for (r->more = from < r->info.keys; !s && r->more && r->n < r->limit && !r->no_memory; from = key[rows - 1] + 1) {
        uint64_t left = r->limit - r->n;
        s = hd_range(r->table, 1, &from, &r->to, left < PAGE ? (uint32_t)left : PAGE, key, value, &rows, &r->more,
                     NULL);
        entry *e;
        for (uint32_t i = 0; !s && i < rows && (e = add(r)); i++) {
            e->key = key[i];
            e->score = 0;
            memcpy(e->value, value + (size_t)i * bytes, bytes);
        }
        if (rows == 0) break;
    }
    free(value);
    return s;
}

/* ---- Any table ------------------------------------------------------------------------------- */

static int take_entry(void *context, uint64_t key, uint64_t score, void *value)
{
    range *r = (range *)context;
    entry *e;
    if (key < r->from || key > r->to) return 0;
    if (!(e = add(r))) return 1;
    e->key = key;
    e->score = score;
    if (r->info.value_bytes) memcpy(e->value, value, r->info.value_bytes);
    return 0;
}

static int by_key(const void *a, const void *b)
{
    const entry *x = (const entry *)a, *y = (const entry *)b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static hd_status read_and_sort(range *r)
{
    hd_status s = hd_for_each(r->table, take_entry, r);
    if (!s && r->n) qsort(r->list, (size_t)r->n, sizeof *r->list, by_key);
    r->more = r->n > r->limit;
    if (r->more) r->n = r->limit;
    return s;
}

/* ---- Printing -------------------------------------------------------------------------------- */

/* A value of up to 8 bytes is a whole number, its low byte first. */
static bool is_number(const range *r) { return r->info.value_bytes <= 8; }

static out_value value_of(const range *r, const entry *e, char *text)
{
    uint64_t number = 0;
    uint32_t bytes = r->info.value_bytes;
    if (bytes == 0) return out_none();
    if (is_number(r)) return memcpy(&number, e->value, bytes), out_count(number);
    for (uint32_t i = 0; i < bytes; i++) sprintf(text + 2 * (size_t)i, "%02x", e->value[i]);
    return out_text(text);
}

static void print_entries(out *o, const range *r, char *text)
{
    bool scores = strcmp(r->info.policy, "none") != 0;
    for (uint64_t i = 0; i < r->n; i++) {
        const entry *e = &r->list[i];
        out_row(o, (const out_value[]){ out_count(e->key), value_of(r, e, text),
                                        scores ? out_count(e->score) : out_none() });
    }
}

static int report(const tool_line *line, const range *r)
{
    static const out_column number[] = { { "key", "key", OUT_PLAIN },
                                         { "value", "value", OUT_PLAIN },
                                         { "score", "score", OUT_PLAIN } },
                            bytes[] = { { "key", "key", OUT_PLAIN },
                                        { "value", "value", OUT_TEXT },
                                        { "score", "score", OUT_PLAIN } };
    char *text = (char *)malloc(2 * (size_t)r->info.value_bytes + 1);
    if (!text) return tool_say(TOOL_SYSTEM, "memory was refused");
    out *o = out_open(line->form, "heddle.range/1", is_number(r) ? number : bytes, 3);
    out_fact(o, "file", "file", OUT_TEXT, out_text(line->word[0]));
    out_fact(o, "design", "design", OUT_TEXT, out_text(r->info.design));
    out_fact(o, "from", "from", OUT_PLAIN, out_count(r->from));
    out_fact(o, "to", "to", OUT_PLAIN, out_count(r->to));
    out_fact(o, "entries", "entries", OUT_COUNT, out_count(r->n));
    out_fact(o, "more", "more", OUT_FLAG, out_flag(r->more));
    print_entries(o, r, text);
    free(text);
    return out_close(o, TOOL_OK);
}

/* ---- The verb -------------------------------------------------------------------------------- */

typedef struct range_options {
    uint64_t limit;
} range_options;

static const tool_option option[] = {
    { "limit", 'n', "N", "print N entries, at most (1000)", TOOL_RANGE(range_options, limit, 1, UINT32_MAX) },
    { .name = NULL },
};

static hd_status open_range(range *r, const char *path)
{
    hd_status s = hd_open_snapshot(path, NULL, &r->table);
    if (!s) s = hd_table_info(r->table, &r->info);
    if (!s) s = is_ordered(&r->info) ? read_in_order(r) : read_and_sort(r);
    return s;
}

static int run(tool_line *line, int argc, char **argv)
{
    range_options opt = { .limit = 1000 };
    range r;
    hd_snapshot_info info;
    memset(&r, 0, sizeof r);
    int code = tool_parse(line, argc, argv, &opt);
    if (code >= 0) return code;
    const char *path = line->word[0];
    r.limit = opt.limit;
    r.to = UINT64_MAX;
    hd_status s = line->words > 1 ? hd_parse_u64("FROM", line->word[1], 0, UINT64_MAX, &r.from) : HD_OK;
    if (!s && line->words > 2) s = hd_parse_u64("TO", line->word[2], 0, UINT64_MAX, &r.to);
    if (s) return tool_fail(s);
    code = tool_file("SNAPSHOT", path);
    if (code) return code;
    s = hd_snapshot_inspect(path, &info);
    if (!s && tool_fits(path, info.capacity, info.value_bytes)) return TOOL_SYSTEM;
    if (!s) s = open_range(&r, path);
    code = s ? tool_fail(s) : r.no_memory ? tool_say(TOOL_SYSTEM, "memory was refused") : report(line, &r);
    close_range(&r);
    return code;
}

static const char doc[] =
    "Prints the entries of a saved table with keys from FROM to TO, both included, in ascending order. Without TO "
    "there "
    "is no upper bound, and without FROM no lower one. A value of up to 8 bytes is printed as a whole number, a larger "
    "one as bytes in hexadecimal.\n"
    "\n"
    "EXAMPLES\n"
    "  heddle gen zipf:0.99,10000 --requests 100000 -o zipf.oracleGeneral.zst\n"
    "  heddle sim zipf.oracleGeneral.zst oracleGeneral lfu 4Ki --save table.heddle\n"
    "  heddle range table.heddle 0 99 --limit 10\n"
    "  heddle range table.heddle 5000 --json --limit 2\n";

const tool_verb verb_range = {
    "range", "SNAPSHOT [FROM [TO]]", "the entries of a saved table in the order of keys", doc, 1, 3, option, NULL, run
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * search_prefetch.c - looks for bugs of batches on the CPU, which look ahead at their next items and run on threads.
 *
 *     call edge         the arrays of a batch end at a page that nothing may touch
 *     call single CASE  batches of many items and batches of one leave the same table
 *     call rows         rows of a list that several threads keep until their block has run
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "judge/oracle.h"
#include "judge/run.h"
#include "judge/museum/streams.h"
#include "ref/hkv/lists.h"

/* ---- edge ------------------------------------------------------------------------------------ */

/* Memory that ends at a page that nothing may touch. */
typedef struct edge {
    uint8_t *begin;
    size_t bytes, page;
} edge;

static bool edge_open(edge *e, size_t bytes)
{
    e->page = (size_t)sysconf(_SC_PAGESIZE);
    e->bytes = (bytes + e->page - 1) / e->page * e->page;
    void *p = mmap(NULL, e->bytes + e->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    e->begin = p == MAP_FAILED ? NULL : (uint8_t *)p;
    return e->begin && mprotect(e->begin + e->bytes, e->page, PROT_NONE) == 0;
}

static void edge_close(edge *e)
{
    if (e->begin) munmap(e->begin, e->bytes + e->page);
}

/* Its last bytes. */
static void *edge_last(const edge *e, uint64_t bytes) { return e->begin + e->bytes - bytes; }

enum { EDGE_ITEMS = 200, EDGE_ENTRIES = 1 << 15 /* more than a cache holds: batches look ahead */ };

/* Batches of 1, 2, ... items. Each brings keys that come back in later ones. */
static const char *edge_batches(const museum_search *s, museum_sight *sight, hd_table *t, hd_oracle *o, const edge *in)
{
    uint64_t clock = 0;
    const char *wrong = NULL;
    for (uint64_t n = 1; n <= EDGE_ITEMS && n <= 2 * s->fixtures && !wrong; n++) {
        uint64_t *key = (uint64_t *)edge_last(&in[0], 8 * n), *value = (uint64_t *)edge_last(&in[1], 8 * n);
        uint8_t *outcome = (uint8_t *)edge_last(&in[2], n);
        for (uint64_t i = 0; i < n; i++) key[i] = n * i % 977, value[i] = n + i;
        hd_batch b = {
            .op = n % 3 ? HD_OP_INSERT_OR_ASSIGN : HD_OP_ASSIGN, .n = n, .key = key, .value = value, .outcome = outcome
        };
        sight->tries++;
        if (hd_run(t, &b)) return hd_why();
        wrong = hd_oracle_batch(o, t, &b, NULL, clock, 0);
        clock += n;
    }
    if (wrong) museum_heard(s, sight, MUSEUM_ORACLE, wrong);
    return NULL;
}

const char *museum_look_edge(const museum_search *s, museum_sight *sight, const char *words)
{
    hd_config c = hd_config_default();
    hd_table *t = NULL;
    hd_oracle *o = NULL;
    edge in[3] = { { NULL, 0, 0 } };
    (void)words;
    c.capacity = EDGE_ENTRIES;
    const char *why = NULL;
    for (int k = 0; k < 3 && !why; k++)
        if (!edge_open(&in[k], EDGE_ITEMS * sizeof(uint64_t))) why = "there is no memory";
    if (!why && (hd_open(&c, &t) || hd_oracle_open(&c, &o))) why = hd_why();
    if (!why) why = edge_batches(s, sight, t, o, in);
    hd_oracle_close(o);
    hd_close(t);
    for (int k = 0; k < 3; k++) edge_close(&in[k]);
    return why;
}

/* ---- single ---------------------------------------------------------------------------------- */

/* An item of a batch of one finds the table as the items before it left it. */
const char *museum_look_single(const museum_search *s, museum_sight *sight, const char *words)
{
    hd_case c;
    hd_run_report many, single;
    if (hd_case_parse(words, &c) || hd_case_run(&c, NULL, NULL, &many)) return hd_why();
    c.batches *= c.batch;
    c.batch = 1;
    if (hd_case_run(&c, NULL, NULL, &single)) return hd_why();
    sight->tries = 1;
    if (many.contents_hash != single.contents_hash)
        museum_heard(s, sight, MUSEUM_CONTENTS, "batches of many items and batches of one leave different tables");
    return NULL;
}

/* ---- rows ------------------------------------------------------------------------------------ */

enum { ROWS_ITEMS = 100, ROWS_THREADS = 3 };

/* Two of three items have rows, which are those of any thread. Threads take turns: builds without OpenMP have one. */
const char *museum_look_rows(const museum_search *s, museum_sight *sight, const char *words)
{
    hkv_rows rows[ROWS_THREADS];
    hkv_view v = { .value_bytes = 0 };
    uint64_t list[ROWS_ITEMS], expected[ROWS_ITEMS], all = 0, at = 0;
    uint8_t listed[ROWS_ITEMS];
    hd_batch b = { .op = HD_OP_INSERT_AND_EVICT, .n = ROWS_ITEMS, .list_item = list };
    (void)words;
    for (int t = 0; t < ROWS_THREADS; t++) hkv_rows_begin(&rows[t], 0);
    for (uint64_t i = 0; i < ROWS_ITEMS; i++) {
        listed[i] = i % 3 != 0;
        if (!listed[i]) continue;
        hkv_row_add(&rows[i * 7 % 11 % ROWS_THREADS], i, i, i);
        expected[all++] = i;
    }
    memset(list, 0, sizeof list);
    for (int t = 0; t < ROWS_THREADS; t++) at = hkv_rows_place(&v, &b, &rows[t], 0, ROWS_ITEMS, listed, 0);
    sight->tries = 1;
    if (at != all || memcmp(list, expected, all * sizeof *list))
        museum_heard(s, sight, MUSEUM_LISTS, "the rows of the list are not in the order of the items");
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * keys_ycsb.c - the core workloads of YCSB (Cooper et al.: Benchmarking Cloud Serving Systems with YCSB,
 * SoCC 2010, Table 2): a mix of verbs over Zipf-popular records.
 *
 *     ycsb:WORKLOAD,KEYS[,exponent=S][,scramble=0|1]
 *
 * The records 0 to KEYS - 1 are taken to be there before the first request. Workload D inserts new
 * records and reads the latest ones: the newest record is the most popular, and popularity moves with
 * it. The exponent is 0.99, YCSB's own. Workload E scans ranges of keys, which no hash table can.
 */
#include "base/error.h"
#include "workload/workload.h"
#include "workload/zipf.h"

/* One row of the paper's table: shares in percent, which add up to 100. */
typedef struct mix {
    char letter;
    uint8_t read, update, insert, read_modify_write;
    bool latest; /* popularity by age, else by record */
} mix;

static const mix mixes[] = {
    { 'A', 50, 50, 0, 0, false }, /* update heavy      */
    { 'B', 95, 5, 0, 0, false },  /* read heavy        */
    { 'C', 100, 0, 0, 0, false }, /* read only         */
    { 'D', 95, 0, 5, 0, true },   /* read latest       */
    { 'F', 50, 0, 0, 50, false }, /* read-modify-write */
};

typedef struct ycsb {
    hd_source source;
    hd_rng rng;
    hd_zipf ranks; /* over the records that are there */
    const mix *m;
    bool scramble;
} ycsb;

static hd_verb verb_draw(const mix *m, hd_rng *g)
{
    uint64_t percent = hd_rng_below(g, 100);
    if (percent < m->read) return HD_READ;
    if (percent < (uint64_t)m->read + m->update) return HD_UPDATE;
    return m->insert ? HD_INSERT : HD_READ_MODIFY_WRITE;
}

static hd_status ycsb_next(hd_source *s, hd_request *r, size_t max, size_t *got)
{
    ycsb *y = (ycsb *)s;
    for (size_t i = 0; i < max; i++) {
        hd_verb verb = verb_draw(y->m, &y->rng);
        uint64_t records = y->ranks.n, record;
        if (verb == HD_INSERT) {
            record = records;
            hd_zipf_resize(&y->ranks, records + 1);
        } else {
            uint64_t rank = hd_zipf_rank(&y->ranks, &y->rng);
            record = y->m->latest ? records - rank : rank - 1;
        }
        r[i] = (hd_request){ .key = y->scramble ? hd_scramble(record) : record, .size = 1, .verb = (uint32_t)verb };
    }
    *got = max;
    return HD_OK;
}

static void ycsb_close(hd_source *s) { hd_give(s->seams, s, 1, sizeof(ycsb)); }

static hd_status mix_find(const char *text, const mix **m)
{
    char letter = (char)(text[0] & ~0x20); /* 'a' is 'A' */
    if (letter == 'E' && !text[1])
        return hd_fail(HD_EINVAL, "WORKLOAD: E scans ranges of keys, and hash tables do not scan");
    for (size_t i = 0; i < sizeof mixes / sizeof *mixes && letter && !text[1]; i++)
        if (mixes[i].letter == letter) {
            *m = &mixes[i];
            return HD_OK;
        }
    return hd_fail(HD_EINVAL, "WORKLOAD: '%.60s' is none of A, B, C, D, F", text);
}

static hd_status ycsb_open(const hd_source_args *a, hd_source **s)
{
    static const char *const known[] = { "exponent", "scramble", NULL };
    const mix *m = NULL;
    uint64_t keys = 0;
    double exponent = 0;
    bool scramble = true;
    hd_status e = hd_source_shape(a, 2, known);
    if (!e) e = mix_find(a->arg[0], &m);
    if (!e) e = hd_parse_u64("KEYS", a->arg[1], 1, HD_ZIPF_KEYS_MAX / 2, &keys); /* half: room to insert */
    if (!e) e = hd_parse_double("exponent", hd_source_option(a, "exponent", "0.99"), 0, 2, &exponent);
    if (!e) e = hd_source_flag(a, "scramble", true, &scramble);
    const hd_source as = { .keys = e || m->insert ? 0 : keys, .next = ycsb_next, .close = ycsb_close };
    if (!e) e = hd_source_take(a, "ycsb keys", sizeof(ycsb), &as, s);
    if (e) return e;
    ycsb *y = (ycsb *)*s;
    y->m = m;
    y->rng = hd_rng_from(a->seed);
    y->ranks = hd_zipf_of(exponent, keys);
    y->scramble = scramble;
    return HD_OK;
}

const hd_source_row hd_workload_ycsb = { "ycsb", "YCSB's core workloads A, B, C, D and F, with their verbs",
                                         "ycsb:WORKLOAD,KEYS[,exponent=S][,scramble=0|1]", false, ycsb_open };

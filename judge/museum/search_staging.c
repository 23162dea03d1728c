/* SPDX-License-Identifier: Apache-2.0
 *
 * search_staging.c - looks for a bug in the copies of host arrays (lib/staging.c): on a lazy device (lazy.h) a slot of
 * the ring that is used again too early has the wrong bytes. The device's kernel finds the odd keys, and of a range so
 * many entries as its first key says.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lib/staging.h"
#include "judge/museum/lazy.h"
#include "judge/museum/streams.h"
#include "workload/rng.h"

enum { ITEMS = 160, ROW_MOST = 24, LIMIT_MOST = 3 };

typedef struct arrays {
    uint64_t key[ITEMS], key2[ITEMS], score_out[ITEMS], key_out[ITEMS * LIMIT_MOST], list_key[ITEMS], list_item[ITEMS];
    uint64_t count;
    uint32_t rows[ITEMS];
    uint8_t value_out[ITEMS * ROW_MOST * LIMIT_MOST], outcome[ITEMS];
    bool more[ITEMS];
} arrays;

/* ---- The device ------------------------------------------------------------------------------ */

/* Item i of a range writes some of its rows, or none. */
static void find_range(const lazy *d, const hd_batch *b, uint64_t i)
{
    uint32_t rows = b->key[i] % 2 ? (uint32_t)(b->key[i] % (b->limit + 1)) : 0;
    for (uint64_t k = 0, at = i * b->limit; k < rows; k++, at++) {
        if (b->key_out) b->key_out[at] = b->key[i] + k;
        if (b->value_out) memset((uint8_t *)b->value_out + at * d->row, (int)((b->key[i] + k) % 251), d->row);
    }
    if (b->outcome) b->outcome[i] = b->key[i] % 2 ? HD_HIT : HD_MISS;
    if (b->rows) b->rows[i] = rows;
    if (b->more) b->more[i] = b->key2[i] % 2;
}

static void kernel(const lazy *d, const hd_batch *b)
{
    if (b->op == HD_OP_RANGE) {
        for (uint64_t i = 0; i < b->n; i++) find_range(d, b, i);
        return;
    }
    uint64_t listed = 0;
    for (uint64_t i = 0; i < b->n; i++) {
        bool hit = b->key[i] % 2;
        if (b->outcome) b->outcome[i] = hit ? HD_HIT : HD_MISS;
        if (hit && b->value_out) memset((uint8_t *)b->value_out + i * d->row, (int)(b->key[i] % 251), d->row);
        if (hit && b->score_out) b->score_out[i] = 3 * b->key[i];
        if (hit || b->op != HD_OP_FIND_MISSED) continue;
        if (b->list_key) b->list_key[listed] = b->key[i];
        if (b->list_item) b->list_item[listed] = i;
        listed++;
    }
    if (b->op == HD_OP_FIND_MISSED && b->count) *b->count = listed;
}

static hd_status put(void *self, const hd_batch *b, uint64_t first)
{
    lazy_work *w = lazy_next((lazy *)self);
    (void)first;
    if (w) *w = (lazy_work){ .batch = *b };
    return w ? HD_OK : HD_ECUDA;
}

/* ---- A batch --------------------------------------------------------------------------------- */

/* Some outputs are not asked for. */
static hd_batch draw_batch(hd_rng *g, arrays *a)
{
    memset(a, 0x5a, sizeof *a);
    for (int i = 0; i < ITEMS; i++) a->key[i] = hd_rng_below(g, 1000);
    hd_batch b = { .op = hd_rng_below(g, 2) ? HD_OP_FIND : HD_OP_FIND_MISSED, .key = a->key };
    b.n = 1 + hd_rng_below(g, ITEMS);
    if (hd_rng_below(g, 2)) b.outcome = a->outcome;
    if (hd_rng_below(g, 4)) b.value_out = a->value_out;
    if (hd_rng_below(g, 2)) b.score_out = a->score_out;
    if (hd_rng_below(g, 2)) b.list_key = a->list_key;
    if (hd_rng_below(g, 2)) b.list_item = a->list_item;
    if (hd_rng_below(g, 2)) b.count = &a->count;
    if (hd_rng_below(g, 3)) return b;
    for (int i = 0; i < ITEMS; i++) a->key2[i] = hd_rng_below(g, 1000);
    b.op = HD_OP_RANGE;
    b.key2 = a->key2;
    b.limit = 1 + (uint32_t)hd_rng_below(g, LIMIT_MOST);
    if (hd_rng_below(g, 4)) b.key_out = a->key_out;
    if (hd_rng_below(g, 2)) b.rows = a->rows;
    if (hd_rng_below(g, 2)) b.more = a->more;
    return b;
}

/* The batch by the kernel alone, and by the copies of its arrays. NULL: they agree. */
static const char *run_batch(hd_rng *g)
{
    lazy *d = (lazy *)malloc(sizeof *d);
    arrays *a = (arrays *)malloc(2 * sizeof *a), *wanted = a + 1;
    hd_array all[HD_ARRAYS_MOST];
    hd_reach reach[HD_ARRAYS_MOST];
    hd_staging s;
    if (!d || !a) return free(d), free(a), "there is no memory";
    lazy_init(d);
    d->kernel = kernel;
    d->row = 8 * (1 + (uint32_t)hd_rng_below(g, ROW_MOST / 8));
    hd_batch b = draw_batch(g, a);
    hd_rng same = *g;
    int used = hd_batch_arrays(&b, d->row, all);
    for (int i = 0; i < used; i++) reach[i] = HD_REACH_NONE;
    hd_seams seams = hd_seams_os;
    seams.device = &d->seam;
    hd_staging_open(&s, &seams, "a device");
    s.sizes.slot_bytes = 512 + hd_rng_below(&same, 2048);
    s.sizes.direct_bytes = hd_rng_below(&same, 8) ? 0 : 64 << 10;
    if (s.sizes.direct_bytes) s.sizes.slot_bytes = 64 << 10;
    *wanted = *a;
    hd_batch alone = b;
    for (int i = 0; i < used; i++)
        hd_field_set(&alone, all[i].field, (uint8_t *)wanted + ((uint8_t *)all[i].p - (uint8_t *)a));
    kernel(d, &alone);
    hd_status status = hd_staging_run(&s, &b, d->row, all, reach, used, hd_rng_below(&same, 4) == 0, put, d);
    hd_staging_close(&s);
    const char *wrong = status ? hd_why() : memcmp(a, wanted, sizeof *a) ? "the copied arrays have other bytes" : NULL;
    *g = same;
    free(d);
    free(a);
    return wrong;
}

const char *museum_look_staging(const museum_search *s, museum_sight *sight, const char *words)
{
    (void)words;
    return museum_try_seeds(s, sight, MUSEUM_ARRAYS, run_batch);
}

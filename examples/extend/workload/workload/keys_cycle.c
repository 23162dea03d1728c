/* SPDX-License-Identifier: Apache-2.0
 *
 * keys_cycle.c - all keys in order, again and again.
 *
 *     cycle:KEYS
 */
#include "workload/workload.h"

typedef struct cycle {
    hd_source source;
    uint64_t next;
} cycle;

static hd_status cycle_next(hd_source *s, hd_request *r, size_t max, size_t *got)
{
    cycle *c = (cycle *)s;
    for (size_t i = 0; i < max; i++, c->next = (c->next + 1) % s->keys)
        r[i] = (hd_request){ .key = c->next, .size = 1, .verb = HD_READ };
    *got = max;
    return HD_OK;
}

static void cycle_close(hd_source *s) { hd_give(s->seams, s, 1, sizeof(cycle)); }

static hd_status cycle_open(const hd_source_args *a, hd_source **s)
{
    static const char *const known[] = { NULL };
    uint64_t keys = 0;
    hd_status e = hd_source_shape(a, 1, known);
    if (!e) e = hd_parse_u64("KEYS", a->arg[0], 1, HD_KEY_RESERVED, &keys);
    const hd_source as = { .keys = keys, .next = cycle_next, .close = cycle_close };
    return e ? e : hd_source_take(a, "cycle keys", sizeof(cycle), &as, s);
}

const hd_source_row hd_workload_cycle = {
    .name = "cycle",
    .what = "all keys in order, again and again",
    .form = "cycle:KEYS",
    .open = cycle_open,
};

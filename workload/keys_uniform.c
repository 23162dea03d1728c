/* SPDX-License-Identifier: Apache-2.0
 *
 * keys_uniform.c - every key equally likely.
 *
 *     uniform:KEYS[,first=N][,scramble=0|1]
 *
 * Reads of the keys N to N + KEYS - 1 (N is 0), or of their scrambled forms (rng.h).
 */
#include <inttypes.h>

#include "base/error.h"
#include "workload/rng.h"
#include "workload/workload.h"

typedef struct uniform {
    hd_source source;
    hd_rng rng;
    uint64_t first;
    bool scramble;
} uniform;

static hd_status uniform_next(hd_source *s, hd_request *r, size_t max, size_t *got)
{
    uniform *u = (uniform *)s;
    for (size_t i = 0; i < max; i++) {
        uint64_t key = u->first + hd_rng_below(&u->rng, s->keys);
        r[i] = (hd_request){ .key = u->scramble ? hd_scramble(key) : key, .size = 1, .verb = HD_READ };
    }
    *got = max;
    return HD_OK;
}

static void uniform_close(hd_source *s) { hd_give(s->seams, s, 1, sizeof(uniform)); }

static hd_status uniform_open(const hd_source_args *a, hd_source **s)
{
    static const char *const known[] = { "first", "scramble", NULL };
    uint64_t keys = 0, first = 0;
    bool scramble = false;
    hd_status e = hd_source_shape(a, 1, known);
    if (!e) e = hd_parse_u64("KEYS", a->arg[0], 1, HD_KEY_RESERVED, &keys);
    if (!e) e = hd_parse_u64("first", hd_source_option(a, "first", "0"), 0, HD_KEY_RESERVED - 1, &first);
    if (!e) e = hd_source_flag(a, "scramble", false, &scramble);
    if (!e && keys > HD_KEY_RESERVED - first)
        e = hd_fail(HD_EINVAL, "first: %" PRIu64 " and %" PRIu64 " keys from there reach the reserved keys", first,
                    keys);
    const hd_source as = { .keys = keys, .next = uniform_next, .close = uniform_close };
    if (!e) e = hd_source_take(a, "uniform keys", sizeof(uniform), &as, s);
    if (e) return e;
    uniform *u = (uniform *)*s;
    u->rng = hd_rng_from(a->seed);
    u->first = first;
    u->scramble = scramble;
    return HD_OK;
}

const hd_source_row hd_workload_uniform = { "uniform", "every key equally likely",
                                            "uniform:KEYS[,first=N][,scramble=0|1]", false, uniform_open };

/* SPDX-License-Identifier: Apache-2.0
 *
 * keys_zipf.c - a few keys often, most keys seldom: the key of rank k has a share proportional to
 * k^-EXPONENT.
 *
 *     zipf:EXPONENT,KEYS[,scramble=0|1]
 *
 * EXPONENT 0 is uniform; 1 is Zipf's law; up to 2. Reads of the scrambled ranks 0 to KEYS - 1 (rng.h), so
 * that popular keys are no neighbours, or, with scramble=0, of the ranks themselves: key 0 is the most popular.
 */
#include "workload/workload.h"
#include "workload/zipf.h"

typedef struct zipf {
    hd_source source;
    hd_rng rng;
    hd_zipf ranks;
    bool scramble;
} zipf;

static hd_status zipf_next(hd_source *s, hd_request *r, size_t max, size_t *got)
{
    zipf *z = (zipf *)s;
    for (size_t i = 0; i < max; i++) {
        uint64_t rank = hd_zipf_rank(&z->ranks, &z->rng) - 1;
        r[i] = (hd_request){ .key = z->scramble ? hd_scramble(rank) : rank, .size = 1, .verb = HD_READ };
    }
    *got = max;
    return HD_OK;
}

static void zipf_close(hd_source *s) { hd_give(s->seams, s, 1, sizeof(zipf)); }

static hd_status zipf_open(const hd_source_args *a, hd_source **s)
{
    static const char *const known[] = { "scramble", NULL };
    double exponent = 0;
    uint64_t keys = 0;
    bool scramble = true;
    hd_status e = hd_source_shape(a, 2, known);
    if (!e) e = hd_parse_double("EXPONENT", a->arg[0], 0, 2, &exponent);
    if (!e) e = hd_parse_u64("KEYS", a->arg[1], 1, HD_ZIPF_KEYS_MAX, &keys);
    if (!e) e = hd_source_flag(a, "scramble", true, &scramble);
    const hd_source as = { .keys = keys, .next = zipf_next, .close = zipf_close };
    if (!e) e = hd_source_take(a, "zipf keys", sizeof(zipf), &as, s);
    if (e) return e;
    zipf *z = (zipf *)*s;
    z->rng = hd_rng_from(a->seed);
    z->ranks = hd_zipf_of(exponent, keys);
    z->scramble = scramble;
    return HD_OK;
}

const hd_source_row hd_workload_zipf = { "zipf", "the key of rank k with a share proportional to k^-EXPONENT",
                                         "zipf:EXPONENT,KEYS[,scramble=0|1]", false, zipf_open };

/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - is a batch one that can run? Every rule of heddle.h that the caller can break, in one place.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "lib/table.h"
#include "policies/policy.h"
#include "predicates/predicate.h"
#include "ref/accum.h"
#include "hashes/hash.h"

static hd_status missing(const hd_op_row *row, const char *field, const char *why)
{
    return hd_fail(HD_EINVAL, "%s: %s: %s", row->name, field, why);
}

static hd_status check_arrays(const hd_table *t, const hd_batch *b, const hd_op_row *row)
{
    const char *required = "NULL, but the operation needs it";
    if (b->n == 0) return HD_OK;
    if ((row->needs & HD_NEEDS_KEY) && !b->key) return missing(row, "key", required);
    if ((row->needs & HD_NEEDS_VALUE) && !b->value && t->info.value_bytes) return missing(row, "value", required);
    if ((row->needs & HD_NEEDS_PTR) && !b->ptr) return missing(row, "ptr", required);
    if ((row->needs & HD_SCORES) && !b->score && (t->policy_flags & HD_SCORES_NEEDED))
        return hd_fail(HD_EINVAL, "%s: score: NULL, but policy %s needs a score for every item", row->name,
                       t->info.policy);
    return HD_OK;
}

static hd_status check_accum(const hd_table *t, const hd_batch *b)
{
    if ((unsigned)b->elem >= HD_ELEM_COUNT)
        return hd_fail(HD_EINVAL, "accum_or_assign: elem: %d is no element type", (int)b->elem);
    if (t->info.value_bytes % hd_elem_bytes(b->elem))
        return hd_fail(HD_EINVAL, "accum_or_assign: elem: %" PRIu32 " value bytes are no whole number of %s",
                       t->info.value_bytes, hd_elem_name(b->elem));
    for (uint64_t i = 0; b->flag && !t->design->far && i < b->n; i++)
        if (b->flag[i] > HD_EITHER)
            return hd_fail(HD_EINVAL, "accum_or_assign: flag: item %" PRIu64 " has %d, which is no hd_accum", i,
                           b->flag[i]);
    return HD_OK;
}

/* Items that a device alone can read are the kernels' to refuse: they answer RESERVED. */
static hd_status check_each(const hd_table *t, const hd_batch *b)
{
    bool adds = false;
    for (uint64_t i = 0; !t->design->far && i < b->n; i++) {
        if (!hd_op_does((hd_op)b->each[i], HD_MIXES))
            return hd_fail(HD_EINVAL, "mixed: each: item %" PRIu64 " is %s (%d), which cannot be mixed", i,
                           hd_op_name((hd_op)b->each[i]), b->each[i]);
        adds = adds || b->each[i] == HD_OP_ACCUM_OR_ASSIGN;
    }
    return adds ? check_accum(t, b) : HD_OK;
}

static hd_status check_range(const hd_table *t, const hd_batch *b, const hd_op_row *row)
{
    uint64_t capacity = t->info.places;
    if (b->start > capacity)
        return hd_fail(HD_EINVAL, "%s: start: %" PRIu64 " is beyond the capacity of %" PRIu64, row->name, b->start,
                       capacity);
    if (b->n > capacity - b->start)
        return hd_fail(HD_EINVAL, "%s: n: %" PRIu64 " slots from %" PRIu64 " are beyond the capacity of %" PRIu64,
                       row->name, b->n, b->start, capacity);
    return HD_OK;
}

#ifdef HD_VERIFY
/* The promise of `distinct`, by open addressing over item numbers. Verify builds only: it takes memory. */
static hd_status check_distinct(const hd_table *t, const hd_batch *b, const hd_op_row *row)
{
    uint64_t places = 2;
    while (places < b->n * 2) places *= 2;
    void *p;
    hd_status status = hd_take(&t->seams, "distinct: verification", places, 8, &p);
    if (status) return status;
    uint64_t *place = (uint64_t *)p;
    memset(place, 0xff, places * 8);
    for (uint64_t i = 0; i < b->n && !status; i++) {
        uint64_t at = hd_mix64(b->key[i]) & (places - 1);
        while (place[at] != UINT64_MAX && b->key[place[at]] != b->key[i]) at = (at + 1) & (places - 1);
        if (place[at] != UINT64_MAX && b->key[i] < HD_KEY_RESERVED)
            status = hd_fail(HD_EINVAL, "%s: distinct: items %" PRIu64 " and %" PRIu64 " have the same key %" PRIu64,
                             row->name, place[at], i, b->key[i]);
        place[at] = i;
    }
    hd_give(&t->seams, place, places, 8);
    return status;
}
#else
static hd_status check_distinct(const hd_table *t, const hd_batch *b, const hd_op_row *row)
{
    return (void)t, (void)b, (void)row, HD_OK;
}
#endif

hd_status hd_batch_check(const hd_table *t, const hd_batch *b, const hd_op_row *row)
{
    uint64_t item_bytes = t->info.value_bytes > 8 ? t->info.value_bytes : 8;
    if (b->n > (uint64_t)PTRDIFF_MAX / item_bytes)
        return hd_fail(HD_EINVAL, "%s: n: %" PRIu64 " items are more than can be addressed", row->name, b->n);
    hd_status status = check_arrays(t, b, row);
    if (status) return status;
    if ((row->needs & HD_NEEDS_COUNT) && !b->count) return missing(row, "count", "NULL, but the operation needs it");
    if ((row->needs & HD_NEEDS_HOLDER) && b->holder == 0) return missing(row, "holder", "0, which is nobody");
    if ((row->needs & HD_NEEDS_PRED) && !b->pred) return missing(row, "pred", "NULL, but the operation needs it");
    if ((row->needs & HD_NEEDS_PRED) && hd_predicate_named(b->pred) == HD_PREDICATE_COUNT)
        return hd_fail_name("pred", b->pred, HD_PREDICATES);
    if (row->needs & HD_RANGE) return check_range(t, b, row);
    if (b->each && (status = check_each(t, b))) return status;
    if (!b->each && b->op == HD_OP_ACCUM_OR_ASSIGN && (status = check_accum(t, b))) return status;
    return b->distinct && !t->design->far && hd_op_is_keyed(row) ? check_distinct(t, b, row) : HD_OK;
}

/* The first row of that name (NULL: any) that can run b; NULL, and why the last of them cannot. */
static const hd_kernel *kernel_named(const hd_info *info, const hd_batch *b, const char *name, const char **unfit)
{
    const hd_kernel *k;
    for (size_t i = 0; (k = hd_kernel_at(i)); i++) {
        if (!hd_kernel_is_of(k, info->design, info->backend) || (name && strcmp(k->name, name) != 0)) continue;
        const char *why = k->unfit(info, b);
        if (!why) return k;
        if (!*unfit || strcmp(why, HD_OTHER_OPERATION) != 0) *unfit = why;
    }
    return NULL;
}

/* The name is no kernel's, or that of one for other backends. */
static hd_status fail_kernel(const hd_info *info, const char *name)
{
    const hd_kernel *k;
    const char *before = "";
    bool elsewhere = false;
    char here[256] = "";
    for (size_t i = 0; (k = hd_kernel_at(i)); i++) {
        elsewhere = elsewhere || strcmp(k->name, name) == 0;
        /* rows of one name and backend follow one another */
        if (strcmp(k->name, before) == 0 || !hd_kernel_is_of(k, info->design, info->backend)) continue;
        before = k->name;
        hd_name_add(here, sizeof here, k->name);
    }
    if (!elsewhere) return hd_fail_name("kernel", name, HD_KERNELS);
    return hd_fail(HD_EINVAL, "kernel: %s does not run on backend %s; there are %s", name, info->backend, here);
}

hd_status hd_kernel_pick(const hd_info *info, const hd_batch *b, double load_factor, const hd_kernel **k)
{
    const char *unfit = NULL, *name = b->kernel ? hd_kernel_renamed(b->kernel) : NULL;
    *k = name ? kernel_named(info, b, name, &unfit) : NULL;
    const hd_design *d = hd_design_on(info->design, info->backend);
    for (uint32_t choice = 0; !*k && !b->kernel && !b->each && d->select &&
                              (name = d->select(b->op, info->value_bytes, load_factor, choice));
         choice++)
        *k = kernel_named(info, b, name, &unfit);
    if (!*k && !b->kernel) *k = kernel_named(info, b, NULL, &unfit);
    if (*k) return HD_OK;
    if (unfit && b->kernel) return hd_fail(HD_EINVAL, "kernel: %s cannot run this batch: %s", b->kernel, unfit);
    if (unfit) /* the caller chose no kernel, so no kernel is at fault */
        return hd_fail(HD_EINVAL, "%s: no kernel of design %s on backend %s runs this batch: %s",
                       b->each ? "each" : "op", info->design, info->backend, unfit);
    return fail_kernel(info, b->kernel ? b->kernel : "none");
}

static const double band_end[HD_LOAD_BANDS] = { 0.5, 0.75, 0.9, 1 };

uint32_t hd_load_band(double load_factor)
{
    uint32_t band = 0;
    while (band + 1 < HD_LOAD_BANDS && load_factor > band_end[band]) band++;
    return band;
}

/* The rows of a design on a backend, or those of them that run one operation, in the registry's order. */
typedef struct kernel_rows {
    const hd_kernel *row[HD_KERNELS_MOST];
    uint32_t n;
} kernel_rows;

static void rows_of(const hd_info *info, kernel_rows *rows)
{
    const hd_kernel *k;
    rows->n = 0;
    for (size_t i = 0; (k = hd_kernel_at(i)); i++)
        if (hd_kernel_is_of(k, info->design, info->backend)) rows->row[rows->n++] = k;
}

static void rows_that_run(const hd_info *info, const kernel_rows *rows, int op, kernel_rows *fit)
{
    static const uint8_t each = 0;
    hd_batch b;
    memset(&b, 0, sizeof b);
    b.each = op == HD_CHOICE_MIXED ? &each : NULL;
    b.op = op == HD_CHOICE_MIXED ? (hd_op)0 : (hd_op)op;
    fit->n = 0;
    for (uint32_t i = 0; i < rows->n; i++)
        if (!rows->row[i]->unfit(info, &b)) fit->row[fit->n++] = rows->row[i];
}

/* As hd_kernel_pick. */
static const hd_kernel *choose(const hd_design *d, const hd_info *info, int op, double load_factor,
                               const kernel_rows *fit)
{
    const char *name;
    for (uint32_t choice = 0;
         d->select && op != HD_CHOICE_MIXED && (name = d->select((hd_op)op, info->value_bytes, load_factor, choice));
         choice++)
        for (uint32_t i = 0; i < fit->n; i++)
            if (strcmp(fit->row[i]->name, name) == 0) return fit->row[i];
    return fit->n ? fit->row[0] : NULL;
}

void hd_kernels_choose(const hd_info *info, hd_kernel_choice *choice)
{
    const hd_design *d = hd_design_on(info->design, info->backend);
    kernel_rows rows, fit;
    rows_of(info, &rows);
    for (int op = 0; op < HD_CHOICES; op++) {
        rows_that_run(info, &rows, op, &fit);
        for (uint32_t band = 0; band < HD_LOAD_BANDS; band++)
            choice->of[band][op] = choose(d, info, op, band_end[band], &fit);
    }
}

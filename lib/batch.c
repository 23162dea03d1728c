/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - is a batch one that can run? Every rule of heddle.h that the caller can break, in one place.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/backend.h"
#include "base/error.h"
#include "lib/table.h"
#include "policies/policy.h"
#include "policies/predicates/predicate.h"
#include "ref/accum.h"
#include "policies/hashes/hash.h"

/* The arrays and names that an operation may need. */
static const struct {
    uint32_t need;
    const char *name;
    size_t field;
    bool per_item; /* an empty batch does without it */
} required[] = {
    { HD_NEEDS_KEY, "key", offsetof(hd_batch, key), true },
    { HD_NEEDS_KEY2, "key2", offsetof(hd_batch, key2), true },
    { HD_NEEDS_VALUE, "value", offsetof(hd_batch, value), true },
    { HD_NEEDS_PTR, "ptr", offsetof(hd_batch, ptr), true },
    { HD_NEEDS_COUNT, "count", offsetof(hd_batch, count), false },
    { HD_NEEDS_PRED, "pred", offsetof(hd_batch, pred), false },
};

/* Whether the operation needs required[i] of this batch and the batch lacks it. */
static bool lacks(const hd_table *t, const hd_batch *b, const hd_op_row *row, size_t i)
{
    if (!(row->needs & required[i].need) || hd_field(b, required[i].field)) return false;
    if (required[i].need == HD_NEEDS_VALUE && t->info.value_bytes == 0) return false;
    return b->n > 0 || !required[i].per_item;
}

static hd_status check_scores(const hd_table *t, const hd_batch *b, const hd_op_row *row)
{
    bool scores = row->needs & HD_SCORES;
    if (b->raw_scores && t->design->policy && (scores || b->each))
        return hd_fail(HD_EINVAL, "%s: raw_scores: design %s keeps no scores", row->name, t->info.design);
    if (!b->n || !scores || b->score) return HD_OK;
    if (b->raw_scores)
        return hd_fail(HD_EINVAL, "%s: score: NULL, but raw_scores needs a score for every item", row->name);
    if (t->policy_flags & HD_SCORES_NEEDED)
        return hd_fail(HD_EINVAL, "%s: score: NULL, but policy %s needs a score for every item", row->name,
                       t->info.policy);
    return HD_OK;
}

static hd_status check_predicate(const hd_table *t, const hd_batch *b)
{
    uint32_t predicate = hd_predicate_named(b->pred);
    if (predicate == HD_PREDICATE_COUNT) return hd_fail_name("pred", b->pred, HD_PREDICATES);
    if (predicate >= HD_PREDICATE_LOADED && t->backend->device_arrays)
        return hd_fail(HD_EINVAL, "pred: '%s' is of a file, and backend %s has none of these", b->pred,
                       t->info.backend);
    return HD_OK;
}

static hd_status check_fields(const hd_table *t, const hd_batch *b, const hd_op_row *row)
{
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        if (lacks(t, b, row, i))
            return hd_fail(HD_EINVAL, "%s: %s: NULL, but the operation needs it", row->name, required[i].name);
    hd_status status = check_scores(t, b, row);
    if (status) return status;
    if ((row->needs & HD_NEEDS_HOLDER) && b->holder == 0)
        return hd_fail(HD_EINVAL, "%s: holder: 0, which is no holder", row->name);
    if ((row->needs & HD_MAY_PIN) && b->holder && !t->choice.of[0][0][HD_OP_LOCK_KEYS].variant)
        return hd_fail(HD_EINVAL, "%s: holder: %" PRIu64 ", but design %s has no pins", row->name, b->holder,
                       t->info.design);
    return row->needs & HD_NEEDS_PRED ? check_predicate(t, b) : HD_OK;
}

static hd_status check_accum(const hd_table *t, const hd_batch *b)
{
    if ((unsigned)b->elem >= HD_ELEM_COUNT)
        return hd_fail(HD_EINVAL, "accum_or_assign: elem: %d is no element type", (int)b->elem);
    if (t->info.value_bytes % hd_elem_bytes(b->elem))
        return hd_fail(HD_EINVAL, "accum_or_assign: elem: %" PRIu32 " value bytes are no whole number of %s",
                       t->info.value_bytes, hd_elem_name(b->elem));
    for (uint64_t i = 0; b->flag && !t->backend->device_arrays && i < b->n; i++)
        if (b->flag[i] > HD_EITHER)
            return hd_fail(HD_EINVAL, "accum_or_assign: flag: item %" PRIu64 " has %d, which is no hd_accum", i,
                           b->flag[i]);
    return HD_OK;
}

/* Arrays of a device are not read here: its kernels answer RESERVED for an operation that cannot be mixed. */
static hd_status check_each(const hd_table *t, const hd_batch *b)
{
    bool adds = false;
    for (uint64_t i = 0; !t->backend->device_arrays && i < b->n; i++) {
        if (!hd_op_does((hd_op)b->each[i], HD_MIXES))
            return hd_fail(HD_EINVAL, "mixed: each: item %" PRIu64 " is %s (%d), which cannot be mixed", i,
                           hd_op_name((hd_op)b->each[i]), b->each[i]);
        adds = adds || b->each[i] == HD_OP_ACCUM_OR_ASSIGN;
    }
    return adds ? check_accum(t, b) : HD_OK;
}

static hd_status check_slots(const hd_table *t, const hd_batch *b, const hd_op_row *row)
{
    uint64_t places = t->info.places;
    if (b->start > places)
        return hd_fail(HD_EINVAL, "%s: start: %" PRIu64 " is beyond the table's %" PRIu64 " slots", row->name, b->start,
                       places);
    if (b->n > places - b->start)
        return hd_fail(HD_EINVAL, "%s: n: %" PRIu64 " slots from %" PRIu64 " are beyond the table's %" PRIu64 " slots",
                       row->name, b->n, b->start, places);
    return HD_OK;
}

/* The rows of all items, which take item_bytes each. */
static hd_status check_limit(const hd_batch *b, const hd_op_row *row, uint64_t item_bytes)
{
    uint64_t rows = hd_batch_rows(b);
    if (rows == 0 || b->n <= (uint64_t)PTRDIFF_MAX / item_bytes / rows) return HD_OK;
    return hd_fail(HD_EINVAL,
                   "%s: limit: %" PRIu64 " rows for each of %" PRIu64 " items are more than can be addressed",
                   row->name, rows, b->n);
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
        if (place[at] != UINT64_MAX && b->key[i] < t->info.keys)
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
    hd_status status = check_limit(b, row, item_bytes);
    if (!status) status = check_fields(t, b, row);
    if (status) return status;
    HD_ASSERT(!hd_op_is_keyed(row) || !b->n || b->key, "an operation of keys does without them");
    if (row->needs & HD_OF_SLOTS) return check_slots(t, b, row);
    if (b->each)
        status = check_each(t, b);
    else if (b->op == HD_OP_ACCUM_OR_ASSIGN)
        status = check_accum(t, b);
    if (status || !b->distinct || t->backend->device_arrays || !hd_op_is_keyed(row)) return status;
    return check_distinct(t, b, row);
}

/* k says which design, and on which backend. The first row of that name (NULL: any) that can run b; false, and why the
 * last of them cannot. */
static bool kernel_named(const hd_info *info, const hd_batch *b, const char *name, hd_kernel *k,
                         const char **unsupported)
{
    const hd_variant *const *all = hd_variants_on(k->design, k->backend);
    uint32_t row = 0;
    for (const hd_variant *const *v = all; *v; v++) {
        bool named = !name || hd_variant_is_named(*v, name);
        for (const hd_variant_row *r = (*v)->row; r->what[0]; r++, row++) {
            const hd_kernel it = { k->design, k->backend, *v, r, row };
            const char *why = named ? hd_kernel_unsupported(&it, info, b) : NULL;
            if (named && !why) {
                HD_ASSERT(hd_variant_row_numbered(all, row) == r, "a kernel has another number");
                HD_ASSERT(b->each ? (*v)->ran_mixed : (*v)->ran[b->op], "a kernel runs what it has no name for");
                *k = it;
                return true;
            }
            bool same = why == *unsupported; /* as from most rows: this saves the comparison of texts */
            if (named && !same && (!*unsupported || strcmp(why, HD_OTHER_OPERATION) != 0)) *unsupported = why;
        }
    }
    return false;
}

/* The name that k's design selects (hd_design.select); NULL: none. */
static const char *selected(const hd_info *info, const hd_batch *b, double load_factor, const hd_kernel *k,
                            uint32_t choice)
{
    const hd_design *d = k->design;
    if (b->each || !d->select || k->backend == d->ref) return NULL;
    return d->select(b->op, info, load_factor, hd_amount_of(d, k->backend, b), choice);
}

/* The row that k's design selects, or the first that can run b. */
static bool kernel_selected(const hd_info *info, const hd_batch *b, double load_factor, hd_kernel *k,
                            const char **unsupported)
{
    const char *name;
    for (uint32_t choice = 0; (name = selected(info, b, load_factor, k, choice)); choice++)
        if (kernel_named(info, b, name, k, unsupported)) return true;
    return kernel_named(info, b, NULL, k, unsupported);
}

/* The name is no kernel's, or that of one for other backends. */
static hd_status fail_kernel(const hd_kernel *at, const char *name)
{
    hd_kernel k;
    bool elsewhere = false;
    char here[256] = "";
    for (size_t i = 0; hd_kernel_at(i, &k); i++) elsewhere = elsewhere || hd_variant_is_named(k.variant, name);
    if (!elsewhere) return hd_fail_name("kernel", name, HD_KERNELS);
    for (const hd_variant *const *v = hd_variants_on(at->design, at->backend); *v; v++)
        hd_name_add(here, sizeof here, (*v)->name);
    return hd_fail(HD_EINVAL, "kernel: %s does not run on backend %s; there are %s", name, at->backend->name, here);
}

/* Where a table is that says so of itself. */
static hd_kernel begin_kernel(const hd_info *info)
{
    const hd_design *d = hd_design_named(info->design);
    const hd_kernel k = { .design = d, .backend = hd_backend_named(d, info->backend) };
    HD_ASSERT(k.backend, "a table has a design and a backend");
    return k;
}

hd_status hd_kernel_pick(const hd_info *info, const hd_batch *b, double load_factor, hd_kernel *k)
{
    const char *unsupported = NULL;
    *k = begin_kernel(info);
    if (b->kernel ? kernel_named(info, b, b->kernel, k, &unsupported)
                  : kernel_selected(info, b, load_factor, k, &unsupported))
        return HD_OK;
    if (unsupported && b->kernel)
        return hd_fail(HD_EINVAL, "kernel: %s cannot run this batch: %s", b->kernel, unsupported);
    if (unsupported) /* the caller chose no kernel, so no kernel is at fault */
        return hd_fail(HD_EINVAL, "%s: no kernel of design %s on backend %s runs this batch: %s",
                       b->each ? "each" : "op", info->design, info->backend, unsupported);
    return fail_kernel(k, b->kernel ? b->kernel : "none");
}

static const double band_end[HD_LOAD_BANDS] = { 0.5, 0.75, 0.9, 1 };

uint32_t hd_load_band(double load_factor)
{
    uint32_t band = 0;
    HD_ASSERT(load_factor >= 0 && load_factor <= 1);
    while (band + 1 < HD_LOAD_BANDS && load_factor > band_end[band]) band++;
    return band;
}

/* In of[band][op], for each band. Most bands select the same name as the one before, and so the same kernel. */
static void choose_by_band(const hd_kernel *at, const hd_info *info, const hd_batch *b, int op,
                           hd_kernel (*of)[HD_CHOICES])
{
    const char *unsupported = NULL, *before = NULL;
    for (uint32_t band = 0; band < HD_LOAD_BANDS; band++) {
        const char *name = selected(info, b, band_end[band], at, 0);
        bool same = band && name == before && of[band - 1][op].variant &&
                    (!name || hd_variant_is_named(of[band - 1][op].variant, name));
        before = name;
        of[band][op] = same ? of[band - 1][op] : *at;
        if (!same) (void)kernel_selected(info, b, band_end[band], &of[band][op], &unsupported);
    }
}

void hd_kernels_choose(const hd_info *info, hd_kernel_choice *choice)
{
    static const uint8_t each = 0;
    const hd_kernel at = begin_kernel(info);
    const uint64_t few = hd_few_items_on(at.design, at.backend);
    hd_batch b;
    memset(&b, 0, sizeof b);
    for (int op = 0; op < HD_CHOICES; op++) {
        b.each = op == HD_CHOICE_MIXED ? &each : NULL;
        b.op = op == HD_CHOICE_MIXED ? (hd_op)0 : (hd_op)op;
        for (int amount = 0; amount < HD_AMOUNTS; amount++) {
            b.n = amount == HD_MANY ? few + 1 : amount == HD_FEW ? few : at.design->fewest_items;
            choose_by_band(&at, info, &b, op, choice->of[amount]);
        }
    }
}

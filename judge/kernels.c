/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.c - the rows of a design, and the launches of one.
 */
#include "judge/kernels.h"

#include <string.h>

#include "judge/making.h"
#include "judge/port_hosted.h"

fixture_kernel fixture_kernel_at(const judge_design *d, uint32_t row, uint32_t threads, uint32_t blocks)
{
    fixture_kernel k = d->kernel ? d->kernel(row) : fixture_kernel_of_row(d, row);
    k.threads = threads;
    k.blocks = blocks;
    return k;
}

uint32_t fixture_row_count(const judge_design *d)
{
    judge_row r;
    uint32_t rows = 0;
    while (fixture_row(d, rows, &r)) rows++;
    return rows;
}

const char *fixture_row_name(const judge_design *d, uint32_t row)
{
    judge_row r;
    return fixture_row(d, row, &r) ? r.variant : NULL;
}

bool fixture_kernel_is_first(const judge_design *d, uint32_t row)
{
    return row == 0 || strcmp(fixture_row_name(d, row), fixture_row_name(d, row - 1)) != 0;
}

bool fixture_row_of_variant(const hd_variant *const *all, uint32_t row, judge_row *r)
{
    static const fixture_strictness strictness[] = { [HD_EXACT] = FIXTURE_EXACT,
                                                     [HD_ORDER] = FIXTURE_ORDER,
                                                     [HD_CHOICE] = FIXTURE_CHOICE,
                                                     [HD_SET] = FIXTURE_SET,
                                                     [HD_SHAPE] = FIXTURE_SHAPE };
    const hd_variant *of;
    const hd_variant_row *is = hd_variant_row_at(all, row, &of);
    if (!is) return false;
    r->variant = of->name;
    r->lanes = is->lanes;
    r->threads = is->threads;
    r->strictness = strictness[is->strict];
    return true;
}

fixture_kernel fixture_kernel_of_row(const judge_design *d, uint32_t row)
{
    judge_row r;
    fixture_kernel k;
    memset(&k, 0, sizeof k);
    if (!fixture_row(d, row, &r)) return k;
    k.name = r.variant;
    k.strictness = r.strictness;
    k.queue = d->queue;
    k.lanes = r.lanes;
    k.row = row;
    return k;
}

hd_status fixture_queue(fixture *s, uint32_t k, simt_machine *m)
{
    const fixture_part *p = &s->part[k];
    if (!p->kernel->queue) return hosted_queue(s, k, m);
    hd_status status = p->kernel->queue(p->kernel, m, p->args, k);
    return status ? status : fixture_keep(s, m, true);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.c - which row of a design runs a case.
 */
#include "judge/kernels.h"

#include <string.h>

#include "judge/rules.h"
#include "base/error.h"

fixture_kernel fixture_kernel_at(const judge_design *d, uint32_t row, uint32_t threads, uint32_t blocks)
{
    fixture_kernel k = d->kernel(row);
    k.threads = threads;
    k.blocks = blocks;
    return k;
}

bool fixture_kernel_is_first(const judge_design *d, uint32_t row)
{
    return row == 0 || strcmp(d->row[row].variant, d->row[row - 1].variant) != 0;
}

fixture_kernel fixture_kernel_of_row(const judge_row *row,
                                     hd_status (*queue)(const fixture_kernel *k, simt_machine *m, const void *args,
                                                        uint32_t stream),
                                     const void *own)
{
    fixture_kernel k;
    memset(&k, 0, sizeof k);
    k.name = row->variant;
    k.strictness = row->strictness;
    k.queue = queue;
    k.lanes = row->lanes;
    k.row = own;
    return k;
}

fixture_target fixture_target_of(const fixture_kernel *k, simt_machine *m, uint32_t stream, uint32_t threads)
{
    enum { BLOCKS = 8 };
    fixture_target t = { m, stream, k->threads ? k->threads : threads, k->blocks ? k->blocks : BLOCKS };
    return t;
}

hd_status fixture_launch(const fixture_target *t, void (*text)(const void *args), const void *args, size_t args_bytes,
                         uint64_t lanes, uint32_t threads)
{
    if (threads > t->threads_most) threads = t->threads_most;
    uint64_t blocks = (lanes + threads - 1) / threads;
    if (blocks > t->blocks_most) blocks = t->blocks_most;
    return simt_machine_launch(t->m, text, args, args_bytes, (uint32_t)blocks, threads, t->stream);
}

hd_status fixture_zero(void *self, void *p, size_t bytes)
{
    (void)self;
    memset(p, 0, bytes);
    return HD_OK;
}

hd_status fixture_kernel_row(const hd_case *c, uint32_t *row)
{
    const judge_design *d = judge_design_of(c);
    hd_op op;
    if (!d) return HD_EINVAL;
    if (!fixture_op_named(c->op, &op)) return hd_fail(HD_EINVAL, "case: kernels run one operation, not '%s'", c->op);
    bool known = false;
    for (*row = 0; *row < d->rows; ++*row) {
        if (strcmp(d->row[*row].variant, c->kernel) != 0) continue;
        known = true;
        if (!d->runs(*row, op)) continue;
        const char *why = fixture_unfit(d, *row, c);
        return why ? hd_fail(HD_EINVAL, "kernel: %s cannot run this table: %s", c->kernel, why) : HD_OK;
    }
    if (known) return hd_fail(HD_EINVAL, "kernel: %s does not run %s", c->kernel, c->op);
    char names[256] = "";
    for (uint32_t i = 0; i < d->rows; i++) {
        if (!fixture_kernel_is_first(d, i)) continue;
        if (i) strncat(names, ", ", sizeof names - strlen(names) - 1);
        strncat(names, d->row[i].variant, sizeof names - strlen(names) - 1);
    }
    return hd_fail(HD_EINVAL, "kernel: there is no '%s' for the host machine; there are %s", c->kernel, names);
}

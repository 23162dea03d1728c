/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.c - launches of the real kernels on a scene's machine: what lib/backend_host.c does for a table.
 */
#include "judge/kernels.h"

#include <string.h>

#include "judge/rules.h"
#include "lib/backend_host.h"
#include "lib/error.h"

/* Where the launches of one batch go. */
typedef struct target {
    simt_machine *m;
    uint32_t stream, threads_most, blocks_most;
} target;

/* In smaller blocks than the row's, so that there are several. */
static hd_status launch(void *self, uint32_t kernel, const hkv_args *a, uint64_t blocks, uint32_t threads)
{
    const target *t = (const target *)self;
    uint64_t lanes = (a->last - a->first) * (kernel < HKV_ROWS ? hkv_rows[kernel].lanes : 1);
    if (threads > t->threads_most) threads = t->threads_most;
    blocks = (lanes + threads - 1) / threads;
    if (blocks > t->blocks_most) blocks = t->blocks_most;
    return simt_machine_launch(t->m, hd_host_kernel(kernel), a, sizeof *a, (uint32_t)blocks, threads, t->stream);
}

/* All launches are queued before the first runs: zero now is zero in time. */
static hd_status zero(void *self, void *p, size_t bytes)
{
    (void)self;
    memset(p, 0, bytes);
    return HD_OK;
}

static hd_status queue(const scene_kernel *k, simt_machine *m, const hkv_args *args, uint32_t stream)
{
    const hkv_row *row = (const hkv_row *)k->row;
    target t = { m, stream, k->threads ? k->threads : row->threads, k->blocks ? k->blocks : 8 };
    hkv_launcher l = { launch, zero, &t, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, NULL };
    return hkv_launch(&l, (uint32_t)(row - hkv_rows), *args);
}

scene_kernel scene_kernel_at(uint32_t row, uint32_t threads, uint32_t blocks)
{
    static const scene_strictness strictness[] = { SCENE_EXACT, SCENE_ORDER, SCENE_CHOICE, SCENE_SET, SCENE_SHAPE }; /* in the order of hkv_strict */
    scene_kernel k;
    memset(&k, 0, sizeof k);
    k.name = hkv_rows[row].variant;
    k.strictness = strictness[hkv_rows[row].strict];
    k.queue = queue;
    k.threads = threads;
    k.blocks = blocks;
    k.row = &hkv_rows[row];
    return k;
}

hd_status scene_kernel_row(const hd_case *c, uint32_t *row)
{
    uint32_t op = judge_op_named(c->op);
    if (op == HD_OP_COUNT_) return hd_fail(HD_EINVAL, "case: kernels run one operation, not '%s'", c->op);
    hd_info info;
    memset(&info, 0, sizeof info);
    info.slots = c->slots;
    info.value_bytes = c->value_bytes;
    info.dual = c->dual;
    info.layout = c->layout == HD_LAYOUT_PLANES ? HD_LAYOUT_PLANES : HD_LAYOUT_PAIRS;
    bool known = false;
    for (*row = 0; *row < HKV_ROWS; ++*row) {
        if (strcmp(hkv_rows[*row].variant, c->kernel) != 0) continue;
        known = true;
        if (hkv_rows[*row].family != hkv_family_of(op)) continue;
        const char *why = hkv_rows[*row].fits(&info);
        return why ? hd_fail(HD_EINVAL, "kernel: %s cannot run this table: %s", c->kernel, why) : HD_OK;
    }
    if (known) return hd_fail(HD_EINVAL, "kernel: %s does not run %s", c->kernel, c->op);
    char names[256] = "";
    for (uint32_t i = 0; i < HKV_ROWS; i++) {
        if (i && strcmp(hkv_rows[i].variant, hkv_rows[i - 1].variant) == 0) continue; /* a variant's rows stand together */
        if (i) strncat(names, ", ", sizeof names - strlen(names) - 1);
        strncat(names, hkv_rows[i].variant, sizeof names - strlen(names) - 1);
    }
    return hd_fail(HD_EINVAL, "kernel: there is no '%s' for the host machine; there are %s", c->kernel, names);
}

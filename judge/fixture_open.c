/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture_open.c - opens the fixture of a case, and readies it for a run.
 */
#include <stdlib.h>
#include <string.h>

#include "judge/design.h"
#include "judge/port_hosted.h"
#include "judge/kernels.h"
#include "judge/making.h"
#include "base/error.h"

enum { ITEMS_MOST = 1 << 16 };
enum {
    CLOCK_THEN = FIXTURE_SCORES / 2,
    CLOCK_PAST = FIXTURE_SCORES /* CLOCK_THEN: some new keys are refused. CLOCK_PAST: the clock is past all scores. */
};

hd_status fixture_kernel_row(const hd_case *c, uint32_t *row)
{
    const judge_design *d = judge_design_of(c);
    hd_op op;
    if (!d) return HD_EINVAL;
    if (!fixture_op_named(c->op, &op)) return hd_fail(HD_EINVAL, "case: kernels run one operation, not '%s'", c->op);
    bool known = false;
    const char *name, *why = NULL;
    for (*row = 0; (name = fixture_row_name(d, *row)); ++*row) {
        if (strcmp(name, c->kernel) != 0) continue;
        known = true;
        if (!fixture_runs(d, *row, op)) continue;
        why = fixture_unsupported(d, *row, c);
        if (!why) return HD_OK;
    }
    if (why) return hd_fail(HD_EINVAL, "kernel: %s cannot run this table: %s", c->kernel, why);
    if (known) return hd_fail(HD_EINVAL, "kernel: %s does not run %s", c->kernel, c->op);
    char names[256] = "";
    for (uint32_t i = 0; (name = fixture_row_name(d, i)); i++) {
        if (!fixture_kernel_is_first(d, i)) continue;
        if (i) strncat(names, ", ", sizeof names - strlen(names) - 1);
        strncat(names, name, sizeof names - strlen(names) - 1);
    }
    return hd_fail(HD_EINVAL, "kernel: there is no '%s' for the host machine; there are %s", c->kernel, names);
}

/* A zeroed struct of a table or of a batch. */
static hd_status give(void **p, size_t bytes)
{
    *p = calloc(1, bytes);
    return *p ? HD_OK : hd_fail(HD_ENOMEM, "case: no memory for a fixture");
}

hd_status fixture_new(const hd_case *c, uint32_t parts, fixture **fixture_out)
{
    const judge_design *d = judge_design_of(c);
    if (!d) return HD_EINVAL;
    fixture *s = (fixture *)calloc(1, sizeof *s);
    if (!s) return hd_fail(HD_ENOMEM, "case: no memory for a fixture");
    *fixture_out = s;
    s->design = d;
    s->parts = parts;
    s->value_bytes = c->value_bytes;
    s->keys = d->keys;
    s->clock = c->seed % 2 ? CLOCK_PAST : CLOCK_THEN;
    s->epoch = 1;
    memcpy(s->c, c, parts * sizeof *c);
    hd_status status = give(&s->table, fixture_table_size(d));
    for (uint32_t k = 0; k < parts && !status; k++) status = give(&s->part[k].args, fixture_args_size(d));
    if (!status) status = fixture_shape(s, c);
    for (uint32_t k = 0; k < parts && !status; k++) {
        if (strcmp(c[k].design, c->design) != 0)
            status = hd_fail(HD_EINVAL, "case: one table, and kernels of design %s beside those of %s", c[k].design,
                             c->design);
        else if (c[k].batch > ITEMS_MOST)
            status = hd_fail(HD_EINVAL, "case: a fixture has at most %d items", ITEMS_MOST);
    }
    return status;
}

hd_status fixture_open(const hd_case *c, const fixture_kernel *const *kernel, uint32_t parts, fixture **fixture_out)
{
    fixture *s = NULL;
    hd_status status = fixture_new(c, parts, &s);
    for (uint32_t k = 0; k < parts && !status; k++) {
        s->part[k].kernel = kernel[k];
        status = fixture_draw_part(s, k);
    }
    hd_rng g = hd_rng_from(c->seed ^ 0x7461626c65u);
    if (!status && (!fixture_make_memory(s) || !fixture_fill(s, &g)))
        status = hd_fail(HD_ENOMEM, "case: no memory for a fixture");
    if (status) {
        fixture_close(s);
        return status;
    }
    memcpy(s->initial, s->memory, s->bytes);
    if (s->growth_memories && !kernel[0]->then_runs) s->part[0].batch.n = 0; /* it was for the table's entries */
    for (uint32_t k = 0; k < parts; k++) fixture_changed(s, k);
    *fixture_out = s;
    return HD_OK;
}

void fixture_close(fixture *s)
{
    if (!s) return;
    hosted_close(s);
    for (uint32_t k = 0; k < s->parts; k++) {
        judge_arrays_close(&s->part[k].arrays);
        free(s->part[k].args);
    }
    free(s->memory);
    free(s->initial);
    free(s->table);
    free(s);
}

void fixture_changed(fixture *s, uint32_t part) { fixture_args(s, part); }

void fixture_item(fixture *s, uint32_t part, uint64_t i, uint64_t key, uint64_t score)
{
    fixture_part *p = &s->part[part];
    ((uint64_t *)judge_arrays_at(&p->arrays, JUDGE_KEY))[i] = key;
    ((uint64_t *)judge_arrays_at(&p->arrays, JUDGE_SCORE))[i] = score;
}

/* ---- Before every run ------------------------------------------------------------------------ */

static hd_status lend(simt_machine *m, const judge_arrays *a)
{
    hd_status status = HD_OK;
    for (int k = 0; k < JUDGE_ARRAYS && !status; k++)
        status =
            simt_machine_region(m, judge_arrays_at(a, (judge_array)k), a->used[k], judge_array_name((judge_array)k));
    return status;
}

hd_status fixture_prepare(fixture *s, simt_machine *m)
{
    hd_status status = HD_OK;
    memcpy(s->memory, s->initial, s->bytes);
    if (s->growth_memories) fixture_args(s, 0); /* they have grown in the last run */
    for (uint32_t i = 0; i < s->regions && !status; i++)
        if (!s->region[i].of_host)
            status = simt_machine_region(m, s->memory + s->region[i].at, s->region[i].bytes, s->region[i].name);
    for (uint32_t k = 0; k < s->parts && !status; k++) {
        judge_arrays_arm(&s->part[k].arrays);
        status = lend(m, &s->part[k].arrays);
        if (!status && s->design->host) status = hosted_announce(s, k, m);
    }
    if (!status) status = fixture_keep(s, m, false);
    for (uint32_t k = 0; k < s->parts && !status; k++) status = fixture_queue(s, k, m);
    return status;
}

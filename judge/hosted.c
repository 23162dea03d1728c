/* SPDX-License-Identifier: Apache-2.0
 *
 * hosted.c - see hosted.h.
 */
#include "judge/hosted.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "judge/kernels.h"

static hd_gpu_own *own_of(void *table) { return (hd_gpu_own *)table; }

uint32_t hosted_value_bytes(const void *table) { return ((const hd_gpu_own *)table)->info.value_bytes; }

/* ---- Kernels --------------------------------------------------------------------------------- */

bool hosted_runs(const judge_design *d, uint32_t row, hd_op op)
{
    const uint8_t each = HD_OP_INSERT_OR_ASSIGN;
    hd_kernel k;
    hd_batch b;
    hd_info none;
    if (!hd_kernel_of(d->host, row, &k)) return false;
    memset(&b, 0, sizeof b);
    memset(&none, 0, sizeof none);
    b.op = op == JUDGE_MIXED ? HD_OP_INSERT_OR_ASSIGN : op;
    b.each = op == JUDGE_MIXED ? &each : NULL;
    const char *why = hd_kernel_unfit(&k, &none, &b);
    return !why || (strcmp(why, HD_OTHER_OPERATION) != 0 && strcmp(why, HD_NOT_MIXED) != 0);
}

static hd_status info_of(const judge_design *d, const hd_case *c, hd_info *info)
{
    hd_config f = hd_case_config(c);
    /* clang-format off */
    *info = (hd_info){
        .design = d->name, .backend = "host", .policy = f.policy, .lock = f.lock, .keys = d->keys, .slots = f.slots,
        .value_bytes = f.value_bytes, .layout = f.layout, .seed = f.seed, .threads = 1
    };
    /* clang-format on */
    hd_params_to_info(d->host->params, &f, info);
    d->host->gpu->usual(info);
    return d->host->gpu->ref->shape(d->host->gpu->ref, &f, info);
}

const char *hosted_unfit(const judge_design *d, uint32_t row, const hd_case *c)
{
    hd_info info;
    hd_kernel k;
    if (!hd_kernel_of(d->host, row, &k) || info_of(d, c, &info)) return NULL;
    return k.is->fits ? k.is->fits(&info) : NULL;
}

static hd_status launch(void *self, uint32_t kernel, const void *args, size_t args_bytes, uint64_t blocks,
                        uint32_t threads)
{
    const fixture_target *t = (const fixture_target *)self;
    return fixture_launch(t, t->design->host->host_kernel(kernel), args, args_bytes, blocks * threads, threads);
}

void hosted_args(fixture *s, uint32_t k)
{
    memcpy(s->part[k].args, s->table, fixture_table_size(s->design));
    own_of(s->part[k].args)->tally = s->part[k].tally;
}

hd_status hosted_queue(fixture *s, uint32_t k, simt_machine *m)
{
    const fixture_kernel *kernel = s->part[k].kernel;
    const hd_when when = { s->clock, 1, s->epoch, true };
    judge_row r;
    fixture_row(s->design, kernel->row, &r);
    fixture_target t = fixture_target_of(kernel, m, k, r.threads);
    t.design = s->design;
    const hd_launcher l = { launch, fixture_zero, &t, UINT64_MAX, UINT64_MAX };
    return s->design->host->gpu->launch(s->part[k].args, &l, kernel->row, &s->part[k].batch, when);
}

/* ---- The table ------------------------------------------------------------------------------- */

static int pieces_of(const fixture *s, hd_piece *all) { return s->design->host->gpu->pieces(s->table, all); }

hd_status hosted_shape(fixture *s, const hd_case *c)
{
    hd_piece all[HD_PIECES_MOST];
    hd_gpu_own *own = own_of(s->table);
    hd_status status = info_of(s->design, c, &own->info);
    if (status) return status;
    own->device = true; /* then no memory is in the reference's state */
    s->design->host->gpu->begin(own);
    if (pieces_of(s, all) > JUDGE_MEMORY_MOST)
        return hd_fail(HD_EINVAL, "case: the table of a fixture has at most %d regions", JUDGE_MEMORY_MOST);
    return s->design->host->gpu->open_here(own, &hd_seams_os, &s->reference);
}

uint32_t hosted_memory(const fixture *s, judge_memory all[JUDGE_MEMORY_MOST])
{
    hd_piece piece[HD_PIECES_MOST];
    uint32_t n = 0;
    int pieces = pieces_of(s, piece);
    for (int i = 0; i < pieces; i++)
        if (piece[i].count && piece[i].size)
            all[n++] = (judge_memory){ piece[i].what, piece[i].field, piece[i].count * piece[i].size,
                                       piece[i].byte == HD_AS_IT_COMES ? 0 : piece[i].byte };
    return n;
}

void hosted_taken(const judge_design *d, void *table) { d->host->gpu->taken(table); }

/* ---- The reference --------------------------------------------------------------------------- */

/* Copies the table to the fixture's state of its reference, or back. */
static void copy_planes(const fixture *s, void *table, bool back)
{
    hd_plane all[HD_PIECES_MOST];
    int n = s->design->host->gpu->planes(table, s->reference, true, all);
    for (int i = 0; i < n; i++)
        if (all[i].bytes)
            memcpy(back ? all[i].there : all[i].here, back ? all[i].here : all[i].there, (size_t)all[i].bytes);
}

void hosted_close(fixture *s)
{
    if (s->reference) s->design->host->gpu->ref->close(s->reference, &hd_seams_os);
}

void hosted_apply(const fixture *s, void *table, const hd_batch *b)
{
    const hd_when when = { s->clock, 1, s->epoch, true };
    const hd_design *ref = s->design->host->gpu->ref;
    uint64_t tally[HD_OUTCOME_COUNT] = { 0 };
    hd_kernel row;
    uint32_t r = 0;
    while (hd_kernel_of(ref, r, &row) && hd_kernel_unfit(&row, &own_of(table)->info, b)) r++;
    if (!row.is) return;
    copy_planes(s, table, false);
    ref->launch(s->reference, r, b, when, tally);
    copy_planes(s, table, true);
}

const char *hosted_check(const fixture *s, const void *table, char why[JUDGE_SENTENCE])
{
    copy_planes(s, (void *)(uintptr_t)table, false);
    if (s->design->host->gpu->ref->check(s->reference) == HD_OK) return NULL;
    snprintf(why, JUDGE_SENTENCE, "%s", hd_why());
    return why;
}

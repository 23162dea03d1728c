/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.c - launches Hive's kernels on a fixture's machine; the port of Hive to the judge.
 */
#include <stdio.h>
#include <string.h>

#include "gpu/hive/rows.h"
#include "judge/hive/fixture.h"
#include "judge/kernels.h"
#include "judge/rules.h"
#include "lib/backend_host.h"
#include "gpu/hive/launch.h"
#include "predicates/predicate.h"

extern const hd_design hd_design_hive_host;

/* The kernels' argument, and the staging memory that only some batches have. */
typedef struct hive_fixture_args {
    hive_args a;
    uint8_t *stage_flag; /* (n), device memory */
} hive_fixture_args;

/* ---- Batches --------------------------------------------------------------------------------- */

static void lay_part(fixture *s, uint32_t k)
{
    fixture_part *p = &s->part[k];
    hive_fixture_args *own = (hive_fixture_args *)p->args;
    own->a.tally = p->tally;
    p->op_tally = (uint64_t *)fixture_room(s, "op tally", HD_OP_COUNT_ * sizeof(uint64_t));
    if (p->op_tally) memset(p->op_tally, 0, HD_OP_COUNT_ * sizeof(uint64_t));
    own->a.op_tally = p->op_tally;
    own->stage_flag = (uint8_t *)fixture_room(s, "stage_flag", p->batch.n + 1);
    own->a.listed = (uint64_t *)fixture_room(s, "listed", HIVE_LIST_WORDS * sizeof(uint64_t));
    if (s->memory) memset(own->a.listed, 0, HIVE_LIST_WORDS * sizeof(uint64_t));
}

static void make_args(fixture *s, uint32_t k)
{
    fixture_part *p = &s->part[k];
    const hd_batch *b = &p->batch;
    const hive_fixture_table *t = hive_fixture_table_of(s);
    hive_args *a = &((hive_fixture_args *)p->args)->a;
    hive_args_of_batch(a, b);
    a->v = t->v;
    a->stashed = t->stashed;
    /* it exists: fixture.c draws no others */
    a->predicate = !b->each && judge_ops[b->op].predicate ? hd_predicate_named(b->pred) : (uint32_t)HD_PREDICATE_all;
    a->moves = false;
    for (uint32_t part = 0; part < s->parts; part++)
        a->moves = a->moves || s->part[part].batch.each || judge_ops[s->part[part].batch.op].enters;
    a->stage_flag = ((hive_fixture_args *)p->args)->stage_flag;
    a->window = 0;
}

/* ---- Launches -------------------------------------------------------------------------------- */

static hd_status launch(void *self, uint32_t kernel, const void *args, size_t args_bytes, uint64_t blocks,
                        uint32_t threads)
{
    return fixture_launch((const fixture_target *)self, hive_host_kernel(kernel), args, args_bytes, blocks * threads,
                          threads);
}

hd_status hive_fixture_queue(const fixture_kernel *k, simt_machine *m, const void *args, uint32_t stream,
                             uint64_t window)
{
    fixture_target t = fixture_target_of(k, m, stream, hive_row(k->row)->threads);
    hive_launcher l = { { launch, fixture_zero, &t, UINT64_MAX, UINT64_MAX }, window };
    return hive_launch(&l, k->row, *(const hive_args *)args);
}

static hd_status queue(const fixture_kernel *k, simt_machine *m, const void *args, uint32_t stream)
{
    return hive_fixture_queue(k, m, args, stream, UINT64_MAX);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Half of the items insert, as in the paper's mixtures (section V-C2). */
static const uint8_t mixture[HD_OP_COUNT_] = {
    [HD_OP_INSERT_OR_ASSIGN] = 3, [HD_OP_FIND_OR_INSERT] = 1, [HD_OP_ACCUM_OR_ASSIGN] = 1, [HD_OP_FIND] = 2,
    [HD_OP_CONTAINS] = 1,         [HD_OP_ASSIGN] = 1,         [HD_OP_ASSIGN_VALUES] = 1,   [HD_OP_ERASE] = 2,
};

static bool runs(uint32_t row, hd_op op)
{
    if (op == JUDGE_MIXED) return hive_row(row)->family == HIVE_ITEMS;
    return !hive_unfit(op) && hive_row(row)->family == hive_family_of(op);
}

/* For fuzzers: turns any numbers into a shape that exists. */
static void bend(hd_case *c)
{
    c->slots = c->slots >= 32 ? 32 : c->slots >= 16 ? 16 : 8;
    if (c->value_bytes != 2) c->value_bytes = 4;
    c->table.hive.hashes = c->seed % 3 == 0 || c->table.hive.hashes == 3 ? 3 : 2;
    c->table.hive.spare = c->seed % 4 ? (uint32_t)(c->seed / 4 % (c->slots / 2)) : HD_SPARE_USUAL;
    snprintf(c->table.hive.hash, sizeof c->table.hive.hash, "%s",
             c->seed % 5                 ? HD_HASH_USUAL
             : c->table.hive.hashes == 2 ? "crc32,bithash1"
                                         : "bithash1,bithash2,city64");
    c->layout = c->layout == HD_LAYOUT_PLANES || c->layout == HD_LAYOUT_MASKS ? HD_LAYOUT_MASKS : HD_LAYOUT_WORDS;
    c->table.hkv.dual = false;
    c->table.hkv.pins = 0;
    c->table.hkv.device_value_bytes = 0;
    c->table.hkv.admit = HD_ADMIT_SCORE;
    c->table.hkv.tiers = HD_TIERS_BUCKET;
    c->table.hkv.fetch = HD_FETCH_USUAL;
    strcpy(c->policy, "none");
}

/* clang-format off */
const judge_design judge_design_hive = {
    .name = "hive", .keys = (1ull << 32) - HIVE_LEAVING, .host = &hd_design_hive_host, .dictionary = true,
    .roams = true, .mix = mixture, .runs = runs, .queue = queue, .small = { 8, "uniform:24" },
    .wide = { 32, "uniform:90" }, .bend = bend, .table_size = sizeof(hive_fixture_table),
    .args_size = sizeof(hive_fixture_args), .shape = hive_fixture_shape, .lay_table = hive_fixture_lay_table,
    .lay_part = lay_part, .clear = hive_fixture_clear, .fill = hive_fixture_fill, .args = make_args,
    .scores = hive_fixture_scores, .view = hive_fixture_view_over, .apply = hive_fixture_apply,
    .resize = hive_fixture_resize, .buckets = hive_fixture_buckets, .first = hive_fixture_first,
    .places = hive_fixture_places, .key_at = hive_fixture_key_at, .value_at = hive_fixture_value_at,
    .differs = hive_fixture_differs, .describe = hive_fixture_describe, .bucket_name = hive_fixture_bucket_name,
    .names = hive_fixture_names, .accept = hive_fixture_accept, .move = hive_fixture_move,
    .check = hive_fixture_check, .watch = hive_fixture_watch
};
/* clang-format on */

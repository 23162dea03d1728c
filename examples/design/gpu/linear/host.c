/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - design linear on backend "host": its variant, its kernels by number, the memory that they need, and a batch
 * as a launch.
 */
#include <stddef.h>
#include <string.h>

#include "gpu/linear/host.h"
#include "gpu/linear/thread.h"
#include "ref/linear/linear.h"

/* ---- Kernels --------------------------------------------------------------------------------- */

enum { LINEAR_ITEMS, LINEAR_SWEEP, LINEAR_THREADS = 128 };
enum { LINEAR_NUMBER_word_enter = HD_SHARED_KERNELS, LINEAR_NUMBER_word_leave };

static const char *fits(const hd_info *info) { return (void)info, (const char *)NULL; }

#define LINEAR_RAN(number, name, what, role, family, does) [HD_OP_##number] = "linear." #name ".thread",
static const hd_variant linear_variant_thread = {
    .name = "thread",
    .row = {
        { LINEAR_ITEMS, linear_kernel_items, 1, LINEAR_THREADS, fits, HD_ORDER,
          HD_WHAT("items: a thread per key, one compare-and-swap per change") },
        { LINEAR_SWEEP, linear_kernel_sweep, 1, LINEAR_THREADS, fits, HD_EXACT, HD_WHAT("sweep: a thread per slot") },
    },
    .ran = { HD_OP_ROWS(LINEAR_RAN) },
};
const hd_variant *const linear_variants[] = { &linear_variant_thread, NULL };

hd_host_text *linear_host_kernel(uint32_t kernel)
{
    const hd_variant *of;
    if (kernel == LINEAR_NUMBER_word_enter) return linear_kernel_word_enter;
    if (kernel == LINEAR_NUMBER_word_leave) return linear_kernel_word_leave;
    const hd_variant_row *row = hd_variant_row_at(linear_variants, kernel, &of);
    return row ? row->entry : NULL;
}

const char *linear_unsupported_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    (void)info;
    if (b->each) return HD_NOT_MIXED;
    if (!linear_runs(b->op)) return HD_OTHER_OPERATION;
    return row->family == (hd_op_does(b->op, HD_NEEDS_KEY) ? LINEAR_ITEMS : LINEAR_SWEEP) ? NULL : HD_OTHER_OPERATION;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

typedef struct linear_words {
    uint64_t tally[HD_OUTCOME_COUNT];
    hd_word word; /* of the batch lock group3 */
} linear_words;

typedef struct linear_state {
    hd_gpu_state gpu; /* first */
    linear_view v;    /* on backend "host" the reference's, as a batch finds it */
    linear_words *words;
} linear_state;

static void usual(hd_info *info) { (void)info; }

static void begin(void *state)
{
    linear_state *o = (linear_state *)state;
    o->v.slots = o->gpu.info.capacity;
    o->v.seed = o->gpu.info.seed;
}

/* A row for each array. On backend "host" the slots are the reference's. */
static int memory(const void *state, hd_memory *all)
{
    const linear_state *o = (const linear_state *)state;
    const hd_memory rows[] = {
        { "words", "words", offsetof(linear_state, words), 1, sizeof(linear_words), 0, .put = HD_TOGETHER },
        { "slots", "slots", offsetof(linear_state, v.word), o->v.slots, sizeof(uint64_t), 0xff, .put = HD_APART,
          HD_HOLDS_ENTRIES, offsetof(linear_view, word) },
    };
    return hd_memory_add(all, rows, sizeof rows);
}

static void *view_of(void *entries) { return linear_view_of(entries); }

static void taken(void *state)
{
    linear_state *o = (linear_state *)state;
    o->gpu.tally = o->words->tally;
    o->gpu.word = &o->words->word;
}

static void before(void *state, void *entries) { ((linear_state *)state)->v = *linear_view_of(entries); }
static void after(void *state, void *entries, bool good) { (void)state, (void)entries, (void)good; }

static hd_status open_here(const void *state, const hd_seams *s, void **staged)
{
    return linear_reference.open(NULL, &((const linear_state *)state)->gpu.info, s, staged);
}

/* ---- A batch --------------------------------------------------------------------------------- */

static hd_status launch(void *state, const hd_launcher *l, uint32_t row, const hd_batch *b, hd_when when)
{
    const linear_state *o = (const linear_state *)state;
    linear_args a;
    (void)when;
    memset(&a, 0, sizeof a);
    a.v = o->v;
    a.op = b->op;
    a.n = b->n;
    a.key = b->key;
    a.value = (const uint32_t *)b->value;
    a.outcome = b->outcome;
    a.found = (uint8_t *)(void *)b->found;
    a.value_out = (uint32_t *)b->value_out;
    a.score_out = b->score_out;
    a.count = b->count;
    a.tally = o->gpu.tally;
    uint64_t threads = row == LINEAR_ITEMS ? a.n : a.v.slots;
    uint64_t blocks = threads / LINEAR_THREADS + (threads % LINEAR_THREADS != 0);
    if (b->op == HD_OP_SIZE) {
        hd_status status = l->zero(l->self, a.count, sizeof *a.count);
        if (status) return status;
    }
    if (blocks == 0) return HD_OK;
    return l->launch(l->self, row, &a, sizeof a, blocks < l->blocks_most ? blocks : l->blocks_most, LINEAR_THREADS);
}

const hd_gpu linear_gpu = {
    .word_enter = LINEAR_NUMBER_word_enter,
    .word_leave = LINEAR_NUMBER_word_leave,
    .state_bytes = sizeof(linear_state),
    .usual = usual,
    .begin = begin,
    .memory = memory,
    .taken = taken,
    .view_of = view_of,
    .before = before,
    .after = after,
    .open_here = open_here,
    .launch = launch,
};

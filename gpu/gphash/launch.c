/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c - describes GPHash to the backends: the argument of its kernels, its batches as launches, and growth.
 */
#include "gpu/gphash/launch.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "gpu/gphash/state.h"
#include "ref/gphash/gphash.h"

static void usual(hd_info *info) { (void)info; }

/* ---- A batch --------------------------------------------------------------------------------- */

/* All but first, last, window and pass, which gpu_launch sets. */
static gphash_args args_of(const gphash_state *o, const hd_batch *b)
{
    gphash_args a;
    memset(&a, 0, sizeof a);
    a.v = o->v;
    a.b = gpu_batch_of(&o->kept, &o->gpu, b);
    a.head = &o->words->head;
    a.tail = &o->words->tail;
    a.guard = o->guard;
    memcpy(a.far, o->far, sizeof a.far);
    a.near = gphash_is_near(o);
    a.alone = !b->each && hd_op_row_of(b->op)->role == HD_READER;
    a.guarded = b->each || b->op == HD_OP_ERASE || b->op == HD_OP_ACCUM_OR_ASSIGN;
    a.changed = a.near && !a.alone ? o->changed : NULL;
    a.page = o->marks ? o->page : NULL;
    a.fetched = &o->words->fetched;
    a.ordered = &o->words->ordered;
    a.room = gphash_notes(o);
    a.cache = o->cache;
    a.cache.sample = o->batches % GPHASH_SAMPLE;
    return a;
}

/* A batch of items on its way. */
typedef struct launching {
    gpu_launcher l; /* first: launch_items gets its address */
    const gphash_state *o;
    gphash_args a;
} launching;

/* Whether so much is noted that it is put into the order of far addresses. */
static bool is_many(const launching *x)
{
    enum { MANY = 1 << 15 };
    uint64_t most = x->o->gpu.window_most;
    return x->a.b.last - x->a.b.first >= (most ? most : (uint64_t)MANY) / 2;
}

static uint32_t coarse(uint64_t most)
{
    uint32_t bits = 0;
    while (most >> bits >= (1u << GPHASH_ORDER_BITS) - 1) bits++;
    return bits;
}

/* n words of o->order, or as many as *fewer says. */
static hd_status sort(launching *x, uint64_t n, const uint64_t *fewer)
{
    static const gpu_sort_kernels kernels = { GPHASH_NUMBER_sort_count, GPHASH_NUMBER_sort_scan,
                                              GPHASH_NUMBER_sort_lay };
    const gphash_state *o = x->o;
    return gpu_sort_launch(&x->l.on, kernels, n, fewer, GPHASH_ORDER_BITS, o->order, o->unsorted, o->count,
                           gphash_sort_shares(o), &x->a.order);
}

/* What the items of a window have changed goes to the far slots, as far as such items can change it. */
static hd_status bring(const launching *x)
{
    const gpu_batch *b = &x->a.b;
    const struct {
        uint32_t kernel;
        bool needed;
    } phase[] = {
        { GPHASH_NUMBER_bring_left, b->each || b->op == HD_OP_ERASE },
        { GPHASH_NUMBER_bring_numbers, b->each || b->op != HD_OP_ERASE },
        { GPHASH_NUMBER_bring_keys, b->each || gpu_op_inserts(b->op) },
    };
    hd_status status = HD_OK;
    for (size_t i = 0; i < sizeof phase / sizeof *phase && !status; i++)
        if (phase[i].needed) status = gpu_launch_range(&x->l, phase[i].kernel, 1, 256);
    return status;
}

/* The codes of words are of numbers below `most`. */
static void begin_order(launching *x, uint64_t most)
{
    x->a.order = x->o->order;
    x->a.coarse = coarse(most);
}

/* Far values of lookups, which have noted their cells. */
static hd_status fetch(launching *x)
{
    const uint64_t n = x->a.b.last - x->a.b.first;
    hd_status status = sort(x, n, x->a.fetched);
    return status ? status : gpu_launch_range(&x->l, GPHASH_NUMBER_fetch, 8, 256);
}

/* Cells that were given back are put into the order of their addresses, in which they will be taken. */
static hd_status order_free(launching *x)
{
    const uint64_t n = gphash_notes(x->o), blocks = hd_launch_blocks(&x->l.on, n, 256);
    begin_order(x, gphash_cells(&x->a.v));
    hd_status status = gpu_launch_blocks(&x->l, GPHASH_NUMBER_gather_free, blocks, 256);
    if (!status) status = sort(x, n, x->a.fetched);
    return status ? status : gpu_launch_blocks(&x->l, GPHASH_NUMBER_lay_free, blocks, 256);
}

static hd_status launch_window(launching *x, uint32_t row, const hd_variant_row *r)
{
    const bool looks = x->a.alone, many = x->o->order && is_many(x);
    hd_status status = HD_OK;
    x->a.order = NULL;
    if (x->a.changed && many) begin_order(x, looks ? gphash_cells(&x->a.v) : gphash_places(&x->a.v));
    if (x->a.changed && looks) status = x->l.on.zero(x->l.on.self, x->a.fetched, sizeof *x->a.fetched);
    if (!status) status = gpu_launch_range(&x->l, row, r->lanes, r->threads);
    if (status || (looks && !x->a.changed)) return status;
    if (looks) return fetch(x);
    if (x->a.changed && many) status = sort(x, x->a.b.last - x->a.b.first, NULL);
    if (!status && x->a.changed) status = bring(x);
    return !status && many && x->a.v.cell_bytes ? order_free(x) : status;
}

/* Lookups note where large batches are to fetch far values from. */
static bool fetches(const launching *x, const hd_variant_row *r)
{
    const gpu_batch *b = &x->a.b;
    bool far = r->family == GPU_ALIKE && x->o->changed && x->a.v.cell_bytes;
    return far && b->value_out && HD_OP_IN(b->op, HD_OPS_GIVE_VALUE) && is_many(x);
}

static hd_status launch_items(const gpu_launcher *l, uint32_t row, const hd_variant_row *r)
{
    launching *x = (launching *)(uintptr_t)l;
    gpu_batch *b = &x->a.b;
    const uint64_t first = b->first, last = b->last;
    if (fetches(x, r)) x->a.changed = x->o->changed;
    uint64_t most = x->a.changed                       ? gphash_notes(x->o)
                    : x->a.v.cell_bytes && !x->a.alone ? gphash_window_then(&x->a.v, x->a.v.grown)
                                                       : UINT64_MAX;
    hd_status status = HD_OK;
    for (uint64_t at = first; at < last && !status; at = b->last) {
        b->first = at;
        b->last = last - at < most ? last : at + most;
        status = launch_window(x, row, r);
    }
    b->first = first;
    b->last = last;
    return status;
}

static gpu_launcher launcher_of(const gphash_state *o, const hd_launcher *to, gphash_args *a)
{
    return (gpu_launcher){ *to, gpu_list_window(&o->gpu), a, sizeof *a, &a->b, GPHASH_NUMBER_list, launch_items };
}

/* The steps of cache.h, over the slots of the batch. */
static hd_status promote(const launching *x, const hd_batch *b)
{
    gpu_batch *range = x->l.b;
    gphash_cache_words *words = x->a.cache.word;
    static const uint32_t step[] = { GPHASH_NUMBER_cache_count, GPHASH_NUMBER_cache_choose, GPHASH_NUMBER_cache_drop,
                                     GPHASH_NUMBER_cache_assign, GPHASH_NUMBER_cache_fill };
    range->first = b->start;
    range->last = b->start + b->n;
    uint64_t lanes = gphash_units(&x->a.v, x->a.cache.of) + 1, blocks = hd_launch_blocks(&x->l.on, lanes, 256);
    hd_status status = x->l.on.zero(x->l.on.self, words, sizeof *words);
    for (size_t i = 0; i < sizeof step / sizeof *step && !status; i++)
        status = gpu_launch_blocks(&x->l, step[i], step[i] == GPHASH_NUMBER_cache_choose ? 1 : blocks, 256);
    return status;
}

static hd_status launch(void *state, const hd_launcher *to, uint32_t row, const hd_batch *b, hd_when when)
{
    gphash_state *o = (gphash_state *)state;
    launching x = { .o = o };
    (void)when;
    x.a = args_of(o, b);
    x.l = launcher_of(o, to, &x.a);
    o->batches++;
    hd_status status = !b->each && b->op == HD_OP_PROMOTE
                           ? promote(&x, b)
                           : gpu_launch(&x.l, row, gphash_row(row), gphash_places(&o->v));
    if (status || (!b->each && b->op == HD_OP_FIND_PTR)) o->unmarked = GPHASH_ALWAYS;
    return status;
}

/* What windows note has one place. */
static bool lists(const void *state, uint32_t row, const hd_batch *b)
{
    const gphash_state *o = (const gphash_state *)state;
    bool changes = b->each || hd_op_row_of(b->op)->role != HD_READER;
    return (o->changed && (changes || b->value_out)) || gpu_batch_lists(state, row, b);
}

const char *gphash_row_lacks(const hd_variant_row *row, hd_op op, bool mixed)
{
    bool quad = row->lanes == GPHASH_QUAD, lookup = HD_OP_IN(op, HD_OPS_LOOKUP);
    bool update = op == HD_OP_ASSIGN || op == HD_OP_ASSIGN_VALUES;
    uint32_t family = mixed ? GPU_ITEMS : gpu_family_of(op);
    const char *why = mixed ? NULL : gphash_unsupported(op, HD_CACHE_VALUES);
    if (why) return why;
    if (quad && mixed) return HD_NOT_MIXED;
    if (quad ? !(row->family == GPU_ALIKE ? lookup : update) : row->family != family) return HD_OTHER_OPERATION;
    return NULL;
}

const char *gphash_unsupported_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    if (!b->each && b->op == HD_OP_FIND_PTR && info->gphash.index == HD_INDEX_NEAR && info->layout == HD_LAYOUT_INLINE)
        return "values beside their keys are found in the near index, where a change would be lost";
    const char *why = b->each ? NULL : gphash_unsupported(b->op, info->gphash.cache);
    if (!why) why = gphash_row_lacks(row, b->op, b->each != NULL);
    return why ? why : row->fits(info);
}

/* ---- On a device ----------------------------------------------------------------------------- */

static hd_status empty(void *state, const hd_launcher *l)
{
    hd_batch b;
    static const hd_when when = { .clock = 0 };
    memset(&b, 0, sizeof b);
    b.op = HD_OP_CLEAR;
    return launch(state, l, hd_variant_row_of(gphash_variants, "warp", GPU_CLEAR), &b, when);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static int extents(const void *state, hd_extent *all)
{
    const gphash_view v = gphash_view_that_lasts((const gphash_state *)state);
    return gphash_extents(&v, all);
}

/* The slots that last become those of a table at rest, and the near index is made anew; ring: the ring of free cells,
 * too. found[]: how many were cleared; with `ring`, how many entries break an invariant. */
static hd_status recover_there(gphash_state *o, const hd_gpu_machine *m, bool ring, uint64_t found[2])
{
    enum { THREADS = 128 };
    gphash_recover_args a = { .v = o->v, .near = gphash_is_near(o), .mark = (uint32_t *)(void *)o->next_mark };
    a.last = gphash_cells(&o->v);
    memcpy(a.lasting, gphash_lasting(o), sizeof a.lasting);
    a.tail = &o->words->tail;
    a.cleared = &o->words->cleared;
    a.wrong = &o->words->wrong;
    uint64_t lanes = gphash_places(&o->v) + gphash_cells(&o->v), blocks = hd_launch_blocks(&m->on, lanes, THREADS);
    hd_status status = ring ? m->on.zero(m->on.self, &o->words->head, 2 * sizeof(uint64_t)) : HD_OK;
    if (!status) status = m->on.zero(m->on.self, &o->words->cleared, 2 * sizeof(uint64_t));
    if (!status) status = m->on.launch(m->on.self, GPHASH_NUMBER_recover, &a, sizeof a, blocks, THREADS);
    if (!status && ring) status = m->on.launch(m->on.self, GPHASH_NUMBER_recover_ring, &a, sizeof a, blocks, THREADS);
    return status ? status : m->read(m->self, found, &o->words->cleared, 2 * sizeof(uint64_t));
}

static hd_status recover(gphash_state *o, const hd_gpu_machine *m, bool ring, uint64_t found[2])
{
    hd_memory marks[1];
    int n = gphash_marks_memory(o, marks);
    hd_status status = hd_machine_take(m, o, marks, n);
    if (status) return status;
    if (!o->unmarked) o->unmarked = GPHASH_ONCE;
    status = recover_there(o, m, ring, found);
    hd_machine_give(m, o, marks, n);
    return status;
}

static hd_status recovered(void *state, const hd_gpu_machine *m, hd_recovery *did)
{
    uint64_t found[2] = { 0, 0 };
    hd_status status = recover((gphash_state *)state, m, true, found);
    did->cleared += found[0];
    if (!status && found[1])
        status = hd_fail(HD_ECORRUPT, "GP-1, GP-2: %" PRIu64 " keys are in two slots, or in none of their buckets",
                         found[1]);
    return status;
}

/* The ring, from `head` to `end`, has its cells in the order of addresses from `first` on, and begins at 0. */
static hd_status lay_in_order(gphash_state *o, const hd_gpu_machine *m, uint64_t head, uint64_t end, uint64_t first)
{
    enum { THREADS = 128 };
    const uint64_t cells = gphash_cells(&o->v), blocks = hd_launch_blocks(&m->on, cells, THREADS);
    gphash_recover_args a = { .v = o->v, .mark = (uint32_t *)(void *)o->next_mark, .marks_free = true };
    a.tail = &o->words->tail;
    a.head = head;
    a.end = end;
    hd_status status = m->on.zero(m->on.self, a.mark, (cells + 63) / 64 * sizeof(uint64_t));
    if (!status) status = m->on.launch(m->on.self, GPHASH_NUMBER_mark_free, &a, sizeof a, blocks, THREADS);
    if (!status) status = m->on.zero(m->on.self, &o->words->head, 2 * sizeof(uint64_t));
    if (!status) status = m->on.zero(m->on.self, &o->words->ordered, sizeof(uint64_t));
    for (int part = 0; part < 2 && !status; part++) {
        a.first = part ? 0 : first;
        a.last = part ? first : cells;
        status = m->on.launch(m->on.self, GPHASH_NUMBER_recover_ring, &a, sizeof a, blocks, THREADS);
    }
    return status;
}

static hd_status arrange(void *state, const hd_gpu_machine *m)
{
    gphash_state *o = (gphash_state *)state;
    uint64_t ends[2] = { 0, 0 };
    uint32_t cell;
    hd_memory marks[1];
    if (!o->v.cell_bytes) return HD_OK;
    hd_status status = m->read(m->self, ends, &o->words->head, sizeof ends);
    if (status || !gphash_is_to_arrange(ends[0], ends[1])) return status;
    status = m->read(m->self, &cell, o->v.free + (ends[0] - 1) % gphash_ring(&o->v), sizeof cell);
    if (status) return status;
    int n = gphash_marks_memory(o, marks);
    status = hd_machine_take(m, o, marks, n);
    if (status) return status;
    status = lay_in_order(o, m, ends[0], ends[1], cell);
    hd_machine_give(m, o, marks, n);
    return status;
}

static hd_status changed(void *state, const hd_gpu_machine *m, uint8_t *page, uint64_t pages)
{
    gphash_state *o = (gphash_state *)state;
    const bool marked = gphash_is_near(o) && !o->unmarked && o->marks;
    _Static_assert((int)GPHASH_PAGE == (int)HD_EXTENT_PAGE, "the map is of the pages that are asked for");
    HD_ASSERT(!gphash_is_near(o) || pages == gphash_pages(&o->v), "the map has other pages than the extents");
    if (o->unmarked == GPHASH_ONCE) o->unmarked = GPHASH_NOTHING;
    o->marks = true;
    hd_status status = marked ? m->read(m->self, page, o->page, pages) : HD_OK;
    return status || !o->page ? status : m->on.zero(m->on.self, o->page, pages);
}

static hd_status settled(void *state, const hd_gpu_machine *m)
{
    gphash_state *o = (gphash_state *)state;
    const size_t copies = gphash_units(&o->v, o->cache.of) * sizeof *o->cache.copy_of;
    uint64_t found[2];
    hd_status status = copies ? m->on.zero(m->on.self, o->cache.copy_of, copies) : HD_OK;
    return !status && gphash_is_near(o) ? recover(o, m, false, found) : status;
}

/* ---- Growth (section 3.2.3) ------------------------------------------------------------------ */

/* The ring of a table that has grown once more, in o->next_free. ends: of the ring that is. */
static hd_status widen_ring(gphash_state *o, const hd_gpu_machine *m, const uint64_t ends[2])
{
    enum { THREADS = 128 };
    gphash_ring_args a = { o->v, o->next_free, ends[0], ends[1], &o->words->head, &o->words->tail };
    uint64_t blocks = hd_launch_blocks(&m->on, ends[1] - ends[0] + gphash_chunk_cells(&o->v, o->v.grown + 1), THREADS);
    return m->on.launch(m->on.self, GPHASH_NUMBER_widen, &a, sizeof a, blocks, THREADS);
}

static hd_status move_bottom(gphash_state *o, const hd_gpu_machine *m)
{
    hd_batch b;
    memset(&b, 0, sizeof b);
    gphash_args a = args_of(o, &b);
    const gpu_launcher l = launcher_of(o, &m->on, &a);
    a.b.last = gphash_level_buckets(&o->v, o->v.bottom) * o->v.slots;
    return gpu_launch_range(&l, GPHASH_NUMBER_raise, 1, 128);
}

/* The old ring and its like go, and the next ones take their place; *ends: then those of the new ring. */
static void take_next_ring(gphash_state *o, const hd_gpu_machine *m, uint64_t ends[2])
{
    hd_memory ring[GPHASH_GROWTH_ARRAYS];
    hd_machine_give(m, o, ring, gphash_ring_memory(o, ring));
    o->v.free = o->next_free;
    o->v.mark = o->next_mark;
    o->next_free = NULL;
    o->page = o->next_page;
    o->cache.copy_of = o->next_copy_of;
    o->cache.heat = o->next_heat;
    o->next_copy_of = o->next_heat = NULL;
    o->next_mark = NULL;
    o->next_page = NULL;
    ends[1] = ends[1] - ends[0] + gphash_chunk_cells(&o->v, o->v.grown + 1);
    ends[0] = 0;
}

/* A level more; or all is as it was. ends: of the ring of free cells. */
static hd_status raise_once(gphash_state *o, const hd_gpu_machine *m, uint64_t ends[2])
{
    hd_memory next[GPHASH_GROWTH_ARRAYS], gone[GPHASH_GROWTH_ARRAYS];
    int n = gphash_growth_memory(o, next);
    hd_status status = hd_machine_take(m, o, next, n);
    if (status) return status;
    status = move_bottom(o, m); /* it changes the new level alone */
    if (!status && o->v.cell_bytes) status = widen_ring(o, m, ends);
    if (status) {
        hd_machine_give(m, o, next, n);
        return status;
    }
    int old = gphash_level_memory(o, o->v.bottom, gone);
    take_next_ring(o, m, ends);
    o->v.grown++;
    o->v.bottom++;
    hd_machine_give(m, o, gone, old);
    return HD_OK;
}

static hd_status resize(void *state, void *entries, const hd_gpu_machine *m, uint64_t buckets, hd_info *info)
{
    gphash_state *o = (gphash_state *)state;
    uint64_t ends[2] = { 0, 0 };
    uint32_t levels = 0;
    hd_status status = gphash_raises(&o->v, buckets, &levels);
    if (!status) status = m->read(m->self, ends, &o->words->head, sizeof ends);
    for (; levels > 0 && !status; levels--) status = raise_once(o, m, ends);
    gphash_tell(&o->v, info);
    info->memory_bytes += hd_gpu_scratch(&gphash_gpu, info, o->gpu.device);
    if (entries) {
        gphash_table *t = gphash_table_of(entries);
        t->v = gphash_view_that_lasts(o);
        t->head = ends[0];
        t->tail = ends[1];
    }
    return status;
}

/* clang-format off */
const hd_gpu gphash_gpu = {
    .cuda_entry = HD_CUDA_ENTRY(gphash_cuda_entry), .cuda_module = HD_CUDA_ENTRY(gphash_cuda_module),
    .word_enter = GPHASH_NUMBER_word_enter, .word_leave = GPHASH_NUMBER_word_leave, .state_bytes = sizeof(gphash_state),
    .usual = usual, .begin = gphash_begin_table, .memory = gphash_memory, .taken = gphash_taken,
    .view_of = gphash_view_of_state, .before = gphash_before_batch, .after = gphash_after_batch, .empty = empty,
    .open_here = gphash_open_here, .lists = lists, .launch = launch, .resize = resize, .shape = gphash_shape_there,
    .extents = extents, .recovered = recovered, .changed = changed, .arrange = arrange, .settled = settled
};
/* clang-format on */

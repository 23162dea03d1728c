/* SPDX-License-Identifier: Apache-2.0
 *
 * toy_design.c - the toy design: its reference, its kernels, and its description for the backends.
 */
#include "tests/toy_design.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "simt/simt.h"

enum { BOARD_BYTES = TOY_PLACES * 2 * 8 };

/* ---- The reference --------------------------------------------------------------------------- */

typedef struct toy {
    toy_view v;
    const hd_seams *seams;
} toy;

static hd_status toy_shape(const hd_design *d, const hd_config *c, hd_info *info)
{
    (void)d;
    info->buckets = c->capacity / TOY_PLACES;
    info->capacity = c->capacity;
    info->memory_bytes = info->buckets * BOARD_BYTES;
    if (info->value_bytes != 8) return hd_fail(HD_EINVAL, "value_bytes: a toy has 8");
    if (info->buckets == 0 || info->buckets > TOY_BOARDS)
        return hd_fail(HD_EINVAL, "capacity: no toy has %" PRIu64 " places", c->capacity);
    return HD_OK;
}

static hd_status board_take(toy *t, uint32_t b)
{
    void *p = NULL;
    hd_status status = hd_take(t->seams, "toy: a board", TOY_PLACES, 16, &p);
    t->v.board[b] = (uint64_t *)p;
    if (p) memset(p, 0xff, BOARD_BYTES);
    return status;
}

static void board_give(toy *t, uint32_t b)
{
    hd_give(t->seams, t->v.board[b], TOY_PLACES, 16);
    t->v.board[b] = NULL;
}

static void toy_close(void *state, const hd_seams *s)
{
    toy *t = (toy *)state;
    for (uint32_t b = 0; t && b < TOY_BOARDS; b++) board_give(t, b);
    hd_give(s, t, 1, sizeof *t);
}

static hd_status toy_open(const hd_design *d, const hd_info *info, const hd_seams *s, void **state)
{
    void *p = NULL;
    (void)d;
    hd_status status = hd_take(s, "toy", 1, sizeof(toy), &p);
    if (status) return status;
    toy *t = (toy *)memset(p, 0, sizeof(toy));
    t->seams = s;
    t->v.boards = (uint32_t)info->buckets;
    for (uint32_t b = 0; b < t->v.boards && !status; b++) status = board_take(t, b);
    if (status)
        toy_close(t, s);
    else
        *state = t;
    return status;
}

static size_t toy_next(void *state, hd_entry *e, size_t most)
{
    const toy_view *v = &((toy *)state)->v;
    size_t n = 0;
    for (uint64_t i = e->slot; i < v->boards * TOY_PLACES && n < most; i++) {
        uint64_t *place = v->board[i / TOY_PLACES] + i % TOY_PLACES * 2;
        if (place[0] != HD_KEY_EMPTY) e[n++] = (hd_entry){ i, place[0], 0, place + 1 };
    }
    return n;
}

static hd_status toy_check(void *state)
{
    const toy_view *v = &((toy *)state)->v;
    hd_entry e = { 0, 0, 0, NULL };
    for (; toy_next(state, &e, 1); e.slot++)
        if (e.key % v->boards != e.slot / TOY_PLACES)
            return hd_fail(HD_ECORRUPT, "key %" PRIu64 " is on board %" PRIu64 " of %u", e.key, e.slot / TOY_PLACES,
                           v->boards);
    return HD_OK;
}

static bool toy_put_at(void *state, const hd_entry *e)
{
    const toy_view *v = &((toy *)state)->v;
    uint64_t *place = v->board[e->slot / TOY_PLACES] + e->slot % TOY_PLACES * 2;
    if (e->key % v->boards != e->slot / TOY_PLACES || place[0] != HD_KEY_EMPTY) return false;
    place[0] = e->key;
    memcpy(place + 1, e->value, 8);
    return true;
}

static bool toy_put(void *state, const hd_entry *e)
{
    hd_entry to = *e;
    uint64_t first = e->key % ((toy *)state)->v.boards * TOY_PLACES;
    for (to.slot = first; to.slot < first + TOY_PLACES; to.slot++)
        if (toy_put_at(state, &to)) return true;
    return false;
}

static void toy_move_all(void *from, void *to)
{
    hd_entry e = { 0, 0, 0, NULL };
    for (; toy_next(from, &e, 1); e.slot++) toy_put(to, &e);
}

/* The place of a key, or an empty one of its board; TOY_PLACES: there is none. */
static uint64_t *ref_place(const toy_view *v, uint64_t key, uint64_t want)
{
    uint64_t *board = v->board[key % v->boards], p = 0;
    while (p < TOY_PLACES && board[2 * p] != want) p++;
    return p < TOY_PLACES ? board + 2 * p : NULL;
}

static hd_outcome ref_item(const toy_view *v, const hd_batch *b, uint64_t i)
{
    uint64_t key = b->key[i], *place = key < HD_KEY_RESERVED ? ref_place(v, key, key) : NULL;
    bool there = place != NULL;
    if (key >= HD_KEY_RESERVED) return HD_RESERVED;
    if ((b->each ? b->each[i] : b->op) == HD_OP_FIND) {
        if (there && b->value_out) memcpy((uint64_t *)b->value_out + i, place + 1, 8);
        if (there && b->score_out) b->score_out[i] = 0;
        return there ? HD_HIT : HD_MISS;
    }
    if (!there) place = ref_place(v, key, HD_KEY_EMPTY);
    if (!place) return HD_REFUSED;
    place[0] = key;
    memcpy(place + 1, (const uint64_t *)b->value + i, 8);
    return there ? HD_UPDATED : HD_INSERTED;
}

static hd_status toy_run(void *state, uint32_t row, const hd_batch *b, hd_when when, uint64_t *tally)
{
    (void)row, (void)when;
    for (uint64_t i = 0; i < b->n; i++) {
        tally[b->outcome[i] = (uint8_t)ref_item(&((toy *)state)->v, b, i)]++;
        if (b->found) b->found[i] = HD_OP_IN(b->outcome[i], HD_OUTCOMES_FOUND);
    }
    return HD_OK;
}

enum { LOOKUPS, INSERTIONS, ITEMS };

static const char *toy_unsupported(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    uint32_t family = b->each ? ITEMS : b->op == HD_OP_FIND ? LOOKUPS : INSERTIONS;
    (void)info;
    if (b->op != HD_OP_FIND && b->op != HD_OP_INSERT_OR_ASSIGN) return HD_OTHER_OPERATION;
    return row->family == family ? NULL : HD_OTHER_OPERATION;
}

static const char *fits(const hd_info *info)
{
    (void)info;
    return NULL;
}

/* clang-format off */
#define ROW(family, what) { family, NULL, 1, 32, fits, HD_ORDER, HD_WHAT(what) }
/* clang-format on */
/* Rows are numbered as in toy_design.h. */
static const hd_variant plain = { .name = "plain",
                                  .row = { ROW(LOOKUPS, "finds"), ROW(INSERTIONS, "inserts"), ROW(ITEMS, "either") } };
static const hd_variant astray = { .name = "astray", .row = { ROW(LOOKUPS, "reads beyond its boards") } };
static const hd_variant stale = { .name = "stale", .row = { ROW(LOOKUPS, "delivers other values") } };
static const hd_variant *const toy_variants[] = { &plain, &astray, &stale, NULL };

/* clang-format off */
static const hd_backend toy_reference = {
    .name = "ref", .shape = toy_shape, .open = toy_open,
    .close = toy_close, .check = toy_check, .next = toy_next, .put_at = toy_put_at,
    .move_all = toy_move_all, .variants = toy_variants, .unsupported = toy_unsupported, .launch = toy_run
};
/* clang-format on */

/* ---- Kernels: one lane ----------------------------------------------------------------------- */

typedef struct toy_args {
    toy_view v;
    uint32_t *writes[TOY_BOARDS]; /* (TOY_PLACES) */
    uint64_t n;
    const uint64_t *key, *value;
    const uint8_t *each; /* hd_op */
    uint8_t *outcome, *found;
    uint64_t *value_out, *score_out, *tally, *crowded;
    uint32_t from; /* resize: boards before */
} toy_args;

SIMT_FN bool is_first(void) { return simt_block() == 0 && simt_thread() == 0; }

/* The place of the key on its board, or else the first empty one; TOY_PLACES: there is none. */
SIMT_FN uint32_t place_of(const toy_args *a, uint64_t key, bool *there)
{
    const uint64_t *board = a->v.board[key % a->v.boards];
    uint32_t empty = TOY_PLACES;
    for (uint32_t p = 0; p < TOY_PLACES; p++) {
        uint64_t k = simt_ld_u64(board + 2 * p);
        if (k == HD_KEY_EMPTY && empty == TOY_PLACES) empty = p;
        if (k != key) continue;
        *there = true;
        return p;
    }
    *there = false;
    return empty;
}

SIMT_FN void write(const toy_args *a, uint64_t key, uint32_t p, uint64_t value)
{
    uint32_t b = (uint32_t)(key % a->v.boards);
    simt_st_u64(a->v.board[b] + 2 * p + 1, value);
    simt_st_u64(a->v.board[b] + 2 * p, key);
    simt_st_u32(a->writes[b] + p, simt_ld_u32(a->writes[b] + p) + 1);
}

/* The item took effect now; p: its key's place. */
SIMT_FN void tell(const toy_args *a, uint64_t i, hd_outcome o, uint64_t p)
{
    simt_ticket(i, (uint8_t)o, 0, simt_ld_u64(a->key + i) % a->v.boards * TOY_PLACES + p);
    if (a->outcome) simt_st_u8(a->outcome + i, (uint8_t)o);
    if (a->found) simt_st_u8(a->found + i, HD_OP_IN(o, HD_OUTCOMES_FOUND));
    simt_st_u64(a->tally + o, simt_ld_u64(a->tally + o) + 1);
}

SIMT_FN bool is_held(const toy_args *a, uint64_t i)
{
    bool holds = simt_ld_u64(a->key + i) < HD_KEY_RESERVED;
    if (!holds) tell(a, i, HD_RESERVED, 0);
    return holds;
}

/* A batch's values may be at any multiple of 4. */
SIMT_FN uint64_t value_in(const toy_args *a, uint64_t i)
{
    const uint32_t *half = (const uint32_t *)(const void *)(a->value + i);
    return simt_ld_u32(half) | (uint64_t)simt_ld_u32(half + 1) << 32;
}

SIMT_FN void deliver(const toy_args *a, uint64_t i, uint64_t value)
{
    uint32_t *half = (uint32_t *)(void *)(a->value_out + i);
    if (!a->value_out) return;
    simt_st_u32(half, (uint32_t)value);
    simt_st_u32(half + 1, (uint32_t)(value >> 32));
}

SIMT_FN void find(const toy_args *a, uint64_t i, uint64_t other)
{
    bool there;
    uint64_t key = simt_ld_u64(a->key + i);
    uint32_t p = place_of(a, key, &there);
    if (there) deliver(a, i, simt_ld_u64(a->v.board[key % a->v.boards] + 2 * p + 1) + other);
    if (there && a->score_out) simt_st_u64(a->score_out + i, 0);
    tell(a, i, there ? HD_HIT : HD_MISS, p);
}

SIMT_FN void insert(const toy_args *a, uint64_t i)
{
    bool there;
    uint64_t key = simt_ld_u64(a->key + i);
    uint32_t p = place_of(a, key, &there);
    if (p < TOY_PLACES) write(a, key, p, value_in(a, i));
    tell(a, i, there ? HD_UPDATED : p < TOY_PLACES ? HD_INSERTED : HD_REFUSED, p);
}

SIMT_KERNEL(toy_kernel_find, toy_args, a)
{
    for (uint64_t i = 0; is_first() && i < a.n; i++)
        if (is_held(&a, i)) find(&a, i, 0);
}

SIMT_KERNEL(toy_kernel_stale, toy_args, a)
{
    for (uint64_t i = 0; is_first() && i < a.n; i++)
        if (is_held(&a, i)) find(&a, i, 1);
}

/* Item by item. */
SIMT_KERNEL(toy_kernel_mixed, toy_args, a)
{
    for (uint64_t i = 0; is_first() && i < a.n; i++) {
        if (!is_held(&a, i)) continue;
        if (simt_ld_u8(a.each + i) == HD_OP_FIND)
            find(&a, i, 0);
        else
            insert(&a, i);
    }
}

/* The first launch of an insertion: keys that are there. */
SIMT_KERNEL(toy_kernel_assign, toy_args, a)
{
    bool there = false;
    for (uint64_t i = 0; is_first() && i < a.n; i++) {
        if (!is_held(&a, i)) continue;
        place_of(&a, simt_ld_u64(a.key + i), &there);
        simt_st_u8(a.outcome + i, HD_MISS);
        if (there) insert(&a, i);
    }
}

/* The second: the others. */
SIMT_KERNEL(toy_kernel_bring, toy_args, a)
{
    for (uint64_t i = 0; is_first() && i < a.n; i++)
        if (simt_ld_u8(a.outcome + i) == HD_MISS) insert(&a, i);
}

/* Entries on another board than their own go there. */
SIMT_KERNEL(toy_kernel_spread, toy_args, a)
{
    bool there;
    for (uint32_t at = 0; is_first() && at < a.from * TOY_PLACES; at++) {
        uint64_t *place = a.v.board[at / TOY_PLACES] + at % TOY_PLACES * 2, key = simt_ld_u64(place);
        if (key == HD_KEY_EMPTY || key % a.v.boards == at / TOY_PLACES) continue;
        uint32_t p = place_of(&a, key, &there);
        write(&a, key, p, simt_ld_u64(place + 1));
        simt_st_u64(place, HD_KEY_EMPTY);
    }
}

/* How many boards would have more than they have places for. */
SIMT_KERNEL(toy_kernel_count, toy_args, a)
{
    for (uint32_t b = 0; is_first() && b < a.v.boards; b++) {
        uint32_t n = 0;
        for (uint32_t at = 0; at < a.from * TOY_PLACES; at++) {
            uint64_t key = simt_ld_u64(a.v.board[at / TOY_PLACES] + at % TOY_PLACES * 2);
            n += key != HD_KEY_EMPTY && key % a.v.boards == b;
        }
        if (n > TOY_PLACES) simt_st_u64(a.crowded, simt_ld_u64(a.crowded) + 1);
    }
}

SIMT_KERNEL(toy_kernel_astray, toy_args, a)
{
    if (is_first()) simt_st_u64(a.tally, simt_ld_u64(a.v.board[0] - 1));
}

SIMT_KERNEL(toy_kernel_word_enter, hd_word_args, a) { hd_word_enter(&a); }
SIMT_KERNEL(toy_kernel_word_leave, hd_word_args, a) { hd_word_leave(&a); }

enum { FIND, MIXED, ASSIGN, BRING, SPREAD, COUNT, ASTRAY, STALE, WORD_ENTER, WORD_LEAVE, KERNELS };

static hd_host_text *toy_kernel(uint32_t kernel)
{
    static hd_host_text *const entry[KERNELS] = { toy_kernel_find,      toy_kernel_mixed,  toy_kernel_assign,
                                                  toy_kernel_bring,     toy_kernel_spread, toy_kernel_count,
                                                  toy_kernel_astray,    toy_kernel_stale,  toy_kernel_word_enter,
                                                  toy_kernel_word_leave };
    return kernel < KERNELS ? entry[kernel] : NULL;
}

/* ---- The description for backends ------------------------------------------------------------ */

static void usual(hd_info *info) { info->layout = HD_LAYOUT_PAIRS; }

static void begin(void *state)
{
    toy_state *o = (toy_state *)state;
    o->v.boards = (uint32_t)o->gpu.info.buckets;
}

static hd_memory board_memory(uint32_t b)
{
    size_t at = offsetof(toy_view, board) + b * sizeof(uint64_t *);
    return (hd_memory){ "toy: a board",  "board",          offsetof(toy_state, v) + at, TOY_PLACES, 16, 0xff,
                        .put = HD_APART, HD_HOLDS_ENTRIES, offsetof(toy, v) + at };
}

static hd_memory writes_memory(uint32_t b)
{
    size_t at = offsetof(toy_state, writes) + b * sizeof(uint32_t *);
    return (hd_memory){ "toy: its writes", "writes", at, TOY_PLACES, sizeof(uint32_t), 0, .put = HD_APART };
}

static int memory(const void *state, hd_memory *all)
{
    const toy_state *o = (const toy_state *)state;
    int n = 0;
    all[n++] =
        (hd_memory){ "toy: words", "words", offsetof(toy_state, words), 1, sizeof(toy_words), 0, .put = HD_TOGETHER };
    for (uint32_t b = 0; b < (uint32_t)o->gpu.info.buckets; b++) {
        all[n++] = board_memory(b);
        all[n++] = writes_memory(b);
    }
    return n;
}

static void *view_of(void *entries) { return entries; }

static void taken(void *state)
{
    toy_state *o = (toy_state *)state;
    o->gpu.tally = o->words->tally;
    o->gpu.word = &o->words->word;
}

static void before(void *state, void *entries) { ((toy_state *)state)->v = ((toy *)entries)->v; }
static void after(void *state, void *entries, bool good) { (void)state, (void)entries, (void)good; }

static hd_status empty(void *state, const hd_launcher *l) { return (void)state, (void)l, HD_OK; }

static hd_status open_here(const void *state, const hd_seams *s, void **staged)
{
    return toy_open(NULL, &((const toy_state *)state)->gpu.info, s, staged);
}

static bool lists(const void *state, uint32_t row, const hd_batch *b) { return (void)state, (void)row, (void)b, false; }

static toy_args args_of(const toy_state *o)
{
    toy_args a = { .v = o->v };
    memcpy(a.writes, o->writes, sizeof a.writes);
    a.tally = o->gpu.tally;
    a.crowded = &o->words->crowded;
    return a;
}

static hd_status launch_one(const hd_launcher *l, uint32_t kernel, const toy_args *a)
{
    return l->launch(l->self, kernel, a, sizeof *a, 1, 32);
}

static hd_status launch(void *state, const hd_launcher *l, uint32_t row, const hd_batch *b, hd_when when)
{
    toy_args a = args_of((const toy_state *)state);
    (void)when;
    a.n = b->n;
    a.key = b->key;
    a.value = (const uint64_t *)b->value;
    a.each = b->each;
    a.outcome = b->outcome;
    a.found = (uint8_t *)(void *)b->found;
    a.value_out = (uint64_t *)b->value_out;
    a.score_out = b->score_out;
    if (row == TOY_ASTRAY) return launch_one(l, ASTRAY, &a);
    if (row == TOY_STALE) return launch_one(l, STALE, &a);
    if (row == TOY_MIXED) return launch_one(l, MIXED, &a);
    if (row == TOY_LOOKUP) return launch_one(l, FIND, &a);
    hd_status status = launch_one(l, ASSIGN, &a);
    return status ? status : launch_one(l, BRING, &a);
}

/* ---- Growth in place ------------------------------------------------------------------------- */

/* On the host machine a board is the reference's from then on. */
static hd_status more_take(toy_state *o, toy *entries, const hd_gpu_machine *m, uint32_t b)
{
    hd_memory board = board_memory(b), writes = writes_memory(b);
    hd_status status = m->take(m->self, &board);
    if (entries) entries->v.board[b] = o->v.board[b];
    return status ? status : m->take(m->self, &writes);
}

static void more_give(toy_state *o, toy *entries, const hd_gpu_machine *m, uint32_t b)
{
    hd_memory board = board_memory(b), writes = writes_memory(b);
    m->give(m->self, &writes);
    m->give(m->self, &board);
    if (entries) entries->v.board[b] = o->v.board[b];
}

static void become(toy_state *o, toy *entries, hd_info *info, uint32_t boards)
{
    o->v.boards = boards;
    if (entries) entries->v.boards = boards;
    info->memory_bytes = info->memory_bytes / info->buckets * boards;
    info->buckets = boards;
    info->capacity = (uint64_t)boards * TOY_PLACES;
}

static hd_status grow(toy_state *o, toy *entries, const hd_gpu_machine *m, hd_info *info, uint32_t boards)
{
    uint32_t from = o->v.boards;
    hd_status status = HD_OK;
    for (uint32_t b = from; b < boards && !status; b++) status = more_take(o, entries, m, b);
    toy_args a = args_of(o);
    a.v.boards = boards;
    a.from = from;
    if (!status) status = launch_one(&m->on, SPREAD, &a);
    for (uint32_t b = from; b < boards && status; b++) more_give(o, entries, m, b);
    if (!status) become(o, entries, info, boards);
    return status;
}

static hd_status shrink(toy_state *o, toy *entries, const hd_gpu_machine *m, hd_info *info, uint32_t boards)
{
    uint64_t crowded = 0;
    uint32_t from = o->v.boards;
    toy_args a = args_of(o);
    a.v.boards = boards;
    a.from = from;
    hd_status status = m->on.zero(m->on.self, a.crowded, sizeof *a.crowded);
    if (!status) status = launch_one(&m->on, COUNT, &a);
    if (!status) status = m->read(m->self, &crowded, a.crowded, sizeof crowded);
    if (!status && crowded)
        status = hd_fail(HD_EINVAL, "buckets: %" PRIu64 " of %u boards would have too many entries", crowded, boards);
    if (!status) status = launch_one(&m->on, SPREAD, &a);
    if (status) return status;
    become(o, entries, info, boards);
    status = m->read(m->self, &crowded, a.crowded, sizeof crowded); /* no entry is on them before boards go */
    for (uint32_t b = boards; b < from; b++) more_give(o, entries, m, b);
    return status;
}

static hd_status resize(void *state, void *entries, const hd_gpu_machine *m, uint64_t buckets, hd_info *info)
{
    toy_state *o = (toy_state *)state;
    if (buckets == 0 || buckets > TOY_BOARDS)
        return hd_fail(HD_EINVAL, "buckets: no toy has %" PRIu64 " boards", buckets);
    return (buckets > o->v.boards ? grow : shrink)(o, (toy *)entries, m, info, (uint32_t)buckets);
}

const hd_gpu toy_gpu = { .word_enter = WORD_ENTER,
                         .word_leave = WORD_LEAVE,
                         .state_bytes = sizeof(toy_state),
                         .usual = usual,
                         .begin = begin,
                         .memory = memory,
                         .view_of = view_of,
                         .taken = taken,
                         .before = before,
                         .after = after,
                         .empty = empty,
                         .open_here = open_here,
                         .lists = lists,
                         .launch = launch,
                         .resize = resize };

const hd_design toy_design = { .name = "toy",
                               .what = "boards of places",
                               .ref = &toy_reference,
                               .gpu = &toy_gpu,
                               .variants = toy_variants,
                               .unsupported = toy_unsupported,
                               .host_kernel = toy_kernel };

/* SPDX-License-Identifier: Apache-2.0
 *
 * rack.c - the rack: its reference, its kernels, and what backends are told of it.
 */
#include "tests/rack.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "simt/simt.h"

/* An entry is two words, key and value; an empty place has HD_KEY_EMPTY. */
typedef struct rack_view {
    uint64_t *board[RACK_BOARDS]; /* (RACK_PLACES, 2) */
    uint32_t boards;
} rack_view;

enum { BOARD_BYTES = RACK_PLACES * 2 * 8 };

/* ---- The reference --------------------------------------------------------------------------- */

typedef struct rack {
    rack_view v;
    const hd_seams *seams;
} rack;

static hd_status rack_shape(const hd_config *c, hd_info *info)
{
    info->buckets = c->capacity / RACK_PLACES;
    info->capacity = c->capacity;
    info->memory_bytes = info->buckets * BOARD_BYTES;
    if (info->buckets == 0 || info->buckets > RACK_BOARDS)
        return hd_fail(HD_EINVAL, "capacity: no rack has %" PRIu64 " places", c->capacity);
    return HD_OK;
}

static hd_status board_take(rack *t, uint32_t b)
{
    void *p = NULL;
    hd_status status = hd_take(t->seams, "rack: a board", RACK_PLACES, 16, &p);
    t->v.board[b] = (uint64_t *)p;
    if (p) memset(p, 0xff, BOARD_BYTES);
    return status;
}

static void board_give(rack *t, uint32_t b)
{
    hd_give(t->seams, t->v.board[b], RACK_PLACES, 16);
    t->v.board[b] = NULL;
}

static void rack_close(void *state, const hd_seams *s)
{
    rack *t = (rack *)state;
    for (uint32_t b = 0; t && b < RACK_BOARDS; b++) board_give(t, b);
    hd_give(s, t, 1, sizeof *t);
}

static hd_status rack_open(const hd_info *info, const hd_seams *s, void **state)
{
    void *p = NULL;
    hd_status status = hd_take(s, "rack", 1, sizeof(rack), &p);
    if (status) return status;
    rack *t = (rack *)memset(p, 0, sizeof(rack));
    t->seams = s;
    t->v.boards = (uint32_t)info->buckets;
    for (uint32_t b = 0; b < t->v.boards && !status; b++) status = board_take(t, b);
    if (status)
        rack_close(t, s);
    else
        *state = t;
    return status;
}

static bool rack_next(void *state, hd_entry *e)
{
    const rack_view *v = &((rack *)state)->v;
    for (; e->slot < v->boards * RACK_PLACES; e->slot++) {
        uint64_t *place = v->board[e->slot / RACK_PLACES] + e->slot % RACK_PLACES * 2;
        if (place[0] == HD_KEY_EMPTY) continue;
        e->key = place[0];
        e->score = 0;
        e->value = place + 1;
        return true;
    }
    return false;
}

static hd_status rack_check(void *state)
{
    const rack_view *v = &((rack *)state)->v;
    hd_entry e = { 0, 0, 0, NULL };
    for (; rack_next(state, &e); e.slot++)
        if (e.key % v->boards != e.slot / RACK_PLACES)
            return hd_fail(HD_ECORRUPT, "key %" PRIu64 " is on board %" PRIu64 " of %u", e.key, e.slot / RACK_PLACES,
                           v->boards);
    return HD_OK;
}

static bool rack_put_at(void *state, const hd_entry *e)
{
    const rack_view *v = &((rack *)state)->v;
    uint64_t *place = v->board[e->slot / RACK_PLACES] + e->slot % RACK_PLACES * 2;
    if (e->key % v->boards != e->slot / RACK_PLACES || place[0] != HD_KEY_EMPTY) return false;
    place[0] = e->key;
    memcpy(place + 1, e->value, 8);
    return true;
}

static bool rack_put(void *state, const hd_entry *e)
{
    hd_entry to = *e;
    uint64_t first = e->key % ((rack *)state)->v.boards * RACK_PLACES;
    for (to.slot = first; to.slot < first + RACK_PLACES; to.slot++)
        if (rack_put_at(state, &to)) return true;
    return false;
}

static void rack_move_all(void *from, void *to)
{
    hd_entry e = { 0, 0, 0, NULL };
    for (; rack_next(from, &e); e.slot++) rack_put(to, &e);
}

static const hd_design rack_ref = { .name = "rack",
                                    .what = "boards of places",
                                    .backend = "ref",
                                    .shape = rack_shape,
                                    .open = rack_open,
                                    .close = rack_close,
                                    .check = rack_check,
                                    .next = rack_next,
                                    .put_at = rack_put_at,
                                    .put = rack_put,
                                    .move_all = rack_move_all };

/* ---- Kernels: one lane ----------------------------------------------------------------------- */

typedef struct rack_args {
    rack_view v;
    uint32_t *writes[RACK_BOARDS]; /* (RACK_PLACES) */
    uint64_t n;
    const uint64_t *key, *value;
    const uint8_t *each; /* hd_op */
    uint8_t *outcome;
    uint64_t *value_out, *tally, *crowded;
    uint32_t from; /* resize: boards before */
} rack_args;

SIMT_FN bool is_first(void) { return simt_block() == 0 && simt_thread() == 0; }

/* The place of the key on its board, or else the first empty one; RACK_PLACES: there is none. */
SIMT_FN uint32_t place_of(const rack_args *a, uint64_t key, bool *there)
{
    const uint64_t *board = a->v.board[key % a->v.boards];
    uint32_t empty = RACK_PLACES;
    for (uint32_t p = 0; p < RACK_PLACES; p++) {
        uint64_t k = simt_ld_u64(board + 2 * p);
        if (k == HD_KEY_EMPTY && empty == RACK_PLACES) empty = p;
        if (k != key) continue;
        *there = true;
        return p;
    }
    *there = false;
    return empty;
}

SIMT_FN void write(const rack_args *a, uint64_t key, uint32_t p, uint64_t value)
{
    uint32_t b = (uint32_t)(key % a->v.boards);
    simt_st_u64(a->v.board[b] + 2 * p + 1, value);
    simt_st_u64(a->v.board[b] + 2 * p, key);
    simt_st_u32(a->writes[b] + p, simt_ld_u32(a->writes[b] + p) + 1);
}

SIMT_FN void tell(const rack_args *a, uint64_t i, hd_outcome o)
{
    if (a->outcome) simt_st_u8(a->outcome + i, (uint8_t)o);
    simt_st_u64(a->tally + o, simt_ld_u64(a->tally + o) + 1);
}

SIMT_KERNEL(rack_kernel_find, rack_args, a)
{
    bool there;
    for (uint64_t i = 0; is_first() && i < a.n; i++) {
        uint64_t key = simt_ld_u64(a.key + i);
        uint32_t p = place_of(&a, key, &there);
        if (there && a.value_out) simt_st_u64(a.value_out + i, simt_ld_u64(a.v.board[key % a.v.boards] + 2 * p + 1));
        tell(&a, i, there ? HD_HIT : HD_MISS);
    }
}

/* Item by item. */
SIMT_KERNEL(rack_kernel_mixed, rack_args, a)
{
    bool there;
    for (uint64_t i = 0; is_first() && i < a.n; i++) {
        uint64_t key = simt_ld_u64(a.key + i);
        uint32_t p = place_of(&a, key, &there);
        bool finds = simt_ld_u8(a.each + i) == HD_OP_FIND;
        if (finds && there) simt_st_u64(a.value_out + i, simt_ld_u64(a.v.board[key % a.v.boards] + 2 * p + 1));
        if (!finds && p < RACK_PLACES) write(&a, key, p, simt_ld_u64(a.value + i));
        if (finds)
            tell(&a, i, there ? HD_HIT : HD_MISS);
        else
            tell(&a, i, there ? HD_UPDATED : p < RACK_PLACES ? HD_INSERTED : HD_REFUSED);
    }
}

/* The first launch of an insertion: those that are there. */
SIMT_KERNEL(rack_kernel_assign, rack_args, a)
{
    bool there;
    for (uint64_t i = 0; is_first() && i < a.n; i++) {
        uint64_t key = simt_ld_u64(a.key + i);
        uint32_t p = place_of(&a, key, &there);
        simt_st_u8(a.outcome + i, HD_MISS);
        if (!there) continue;
        write(&a, key, p, simt_ld_u64(a.value + i));
        tell(&a, i, HD_UPDATED);
    }
}

/* The second: the others. */
SIMT_KERNEL(rack_kernel_bring, rack_args, a)
{
    bool there;
    for (uint64_t i = 0; is_first() && i < a.n; i++) {
        if (simt_ld_u8(a.outcome + i) != HD_MISS) continue;
        uint64_t key = simt_ld_u64(a.key + i);
        uint32_t p = place_of(&a, key, &there);
        if (p < RACK_PLACES) write(&a, key, p, simt_ld_u64(a.value + i));
        tell(&a, i, p < RACK_PLACES ? HD_INSERTED : HD_REFUSED);
    }
}

/* Whoever is on another board than its own goes there. */
SIMT_KERNEL(rack_kernel_spread, rack_args, a)
{
    bool there;
    for (uint32_t at = 0; is_first() && at < a.from * RACK_PLACES; at++) {
        uint64_t *place = a.v.board[at / RACK_PLACES] + at % RACK_PLACES * 2, key = simt_ld_u64(place);
        if (key == HD_KEY_EMPTY || key % a.v.boards == at / RACK_PLACES) continue;
        uint32_t p = place_of(&a, key, &there);
        write(&a, key, p, simt_ld_u64(place + 1));
        simt_st_u64(place, HD_KEY_EMPTY);
    }
}

/* How many boards would have more than they have places for. */
SIMT_KERNEL(rack_kernel_count, rack_args, a)
{
    for (uint32_t b = 0; is_first() && b < a.v.boards; b++) {
        uint32_t n = 0;
        for (uint32_t at = 0; at < a.from * RACK_PLACES; at++) {
            uint64_t key = simt_ld_u64(a.v.board[at / RACK_PLACES] + at % RACK_PLACES * 2);
            n += key != HD_KEY_EMPTY && key % a.v.boards == b;
        }
        if (n > RACK_PLACES) simt_st_u64(a.crowded, simt_ld_u64(a.crowded) + 1);
    }
}

SIMT_KERNEL(rack_kernel_astray, rack_args, a)
{
    if (is_first()) simt_st_u64(a.tally, simt_ld_u64(a.v.board[0] - 1));
}

SIMT_KERNEL(rack_kernel_word_enter, hd_word_args, a) { hd_word_enter(&a); }
SIMT_KERNEL(rack_kernel_word_leave, hd_word_args, a) { hd_word_leave(&a); }

enum { FIND, MIXED, ASSIGN, BRING, SPREAD, COUNT, ASTRAY, WORD_ENTER, WORD_LEAVE, KERNELS };

hd_host_text *rack_kernel(uint32_t kernel)
{
    static hd_host_text *const entry[KERNELS] = { rack_kernel_find,   rack_kernel_mixed,      rack_kernel_assign,
                                                  rack_kernel_bring,  rack_kernel_spread,     rack_kernel_count,
                                                  rack_kernel_astray, rack_kernel_word_enter, rack_kernel_word_leave };
    return kernel < KERNELS ? entry[kernel] : NULL;
}

/* ---- What backends are told ------------------------------------------------------------------ */

typedef struct rack_words {
    uint64_t tally[HD_OUTCOME_COUNT], crowded;
    hd_word word;
} rack_words;

typedef struct rack_own {
    hd_gpu_own gpu;
    rack_view v;
    uint32_t *writes[RACK_BOARDS];
    rack_words *words;
} rack_own;

static void usual(hd_info *info) { info->layout = HD_LAYOUT_PAIRS; }

static uint64_t room_bytes(const hd_info *info, bool device)
{
    (void)device;
    return sizeof(rack_words) + info->buckets * RACK_PLACES * sizeof(uint32_t);
}

static void begin(void *own)
{
    rack_own *o = (rack_own *)own;
    o->v.boards = (uint32_t)o->gpu.info.buckets;
}

static hd_piece board_piece(uint32_t b)
{
    hd_piece p = { "rack: a board", offsetof(rack_own, v.board) + b * sizeof(uint64_t *), RACK_PLACES, 16, 0xff,
                   HD_APART };
    return p;
}

static hd_piece writes_piece(uint32_t b)
{
    hd_piece p = { "rack: its writes",
                   offsetof(rack_own, writes) + b * sizeof(uint32_t *),
                   RACK_PLACES,
                   sizeof(uint32_t),
                   0,
                   HD_APART };
    return p;
}

static int pieces(const void *own, hd_piece *all)
{
    const rack_own *o = (const rack_own *)own;
    const hd_piece words = { "rack: words", offsetof(rack_own, words), 1, sizeof(rack_words), 0, HD_TOGETHER };
    int n = 0;
    all[n++] = words;
    for (uint32_t b = 0; b < (uint32_t)o->gpu.info.buckets; b++) {
        if (o->gpu.device) all[n++] = board_piece(b);
        all[n++] = writes_piece(b);
    }
    return n;
}

static void taken(void *own)
{
    rack_own *o = (rack_own *)own;
    o->gpu.tally = o->words->tally;
    o->gpu.word = &o->words->word;
}

static void before(void *own, void *entries) { ((rack_own *)own)->v = ((rack *)entries)->v; }
static void after(void *own, void *entries, bool good) { (void)own, (void)entries, (void)good; }

static int regions(const void *own, hd_region *all)
{
    const rack_own *o = (const rack_own *)own;
    int n = 0;
    all[n++] = (hd_region){ o->words, sizeof *o->words, "words" };
    for (uint32_t b = 0; b < o->v.boards; b++) {
        all[n++] = (hd_region){ o->v.board[b], BOARD_BYTES, "board" };
        all[n++] = (hd_region){ o->writes[b], RACK_PLACES * sizeof(uint32_t), "writes" };
    }
    return n;
}

static hd_status empty(void *own, const hd_launcher *l) { return (void)own, (void)l, HD_OK; }

static hd_status open_here(const void *own, const hd_seams *s, void **staged)
{
    return rack_open(&((const rack_own *)own)->gpu.info, s, staged);
}

static int planes(const void *own, void *staged, bool values, hd_plane *all)
{
    const rack_own *o = (const rack_own *)own;
    (void)values;
    for (uint32_t b = 0; b < o->v.boards; b++)
        all[b] = (hd_plane){ "boards", o->v.board[b], ((rack *)staged)->v.board[b], BOARD_BYTES };
    return (int)o->v.boards;
}

static bool lists(const void *own, const hd_batch *b) { return (void)own, (void)b, false; }

static rack_args args_of(const rack_own *o)
{
    rack_args a;
    memset(&a, 0, sizeof a);
    a.v = o->v;
    memcpy(a.writes, o->writes, sizeof a.writes);
    a.tally = o->words->tally;
    a.crowded = &o->words->crowded;
    return a;
}

static hd_status launch_one(const hd_launcher *l, uint32_t kernel, const rack_args *a)
{
    return l->launch(l->self, kernel, a, sizeof *a, 1, 32);
}

static hd_status launch(void *own, const hd_launcher *l, uint32_t row, const hd_batch *b, hd_when when)
{
    rack_args a = args_of((const rack_own *)own);
    (void)when;
    a.n = b->n;
    a.key = b->key;
    a.value = (const uint64_t *)b->value;
    a.each = b->each;
    a.outcome = b->outcome;
    a.value_out = (uint64_t *)b->value_out;
    if (row == RACK_ASTRAY) return launch_one(l, ASTRAY, &a);
    if (row == RACK_MIXED) return launch_one(l, MIXED, &a);
    if (row == RACK_LOOKUP) return launch_one(l, FIND, &a);
    hd_status status = launch_one(l, ASSIGN, &a);
    return status ? status : launch_one(l, BRING, &a);
}

/* ---- Growth in place ------------------------------------------------------------------------- */

/* On the host machine a board is the reference's from then on. */
static hd_status more_take(rack_own *o, rack *entries, const hd_gpu_machine *m, uint32_t b)
{
    hd_piece board = board_piece(b), writes = writes_piece(b);
    hd_status status = m->take(m->self, &board);
    if (entries) entries->v.board[b] = o->v.board[b];
    return status ? status : m->take(m->self, &writes);
}

static void more_give(rack_own *o, rack *entries, const hd_gpu_machine *m, uint32_t b)
{
    hd_piece board = board_piece(b), writes = writes_piece(b);
    m->give(m->self, &writes);
    m->give(m->self, &board);
    if (entries) entries->v.board[b] = o->v.board[b];
}

static void become(rack_own *o, rack *entries, hd_info *info, uint32_t boards)
{
    o->v.boards = boards;
    if (entries) entries->v.boards = boards;
    info->memory_bytes = info->memory_bytes / info->buckets * boards;
    info->buckets = boards;
    info->capacity = (uint64_t)boards * RACK_PLACES;
}

static hd_status grow(rack_own *o, rack *entries, const hd_gpu_machine *m, hd_info *info, uint32_t boards)
{
    uint32_t from = o->v.boards;
    hd_status status = HD_OK;
    for (uint32_t b = from; b < boards && !status; b++) status = more_take(o, entries, m, b);
    rack_args a = args_of(o);
    a.v.boards = boards;
    a.from = from;
    if (!status) status = launch_one(&m->on, SPREAD, &a);
    for (uint32_t b = from; b < boards && status; b++) more_give(o, entries, m, b);
    if (!status) become(o, entries, info, boards);
    return status;
}

static hd_status shrink(rack_own *o, rack *entries, const hd_gpu_machine *m, hd_info *info, uint32_t boards)
{
    uint64_t crowded = 0;
    uint32_t from = o->v.boards;
    rack_args a = args_of(o);
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
    status = m->read(m->self, &crowded, a.crowded, sizeof crowded); /* before boards go, nobody is on them any more */
    for (uint32_t b = boards; b < from; b++) more_give(o, entries, m, b);
    return status;
}

static hd_status resize(void *own, void *entries, const hd_gpu_machine *m, uint64_t buckets, hd_info *info)
{
    rack_own *o = (rack_own *)own;
    if (buckets == 0 || buckets > RACK_BOARDS)
        return hd_fail(HD_EINVAL, "buckets: no rack has %" PRIu64 " boards", buckets);
    return (buckets > o->v.boards ? grow : shrink)(o, (rack *)entries, m, info, (uint32_t)buckets);
}

const hd_gpu rack_gpu = {
    &rack_ref, RACK_PLACE, WORD_ENTER, WORD_LEAVE, sizeof(rack_own), usual,  room_bytes, begin,  pieces, taken,
    before,    after,      regions,    empty,      open_here,        planes, lists,      launch, resize,
};

static hd_status host_shape(const hd_config *c, hd_info *info) { return hd_host_shape(&rack_gpu, c, info); }
static hd_status host_open(const hd_info *info, const hd_seams *s, void **state)
{
    return hd_host_open(&rack_gpu, info, s, state);
}
static hd_status cuda_shape(const hd_config *c, hd_info *info) { return hd_cuda_shape(&rack_gpu, c, info); }
static hd_status cuda_open(const hd_info *info, const hd_seams *s, void **state)
{
    return hd_cuda_open(&rack_gpu, info, s, state);
}

const hd_design rack_host = { .name = "rack",
                              .what = "a rack on the host machine",
                              .shape = host_shape,
                              .open = host_open,
                              .resize = hd_host_resize,
                              HD_ON_HOST };
const hd_design rack_cuda = { .name = "rack",
                              .what = "a rack in a device's memory",
                              .shape = cuda_shape,
                              .open = cuda_open,
                              .resize = hd_cuda_resize,
                              HD_ON_CUDA };

/* SPDX-License-Identifier: Apache-2.0
 *
 * item.h - one item of a GPHash batch by a warp, a lane for each slot that its key may be in (GPHash section 3.2.1).
 * How items agree: args.h.
 */
#ifndef GPHASH_ITEM_H
#define GPHASH_ITEM_H

#include "gpu/gphash/cache.h"
#include "gpu/gphash/pages.h"
#include "gpu/warp.h"
#include "gpu/words.h"

/* An item on its way: `one.h` is the key's hash. What is said of values is of layout cells, unless it says inline. */
typedef struct gphash_one {
    gpu_one one;
    const uint8_t *in;      /* (value_bytes) what it brings; inline: one.in, which every lane has */
    uint64_t cell;          /* that it has taken, and not yet used; GPHASH_NO_CELL */
    uint64_t *key, *number; /* this lane's slot */
    uint64_t place;         /* its number       */
    bool notes;          /* there is a near index, whose changes are noted: gphash_args.changed. Known to compilers */
    const uint8_t *slot; /* where the value of a HIT is */
} gphash_one;

/* ---- Values ---------------------------------------------------------------------------------- */

/* A cell for the item's new value. There is one: a window has no more items than a table has spare cells. */
SIMT_FN uint64_t gphash_take_cell(simt_tile w, const gphash_args *a)
{
    uint64_t at = 0;
    if (w.rank == 0) at = simt_add_u64(a->head, 1, SIMT_RELAXED);
    simt_join();
    at = simt_shfl_u64(w, at, 0);
    at = simt_ld_u32(a->v.free + at % gphash_ring(&a->v));
    if (w.rank == 0) gphash_stale_cell(a, at);
    simt_join();
    return at;
}

/* The cell is free for the batches that follow: by one lane; by a tile. */
SIMT_FN void gphash_free_cell(const gphash_args *a, uint64_t cell)
{
    uint64_t at = simt_add_u64(a->tail, 1, SIMT_RELAXED);
    simt_st_u32(a->v.free + at % gphash_ring(&a->v), (uint32_t)cell);
    gphash_cold_cell(a, cell);
}
SIMT_FN void gphash_give_cell(simt_tile w, const gphash_args *a, uint64_t cell)
{
    if (w.rank == 0) gphash_free_cell(a, cell);
    simt_join();
}

/* The warp stores to the cell: its pages change. */
SIMT_FN void gphash_mark_cell(simt_tile w, const gphash_args *a, uint64_t cell)
{
    uint32_t chunk = gphash_chunk_of(&a->v, &cell);
    uint64_t at = cell * a->v.cell_bytes, first = gphash_chunk_page(&a->v, chunk);
    for (uint64_t k = at / GPHASH_PAGE + w.rank; k <= (at + a->v.cell_bytes - 1) / GPHASH_PAGE; k += w.size)
        simt_strlx_u8(a->page + first + k, 1);
    simt_join();
}

/* The item's cell, with `bytes` of what it brings, added to those at `was` if that is not NULL. */
SIMT_FN uint64_t gphash_fill_cell(simt_tile w, const gphash_args *a, gphash_one *o, const uint8_t *was)
{
    if (o->cell == GPHASH_NO_CELL) o->cell = gphash_take_cell(w, a);
    uint8_t *to = gphash_cell(&a->v, o->cell);
    if (was)
        gphash_add(w, a->b.elem, to, was, o->in, a->v.value_bytes);
    else
        gphash_copy(w, to, o->in, a->v.value_bytes);
    if (o->notes && a->page) gphash_mark_cell(w, a, o->cell);
    if (!o->notes) simt_fence_system();
    simt_sync_tile(w); /* every lane's part is there before lane 0 names the cell */
    return o->cell;
}

/* ---- Guards (layout inline) ------------------------------------------------------------------ */

SIMT_FN uint32_t *gphash_guard(const gphash_args *a, uint64_t place)
{
    return a->guard + place / a->v.slots % GPHASH_GUARDS;
}
SIMT_FN void gphash_hold(const gphash_args *a, uint64_t place)
{
    while (simt_cas_u32(gphash_guard(a, place), 0, 1, SIMT_ACQUIRE) != 0) simt_backoff(32);
}
SIMT_FN void gphash_let_go(const gphash_args *a, uint64_t place) { simt_strel_u32(gphash_guard(a, place), 0); }

/* ---- With a near index ----------------------------------------------------------------------- */

/* The code of a far place or cell, in the order of addresses. */
SIMT_FN uint64_t gphash_code(const gphash_args *a, uint64_t at)
{
    const uint64_t code = at >> a->coarse, last = (1u << GPHASH_ORDER_BITS) - 1;
    return code < last ? code : last;
}

/* Item i of the window notes what it has changed; `place` is far. */
SIMT_FN void gphash_note_word(const gphash_args *a, uint64_t i, uint64_t word, uint64_t place)
{
    const uint64_t n = i - a->b.first;
    simt_st_u64(a->changed + n, word);
    if (a->order) simt_st_u64(a->order + n, gphash_code(a, place) << 32 | n);
}

/* What the item has changed in this lane's slot is to be brought to the far one. */
SIMT_FN void gphash_note(const gphash_args *a, const gphash_one *o, gphash_change how)
{
    if (o->notes) gphash_note_word(a, o->one.i, o->place << 2 | (uint64_t)how, o->place);
}

/* The item, less b.first, whose turn it is after n others. */
SIMT_FN uint64_t gphash_in_turn(const gphash_args *a, uint64_t n)
{
    return a->order ? (uint32_t)simt_ld_u64(a->order + n) : n;
}

/* The far slot of place e. */
SIMT_FN gphash_level gphash_far_at(const gphash_args *a, uint64_t e)
{
    uint32_t level = gphash_level_of(&a->v, e);
    uint64_t at = e - gphash_first(&a->v, level);
    gphash_level far = { a->far[level].key + at, a->far[level].number + at };
    return far;
}

/* ---- The key is there ------------------------------------------------------------------------ */

/* What the item does to the value of its key, which stays meanwhile, in layout inline. *value: what that was, if the
 * item uses it; a load before the store would halve the rate of updates. */
SIMT_FN void gphash_change_word(const gphash_args *a, const gphash_one *o, uint32_t bits, uint64_t *value)
{
    const gphash_change how = o->one.change == GPU_REMOVE ? GPHASH_LEFT : GPHASH_SET;
    uint64_t becomes = o->one.in;
    if (o->one.change == GPU_KEEP || o->one.change == GPU_ADD) *value = simt_ldrlx_u64(o->number);
    if (o->one.change == GPU_KEEP || (!bits && o->one.change != GPU_REMOVE)) {
        simt_ticket(o->one.i, o->one.found, 0, o->place);
        return;
    }
    if (o->one.change == GPU_ADD) becomes = gpu_word_value_sum(a->b.elem, bits, *value, o->one.in);
    if (o->one.change == GPU_REMOVE)
        simt_strlx_u64(o->key, HD_KEY_LOCKED);
    else
        simt_strlx_u64(o->number, becomes);
    simt_ticket_store(o->one.i, o->one.found, 0, o->place);
    gphash_note(a, o, how);
    if (o->one.change == GPU_REMOVE) {
        if (!o->notes) simt_fence_system(); /* the key has gone before another item may insert it */
        simt_strlx_u64(o->key, HD_KEY_EMPTY);
    }
    gphash_refresh(a, o->place, how);
}

/* Lane `at` has seen the key. In layout inline its value changes, or the key goes, unless it has gone already: false.
 * *value: what the value was. */
SIMT_FN bool gphash_change_inline(simt_tile w, const gphash_args *a, gphash_one *o, uint32_t at, uint64_t *value)
{
    uint32_t bits = 8 * a->v.value_bytes;
    bool there = true;
    *value = 0;
    if (w.rank == at) {
        if (a->guarded) gphash_hold(a, o->place);
        there = simt_ldacq_u64(o->key) == o->one.key;
        if (there) gphash_change_word(a, o, bits, value);
        if (a->guarded) gphash_let_go(a, o->place);
    }
    simt_join();
    *value = simt_shfl_u64(w, *value, at);
    return simt_shfl_u32(w, there, at) != 0;
}

/* Whether an item of the batch that is too late to replace a value has taken effect just before the one that was
 * faster: all of them replace values, whatever these are. */
SIMT_FN bool gphash_overwrites(const gphash_args *a)
{
    return !a->b.each &&
           (a->b.op == HD_OP_ASSIGN || a->b.op == HD_OP_ASSIGN_VALUES || a->b.op == HD_OP_INSERT_OR_ASSIGN);
}

/* The same in layout cells. It may fail because another item was faster. *cell: where the value was. */
SIMT_FN bool gphash_change_cells(simt_tile w, const gphash_args *a, gphash_one *o, uint32_t at, uint64_t *cell)
{
    const gphash_change how = o->one.change == GPU_REMOVE ? GPHASH_LEFT : GPHASH_SET;
    uint64_t number = 0, becomes = GPHASH_NONE;
    bool there = false;
    if (w.rank == at) {
        number = simt_ldacq_u64(o->number);
        there = number != GPHASH_NONE && simt_ldacq_u64(o->key) == o->one.key;
        there = there && simt_ldacq_u64(o->number) == number;
        if (there && o->one.change == GPU_KEEP) simt_ticket(o->one.i, o->one.found, 0, o->place);
    }
    simt_sync_tile(w); /* what lane `at` has acquired, all lanes may read */
    number = simt_shfl_u64(w, number, at);
    *cell = gphash_cell_of(number);
    if (!simt_shfl_u32(w, there, at)) return false;
    if (o->one.change == GPU_KEEP) return true;
    if (o->one.change != GPU_REMOVE) {
        const uint8_t *was = o->one.change == GPU_ADD ? gphash_cell(&a->v, *cell) : (const uint8_t *)0;
        becomes = gphash_pack(o->one.h, gphash_version_of(number) + 1, gphash_fill_cell(w, a, o, was));
    }
    if (w.rank == at) {
        there = simt_cas_u64(o->number, number, becomes, SIMT_ACQ_REL) == number;
        if (there) simt_ticket(o->one.i, o->one.found, 0, o->place);
        if (there) simt_owns(o->one.i, o->place);
        if (!there && gphash_overwrites(a)) simt_ticket_before_owner(o->one.i, o->one.found, 0, o->place);
        if (there) gphash_note(a, o, how);
        if (there && o->one.change == GPU_REMOVE) {
            if (!o->notes) simt_fence_system(); /* as in gphash_change_word */
            simt_strel_u64(o->key, HD_KEY_EMPTY);
        }
        if (there && o->one.change != GPU_REMOVE) gphash_heat_moves(a, *cell, o->cell);
        if (there) gphash_refresh(a, o->place, how);
    }
    simt_join();
    if (!simt_shfl_u32(w, there, at)) return gphash_overwrites(a);
    if (o->one.change != GPU_REMOVE) o->cell = GPHASH_NO_CELL;
    gphash_give_cell(w, a, *cell);
    return true;
}

/* Lane `at` has seen the key. False: it was not there any more, or another item changed it: to be tried again. */
SIMT_FN bool gphash_found(simt_tile w, const gphash_args *a, gphash_one *o, uint32_t at)
{
    uint64_t cell = 0;
    bool done =
        a->v.cell_bytes ? gphash_change_cells(w, a, o, at, &cell) : gphash_change_inline(w, a, o, at, &o->one.value);
    if (!done) return false;
    o->one.outcome = o->one.found;
    if (o->one.found != HD_HIT) return true;
    o->slot = (const uint8_t *)(uintptr_t)simt_shfl_u64(w, (uintptr_t)o->number, at);
    if (a->v.cell_bytes) o->slot = gphash_cell(&a->v, cell);
    if (w.rank == at && o->one.op == HD_OP_FIND_PTR) gphash_pointed(a, o->place, cell);
    simt_join();
    if (!a->v.cell_bytes || !a->b.value_out || !gpu_delivers_value(o->one.op)) return true;
    bool far;
    gphash_copy(w, a->b.value_out + o->one.i * a->v.value_bytes, gphash_nearest(a, cell, &far), a->v.value_bytes);
    if (w.rank == 0) gphash_warm_cell(a, o->one.i, cell);
    simt_join();
    return true;
}

/* ---- The key comes --------------------------------------------------------------------------- */

/* The lane whose slot is to be taken, by the key words that the lanes have seen: of the bucket with the most empty
 * slots the first one. 32: none is empty. */
SIMT_FN uint32_t gphash_choose(simt_tile w, const gphash_args *a, uint64_t seen)
{
    uint32_t empty = simt_ballot(w, seen == HD_KEY_EMPTY), best = 32, most = 0;
    uint32_t bucket = a->v.slots == 32 ? 0xffffffffu : (1u << a->v.slots) - 1;
    for (uint32_t lane = 0; lane < 32; lane += a->v.slots) {
        uint32_t mine = empty & bucket << lane, n = simt_popc(mine);
        if (n > most) best = simt_ffs(mine) - 1;
        if (n > most) most = n;
    }
    return best;
}

/* What this lane's slot says to an item that is announced: GPHASH_GO, or that it has to give up, or to wait. earlier:
 * the slot comes before the item's. */
enum { GPHASH_GO, GPHASH_WAIT, GPHASH_GIVE_UP };
SIMT_FN uint32_t gphash_slot_says(const gphash_one *o, bool earlier)
{
    uint64_t key = simt_ldacq_u64(o->key);
    if (key == o->one.key) return GPHASH_GIVE_UP;
    if (key == HD_KEY_LOCKED) return GPHASH_WAIT;
    if (key != GPHASH_ANNOUNCED) return GPHASH_GO;
    uint64_t hash = simt_ldacq_u64(o->number);
    bool still = simt_ldacq_u64(o->key) == GPHASH_ANNOUNCED; /* else it is to be looked at again */
    if (still && hash != gphash_announcement(o->one.h)) return GPHASH_GO;
    return still && earlier ? GPHASH_GIVE_UP : GPHASH_WAIT;
}

/* The slot of lane `at` is locked for the item. Announces it; whether it may have the slot. The slot is locked again
 * then. A slot that has once said GPHASH_GO is not asked again: the item that takes it sees the announcement. */
SIMT_FN bool gphash_announce(simt_tile w, gphash_one *o, uint32_t at)
{
    uint32_t says = GPHASH_WAIT;
    if (w.rank == at) {
        simt_strlx_u64(o->number, gphash_announcement(o->one.h));
        simt_strel_u64(o->key, GPHASH_ANNOUNCED);
        simt_fence(); /* it announces before it looks around */
        says = GPHASH_GO;
    }
    simt_sync_tile(w);
    for (;;) {
        if (says == GPHASH_WAIT) says = gphash_slot_says(o, w.rank < at);
        simt_join();
        if (simt_any(w, says == GPHASH_GIVE_UP) || !simt_any(w, says == GPHASH_WAIT)) break;
        simt_backoff(32);
    }
    bool goes = simt_all(w, says == GPHASH_GO);
    if (w.rank == at) simt_strlx_u64(o->key, HD_KEY_LOCKED);
    simt_join();
    return goes;
}

/* The slot of lane `at`, which is locked for the item, gets its number and then its key. */
SIMT_FN void gphash_publish(simt_tile w, const gphash_args *a, gphash_one *o, uint32_t at)
{
    uint64_t number = a->v.cell_bytes ? gphash_pack(o->one.h, 0, o->cell) : o->one.in;
    if (w.rank == at) {
        simt_strel_u64(o->number, number);  /* a lane that reads it then sees that the slot is locked */
        if (!o->notes) simt_fence_system(); /* the value is there before its key is */
        simt_strel_u64(o->key, o->one.key);
        simt_ticket_store(o->one.i, HD_INSERTED, 0, o->place);
        gphash_note(a, o, GPHASH_CAME);
        gphash_refresh(a, o->place, GPHASH_CAME);
    }
    simt_join();
    o->cell = GPHASH_NO_CELL;
    o->one.outcome = HD_INSERTED;
}

/* Gives the locked slot of lane `at` back. */
SIMT_FN void gphash_withdraw(simt_tile w, const gphash_args *a, gphash_one *o, uint32_t at)
{
    if (w.rank == at) {
        simt_strel_u64(o->number, GPHASH_NONE);
        simt_strel_u64(o->key, HD_KEY_EMPTY);
        gphash_refresh(a, o->place, GPHASH_LEFT);
    }
    simt_join();
}

/* The lanes have seen no key; `seen`: this lane's key word. False: to be tried again. */
SIMT_FN bool gphash_insert(simt_tile w, const gphash_args *a, gphash_one *o, uint64_t seen)
{
    uint32_t at = gphash_choose(w, a, seen);
    bool got = false;
    bool others = false;
    if (seen == GPHASH_ANNOUNCED) others = simt_ldacq_u64(o->number) == gphash_announcement(o->one.h);
    simt_join();
    if (simt_any(w, others)) return false; /* its item is to end first: else it might see one after another */
    if (at == 32) return gpu_leave(w, &o->one, HD_PENDING);
    if (a->v.cell_bytes) gphash_fill_cell(w, a, o, (const uint8_t *)0);
    if (w.rank == at) {
        got = simt_cas_u64(o->key, HD_KEY_EMPTY, HD_KEY_LOCKED, SIMT_ACQ_REL) == HD_KEY_EMPTY;
        /* The key that was here has gone before the slot gets another number, which may have its tag. */
        if (a->v.cell_bytes && !o->notes) simt_fence_system();
    }
    simt_join();
    if (!simt_shfl_u32(w, got, at)) return false;
    if (!a->b.distinct && !gphash_announce(w, o, at)) {
        gphash_withdraw(w, a, o, at);
        return false;
    }
    gphash_publish(w, a, o, at);
    return true;
}

/* ---- An item --------------------------------------------------------------------------------- */

SIMT_FN bool gphash_try(simt_tile w, const gphash_args *a, gphash_one *o)
{
    uint64_t seen = simt_ldacq_u64(o->key);
    uint32_t at = simt_ffs(simt_ballot(w, seen == o->one.key));
    if (at) return gphash_found(w, a, o, at - 1);
    if (o->one.insert) return gphash_insert(w, a, o, seen);
    return gpu_leave(w, &o->one, HD_MISS);
}

SIMT_FN gphash_one gphash_begin(simt_tile w, const gphash_args *a, uint64_t i, bool notes)
{
    const gphash_view *v = &a->v;
    const gpu_batch *b = &a->b;
    gphash_one o;
    uint32_t op = b->op, flag = HD_EITHER;
    simt_started(i);
    uint64_t key = simt_ld_u64(b->key + i), in = 0;
    if (b->each) op = simt_ld_u8(b->each + i);
    if (b->flag && op == HD_OP_ACCUM_OR_ASSIGN) flag = simt_ld_u8(b->flag + i);
    o.in = b->value ? b->value + i * v->value_bytes : (const uint8_t *)0;
    if (o.in && !v->cell_bytes && v->value_bytes) in = gpu_elem_load(o.in, v->value_bytes);
    simt_join();
    o.one = gpu_item_of(i, op, key, gphash_hash(v, key), in, flag);
    o.notes = notes;
    o.cell = GPHASH_NO_CELL;
    o.slot = (const uint8_t *)0;
    o.place = gphash_candidate(v, o.one.h, w.rank);
    o.key = gphash_key_at(v, o.place);
    o.number = gphash_number_at(v, o.place);
    if (key >= HD_KEY_RESERVED || flag > HD_EITHER || (b->each && !gpu_mixes(op))) {
        o.one.outcome = HD_RESERVED;
        if (w.rank == 0) simt_ticket(i, HD_RESERVED, 0, WORD_NOWHERE);
    }
    if (notes && w.rank == 0) gphash_note_word(a, i, 0, UINT64_MAX);
    if (notes)
        simt_sync_tile(w); /* another lane may note a change */
    else
        simt_join();
    return o;
}

/* The outputs of an item, but for a value in a cell, which has been copied. */
SIMT_FN void gphash_deliver(simt_tile w, const gphash_args *a, const gphash_one *o)
{
    const gpu_batch *b = &a->b;
    uint32_t outcome = o->one.outcome, bytes = a->v.cell_bytes ? 0 : a->v.value_bytes;
    uint64_t i = o->one.i;
    bool hit = outcome == HD_HIT, gives = gpu_delivers_value(o->one.op), points = o->one.op == HD_OP_FIND_PTR;
    if (w.rank == 0) {
        if (b->outcome) simt_st_u8(b->outcome + i, (uint8_t)outcome);
        if (b->found) simt_st_u8(b->found + i, HD_OP_IN(outcome, HD_OUTCOMES_FOUND));
        if (hit && bytes && b->value_out && gives) gpu_elem_store(b->value_out + i * bytes, bytes, o->one.value);
        if (hit && b->score_out && (gives || points)) simt_st_u64(b->score_out + i, 0);
        if (hit && b->ptr && points) simt_st_u64(b->ptr + i, (uint64_t)(uintptr_t)o->slot);
        if (b->stage_flag) simt_st_u8(b->stage_flag + (i - b->first), outcome == HD_MISS);
    }
    simt_join();
}

/* A warp takes one item after another. */
SIMT_FN void gphash_items_that(const gphash_args *a, bool notes)
{
    SIMT_SHARED(uint32_t, sum, GPU_ITEMS_THREADS);
    simt_tile w = simt_tile_of(32);
    gpu_counts counts = gpu_count_none();
    for (uint64_t i = a->b.first + gpu_warp(); i < a->b.last; i += gpu_warps()) {
        gphash_one o = gphash_begin(w, a, i, notes);
        while (o.one.outcome == GPU_UNDECIDED && !gphash_try(w, a, &o)) simt_backoff(64);
        if (o.cell != GPHASH_NO_CELL) gphash_give_cell(w, a, o.cell);
        gphash_deliver(w, a, &o);
        gpu_count(w, &counts, o.one.outcome);
    }
    gpu_tally(w, &a->b, &counts);
    if (a->b.each && a->b.op_tally && a->b.first == 0) gpu_count_each(a->b.each, a->b.n, a->b.op_tally, sum);
}

SIMT_FN void gphash_items(const gphash_args *a) { gphash_items_that(a, false); }
SIMT_FN void gphash_items_near(const gphash_args *a) { gphash_items_that(a, a->changed != (uint64_t *)0); }

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * words.h - what kernels of all dictionaries do alike whose entries are words (ref/words/layout.h): what an item is,
 * holds between its steps and delivers; counts of outcomes; lists.
 *
 * Lists are in order: one warp for each part of a range counts its entries, and a second launch writes them after those
 * of the parts before it.
 */
#ifndef GPU_WORDS_H
#define GPU_WORDS_H

/* Predicates are also the host's functions, so that CUDA may not have them call its own; a plain load is what it would
 * be. */
#ifndef __CUDACC__
#define HD_VALUE_BYTE(p) simt_ld_u8(p)
#endif

#include "gpu/add.h"
#include "gpu/batch.h"
#include "gpu/each.h"
#include "policies/predicates/predicate.h"
#include "ref/words/layout.h"

enum { GPU_UNDECIDED = HD_OUTCOME_COUNT };
enum { GPU_KEEP, GPU_REPLACE, GPU_ADD, GPU_REMOVE };

/* An item on its way. */
typedef struct gpu_one {
    uint64_t i, key, h;
    uint64_t in;         /* the value that it brings; rank 0 knows it      */
    uint64_t value;      /* what was there, of a HIT; likewise             */
    uint64_t entry;      /* where the key is now; WORD_NOWHERE             */
    uint64_t claim;      /* what it holds; WORD_NOWHERE                    */
    uint64_t claim_step; /* how far on its way that is                     */
    uint32_t op, outcome, rounds;
    uint32_t found, change; /* what becomes of a key that is there         */
    bool insert;            /* and of one that is not                      */
} gpu_one;

SIMT_FN uint64_t gpu_thread(void) { return (uint64_t)simt_block() * simt_threads() + simt_thread(); }
SIMT_FN uint64_t gpu_threads(void) { return (uint64_t)simt_blocks() * simt_threads(); }

/* Two neighbouring words of 64 bits, by one load. */
SIMT_FN void gpu_load_two(uint64_t *p, bool acquires, uint64_t *x, uint64_t *y)
{
    if (acquires)
        simt_ldacq_2u64(p, x, y);
    else
        simt_ldrlx_2u64(p, x, y);
}

/* The first item of the warp's next pass of 32 items. The warps of a block draw passes from one counter in shared
 * memory, because their speeds differ. With equal shares, up to a quarter of the time of an insert into Hive (load
 * factor up to 0.95) passed between the first warp that ended and the last, with few loads in flight. */
SIMT_FN uint64_t gpu_next_pass(const gpu_batch *b, uint32_t *passes)
{
    uint32_t n = 0, warps = simt_threads() / 32;
    if (simt_lane() == 0) n = simt_shared_add_u32(passes, 1);
    simt_join();
    n = simt_shfl_u32(simt_tile_of(32), n, 0);
    return b->first + ((uint64_t)(n / warps) * simt_blocks() + simt_block()) * simt_threads() + n % warps * 32;
}

/* ---- What its operation says ----------------------------------------------------------------- */

SIMT_FN void gpu_rule(gpu_one *o, uint32_t flag)
{
    o->found = HD_UPDATED;
    o->change = GPU_REPLACE;
    o->insert = false;
    switch (o->op) {
    case HD_OP_ASSIGN:
    case HD_OP_ASSIGN_VALUES: break;
    case HD_OP_INSERT_OR_ASSIGN: o->insert = true; break;
    case HD_OP_ACCUM_OR_ASSIGN:
        o->insert = flag != HD_ADD;
        o->change = flag == HD_ASSIGN_NEW ? GPU_KEEP : GPU_ADD;
        if (flag == HD_ASSIGN_NEW) o->found = HD_HIT;
        break;
    case HD_OP_ERASE:
        o->found = HD_ERASED;
        o->change = GPU_REMOVE;
        break;
    default: /* find and its kind; in a mixed batch also what cannot be mixed, which inserts nothing */
        o->found = HD_HIT;
        o->change = GPU_KEEP;
        o->insert = o->op < HD_OP_COUNT_ && HD_OP_IN(o->op, HD_OPS_UPSERT & HD_OPS_MIX);
        break;
    }
}

SIMT_FN bool gpu_delivers_value(uint32_t op) { return HD_OP_IN(op, HD_OPS_GIVE_VALUE); }

/* What is there becomes, element by element. */
SIMT_FN uint64_t gpu_word_value_sum(uint32_t elem, uint32_t half, uint64_t value, uint64_t in)
{
    uint32_t bits = 8 * gpu_elem_bytes(elem);
    uint64_t mask = ~0ull >> (64 - bits), sum = 0;
    for (uint32_t at = 0; at < half; at += bits)
        sum |= (gpu_sum(elem, value >> at & mask, in >> at & mask) & mask) << at;
    return sum;
}

/* What the word of a key that is there becomes. */
SIMT_FN uint64_t gpu_changed(uint32_t elem, uint32_t half, uint32_t change, uint64_t key, uint64_t word, uint64_t in)
{
    if (change == GPU_REMOVE) return word_vacant(half);
    if (change == GPU_ADD) in = gpu_word_value_sum(elem, half, word_value_of(half, word), in);
    return word_pack(half, key, in);
}

/* The first word of a slot that is taken for a key: CLAIMED; or the key itself, if no other item inserts it. */
SIMT_FN uint64_t gpu_first_word(uint32_t half, bool distinct, uint64_t key, uint64_t in)
{
    return distinct ? word_pack(half, key, in) : word_sign(half, WORD_CLAIMED, key);
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

/* h: the hash of its key. */
SIMT_FN gpu_one gpu_item_of(uint64_t i, uint32_t op, uint64_t key, uint64_t h, uint64_t in, uint32_t flag)
{
    gpu_one o;
    o.i = i;
    o.key = key;
    o.h = h;
    o.in = in;
    o.value = 0;
    o.entry = o.claim = o.claim_step = WORD_NOWHERE;
    o.op = op;
    o.outcome = GPU_UNDECIDED;
    o.rounds = 0;
    gpu_rule(&o, flag);
    return o;
}

/* Whether a mixed batch may have the operation. The outcome of an item with another one is RESERVED, and so is that of
 * an item whose flag is no hd_accum. The host does not check arrays of the device. */
SIMT_FN bool gpu_mixes(uint32_t op) { return op < HD_OP_COUNT_ && HD_OP_IN(op, HD_OPS_MIX); }

/* Item i of the batch, which is of `op`, or mixed. The hash of its key is not known yet. */
SIMT_FN gpu_one gpu_begin(simt_tile t, const gpu_batch *b, uint32_t half, uint64_t i, uint32_t op, bool mixed)
{
    uint32_t bytes = half / 8, flag = HD_EITHER;
    uint64_t in = 0;
    simt_started(i);
    uint64_t key = simt_ld_u64(b->key + i);
    if (mixed) op = simt_ld_u8(b->each + i);
    if (b->flag && op == HD_OP_ACCUM_OR_ASSIGN) flag = simt_ld_u8(b->flag + i);
    if (b->value && t.rank == 0) in = gpu_elem_load(b->value + i * bytes, bytes);
    simt_join();
    gpu_one o = gpu_item_of(i, op, key, 0, in, flag);
    if (key >= word_keys(half) || flag > HD_EITHER || (mixed && !gpu_mixes(op))) {
        o.outcome = HD_RESERVED;
        if (t.rank == 0) simt_ticket(i, HD_RESERVED, 0, WORD_NOWHERE);
    }
    simt_join();
    return o;
}

/* A value of a batch; aligned: its place is known to be a multiple of its size, as in special kernels of CUDA alone. */
SIMT_FN uint32_t gpu_value_in(const uint8_t *p, uint32_t bytes, bool aligned)
{
    if (aligned && bytes == 4) return simt_ld_u32((const uint32_t *)(const void *)p); /* GCOVR_EXCL_LINE: kernels.cu */
    return (uint32_t)gpu_elem_load(p, bytes);
}
SIMT_FN void gpu_value_out(uint8_t *p, uint32_t bytes, uint32_t value, bool aligned)
{
    if (aligned && bytes == 4)                     /* GCOVR_EXCL_BR_LINE: kernels.cu */
        simt_st_u32((uint32_t *)(void *)p, value); /* GCOVR_EXCL_LINE */
    else
        gpu_elem_store(p, bytes, value);
}

/* One lane writes the outputs of item i. slot: where the value of a HIT is, if a pointer to it is wanted. wide: values
 * have 8 bytes. */
SIMT_FN void gpu_deliver_sized(const gpu_batch *b, uint32_t half, uint64_t i, uint32_t op, uint32_t outcome,
                               uint64_t value, const uint8_t *slot, bool aligned, bool wide)
{
    uint32_t bytes = half / 8;
    bool hit = outcome == HD_HIT;
    if (b->outcome) simt_st_u8(b->outcome + i, (uint8_t)outcome);
    if (b->found) simt_st_u8(b->found + i, HD_OP_IN(outcome, HD_OUTCOMES_FOUND));
    if (hit && b->value_out && gpu_delivers_value(op)) {
        if (wide)
            gpu_elem_store(b->value_out + i * 8, 8, value);
        else
            gpu_value_out(b->value_out + i * bytes, bytes, (uint32_t)value, aligned);
    }
    if (hit && b->score_out && (gpu_delivers_value(op) || op == HD_OP_FIND_PTR)) simt_st_u64(b->score_out + i, 0);
    if (hit && b->ptr && op == HD_OP_FIND_PTR) simt_st_u64(b->ptr + i, (uint64_t)(uintptr_t)slot);
    if (b->stage_flag) simt_st_u8(b->stage_flag + (i - b->first), outcome == HD_MISS);
}
SIMT_FN void gpu_deliver(const gpu_batch *b, uint32_t half, uint64_t i, uint32_t op, uint32_t outcome, uint64_t value,
                         const uint8_t *slot, bool aligned)
{
    gpu_deliver_sized(b, half, i, op, outcome, value, slot, aligned, false);
}

/* Nothing happened. */
SIMT_FN bool gpu_leave(simt_tile t, gpu_one *o, uint32_t outcome)
{
    if (t.rank == 0) simt_ticket(o->i, outcome, 0, WORD_NOWHERE);
    simt_join();
    o->outcome = outcome;
    return true;
}

/* ---- Counts ---------------------------------------------------------------------------------- */

enum { GPU_ITEMS_THREADS = 128 /* of a block that runs items, at most */ };

/* Lane r of a tile counts outcomes r, r + size and so on; a tile has four lanes at least. */
enum { GPU_COUNTED = (HD_OUTCOME_COUNT + 3) / 4 };
typedef struct gpu_counts {
    uint32_t n[GPU_COUNTED];
} gpu_counts;

SIMT_FN gpu_counts gpu_count_none(void)
{
    gpu_counts c;
    for (uint32_t k = 0; k < GPU_COUNTED; k++) c.n[k] = 0;
    return c;
}

SIMT_FN void gpu_count(simt_tile t, gpu_counts *c, uint32_t outcome)
{
    SIMT_UNROLL
    for (uint32_t k = 0; k < GPU_COUNTED; k++) c->n[k] += outcome == k * t.size + t.rank;
}

/* Those of a warp are added together. */
SIMT_FN void gpu_tally(simt_tile t, const gpu_batch *b, gpu_counts *c)
{
    simt_tile w = simt_tile_of(32);
    SIMT_UNROLL
    for (uint32_t k = 0; k < GPU_COUNTED; k++) {
        if (k * t.size >= HD_OUTCOME_COUNT) break;
        for (uint32_t d = t.size; d < 32; d *= 2) c->n[k] += simt_shfl_xor_u32(w, c->n[k], d);
        if (w.rank < t.size && c->n[k]) simt_add_u64(b->tally + k * t.size + t.rank, c->n[k], SIMT_RELAXED);
        simt_join();
    }
}

/* Lane c counts outcome c. What is not below HD_OUTCOME_COUNT is none yet, or of no item. The whole warp calls it.
 * among: the outcomes that there may be, a bit for each. */
SIMT_FN void gpu_count_lanes_of(simt_tile w, uint64_t *counted, uint32_t outcome, uint32_t among)
{
    SIMT_UNROLL
    for (uint32_t c = 0; c < HD_OUTCOME_COUNT; c++) {
        if (!(among >> c & 1)) continue;
        uint32_t n = simt_popc(simt_ballot(w, outcome == c));
        if (w.rank == c) *counted += n;
    }
}

SIMT_FN void gpu_count_lanes(simt_tile w, uint64_t *counted, uint32_t outcome)
{
    gpu_count_lanes_of(w, counted, outcome, (1u << HD_OUTCOME_COUNT) - 1);
}

/* What the lanes have counted so. */
SIMT_FN void gpu_tally_lanes(simt_tile w, const gpu_batch *b, uint64_t counted)
{
    if (w.rank < HD_OUTCOME_COUNT && counted) simt_add_u64(b->tally + w.rank, counted, SIMT_RELAXED);
    simt_join();
}

/* *sum gets what the lanes of this warp have counted. */
SIMT_FN void gpu_add_up(uint64_t *sum, uint64_t n)
{
    simt_tile w = simt_tile_of(32);
    simt_join();
    n = simt_reduce_add_u64(w, n);
    if (w.rank == 0 && n) simt_add_u64(sum, n, SIMT_RELAXED);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* Whether the predicate is true for an entry with this key, and `bytes` of a value at `value`. */
SIMT_FN bool gpu_holds_entry(const gpu_batch *b, uint64_t key, const uint8_t *value, uint32_t bytes)
{
    if (b->predicate == HD_PREDICATE_all) return true;
    return hd_predicate_holds(b->predicate, key, 0, value, bytes, b->pred_arg[0], b->pred_arg[1]);
}
/* Whether the slot at `slot`, whose word was seen, has an entry for which the predicate is true. */
SIMT_FN bool gpu_holds(const gpu_batch *b, uint32_t half, const uint8_t *slot, uint64_t word)
{
    return word_is_key(half, word) && gpu_holds_entry(b, word_key_of(half, word), slot, half / 8);
}

/* Where a warp is in its parts: at 32 items, or slots, from `x` on, of which those before `to` are of the part. */
typedef struct gpu_list {
    uint64_t parts, each;
    uint64_t part, x, to;
    uint64_t n; /* what was listed before x: by the part; GPU_WRITES: by all */
} gpu_list;

/* What the parts before p list, and the windows before this one. */
SIMT_FN uint64_t gpu_list_base(simt_tile w, const gpu_batch *b, uint64_t p)
{
    uint64_t n = 0;
    for (uint64_t k = w.rank; k < p; k += 32) n += simt_ld_u64(b->listed + k);
    simt_join();
    n = simt_reduce_add_u64(w, n);
    return b->window ? n + simt_ld_u64(b->listed + GPU_LISTS + b->window % 2) : n;
}

SIMT_FN bool gpu_list_goes_on(const gpu_list *l) { return l->part < l->parts; }

SIMT_FN void gpu_list_enter(simt_tile w, const gpu_batch *b, gpu_list *l)
{
    if (!gpu_list_goes_on(l)) return;
    l->x = b->first + l->part * l->each;
    l->to = b->last - l->x < l->each ? b->last : l->x + l->each;
    l->n = b->pass == GPU_WRITES ? gpu_list_base(w, b, l->part) : 0;
}

SIMT_FN gpu_list gpu_list_begin(simt_tile w, const gpu_batch *b)
{
    gpu_list l;
    uint64_t range = b->last - b->first, each = (range + GPU_LISTS - 1) / GPU_LISTS;
    l.each = (each + GPU_LIST_LEAST - 1) / GPU_LIST_LEAST * GPU_LIST_LEAST;
    l.parts = l.each ? (range + l.each - 1) / l.each : 1; /* of nothing, one that lists nothing */
    l.part = gpu_thread() / 32;
    l.x = l.to = l.n = 0;
    gpu_list_enter(w, b, &l);
    return l;
}

/* Item or slot x is row `at` of the list; of a slot these are its key and its value of so many bytes. */
SIMT_FN void gpu_list_write(const gpu_batch *b, uint64_t at, uint64_t x, uint64_t key, uint64_t value, uint32_t bytes)
{
    if (b->list_item) simt_st_u64(b->list_item + at, x);
    if (b->list_key) simt_st_u64(b->list_key + at, b->stage_flag ? simt_ld_u64(b->key + x) : key);
    if (b->list_score && !b->stage_flag) simt_st_u64(b->list_score + at, 0);
    if (b->list_value && !b->stage_flag) gpu_elem_store(b->list_value + at * bytes, bytes, value);
}

/* Where lane r of the warp lists x + r, `mine`, it writes it: item or slot x + r, and of a slot its key and its value
 * of so many bytes. Then the warp goes on. */
SIMT_FN void gpu_list_next_entry(simt_tile w, const gpu_batch *b, bool mine, uint64_t key, uint64_t value,
                                 uint32_t bytes, gpu_list *l)
{
    bool writes = b->pass == GPU_WRITES;
    uint32_t all = simt_ballot(w, mine);
    uint64_t x = l->x + w.rank, at = l->n + simt_popc(all & ((1u << w.rank) - 1));
    if (writes && mine) gpu_list_write(b, at, x, key, value, bytes);
    simt_join();
    l->n += simt_popc(all);
    l->x += 32;
    if (l->x < l->to) return;
    if (w.rank == 0 && !writes) simt_st_u64(b->listed + l->part, l->n);
    if (w.rank == 0 && writes && l->to == b->last) {
        simt_st_u64(b->listed + GPU_LISTS + (b->window + 1) % 2, l->n);
        if (b->count) simt_st_u64(b->count, l->n);
    }
    simt_join();
    l->part += gpu_threads() / 32;
    gpu_list_enter(w, b, l);
}
/* The same of a slot's word. */
SIMT_FN void gpu_list_next(simt_tile w, const gpu_batch *b, uint32_t half, bool mine, uint64_t word, gpu_list *l)
{
    gpu_list_next_entry(w, b, mine, word_key_of(half, word), word_value_of(half, word), half / 8, l);
}

#endif

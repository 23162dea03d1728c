/* SPDX-License-Identifier: Apache-2.0
 *
 * heads.h - the first steps of a window that inserts or erases keys (args.h): the codes that its items are sorted by,
 * the heads of runs of equal keys, and the list of the keys that come or go.
 */
#ifndef SL_HEADS_H
#define SL_HEADS_H

#include "gpu/sl/share.h"
#include "gpu/sl/update.h"

/* ---- Order ----------------------------------------------------------------------------------- */

SIMT_FN uint32_t sl_code(const sl_args *a, uint64_t i)
{
    if (a->label & SL_LABEL_FLAG) return sl_flag_of(&a->b, i) == HD_ADD;
    uint64_t key = sl_item_key(a, i);
    if (key == SL_NO_KEY) return SL_NO_CODE;
    return (uint32_t)(a->label & SL_LABEL_HIGH ? key >> 32 : key);
}

/* Gives each word the code that the next sort is by. */
SIMT_FN void sl_label(const sl_args *a)
{
    uint64_t n = a->b.last - a->b.first;
    for (uint64_t at = gpu_thread(); at < n; at += gpu_threads()) {
        uint64_t item = at;
        if (!(a->label & SL_LABEL_FIRST)) item = (uint32_t)simt_ld_u64(a->window.word + at);
        simt_st_u64(a->window.word + at, (uint64_t)sl_code(a, a->b.first + item) << 32 | item);
    }
}

/* The key at a position of the order; *item: counted from the window's first. */
SIMT_FN uint64_t sl_key_in_order(const sl_args *a, uint64_t at, uint32_t *item)
{
    uint64_t word = simt_ld_u64(a->window.word + at);
    *item = (uint32_t)word;
    if (a->v.words == 2) return sl_item_key(a, a->b.first + *item);
    return word >> 32 == SL_NO_CODE ? SL_NO_KEY : word >> 32;
}

/* ---- Heads ----------------------------------------------------------------------------------- */

/* The key at a position, if it is the head of its run and may insert or erase; else SL_NO_KEY. */
SIMT_FN uint64_t sl_head_key(const sl_args *a, uint64_t at)
{
    uint32_t item, before;
    uint64_t key = sl_key_in_order(a, at, &item);
    if (key == SL_NO_KEY || (at > 0 && sl_key_in_order(a, at - 1, &before) == key)) return SL_NO_KEY;
    return a->b.op == HD_OP_ERASE || sl_inserts(a, sl_flag_of(&a->b, a->b.first + item)) ? key : SL_NO_KEY;
}

/* What sl_room.mark has of a position, where such a key is at spot s. */
SIMT_FN uint32_t sl_mark_of(const sl_args *a, uint64_t key, const sl_spot *s)
{
    return key != SL_NO_KEY && s->there == (a->b.op == HD_OP_ERASE) ? s->index + 1 : 0;
}

SIMT_FN void sl_heads(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t n = a->b.last - a->b.first;
    for (uint32_t share = gpu_warp(); share < a->item_shares; share += gpu_warps()) {
        uint64_t end = gpu_share_begin(n, share + 1, a->item_shares);
        uint32_t marked = 0;
        for (uint64_t at = gpu_share_begin(n, share, a->item_shares); at < end; at += 32) {
            uint32_t mark = 0;
            if (at + w.rank < end) {
                uint64_t key = sl_head_key(a, at + w.rank);
                sl_spot s;
                s.there = false;
                s.index = 0;
                if (key != SL_NO_KEY) s = sl_search(a, key, false);
                mark = sl_mark_of(a, key, &s);
                simt_st_u32(a->window.mark + at + w.rank, mark);
            }
            simt_join();
            marked += simt_popc(simt_ballot(w, mark != 0));
        }
        sl_note(w, a->window.share + share, marked);
    }
}

SIMT_FN void sl_list_heads(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t n = a->b.last - a->b.first;
    for (uint32_t share = gpu_warp(); share < a->item_shares; share += gpu_warps()) {
        uint64_t end = gpu_share_begin(n, share + 1, a->item_shares);
        uint32_t listed = sl_share_before(w, a->window.share, share), all;
        for (uint64_t at = gpu_share_begin(n, share, a->item_shares); at < end; at += 32) {
            uint32_t mark = at + w.rank < end ? simt_ld_u32(a->window.mark + at + w.rank) : 0;
            uint32_t to = listed + sl_bits_before(w, mark != 0, &all), item;
            if (mark) {
                simt_st_u64(a->window.add_key + to, sl_key_in_order(a, at + w.rank, &item));
                simt_st_u32(a->window.add_from + to, (uint32_t)(at + w.rank));
                simt_st_u32(a->window.add_at + to, mark - 1);
            }
            simt_join();
            listed += all;
        }
        if (w.rank == 0 && share + 1 == a->item_shares) simt_st_u64(&a->numbers->adds, listed);
        simt_join();
    }
}

#endif

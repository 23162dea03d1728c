/* SPDX-License-Identifier: Apache-2.0
 *
 * heddle_view.h - reads a table in place, from code of the caller: C, C++, or device code in CUDA. With it a predicate
 * or a visitor can be a functor of a kernel. heddle_view.cuh has such kernels.
 *
 *     hd_view v;
 *     if (hd_view_open(table, stream, &v)) return puts(hd_why());
 *     my_kernel<<<blocks, threads, 0, stream>>>(v, ...);      // calls hd_view_row(&v, slot, &row) for some slots
 *     hd_view_close(table, stream);
 */
#ifndef HEDDLE_VIEW_H
#define HEDDLE_VIEW_H

#include "heddle.h"

#ifdef __CUDACC__
#define HD_VIEW_FN static inline __host__ __device__
#else
#define HD_VIEW_FN static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { HD_VIEW_SEGMENTS = 32 };

/* A table's memory as kernels reach it. Read it by the functions below; the fields are not part of the interface. */
typedef struct hd_view {
    uint64_t places; /* slots, numbered as in HD_OP_EXPORT */
    uint32_t slots, value_bytes;
    /* hkv: keys and scores `step` words apart; values near and far (hd_tiers) */
    const uint64_t *key, *score;
    const uint8_t *value, *far;
    uint64_t near, part, striped;
    uint32_t step;
    /* hive and ovs: words of so many bytes, each with a key and a value; 16: of each bucket the keys, then the values,
     * 8 bytes each; 0: hkv. Segment 0 has the base buckets, and
     * segment k those of the k-th doubling. The first near_buckets are in `segment`, the others in `far_segment` */
    uint32_t word_bytes;
    const uint8_t *segment[HD_VIEW_SEGMENTS], *far_segment[HD_VIEW_SEGMENTS], *stash;
    uint64_t base_buckets, buckets, near_buckets;
} hd_view;

/* An entry. `value` points to value_bytes bytes in the table. hive and ovs: score is 0. */
typedef struct hd_view_entry {
    uint64_t key, score;
    const void *value;
} hd_view_entry;

/* Begins to read the table. What the caller puts on `stream` before hd_view_close is in the order of the batches, as a
 * lookup is (hd_config.lock): batches that conflict with a lookup have run before, or run afterwards. On backends "ref"
 * and "host" the caller's own code reads the table. `stream` is as in hd_batch; it must not be in capture.
 * The view is valid until hd_view_close. The calling thread must close it, and call no other function of this table in
 * between; calls of other threads wait. HD_EINVAL: the design has no view. HD_ECUDA. After an error there is nothing to
 * close. */
HD_API hd_status hd_view_open(hd_table *table, void *stream, hd_view *view);
/* Ends it. HD_ECUDA: the device failed; the view is closed nevertheless. */
HD_API hd_status hd_view_close(hd_table *table, void *stream);

/* The high 64 bits of a product. */
HD_VIEW_FN uint64_t hd_view_high(uint64_t a, uint64_t b)
{
#ifdef __CUDA_ARCH__
    return __umul64hi(a, b);
#else
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b >> 64);
#endif
}

/* Where the value of a slot of hkv is (ref/hkv/layout.h). */
HD_VIEW_FN const uint8_t *hd_view_value(const hd_view *v, uint64_t slot)
{
    if (!v->far) return v->value + slot * v->value_bytes;
    uint64_t stripe = hd_view_high(slot, v->striped), i = slot - stripe * v->slots;
    uint64_t before = stripe * v->near + hd_view_high(stripe, v->part);
    uint64_t near = (stripe + 1) * v->near + hd_view_high(stripe + 1, v->part) - before;
    if (i < near) return v->value + (before + i) * v->value_bytes;
    return v->far + (slot - before - near) * v->value_bytes;
}

/* The word, or the key, of a slot of hive or ovs. */
HD_VIEW_FN const uint8_t *hd_view_word(const hd_view *v, uint64_t slot)
{
    uint64_t bucket = slot / v->slots, first = 0, end = v->base_buckets;
    uint32_t k = 0;
    for (; bucket < v->buckets && bucket >= end; k++) {
        first = end;
        end *= 2;
    }
    const uint8_t *words = v->segment[k];
    if (bucket >= v->buckets) {
        first = v->buckets;
        words = v->stash;
    } else if (bucket >= v->near_buckets) {
        first = first > v->near_buckets ? first : v->near_buckets;
        words = v->far_segment[k];
    }
    uint32_t step = v->word_bytes == 16 ? 8 : v->word_bytes;
    return words + (bucket - first) * v->slots * v->word_bytes + slot % v->slots * step;
}

/* The entry in a slot below v->places. False: the slot is empty, and *e is not set. */
HD_VIEW_FN bool hd_view_row(const hd_view *v, uint64_t slot, hd_view_entry *e)
{
    if (v->word_bytes) {
        const uint8_t *p = hd_view_word(v, slot);
        e->score = 0;
        if (v->word_bytes == 16) {
            e->key = *(const uint64_t *)(const void *)p;
            e->value = p + 8 * v->slots;
            return e->key < HD_KEY_RESERVED;
        }
        uint64_t word = v->word_bytes == 8 ? *(const uint64_t *)(const void *)p : *(const uint32_t *)(const void *)p;
        uint32_t bits = 4 * v->word_bytes;
        e->key = word >> bits;
        e->value = p; /* the low half, which comes first */
        return e->key < (1ull << bits) - 3;
    }
    e->key = v->key[slot * v->step];
    if (e->key >= HD_KEY_RESERVED) return false;
    e->score = v->score[slot * v->step];
    e->value = hd_view_value(v, slot);
    return true;
}

#ifdef __cplusplus
}
#endif
#endif

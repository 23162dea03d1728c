/* SPDX-License-Identifier: Apache-2.0
 *
 * pins.h - the keys that may not be changed: open addressing from hd_mix64(key), in places that never fill up.
 */
#ifndef HKV_PINS_H
#define HKV_PINS_H

#include "gpu/hkv/args.h"
#include "simt/simt.h"

/* The pin of a key, or NULL. The caller holds pin_lock, or knows that no item does. */
SIMT_FN hkv_pin *hkv_pin_at(const hkv_args *a, uint64_t key)
{
    uint32_t mask = a->v.pin_places - 1, i = (uint32_t)hd_mix64(key) & mask;
    if (a->v.pin_places == 0) return (hkv_pin *)0;
    for (;;) {
        uint64_t there = simt_ld_u64(&a->v.pin[i].key);
        if (there == key) return a->v.pin + i;
        if (there == HD_KEY_EMPTY) return (hkv_pin *)0; /* there always is one */
        i = (i + 1) & mask;
    }
}

SIMT_FN bool hkv_is_pinned(const hkv_args *a, uint64_t key) { return simt_ld_u32(a->pins) != 0 && hkv_pin_at(a, key); }

SIMT_FN void hkv_pin_put(const hkv_args *a, uint64_t key, uint64_t holder)
{
    uint32_t mask = a->v.pin_places - 1, i = (uint32_t)hd_mix64(key) & mask;
    while (simt_ld_u64(&a->v.pin[i].key) != HD_KEY_EMPTY) i = (i + 1) & mask;
    simt_st_u64(&a->v.pin[i].key, key);
    simt_st_u64(&a->v.pin[i].holder, holder);
}

/* No tombstones: the hole moves to the end of its run, over all that would still be found after the move. */
SIMT_FN void hkv_pin_take(const hkv_args *a, const hkv_pin *gone)
{
    hkv_pin *pin = a->v.pin;
    uint32_t mask = a->v.pin_places - 1, hole = (uint32_t)(gone - pin);
    for (uint32_t i = (hole + 1) & mask;; i = (i + 1) & mask) {
        uint64_t key = simt_ld_u64(&pin[i].key);
        if (key == HD_KEY_EMPTY) break;
        if (((i - (uint32_t)hd_mix64(key)) & mask) < ((i - hole) & mask)) continue;
        simt_st_u64(&pin[hole].key, key);
        simt_st_u64(&pin[hole].holder, simt_ld_u64(&pin[i].holder));
        hole = i;
    }
    simt_st_u64(&pin[hole].key, HD_KEY_EMPTY);
}

#endif

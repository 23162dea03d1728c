/* SPDX-License-Identifier: Apache-2.0
 *
 * device_soak.h - soaks of sl: segments of three sizes, keys of 32 and of 64 bits, with all of the table or a half of
 * it in device memory.
 */
#ifndef SOAK_SL_SOAK_H
#define SOAK_SL_SOAK_H

#include "judge/words/device_segments.h"

extern "C" const hd_variant *const sl_variants[]; /* gpu/sl/rows.h */

/* Entries move: each may be in any bucket. */
struct sl_where {
    typedef segments_shape shape;
    uint64_t capacity, slots_of_bucket;

    void open(const shape &, const hd_info &info) { look(info); }
    void look(const hd_info &info)
    {
        capacity = info.capacity;
        slots_of_bucket = info.slots;
    }
    BOTH uint32_t slots() const { return (uint32_t)slots_of_bucket; }
    BOTH bool may_be_in(uint64_t, uint64_t) const { return true; }
    /* doc/contract-sl.md, PENDING */
    BOTH bool may_lack_room(uint64_t entries, uint64_t n) const { return 4 * (entries + n) >= capacity; }
};

struct sl_soak : segments_soak<sl_soak> {
    typedef words_oracle<sl_where> oracle;

    static const char *name() { return "sl"; }
    static double load() { return 0.6; }
    static const hd_variant *const *registry() { return sl_variants; }
    static bool mixes(const char *) { return false; }
    static bool ordered() { return true; }
    static bool has(hd_op op) { return is_ordered(op) || (op != HD_OP_FIND_PTR && words_soak<sl_soak>::has(op)); }

    enum : uint64_t { KINDS = 12 };
    static shape shape_of(uint64_t kind)
    {
        static const uint32_t segment[] = { 64 << 10, 4 << 10, 256 };
        shape s;
        memset(&s, 0, sizeof s);
        s.slots = 16;
        s.segment = segment[kind % 3];
        s.value_bytes = kind / 3 % 2 ? 8 : 4;
        s.near_of_ten = kind / 6 ? 10 : 5;
        return s;
    }
    static shape usual_shape(const char *) { return shape_of(0); }
    static uint64_t room(const shape &s)
    {
        uint64_t entries = (s.stays ? 1 : 16) * s.buckets * s.slots,
                 segments = entries * entry_bytes(s) / s.segment + 1,
                 window = entries / 16 < 262144 ? 262144 : entries / 16;
        uint64_t bytes = entries * entry_bytes(s), stages = bytes / 16 + s.segment, lines = bytes / 64;
        return (4 << 20) + 64 * segments + 36 * window + stages + lines;
    }
};

#endif

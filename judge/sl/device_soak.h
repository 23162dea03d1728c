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

    /* Each goal with entries of one word, and of two. */
    enum : uint64_t { GOALS = 6 };
    static std::string goal_name(uint64_t goal)
    {
        return segments_soak<sl_soak>::goal_name(goal / 2) + (goal % 2 ? ", pairs" : ", words");
    }
    static shape draw_for(dice &d, const char *, uint64_t goal, uint64_t, bool, const limits &most)
    {
        shape s = shape_of(3 * (goal % 2));
        s.near_of_ten = goal / 2 == 0 ? 10 : 5;
        s = goal / 2 == 2 ? segments_draw<sl_soak>(d, s, 2, most) : segments_draw_full<sl_soak>(d, s, most);
        s.factor = 1; /* keys are their numbers: ordered operations are drawn */
        return s;
    }
    /* min and max, against what the oracle knows of every key. */
    template <class soak> void rested(soak &j, uint64_t n)
    {
        enum : uint64_t { TURNS = 1 << 16 };
        segments_soak<sl_soak>::rested(j, n);
        const auto w = j.o;
        uint64_t *const to = j.there, ends[2], key = 0, count = 0;
        j.at.fill(to, 0, sizeof ends);
        j.at.each(TURNS, [=] BOTH(uint64_t c) { w.on_ends(c, TURNS, to); });
        j.at.read(ends, to, sizeof ends);
        for (hd_op op : { HD_OP_MIN, HD_OP_MAX }) {
            hd_batch b = j.arrays;
            b.op = op;
            b.n = 0;
            MUST(hd_run(j.t, &b));
            j.at.read(&count, b.count, sizeof count);
            j.compare(count, n != 0, "min, max: entries");
            if (count) j.at.read(&key, b.key_out, sizeof key);
            if (count && n) j.compare(key, op == HD_OP_MIN ? ~ends[0] : ends[1] - 1, hd_op_name(op));
        }
    }
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

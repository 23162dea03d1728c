/* SPDX-License-Identifier: Apache-2.0
 *
 * device_soak.h - soaks of GPHash: values inline and in cells, three splits of a warp into levels, hashes and slots, in
 * tables that grow, or that stay at a load factor of 0.75. Small tables are sometimes far.
 */
#ifndef SOAK_GPHASH_SOAK_H
#define SOAK_GPHASH_SOAK_H

#include "base/variant.h"
#include "judge/words/device_soak.h"
#include "ref/gphash/layout.h"

extern "C" const hd_variant *const gphash_variants[];        /* gpu/gphash/rows.h  */
extern "C" gphash_view gphash_view_for(const hd_info *info); /* ref/gphash/gphash.h */

struct gphash_shape {
    uint32_t slots, value_bytes, levels, hashes;
    hd_layout layout;
    hd_index index;
    hd_cache cache;
    uint64_t buckets, keys, factor, seed, least, items; /* buckets: at the beginning. least, items: of a batch */
    bool stays;
};

/* Where entries may be, for the oracle of dictionaries. */
struct gphash_where {
    typedef gphash_shape shape;
    gphash_view v; /* the table's shape; its memory is not read */

    void open(const shape &, const hd_info &info) { look(info); }
    void look(const hd_info &info) { v = gphash_view_for(&info); }
    BOTH uint32_t slots() const { return v.slots; }
    BOTH bool may_be_in(uint64_t key, uint64_t bucket) const
    {
        uint64_t h = gphash_hash(&v, key);
        for (uint32_t lane = 0; lane < GPHASH_LANES; lane += v.slots)
            if (gphash_candidate(&v, h, lane) / v.slots == bucket) return true;
        return false;
    }
    /* All slots of a key may have been taken. */
    BOTH bool may_lack_room(uint64_t entries, uint64_t n) const { return entries + n >= GPHASH_LANES; }
};

struct gphash_soak : words_soak<gphash_soak> {
    typedef gphash_shape shape;
    typedef words_oracle<gphash_where> oracle;
    typedef judged<gphash_soak> soak;

    static const char *name() { return "gphash"; }
    static double load() { return 0.75; }
    static uint64_t key_limit(const shape &) { return HD_KEY_RESERVED; }
    static void config(const shape &s, hd_config *c)
    {
        c->gphash.levels = s.levels;
        c->gphash.hashes = s.hashes;
        c->gphash.index = s.index;
        c->gphash.cache = s.cache;
    }
    static std::vector<const char *> variants()
    {
        std::vector<const char *> all;
        for (const hd_variant *const *v = gphash_variants; *v; v++) all.push_back((*v)->name);
        return all;
    }

    enum : uint64_t { MOST_FIRST = 64, CHECKS_LARGE = 0, KINDS = 12, GOALS = 2, ROUNDS = 1 };
    static shape shape_of(uint64_t kind)
    {
        static const uint32_t levels[] = { 2, 4, 2 }, hashes[] = { 2, 4, 1 };
        shape s;
        memset(&s, 0, sizeof s);
        s.levels = levels[kind % 3];
        s.hashes = hashes[kind % 3];
        s.slots = GPHASH_LANES / (s.levels * s.hashes);
        s.value_bytes = kind / 3 % 2 ? 4 : 8;
        s.layout = kind / 6 % 2 ? HD_LAYOUT_CELLS : HD_LAYOUT_INLINE;
        return s;
    }
    static bool fits(const char *, uint64_t) { return true; }
    static bool offers(const shape &s, hd_op op)
    {
        return has(op) && (op != HD_OP_FIND_PTR || s.index != HD_INDEX_NEAR || s.layout == HD_LAYOUT_CELLS);
    }
    static hd_index index_of(const char *variant, bool far)
    {
        return strcmp(variant, "phase") == 0 ? HD_INDEX_NEAR : far ? HD_INDEX_FAR : HD_INDEX_DEVICE;
    }
    /* Of half of the tables that can have one. */
    static hd_cache draw_cache(dice &d, const shape &s)
    {
        const bool cells = s.layout == HD_LAYOUT_CELLS, far = s.index == HD_INDEX_FAR;
        if (s.index == HD_INDEX_DEVICE || d.one_in(2)) return HD_CACHE_NONE;
        return cells && (!far || d.one_in(2)) ? HD_CACHE_VALUES : far ? HD_CACHE_BUCKETS : HD_CACHE_NONE;
    }
    static void draw_names(dice &d, shape *s, uint64_t keys_most)
    {
        static const uint64_t factors[] = { 1, UINT64_MAX, 0 };
        words_draw_names(d, s, factors, 1ull << 32, keys_most);
    }
    /* size: 0: a table of the least size; 1: a small one; 2: up to a sixteenth of the largest, because it grows. */
    static shape draw(dice &d, const char *variant, uint64_t kind, int size, const limits &most)
    {
        shape s = shape_of(kind);
        s.index = index_of(variant, size < 2 && d.one_in(4));
        s.cache = draw_cache(d, s);
        if (size == 3) return draw_full(d, s, most);
        uint64_t all = most.slots / s.slots / 16 + 1, small = all < 512 ? all : 512;
        s.buckets = size == 0 ? 1 : size == 1 ? d.log_between(1, small) : d.log_between(small, all);
        words_draw_keys(d, &s);
        draw_names(d, &s, UINT64_MAX);
        words_set_items(&s, most);
        return s;
    }
    static shape draw_full(dice &d, shape s, const limits &most)
    {
        words_set_full_keys(&s, most);
        draw_names(d, &s, most.slots);
        words_set_full(&s, load(), most);
        return s;
    }
    /* Sometimes loads the cache, or doubles the table, up to eight times its first size. */
    template <class soak> void besides(soak &j)
    {
        hd_info info;
        if (j.s.cache && j.d.one_in(4)) {
            hd_batch b;
            memset(&b, 0, sizeof b);
            j.at.wait();
            MUST(hd_table_info(j.t, &info));
            b.op = HD_OP_PROMOTE;
            b.n = info.places;
            MUST(hd_run(j.t, &b));
        }
        if (j.s.stays || !j.d.one_in(24)) return;
        j.at.wait(); /* pointers of the last batch are still being judged */
        MUST(hd_table_info(j.t, &info));
        if (info.buckets >= 8 * info.base_buckets) return;
        MUST(hd_grow(j.t, info.buckets + 1));
        MUST(hd_table_info(j.t, &info));
        j.o.w.look(info);
        resizes++;
    }

    /* Goals are the layouts. */
    static bool fits_goal(const char *, uint64_t) { return true; }
    static std::string goal_name(uint64_t goal) { return goal ? "cells" : "inline"; }
    static shape draw_for(dice &d, const char *variant, uint64_t goal, uint64_t, bool, const limits &most)
    {
        shape s = shape_of(6 * goal);
        s.index = index_of(variant, false);
        s.cache = draw_cache(d, s);
        return draw_full(d, s, most);
    }

    static void heading()
    {
        printf("verdict\tvariant\tindex\tcache\tlayout\tlevels\thashes\tslots\tvalue_bytes\t%s\n", column_names());
    }
    void row(const soak &j, const char *verdict, const char *variant, unsigned long long wrong, double seconds) const
    {
        const shape &s = j.s;
        static const char *const index[] = { "usual", "device", "far", "near" };
        static const char *const cache[] = { "none", "buckets", "values" };
        printf("%s\t%s\t%s\t%s\t%s\t%u\t%u\t%u\t%u", verdict, variant, index[s.index], cache[s.cache],
               s.layout == HD_LAYOUT_CELLS ? "cells" : "inline", s.levels, s.hashes, s.slots, s.value_bytes);
        columns(j, wrong, seconds);
    }
};

#endif

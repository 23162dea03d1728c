/* SPDX-License-Identifier: Apache-2.0
 *
 * device_soak.h - soaks of Hive: every variant in every shape that it supports, in tables that grow and shrink between
 * batches, or that stay at a load factor of 0.95.
 */
#ifndef SOAK_HIVE_SOAK_H
#define SOAK_HIVE_SOAK_H

#include <string>
#include <vector>

#include "gpu/hive/rows.h"
#include "judge/hive/device_oracle.h"
#include "judge/words/device_soak.h"

struct hive_soak : words_soak<hive_soak> {
    typedef hive_shape shape;
    typedef hive_oracle oracle;
    typedef judged<hive_soak> soak;

    static const char *name() { return "hive"; }
    static double load() { return LOAD; }
    static uint64_t key_limit(const shape &s) { return (s.value_bytes == 2 ? 1ull << 16 : 1ull << 32) - HIVE_LEAVING; }
    static void config(const shape &s, hd_config *c)
    {
        c->hive.hashes = s.hashes;
        c->hive.spare = s.spare;
        MUST(hd_config_set(c, "hash", s.hash));
    }

    /* ---- What a soak goes over --------------------------------------------------------------- */

    static std::vector<const char *> variants()
    {
        std::vector<const char *> all;
        for (uint32_t row = 0; row < hive_row_count(); row++)
            if (hive_row(row)->family == GPU_ITEMS) all.push_back(hive_row_name(row));
        return all;
    }
    /* Whether the variant can run such a table. */
    static bool runs(const char *variant, const shape &s)
    {
        hd_info info;
        memset(&info, 0, sizeof info);
        info.slots = s.slots;
        info.hive.hashes = s.hashes;
        info.hive.spare = s.spare;
        info.value_bytes = s.value_bytes;
        info.layout = s.layout;
        snprintf(info.hive.hash, sizeof info.hive.hash, "%s", s.hash);
        for (uint32_t row = 0; row < hive_row_count(); row++)
            if (hive_row(row)->family == GPU_ITEMS && strcmp(hive_row_name(row), variant) == 0)
                return !hive_row(row)->fits(&info);
        return true;
    }
    /* in an overfull table most items are PENDING, after they searched all of their buckets */
    enum : uint64_t { MOST_FIRST = 64, CHECKS_LARGE = 1 };
    enum : uint64_t { KINDS = HIVE_SHAPES, GOALS = 2, ROUNDS = 1 };
    static bool fits(const char *variant, uint64_t kind) { return runs(variant, hive_shape_of(kind)); }
    static shape draw(dice &d, const char *variant, uint64_t kind, int size, const limits &most)
    {
        shape s = size == 3 ? hive_draw_full(d, hive_shape_of(kind), most) : hive_draw_shape(d, kind, size, most);
        if (!runs(variant, s)) s.hash = HD_HASH_USUAL, s.spare = hive_shape_of(kind).spare;
        return s;
    }
    /* Goals are the layouts, with words of 64 bits and two hashes. Buckets have the usual size, or the smallest that
     * the variant supports. */
    static shape goal_shape(const char *variant, uint64_t goal)
    {
        static const uint64_t by_slots[] = { 1, 2, 0 }; /* 16, 32, 8 */
        for (uint64_t kind : by_slots)
            if (fits(variant, kind + 12 * goal)) return hive_shape_of(kind + 12 * goal);
        return hive_shape_of(1);
    }
    static bool fits_goal(const char *variant, uint64_t goal)
    {
        return runs(variant, goal_shape(variant, goal)) &&
               (goal == 1) == (goal_shape(variant, goal).layout == HD_LAYOUT_MASKS);
    }
    static std::string goal_name(uint64_t goal) { return goal ? "masks" : "words"; }
    static shape draw_for(dice &d, const char *variant, uint64_t goal, uint64_t, bool, const limits &most)
    {
        return hive_draw_full(d, goal_shape(variant, goal), most);
    }

    static void heading()
    {
        printf("verdict\tvariant\tlayout\tslots\thashes\tspare\thash\tvalue_bytes\t%s\n", column_names());
    }
    void row(const soak &j, const char *verdict, const char *variant, unsigned long long wrong, double seconds) const
    {
        const shape &s = j.s;
        printf("%s\t%s\t%s\t%u\t%u\t%u\t%s\t%u", verdict, variant, s.layout == HD_LAYOUT_MASKS ? "masks" : "words",
               s.slots, s.hashes, s.spare, s.hash, s.value_bytes);
        columns(j, wrong, seconds);
    }
};

#endif

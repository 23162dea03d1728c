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
#include "judge/device/judged.h"

struct hive_soak {
    typedef hive_shape shape;
    typedef hive_oracle oracle;
    typedef judged<hive_soak> soak;
    uint64_t entries = 0, resizes = 0;
    double least = 1, most = 0; /* load factors */

    static const char *name() { return "hive"; }
    static uint64_t key_limit(const shape &s) { return (s.value_bytes == 2 ? 1ull << 16 : 1ull << 32) - HIVE_LEAVING; }
    static void config(const shape &s, hd_config *c)
    {
        c->hive.hashes = s.hashes;
        c->hive.spare = s.spare;
        MUST(hd_config_set(c, "hash", s.hash));
    }
    static bool has(hd_op op)
    {
        switch ((int)op) {
        case HD_OP_TOUCH:
        case HD_OP_ASSIGN_SCORES:
        case HD_OP_INSERT_AND_EVICT:
        case HD_OP_FIND_OR_INSERT_PTR:
        case HD_OP_LOCK_KEYS:
        case HD_OP_UNLOCK_KEYS:
        case HD_OP_CLEAR:
        case HD_OP_PROMOTE: return false;
        default: return true;
        }
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
    enum : uint64_t { MOST_FIRST = 64 };
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

    /* ---- A table ----------------------------------------------------------------------------- */

    static double capacity(const soak &j)
    {
        hd_info info;
        MUST(hd_table_info(j.t, &info));
        return (double)info.capacity;
    }
    void look(soak &j)
    {
        j.at.read(&entries, j.o.entries, sizeof entries);
        double load = (double)entries / capacity(j);
        least = load < least ? load : least;
        most = load > most ? load : most;
    }

    /* For a table that stays at LOAD: sets the weight of erase that keeps it there; returns how many entries it
     * lacks. */
    double balance(soak &j, uint64_t n, double weight[shares::OPS])
    {
        look(j);
        double there = (double)entries / (double)j.s.keys, wanted = LOAD * capacity(j) - (double)entries,
               net = wanted / (double)n;
        net = net > 0.02 ? 0.02 : net < -0.02 ? -0.02 : net;
        weight[7] = erases_for(weight, false, there, net);
        return wanted;
    }

    /* One of eight turns: most batches are mixed where the table stays as full as it is. */
    static int op_at_turn(dice &d, uint64_t turn, bool stays, bool sums)
    {
        static const hd_op reads[] = { HD_OP_FIND,        HD_OP_FIND,   HD_OP_CONTAINS,     HD_OP_FIND_PTR,
                                       HD_OP_FIND_MISSED, HD_OP_ASSIGN, HD_OP_ASSIGN_VALUES };
        static const hd_op brings[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND_OR_INSERT,
                                        HD_OP_ACCUM_OR_ASSIGN };
        if (turn < (stays ? 5 : 3)) return MIXED;
        if (turn < (stays ? 7 : 5)) return d.of(reads);
        if (turn == 5) return HD_OP_ERASE;
        hd_op op = d.of(brings);
        return op == HD_OP_ACCUM_OR_ASSIGN && !sums ? HD_OP_INSERT_OR_ASSIGN : op;
    }

    int draw_op(soak &j, uint64_t *n)
    {
        double weight[shares::OPS], wanted = 0;
        bool sums = j.o.names.grain > 1;
        uint64_t turn = j.d.below(8);
        draw_weights(j.d, sums, weight);
        if (j.s.stays) wanted = balance(j, *n, weight);
        uint64_t few = (uint64_t)(wanted < 0 ? -wanted : wanted) + 1;
        if (j.s.stays && turn == 7 && *n > few) *n = few;
        if (turn == 7 && wanted < 0) return HD_OP_ERASE;
        j.o.mix = shares_of(weight);
        return op_at_turn(j.d, turn, j.s.stays, sums);
    }
    /* Sometimes resizes the table by any number of buckets, up to eight times its first size. */
    void besides(soak &j)
    {
        hd_info info;
        if (j.s.stays || !j.d.one_in(12)) return;
        j.at.wait(); /* pointers of the last batch are still being judged */
        MUST(hd_table_info(j.t, &info));
        uint64_t some = 1 + j.d.below(info.buckets), most_of_all = 8 * j.s.buckets;
        bool shrinks = info.buckets >= most_of_all || j.d.one_in(2);
        if (shrinks)
            MUST(hd_shrink(j.t, info.buckets > info.base_buckets + some ? info.buckets - some : info.base_buckets));
        else
            MUST(hd_grow(j.t, info.buckets + some));
        MUST(hd_table_info(j.t, &info));
        j.o.look(info);
        resizes++;
    }
    void rested(soak &j, uint64_t n)
    {
        hive_oracle w = j.o;
        j.at.each(1, [=] BOTH(uint64_t) { *w.entries = n; });
        look(j);
    }
    void fill_up(soak &j, double end)
    {
        keys_of k = { EVERYWHERE, 0, 0, 0, 1, false };
        for (look(j); j.s.stays && seconds_now() < end; look(j)) {
            double wanted = LOAD * capacity(j) - (double)entries, there = (double)entries / (double)j.s.keys;
            uint64_t n = wanted < 1 ? 0 : (uint64_t)(wanted / (1 - there)) + 1;
            if (n == 0) break;
            k.salt = j.d.draw();
            j.put(HD_OP_INSERT_OR_ASSIGN, n < j.s.items ? n : j.s.items, k);
        }
        j.rest();
        least = 1, most = 0;
    }

    static void heading()
    {
        printf("verdict\tvariant\tlayout\tslots\thashes\tspare\thash\tvalue_bytes\tbuckets\tbuckets_then\tkeys\tload_"
               "least\tload_most\toperations\tby_variant\tmixed\tdistinct\tresizes\tpending\tchecks\tbatches\t"
               "wrong\tseconds\n");
    }
    void row(const soak &j, const char *verdict, const char *variant, unsigned long long wrong, double seconds) const
    {
        const shape &s = j.s;
        uint64_t fates[HD_OUTCOME_COUNT];
        hd_info info;
        MUST(hd_table_info(j.t, &info));
        j.at.read(fates, j.o.fates, sizeof fates);
        const uint64_t counts[] = {
            j.items, j.own, j.mixed, j.distinct, resizes, fates[HD_PENDING], j.checks, j.batches
        };
        printf("%s\t%s\t%s\t%u\t%u\t%u\t%s\t%u\t%llu\t%llu\t%llu\t%.4f\t%.4f", verdict, variant,
               s.layout == HD_LAYOUT_MASKS ? "masks" : "words", s.slots, s.hashes, s.spare, s.hash, s.value_bytes,
               (unsigned long long)s.buckets, (unsigned long long)info.buckets, (unsigned long long)s.keys, least,
               most);
        for (uint64_t n : counts) printf("\t%llu", (unsigned long long)n);
        printf("\t%llu\t%.1f\n", wrong, seconds);
    }
};

#endif

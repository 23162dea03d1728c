/* SPDX-License-Identifier: Apache-2.0
 *
 * device_soak.h - what the soaks of dictionaries share: which operations come next, tables that stay at a load factor,
 * and tables that grow and shrink between batches. A design derives from it (judged.h), and has
 *
 *   load     the load factor at which such a table stays
 *   mixes    whether a variant runs mixed batches. Otherwise the operation of a whole batch is drawn by the weights
 *            of a mixed one
 *   ordered  whether there are predecessor, successor and range
 *   limits_change  whether the limit of device memory can change; draw_limit draws one
 */
#ifndef SOAK_WORDS_SOAK_H
#define SOAK_WORDS_SOAK_H

#include <string>
#include <vector>

#include "judge/device/judged.h"
#include "judge/words/device_oracle.h"

template <class own> struct words_soak {
    uint64_t entries = 0, resizes = 0;
    double least = 1, most = 0; /* load factors */

    /* Whether a table of that shape offers the operation. */
    template <class shape> static bool offers(const shape &, hd_op op) { return own::has(op); }
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
        case HD_OP_PROMOTE:
        case HD_OP_PREDECESSOR:
        case HD_OP_SUCCESSOR:
        case HD_OP_RANGE:
        case HD_OP_MIN:
        case HD_OP_MAX: return false;
        default: return true;
        }
    }

    static bool mixes(const char *) { return true; }
    static bool ordered() { return false; }
    static bool limits_change() { return false; }
    template <class soak> static uint64_t draw_limit(soak &, const hd_info &) { return 0; }

    /* ---- A table ----------------------------------------------------------------------------- */

    template <class soak> static double capacity(const soak &j)
    {
        hd_info info;
        MUST(hd_table_info(j.t, &info));
        return (double)info.capacity;
    }
    template <class soak> void look(soak &j)
    {
        j.at.read(&entries, j.o.entries, sizeof entries);
        double load = (double)entries / capacity(j);
        least = load < least ? load : least;
        most = load > most ? load : most;
    }

    /* For a table that stays at own::load(): sets the weight of erase that keeps it there; returns how many entries it
     * lacks. */
    template <class soak> double balance(soak &j, uint64_t n, double weight[shares::OPS])
    {
        look(j);
        double there = (double)entries / (double)j.s.keys, wanted = own::load() * capacity(j) - (double)entries,
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

    template <class soak> int draw_op(soak &j, uint64_t *n)
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
        return offered(j, op_at_turn(j.d, turn, j.s.stays, sums));
    }
    /* The operation, or one that the design has in its place. */
    template <class soak> static int offered(soak &j, int op)
    {
        if (op == MIXED && !j.mixes) op = j.o.mix.op_of(j.d.draw());
        if (own::ordered() && j.s.factor == 1 && among(LOOKUPS, (uint32_t)op) && j.d.one_in(2)) op = ordered_op(j.d);
        return op == MIXED || own::offers(j.s, (hd_op)op) ? op : HD_OP_FIND;
    }
    static hd_op ordered_op(dice &d)
    {
        static const hd_op all[] = { HD_OP_PREDECESSOR, HD_OP_SUCCESSOR, HD_OP_RANGE };
        return d.of(all);
    }
    /* Sometimes resizes the table by any number of buckets, up to eight times its first size, or changes the limit of
     * its device memory. */
    template <class soak> void besides(soak &j)
    {
        hd_info info;
        if (j.s.stays || !j.d.one_in(12)) return;
        j.at.wait(); /* pointers of the last batch are still being judged */
        MUST(hd_table_info(j.t, &info));
        if (own::limits_change() && j.d.one_in(3)) {
            MUST(hd_set_near(j.t, own::draw_limit(j, info)));
            return;
        }
        uint64_t some = 1 + j.d.below(info.buckets), most_of_all = 8 * j.s.buckets;
        bool shrinks = info.buckets >= most_of_all || j.d.one_in(2);
        if (shrinks)
            MUST(hd_shrink(j.t, info.buckets > info.base_buckets + some ? info.buckets - some : info.base_buckets));
        else
            MUST(hd_grow(j.t, info.buckets + some));
        MUST(hd_table_info(j.t, &info));
        j.o.w.look(info);
        resizes++;
    }
    template <class soak> void rested(soak &j, uint64_t n)
    {
        uint64_t *to = j.o.entries;
        j.at.each(1, [=] BOTH(uint64_t) { *to = n; });
        look(j);
    }
    /* Until the table has its load, or takes no more keys. */
    template <class soak> void fill_up(soak &j, double end)
    {
        keys_of k = { EVERYWHERE, 0, 0, 0, 1, false };
        uint64_t before = UINT64_MAX;
        for (look(j); j.s.stays && entries != before && seconds_now() < end; look(j)) {
            before = entries;
            double wanted = own::load() * capacity(j) - (double)entries, there = (double)entries / (double)j.s.keys;
            uint64_t n = wanted < 1 ? 0 : (uint64_t)(wanted / (1 - there)) + 1;
            if (n == 0) break;
            k.salt = j.d.draw();
            j.put(HD_OP_INSERT_OR_ASSIGN, n < j.s.items ? n : j.s.items, k);
        }
        j.rest();
        least = 1, most = 0;
    }

    /* The columns of a row that follow those of the shape. */
    static const char *column_names()
    {
        return "buckets\tbuckets_then\tkeys\tload_least\tload_most\toperations\tby_variant\tmixed\tdistinct\tresizes\t"
               "pending\tchecks\tbatches\twrong\tseconds";
    }
    template <class soak> void columns(const soak &j, unsigned long long wrong, double seconds) const
    {
        uint64_t fates[HD_OUTCOME_COUNT];
        hd_info info;
        MUST(hd_table_info(j.t, &info));
        j.at.read(fates, j.o.fates, sizeof fates);
        const uint64_t sizes[] = { j.s.buckets, info.buckets, j.s.keys }, counts[] = {
            j.items, j.own, j.mixed, j.distinct, resizes, fates[HD_PENDING], j.checks, j.batches
        };
        for (uint64_t n : sizes) printf("\t%llu", (unsigned long long)n);
        printf("\t%.4f\t%.4f", least, most);
        for (uint64_t n : counts) printf("\t%llu", (unsigned long long)n);
        printf("\t%llu\t%.1f\n", wrong, seconds);
    }
};

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * device_soak.h - soaks of HKV: every variant under every policy, with one candidate bucket per key and with two.
 */
#ifndef SOAK_HKV_SOAK_H
#define SOAK_HKV_SOAK_H

#include <string>
#include <vector>

#include "gpu/hkv/rows.h"
#include "judge/hkv/device_oracle.h"
#include "judge/device/judged.h"

struct hkv_soak {
    typedef hkv_shape shape;
    typedef hkv_oracle oracle;
    typedef judged<hkv_soak> soak;

    static const char *name() { return "hkv"; }
    static uint64_t key_limit(const shape &) { return HD_KEY_RESERVED; }
    static void config(const shape &s, hd_config *c)
    {
        c->policy = s.policy;
        c->hkv.dual = s.dual;
        c->hkv.admit = s.admit;
        c->epoch = 3;
    }
    static bool has(hd_op op)
    {
        return op != HD_OP_CLEAR && op != HD_OP_PROMOTE && op != HD_OP_LOCK_KEYS && op != HD_OP_UNLOCK_KEYS;
    }
    static bool mixes(const char *) { return false; }
    static bool ordered() { return false; }

    /* ---- What a soak goes over --------------------------------------------------------------- */

    static std::vector<const char *> variants()
    {
        std::vector<const char *> all;
        for (uint32_t row = 0; row < hkv_row_count(); row++)
            if (hkv_is_first(row)) all.push_back(hkv_row_name(row));
        return all;
    }
    enum : uint64_t { MOST_FIRST = 4096, CHECKS_LARGE = 1 };
    /* KINDS: of tables; GOALS: each variant runs so many operations under each; ROUNDS: when all goals need them */
    enum : uint64_t { KINDS = 2 * HD_POLICY_COUNT, GOALS = HD_POLICY_COUNT, ROUNDS = 10 };
    static bool fits(const char *, uint64_t) { return true; }
    static shape draw(dice &d, const char *variant, uint64_t kind, int size, const limits &most)
    {
        return hkv_draw_shape(d, variant, hd_policy_rows[kind % HD_POLICY_COUNT].name, kind / HD_POLICY_COUNT, size,
                              most);
    }
    static bool fits_goal(const char *, uint64_t) { return true; }
    static std::string goal_name(uint64_t goal) { return hd_policy_rows[goal].name; }
    /* First a table of one or two buckets, then a small one, then large ones with narrow values, which are fast, but
     * for every fourth. Modes alternate. */
    static shape draw_for(dice &d, const char *variant, uint64_t goal, uint64_t round, bool other, limits most)
    {
        if (round % 4 != 3) most.value_bytes = 24;
        return hkv_draw_shape(d, variant, hd_policy_rows[goal].name, other,
                              round < 2        ? (int)round
                              : round % 8 == 7 ? 3
                                               : 2,
                              most);
    }

    /* ---- A table ----------------------------------------------------------------------------- */

    int draw_op(soak &j, uint64_t *) { return hkv_draw_op(j.d, j.o.names.grain); }
    void besides(soak &j)
    {
        if (j.d.one_in(64)) MUST(hd_epoch_set(j.t, (uint32_t)j.d.below(10)));
    }
    void rested(soak &, uint64_t) {}
    /* Fills large tables, which batches of all kinds would not do in time. */
    void fill_up(soak &j, double end)
    {
        keys_of k = { EVERYWHERE, 0, 0, 0, 1, false };
        while (j.items < 2 * j.s.buckets * j.s.slots && seconds_now() < end) {
            k.salt = j.d.draw();
            j.put(HD_OP_INSERT_OR_ASSIGN, j.s.items, k);
            j.at.wait();
        }
    }

    static void heading()
    {
        printf("verdict\tvariant\tpolicy\tmode\tbuckets\tslots\tvalue_bytes\tlayout\tadmit\tkeys\toperations\tby_"
               "variant\tbatches\twrong\tseconds\n");
    }
    void row(const soak &j, const char *verdict, const char *variant, unsigned long long wrong, double seconds) const
    {
        const shape &s = j.s;
        printf("%s\t%s\t%s\t%s\t%llu\t%u\t%u\t%s\t%s\t%llu\t%llu\t%llu\t%llu\t%llu\t%.1f\n", verdict, variant, s.policy,
               s.dual ? "dual" : "single", (unsigned long long)s.buckets, s.slots, s.value_bytes,
               s.layout == HD_LAYOUT_PAIRS ? "pairs" : "planes", s.admit == HD_ADMIT_ALWAYS ? "always" : "score",
               (unsigned long long)s.keys, (unsigned long long)j.items, (unsigned long long)j.own,
               (unsigned long long)j.batches, wrong, seconds);
    }
};

#endif

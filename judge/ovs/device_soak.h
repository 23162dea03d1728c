/* SPDX-License-Identifier: Apache-2.0
 *
 * device_soak.h - soaks of ovs: every variant, segments of three sizes, with all of the table, a half or a tenth of it
 * in device memory, with and without digests, by hashes and by ranges of keys; and flip, sorted and wide with pairs.
 */
#ifndef SOAK_OVS_SOAK_H
#define SOAK_OVS_SOAK_H

#include "judge/words/device_segments.h"
#include "ref/ovs/layout.h"

extern "C" const hd_variant *const ovs_variants[]; /* gpu/ovs/rows.h */

/* Where entries may be, for the oracle of dictionaries. */
struct ovs_where {
    typedef segments_shape shape;
    ovs_view v; /* the table's shape; its memory is not read */

    void open(const shape &s, const hd_info &info)
    {
        memset(&v, 0, sizeof v);
        v.seed = s.seed;
        v.ranges = s.ranges;
        v.pairs = s.value_bytes == 8;
        while (s.segment >> v.line_bits > OVS_LINE) v.line_bits++;
        look(info);
    }
    void look(const hd_info &info)
    {
        uint64_t segments = info.buckets >> v.line_bits;
        v.base = info.base_buckets >> v.line_bits;
        v.level = word_level(v.base, segments);
        v.split = segments - (v.base << v.level);
    }
    BOTH uint32_t slots() const { return ovs_slots(&v); }
    BOTH bool may_be_in(uint64_t key, uint64_t bucket) const
    {
        uint64_t h = ovs_hash(&v, key);
        bool in_segment = v.ranges || ovs_segment_of(&v, h) == bucket >> v.line_bits; /* hd_check knows the directory */
        return in_segment && ovs_step_of(&v, h, bucket & (ovs_lines(&v) - 1)) < ovs_way(&v);
    }
    /* All slots of a way may have been taken. Ways of 64 buckets are not full in a table that is half empty, though a
     * segment that is not split yet has twice the load of others. With ranges all keys may be in one segment. */
    BOTH bool may_lack_room(uint64_t entries, uint64_t n) const
    {
        bool long_way = ovs_way(&v) == OVS_WAY && !v.ranges;
        return entries + n >= (long_way ? ovs_places(&v) / 5 * 2 : (uint64_t)ovs_way(&v) * ovs_slots(&v));
    }
};

struct ovs_soak : segments_soak<ovs_soak> {
    typedef words_oracle<ovs_where> oracle;

    static const char *name() { return "ovs"; }
    static double load() { return 0.85; }
    static const hd_variant *const *registry() { return ovs_variants; }
    static bool mixes(const char *variant) { return hd_variant_named(ovs_variants, variant)->ran_mixed; }

    enum : uint64_t { PAIRS = 18, RANGES = PAIRS + 9, KINDS = RANGES + 9 }; /* the first kinds of them */
    static bool is_pairs(uint64_t kind) { return kind >= PAIRS && kind < RANGES; }
    static bool fits(const char *variant, uint64_t kind)
    {
        bool wide = strcmp(variant, "wide") == 0, both = !strcmp(variant, "sorted") || !strcmp(variant, "flip");
        return is_pairs(kind) ? wide || both : !wide;
    }
    static bool offers(const shape &s, hd_op op) { return has(op) && !(s.copies && op == HD_OP_FIND_PTR); }
    static shape shape_of(uint64_t kind)
    {
        static const uint32_t segment[] = { 64 << 10, 1 << 10, OVS_LINE }, tenths[] = { 5, 1, 10 };
        shape s;
        memset(&s, 0, sizeof s);
        s.slots = is_pairs(kind) ? OVS_PAIRS : OVS_SLOTS;
        s.value_bytes = is_pairs(kind) ? 8 : 4;
        s.segment = segment[kind % 3];
        s.near_of_ten = tenths[kind / 3 % 3];
        s.guided = kind < PAIRS ? kind >= 9 : kind >= RANGES && kind % 2;
        s.ranges = kind >= RANGES;
        s.copies = is_pairs(kind) || kind % 4 ? 0 : 64 << 10;
        return s;
    }
    static shape usual_shape(const char *variant) { return shape_of(fits(variant, 0) ? 0 : (uint64_t)PAIRS); }
    static uint64_t room(const shape &s)
    {
        uint64_t digests = s.buckets * OVS_SLOTS * OVS_DIGEST;
        return (2 << 20) + (s.guided ? digests + s.segment : 0) + s.copies;
    }
    static void config(const shape &s, hd_config *c)
    {
        segments_soak<ovs_soak>::config(s, c);
        if (s.guided) MUST(hd_config_set(c, "guide", "digest"));
        if (s.ranges) MUST(hd_config_set(c, "partition", "range"));
        c->ovs.copy_bytes = s.copies;
    }
};

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * device_segments.h - random shapes of tables in segments, with a part of the table in host memory, and what their
 * soaks share: the bytes of device memory that a table may take are drawn with it.
 */
#ifndef SOAK_WORDS_SEGMENTS_H
#define SOAK_WORDS_SEGMENTS_H

#include "base/variant.h"
#include "judge/words/device_soak.h"

struct segments_shape {
    uint32_t slots, value_bytes, segment, near_of_ten; /* tenths of the table in device memory; 10: no limit */
    hd_layout layout;
    uint64_t buckets, keys, factor, seed, least, items; /* buckets: at the beginning. least, items: of a batch */
    uint64_t near;                                      /* bytes; 0: no limit */
    bool stays;
    bool guided, ranges; /* ovs: segments have digests; they have ranges of keys */
    uint64_t copies;     /* ovs: bytes of copies of entries */
};

static inline uint64_t entry_bytes(const segments_shape &s) { return s.value_bytes == 8 ? 16 : 8; }

/* state has room(s): the device memory that a table of this shape needs in any case, grown to eight times its size. */
template <class own> static inline void segments_set_near(segments_shape *s)
{
    uint64_t bytes = s->buckets * s->slots * entry_bytes(*s);
    s->near = s->near_of_ten == 10 ? 0 : own::room(*s) + bytes / 10 * s->near_of_ten;
}

/* Every other table has keys that are their numbers: ordered operations need them. */
static inline void segments_draw_names(dice &d, segments_shape *s, uint64_t keys_most)
{
    static const uint64_t factors[] = { 1, 1, UINT64_MAX, 0 };
    words_draw_names(d, s, factors, 1ull << 32, keys_most);
}

/* size: 0: one or two segments; 1: a small table; 2: up to a sixteenth of the largest, because it
 * grows. */
template <class own> static inline segments_shape segments_draw(dice &d, segments_shape s, int size, const limits &most)
{
    uint64_t each = s.segment / entry_bytes(s) / s.slots, all = most.slots / s.slots / each / 16 + 1,
             small = all < 16 ? all : 16;
    uint64_t segments = size == 0 ? 1 + d.below(2) : size == 1 ? d.log_between(1, small) : d.log_between(small, all);
    s.buckets = segments * each;
    words_draw_keys(d, &s);
    segments_draw_names(d, &s, UINT64_MAX);
    words_set_items(&s, most);
    segments_set_near<own>(&s);
    return s;
}

/* A table of constant load: three quarters of its keys are present, own::load() of its slots are in use. */
template <class own> static inline segments_shape segments_draw_full(dice &d, segments_shape s, const limits &most)
{
    words_set_full_keys(&s, most);
    segments_draw_names(d, &s, most.slots);
    words_set_full(&s, own::load(), most);
    segments_set_near<own>(&s);
    return s;
}

template <class own> struct segments_soak : words_soak<own> {
    typedef segments_shape shape;

    static uint64_t key_limit(const shape &s) { return s.value_bytes == 8 ? HD_KEY_RESERVED : (1ull << 32) - 3; }
    static void config(const shape &s, hd_config *c)
    {
        char text[32];
        snprintf(text, sizeof text, "%u", s.segment);
        MUST(hd_config_set(c, "segment", text));
        snprintf(text, sizeof text, "%llu", (unsigned long long)s.near);
        MUST(hd_config_set(c, "near", text));
    }
    /* None, or from no share of the table in device memory to all of it. */
    static bool limits_change() { return true; }
    template <class soak> static uint64_t draw_limit(soak &j, const hd_info &info)
    {
        return j.d.one_in(4) ? 0 : own::room(j.s) + info.capacity * entry_bytes(j.s) / 10 * j.d.below(11);
    }
    static std::vector<const char *> variants()
    {
        std::vector<const char *> all;
        for (const hd_variant *const *v = own::registry(); *v; v++) all.push_back((*v)->name);
        return all;
    }

    /* in an overfull table most items are PENDING, after they searched all of their buckets */
    enum : uint64_t { MOST_FIRST = 64, CHECKS_LARGE = 1, GOALS = 3, ROUNDS = 1 };
    static bool fits(const char *, uint64_t) { return true; }
    static shape draw(dice &d, const char *, uint64_t kind, int size, const limits &most)
    {
        return size == 3 ? segments_draw_full<own>(d, own::shape_of(kind), most)
                         : segments_draw<own>(d, own::shape_of(kind), size, most);
    }
    /* Goals: all near, half near, and half near in a table that grows and shrinks. */
    static bool fits_goal(const char *, uint64_t) { return true; }
    static std::string goal_name(uint64_t goal) { return goal == 0 ? "near" : goal == 1 ? "half near" : "growth"; }
    static shape draw_for(dice &d, const char *variant, uint64_t goal, uint64_t, bool, const limits &most)
    {
        shape s = own::usual_shape(variant);
        s.near_of_ten = goal == 0 ? 10 : 5;
        return goal == 2 ? segments_draw<own>(d, s, 2, most) : segments_draw_full<own>(d, s, most);
    }

    static void heading()
    {
        printf("verdict\tvariant\tguide\tsegment\tvalue_bytes\tnear\tnear_bytes\tfar_bytes\t%s\n",
               words_soak<own>::column_names());
    }
    template <class soak>
    void row(const soak &j, const char *verdict, const char *variant, unsigned long long wrong, double seconds) const
    {
        const shape &s = j.s;
        hd_info info;
        MUST(hd_table_info(j.t, &info));
        const uint64_t shape_of_it[] = { s.segment, s.value_bytes, s.near, info.values_device_bytes,
                                         info.values_host_bytes };
        printf("%s\t%s\t%s%s", verdict, variant, s.guided ? "digest" : "none", s.copies ? "+copies" : "");
        for (uint64_t n : shape_of_it) printf("\t%llu", (unsigned long long)n);
        this->columns(j, wrong, seconds);
    }
};

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * device_oracle.h - where entries of Hive may be, for the oracle of dictionaries (judge/words/device_oracle.h).
 */
#ifndef SOAK_HIVE_ORACLE_H
#define SOAK_HIVE_ORACLE_H

#include "judge/hive/device_draw.h"
#include "judge/words/device_oracle.h"
#include "ref/hive/layout.h"

extern "C" hd_status hive_functions_of(const char *names, uint32_t hashes, uint32_t *functions); /* ref/hive/hive.h */

struct hive_where {
    typedef hive_shape shape;
    hive_view v; /* the table's shape; its memory is not read */

    void open(const shape &s, const hd_info &info)
    {
        memset(&v, 0, sizeof v);
        v.seed = s.seed;
        v.hashes = info.hive.hashes;
        v.slots = info.slots;
        MUST(hive_functions_of(info.hive.hash, info.hive.hashes, &v.functions));
        look(info);
    }
    void look(const hd_info &info)
    {
        v.base = info.base_buckets;
        v.level = word_level(v.base, info.buckets);
        v.split = info.buckets - (v.base << v.level);
        v.stash_buckets = info.stash_buckets;
    }
    BOTH uint32_t slots() const { return v.slots; }
    BOTH bool may_be_in(uint64_t key, uint64_t bucket) const
    {
        uint64_t h = hive_hash(&v, key), buckets = hive_buckets(&v);
        for (uint32_t i = 0; i < v.hashes; i++)
            if (hive_candidate(&v, h, i) == bucket) return true;
        return bucket >= buckets && bucket < buckets + v.stash_buckets;
    }
    /* The stash may have been full. */
    BOTH bool may_lack_room(uint64_t entries, uint64_t n) const
    {
        return entries + n >= hive_stash_limit(&v) + v.slots;
    }
};

typedef words_oracle<hive_where> hive_oracle;

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * judged.h - a table under random batches of all operations, judged by the oracle: a turn of a soak.
 */
#ifndef SOAK_JUDGED_H
#define SOAK_JUDGED_H

#include <chrono>

#include "gpu/soak/draw.h"

static inline double seconds_now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct judged {
    const place &at;
    dice &d;
    shape s;
    oracle o;
    hd_table *t = nullptr;
    hd_batch arrays;   /* all of them, for s.items items */
    uint64_t *there;   /* (2): oracle.on_key */
    const char *kernel[HD_OP_COUNT_];
    uint64_t items = 0, own = 0, batches = 0; /* own: by the variant itself */
    uint64_t most = 4096; /* items of a batch: where many wait for few locks, a batch of all sizes would take minutes */

    judged(const place &at_, dice &d_, const shape &s_, const char *variant) : at(at_), d(d_), s(s_), o(naming(s_.keys, s_.factor, s_.value_bytes))
    {
        open_table(variant);
        open_oracle();
        open_arrays();
        at.wait();
    }
    judged(const judged &) = delete;
    ~judged()
    {
        at.wait();
        hd_close(t);
        void *const all[] = { o.key_is, o.key_now, o.fate, o.fates, o.evicted_at, o.wrong, o.first, there, (void *)arrays.key, (void *)arrays.value, (void *)arrays.score,
                              (void *)arrays.flag, arrays.outcome, arrays.value_out, arrays.score_out, arrays.ptr, arrays.list_key, arrays.list_value, arrays.list_score,
                              arrays.list_item, arrays.count };
        for (void *p : all) at.give(p);
    }

    /* ---- Opening --------------------------------------------------------------------------------------------------------------- */

    void open_table(const char *variant)
    {
        hd_config c = hd_config_default();
        c.backend = at.backend;
        c.policy = s.policy;
        c.dual = s.dual;
        c.slots = s.slots;
        c.capacity = s.buckets * s.slots;
        c.value_bytes = s.value_bytes;
        c.seed = s.seed;
        c.admit = s.admit;
        c.layout = s.layout;
        c.epoch = 3;
        MUST(hd_open(&c, &t));
        for (int op = 0; op < HD_OP_COUNT_; op++) kernel[op] = runs((hd_op)op, variant) ? variant : nullptr;
    }
    bool runs(hd_op op, const char *variant)
    {
        if (op == HD_OP_CLEAR || op == HD_OP_PROMOTE || op == HD_OP_LOCK_KEYS || op == HD_OP_UNLOCK_KEYS) return false;
        uint64_t *count = at.take<uint64_t>(1);
        hd_batch b;
        memset(&b, 0, sizeof b);
        b.op = op;
        b.kernel = variant;
        b.pred = "all";
        b.pred_arg[0] = 1;
        b.elem = elem();
        b.count = count;
        b.stream = at.stream;
        bool can = op == HD_OP_ERASE_IF ? runs(HD_OP_SIZE_IF, variant) : hd_run(t, &b) == HD_OK;
        at.wait();
        at.give(count);
        return can;
    }
    hd_elem elem() const { return o.names.grain == 8 ? HD_U64 : HD_I32; }

    void open_oracle()
    {
        hd_info info;
        MUST(hd_table_info(t, &info));
        while (strcmp(hd_policy_rows[o.policy].name, s.policy) != 0) o.policy++;
        o.policy_flags = hd_policy_rows[o.policy].flags;
        o.slots = info.slots;
        o.buckets = info.buckets;
        o.seed = info.seed;
        o.dual = info.dual;
        o.admit_always = info.admit == HD_ADMIT_ALWAYS;
        o.key_is = at.take<known>(s.keys);
        o.key_now = at.take<busy>(s.keys);
        o.fate = at.take<uint64_t>(HD_OUTCOME_COUNT);
        o.fates = at.take<uint64_t>(HD_OUTCOME_COUNT);
        o.evicted_at = at.take<uint32_t>(1);
        o.wrong = at.take<uint64_t>(WRONG_KINDS);
        o.first = at.take<complaint>(WRONG_KINDS);
        there = at.take<uint64_t>(2);
    }
    void open_arrays()
    {
        uint64_t n = s.items, bytes = s.value_bytes;
        memset(&arrays, 0, sizeof arrays);
        arrays.key = at.take<uint64_t>(n);
        arrays.value = at.take<uint8_t>(n * bytes);
        arrays.score = at.take<uint64_t>(n);
        arrays.flag = at.take<uint8_t>(n);
        arrays.outcome = at.take<uint8_t>(n);
        arrays.value_out = at.take<uint8_t>(n * bytes);
        arrays.score_out = at.take<uint64_t>(n);
        arrays.ptr = at.take<void *>(n);
        arrays.list_key = at.take<uint64_t>(n);
        arrays.list_value = at.take<uint8_t>(n * bytes);
        arrays.list_score = at.take<uint64_t>(n);
        arrays.list_item = at.take<uint64_t>(n);
        arrays.count = at.take<uint64_t>(1);
        arrays.elem = elem();
        arrays.stream = at.stream;
    }

    /* ---- A batch ------------------------------------------------------------------------------------------------------------------ */

    void put(hd_op op, uint64_t n, const keys_of &k, score_kind scores)
    {
        hd_info info;
        hd_batch b = arrays;
        b.op = op;
        b.n = n;
        b.kernel = kernel[op];
        b.distinct = k.kind == SERIES && d.one_in(2);
        if (scores == NO_SCORES) b.score = nullptr;
        if (d.one_in(64)) MUST(hd_epoch_set(t, (uint32_t)d.below(10)));
        MUST(hd_table_info(t, &info));
        o.b = b;
        o.number++;
        o.clock = info.now;
        o.epoch = info.epoch;
        o.accum = (uint32_t)d.below(3);
        o.inserts = op >= HD_OP_ACCUM_OR_ASSIGN && op <= HD_OP_FIND_OR_INSERT_PTR;
        if (o.accum == HD_EITHER && d.one_in(2)) b.flag = nullptr;
        fill(k, scores);
        const oracle w = o;
        at.each(n, [=] BOTH(uint64_t i) { w.count_key(i); });
        if (tells) at.wait(), say(b, k, 0);
        double begins = seconds_now();
        MUST(hd_run(t, &b));
        if (tells) at.wait(), say(b, k, seconds_now() - begins);
        judge();
        batches++;
        items += n;
        if (b.kernel) own += n;
    }
    /* Batch by batch, for who wants to see which one takes long: TELL in the environment. */
    const bool tells = getenv("TELL") != nullptr;
    void say(const hd_batch &b, const keys_of &k, double seconds) const
    {
        static const char *const kinds[] = { "everywhere", "again and again", "skewed", "a series" };
        fprintf(stderr, "%s %s %s: batch %u, %s of %llu, keys %s of %llu in %llu%s, %.6f s\n", b.kernel ? b.kernel : "-", s.policy, s.dual ? "dual" : "single", o.number, hd_op_name(b.op),
                (unsigned long long)b.n, kinds[k.kind], (unsigned long long)k.range, (unsigned long long)s.keys, b.distinct ? ", distinct" : "", seconds);
    }
    void fill(const keys_of &k, score_kind scores) const
    {
        const oracle w = o;
        const uint64_t salt = k.salt;
        const keys_of keys = k;
        at.each(w.b.n, [=] BOTH(uint64_t i) {
            uint64_t key = keys.key(i, w.names);
            ((uint64_t *)w.b.key)[i] = key;
            if (w.b.score) ((uint64_t *)w.b.score)[i] = score_of(scores, i, salt);
            ((uint8_t *)w.b.flag)[i] = (uint8_t)w.accum;
            w.names.write((uint8_t *)w.b.value + i * w.names.bytes, key, w.word_of(w.number, i));
        });
        at.fill(w.b.outcome, LEFT_ALONE, w.b.n + BEHIND);
        at.fill(w.b.value_out, LEFT_ALONE, w.b.n * s.value_bytes + BEHIND);
        at.fill(w.b.score_out, LEFT_ALONE, w.b.n * 8 + BEHIND);
        at.fill(w.b.ptr, LEFT_ALONE, w.b.n * 8);
    }
    void judge() const
    {
        enum : uint64_t { TURNS = 32768 };
        const oracle w = o;
        bool lists = w.b.op == HD_OP_INSERT_AND_EVICT || w.b.op == HD_OP_FIND_MISSED;
        at.each(TURNS, [=] BOTH(uint64_t c) { w.tally(c, TURNS); });
        if (lists) at.each(w.b.n, [=] BOTH(uint64_t j) { w.judge_list(j); });
        at.each(w.b.n, [=] BOTH(uint64_t i) { w.judge_item(i); });
        at.each(w.b.n, [=] BOTH(uint64_t i) { w.judge_together(i); });
        if (lists) at.each(w.b.n, [=] BOTH(uint64_t j) { w.forget_list(j); });
        at.each(1, [=] BOTH(uint64_t i) { w.finish(i); });
    }
    void put_any()
    {
        uint64_t n = d.log_between(1, most < s.items ? most : s.items);
        hd_op op = draw_op(d, o.names.grain);
        bool needed = o.policy_flags & HD_SCORES_NEEDED;
        score_kind scores = (score_kind)d.below(needed ? 3 : 4);
        double begins = seconds_now();
        put(op, n, draw_keys(d, n, s.keys), scores);
        if (n < most / 8) return;
        at.wait(); /* so long a batch takes; and those that were on their way before it */
        double seconds = seconds_now() - begins;
        if (seconds > 1) most = n / 8 + 64;
        else if (seconds < 0.1 && most < s.items) most *= 8;
    }

    /* ---- At rest ------------------------------------------------------------------------------------------------------------------------ */

    uint64_t count_of(hd_op op, uint64_t mask, uint64_t bits)
    {
        uint64_t count = 0;
        hd_batch b = arrays;
        b.op = op;
        b.n = 0;
        b.kernel = kernel[op];
        b.pred = "key_masked";
        b.pred_arg[0] = mask;
        b.pred_arg[1] = bits;
        MUST(hd_run(t, &b));
        at.read(&count, b.count, sizeof count);
        return count;
    }
    /* Entries of slots [start, start + n) that the mask holds for, to the arrays; how many are in the list. */
    uint64_t list_of(hd_op op, uint64_t start, uint64_t n, uint64_t mask, uint64_t bits)
    {
        uint64_t count = 0;
        o.b = arrays;
        o.b.op = op;
        o.b.start = start;
        o.b.n = n;
        o.b.kernel = kernel[op];
        o.b.pred = "key_masked";
        o.b.pred_arg[0] = mask;
        o.b.pred_arg[1] = bits;
        MUST(hd_run(t, &o.b));
        at.read(&count, o.b.count, sizeof count);
        return count;
    }
    /* What the host finds to be wrong. */
    void compare(uint64_t got, uint64_t wanted, const char *what)
    {
        if (got == wanted) return;
        const oracle w = o;
        const uint64_t n = got;
        fprintf(stderr, "%s: %llu, and it should be %llu\n", what, (unsigned long long)got, (unsigned long long)wanted);
        at.each(1, [=] BOTH(uint64_t) { w.complain(WRONG_SIZE, n, n); });
    }

    void rest()
    {
        enum : uint64_t { TURNS = 1 << 16 };
        uint64_t capacity = s.buckets * s.slots, listed = 0, some = 0, is[2];
        unsigned bit = (unsigned)d.below(4);
        const uint64_t mask = 3ull << (s.factor == 1 || s.factor == UINT64_MAX ? bit : 61 - bit), bits = mask & d.draw();
        o.number++;
        for (uint64_t start = 0; start < capacity;) { /* windows of any length, the last one short */
            uint64_t n = d.log_between(s.items / 8 + 1, s.items);
            if (n > capacity - start) n = capacity - start;
            listed += list_of(HD_OP_EXPORT, start, n, 0, 0);
            const oracle w = o;
            at.each(n, [=] BOTH(uint64_t j) { w.on_export(j); });
            if (d.one_in(4)) some += list_of(HD_OP_EXPORT_IF, start, n, mask, bits), some -= count_listed(mask, bits);
            start += n;
        }
        at.fill(there, 0, 16);
        const oracle w = o;
        uint64_t *const sums = there;
        at.each(TURNS, [=] BOTH(uint64_t c) { w.on_key(c, TURNS, mask, bits, sums); });
        at.read(is, there, sizeof is);
        compare(listed, is[0], "entries exported");
        compare(count_of(HD_OP_SIZE, 0, 0), is[0], "size");
        compare(count_of(HD_OP_SIZE_IF, mask, bits), is[1], "size_if");
        compare(some, 0, "export_if: what does not fit its predicate");
        if (d.one_in(4)) erase_some(mask, bits, is);
        if (d.one_in(16)) clear();
        if (capacity <= s.items) find_all();
    }
    /* How many entries of the list, which may be of less than the table, the mask holds for. */
    uint64_t count_listed(uint64_t mask, uint64_t bits)
    {
        const oracle w = o;
        uint64_t n = 0, *const sum = there;
        at.fill(there, 0, 8);
        at.each(o.b.n, [=] BOTH(uint64_t j) {
            if (j < w.listed() && (w.b.list_key[j] & mask) == bits) add(sum, 1);
        });
        at.read(&n, there, 8);
        return n;
    }
    void erase_some(uint64_t mask, uint64_t bits, const uint64_t *is)
    {
        const oracle w = o;
        compare(count_of(HD_OP_ERASE_IF, mask, bits), is[1], "erase_if");
        at.each(s.keys, [=] BOTH(uint64_t k) { w.on_erased(k, mask, bits); });
        compare(count_of(HD_OP_SIZE, 0, 0), is[0] - is[1], "size after erase_if");
    }
    void clear()
    {
        const oracle w = o;
        MUST(hd_clear(t));
        at.each(s.keys, [=] BOTH(uint64_t k) { w.on_erased(k, 0, 0); });
        compare(count_of(HD_OP_SIZE, 0, 0), 0, "size after clear");
    }
    /* Whatever a walk sees, lookups find, and nothing else: digests are right. */
    void find_all()
    {
        for (uint64_t from = 0; from < s.keys; from += s.items) {
            keys_of k = { SERIES, 0, 0, from, 1, false };
            put(HD_OP_FIND, s.keys - from < s.items ? s.keys - from : s.items, k, SMALL);
        }
    }

    /* ---- The end --------------------------------------------------------------------------------------------------------------------------- */

    uint64_t wrong_so_far() const
    {
        uint64_t wrong[WRONG_KINDS], all = 0;
        at.read(wrong, o.wrong, sizeof wrong);
        for (uint64_t n : wrong) all += n;
        return all;
    }
    void compare_counters()
    {
        uint64_t fates[HD_OUTCOME_COUNT];
        hd_counters c;
        at.read(fates, o.fates, sizeof fates);
        MUST(hd_counters_sync(t, &c));
        for (int k = 0; k < HD_OUTCOME_COUNT; k++) compare(c.outcome[k], fates[k], hd_outcome_name((hd_outcome)k));
        compare(c.items, items, "items");
        if (s.buckets * s.slots > 1ull << 22 || hd_check(t) == HD_OK) return;
        fprintf(stderr, "%s\n", hd_why());
        compare(1, 0, "hd_check");
    }
    /* Until most of a table is in use that batches of all kinds would not get to in time. */
    void fill_up(double end)
    {
        keys_of k = { EVERYWHERE, 0, 0, 0, 1, false };
        while (items < 2 * s.buckets * s.slots && seconds_now() < end) {
            k.salt = d.draw();
            put(HD_OP_INSERT_OR_ASSIGN, s.items, k, SMALL);
            at.wait();
        }
    }
    /* For so many seconds, or until something is wrong. */
    uint64_t go(double seconds)
    {
        double end = seconds_now() + seconds;
        if (s.buckets * s.slots > s.items) fill_up(end - seconds / 2);
        for (uint64_t stretch = 0, since = 0; seconds_now() < end;) {
            put_any();
            since += o.b.n;
            if (++stretch % 8 == 0) at.wait(); /* no more on its way than is over soon */
            if ((stretch % 64 || s.keys > 1u << 22) && since < s.keys / 2 + 4 * s.items) continue;
            rest();
            since = 0;
            if (wrong_so_far()) break;
        }
        rest();
        compare_counters();
        return wrong_so_far();
    }
    void tell() const
    {
        uint64_t wrong[WRONG_KINDS];
        complaint first[WRONG_KINDS];
        at.read(wrong, o.wrong, sizeof wrong);
        at.read(first, o.first, sizeof first);
        for (int k = 0; k < WRONG_KINDS; k++)
            if (wrong[k])
                fprintf(stderr, "%s: %llu times, first in batch %llu, %s, item %llu, key %llx\n", wrong_names[k], (unsigned long long)wrong[k], (unsigned long long)first[k].batch,
                        hd_op_name((hd_op)first[k].op), (unsigned long long)first[k].item, (unsigned long long)first[k].key);
    }
};

#endif

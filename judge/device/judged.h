/* SPDX-License-Identifier: Apache-2.0
 *
 * judged.h - one table under random batches of all operations, judged by its design's oracle: one turn of a soak.
 *
 * A design is a struct (judge/hkv/device_soak.h, judge/hive/device_soak.h):
 *
 *   shape, oracle        the shape of its tables, and their judge (answers.h)
 *   MOST_FIRST           the most items of its first batches, which grow while they are fast
 *   CHECKS_LARGE         1: hd_check runs on large tables, too, that a soak keeps
 *   ordered              whether there are predecessor, successor and range
 *   config, has, mixes   how a shape is opened; whether it has an operation; whether a variant runs mixed batches
 *   draw_op              the next batch's operation, MIXED included, and its most items
 *   fill_up              batches that run first, to fill a large table
 *   besides              what happens to the table between batches
 *   rested               called with the number of entries when it is known
 */
#ifndef SOAK_JUDGED_H
#define SOAK_JUDGED_H

#include <atomic>
#include <chrono>

#include "judge/device/answers.h"

static inline double seconds_now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

enum { MIXED = HD_OP_COUNT_ }; /* as an operation: each item has its own */

template <class design> struct judged {
    typedef typename design::oracle oracle;
    typedef typename design::shape shape;
    const place &at;
    dice &d;
    shape s;
    oracle o;
    design its;
    hd_table *t = nullptr;
    hd_batch arrays;                              /* all of them, for s.items items */
    uint8_t *each;                                /* (items): operations of a mixed batch */
    uint64_t *key2;                               /* (items): of range */
    uint64_t *there;                              /* (2): oracle.on_key */
    const char *kernel[MIXED + 1];                /* NULL: the variant does not run it */
    bool mixes;                                   /* mixed batches are among those that come */
    uint64_t items = 0, own = 0, batches = 0;     /* own: by the variant itself */
    uint64_t mixed = 0, distinct = 0, checks = 0; /* items in such batches; calls of hd_check */
    double checked = 0, check_took = 0;           /* when it last ran and its seconds: it gets a small part of the
                                                   * time */
    /* the most items of a batch: where many wait for few locks, large batches would take minutes */
    uint64_t most = design::MOST_FIRST;

    judged(const place &at_, dice &d_, const shape &s_, const char *variant)
        : at(at_), d(d_), s(s_), o(naming(s_.keys, s_.factor, s_.value_bytes, design::key_limit(s_)))
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
        o.shut(at);
        void *const all[] = { there,
                              each,
                              key2,
                              arrays.key_out,
                              arrays.rows,
                              arrays.more,
                              (void *)arrays.key,
                              (void *)arrays.value,
                              (void *)arrays.score,
                              (void *)arrays.flag,
                              arrays.outcome,
                              arrays.found,
                              arrays.value_out,
                              arrays.score_out,
                              arrays.ptr,
                              arrays.list_key,
                              arrays.list_value,
                              arrays.list_score,
                              arrays.list_item,
                              arrays.count };
        for (void *p : all) at.give(p);
    }

    /* ---- Opening ----------------------------------------------------------------------------- */

    void open_table(const char *variant)
    {
        hd_config c = hd_config_of(design::name());
        c.backend = at.backend;
        c.slots = s.slots;
        c.capacity = s.buckets * s.slots;
        c.value_bytes = s.value_bytes;
        c.seed = s.seed;
        c.layout = s.layout;
        design::config(s, &c);
        MUST(hd_open(&c, &t));
        for (int op = 0; op < MIXED; op++) kernel[op] = runs((hd_op)op, variant) ? variant : nullptr;
        mixes = design::mixes(variant);
        kernel[MIXED] = mixes ? kernel[HD_OP_INSERT_OR_ASSIGN] : nullptr;
    }
    bool runs(hd_op op, const char *variant)
    {
        if (!design::has(op)) return false;
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
        o.open(at, s, info);
        there = at.take<uint64_t>(2);
    }
    void open_arrays()
    {
        uint64_t n = s.items, bytes = s.value_bytes;
        memset(&arrays, 0, sizeof arrays);
        each = at.take<uint8_t>(n);
        key2 = at.take<uint64_t>(n);
        arrays.key_out = at.take<uint64_t>(design::ordered() ? n * ROWS_MOST : 1);
        arrays.rows = at.take<uint32_t>(n);
        arrays.more = at.take<bool>(n);
        arrays.key = at.take<uint64_t>(n);
        arrays.value = at.take<uint8_t>(n * bytes);
        arrays.score = at.take<uint64_t>(n);
        arrays.flag = at.take<uint8_t>(n);
        arrays.outcome = at.take<uint8_t>(n);
        arrays.found = at.take<bool>(n);
        arrays.value_out = at.take<uint8_t>(n * bytes * (design::ordered() ? (uint64_t)ROWS_MOST : 1));
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

    /* ---- A batch ----------------------------------------------------------------------------- */

    /* op: or MIXED. */
    void put(int op, uint64_t n, const keys_of &k)
    {
        hd_info info;
        its.besides(*this);
        MUST(hd_table_info(t, &info));
        o.number++;
        o.b = arrays;
        o.b.op = op == MIXED ? HD_OP_INSERT_OR_ASSIGN : (hd_op)op;
        o.b.each = op == MIXED ? each : nullptr;
        o.b.key2 = op == HD_OP_RANGE ? key2 : nullptr;
        o.b.n = n;
        o.b.kernel = kernel[op];
        o.b.distinct = k.kind == SERIES && d.one_in(2);
        o.begin(d, info, k);
        fill(k);
        o.before(at);
        hd_batch b = o.b;
        if (tells) at.wait(), say(b, k, 0);
        double begins = seconds_now();
        MUST(hd_run(t, &b));
        if (tells) at.wait(), say(b, k, seconds_now() - begins);
        o.judge(at);
        batches++;
        items += n;
        if (b.kernel) own += n;
        if (b.each) mixed += n;
        if (is_ordered(op)) ordered_items() += n;
        if (k.kind == SERIES) distinct += n;
    }
    /* With TELL in the environment: a line per batch, to find slow ones. */
    const bool tells = getenv("TELL") != nullptr;
    void say(const hd_batch &b, const keys_of &k, double seconds) const
    {
        static const char *const kinds[] = { "everywhere", "again and again", "skewed", "a series" };
        fprintf(stderr, "%s: batch %u, %s of %llu, keys %s of %llu in %llu%s, %.6f s\n", b.kernel ? b.kernel : "-",
                o.number, b.each ? "mixed" : hd_op_name(b.op), (unsigned long long)b.n, kinds[k.kind],
                (unsigned long long)k.range, (unsigned long long)s.keys, b.distinct ? ", distinct" : "", seconds);
    }
    /* Of all soaks: items of predecessor, successor and range. */
    static std::atomic<uint64_t> &ordered_items()
    {
        static std::atomic<uint64_t> n{ 0 };
        return n;
    }
    void fill(const keys_of &k) const
    {
        const oracle w = o;
        const keys_of keys = k;
        at.each(w.b.n, [=] BOTH(uint64_t i) {
            uint64_t key = keys.key(i, w.names);
            ((uint64_t *)w.b.key)[i] = key;
            w.fill(i, key);
        });
        at.fill(w.b.outcome, LEFT_ALONE, w.b.n + BEHIND);
        at.fill(w.b.found, LEFT_ALONE, w.b.n + BEHIND);
        at.fill(w.b.value_out, LEFT_ALONE, w.rows_of_item() * w.b.n * s.value_bytes + BEHIND);
        at.fill(w.b.score_out, LEFT_ALONE, w.b.n * 8 + BEHIND);
        at.fill(w.b.ptr, LEFT_ALONE, w.b.n * 8);
        if (design::ordered()) at.fill(w.b.key_out, LEFT_ALONE, w.rows_of_item() * w.b.n * 8 + BEHIND);
    }
    void put_any()
    {
        uint64_t room = most < s.items ? most : s.items, n = d.log_between(s.least < room ? s.least : room, room);
        int op = its.draw_op(*this, &n);
        double begins = seconds_now();
        put(op, n, draw_keys(d, n, s.keys));
        if (n < most / 8) return;
        at.wait(); /* the seconds of a batch, and of those that were running before it */
        double seconds = seconds_now() - begins;
        if (seconds > 1)
            most = n / 8 + 64;
        else if (seconds < 0.1 && most < s.items)
            most *= 8;
    }

    /* ---- At rest ----------------------------------------------------------------------------- */

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
    /* Exports the entries of slots [start, start + n) that match the mask; returns the length of the list. */
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
    /* Records an error that the host found. */
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
        uint64_t places = places_now(), listed = 0, some = 0, is[2];
        unsigned bit = (unsigned)d.below(4);
        const uint64_t mask = 3ull << (s.factor == 1 || s.factor == UINT64_MAX ? bit : o.names.key_bits() - 3 - bit),
                       bits = mask & d.draw();
        o.number++;
        for (uint64_t start = 0; start < places;) { /* windows of any length, the last one short */
            uint64_t n = d.log_between(s.items / 8 + 1, s.items);
            if (n > places - start) n = places - start;
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
        its.rested(*this, is[0]);
        if (seconds_now() - checked > 20 * check_took) check();
        if (s.stays) return;
        if (d.one_in(4)) erase_some(mask, bits, is);
        if (d.one_in(16)) clear();
        if (places <= s.items) find_all();
    }
    uint64_t places_now() const
    {
        hd_info info;
        MUST(hd_table_info(t, &info));
        return info.places;
    }
    /* Checks all invariants by the reference, on a copy in host memory. Large tables are left out, unless a soak
     * keeps one. */
    void check()
    {
        double begins = seconds_now();
        if (places_now() > 1u << 22 && !(s.stays && design::CHECKS_LARGE)) return;
        if (hd_check(t) != HD_OK) {
            fprintf(stderr, "%s\n", hd_why());
            compare(1, 0, "hd_check");
        }
        checks++;
        checked = seconds_now();
        check_took = checked - begins;
    }
    /* The number of list entries that match the mask. The list may be of a part of the table. */
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
        its.rested(*this, is[0] - is[1]);
    }
    void clear()
    {
        const oracle w = o;
        MUST(hd_clear(t));
        at.each(s.keys, [=] BOTH(uint64_t k) { w.on_erased(k, 0, 0); });
        compare(count_of(HD_OP_SIZE, 0, 0), 0, "size after clear");
        its.rested(*this, 0);
    }
    /* Lookups find exactly the entries of the export: digests are right. */
    void find_all()
    {
        for (uint64_t from = 0; from < s.keys; from += s.items) {
            keys_of k = { SERIES, 0, 0, from, 1, false };
            put(HD_OP_FIND, s.keys - from < s.items ? s.keys - from : s.items, k);
        }
    }

    /* ---- The end ----------------------------------------------------------------------------- */

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
    }
    /* Runs for so many seconds, until the variant ran so many operations, for so many batches after the table is full,
     * or until something is wrong. */
    uint64_t go(double seconds, double wanted, uint64_t most)
    {
        double end = seconds_now() + seconds;
        if (s.buckets * s.slots > s.items) its.fill_up(*this, end - seconds / 2);
        for (uint64_t stretch = 0, since = 0; stretch < most && seconds_now() < end && (double)own < wanted;) {
            put_any();
            since += o.b.n;
            if (++stretch % 8 == 0) at.wait(); /* few batches are under way at a time, so that it ends soon */
            if ((stretch % 64 || s.keys > 1u << 22) && since < s.keys / 2 + 4 * s.items) continue;
            rest();
            since = 0;
            if (wrong_so_far()) break;
        }
        rest();
        compare_counters();
        check();
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
                fprintf(stderr, "%s: %llu times, first in batch %llu, %s, item %llu, key %llx\n", wrong_names[k],
                        (unsigned long long)wrong[k], (unsigned long long)first[k].batch,
                        hd_op_name((hd_op)first[k].op), (unsigned long long)first[k].item,
                        (unsigned long long)first[k].key);
    }
};

#endif

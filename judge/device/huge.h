/* SPDX-License-Identifier: Apache-2.0
 *
 * huge.h - a table of more than 2^31 slots, filled beyond 2^31 entries, in batches of up to all of them: slot numbers,
 * byte offsets and item numbers exceed 2^31 and 2^32. Nine of ten slots are in use and every key has two buckets, so
 * that no entry is evicted: for each number it is known whether it is present.
 */
#ifndef SOAK_HUGE_H
#define SOAK_HUGE_H

#include "judge/hkv/device_draw.h"
#include "judge/device/judged.h"

struct huge {
    enum : uint64_t { WINDOW = 16u << 20 };
    const place &at;
    const char *variant;
    dice d;
    naming names;
    uint64_t n, capacity, window, middle, mask, bits; /* n: entries; middle: 2^31, of a table that reaches it */
    hd_table *t = nullptr;
    hd_batch all; /* arrays of n items */
    uint64_t *wrong, *sum;
    uint8_t *seen;        /* (n) */
    uint64_t version = 1; /* of values */
    bool good = true;
    double start = seconds_now();

    huge(const place &at_, uint64_t seed, uint64_t entries, const char *variant_)
        : at(at_), variant(variant_), d{ seed }, names(1ull << 62, 0, 8), n(entries)
    {
        hd_config c = hd_config_default();
        names = naming(1ull << 62, d.draw(), 8);
        c.backend = at.backend;
        c.policy = "custom";
        MUST(hd_config_set(&c, "dual", "1"));
        c.value_bytes = names.bytes;
        c.capacity = n / 9 * 10 + n / 1000 + 300;
        MUST(hd_open(&c, &t));
        hd_info info;
        MUST(hd_table_info(t, &info));
        capacity = info.capacity;
        window = n < WINDOW ? n / 5 : (uint64_t)WINDOW;
        middle = capacity > 1ull << 31 ? 1ull << 31 : capacity / 2;
        mask = 7ull << 40;
        bits = 5ull << 40;
        memset(&all, 0, sizeof all);
        all.n = n;
        all.key = at.take<uint64_t>(n);
        all.score = at.take<uint64_t>(n);
        all.value = all.value_out = at.take<uint64_t>(n); /* one or the other */
        all.outcome = at.take<uint8_t>(n);
        all.count = at.take<uint64_t>(1);
        all.stream = at.stream;
        wrong = at.take<uint64_t>(1);
        sum = at.take<uint64_t>(1);
        seen = at.take<uint8_t>(n);
    }
    huge(const huge &) = delete;
    ~huge()
    {
        at.wait();
        hd_close(t);
        void *const taken[] = {
            (void *)all.key, (void *)all.score, all.value_out, all.outcome, all.count, wrong, sum, seen
        };
        for (void *p : taken) at.give(p);
    }

    static void heading() { printf("verdict\tvariant\twhat\tcapacity\titems\twrong\tseconds\n"); }
    void tell(const char *what, uint64_t items)
    {
        uint64_t bad = 0;
        at.read(&bad, wrong, sizeof bad);
        at.fill(wrong, 0, sizeof bad);
        good &= bad == 0;
        printf("%s\t%s\t%s\t%llu\t%llu\t%llu\t%.1f\n", bad ? "WRONG" : "ok", variant, what,
               (unsigned long long)capacity, (unsigned long long)items, (unsigned long long)bad, seconds_now() - start);
        fflush(stdout);
        start = seconds_now();
    }
    /* A number in host memory. */
    void tell_number(const char *what, uint64_t got, uint64_t wanted)
    {
        uint64_t *const w = wrong;
        if (got != wanted)
            fprintf(stderr, "%s: %llu, and it should be %llu\n", what, (unsigned long long)got,
                    (unsigned long long)wanted);
        if (got != wanted) at.each(1, [=] BOTH(uint64_t) { add(w, 1); });
        tell(what, got);
    }

    /* ---- Batches of numbers ------------------------------------------------------------------ */

    static BOTH uint64_t score_for(uint64_t number) { return score_of(EXTREME, number, 12345); }

    void run(hd_batch b, hd_op op)
    {
        b.op = op;
        b.kernel = variant;
        b.pred = "key_masked";
        b.pred_arg[0] = mask;
        b.pred_arg[1] = bits;
        hd_batch asked = b;
        asked.n = 0;
        if (op == HD_OP_ERASE_IF || op == HD_OP_CLEAR || hd_run(t, &asked)) b.kernel = nullptr;
        MUST(hd_run(t, &b));
    }
    /* Runs items of the numbers from, from + step, ...; outcomes must be `there` where `is` holds, and `gone`
     * elsewhere. */
    template <class holds>
    void items(hd_op op, uint64_t from, uint64_t step, uint64_t count, hd_outcome there, hd_outcome gone, holds is)
    {
        const naming k = names;
        hd_batch b = all;
        uint64_t *const w = wrong, word = version, reads = op == HD_OP_FIND, past = n;
        b.n = count;
        b.distinct = true;
        if (reads)
            b.score_out = (uint64_t *)b.score, b.value = b.score = nullptr;
        else
            b.value_out = nullptr;
        at.each(count, [=] BOTH(uint64_t i) {
            uint64_t number = from + i * step;
            ((uint64_t *)b.key)[i] = k.key_of(number);
            if (reads) ((uint64_t *)b.value_out)[i] = b.score_out[i] = ~number;
            if (reads) return;
            ((uint64_t *)b.score)[i] = score_for(number);
            k.write((uint8_t *)b.value + 8 * i, k.key_of(number), word);
        });
        at.fill(b.outcome, LEFT_ALONE, count);
        run(b, op);
        at.each(count, [=] BOTH(uint64_t i) {
            uint64_t number = from + i * step;
            bool here = number < past && is(number, k.key_of(number));
            bool good = b.outcome[i] == (here ? there : gone);
            if (reads && here)
                good = good && k.is((const uint8_t *)b.value_out + 8 * i, k.key_of(number), word) &&
                       b.score_out[i] == score_for(number);
            if (reads && !here)
                good = good && ((const uint64_t *)b.value_out)[i] == ~number && b.score_out[i] == ~number;
            if (!good) add(w, 1);
        });
    }

    /* ---- Exports ----------------------------------------------------------------------------- */

    /* The arrays are longer than a window, whose list is put in their later parts. */
    uint64_t list(uint64_t start, uint64_t slots, bool mark)
    {
        const naming k = names;
        hd_batch b = all;
        uint64_t count = 0, *const w = wrong, past = n, word = version, buckets = capacity / 128;
        uint8_t *const was_seen = seen;
        b.start = start;
        b.n = slots;
        b.list_key = (uint64_t *)b.key;
        b.list_score = (uint64_t *)b.score;
        b.list_value = b.value_out;
        b.list_item = (uint64_t *)b.key + n / 2;
        b.key = b.score = nullptr;
        b.value = b.value_out = nullptr;
        run(b, HD_OP_EXPORT);
        at.read(&count, b.count, sizeof count);
        at.each(count < slots ? count : slots, [=] BOTH(uint64_t j) {
            uint64_t key = b.list_key[j], number = k.number_of(key), slot = b.list_item[j], h = hd_hash(key, 0);
            bool ok = number < past && slot - start < slots && (j == 0 || b.list_item[j - 1] < slot);
            ok = ok && k.is((const uint8_t *)b.list_value + 8 * j, key, word) && b.list_score[j] == score_for(number);
            ok = ok && (slot / 128 == hd_first_bucket(h, buckets) || slot / 128 == hd_second_bucket(h, buckets));
            if (!ok || (mark && was_seen[number])) add(w, 1);
            if (ok && mark) was_seen[number] = 1;
        });
        return count;
    }
    void list_all()
    {
        uint64_t listed = 0;
        for (uint64_t start = 0, slots; start < capacity; start += slots) {
            slots = d.log_between(window / 8 + 1, window);
            if (slots > capacity - start) slots = capacity - start;
            listed += list(start, slots, true);
        }
        tell_number("export, window after window", listed, n);
        uint64_t before = list(middle - window / 3, window / 3, false), after = list(middle, window / 2, false);
        tell_number("export across the middle", list(middle - window / 3, window / 3 + window / 2, false),
                    before + after);
        before = list(middle - 1, 1, false), after = list(middle, 1, false);
        tell_number("export of two slots across the middle", list(middle - 1, 2, false), before + after);
    }

    /* ---- Counts ------------------------------------------------------------------------------ */

    uint64_t ask(hd_op op, uint64_t slots)
    {
        uint64_t count = 0;
        hd_batch b;
        memset(&b, 0, sizeof b);
        b.n = slots;
        b.count = all.count;
        b.stream = at.stream;
        run(b, op);
        at.read(&count, b.count, sizeof count);
        return count;
    }
    template <class holds> uint64_t how_many(holds is)
    {
        enum : uint64_t { TURNS = 1 << 16 };
        const naming k = names;
        uint64_t count = 0, *const s = sum, past = n;
        at.fill(sum, 0, 8);
        at.each(TURNS, [=] BOTH(uint64_t c) {
            uint64_t mine = 0;
            for (uint64_t number = c; number < past; number += TURNS) mine += is(number, k.key_of(number));
            add(s, mine);
        });
        at.read(&count, sum, 8);
        return count;
    }

    bool go()
    {
        const uint64_t m = mask, v = bits;
        auto every = [] BOTH(uint64_t, uint64_t) { return true; };
        auto none = [] BOTH(uint64_t, uint64_t) { return false; };
        auto masked = [=] BOTH(uint64_t, uint64_t key) { return (key & m) == v; };
        auto thirds = [] BOTH(uint64_t number, uint64_t) { return number % 3 != 0; };
        auto rest = [=] BOTH(uint64_t number, uint64_t key) { return number % 3 != 0 && (key & m) != v; };
        static const hd_op inserting[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_AND_EVICT, HD_OP_FIND_OR_INSERT };

        for (uint64_t from = 0, count; from < n; from += count) {
            count = d.log_between(window / 8 + 1, 4 * window);
            if (count > n - from) count = n - from;
            items(d.of(inserting), from, 1, count, HD_UPDATED, HD_INSERTED, none);
        }
        tell("insert, batch after batch", n);
        tell_number("size", ask(HD_OP_SIZE, 0), n);
        tell_number("size_if", ask(HD_OP_SIZE_IF, 0), how_many(masked));
        tell_number("export_if that counts, all slots in one call", ask(HD_OP_EXPORT_IF, capacity), how_many(masked));
        items(HD_OP_FIND, 0, 1, n, HD_HIT, HD_MISS, every);
        tell("find, all in one batch", n);
        items(HD_OP_CONTAINS, n, 1, n, HD_HIT, HD_MISS, none);
        tell("contains of what is not there, in one batch", n);
        list_all();
        version = 2;
        items(HD_OP_ASSIGN_VALUES, 0, 1, n, HD_UPDATED, HD_MISS, every);
        tell("assign_values, all in one batch", n);
        items(HD_OP_ERASE, 0, 3, (n + 2) / 3, HD_ERASED, HD_MISS, every);
        tell("erase of every third", (n + 2) / 3);
        tell_number("size", ask(HD_OP_SIZE, 0), how_many(thirds));
        tell_number("erase_if", ask(HD_OP_ERASE_IF, 0), how_many(thirds) - how_many(rest));
        items(HD_OP_FIND, 0, 1, n, HD_HIT, HD_MISS, rest);
        tell("find of those that stayed and those that went", n);
        items(HD_OP_INSERT_OR_ASSIGN, 0, 1, n, HD_UPDATED, HD_INSERTED, rest);
        tell("insert_or_assign, all in one batch", n);
        tell_number("size", ask(HD_OP_SIZE, 0), n);
        items(HD_OP_FIND, 0, 1, n, HD_HIT, HD_MISS, every);
        tell("find, all in one batch", n);
        MUST(hd_clear(t));
        tell_number("size after clear", ask(HD_OP_SIZE, 0), 0);
        items(HD_OP_FIND, 0, 1, window, HD_HIT, HD_MISS, none);
        tell("find after clear", window);
        return good;
    }
};

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * t_heddle_hpp.cpp - heddle.hpp: values that are arrays, structs or nothing, spans of every container, ownership,
 * errors, visitors, growth, snapshots and views. Needs only the library.
 */
#include "heddle.hpp"
#include "tests/plain.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

namespace
{

using keys_vector = std::vector<std::uint64_t>;
using bytes_vector = std::vector<std::uint8_t>;

struct price {
    std::int64_t cents;
    std::int32_t shop;
    char currency[4];
};

hd_config small(std::uint64_t capacity)
{
    hd_config c = hd_config_default();
    c.capacity = capacity;
    c.slots = 8;
    c.threads = 1;
    return c;
}

/* The status of the heddle::error that `f` throws; HD_OK when it throws nothing. */
template <class F> hd_status thrown(F &&f, std::string *why = nullptr)
{
    try {
        f();
    } catch (const heddle::error &e) {
        if (why) *why = e.what();
        return e.status();
    }
    return HD_OK;
}

void rows_of_floats()
{
    heddle::table<float[3]> t(small(64));
    const keys_vector keys = { 10, 20, 30 };
    std::vector<float> values = { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, found(9);
    std::array<std::uint8_t, 3> outcomes{};
    t.upsert(keys, values, outcomes);
    ok(t.info().value_bytes == 12 && outcomes[2] == HD_INSERTED, "a row of floats has the size of its array");
    t.find(keys, found, outcomes);
    ok(found == values && outcomes[0] == HD_HIT, "rows come back");
    std::optional<std::array<float, 3>> row = t.find(20);
    ok(row && (*row)[2] > 5.5f && !t.find(21), "one key: its row, or nothing");
    t.accum_or_assign(keys, values);
    row = t.find(30);
    ok(row && (*row)[0] > 13.5f && (*row)[0] < 14.5f, "floats are added");
    bool wide = true;
    t.for_each([&](std::uint64_t key, std::uint64_t, float(&v)[3]) {
        wide = wide && v[1] > 2 * static_cast<float>(key) / 10;
        v[0] = static_cast<float>(key);
    });
    row = t.find(10);
    ok(wide && row && (*row)[0] > 9.5f, "a visitor sees rows and changes them");
    ok(thrown([&] { t.find(keys, heddle::span<float>(found.data(), 8)); }) == HD_EINVAL, "a short span is refused");
    ok(thrown([&] { t.upsert(keys, {}, outcomes); }) == HD_EINVAL, "missing values are refused");
}

void structs()
{
    heddle::table<price> t(small(64));
    ok(t.upsert(5, { 199, 2, "EUR" }) == HD_INSERTED && t.upsert(5, { 189, 3, "EUR" }) == HD_UPDATED, "outcomes");
    std::optional<price> p = t.find(5);
    ok(p && p->cents == 189 && p->shop == 3 && std::strcmp(p->currency, "EUR") == 0, "a struct comes back");
    ok(t.contains(5) && t.erase(5) && !t.erase(5) && !t.contains(5), "erase one key");
    const std::uint64_t keys[] = { 1, 2 };
    price more[] = { { 1, 1, "USD" }, { 2, 2, "USD" } }, found[2] = {};
    std::uint8_t outcomes[2] = {};
    t.find_or_insert(keys, more, found, outcomes);
    ok(outcomes[1] == HD_INSERTED, "find_or_insert inserts");
    t.find_or_insert(keys, more, found, outcomes);
    ok(outcomes[1] == HD_HIT && found[1].cents == 2, "and finds");
    void *ptrs[2] = {};
    t.find_ptr(keys, ptrs);
    ok(ptrs[0] && static_cast<price *>(ptrs[0])->cents == 1, "pointers");
}

void sets()
{
    heddle::table<void> t(small(64));
    const keys_vector keys = { 1, 2, 3, 4 };
    bytes_vector outcomes(4);
    t.upsert(keys, {}, outcomes);
    ok(t.info().value_bytes == 0 && t.size() == 4 && t.contains(3), "a set has keys alone");
    ok(t.upsert(9, true) == HD_INSERTED && t.find(9).value_or(false) && !t.find(8), "one key of a set");
    t.upsert(keys);
    const std::uint64_t more[] = { 4, 8 };
    t.upsert(more);
    ok(t.size() == 6 && t.erase(8), "keys alone are inserted");
    std::uint64_t sum = 0;
    t.for_each([&](std::uint64_t key, std::uint64_t) { sum += key; });
    ok(sum == 19, "a visitor of a set");
    ok(t.erase_if("key_masked", 1, 1) == 3 && t.size_if("key_masked", 1, 0) == 2, "predicates return counts");
}

void lists()
{
    heddle::table<std::uint64_t> t(small(8));
    keys_vector keys(20), values(20), left(20), left_values(20);
    for (std::uint64_t i = 0; i < 20; i++) keys[i] = i, values[i] = i * i;
    std::uint64_t gone = t.insert_and_evict(keys, values, left, left_values);
    ok(gone == 12 && left[0] == 0 && left_values[11] == 121, "insert_and_evict lists what left");
    keys_vector all(8), squares(8), scores(8);
    bool right = t.list_entries(0, 8, all, squares, scores) == 8;
    for (std::size_t i = 0; i < 8; i++) right = right && squares[i] == all[i] * all[i];
    ok(right, "list_entries lists what stayed");
    keys_vector missed(20);
    ok(t.find_missed(keys, values, missed) == 12 && missed[0] == 0, "find_missed lists what is absent");
    ok(thrown([&] { t.find_missed(keys, values, heddle::span<std::uint64_t>(missed.data(), 3)); }) == HD_EINVAL,
       "a list has room for every item");
}

void ownership()
{
    heddle::table<int> a(small(64));
    a.upsert(1, 11);
    heddle::table<int> b = std::move(a);
    ok(b.find(1) == 11 && a.get() == nullptr, "a table is moved");
    heddle::table<int> c(small(64));
    c.upsert(2, 22);
    c = std::move(b);
    ok(c.find(1) == 11 && !c.find(2), "a table is assigned");
    hd_table *raw = c.release();
    heddle::table<int> d(raw);
    ok(d.find(1) == 11 && c.get() == nullptr, "ownership goes to C and comes back");
    static_assert(!std::is_copy_constructible_v<heddle::table<int>> &&
                      std::is_nothrow_move_constructible_v<heddle::table<int>>,
                  "tables have one owner");
    heddle::table_view<int> view = d.on(nullptr);
    ok(view.find(1) == 11 && view.get() == d.get(), "a view has the operations and owns nothing");
}

void errors()
{
    std::string why;
    hd_config c = small(64);
    c.slots = 1;
    ok(thrown([&] { heddle::table<int> t(c); }, &why) == HD_EINVAL && why.find("slots") != why.npos,
       "an error carries the status and hd_why()");
    ok(thrown([] { heddle::table<int>::open("/nowhere/x.heddle"); }) == HD_EIO, "no such file");
    heddle::table<int> t(small(64));
    hd_batch b = hd_batch_of(HD_OP_FIND, 1, nullptr);
    ok(thrown([&] { t.run(b); }) == HD_EINVAL, "run throws, too");
    t.upsert(1, 1);
    t.upsert(2, 2);
    int visits = 0, caught = 0;
    try {
        t.for_each([&](std::uint64_t, std::uint64_t, int &) {
            visits++;
            throw std::bad_alloc();
        });
    } catch (const std::bad_alloc &) {
        caught = 1;
    }
    ok(visits == 1 && caught && t.size() == 2, "an exception of a visitor ends the walk and arrives");
    visits = 0;
    t.for_each([&](std::uint64_t, std::uint64_t, int &) { return ++visits < 1; });
    ok(visits == 1, "a visitor that returns false ends the walk");
}

void growth_and_snapshots()
{
    char path[] = "t_heddle_hpp.heddle";
    heddle::table<std::uint32_t> t(hd_config_of("hive"));
    keys_vector keys(3000);
    std::vector<std::uint32_t> values(3000), found(3000);
    bytes_vector outcomes(3000);
    for (std::uint32_t i = 0; i < 3000; i++) keys[i] = i + 1, values[i] = 3 * i;
    {
        hd_config c = hd_config_of("hive");
        c.capacity = 256;
        t = heddle::table<std::uint32_t>(c);
    }
    t.upsert_growing(keys, values, outcomes, 0.8);
    ok(t.size() == 3000 && t.info().capacity > 256 && t.load_factor() <= 0.8, "a dictionary grows");
    t.save(path);
    heddle::table<std::uint32_t> u = heddle::table<std::uint32_t>::open(path);
    u.find(keys, found, outcomes);
    ok(found == values, "a snapshot comes back");
    ok(thrown([&] { heddle::table<std::uint64_t>::open(path); }) == HD_EINVAL, "values of another size are refused");
    u.clear();
    ok(u.size() == 0 && u.load(path) == 0 && u.size() == 3000, "a table loads a file");
    u.verify();
    ok(u.counters().outcome[HD_HIT] == 3000, "counters");
    std::remove(path);

    heddle::table<int> h(small(64));
    h.upsert(1, 1);
    keys_vector moved = { 7, 8 }, scores = { 1ull << 40, 5 }, listed(64), listed_scores(64);
    std::vector<int> rows = { 70, 80 };
    h.import_entries(moved, rows, scores);
    ok(h.list_entries(0, 64, listed, {}, listed_scores) == 3 && h.find(7) == 70 &&
           std::count(listed_scores.begin(), listed_scores.end(), 1ull << 40) == 1,
       "imported entries keep their scores");
    h.reserve(1000);
    ok(h.info().capacity >= 1000 && h.find(1) == 1, "reserve keeps the entries");
}

/* A table that keeps its keys in order. */
static void order()
{
    hd_config c = hd_config_of("sl");
    heddle::table<std::uint64_t> t(c);
    ok(!t.min() && !t.max(), "an empty table has no least key");
    keys_vector keys = { 10, 20, 30, 40 }, values = { 1, 2, 3, 4 }, found(8), got(8);
    t.upsert(keys, values);
    ok(t.min()->first == 10 && t.min()->second == 1 && t.max()->first == 40 && t.max()->second == 4, "min and max");
    bytes_vector outcomes(4);
    t.predecessor(keys, found, got, outcomes);
    ok(outcomes[0] == HD_MISS && found[1] == 10 && got[3] == 3, "predecessor");
    t.successor(keys, found, {}, outcomes, true);
    ok(outcomes[3] == HD_HIT && found[0] == 10, "successor, inclusive");
    keys_vector from = { 0, 25 }, to = { UINT64_MAX, 30 };
    std::vector<std::uint32_t> rows(2);
    std::array<bool, 2> more{};
    t.range(from, to, 3, found, got, rows, more);
    ok(rows[0] == 3 && more[0] && found[2] == 30 && rows[1] == 1 && !more[1] && found[3] == 30 && got[3] == 3, "range");
    ok(thrown([&] { t.range(from, to, 5, found, got, rows); }) == HD_EINVAL, "a span that is too short for a range");
    heddle::table<std::uint32_t> h(hd_config_of("hive"));
    ok(thrown([&] { h.min(); }) == HD_EINVAL, "a table without an order");
}

} // namespace

int main()
{
    try {
        rows_of_floats();
        structs();
        sets();
        lists();
        ownership();
        errors();
        growth_and_snapshots();
        order();
    } catch (const std::exception &e) {
        std::printf("# %s\n", e.what());
        ok(false, "no exception is left over");
    }
    return plain_finish();
}

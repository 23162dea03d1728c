/* SPDX-License-Identifier: Apache-2.0
 *
 * heddle.hpp - heddle.h for C++17: typed tables, spans, exceptions.
 *
 *     hd_config c = hd_config_default();
 *     c.capacity = 1 << 20;
 *     heddle::table<float[64]> t(c);              // rows of 64 floats; value_bytes is set here
 *     t.upsert(keys, values, outcomes);           // std::vector, std::array, arrays, heddle::span
 *     t.find(keys, values, outcomes);             // values: 64 floats per key
 *     std::optional<std::array<float, 64>> row = t.find(42);
 *
 * Value is a trivially copyable type, an array of one (float[64]), or void for a set of keys. Rows of values are spans
 * of the element type: n keys have n * table::per_value elements.
 *
 * Errors are exceptions of type heddle::error, which carry the hd_status and the text of hd_why(). The outcome of an
 * item is never an exception: it is a byte; compare it with HD_HIT and so on. With an empty span of outcomes, no
 * outcomes are written. With an empty span of scores, the policy uses its default.
 *
 * With backend "cuda" spans of device memory are allowed: make them with heddle::span(pointer, n). Functions that
 * return a count, or take one key, use host memory only. For everything else, run() takes an hd_batch.
 */
#ifndef HEDDLE_HPP
#define HEDDLE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "heddle.h"

namespace heddle
{

/* ---- Errors -------------------------------------------------------------------------------------------------- */

/* A call that failed: its status, and what hd_why() said on the thread that made it. */
class error : public std::runtime_error
{
  public:
    error(hd_status status, const std::string &why) : std::runtime_error(why), status_(status) {}
    hd_status status() const noexcept { return status_; }

  private:
    hd_status status_;
};

/* Throws unless the call succeeded. */
inline void check(hd_status status)
{
    if (status != HD_OK) throw error(status, hd_why());
}

/* ---- Spans --------------------------------------------------------------------------------------------------- */

/* n elements that belong to the caller. T is const if the elements are only read. */
template <class T> class span
{
  public:
    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <std::size_t N> constexpr span(T (&array)[N]) noexcept : data_(array), size_(N) {}
    /* Of any type with data() and size(): std::vector, std::array, std::span, a span of non-const elements. */
    template <class C, class E = std::remove_pointer_t<decltype(std::declval<C &>().data())>,
              class = std::enable_if_t<std::is_convertible_v<E (*)[], T (*)[]> &&
                                       std::is_integral_v<decltype(std::declval<C &>().size())>>>
    constexpr span(C &&container) noexcept : data_(container.data()), size_(container.size())
    {
    }

    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T &operator[](std::size_t i) const noexcept { return data_[i]; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

using keys_in = span<const std::uint64_t>;
using scores_in = span<const std::uint64_t>;
using words_out = span<std::uint64_t>;
using outcomes_out = span<std::uint8_t>; /* hd_outcome, one byte each */

/* ---- Values -------------------------------------------------------------------------------------------------- */

/* The element type of a row, how many elements a row has, and a row as an object. */
template <class Value> struct value_traits {
    using element = std::remove_all_extents_t<Value>;
    static constexpr std::size_t per_value = sizeof(Value) / sizeof(element);
    static constexpr std::uint32_t bytes = static_cast<std::uint32_t>(sizeof(Value));
    using row = std::conditional_t<std::is_array_v<Value>, std::array<element, per_value>, Value>;
    static_assert(std::is_trivially_copyable_v<element>, "a table copies values as bytes");
    static_assert(sizeof(row) == sizeof(Value), "a row is as large as its value");
};

/* For a set: spans of values are empty, and a row is the bool `true`. */
template <> struct value_traits<void> {
    using element = unsigned char;
    static constexpr std::size_t per_value = 0;
    static constexpr std::uint32_t bytes = 0;
    using row = bool;
};

/* ---- Batches ------------------------------------------------------------------------------------------------- */

/* The operations of an open table on one stream. A view owns nothing and is small: pass it by value. */
template <class Value> class table_view
{
  public:
    using traits = value_traits<Value>;
    using element = typename traits::element;
    using row = typename traits::row;
    using values_in = span<const element>;
    using values_out = span<element>;
    static constexpr std::size_t per_value = traits::per_value;

    table_view(hd_table *table, void *stream) noexcept : table_(table), stream_(stream) {}

    hd_table *get() const noexcept { return table_; }
    /* The same table on another stream (cudaStream_t). */
    table_view on(void *stream) const noexcept { return table_view(table_, stream); }

    /* Any batch, on this view's stream. */
    void run(hd_batch &b) const
    {
        b.stream = stream_;
        check(hd_run(table_, &b));
    }
    void run_growing(hd_batch &b, double target = 0) const
    {
        b.stream = stream_;
        check(hd_run_growing(table_, &b, target));
    }

    /* ---- Look up: heddle_calls.h says what each operation does */
    void find(keys_in keys, values_out values, outcomes_out outcomes = {}) const
    {
        run_keyed(HD_OP_FIND, keys, outcomes, {}, {}, values);
    }
    void contains(keys_in keys, outcomes_out outcomes) const { run_keyed(HD_OP_CONTAINS, keys, outcomes); }
    void find_ptr(keys_in keys, span<void *> ptrs, outcomes_out outcomes = {}) const
    {
        hd_batch b = of(HD_OP_FIND_PTR, keys, outcomes);
        b.ptr = sized(ptrs, b.n, "ptrs");
        run(b);
    }
    /* Lists the absent keys, and returns how many there are. */
    std::uint64_t find_missed(keys_in keys, values_out values, words_out missed, outcomes_out outcomes = {}) const
    {
        hd_batch b = of(HD_OP_FIND_MISSED, keys, outcomes);
        out(b, values);
        b.list_key = sized(missed, b.n, "missed");
        return run_counting(b);
    }

    /* ---- In the order of keys: tables that keep one */
    void predecessor(keys_in keys, words_out found_keys, values_out values = {}, outcomes_out outcomes = {},
                     bool inclusive = false) const
    {
        run_neighbour(HD_OP_PREDECESSOR, keys, found_keys, values, outcomes, inclusive);
    }
    void successor(keys_in keys, words_out found_keys, values_out values = {}, outcomes_out outcomes = {},
                   bool inclusive = false) const
    {
        run_neighbour(HD_OP_SUCCESSOR, keys, found_keys, values, outcomes, inclusive);
    }
    /* The first `limit` entries from keys[i] to upper[i]: item i has rows[i] of the rows from i * limit on. */
    void range(keys_in keys, keys_in upper, std::uint32_t limit, words_out found_keys, values_out values,
               span<std::uint32_t> rows, span<bool> more = {}, outcomes_out outcomes = {}) const
    {
        hd_batch b = of(HD_OP_RANGE, keys, outcomes);
        b.key2 = sized(upper, b.n, "upper");
        b.limit = limit;
        b.key_out = sized(found_keys, b.n * limit, "found_keys");
        b.value_out = sized(values, b.n * limit * per_value, "values");
        b.rows = sized(rows, b.n, "rows");
        b.more = sized(more, b.n, "more");
        run(b);
    }
    /* The entry with the least or the greatest key, and its value; nothing, if the table is empty. */
    std::optional<std::pair<std::uint64_t, row>> min() const { return run_end(HD_OP_MIN); }
    std::optional<std::pair<std::uint64_t, row>> max() const { return run_end(HD_OP_MAX); }

    /* ---- Change what is present */
    void touch(keys_in keys, values_out values = {}, outcomes_out outcomes = {}, scores_in scores = {})
    {
        run_keyed(HD_OP_TOUCH, keys, outcomes, scores, {}, values);
    }
    void assign(keys_in keys, values_in values, outcomes_out outcomes = {}, scores_in scores = {})
    {
        run_keyed(HD_OP_ASSIGN, keys, outcomes, scores, values);
    }
    void assign_values(keys_in keys, values_in values, outcomes_out outcomes = {})
    {
        run_keyed(HD_OP_ASSIGN_VALUES, keys, outcomes, {}, values);
    }
    void assign_scores(keys_in keys, scores_in scores, outcomes_out outcomes = {})
    {
        run_keyed(HD_OP_ASSIGN_SCORES, keys, outcomes, scores);
    }

    /* ---- Insert */
    void upsert(keys_in keys, values_in values, outcomes_out outcomes = {}, scores_in scores = {})
    {
        run_keyed(HD_OP_INSERT_OR_ASSIGN, keys, outcomes, scores, values);
    }
    template <class V = Value, class = std::enable_if_t<std::is_void_v<V>>> void upsert(keys_in keys) /* of a set */
    {
        upsert(keys, values_in());
    }
    /* Stores the scores as they are, whatever the policy: for entries of another table or of a file. */
    void import_entries(keys_in keys, values_in values, scores_in scores, outcomes_out outcomes = {})
    {
        hd_batch b = of(HD_OP_INSERT_OR_ASSIGN, keys, outcomes, scores);
        in(b, values);
        b.raw_scores = true;
        run(b);
    }
    /* Grows the table until no item is PENDING and, if target is above 0, until the load factor is at most `target`. */
    void upsert_growing(keys_in keys, values_in values, outcomes_out outcomes = {}, double target = 0)
    {
        hd_batch b = of(HD_OP_INSERT_OR_ASSIGN, keys, outcomes);
        in(b, values);
        run_growing(b, target);
    }
    /* Lists evicted entries and refused items, and returns how many there are. Each list is empty or has room for every
     * item. */
    std::uint64_t insert_and_evict(keys_in keys, values_in values, words_out left_keys, values_out left_values = {},
                                   outcomes_out outcomes = {}, scores_in scores = {})
    {
        hd_batch b = of(HD_OP_INSERT_AND_EVICT, keys, outcomes, scores);
        in(b, values);
        b.list_key = sized(left_keys, b.n, "left_keys");
        b.list_value = sized(left_values, b.n * per_value, "left_values");
        return run_counting(b);
    }
    /* present: copies the value to `values` and rescores; absent: inserts the row of `fresh`. */
    void find_or_insert(keys_in keys, values_in fresh, values_out values, outcomes_out outcomes = {},
                        scores_in scores = {})
    {
        run_keyed(HD_OP_FIND_OR_INSERT, keys, outcomes, scores, fresh, values);
    }
    void find_or_insert_ptr(keys_in keys, span<void *> ptrs, outcomes_out outcomes = {}, scores_in scores = {})
    {
        hd_batch b = of(HD_OP_FIND_OR_INSERT_PTR, keys, outcomes, scores);
        b.ptr = sized(ptrs, b.n, "ptrs");
        run(b);
    }
    /* Adds to the values of present keys; inserts absent keys. The element type is float, double, or an integer. */
    void accum_or_assign(keys_in keys, values_in values, outcomes_out outcomes = {}, scores_in scores = {})
    {
        hd_batch b = of(HD_OP_ACCUM_OR_ASSIGN, keys, outcomes, scores);
        in(b, values);
        b.elem = elem_of();
        run(b);
    }

    /* ---- Remove and pin */
    void erase(keys_in keys, outcomes_out outcomes = {}) { run_keyed(HD_OP_ERASE, keys, outcomes); }
    std::uint64_t erase_if(const char *predicate, std::uint64_t a = 0, std::uint64_t b = 0)
    {
        return run_predicate(HD_OP_ERASE_IF, predicate, a, b);
    }
    void lock_keys(keys_in keys, std::uint64_t holder, outcomes_out outcomes = {})
    {
        hd_batch b = of(HD_OP_LOCK_KEYS, keys, outcomes);
        b.holder = holder;
        run(b);
    }
    void unlock_keys(keys_in keys, std::uint64_t holder, outcomes_out outcomes = {})
    {
        hd_batch b = of(HD_OP_UNLOCK_KEYS, keys, outcomes);
        b.holder = holder;
        run(b);
    }
    void clear() { check(hd_clear(table_)); }
    void persist() { check(hd_persist(table_)); }

    /* ---- One key */
    bool contains(std::uint64_t key) const
    {
        std::uint8_t outcome = HD_MISS;
        contains(keys_in(&key, 1), outcomes_out(&outcome, 1));
        return outcome == HD_HIT;
    }
    std::optional<row> find(std::uint64_t key) const
    {
        row r{};
        std::uint8_t outcome = HD_MISS;
        find(keys_in(&key, 1), values_of(r), outcomes_out(&outcome, 1));
        if constexpr (std::is_void_v<Value>) r = true;
        return outcome == HD_HIT ? std::optional<row>(r) : std::nullopt;
    }
    /* For a set: upsert(key, true). */
    hd_outcome upsert(std::uint64_t key, const row &value)
    {
        row r = value;
        std::uint8_t outcome = HD_MISS;
        upsert(keys_in(&key, 1), values_of(r), outcomes_out(&outcome, 1));
        return static_cast<hd_outcome>(outcome);
    }
    bool erase(std::uint64_t key)
    {
        std::uint8_t outcome = HD_MISS;
        erase(keys_in(&key, 1), outcomes_out(&outcome, 1));
        return outcome == HD_ERASED;
    }

    /* ---- The whole table */
    std::uint64_t size() const
    {
        std::uint64_t n = 0;
        check(hd_size_sync(table_, &n));
        return n;
    }
    std::uint64_t size_if(const char *predicate, std::uint64_t a = 0, std::uint64_t b = 0) const
    {
        return run_predicate(HD_OP_SIZE_IF, predicate, a, b);
    }
    /* Lists the entries of the slots [start, start + slots), and returns how many there are. */
    std::uint64_t list_entries(std::uint64_t start, std::uint64_t slots, words_out keys, values_out values = {},
                               words_out scores = {}) const
    {
        hd_batch b = hd_batch_of(HD_OP_EXPORT, slots, nullptr);
        b.start = start;
        b.list_key = sized(keys, slots, "keys");
        b.list_value = sized(values, slots * per_value, "values");
        b.list_score = sized(scores, slots, "scores");
        return run_counting(b);
    }
    /* Calls visit(key, score, value) for every entry, in slot order; for a set: visit(key, score). The visitor may
     * change the value; it must not call the table. If it returns bool, false ends the walk. */
    template <class Visit> void for_each(Visit &&visit) const
    {
        walk<std::remove_reference_t<Visit>> w{ &visit, nullptr };
        hd_status status = hd_for_each(table_, walk<std::remove_reference_t<Visit>>::step, &w);
        if (w.thrown) std::rethrow_exception(w.thrown);
        check(status);
    }
    hd_info info() const
    {
        hd_info i;
        check(hd_table_info(table_, &i));
        return i;
    }
    hd_counters counters() const
    {
        hd_counters c;
        check(hd_counters_sync(table_, &c));
        return c;
    }
    double load_factor() const
    {
        double share = 0;
        check(hd_load_factor_sync(table_, &share));
        return share;
    }
    void set_epoch(std::uint32_t epoch) { check(hd_epoch_set(table_, epoch)); }
    void set_clock(std::uint64_t clock) { check(hd_clock_set(table_, clock)); }
    /* Throws an error with HD_ECORRUPT if an invariant of the table does not hold. */
    void verify() const { check(hd_check(table_)); }
    void grow(std::uint64_t buckets) { check(hd_grow(table_, buckets)); }
    void reserve(std::uint64_t capacity) { check(hd_reserve(table_, capacity)); }
    void shrink(std::uint64_t buckets) { check(hd_shrink(table_, buckets)); }
    void set_near(std::uint64_t near_bytes) { check(hd_set_near(table_, near_bytes)); }
    void save(const std::string &path) const { check(hd_save(table_, path.c_str())); }
    /* Replaces the entries by those of the file; returns how many found no slot. */
    std::uint64_t load(const std::string &path)
    {
        std::uint64_t dropped = 0;
        check(hd_load(table_, path.c_str(), &dropped));
        return dropped;
    }

  protected:
    hd_table *table_;
    void *stream_;

  private:
    /* An exception must not pass through hd_for_each, which is C: the step keeps it, and for_each throws it again. */
    template <class Visit> struct walk {
        Visit *visit;
        std::exception_ptr thrown;

        static int step(void *context, std::uint64_t key, std::uint64_t score, void *value)
        {
            walk *w = static_cast<walk *>(context);
            try {
                return w->call(key, score, value) ? 0 : 1;
            } catch (...) {
                w->thrown = std::current_exception();
                return 1;
            }
        }
        bool call(std::uint64_t key, std::uint64_t score, void *value)
        {
            auto visited = [&]() -> decltype(auto) {
                if constexpr (std::is_void_v<Value>)
                    return static_cast<void>(value), (*visit)(key, score);
                else
                    return (*visit)(key, score, *static_cast<Value *>(value));
            };
            if constexpr (std::is_same_v<decltype(visited()), bool>) return visited();
            visited();
            return true;
        }
    };

    /* The array of a span that is empty or has at least `need` elements. */
    template <class T> static T *sized(span<T> s, std::uint64_t need, const char *name)
    {
        if (s.empty()) return nullptr;
        if (s.size() < need)
            throw error(HD_EINVAL, std::string(name) + ": " + std::to_string(s.size()) +
                                       " elements, but the batch needs " + std::to_string(need));
        return s.data();
    }
    static hd_batch of(hd_op op, keys_in keys, outcomes_out outcomes, scores_in scores = {})
    {
        hd_batch b = hd_batch_of(op, keys.size(), keys.data());
        b.outcome = sized(outcomes, b.n, "outcomes");
        b.score = sized(scores, b.n, "scores");
        return b;
    }
    void run_keyed(hd_op op, keys_in keys, outcomes_out outcomes, scores_in scores = {}, values_in in_values = {},
                   values_out out_values = {}) const
    {
        hd_batch b = of(op, keys, outcomes, scores);
        in(b, in_values);
        out(b, out_values);
        run(b);
    }
    void run_neighbour(hd_op op, keys_in keys, words_out found_keys, values_out values, outcomes_out outcomes,
                       bool inclusive) const
    {
        hd_batch b = of(op, keys, outcomes);
        out(b, values);
        b.key_out = sized(found_keys, b.n, "found_keys");
        b.inclusive = inclusive;
        run(b);
    }
    std::optional<std::pair<std::uint64_t, row>> run_end(hd_op op) const
    {
        std::pair<std::uint64_t, row> e{};
        hd_batch b = hd_batch_of(op, 0, nullptr);
        b.key_out = &e.first;
        b.value_out = values_of(e.second).data();
        if (run_counting(b) == 0) return std::nullopt;
        if constexpr (std::is_void_v<Value>) e.second = true;
        return e;
    }
    static void in(hd_batch &b, values_in values) { b.value = sized(values, b.n * per_value, "values"); }
    static void out(hd_batch &b, values_out values) { b.value_out = sized(values, b.n * per_value, "values"); }
    static span<element> values_of(row &r) noexcept
    {
        if constexpr (std::is_void_v<Value>)
            return static_cast<void>(r), span<element>();
        else if constexpr (std::is_array_v<Value>)
            return r;
        else
            return span<element>(&r, 1);
    }
    static constexpr hd_elem elem_of()
    {
        constexpr bool integer = std::is_integral_v<element>, real = std::is_same_v<element, double>;
        static_assert(integer || real || std::is_same_v<element, float>,
                      "for other elements, set hd_batch.elem and call run()");
        if constexpr (integer)
            return sizeof(element) == 1   ? HD_I8
                   : sizeof(element) == 2 ? HD_I16
                   : sizeof(element) == 4 ? HD_I32
                                          : HD_I64;
        return real ? HD_F64 : HD_F32;
    }
    std::uint64_t run_counting(hd_batch &b) const
    {
        std::uint64_t n = 0;
        b.count = &n;
        run(b);
        return n;
    }
    std::uint64_t run_predicate(hd_op op, const char *predicate, std::uint64_t a, std::uint64_t b) const
    {
        hd_batch batch = hd_batch_of(op, 0, nullptr);
        batch.pred = predicate;
        batch.pred_arg[0] = a;
        batch.pred_arg[1] = b;
        return run_counting(batch);
    }
};

/* ---- Tables -------------------------------------------------------------------------------------------------- */

/* Owns a table: it can be moved, not copied, and its destructor closes the table. */
template <class Value> class table : public table_view<Value>
{
  public:
    using view = table_view<Value>;

    /* c.value_bytes is set to the size of Value. */
    explicit table(hd_config c) : view(nullptr, nullptr)
    {
        c.value_bytes = view::traits::bytes;
        check(hd_open(&c, &this->table_));
    }
    /* hd_open_snapshot: a table with the shape and the entries of the file. */
    static table open(const std::string &path, const hd_config *c = nullptr)
    {
        hd_table *t = nullptr;
        check(hd_open_snapshot(path.c_str(), c, &t));
        table owner(t);
        std::uint32_t bytes = owner.info().value_bytes;
        if (bytes != view::traits::bytes)
            throw error(HD_EINVAL, path + ": value_bytes: " + std::to_string(bytes) + " in the file, " +
                                       std::to_string(view::traits::bytes) + " in the program");
        return owner;
    }
    /* Takes ownership of an open table. */
    explicit table(hd_table *t) noexcept : view(t, nullptr) {}
    table(table &&from) noexcept : view(std::exchange(from.table_, nullptr), from.stream_) {}
    table &operator=(table &&from) noexcept
    {
        std::swap(this->table_, from.table_);
        std::swap(this->stream_, from.stream_);
        return *this;
    }
    table(const table &) = delete;
    table &operator=(const table &) = delete;
    ~table() { hd_close(this->table_); }
    /* Gives up ownership: the caller calls hd_close. */
    hd_table *release() noexcept { return std::exchange(this->table_, nullptr); }
};

} // namespace heddle

#endif

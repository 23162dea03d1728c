/* SPDX-License-Identifier: Apache-2.0
 *
 * embedding.cpp - a cache of embedding rows in front of a store that holds all of them: lookups, training steps, rows
 * that leave the cache and go back to the store, growth, and a snapshot.
 *
 *     c++ -std=c++17 embedding.cpp $(pkg-config --cflags --libs heddle) && ./a.out
 */
#include <heddle.hpp>

#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

namespace
{

constexpr std::size_t dim = 16, batch = 256;
using row = std::array<float, dim>;
using rows = heddle::table<float[dim]>;

/* The slow storage behind the cache. A row that was never stored begins as a function of its id. */
class store
{
  public:
    row get(std::uint64_t id) const
    {
        auto found = rows_.find(id);
        if (found != rows_.end()) return found->second;
        row fresh;
        for (std::size_t d = 0; d < dim; d++) fresh[d] = static_cast<float>((id * 31 + d) % 1000) / 1000;
        return fresh;
    }
    void put(std::uint64_t id, const float *values)
    {
        row &r = rows_[id];
        for (std::size_t d = 0; d < dim; d++) r[d] = values[d];
    }
    std::size_t size() const { return rows_.size(); }

  private:
    std::unordered_map<std::uint64_t, row> rows_;
};

/* The arrays of one batch, kept from step to step. */
struct buffers {
    std::vector<std::uint64_t> ids = std::vector<std::uint64_t>(batch), missed = ids, left = ids;
    std::vector<float> values = std::vector<float>(batch * dim), fetched = values, left_values = values;
    std::vector<std::uint8_t> outcomes = std::vector<std::uint8_t>(batch);
};

/* Different ids, of which small ones come more often. */
void draw_ids(std::vector<std::uint64_t> &ids, std::uint64_t &state)
{
    for (std::size_t i = 0; i < batch; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        std::uint64_t a = (state >> 33) % 64, b = (state >> 13) % 64;
        ids[i] = (a * b / 64) * batch + i;
    }
}

/* Fills b.values with the rows of b.ids; returns how many the cache had. */
std::size_t look_up(rows &cache, store &behind, buffers &b)
{
    cache.touch(b.ids, b.values, b.outcomes);
    std::size_t misses = 0;
    for (std::size_t i = 0; i < batch; i++) {
        if (b.outcomes[i] == HD_HIT) continue;
        row r = behind.get(b.ids[i]);
        for (std::size_t d = 0; d < dim; d++) b.values[i * dim + d] = b.fetched[misses * dim + d] = r[d];
        b.missed[misses++] = b.ids[i];
    }
    heddle::keys_in keys(b.missed.data(), misses);
    heddle::span<const float> values(b.fetched.data(), misses * dim);
    std::uint64_t left = cache.insert_and_evict(keys, values, b.left, b.left_values);
    for (std::size_t i = 0; i < left; i++) behind.put(b.left[i], &b.left_values[i * dim]);
    return batch - misses;
}

/* One step of gradient descent on the rows that were looked up. */
void train(rows &cache, buffers &b)
{
    for (float &v : b.values) v -= 0.01f * v;
    cache.assign_values(b.ids, b.values);
}

double hit_rate(rows &cache, store &behind, buffers &b, std::uint64_t &state, std::size_t steps)
{
    std::size_t hits = 0;
    for (std::size_t s = 0; s < steps; s++) {
        draw_ids(b.ids, state);
        hits += look_up(cache, behind, b);
        train(cache, b);
    }
    return static_cast<double>(hits) / static_cast<double>(steps * batch);
}

void run(const std::string &path)
{
    hd_config c = hd_config_default();
    c.capacity = 2048;
    c.threads = 1;
    rows cache(c);
    store behind;
    buffers b;
    std::uint64_t state = 1;

    double small = hit_rate(cache, behind, b, state, 400);
    cache.reserve(8192); /* no entry is lost */
    double large = hit_rate(cache, behind, b, state, 400);
    std::printf("hit rate %.3f with 2,048 rows, %.3f with 8,192\n", small, large);
    std::printf("%zu rows went back to the store\n", behind.size());

    cache.save(path);
    rows again = rows::open(path);
    std::size_t same = 0;
    cache.for_each([&](std::uint64_t id, std::uint64_t, float(&values)[dim]) {
        std::optional<row> r = again.find(id);
        bool equal = r.has_value();
        for (std::size_t d = 0; d < dim && equal; d++) equal = !((*r)[d] < values[d]) && !((*r)[d] > values[d]);
        same += equal;
    });
    std::printf("%zu of %zu rows came back from the snapshot\n", same, static_cast<std::size_t>(cache.size()));
    std::remove(path.c_str());
}

} // namespace

int main(int argc, char **argv)
{
    try {
        run(argc > 1 ? argv[1] : "embedding.heddle");
    } catch (const heddle::error &e) {
        std::printf("embedding: %s: %s\n", hd_status_name(e.status()), e.what());
        return 1;
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.cpp - the C++ example of README.md, which shows this file from the first #include on, and what it prints. Built
 * with the installed library:
 *
 *     c++ -std=c++17 rows.cpp $(pkg-config --cflags --libs heddle) -o rows
 */
#include <heddle.hpp>
#include <cstdio>
#include <vector>

int main()
try {
    hd_config c = hd_config_default();
    c.capacity = 1 << 16;
    heddle::table<float[4]> t(c); // a row of four floats per key

    std::vector<std::uint64_t> keys = { 7, 8, 9 };
    std::vector<float> rows(3 * 4, 0.5f);
    t.upsert(keys, rows);
    t.accum_or_assign(keys, rows); // adds
    if (auto row = t.find(8)) std::printf("key 8: %.1f %.1f\n", (*row)[0], (*row)[3]);
    t.find(keys, heddle::span(rows.data(), 2)); // three keys have twelve floats
} catch (const heddle::error &e) {
    std::printf("%s: %s\n", hd_status_name(e.status()), e.what());
}

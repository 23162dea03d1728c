/* SPDX-License-Identifier: Apache-2.0
 *
 * bed.c - the memory of a puzzle, and what its judge draws and says.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "learn/puzzles/puzzle.h"

void *bed_array(puzzle_bed *b, const char *table, const char *row, const char *name, uint32_t bytes, uint32_t n)
{
    enum { LINE = 128 }; /* between two arrays is a line of none, so that an access past an end is out of bounds */
    puzzle_array *a = &b->array[b->arrays++];
    size_t size = (size_t)bytes * n;
    *a = (puzzle_array){ name, table ? table : name, row, bytes, n, b->memory + b->used, false };
    b->used += (size + LINE - 1) / LINE * LINE + LINE;
    return memset(a->p, 0, size);
}

void *bed_input(puzzle_bed *b, const char *table, const char *row, const char *name, uint32_t bytes, uint32_t n)
{
    void *p = bed_array(b, table, row, name, bytes, n);
    b->array[b->arrays - 1].input = true;
    return p;
}

uint32_t bed_below(puzzle_bed *b, uint32_t n) { return (uint32_t)hd_rng_below(&b->chance, n); }

static bool among(const uint64_t *v, uint32_t n, uint64_t one)
{
    while (n && v[n - 1] != one) n--;
    return n > 0;
}

/* Wide numbers are cells of a square: each shares its high half with its row, and its low half with its column. */
void bed_numbers(puzzle_bed *b, uint64_t *v, uint32_t n)
{
    uint64_t high[PUZZLE_SQUARE], low[PUZZLE_SQUARE];
    uint32_t side = 2;
    while (side * side < n + n / 2 && side < PUZZLE_SQUARE) side++;
    for (uint32_t i = 0; i < side; i++)
        high[i] = hd_rng_next(&b->chance) >> 33 << 32, low[i] = bed_below(b, UINT32_MAX);
    for (uint32_t i = 0; i < n;) {
        v[i] = b->example ? high[bed_below(b, side)] | low[bed_below(b, side)] : 10 + bed_below(b, 990);
        if (!among(v, i, v[i])) i++;
    }
}

void bed_shuffle(puzzle_bed *b, uint64_t *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t other = i + bed_below(b, n - i);
        uint64_t one = v[i];
        v[i] = v[other];
        v[other] = one;
    }
}

uint64_t bed_twin(puzzle_bed *b, uint64_t v)
{
    uint64_t other = 1 + bed_below(b, INT32_MAX);
    return v ^ (bed_below(b, 2) ? other << 32 : other);
}

const char *bed_taken(uint64_t said, uint64_t want, const char *by)
{
    bool low = (uint32_t)said == (uint32_t)want, high = said >> 32 && said >> 32 == want >> 32;
    return said != want && (low || high) ? "64 bits" : by;
}

const char *bed_stored(uint64_t said, uint64_t want, const char *by)
{
    return said != want && said == (uint32_t)want ? "64 bits" : by;
}

const void *bed_before(const puzzle_bed *b, const void *p)
{
    return b->before + ((const unsigned char *)p - b->memory);
}

void bed_launch(puzzle_bed *b, const void *args, size_t args_bytes, uint32_t blocks, uint32_t threads, uint32_t keys)
{
    memcpy(b->args, args, args_bytes);
    b->args_bytes = args_bytes;
    b->blocks = blocks;
    b->threads = threads;
    b->keys = keys;
}

const char *bed_wrong(puzzle_bed *b, const char *by, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(b->detail, sizeof b->detail, format, ap);
    va_end(ap);
    return by;
}

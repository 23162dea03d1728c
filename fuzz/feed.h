/* SPDX-License-Identifier: Apache-2.0
 *
 * feed.h - turns bytes into decisions. Any bytes are decisions, and after its end a feed decides 0 for ever. So a
 * shorter input is a simpler one, and 0 should be the simplest choice. A choice among up to 256 costs one byte, so a
 * change of one byte changes one decision.
 */
#ifndef HD_FUZZ_FEED_H
#define HD_FUZZ_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct feed {
    const uint8_t *next, *end;
} feed;

static inline feed feed_of(const uint8_t *bytes, size_t n)
{
    feed f = { bytes, bytes + n };
    return f;
}

static inline bool feed_more(const feed *f) { return f->next < f->end; }
static inline size_t feed_left(const feed *f) { return (size_t)(f->end - f->next); }
static inline uint8_t feed_byte(feed *f) { return f->next < f->end ? *f->next++ : 0; }

/* A number of so many bytes, the lowest first; bytes that are not there are 0. */
static inline uint64_t feed_word(feed *f, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++) v |= (uint64_t)feed_byte(f) << 8 * i;
    return v;
}

/* 0 to n - 1; where there is nothing to choose, no byte is taken. */
static inline uint64_t feed_below(feed *f, uint64_t n)
{
    if (n <= 1) return 0;
    return feed_word(f, n <= 256 ? 1 : n <= 65536 ? 2 : n <= 1ull << 32 ? 4 : 8) % n;
}

/* A number that is 0, small, near a power of two, near the end, or any. */
static inline uint64_t feed_number(feed *f)
{
    uint8_t kind = feed_byte(f);
    switch (kind >> 5) {
    case 0: return kind & 31;
    case 1: return UINT64_MAX - (kind & 31);
    case 2: return 1ull << (kind & 31);
    case 3: return 1ull << (32 + (kind & 31));
    case 4: return (1ull << (2 * (kind & 31))) - 1;
    case 5: return (1ull << (2 * (kind & 31))) + 1;
    case 6: return feed_word(f, 1 + (kind & 3));
    default: return feed_word(f, 8);
    }
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * toy_design.h - a second, minimal design, to test what the backends promise to every design: boards of places. The
 * board of a key is key modulo boards; its place is the first free one. The table keeps every entry and has no scores.
 * It grows in place, by allocating boards one at a time. An insertion is two launches.
 */
#ifndef TESTS_TOY_DESIGN_H
#define TESTS_TOY_DESIGN_H

#include "concurrency/word.h"
#include "base/backend.h"
#include "lib/backend_host.h"

enum { TOY_BOARDS = 4, TOY_PLACES = 32 };

/* Rows. */
enum { TOY_LOOKUP, TOY_INSERT, TOY_MIXED /* finds and insertions */, TOY_ASTRAY, TOY_STALE /* these two are wrong */ };

typedef struct toy_view {
    uint64_t *board[TOY_BOARDS]; /* (TOY_PLACES, 2) key and value; HD_KEY_EMPTY: an empty place */
    uint32_t boards;
} toy_view;

/* What kernels count and lock. */
typedef struct toy_words {
    uint64_t tally[HD_OUTCOME_COUNT], crowded;
    hd_word word;
} toy_words;

typedef struct toy_state {
    hd_gpu_state gpu;
    toy_view v;
    uint32_t *writes[TOY_BOARDS];
    toy_words *words;
} toy_state;

extern const hd_gpu toy_gpu;
extern const hd_design toy_design;

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * streams.h - looks of search_call.c that have files of their own.
 */
#ifndef HD_MUSEUM_STREAMS_H
#define HD_MUSEUM_STREAMS_H

#include "judge/museum/museum.h"
#include "workload/rng.h"

/* A look that runs `once` with one seed after another: NULL, or what the judge says. */
const char *museum_try_seeds(const museum_search *s, museum_sight *sight, museum_judge judge,
                             const char *(*once)(hd_rng *));

/* words: the lock's row. Batches of random roles on random streams of a device that only keeps account of what comes
 * after what. */
const char *museum_look_streams(const museum_search *s, museum_sight *sight, const char *words);

/* Host arrays of random batches, copied by lib/staging.c. */
const char *museum_look_staging(const museum_search *s, museum_sight *sight, const char *words);

/* Batches whose arrays end where the process's memory does. */
const char *museum_look_edge(const museum_search *s, museum_sight *sight, const char *words);

/* words: a case. Batches of many items against batches of one. */
const char *museum_look_single(const museum_search *s, museum_sight *sight, const char *words);

/* Rows of a list that threads keep until their block has run. */
const char *museum_look_rows(const museum_search *s, museum_sight *sight, const char *words);

/* Random walks over tables, by lib/cuda_walk.c. */
const char *museum_look_walk(const museum_search *s, museum_sight *sight, const char *words);

/* words: a design. What random tables take of a device's memory, against what `near` allows. */
const char *museum_look_budget(const museum_search *s, museum_sight *sight, const char *words);
/* The same while `near` changes. */
const char *museum_look_limits(const museum_search *s, museum_sight *sight, const char *words);

#endif

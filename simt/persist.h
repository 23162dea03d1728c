/* SPDX-License-Identifier: Apache-2.0
 *
 * persist.h - persistent memory: which stores a crash may lose. A word is eight aligned bytes of a persistent region.
 * The model is the weakest that any medium allows:
 *
 *   Stores to one word become durable in order. Stores to different words become durable in any order. A store is
 *   durable for certain after simt_fence_system() of its lane, or after the host has made its bytes durable
 *   (simt_machine_persisted). With config.cumulative a fence also covers what its lane knows by happens-before.
 *
 * So a crash leaves in each word its last durable value or that of any later store. Stores that are still in a store
 * buffer (config.weak) are lost.
 *
 * Stores, and fences and persists that make a store durable, are events with the numbers 1, 2, ... of their run. With
 * config.crash_at = n the run ends just before event n, with the finding SIMT_CRASH. crash.h makes the memory what a
 * crash may have left.
 */
#ifndef HD_SIMT_PERSIST_H
#define HD_SIMT_PERSIST_H

#include "simt/race.h"
#include "simt/state.h"

/* A store to a word that is not durable for certain. */
typedef struct persist_store {
    uint8_t *word;
    uint64_t before, after; /* of the whole word */
    const char *site;
    uint64_t step; /* when it was made, also where it became visible later */
    uint64_t run;  /* generation of the machine */
    uint32_t launch, block, thread;
    lane_time written;
} persist_store;

/* All of them, in the order in which they became visible. (*n), valid until the next store. */
const persist_store *persist_stores(const simt_machine *m, size_t *n);
/* What memory holds now is durable. */
void persist_all(simt_machine *m);
/* Before each access of the runs from now on `look` is called; NULL: not any more. */
typedef void persist_look(void *context, const void *p, size_t bytes);
void persist_look_with(simt_machine *m, persist_look *look, void *context);
/* Calls it. */
void persist_look_at(const simt_machine *m, const void *p, size_t bytes);

/* So many tickets of the last run were drawn in launches that had ended, and whose stores the host had made durable,
 * before a later launch drew its first one: until then launches without tickets may bring them to where they last. */
size_t persist_settled(const simt_machine *m);
/* So many launches of the last run had ended, and the host had made stores of theirs durable. */
size_t persist_launches(const simt_machine *m);

#endif

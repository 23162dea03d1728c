/* SPDX-License-Identifier: Apache-2.0
 *
 * list.h - growing arrays and hash tables on the machine's memory seam, and its random numbers. Memory that ran out
 * is a finding.
 */
#ifndef HD_SIMT_LIST_H
#define HD_SIMT_LIST_H

#include "simt/state.h"

bool vec_push(simt_machine *m, vec *v, const void *element);
void vec_of(simt_machine *m, vec *v, size_t size); /* empties it, for elements of that size */
void vec_free(simt_machine *m, vec *v);

void *table_at(simt_machine *m, table *t, uint64_t key, bool create); /* NULL: absent, or no memory (a finding) */
void table_free(simt_machine *m, table *t);

uint64_t hash_spread(uint64_t key);
uint64_t machine_random(uint64_t *state);

#endif

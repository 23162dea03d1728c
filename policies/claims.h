/* SPDX-License-Identifier: Apache-2.0
 *
 * claims.h - the flags of a policy: proven from its expressions, and searched for inputs that refute them.
 */
#ifndef HD_CLAIMS_H
#define HD_CLAIMS_H

#include "policies/nodes.h"

/* The flags that follow from the form of the expressions (HD_FUNCTIONS node numbers). No flag is given that does
 * not hold; one that holds may be missing. HD_SCORES_USED is given if any of the expressions reads `given`. */
uint32_t hd_claims_proven(const hd_nodes *all, const uint32_t function[]);

/* Where none of the expressions reads `given`, and a hit counts hits (old+c, also up to a cap or below an epoch):
 * writes old+c*given instead. Items of such a policy give 1, and the leader of a group of n hits gives n
 * (gpu/hkv/repeated_keys.h). So HD_HITS_ADD holds, which is proven of the functions as they were. */
void hd_claims_count_hits(hd_nodes *all, uint32_t function[]);

/* Those of the flags `sought` that a search refutes: so many chains of an insert and four hits, with inputs that a run
 * can produce. A flag that is not among them need not hold. HD_SCORES_USED, HD_SPARES and HD_READS_LEAST are among them
 * if given scores, on_evict or `least` were found to matter. `program` may be NULL for a row of the registry. */
uint32_t hd_claims_refuted(uint32_t policy, const hd_program *program, uint32_t sought, uint32_t chains);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * zipf_fit.h - which Zipf law, popularity of rank r ~ 1 / r^s, a trace's popular keys follow.
 *
 * Only keys with at least ZIPF_FIT_TIMES requests count: the order of rare keys is random, and would bend
 * the fit. Requests of the top N keys of a Zipf law follow the law cut at N, so the exponent is the one
 * under which those requests are likeliest (Clauset, Shalizi, Newman: Power-Law Distributions in
 * Empirical Data, SIAM Review 51, 2009, section 3). The gap says how far the fit is from the facts.
 */
#ifndef HD_ZIPF_FIT_H
#define HD_ZIPF_FIT_H

#include "tools/tally.h"

enum { ZIPF_FIT_TIMES = 16, ZIPF_FIT_KEYS = 16 };

typedef struct zipf_fit {
    uint64_t keys;   /* that count; 0: too few, no fit */
    double exponent; /* 0 to 4                        */
    double gap;      /* greatest difference of the cumulative shares, 0 to 1 */
} zipf_fit;

/* step: as tally_spectrum gives it. */
zipf_fit zipf_fit_steps(const tally_step *step, size_t steps);

#endif

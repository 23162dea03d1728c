/* SPDX-License-Identifier: Apache-2.0
 *
 * suites.c - bench/cases.inc is made from bench/cases/ by the makefile.
 */
#include "bench/suites.h"

#include <stddef.h>

const bench_suite bench_suites[] = {
#include "bench/cases.inc"
    { NULL, NULL },
};

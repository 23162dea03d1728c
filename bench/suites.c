/* SPDX-License-Identifier: Apache-2.0
 *
 * suites.c - the makefile makes bench/cases.inc from bench/cases/.
 */
#include "bench/suites.h"

#include <stddef.h>

const bench_suite bench_suites[] = {
#include "bench/cases.inc"
    { NULL, NULL },
};

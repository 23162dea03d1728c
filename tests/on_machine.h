/* SPDX-License-Identifier: Apache-2.0
 *
 * on_machine.h - test_run for the programs whose tests share one host machine.
 */
#ifndef ON_MACHINE_H
#define ON_MACHINE_H

#include "simt/machine.h"
#include "tests/testing.h"

#define test_run_on(machine, tests) test_run_on_named((machine), #tests, tests, sizeof(tests) / sizeof(tests)[0])

/* Opens *machine for the tests, and closes it. */
static inline int test_run_on_named(simt_machine **machine, const char *name, const struct CMUnitTest *tests, size_t n)
{
    if (simt_machine_open(NULL, machine)) return 1;
    int failed = test_run_named(name, tests, n);
    simt_machine_close(*machine);
    return failed;
}

#endif

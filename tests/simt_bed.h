/* SPDX-License-Identifier: Apache-2.0
 *
 * simt_bed.h - shared by the tests of the host machine: a machine, two arrays of device memory, and the configurations
 * in which a kernel is run.
 */
#ifndef SIMT_BED_H
#define SIMT_BED_H

#include <stdlib.h>

#include "simt/machine.h"
#include "tests/simt_kernels.h"
#include "tests/testing.h"

static simt_machine *machine;
static buffers memory;

static int open_machine(void **unused)
{
    (void)unused;
    must(simt_machine_open(NULL, &machine));
    memory.in = (uint32_t *)aligned_alloc(128, 4 * WORDS);
    memory.out = (uint32_t *)aligned_alloc(128, 4 * WORDS);
    return 0;
}

static int close_machine(void **unused)
{
    (void)unused;
    simt_machine_close(machine);
    free(memory.in);
    free(memory.out);
    return 0;
}

static void reset(void)
{
    for (uint32_t i = 0; i < WORDS; i++) memory.in[i] = i, memory.out[i] = 0;
    simt_machine_forget(machine);
    must(simt_machine_region(machine, memory.in, 4 * WORDS, "in"));
    must(simt_machine_region(machine, memory.out, 4 * WORDS, "out"));
}

static bool run(void (*kernel)(const void *), uint32_t blocks, uint32_t threads, const simt_config *c)
{
    reset();
    must(simt_machine_launch(machine, kernel, &memory, sizeof memory, blocks, threads, 0));
    return simt_machine_run(machine, c);
}

/* Way number i of running: units, strategies, places of preemption, weak or not. */
static simt_config way(uint32_t i, uint64_t seed)
{
    static const simt_strategy strategy[] = { SIMT_RANDOM, SIMT_PCT, SIMT_ROUND_ROBIN };
    static const uint32_t preempt[] = { SIMT_AT_ALL, SIMT_AT_ATOMIC, SIMT_AT_SYNC, SIMT_AT_NONE };
    simt_config c = simt_config_default();
    c.strategy = strategy[i % 3];
    c.preempt = preempt[i / 3 % 4];
    c.unit = i / 12 % 2 ? SIMT_BY_WARP : SIMT_BY_LANE;
    c.weak = i / 24 % 2;
    c.seed = seed;
    c.step_limit = 200000;
    c.meter = i % 5 == 0;
    return c;
}

enum { WAYS = 48 };

#endif

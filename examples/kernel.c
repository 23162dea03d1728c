/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel.c - a first kernel in the dialect, run by the simulator: doc/dialect.md shows this file from the first
 * #include on, and what it prints. The second kernel has a fault that the simulator reports.
 */
#include <stdio.h>

#include "simt/machine.h"
#include "simt/simt.h"

typedef struct counter {
    uint32_t *lock, *count;
} counter;

SIMT_KERNEL(add_one, counter, c)
{
    while (simt_cas_u32(c.lock, 0u, 1u, SIMT_ACQUIRE) != 0) simt_backoff(8);
    uint32_t n = simt_ld_u32(c.count);
    simt_st_u32(c.count, n + 1);
    simt_strel_u32(c.lock, 0u);
}

SIMT_KERNEL(add_one_wrong, counter, c)
{
    while (simt_cas_u32(c.lock, 0u, 1u, SIMT_ACQUIRE) != 0) simt_backoff(8);
    uint32_t n = simt_ld_u32(c.count);
    simt_st_u32(c.count, n + 1);
    simt_strlx_u32(c.lock, 0u); /* relaxed: does not order the store before it */
}

static void run(simt_machine *m, const char *name, void (*kernel)(const void *))
{
    uint32_t memory[2] = { 0, 0 };
    counter c = { &memory[0], &memory[1] };
    simt_config config = simt_config_default(); /* random schedule, race detector on */
    simt_machine_forget(m);
    simt_machine_region(m, memory, sizeof memory, "memory");
    simt_machine_launch(m, kernel, &c, sizeof c, 2 /* blocks */, 32 /* threads */, 0 /* stream */);
    bool good = simt_machine_run(m, &config);
    printf("%s: %s\n", name, good ? "no finding" : simt_machine_finding(m)->story);
    if (good) printf("%s: counted to %u\n", name, memory[1]);
}

int main(void)
{
    simt_machine *m;
    if (simt_machine_open(NULL, &m)) return 1;
    run(m, "add_one", add_one);
    run(m, "add_one_wrong", add_one_wrong);
    simt_machine_close(m);
}

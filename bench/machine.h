/* SPDX-License-Identifier: Apache-2.0
 *
 * machine.h - the machine of a measurement: the processor's model, its cores, the compiler and its flags. No host names
 * and no dates: a result must be readable and comparable anywhere.
 */
#ifndef HD_BENCH_MACHINE_H
#define HD_BENCH_MACHINE_H

#include <stdint.h>

enum { MACHINE_TEXT = 256 };

typedef struct machine {
    char cpu[MACHINE_TEXT];      /* "AMD EPYC"                         */
    char slug[MACHINE_TEXT];     /* "amd-epyc": a file's name          */
    char compiler[MACHINE_TEXT]; /* "gcc 12.2.0"                       */
    const char *flags;           /* "-g -O3"                           */
    int cores;                   /* that this process may run on       */
    double load;                 /* others' work: the one-minute load average */
} machine;

void machine_look(machine *m);

/* Memory of this process that is really there; 0 where /proc does not say. */
int64_t machine_resident_bytes(void);

/* From here on big blocks go back to the system when they are freed; else they would be handed out again, and the next
 * table would seem to take no memory. Call it before the first of them. */
void machine_return_memory(void);

/* Seconds: of the clock on the wall, and of processor time of all threads of this process. */
double machine_wall_s(void);
double machine_cpu_s(void);

#endif

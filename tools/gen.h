/* SPDX-License-Identifier: Apache-2.0
 *
 * gen.h - the options of `heddle gen`, which writes requests (verb_gen.c) or a genome (gen_genome.c).
 */
#ifndef HD_GEN_H
#define HD_GEN_H

#include "tools/tool.h"
#include "workload/genome.h"

typedef struct gen_options {
    uint64_t requests;
    const char *path, *format;
    hd_genome
        genome; /* its seed is that of requests, too. What no option has set is GEN_UNSET, or 0 where 0 cannot be */
} gen_options;

#define GEN_UNSET (-1.0)

/* Whether an option was given that only a genome has. */
bool gen_is_of_genome(const hd_genome *g);

/* Writes the genome, or its reads, and reports. Returns the exit code. */
int gen_genome(const tool_line *line, gen_options *o);

#endif

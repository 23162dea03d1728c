/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.c - the table of bugs, which alter.awk makes, and which of them is there now.
 */
#include "judge/design.h"
#include "judge/museum/museum.h"

#include <string.h>

int museum_now;

const museum_row museum_rows[] = {
#include "judge/museum/altered/bugs.inc"
};
const size_t museum_row_count = sizeof museum_rows / sizeof *museum_rows;

int museum_number(const char *name)
{
    size_t i = 0;
    while (i < museum_row_count && strcmp(museum_rows[i].name, name) != 0) i++;
    return i < museum_row_count && !museum_rows[i].lost[0] ? museum_rows[i].number : 0;
}

/* Refers to the altered copies. The linker takes the first of an original and its copy that is referred to, and it sees
 * this file before the originals. A design without kernels has no port to the judge. */
extern const judge_design *const museum_designs[];
const judge_design *const museum_designs[] = {
#define JUDGE_DESIGN(name) &judge_design_##name,
#include "judge/designs.inc"
#undef JUDGE_DESIGN
};

#define HD_DESIGN(name) extern const hd_design name;
#include "lib/designs.inc"
#undef HD_DESIGN

extern const hd_design *const museum_references[];
const hd_design *const museum_references[] = {
#define HD_DESIGN(name) &name,
#include "lib/designs.inc"
#undef HD_DESIGN
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * raw_told.c - the hook of every C access of kernel code (simt/raw_hooks.c): an access to memory of the dialect ends
 * the run.
 */
#include "simt/raw.h"
#include "tests/raw.h"

static uint64_t told;

uint64_t raw_told(void) { return told; }

void simt_raw_told(const void *p, size_t bytes, bool write, const void *pc)
{
    told++;
    if (simt_raw_reaches(p, bytes)) simt_raw_found(p, bytes, write, simt_raw_place(pc));
}

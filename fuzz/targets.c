/* SPDX-License-Identifier: Apache-2.0
 *
 * targets.c - the table of targets.
 */
#include <string.h>

#include "fuzz/fuzz.h"

#define FUZZ_TARGET(name) extern const fuzz_target fuzz_##name;
#include "fuzz/targets.inc"
#undef FUZZ_TARGET

static const fuzz_target *const targets[] = {
#define FUZZ_TARGET(name) &fuzz_##name,
#include "fuzz/targets.inc"
#undef FUZZ_TARGET
};
enum { TARGETS = sizeof targets / sizeof *targets };

const fuzz_target *fuzz_target_at(size_t i) { return i < TARGETS ? targets[i] : NULL; }

const fuzz_target *fuzz_target_find(const char *name)
{
    for (size_t i = 0; i < TARGETS; i++)
        if (strcmp(targets[i]->name, name) == 0) return targets[i];
    return NULL;
}

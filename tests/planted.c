/* SPDX-License-Identifier: Apache-2.0
 *
 * planted.c - replaces ref/hkv/hkv.c by a reference with a bug for the fuzzer to find. The environment chooses it.
 * PLANTED=score: a hit forgets how often the key was used before. PLANTED=crash: a hit on an entry with a high score
 * ends the process. Otherwise there is no bug.
 */
#include <stdlib.h>
#include <string.h>

#include "policies/policy.h"

static uint64_t planted_hit(uint32_t policy, const hd_program *program, uint64_t old, hd_score_in in)
{
    const char *bug = getenv("PLANTED");
    if (bug && strcmp(bug, "score") == 0) return hd_on_insert(policy, program, in);
    if (bug && strcmp(bug, "crash") == 0 && old > UINT64_MAX / 2) abort();
    return hd_on_hit(policy, program, old, in);
}

#define hd_on_hit planted_hit
#include "ref/hkv/hkv.c"

/* SPDX-License-Identifier: Apache-2.0
 *
 * between.h - tests that stand between two parts of the library: with -Wl,--wrap=CALL the linker brings whoever calls
 * CALL to __wrap_CALL, and what was called is __real_CALL.
 */
#ifndef TESTS_BETWEEN_H
#define TESTS_BETWEEN_H

#include "base/error.h"

#define BETWEEN(type, call, parameters) \
    type __real_##call parameters;      \
    type __wrap_##call parameters

/* Of all calls that ask, one fails. */
typedef struct between_failing {
    hd_status how;
    uint64_t n, fail_at; /* how many asked; the one, from 1, that fails; 0: none */
    const char *failed;  /* its name */
} between_failing;

/* HD_OK, or how this call fails. */
static inline hd_status between_fails(between_failing *f, const char *call)
{
    if (++f->n != f->fail_at) return HD_OK;
    f->failed = call;
    return hd_fail(f->how, "%s: not today", call);
}

/* A call that does nothing but fail, as `f` has it, or happen; `besides`: what is to be done where it failed. */
#define BETWEEN_FAILING(f, call, parameters, arguments, besides) \
    BETWEEN(hd_status, call, parameters);                        \
    hd_status __wrap_##call parameters                           \
    {                                                            \
        hd_status status = between_fails(f, #call);              \
        if (!status) return __real_##call arguments;             \
        besides;                                                 \
        return status;                                           \
    }

#endif

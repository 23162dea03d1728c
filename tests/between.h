/* SPDX-License-Identifier: Apache-2.0
 *
 * between.h - for tests that replace a function between two parts of the library: with -Wl,--wrap=CALL the linker
 * resolves calls of CALL to __wrap_CALL, and __real_CALL is the function that was replaced.
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

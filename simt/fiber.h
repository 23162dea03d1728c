/* SPDX-License-Identifier: Apache-2.0
 *
 * fiber.h - one stack per lane, and the switch between them: 2 ns on x86-64 and aarch64, ucontext elsewhere.
 *
 * The thread's own stack is a fiber, too: the hub. Every switch is reported to AddressSanitizer and
 * ThreadSanitizer, every stack to valgrind.
 */
#ifndef HD_FIBER_H
#define HD_FIBER_H

#include <stddef.h>
#include <stdint.h>

typedef struct hd_fiber {
    void *sp;    /* where it stopped                                     */
    char *stack; /* lowest byte                                          */
    size_t stack_bytes;
    void *shadow;           /* AddressSanitizer's fake stack, while it is stopped   */
    void *shadow_of_thread; /* ThreadSanitizer's context                       */
    unsigned known_as;      /* valgrind's number for the stack                 */
    void (*run)(void *);
    void *arg;
} hd_fiber;

/* The hub: the thread's own stack. */
void fiber_hub(hd_fiber *hub);

/* A fiber that will call run(arg) when it is first switched to; run must not return. `stack` is the caller's. `colour`
 * spreads the tops of page-aligned stacks over the cache's sets: pass the fiber's number. */
void fiber_make(hd_fiber *f, char *stack, size_t stack_bytes, unsigned colour, void (*run)(void *), void *arg);

/* Forgets a fiber wherever it stopped; its stack may be used again. */
void fiber_drop(hd_fiber *f);

/* From the one that runs to another; the hub is one of them. */
void fiber_switch(hd_fiber *from, hd_fiber *to);

#endif

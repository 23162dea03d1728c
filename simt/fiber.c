/* SPDX-License-Identifier: Apache-2.0
 *
 * fiber.c - the switch.
 *
 * switch_stacks saves the callee's registers and the stack pointer, and takes up those of the other side. It
 * returns by an indirect jump: `ret` would mispredict on every switch, since the return address is not the one that the
 * processor's return stack expects (24-38 ns a round trip against 4-7).
 */
#include "simt/fiber.h"

#include <string.h>

#include "base/assert.h"

#include "simt/sanitizer.h"

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef VALGRIND_STACK_REGISTER
#define VALGRIND_STACK_REGISTER(from, to)   0u
#define VALGRIND_STACK_DEREGISTER(known_as) ((void)0)
#endif

#ifdef HD_ASAN
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef HD_TSAN
#include <sanitizer/tsan_interface.h>
#endif

/* ---- Per machine: switch_stacks and the first frame ------------------------------------------ */

extern void switch_stacks(void **save, void *to) __attribute__((visibility("hidden")));
extern void first_frame(void) __attribute__((visibility("hidden")));

#if defined(__x86_64__)

__asm__(".text\n"
        ".p2align 4\n"
        ".type switch_stacks, @function\n"
        "switch_stacks:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  popq %rdx\n"
        "  jmpq *%rdx\n"
        ".size switch_stacks, .-switch_stacks\n.type first_frame, @function\nfirst_frame:\n" /* r12: run, r13: arg */
        "  movq %r13, %rdi\n  xorl %ebp, %ebp\n  callq *%r12\n  ud2\n"
        ".size first_frame, .-first_frame\n");

static void *first_stack(char *top, void (*run)(void *), void *arg)
{
    uintptr_t *s = (uintptr_t *)((uintptr_t)top & ~(uintptr_t)15);
    *--s = 0; /* keeps the stack aligned to 16 at the call */
    *--s = 0;
    *--s = (uintptr_t)first_frame;
    *--s = 0;              /* rbp */
    *--s = 0;              /* rbx */
    *--s = (uintptr_t)run; /* r12 */
    *--s = (uintptr_t)arg; /* r13 */
    *--s = 0;              /* r14 */
    *--s = 0;              /* r15 */
    return s;
}

#elif defined(__aarch64__)

__asm__(".text\n"
        ".p2align 4\n"
        ".type switch_stacks, %function\n"
        "switch_stacks:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
        "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n  br x30\n"
        ".size switch_stacks, .-switch_stacks\n"
        ".type first_frame, %function\n"
        "first_frame:\n" /* x19: run, x20: its argument */
        "  mov x0, x20\n  mov x29, #0\n  blr x19\n  brk #0\n"
        ".size first_frame, .-first_frame\n");

static void *first_stack(char *top, void (*run)(void *), void *arg)
{
    uintptr_t *s = (uintptr_t *)((uintptr_t)top & ~(uintptr_t)15) - 20;
    memset(s, 0, 20 * sizeof *s);
    s[0] = (uintptr_t)run;          /* x19 */
    s[1] = (uintptr_t)arg;          /* x20 */
    s[11] = (uintptr_t)first_frame; /* x30 */
    return s;
}

#else /* any other processor: two system calls a switch */

#include <ucontext.h>

/* The context lies at the top of the stack that it describes; a pointer to it stands for the stack pointer. */
static void start(unsigned low_run, unsigned high_run, unsigned low_arg, unsigned high_arg)
{
    void (*run)(void *) = (void (*)(void *))((uintptr_t)low_run | (uintptr_t)high_run << 16 << 16);
    run((void *)((uintptr_t)low_arg | (uintptr_t)high_arg << 16 << 16));
}

static void switch_stacks(void **save, void *to)
{
    ucontext_t here;
    *save = &here;
    swapcontext(&here, (ucontext_t *)to);
}

static void *first_stack(char *top, void (*run)(void *), void *arg)
{
    ucontext_t *c = (ucontext_t *)(((uintptr_t)top - sizeof(ucontext_t)) & ~(uintptr_t)63);
    getcontext(c);
    c->uc_stack.ss_sp = (char *)c - 32768;
    c->uc_stack.ss_size = 32768;
    c->uc_link = NULL;
    uintptr_t r = (uintptr_t)run, a = (uintptr_t)arg;
    makecontext(c, (void (*)(void))start, 4, (unsigned)r, (unsigned)(r >> 16 >> 16), (unsigned)a,
                (unsigned)(a >> 16 >> 16));
    return c;
}

#endif

/* ---- The same everywhere --------------------------------------------------------------------- */

void fiber_hub(hd_fiber *hub)
{
    memset(hub, 0, sizeof *hub);
#ifdef HD_ASAN
    pthread_attr_t attr;
    void *low = NULL;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        pthread_attr_getstack(&attr, &low, &hub->stack_bytes);
        pthread_attr_destroy(&attr);
        hub->stack = (char *)low;
    }
#endif
#ifdef HD_TSAN
    hub->shadow_of_thread = __tsan_get_current_fiber();
#endif
}

/* The first thing on a new stack. */
static void begin(void *p)
{
    hd_fiber *f = (hd_fiber *)p;
#ifdef HD_ASAN
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
    f->run(f->arg);
}

void fiber_make(hd_fiber *f, char *stack, size_t stack_bytes, unsigned colour, void (*run)(void *), void *arg)
{
    enum { LINE_BYTES = 64, COLOURS = 128, STEP = 9 }; /* odd, so that neighbours spread over all sets */
    size_t offset = (size_t)(colour * STEP % COLOURS) * LINE_BYTES;
    HD_ASSERT((uintptr_t)stack % 16 == 0 && offset < stack_bytes / 2, "a stack is aligned, and has room");
    f->stack = stack;
    f->stack_bytes = stack_bytes;
    f->shadow = NULL;
    f->run = run;
    f->arg = arg;
    /* Stacks lie so close that valgrind would take a switch to a neighbour for a large frame. */
    f->known_as = (unsigned)VALGRIND_STACK_REGISTER(stack, stack + stack_bytes - 1);
    f->sp = first_stack(stack + stack_bytes - offset, begin, f);
#ifdef HD_TSAN
    f->shadow_of_thread = __tsan_create_fiber(0);
#endif
}

void fiber_drop(hd_fiber *f)
{
#ifdef HD_ASAN
    __asan_unpoison_memory_region(f->stack, f->stack_bytes); /* frames that never returned left their red zones */
#endif
#ifdef HD_TSAN
    if (f->shadow_of_thread) __tsan_destroy_fiber(f->shadow_of_thread);
#endif
    VALGRIND_STACK_DEREGISTER(f->known_as);
    f->sp = NULL;
    f->shadow_of_thread = NULL;
}

void fiber_switch(hd_fiber *from, hd_fiber *to)
{
    HD_ASSERT(from != to && to->sp, "a fiber is switched to that does not wait");
#ifdef HD_ASAN
    __sanitizer_start_switch_fiber(&from->shadow, to->stack, to->stack_bytes);
#endif
#ifdef HD_TSAN
    /* 0: a switch orders what is before and after, as one thread does */
    __tsan_switch_to_fiber(to->shadow_of_thread, 0);
#endif
    switch_stacks(&from->sp, to->sp);
#ifdef HD_ASAN
    __sanitizer_finish_switch_fiber(from->shadow, NULL, NULL);
#endif
}

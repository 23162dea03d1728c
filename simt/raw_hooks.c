/* SPDX-License-Identifier: Apache-2.0
 *
 * raw_hooks.c - the functions that code compiled with -fsanitize=thread calls, in place of the sanitizer's library:
 * each C access is passed to simt_raw_told, which the program defines. It is not part of the library and not compiled
 * with that flag itself.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/raw.h"

/* ---- The place in the text ------------------------------------------------------------------- */

/* Where in its file the call before address pc is, as addr2line wants it. */
static uintptr_t offset_of(const void *pc, const Dl_info *in)
{
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)in->dli_fbase;
    uintptr_t at = (uintptr_t)pc - 1;
    return head->e_type == ET_EXEC ? at : at - (uintptr_t)in->dli_fbase;
}

/* Asks addr2line: a function, and "FILE:LINE". False where it, or its answer, is missing. */
static bool ask_place(const void *pc, const Dl_info *in, char function[256], char line[256])
{
    char command[400];
    snprintf(command, sizeof command, "addr2line -fse '%s' %#" PRIxPTR " 2>/dev/null", in->dli_fname,
             offset_of(pc, in));
    FILE *f = popen(command, "r");
    bool known = f && fgets(function, 256, f) && fgets(line, 256, f) && function[0] != '?';
    if (f) pclose(f);
    if (!known) return false;
    function[strcspn(function, "\n")] = 0;
    line[strcspn(line, " \n")] = 0;
    return true;
}

const char *simt_raw_place(const void *pc)
{
    static char text[600];
    char function[256] = "", line[256] = "";
    Dl_info in;
    if (!dladdr(pc, &in)) return "code of no file";
    if (ask_place(pc, &in, function, line))
        snprintf(text, sizeof text, "%s at %s", function, line);
    else
        snprintf(text, sizeof text, "code at %#" PRIxPTR " of %s", offset_of(pc, &in), in.dli_fname);
    return text;
}

const char *simt_raw_line(const void *pc)
{
    enum { PLACES = 4096 }; /* of a kernel's text some hundred */
    static struct place {
        const void *pc;
        char line[64];
    } place[PLACES];
    size_t at = (uintptr_t)pc * 0x9e3779b97f4a7c15u >> 52, tried = 0;
    for (; place[at].pc && place[at].pc != pc; at = (at + 1) % PLACES)
        if (++tried == PLACES - 1) return "?";
    if (place[at].pc) return place[at].line;
    char function[256] = "", line[256] = "";
    Dl_info in;
    bool known = dladdr(pc, &in) && ask_place(pc, &in, function, line);
    place[at].pc = pc;
    snprintf(place[at].line, sizeof place[at].line, "%.60s", known ? line : "?");
    return place[at].line;
}

/* ---- The hooks ------------------------------------------------------------------------------- */

/* Code in a shared object finds these in the program that loads it (simt/host.map). */
#pragma GCC visibility push(default)

#define PC __builtin_return_address(0)

void __tsan_init(void);
void __tsan_init(void) {}
void __tsan_func_entry(void *pc);
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void);
void __tsan_func_exit(void) {}

#define TOLD(name, bytes, write) \
    void __tsan_##name(void *p); \
    void __tsan_##name(void *p) { simt_raw_told(p, bytes, write, PC); }
#define TOLD_OF(bytes)                                 \
    TOLD(read##bytes, bytes, false)                    \
    TOLD(write##bytes, bytes, true)                    \
    TOLD(read_write##bytes, bytes, true)               \
    TOLD(volatile_read##bytes, bytes, false)           \
    TOLD(volatile_write##bytes, bytes, true)           \
    TOLD(unaligned_read##bytes, bytes, false)          \
    TOLD(unaligned_write##bytes, bytes, true)          \
    TOLD(unaligned_read_write##bytes, bytes, true)     \
    TOLD(unaligned_volatile_read##bytes, bytes, false) \
    TOLD(unaligned_volatile_write##bytes, bytes, true)
TOLD_OF(1)
TOLD_OF(2)
TOLD_OF(4)
TOLD_OF(8)
TOLD_OF(16)

void __tsan_read_range(void *p, size_t bytes);
void __tsan_read_range(void *p, size_t bytes) { simt_raw_told(p, bytes, false, PC); }
void __tsan_write_range(void *p, size_t bytes);
void __tsan_write_range(void *p, size_t bytes) { simt_raw_told(p, bytes, true, PC); }

/* Only C++ needs it, for virtual tables. It is here so that all code compiled with the flag links. */
void __tsan_vptr_read(void **p);
void __tsan_vptr_read(void **p) { simt_raw_told(p, sizeof *p, false, PC); }
void __tsan_vptr_update(void **p, void *value);
void __tsan_vptr_update(void **p, void *value) { (void)value, simt_raw_told(p, sizeof *p, true, PC); }

/* ---- memcpy and its family (raw_memory.h) ---------------------------------------------------- */

void *__tsan_memcpy(void *to, const void *from, size_t n);
void *__tsan_memcpy(void *to, const void *from, size_t n)
{
    simt_raw_told(from, n, false, PC);
    simt_raw_told(to, n, true, PC);
    return memcpy(to, from, n);
}

void *__tsan_memmove(void *to, const void *from, size_t n);
void *__tsan_memmove(void *to, const void *from, size_t n)
{
    simt_raw_told(from, n, false, PC);
    simt_raw_told(to, n, true, PC);
    return memmove(to, from, n);
}

void *__tsan_memset(void *to, int c, size_t n);
void *__tsan_memset(void *to, int c, size_t n)
{
    simt_raw_told(to, n, true, PC);
    return memset(to, c, n);
}

/* ---- Atomics: the compiler leaves these to the library; as strong as there is is strong enough ---- */

#define FETCHES(T, bits, name)                              \
    T __tsan_atomic##bits##_##name(T *p, T v, int order);   \
    T __tsan_atomic##bits##_##name(T *p, T v, int order)    \
    {                                                       \
        (void)order, simt_raw_told(p, sizeof *p, true, PC); \
        return __atomic_##name(p, v, __ATOMIC_SEQ_CST);     \
    }
#define EXCHANGES(T, bits, how)                                                                        \
    int __tsan_atomic##bits##_compare_exchange_##how(T *p, T *expected, T v, int yes, int no);         \
    int __tsan_atomic##bits##_compare_exchange_##how(T *p, T *expected, T v, int yes, int no)          \
    {                                                                                                  \
        (void)yes, (void)no, simt_raw_told(p, sizeof *p, true, PC);                                    \
        return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    }
#define ATOMICS(T, bits)                                                                         \
    T __tsan_atomic##bits##_load(const T *p, int order);                                         \
    T __tsan_atomic##bits##_load(const T *p, int order)                                          \
    {                                                                                            \
        (void)order, simt_raw_told(p, sizeof *p, false, PC);                                     \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                             \
    }                                                                                            \
    void __tsan_atomic##bits##_store(T *p, T v, int order);                                      \
    void __tsan_atomic##bits##_store(T *p, T v, int order)                                       \
    {                                                                                            \
        (void)order, simt_raw_told(p, sizeof *p, true, PC);                                      \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                \
    }                                                                                            \
    T __tsan_atomic##bits##_exchange(T *p, T v, int order);                                      \
    T __tsan_atomic##bits##_exchange(T *p, T v, int order)                                       \
    {                                                                                            \
        (void)order, simt_raw_told(p, sizeof *p, true, PC);                                      \
        return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                      \
    }                                                                                            \
    T __tsan_atomic##bits##_compare_exchange_val(T *p, T expected, T v, int yes, int no);        \
    T __tsan_atomic##bits##_compare_exchange_val(T *p, T expected, T v, int yes, int no)         \
    {                                                                                            \
        (void)yes, (void)no, simt_raw_told(p, sizeof *p, true, PC);                              \
        __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        return expected;                                                                         \
    }                                                                                            \
    EXCHANGES(T, bits, strong)                                                                   \
    EXCHANGES(T, bits, weak)                                                                     \
    FETCHES(T, bits, fetch_add)                                                                  \
    FETCHES(T, bits, fetch_sub)                                                                  \
    FETCHES(T, bits, fetch_and)                                                                  \
    FETCHES(T, bits, fetch_or)                                                                   \
    FETCHES(T, bits, fetch_xor)                                                                  \
    FETCHES(T, bits, fetch_nand)
ATOMICS(uint8_t, 8)
ATOMICS(uint16_t, 16)
ATOMICS(uint32_t, 32)
ATOMICS(uint64_t, 64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order) { (void)order, __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order) { (void)order, __atomic_signal_fence(__ATOMIC_SEQ_CST); }

#pragma GCC visibility pop

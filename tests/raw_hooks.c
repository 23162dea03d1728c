/* SPDX-License-Identifier: Apache-2.0
 *
 * raw_hooks.c - what code compiled with -fsanitize=thread calls, in the place of the sanitizer's library: every access is asked
 * about, and what belongs to the dialect ends the run. Not compiled so itself.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdbool.h>
#include <string.h>

#include "simt/raw.h"
#include "tests/raw.h"

/* ---- The place in the text ---------------------------------------------------------------------------------- */

/* Where in its file the call before address pc is, as addr2line wants it. */
static uintptr_t offset_of(const void *pc, const Dl_info *in)
{
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)in->dli_fbase;
    uintptr_t at = (uintptr_t)pc - 1;
    return head->e_type == ET_EXEC ? at : at - (uintptr_t)in->dli_fbase;
}

/* "k_read_4_text at raw_kernels.c:44"; the offset alone where addr2line or its answer is missing. */
static const char *place_of(const void *pc)
{
    static char text[600];
    char command[400], function[256] = "", line[256] = "";
    Dl_info in;
    if (!dladdr(pc, &in)) return "code of no file";
    snprintf(text, sizeof text, "code at %#" PRIxPTR " of %s", offset_of(pc, &in), in.dli_fname);
    snprintf(command, sizeof command, "addr2line -fse '%s' %#" PRIxPTR " 2>/dev/null", in.dli_fname, offset_of(pc, &in));
    FILE *f = popen(command, "r");
    bool known = f && fgets(function, sizeof function, f) && fgets(line, sizeof line, f) && function[0] != '?';
    if (f) pclose(f);
    if (known) snprintf(text, sizeof text, "%.*s at %.*s", (int)strcspn(function, "\n"), function, (int)strcspn(line, " \n"), line);
    return text;
}

/* ---- What is asked -------------------------------------------------------------------------------------------- */

static uint64_t told;

uint64_t raw_told(void) { return told; }

static void tell(const void *p, size_t bytes, bool write, const void *pc)
{
    told++;
    if (simt_raw_reaches(p, bytes)) simt_raw_found(p, bytes, write, place_of(pc));
}

#define PC __builtin_return_address(0)

void __tsan_init(void);
void __tsan_init(void) { }
void __tsan_func_entry(void *pc);
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void);
void __tsan_func_exit(void) { }

#define TOLD(name, bytes, write) \
    void __tsan_##name(void *p); \
    void __tsan_##name(void *p) { tell(p, bytes, write, PC); }
#define TOLD_OF(bytes)                            \
    TOLD(read##bytes, bytes, false)               \
    TOLD(write##bytes, bytes, true)               \
    TOLD(read_write##bytes, bytes, true)          \
    TOLD(volatile_read##bytes, bytes, false)      \
    TOLD(volatile_write##bytes, bytes, true)      \
    TOLD(unaligned_read##bytes, bytes, false)     \
    TOLD(unaligned_write##bytes, bytes, true)     \
    TOLD(unaligned_read_write##bytes, bytes, true) \
    TOLD(unaligned_volatile_read##bytes, bytes, false) \
    TOLD(unaligned_volatile_write##bytes, bytes, true)
TOLD_OF(1)
TOLD_OF(2)
TOLD_OF(4)
TOLD_OF(8)
TOLD_OF(16)

void __tsan_read_range(void *p, size_t bytes);
void __tsan_read_range(void *p, size_t bytes) { tell(p, bytes, false, PC); }
void __tsan_write_range(void *p, size_t bytes);
void __tsan_write_range(void *p, size_t bytes) { tell(p, bytes, true, PC); }

/* C++ has virtual tables, kernel text has none; they are here so that whatever is compiled so links. */
void __tsan_vptr_read(void **p);
void __tsan_vptr_read(void **p) { tell(p, sizeof *p, false, PC); }
void __tsan_vptr_update(void **p, void *value);
void __tsan_vptr_update(void **p, void *value) { (void)value, tell(p, sizeof *p, true, PC); }

/* ---- memcpy and its family (raw_memory.h) ---------------------------------------------------------------------- */

void *__tsan_memcpy(void *to, const void *from, size_t n);
void *__tsan_memcpy(void *to, const void *from, size_t n)
{
    tell(from, n, false, PC);
    tell(to, n, true, PC);
    return memcpy(to, from, n);
}

void *__tsan_memmove(void *to, const void *from, size_t n);
void *__tsan_memmove(void *to, const void *from, size_t n)
{
    tell(from, n, false, PC);
    tell(to, n, true, PC);
    return memmove(to, from, n);
}

void *__tsan_memset(void *to, int c, size_t n);
void *__tsan_memset(void *to, int c, size_t n)
{
    tell(to, n, true, PC);
    return memset(to, c, n);
}

/* ---- Atomics: the compiler leaves these to the library; as strong as there is is strong enough ------------------- */

#define FETCHES(T, bits, name)                                                 \
    T __tsan_atomic##bits##_##name(T *p, T v, int order);                      \
    T __tsan_atomic##bits##_##name(T *p, T v, int order)                       \
    {                                                                          \
        (void)order, tell(p, sizeof *p, true, PC);                             \
        return __atomic_##name(p, v, __ATOMIC_SEQ_CST);                        \
    }
#define EXCHANGES(T, bits, how)                                                                   \
    int __tsan_atomic##bits##_compare_exchange_##how(T *p, T *expected, T v, int yes, int no);    \
    int __tsan_atomic##bits##_compare_exchange_##how(T *p, T *expected, T v, int yes, int no)     \
    {                                                                                             \
        (void)yes, (void)no, tell(p, sizeof *p, true, PC);                                        \
        return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    }
#define ATOMICS(T, bits)                                                       \
    T __tsan_atomic##bits##_load(const T *p, int order);                       \
    T __tsan_atomic##bits##_load(const T *p, int order)                        \
    {                                                                          \
        (void)order, tell(p, sizeof *p, false, PC);                            \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                           \
    }                                                                          \
    void __tsan_atomic##bits##_store(T *p, T v, int order);                    \
    void __tsan_atomic##bits##_store(T *p, T v, int order)                     \
    {                                                                          \
        (void)order, tell(p, sizeof *p, true, PC);                             \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                              \
    }                                                                          \
    T __tsan_atomic##bits##_exchange(T *p, T v, int order);                    \
    T __tsan_atomic##bits##_exchange(T *p, T v, int order)                     \
    {                                                                          \
        (void)order, tell(p, sizeof *p, true, PC);                             \
        return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                    \
    }                                                                          \
    T __tsan_atomic##bits##_compare_exchange_val(T *p, T expected, T v, int yes, int no); \
    T __tsan_atomic##bits##_compare_exchange_val(T *p, T expected, T v, int yes, int no)  \
    {                                                                          \
        (void)yes, (void)no, tell(p, sizeof *p, true, PC);                     \
        __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        return expected;                                                       \
    }                                                                          \
    EXCHANGES(T, bits, strong)                                                 \
    EXCHANGES(T, bits, weak)                                                   \
    FETCHES(T, bits, fetch_add)                                                \
    FETCHES(T, bits, fetch_sub)                                                \
    FETCHES(T, bits, fetch_and)                                                \
    FETCHES(T, bits, fetch_or)                                                 \
    FETCHES(T, bits, fetch_xor)                                                \
    FETCHES(T, bits, fetch_nand)
ATOMICS(uint8_t, 8)
ATOMICS(uint16_t, 16)
ATOMICS(uint32_t, 32)
ATOMICS(uint64_t, 64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order) { (void)order, __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order) { (void)order, __atomic_signal_fence(__ATOMIC_SEQ_CST); }

/* SPDX-License-Identifier: Apache-2.0
 *
 * simt_host.h - the dialect on the host machine. Every operation names its site (file and line). An operation that the
 * machine has no interest in at the moment is a plain C access; `simt_hot.hooks` says which kinds it wants to see.
 */
#ifndef HD_SIMT_HOST_H
#define HD_SIMT_HOST_H

#define SIMT_FN       static inline __attribute__((unused))
#define SIMT_FN_APART static __attribute__((unused))
#define SIMT_UNROLL
#define SIMT_UNROLL_BY(n)
#define SIMT_ROLLED
#define SIMT_TEXT_(x) #x
#define SIMT_TEXT(x)  SIMT_TEXT_(x)
#define SIMT_SITE     __FILE__ ":" SIMT_TEXT(__LINE__)

/* NAME becomes a function that the machine launches with a pointer to the arguments. */
#define SIMT_KERNEL(name, args_type, a) SIMT_KERNEL_(name, args_type, a)
#define SIMT_KERNEL_(name, args_type, a)                                   \
    static void name##_text(const args_type a);                            \
    void name(const void *args);                                           \
    void name(const void *args) { name##_text(*(const args_type *)args); } \
    static void name##_text(const args_type a)

/* The kernel NAME calls TEXT with a pointer to its arguments. */
#define SIMT_ENTRY(name, args_type, text)             \
    void name(const void *args);                      \
    void name(const void *args)                       \
    {                                                 \
        const args_type a = *(const args_type *)args; \
        text(&a);                                     \
    }

typedef struct __attribute__((aligned(16))) simt_v4 {
    uint32_t x, y, z, w;
} simt_v4;

/* ---- What is reported to the machine --------------------------------------------------------- */

/* Kinds of access, as bits. */
/* clang-format off */
enum {
    SIMT_LD = 1, SIMT_ST = 2, SIMT_LDRLX = 4, SIMT_STRLX = 8, SIMT_LDACQ = 16, SIMT_STREL = 32, SIMT_RMW = 64,
    SIMT_READS = SIMT_LD | SIMT_LDRLX | SIMT_LDACQ,
    SIMT_WRITES = SIMT_ST | SIMT_STRLX | SIMT_STREL | SIMT_RMW
};
/* clang-format on */

/* clang-format off */
typedef enum simt_rmw_op {
    SIMT_CAS, SIMT_EXCH, SIMT_ADD, SIMT_MIN, SIMT_MAX, SIMT_AND, SIMT_OR, SIMT_ADD_F32, SIMT_ADD_F16, SIMT_ADD_BF16,
    SIMT_ADD_F64
} simt_rmw_op;
/* clang-format on */

/* The memory that an instruction can access. Plain loads and stores are SIMT_GENERIC. */
typedef enum simt_space { SIMT_GENERIC, SIMT_IN_DEVICE, SIMT_IN_SHARED } simt_space;

typedef enum simt_collective_op {
    SIMT_BALLOT,
    SIMT_ANY,
    SIMT_ALL,
    SIMT_SHFL,
    SIMT_SHFL_XOR,
    SIMT_REDUCE_MIN,
    SIMT_REDUCE_MAX,
    SIMT_MATCH,
    SIMT_REDUCE_ADD,
    SIMT_SYNC
} simt_collective_op;

typedef struct simt_ids {
    uint32_t lane, thread, threads, block, blocks;
} simt_ids;

/* Kernel text in a shared object, which a program loads, finds these in the program (simt/host.map). */
#pragma GCC visibility push(default)

/* Of the lane that runs now. */
typedef struct simt_hot_state {
    const simt_ids *ids;
    uint32_t hooks; /* kinds that go through the machine */
} simt_hot_state;
extern _Thread_local simt_hot_state simt_hot;

void simt_host_load(const char *site, uint32_t kind, const void *p, uint32_t bytes, void *v);
void simt_host_store(const char *site, uint32_t kind, void *p, uint32_t bytes, const void *v);
/* The old value. a: the new value, or what is added; expected: for SIMT_CAS. */
uint64_t simt_host_rmw(const char *site, simt_space space, simt_rmw_op op, void *p, uint32_t bytes, uint64_t expected,
                       uint64_t a, int order);
uint64_t simt_host_collective(const char *site, simt_collective_op op, uint32_t mask, uint64_t v, uint32_t arg);
void simt_host_sync_block(const char *site);
void simt_host_fence(const char *site);
void simt_host_fence_system(const char *site);
void simt_host_backoff(const char *site);
void *simt_host_shared(const char *site, const char *name, size_t bytes, size_t align);
void simt_host_copy16(const char *site, uint32_t kind, void *shared, const void *global);
void simt_host_copy_commit(const char *site);
void simt_host_copy_wait(const char *site, uint32_t groups);
void simt_host_ticket(const char *site, uint64_t item, uint32_t what, uint64_t a, uint64_t b, bool with_last_store);
void simt_host_ticket_before(const char *site, uint64_t item, uint32_t what, uint64_t a, uint64_t b, uint64_t other);
void simt_host_ticket_before_owner(const char *site, uint64_t item, uint32_t what, uint64_t a, uint64_t b);
void simt_host_owns(uint64_t item, uint64_t b);
void simt_host_ticket_beside(const char *site, uint64_t item, uint32_t what, uint64_t a, uint64_t b, uint64_t other,
                             int64_t place);
void simt_host_started(uint64_t item);
void simt_host_join(const char *site);
uint64_t simt_clock_ns(void); /* the machine's seam: machine.c */

#pragma GCC visibility pop

/* ---- Identity -------------------------------------------------------------------------------- */

SIMT_FN uint32_t simt_lane(void) { return simt_hot.ids->lane; }
SIMT_FN uint32_t simt_thread(void) { return simt_hot.ids->thread; }
SIMT_FN uint32_t simt_threads(void) { return simt_hot.ids->threads; }
SIMT_FN uint32_t simt_block(void) { return simt_hot.ids->block; }
SIMT_FN uint32_t simt_blocks(void) { return simt_hot.ids->blocks; }

/* ---- Memory ---------------------------------------------------------------------------------- */

/* In a build that reports C accesses of kernel text (simt/raw.h), operations must make none. */
#ifdef HD_RAW
#define SIMT_WANTED(kind) true
#else
#define SIMT_WANTED(kind) __builtin_expect((simt_hot.hooks & (kind)) != 0, 0)
#endif

#define SIMT_ACCESSES(T, t)                                                 \
    SIMT_FN T simt_load_##t(const char *site, uint32_t kind, const T *p)    \
    {                                                                       \
        T v;                                                                \
        if (!SIMT_WANTED(kind)) return *p;                                  \
        simt_host_load(site, kind, p, (uint32_t)sizeof v, &v);              \
        return v;                                                           \
    }                                                                       \
    SIMT_FN void simt_store_##t(const char *site, uint32_t kind, T *p, T v) \
    {                                                                       \
        if (!SIMT_WANTED(kind))                                             \
            *p = v;                                                         \
        else                                                                \
            simt_host_store(site, kind, p, (uint32_t)sizeof v, &v);         \
    }
SIMT_ACCESSES(uint8_t, u8)
SIMT_ACCESSES(uint32_t, u32)
SIMT_ACCESSES(uint64_t, u64)
SIMT_ACCESSES(simt_v4, v4)

#define simt_ld_u8(p)        simt_load_u8(SIMT_SITE, SIMT_LD, (p))
#define simt_ld_u32(p)       simt_load_u32(SIMT_SITE, SIMT_LD, (p))
#define simt_ld_u64(p)       simt_load_u64(SIMT_SITE, SIMT_LD, (p))
#define simt_ld_v4(p)        simt_load_v4(SIMT_SITE, SIMT_LD, (p))
#define simt_ldcs_v4(p)      simt_load_v4(SIMT_SITE, SIMT_LD, (p))
#define simt_ldrlx_u8(p)     simt_load_u8(SIMT_SITE, SIMT_LDRLX, (p))
#define simt_ldrlx_u32(p)    simt_load_u32(SIMT_SITE, SIMT_LDRLX, (p))
#define simt_ldrlx_u64(p)    simt_load_u64(SIMT_SITE, SIMT_LDRLX, (p))
#define simt_ldrlx_v4(p)     simt_load_v4(SIMT_SITE, SIMT_LDRLX, (p))
#define simt_ldacq_u32(p)    simt_load_u32(SIMT_SITE, SIMT_LDACQ, (p))
#define simt_ldacq_u64(p)    simt_load_u64(SIMT_SITE, SIMT_LDACQ, (p))
#define simt_ldacq_v4(p)     simt_load_v4(SIMT_SITE, SIMT_LDACQ, (p))
#define simt_st_u8(p, v)     simt_store_u8(SIMT_SITE, SIMT_ST, (p), (v))
#define simt_st_u32(p, v)    simt_store_u32(SIMT_SITE, SIMT_ST, (p), (v))
#define simt_st_u64(p, v)    simt_store_u64(SIMT_SITE, SIMT_ST, (p), (v))
#define simt_st_v4(p, v)     simt_store_v4(SIMT_SITE, SIMT_ST, (p), (v))
#define simt_stcs_v4(p, v)   simt_store_v4(SIMT_SITE, SIMT_ST, (p), (v))
#define simt_strlx_u8(p, v)  simt_store_u8(SIMT_SITE, SIMT_STRLX, (p), (v))
#define simt_strlx_u32(p, v) simt_store_u32(SIMT_SITE, SIMT_STRLX, (p), (v))
#define simt_strlx_u64(p, v) simt_store_u64(SIMT_SITE, SIMT_STRLX, (p), (v))
#define simt_strlx_v4(p, v)  simt_store_v4(SIMT_SITE, SIMT_STRLX, (p), (v))
#define simt_strel_u32(p, v) simt_store_u32(SIMT_SITE, SIMT_STREL, (p), (v))
#define simt_strel_u64(p, v) simt_store_u64(SIMT_SITE, SIMT_STREL, (p), (v))

SIMT_FN void simt_load_2u64(const char *site, uint32_t kind, const uint64_t *p, uint64_t *a, uint64_t *b)
{
    if (!SIMT_WANTED(kind)) {
        *a = p[0];
        *b = p[1];
        return;
    }
    uint64_t v[2];
    simt_host_load(site, kind, p, 16, v);
    *a = v[0];
    *b = v[1];
}
#define simt_ldrlx_2u64(p, a, b) simt_load_2u64(SIMT_SITE, SIMT_LDRLX, (p), (a), (b))
#define simt_ldacq_2u64(p, a, b) simt_load_2u64(SIMT_SITE, SIMT_LDACQ, (p), (a), (b))

SIMT_FN void simt_store_2u64(const char *site, uint64_t *p, uint64_t a, uint64_t b)
{
    uint64_t v[2] = { a, b };
    if (SIMT_WANTED(SIMT_STREL)) {
        simt_host_store(site, SIMT_STREL, p, 16, v);
        return;
    }
    p[0] = a;
    p[1] = b;
}
#define simt_strel_2u64(p, a, b) simt_store_2u64(SIMT_SITE, (p), (a), (b))

SIMT_FN uint32_t simt_rmw_u32(const char *site, simt_rmw_op op, uint32_t *p, uint32_t expected, uint32_t a, int order)
{
    return (uint32_t)simt_host_rmw(site, SIMT_IN_DEVICE, op, p, 4, expected, a, order);
}

SIMT_FN uint64_t simt_rmw_u64(const char *site, simt_rmw_op op, uint64_t *p, uint64_t expected, uint64_t a, int order)
{
    return simt_host_rmw(site, SIMT_IN_DEVICE, op, p, 8, expected, a, order);
}

SIMT_FN uint32_t simt_rmw_u16(const char *site, simt_rmw_op op, uint16_t *p, uint32_t a)
{
    return (uint32_t)simt_host_rmw(site, SIMT_IN_DEVICE, op, p, 2, 0, a, SIMT_RELAXED);
}

/* The floats of v, of `bytes` bytes each, one after the other. */
SIMT_FN void simt_host_add_floats(const char *site, simt_rmw_op op, uint32_t bytes, void *p, simt_v4 v)
{
    uint32_t word[4] = { v.x, v.y, v.z, v.w };
    for (uint32_t at = 0; at < 16; at += bytes) {
        uint32_t bits = word[at / 4] >> at % 4 * 8 & (bytes == 2 ? 0xffffu : 0xffffffffu);
        (void)simt_host_rmw(site, SIMT_IN_DEVICE, op, (char *)p + at, bytes, 0, bits, SIMT_RELAXED);
    }
}

SIMT_FN uint32_t simt_shared_rmw(const char *site, simt_rmw_op op, uint32_t *p, uint32_t expected, uint32_t a)
{
    return (uint32_t)simt_host_rmw(site, SIMT_IN_SHARED, op, p, 4, expected, a, SIMT_RELAXED);
}

#define simt_cas_u32(p, e, d, order) simt_rmw_u32(SIMT_SITE, SIMT_CAS, (p), (e), (d), (order))
#define simt_cas_u64(p, e, d, order) simt_rmw_u64(SIMT_SITE, SIMT_CAS, (p), (e), (d), (order))
#define simt_exch_u32(p, v, order)   simt_rmw_u32(SIMT_SITE, SIMT_EXCH, (p), 0, (v), (order))
#define simt_exch_u64(p, v, order)   simt_rmw_u64(SIMT_SITE, SIMT_EXCH, (p), 0, (v), (order))
#define simt_add_u32(p, v, order)    simt_rmw_u32(SIMT_SITE, SIMT_ADD, (p), 0, (v), (order))
#define simt_add_u64(p, v, order)    simt_rmw_u64(SIMT_SITE, SIMT_ADD, (p), 0, (v), (order))
#define simt_min_u32(p, v, order)    simt_rmw_u32(SIMT_SITE, SIMT_MIN, (p), 0, (v), (order))
#define simt_min_u64(p, v, order)    simt_rmw_u64(SIMT_SITE, SIMT_MIN, (p), 0, (v), (order))
#define simt_max_u32(p, v, order)    simt_rmw_u32(SIMT_SITE, SIMT_MAX, (p), 0, (v), (order))
#define simt_max_u64(p, v, order)    simt_rmw_u64(SIMT_SITE, SIMT_MAX, (p), 0, (v), (order))
#define simt_and_u32(p, v, order)    simt_rmw_u32(SIMT_SITE, SIMT_AND, (p), 0, (v), (order))
#define simt_or_u32(p, v, order)     simt_rmw_u32(SIMT_SITE, SIMT_OR, (p), 0, (v), (order))
#define simt_add_f32(p, bits)        simt_rmw_u32(SIMT_SITE, SIMT_ADD_F32, (p), 0, (bits), SIMT_RELAXED)
#define simt_add_f64(p, bits)        simt_rmw_u64(SIMT_SITE, SIMT_ADD_F64, (p), 0, (bits), SIMT_RELAXED)
#define simt_add_f16(p, bits)        simt_rmw_u16(SIMT_SITE, SIMT_ADD_F16, (p), (bits))
#define simt_add_bf16(p, bits)       simt_rmw_u16(SIMT_SITE, SIMT_ADD_BF16, (p), (bits))
#define simt_add_4f32(p, v)          simt_host_add_floats(SIMT_SITE, SIMT_ADD_F32, 4, (p), (v))
#define simt_add_8f16(p, v)          simt_host_add_floats(SIMT_SITE, SIMT_ADD_F16, 2, (p), (v))
#define simt_add_8bf16(p, v)         simt_host_add_floats(SIMT_SITE, SIMT_ADD_BF16, 2, (p), (v))
#define simt_fence()                 simt_host_fence(SIMT_SITE)
#define simt_fence_system()          simt_host_fence_system(SIMT_SITE)

#define SIMT_SHARED(T, name, n)      T *const name = (T *)simt_host_shared(SIMT_SITE, #name, sizeof(T) * (n), 16)
#define simt_shared_add_u32(p, v)    simt_shared_rmw(SIMT_SITE, SIMT_ADD, (p), 0, (v))
#define simt_shared_cas_u32(p, e, d) simt_shared_rmw(SIMT_SITE, SIMT_CAS, (p), (e), (d))

#define simt_copy16_async(shared, global)       simt_host_copy16(SIMT_SITE, SIMT_LD, (shared), (global))
#define simt_copy16_const_async(shared, global) simt_host_copy16(SIMT_SITE, SIMT_LD, (shared), (global))
#define simt_copy16_rlx_async(shared, global)   simt_host_copy16(SIMT_SITE, SIMT_LDRLX, (shared), (global))
#define simt_copy_commit()                      simt_host_copy_commit(SIMT_SITE)
#define simt_copy_wait(n)                       simt_host_copy_wait(SIMT_SITE, (n))

/* ---- Tiles and collectives ------------------------------------------------------------------- */

#define SIMT_COLLECTIVE(t, op, v, arg) simt_host_collective(SIMT_SITE, (op), (t).mask, (v), (arg))
#define simt_ballot(t, p)              ((uint32_t)SIMT_COLLECTIVE(t, SIMT_BALLOT, (p) ? 1u : 0u, 0) >> (t).base)
#define simt_any(t, p)                 ((bool)SIMT_COLLECTIVE(t, SIMT_ANY, (p) ? 1u : 0u, 0))
#define simt_all(t, p)                 ((bool)SIMT_COLLECTIVE(t, SIMT_ALL, (p) ? 1u : 0u, 0))
#define simt_shfl_u32(t, v, r)         ((uint32_t)simt_shfl_u64(t, (uint32_t)(v), r))
#define simt_shfl_u64(t, v, r)         SIMT_COLLECTIVE(t, SIMT_SHFL, (uint64_t)(v), (t).base + (uint32_t)(r))
#define simt_shfl_xor_u32(t, v, x)     ((uint32_t)SIMT_COLLECTIVE(t, SIMT_SHFL_XOR, (uint32_t)(v), (uint32_t)(x)))
#define simt_shfl_xor_u64(t, v, x)     SIMT_COLLECTIVE(t, SIMT_SHFL_XOR, (uint64_t)(v), (uint32_t)(x))
#define simt_reduce_min_u32(t, v)      ((uint32_t)SIMT_COLLECTIVE(t, SIMT_REDUCE_MIN, (uint32_t)(v), 0))
#define simt_reduce_min_u64(t, v)      SIMT_COLLECTIVE(t, SIMT_REDUCE_MIN, (uint64_t)(v), 0)
#define simt_reduce_max_u32(t, v)      ((uint32_t)SIMT_COLLECTIVE(t, SIMT_REDUCE_MAX, (uint32_t)(v), 0))
#define simt_reduce_add_u32(t, v)      ((uint32_t)SIMT_COLLECTIVE(t, SIMT_REDUCE_ADD, (uint32_t)(v), 0))
#define simt_reduce_add_u64(t, v)      SIMT_COLLECTIVE(t, SIMT_REDUCE_ADD, (uint64_t)(v), 0)
#define simt_match_u64(t, v)           ((uint32_t)SIMT_COLLECTIVE(t, SIMT_MATCH, (uint64_t)(v), 0) >> (t).base)
#define simt_sync_tile(t)              ((void)SIMT_COLLECTIVE(t, SIMT_SYNC, 0, 0))
#define simt_sync_block()              simt_host_sync_block(SIMT_SITE)

/* ---- The rest -------------------------------------------------------------------------------- */

SIMT_FN uint32_t simt_ffs(uint32_t x) { return (uint32_t)__builtin_ffs((int)x); }

/* Sums of two bits, of four, of eight; without an instruction for it the compiler would call a function. */
SIMT_FN uint32_t simt_popc(uint32_t x)
{
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

/* No carry crosses a byte: the top bits are set before the addition and taken out after it. */
SIMT_FN uint32_t simt_eq4(uint32_t a, uint32_t b)
{
    uint32_t x = a ^ b, low = 0x7f7f7f7fu, differs = ((x & low) + low) | x;
    return (~(differs | low) >> 7) * 0xffu;
}

#define simt_backoff(ns)                    ((void)(ns), simt_host_backoff(SIMT_SITE))
#define simt_ticket(item, what, a, b)       simt_host_ticket(SIMT_SITE, (item), (what), (a), (b), false)
#define simt_ticket_store(item, what, a, b) simt_host_ticket(SIMT_SITE, (item), (what), (a), (b), true)
#define simt_ticket_before(item, what, a, b, other) \
    simt_host_ticket_before(SIMT_SITE, (item), (what), (a), (b), (other))
#define simt_ticket_before_owner(item, what, a, b) simt_host_ticket_before_owner(SIMT_SITE, (item), (what), (a), (b))
#define simt_ticket_beside(item, what, a, b, other, place) \
    simt_host_ticket_beside(SIMT_SITE, (item), (what), (a), (b), (other), (place))
#define simt_started(item) simt_host_started(item)
#define simt_owns(item, b) simt_host_owns((item), (b))
#define simt_tells()       true
#define simt_join()        simt_host_join(SIMT_SITE)

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * t_accum.c - accum_or_assign: its flags, and sums of every element type against sums that are computed in another way.
 * For the two 16-bit floating types one operand takes all values: the test enumerates them as exact real numbers, and
 * rounds a sum by a search for its neighbours among them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/testing.h"

static const char reference[] = "ref", *backend = reference;

static int by_kernels(void **state)
{
    (void)state;
    backend = "host";
    return 0;
}

static int by_reference(void **state)
{
    (void)state;
    backend = reference;
    return 0;
}

static hd_table *open_table(const char *policy, uint32_t value_bytes, bool dual)
{
    test_case("accum_or_assign policy=%s value_bytes=%u%s", policy, value_bytes, dual ? " dual" : "");
    hd_table *t = test_table(.backend = backend, .policy = policy, .capacity = 64, .slots = 16,
                             .value_bytes = value_bytes, .hkv.dual = dual, .threads = 1);
    return t;
}

/* ---- Flags ----------------------------------------------------------------------------------- */

static void flags(void)
{
    for (int dual = 0; dual < 2; dual++) {
        hd_table *t = open_table("lfu", 8, dual);
        const uint64_t key[] = { 1, 1, 2, 2, 3, 3, 3, HD_KEY_EMPTY }, value[] = { 10, 5, 7, 8, 1, 2, 4, 9 };
        const uint8_t flag[] = { HD_ASSIGN_NEW, HD_ASSIGN_NEW, HD_ADD, HD_ASSIGN_NEW,
                                 HD_EITHER,     HD_EITHER,     HD_ADD, HD_EITHER };
        const uint8_t want[] = { HD_INSERTED, HD_HIT,     HD_MISS,    HD_INSERTED,
                                 HD_INSERTED, HD_UPDATED, HD_UPDATED, HD_RESERVED };
        uint8_t fate[8];
        hd_batch b = { .op = HD_OP_ACCUM_OR_ASSIGN,
                       .n = 8,
                       .key = key,
                       .value = value,
                       .flag = flag,
                       .elem = HD_U64,
                       .outcome = fate };
        must(hd_run(t, &b));
        for (int i = 0; i < 8; i++)
            check(fate[i] == want[i], "item %d: %s instead of %s", i, hd_outcome_name((hd_outcome)fate[i]),
                  hd_outcome_name((hd_outcome)want[i]));

        const uint64_t asked[] = { 1, 2, 3 }, values[] = { 10, 8, 7 }, scores[] = { 1, 1, 3 };
        uint64_t got[3], score[3];
        hd_batch f = { .op = HD_OP_FIND, .n = 3, .key = asked, .value_out = got, .score_out = score };
        must(hd_run(t, &f));
        for (int i = 0; i < 3; i++)
            check(got[i] == values[i] && score[i] == scores[i], "key %d: value %llu, score %llu", i + 1, (ull)got[i],
                  (ull)score[i]);

        b.flag = NULL; /* either, for all */
        b.n = 7;
        must(hd_run(t, &b));
        for (int i = 0; i < 7; i++)
            check(fate[i] == HD_UPDATED, "item %d without flags: %s", i, hd_outcome_name((hd_outcome)fate[i]));

        const uint8_t bad = 3;
        b.flag = &bad;
        b.n = 1;
        must_fail(hd_run(t, &b), HD_EINVAL, "flag");
        b.flag = NULL;
        b.elem = HD_ELEM_COUNT;
        must_fail(hd_run(t, &b), HD_EINVAL, "elem");
        hd_close(t);
        t = open_table("lfu", 6, dual);
        b.elem = HD_F32;
        must_fail(hd_run(t, &b), HD_EINVAL, "elem"); /* 6 bytes are no whole number of them */
        b.elem = HD_F16;
        must(hd_run(t, &b));
        hd_close(t);
    }
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* Inserts `a`, adds `b`, reads the sum: all (bytes). */
static void add(hd_elem elem, uint32_t bytes, const void *a, const void *b, void *sum)
{
    hd_table *t = open_table("lru", bytes, false);
    uint64_t key = 77;
    uint8_t fate;
    test_case("accum_or_assign elem=%s value_bytes=%u on %s", hd_elem_name(elem), bytes, backend);
    hd_batch batch = { .op = HD_OP_ACCUM_OR_ASSIGN, .n = 1, .key = &key, .value = a, .elem = elem, .outcome = &fate };
    must(hd_run(t, &batch));
    check(fate == HD_INSERTED, "%s", hd_outcome_name((hd_outcome)fate));
    hd_batch find = { .op = HD_OP_FIND, .n = 1, .key = &key, .value_out = sum };
    must(hd_run(t, &find));
    check(!memcmp(sum, a, bytes), "assigning changed the bits");
    batch.value = b;
    must(hd_run(t, &batch));
    check(fate == HD_UPDATED, "%s", hd_outcome_name((hd_outcome)fate));
    must(hd_run(t, &find));
    hd_close(t);
}

/* All finite magnitudes of a 16-bit type in ascending order, by code; the last is where infinity begins. */
typedef struct small_float {
    const char *name;
    hd_elem elem;
    int exponent_bits, fraction_bits;
    double magnitude[32769];
    unsigned infinity; /* its code */
} small_float;

static void enumerate(small_float *s)
{
    int bias = (1 << (s->exponent_bits - 1)) - 1;
    unsigned per_binade = 1u << s->fraction_bits;
    s->infinity = ((1u << s->exponent_bits) - 1) * per_binade;
    for (unsigned code = 0; code <= s->infinity; code++) {
        unsigned exponent = code / per_binade, fraction = code % per_binade;
        s->magnitude[code] = exponent ? ldexp(1.0 + (double)fraction / per_binade, (int)exponent - bias)
                                      : ldexp((double)fraction / per_binade, 1 - bias);
    }
}

static double widen(const small_float *s, unsigned code)
{
    unsigned magnitude = code & 0x7fff;
    double v = magnitude > s->infinity    ? (double)NAN
               : magnitude == s->infinity ? (double)INFINITY
                                          : s->magnitude[magnitude];
    return code & 0x8000 ? -v : v;
}

/* To nearest, ties to the even code. */
static unsigned narrow(const small_float *s, double v)
{
    unsigned sign = signbit(v) ? 0x8000 : 0, low = 0, high = s->infinity;
    v = fabs(v);
    if (v >= s->magnitude[s->infinity]) return sign | s->infinity;
    while (high - low > 1) { /* magnitude[low] <= v < magnitude[high] */
        unsigned middle = (low + high) / 2;
        *(s->magnitude[middle] <= v ? &low : &high) = middle;
    }
    double half = s->magnitude[low] + (s->magnitude[high] - s->magnitude[low]) / 2;
    return sign | (v > half || (v == half && low % 2) ? high : low);
}

static void every_value_of(small_float *s)
{
    enum { HALF = 32768 };
    static uint16_t a[HALF], b[HALF], sum[HALF];
    enumerate(s);
    for (unsigned code = 0; code < s->infinity; code++)
        check(narrow(s, s->magnitude[code]) == code, "the table of %s is out of order", s->name);
    uint16_t others[64] = { 0,
                            0x8000,
                            1,
                            0x8001,
                            (uint16_t)s->infinity,
                            (uint16_t)(0x8000 | s->infinity),
                            (uint16_t)(s->infinity - 1),
                            (uint16_t)(0x7fff + s->infinity),
                            (uint16_t)(s->infinity + 1),
                            0x7fff,
                            (uint16_t)(1u << s->fraction_bits),
                            (uint16_t)((1u << s->fraction_bits) - 1),
                            0x3c00,
                            0xbc00,
                            0x3f80,
                            0xbf80 };
    uint64_t random = 1, adds = 0, nans = 0;
    for (int i = 16; i < 64; i++) others[i] = (uint16_t)test_random(&random);
    for (int o = 0; o < 64; o += backend == reference ? 1 : 9) /* the host machine takes its time */
        for (unsigned sign = 0; sign < 2; sign++) {
            for (unsigned i = 0; i < HALF; i++) {
                a[i] = (uint16_t)(sign << 15 | i);
                b[i] = others[o];
            }
            add(s->elem, sizeof a, o % 2 ? a : b, o % 2 ? b : a, sum);
            for (unsigned i = 0; i < HALF; i++, adds++) {
                float exact = (float)widen(s, a[i]) + (float)widen(s, b[i]); /* in f32, as heddle.h has it */
                if (isnan(exact)) {
                    check((sum[i] & 0x7fff) > s->infinity, "%04x + %04x = %04x, which is a number", a[i], b[i], sum[i]);
                    nans++;
                } else {
                    check(sum[i] == narrow(s, exact), "%04x + %04x = %04x instead of %04x", a[i], b[i], sum[i],
                          narrow(s, exact));
                }
            }
        }
    test_note("%s on %s: %llu sums, %llu of them not a number", s->name, backend, (ull)adds, (ull)nans);
}

static small_float small;

static void f16(void)
{
    small = (small_float){ .name = "f16", .elem = HD_F16, .exponent_bits = 5, .fraction_bits = 10 };
    every_value_of(&small);
}

static void bf16(void)
{
    small = (small_float){ .name = "bf16", .elem = HD_BF16, .exponent_bits = 8, .fraction_bits = 7 };
    every_value_of(&small);
}

enum { MANY = 4096 };

static void f32(void)
{
    static float a[MANY], b[MANY], sum[MANY];
    static const uint32_t edge[] = { 0,           0x80000000u, 1,           0x80000001u, 0x007fffffu, 0x00800000u,
                                     0x7f7fffffu, 0xff7fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0x7f800001u,
                                     0x3f800000u, 0xbf800000u, 0x4b800000u, 0x33800000u };
    uint64_t random = 2;
    for (int i = 0; i < MANY; i++) {
        uint32_t x = i < 256 ? edge[i / 16] : (uint32_t)test_random(&random),
                 y = i < 256 ? edge[i % 16] : (uint32_t)test_random(&random);
        if (i >= 2048) y = x ^ (y & 0x81ffffffu); /* near in size: cancellation */
        memcpy(&a[i], &x, 4);
        memcpy(&b[i], &y, 4);
    }
    add(HD_F32, sizeof a, a, b, sum);
    for (int i = 0; i < MANY; i++) {
        float want = (float)((double)a[i] + (double)b[i]); /* double rounding is innocuous: 53 >= 2 x 24 + 2 */
        check(isnan(want) ? isnan(sum[i]) : !memcmp(&want, &sum[i], 4), "%a + %a = %a instead of %a", (double)a[i],
              (double)b[i], (double)sum[i], (double)want);
    }
}

/* Whole numbers of up to 53 bits and a common exponent: their sum has 54 bits at most, and is rounded by hand. */
static void f64(void)
{
    static double a[MANY], b[MANY], sum[MANY];
    static int64_t x[MANY], y[MANY];
    static int e[MANY];
    uint64_t random = 5;
    for (int i = 0; i < MANY; i++) {
        x[i] = (int64_t)(test_random(&random) >> (11 + test_below(&random, 53)));
        y[i] = (int64_t)(test_random(&random) >> (11 + test_below(&random, 53)));
        if (test_below(&random, 2)) x[i] = -x[i];
        if (test_below(&random, 2)) y[i] = -y[i];
        e[i] = (int)test_below(&random, 2044) - 1074; /* from the least subnormal to the greatest numbers */
        if (e[i] > 969) e[i] = 969;
        a[i] = ldexp((double)x[i], e[i]);
        b[i] = ldexp((double)y[i], e[i]);
    }
    add(HD_F64, sizeof a, a, b, sum);
    for (int i = 0; i < MANY; i++) {
        int64_t exact = x[i] + y[i], size = exact < 0 ? -exact : exact;
        if (size >> 53 && size & 1) size += size & 2 ? 1 : -1; /* half way between two numbers: to the even one */
        double want = ldexp((double)size, e[i]);
        check(fabs(sum[i]) == want && (exact == 0 || signbit(sum[i]) == (exact < 0)), "%a + %a = %a", a[i], b[i],
              sum[i]);
    }
    const double special[][3] = { { INFINITY, 1, INFINITY },
                                  { -INFINITY, 1e308, -INFINITY },
                                  { 1.7e308, 1e308, INFINITY } };
    for (int i = 0; i < 3; i++) a[i] = special[i][0], b[i] = special[i][1];
    add(HD_F64, 3 * sizeof *a, a, b, sum);
    for (int i = 0; i < 3; i++) check(sum[i] == special[i][2], "%a + %a = %a", a[i], b[i], sum[i]);
}

/* Digit by digit in base 256, carry by carry: what wrapping means. */
static void wrapping(hd_elem elem, uint32_t elem_bytes)
{
    static uint8_t a[8 * MANY], b[8 * MANY], sum[8 * MANY];
    uint64_t random = 3;
    for (uint32_t i = 0; i < 8 * MANY; i++) {
        uint64_t kind = i / elem_bytes % 4; /* all ones, all zeros, sign bits, anything */
        a[i] = (uint8_t)(kind == 0 ? 0xff : kind == 1 ? 0 : test_random(&random));
        b[i] = (uint8_t)(kind == 0                                       ? (uint64_t)(i % elem_bytes == 0)
                         : kind == 2 && i % elem_bytes == elem_bytes - 1 ? (uint64_t)a[i]
                                                                         : test_random(&random));
    }
    add(elem, sizeof a, a, b, sum);
    for (uint32_t i = 0, carry = 0; i < 8 * MANY; i++) {
        if (i % elem_bytes == 0) carry = 0;
        carry += (uint32_t)a[i] + b[i];
        check(sum[i] == (carry & 0xff), "byte %u of element %u", i % elem_bytes, i / elem_bytes);
        carry >>= 8;
    }
}

static void integers(void)
{
    wrapping(HD_I32, 4);
    wrapping(HD_I64, 8);
    wrapping(HD_U64, 8);
    wrapping(HD_I8, 1);
    wrapping(HD_U8, 1);
    wrapping(HD_I16, 2);
}

/* Duplicates in a batch add up; a counter of anything is this. */
static void duplicates_add_up(void)
{
    for (int dual = 0; dual < 2; dual++) {
        enum { N = 10000, KEYS = 40 };
        static uint64_t key[N], one[N], want[KEYS];
        memset(want, 0, sizeof want);
        hd_table *t = open_table("lru", 8, dual);
        for (uint64_t random = 4, i = 0; i < N; i++) {
            key[i] = test_below(&random, KEYS);
            one[i] = 1 + i % 3;
            want[key[i]] += one[i];
        }
        hd_batch b = { .op = HD_OP_ACCUM_OR_ASSIGN, .n = N, .key = key, .value = one, .elem = HD_I64 };
        must(hd_run(t, &b));
        uint64_t total = 0;
        for (uint64_t k = 0; k < KEYS; k++) {
            uint64_t got = 0;
            uint8_t fate;
            hd_batch f = { .op = HD_OP_FIND, .n = 1, .key = &k, .value_out = &got, .outcome = &fate };
            must(hd_run(t, &f));
            if (fate == HD_HIT)
                check(got == want[k], "key %llu counted %llu instead of %llu", (ull)k, (ull)got, (ull)want[k]);
            total += fate == HD_HIT;
        }
        check(total >= KEYS - 8, "only %llu keys are there", (ull)total); /* 40 of 64 places: a bucket may overflow */
        hd_close(t);
    }
}

/* Integers of every size, in values of every size. The neighbours in a word belong to other entries, which do not
 * change. */
static void neighbours_keep_theirs(void)
{
    enum { N = 1500, KEYS = 40, BYTES = 20 };
    static const hd_elem elems[] = { HD_I8, HD_U8, HD_I16, HD_I32, HD_I64 };
    static uint8_t add[N * BYTES], want[KEYS * BYTES], got[KEYS * BYTES];
    static uint64_t key[N], all[KEYS];
    uint64_t random = 8;
    for (uint32_t bytes = 1; bytes <= BYTES; bytes++)
        for (size_t k = 0; k < sizeof elems / sizeof *elems; k++) {
            uint32_t carry = 0, size = (uint32_t)atoi(hd_elem_name(elems[k]) + 1) / 8; /* "i16" */
            if (bytes % size) continue;
            memset(want, 0, sizeof want);
            hd_table *t = open_table("lfu", bytes, bytes % 2);
            for (uint64_t i = 0; i < N; i++) {
                key[i] = i < KEYS ? i : test_below(&random, 6) ? test_below(&random, 3) : test_below(&random, KEYS);
                for (uint32_t at = 0; at < bytes; at++) {
                    uint8_t *digit = &want[key[i] * bytes + at];
                    add[i * bytes + at] = (uint8_t)test_random(&random);
                    if (at % size == 0) carry = 0;
                    carry += (uint32_t)*digit + add[i * bytes + at];
                    *digit = (uint8_t)carry;
                    carry >>= 8;
                }
            }
            hd_batch b = { .op = HD_OP_ACCUM_OR_ASSIGN, .n = N, .key = key, .value = add, .elem = elems[k] };
            must(hd_run(t, &b));
            for (uint64_t i = 0; i < KEYS; i++) all[i] = i;
            must(hd_find(t, KEYS, all, got, NULL));
            for (uint32_t at = 0; at < KEYS * bytes; at++)
                check(got[at] == want[at], "%s: byte %u of key %u: %u instead of %u", hd_elem_name(elems[k]),
                      at % bytes, at / bytes, got[at], want[at]);
            hd_close(t);
        }
}

/* The code of a number in an IEEE format with so many bits. */
static uint64_t whole_number(int exponent_bits, int fraction_bits, uint64_t number)
{
    int exponent, bias = (1 << (exponent_bits - 1)) - 1;
    double fraction = frexp((double)number, &exponent); /* number = fraction x 2^exponent, fraction in [0.5, 1) */
    if (!number) return 0;
    return ((uint64_t)(exponent - 1 + bias) << fraction_bits) + (uint64_t)ldexp(2 * fraction - 1, fraction_bits);
}

/* Values of floats, alone and in pieces of 16 bytes. All sums are small whole numbers, so no order of the items rounds
 * another. */
static void floats_of_repeated_keys(void)
{
    enum { N = 1500, KEYS = 40, MOST = 12 };
    static const struct {
        hd_elem elem;
        uint32_t bytes;
        int exponent_bits, fraction_bits;
    } types[] = { { HD_F16, 2, 5, 10 }, { HD_BF16, 2, 8, 7 }, { HD_F32, 4, 8, 23 }, { HD_F64, 8, 11, 52 } };
    static uint64_t key[N], all[KEYS], want[KEYS * MOST];
    static uint8_t add[N * MOST * 8], got[KEYS * MOST * 8];
    uint64_t random = 9;
    for (size_t k = 0; k < 4; k++)
        for (uint32_t elems = 1; elems <= MOST; elems++) {
            uint32_t size = types[k].bytes, bytes = elems * size;
            uint64_t one = whole_number(types[k].exponent_bits, types[k].fraction_bits, 1);
            hd_table *t = open_table("lfu", bytes, elems % 2);
            memset(want, 0, sizeof want);
            memset(add, 0, sizeof add);
            for (uint64_t i = 0; i < N; i++) {
                key[i] = i < KEYS                 ? i
                         : test_below(&random, 6) ? 3 + test_below(&random, 30)
                                                  : test_below(&random, KEYS);
                for (uint32_t at = 0; at < elems; at++) { /* 1 in eight items, else 0 */
                    uint64_t code = test_below(&random, 8) ? 0 : one;
                    memcpy(add + i * bytes + at * size, &code, size); /* little-endian, as the library asks for */
                    want[key[i] * elems + at] += code != 0;
                }
            }
            hd_batch b = { .op = HD_OP_ACCUM_OR_ASSIGN, .n = N, .key = key, .value = add, .elem = types[k].elem };
            must(hd_run(t, &b));
            for (uint64_t i = 0; i < KEYS; i++) all[i] = i;
            must(hd_find(t, KEYS, all, got, NULL));
            for (uint32_t at = 0; at < KEYS * elems; at++) {
                uint64_t its = 0, code = whole_number(types[k].exponent_bits, types[k].fraction_bits, want[at]);
                memcpy(&its, got + at * size, size);
                check(its == code, "%s: element %u of %u of key %u: %llx instead of %llx", hd_elem_name(types[k].elem),
                      at % elems, elems, at / elems, (ull)its, (ull)code);
            }
            hd_close(t);
        }
}

static const struct CMUnitTest tests[] = {
    unit(flags),
    unit(f32),
    unit(f64),
    unit(f16),
    unit(bf16),
    unit(integers),
    unit(duplicates_add_up),
    unit(neighbours_keep_theirs),
    unit(floats_of_repeated_keys),
    unit_in("neighbours_keep_theirs_by_kernels", neighbours_keep_theirs, by_kernels, by_reference),
    unit_in("floats_of_repeated_keys_by_kernels", floats_of_repeated_keys, by_kernels, by_reference),
    unit_in("f64_by_kernels", f64, by_kernels, by_reference),
    unit_in("f32_by_kernels", f32, by_kernels, by_reference),
    unit_in("f16_by_kernels", f16, by_kernels, by_reference),
    unit_in("bf16_by_kernels", bf16, by_kernels, by_reference),
    unit_in("integers_by_kernels", integers, by_kernels, by_reference)
};

int main(void) { return test_run(tests); }

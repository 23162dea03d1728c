/* SPDX-License-Identifier: Apache-2.0
 *
 * t_hashes.c - the hash functions that tables choose by name (policies/hashes/): vectors, the effect of the seed, the
 * flags of their rows, and evenness.
 *
 * The vectors of CRC, CityHash and MurmurHash3 come from Python packages (crcmod, cityhash, mmh3), those of the mixers
 * from Python's integers, which do not wrap.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/hashes/hashes.h"
#include "tests/chi.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const hd_hash_row *row_of(uint32_t f)
{
    test_case("hash=%s", hd_hash_rows[f].name);
    return &hd_hash_rows[f];
}

/* ---- Vectors --------------------------------------------------------------------------------- */

/* Of the low half of the key as a 32-bit key, and of the key. */
static void vectors(void)
{
    static const struct {
        uint32_t function;
        uint64_t key, seed, of32, of64;
    } vector[] = {
        { HD_HASH_bithash1, 0x0u, 0x0u, 0x6b4ed927u, 0x563fdf3bu },
        { HD_HASH_bithash1, 0x1u, 0x0u, 0xb48681b6u, 0xff27e51bu },
        { HD_HASH_bithash1, 0x7fffffff80u, 0x0u, 0x39f62990u, 0x80b64c70u },
        { HD_HASH_bithash1, 0xdeadbeefu, 0x0u, 0x7ff0eadau, 0x7be4e2feu },
        { HD_HASH_bithash1, 0xfedcba9876543210u, 0x0u, 0x46a76721u, 0xbaf599deu },
        { HD_HASH_bithash1, 0xffffffffffffffffu, 0x0u, 0xfe64c182u, 0xe7c481eau },
        { HD_HASH_bithash1, 0x123456789abcdefu, 0x2au, 0xdfe27047u, 0xb7100bbbu },
        { HD_HASH_bithash1, 0x9e3779b97f4a7c15u, 0xfedcba9876543210u, 0x8a8f9fd3u, 0x82bd6abau },
        { HD_HASH_bithash2, 0x0u, 0x0u, 0xcaa3caa3u, 0x2aeaa2abu },
        { HD_HASH_bithash2, 0x1u, 0x0u, 0x12d60bf6u, 0x15515fbcu },
        { HD_HASH_bithash2, 0x7fffffff80u, 0x0u, 0x717c0400u, 0x4ef64191u },
        { HD_HASH_bithash2, 0xdeadbeefu, 0x0u, 0x92da7565u, 0x5040ff8cu },
        { HD_HASH_bithash2, 0xfedcba9876543210u, 0x0u, 0x882ad404u, 0xa51c6974u },
        { HD_HASH_bithash2, 0xffffffffffffffffu, 0x0u, 0xbd55fc18u, 0x1fbbf8eau },
        { HD_HASH_bithash2, 0x123456789abcdefu, 0x2au, 0xdf70cfacu, 0xfff9eacdu },
        { HD_HASH_bithash2, 0x9e3779b97f4a7c15u, 0xfedcba9876543210u, 0xd1216935u, 0xfa9ab791u },
        { HD_HASH_crc32, 0x0u, 0x0u, 0x2144df1cu, 0x6522df69u },
        { HD_HASH_crc32, 0x1u, 0x0u, 0x99f8b879u, 0xa988dff7u },
        { HD_HASH_crc32, 0x7fffffff80u, 0x0u, 0xcca34f35u, 0xb9d3cc09u },
        { HD_HASH_crc32, 0xdeadbeefu, 0x0u, 0x1a5a601fu, 0xdcdf1f51u },
        { HD_HASH_crc32, 0xfedcba9876543210u, 0x0u, 0x3103f524u, 0x5de232u },
        { HD_HASH_crc32, 0xffffffffffffffffu, 0x0u, 0xffffffffu, 0x2144df1cu },
        { HD_HASH_crc32, 0x123456789abcdefu, 0x2au, 0x20379a9du, 0x2c8d9cd9u },
        { HD_HASH_crc32, 0x9e3779b97f4a7c15u, 0xfedcba9876543210u, 0xc103089fu, 0xb1d0920bu },
        { HD_HASH_crc32c, 0x0u, 0x0u, 0x48674bc7u, 0x8c28b28au },
        { HD_HASH_crc32c, 0x1u, 0x0u, 0x9522e17fu, 0xc514cfadu },
        { HD_HASH_crc32c, 0x7fffffff80u, 0x0u, 0x855cde82u, 0xae487843u },
        { HD_HASH_crc32c, 0xdeadbeefu, 0x0u, 0x41fe56d3u, 0x5f00cc14u },
        { HD_HASH_crc32c, 0xfedcba9876543210u, 0x0u, 0xa6ebcbd5u, 0xa1ff216eu },
        { HD_HASH_crc32c, 0xffffffffffffffffu, 0x0u, 0xffffffffu, 0x48674bc7u },
        { HD_HASH_crc32c, 0x123456789abcdefu, 0x2au, 0x8f752b01u, 0xb8f3432eu },
        { HD_HASH_crc32c, 0x9e3779b97f4a7c15u, 0xfedcba9876543210u, 0x73292040u, 0x19f067ddu },
        { HD_HASH_crc64, 0x0u, 0x0u, 0xf4a586351e1b9f4bu, 0xb66a73654282cac0u },
        { HD_HASH_crc64, 0x1u, 0x0u, 0xe94b0c6b3c373e97u, 0x6cd4e6ca85059580u },
        { HD_HASH_crc64, 0x7fffffff80u, 0x0u, 0x374a81c3f1f07daau, 0x7aa8090824bd460cu },
        { HD_HASH_crc64, 0xdeadbeefu, 0x0u, 0xbdd60894ebbfac7du, 0x700edd30f35ff9ccu },
        { HD_HASH_crc64, 0xfedcba9876543210u, 0x0u, 0x262ddedfc7587a86u, 0x1ab76d6ce8917749u },
        { HD_HASH_crc64, 0xffffffffffffffffu, 0x0u, 0xffffffff00000000u, 0xffffffffffffffffu },
        { HD_HASH_crc64, 0x123456789abcdefu, 0x2au, 0x61bef4cb97f7ae1fu, 0x2720c26c04f641b8u },
        { HD_HASH_crc64, 0x9e3779b97f4a7c15u, 0xfedcba9876543210u, 0x1b8485bed4658371u, 0x6bf983d4703c1475u },
        { HD_HASH_city32, 0x0u, 0x0u, 0x48ced841u, 0x8de6788u },
        { HD_HASH_city32, 0x1u, 0x0u, 0xab286018u, 0x3a57ff3bu },
        { HD_HASH_city32, 0x7fffffff80u, 0x0u, 0xa0aec65cu, 0x339dab26u },
        { HD_HASH_city32, 0xdeadbeefu, 0x0u, 0x7ad2f98cu, 0xe3458715u },
        { HD_HASH_city32, 0xfedcba9876543210u, 0x0u, 0xdc9562afu, 0xdbe011a2u },
        { HD_HASH_city32, 0xffffffffffffffffu, 0x0u, 0x261cb784u, 0x49ede3d5u },
        { HD_HASH_city32, 0x123456789abcdefu, 0x2au, 0x8ea0f591u, 0x36c8257au },
        { HD_HASH_city32, 0x9e3779b97f4a7c15u, 0xfedcba9876543210u, 0xbe61dadbu, 0xf6e82e6bu },
        { HD_HASH_city64, 0x0u, 0x0u, 0xf97816fcf76364bfu, 0x14397a23417af284u },
        { HD_HASH_city64, 0x1u, 0x0u, 0x697c52c354601854u, 0x523be90bb03b5a61u },
        { HD_HASH_city64, 0x7fffffff80u, 0x0u, 0x86f13a11e8cc2f2eu, 0xf73e1053a2201181u },
        { HD_HASH_city64, 0xdeadbeefu, 0x0u, 0xb2121edb7c2d516au, 0x2dd3aa6b06c23dcbu },
        { HD_HASH_city64, 0xfedcba9876543210u, 0x0u, 0x6f327634a611e25u, 0x18a8c1b3020cb1a2u },
        { HD_HASH_city64, 0xffffffffffffffffu, 0x0u, 0x2f8fc2fd6291b6a4u, 0x2fffe7a41fb59155u },
        { HD_HASH_city64, 0x123456789abcdefu, 0x2au, 0xa0bc87ce40082181u, 0xcfbaa10c1c43cc63u },
        { HD_HASH_city64, 0x9e3779b97f4a7c15u, 0xfedcba9876543210u, 0x6bf05be0b3fd5fd4u, 0xb9ef63922d07218cu },
        { HD_HASH_murmur3, 0x0u, 0x0u, 0x2362f9deu, 0x63852afcu },
        { HD_HASH_murmur3, 0x1u, 0x0u, 0xfbf1402au, 0x53075d44u },
        { HD_HASH_murmur3, 0x7fffffff80u, 0x0u, 0xb158ed35u, 0x1c35dcf0u },
        { HD_HASH_murmur3, 0xdeadbeefu, 0x0u, 0xc193d15cu, 0xdc3590fcu },
        { HD_HASH_murmur3, 0xfedcba9876543210u, 0x0u, 0xc68b267au, 0xfa32440bu },
        { HD_HASH_murmur3, 0xffffffffffffffffu, 0x0u, 0x76293b50u, 0x627564e8u },
        { HD_HASH_murmur3, 0x123456789abcdefu, 0x2au, 0xbd918ecbu, 0x272bce7du },
        { HD_HASH_murmur3, 0x9e3779b97f4a7c15u, 0xfedcba9876543210u, 0xbb601f5eu, 0xfbad9561u },
        { HD_HASH_mix64, 0x0u, 0x0u, 0x0u, 0x0u },
        { HD_HASH_mix64, 0x1u, 0x0u, 0xb456bcfc34c2cb2cu, 0xb456bcfc34c2cb2cu },
        { HD_HASH_mix64, 0x7fffffff80u, 0x0u, 0x214399b8843957edu, 0x1ce5bf330da3386u },
        { HD_HASH_mix64, 0xdeadbeefu, 0x0u, 0xd24bd59f862a1dacu, 0xd24bd59f862a1dacu },
        { HD_HASH_mix64, 0xfedcba9876543210u, 0x0u, 0x2df3648f115317bcu, 0x3ebebcc1f4a6fd7u },
        { HD_HASH_mix64, 0xffffffffffffffffu, 0x0u, 0xcc71ecda2aa8bcc6u, 0x64b5720b4b825f21u },
        { HD_HASH_mix64, 0x123456789abcdefu, 0x2au, 0x6158e2c6c241ea22u, 0xe08b6cebf90524e2u },
        { HD_HASH_mix64, 0x9e3779b97f4a7c15u, 0xfedcba9876543210u, 0x72637b44cc4e6d93u, 0x6c5ca810b01cb7b0u },
    };
    uint64_t tried[HD_HASH_COUNT] = { 0 };
    for (size_t i = 0; i < COUNT(vector); i++) {
        uint32_t f = vector[i].function;
        uint64_t of32 = hd_hash_of32(f, (uint32_t)vector[i].key, vector[i].seed),
                 of64 = hd_hash_of64(f, vector[i].key, vector[i].seed);
        test_case("hash=%s key=%llx seed=%llx", hd_hash_rows[f].name, (ull)vector[i].key, (ull)vector[i].seed);
        check(of32 == vector[i].of32, "of the 32-bit key: %llx", (ull)of32);
        check(of64 == vector[i].of64, "of the 64-bit key: %llx", (ull)of64);
        tried[f]++;
    }
    for (uint32_t f = 0; f < HD_HASH_COUNT; f++)
        check(tried[f] >= 8, "%s has %llu vectors", hd_hash_rows[f].name, (ull)tried[f]);
    check(hd_hash_of32(HD_HASH_COUNT, 1, 0) == 0 && hd_hash_of64(HD_HASH_COUNT, 1, 0) == 0,
          "a function that there is not");
}

/* Numbers that stand in publications: of the check of a CRC, in catalogues of them; CityHash's own test (city-test.cc,
 * version 1.1, rows 4 and 8 of its made-up data); MurmurHash3's of four bytes, as they are handed down with ports of
 * it. */
static void published(void)
{
    static const struct {
        uint32_t function;
        uint32_t key, seed, hash;
    } four[] = {
        { HD_HASH_murmur3, 0x00000000u, 0x00000000u, 0x2362f9deu },
        { HD_HASH_murmur3, 0xffffffffu, 0x00000000u, 0x76293b50u },
        { HD_HASH_murmur3, 0x87654321u, 0x00000000u, 0xf55b516bu },
        { HD_HASH_murmur3, 0x87654321u, 0x5082edeeu, 0x2362f9deu },
        { HD_HASH_murmur3, 0x74736574u, 0x9747b28cu, 0x704b81dcu }, /* "test" */
        { HD_HASH_murmur3, 0x61616161u, 0x9747b28cu, 0x5a97808au }, /* "aaaa" */
        { HD_HASH_city32, 0x2ca7303bu, 0x00000000u, 0x26f2b463u },
    };
    for (size_t i = 0; i < COUNT(four); i++) {
        test_case("hash=%s key=%x seed=%x", hd_hash_rows[four[i].function].name, four[i].key, four[i].seed);
        check(hd_hash_of32(four[i].function, four[i].key, four[i].seed) == four[i].hash, "%llx",
              (ull)hd_hash_of32(four[i].function, four[i].key, four[i].seed));
    }
    check(city32_of64(0xa0f8cdc16024411fu, 0) == 0xc87f95deu, "CityHash32 of row 8");
    check(city64_of32(0x2ca7303bu, 0) == 0x11df592596f41d88u, "CityHash64 of row 4");
    check(city64_of64(0xa0f8cdc16024411fu, 0) == 0xa0f10149a0e538d6u, "CityHash64 of row 8");
    check(mix64_of64(1, 0) == 0xb456bcfc34c2cb2cu, "the finaliser of 1");

    /* "123456789": eight bytes as a key, and one more. */
    uint64_t eight = 0x3837363534333231u;
    check(~crc32_steps(~crc32_of64(eight, 0) ^ '9', 1) == 0xcbf43926u, "the check of CRC-32");
    check(~crc32c_steps(~crc32c_of64(eight, 0) ^ '9', 1) == 0xe3069283u, "the check of CRC-32C");
    check(~crc64_steps(~crc64_of64(eight, 0) ^ '9', 1) == 0x995dc9bbdf1939fau, "the check of CRC-64");
}

/* ---- CRCs, a bit at a time by the polynomial ------------------------------------------------- */

static uint64_t crc_by_bits(uint64_t polynomial, uint32_t bits, uint64_t key, int bytes, uint64_t seed)
{
    uint64_t ones = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1, r = ~seed & ones;
    for (int i = 0; i < 8 * bytes; i++) {
        uint64_t carry = (r ^ key >> i) & 1;
        r = r >> 1 ^ (carry ? polynomial : 0);
    }
    return ~r & ones;
}

static void crcs_are_their_polynomials(void)
{
    static const struct {
        uint32_t function;
        uint64_t polynomial;
    } crc[] = { { HD_HASH_crc32, 0xedb88320u },
                { HD_HASH_crc32c, 0x82f63b78u },
                { HD_HASH_crc64, 0xc96c5795d7870f42u } };
    for (size_t k = 0; k < COUNT(crc); k++) {
        const hd_hash_row *row = row_of(crc[k].function);
        for (uint64_t random = 1, i = 0; i < 100000; i++) {
            uint64_t key = i < 256 ? i << 8 * (i % 8) : test_random(&random), seed = i % 2 ? test_random(&random) : 0;
            uint64_t of32 = crc_by_bits(crc[k].polynomial, row->bits, key & UINT32_MAX, 4, seed),
                     of64 = crc_by_bits(crc[k].polynomial, row->bits, key, 8, seed);
            check(hd_hash_of32(crc[k].function, (uint32_t)key, seed) == of32 &&
                      hd_hash_of64(crc[k].function, key, seed) == of64,
                  "key %llx, seed %llx", (ull)key, (ull)seed);
            uint64_t low = hd_hash_of32(crc[k].function, (uint32_t)key, seed);
            check(hd_hash_of32(crc[k].function, (uint32_t)(key >> 32), low) == of64, "key %llx in two parts", (ull)key);
        }
    }
}

/* ---- On a device ----------------------------------------------------------------------------- */

#ifdef HD_CUDA
int hashes_on_device(uint32_t function, int wide, uint64_t n, const uint64_t *key, uint64_t seed, uint64_t *out);
#else
static int hashes_on_device(uint32_t function, int wide, uint64_t n, const uint64_t *key, uint64_t seed, uint64_t *out)
{
    (void)function, (void)wide, (void)n, (void)key, (void)seed, (void)out;
    return -1;
}
#endif

/* Its tables of constants are others, and its compiler is. */
static void a_device_says_the_same(void)
{
    if (!test_far()) test_skip("HEDDLE_TEST_BACKEND is not cuda");
    uint64_t n = 1 << 16, *key = (uint64_t *)test_alloc(n, sizeof *key), *out = (uint64_t *)test_alloc(n, sizeof *out);
    for (uint64_t random = 7, i = 0; i < n; i++) key[i] = i < 1024 ? i << 8 * (i % 8) : test_random(&random);
    for (uint32_t f = 0; f < HD_HASH_COUNT; f++)
        for (int round = 0; round < 4; round++) {
            bool wide = round & 1;
            uint64_t seed = round & 2 ? 0xfedcba9876543210u : 0;
            row_of(f);
            check(hashes_on_device(f, wide, n, key, seed, out) == 0, "the device fails");
            for (uint64_t i = 0; i < n; i++) {
                uint64_t want = wide ? hd_hash_of64(f, key[i], seed) : hd_hash_of32(f, (uint32_t)key[i], seed);
                check(out[i] == want, "%d bits, key %llx, seed %llx: %llx, not %llx", wide ? 64 : 32, (ull)key[i],
                      (ull)seed, (ull)out[i], (ull)want);
            }
        }
    free(key);
    free(out);
}

/* ---- Seeds ----------------------------------------------------------------------------------- */

/* Those that have no seed of their own hash key ^ seed; 32-bit functions take its low half; every function takes
 * some. */
static void seeds_do_what_is_said(void)
{
    for (uint32_t f = 0; f < HD_HASH_COUNT; f++) {
        const hd_hash_row *row = row_of(f);
        bool own32 = f == HD_HASH_murmur3 || (row->flags & HD_HASH_LINEAR), own64 = own32 || f == HD_HASH_bithash1;
        uint64_t same = 0;
        for (uint64_t random = 2, i = 0; i < 10000; i++) {
            uint64_t key = test_random(&random), seed = test_random(&random);
            uint32_t low = (uint32_t)key;
            uint64_t of32 = hd_hash_of32(f, low, seed), of64 = hd_hash_of64(f, key, seed);
            if (!own32 && f != HD_HASH_mix64)
                check(of32 == hd_hash_of32(f, low ^ (uint32_t)seed, 0), "key %x, seed %llx", low, (ull)seed);
            if (!own64) check(of64 == hd_hash_of64(f, key ^ seed, 0), "key %llx, seed %llx", (ull)key, (ull)seed);
            if (row->bits == 32)
                check(of32 == hd_hash_of32(f, low, (uint32_t)seed), "key %x, seed %llx", low, (ull)seed);
            if (row->bits == 32)
                check(of32 <= UINT32_MAX && of64 <= UINT32_MAX, "a hash of 32 bits is %llx, %llx", (ull)of32,
                      (ull)of64);
            if (of32 == hd_hash_of32(f, low, seed ^ 1)) same++;
            if (of64 == hd_hash_of64(f, key, seed ^ 1)) same++;
        }
        check(same < 3, "two seeds have %llu hashes of 20,000 in common", (ull)same);
    }
}

/* ---- What rows claim ------------------------------------------------------------------------- */

static void linear(void)
{
    for (uint32_t f = 0; f < HD_HASH_COUNT; f++) {
        const hd_hash_row *row = row_of(f);
        uint64_t broken = 0;
        for (uint64_t random = 3, i = 0; i < 10000; i++) {
            uint64_t a = test_random(&random), b = test_random(&random), c = test_random(&random),
                     seed = test_random(&random);
            broken += (hd_hash_of32(f, (uint32_t)(a ^ b ^ c), seed) ^ hd_hash_of32(f, (uint32_t)a, 0) ^
                       hd_hash_of32(f, (uint32_t)b, 0) ^ hd_hash_of32(f, (uint32_t)c, seed)) != 0;
            broken += (hd_hash_of64(f, a ^ b ^ c, seed) ^ hd_hash_of64(f, a, 0) ^ hd_hash_of64(f, b, 0) ^
                       hd_hash_of64(f, c, seed)) != 0;
        }
        check((broken == 0) == ((row->flags & HD_HASH_LINEAR) != 0), "%llu of 20,000 sums are not the sum's",
              (ull)broken);
    }
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* How many of n keys, random ones or counted, have a hash that another has. n^2 / 2^33 are expected of a random
 * function of 32 bits. */
static uint64_t shared(uint32_t f, uint64_t *hash, uint64_t n, bool random)
{
    uint64_t same = 0;
    for (uint64_t i = 0; i < n; i++)
        hash[i] = hd_hash_of32(f, random ? hd_mix32((uint32_t)i ^ 0x5bd1e995u) : (uint32_t)i, 0);
    qsort(hash, n, sizeof *hash, by_number);
    for (uint64_t i = 1; i < n; i++) same += hash[i] == hash[i - 1];
    return same;
}

#define PRIME (((uint64_t)1 << 61) - 1)

static uint64_t times(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    uint64_t sum = ((uint64_t)product & PRIME) + (uint64_t)(product >> 61);
    return sum >= PRIME ? sum - PRIME : sum;
}

/* The product of x + h over the hashes h of all 2^32 keys, modulo a prime; with HD_HASH_COUNT, over all numbers of 32
 * bits. As a polynomial in x it is that of all numbers only when every number is there once, and two different ones
 * agree at fewer than 2^32 of 2^61 values of x (Schwartz, Zippel). */
static uint64_t product_of_all(uint32_t f, uint64_t x)
{
    uint64_t part[4] = { 1, 1, 1, 1 };
    for (uint64_t key = 0; key <= UINT32_MAX; key += 4)
        for (uint32_t k = 0; k < 4; k++)
            part[k] = times(part[k], x + (f < HD_HASH_COUNT ? hd_hash_of32(f, (uint32_t)key + k, 0) : key + k));
    return times(times(part[0], part[1]), times(part[2], part[3]));
}

static void one_to_one(void)
{
    uint64_t n = 1 << 19, *hash = (uint64_t *)test_alloc(n, sizeof *hash);
    for (uint32_t f = 0; f < HD_HASH_COUNT; f++) {
        const hd_hash_row *row = row_of(f);
        bool claimed = (row->flags & HD_HASH_ONE_TO_ONE) != 0;
        uint64_t same = shared(f, hash, n, true) + shared(f, hash, n, false);
        check(claimed || row->bits == 64 || same > 0, "no two of %llu keys share a hash, and the row does not say so",
              (ull)n);
        check(!claimed || same == 0, "%llu of %llu keys share a hash", (ull)same, (ull)n);
    }
    free(hash);
    if (test_scale() == 1) return;
    uint64_t random = 6, x = test_random(&random) >> 4, all = product_of_all(HD_HASH_COUNT, x);
    for (uint32_t f = 0; f < HD_HASH_COUNT; f++)
        if (row_of(f)->bits == 32) {
            bool every = product_of_all(f, x) == all;
            check(every == ((hd_hash_rows[f].flags & HD_HASH_ONE_TO_ONE) != 0), "the hashes of all keys are %s numbers",
                  every ? "all" : "not all");
        }
}

/* The greatest distance from a half of the share of keys whose hash flips in bit j when the key flips in bit i; *mean:
 * the share of all. Of n keys its standard deviation is 1 / (2 sqrt(n)): 0.002, so that 0.01 is five of them. */
static double unlikeness(uint32_t f, uint32_t bits, bool wide, double *mean)
{
    uint64_t n = 1 << 16, random = 4, all = 0;
    uint32_t flips[64][64] = { { 0 } };
    double worst = 0;
    int width = wide ? 64 : 32;
    for (uint64_t k = 0; k < n; k++) {
        uint64_t key = test_random(&random), h = wide ? hd_hash_of64(f, key, 0) : hd_hash_of32(f, (uint32_t)key, 0);
        for (int i = 0; i < width; i++) {
            uint64_t other = key ^ (uint64_t)1 << i,
                     d = h ^ (wide ? hd_hash_of64(f, other, 0) : hd_hash_of32(f, (uint32_t)other, 0));
            for (uint32_t j = 0; j < bits; j++) flips[i][j] += (uint32_t)(d >> j & 1);
        }
    }
    for (int i = 0; i < width; i++)
        for (uint32_t j = 0; j < bits; j++) {
            double share = (double)flips[i][j] / (double)n;
            all += flips[i][j];
            worst = fmax(worst, fabs(share - 0.5));
        }
    *mean = (double)all / (double)n / width / bits;
    return worst;
}

static void avalanche(void)
{
    for (uint32_t f = 0; f < HD_HASH_COUNT; f++) {
        const hd_hash_row *row = row_of(f);
        double mean32, mean64, of32 = unlikeness(f, row->bits, false, &mean32),
                               of64 = unlikeness(f, row->bits, true, &mean64);
        bool claimed = (row->flags & HD_HASH_AVALANCHE) != 0;
        test_note("%s: of its bits %.4f flip, of 64-bit keys %.4f; farthest from a half %.4f, %.4f", row->name, mean32,
                  mean64, of32, of64);
        check((of32 <= 0.01) == claimed, "a bit flips with another in %.4f, or one less, of the keys", 0.5 + of32);
        if (row->flags & HD_HASH_LINEAR) {
            check(of32 == 0.5 && of64 == 0.5, "which bits flip depends on the key");
        } else {
            check(fabs(mean32 - 0.5) < 0.01 && fabs(mean64 - 0.5) < 0.01, "%.4f and %.4f of the bits flip", mean32,
                  mean64);
            check(of64 <= 0.2, "of 64-bit keys a bit flips with another in %.4f, or one less, of them", 0.5 + of64);
        }
    }
}

/* ---- Evenness: chi-squared ------------------------------------------------------------------- */

enum { SEQUENTIAL, STRIDED, ODD, RANDOM, KINDS };
static const char *const kind_name[KINDS] = { "sequential", "strided", "odd", "random" };

static uint64_t key_of_kind(int kind, uint64_t i, bool wide, uint64_t *random)
{
    switch (kind) {
    case SEQUENTIAL: return i;
    case STRIDED: return wide ? i << 24 : i << 10;
    case ODD: return 2 * i + 1;
    default: return wide ? test_random(random) : hd_mix64(2 * i + 1) & UINT32_MAX;
    }
}

/* How many standard deviations the sum is above the mean of chance, of 2^bits buckets by the lowest or the highest
 * bits. */
static double unevenness(uint32_t f, bool wide, int kind, bool high, uint32_t bits)
{
    uint64_t n = 1 << 20, random = 5, buckets = (uint64_t)1 << bits,
             *count = (uint64_t *)test_alloc(buckets, sizeof *count);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t key = key_of_kind(kind, i, wide, &random),
                 h = wide ? hd_hash_of64(f, key, 0) : hd_hash_of32(f, (uint32_t)key, 0);
        count[high ? h >> (hd_hash_rows[f].bits - bits) : h & (buckets - 1)]++;
    }
    double freedom = (double)buckets - 1, z = (chi_of_even(count, buckets, n) - freedom) / sqrt(2 * freedom);
    free(count);
    return z;
}

/* The lowest bits choose a bucket of Hive's tables. Both mixers are published with the advice to take those; what they
 * do worse is here, so that it is known, and no more than this. */
static const struct uneven {
    uint32_t function;
    bool wide;
    int kind;
    bool high;
} uneven[] = {
    { HD_HASH_bithash1, false, STRIDED, false }, /* 4,096 buckets */
    { HD_HASH_bithash1, false, ODD, true },       { HD_HASH_bithash2, false, SEQUENTIAL, true },
    { HD_HASH_bithash2, false, STRIDED, true },   { HD_HASH_bithash2, false, ODD, true },
    { HD_HASH_bithash2, true, SEQUENTIAL, true }, { HD_HASH_bithash2, true, ODD, true },
};

static bool known_to_be_uneven(uint32_t f, bool wide, int kind, bool high)
{
    for (size_t i = 0; i < COUNT(uneven); i++)
        if (uneven[i].function == f && uneven[i].wide == wide && uneven[i].kind == kind && uneven[i].high == high)
            return true;
    return false;
}

/* Counted keys, and the same with a stride, fill buckets no worse than chance; random ones no better either. Linear
 * functions share out counted keys exactly. */
static void buckets_are_even(void)
{
    for (uint32_t f = 0; f < HD_HASH_COUNT; f++)
        for (int round = 0; round < 4 * KINDS; round++) {
            bool wide = round & 1, high = round & 2, seen = false, linear_row = hd_hash_rows[f].flags & HD_HASH_LINEAR;
            int kind = round / 4;
            for (uint32_t bits = 7; bits <= 17; bits += 5) {
                double z = unevenness(f, wide, kind, high, bits), freedom = (double)((1 << bits) - 1);
                test_case("hash=%s keys=%d bits, %s; 2^%u buckets by the %s bits", hd_hash_rows[f].name, wide ? 64 : 32,
                          kind_name[kind], bits, high ? "highest" : "lowest");
                seen |= z > 6;
                check(z < 6 || known_to_be_uneven(f, wide, kind, high), "%.1f standard deviations from chance", z);
                if (kind == RANDOM) check(z > -6, "%.1f standard deviations from chance", z);
                if (kind != RANDOM && linear_row)
                    check(z == -freedom / sqrt(2 * freedom), "%.1f standard deviations from chance", z);
            }
            check(seen == known_to_be_uneven(f, wide, kind, high), "these are even");
        }
}

static const struct CMUnitTest tests[] = { unit(vectors),
                                           unit(published),
                                           unit(crcs_are_their_polynomials),
                                           unit(a_device_says_the_same),
                                           unit(seeds_do_what_is_said),
                                           unit(linear),
                                           unit(one_to_one),
                                           unit(avalanche),
                                           unit(buckets_are_even) };

int main(void) { return test_run(tests); }

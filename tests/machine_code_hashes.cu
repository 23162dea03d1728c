/* SPDX-License-Identifier: Apache-2.0
 *
 * machine_code_hashes.cu - each hash function (policies/hashes/registry.inc) as a kernel, for its machine code to be
 * read (tools/sass.py): hash_NAME_32 and hash_NAME_64 hash an array of keys of so many bits, with seed 0; hash_none_32
 * and hash_none_64 copy it, and are what the others have besides the function.
 */
#include "policies/hashes/hashes.h"

#define KERNEL(name, bits, out_type, expression)                                             \
    extern "C" __global__ void hash_##name##_##bits(const uint##bits##_t *in, out_type *out) \
    {                                                                                        \
        size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;                            \
        uint##bits##_t key = in[i];                                                          \
        out[i] = expression;                                                                 \
    }
KERNEL(none, 32, uint32_t, key)
KERNEL(none, 64, uint64_t, key)
#define HD_HASH(name, what, hash_bits, flags)                  \
    KERNEL(name, 32, uint##hash_bits##_t, name##_of32(key, 0)) \
    KERNEL(name, 64, uint##hash_bits##_t, name##_of64(key, 0))
#include "policies/hashes/registry.inc"
#undef HD_HASH

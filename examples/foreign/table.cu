/* SPDX-License-Identifier: Apache-2.0
 *
 * table.cu - a hash table as one finds them: open addressing, linear probing, a thread for each key. Plain CUDA C, for
 * nvcc as it is. Nothing here knows of Heddle.
 */
#define EMPTY 0xffffffffu

typedef struct entry {
    unsigned key, value;
} entry;

__device__ unsigned hash_of(unsigned key)
{
    key ^= key >> 16;
    key *= 0x85ebca6bu;
    key ^= key >> 13;
    return key;
}

/* Each key's value: the one that the table has, or else the one given, which then is the table's. placed: how many came
 * in. The table has mask + 1 entries, a power of two, and room for all. */
__global__ void get_or_insert(entry *table, unsigned mask, const unsigned *key, unsigned *value, unsigned n,
                              unsigned *placed)
{
    __shared__ unsigned mine;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) mine = 0;
    __syncthreads();
    if (i < n) {
        unsigned slot = hash_of(key[i]) & mask;
        for (;;) {
            unsigned was = atomicCAS(&table[slot].key, EMPTY, key[i]);
            if (was == EMPTY) {
                table[slot].value = value[i];
                atomicAdd(&mine, 1u);
                break;
            }
            if (was == key[i]) {
                value[i] = table[slot].value;
                break;
            }
            slot = (slot + 1) & mask;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(placed, mine);
}

/* The same, but key and value are stored at once: a thread that sees the key sees its value. */
__global__ void get_or_insert_at_once(entry *table, unsigned mask, const unsigned *key, unsigned *value, unsigned n,
                                      unsigned *placed)
{
    __shared__ unsigned mine;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) mine = 0;
    __syncthreads();
    if (i < n) {
        unsigned long long both = (unsigned long long)value[i] << 32 | key[i],
                           empty = (unsigned long long)EMPTY << 32 | EMPTY;
        unsigned slot = hash_of(key[i]) & mask;
        for (;;) {
            unsigned long long was = atomicCAS((unsigned long long *)(void *)&table[slot], empty, both);
            if (was == empty) {
                atomicAdd(&mine, 1u);
                break;
            }
            if ((unsigned)was == key[i]) {
                value[i] = (unsigned)(was >> 32);
                break;
            }
            slot = (slot + 1) & mask;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(placed, mine);
}

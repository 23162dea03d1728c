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

/* Puts the key in, with its value; or gives the value that the table has. Returns whether the key came in. */
__device__ int place(entry *table, unsigned mask, unsigned key, unsigned *value)
{
    for (unsigned slot = hash_of(key) & mask;; slot = (slot + 1) & mask) {
        unsigned was = atomicCAS(&table[slot].key, EMPTY, key);
        if (was == EMPTY) {
            table[slot].value = *value;
            return 1;
        }
        if (was == key) {
            *value = table[slot].value;
            return 0;
        }
    }
}

/* The same, but key and value are stored at once: a thread that sees the key sees its value. */
__device__ int place_at_once(entry *table, unsigned mask, unsigned key, unsigned *value)
{
    unsigned long long both = (unsigned long long)*value << 32 | key, empty = (unsigned long long)EMPTY << 32 | EMPTY;
    for (unsigned slot = hash_of(key) & mask;; slot = (slot + 1) & mask) {
        unsigned long long was = atomicCAS((unsigned long long *)(void *)&table[slot], empty, both);
        if (was == empty) return 1;
        if ((unsigned)was == key) {
            *value = (unsigned)(was >> 32);
            return 0;
        }
    }
}

/* Adds to *placed how many threads of the block came in. */
__device__ void count_placed(int came_in, unsigned *placed)
{
    __shared__ unsigned mine;
    if (threadIdx.x == 0) mine = 0;
    __syncthreads();
    if (came_in) atomicAdd(&mine, 1u);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(placed, mine);
}

/* Each key's value: the one that the table has, or else the one given, which then is the table's. placed: how many came
 * in. The table has mask + 1 entries, a power of two, and room for all. */
__global__ void get_or_insert(entry *table, unsigned mask, const unsigned *key, unsigned *value, unsigned n,
                              unsigned *placed)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    count_placed(i < n && place(table, mask, key[i], &value[i]), placed);
}

__global__ void get_or_insert_at_once(entry *table, unsigned mask, const unsigned *key, unsigned *value, unsigned n,
                                      unsigned *placed)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    count_placed(i < n && place_at_once(table, mask, key[i], &value[i]), placed);
}

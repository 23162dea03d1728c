/* SPDX-License-Identifier: Apache-2.0
 *
 * dictionary.c - a dictionary that loses nothing: design hive, from 32-bit keys to 32-bit values. It begins with room
 * for 1,024 entries, grows in place while keys come, and shrinks when they are gone.
 *
 *     cc dictionary.c $(pkg-config --cflags --libs heddle) && ./a.out
 */
#include <heddle.h>
#include <inttypes.h>
#include <stdio.h>

enum { KEYS = 50000, BATCH = 5000 };

static uint64_t key[BATCH];
static uint32_t value[BATCH];
static uint8_t outcome[BATCH];

static void print_table(hd_table *t, const char *when)
{
    hd_info info;
    uint64_t entries;
    if (hd_table_info(t, &info) || hd_size(t, &entries)) return;
    printf("%-14s %6" PRIu64 " entries in %6" PRIu64 " slots\n", when, entries, info.capacity);
}

/* The keys 7, 14, 21, ...: key number i has the value i. */
static void fill_batch(uint32_t first)
{
    for (uint32_t i = 0; i < BATCH; i++) {
        key[i] = 7 * (uint64_t)(first + i + 1);
        value[i] = first + i;
    }
}

/* Grows the table before 80% of its slots hold an entry: hive is fastest there, and no item stays PENDING. */
static hd_status insert_all(hd_table *t)
{
    hd_status status = HD_OK;
    for (uint32_t first = 0; first < KEYS && !status; first += BATCH) {
        fill_batch(first);
        status = hd_upsert_growing(t, BATCH, key, value, NULL, outcome, 0.8);
    }
    return status;
}

/* Every key must have its value. */
static hd_status count_found(hd_table *t, uint32_t *found)
{
    static uint32_t got[BATCH];
    hd_status status = HD_OK;
    *found = 0;
    for (uint32_t first = 0; first < KEYS && !status; first += BATCH) {
        fill_batch(first);
        status = hd_find(t, BATCH, key, got, outcome);
        for (uint32_t i = 0; i < BATCH; i++) *found += outcome[i] == HD_HIT && got[i] == value[i];
    }
    return status;
}

int main(void)
{
    hd_config c = hd_config_of("hive");
    hd_table *t;
    hd_info info;
    uint32_t found;
    uint64_t erased;
    c.capacity = 1024;
    if (hd_open(&c, &t)) return puts(hd_why()), 1;
    print_table(t, "empty");
    if (insert_all(t)) return puts(hd_why()), 1;
    print_table(t, "filled");
    if (count_found(t, &found)) return puts(hd_why()), 1;
    printf("%" PRIu32 " of %d keys have their value\n", found, KEYS);
    if (hd_erase_if(t, "all", 0, 0, &erased) || hd_table_info(t, &info)) return puts(hd_why()), 1;
    if (hd_shrink(t, info.base_buckets)) return puts(hd_why()), 1;
    print_table(t, "erased, shrunk");
    hd_close(t);
    return found == KEYS && erased == KEYS ? 0 : 1;
}

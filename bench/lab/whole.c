/* SPDX-License-Identifier: Apache-2.0
 *
 * whole.c - times of the calls that concern the whole of a table: hd_grow, hd_check, hd_for_each, hd_save and hd_load,
 * by the host's clock, once each. bench.md has the command. Arguments: backend (cuda), capacity in entries
 * (16777216), bytes of a value (16), a file for the snapshot (none: hd_save and hd_load are left out), load factor in
 * percent (75), design (hkv).
 *
 * GB/s are of these bytes, an entry being its key, score, digest and value, of hive a word of 8 bytes: hd_grow reads
 * the old slots and writes the new ones (values of entries alone); hd_check and hd_for_each read all slots (hd_check no
 * values); hd_save and hd_load are given by the size of the file.
 */
#define _POSIX_C_SOURCE 200809L
#include <heddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 1 << 20, METADATA = 17, WORD = 8 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(hd_status status)
{
    if (status == HD_OK) return;
    fprintf(stderr, "%s\n", hd_why());
    exit(1);
}

static void *take(size_t bytes)
{
    void *p = calloc(1, bytes ? bytes : 1);
    if (!p) exit(2);
    return p;
}

/* Different ones. Those of hive have 32 bits, and the three greatest are reserved. */
static uint64_t key_of(uint64_t i, bool hive)
{
    return hive ? (uint32_t)(i * 0x9E3779B1u) & 0x7fffffffu : i * 0x9E3779B97F4A7C15u >> 2;
}

static void fill(hd_table *t, uint64_t n, size_t row, bool hive)
{
    uint64_t *key = (uint64_t *)take(8 * (size_t)BATCH);
    char *value = (char *)take(row * BATCH);
    for (uint64_t at = 0; at < n; at += BATCH) {
        uint64_t items = n - at < BATCH ? n - at : BATCH;
        for (uint64_t i = 0; i < items; i++) {
            key[i] = key_of(at + i, hive);
            if (row >= 8) memcpy(value + i * row, &key[i], 8);
        }
        hd_batch b = hd_batch_keyed(HD_OP_INSERT_OR_ASSIGN, items, key, value, NULL, NULL, NULL, NULL);
        must(hd_run(t, &b));
    }
    free(key);
    free(value);
}

static uint64_t entries_of(hd_table *t)
{
    uint64_t n;
    must(hd_size_sync(t, &n));
    return n;
}

static int add_keys(void *sum, uint64_t key, uint64_t score, void *value)
{
    (void)score, (void)value;
    *(uint64_t *)sum += key;
    return 0;
}

static void row(const char *call, const hd_info *info, double seconds, double bytes)
{
    printf("%s\t%llu\t%u\t%.4f\t%.2f\n", call, (unsigned long long)info->capacity, info->value_bytes, seconds,
           bytes / seconds * 1e-9);
    fflush(stdout);
}

static double file_bytes(const char *path)
{
    hd_snapshot_info info;
    must(hd_snapshot_inspect(path, &info));
    return (double)info.file_bytes;
}

static void save_and_load(hd_table *t, const hd_info *info, const char *path)
{
    double s = now();
    must(hd_save(t, path));
    row("hd_save", info, now() - s, file_bytes(path));
    s = now();
    must(hd_load(t, path, NULL));
    row("hd_load", info, now() - s, file_bytes(path));
}

int main(int argc, char **argv)
{
    bool hive = argc > 6 && strcmp(argv[6], "hive") == 0;
    hd_config c = hd_config_of(hive ? "hive" : "hkv");
    hd_table *t;
    hd_info info;
    uint64_t sum = 0;
    c.backend = argc > 1 ? argv[1] : "cuda";
    c.capacity = argc > 2 ? strtoull(argv[2], NULL, 0) : 16 << 20;
    c.value_bytes = argc > 3 ? (uint32_t)atoi(argv[3]) : hive ? 4 : 16;
    double load = argc > 5 ? atof(argv[5]) / 100 : 0.75;
    must(hd_open(&c, &t));
    must(hd_table_info(t, &info));
    fill(t, (uint64_t)(load * (double)info.capacity), c.value_bytes, hive);
    double slots = (double)info.capacity, entries = (double)entries_of(t), metadata = hive ? WORD : METADATA,
           values = hive ? 0 : entries * (double)c.value_bytes;
    printf("call\tcapacity\tvalue_bytes\tseconds\tGB_per_s\n");
    double s = now();
    must(hd_check(t));
    row("hd_check", &info, now() - s, metadata * slots);
    s = now();
    must(hd_for_each(t, add_keys, &sum));
    row("hd_for_each", &info, now() - s, metadata * slots + values);
    if (argc > 4 && *argv[4]) save_and_load(t, &info, argv[4]);
    s = now();
    must(hd_grow(t, 2 * info.buckets));
    row("hd_grow", &info, now() - s, 3 * metadata * slots + 2 * values);
    s = now();
    must(hd_check(t));
    must(hd_table_info(t, &info));
    row("hd_check", &info, now() - s, metadata * (double)info.capacity);
    if ((double)entries_of(t) != entries) fprintf(stderr, "entries were lost\n");
    hd_close(t);
    return 0;
}

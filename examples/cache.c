/* SPDX-License-Identifier: Apache-2.0
 *
 * cache.c - the example of README.md: a cache with room for four keys meets six requests. The README shows this file
 * from the first #include on, and what it prints; tests/t_docs.sh compares both. Built with the installed library:
 *
 *     cc cache.c $(pkg-config --cflags --libs heddle) -o cache
 */
#include <heddle.h>
#include <stdio.h>

int main(void)
{
    hd_config c = hd_config_default();
    c.capacity = c.slots = 4; /* one bucket of four entries */
    hd_table *t;
    if (hd_open(&c, &t)) return puts(hd_why()), 1;

    uint64_t key[6] = { 1, 2, 3, 4, 1, 5 }, value[6] = { 10, 20, 30, 40, 11, 50 }, evicted[6], count;
    uint8_t outcome[6];
    if (hd_insert_and_evict(t, 6, key, value, NULL, outcome, evicted, NULL, NULL, &count)) return puts(hd_why()), 1;
    for (int i = 0; i < 6; i++) printf("key %d: %s\n", (int)key[i], hd_outcome_name((hd_outcome)outcome[i]));
    printf("evicted: key %d\n", (int)evicted[0]);
    hd_close(t);
}

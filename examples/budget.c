/* SPDX-License-Identifier: Apache-2.0
 *
 * budget.c - memory from the caller: two tables share a budget of 1 MiB, and a table that does not fit is refused.
 */
#include <heddle.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct budget {
    size_t used, most;
} budget;

static void *take(void *context, size_t bytes, size_t align)
{
    budget *b = (budget *)context;
    void *p = NULL;
    if (bytes > b->most - b->used || posix_memalign(&p, align < sizeof p ? sizeof p : align, bytes)) return NULL;
    b->used += bytes;
    return p;
}

static void give(void *context, void *p, size_t bytes)
{
    budget *b = (budget *)context;
    b->used -= p ? bytes : 0;
    free(p);
}

int main(void)
{
    budget mine = { 0, 1 << 20 };
    const hd_allocator allocator = { .take = take, .give = give, .context = &mine };
    hd_config c = hd_config_default();
    hd_table *first, *second, *third;
    c.capacity = 16 << 10;
    c.allocator = &allocator;
    if (hd_open(&c, &first) || hd_open(&c, &second)) return puts(hd_why()), 1;
    printf("two tables: %zu of %zu KiB\n", mine.used >> 10, mine.most >> 10);
    if (hd_open(&c, &third) == HD_OK) return puts("the third table fits, too"), 1;
    printf("a third one: %s\n", hd_why());
    hd_close(first);
    hd_close(second);
    return mine.used != 0;
}

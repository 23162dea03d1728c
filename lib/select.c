/* SPDX-License-Identifier: Apache-2.0
 *
 * select.c - the run-time selector (HKV section 4.3): the value's size says who copies it, the load factor whether evictions are what
 * there is to wait for. The first row that holds the batch is taken.
 */
#include "lib/select.h"

#include "lib/op.h"

enum { CHOICES = 2 };

/* Measured on an H200 (bench/results, papers/hkv/results). gather is ahead of the others at every size and load factor; it wants
 * buckets of 16 to 128 slots, and to insert a table of pairs. Of those that run any table a thread copies what is small, eight
 * threads what is larger. The paper has pipeline from 512 bytes on, and when a table is nearly full (on an H100 NVL); ours is
 * behind tlpv2 there. */
typedef struct threshold {
    uint32_t value_bytes; /* at most ... */
    double load_factor;   /* ... and at most */
    const char *variant[CHOICES];
} threshold;

static const threshold inserters[] = {
    { 32, 1, { "gather", "tlpv1" } },
    { HD_VALUE_BYTES_MAX, 1, { "gather", "tlpv2" } },
};

/* Lookups and updates evict nothing: only the value counts. */
static const threshold others[] = {
    { 16, 1, { "gather", "tlpv1" } },
    { HD_VALUE_BYTES_MAX, 1, { "gather", "tlpv2" } },
};

/* Of what goes over all slots: lanes that read and write side by side. */
static const threshold wholes[] = {
    { HD_VALUE_BYTES_MAX, 1, { "warp", "tlpv1" } },
};

/* Measured on an H200: values within this much far memory come as fast as they come, while their keys are still looked for; beyond
 * it each waits for a translation, and to sort pays from a batch on whose far values are worth two launches more. */
enum { SORTED_ITEMS = 1 << 14 };
static const uint64_t translated_bytes = 512u << 20;

bool hd_select_sorted(const hd_info *info, uint64_t n)
{
    if (info->far_value_bytes == 0 || info->fetch == HD_FETCH_DIRECT) return false;
    return info->fetch == HD_FETCH_SORTED || (info->far_value_bytes > translated_bytes && n >= SORTED_ITEMS);
}

const char *hd_select(hd_op op, uint32_t value_bytes, double load_factor, uint32_t choice)
{
    const hd_op_row *row = hd_op_row_of(op);
    if (op == HD_OP_PROMOTE) return choice == 0 ? "warp" : NULL; /* it reads whole buckets */
    const threshold *t = !hd_op_is_keyed(row) ? wholes : row->role == HD_INSERTER ? inserters : others;
    while ((value_bytes > t->value_bytes || load_factor > t->load_factor) && t->value_bytes < HD_VALUE_BYTES_MAX) t++;
    return choice < CHOICES ? t->variant[choice] : NULL;
}

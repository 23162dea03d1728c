/* SPDX-License-Identifier: Apache-2.0
 *
 * select.c - the run-time selector (HKV section 4.3). The value size decides how many lanes should copy a value, the
 * load factor whether evictions take most of the time. The first row that matches the batch is used.
 */
#include "gpu/hkv/select.h"

#include "base/op.h"
#include "gpu/hkv/variant.h"

enum { CHOICES = 2 };

/* What operations are chosen for together. */
typedef enum select_kind {
    INSERTS,
    FEWEST_INSERTS, /* latency counts: one launch, of a warp for each key */
    FEW_LOOKUPS,    /* latency counts, not what is read */
    OTHERS,         /* lookups and updates, which evict nothing: only the value counts */
    WHOLE,          /* what goes over all slots: lanes that read and write side by side */
    PROMOTES        /* whole buckets are read */
} select_kind;

/* Measured on an H200 (bench/results, papers/hkv/results). coalesced is the fastest at every size and load factor. It
 * needs buckets of 16 to 128 slots, and layout pairs to insert. Of the variants that run on any table, one thread
 * copies small values and eight threads copy larger ones. The paper uses pipeline from 512 bytes on, and when a table
 * is nearly full (on an H100 NVL); here tlpv2 is faster in these cases. The last row of a kind covers all that is
 * left. */
typedef struct row {
    select_kind kind;
    uint32_t value_bytes; /* at most ... */
    double load_factor;   /* ... and at most; 1: any */
    const char *variant[CHOICES];
} row;

static const row rows[] = {
    { INSERTS, 32, 1, { "coalesced", "tlpv1" } },
    { INSERTS, UINT32_MAX, 1, { "coalesced", "tlpv2" } },
    { FEWEST_INSERTS, UINT32_MAX, 1, { "warp", "coalesced" } },
    { FEW_LOOKUPS, UINT32_MAX, 1, { "direct", "coalesced" } },
    { OTHERS, 16, 1, { "coalesced", "tlpv1" } },
    { OTHERS, UINT32_MAX, 1, { "coalesced", "tlpv2" } },
    { WHOLE, UINT32_MAX, 1, { "warp", "tlpv1" } },
    { PROMOTES, UINT32_MAX, 1, { "warp", NULL } },
};

/* Measured on an H200: values within this much far memory come as fast as they come, while their keys are still looked
 * for; beyond it each waits for a translation, and to sort pays from a batch on whose far values are worth two launches
 * more. */
enum { SORTED_ITEMS = 1 << 14 };
static const uint64_t translated_bytes = 512u << 20;

bool hkv_select_sorted(const hd_info *info, uint64_t n)
{
    if (info->values_host_bytes == 0 || info->hkv.fetch == HD_FETCH_DIRECT) return false;
    return info->hkv.fetch == HD_FETCH_SORTED || (info->values_host_bytes > translated_bytes && n >= SORTED_ITEMS);
}

static select_kind kind_of(hd_op op, hd_amount amount)
{
    const hd_op_row *o = hd_op_row_of(op);
    if (amount != HD_MANY && hkv_family_of(op) == HKV_LOOKUP) return FEW_LOOKUPS;
    if (amount == HD_FEWEST && hkv_family_of(op) == HKV_UPSERT) return FEWEST_INSERTS;
    if (op == HD_OP_PROMOTE) return PROMOTES;
    if (!hd_op_is_keyed(o)) return WHOLE;
    return o->role == HD_INSERTER ? INSERTS : OTHERS;
}

const char *hkv_select(hd_op op, const hd_info *info, double load_factor, hd_amount amount, uint32_t choice)
{
    select_kind kind = kind_of(op, amount);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        bool fits = info->value_bytes <= r->value_bytes && (load_factor <= r->load_factor || r->load_factor == 1);
        if (fits && r->kind == kind) return choice < CHOICES ? r->variant[choice] : NULL;
    }
    return NULL;
}

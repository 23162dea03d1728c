/* SPDX-License-Identifier: Apache-2.0
 *
 * select.c - the run-time selector (HKV section 4.3): the value's size says who copies it, the load factor whether evictions are what
 * there is to wait for. The first row that holds the batch is taken.
 */
#include "lib/select.h"

#include "lib/op.h"

/* The thresholds are the paper's, measured on an H100. */
typedef struct threshold {
    uint32_t value_bytes; /* at most ... */
    double load_factor;   /* ... and at most */
    const char *variant;
} threshold;

static const threshold inserters[] = {
    { 32, 0.98, "tlpv1" },
    { 512, 0.95, "tlpv2" },
    { HD_VALUE_BYTES_MAX, 1, "pipeline" },
};

/* Lookups and updates evict nothing: only the value counts. */
static const threshold others[] = {
    { 32, 1, "tlpv1" },
    { 512, 1, "tlpv2" },
    { HD_VALUE_BYTES_MAX, 1, "pipeline" },
};

const char *hd_select(hd_op op, uint32_t value_bytes, double load_factor)
{
    const hd_op_row *row = hd_op_row_of(op);
    const threshold *t = row && row->role == HD_INSERTER ? inserters : others;
    while ((value_bytes > t->value_bytes || load_factor > t->load_factor) && t->value_bytes < HD_VALUE_BYTES_MAX) t++;
    return t->variant;
}

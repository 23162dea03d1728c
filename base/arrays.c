/* SPDX-License-Identifier: Apache-2.0
 *
 * arrays.c - which arrays a batch brings to its kernels.
 */
#include <stddef.h>

#include "base/assert.h"
#include "base/backend.h"
#include "base/op.h"

int hd_batch_arrays(const hd_batch *b, uint32_t value_bytes, hd_array *all)
{
    const hd_op_row *op = hd_row_of_batch(b);
    uint64_t n = hd_op_is_keyed(op) ? b->n : 0, listed = op->family == HD_FAMILY_EXPORT ? b->n : n, row = value_bytes;
    uint64_t ranged = op->needs & HD_GIVES_ROWS ? n : 0, rows = hd_batch_rows(b);
    bool ends = op->family == HD_FAMILY_ENDS;
    uint64_t found = ends ? 1 : n * rows; /* rows of the entries that are found */
    uint64_t keys = op->needs & HD_GIVES_KEY ? found : 0;
    hd_flow flow = ends ? HD_FLOW_COUNT : HD_FLOW_SOME;
    uint64_t values = !b->each && b->op == HD_OP_FIND_OR_INSERT_PTR ? 0 : n; /* a new value is zeroed: none is read */
    const hd_array every[] = {
        { "key", offsetof(hd_batch, key), NULL, n * 8, 8, HD_FLOW_IN, 0 },
        { "value", offsetof(hd_batch, value), NULL, values * row, row, HD_FLOW_IN, 0 },
        { "score", offsetof(hd_batch, score), NULL, n * 8, 8, HD_FLOW_IN, 0 },
        { "flag", offsetof(hd_batch, flag), NULL, n, 1, HD_FLOW_IN, 0 },
        { "each", offsetof(hd_batch, each), NULL, n, 1, HD_FLOW_IN, 0 },
        { "outcome", offsetof(hd_batch, outcome), NULL, n, 1, HD_FLOW_EACH, 0 },
        { "found", offsetof(hd_batch, found), NULL, n, 1, HD_FLOW_EACH, 0 },
        { "value_out", offsetof(hd_batch, value_out), NULL, found * row, rows * row, flow, HD_GIVES_VALUE },
        { "score_out", offsetof(hd_batch, score_out), NULL, n * 8, 8, HD_FLOW_SOME, HD_GIVES_SCORE },
        { "ptr", offsetof(hd_batch, ptr), NULL, n * 8, 8, HD_FLOW_SOME, HD_GIVES_PTR },
        { "key2", offsetof(hd_batch, key2), NULL, ranged * 8, 8, HD_FLOW_IN, 0 },
        { "key_out", offsetof(hd_batch, key_out), NULL, keys * 8, rows * 8, flow, HD_GIVES_KEY },
        { "rows", offsetof(hd_batch, rows), NULL, ranged * 4, 4, HD_FLOW_EACH, HD_GIVES_ROWS },
        { "more", offsetof(hd_batch, more), NULL, ranged, 1, HD_FLOW_EACH, HD_GIVES_ROWS },
        { "list_key", offsetof(hd_batch, list_key), NULL, listed * 8, 8, HD_FLOW_LIST, HD_LISTS },
        { "list_value", offsetof(hd_batch, list_value), NULL, listed * row, row, HD_FLOW_LIST, HD_LISTS_ENTRIES },
        { "list_score", offsetof(hd_batch, list_score), NULL, listed * 8, 8, HD_FLOW_LIST, HD_LISTS_ENTRIES },
        { "list_item", offsetof(hd_batch, list_item), NULL, listed * 8, 8, HD_FLOW_LIST, HD_LISTS },
        { "count", offsetof(hd_batch, count), NULL, 8, 8, HD_FLOW_COUNT, HD_LISTS },
    };
    int used = 0;
    for (size_t i = 0; i < sizeof every / sizeof *every; i++) {
        all[used] = every[i];
        all[used].p = hd_field(b, every[i].field);
        HD_ASSERT(every[i].row ? every[i].bytes % every[i].row == 0 : every[i].bytes == 0, "an array has whole rows");
        used += all[used].p && all[used].bytes;
    }
    return used;
}

hd_batch hd_batch_cut(const hd_batch *b, uint32_t value_bytes, uint64_t first, uint64_t n)
{
    hd_array all[HD_ARRAYS_MOST];
    hd_batch part = *b;
    HD_ASSERT(first <= b->n && n <= b->n - first, "a part is within its batch");
    int used = first ? hd_batch_arrays(b, value_bytes, all) : 0;
    for (int i = 0; i < used; i++)
        if (all[i].flow != HD_FLOW_LIST && all[i].flow != HD_FLOW_COUNT)
            hd_field_set(&part, all[i].field, (uint8_t *)all[i].p + all[i].row * first);
    part.n = n;
    return part;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * arrays.c - which arrays a batch brings to its kernels.
 */
#include <stddef.h>

#include "base/backend.h"
#include "base/op.h"

int hd_batch_arrays(const hd_batch *b, uint32_t value_bytes, hd_array *all)
{
    bool keyed = hd_op_is_keyed(hd_row_of_batch(b)), exports = !b->each && hd_op_family(b->op) == HD_FAMILY_EXPORT;
    uint64_t n = keyed ? b->n : 0, listed = keyed || exports ? b->n : 0;
    uint64_t values = !b->each && b->op == HD_OP_FIND_OR_INSERT_PTR ? 0 : n; /* a new value is zeroed: none is read */
    const hd_array every[] = {
        { "key", offsetof(hd_batch, key), NULL, n * 8, false },
        { "value", offsetof(hd_batch, value), NULL, values * value_bytes, false },
        { "score", offsetof(hd_batch, score), NULL, n * 8, false },
        { "flag", offsetof(hd_batch, flag), NULL, n, false },
        { "each", offsetof(hd_batch, each), NULL, n, false },
        { "outcome", offsetof(hd_batch, outcome), NULL, n, true },
        { "value_out", offsetof(hd_batch, value_out), NULL, n * value_bytes, true },
        { "score_out", offsetof(hd_batch, score_out), NULL, n * 8, true },
        { "ptr", offsetof(hd_batch, ptr), NULL, n * 8, true },
        { "list_key", offsetof(hd_batch, list_key), NULL, listed * 8, true },
        { "list_value", offsetof(hd_batch, list_value), NULL, listed * value_bytes, true },
        { "list_score", offsetof(hd_batch, list_score), NULL, listed * 8, true },
        { "list_item", offsetof(hd_batch, list_item), NULL, listed * 8, true },
        { "count", offsetof(hd_batch, count), NULL, 8, true },
    };
    int used = 0;
    for (size_t i = 0; i < sizeof every / sizeof *every; i++) {
        all[used] = every[i];
        all[used].p = hd_field(b, every[i].field);
        used += all[used].p && all[used].bytes;
    }
    return used;
}

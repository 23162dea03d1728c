/* SPDX-License-Identifier: Apache-2.0 */
/* Where a value lies is counted in an index that is too narrow. 32 bits overflow in a plane of 4 GiB; these are 16, in one of
 * 128 KiB. */
SIMT_FN void narrow_index_move(simt_tile t, const hkv_args *a, const hkv_one *o, bool streaming)
{
    if (o->entry == HKV_NONE) return;
    uint8_t *value = a->v.value + (uint16_t)(o->entry * a->v.value_bytes);
    if (o->out) hkv_copy(t, o->out, value, a->v.value_bytes, streaming);
    hkv_change(t, a, o->change, value, o->in, streaming);
}
#define CANARY canary_narrow_index
#define CANARY_FAMILY HKV_UPSERT
#define CANARY_MOVE narrow_index_move
#include "tests/canaries/frame.h"

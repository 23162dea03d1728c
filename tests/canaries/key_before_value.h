/* SPDX-License-Identifier: Apache-2.0 */
/* The key is put back in its place, and the entry is anybody's, before its value is written. */
SIMT_FN void key_before_value_end(simt_tile t, const hkv_args *a, hkv_one *o)
{
    hkv_end(t, a, o);
    hkv_move(t, a, o, false);
}
#define CANARY canary_key_before_value
#define CANARY_FAMILY HKV_UPDATE
#define CANARY_MOVE(t, a, o, streaming)
#define CANARY_END key_before_value_end
#include "tests/canaries/frame.h"

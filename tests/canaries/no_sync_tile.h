/* SPDX-License-Identifier: Apache-2.0 */
/* Lane 0 publishes the entry without waiting for the other lanes of its tile, who write the value. */
SIMT_FN void no_sync_tile_end(simt_tile t, const hkv_args *a, hkv_one *o)
{
    if (t.rank == 0) {
        simt_tile alone = simt_tile_of(1);
        hkv_end(alone, a, o);
    }
}
#define CANARY canary_no_sync_tile
#define CANARY_FAMILY HKV_UPSERT
#define CANARY_TILE 32
#define CANARY_END no_sync_tile_end
#include "tests/canaries/frame.h"

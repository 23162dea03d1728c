/* SPDX-License-Identifier: Apache-2.0 */
/* The last lane of a tile returns when its tile's last item begins: it has nothing to copy. The others still vote with it. */
#define CANARY canary_lane_leaves
#define CANARY_FAMILY HKV_UPSERT
#define CANARY_TILE 32
#define CANARY_BEGIN if (t.rank == 31 && i + step >= a->last) return;
#include "tests/canaries/frame.h"

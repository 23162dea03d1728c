/* SPDX-License-Identifier: Apache-2.0 */
#include "puzzles/find/given.h"

SIMT_KERNEL(find, find_args, a)
{
    uint32_t i = simt_thread();

    /* Look for wanted[i] in bucket[i]. */

    simt_st_u32(&a.place[i], NOWHERE);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * stage.c - see stage.h.
 */
#include "fuzz/stage.h"

#include <string.h>

#include "policies/policy.h"

simt_machine *fuzz_machine(void)
{
    static simt_machine *machine;
    if (!machine && simt_machine_open(NULL, &machine)) machine = NULL;
    return machine;
}

uint32_t fuzz_row(feed *f, hd_op op, const hd_case *c)
{
    hd_info shape;
    uint32_t row[HKV_ROWS], rows = 0;
    memset(&shape, 0, sizeof shape);
    shape.slots = c->slots;
    shape.value_bytes = c->value_bytes;
    shape.dual = c->dual;
    shape.layout = c->layout == HD_LAYOUT_PLANES ? HD_LAYOUT_PLANES : HD_LAYOUT_PAIRS;
    for (uint32_t k = 0; k < HKV_ROWS; k++)
        if (hkv_rows[k].family == hkv_family_of(op) && !hkv_rows[k].fits(&shape)) row[rows++] = k;
    return rows ? row[feed_below(f, rows)] : HKV_ROWS;
}

static struct {
    const scene_kernel *k;
    hkv_family family;
} stand_in;

void fuzz_stand_in(const scene_kernel *k, hkv_family family)
{
    stand_in.k = k;
    stand_in.family = family;
}

scene_kernel fuzz_kernel(uint32_t row, uint32_t threads, uint32_t blocks)
{
    if (stand_in.k && hkv_rows[row].family == stand_in.family) return *stand_in.k;
    return scene_kernel_at(row, threads, blocks);
}

const char *fuzz_policy(feed *f)
{
    return hd_policy_rows[feed_below(f, HD_POLICY_COUNT)].name;
}

simt_config fuzz_way(feed *f)
{
    static const uint32_t places[] = { SIMT_AT_ALL, SIMT_AT_ATOMIC, SIMT_AT_SYNC, SIMT_AT_NONE };
    simt_config c = simt_config_default();
    uint8_t how = feed_byte(f);
    c.preempt = places[how & 3];
    c.unit = how & 4 ? SIMT_BY_WARP : SIMT_BY_LANE;
    c.weak = (how & 24) == 24;
    c.shared_bytes = 48 << 10;
    c.step_limit = 2000000;
    return c;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * hive_host.c - Hive tables on the host machine: the kernels of gpu/hive, compiled for it.
 */
#include "gpu/hive/kernels.h"
#include "gpu/hive/launch.h"

extern const hd_design hd_design_hive_host;

hd_host_text *hive_host_entry(uint32_t kernel);

hd_host_text *hive_host_entry(uint32_t kernel)
{
    static hd_host_text *const entry[HIVE_KERNELS] = {
#define HIVE_KERNEL(variant, family, lanes, threads, fits, strictness, what) hive_kernel_##variant##_##family,
#include "gpu/hive/registry.inc"
#undef HIVE_KERNEL
        hive_kernel_list, hive_kernel_split,      hive_kernel_restash,    hive_kernel_measure,    hive_kernel_merge,
        hive_kernel_thin, hive_kernel_word_enter, hive_kernel_word_leave, hive_kernel_count_each,
    };
    return kernel < HIVE_KERNELS ? entry[kernel] : NULL;
}

static hd_status shape(const hd_config *c, hd_info *info) { return hd_host_shape(&hive_gpu, c, info); }
static hd_status open(const hd_info *info, const hd_seams *s, void **state)
{
    return hd_host_open(&hive_gpu, info, s, state);
}

const hd_design hd_design_hive_host = {
    .name = "hive",
    .what = "a dictionary that grows, its GPU kernels on the host machine",
    .policy = "none",
    .params = &hive_params,
    .shape = shape,
    .open = open,
    HD_ON_HOST,
    .owns = true,
    .resize = hd_host_resize,
};

#define HIVE_KERNEL(variant, family, lanes, threads, fits, strictness, what) HIVE_ROW(host, variant, family, what)
#include "gpu/hive/registry.inc"
#undef HIVE_KERNEL

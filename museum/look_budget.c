/* SPDX-License-Identifier: Apache-2.0
 *
 * look_budget.c - looks for a bug in how a table fits into the device memory that `near` allows (words: the design):
 * what random tables would take on a device is added up, piece by piece.
 */
#include <string.h>

#include "base/backend.h"
#include "base/error.h"
#include "base/param.h"
#include "museum/streams.h"
#include "workload/rng.h"

enum { OWN_BYTES = 1 << 16, ALIGNED = 256 /* what a device rounds a piece up to */ };

static const hd_design *design;

/* Bytes of device memory of a table with this description. */
static uint64_t bytes_on_device(const hd_gpu *gpu, const hd_info *info)
{
    static _Alignas(64) unsigned char own[OWN_BYTES];
    hd_piece all[HD_PIECES_MOST];
    uint64_t bytes = 0;
    memset(own, 0, gpu->own_bytes);
    ((hd_gpu_own *)(void *)own)->info = *info;
    ((hd_gpu_own *)(void *)own)->device = true;
    gpu->begin(own);
    int n = gpu->pieces(own, all);
    for (int i = 0; i < n; i++)
        if (all[i].put != HD_HOST_MEMORY) bytes += (all[i].count * all[i].size + ALIGNED - 1) / ALIGNED * ALIGNED;
    return bytes;
}

static const char *once(hd_rng *g)
{
    hd_config c = hd_config_of(design->name);
    hd_info info;
    const hd_params *of;
    const hd_param *near = hd_param_named("near", design->name, &of);
    uint64_t limit = (8 << 20) + hd_rng_below(g, 64 << 20);
    memset(&info, 0, sizeof info);
    c.capacity = 1 + hd_rng_below(g, 16 << 20);
    hd_param_number_set(near, hd_params_in(of, &c), limit);
    info.slots = c.slots;
    info.value_bytes = c.value_bytes;
    info.layout = c.layout;
    hd_params_to_info(design->params, &c, &info);
    if (design->shape(design, &c, &info)) return NULL; /* the limit is below the least */
    return bytes_on_device(design->gpu, &info) > limit ? "a table takes more device memory than `near` allows" : NULL;
}

const char *museum_look_budget(const museum_search *s, museum_sight *sight, const char *words)
{
    design = hd_design_on(words, "cuda");
    if (!design || !design->gpu || design->gpu->own_bytes > OWN_BYTES) return "there is no such design";
    return museum_try_seeds(s, sight, MUSEUM_REST, once);
}

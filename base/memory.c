/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.c - see memory.h.
 */
#include "base/memory.h"

#include "base/assert.h"
#include "base/backend.h"

hd_memory hd_memory_word(const char *name, size_t field, size_t within, uint64_t bytes)
{
    return (hd_memory){ .what = name,
                        .name = name,
                        .field = field,
                        .count = 1,
                        .size = bytes,
                        .fill = HD_AS_IT_COMES,
                        .put = HD_WITHIN,
                        .within = within };
}

int hd_memory_taken(hd_memory *all, int n, bool device)
{
    int left = 0;
    for (int i = 0; i < n; i++)
        if (hd_memory_is_taken(&all[i], device)) all[left++] = all[i];
    return left;
}

uint64_t hd_memory_scratch(const hd_memory *all, int n)
{
    uint64_t bytes = 0;
    for (int i = 0; i < n; i++)
        if (hd_memory_is_taken(&all[i], false) && all[i].put != HD_HOST_MEMORY) bytes += hd_memory_size(&all[i]);
    return bytes;
}

static uint8_t *address(const void *state, const hd_memory *m)
{
    uint8_t *p = (uint8_t *)hd_field(state, m->field);
    return p && m->put == HD_WITHIN ? p + m->within : p;
}

int hd_memory_regions(const void *state, const hd_memory *all, int n, hd_region *regions)
{
    int known = 0;
    for (int i = 0; i < n; i++)
        if (all[i].name)
            regions[known++] = (hd_region){ address(state, &all[i]), hd_memory_size(&all[i]), all[i].name };
    return known;
}

static bool is_copied(const hd_memory *m, bool values)
{
    return m->holds == HD_HOLDS_ENTRIES || m->holds == HD_HOLDS_MIRROR || (values && m->holds == HD_HOLDS_VALUES);
}

int hd_memory_planes(const void *state, const hd_memory *all, int n, void *view, bool values, hd_plane *planes,
                     bool *pinned)
{
    int copied = 0;
    for (int i = 0; i < n; i++) {
        const hd_memory *m = &all[i];
        uint8_t *there = address(state, m), *here = (uint8_t *)view + m->twin;
        if (!there || !is_copied(m, values)) continue;
        if (m->put != HD_WITHIN) here = (uint8_t *)hd_field(view, m->twin) + m->twin_from;
        if (pinned) pinned[copied] = m->put == HD_HOST_MEMORY;
        planes[copied++] = (hd_plane){ m->what, there, here, (m->count - m->unused) * m->size };
    }
    return copied;
}

uint64_t hd_gpu_scratch(const hd_gpu *gpu, const hd_info *info, bool device)
{
    _Alignas(max_align_t) unsigned char state[HD_STATE_MOST];
    hd_memory all[HD_MEMORY_MOST];
    hd_gpu_state *o = (hd_gpu_state *)(void *)state;
    HD_ASSERT(gpu->state_bytes <= HD_STATE_MOST, "a design's state is too large");
    memset(state, 0, gpu->state_bytes);
    o->info = *info;
    o->device = device;
    gpu->begin(state);
    return hd_memory_scratch(all, gpu->memory(state, all));
}

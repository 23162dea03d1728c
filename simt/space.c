/* SPDX-License-Identifier: Apache-2.0
 *
 * space.c - which memory there is: named regions of device memory, and the arrays that a block has declared shared,
 * with gaps between them.
 */
#include "simt/space.h"

#include "base/error.h"
#include "simt/finding.h"
#include "simt/schedule.h"

block *block_of_shared(simt_machine *m, const void *p)
{
    const uint8_t *at = (const uint8_t *)p;
    if (!m->shared || at < m->shared || at >= m->shared + 2 * m->blocks_n * m->shared_bytes) return NULL;
    block *b = &m->blocks[(size_t)(at - m->shared) / (2 * m->shared_bytes)];
    return at < b->written ? b : NULL;
}

static bool inside(const region *r, const uint8_t *p, uint32_t bytes)
{
    return p >= r->p && bytes <= r->bytes && p <= r->p + r->bytes - bytes;
}

/* Each of 64 sets of pages caches the region that was found there last. */
const region *region_of(simt_machine *m, const uint8_t *p, uint32_t bytes)
{
    const region **last = &m->last_region[(uintptr_t)p / PAGE % PAGES];
    if (*last && inside(*last, p, bytes)) return *last;
    for (uint32_t i = 0; i < m->regions; i++)
        if (inside(&m->memory[i], p, bytes)) return *last = &m->memory[i];
    return NULL;
}

void *simt_host_shared(const char *site, const char *name, size_t bytes, size_t align)
{
    simt_machine *m = simt_current;
    block *b = m->now->warp->block;
    for (uint32_t i = 0; i < b->arrays; i++)
        if (b->array[i].site == site && b->array[i].name == name) return b->shared + b->array[i].offset;
    HD_ASSERT(align && (align & (align - 1)) == 0 && b->shared_used <= m->shared_bytes);
    size_t offset = (b->shared_used + align + align - 1) & ~(align - 1); /* a gap, then the array */
    if (b->arrays == SHARED_ARRAYS || offset + bytes > m->shared_bytes) {
        found(m, SIMT_RESOURCE, "%s[] of %zu bytes finds no room in %zu bytes of shared memory", name, bytes,
              m->shared_bytes);
        found_more(m, "block %u, thread %u at %s", m->now->ids.block, m->now->ids.thread, simt_site_name(site));
        lane_hang(m->now);
    }
    shared_array a = { site, name, offset, bytes };
    b->array[b->arrays++] = a;
    b->shared_used = offset + bytes;
    return b->shared + offset;
}

const char *simt_machine_name(const simt_machine *machine, const void *address, uint64_t *offset)
{
    simt_machine *m = (simt_machine *)(uintptr_t)machine;
    const uint8_t *p = (const uint8_t *)address;
    *offset = 0;
    const region *r = p ? region_of(m, p, 1) : NULL;
    if (r) return *offset = (uint64_t)(p - r->p), r->name;
    const block *b = block_of_shared(m, p);
    for (uint32_t i = 0; b && i < b->arrays; i++) {
        size_t at = (size_t)(p - b->shared);
        if (at >= b->array[i].offset && at < b->array[i].offset + b->array[i].bytes)
            return *offset = at - b->array[i].offset, b->array[i].name;
    }
    return "";
}

bool simt_machine_region_at(const simt_machine *m, uint32_t i, const void **p, size_t *bytes, const char **name)
{
    if (i >= m->regions) return false;
    *p = m->memory[i].p;
    *bytes = m->memory[i].bytes;
    *name = m->memory[i].name;
    return true;
}

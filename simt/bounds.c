/* SPDX-License-Identifier: Apache-2.0
 *
 * bounds.c - where a kernel may read and write: named regions of device memory, and the arrays that its block has
 * declared shared. Gaps lie between shared arrays, and every byte remembers whether it was written.
 */
#include <string.h>

#include "simt/state.h"

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

/* Each of 64 sets of pages remembers the region that was last found there. */
static const region *region_of(simt_machine *m, const uint8_t *p, uint32_t bytes)
{
    const region **last = &m->last_region[(uintptr_t)p / PAGE % PAGES];
    if (*last && inside(*last, p, bytes)) return *last;
    for (uint32_t i = 0; i < m->regions; i++)
        if (inside(&m->memory[i], p, bytes)) return *last = &m->memory[i];
    return NULL;
}

static void at_site(simt_machine *m, const char *site)
{
    found_more(m, "block %u, thread %u at %s", m->now->ids.block, m->now->ids.thread, simt_site_name(site));
}

static void check_shared(simt_machine *m, const char *site, const block *b, const uint8_t *p, uint32_t bytes,
                         bool write)
{
    size_t at = (size_t)(p - b->shared);
    if (b != m->now->warp->block) {
        found(m, SIMT_BOUNDS, "a thread reaches into another block's shared memory");
        at_site(m, site);
        return;
    }
    const shared_array *a = NULL;
    for (uint32_t i = 0; i < b->arrays && !a; i++)
        if (at >= b->array[i].offset && at + bytes <= b->array[i].offset + b->array[i].bytes) a = &b->array[i];
    if (!a) {
        found(m, SIMT_BOUNDS, "%u bytes of shared memory are %s that no array holds", bytes,
              write ? "written" : "read");
        at_site(m, site);
        return;
    }
    if (write) {
        memset(b->written + at, BYTE_WRITTEN, bytes);
        return;
    }
    for (uint32_t i = 0; i < bytes; i++) {
        uint8_t state = b->written[at + i];
        if (state == BYTE_WRITTEN) continue;
        found(m, state == BYTE_IN_FLIGHT ? SIMT_IN_FLIGHT : SIMT_UNINITIALISED, "shared %s[] is read at byte %zu %s",
              a->name, at + i - a->offset,
              state == BYTE_IN_FLIGHT ? "while an async copy to it is in flight" : "before anybody wrote it");
        at_site(m, site);
        return;
    }
}

static void say_where(simt_machine *m, const char *site, const uint8_t *p, uint32_t bytes, bool write)
{
    const region *near = NULL;
    enum { NEAR = 4096 };
    for (uint32_t i = 0; i < m->regions; i++)
        if (p + NEAR >= m->memory[i].p && p < m->memory[i].p + m->memory[i].bytes + NEAR) near = &m->memory[i];
    if (near)
        found(m, SIMT_BOUNDS, "%u bytes are %s at byte %td of %s, which has %zu", bytes, write ? "written" : "read",
              p - near->p, near->name, near->bytes);
    else
        found(m, SIMT_BOUNDS, "%u bytes are %s far from all device memory", bytes, write ? "written" : "read");
    at_site(m, site);
}

void bounds_check(simt_machine *m, const char *site, const void *address, uint32_t bytes, bool write)
{
    const uint8_t *p = (const uint8_t *)address;
    if ((uintptr_t)p & (bytes - 1)) {
        found(m, SIMT_MISALIGNED, "%u bytes are accessed at an address that is no multiple of it", bytes);
        at_site(m, site);
        return;
    }
    if (region_of(m, p, bytes)) return;
    const block *b = block_of_shared(m, p);
    if (b)
        check_shared(m, site, b, p, bytes, write);
    else
        say_where(m, site, p, bytes, write);
}

void *simt_host_shared(const char *site, const char *name, size_t bytes, size_t align)
{
    simt_machine *m = simt_current;
    block *b = m->now->warp->block;
    for (uint32_t i = 0; i < b->arrays; i++)
        if (b->array[i].site == site && b->array[i].name == name) return b->shared + b->array[i].offset;
    size_t offset = (b->shared_used + align + align - 1) & ~(align - 1); /* a gap, then the array */
    if (b->arrays == SHARED_ARRAYS || offset + bytes > m->shared_bytes) {
        found(m, SIMT_RESOURCE, "%s[] of %zu bytes finds no room in %zu bytes of shared memory", name, bytes,
              m->shared_bytes);
        at_site(m, site);
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

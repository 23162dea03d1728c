/* SPDX-License-Identifier: Apache-2.0
 *
 * bounds.c - an observer that checks where a kernel reads and writes: in regions of device memory, and in the arrays
 * that its block has declared shared. There are gaps between shared arrays, and each byte records whether it was
 * written.
 */
#include <string.h>

#include "simt/finding.h"
#include "simt/observers.h"
#include "simt/space.h"

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
              state == BYTE_IN_FLIGHT ? "while an async copy to it is in flight" : "before it was written");
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

static void bounds_check(simt_machine *m, const char *site, const void *address, uint32_t bytes, bool write)
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

static bool bounds_wanted(const simt_config *c)
{
    (void)c;
    return true;
}

static void bounds_access(void *self, simt_machine *m, const memory_access *a)
{
    (void)self;
    if (a->way != ACCESS_COPY_DONE) bounds_check(m, a->site, a->p, a->bytes, (a->kind & SIMT_WRITES) != 0);
}

/* It asks for no kind of access: it checks those that the machine sees anyway. */
const simt_observer simt_bounds = { .wanted = bounds_wanted, .on_access = bounds_access };

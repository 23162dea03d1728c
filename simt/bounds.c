/* SPDX-License-Identifier: Apache-2.0
 *
 * bounds.c - an observer that checks where a kernel reads and writes: in regions of device memory, and in the arrays
 * that its block has declared shared. There are gaps between shared arrays, and each byte records whether it was
 * written. It also checks that the instruction can access that memory: on a GPU a relaxed or ordered access, an atomic
 * and an async copy are each an instruction of one address space.
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

static const char *access_name(const memory_access *a)
{
    return a->way == ACCESS_RMW         ? "an atomic"
           : a->way == ACCESS_COPY_FROM ? "the source of an async copy"
           : a->kind & SIMT_WRITES      ? "a relaxed or release store"
                                        : "a relaxed or acquire load";
}

/* Whether p, which is in b's shared memory, or in device memory where b is NULL, is where the instruction can access
 * it. */
static bool check_space(simt_machine *m, const memory_access *a, const block *b)
{
    if (a->space == SIMT_GENERIC || (a->space == SIMT_IN_SHARED) == (b != NULL)) return true;
    uint64_t offset;
    const char *name = simt_machine_name(m, a->p, &offset);
    found(m, SIMT_SPACE, "%s of %s memory is at byte %llu of %s, which is in %s memory", access_name(a),
          b ? "device" : "shared", (unsigned long long)offset, *name ? name : "no array", b ? "shared" : "device");
    at_site(m, a->site);
    return false;
}

static void bounds_check(simt_machine *m, const memory_access *a)
{
    const uint8_t *p = (const uint8_t *)a->p;
    const char *site = a->site;
    uint32_t bytes = a->bytes;
    bool write = (a->kind & SIMT_WRITES) != 0;
    if ((uintptr_t)p & (bytes - 1)) {
        found(m, SIMT_MISALIGNED, "%u bytes are accessed at an address that is no multiple of it", bytes);
        at_site(m, site);
        return;
    }
    const region *r = region_of(m, p, bytes);
    const block *b = r ? NULL : block_of_shared(m, p);
    if (!r && !b)
        say_where(m, site, p, bytes, write);
    else if (check_space(m, a, b) && b)
        check_shared(m, site, b, p, bytes, write);
}

static bool bounds_wanted(const simt_config *c)
{
    (void)c;
    return true;
}

static void bounds_access(void *self, simt_machine *m, const memory_access *a)
{
    (void)self;
    if (a->way != ACCESS_COPY_DONE) bounds_check(m, a);
}

/* It asks for no kind of access: it checks those that the machine sees anyway. */
const simt_observer simt_bounds = { .wanted = bounds_wanted, .on_access = bounds_access };

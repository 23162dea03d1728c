/* SPDX-License-Identifier: Apache-2.0
 *
 * raw.c - finds C accesses of kernel text to memory that only the dialect may access. Such an access is not seen by the
 * machine: it has no bounds check, no order, no race detection and no place in a report.
 */
#include "simt/raw.h"

#include "simt/finding.h"
#include "simt/schedule.h"
#include "simt/space.h"

static bool meet(const uint8_t *a, size_t a_bytes, const uint8_t *b, size_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

/* The first of the bytes that belongs to the dialect; NULL: none does. */
static const uint8_t *first_of_machine(simt_machine *m, const uint8_t *p, size_t bytes)
{
    const uint8_t *first = NULL;
    for (uint32_t i = 0; i < m->regions; i++) {
        const region *r = &m->memory[i];
        const uint8_t *at = p < r->p ? r->p : p;
        if (meet(p, bytes, r->p, r->bytes) && (!first || at < first)) first = at;
    }
    if (first) return first;
    return block_of_shared(m, p) ? p : block_of_shared(m, p + bytes - 1) ? p + bytes - 1 : NULL;
}

bool simt_raw_reaches(const void *address, size_t bytes)
{
    simt_machine *m = simt_current;
    const uint8_t *p = (const uint8_t *)address;
    if (!simt_hot.hooks || bytes == 0) return false;
    /* a lane's own variables: most of what there is */
    if (meet(p, bytes, (const uint8_t *)m->stacks, m->stacks_bytes)) return false;
    return first_of_machine(m, p, bytes) != NULL;
}

void simt_raw_found(const void *address, size_t bytes, bool write, const char *where)
{
    simt_machine *m = simt_current;
    const lane *l = m->now;
    uint64_t offset;
    const uint8_t *first = first_of_machine(m, (const uint8_t *)address, bytes);
    const char *name = simt_machine_name(m, first, &offset);
    if (first)
        found(m, SIMT_RAW, "%zu bytes are %s around the dialect, at byte %llu of %s", bytes, write ? "written" : "read",
              (unsigned long long)offset, *name ? name : "shared memory");
    else
        found(m, SIMT_RAW, "%zu bytes of a static variable are %s around the dialect", bytes,
              write ? "written" : "read");
    found_more(m, "block %u, lane %u (thread %u) of lanes 0x%08x in %s", l->ids.block, l->ids.lane, l->ids.thread,
               l->warp->alive, where);
    found_more(m, "its last operation of the dialect was at %s", simt_site_name(l->site));
    lane_hang(m->now);
}

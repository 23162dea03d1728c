/* SPDX-License-Identifier: Apache-2.0
 *
 * snapshot.c - what writing and reading a snapshot share: its sums and the sizes of its sections.
 */
#include "lib/snapshot.h"

#include <stddef.h>
#include <string.h>

void hd_snapshot_sum(const XXH3_state_t *x, uint8_t *sum)
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(x));
    memcpy(sum, canonical.digest, HD_SUM_BYTES);
}

void hd_snapshot_header_sum(const hd_snapshot_header *h, uint8_t *sum)
{
    XXH3_state_t x;
    XXH3_128bits_reset(&x);
    XXH3_128bits_update(&x, h, offsetof(hd_snapshot_header, sum));
    hd_snapshot_sum(&x, sum);
}

uint64_t hd_snapshot_places(const hd_snapshot_header *h) { return (h->buckets + h->stash_buckets) * h->slots; }

/* Payload bytes of a section. */
uint64_t hd_snapshot_section_bytes(const hd_snapshot_header *h, int section)
{
    switch (section) {
    case HD_SECTION_SLOT: return (hd_snapshot_places(h) + 7) / 8;
    case HD_SECTION_VALS: return h->size * h->value_bytes;
    default: return h->size * 8;
    }
}

uint64_t hd_snapshot_bytes(const hd_snapshot_header *h)
{
    uint64_t n = sizeof *h;
    for (int i = 0; i < HD_SECTION_COUNT; i++)
        n += sizeof(hd_section_head) + hd_snapshot_section_bytes(h, i) + HD_SUM_BYTES;
    return n;
}

hd_section_head hd_snapshot_section(const hd_snapshot_header *h, int section)
{
    hd_section_head head;
    memset(&head, 0, sizeof head);
    memcpy(head.tag, hd_section_tag[section], 4);
    head.bytes = hd_snapshot_section_bytes(h, section);
    return head;
}

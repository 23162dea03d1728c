/* SPDX-License-Identifier: Apache-2.0
 *
 * digest.h - digests of segments (ref/ovs/layout.h) in kernels. The digests of a bucket are 32 bytes, one sector, which
 * a lane loads at once. args.h has the protocol.
 */
#ifndef OVS_DIGEST_H
#define OVS_DIGEST_H

#include "gpu/ovs/args.h"
#include "gpu/words.h"

enum { OVS_DIGEST_WORDS = OVS_SLOTS * OVS_DIGEST / 8 /* of a bucket */ };

/* The digests of a bucket: of slots 4 k to 4 k + 3 in word k. */
typedef struct ovs_digests {
    uint64_t word[OVS_DIGEST_WORDS];
} ovs_digests;

/* segment: its digests. */
SIMT_FN ovs_digests ovs_load_digests(uint8_t *segment, uint64_t line, bool acquires)
{
    uint64_t *p = (uint64_t *)(void *)segment + line * OVS_DIGEST_WORDS;
    ovs_digests d;
    gpu_load_two(p, acquires, &d.word[0], &d.word[1]);
    gpu_load_two(p + 2, acquires, &d.word[2], &d.word[3]);
    return d;
}

/* Not 0 if one of four digests is this. */
SIMT_FN uint64_t ovs_four_have(uint64_t four, uint32_t digest)
{
    const uint64_t ones = 0x0001000100010001ull;
    uint64_t x = four ^ digest * ones;
    return (x - ones) & ~x & ones << 15;
}

/* Whether a slot has this digest; 0: whether the bucket is open. */
SIMT_FN bool ovs_has_digest(const ovs_digests *d, uint32_t digest)
{
    uint64_t have = 0;
    SIMT_UNROLL
    for (uint32_t k = 0; k < OVS_DIGEST_WORDS; k++) have |= ovs_four_have(d->word[k], digest);
    return have != 0;
}

/* By the only item that may write the slot's word. Neither byte of a key's digest is 0, so that no other item sees the
 * slot fresh in between. */
SIMT_FN void ovs_put_digest(uint8_t *segment, uint64_t slot, uint32_t digest)
{
    simt_strlx_u8(segment + slot * OVS_DIGEST, (uint8_t)digest);
    simt_strlx_u8(segment + slot * OVS_DIGEST + 1, (uint8_t)(digest >> 8));
}

SIMT_FN uint32_t ovs_digest_there(const uint8_t *segment, uint64_t slot)
{
    const uint8_t *p = segment + slot * OVS_DIGEST;
    return simt_ldrlx_u8(p) | (uint32_t)simt_ldrlx_u8(p + 1) << 8;
}

/* At rest: the digest that belongs to the word of slot e. */
SIMT_FN void ovs_renew_digest(const ovs_view *v, uint64_t e, uint64_t word)
{
    uint64_t slots = ovs_segment_slots(v);
    uint8_t *segment = ovs_digests_at(v, e / slots);
    if (segment) ovs_put_digest(segment, e % slots, ovs_digest_for(v, word, ovs_digest_there(segment, e % slots)));
}

/* The item's slot `at`, counted along its way, has its key's digest from now on. */
SIMT_FN void ovs_show_digest(const ovs_view *v, uint64_t h, uint64_t at)
{
    uint8_t *segment = ovs_digests_at(v, ovs_segment_of(v, h));
    uint64_t slot = ovs_step_in(v, h, at / OVS_SLOTS) * OVS_SLOTS + at % OVS_SLOTS;
    if (segment) ovs_put_digest(segment, slot, ovs_digest_of(h));
}

#endif

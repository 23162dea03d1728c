/* SPDX-License-Identifier: Apache-2.0
 *
 * snapshot.h - the bytes of a snapshot file. Numbers are little-endian. doc/snapshot.md draws it.
 *
 *   header    256 bytes: hd_snapshot_header
 *   policy    version 2, 256 bytes: hd_snapshot_policy, the expressions of a policy that is no row
 *   sections  SLOT KEYS SCOR VALS, in this order, each:
 *               head     16 bytes: tag (4), zero (4), payload bytes (8)
 *               payload
 *               sum      16 bytes: XXH3-128 of head and payload, canonical byte order
 *   end       the file ends here: header.file_bytes
 *
 *   SLOT  one bit per slot, the lowest bit of the first byte first: 1 when the slot has an entry
 *   KEYS  u64 per entry, in slot order      SCOR  u64 per entry      VALS  value_bytes per entry
 */
#ifndef HD_SNAPSHOT_H
#define HD_SNAPSHOT_H

#include "base/design.h"
#include "policies/program.h"

#define XXH_STATIC_LINKING_ONLY /* the hash state lives on the stack: no allocation outside the seam */
#include <xxhash.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "snapshots are written as memory has them: little-endian machines only"
#endif

#define HD_SNAPSHOT_MAGIC "HEDDLE\r\n" /* 8 bytes; the line end shows a transfer in text mode */
/* What a table with a row of the registry as its policy is written in, and what another one is. */
enum { HD_SNAPSHOT_VERSION = 1, HD_SNAPSHOT_VERSION_POLICY = 2 };
#define HD_SNAPSHOT_EXPRESSIONS "expr" /* `policy` of a header of version 2 */

enum { HD_SNAPSHOT_DUAL = 1, HD_SNAPSHOT_ADMIT_ALWAYS = 2, HD_SNAPSHOT_DEVICE_CLOCK = 4, HD_SNAPSHOT_FLAGS = 31 };

typedef struct hd_snapshot_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes; /* 256; version 2: 512, with the policy */
    char design[16];       /* padded with zeros, as policy is */
    char policy[16];       /* version 2: HD_SNAPSHOT_EXPRESSIONS */
    uint64_t buckets;
    uint32_t slots;
    uint32_t value_bytes;
    uint64_t seed;
    uint64_t clock;
    uint32_t epoch;
    uint32_t flags;
    uint64_t size; /* entries */
    uint64_t file_bytes;
    uint64_t base_buckets; /* of a design that grows bucket by bucket; else 0, as the next four */
    uint64_t stash_buckets;
    uint32_t hashes;
    uint32_t spare;
    char hash[32];    /* padded with zeros; nothing else: mix64 */
    uint32_t segment; /* of a design with segments: their bytes; else 0 */
    uint8_t zero[76]; /* must be zero */
    uint8_t sum[16];  /* XXH3-128 of the 240 bytes before it, canonical byte order */
} hd_snapshot_header;

_Static_assert(sizeof(hd_snapshot_header) == 256, "the header has no holes");

typedef struct hd_snapshot_policy {
    char text[HD_PROGRAM_KEPT]; /* padded with zeros */
    uint8_t sum[16];            /* XXH3-128 of the 240 bytes before it, canonical byte order */
} hd_snapshot_policy;

_Static_assert(sizeof(hd_snapshot_policy) == 256, "the policy has no holes");

static inline bool hd_snapshot_has_policy(const hd_snapshot_header *h)
{
    return h->version == HD_SNAPSHOT_VERSION_POLICY;
}

enum { HD_SECTION_SLOT, HD_SECTION_KEYS, HD_SECTION_SCOR, HD_SECTION_VALS, HD_SECTION_COUNT };

static const char hd_section_tag[HD_SECTION_COUNT][5] = { "SLOT", "KEYS", "SCOR", "VALS" };

typedef struct hd_section_head {
    char tag[4];
    uint8_t zero[4];
    uint64_t bytes;
} hd_section_head;

enum { HD_SUM_BYTES = 16, HD_SNAPSHOT_BLOCK = 1 << 20 /* bytes read at a time */ };

void hd_snapshot_sum(const XXH3_state_t *x, uint8_t *sum);
void hd_snapshot_header_sum(const hd_snapshot_header *h, uint8_t *sum);
void hd_snapshot_policy_sum(const hd_snapshot_policy *p, uint8_t *sum);
/* Whether a field of so many bytes has a text, and then zeros to its end. */
bool hd_snapshot_is_text(const char *field, size_t bytes);
uint64_t hd_snapshot_places(const hd_snapshot_header *h);                     /* slots          */
uint64_t hd_snapshot_section_bytes(const hd_snapshot_header *h, int section); /* of its payload */
uint64_t hd_snapshot_bytes(const hd_snapshot_header *h);                      /* of the file    */
hd_section_head hd_snapshot_section(const hd_snapshot_header *h, int section);

/* A design's own fields (hd_param.saved) between a header and the struct that they are of. only_places: only those that
 * entries' places depend on. */
void hd_snapshot_put(hd_snapshot_header *h, const hd_params *own, const void *in);
void hd_snapshot_get(const hd_snapshot_header *h, const hd_params *own, bool only_places, void *in);
/* The header of a file that has the table as it is, with so many entries. */
hd_snapshot_header hd_snapshot_header_of(hd_table *t, uint64_t size);
/* Gives the configuration the fields that the file has. design, policy NULL: there is none of that name here. */
void hd_snapshot_set_config(hd_config *c, const hd_snapshot_header *h, const char *policy);
/* The configuration of the table of such a header, in what *c does not decide; `policy` is the name or the expressions,
 * and stays in use. HD_EINVAL names a field of *c that says something else. */
hd_status hd_snapshot_config(const char *path, const hd_snapshot_header *h, const char *policy, hd_config *c);
/* What no checksum can tell: whether the numbers make sense together. "", or the field that does not. */
const char *hd_snapshot_fault(const hd_snapshot_header *h);
/* The shape of the table that was saved; the rest of *info is the caller's. HD_ECORRUPT: no table of the design has
 * such a shape. */
hd_status hd_snapshot_shape(const hd_design *design, const hd_backend *on, const char *path,
                            const hd_snapshot_header *h, hd_info *info);
/* The same with the fields of a table that no file has. HD_EINVAL names the one that is too small for such a shape. */
hd_status hd_snapshot_fits(const hd_design *design, const hd_backend *on, const hd_snapshot_header *h,
                           const hd_info *table, hd_info *info);

#endif

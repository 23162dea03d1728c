/* SPDX-License-Identifier: Apache-2.0
 *
 * journal.h - the redo records of an image (image.h), one behind the other from the beginning of its journal, each from
 * a multiple of 512 bytes on, so that no later write touches a sector of an earlier record:
 *
 *   head     hd_record
 *   redos    what extents have from this record on, of up to a page each: a hd_redo; for each sector of it that it has,
 *            in their order, a word that says which of the sector's 64 words; and then these words
 *
 * Records of a generation follow each other without gaps in the numbers of batches. The first one that does not, that
 * is of another generation or file, or one of whose sums is wrong, ends the journal.
 */
#ifndef HD_JOURNAL_H
#define HD_JOURNAL_H

#include "lib/image.h"

#define HD_RECORD_MAGIC "HEDDLEJR" /* 8 bytes */

typedef struct hd_record {
    char magic[8];
    uint64_t generation, id; /* the superblock's */
    uint64_t batch, batches; /* the last one that the record has, and how many; 0: what a recovery set right */
    uint64_t clock;
    uint32_t epoch;
    uint32_t zero;
    uint64_t bytes;          /* of all redos */
    uint64_t redos_sum, sum; /* XXH3-64 of the redos; of the head before this field */
} hd_record;

typedef struct hd_redo {
    uint32_t extent, sectors; /* of the superblock's; bit s: it has words of the 512 bytes from at + 512 x s on */
    uint64_t at;              /* in the extent, a multiple of 8 */
} hd_redo;

/* In mode process (mapped.h) there are no records. The journal begins with this instead, in its first three fields
 * like a record, and it counts where generation and id are the superblock's. */
#define HD_LIVE_MAGIC "HEDDLELV" /* 8 bytes */
typedef struct hd_live {
    char magic[8];
    uint64_t generation, id;
    uint64_t batch, clock, epoch; /* the last batch that has run; then */
} hd_live;

_Static_assert(sizeof(hd_record) == 80 && sizeof(hd_redo) == 16, "records have no holes");

typedef struct hd_journal {
    uint8_t *block;       /* (bytes) the record that is being made; in a recovery, the journal */
    uint64_t bytes, fill; /* of the journal; of the record so far */
    uint64_t at;          /* where the next record goes, or is read */
} hd_journal;

/* Memory for a journal of so many bytes. */
hd_status hd_journal_take(hd_journal *j, const hd_seams *s, uint64_t bytes);
void hd_journal_give(hd_journal *j, const hd_seams *s);

void hd_journal_begin(hd_journal *j);
/* Room for so many bytes of redos more; NULL: no journal of that size has room for the record. */
uint8_t *hd_journal_add(hd_journal *j, uint64_t bytes);
/* The bytes of a redo of those words of a page, or the first `words` of it, that differ from what was there: in
 * `sectors` alone, in each of which some do. */
uint64_t hd_redo_bytes(const void *is, const void *was, uint32_t words, uint32_t sectors);
/* The redo itself; where the next one goes. */
uint8_t *hd_redo_make(uint8_t *to, uint32_t extent, uint64_t at, const void *is, const void *was, uint32_t words,
                      uint32_t sectors);
/* Whether there is room for the record behind the earlier ones. */
bool hd_journal_fits(const hd_journal *j);
/* Writes the record and syncs it. head: batch, batches, epoch and clock are the caller's. */
hd_status hd_journal_write(hd_journal *j, hd_image *im, hd_record *head);

/* Brings the journal to memory, to read it from its beginning. */
hd_status hd_journal_read(hd_journal *j, hd_image *im);
/* What a table in mode process left; NULL: the journal is one of records. */
const hd_live *hd_journal_live(const hd_journal *j, const hd_image *im);
/* The next record, if it follows batch `batch`; NULL: the journal ends here. */
const hd_record *hd_journal_next(hd_journal *j, const hd_image *im, uint64_t batch);
/* Whether a record of this generation is behind that end: what is there is no record that was being written, but one
 * that is damaged. */
bool hd_journal_goes_on(const hd_journal *j, const hd_image *im);
/* A walk over a record: words that follow each other in an extent. */
typedef struct hd_patch {
    uint32_t extent;
    uint64_t at, bytes;   /* in the extent; multiples of 8 */
    const uint64_t *word; /* (bytes / 8) */
    /* What is left: bytes of redos behind this one, from `next` on; of this one sectors, of the sector words. */
    const uint8_t *next;
    uint64_t left, words, sector;
    const uint64_t *which; /* of the next sector */
    uint32_t sectors;
    uint64_t from; /* in the extent: of the redo */
} hd_patch;
hd_patch hd_patch_before(const hd_record *record);
/* The next run; false: there is none. Then run->left is 0, unless the record makes no sense. */
bool hd_patch_next(hd_patch *run);

/* HD_ECORRUPT: the other superblock is damaged, and the first record, or hd_live, is of a later generation. So the
 * other one was in force. */
hd_status hd_journal_check(hd_image *im);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * journal.c - see journal.h.
 */
#include "lib/journal.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"

static uint64_t whole_sectors(uint64_t bytes)
{
    return (bytes + HD_IMAGE_SECTOR - 1) / HD_IMAGE_SECTOR * HD_IMAGE_SECTOR;
}

static uint64_t head_sum(const hd_record *head) { return XXH3_64bits(head, offsetof(hd_record, sum)); }

static bool is_head(const hd_record *head)
{
    return memcmp(head->magic, HD_RECORD_MAGIC, sizeof head->magic) == 0 && head->sum == head_sum(head);
}

hd_status hd_journal_take(hd_journal *j, const hd_seams *s, uint64_t bytes)
{
    void *p = NULL;
    hd_status status = hd_take(s, "file: journal", bytes, 1, &p);
    if (status) return status;
    j->block = (uint8_t *)memset(p, 0, bytes);
    j->bytes = bytes;
    j->at = 0;
    return HD_OK;
}

void hd_journal_give(hd_journal *j, const hd_seams *s)
{
    hd_give(s, j->block, j->bytes, 1);
    j->block = NULL;
    j->bytes = 0;
}

/* ---- Writing --------------------------------------------------------------------------------- */

void hd_journal_begin(hd_journal *j) { j->fill = sizeof(hd_record); }

bool hd_journal_add(hd_journal *j, uint32_t extent, uint64_t at, const void *p, uint64_t bytes)
{
    const hd_redo range = { extent, (uint32_t)bytes, at };
    if (bytes > UINT32_MAX || sizeof range + bytes > j->bytes - j->fill) return false;
    memcpy(j->block + j->fill, &range, sizeof range);
    memcpy(j->block + j->fill + sizeof range, p, (size_t)bytes);
    j->fill += sizeof range + bytes;
    return true;
}

bool hd_journal_fits(const hd_journal *j) { return whole_sectors(j->fill) <= j->bytes - j->at; }

hd_status hd_journal_write(hd_journal *j, hd_image *im, hd_record *head)
{
    uint64_t bytes = whole_sectors(j->fill);
    memcpy(head->magic, HD_RECORD_MAGIC, sizeof head->magic);
    head->generation = im->sb.generation;
    head->id = im->sb.id;
    head->bytes = j->fill - sizeof *head;
    head->ranges_sum = XXH3_64bits(j->block + sizeof *head, (size_t)head->bytes);
    head->sum = head_sum(head);
    memcpy(j->block, head, sizeof *head);
    memset(j->block + j->fill, 0, (size_t)(bytes - j->fill));
    hd_status status = hd_image_put(im, im->sb.journal + j->at, j->block, bytes);
    if (!status) status = hd_image_sync(im);
    if (!status) j->at += bytes;
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

hd_status hd_journal_read(hd_journal *j, hd_image *im)
{
    HD_ASSERT(j->bytes == im->sb.journal_bytes, "the journal has another size");
    j->at = 0;
    return hd_image_get(im, im->sb.journal, j->block, j->bytes);
}

const hd_live *hd_journal_live(const hd_journal *j, const hd_image *im)
{
    const hd_live *live = (const hd_live *)(const void *)j->block;
    bool is = memcmp(live->magic, HD_LIVE_MAGIC, sizeof live->magic) == 0 && live->generation == im->sb.generation;
    return is && live->id == im->sb.id ? live : NULL;
}

const hd_record *hd_journal_next(hd_journal *j, const hd_image *im, uint64_t batch)
{
    uint64_t left = j->bytes - j->at;
    const hd_record *r = (const hd_record *)(const void *)(j->block + j->at);
    if (left < sizeof *r || !is_head(r) || r->bytes > left - sizeof *r) return NULL;
    if (r->generation != im->sb.generation || r->id != im->sb.id || r->batch - r->batches != batch) return NULL;
    if (r->ranges_sum != XXH3_64bits(r + 1, (size_t)r->bytes)) return NULL;
    j->at += whole_sectors(sizeof *r + r->bytes);
    return r;
}

const hd_redo *hd_redo_next(const hd_record *record, const hd_redo *range)
{
    const uint8_t *first = (const uint8_t *)(record + 1),
                  *p = range ? (const uint8_t *)(range + 1) + range->bytes : first;
    uint64_t left = record->bytes - (uint64_t)(p - first);
    const hd_redo *next = (const hd_redo *)(const void *)p;
    return left < sizeof *next || next->bytes > left - sizeof *next ? NULL : next;
}

hd_status hd_journal_check(hd_image *im)
{
    hd_record first;
    if (im->other_is_whole) return HD_OK;
    hd_status status = hd_image_get(im, im->sb.journal, &first, sizeof first);
    if (status || !is_head(&first) || first.id != im->sb.id || first.generation <= im->sb.generation) return status;
    return hd_fail(HD_ECORRUPT, "%s: the superblock of generation %" PRIu64 " is damaged", im->path, first.generation);
}

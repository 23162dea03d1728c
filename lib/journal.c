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

uint8_t *hd_journal_add(hd_journal *j, uint64_t bytes)
{
    if (bytes > j->bytes - j->fill) return NULL;
    j->fill += bytes;
    return j->block + j->fill - bytes;
}

enum { WORD = 8, WORDS = HD_IMAGE_SECTOR / WORD /* of a sector, each a bit of a word */ };

/* Which words of sector s differ. */
static uint64_t differing(const void *is, const void *was, uint32_t words, uint32_t s)
{
    const uint64_t *a = (const uint64_t *)is + s * WORDS, *b = (const uint64_t *)was + s * WORDS;
    uint32_t left = words - s * WORDS, n = left < WORDS ? left : WORDS;
    uint64_t which = 0;
    for (uint32_t i = 0; i < n; i++) which |= (uint64_t)(a[i] != b[i]) << i;
    return which;
}

uint64_t hd_redo_bytes(const void *is, const void *was, uint32_t words, uint32_t sectors)
{
    uint64_t n = 0;
    for (uint32_t left = sectors; left; left &= left - 1)
        n += 1 + (uint64_t)__builtin_popcountll(differing(is, was, words, (uint32_t)__builtin_ctz(left)));
    return sizeof(hd_redo) + n * WORD;
}

uint8_t *hd_redo_make(uint8_t *to, uint32_t extent, uint64_t at, const void *is, const void *was, uint32_t words,
                      uint32_t sectors)
{
    hd_redo *redo = (hd_redo *)(void *)to;
    *redo = (hd_redo){ extent, sectors, at };
    uint64_t *which = (uint64_t *)(void *)(redo + 1), *word = which + __builtin_popcount(sectors);
    for (uint32_t left = sectors; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(left);
        *which = differing(is, was, words, s);
        for (uint64_t bits = *which++; bits; bits &= bits - 1)
            *word++ = ((const uint64_t *)is)[s * WORDS + (uint32_t)__builtin_ctzll(bits)];
    }
    return (uint8_t *)word;
}

bool hd_journal_fits(const hd_journal *j) { return whole_sectors(j->fill) <= j->bytes - j->at; }

hd_status hd_journal_write(hd_journal *j, hd_image *im, hd_record *head)
{
    uint64_t bytes = whole_sectors(j->fill);
    memcpy(head->magic, HD_RECORD_MAGIC, sizeof head->magic);
    head->generation = im->sb.generation;
    head->id = im->sb.id;
    head->bytes = j->fill - sizeof *head;
    head->redos_sum = XXH3_64bits(j->block + sizeof *head, (size_t)head->bytes);
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
    if (r->redos_sum != XXH3_64bits(r + 1, (size_t)r->bytes)) return NULL;
    j->at += whole_sectors(sizeof *r + r->bytes);
    return r;
}

bool hd_journal_goes_on(const hd_journal *j, const hd_image *im)
{
    for (uint64_t at = j->at + HD_IMAGE_SECTOR; at + sizeof(hd_record) <= j->bytes; at += HD_IMAGE_SECTOR) {
        const hd_record *r = (const hd_record *)(const void *)(j->block + at);
        if (is_head(r) && r->generation == im->sb.generation && r->id == im->sb.id) return true;
    }
    return false;
}

hd_patch hd_patch_before(const hd_record *record)
{
    return (hd_patch){ .next = (const uint8_t *)(record + 1), .left = record->bytes };
}

/* Begins the next redo, if it is a whole one. */
static bool begin_redo(hd_patch *run)
{
    const hd_redo *redo = (const hd_redo *)(const void *)run->next;
    if (run->left < sizeof *redo || redo->at % WORD || !redo->sectors ||
        redo->sectors >> HD_IMAGE_PAGE / HD_IMAGE_SECTOR)
        return false;
    uint64_t sectors = (uint64_t)__builtin_popcount(redo->sectors), words = sectors, room;
    room = (run->left - sizeof *redo) / WORD;
    run->which = (const uint64_t *)(const void *)(redo + 1);
    for (uint64_t s = 0; s < sectors && sectors <= room; s++) words += (uint64_t)__builtin_popcountll(run->which[s]);
    if (words > room) return false;
    run->extent = redo->extent;
    run->from = redo->at;
    run->sectors = redo->sectors;
    run->word = run->which + sectors;
    run->bytes = 0;
    run->next += sizeof *redo + words * WORD;
    run->left -= sizeof *redo + words * WORD;
    return true;
}

bool hd_patch_next(hd_patch *run)
{
    while (!run->words) {
        if (!run->sectors && !begin_redo(run)) return false;
        run->sector = (uint64_t)__builtin_ctz(run->sectors) * HD_IMAGE_SECTOR;
        run->sectors &= run->sectors - 1;
        run->words = *run->which++;
    }
    uint32_t first = (uint32_t)__builtin_ctzll(run->words);
    uint64_t others = ~(run->words >> first), n = others ? (uint64_t)__builtin_ctzll(others) : WORDS;
    run->word += run->bytes / WORD; /* behind those of the last run */
    run->at = run->from + run->sector + first * WORD;
    run->bytes = n * WORD;
    run->words &= n == WORDS ? 0 : ~(((1ull << n) - 1) << first);
    return true;
}

hd_status hd_journal_check(hd_image *im)
{
    hd_record first;
    if (im->other_is_whole) return HD_OK;
    hd_status status = hd_image_get(im, im->sb.journal, &first, sizeof first);
    bool begins = is_head(&first) || memcmp(first.magic, HD_LIVE_MAGIC, sizeof first.magic) == 0;
    if (status || !begins || first.id != im->sb.id || first.generation <= im->sb.generation) return status;
    return hd_fail(HD_ECORRUPT, "%s: the superblock of generation %" PRIu64 " is damaged", im->path, first.generation);
}

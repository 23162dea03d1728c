/* SPDX-License-Identifier: Apache-2.0
 *
 * image.c - see image.h.
 */
#include "lib/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"

enum { ENTRY_LEAST = 2 /* bytes: a superblock costs no more memory than its file has, nearly */ };

/* ---- Bytes ----------------------------------------------------------------------------------- */

hd_status hd_image_get(hd_image *im, uint64_t offset, void *p, uint64_t bytes)
{
    return hd_file_read_all_at(im->seams, im->fd, im->path, offset, p, (size_t)bytes);
}

hd_status hd_image_put(hd_image *im, uint64_t offset, const void *p, uint64_t bytes)
{
    if (offset + bytes <= im->map_bytes) {
        memcpy(im->map + offset, p, (size_t)bytes);
        hd_image_write_back(im, offset, bytes);
        return HD_OK;
    }
    im->unsynced = true;
    return hd_file_write_all_at(im->seams, im->fd, im->path, offset, p, (size_t)bytes);
}

hd_status hd_image_sync(hd_image *im)
{
    const hd_file_seam *file = &im->seams->file;
    if (im->map) file->fence(file->self);
    if (!im->unsynced) return HD_OK;
    if (file->sync_data(file->self, im->fd))
        return hd_fail(HD_EIO, "%s: cannot be synced: %s", im->path, strerror(errno));
    im->unsynced = !im->line;
    return HD_OK;
}

void hd_image_write_back(const hd_image *im, uint64_t offset, uint64_t bytes)
{
    im->seams->file.write_back(im->seams->file.self, im->map + offset, (size_t)bytes);
}

static void unmap(hd_image *im)
{
    if (im->map) im->seams->file.unmap(im->seams->file.self, im->map, (size_t)im->mapped_bytes);
    im->map = NULL;
    im->map_bytes = im->mapped_bytes = 0;
}

hd_status hd_image_map(hd_image *im)
{
    const hd_file_seam *file = &im->seams->file;
    const uint64_t bytes = im->sb.file_bytes ? im->sb.file_bytes : HD_IMAGE_PAGE; /* a new file: whether it can be */
    unmap(im);
    errno = EOPNOTSUPP;
    im->map = file->map_lines ? (uint8_t *)file->map_lines(file->self, (size_t)bytes, im->fd) : NULL;
    if (!im->map && (errno == EOPNOTSUPP || errno == EINVAL))
        return hd_fail(HD_EINVAL,
                       "%s: durable: line needs memory that keeps lines, in a file system mounted with dax: use disk",
                       im->path);
    if (!im->map) return hd_fail(HD_EIO, "%s: cannot be mapped: %s", im->path, strerror(errno));
    im->map_bytes = im->sb.file_bytes;
    im->mapped_bytes = bytes;
    return HD_OK;
}

/* ---- Superblocks ----------------------------------------------------------------------------- */

static void sum_of(const hd_superblock *sb, uint8_t *sum)
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(sb, offsetof(hd_superblock, sum)));
    memcpy(sum, canonical.digest, HD_SUM_BYTES);
}

static bool is_whole(const hd_superblock *sb)
{
    uint8_t sum[HD_SUM_BYTES];
    sum_of(sb, sum);
    return memcmp(sb->magic, HD_IMAGE_MAGIC, sizeof sb->magic) == 0 && memcmp(sum, sb->sum, sizeof sum) == 0;
}

static bool is_zero(const void *p, size_t bytes)
{
    const uint8_t *byte = (const uint8_t *)p;
    for (size_t i = 0; i < bytes; i++)
        if (byte[i]) return false;
    return true;
}

/* What hd_image_create writes first: the magic alone. The table is open when superblocks have replaced it. */
static bool is_begun(const hd_superblock *sb)
{
    return memcmp(sb->magic, HD_IMAGE_MAGIC, sizeof sb->magic) == 0 &&
           is_zero(sb->magic + sizeof sb->magic, sizeof *sb - sizeof sb->magic);
}

/* What is not inside the file, or not where extents may begin. */
static bool is_outside(const hd_superblock *sb, uint64_t offset, uint64_t bytes)
{
    return offset < HD_IMAGE_BLOCKS || offset % HD_IMAGE_PAGE || offset > sb->file_bytes ||
           bytes > sb->file_bytes - offset;
}

/* What no sum can tell: "", or the field that makes no sense. */
static const char *fault_of(const hd_superblock *sb, uint64_t file_bytes)
{
    if (sb->version != HD_IMAGE_VERSION) return "version";
    if (sb->generation == 0) return "generation";
    if (sb->bytes != sizeof *sb) return "bytes";
    if (sb->file_bytes > file_bytes) return "file_bytes: the file is cut short";
    if (is_outside(sb, sb->journal, sb->journal_bytes)) return "journal";
    if (sb->journal_bytes == 0 || sb->journal_bytes % HD_IMAGE_PAGE) return "journal_bytes";
    if (sb->extents > HD_IMAGE_EXTENTS) return "extents";
    for (uint32_t i = 0; i < sb->extents; i++)
        if (is_outside(sb, sb->extent[i].offset, sb->extent[i].bytes)) return "extent";
    if (!hd_snapshot_is_text(sb->policy, sizeof sb->policy)) return "policy";
    if (*hd_snapshot_fault(&sb->shape)) return hd_snapshot_fault(&sb->shape);
    return hd_snapshot_places(&sb->shape) > sb->file_bytes / ENTRY_LEAST ? "buckets" : "";
}

static hd_status check_block(const hd_image *im, const hd_superblock *sb, uint64_t file_bytes)
{
    const char *fault = fault_of(sb, file_bytes);
    return *fault ? hd_fail(HD_ECORRUPT, "%s: the superblock's %s makes no sense", im->path, fault) : HD_OK;
}

static hd_status choose_block(hd_image *im, const hd_superblock *block, uint64_t file_bytes)
{
    bool whole[2] = { is_whole(&block[0]), is_whole(&block[1]) };
    if (!whole[0] && !whole[1])
        return is_begun(&block[0])
                   ? HD_OK
                   : hd_fail(HD_ECORRUPT, "%s: no Heddle image, or both superblocks are damaged", im->path);
    int at = whole[0] && (!whole[1] || block[0].generation > block[1].generation) ? 0 : 1;
    hd_status status = check_block(im, &block[at], file_bytes);
    if (!status) im->sb = block[at];
    im->other_is_whole = whole[!at];
    return status;
}

/* A file of which hd_image_create wrote less than its first sector. */
static bool is_tiny(const hd_superblock *first, uint64_t bytes)
{
    const char *magic = HD_IMAGE_MAGIC;
    bool ours = bytes <= HD_IMAGE_SECTOR;
    for (size_t i = 0; i < sizeof first->magic; i++) ours = ours && (!first->magic[i] || first->magic[i] == magic[i]);
    return ours && is_zero(first->magic + sizeof first->magic, sizeof *first - sizeof first->magic);
}

static hd_status read_blocks(hd_image *im)
{
    hd_superblock block[2];
    uint64_t bytes;
    const hd_file_seam *file = &im->seams->file;
    if (file->size(file->self, im->fd, &bytes))
        return hd_fail(HD_EIO, "%s: cannot tell its size: %s", im->path, strerror(errno));
    memset(block, 0, sizeof block);
    hd_status status = hd_image_get(im, 0, block, bytes < sizeof block ? bytes : sizeof block);
    if (status || is_tiny(block, bytes)) return status;
    return choose_block(im, block, bytes);
}

/* ---- The file -------------------------------------------------------------------------------- */

void hd_image_close(hd_image *im)
{
    unmap(im);
    if (im->fd >= 0) im->seams->file.close(im->seams->file.self, im->fd);
    im->fd = -1;
}

static hd_status lock_file(hd_image *im)
{
    const hd_file_seam *file = &im->seams->file;
    if (!file->lock(file->self, im->fd)) return HD_OK;
    int why = errno;
    hd_image_close(im); /* it is another's */
    if (why == EWOULDBLOCK) return hd_fail(HD_EINVAL, "file: %s is open as another table", im->path);
    return hd_fail(HD_EIO, "%s: cannot be locked: %s", im->path, strerror(why));
}

hd_status hd_image_open(hd_image *im, const hd_seams *s, const char *path, bool to_write)
{
    memset(im, 0, sizeof *im);
    im->seams = s;
    im->fd = -1;
    im->unsynced = true;
    if (!*path) return hd_fail(HD_EINVAL, "file: the path is empty");
    if (strlen(path) >= sizeof im->path) return hd_fail(HD_EINVAL, "file: the path is too long");
    memcpy(im->path, path, strlen(path) + 1);
    im->fd = s->file.open(s->file.self, path, to_write ? O_RDWR : O_RDONLY, 0);
    if (im->fd < 0)
        return to_write && errno == ENOENT ? HD_OK : hd_fail(HD_EIO, "%s: cannot be opened: %s", path, strerror(errno));
    hd_status status = lock_file(im);
    return status ? status : read_blocks(im);
}

/* A number that no other file has, nearly. */
static uint64_t new_id(const hd_image *im)
{
    const hd_time_seam *time = &im->seams->time;
    const uint64_t from[3] = { time->unix_ns(time->self), time->now_ns(time->self), (uint64_t)(uintptr_t)im };
    return XXH3_64bits(from, sizeof from);
}

hd_status hd_image_create(hd_image *im)
{
    const hd_file_seam *file = &im->seams->file;
    uint8_t first[HD_IMAGE_SECTOR] = HD_IMAGE_MAGIC;
    hd_status status = HD_OK;
    im->sb.id = new_id(im);
    if (im->fd < 0) {
        im->fd = file->open(file->self, im->path, O_RDWR | O_CREAT | O_EXCL, 0666);
        if (im->fd < 0) return hd_fail(HD_EIO, "%s: cannot be created: %s", im->path, strerror(errno));
        status = lock_file(im);
    }
    if (!status && im->line) status = hd_image_map(im);
    if (!status) status = hd_image_put(im, 0, first, sizeof first);
    if (!status) status = hd_image_sync(im);
    if (!status && file->sync_folder(file->self, im->path))
        status = hd_fail(HD_EIO, "%s: its folder cannot be synced: %s", im->path, strerror(errno));
    return status;
}

/* ---- Space ----------------------------------------------------------------------------------- */

/* Where space of so many bytes from `at` on can begin at the earliest, as far as one used range is concerned. */
static uint64_t behind(uint64_t at, uint64_t bytes, uint64_t used, uint64_t used_bytes)
{
    bool apart = at + bytes <= used || at >= used + used_bytes;
    return apart ? at : used + hd_image_pages(used_bytes) * HD_IMAGE_PAGE;
}

static uint64_t behind_all(const hd_superblock *sb, uint64_t at, uint64_t bytes)
{
    at = behind(at, bytes, sb->journal, sb->journal_bytes);
    for (uint32_t i = 0; i < sb->extents; i++) at = behind(at, bytes, sb->extent[i].offset, sb->extent[i].bytes);
    return at;
}

uint64_t hd_image_space(const hd_image *im, const hd_superblock *next, uint64_t bytes)
{
    uint64_t at = HD_IMAGE_BLOCKS, was;
    do {
        was = at;
        at = behind_all(next, behind_all(&im->sb, at, bytes), bytes);
    } while (at != was);
    return at;
}

/* ---- From one superblock to the next --------------------------------------------------------- */

static hd_status write_block(hd_image *im, const hd_superblock *sb)
{
    hd_status status = hd_image_put(im, sb->generation % 2 * HD_IMAGE_PAGE, sb, sizeof *sb);
    return status ? status : hd_image_sync(im);
}

hd_status hd_image_switch(hd_image *im, hd_superblock *next)
{
    next->generation = im->sb.generation + 1;
    next->file_bytes = next->journal + next->journal_bytes;
    for (uint32_t i = 0; i < next->extents; i++) {
        uint64_t end = next->extent[i].offset + next->extent[i].bytes;
        if (end > next->file_bytes) next->file_bytes = end;
    }
    hd_snapshot_header_sum(&next->shape, next->shape.sum);
    sum_of(next, next->sum);
    hd_status status = write_block(im, next);
    if (!status) im->sb = *next;
    return status;
}

hd_status hd_image_confirm(hd_image *im) { return write_block(im, &im->sb); }

/* SPDX-License-Identifier: Apache-2.0
 *
 * snapshot_read.c - see snapshot_read.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>

#include "base/error.h"
#include "lib/snapshot_read.h"

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* The sum has all that was got. Many entries at a time: an update costs more than 8 bytes do. */
static void sum_up(hd_snapshot_reader *r)
{
    XXH3_128bits_update(&r->sum, r->block + r->summed, r->at - r->summed);
    r->summed = r->at;
}

static void begin_sum(hd_snapshot_reader *r)
{
    XXH3_128bits_reset(&r->sum);
    r->summed = r->at;
}

static hd_status go_to(hd_snapshot_file *f, uint64_t offset)
{
    if (offset == f->position) return HD_OK;
    if (f->seams->file.seek(f->seams->file.self, f->fd, offset))
        return hd_fail(HD_EIO, "%s: byte %" PRIu64 ": %s", f->path, offset, strerror(errno));
    f->position = offset;
    return HD_OK;
}

static hd_status fill_block(hd_snapshot_reader *r)
{
    hd_snapshot_file *f = r->file;
    sum_up(r);
    r->at = r->fill = r->summed = 0;
    hd_status status = go_to(f, r->offset);
    if (!status) status = hd_file_read_at_most(f->seams, f->fd, f->path, r->block, r->block_bytes, &r->fill);
    f->position += r->fill;
    if (!status && r->fill == 0) status = hd_fail(HD_ECORRUPT, "%s: cut short at byte %" PRIu64, f->path, r->offset);
    return status;
}

hd_status hd_snapshot_get_some(hd_snapshot_reader *r, uint64_t most, const uint8_t **p, size_t *got)
{
    hd_status status = r->at == r->fill ? fill_block(r) : HD_OK;
    size_t n = r->fill - r->at;
    *got = n < most ? n : (size_t)most;
    *p = r->block + r->at;
    r->at += *got;
    r->offset += *got;
    return status;
}

hd_status hd_snapshot_get_blocks(hd_snapshot_reader *r, void *p, uint64_t bytes)
{
    for (uint8_t *to = (uint8_t *)p; bytes;) {
        const uint8_t *from;
        size_t n;
        hd_status status = hd_snapshot_get_some(r, bytes, &from, &n);
        if (status) return status;
        if (to) to = (uint8_t *)memcpy(to, from, n) + n;
        bytes -= n;
    }
    return HD_OK;
}

hd_status hd_snapshot_reader_open(hd_snapshot_file *f, uint64_t offset, hd_snapshot_reader *r)
{
    void *block = NULL;
    memset(r, 0, sizeof *r);
    r->file = f;
    r->offset = offset;
    XXH3_128bits_reset(&r->sum);
    r->block_bytes = f->bytes == 0 ? 1 : f->bytes < HD_SNAPSHOT_BLOCK ? (size_t)f->bytes : HD_SNAPSHOT_BLOCK;
    hd_status status = hd_take(f->seams, "load: buffer", 1, r->block_bytes, &block);
    r->block = (uint8_t *)block;
    return status;
}

void hd_snapshot_reader_close(hd_snapshot_reader *r) { hd_give(r->file->seams, r->block, 1, r->block_bytes); }

/* ---- The file -------------------------------------------------------------------------------- */

static hd_status get_header(hd_snapshot_reader *r, hd_snapshot_header *h)
{
    const char *path = r->file->path;
    size_t magic_bytes = sizeof h->magic;
    hd_status status = hd_snapshot_get_bytes(r, h, sizeof *h);
    if (status == HD_ECORRUPT && r->offset >= magic_bytes && memcmp(h->magic, HD_SNAPSHOT_MAGIC, magic_bytes) == 0)
        return status;
    if (status && status != HD_ECORRUPT) return status;
    if (status || memcmp(h->magic, HD_SNAPSHOT_MAGIC, magic_bytes) != 0)
        return hd_fail(HD_ECORRUPT, "%s: no Heddle snapshot (byte 0)", path);
    uint8_t sum[HD_SUM_BYTES];
    hd_snapshot_header_sum(h, sum);
    if (memcmp(sum, h->sum, sizeof sum) != 0)
        return hd_fail(HD_ECORRUPT, "%s: the header (bytes 0 to 255) is damaged", path);
    if (h->version != HD_SNAPSHOT_VERSION && !hd_snapshot_has_policy(h))
        return hd_fail(HD_ECORRUPT, "%s: version %" PRIu32 " (byte 8); this library reads versions %d and %d", path,
                       h->version, HD_SNAPSHOT_VERSION, HD_SNAPSHOT_VERSION_POLICY);
    const char *fault = hd_snapshot_fault(h);
    return *fault ? hd_fail(HD_ECORRUPT, "%s: the header's %s makes no sense", path, fault) : HD_OK;
}

/* The expressions behind the header. */
static hd_status get_policy(hd_snapshot_reader *r, char text[HD_PROGRAM_KEPT])
{
    const char *path = r->file->path;
    hd_snapshot_policy p;
    uint8_t sum[HD_SUM_BYTES];
    hd_status status = hd_snapshot_get_bytes(r, &p, sizeof p);
    if (status) return status;
    hd_snapshot_policy_sum(&p, sum);
    if (memcmp(sum, p.sum, sizeof sum) != 0)
        return hd_fail(HD_ECORRUPT, "%s: the policy (bytes 256 to 511) is damaged", path);
    if (!hd_snapshot_is_text(p.text, sizeof p.text))
        return hd_fail(HD_ECORRUPT, "%s: the policy (byte 256) makes no sense", path);
    memcpy(text, p.text, sizeof p.text);
    return HD_OK;
}

static hd_status read_header(hd_snapshot_file *f)
{
    hd_snapshot_reader r;
    hd_status status = hd_snapshot_reader_open(f, 0, &r);
    if (!status) status = get_header(&r, &f->h);
    if (!status) memcpy(f->policy, f->h.policy, sizeof f->h.policy);
    if (!status && hd_snapshot_has_policy(&f->h)) status = get_policy(&r, f->policy);
    hd_snapshot_reader_close(&r);
    return status;
}

hd_status hd_snapshot_open_file(const hd_seams *s, const char *path, hd_snapshot_file *f)
{
    memset(f, 0, sizeof *f);
    f->seams = s;
    f->path = path;
    f->fd = s->file.open(s->file.self, path, O_RDONLY, 0);
    if (f->fd < 0) return hd_fail(HD_EIO, "%s: cannot open: %s", path, strerror(errno));
    if (s->file.size(s->file.self, f->fd, &f->bytes))
        return hd_fail(HD_EIO, "%s: cannot tell its size: %s", path, strerror(errno));
    hd_status status = read_header(f);
    if (!status && f->bytes == 0)
        status =
            hd_fail(HD_EIO, "%s: no file, but a pipe or a device; snapshots are read in four places at once", path);
    if (!status && f->bytes < f->h.file_bytes)
        status = hd_fail(HD_ECORRUPT, "%s: cut short at byte %" PRIu64 " of %" PRIu64, path, f->bytes, f->h.file_bytes);
    if (!status && f->bytes > f->h.file_bytes)
        status = hd_fail(HD_ECORRUPT, "%s: %" PRIu64 " bytes too many, from byte %" PRIu64 " on", path,
                         f->bytes - f->h.file_bytes, f->h.file_bytes);
    return status;
}

void hd_snapshot_close_file(hd_snapshot_file *f)
{
    if (f->fd >= 0) f->seams->file.close(f->seams->file.self, f->fd);
}

/* ---- Sections -------------------------------------------------------------------------------- */

hd_status hd_section_enter(hd_snapshot_reader *r, int section)
{
    uint64_t start = r->offset;
    hd_section_head head, expected = hd_snapshot_section(&r->file->h, section);
    begin_sum(r);
    hd_status status = hd_snapshot_get_bytes(r, &head, sizeof head);
    if (status) return status;
    return memcmp(&head, &expected, sizeof head)
               ? hd_fail(HD_ECORRUPT, "%s: section %.4s expected at byte %" PRIu64, r->file->path, expected.tag, start)
               : HD_OK;
}

hd_status hd_section_leave(hd_snapshot_reader *r, int section)
{
    uint8_t sum[HD_SUM_BYTES], stored[HD_SUM_BYTES];
    uint64_t end = r->offset;
    sum_up(r);
    hd_snapshot_sum(&r->sum, sum);
    hd_status status = hd_snapshot_get_bytes(r, stored, sizeof stored);
    if (status) return status;
    return memcmp(sum, stored, sizeof sum)
               ? hd_fail(HD_ECORRUPT, "%s: section %.4s, which ends at byte %" PRIu64 ", is damaged", r->file->path,
                         hd_section_tag[section], end)
               : HD_OK;
}

uint64_t hd_snapshot_section_start(const hd_snapshot_header *h, int section)
{
    uint64_t at = h->header_bytes;
    for (int i = 0; i < section; i++) at += sizeof(hd_section_head) + hd_snapshot_section_bytes(h, i) + HD_SUM_BYTES;
    return at;
}

hd_status hd_snapshot_verify(hd_snapshot_file *f)
{
    hd_snapshot_reader r;
    hd_status status = hd_snapshot_reader_open(f, hd_snapshot_section_start(&f->h, 0), &r);
    for (int i = 0; i < HD_SECTION_COUNT && !status; i++) {
        status = hd_section_enter(&r, i);
        if (!status) status = hd_snapshot_get_bytes(&r, NULL, hd_snapshot_section_bytes(&f->h, i));
        if (!status) status = hd_section_leave(&r, i);
    }
    hd_snapshot_reader_close(&r);
    f->verified = !status;
    return status;
}

hd_status hd_snapshot_verify_first(hd_snapshot_file *f, uint64_t tables)
{
    enum { TIMES = 4, BESIDE_VALUE = 32 /* bytes of a slot at most, but for its value */ };
    const uint64_t buffers = (uint64_t)HD_SECTION_COUNT * HD_SNAPSHOT_BLOCK, all = TIMES * f->bytes;
    uint64_t slot = (uint64_t)f->h.value_bytes + BESIDE_VALUE;
    bool fits = all > buffers && hd_snapshot_places(&f->h) <= (all - buffers) / tables / slot;
    return fits || f->verified ? HD_OK : hd_snapshot_verify(f);
}

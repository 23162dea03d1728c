/* SPDX-License-Identifier: Apache-2.0
 *
 * store.c - see store.h. The order of writes and syncs here is what makes batches durable, and all or nothing.
 */
#include "lib/store.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/backend.h"
#include "base/error.h"
#include "lib/changes.h"
#include "lib/table.h"

/* ---- What the file has ------------------------------------------------------------------------ */

static void give_shadow(hd_store *x)
{
    hd_cells_give(x);
    hd_give(&x->seams, x->shadow, x->shadow_bytes, 1);
    hd_give(&x->seams, x->dirty, x->shadow_bytes / HD_IMAGE_PAGE, 1);
    hd_give(&x->seams, x->changed, x->changed_pages, 1);
    x->shadow = x->dirty = x->changed = NULL;
    x->shadow_bytes = x->changed_pages = 0;
}

/* Memory for the shadow of such extents, if they have one, and for their pages. After a failure give_shadow gives back
 * what is there. */
static hd_status take_shadow(hd_store *x, const hd_pieces *p, const hd_superblock *next)
{
    void *shadow = NULL, *dirty = NULL, *changed = NULL;
    uint64_t bytes = 0;
    for (uint32_t e = 0; e < next->extents && !x->image.line; e++) {
        x->start[e] = bytes;
        bytes += hd_image_pages(next->extent[e].bytes) * HD_IMAGE_PAGE;
    }
    hd_status status = hd_take(&x->seams, "file: shadow", bytes, 1, &shadow);
    if (!status) status = hd_take(&x->seams, "file: pages", bytes / HD_IMAGE_PAGE, 1, &dirty);
    if (!status) status = hd_take(&x->seams, "file: changed pages", p->pages, 1, &changed);
    x->shadow = (uint8_t *)shadow;
    x->dirty = (uint8_t *)dirty;
    x->changed = (uint8_t *)changed;
    x->shadow_bytes = bytes;
    x->changed_pages = p->pages;
    if (dirty) memset(dirty, 0, bytes / HD_IMAGE_PAGE);
    return status;
}

void hd_store_mark(hd_store *x, uint32_t e, uint64_t at, uint64_t bytes, uint8_t bit)
{
    at += x->start[e];
    for (uint64_t k = at / HD_IMAGE_PAGE; k <= (at + bytes - 1) / HD_IMAGE_PAGE; k++)
        __atomic_fetch_or(&x->dirty[k], bit, __ATOMIC_RELAXED);
}

static bool is_outside(const hd_store *x, const hd_patch *run)
{
    const hd_superblock *sb = &x->image.sb;
    if (run->extent >= sb->extents) return true;
    return run->at > sb->extent[run->extent].bytes || run->bytes > sb->extent[run->extent].bytes - run->at;
}

static hd_status apply_run(hd_store *x, const hd_patch *run)
{
    if (!x->shadow)
        return hd_image_put(&x->image, x->image.sb.extent[run->extent].offset + run->at, run->word, run->bytes);
    memcpy(x->shadow + x->start[run->extent] + run->at, run->word, run->bytes);
    hd_store_mark(x, run->extent, run->at, run->bytes, HD_PAGE_LOGGED);
    return HD_OK;
}

/* In a recovery: the shadow, or in modes process and line the file, takes what a record has. HD_ECORRUPT: it is of
 * other extents, although its sums are right. */
static hd_status apply(hd_store *x, const hd_record *record)
{
    hd_patch run = hd_patch_before(record);
    hd_status status = HD_OK;
    while (!status && hd_patch_next(&run)) {
        if (is_outside(x, &run)) break;
        status = apply_run(x, &run);
    }
    if (status) return status;
    if (run.left || run.words)
        return hd_fail(HD_ECORRUPT, "%s: the record of batch %" PRIu64 " makes no sense", x->image.path, record->batch);
    return HD_OK;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Pages of an extent that have one of these bits. */
static hd_status write_pages(hd_store *x, const hd_image_extent *e, uint64_t start, int bits)
{
    uint8_t *dirty = x->dirty + start / HD_IMAGE_PAGE;
    uint64_t pages = hd_image_pages(e->bytes);
    hd_status status = HD_OK;
    for (uint64_t from = 0, to; from < pages && !status; from = to) {
        to = from + 1;
        if (!(dirty[from] & bits)) continue;
        while (to < pages && dirty[to] & bits) to++;
        uint64_t at = from * HD_IMAGE_PAGE, end = to * HD_IMAGE_PAGE < e->bytes ? to * HD_IMAGE_PAGE : e->bytes;
        status = hd_image_put(&x->image, e->offset + at, x->shadow + start + at, end - at);
        memset(dirty + from, 0, to - from);
    }
    return status;
}

hd_status hd_store_write_pages(hd_store *x, int bits)
{
    hd_status status = HD_OK;
    for (uint32_t e = 0; e < x->image.sb.extents && !status && x->dirty; e++)
        status = write_pages(x, &x->image.sb.extent[e], x->start[e], bits);
    return status;
}

/* Brings what the journal has to the image; then the journal begins anew. */
static hd_status checkpoint(hd_table *t, bool clean)
{
    hd_store *x = t->store;
    hd_superblock next = x->image.sb;
    hd_status status = hd_store_write_pages(x, HD_PAGE_LOGGED);
    if (!status) status = hd_image_sync(&x->image);
    if (status) return status;
    next.batch = x->durable;
    next.clean = clean;
    next.shape.clock = atomic_load(&t->clock);
    next.shape.epoch = atomic_load(&t->epoch);
    status = hd_image_switch(&x->image, &next);
    if (status) return status;
    hd_cells_checkpoint(x);
    x->journal.at = 0;
    return HD_OK;
}

/* The record of changes becomes durable, after the cells that its words name. */
static hd_status append(hd_table *t, const hd_pieces *p, uint64_t batches)
{
    hd_store *x = t->store;
    hd_record head;
    hd_status status = hd_journal_fits(&x->journal) ? HD_OK : checkpoint(t, false);
    if (status) return status;
    if (!x->image.line) hd_changes_take(x, p); /* the disk writes cells meanwhile */
    if (x->cells.unsynced) status = hd_image_sync(&x->image);
    if (status) return status;
    x->cells.unsynced = false;
    memset(&head, 0, sizeof head);
    head.batch = x->batch;
    head.batches = batches;
    head.epoch = atomic_load(&t->epoch);
    head.clock = atomic_load(&t->clock);
    status = hd_journal_write(&x->journal, &x->image, &head);
    if (!status && x->image.line) hd_changes_take(x, p);
    return status;
}

/* How large a journal is for such extents: a checkpoint costs the less the more records it is for. `most`: as large as
 * it may become. */
static uint64_t journal_for(const hd_store *x, const hd_superblock *next, bool most)
{
    enum { LEAST = 4 * HD_IMAGE_PAGE, FIRST = 512 << 20 };
    uint64_t bytes = 0;
    if (x->pages.on) return HD_IMAGE_PAGE;
    for (uint32_t e = 0; e < next->extents; e++) bytes += next->extent[e].bytes;
    bytes = hd_image_pages(most ? bytes / 2 : bytes / 8) * HD_IMAGE_PAGE;
    if (!most && bytes > FIRST) bytes = FIRST;
    return bytes < LEAST ? LEAST : bytes;
}

/* Whether the image has all of extent e of the table: it can stay where it is. */
static bool is_in_image(const hd_store *x, const hd_pieces *p, const hd_superblock *next, uint32_t e, uint32_t old)
{
    const hd_image_extent *was = &x->image.sb.extent[old];
    uint64_t first = x->start[old] / HD_IMAGE_PAGE;
    bool same = was->name == next->extent[e].name && was->bytes == next->extent[e].bytes;
    if (x->pages.on) return same && x->pages.at[old] == p->all[e].p;
    for (uint64_t k = 0; k < hd_image_pages(was->bytes) && same && x->dirty; k++) same = !x->dirty[first + k];
    for (int i = 0; i < p->n && same; i++)
        if (p->extent[i] == e)
            same = memcmp(p->all[i].p, hd_store_copy(x, old) + p->at[i], (size_t)p->all[i].bytes) == 0;
    return same;
}

/* Gives the extents their places, and writes those that are not in the image. */
static hd_status write_extents(hd_store *x, const hd_pieces *p, hd_superblock *next)
{
    const uint32_t extents = next->extents;
    bool stays[HD_IMAGE_EXTENTS] = { false };
    hd_status status = HD_OK;
    for (uint32_t e = 0; e < extents; e++) {
        next->extents = e; /* those that have a place */
        for (uint32_t old = 0; old < x->image.sb.extents && !stays[e]; old++) {
            stays[e] = is_in_image(x, p, next, e, old);
            if (stays[e]) next->extent[e].offset = x->image.sb.extent[old].offset;
        }
        if (!stays[e]) next->extent[e].offset = hd_image_space(&x->image, next, next->extent[e].bytes);
    }
    next->extents = extents;
    for (int i = 0; i < p->n && !status; i++)
        if (!stays[p->extent[i]])
            status =
                hd_image_put(&x->image, next->extent[p->extent[i]].offset + p->at[i], p->all[i].p, p->all[i].bytes);
    return status;
}

/* A journal of so many bytes, if the image lacks one of that size. */
static hd_status write_journal(hd_store *x, hd_superblock *next, uint64_t bytes)
{
    next->journal = x->image.sb.journal;
    next->journal_bytes = x->image.sb.journal_bytes;
    if (bytes <= next->journal_bytes) return HD_OK;
    hd_journal old = x->journal;
    hd_status status = hd_journal_take(&x->journal, &x->seams, bytes);
    if (status) return status;
    hd_journal_give(&old, &x->seams);
    next->journal_bytes = 0;
    next->journal = hd_image_space(&x->image, next, bytes);
    next->journal_bytes = bytes;
    return hd_image_put(&x->image, next->journal, x->journal.block, bytes); /* zeros: no later write makes room */
}

/* What *next names becomes the image, at once. Two superblocks: space that only the former image has is free then. */
static hd_status become(hd_store *x, hd_superblock *next)
{
    hd_status status = hd_image_sync(&x->image);
    for (int block = 0; block < 2 && !status; block++) status = hd_image_switch(&x->image, next);
    return status || !x->image.line ? status : hd_image_map(&x->image);
}

/* A journal four times as large, or as large as it may become. */
static hd_status enlarge_journal(hd_table *t)
{
    hd_store *x = t->store;
    hd_status status = checkpoint(t, false);
    hd_superblock next = x->image.sb;
    uint64_t bytes = 4 * next.journal_bytes, most = journal_for(x, &next, true);
    if (!status) status = write_journal(x, &next, bytes < most ? bytes : most);
    return status ? status : become(x, &next);
}

/* Writes all that the table has and the image has not to other space, and makes that the image. */
static hd_status move(hd_table *t, const hd_pieces *p, hd_superblock *next)
{
    hd_store *x = t->store;
    hd_status status = write_extents(x, p, next);
    if (!status) status = write_journal(x, next, journal_for(x, next, false));
    if (!status) status = become(x, next);
    if (status) return status;
    if (x->pages.on) return hd_mapped_become(&x->pages, &x->image, p->all, p->n);
    give_shadow(x);
    status = take_shadow(x, p, next);
    for (int i = 0; i < p->n && !status && x->shadow; i++)
        memcpy(hd_changes_copy(x, p, i), p->all[i].p, (size_t)p->all[i].bytes);
    x->journal.at = 0;
    return status ? status : hd_cells_take(x, p);
}

/* Values of many new cells are written there. A few are in the record, which saves a sync. */
static hd_status write_cells(hd_table *t, const hd_pieces *p)
{
    hd_store *x = t->store;
    if (!x->cells.n || hd_changes_in_cells(x, p) < x->seams.file.sync_bytes) return HD_OK;
    x->cells.unsynced = true;
    hd_status status = hd_changes_write(x, p);
    return !status && t->backend->arrange ? t->backend->arrange(t->state) : status;
}

/* Makes the record of all changes, but for free cells that are written at once. *room: whether the journal has, or
 * could get, room for it. */
static hd_status find_changes(hd_table *t, const hd_pieces *p, bool *room)
{
    hd_store *x = t->store;
    hd_changes c;
    memset(x->changed, 1, p->pages);
    hd_status status = t->backend->changed ? t->backend->changed(t->state, x->changed, p->pages) : HD_OK;
    if (!status) status = write_cells(t, p);
    if (status) return status;
    hd_changes_find(x, p, &c); /* the disk writes cells meanwhile */
    while (!status && !(*room = hd_changes_record(x, p, &c)) && x->journal.bytes < journal_for(x, &x->image.sb, true))
        status = enlarge_journal(t);
    return status;
}

/* In mode process: whether the arrays are pages of the file. */
static bool is_mapped(const hd_store *x, const hd_pieces *p)
{
    bool all = true;
    for (int i = 0; i < p->n; i++) all = all && x->pages.at[i] == p->all[i].p;
    return all;
}

/* What the table has becomes durable. batches: how many have run since the last time; 0: none, but something has
 * changed, or may have. */
static hd_status write_changes(hd_table *t, uint64_t batches)
{
    hd_store *x = t->store;
    hd_pieces p;
    hd_superblock next;
    hd_status status = HD_OK;
    hd_pieces_find(t, &p, &next);
    bool stays = hd_pieces_fit(&next, &x->image.sb) && (!x->pages.on || is_mapped(x, &p));
    if (stays && !x->pages.on) status = find_changes(t, &p, &stays);
    if (status) return status;
    if (!stays)
        status = move(t, &p, &next);
    else if (x->pages.on)
        hd_mapped_note(&x->pages, x->batch, atomic_load(&t->clock), atomic_load(&t->epoch));
    else if (batches || x->journal.fill > sizeof(hd_record))
        status = append(t, &p, batches);
    if (!status) x->durable = x->batch;
    return status;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static hd_status refuse(const hd_config *c)
{
    if (c->durable == HD_DURABLE_NONE) return hd_fail(HD_EINVAL, "durable: none, but the table has a file");
    if (c->lock && strcmp(c->lock, "none") == 0)
        return hd_fail(HD_EINVAL, "lock: none, but batches of a table with a file run one after the other");
    return HD_OK;
}

static hd_status open_store(const char *path, hd_config *c, const hd_seams *s, bool to_read, hd_store **store)
{
    void *p;
    hd_status status = hd_take(s, "file: table", 1, sizeof(hd_store), &p);
    if (status) return status;
    hd_store *x = (hd_store *)memset(p, 0, sizeof *x);
    x->seams = *s;
    x->commit = c->commit;
    status = hd_image_open(&x->image, &x->seams, path, !to_read);
    x->image.line = c->durable == HD_DURABLE_LINE && !to_read;
    if (!status && c->durable == HD_DURABLE_PROCESS && !to_read) status = hd_mapped_begin(&x->pages, &s->file);
    const hd_superblock *sb = &x->image.sb;
    if (!status && sb->generation) status = hd_journal_check(&x->image);
    if (!status && sb->generation) status = hd_snapshot_config(path, &sb->shape, sb->policy, c);
    if (!status && !sb->generation && to_read) status = hd_fail(HD_ECORRUPT, "%s: there is no table in it", path);
    if (status) return hd_store_drop(x), status;
    *store = x;
    return HD_OK;
}

hd_status hd_store_open(hd_config *c, const hd_seams *s, hd_store **store)
{
    *store = NULL;
    if (!c->file) return HD_OK;
    hd_status status = refuse(c);
    return status ? status : open_store(c->file, c, s, false, store);
}

hd_status hd_store_open_to_read(const char *path, hd_config *c, const hd_seams *s, hd_store **store)
{
    return open_store(path, c, s, true, store);
}

hd_status hd_store_shape(const hd_store *x, const hd_design *design, const hd_backend *on, hd_info *info)
{
    if (!x) return HD_OK;
    if (!design->ref->extents) return hd_fail(HD_EINVAL, "file: tables of design %s have none", design->name);
    if (x->pages.on && !design->ref->survives_kill)
        return hd_fail(HD_EINVAL, "durable: process is not for design %s: a batch that is cut may break its tables",
                       design->name);
    if (on->device_arrays && !design->gpu->extents)
        return hd_fail(HD_EINVAL, "file: tables of design %s have none on backend %s", design->name, on->name);
    const hd_snapshot_header *shape = &x->image.sb.shape;
    if (!x->image.sb.generation) return HD_OK;
    hd_info by_file = *info;
    hd_status status = hd_snapshot_shape(design, on, x->image.path, shape, &by_file);
    if (!status) status = hd_snapshot_fits(design, on, shape, info, &by_file);
    if (!status) *info = by_file;
    return status;
}

/* In mode line. A process that was killed may have stored records that it had not written back: they become durable
 * before the extents take what they say. */
static hd_status map_lines(hd_store *x)
{
    hd_status status = hd_image_map(&x->image);
    if (status) return status;
    hd_image_write_back(&x->image, x->image.sb.journal, x->image.sb.journal_bytes);
    return hd_image_sync(&x->image);
}

/* The image's extents, and then what the journal has, to the shadow. In modes process and line the extents stay in the
 * file. */
static hd_status replay(hd_table *t)
{
    hd_store *x = t->store;
    const hd_superblock *sb = &x->image.sb;
    const hd_record *record;
    hd_status status = HD_OK;
    for (uint32_t e = 0; e < sb->extents && !status && x->shadow; e++)
        status = hd_image_get(&x->image, sb->extent[e].offset, x->shadow + x->start[e], sb->extent[e].bytes);
    if (!status) status = hd_journal_read(&x->journal, &x->image);
    const hd_live *live = status ? NULL : hd_journal_live(&x->journal, &x->image);
    x->batch = live ? live->batch : sb->batch;
    atomic_store(&t->clock, live ? live->clock : sb->shape.clock);
    atomic_store(&t->epoch, live ? (uint32_t)live->epoch : sb->shape.epoch);
    while (!status && (record = hd_journal_next(&x->journal, &x->image, x->batch))) {
        status = apply(x, record);
        x->batch = record->batch;
        atomic_store(&t->clock, record->clock);
        atomic_store(&t->epoch, record->epoch);
        x->did.records++;
        x->did.bytes += record->bytes;
    }
    if (!status && hd_journal_goes_on(&x->journal, &x->image))
        status = hd_fail(HD_ECORRUPT, "%s: the record behind batch %" PRIu64 " is damaged", x->image.path, x->batch);
    x->durable = x->batch;
    return status;
}

/* In mode process: the file is complete from now on, and the arrays are its pages. */
static hd_status map_image(hd_table *t, const hd_pieces *p)
{
    hd_store *x = t->store;
    hd_status status = checkpoint(t, false);
    hd_journal_give(&x->journal, &x->seams);
    const uint64_t began = x->seams.time.now_ns(x->seams.time.self);
    if (!status) status = hd_mapped_become(&x->pages, &x->image, p->all, p->n);
    x->did.map_ns = x->seams.time.now_ns(x->seams.time.self) - began;
    return status;
}

/* The table takes what the file has. */
static hd_status recover(hd_table *t)
{
    hd_store *x = t->store;
    const uint64_t began = x->seams.time.now_ns(x->seams.time.self);
    hd_pieces p;
    hd_superblock next;
    hd_pieces_find(t, &p, &next);
    if (!hd_pieces_fit(&next, &x->image.sb))
        return hd_fail(HD_ECORRUPT, "%s: its arrays are not those of such a table", x->image.path);
    x->did.was_clean = x->image.sb.clean;
    hd_status status = x->pages.on ? HD_OK : take_shadow(x, &p, &next);
    if (!status) status = hd_journal_take(&x->journal, &x->seams, x->image.sb.journal_bytes);
    if (!status && x->image.line) status = map_lines(x);
    if (!status) status = replay(t);
    if (!status && x->pages.on) status = map_image(t, &p);
    for (int i = 0; i < p.n && !status && !x->pages.on; i++)
        memcpy(p.all[i].p, hd_changes_copy(x, &p, i), (size_t)p.all[i].bytes);
    if (!status) status = t->backend->recovered(t->state, &x->did);
    if (status) return status;
    if (t->backend->device_arrays)
        atomic_store(&t->entries_unknown, true);
    else
        atomic_store(&t->entries, hd_entries_count(t->backend, t->state));
    x->did.ns = x->seams.time.now_ns(x->seams.time.self) - began;
    return HD_OK;
}

/* What this process has read need not be on the disk, if a sync failed before. So the records and the superblock are
 * written again before all else, and pages that the journal has with the checkpoint. */
static hd_status resume(hd_table *t)
{
    hd_store *x = t->store;
    hd_status status = hd_image_put(&x->image, x->image.sb.journal, x->journal.block, x->journal.at);
    if (!status) status = hd_image_confirm(&x->image);
    if (!status) status = write_changes(t, 0); /* that hd_backend.recovered has made */
    if (!status) status = checkpoint(t, false);
    hd_pieces p;
    hd_superblock next;
    hd_pieces_find(t, &p, &next);
    return status ? status : hd_cells_take(x, &p);
}

static hd_status create(hd_table *t)
{
    hd_store *x = t->store;
    hd_status status = hd_image_create(&x->image);
    if (!status) status = write_changes(t, 0);
    if (status && x->image.fd >= 0) x->seams.file.unlink(x->seams.file.self, x->image.path);
    x->did.was_clean = true;
    return status;
}

hd_status hd_store_begin(hd_table *t, hd_store *x, bool to_read)
{
    if (!x) return HD_OK;
    t->store = x;
    if (!x->image.sb.generation) return create(t);
    hd_status status = recover(t);
    return status || to_read || x->pages.on ? status : resume(t);
}

void hd_store_memory(hd_store *x, bool device, hd_seams *s)
{
    if (!x || !x->pages.on) return;
    x->pages.device = device ? s->device : NULL;
    if (device)
        s->pinned = hd_mapped_pinned(&x->pages);
    else
        s->memory = hd_mapped_memory(&x->pages);
}

void hd_store_drop(hd_store *x)
{
    if (!x) return;
    hd_seams seams = x->seams;
    give_shadow(x);
    hd_journal_give(&x->journal, &seams);
    hd_mapped_end(&x->pages);
    hd_image_close(&x->image);
    hd_give(&seams, x, 1, sizeof *x);
}

/* ---- The calls of a table -------------------------------------------------------------------- */

static hd_status fail_for_good(hd_store *x, hd_status status)
{
    char why[HD_PATH_BYTES + 128];
    if (!status) return HD_OK;
    snprintf(why, sizeof why, "%s", hd_why());
    x->failed = true;
    return hd_fail(HD_EIO, "%s; the table is only to be read from now on: close it, and open it again", why);
}

hd_status hd_store_may_change(const hd_table *t)
{
    const hd_store *x = t->store;
    if (!x || !x->failed) return HD_OK;
    return hd_fail(HD_EIO, "%s: a write has failed, so the table is only to be read: close it, and open it again",
                   x->image.path);
}

static bool has_moved(hd_table *t)
{
    hd_pieces p;
    hd_superblock next;
    hd_pieces_find(t, &p, &next);
    return !hd_pieces_fit(&next, &t->store->image.sb);
}

hd_status hd_store_changed(hd_table *t, hd_status status)
{
    hd_store *x = t->store;
    if (!x) return status;
    x->batch++;
    bool waits = x->commit == HD_COMMIT_CALL && !x->pages.on && !has_moved(t);
    if (waits || x->failed) return status;
    hd_status written = fail_for_good(x, write_changes(t, x->batch - x->durable));
    return status ? status : written;
}

hd_status hd_store_persist(hd_table *t)
{
    hd_store *x = t->store;
    hd_status status = hd_store_may_change(t);
    if (!x || status) return status;
    if (x->batch != x->durable) status = write_changes(t, x->batch - x->durable);
    if (!status && x->journal.at > x->journal.bytes / 2) status = checkpoint(t, false);
    return fail_for_good(x, status);
}

void hd_store_end(hd_table *t)
{
    hd_store *x = t->store;
    if (!x) return;
    bool whole = !x->failed && !hd_store_persist(t);
    if (whole) checkpoint(t, true);
}

void hd_store_tell(const hd_store *x, hd_info *info)
{
    info->image = (hd_image_info){ x->image.sb.generation, x->durable, x->did };
    info->memory_bytes += sizeof *x + x->shadow_bytes + x->shadow_bytes / HD_IMAGE_PAGE + x->changed_pages;
    info->memory_bytes += x->journal.bytes + x->cells.n + hd_cells_bits(&x->cells);
}

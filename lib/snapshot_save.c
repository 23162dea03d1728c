/* SPDX-License-Identifier: Apache-2.0
 *
 * snapshot_save.c - writing a table, to a file that is there whole or not at all (atomic_file.h).
 */
#include <string.h>

#include "base/error.h"
#include "lib/snapshot.h"
#include "lib/table.h"
#include "lib/write_behind.h"
#include "base/atomic_file.h"

typedef struct writer {
    hd_whole file;
    hd_writing out;
    size_t fill, summed; /* bytes of the block; of them, in the sum */
    uint64_t bytes;      /* that were put */
    XXH3_state_t sum;
    hd_status status; /* the first failure; later calls do nothing */
} writer;

/* The sum has all that was put. Many entries at a time: an update costs more than 8 bytes do. */
static void sum_up(writer *w)
{
    HD_ASSERT(w->summed <= w->fill && w->fill <= HD_WRITING_BLOCK);
    XXH3_128bits_update(&w->sum, hd_writing_block(&w->out) + w->summed, w->fill - w->summed);
    w->summed = w->fill;
}

static void begin_sum(writer *w)
{
    XXH3_128bits_reset(&w->sum);
    w->summed = w->fill;
}

static void flush(writer *w)
{
    sum_up(w);
    if (!w->status) w->status = hd_writing_send(&w->out, w->fill);
    w->fill = w->summed = 0;
}

static void put(writer *w, const void *p, size_t bytes)
{
    w->bytes += bytes;
    for (const uint8_t *from = (const uint8_t *)p; bytes;) {
        size_t n = HD_WRITING_BLOCK - w->fill < bytes ? HD_WRITING_BLOCK - w->fill : bytes;
        memcpy(hd_writing_block(&w->out) + w->fill, from, n);
        w->fill += n;
        from += n;
        bytes -= n;
        if (w->fill == HD_WRITING_BLOCK) flush(w);
    }
}

static void put_slots(writer *w, hd_table *t)
{
    uint64_t bytes = (t->info.places + 7) / 8, i = 0;
    hd_entries all = { .n = 0 };
    uint8_t bits = 0;
    for (hd_entry *e; (e = hd_entries_next(&all, t->backend, t->state)); bits |= (uint8_t)(1u << e->slot % 8)) {
        HD_ASSERT(e->slot / 8 >= i && e->slot < t->info.places, "entries come in the order of slots");
        for (; i < e->slot / 8; i++, bits = 0) put(w, &bits, 1);
    }
    for (; i < bytes; i++, bits = 0) put(w, &bits, 1);
}

/* One section of some entries. */
static void put_entries(writer *w, const hd_entry *e, size_t n, int section, uint32_t value_bytes)
{
    uint64_t word[HD_ENTRIES];
    for (size_t i = 0; i < n; i++) {
        if (section == HD_SECTION_VALS)
            put(w, e[i].value, value_bytes);
        else
            word[i] = section == HD_SECTION_KEYS ? e[i].key : e[i].score;
    }
    if (section != HD_SECTION_VALS) put(w, word, n * sizeof *word);
}

static void put_column(writer *w, hd_table *t, int section, uint32_t value_bytes)
{
    hd_entry e[HD_ENTRIES];
    e->slot = 0;
    for (size_t n; !w->status && (n = t->backend->next(t->state, e, HD_ENTRIES)); e->slot = e[n - 1].slot + 1)
        put_entries(w, e, n, section, value_bytes);
}

static void put_section(writer *w, hd_table *t, const hd_snapshot_header *h, int section)
{
    static const uint32_t reads[HD_SECTION_COUNT] = { 0, HD_PART_KEYS, HD_PART_SCORES, HD_PART_VALUES };
    hd_section_head head = hd_snapshot_section(h, section);
    if (!w->status) w->status = hd_look(t->backend, t->state, reads[section]);
    uint64_t begin = w->bytes;
    begin_sum(w);
    put(w, &head, sizeof head);
    if (section == HD_SECTION_SLOT)
        put_slots(w, t);
    else
        put_column(w, t, section, h->value_bytes);
    uint8_t sum[HD_SUM_BYTES];
    sum_up(w);
    hd_snapshot_sum(&w->sum, sum);
    put(w, sum, sizeof sum);
    HD_ASSERT(w->bytes - begin <= sizeof head + head.bytes + sizeof sum, "a section is longer than its head says");
}

static void put_policy(writer *w, const hd_table *t)
{
    hd_snapshot_policy p;
    memset(&p, 0, sizeof p);
    HD_ASSERT(strlen(t->policy) < sizeof p.text);
    memcpy(p.text, t->policy, strlen(t->policy));
    hd_snapshot_policy_sum(&p, p.sum);
    put(w, &p, sizeof p);
}

/* A file that no reader would accept is not written. */
static hd_status check_header(const hd_table *t, const char *path, const hd_snapshot_header *h)
{
    hd_info info = t->info;
    const char *fault = hd_snapshot_fault(h);
    if (hd_snapshot_has_policy(h) && strlen(t->policy) >= HD_PROGRAM_KEPT)
        return hd_fail(HD_EINVAL, "%s: not written: the policy's text has %zu characters, and a snapshot keeps %d",
                       path, strlen(t->policy), HD_PROGRAM_KEPT - 1);
    if (*fault) return hd_fail(HD_ECORRUPT, "%s: not written: the table's %s makes no sense", path, fault);
    return hd_snapshot_shape(t->design, t->backend, path, h, &info);
}

/* Everything, within a walk. */
static void put_table(writer *w, hd_table *t)
{
    const hd_backend *on = t->backend;
    w->status = hd_look(on, t->state, 0); /* slots alone, to count entries */
    hd_snapshot_header h = hd_snapshot_header_of(t, hd_entries_count(on, t->state));
    if (!w->status) w->status = hd_look(on, t->state, 0);
    if (!w->status) w->status = check_header(t, w->file.path, &h);
    put(w, &h, sizeof h);
    if (hd_snapshot_has_policy(&h)) put_policy(w, t);
    for (int i = 0; i < HD_SECTION_COUNT; i++) put_section(w, t, &h, i);
    if (!w->status) w->status = hd_look(on, t->state, 0);
    HD_ASSERT(w->status || w->bytes == h.file_bytes, "a file has another length than its header says");
}

/* The file is kept when the walk has ended well. */
static hd_status save(hd_table *t, const char *path, writer *w)
{
    w->fill = w->summed = w->bytes = 0;
    begin_sum(w); /* of the header; also if the walk fails, because flush() adds to it in any case */
    w->status = hd_whole_open(&w->file, &t->seams, path);
    if (w->status) return w->status;
    w->out.fd = w->file.fd;
    w->out.path = w->file.path;
    w->status = hd_walk(t->backend, t->state, HD_WALK_READ);
    if (!w->status) {
        put_table(w, t);
        hd_status walked = hd_walked(t->backend, t->state, false);
        if (!w->status) w->status = walked;
    }
    flush(w);
    hd_status written = hd_writing_end(&w->out);
    if (written || w->status) {
        hd_whole_drop(&w->file);
        return written ? written : w->status;
    }
    return hd_whole_keep(&w->file);
}

hd_status hd_save(hd_table *t, const char *path)
{
    if (!t || !path) return hd_fail(HD_EINVAL, "%s: NULL", t ? "path" : "table");
    writer w;
    hd_status status = hd_writing_open(&w.out, &t->seams);
    if (status) return status;
    t->lock->enter(t->lock_state, HD_READER);
    status = save(t, path, &w);
    t->lock->leave(t->lock_state, HD_READER);
    hd_writing_close(&w.out);
    return status;
}

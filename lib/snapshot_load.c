/* SPDX-License-Identifier: Apache-2.0
 *
 * snapshot_load.c - reading a table. The file's four sections are read side by side to fill a new state. The table's
 * own is replaced only when the new one is complete, all checksums are right and its invariants hold. A small file, or
 * one of a table with few entries, is verified before that.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lib/params.h"
#include "lib/reinsert.h"
#include "lib/snapshot.h"
#include "lib/table.h"
#include "policies/expression.h"

/* One opening of a file: what is read stays one file, whatever takes its name meanwhile. */
typedef struct snapshot_file {
    const hd_seams *seams;
    const char *path;
    int fd;
    uint64_t bytes, position; /* position: of the next read */
    hd_snapshot_header h;
    char policy[HD_PROGRAM_TEXT]; /* the name, or the expressions */
    bool verified;                /* all checksums are right */
} snapshot_file;

/* Reads a file from a place on. Several readers of a file read in turn. */
typedef struct reader {
    snapshot_file *file;
    uint8_t *block;
    size_t block_bytes, at, fill, summed; /* summed: bytes of the block that are in the sum, or before its beginning */
    uint64_t offset;                      /* in the file, of block + at */
    XXH3_state_t sum;
} reader;

/* The sum has all that was got. Many entries at a time: an update costs more than 8 bytes do. */
static void sum_up(reader *r)
{
    XXH3_128bits_update(&r->sum, r->block + r->summed, r->at - r->summed);
    r->summed = r->at;
}

static void begin_sum(reader *r)
{
    XXH3_128bits_reset(&r->sum);
    r->summed = r->at;
}

static hd_status go_to(snapshot_file *f, uint64_t offset)
{
    if (offset == f->position) return HD_OK;
    if (f->seams->file.seek(f->seams->file.self, f->fd, offset))
        return hd_fail(HD_EIO, "%s: byte %" PRIu64 ": %s", f->path, offset, strerror(errno));
    f->position = offset;
    return HD_OK;
}

static hd_status fill_block(reader *r)
{
    snapshot_file *f = r->file;
    sum_up(r);
    r->at = r->fill = r->summed = 0;
    hd_status status = go_to(f, r->offset);
    if (!status) status = hd_file_read_at_most(f->seams, f->fd, f->path, r->block, r->block_bytes, &r->fill);
    f->position += r->fill;
    if (!status && r->fill == 0) status = hd_fail(HD_ECORRUPT, "%s: cut short at byte %" PRIu64, f->path, r->offset);
    return status;
}

/* The next 1 to `most` bytes: *p points at *got of them until the next call. */
static hd_status get_some(reader *r, uint64_t most, const uint8_t **p, size_t *got)
{
    hd_status status = r->at == r->fill ? fill_block(r) : HD_OK;
    size_t n = r->fill - r->at;
    *got = n < most ? n : (size_t)most;
    *p = r->block + r->at;
    r->at += *got;
    r->offset += *got;
    return status;
}

/* p NULL: only to be summed. */
static hd_status get(reader *r, void *p, uint64_t bytes)
{
    if (p && bytes <= r->fill - r->at) { /* most are words of a block */
        memcpy(p, r->block + r->at, (size_t)bytes);
        r->at += (size_t)bytes;
        r->offset += bytes;
        return HD_OK;
    }
    for (uint8_t *to = (uint8_t *)p; bytes;) {
        const uint8_t *from;
        size_t n;
        hd_status status = get_some(r, bytes, &from, &n);
        if (status) return status;
        if (to) to = (uint8_t *)memcpy(to, from, n) + n;
        bytes -= n;
    }
    return HD_OK;
}

static hd_status open_reader(snapshot_file *f, uint64_t offset, reader *r)
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

static void close_reader(reader *r) { hd_give(r->file->seams, r->block, 1, r->block_bytes); }

static hd_status get_header(reader *r, hd_snapshot_header *h)
{
    const char *path = r->file->path;
    size_t magic_bytes = sizeof h->magic;
    hd_status status = get(r, h, sizeof *h);
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
static hd_status get_policy(reader *r, char text[HD_PROGRAM_TEXT])
{
    const char *path = r->file->path;
    hd_snapshot_policy p;
    uint8_t sum[HD_SUM_BYTES];
    hd_status status = get(r, &p, sizeof p);
    if (status) return status;
    hd_snapshot_policy_sum(&p, sum);
    if (memcmp(sum, p.sum, sizeof sum) != 0)
        return hd_fail(HD_ECORRUPT, "%s: the policy (bytes 256 to 511) is damaged", path);
    if (!hd_snapshot_is_text(p.text, sizeof p.text))
        return hd_fail(HD_ECORRUPT, "%s: the policy (byte 256) makes no sense", path);
    memcpy(text, p.text, sizeof p.text);
    return HD_OK;
}

static hd_status read_header(snapshot_file *f)
{
    reader r;
    hd_status status = open_reader(f, 0, &r);
    if (!status) status = get_header(&r, &f->h);
    if (!status) memcpy(f->policy, f->h.policy, sizeof f->h.policy);
    if (!status && hd_snapshot_has_policy(&f->h)) status = get_policy(&r, f->policy);
    close_reader(&r);
    return status;
}

/* f is to be closed also after a failure. */
static hd_status open_file(const hd_seams *s, const char *path, snapshot_file *f)
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

static void close_file(snapshot_file *f)
{
    if (f->fd >= 0) f->seams->file.close(f->seams->file.self, f->fd);
}

static hd_status enter_section(reader *r, int section)
{
    uint64_t start = r->offset;
    hd_section_head head, expected = hd_snapshot_section(&r->file->h, section);
    begin_sum(r);
    hd_status status = get(r, &head, sizeof head);
    if (status) return status;
    return memcmp(&head, &expected, sizeof head)
               ? hd_fail(HD_ECORRUPT, "%s: section %.4s expected at byte %" PRIu64, r->file->path, expected.tag, start)
               : HD_OK;
}

/* All of its payload was got. */
static hd_status leave_section(reader *r, int section)
{
    uint8_t sum[HD_SUM_BYTES], stored[HD_SUM_BYTES];
    uint64_t end = r->offset;
    sum_up(r);
    hd_snapshot_sum(&r->sum, sum);
    hd_status status = get(r, stored, sizeof stored);
    if (status) return status;
    return memcmp(sum, stored, sizeof sum)
               ? hd_fail(HD_ECORRUPT, "%s: section %.4s, which ends at byte %" PRIu64 ", is damaged", r->file->path,
                         hd_section_tag[section], end)
               : HD_OK;
}

/* Of a section's head in the file. */
static uint64_t section_start(const hd_snapshot_header *h, int section)
{
    uint64_t at = h->header_bytes;
    for (int i = 0; i < section; i++) at += sizeof(hd_section_head) + hd_snapshot_section_bytes(h, i) + HD_SUM_BYTES;
    return at;
}

/* Reads all sections for their checksums alone. */
static hd_status verify(snapshot_file *f)
{
    reader r;
    hd_status status = open_reader(f, section_start(&f->h, 0), &r);
    for (int i = 0; i < HD_SECTION_COUNT && !status; i++) {
        status = enter_section(&r, i);
        if (!status) status = get(&r, NULL, hd_snapshot_section_bytes(&f->h, i));
        if (!status) status = leave_section(&r, i);
    }
    close_reader(&r);
    f->verified = !status;
    return status;
}

/* A damaged file costs at most four times its size. So a file is verified before so many tables of its shape are made
 * of it, unless they are small beside it: then its sums are checked while entries are put. */
static hd_status verify_first(snapshot_file *f, uint64_t tables)
{
    enum { TIMES = 4, BESIDE_VALUE = 32 /* bytes of a slot at most, but for its value */ };
    const uint64_t buffers = (uint64_t)HD_SECTION_COUNT * HD_SNAPSHOT_BLOCK, all = TIMES * f->bytes;
    uint64_t slot = (uint64_t)f->h.value_bytes + BESIDE_VALUE;
    bool fits = all > buffers && hd_snapshot_places(&f->h) <= (all - buffers) / tables / slot;
    return fits || f->verified ? HD_OK : verify(f);
}

/* ---- Filling a state ------------------------------------------------------------------------- */

/* The next entry of the columns of keys, scores and values. */
static hd_status get_entry(reader *column, uint32_t value_bytes, hd_entry *e)
{
    hd_status status = get(&column[HD_SECTION_KEYS], &e->key, 8);
    if (!status) status = get(&column[HD_SECTION_SCOR], &e->score, 8);
    return status ? status : get(&column[HD_SECTION_VALS], e->value, value_bytes);
}

static hd_status fail_slots(const snapshot_file *f)
{
    return hd_fail(HD_ECORRUPT, "%s: the slots that are marked are not %" PRIu64 " entries", f->path, f->h.size);
}

/* An empty state that takes the file's entries. */
typedef struct filling {
    const hd_design *design;
    const hd_seams *seams;
    void *state;
    hd_info *info;     /* of the state */
    bool as_saved;     /* each entry goes into the slot that it was in */
    bool *ahead;       /* whether a score is one that the clock has still to come to, as other clocks have left them */
    uint64_t *dropped; /* entries without a slot */
} filling;

/* The slots that the file marks, one after another. */
typedef struct marks {
    reader *slots;
    uint64_t next, found; /* next: slot of the next byte */
    unsigned bits;        /* of the last one, that are left */
} marks;

/* *is: there is a further one. */
static hd_status next_mark(marks *m, uint64_t *slot, bool *is)
{
    const snapshot_file *f = m->slots->file;
    uint64_t capacity = hd_snapshot_places(&f->h);
    for (; !m->bits && m->next < capacity; m->next += 8) {
        uint8_t bits;
        hd_status status = get(m->slots, &bits, 1);
        if (status) return status;
        m->bits = bits;
    }
    *is = m->bits != 0;
    if (!*is) return m->found == f->h.size ? HD_OK : fail_slots(f);
    *slot = m->next - 8 + (unsigned)__builtin_ctz(m->bits);
    m->bits &= m->bits - 1;
    return *slot < capacity && m->found++ < f->h.size ? HD_OK : fail_slots(f);
}

static hd_status put_entries(const filling *to, reader *column, uint8_t *value)
{
    const hd_snapshot_header *h = &column->file->h;
    marks m = { &column[HD_SECTION_SLOT], 0, 0, 0 };
    hd_entry e = { 0, 0, 0, value };
    bool is;
    hd_status status;
    while (!(status = next_mark(&m, &e.slot, &is)) && is) {
        if ((status = get_entry(column, h->value_bytes, &e))) return status;
        if (e.score >= h->clock) *to->ahead = true;
        if (!to->design->put_at(to->state, &e))
            return hd_fail(HD_ECORRUPT, "%s: entry %" PRIu64 ", key %" PRIu64 ", cannot be in slot %" PRIu64,
                           column->file->path, m.found - 1, e.key, e.slot);
    }
    return status;
}

static hd_status put_from(const filling *to, reader *column)
{
    const hd_snapshot_header *h = &column->file->h;
    uint32_t value_bytes = h->value_bytes ? h->value_bytes : 1;
    void *value = NULL;
    hd_status status = hd_take(to->seams, "load: value", 1, value_bytes, &value);
    if (!status) status = put_entries(to, column, (uint8_t *)value);
    hd_give(to->seams, value, 1, value_bytes);
    return status;
}

/* hd_keys: of the file. */
typedef struct key_source {
    marks slots;
    reader *keys;
    hd_status status; /* the first failure */
} key_source;

static bool next_key(void *self, uint64_t *slot, uint64_t *key)
{
    key_source *x = (key_source *)self;
    bool is = false;
    x->status = next_mark(&x->slots, slot, &is);
    if (!x->status && is) x->status = get(x->keys, key, sizeof *key);
    return !x->status && is;
}

/* Whether where keys belong in such a table follows from the keys that it has. */
static bool learns(const hd_design *d, const hd_info *info)
{
    const hd_params *own = d->params;
    bool does = false;
    for (size_t k = 0; own && k < own->count; k++)
        does = does || (own->row[k].learns && hd_param_number(&own->row[k], hd_params_of_table(own, info)) != 0);
    return does;
}

/* Reads slots and keys, before entries are put. */
static hd_status learn(const filling *to, snapshot_file *f)
{
    static const int section[2] = { HD_SECTION_SLOT, HD_SECTION_KEYS };
    reader column[2];
    key_source x = { { &column[0], 0, 0, 0 }, &column[1], HD_OK };
    const hd_keys keys = { next_key, &x };
    hd_status status = HD_OK;
    int open = 0;
    for (; open < 2 && !status; open++) {
        status = open_reader(f, section_start(&f->h, section[open]), &column[open]);
        if (!status) status = enter_section(&column[open], section[open]);
    }
    if (!status) {
        hd_status learned = to->design->learn(to->state, to->seams, &keys);
        status = x.status ? x.status : learned;
    }
    while (open > 0) close_reader(&column[--open]);
    return status;
}

/* ---- Into a table of another shape ----------------------------------------------------------- */

/* How many slots the file marks. */
static hd_status count_marks(reader *slots, uint64_t *marks)
{
    const uint8_t *p;
    size_t n;
    *marks = 0;
    for (uint64_t left = hd_snapshot_section_bytes(&slots->file->h, HD_SECTION_SLOT); left; left -= n) {
        hd_status status = get_some(slots, left, &p, &n);
        if (status) return status;
        for (size_t i = 0; i < n; i++) *marks += (unsigned)__builtin_popcount(p[i]);
    }
    return HD_OK;
}

/* The next n entries, into the rows of a batch. */
static hd_status get_rows(reader *column, hd_reinsert *x, uint64_t n, bool *ahead)
{
    const hd_snapshot_header *h = &column->file->h;
    hd_status status = get(&column[HD_SECTION_KEYS], x->key, n * sizeof *x->key);
    if (!status) status = get(&column[HD_SECTION_SCOR], x->score, n * sizeof *x->score);
    if (!status) status = get(&column[HD_SECTION_VALS], x->value, n * h->value_bytes);
    for (uint64_t i = 0; i < n && !status; i++) {
        *ahead = *ahead || x->score[i] >= h->clock;
        if (x->score[i] && x->design->policy)
            status = hd_fail(HD_ECORRUPT, "%s: key %" PRIu64 " has a score; design %s keeps none", x->from, x->key[i],
                             h->design);
    }
    return status;
}

static hd_status insert_rows(reader *column, hd_reinsert *x, bool *ahead)
{
    hd_status status = HD_OK;
    for (uint64_t left = column->file->h.size, n; left && !status; left -= n) {
        n = left < x->room ? left : x->room;
        status = get_rows(column, x, n, ahead);
        if (!status) status = hd_reinsert_run(x, n);
    }
    return status;
}

/* A table that grows in place has the number of buckets that its entries want: it takes the file's, or room for
 * them. */
static hd_status make_room(const filling *to, uint64_t size)
{
    enum { OF_FIVE = 4 }; /* slots that entries may take */
    uint64_t wanted = size / OF_FIVE * 5 / to->info->slots + 2;
    if (!to->design->resize) return HD_OK;
    return to->design->resize(to->state, to->seams, wanted > to->info->buckets ? wanted : to->info->buckets, to->info);
}

static hd_status insert_from(const filling *to, reader *column)
{
    const hd_snapshot_header *h = &column->file->h;
    hd_reinsert x;
    uint64_t marks = 0;
    hd_status status = count_marks(&column[HD_SECTION_SLOT], &marks);
    if (!status && marks != h->size) status = fail_slots(column->file);
    if (!status) status = make_room(to, h->size);
    if (!status) status = hd_reinsert_open(&x, to->design, to->seams, to->state, to->info, column->file->path, h->size);
    if (status) return status;
    status = insert_rows(column, &x, to->ahead);
    *to->dropped = h->size - x.inserted;
    hd_status closed = hd_reinsert_close(&x);
    return status ? status : closed;
}

/* ---- The state of a table, from a file ------------------------------------------------------- */

/* The columns are read side by side, each by a reader of its own. */
static hd_status fill_columns(const filling *to, snapshot_file *f)
{
    reader column[HD_SECTION_COUNT];
    int open = 0;
    hd_status status = to->as_saved && learns(to->design, to->info) ? learn(to, f) : HD_OK;
    for (; open < HD_SECTION_COUNT && !status; open++) {
        status = open_reader(f, section_start(&f->h, open), &column[open]);
        if (!status) status = enter_section(&column[open], open);
    }
    if (!status) status = to->as_saved ? put_from(to, column) : insert_from(to, column);
    for (int i = 0; i < HD_SECTION_COUNT && !status; i++) status = leave_section(&column[i], i);
    if (!status && to->as_saved) status = to->design->check(to->state);
    while (open > 0) close_reader(&column[--open]);
    return status;
}

/* What is damaged in a file that could not be loaded: a checksum tells it better than an entry that makes no sense. */
static hd_status fill(const filling *to, snapshot_file *f)
{
    hd_status status = fill_columns(to, f);
    if (status != HD_ECORRUPT) return status;
    char why[512];
    snprintf(why, sizeof why, "%s", hd_why());
    hd_status verified = verify(f);
    return verified ? verified : hd_fail(status, "%s", why);
}

/* A state of the file's shape takes the entries where they were. */
static hd_status fill_as_saved(const filling *to, snapshot_file *f)
{
    const hd_design *d = to->design;
    hd_status status = hd_walk(d, to->state, HD_WALK_FILL);
    if (status) return status;
    status = fill(to, f);
    hd_status walked = hd_walked(d, to->state, !status);
    if (!status) status = walked;
    /* which moves nothing */
    if (!status && d->resize) status = d->resize(to->state, to->seams, to->info->buckets, to->info);
    return status;
}

/* Of a design that resizes the number of buckets is no part of the shape. */
static bool same_shape(const hd_design *d, const hd_info *a, const hd_info *b)
{
    const hd_params *own = d->params;
    bool same = (d->resize || a->buckets == b->buckets) && a->slots == b->slots && a->seed == b->seed;
    for (size_t k = 0; own && k < own->count && same; k++)
        same =
            !own->row[k].places || hd_param_same(&own->row[k], hd_params_of_table(own, a), hd_params_of_table(own, b));
    return same;
}

static hd_status open_and_fill(filling *to, snapshot_file *f)
{
    hd_status status = to->design->open(to->design, to->info, to->seams, &to->state);
    if (status) return status;
    status = to->as_saved ? fill_as_saved(to, f) : fill(to, f);
    if (status) to->design->close(to->state, to->seams);
    return status;
}

/* A table that evicts nothing and does not grow in place takes all entries, too: a state that proves too small is given
 * up for one of twice its buckets. */
static hd_status open_larger_and_fill(filling *to, snapshot_file *f)
{
    hd_status status = HD_OK;
    while (!status && to->info->places < f->h.size)
        status = hd_larger_shape(to->design, 2 * to->info->buckets, to->info);
    if (!status) status = open_and_fill(to, f);
    while (!status && *to->dropped) {
        to->design->close(to->state, to->seams);
        status = hd_larger_shape(to->design, 2 * to->info->buckets, to->info);
        if (!status) status = open_and_fill(to, f);
    }
    return status;
}

/* A new state with the file's entries, of its shape if that is the table's, or else of the table's. *info: what the
 * table is from now on. */
static hd_status load_state(hd_table *t, snapshot_file *f, void **state, hd_info *info, uint64_t *dropped, bool *ahead)
{
    const hd_design *d = t->design;
    hd_info shape = *info = t->info;
    hd_status status = hd_snapshot_shape(d, f->path, &f->h, &shape);
    if (status) return status;
    filling to = { d, &t->seams, NULL, info, same_shape(d, &shape, &t->info), ahead, dropped };
    if (to.as_saved) {
        to.info = &shape;
        status = hd_snapshot_fits(d, &f->h, &t->info, &shape);
        if (status) return status;
    }
    bool grows_anew = !to.as_saved && d->policy && !d->resize;
    status = grows_anew ? open_larger_and_fill(&to, f) : open_and_fill(&to, f);
    if (status) return status;
    if (to.as_saved && d->resize) *info = shape;
    *state = to.state;
    return HD_OK;
}

/* Whether the file's clock is the table's. Older files do not tell when a table by the device's clock was opened. */
static bool is_of_clock(const hd_table *t, const hd_snapshot_header *h)
{
    bool by_device = t->info.clock == HD_CLOCK_DEVICE;
    return by_device == !!(h->flags & HD_SNAPSHOT_DEVICE_CLOCK) && (h->clock || !by_device);
}

static hd_status load_file(hd_table *t, snapshot_file *f, uint64_t *dropped)
{
    const hd_snapshot_header *h = &f->h;
    void *state;
    bool ahead = false;
    if (strcmp(h->design, t->info.design) != 0)
        return hd_fail(HD_EINVAL, "design: %s has %s, the table %s", f->path, h->design, t->info.design);
    if (strcmp(f->policy, t->info.policy) != 0)
        return hd_fail(HD_EINVAL, "policy: %s has %s, the table %s", f->path, f->policy, t->info.policy);
    if (h->value_bytes != t->info.value_bytes)
        return hd_fail(HD_EINVAL, "value_bytes: %s has %" PRIu32 ", the table %" PRIu32, f->path, h->value_bytes,
                       t->info.value_bytes);
    hd_info info;
    hd_status status = verify_first(f, 1);
    if (!status) status = load_state(t, f, &state, &info, dropped, &ahead);
    if (status) return status;
    if ((status = hd_late_tally(t))) return t->design->close(state, &t->seams), status;
    t->design->close(t->state, &t->seams);
    t->state = state;
    hd_table_become(t, &info);
    t->scores_ahead = ahead || !is_of_clock(t, h);
    if (is_of_clock(t, h)) atomic_store(&t->clock, h->clock);
    atomic_store(&t->epoch, h->epoch);
    atomic_store(&t->entries, h->size - *dropped);
    return HD_OK;
}

static hd_status load(hd_table *t, snapshot_file *f, uint64_t *dropped)
{
    uint64_t lost = 0;
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_status status = load_file(t, f, &lost);
    t->lock->leave(t->lock_state, HD_INSERTER);
    if (!status && dropped) *dropped = lost;
    return status;
}

hd_status hd_load(hd_table *t, const char *path, uint64_t *dropped)
{
    if (!t || !path) return hd_fail(HD_EINVAL, "%s: NULL", t ? "path" : "table");
    snapshot_file f;
    hd_status status = open_file(&t->seams, path, &f);
    if (!status) status = load(t, &f, dropped);
    close_file(&f);
    return status;
}

/* The design of the file, on any backend; NULL: this library has none of that name. */
static const hd_design *design_of_file(const hd_snapshot_header *h)
{
    const hd_design *d;
    size_t i = 0;
    while ((d = hd_design_at(i)) && strcmp(d->name, h->design) != 0) i++;
    return d;
}

/* The policy of the file: a static string, or `text`, if it has expressions. NULL: the design has none of that name, or
 * the expressions are not as a table says them (hd_info.policy). */
static const char *policy_of_file(const hd_design *d, const hd_snapshot_header *h, const char *text)
{
    hd_policy_use use;
    if (d->policy) return strcmp(d->policy, text) == 0 ? d->policy : NULL;
    if (hd_policy_read(text, &use) || strcmp(use.text, text) != 0) return NULL;
    bool expressions = hd_policy_is_expression(text);
    if (expressions != hd_snapshot_has_policy(h)) return NULL;
    return expressions ? text : hd_policy_rows[use.number].name;
}

/* Gives the configuration the fields that the file has. */
static void set_config(hd_config *c, const hd_snapshot_header *h, const char *policy)
{
    const hd_design *d = design_of_file(h);
    const hd_params *own = d ? d->params : NULL;
    c->design = d ? d->name : NULL;
    c->policy = d ? policy_of_file(d, h, policy) : NULL;
    c->capacity = h->buckets * h->slots;
    c->slots = h->slots;
    c->value_bytes = h->value_bytes;
    c->clock = h->flags & HD_SNAPSHOT_DEVICE_CLOCK ? HD_CLOCK_DEVICE : HD_CLOCK_LOGICAL;
    c->seed = h->seed;
    c->epoch = h->epoch;
    hd_params_drop_others(own, c);
    if (own) hd_snapshot_get(h, own, false, hd_params_in(own, c));
}

/* Whether the caller's field says nothing against the file's: it is the same, or as hd_config_of has it for the design
 * that the caller names, which is the file's or the default. A table may have more places than were asked for. */
static bool field_agrees(const hd_params *s, const hd_param *p, const hd_config *c, const hd_config *file)
{
    hd_config usual = hd_config_of(c->design);
    hd_policy_use use;
    usual.design = hd_config_default().design;
    if (hd_param_same(p, hd_params_of(s, c), hd_params_of(s, file))) return true;
    if (hd_param_same(p, hd_params_of(s, c), hd_params_of(s, &usual))) return true;
    if (s != &hd_params_common) return false;
    if (p->at == offsetof(hd_config, capacity)) return c->capacity <= file->capacity;
    if (p->at != offsetof(hd_config, policy)) return false;
    return c->policy && !hd_policy_read(c->policy, &use) && strcmp(use.text, file->policy) == 0;
}

/* HD_EINVAL: the caller's configuration names something else than the file has. */
static hd_status check_config(const char *path, const hd_config *c, const hd_config *file)
{
    const hd_params *s;
    for (size_t i = 0; (s = hd_params_at(i)); i++)
        for (size_t k = 0; k < s->count; k++)
            if (!field_agrees(s, &s->row[k], c, file))
                return hd_fail(HD_EINVAL, "%s: %s, of design %s, decides it; leave it as hd_config_of(\"%s\") has it",
                               s->row[k].name, path, file->design, file->design);
    return HD_OK;
}

/* The configuration of the table to open. A mistake of the file is HD_ECORRUPT, where hd_open would call it the
 * caller's. */
static hd_status config_of_file(const snapshot_file *f, hd_config *c)
{
    const hd_snapshot_header *h = &f->h;
    const char *path = f->path;
    const hd_config asked = *c;
    set_config(c, h, f->policy);
    if (!c->design) return hd_fail(HD_ECORRUPT, "%s: the header's design '%s' (byte 16) is unknown", path, h->design);
    if (!c->policy)
        return hd_fail(HD_ECORRUPT, "%s: the header's policy '%s' (byte %d) is none of design %s", path, f->policy,
                       hd_snapshot_has_policy(h) ? (int)sizeof *h : 32, c->design);
    hd_status status = check_config(path, &asked, c);
    if (status) return status;
    hd_info shape;
    memset(&shape, 0, sizeof shape);
    const hd_design *design = c->backend ? hd_design_on(c->design, c->backend) : NULL;
    return design ? hd_snapshot_shape(design, path, h, &shape) : HD_OK; /* hd_open refuses the backend */
}

hd_status hd_open_snapshot(const char *path, const hd_config *config, hd_table **table)
{
    if (!path || !table) return hd_fail(HD_EINVAL, "%s: NULL", path ? "table" : "path");
    hd_config c = config ? *config : hd_config_default();
    snapshot_file f;
    hd_seams seams;
    hd_table *t = NULL;
    hd_status status = hd_seams_of_config(&c, &seams);
    if (status) return status;
    status = open_file(&seams, path, &f);
    if (!status) status = verify_first(&f, 2); /* the table, and the one that it becomes */
    if (!status) status = config_of_file(&f, &c);
    if (!status) status = hd_open(&c, &t);
    if (!status) status = load(t, &f, NULL);
    close_file(&f);
    if (status)
        hd_close(t);
    else
        *table = t;
    return status;
}

hd_status hd_snapshot_inspect(const char *path, hd_snapshot_info *info)
{
    if (!path || !info) return hd_fail(HD_EINVAL, "%s: NULL", path ? "info" : "path");
    snapshot_file f;
    hd_status status = open_file(&hd_seams_os, path, &f);
    const hd_snapshot_header h = f.h;
    close_file(&f);
    if (status) return status;
    memset(info, 0, sizeof *info);
    info->version = h.version;
    memcpy(info->design, h.design, sizeof h.design);
    memcpy(info->policy, f.policy, sizeof f.policy);
    info->buckets = h.buckets;
    info->capacity = h.buckets * h.slots;
    info->base_buckets = h.base_buckets;
    info->size = h.size;
    info->seed = h.seed;
    info->clock = h.clock;
    info->slots = h.slots;
    info->value_bytes = h.value_bytes;
    info->epoch = h.epoch;
    info->dual = h.flags & HD_SNAPSHOT_DUAL;
    info->admit = h.flags & HD_SNAPSHOT_ADMIT_ALWAYS ? HD_ADMIT_ALWAYS : HD_ADMIT_SCORE;
    info->file_bytes = h.file_bytes;
    info->config = hd_config_of(h.design);
    set_config(&info->config, &h, info->policy);
    return HD_OK;
}

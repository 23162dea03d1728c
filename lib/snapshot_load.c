/* SPDX-License-Identifier: Apache-2.0
 *
 * snapshot_load.c - hd_load. The file's four sections are read side by side to fill a new state. The table's own is
 * replaced only when the new one is complete, all checksums are right and its invariants hold. A small file, or one of
 * a table with few entries, is verified before that.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "lib/params.h"
#include "lib/reinsert.h"
#include "lib/snapshot_load.h"
#include "lib/table.h"

/* ---- Filling a state ------------------------------------------------------------------------- */

/* The next entry of the columns of keys, scores and values. */
static hd_status get_entry(hd_snapshot_reader *column, uint32_t value_bytes, hd_entry *e)
{
    hd_status status = hd_snapshot_get_bytes(&column[HD_SECTION_KEYS], &e->key, 8);
    if (!status) status = hd_snapshot_get_bytes(&column[HD_SECTION_SCOR], &e->score, 8);
    return status ? status : hd_snapshot_get_bytes(&column[HD_SECTION_VALS], e->value, value_bytes);
}

static hd_status fail_slots(const hd_snapshot_file *f)
{
    return hd_fail(HD_ECORRUPT, "%s: the slots that are marked are not %" PRIu64 " entries", f->path, f->h.size);
}

/* An empty state that takes the file's entries. */
typedef struct filling {
    const hd_design *design;
    const hd_backend *backend;
    const hd_seams *seams;
    void *state;
    hd_info *info;     /* of the state */
    bool as_saved;     /* each entry goes into the slot that it was in */
    bool *ahead;       /* whether a score is one that the clock has still to come to, as other clocks have left them */
    uint64_t *dropped; /* entries without a slot */
} filling;

/* The slots that the file marks, one after another. */
typedef struct marks {
    hd_snapshot_reader *slots;
    uint64_t next, found; /* next: slot of the next byte */
    unsigned bits;        /* of the last one, that are left */
} marks;

/* *is: there is a further one. */
static hd_status next_mark(marks *m, uint64_t *slot, bool *is)
{
    const hd_snapshot_file *f = m->slots->file;
    uint64_t capacity = hd_snapshot_places(&f->h);
    for (; !m->bits && m->next < capacity; m->next += 8) {
        uint8_t bits;
        hd_status status = hd_snapshot_get_bytes(m->slots, &bits, 1);
        if (status) return status;
        m->bits = bits;
    }
    *is = m->bits != 0;
    if (!*is) return m->found == f->h.size ? HD_OK : fail_slots(f);
    *slot = m->next - 8 + (unsigned)__builtin_ctz(m->bits);
    m->bits &= m->bits - 1;
    return *slot < capacity && m->found++ < f->h.size ? HD_OK : fail_slots(f);
}

static hd_status put_entries(const filling *to, hd_snapshot_reader *column, uint8_t *value)
{
    const hd_snapshot_header *h = &column->file->h;
    marks m = { &column[HD_SECTION_SLOT], 0, 0, 0 };
    hd_entry e = { 0, 0, 0, value };
    bool is;
    hd_status status;
    while (!(status = next_mark(&m, &e.slot, &is)) && is) {
        if ((status = get_entry(column, h->value_bytes, &e))) return status;
        if (e.score >= h->clock) *to->ahead = true;
        if (!to->backend->put_at(to->state, &e))
            return hd_fail(HD_ECORRUPT, "%s: entry %" PRIu64 ", key %" PRIu64 ", cannot be in slot %" PRIu64,
                           column->file->path, m.found - 1, e.key, e.slot);
    }
    return status;
}

static hd_status put_from(const filling *to, hd_snapshot_reader *column)
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
    hd_snapshot_reader *keys;
    hd_status status; /* the first failure */
} key_source;

static bool next_key(void *self, uint64_t *slot, uint64_t *key)
{
    key_source *x = (key_source *)self;
    bool is = false;
    x->status = next_mark(&x->slots, slot, &is);
    if (!x->status && is) x->status = hd_snapshot_get_bytes(x->keys, key, sizeof *key);
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
static hd_status learn(const filling *to, hd_snapshot_file *f)
{
    static const int section[2] = { HD_SECTION_SLOT, HD_SECTION_KEYS };
    hd_snapshot_reader column[2];
    key_source x = { { &column[0], 0, 0, 0 }, &column[1], HD_OK };
    const hd_keys keys = { next_key, &x };
    hd_status status = HD_OK;
    int open = 0;
    for (; open < 2 && !status; open++) {
        status = hd_snapshot_reader_open(f, hd_snapshot_section_start(&f->h, section[open]), &column[open]);
        if (!status) status = hd_section_enter(&column[open], section[open]);
    }
    if (!status) {
        hd_status learned = to->backend->learn(to->state, to->seams, &keys);
        status = x.status ? x.status : learned;
    }
    while (open > 0) hd_snapshot_reader_close(&column[--open]);
    return status;
}

/* ---- Into a table of another shape ----------------------------------------------------------- */

/* How many slots the file marks. */
static hd_status count_marks(hd_snapshot_reader *slots, uint64_t *marks)
{
    const uint8_t *p;
    size_t n;
    *marks = 0;
    for (uint64_t left = hd_snapshot_section_bytes(&slots->file->h, HD_SECTION_SLOT); left; left -= n) {
        hd_status status = hd_snapshot_get_some(slots, left, &p, &n);
        if (status) return status;
        for (size_t i = 0; i < n; i++) *marks += (unsigned)__builtin_popcount(p[i]);
    }
    return HD_OK;
}

/* The next n entries, into the rows of a batch. */
static hd_status get_rows(hd_snapshot_reader *column, hd_reinsert *x, uint64_t n, bool *ahead)
{
    const hd_snapshot_header *h = &column->file->h;
    hd_status status = hd_snapshot_get_bytes(&column[HD_SECTION_KEYS], x->key, n * sizeof *x->key);
    if (!status) status = hd_snapshot_get_bytes(&column[HD_SECTION_SCOR], x->score, n * sizeof *x->score);
    if (!status) status = hd_snapshot_get_bytes(&column[HD_SECTION_VALS], x->value, n * h->value_bytes);
    for (uint64_t i = 0; i < n && !status; i++) {
        *ahead = *ahead || x->score[i] >= h->clock;
        if (x->score[i] && x->design->policy)
            status = hd_fail(HD_ECORRUPT, "%s: key %" PRIu64 " has a score; design %s keeps none", x->from, x->key[i],
                             h->design);
    }
    return status;
}

static hd_status insert_rows(hd_snapshot_reader *column, hd_reinsert *x, bool *ahead)
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
    if (!to->design->ref->resize) return HD_OK;
    return to->backend->resize(to->state, to->seams, wanted > to->info->buckets ? wanted : to->info->buckets, to->info);
}

static hd_status insert_from(const filling *to, hd_snapshot_reader *column)
{
    const hd_snapshot_header *h = &column->file->h;
    hd_reinsert x;
    uint64_t marks = 0;
    hd_status status = count_marks(&column[HD_SECTION_SLOT], &marks);
    if (!status && marks != h->size) status = fail_slots(column->file);
    if (!status) status = make_room(to, h->size);
    if (!status)
        status =
            hd_reinsert_open(&x, to->design, to->backend, to->seams, to->state, to->info, column->file->path, h->size);
    if (status) return status;
    status = insert_rows(column, &x, to->ahead);
    *to->dropped = h->size - x.inserted;
    hd_status closed = hd_reinsert_close(&x);
    return status ? status : closed;
}

/* ---- The state of a table, from a file ------------------------------------------------------- */

/* The columns are read side by side, each by a reader of its own. */
static hd_status fill_columns(const filling *to, hd_snapshot_file *f)
{
    hd_snapshot_reader column[HD_SECTION_COUNT];
    int open = 0;
    hd_status status = to->as_saved && learns(to->design, to->info) ? learn(to, f) : HD_OK;
    for (; open < HD_SECTION_COUNT && !status; open++) {
        status = hd_snapshot_reader_open(f, hd_snapshot_section_start(&f->h, open), &column[open]);
        if (!status) status = hd_section_enter(&column[open], open);
    }
    if (!status) status = to->as_saved ? put_from(to, column) : insert_from(to, column);
    for (int i = 0; i < HD_SECTION_COUNT && !status; i++) status = hd_section_leave(&column[i], i);
    if (!status && to->as_saved) status = to->backend->check(to->state);
    while (open > 0) hd_snapshot_reader_close(&column[--open]);
    return status;
}

/* What is damaged in a file that could not be loaded: a checksum tells it better than an entry that makes no sense. */
static hd_status fill(const filling *to, hd_snapshot_file *f)
{
    hd_status status = fill_columns(to, f);
    if (status != HD_ECORRUPT) return status;
    char why[512];
    snprintf(why, sizeof why, "%s", hd_why());
    hd_status verified = hd_snapshot_verify(f);
    return verified ? verified : hd_fail(status, "%s", why);
}

/* A state of the file's shape takes the entries where they were. */
static hd_status fill_as_saved(const filling *to, hd_snapshot_file *f)
{
    hd_status status = hd_walk(to->backend, to->state, HD_WALK_FILL);
    if (status) return status;
    status = fill(to, f);
    hd_status walked = hd_walked(to->backend, to->state, !status);
    if (!status) status = walked;
    /* which moves nothing */
    if (!status && to->design->ref->resize)
        status = to->backend->resize(to->state, to->seams, to->info->buckets, to->info);
    return status;
}

/* Of a design that resizes the number of buckets is no part of the shape. */
static bool same_shape(const hd_design *d, const hd_info *a, const hd_info *b)
{
    const hd_params *own = d->params;
    bool same = (d->ref->resize || a->buckets == b->buckets) && a->slots == b->slots && a->seed == b->seed;
    for (size_t k = 0; own && k < own->count && same; k++)
        same =
            !own->row[k].places || hd_param_same(&own->row[k], hd_params_of_table(own, a), hd_params_of_table(own, b));
    return same;
}

static hd_status open_and_fill(filling *to, hd_snapshot_file *f)
{
    hd_status status = to->backend->open(to->design, to->info, to->seams, &to->state);
    if (status) return status;
    status = to->as_saved ? fill_as_saved(to, f) : fill(to, f);
    if (status) to->backend->close(to->state, to->seams);
    return status;
}

/* A table that evicts nothing and does not grow in place takes all entries, too: a state that proves too small is given
 * up for one of twice its buckets. */
static hd_status open_larger_and_fill(filling *to, hd_snapshot_file *f)
{
    hd_status status = HD_OK;
    while (!status && to->info->places < f->h.size)
        status = hd_larger_shape(to->design, to->backend, 2 * to->info->buckets, to->info);
    if (!status) status = open_and_fill(to, f);
    while (!status && *to->dropped) {
        to->backend->close(to->state, to->seams);
        status = hd_larger_shape(to->design, to->backend, 2 * to->info->buckets, to->info);
        if (!status) status = open_and_fill(to, f);
    }
    return status;
}

/* A new state with the file's entries, of its shape if that is the table's, or else of the table's. *info: what the
 * table is from now on. */
static hd_status load_state(hd_table *t, hd_snapshot_file *f, void **state, hd_info *info, uint64_t *dropped,
                            bool *ahead)
{
    const hd_design *d = t->design;
    hd_info shape = *info = t->info;
    hd_status status = hd_snapshot_shape(d, t->backend, f->path, &f->h, &shape);
    if (status) return status;
    filling to = { d, t->backend, &t->seams, NULL, info, same_shape(d, &shape, &t->info), ahead, dropped };
    if (to.as_saved) {
        to.info = &shape;
        status = hd_snapshot_fits(d, t->backend, &f->h, &t->info, &shape);
        if (status) return status;
    }
    bool grows_anew = !to.as_saved && d->policy && !d->ref->resize;
    status = grows_anew ? open_larger_and_fill(&to, f) : open_and_fill(&to, f);
    if (status) return status;
    if (to.as_saved && d->ref->resize) *info = shape;
    *state = to.state;
    return HD_OK;
}

/* Whether the file's clock is the table's. Older files do not tell when a table by the device's clock was opened. */
static bool is_of_clock(const hd_table *t, const hd_snapshot_header *h)
{
    bool by_device = t->info.clock == HD_CLOCK_DEVICE;
    return by_device == !!(h->flags & HD_SNAPSHOT_DEVICE_CLOCK) && (h->clock || !by_device);
}

static hd_status load_file(hd_table *t, hd_snapshot_file *f, uint64_t *dropped)
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
    hd_status status = hd_snapshot_verify_first(f, 1);
    if (!status) status = load_state(t, f, &state, &info, dropped, &ahead);
    if (status) return status;
    if ((status = hd_late_tally(t))) return t->backend->close(state, &t->seams), status;
    t->backend->close(t->state, &t->seams);
    t->state = state;
    hd_table_become(t, &info);
    t->scores_ahead = ahead || !is_of_clock(t, h);
    if (is_of_clock(t, h)) atomic_store(&t->clock, h->clock);
    atomic_store(&t->epoch, h->epoch);
    atomic_store(&t->entries, h->size - *dropped);
    return HD_OK;
}

hd_status hd_snapshot_load_into(hd_table *t, hd_snapshot_file *f, uint64_t *dropped)
{
    uint64_t lost = 0;
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_status status = hd_store_may_change(t);
    if (!status && !(status = load_file(t, f, &lost))) status = hd_store_changed(t, HD_OK);
    t->lock->leave(t->lock_state, HD_INSERTER);
    if (!status && dropped) *dropped = lost;
    return status;
}

hd_status hd_load(hd_table *t, const char *path, uint64_t *dropped)
{
    if (!t || !path) return hd_fail(HD_EINVAL, "%s: NULL", t ? "path" : "table");
    hd_snapshot_file f;
    hd_status status = hd_snapshot_open_file(&t->seams, path, &f);
    if (!status) status = hd_snapshot_load_into(t, &f, dropped);
    hd_snapshot_close_file(&f);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * staging.c - see staging.h.
 */
#include "lib/staging.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/ask.h"
#include "base/op.h"
#include "base/team.h"
#include "lib/device_memory.h"

/* A piece takes two slots, one for what goes in and one for what comes out: so two pieces are under way. */
enum { ALIGN = 256, PIECES_AT_A_TIME = HD_STAGING_SLOTS / 2 };

const hd_staging_sizes hd_staging_usual = { 4 << 20, 64 << 10 };

#define ASK(h, what, call, ...) HD_ASK((h)->seams->device, what, call, __VA_ARGS__)

/* ---- Copies by several threads --------------------------------------------------------------- */

/* A thread copies at most about 10 GB/s; eight fill the bus. */
static uint32_t copy_threads(uint64_t bytes)
{
    enum { MOST = 8, BYTES_EACH = 128 << 10 };
    uint64_t n = bytes / BYTES_EACH;
    if (n <= 1) return 1;
    uint64_t most = hd_team_usual();
    if (n > most) n = most;
    return n > MOST ? MOST : (uint32_t)n;
}

/* A copy is as much work as an item for each KiB. */
static uint64_t copy_items(uint64_t bytes) { return bytes >> 10; }

typedef struct copying {
    uint8_t *to;
    const uint8_t *from;
    uint64_t bytes;
} copying;

static void copy_share(hd_team *m, uint32_t t, uint32_t many, void *context)
{
    copying *c = (copying *)context;
    (void)m;
    uint64_t each = (c->bytes / many + ALIGN - 1) / ALIGN * ALIGN, at = each * t;
    uint64_t n = at < c->bytes ? c->bytes - at : 0;
    memcpy(c->to + at, c->from + at, (size_t)(n < each ? n : each));
}

static void copy_bytes(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
    copying c = { to, from, bytes };
    hd_team_run(copy_threads(bytes), copy_items(bytes), copy_share, &c);
}

/* ---- A block: the arrays of a batch one after another ---------------------------------------- */

typedef struct block {
    hd_array array[HD_ARRAYS_MOST]; /* p: the caller's rows; NULL: only this file wants them */
    uint64_t at[HD_ARRAYS_MOST];    /* in the block. Inputs come first */
    hd_reach reach[HD_ARRAYS_MOST];
    int arrays;
    uint64_t in_bytes, bytes; /* of the inputs, which end at a multiple of ALIGN; of all */
} block;

static uint64_t aligned(uint64_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

/* Rows that an array has in a block of n items. */
static uint64_t rows_of(const hd_array *a, uint64_t n) { return a->flow == HD_FLOW_COUNT ? 1 : n; }

/* Places the arrays of n items. False: they take more bytes than can be addressed. */
static bool place_arrays(block *k, uint64_t n)
{
    k->bytes = 0;
    for (int in = 1; in >= 0; in--) {
        for (int i = 0; i < k->arrays; i++) {
            uint64_t rows = rows_of(&k->array[i], n), row = k->array[i].row;
            if (hd_array_is_out(&k->array[i]) == (in == 1)) continue;
            if (rows > ((uint64_t)PTRDIFF_MAX - k->bytes - ALIGN) / row) return false;
            k->at[i] = k->bytes;
            k->bytes += aligned(rows * row);
        }
        if (in) k->in_bytes = k->bytes;
    }
    HD_ASSERT(k->in_bytes <= k->bytes && k->in_bytes % ALIGN == 0 && k->bytes % ALIGN == 0);
    return true;
}

/* The batch with those arrays that the block has in `memory`. */
static hd_batch batch_in(const block *k, const hd_batch *b, uint8_t *memory)
{
    hd_batch there = *b;
    for (int i = 0; i < k->arrays; i++) hd_field_set(&there, k->array[i].field, memory + k->at[i]);
    return there;
}

static int field_at(const block *k, size_t field)
{
    int i = 0;
    while (i < k->arrays && k->array[i].field != field) i++;
    return i;
}

static bool has_flow(const block *k, hd_flow flow)
{
    bool has = false;
    for (int i = 0; i < k->arrays; i++) has = has || k->array[i].flow == flow;
    return has;
}

/* ---- The ring and the room ------------------------------------------------------------------- */

static uint8_t *slot_at(const hd_staging *h, uint32_t slot) { return h->ring + slot * h->sizes.slot_bytes; }

static hd_status take_ring(hd_staging *h)
{
    void *p = NULL;
    uint64_t bytes = hd_staging_bytes(&h->sizes);
    if (h->ring) return HD_OK;
    int code = hd_device_take_pinned(h->seams, &p, (size_t)bytes);
    if (code == HD_DEVICE_NO_MEMORY)
        return hd_fail(HD_ENOMEM, "batch: its arrays: %" PRIu64 " bytes of host memory cannot be pinned", bytes);
    h->ring = (uint8_t *)p;
    return HD_TOLD(h->seams->device, code, "take_pinned", "batch: its arrays");
}

static hd_status take_room(hd_staging *h, uint64_t bytes)
{
    void *p = NULL;
    if (bytes <= h->room_bytes) return HD_OK;
    if (h->room) hd_device_give(h->seams, h->room);
    h->room = NULL;
    h->room_bytes = 0;
    int code = hd_device_take(h->seams, &p, (size_t)bytes);
    if (code == HD_DEVICE_NO_MEMORY)
        return hd_fail(HD_ENOMEM, "batch: its arrays: %s has no memory for %" PRIu64 " bytes", h->device, bytes);
    h->room = (uint8_t *)p;
    if (!code) h->room_bytes = bytes;
    return HD_TOLD(h->seams->device, code, "take", "batch: its arrays");
}

static hd_status record(hd_staging *h, uint32_t slot, void *stream)
{
    return ASK(h, "batch: its arrays", event_record, &h->event[slot], stream, 0);
}

static hd_status await(hd_staging *h, uint32_t slot) { return ASK(h, "batch: its arrays", event_sync, h->event[slot]); }

static hd_status copy(hd_staging *h, void *to, const void *from, uint64_t bytes, hd_way way, void *stream)
{
    return bytes ? ASK(h, "batch: its arrays", copy, to, from, (size_t)bytes, way, stream) : HD_OK;
}

/* ---- Direct, and whole ----------------------------------------------------------------------- */

/* All rows come in, also those of outputs: what no item writes stays what it was. */
static hd_status run_direct(hd_staging *h, const block *k, const hd_batch *b, hd_put_batch *put, void *self)
{
    uint8_t *slot = slot_at(h, 0);
    const hd_batch there = batch_in(k, b, slot);
    HD_ASSERT(k->bytes <= h->sizes.slot_bytes, "a batch runs in a slot that has no room for it");
    for (int i = 0; i < k->arrays; i++) memcpy(slot + k->at[i], k->array[i].p, (size_t)k->array[i].bytes);
    hd_status status = put(self, &there, 0);
    if (!status) status = ASK(h, "batch", wait, b->stream);
    for (int i = 0; i < k->arrays && !status; i++)
        if (hd_array_is_out(&k->array[i])) memcpy(k->array[i].p, slot + k->at[i], (size_t)k->array[i].bytes);
    return status;
}

/* Part of an array on its way through a slot. */
typedef struct part {
    uint8_t *to;
    uint64_t bytes;
} part;

/* The part in the slot has arrived: the caller gets it. */
static hd_status hand_over(hd_staging *h, uint32_t slot, part *p)
{
    if (!p->bytes) return HD_OK;
    HD_ASSERT(p->bytes <= h->sizes.slot_bytes);
    hd_status status = await(h, slot);
    if (!status) copy_bytes(p->to, slot_at(h, slot), p->bytes);
    p->bytes = 0;
    return status;
}

/* Copies all arrays to the room. Slots that hold a part of the array before are awaited when they are used again. */
static hd_status bring(hd_staging *h, const block *k, void *stream)
{
    bool used[HD_STAGING_SLOTS] = { false };
    hd_status status = HD_OK;
    uint32_t slot = 0;
    for (int i = 0; i < k->arrays; i++)
        for (uint64_t at = 0, n; at < k->array[i].bytes && !status; at += n, slot = (slot + 1) % HD_STAGING_SLOTS) {
            n = k->array[i].bytes - at;
            if (n > h->sizes.slot_bytes) n = h->sizes.slot_bytes;
            if (used[slot]) status = await(h, slot);
            if (!status) copy_bytes(slot_at(h, slot), (const uint8_t *)k->array[i].p + at, n);
            if (!status) status = copy(h, h->room + k->at[i] + at, slot_at(h, slot), n, HD_TO_DEVICE, stream);
            if (!status) status = record(h, slot, stream);
            used[slot] = true;
        }
    return status;
}

/* Copies the outputs back. */
static hd_status bring_back(hd_staging *h, const block *k, void *stream)
{
    part under_way[HD_STAGING_SLOTS];
    hd_status status = HD_OK;
    uint32_t slot = 0;
    memset(under_way, 0, sizeof under_way);
    for (int i = 0; i < k->arrays; i++)
        for (uint64_t at = 0, n; hd_array_is_out(&k->array[i]) && at < k->array[i].bytes && !status;
             at += n, slot = (slot + 1) % HD_STAGING_SLOTS) {
            n = k->array[i].bytes - at;
            if (n > h->sizes.slot_bytes) n = h->sizes.slot_bytes;
            status = hand_over(h, slot, &under_way[slot]);
            if (!status) status = copy(h, slot_at(h, slot), h->room + k->at[i] + at, n, HD_FROM_DEVICE, stream);
            if (!status) status = record(h, slot, stream);
            under_way[slot] = (part){ (uint8_t *)k->array[i].p + at, status ? 0 : n };
        }
    for (uint32_t n = 0; n < HD_STAGING_SLOTS && !status; n++, slot = (slot + 1) % HD_STAGING_SLOTS)
        status = hand_over(h, slot, &under_way[slot]);
    return status;
}

static hd_status run_whole(hd_staging *h, const block *k, const hd_batch *b, hd_put_batch *put, void *self)
{
    hd_status status = take_room(h, k->bytes);
    if (status) return status;
    const hd_batch there = batch_in(k, b, h->room);
    if (!hd_op_adds_up(hd_row_of_batch(b))) status = bring(h, k, b->stream);
    if (!status) status = put(self, &there, 0);
    return status ? status : bring_back(h, k, b->stream);
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

typedef struct pieces {
    hd_staging *h;
    const hd_batch *b;
    uint32_t value_bytes;
    block k;
    uint64_t each;            /* items of a piece, at most */
    uint64_t listed;          /* rows of lists so far */
    int outcome, count, rows; /* in the block; k.arrays or more: there is none */
    hd_put_batch *put;
    void *self;
} pieces;

/* Whether the batch writes the array, or reads it. */
static bool is_used(const hd_batch *b, const hd_array *a)
{
    if (a->flow == HD_FLOW_SOME) return b->each ? a->gives != HD_GIVES_PTR : hd_op_does(b->op, a->gives);
    if (a->flow == HD_FLOW_LIST || a->flow == HD_FLOW_COUNT) return !b->each && hd_op_does(b->op, a->gives);
    return true;
}

/* Adds the array at `field` if the block lacks it: this file reads it. The caller may have it, where kernels reach. */
static int add_array(block *k, const hd_array *all, const hd_reach *reach, int used, const hd_array *wanted)
{
    int i = field_at(k, wanted->field);
    if (i < k->arrays) return i;
    HD_ASSERT(k->arrays < HD_ARRAYS_MOST, "a batch has more arrays than there are");
    k->array[i] = *wanted;
    k->reach[i] = HD_REACH_NONE;
    k->arrays++;
    for (int j = 0; j < used; j++)
        if (all[j].field == wanted->field) k->array[i].p = all[j].p, k->reach[i] = reach[j];
    return i;
}

/* The arrays of pieces: those out of reach that the batch uses; outcomes, which say what rows of outputs were written;
 * and where items have several rows, how many; and the count of rows of lists. Other arrays out of reach are NULL in
 * *b. */
static void choose_arrays(pieces *s, hd_batch *b, const hd_array *all, const hd_reach *reach, int used)
{
    const hd_array outcome = { "outcome", offsetof(hd_batch, outcome), NULL, 0, 1, HD_FLOW_EACH, 0 },
                   rows = { "rows", offsetof(hd_batch, rows), NULL, 0, 4, HD_FLOW_EACH, HD_GIVES_ROWS },
                   count = { "count", offsetof(hd_batch, count), NULL, 0, 8, HD_FLOW_COUNT, HD_LISTS };
    block *k = &s->k;
    k->arrays = 0;
    for (int i = 0; i < used; i++) {
        if (reach[i] != HD_REACH_NONE) continue;
        if (is_used(b, &all[i]))
            add_array(k, all, reach, used, &all[i]);
        else
            hd_field_set(b, all[i].field, NULL);
    }
    s->outcome = has_flow(k, HD_FLOW_SOME) ? add_array(k, all, reach, used, &outcome) : HD_ARRAYS_MOST;
    bool several = !b->each && hd_op_does(b->op, HD_GIVES_ROWS) && has_flow(k, HD_FLOW_SOME);
    s->rows = several ? add_array(k, all, reach, used, &rows) : HD_ARRAYS_MOST;
    s->count = has_flow(k, HD_FLOW_LIST) || has_flow(k, HD_FLOW_COUNT) ? add_array(k, all, reach, used, &count)
                                                                       : HD_ARRAYS_MOST;
}

/* The most items of which inputs and outputs fit into a slot each. */
static uint64_t items_of_piece(block *k, uint64_t n, uint64_t slot_bytes)
{
    uint64_t least = 0; /* fits */
    for (uint64_t step = 1ull << 40; step; step /= 2) {
        uint64_t items = least + step;
        if (items > n || !place_arrays(k, items)) continue;
        if (k->in_bytes <= slot_bytes && k->bytes - k->in_bytes <= slot_bytes) least = items;
    }
    return least;
}

static void gather(const pieces *s, uint8_t *slot, uint64_t first, uint64_t n)
{
    for (int i = 0; i < s->k.arrays; i++) {
        const hd_array *a = &s->k.array[i];
        if (!hd_array_is_out(a)) copy_bytes(slot + s->k.at[i], (const uint8_t *)a->p + first * a->row, n * a->row);
    }
}

/* Copies rows [from, to) of a piece, where item `first` is row 0: those that their items have written. */
static void copy_written(const pieces *s, const hd_array *a, const uint8_t *rows, const uint8_t *outcome,
                         uint64_t first, uint64_t from, uint64_t to)
{
    for (uint64_t i = from, end; i < to; i = end) {
        for (end = i; end < to; end++) {
            hd_op op = s->b->each ? (hd_op)s->b->each[first + end] : s->b->op;
            if (!hd_op_writes_row(op, a->gives, (hd_outcome)outcome[end])) break;
        }
        if (end > i)
            memcpy((uint8_t *)a->p + (first + i) * a->row, rows + i * a->row, (size_t)((end - i) * a->row));
        else
            end++;
    }
}

/* The same where an item has `limit` rows: the first ones, of which the item says how many. */
static void copy_rows(const pieces *s, const hd_array *a, const uint8_t *rows, const uint32_t *written, uint64_t first,
                      uint64_t from, uint64_t to)
{
    uint64_t bytes = a->row / s->b->limit;
    for (uint64_t i = from; i < to; i++)
        HD_ASSERT(written[i] <= s->b->limit, "an item has more rows than were asked for");
    for (uint64_t i = from; i < to; i++)
        memcpy((uint8_t *)a->p + (first + i) * a->row, rows + i * a->row, (size_t)(written[i] * bytes));
}

/* Where an output is behind the inputs. */
static uint64_t out_at(const block *k, int array)
{
    HD_ASSERT(k->at[array] >= k->in_bytes && k->at[array] < k->bytes, "an array is no output");
    return k->at[array] - k->in_bytes;
}

/* Rows of a piece: slot has its outputs. */
typedef struct scattering {
    const pieces *s;
    const hd_array *a;
    const uint8_t *rows, *slot;
    uint64_t first, n;
} scattering;

static void scatter_share(hd_team *m, uint32_t t, uint32_t many, void *context)
{
    const scattering *c = (const scattering *)context;
    const pieces *s = c->s;
    uint64_t from = hd_team_share(c->n, t, many), to = hd_team_share(c->n, t + 1, many);
    (void)m;
    if (s->rows < s->k.arrays) {
        const uint8_t *written = c->slot + out_at(&s->k, s->rows);
        copy_rows(s, c->a, c->rows, (const uint32_t *)(const void *)written, c->first, from, to);
    } else {
        copy_written(s, c->a, c->rows, c->slot + out_at(&s->k, s->outcome), c->first, from, to);
    }
}

static void scatter_written(const pieces *s, const hd_array *a, const uint8_t *rows, const uint8_t *slot,
                            uint64_t first, uint64_t n)
{
    scattering c = { s, a, rows, slot, first, n };
    hd_team_run(copy_threads(n * a->row), copy_items(n * a->row), scatter_share, &c);
}

/* Appends the piece's rows of a list; item numbers are those of the batch. */
static void append(const pieces *s, const hd_array *a, const uint8_t *rows, uint64_t count, uint64_t first)
{
    uint8_t *to = (uint8_t *)a->p + s->listed * a->row;
    copy_bytes(to, rows, count * a->row);
    bool numbers = a->field == offsetof(hd_batch, list_item) && hd_op_is_keyed(hd_row_of_batch(s->b));
    for (uint64_t i = 0; numbers && i < count; i++) {
        uint64_t item;
        memcpy(&item, to + 8 * i, 8);
        item += first;
        memcpy(to + 8 * i, &item, 8);
    }
}

/* Gives the caller the outputs of a piece: slot has what is behind the inputs in the block. */
static void scatter(pieces *s, const uint8_t *slot, uint64_t first, uint64_t n)
{
    const block *k = &s->k;
    uint64_t count = 0;
    if (s->count < k->arrays) memcpy(&count, slot + out_at(k, s->count), sizeof count);
    HD_ASSERT(count <= n && s->listed + count <= s->b->n, "a piece lists more rows than it has items");
    for (int i = 0; i < k->arrays; i++) {
        const hd_array *a = &k->array[i];
        if (!hd_array_is_out(a) || !a->p || k->reach[i] == HD_REACH_DEVICE) continue;
        const uint8_t *rows = slot + out_at(k, i);
        if (a->flow == HD_FLOW_EACH) copy_bytes((uint8_t *)a->p + first * a->row, rows, n * a->row);
        if (a->flow == HD_FLOW_SOME) scatter_written(s, a, rows, slot, first, n);
        if (a->flow == HD_FLOW_LIST) append(s, a, rows, count, first);
    }
    s->listed += count;
}

/* The piece [first, first + n) is put on the stream: inputs, kernels, outputs. */
static hd_status put_piece(pieces *s, uint32_t turn, uint64_t first, uint64_t n)
{
    hd_staging *h = s->h;
    const block *k = &s->k;
    uint8_t *in = slot_at(h, 2 * turn), *out = slot_at(h, 2 * turn + 1);
    const hd_batch cut = hd_batch_cut(s->b, s->value_bytes, first, n);
    hd_batch there = batch_in(k, &cut, h->room);
    void *stream = s->b->stream;
    HD_ASSERT(n > 0 && n <= s->each && first + n <= s->b->n, "a piece is within its batch");
    HD_ASSERT(k->in_bytes <= h->sizes.slot_bytes && k->bytes - k->in_bytes <= h->sizes.slot_bytes, "it fits a slot");
    if (!hd_op_is_keyed(hd_row_of_batch(s->b))) there.start += first;
    gather(s, in, first, n);
    hd_status status = copy(h, h->room, in, k->in_bytes, HD_TO_DEVICE, stream);
    if (!status) status = s->put(s->self, &there, first);
    if (!status) status = copy(h, out, h->room + k->in_bytes, k->bytes - k->in_bytes, HD_FROM_DEVICE, stream);
    for (int i = 0; i < k->arrays && !status; i++)
        if (k->reach[i] == HD_REACH_DEVICE)
            status = copy(h, (uint8_t *)k->array[i].p + first * k->array[i].row, h->room + k->at[i],
                          n * k->array[i].row, HD_WITHIN_DEVICE, stream);
    return status ? status : record(h, 2 * turn, stream);
}

static uint64_t piece_items(const pieces *s, uint64_t piece)
{
    uint64_t left = s->b->n - piece * s->each;
    return left < s->each ? left : s->each;
}

/* Two pieces are under way: piece p is copied out before piece p + 2 is copied in. */
static hd_status run_pieces(pieces *s)
{
    hd_status status = take_room(s->h, s->k.bytes);
    uint64_t all = (s->b->n + s->each - 1) / s->each;
    for (uint64_t p = 0; p < all + PIECES_AT_A_TIME && !status; p++) {
        uint32_t turn = (uint32_t)(p % PIECES_AT_A_TIME);
        if (p >= PIECES_AT_A_TIME) {
            uint64_t done = p - PIECES_AT_A_TIME;
            status = await(s->h, 2 * turn);
            if (!status) scatter(s, slot_at(s->h, 2 * turn + 1), done * s->each, piece_items(s, done));
        }
        if (!status && p < all) status = put_piece(s, turn, p * s->each, piece_items(s, p));
    }
    if (!status && s->count < s->k.arrays && s->k.array[s->count].p) memcpy(s->k.array[s->count].p, &s->listed, 8);
    return status;
}

/* Whether the batch may run in pieces. */
static bool is_cuttable(const hd_batch *b, const hd_array *all, const hd_reach *reach, int used)
{
    const hd_op_row *row = hd_row_of_batch(b);
    if (!hd_op_is_keyed(row) && row->family != HD_FAMILY_EXPORT) return false;
    if (row->family == HD_FAMILY_UPSERT && (row->needs & HD_GIVES_PTR)) return false;
    for (int i = 0; i < used; i++) {
        bool listed = (all[i].flow == HD_FLOW_LIST || all[i].flow == HD_FLOW_COUNT) && is_used(b, &all[i]);
        if (listed && reach[i] != HD_REACH_NONE) return false;
        if (all[i].field == offsetof(hd_batch, each) && reach[i] == HD_REACH_DEVICE) return false;
    }
    return true;
}

/* ---- A batch --------------------------------------------------------------------------------- */

void hd_staging_open(hd_staging *h, const hd_seams *seams, const char *device)
{
    memset(h, 0, sizeof *h);
    h->seams = seams;
    h->device = device;
    h->sizes = hd_staging_usual;
    pthread_mutex_init(&h->mutex, NULL);
}

void hd_staging_close(hd_staging *h)
{
    const hd_device_seam *d = h->seams->device;
    if (h->room) hd_device_give(h->seams, h->room);
    if (h->ring) hd_device_give_pinned(h->seams, h->ring, (size_t)hd_staging_bytes(&h->sizes));
    for (int i = 0; i < HD_STAGING_SLOTS; i++)
        if (h->event[i]) d->event_destroy(d->self, h->event[i]);
    pthread_mutex_destroy(&h->mutex);
}

static void keep_out_of_reach(block *k, const hd_array *all, const hd_reach *reach, int used)
{
    k->arrays = 0;
    for (int i = 0; i < used; i++) {
        if (reach[i] != HD_REACH_NONE) continue;
        k->reach[k->arrays] = HD_REACH_NONE;
        k->array[k->arrays++] = all[i];
    }
}

static hd_status run(hd_staging *h, const hd_batch *b, uint32_t value_bytes, const hd_array *all, const hd_reach *reach,
                     int used, bool uncut, hd_put_batch *put, void *self)
{
    block k;
    keep_out_of_reach(&k, all, reach, used);
    if (!place_arrays(&k, b->n))
        return hd_fail(HD_ENOMEM, "batch: its arrays: %" PRIu64 " items are more than can be addressed", b->n);
    hd_status status = take_ring(h);
    /* The stream may have work that still writes an array. */
    if (!status) status = ASK(h, "batch: its stream", wait, b->stream);
    if (status) return status;
    if (k.bytes <= h->sizes.direct_bytes && !hd_op_adds_up(hd_row_of_batch(b))) return run_direct(h, &k, b, put, self);
    if (!uncut && is_cuttable(b, all, reach, used)) {
        hd_batch cut = *b;
        pieces s = { .h = h, .b = &cut, .value_bytes = value_bytes, .put = put, .self = self };
        choose_arrays(&s, &cut, all, reach, used);
        s.each = items_of_piece(&s.k, b->n, h->sizes.slot_bytes);
        if (s.each && place_arrays(&s.k, s.each)) return run_pieces(&s);
    }
    return run_whole(h, &k, b, put, self);
}

hd_status hd_staging_run(hd_staging *h, const hd_batch *b, uint32_t value_bytes, const hd_array *all,
                         const hd_reach *reach, int used, bool uncut, hd_put_batch *put, void *self)
{
    pthread_mutex_lock(&h->mutex);
    hd_status status = run(h, b, value_bytes, all, reach, used, uncut, put, self);
    /* After a failure, too: no copy in flight may arrive after its memory has another owner. */
    if (status) h->seams->device->wait(h->seams->device->self, b->stream);
    pthread_mutex_unlock(&h->mutex);
    return status;
}

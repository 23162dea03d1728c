/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_grow.c - growth of tables whose design has kernels for it (hd_gpu.grow). Nothing is copied through this machine.
 *
 * In place, if the table's planes are memory that can grow: each gets more memory after its end, and one launch
 * moves the entries. The peak is the new table, and the room that batches use. All memory is taken before anything
 * moves, so a growth that is refused memory changes nothing. Nor does one whose launch the device refuses.
 *
 * Anew otherwise: a new table is opened, one launch moves the entries into it, and the old one is closed. The peak is
 * both tables.
 */
#include <inttypes.h>
#include <string.h>

#include "lib/cuda_state.h"

/* ---- What a design grows with ---------------------------------------------------------------- */

static hd_status take_piece(void *self, const hd_memory *piece)
{
    hd_cuda *c = ((hd_cuda_stream *)self)->c;
    if (piece->put == HD_HOST_MEMORY) return hd_cuda_take_pinned(c, piece);
    hd_status status = hd_cuda_take_piece(c, piece);
    return status ? status : hd_cuda_fill_piece(c, piece);
}

static void give_piece(void *self, const hd_memory *piece)
{
    hd_cuda *c = ((hd_cuda_stream *)self)->c;
    if (piece->put != HD_HOST_MEMORY) return hd_cuda_give_piece(c, piece);
    hd_cuda_give_pinned(c, hd_field(c->state, piece->field), hd_memory_size(piece));
    hd_field_set(c->state, piece->field, NULL);
}

static hd_status read_back(void *self, void *here, const void *there, size_t bytes)
{
    const hd_cuda_stream *o = (const hd_cuda_stream *)self;
    hd_status status = HD_CUDA_ASK(o->c, o->what, copy, here, there, bytes, HD_FROM_DEVICE, o->stream);
    return hd_cuda_wait_anyway(o->c, o->what, status, o->stream);
}

hd_gpu_machine hd_cuda_machine(hd_cuda_stream *o)
{
    const hd_gpu_machine m = { hd_cuda_launcher(o), take_piece, give_piece, read_back, o };
    return m;
}

/* Moves all entries of the state `from` into that of c. tries: how often to ask whether they are there. */
static hd_status move_entries(hd_cuda *c, void *from, int tries)
{
    hd_cuda_stream o = { c, NULL, "growth", NULL };
    const hd_gpu_machine m = hd_cuda_machine(&o);
    uint64_t *word = NULL, moved = 0, buckets = ((const hd_gpu_state *)from)->info.buckets;
    hd_status status = c->gpu->grow(from, c->state, &m, &word);
    if (status) return status;
    do {
        status = m.read(m.self, &moved, word, sizeof moved);
    } while (status && --tries);
    if (!status && moved != buckets) /* only if a kernel is wrong: GCOVR_EXCL_START */
        status = hd_fail(HD_ECUDA, "growth: of %" PRIu64 " buckets the device has moved %" PRIu64, buckets, moved);
    /* GCOVR_EXCL_STOP */
    return status;
}

/* ---- Anew ------------------------------------------------------------------------------------ */

static hd_status grow_anew(const hd_design *d, const hd_seams *s, const hd_info *info, void **state)
{
    hd_cuda *c = (hd_cuda *)*state;
    int before = c->device.number;
    void *fresh;
    hd_status status = hd_cuda_open_bare(d, info, s, &fresh);
    if (status) return status;
    status = hd_cuda_enter(c, &before);
    if (!status) {
        hd_status joined = hd_streams_join(&c->streams);
        status = joined ? joined : move_entries((hd_cuda *)fresh, c->state, 1);
        if (!joined) status = hd_streams_part(&c->streams, status);
        status = hd_cuda_wait_anyway(c, "growth", status, NULL);
    }
    status = hd_cuda_leave(c, before, status);
    hd_cuda_close(status ? fresh : c, s);
    if (!status) *state = fresh;
    return status;
}

/* ---- In place -------------------------------------------------------------------------------- */

/* The pieces of a table before it grows and with the new shape, and where they are. Both lists have the same fields. */
typedef struct larger {
    hd_memory old[HD_MEMORY_MOST], piece[HD_MEMORY_MOST];
    void *was[HD_MEMORY_MOST], *is[HD_MEMORY_MOST];
    int n;
    void *room; /* new, or the old one */
} larger;

static bool is_resized(const larger *l, int i) { return hd_memory_size(&l->old[i]) != hd_memory_size(&l->piece[i]); }

/* Whether any piece of that kind has another size. */
static bool any_resized(const larger *l, hd_put put)
{
    bool any = false;
    for (int i = 0; i < l->n; i++) any = any || (l->piece[i].put == put && is_resized(l, i));
    return any;
}

/* Whether the table can take the new shape where it is: what becomes larger can grow, or keeps nothing from batch to
 * batch, or is in this machine's memory. */
static bool fits_in_place(const larger *l)
{
    bool grows = false;
    for (int i = 0; i < l->n; i++) {
        hd_put put = l->piece[i].put;
        if (l->old[i].put != put || l->old[i].field != l->piece[i].field) return false;
        grows = grows || put == HD_GROWS;
    }
    return grows && !any_resized(l, HD_TOGETHER) && !any_resized(l, HD_APART);
}

/* The state gets the new shape. Fields of pieces still have the old addresses. */
static void describe_larger(hd_cuda *c, const hd_info *info, larger *l)
{
    l->n = hd_gpu_taken(c->gpu, c->state, l->old);
    for (int i = 0; i < l->n; i++) l->is[i] = l->was[i] = hd_field(c->state, l->old[i].field);
    hd_cuda_state(c)->info = *info;
    c->gpu->begin(c->state);
    l->n = hd_gpu_taken(c->gpu, c->state, l->piece);
    for (int i = 0; i < l->n; i++) hd_field_set(c->state, l->piece[i].field, l->was[i]);
}

/* More memory for a plane; what is new is filled, as far as it has to be. */
static hd_status grow_plane(hd_cuda *c, larger *l, int i)
{
    const hd_memory *piece = &l->piece[i];
    uint64_t had = hd_memory_size(&l->old[i]), bytes = hd_memory_size(piece);
    int code = c->seam->grow(c->seam->self, l->was[i], (size_t)bytes, &l->is[i]);
    if (code) l->is[i] = l->was[i];
    if (code == HD_DEVICE_NO_MEMORY)
        return hd_fail(HD_ENOMEM, "%s: %s has no memory for %" PRIu64 " bytes more", piece->what, c->device.name,
                       bytes - had);
    hd_status status = HD_TOLD(c->seam, code, "grow", piece->what);
    hd_field_set(c->state, piece->field, l->is[i]);
    if (status || piece->fill == HD_AS_IT_COMES) return status;
    return HD_CUDA_ASK(c, piece->what, fill, (uint8_t *)l->is[i] + had, piece->fill, (size_t)(bytes - had), NULL);
}

static hd_status take_room(hd_cuda *c, larger *l)
{
    if (!any_resized(l, HD_OF_BATCH)) return HD_OK;
    hd_status status = hd_cuda_take_together(c, l->piece, l->n, HD_OF_BATCH, &l->room);
    for (int i = 0; i < l->n && !status; i++)
        if (l->piece[i].put == HD_OF_BATCH) status = hd_cuda_fill_piece(c, &l->piece[i]);
    return status;
}

static hd_status take_larger(hd_cuda *c, larger *l)
{
    hd_status status = HD_OK;
    for (int i = 0; i < l->n && !status; i++)
        if (l->piece[i].put == HD_GROWS && is_resized(l, i)) status = grow_plane(c, l, i);
    if (!status) status = take_room(c, l);
    for (int i = 0; i < l->n && !status; i++) {
        if (l->piece[i].put != HD_HOST_MEMORY || !is_resized(l, i)) continue;
        status = hd_cuda_take_pinned(c, &l->piece[i]);
        l->is[i] = hd_field(c->state, l->piece[i].field);
    }
    if (!status) c->gpu->taken(c->state);
    return status;
}

/* Gives back one of two: the new memory, or the old. */
static void give_one(hd_cuda *c, const larger *l, bool new_one)
{
    const hd_memory *all = new_one ? l->piece : l->old;
    void *const *at = new_one ? l->is : l->was;
    for (int i = 0; i < l->n; i++) {
        if (l->is[i] == l->was[i] || !at[i]) continue;
        if (all[i].put == HD_GROWS) hd_cuda_give(c, at[i]);
        if (all[i].put == HD_HOST_MEMORY) hd_cuda_give_pinned(c, at[i], hd_memory_size(&all[i]));
    }
    if (l->room != c->room) hd_cuda_give(c, new_one ? l->room : c->room);
}

/* The old state, whose planes are reached by their new addresses: kernels use one address for one memory. */
static void see_old_by_new(const hd_cuda *c, const larger *l, void *state)
{
    for (int i = 0; i < l->n; i++)
        if (l->old[i].put == HD_GROWS && l->is[i] != l->was[i]) hd_field_set(state, l->old[i].field, l->is[i]);
    c->gpu->taken(state);
}

/* was: the state as it was, a copy. */
static hd_status grow_planes(hd_cuda *c, larger *l, void *was)
{
    hd_status status = hd_streams_join(&c->streams), joined = status;
    /* before memory gets other addresses */
    if (!status) status = HD_CUDA_ASK(c, "growth: batches before", wait, NULL);
    if (!status) status = take_larger(c, l);
    if (!status) see_old_by_new(c, l, was);
    if (!status) status = move_entries(c, was, 2);
    /* if that succeeds, the table has grown, whatever fails afterwards: its next call says so */
    hd_status parted = joined ? joined : hd_streams_part(&c->streams, status);
    return status ? parted : HD_OK;
}

static hd_status grow_in_place(hd_cuda *c, larger *l, void *was, void *seen)
{
    size_t bytes = c->gpu->state_bytes;
    int before = c->device.number;
    memcpy(seen, was, bytes);
    l->room = c->room;
    hd_status status = hd_cuda_enter(c, &before);
    if (!status) status = grow_planes(c, l, seen);
    if (status) hd_cuda_wait_anyway(c, "growth", status, NULL);
    give_one(c, l, status != HD_OK);
    if (status)
        memcpy(c->state, was, bytes);
    else
        c->room = l->room;
    return hd_cuda_leave(c, before, status);
}

hd_status hd_cuda_grow(const hd_design *d, const hd_seams *s, const hd_info *info, void **state)
{
    hd_cuda *c = (hd_cuda *)*state;
    larger l;
    void *p;
    size_t bytes = c->gpu->state_bytes;
    hd_status status = hd_take(s, "growth", 2, bytes, &p);
    if (status) return status;
    unsigned char *was = (unsigned char *)memcpy(p, c->state, bytes);
    describe_larger(c, info, &l);
    if (fits_in_place(&l)) {
        status = grow_in_place(c, &l, was, was + bytes);
    } else {
        memcpy(c->state, was, bytes);
        status = grow_anew(d, s, info, state);
    }
    hd_give(s, p, 2, bytes);
    return status;
}

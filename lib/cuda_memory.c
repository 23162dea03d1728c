/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_memory.c - a table's memory on a device: its pieces, and how they are taken, filled and given back.
 */
#include <inttypes.h>
#include <string.h>

#include "lib/cuda_loaded.h"
#include "lib/cuda_state.h"
#include "lib/device_memory.h"

enum {
    BLOCKS_PER_PROCESSOR = 16, /* of 128 threads: as many as run at a time */
    PLACE = 256                /* what a piece of an allocation is aligned to */
};

/* ---- Asking the device ----------------------------------------------------------------------- */

hd_status hd_cuda_enter(const hd_cuda *c, int *before)
{
    return HD_CUDA_ASK(c, "device", use, c->device.number, before);
}

hd_status hd_cuda_leave(const hd_cuda *c, int before, hd_status status)
{
    int table_s;
    if (before == c->device.number) return status;
    int code = c->seam->use(c->seam->self, before, &table_s);
    return status ? status : HD_TOLD(c->seam, code, "use", "device");
}

hd_status hd_cuda_wait_anyway(const hd_cuda *c, const char *what, hd_status status, void *stream)
{
    int code = c->seam->wait(c->seam->self, stream);
    return status ? status : HD_TOLD(c->seam, code, "wait", what);
}

/* ---- Launching ------------------------------------------------------------------------------- */

static hd_status put_launch_of_file(const hd_cuda_stream *o, const hd_cuda_loaded *l, uint32_t kernel, const void *args,
                                    uint64_t blocks, uint32_t threads)
{
    void *each[] = { (void *)(uintptr_t)args };
    if (!l->launch)
        return hd_fail(HD_EINVAL, "%s: kernel %s is of a file, which was not compiled for CUDA", o->what, l->name);
    int code = l->launch(l->variant, kernel - l->first, blocks, threads, each, o->stream);
    return HD_TOLD(o->c->seam, code, "launch", o->what);
}

static hd_status put_launch(void *self, uint32_t kernel, const void *args, size_t args_bytes, uint64_t blocks,
                            uint32_t threads)
{
    const hd_cuda_stream *o = (const hd_cuda_stream *)self;
    const hd_cuda_loaded *of_file = hd_cuda_loaded_with(o->c->gpu, kernel);
    if (of_file) return put_launch_of_file(o, of_file, kernel, args, blocks, threads);
    bool few = blocks <= o->c->device.processors; /* then the time of the launch itself counts */
    hd_launch l = { o->c->gpu, kernel, threads, blocks, args, args_bytes, few ? o->prepared : NULL };
    return HD_CUDA_ASK(o->c, o->what, launch, &l, o->stream);
}

static hd_status put_zero(void *self, void *p, size_t bytes)
{
    const hd_cuda_stream *o = (const hd_cuda_stream *)self;
    return HD_CUDA_ASK(o->c, o->what, fill, p, 0, bytes, o->stream);
}

hd_launcher hd_cuda_launcher(hd_cuda_stream *o)
{
    uint64_t processors = o->c->device.processors;
    hd_launcher l = { put_launch, put_zero, o, processors * BLOCKS_PER_PROCESSOR, processors, 0, false };
    return l;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* What a call of the seam that takes memory says. */
static hd_status told_of_take(const hd_cuda *c, const char *what, uint64_t bytes, int code, const char *call)
{
    if (code == HD_DEVICE_NO_MEMORY)
        return hd_fail(HD_ENOMEM, "%s: %s has no memory for %" PRIu64 " bytes", what, c->device.name, bytes);
    return HD_TOLD(c->seam, code, call, what);
}

hd_status hd_cuda_take(const hd_cuda *c, const char *what, uint64_t bytes, void **p)
{
    *p = NULL;
    return told_of_take(c, what, bytes, hd_device_take(c->seams, p, (size_t)bytes), "take");
}

void hd_cuda_give(const hd_cuda *c, void *p)
{
    if (p) hd_device_give(c->seams, p);
}

uint64_t hd_cuda_placed(uint64_t bytes) { return (bytes + PLACE - 1) / PLACE * PLACE; }

hd_status hd_cuda_place(const char *what, uint64_t count, uint64_t size, uint64_t *bytes)
{
    uint64_t most = (uint64_t)PTRDIFF_MAX / PLACE * PLACE - *bytes;
    if (count > most / size)
        return hd_fail(HD_ENOMEM, "%s: %" PRIu64 " x %" PRIu64 " bytes more are more than can be addressed", what,
                       count, size);
    *bytes += hd_cuda_placed(count * size);
    return HD_OK;
}

/* ---- Pieces of a table ----------------------------------------------------------------------- */

hd_status hd_cuda_take_piece(hd_cuda *c, const hd_memory *piece)
{
    void *p = NULL;
    uint64_t bytes = hd_memory_size(piece);
    if (bytes == 0) return HD_OK;
    hd_status status = piece->put == HD_GROWS
                           ? told_of_take(c, piece->what, bytes,
                                          c->seam->take_growing(c->seam->self, &p, (size_t)bytes), "take_growing")
                           : hd_cuda_take(c, piece->what, bytes, &p);
    hd_field_set(c->state, piece->field, p);
    return status;
}

hd_status hd_cuda_fill_piece(const hd_cuda *c, const hd_memory *piece)
{
    void *p = hd_field(c->state, piece->field);
    if (!p || piece->fill == HD_AS_IT_COMES) return HD_OK;
    return HD_CUDA_ASK(c, piece->what, fill, p, piece->fill, (size_t)hd_memory_size(piece), NULL);
}

/* The field of a piece without bytes may point into another piece. */
void hd_cuda_give_piece(hd_cuda *c, const hd_memory *piece)
{
    if (hd_memory_size(piece) == 0) return;
    hd_cuda_give(c, hd_field(c->state, piece->field));
    hd_field_set(c->state, piece->field, NULL);
}

hd_status hd_cuda_take_together(hd_cuda *c, const hd_memory *all, int n, hd_put put, void **p)
{
    uint64_t bytes = 0;
    const char *what = NULL;
    hd_status status = HD_OK;
    *p = NULL;
    for (int i = 0; i < n && !status; i++) {
        if (all[i].put != put) continue;
        if (!what) what = all[i].what;
        if (all[i].size) status = hd_cuda_place(all[i].what, all[i].count, all[i].size, &bytes);
    }
    if (!status && bytes) status = hd_cuda_take(c, what, bytes, p);
    uint8_t *at = (uint8_t *)*p;
    for (int i = 0; i < n && at; i++) {
        if (all[i].put != put) continue;
        hd_field_set(c->state, all[i].field, hd_memory_size(&all[i]) ? at : NULL);
        at += hd_cuda_placed(hd_memory_size(&all[i]));
    }
    return status;
}

hd_status hd_cuda_take_pinned(hd_cuda *c, const hd_memory *piece)
{
    void *p = NULL;
    if (hd_memory_size(piece) == 0) return HD_OK;
    int code = hd_device_take_pinned(c->seams, &p, (size_t)hd_memory_size(piece));
    if (code == HD_DEVICE_NO_MEMORY)
        return hd_fail(HD_ENOMEM, "%s: %" PRIu64 " bytes of this machine's memory cannot be pinned", piece->what,
                       hd_memory_size(piece));
    hd_field_set(c->state, piece->field, p);
    bool zeros = c->seams->pinned.take && piece->fill == 0;
    if (p && piece->fill != HD_AS_IT_COMES && !zeros) memset(p, piece->fill, (size_t)hd_memory_size(piece));
    return HD_TOLD(c->seam, code, "take_pinned", piece->what);
}

static bool is_apart(const hd_memory *piece) { return piece->put == HD_APART || piece->put == HD_GROWS; }

/* All of them together can be addressed. */
static hd_status check_sizes(const hd_memory *all, int n)
{
    uint64_t bytes = 0;
    hd_status status = HD_OK;
    for (int i = 0; i < n && !status; i++)
        if (all[i].size && all[i].put != HD_HOST_MEMORY)
            status = hd_cuda_place(all[i].what, all[i].count, all[i].size, &bytes);
    return status;
}

hd_status hd_cuda_take_all(hd_cuda *c)
{
    hd_memory all[HD_MEMORY_MOST];
    int n = hd_gpu_taken(c->gpu, c->state, all);
    hd_status status = check_sizes(all, n);
    if (!status) status = hd_cuda_take_together(c, all, n, HD_TOGETHER, &c->together);
    for (int i = 0; i < n && !status; i++)
        if (is_apart(&all[i])) status = hd_cuda_take_piece(c, &all[i]);
    if (!status) status = hd_cuda_take_together(c, all, n, HD_OF_BATCH, &c->room);
    for (int i = 0; i < n && !status; i++)
        if (all[i].put != HD_HOST_MEMORY) status = hd_cuda_fill_piece(c, &all[i]);
    for (int i = 0; i < n && !status; i++)
        if (all[i].put == HD_HOST_MEMORY) status = hd_cuda_take_pinned(c, &all[i]);
    if (!status) c->gpu->taken(c->state);
    return status;
}

void hd_cuda_give_pinned(hd_cuda *c, void *p, uint64_t bytes)
{
    if (p) hd_device_give_pinned(c->seams, p, (size_t)bytes);
}

void hd_cuda_give_all(hd_cuda *c)
{
    hd_memory all[HD_MEMORY_MOST];
    int n = hd_gpu_taken(c->gpu, c->state, all);
    hd_cuda_give(c, c->together);
    hd_cuda_give(c, c->room);
    for (int i = 0; i < n; i++)
        if (is_apart(&all[i])) hd_cuda_give_piece(c, &all[i]);
    for (int i = 0; i < n; i++)
        if (all[i].put == HD_HOST_MEMORY)
            hd_cuda_give_pinned(c, hd_field(c->state, all[i].field), hd_memory_size(&all[i]));
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * far.c - see far.h.
 */
#include "tests/far.h"

#include <stdlib.h>

#include "tests/fake_device.h"

#ifdef HD_CUDA
extern const far_calls far_cuda;
#else
/* without CUDA no device is found, and no test calls these */
static const far_calls far_cuda = { NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL };
#endif

struct far_device {
    bool real;
    fake_device fake;
    counting memory;
};

#define DEVICE    (&hd_device_os)
#define ASK(call) check((call) == 0, "%s", #call)

far_device *far_open(void)
{
    far_device *f = (far_device *)test_alloc(1, sizeof *f);
    f->real = test_far();
    counting_init(&f->memory);
    if (f->real) return f;
    fake_init(&f->fake);
    f->memory.seams.device = &f->fake.seam;
    return f;
}

void far_close(far_device *f)
{
    if (f->real)
        ASK(far_cuda.settle());
    else
        fake_settled(&f->fake);
    check(f->memory.live_bytes == 0, "%llu bytes were not given back", (ull)f->memory.live_bytes);
    free(f);
}

const hd_seams *far_seams(const far_device *f) { return &f->memory.seams; }

/* ---- Arrays ---------------------------------------------------------------------------------- */

static void copy(void *to, const void *from, size_t bytes, hd_way way)
{
    ASK(far_cuda.settle());
    ASK(DEVICE->copy(DEVICE->self, to, from, bytes, way, NULL));
    ASK(far_cuda.settle());
}

void *far_array(far_device *f, const void *from, size_t bytes)
{
    void *p = NULL;
    if (!f->real) return fake_array(&f->fake, from, bytes);
    ASK(DEVICE->take(DEVICE->self, &p, bytes));
    if (from) far_write(f, p, from, bytes);
    return p;
}

void far_write(far_device *f, void *to, const void *from, size_t bytes)
{
    if (f->real)
        copy(to, from, bytes, HD_TO_DEVICE);
    else
        fake_write(&f->fake, to, from, bytes);
}

void far_read(far_device *f, void *to, const void *from, size_t bytes)
{
    if (f->real)
        copy(to, from, bytes, HD_FROM_DEVICE);
    else
        fake_read(&f->fake, to, from, bytes);
}

void far_drop(far_device *f, void *array)
{
    if (f->real)
        ASK(DEVICE->give(DEVICE->self, array));
    else
        fake_drop(&f->fake, array);
}

/* ---- Streams --------------------------------------------------------------------------------- */

void *far_stream_of_its_own(void)
{
    void *stream = NULL;
    ASK(far_cuda.stream(&stream));
    return stream;
}

void far_stream_of_its_own_ends(void *stream) { ASK(far_cuda.unstream(stream)); }

/* The fake one's have no more than an address. */
void *far_stream(far_device *f) { return f->real ? far_stream_of_its_own() : test_alloc(1, 1); }

void far_unstream(far_device *f, void *stream)
{
    if (f->real)
        ASK(far_cuda.unstream(stream));
    else
        free(stream);
}

void far_record(far_device *f, void *stream)
{
    if (f->real)
        ASK(far_cuda.record(stream));
    else
        fake_record(&f->fake, stream);
}

void far_branch(far_device *f, void *stream, void *to)
{
    if (f->real)
        ASK(far_cuda.follow(to, stream));
    else
        fake_branch(&f->fake, to);
}

void far_merge(far_device *f, void *stream, void *from)
{
    if (f->real) ASK(far_cuda.follow(stream, from));
}

void *far_recorded(far_device *f, void *stream)
{
    void *recording = NULL;
    if (!f->real) return fake_recorded(&f->fake);
    ASK(far_cuda.recorded(stream, &recording));
    return recording;
}

void far_replay(far_device *f, void *recording, void *stream)
{
    if (f->real)
        ASK(far_cuda.replay(recording, stream));
    else
        fake_replay(&f->fake, (const fake_recording *)recording, stream);
}

void far_forget(far_device *f, void *recording)
{
    if (f->real)
        ASK(far_cuda.forget(recording));
    else
        fake_forget((fake_recording *)recording);
}

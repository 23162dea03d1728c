/* SPDX-License-Identifier: Apache-2.0
 *
 * failing.c - device calls that fail on request.
 */
#include "tests/failing.h"

#include <string.h>

static int asked(failing_device *f, const char *call)
{
    f->calls++;
    if (f->calls == f->fail_at) f->failed = call;
    return f->fail_at && (f->calls == f->fail_at || (f->sticky && f->calls > f->fail_at)) ? f->code : 0;
}

/* `done`: what a call that the device carried out leaves in the ledger. */
#define FAILS(name, parameters, arguments, done)               \
    static int fail_##name parameters                          \
    {                                                          \
        failing_device *f = (failing_device *)self;            \
        int code = asked(f, #name);                            \
        if (!code && !(code = f->inner->name arguments)) done; \
        return code;                                           \
    }
/* Done, whatever is said of it. */
#define FAILS_AFTER(name, parameters, arguments, done)                \
    static int fail_##name parameters                                 \
    {                                                                 \
        failing_device *f = (failing_device *)self;                   \
        int code = asked(f, #name), inner = f->inner->name arguments; \
        done;                                                         \
        return code ? code : inner;                                   \
    }
#define I       f->inner->self
#define NOTHING (void)0
FAILS(find, (void *self, hd_device *device), (I, device), NOTHING)
FAILS(use, (void *self, int device, int *before), (I, device, before), NOTHING)
FAILS(take, (void *self, void **p, size_t bytes), (I, p, bytes), f->pieces++)
FAILS(take_growing, (void *self, void **p, size_t bytes), (I, p, bytes), f->pieces++)
FAILS(grow, (void *self, void *p, size_t bytes, void **q), (I, p, bytes, q), f->pieces++)
FAILS(stream_make, (void *self, void **stream), (I, stream), f->streams++)
FAILS(take_pinned, (void *self, void **p, size_t bytes), (I, p, bytes), f->far_bytes += bytes)
FAILS(pin, (void *self, void *p, size_t bytes), (I, p, bytes), NOTHING)
FAILS(copy, (void *self, void *to, const void *from, size_t bytes, hd_way way, void *stream),
      (I, to, from, bytes, way, stream), NOTHING)
FAILS(fill, (void *self, void *to, int byte, size_t bytes, void *stream), (I, to, byte, bytes, stream), NOTHING)
FAILS(launch, (void *self, const hd_launch *l, void *stream), (I, l, stream), NOTHING)
FAILS(load, (void *self, const hd_gpu *gpu), (I, gpu), NOTHING)
FAILS(stream_state, (void *self, void *stream, hd_stream_state *state), (I, stream, state), NOTHING)
FAILS(event_wait, (void *self, void *event, void *stream, uint64_t capture), (I, event, stream, capture), NOTHING)
FAILS(reach, (void *self, const void *p, hd_reach *reach), (I, p, reach), NOTHING)
FAILS_AFTER(give, (void *self, void *p), (I, p), f->pieces--)
FAILS_AFTER(give_pinned, (void *self, void *p, size_t bytes), (I, p, bytes), f->far_bytes -= bytes)
FAILS_AFTER(unpin, (void *self, void *p), (I, p), NOTHING)
FAILS_AFTER(prepared_destroy, (void *self, void *prepared), (I, prepared), NOTHING)
FAILS_AFTER(stream_destroy, (void *self, void *stream), (I, stream), f->streams--)
FAILS_AFTER(wait, (void *self, void *stream), (I, stream), NOTHING)
FAILS_AFTER(event_sync, (void *self, void *event), (I, event), NOTHING)
FAILS_AFTER(event_destroy, (void *self, void *event), (I, event), f->events--)

static int fail_event_record(void *self, void **event, void *stream, uint64_t capture)
{
    failing_device *f = (failing_device *)self;
    bool made = !*event;
    int code = asked(f, "event_record");
    if (!code) code = f->inner->event_record(I, event, stream, capture);
    if (made && *event) f->events++;
    return code;
}

/* Codes are CUDA's numbers, which the fake device has words for, too. */
static const char *fail_error(void *self, int code)
{
    failing_device *f = (failing_device *)self;
    return f->inner->error(I, code);
}

void failing_init(failing_device *f, const hd_device_seam *inner)
{
    memset(f, 0, sizeof *f);
    hd_device_seam seam = { fail_find,
                            fail_use,
                            fail_take,
                            fail_give,
                            fail_take_growing,
                            fail_grow,
                            fail_take_pinned,
                            fail_give_pinned,
                            fail_pin,
                            fail_unpin,
                            fail_copy,
                            fail_fill,
                            fail_launch,
                            fail_load,
                            fail_prepared_destroy,
                            fail_wait,
                            fail_stream_make,
                            fail_stream_destroy,
                            fail_stream_state,
                            fail_event_record,
                            fail_event_wait,
                            fail_event_sync,
                            fail_event_destroy,
                            fail_reach,
                            fail_error,
                            f };
    f->seam = seam;
    f->inner = inner;
}

void failing_settled(const failing_device *f)
{
    check(f->pieces == 0, "%llu pieces of device memory were not given back", (ull)f->pieces);
    check(f->far_bytes == 0, "%llu bytes of far memory were not given back", (ull)f->far_bytes);
    check(f->events == 0, "%llu events were not given back", (ull)f->events);
    check(f->streams == 0, "%llu streams were not given back", (ull)f->streams);
}

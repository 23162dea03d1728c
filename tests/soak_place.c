/* SPDX-License-Identifier: Apache-2.0
 *
 * soak_place.c - the backends of the tables of a soak: this machine, a fake device that many threads use, a real
 * device.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/soak.h"

/* The fake one serves one thread at a time. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static const hd_device_seam *inner;
#define PASS(name, parameters, arguments)     \
    static int pass_##name parameters         \
    {                                         \
        pthread_mutex_lock(&one_at_a_time);   \
        int code = inner->name arguments;     \
        pthread_mutex_unlock(&one_at_a_time); \
        return code;                          \
    }
PASS(find, (void *s, hd_device *d), (s, d))
PASS(use, (void *s, int d, int *before), (s, d, before))
PASS(take, (void *s, void **p, size_t bytes), (s, p, bytes))
PASS(give, (void *s, void *p), (s, p))
PASS(take_growing, (void *s, void **p, size_t bytes), (s, p, bytes))
PASS(grow, (void *s, void *p, size_t bytes, void **q), (s, p, bytes, q))
PASS(take_pinned, (void *s, void **p, size_t bytes), (s, p, bytes))
PASS(pin, (void *s, void *p, size_t bytes), (s, p, bytes))
PASS(unpin, (void *s, void *p), (s, p))
PASS(give_pinned, (void *s, void *p, size_t bytes), (s, p, bytes))
PASS(copy, (void *s, void *to, const void *from, size_t bytes, hd_way way, void *stream),
     (s, to, from, bytes, way, stream))
PASS(fill, (void *s, void *to, int byte, size_t bytes, void *stream), (s, to, byte, bytes, stream))
PASS(launch, (void *s, const hd_launch *l, void *stream), (s, l, stream))
PASS(prepared_destroy, (void *s, void *prepared), (s, prepared))
PASS(wait, (void *s, void *stream), (s, stream))
PASS(stream_make, (void *s, void **stream), (s, stream))
PASS(stream_destroy, (void *s, void *stream), (s, stream))
PASS(stream_state, (void *s, void *stream, hd_stream_state *state), (s, stream, state))
PASS(event_record, (void *s, void **event, void *stream, uint64_t capture), (s, event, stream, capture))
PASS(load, (void *s, const hd_gpu *gpu), (s, gpu))
PASS(event_wait, (void *s, void *event, void *stream, uint64_t capture), (s, event, stream, capture))
PASS(event_sync, (void *s, void *event), (s, event))
PASS(event_destroy, (void *s, void *event), (s, event))
PASS(reach, (void *s, const void *p, hd_reach *reach), (s, p, reach))

void place_open(place *p, const char *backend)
{
    memset(p, 0, sizeof *p);
    p->backend = backend;
    p->seams = hd_seams_os;
    if (strcmp(backend, "cuda") != 0) return;
    p->seam = &hd_device_os;
    if (test_far()) return;
    fake_init(&p->fake);
    inner = &p->fake.seam;
    hd_device_seam passing = {
        pass_find,       pass_use,         pass_take,           pass_give,         pass_take_growing,
        pass_grow,       pass_take_pinned, pass_give_pinned,    pass_pin,          pass_unpin,
        pass_copy,       pass_fill,        pass_launch,         pass_load,         pass_prepared_destroy,
        pass_wait,       pass_stream_make, pass_stream_destroy, pass_stream_state, pass_event_record,
        pass_event_wait, pass_event_sync,  pass_event_destroy,  pass_reach,        inner->error,
        inner->self
    };
    p->passing = passing;
    p->seam = p->seams.device = &p->passing;
}

void place_close(place *p)
{
    if (p->seam == &p->passing) fake_settled(&p->fake);
}

void *place_stream(const place *p)
{
    return p->seam == &hd_device_os ? far_stream_of_its_own() : p->seam ? test_alloc(1, 1) : NULL;
}

void place_stream_ends(const place *p, void *stream)
{
    if (p->seam == &hd_device_os)
        far_stream_of_its_own_ends(stream);
    else
        free(stream);
}

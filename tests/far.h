/* SPDX-License-Identifier: Apache-2.0
 *
 * far.h - a device for tests of tables on a device: arrays, streams, recordings. By default it is the fake one
 * (fake_device.h). If HEDDLE_TEST_BACKEND is cuda, it is a real one, used through CUDA's own calls. A call that fails
 * ends the test.
 */
#ifndef FAR_H
#define FAR_H

#include "tests/testing.h"

typedef struct far_device far_device;

far_device *far_open(void);
/* Waits for all work; the fake checks that everything was given back. */
void far_close(far_device *f);
/* For hd_config.seams. */
const hd_seams *far_seams(const far_device *f);

/* Arrays of the device. Reading and writing wait for all work. */
void *far_array(far_device *f, const void *from, size_t bytes);
void far_write(far_device *f, void *to, const void *from, size_t bytes);
void far_read(far_device *f, void *to, const void *from, size_t bytes);
void far_drop(far_device *f, void *array);

/* Streams that wait for no other, not even for CUDA's default one. */
void *far_stream(far_device *f);
void far_unstream(far_device *f, void *stream);

/* A stream of the real device, for a test without a far_device. */
void *far_stream_of_its_own(void);
void far_stream_of_its_own_ends(void *stream);

/* What is put on the stream from far_record on is kept, and is done at each replay, on any stream. */
void far_record(far_device *f, void *stream);
void far_branch(far_device *f, void *stream, void *to);  /* `to` follows the stream, into its recording */
void far_merge(far_device *f, void *stream, void *from); /* and ends there */
void *far_recorded(far_device *f, void *stream);
void far_replay(far_device *f, void *recording, void *stream);
void far_forget(far_device *f, void *recording);

/* The real device's part (far_cuda.cu): 0, or the number of CUDA's error. */
typedef struct far_calls {
    int (*settle)(void); /* waits for all work */
    int (*stream)(void **stream);
    int (*unstream)(void *stream);
    int (*record)(void *stream);
    int (*follow)(void *stream, void *other); /* what comes next on the stream comes after what is on the other */
    int (*recorded)(void *stream, void **recording);
    int (*replay)(void *recording, void *stream);
    int (*forget)(void *recording);
} far_calls;

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * failing_device.h - a fake device whose calls can be made to fail, for tests of code that opens its own tables.
 */
#ifndef FAILING_DEVICE_H
#define FAILING_DEVICE_H

#include <stdlib.h>

#include "tests/failing.h"
#include "tests/fake_device.h"

typedef struct device {
    fake_device fake;
    failing_device failing;
    hd_seams seams;
} device;

static inline device *device_open(void)
{
    device *d = (device *)test_alloc(1, sizeof *d);
    fake_init(&d->fake);
    failing_init(&d->failing, &d->fake.seam);
    d->seams = hd_seams_os;
    d->seams.device = &d->failing.seam;
    return d;
}

static inline void device_close(device *d)
{
    failing_settled(&d->failing);
    fake_settled(&d->fake);
    free(d);
}

#endif

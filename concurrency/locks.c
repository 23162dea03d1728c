/* SPDX-License-Identifier: Apache-2.0
 *
 * locks.c - the rows of registry.inc as an array.
 */
#include <string.h>

#include "concurrency/lock.h"

#define HD_LOCK(name) extern const hd_lock_row hd_lock_##name;
#include "concurrency/registry.inc"
#undef HD_LOCK

static const hd_lock_row *const locks[] = {
#define HD_LOCK(name) &hd_lock_##name,
#include "concurrency/registry.inc"
#undef HD_LOCK
    NULL,
};

const hd_lock_row *hd_lock_at(size_t i) { return i < sizeof locks / sizeof *locks ? locks[i] : NULL; }
const hd_lock_row *hd_lock_named(const char *name)
{
    size_t i = 0;
    while (locks[i] && strcmp(locks[i]->name, name) != 0) i++;
    return locks[i];
}

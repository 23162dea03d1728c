/* SPDX-License-Identifier: Apache-2.0
 *
 * snapshot_load.h - hd_load of a file that is open already.
 */
#ifndef HD_SNAPSHOT_LOAD_H
#define HD_SNAPSHOT_LOAD_H

#include "lib/snapshot_read.h"

/* Replaces the contents of the table by the file's, under the table's lock. dropped: as in hd_load. */
hd_status hd_snapshot_load_into(hd_table *t, hd_snapshot_file *f, uint64_t *dropped);

#endif

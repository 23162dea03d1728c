/* SPDX-License-Identifier: Apache-2.0
 *
 * taxa_file.h - a table of taxa in two files: a snapshot, and beside it PATH.taxa with K and the names, as JSON.
 *
 * A pair is written so that a process that is killed leaves the old pair or the new one: see taxa_file.c.
 * A pair is only read if both files were written together. `pair` is XXH3-128 of the snapshot's header and of the sums
 * of its sections, and of all that the other file says; reading the snapshot verifies the sums. So one file of another
 * pair, a file that was changed, and a pair of which only the snapshot could be written are refused, in place of
 * reads of one genome counted for another one.
 */
#ifndef HD_TAXA_FILE_H
#define HD_TAXA_FILE_H

#include "tools/taxa.h"

/* PATH.taxa; free() it. NULL: memory was refused. */
char *taxa_file_names(const char *path);

/* by: what makes a taxon, "file" or "record". */
hd_status taxa_file_save(const taxa *t, const char *path, unsigned k, const char *by);

/* config: for taxa_open_snapshot. *by is static. HD_EINVAL: no such files. HD_ECORRUPT: damaged, or not written
 * together. taxa_close after a failure, too. */
hd_status taxa_file_open(taxa *t, const char *path, const taxa_config *config, unsigned *k, const char **by);

#endif

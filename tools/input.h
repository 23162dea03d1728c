/* SPDX-License-Identifier: Apache-2.0
 *
 * input.h - how the command reads and writes files: as the operating system's seams do, with two additions.
 *
 * Stopping: once a signal has stopped the command, every read, write and open fails with ECANCELED, also one that waits
 * for a pipe. The writer then removes its unfinished file, as after any other failure.
 *
 * Spooling: a pipe can be read once. After input_spool(), what is no regular file (a pipe, a FIFO, a device, a socket)
 * is copied as it is read to an unlinked file in $TMPDIR (else /tmp), and every later opening of the same pipe reads
 * that file from its beginning. The copy takes as many bytes as are read of the pipe; when the folder is full, the read
 * fails with ENOSPC.
 */
#ifndef HD_INPUT_H
#define HD_INPUT_H

#include "base/seam.h"

/* What standard input is called; "-" on a command line means this. */
#define INPUT_STANDARD "/dev/stdin"

extern const hd_seams input_seams;

/* From now on what is no regular file is spooled when it is opened. */
void input_spool(void);

/* INPUT_STANDARD for "-", else the path itself. */
const char *input_path(const char *path);

#endif

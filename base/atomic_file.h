/* SPDX-License-Identifier: Apache-2.0
 *
 * atomic_file.h - a file that is there whole or not at all: written beside its name (NAME.PID-N.part), synced, then
 * renamed, and its folder synced. After a crash the name is the old file or the new one. What is no file, a device or a
 * pipe, is written to as it is. Where the name is a symbolic link, the link is replaced, and not what it leads to; the
 * new file has the permissions of one.
 */
#ifndef HD_ATOMIC_FILE_H
#define HD_ATOMIC_FILE_H

#include "base/seam.h"

enum { HD_PATH_BYTES = 4096 /* Linux opens none that is longer */ };

typedef struct hd_whole {
    const hd_seams *seams;
    int fd;       /* to write to; -1: none */
    bool direct;  /* nothing to sync or rename      */
    bool present; /* the file beside exists         */
    char path[HD_PATH_BYTES], beside[HD_PATH_BYTES];
} hd_whole;

/* HD_EINVAL: the path is too long; HD_EIO. After either there is nothing to drop, and after this to keep or drop,
 * once. */
hd_status hd_whole_open(hd_whole *w, const hd_seams *s, const char *path);
/* HD_EIO: the path is as it was, and nothing beside it; only when its folder cannot be synced, it is the new file. */
hd_status hd_whole_keep(hd_whole *w);
void hd_whole_drop(hd_whole *w);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * loaded.h - adds the rows of one file, compiled with gpu/one_file.inc to a shared object, to the registries of this
 * process. They stay until it ends.
 */
#ifndef HD_LOADED_H
#define HD_LOADED_H

#include "heddle.h"

/* What a file has, for messages: "kernel hkv.mine, predicate odd". */
enum { HD_LOADED_TEXT = 512 };

/* Adds all rows, or none: then HD_EINVAL or HD_ECORRUPT, and hd_why says which row is wrong. file: its name, for
 * messages. what: NULL, or HD_LOADED_TEXT bytes. */
hd_status hd_load_object(const char *file, const char *object, char *what);

/* After hd_load_object: what nvcc made of the same file, for tables on a device. */
hd_status hd_load_cuda_object(const char *file, const char *object);

#endif

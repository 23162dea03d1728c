/* SPDX-License-Identifier: Apache-2.0
 *
 * corpus.h - a folder of inputs, one file each.
 */
#ifndef HD_FUZZ_CORPUS_H
#define HD_FUZZ_CORPUS_H

#include "heddle.h"

typedef struct fuzz_input {
    char *name;     /* of the file, without its folder */
    uint8_t *bytes; /* (n) */
    size_t n;
} fuzz_input;

typedef struct fuzz_corpus {
    fuzz_input *input; /* (n) in the order in which they came; those of a folder by name */
    size_t n;
} fuzz_corpus;

/* Every plain file of the folder, those whose names begin with a dot aside. HD_EIO when it, or one of them, cannot be
 * read. */
hd_status fuzz_corpus_open(const char *folder, fuzz_corpus *c);
/* A folder, or a file, more. When it fails, a folder leaves nothing. */
hd_status fuzz_corpus_add_folder(fuzz_corpus *c, const char *folder);
hd_status fuzz_corpus_add(fuzz_corpus *c, const char *path);
/* Bytes that a text has in hexadecimal; HD_EINVAL: it is none. */
hd_status fuzz_corpus_add_hex(fuzz_corpus *c, const char *hex);
void fuzz_corpus_close(fuzz_corpus *c);

/* Writes a whole file; HD_EIO. */
hd_status fuzz_file_write(const char *path, const uint8_t *bytes, size_t n);

#endif

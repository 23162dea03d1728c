/* SPDX-License-Identifier: Apache-2.0
 *
 * corpus.c - see corpus.h.
 */
#include "fuzz/corpus.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"

enum { INPUT_MOST = 1 << 20 };

static hd_status read_whole(const char *path, fuzz_input *in)
{
    FILE *f = fopen(path, "rb");
    if (!f) return hd_fail(HD_EIO, "%s: %s", path, strerror(errno));
    in->bytes = (uint8_t *)malloc(INPUT_MOST);
    in->n = in->bytes ? fread(in->bytes, 1, INPUT_MOST, f) : 0;
    bool failed = ferror(f) != 0;
    fclose(f);
    if (!in->bytes) return hd_fail(HD_ENOMEM, "%s: no memory for it", path);
    if (failed) return hd_fail(HD_EIO, "%s: cannot be read", path);
    uint8_t *exact = (uint8_t *)realloc(in->bytes, in->n ? in->n : 1);
    if (exact) in->bytes = exact;
    return HD_OK;
}

static hd_status read_hex(const char *hex, fuzz_input *in)
{
    size_t n = strlen(hex) / 2;
    if (strlen(hex) % 2 || strspn(hex, "0123456789abcdef") != 2 * n || n > INPUT_MOST)
        return hd_fail(HD_EINVAL, "hex:%.40s: it has no pairs of the digits 0 to f", hex);
    in->bytes = (uint8_t *)malloc(n ? n : 1);
    if (!in->bytes) return hd_fail(HD_ENOMEM, "hex: no memory for it");
    for (in->n = 0; in->n < n; in->n++) {
        const char pair[3] = { hex[2 * in->n], hex[2 * in->n + 1], 0 };
        in->bytes[in->n] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return HD_OK;
}

/* One more input, of that name, as `read` reads `from`. */
static hd_status add(fuzz_corpus *c, const char *name, hd_status (*read)(const char *from, fuzz_input *in),
                     const char *from)
{
    fuzz_input in = { strdup(name), NULL, 0 };
    fuzz_input *more = (fuzz_input *)realloc(c->input, (c->n + 1) * sizeof *more);
    if (more) c->input = more;
    hd_status s = more && in.name ? read(from, &in) : hd_fail(HD_ENOMEM, "%s: no memory for it", name);
    if (!s) {
        c->input[c->n++] = in;
        return HD_OK;
    }
    free(in.name);
    free(in.bytes);
    return s;
}

hd_status fuzz_corpus_add(fuzz_corpus *c, const char *path)
{
    const char *slash = strrchr(path, '/');
    return add(c, slash ? slash + 1 : path, read_whole, path);
}

hd_status fuzz_corpus_add_hex(fuzz_corpus *c, const char *hex) { return add(c, "hex", read_hex, hex); }

static int by_name(const void *a, const void *b)
{
    return strcmp(((const fuzz_input *)a)->name, ((const fuzz_input *)b)->name);
}

hd_status fuzz_corpus_add_folder(fuzz_corpus *c, const char *folder)
{
    size_t first = c->n;
    DIR *d = opendir(folder);
    if (!d) return hd_fail(HD_EIO, "%s: %s", folder, strerror(errno));
    hd_status s = HD_OK;
    for (struct dirent *e; !s && (e = readdir(d));) {
        char path[4096];
        struct stat is;
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (stat(path, &is) == 0 && S_ISREG(is.st_mode)) s = fuzz_corpus_add(c, path);
    }
    closedir(d);
    if (s)
        fuzz_corpus_close(c);
    else if (c->n > first)
        qsort(c->input + first, c->n - first, sizeof *c->input, by_name);
    return s;
}

hd_status fuzz_corpus_open(const char *folder, fuzz_corpus *c)
{
    memset(c, 0, sizeof *c);
    return fuzz_corpus_add_folder(c, folder);
}

void fuzz_corpus_close(fuzz_corpus *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->input[i].name);
        free(c->input[i].bytes);
    }
    free(c->input);
    memset(c, 0, sizeof *c);
}

hd_status fuzz_file_write(const char *path, const uint8_t *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f) return hd_fail(HD_EIO, "%s: %s", path, strerror(errno));
    bool whole = fwrite(bytes, 1, n, f) == n;
    if (fclose(f) || !whole) return hd_fail(HD_EIO, "%s: cannot be written", path);
    return HD_OK;
}

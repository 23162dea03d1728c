/* SPDX-License-Identifier: Apache-2.0
 *
 * taxa_file.c - see taxa_file.h.
 *
 * Two files cannot be replaced at once. The new snapshot is written beside the old one. Then the file of names has the
 * new names, and the old ones as its member `before`; the rename of the snapshot takes the new pair in use, and the
 * names are written once more, without `before`. A reader takes those names that belong to the snapshot.
 */
#include "tools/taxa_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "lib/snapshot.h"
#include "tools/input.h"
#include "tools/save.h"
#include "tools/tool.h"

#define SCHEMA "heddle.taxa/1"
enum { PAIR_TEXT = 2 * HD_SUM_BYTES + 1, LONGEST = 31 };

char *taxa_file_names(const char *path)
{
    char *names = NULL;
    return asprintf(&names, "%s.taxa", path) < 0 ? NULL : names;
}

/* ---- What makes two files a pair ------------------------------------------------------------- */

static hd_status read_at(int fd, const char *path, uint64_t at, void *p, size_t bytes)
{
    const hd_file_seam *file = &input_seams.file;
    size_t got = 0;
    if (file->seek(file->self, fd, at)) return hd_fail(HD_EIO, "%s: byte %" PRIu64 ": %s", path, at, strerror(errno));
    hd_status e = hd_file_read_at_most(&input_seams, fd, path, p, bytes, &got);
    return e || got == bytes ? e : hd_fail(HD_ECORRUPT, "%s: the file ends at byte %" PRIu64, path, at + got);
}

/* The header, which is a good one, and the sums of the sections. */
static hd_status sum_snapshot(XXH3_state_t *x, int fd, const char *path)
{
    hd_snapshot_header h;
    hd_status e = read_at(fd, path, 0, &h, sizeof h);
    if (e) return e;
    XXH3_128bits_update(x, &h, sizeof h);
    uint64_t at = h.header_bytes;
    for (int i = 0; i < HD_SECTION_COUNT && !e; i++) {
        uint8_t sum[HD_SUM_BYTES];
        at += sizeof(hd_section_head) + hd_snapshot_section_bytes(&h, i);
        e = read_at(fd, path, at, sum, sizeof sum);
        if (!e) XXH3_128bits_update(x, sum, sizeof sum);
        at += sizeof sum;
    }
    return e;
}

static void sum_number(XXH3_state_t *x, uint64_t n) { XXH3_128bits_update(x, &n, sizeof n); }

static void sum_text(XXH3_state_t *x, const char *text)
{
    sum_number(x, strlen(text));
    XXH3_128bits_update(x, text, strlen(text));
}

/* t: its names and counts. */
static hd_status pair_of(char pair[PAIR_TEXT], const taxa *t, const char *path, unsigned k, const char *by)
{
    const hd_file_seam *file = &input_seams.file;
    XXH3_state_t x;
    uint8_t sum[HD_SUM_BYTES];
    int fd = file->open(file->self, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) return hd_fail(HD_EIO, "%s: %s", path, strerror(errno));
    XXH3_128bits_reset(&x);
    hd_status e = sum_snapshot(&x, fd, path);
    file->close(file->self, fd);
    sum_number(&x, k);
    sum_text(&x, by);
    sum_number(&x, t->added);
    sum_number(&x, t->ambiguous);
    for (uint32_t i = 0; i < t->n; i++) {
        sum_text(&x, t->row[i].name);
        sum_number(&x, t->row[i].kmers);
    }
    hd_snapshot_sum(&x, sum);
    for (int i = 0; i < HD_SUM_BYTES; i++) snprintf(pair + 2 * i, 3, "%02x", sum[i]);
    return e;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static hd_status fail_names(const char *names, const char *what)
{
    return hd_fail(HD_ECORRUPT, "%s: %s; `heddle classify --build` writes such files", names, what);
}

static hd_status json_read(const char *names, json_t **all)
{
    json_error_t why;
    FILE *f = fopen(names, "r");
    if (!f)
        return hd_fail(errno == ENOENT ? HD_EINVAL : HD_EIO, "%s: %s; `heddle classify --build` writes it", names,
                       strerror(errno));
    *all = json_loadf(f, JSON_REJECT_DUPLICATES, &why);
    fclose(f);
    if (*all) return HD_OK;
    return hd_fail(HD_ECORRUPT, "%s: line %d: %s", names, why.line, why.text);
}

/* Not below 0, and not above `most`. */
static bool number_get(const json_t *all, const char *key, uint64_t most, uint64_t *n)
{
    const json_t *j = json_object_get(all, key);
    *n = (uint64_t)json_integer_value(j);
    return json_is_integer(j) && json_integer_value(j) >= 0 && *n <= most;
}

static hd_status rows_get(taxa *t, const char *names, const json_t *rows)
{
    size_t i;
    json_t *row;
    hd_status e = json_array_size(rows) ? HD_OK : fail_names(names, "taxa: there are none");
    json_array_foreach(rows, i, row)
    {
        uint64_t kmers;
        const char *name = json_string_value(json_object_get(row, "name"));
        if (!e && (!name || !number_get(row, "kmers", INT64_MAX, &kmers))) e = fail_names(names, "taxa: no row of one");
        if (!e) e = taxa_name(t, name, kmers);
    }
    return e;
}

static hd_status names_get(taxa *t, const char *names, const json_t *all, unsigned *k, const char **by)
{
    const char *schema = json_string_value(json_object_get(all, "schema")),
               *is = json_string_value(json_object_get(all, "by"));
    uint64_t n;
    if (!schema || strcmp(schema, SCHEMA) != 0) return fail_names(names, "schema: not " SCHEMA);
    if (!number_get(all, "k", LONGEST, &n) || n == 0) return fail_names(names, "k: not 1 to 31");
    if (!is || (strcmp(is, "file") != 0 && strcmp(is, "record") != 0)) return fail_names(names, "by: file or record");
    *k = (unsigned)n;
    *by = *is == 'f' ? "file" : "record";
    if (!number_get(all, "added", INT64_MAX, &t->added) || !number_get(all, "ambiguous", INT64_MAX, &t->ambiguous))
        return fail_names(names, "added, ambiguous: no numbers");
    return rows_get(t, names, json_object_get(all, "taxa"));
}

static hd_status pair_check(const taxa *t, const char *path, const char *names, const json_t *all, unsigned k,
                            const char *by)
{
    char pair[PAIR_TEXT];
    const char *is = json_string_value(json_object_get(all, "pair"));
    hd_status e = pair_of(pair, t, path, k, by);
    if (e || (is && strcmp(is, pair) == 0)) return e;
    return hd_fail(HD_ECORRUPT, "%s: it does not belong to %s: the two were not written together, or one was changed",
                   names, path);
}

static void rows_drop(taxa *t)
{
    for (uint32_t i = 0; i < t->n; i++) free(t->row[i].name);
    t->n = 0;
}

static hd_status names_take(taxa *t, const char *path, const char *names, const json_t *all, unsigned *k,
                            const char **by)
{
    rows_drop(t);
    hd_status e = names_get(t, names, all, k, by);
    return e ? e : pair_check(t, path, names, all, *k, *by);
}

/* t gets the names of `all`, or of its members `before`, that belong to the snapshot; *found has them. */
static hd_status names_find(taxa *t, const char *path, const char *names, json_t *all, unsigned *k, const char **by,
                            json_t **found)
{
    for (*found = all; *found; *found = json_object_get(*found, "before"))
        if (!names_take(t, path, names, *found, k, by)) return HD_OK;
    return names_take(t, path, names, all, k, by); /* what is wrong with the first */
}

hd_status taxa_file_open(taxa *t, const char *path, const taxa_config *config, unsigned *k, const char **by)
{
    json_t *all = NULL, *found;
    hd_snapshot_info info;
    memset(t, 0, sizeof *t);
    char *names = taxa_file_names(path);
    hd_status e = names ? json_read(names, &all) : hd_fail(HD_ENOMEM, "memory was refused");
    if (!e) e = hd_snapshot_inspect(path, &info);
    if (!e) t->value_bytes = info.value_bytes;
    if (!e) e = names_find(t, path, names, all, k, by, &found);
    if (!e) e = taxa_open_snapshot(t, path, config);
    json_decref(all);
    free(names);
    return e;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static bool json_write(const void *what, FILE *f)
{
    return json_dumpf((const json_t *)what, f, JSON_INDENT(1)) == 0 && fputc('\n', f) != EOF;
}

static json_t *json_of(const taxa *t, unsigned k, const char *by, const char *pair)
{
    json_t *rows = json_array();
    int bad = !rows;
    for (uint32_t i = 0; i < t->n && !bad; i++)
        bad = json_array_append_new(rows, json_pack("{s:s, s:I}", "name", t->row[i].name, "kmers",
                                                    (json_int_t)t->row[i].kmers));
    if (!bad)
        return json_pack("{s:s, s:i, s:s, s:I, s:I, s:s, s:o}", "schema", SCHEMA, "k", (int)k, "by", by, "added",
                         (json_int_t)t->added, "ambiguous", (json_int_t)t->ambiguous, "pair", pair, "taxa", rows);
    json_decref(rows);
    return NULL;
}

/* The names that belong to the snapshot that is there, if any do: a member of `all` until the new one is in place. */
static void before_set(json_t *all, const char *path, const char *names)
{
    taxa t;
    unsigned k;
    const char *by;
    hd_snapshot_info info;
    memset(&t, 0, sizeof t);
    json_t *old = json_load_file(names, JSON_REJECT_DUPLICATES, NULL), *found = NULL;
    if (old && !hd_snapshot_inspect(path, &info)) {
        t.value_bytes = info.value_bytes;
        if (names_find(&t, path, names, old, &k, &by, &found)) found = NULL;
    }
    if (found) {
        json_incref(found);
        json_object_del(found, "before");
        json_object_set_new(all, "before", found);
    }
    json_decref(old);
    taxa_close(&t);
}

/* `beside` is the new snapshot. */
static hd_status pair_put(json_t *all, const char *beside, const char *path, const char *names)
{
    const hd_file_seam *file = &input_seams.file;
    before_set(all, path, names);
    hd_status e = save_whole(names, json_write, all);
    if (e) return e;
    if (strcmp(beside, path) != 0 && file->rename(file->self, beside, path))
        return hd_fail(HD_EIO, "%s: cannot be renamed: %s", beside, strerror(errno));
    if (file->sync_folder(file->self, path))
        return hd_fail(HD_EIO, "%s: written, but its folder cannot be synced: %s", path, strerror(errno));
    return json_object_del(all, "before") ? HD_OK : save_whole(names, json_write, all);
}

hd_status taxa_file_save(const taxa *t, const char *path, unsigned k, const char *by)
{
    char pair[PAIR_TEXT], *names = taxa_file_names(path), *beside = NULL;
    bool special = input_seams.file.special(input_seams.file.self, path); /* a device stays where it is */
    if (!names ||
        (special ? asprintf(&beside, "%s", path) : asprintf(&beside, "%s.%ld.new", path, (long)getpid())) < 0) {
        free(names);
        return hd_fail(HD_ENOMEM, "the memory of a file's name was refused");
    }
    hd_status e = hd_save(t->table, beside);
    if (!e) e = pair_of(pair, t, beside, k, by);
    json_t *all = e ? NULL : json_of(t, k, by, pair);
    if (!e && !all) e = hd_fail(HD_ENOMEM, "the memory of %" PRIu32 " names was refused", t->n);
    if (!e) e = pair_put(all, beside, path, names);
    if (e && !special) unlink(beside);
    json_decref(all);
    free(names);
    free(beside);
    return e;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * workload.c - from the text "zipf:0.99,4Mi" to a stream of requests: the registry of sources, the
 * one grammar of their specs, and the calls that every source is used through.
 */
#include "workload/workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "workload/stream.h"

/* ---- The registry ---------------------------------------------------------------------------- */

/* Made by the makefile of the rows at the bottom of its workload_rows. */
#define HD_SOURCE(row) extern const hd_source_row row;
#include "workload/rows.inc"
#undef HD_SOURCE

static const hd_source_row *const rows[] = {
#define HD_SOURCE(row) &row,
#include "workload/rows.inc"
#undef HD_SOURCE
};
enum { ROWS = sizeof rows / sizeof rows[0] };

const hd_source_row *hd_source_row_at(size_t i) { return i < ROWS ? rows[i] : NULL; }

const hd_source_row *hd_source_row_find(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i]->name, name) == 0) return rows[i];
    return NULL;
}

static hd_status fail_row(const char *name)
{
    char all[256] = "", nearest[HD_NEAREST_TEXT];
    hd_nearest near = { name, NULL, 0 };
    for (size_t i = 0; i < ROWS; i++) {
        hd_nearest_try(&near, rows[i]->name);
        hd_name_add(all, sizeof all, rows[i]->name);
    }
    return hd_fail(HD_EINVAL, "workload: there is no '%.60s'%s; all: %s", name, hd_nearest_text(&near, "", nearest),
                   all);
}

/* ---- The grammar: NAME[:PART,...]; a PART is an option, name=value, or a positional argument -- */

/* The '=' of an option, or NULL: a file name such as ./a=b.csv is a positional argument, because an
 * option's name is lower-case letters, digits and '_' only. */
static char *option_equals(char *part)
{
    size_t n = strspn(part, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return n && part[n] == '=' ? part + n : NULL;
}

static hd_status part_add(hd_source_args *a, char *part)
{
    char *equals = option_equals(part);
    if (!equals) {
        if (a->args == HD_SOURCE_ARGS) return hd_fail(HD_EINVAL, "%s: more than %d arguments", a->name, HD_SOURCE_ARGS);
        a->arg[a->args++] = part;
        return HD_OK;
    }
    *equals = '\0';
    if (hd_source_option(a, part, NULL)) return hd_fail(HD_EINVAL, "%s: option '%.60s' is given twice", a->name, part);
    if (a->options == HD_SOURCE_ARGS) return hd_fail(HD_EINVAL, "%s: more than %d options", a->name, HD_SOURCE_ARGS);
    a->option[a->options][0] = part;
    a->option[a->options++][1] = equals + 1;
    return HD_OK;
}

hd_status hd_source_parse(const char *spec, char *store, size_t store_bytes, hd_source_args *a)
{
    size_t n = strlen(spec);
    if (n >= store_bytes) return hd_fail(HD_EINVAL, "workload: a spec of %zu bytes; at most %zu", n, store_bytes - 1);
    memcpy(store, spec, n + 1);
    memset(a, 0, sizeof *a);
    a->name = store;

    char *rest = strchr(store, ':');
    if (rest) *rest++ = '\0';
    if (!hd_source_row_find(a->name)) return fail_row(a->name);
    while (rest) {
        char *part = rest;
        rest = strchr(part, ',');
        if (rest) *rest++ = '\0';
        hd_status e = part_add(a, part);
        if (e) return e;
    }
    return HD_OK;
}

/* ---- Use ------------------------------------------------------------------------------------- */

static const hd_seams *usual_seams = &hd_seams_os;

void hd_source_seams(const hd_seams *seams) { usual_seams = seams; }

hd_status hd_source_open(const hd_source_args *args, hd_source **s)
{
    hd_source_args a = *args;
    const hd_source_row *row = hd_source_row_find(a.name);
    if (!row) return fail_row(a.name);
    a.row = row;
    if (!a.seams) a.seams = usual_seams;
    if (row->file && (a.args == 0 || !*a.arg[0]))
        return hd_fail(HD_EINVAL, "%s: no file; the form is %s", row->name, row->form);
    hd_source *opened = NULL;
    hd_status e = row->open(&a, &opened);
    if (e) return e;
    opened->row = row;
    *s = opened;
    return HD_OK;
}

hd_status hd_source_open_spec(const char *spec, uint64_t seed, hd_source **s)
{
    char store[4096 + 256]; /* PATH_MAX and the options */
    hd_source_args a;
    hd_status e = hd_source_parse(spec, store, sizeof store, &a);
    a.seed = seed;
    return e ? e : hd_source_open(&a, s);
}

static hd_status fail_empty(const hd_source *s)
{
    char also[64] = "";
    bool kmers = s->row && strcmp(s->row->name, "kmer") == 0;
    const uint64_t skipped = s->skipped + s->deletes;
    if (skipped) snprintf(also, sizeof also, "; %" PRIu64 " bad records were skipped", skipped);
    return hd_fail(HD_ECORRUPT, "%s: byte %" PRIu64 ": the file ends without one %s%s", hd_stream_path(s->file),
                   hd_stream_offset(s->file), kmers ? "k-mer" : "request", also);
}

hd_status hd_source_next(hd_source *s, hd_request *r, size_t max, size_t *got)
{
    *got = 0;
    hd_status e = s->next(s, r, max, got);
    s->any = s->any || *got > 0;
    if (e) return hd_source_foreign(s, e);
    if (s->any || max == 0 || !s->file) return HD_OK;
    return fail_empty(s);
}

double hd_source_share(const hd_source *s)
{
    return s->bytes_total ? (double)s->bytes_read / (double)s->bytes_total : -1;
}

void hd_source_close(hd_source *s)
{
    if (s) s->close(s);
}

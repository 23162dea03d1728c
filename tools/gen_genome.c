/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_genome.c - `heddle gen genome`: a genome that is made from a seed, or reads of it.
 */
#include "tools/gen.h"

#include <string.h>

#include "tools/output.h"
#include "tools/progress.h"
#include "tools/trace_out.h"

static const struct {
    const char *ending;
    bool fastq;
} form[] = { { "fasta", false }, { "fa", false }, { "fna", false }, { "fastq", true }, { "fq", true } };

/* Whether the file is FASTQ: --format says so, or its ending; standard output is what the options ask for. */
static int form_pick(const gen_options *o, bool *fastq)
{
    char text[TRACE_PATH];
    const char *word = o->format ? o->format : strcmp(o->path, "-") == 0 ? NULL : trace_ending(o->path, text);
    *fastq = o->genome.coverage > 0;
    if (!word && strcmp(o->path, "-") == 0) return TOOL_OK;
    for (size_t i = 0; word && i < sizeof form / sizeof *form; i++)
        if (strcmp(form[i].ending, word) == 0) {
            *fastq = form[i].fastq;
            return TOOL_OK;
        }
    if (o->format) return tool_say(TOOL_USAGE, "format: a genome is fasta, its reads are fasta or fastq");
    return tool_say(TOOL_USAGE, "the ending of '%s' names no format; say which with --format: fasta, fastq", o->path);
}

static void set_unset(double *share, double usual)
{
    if (*share == GEN_UNSET) *share = usual;
}

static void complete(hd_genome *g)
{
    const hd_genome usual = hd_genome_default();
    if (!g->bases) g->bases = usual.bases;
    if (!g->read_bases) g->read_bases = usual.read_bases;
    set_unset(&g->interspersed, usual.interspersed);
    set_unset(&g->tandem, usual.tandem);
    set_unset(&g->errors, usual.errors);
    set_unset(&g->coverage, usual.coverage);
}

bool gen_is_of_genome(const hd_genome *g)
{
    return g->bases || g->read_bases || g->interspersed != GEN_UNSET || g->tandem != GEN_UNSET ||
           g->errors != GEN_UNSET || g->coverage != GEN_UNSET;
}

int gen_genome(const tool_line *line, gen_options *o)
{
    hd_genome *g = &o->genome;
    if (g->coverage == GEN_UNSET && (g->read_bases || g->errors != GEN_UNSET))
        return tool_say(TOOL_USAGE, "--read-bases, --errors: there are no reads without --coverage");
    complete(g);
    if (o->requests) return tool_say(TOOL_USAGE, "--requests: a genome has bases: --bases");
    int code = form_pick(o, &g->fastq);
    if (code) return code;
    hd_status e = hd_genome_check(g);
    if (e) return tool_fail(e);
    progress p;
    hd_genome_written written;
    uint64_t begin = progress_now_ns();
    progress_begin(&p, "gen", "bases");
    e = hd_genome_write(g, NULL, o->path, progress_call, &p, &written);
    progress_end(&p);
    if (e) return tool_fail(e);
    if (strcmp(o->path, "-") == 0) return TOOL_OK; /* standard output is the file */

    out *r = out_open(line->form, "heddle.gen/1", NULL, 0);
    out_fact(r, "workload", "workload", OUT_TEXT, out_text(line->word[0]));
    out_fact(r, "seed", "seed", OUT_PLAIN, out_count(g->seed));
    out_fact(r, "file", "file", OUT_TEXT, out_text(o->path));
    out_fact(r, "format", "format", OUT_TEXT, out_text(g->fastq ? "fastq" : "fasta"));
    out_fact(r, "records", "records", OUT_COUNT, out_count(written.records));
    out_fact(r, "bases", "bases", OUT_COUNT, out_count(written.bases));
    if (g->coverage > 0) out_fact(r, "errors", "wrong bases", OUT_COUNT, out_count(written.errors));
    out_fact(r, "time_s", "time", OUT_SECONDS, out_real((double)(progress_now_ns() - begin) * 1e-9));
    return out_close(r, TOOL_OK);
}

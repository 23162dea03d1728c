/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_gen.c - writes the requests of a workload to a file, so that other programs (and `heddle sim`)
 * can replay them; or a genome (gen_genome.c).
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "tools/gen.h"
#include "tools/output.h"
#include "tools/request.h"
#include "tools/trace_out.h"

enum { KEY_INTERSPERSED = 0x100, KEY_TANDEM, KEY_COVERAGE, KEY_READ_BASES, KEY_ERRORS };

static const char doc[] =
    "SPEC is a workload: uniform:KEYS, zipf:EXPONENT,KEYS, ycsb:a,KEYS, pattern:su,LENGTH, pop:FILE, kmer:FILE,K, "
    "or a trace, FORMAT:FILE. `heddle list workloads` has them all. The same SPEC and seed give the same "
    "requests on every machine.\n\n"
    "The format follows from the file's ending (.oracleGeneral, .csv, .txt, .vscsi1, .vscsi2), and a "
    "further .zst or .gz compresses it; --format says otherwise. The file appears when it is complete. "
    "Without -o the requests go to standard output as txt: one key a line.\n\n"
    "The SPEC genome is no workload: it makes a genome with repeats, as FASTA (.fa, .fasta, .fna), or reads of it with "
    "--coverage, as FASTA or FASTQ (.fq, .fastq). Repeats are interspersed (parts of 64 families on either strand, "
    "each "
    "copy up to 15% different) or tandem (units of 1 to 64 bases). It takes no memory, whatever its length.\n\n"
    "EXAMPLES\n"
    "  heddle gen zipf:1.0,5000 --requests 100k -o zipf.oracleGeneral.zst\n"
    "  heddle gen ycsb:a,10k --requests 20k --seed 7 -o ycsb.csv\n"
    "  heddle gen uniform:16 --requests 5\n"
    "  heddle gen genome --bases 1M --seed 3 -o genome.fa.zst\n"
    "  heddle gen genome --bases 1M --seed 3 --coverage 2 --errors 0.01 -o reads.fq.gz\n"
    "  heddle kmer reads.fq.gz 21 --histogram";

static const tool_option option[] = {
    { "requests", 'n', "N", "how many requests (required; 100k and 1Mi are understood)",
      TOOL_RANGE(gen_options, requests, 1, UINT64_MAX) },
    { "output", 'o', "FILE", "where to (standard output)", TOOL_FIELD(gen_options, path) },
    { "format", 'f', "FORMAT", "oracleGeneral, csv, txt, vscsi1 or vscsi2; of a genome fasta or fastq",
      TOOL_FIELD(gen_options, format) },
    { "seed", 'S', "N", "of the requests, or of the genome (0)", TOOL_RANGE(gen_options, genome.seed, 0, UINT64_MAX) },
    { "bases", 'b', "N", "of the genome (10M)", TOOL_RANGE(gen_options, genome.bases, 1, HD_GENOME_BASES_MOST) },
    { "interspersed", KEY_INTERSPERSED, "SHARE", "of the genome's bases that are in interspersed repeats (0.4)",
      TOOL_RANGE(gen_options, genome.interspersed, 0, 1) },
    { "tandem", KEY_TANDEM, "SHARE", "of its bases that are in tandem repeats (0.03)",
      TOOL_RANGE(gen_options, genome.tandem, 0, 1) },
    { "coverage", KEY_COVERAGE, "X", "write reads, so many that a base of the genome is in X of them on average",
      TOOL_RANGE(gen_options, genome.coverage, 0, HD_GENOME_COVERAGE_MOST) },
    { "read-bases", KEY_READ_BASES, "N", "of a read (150)",
      TOOL_RANGE(gen_options, genome.read_bases, 1, HD_GENOME_READ_MOST) },
    { "errors", KEY_ERRORS, "SHARE", "of the bases of reads that are wrong (0.005)",
      TOOL_RANGE(gen_options, genome.errors, 0, 1) },
    { .name = NULL },
};

static int run(tool_line *line, int argc, char **argv)
{
    gen_options o = {
        .path = "-",
        .genome = { .interspersed = GEN_UNSET, .tandem = GEN_UNSET, .coverage = GEN_UNSET, .errors = GEN_UNSET }
    };
    int code = tool_parse(line, argc, argv, &o);
    if (code >= 0) return code;
    if (strcmp(line->word[0], "genome") == 0) return gen_genome(line, &o);
    if (gen_is_of_genome(&o.genome))
        return tool_say(TOOL_USAGE, "--bases, --interspersed, --tandem, --coverage, --read-bases and --errors are for "
                                    "heddle gen genome");
    if (strncmp(line->word[0], "genome", 6) == 0)
        return tool_say(TOOL_USAGE, "'%s': a genome has options: heddle gen genome --bases N", line->word[0]);
    if (!o.requests) return tool_say(TOOL_USAGE, "--requests is missing: most workloads never end");
    const char *format = trace_writer_pick(o.path, o.format);
    if (!format) return TOOL_USAGE;

    request_source from;
    code = request_spec(&from, line->word[0]);
    if (!code && !from.endless) code = tool_apart("--output", o.path, from.args.arg[0]);
    if (code) return code;
    from.args.seed = o.genome.seed;
    hd_source *source;
    hd_status e = hd_source_open(&from.args, &source);
    if (e) return tool_fail(e);
    watched w;
    uint64_t begin = progress_now_ns();
    hd_trace_written written = { 0 };
    e = hd_trace_convert(watched_begin(&w, source, "gen", o.requests), o.requests, o.path, format, &written);
    watched_end(&w);
    if (e || strcmp(o.path, "-") == 0) { /* standard output is the trace */
        if (!e) trace_source_says(source, &written);
        hd_source_close(source);
        return e ? tool_fail(e) : TOOL_OK;
    }
    out *r = out_open(line->form, "heddle.gen/1", NULL, 0);
    out_fact(r, "workload", "workload", OUT_TEXT, out_text(line->word[0]));
    out_fact(r, "seed", "seed", OUT_PLAIN, out_count(o.genome.seed));
    out_fact(r, "file", "file", OUT_TEXT, out_text(o.path));
    out_fact(r, "format", "format", OUT_TEXT, out_text(format));
    out_fact(r, "requests", "requests", OUT_COUNT, out_count(written.requests));
    out_fact(r, "time_s", "time", OUT_SECONDS, out_real((double)(progress_now_ns() - begin) * 1e-9));
    trace_source_facts(r, source, false, &written);
    hd_source_close(source);
    if (written.requests < o.requests) out_note(r, "the workload ended after these requests\n");
    return out_close(r, TOOL_OK);
}

const tool_verb verb_gen = { "gen", "SPEC", "write a trace of a generated workload", doc, 1, 1, option, NULL, run };

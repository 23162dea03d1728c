/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_classify.c - which reference genome each read comes from: the k-mers of the references are the keys of a table
 * (taxa.h), and those of a read, looked up in it, vote (votes.h).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tools/input.h"
#include "tools/output.h"
#include "tools/progress.h"
#include "tools/taxa_file.h"
#include "tools/votes.h"
#include "workload/kmer_range.h"
#include "workload/stream.h"

enum { LONGEST = 31, USUAL_K = 16, REFERENCES_MOST = 1 << 16 };

typedef struct classify_options {
    uint64_t k, capacity, threads, batch, min_votes;
    const char *by, *design, *backend, *near, *build, *with, *reads;
    tool_words set;
    bool lenient;
} classify_options;

enum { KEY_BY = 0x100, KEY_BUILD, KEY_WITH, KEY_BATCH, KEY_THREADS, KEY_LENIENT };

static const char doc[] =
    "READS and REFERENCE are FASTA or FASTQ, plain, .gz or .zst, or - for standard input. A REFERENCE is a taxon, "
    "which has the name of the file, without folder and endings; with --by record each of its records is one, and has "
    "the first word of the header as its name.\n\n"
    "Every k-mer of a read, found in the table, is a vote for the taxon that it belongs to. A k-mer and its reverse "
    "complement are one. A k-mer of several taxa is ambiguous: it votes for none of them, and no lowest common "
    "ancestor is looked for. A read belongs to the taxon with the most votes. It is unclassified if two taxa have as "
    "many, or if there are fewer than --min-votes.\n\n"
    "--build keeps the table in SNAPSHOT and the names in SNAPSHOT.taxa, and --with reads both. They are refused "
    "unless they were written together.\n\n"
    "--reads FILE has a line for every read, separated by tabs: its name, its taxon (empty: unclassified), the votes "
    "for the best taxon and for the next one, and how many of its k-mers there are, are in the table, and are "
    "ambiguous.\n\n"
    "The table grows before it could evict. With --capacity it has that many entries and no more; if they were too "
    "few, nothing is kept, and the exit code is 1.\n\n"
    "EXAMPLES\n"
    "  heddle gen genome --bases 50k --seed 1 -o one.fa\n"
    "  heddle gen genome --bases 50k --seed 2 -o two.fa\n"
    "  heddle gen genome --bases 50k --seed 2 --coverage 1 --errors 0.01 -o sample.fq\n"
    "  heddle classify sample.fq one.fa two.fa\n"
    "  heddle classify --build genomes.heddle one.fa two.fa --k 21\n"
    "  heddle classify --with genomes.heddle sample.fq --reads reads.tsv --min-votes 5\n"
    "  heddle classify sample.fq one.fa two.fa --design hive --k 16 --json";

static const char *const by_words[] = { "file", "record", NULL };

static const tool_option option[] = {
    { "k", 'k', "K", "bases of a k-mer, 1 to 31 (16)", TOOL_RANGE(classify_options, k, 1, LONGEST) },
    { "by", KEY_BY, "WHAT", "what a taxon is: file, record (file)", TOOL_CHOICE(classify_options, by, by_words) },
    { "build", KEY_BUILD, "SNAPSHOT", "build the table and keep it: all words are REFERENCES",
      TOOL_FIELD(classify_options, build) },
    { "with", KEY_WITH, "SNAPSHOT", "use a table that --build has kept: the only word is READS",
      TOOL_FIELD(classify_options, with) },
    { "min-votes", 'm', "N", "a read with fewer votes for its taxon is unclassified (1)",
      TOOL_RANGE(classify_options, min_votes, 1, UINT64_MAX) },
    { "reads", 'r', "FILE", "write a line for every read (.gz and .zst compress it)",
      TOOL_FIELD(classify_options, reads) },
    { "capacity", 'c', "N", "a table of N entries that does not grow (starts at 64 Ki and grows)",
      TOOL_RANGE(classify_options, capacity, 1, 1ull << 48) },
    { "design", 'd', "DESIGN",
      "of the table (hkv); hive, ovs, sl and gfsl hold K up to 16, ovs and sl with --set value_bytes=8 up to 31",
      TOOL_FIELD(classify_options, design) },
    { "backend", 'b', "NAME", "of the table: ref, host, cuda (ref)", TOOL_FIELD(classify_options, backend) },
    KEEP_OPTIONS(classify_options),
    { "batch", KEY_BATCH, "N", "k-mers that are looked up at a time, of as many reads as have them (1Mi)",
      TOOL_RANGE(classify_options, batch, 1, 1 << 26) },
    { "threads", KEY_THREADS, "N", "of the table (all); results do not depend on it",
      TOOL_RANGE(classify_options, threads, 1, 1024) },
    { "lenient", KEY_LENIENT, NULL, "count damaged records and go on; damaged reads are left out",
      TOOL_FIELD(classify_options, lenient) },
    { .name = NULL },
};

typedef struct job {
    const tool_line *line;
    const classify_options *o;
    char **reference; /* (references) */
    int references;
    const char *reads;              /* NULL: only the table is built */
    char *build_names, *with_names; /* taxa_file_names */
    unsigned k;
    const char *by;
    taxa t;
    uint64_t *key;                      /* (batch) */
    uint32_t *value;                    /* (batch) */
    uint64_t growths, skipped;          /* skipped: of references */
    int fastq, bare;                    /* references that are FASTQ; that have no k-mer */
    const char *fastq_path, *bare_path; /* the first of each */
    double build_s, build_table_s;      /* 0: it was read from a file */
    double classify_s, classify_table_s;
    votes v;
} job;

/* ---- Files of sequences ---------------------------------------------------------------------- */

static hd_status source_open(const job *j, const char *path, hd_source **s)
{
    char k[4];
    snprintf(k, sizeof k, "%u", j->k);
    hd_source_args args = { .name = "kmer", .arg = { input_path(path), k }, .args = 2, .lenient = j->o->lenient };
    return hd_source_open(&args, s);
}

static hd_status go_on(progress *p, const hd_source *s, uint64_t done)
{
    return progress_at(p, done, 0, hd_source_share(s)) ? hd_fail(HD_EIO, "interrupted") : HD_OK;
}

/* ---- Building -------------------------------------------------------------------------------- */

/* "folder/one.fa.gz": "one". */
static char *name_of_file(const char *path)
{
    static const char *const ending[] = { ".gz", ".zst", ".fa", ".fasta", ".fna", ".fq", ".fastq" };
    const char *slash = strrchr(path, '/');
    char *name = strdup(slash ? slash + 1 : path);
    for (size_t i = 0; name && i < sizeof ending / sizeof *ending; i++) {
        size_t n = strlen(name), end = strlen(ending[i]);
        if (n > end && strcmp(name + n - end, ending[i]) == 0) name[n - end] = 0;
    }
    return name;
}

static bool by_record(const job *j) { return strcmp(j->by, by_words[1]) == 0; }

static hd_status taxon_of_file(job *j, const char *path)
{
    char *name = name_of_file(input_path(path));
    hd_status e = name ? taxa_name(&j->t, name, 0) : hd_fail(HD_ENOMEM, "memory was refused");
    free(name);
    if (!e) j->t.row[j->t.n - 1].path = path;
    return e;
}

static hd_status taxon_of_record(job *j, const char *path, const hd_kmer_record *r)
{
    if (!*r->name) return hd_fail(HD_ECORRUPT, "%s: byte %" PRIu64 ": a record has no name", path, r->byte);
    hd_status e = taxa_name(&j->t, r->name, 0);
    if (e) return e;
    j->t.row[j->t.n - 1].path = path;
    j->t.row[j->t.n - 1].byte = r->byte;
    return HD_OK;
}

/* The keys that were read go to the table. */
static hd_status keys_add(job *j, size_t *n, progress *p, const hd_source *s)
{
    hd_status e = *n ? taxa_add(&j->t, j->key, j->value, *n) : HD_OK;
    *n = 0;
    return e ? e : go_on(p, s, j->t.added);
}

/* The next keys of a record. A new record may be a new taxon. */
static hd_status keys_read(job *j, const char *path, hd_source *s, size_t *n, hd_kmer_record *r)
{
    bool begins = r->ended;
    size_t got;
    hd_status e = hd_kmer_record_keys(s, j->key + *n, j->t.most - *n, &got, r);
    if (!e && begins && r->name && by_record(j)) e = taxon_of_record(j, path, r);
    for (size_t i = 0; i < got && !e; i++) j->value[(*n)++] = j->t.n;
    return e;
}

static hd_status reference_add(job *j, const char *path, hd_source *s, progress *p)
{
    const uint64_t before = j->t.added;
    size_t n = 0;
    hd_kmer_record r = { .name = "", .ended = true };
    hd_status e = by_record(j) ? HD_OK : taxon_of_file(j, path);
    while (!e && r.name) {
        e = keys_read(j, path, s, &n, &r);
        if (!e && n == j->t.most) e = keys_add(j, &n, p, s);
    }
    if (!e) e = keys_add(j, &n, p, s);
    if (e) return e;
    if (hd_kmer_marker(s) == '@' && j->fastq++ == 0) j->fastq_path = path;
    if (j->t.added == before && j->bare++ == 0) j->bare_path = path;
    return HD_OK;
}

/* What is no failure, and yet seldom meant. */
static void references_say(const job *j)
{
    if (j->fastq)
        tool_say(TOOL_OK, "%d REFERENCE in FASTQ, %s first: a genome here, and not the second file of pairs", j->fastq,
                 j->fastq_path);
    if (j->bare)
        tool_say(TOOL_OK, "%d REFERENCE without a k-mer of %u bases, %s first: no read can belong to it", j->bare, j->k,
                 j->bare_path);
}

static hd_status references_add(job *j)
{
    progress p;
    hd_info before, after;
    uint64_t begin = progress_now_ns();
    hd_status e = hd_table_info(j->t.table, &before);
    progress_begin(&p, "classify: the references", "k-mers");
    for (int i = 0; i < j->references && !e; i++) {
        hd_source *s = NULL;
        e = source_open(j, j->reference[i], &s);
        if (!e) e = reference_add(j, j->reference[i], s, &p);
        if (s) j->skipped += s->skipped;
        hd_source_close(s);
    }
    progress_end(&p);
    if (!e) e = taxa_differ(&j->t);
    if (!e && j->t.added == 0) e = hd_fail(HD_ECORRUPT, "no REFERENCE has a k-mer of %u bases", j->k);
    if (!e) e = hd_table_info(j->t.table, &after);
    if (!e) references_say(j);
    if (!e)
        for (uint64_t n = before.capacity; n < after.capacity; n *= 2) j->growths++;
    j->build_s = (double)(progress_now_ns() - begin) * 1e-9;
    j->build_table_s = (double)j->t.table_ns * 1e-9;
    return e;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Standard output has the lines, and no report. */
static bool lines_alone(const job *j) { return j->o->reads && strcmp(j->o->reads, "-") == 0; }

/* The reads' k-mers are looked up in batches, each of many reads; a long read is in several. */
static hd_status reads_count(job *j, hd_source *s)
{
    progress p;
    size_t n = 0, got;
    hd_kmer_record r = { .name = "" };
    hd_status e = HD_OK;
    progress_begin(&p, "classify", "reads");
    while (!e && r.name) {
        e = hd_kmer_record_keys(s, j->key + n, j->t.most - n, &got, &r);
        if (e) break;
        n += got;
        bool full = r.name && !votes_read(&j->v, r.name, n, r.ended, r.damaged);
        if (n < j->t.most && r.name && !full) continue;
        e = votes_count(&j->v, &j->t, j->key, n);
        if (!e && lines_alone(j)) e = j->v.line_failed;
        n = 0;
        if (!e) e = go_on(&p, s, j->v.reads);
    }
    progress_end(&p);
    return e;
}

/* *unsaved: the exit code of lines that could not be saved, which do not keep the report from being printed. */
static hd_status reads_classify(job *j, int *unsaved)
{
    uint64_t begin = progress_now_ns();
    hd_source *s = NULL;
    hd_sink *lines = NULL;
    j->t.table_ns = 0;
    hd_status e = source_open(j, j->reads, &s);
    if (!e && j->o->reads) e = hd_sink_open(&input_seams, j->o->reads, &lines);
    if (!e) e = votes_open(&j->v, &j->t, j->o->min_votes, lines);
    if (!e) e = reads_count(j, s);
    if (s) j->v.skipped = s->skipped;
    hd_source_close(s);
    hd_status closed = hd_sink_close(lines, !e);
    j->classify_s = (double)(progress_now_ns() - begin) * 1e-9;
    j->classify_table_s = (double)j->t.table_ns * 1e-9;
    *unsaved = !e && closed ? tool_fail(hd_fail(closed, "--reads: %s", hd_why())) : TOOL_OK;
    return e;
}

/* ---- Reporting ------------------------------------------------------------------------------- */

static const out_column taxon_column[] = {
    { "taxon", "taxon", OUT_TEXT },
    { "kmers", "k-mers", OUT_COUNT },
    { "reads", "reads", OUT_COUNT },
    { "share", "share of reads", OUT_PERCENT },
};

static const uint64_t *sorted_reads;

static int by_reads(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (sorted_reads && sorted_reads[x] != sorted_reads[y]) return sorted_reads[x] < sorted_reads[y] ? 1 : -1;
    return (x > y) - (x < y);
}

/* Those with the most reads first; else in their order. */
static hd_status taxa_report(out *r, const job *j)
{
    uint32_t *order = (uint32_t *)malloc((j->t.n + 1) * sizeof *order);
    if (!order) return hd_fail(HD_ENOMEM, "memory was refused");
    for (uint32_t i = 0; i < j->t.n; i++) order[i] = i;
    sorted_reads = j->v.of;
    qsort(order, j->t.n, sizeof *order, by_reads);
    for (uint32_t i = 0; i < j->t.n; i++) {
        const taxon *x = &j->t.row[order[i]];
        uint64_t reads = j->reads ? j->v.of[order[i]] : 0;
        double share = j->v.reads ? (double)reads / (double)j->v.reads : 0;
        out_row(r, (const out_value[]){ out_text(x->name), out_count(x->kmers), out_count(reads), out_real(share) });
    }
    free(order);
    return HD_OK;
}

static void table_facts(out *r, const job *j, const hd_info *info)
{
    out_fact(r, "design", "design", OUT_TEXT, out_text(info->design));
    out_fact(r, "backend", "backend", OUT_TEXT, out_text(info->backend));
    out_fact(r, "k", "k", OUT_PLAIN, out_count(j->k));
    out_fact(r, "by", "a taxon is a", OUT_TEXT, out_text(j->by));
    out_fact(r, "taxa", "taxa", OUT_COUNT, out_count(j->t.n));
    out_fact(r, "added", "k-mers of references", OUT_COUNT, out_count(j->t.added));
    out_fact(r, "distinct", "distinct", OUT_COUNT, out_count(taxa_kmers(&j->t)));
    out_fact(r, "ambiguous", "ambiguous", OUT_COUNT, out_count(j->t.ambiguous));
    if (j->o->lenient && j->references) out_fact(r, "skipped", "records skipped", OUT_COUNT, out_count(j->skipped));
    out_fact(r, "capacity", "capacity", OUT_COUNT, out_count(info->capacity));
    out_fact(r, "memory_bytes", "memory", OUT_BYTES, out_count(info->memory_bytes));
    if (!j->references) return;
    out_fact(r, "doublings", "times grown", OUT_COUNT, out_count(j->growths));
    out_fact(r, "build_s", "time to build", OUT_SECONDS, out_real(j->build_s));
    out_fact(r, "build_table_s", "of it in the table", OUT_SECONDS, out_real(j->build_table_s));
    out_fact(r, "build_kmers_per_s", "k-mers per second", OUT_RATE, out_real((double)j->t.added / j->build_s));
}

static void reads_facts(out *r, const job *j)
{
    const votes *v = &j->v;
    out_fact(r, "file", "reads from", OUT_TEXT, out_text(j->reads));
    out_fact(r, "min_votes", "votes needed", OUT_COUNT, out_count(j->o->min_votes));
    out_fact(r, "reads", "reads", OUT_COUNT, out_count(v->reads));
    out_fact(r, "classified", "classified", OUT_COUNT, out_count(v->classified));
    out_fact(r, "no_votes", "without a vote", OUT_COUNT, out_count(v->no_votes));
    out_fact(r, "ties", "with a tie", OUT_COUNT, out_count(v->ties));
    out_fact(r, "few_votes", "with too few votes", OUT_COUNT, out_count(v->few));
    if (j->o->lenient) out_fact(r, "reads_skipped", "reads skipped", OUT_COUNT, out_count(v->skipped));
    out_fact(r, "looked_up", "k-mers of reads", OUT_COUNT, out_count(v->kmers));
    out_fact(r, "found", "found", OUT_COUNT, out_count(v->found));
    out_fact(r, "classify_s", "time to classify", OUT_SECONDS, out_real(j->classify_s));
    out_fact(r, "classify_table_s", "of it in the table", OUT_SECONDS, out_real(j->classify_table_s));
    out_fact(r, "reads_per_s", "reads per second", OUT_RATE, out_real((double)v->reads / j->classify_s));
    out_fact(r, "kmers_per_s", "k-mers per second", OUT_RATE, out_real((double)v->kmers / j->classify_s));
}

static int report(const job *j)
{
    hd_info info;
    hd_status e = hd_table_info(j->t.table, &info);
    if (e) return tool_fail(e);
    out *r = j->reads ? out_open(j->line->form, "heddle.classify/1", taxon_column, 4)
                      : out_open(j->line->form, "heddle.classify.build/1", taxon_column, 2);
    table_facts(r, j, &info);
    if (j->reads) reads_facts(r, j);
    e = taxa_report(r, j);
    if (!e) return out_close(r, TOOL_OK);
    out_drop(r);
    return tool_fail(e);
}

/* ---- The command line ------------------------------------------------------------------------ */

/* Builds the table, or reads it. A table that lost k-mers would classify wrongly. */
static int table_make(job *j)
{
    const classify_options *o = j->o;
    const taxa_config config = { .design = o->design,
                                 .backend = o->backend,
                                 .set = { o->near, &o->set },
                                 .capacity = o->capacity,
                                 .threads = (uint32_t)o->threads,
                                 .most = (size_t)o->batch };
    hd_info info;
    uint64_t lost = 0;
    if (o->with) {
        hd_status e = taxa_file_open(&j->t, o->with, &config, &j->k, &j->by);
        return e ? tool_fail(hd_fail(e, "--with: %s", hd_why())) : TOOL_OK;
    }
    hd_status e = taxa_open(&j->t, &config);
    if (!e) e = keep_kmers(j->t.keys, j->k);
    if (!e) e = references_add(j);
    if (!e) e = keep_lost(j->t.table, j->t.grows, &lost);
    if (!e) e = hd_table_info(j->t.table, &info);
    if (e) return tool_fail(e);
    if (lost)
        return tool_say(TOOL_DIFFERS,
                        "%" PRIu64 " k-mers did not fit into a table of %" PRIu64
                        " entries; leave --capacity out, and the table grows as it must, or give it more",
                        lost, info.capacity);
    return TOOL_OK;
}

static int job_run(job *j)
{
    size_t batch = (size_t)j->o->batch;
    j->key = (uint64_t *)malloc(batch * sizeof *j->key);
    j->value = (uint32_t *)malloc(batch * sizeof *j->value);
    if (!j->key || !j->value) return tool_say(TOOL_SYSTEM, "the memory of a batch was refused");
    int code = table_make(j), unsaved = TOOL_OK;
    hd_status e = !code && j->reads ? reads_classify(j, &unsaved) : HD_OK;
    if (code || e) return code ? code : tool_fail(e);
    code = lines_alone(j) ? TOOL_OK : report(j);
    if (!code && j->o->build && (e = taxa_file_save(&j->t, j->o->build, j->k, j->by)))
        code = tool_fail(hd_fail(e, "--build: %s", hd_why()));
    return code > unsaved ? code : unsaved;
}

/* Which words are what. */
static int words_share(job *j)
{
    const classify_options *o = j->o;
    const int reads = o->build ? 0 : 1, references = j->line->words - reads;
    const bool builds = o->k || o->by || o->design || o->capacity || o->set.n;
    const struct {
        bool is;
        const char *why;
    } wrong[] = {
        { o->build && o->with, "--build and --with: one of them" },
        { o->build && o->reads, "--reads: --build classifies nothing" },
        { o->with && builds, "--k, --by, --design, --capacity and --set are for building; --with has a table" },
        { o->with && references, "--with: it takes READS, and no REFERENCE" },
        { !o->with && !references, "it takes READS and a REFERENCE" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (wrong[i].is) return tool_say(TOOL_USAGE, "%s", wrong[i].why);
    j->reads = reads ? j->line->word[0] : NULL;
    j->reference = j->line->word + reads;
    j->references = references;
    return TOOL_OK;
}

/* The file of names beside a snapshot, if there is one. */
static int names_take(const char *path, char **names)
{
    *names = path ? taxa_file_names(path) : NULL;
    return path && !*names ? tool_say(TOOL_SYSTEM, "memory was refused") : TOOL_OK;
}

static int inputs_check(const job *j)
{
    int code = j->reads ? tool_file("READS", input_path(j->reads)) : TOOL_OK;
    for (int i = 0; i < j->references && !code; i++) code = tool_file("REFERENCE", input_path(j->reference[i]));
    return !code && j->o->with ? tool_file("--with", j->o->with) : code;
}

/* path: NULL if there is none. It may be none of the files that are read. */
static int output_check(const job *j, const char *what, const char *path)
{
    if (!path || strcmp(path, "-") == 0) return TOOL_OK;
    int code = tool_apart(what, path, j->o->with);
    if (!code) code = tool_apart(what, path, j->with_names);
    for (int i = 0; i < j->line->words && !code; i++) code = tool_apart(what, path, j->line->word[i]);
    return code ? code : tool_writable(what, path);
}

/* Before the work. */
static int files_check(job *j)
{
    int code = inputs_check(j);
    if (!code) code = names_take(j->o->build, &j->build_names);
    if (!code) code = names_take(j->o->with, &j->with_names);
    if (!code) code = output_check(j, "--build", j->o->build);
    if (!code) code = output_check(j, "--build", j->build_names);
    if (!code) code = output_check(j, "--reads", j->o->reads);
    return !code && j->o->capacity ? tool_fits("--capacity", j->o->capacity, sizeof(uint32_t)) : code;
}

static int run(tool_line *line, int argc, char **argv)
{
    classify_options o = { .batch = 1 << 20, .min_votes = 1 };
    int code = tool_parse(line, argc, argv, &o);
    if (code >= 0) return code;
    job *j = (job *)calloc(1, sizeof *j);
    if (!j) return tool_say(TOOL_SYSTEM, "memory was refused");
    j->line = line;
    j->o = &o;
    j->k = o.k ? (unsigned)o.k : USUAL_K;
    j->by = o.by ? o.by : by_words[0];
    code = words_share(j);
    if (!code) code = files_check(j);
    if (!code) code = job_run(j);
    votes_close(&j->v);
    taxa_close(&j->t);
    free(j->build_names);
    free(j->with_names);
    free(j->key);
    free(j->value);
    free(j);
    return code;
}

const tool_verb verb_classify = {
    "classify", "READS REFERENCE...", "find which genome each read comes from", doc, 1, REFERENCES_MOST, option, NULL,
    run
};

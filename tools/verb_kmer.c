/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_kmer.c - counts the k-mers of a genome or of reads in a table, by accum_or_assign (tally.h), and
 * says whether the counts are exact: a cache forgets, a count must not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/team.h"
#include "tools/chunks.h"
#include "tools/counter.h"
#include "tools/input.h"
#include "tools/output.h"
#include "tools/progress.h"
#include "tools/tally.h"

typedef struct kmer_options {
    uint64_t capacity, top, threads;
    bool forward, histogram, lenient;
    const char *save, *design, *backend, *near;
    tool_words set;
} kmer_options;

enum { KEY_CANONICAL = 0x100, KEY_HISTOGRAM, KEY_THREADS, KEY_LENIENT };

static const char doc[] =
    "FILE is FASTA or FASTQ, plain, .gz or .zst, or - for standard input; K is 1 to 31 bases. A window with anything "
    "but A, C, G, T in "
    "it is passed over. By default a k-mer and its reverse complement are one, printed as the lesser of the "
    "two; --forward tells them apart.\n\n"
    "The table grows before it could evict, so counts are exact. With --capacity it has that many entries "
    "and no more; if they were too few, the report says that it is not exact, and the exit code is 1.\n\n"
    "EXAMPLES\n"
    "  printf '>tiny\\nGATTACAGATTACA\\n' > tiny.fa\n"
    "  heddle kmer tiny.fa 3\n"
    "  heddle kmer tiny.fa 3 --forward --histogram\n"
    "  heddle kmer tiny.fa 5 --top 3 -o tiny.hd\n"
    "  heddle kmer tiny.fa 4 --design hive\n"
    "  heddle kmer tiny.fa 4 --design ovs --set segment=4096\n"
    "  heddle kmer tiny.fa 12 --design sl";

static const tool_option option[] = {
    { "capacity", 'c', "N", "a table of N entries that does not grow (starts at 64 Ki and grows)",
      TOOL_RANGE(kmer_options, capacity, 1, 1ull << 48) },
    { "design", 'd', "DESIGN",
      "count in a table of this design (hkv); hive and gfsl have 4-byte counts and hold K up to 16",
      TOOL_FIELD(kmer_options, design) },
    { "backend", 'b', "NAME", "of the table: ref, host, cuda (ref)", TOOL_FIELD(kmer_options, backend) },
    KEEP_OPTIONS(kmer_options),
    { "canonical", KEY_CANONICAL, NULL, "a k-mer and its reverse complement are one (the default)",
      .kind = TOOL_BY_PARSER },
    { "forward", 'f', NULL, "k-mers as they are read", .kind = TOOL_BY_PARSER },
    { "top", 't', "N", "print the N most frequent (10)", TOOL_RANGE(kmer_options, top, 0, 1u << 20) },
    { "histogram", KEY_HISTOGRAM, NULL, "print how many k-mers occur once, twice, ... instead",
      TOOL_FIELD(kmer_options, histogram) },
    { "threads", KEY_THREADS, "N", "of the table (all); counts do not depend on it",
      TOOL_RANGE(kmer_options, threads, 1, 4096) },
    { "lenient", KEY_LENIENT, NULL, "count damaged records and go on", TOOL_FIELD(kmer_options, lenient) },
    { "output", 'o', "SNAPSHOT", "keep the table: key (A 0, C 1, G 2, T 3, first base highest) and u64 count",
      TOOL_FIELD(kmer_options, save) },
    { .name = NULL },
};

/* Of --canonical and --forward, the last one counts. */
static error_t parse(int key, const char *arg, void *options)
{
    (void)arg;
    ((kmer_options *)options)->forward = key == 'f';
    return 0;
}

/* The bases of a key, as the source packs them. */
enum { LONGEST = 31 };
static const char *letters(char text[LONGEST + 1], uint64_t key, unsigned k)
{
    for (unsigned i = 0; i < k; i++) text[i] = "ACGT"[key >> 2 * (k - 1 - i) & 3];
    text[k] = 0;
    return text;
}

/* ---- Counting -------------------------------------------------------------------------------- */

typedef struct kmer_count {
    tally counts;
    uint64_t skipped;
    double seconds;
} kmer_count;

/* Threads that read. Beside a device all can; beside threads that count one of eight is enough. */
static uint32_t reading_threads(const tally *t, uint64_t threads)
{
    if (threads == 0) threads = hd_team_usual();
    return t->device ? (uint32_t)threads : (uint32_t)(1 + threads / 8);
}

/* Reads and counts side by side. */
static hd_status count_chunks(chunks *reading, counter *counting)
{
    progress p;
    hd_status e = HD_OK;
    bool stopped = false;
    progress_begin(&p, "kmer", "k-mers");
    for (chunk next = { .n = 1 }; next.n && !e && !stopped;) {
        e = chunks_next(reading, &next);
        if (!e && next.n) e = counter_give(counting, next.key, next.n, next.share);
        stopped = progress_at(&p, counter_counted(counting), 0, next.share);
    }
    hd_status counted = counter_close(counting, stopped);
    progress_end(&p);
    return e ? e : counted;
}

static hd_status count_all(kmer_count *c, const kmer_options *o, const hd_source_args *args)
{
    tally *t = &c->counts;
    const chunks_config config = { args, reading_threads(t, o->threads), tally_is_far(t) ? t->device : NULL };
    chunks *reading = NULL;
    counter *counting = NULL;
    uint64_t begin = progress_now_ns();
    hd_status e = chunks_open(&config, &reading);
    if (!e) e = counter_open(t, &counting);
    if (!e) e = count_chunks(reading, counting);
    c->seconds = (double)(progress_now_ns() - begin) * 1e-9;
    c->skipped = e ? 0 : chunks_skipped(reading);
    chunks_close(reading);
    return e;
}

/* ---- Reporting ------------------------------------------------------------------------------- */

static const out_column top_column[] = {
    { "kmer", "k-mer", OUT_TEXT },
    { "count", "count", OUT_COUNT },
    { "share", "share", OUT_PERCENT },
};
static const out_column step_column[] = {
    { "count", "occurs", OUT_COUNT },
    { "kmers", "k-mers", OUT_COUNT },
    { "share", "share of k-mers", OUT_PERCENT },
};

static hd_status rows_top(out *r, const kmer_count *c, const kmer_options *o, unsigned k)
{
    size_t most = o->top < c->counts.entries ? (size_t)o->top : (size_t)c->counts.entries, got = 0;
    tally_entry *entry = (tally_entry *)malloc((most + 1) * sizeof *entry);
    if (!entry) return hd_fail(HD_ENOMEM, "--top: memory was refused");
    hd_status e = tally_top(&c->counts, most, entry, &got);
    char text[LONGEST + 1];
    for (size_t i = 0; i < got && !e; i++) {
        double share = (double)entry[i].times / (double)c->counts.counted;
        out_row(r, (const out_value[]){ out_text(letters(text, entry[i].key, k)), out_count(entry[i].times),
                                        out_real(share) });
    }
    free(entry);
    return e;
}

static hd_status rows_histogram(out *r, const kmer_count *c)
{
    tally_step *step;
    size_t steps;
    uint64_t keys = 0;
    hd_status e = tally_spectrum(&c->counts, &step, &steps);
    if (e) return e;
    for (size_t i = 0; i < steps; i++) keys += step[i].keys;
    for (size_t i = 0; i < steps; i++) {
        double share = (double)step[i].keys / (double)keys;
        out_row(r, (const out_value[]){ out_count(step[i].times), out_count(step[i].keys), out_real(share) });
    }
    free(step);
    return HD_OK;
}

static int report(const tool_line *line, const kmer_count *c, const kmer_options *o, unsigned k)
{
    hd_info info;
    bool exact = false;
    uint64_t lost = 0;
    hd_status e = hd_table_info(c->counts.table, &info);
    if (!e) e = tally_exact(&c->counts, &exact, &lost);
    if (e) return tool_fail(e);

    out *r = o->histogram ? out_open(line->form, "heddle.kmer.histogram/1", step_column, 3)
                          : out_open(line->form, "heddle.kmer/1", top_column, 3);
    out_fact(r, "file", "file", OUT_TEXT, out_text(line->word[0]));
    out_fact(r, "design", "design", OUT_TEXT, out_text(info.design));
    out_fact(r, "backend", "backend", OUT_TEXT, out_text(info.backend));
    out_fact(r, "k", "k", OUT_PLAIN, out_count(k));
    out_fact(r, "canonical", "canonical", OUT_FLAG, out_flag(!o->forward));
    out_fact(r, "counted", "counted", OUT_COUNT, out_count(c->counts.counted));
    /* when some left, how many there were is not known */
    out_fact(r, "distinct", "distinct", OUT_COUNT, exact ? out_count(c->counts.entries) : out_none());
    out_fact(r, "exact", "exact", OUT_FLAG, out_flag(exact));
    out_fact(r, "lost", "evicted or refused", OUT_COUNT, out_count(lost));
    if (o->lenient) out_fact(r, "skipped", "records skipped", OUT_COUNT, out_count(c->skipped));
    out_fact(r, "capacity", "capacity", OUT_COUNT, out_count(info.capacity));
    out_fact(r, "doublings", "times grown", OUT_COUNT, out_count(c->counts.growths));
    out_fact(r, "memory_bytes", "memory", OUT_BYTES, out_count(info.memory_bytes));
    out_fact(r, "time_s", "time", OUT_SECONDS, out_real(c->seconds));
    out_fact(r, "kmers_per_s", "k-mers per second", OUT_RATE, out_real((double)c->counts.counted / c->seconds));
    if (c->counts.counted == 0)
        out_note(r, "no record has %u of the bases A, C, G and T in a row: there is no k-mer\n", k);
    e = o->histogram ? rows_histogram(r, c) : rows_top(r, c, o, k);
    if (e) {
        out_drop(r);
        return tool_fail(e);
    }
    int code = out_close(r, TOOL_OK);
    if (code) return code;
    if (exact && o->save && tally_beside(&c->counts))
        return tool_say(TOOL_DIFFERS,
                        "--output: %s lacks %" PRIu64
                        " k-mers that no table of %s can hold; they are counted, but not kept",
                        o->save, tally_beside(&c->counts), info.design);
    if (exact) return code;
    return tool_say(TOOL_DIFFERS,
                    "the counts are not exact: %" PRIu64 " entries did not fit into a table of %" PRIu64
                    "; leave --capacity out, and the table grows as it must, or give it more",
                    lost, info.capacity);
}

static int count_and_report(const tool_line *line, const kmer_options *o, kmer_count *c, const hd_source_args *args,
                            unsigned k)
{
    const tally_config config = { .design = o->design,
                                  .backend = o->backend,
                                  .set = { o->near, &o->set },
                                  .k = k,
                                  .capacity = o->capacity,
                                  .threads = (uint32_t)o->threads,
                                  .most = TALLY_BATCH_MOST };
    hd_status e = tally_open(&c->counts, &config);
    if (!e) e = keep_kmers(c->counts.keys, k);
    if (!e) e = count_all(c, o, args);
    if (!e && tool_stopped()) return TOOL_STOPPED;
    if (e) return tool_fail(e);
    int code = report(line, c, o, k);
    if (code <= TOOL_DIFFERS && o->save && (e = hd_save(c->counts.table, o->save)))
        code = tool_fail(hd_fail(e, "--output: %s", hd_why()));
    return code;
}

static int run(tool_line *line, int argc, char **argv)
{
    kmer_options o = { .top = 10, .design = hd_config_default().design };
    int code = tool_parse(line, argc, argv, &o);
    if (code >= 0) return code;
    uint64_t k;
    hd_status e = hd_parse_u64("K", line->word[1], 1, LONGEST, &k);
    if (e) return tool_fail(e);
    const char *path = input_path(line->word[0]);
    code = tool_file("FILE", path);
    if (!code) code = tool_apart("--output", o.save, line->word[0]);
    if (!code && o.save) code = tool_writable("--output", o.save);
    if (!code && o.capacity) code = tool_fits("--capacity", o.capacity, sizeof(uint64_t));
    if (code) return code;

    hd_source_args args = { .name = "kmer", .arg = { path, line->word[1] }, .args = 2, .lenient = o.lenient };
    args.option[0][0] = "canonical";
    args.option[0][1] = o.forward ? "0" : "1";
    args.options = 1;
    kmer_count *c = (kmer_count *)calloc(1, sizeof *c);
    if (!c) return tool_say(TOOL_SYSTEM, "memory was refused");
    code = count_and_report(line, &o, c, &args, (unsigned)k);
    tally_close(&c->counts);
    free(c);
    return code;
}

const tool_verb verb_kmer = { "kmer", "FILE K", "count the k-mers of a genome or of reads", doc, 2, 2, option,
                              parse,  run };

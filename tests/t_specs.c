/* SPDX-License-Identifier: Apache-2.0
 *
 * t_specs.c - workloads by their specifications: the same seed gives the same requests everywhere; wrong specifications
 * and failed allocations are reported.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "tests/traces.h"

/* ---- The same requests, everywhere ----------------------------------------------------------- */

typedef struct hashed {
    XXH3_state_t *xxh;
} hashed;

static void hash_request(void *context, const hd_request *r)
{
    uint64_t word[2] = { r->key, r->verb };
    const void *volatile input = word; /* else GCC warns about the branches of XXH3 for longer inputs */
    XXH3_64bits_update(((hashed *)context)->xxh, input, sizeof word);
}

static uint64_t stream_hash(const char *spec, uint64_t seed, size_t piece, uint64_t n)
{
    hashed h = { XXH3_createState() };
    check(h.xxh, "no memory");
    XXH3_64bits_reset(h.xxh);
    draw(spec, seed, piece, n, hash_request, &h);
    uint64_t hash = XXH3_64bits_digest(h.xxh);
    XXH3_freeState(h.xxh);
    return hash;
}

/* clang-format off */
static const struct { const char *spec; uint64_t hash; } pinned[] = {
    { "uniform:1000000", 0xbd8cd2fdd9150144 },
    { "uniform:1000000,first=77,scramble=1", 0xbb3bcbfffa0a2a59 },
    { "zipf:0,1M", 0x46e069a678bb1091 },
    { "zipf:0.5,4611686018427387904", 0x849eddff128c663d },
    { "zipf:0.99,1M", 0x83906003426f3b38 },
    { "zipf:1,1M", 0xd27bdfe30acdd5b1 },
    { "zipf:2,1M,scramble=0", 0x898755c6f35caf02 },
    { "ycsb:A,1M", 0x1faab4bc22a7d7ac },
    { "ycsb:D,1M", 0xe970af8fb041c858 },
    { "ycsb:F,1M,exponent=1.2", 0x69b1124a922f2407 },
    { "pattern:dr,1M,block=300k", 0x0de09590404b076c },
    { "pattern:su,4000M", 0x161da191958c4be3 },
    { "pattern:sur,1M,range=artifact,block=200k", 0x5f6d0f27ea4471d4 }
};
/* clang-format on */

/* The first million requests of seed 42, on a little-endian machine: key and verb. They are part of what a case
 * string means; a change of them is a change of every recorded result. */
static void test_pinned(void)
{
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
        uint64_t hash = stream_hash(pinned[i].spec, 42, DRAW_AT_ONCE, 1000000);
        check(hash == pinned[i].hash, "%s: 0x%016" PRIx64, pinned[i].spec, hash);
    }
}

static void test_repeats(void)
{
    char pop[4200];
    snprintf(pop, sizeof pop, "pop:%s",
             text_file("repeat.pop.json", "{\"popularityWeights\":[5,7],\"popularityBuckets\":[2,9],\"oneHits\":0.1}"));
    const char *const spec[] = {
        "uniform:1000", "zipf:0.99,1000", "ycsb:a,1000", "ycsb:d,1000", "pattern:su,1000", pop
    };
    for (size_t i = 0; i < sizeof spec / sizeof *spec; i++) {
        uint64_t hash = stream_hash(spec[i], 5, DRAW_AT_ONCE, 50000);
        check(stream_hash(spec[i], 5, DRAW_AT_ONCE, 50000) == hash, "the same seed, other requests");
        check(stream_hash(spec[i], 5, 7, 50000) == hash, "requests depend on how many are asked for at once");
        check(stream_hash(spec[i], 6, DRAW_AT_ONCE, 50000) != hash, "another seed, the same requests");
    }
}

/* ---- Specs ----------------------------------------------------------------------------------- */

static void test_bad_specs(void)
{
    static const test_refusal row[] = { { "", "there is no ''" },
                                        { "zipff:1,10", "nearest: zipf" },
                                        { "unifrom:10", "nearest: uniform" },
                                        { "unifrom:10", "all: uniform, zipf" },
                                        { "uniform", "the form is uniform:KEYS" },
                                        { "uniform:1,2", "the form is uniform:KEYS" },
                                        { "uniform:", "KEYS" },
                                        { "uniform:0", "KEYS" },
                                        { "uniform:x", "KEYS" },
                                        { "uniform:18446744073709551614", "KEYS" },
                                        { "uniform:10,first=18446744073709551612", "first" },
                                        { "uniform:10,frist=1", "nearest: first" },
                                        { "uniform:10,first=1,first=2", "twice" },
                                        { "uniform:10,scramble=2", "scramble" },
                                        { "zipf:0.99", "EXPONENT,KEYS" },
                                        { "zipf:2.01,10", "EXPONENT" },
                                        { "zipf:-0.1,10", "EXPONENT" },
                                        { "zipf:nan,10", "EXPONENT" },
                                        { "zipf:1,4611686018427387905", "KEYS" },
                                        { "zipf:1,10,skramble=0", "nearest: scramble" },
                                        { "ycsb:E,10", "do not scan" },
                                        { "ycsb:e,10", "do not scan" },
                                        { "ycsb:G,10", "A, B, C, D, F" },
                                        { "ycsb:,10", "A, B, C, D, F" },
                                        { "ycsb:AB,10", "A, B, C, D, F" },
                                        { "ycsb:A", "WORKLOAD,KEYS" },
                                        { "ycsb:A,10,exponent=3", "exponent" },
                                        { "pop", "no file" },
                                        { "pop:", "no file" },
                                        { "pop:/none,onehit=1", "nearest: onehits" },
                                        { "kmer:/none", "FILE,K" },
                                        { "kmer:/none,0", "K" },
                                        { "kmer:/none,32", "K" },
                                        { "kmer:/none,16,canon=1", "nearest: canonical" },
                                        { "uniform:1,2,3,4,5,6,7,8,9,10,11,12,13", "more than 12 arguments" },
                                        { "uniform:a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1",
                                          "more than 12 options" } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        hd_source *s = NULL;
        test_case("%s", row[i].text);
        must_fail(hd_source_open_spec(row[i].text, 0, &s), HD_EINVAL, row[i].word);
        check(!s, "a source all the same");
    }
    char longest[8192];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    hd_source *s = NULL;
    must_fail(hd_source_open_spec(longest, 0, &s), HD_EINVAL, "bytes");
}

static void test_parse(void)
{
    char store[64];
    hd_source_args a;
    must(hd_source_parse("kmer:./a=b.fa,16,canonical=0", store, sizeof store, &a));
    assert_string_equal(a.name, "kmer");
    assert_int_equal(a.args, 2);
    assert_string_equal(a.arg[0], "./a=b.fa"); /* a file name may hold '=' once it is no option's name */
    assert_string_equal(a.arg[1], "16");
    assert_int_equal(a.options, 1);
    assert_string_equal(hd_source_option(&a, "canonical", "1"), "0");
    assert_string_equal(hd_source_option(&a, "other", "1"), "1");
    must_fail(hd_source_parse("zipf:1,2", store, 8, &a), HD_EINVAL, "at most 7");
    must(hd_source_parse("zipf:1,2", store, 9, &a));
}

/* Writes the form with values for its words, with or without what is in brackets. */
static void form_fill(const char *form, bool options, const char *file, char *spec, size_t bytes)
{
    const struct {
        const char *word, *value;
    } row[] = { { "EXPONENT", "0.99" }, { "WORKLOAD", "A" }, { "KEYS", "1000" }, { "FILE", file },
                { "KIND", "sr" },       { "K", "16" },       { "LENGTH", "10" }, { "RANGE", "artifact" },
                { "N", "3" },           { "S", "0.9" },      { "0|1", "1" },     { "LETTERS", "6I" } };
    size_t used = 0;
    for (const char *p = form; *p; p++) {
        size_t i = 0, rows = sizeof row / sizeof *row;
        if (*p == '[' && !options) {
            p = strchr(p, ']');
            continue;
        }
        if (*p == '[' || *p == ']') continue;
        while (i < rows && strncmp(p, row[i].word, strlen(row[i].word))) i++;
        if (i == rows) {
            check(*p < 'A' || *p > 'Z', "the form %s has a word this test does not know", form);
            used += (size_t)snprintf(spec + used, bytes - used, "%c", *p);
        } else {
            used += (size_t)snprintf(spec + used, bytes - used, "%s", row[i].value);
            p += strlen(row[i].word) - 1;
        }
    }
}

static void test_forms(void)
{
    const hd_source_row *row;
    char fasta[4096], histogram_file[4096], spec[8400];
    snprintf(fasta, sizeof fasta, "%s", text_file("form.fa", ">x\nACGTACGTACGTACGTACGTACGTACGT\n"));
    snprintf(histogram_file, sizeof histogram_file, "%s",
             text_file("form.json", "{\"popularityWeights\":[5,1],\"popularityBuckets\":[2,3]}"));
    for (size_t i = 0; (row = hd_source_row_at(i)); i++) {
        hd_source *s = NULL;
        test_case("%s", row->form);
        check(strncmp(row->form, row->name, strlen(row->name)) == 0 && row->form[strlen(row->name)] == ':',
              "another name");
        check(hd_source_row_find(row->name) == row, "not found by its name");
        check(row->what && *row->what, "no description");
        bool kmer = !strcmp(row->name, "kmer"), pop = !strcmp(row->name, "pop");
        if (row->file) { /* every reader says which file is missing */
            snprintf(spec, sizeof spec, "%s:/no/such/file%s", row->name, kmer ? ",16" : "");
            must_fail(hd_source_open_spec(spec, 0, &s), HD_EINVAL, "/no/such/file");
        }
        if (row->file && !kmer && !pop) continue; /* traces: t_trace.c */
        for (int options = 0; options < 2; options++) {
            hd_request r[4];
            size_t got = 0;
            form_fill(row->form, options != 0, kmer ? fasta : histogram_file, spec, sizeof spec);
            test_case("%s", spec);
            must(hd_source_open_spec(spec, 1, &s));
            must(hd_source_next(s, r, 4, &got));
            check(got == 4 && s->row == row && r[0].size == 1, "%zu requests", got);
            hd_source_close(s);
        }
    }
    hd_source_close(NULL);
}

/* ---- Memory that is refused ------------------------------------------------------------------ */

static void test_refused_memory(void)
{
    char fasta[4200], pop[4200];
    snprintf(fasta, sizeof fasta, "kmer:%s,4", text_file("memory.fa", ">x\nACGTACGTACGTACGTACGTACGTACGT\n"));
    snprintf(pop, sizeof pop, "pop:%s",
             text_file("memory.json", "{\"popularityWeights\":[5,1],\"popularityBuckets\":[2,3]}"));
    const char *const spec[] = { "uniform:10", "zipf:1,10", "ycsb:d,10", "pattern:dr,10", pop, fasta };
    for (size_t i = 0; i < sizeof spec / sizeof *spec; i++) check(refuse_each_take(spec[i], 100) > 0, "no requests");
}

static const struct CMUnitTest tests[] = { unit(test_pinned), unit(test_repeats), unit(test_bad_specs),
                                           unit(test_parse),  unit(test_forms),   unit(test_refused_memory) };

int main(void) { return test_run(tests); }

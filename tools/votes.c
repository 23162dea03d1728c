/* SPDX-License-Identifier: Apache-2.0
 *
 * votes.c - see votes.h.
 */
#include "tools/votes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "workload/kmer_range.h"

enum { SPANS_MOST = 16 << 10, LINE_MOST = 160 /* of a line without names */ };

/* A read's part of a batch. */
struct votes_span {
    size_t end; /* where its k-mers end */
    bool ended, damaged;
    char name[HD_KMER_NAME_MOST + 1];
};

/* ---- Lines ----------------------------------------------------------------------------------- */

static hd_status line_write(hd_sink *to, const char *name, const char *taxon, const uint64_t number[5])
{
    char text[LINE_MOST];
    int n = snprintf(text, sizeof text, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
                     number[0], number[1], number[2], number[3], number[4]);
    hd_status e = hd_sink_write(to, name, strlen(name));
    if (!e) e = hd_sink_write(to, "\t", 1);
    if (!e) e = hd_sink_write(to, taxon, strlen(taxon));
    return e ? e : hd_sink_write(to, text, (size_t)n);
}

/* ---- Opening and closing --------------------------------------------------------------------- */

hd_status votes_open(votes *v, const taxa *t, uint64_t min_votes, hd_sink *lines)
{
    static const char head[] = "read\ttaxon\tvotes\tnext\tkmers\tfound\tambiguous\n";
    memset(v, 0, sizeof *v);
    v->min_votes = min_votes;
    v->lines = lines;
    v->of = (uint64_t *)calloc(t->n, sizeof *v->of);
    v->vote = (uint64_t *)calloc(t->n, sizeof *v->vote);
    v->touched = (uint32_t *)malloc(t->n * sizeof *v->touched);
    v->span = (votes_span *)malloc(SPANS_MOST * sizeof *v->span);
    v->value = (uint32_t *)malloc(t->most * sizeof *v->value);
    v->hit = (bool *)malloc(t->most * sizeof *v->hit);
    if (!v->of || !v->vote || !v->touched || !v->span || !v->value || !v->hit)
        return hd_fail(HD_ENOMEM, "the memory of %" PRIu32 " taxa and a batch of reads was refused", t->n);
    if (lines) v->line_failed = hd_sink_write(lines, head, sizeof head - 1);
    return HD_OK;
}

void votes_close(votes *v)
{
    free(v->of);
    free(v->vote);
    free(v->touched);
    free(v->span);
    free(v->value);
    free(v->hit);
}

bool votes_read(votes *v, const char *name, size_t end, bool ended, bool damaged)
{
    votes_span *s = &v->span[v->spans++];
    s->end = end;
    s->ended = ended;
    s->damaged = damaged;
    snprintf(s->name, sizeof s->name, "%s", name);
    return v->spans < SPANS_MOST;
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* Votes of the k-mers from `first` to `end` - 1 of the batch. */
static void kmers_count(votes *v, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        if (!v->hit[i]) continue;
        v->read_found++;
        if (v->value[i] == TAXA_AMBIGUOUS) {
            v->read_ambiguous++;
            continue;
        }
        uint32_t taxon = v->value[i] - 1;
        if (v->vote[taxon]++ == 0) v->touched[v->touches++] = taxon;
    }
    v->read_kmers += end - first;
}

/* The taxon with the most votes and those of the next one, 0 if there is none. */
static uint32_t best_find(const votes *v, uint64_t *most, uint64_t *next)
{
    uint32_t best = 0;
    *most = *next = 0;
    for (uint32_t i = 0; i < v->touches; i++) {
        uint64_t n = v->vote[v->touched[i]];
        if (n > *most) {
            *next = *most;
            *most = n;
            best = v->touched[i];
        } else if (n > *next) {
            *next = n;
        }
    }
    return best;
}

static void read_clear(votes *v)
{
    for (uint32_t i = 0; i < v->touches; i++) v->vote[v->touched[i]] = 0;
    v->touches = 0;
    v->read_kmers = v->read_found = v->read_ambiguous = 0;
}

/* The read's last votes are counted. */
static void read_decide(votes *v, const taxa *t, const char *name)
{
    uint64_t most, next;
    uint32_t best = best_find(v, &most, &next);
    bool found = most > next && most >= v->min_votes;
    v->reads++;
    v->kmers += v->read_kmers;
    v->found += v->read_found;
    if (found) {
        v->classified++;
        v->of[best]++;
    } else if (most == 0) {
        v->no_votes++;
    } else if (most == next) {
        v->ties++;
    } else {
        v->few++;
    }
    if (v->lines && !v->line_failed)
        v->line_failed = line_write(v->lines, name, found ? t->row[best].name : "",
                                    (const uint64_t[]){ most, next, v->read_kmers, v->read_found, v->read_ambiguous });
}

hd_status votes_count(votes *v, taxa *t, const uint64_t *key, size_t n)
{
    hd_status e = n ? taxa_find(t, key, n, v->value, v->hit) : HD_OK;
    size_t first = 0;
    for (size_t i = 0; i < v->spans && !e; i++) {
        const votes_span *s = &v->span[i];
        kmers_count(v, first, s->end);
        first = s->end;
        if (!s->ended) continue;
        if (!s->damaged) read_decide(v, t, s->name);
        read_clear(v);
    }
    v->spans = 0;
    return e;
}

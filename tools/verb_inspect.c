/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_inspect.c - what a snapshot holds: its header, its sections, how full its buckets are, and what its
 * scores look like.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/image.h"
#include "lib/params.h"
#include "tools/output.h"
#include "tools/picture.h"

enum { STEPS = 16, MOST_STEPS = 65, BAR = 40, CHUNK = 65536 };

/* Steps from `least` to `most`, both included: equal ones, or each twice as wide as the one before, which shows
 * what is crowded at the low end. */
typedef struct histogram {
    uint64_t least, most, count[MOST_STEPS];
    int steps;
    bool doubling;
} histogram;

static int step_of(const histogram *h, uint64_t v)
{
    if (h->doubling) return v == h->least ? 0 : 64 - __builtin_clzll(v - h->least);
    double share = (double)(v - h->least) / ((double)(h->most - h->least) + 1);
    int step = (int)(share * h->steps);
    return step < h->steps ? step : h->steps - 1;
}

/* The least value of a step; rounded, as step_of is. */
static uint64_t step_begin(const histogram *h, int step)
{
    if (h->doubling) return step ? h->least + (1ull << (step - 1)) : h->least;
    return h->least + (uint64_t)ceil(((double)(h->most - h->least) + 1) * step / h->steps);
}

static histogram histogram_equal(uint64_t least, uint64_t most)
{
    histogram h = { .least = least, .most = most, .steps = STEPS };
    if (most - least < STEPS) h.steps = (int)(most - least) + 1;
    return h;
}

static histogram histogram_doubling(uint64_t least, uint64_t most)
{
    histogram h = { .least = least, .most = most, .doubling = true };
    h.steps = step_of(&h, most) + 1;
    return h;
}

typedef struct contents {
    hd_snapshot_info info;
    hd_info table;       /* that was opened from it */
    uint32_t *in_bucket; /* (buckets, the stash's behind them) entries */
    uint64_t stashed;    /* entries of the stash    */
    uint64_t score_least, score_most;
    histogram occupancy, score;
} contents;

/* Calls for every entry, in slot order: first to learn the range of the scores, then to count them. */
typedef void entry_visitor(contents *c, uint64_t slot, uint64_t score);

static void entry_measure(contents *c, uint64_t slot, uint64_t score)
{
    c->in_bucket[slot / c->info.slots]++;
    if (score < c->score_least) c->score_least = score;
    if (score > c->score_most) c->score_most = score;
}

static void entry_count(contents *c, uint64_t slot, uint64_t score)
{
    (void)slot;
    c->score.count[step_of(&c->score, score)]++;
}

static hd_status entries_visit(hd_table *t, contents *c, entry_visitor *visit)
{
    static uint64_t key[CHUNK], score[CHUNK], slot[CHUNK];
    hd_status s = HD_OK;
    for (uint64_t from = 0, count = 0, places = c->table.places; !s && from < places; from += CHUNK) {
        hd_batch b = {
            .op = HD_OP_EXPORT, .start = from, .list_key = key, .list_score = score, .list_item = slot, .count = &count
        };
        b.n = places - from < CHUNK ? places - from : CHUNK;
        s = hd_run(t, &b);
        for (uint64_t i = 0; !s && i < count; i++) visit(c, slot[i], score[i]);
    }
    return s;
}

static hd_status contents_read(hd_table *t, contents *c)
{
    c->score_least = UINT64_MAX;
    hd_status s = entries_visit(t, c, entry_measure);
    c->score = histogram_equal(c->score_least <= c->score_most ? c->score_least : 0, c->score_most);
    if (!s) s = entries_visit(t, c, entry_count);
    if (!s && c->score.steps == STEPS && c->score.count[0] > c->info.size / 4 * 3) { /* crowded */
        c->score = histogram_doubling(c->score_least, c->score_most);
        s = entries_visit(t, c, entry_count);
    }
    c->occupancy = histogram_equal(0, c->info.slots);
    for (uint64_t b = 0; b < c->info.buckets; b++) c->occupancy.count[step_of(&c->occupancy, c->in_bucket[b])]++;
    for (uint64_t b = c->info.buckets; b < c->info.buckets + c->table.stash_buckets; b++) c->stashed += c->in_bucket[b];
    return s;
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void draw(out *o, const char *head, const char *of, const histogram *h)
{
    uint64_t most = 0;
    int first = 0, last = h->steps - 1; /* without the empty steps at both ends */
    char bar[PICTURE_BYTES], from[OUT_CELL], count[OUT_CELL];
    while (first < last && !h->count[first]) first++;
    while (last > first && !h->count[last]) last--;
    for (int i = first; i <= last; i++)
        if (h->count[i] > most) most = h->count[i];
    out_note(o, "\n%s\n%26s  %s\n", head, "from", of);
    for (int i = first; i <= last; i++)
        out_note(o, "%26s  %s %s\n", out_format(from, OUT_COUNT, out_count(step_begin(h, i))),
                 picture_bar(bar, most ? (double)h->count[i] / (double)most : 0, BAR, 1),
                 out_format(count, OUT_COUNT, out_count(h->count[i])));
}

static void sections(out *o, const contents *c)
{
    const hd_snapshot_info *f = &c->info;
    static const char *const what[HD_SECTION_COUNT] = { "which slots have an entry", "keys", "scores", "values" };
    const uint64_t bytes[HD_SECTION_COUNT] = { (c->table.places + 7) / 8, f->size * 8, f->size * 8,
                                               f->size * f->value_bytes };
    uint64_t at = sizeof(hd_snapshot_header);
    if (f->version == HD_SNAPSHOT_VERSION_POLICY) at += sizeof(hd_snapshot_policy);
    for (int i = 0; i < HD_SECTION_COUNT; i++) {
        out_row(o, (const out_value[]){ out_text(hd_section_tag[i]), out_count(at), out_count(bytes[i]),
                                        out_text(what[i]) });
        at += sizeof(hd_section_head) + bytes[i] + HD_SUM_BYTES;
    }
}

/* The same of the file of a table: superblocks, journal, extents. */
static void sections_of_image(out *o, const hd_superblock *sb)
{
    out_row(o, (const out_value[]){ out_text("SUPER"), out_count(0), out_count(HD_IMAGE_BLOCKS),
                                    out_text("two superblocks") });
    out_row(o, (const out_value[]){ out_text("JOURNAL"), out_count(sb->journal), out_count(sb->journal_bytes),
                                    out_text("what batches have changed") });
    for (uint32_t e = 0; e < sb->extents; e++)
        out_row(o, (const out_value[]){ out_text("EXTENT"), out_count(sb->extent[e].offset),
                                        out_count(sb->extent[e].bytes), out_text("memory of the table") });
}

/* A design without scores has no clock or epoch to report. */
static bool has_scores(const contents *c) { return strcmp(c->info.policy, "none") != 0; }

static void fact_of_field(out *o, const hd_param *p, const void *in)
{
    const char *label = p->label ? p->label : p->name;
    uint64_t v = p->type == HD_PARAM_TEXT ? 0 : hd_param_number(p, in);
    if (p->type == HD_PARAM_TEXT)
        out_fact(o, p->name, label, OUT_TEXT, out_text((const char *)in + p->at));
    else if (p->label && p->type == HD_PARAM_BOOL)
        out_fact(o, p->name, label, OUT_FLAG, out_flag(v != 0));
    else if (p->label && p->type == HD_PARAM_ENUM)
        out_fact(o, p->name, label, OUT_TEXT, out_text(p->values[v]));
    else
        out_fact(o, p->name, label, OUT_COUNT, out_count(v));
}

/* The design's fields that a snapshot keeps, and the seed of its hash: behind the field `hash`, or behind all. */
static void facts_of_design(out *o, const contents *c)
{
    const hd_params *own = hd_design_named(c->table.design)->params, *of;
    const hd_param *hash = hd_param_own("hash", c->table.design, &of);
    for (size_t k = 0; own && k < own->count; k++) {
        const hd_param *p = &own->row[k];
        if (p->saved) fact_of_field(o, p, hd_params_of_table(own, &c->table));
        if (p == hash) out_fact(o, "seed", "seed", OUT_HEX, out_count(c->table.seed));
    }
    if (!hash) out_fact(o, "seed", "seed", OUT_HEX, out_count(c->table.seed));
}

static void facts_of_scores(out *o, const contents *c)
{
    const hd_snapshot_info *f = &c->info;
    out_fact(o, "clock", "clock", OUT_COUNT, out_count(f->clock));
    out_fact(o, "epoch", "epoch", OUT_COUNT, out_count(f->epoch));
    out_fact(o, "score_least", "least score", OUT_PLAIN, f->size ? out_count(c->score_least) : out_none());
    out_fact(o, "score_most", "greatest score", OUT_PLAIN, f->size ? out_count(c->score_most) : out_none());
}

static void facts_of_dictionary(out *o, const contents *c)
{
    out_fact(o, "base_buckets", "buckets at first", OUT_COUNT, out_count(c->table.base_buckets));
    if (!c->table.stash_buckets) return;
    out_fact(o, "stash_buckets", "buckets of the stash", OUT_COUNT, out_count(c->table.stash_buckets));
    out_fact(o, "stashed", "entries in the stash", OUT_COUNT, out_count(c->stashed));
}

static void facts(out *o, const char *path, const contents *c)
{
    const hd_snapshot_info *f = &c->info;
    out_fact(o, "file", "file", OUT_TEXT, out_text(path));
    out_fact(o, "version", "version", OUT_PLAIN, out_count(f->version));
    out_fact(o, "file_bytes", "bytes", OUT_COUNT, out_count(f->file_bytes));
    out_fact(o, "design", "design", OUT_TEXT, out_text(f->design));
    out_fact(o, "policy", "policy", OUT_TEXT, out_text(f->policy));
    out_fact(o, "policy_flags", f->version == HD_SNAPSHOT_VERSION_POLICY ? "policy's flags" : NULL, OUT_TEXT,
             out_text(c->table.policy_flags));
    out_fact(o, "buckets", "buckets", OUT_COUNT, out_count(f->buckets));
    out_fact(o, "slots", "slots per bucket", OUT_COUNT, out_count(f->slots));
    out_fact(o, "capacity", "capacity", OUT_COUNT, out_count(f->capacity));
    out_fact(o, "size", "entries", OUT_COUNT, out_count(f->size));
    out_fact(o, "load_factor", "load factor", OUT_RATIO, out_real((double)f->size / (double)c->table.places));
    out_fact(o, "value_bytes", "bytes per value", OUT_COUNT, out_count(f->value_bytes));
    facts_of_design(o, c);
    (has_scores(c) ? facts_of_scores : facts_of_dictionary)(o, c);
}

static int run(tool_line *line, int argc, char **argv)
{
    static const out_column column[] = {
        { "section", "section", OUT_TEXT },
        { "offset", "offset", OUT_COUNT },
        { "bytes", "bytes", OUT_COUNT },
        { "what", "what", OUT_TEXT },
    };
    int code = tool_parse(line, argc, argv, NULL);
    if (code >= 0) return code;
    const char *path = line->word[0];
    code = tool_file("SNAPSHOT", path);
    if (code) return code;

    contents c;
    memset(&c, 0, sizeof c);
    hd_table *t = NULL;
    hd_image im;
    bool is_image = !hd_image_open(&im, &hd_seams_os, path, false) && im.sb.generation;
    hd_image_close(&im);
    hd_status s = hd_snapshot_inspect(path, &c.info);
    if (!s && tool_fits(path, c.info.capacity, c.info.value_bytes)) return TOOL_SYSTEM;
    if (!s) s = hd_open_snapshot(path, NULL, &t);
    if (!s) s = hd_table_info(t, &c.table);
    if (!s && is_image) s = hd_size_sync(t, &c.info.size);
    if (!s) c.in_bucket = (uint32_t *)calloc(c.table.places / c.table.slots, sizeof *c.in_bucket);
    if (!s && c.in_bucket) s = contents_read(t, &c);
    if (s || !c.in_bucket)
        code = s ? tool_fail(s) : tool_say(TOOL_SYSTEM, "memory was refused");
    else {
        out *o = out_open(line->form, "heddle.inspect/1", column, 4);
        facts(o, path, &c);
        is_image ? sections_of_image(o, &im.sb) : sections(o, &c);
        draw(o, "How full the buckets are", "entries: buckets", &c.occupancy);
        if (c.info.size && has_scores(&c)) draw(o, "Scores", "score: entries", &c.score);
        code = out_close(o, TOOL_OK);
    }
    free(c.in_bucket);
    hd_close(t);
    return code;
}

static const char doc[] = "Verifies the file, then prints what its header says, where its sections are, how many "
                          "entries the buckets have, and how the "
                          "scores are spread, if it has any. doc/snapshot.md draws the format.\n"
                          "\n"
                          "EXAMPLES\n"
                          "  heddle gen zipf:0.99,10000 --requests 100000 -o zipf.oracleGeneral.zst\n"
                          "  heddle sim zipf.oracleGeneral.zst oracleGeneral lfu 4Ki --save table.heddle\n"
                          "  heddle inspect table.heddle\n"
                          "  heddle inspect table.heddle --json\n";

const tool_verb verb_inspect = { "inspect", "SNAPSHOT", "what a saved table holds", doc, 1, 1, .run = run };

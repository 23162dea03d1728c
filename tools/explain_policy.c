/* SPDX-License-Identifier: Apache-2.0
 *
 * explain_policy.c - a policy, request by request: the score of each entry, what a hit does to it, who leaves, and who
 * is refused. It knows no policy: what it says comes from policy_walk.h.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "lib/params.h"
#include "tools/explain.h"
#include "tools/policy_walk.h"

enum { REQUESTS_USUAL = 24, REQUESTS_MOST = 100000, SCORES_USUAL = 9, SCORE_TEXT = 32, ENTRIES_TEXT = 8192 };

typedef struct policy_told {
    policy_walk w;
    uint64_t requests;
    bool epoch;          /* scores have an epoch part */
    int bucket, request; /* panels: the first bucket's, the request's */
    uint64_t outcome[HD_OUTCOME_COUNT];
    explain_told *to;
} policy_told;

/* ---- Words ----------------------------------------------------------------------------------- */

static bool is_policy(const char *word) { return explain_value(word, "policy") != NULL; }

static hd_case usual_case(void)
{
    hd_case c = hd_case_default();
    strcpy(c.op, "insert_and_evict");
    strcpy(c.kernel, "ref");
    strcpy(c.keys, "uniform:8");
    c.slots = 4;
    return c;
}

static int read_words(const tool_line *line, hd_case *c, uint64_t *requests, uint64_t *scores)
{
    *c = usual_case();
    for (int i = 0; i < line->words; i++) {
        const char *word = line->word[i], *n;
        int code;
        if ((n = explain_value(word, "requests")))
            code = explain_number("requests", n, 1, REQUESTS_MOST, requests);
        else if ((n = explain_value(word, "scores")))
            code = explain_number("scores", n, 1, UINT32_MAX, scores);
        else
            code = explain_case_word(c, word);
        if (code) return code;
    }
    if (!hd_case_has(c, "buckets") && !hd_case_has(c, "capacity"))
        c->buckets = 1 + hd_params_number(&c->table, c->design, "dual");
    return TOOL_OK;
}

/* ---- Scores ---------------------------------------------------------------------------------- */

/* "17"; "MAX"; with an epoch part "e2+17". */
static const char *score_text(const policy_told *p, uint64_t score, char text[SCORE_TEXT])
{
    if (score == UINT64_MAX)
        snprintf(text, SCORE_TEXT, "MAX");
    else if (p->epoch)
        snprintf(text, SCORE_TEXT, "e%" PRIu64 "+%" PRIu64, score >> 32, score & UINT32_MAX);
    else
        snprintf(text, SCORE_TEXT, "%" PRIu64, score);
    return text;
}

/* "3:9 5:12* -": the entry at `place` has a star, a bar stands between buckets. */
static void entries_text(const policy_told *p, const policy_step *s, char text[ENTRIES_TEXT])
{
    char score[SCORE_TEXT];
    size_t used = 0;
    *text = 0;
    for (uint64_t i = 0; i < p->w.info.places && used < ENTRIES_TEXT; i++) {
        const policy_entry *e = &s->after[i];
        const char *gap = i == 0 ? "" : i % p->w.info.slots == 0 ? " | " : " ";
        if (e->present)
            used += (size_t)snprintf(text + used, ENTRIES_TEXT - used, "%s%" PRIu64 ":%s%s", gap, e->key,
                                     score_text(p, e->score, score), i == s->place ? "*" : "");
        else
            used += (size_t)snprintf(text + used, ENTRIES_TEXT - used, "%s-", gap);
    }
}

/* ---- The story ------------------------------------------------------------------------------- */

/* Rows of the panel of the request. */
enum { ROW_KEY, ROW_GIVEN, ROW_NOW, ROW_EPOCH, ROW_ADMISSION, ROW_LEAST, ROW_OUTCOME, ROWS };

static void story_begin(policy_told *p)
{
    static const char *const plain[] = { "key", "score" }, *const parts[] = { "key", "epoch", "count or time" },
                             *const one[] = { "value" }, *const row[ROWS] = { "key",    "given score", "clock",
                                                                              "epoch",  "admission",   "least score",
                                                                              "outcome" };
    const hd_info *info = &p->w.info;
    story *s = p->to->steps;
    char name[64];
    story_fact(s, "policy", "%s", info->policy);
    story_fact(s, "flags", "%s", info->policy_flags);
    for (uint64_t b = 0; b < info->buckets; b++) {
        snprintf(name, sizeof name, "bucket %" PRIu64, b);
        int panel = story_panel(s, name, p->epoch ? parts : plain, p->epoch ? 3 : 2);
        if (b == 0) p->bucket = panel;
        for (uint32_t i = 0; i < info->slots; i++) {
            snprintf(name, sizeof name, "slot %" PRIu32, i);
            story_row(s, panel, name);
        }
    }
    p->request = story_panel(s, "request", one, 1);
    for (int i = 0; i < ROWS; i++) story_row(s, p->request, row[i]);
}

static void set_entry(const policy_told *p, uint64_t place, const policy_entry *e)
{
    story *s = p->to->steps;
    int panel = p->bucket + (int)(place / p->w.info.slots), row = (int)(place % p->w.info.slots);
    char score[SCORE_TEXT];
    story_change(s, panel, row, 0, "%" PRIu64, e->key);
    if (p->epoch) {
        story_change(s, panel, row, 1, "%" PRIu64, e->score >> 32);
        story_change(s, panel, row, 2, "%" PRIu64, e->score & UINT32_MAX);
    } else {
        story_change(s, panel, row, 1, "%s", score_text(p, e->score, score));
    }
}

/* The step reads a column of the entries of a bucket. */
static void look(const policy_told *p, const policy_step *s, uint64_t bucket, int column)
{
    for (uint32_t i = 0; i < p->w.info.slots; i++)
        if (s->before[bucket * p->w.info.slots + i].present)
            story_look(p->to->steps, p->bucket + (int)bucket, (int)i, column);
}

static void tell_search(const policy_told *p, const policy_step *s, const char *who)
{
    story *t = p->to->steps;
    char note[160];
    if (s->outcome == HD_UPDATED)
        snprintf(note, sizeof note, "Key %" PRIu64 " is present.", s->key);
    else
        snprintf(note, sizeof note, "Key %" PRIu64 " is absent, and %s.", s->key,
                 s->outcome == HD_RESERVED ? "no table holds it"
                 : s->compared             ? "there is no free slot"
                                           : "there is a free slot");
    story_step(t, &(story_act){ .step = s->request, .who = who, .does = "searches", .place = "keys", .note = note });
    for (uint64_t b = 0; b < p->w.info.buckets; b++) look(p, s, b, 0);
    story_change(t, p->request, ROW_KEY, 0, "%" PRIu64, s->key);
    story_change(t, p->request, ROW_GIVEN, 0, "%" PRIu64, s->in.given);
    story_change(t, p->request, ROW_NOW, 0, "%" PRIu64, s->in.now);
    story_change(t, p->request, ROW_EPOCH, 0, "%" PRIu32, s->in.epoch);
    story_change(t, p->request, ROW_ADMISSION, 0, "%s", "");
    story_change(t, p->request, ROW_LEAST, 0, "%s", "");
    story_change(t, p->request, ROW_OUTCOME, 0, "%s", "");
}

static void tell_spared(const policy_told *p, const policy_step *s, const char *who)
{
    story *t = p->to->steps;
    char note[160], place[64], old[SCORE_TEXT], score[SCORE_TEXT];
    for (uint32_t i = 0; i < s->in.spared; i++) {
        const policy_spared *x = &s->spare[i];
        policy_entry e = s->before[x->place];
        e.score = x->after;
        score_text(p, x->before, old);
        score_text(p, x->after, score);
        snprintf(place, sizeof place, "bucket %" PRIu64 ", slot %" PRIu64, x->place / p->w.info.slots,
                 x->place % p->w.info.slots);
        snprintf(note, sizeof note, "Key %" PRIu64 " has the least score, %s. The policy spares it: score %s.", e.key,
                 old, score);
        story_step(t, &(story_act){ .step = s->request,
                                    .who = who,
                                    .does = "spares",
                                    .place = place,
                                    .operation = "on_evict",
                                    .before = old,
                                    .after = score,
                                    .note = note });
        set_entry(p, x->place, &e);
    }
}

static void tell_comparison(const policy_told *p, const policy_step *s, const char *who)
{
    story *t = p->to->steps;
    char note[160], admission[SCORE_TEXT], least[SCORE_TEXT];
    score_text(p, s->admission, admission);
    score_text(p, s->least, least);
    if (hd_params_number_of_table(&p->w.info, "admit") == HD_ADMIT_ALWAYS)
        snprintf(note, sizeof note, "The least score is %s. The table admits every key.", least);
    else
        snprintf(note, sizeof note, "The admission score is %s, the least score %s: the key is %s.", admission, least,
                 s->outcome == HD_REFUSED ? "refused" : "admitted");
    story_step(t, &(story_act){ .step = s->request,
                                .who = who,
                                .does = "compares",
                                .place = "scores",
                                .operation = "admission",
                                .note = note });
    for (uint64_t b = 0; b < p->w.info.buckets; b++)
        for (int column = 1; column < (p->epoch ? 3 : 2); column++) look(p, s, b, column);
    story_change(t, p->request, ROW_ADMISSION, 0, "%s", admission);
    story_change(t, p->request, ROW_LEAST, 0, "%s", least);
}

static void tell_effect(const policy_told *p, const policy_step *s, const char *who)
{
    static const char *const does[HD_OUTCOME_COUNT] = {
        [HD_INSERTED] = "inserts", [HD_UPDATED] = "scores", [HD_EVICTED] = "evicts", [HD_REFUSED] = "refuses"
    };
    story *t = p->to->steps;
    char note[160], place[64] = "", old[SCORE_TEXT] = "", score[SCORE_TEXT];
    score_text(p, s->score, score);
    if (s->outcome == HD_UPDATED)
        snprintf(note, sizeof note, "A hit: score %s becomes %s.", score_text(p, s->old, old), score);
    else if (s->outcome == HD_EVICTED)
        snprintf(note, sizeof note,
                 "Key %" PRIu64 " leaves, whose score %s is the least. Key %" PRIu64 " enters with score %s.",
                 s->victim, score_text(p, s->victim_score, old), s->key, score);
    else if (s->outcome == HD_REFUSED)
        snprintf(note, sizeof note, "Key %" PRIu64 " does not enter.", s->key);
    else
        snprintf(note, sizeof note, "Key %" PRIu64 " enters with score %s.", s->key, score);
    if (s->place != POLICY_NOWHERE)
        snprintf(place, sizeof place, "bucket %" PRIu64 ", slot %" PRIu64, s->place / p->w.info.slots,
                 s->place % p->w.info.slots);
    story_step(t, &(story_act){ .step = s->request,
                                .who = who,
                                .does = does[s->outcome],
                                .place = *place ? place : NULL,
                                .operation = s->outcome == HD_UPDATED ? "on_hit" : "on_insert",
                                .before = *old ? old : NULL,
                                .after = score,
                                .note = note });
    if (s->place != POLICY_NOWHERE) set_entry(p, s->place, &s->after[s->place]);
    story_change(t, p->request, ROW_OUTCOME, 0, "%s", hd_outcome_name(s->outcome));
}

static void tell_story(const policy_told *p, const policy_step *s)
{
    char who[64];
    snprintf(who, sizeof who, "request %" PRIu64, s->request);
    tell_search(p, s, who);
    tell_spared(p, s, who);
    if (s->compared) tell_comparison(p, s, who);
    if (s->outcome != HD_RESERVED) tell_effect(p, s, who);
}

/* ---- The report ------------------------------------------------------------------------------ */

enum { COLUMNS = 18 };

static out_value shown(const policy_told *p, bool is, uint64_t score, char text[SCORE_TEXT])
{
    return is ? out_text(score_text(p, score, text)) : out_none();
}

static void tell_row(const policy_told *p, const policy_step *s)
{
    char text[5][SCORE_TEXT], entries[ENTRIES_TEXT];
    bool hit = s->outcome == HD_UPDATED, evicted = s->outcome == HD_EVICTED, scored = s->outcome != HD_RESERVED;
    entries_text(p, s, entries);
    out_row(p->to->report,
            (const out_value[COLUMNS]){
                out_count(s->request), out_count(s->key), out_count(s->in.given), out_count(s->in.now),
                out_count(s->in.epoch), out_text(hd_outcome_name(s->outcome)), hit ? out_count(s->old) : out_none(),
                shown(p, hit, s->old, text[0]), scored ? out_count(s->score) : out_none(),
                shown(p, scored, s->score, text[1]), s->compared ? out_count(s->admission) : out_none(),
                shown(p, s->compared, s->admission, text[2]), s->compared ? out_count(s->least) : out_none(),
                shown(p, s->compared, s->least, text[3]), evicted ? out_count(s->victim) : out_none(),
                evicted ? out_count(s->victim_score) : out_none(), shown(p, evicted, s->victim_score, text[4]),
                out_text(entries) });
}

static void report_begin(policy_told *p, const tool_line *line)
{
    static out_column column[COLUMNS];
    const bool dual = p->w.info.buckets > 1, drawn = p->w.info.places <= 16;
    const out_column all[COLUMNS] = {
        { "request", "request", OUT_PLAIN },
        { "key", "key", OUT_PLAIN },
        { "given", p->w.scores ? "given" : NULL, OUT_PLAIN },
        { "now", NULL, OUT_PLAIN },
        { "epoch", p->w.c.epoch_every ? "epoch" : NULL, OUT_PLAIN },
        { "outcome", "outcome", OUT_TEXT },
        { "old", NULL, OUT_PLAIN },
        { "old_text", "old", OUT_TEXT },
        { "score", NULL, OUT_PLAIN },
        { "score_text", "new", OUT_TEXT },
        { "admission", NULL, OUT_PLAIN },
        { "admission_text", "admission", OUT_TEXT },
        { "least", NULL, OUT_PLAIN },
        { "least_text", "least", OUT_TEXT },
        { "victim", "victim", OUT_PLAIN },
        { "victim_score", NULL, OUT_PLAIN },
        { "victim_text", NULL, OUT_TEXT },
        { "entries",
          !drawn ? NULL
          : dual ? "buckets: key:score"
                 : "bucket: key:score",
          OUT_TEXT },
    };
    memcpy(column, all, sizeof all);
    out *o = p->to->report = out_open(line->form, "heddle.explain.policy/1", column, COLUMNS);
    out_fact(o, "policy", "policy", OUT_TEXT, out_text(p->w.info.policy));
    out_fact(o, "flags", "flags", OUT_TEXT, out_text(p->w.info.policy_flags));
    out_fact(o, "buckets", "buckets", OUT_COUNT, out_count(p->w.info.buckets));
    out_fact(o, "slots", "slots", OUT_COUNT, out_count(p->w.info.slots));
    out_fact(o, "keys", "keys", OUT_TEXT, out_text(p->w.c.keys));
    out_fact(o, "epoch_part", NULL, OUT_FLAG, out_flag(p->epoch));
}

static void report_end(const policy_told *p)
{
    out *o = p->to->report;
    out_fact(o, "requests", "requests", OUT_COUNT, out_count(p->w.requests));
    out_fact(o, "hits", "hits", OUT_COUNT, out_count(p->outcome[HD_UPDATED]));
    out_fact(o, "evicted", "evicted", OUT_COUNT, out_count(p->outcome[HD_EVICTED]));
    out_fact(o, "refused", "refused", OUT_COUNT, out_count(p->outcome[HD_REFUSED]));
    out_note(o,
             "\nold, new: the entry's score before and after. A full bucket compares the admission score of a new key "
             "with its\nleast score. MAX is 2^64-1%s. The star marks the entry of the request.\n",
             p->epoch ? ", e1+7 is 7 in epoch 1" : "");
}

static hd_status tell_all(policy_told *p)
{
    policy_step s;
    bool more = true;
    while (p->w.requests < p->requests && !tool_stopped()) {
        hd_status status = policy_walk_next(&p->w, &s, &more);
        if (status || !more) return status;
        p->outcome[s.outcome]++;
        tell_row(p, &s);
        tell_story(p, &s);
    }
    return HD_OK;
}

static int tell(const tool_line *line, explain_told *told)
{
    static policy_told p;
    char title[300];
    hd_case c;
    uint64_t scores = 0;
    p = (policy_told){ .requests = REQUESTS_USUAL, .to = told };
    int code = read_words(line, &c, &p.requests, &scores);
    if (code) return code;
    hd_policy_use use;
    hd_status s = hd_policy_read(c.policy, &use);
    if (!s && !scores && use.program.flags & HD_SCORES_NEEDED) scores = SCORES_USUAL;
    if (!s) s = policy_walk_open(&p.w, &c, scores);
    if (s) return tool_fail(s);
    p.epoch = policy_walk_has_epoch(&p.w);
    snprintf(title, sizeof title, "Policy %s, request by request", p.w.info.policy);
    told->steps = told->wants_story ? story_open(title, explain_command(line)) : NULL;
    story_about(told->steps,
                "Each request looks for its key. A hit gives the entry a new score. A new key takes a free "
                "slot, or the place of the entry with the least score, if its admission score is not "
                "below that.");
    report_begin(&p, line);
    story_begin(&p);
    s = tell_all(&p);
    report_end(&p);
    policy_walk_close(&p.w);
    return s ? tool_fail(s) : tool_stopped() ? TOOL_STOPPED : TOOL_OK;
}

const explain_subject explain_policy = {
    "policy=NAME [keys=SPEC slots=N requests=N dual=1 admit=always epoch_every=N scores=N seed=N]",
    "a bucket under a policy, request by request: scores, hits, victims, refusals", is_policy, tell
};

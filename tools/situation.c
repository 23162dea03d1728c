/* SPDX-License-Identifier: Apache-2.0
 *
 * situation.c - from the words of a command line to a scene.
 */
#include "tools/situation.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int situation_words(char *const *word, int words, char text[SITUATION_TEXT])
{
    size_t used = 0;
    *text = 0;
    for (int i = 0; i < words; i++) {
        used += (size_t)snprintf(text + used, SITUATION_TEXT - used, "%s%s", i ? " " : "", word[i]);
        if (used >= SITUATION_TEXT) return tool_say(TOOL_USAGE, "CASE: longer than %d bytes", SITUATION_TEXT - 1);
    }
    return -1;
}

bool situation_wide(const char *kernel)
{
    hd_info small;
    bool wide = false;
    memset(&small, 0, sizeof small);
    small.slots = SITUATION_SLOTS;
    small.layout = HD_LAYOUT_PAIRS;
    for (uint32_t row = 0; row < HKV_ROWS; row++) wide = wide || (strcmp(hkv_rows[row].variant, kernel) == 0 && hkv_rows[row].fits(&small));
    return wide;
}

/* Fills in what a case of kernels leaves open: a full case would be a table of thousands. */
static hd_status complete(const char *text, unsigned batch, hd_case *c)
{
    static const char *const names[] = { " buckets=", " slots=", " keys=", " pins=", " batch=" };
    char whole[SITUATION_TEXT + 128], field[64], slots[16];
    hd_status s = hd_case_parse(text, c);
    if (s) return s;
    bool wide = strstr(text, " slots=") ? c->slots >= SITUATION_WIDE_SLOTS : situation_wide(c->kernel);
    snprintf(slots, sizeof slots, "%d", wide ? SITUATION_WIDE_SLOTS : SITUATION_SLOTS);
    snprintf(whole, sizeof whole, "%s", text);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strstr(text, names[i]) || (i == 0 && strstr(text, " capacity="))) continue;
        const char *const usual[] = { "2", slots, wide ? "uniform:40" : "uniform:12", "0", NULL };
        if (usual[i]) snprintf(field, sizeof field, "%s%s", names[i], usual[i]);
        else snprintf(field, sizeof field, "%s%ux1", names[i], batch);
        strncat(whole, field, sizeof whole - strlen(whole) - 1);
    }
    return hd_case_parse(whole, c);
}

int situation_open(situation *x, const char *text, unsigned batch, uint32_t threads, uint32_t blocks)
{
    char one[SITUATION_TEXT];
    memset(x, 0, sizeof *x);
    const char *from = text;
    while (from && x->parts < SCENE_PARTS) {
        const char *plus = strstr(from, " + ");
        snprintf(one, sizeof one, "%.*s", plus ? (int)(plus - from) : (int)strlen(from), from);
        from = plus ? plus + 3 : NULL;
        uint32_t row = 0, k = x->parts++;
        hd_status s = complete(one, batch, &x->c[k]);
        if (!s) s = scene_kernel_row(&x->c[k], &row);
        if (s) return tool_fail(s);
        x->kernel[k] = scene_kernel_at(row, threads, blocks);
        size_t used = strlen(x->text);
        used += (size_t)snprintf(x->text + used, sizeof x->text - used, "%s", k ? " + " : "");
        hd_case_print(&x->c[k], x->text + used, sizeof x->text - used);
    }
    if (from) return tool_say(TOOL_USAGE, "CASE: more than %d operations at once", SCENE_PARTS);
    const scene_kernel *const kernels[] = { &x->kernel[0], &x->kernel[1] };
    hd_status s = scene_open(x->c, kernels, x->parts, &x->s);
    if (!s) s = agree_open(x->s, &x->a);
    if (!s) s = simt_machine_open(NULL, &x->m);
    if (!s) return -1;
    situation_close(x);
    return tool_fail(s);
}

void situation_close(situation *x)
{
    agree_close(x->a);
    simt_machine_close(x->m);
    memset(x, 0, sizeof *x);
}

/* How many bytes of a region belong together, and to what. A pair is a key and its score. */
enum { OF_SLOT, OF_HALF_SLOT, OF_SLOTS, OF_ITEM, OF_BUCKET, OF_OUTCOME };
typedef struct known {
    const char *region, *name;
    uint32_t bytes; /* 0: of a value */
    int of;
} known;

static const known regions[] = {
    { "pair", "key", 8, OF_HALF_SLOT }, { "bound", "least score", 8, OF_SLOTS },
    { "digest", "digest", 1, OF_SLOT },     { "key", "key", 8, OF_SLOT },        { "score", "score", 8, OF_SLOT },         { "value", "value", 0, OF_SLOT },
    { "keys", "key", 8, OF_ITEM },          { "values", "value", 0, OF_ITEM },   { "scores", "score", 8, OF_ITEM },        { "flags", "flag", 1, OF_ITEM },
    { "outcome", "outcome", 1, OF_ITEM },   { "value_out", "value_out", 0, OF_ITEM }, { "score_out", "score_out", 8, OF_ITEM }, { "ptr", "ptr", 8, OF_ITEM },
    { "stage_flag", "list flag", 1, OF_ITEM }, { "stage_key", "listed key", 8, OF_ITEM }, { "stage_score", "listed score", 8, OF_ITEM }, { "stage_value", "listed value", 0, OF_ITEM },
    { "lock", "lock", 4, OF_BUCKET },       { "tally", "count", 8, OF_OUTCOME },
};

const char *situation_place(const situation *x, const void *p, char *text, size_t bytes)
{
    uint64_t at;
    const char *name = simt_machine_name(x->m, p, &at);
    for (size_t i = 0; i < sizeof regions / sizeof *regions; i++) {
        const known *r = &regions[i];
        if (strcmp(r->region, name) != 0) continue;
        uint64_t k = at / (r->bytes ? r->bytes : x->s->v.value_bytes ? x->s->v.value_bytes : 1), slots = x->s->v.slots;
        uint64_t slot = r->of == OF_HALF_SLOT ? k / 2 : r->of == OF_SLOTS ? k * HKV_BOUNDED : k;
        switch (r->of) {
        case OF_SLOT:
        case OF_HALF_SLOT: snprintf(text, bytes, "%s in bucket %" PRIu64 ", slot %" PRIu64, r->of == OF_HALF_SLOT && k % 2 ? "score" : r->name, slot / slots, slot % slots); break;
        case OF_SLOTS: snprintf(text, bytes, "%s in bucket %" PRIu64 ", from slot %" PRIu64, r->name, slot / slots, slot % slots); break;
        case OF_OUTCOME: snprintf(text, bytes, "%s of %s", r->name, hd_outcome_name((hd_outcome)k)); break;
        default: snprintf(text, bytes, "%s of %s %" PRIu64, r->name, r->of == OF_ITEM ? "item" : "bucket", k);
        }
        return text;
    }
    if (at) snprintf(text, bytes, "%s, byte %" PRIu64, name, at);
    else snprintf(text, bytes, "%s", name);
    return text;
}

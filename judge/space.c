/* SPDX-License-Identifier: Apache-2.0
 *
 * space.c - see space.h.
 */
#include "judge/space.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "judge/design.h"
#include "judge/rules.h"
#include "lib/params.h"
#include "workload/rng.h"

/* ---- What a row cannot know ------------------------------------------------------------------ */

static const struct {
    const char *field, *values;
} extras[] = {
#define SPACE_MORE(field, values) { field, values },
#define SPACE_RULE(design, words, reason)
#include "judge/space.inc"
#undef SPACE_MORE
#undef SPACE_RULE
};

/* Policies beside the rows of their registry: expressions of each set of flags. */
static const char *const expressions[] = {
    "expr:on_insert=given",
    "expr:on_insert=now;on_hit=now+(old>>1)",
    "expr:on_insert=given;on_hit=max(old,given)+1;admission=MAX",
    "expr:on_insert=given;on_hit=old+given",
    "expr:on_insert=now;admission=100-now",
    "expr:on_insert=0;on_hit=now+1",
    "expr:on_insert=given;on_hit=min(old,given);admission=(epoch<2)?given:(given*2)",
};

const char *space_expression_at(size_t i)
{
    return i < sizeof expressions / sizeof *expressions ? expressions[i] : NULL;
}

/* What there is not. */
static const struct {
    const char *design, *words, *reason;
} rules[] = {
#define SPACE_MORE(field, values)
#define SPACE_RULE(design, words, reason) { design, words, reason },
#include "judge/space.inc"
#undef SPACE_MORE
#undef SPACE_RULE
};

/* Whether one of the patterns matches: "16,32,epoch_*". */
static bool matches(const char *patterns, const char *text)
{
    char one[SPACE_TEXT];
    for (; *patterns; patterns += *patterns == ',') {
        size_t n = strcspn(patterns, ",");
        snprintf(one, sizeof one, "%.*s", (int)n, patterns);
        patterns += n;
        if (fnmatch(one, text, 0) == 0) return true;
    }
    return false;
}

/* ---- Factors --------------------------------------------------------------------------------- */

static bool add_class(space_factor *f, const char *text)
{
    for (uint32_t k = 0; k < f->classes; k++)
        if (strcmp(f->text[k], text) == 0) return true;
    if (f->classes == SPACE_CLASSES || strlen(text) >= SPACE_TEXT) return false;
    strcpy(f->text[f->classes++], text);
    return true;
}

static void add_number(space_factor *f, uint64_t v)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, v);
    add_class(f, text);
}

static const char *extra_named(const char *name)
{
    for (size_t i = 0; i < sizeof extras / sizeof *extras; i++)
        if (strcmp(extras[i].field, name) == 0) return extras[i].values;
    return NULL;
}

/* The design's own, or all designs'. */
static const char *extra_of(const space *s, const char *name)
{
    char own[SPACE_TEXT];
    snprintf(own, sizeof own, "%s.%s", s->design, name);
    const char *extra = extra_named(own), *common = extra_named(name);
    return extra ? extra : common ? common : "";
}

static void add_words(space_factor *f, const char *words)
{
    char one[SPACE_TEXT];
    for (words += *words == '='; *words; words += strspn(words, " ")) {
        size_t n = strcspn(words, " ");
        snprintf(one, sizeof one, "%.*s", (int)n, words);
        add_class(f, one);
        words += n;
    }
}

static void add_names(space_factor *f, const char *const *names)
{
    for (; *names; names++) add_class(f, *names);
}

static void add_registry(space_factor *f, int kind, const hd_design *d)
{
    hd_row row;
    bool policies = kind == HD_POLICIES;
    if (policies && d->policy) return (void)add_class(f, d->policy);
    for (size_t i = 0; hd_list((hd_kind)kind, i, &row); i++) add_class(f, row.name);
    for (size_t i = 0; policies && space_expression_at(i); i++) add_class(f, space_expression_at(i));
}

/* The usual number, the least one and the next, and the greatest if it is near. */
static void add_numbers(space_factor *f, uint64_t usual, uint64_t least, uint64_t most)
{
    enum { NEAR = 4 };
    add_number(f, usual);
    add_number(f, least);
    if (least < most) add_number(f, least + 1);
    if (most - least <= NEAR) add_number(f, most);
}

/* The next factor, which becomes one by close_factor. NULL: there is no room. */
static space_factor *begin_factor(space *s, const char *name)
{
    space_factor *f = &s->factor[s->factors];
    if (s->factors == SPACE_FACTORS) return NULL;
    snprintf(f->name, sizeof f->name, "%s", name);
    f->classes = 0;
    f->text = (char(*)[SPACE_TEXT])malloc(SPACE_CLASSES * sizeof *f->text);
    return f->text ? f : NULL;
}

static void close_factor(space *s, space_factor *f)
{
    if (f->classes)
        s->factors++;
    else
        free(f->text);
}

static bool add_field(space *s, const hd_case_field *x, const hd_design *d, const hd_case *usual)
{
    const char *at = (const char *)usual + x->at, *extra = extra_of(s, x->name);
    space_factor *f = begin_factor(s, x->name);
    if (!f) return false;
    bool all = *extra == '=';
    if (!all && x->form == HD_CASE_TEXT && *at && !(x->names == HD_POLICIES && d->policy)) add_class(f, at);
    if (!all && x->form == HD_CASE_TEXT && x->names >= 0) add_registry(f, x->names, d);
    if (!all && x->form == HD_CASE_NAMED) add_names(f, x->values);
    if (!all && x->form == HD_CASE_BOOL) add_words(f, "0 1");
    if (!all && x->form == HD_CASE_U32) add_numbers(f, *(const uint32_t *)(const void *)at, x->least, x->most);
    if (!all && x->form == HD_CASE_U64) add_numbers(f, *(const uint64_t *)(const void *)at, x->least, x->most);
    add_words(f, extra);
    return close_factor(s, f), true;
}

static bool add_param(space *s, const hd_param *p)
{
    const char *extra = extra_of(s, p->name);
    space_factor *f = begin_factor(s, p->name);
    if (!f) return false;
    bool all = *extra == '=', number = p->type == HD_PARAM_U32 || p->type == HD_PARAM_U64;
    if (!all && p->type == HD_PARAM_TEXT) add_class(f, p->text);
    if (!all && p->type == HD_PARAM_ENUM) add_names(f, p->values);
    if (!all && p->type == HD_PARAM_BOOL) add_words(f, "0 1");
    if (!all && number) add_numbers(f, p->usual, p->least, p->most);
    add_words(f, extra);
    return close_factor(s, f), true;
}

/* BACKEND.KERNEL; "usual": the table selects, which the reference does not. */
static bool add_kernels(space *s, const hd_design *d, const char *backends)
{
    char text[SPACE_TEXT];
    hd_kernel k;
    const hd_backend *on;
    space_factor *f = begin_factor(s, "kernel");
    for (size_t i = 0; f && (on = hd_backend_at(d, i)); i++) {
        if (!strstr(backends, on->name)) continue;
        for (uint32_t row = 0; hd_kernel_of(d, on, row, &k); row++) {
            snprintf(text, sizeof text, "%s.%s", on->name, k.variant->name);
            add_class(f, text);
        }
        snprintf(text, sizeof text, "%s.usual", on->name);
        if (on != d->ref) add_class(f, text);
    }
    if (f) close_factor(s, f);
    return f != NULL;
}

static bool add_ops(space *s)
{
    const char *op;
    space_factor *f = begin_factor(s, "op");
    for (size_t i = 0; f && (op = hd_case_op_at(i)); i++) add_class(f, op);
    if (f) close_factor(s, f);
    return f != NULL;
}

static bool add_factors(space *s, const hd_design *d, const char *backends)
{
    const hd_case usual = hd_case_of(d->name);
    const hd_case_field *x;
    bool good = add_kernels(s, d, backends) && add_ops(s);
    for (size_t i = 0; good && (x = hd_case_field_at(i)); i++) good = add_field(s, x, d, &usual);
    for (size_t i = 0; good && d->params && i < d->params->count; i++) good = add_param(s, &d->params->row[i]);
    return good;
}

uint64_t space_structure(const space *s)
{
    const hd_params *of;
    uint64_t core = 0;
    for (uint32_t f = 0; f < s->factors; f++) {
        const char *name = s->factor[f].name;
        if (hd_param_own(name, s->design, &of) || matches("kernel,value,capacity,fill,keys,limit", name))
            core |= 1ull << f;
    }
    return core;
}

uint32_t space_named(const space *s, const char *name)
{
    uint32_t f = 0;
    while (f < s->factors && strcmp(s->factor[f].name, name) != 0) f++;
    return f;
}

/* ---- Rules ----------------------------------------------------------------------------------- */

static space_rule *add_rule(space *s, const char *reason)
{
    if (s->rules == s->room) {
        uint32_t room = s->room ? 2 * s->room : 64;
        space_rule *all = (space_rule *)realloc(s->rule, room * sizeof *all);
        if (!all) return NULL;
        s->rule = all;
        s->room = room;
    }
    space_rule *r = &s->rule[s->rules++];
    memset(r, 0, sizeof *r);
    r->reason = reason;
    return r;
}

static void add_term(space_rule *r, uint32_t factor, uint64_t classes)
{
    HD_ASSERT(r->terms < SPACE_TERMS);
    r->term[r->terms].factor = factor;
    r->term[r->terms++].classes = classes;
}

static uint64_t every(const space *s, uint32_t f)
{
    return s->factor[f].classes == 64 ? UINT64_MAX : (1ull << s->factor[f].classes) - 1;
}

static uint64_t matching(const space_factor *f, const char *patterns)
{
    uint64_t found = 0;
    for (uint32_t k = 0; k < f->classes; k++)
        if (matches(patterns, f->text[k])) found |= 1ull << k;
    return found;
}

static uint64_t number_at(const space_factor *f, uint32_t k) { return strtoull(f->text[k], NULL, 10); }

static hd_status no_such(const space *s, const char *word)
{
    return hd_fail(HD_EINVAL, "rule: design %s has no '%s'", s->design, word);
}

/* The rule for one class of the greater side of A<=B, or for the only one. */
static hd_status add_worded(space *s, const char *words, const char *reason, uint32_t *side, uint32_t k)
{
    char word[SPACE_TEXT];
    space_rule *r = add_rule(s, reason);
    if (!r) return hd_fail(HD_ENOMEM, "rule: no memory");
    for (*side = 1; *words; words += strspn(words, " ")) {
        size_t n = strcspn(words, " "), name;
        snprintf(word, sizeof word, "%.*s", (int)n, words);
        words += n;
        name = strcspn(word, "!=<");
        char *sign = word + name, *value = sign + (*sign != '=') + 1;
        bool unlike = *sign == '!', most = *sign == '<';
        *sign = 0;
        uint32_t f = space_named(s, word), g = most ? space_named(s, value) : 0;
        if (f == s->factors || g == s->factors) return no_such(s, f == s->factors ? word : value);
        uint64_t found = most ? 0 : matching(&s->factor[f], value);
        if (most) {
            *side = s->factor[g].classes;
            for (uint32_t i = 0; i < s->factor[f].classes; i++)
                if (number_at(&s->factor[f], i) <= number_at(&s->factor[g], k)) found |= 1ull << i;
            add_term(r, g, 1ull << k);
        }
        add_term(r, f, unlike ? every(s, f) & ~found : found);
    }
    for (uint32_t i = 0; i < r->terms; i++)
        if (!r->term[i].classes) return s->rules--, HD_OK; /* it is about classes that there are not here */
    return HD_OK;
}

static hd_status add_one(space *s, const char *words, const char *reason)
{
    uint32_t sides = 1;
    hd_status status = HD_OK;
    for (uint32_t k = 0; k < sides && !status; k++) status = add_worded(s, words, reason, &sides, k);
    return status;
}

static hd_status add_data(space *s)
{
    const judge_design *d = judge_design_named(s->design);
    hd_status status = HD_OK;
    for (size_t i = 0; i < sizeof rules / sizeof *rules && !status; i++)
        if (matches(rules[i].design, s->design)) status = add_one(s, rules[i].words, rules[i].reason);
    for (const judge_space_rule *r = d ? d->rules : NULL; r && r->words && !status; r++)
        status = add_one(s, r->words, r->reason);
    return status;
}

/* Why no row of the variant (NULL: of any) runs a batch of the operation on tables of any shape. NULL: one does. */
static const char *never(const hd_design *d, const hd_backend *on, const char *variant, hd_op op, bool mixed)
{
    static const uint8_t each = 0;
    static const uint32_t slots[] = { 8, 16, 32, 64, 30 }, bytes[] = { 4, 8 };
    const char *why = HD_OTHER_OPERATION;
    enum { VALUES = 12 }; /* of a named field 3 or 4: all pairs of two fields */
    hd_kernel k;
    for (uint32_t shape = 0; shape < 30 * VALUES; shape++) {
        hd_info info = { .slots = slots[shape % 5],
                         .value_bytes = bytes[shape / 5 % 2],
                         .layout = (hd_layout[]){ HD_LAYOUT_PAIRS, HD_LAYOUT_WORDS, HD_LAYOUT_MASKS }[shape / 10 % 3] };
        hd_params_set_named(d->params, shape / 30, &info);
        hd_batch b = { .op = op, .each = mixed ? &each : NULL };
        for (uint32_t row = 0; hd_kernel_of(d, on, row, &k); row++) {
            if (variant && !hd_variant_is_named(k.variant, variant)) continue;
            const char *unsupported = hd_kernel_unsupported(&k, &info, &b);
            if (!unsupported) return NULL;
            if (strcmp(unsupported, HD_OTHER_OPERATION) != 0) why = unsupported;
        }
    }
    return why;
}

/* The same of what a case calls an operation. */
static const char *never_runs(const hd_design *d, const hd_backend *on, const char *variant, const char *name)
{
    hd_op op = judge_op_named(name);
    if (op < HD_OP_COUNT_) return never(d, on, variant, op, false);
    if (strcmp(name, "mixed") == 0) return never(d, on, variant, HD_OP_FIND, true);
    if (strcmp(name, "mix") == 0) return NULL;
    const char *why = never(d, on, variant, HD_OP_FIND_OR_INSERT, false);
    return why ? why : never(d, on, variant, HD_OP_INSERT_OR_ASSIGN, false);
}

/* What kernels do not run: a rule for each operation and reason. */
static hd_status add_unsupported(space *s, const hd_design *d)
{
    uint32_t kernel = space_named(s, "kernel"), op = space_named(s, "op");
    for (uint32_t k = 0; k < s->factor[kernel].classes; k++) {
        char backend[SPACE_TEXT];
        snprintf(backend, sizeof backend, "%s", s->factor[kernel].text[k]);
        char *variant = strchr(backend, '.');
        *variant++ = 0;
        const hd_backend *on = hd_backend_named(d, backend);
        if (strcmp(variant, "usual") == 0) variant = NULL;
        for (uint32_t o = 0; o < s->factor[op].classes; o++) {
            const char *why = never_runs(d, on, variant, s->factor[op].text[o]);
            space_rule *last = s->rules ? &s->rule[s->rules - 1] : NULL;
            bool same = why && last && last->reason == why && last->term[0].factor == kernel &&
                        last->term[0].classes == 1ull << k;
            if (same) last->term[1].classes |= 1ull << o;
            if (!why || same) continue;
            space_rule *r = add_rule(s, why);
            if (!r) return hd_fail(HD_ENOMEM, "rule: no memory");
            add_term(r, kernel, 1ull << k);
            add_term(r, op, 1ull << o);
        }
    }
    return HD_OK;
}

hd_status space_open(const char *design, const char *backends, space **to)
{
    const hd_design *d = hd_design_named(design);
    space *s = (space *)calloc(1, sizeof *s);
    if (!s || !d) return free(s), hd_fail(d ? HD_ENOMEM : HD_EINVAL, "space: design %s", design);
    s->design = d->name;
    hd_status status = add_factors(s, d, backends) ? HD_OK : hd_fail(HD_ENOMEM, "space: no room for all factors");
    if (!status) status = add_unsupported(s, d);
    if (!status) status = add_data(s);
    if (status) return space_close(s), status;
    *to = s;
    return HD_OK;
}

void space_close(space *s)
{
    for (uint32_t f = 0; s && f < s->factors; f++) free(s->factor[f].text);
    if (s) free(s->rule);
    free(s);
}

/* ---- Choices --------------------------------------------------------------------------------- */

space_domain space_all(const space *s)
{
    space_domain d = { { 0 } };
    for (uint32_t f = 0; f < s->factors; f++) d.of[f] = every(s, f);
    return d;
}

void space_fix(const space *s, space_domain *d, const char *factor, const char *patterns)
{
    uint32_t f = space_named(s, factor);
    if (f < s->factors) d->of[f] &= matching(&s->factor[f], patterns);
}

/* The terms of a rule that may still not hold: none: it is broken. satisfied: one cannot hold any more. */
static uint32_t open_terms(const space_rule *r, const space_domain *d, bool *satisfied, uint32_t *last)
{
    uint32_t n = 0;
    *satisfied = false;
    for (uint32_t i = 0; i < r->terms; i++) {
        uint64_t of = d->of[r->term[i].factor], in = of & r->term[i].classes;
        if (!in) return *satisfied = true, 0;
        if (in != of) n++, *last = i;
    }
    return n;
}

/* Takes away what would break a rule at once. False: one is broken. *some: a rule that is open in two terms or more. */
static bool propagate(const space *s, space_domain *d, const space_rule *but, const space_rule **some, uint32_t *term)
{
    bool changed = true;
    while (changed) {
        changed = false;
        *some = NULL;
        for (uint32_t i = 0; i < s->rules; i++) {
            const space_rule *r = &s->rule[i];
            bool satisfied;
            uint32_t last = 0, n = r == but ? 2 : open_terms(r, d, &satisfied, &last);
            if (r == but || satisfied) continue;
            if (n == 0) return false;
            if (n == 1) d->of[r->term[last].factor] &= ~r->term[last].classes, changed = true;
            if (n > 1) *some = r, *term = last;
        }
    }
    return true;
}

bool space_possible(const space *s, const space_domain *from, const space_rule *but)
{
    space_domain d = *from;
    const space_rule *r;
    uint32_t term;
    for (uint32_t f = 0; f < s->factors; f++)
        if (!d.of[f]) return false;
    if (!propagate(s, &d, but, &r, &term)) return false;
    if (!r) return true;
    space_domain with = d;
    with.of[r->term[term].factor] &= ~r->term[term].classes;
    if (space_possible(s, &with, but)) return true;
    d.of[r->term[term].factor] &= r->term[term].classes;
    return space_possible(s, &d, but);
}

/* Class n of those that are left, counted from 0. */
static uint64_t class_left(uint64_t of, uint64_t n)
{
    while (n--) of &= of - 1;
    return of & (0 - of);
}

bool space_draw(const space *s, space_domain *d, const space_rule *but, uint64_t (*below)(void *, uint64_t), void *self)
{
    if (!space_possible(s, d, but)) return false;
    for (uint32_t f = 0; f < s->factors; f++) {
        uint64_t left = d->of[f];
        for (bool done = false; !done;) {
            uint64_t n = (uint64_t)__builtin_popcountll(left), one = class_left(left, n > 1 ? below(self, n) : 0);
            space_domain with = *d;
            with.of[f] = one;
            done = n == 1 || space_possible(s, &with, but);
            left &= ~one;
            if (done) d->of[f] = one;
        }
    }
    return true;
}

static uint64_t by_rng(void *self, uint64_t n) { return hd_rng_below((hd_rng *)self, n); }

bool space_random(const space *s, space_domain *d, const space_rule *but, uint64_t seed)
{
    hd_rng g = hd_rng_from(seed ^ 0x7370616365u);
    return space_draw(s, d, but, by_rng, &g);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

/* "400%" of the places, which are known by then. */
static void in_places(const hd_case *c, const char *text, char *to, size_t bytes)
{
    uint64_t places = c->capacity > c->slots ? c->capacity : c->slots;
    const char *percent = strchr(text, '%'), *digits = percent;
    if (!percent) return (void)snprintf(to, bytes, "%s", text);
    while (digits > text && digits[-1] >= '0' && digits[-1] <= '9') digits--;
    uint64_t share = places * strtoull(digits, NULL, 10) / 100;
    snprintf(to, bytes, "%.*s%" PRIu64 "%s", (int)(digits - text), text, share ? share : 1, percent + 1);
}

static void *take_nothing(void *self, size_t bytes, size_t align) { return (void)self, (void)bytes, (void)align, NULL; }

/* Whether there is such a table with that limit of device memory: it is not refused before it takes memory. */
static bool there_is(hd_config c, const char *field, uint64_t near)
{
    hd_seams seams = hd_seams_os;
    hd_table *t;
    seams.memory.take = take_nothing;
    c.seams = &seams;
    hd_params_number_set(&c, c.design, field, near);
    return hd_open(&c, &t) == HD_ENOMEM;
}

/* The least limit of device memory that the table can have, or that and half of its values. */
static void resolve_near(hd_case *c, const char *field, bool half)
{
    const hd_config config = hd_case_config(c);
    uint64_t low = 0, high = 1;
    uint64_t values = (config.capacity > config.slots ? config.capacity : config.slots) * config.value_bytes;
    while (high < 1ull << 40 && !there_is(config, field, high)) low = high, high *= 2;
    while (low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        if (there_is(config, field, middle))
            high = middle;
        else
            low = middle;
    }
    hd_params_number_set(&c->table, c->design, field, half ? high + values / 2 : high);
}

static hd_status set_word(hd_case *c, const char *name, const char *text)
{
    char resolved[SPACE_TEXT + 32];
    if (strcmp(name, "op") == 0) return snprintf(c->op, sizeof c->op, "%s", text), HD_OK;
    if (strcmp(name, "kernel") == 0) {
        const char *dot = strchr(text, '.');
        snprintf(c->backend, sizeof c->backend, "%.*s", (int)(dot - text), text);
        snprintf(c->kernel, sizeof c->kernel, "%.31s", dot + 1);
        return HD_OK;
    }
    in_places(c, text, resolved, sizeof resolved);
    return hd_case_set(c, name, resolved);
}

void space_limits(const space *s, const space_domain *d, hd_case *c)
{
    for (uint32_t f = 0; f < s->factors; f++) {
        const char *text = s->factor[f].text[space_class(d, f)];
        bool half = strcmp(text, "half") == 0;
        if (half || strcmp(text, "least") == 0) resolve_near(c, s->factor[f].name, half);
    }
}

hd_status space_case(const space *s, const space_domain *d, uint64_t seed, hd_case *c)
{
    enum { MIX_BATCHES = 2 /* times as many: each has one operation of many */ };
    hd_status status = HD_OK;
    *c = hd_case_of(s->design);
    c->seed = seed;
    for (uint32_t f = 0; f < s->factors && !status; f++) {
        const char *text = s->factor[f].text[space_class(d, f)];
        if (strcmp(text, "least") != 0 && strcmp(text, "half") != 0) status = set_word(c, s->factor[f].name, text);
    }
    if (!status) space_limits(s, d, c);
    if (strcmp(c->op, "mix") == 0) c->batches *= MIX_BATCHES;
    return status;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * expression.c - see expression.h. A level of the grammar is a function, or a row of `levels`.
 */
#include "judge/expression.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

typedef struct walk {
    const char *at;
    uint64_t old;
    judge_score_in in;
    bool wrong; /* the text is not well formed */
} walk;

/* ---- Arithmetic ------------------------------------------------------------------------------ */

static uint64_t at_most(wide x) { return x > UINT64_MAX ? UINT64_MAX : (uint64_t)x; }

/* x times two, so often: no more than 64 times changes anything. */
static uint64_t doubled(uint64_t x, uint64_t times)
{
    for (uint64_t i = 0; i < times && i < 64; i++) x = at_most((wide)x + x);
    return x;
}

static uint64_t halved(uint64_t x, uint64_t times)
{
    for (uint64_t i = 0; i < times && x; i++) x /= 2;
    return x;
}

typedef struct sign {
    const char *text;
    char code; /* of apply() */
} sign;

static uint64_t apply(char code, uint64_t a, uint64_t b)
{
    switch (code) {
    case '+': return at_most((wide)a + b);
    case '-': return a > b ? a - b : 0;
    case '*': return at_most((wide)a * b);
    case '/': return b == 0 ? UINT64_MAX : a / b;
    case '%': return b == 0 ? a : a % b;
    case 'l': return doubled(a, b);
    case 'r': return halved(a, b);
    case '&': return a & b;
    case '^': return a ^ b;
    case '|': return a | b;
    case '<': return a < b;
    case '>': return a > b;
    case 'b': return !(a > b);
    case 'a': return !(a < b);
    case '=': return a == b;
    default: return a != b;
    }
}

/* ---- The text -------------------------------------------------------------------------------- */

static bool next_is(walk *w, const char *text)
{
    w->at += strspn(w->at, " \t");
    size_t n = strlen(text);
    bool is = strncmp(w->at, text, n) == 0;
    if (is) w->at += n;
    return is;
}

static void must_be(walk *w, const char *text)
{
    if (!next_is(w, text)) w->wrong = true;
}

/* The levels of C from the loosest to the closest; of two signs that begin alike the longer one comes first. */
static const sign levels[][6] = {
    { { "|", '|' } },
    { { "^", '^' } },
    { { "&", '&' } },
    { { "==", '=' }, { "!=", '!' } },
    { { "<=", 'b' }, { ">=", 'a' }, { "<", '<' }, { ">", '>' } },
    { { "<<", 'l' }, { ">>", 'r' } },
    { { "+", '+' }, { "-", '-' } },
    { { "*", '*' }, { "/", '/' }, { "%", '%' } },
};
enum { LEVELS = sizeof levels / sizeof *levels };

static uint64_t choice(walk *w);

static uint64_t larger_or_smaller(walk *w, bool larger)
{
    must_be(w, "(");
    uint64_t a = choice(w);
    must_be(w, ",");
    uint64_t b = choice(w);
    must_be(w, ")");
    return (a > b) == larger ? a : b;
}

/* Of the value in parentheses that is next. */
static uint64_t logarithm(walk *w)
{
    must_be(w, "(");
    uint64_t x = choice(w), whole = 0, unit = 1;
    must_be(w, ")");
    if (x == 0) return 0;
    for (; whole < 63 && x >> (whole + 1); whole++) unit *= 2;
    uint64_t fraction = (uint64_t)floorl(65536 * log2l((long double)x / unit));
    return whole * 65536 + (fraction > 65535 ? 65535 : fraction);
}

static uint64_t power(walk *w)
{
    must_be(w, "(");
    uint64_t x = choice(w), unit = 1;
    must_be(w, ")");
    if (x >= 64 * 65536) return UINT64_MAX;
    long double value = exp2l((long double)x / 65536);
    while (value / unit >= 4294967296) unit *= 2;
    return (uint64_t)(value / unit) * unit;
}

static uint64_t number(walk *w)
{
    char *end;
    bool hex = w->at[0] == '0' && w->at[1] == 'x';
    uint64_t x = strtoull(w->at, &end, hex ? 16 : 10);
    w->wrong = w->wrong || end == w->at;
    w->at = end;
    return x;
}

static uint64_t input(walk *w)
{
    const judge_score_in *in = &w->in;
    const struct {
        const char *name;
        uint64_t value;
    } inputs[] = { /* of two that begin alike the longer one comes first */
                   { "old", w->old },
                   { "given", in->given },
                   { "now", in->now },
                   { "tick", in->tick },
                   { "epoch", in->epoch },
                   { "least", in->least },
                   { "spared", in->spared },
                   { "slots", in->slots },
                   { "full", in->full },
                   { "upper", in->upper },
                   { "state", in->state },
                   { "ghosts1", in->ghosts1 },
                   { "ghosts2", in->ghosts2 },
                   { "ghost", in->ghost },
                   { "middle", in->middle },
                   { "freq_rival", in->freq_rival },
                   { "freq_old", in->freq_old },
                   { "freq", in->freq }
    };
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (next_is(w, inputs[i].name)) return inputs[i].value;
    return number(w);
}

static uint64_t primary(walk *w)
{
    if (w->wrong) return 0;
    if (next_is(w, "~")) return UINT64_MAX - primary(w);
    if (next_is(w, "(")) {
        uint64_t x = choice(w);
        must_be(w, ")");
        return x;
    }
    if (next_is(w, "min")) return larger_or_smaller(w, false);
    if (next_is(w, "max")) return larger_or_smaller(w, true);
    if (next_is(w, "log2")) return logarithm(w);
    if (next_is(w, "exp2")) return power(w);
    if (next_is(w, "MAX")) return UINT64_MAX;
    return input(w);
}

/* The sign of the level that is next, which is no beginning of another level's: "<" of "<<". */
static const sign *sign_of(walk *w, size_t level)
{
    w->at += strspn(w->at, " \t");
    bool shifts = strncmp(w->at, "<<", 2) == 0 || strncmp(w->at, ">>", 2) == 0;
    if (shifts && strcmp(levels[level][0].text, "<<") != 0) return NULL;
    for (const sign *s = levels[level]; s < levels[level] + 6 && s->text; s++)
        if (next_is(w, s->text)) return s;
    return NULL;
}

static uint64_t of_level(walk *w, size_t level)
{
    if (level == LEVELS) return primary(w);
    uint64_t a = of_level(w, level + 1);
    for (const sign *s; !w->wrong && (s = sign_of(w, level));) a = apply(s->code, a, of_level(w, level + 1));
    return a;
}

static uint64_t choice(walk *w)
{
    uint64_t a = of_level(w, 0);
    if (w->wrong || !next_is(w, "?")) return a;
    uint64_t then = choice(w);
    must_be(w, ":");
    uint64_t otherwise = choice(w);
    return a ? then : otherwise;
}

/* ---- Functions ------------------------------------------------------------------------------- */

static const char prefix[] = "expr:";

/* Where the expression of the function begins; NULL: the text has none. */
static const char *begin_of(const char *text, const char *function)
{
    size_t n = strlen(function);
    for (const char *at = text + strlen(prefix); at; at = strchr(at, ';')) {
        at += strspn(at, "; \t");
        if (strncmp(at, function, n) == 0 && at[n + strspn(at + n, " \t")] == '=') return strchr(at, '=') + 1;
    }
    return NULL;
}

static uint64_t value_of(const char *at, uint64_t old, judge_score_in in, bool *well)
{
    walk w = { at, old, in, false };
    uint64_t x = choice(&w);
    w.at += strspn(w.at, " \t");
    *well = !w.wrong && (*w.at == 0 || *w.at == ';');
    return x;
}

bool judge_expression_read(const char *text, judge_expression *e)
{
    static const char *const functions[] = { "on_insert",   "on_hit",   "admission", "on_evict",
                                             "upper_first", "remember", "forget",    "next_state" };
    const judge_score_in none = { .given = 0 };
    bool well = strncmp(text, prefix, strlen(prefix)) == 0 && strlen(text) < sizeof e->text;
    if (!well || !begin_of(text, functions[0])) return false;
    for (size_t f = 0; f < sizeof functions / sizeof *functions && well; f++)
        if (begin_of(text, functions[f])) value_of(begin_of(text, functions[f]), 0, none, &well);
    if (well) snprintf(e->text, sizeof e->text, "%s", text);
    return well;
}

uint64_t judge_expression_value(const judge_expression *e, const char *function, uint64_t old, judge_score_in in)
{
    bool well;
    const char *at = begin_of(e->text, function);
    if (!at && strcmp(function, "on_evict") == 0) return old;
    if (!at && strcmp(function, "next_state") == 0) return in.state;
    if (!at && strcmp(function, "admission") != 0 && strcmp(function, "on_hit") != 0) return 0;
    return value_of(at ? at : begin_of(e->text, "on_insert"), old, in, &well);
}

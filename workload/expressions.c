/* SPDX-License-Identifier: Apache-2.0
 *
 * expressions.c - see expressions.h.
 */
#include "workload/expressions.h"

#include <stdio.h>
#include <string.h>

typedef struct drawing {
    hd_rng *g;
    char *text;
    size_t used;
    bool hit;    /* `old` can be read                  */
    bool bucket; /* so can what a bucket with queues has */
} drawing;

static uint64_t below(drawing *d, uint64_t n) { return hd_rng_below(d->g, n); }

static void put(drawing *d, const char *words)
{
    size_t n = strlen(words);
    if (d->used + n >= HD_EXPRESSIONS_TEXT) return; /* not with expressions of this depth */
    memcpy(d->text + d->used, words, n + 1);
    d->used += n;
}

static void draw_of_bucket(drawing *d)
{
    static const char *const inputs[] = { "slots",   "full",    "upper",  "state",  "ghost",
                                          "ghosts1", "ghosts2", "spared", "middle", "freq" };
    put(d, inputs[below(d, sizeof inputs / sizeof *inputs)]);
}

static void draw_leaf(drawing *d)
{
    static const char *const inputs[] = { "now", "given", "given", "epoch", "tick", "now" };
    static const char *const constants[] = { "0", "1", "2", "3", "7", "32", "64", "1000", "0xffffffff", "MAX" };
    uint64_t kind = below(d, 4);
    if (d->bucket && below(d, 2))
        draw_of_bucket(d);
    else if (d->hit && kind == 0)
        put(d, "old");
    else if (kind < 3)
        put(d, inputs[below(d, sizeof inputs / sizeof *inputs)]);
    else
        put(d, constants[below(d, sizeof constants / sizeof *constants)]);
}

static void draw(drawing *d, uint64_t depth)
{
    static const char *const signs[] = { "+",  "+",  "-", "*", "/",  "%",  "&",  "|", "^",
                                         "<<", ">>", "<", ">", "<=", ">=", "==", "!=" };
    uint64_t kind = depth == 0 ? 0 : below(d, 8);
    if (kind < 2) {
        draw_leaf(d);
    } else if (kind < 4) {
        put(d, below(d, 2) ? "min(" : "max(");
        draw(d, depth - 1);
        put(d, ",");
        draw(d, depth - 1);
        put(d, ")");
    } else if (kind == 4 && below(d, 9) == 0) {
        put(d, below(d, 2) ? "log2(" : "exp2(");
        draw(d, depth - 1);
        put(d, ")");
    } else if (kind == 4 && below(d, 3) == 0) {
        put(d, "~");
        draw_leaf(d);
    } else {
        bool choice = kind == 5 && below(d, 2);
        put(d, "(");
        draw(d, depth - 1);
        put(d, choice ? "?" : signs[below(d, sizeof signs / sizeof *signs)]);
        draw(d, depth - 1);
        if (choice) put(d, ":");
        if (choice) draw(d, depth - 1);
        put(d, ")");
    }
}

static void draw_queues(drawing *d)
{
    static const char *const functions[] = { ";upper_first=1&", ";remember=1+", ";forget=", ";next_state=" };
    d->bucket = true;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        d->hit = f == 1;
        if (f > 1 && below(d, 2)) continue;
        put(d, functions[f]);
        draw(d, 1);
    }
}

void hd_expressions_draw(hd_rng *g, char text[HD_EXPRESSIONS_TEXT])
{
    enum { DEEP = 3, SHALLOW = 2 };
    drawing d = { g, text, 0, false, false };
    put(&d, "expr:on_insert=");
    draw(&d, below(&d, SHALLOW + 1));
    if (below(&d, 4)) {
        d.hit = true;
        put(&d, ";on_hit=");
        draw(&d, 1 + below(&d, DEEP));
        d.hit = false;
    }
    if (below(&d, 2)) {
        put(&d, ";admission=");
        if (below(&d, 2))
            put(&d, "MAX");
        else
            draw(&d, below(&d, SHALLOW + 1));
    }
    if (below(&d, 3)) return;
    d.hit = true;
    put(&d, ";on_evict=");
    draw(&d, below(&d, SHALLOW + 1));
    if (below(&d, 2) == 0) draw_queues(&d);
}

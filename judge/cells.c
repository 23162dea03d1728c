/* SPDX-License-Identifier: Apache-2.0
 *
 * cells.c - see cells.h.
 */
#include "judge/cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/design.h"

/* ---- Locations ------------------------------------------------------------------------------- */

/* The arrays of a batch, as device memory: how many bytes are one, and of what. */
typedef struct known {
    const char *region, *name;
    uint32_t bytes;  /* 0: a value's */
    bool of_outcome; /* else of an item */
} known;

static const known regions[] = {
    { "keys", "key", 8, false },    { "values", "value", 0, false },        { "scores", "score", 8, false },
    { "flags", "flag", 1, false },  { "each", "operation", 1, false },      { "outcome", "outcome", 1, false },
    { "found", "found", 1, false }, { "value_out", "value_out", 0, false }, { "score_out", "score_out", 8, false },
    { "ptr", "ptr", 8, false },     { "tally", "count", 8, true },
};

const char *fixture_location(const fixture *s, const simt_machine *m, const void *p, char *text, size_t bytes)
{
    uint64_t at;
    const char *name = simt_machine_name(m, p, &at);
    for (size_t i = 0; i < sizeof regions / sizeof *regions; i++) {
        const known *r = &regions[i];
        if (strcmp(r->region, name) != 0) continue;
        uint64_t k = at / (r->bytes ? r->bytes : s->value_bytes ? s->value_bytes : 1);
        if (r->of_outcome)
            snprintf(text, bytes, "%s of %s", r->name, hd_outcome_name((hd_outcome)k));
        else
            snprintf(text, bytes, "%s of item %" PRIu64, r->name, k);
        return text;
    }
    if (fixture_names(s, name, at, text, bytes)) return text;
    if (at)
        snprintf(text, bytes, "%s, byte %" PRIu64, name, at);
    else
        snprintf(text, bytes, "%s", name);
    return text;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static void copy(char to[CELL_NAME], const char *from, size_t n)
{
    snprintf(to, CELL_NAME, "%.*s", (int)(n < CELL_NAME ? n : CELL_NAME - 1), from);
}

/* "bucket 7" or "stash bucket 7": the length of what stands before its number; 0: there is no number. */
static size_t before_number(const char *text)
{
    const char *blank = strrchr(text, ' ');
    return blank && blank[1] && strspn(blank + 1, "0123456789") == strlen(blank + 1) ? (size_t)(blank - text) : 0;
}

bool cell_name_of(const char *location, cell_name *c)
{
    const char *in = strstr(location, " in "), *of = strstr(location, " of "), *slot = strstr(location, ", slot "),
               *from = strstr(location, ", from slot ");
    const char *end = slot ? slot : from;
    if (end && (slot || in)) {
        const char *table = in && in < end ? in + 4 : location;
        copy(c->column, in ? location : CELL_ENTRY, in ? (size_t)(in - location) : strlen(CELL_ENTRY));
        copy(c->table, table, (size_t)(end - table));
        copy(c->row, end + (slot ? 2 : 7), CELL_NAME);
        return true;
    }
    if (!of) return false;
    size_t kind = before_number(of + 4);
    copy(c->column, location, (size_t)(of - location));
    copy(c->row, of + 4, CELL_NAME);
    if (kind)
        copy(c->table, of + 4, kind);
    else
        copy(c->table, location, (size_t)(of - location));
    strncat(c->table, "s", CELL_NAME - strlen(c->table) - 1);
    return true;
}

static bool ends(const char *text, const char *with)
{
    size_t n = strlen(text), k = strlen(with);
    return n >= k && strcmp(text + n - k, with) == 0;
}

/* A key that no entry has. NULL: an ordinary one. */
static const char *special_key(uint64_t key)
{
    return key < HD_KEY_RESERVED ? NULL : key == HD_KEY_EMPTY ? "empty" : key == HD_KEY_LOCKED ? "locked" : "reserved";
}

/* The word for a value; NULL: it is shown as a number. */
static const char *word_of(const char *column, uint64_t v, uint64_t bytes)
{
    if (bytes == 8 && ends(column, "key")) return special_key(v);
    if (bytes == 1 && strcmp(column, "outcome") == 0) return v < HD_OUTCOME_COUNT ? hd_outcome_name((hd_outcome)v) : "";
    if (strcmp(column, "lock") == 0 && v < 2) return v ? "held" : "free";
    return NULL;
}

const char *cell_text(const char *column, const uint8_t *p, uint64_t bytes, char *text, size_t room)
{
    enum { SHORT = 1000000 };
    uint64_t v = 0;
    memcpy(&v, p, bytes < 8 ? (size_t)bytes : 8);
    const char *word = word_of(column, v, bytes);
    if (word)
        snprintf(text, room, "%s", word);
    else if (bytes == 1 && strcmp(column, "digest") == 0)
        snprintf(text, room, "%02" PRIx64, v);
    else if (v < SHORT)
        snprintf(text, room, "%" PRIu64 "%s", v, bytes > 8 ? "..." : "");
    else
        snprintf(text, room, "0x%" PRIx64 "%s", v, bytes > 8 ? "..." : "");
    return text;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * error.c - one status and one sentence per failure.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char why[512];

const char *hd_why(void) { return why; }

void hd_fail_because(const char *format, ...)
{
    char sentence[sizeof why]; /* an argument may be hd_why() itself */
    va_list ap;
    va_start(ap, format);
    vsnprintf(sentence, sizeof sentence, format, ap);
    va_end(ap);
    /* texts of callers are quoted: they end no line and drive no terminal */
    for (char *c = sentence; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
    memcpy(why, sentence, sizeof why);
}

const char *hd_status_name(hd_status s)
{
    static const char *const name[HD_STATUS_COUNT] = { "HD_OK",  "HD_EINVAL",   "HD_ENOMEM", "HD_ECUDA",
                                                       "HD_EIO", "HD_ECORRUPT", "HD_EKERNEL" };
    return (unsigned)s < HD_STATUS_COUNT ? name[s] : "?";
}

/* How many letters are put in, left out, changed or exchanged with the next one, between two words in lower case
 * (optimal string alignment; Boytsov, "Indexing methods for approximate dictionary searching", 2011). */
static unsigned edit_distance(const char *a, size_t an, const char *b, size_t bn)
{
    unsigned row[3][HD_NEAREST_WORD + 1], *before = row[0], *last = row[1], *now = row[2];
    for (size_t j = 0; j <= bn; j++) last[j] = (unsigned)j;
    for (size_t i = 0; i < an; i++) {
        now[0] = (unsigned)i + 1;
        for (size_t j = 0; j < bn; j++) {
            unsigned best = last[j] + (a[i] != b[j]);
            if (now[j] + 1 < best) best = now[j] + 1;
            if (last[j + 1] + 1 < best) best = last[j + 1] + 1;
            bool exchanged = i && j && a[i] == b[j - 1] && a[i - 1] == b[j];
            if (exchanged && before[j - 1] + 1 < best) best = before[j - 1] + 1;
            now[j + 1] = best;
        }
        unsigned *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[bn];
}

/* The beginning of a word in lower case, for comparing; its length. */
static size_t lower(const char *word, char *to)
{
    size_t n = strnlen(word, HD_NEAREST_WORD);
    for (size_t i = 0; i < n; i++) to[i] = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] - 'A' + 'a') : word[i];
    return n;
}

void hd_nearest_try(hd_nearest *n, const char *name)
{
    enum { BEGINNING = 2 }; /* letters that are enough when one word is the beginning of the other */
    char a[HD_NEAREST_WORD], b[HD_NEAREST_WORD];
    size_t an = lower(n->wrong, a), bn = lower(name, b), shorter = an < bn ? an : bn, longer = an < bn ? bn : an;
    size_t apart = longer - shorter; /* the distance is not less */
    bool begins = shorter >= BEGINNING && memcmp(a, b, shorter) == 0;
    if (!begins && (2 * apart > longer || (n->name && apart >= n->distance))) return;
    unsigned d = edit_distance(a, an, b, bn);
    if (d > 1 && begins) d = 1;
    if (2 * (size_t)d > longer || (n->name && d >= n->distance)) return;
    n->name = name;
    n->distance = d;
}

const char *hd_nearest_text(const hd_nearest *n, const char *before, char *text)
{
    text[0] = 0;
    if (n->name) snprintf(text, HD_NEAREST_TEXT, "; nearest: %s%s", before, n->name);
    return text;
}

void hd_name_add(char *all, size_t bytes, const char *name)
{
    size_t n = strlen(all);
    snprintf(all + n, bytes - n, "%s%s", n ? ", " : "", name);
}

/* A kernel has a row for each family of operations and each backend. */
static bool is_listed_before(hd_kind kind, hd_rows *rows, size_t i, const char *name)
{
    hd_row row;
    for (size_t before = 0; before < i; before++) {
        rows(kind, before, &row);
        if (strcmp(row.name, name) == 0) return true;
    }
    return false;
}

void hd_fail_because_name(const char *field, const char *name, hd_kind kind, hd_rows *rows)
{
    hd_row row;
    hd_nearest near = { name, NULL, 0 };
    char all[256] = "", nearest[HD_NEAREST_TEXT];
    for (size_t i = 0; rows(kind, i, &row); i++) {
        hd_nearest_try(&near, row.name);
        if (!is_listed_before(kind, rows, i, row.name)) hd_name_add(all, sizeof all, row.name);
    }
    hd_fail_because("%s: there is no '%.60s'%s; all: %s", field, name, hd_nearest_text(&near, "", nearest), all);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * verbs.c - the words of trace files: what a request does, by name or number, and usual names of columns.
 */
#include <string.h>

#include "workload/reader.h"

const char HD_DELETE[] = "a delete, which is no request", HD_NO_VERB[] = "not a verb";
const char HD_VERB_NAMES[] = "read, r, get, gets, get_lease, update, write, w, set, set_lease, put, replace, insert, "
                             "add, rmw, cas, incr, decr, append, prepend";

enum { DELETE = HD_READ_MODIFY_WRITE + 1, NO_NUMBER = -1 };

/* The number is libCacheSim's; its 0 is a request of which no verb is known. The most usual names come first. */
static const struct {
    const char *name;
    uint32_t verb;
    int number;
} verbs[] = {
    { "read", HD_READ, 12 },
    { "get", HD_READ, 1 },
    { "update", HD_UPDATE, 14 },
    { "write", HD_UPDATE, 13 },
    { "set", HD_UPDATE, 3 },
    { "", HD_READ, 0 },
    { "gets", HD_READ, 2 },
    { "add", HD_INSERT, 4 },
    { "cas", HD_READ_MODIFY_WRITE, 5 },
    { "replace", HD_UPDATE, 6 },
    { "append", HD_READ_MODIFY_WRITE, 7 },
    { "prepend", HD_READ_MODIFY_WRITE, 8 },
    { "delete", DELETE, 9 },
    { "incr", HD_READ_MODIFY_WRITE, 10 },
    { "decr", HD_READ_MODIFY_WRITE, 11 },
    { "r", HD_READ, NO_NUMBER },
    { "get_lease", HD_READ, NO_NUMBER },
    { "w", HD_UPDATE, NO_NUMBER },
    { "set_lease", HD_UPDATE, NO_NUMBER },
    { "put", HD_UPDATE, NO_NUMBER },
    { "insert", HD_INSERT, NO_NUMBER },
    { "rmw", HD_READ_MODIFY_WRITE, NO_NUMBER },
    { "del", DELETE, NO_NUMBER },
    { "remove", DELETE, NO_NUMBER },
    { "erase", DELETE, NO_NUMBER },
};
enum { VERBS = sizeof verbs / sizeof *verbs };

static const char *verb_take(size_t row, uint32_t *verb)
{
    *verb = verbs[row].verb;
    return verbs[row].verb == DELETE ? HD_DELETE : NULL;
}

static bool is_word(hd_text t, const char *word)
{
    return t.n && (*t.p | 0x20) == *word && t.n == strlen(word) && strncasecmp(t.p, word, t.n) == 0;
}

const char *hd_verb_named(hd_text t, uint32_t *verb)
{
    for (size_t i = 0; i < VERBS; i++)
        if (is_word(t, verbs[i].name)) return verb_take(i, verb);
    return HD_NO_VERB;
}

const char *hd_verb_numbered(uint64_t number, uint32_t *verb)
{
    for (size_t i = 0; number < VERBS && i < VERBS; i++)
        if (verbs[i].number == (int)number) return verb_take(i, verb);
    return HD_NO_VERB;
}

bool hd_text_is_name(hd_text t)
{
    static const char *const name[] = { "key",       "keys", "id",       "ids",  "obj",     "object",    "obj_id",
                                        "object_id", "item", "url",      "uri",  "page",    "block",     "address",
                                        "addr",      "lba",  "lbn",      "name", "request", "timestamp", "time",
                                        "ts",        "size", "obj_size", "op",   "verb",    "op_type" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (is_word(t, name[i])) return true;
    return false;
}

bool hd_text_begins_as_number(hd_text t)
{
    while (t.n && (*t.p == '+' || *t.p == '-' || *t.p == '.')) t.p++, t.n--;
    return t.n && *t.p >= '0' && *t.p <= '9';
}

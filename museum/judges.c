/* SPDX-License-Identifier: Apache-2.0
 *
 * judges.c - the names of the judges that may find a bug.
 */
#include <stdio.h>
#include <string.h>

#include "museum/museum.h"

const char *const museum_judge_name[MUSEUM_JUDGES] = {
    "arrays", "tickets",     "contents", "lists",    "counts", "rest",       "watch",    "races", "weak",
    "bounds", "collectives", "copies",   "patience", "oracle", "invariants", "counters", "faces", "order",
};

const char *const museum_judge_what[MUSEUM_JUDGES] = {
    "outputs stay within their bounds, and as they were where nothing was delivered",
    "each item is what the reference allows at its turn",
    "at the end the table is the reference's, entry by entry",
    "lists have what they should, in their order",
    "as many entries came and went as the outcomes say",
    "no lock is held after a run of kernels, guards are whole, invariants hold",
    "invariants hold between any two steps",
    "accesses that are not ordered by happens-before",
    "runs with store buffers and old values, for others to judge",
    "accesses outside of device or shared memory",
    "lanes that left, that wait for each other, or that vote elsewhere",
    "asynchronous copies that are read before their end",
    "nothing goes on for ever",
    "a map that knows no buckets: outcomes, lists, contents, the clock",
    "the invariants of a table at rest",
    "the table's counters say what the outcomes say",
    "what the reference does it allows, and what it did not do it does not",
    "batches that conflict follow one another on streams",
};

museum_judge museum_judge_named(const char *name, size_t letters)
{
    int j = 0;
    while (j < MUSEUM_JUDGES &&
           (strlen(museum_judge_name[j]) != letters || strncmp(museum_judge_name[j], name, letters) != 0))
        j++;
    return (museum_judge)j;
}

bool museum_heard(const museum_search *s, museum_sight *sight, museum_judge by, const char *sentence)
{
    const char *end = strchr(sentence, '\n');
    if (s->deaf >> by & 1) return false;
    sight->found = true;
    sight->by = by;
    snprintf(sight->sentence, sizeof sight->sentence, "%.*s", end ? (int)(end - sentence) : 500, sentence);
    return true;
}

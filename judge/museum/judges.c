/* SPDX-License-Identifier: Apache-2.0
 *
 * judges.c - the names of the judges that may find a bug.
 */
#include <stdio.h>
#include <string.h>

#include "judge/museum/museum.h"

const char *const museum_judge_name[MUSEUM_JUDGES] = {
    "arrays",      "tickets", "contents", "lists",  "counts",     "rest",     "watch", "races", "weak",  "bounds",
    "collectives", "copies",  "patience", "oracle", "invariants", "counters", "faces", "order", "crash", "file",
};

const char *const museum_judge_what[MUSEUM_JUDGES] = {
    "checks that outputs stay within their bounds, and are untouched where nothing was delivered",
    "checks that each item does what the reference allows when its turn comes",
    "checks at the end that the table equals the reference's, entry by entry",
    "checks that lists have the entries they should have, in order",
    "checks that as many entries came and went as the outcomes say",
    "checks at the end that no lock is held, guards are whole and invariants hold",
    "checks after every step that the invariants hold",
    "checks that conflicting accesses are ordered by happens-before",
    "runs the kernels with store buffers and old values, so that other checks see the effects",
    "checks that no access is outside of device or shared memory",
    "checks that lanes do not leave others behind, wait for each other for ever, or vote elsewhere",
    "checks that no asynchronous copy is read before its end",
    "checks that nothing goes on for ever",
    "compares outcomes, lists, contents and the clock with a map that knows no buckets",
    "checks the invariants of a table at rest",
    "checks that the table's counters say what the outcomes say",
    "checks that the reference does what it allows, and nothing else",
    "checks that batches that conflict follow one another on streams",
    "lets the kernels crash, and checks what is recovered of each image that this may leave",
    "cuts the power behind tables with files, or lets calls fail, and checks what opens then",
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
    if (s->muted_checks >> by & 1) return false;
    sight->found = true;
    sight->by = by;
    snprintf(sight->sentence, sizeof sight->sentence, "%.*s", end ? (int)(end - sentence) : 500, sentence);
    return true;
}

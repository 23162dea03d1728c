/* SPDX-License-Identifier: Apache-2.0
 *
 * space.h - the space of cases of a design, as a table: a factor for each word of case strings, with classes of values.
 * Factors come from what there is: the fields of cases (workload/case.h) and of the design (base/param.h), operations,
 * and kernels of its backends; classes from a field's type, range, registry and usual value, and from a short list of
 * values that a row cannot know. So a new field, operation, policy or kernel joins by its row. Rules name what the
 * library refuses: data in space.inc, and the kernels' own (hd_design.unsupported).
 *
 * Covering arrays (cover.h), random tests and fuzzers draw from here.
 */
#ifndef HD_JUDGE_SPACE_H
#define HD_JUDGE_SPACE_H

#include "base/design.h"
#include "workload/case.h"

enum { SPACE_FACTORS = 64, SPACE_CLASSES = 64, SPACE_TERMS = 5, SPACE_TEXT = 240 };

typedef struct space_factor {
    char name[32];
    uint32_t classes;
    char (*text)[SPACE_TEXT]; /* (classes) the first is the usual one */
} space_factor;

/* A combination that there is not: each factor's class is among these. */
typedef struct space_rule {
    const char *reason;
    uint32_t terms;
    struct {
        uint32_t factor;
        uint64_t classes; /* a bit for each */
    } term[SPACE_TERMS];
} space_rule;

typedef struct space {
    const char *design;
    uint32_t factors, rules, room;
    space_factor factor[SPACE_FACTORS];
    space_rule *rule;
} space;

/* What each factor's class may still be, a bit for each class. */
typedef struct space_domain {
    uint64_t of[SPACE_FACTORS];
} space_domain;

/* The space of a design with the kernels of some backends: "ref host". HD_EINVAL: a rule names what is not there. */
hd_status space_open(const char *design, const char *backends, space **s);
void space_close(space *s); /* NULL is fine */
/* The factor's number; s->factors: there is none. */
uint32_t space_named(const space *s, const char *name);
/* The factors that say what a table, its kernels and its load are: the design's own fields, the kernel, the value, the
 * capacity, how full it is, with which keys, and the rows of a range; a bit for each. */
uint64_t space_structure(const space *s);
/* Leaves alone the classes that one of the patterns matches ("mix", "2,3,8", "*_if"). */
void space_fix(const space *s, space_domain *d, const char *factor, const char *patterns);
/* A policy of expressions, for each set of flags one; NULL past the end. */
const char *space_expression_at(size_t i);

space_domain space_all(const space *s);
/* Whether a combination of these classes breaks no rule, but for rule `but` (NULL: none). */
bool space_possible(const space *s, const space_domain *d, const space_rule *but);
/* Chooses a class for each factor, so that no rule is broken: by below(self, n), which is 0 to n - 1, and where 0 is
 * the usual class. False: there is no such combination. */
bool space_draw(const space *s, space_domain *d, const space_rule *but, uint64_t (*below)(void *, uint64_t),
                void *self);
/* As space_draw by a generator, but usual classes are not taken more often than others. */
bool space_random(const space *s, space_domain *d, const space_rule *but, uint64_t seed);

/* The case of such a choice, judged. */
hd_status space_case(const space *s, const space_domain *d, uint64_t seed, hd_case *c);
/* Its limits of device memory, again, after the caller has changed how large the table is. */
void space_limits(const space *s, const space_domain *d, hd_case *c);

static inline uint32_t space_class(const space_domain *d, uint32_t factor)
{
    return (uint32_t)__builtin_ctzll(d->of[factor]);
}

#endif

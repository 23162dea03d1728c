/* SPDX-License-Identifier: Apache-2.0
 *
 * testing.h - for every test: failures that print the current case, the test data, the size of the suite, random
 * numbers, and seams that count.
 */
#ifndef TESTING_H
#define TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "heddle.h"
#include "base/seam.h"

typedef unsigned long long ull; /* for %llu */

/* The call must return HD_OK; a failure shows hd_why(). */
#define must(call) test_status((call), HD_OK, NULL, #call, __FILE__, __LINE__)
/* The call must return `status`, and hd_why() must contain `word` (NULL: any sentence). */
#define must_fail(call, status, word) test_status((call), (status), (word), #call, __FILE__, __LINE__)
/* check(x, "format", ...): fails with the sentence and the current case when x is false. */
#define check(x, ...)                                             \
    do {                                                          \
        if (!(x)) test_fail(__FILE__, __LINE__, #x, __VA_ARGS__); \
    } while (0)

void test_status(hd_status got, hd_status want, const char *word, const char *call, const char *file, int line);
void test_fail(const char *file, int line, const char *what, const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));

/* What is being tried: shown by the next failure, and by nothing else. */
void test_case(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A measured figure, as a TAP diagnostic: "# ...". */
void test_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What the running test tried of an area of tests/areas.txt, for the table of ./check; it took the time since the test
 * began, or since its last such line. */
void test_tried(const char *area, uint64_t count, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Ends the running test as skipped, and says why. */
void test_skip(const char *why) __attribute__((noreturn));

/* A file in the folder HEDDLE_SAME, for what every build must say alike, byte for byte; NULL when that is unset.
 * fclose() it. */
FILE *test_same(const char *name);

/* Path of a file of HEDDLE_DATA; skips the running test when it is absent. Static storage. */
const char *test_data(const char *name);
bool test_has_data(const char *name);
/* Keys of the first `most` requests of a source ("zipf:0.99,1000"); free() them. *n: how many. */
uint64_t *test_keys(const char *spec, uint64_t seed, uint64_t most, uint64_t *n);
/* HEDDLE_TEST_SCALE, a whole number from 1: how much longer than by default the suite may take; or 1/N: how much
 * shorter, for builds and checkers that are slow. Every test still runs, with fewer rounds. */
uint64_t test_scale(void);             /* 1 when shorter */
uint64_t test_times(uint64_t usual);   /* that many at scale 1; at least 1 */
bool test_is_long(void);               /* HEDDLE_TEST_LONG is set: by make check-long */
uint64_t test_quarter(uint64_t usual); /* test_times(usual) in long runs, otherwise a quarter of them */
bool test_takes(uint64_t i);           /* whether round i of a grid is run: round 0, and one in N, when shorter */
/* HEDDLE_TEST_BACKEND: where the tables of those tests are that can do without the reference's order of items; `usual`
 * when unset. Where it says cuda, programs without a device are skipped as a whole. */
const char *test_backend(const char *usual);
bool test_far(void); /* it is cuda: pointers into tables are a device's */
/* hd_config_default() on test_backend("ref"). */
hd_config test_config(void);
/* test_usual(.design = "hive", .slots = 8): a configuration in which a member that is 0 has what is usual for the
 * design. But value_bytes is as given: without it the table is a set; and hive.spare = 0 is to be set afterwards.
 * test_table() opens such a table. */
#define test_usual(...) test_usual_of((hd_config){ __VA_ARGS__ })
#define test_table(...) test_table_at((hd_config){ __VA_ARGS__ }, __FILE__, __LINE__)
hd_config test_usual_of(hd_config given);
hd_table *test_table_at(hd_config given, const char *file, int line);
/* hd_run with the items in order, on every backend: where they are concurrent, each is a batch of its own. For arrays
 * of this machine. Slow there: test_some(n) is n, or a share of it. */
hd_status test_in_order(hd_table *t, hd_batch *b);
uint64_t test_some(uint64_t n);
/* A batch over these arrays, of which each may be NULL; and where it lists what left, or what it exports. */
hd_batch test_batch(hd_op op, uint64_t n, const uint64_t *key, const void *value, uint8_t *outcome);
void test_lists(hd_batch *b, uint64_t *key, void *value, uint64_t *score, uint64_t *item, uint64_t *count);
/* The outcome for one key. A value is the low bytes of a number. */
hd_outcome test_put(hd_table *t, uint64_t key, uint64_t value);
hd_outcome test_erase(hd_table *t, uint64_t key);
/* Whether the key is there; then *value is its. */
bool test_get(hd_table *t, uint64_t key, uint64_t *value);
hd_info test_info(hd_table *t);
uint64_t test_size(hd_table *t);
/* Each asks the table, and drops the answer. */
hd_status test_ask_info(hd_table *t);
hd_status test_ask_size(hd_table *t);
hd_status test_ask_load_factor(hd_table *t);
hd_status test_ask_counters(hd_table *t);
/* What is refused, and a word of the reason. */
typedef struct test_refusal {
    const char *text, *word;
} test_refusal;
/* A file of test_folder() with this text; its path, in static storage. */
const char *test_text_file(const char *name, const char *text);
/* Copies out of, and into, a value that a batch gave the pointer of. */
void test_peek(void *to, const void *ptr, size_t bytes);
void test_poke(void *ptr, const void *from, size_t bytes);
/* A private folder for this process's files, removed with what is in it at exit. */
const char *test_folder(void);
/* calloc that fails the test instead of returning NULL. */
void *test_alloc(uint64_t count, uint64_t size);

/* SplitMix64 (Steele, Lea, Flood 2014): one distinct number per step. */
uint64_t test_random(uint64_t *state);
/* Uniform in [0, n), n > 0; the bias of the multiply is below 2^-32 for the n of tests. */
uint64_t test_below(uint64_t *state, uint64_t n);

/* Fills fresh memory: with the byte `poison`, or, above 255, with noise of that seed. */
void test_poison(void *p, size_t bytes, uint64_t poison);

/* The operating system's seams with a ledger of memory, which is never empty when it is given out. */
typedef struct counting {
    hd_seams seams;        /* hd_config.seams = &c.seams */
    uint64_t takes, gives; /* calls */
    uint64_t live_bytes, peak_bytes, largest_bytes;
    uint64_t refuse_at; /* the take, from 1, that is refused; 0: none */
    bool refuse_after;  /* ... and every later one                    */
    uint64_t poison;    /* of new memory: test_poison; 0xa5 at first  */
} counting;
void counting_init(counting *c);
/* Refuses the take that is `k` from now, and with for_good all later ones; and whether it came to that. No more is
 * refused then. */
void counting_refuse(counting *c, uint64_t k, bool for_good);
bool counting_refused(counting *c);

/* A test in such a list: void f(void), or void f(void **state). */
#define unit(function) unit_in(#function, function, NULL, NULL)
/* The same by another name, between two functions. */
#define unit_in(name, function, before, after)                         \
    {                                                                  \
        name, test_caller(function), before, after, (void *)(function) \
    }
#define test_caller(function) _Generic((function), void (*)(void) : test_plain, void (*)(void **) : (function))
void test_plain(void **function); /* calls it */

/* Runs the tests with TAP output; main returns this. HEDDLE_TEST_ONLY, a pattern with * and ?, chooses some. */
#define test_run(tests) test_run_named(#tests, tests, sizeof(tests) / sizeof(tests)[0])
int test_run_named(const char *name, const struct CMUnitTest *tests, size_t n);
void test_add_designs(void); /* add_own_designs, which it calls, too; once */

/* Points batch *b at the arrays of a struct whose members have the batch's names: `count` is a number, the others are
 * arrays. *a is not read, and may be a device's. */
#define test_point(b, a)                                                                                   \
    ((void)((b)->key = (a)->key, (b)->value = (a)->value, (b)->score = (a)->score, (b)->flag = (a)->flag,  \
            (b)->outcome = (a)->outcome, (b)->value_out = (a)->value_out, (b)->score_out = (a)->score_out, \
            (b)->ptr = (a)->ptr, (b)->list_key = (a)->list_key, (b)->list_value = (a)->list_value,         \
            (b)->list_score = (a)->list_score, (b)->list_item = (a)->list_item, (b)->count = &(a)->count))

#endif

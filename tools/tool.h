/* SPDX-License-Identifier: Apache-2.0
 *
 * tool.h - what every verb of the command `heddle` shares: its row in the table of verbs, one way
 * to read a command line, one way to say no.
 *
 * A verb is one file, tools/verb_NAME.c, that ends in its row, and one line in tools/verbs.inc:
 *
 *     static const tool_option option[] = {
 *         { "slots", 's', "N", "slots per bucket (128)", TOOL_RANGE(sim_options, slots, 2, 1024) },
 *         { .name = NULL },
 *     };
 *     static int run(tool_line *line, int argc, char **argv)
 *     {
 *         sim_options o = { .slots = 128 };
 *         int code = tool_parse(line, argc, argv, &o);
 *         if (code >= 0) return code;
 *         ... line->word[0], line->form ...
 *     }
 *     const tool_verb verb_sim = { "sim", "TRACE FORMAT POLICIES SIZES", "replay a trace", doc, 4, 4,
 *                                  option, NULL, run };
 *
 * --help, --json, --csv, the words that are no options and unknown options are handled here.
 */
#ifndef HD_TOOL_H
#define HD_TOOL_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "heddle.h"

/* Exit codes: the contract's, and the shell's for an interrupted command. */
enum {
    TOOL_OK = 0,
    TOOL_DIFFERS = 1, /* a check failed, or two things that should agree differ              */
    TOOL_USAGE = 2,   /* the command line: unknown name, number out of range, no such file   */
    TOOL_DATA = 3,    /* a file that exists holds what it should not                         */
    TOOL_SYSTEM = 4,  /* memory, device, input or output refused                             */
    TOOL_SKIPPED = 77,
    TOOL_STOPPED = 130 /* a signal: main makes it 128 and the signal's number                 */
};

typedef enum tool_form { TOOL_TEXT, TOOL_JSON, TOOL_CSV } tool_form;

typedef struct tool_verb tool_verb;

/* One invocation. */
typedef struct tool_line {
    const tool_verb *verb;
    tool_form form; /* --json, --csv                                    */
    char **word;    /* (words) the arguments that are no options, in order */
    int words;
} tool_line;

/* The words of an option that may be given several times. */
enum { TOOL_WORDS = 32 };
typedef struct tool_words {
    const char *word[TOOL_WORDS];
    int n;
} tool_words;

/* What an option's argument becomes; the type of its field says it. */
typedef enum tool_kind { TOOL_BY_PARSER, TOOL_U64, TOOL_U32, TOOL_REAL, TOOL_WORD, TOOL_LIST, TOOL_FLAG } tool_kind;

/* A row of a verb's options. With a field, tool_parse fills it; without one (TOOL_BY_PARSER), the verb's parser. */
typedef struct tool_option {
    const char *name; /* "slots"; NULL ends the table         */
    int key;          /* 's', or a number from 0x100 on       */
    const char *arg;  /* "N"; NULL: the option takes no value */
    const char *what;
    tool_kind kind;
    size_t offset;            /* of the field in the verb's options           */
    uint64_t least, most;     /* of a number; most: of a list, its words      */
    const char *const *words; /* of a choice, NULL-terminated; NULL: any word */
    const char *too_many;     /* of a list, the error when it is full         */
    const char *group;        /* a heading of --help, above this option and those that follow; NULL: none */
} tool_option;

/* The end of a row: a field of options T. A flag becomes true, a number lies in least..most. */
/* clang-format off */
#define TOOL_KIND(T, field)                                                                          \
    _Generic(((T *)0)->field, uint64_t: TOOL_U64, uint32_t: TOOL_U32, double: TOOL_REAL,             \
             bool: TOOL_FLAG, const char *: TOOL_WORD, tool_words: TOOL_LIST)
/* clang-format on */
#define TOOL_FIELD(T, field)              .kind = TOOL_KIND(T, field), .offset = offsetof(T, field)
#define TOOL_RANGE(T, field, first, last) TOOL_FIELD(T, field), .least = (first), .most = (last)
#define TOOL_CHOICE(T, field, among)      TOOL_FIELD(T, field), .words = (among)
#define TOOL_SEVERAL(T, field, last, why) TOOL_FIELD(T, field), .most = (last), .too_many = (why)

struct tool_verb {
    const char *name;
    const char *args; /* "TRACE FORMAT POLICIES SIZES", as --help prints it */
    const char *what; /* one line, lower case, no full stop                 */
    const char *doc;  /* the rest of --help. Ends with a section EXAMPLES; a line of it whose first
                         word is heddle or printf is run, in order, by tests/t_cli.sh. Lines of
                         up to 98 columns are not broken. */
    int words_min, words_max;
    const tool_option *option;                                 /* NULL: none                     */
    error_t (*parse)(int key, const char *arg, void *options); /* NULL: every option has a field */
    int (*run)(tool_line *line, int argc, char **argv);
};

/* Reads the command line into *options and *line. -1: go on;
 * otherwise the exit code to return at once. */
int tool_parse(tool_line *line, int argc, char **argv, void *options);

/* For parsers: 0 for HD_OK; otherwise hd_why() is printed and the parse ends with TOOL_USAGE. */
error_t tool_read(hd_status s);

/* For parsers: the value of an --admit option. */
error_t tool_admit(const char *arg, hd_admit *admit);

/* Prints "heddle VERB: sentence" on standard error, one line, and returns `code`. */
int tool_say(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As fputs; line ends and what terminals obey become '?': for names that others chose. */
void tool_put(const char *text, FILE *f);

/* As tool_say with hd_why(); the code is the status's: HD_EINVAL 2, HD_ECORRUPT 3, others 4. Once the command is
 * stopped, a failure is a consequence of that: nothing is printed, and the code is TOOL_STOPPED. */
int tool_fail(hd_status s);

/* TOOL_OK when `path` can be given to a reader; else says so and returns TOOL_USAGE: a name on the
 * command line that names nothing is a mistake in the command line, not bad data. */
int tool_file(const char *what, const char *path);

/* TOOL_OK unless `to` is the file `from`, by whatever name: else says that `what` would replace what is read, and
 * returns TOOL_USAGE. Either may be NULL. The others: none of the files that a case on the command line reads; no file
 * that the option `also` writes. */
int tool_apart(const char *what, const char *to, const char *from);
int tool_apart_words(const char *what, const char *to, const tool_line *line);
int tool_apart_outputs(const char *what, const char *to, const char *also, const char *other);

/* TOOL_OK when a file can be made at `path`; else says so, naming `what`, and returns the code. Nothing is left there.
 * A verb asks before it computes what it will write. */
int tool_writable(const char *what, const char *path);

/* TOOL_OK when a table of `capacity` entries fits into this machine's memory; else says so, naming
 * `what`, and returns TOOL_USAGE. (Most systems would promise the memory, and kill the process later.) */
int tool_fits(const char *what, uint64_t capacity, uint32_t value_bytes);

/* "; nearest: NAME" for the nearest of `names` (NULL-terminated) to `word`, or "" when none is near (hd_nearest);
 * `before` stands in front of the name. Valid until the next call. */
const char *tool_nearest(const char *word, const char *const *names);
const char *tool_nearest_after(const char *before, const char *word, const char *const *names);

/* Whether a signal asked the command to stop: SIGINT (Ctrl-C), SIGQUIT, SIGTERM or SIGHUP. Long loops ask (progress_at
 * does) and return TOOL_STOPPED, which main turns into 128 and the signal's number; the second signal, but SIGHUP, ends
 * the process without asking. */
bool tool_stopped(void);

/* For main: its exit code after a signal; from now on signals are noted; the verb that messages name. */
int tool_stop_code(void);
void tool_catch_signals(void);
void tool_say_as(const char *verb);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * entry.c - a target as a separate program, by -DFUZZ_ONE=NAME: for libFuzzer and for AFL++'s driver. With -DFUZZ_MAIN
 * it needs no fuzzer: it runs the files of the command line once, or standard input, or the inputs of afl-fuzz; --words
 * prints the target's dictionary, --most the length of its longest input. A failure ends the process by abort(), as
 * fuzzers require.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "judge/design.h"

#define ROW_(name) fuzz_##name
#define ROW(name)  ROW_(name)

extern const fuzz_target ROW(FUZZ_ONE);

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    if (add_own_designs()) abort();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const fuzz_target *t = &ROW(FUZZ_ONE);
    uint64_t steps = 0;
    const char *why = t->run(bytes, n < t->most ? n : t->most, &steps);
    if (!why) return 0;
    char text[8192];
    t->tell(bytes, n < t->most ? n : t->most, text, sizeof text);
    fprintf(stderr, "%s: %s\n%s\n", t->name, why, text);
    abort();
}

#ifdef FUZZ_MAIN

static int run_file(const char *path)
{
    static uint8_t bytes[1 << 20];
    FILE *f = path ? fopen(path, "rb") : stdin;
    if (!f) return perror(path), 1;
    size_t n = fread(bytes, 1, sizeof bytes, f);
    if (path) fclose(f);
    return LLVMFuzzerTestOneInput(bytes, n);
}

/* Standard input. Under afl-fuzz: what it puts into shared memory, 10,000 inputs a process. */
#ifdef __AFL_FUZZ_TESTCASE_LEN
#include <unistd.h> /* read() in AFL++'s macro */
__AFL_FUZZ_INIT();

static int run_fed(void)
{
    __AFL_INIT();
    const uint8_t *shared = __AFL_FUZZ_TESTCASE_BUF; /* which is known only now */
    while (__AFL_LOOP(10000)) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion" /* AFL++'s macro keeps what read() gives in 32 bits */
#pragma GCC diagnostic ignored "-Wsign-conversion"
        size_t n = __AFL_FUZZ_TESTCASE_LEN;
#pragma GCC diagnostic pop
        LLVMFuzzerTestOneInput(shared, n);
    }
    return 0;
}
#else
static int run_fed(void) { return run_file(NULL); }
#endif

/* What mutations may put in, as a dictionary for libFuzzer and AFL++. */
static int print_words(const char *const *word)
{
    for (; word && *word; word++) {
        putchar('"');
        for (const char *c = *word; *c; c++) printf("\\x%02X", (unsigned char)*c);
        puts("\"");
    }
    return 0;
}

int main(int argc, char **argv)
{
    int failed = LLVMFuzzerInitialize(&argc, &argv);
    if (argc == 2 && strcmp(argv[1], "--words") == 0) return print_words((&ROW(FUZZ_ONE))->word);
    if (argc == 2 && strcmp(argv[1], "--most") == 0) return printf("%zu\n", (&ROW(FUZZ_ONE))->most) < 0;
    if (argc < 2) failed = run_fed();
    for (int i = 1; i < argc; i++) failed |= run_file(argv[i]);
    return failed;
}

#endif

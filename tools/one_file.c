/* SPDX-License-Identifier: Apache-2.0
 *
 * one_file.c - see one_file.h.
 */
#include "tools/one_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/seam.h"
#include "config.h"
#include "tools/annotation.h"
#include "tools/compiler.h"
#include "tools/save.h"
#include "tools/tool.h"

#ifndef HD_INCLUDEDIR
#define HD_INCLUDEDIR "/usr/local/include"
#endif

enum { SECONDS = 300 /* of a processor, for nvcc */, TEXT_MOST = 64 << 20, NAME = 64 };

/* A command that is put together. */
typedef struct command {
    char *word[COMPILER_WORDS + 1];
    int n;
} command;

static void add(command *c, const char *word)
{
    if (c->n < COMPILER_WORDS) c->word[c->n++] = (char *)(uintptr_t)word;
    c->word[c->n] = NULL;
}

static void add_all(command *c, const char *const *words)
{
    while (*words) add(c, *words++);
}

/* ---- Where things are ------------------------------------------------------------------------- */

/* The headers: beside the command in a build tree, in an installation and in a wheel. */
static bool headers_find(char folder[BESIDE_BYTES])
{
    static const char *const place[] = { "dialect", "../include/heddle/dialect", "../_dialect" };
    char file[BESIDE_BYTES], here[BESIDE_BYTES / 2];
    ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
    here[n > 0 ? n : 0] = 0;
    char *slash = strrchr(here, '/');
    if (slash) *slash = 0;
    for (size_t i = 0; i <= sizeof place / sizeof *place; i++) {
        if (i < sizeof place / sizeof *place)
            snprintf(folder, BESIDE_BYTES, "%s/%s", here, place[i]);
        else
            snprintf(folder, BESIDE_BYTES, "%s/heddle/dialect", HD_INCLUDEDIR);
        if (snprintf(file, sizeof file, "%.4000s/gpu/one_file.inc", folder) && access(file, R_OK) == 0) return true;
    }
    return false;
}

/* A folder of the user alone: an object in it is code that the command runs. */
static int cache_find(char folder[BESIDE_BYTES])
{
    struct stat st;
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool own = cache && *cache == '/'; /* a relative one is to be ignored, says its specification */
    if (!own && !(home && *home))
        return tool_say(TOOL_SYSTEM, "there is no folder for compiled files: set HOME or XDG_CACHE_HOME");
    snprintf(folder, BESIDE_BYTES, "%.4000s%s/heddle/", own ? cache : home, own ? "" : "/.cache");
    if (!save_folders(folder, 1)) return tool_say(TOOL_SYSTEM, "the cache '%s': %s", folder, strerror(errno));
    folder[strlen(folder) - 1] = 0;
    if (stat(folder, &st) == 0 && st.st_uid != geteuid())
        return tool_say(TOOL_SYSTEM, "the cache '%s' is another user's; set XDG_CACHE_HOME", folder);
    if (chmod(folder, 0700)) return tool_say(TOOL_SYSTEM, "the cache '%s': %s", folder, strerror(errno));
    return TOOL_OK;
}

static bool object_is_ours(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
}

/* ---- Files ------------------------------------------------------------------------------------ */

char *one_file_text(const char *path, size_t *n)
{
    struct stat st;
    FILE *f = fopen(path, "r");
    char *text =
        f && fstat(fileno(f), &st) == 0 && st.st_size < TEXT_MOST ? (char *)malloc((size_t)st.st_size + 1) : NULL;
    if (text) {
        *n = fread(text, 1, (size_t)st.st_size, f);
        text[*n] = 0;
    }
    if (f) fclose(f);
    return text;
}

/* One more hit of the object's, and how many that makes: the bytes of a file beside it. */
static uint64_t hits_add(const char *object)
{
    char path[BESIDE_BYTES + 8];
    struct stat st = { .st_size = 1 };
    snprintf(path, sizeof path, "%.*s.hits", (int)strlen(object) - 3, object);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return 1;
    if (write(fd, "+", 1) == 1) fstat(fd, &st);
    close(fd);
    return (uint64_t)st.st_size;
}

/* ---- The compiler ----------------------------------------------------------------------------- */

/* What one compilation goes by. */
typedef struct making {
    one_file *f;
    char headers[BESIDE_BYTES], cache[BESIDE_BYTES];
    char unit[BESIDE_BYTES + 32], include[2][BESIDE_BYTES + 16], file[BESIDE_BYTES + 16], map[2][BESIDE_BYTES + 32];
    char made[BESIDE_BYTES + 64], messages[BESIDE_BYTES + 64];
    char *compiler, arch[NAME]; /* compiler: overwritten by its words */
    command words;              /* the compiler's                     */
} making;

static const char *variable_of(const making *m) { return m->f->cuda ? "NVCC" : "CC"; }

/* configure's nvcc, the one in PATH, or the one where NVIDIA's packages put it. */
static const char *usual_nvcc(void)
{
    static const char *const place[] = { HD_NVCC, "/usr/local/cuda/bin/nvcc" };
    for (size_t i = 0; i < sizeof place / sizeof *place; i++)
        if (*place[i] == '/' && access(place[i], X_OK) == 0) return place[i];
    return "nvcc";
}

static void add_flags(command *c, const making *m)
{
    static const char *const c_flags[] = { "-x",
                                           "c",
                                           "-std=gnu11",
                                           "-O1",
                                           "-g1",
                                           "-fPIC",
                                           "-fvisibility=hidden",
                                           "-ffp-contract=off",
                                           "-Wall",
                                           "-Wextra",
                                           "-Werror=implicit-function-declaration",
                                           "-D_GNU_SOURCE",
                                           NULL };
    static const char *const cuda_flags[] = {
        "-x", "cu", "-std=c++17", "-O3", "-lineinfo", "-Xcompiler", "-fPIC,-fvisibility=hidden,-Wall", "-D_GNU_SOURCE",
        NULL
    };
    add_all(c, m->f->cuda ? cuda_flags : c_flags);
    if (m->f->cuda) add(c, m->arch);
    if (!m->f->cuda) add(c, m->map[0]);
    if (!m->f->cuda) add(c, m->map[1]);
    add(c, m->include[0]);
    add(c, m->include[1]);
    add(c, m->file);
}

/* Runs the compiler with some words before `-o made`. */
static int compile(making *m, const char *const *words, const char *made)
{
    command c = m->words;
    add_flags(&c, m);
    add_all(&c, words);
    add(&c, "-o");
    add(&c, made);
    add(&c, m->unit);
    if (c.n == COMPILER_WORDS) return tool_say(TOOL_USAGE, "%s has too many words", variable_of(m));
    return compiler_run(c.word, m->messages, SECONDS);
}

/* What the compiler said, with the file's name as the user has it. Whether it says that something is there twice. */
static bool messages_show(const making *m)
{
    size_t n, whole = strlen(m->f->path);
    bool twice = false;
    char *text = one_file_text(m->messages, &n);
    for (char *line = text; line && *line;) {
        char *end = strchrnul(line, '\n'), *path, *from = line;
        bool more = *end;
        *end = 0;
        annotation_of_compiler(line, m->f->path, m->f->given);
        twice = twice || strstr(line, "redefinition of") || strstr(line, "has already been defined");
        for (; (path = strstr(from, m->f->path)) != NULL; from = path + whole)
            fprintf(stderr, "%.*s%s", (int)(path - from), from, m->f->given);
        fprintf(stderr, "%s\n", from);
        line = end + more;
    }
    free(text);
    return twice;
}

/* The object's place in the cache: its name has the key. */
static int object_name(making *m)
{
    static const char *const only_preprocess[] = { "-E", NULL };
    size_t n = 0;
    snprintf(m->made, sizeof m->made, "%s/.%d.i", m->cache, (int)getpid());
    int code = compile(m, only_preprocess, m->made);
    char *text = code == 0 ? one_file_text(m->made, &n) : NULL;
    unlink(m->made);
    if (code == 0 && !text) return tool_say(TOOL_SYSTEM, "'%s' cannot be read", m->made);
    if (code) return code;
    XXH64_state_t *x = XXH64_createState();
    if (!x) return free(text), tool_say(TOOL_SYSTEM, "memory was refused");
    XXH64_reset(x, 0);
    XXH64_update(x, text, n);
    command flags = m->words;
    add_flags(&flags, m);
    for (int i = 0; i < flags.n; i++) XXH64_update(x, flags.word[i], strlen(flags.word[i]) + 1);
    const char *slash = strrchr(m->f->path, '/');
    snprintf(m->f->object, sizeof m->f->object, "%.3900s/%.64s-%016" PRIx64 ".so", m->cache, slash + 1,
             XXH64_digest(x));
    XXH64_freeState(x);
    free(text);
    return 0;
}

/* Compiles what is not in the cache. */
static int object_make(making *m)
{
    static const char *const shared[] = { "-shared", NULL };
    if (object_is_ours(m->f->object)) {
        m->f->hits = hits_add(m->f->object);
        return 0;
    }
    snprintf(m->made, sizeof m->made, "%s/.%d.so", m->cache, (int)getpid());
    int code = compile(m, shared, m->made);
    if (code == 0) messages_show(m); /* warnings */
    if (code == 0 && rename(m->made, m->f->object))
        code = tool_say(TOOL_SYSTEM, "'%s': %s", m->f->object, strerror(errno));
    unlink(m->made);
    return code;
}

static int begin(making *m)
{
    if (tool_file("--with", m->f->given)) return TOOL_USAGE;
    char *path = realpath(m->f->given, NULL);
    if (!path || strlen(path) >= sizeof m->f->path)
        return free(path), tool_say(TOOL_USAGE, "'%s': %s", m->f->given, strerror(errno));
    strcpy(m->f->path, path);
    free(path);
    if (strpbrk(m->f->path, "\"\\\n"))
        return tool_say(TOOL_USAGE, "'%s': its path has a quote or a backslash", m->f->given);
    if (!headers_find(m->headers))
        return tool_say(TOOL_SYSTEM, "the headers are missing: `make install` puts them into %s/heddle/dialect",
                        HD_INCLUDEDIR);
    int code = cache_find(m->cache);
    if (code) return code;
    const char *arch = getenv("HEDDLE_CUDA_ARCH");
    snprintf(m->arch, sizeof m->arch, "-arch=%.40s", arch && *arch ? arch : "sm_90");
    snprintf(m->unit, sizeof m->unit, "%s/gpu/one_file.inc", m->headers);
    snprintf(m->include[0], sizeof m->include[0], "-I%s", m->headers);
    snprintf(m->include[1], sizeof m->include[1], "-I%s/include", m->headers);
    /* the sites of the kernel text are named as in the tree, and those of the file by its name alone */
    snprintf(m->map[0], sizeof m->map[0], "-fmacro-prefix-map=%s/=", m->headers);
    snprintf(m->map[1], sizeof m->map[1], "-fmacro-prefix-map=%.*s=", (int)(strrchr(m->f->path, '/') + 1 - m->f->path),
             m->f->path);
    snprintf(m->file, sizeof m->file, "-DHD_FILE=\"%s\"", m->f->path);
    snprintf(m->messages, sizeof m->messages, "%s/.%d.messages", m->cache, (int)getpid());
    m->compiler = m->f->cuda ? compiler_named("NVCC", usual_nvcc()) : compiler_named("CC", "cc");
    m->words.n = m->compiler ? compiler_words(m->compiler, m->words.word) : 0;
    return m->words.n ? TOOL_OK : tool_say(TOOL_SYSTEM, "memory was refused");
}

int one_file_compile(const char *given, bool cuda, one_file *f)
{
    const hd_time_seam *time = &hd_seams_os.time;
    uint64_t from = time->now_ns(time->self);
    making *m = (making *)calloc(1, sizeof *m);
    if (!m) return tool_say(TOOL_SYSTEM, "memory was refused");
    memset(f, 0, sizeof *f);
    f->given = given;
    f->cuda = cuda;
    m->f = f;
    int code = begin(m);
    if (code == TOOL_OK) {
        int said = object_name(m);
        if (said == 0) said = object_make(m);
        code = compiler_said(said, m->words.word[0], variable_of(m));
        if (code == TOOL_OK && said) {
            code = tool_say(TOOL_DATA, "%s: %s does not accept it%s", given, m->words.word[0],
                            messages_show(m) ? ": a name in it is one of the tree's: choose another one" : "");
        }
        unlink(m->messages);
    }
    f->seconds = (double)(time->now_ns(time->self) - from) * 1e-9;
    free(m->compiler);
    free(m);
    return code;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_new.c - writes a file to begin with: a kernel, a policy or a predicate, named after the file. The texts are in
 * examples/new/.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/tool.h"

static const struct text {
    const char *path, *text, *hash; /* the hash is not used */
} texts[] = {
#include "tools/new_texts.inc"
};

static const char *const kinds[] = { "kernel", "policy", "predicate", NULL };

static const char *text_for(const char *kind)
{
    size_t n = strlen(kind);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strncmp(texts[i].path, kind, n) == 0 && strcmp(texts[i].path + n, ".h") == 0) return texts[i].text;
    return NULL;
}

/* The name of the row: that of the file up to its first dot. False: no row can have it. */
static bool name_of(const char *path, char name[64])
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t n = strcspn(base, ".");
    snprintf(name, 64, "%.*s", (int)n, base);
    return n > 0 && n < 40 && islower((unsigned char)*name) &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

/* The text without its first line, which is the licence of the text; NAME and FILE are replaced. */
static void write_text(FILE *f, const char *text, const char *name, const char *path)
{
    for (const char *at = strchr(text, '\n') + 1; *at;) {
        bool is_name = strncmp(at, "NAME", 4) == 0, is_file = strncmp(at, "FILE", 4) == 0;
        if (is_name || is_file)
            fputs(is_name ? name : path, f);
        else
            putc(*at, f);
        at += is_name || is_file ? 4 : 1;
    }
}

static int run(tool_line *line, int argc, char **argv)
{
    char name[64];
    int code = tool_parse(line, argc, argv, NULL);
    if (code >= 0) return code;
    const char *kind = line->word[0], *path = line->word[1], *text = text_for(kind);
    if (!text) return tool_say(TOOL_USAGE, "there is no '%.60s'%s", kind, tool_nearest(kind, kinds));
    if (!name_of(path, name))
        return tool_say(TOOL_USAGE,
                        "'%s': the row is named after the file: small letters, digits and _, from a letter on", path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f) return tool_say(errno == EEXIST ? TOOL_USAGE : TOOL_SYSTEM, "'%s': %s", path, strerror(errno));
    write_text(f, text, name, path);
    bool well = !ferror(f);
    if (fclose(f) || !well) return unlink(path), tool_say(TOOL_SYSTEM, "'%s': %s", path, strerror(errno));
    if (line->form == TOOL_TEXT) printf("%s: %s %s; its first lines say what to do with it\n", path, kind, name);
    return TOOL_OK;
}

static const char doc[] =
    "Writes FILE, a header with one working kernel of design hkv, policy or predicate, which is named after the file, "
    "and comments that say what to change. An existing file is left alone.\n\n"
    "`heddle --with FILE VERB ...` compiles it with the C compiler of this machine (CC, else cc) and adds it to what "
    "the verb knows. The compiled file is kept in a cache ($XDG_CACHE_HOME/heddle, else ~/.cache/heddle). If the "
    "words of the verb name the backend cuda, nvcc compiles the file, too (NVCC; HEDDLE_CUDA_ARCH, else sm_90). "
    "--with may be given several times.\n\n"
    "EXAMPLES\n"
    "  heddle new kernel mine.h\n"
    "  heddle new predicate odd.h\n"
    "  heddle new policy twice.h\n";

const tool_verb verb_new = { "new", "KIND FILE", "write a kernel, policy or predicate to begin with", doc, 2, 2, NULL,
                             NULL,  run };

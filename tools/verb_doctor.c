/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_doctor.c - what this machine can run: one row per thing that Heddle uses, whether it is here,
 * and what for.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "tools/output.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef HD_CXX
#define HD_CXX ""
#endif
#ifndef HD_NVCC
#define HD_NVCC ""
#endif

enum { SAY_BYTES = 256 };

/* Each finds one thing: writes what it found, returns whether that will do. */
typedef bool finder(char say[SAY_BYTES]);

/* The rest of the first line of `path` that begins with `begin`, after its colon; false: none. */
static bool line_of(const char *path, const char *begin, char say[SAY_BYTES])
{
    char text[512];
    bool found = false;
    FILE *f = fopen(path, "r");
    while (f && !found && fgets(text, sizeof text, f)) {
        if (strncmp(text, begin, strlen(begin)) != 0) continue;
        const char *from = strchr(text, ':');
        from = *begin && from ? from + 1 : text;
        from += strspn(from, " \t");
        snprintf(say, SAY_BYTES, "%.*s", (int)strcspn(from, "\n"), from);
        found = true;
    }
    if (f) fclose(f);
    return found;
}

static bool find_processor(char say[SAY_BYTES])
{
    char name[SAY_BYTES];
    bool known = line_of("/proc/cpuinfo", "model name", name) || line_of("/proc/cpuinfo", "CPU part", name);
    snprintf(say, SAY_BYTES, "%.180s, %ld of %ld cores", known ? name : "unknown", sysconf(_SC_NPROCESSORS_ONLN),
             sysconf(_SC_NPROCESSORS_CONF));
    return true;
}

static bool find_threads(char say[SAY_BYTES])
{
#ifdef _OPENMP
    snprintf(say, SAY_BYTES, "OpenMP %d, %d threads", _OPENMP, omp_get_max_threads());
    return true;
#else
    snprintf(say, SAY_BYTES, "built without OpenMP: one thread");
    return false;
#endif
}

static bool find_memory(char say[SAY_BYTES])
{
    char text[SAY_BYTES], all[OUT_CELL], left[OUT_CELL];
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), pages = (uint64_t)sysconf(_SC_PHYS_PAGES);
    out_format(all, OUT_BYTES, out_count(page * pages));
    bool known = line_of("/proc/meminfo", "MemAvailable", text);
    snprintf(say, SAY_BYTES, "%s, %s of it free", all,
             known ? out_format(left, OUT_BYTES, out_count(strtoull(text, NULL, 10) * 1024)) : "an unknown part");
    return true;
}

static bool find_huge_pages(char say[SAY_BYTES])
{
    char text[SAY_BYTES];
    bool known = line_of("/sys/kernel/mm/transparent_hugepage/enabled", "", text);
    const char *chosen = known ? strchr(text, '[') : NULL;
    snprintf(say, SAY_BYTES, "transparent: %.*s", chosen ? (int)strcspn(chosen + 1, "]") : 7,
             chosen ? chosen + 1 : "unknown");
    return chosen && strncmp(chosen, "[never]", 7) != 0;
}

static bool find_compiler(char say[SAY_BYTES])
{
#if defined(__clang__)
    snprintf(say, SAY_BYTES, "%s", __VERSION__);
#else
    snprintf(say, SAY_BYTES, "GCC %s", __VERSION__);
#endif
    return true;
}

static bool find_zstd(char say[SAY_BYTES]) { return snprintf(say, SAY_BYTES, "%s", ZSTD_versionString()) > 0; }
static bool find_zlib(char say[SAY_BYTES]) { return snprintf(say, SAY_BYTES, "%s", zlibVersion()) > 0; }
static bool find_jansson(char say[SAY_BYTES]) { return snprintf(say, SAY_BYTES, "%s", JANSSON_VERSION) > 0; }

static bool find_xxhash(char say[SAY_BYTES])
{
    unsigned v = XXH_versionNumber();
    return snprintf(say, SAY_BYTES, "%u.%u.%u", v / 10000, v / 100 % 100, v % 100) > 0;
}

static bool find_cxx(char say[SAY_BYTES])
{
    snprintf(say, SAY_BYTES, "%s", *HD_CXX ? HD_CXX : "configure found no compiler of C++17");
    return *HD_CXX != 0;
}

static bool find_nvcc(char say[SAY_BYTES])
{
    snprintf(say, SAY_BYTES, "%s", *HD_NVCC ? HD_NVCC : "configure found no nvcc");
    return *HD_NVCC != 0;
}

static bool find_device(char say[SAY_BYTES])
{
    if (line_of("/proc/driver/nvidia/version", "NVRM version", say)) return access("/dev/nvidia0", F_OK) == 0;
    snprintf(say, SAY_BYTES, "no NVIDIA driver is loaded");
    return false;
}

static bool find_cuda_backend(char say[SAY_BYTES])
{
    hd_config c = hd_config_default();
    hd_table *t = NULL;
    c.backend = "cuda";
    c.capacity = c.slots;
    bool opened = hd_open(&c, &t) == HD_OK;
    snprintf(say, SAY_BYTES, "%s", opened ? "a table was opened" : hd_why());
    hd_close(t);
    return opened;
}

/* A table that works: more upserts than it has room for, then every invariant. */
static bool find_reference(char say[SAY_BYTES])
{
    enum { N = 4096, TIMES = 16 };
    static uint64_t key[N];
    hd_config c = hd_config_default();
    c.capacity = N;
    c.value_bytes = 0;
    hd_table *t = NULL;
    hd_status s = hd_open(&c, &t);
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = N, .key = key };
    for (uint64_t i = 0; !s && i < TIMES; i++) {
        for (uint64_t k = 0; k < N; k++) key[k] = i * N + k;
        s = hd_run(t, &b);
    }
    uint64_t size = 0;
    if (!s) s = hd_check(t);
    if (!s) s = hd_size_sync(t, &size);
    hd_close(t);
    if (s)
        snprintf(say, SAY_BYTES, "%s", hd_why());
    else
        snprintf(say, SAY_BYTES, "%d upserts into %d places, %d kept, invariants hold", N * TIMES, N, (int)size);
    return s == HD_OK;
}

static const struct thing {
    const char *name;
    finder *find;
    const char *purpose;
    bool needed; /* its absence is a failure, not a limit */
} things[] = {
    { "reference table", find_reference, "everything: what a table promises, made executable", true },
    { "processor", find_processor, "the reference backend", true },
    { "threads", find_threads, "readers and large batches in parallel", false },
    { "memory", find_memory, "18 bytes per entry plus its value", true },
    { "huge pages", find_huge_pages, "large tables: fewer address translations", false },
    { "compiler", find_compiler, "it built this command", true },
    { "zstd", find_zstd, "compressed traces", true },
    { "zlib", find_zlib, "gzip-compressed reads and traces", true },
    { "jansson", find_jansson, "--json, popularity histograms", true },
    { "xxHash", find_xxhash, "checksums of snapshots", true },
    { "C++ compiler", find_cxx, "heddle.hpp, the examples in C++", false },
    { "CUDA compiler", find_nvcc, "building the GPU backend", false },
    { "CUDA device", find_device, "running the GPU backend", false },
    { "CUDA backend", find_cuda_backend, "tables on a GPU", false },
};

static const out_column column[] = {
    { "name", "what", OUT_TEXT },        { "ok", NULL, OUT_FLAG },
    { "state", "", OUT_TEXT },           { "found", "found", OUT_TEXT },
    { "purpose", "what for", OUT_TEXT },
};

static int run(tool_line *line, int argc, char **argv)
{
    int code = tool_parse(line, argc, argv, NULL);
    if (code >= 0) return code;

    code = TOOL_OK;
    out *o = out_open(line->form, "heddle.doctor/1", column, 5);
    out_fact(o, "version", "heddle", OUT_TEXT, out_text(hd_version()));
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
        char say[SAY_BYTES] = "";
        bool ok = things[i].find(say);
        if (!ok && things[i].needed) code = TOOL_DIFFERS;
        const char *state = ok ? "ok" : things[i].needed ? "BROKEN" : "missing";
        out_row(o, (const out_value[]){ out_text(things[i].name), out_flag(ok), out_text(state), out_text(say),
                                        out_text(things[i].purpose) });
    }
    out_note(o, "\n%s\n",
             code ? "The reference table does not work here: please report what is printed above."
                  : "Everything needed is here; what is missing only limits what stands beside it.");
    return out_close(o, code);
}

static const char doc[] =
    "Looks at this machine and at this build, and says of each thing that Heddle can use whether it "
    "is here and what it is for. A small table is run and checked. Exit code 1 when something that "
    "is needed does not work.\n"
    "\n"
    "EXAMPLES\n"
    "  heddle doctor\n"
    "  heddle doctor --json\n";

const tool_verb verb_doctor = { "doctor", "", "what this machine can run", doc, 0, 0, .run = run };

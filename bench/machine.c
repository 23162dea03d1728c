/* SPDX-License-Identifier: Apache-2.0
 *
 * machine.c - queries the system.
 */
#include "bench/machine.h"

#include <ctype.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* The build says what it compiled with. */
#ifndef HD_BUILD_FLAGS
#define HD_BUILD_FLAGS "not known"
#endif

/* The first line "KEY...: VALUE" of /proc/cpuinfo. */
static bool cpuinfo(const char *key, char *text, size_t bytes)
{
    FILE *f = fopen("/proc/cpuinfo", "re");
    char line[512];
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) != 0 || !colon) continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(text, bytes, "%.*s", (int)strcspn(colon, "\n"), colon);
        found = *text != 0;
    }
    if (f) fclose(f);
    return found;
}

static void slug_of(const char *text, char *slug, size_t bytes)
{
    size_t n = 0;
    for (; *text && n + 1 < bytes; text++) {
        if (isalnum((unsigned char)*text))
            slug[n++] = (char)tolower((unsigned char)*text);
        else if (n && slug[n - 1] != '-')
            slug[n++] = '-';
    }
    while (n && slug[n - 1] == '-') n--;
    slug[n] = 0;
}

void machine_look(machine *m)
{
    memset(m, 0, sizeof *m);
    struct utsname u;
    if (!cpuinfo("model name", m->cpu, sizeof m->cpu) && !cpuinfo("Model", m->cpu, sizeof m->cpu))
        snprintf(m->cpu, sizeof m->cpu, "%s", uname(&u) == 0 ? u.machine : "unknown");
    slug_of(m->cpu, m->slug, sizeof m->slug);
#if defined(__clang__)
    snprintf(m->compiler, sizeof m->compiler, "clang %d.%d.%d", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
    snprintf(m->compiler, sizeof m->compiler, "gcc %d.%d.%d", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
    snprintf(m->compiler, sizeof m->compiler, "unknown");
#endif
    m->flags = HD_BUILD_FLAGS;
    cpu_set_t set;
    m->cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (getloadavg(&m->load, 1) != 1) m->load = -1;
}

int64_t machine_resident_bytes(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    long long all, resident = 0;
    if (f && fscanf(f, "%lld %lld", &all, &resident) != 2) resident = 0;
    if (f) fclose(f);
    return (int64_t)resident * sysconf(_SC_PAGESIZE);
}

void machine_return_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 128 << 10); /* the default, but no longer raised by what is freed */
#endif
}

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double machine_wall_s(void) { return seconds_of(CLOCK_MONOTONIC); }
double machine_cpu_s(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

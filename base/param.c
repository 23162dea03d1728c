/* SPDX-License-Identifier: Apache-2.0
 *
 * param.c - the fields that every table has, and what can be done with any row (param.h).
 */
#include "base/param.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/design.h"
#include "base/error.h"
#include "base/parse.h"

static const char *const layouts[] = {
    "usual", "planes", "pairs", "words", "masks", "sorted", "inline", "cells", NULL
};
static const char *const clocks[] = { "logical", "device", NULL };
static const char *const durables[] = { "none", "process", "line", "disk", NULL };
static const char *const commits[] = { "batch", "call", NULL };

#define AT(field) HD_PARAM_AT(hd_config, field)

/* clang-format off */
static const hd_param common[] = {
    { "design",      HD_PARAM_NAME, AT(design),      .text = "hkv",     .what = "the hash table", .in_files = true },
    { "backend",     HD_PARAM_NAME, AT(backend),     .text = "ref",
      .what = "where the table is, and what runs its batches" },
    { "policy",      HD_PARAM_NAME, AT(policy),      .text = "lru",
      .what = "how entries are scored", .in_files = true },
    { "lock",        HD_PARAM_NAME, AT(lock),        .text = "ordered",
      .what = "which batches may run at the same time" },
    { "capacity",    HD_PARAM_U64,  AT(capacity),    .least = 1, .most = UINT64_MAX, .usual = 1 << 20,
      .what = "entries, rounded up to whole buckets", .in_files = true },
    { "slots",       HD_PARAM_U32,  AT(slots),       .most = UINT32_MAX, .usual = 128,
      .what = "slots of a bucket", .in_files = true },
    { "value_bytes", HD_PARAM_U32,  AT(value_bytes), .most = UINT32_MAX, .usual = 8,
      .what = "bytes of a value", .in_files = true },
    { "layout",      HD_PARAM_ENUM, AT(layout),      .values = layouts,
      .what = "how keys and scores are laid out in memory" },
    { "clock",       HD_PARAM_ENUM, AT(clock),       .values = clocks,
      .what = "ticks of the table, or nanoseconds", .in_files = true },
    { "seed",        HD_PARAM_U64,  AT(seed),        .most = UINT64_MAX, .what = "of the hash", .in_files = true },
    { "epoch",       HD_PARAM_U32,  AT(epoch),       .most = UINT32_MAX, .what = "the first epoch", .in_files = true },
    { "threads",     HD_PARAM_U32,  AT(threads),     .most = HD_THREADS_MOST,
      .what = "of backend ref; 0: OpenMP's default" },
    { "file",        HD_PARAM_NAME, AT(file),
      .what = "the file that the table lives in; none: it is in memory alone" },
    { "durable",     HD_PARAM_ENUM, AT(durable),     .values = durables, .usual = HD_DURABLE_DISK,
      .what = "which failures a table with a file survives" },
    { "commit",      HD_PARAM_ENUM, AT(commit),      .values = commits,
      .what = "when batches of a table with a file become durable: each by itself, or with hd_persist" },
};
/* clang-format on */

const hd_params hd_params_common = { NULL, common, sizeof common / sizeof *common, 0, 0, sizeof(hd_config) };

/* ---- One field ------------------------------------------------------------------------------- */

static bool is_words(const hd_param *p) { return p->type == HD_PARAM_TEXT || p->type == HD_PARAM_NAME; }

static const char *words(const hd_param *p, const void *in)
{
    const char *at = (const char *)in + p->at;
    return p->type == HD_PARAM_TEXT ? at : *(const char *const *)(const void *)at;
}

uint64_t hd_param_number(const hd_param *p, const void *in)
{
    const void *at = (const char *)in + p->at;
    HD_ASSERT(!is_words(p), "a text is no number");
    switch (p->type) {
    case HD_PARAM_BOOL: return *(const bool *)at;
    case HD_PARAM_U32: return *(const uint32_t *)at;
    case HD_PARAM_ENUM: return (unsigned)*(const int *)at;
    default: return *(const uint64_t *)at;
    }
}

void hd_param_number_set(const hd_param *p, void *in, uint64_t v)
{
    void *at = (char *)in + p->at;
    HD_ASSERT(!is_words(p), "a text is no number");
    HD_ASSERT(p->type != HD_PARAM_U32 || v <= UINT32_MAX, "a number does not fit into its field");
    HD_ASSERT(p->type != HD_PARAM_BOOL || v <= 1, "a number does not fit into its field");
    switch (p->type) {
    case HD_PARAM_BOOL: *(bool *)at = v != 0; break;
    case HD_PARAM_U32: *(uint32_t *)at = (uint32_t)v; break;
    case HD_PARAM_ENUM: *(int *)at = (int)v; break;
    default: *(uint64_t *)at = v; break;
    }
}

static uint64_t values_of(const hd_param *p)
{
    uint64_t n = 0;
    while (p->values[n]) n++;
    return n;
}

static hd_status set_value(const hd_param *p, void *in, const char *text)
{
    char nearest[HD_NEAREST_TEXT];
    hd_nearest near = { text, NULL, 0 };
    for (int i = 0; p->values[i]; i++) {
        if (strcmp(text, p->values[i]) == 0) return hd_param_number_set(p, in, (uint64_t)i), HD_OK;
        hd_nearest_try(&near, p->values[i]);
    }
    return hd_fail(HD_EINVAL, "%s: there is no '%.60s'%s", p->name, text, hd_nearest_text(&near, "", nearest));
}

static hd_status set_text(const hd_param *p, void *in, const char *text)
{
    size_t n = strlen(text);
    if (n == 0) return hd_fail(HD_EINVAL, "%s: it is empty", p->name);
    if (n >= p->bytes)
        return hd_fail(HD_EINVAL, "%s: '%.40s...' is longer than %zu characters", p->name, text, p->bytes - 1);
    memset((char *)in + p->at, 0, p->bytes);
    memcpy((char *)in + p->at, text, n);
    return HD_OK;
}

hd_status hd_param_set(const hd_param *p, void *in, const char *text)
{
    uint64_t v;
    if (p->type == HD_PARAM_ENUM) return set_value(p, in, text);
    if (p->type == HD_PARAM_TEXT) return set_text(p, in, text);
    if (p->type == HD_PARAM_NAME) return *(const char **)(void *)((char *)in + p->at) = text, HD_OK;
    hd_status status = hd_parse_u64(p->name, text, p->least, p->type == HD_PARAM_BOOL ? 1 : p->most, &v);
    if (!status) hd_param_number_set(p, in, v);
    return status;
}

static hd_status check_words(const hd_param *p, const void *in)
{
    if (p->type == HD_PARAM_NAME) return words(p, in) || !p->text ? HD_OK : hd_fail(HD_EINVAL, "%s: NULL", p->name);
    if (memchr(words(p, in), 0, p->bytes)) return HD_OK;
    return hd_fail(HD_EINVAL, "%s: '%.*s...' is longer than %zu characters", p->name,
                   (int)(p->bytes < 40 ? p->bytes : 40), words(p, in), p->bytes - 1);
}

hd_status hd_param_check(const hd_param *p, const void *in)
{
    if (is_words(p)) return check_words(p, in);
    uint64_t v = hd_param_number(p, in);
    if (p->type == HD_PARAM_BOOL) return HD_OK;
    if (p->type == HD_PARAM_ENUM)
        return v < values_of(p) ? HD_OK : hd_fail(HD_EINVAL, "%s: %d is none of its values", p->name, (int)v);
    return v >= p->least && v <= p->most ? HD_OK
                                         : hd_fail(HD_EINVAL, "%s: %" PRIu64 " is outside %" PRIu64 " to %" PRIu64,
                                                   p->name, v, p->least, p->most);
}

static const char *enum_name(const hd_param *p, const void *in)
{
    uint64_t v = hd_param_number(p, in);
    HD_ASSERT(v < values_of(p), "a field was printed before it was checked");
    return p->values[v];
}

size_t hd_param_print(const hd_param *p, const void *in, char *text, size_t bytes)
{
    int n;
    if (is_words(p))
        n = snprintf(text, bytes, "%s", words(p, in) ? words(p, in) : "");
    else if (p->type == HD_PARAM_ENUM)
        n = snprintf(text, bytes, "%s", enum_name(p, in));
    else
        n = snprintf(text, bytes, "%" PRIu64, hd_param_number(p, in));
    return (size_t)n;
}

void hd_param_reset(const hd_param *p, void *in)
{
    if (p->type == HD_PARAM_NAME)
        *(const char **)(void *)((char *)in + p->at) = p->text;
    else if (p->type == HD_PARAM_TEXT)
        set_text(p, in, p->text);
    else
        hd_param_number_set(p, in, p->usual);
}

bool hd_param_same(const hd_param *p, const void *a, const void *b)
{
    if (!is_words(p)) return hd_param_number(p, a) == hd_param_number(p, b);
    if (!words(p, a) || !words(p, b)) return words(p, a) == words(p, b);
    return strncmp(words(p, a), words(p, b), p->type == HD_PARAM_TEXT ? p->bytes : SIZE_MAX) == 0;
}

bool hd_param_in_files(const hd_param *p) { return p->in_files || p->saved != HD_SAVED_NOT; }

bool hd_param_unused(const hd_param *p, const void *in)
{
    if (is_words(p)) return words(p, in)[0] == 0 || strncmp(words(p, in), p->text, p->bytes) == 0;
    uint64_t v = hd_param_number(p, in);
    return v == 0 || v == p->usual;
}

void hd_params_to_info(const hd_params *own, const hd_config *c, hd_info *info)
{
    HD_ASSERT(!own || (own->config_at + own->bytes <= sizeof *c && own->info_at + own->bytes <= sizeof *info));
    if (own) memcpy(hd_params_in_info(own, info), hd_params_of(own, c), own->bytes);
}

void hd_params_of_info(const hd_params *own, const hd_info *info, hd_config *c)
{
    if (own) memcpy(hd_params_in(own, c), (const char *)info + own->info_at, own->bytes);
}

void hd_params_set_named(const hd_params *own, uint64_t n, hd_info *info)
{
    for (size_t i = 0; own && i < own->count; i++) {
        uint64_t values = 0;
        if (own->row[i].type != HD_PARAM_ENUM) continue;
        while (own->row[i].values[values]) values++;
        hd_param_number_set(&own->row[i], hd_params_in_info(own, info), n % values);
    }
}

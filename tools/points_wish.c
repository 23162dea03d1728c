/* SPDX-License-Identifier: Apache-2.0
 *
 * points_wish.c - the words after `heddle bench --backend NAME`: operations, and NAME=VALUE,VALUE,...
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/parse.h"
#include "tools/points.h"

static hd_status full(const char *name) { return hd_fail(HD_EINVAL, "%s: more than %d values", name, POINTS_LIST); }

static hd_status add_count(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *list, int *n)
{
    if (*n == POINTS_LIST) return full(name);
    return hd_parse_u64(name, text, least, most, &list[(*n)++]);
}

static hd_status add_share(const char *name, const char *text, double least, double most, double *list, int *n)
{
    if (*n == POINTS_LIST) return full(name);
    return hd_parse_double(name, text, least, most, &list[(*n)++]);
}

/* A function for each candidate bucket, with + between them: commas are between values. */
static hd_status add_hash(points_wish *w, char *text)
{
    if (w->hash_names == POINTS_LIST) return full("hash");
    for (char *plus = text; (plus = strchr(plus, '+')); plus++) *plus = ',';
    w->hash[w->hash_names++] = text;
    return HD_OK;
}

static hd_status add_spare(points_wish *w, const char *text)
{
    uint64_t kept;
    if (w->spare_numbers == POINTS_LIST) return full("spare");
    hd_status e = hd_parse_u64("spare", text, 0, 1024, &kept);
    if (!e) w->spares[w->spare_numbers++] = kept + 1;
    return e;
}

static hd_status add_variant(points_wish *w, const char *text)
{
    if (strcmp(text, "all") == 0) return w->all_variants = true, HD_OK;
    if (w->variants == POINTS_LIST) return full("variant");
    w->variant[w->variants++] = strcmp(text, "chosen") == 0 ? NULL : text;
    return HD_OK;
}

/* One of two names; *is_second: which. There is room for it after `n`. */
static hd_status choose(const char *name, const char *text, const char *first, const char *second, int n,
                        bool *is_second)
{
    *is_second = strcmp(text, second) == 0;
    if (!*is_second && strcmp(text, first) != 0)
        return hd_fail(HD_EINVAL, "%s: '%.40s' is neither %s nor %s", name, text, first, second);
    return n == POINTS_LIST ? full(name) : HD_OK;
}

const char *const points_layout_names[] = { "usual", "planes", "pairs", "words", "masks", NULL };

static hd_status add_layout(points_wish *w, const char *text)
{
    int y = HD_LAYOUT_PLANES;
    while (points_layout_names[y] && strcmp(text, points_layout_names[y]) != 0) y++;
    if (!points_layout_names[y])
        return hd_fail(HD_EINVAL, "layout: '%.40s' is none of planes, pairs, words, masks", text);
    if (w->layouts == POINTS_LIST) return full("layout");
    w->layout[w->layouts++] = (hd_layout)y;
    return HD_OK;
}

static hd_status add_tiers(points_wish *w, const char *text)
{
    bool position;
    hd_status e = choose("tiers", text, "bucket", "position", w->tierings, &position);
    if (!e) w->tiers[w->tierings++] = position ? HD_TIERS_POSITION : HD_TIERS_BUCKET;
    return e;
}

const char *const points_fetch_names[] = { "usual", "sorted", "direct", NULL };

static hd_status add_fetch(points_wish *w, const char *text)
{
    int f = 0;
    while (points_fetch_names[f] && strcmp(text, points_fetch_names[f]) != 0) f++;
    if (!points_fetch_names[f])
        return hd_fail(HD_EINVAL, "fetch: '%.40s' is neither usual nor sorted nor direct", text);
    if (w->fetches == POINTS_LIST) return full("fetch");
    w->fetch[w->fetches++] = (hd_fetch)f;
    return HD_OK;
}

static hd_status add_keys(points_wish *w, const char *text)
{
    if (strcmp(text, "uniform") == 0) return add_share("keys", "0", 0, 0, w->zipf, &w->zipfs);
    if (strncmp(text, "zipf:", 5) == 0) return add_share("keys=zipf", text + 5, 0.01, 2, w->zipf, &w->zipfs);
    return hd_fail(HD_EINVAL, "keys: '%.40s' is neither uniform nor zipf:S", text);
}

static hd_status take_mode(points_wish *w, const char *text)
{
    bool both = strcmp(text, "both") == 0;
    w->effort.watch = strcmp(text, "watch") == 0;
    w->effort.queue = both || strcmp(text, "queue") == 0;
    w->effort.wall = both || strcmp(text, "wall") == 0;
    if (w->effort.queue || w->effort.wall || w->effort.watch) return HD_OK;
    return hd_fail(HD_EINVAL, "mode: '%.40s' is none of queue, wall, both, watch", text);
}

/* One for the run: a table of points is of one design. */
static hd_status take_design(points_wish *w, const char *text)
{
    hd_row row;
    for (size_t i = 0; hd_list(HD_DESIGNS, i, &row); i++)
        if (strcmp(row.name, text) == 0) return w->design = row.name, HD_OK;
    return hd_fail_name("design", text, HD_DESIGNS);
}

typedef enum axis {
    DIM,
    LOAD,
    HITS,
    CAPACITY,
    BATCH,
    BULK,
    SLOTS,
    HASHES,
    SPARE,
    HASH,
    VARIANT,
    KEYS,
    LAYOUT,
    DUAL,
    NEAR,
    TIERS,
    FETCH,
    MODE,
    CALLS,
    DESIGN,
    AXES
} axis;
static const char *const axes[AXES + 1] = { "dim",    "load",  "hits",  "capacity", "batch", "bulk",   "slots",
                                            "hashes", "spare", "hash",  "variant",  "keys",  "layout", "dual",
                                            "near",   "tiers", "fetch", "mode",     "calls", "design", NULL };

static hd_status add(points_wish *w, axis which, char *value)
{
    const uint64_t most = 1ull << 40;
    switch (which) {
    case DIM: return add_count("dim", value, 1, HD_VALUE_BYTES_MAX / 4, w->dim, &w->dims);
    case LOAD: return add_share("load", value, 0.01, 1, w->load, &w->loads);
    case HITS: return add_share("hits", value, 0, 1, w->hits, &w->hit_shares);
    case CAPACITY: return add_count("capacity", value, 256, most, w->capacity, &w->capacities);
    case BATCH: return add_count("batch", value, 1, most, w->batch, &w->batches);
    case BULK: return add_count("bulk", value, 1, most, w->bulk, &w->bulks);
    case SLOTS: return add_count("slots", value, 2, 1024, w->slots, &w->slot_numbers);
    case HASHES: return add_count("hashes", value, 2, 3, w->hashes, &w->hash_numbers);
    case SPARE: return add_spare(w, value);
    case HASH: return add_hash(w, value);
    case VARIANT: return add_variant(w, value);
    case KEYS: return add_keys(w, value);
    case LAYOUT: return add_layout(w, value);
    case DUAL: return add_count("dual", value, 0, 1, w->dual, &w->duals);
    case NEAR: return add_share("near", value, 0, 1, w->near, &w->nears);
    case TIERS: return add_tiers(w, value);
    case FETCH: return add_fetch(w, value);
    case MODE: return take_mode(w, value);
    case DESIGN: return take_design(w, value);
    default: return hd_parse_u64("calls", value, 1, 1 << 20, &w->effort.calls);
    }
}

static int add_list(points_wish *w, const char *word, char *values)
{
    char *rest = NULL;
    int which = 0;
    size_t n = strcspn(word, "=");
    while (which < AXES && (strlen(axes[which]) != n || strncmp(axes[which], word, n) != 0)) which++;
    if (which == AXES) return tool_say(TOOL_USAGE, "there is no '%.40s'%s", word, tool_nearest(word, axes));
    if (*values == 0) return tool_say(TOOL_USAGE, "%.40s=: it is empty", axes[which]);
    for (char *value = strtok_r(values, ",", &rest); value; value = strtok_r(NULL, ",", &rest)) {
        hd_status e = add(w, (axis)which, value);
        if (e) return tool_fail(e);
    }
    return TOOL_OK;
}

static int add_op(points_wish *w, const char *word)
{
    const char *name[BENCH_OPS + 2] = { NULL };
    int names = 0;
    if (strcmp(word, "limits") == 0) return w->limits_only = true, TOOL_OK;
    for (int i = 0; i < BENCH_OPS; i++) {
        if (!bench_buffers_row_of((hd_op)i)) continue;
        name[names++] = bench_buffers_name((hd_op)i);
        if (strcmp(word, bench_buffers_name((hd_op)i)) != 0) continue;
        if (w->ops == POINTS_LIST) return tool_say(TOOL_USAGE, "more than %d operations", POINTS_LIST);
        return w->op[w->ops++] = (hd_op)i, TOOL_OK;
    }
    name[names] = "limits";
    return tool_say(TOOL_USAGE, "'%.60s' is not measured on a backend%s; other words are NAME=VALUE,...", word,
                    tool_nearest(word, name));
}

/* A GPU gets the shapes of the table of goals; what is not a GPU would take hours for them. */
static void complete(points_wish *w)
{
    bool gpu = strcmp(w->backend, "cuda") == 0, slow = strcmp(w->backend, "host") == 0, sized = w->capacities;
    const bench_goals *g = w->goals;
    if (!w->dims)
        for (int all = goals_dims(g); w->dims < all; w->dims++) w->dim[w->dims] = g->dim[w->dims];
    if (!w->loads)
        for (int all = goals_loads(g); w->loads < all; w->loads++) w->load[w->loads] = g->load[w->loads];
    if (!w->hash_names) w->hash[w->hash_names++] = NULL;
    if (!w->spare_numbers) w->spares[w->spare_numbers++] = 0;
    if (!w->hash_numbers) w->hashes[w->hash_numbers++] = 0;
    if (!w->slot_numbers) w->slots[w->slot_numbers++] = g->slots;
    if (!w->effort.calls && !gpu) w->effort.calls = 20;
    if (!w->zipfs) w->zipf[w->zipfs++] = 0;
    if (!w->layouts) w->layout[w->layouts++] = HD_LAYOUT_USUAL;
    if (!w->tierings) w->tiers[w->tierings++] = HD_TIERS_BUCKET;
    if (!w->fetches) w->fetch[w->fetches++] = HD_FETCH_USUAL;
    if (!w->nears) w->near[w->nears++] = 0;
    if (!w->variants && !w->all_variants) w->variant[w->variants++] = NULL;
    w->as_goals = gpu && !w->batches && !w->bulks && !sized;
    if (w->as_goals && g->bulk) w->bulk[w->bulks++] = g->n;
    if (!w->batches && !w->bulks) w->batch[w->batches++] = gpu ? 1 << 20 : slow ? 64 : 1024;
    if (!w->capacities) w->capacity[w->capacities++] = gpu ? 0 : slow ? 1 << 11 : 1 << 16; /* 0: as dim has it */
}

/* Not every design runs every operation. */
static int check_ops(const points_wish *w)
{
    for (int i = 0; i < w->ops; i++) {
        int r = 0;
        while (r < w->goals->rows && w->goals->row[r].op != w->op[i]) r++;
        if (r == w->goals->rows)
            return tool_say(TOOL_USAGE, "%s is not measured on the design %s", bench_buffers_name(w->op[i]), w->design);
    }
    return TOOL_OK;
}

int points_wish_read(points_wish *w, const char *backend, char **word, int words)
{
    size_t used = 0;
    int code = TOOL_OK;
    memset(w, 0, sizeof *w);
    w->design = hd_config_default().design;
    w->backend = backend;
    w->effort.queue = w->effort.wall = true;
    for (int i = 0; i < words && !code; i++) {
        const char *equals = strchr(word[i], '=');
        if (!equals) {
            code = add_op(w, word[i]);
            continue;
        }
        size_t n = strlen(equals + 1) + 1;
        if (used + n > sizeof w->text)
            return tool_say(TOOL_USAGE, "the words are longer than %zu characters", sizeof w->text);
        char *values = (char *)memcpy(w->text + used, equals + 1, n);
        used += n;
        code = add_list(w, word[i], values);
    }
    w->goals = goals_of(w->design);
    if (!code) code = check_ops(w);
    if (!code) complete(w);
    return code;
}

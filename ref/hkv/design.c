/* SPDX-License-Identifier: Apache-2.0
 *
 * design.c - HKV as the core sees it: shape, memory, and the sequential kernel "ref".
 */
#include <inttypes.h>
#include <string.h>

#include "base/design.h"
#include "base/error.h"
#include "base/op.h"
#include "base/team.h"
#include "policies/expression.h"
#include "ref/hkv/hkv.h"

typedef struct hkv {
    hkv_view view;
    uint32_t threads;
    bool far_lent; /* hkv_open_over */
} hkv;

enum {
    HOLDER_BYTES = sizeof(uint64_t),
    GHOST_BYTES = sizeof(uint64_t),
    STATE_BYTES = sizeof(uint64_t),
    COUNT_BYTES = sizeof(uint64_t)
};

hkv_view *hkv_view_of(void *state) { return &((hkv *)state)->view; }

static bool has_bounds(const hd_info *info)
{
    return info->layout == HD_LAYOUT_PAIRS && info->slots % HKV_BOUNDED == 0;
}

/* All but which values are near, and the planes. */
static hkv_view view_without_tiers(const hd_info *info)
{
    hkv_view v;
    memset(&v, 0, sizeof v);
    v.buckets = info->buckets;
    v.slots = info->slots;
    v.step = info->layout == HD_LAYOUT_PAIRS ? 2 : 1;
    v.value_bytes = info->value_bytes;
    v.seed = info->seed;
    hd_policy_use use;
    hd_policy_read(info->policy, &use); /* of a table it is known: hd_open */
    v.policy = use.number;
    v.program = use.program;
    v.admit_always = info->hkv.admit == HD_ADMIT_ALWAYS;
    v.dual = info->hkv.dual;
    return v;
}

static hd_status hkv_shape(const hd_design *d, const hd_config *c, hd_info *info)
{
    (void)d;
    if (c->slots < HD_SLOTS_MIN || c->slots > HD_SLOTS_MAX)
        return hd_fail(HD_EINVAL, "slots: %" PRIu32 " is outside %u to %u", c->slots, HD_SLOTS_MIN, HD_SLOTS_MAX);
    if (c->value_bytes > HD_VALUE_BYTES_MAX)
        return hd_fail(HD_EINVAL, "value_bytes: %" PRIu32 " is above the limit of %u", c->value_bytes,
                       HD_VALUE_BYTES_MAX);
    info->buckets = c->capacity / c->slots + (c->capacity % c->slots != 0);
    if (c->hkv.dual && info->buckets < 2)
        return hd_fail(HD_EINVAL, "dual: two candidate buckets need a capacity above %" PRIu32 ", the slots of one",
                       c->slots);
    if (info->layout == HD_LAYOUT_USUAL) info->layout = HD_LAYOUT_PAIRS;
    if (info->layout != HD_LAYOUT_PLANES && info->layout != HD_LAYOUT_PAIRS)
        return hd_fail(HD_EINVAL, "layout: hkv has planes, or pairs");
    hkv_view v = view_without_tiers(info);
    uint64_t entry_bytes = 17 + (uint64_t)c->value_bytes + (has_bounds(info) ? 1 : 0) +
                           (c->hkv.pins ? HOLDER_BYTES : 0) + (v.program.flags & HD_REMEMBERS ? GHOST_BYTES : 0);
    uint64_t bucket_bytes = (v.program.flags & HD_REMEMBERS ? STATE_BYTES : 0) +
                            (v.program.flags & HD_COUNTS ? hkv_count_words(c->slots) * COUNT_BYTES : 0);
    if (info->buckets > (uint64_t)PTRDIFF_MAX / (entry_bytes * c->slots + bucket_bytes))
        return hd_fail(HD_EINVAL, "capacity: %" PRIu64 " entries of %" PRIu64 " bytes are more than can be addressed",
                       c->capacity, entry_bytes);
    info->capacity = info->buckets * c->slots;
    hkv_split(&v, info->hkv.tiers, info->hkv.device_value_bytes);
    info->values_device_bytes = hkv_near_values(&v) * c->value_bytes;
    info->values_host_bytes = (info->capacity - hkv_near_values(&v)) * c->value_bytes;
    info->memory_bytes = info->capacity * entry_bytes + info->buckets * bucket_bytes;
    return HD_OK;
}

static void hkv_close(void *state, const hd_seams *s)
{
    hkv *h = (hkv *)state;
    if (!h) return;
    uint64_t entries = hkv_capacity(&h->view);
    hd_give(s, h->view.digest, entries, 1);
    hd_give(s, h->view.key, entries, 8 * (uint64_t)h->view.step);
    if (h->view.step == 1) hd_give(s, h->view.score, entries, 8);
    hd_give(s, h->view.bound, entries / HKV_BOUNDED, 8);
    hd_give(s, h->view.value, hkv_near_bytes(&h->view), 1);
    if (!h->far_lent) hd_give(s, h->view.far, hkv_far_bytes(&h->view), 1);
    hd_give(s, h->view.holder, entries, HOLDER_BYTES);
    hd_give(s, h->view.ghost, hkv_ghosts_of(&h->view), GHOST_BYTES);
    hd_give(s, h->view.state, hkv_states_of(&h->view), STATE_BYTES);
    hd_give(s, h->view.count, hkv_counts_of(&h->view), COUNT_BYTES);
    hd_give(s, h, 1, sizeof *h);
}

static uint32_t threads_of(const hd_info *info)
{
    uint32_t most = hd_team_usual();
    return info->threads ? info->threads : most < HD_THREADS_MOST ? most : HD_THREADS_MOST;
}

/* 2^64 * rest / rows, rounded up; rest < rows. */
static uint64_t part_of(uint64_t rest, uint64_t rows)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((((wide)rest << 64) + rows - 1) / rows);
}

void hkv_split(hkv_view *v, hd_tiers tiers, uint64_t near_bytes)
{
    uint64_t rows = tiers == HD_TIERS_BUCKET ? v->buckets : 1,
             most = tiers == HD_TIERS_BUCKET ? v->slots : hkv_capacity(v);
    uint64_t values = near_bytes && v->value_bytes ? near_bytes / v->value_bytes : rows * most, near = values / rows;
    v->striped = tiers == HD_TIERS_BUCKET ? UINT64_MAX / v->slots + 1 : 0;
    v->near = near < most ? near : most;
    v->part = near < most ? part_of(values % rows, rows) : 0;
    HD_ASSERT(near >= most || hkv_near_before(v, rows) == values,
              "the near values of all stripes are not the budget's");
}

hkv_view hkv_view_for(const hd_info *info)
{
    hkv_view v = view_without_tiers(info);
    hkv_split(&v, info->hkv.tiers, info->hkv.device_value_bytes);
    return v;
}

uint64_t hkv_holders_of(const hd_info *info) { return info->hkv.pins ? info->capacity : 0; }

void hkv_got_holders(hd_info *info)
{
    HD_ASSERT(info->hkv.pins == 0, "holders are taken twice");
    info->hkv.pins = 1;
    info->memory_bytes += info->capacity * HOLDER_BYTES;
}

uint64_t hkv_bounds_of(const hkv_view *v)
{
    return v->step == 2 && v->slots % HKV_BOUNDED == 0 ? hkv_capacity(v) / HKV_BOUNDED : 0;
}

uint64_t hkv_ghosts_of(const hkv_view *v) { return v->program.flags & HD_REMEMBERS ? hkv_capacity(v) : 0; }
uint64_t hkv_states_of(const hkv_view *v) { return v->program.flags & HD_REMEMBERS ? v->buckets : 0; }
uint64_t hkv_counts_of(const hkv_view *v)
{
    return v->program.flags & HD_COUNTS ? v->buckets * hkv_count_words(v->slots) : 0;
}

static uint64_t whole_words(uint64_t bytes) { return (bytes + 3) / 4 * 4; }

uint64_t hkv_near_bytes(const hkv_view *v)
{
    uint64_t bytes = hkv_near_values(v) * v->value_bytes;
    return bytes ? whole_words(bytes) : 1;
}

uint64_t hkv_far_bytes(const hkv_view *v)
{
    return whole_words((hkv_capacity(v) - hkv_near_values(v)) * v->value_bytes);
}

static hd_status take_planes(hkv_view *v, const hd_seams *s, uint64_t holders, uint8_t *lent)
{
    uint64_t entries = hkv_capacity(v);
    void *digest = NULL, *key = NULL, *score = NULL, *bound = NULL, *value = NULL, *far = lent, *holder = NULL,
         *ghost = NULL, *state = NULL, *count = NULL;
    hd_status status = hd_take(s, "capacity: digests", entries, 1, &digest);
    if (!status) status = hd_take(s, "capacity: keys", entries, 8 * (uint64_t)v->step, &key);
    if (!status && v->step == 1) status = hd_take(s, "capacity: scores", entries, 8, &score);
    if (!status) status = hd_take(s, "capacity: bounds", hkv_bounds_of(v), 8, &bound);
    if (!status) status = hd_take(s, "capacity: values", hkv_near_bytes(v), 1, &value);
    if (!status && !lent) status = hd_take(s, "capacity: far values", hkv_far_bytes(v), 1, &far);
    if (!status) status = hd_take(s, "pins", holders, HOLDER_BYTES, &holder);
    if (!status) status = hd_take(s, "policy: ghosts", hkv_ghosts_of(v), GHOST_BYTES, &ghost);
    if (!status) status = hd_take(s, "policy: states", hkv_states_of(v), STATE_BYTES, &state);
    if (!status) status = hd_take(s, "policy: counters", hkv_counts_of(v), COUNT_BYTES, &count);
    v->digest = (uint8_t *)digest;
    v->key = (uint64_t *)key;
    v->score = v->step == 1 ? (uint64_t *)score : key ? (uint64_t *)key + 1 : NULL;
    v->bound = (uint64_t *)bound;
    v->value = (uint8_t *)value;
    v->far = (uint8_t *)far;
    v->holder = (uint64_t *)holder;
    v->ghost = (uint64_t *)ghost;
    v->state = (uint64_t *)state;
    v->count = (uint64_t *)count;
    return status;
}

/* lent: far values are the lender's. */
static void clear_values(const hkv_view *v, const uint8_t *lent)
{
    memset(v->value, 0, hkv_near_bytes(v));
    if (v->far && !lent) memset(v->far, 0, hkv_far_bytes(v));
}

hd_status hkv_open_over(const hd_info *info, const hd_seams *s, uint8_t *far, void **state)
{
    void *p;
    hd_status status = hd_take(s, "table", 1, sizeof(hkv), &p);
    if (status) return status;
    hkv *h = (hkv *)p;
    memset(h, 0, sizeof *h);
    h->threads = threads_of(info);
    h->far_lent = far != NULL;
    h->view = hkv_view_for(info);
    status = take_planes(&h->view, s, hkv_holders_of(info), far);
    if (status) {
        hkv_close(h, s);
        return status;
    }
    /* a kernel that adds to a value may read others in its words, which may have no entries (gpu/add.h) */
    if (info->value_bytes % 4) clear_values(&h->view, far);
    hkv_clear(&h->view, h->threads);
    *state = h;
    return HD_OK;
}

static hd_status hkv_open(const hd_design *d, const hd_info *info, const hd_seams *s, void **state)
{
    (void)d;
    return hkv_open_over(info, s, NULL, state);
}

/* The plane of holders, when it is needed for the first time. */
static hd_status hkv_prepare(void *state, const hd_seams *s, const hd_batch *b, hd_info *info)
{
    hkv_view *v = &((hkv *)state)->view;
    void *p;
    if (v->holder || !hkv_batch_pins(b)) return HD_OK;
    hd_status status = hd_take(s, "pins", info->capacity, HOLDER_BYTES, &p);
    if (status) return status;
    v->holder = (uint64_t *)memset(p, 0, info->capacity * HOLDER_BYTES);
    hkv_got_holders(info);
    return HD_OK;
}

static hd_status hkv_run(void *state, uint32_t row, const hd_batch *b, hd_when when, uint64_t *tally)
{
    (void)row;
    hkv *h = (hkv *)state;
    hkv_when w = { when.clock, when.per_item, when.epoch, h->threads, when.opened };
    uint32_t admit_always = h->view.admit_always;
    if (when.by_score) h->view.admit_always = 0; /* no other batch uses this state */
    hkv_run_batch(&h->view, b, w, tally);
    if (when.by_score) h->view.admit_always = admit_always;
    return HD_OK;
}

void hkv_show(const hkv_view *v, hd_view *view)
{
    memset(view, 0, sizeof *view);
    view->places = hkv_capacity(v);
    view->slots = v->slots;
    view->value_bytes = v->value_bytes;
    view->key = v->key;
    view->score = v->score;
    view->step = v->step;
    view->value = v->value;
    view->far = v->far;
    view->near = v->near;
    view->part = v->part;
    view->striped = v->striped;
}

static hd_status hkv_show_state(void *state, void *stream, hd_view *view)
{
    (void)stream;
    hkv_show(&((hkv *)state)->view, view);
    return HD_OK;
}

static hd_status hkv_verify(void *state)
{
    char why[256];
    hkv_check(&((hkv *)state)->view, why, sizeof why);
    return why[0] ? hd_fail(HD_ECORRUPT, "%s", why) : HD_OK;
}

static size_t hkv_next(void *state, hd_entry *e, size_t most)
{
    const hkv_view *v = &((hkv *)state)->view;
    uint64_t entries = hkv_capacity(v);
    size_t n = 0;
    for (uint64_t i = e->slot; i < entries && n < most; i++) {
        if (v->digest[i] == HKV_NO_DIGEST) continue;
        e[n++] = (hd_entry){ i, *hkv_key_at(v, i), *hkv_score_at(v, i), hkv_value(v, i) };
    }
    return n;
}

static bool hkv_put_at(void *state, const hd_entry *e)
{
    const hkv_view *v = &((hkv *)state)->view;
    uint64_t h = hd_hash(e->key, v->seed);
    HD_ASSERT(e->slot < hkv_capacity(v));
    if (e->key >= HD_KEY_RESERVED || !hkv_is_home(v, h, e->slot / v->slots)) return false;
    v->digest[e->slot] = hd_digest(h);
    *hkv_key_at(v, e->slot) = e->key;
    *hkv_score_at(v, e->slot) = e->score;
    if (v->value_bytes) memcpy(hkv_value(v, e->slot), e->value, v->value_bytes);
    return true;
}

static void hkv_move(void *from, void *to)
{
    hkv_move_all(&((hkv *)from)->view, &((hkv *)to)->view, ((hkv *)to)->threads);
}

static const char *unsupported(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    (void)row, (void)info;
    return b->each ? HD_NOT_MIXED : HD_OP_IN(b->op, HD_OPS_ORDERED) ? HD_UNORDERED : NULL;
}

static const char *const admits[] = { "score", "always", NULL };
static const char *const tiers[] = { "bucket", "position", NULL };
static const char *const fetches[] = { "usual", "sorted", "direct", NULL };

/* clang-format off */
static const hd_param params[] = {
    { "dual",   HD_PARAM_BOOL, HD_PARAM_AT(hd_hkv_config, dual), .what = "two candidate buckets per key",
      .label = "dual buckets", .places = true, .saved = HD_SAVED_FLAG, .saved_at = 0 },
    { "admit",  HD_PARAM_ENUM, HD_PARAM_AT(hd_hkv_config, admit), .values = admits,
      .what = "refuse a new key whose score is below the bucket's least score, or admit every key",
      .label = "admission", .saved = HD_SAVED_FLAG, .saved_at = 1 },
    { "tiers",  HD_PARAM_ENUM, HD_PARAM_AT(hd_hkv_config, tiers), .values = tiers,
      .what = "which values are in the device's memory: those of each bucket's first slots, or the table's first" },
    { "device_value_bytes", HD_PARAM_U64, HD_PARAM_AT(hd_hkv_config, device_value_bytes), .most = UINT64_MAX,
      .what = "values in the device's memory, at most; the others are in the host's; 0: all are in the device's",
      .alias = "near" },
    { "fetch",  HD_PARAM_ENUM, HD_PARAM_AT(hd_hkv_config, fetch), .values = fetches,
      .what = "how find reads values in the host's memory: in the order of addresses, or of keys" },
    { "pins",   HD_PARAM_U32,  HD_PARAM_AT(hd_hkv_config, pins), .most = 1u << 30,
      .what = "room for pins; 0: none before the first batch that pins" },
    { "capture_times", HD_PARAM_BOOL, HD_PARAM_AT(hd_hkv_config, capture_times),
      .what = "whether CUDA graphs may repeat times of the logical clock" },
};
/* clang-format on */

const hd_params hkv_params = { .design = "hkv",
                               .row = params,
                               .count = sizeof params / sizeof *params,
                               .config_at = offsetof(hd_config, hkv),
                               .info_at = offsetof(hd_info, hkv),
                               .bytes = sizeof(hd_hkv_config) };

#define HD_RAN(number, name, what, role, family, does) [HD_OP_##number] = "hkv." #name ".ref",
static const hd_variant variant = {
    .name = "ref",
    .row = { { .what = { "the sequential reference; OpenMP splits it by bucket, with the same result", NULL } } },
    .ran = { HD_OP_ROWS(HD_RAN) },
};
static const hd_variant *const variants[] = { &variant, NULL };

const hd_backend hkv_reference = {
    .name = "ref",
    .shape = hkv_shape,
    .open = hkv_open,
    .close = hkv_close,
    .check = hkv_verify,
    .next = hkv_next,
    .put_at = hkv_put_at,
    .view = hkv_show_state,
    .move_all = hkv_move,
    .prepare = hkv_prepare,
    .variants = variants,
    .unsupported = unsupported,
    .launch = hkv_run,
};

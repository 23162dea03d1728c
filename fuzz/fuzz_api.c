/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_api.c - any sequence of calls of the library, valid and invalid ones, on two tables at once; some allocations
 * and file operations fail. Every call returns the status that the header promises. A refused call gives a reason,
 * writes nothing and does not change its table. After every other call all invariants hold. Reading changes nothing.
 * The counters grow by the outcomes of a batch, mixed or not. At the end no memory is left.
 *
 *   a step   which table and call, trouble, and then what the call takes
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "fuzz/feed.h"
#include "fuzz/fuzz.h"
#include "fuzz/fixture.h"
#include "fuzz/fake_os.h"
#include "judge/arrays.h"
#include "judge/oracle.h"
#include "judge/rules.h"
#include "base/design.h"
#include "base/op.h"
#include "lib/params.h"
#include "policies/policy.h"
#include "policies/predicates/predicate.h"

enum { MOST = 1024, STEPS = 48, TABLES = 2, ITEMS = 16, SLOTS_SHOWN = 40, KEYS = 21 };
/* Kernels on the host machine that grow a larger table take the time of many inputs. */
enum { MEMORY_MOST = 3 << 20 };

typedef struct seen {
    hd_info info;
    hd_counters counters;
    uint64_t sum, entries;
} seen;

typedef struct one {
    hd_table *t; /* NULL: not open */
    hd_config c;
    hd_case named; /* whose texts c has */
    judge_arrays arrays;
    seen before;
} one;

typedef struct session {
    fuzz_world w;
    one table[TABLES];
    one *x; /* the table of this step */
    feed f;
    fuzz_text *text; /* NULL: no text is wanted */
    uint64_t time;   /* of HD_CLOCK_DEVICE       */
    bool troubled;   /* this step                */
    bool resizes;    /* ... is to resize a dictionary */
} session;

#define TELL(s, ...) ((s)->text ? fuzz_put((s)->text, __VA_ARGS__) : (void)0)

/* ---- Before and after a call ----------------------------------------------------------------- */

static int add(void *context, uint64_t key, uint64_t score, void *value)
{
    seen *s = (seen *)context;
    const uint8_t *p = (const uint8_t *)value;
    uint64_t h = key * 0x9e3779b97f4a7c15u ^ score;
    for (uint32_t i = 0; i < s->info.value_bytes; i++) h = h * 31 + p[i];
    s->sum += h * 0xbf58476d1ce4e5b9u;
    s->entries++;
    return 0;
}

static void look(const one *x, seen *s)
{
    memset(s, 0, sizeof *s);
    if (!x->t) return;
    hd_table_info(x->t, &s->info);
    hd_counters_sync(x->t, &s->counters);
    hd_for_each(x->t, add, s);
}

/* One call from here on may meet trouble: a refused allocation, or a file call that fails. */
static void begin(session *s)
{
    static const int faults[] = { EIO, ENOSPC, EINTR, SHELF_SHORT };
    uint8_t trouble = feed_byte(&s->f);
    s->w.refused = 0;
    s->troubled = trouble >= 200;
    if (trouble >= 228) {
        s->w.shelf.fail_at = s->w.shelf.calls + 1 + trouble % 7;
        s->w.shelf.fail_with = faults[trouble / 7 % 4];
        TELL(s, " [file call %d fails: %d]", 1 + trouble % 7, s->w.shelf.fail_with);
    } else if (s->troubled) {
        s->w.refuse_at = s->w.takes + 1 + trouble % 7;
        TELL(s, " [allocation %d is refused]", 1 + trouble % 7);
    }
}

/* The field, where the table's design has it, is as if it were 0. */
static void forget_field(hd_info *info, const char *name)
{
    const hd_params *of;
    const hd_param *p = hd_param_own(name, info->design, &of);
    if (p) hd_param_number_set(p, hd_params_in_info(of, info), 0);
}

/* What a table that grows in place may have become, where memory for the next step of that was refused. */
static void forget_size(hd_info *info)
{
    info->buckets = info->capacity = info->places = info->stash_buckets = info->memory_bytes = 0;
    info->values_device_bytes = info->values_host_bytes = 0;
    forget_field(info, "near");
}

/* The call has come back with status `got`, where `wanted` was promised; HD_STATUS_COUNT: OK, or no memory. `reads`:
 * nothing may have changed. */
static const char *end(session *s, const char *call, hd_status got, hd_status wanted, bool reads)
{
    bool refused = s->w.refused > 0, failed = s->w.shelf.fail_at && s->w.shelf.calls >= s->w.shelf.fail_at;
    s->w.refuse_at = s->w.shelf.fail_at = 0;
    TELL(s, " -> %s", hd_status_name(got));
    bool either = wanted == HD_STATUS_COUNT && (got == HD_OK || got == HD_ENOMEM);
    bool by_trouble = (refused && got == HD_ENOMEM) || (failed && got == HD_EIO);
    if (got != wanted && !either && !by_trouble)
        return fuzz_say("%s: %s (%s), and not %s", call, hd_status_name(got), hd_why(),
                        hd_status_name(wanted == HD_STATUS_COUNT ? HD_OK : wanted));
    if (got && !hd_why()[0]) return fuzz_say("%s: %s without a reason", call, hd_status_name(got));
    if (!s->x->t) return NULL;
    if (hd_check(s->x->t)) return fuzz_say("%s: %s", call, hd_why());
    seen now;
    look(s->x, &now);
    const seen *was = &s->x->before;
    if (s->resizes) forget_size(&now.info), forget_size(&s->x->before.info);
    if (got && !hd_params_number_of_table(&was->info, "pins") && hd_params_number_of_table(&now.info, "pins"))
        forget_field(&now.info, "pins"), now.info.memory_bytes = was->info.memory_bytes; /* the room for pins stays */
    if (got && memcmp(&now, was, sizeof now) != 0) return fuzz_say("%s: refused, and the table is another", call);
    if (reads && (now.sum != was->sum || now.entries != was->entries))
        return fuzz_say("%s: it reads, and the table is another", call);
    return NULL;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static bool is_dictionary(const hd_config *c) { return c->design && judge_dictionary(c->design); }

static bool resizes_in_place(const hd_config *c) { return is_dictionary(c) && hd_design_named(c->design)->ref->resize; }

static uint64_t next_time(void *at) { return ++*(uint64_t *)at; }

static hd_config some_config(session *s)
{
    static const char *const fixed[][2] = { { "op", "find" },
                                            { "epoch_every", "0" },
                                            { "outputs", "all" },
                                            { "skew", "0" },
                                            { "duplicate", "0" },
                                            { "extreme", "0" },
                                            { "raw", "0" },
                                            { "distinct", "0" },
                                            { "value", "0,?,16,100" },
                                            { "segment", "128,256,1024" },
                                            { NULL, NULL } };
    hd_case *named = &s->x->named;
    uint8_t place = feed_byte(&s->f);
    fuzz_table_of(&s->f, 6, place % 8 == 7 ? "host" : "ref", fixed, named);
    hd_config c = hd_case_config(named);
    if (!hd_backend_named(hd_design_named(c.design), c.backend)) c.backend = "ref";
    c.threads = 1;
    c.seams = &s->w.seams;
    c.now = next_time;
    c.now_context = &s->time;
    return c;
}

static const uint64_t huge[] = {
    1ull << 61, (1ull << 62) + 1, 1ull << 63, (1ull << 63) + 1, UINT64_MAX - 1, UINT64_MAX
};
enum { HUGES = sizeof huge / sizeof *huge };

/* The number behind those that the field may have; 0: it may have all. */
static uint64_t past_range(const hd_param *p)
{
    uint64_t n = 0;
    if (p->type == HD_PARAM_U32) return p->most < UINT32_MAX ? p->most + 1 : 0;
    if (p->type == HD_PARAM_U64) return p->most + 1;
    while (p->type == HD_PARAM_ENUM && p->values[n]) n++;
    return n;
}

/* Counts the fields of all designs round to the one that is wrong: the table's own gets a number past its range, or the
 * greatest of its type; that of another design a value that is not its usual one. */
static void set_wrong_field(hd_config *c, uint8_t which, bool greatest)
{
    const hd_params *s;
    for (size_t i = 1;; i++) {
        if (!(s = hd_params_at(i))) s = hd_params_at(i = 1);
        bool own = strcmp(s->design, c->design) == 0;
        for (size_t k = 0; k < s->count; k++) {
            const hd_param *p = &s->row[k];
            uint64_t wrong = own ? past_range(p) : p->usual == 1 ? 2 : 1;
            if (!wrong || which-- > 0) continue;
            if (p->type == HD_PARAM_TEXT)
                hd_param_set(p, hd_params_in(s, c), "crc32");
            else
                hd_param_number_set(p, hd_params_in(s, c), own && greatest ? UINT64_MAX : wrong);
            return;
        }
    }
}

/* Two candidate buckets, and one bucket. */
static hd_status set_dual_alone(hd_config *c)
{
    const hd_params *of;
    if (!hd_param_own("dual", c->design, &of)) return HD_OK;
    hd_params_number_set(c, c->design, "dual", true);
    c->capacity = c->slots;
    return HD_EINVAL;
}

/* One field that cannot be. HD_OK: none. */
static hd_status spoil_config(hd_config *c, uint8_t how)
{
    static const char *const name[] = {
        NULL, "", "lruu", "a name that is longer than any name of a row has ever been, and then some more of it"
    };
    static const uint32_t slots[] = { 0, 1, 4097, UINT32_MAX }, bytes[] = { 65537, 1u << 31, UINT32_MAX };
    uint8_t v = how / 20;
    switch (how % 20) {
    case 0: return v ? set_wrong_field(c, v, false), HD_EINVAL : HD_OK;
    case 1: return c->design = name[v % 4], HD_EINVAL;
    case 2: return c->backend = name[v % 4], HD_EINVAL;
    case 3: return c->policy = v > 8 ? "expr:on_insert=now+" : name[v % 4], HD_EINVAL;
    case 4: return c->lock = name[v % 4], HD_EINVAL;
    case 5:
    case 7:
    case 8:
    case 15: return set_wrong_field(c, how, v % 2), HD_EINVAL;
    case 6: return c->layout = v ? (hd_layout)INT_MIN : is_dictionary(c) ? HD_LAYOUT_PAIRS : HD_LAYOUT_WORDS, HD_EINVAL;
    case 9: return c->clock = (hd_clock)(v ? -1 : 2), HD_EINVAL;
    case 10: return c->threads = v ? UINT32_MAX : 1025, HD_EINVAL;
    case 11: return c->slots = slots[v % 4], HD_EINVAL;
    case 12: return c->value_bytes = bytes[v % 3], HD_EINVAL;
    case 13: return c->capacity = 0, HD_EINVAL;
    case 14: return c->capacity = huge[v % HUGES], HD_EINVAL;
    case 16: return set_dual_alone(c);
    case 17: return c->capacity = 1ull << 40, is_dictionary(c) ? HD_EINVAL : HD_ENOMEM;
    default: return HD_OK;
    }
}

static void close_table(one *x)
{
    hd_close(x->t);
    if (x->t) judge_arrays_close(&x->arrays);
    x->t = NULL;
}

static const char *opened(session *s, hd_table *t, const char *call, hd_status got, hd_status wanted)
{
    one *x = s->x;
    bool touched = got && t != NULL;
    x->t = got ? NULL : t;
    if (x->t && !judge_arrays_open(&x->arrays, SLOTS_SHOWN, x->c.value_bytes)) {
        hd_close(t);
        x->t = NULL;
    }
    return touched ? fuzz_say("%s: refused, and there is a table", call) : end(s, call, got, wanted, false);
}

static const char *call_open(session *s)
{
    hd_table *t = NULL;
    close_table(s->x);
    s->x->c = some_config(s);
    uint8_t how = feed_byte(&s->f);
    hd_config c = s->x->c;
    hd_status wanted = spoil_config(&c, how);
    TELL(s, "open %s %s %s slots=%" PRIu32 " capacity=%" PRIu64 " value_bytes=%" PRIu32 "%s",
         c.design ? c.design : "NULL", c.policy ? c.policy : "NULL", c.backend ? c.backend : "NULL", c.slots,
         c.capacity, c.value_bytes, wanted ? " (wrong)" : "");
    begin(s);
    hd_status got = how % 20 == 18 ? hd_open(NULL, &t) : how % 20 == 19 ? hd_open(&c, NULL) : hd_open(&c, &t);
    return opened(s, t, "hd_open", got, how % 20 >= 18 ? HD_EINVAL : wanted);
}

/* ---- Batches --------------------------------------------------------------------------------- */

static bool needs_value(hd_op op) { return judge_ops[op].value_in || (judge_ops[op].enters && !judge_ops[op].ptr_out); }
static bool needs_ptr(hd_op op) { return op == HD_OP_FIND_PTR || op == HD_OP_FIND_OR_INSERT_PTR; }

/* An operation for each item. */
static void mix(one *x, hd_batch *b, uint8_t from)
{
    static const hd_op some[] = { HD_OP_FIND,     HD_OP_INSERT_OR_ASSIGN, HD_OP_ERASE,          HD_OP_FIND_OR_INSERT,
                                  HD_OP_CONTAINS, HD_OP_ASSIGN_VALUES,    HD_OP_ACCUM_OR_ASSIGN };
    enum { SOME = sizeof some / sizeof *some };
    uint8_t *each = (uint8_t *)judge_arrays_at(&x->arrays, JUDGE_EACH);
    for (uint64_t i = 0; i < b->n; i++) each[i] = (uint8_t)some[(from / HD_OP_COUNT_ + b->key[i] + i) % SOME];
    b->each = each;
}

/* A batch as it should be, its inputs filled in. */
static void some_batch(session *s, hd_batch *b)
{
    one *x = s->x;
    feed *f = &s->f;
    uint8_t ops = feed_byte(f), more = feed_byte(f);
    memset(b, 0, sizeof *b);
    b->op = (hd_op)(ops % HD_OP_COUNT_);
    const judge_op *rule = &judge_ops[b->op];
    uint64_t capacity = x->before.info.places;
    if (rule->keyed) b->n = 1 + more % ITEMS;
    if (rule->range) {
        b->start = feed_number(f) % (capacity + 1);
        b->n = capacity - b->start < SLOTS_SHOWN ? capacity - b->start : SLOTS_SHOWN;
    }
    b->limit = more / 16 % (SLOTS_SHOWN / ITEMS + 1u);
    b->inclusive = ops & 64;
    judge_arrays_lend(&x->arrays, b);
    uint64_t *key = (uint64_t *)judge_arrays_at(&x->arrays, JUDGE_KEY),
             *upper = (uint64_t *)judge_arrays_at(&x->arrays, JUDGE_KEY2),
             *score = (uint64_t *)judge_arrays_at(&x->arrays, JUDGE_SCORE);
    uint8_t *value = (uint8_t *)judge_arrays_at(&x->arrays, JUDGE_VALUE),
            *flag = (uint8_t *)judge_arrays_at(&x->arrays, JUDGE_FLAG);
    memset(score, 0, (size_t)b->n * sizeof *score);
    for (uint64_t i = 0; rule->keyed && i < b->n; i++) {
        uint64_t k = feed_below(f, KEYS + 3);
        key[i] = k < KEYS ? k : HD_KEY_RESERVED + k - KEYS;
        flag[i] = (uint8_t)(k % 3);
        upper[i] = k % 5 ? k + more % 16 - 4 : UINT64_MAX;
        if (more & 64) score[i] = feed_number(f);
        memset(value + i * x->c.value_bytes, (int)(k + more), x->c.value_bytes);
    }
    if (!(more & 64) && strcmp(x->c.policy, "custom") != 0) b->score = NULL;
    b->raw_scores = b->score && (more & 48) == 48 && !is_dictionary(&x->c);
    b->elem = (hd_elem)((more / 16 + ops / HD_OP_COUNT_) % HD_ELEM_COUNT);
    for (int tries = 0; tries < HD_ELEM_COUNT && x->c.value_bytes % judge_elem_bytes(b->elem); tries++)
        b->elem = (hd_elem)((b->elem + 1) % HD_ELEM_COUNT);
    b->holder = 1 + ops / 64;
    if (rule->may_pin && (is_dictionary(&x->c) || ops & 64)) b->holder = 0;
    b->pred = hd_predicate_at(more % hd_predicate_count())->name;
    if (rule->predicate) b->pred_arg[0] = feed_number(f), b->pred_arg[1] = feed_number(f);
    if (more & 128) b->value_out = NULL, b->list_value = NULL, b->score_out = NULL;
    if (is_dictionary(&x->c) && b->op == HD_OP_INSERT_OR_ASSIGN && more & 32) mix(x, b, ops);
}

/* One thing that is wrong with it, if this kind of wrong applies to the operation. HD_OK: it does not. */
static hd_status spoil_batch(session *s, hd_batch *b, uint8_t how)
{
    const judge_op *rule = &judge_ops[b->op];
    uint8_t v = how / 16;
    bool sums = b->op == HD_OP_ACCUM_OR_ASSIGN, holds = b->op == HD_OP_LOCK_KEYS || b->op == HD_OP_UNLOCK_KEYS;
    switch (how % 16) {
    case 1: return rule->keyed ? b->key = NULL, HD_EINVAL : HD_OK;
    case 2:
        if (b->op == HD_OP_RANGE) return b->key2 = NULL, HD_EINVAL;
        return needs_value(b->op) && s->x->c.value_bytes ? b->value = NULL, HD_EINVAL : HD_OK;
    case 3: return needs_ptr(b->op) ? b->ptr = NULL, HD_EINVAL : HD_OK;
    case 4: return hd_op_does(b->op, HD_NEEDS_COUNT) ? b->count = NULL, HD_EINVAL : HD_OK;
    case 5: return holds ? b->holder = 0, HD_EINVAL : HD_OK;
    case 6: return rule->predicate ? b->pred = v % 2 ? NULL : "score_bellow", HD_EINVAL : HD_OK;
    case 7:
        if (!judge_scores_items(rule)) return HD_OK;
        if (v % 2) return b->raw_scores = true, b->score = NULL, HD_EINVAL;
        return b->raw_scores || strcmp(s->x->c.policy, "custom") == 0 ? b->score = NULL, HD_EINVAL : HD_OK;
    case 8: return b->n = huge[v % HUGES], HD_EINVAL;
    case 9: return b->kernel = v % 2 ? "" : "tlpv9", HD_EINVAL;
    /* a mixed batch ignores `op` */
    case 10: return b->op = (hd_op)(v % 2 ? HD_OP_COUNT_ + v : -1 - v), b->each ? HD_OK : HD_EINVAL;
    case 11: return sums ? b->elem = (hd_elem)(v % 2 ? HD_ELEM_COUNT + v : -1), HD_EINVAL : HD_OK;
    case 0:
        return b->each && v ? ((uint8_t *)judge_arrays_at(&s->x->arrays, JUDGE_EACH))[v % b->n] = HD_OP_FIND_MISSED,
                                                                                          HD_EINVAL : HD_OK;
    case 12:
        return sums && b->flag ? ((uint8_t *)judge_arrays_at(&s->x->arrays, JUDGE_FLAG))[v % b->n] = (uint8_t)(3 + v),
                                                                                             HD_EINVAL : HD_OK;
    case 13: return rule->range ? b->start = s->x->before.info.places + 1 + v, HD_EINVAL : HD_OK;
    case 14: return rule->range ? b->n = s->x->before.info.places - b->start + 1, HD_EINVAL : HD_OK;
    default: return HD_OK;
    }
}

/* Nothing at all was written: as after an operation that delivers nothing. */
static const char *all_poison(const session *s, hd_batch whole)
{
    whole.op = HD_OP_CLEAR, whole.each = NULL;
    const char *why = judge_arrays_check(&s->x->arrays, &whole);
    return why ? fuzz_say("a batch that was refused: %s", why) : NULL;
}

/* The totals have grown by the batch's items: each under its own operation and its outcome, in mixed batches, too. */
static const char *counters_wrong(const session *s, const hd_batch *b)
{
    hd_counters now, want = s->x->before.counters;
    bool keyed = b->each || judge_ops[b->op].keyed;
    want.batches++;
    want.items += keyed ? b->n : 0;
    if (!b->each) want.op[b->op] += keyed ? b->n : 1;
    for (uint64_t i = 0; keyed && i < b->n; i++) {
        if (b->each) want.op[b->each[i]]++;
        if (b->outcome) want.outcome[b->outcome[i]]++;
    }
    if (hd_counters_sync(s->x->t, &now)) return hd_why();
    if (!b->outcome) memcpy(want.outcome, now.outcome, sizeof now.outcome);
    for (int o = 0; o < HD_OUTCOME_COUNT; o++)
        if (now.outcome[o] != want.outcome[o])
            return fuzz_say("%" PRIu64 " items were %s, and %" PRIu64 " are counted", want.outcome[o],
                            hd_outcome_name((hd_outcome)o), now.outcome[o]);
    for (int o = 0; o < HD_OP_COUNT_; o++)
        if (now.op[o] != want.op[o])
            return fuzz_say("%" PRIu64 " items of %s, and %" PRIu64 " are counted", want.op[o], hd_op_name((hd_op)o),
                            now.op[o]);
    if (now.batches != want.batches || now.items != want.items)
        return fuzz_say("%" PRIu64 " batches of %" PRIu64 " items, and %" PRIu64 " of %" PRIu64 " are counted",
                        want.batches, want.items, now.batches, now.items);
    return NULL;
}

static const char *call_run(session *s)
{
    hd_batch b, whole;
    some_batch(s, &b);
    judge_arrays_lend(&s->x->arrays, (whole = b, &whole));
    whole.n = b.n;
    uint8_t how = feed_byte(&s->f);
    hd_status wanted = spoil_batch(s, &b, how);
    bool none_divides = whole.op == HD_OP_ACCUM_OR_ASSIGN && s->x->c.value_bytes % judge_elem_bytes(whole.elem);
    if (none_divides || !judge_table_runs(&s->x->before.info, whole.op, whole.each)) wanted = HD_EINVAL;
    judge_arrays_arm(&s->x->arrays);
    TELL(s, "%s of %" PRIu64 "%s", judge_batch_name(&whole), whole.n, wanted ? " (wrong)" : "");
    begin(s);
    hd_status got = how % 16 == 15 ? hd_run(how & 16 ? s->x->t : NULL, how & 16 ? NULL : &b) : hd_run(s->x->t, &b);
    const char *why = end(s, hd_op_name(whole.op), got, how % 16 == 15 ? HD_EINVAL : wanted, judge_ops[whole.op].reads);
    if (why) return why;
    if (got == HD_EINVAL) return all_poison(s, whole);
    if (got) return NULL; /* what was lent for the answers may have been used */
    why = judge_arrays_check(&s->x->arrays, &whole);
    hd_info info = s->x->before.info;
    uint64_t ticks = judge_ops[whole.op].keyed && info.clock == HD_CLOCK_LOGICAL ? whole.n : 0;
    if (!why && (hd_table_info(s->x->t, &info) || info.now != s->x->before.info.now + ticks))
        why = "the clock went wrong";
    if (!why) why = counters_wrong(s, &whole);
    return why ? fuzz_say("%s: %s", hd_op_name(whole.op), why) : NULL;
}

/* ---- The other calls ------------------------------------------------------------------------- */

/* Whether the table's kernels may need more device memory than this limit; 0: there is none. */
static bool may_need_more(const hd_info *info, uint64_t near)
{
    const hd_design *d = hd_design_named(info->design);
    return near && hd_backend_named(d, info->backend) != d->ref && d->gpu->shape;
}

/* The limit of such a table; of a table of another design 0. */
static uint64_t limit_of(const hd_info *info)
{
    return hd_design_named(info->design)->ref->set_near ? hd_params_number_of_table(info, "near") : 0;
}

/* A table that has more entries than 2 to that may be refused: numbers of cells have 32 bits. */
static uint32_t bits_of_capacity(const session *s)
{
    if (s->x->before.info.layout == HD_LAYOUT_CELLS) return 31;
    return is_dictionary(&s->x->c) ? 34 : 36;
}

static const char *call_grow(session *s)
{
    const hd_info *was = &s->x->before.info;
    uint64_t now = was->buckets, how = feed_byte(&s->f),
             buckets = how < 64    ? now * (how % 4)
                       : how < 128 ? now * 2 + 1
                                   : feed_number(&s->f);
    bool packs = resizes_in_place(&s->x->c), multiple = packs ? buckets >= now : buckets && now && buckets % now == 0,
         small = buckets < 1ull << (is_dictionary(&s->x->c) ? 31 : 36) &&
                 (was->layout != HD_LAYOUT_CELLS || buckets < (1ull << bits_of_capacity(s)) / was->slots);
    TELL(s, "grow from %" PRIu64 " to %" PRIu64, now, buckets);
    begin(s);
    s->resizes = packs;
    hd_status got = hd_grow(s->x->t, buckets), wanted = small ? HD_STATUS_COUNT : HD_ENOMEM;
    bool refused = got == HD_EINVAL && (!small || may_need_more(was, limit_of(was)));
    if (!multiple || refused) wanted = HD_EINVAL;
    return end(s, "hd_grow", got, multiple && buckets == now ? HD_OK : wanted, true);
}

static const char *call_reserve(session *s)
{
    const hd_info *was = &s->x->before.info;
    uint64_t capacity = feed_number(&s->f);
    TELL(s, "reserve %" PRIu64, capacity);
    begin(s);
    s->resizes = is_dictionary(&s->x->c);
    hd_status got = hd_reserve(s->x->t, capacity);
    bool fits = capacity <= was->capacity, absurd = capacity >= 1ull << bits_of_capacity(s);
    bool refused = got == HD_EINVAL && (absurd || may_need_more(was, limit_of(was)));
    return end(s, "hd_reserve", got, fits ? HD_OK : refused ? HD_EINVAL : HD_STATUS_COUNT, true);
}

/* Fewer buckets: those that there are, or a number beside that. */
static const char *call_shrink(session *s)
{
    const hd_info *was = &s->x->before.info;
    uint64_t now = was->buckets, base = was->base_buckets, buckets = feed_below(&s->f, now + 2);
    bool packs = resizes_in_place(&s->x->c) && !hd_design_named(s->x->c.design)->ref->grows_only;
    TELL(s, "shrink from %" PRIu64 " to %" PRIu64, now, buckets);
    begin(s);
    s->resizes = packs;
    hd_status wanted = packs && buckets >= base && buckets <= now ? buckets < now ? HD_STATUS_COUNT : HD_OK : HD_EINVAL;
    return end(s, "hd_shrink", hd_shrink(s->x->t, buckets), wanted, true);
}

/* Another limit of device memory; on "host" kernels of some designs need more than a small one. */
static const char *call_set_near(session *s)
{
    uint8_t how = feed_byte(&s->f);
    uint64_t near = how < 224 ? how / 8 * (uint64_t)128 : feed_number(&s->f);
    const hd_design *d = hd_design_named(s->x->before.info.design);
    TELL(s, "set_near %" PRIu64, near);
    begin(s);
    s->resizes = d->ref->set_near != NULL;
    hd_status got = hd_set_near(s->x->t, near);
    bool refused = got == HD_EINVAL && may_need_more(&s->x->before.info, near);
    hd_status wanted = !d->ref->set_near || refused ? HD_EINVAL : HD_STATUS_COUNT;
    return end(s, "hd_set_near", got, wanted, true);
}

/* 0, a share of the slots, or what is neither. */
static double some_target(uint8_t from)
{
    static const double bad[] = { 1e-300, 1e-9, 0.0009, -0.5, 1.5, -1e-300 };
    if (from % 8 == 1) return bad[from / 8 % 6];
    return from % 8 == 0 ? 1 : from / 255.0;
}

static bool may_evict(const seen *was, const seen *now) { return was->info.buckets > 1 || now->info.buckets > 1; }

/* What happened to an item is what its outcome says, also where growth was refused on the way; and a bucket that is the
 * only one overflows only after growth. */
static const char *growing_told(const session *s, const hd_batch *b, hd_status got, double target)
{
    seen now;
    look(s->x, &now);
    uint64_t pending = 0, evicted = 0;
    for (uint64_t i = 0; i < b->n && judge_ops[b->op].keyed; i++) {
        pending += b->outcome[i] == HD_PENDING;
        evicted += b->outcome[i] == HD_EVICTED;
    }
    if (!got && pending) return fuzz_say("hd_run_growing: %" PRIu64 " items are pending", pending);
    if (target > 0 && evicted && !may_evict(&s->x->before, &now))
        return fuzz_say("hd_run_growing: %" PRIu64 " evicted, and the table did not grow", evicted);
    return NULL;
}

/* Until nothing is pending: where memory is refused some of it has been done. */
static const char *call_run_growing(session *s)
{
    hd_batch b;
    some_batch(s, &b);
    double target = some_target(feed_byte(&s->f));
    bool good = target == 0 || (target >= 1.0 / 1024 && target <= 1);
    judge_arrays_arm(&s->x->arrays);
    TELL(s, "%s of %" PRIu64 ", growing to %g", judge_batch_name(&b), b.n, target);
    begin(s);
    hd_status got = hd_run_growing(s->x->t, &b, target);
    bool runs = good && judge_table_runs(&s->x->before.info, b.op, b.each) &&
                !(b.op == HD_OP_ACCUM_OR_ASSIGN && s->x->c.value_bytes % judge_elem_bytes(b.elem));
    const char *why = runs ? growing_told(s, &b, got, target) : NULL;
    if (why) return why;
    if (got != HD_ENOMEM) {
        s->resizes = true;
        return end(s, "hd_run_growing", got, runs ? HD_OK : HD_EINVAL, false);
    }
    s->w.refuse_at = s->w.shelf.fail_at = 0;
    if (!runs && !s->w.refused) return fuzz_say("hd_run_growing: no memory for what cannot be run");
    return hd_check(s->x->t) ? fuzz_say("hd_run_growing: %s", hd_why()) : NULL;
}

static const char *call_small(session *s)
{
    uint64_t size;
    double load;
    uint8_t which = feed_byte(&s->f), none = which & 128;
    hd_table *t = none ? NULL : s->x->t;
    TELL(s, "small call %d%s", which % 6, none ? " of no table" : "");
    begin(s);
    hd_status got = HD_OK;
    switch (which % 6) {
    case 0: got = hd_size_sync(t, which & 64 ? NULL : &size); break;
    case 1: got = hd_load_factor_sync(t, which & 64 ? NULL : &load); break;
    case 2: got = hd_clear(t); break;
    case 3: got = hd_epoch_set(t, (uint32_t)feed_number(&s->f)); break;
    case 4: got = hd_for_each(t, which & 64 ? NULL : add, &(seen){ .entries = 0 }); break;
    default: got = hd_check(t); break;
    }
    bool takes_pointer = which % 6 < 2 || which % 6 == 4;
    if (got == HD_OK && which % 6 == 0 && size != s->x->before.entries)
        return fuzz_say("hd_size_sync: %" PRIu64 " of %" PRIu64, size, s->x->before.entries);
    return end(s, "a small call", got, none || (takes_pointer && which & 64) ? HD_EINVAL : HD_OK, which % 6 != 2);
}

static const char *path_of(session *s)
{
    static char longest[5000];
    memset(longest, 'p', sizeof longest - 1);
    static const char *const path[] = { "a", "b", "a", "b", "a", "missing", "", longest, NULL };
    return path[feed_below(&s->f, sizeof path / sizeof *path)];
}

static bool short_path(const char *path) { return path && *path && strlen(path) < 100; }

static const char *call_save(session *s)
{
    const char *path = path_of(s);
    if (path && strcmp(path, "missing") == 0) path = "a";
    TELL(s, "save %.10s", path ? path : "NULL");
    begin(s);
    hd_status got = hd_save(s->x->t, path);
    return end(s, "hd_save", got,
               short_path(path) ? HD_OK
               : !path          ? HD_EINVAL
               : got == HD_EIO  ? HD_EIO
                                : HD_EINVAL,
               true);
}

/* What a load of that file must say; the file is sound, since only hd_save wrote it. */
static hd_status of_file(const session *s, const char *path, const char *backend, const one *to)
{
    if (!path) return HD_EINVAL;
    judge_shelf_file *file = judge_shelf_find((judge_shelf *)(uintptr_t)&s->w.shelf, path);
    if (!file) return HD_EIO;
    const uint8_t *p = file->bytes;
    uint32_t value_bytes = (uint32_t)p[60] | (uint32_t)p[61] << 8; /* doc/snapshot.md */
    const char *policy = (const char *)p + (p[8] == 2 ? 256 : 32);
    if (!hd_backend_named(hd_design_named((const char *)p + 16), backend)) return HD_EINVAL;
    return !to || (strncmp((const char *)p + 16, to->c.design, 16) == 0 && strcmp(policy, to->c.policy) == 0 &&
                   value_bytes == to->c.value_bytes)
               ? HD_STATUS_COUNT
               : HD_EINVAL;
}

static const char *call_load(session *s)
{
    uint64_t dropped = 0;
    const char *path = path_of(s);
    hd_status wanted = of_file(s, path, s->x->c.backend, s->x);
    TELL(s, "load %.10s", path ? path : "NULL");
    begin(s);
    return end(s, "hd_load", hd_load(s->x->t, path, &dropped), wanted, false);
}

static const char *call_open_snapshot(session *s)
{
    hd_table *t = NULL;
    hd_info info;
    close_table(s->x);
    const char *path = path_of(s);
    hd_config some = some_config(s), c = hd_config_default(); /* a file decides the rest */
    c.lock = some.lock;
    c.backend = some.backend;
    c.threads = some.threads;
    c.seams = some.seams;
    c.now = some.now;
    c.now_context = some.now_context;
    hd_status wanted = of_file(s, path, c.backend, NULL);
    TELL(s, "open_snapshot %.10s", path ? path : "NULL");
    begin(s);
    hd_status got = hd_open_snapshot(path, &c, &t);
    if (!got && !hd_table_info(t, &info)) {
        c.design = info.design;
        c.policy = is_dictionary(&c) ? info.policy : fuzz_policy(info.policy);
        c.value_bytes = info.value_bytes;
    }
    s->x->c = c;
    return opened(s, t, "hd_open_snapshot", got, wanted);
}

static const char *step(session *s)
{
    enum { RESIZES = 208, LIMITS = 248 }; /* from this byte on what would run a batch resizes; or changes a limit */
    uint8_t what = feed_byte(&s->f);
    s->x = &s->table[what & 1];
    s->resizes = false;
    TELL(s, "\n  %d: ", what & 1);
    if (!s->x->t) return what / 2 % 16 == 15 ? call_open_snapshot(s) : call_open(s);
    look(s->x, &s->x->before);
    if (what >= LIMITS) return call_set_near(s);
    if (what >= RESIZES && what / 2 % 16 < 9) return what & 2 ? call_shrink(s) : call_run_growing(s);
    switch (what / 2 % 16) {
    case 9: return call_grow(s);
    case 10: return call_reserve(s);
    case 11: return call_small(s);
    case 12: return call_save(s);
    case 13: return call_load(s);
    case 14: return call_open(s);
    case 15: return call_open_snapshot(s);
    default: return call_run(s);
    }
}

static const char *run_told(const uint8_t *bytes, size_t n, uint64_t *steps, fuzz_text *t)
{
    static const char *const files[] = { "a", "b", NULL };
    session s;
    memset(&s, 0, sizeof s);
    fuzz_world_open(&s.w);
    s.w.live_most = MEMORY_MOST;
    s.f = feed_of(bytes, n);
    s.text = t;
    if (t) fuzz_put(t, "calls:");
    const char *why = NULL;
    int i = 0;
    for (; i < STEPS && !why && feed_more(&s.f); i++) why = step(&s);
    *steps += (uint64_t)i;
    why = why ? fuzz_say("call %d: %s", i - 1, why) : NULL;
    for (int k = 0; k < TABLES; k++) close_table(&s.table[k]);
    const char *left = fuzz_world_close(&s.w, files);
    return why ? why : left;
}

static const char *run(const uint8_t *bytes, size_t n, uint64_t *steps) { return run_told(bytes, n, steps, NULL); }

static size_t tell(const uint8_t *bytes, size_t n, char *text, size_t room)
{
    return fuzz_tell_run(run_told, bytes, n, text, room);
}

const fuzz_target fuzz_api = { "api",
                               "calls of the library, right and wrong, with memory refused and files failing: the "
                               "documented status, nothing changed when refused",
                               MOST,
                               70,
                               run,
                               tell,
                               NULL };

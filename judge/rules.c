/* SPDX-License-Identifier: Apache-2.0
 *
 * rules.c - doc/contract.md and doc/contract-hkv.md as tables and a few lines of arithmetic.
 */
#include "judge/rules.h"

#include <math.h>
#include <string.h>

#include "judge/trusted_rows.h"

/* clang-format off */
const judge_op judge_ops[HD_OP_COUNT_] = {
    [HD_OP_FIND] = { .keyed = true, .reads = true, .value_out = true, .score_out = true, .present = HD_HIT },
    [HD_OP_CONTAINS] = { .keyed = true, .reads = true, .present = HD_HIT },
    [HD_OP_FIND_PTR] = { .keyed = true, .reads = true, .score_out = true, .ptr_out = true, .present = HD_HIT },
    [HD_OP_FIND_MISSED] = { .keyed = true, .reads = true, .value_out = true, .score_out = true, .list = true,
      .present = HD_HIT },
    [HD_OP_TOUCH] = { .keyed = true, .changes = true, .rescores = true, .value_out = true, .score_out = true,
      .ptr_out = true, .present = HD_HIT },
    [HD_OP_ASSIGN] = { .keyed = true, .changes = true, .rescores = true, .value_in = true, .present = HD_UPDATED },
    [HD_OP_ASSIGN_VALUES] = { .keyed = true, .changes = true, .value_in = true, .present = HD_UPDATED },
    [HD_OP_ASSIGN_SCORES] = { .keyed = true, .changes = true, .rescores = true, .present = HD_UPDATED },
    [HD_OP_ACCUM_OR_ASSIGN] = { .keyed = true, .enters = true, .changes = true, .rescores = true,
      .present = HD_UPDATED },
    [HD_OP_INSERT_OR_ASSIGN] = { .keyed = true, .enters = true, .changes = true, .rescores = true, .value_in = true,
      .present = HD_UPDATED },
    [HD_OP_INSERT_AND_EVICT] = { .keyed = true, .enters = true, .changes = true, .rescores = true, .value_in = true,
      .list = true, .present = HD_UPDATED },
    [HD_OP_FIND_OR_INSERT] = { .keyed = true, .enters = true, .changes = true, .rescores = true, .value_out = true,
      .score_out = true, .may_pin = true, .present = HD_HIT },
    [HD_OP_FIND_OR_INSERT_PTR] = { .keyed = true, .enters = true, .changes = true, .rescores = true, .ptr_out = true,
      .may_pin = true, .present = HD_HIT },
    [HD_OP_LOCK_KEYS] = { .keyed = true, .ptr_out = true, .present = HD_HIT },
    [HD_OP_UNLOCK_KEYS] = { .keyed = true, .present = HD_HIT },
    [HD_OP_ERASE] = { .keyed = true, .changes = true, .present = HD_ERASED },
    [HD_OP_ERASE_IF] = { .changes = true, .predicate = true },
    [HD_OP_EXPORT] = { .reads = true, .list = true, .range = true },
    [HD_OP_EXPORT_IF] = { .reads = true, .list = true, .range = true, .predicate = true },
    [HD_OP_SIZE] = { .reads = true },
    [HD_OP_SIZE_IF] = { .reads = true, .predicate = true },
    [HD_OP_CLEAR] = { .changes = true },
    [HD_OP_PROMOTE] = { .changes = true, .range = true },
    [HD_OP_PREDECESSOR] = { .keyed = true, .reads = true, .value_out = true, .order = JUDGE_BELOW, .present = HD_HIT },
    [HD_OP_SUCCESSOR] = { .keyed = true, .reads = true, .value_out = true, .order = JUDGE_ABOVE, .present = HD_HIT },
    [HD_OP_RANGE] = { .keyed = true, .reads = true, .value_out = true, .order = JUDGE_BETWEEN, .present = HD_HIT },
    [HD_OP_MIN] = { .reads = true, .order = JUDGE_LEAST },
    [HD_OP_MAX] = { .reads = true, .order = JUDGE_GREATEST },
};
/* clang-format on */

bool judge_raw(const hd_batch *b) { return b->raw_scores && !b->each && judge_scores_items(&judge_ops[b->op]); }

hd_op judge_op_named(const char *name)
{
    int op = 0;
    while (op < HD_OP_COUNT_ && strcmp(name, hd_op_name((hd_op)op)) != 0) op++;
    return (hd_op)op;
}

uint64_t judge_keyed_ops(hd_op *op)
{
    uint64_t n = 0;
    for (int o = 0; o < HD_OP_COUNT_; o++)
        if (judge_ops[o].keyed) op[n++] = (hd_op)o;
    return n;
}

hd_op judge_item_op(const hd_batch *b, uint64_t i) { return b->each ? (hd_op)b->each[i] : b->op; }
bool judge_keyed_batch(const hd_batch *b) { return b->each || judge_ops[b->op].keyed; }
const char *judge_batch_name(const hd_batch *b) { return b->each ? "mixed" : hd_op_name(b->op); }

judge_found judge_finds(hd_op op, hd_outcome o)
{
    switch (o) {
    case HD_HIT:
    case HD_UPDATED:
    case HD_ERASED:
    case HD_PINNED: return JUDGE_PRESENT;
    case HD_MISS: return op == HD_OP_UNLOCK_KEYS ? JUDGE_EITHER : JUDGE_ABSENT;
    default: return JUDGE_ABSENT;
    }
}

uint8_t judge_found_byte(const hd_batch *b, uint64_t i)
{
    uint8_t byte;
    memcpy(&byte, &b->found[i], sizeof byte);
    return byte;
}

uint8_t judge_more_byte(const hd_batch *b, uint64_t i)
{
    uint8_t byte;
    memcpy(&byte, &b->more[i], sizeof byte);
    return byte;
}

judge_order judge_order_of(const hd_batch *b) { return b->each ? JUDGE_UNORDERED : judge_ops[b->op].order; }

uint64_t judge_rows_out(const hd_batch *b)
{
    judge_order order = judge_order_of(b);
    return order == JUDGE_LEAST || order == JUDGE_GREATEST ? 1 : order == JUDGE_BETWEEN ? b->n * b->limit : b->n;
}

bool judge_delivers(hd_op op, hd_outcome o)
{
    const judge_op *r = &judge_ops[op];
    return (r->value_out || r->score_out) && (o == HD_HIT || (o == HD_PINNED && r->changes));
}

bool judge_delivers_ptr(hd_op op, hd_outcome o)
{
    if (!judge_ops[op].ptr_out) return false;
    if (o == HD_HIT || (o == HD_PINNED && op != HD_OP_FIND_PTR)) return true;
    return op == HD_OP_FIND_OR_INSERT_PTR && (o == HD_INSERTED || o == HD_EVICTED || o == HD_REFUSED);
}

/* ---- Policies -------------------------------------------------------------------------------- */

bool judge_policy_find(const char *name, judge_policy *p)
{
    static const char *const names[JUDGE_EXPRESSION] = { "lru",    "lfu",  "epoch_lru",  "epoch_lfu",
                                                         "custom", "fifo", "epoch_fifo", "none" };
    memset(p, 0, sizeof *p);
    for (uint32_t i = 0; i < JUDGE_EXPRESSION; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        p->rule = i;
        return true;
    }
    uint32_t row;
    p->rule = JUDGE_EXPRESSION;
    if (judge_expression_read(name, &p->expression)) return true;
    if (!judge_borrow_policy(name, &row)) return false;
    p->rule = JUDGE_POLICIES + row;
    return true;
}

bool judge_policy_borrowed(const judge_policy *p) { return p->rule >= JUDGE_POLICIES; }
static uint32_t row_of(const judge_policy *p) { return p->rule - JUDGE_POLICIES; }

bool judge_policy_needs_scores(const judge_policy *p)
{
    return judge_policy_borrowed(p) ? judge_borrow_needs_scores(row_of(p)) : p->rule == JUDGE_CUSTOM;
}

bool judge_policy_keeps_order(const judge_policy *p)
{
    const char *text = p->expression.text;
    if (judge_policy_borrowed(p)) return judge_borrow_keeps_order(row_of(p));
    return p->rule == JUDGE_EXPRESSION &&
           (strstr(text, "on_evict") || strstr(text, "least") || strstr(text, "spared") || strstr(text, "upper_first"));
}

bool judge_policy_has_queues(const judge_policy *p)
{
    if (judge_policy_borrowed(p)) return judge_borrow_has_queues(row_of(p));
    return p->rule == JUDGE_EXPRESSION && strstr(p->expression.text, "upper_first");
}

static uint64_t with_epoch(uint32_t epoch, uint64_t low) { return ((uint64_t)epoch << 32) + low; }

static uint64_t sum_up_to(uint64_t most, uint64_t a, uint64_t b)
{
    if (a > most || b > most) return most;
    return a > most - b ? most : a + b;
}

uint64_t judge_tick(uint64_t now_ns, uint64_t opened_ns)
{
    const uint64_t tick_ns = 1 << 20, round_ns = tick_ns << 32;
    uint64_t first_ns = opened_ns - opened_ns % round_ns;
    return now_ns < first_ns ? 0 : (now_ns - first_ns) / tick_ns;
}

uint64_t judge_score_hit(const judge_policy *p, uint64_t old, judge_score_in in)
{
    if (judge_policy_borrowed(p)) return judge_borrow_hit(row_of(p), old, in);
    switch (p->rule) {
    case JUDGE_LRU: return in.now;
    case JUDGE_LFU: return sum_up_to(UINT64_MAX, old, in.given);
    case JUDGE_EPOCH_LRU: return sum_up_to(UINT64_MAX, with_epoch(in.epoch, 0), in.tick);
    case JUDGE_EPOCH_LFU: return with_epoch(in.epoch, sum_up_to(UINT32_MAX, old % 0x100000000u, in.given));
    case JUDGE_FIFO: return old;
    case JUDGE_EPOCH_FIFO: return old >> 32 >= in.epoch ? old : with_epoch(in.epoch, old % 0x100000000u);
    case JUDGE_NONE: return 0;
    case JUDGE_EXPRESSION: return judge_expression_value(&p->expression, "on_hit", old, in);
    default: return in.given;
    }
}

/* A new entry scores like an entry that was never used and is hit once. Where hits keep a score it is the time of the
 * insert instead. */
uint64_t judge_score_new(const judge_policy *p, judge_score_in in)
{
    static const judge_policy lru = { .rule = JUDGE_LRU }, epoch_lru = { .rule = JUDGE_EPOCH_LRU };
    if (judge_policy_borrowed(p)) return judge_borrow_new(row_of(p), in);
    if (p->rule == JUDGE_EXPRESSION) return judge_expression_value(&p->expression, "on_insert", 0, in);
    if (p->rule == JUDGE_FIFO) return judge_score_hit(&lru, 0, in);
    if (p->rule == JUDGE_EPOCH_FIFO) return judge_score_hit(&epoch_lru, 0, in);
    return judge_score_hit(p, 0, in);
}

uint64_t judge_admission(const judge_policy *p, judge_score_in in)
{
    if (judge_policy_borrowed(p)) return judge_borrow_admission(row_of(p), in);
    if (p->rule == JUDGE_EXPRESSION) return judge_expression_value(&p->expression, "admission", 0, in);
    return p->rule == JUDGE_LFU ? UINT64_MAX : judge_score_new(p, in);
}

static bool admission_counts(const judge_policy *p)
{
    if (judge_policy_borrowed(p)) return judge_borrow_counts(row_of(p));
    return p->rule == JUDGE_EXPRESSION && strstr(p->expression.text, "freq");
}

uint64_t judge_admission_bound(const judge_policy *p, judge_score_in in, bool greatest)
{
    enum { COUNTS = 16 };
    uint64_t bound = judge_admission(p, in);
    for (in.freq = 0; admission_counts(p) && in.freq < COUNTS; in.freq++)
        for (in.freq_old = 0; in.freq_old < COUNTS; in.freq_old++) {
            uint64_t one = judge_admission(p, in);
            if (greatest ? one > bound : one < bound) bound = one;
        }
    return bound;
}

uint64_t judge_score_spared(const judge_policy *p, uint64_t old, judge_score_in in)
{
    if (judge_policy_borrowed(p)) return judge_borrow_evict(row_of(p), old, in);
    return p->rule == JUDGE_EXPRESSION ? judge_expression_value(&p->expression, "on_evict", old, in) : old;
}

/* ---- Predicates ------------------------------------------------------------------------------ */

int judge_holds(const char *pred, const uint64_t arg[2], uint64_t key, uint64_t score, const uint8_t *value,
                uint32_t bytes)
{
    if (strcmp(pred, "all") == 0) return 1;
    if (strcmp(pred, "score_below") == 0) return score < arg[0];
    if (strcmp(pred, "score_in") == 0) return !(score < arg[0] || score > arg[1]);
    if (strcmp(pred, "key_in") == 0) return !(key < arg[0] || key > arg[1]);
    if (strcmp(pred, "key_masked") == 0) return ((key & arg[0]) ^ arg[1]) == 0;
    if (strcmp(pred, "value_zero") == 0) {
        uint32_t zeros = 0;
        while (zeros < bytes && value[zeros] == 0) zeros++;
        return zeros == bytes;
    }
    return judge_borrow_holds(pred, arg, key, score, value, bytes);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

uint32_t judge_elem_bytes(hd_elem e)
{
    switch (e) {
    case HD_I8:
    case HD_U8: return 1;
    case HD_F16:
    case HD_BF16:
    case HD_I16: return 2;
    case HD_F32:
    case HD_I32: return 4;
    default: return 8;
    }
}

/* The small float formats by their definition, sign x mantissa x 2^exponent, in floating point arithmetic: slow, and
 * independent of the bit operations it is compared with. `fraction` bits, exponents from `least`. */
typedef struct small_float {
    int fraction, exponent_bits;
} small_float;

static const small_float half = { 10, 5 }, brain = { 7, 8 };

static float widen_small(small_float f, uint16_t bits)
{
    int bias = (1 << (f.exponent_bits - 1)) - 1;
    int exponent = (bits >> f.fraction) & ((1 << f.exponent_bits) - 1);
    int mantissa = bits & ((1 << f.fraction) - 1);
    float size;
    if (exponent == (1 << f.exponent_bits) - 1)
        size = mantissa ? NAN : INFINITY;
    else if (exponent == 0)
        size = ldexpf((float)mantissa, 1 - bias - f.fraction);
    else
        size = ldexpf((float)(mantissa + (1 << f.fraction)), exponent - bias - f.fraction);
    return bits >> 15 ? -size : size;
}

static uint16_t narrow_small(small_float f, float x)
{
    int bias = (1 << (f.exponent_bits - 1)) - 1, top = (1 << f.exponent_bits) - 1;
    unsigned sign = signbit(x) ? 0x8000u : 0;
    double size = fabs((double)x);
    if (isnan(x)) return (uint16_t)(sign | (unsigned)(top << f.fraction) | 1u << (f.fraction - 1));
    if (isinf(x)) return (uint16_t)(sign | (unsigned)(top << f.fraction));
    int exponent = size > 0 ? ilogb(size) : -bias;
    if (exponent < 1 - bias) exponent = 1 - bias;
    double units = nearbyint(ldexp(size, f.fraction - exponent)); /* ties to even */
    if (units >= ldexp(1, f.fraction + 1)) units /= 2, exponent++;
    if (exponent + bias >= top) return (uint16_t)(sign | (unsigned)(top << f.fraction));
    if (units < ldexp(1, f.fraction)) return (uint16_t)(sign | (unsigned)units); /* subnormal or zero */
    unsigned mantissa = (unsigned)(units - ldexp(1, f.fraction));
    return (uint16_t)(sign | (unsigned)(exponent + bias) << f.fraction | mantissa);
}

static void add_small(small_float f, uint8_t *sum, const uint8_t *add)
{
    uint16_t a, b;
    memcpy(&a, sum, sizeof a);
    memcpy(&b, add, sizeof b);
    a = narrow_small(f, widen_small(f, a) + widen_small(f, b));
    memcpy(sum, &a, sizeof a);
}

static double real_at(const uint8_t *p, hd_elem e)
{
    float narrow;
    double wide;
    if (e == HD_F64) return memcpy(&wide, p, sizeof wide), wide;
    return memcpy(&narrow, p, sizeof narrow), (double)narrow;
}

/* A double has more than twice the digits of a float: to round the sum of two floats twice is to round it once. */
static void add_real(hd_elem e, uint8_t *sum, const uint8_t *add)
{
    double wide = real_at(sum, e) + real_at(add, e);
    float narrow = e == HD_F64 ? 0 : (float)wide;
    if (e == HD_F64) memcpy(sum, &wide, sizeof wide);
    if (e == HD_F32) memcpy(sum, &narrow, sizeof narrow);
}

hd_elem judge_elem_that_fits(hd_elem e, uint32_t value_bytes)
{
    while (value_bytes % judge_elem_bytes(e)) e = (hd_elem)(((int)e + 1) % HD_ELEM_COUNT);
    return e;
}

/* Two's complement sums do not depend on the sign: one carry chain over little-endian bytes. */
static void add_whole(uint8_t *sum, const uint8_t *add, uint32_t bytes)
{
    unsigned carry = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        carry += (unsigned)sum[i] + add[i];
        sum[i] = (uint8_t)carry;
        carry >>= 8;
    }
}

/* f32 and f64: -64 to 63; f16: -4 to 3; bf16, which has eight bits for a number: -1 to 1, mostly 0. */
static uint64_t small_whole(hd_elem e, uint64_t bits)
{
    static const float few[4] = { 0, 1, -1, 0 };
    float x = (float)(int)(bits & 127) - 64;
    double wide = (double)x;
    uint32_t word;
    if (e == HD_F64) return memcpy(&bits, &wide, sizeof bits), bits;
    if (e == HD_F16) return narrow_small(half, (float)(int)(bits & 7) - 4);
    if (e == HD_BF16) return narrow_small(brain, few[bits & 3]);
    memcpy(&word, &x, sizeof word);
    return word;
}

uint64_t judge_summable(hd_elem e, uint64_t word)
{
    uint64_t all = 0;
    uint32_t bits = 8 * judge_elem_bytes(e);
    if (e != HD_F32 && e != HD_F64 && e != HD_F16 && e != HD_BF16) return word;
    for (uint32_t at = 0; at < 64; at += bits) all |= small_whole(e, word >> at) << at;
    return all;
}

void judge_add(hd_elem e, uint8_t *sum, const uint8_t *add, uint32_t bytes)
{
    uint32_t step = judge_elem_bytes(e);
    for (uint32_t at = 0; at + step <= bytes; at += step) {
        switch (e) {
        case HD_F32:
        case HD_F64: add_real(e, sum + at, add + at); break;
        case HD_F16: add_small(half, sum + at, add + at); break;
        case HD_BF16: add_small(brain, sum + at, add + at); break;
        default: add_whole(sum + at, add + at, step);
        }
    }
}

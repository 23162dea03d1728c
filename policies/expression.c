/* SPDX-License-Identifier: Apache-2.0
 *
 * expression.c - reads expressions into nodes, prints them, and compiles them to steps.
 */
#include "policies/expression.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "policies/claims.h"
#include "policies/nodes.h"

/* ---- Words ----------------------------------------------------------------------------------- */

static const char *const functions[HD_FUNCTIONS] = { "on_insert",   "on_hit",   "admission", "on_evict",
                                                     "upper_first", "remember", "forget",    "next_state" };

/* A function may read an input: 1 << HD_ON_INSERT, and so on. */
enum {
    BY_ALL = (1 << HD_FUNCTIONS) - 1,
    BY_OLD = 1 << HD_ON_HIT | 1 << HD_ON_EVICT | 1 << HD_REMEMBER,
    BY_LEAST = 1 << HD_ON_INSERT,
    BY_BUCKET = BY_ALL & ~(1 << HD_ON_HIT | 1 << HD_ADMISSION),
    BY_COUNTS = BY_ALL & ~(1 << HD_ON_HIT),
    BY_GONE = 1 << HD_ON_EVICT | 1 << HD_REMEMBER | 1 << HD_ADMISSION,
    BY_RIVAL = 1 << HD_ON_EVICT
};

typedef struct input_row {
    const char *name;
    uint32_t of; /* the operand */
    uint32_t by;
    const char *what; /* NULL: all functions may read it */
} input_row;

static const char of_bucket[] = "it is known when a bucket takes a new entry";
static const char of_gone[] = "it is known of an entry that may leave";

static const input_row inputs[] = {
    { "old", HD_OF_OLD, BY_OLD, "it is the score before a hit, or of the entry that leaves" },
    { "given", HD_OF_GIVEN, BY_ALL, NULL },
    { "now", HD_OF_NOW, BY_ALL, NULL },
    { "tick", HD_OF_TICK, BY_ALL, NULL },
    { "epoch", HD_OF_EPOCH, BY_ALL, NULL },
    { "least", HD_OF_LEAST, BY_LEAST, "it is the least score that stays in the bucket of a new entry" },
    { "spared", HD_OF_SPARED, BY_BUCKET, "it is how many entries an eviction has spared" },
    { "slots", HD_OF_BUCKET_SLOTS, BY_BUCKET, of_bucket },
    { "full", HD_OF_FULL, BY_BUCKET, of_bucket },
    { "upper", HD_OF_UPPER, BY_BUCKET, of_bucket },
    { "state", HD_OF_STATE, BY_BUCKET, of_bucket },
    { "ghost", HD_OF_GHOST, BY_BUCKET, of_bucket },
    { "ghosts1", HD_OF_GHOSTS1, BY_BUCKET, of_bucket },
    { "ghosts2", HD_OF_GHOSTS2, BY_BUCKET, of_bucket },
    { "middle", HD_OF_MIDDLE, BY_BUCKET, of_bucket },
    { "freq", HD_OF_FREQ, BY_COUNTS, of_bucket },
    { "freq_old", HD_OF_FREQ_OLD, BY_GONE, of_gone },
    { "freq_rival", HD_OF_FREQ_RIVAL, BY_RIVAL, of_gone },
};
enum { INPUTS = sizeof inputs / sizeof *inputs };

typedef struct sign_row {
    const char *sign; /* of min, max, log2 and exp2: the name */
    uint32_t binds;   /* 0: a function. As in C, the higher, the closer */
} sign_row;

/* By operation, from HD_STEP_ADD on. */
static const sign_row operators[] = {
    { "+", 8 }, { "-", 8 },  { "*", 9 },  { "/", 9 },  { "%", 9 },    { "min", 0 },  { "max", 0 },
    { "&", 4 }, { "|", 2 },  { "^", 3 },  { "<<", 7 }, { ">>", 7 },   { "<", 6 },    { "<=", 6 },
    { ">", 6 }, { ">=", 6 }, { "==", 5 }, { "!=", 5 }, { "log2", 0 }, { "exp2", 0 },
};
enum { OPERATORS = sizeof operators / sizeof *operators };
_Static_assert(HD_STEP_ADD + OPERATORS == HD_STEP_SAVE, "every binary operation has its sign");

static const sign_row *operator_of(uint32_t operation)
{
    HD_ASSERT(operation >= HD_STEP_ADD && operation < HD_STEP_SAVE, "a node is no binary operation");
    return &operators[operation - HD_STEP_ADD];
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct reading {
    const char *text, *at;
    hd_nodes *all;
    uint32_t function;
    hd_status status; /* the first failure; what is read after it means nothing */
} reading;

static void expect(reading *r, const char *what)
{
    if (r->status) return;
    char found[32] = "the end";
    if (*r->at) snprintf(found, sizeof found, "'%.12s'", r->at);
    r->status =
        hd_fail(HD_EINVAL, "policy: column %zu: expected %s, found %s", (size_t)(r->at - r->text) + 1, what, found);
}

static void skip_blanks(reading *r) { r->at += strspn(r->at, " \t"); }

/* Takes the sign if it is next. */
static bool take(reading *r, const char *sign)
{
    skip_blanks(r);
    size_t n = strlen(sign);
    if (strncmp(r->at, sign, n) != 0) return false;
    r->at += n;
    return true;
}

static void need(reading *r, const char *sign, const char *what)
{
    if (!r->status && !take(r, sign)) expect(r, what);
}

/* The length of the name that is next; 0: there is none. */
static size_t name_length(reading *r)
{
    skip_blanks(r);
    return strspn(r->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
}

static bool is_name(const reading *r, size_t n, const char *name)
{
    return strlen(name) == n && memcmp(r->at, name, n) == 0;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

static uint32_t read_number(reading *r, size_t n)
{
    bool hex = n > 2 && r->at[0] == '0' && r->at[1] == 'x';
    uint64_t base = hex ? 16 : 10, value = 0;
    for (size_t i = hex ? 2 : 0; i < n; i++) {
        uint64_t digit = (uint64_t)digit_of(r->at[i]);
        if (digit >= base || value > (UINT64_MAX - digit) / base) {
            expect(r, "a number of at most 2^64-1, decimal or 0x");
            return 0;
        }
        value = value * base + digit;
    }
    r->at += n;
    return hd_node_constant(r->all, value);
}

static uint32_t read_value(reading *r);

/* min(a,b) or log2(a); the name is read. */
static uint32_t read_call(reading *r, uint32_t operation)
{
    need(r, "(", "'('");
    uint32_t a = read_value(r), b = hd_node_constant(r->all, 0);
    if (!hd_step_is_unary(operation)) {
        need(r, ",", "','");
        b = read_value(r);
    }
    need(r, ")", "')'");
    return hd_node_binary(r->all, operation, a, b);
}

static uint32_t read_input(reading *r, const input_row *input, size_t n)
{
    if (!(input->by >> r->function & 1) && !r->status)
        r->status = hd_fail(HD_EINVAL, "policy: column %zu: expected no '%s' in %s: %s", (size_t)(r->at - r->text) + 1,
                            input->name, functions[r->function], input->what);
    r->at += n;
    return hd_node_input(r->all, input->of);
}

static uint32_t read_name(reading *r, size_t n)
{
    for (uint32_t i = 0; i < INPUTS; i++)
        if (is_name(r, n, inputs[i].name)) return read_input(r, &inputs[i], n);
    for (uint32_t i = 0; i < OPERATORS; i++)
        if (operators[i].binds == 0 && is_name(r, n, operators[i].sign)) {
            r->at += n;
            return read_call(r, HD_STEP_ADD + i);
        }
    if (is_name(r, n, "MAX")) {
        r->at += n;
        return hd_node_constant(r->all, UINT64_MAX);
    }
    expect(r, "old, given, now, tick, epoch, least, spared, an input of a bucket with queues, MAX, min(, max(, log2(, "
              "exp2( or a number");
    return 0;
}

static uint32_t read_primary(reading *r)
{
    if (r->status) return 0;
    size_t n = name_length(r);
    if (n) return digit_of(*r->at) < 10 ? read_number(r, n) : read_name(r, n);
    if (take(r, "~")) return hd_node_binary(r->all, HD_STEP_XOR, read_primary(r), hd_node_constant(r->all, UINT64_MAX));
    if (!take(r, "(")) {
        expect(r, "a value");
        return 0;
    }
    uint32_t value = read_value(r);
    need(r, ")", "')' or an operator");
    return value;
}

/* The operation of the sign that is next, if it binds so closely; OPERATORS: none. The longest sign counts. */
static uint32_t next_operator(reading *r, uint32_t binds)
{
    uint32_t found = OPERATORS;
    skip_blanks(r);
    for (uint32_t i = 0; i < OPERATORS; i++) {
        size_t n = strlen(operators[i].sign), longest = found < OPERATORS ? strlen(operators[found].sign) : 0;
        if (operators[i].binds && n > longest && strncmp(r->at, operators[i].sign, n) == 0) found = i;
    }
    return found < OPERATORS && operators[found].binds >= binds ? found : OPERATORS;
}

/* Operators that bind at least so closely; those of one closeness from left to right. */
static uint32_t read_operators(reading *r, uint32_t binds)
{
    uint32_t a = read_primary(r);
    for (uint32_t i; !r->status && (i = next_operator(r, binds)) < OPERATORS;) {
        r->at += strlen(operators[i].sign);
        a = hd_node_binary(r->all, HD_STEP_ADD + i, a, read_operators(r, operators[i].binds + 1));
    }
    return a;
}

/* c ? a : b, which binds least. */
static uint32_t read_value(reading *r)
{
    uint32_t a = read_operators(r, 1);
    if (r->status || !take(r, "?")) return a;
    uint32_t then = read_value(r);
    need(r, ":", "':' or an operator");
    return hd_node_select(r->all, a, then, read_value(r));
}

enum { NOT_GIVEN = UINT32_MAX };

static void read_function(reading *r, uint32_t function[])
{
    size_t n = name_length(r);
    for (r->function = 0; r->function < HD_FUNCTIONS && !is_name(r, n, functions[r->function]);) r->function++;
    if (r->function == HD_FUNCTIONS || function[r->function] != NOT_GIVEN) {
        expect(r, r->function == HD_FUNCTIONS
                      ? "on_insert=, on_hit=, admission=, on_evict=, upper_first=, remember=, forget= or next_state="
                      : "each function once");
        return;
    }
    r->at += n;
    need(r, "=", "'='");
    function[r->function] = read_value(r);
}

/* What a function without a text is. Those of queues have no steps then: 0. */
static uint32_t usual_function(hd_nodes *all, uint32_t f, uint32_t insert)
{
    if (f == HD_ON_EVICT) return hd_node_input(all, HD_OF_OLD);
    return f > HD_ON_EVICT ? 0 : insert;
}

/* Whether an expression reads what only a bucket that takes a new entry has. */
static bool reads_bucket(const hd_nodes *all, uint32_t n)
{
    for (size_t i = 0; i < INPUTS; i++)
        if (inputs[i].by != BY_ALL && inputs[i].of != HD_OF_OLD && hd_node_reads(all, n, inputs[i].of)) return true;
    return false;
}

/* Queues need the function that chooses between them, and it alone makes them; so do ghosts and states. */
static hd_status check_queues(const hd_nodes *all, const uint32_t function[])
{
    bool of_queues = false, of_ghosts = function[HD_REMEMBER] || function[HD_NEXT_STATE];
    for (uint32_t of = HD_OF_BUCKET_SLOTS; of < HD_OF_CONSTANT; of++)
        for (int f = 0; f < HD_FUNCTIONS; f++) of_queues = of_queues || hd_node_reads(all, function[f], of);
    if ((of_queues || of_ghosts || function[HD_FORGET]) && !function[HD_UPPER_FIRST])
        return hd_fail(HD_EINVAL, "policy: upper_first= is needed: the policy reads or keeps what a bucket with queues "
                                  "has");
    if (function[HD_FORGET] && !function[HD_REMEMBER])
        return hd_fail(HD_EINVAL, "policy: remember= is needed: without it there is nothing to forget");
    return HD_OK;
}

/* The node of each function. */
static hd_status read_functions(const char *text, hd_nodes *all, uint32_t function[])
{
    reading r = { text, text + strlen(HD_EXPRESSION_PREFIX), all, 0, HD_OK };
    for (int f = 0; f < HD_FUNCTIONS; f++) function[f] = NOT_GIVEN;
    do read_function(&r, function);
    while (!r.status && take(&r, ";"));
    skip_blanks(&r);
    if (*r.at) expect(&r, "an operator, ';' or the end");
    if (function[HD_ON_INSERT] == NOT_GIVEN) expect(&r, "';on_insert=', which has no default");
    for (uint32_t f = 0; f < HD_FUNCTIONS; f++) {
        if (r.status || function[f] != NOT_GIVEN) continue;
        function[f] = usual_function(all, f, function[HD_ON_INSERT]);
        if (f < HD_ON_EVICT && reads_bucket(all, function[f]))
            return hd_fail(HD_EINVAL,
                           "policy: %s= is needed: its default is on_insert, which reads what only a new "
                           "entry has",
                           functions[f]);
    }
    return r.status ? r.status : check_queues(all, function);
}

/* ---- Printing -------------------------------------------------------------------------------- */

typedef struct printing {
    char *text;
    size_t used; /* the length that it would need */
} printing;

static void put(printing *p, const char *words)
{
    size_t n = strlen(words);
    if (p->used + n < HD_PROGRAM_TEXT) memcpy(p->text + p->used, words, n + 1);
    p->used += n;
}

static void put_node(printing *p, const hd_nodes *all, uint32_t number, bool inside);

static void put_leaf(printing *p, const hd_node *n)
{
    char digits[24] = "MAX";
    if (n->least != UINT64_MAX) snprintf(digits, sizeof digits, "%" PRIu64, n->least);
    uint32_t i = 0;
    while (n->of != HD_OF_CONSTANT && inputs[i].of != n->of) i++;
    put(p, n->of == HD_OF_CONSTANT ? digits : inputs[i].name);
}

static void put_binary(printing *p, const hd_nodes *all, const hd_node *n, bool inside)
{
    const sign_row *o = operator_of(n->operation);
    bool call = o->binds == 0;
    if (call) put(p, o->sign);
    if (call || inside) put(p, "(");
    put_node(p, all, n->child[0], !call);
    if (!hd_step_is_unary(n->operation)) {
        put(p, call ? "," : o->sign);
        put_node(p, all, n->child[1], !call);
    }
    if (call || inside) put(p, ")");
}

/* inside: beside an operator, which might bind more closely. */
static void put_node(printing *p, const hd_nodes *all, uint32_t number, bool inside)
{
    const hd_node *n = &all->node[number];
    if (n->operation == HD_STEP_LOAD) {
        put_leaf(p, n);
    } else if (n->operation == HD_STEP_SELECT) {
        if (inside) put(p, "(");
        put_node(p, all, n->child[0], true);
        put(p, "?");
        put_node(p, all, n->child[1], true);
        put(p, ":");
        put_node(p, all, n->child[2], true);
        if (inside) put(p, ")");
    } else {
        put_binary(p, all, n, inside);
    }
}

static hd_status print(const hd_nodes *all, const uint32_t function[], char *text)
{
    printing p = { text, 0 };
    put(&p, HD_EXPRESSION_PREFIX);
    for (int f = 0; f < HD_FUNCTIONS; f++) {
        if (f != HD_ON_INSERT && f < HD_ON_EVICT && function[f] == function[HD_ON_INSERT]) continue;
        if (f == HD_ON_EVICT && hd_node_is_input(all, function[f], HD_OF_OLD)) continue;
        if (f > HD_ON_EVICT && !function[f]) continue;
        if (f != HD_ON_INSERT) put(&p, ";");
        put(&p, functions[f]);
        put(&p, "=");
        put_node(&p, all, function[f], false);
    }
    if (p.used < HD_PROGRAM_TEXT) return HD_OK;
    return hd_fail(HD_EINVAL,
                   "policy: its expressions, written with all parentheses, have %zu characters; %d is the limit",
                   p.used, HD_PROGRAM_TEXT - 1);
}

/* ---- Compiling ------------------------------------------------------------------------------- */

typedef struct compiling {
    const hd_nodes *all;
    hd_program *program;
    uint32_t steps, constants, saved;
    hd_status status;
} compiling;

/* Adds a step. HD_STEP_SAVE: in the next place; an operand HD_OF_SAVED: what was saved last, which the step takes. */
static void emit(compiling *c, uint32_t operation, uint32_t of)
{
    uint32_t takes = (of == HD_OF_SAVED ? 1u : 0) + (operation == HD_STEP_SELECT ? 1u : 0);
    if (c->steps == HD_PROGRAM_STEPS && !c->status)
        c->status = hd_fail(HD_EINVAL, "policy: its expressions take more than %d steps", HD_PROGRAM_STEPS);
    if (operation == HD_STEP_SAVE && c->saved == HD_PROGRAM_SAVED && !c->status)
        c->status = hd_fail(HD_EINVAL, "policy: more than %d values of an expression wait for others; nest it less",
                            HD_PROGRAM_SAVED);
    if (c->status) return;
    HD_ASSERT(c->saved >= takes, "a step takes a value that was not saved");
    HD_ASSERT(of < HD_OF_CONSTANT + c->constants, "a step has an operand that the program lacks");
    if (of == HD_OF_SAVED) of += c->saved - 1;
    if (operation == HD_STEP_SAVE) operation += c->saved++;
    c->program->step[c->steps++] = (uint16_t)(operation | of << 8);
    c->saved -= takes;
}

static uint32_t constant_of(compiling *c, uint64_t value)
{
    uint32_t i = 0;
    while (i < c->constants && c->program->constant[i] != value) i++;
    if (i == HD_PROGRAM_CONSTANTS) {
        if (!c->status)
            c->status = hd_fail(HD_EINVAL, "policy: its expressions have more than %d different constants",
                                HD_PROGRAM_CONSTANTS);
        return 0;
    }
    c->program->constant[i] = value;
    c->constants += i == c->constants;
    return i;
}

static bool is_leaf(const compiling *c, uint32_t n) { return c->all->node[n].operation == HD_STEP_LOAD; }

static uint32_t operand(compiling *c, uint32_t number)
{
    const hd_node *n = &c->all->node[number];
    return n->of == HD_OF_CONSTANT ? HD_OF_CONSTANT + constant_of(c, n->least) : n->of;
}

/* The operation with its operands exchanged; HD_STEP_LOAD: there is none. */
static uint32_t exchanged(uint32_t operation)
{
    if (operation == HD_STEP_LT) return HD_STEP_GT;
    if (operation == HD_STEP_LE) return HD_STEP_GE;
    return hd_node_commutes(operation) ? operation : (uint32_t)HD_STEP_LOAD;
}

static void compile(compiling *c, uint32_t number, bool save);

/* The last step of an operation whose second operand is a leaf. A division by 2^n is a shift, and its remainder takes
 * the lowest bits: devices have no instruction that divides. */
static void emit_leaf(compiling *c, uint32_t operation, uint32_t number)
{
    uint64_t by = c->all->node[number].least, bits = 0;
    bool power = hd_node_is_constant(c->all, number) && by && (by & (by - 1)) == 0;
    while (by >> bits > 1) bits++;
    if (hd_step_is_unary(operation))
        emit(c, operation, HD_OF_NOW);
    else if (power && operation == HD_STEP_DIV)
        emit(c, HD_STEP_SHR, HD_OF_CONSTANT + constant_of(c, bits));
    else if (power && operation == HD_STEP_MOD)
        emit(c, HD_STEP_AND, HD_OF_CONSTANT + constant_of(c, by - 1));
    else
        emit(c, operation, operand(c, number));
}

static void compile_binary(compiling *c, const hd_node *n, bool save)
{
    uint32_t a = n->child[0], b = n->child[1], operation = n->operation;
    if (is_leaf(c, a) && !is_leaf(c, b) && exchanged(operation) != HD_STEP_LOAD) {
        a = n->child[1];
        b = n->child[0];
        operation = exchanged(operation);
    }
    if (!is_leaf(c, b)) {
        compile(c, b, save);
        compile(c, a, true);
        emit(c, operation, HD_OF_SAVED);
    } else {
        compile(c, a, save);
        emit_leaf(c, operation, b);
    }
}

/* Steps that leave the value in the accumulator. save: what is there now is still needed. */
static void compile(compiling *c, uint32_t number, bool save)
{
    const hd_node *n = &c->all->node[number];
    if (n->operation == HD_STEP_LOAD) {
        emit(c, save ? HD_STEP_SAVE : HD_STEP_LOAD, operand(c, number));
    } else if (n->operation == HD_STEP_SELECT) {
        compile(c, n->child[2], save);
        compile(c, n->child[1], true);
        compile(c, n->child[0], true);
        emit(c, HD_STEP_SELECT, HD_OF_SAVED);
    } else {
        compile_binary(c, n, save);
    }
}

static hd_status compile_all(const hd_nodes *all, const uint32_t function[], hd_program *program)
{
    compiling c = { all, program, 0, 0, 0, HD_OK };
    memset(program, 0, sizeof *program);
    for (int f = 0; f < HD_FUNCTIONS; f++) {
        int same = 0;
        if (f > HD_ON_EVICT && !function[f]) continue;
        while (function[same] != function[f]) same++;
        program->begin[f] = same < f ? program->begin[same] : (uint8_t)c.steps;
        if (same == f) compile(&c, function[f], false);
        program->end[f] = same < f ? program->end[same] : (uint8_t)c.steps;
        HD_ASSERT(c.status || c.saved == 0, "a function leaves values that no step has taken");
        HD_ASSERT(c.status || program->begin[f] < program->end[f], "a function has no steps");
    }
    return c.status;
}

/* ---- Rows as expressions ----------------------------------------------------------------------- */

/* The same functions as a row's. */
typedef struct row_text {
    const char *row, *text;
} row_text;

static const row_text row_texts[] = {
    { "lru", "expr:on_insert=now" },
    { "lfu", "expr:on_insert=given;on_hit=old+given;admission=MAX" },
    { "epoch_lru", "expr:on_insert=(epoch<<32)+tick" },
    { "epoch_lfu", "expr:on_insert=(epoch<<32)+min(given,0xffffffff);on_hit=(epoch<<32)+min((old&0xffffffff)+given,"
                   "0xffffffff)" },
    { "epoch_lfu", "expr:on_insert=epoch<<32|min(given,0xffffffff);on_hit=epoch<<32|min((old&0xffffffff)+given,"
                   "0xffffffff)" },
    { "custom", "expr:on_insert=given" },
    { "fifo", "expr:on_insert=now;on_hit=old" },
    { "clock", "expr:on_insert=tick<<14|spared<<1;on_hit=old|1;admission=MAX;on_evict=old&1?tick<<14|spared<<1:old" },
    { "sieve", "expr:on_insert=least>>38<<38|min(tick,0x1fffffffff)<<1;on_hit=old|1;admission=MAX;"
               "on_evict=old&1?old+0x3fffffffff:old" },
    { "lru2", "expr:on_insert=min(tick,0xffffffff);on_hit=max(old>>32,min(old&0xffffffff,tick))<<32|"
              "max(old&0xffffffff,min(tick,0xffffffff));admission=MAX" },
    { "lrfu", "expr:on_insert=tick<<6;on_hit=max(old,tick<<6)+(log2(0x100000+exp2(0x140000-(max(old,tick<<6)-"
              "min(old,tick<<6))))-0x140000);admission=MAX" },
    { "slru", "expr:on_insert=min(tick,0x3ffffffffffff)<<13|spared;on_hit=tick+(1<<63);admission=MAX;upper_first=upper>"
              "slots*4/5+"
              "spared;on_evict=upper>slots*4/5+spared?min(tick,0x3ffffffffffff)<<13|spared:old" },
    { "twoq", "expr:on_insert=ghost?tick+(1<<63):min(tick,0x7fffffffffffffff);on_hit=old&1<<63?max(old,tick+(1<<63)):"
              "old;admission=MAX;"
              "upper_first=slots-upper<=slots/4;remember=old&1<<63?0:1;forget=ghosts1>=slots/2" },
    { "s3fifo",
      "expr:on_insert=(ghost==1?1<<63:0)|min(tick,0x1ffffffffffff)<<14|spared<<2;on_hit=old+min(given,3-(old&3));"
      "admission=MAX;on_evict=full&((old&3)>=2-(old>>63))?(1<<63|min(tick,0x1ffffffffffff)<<14|spared<<2)+"
      "(old>>63?(old&3)-1:0):old;upper_first=slots-upper<(slots+9)/10;remember=old&1<<63?0:1;"
      "forget=ghosts1>=slots-(slots+9)/10" },
    { "arc",
      "expr:on_insert=ghost?tick+(1<<63):min(tick,0x7fffffffffffffff);on_hit=tick+(1<<63);admission=MAX;"
      "upper_first=(slots-upper<<32)+(ghost==2)<=state+32768>>16;remember=upper|ghost?1+(old>>63):0;"
      "forget=ghost?0:ghosts1>=upper?1:ghosts1+ghosts2>=slots?2:0;next_state=ghost==1?min(slots<<48,"
      "state+max(1<<48,(ghosts2<<48)/max(ghosts1,1))):ghost==2?state-max(1<<48,(ghosts1<<48)/max(ghosts2,1)):state" },
    { "tinylfu", "expr:on_insert=min(tick,0x7ffffffffffffffe)+1;on_hit=min(tick,0x7ffffffffffffffe)+1;"
                 "admission=freq>freq_old?MAX:0;upper_first=0" },
    { "wtinylfu", "expr:on_insert=min(tick,0x1ffffffffffff)<<13|spared|1<<63;"
                  "on_hit=min(tick,0x1ffffffffffff)<<13|8191|1<<62<<(old>>63);admission=MAX;"
                  "on_evict=spared<((old>>63)&(upper>=max(slots/100,1))&(full<=(freq_old>freq_rival)))+"
                  "(middle-(slots-max(slots/100,1))*4/5)?min(tick,0x1ffffffffffff)<<13|spared:old;"
                  "upper_first=spared<middle-(slots-max(slots/100,1))*4/5?2:"
                  "(spared==middle-(slots-max(slots/100,1))*4/5)&(upper>=max(slots/100,1))" },
};

/* The row that has these functions; HD_POLICY_EXPRESSION: none. */
static uint32_t row_with(hd_nodes *all, const uint32_t function[])
{
    for (size_t i = 0; i < sizeof row_texts / sizeof *row_texts; i++) {
        uint32_t of[HD_FUNCTIONS];
        if (read_functions(row_texts[i].text, all, of) || all->full) break;
        if (memcmp(of, function, sizeof of) == 0) return hd_policy_named(row_texts[i].row);
    }
    return HD_POLICY_EXPRESSION;
}

static void use_row(uint32_t row, hd_policy_use *use)
{
    const hd_policy_row *is = hd_policy_row_of(row);
    HD_ASSERT(is);
    memset(&use->program, 0, sizeof use->program);
    use->number = row;
    use->program.flags = is->flags;
    snprintf(use->text, sizeof use->text, "%s", is->name);
}

/* ---- A policy -------------------------------------------------------------------------------- */

static hd_status use_expressions(const char *text, hd_nodes *all, hd_policy_use *use)
{
    enum { CHAINS = 100 }; /* at every open: they take less than 0.1 ms */
    uint32_t function[HD_FUNCTIONS], counted[HD_FUNCTIONS];
    hd_status status = read_functions(text, all, function);
    if (status) return status;
    memcpy(counted, function, sizeof counted);
    hd_claims_count_hits(all, counted);
    if (all->full) return hd_fail(HD_EINVAL, "policy: more than %d values", HD_NODES_MOST);
    status = compile_all(all, counted, &use->program);
    if (!status) status = print(all, function, use->text);
    if (status) return status;
    uint32_t row = row_with(all, function), proven = hd_claims_proven(all, function);
    if (row != HD_POLICY_EXPRESSION && !(hd_policy_rows[row].flags & HD_SCORES_NEEDED)) return use_row(row, use), HD_OK;
    /* of functions that matter, not claims */
    const uint32_t found = HD_SCORES_USED | HD_KEEPS_ORDER;
    uint32_t gone = hd_claims_refuted(HD_POLICY_EXPRESSION, &use->program, proven & ~found, CHAINS);
    HD_ASSERT(gone == 0, "a flag is proven, and refuted");
    use->program.flags = proven & ~gone;
    use->number = row; /* custom's functions: fast, but here scores are not needed */
    return HD_OK;
}

bool hd_policy_list(hd_kind kind, size_t i, hd_row *row)
{
    (void)kind;
    const hd_policy_row *p = hd_policy_at(i);
    return p && hd_row_put(row, p->name, p->what, hd_policy_flag_words(p->flags));
}

hd_status hd_policy_read(const char *text, hd_policy_use *use)
{
    memset(use, 0, sizeof *use);
    use->number = HD_POLICY_UNKNOWN;
    if (!hd_policy_is_expression(text)) {
        uint32_t row = hd_policy_named(text);
        if (row == HD_POLICY_COUNT) return hd_fail_name_of("policy", text, HD_POLICIES, hd_policy_list);
        return use_row(row, use), HD_OK;
    }
    if (strlen(text) >= HD_PROGRAM_TEXT)
        return hd_fail(HD_EINVAL, "policy: '%.40s...' is longer than %d characters", text, HD_PROGRAM_TEXT - 1);
    hd_nodes all;
    all.count = 0;
    all.full = false;
    hd_node_input(&all, HD_OF_SAVED); /* node 0, which stands for what was not read; no text names it */
    hd_policy_use got = *use;
    hd_status status = use_expressions(text, &all, &got);
    if (!status) *use = got;
    return status;
}

/* ---- Flags in words -------------------------------------------------------------------------- */

/* Every set of flags has its text, so that the text is static. By the flags besides the scores'. */
#define WORDS(X, E)                                                                                               \
    X("MONOTONE", E), X("ORDER_FREE", E), X("MONOTONE ORDER_FREE", E), X("SCORE_ADMITS", E),                      \
        X("MONOTONE SCORE_ADMITS", E), X("ORDER_FREE SCORE_ADMITS", E), X("MONOTONE ORDER_FREE SCORE_ADMITS", E), \
        X("SCORE_IS_TIME", E), X("MONOTONE SCORE_IS_TIME", E), X("ORDER_FREE SCORE_IS_TIME", E),                  \
        X("MONOTONE ORDER_FREE SCORE_IS_TIME", E), X("SCORE_ADMITS SCORE_IS_TIME", E),                            \
        X("MONOTONE SCORE_ADMITS SCORE_IS_TIME", E), X("ORDER_FREE SCORE_ADMITS SCORE_IS_TIME", E),               \
        X("MONOTONE ORDER_FREE SCORE_ADMITS SCORE_IS_TIME", E)
#define PLAIN(words, e)           words e
#define OPTIONAL(words, e)        words ", scores optional" e
#define NEEDED(words, e)          words ", scores needed" e
#define ADDS_PLAIN(words, e)      words " HITS_ADD" e
#define ADDS_OPTIONAL(words, e)   words " HITS_ADD, scores optional" e
#define ADDS_NEEDED(words, e)     words " HITS_ADD, scores needed" e
#define LATEST_PLAIN(words, e)    words " LATEST_COUNTS" e
#define LATEST_OPTIONAL(words, e) words " LATEST_COUNTS, scores optional" e
#define LATEST_NEEDED(words, e)   words " LATEST_COUNTS, scores needed" e
#define WORDS_WITH(alone, e)                                                       \
    {                                                                              \
        { { alone, WORDS(PLAIN, e) },                                              \
          { "scores optional" e, WORDS(OPTIONAL, e) },                             \
          { "scores needed" e, WORDS(NEEDED, e) } },                               \
            { { "HITS_ADD" e, WORDS(ADDS_PLAIN, e) },                              \
              { "HITS_ADD, scores optional" e, WORDS(ADDS_OPTIONAL, e) },          \
              { "HITS_ADD, scores needed" e, WORDS(ADDS_NEEDED, e) } },            \
        {                                                                          \
            { "LATEST_COUNTS" e, WORDS(LATEST_PLAIN, e) },                         \
                { "LATEST_COUNTS, scores optional" e, WORDS(LATEST_OPTIONAL, e) }, \
            {                                                                      \
                "LATEST_COUNTS, scores needed" e, WORDS(LATEST_NEEDED, e)          \
            }                                                                      \
        }                                                                          \
    }

const char *hd_policy_flag_words(uint32_t flags)
{
    static const char *const text[20][3][3][16] = {
        WORDS_WITH("", ""),
        WORDS_WITH("spares", ", spares"),
        WORDS_WITH("reads least", ", reads least"),
        WORDS_WITH("spares, reads least", ", spares, reads least"),
        WORDS_WITH("queues", ", queues"),
        WORDS_WITH("spares, queues", ", spares, queues"),
        WORDS_WITH("reads least, queues", ", reads least, queues"),
        WORDS_WITH("spares, reads least, queues", ", spares, reads least, queues"),
        WORDS_WITH("queues, ghosts", ", queues, ghosts"),
        WORDS_WITH("spares, queues, ghosts", ", spares, queues, ghosts"),
        WORDS_WITH("reads least, queues, ghosts", ", reads least, queues, ghosts"),
        WORDS_WITH("spares, reads least, queues, ghosts", ", spares, reads least, queues, ghosts"),
        WORDS_WITH("queues, counts", ", queues, counts"),
        WORDS_WITH("spares, queues, counts", ", spares, queues, counts"),
        WORDS_WITH("reads least, queues, counts", ", reads least, queues, counts"),
        WORDS_WITH("spares, reads least, queues, counts", ", spares, reads least, queues, counts"),
        WORDS_WITH("queues, ghosts, counts", ", queues, ghosts, counts"),
        WORDS_WITH("spares, queues, ghosts, counts", ", spares, queues, ghosts, counts"),
        WORDS_WITH("reads least, queues, ghosts, counts", ", reads least, queues, ghosts, counts"),
        WORDS_WITH("spares, reads least, queues, ghosts, counts", ", spares, reads least, queues, ghosts, counts")
    };
    uint32_t words = (flags & HD_MONOTONE ? 1u : 0) + (flags & HD_ORDER_FREE ? 2u : 0) +
                     (flags & HD_SCORE_ADMITS ? 4u : 0) + (flags & HD_SCORE_IS_TIME ? 8u : 0);
    uint32_t evicts = (flags & HD_SPARES ? 1u : 0) + (flags & HD_READS_LEAST ? 2u : 0) +
                      (flags & HD_REMEMBERS ? 8u
                       : flags & HD_QUEUES  ? 4u
                                            : 0) +
                      (flags & HD_COUNTS ? 8u : 0);
    uint32_t group = flags & HD_HITS_ADD ? 1 : flags & HD_LATEST_COUNTS ? 2 : 0;
    return text[evicts][group][flags & HD_SCORES_NEEDED ? 2 : flags & HD_SCORES_USED ? 1 : 0][words];
}

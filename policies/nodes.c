/* SPDX-License-Identifier: Apache-2.0
 *
 * nodes.c - making nodes: bounds of values, identities, one order of operands.
 */
#include "policies/nodes.h"

#include <string.h>

#include "base/assert.h"

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* The least number of ones that is not below x. */
static uint64_t ones_above(uint64_t x)
{
    for (uint32_t by = 1; by < 64; by *= 2) x |= x >> by;
    return x;
}

static uint64_t lower(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t higher(uint64_t a, uint64_t b) { return a < b ? b : a; }

/* Of an operation that rises with a, and rises or falls with b. */
static void bound_by_ends(hd_node *n, uint32_t operation, const hd_node *a, const hd_node *b, bool falls)
{
    n->least = hd_step_result(operation, a->least, falls ? b->most : b->least);
    n->most = hd_step_result(operation, a->most, falls ? b->least : b->most);
}

static void bound_mod(hd_node *n, const hd_node *a, const hd_node *b)
{
    n->least = 0;
    n->most = b->least ? lower(a->most, b->most - 1) : a->most;
}

/* A comparison is known where the bounds of its operands do not overlap. */
static void bound_comparison(hd_node *n, const hd_node *a, const hd_node *b)
{
    bool below = a->most < b->least, above = b->most < a->least, not_above = a->most <= b->least,
         not_below = b->most <= a->least;
    bool holds = false, fails = false;
    switch (n->operation) {
    case HD_STEP_LT: holds = below, fails = not_below; break;
    case HD_STEP_LE: holds = not_above, fails = above; break;
    case HD_STEP_EQ: fails = below || above; break;
    default: holds = below || above; break; /* NE */
    }
    n->least = holds ? 1 : 0;
    n->most = fails ? 0 : 1;
}

static void bound_bits(hd_node *n, const hd_node *a, const hd_node *b)
{
    n->least = n->operation == HD_STEP_OR ? higher(a->least, b->least) : 0;
    n->most = n->operation == HD_STEP_AND ? lower(a->most, b->most) : ones_above(a->most | b->most);
}

static void bound(hd_node *n, const hd_node *a, const hd_node *b)
{
    switch (n->operation) {
    case HD_STEP_ADD:
    case HD_STEP_MUL:
    case HD_STEP_MIN:
    case HD_STEP_MAX:
    case HD_STEP_SHL:
    case HD_STEP_LOG2:
    case HD_STEP_EXP2: bound_by_ends(n, n->operation, a, b, false); break;
    case HD_STEP_SUB:
    case HD_STEP_DIV:
    case HD_STEP_SHR: bound_by_ends(n, n->operation, a, b, true); break;
    case HD_STEP_MOD: bound_mod(n, a, b); break;
    case HD_STEP_AND:
    case HD_STEP_OR:
    case HD_STEP_XOR: bound_bits(n, a, b); break;
    default: bound_comparison(n, a, b); break;
    }
}

/* ---- One order ------------------------------------------------------------------------------- */

bool hd_node_commutes(uint32_t operation)
{
    switch (operation) {
    case HD_STEP_ADD:
    case HD_STEP_MUL:
    case HD_STEP_MIN:
    case HD_STEP_MAX:
    case HD_STEP_AND:
    case HD_STEP_OR:
    case HD_STEP_XOR:
    case HD_STEP_EQ:
    case HD_STEP_NE: return true;
    default: return false;
    }
}

/* Inputs come first, constants last. */
static uint32_t class_of(const hd_node *n)
{
    if (n->operation != HD_STEP_LOAD) return 1;
    return n->of == HD_OF_CONSTANT ? 2 : 0;
}

/* By what the expressions are, not by their numbers: those depend on what was read before. */
static bool comes_after(const hd_nodes *all, uint32_t a, uint32_t b)
{
    while (a != b) {
        const hd_node *x = &all->node[a], *y = &all->node[b];
        if (class_of(x) != class_of(y)) return class_of(x) > class_of(y);
        if (x->operation != y->operation) return x->operation > y->operation;
        if (x->operation == HD_STEP_LOAD) return x->of != y->of ? x->of > y->of : x->least > y->least;
        int k = 0;
        while (k < 3 && x->child[k] == y->child[k]) k++; /* one differs: equal nodes have equal numbers */
        HD_ASSERT(k < 3, "equal nodes have two numbers");
        a = x->child[k];
        b = y->child[k];
    }
    return false;
}

/* ---- Making one ------------------------------------------------------------------------------ */

/* What is read and between which bounds follows from these. */
static bool same(const hd_node *a, const hd_node *b)
{
    if (a->operation != b->operation || a->of != b->of || memcmp(a->child, b->child, sizeof a->child) != 0)
        return false;
    return a->of != HD_OF_CONSTANT || a->least == b->least;
}

static uint32_t keep(hd_nodes *all, const hd_node *n)
{
    HD_ASSERT(n->least <= n->most, "no value is within the bounds");
    for (uint32_t i = 0; i < all->count; i++)
        if (same(&all->node[i], n)) return i;
    all->full = all->full || all->count == HD_NODES_MOST;
    if (all->full) return 0;
    all->node[all->count] = *n;
    return all->count++;
}

static hd_node load(uint32_t of, uint64_t least, uint64_t most)
{
    hd_node n;
    memset(&n, 0, sizeof n);
    n.operation = HD_STEP_LOAD;
    n.of = (uint8_t)of;
    n.least = least;
    n.most = most;
    return n;
}

/* The greatest value of an input. */
static uint64_t most_of(uint32_t of)
{
    switch (of) {
    case HD_OF_EPOCH: return UINT32_MAX;
    case HD_OF_FULL: return 1;
    case HD_OF_GHOST: return 6;
    case HD_OF_FREQ:
    case HD_OF_FREQ_OLD:
    case HD_OF_FREQ_RIVAL: return 15;
    case HD_OF_SPARED:
    case HD_OF_BUCKET_SLOTS:
    case HD_OF_UPPER:
    case HD_OF_MIDDLE:
    case HD_OF_GHOSTS1:
    case HD_OF_GHOSTS2: return UINT16_MAX;
    default: return UINT64_MAX;
    }
}

uint32_t hd_node_input(hd_nodes *all, uint32_t of)
{
    hd_node n = load(of, 0, most_of(of));
    n.reads = 1u << of;
    return keep(all, &n);
}

uint32_t hd_node_constant(hd_nodes *all, uint64_t value)
{
    hd_node n = load(HD_OF_CONSTANT, value, value);
    return keep(all, &n);
}

/* Whether the form of node a says that it is at least b: a sum, a maximum or bits that b is a part of. */
static bool holds(const hd_nodes *all, uint32_t a, uint32_t b)
{
    const hd_node *x = &all->node[a];
    bool rises = x->operation == HD_STEP_ADD || x->operation == HD_STEP_MAX || x->operation == HD_STEP_OR;
    return rises && (x->child[0] == b || x->child[1] == b);
}

/* The same: at most b. */
static bool is_held(const hd_nodes *all, uint32_t a, uint32_t b)
{
    const hd_node *x = &all->node[a];
    bool either = x->operation == HD_STEP_MIN || x->operation == HD_STEP_AND,
         first = x->operation == HD_STEP_SUB || x->operation == HD_STEP_MOD || x->operation == HD_STEP_SHR;
    return ((either || first) && x->child[0] == b) || (either && x->child[1] == b);
}

/* Whether `a operation b` is a, whatever a is. */
static bool leaves_first(const hd_nodes *all, uint32_t operation, uint32_t a, uint32_t b)
{
    const hd_node *x = &all->node[a], *y = &all->node[b];
    switch (operation) {
    case HD_STEP_ADD:
    case HD_STEP_SUB:
    case HD_STEP_MOD:
    case HD_STEP_XOR:
    case HD_STEP_SHL:
    case HD_STEP_SHR: return hd_node_is(all, b, 0);
    case HD_STEP_MUL:
    case HD_STEP_DIV: return hd_node_is(all, b, 1);
    case HD_STEP_AND: return a == b || hd_node_is(all, b, UINT64_MAX);
    case HD_STEP_OR: return a == b || hd_node_is(all, b, 0);
    case HD_STEP_MIN: return a == b || x->most <= y->least || is_held(all, a, b) || holds(all, b, a);
    case HD_STEP_MAX: return a == b || y->most <= x->least || holds(all, a, b) || is_held(all, b, a);
    default: return false;
    }
}

/* What `a operation a` is: *value, whatever a is. */
static bool of_itself(uint32_t operation, uint64_t *value)
{
    *value = operation == HD_STEP_LE || operation == HD_STEP_EQ;
    return *value || operation == HD_STEP_SUB || operation == HD_STEP_XOR || operation == HD_STEP_LT ||
           operation == HD_STEP_NE;
}

/* x ^ MAX ^ MAX is x. */
static bool undoes(const hd_nodes *all, uint32_t operation, uint32_t a, uint32_t b)
{
    const hd_node *x = &all->node[a];
    return operation == HD_STEP_XOR && x->operation == HD_STEP_XOR && hd_node_is_constant(all, b) && x->child[1] == b;
}

uint32_t hd_node_binary(hd_nodes *all, uint32_t operation, uint32_t a, uint32_t b)
{
    uint64_t value;
    HD_ASSERT(a < all->count && b < all->count, "an operand is no node");
    if (operation == HD_STEP_GT) return hd_node_binary(all, HD_STEP_LT, b, a);
    if (operation == HD_STEP_GE) return hd_node_binary(all, HD_STEP_LE, b, a);
    if (hd_node_commutes(operation) && comes_after(all, a, b)) return hd_node_binary(all, operation, b, a);
    if (leaves_first(all, operation, a, b)) return a;
    if (hd_node_commutes(operation) && leaves_first(all, operation, b, a)) return b;
    if (undoes(all, operation, a, b)) return all->node[a].child[0];
    if (a == b && of_itself(operation, &value)) return hd_node_constant(all, value);
    if (hd_node_is_constant(all, a) && hd_node_is_constant(all, b))
        return hd_node_constant(all, hd_step_result(operation, all->node[a].least, all->node[b].least));
    hd_node n;
    memset(&n, 0, sizeof n);
    n.operation = (uint8_t)operation;
    n.child[0] = (uint16_t)a;
    n.child[1] = (uint16_t)b;
    n.reads = all->node[a].reads | all->node[b].reads;
    if (hd_step_is_unary(operation)) n.reads |= HD_NODE_LOGARITHMS;
    bound(&n, &all->node[a], &all->node[b]);
    return n.least == n.most ? hd_node_constant(all, n.least) : keep(all, &n);
}

uint32_t hd_node_select(hd_nodes *all, uint32_t condition, uint32_t then, uint32_t otherwise)
{
    const hd_node *c = &all->node[condition], *x = &all->node[then], *y = &all->node[otherwise];
    HD_ASSERT(condition < all->count && then < all->count && otherwise < all->count, "an operand is no node");
    if (c->least > 0 || then == otherwise) return then;
    if (c->most == 0) return otherwise;
    hd_node n;
    memset(&n, 0, sizeof n);
    n.operation = HD_STEP_SELECT;
    n.child[0] = (uint16_t)condition;
    n.child[1] = (uint16_t)then;
    n.child[2] = (uint16_t)otherwise;
    n.reads = c->reads | x->reads | y->reads;
    n.least = lower(x->least, y->least);
    n.most = higher(x->most, y->most);
    return keep(all, &n); /* least is below most: equal constants are one node */
}

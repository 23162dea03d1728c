/* SPDX-License-Identifier: Apache-2.0
 *
 * nodes.h - the expressions of a policy as nodes: what expression.c reads, prints and compiles, and claims.c proves
 * properties of. A node is made once: equal expressions have equal numbers. Making one folds constants, applies
 * identities (x + 0, min(x, x)) and brings the operands of commutative operations into one order.
 */
#ifndef HD_NODES_H
#define HD_NODES_H

#include "policies/program.h"

enum {
    HD_NODES_MOST = 800,                     /* of the texts of all rows, and of one of HD_PROGRAM_TEXT beside them */
    HD_NODE_LOGARITHMS = 1 << HD_OF_CONSTANT /* it takes log2 or exp2 of what is no constant */
};

typedef struct hd_node {
    uint8_t operation;    /* HD_STEP_LOAD: an input or a constant; HD_STEP_SELECT; or a binary one: ADD .. NE, without
                               GT and GE */
    uint8_t of;           /* LOAD: HD_OF_OLD to HD_OF_FREQ_RIVAL, or HD_OF_CONSTANT */
    uint16_t child[3];    /* two of a binary operation; SELECT: condition, then, else */
    uint32_t reads;       /* a bit for each input, 1 << HD_OF_..., and HD_NODE_LOGARITHMS */
    uint64_t least, most; /* all values are within; a constant: its value */
} hd_node;

typedef struct hd_nodes {
    uint32_t count;
    bool full; /* a node did not fit: numbers made since mean nothing */
    hd_node node[HD_NODES_MOST];
} hd_nodes;

uint32_t hd_node_input(hd_nodes *all, uint32_t of);
uint32_t hd_node_constant(hd_nodes *all, uint64_t value);
uint32_t hd_node_binary(hd_nodes *all, uint32_t operation, uint32_t a, uint32_t b);
uint32_t hd_node_select(hd_nodes *all, uint32_t condition, uint32_t then, uint32_t otherwise);

static inline bool hd_node_is_constant(const hd_nodes *all, uint32_t n)
{
    return all->node[n].operation == HD_STEP_LOAD && all->node[n].of == HD_OF_CONSTANT;
}
static inline bool hd_node_is(const hd_nodes *all, uint32_t n, uint64_t value)
{
    return hd_node_is_constant(all, n) && all->node[n].least == value;
}
static inline bool hd_node_is_input(const hd_nodes *all, uint32_t n, uint32_t of)
{
    return all->node[n].operation == HD_STEP_LOAD && all->node[n].of == of;
}
/* log2 and exp2 have one operand; the second one of their nodes is the constant 0. */
static inline bool hd_step_is_unary(uint32_t operation)
{
    return operation == HD_STEP_LOG2 || operation == HD_STEP_EXP2;
}
static inline bool hd_node_reads(const hd_nodes *all, uint32_t n, uint32_t of) { return all->node[n].reads >> of & 1; }

/* Whether the operands of the operation can be exchanged. */
bool hd_node_commutes(uint32_t operation);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * select.h - which variant a table takes when the batch names none.
 */
#ifndef HD_SELECT_H
#define HD_SELECT_H

#include "heddle.h"

/* The name of the variant that suits the operation best on a table of this design, value size and load factor (choice
 * 0), second best (1), and so on; NULL: there are no more. A pure function. The table takes the first that its backend
 * has and that fits, and where none does, the first of the registry that fits. */
const char *hd_select(const char *design, hd_op op, uint32_t value_bytes, double load_factor, uint32_t choice);

/* Whether a find of n items reads the far values of such a table in the order of their addresses (hd_fetch). A pure
 * function. */
bool hd_select_sorted(const hd_info *info, uint64_t n);

#endif

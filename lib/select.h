/* SPDX-License-Identifier: Apache-2.0
 *
 * select.h - which variant a table takes when the batch names none.
 */
#ifndef HD_SELECT_H
#define HD_SELECT_H

#include "heddle.h"

/* The name of the variant that suits the operation on a table of this value size and load factor; a pure function. The table
 * takes it where its backend has it and it fits, and else the first that fits. */
const char *hd_select(hd_op op, uint32_t value_bytes, double load_factor);

#endif

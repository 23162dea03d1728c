/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.c - table.cu for the machine. Compiled with -fsanitize=thread; all of the foreign text there is.
 */
#include "examples/foreign/cuda_shim.h"

#include "examples/foreign/table.cu"

#include "examples/foreign/kernels.h"

CUDA_RUN(get_or_insert, table_args, (entry *)a.table, a.mask, a.key, a.value, a.n, a.placed)
CUDA_RUN(get_or_insert_at_once, table_args, (entry *)a.table, a.mask, a.key, a.value, a.n, a.placed)

/* SPDX-License-Identifier: Apache-2.0
 *
 * accum.h - adding values element by element: the only place that looks inside a value.
 */
#ifndef HD_ACCUM_H
#define HD_ACCUM_H

#include "heddle.h"

/* Bytes of one element. */
uint32_t hd_elem_bytes(hd_elem e);

/* into[i] += from[i] over `bytes` bytes, a multiple of the element's. Neither needs alignment. f16 and bf16
 * are widened, added in f32 and rounded to nearest even; integers wrap. */
void hd_accum_add(hd_elem e, void *into, const void *from, uint32_t bytes);

/* IEEE 754 binary16 and bfloat16, as bits. Rounding is to nearest even; a NaN stays a (quiet) NaN. */
float hd_f16_widen(uint16_t h);
uint16_t hd_f16_round(float f);
float hd_bf16_widen(uint16_t h);
uint16_t hd_bf16_round(float f);

#endif

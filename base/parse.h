/* SPDX-License-Identifier: Apache-2.0
 *
 * parse.h - numbers as people write them, with one way to say no.
 */
#ifndef HD_PARSE_H
#define HD_PARSE_H

#include "heddle.h"

/* HD_EINVAL naming `what` when text is no number or outside [least, most]. Decimal or 0x; sizes may
 * end in k M G (powers of 1000) or Ki Mi Gi (powers of 1024). */
hd_status hd_parse_u64(const char *what, const char *text, uint64_t least, uint64_t most, uint64_t *v);
hd_status hd_parse_double(const char *what, const char *text, double least, double most, double *v);

#endif

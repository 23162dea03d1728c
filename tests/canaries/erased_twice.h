/* SPDX-License-Identifier: Apache-2.0 */
/* Of two items that erase one key both have looked before either erases: both say that they did. */
#define CANARY canary_erased_twice
#define CANARY_FAMILY HKV_ERASE
#define CANARY_TRY looked_too_early_try
#include "tests/canaries/frame.h"

/* SPDX-License-Identifier: Apache-2.0
 *
 * variants.h - tests for every variant of gpu/hkv/registry.h. Each becomes one test per variant, VARIANT_TEST, with the
 * name of the variant as its state: HEDDLE_TEST_ONLY='tlpv1_*' runs those of tlpv1.
 */
#ifndef TESTS_VARIANTS_H
#define TESTS_VARIANTS_H

#include <stdio.h>
#include <stdlib.h>

#include "gpu/hkv/rows.h"
#include "tests/testing.h"

#define VARIANT_OF(state) ((const char *)*(state))

typedef struct variants_name {
    char text[64];
} variants_name;

/* Runs the tests `of_each` for every variant, then those `of_all`; main returns this. */
static int variants_run(const struct CMUnitTest *of_each, size_t each, const struct CMUnitTest *of_all, size_t all)
{
    struct CMUnitTest *tests = (struct CMUnitTest *)calloc(hkv_row_count() * each + all, sizeof *tests);
    variants_name *name = (variants_name *)calloc(hkv_row_count(), each * sizeof *name);
    size_t n = 0;
    for (uint32_t row = 0; tests && name && row < hkv_row_count(); row++) {
        for (size_t i = 0; i < each && hkv_is_first(row); i++, n++) {
            snprintf(name[n].text, sizeof name[n].text, "%s_%s", hkv_row_name(row), of_each[i].name);
            tests[n] = of_each[i];
            tests[n].name = name[n].text;
            tests[n].initial_state = (void *)(uintptr_t)hkv_row_name(row);
        }
    }
    for (size_t i = 0; tests && i < all; i++) tests[n++] = of_all[i];
    int failed = tests && name ? test_run_named("tests", tests, n) : 1;
    free(tests);
    free(name);
    return failed;
}

#endif

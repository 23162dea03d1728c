/* SPDX-License-Identifier: Apache-2.0
 *
 * score_in - a <= score <= b. */
#ifdef HD_PREDICATE_TEXT
HD_FN bool score_in_holds(uint64_t key, uint64_t score, const uint8_t *value, uint32_t value_bytes, uint64_t a,
                          uint64_t b)
{
    (void)key, (void)score, (void)value, (void)value_bytes, (void)a, (void)b;
    return a <= score && score <= b;
}
#endif
HD_PREDICATE(score_in, "a <= score <= b", "a, b")

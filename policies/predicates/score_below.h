/* SPDX-License-Identifier: Apache-2.0
 *
 * score_below - score < a: with lru, entries not used since time a. */
#ifdef HD_PREDICATE_TEXT
HD_FN bool score_below_holds(uint64_t key, uint64_t score, const uint8_t *value, uint32_t value_bytes, uint64_t a,
                             uint64_t b)
{
    (void)key, (void)score, (void)value, (void)value_bytes, (void)a, (void)b;
    return score < a;
}
#endif
HD_PREDICATE(score_below, "score < a: with lru, entries not used since time a", "a")

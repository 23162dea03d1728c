/* SPDX-License-Identifier: Apache-2.0
 *
 * all - every entry. */
#ifdef HD_PREDICATE_TEXT
HD_FN bool all_holds(uint64_t key, uint64_t score, const uint8_t *value, uint32_t value_bytes, uint64_t a, uint64_t b)
{
    (void)key, (void)score, (void)value, (void)value_bytes, (void)a, (void)b;
    return true;
}
#endif
HD_PREDICATE(all, "every entry", "")

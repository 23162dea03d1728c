/* SPDX-License-Identifier: Apache-2.0
 *
 * value_zero - every byte of the value is zero. */
#ifdef HD_PREDICATE_TEXT
HD_FN bool value_zero_holds(uint64_t key, uint64_t score, const uint8_t *value, uint32_t value_bytes, uint64_t a,
                            uint64_t b)
{
    (void)key, (void)score, (void)value, (void)value_bytes, (void)a, (void)b;
    for (uint32_t i = 0; i < value_bytes; i++)
        if (HD_VALUE_BYTE(value + i)) return false;
    return true;
}
#endif
HD_PREDICATE(value_zero, "every byte of the value is zero", "")

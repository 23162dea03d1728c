/* SPDX-License-Identifier: Apache-2.0
 *
 * key_modulo - selects the keys whose remainder by `a` is `b`. If `a` is 0, it selects no entry. */
#ifdef HD_PREDICATE_TEXT
HD_FN bool key_modulo_holds(uint64_t key, uint64_t score, const uint8_t *value, uint32_t value_bytes, uint64_t a,
                            uint64_t b)
{
    (void)score, (void)value, (void)value_bytes;
    return a != 0 && key % a == b;
}
#endif
HD_PREDICATE(key_modulo, "key modulo a is b", "a, b")

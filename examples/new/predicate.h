/* SPDX-License-Identifier: Apache-2.0 */
/* NAME - a predicate, for erase_if, export_if and size_if: whether key modulo a is b.
 *
 *     heddle --with FILE run --judge hkv.mix.ref buckets=4 slots=8 batch=64x100 keys=uniform:100
 *     heddle --with FILE run --judge hkv.erase_if.tlpv1 predicate=NAME buckets=4 slots=8 batch=64x20 keys=uniform:100
 *
 * It is a pure function of an entry and of two arguments of the batch. Byte i of the value is HD_VALUE_BYTE(value + i).
 */
#ifdef HD_PREDICATE_TEXT
HD_FN bool NAME_holds(uint64_t key, uint64_t score, const uint8_t *value, uint32_t value_bytes, uint64_t a, uint64_t b)
{
    (void)score, (void)value, (void)value_bytes;
    return a && key % a == b;
}
#endif

/* The last line: its name, what it is, its arguments. */
HD_PREDICATE(NAME, "key modulo a is b", "a, b")

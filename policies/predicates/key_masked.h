/* SPDX-License-Identifier: Apache-2.0
 *
 * key_masked - (key & a) == b: one shard, one feature, one tenant. */
#ifdef HD_PREDICATE_TEXT
HD_FN bool key_masked_holds(uint64_t key, uint64_t score, const uint8_t *value, uint32_t value_bytes, uint64_t a,
                            uint64_t b)
{
    (void)key, (void)score, (void)value, (void)value_bytes, (void)a, (void)b;
    return (key & a) == b;
}
#endif
HD_PREDICATE(key_masked, "(key & a) == b: one shard, one feature, one tenant", "a, b")

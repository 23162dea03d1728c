/* SPDX-License-Identifier: Apache-2.0 */
/* The counts of the bins are what they were when the batch is over: the next one would begin with them. */
SIMT_KERNEL(canary_count_left, hkv_args, args)
{
    hkv_args b = args;
    b.fetch_bins = 0;
    hkv_fetch_values(&b);
}

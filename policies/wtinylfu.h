/* SPDX-License-Identifier: Apache-2.0
 *
 * wtinylfu - W-TinyLFU of Einziger, Friedman and Manes, "TinyLFU: a highly efficient cache admission policy" (ToS '17),
 * section 4. The upper queue is the window, a hundredth of the slots. The others are a segmented LRU cache: the middle
 * queue is its protected segment, four fifths of them, the lower queue its probation. What leaves the window takes the
 * place of the oldest entry in probation if its key came more often lately; else it leaves the bucket. The score is the
 * tick, and how many entries the same insert moved before. Entries that hits have protected beyond the segment's share
 * go back to probation at the next insert, as in slru.h. */
#ifdef HD_POLICY_TEXT
HD_FN uint32_t wtinylfu_window(hd_score_in in) { return in.slots < 200 ? 1 : in.slots / 100; }
HD_FN uint64_t wtinylfu_place(hd_score_in in) { return hd_lower_tick(in, 49) << 13 | in.spared; }
HD_FN uint64_t wtinylfu_on_insert(hd_score_in in) { return wtinylfu_place(in) | HD_UPPER_QUEUE; }
HD_FN uint64_t wtinylfu_on_hit(uint64_t old, hd_score_in in)
{
    return hd_lower_tick(in, 49) << 13 | 8191 | HD_MIDDLE_QUEUE << (old >> 63); /* behind inserts of the same tick */
}
HD_FN uint64_t wtinylfu_admission(hd_score_in in)
{
    (void)in;
    return UINT64_MAX;
}
/* How many entries are protected beyond the share: they move first. Then comes the oldest of a window that is full. */
HD_FN uint32_t wtinylfu_beyond(hd_score_in in)
{
    uint32_t share = (in.slots - wtinylfu_window(in)) * 4 / 5;
    return in.middle < share ? 0 : in.middle - share;
}
HD_FN bool wtinylfu_window_gives(hd_score_in in)
{
    return in.spared == wtinylfu_beyond(in) && in.upper >= wtinylfu_window(in);
}
HD_FN uint64_t wtinylfu_on_evict(uint64_t old, hd_score_in in)
{
    bool enters = old >> 63 && wtinylfu_window_gives(in) && (!in.full || in.freq_old > in.freq_rival);
    return enters || in.spared < wtinylfu_beyond(in) ? wtinylfu_place(in) : old;
}
HD_FN uint64_t wtinylfu_upper_first(hd_score_in in)
{
    return in.spared < wtinylfu_beyond(in) ? 2 : wtinylfu_window_gives(in);
}
HD_FN uint64_t wtinylfu_remember(uint64_t old, hd_score_in in)
{
    (void)old, (void)in;
    return 0;
}
HD_FN uint64_t wtinylfu_forget(hd_score_in in)
{
    (void)in;
    return 0;
}
HD_FN uint64_t wtinylfu_next_state(hd_score_in in) { return in.state; }
#endif
HD_POLICY_QUEUES(wtinylfu, "new entries pass a small window, then replace entries whose keys came less (W-TinyLFU)",
                 HD_MONOTONE | HD_LATEST_COUNTS | HD_SPARES | HD_ADMITS_ALL | HD_QUEUES | HD_COUNTS)

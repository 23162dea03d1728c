/* SPDX-License-Identifier: Apache-2.0
 *
 * arc - Megiddo and Modha, "ARC: a self-tuning, low overhead replacement cache" (FAST '03), Figure 4: the lower queue
 * T1 has keys that came once, the upper queue T2 the others, both in the order of their last use. The ghosts are B1 and
 * B2. The state is the target of T1's size, p, in units of 2^-48: a key that comes again as a ghost moves it. Its steps
 * are fractions, and it is compared in units of 2^-32, so that three thirds are one. */
#ifdef HD_POLICY_TEXT
HD_FN uint64_t arc_on_insert(hd_score_in in) { return in.ghost ? hd_upper_tick(in) : hd_lower_tick(in, 63); }
HD_FN uint64_t arc_on_hit(uint64_t old, hd_score_in in)
{
    (void)old;
    return hd_upper_tick(in);
}
HD_FN uint64_t arc_admission(hd_score_in in)
{
    (void)in;
    return UINT64_MAX;
}
HD_FN uint64_t arc_on_evict(uint64_t old, hd_score_in in)
{
    (void)in;
    return old;
}
/* T1 gives up an entry if it has more than p; for a ghost of B2 also if it has as many. */
HD_FN uint64_t arc_upper_first(hd_score_in in)
{
    return ((uint64_t)(in.slots - in.upper) << 32) + (in.ghost == 2) <= hd_saturating_add(in.state, 1 << 15) >> 16;
}
/* Of a bucket that is T1 alone, whose B1 is empty, an entry leaves without a trace. */
HD_FN uint64_t arc_remember(uint64_t old, hd_score_in in) { return in.upper || in.ghost ? 1 + (old >> 63) : 0; }
HD_FN uint64_t arc_forget(hd_score_in in)
{
    if (in.ghost) return 0;
    return in.ghosts1 >= in.upper ? 1 : in.ghosts1 + in.ghosts2 >= in.slots ? 2 : 0;
}
HD_FN uint64_t arc_next_state(hd_score_in in)
{
    if (in.ghost != 1 && in.ghost != 2) return in.state;
    uint64_t own = in.ghost == 1 ? in.ghosts1 : in.ghosts2, other = in.ghost == 1 ? in.ghosts2 : in.ghosts1,
             most = (uint64_t)in.slots << 48, step = 1ull << 48;
    if (other > own) step = (other << 48) / (own ? own : 1); /* in dual mode the ghost may be the other bucket's */
    if (in.ghost == 2) return hd_saturating_sub(in.state, step);
    uint64_t more = hd_saturating_add(in.state, step);
    return more < most ? more : most;
}
#endif
HD_POLICY_QUEUES(arc, "an LRU list of keys that came once, one of the others; ghosts of both move their border (ARC)",
                 HD_MONOTONE | HD_ORDER_FREE | HD_ADMITS_ALL | HD_QUEUES | HD_REMEMBERS)

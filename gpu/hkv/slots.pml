/* SPDX-License-Identifier: Apache-2.0
 *
 * slots.pml - a model for spin of how the items of a batch claim the slots of a bucket (coalesced.h, passes.h). ITEMS
 * upserts run at once in one bucket of SLOTS slots, in two groups with a lower bound each. Each access to the table's
 * memory is one step. The model tries all buckets to begin with: empty, full or with holes, scores in any order, bounds
 * as high as allowed or lower; and items of all keys. A key is its own digest.
 *
 *   BATCH lfu         keys repeat, hits add to scores, new entries begin below: HKV_LOCK_TO_EVICT
 *   BATCH lru         keys are distinct, scores rise, an item below the least score is refused: HKV_LOCK_NEVER
 *   BATCH passes      keys repeat, scores are given and may fall: the four passes; values are kept or replaced, and
 *                     either all items are admitted or not
 *   BATCH times       the same, but a score is the time of its item and tells which item wrote it; an item that comes
 *                     after that one writes nothing
 *
 *   one slot          no key is published twice (LOOK, after every step that writes)
 *   no key is lost    a slot publishes the key that its tickets name (`home`); at the end the bucket has as many keys as
 *                     came less those that left
 *   scores            a published key has the score that was due; no bound is above a published score
 *   the least         a victim has a least score of the bucket when its claim is certain
 *   overwritten       an item that takes another item's REPLACED for its own effect has the key of that slot
 *   outdone           an item that writes nothing has the key of the item whose time it saw, and that item wrote over
 *                     an entry that was present
 *   no deadlock       every item ends. An item that could not go on looks again after a write (`news`): before, it would
 *                     see the same
 *   no livelock       no state comes again: no item loops for ever while the others stand still
 *
 * tests/t_models.sh runs it, and each FAULT that it must find:
 *    1 the victim's score is not read again           7 the bound is the new score, whatever the other scores are
 *    2 no item locks the bucket to evict              8 a hit claims with REPLACED where keys come and go
 *    3 a bound is raised to the second score          9 an item that locks the bucket forgets it
 *    4 a claim is not given back                     10 an item that looks again drops the bucket
 *    5 the key is stored before its score            11 a bound stays where it is when a score falls
 *    6 some items claim another empty slot           12 the item that inserted a key is taken for one that wrote over
 *      than the first                                   the entry
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef ITEMS
#define ITEMS 3
#endif
#define lfu 1
#define lru 2
#define passes 3
#define times 4
#ifndef BATCH
#define BATCH lfu
#endif
#define TIMES 3 /* the first item's: above all scores that are there to begin with */
#define KEYS (SLOTS + 1) /* the last one is not there to begin with */

#define EMPTY 0 /* keys are 1, 2, ... */
#define LOCKED 8
#define REPLACED 9
#define RESERVED(k) (k >= LOCKED)
#define NONE 15 /* no slot, and more than any score */
#define PER ((SLOTS + 1) / 2) /* slots of the first group; the second has the rest */
#define GROUP(s) ((s) / PER)
#define END(g) (g == 0 -> PER : SLOTS)

byte key[SLOTS], score[SLOTS], digest[SLOTS], bound[2];
bool bucket; /* its lock */

byte home[SLOTS], due[SLOTS]; /* whose the slot is by its tickets, and with what score */
byte first, came, gone, ended;
byte news; /* a bit for each item: something was written since it began to look */

#define PRESENT 1
#define ABSENT 2
#define AGAIN 3
#define REST 4
byte pass, through; /* so many items have come to the end of this pass */
bool keeps, always; /* values stay (find_or_insert); all items are admitted */

#define BROUGHT_IN 1
#define WROTE_OVER 2
byte wants[ITEMS], effect[ITEMS]; /* of an item: its key; what it did */
bool passed_on[ITEMS]; /* by the absent */

#if BATCH == passes || BATCH == times
#define FINDS (pass == PRESENT || pass == AGAIN)
#define ALL_LOCKED (pass == REST)
#define LOCKS_TO_EVICT (pass == ABSENT && FAULT != 2)
#define CLAIM_OF_HIT REPLACED
#else
#define FINDS false
#define ALL_LOCKED false
#define LOCKS_TO_EVICT (BATCH == lfu && FAULT != 2)
#define CLAIM_OF_HIT (FAULT == 8 -> REPLACED : LOCKED)
#endif

#define THERE(s) (key[s] != EMPTY && !RESERVED(key[s]))
#define IS_RIGHT(s) (!THERE(s) || (key[s] == home[s] && score[s] == due[s] && bound[GROUP(s)] <= score[s]))
#define ARE_TWO(s, t) (THERE(s) && key[s] == key[t])
#define NOT_ABOVE(x) (x <= score[0] && x <= score[1] && x <= score[SLOTS - 1])
#define LOOK \
    news = (1 << ITEMS) - 1; \
    assert(!ARE_TWO(0, 1) && (SLOTS == 2 || (!ARE_TWO(0, SLOTS - 1) && !ARE_TWO(1, SLOTS - 1)))); \
    assert(IS_RIGHT(0) && IS_RIGHT(1) && IS_RIGHT(SLOTS - 1))

inline let_go()
{
    if
    :: holds -> d_step { bucket = false; holds = false; LOOK }
    :: else
    fi
}

inline lower() /* the bound, where the score falls below what it was */
{
    if
    :: given < least && FAULT != 11 ->
       if
       :: d_step { bound[GROUP(entry)] > given -> bound[GROUP(entry)] = given; LOOK }
       :: bound[GROUP(entry)] <= given
       fi
    :: else
    fi
}

inline see_digest(s)
{
    if
    :: digest[s] == k -> match = match | (1 << s)
    :: digest[s] == EMPTY && (room == NONE || (FAULT == 6 && me == 1)) -> room = s
    :: else
    fi
}

proctype item(byte me, k, given)
{
    byte entry, room, match, i, least, second, other, at, x;
    bool holds, busy, fresh;

round:
    if
    :: ALL_LOCKED && !holds ->
lock:
       if
       :: atomic { !bucket -> bucket = true; holds = (FAULT != 9); LOOK }
       :: atomic { bucket -> news = news & ~(1 << me); goto again }
       fi
    :: else
    fi;

    /* the digests, then the keys of those that match, with the score */
    d_step {
        news = news & ~(1 << me);
        entry = NONE; room = NONE; match = 0; busy = false; i = 0; least = 0; second = 0; other = 0; at = 0; x = 0;
        see_digest(0)
    }
    d_step { see_digest(1) }
#if SLOTS == 3
    d_step { see_digest(2) }
#endif
    do
    :: d_step { match != 0 ->
       i = (match & 1 -> 0 : (match & 2 -> 1 : 2));
       match = match & ~(1 << i);
       if
       :: key[i] == k -> entry = i; least = score[i]; match = 0
       :: key[i] != k && RESERVED(key[i]) -> busy = true
       :: else
       fi;
       i = 0 }
    :: atomic { match == 0 ->
       if
       :: entry != NONE && pass == ABSENT -> goto next
       :: entry != NONE && pass != ABSENT -> goto found
       :: entry == NONE && busy && !ALL_LOCKED -> goto again
       :: entry == NONE && !busy && FINDS -> goto next
       :: else ->
          if
          :: room != NONE -> entry = room; break
          :: room == NONE && !holds && LOCKS_TO_EVICT -> goto lock
          :: else -> goto victim
          fi
       fi }
    od;

    /* absent, room */
    assert(!ALL_LOCKED); /* after an eviction there is none, and no item erases here */
    let_go();
    if
    :: d_step { key[entry] == EMPTY -> key[entry] = LOCKED; home[entry] = k; came++; fresh = true; LOOK }
    :: key[entry] != EMPTY -> goto again
    fi;
    d_step { digest[entry] = k; LOOK };
    goto publish;

found:
#if BATCH == times
    if
    :: FINDS && least >= TIMES && (pass == PRESENT || passed_on[least - TIMES] || FAULT == 12) -> /* as it was when it looked */
       d_step { assert(wants[least - TIMES] == k && effect[least - TIMES] == WROTE_OVER) } goto end
    :: else
    fi;
#endif
    if
    :: ALL_LOCKED || (FINDS && keeps) -> /* the score alone; in the passes that find, side by side with others */
       lower();
       d_step { score[entry] = given; due[entry] = given; effect[me] = WROTE_OVER; LOOK };
       goto end
    :: else
    fi;
    let_go();
    if
    :: d_step { key[entry] == k -> key[entry] = CLAIM_OF_HIT; least = (BATCH == lfu || BATCH == lru -> score[entry] : least); LOOK }
    :: d_step { key[entry] == REPLACED -> assert(home[entry] == k) } goto end
    :: key[entry] != k && key[entry] != REPLACED -> goto again
    fi;
#if BATCH == lfu
    given = least + 1;
#endif
    lower();
publish:
#if FAULT == 5
    atomic { key[entry] = k; due[entry] = given; effect[me] = (fresh -> BROUGHT_IN : WROTE_OVER); LOOK };
    atomic { score[entry] = given; LOOK };
#else
    atomic { key[entry] = k; score[entry] = given; due[entry] = given; effect[me] = (fresh -> BROUGHT_IN : WROTE_OVER); LOOK };
#endif
    goto end;

victim:
    other = bound[0];
    d_step { at = (bound[1] < other -> 1 : 0); other = (at == 1 -> other : bound[1]); least = NONE; second = NONE; i = at * PER }
    do
    :: d_step { i < END(at) ->
       if
       :: score[i] < least -> second = least; least = score[i]; entry = i; x = key[i]
       :: score[i] >= least && score[i] < second -> second = score[i]
       :: else
       fi;
       i++ }
    :: atomic { i == END(at) ->
       i = 0;
       if
       :: least > other -> goto raise
       :: least <= other && !always && given < least -> goto end /* refused */
       :: else -> break
       fi }
    od;
    if
    :: ALL_LOCKED -> d_step { key[entry] = LOCKED; assert(NOT_ABOVE(score[entry])) }
    :: else ->
       if
       :: d_step { !RESERVED(x) && key[entry] == x -> key[entry] = LOCKED; LOOK }
       :: RESERVED(x) || key[entry] != x -> goto again
       fi;
#if FAULT != 1
       if
       :: score[entry] == least
       :: score[entry] != least ->
#if FAULT != 4
          d_step { key[entry] = x; LOOK };
#endif
          goto again
       fi
#endif
    fi;
    d_step { assert(home[entry] == x && NOT_ABOVE(score[entry])); home[entry] = k; came++; gone++; fresh = true; score[entry] = given; LOOK };
    lower();
    d_step { digest[entry] = k; LOOK };
    d_step { bound[GROUP(entry)] = (second < given && FAULT != 7 -> second : given); LOOK };
    goto publish;

raise:
    atomic { bound[at] = (FAULT == 3 && second != NONE -> second : least); LOOK; goto victim }

again:
#if FAULT == 10
    let_go();
#endif
    atomic { (news >> me) & 1; goto round }

next: /* is left to the next pass */
    let_go();
    atomic { i = pass; passed_on[me] = (pass == ABSENT); through++ };
    atomic { pass != i; goto round }

end:
    let_go();
    d_step { ended++; through = (BATCH == lfu || BATCH == lru -> 0 : through + 1) }
}

init
{
    byte s, n, k;
    atomic {
        do
        :: s < SLOTS ->
           if
           :: skip
           :: d_step { key[s] = s + 1; home[s] = s + 1; digest[s] = s + 1; score[s] = 1; first++ }
           :: d_step { key[s] = s + 1; home[s] = s + 1; digest[s] = s + 1; score[s] = 2; first++ }
           fi;
           due[s] = score[s];
           s++
        :: else -> break
        od;
        if
#if BATCH == lfu || ITEMS == 2
        :: skip /* bounds of 0 */
#endif
        :: bound[0] = (score[PER - 1] < score[0] -> score[PER - 1] : score[0]); bound[1] = score[SLOTS - 1]
        fi;
#if BATCH == passes || BATCH == times
        pass = PRESENT;
        if
        :: keeps = true
        :: always = true
        :: skip
        fi;
#elif BATCH == lfu
        always = true;
#endif
        d_step { n = 0; s = 0 }
        do
        :: n < ITEMS ->
#if BATCH == lru
           if
           :: !(s & 2) -> k = 1
           :: !(s & 4) -> k = 2
           :: !(s & 8) -> k = 3
           :: (SLOTS == 3 || (s & 8)) && !(s & 16) -> k = 4 /* of two that are not there the one is as good as the other */
           :: SLOTS == 3 && (s & 16) && !(s & 32) -> k = 5
           fi;
           s = s | (1 << k);
#else
           k = (BATCH == lfu && k > 0 -> k : 1); /* of lfu items are told apart by their keys alone: in their order */
           do
           :: k < KEYS -> k++
           :: break
           od;
#endif
           wants[n] = k;
#if BATCH == lfu
           run item(n, k, 1);
#elif BATCH == lru || BATCH == times
           run item(n, k, TIMES + n);
#else
           run item(n, k, (n == 0 -> 2 : (n == 1 -> 1 : 3)));
#endif
           n++
        :: else -> break
        od;
        d_step { s = 0; n = 0; k = 0 }
    }
    do
    :: ended < ITEMS && through == ITEMS -> d_step { through = ended; pass++; news = (1 << ITEMS) - 1 }
    :: ended == ITEMS -> break
    od;
    assert(!bucket && first + came - gone == THERE(0) + THERE(1) + (SLOTS == 3 -> THERE(SLOTS - 1) : 0))
}

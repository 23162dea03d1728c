/* SPDX-License-Identifier: Apache-2.0
 *
 * slots.pml - a model for spin of how items that run at once claim the slots of a bucket (coalesced.h). ITEMS items
 * run in one bucket of SLOTS slots, in two groups with a lower bound each. Each access to the table's memory is one
 * step. The model tries all buckets to begin with: empty, full or with holes, scores in any order, bounds as high as
 * allowed or lower; and items of all keys. A key is its own digest. The model leaves out how items of one key become a
 * group (groups.h). The launches of such a batch are items as in `lfu`, `lru`, `falls`, `always` and `update`.
 *
 *   BATCH     level       the items
 *   lfu       TO_EVICT    upserts; hits add to scores, new entries begin below. Keys may repeat: the level allows it
 *   lru       NEVER       upserts; keys are distinct, scores rise, an item below the least score is refused
 *   falls     TO_EVICT    upserts; keys are distinct, scores are given and may fall: then a hit locks the bucket. Either
 *                         all items are admitted or not
 *   always    ALWAYS      upserts, some of which insert nothing; keys repeat, scores are given and may fall; either all
 *                         items are admitted or not
 *   update    NEVER       updates of the value and the score, of the value alone or of the score alone; scores are
 *                         given and may fall. Keys repeat, because batches of updates may run side by side
 *   times     NEVER       updates of the value and the score or of the score alone. A score is the time of its item and
 *                         tells which item wrote it. Items that write the same fields are one batch. An item that comes
 *                         after a later writer of its batch writes nothing
 *
 *   one slot          no key is published twice (LOOK, after every step that writes)
 *   no key is lost    a slot publishes the key that its tickets name (`home`); at the end the bucket has as many keys
 *                     as came less those that left
 *   scores            a published key has the score that was due; no bound is above a published score
 *   the least         a victim has a least score of the bucket when its claim is certain
 *   missed            an item that inserts nothing misses only a key that no slot has
 *   overwritten       an item that ends at another item's REPLACED has the key of that slot, and the other item writes
 *                     all fields that it would write
 *   outdone           an item that writes nothing has the key of the item whose time it saw, and that item writes all
 *                     fields that it would write
 *   no deadlock       every item ends. An item that could not go on looks again after a write (`news`): before, it
 *                     would see the same
 *   no livelock       no state comes again: no item loops for ever while the others stand still
 *
 * tests/t_models.sh runs it, and each FAULT that it must find:
 *    1 the victim's score is not read again           8 a hit claims with REPLACED where keys come and go
 *    2 no item locks the bucket                       9 an item that locks the bucket forgets it
 *    3 a bound is raised to the second score         10 an item that looks again drops the bucket
 *    4 a claim is not given back                     11 a bound stays where it is when a score falls
 *    5 the key is stored before its score            12 the time of another batch's item is taken for one of this batch
 *    6 some items claim another empty slot           13 an item that writes the value alone claims with REPLACED
 *      than the first                                14 an owned entry is taken for one of another key
 *    7 the bound is the new score, whatever the other   15 a hit that lowers a score does not lock the bucket
 *      scores are                                       16 a hit that has locked it takes the entry as it was before
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
#define always 3
#define update 4
#define times 5
#define falls 6
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

bool admits; /* all items are admitted */

#define VALUE 1
#define SCORE 2
#define INSERTS 4
byte wants[ITEMS], does[ITEMS]; /* of an item: its key; the fields it writes, and whether it inserts */
byte owner[SLOTS]; /* of a present entry: what the item does that has claimed it */

#define ALL_LOCKED (BATCH == always)
#define UPDATES (BATCH == update || BATCH == times)
#define LOCKS_TO_EVICT ((BATCH == lfu || BATCH == falls) && FAULT != 2)
#define HOLDS_TO_LOWER (BATCH == falls && FAULT != 15)
#define REPLACES (FAULT == 8 || (UPDATES && (op == (VALUE | SCORE) || FAULT == 13)))
#define COVERS(all, some) ((some & ~(all)) == 0)

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
    :: (op & SCORE) && given < least && FAULT != 11 ->
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

proctype item(byte me, k, given, op)
{
    byte entry, room, match, i, least, second, other, at, x;
    bool holds, busy;

round:
    if
    :: ALL_LOCKED && !holds && FAULT != 2 ->
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
       :: key[i] != k && RESERVED(key[i]) -> busy = (FAULT != 14)
       :: else
       fi;
       i = 0 }
    :: atomic { match == 0 ->
       if
       :: entry != NONE -> goto found
       :: entry == NONE && busy && !ALL_LOCKED -> goto again
       :: entry == NONE && (!busy || ALL_LOCKED) && !(op & INSERTS) ->
          assert(home[0] != k && home[1] != k && home[SLOTS - 1] != k); /* missed */
          goto end
       :: else ->
          if
          :: room != NONE -> entry = room; break
          :: room == NONE && !holds && LOCKS_TO_EVICT && BATCH == lfu -> goto lock
          :: room == NONE && !holds && LOCKS_TO_EVICT && BATCH == falls -> /* no other item has the key: not again */
             if
             :: atomic { !bucket -> bucket = true; holds = (FAULT != 9); LOOK }
             :: atomic { bucket -> goto again }
             fi;
             goto victim
          :: else -> goto victim
          fi
       fi }
    od;

    /* absent, room */
    if
    :: ALL_LOCKED ->
       d_step { key[entry] = LOCKED; home[entry] = k; came++; LOOK };
       d_step { score[entry] = given; LOOK }
    :: else ->
       let_go();
       if
       :: d_step { key[entry] == EMPTY -> key[entry] = LOCKED; home[entry] = k; came++; LOOK }
       :: key[entry] != EMPTY -> goto again
       fi
    fi;
    d_step { digest[entry] = k; LOOK };
    goto publish;

found:
#if BATCH == times
    if
    :: (op & SCORE) && least >= TIMES && (does[least - TIMES] == op || FAULT == 12) -> /* as it was when it looked */
       d_step { assert(wants[least - TIMES] == k && COVERS(does[least - TIMES], op)) } goto end
    :: else
    fi;
#endif
    if
    :: HOLDS_TO_LOWER && given < least && !holds ->
       if
       :: atomic { !bucket -> bucket = true; holds = (FAULT != 9); LOOK }
       :: atomic { bucket -> goto again }
       fi;
       if
       :: key[entry] == k || FAULT == 16
       :: key[entry] != k && FAULT != 16 -> goto again /* it was evicted before */
       fi
    :: else
    fi;
    if
    :: ALL_LOCKED || op == SCORE || (HOLDS_TO_LOWER && given < least) -> /* the score alone; of updates, side by side */
       lower();
       d_step { assert(home[entry] == k); score[entry] = given; due[entry] = given; LOOK };
       goto end
    :: else
    fi;
    let_go();
    if
    :: d_step { key[entry] == k ->
       key[entry] = (REPLACES -> REPLACED : LOCKED);
       owner[entry] = op;
       least = (BATCH == update -> least : score[entry]);
       LOOK }
    :: d_step { key[entry] == REPLACED -> assert(home[entry] == k && COVERS(owner[entry], op)) } goto end
    :: key[entry] != k && key[entry] != REPLACED -> goto again
    fi;
#if BATCH == lfu
    given = least + 1;
#endif
    lower();
publish:
#if FAULT == 5
    atomic { key[entry] = k; due[entry] = given; owner[entry] = 0; LOOK };
    atomic { score[entry] = given; LOOK };
#else
    atomic {
        if
        :: op & SCORE -> score[entry] = given; due[entry] = given
        :: else
        fi;
        key[entry] = k;
        owner[entry] = 0;
        LOOK
    };
#endif
    goto end;

victim:
    other = bound[0];
    d_step {
        at = (bound[1] < other -> 1 : 0);
        other = (at == 1 -> other : bound[1]);
        least = NONE;
        second = NONE;
        i = at * PER
    }
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
       :: least <= other && !admits && given < least -> goto end /* refused */
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
    d_step {
        assert(home[entry] == x && NOT_ABOVE(score[entry]));
        home[entry] = k;
        came++;
        gone++;
        score[entry] = given;
        LOOK
    };
    lower();
    d_step { digest[entry] = k; LOOK };
    d_step { bound[GROUP(entry)] = (second < given && FAULT != 7 -> second : given); LOOK };
    if
    :: !ALL_LOCKED -> let_go()
    :: else
    fi;
    goto publish;

raise:
    atomic { bound[at] = (FAULT == 3 && second != NONE -> second : least); LOOK; goto victim }

again:
#if FAULT == 10
    let_go();
#endif
    atomic { (news >> me) & 1; goto round }

end:
    let_go();
    ended++
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
#if BATCH == lfu || BATCH == falls || ITEMS == 2
        :: skip /* bounds of 0 */
#endif
        :: bound[0] = (score[PER - 1] < score[0] -> score[PER - 1] : score[0]); bound[1] = score[SLOTS - 1]
        fi;
#if BATCH == lfu
        admits = true;
#elif BATCH == always || BATCH == falls
        if
        :: admits = true
        :: skip
        fi;
#endif
        d_step { n = 0; s = 0 }
        do
        :: n < ITEMS ->
#if BATCH == lru || BATCH == falls
           if
           :: !(s & 2) -> k = 1
           :: !(s & 4) -> k = 2
           :: !(s & 8) -> k = 3
           :: (SLOTS == 3 || (s & 8)) && !(s & 16) -> k = 4 /* of two absent keys one is as good as the other */
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
           if
           :: does[n] = VALUE | SCORE | (UPDATES -> 0 : INSERTS)
#if BATCH == always
           :: does[n] = VALUE | SCORE
#endif
#if BATCH == update
           :: does[n] = VALUE
#endif
#if BATCH == update || BATCH == times
           :: does[n] = SCORE
#endif
           fi;
#if BATCH == lfu
           run item(n, k, 1, does[n]);
#elif BATCH == lru || BATCH == times
           run item(n, k, TIMES + n, does[n]);
#else
           run item(n, k, (n == 0 -> 2 : (n == 1 -> 1 : 3)), does[n]);
#endif
           n++
        :: else -> break
        od;
        d_step { s = 0; n = 0; k = 0 }
    }
    ended == ITEMS;
    assert(!bucket && first + came - gone == THERE(0) + THERE(1) + (SLOTS == 3 -> THERE(SLOTS - 1) : 0))
}

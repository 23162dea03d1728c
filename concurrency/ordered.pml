/* SPDX-License-Identifier: Apache-2.0
 *
 * ordered.pml - a model for spin of the order of batches by events (streams.c): BATCHES batches of any role are put on
 * any of STREAMS streams, of which LANES are told apart, so that lanes are taken over; then the streams run, each one
 * its work in order. A mark is a position in a stream, and a wait is for the position that the mark had when the wait
 * was put there.
 *
 *   exclusion         when a batch begins, no conflicting batch is running
 *   order             ... and all conflicting batches that were put there before it have ended
 *   no deadlock       every stream runs all of its work, so every batch runs, and no wait is left
 *   no starvation     each batch waits for a finite amount of earlier work; without deadlocks it runs
 *   overlap           two readers on two streams, with nothing between them, do not wait for each other (`TWO`)
 *
 * tests/t_models.sh runs it, and each FAULT that it must find: 1 the first batch of a phase waits for one lane only; 2
 * a batch that joins a phase does not wait for its beginning; 3 a lane that is taken over forgets its work; 4 readers
 * and updaters are one phase.
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef BATCHES
#define BATCHES 4
#endif
#define STREAMS 3
#define LANES 2
#define READER 0
#define UPDATER 1
#define INSERTER 2
#define TOGETHER(role) (role != INSERTER)
#define CONFLICT(a, b) (a != b || a == INSERTER)
#define NO_BATCH 255

/* A piece of work: RUN a batch; WAIT until so much of another stream is done. Marks are no work: they are places. */
#define WORKS 12
typedef piece { byte batch, stream, place }
typedef line { piece work[WORKS]; byte n, done }
line on[STREAMS];

/* lock state, as in hd_streams */
typedef mark { byte stream, place }
typedef lane_of { byte stream, batch, phase, joined; mark behind }
lane_of lane[LANES];
mark begun;
byte phase, role_now, put;
byte role[BATCHES];
bool begins[BATCHES], over[BATCHES];
byte running[3];

inline set_mark(m, s) { m.stream = s; m.place = on[s].n }
inline follow(m, s)
{
    if
    :: m.place > 0 && m.stream != s ->
       on[s].work[on[s].n].batch = NO_BATCH;
       on[s].work[on[s].n].stream = m.stream;
       on[s].work[on[s].n].place = m.place;
       on[s].n++
    :: else
    fi
}

/* lane_of in streams.c: the stream's, or the one used longest ago. */
inline find_lane(s)
{
    l = 0;
    if
    :: lane[0].batch > 0 && lane[0].stream == s -> l = 0
    :: else ->
       if
       :: lane[1].batch > 0 && lane[1].stream == s -> l = 1
       :: else ->
          l = (lane[1].batch < lane[0].batch -> 1 : 0);
          lane[l].joined = 0;
#if FAULT == 3
          lane[l].behind.place = 0;
#endif
          lane[l].stream = s
       fi
    fi
}

#if FAULT == 4
#define JOINS(r) (phase > 0 && role_now != INSERTER && r != INSERTER)
#else
#define JOINS(r) (phase > 0 && role_now == r && TOGETHER(r))
#endif

inline put_batch(s, r)
{
    find_lane(s);
    follow(lane[l].behind, s);
    if
    :: JOINS(r) ->
       if
#if FAULT == 2
       :: true
#else
       :: lane[l].joined != phase -> follow(begun, s)
       :: else
#endif
       fi
    :: else ->
       k = 0;
       do
       :: k < (FAULT == 1 -> 1 : LANES) ->
          if
          :: k != l && lane[k].batch > 0 && lane[k].phase == phase -> follow(lane[k].behind, s)
          :: else
          fi;
          k++
       :: else -> break
       od;
       set_mark(begun, s);
       phase++;
       role_now = r
    fi;
    lane[l].joined = phase;
    on[s].work[on[s].n].batch = put;
    on[s].n++;
    set_mark(lane[l].behind, s);
    put++;
    lane[l].batch = put;
    lane[l].phase = phase
}

/* What must be over, and what must not run, when batch b begins. */
inline look(b)
{
    i = 0;
    do
    :: i < b -> assert(!CONFLICT(role[i], role[b]) || over[i]); i++
    :: else -> break
    od;
    assert(running[0] + running[1] + running[2] == running[role[b]]);
    assert(TOGETHER(role[b]) || running[role[b]] == 0);
    i = 0
}

proctype device(byte me)
{
    byte b, i;
    do
    :: on[me].done < on[me].n && on[me].work[on[me].done].batch == NO_BATCH ->
       atomic { on[on[me].work[on[me].done].stream].done >= on[me].work[on[me].done].place; on[me].done++ }
    :: on[me].done < on[me].n && on[me].work[on[me].done].batch != NO_BATCH ->
       atomic { b = on[me].work[on[me].done].batch; look(b); running[role[b]]++ }
#ifdef TWO
       assert(running[READER] < 2); /* to be violated: they do overlap */
#endif
       atomic { running[role[b]]--; over[b] = true; on[me].done++; b = 0 }
    :: on[me].done == on[me].n -> break
    od
}

init
{
    byte s, r, l, k;
#ifdef TWO
    atomic { s = 0; r = READER; role[put] = r; put_batch(s, r); s = 1; role[put] = r; put_batch(s, r) }
#else
    do
    :: put < BATCHES ->
       if
       :: s = 0
       :: s = 1
       :: s = 2
       fi;
       if
       :: r = READER
       :: r = UPDATER
       :: r = INSERTER
       fi;
       atomic { role[put] = r; put_batch(s, r) }
    :: else -> break
    od;
#endif
    atomic { s = 0; r = 0; l = 0; k = 0 }
    atomic { run device(0); run device(1); run device(2) }
}

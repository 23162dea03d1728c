/* SPDX-License-Identifier: Apache-2.0
 *
 * group3.pml - a model for spin of the lock group3 in its two layers: the gate on the host (gate.c), which `ordered`,
 * `rw` and `exclusive` have too (GATE), and the word in the device's memory (word.h). Each of COMERS threads or streams
 * brings batches of any role, at any time, and the word works with whatever order the gate lets through. At the gate a
 * critical section of its mutex is one step; at the word each access is one.
 *
 *   exclusion         no two batches are inside together that must not be: the assertions of INSIDE
 *   no deadlock       no state without a successor (there are always more batches)
 *   no starvation     each batch gets in, if every process that can continue does at some time (`served`, fairness)
 *
 * tests/t_models.sh runs it, and each FAULT that it must find: 1 no batch waits for those inside; 2 the next ticket's
 * turn comes before a batch is inside; 3 tickets are ignored, and batches of the role inside overtake; 4 updaters are
 * let in with readers.
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef COMERS
#define COMERS 3
#endif
#define READER 0
#define UPDATER 1
#define INSERTER 2
#define TOGETHER(role) (role != INSERTER)
#if FAULT == 4
#define SAME(a, b) (a == b || (a != INSERTER && b != INSERTER))
#else
#define SAME(a, b) (a == b)
#endif

byte in[3];
#define INSIDE(role)                                                                              \
    d_step {                                                                                      \
        in[role]++;                                                                               \
        assert(in[0] + in[1] + in[2] == in[role]);                                                \
        assert(TOGETHER(role) || in[role] == 1);                                                  \
    }

/* Tickets are counted round: there are never more than COMERS out. */
byte next, serving, inside, kind;
#define AFTER(ticket) ((ticket + 1) % (COMERS + 1))
bool waits[COMERS];

inline any_role(role)
{
    if
    :: role = READER
    :: role = UPDATER
    :: role = INSERTER
    fi
}

#if FAULT == 1
#define LETS_IN(role) true
#else
#define LETS_IN(role) (inside == 0 || (SAME(kind, role) && TOGETHER(role)))
#endif
#if FAULT == 3
#define IS_TURN(ticket) true
#else
#define IS_TURN(ticket) (serving == ticket)
#endif

active [COMERS] proctype comer()
{
    byte role, ticket;
    do
    :: any_role(role);
       d_step { ticket = next; next = AFTER(next); waits[_pid] = true }
#ifdef GATE
       d_step { IS_TURN(ticket) && LETS_IN(role); serving = AFTER(serving); inside++; kind = role }
#else
       IS_TURN(ticket);
#if FAULT == 2
       serving = AFTER(ticket);
#endif
       do
#if FAULT == 1
       :: break
#else
       :: inside == 0 -> break
       :: inside != 0 ->
          if
          :: TOGETHER(role) && SAME(kind, role) -> break
          :: else -> LETS_IN(role) /* looks again, when there is something to see */
          fi
#endif
       od;
       kind = role;
       inside++;
#if FAULT != 2
       serving = AFTER(ticket);
#endif
#endif
       waits[_pid] = false;
       INSIDE(role);
       d_step { in[role]--; inside--; ticket = 0 };
       role = 0
    od
}

ltl served { [] (waits[0] -> <> !waits[0]) }

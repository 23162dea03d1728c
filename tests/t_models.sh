# SPDX-License-Identifier: Apache-2.0
#
# t_models.sh - model checking of the batch locks and of the slots of a bucket, over all states: the properties of each
# model hold, and each fault that it can switch on is found. Needs spin and a C compiler.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
for tool in spin "${CC%% *}"; do
  command -v "$tool" >/dev/null || { echo "1..0 # SKIP $tool is missing"; exit 77; }
done

# explore MODEL LIVENESS DEFINES...: true if the search is complete and finds no error; its output is in $work/said.
# LIVENESS: no; yes: the model's liveness claim, with weak fairness; rounds: no execution repeats a state.
explore() {
  local model=$1 liveness=$2 claim=(-DNOCLAIM -DSAFETY -DCOLLAPSE) search=()
  shift 2
  [ "$liveness" != yes ] || claim=(-DNFAIR=3) search=(-a -f)
  [ "$liveness" != rounds ] || claim=(-DNOCLAIM -DNP -DCOLLAPSE) search=(-l)
  (cd "$work" && rm -f pan ./*.trail && spin "$@" -a "$model" >said 2>&1 && ${CC:-cc} -w "$optimize" "${claim[@]}" -o pan pan.c >>said 2>&1 &&
    guard ./pan -w21 -m1000000 "${search[@]}" >said 2>&1) || return
  grep -q 'errors: 0' "$work/said" && ! grep -qE 'max search depth|out of memory|Search not completed' "$work/said"
}
folder=$(cd "$top_srcdir" && pwd)
optimize=-O1 # where an exploration is short, compiling takes longer
searched=0 # states of all models that hold
states() { sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' "$work/said" | head -n 1; }
holds() { # WHAT MODEL LIVENESS DEFINES...
  local what=$1 model=$folder/$2 liveness=$3
  shift 3
  if explore "$model" "$liveness" "$@"; then pass "$what: $(states) states" && searched=$((searched + $(states))); else words=$work/said fail "$what"; fi
}
finds() { # WHAT MODEL LIVENESS DEFINES...: the search must find an error
  local what=$1 model=$folder/$2 liveness=$3 optimize=-O0
  shift 3
  if explore "$model" "$liveness" "$@"; then fail "$what" "nothing was found"
  elif grep -qE 'errors: [1-9]' "$work/said"; then pass "$what"
  else words=$work/said fail "$what" "it did not run"; fi
}

holds "group3, at the gate: exclusion, no deadlock" concurrency/group3.pml no -DGATE
holds "group3, at the gate: no batch starves" concurrency/group3.pml yes -DGATE
holds "group3, at the word: exclusion, no deadlock" concurrency/group3.pml no
holds "group3, at the word: no batch starves" concurrency/group3.pml yes
holds "ordered: exclusion, order, no deadlock" concurrency/ordered.pml no
finds "ordered: two readers overlap" concurrency/ordered.pml no -DTWO -DBATCHES=2
for batch in lfu lru falls always update times; do
  # in long runs all of it under each, otherwise under those two that differ most
  if [[ -n ${HEDDLE_TEST_LONG:-} || $batch = l[fr]u ]]; then
    holds "slots, $batch, three items in two: one slot for a key, no key lost or missed, the least leaves, no deadlock" gpu/hkv/slots.pml no -DBATCH=$batch
    optimize=-O0
    holds "slots, $batch, two items in three: the same" gpu/hkv/slots.pml no -DBATCH=$batch -DSLOTS=3 -DITEMS=2
  fi
  optimize=-O0
  holds "slots, $batch, two items in two: no item loops for ever" gpu/hkv/slots.pml rounds -DBATCH=$batch -DITEMS=2
  optimize=-O1
done

finds "a gate that does not look at those inside" concurrency/group3.pml no -DGATE -DFAULT=1
finds "a gate that does not look at tickets" concurrency/group3.pml yes -DGATE -DFAULT=3
finds "a gate that lets updaters in with readers" concurrency/group3.pml no -DGATE -DFAULT=4
finds "a word that does not look at those inside" concurrency/group3.pml no -DFAULT=1
finds "a word that calls the next one early" concurrency/group3.pml no -DFAULT=2
finds "a word that does not look at tickets" concurrency/group3.pml yes -DFAULT=3
finds "a word that lets updaters in with readers" concurrency/group3.pml no -DFAULT=4
finds "a phase that waits for one lane only" concurrency/ordered.pml no -DFAULT=1
finds "a phase that is joined before it begins" concurrency/ordered.pml no -DFAULT=2
finds "a lane that forgets what was on it" concurrency/ordered.pml no -DFAULT=3
finds "readers and updaters in one phase" concurrency/ordered.pml no -DFAULT=4
faulty() { # FAULT WHAT LIVENESS DEFINES...: slots.pml with it
  local fault=$1 what=$2 liveness=$3
  shift 3
  finds "$what" gpu/hkv/slots.pml "$liveness" -DFAULT="$fault" "$@"
}
faulty 1 "a victim whose score is not looked at again" no -DBATCH=lru -DITEMS=2
faulty 2 "no lock to evict where keys repeat" no -DBATCH=lfu -DITEMS=2
faulty 2 "no lock where every item needs it" no -DBATCH=always -DITEMS=2
faulty 3 "a bound above a score beside the least" no -DBATCH=lfu -DSLOTS=3 -DITEMS=2
faulty 4 "a claim that is not given back" no -DBATCH=lru -DITEMS=2
faulty 5 "a key before its score" no -DBATCH=lfu -DITEMS=2
faulty 6 "an empty slot that is not the first" no -DBATCH=lfu -DITEMS=2
faulty 7 "a bound that forgets the newcomer's neighbour" no -DBATCH=lru -DSLOTS=3 -DITEMS=2
faulty 8 "entries that say they are replaced where keys come and go" no -DBATCH=lfu
faulty 9 "a lock that its holder forgets" no -DBATCH=lfu -DITEMS=2
faulty 10 "a lock that is let go before the next look" rounds -DBATCH=lfu -DITEMS=2
faulty 11 "a bound that does not fall with a score, under the lock" no -DBATCH=always -DITEMS=2
faulty 11 "a bound that does not fall with a score, without a lock" no -DBATCH=update -DITEMS=2
faulty 12 "an item outdone by one of another batch" no -DBATCH=times -DITEMS=2
faulty 13 "an entry that says it is replaced when only its value is" no -DBATCH=update -DITEMS=2
faulty 15 "a hit that lowers a score without the lock" no -DBATCH=falls -DITEMS=2
faulty 16 "a hit of an entry that was evicted before the lock" no -DBATCH=falls -DITEMS=2
faulty 14 "an owned entry that is not looked at again" no -DBATCH=update -DITEMS=2
tried models "$searched" "states of the protocols, every one; and faults in them found"
finish

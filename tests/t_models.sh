# SPDX-License-Identifier: Apache-2.0
#
# t_models.sh - the protocols of the batch locks as models, every state of them: what each model says that it shows is shown, and each fault
# that it knows is found. Needs spin and a C compiler.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
for tool in spin "${CC%% *}"; do
  command -v "$tool" >/dev/null || { echo "1..0 # SKIP $tool is missing"; exit 77; }
done

# explore MODEL LIVENESS DEFINES...: what the exploration says, in $work/said; true when it is complete and finds nothing.
explore() {
  local model=$1 liveness=$2 claim=(-DNOCLAIM -DSAFETY -DCOLLAPSE) search=()
  shift 2
  [ "$liveness" = no ] || claim=(-DNFAIR=3) search=(-a -f)
  (cd "$work" && rm -f pan ./*.trail && spin "$@" -a "$model" >said 2>&1 && ${CC:-cc} -w -O2 "${claim[@]}" -o pan pan.c >>said 2>&1 &&
    timeout 300 ./pan -m4000000 "${search[@]}" >said 2>&1) || return
  grep -q 'errors: 0' "$work/said" && ! grep -qE 'max search depth|out of memory|Search not completed' "$work/said"
}
folder=$(cd "$top_srcdir/concurrency" && pwd)
searched=0 # states of all models that hold
states() { sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' "$work/said" | head -n 1; }
holds() { # WHAT MODEL LIVENESS DEFINES...
  local what=$1 model=$folder/$2 liveness=$3
  shift 3
  if explore "$model" "$liveness" "$@"; then pass "$what: $(states) states" && searched=$((searched + $(states))); else words=$work/said fail "$what"; fi
}
finds() { # WHAT MODEL LIVENESS DEFINES...: it must be seen to be wrong
  local what=$1 model=$folder/$2 liveness=$3
  shift 3
  if explore "$model" "$liveness" "$@"; then fail "$what" "nothing was found"
  elif grep -qE 'errors: [1-9]' "$work/said"; then pass "$what"
  else words=$work/said fail "$what" "it did not run"; fi
}

holds "group3, at the gate: exclusion, no deadlock" group3.pml no -DGATE
holds "group3, at the gate: nobody starves" group3.pml yes -DGATE
holds "group3, at the word: exclusion, no deadlock" group3.pml no
holds "group3, at the word: nobody starves" group3.pml yes
holds "ordered: exclusion, order, no deadlock" ordered.pml no
finds "ordered: two readers overlap" ordered.pml no -DTWO -DBATCHES=2

finds "a gate that does not look at those inside" group3.pml no -DGATE -DFAULT=1
finds "a gate that does not look at tickets" group3.pml yes -DGATE -DFAULT=3
finds "a gate that lets updaters in with readers" group3.pml no -DGATE -DFAULT=4
finds "a word that does not look at those inside" group3.pml no -DFAULT=1
finds "a word that calls the next one early" group3.pml no -DFAULT=2
finds "a word that does not look at tickets" group3.pml yes -DFAULT=3
finds "a word that lets updaters in with readers" group3.pml no -DFAULT=4
finds "a phase that waits for one lane only" ordered.pml no -DFAULT=1
finds "a phase that is joined before it begins" ordered.pml no -DFAULT=2
finds "a lane that forgets what was on it" ordered.pml no -DFAULT=3
finds "readers and updaters in one phase" ordered.pml no -DFAULT=4
tried models "$searched" "states of the protocols, every one; and faults in them found"
finish

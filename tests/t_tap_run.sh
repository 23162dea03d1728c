# SPDX-License-Identifier: Apache-2.0
#
# t_tap_run.sh - tests of tests/tap-run: it stops a test by its processor time, and one that waits, with all that they
# started; and no test that only shares its processor.
. "${top_srcdir:?}/tests/cases.sh"
cd "$work" && mkdir late || exit 1

# of NAME SECONDS SCRIPT: what tap-run makes of the script, in NAME.tap. The scripts run side by side.
of() { printf '%s\n' "$3" >"$1.sh" && HEDDLE_TEST_SECONDS=$2 bash "$top_srcdir/tests/tap-run" bash "$1.sh" >"$1.tap" 2>&1 & }
# shellcheck disable=SC2016 # the words are scripts
{
  of spins 3 'echo "ok 1 - a"; while :; do (for i in {1..20000}; do :; done); done'
  of waits 6 'echo "ok 1 - a"; setsid sleep 1234567 & sleep 1234567'
  printf '#!/bin/sh\nsleep 2\nexec %s "$@"\n' "$(command -v setsid)" >late/setsid; chmod +x late/setsid
  PATH=$PWD/late:$PATH of late 6 'echo "ok 1 - a"; sleep 1234567'
  of shares 4 'end=$((SECONDS + 8)); while [ $SECONDS -lt $end ]; do for i in {1..9000}; do :; done; sleep 0.2; done; echo "ok 1 - a"; echo 1..1'
  of plain 60 'exit 77'
  of signals 60 'mask=$(sed -n "s/^SigIgn:[[:space:]]*/0x/p" /proc/self/status); [ $((mask & 0x5007)) = 0 ] && echo "ok 1 - a"; echo 1..1'
  of short 60 'echo 1..3; echo "ok 1 - a"; echo "not ok 2 # SKIP b"'
}
wait
# says NAME TEXT: the output without the line of times.
says() { words=$1.tap; diff <(sed '/^# .* s of processor time$/d; /^$/d; s/ $//' "$1.tap") - | none "$2"; }
says spins 'processor time has a limit' <<'END'
ok 1 - a
not ok 2 - spins.sh: stopped: more than 3 s of processor time
1..2
END
says waits 'a test that waits is stopped, with what left its session' <<'END'
ok 1 - a
not ok 2 - waits.sh: stopped: it waits: no processor time for 2 s
1..2
END
says late 'a test that starts late is watched as well' <<'END'
ok 1 - a
not ok 2 - late.sh: stopped: it waits: no processor time for 2 s
1..2
END
says shares 'a test that shares its processor goes on beyond the limit' <<'END'
ok 1 - a
1..1
END
says plain 'a program without TAP is skipped by its exit code' <<'END'
ok 1 - plain.sh # SKIP
1..1
END
says signals 'SIGHUP, SIGINT, SIGQUIT, SIGPIPE and SIGTERM are not ignored' <<'END'
ok 1 - a
1..1
END
says short 'cases that are missing are a failure' <<'END'
ok 1 - a
ok 2 - b # SKIP
not ok 3 - short.sh: exit 0 after 2 of 3 cases
1..3
END
grep -aszl '[1]234567' /proc/[0-9]*/cmdline | none 'nothing is left'
grep -LE '^# [0-9.]+ s, [0-9.]+ s of processor time$' ./*.tap | none 'each says its times'
finish

# SPDX-License-Identifier: Apache-2.0
#
# t_first.sh - the first commands of README.md, one for each kind of reader, run as printed after the build.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
top_srcdir=$(cd "$top_srcdir" && pwd) top_builddir=$(cd "${top_builddir:?}" && pwd)
unset MAKEFLAGS MAKELEVEL
# The place where a reader is: the source tree, with a build in build/. What a command writes is not left there.
cd "$work" && ln -s "$top_builddir" build && ln -s "$top_srcdir/examples" examples || exit 1

sed -n '/^| you are | your first command |$/,/^$/s/^| an\{0,1\} \([^|]*\) | `\([^`]*\)`.*/\1|\2/p' "$top_srcdir/README.md" >rows
{ [ "$(wc -l <rows)" = 6 ] || cat rows; } | none "README.md has six first commands"
while IFS='|' read -r reader command <&3; do
  name="$reader: $command"
  if [[ $command == *build/python/bin/python* ]] && [ ! -x build/python/bin/python ]; then
    skip "$name" "there is no virtual environment in this build (./try makes one)"
  elif [[ $command == *build/examples/embedding* ]] && grep -qx 'HAVE_CXX_TRUE = #' build/Makefile; then
    skip "$name" "there is no C++ compiler"
  else try "$name" guard bash -ec "$command"
  fi
done 3<rows

# ---- What ./try says and installs ------------------------------------------------------------------------------------

{ sed -n 's/^packages[a-z_]* //p' "$top_srcdir/try" | grep -qw 'g++' || echo "./try installs no C++ compiler, which the first command of an embedding engineer needs"; } |
  none "./try installs what the first commands need"
# Ten seconds are a tenth of one here. The step ends when this was said three times, or after a minute.
mkdir -p tree/build && (cd tree && bash -c '. "$0"/build-aux/setup.sh && sleep() { command sleep 0.1; }
  step() { for _ in {1..600}; do [ "$(grep -c " s: a long step$" ../said)" -lt 3 ] || return 0; sleep; done; }
  quietly "a long step" step' "$top_srcdir") >said 2>&1
{ [ "$(grep -cE '^[^ ]+:   [0-9]+ s: a long step$' said)" -ge 3 ] || cat said; } | none "a step says every ten seconds that it is being done"
finish

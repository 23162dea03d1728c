# SPDX-License-Identifier: Apache-2.0
#
# setup.sh - what ./try and ./check have in common: packages, configure, make. Sourced by them at the top of the tree;
# everything goes into build/, and what is there already is used again.

export LC_ALL=C.UTF-8
unset MAKEFLAGS MAKELEVEL TESTS
build=build
log=$build/$(basename "$0").log
installed=no

say() { printf '%s: %s\n' "$(basename "$0")" "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# follow COMMAND...: what the command says of the work that is being done, every ten seconds, while the shell lives.
# A caller ends it: unfollow.
follow() {
  local start=$SECONDS
  while sleep 10 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do say "  $((SECONDS - start)) s: $("$@")"; done &
  follower=$!
}
unfollow() {
  kill $follower
  wait $follower 2>/dev/null || :
}

# How far the build is whose words are in the log from line $1 on; or the last of these words; without any, $2.
words_since() {
  tail -n "+$1" "$log" | awk -v what="$2" '
    /^  (CC|CXX|NVCC) / { compiled++ }
    NF && !/^===/      { last = $0 }
    END                 { if (last == "") last = what; sub(/^ +/, "", last); print (compiled ? compiled " files compiled; " : "") substr(last, 1, 80) }'
}

# quietly WHAT COMMAND...: the command's words go to the log, and their end to the screen when it fails.
quietly() {
  local what=$1 code=0
  shift
  say "$what"
  printf '\n=== %s\n' "$*" >>"$log"
  follow words_since "$(wc -l <"$log")" "$what"
  "$@" >>"$log" 2>&1 </dev/null || code=$?
  unfollow
  [ $code != 0 ] || return 0
  tail -n 25 "$log" >&2
  die "$what: failed; all of it is in $log"
}

apt_install() { $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; }
apt_retry() { apt_install "$@" || { $sudo apt-get update && apt_install "$@"; }; }

# packages NAME...: installs those Debian packages that are missing, of these and of what every build needs.
packages() {
  local missing=() name sudo=
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "no apt here: going on with the C compiler, autotools, xxhash, zstd, zlib, jansson, cmocka that are installed"
    return
  fi
  for name in "${needed[@]}" "$@"; do
    [[ $(dpkg-query -W -f ' ${db:Status-Status} ' "$name" 2>/dev/null) == *" installed "* ]] || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    sudo=$(command -v sudo) || die "packages are missing and this is not root; as root: apt-get install ${missing[*]}"
  fi
  [ -z "$sudo" ] || "$sudo" -v || die "packages are missing; as root: apt-get install ${missing[*]}"
  compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null || quietly "reading apt's package lists" $sudo apt-get update
  quietly "installing ${missing[*]}" apt_retry "${missing[@]}"
  installed=yes
}

# packages_if_known NAME...: installs those of these Debian packages that are missing and that this release has. It
# fails on none of them. `packages` comes first.
packages_if_known() {
  local name sudo=
  command -v apt-cache >/dev/null || return 0
  [ "$(id -u)" = 0 ] || sudo=$(command -v sudo) || return 0
  for name in "$@"; do
    if ! dpkg-query -W "$name" >/dev/null 2>&1 && [ -n "$(apt-cache show "$name" 2>/dev/null)" ]; then
      say "installing $name"
      if apt_install "$name" >>"$log" 2>&1 </dev/null; then installed=yes; else say "$name: not installed (words in $log)"; fi
    fi
  done
}

# late NAME TOOL: configure did not find what HAVE_NAME needs, and the tool is there now.
late() { grep -q "^S\\[\"HAVE_$1_TRUE\"\\]=\"#\"" $build/config.status && command -v "$2" >/dev/null; }

# True when build/ has to be configured: it is not, or was before a package came, or stood in another place.
stale() {
  [ ! -f $build/config.status ] || [ ! -f $build/Makefile ] || [ $installed = yes ] ||
    late CXX g++ || late HELP2MAN help2man || late SITE cmark-gfm ||
    ! grep -qxF "abs_top_builddir = $PWD/$build" $build/Makefile
}

# Configures build/ as it was configured before, or with the words in `configure_words`. -g1 keeps function names and
# lines for a debugger; the rest of -g would take a sixth of the time that gcc needs.
configure_words=
configure_here() {
  if [ -f $build/config.status ]; then
    set -- "$(cd $build && ./config.status --config)"
  else
    set -- "CFLAGS='${CFLAGS--g1 -O3}' $configure_words"
  fi
  (cd $build && eval "../configure $1")
}

# configured [CONDITION]: configures when needed, or when the command CONDITION says so.
configured() {
  [ ! -f config.status ] || die "this tree is configured in place; run 'make distclean' first"
  if [ ! -x configure ] || [ configure.ac -nt configure ] || [ build-aux/m4/hd_flags.m4 -nt configure ]; then
    quietly "making configure" ./autogen.sh
  fi
  if stale || { [ $# -gt 0 ] && "$@"; }; then quietly "configuring in $build/" configure_here; fi
}

# The Python that configure found for the package; empty: none.
package_python() { sed -n 's/^HD_PYTHON = //p' $build/Makefile; }

# built [TARGET]: builds TARGET, or everything.
built() { quietly "building in $build/ (words in $log)" make -C $build -j"$(nproc)" "$@"; }

mkdir -p $build
: >"$log"
needed=(gcc libc6-dev make autoconf automake libtool pkg-config libxxhash-dev libzstd-dev zlib1g-dev libjansson-dev)

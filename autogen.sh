#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# autogen.sh - makes ./configure in a fresh clone. Releases carry theirs.
set -eu
cd "$(dirname "$0")"
for tool in autoreconf automake libtoolize; do
  command -v "$tool" >/dev/null || {
    echo "autogen.sh: $tool is missing; on Debian and Ubuntu: apt install autoconf automake libtool" >&2
    exit 1
  }
done
exec autoreconf --force --install "$@"

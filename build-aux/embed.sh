#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# embed.sh FOLDER FILE... - prints files as initialisers of C: { "name", "text", "hash" }, each name without FOLDER. The
# hash is the file's SHA-256 in the form in which a Content-Security-Policy names a script or a style.
set -eu
folder=$1
shift
for file; do
  printf '{ "%s",\n' "${file#"$folder"/}"
  sed -e 's/[\\"]/\\&/g' -e 's/?/\\?/g' -e 's/.*/  "&\\n"/' "$file"
  bytes=$(sha256sum <"$file" | cut -d ' ' -f 1 | sed 's/../\\x&/g')
  printf '  , "sha256-%s" },\n' "$(env printf '%b' "$bytes" | base64)"
done

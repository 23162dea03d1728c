#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# manual.sh HELP2MAN COMMAND OUTPUT - the manual page, from what the command says of itself: help2man reads --help and --version,
# and each verb's own --help follows as a section.
set -eu
help2man=$1 command=$2 output=$3
trap 'rm -f "$output.verbs" "$output.part"' EXIT
export LC_ALL=C.UTF-8 COLUMNS=100

"$command" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' | while read -r verb; do
  printf '[HEDDLE %s]\n.nf\n' "$verb" | tr '[:lower:]' '[:upper:]' | sed 's/^\.NF$/.nf/'
  "$command" "$verb" --help | sed 's/\\/\\e/g; s/-/\\-/g; s/^\([.'"'"']\)/\\\&\1/; s/^$/.sp/'
  printf '.fi\n\n'
done >"$output.verbs"
"$help2man" --no-info --name='hash tables with cache semantics' --include="$output.verbs" --output="$output.part" "$command"
mv "$output.part" "$output"

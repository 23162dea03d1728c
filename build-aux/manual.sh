#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# manual.sh HELP2MAN COMMAND OUTPUT - makes the manual page: help2man reads --help and --version; the --help of each
# verb becomes a section, and so do the examples, because help2man would join their lines to a paragraph.
set -eu
help2man=$1 command=$2 output=$3
trap 'rm -f "$output.verbs" "$output.part" "$output.tool"' EXIT
export LC_ALL=C.UTF-8 COLUMNS=100

"$command" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' | while read -r verb; do
  printf '[HEDDLE %s]\n.nf\n' "$verb" | tr '[:lower:]' '[:upper:]' | sed 's/^\.NF$/.nf/'
  "$command" "$verb" --help | sed 's/\\/\\e/g; s/-/\\-/g; s/^\([.'"'"']\)/\\\&\1/; s/^$/.sp/'
  printf '.fi\n\n'
done >"$output.verbs"
{ printf '[EXAMPLES]\n.nf\n'; "$command" --help | sed -n '/^EXAMPLES$/,/^$/s/^ .*/&/p'; printf '.fi\n\n'; } >>"$output.verbs"
printf '#!/bin/sh\n"%s" "$@" | sed "/^EXAMPLES\\$/,/^\\$/d"\n' "$command" >"$output.tool"
chmod +x "$output.tool"
"$help2man" --no-info --name='hash tables with cache semantics' --include="$output.verbs" --output="$output.part" "$output.tool"
mv "$output.part" "$output"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# judge.sh - runs PAPER/judge.py, with a python that has matplotlib if there is one:
#
#   judge.sh PAPER [ARGUMENT...]
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
paper=${1:?paper}
shift
for python in "${PYTHON:-python3}" /usr/bin/python3; do
  "$python" -c 'import matplotlib' 2>/dev/null && exec "$python" "$here/$paper/judge.py" "$@"
done
exec "${PYTHON:-python3}" "$here/$paper/judge.py" "$@"

#!/usr/bin/env bash
# Runs a command beside another. What it wrote is shown in one piece when it has ended. Fails if either does.
#
#   beside.sh command … -- other …
set -uo pipefail

command=()
while [ "$1" != -- ]; do
  command+=("$1")
  shift
done
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
(
  "${command[@]}" >"$log" 2>&1
  result=$?
  cat "$log"
  exit "$result"
) &
beside=$!
"$@"
result=$?
wait "$beside" || exit 1
exit "$result"

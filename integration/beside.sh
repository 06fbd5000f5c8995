#!/usr/bin/env bash
# Runs a command beside another that waits most of the time: it gets what that leaves of the machine, and what it wrote is
# shown in one piece when it has ended. Fails if either does.
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
  nice -n 19 "${command[@]}" >"$log" 2>&1
  result=$?
  cat "$log"
  exit "$result"
) &
beside=$!
"$@"
result=$?
wait "$beside" || exit 1
exit "$result"

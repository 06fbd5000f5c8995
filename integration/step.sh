#!/usr/bin/env bash
# Runs one step of the Makefile, names it when it begins, and tells its time when it ends.
#
#   step.sh "name" command …
set -uo pipefail

name=$1
shift
echo "== $name"
began=$SECONDS
"$@"
result=$?
if [ $result = 0 ]; then
  echo "== $name: ok, $((SECONDS - began)) s"
else
  echo "== $name: FAILED ($result), $((SECONDS - began)) s"
fi
exit $result

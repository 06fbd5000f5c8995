#!/usr/bin/env bash
# Runs a `go test` command. If one or two packages fail, they are tested once more, alone: what failed since the machine
# stood still passes then, and what is wrong does not. They are named at the end, for that is to be mended too.
set -uo pipefail

log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" 2>&1 | tee "$log" && exit 0

mapfile -t failed < <(sed -nE 's/^FAIL\t([^ \t]+)\t[0-9.]+s$/\1/p' "$log")
# No second try for what does not build, panics, ran out of time or raced, nor for a promise that was seen broken.
if ((${#failed[@]} == 0 || ${#failed[@]} > 2)) ||
  grep -qiE '^FAIL\t.*\[|^panic: |DATA RACE|VIOLATION|[a-z] inside|holds? that no one released' "$log" ||
  grep -qE '/(torture|endurance|failover|faults)$' <(printf '%s\n' "${failed[@]}"); then
  exit 1
fi
command=()
for word; do
  [[ $word == ./* || $word == */*/* ]] || command+=("$word")
done
echo "== once more, alone: ${failed[*]}"
"${command[@]}" -p 1 "${failed[@]}" || exit 1
echo "== FAILED ONCE: ${failed[*]}"

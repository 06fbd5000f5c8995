#!/usr/bin/env bash
# Sorts packages, a line each, so that those whose tests take longest come first: none of them runs alone at the end.
set -euo pipefail

longest='rlock cookbook wire doccheck virtual mutants invariants hostile behaviour security severalservers timing interop sentinels javapeer cluster replicated javakinds topology watchdog pipeline locks'
awk -F/ -v longest="$longest" '
  BEGIN { n = split(longest, names, " "); for (i = 1; i <= n; i++) at[names[i]] = i }
  { print ($NF in at ? at[$NF] : n + 1), $0 }' | sort -s -n -k 1,1 | cut -d ' ' -f 2

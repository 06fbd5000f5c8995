#!/bin/bash
# How many lines each kind has of its own, without blank ones and comments, and how many the core has that the plain lock
# never reaches (`go doc ./coresize`); the last row's are those of all kinds. A file that no row names ends this with an error.
set -euo pipefail
shopt -s nullglob
cd "$(dirname "$0")"
core=$(go run ./coresize)
cd ../internal

count() { cat "$@" </dev/null | grep -cvE '^[[:space:]]*($|//|--)' || true; }
format='%-16s %6s %8s %8s %6s\n'
counted=()
row() { # name, then its files
    local name=$1 && shift
    local go=() calls=() scripts=() shared
    shared=$(grep -oP "^$name\t\K.*" <<<"$core")
    for file in "$@"; do
        [[ -e $file ]] || { echo "$file is not there" >&2; exit 1; }
        counted+=("$file")
        case $file in
            *.lua) scripts+=("$file") ;;
            luasrc/*) calls+=("$file") ;;
            *) go+=("$file") ;;
        esac
    done
    printf "$format" "$name" "$(count "${go[@]}")" "$(count "${calls[@]}")" "$(count "${scripts[@]}")" "$shared"
}

printf "$format" 'lines of' kind 'calls' scripts core
row plain kind/reentrant.go luasrc/lock.lua luasrc/unlock*.lua luasrc/force_unlock*.lua luasrc/renew.lua luasrc/info.*
row spin kind/spin.go luasrc/spin.go luasrc/spin_*.lua
row fair kind/fair.go luasrc/fair.go luasrc/fair_*.lua
row read-write kind/readwrite.go luasrc/readwrite.go luasrc/{read,write,rw}_*.lua
row fenced kind/fenced.go luasrc/fenced.go luasrc/fenced_*.lua
row non-reentrant kind/nonreentrant.go luasrc/nonreentrant.go luasrc/non_reentrant_*.lua
row permits kind/permits.go luasrc/permits.go luasrc/permit*.lua
row 'semaphore, latch' kind/{semaphore,countdown}.go luasrc/numbers.go luasrc/{number,semaphore_*,count_down}.lua
row 'all of them' kind/{call,doc,kind,want}.go luasrc/{calls,doc,script}.go

for file in kind/*.go luasrc/*.go luasrc/*.lua; do
    [[ $file == *_test.go || " ${counted[*]} " == *" $file "* ]] || { echo "$file is in no row" >&2; exit 1; }
done

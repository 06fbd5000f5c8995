#!/usr/bin/env bash
# Installs what the tests need and the machine lacks, from the distribution's own packages (Debian and its kin).
#
#   setup.sh redis    what the quick start needs
#   setup.sh test     what make test needs
#   setup.sh all      what make test-all needs: a Docker engine too
#
# Nothing that is there is touched. The services that packages may start (a Redis on its usual port, a Docker engine)
# are of no matter to the tests: they start servers of their own on other ports.
set -euo pipefail

case ${1:-all} in
  redis) wanted='redis-server:redis-server' ;;
  # gcc is for the race detector.
  test) wanted='redis-server:redis-server gcc:gcc gcc:libc6-dev java:openjdk-17-jdk-headless mvn:maven promtool:prometheus' ;;
  all) wanted='redis-server:redis-server gcc:gcc gcc:libc6-dev java:openjdk-17-jdk-headless mvn:maven promtool:prometheus dockerd:docker.io docker:docker-cli' ;;
  *) echo "usage: $0 redis|test|all" >&2; exit 2 ;;
esac

# dockerd and its like are in folders that a plain user's PATH may lack.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }
has() { command -v "$1" >/dev/null; }
missing() {
  local pair
  for pair in $wanted; do
    has "${pair%%:*}" || echo "${pair#*:}"
  done
}
install() {
  # Another installation may be under way (a machine that has just booted updates itself).
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@"
}

has go || { echo "setup.sh: Go is not installed; 1.26 or newer is needed" >&2; exit 1; }
packages=$(missing)
if [ -n "$packages" ]; then
  has apt-get || { echo "setup.sh: please install what provides:" $packages >&2; exit 1; }
  if [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
    echo "setup.sh: neither root nor sudo without a password; please install:" $packages >&2
    exit 1
  fi
  as_root apt-get update -qq -o DPkg::Lock::Timeout=300
  for package in $packages; do
    # Until Debian 12 docker.io has the client, from 13 on docker-cli has it, which 12 does not know.
    if [ "$package" = docker-cli ] && has docker; then continue; fi
    install "$package"
  done
fi

for pair in $wanted; do
  has "${pair%%:*}" || { echo "setup.sh: ${pair%%:*} is still missing" >&2; exit 1; }
done
redis-server --version
if has java; then java -version 2>&1 | head -n 1; fi
if [ "${1:-all}" = all ]; then dockerd --version; fi

#!/usr/bin/env bash
# A Docker engine for the tests.
#
#   engine.sh up     print the DOCKER_HOST of an engine that answers, after starting one if none does
#   engine.sh down   end the engine that `up` started, by its pid; an engine that was there before is left alone
#
# State (socket, pid, image store) lives in RLOCK_DOCKER_STATE, a folder of its own under the system's temp folder.
#
# The engine leaves nothing behind on the machine: no docker0, no packet filter rules (those would set the machine's
# forwarding to DROP), no forwarding. Tests make bridge networks of their own and reach the containers by their own
# addresses, which needs no rule and no translation; containers reach nobody else, and need not.
# Storage is dockerd's own choice; where that cannot be mounted (inside a container, on some kernels) it is vfs, plain
# copies.
set -euo pipefail

state=${RLOCK_DOCKER_STATE:-${TMPDIR:-/tmp}/rlock-docker-$(id -u)}
socket=$state/engine.sock
pidfile=$state/engine.pid

answers() { DOCKER_HOST=$1 timeout 10 docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }
# A pid from a file may have been handed to another program since; only a dockerd is ours.
running() {
  local stat
  [ -s "$pidfile" ] && stat=$(cat "/proc/$(cat "$pidfile")/stat" 2>/dev/null) || return 1
  # A process that has ended and that nobody has waited for yet is in state Z.
  [[ $stat == *"(dockerd) "[!ZX]* ]]
}

launch() {
  local log=$state/engine.log
  local network=(--bridge=none --iptables=false --ip-masq=false --ip-forward=false)
  as_root rm -f "$socket" "$pidfile"
  # setsid: an interrupt typed at the terminal ends the tests, and `down` then ends the engine, in that order.
  as_root setsid dockerd --host "unix://$socket" --data-root "$state/data" --exec-root "$state/exec" \
    --pidfile "$pidfile" "${network[@]}" "$@" >"$log" 2>&1 </dev/null &
  local launched=$!
  for _ in $(seq 1 150); do
    if answers "unix://$socket"; then
      [ "$(id -u)" = 0 ] || as_root chown "$(id -u)" "$socket"
      return 0
    fi
    # Not kill -0, which is not allowed on sudo's process.
    [ -d "/proc/$launched" ] || return 1
    sleep 0.2
  done
  end
  return 1
}

end() {
  running || return 0
  local pid
  pid=$(cat "$pidfile")
  as_root kill "$pid"
  for _ in $(seq 1 150); do
    running || return 0
    sleep 0.2
  done
  as_root kill -9 "$pid"
}

up() {
  local host
  for host in ${DOCKER_HOST:+"$DOCKER_HOST"} unix:///var/run/docker.sock "unix://$socket"; do
    if answers "$host"; then
      echo "$host"
      return
    fi
  done
  command -v dockerd >/dev/null || { echo "engine.sh: no Docker engine answers and dockerd is not installed" >&2; exit 1; }
  mkdir -p "$state"
  # The socket must be connectable for us, but its folder is nobody else's business: who reaches an engine is root.
  chmod 700 "$state"
  if launch || launch --storage-driver=vfs; then
    echo "engine.sh: dockerd started, pid $(cat "$pidfile")" >&2
    echo "unix://$socket"
    return
  fi
  echo "engine.sh: dockerd does not come up:" >&2
  tail -n 40 "$state/engine.log" >&2
  exit 1
}

down() {
  [ -d "$state" ] || return 0
  end
  # Mounts that an unclean end left would turn the removal into a walk through them.
  local mount
  { grep -F " $state/" /proc/self/mountinfo || true; } | awk '{print $5}' | sort -r | while read -r mount; do
    as_root umount -l "$mount" || true
  done
  as_root rm -rf "$state"
}

case ${1:-} in
  up) up ;;
  down) down ;;
  *) echo "usage: $0 up|down" >&2; exit 2 ;;
esac

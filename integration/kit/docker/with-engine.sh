#!/usr/bin/env bash
# Runs a command with DOCKER_HOST set to a Docker engine that has the image redis:7: one that answers already, else one that
# is started for this command and ended after it, by its pid.
#
#   with-engine.sh command …
#
# The engine leaves nothing behind on the machine: no docker0, no packet filter rules (those would set the machine's
# forwarding to DROP), no forwarding. Tests make bridge networks of their own and reach the containers by their own
# addresses, which needs no rule and no translation; containers reach nobody else, and need not.
# Storage is dockerd's own choice; where that cannot be mounted (inside a container, on some kernels) it is vfs, plain
# copies.
set -euo pipefail

# Socket, pid and images are in a folder that nobody else knows. Under /tmp because a socket's path must be short.
state=$(mktemp -d /tmp/rlock-docker.XXXXXX)
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
  local network=(--bridge=none --iptables=false --ip-masq=false --ip-forward=false)
  as_root rm -f "$socket" "$pidfile"
  # setsid: an interrupt typed at the terminal ends the tests, and `down` then ends the engine, in that order.
  as_root setsid dockerd --host "unix://$socket" --data-root "$state/data" --exec-root "$state/exec" \
    --pidfile "$pidfile" "${network[@]}" "$@" >"$state/engine.log" 2>&1 </dev/null &
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

down() {
  end
  # Mounts that an unclean end left would turn the removal into a walk through them.
  local mount
  { grep -F " $state/" /proc/self/mountinfo || true; } | awk '{print $5}' | sort -r | while read -r mount; do
    as_root umount -l "$mount" || true
  done
  as_root rm -rf "$state"
}

# Nothing is pulled, so that the tests run without a network: the image is the machine's own redis-server, the
# libraries that its loader names, and the few files that they look for.
make_image() {
  local server root
  server=$(readlink -f "$(command -v redis-server)") || { echo "with-engine.sh: redis-server is not installed" >&2; exit 1; }
  root=$state/image
  mkdir -p "$root/usr/local/bin" "$root/data" "$root/etc" "$root/tmp"
  cp "$server" "$root/usr/local/bin/redis-server"
  echo 'root:x:0:0:root:/data:/' >"$root/etc/passwd"
  # Both forms of ldd's lines, "name => path (address)" and "path (address)"; the first library without a file has no
  # path. Files are put where ldd found them, so that the loader needs no configuration.
  ldd "$server" | grep -oE '/[^ ]+' | sort -u | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
  tar -C "$root" -c . | docker import --change 'ENV PATH=/usr/local/bin' --change 'WORKDIR /data' - redis:7 >/dev/null
}

trap down EXIT
for host in ${DOCKER_HOST:+"$DOCKER_HOST"} unix:///var/run/docker.sock; do
  if answers "$host"; then
    export DOCKER_HOST=$host
    break
  fi
done
if ! answers "${DOCKER_HOST:-}"; then
  launch || launch --storage-driver=vfs || { tail -n 40 "$state/engine.log" >&2; exit 1; }
  export DOCKER_HOST=unix://$socket
fi
docker image inspect redis:7 >/dev/null 2>&1 || make_image
"$@"

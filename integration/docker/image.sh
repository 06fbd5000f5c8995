#!/usr/bin/env bash
# Makes the Redis image of the Docker tests, unless the engine has it.
#
#   DOCKER_HOST=… image.sh [name]     default name: RLOCK_REDIS_IMAGE, else redis:7
#
# Nothing is pulled, so that the tests run without a network: the image is the machine's own redis-server, the
# libraries that its loader names, and the few files that they look for. It is started as the official image is,
# with the command `redis-server …`, so either can stand behind the name.
set -euo pipefail

image=${1:-${RLOCK_REDIS_IMAGE:-redis:7}}
if docker image inspect "$image" >/dev/null 2>&1; then
  echo "image.sh: $image is there"
  exit 0
fi
server=$(readlink -f "$(command -v redis-server)") || { echo "image.sh: redis-server is not installed" >&2; exit 1; }

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/usr/local/bin" "$root/data" "$root/etc" "$root/tmp"
chmod 1777 "$root/tmp"
cp "$server" "$root/usr/local/bin/redis-server"
echo 'root:x:0:0:root:/data:/' >"$root/etc/passwd"
# Both forms of ldd's lines, "name => path (address)" and "path (address)"; the first library without a file has no
# path. Files are put where ldd found them, so that the loader needs no configuration.
ldd "$server" | grep -oE '/[^ ]+' | sort -u | while read -r library; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done
tar -C "$root" -c . | docker import \
  --change 'ENV PATH=/usr/local/bin' \
  --change 'WORKDIR /data' \
  --change 'EXPOSE 6379' \
  --change 'CMD ["redis-server", "--protected-mode", "no"]' \
  - "$image" >/dev/null
echo "image.sh: $image made from $(redis-server --version | cut -d" " -f1-3)"

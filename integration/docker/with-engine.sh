#!/usr/bin/env bash
# Runs a command with DOCKER_HOST set to an engine that has the Redis image: one that answers already, else one that is
# started for this command and ended after it.
#
#   with-engine.sh command …
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# A folder that nobody else knows, so that what `down` ends is what this `up` started. Under /tmp because a socket's
# path must be short.
RLOCK_DOCKER_STATE=$(mktemp -d /tmp/rlock-docker.XXXXXX)
export RLOCK_DOCKER_STATE
trap '"$here/engine.sh" down' EXIT
DOCKER_HOST=$("$here/engine.sh" up)
export DOCKER_HOST
"$here/image.sh"
"$@"

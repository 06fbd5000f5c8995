#!/usr/bin/env bash
# Prepares a release in a clean tree: writes the version into what the modules require of each other, into the changelog and the pages,
# runs what must pass, and prints what is left to be done by hand.
#
#   release.sh v0.1.0 command …
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1-}
shift || true
fail() { echo "make release: $*" >&2; exit 1; }
[[ $version =~ ^v[01]\.[0-9]+\.[0-9]+(-[0-9a-z.]+)?$ ]] || fail "VERSION=$version is none; it is like v0.1.0"
[ -z "$(git status --porcelain)" ] || fail 'the tree has changes that are not committed'
[ -z "$(git tag --list "$version")" ] || fail "$version is tagged"
! grep -q "^## \[${version#v}\]" CHANGELOG.md || fail "CHANGELOG.md has $version"

library=github.com/rlock-go/redisson
sed -i -E "s#^((require )?[[:space:]]*$library(/[a-z]+)*) v[^ ]+\$#\1 $version#" $(git ls-files '*.mod')
sed -i -E "s~^## \[Unreleased\]\$~&\n\n## [${version#v}] - $(date +%F)~; /^No version is tagged yet/{N;d}
  s~^\[Unreleased\]: (.*)/(commits/main|compare/.*)\$~[Unreleased]: \1/compare/$version...main\n[${version#v}]: \1/releases/tag/$version~" CHANGELOG.md
sed -i '/^Until version .* is tagged, /{N;d}' README.md docs/*/README.md

"$@" || fail "that failed. The versions are written; git checkout . takes them back"

echo "What was written is to be committed and merged. Then tag that commit:"
for file in $(git ls-files '*go.mod' ':!integration'); do
  module=$(dirname "$file")
  [ "$module" = . ] && module= || module+=/
  echo "    git tag $module$version"
done
echo '    git push --tags'

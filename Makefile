# make quickstart    sets up what the example needs and runs it
# make install       builds the command-line tool, and puts it with its manual pages and completions under PREFIX (/usr/local)
# make test          sets up what the tests need and shows each promise once, with the oldest and the newest Redisson
# make test-all      that, and everything counted, random or long: all releases and servers, chaos, defects, comparisons; hours
#
# They work on a fresh Debian machine with Go 1.26, Java 17, Maven, git and make. The other targets are their steps, which can
# be run alone. Steps that need a Docker engine start one if none answers, and end it afterwards.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:

# go test runs as many packages at a time as there are processors. `make vet` has vetted the tests already.
GOTEST := go test -race -vet=off -count=1 -timeout 15m
# Tests with real servers wait more than they compute, so twice as many packages run at a time.
abreast := -p $(shell expr 2 \* $$(nproc))
# Packages without tests are left out: go test would build the cookbook's programs, with a database, for nothing.
tested := go list -f "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}"
# What counts allocations has the machine to itself.
measuring := /allocs$$
# Everything counted, random or long is for test-all: docs/dev/measuring.md lists it. make test, too, checks the pages that
# these packages write.
later := /integration/(chaos$$|redisson/java(matrix|twin)$$|kit/gate$$|bench/(compare|javacourtesy|peers)$$)
paged := Document|Page|Makefile|Meets|Tables

# -modcacherw: fetched modules can be removed like any other file.
export GOFLAGS ?= -buildvcs=false -modcacherw
# Otherwise each of some seventy processes would wait a second at its end for late races, after leakcheck has seen all its
# goroutines end.
export GORACE ?= atexit_sleep_ms=50
# If HOME is read-only, the compiler's cache is in the checkout.
ifneq ($(shell mkdir -p "$$(go env GOCACHE)" 2>/dev/null && test -w "$$(go env GOCACHE)" && echo writable),writable)
export GOCACHE := $(CURDIR)/integration/.cache/go-build
endif
# A plain user's PATH lacks the folders where dockerd is.
export PATH := $(PATH):/usr/local/sbin:/usr/sbin:/sbin
# Otherwise more tests than intended would use the server of REDIS_URL.
unexport REDIS_URL

step := integration/step.sh
beside := integration/beside.sh
engine := integration/kit/docker/with-engine.sh

# Every module except the tools', which has no packages.
modules = $(filter-out ./integration/tools,$(patsubst %/,%,$(dir $(shell find . -name go.mod -not -path '*/.*/*' | sort))))
packages = $(addsuffix /...,$(modules))
# What is checked and tested with -race. One program is left out: building its database again would take a minute.
raced := go list $(packages) | grep -v /cookbook/fencing$$
# The packages of the integration module that need more than a server; a step without packages fails.
java_packages := /(java|interop)[a-z]*$$
docker_tests := TestNetworkThatIsCutAndHeals
# A large table in virtual time, which would take a minute with -race.
large := TestCommandsOfAThirdAreAsManyAsGroups
# What reads sources, the model of Redis and what is tested in virtual time have little that could race: in a bubble the detector sees no
# race of two instants. They take a quarter of the time without -race. In its place some seeds are played with it. So do the
# tool's tests, which run it some thousand times, and the wire proof, in which one call runs after the other.
sequential := /(cmd/rlock|integration/(behaviour/(virtual|timing)|mutants|pages/doccheck|redisson/wire|simulation))$$

.PHONY: help
help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

PREFIX ?= /usr/local
under := $(DESTDIR)$(PREFIX)
.PHONY: install
install:
	@$(step) 'install the tool' bash -ec 'go build -C cmd/rlock -buildvcs=auto -trimpath -o "$(under)/bin/rlock" .; cd "$(under)"; \
	  mkdir -p share/man/man1 share/bash-completion/completions share/zsh/site-functions share/fish/vendor_completions.d; \
	  bin/rlock man share/man/man1; \
	  bin/rlock completion bash >share/bash-completion/completions/rlock; \
	  bin/rlock completion zsh >share/zsh/site-functions/_rlock; \
	  bin/rlock completion fish >share/fish/vendor_completions.d/rlock.fish'

.PHONY: quickstart
quickstart: export REDIS_URL := $(value REDIS_URL)
quickstart:
	@$(step) 'quick start' go run -C docs/quickstart .

# `make test` begins with empty caches of modules and artifacts: a full cache would hide that a version is gone. All its steps
# share them, so nothing is fetched twice. A step that is run alone uses the user's own caches.
fetched := $(CURDIR)/integration/.cache/fetched

.PHONY: test
test: export GOMODCACHE := $(fetched)/go
test: export MAVEN_OPTS := $(MAVEN_OPTS) -Dmaven.repo.local=$(fetched)/maven
test:
	@began=$$(date +%s); \
	if $(MAKE) --no-print-directory empty && $(beside) $(MAKE) --no-print-directory setup -- $(MAKE) --no-print-directory fetch && \
	   $(MAKE) --no-print-directory checked; \
	then echo "== make test: everything passed, $$(( $$(date +%s) - began )) s"; \
	else echo "== make test: FAILED, $$(( $$(date +%s) - began )) s"; exit 1; fi

.PHONY: empty
empty:
	@$(step) 'empty caches' bash -ec '[ ! -e $(fetched) ] || chmod -R u+w $(fetched); rm -rf $(fetched) integration/kit/java/target'

# Checks and compilers end before the first test begins, because they would take processor time from its servers and clocks.
.PHONY: checked
checked: check compiled simulation unit modules integration interop

# Tests make much garbage and keep little. What counts allocations has its own value.
unit modules integration interop: export GOGC := 400

.PHONY: compiled
compiled:
	@$(step) 'compile the tests' bash -ec '$(tested) $(packages) | xargs go list -race -export -test -f "" >/dev/null; \
	  go list -export -test -f "" -tags norawsyscall ./internal/redisconn ./pubsub >/dev/null; \
	  $(tested) ./integration/... ./cmd/rlock | grep -E "$(sequential)" | xargs go list -export -test -f "" ./watchdog >/dev/null'

# Plays the client against a model of Redis in virtual time for a minute of processor time, a sixth of it with -race, in two
# processes, and all seeds that ever broke a rule. The first seed is made of the commit's files: each change plays seeds that nobody has played,
# and the same commit always plays the same ones, so that a run which was green is green again. Most are played without -race,
# under which a tenth of them would be. `go doc ./simulation/replay` in integration/ says what a failing seed is for.
# FLAGS='-for 30m -seed 0' plays an hour from random seeds, FLAGS='-topology cluster' one topology.
simulated := $(CURDIR)/integration/.cache/simulation.test
.PHONY: simulation
simulation:
	@$(step) 'simulation' bash -ec 'seed=$$((16#$(shell git rev-parse --short=7 HEAD^{tree}))); cd integration/simulation; \
	  ../beside.sh go test -vet=off -c -o $(simulated) . -- go test -race -vet=off -c -o $(simulated).race .; \
	  play="$(simulated) -test.timeout 0 -for 25s"; \
	  ../beside.sh bash -ec "$$play -seed $$seed $(FLAGS) -test.run TestSeeds; $(simulated).race -for 10s -seed $$seed -test.run TestSeeds" -- \
	    $$play -seed $$((seed + 500000000)) $(FLAGS) -test.run "^Test(Known)?Seeds$$"'

# The same for an hour, and that a seed's history can be had again.
.PHONY: simulation-all
simulation-all:
	@$(MAKE) --no-print-directory simulation FLAGS='-for 30m -seed 0 -known 3 $(FLAGS)'
	@$(step) 'replays' bash -ec 'cd integration && go run ./simulation/replay 1 -lasts 20s -twice 100'

# Fetches what is needed, up to three times if the network fails. A version that is gone fails each time.
.PHONY: fetch
fetch:
	@$(step) 'fetch modules' bash -ec 'for module in $(modules) ./integration/tools; do echo "$$module"; \
	  what=./...; export GOWORK=; [ $$module != ./integration/tools ] || { what=tool; GOWORK=off; }; \
	  for try in 1 2 3; do (cd $$module && go list -deps -test $$what >/dev/null) && continue 2; sleep $$((5 * try)); done; exit 1; done'

.PHONY: setup
setup:
	@$(step) 'set up' integration/setup.sh test

.PHONY: check
check: gofmt atomics vet staticcheck workflows

# A 64-bit atomic of a plain integer panics on 32-bit platforms unless the integer happens to be aligned.
.PHONY: atomics
atomics:
	@$(step) '64-bit atomics have types of their own' bash -c '! git grep -nE "atomic\.(Add|And|CompareAndSwap|Load|Or|Store|Swap)(Int|Uint)64\(" -- "*.go"'

.PHONY: gofmt
gofmt:
	@$(step) 'gofmt' bash -c '! gofmt -l $$(find . -name "*.go" -not -path "*/.*/*") | grep .'

# With -race, checks and tests share compiled packages.
.PHONY: vet
vet:
	@$(step) 'go vet' bash -eo pipefail -c '$(raced) | xargs go vet -race; go vet -race -tags metrics ./integration/bench; \
	  go vet ./docs/cookbook/fencing ./rlock ./internal/redisconn ./internal/locks/release'

# The tools are not in go.work, which would raise the versions that they require.
tools := $(CURDIR)/integration/.cache/tools
.PHONY: tools
tools:
	@$(step) 'tools' env GOWORK=off GOBIN=$(tools) go install -C integration/tools tool

.PHONY: staticcheck
staticcheck: tools
	@$(step) 'staticcheck' bash -eo pipefail -c 'export STATICCHECK_CACHE="$$(go env GOCACHE)-staticcheck"; \
	  $(raced) | GOFLAGS="$$GOFLAGS -race" xargs $(tools)/staticcheck'

.PHONY: workflows
workflows: tools
	@$(step) 'workflow files' $(tools)/actionlint -shellcheck= -pyflakes= $(wildcard .github/workflows/*)

# Builds the library for other systems; the tests run on this one only. And fetches each module by its import path, as a
# reader does, from a proxy that serves this checkout.
platforms := linux/amd64 linux/386 linux/arm64 linux/arm linux/mips darwin/arm64 windows/amd64 freebsd/amd64

.PHONY: builds
builds:
	@$(step) 'builds' bash -ec 'for platform in $(platforms); do echo "$$platform"; \
	  (export GOOS=$${platform%/*} GOARCH=$${platform#*/}; go build ./... && go vet ./... && go vet -tags norawsyscall ./...); done'
	@$(step) 'modules by their import paths' go test -C integration -count=1 ./pages/doccheck -run ByItsImportPath -full

.PHONY: unit
unit:
	@$(step) 'unit tests' bash -eo pipefail -c '$(tested) ./... | grep -Ev "$(measuring)" | integration/longest-first.sh | xargs $(GOTEST) -skip "^($(large))$$"; \
	  go test -vet=off -count=1 ./watchdog -run "^($(large))$$"; \
	  export GOGC=100; $(GOTEST) ./internal/testkit/allocs; go test -count=1 -run "^TestAllocations" ./rlockotel ./rlockprom; \
	  [ "$$(go env GOHOSTARCH)" != amd64 ] || GOARCH=386 go test -count=1 -run "^Example" ./rlock'

.PHONY: modules
modules:
	@$(step) 'tests of rlocktest, rlockprom, rlockotel, the tool, the quick start, the cookbook, the benchmark, and of connections without raw calls' bash -eo pipefail -c 'failed=; \
	  go test -vet=off -count=1 -tags norawsyscall ./internal/redisconn ./pubsub || failed=1; \
	  $(tested) ./cmd/rlock/... ./docs/cookbook/... ./docs/quickstart/... ./integration/bench/... ./rlockotel/... ./rlockprom/... ./rlocktest/... | \
	    grep -Ev "$(later)|$(sequential)" | integration/longest-first.sh | \
	    xargs $(beside) go test -vet=off -count=1 -parallel 8 ./cmd/rlock -- $(GOTEST) $(abreast) || failed=1; \
	  $(GOTEST) ./integration/bench/compare ./integration/bench/javacourtesy -run "$(paged)" || failed=1; [ -z "$$failed" ]'

.PHONY: integration
integration:
	@$(step) 'integration tests' bash -eo pipefail -c 'cd integration; \
	  alone=$$($(tested) ./... | grep -E "$(sequential)" | ./longest-first.sh); \
	  $(tested) ./... | grep -Ev "$(java_packages)|$(later)|$(sequential)" | ./longest-first.sh | \
	    xargs ./beside.sh go test -vet=off -count=1 -skip "^Test(Known)?Seeds$$" $$alone -- $(GOTEST) $(abreast) -skip "^($(docker_tests))$$"; \
	  $(GOTEST) ./redisson/javamatrix -run "$(paged)"'

# A starting JVM loads a processor, and this step does little else.
.PHONY: interop
interop:
	@$(step) 'tests with Java Redisson' bash -eo pipefail -c \
	  'cd integration && $(tested) ./... | grep -E "$(java_packages)" | grep -Ev "$(later)" | ./longest-first.sh | xargs $(GOTEST); \
	  $(GOTEST) ./redisson/javatwin -run "$(paged)"'

.PHONY: test-all
test-all: test simulation-all builds unraced raced docker chaos releases topologies model test-matrix kinds mutants compare gaps touched bench

# The model of Redis that the simulation uses, compared with each server: a million random commands and scripts.
.PHONY: model
model:
	@$(step) 'the model and the servers' bash -ec 'cd integration && SIM_SERVERS="redis-6.2 redis-7.0 redis-8.0 valkey-8" SIM_STEPS=1000000 \
	  go test -count=1 -timeout 120m ./simulation -run TestModelAgreesWithServers; \
	  go test -count=1 ./simulation -run TestRealSentinels -compare'

# Also the tests that are not compiled with -race, or are too large for it.
.PHONY: unraced
unraced: tools
	@$(step) 'staticcheck, without -race' $(tools)/staticcheck $(packages)
	@$(step) 'unit tests, without -race' go test -count=1 ./...

# And those with -race that `make test` runs without.
.PHONY: raced
raced:
	@$(step) 'the tool and virtual time, with -race' bash -eo pipefail -c '$(GOTEST) ./cmd/rlock; \
	  $(GOTEST) -tags norawsyscall ./internal/pipeline ./internal/redisconn ./pubsub; cd integration; \
	  $(tested) ./... | grep -E "$(sequential)" | xargs $(GOTEST) -timeout 60m -skip "^Test(Known)?Seeds$$"'

.PHONY: docker
docker:
	@integration/setup.sh all
	@$(step) 'tests in Docker' $(engine) bash -ec 'cd integration && $(GOTEST) ./behaviour -run "^$(docker_tests)$$"'

# What `make test` leaves to test-all, in small: some seconds of Go and Java under random faults at each topology, a few pairs of
# the matrix, the comparison's broken locks. The packages run one after the other, because a call that is late on a busy
# machine looks like a broken promise.
.PHONY: chaos
chaos:
	@$(step) 'what is counted, random or long, in small' bash -eo pipefail -c 'cd integration; \
	  $(tested) ./... | grep -E "$(later)" | xargs $(GOTEST) -p 1; cd bench && $(GOTEST) -p 1 ./compare ./javacourtesy ./peers'

# The behaviours that `make test` shows with the newest and the oldest Redisson, with every recorded release.
.PHONY: releases
releases:
	@$(step) 'all releases of Redisson' bash -ec 'cd integration && $(GOTEST) -p 1 -timeout 60m ./redisson/interop ./redisson/javakinds -full; \
	  $(GOTEST) -p 1 ./redisson/wire -full -run OtherFenced'

# The tests with replicas, Sentinels and clusters, also on Redis 8.0 and Valkey 8; and more scenarios of the wire proof than
# `make test` has, on the redis-server in PATH.
.PHONY: topologies
topologies:
	@$(step) 'topologies' bash -ec 'cd integration; $(GOTEST) ./redisson/wire -full -run "Replicas|Sentinels|Cluster"; \
	  for server in redis-7.0 redis-8.0 valkey-8; do export RLOCK_REDIS_SERVER=$$(./servers.sh $$server); \
	  [ $$server = redis-7.0 ] || $(GOTEST) -p 1 ./behaviour/sentinels ./behaviour/replicated ./behaviour/cluster ./behaviour/severalservers; \
	  $(GOTEST) ./behaviour/cluster -run Resharding -reshard; done'

# The tests of the invariants with each kind of lock that they are about, for some minutes; `make test` runs the
# short ones. FLAGS=-write puts the table into docs/dev/tables/promises.md.
.PHONY: kinds
kinds:
	@$(step) 'invariants by kind of lock' bash -ec 'cd integration && $(GOTEST) -timeout 40m ./behaviour/invariants -run Kinds -kinds $(FLAGS)'

# The wire proof and the behaviours for every recorded Redisson, and the newest, on Redis 6.2, 7.0, 8.0 and Valkey 8, and the
# other lock objects on Redis 7.0. Some forty minutes. FLAGS=-write writes docs/dev/tables/matrix.md and a table of the README. `go doc ./redisson/javamatrix` in integration/ has the other flags.
.PHONY: test-matrix
test-matrix:
	@$(step) 'Redisson by server' bash -ec 'cd integration/redisson/javamatrix && go test -count=1 -timeout 120m -run "TestMatrix$$" -full $(FLAGS)'

# Shows that the tests find defects: for each of some 450 defects, put into the code one at a time, the tests named for it must
# fail. An hour. FLAGS=-write puts the table into docs/dev/tables/mutants.md. FLAGS='-simulate 20s -write' tries the simulation
# against them instead, for some hours, and FLAGS='-simulate 20s -write -untried' goes on with a run that was ended.
.PHONY: mutants
mutants:
	@$(step) 'mutants' bash -ec 'cd integration && go run ./mutants $(FLAGS)'

# Compares rlock's speed with that of other libraries. FLAGS='-write' writes docs/performance.md;
# FLAGS="-before REV -java=false -peers 'rlock before'" compares with an earlier commit; `go doc ./bench` in integration/ has more.
.PHONY: bench
bench:
	@$(step) 'benchmark' bash -ec 'cd integration/bench && go run . -others $(FLAGS)'

# Tries the same faults on every lock that a Go service could use, in some twenty minutes. FLAGS=-write writes
# docs/dev/compare.md; `go doc ./compare` in integration/bench has more.
.PHONY: compare
compare:
	@$(step) 'comparison' bash -ec 'cd integration/bench && go run ./compare $(FLAGS)'

# Strikes servers that Go and Redisson use side by side, in some ten minutes: how long each of them can't enter, and which holds
# it keeps. FLAGS=-write writes docs/dev/tables/gaps.md; `go doc ./redisson/gaps` in integration/ has more.
.PHONY: gaps
gaps:
	@$(step) 'gaps beside Redisson' bash -ec 'cd integration && go run ./redisson/gaps $(FLAGS)'

# Writes a version into the modules and the changelog, runs what must pass, and prints the tags to set. CONTRIBUTING.md has more.
passing = $(MAKE) --no-print-directory test builds
.PHONY: release
release:
	@integration/release.sh '$(VERSION)' $(passing)

# go mod tidy would fetch the modules that require each other, instead of using those of the checkout.
.PHONY: tidy
tidy:
	@$(step) 'go mod tidy' bash -ec 'library=github.com/rlock-go/redisson; for module in $(filter-out ./integration/%,$(modules)); do echo "$$module"; \
	  (cd $$module; export GOWORK=off; own=$$(sed -nE "s#.*($$library(/[a-z]+)*) v.*#\\1#p" go.mod); \
	  for m in $$own; do go mod edit -replace $$m=$(CURDIR)$${m#$$library}; done; go mod tidy; \
	  for m in $$own; do go mod edit -dropreplace $$m; done); done'

# Counts the functions and files of the library that one uncontended lock and unlock run, by package. FLAGS=-v names them.
.PHONY: touched
touched:
	@$(step) 'what a pair touches' bash -ec 'cd integration/bench && go run ./touched'


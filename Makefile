# make quickstart    sets up what the example needs and runs it
# make test          sets up what the tests need and runs them
# make test-all      that, and what takes longer: all releases of Redisson, all servers, all faults, defects, torture, endurance, failovers
#
# They work on a fresh Debian machine with Go 1.26, Java 17, Maven, git and make. The other targets are the steps of
# these, to be run alone; those that need a Docker engine start one if none answers and end it afterwards.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:

# Most tests wait most of the time, for leases, timeouts and one another, so packages are tested beside each other; -p
# says how many. Those that measure (shares, allocations) and those of faults, where a call that a busy machine made late looks
# like a broken promise, come last and have the machine to themselves.
# `make vet` has vetted the tests too.
GOTEST := go test -race -vet=off -count=1 -timeout 15m
# What has no tests need not be built for them: the programs of the cookbook would be, with a database, and without use.
tested := go list -f "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}"
measuring := /(allocs|javacourtesy)$$
faulting := /(faults|failover)$$

# -modcacherw: what is fetched can be removed like any other file.
export GOFLAGS ?= -buildvcs=false -modcacherw
# A plain user's PATH lacks the folders where dockerd is.
export PATH := $(PATH):/usr/local/sbin:/usr/sbin:/sbin
# More tests would follow REDIS_URL to somebody's server than are meant to.
unexport REDIS_URL

step := integration/step.sh
beside := integration/beside.sh
again := $(CURDIR)/integration/again.sh
engine := integration/docker/with-engine.sh

# Every module but that of the tools, which has no packages.
modules = $(filter-out ./integration/tools,$(patsubst %/,%,$(dir $(shell find . -name go.mod -not -path '*/.*/*' | sort))))
# The packages of the integration module by what they need, each in one of four steps; a step without packages fails.
java_packages := /(java|interop|torture|cluster)[a-z]*(/|$$)
docker_packages := /(redisserver|docker)[a-z]*(/|$$)

.PHONY: help
help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

.PHONY: quickstart
quickstart: export REDIS_URL := $(value REDIS_URL)
quickstart:
	@$(step) 'quick start' go run -C docs/quickstart .

# `make test` finds nothing fetched: a cache would hide that a version can't be had any more. Each of its steps goes by
# these, so nothing is fetched twice. A step that is run alone goes by the user's own caches.
fetched := $(CURDIR)/integration/.cache/fetched

.PHONY: test
test: export GOMODCACHE := $(fetched)/go
test: export MAVEN_OPTS := $(MAVEN_OPTS) -Dmaven.repo.local=$(fetched)/maven
test:
	@began=$$(date +%s); \
	if $(MAKE) --no-print-directory empty && $(beside) $(MAKE) --no-print-directory setup -- $(MAKE) --no-print-directory fetch && \
	   $(step) 'checks, and tests with a Docker engine' $(engine) $(MAKE) --no-print-directory checked measured; \
	then echo "== make test: everything passed, $$(( $$(date +%s) - began )) s"; \
	else echo "== make test: FAILED, $$(( $$(date +%s) - began )) s"; exit 1; fi

.PHONY: empty
empty:
	@$(step) 'empty caches' bash -ec '[ ! -e $(fetched) ] || chmod -R u+w $(fetched); rm -rf $(fetched) integration/java/target'

# The checks take what the tests leave of the machine. Of the tests, those with real Redisson compute and most of the others
# wait, so they are one step here, with this many packages beside each other; an empty value parts them again. The modules
# beside them are mostly compiled.
together := 3
.PHONY: checked both
checked:
	@$(beside) nice -n 19 $(MAKE) --no-print-directory check -- $(MAKE) --no-print-directory unit both
both:
	@$(beside) $(MAKE) --no-print-directory modules -- $(MAKE) --no-print-directory integration interop docker at_once=$(together)

# What is needed and no more, a second and a third time if the network fails; a version that is gone is gone then too.
.PHONY: fetch
fetch:
	@$(step) 'fetch modules' bash -ec 'for module in $(modules) ./integration/tools; do echo "$$module"; \
	  what=./...; [ $$module != ./integration/tools ] || what=tool; \
	  for try in 1 2 3; do (cd $$module && go list -deps -test $$what >/dev/null) && continue 2; sleep $$((5 * try)); done; exit 1; done'

.PHONY: setup
setup:
	@$(step) 'set up' integration/setup.sh all

.PHONY: check
check: gofmt vet staticcheck workflows

.PHONY: gofmt
gofmt:
	@$(step) 'gofmt' bash -c '! gofmt -l $$(find . -name "*.go" -not -path "*/.*/*") | grep .'

.PHONY: vet
vet:
	@$(step) 'go vet' bash -ec 'for module in $(modules); do echo "$$module"; (cd $$module && go vet ./...); done'

.PHONY: staticcheck
staticcheck:
	@$(step) 'staticcheck' bash -ec 'for module in $(modules); do echo "$$module"; \
	  (cd $$module && go tool -modfile=$(CURDIR)/integration/tools/go.mod staticcheck ./...); done'

.PHONY: workflows
workflows:
	@$(step) 'workflow files' go tool -modfile=$(CURDIR)/integration/tools/go.mod actionlint -shellcheck= -pyflakes= $(wildcard .github/workflows/*)

# The library on what else people run it on; the tests run on the machine's own.
platforms := linux/amd64 linux/arm64 darwin/arm64 windows/amd64 freebsd/amd64

.PHONY: builds
builds:
	@$(step) 'builds' bash -ec 'for platform in $(platforms); do echo "$$platform"; \
	  (export GOOS=$${platform%/*} GOARCH=$${platform#*/}; go build ./... && go vet ./... && go vet -tags norawsyscall ./...); done'

.PHONY: unit
unit:
	@$(step) 'unit tests' bash -eo pipefail -c '$(tested) ./... | grep -Ev "$(measuring)" | integration/longest-first.sh | xargs $(again) $(GOTEST) -p 3'

.PHONY: modules
modules:
	@$(step) 'tests of rlocktest, rlockprom, rlockotel, the tool, the quick start, the cookbook, the benchmark, and of connections without raw calls' bash -ec 'failed=; \
	  $(again) $(GOTEST) -p 2 -tags norawsyscall ./internal/pipeline ./internal/redisconn ./pubsub || failed=1; \
	  (cd rlocktest && $(again) $(GOTEST) ./...) || failed=1; \
	  (cd rlockprom && $(again) $(GOTEST) ./...) || failed=1; \
	  (cd rlockotel && $(again) $(GOTEST) ./...) || failed=1; \
	  (cd cmd/rlock && $(again) $(GOTEST) ./...) || failed=1; \
	  (cd integration/bench && $(again) $(GOTEST) ./...) || failed=1; \
	  (cd docs/quickstart && $(again) $(GOTEST) ./...) || failed=1; \
	  (cd docs/cookbook && $(tested) ./... | xargs $(again) $(GOTEST)) || failed=1; [ -z "$$failed" ]'

# Where at_once is set, this step has the packages of the two below as well.
.PHONY: integration
integration:
	@$(step) 'integration tests$(if $(at_once), and those with Java Redisson or in Docker)' $(engine) bash -eo pipefail -c \
	  'cd integration && $(tested) ./... | grep -Ev "$(if $(at_once),,$(java_packages)|$(docker_packages)|)$(measuring)|$(faulting)" | ./longest-first.sh | xargs $(again) $(GOTEST) -p $(or $(at_once),3)'

# A JVM loads a core while it starts, and this step has little else.
.PHONY: interop
interop:
	@$(if $(at_once),true,$(step)) 'tests with Java Redisson' $(engine) bash -eo pipefail -c \
	  'cd integration && $(tested) ./... | grep -E "$(java_packages)" | grep -Ev "$(measuring)" | ./longest-first.sh | xargs $(again) $(GOTEST) -p 2'

.PHONY: docker
docker:
	@$(if $(at_once),true,$(step)) 'tests in Docker' $(engine) bash -eo pipefail -c \
	  'cd integration && go list ./... | grep -E "$(docker_packages)" | xargs $(again) $(GOTEST) -p 2'

.PHONY: measured
measured:
	@$(step) 'tests that measure, and of faults' bash -eo pipefail -c 'go list ./... | grep -E "$(measuring)" | xargs $(again) $(GOTEST) -p 1; \
	  cd integration && go list ./... | grep -E "$(measuring)|$(faulting)" | xargs $(again) $(GOTEST) -p 1'

.PHONY: test-all
test-all: test builds releases topologies test-matrix faults kinds mutants torture endurance failover

# The behaviours that `make test` shows with the newest and the oldest Redisson, with all that were recorded.
.PHONY: releases
releases:
	@$(step) 'all releases of Redisson' bash -ec 'cd integration && $(GOTEST) -p 1 -timeout 60m ./interop ./javapeer ./javafair ./javareadwrite ./javapermits -full; \
	  $(GOTEST) -p 1 ./wire -full -run OtherFenced'

# What is seen of replicas, Sentinels and clusters, on Redis 8.0 and Valkey 8 too; on the redis-server in PATH with more
# scenarios of the wire proof than `make test` has.
.PHONY: topologies
topologies:
	@$(step) 'topologies' bash -ec 'cd integration; $(GOTEST) ./wire -full -run "Replicas|Sentinels|Cluster"; \
	  for server in redis-8.0 valkey-8; do export RLOCK_REDIS_SERVER=$$(./servers.sh $$server); \
	  $(GOTEST) -p 1 ./sentinels ./cluster ./severalservers; done'

# Some minutes; the step of `make test` runs a twentieth. FLAGS=-write puts the table into docs/dev/tables/faults.md.
.PHONY: faults
faults:
	@$(step) 'faults, in full' bash -ec 'cd integration/faults && go test -count=1 -timeout 40m -run TestFaults -scale 1 $(FLAGS)'

# The tests of the invariants with each kind of lock that they are about, for some minutes; the step of `make test` runs the
# short ones. FLAGS=-write puts the table into docs/dev/tables/invariants.md.
.PHONY: kinds
kinds:
	@$(step) 'invariants by kind of lock' bash -ec 'cd integration && $(GOTEST) -timeout 40m ./invariants -run Kinds -kinds $(FLAGS)'

# The wire proof and the behaviours for every recorded Redisson, and the newest, on Redis 6.2, 7.0, 8.0 and Valkey 8, and the
# other lock objects on Redis 7.0. Some forty minutes. FLAGS=-write writes docs/compatibility.md and docs/dev/tables/matrix.md; `go doc ./javamatrix` in integration/ has the other flags.
.PHONY: test-matrix
test-matrix:
	@$(step) 'Redisson by server' bash -ec 'cd integration/javamatrix && go test -count=1 -timeout 120m -run "TestMatrix$$" -full $(FLAGS)'

# Shows that the tests bite: the tests named for each of some dozens of defects must fail where the code has it. Some ten
# minutes. FLAGS=-write puts the table into docs/dev/tables/mutants.md.
.PHONY: mutants
mutants:
	@$(step) 'mutants' bash -ec 'cd integration && go run ./mutants $(FLAGS)'

# Go and Java processes on the same locks under faults, for ten minutes, and two for each other kind of lock; the step of `make
# test` runs for 20 s, for 20 s on a set, and for 9 s with another kind. With FLAGS there is one run, with the flags of `go doc
# ./torture` in integration/, such as -topology cluster or -kind fair.
.PHONY: torture
torture:
	@$(step) 'torture' bash -ec 'cd integration; go run -race ./torture -duration 10m $(FLAGS); \
	  for kind in $(if $(FLAGS),,fair readwrite fenced nonreentrant permits semaphore latch multi); do go run -race ./torture -kind $$kind -duration 2m; done'

# Shared owners among clients and processes under faults, each promise probed from outside, for half an hour; the step of
# `make test` runs for 15 s. FLAGS has the flags of `go doc ./endurance` in integration/.
.PHONY: endurance
endurance:
	@$(step) 'endurance' bash -ec 'cd integration && go run ./endurance -duration 30m $(FLAGS)'

# Masters lost behind Sentinels and in a cluster, replicas that go, slots moved, shards that stand still, under load; some forty
# minutes. The step of `make test` plays one of nearly each kind. FLAGS=-write puts the table into docs/dev/tables/failover.md.
.PHONY: failover
failover:
	@$(step) 'failovers' bash -ec 'cd integration && go run ./failover -full $(FLAGS) && go run ./failover -beside'

# rlock beside its peers, those of others whose modules can be had. FLAGS='-write' makes docs/performance.md anew;
# FLAGS="-before REV -java=false -peers 'rlock before'" compares with an earlier commit; `go doc ./bench` in integration/ has more.
.PHONY: bench
bench:
	@$(step) 'benchmark' bash -ec 'cd integration/bench && go run . -others $(FLAGS)'

# The same faults tried on every lock that a Go service could take, in some twenty minutes. FLAGS=-write makes docs/compare.md anew; `go doc ./compare` in
# integration/bench has more.
.PHONY: compare
compare:
	@$(step) 'comparison' bash -ec 'cd integration/bench && go run ./compare $(FLAGS)'

# How many functions and files of the library one uncontended pair runs, by package. FLAGS=-v names them.
.PHONY: touched
touched:
	@$(step) 'what a pair touches' bash -ec 'cd integration && go run ./touched $(FLAGS)'

# How many lines each kind of lock has of its own, and in the core.
.PHONY: size
size:
	@$(step) 'lines of each kind' integration/size.sh

# How much of what the files of a package use of one another runs back up, by package. FLAGS=-v says what.
.PHONY: references
references:
	@$(step) 'what runs back up' bash -ec 'cd integration && go run ./references $(FLAGS)'

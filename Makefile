# make quickstart    sets up what the example needs and runs it
# make test          sets up what the tests need and runs them all
#
# Both work on a fresh Debian machine with Go 1.26, Java 17, Maven, git and make. The other targets are the steps of
# `make test`, to be run alone; those that need a Docker engine start one if none answers and end it afterwards.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:

# The tests time waits and leases, and share two cores with the servers and JVMs that they start. One package after the
# other is slower by little and steadier by much. What fails while the machine itself stands still is run again: see
# `go doc ./steady` in integration/.
GOTEST := $(CURDIR)/integration/.cache/steady -race -count=1 -p 1

# -modcacherw: what is fetched can be removed like any other file.
export GOFLAGS ?= -buildvcs=false -modcacherw
# A plain user's PATH lacks the folders where dockerd is.
export PATH := $(PATH):/usr/local/sbin:/usr/sbin:/sbin
# More tests would follow REDIS_URL to somebody's server than are meant to.
unexport REDIS_URL

step := integration/step.sh
engine := integration/docker/with-engine.sh

# Every module but that of the tools, which has no packages.
modules = $(filter-out ./integration/tools,$(patsubst %/,%,$(dir $(shell find . -name go.mod -not -path '*/.*/*' | sort))))
# The packages of the integration module by what they need, each in one of three steps; a step without packages fails.
java_packages := /(java|interop|torture)[a-z]*(/|$$)
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
	if $(MAKE) --no-print-directory empty setup check unit && \
	   $(step) 'tests with a Docker engine' $(engine) $(MAKE) --no-print-directory integration interop docker; \
	then echo "== make test: everything passed, $$(( $$(date +%s) - began )) s"; \
	else echo "== make test: FAILED, $$(( $$(date +%s) - began )) s"; exit 1; fi

.PHONY: empty
empty:
	@$(step) 'empty caches' bash -ec '[ ! -e $(fetched) ] || chmod -R u+w $(fetched); rm -rf $(fetched) integration/java/target'

.PHONY: setup
setup:
	@$(step) 'set up' integration/setup.sh all

.PHONY: check
check: gofmt vet staticcheck

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

.PHONY: steady
steady:
	@go build -C integration -o .cache/steady ./steady

.PHONY: unit
unit: steady
	@$(step) 'unit tests' $(GOTEST) -timeout 10m ./...
	@$(step) 'tests of the quick start' bash -ec 'cd docs/quickstart && $(GOTEST) -timeout 5m ./...'
	@$(step) 'tests of the cookbook' bash -ec 'cd docs/cookbook && $(GOTEST) -timeout 5m ./...'
	@$(step) 'tests of the benchmark' bash -ec 'cd integration/bench && $(GOTEST) -timeout 5m ./...'

.PHONY: integration
integration: steady
	@$(step) 'integration tests' $(engine) bash -eo pipefail -c \
	  'cd integration && go list ./... | grep -Ev "$(java_packages)|$(docker_packages)" | xargs $(GOTEST) -timeout 15m'

.PHONY: interop
interop: steady
	@$(step) 'tests with Java Redisson' $(engine) bash -eo pipefail -c \
	  'cd integration && go list ./... | grep -E "$(java_packages)" | xargs $(GOTEST) -timeout 25m'

# Some minutes; the step of `make test` runs a twentieth. FLAGS=-write puts the table into docs/guarantees.md.
.PHONY: faults
faults:
	@$(step) 'faults, in full' bash -ec 'cd integration/faults && go test -count=1 -timeout 40m -run TestFaults -scale 1 $(FLAGS)'

# The wire proof and the behaviours for every recorded Redisson, and the newest, on Redis 6.2, 7.0, 8.0 and Valkey 8. Some
# twenty minutes. FLAGS=-write writes docs/compatibility.md; `go doc ./javamatrix` in integration/ has the other flags.
.PHONY: test-matrix
test-matrix:
	@$(step) 'Redisson by server' bash -ec 'cd integration/javamatrix && go test -count=1 -timeout 120m -run "TestMatrix$$" -full $(FLAGS)'

# Shows that the tests bite: each of some dozens of defects, put into a copy of the checkout, must fail the tests named
# for it. Some ten minutes. FLAGS=-write puts the table into docs/mutants.md.
.PHONY: mutants
mutants:
	@$(step) 'mutants' bash -ec 'cd integration && go run ./mutants $(FLAGS)'

# rlock beside its peers, those of others whose modules can be had. FLAGS='-rounds 5 -write' makes docs/performance.md anew;
# `go doc ./bench` in integration/ has more.
.PHONY: bench
bench:
	@$(step) 'benchmark' bash -ec 'cd integration/bench && go run . -others $(FLAGS)'

.PHONY: docker
docker: steady
	@$(step) 'tests in Docker' $(engine) bash -eo pipefail -c \
	  'cd integration && go list ./... | grep -E "$(docker_packages)" | xargs $(GOTEST) -timeout 15m'

// Command bench measures rlock and its peers on a real redis-server that it starts, all in one run on one machine, and
// prints the results.
//
//	go run . -quick             a look, below a minute, at rlock, a bare redigo and Redisson
//	go run . -others -quick     with the peers of others
//	go run . -others -write     the run that docs/performance.md and docs/dev/tables/performance.md are made from
//	go run . -others -parts pairs,crowd -java=false
//	go run . -parts kinds       each other object beside Redisson's, all callers at one name
//	go run . -parts kinds -write     that, into a page of its own, kinds.md beside the other tables
//	go run . -before HEAD~9 -parts held -peers 'rlock before'    what held locks cost since then
//	go run . -before HEAD~1 -java=false -peers 'rlock before'    beside an earlier commit
//	go run -tags metrics . -java=false -parts pairs -peers 'rlock with Prometheus,rlock with OpenTelemetry'    what metrics cost
//	go run . -from ../../docs/performance/run.json -write    both pages anew from an older run
//
// Rounds are interleaved: in each round every peer is measured, in another order, so that a slow minute of the machine
// affects all of them. A number is the median of its rounds; a ratio is the median of the rounds' ratios. Times depend
// on the machine, ratios less so, counts of commands and allocations not at all.
//
// Each measurement is a cell: a part of the program, a peer, a place (how many callers, holds or waiters), a metric and
// its rounds. The table and the document are made from the cells alone.
//
// A peer that does not return in time is reported as hanging and left out of the rest of that part. One did so with its
// recommended settings, see peer_rueidislock.go.
//
// With -others, package peers builds in the peers of others, except those whose modules can't be had; these are named
// as missing. This module requires only what rlock, its modules for metrics and the tests' Java peer require.
package main

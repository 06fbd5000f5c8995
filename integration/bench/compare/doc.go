// Compare tries the same faults on every lock that a Go service could take, and writes docs/dev/compare.md.
//
// A fault is a function in a file faults_*.go, a party one in a file party_*.go; a cell is one fault tried on one party,
// and is named fault/party. The faults go through the proxy and the servers that the tests of rlock's own faults use
// (faultproxy, redistest). Each round has a server, two clients and a proxy before each: a holder's and a rival's.
//
// Two inside is said by the witness. It knows when each caller began and ended what it did, and when it was told that it
// no longer held; it reads no key and asks no lock. Less than it can tell apart (step) is not two inside.
//
//	go run ./compare -rounds 2                        # a look
//	go run ./compare -only 'holder paused/redsync'    # one cell again
//	go run ./compare -write                           # docs/dev/compare.md and its JSON
//
// Peers of others are built in by package peers. One that can't be had is named as missing, with the reason.
package main

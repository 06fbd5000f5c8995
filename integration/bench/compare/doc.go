// Command compare tries the same faults on every lock that a Go service could use, and writes docs/dev/compare.md.
//
// A fault is a function in a file faults_*.go, a party is in a file party_*.go. A cell is one fault tried on one party,
// and is named fault/party. The faults use the same proxy and servers as the tests of rlock's own faults (faultproxy,
// redistest). Each round has a server and two clients, a holder's and a rival's, with a proxy before each.
//
// The witness decides whether two were inside. It knows when each caller began and ended its work, and when it learned
// of a loss. It reads no key and asks no lock. An overlap shorter than step does not count.
//
//	go run ./compare -rounds 2                        # a look
//	go run ./compare -only 'holder paused/redsync'    # one cell again
//	go run ./compare -write                           # docs/dev/compare.md and its JSON
//
// Package peers builds in the peers of others. One that can't be had is named as missing, with the reason.
package main

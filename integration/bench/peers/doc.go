// Package peers builds the benchmark with those of the peers of others whose modules can be had.
//
// Without them the benchmark needs only what rlock needs, and compares rlock with a bare redigo and with Redisson. Each
// peer of others has its code behind a build tag, peer_NAME.go behind NAME, and its requirements in peers/NAME.mod and
// NAME.sum, not in the benchmark's go.mod. If a version disappears from the module proxy, only its own peer is lost. A
// peer that can't be built is left out, and the benchmark names it as missing in its tables, with the reason.
//
// To build one peer by hand:
//
//	go build -modfile=peers/NAME.mod -tags NAME .
//
// go mod tidy would put all peers into the benchmark's go.mod, since it ignores build tags; a test notices. Edit a
// requirement by hand, then run go build -mod=mod -modfile=peers/NAME.mod -tags NAME to update NAME.sum.
package peers

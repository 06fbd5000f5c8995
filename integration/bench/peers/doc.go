// Package peers builds the benchmark with those of its peers whose modules can be had.
//
// The benchmark alone needs what rlock needs, and compares it with a bare redigo and with Redisson. Each peer of others
// has its code behind a build tag, peer_NAME.go behind NAME, and its requirements in peers/NAME.mod and NAME.sum, of
// which the benchmark's go.mod knows nothing. A version that is gone from the module proxy so costs its own peer, and
// neither the others nor the tests. A peer that can't be built is left out, and the benchmark names it as missing in its
// tables, with the reason.
//
// One peer alone, by hand:
//
//	go build -modfile=peers/NAME.mod -tags NAME .
//
// go mod tidy looks at files whatever their tags, so it would put the peers into the benchmark's go.mod; a test tells. A
// requirement is edited by hand, and go build -mod=mod -modfile=peers/NAME.mod -tags NAME brings NAME.sum up to date.
package peers

package simulation

import (
	"encoding/hex"
	"strconv"
)

// Kind is one of the library's kinds of objects.
type Kind string

const (
	Plain        Kind = "plain"
	Fair         Kind = "fair"
	Fenced       Kind = "fenced"
	NonReentrant Kind = "non-reentrant"
	Spin         Kind = "spin"
	ReadWrite    Kind = "read-write"
	Semaphore    Kind = "semaphore"
	Permits      Kind = "permits"
	Latch        Kind = "latch"
)

// kinds has each as often as it is to be played.
var kinds = []Kind{Plain, Plain, Plain, Fair, Fair, Fenced, NonReentrant, Spin, ReadWrite, ReadWrite, Semaphore, Permits, Permits, Latch}

// lock says whether a kind has owners and leases in a hash.
func (k Kind) lock() bool { return k != Semaphore && k != Permits && k != Latch }

// These are the keys beside an object's own, as docs/dev/wire.md names them.
func queueOf(name string) string  { return "redisson_lock_queue:{" + name + "}" }
func placesOf(name string) string { return "redisson_lock_timeout:{" + name + "}" }
func tokenOf(name string) string  { return "redisson_lock_token:{" + name + "}" }
func timesOf(name string) string  { return "{" + name + "}:timeout" }

// raw is a permit's id as the server keeps it.
func raw(id string) string {
	b, _ := hex.DecodeString(id)
	return string(b)
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

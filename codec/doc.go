// Package codec says what the bytes mean that Redisson's lock objects exchange
// with Redis: the names of keys, the fields of a lock's hash, the messages on
// its channel, and the replies of its scripts. It performs no I/O and keeps no
// state; everything in it is safe for concurrent use.
//
// # State of a lock
//
// A lock named N is a hash at key N. Its only field is the owner, "uuid:thread",
// its value the number of holds, and the key's TTL is the lease. Two more names
// belong to it: the channel on which an unlock is announced, and the latch, a
// short-lived key in which an unlock script leaves its result so that the same
// unlock, sent a second time after a lost reply, does nothing and answers alike.
//
// # Names and slots
//
// Channel and latch wrap N in braces, so that a cluster hashes all three alike,
// unless N has an opening brace already. That rule looks at "{" only, so there
// are names for which it fails; see [SlotSafe].
//
// # Replies
//
// There is one function a script or command, named after it. Each takes a reply
// as redigo hands it out (nil, int64, []byte, string, []any, or an error as an
// element of a batch) and gives its meaning. A server's error comes back
// wrapped, visible to errors.As. A reply of a form that the script cannot give
// is a [*ShapeError] that tells what was found; no reply makes these functions
// panic. A key that somebody else uses for something else shows up as one of
// these two.
//
// # Stability
//
// The API of this package may change in any minor version until 1.0. That of package
// rlock does not.
package codec

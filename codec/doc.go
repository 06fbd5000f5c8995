// Package codec, whose API may change in any minor version until 1.0, encodes and
// decodes what Redisson's lock objects keep in Redis: the names of keys, the fields
// of a lock's hash, and the messages on its channel. It performs no I/O and keeps no
// state; everything in it is safe for concurrent use.
//
// # State of a lock
//
// A lock named N is a hash at key N. Its only field is the owner, "uuid:thread".
// The field's value is the number of holds, and the key's TTL is the lease. Two
// more names belong to the lock. An unlock is announced on its channel. The latch
// is a short-lived key in which an unlock script stores its result. If the reply
// is lost and the unlock is sent again, it changes nothing and answers the same.
//
// # Names and slots
//
// Channel and latch wrap N in braces, so that a cluster hashes all three to one
// slot, unless N has an opening brace already. That rule looks only at "{", so it
// fails for some names; see [SlotSafe].
package codec

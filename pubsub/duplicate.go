package pubsub

import (
	"bytes"

	"github.com/gomodule/redigo/redis"
)

// One script may publish a message twice: to the sharded channel of a name, and then to
// the plain one. A listener on both hears one release twice, and would look twice. If
// both had come before the first was received, the look that follows the first covers
// both: then a Waker with a method Duplicate gets the second message by that.

// shardedMessage is the sharded message that was received last.
type shardedMessage struct {
	reads   int // of the connection, when it was received; 0: there is none
	channel []byte
	payload []byte
}

// repeatedBy tells whether r, which conn received, is the plain message that repeats
// the last sharded one. A sharded r becomes the last.
func (last *shardedMessage) repeatedBy(conn redis.Conn, r *reply) bool {
	counts, ok := conn.(interface{ Reads() int })
	if !ok {
		return false // it can't be known when it came
	}
	reads := counts.Reads()
	if !r.sharded {
		is := last.reads == reads && bytes.Equal(last.channel, r.channel) && bytes.Equal(last.payload, r.payload)
		last.reads = 0
		return is
	}
	last.reads = reads
	last.channel = append(last.channel[:0], r.channel...)
	last.payload = append(last.payload[:0], r.payload...)
	return false
}

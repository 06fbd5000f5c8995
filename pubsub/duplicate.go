package pubsub

import (
	"bytes"

	"github.com/gomodule/redigo/redis"
)

// A script may publish a message twice: to the sharded channel of a name, and then to the
// plain one. A waiter on both would get two messages for one release, and would look
// twice. If both had arrived before the first was received, the look after the first covers
// both. Then a Waker with a method Duplicate gets the second message by that method.

// shardedMessage is the last sharded message that was received.
type shardedMessage struct {
	reads   int // the connection's Reads when it was received; 0: there is none
	channel []byte
	payload []byte
}

// repeatedBy tells whether r, which conn received, is the plain message that repeats
// the last sharded one. A sharded r becomes the last.
func (last *shardedMessage) repeatedBy(conn redis.Conn, r *reply) bool {
	counts, ok := conn.(interface{ Reads() int })
	if !ok {
		return false // its time of arrival is unknown
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

package pubsub

import (
	"bytes"

	"github.com/gomodule/redigo/redis"
)

// One script may publish a message twice: to the sharded channel of a name, and
// then to the plain one. Who listens to both hears one release twice, and would
// look twice. A Waker that has a method Twin is told of the second by that, if
// both had come before the first was received: then a look that the first has
// caused comes after both.

// half is the sharded message that was received last.
type half struct {
	reads   int // of the connection, when it was; 0: there is none
	channel []byte
	payload []byte
}

// twin tells whether r, which conn received, is the second half of what is
// published twice.
func (last *half) twin(conn redis.Conn, r *reply) bool {
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

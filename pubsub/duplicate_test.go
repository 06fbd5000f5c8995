package pubsub

import (
	"testing"

	"github.com/gomodule/redigo/redis"
)

type counting struct {
	redis.Conn
	reads int
}

func (c *counting) Reads() int { return c.reads }

// A plain message that arrived later than the sharded one of its text is another release, such as one of Redisson's.
func TestOnlyAPlainMessageThatCameWithItsShardedOneIsACopy(t *testing.T) {
	conn, last := &counting{reads: 1}, shardedMessage{}
	message := func(sharded bool, channel string) bool {
		return last.repeatedBy(conn, &reply{sharded: sharded, channel: []byte(channel), payload: []byte("0")})
	}
	for _, is := range []struct {
		read    int
		sharded bool
		channel string
		copied  bool
	}{
		{1, false, "a", false},
		{1, true, "a", false}, {1, false, "a", true}, {1, false, "a", false},
		{2, true, "a", false}, {2, false, "b", false},
		{3, true, "a", false}, {4, false, "a", false},
	} {
		if conn.reads = is.read; message(is.sharded, is.channel) != is.copied {
			t.Errorf("%+v", is)
		}
	}
}

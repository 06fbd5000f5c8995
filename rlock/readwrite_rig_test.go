package rlock

import (
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/redistest"
)

// both are the two locks of a name.
func both(c *Client, name string) (read, write *Lock) {
	rw := c.NewReadWriteLock(name)
	return rw.ReadLock(), rw.WriteLock()
}

// nothingLeft checks that the server has no key but latches, which are deleted behind their callers' backs.
func nothingLeft(t *testing.T, s *redistest.Server) {
	t.Helper()
	conn := s.Dial(t)
	becomes(t, "an empty server", func() bool { n, err := redis.Int(conn.Do("DBSIZE")); return n == 0 && err == nil })
}

// inBackground acquires in the background, and gives the hold.
func inBackground(t *testing.T, l *Lock, opts ...AcquireOption) <-chan *Hold {
	got := make(chan *Hold, 1)
	go func() { got <- lockOf(t, l, opts...) }()
	return got
}

// rwListening waits until so many clients listen for the name's release.
func rwListening(t *testing.T, s *redistest.Server, name string, n int) {
	t.Helper()
	conn, channel := s.Dial(t), codec.ReadWriteChannel(name)
	becomes(t, "clients that listen", func() bool {
		counts, err := redis.IntMap(conn.Do("PUBSUB", "NUMSUB", channel))
		return err == nil && counts[channel] == n
	})
}

package pipeline

import (
	"context"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// lingering is a connection whose return to its pool takes long.
type lingering struct {
	*mute
	given, back chan struct{}
}

func (c *lingering) Close() error {
	close(c.given)
	<-c.back
	return c.mute.Close()
}

// A pool may talk to the server when a connection is returned. A caller that writes to the
// connection meanwhile must not wait for that.
func TestAConnectionThatIsGivenBackHoldsUpNobody(t *testing.T) {
	conn := &lingering{newMute(), make(chan struct{}), make(chan struct{})}
	p := open(t, func(context.Context) (redis.Conn, error) { return conn, nil }, Options{})
	end(t, ask(p, "PING"))
	p.mu.Lock()
	c := p.conn
	p.mu.Unlock()
	conn.Interrupt()
	<-conn.given
	defer close(conn.back)
	written := make(chan struct{})
	go func() {
		c.write(false)
		close(written)
	}()
	select {
	case <-written:
	case <-time.After(10 * timeout):
		t.Error("a write waits until the connection was given back")
	}
}

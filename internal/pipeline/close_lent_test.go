package pipeline

import (
	"context"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// lingering is a connection that takes its time to be given back.
type lingering struct {
	*mute
	given, back chan struct{}
}

func (c *lingering) Close() error {
	close(c.given)
	<-c.back
	return c.mute.Close()
}

// A pool may talk to the server when it gets a connection back. Who would write to that
// connection does not wait for it.
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

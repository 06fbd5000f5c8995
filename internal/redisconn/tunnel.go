package redisconn

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Dialer makes the connection to an address in a caller's own way.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// errNoConn is what a caller's function gave.
var errNoConn = errors.New("the dialer gave neither a connection nor an error")

// Tunnelled is a caller's function as a Dialer whose connections have deadlines,
// and which returns a moment after its ctx has ended whatever f does. A dial that
// is late goes on by itself, and what it brings is closed. Until it ends, no other
// is made to its address: there is no more than one for each that was under way
// at the same time.
func Tunnelled(f Dialer) Dialer {
	return (&tunnel{dial: f, late: map[string]int{}}).connect
}

// tunnel is a caller's function.
type tunnel struct {
	dial Dialer

	mu   sync.Mutex     // guards late
	late map[string]int // dials that nobody waits for any more, by address
}

// brought is what one call brought.
type brought struct {
	conn net.Conn
	err  error
}

func (t *tunnel) connect(ctx context.Context, network, address string) (net.Conn, error) {
	if t.count(address, 0) > 0 {
		return nil, errLate
	}
	done, late := make(chan brought), make(chan struct{})
	go func() {
		conn, err := t.dial(ctx, network, address)
		if conn == nil && err == nil {
			err = errNoConn
		}
		select {
		case done <- brought{conn, err}:
		case <-late:
			if err == nil {
				_ = conn.Close() // nobody is there to tell
			}
			t.count(address, -1)
		}
	}()
	switch d, ok := await(ctx, done); {
	case !ok:
		t.count(address, 1)
		close(late)
		return nil, errLate
	case d.err != nil:
		return nil, d.err
	case native(d.conn):
		return d.conn, nil
	default:
		return newDated(d.conn), nil
	}
}

// count counts n more dials to address that are late, and gives how many there are.
func (t *tunnel) count(address string, n int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	late := t.late[address] + n
	if t.late[address] = late; late == 0 {
		delete(t.late, address)
	}
	return late
}

// native tells a connection of the system's own. One that merely has it inside
// may read what comes in another way.
func native(c net.Conn) bool {
	switch c.(type) {
	case *net.TCPConn, *net.UnixConn:
		return true
	}
	return false
}

package pipeline

import (
	"errors"
	"strconv"
	"strings"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/refusal"
)

// A server tells another connection, the listener, of the next change of what a request
// with Track has read: after CLIENT TRACKING, once for each connection, and CLIENT CACHING
// directly before the request. What a connection writes itself is not told (NOLOOP), but
// is a change: a request reads what it has written. Ids are one server's, and start anew
// with it, so on another server this id belongs to some other client, which would get our
// invalidations. So the first request with Track asks who has the id, and is not tracked.

// Listener is the connection that hears of changes; zero: there is none.
type Listener struct {
	id   int64
	addr string // the address that the server sees
}

// ParseListener reads the answer to CLIENT INFO.
func ParseListener(info string) (l Listener) {
	id, err := strconv.ParseInt(field(info, "id=", " "), 10, 64)
	if addr := field(info, " addr=", " "); err == nil && addr != "" {
		l = Listener{id, addr}
	}
	return l
}

// SetListener sets the connection that hears of changes from now on. What was read for
// another listener must be read again.
func (p *Pipeline) SetListener(l Listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listener = l
}

// tracking is how a server tells of what was read on a connection. It is guarded by
// Pipeline.mu.
type tracking struct {
	asked Listener // the last that it was asked to tell
	works bool     // it does
}

// track chooses what goes before r. ASKING and CACHING have to be directly before a
// command, so that there is one of them. It is called with p.mu held.
func (c *conn) track(r *Request) {
	t := &c.tracking
	switch l := c.p.listener; {
	case r.asking || l == Listener{}:
	case t.asked != l:
		*t, r.begins = tracking{asked: l}, true
	case t.works:
		r.Tracked = true
	}
}

// led tells that something goes before r.
func (r *Request) led() bool { return r.begins || r.Tracked }

// pushLead queues what goes before r.
func (c *conn) pushLead(r *Request, wait bool) (err error) {
	if r.Tracked {
		_, err = c.pusher.Queue("CLIENT", []any{"CACHING", "YES"}, wait)
		return err
	}
	c.p.mu.Lock()
	id := c.tracking.asked.id
	c.p.mu.Unlock()
	if _, err = c.pusher.Queue("CLIENT", []any{"LIST", "ID", id}, wait); err == nil {
		_, err = c.pusher.Queue("CLIENT", []any{"TRACKING", "ON", "REDIRECT", id, "OPTIN", "NOLOOP"}, wait)
	}
	return err
}

// ErrNoListener is why a server does not tell: the listener is gone, or is connected
// elsewhere. Another one is to come.
var ErrNoListener = errors.New("the server does not know the connection that listens")

// receiveLead takes the answer to what went before r, which is in r, and reads the rest.
func (c *conn) receiveLead(r *Request) {
	list, said := r.Reply, r.Err
	if said != nil && !refusal.Is(said) {
		return
	}
	if r.begins {
		if r.Reply, r.Err = c.receive(0); r.Err != nil && !refusal.Is(r.Err) {
			return
		}
		said = errors.Join(said, r.Err)
	}
	c.p.mu.Lock()
	t := &c.tracking
	if line, err := redis.String(list, nil); r.begins && err == nil && !strings.Contains(line, " addr="+t.asked.addr+" ") {
		said = ErrNoListener // TRACKING may have said so, too
	}
	t.works, r.Tracked = said == nil, r.Tracked && said == nil
	if refused, _ := refusal.Of(said); refused.Passing() {
		*t, said = tracking{}, nil // it is asked again
	}
	if t.asked != c.p.listener {
		said = nil // of one that listens no more: the next is asked for
	}
	c.p.mu.Unlock()
	if said != nil {
		c.p.o.Node.Untracked(said)
	}
	r.Reply, r.Err = c.receive(0)
}

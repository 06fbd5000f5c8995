package pipeline

import (
	"errors"
	"strconv"
	"strings"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// A server reports the next change of the keys that a request with Track has read to
// another connection, the listener. That takes CLIENT TRACKING once for each connection,
// and CLIENT CACHING directly before the request. With NOLOOP the server does not report
// what the connection itself writes. But such a write ends the tracking of its key like any
// other, so a request has to read the key again after it. Each server has its own client
// ids, and counts them anew after a restart. Elsewhere the listener's id belongs to some
// other client, which would get our invalidations. So the first request with Track asks the
// server who has the id, and is not itself tracked.

// Listener is the connection that receives reports of changes. Zero means none.
type Listener struct {
	id   int64
	addr string // the address that the server sees
}

// ParseListener reads the answer to CLIENT INFO. It returns zero without an id or address.
func ParseListener(info string) (l Listener) {
	id, err := strconv.ParseInt(field(info, "id=", " "), 10, 64)
	if addr := field(info, " addr=", " "); err == nil && addr != "" {
		l = Listener{id, addr}
	}
	return l
}

// SetListener sets the connection that receives reports of changes from now on. Keys that
// were read for another listener must be read again.
func (p *Pipeline) SetListener(l Listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listener = l
}

// tracking says whether the server reports changes of keys read on a connection. It is
// guarded by Pipeline.mu.
type tracking struct {
	asked Listener // the last listener in a CLIENT TRACKING
	works bool     // the server accepted it
}

// track chooses the tracking commands before r. There are none if ASKING goes before r:
// ASKING and CACHING each have to be directly before the command. It is called with p.mu
// held.
func (c *conn) track(r *Request) {
	t := &c.tracking
	switch l := c.p.listener; {
	case r.Asking || l == Listener{}:
	case t.asked != l:
		*t, r.begins = tracking{asked: l}, true
	case t.works:
		r.Tracked = true
	}
}

// pushLead queues the tracking commands that go before r.
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

// ErrNoListener is reported to Node.Untracked if the server does not know the listener,
// which is gone or is connected elsewhere. A later SetListener sets another one.
var ErrNoListener = errors.New("the server does not know the connection that listens")

// receiveLead reads the replies to the tracking commands before r, of which r.Reply and
// r.Err have the first, and then r's own reply.
func (c *conn) receiveLead(r *Request) {
	list, said := r.Reply, r.Err
	if said != nil && !redisconn.IsRefusal(said) {
		return
	}
	if r.begins {
		if r.Reply, r.Err = c.receive(0); r.Err != nil && !redisconn.IsRefusal(r.Err) {
			return
		}
		said = errors.Join(said, r.Err)
	}
	c.p.mu.Lock()
	t := &c.tracking
	if line, err := redis.String(list, nil); r.begins && err == nil && !strings.Contains(line, " addr="+t.asked.addr+" ") {
		said = ErrNoListener // instead of TRACKING's error, which may say the same
	}
	t.works, r.Tracked = said == nil, r.Tracked && said == nil
	if refused, _ := redisconn.RefusalOf(said); refused.Passing() {
		*t, said = tracking{}, nil // the next request asks again
	}
	if t.asked != c.p.listener {
		said = nil // about a former listener: the next request names the new one
	}
	c.p.mu.Unlock()
	if said != nil && c.p.o.Node.Untracked != nil {
		c.p.o.Node.Untracked(said)
	}
	r.Reply, r.Err = c.receive(0)
}

package pipeline

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gomodule/redigo/redis"
)

// fence is how the server knows one connection, and whether bytes written to
// it can still run.
type fence struct {
	id   int64  // CLIENT ID; 0 where the server would not say
	addr string // the address that the server sees

	settled bool // guarded by Pipeline.mu, like all below
	closed  bool // settled by CLIENT KILL: nothing of the connection runs any more
	waiting []func(closed bool)
}

// AfterFence calls fn once no byte of the connection that r was lost on can
// run any more (true), or once it is known that this can't be had, because
// the server refuses CLIENT ID or CLIENT KILL or the pipeline was closed
// (false). fn may run on this goroutine or a later one; it must not block.
// It is for requests that ended with a LostError.
func (p *Pipeline) AfterFence(r *Request, fn func(closed bool)) {
	f := r.link.fence
	p.mu.Lock()
	if !f.settled {
		if p.closed && p.ctx.Err() != nil {
			p.mu.Unlock()
			fn(false)
			return
		}
		f.waiting = append(f.waiting, fn)
		p.mu.Unlock()
		return
	}
	closed := f.closed
	p.mu.Unlock()
	fn(closed)
}

// settle records a fence's outcome; runFences tells it. It is called with mu
// held.
func (p *Pipeline) settle(f *fence, closed bool) {
	f.settled, f.closed = true, closed
}

// runFences tells the outcome of settled fences and drops them.
func (p *Pipeline) runFences() {
	p.mu.Lock()
	var run []func()
	keep := p.fences[:0]
	for _, f := range p.fences {
		if !f.settled {
			keep = append(keep, f)
			continue
		}
		for _, fn := range f.waiting {
			run = append(run, func() { fn(f.closed) })
		}
		f.waiting = nil
	}
	clear(p.fences[len(keep):])
	p.fences = keep
	p.mu.Unlock()
	for _, fn := range run {
		fn()
	}
}

// identify asks the server how it knows this connection, kills what is left
// of the ones before, all in one write, and counts replicas if that is
// wanted. Its error is the connection's; a server that refuses only leaves
// the fence without an id.
func identify(c redis.Conn, old []*fence, o Options) (f *fence, killed []bool, replicas int, err error) {
	f = &fence{}
	send := func(cmd string, args ...any) {
		if err == nil {
			err = c.Send(cmd, args...)
		}
	}
	var said redis.Error
	receive := func() (any, error) {
		reply, rerr := redis.ReceiveWithTimeout(c, o.Timeout)
		switch e := serverError(rerr); {
		case rerr == nil || err != nil:
		case refusedForNow(rerr):
			// A refusal that passes must not settle a fence for good.
			err = rerr
		case e != "":
			said = e
		case said != "":
			// A server that wants no more clients says so and hangs up: that
			// is no answer to what was asked, and no dead connection either.
			err = fmt.Errorf("%v after the server said: %s", rerr, string(said))
		default:
			err = rerr
		}
		return reply, rerr
	}
	for _, k := range old {
		send("CLIENT", "KILL", "ID", k.id, "ADDR", k.addr)
	}
	send("CLIENT", "ID")
	send("CLIENT", "INFO")
	if o.Replicas {
		send("INFO", "replication")
	}
	if err == nil {
		err = c.Flush()
	}
	if err != nil {
		return nil, nil, 0, err
	}
	for _, k := range old {
		_, kerr := receive()
		if err != nil {
			return nil, nil, 0, err
		}
		killed = append(killed, kerr == nil)
		if kerr != nil {
			o.log.Refused(k.id, k.addr, kerr)
		}
	}
	id, iderr := redis.Int64(receive())
	info, inferr := redis.String(receive())
	if o.Replicas && err == nil {
		text, _ := redis.String(receive())
		replicas = countReplicas(text)
	}
	if err != nil {
		return nil, nil, 0, err
	}
	if iderr != nil {
		return f, killed, replicas, nil
	}
	if inferr != nil {
		// CLIENT INFO is younger than CLIENT LIST.
		info, inferr = clientLine(c, id, o)
		if _, ok := inferr.(redis.Error); inferr != nil && !ok {
			return nil, nil, 0, inferr
		}
	}
	if addr := field(info, " addr=", " "); addr != "" {
		f.id, f.addr = id, addr
	}
	return f, killed, replicas, nil
}

// countReplicas reads INFO replication.
func countReplicas(info string) int {
	n, _ := strconv.Atoi(field(info, "connected_slaves:", "\r\n"))
	return n
}

// maxList is room for a line of some three hundred bytes for each of a hundred
// thousand clients.
const maxList = 32 << 20

// clientLine finds this connection's line in CLIENT LIST.
func clientLine(c redis.Conn, id int64, o Options) (string, error) {
	if a, ok := c.(interface{ Admit(bytes int) }); ok {
		a.Admit(maxList)
		defer a.Admit(0)
	}
	if err := c.Send("CLIENT", "LIST"); err != nil {
		return "", err
	}
	if err := c.Flush(); err != nil {
		return "", err
	}
	list, err := redis.String(redis.ReceiveWithTimeout(c, o.Timeout))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(list) {
		if strings.HasPrefix(line, "id="+strconv.FormatInt(id, 10)+" ") {
			return line, nil
		}
	}
	return "", nil
}

// field cuts what stands between a label and an end out of a server's text.
func field(text, label, end string) string {
	_, rest, ok := strings.Cut(text, label)
	if !ok {
		return ""
	}
	v, _, _ := strings.Cut(rest, end)
	return v
}

package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// identity is what the handshake of a connection found out.
type identity struct {
	barrier *killBarrier
	killed  []bool   // CLIENT KILL was answered; in the order of the undecided barriers
	found   []bool   // CLIENT KILL found the connection; in the same order
	online  []string // replicas
	hidden  error    // the server's refusal to list them; nil: it did
	server  redisconn.Server
}

// identify asks the server for its role and for its name of this connection,
// and kills the broken connections before it, all in one write. It counts the
// replicas if o asks for it. If the server refuses to name the connection, the
// kill barrier has no id. After an error the connection is unusable: it broke,
// or a reply did not fit its command and so belongs to another one.
func identify(rc redis.Conn, undecided []*killBarrier, o Options) (*identity, error) {
	x := &handshake{rc: rc, timeout: o.Timeout}
	send := func(command string, args ...any) { _ = rc.Send(command, args...) } // the flush returns its error
	for _, b := range undecided {
		send("CLIENT", "KILL", "ID", b.id, "ADDR", b.addr)
	}
	send("CLIENT", "ID")
	send("CLIENT", "INFO")
	send("HELLO")
	send("ROLE")
	if o.Replicas {
		send("INFO", "replication")
	}
	if o.Replicas || o.Fixed {
		send("INFO", "server")
	}
	x.err = x.rc.Flush()
	refused := []refusal{{"CLIENT SETNAME", redisconn.Unnamed(rc)}}
	ident := &identity{barrier: &killBarrier{}}
	for _, b := range undecided {
		n, refusal := answer[int64](x, "CLIENT KILL")
		if x.err == nil && refusal != nil {
			o.Log.Refused(b.id, b.addr, refusal)
		}
		ident.killed, ident.found = append(ident.killed, refusal == nil), append(ident.found, n > 0)
	}
	var err error
	id, noID := answer[int64](x, "CLIENT ID")
	info, noInfo := x.text("CLIENT INFO")
	ident.server, err = x.server()
	refused = append(refused, refusal{"CLIENT ID", noID}, refusal{"ROLE", err})
	ident.server.Addr = redisconn.Place(rc)
	if o.Replicas {
		text, refusal := x.text("INFO")
		ident.online, ident.hidden = onlineReplicas(text), refusal
	}
	if o.Replicas || o.Fixed {
		text, _ := x.text("INFO")
		ident.barrier.server.run = field(text, "run_id:", "\r\n")
	}
	if noInfo != nil && noID == nil && x.err == nil {
		// Servers before Redis 6.2 have CLIENT LIST only.
		info = x.clientListLine(id)
	}
	if x.err != nil {
		return nil, x.err
	}
	if addr := field(info, " addr=", " "); addr != "" && noID == nil {
		ident.barrier.id, ident.barrier.addr = id, addr
	}
	own := field(info, " laddr=", " ")
	ident.barrier.server.place, ident.barrier.server.own = cmp.Or(redisconn.Place(rc), own), own
	for _, r := range refused {
		o.refused(nil, ident.barrier.server.place, r.command, r.err)
	}
	return ident, nil
}

// refusal is what a command of the first exchange was answered; a nil error: it ran.
type refusal struct {
	command string
	err     error
}

// refused logs that the account may not send a command, unless it may.
func (o Options) refused(out eventlog.Outside, server, command string, err error) {
	if said, _ := redisconn.RefusalOf(err); o.Refused != nil && said.NotAllowed() {
		o.Refused(out, server, command, err)
	}
}

// After runs fn, which logs, on another goroutine. It is for eventlog.Outside.
func (p *Pipeline) After(fn func()) { p.wg.Go(fn) }

// notAllowed logs that the account may not send a command. The reader calls it, and so the logger,
// which may take long, runs elsewhere.
func (p *Pipeline) notAllowed(command string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() == nil {
		p.o.refused(p, p.server.place, command, err)
	}
}

// handshake is the first exchange on a connection: some commands in one write,
// then their replies in order. err keeps the first error, after which no reply
// is read.
type handshake struct {
	rc      redis.Conn
	timeout time.Duration // of each reply
	said    string        // the server's last refusal
	err     error
}

// receive reads the next reply. A lasting refusal of the server is returned as the
// error of this command alone. A passing refusal or any other error ends the handshake.
func (x *handshake) receive() (any, error) {
	if x.err != nil {
		return nil, x.err
	}
	reply, err := redis.ReceiveWithTimeout(x.rc, x.timeout)
	switch said, refused := redisconn.RefusalOf(err); {
	case err == nil:
	case said.Passing():
		// A passing refusal must not decide a kill barrier for good.
		x.err = err
	case refused:
		x.said = said.Text()
	case x.said != "":
		// A server with too many clients says so and closes the connection.
		// This is no answer to the command, and no sign of a stale connection.
		x.err = fmt.Errorf("%v after the server said: %s", err, x.said)
	default:
		x.err = err
	}
	return reply, err
}

// answer reads a reply that must be an integer or a bulk string, as T says.
func answer[T int64 | []byte](x *handshake, command string) (v T, err error) {
	reply, err := x.receive()
	if err != nil {
		return v, err
	}
	v, ok := reply.(T)
	if !ok {
		x.err = fmt.Errorf("%w: %s was answered with a Go %T", errOutOfStep, command, reply)
	}
	return v, x.err
}

// text is answer for a bulk string.
func (x *handshake) text(command string) (string, error) {
	b, err := answer[[]byte](x, command)
	return string(b), err
}

// server reads the answers to HELLO and ROLE. It returns the refusal of the latter.
func (x *handshake) server() (s redisconn.Server, refused error) {
	hello, helloErr := x.receive()
	role, roleErr := x.receive()
	if x.err != nil {
		return redisconn.Server{}, nil
	}
	s, err := redisconn.DecodeServer(hello, helloErr, role, roleErr)
	if err != nil {
		x.err = fmt.Errorf("%w: %w", errOutOfStep, err)
	}
	return s, roleErr
}

// maxList has room for a hundred thousand clients of about three hundred bytes
// each.
const maxList = 32 << 20

// clientListLine returns this connection's line of CLIENT LIST. It is empty if
// the server refuses that command too.
func (x *handshake) clientListLine(id int64) string {
	if a, ok := x.rc.(interface{ Admit(bytes int) }); ok {
		a.Admit(maxList)
		defer a.Admit(0)
	}
	_ = x.rc.Send("CLIENT", "LIST") // the flush returns its error
	x.err = x.rc.Flush()
	list, _ := x.text("CLIENT LIST")
	for line := range strings.Lines(list) {
		if strings.HasPrefix(line, "id="+strconv.FormatInt(id, 10)+" ") {
			return line
		}
	}
	return ""
}

// errOutOfStep is a reply that does not answer what was asked.
var errOutOfStep = errors.New("the connection's replies are out of step with its commands")

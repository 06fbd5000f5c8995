package faultproxy

import (
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// call is a command that has no reply yet.
type call struct {
	exchange *Exchange
	fault    *Handle
	local    []byte        // the proxy's own reply; empty for CutBefore, nil if the server replies
	done     chan struct{} // closed when the server has answered

	acks int // acknowledgements still due, for (P|S)(UN)SUBSCRIBE; guarded by Proxy.mu
}

// half is a connection whose two directions end separately.
type half interface {
	net.Conn
	CloseWrite() error
}

// conn is one client's connection and the one that the proxy opened to the server for it.
type conn struct {
	p          *Proxy
	client     half
	serverGone chan struct{} // closed when the server's side has ended
	over       chan struct{} // closed when the client's side is closed or cut

	// sendMu is held while commands are written to the server, so that they are written in the order of pending.
	sendMu sync.Mutex
	// turnMu is held while local answers are sent, so that the two pumps keep their order.
	turnMu sync.Mutex

	// guarded by Proxy.mu
	number     int
	addr       string
	clientID   int64
	server     half // nil until dialled
	clientGone bool
	closed     bool    // both sides, for good
	silent     bool    // nothing more reaches the client
	stream     bool    // after PSYNC: no longer RESP, bytes pass unparsed
	deaf       bool    // nothing more reaches the server
	pending    []*call // sent, oldest first
	withheldBy *Handle
	held       []byte
	heldCalls  []*call
	channels   map[string]map[string]bool // by kind of subscription: "", "p" or "s"
}

func newConn(p *Proxy, client half) *conn {
	return &conn{p: p, client: client, serverGone: make(chan struct{}), over: make(chan struct{}),
		channels: map[string]map[string]bool{"": {}, "p": {}, "s": {}}}
}

// run passes bytes both ways until both sides have ended.
func (c *conn) run() {
	c.p.flowing()
	server, err := c.p.dial(c.p.Server())
	if err != nil {
		close(c.serverGone)
		c.closeBoth()
		return
	}
	c.p.mu.Lock()
	c.server = server
	c.addr = server.LocalAddr().String()
	closed := c.closed || c.clientGone
	c.p.mu.Unlock()
	if closed {
		close(c.serverGone)
		c.closeBoth()
		return
	}
	c.p.pumps.Go(c.downstream)
	c.upstream()
}

// swallow discards all input until the client closes its side.
func (c *conn) swallow() {
	close(c.serverGone)
	io.Copy(io.Discard, c.client)
	c.closeBoth()
}

func (c *conn) upstream() {
	in := newWire(c.client)
	for {
		raw, cmd, err := in.command()
		if err != nil {
			c.cutClient()
			return
		}
		c.p.flowing()
		if Command("PSYNC")(cmd) {
			c.passOn(raw, in)
			return
		}
		if !c.forward(raw, cmd) {
			return
		}
	}
}

// passOn passes a replica's PSYNC and all later bytes to the master. No rule applies to them, and none is recorded.
func (c *conn) passOn(raw []byte, in *wire) {
	c.p.mu.Lock()
	c.stream = true
	server := c.server
	c.p.mu.Unlock()
	server.Write(raw)
	io.Copy(server, in.in)
	c.cutClient()
}

// forward sends a command to the server or does what its rule says. It reports whether the connection goes on.
func (c *conn) forward(raw []byte, cmd []string) bool {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	p := c.p
	p.mu.Lock()
	k := p.arrive(c, cmd)
	if c.deaf {
		p.mu.Unlock()
		return true
	}
	if h := k.fault; h != nil {
		defer h.announce()
		switch h.rule.Do {
		case CutBefore:
			c.deaf, k.local = true, []byte{}
		case Blackhole:
			c.deaf, c.silent = true, true
			p.mu.Unlock()
			return true
		case Withhold:
			c.withheldBy = h
		case Answer:
			k.local = h.rule.Reply
		}
	}
	if c.withheldBy != nil {
		c.held = append(c.held, raw...)
		c.heldCalls = append(c.heldCalls, k)
		p.mu.Unlock()
		return true
	}
	c.pending = append(c.pending, k)
	p.mu.Unlock()
	if k.local != nil {
		c.answerLocally() // sent now if it is the oldest; else deliver sends it after the earlier replies
		return true
	}
	c.server.Write(raw) // downstream notices if the server has closed
	return true
}

// release writes what h withheld on this connection and returns its calls, nil if there are none.
func (c *conn) release(h *Handle) []*call {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	c.p.mu.Lock()
	if c.withheldBy != h || c.server == nil {
		c.p.mu.Unlock()
		return nil
	}
	raw, calls := c.held, c.heldCalls
	c.withheldBy, c.held, c.heldCalls = nil, nil, nil
	c.pending = append(c.pending, calls...)
	gone := c.clientGone
	c.p.mu.Unlock()
	c.server.Write(raw)
	if gone {
		c.server.CloseWrite()
	}
	return calls
}

func (c *conn) downstream() {
	defer c.closeBoth()
	defer close(c.serverGone)
	in := newWire(c.server)
	for {
		if _, err := in.in.Peek(1); err != nil {
			return
		}
		c.p.mu.Lock()
		stream := c.stream
		c.p.mu.Unlock()
		if stream {
			io.Copy(c.client, in.in)
			return
		}
		raw, value, err := in.reply()
		if err != nil {
			return
		}
		c.p.flowing()
		if !c.deliver(raw, value) {
			return
		}
	}
}

// deliver pairs a reply with its command, applies the command's rule and passes on the result; false ends the
// connection.
func (c *conn) deliver(raw []byte, value any) bool {
	p := c.p
	p.mu.Lock()
	k, last := c.pair(value)
	if k == nil {
		if p.observe == nil {
			p.exchanges = append(p.exchanges, &Exchange{Conn: c.number, Reply: value, Sent: time.Now(), Answered: time.Now()})
		}
		p.mu.Unlock()
		c.give(raw)
		return true
	}
	k.exchange.Reply, k.exchange.Answered = value, time.Now()
	if id, ok := value.(int64); ok && Command("client", "id")(k.exchange.Cmd) {
		c.clientID = id
	}
	if last && p.observe != nil {
		p.observe(*k.exchange)
	}
	p.mu.Unlock()
	if last {
		p.answered(k.exchange.Cmd)
		close(k.done)
	}
	if h := k.fault; h != nil {
		switch h.rule.Do {
		case CutAfter:
			return false
		case DropReply:
			p.mu.Lock()
			c.silent = true
			p.mu.Unlock()
		case HoldReply:
			var late <-chan time.Time
			if h.rule.Delay > 0 {
				late = time.After(h.rule.Delay)
			}
			select {
			case <-late:
			case <-h.let:
			case <-c.over:
			}
		case Replace:
			raw = h.rule.Reply
		}
	}
	c.give(raw)
	if last {
		// Removed only now, so that no local answer behind it overtakes it.
		p.mu.Lock()
		c.pending = c.pending[1:]
		p.mu.Unlock()
		c.answerLocally()
	}
	return true
}

// answerLocally sends the local answers at the head of pending. At a CutBefore it closes the connection.
func (c *conn) answerLocally() {
	c.turnMu.Lock()
	defer c.turnMu.Unlock()
	for {
		c.p.mu.Lock()
		if len(c.pending) == 0 || c.pending[0].local == nil {
			c.p.mu.Unlock()
			return
		}
		k := c.pending[0]
		c.pending = c.pending[1:]
		c.p.mu.Unlock()
		if k.fault.rule.Do == CutBefore {
			c.closeBoth()
			return
		}
		c.give(k.local)
	}
}

func (c *conn) give(raw []byte) {
	c.p.mu.Lock()
	silent := c.silent
	c.p.mu.Unlock()
	if !silent {
		c.client.Write(raw) // upstream notices if the client has closed
	}
}

// cutClient closes the client's side. The server's side closes too, once it has answered what was sent, unless bytes
// are withheld: those are still on their way.
func (c *conn) cutClient() {
	c.p.mu.Lock()
	first := !c.clientGone
	c.clientGone, c.silent = true, true
	withheld, server := c.withheldBy != nil, c.server
	c.p.mu.Unlock()
	if first {
		c.client.Close()
		close(c.over)
	}
	if server != nil && !withheld {
		server.CloseWrite()
	}
}

func (c *conn) closeBoth() {
	c.cutClient()
	c.p.mu.Lock()
	c.closed = true
	server := c.server
	c.p.mu.Unlock()
	if server != nil {
		server.Close()
	}
}

// pair finds the command that a reply belongs to (nil if none), and whether this was its last reply. Proxy.mu is held.
func (c *conn) pair(value any) (k *call, last bool) {
	var head *call
	if len(c.pending) > 0 && c.pending[0].local == nil {
		head = c.pending[0]
	}
	items, isList := value.([]any)
	if push, ok := value.(Push); ok {
		items, isList = push, true
	}
	if isList && len(items) == 3 {
		word, _ := items[0].(string)
		switch word {
		case "subscribe", "psubscribe", "ssubscribe", "unsubscribe", "punsubscribe", "sunsubscribe":
			return c.acknowledge(head, word, items[1])
		}
	}
	if _, ok := value.(Push); ok || isList && c.message(items) {
		return nil, false
	}
	return head, head != nil
}

// message reports whether a list is a published message rather than a reply that looks like one.
func (c *conn) message(items []any) bool {
	if len(c.channels[""])+len(c.channels["p"])+len(c.channels["s"]) == 0 || len(items) == 0 {
		return false
	}
	word, _ := items[0].(string)
	return word == "message" || word == "pmessage" || word == "smessage"
}

// acknowledge counts the replies to one (UN)SUBSCRIBE, one per channel. An unsubscription that the server sends unasked
// (it gave the slot away) belongs to no command.
func (c *conn) acknowledge(head *call, word string, channel any) (*call, bool) {
	kind := strings.TrimSuffix(strings.TrimSuffix(word, "subscribe"), "un")
	subscribed := c.channels[kind]
	asked := head != nil && len(head.exchange.Cmd) > 0 && strings.EqualFold(head.exchange.Cmd[0], word)
	if asked && head.acks == 0 {
		head.acks = max(1, len(head.exchange.Cmd)-1)
		if len(head.exchange.Cmd) == 1 {
			head.acks = max(1, len(subscribed))
		}
	}
	if name, ok := channel.(string); ok {
		if strings.HasSuffix(word, "unsubscribe") {
			delete(subscribed, name)
		} else {
			subscribed[name] = true
		}
	}
	if !asked {
		return nil, false
	}
	head.acks--
	return head, head.acks == 0
}

package faultproxy

import (
	"sync"
	"sync/atomic"
	"time"
)

// Action is what happens to a command that a rule matches.
type Action int

const (
	// CutBefore closes the connection's both sides once what was sent before has its reply; the command never reaches
	// the server.
	CutBefore Action = iota + 1
	// CutAfter closes both sides when the server has answered; the command ran, the reply is lost.
	CutAfter
	// DropReply lets the command run, and nothing more reaches the client on this connection, which stays open.
	DropReply
	// HoldReply lets the command run and keeps its reply, with what follows it, for Rule.Delay, or without one until
	// Handle.Release.
	HoldReply
	// Withhold keeps the command's bytes, and all that the client writes behind them, until Handle.Release or until a
	// command that Rule.Until matches was answered. The connection to the server stays open if the client closes its
	// own meanwhile. Commands behind the withheld one are matched by no rule.
	Withhold
	// Answer gives Rule.Reply in the command's turn; the server never sees the command.
	Answer
	// Replace lets the command run and gives Rule.Reply instead of its reply.
	Replace
	// Blackhole swallows the command and everything after it, in both directions, and keeps the connection open.
	Blackhole
)

// String is the action's name.
func (a Action) String() string {
	names := [...]string{"pass", "CutBefore", "CutAfter", "DropReply", "HoldReply", "Withhold", "Answer", "Replace", "Blackhole"}
	if a < 0 || int(a) >= len(names) {
		return "unknown"
	}
	return names[a]
}

// Rule is one fault. The first rule, in the order they were added, that matches a command and is not used up applies.
type Rule struct {
	Match Match         // nil matches every command
	Skip  int           // so many matching commands pass first
	Times int           // so many commands are hit, then the rule is used up; 0 is without end
	Do    Action        // what becomes of the command
	Delay time.Duration // of HoldReply
	Reply []byte        // of Answer and Replace, in RESP: []byte("-LOADING wait\r\n")
	// Until, of Withhold: the bytes are let go when the server has answered a command that it matches, on any
	// connection of the proxy, and before its client hears that answer.
	Until Match
}

// Handle tells about a rule in force. All methods are safe for concurrent use.
type Handle struct {
	proxy *Proxy
	rule  Rule

	hits    atomic.Int64
	hit     chan struct{}
	hitOnce sync.Once
	let     chan struct{} // closed by the first Release: held replies go on
	letOnce sync.Once

	// guarded by proxy.mu
	seen    int
	removed bool
}

// Hits is how many commands the rule was applied to.
func (h *Handle) Hits() int { return int(h.hits.Load()) }

// Hit is closed when the rule is applied for the first time. For the actions on replies this is when the command
// passes, before its reply comes.
func (h *Handle) Hit() <-chan struct{} { return h.hit }

// Remove takes the rule out of force. What it holds stays held until Release.
func (h *Handle) Remove() {
	h.proxy.mu.Lock()
	defer h.proxy.mu.Unlock()
	h.removed = true
}

// Release lets go what the rule holds: replies of HoldReply (also those that would be held later) and bytes of
// Withhold (later ones are withheld anew, while Rule.Times lasts).
// For withheld bytes it blocks until the server has answered them or has closed their connection, and returns how many
// of the withheld connections were answered: 0 means that none of the bytes ran. It fails the test when a server does
// neither within ten seconds.
func (h *Handle) Release() int {
	h.letOnce.Do(func() { close(h.let) })
	answered := 0
	for _, c := range h.proxy.connections() {
		if released := c.release(h); released != nil && h.proxy.settled(c, released) {
			answered++
		}
	}
	return answered
}

// take decides whether the rule applies to a command and counts it. proxy.mu is held.
func (h *Handle) take(cmd []string) bool {
	if h.removed || h.rule.Times > 0 && int(h.hits.Load()) >= h.rule.Times {
		return false
	}
	if h.rule.Match != nil && !h.rule.Match(cmd) {
		return false
	}
	h.seen++
	if h.seen <= h.rule.Skip {
		return false
	}
	h.hits.Add(1)
	return true
}

// announce closes Hit. It comes after the fault's state is set, so that who waits for it can rely on that state.
func (h *Handle) announce() { h.hitOnce.Do(func() { close(h.hit) }) }

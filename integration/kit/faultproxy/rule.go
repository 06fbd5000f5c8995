package faultproxy

import (
	"sync"
	"sync/atomic"
	"time"
)

// Action is what happens to a command that a rule matches.
type Action int

const (
	// CutBefore never sends the command to the server. It closes both sides of the connection once all earlier commands
	// have their replies.
	CutBefore Action = iota + 1
	// CutAfter closes both sides when the server has answered; the command ran, the reply is lost.
	CutAfter
	// DropReply lets the command run. From its reply on, nothing reaches the client on this connection, which stays
	// open.
	DropReply
	// HoldReply lets the command run and holds its reply and all later ones for Rule.Delay. Handle.Release ends the
	// hold earlier; with no Delay, only Release ends it.
	HoldReply
	// Withhold keeps the command's bytes, and all that the client writes behind them, until Handle.Release or until the
	// server has answered a command that Rule.Until matches. If the client closes its side meanwhile, the connection to
	// the server stays open. No rule applies to commands behind the withheld one.
	Withhold
	// Answer sends Rule.Reply in the command's place in the order of replies; the server never sees the command.
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

// Rule is one fault. The first rule added that matches a command and is not used up applies.
type Rule struct {
	Match Match         // nil matches every command
	Skip  int           // matching commands to let pass first
	Times int           // commands to hit until the rule is used up; 0 means no limit
	Do    Action        // what to do with the command
	Delay time.Duration // for HoldReply
	Reply []byte        // for Answer and Replace, in RESP: []byte("-LOADING wait\r\n")
	// Until, for Withhold: the proxy releases the bytes when the server has answered a command that Until matches, on
	// any connection of the proxy, and before that command's client gets the answer.
	Until Match
}

// Handle controls a rule in force. All methods are safe for concurrent use.
type Handle struct {
	proxy *Proxy
	rule  Rule

	hits    atomic.Int64
	hit     chan struct{}
	hitOnce sync.Once
	let     chan struct{} // closed by the first Release, which ends HoldReply
	letOnce sync.Once

	// guarded by proxy.mu
	seen    int
	removed bool
}

// Hits returns how many commands the rule was applied to.
func (h *Handle) Hits() int { return int(h.hits.Load()) }

// Hit returns a channel that is closed when the rule first applies. For actions on replies this is when the command
// passes, before its reply arrives.
func (h *Handle) Hit() <-chan struct{} { return h.hit }

// Remove takes the rule out of force. What it holds stays held until Release.
func (h *Handle) Remove() {
	h.proxy.mu.Lock()
	defer h.proxy.mu.Unlock()
	h.removed = true
}

// Release releases what the rule holds: replies of HoldReply (the rule then holds no later ones either) and bytes of
// Withhold (later commands are withheld again until Rule.Times is used up). For withheld bytes it blocks until the
// server has answered them or closed their connection. It returns how many of the withheld connections were answered: 0
// means that none of the bytes ran. If a server does neither within ten seconds, the test fails.
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

// announce closes Hit, after the fault's state is set: a test that waited for Hit may rely on that state.
func (h *Handle) announce() { h.hitOnce.Do(func() { close(h.hit) }) }

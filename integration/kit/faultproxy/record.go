package faultproxy

import (
	"strings"
	"time"
)

// Exchange is a command with its reply, or something that the server sent on its own.
type Exchange struct {
	Conn     int       // index of the connection, see Conn
	Cmd      []string  // nil if it belongs to no command: messages, pushes, lines of MONITOR
	Reply    any       // the server's own, whatever a rule did: string, Status, Error, int64, nil, []any
	Sent     time.Time // when the proxy had read it
	Answered time.Time // zero while the server has not answered
	Did      Action    // what a rule did to it, 0 for nothing
}

// Conn is a connection that the proxy accepted.
type Conn struct {
	Number   int        // from 0, in order of arrival
	Addr     string     // the address that the server sees and shows in CLIENT LIST; empty if never dialled
	ClientID int64      // the server's id for it, if a CLIENT ID passed on it; else 0
	Cmds     [][]string // all its recorded commands
	Open     bool       // false when the client's side is closed
}

// Record returns every recorded exchange in the order in which the commands arrived. Of the acknowledgements of one
// SUBSCRIBE it keeps the last.
func (p *Proxy) Record() []Exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]Exchange, len(p.exchanges))
	for i, e := range p.exchanges {
		all[i] = *e
	}
	return all
}

// Log returns every connection so far with its recorded commands.
func (p *Proxy) Log() []Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]Conn, len(p.conns))
	for i, c := range p.conns {
		all[i] = Conn{Number: c.number, Addr: c.addr, ClientID: c.clientID, Open: !c.clientGone}
	}
	for _, e := range p.exchanges {
		if e.Cmd != nil {
			all[e.Conn].Cmds = append(all[e.Conn].Cmds, e.Cmd)
		}
	}
	return all
}

// Count returns how many commands of this name arrived, whatever a rule did to them. Case does not matter.
func (p *Proxy) Count(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[strings.ToUpper(name)]
}

// Forget drops the exchanges recorded so far, so that a proxy can run for hours. Counts stay.
func (p *Proxy) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.exchanges = nil
}

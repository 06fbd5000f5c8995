package faultproxy

import (
	"strings"
	"time"
)

// Exchange is a command with its reply, or something that the server sent on its own.
type Exchange struct {
	Conn     int       // which connection, see Conn
	Cmd      []string  // nil for what belongs to no command: messages, pushes, lines of MONITOR
	Reply    any       // as the server gave it, whatever a rule made of it: string, Status, Error, int64, nil, []any
	Sent     time.Time // when the proxy had read it
	Answered time.Time // zero while the server has not answered
	Did      Action    // what a rule did to it, 0 for nothing
}

// Conn is a connection that the proxy accepted.
type Conn struct {
	Number   int        // from 1, in the order of their coming
	Addr     string     // the address that the server sees and names in CLIENT LIST; empty if it was never dialled
	ClientID int64      // the server's id for it, if a CLIENT ID passed; else 0
	Cmds     [][]string // all that came on it
	Open     bool       // false when the client's side is closed
}

// Record returns every exchange so far in the order the commands arrived. Of several acknowledgements of one SUBSCRIBE
// the last is kept.
func (p *Proxy) Record() []Exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]Exchange, len(p.exchanges))
	for i, e := range p.exchanges {
		all[i] = *e
	}
	return all
}

// Log returns every connection so far with the commands that came on it.
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

// Count is how many commands of this name arrived, whatever became of them. The name's case does not matter.
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

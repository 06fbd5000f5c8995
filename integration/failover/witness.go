package main

import (
	"strconv"
	"sync"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// proof is what is known of an owner's acquire and its renewals: how far replicas have acknowledged them.
type proof int

const (
	none   proof = iota // no WAIT was sent: the server had no replicas
	zero                // WAIT answered 0, or nothing
	fewer               // WAIT answered less than it was asked for
	proven              // WAIT answered what it was asked for, each time
)

func (p proof) String() string {
	return [...]string{"without WAIT", "WAIT answered 0", "WAIT answered fewer", "WAIT answered n of n"}[p]
}

// witness reads what passes the gates of one set.
type witness struct {
	mu      sync.Mutex // guards what follows
	conns   map[line]*[]string
	proofs  map[string]proof     // by owner
	known   map[string]time.Time // by owner: when its acquire was acknowledged
	renewed map[string][]time.Time
}

// line is one connection.
type line struct{ gate, conn int }

func newWitness() *witness {
	return &witness{conns: map[line]*[]string{}, proofs: map[string]proof{}, known: map[string]time.Time{}, renewed: map[string][]time.Time{}}
}

var (
	acquires = faultproxy.Script(luasrc.LockScript.SHA1)
	renewals = faultproxy.Script(luasrc.RenewScript.SHA1)
	wait     = faultproxy.Command("WAIT")
)

// see is told of each answer that passes a gate.
func (w *witness) see(gate int, e faultproxy.Exchange) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := line{gate, e.Conn}
	switch {
	case acquires(e.Cmd) && e.Reply == nil:
		w.open(at, e.Cmd[5])
	case renewals(e.Cmd):
		owners, mine := renewees(e.Cmd, e.Reply)
		for i, owner := range owners {
			if mine[i] {
				w.open(at, owner)
				w.renewed[owner] = append(w.renewed[owner], e.Answered)
			}
		}
	case wait(e.Cmd):
		asked, _ := strconv.ParseInt(e.Cmd[1], 10, 64)
		n, _ := e.Reply.(int64)
		p := proven
		switch {
		case n == 0:
			p = zero
		case n < asked:
			p = fewer
		}
		w.acknowledged(at, p, e.Answered)
	}
}

// open notes an owner that the next WAIT of its connection is about. Until that is answered nothing proves its claim.
func (w *witness) open(at line, owner string) {
	list := w.conns[at]
	if list == nil {
		list = new([]string)
		w.conns[at] = list
	}
	*list = append(*list, owner)
}

func (w *witness) acknowledged(at line, p proof, when time.Time) {
	list := w.conns[at]
	if list == nil {
		return
	}
	for _, owner := range *list {
		if before, renewal := w.proofs[owner]; renewal {
			w.proofs[owner] = min(before, p)
		} else {
			w.proofs[owner], w.known[owner] = p, when
		}
	}
	*list = (*list)[:0]
}

// of is the proof of an owner who was inside from an instant on.
func (w *witness) of(owner string, from time.Time) proof {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, there := w.proofs[owner]
	if !there || w.known[owner].After(from) {
		return none // a later WAIT may have covered it, which its holder did not wait for
	}
	for _, open := range w.conns {
		for _, o := range *open {
			if o == owner {
				return min(p, zero) // a renewal whose WAIT was never answered
			}
		}
	}
	return p
}

// gaps are the times between the renewals of an owner, beginning at an instant.
func (w *witness) gaps(owner string, from, to time.Time) (all []time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := time.Time{}
	for _, at := range w.renewed[owner] {
		if !last.IsZero() && at.After(from) && last.Before(to) {
			all = append(all, at.Sub(last))
		}
		last = at
	}
	return all
}

// renewees are the owners of a batch of renewals, and which of them held.
func renewees(cmd []string, reply any) (owners []string, mine []bool) {
	n, err := strconv.Atoi(cmd[2])
	list, ok := reply.([]any)
	if err != nil || !ok || len(list) != n || len(cmd) != 3+n+1+n {
		return nil, nil
	}
	for i, owner := range cmd[3+n+1:] {
		owners, mine = append(owners, owner), append(mine, list[i] == int64(1))
	}
	return owners, mine
}

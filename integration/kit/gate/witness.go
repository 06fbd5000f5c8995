package gate

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// Proof is what is known of an owner's acquire and its renewals: how far replicas have acknowledged them.
type Proof int

const (
	None   Proof = iota // no WAIT was sent: the server had no replicas
	Zero                // WAIT answered 0, or nothing
	Fewer               // WAIT answered less than it was asked for
	Proven              // WAIT answered what it was asked for, each time
)

// String is the proof as a table names it.
func (p Proof) String() string {
	return [...]string{"without WAIT", "WAIT answered 0", "WAIT answered fewer", "WAIT answered n of n"}[p]
}

// Witness reads what passes the gates of one set.
type Witness struct {
	mu      sync.Mutex // guards what follows
	conns   map[line]*[]string
	proofs  map[string]Proof     // by owner
	known   map[string]time.Time // by owner: when its acquire was acknowledged
	renewed map[string][]time.Time
	said    map[string][]string // by owner: what passed
	asked   map[string]int      // by owner: the fewest replicas that a WAIT asked
	granted map[string][]int    // by owner: the gates of its acquires
}

// line is one connection.
type line struct{ gate, conn int }

// NewWitness has seen nothing.
func NewWitness() *Witness {
	return &Witness{conns: map[line]*[]string{}, proofs: map[string]Proof{}, known: map[string]time.Time{}, renewed: map[string][]time.Time{}, said: map[string][]string{}, asked: map[string]int{}, granted: map[string][]int{}}
}

var (
	renewals = faultproxy.Any(faultproxy.Script(luasrc.RenewScript.SHA1), faultproxy.Script(luasrc.ReadRenewScript.SHA1))
	takes    = faultproxy.Script(luasrc.PermitAcquireScript.SHA1)
	retakes  = faultproxy.Script(luasrc.PermitRenewScript.SHA1)
	wait     = faultproxy.Command("WAIT")
)

var ownerForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:-?[0-9]+`)

// granted is the owner whom an acquire got the lock, or empty: a refusal is a number or a text.
func granted(e faultproxy.Exchange) string {
	if _, numbered := e.Reply.([]any); e.Reply != nil && !numbered {
		return ""
	}
	i := slices.IndexFunc(e.Cmd, ownerForm.MatchString)
	if i < 0 {
		return ""
	}
	return ownerForm.FindString(e.Cmd[i])
}

// See is told of each answer that passes a gate.
func (w *Witness) See(gate int, e faultproxy.Exchange) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := line{gate, e.Conn}
	switch {
	case testbed.Acquires(e.Cmd), takes(e.Cmd):
		owner := granted(e)
		if takes(e.Cmd) {
			owner = taken(e)
		}
		if owner == "" {
			return
		}
		w.note(owner, at, e, fmt.Sprintf("acquired %.40s", e.Cmd[3]))
		if !slices.Contains(w.granted[owner], gate) {
			w.granted[owner] = append(w.granted[owner], gate)
		}
		w.open(at, owner)
	case renewals(e.Cmd), retakes(e.Cmd):
		read := renewees
		if retakes(e.Cmd) {
			read = retaken
		}
		owners, mine := read(e.Cmd, e.Reply)
		for i, owner := range owners {
			w.note(owner, at, e, fmt.Sprintf("renewed: %t", mine[i]))
			if mine[i] {
				w.open(at, owner)
				w.renewed[owner] = append(w.renewed[owner], e.Answered)
			}
		}
	case wait(e.Cmd):
		asked, _ := strconv.ParseInt(e.Cmd[1], 10, 64)
		n, _ := e.Reply.(int64)
		p := Proven
		switch {
		case n == 0:
			p = Zero
		case n < asked:
			p = Fewer
		}
		if list := w.conns[at]; list != nil {
			for _, owner := range *list {
				if least, there := w.asked[owner]; !there || int(asked) < least {
					w.asked[owner] = int(asked)
				}
				w.note(owner, at, e, fmt.Sprintf("WAIT %d answered %v", asked, e.Reply))
			}
		}
		w.acknowledged(at, p, e.Answered)
	}
}

// note keeps what passed, for whoever has to explain something.
func (w *Witness) note(owner string, at line, e faultproxy.Exchange, what string) {
	w.said[owner] = append(w.said[owner], fmt.Sprintf("%s to %s, gate %d, connection %d: %s",
		e.Sent.Format("05.000"), e.Answered.Format("05.000"), at.gate, at.conn, what))
}

// History is what passed the gates of an owner.
func (w *Witness) History(owner string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.said[owner])
}

// open notes an owner that the next WAIT of its connection is about. Until that is answered nothing proves its claim.
func (w *Witness) open(at line, owner string) {
	list := w.conns[at]
	if list == nil {
		list = new([]string)
		w.conns[at] = list
	}
	*list = append(*list, owner)
}

func (w *Witness) acknowledged(at line, p Proof, when time.Time) {
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

// Of is the proof of an owner who was inside from an instant on.
func (w *Witness) Of(owner string, from time.Time) Proof {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, there := w.proofs[owner]
	if !there || w.known[owner].After(from) {
		return None // a later WAIT may have covered it, which its holder did not wait for
	}
	for _, open := range w.conns {
		for _, o := range *open {
			if o == owner {
				return min(p, Zero) // a renewal whose WAIT was never answered
			}
		}
	}
	return p
}

// Asked is how many replicas were asked for an owner's acquire and its renewals, at least.
func (w *Witness) Asked(owner string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[owner]
}

// OnlyAt tells whether the owner was granted locks at one gate, and at no other.
func (w *Witness) OnlyAt(owner string, gate int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.granted[owner]
	return len(at) == 1 && at[0] == gate
}

// Gaps are the times between the renewals of an owner, beginning at an instant.
func (w *Witness) Gaps(owner string, from, to time.Time) (all []time.Duration) {
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

// renewees are the owners of a batch of renewals, and which of them held. Behind the keys and the lease stands each owner; of a read
// lock, how many holds it has stands behind it.
func renewees(cmd []string, reply any) (owners []string, mine []bool) {
	n, err := strconv.Atoi(cmd[2])
	list, ok := reply.([]any)
	if err != nil || !ok || len(list) == 0 || len(cmd) < 3+n+1+len(list) {
		return nil, nil
	}
	args := cmd[3+n+1:]
	for i := range list {
		owner := args[i*len(args)/len(list)]
		owners, mine = append(owners, strings.TrimSuffix(owner, ":write")), append(mine, list[i] == int64(1))
	}
	return owners, mine
}

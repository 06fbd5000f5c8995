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

// Proof says how far replicas have acknowledged an owner's acquire and its renewals.
type Proof int

const (
	None   Proof = iota // no WAIT was sent: the server had no replicas
	Zero                // WAIT answered 0 or an error, or was never answered
	Fewer               // WAIT answered fewer than it asked for
	Proven              // each WAIT answered as many as it asked for
)

// String is the proof as a table names it.
func (p Proof) String() string {
	return [...]string{"without WAIT", "WAIT answered 0", "WAIT answered fewer", "WAIT answered n of n"}[p]
}

// Witness reads the exchanges that pass the gates of one set. All methods are safe for concurrent use.
type Witness struct {
	mu      sync.Mutex // guards the fields below
	conns   map[line]*[]string
	proofs  map[string]Proof     // by owner
	known   map[string]time.Time // by owner: when its acquire was acknowledged
	renewed map[string][]time.Time
	said    map[string][]string // by owner: descriptions of the exchanges
	asked   map[string]int      // by owner: the fewest replicas that a WAIT asked for
	granted map[string][]int    // by owner: the gates of its acquires
	javas   map[string]bool     // by gate and permit: Redisson was granted it there
	doubled map[string]int      // by semaphore: repeated grants to Redisson since its permits were set
}

// line is one connection.
type line struct{ gate, conn int }

// NewWitness returns a witness that has seen nothing.
func NewWitness() *Witness {
	return &Witness{conns: map[line]*[]string{}, proofs: map[string]Proof{}, known: map[string]time.Time{}, renewed: map[string][]time.Time{}, said: map[string][]string{}, asked: map[string]int{}, granted: map[string][]int{}, javas: map[string]bool{}, doubled: map[string]int{}}
}

var (
	renewals  = faultproxy.Any(faultproxy.Script(luasrc.RenewScript.SHA1), faultproxy.Script(luasrc.ReadRenewScript.SHA1))
	takes     = faultproxy.Script(luasrc.PermitAcquireScript.SHA1)
	javaTakes = faultproxy.Script("992c96b0")
	retakes   = faultproxy.Script(luasrc.PermitRenewScript.SHA1)
	gives     = faultproxy.Script(luasrc.PermitReleaseScript.SHA1)
	sets      = faultproxy.Script(luasrc.PermitSetScript.SHA1)
	wait      = faultproxy.Command("WAIT")
)

var ownerForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:-?[0-9]+`)

// granted returns the owner to which an acquire granted the lock, or "": a refusal is a number or a text.
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

// See takes an exchange that passed this gate. The gate's proxy must call it for each, see faultproxy.Proxy.Observe.
func (w *Witness) See(gate int, e faultproxy.Exchange) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := line{gate, e.Conn}
	switch {
	case testbed.Acquires(e.Cmd), testbed.Repetitions(e.Cmd), takes(e.Cmd):
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
	case javaTakes(e.Cmd) && e.Reply == "OK":
		grant := fmt.Sprint(gate, e.Cmd[len(e.Cmd)-1])
		if w.javas[grant] {
			w.doubled[e.Cmd[3]]++
		}
		w.javas[grant] = true
	case sets(e.Cmd) && e.Reply == int64(1):
		delete(w.doubled, e.Cmd[3])
	case gives(e.Cmd):
		w.note(firstID(e.Cmd, 0), at, e, fmt.Sprintf("given back: %v", e.Reply))
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

// note keeps a description of an exchange for History.
func (w *Witness) note(owner string, at line, e faultproxy.Exchange, what string) {
	w.said[owner] = append(w.said[owner], fmt.Sprintf("%s to %s, gate %d, connection %d: %s",
		e.Sent.Format("05.000"), e.Answered.Format("05.000"), at.gate, at.conn, what))
}

// History returns descriptions of an owner's exchanges at all gates.
func (w *Witness) History(owner string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.said[owner])
}

// open notes an owner that the next WAIT on its connection covers. Until WAIT is answered, nothing proves the grant.
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

// Of returns the proof for an owner that was inside the lock from the given instant on.
func (w *Witness) Of(owner string, from time.Time) Proof {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, there := w.proofs[owner]
	if !there || w.known[owner].After(from) {
		return None // a later WAIT may have covered it, but the holder did not wait for that one
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

// Asked returns the fewest replicas that a WAIT asked for to cover the owner's acquire or its renewals; 0 if none did.
func (w *Witness) Asked(owner string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[owner]
}

// OnlyAt reports whether the owner was granted locks at this gate and at no other.
func (w *Witness) OnlyAt(owner string, gate int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.granted[owner]
	return len(at) == 1 && at[0] == gate
}

// Doubled returns how many permits of a semaphore Redisson may have lost since they were set: it repeats an acquire with the
// same id, and each grant takes one from the count.
func (w *Witness) Doubled(semaphore string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.doubled[semaphore]
}

// Gaps returns the intervals between an owner's successive renewals, if they overlap the given time.
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

// renewees returns the owners in a batch of renewals, and which of them held. The owners follow the keys and the lease;
// for read locks, each owner is followed by its number of holds.
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

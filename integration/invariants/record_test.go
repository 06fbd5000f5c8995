package invariants

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/testbed"
)

// What the proxy is told to look for.
var (
	acquires  = testbed.Acquires
	unlocks   = testbed.Unlocks
	renewals  = testbed.Renewals
	subscribe = faultproxy.Command("SUBSCRIBE")
)

// step is a script that passed the proxy, read.
type step struct {
	faultproxy.Exchange
	at     int // its place in the record
	kind   string
	keys   []string
	owners []string
	latch  string // empty: an unlock without one
	lease  time.Duration
}

func (s step) over(owner string) bool { return slices.Contains(s.owners, owner) }

// steps are the lock, unlock and renewal scripts so far, in order of arrival.
func (r *rig) steps() []step {
	r.Helper()
	var all []step
	for i, e := range r.Proxy.Record() {
		if len(e.Cmd) < 6 || e.Cmd[0] != "EVALSHA" {
			continue
		}
		n, _ := strconv.Atoi(e.Cmd[2])
		s := step{Exchange: e, at: i, keys: e.Cmd[3 : 3+n]}
		argv := e.Cmd[3+n:]
		var ms string
		switch {
		case acquires(e.Cmd):
			s.kind, ms, s.owners = "acquire", argv[0], argv[1:]
		case unlocks(e.Cmd):
			if s.kind, ms, s.owners = "unlock", argv[1], argv[2:3]; n == 3 {
				s.latch = s.keys[2]
			}
			s.keys = s.keys[:1]
		case renewals(e.Cmd):
			s.kind, ms, s.owners = "renewal", argv[0], argv[1:]
		default:
			continue
		}
		lease, err := strconv.Atoi(ms)
		if err != nil {
			r.Fatalf("a lease of %q in %q", ms, e.Cmd)
		}
		s.lease = time.Duration(lease) * time.Millisecond
		all = append(all, s)
	}
	return all
}

// of picks the steps of a kind over a key.
func (r *rig) of(kind, key string) []step {
	r.Helper()
	return slices.DeleteFunc(r.steps(), func(s step) bool { return s.kind != kind || !slices.Contains(s.keys, key) })
}

// answered waits until the server has answered n tries for a key.
func (r *rig) answered(key string, n int) {
	r.Helper()
	r.Becomes(fmt.Sprintf("%d answered tries for %s", n, key), func() bool {
		tries := r.of("acquire", key)
		return len(tries) >= n && !tries[n-1].Answered.IsZero()
	})
}

// killed fails unless the connection with this number was killed, by the server's id and address of it, with an answer
// that stands before the record's place at.
func (r *rig) killed(conn, before int) {
	r.Helper()
	c := r.Proxy.Log()[conn]
	wanted := []string{"CLIENT", "KILL", "ID", strconv.FormatInt(c.ClientID, 10), "ADDR", c.Addr}
	record := r.Proxy.Record()
	for _, e := range record[:before] {
		if slices.Equal(e.Cmd, wanted) {
			if e.Conn == conn {
				r.Errorf("the connection killed itself")
			}
			if e.Answered.IsZero() || e.Answered.After(record[before].Sent) {
				r.Errorf("%q was answered at %v, what relies on it was sent at %v", e.Cmd, e.Answered, record[before].Sent)
			}
			return
		}
	}
	r.Errorf("no %q before %q", wanted, record[before].Cmd)
}

// neverSentAgain fails if an owner's acquire whose answer the client did not get was followed by another of that owner.
// After the answer "taken" an owner may try again.
func (r *rig) neverSentAgain(key string) {
	r.Helper()
	open := map[string]bool{}
	for _, s := range r.of("acquire", key) {
		if open[s.owners[0]] {
			r.Errorf("the acquire of %s was sent again without an answer", s.owners[0])
		}
		_, taken := s.Reply.(int64)
		open[s.owners[0]] = !taken || s.Did != 0
	}
}

// oneAtATime fails if one of the steps was sent before the one before it had been answered, give or take nothing: the
// proxy notes an answer before it passes it on.
func oneAtATime(t testing.TB, steps []step, delay time.Duration) {
	t.Helper()
	for i := 1; i < len(steps); i++ {
		a, b := steps[i-1], steps[i]
		if a.Answered.IsZero() || b.Sent.Before(a.Answered.Add(delay)) {
			t.Fatalf("%s of %v was sent at %v, while the %s of %v sent at %v was open until %v",
				b.kind, b.owners, b.Sent, a.kind, a.owners, a.Sent, a.Answered.Add(delay))
		}
	}
}

package invariants

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

// Commands that the rules of the proxy match.
var (
	acquires  = testbed.Acquires
	again     = testbed.Repetitions
	unlocks   = testbed.Unlocks
	renewals  = testbed.Renewals
	subscribe = faultproxy.Command("SUBSCRIBE")
)

// places has the index of each script's lease and of its (first) owner among the arguments, and of its latch among the
// keys.
var places = map[string]struct {
	kind                string
	lease, owner, latch int
}{
	luasrc.LockScript.SHA1:                  {"acquire", 0, 1, 0},
	luasrc.FencedLockScript.SHA1:            {"acquire", 0, 1, 0},
	luasrc.NonReentrantLockScript.SHA1:      {"acquire", 0, 1, 0},
	luasrc.ReadLockScript.SHA1:              {"acquire", 0, 1, 0},
	luasrc.WriteLockScript.SHA1:             {"acquire", 0, 1, 0},
	luasrc.FairLockScript.SHA1:              {"acquire", 2, 1, 0},
	luasrc.LockAgainScript.SHA1:             {"again", 0, 1, 0},
	luasrc.FencedLockAgainScript.SHA1:       {"again", 0, 1, 0},
	luasrc.NonReentrantLockAgainScript.SHA1: {"again", 0, 1, 0},
	luasrc.ReadLockAgainScript.SHA1:         {"again", 0, 1, 0},
	luasrc.WriteLockAgainScript.SHA1:        {"again", 0, 1, 0},
	luasrc.FairLockAgainScript.SHA1:         {"again", 2, 1, 0},
	luasrc.UnlockToScript.SHA1:              {"unlock", 1, 2, 0},
	luasrc.UnlockScript.SHA1:                {"unlock", 1, 2, 2},
	luasrc.FairUnlockScript.SHA1:            {"unlock", 2, 1, 3},
	luasrc.ReadUnlockScript.SHA1:            {"unlock", 0, 1, 3},
	luasrc.WriteUnlockScript.SHA1:           {"unlock", 0, 1, 3},
	luasrc.RenewScript.SHA1:                 {"renewal", 0, 1, 0},
	luasrc.ReadRenewScript.SHA1:             {"renewal", 0, 1, 0},
}

func acquireScripts() []*luasrc.Script {
	return slices.DeleteFunc(luasrc.Scripts(), func(s *luasrc.Script) bool { return places[s.SHA1].kind != "acquire" })
}

// step is a parsed script call that passed the proxy.
type step struct {
	faultproxy.Exchange
	at     int // its index in the record
	kind   string
	keys   []string
	owners []string
	latch  string // empty: an unlock without one
	lease  time.Duration
}

func (s step) over(owner string) bool { return slices.Contains(s.owners, owner) }

// steps returns the lock, unlock and renewal scripts so far, and the acquires that were sent again, in order of arrival.
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
		at, known := places[e.Cmd[1]]
		if !known {
			continue
		}
		switch s.kind = at.kind; s.kind {
		case "renewal":
			for _, owner := range argv[at.owner:] {
				s.owners = append(s.owners, strings.TrimSuffix(owner, ":write"))
			}
		case "unlock":
			if at.latch > 0 && at.latch < len(s.keys) { // else the owner is own
				s.latch = s.keys[at.latch]
			}
			s.keys = s.keys[:1]
			fallthrough
		default:
			s.owners = argv[at.owner : at.owner+1]
		}
		lease, err := strconv.Atoi(argv[at.lease])
		if err != nil {
			r.Fatalf("a lease of %q in %q", argv[at.lease], e.Cmd)
		}
		if s.kind == "renewal" && lease == 0 {
			continue // it only looks
		}
		s.lease = time.Duration(lease) * time.Millisecond
		all = append(all, s)
	}
	return all
}

// of returns the steps of one kind for a key.
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

// killed fails unless another connection killed conn, by its id and address, and got the reply before the exchange at
// index before was sent.
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

// neverSentAgain fails if an owner's acquire came after one of the same owner whose answer the client did not get.
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

// oneAtATime fails if a step was sent less than delay after the answer to the one before. It needs no tolerance: the
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

func granted(t testing.TB, c <-chan testbed.Entry) *rlock.Hold {
	t.Helper()
	return testbed.Entered(t, c).Hold
}

func lock(t testing.TB, l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
	t.Helper()
	return granted(t, testbed.Enter(t.Context(), l, opts...))
}

func unlock(t testing.TB, holds ...*rlock.Hold) {
	t.Helper()
	for _, h := range holds {
		if err := h.Unlock(context.Background()); err != nil {
			t.Fatalf("unlock: %v", err)
		}
	}
}

func want(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("got error %v, want %v", err, target)
	}
}

func wantNot(t testing.TB, err error, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if errors.Is(err, target) {
			t.Errorf("error %v is %v, and must not be", err, target)
		}
	}
}

func anyOf(err error, targets []error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

func wantOneOf(t testing.TB, err error, targets ...error) {
	t.Helper()
	if !anyOf(err, targets) {
		t.Errorf("got error %v, want one of %v", err, targets)
	}
}

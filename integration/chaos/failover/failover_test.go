package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/gate"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
)

func TestMain(m *testing.M) { testbed.Main(m, "4") }

// TestOneOfEachKind plays one round of each kind that is not long, with Redis's default delay before a replica is fed. Rounds
// wait most of the time, so some run in parallel. Their times mean nothing, except that a lease is much longer.
func TestOneOfEachKind(t *testing.T) {
	for _, p := range parts {
		for _, w := range p.rows(false) {
			t.Run(w.String(), func(t *testing.T) {
				t.Parallel()
				p.play(w, 1, func(r result) {
					t.Log(r)
					for _, w := range r.wrong {
						t.Error(w)
					}
					// A round in which hardly anything happened shows nothing.
					if r.kept+r.lost == 0 || r.proofs[gate.Proven] < warm {
						t.Errorf("%d holds kept, %d lost, %v entries by proof", r.kept, r.lost, r.proofs)
					}
					// A client that is cut off together with the master has no replica that acknowledges a renewal.
					if w.kind == deaf && r.kept > 0 {
						t.Errorf("%d holds kept, %d lost", r.kept, r.lost)
					}
				})
			})
		}
	}
}

// TestAllKindsGoOnBehindAFailover plays one cell of the matrix.
func TestAllKindsGoOnBehindAFailover(t *testing.T) {
	t.Parallel()
	o := playCell(cell{"Sentinel", left, 2, 0})
	t.Log(o)
	for _, w := range o.wrong {
		t.Error(w)
	}
	if o.kept == 0 || o.entries < warm {
		t.Errorf("%d holds kept, %d entries", o.kept, o.entries)
	}
}

// TestTwoInsideAreFoundAndProven shows that overlaps finds two inside at once, and whether replicas had acknowledged both.
func TestTwoInsideAreFoundAndProven(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	named := func(owner string) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x:1", owner[0]) }
	w := gate.NewWitness()
	for i, owner := range []string{"a", "b", "c", "late"} {
		when, answer := at(0), int64(2)
		switch owner {
		case "c":
			answer = 0
		case "late":
			when = at(100)
		}
		w.See(i, faultproxy.Exchange{Cmd: []string{"EVALSHA", luasrc.LockScript.SHA1, "1", "x", "9000", named(owner)}, Answered: at(0)})
		w.See(i, faultproxy.Exchange{Cmd: []string{"WAIT", "2", "1000"}, Reply: answer, Answered: when})
	}
	for name, c := range map[string]struct {
		stays   []stay
		n       int
		proven  bool
		weakest gate.Proof
	}{
		"one after the other": {stays: []stay{{"x", "a", at(1), at(2)}, {"x", "b", at(2), at(3)}}},
		"two locks":           {stays: []stay{{"x", "a", at(1), at(5)}, {"y", "b", at(2), at(3)}}},
		"both proven":         {stays: []stay{{"x", "a", at(1), at(5)}, {"x", "b", at(2), at(3)}}, n: 1, proven: true, weakest: gate.Proven},
		"one of them":         {stays: []stay{{"x", "c", at(1), at(5)}, {"x", "b", at(2), at(3)}}, n: 1, weakest: gate.Zero},
		"told too late":       {stays: []stay{{"x", "late", at(1), at(5)}, {"x", "b", at(2), at(3)}}, n: 1, weakest: gate.None},
		"never asked":         {stays: []stay{{"x", "nobody", at(1), at(5)}, {"x", "b", at(2), at(3)}}, n: 1, weakest: gate.None},
	} {
		for i := range c.stays {
			c.stays[i].owner = named(c.stays[i].owner)
		}
		found := (&ledger{stays: c.stays}).overlaps(w)
		if len(found) != c.n {
			t.Errorf("%s: %v", name, found)
		} else if c.n > 0 && (found[0].proven() != c.proven || min(found[0].pa, found[0].pb) != c.weakest) {
			t.Errorf("%s: %v", name, found[0])
		}
	}
}

package wire

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// errUntimely says that the machine was too slow for what a scenario is about; it is played again.
var errUntimely = errors.New("a renewal came too early or too late, or a try too late")

// javaSide plays a scenario with Redisson.
type javaSide struct {
	*rig
	peer    *javapeer.Peer
	proxies []*faultproxy.Proxy
	id      *identity
	t1, t2  *javapeer.Thread

	left []string // locks of t1 to be released behind the recording
}

// leave has t1 release locks when the recording is over, since the watchdog would come for them in the next scenario too.
func (s *javaSide) leave(names ...string) { s.left = append(s.left, names...) }

func (s *javaSide) release() {
	for _, n := range s.left {
		s.t1.Unlock(s.ctx(), n) // one that was lost is an error, and forgotten all the same
	}
	s.left = nil
}

func newJava(r *rig, version string, options ...javapeer.Option) *javaSide {
	r.T.Helper()
	proxies, url := r.reach(javas)
	peer := javapeer.Start(r.T, version, url, options...)
	if peer.Version != version {
		r.T.Fatalf("Redisson %s was loaded instead of %s", peer.Version, version)
	}
	return &javaSide{rig: r, peer: peer, proxies: proxies, id: newIdentity(peer.ID), t1: peer.Thread("t1"), t2: peer.Thread("t2")}
}

// use has both threads take locks of a kind.
func (s *javaSide) use(k javapeer.Kind) { s.t1, s.t2 = s.t1.Of(k), s.t2.Of(k) }

// ok unwraps a call that has to succeed.
func (s *javaSide) ok(r javapeer.Reply, err error) javapeer.Reply {
	s.T.Helper()
	if err != nil {
		s.T.Fatal(err)
	}
	return r
}

// says is ok with the boolean that has to come.
func (s *javaSide) says(want bool, r javapeer.Reply, err error) {
	s.T.Helper()
	if got := s.ok(r, err).Bool(); got != want {
		s.T.Errorf("Java says %v, want %v", got, want)
	}
}

// notHeld takes the error of an unlock by somebody who holds nothing.
func (s *javaSide) notHeld(_ javapeer.Reply, err error) {
	s.T.Helper()
	if e, is := errors.AsType[*javapeer.JavaError](err); !is || !strings.Contains(e.Message, "attempt to unlock lock, not locked by current thread") {
		s.T.Errorf("Java says %v, want that it is not locked", err)
	}
}

// goSide plays a scenario with package rlock.
type goSide struct {
	*rig
	client  *rlock.Client
	proxies []*faultproxy.Proxy
	id      *identity

	lenient bool // outcomes do not matter
}

// newGo makes a client. Given altered scripts, they take the place of the library's, and what the library then makes of
// wrong answers is not looked at.
func newGo(r *rig, altered []Altered, options ...rlock.Option) *goSide {
	r.T.Helper()
	proxies, url := r.reach(gos)
	s := &goSide{rig: r, proxies: proxies, id: newIdentity(""), lenient: len(altered) > 0}
	var err error
	if s.lenient {
		s.client, err = rlock.New(newAlteredPool(r, s.proxies[0].Addr(), altered, s.id), options...)
	} else {
		s.client, err = rlock.Open(r.T.Context(), url, options...)
	}
	if err != nil {
		r.T.Fatal(err)
	}
	r.T.Cleanup(func() { s.client.Close() })
	s.id.client = s.client.ID().String()
	return s
}

// closeProxies ends those that are the side's alone.
func (s *goSide) closeProxies() {
	if s.place == nil {
		s.proxies[0].Close()
	}
}

// lock is a lock of the scenario's kind.
func (s *goSide) lock(name string) *rlock.Lock { return s.kind.GoLock(s.client, name) }

// ok takes an acquire that has to succeed.
func (s *goSide) ok(h *rlock.Hold, err error) *rlock.Hold {
	s.T.Helper()
	if err != nil {
		s.T.Fatal(err)
	}
	return h
}

// is takes any other call's outcome.
func (s *goSide) is(want, err error) {
	s.T.Helper()
	if !errors.Is(err, want) && !s.lenient {
		s.T.Errorf("Go says %v, want %v", err, want)
	}
}

// says is is for a call that answers.
func says[T comparable](s *goSide, want, got T, err error) {
	s.T.Helper()
	if (err != nil || got != want) && !s.lenient {
		s.T.Errorf("the answer is %v, %v; want %v", got, err, want)
	}
}

func (r *rig) ctx() context.Context {
	ctx, cancel := context.WithTimeout(r.T.Context(), patience)
	r.T.Cleanup(cancel)
	return ctx
}

// waits tells whether somebody who was refused waits for a lock of the scenario's kind.
func (r *rig) waits(all []faultproxy.Exchange, name string) bool {
	if r.kind == javapeer.Spin {
		return polls(all, name) >= severalPolls
	}
	return refused(all, name)
}

// refused tells whether a try was refused, then its channel subscribed to, then a try refused again.
func refused(all []faultproxy.Exchange, name string) bool {
	stage := 0
	for _, e := range all {
		c := command(e.Cmd)
		try := refusal(e, name)
		subscription := (c.is("SUBSCRIBE", channel(name)) || c.is("SSUBSCRIBE", channel(name))) && !e.Answered.IsZero()
		if try && stage != 1 || subscription && stage == 1 {
			stage++
		}
	}
	return stage >= 3
}

// refusal tells whether it is a try that was refused.
func refusal(e faultproxy.Exchange, name string) bool {
	c := command(e.Cmd)
	_, ttl := e.Reply.(int64)
	_, noToken := refusedToken(e.Reply)
	return (ttl || noToken) && len(c.keys) > 0 && c.keys[0] == name && c.shape() == "lock"
}

// refusedToken is the TTL in what Redisson's script that gives a token answers who is refused: the TTL, and -1.
func refusedToken(reply any) (ms int64, is bool) {
	pair, _ := reply.([]any)
	if len(pair) != 2 || pair[1] != int64(-1) {
		return 0, false
	}
	ms, is = pair[0].(int64)
	return ms, is
}

// waited is errUntimely unless a waiter tried again in time.
func (r *rig) waited(name string) error {
	if !r.waits(r.record(), name) {
		return errUntimely
	}
	return nil
}

// renewals counts the renewals so far that have this lock among their keys.
func renewals(all []faultproxy.Exchange, name string, answered bool) int {
	n := 0
	for _, e := range all {
		c := command(e.Cmd)
		if c.shape() == "renew" && slices.Contains(c.keys, name) {
			_, one := e.Reply.(int64)
			_, several := e.Reply.([]any)
			if one || several || !answered {
				n++
			}
		}
	}
	return n
}

// renewed waits until each of the locks was renewed n times.
func (r *rig) renewed(n int, names ...string) {
	r.T.Helper()
	r.kept = append(r.kept, names...)
	r.await("renewals", func(all []faultproxy.Exchange) bool {
		for _, name := range names {
			if renewals(all, name, true) < n {
				return false
			}
		}
		return true
	})
}

// lapsed is errUntimely if one of the locks that are to be renewed may have run out of its lease by now: whoever comes to
// a lock that is no more has something else to say. A client that never comes in time is played no more often than others.
func (r *rig) lapsed(lease time.Duration) error {
	now := time.Now()
	for _, name := range r.kept {
		if lapse(r.record(), name, lease, now) {
			return errUntimely
		}
	}
	return nil
}

// lapse tells whether there was a time, up to now, at which the lock's last grant or renewal was a lease ago.
func lapse(all []faultproxy.Exchange, name string, lease time.Duration, now time.Time) bool {
	var since time.Time
	for _, e := range all {
		c := command(e.Cmd)
		granted := c.shape() == "lock" && c.keys[0] == name && !failed(e) && !refusal(e, name)
		if e.Answered.IsZero() || !granted && renewals([]faultproxy.Exchange{e}, name, true) == 0 {
			continue
		}
		if !since.IsZero() && e.Answered.Sub(since) >= lease {
			return true
		}
		since = e.Sent
	}
	return !since.IsZero() && now.Sub(since) >= lease
}

// early reports errUntimely if a renewal came already.
func (r *rig) early(names ...string) error {
	for _, name := range names {
		if renewals(r.record(), name, false) > 0 {
			return errUntimely
		}
	}
	return nil
}

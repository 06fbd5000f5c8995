package wire

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/redisson/alike"
	"github.com/rlock-go/redisson/rlock"
)

// errUntimely says that the machine was too slow for what a scenario is about; it is played again.
var errUntimely = errors.New("a renewal came too early or too late, or a try too late")

type javaSide struct {
	*rig
	peer    *javapeer.Peer
	proxies []*faultproxy.Proxy
	id      *identity
}

func newJava(r *rig, version string, options ...javapeer.Option) *javaSide {
	r.T.Helper()
	proxies, url := r.reach(javas)
	peer := javapeer.Start(r.T, version, url, options...)
	if peer.Version != version {
		r.T.Fatalf("Redisson %s was loaded instead of %s", peer.Version, version)
	}
	return &javaSide{rig: r, peer: peer, proxies: proxies, id: newIdentity(peer.ID)}
}

// plays plays a scenario. release releases what it leaves, after the recording.
func (s *javaSide) plays(sc scenario, name string) (release func(), err error) {
	if sc.java != nil {
		return func() {}, sc.java(s, name)
	}
	a := func(who string) *javapeer.Thread { return s.peer.Thread(who).Of(sc.kind) }
	p := player{rig: s.rig, side: &alike.Java{Peer: s.peer}, name: name, parked: func(who string) error { return a(who).AwaitParked(s.ctx()) }}
	return func() {
		for _, n := range p.left {
			a("a").Unlock(s.ctx(), n) // one that was lost is an error, and Java forgets it too
		}
	}, p.run(sc.script)
}

type goSide struct {
	*rig
	client  *rlock.Client
	proxies []*faultproxy.Proxy
	id      *identity

	lenient bool // outcomes do not matter
}

// newGo makes a client. Altered scripts replace the library's, and outcomes are then not checked.
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

func (s *goSide) plays(sc scenario, name string) error {
	if sc.before != nil {
		sc.before(s, name)
	}
	golang := alike.GoOf(s.client)
	golang.Foreign = true
	p := player{rig: s.rig, side: golang, name: name, lenient: s.lenient, parked: func(string) error { return nil }}
	return p.run(sc.script)
}

func (r *rig) ctx() context.Context {
	ctx, cancel := context.WithTimeout(r.T.Context(), patience)
	r.T.Cleanup(cancel)
	return ctx
}

// waits reports whether a refused caller waits for a lock of the scenario's kind.
func (r *rig) waits(all []faultproxy.Exchange, name string) bool {
	if r.kind == javapeer.Spin {
		return polls(all, name) >= severalPolls
	}
	return refused(all, name)
}

// refused reports whether a try was refused, then its channel subscribed to, then a try refused again.
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

// refusal reports whether it is a try that was refused.
func refusal(e faultproxy.Exchange, name string) bool {
	c := command(e.Cmd)
	_, ttl := e.Reply.(int64)
	_, noToken := refusedToken(e.Reply)
	return (ttl || noToken) && len(c.keys) > 0 && c.keys[0] == name && c.shape() == "lock"
}

// refusedToken returns the TTL in a refusal by Redisson's token script, which replies the TTL and -1.
func refusedToken(reply any) (ms int64, is bool) {
	pair, _ := reply.([]any)
	if len(pair) != 2 || pair[1] != int64(-1) {
		return 0, false
	}
	ms, is = pair[0].(int64)
	return ms, is
}

// waited returns errUntimely unless a waiter tried again in time.
func (r *rig) waited(name string) error {
	if !r.waits(r.record(), name) {
		return errUntimely
	}
	return nil
}

// renewal tells whether it renews leases. A look, with a lease of 0, does not.
func renewal(e faultproxy.Exchange) bool {
	c := command(e.Cmd)
	return c.shape() == "renew" && c.argv[0] != "0"
}

// renewals counts the renewals so far that have this lock among their keys.
func renewals(all []faultproxy.Exchange, name string, answered bool) int {
	n := 0
	for _, e := range all {
		if renewal(e) && slices.Contains(command(e.Cmd).keys, name) {
			_, one := e.Reply.(int64)
			_, several := e.Reply.([]any)
			if one || several || !answered {
				n++
			}
		}
	}
	return n
}

// renewed waits until each of the locks was renewed n times, or has lapsed, so that it never will be.
func (r *rig) renewed(n int, names ...string) {
	r.T.Helper()
	r.kept = append(r.kept, names...)
	r.await("renewals", func(all []faultproxy.Exchange) bool {
		if r.lapsed() != nil {
			return true
		}
		for _, name := range names {
			if renewals(all, name, true) < n {
				return false
			}
		}
		return true
	})
}

// unasked returns errUntimely if there was a renewal that the scenario does not wait for.
func (r *rig) unasked() error {
	if len(r.kept) == 0 && slices.ContainsFunc(r.record(), renewal) {
		return errUntimely
	}
	return nil
}

// lapsed returns errUntimely if a lock to be renewed may have expired by now: clients send other commands for a lock that
// is gone. A client that is never in time is not played more often than others.
func (r *rig) lapsed() error {
	now := time.Now()
	for _, name := range r.kept {
		if lapse(r.record(), name, r.lease, now) {
			return errUntimely
		}
	}
	return nil
}

// lapse reports whether at any time up to now the lock's last grant or renewal was a lease ago.
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

// early returns errUntimely if a renewal came already.
func (r *rig) early(names ...string) error {
	for _, name := range names {
		if renewals(r.record(), name, false) > 0 {
			return errUntimely
		}
	}
	return nil
}

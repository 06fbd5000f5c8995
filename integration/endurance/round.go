package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/testbed"
)

// A round is one lock's life among some clients.
type round struct {
	*lane
	seed    uint64
	name    string
	theme   *theme
	rng     *rand.Rand
	tb      *testbed.Program
	clients []*client
	actors  []*actor
	owners  []string        // those that were minted
	shared  map[string]bool // owners that more than one client uses
	began   int64

	stop   chan struct{} // closed: nothing new begins
	heal   chan struct{} // closed: faults end
	healed atomic.Bool
	lost   atomic.Int64  // holds whose acquire began before this instant may have lost their key
	ended  chan struct{} // closed: no probes any more
	faults sync.WaitGroup
	probes sync.WaitGroup

	mu       sync.Mutex // guards what follows
	eventLog []string
	holds    []*hold
	calls    []call
	armed    []*armed
	accounts map[string]*account
	forced   []*forcing
	wrong    map[string]bool // violations that were told
}

// client is one party and what it stands behind.
type client struct {
	r         *round
	n         int
	set       setting
	proxy     *faultproxy.Proxy
	party     party
	elsewhere bool // its calls are made by another process
	disturbed atomic.Int64

	silences []span  // guarded by round.mu
	cuts     []int64 // likewise: when connections were cut, but for those that rules cut
}

// hold is an acquisition that a client was given.
type hold struct {
	c          *client
	id         int
	op         op
	owner      string
	start, end int64 // of the acquire
	until      int64 // its ValidUntil when last told
	promise    int64 // it lasts until then at least, 0: as long as it is renewed
	extending  int64 // the same, should an Extend under way have run
	most       int64 // its own lease keeps the key no longer; 0: while it is renewed
	unlocking  int64 // when Unlock was called
	unlocked   int64 // when it returned
	shown      span  // when its owner was shown, in rounds where it need not be
	handed     bool  // given to others, who release it by UnlockAs
	lost       int64 // when it was first seen to be lost
}

// call is a call that returned.
type call struct {
	c *client
	op
	owner string // as the server knows it; "" if it is not known
	reply
}

// forcing is a ForceUnlock; to is for ever while it is under way.
type forcing struct {
	c        *client
	from, to int64
	open     bool // it had no answer
}

const forever = int64(1) << 62

// account is what is known of an owner's count on the server beside its valid holds.
type account struct {
	handed     int    // holds that others are to release
	slack      int    // calls whose outcome nobody knows
	unreleased int    // of them, calls of Unlock
	given      []span // acquires that ended with their context
	tainted    string // why its holds can't be held against the server any more
	most       int64  // a failed acquire of it keeps the key no longer
}

func (r *round) account(owner string) *account {
	a := r.accounts[owner]
	if a == nil {
		a = &account{}
		r.accounts[owner] = a
	}
	return a
}

func (r *round) logf(format string, args ...any) {
	at := float64(now()-r.began) / 1e6
	text := fmt.Sprintf("%8.1f  %s", at, fmt.Sprintf(format, args...))
	r.mu.Lock()
	r.eventLog = append(r.eventLog, text)
	r.mu.Unlock()
}

// play makes one round.
func (l *lane) play(seed uint64) {
	r := &round{lane: l, seed: seed, name: fmt.Sprintf("endure-%x-%06d", seed, l.rounds.Add(1)), rng: rand.New(rand.NewPCG(seed, 7)), tb: quiet(),
		shared: map[string]bool{}, began: now(), stop: make(chan struct{}), heal: make(chan struct{}), ended: make(chan struct{}),
		accounts: map[string]*account{}, wrong: map[string]bool{}}
	defer r.tb.Finish()
	r.theme = l.draw(r.rng)
	r.tally.add(nRounds, 1)
	r.tally.hit("theme: "+r.theme.name, 1)
	if !r.build() {
		return
	}
	var acting sync.WaitGroup
	r.probes.Go(r.probeUntilHealed)
	r.faults.Go(r.disturb)
	if r.theme.late {
		for _, c := range r.clients {
			if r.rng.IntN(3) > 0 {
				d := time.Duration(100+r.rng.IntN(1500)) * time.Millisecond
				r.faults.Go(func() { c.freeze(d) })
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	if r.theme.inherit {
		r.handOver()
	}
	for _, a := range r.actors {
		acting.Go(a.act)
	}
	length := r.theme.length[0] + time.Duration(r.rng.Int64N(int64(r.theme.length[1]-r.theme.length[0])))
	timer := time.AfterFunc(length, func() { close(r.stop) })
	defer timer.Stop()
	acting.Wait()
	<-r.stop
	r.finish()
}

// draw chooses a round's theme. Rounds that lose data have a server of their own.
func (l *lane) draw(rng *rand.Rand) *theme {
	if l.only != "" {
		for i := range themes {
			if strings.Contains(themes[i].name, l.only) {
				return &themes[i]
			}
		}
	}
	sum := 0
	for i := range themes {
		sum += themes[i].weight
	}
	n := rng.IntN(sum)
	for i := range themes {
		if n -= themes[i].weight; n < 0 {
			return &themes[i]
		}
	}
	panic("not reached")
}

// build makes clients and actors, before anything goes wrong.
func (r *round) build() bool {
	t, rng := r.theme, r.rng
	shares := rng.Float64() < t.shared
	child := -1
	if rng.Float64() < t.child {
		child = 1
	}
	// One watchdog timeout for all: a shorter one of another client may cut what a hold of a shared owner was promised.
	watchdog := time.Duration(600+rng.IntN(900)) * time.Millisecond
	for i := range 2 + rng.IntN(2) {
		c := &client{r: r, n: i, proxy: faultproxy.Start(r.tb, r.server(t).Addr())}
		c.set = setting{By: t.ways[rng.IntN(len(t.ways))], Addr: c.proxy.Addr(), NoKill: rng.Float64() < t.poor, Unseen: t.once, Seed: rng.Uint64(), Name: r.name,
			Timeout: time.Duration(150+rng.IntN(150)) * time.Millisecond, Watchdog: watchdog}
		c.set.Mute = t.mute > 0 && !c.set.NoKill && rng.Float64() < t.mute
		c.party = party(&agent{})
		if i == child {
			c.elsewhere, c.party = true, r.child()
		}
		r.clients = append(r.clients, c)
		r.logf("client %d: %v, another process: %v", i, c.set, c.elsewhere)
		if opened := c.party.do(op{Do: doOpen, Open: &c.set}); opened.failed() {
			if r.machine.settled(opened.Start, opened.End) == 0 {
				r.violate("a client can't be opened", "%v", opened)
			}
			for _, earlier := range r.clients[:i] {
				earlier.party.do(op{Do: doClose})
			}
			return false
		}
	}
	if t.once {
		for _, c := range r.clients {
			for range 1 + rng.IntN(2) {
				r.cast(c, "")
			}
		}
		return true
	}
	r.share(shares)
	return true
}

// share makes owners, and who calls as them.
func (r *round) share(shares bool) {
	t, rng := r.theme, r.rng
	owner := r.clients[0].party.do(op{Do: doMint}).Owner
	r.owners = []string{owner}
	r.shared[owner] = shares
	for range 2 + rng.IntN(2) {
		r.cast(r.clients[0], owner)
	}
	for _, c := range r.clients[1:] {
		if shares && (c.n == 1 || rng.IntN(3) == 0) {
			for range 1 + rng.IntN(2) {
				r.cast(c, owner)
			}
			continue
		}
		r.cast(c, "")
	}
	if rng.IntN(4) == 0 && !t.inherit {
		second := r.clients[1].party.do(op{Do: doMint}).Owner
		r.owners = append(r.owners, second)
		r.shared[second] = shares
		r.cast(r.clients[1], second)
		if shares {
			r.cast(r.clients[0], second)
		}
	}
}

// cast adds somebody who calls; without an owner each acquisition has a fresh one.
func (r *round) cast(c *client, owner string) {
	a := &actor{r: r, c: c, owner: owner, rng: rand.New(rand.NewPCG(r.seed, uint64(100+len(r.actors))))}
	if owner != "" && !r.shared[owner] && r.rng.IntN(3) == 0 && !r.theme.inherit {
		a.owner = "" // of its own, and known to nobody else
	}
	r.actors = append(r.actors, a)
}

// look is what the server shows at one instant between from and to.
type look struct {
	from, to int64
	ttl      int64 // in ms; -2: there is no key
	fields   map[string]int
}

func (k look) String() string {
	return fmt.Sprintf("PTTL %d, fields %v", k.ttl, k.short())
}

func (k look) short() map[string]int {
	m := map[string]int{}
	for o, n := range k.fields {
		m[short(o)] = n
	}
	return m
}

const lookScript = "return {redis.call('pttl',KEYS[1]), redis.call('hgetall',KEYS[1])}"

// look asks the server, past all faults.
func (r *round) look() look {
	r.asking.Lock()
	defer r.asking.Unlock()
	k := look{from: now()}
	reply, err := redis.Values(r.direct(r.theme).Do("EVAL", lookScript, 1, r.name))
	k.to = now()
	if err != nil || len(reply) != 2 {
		panic(fmt.Sprintf("endurance: the server can't be asked: %v", err))
	}
	k.ttl, _ = redis.Int64(reply[0], nil)
	k.fields, err = redis.IntMap(reply[1], nil)
	if err != nil {
		panic(fmt.Sprintf("endurance: the key of %s: %v", r.name, err))
	}
	return k
}

func (r *round) command(name string, args ...any) any {
	r.asking.Lock()
	defer r.asking.Unlock()
	reply, err := r.direct(r.theme).Do(name, args...)
	if err != nil {
		panic(fmt.Sprintf("endurance: %s: %v", name, err))
	}
	return reply
}

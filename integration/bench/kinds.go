package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
	"github.com/rlock-go/redisson/rlock"
)

// mix is what the callers of one name want: the percentage of each kind.
type mix struct {
	title  string
	shares map[javapeer.Kind]int
	places []int
}

// At 101 callers one holds and a hundred wait. The objects that are not locks are in objects.go.
var mixes = []mix{
	{"spin", map[javapeer.Kind]int{javapeer.Spin: 100}, []int{1, 16, 128}},
	{"fair", map[javapeer.Kind]int{javapeer.Fair: 100}, []int{1, 16, 101, 128}},
	{"fenced", map[javapeer.Kind]int{javapeer.Fenced: 100}, []int{1, 16, 128}},
	{"non-reentrant", map[javapeer.Kind]int{javapeer.NonReentrant: 100}, []int{1, 16, 128}},
	{"write", map[javapeer.Kind]int{javapeer.Write: 100}, []int{1, 16, 128}},
	{"read", map[javapeer.Kind]int{javapeer.Read: 100}, []int{1, 16, 128}},
	{"90% read", map[javapeer.Kind]int{javapeer.Read: 90, javapeer.Write: 10}, []int{16, 128}},
	{permitsTitle, map[javapeer.Kind]int{permitsKind: 100}, []int{1, 16, 128}},
	{semaphoreTitle, map[javapeer.Kind]int{semaphoreKind: 100}, []int{1, 16, 128}},
	{"count-down", map[javapeer.Kind]int{latchKind: 100}, []int{1, 16, 128}},
	{"three at once", map[javapeer.Kind]int{javapeer.Multi: 100}, []int{1, 16, 128}},
}

// waitingReaders are how many readers wait for one write release, awaiters how many await the last count-down.
var (
	waitingReaders = []int{100, 1000}
	awaiters       = []int{100}
)

// runKinds measures each object of rlock and Redisson's own, with all callers at one name.
func runKinds(r *run) (err error) {
	defer caught(&err)
	client := must(rlock.Open(context.Background(), "redis://"+r.server.addr))
	defer client.Close()
	var java *javapeer.Peer
	if r.java && r.wants(javaP) {
		java = must(startJava(r.server.addr))
		defer java.Quit()
	}
	for _, m := range mixes {
		check(r.mixed(m, client, java))
	}
	readers, latches := []reading{goReading(client)}, []reading{goAwaiting(client)}
	if java != nil {
		readers, latches = append(readers, javaReading(java)), append(latches, javaAwaiting(java))
	}
	check(r.releaseToAll(readers, waitingReaders, "%d readers after a write"))
	clear(r.hung)
	return r.releaseToAll(latches, awaiters, "%d awaiters after the last count-down")
}

// load runs the loads of a mix at the same time, on one name.
func (m mix) load(of func(javapeer.Kind) loader) loader {
	return func(s spec) (loaded, error) {
		var loaders []loader
		var specs []spec
		for k, share := range m.shares {
			part := s
			part.callers = max(s.callers*share/100, 1)
			loaders, specs = append(loaders, of(k)), append(specs, part)
		}
		return together(loaders, specs)
	}
}

func (r *run) mixed(m mix, c *rlock.Client, java *javapeer.Peer) (err error) {
	defer caught(&err)
	all := []*contender{{name: ours, usage: ownUsage, load: m.load(func(k javapeer.Kind) loader {
		return fleet{{handle: func(name string) handle { return objectHandle(c, k, name) }}}.load
	})}}
	if java != nil {
		all = append(all, &contender{name: javaP, usage: usageOf(java.PID), load: m.load(func(k javapeer.Kind) loader { return javaLoader(java, k) })})
	}
	for _, callers := range m.places {
		at := atCallers(m.title, callers)
		for i := range r.sizes.rounds {
			check(round(r, i, all, at, func(one *contender) (err error) {
				defer caught(&err)
				s := spec{prefix: m.name(prefixFor("kinds:"+at, one.name)), callers: callers, shared: true, length: r.sizes.length}
				check(m.prepare(c, s.prefix))
				length := warmUp
				if one.name == javaP && !r.Quick {
					length = javaWarmUp / 4
				}
				check(one.warm(i, s, length))
				l, e, err := r.cost(one, s)
				check(err)
				add := func(metric string, value float64) { r.add(kindsPart, one.name, at, metric, value) }
				add("acquisitions/s", l.rate())
				add("µs", l.micros())
				add("server µs", e.server.Seconds()*1e6/float64(l.grants))
				add("client µs", e.client.Seconds()*1e6/float64(l.grants))
				if l.handoffs > 0 && m.exclusive() {
					add("µs a hand-off", l.took.Seconds()*1e6/float64(l.handoffs))
				}
				return nil
			}))
		}
		clear(r.hung)
		r.say("kinds, %s: done", at)
	}
	return nil
}

// reading is one side whose readers all wait for one write lock, or whose awaiters wait for a latch.
type reading struct {
	name    string
	write   func(lock string) error
	read    func(lock string, i int) (granted int64, err error)
	unread  func(lock string, i int) error
	release func(lock string) (began int64, err error)
}

func (s reading) called() string { return s.name }

// releaseToAll measures how long after one release all waiters have entered.
func (r *run) releaseToAll(all []reading, crowds []int, title string) (err error) {
	defer caught(&err)
	for _, n := range crowds {
		at := fmt.Sprintf(title, n)
		for i := range r.sizes.rounds {
			check(round(r, i, all, at, func(side reading) error {
				first, last, err := r.letIn(side, n)
				if err == nil {
					r.add(kindsPart, side.name, at, "ms until one is in", first)
					r.add(kindsPart, side.name, at, "ms until all are in", last)
				}
				return err
			}))
		}
		r.say("kinds, %s: done", at)
	}
	return nil
}

// letIn makes n readers wait, releases, and returns after how many ms the first and the last had the lock.
func (r *run) letIn(side reading, n int) (first, last float64, err error) {
	defer caught(&err)
	name := prefixFor("readers", side.name)
	check(side.write(name))
	type grant struct {
		at  int64
		err error
	}
	grants := make(chan grant, n)
	for i := range n {
		go func() {
			at, err := side.read(name, i)
			grants <- grant{at, err}
		}()
	}
	_, _, err = r.settle(settled/4, grace)
	check(err)
	began, err := side.release(name)
	for range n {
		g := <-grants
		err = errors.Join(err, g.err)
		if ms := float64(g.at-began) / 1e6; first == 0 || ms < first {
			first = ms
		}
		last = max(last, float64(g.at-began)/1e6)
	}
	left := make(chan error, n)
	for i := range n {
		go func() { left <- side.unread(name, i) }()
	}
	for range n {
		err = errors.Join(err, <-left)
	}
	return first, last, err
}

// settle waits until the server gets no command for a while: all wait. It returns the counts then, and since when.
func (r *run) settle(silence, most time.Duration) (last commands, since time.Time, err error) {
	defer caught(&err)
	for began, total := time.Now(), int64(-1); total < 0 || time.Since(since) < silence; time.Sleep(silence / 20) {
		if last = must(r.server.commands()); sent(last) != total {
			total, since = sent(last), time.Now()
		}
		if time.Since(began) > most {
			return nil, since, errHang
		}
	}
	return last, since, nil
}

func goReading(c *rlock.Client) reading {
	var mu sync.Mutex // guards holds
	holds := map[int]*rlock.Hold{}
	lock := func(l *rlock.Lock, i int) (int64, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 2*grace)
		defer cancel()
		h, err := l.Lock(ctx)
		at := machineclock.Now()
		mu.Lock()
		defer mu.Unlock()
		holds[i] = h
		return at, err
	}
	unlock := func(i int) (int64, error) {
		mu.Lock()
		h := holds[i]
		mu.Unlock()
		began := machineclock.Now()
		if h == nil {
			return began, nil // the lock failed
		}
		return began, h.Unlock(context.Background())
	}
	const writer = -1
	return reading{
		name: ours,
		write: func(name string) error {
			_, err := lock(c.NewReadWriteLock(name).WriteLock(), writer)
			return err
		},
		read:    func(name string, i int) (int64, error) { return lock(c.NewReadWriteLock(name).ReadLock(), i) },
		unread:  func(_ string, i int) error { _, err := unlock(i); return err },
		release: func(string) (int64, error) { return unlock(writer) },
	}
}

func javaReading(p *javapeer.Peer) reading {
	party := func(i int, k javapeer.Kind) javaParty { return javaParty{p, p.Thread(fmt.Sprint("r", i)).Of(k)} }
	writer := javaParty{p, p.Thread("w").Of(javapeer.Write)}
	return reading{
		name:  javaP,
		write: func(name string) error { _, err := writer.lock(name); return err },
		read:  func(name string, i int) (int64, error) { return party(i, javapeer.Read).lock(name) },
		unread: func(name string, i int) error {
			_, err := party(i, javapeer.Read).unlock(name)
			return err
		},
		release: writer.unlock,
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// mix is what callers want of one name: how many of a hundred want which kind.
type mix struct {
	title  string
	shares map[javapeer.Kind]int
	places []int
}

// The places of 101 callers are a holder and a hundred who wait. What is no lock is in objects.go.
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

// waitingReaders are the places of one write release, awaiters those of the last count-down.
var (
	waitingReaders = []int{100, 1000}
	awaiters       = []int{100}
)

// runKinds measures each lock object beside Redisson's own: all callers at one name.
func runKinds(r *run) error {
	client, err := rlock.Open(context.Background(), "redis://"+r.server.addr)
	if err != nil {
		return err
	}
	defer client.Close()
	var java *javapeer.Peer
	if r.java && r.wants(javaP) {
		if java, err = startJava(r.server.addr); err != nil {
			return err
		}
		defer java.Quit()
	}
	for _, m := range mixes {
		if err := r.mixed(m, client, java); err != nil {
			return err
		}
	}
	readers, latches := []reading{goReading(client)}, []reading{goAwaiting(client)}
	if java != nil {
		readers, latches = append(readers, javaReading(java)), append(latches, javaAwaiting(java))
	}
	if err := r.releaseToAll(readers, waitingReaders, "%d readers after a write"); err != nil {
		return err
	}
	clear(r.hung)
	return r.releaseToAll(latches, awaiters, "%d awaiters after the last count-down")
}

// kindClient is a client whose locks are of a kind.
type kindClient struct {
	c *rlock.Client
	k javapeer.Kind
}

func (c kindClient) handle(name string) handle { return objectHandle(c.c, c.k, name) }
func (c kindClient) close()                    {}

// mixedLoader runs the loads of a mix at the same time, on one name.
type mixedLoader struct {
	shares map[javapeer.Kind]int
	of     func(javapeer.Kind) loader
}

func (m mixedLoader) load(s spec) (sum loaded, err error) {
	var all sync.WaitGroup
	var mu sync.Mutex // guards sum and err
	for k, share := range m.shares {
		s := s
		s.callers = max(s.callers*share/100, 1)
		all.Go(func() {
			l, e := m.of(k).load(s)
			if len(m.shares) > 1 && errors.Is(e, errNoPair) {
				e = nil // readers may keep the writers out
			}
			mu.Lock()
			defer mu.Unlock()
			sum.pairs, sum.grants, sum.handoffs = sum.pairs+l.pairs, sum.grants+l.grants, sum.handoffs+l.handoffs
			sum.took, err = max(sum.took, l.took), errors.Join(err, e)
		})
	}
	all.Wait()
	return sum, err
}

func (m mixedLoader) close() {}

func (r *run) mixed(m mix, client *rlock.Client, java *javapeer.Peer) error {
	all := []*contender{{ours, mixedLoader{m.shares, func(k javapeer.Kind) loader { return fleet{kindClient{client, k}} }}, ownUsage, nil}}
	if java != nil {
		l := mixedLoader{m.shares, func(k javapeer.Kind) loader { return javaLoader{java, k} }}
		all = append(all, &contender{javaP, l, func() (usage, error) { return processCPU(java.PID) }, nil})
	}
	for _, callers := range m.places {
		at := atCallers(m.title, callers)
		for i := range r.sizes.rounds {
			for _, c := range r.turns(all, i) {
				s := spec{prefix: m.name(prefixFor("kinds:"+at, c.name)), callers: callers, shared: true, length: r.sizes.length}
				err := m.prepare(client, s.prefix)
				if err == nil && i == 0 {
					warm := s
					if warm.length = warmUp; c.name == javaP && !r.Quick {
						warm.length = javaWarmUp / 4
					}
					_, err = c.loader.load(warm)
				}
				var l loaded
				var e expense
				if err == nil {
					l, e, err = r.cost(c, s)
				}
				if err != nil {
					if c.name == ours {
						return fmt.Errorf("%s: %w", at, err)
					}
					r.hung[c.name] = true
					r.trouble("%s: %s: %v; it is left out of the rest of that place", c.name, at, err)
					continue
				}
				r.add(kindsPart, c.name, at, "acquisitions/s", l.rate())
				r.add(kindsPart, c.name, at, "µs", l.micros())
				r.add(kindsPart, c.name, at, "server µs", e.server.Seconds()*1e6/float64(l.grants))
				r.add(kindsPart, c.name, at, "client µs", e.client.Seconds()*1e6/float64(l.grants))
				if l.handoffs > 0 && m.exclusive() {
					r.add(kindsPart, c.name, at, "µs a hand-off", l.took.Seconds()*1e6/float64(l.handoffs))
				}
			}
		}
		clear(r.hung)
		r.say("kinds, %s: done", at)
	}
	return nil
}

// reading is somebody whose readers all wait for one write lock, or awaiters for a latch.
type reading struct {
	name    string
	write   func(lock string) error
	read    func(lock string, i int) (granted int64, err error)
	unread  func(lock string, i int) error
	release func(lock string) (began int64, err error)
}

// releaseToAll measures how long after one release all that wait for it are in.
func (r *run) releaseToAll(all []reading, crowds []int, title string) error {
	for _, n := range crowds {
		at := fmt.Sprintf(title, n)
		for i := range r.sizes.rounds {
			for k := range all {
				side := all[(k+i)%len(all)]
				if r.hung[side.name] {
					continue
				}
				first, last, err := r.letIn(side, n)
				if err != nil {
					if err := r.failed(side.name, at, err); err != nil {
						return err
					}
					continue
				}
				r.add(kindsPart, side.name, at, "ms until one is in", first)
				r.add(kindsPart, side.name, at, "ms until all are in", last)
			}
		}
		r.say("kinds, %s: done", at)
	}
	return nil
}

// letIn has n readers wait, releases, and tells after how many ms the first and the last had the lock.
func (r *run) letIn(side reading, n int) (first, last float64, err error) {
	name := prefixFor("readers", side.name)
	if err := side.write(name); err != nil {
		return 0, 0, err
	}
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
	if err := r.settle(); err != nil {
		return 0, 0, err
	}
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

// settle waits until the server has heard no command for a while: all wait.
func (r *run) settle() error {
	last, since := int64(-1), time.Now()
	for began := since; time.Since(since) < settled/4; time.Sleep(settled / 50) {
		d, err := r.server.commands()
		if err != nil {
			return err
		}
		if total := d.total(); total != last {
			last, since = total, time.Now()
		}
		if time.Since(began) > grace {
			return errHang
		}
	}
	return nil
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
			return began, nil // its lock failed
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

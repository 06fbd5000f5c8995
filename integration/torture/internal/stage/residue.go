package stage

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/torture/internal/worker"
)

const (
	// unsubscribed is how soon nobody may be subscribed any more once nobody waits.
	unsubscribed = 3 * time.Second
	// latches last for seconds by either side's settings.
	longestLatch = 20 * time.Second
	// longestReceipt is for an acquire of permits that nobody owns, by a process that was killed.
	longestReceipt = 10 * time.Minute
	// A client has one connection for commands and one for subscriptions, and to a server with replicas a second for
	// commands.
	goConnections = 3
)

// Quiet lets all workers come to their end; clients stay open.
func (s *Stage) Quiet() {
	var ending sync.WaitGroup
	for _, j := range s.javas {
		ending.Go(j.quiet)
	}
	for _, g := range s.gos {
		g.order("stop")
	}
	for _, g := range s.gos {
		g.await("idle", func(r *goRun) <-chan struct{} { return r.idle })
	}
	ending.Wait()
}

// Residue looks, when all is quiet, at what is left: first with the clients open, whose watchdogs would keep alive what
// they forgot to release, then with the clients closed.
func (s *Stage) Residue() {
	if s.set != nil {
		s.residueOfSet()
		return
	}
	s.ended()
	lease := worker.Long*s.Watchdog + 2*time.Second
	s.eventually(lease, "locks are left", func() error {
		left, _ := s.left()
		return left
	})
	if _, java := s.left(); java != nil {
		// Redisson's watchdog may go on extending what an interrupted or unanswered call left to nobody; it ends with the
		// JVM, and nobody got in wrongly meanwhile.
		s.Logf("note: Redisson keeps what nobody holds: %v", java)
	}
	s.eventually(unsubscribed, "channels are left", func() error {
		left, _ := s.channels()
		return left
	})
	if _, java := s.channels(); java != nil {
		s.Logf(staysSubscribed, java)
	}
	s.eventually(5*time.Second, "connections are left", s.fewConnections)
	if err := s.latches(); err != nil {
		s.fail("latches: %v", err)
	}
	s.closeClients()
	s.eventually(lease, "locks are left after the end", func() error { return errors.Join(s.left()) })
	s.eventually(unsubscribed, "channels are left after the end", func() error { return errors.Join(s.channels()) })
	s.eventually(5*time.Second, "connections are left after the end", func() error {
		return s.connections(func(*faultproxy.Proxy) int { return 0 })
	})
}

// closeClients ends all processes, and looks what they had left.
func (s *Stage) closeClients() {
	for _, g := range s.gos {
		g.order("close")
	}
	for _, g := range s.gos {
		g.mu.Lock()
		r := g.run
		g.mu.Unlock()
		if r == nil || !g.await("closed", func(r *goRun) <-chan struct{} { return r.gone }) {
			continue
		}
		switch {
		case r.closed == nil:
			s.fail("%v ended without a word", r.id)
		case r.closed.Goroutines > 0:
			s.fail("%v: %d goroutines are left:\n%s", r.id, r.closed.Goroutines, r.closed.Text)
		}
	}
	for _, j := range s.javas {
		j.end()
	}
}

// eventually fails the run unless the state comes.
func (s *Stage) eventually(within time.Duration, what string, state func() error) {
	for end := time.Now().Add(within); ; {
		err := state()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			s.fail("%s after %v: %v", what, within, err)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// left are the locks that somebody still has by the server's word: those of JVMs that live, and all others.
func (s *Stage) left() (others, java error) {
	if s.Kind.Rounds() > 0 {
		return nil, nil // see ended
	}
	if s.Kind.Permits > 0 {
		return s.permitsLeft(), nil
	}
	keys, others := redis.Strings(s.ask("KEYS", LockName(0)[:len(LockName(0))-1]+"*"))
	for _, key := range keys {
		owners, err := redis.StringMap(s.ask("HGETALL", key))
		if err != nil {
			others = errors.Join(others, err)
		}
		o, j := s.holders(key, owners)
		others, java = errors.Join(others, o), errors.Join(java, j)
	}
	return errors.Join(others, s.places()), java
}

// holders are the owners of a lock as left tells them apart. A read-write lock that a JVM keeps keeps also what those had
// who died reading: only the leases of their holds end.
func (s *Stage) holders(key string, owners map[string]string) (others, java error) {
	delete(owners, "mode") // of a read-write lock
	kept := s.Kind.Shared && slices.ContainsFunc(slices.Collect(maps.Keys(owners)), s.isJavas)
	for owner, count := range owners {
		held := fmt.Errorf("%s is held %s times by %s", key, count, owner)
		if s.isJavas(owner) || kept && !s.isGos(owner) {
			java = errors.Join(java, held)
		} else {
			others = errors.Join(others, held)
		}
	}
	return others, java
}

// places are those that Go clients of now have in queues, where nobody waits any more, and the leases of read holds.
func (s *Stage) places() (left error) {
	for i := range s.Locks {
		if !s.Kind.Order {
			break
		}
		waiting, err := redis.Strings(s.ask("LRANGE", codec.FairQueue(LockName(i)), 0, -1))
		left = errors.Join(left, err)
		for _, owner := range waiting {
			if s.isGos(owner) {
				left = errors.Join(left, fmt.Errorf("%s has a place in the queue of lock %d", owner, i))
			}
		}
	}
	if s.Kind.Shared {
		holds, err := redis.Strings(s.ask("KEYS", "*:rwlock_timeout:*"))
		left = errors.Join(left, err)
		for _, hold := range holds {
			if owner := ownerForm.FindString(hold); !s.isJavas(owner) {
				left = errors.Join(left, fmt.Errorf("a read hold of %s has a lease", owner))
			}
		}
	}
	return left
}

// isGos tells whether a Go process's last life made the owner.
func (s *Stage) isGos(owner string) bool {
	client, _, _ := strings.Cut(owner, ":")
	return slices.ContainsFunc(s.gos, func(g *goProcess) bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.run == nil {
			return false
		}
		select {
		case <-g.run.ready:
			return g.run.client == client
		default:
			return false
		}
	})
}

// isJavas tells whether a JVM that lives made the owner.
func (s *Stage) isJavas(owner string) bool {
	client, _, _ := strings.Cut(owner, ":")
	return slices.ContainsFunc(s.javas, func(j *javaProcess) bool { return j.made(client) })
}

// latches are to end by themselves.
func (s *Stage) latches() error {
	longest := longestLatch
	if s.Kind.Lasting {
		longest = longestReceipt
	}
	keys, err := redis.Strings(s.ask("KEYS", "redisson_unlock_latch:*"))
	for _, key := range keys {
		ttl, e := redis.Int64(s.ask("PTTL", key))
		if e == nil && (ttl == -1 || ttl > longest.Milliseconds()) {
			e = fmt.Errorf("%s lives for %d ms", key, ttl)
		}
		err = errors.Join(err, e)
	}
	return err
}

func (s *Stage) fewConnections() error {
	return s.connections(func(p *faultproxy.Proxy) int {
		for _, g := range s.gos {
			if g.proxy == p {
				return goConnections
			}
		}
		return 1 << 30 // Redisson keeps pools
	})
}

// connections compares the server's clients behind each proxy with what may be.
func (s *Stage) connections(most func(*faultproxy.Proxy) int) error {
	list, err := redis.String(s.ask("CLIENT", "LIST"))
	if err != nil {
		return err
	}
	proxies := map[string]*faultproxy.Proxy{}
	for _, g := range s.gos {
		proxies[fmt.Sprintf("Go%d", g.row)] = g.proxy
	}
	for _, j := range s.javas {
		proxies[fmt.Sprintf("Java%d", j.row)] = j.proxy
	}
	// Ports come back: an address is that of a connection that is open on its client's side, if there is one.
	open := map[string]bool{}
	for _, p := range proxies {
		for _, c := range p.Log() {
			open[c.Addr] = open[c.Addr] || c.Open
		}
	}
	for name, p := range proxies {
		var found []string
		seen := map[string]bool{}
		for _, c := range p.Log() {
			if !c.Open && open[c.Addr] {
				continue
			}
			if _, line, ok := strings.Cut(list, " addr="+c.Addr+" "); ok && c.Addr != "" && !seen[c.Addr] {
				seen[c.Addr] = true
				line, _, _ = strings.Cut(line, "\n")
				if strings.Contains(line, " name="+stageName+" ") {
					continue
				}
				found = append(found, fmt.Sprintf("client's side open %t, lately %q, to the server %s", c.Open, c.Cmds[max(0, len(c.Cmds)-3):], line))
			}
		}
		if len(found) > most(p) {
			err = errors.Join(err, fmt.Errorf("%s has %d:\n    %s", name, len(found), strings.Join(found, "\n    ")))
		}
	}
	return err
}

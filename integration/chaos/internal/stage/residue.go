package stage

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/sets"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/chaos/internal/worker"
	"github.com/rlock-go/redisson/internal/testkit/stalls"
)

const (
	// unsubscribed is how soon the last subscription ends after the last wait, and a connection after its client is closed.
	unsubscribed = 5 * time.Second
	// longestLatch is the longest life of a latch or a receipt that a killed process left.
	longestLatch = 10 * time.Minute
	// longestMark is the longest life of the mark of a semaphore or a latch.
	longestMark = time.Hour
	// A client has one connection for commands and one for subscriptions, and to a server with replicas a second for
	// commands.
	goConnections = 3
)

// Quiet lets all workers finish and waits for them. The clients stay open.
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

// Residue checks after Quiet what is left: first with the clients open, whose watchdogs would renew what they forgot to
// release, then with the clients closed. What a live JVM leaves is no failure: its watchdog may go on renewing a hold that
// an interrupted or unanswered call left behind, and a wait that ends before its subscription is confirmed leaves the
// subscription (javapeer has a test). Neither lets anybody in wrongly.
func (s *Stage) Residue() {
	if s.set != nil {
		s.set.settling.Wait()
	}
	lease := worker.Long*s.Watchdog + 2*time.Second
	s.eventually(lease, "locks are left", true, s.left)
	s.eventually(unsubscribed, "channels are left", true, s.channels)
	s.eventually(unsubscribed, "connections are left", true, s.connections(goConnections*len(s.gos)))
	s.eventually(unsubscribed, "latches are left for ever", true, s.latches)
	s.closeClients()
	s.eventually(lease, "locks are left after the end", false, s.left)
	s.eventually(unsubscribed, "channels are left after the end", false, s.channels)
	s.eventually(unsubscribed, "connections are left after the end", false, s.connections(0))
}

// closeClients ends all processes. A Go process that leaves goroutines fails the run.
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

// eventually fails the run unless left reports nothing in time. If spare is true, what a JVM left is only logged.
func (s *Stage) eventually(within time.Duration, what string, spare bool, left func() (others, java error)) {
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		others, java := left()
		switch {
		case others == nil && java != nil && spare:
			s.Logf("note: %s of Redisson's: %v", what, java)
			return
		case others == nil && java == nil:
			return
		case time.Since(began) > within+stalls.Since(began):
			s.fail("%s after %v: %v", what, within, errors.Join(others, java))
			return
		}
	}
}

// nodes calls ask for the single server, or for each server of a set, or for each of its masters.
func (s *Stage) nodes(masters bool, ask func(where string, do func(command string, args ...any) (any, error)) error) (err error) {
	if s.set == nil {
		return ask("the server", s.ask)
	}
	all := s.set.Nodes
	if masters {
		all = s.set.masters()
	}
	for _, n := range all {
		err = errors.Join(err, ask(n.Addr(), func(command string, args ...any) (any, error) { return sets.Do(n, command, args...) }))
	}
	return err
}

// left reports the locks that servers show as held: those of live JVMs, and all others.
func (s *Stage) left() (others, java error) {
	if s.Kind.Permits > 0 {
		return s.permitsLeft(), nil
	}
	others = s.nodes(true, func(where string, do func(string, ...any) (any, error)) error {
		keys, err := redis.Strings(do("KEYS", LockName(0)[:len(LockName(0))-1]+"*"))
		for _, key := range keys {
			owners, e := redis.StringMap(do("HGETALL", key))
			ttl, te := redis.Int64(do("PTTL", key))
			o, j := s.holders(fmt.Sprintf("%s at %s, for %d ms,", key, where, ttl), owners)
			err, java = errors.Join(err, e, te, o), errors.Join(java, j)
		}
		return err
	})
	if s.set == nil {
		others = errors.Join(others, s.places())
	}
	return others, java
}

// holders reports a lock's owners for left. While a JVM keeps a read-write lock, the read holds of killed processes stay in
// it too: only their leases end.
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

// places reports queue places of running Go clients, though nobody waits, and leases of read holds that no live JVM has.
func (s *Stage) places() (left error) {
	for i := range s.Sizes.Locks {
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

// isGos reports whether the last life of a Go process made the owner.
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

// isJavas reports whether a live JVM made the owner.
func (s *Stage) isJavas(owner string) bool {
	client, _, _ := strings.Cut(owner, ":")
	return slices.ContainsFunc(s.javas, func(j *javaProcess) bool { return j.made(client) })
}

// latches reports latches without a TTL or with one that is too long.
func (s *Stage) latches() (left, _ error) {
	return s.nodes(true, func(_ string, do func(string, ...any) (any, error)) error {
		keys, err := redis.Strings(do("KEYS", "redisson_unlock_latch:*"))
		for _, key := range keys {
			ttl, e := redis.Int64(do("PTTL", key))
			longest := longestLatch
			if strings.HasSuffix(key, ":begun") {
				longest = longestMark
			}
			if e == nil && (ttl == -1 || ttl > longest.Milliseconds()) {
				e = fmt.Errorf("%s lives for %d ms", key, ttl)
			}
			err = errors.Join(err, e)
		}
		return err
	}), nil
}

// connections reports servers to which Go clients have more connections than most.
func (s *Stage) connections(most int) func() (others, java error) {
	return func() (others, _ error) {
		return s.nodes(false, func(where string, do func(string, ...any) (any, error)) error {
			list, err := redis.String(do("CLIENT", "LIST"))
			if found := strings.Count(list, " name=rlock "); found > most {
				err = errors.Join(err, fmt.Errorf("%s has %d: %s", where, found, list))
			}
			return err
		}), nil
	}
}

// listening finds the client names of connections with a subscription.
var listening = regexp.MustCompile(`(?m)^.* name=(\S*) .* s?sub=[1-9]`)

// channels reports the servers with channels that somebody is subscribed to, without the Sentinels' own. They are Java's if
// only connections without a name are subscribed, as a JVM's are.
func (s *Stage) channels() (others, java error) {
	others = s.nodes(false, func(where string, do func(string, ...any) (any, error)) error {
		names, err := redis.Strings(do("PUBSUB", "CHANNELS"))
		shard, _ := redis.Strings(do("PUBSUB", "SHARDCHANNELS"))
		clients, e := redis.String(do("CLIENT", "LIST", "TYPE", "PUBSUB"))
		names = slices.DeleteFunc(append(names, shard...), func(name string) bool { return name == "__sentinel__:hello" })
		if err = errors.Join(err, e); err != nil || len(names) == 0 {
			return err
		}
		left, unnamed := fmt.Errorf("%q at %s, of these connections:\n%s", names, where, clients), 0
		for _, listens := range listening.FindAllStringSubmatch(clients, -1) {
			switch name := listens[1]; {
			case name == "":
				unnamed++
			case !strings.HasPrefix(name, "sentinel-"):
				return left
			}
		}
		if unnamed == 0 {
			return left
		}
		java = errors.Join(java, left)
		return nil
	})
	return others, java
}

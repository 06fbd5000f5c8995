package topology

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/redisconn"
)

const (
	// lookAnyway is how often a client in use looks without a reason. It looks once
	// more after its last use: a failover may have undone its last releases.
	lookAnyway = 10 * time.Second

	// The pause after a look is between half of these and all of it. It doubles, from
	// the short one to the long one, while looks are asked for and find nothing new.
	shortLookPause = 50 * time.Millisecond
	longLookPause  = time.Second

	// believeMoved is how long a redirection outweighs a map: some servers learn of
	// a move late, from other servers.
	believeMoved = 2 * time.Second

	// askedFor is how long a server without slots is kept after an ASK, or a subscription.
	askedFor = 30 * time.Second

	// idleLooks is after how many times lookAnyway an unused node's connections are
	// closed.
	idleLooks = 6

	// longestMap, in bytes, has room for a line for each slot.
	longestMap = 16 << 20
)

// watch keeps the table up to date until Close.
func (t *Cluster) watch() {
	tick := time.NewTicker(lookAnyway)
	defer tick.Stop()
	pause := shortLookPause
	for {
		select {
		case <-t.look:
		case <-tick.C:
			pause = shortLookPause
			if !t.tend() {
				continue // nobody would notice
			}
		case <-t.life.Done():
			return
		}
		if t.refresh(t.life) {
			pause = shortLookPause
		}
		t.mu.Lock()
		close(t.looked)
		t.looked = make(chan struct{})
		t.mu.Unlock()
		if !clock.Sleep(t.life, pause/2+rand.N(pause/2)) {
			return
		}
		pause = min(2*pause, longLookPause)
		// A lost host refuses nothing, so its replica is in its place before a dial has failed.
		if slices.ContainsFunc(t.Nodes(), func(n *Node) bool { return n.Pipe.Connecting() }) {
			t.lookSoon()
		}
	}
}

// tend closes connections that were unused for a while. It reports whether any node
// is in use, or was at the last call.
func (t *Cluster) tend() (used bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.by {
		if m.node.Used() {
			m.used, m.idle, used = true, 0, true
			continue
		}
		m.idle++
		used = used || m.used && m.idle == 1
		if m.used && m.idle >= idleLooks && t.life.Err() == nil {
			t.renew(m)
		}
	}
	return used
}

// answer is one server's map of the cluster.
type answer struct {
	from    string
	m       slotMap
	sharded bool
	alone   bool // it hears no majority of the masters: they may have replaced it

	unusable error // why slots are missing in m

	ids     ids   // of all servers that it knows
	unnamed error // why they may lack some
}

// errAlone makes askEach ask another server too.
var errAlone = errors.New("most masters are silent to it")

// refresh asks the servers for their map, and takes the first of its own cluster from a
// server that is not alone, or else the best. It reports whether that changed anything.
func (t *Cluster) refresh(ctx context.Context) bool {
	var asking sync.WaitGroup
	defer asking.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	addresses := t.candidates()
	told := make(chan answer, len(addresses))
	err := askEach(ctx, addresses, func(addr string, answers chan<- error) {
		asking.Go(func() {
			a, err := t.ask(ctx, addr)
			if err == nil {
				told <- a
				switch {
				case t.foreign(a):
					err = fmt.Errorf("%s: %w", addr, errOtherCluster)
				case a.alone:
					err = errAlone
				}
			}
			answers <- redisconn.OwnDeadline(err)
		})
	}, func(error) bool { return false })
	var all []answer
	for range len(told) {
		all = append(all, <-told)
	}
	if best := t.best(all); best.m != nil {
		changed := t.learn(best)
		for _, n := range t.Nodes() {
			n.List(len(t.replicas(n.name)))
		}
		return changed
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = err
	return false
}

// candidates returns the servers to ask, in order: those that a redirection named
// lately, those that can be reached, those of the URL, then all others that are known.
func (t *Cluster) candidates() (addresses []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var named, well, rest []string
	for _, m := range t.by {
		switch {
		case m.node.Pipe.Err() != nil:
			rest = append(rest, m.node.name)
		case time.Since(m.moved) < believeMoved:
			named = append(named, m.node.name)
		default:
			well = append(well, m.node.name)
		}
	}
	for _, some := range [][]string{named, well, slices.Clone(t.seeds), rest, slices.Collect(maps.Keys(t.others))} {
		rand.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		for _, addr := range some {
			if !slices.Contains(addresses, addr) {
				addresses = append(addresses, addr)
			}
		}
	}
	return addresses
}

// ask asks one server for its map, on a separate connection.
func (t *Cluster) ask(ctx context.Context, addr string) (a answer, err error) {
	a.from = addr
	ctx, cancel := context.WithTimeout(ctx, t.s.Timeout)
	defer cancel()
	err = t.target.At(addr).Ask(ctx, longestMap, func(c redis.Conn) error {
		reply, err := redisconn.Do(ctx, c, "CLUSTER", "SLOTS")
		if a.m, a.unusable, err = decodeSlots(reply, err, addr); err != nil {
			return err
		}
		_, err = redisconn.Do(ctx, c, "SPUBLISH", probe, "")
		a.sharded, _ = sharded(err)
		nodes, err := redis.String(redisconn.Do(ctx, c, "CLUSTER", "NODES"))
		if a.unnamed = err; err != nil && !redisconn.IsRefusal(err) {
			return err
		}
		a.alone = alone(nodes)
		a.addIDs(nodes)
		if t.s.Replicas {
			a.m.addReplicas(nodes, addr)
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("%s: %w", addr, err)
	}
	return a, err
}

// learn takes a map over, except for slots that a redirection moved lately. A member
// without slots leaves, unless it was asked lately.
func (t *Cluster) learn(a answer) (changed bool) {
	t.sharded.Store(a.sharded)
	t.warn(a)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.life.Err() != nil {
		return false
	}
	t.failed, t.told = a.unusable, a.from
	t.remember(a)
	t.others = map[string]string{}
	for _, r := range a.m {
		for _, addr := range r.replicas {
			t.others[addr] = r.master
		}
	}
	maps.DeleteFunc(t.recently, func(_ uint16, at time.Time) bool { return time.Since(at) > believeMoved })
	for _, r := range a.m {
		changed = t.give(r.Range, t.member(r.master).node, t.recently) || changed
	}
	serve := t.serving()
	for _, m := range t.by {
		if !serve[m.node] && time.Since(m.asked) > askedFor {
			t.leave(m)
			changed = true
		}
	}
	return changed
}

// warn logs that a map lacks slots, once until that changes.
func (t *Cluster) warn(a answer) {
	text := fmt.Sprint(a.unusable)
	if a.unusable != nil && text != t.warned {
		t.s.Log.SlotsUnserved(a.from, a.unusable)
	}
	t.warned = text
}

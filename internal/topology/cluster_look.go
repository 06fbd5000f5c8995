package topology

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

const (
	// lookAnyway is how often a client that is used looks without a reason, and once
	// more after its last use: a failover may have undone its last releases.
	lookAnyway = 10 * time.Second

	// Between two looks there are at least these; the pause doubles while there
	// are reasons to look and nothing is found.
	shortLookPause = 50 * time.Millisecond
	longLookPause  = time.Second

	// hedgeAfter is when the next server is asked beside one that is slow.
	hedgeAfter = 300 * time.Millisecond

	// believeMoved is for how long a redirection is believed rather than a map:
	// the servers tell each other of a move, and some learn of it late.
	believeMoved = 2 * time.Second

	// askedFor is for how long a server without slots is kept after an ASK.
	askedFor = 30 * time.Second

	// idleLooks is after how many looks of lookAnyway an unused node's connections
	// are given up.
	idleLooks = 6

	// longestMap has room for each slot with a line of its own.
	longestMap = 16 << 20
)

// watch keeps the table.
func (t *Cluster) watch(ctx context.Context) {
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
		case <-ctx.Done():
			return
		}
		if t.refresh(ctx) {
			pause = shortLookPause
		}
		t.mu.Lock()
		close(t.looked)
		t.looked = make(chan struct{})
		t.mu.Unlock()
		select {
		case <-time.After(pause/2 + rand.N(pause/2)):
		case <-ctx.Done():
			return
		}
		pause = min(2*pause, longLookPause)
	}
}

// tend gives up connections that nobody has used for a while. It reports whether
// any node is in use, or was when it was last called.
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
		if m.used && m.idle >= idleLooks && !t.closed {
			t.renew(m)
		}
	}
	return used
}

// answer is what one server says.
type answer struct {
	from    string
	m       slotMap
	sharded bool
	err     error

	unusable error // why slots are missing in m
}

// refresh asks the servers, one after the other, and the next one beside one that
// is slow. The first map is taken. It reports whether that changed anything.
func (t *Cluster) refresh(ctx context.Context) bool {
	addresses := t.candidates()
	answers := make(chan answer, len(addresses))
	var asked sync.WaitGroup
	defer asked.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error
	hedge := time.NewTimer(0)
	defer hedge.Stop()
	for open := 0; ; {
		select {
		case <-hedge.C:
			if len(addresses) == 0 && !redisconn.Permanent(failed) {
				continue // else whoever is silent would say the same, or nothing
			}
		case a := <-answers:
			open--
			if a.err == nil {
				return t.learn(a)
			}
			if !redisconn.Permanent(failed) {
				failed = redisconn.OwnDeadline(fmt.Errorf("%s: %w", a.from, a.err))
			}
			if open > 0 {
				continue
			}
		case <-ctx.Done():
			return false
		}
		if len(addresses) == 0 {
			t.mu.Lock()
			t.failed = failed
			t.mu.Unlock()
			return false
		}
		addr := addresses[0]
		addresses = addresses[1:]
		open++
		asked.Go(func() { answers <- t.ask(ctx, addr) })
		hedge.Reset(hedgeAfter)
	}
}

// candidates are the servers to ask: those that a redirection has named lately,
// then those without trouble, then all the others that are known.
func (t *Cluster) candidates() (addresses []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var named, well, rest []string
	for _, m := range t.by {
		switch {
		case m.node.Pipe.Err() != nil:
			rest = append(rest, m.addr)
		case t.namedLately(m.node):
			named = append(named, m.addr)
		default:
			well = append(well, m.addr)
		}
	}
	for _, some := range [][]string{named, well, rest, slices.Collect(maps.Keys(t.others)), slices.Clone(t.seeds)} {
		rand.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		for _, addr := range some {
			if !slices.Contains(addresses, addr) {
				addresses = append(addresses, addr)
			}
		}
	}
	return addresses
}

func (t *Cluster) namedLately(n *Node) bool {
	for _, m := range t.recently {
		if m.to == n && time.Since(m.at) < believeMoved {
			return true
		}
	}
	return false
}

// dial connects to a server for a few questions with long answers, which ctx bounds,
// until end.
func (t *Cluster) dial(ctx context.Context, addr string, timeout time.Duration) (conn redis.Conn, end func(), err error) {
	if conn, err = t.target.At(addr).Dial(ctx, timeout); err != nil {
		return nil, nil, err
	}
	c := conn.(interface {
		Interrupt()
		Admit(bytes int)
	})
	c.Admit(longestMap)
	stop := context.AfterFunc(ctx, c.Interrupt)
	return conn, func() { stop(); conn.Close() }, nil
}

// ask asks one server for its map, on a connection of its own.
func (t *Cluster) ask(ctx context.Context, addr string) (a answer) {
	a.from = addr
	ctx, cancel := context.WithTimeout(ctx, t.s.Timeout)
	defer cancel()
	conn, end, err := t.dial(ctx, addr, t.s.Timeout)
	if err != nil {
		a.err = err
		return a
	}
	defer end()
	reply, err := redis.DoWithTimeout(conn, t.s.Timeout, "CLUSTER", "SLOTS")
	a.m, a.unusable, a.err = decodeSlots(reply, err, addr)
	if a.err != nil {
		return a
	}
	a.sharded, _ = knowsSharded(ctx, conn)
	if t.s.Replicas {
		nodes, _ := redis.String(redis.DoWithTimeout(conn, t.s.Timeout, "CLUSTER", "NODES"))
		a.m.addReplicas(nodes, addr)
	}
	return a
}

// learn takes a map. What a redirection told lately is believed rather. A member
// that has no slots any more leaves.
func (t *Cluster) learn(a answer) (changed bool) {
	t.sharded.Store(a.sharded)
	t.warn(a)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.failed, t.told = a.unusable, a.from
	t.others = map[string]string{}
	for _, r := range a.m {
		for _, addr := range r.replicas {
			t.others[addr] = r.master
		}
	}
	for slot, m := range t.recently {
		if time.Since(m.at) > believeMoved {
			delete(t.recently, slot)
		}
	}
	for _, r := range a.m {
		for _, part := range t.withoutRecent(r.Range) {
			changed = t.give(part, t.member(r.master)) || changed
		}
	}
	for _, m := range t.by {
		if m.slots == 0 && time.Since(m.asked) > askedFor {
			t.leave(m)
			changed = true
		}
	}
	return changed
}

// warn tells of slots that a map does not have, once while that lasts.
func (t *Cluster) warn(a answer) {
	text := ""
	if a.unusable != nil {
		text = a.unusable.Error()
	}
	if text != "" && text != t.warned {
		t.s.Log.SlotsUnserved(a.from, a.unusable)
	}
	t.warned = text
}

// withoutRecent cuts a run of slots at those that a redirection told of lately.
func (t *Cluster) withoutRecent(r Range) (parts []Range) {
	if len(t.recently) == 0 {
		return []Range{r}
	}
	first := int(r.First)
	for slot := first; slot <= int(r.Last); slot++ {
		if _, recent := t.recently[uint16(slot)]; !recent {
			continue
		}
		if first < slot {
			parts = append(parts, Range{uint16(first), uint16(slot - 1)})
		}
		first = slot + 1
	}
	if first <= int(r.Last) {
		parts = append(parts, Range{uint16(first), r.Last})
	}
	return parts
}

package javareadwrite

import (
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// pair is a Go client and a JVM of one lock.
type pair struct {
	*rig
	golang *goSide
	java   *javaSide
	long   bool
}

// goWaits has an acquisition of its own wait in Go, and returns when n clients listen.
func (p *pair) goWaits(k javapeer.Kind, n int) <-chan *rlock.Hold {
	p.Helper()
	got := make(chan *rlock.Hold, 1)
	go func() {
		h, err := p.golang.of(k).Lock(p.Context())
		if err != nil && p.Context().Err() == nil {
			p.Error(err)
		}
		got <- h
	}()
	p.listening(n)
	time.Sleep(20 * time.Millisecond) // its try behind that
	return got
}

// behaviours are what both sides must see alike.
var behaviours = []struct {
	name string
	show func(p *pair)
}{
	{"readers together, a writer after the last", readersTogether},
	{"a write release lets all readers in", allReadersEnter},
	{"a write release lets one writer in", oneWriterEnters},
	{"each wakes the other", eachWakesTheOther},
	{"a downgrade lets all readers in", downgrade},
	{"views and one owner in two places", views},
	{"force", force},
	{"killed holders", killed},
	{"readers and writers of both never meet", neverMeet},
}

// BesideJava shows each behaviour with a release of Redisson, as a subtest of t, and tells how many were shown. What long adds
// takes a minute.
func BesideJava(t *testing.T, version string, long bool) (shown int) {
	r := newRig(t, "doc")
	golang, java := newGoSide(t, r.Server.URL(), r.name), newJavaSide(t, version, r.Server.URL(), r.name)
	for _, b := range behaviours {
		ok := t.Run(b.name, func(t *testing.T) {
			p := &pair{&rig{r.For(t), r.name}, golang, java, long}
			b.show(p)
			shown++
			p.Eventually("nothing left", func() bool {
				keys, err := redis.Strings(p.Do("KEYS", "*doc}*"), nil)
				latches, err2 := redis.Strings(p.Do("KEYS", "redisson_unlock_latch:*"), nil)
				return err == nil && err2 == nil && len(keys) == len(latches) && p.Do("EXISTS", "doc") == int64(0)
			})
		})
		if !ok {
			break // what it has left locked would keep the next one waiting
		}
	}
	return shown
}

func views(p *pair) {
	ctx := p.Context()
	thread := p.java.of("a", read)
	text, err := thread.Owner(ctx)
	p.Must(err)
	owner, err := rlock.ParseOwner(text.Text())
	p.Must(err)
	seen := func(reads, writes int) {
		p.Helper()
		for k, want := range map[javapeer.Kind]int{read: reads, write: writes} {
			l, th := p.golang.of(k), p.java.of("a", k)
			n, err := l.HoldCount(ctx, owner)
			held, err2 := l.IsHeldBy(ctx, owner)
			locked, err3 := l.IsLocked(ctx)
			if n != want || held != (want > 0) || locked != (want > 0) || err != nil || err2 != nil || err3 != nil {
				p.Errorf("Go sees %d holds, held %v, locked %v of the %s lock; %v, %v, %v", n, held, locked, k, err, err2, err3)
			}
			count, err := th.HoldCount(ctx, p.name)
			jHeld, err2 := th.IsHeld(ctx, p.name)
			jLocked, err3 := th.IsLocked(ctx, p.name)
			p.Must(err)
			p.Must(err2)
			p.Must(err3)
			// Up to 3.21 Redisson calls a read lock unlocked while its one reader writes.
			old := k == read && reads > 0 && writes > 0 && before(p.java.peer.Version, "3.27")
			if count.Int() != int64(want) || jHeld.Bool() != (want > 0) || jLocked.Bool() != (want > 0) && !old {
				p.Errorf("Java sees %d holds, held %v, locked %v of the %s lock", count.Int(), jHeld.Bool(), jLocked.Bool(), k)
			}
		}
	}
	seen(0, 0)
	p.Must(p.java.lock("a", write, 0))
	seen(0, 1)
	// The thread's owner reads in Go, and releases in Java.
	h, err := p.golang.of(read).Lock(ctx, rlock.As(owner))
	p.Must(err)
	seen(1, 1)
	p.Must(p.java.lock("a", read, 0))
	seen(2, 1)
	p.Must(p.java.unlock("a", write))
	seen(2, 0)
	p.Must(p.java.unlock("a", read))
	seen(1, 0)
	if i, err := p.golang.of(read).Info(ctx); err != nil || i.Owner != owner || i.Count != 1 {
		p.Errorf("%+v, %v", i, err)
	}
	p.Must(h.Unlock(ctx))
	seen(0, 0)
	p.Must(p.java.lock("a", read, 0))
	p.Must(p.golang.of(read).UnlockAs(ctx, owner))
	seen(0, 0)
	if err := p.java.unlock("a", read); !notHeld(err) && err != nil { // up to 3.37 it says nothing
		p.Error(err)
	}
}

func force(p *pair) {
	for _, k := range []javapeer.Kind{read, write} {
		p.Must(p.java.lock("a", k, 0))
		waits := p.goWaits(write, 1)
		if !p.golang.force(k) {
			p.Errorf("Go forced nothing of Java's %s lock", k)
		}
		h := enters(p, "a Go writer", waits)
		if err := p.java.unlock("a", k); !notHeld(err) {
			p.Errorf("Java's forced %s lock: %v", k, err)
		}
		waits = p.goWaits(k, 1)
		if !p.java.force(write) {
			p.Error("Java forced nothing")
		}
		again := enters(p, "another in Go", waits)
		if err := h.Unlock(p.Context()); !notHeld(err) {
			p.Errorf("Go's forced write lock: %v", err)
		}
		p.Must(again.Unlock(p.Context()))
	}
}

// killed has a holder of either side die. The key ends with its lease, and the other side enters.
func killed(p *pair) {
	version := p.java.peer.Version
	if version != javapeer.Newest && !p.long {
		p.Skip("a JVM more takes its time")
	}
	const lease = 1500 * time.Millisecond
	doomed := newJavaSide(p.T, version, p.Server.URL(), p.name, javapeer.WatchdogTimeout(lease))
	p.Must(doomed.lock("a", read, 0))
	waits := p.goWaits(write, 1)
	doomed.peer.Kill()
	p.Must(enters(p, "a Go writer behind a dead reader", waits).Unlock(p.Context()))

	// A client that is closed leaves its locks to their leases, as a dead one does.
	client := newGoSide(p.T, p.Server.URL(), p.name, rlock.WithWatchdogTimeout(lease))
	p.Must(client.lock("a", read, 0))
	p.Must(client.lock("b", read, 0))
	writes := p.java.waits("w", write)
	p.Must(client.client.Close())
	p.Must(enters(p, "a Java writer behind dead readers", writes))
	p.Must(p.java.unlock("w", write))
	p.Do("FLUSHALL") // their holds' keys end a moment later
}

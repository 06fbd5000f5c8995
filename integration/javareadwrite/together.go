package javareadwrite

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
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

// enters waits for one that must be woken by a message.
func enters[T any](p *pair, what string, got <-chan T) (v T) {
	p.Helper()
	select {
	case v = <-got:
	case <-time.After(atOnce):
		p.Fatalf("%s: not within %v; EXISTS %v, NUMSUB %s", what, atOnce, p.Do("EXISTS", p.name), p.Do("PUBSUB", "NUMSUB", "redisson_rwlock:{"+p.name+"}"))
	}
	return v
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
		t.Run(b.name, func(t *testing.T) {
			p := &pair{&rig{r.For(t), r.name}, golang, java, long}
			b.show(p)
			shown++
			p.Eventually("nothing left", func() bool {
				keys, err := redis.Strings(p.Do("KEYS", "*doc}*"), nil)
				latches, err2 := redis.Strings(p.Do("KEYS", "redisson_unlock_latch:*"), nil)
				return err == nil && err2 == nil && len(keys) == len(latches) && p.Do("EXISTS", "doc") == int64(0)
			})
		})
	}
	return shown
}

// eachWakesTheOther measures from the call of a release to the return of the acquire that waited for it. From Java to Go the way to the
// JVM is part of it.
func eachWakesTheOther(p *pair) {
	const rounds = 20
	for _, held := range []javapeer.Kind{write, read} {
		waits := map[javapeer.Kind]javapeer.Kind{write: read, read: write}[held]
		var goWakes, javaWakes []time.Duration
		for range rounds {
			p.Must(p.golang.lock("a", held, 0))
			at := make(chan int64, 1)
			go func() {
				reply, err := p.java.of("j", waits).Lock(p.Context(), p.name, javapeer.Watchdog)
				if err != nil && p.Context().Err() == nil {
					p.Error(err)
				}
				at <- reply.At
			}()
			p.Must(p.java.of("j", waits).AwaitParked(p.Context()))
			began := machineclock.Now()
			p.Must(p.golang.unlock("a", held))
			goWakes = append(goWakes, time.Duration(enters(p, "Java", at)-began))
			p.Must(p.java.unlock("j", waits))

			p.Must(p.java.lock("j", held, 0))
			got := p.goWaits(waits, 1)
			began = machineclock.Now()
			p.Must(p.java.unlock("j", held))
			h := enters(p, "Go", got)
			javaWakes = append(javaWakes, time.Duration(machineclock.Now()-began))
			p.Must(h.Unlock(p.Context()))
			time.Sleep(10 * time.Millisecond) // Redisson 3.21.3 may miss a release if it begins to listen while it ends to
		}
		for who, took := range map[string][]time.Duration{"Go wakes Java's": goWakes, "Java wakes Go's": javaWakes} {
			slices.Sort(took)
			p.Logf("Redisson %s, a release to %s: %s %s after p50 %v, max %v (%d rounds)", p.java.peer.Version, held, who, waits, took[rounds/2], took[rounds-1], rounds)
			if took[rounds/2] > atOnce/6 {
				p.Errorf("%s %s after %v at the median", who, waits, took[rounds/2])
			}
		}
	}
}

func readersTogether(p *pair) {
	for _, last := range []side{p.golang, p.java} {
		p.Must(p.golang.lock("a", read, 0))
		p.Must(p.java.lock("b", read, 0))
		for _, s := range []side{p.golang, p.java} {
			if s.try("c", write) {
				p.Fatal("one writes beside readers")
			}
		}
		goWriter := p.goWaits(write, 1)
		javaWriter := p.java.waits("w", write)
		first := map[side]side{p.golang: p.java, p.java: p.golang}[last]
		who := map[side]string{p.golang: "a", p.java: "b"}
		p.Must(first.unlock(who[first], read))
		if len(goWriter)+len(javaWriter) > 0 {
			p.Fatal("one writes beside a reader")
		}
		p.Must(last.unlock(who[last], read))
		// One enters, and its release lets in the other.
		for range 2 {
			select {
			case h := <-goWriter:
				p.Must(h.Unlock(p.Context()))
			case err := <-javaWriter:
				p.Must(err)
				p.Must(p.java.unlock("w", write))
			case <-time.After(atOnce):
				p.Fatal("no writer enters")
			}
		}
	}
}

func allReadersEnter(p *pair) {
	for _, holder := range []side{p.golang, p.java} {
		p.Must(holder.lock("w", write, 0))
		var inJava []<-chan error
		for i := range 3 {
			inJava = append(inJava, p.java.waits(fmt.Sprint("r", i), read))
		}
		var inGo []<-chan *rlock.Hold
		for range 3 {
			inGo = append(inGo, p.goWaits(read, 2))
		}
		began := time.Now()
		p.Must(holder.unlock("w", write))
		var holds []*rlock.Hold
		for i := range 3 {
			p.Must(enters(p, "a Java reader", inJava[i]))
			holds = append(holds, enters(p, "a Go reader", inGo[i]))
		}
		p.Logf("three readers of each are in %v after the release", time.Since(began))
		for i, h := range holds {
			p.Must(h.Unlock(p.Context()))
			p.Must(p.java.unlock(fmt.Sprint("r", i), read))
		}
	}
}

// oneWriterEnters has three of Java's writers wait for each release.
func oneWriterEnters(p *pair) {
	p.Must(p.golang.lock("w", write, 0))
	waiting := map[string]<-chan error{}
	for _, who := range []string{"w1", "w2", "w3"} {
		waiting[who] = p.java.waits(who, write)
	}
	release := func() { p.Must(p.golang.unlock("w", write)) }
	for len(waiting) > 0 {
		release()
		in := ""
		p.Eventually("a writer", func() bool {
			for who, ended := range waiting {
				if len(ended) > 0 {
					in = who
				}
			}
			return in != ""
		})
		p.Must(<-waiting[in])
		delete(waiting, in)
		if n := len(p.fields()); n != 2 { // the mode and its owner
			p.Fatalf("the lock is %v", p.fields())
		}
		release = func() { p.Must(p.java.unlock(in, write)) }
	}
	release()
}

// Redisson's own downgrade tells nobody; then the last release tells Go's readers, all of them.
func downgrade(p *pair) {
	p.Must(p.golang.lock("w", write, 0))
	p.Must(p.golang.lock("w", read, 0))
	var inJava []<-chan error
	for i := range 3 {
		inJava = append(inJava, p.java.waits(fmt.Sprint("r", i), read))
	}
	inGo := p.goWaits(read, 2)
	p.Must(p.golang.unlock("w", write))
	for i := range 3 {
		p.Must(enters(p, "a Java reader", inJava[i]))
		p.Must(p.java.unlock(fmt.Sprint("r", i), read))
	}
	p.Must(enters(p, "a Go reader", inGo).Unlock(p.Context()))
	p.Must(p.golang.unlock("w", read))

	p.Must(p.java.lock("w", write, 0))
	p.Must(p.java.lock("w", read, 0))
	waits := []<-chan *rlock.Hold{p.goWaits(read, 1), p.goWaits(read, 1), p.goWaits(read, 1)}
	p.Must(p.java.unlock("w", write))
	p.Must(p.java.unlock("w", read))
	for _, got := range waits {
		p.Must(enters(p, "a Go reader", got).Unlock(p.Context()))
	}
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

// span is for how long one was in.
type span struct{ from, to int64 }

// neverMeet has readers and writers of both sides in one lock, and checks that no writer was in together with anybody.
func neverMeet(p *pair) {
	lasting := 2 * time.Second
	if p.long {
		lasting = 30 * time.Second
	}
	var mu sync.Mutex
	spans := map[javapeer.Kind][]span{}
	shares := map[string]int{}
	in := func(who string, k javapeer.Kind, s span) {
		mu.Lock()
		defer mu.Unlock()
		spans[k] = append(spans[k], s)
		shares[who+" "+string(k)]++
	}
	end := machineclock.Now() + lasting.Nanoseconds()
	var all sync.WaitGroup
	for i := range 6 {
		k := []javapeer.Kind{read, read, write}[i%3]
		all.Go(func() {
			for machineclock.Now() < end {
				err := p.golang.of(k).Do(context.Background(), func(context.Context) error {
					from := machineclock.Now()
					time.Sleep(time.Millisecond)
					in("Go", k, span{from, machineclock.Now()})
					return nil
				})
				if err != nil {
					p.Error(err)
					return
				}
				time.Sleep(3 * time.Millisecond)
			}
		})
	}
	for k, workers := range map[javapeer.Kind]int{read: 4, write: 2} {
		all.Go(func() {
			turns, err := p.java.peer.Hammer(p.Context(), javapeer.Hammer{
				Name: p.name, Kind: k, Workers: workers, Hold: time.Millisecond, Think: 3 * time.Millisecond, For: lasting,
			})
			if err != nil {
				p.Error(err)
			}
			for _, turn := range turns {
				in("Java", k, span{turn.Granted, turn.Releasing})
			}
		})
	}
	all.Wait()
	p.Logf("entered: %v", shares)
	if len(shares) != 4 {
		p.Error("somebody never entered")
	}
	together := 0
	reads, writes := spans[read], spans[write]
	byStart := func(a, b span) int { return int(a.from - b.from) }
	slices.SortFunc(reads, byStart)
	slices.SortFunc(writes, byStart)
	for i, w := range writes {
		if i > 0 && w.from < writes[i-1].to {
			p.Errorf("two wrote for %v", time.Duration(writes[i-1].to-w.from))
		}
		for _, r := range reads {
			if r.from < w.to && w.from < r.to {
				p.Errorf("one wrote and one read for %v", time.Duration(min(r.to, w.to)-max(r.from, w.from)))
			}
		}
	}
	for i, r := range reads {
		if i > 0 && r.from < reads[i-1].to {
			together++
		}
	}
	if together == 0 {
		p.Error("no two readers were together")
	}
	p.Logf("%d reads, %d beside another; %d writes", len(reads), together, len(writes))
}

package javareadwrite

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

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
		for i := range 2 {
			select {
			case h := <-goWriter:
				if i == 0 {
					p.java.sleep(write, "w")
				}
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
		p.java.sleep(write, slices.Collect(maps.Keys(waiting))...)
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

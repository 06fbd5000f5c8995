package javareadwrite

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
)

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

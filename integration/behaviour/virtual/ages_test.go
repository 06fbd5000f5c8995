package virtual_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// A hold and a wait that never end have no event, so they are seen by their age, whoever holds the lock.
func TestAgesOfWhatNeverEnds(t *testing.T) {
	inBubble(t, func(r *rig) {
		c, other := r.open(), r.open()
		began := time.Now()
		ages := func(stage string, sum rlock.Age, kinds map[rlock.Kind]rlock.Age, names map[rlock.Subject]rlock.Age) {
			t.Helper()
			round := func(a rlock.Age) rlock.Age {
				return rlock.Age{Hold: a.Hold.Round(time.Second), Wait: a.Wait.Round(time.Second)}
			}
			stats, byKind, byName := c.Stats(), map[rlock.Kind]rlock.Age{}, map[rlock.Subject]rlock.Age{}
			for kind, k := range stats.Kinds {
				byKind[kind] = round(k.Oldest)
			}
			for lock, age := range c.Ages() {
				byName[lock] = round(age)
			}
			if round(stats.Oldest) != sum || !maps.Equal(byKind, kinds) || !maps.Equal(byName, names) {
				t.Errorf("%s: %v, by kind %v, by name %v", stage, round(stats.Oldest), byKind, byName)
			}
		}
		lock, fenced := rlock.Subject{Name: "a", Kind: rlock.KindLock}, rlock.Subject{Name: "b", Kind: rlock.KindFenced}
		ages("fresh", rlock.Age{}, map[rlock.Kind]rlock.Age{}, map[rlock.Subject]rlock.Age{})

		first := must(c.NewLock("a").Lock(context.Background()))(r)
		r.pass(10 * time.Second)
		again := must(c.NewLock("a").Lock(context.Background(), rlock.As(first.Owner())))(r) // the oldest counts
		second := must(other.NewFencedLock("b").Lock(context.Background()))(r)
		ended := make(chan error, 3)
		waits := func(l interface {
			Lock(context.Context, ...rlock.AcquireOption) (*rlock.Hold, error)
		}, opts ...rlock.AcquireOption) {
			h, err := l.Lock(context.Background(), opts...)
			if err == nil {
				err = h.Unlock(context.Background())
			}
			ended <- err
		}
		r.pass(5 * time.Second)
		go waits(c.NewFencedLock("b"), rlock.As(c.NewOwner()))
		r.pass(5 * time.Second)
		go waits(c.NewLock("a"))
		r.pass(50 * time.Second)
		go waits(c.NewLock("a")) // the oldest counts
		r.pass(50 * time.Second)
		ages("held and waited for", rlock.Age{Hold: 120 * time.Second, Wait: 105 * time.Second}, map[rlock.Kind]rlock.Age{
			rlock.KindLock: {Hold: 120 * time.Second, Wait: 100 * time.Second}, rlock.KindFenced: {Wait: 105 * time.Second},
		}, map[rlock.Subject]rlock.Age{
			lock: {Hold: 120 * time.Second, Wait: 100 * time.Second}, fenced: {Wait: 105 * time.Second},
		})

		for _, h := range []*rlock.Hold{first, second} {
			if err := h.Unlock(context.Background()); err != nil {
				t.Error(err)
			}
		}
		if err := <-ended; err != nil { // b is free
			t.Error(err)
		}
		at := since(began).Round(time.Second)
		ages("one re-entry is left", rlock.Age{Hold: at - 10*time.Second, Wait: at - 20*time.Second}, map[rlock.Kind]rlock.Age{
			rlock.KindLock: {Hold: at - 10*time.Second, Wait: at - 20*time.Second}, rlock.KindFenced: {},
		}, map[rlock.Subject]rlock.Age{lock: {Hold: at - 10*time.Second, Wait: at - 20*time.Second}})
		if err := again.Unlock(context.Background()); err != nil {
			t.Error(err)
		}
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		ages("all are over", rlock.Age{}, map[rlock.Kind]rlock.Age{rlock.KindLock: {}, rlock.KindFenced: {}}, map[rlock.Subject]rlock.Age{})
	})
}

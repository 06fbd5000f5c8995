package waitqueue

import (
	"reflect"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
)

// Adopting a waiter that made its attempt before it had a queue gives the queue that joining it first would give.
func TestAdoptedWaiterStandsWhereItWouldHaveJoined(t *testing.T) {
	const since, now = 7 * time.Second, 9 * time.Second
	for what, c := range map[string]struct {
		rules *kind.Traits
		join  func(*Queue, *Waiter)
	}{
		"queued":       {kind.Reentrant.Traits(), func(q *Queue, w *Waiter) { q.Join(since, w, false) }},
		"queued, wide": {&kind.Traits{Width: 3, PassOn: true}, func(q *Queue, w *Waiter) { q.Join(since, w, false) }},
		"any number":   {new(kind.Traits), func(q *Queue, w *Waiter) { q.JoinUnqueued(since, w) }},
		"once":         {kind.Reentrant.Traits(), func(q *Queue, w *Waiter) { w.OneTry = true; q.JoinUnqueued(since, w) }},
	} {
		t.Run(what, func(t *testing.T) {
			joined, adopting := New(time.Second, nil), New(time.Second, nil)
			joined.Follow(c.rules, nil)
			adopting.Follow(c.rules, nil)
			var first, lone Waiter
			c.join(&joined, &first)
			lone.OneTry = first.OneTry
			if a := joined.Next(since); a.Do != Attempt || a.Waiter != &first {
				t.Fatalf("%+v, want the first one's attempt", a)
			}
			adopting.Adopt(since, &lone)
			for _, q := range []*Queue{&joined, &adopting} {
				if a := q.Next(now); a.Do != Nothing {
					t.Fatalf("%+v, want nothing", a)
				}
			}
			if !reflect.DeepEqual(joined, adopting) {
				t.Errorf("joined:  %+v\nadopted: %+v", joined, adopting)
			}
		})
	}
}

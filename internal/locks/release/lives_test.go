package release

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// live runs one life and checks that it ends. Something may go wrong in its first waits, as many
// as disturbed says. It returns the room of its log, for the next one.
func live(t *testing.T, disturbed int, draw func(n int) int, seen map[any]int, log []any) []any {
	w := &world{t: t, draw: draw, now: time.Hour, ours: true, seen: seen, disturbed: disturbed, log: log}
	w.u = &Release{Why: Why(draw(int(Repeat) + 1)), Retry: time.Minute}
	w.u.Limit = w.now + time.Duration(draw(2)*40)*time.Second
	w.u.Unheld = w.u.Limit + time.Duration(draw(2)*40)*time.Second
	n := draw(3)
	w.mute, w.breaks = n == 1, n == 2
	w.foreign, w.u.Sibling = w.yes(2), n == 1
	switch w.u.Why {
	case Undo:
		w.u.Limit, w.ours = clock.Never, w.yes(2)
	case Retract:
		w.ours, w.foreign = w.yes(2), false
	case UnlockAs:
		w.stray = w.yes(4)
	case Repeat:
		w.ours = w.yes(2) // true: the next master lacks the unlock
	}
	if w.u.Why != Undo {
		switch draw(4) {
		case 1:
			w.ended = 1
		case 2:
			w.ended, w.left = 1, 1
		case 3:
			w.left = 1
		}
		if w.u.Why == UnlockAs {
			w.left = 0
		}
		if w.u.Sibling && w.ended > 0 && w.left == 0 {
			w.endedSibling = 1
		}
		if w.foreign {
			w.others = w.ended
		}
	}
	defer func() {
		if t.Failed() {
			t.Logf("%v, foreign %v, %d live, %d and %d ended, %d are others': %v", w.u.Why, w.foreign, w.left, w.ended, w.endedSibling, w.others, w.log)
		}
	}()
	if w.yes(2) {
		w.blocks() // before its turn in the command queue
	}
	w.turn()
	switch {
	case !w.over:
		t.Fatal("it returned, and the owner's next command does not go")
	case !w.u.Reported() && w.u.Why != UnlockAs:
		t.Fatal("it ended and told nobody")
	}
	for range 5 { // a lost send may still run
		w.arrive()
	}
	return w.log[:0]
}

// TestNoSequenceReleasesTwice shows that in any sequence of events a release takes at most its
// own hold, answers its caller once and correctly, and ends.
func TestNoSequenceReleasesTwice(t *testing.T) {
	seen := map[any]int{}
	for seed := range uint64(30000) {
		live(t, 30, rand.New(rand.NewPCG(seed, 27)).IntN, seen, nil)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for v := Released; v <= Foreign; v++ {
		if seen[v] == 0 {
			t.Errorf("%v was never told", v)
		}
	}
	for _, what := range []any{"a lost one runs", "others hold", "a hold ends", "half way", "in two places", TTL, Replicas, "taken back"} {
		if seen[what] == 0 {
			t.Errorf("%v never happened", what)
		}
	}
}

// TestEverySequence runs all lives in which something goes wrong in none, one or two of the first
// two waits.
func TestEverySequence(t *testing.T) {
	most := disturbed
	if testing.Short() {
		most = 1
	}
	for why := range Repeat + 1 {
		t.Run(why.String(), func(t *testing.T) {
			t.Parallel()
			everySequence(t, why, most)
		})
	}
}

func everySequence(t *testing.T, why Why, most int) {
	type choice struct{ of, taken int }
	script := []choice{{of: int(why) + 1, taken: int(why)}} // the first choice is why
	lives := 0
	var log []any
	for more := true; more; lives++ {
		at := 0
		log = live(t, most, func(n int) int {
			if at == len(script) {
				script = append(script, choice{of: n})
			}
			at++
			return script[at-1].taken
		}, nil, log)
		if t.Failed() {
			t.Fatalf("%v", script)
		}
		for more = false; len(script) > 0 && !more; {
			last := &script[len(script)-1]
			if last.taken++; last.taken < last.of {
				more = true
			} else {
				script = script[:len(script)-1]
			}
		}
	}
	t.Logf("%d lives", lives)
}

func FuzzNoSequenceReleasesTwice(f *testing.F) {
	f.Add([]byte("a life that nobody has led so far"))
	f.Fuzz(func(t *testing.T, b []byte) {
		live(t, 30, func(n int) int {
			if len(b) == 0 {
				return n - 1
			}
			c := int(b[0])
			b = b[1:]
			return c % n
		}, nil, nil)
	})
}

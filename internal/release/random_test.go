package release

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
)

// live lives one life, and checks that it has an end.
func live(t *testing.T, draw func(n int) int, seen map[string]int) {
	w := &world{t: t, draw: draw, now: time.Hour, ours: true, seen: seen}
	rules := []*kind.Traits{kind.Reentrant.Traits(), kind.Spin.Traits()}[draw(2)]
	w.m = start(Why(draw(int(Repeat)+1)), rules)
	w.m.Limit = w.now + time.Duration(draw(60))*time.Second
	w.m.Unheld = w.m.Limit + time.Duration(draw(60))*time.Second
	w.mute = rules == kind.Reentrant.Traits() && w.yes(2)
	switch w.m.Why {
	case Undo:
		w.m.Limit, w.ours = clock.Never, w.yes(2)
	case Vain, UnlockAs:
		w.shown, w.stray = true, w.m.Why == UnlockAs && w.yes(4)
	case Repeat:
		w.ours = w.yes(2) // the next master lacks the unlock
		w.left = draw(3)
		w.others, w.shown = w.left, w.left > 0 || w.yes(2)
	default:
		w.shown = w.yes(2)
	}
	if w.m.Why != Undo && w.m.Why != Repeat && w.yes(4) {
		w.shown, w.others = true, 1+draw(2)
		w.left = draw(w.others + 1)
	}
	defer func() {
		if t.Failed() {
			t.Logf("%v, shown %v, %d others: %v", w.m.Why, w.shown, w.others, w.log)
		}
	}()
	for range 60 {
		w.step(false)
	}
	w.inTwo = false
	for n := 0; w.m.state != over; n++ {
		if n > 20 {
			t.Fatal("it never ends")
		}
		w.step(true)
	}
	for range 5 { // what was lost may still come
		w.arrive()
	}
}

// TestNoSequenceReleasesTwice: whatever happens in whatever order, a release takes
// its own hold at most, tells its caller once and what is so, and has an end.
func TestNoSequenceReleasesTwice(t *testing.T) {
	seeds := uint64(8000)
	if testing.Short() {
		seeds = 3000
	}
	seen := map[string]int{}
	for seed := range seeds {
		live(t, rand.New(rand.NewPCG(seed, 27)).IntN, seen)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for v := Released; v <= ShownUnknown; v++ {
		if seen[v.String()] == 0 {
			t.Errorf("%v was never told", v)
		}
	}
	for _, what := range []string{"a lost one runs", "others hold", "half way", "in two places", "hears Count", "hears Announce", "hears Replicas", "lost for good"} {
		if seen[what] == 0 {
			t.Errorf("%q never happened", what)
		}
	}
}

func FuzzNoSequenceReleasesTwice(f *testing.F) {
	f.Add([]byte("a life that nobody has led so far"))
	f.Fuzz(func(t *testing.T, b []byte) {
		live(t, func(n int) int {
			if len(b) == 0 {
				return n - 1
			}
			c := int(b[0])
			b = b[1:]
			return c % n
		}, map[string]int{})
	})
}

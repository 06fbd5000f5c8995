package watchdog

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestLeasesFailUntilTheyAreRenewedOrGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answers sync.Map // by lease; none: failed
		w := newWorld(t, func(c call) {
			for i, l := range c.batch {
				said, ok := answers.Load(l)
				if !ok {
					said = failed
				}
				a := said.(Answer)
				a.Sent = c.at
				c.answer(i, a)
			}
		})
		well, mended, released, lost, changed, vanished := w.hold(), w.hold(), w.hold(), w.hold(), w.hold(), w.hold()
		answers.Store(well, renewed)
		fail := func(want int) {
			t.Helper()
			synctest.Wait()
			if n := w.Failing(); n != want {
				t.Errorf("%d fail, want %d", n, want)
			}
		}
		fail(0)
		time.Sleep(11 * time.Second)
		fail(5)
		// A renewal that is not sent says nothing about the server.
		answers.Store(well, Answer{Result: Busy})
		answers.Store(mended, Answer{Result: Busy})
		time.Sleep(2 * time.Second)
		fail(5)
		answers.Store(well, renewed)
		answers.Store(mended, renewed)
		time.Sleep(2 * time.Second)
		fail(4)
		released.Forget()
		fail(3)
		newTerms(changed, Never, Never)
		fail(2)
		answers.Store(vanished, Answer{Result: NotOwned})
		time.Sleep(2 * time.Second)
		fail(1)
		time.Sleep(20 * time.Second)
		fail(0)
		if got := w.holder.lost(); len(got) != 3 || got[1].lease != lost && got[2].lease != lost {
			t.Errorf("lost: %v", got)
		}
		answers.Store(well, failed)
		time.Sleep(10 * time.Second)
		fail(1)
		w.Close()
		fail(0)
	})
}

package watchdog

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// However often a renewal is tried, its lease is told of once, and once when one succeeds.
func TestFailingLeaseIsToldOncePerTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			mu     sync.Mutex // guards what follows
			answer = failed
			names  = map[*Lease]string{}
			told   []string
		)
		why := errors.New("the server refuses")
		w := newWorld(t, func(c call) {
			mu.Lock()
			a := answer
			mu.Unlock()
			a.Sent = c.at
			for i := range c.batch {
				c.answer(i, a)
			}
		})
		w.failing = func(l *Lease, err error) {
			l.SetAlarm(Never) // it may call the lease
			mu.Lock()
			defer mu.Unlock()
			told = append(told, fmt.Sprintf("%s: %v", names[l], err))
		}
		say := func(a Answer) {
			mu.Lock()
			defer mu.Unlock()
			answer = a
		}
		is := func(stage string, want ...string) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if slices.Sort(told); !slices.Equal(told, want) {
				t.Errorf("%s: %q", stage, told)
			}
			told = nil
		}
		mended, changed, lost := w.hold(), w.hold(), w.hold()
		mu.Lock()
		names[mended], names[changed], names[lost] = "mended", "changed", "lost"
		mu.Unlock()

		say(Answer{Result: Busy}) // nothing was sent
		time.Sleep(12 * time.Second)
		is("busy")
		say(Answer{Result: Failed, Err: why})
		time.Sleep(2 * time.Second)
		is("failing", "changed: the server refuses", "lost: the server refuses", "mended: the server refuses")
		time.Sleep(5 * time.Second)
		is("still failing")
		newTerms(changed, w.clock.Now()-10*time.Second, Never) // a command of its holder does not end the trouble
		say(failed)
		time.Sleep(2 * time.Second)
		is("failing after a command")
		say(renewed)
		time.Sleep(2 * time.Second)
		is("renewed", "changed: <nil>", "lost: <nil>", "mended: <nil>")
		time.Sleep(30 * time.Second)
		is("renewed again and again")
		say(failed)
		time.Sleep(11 * time.Second)
		is("failing again", "changed: "+errFailed.Error(), "lost: "+errFailed.Error(), "mended: "+errFailed.Error())
		changed.Forget()
		say(Answer{Result: NotOwned})
		time.Sleep(2 * time.Second)
		is("lost")
		if n := len(w.holder.lost()); n != 2 {
			t.Errorf("%d are lost", n)
		}
	})
}

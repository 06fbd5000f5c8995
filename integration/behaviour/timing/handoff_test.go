package timing

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// A hand-off within a client costs one attempt and no subscription. Every subscriber gets the message of an unlock, the
// releasing client too, which must recognise its own: otherwise its waiters would try a lock that one of them holds.
func TestHandOffWithinAClientCostsOneAttemptAndNoSubscription(t *testing.T) {
	const callers, turns = 3, 200
	for _, hold := range []time.Duration{0, time.Millisecond} {
		for _, courtesy := range []bool{true, false} {
			t.Run(fmt.Sprint("held for ", hold, ", courtesy ", courtesy), func(t *testing.T) {
				play(t, func(t *testing.T, s *server) {
					l := open(t, s, rlock.WithCourtesy(courtesy)).NewLock("orders")
					mustUnlock(t, lockOf(t, l)) // connected
					tap := s.tap()
					var all sync.WaitGroup
					for range callers {
						all.Go(func() {
							for range turns {
								h := lockOf(t, l)
								time.Sleep(hold)
								mustUnlock(t, h)
							}
						})
					}
					all.Wait()
					attempts, subscribes := 0, 0
					lines := tap.Mark()
					attempts = len(tries(lines))
					for _, line := range lines {
						if line.Is("SUBSCRIBE") || line.Is("SSUBSCRIBE") {
							subscribes++
						}
					}
					t.Logf("%d attempts, %d subscribed", attempts, subscribes)
					if attempts < callers*turns || attempts > callers*turns+callers || subscribes > 2 {
						t.Errorf("%d attempts for %d acquisitions, subscribed %d times", attempts, callers*turns, subscribes)
					}
				})
			})
		}
	}
}

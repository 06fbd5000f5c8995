package timing

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// The documentation says that a holder learns of its loss at once, or within two seconds if the lock was taken less than two
// seconds ago.
const (
	toldAtOnce  = 250 * time.Millisecond
	toldWithin  = 2 * time.Second
	momentsLast = 2 * time.Second
)

// At default leases, renewed and fixed.
func TestHowSoonALossIsTold(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		c := open(t, s)
		const each = 10
		var all sync.WaitGroup
		for _, opts := range [][]rlock.AcquireOption{nil, {rlock.Lease(30 * time.Second)}} {
			for _, age := range []time.Duration{0, 500 * time.Millisecond, 1500 * time.Millisecond, 2 * time.Second, 3 * time.Second} {
				what, most := fmt.Sprintf("%v old, fixed %t", age, opts != nil), toldWithin
				if age >= momentsLast {
					most = toldAtOnce
				}
				times := make([]time.Duration, each)
				var holds sync.WaitGroup
				for i := range each {
					name, conn := fmt.Sprintf("%s, %d", what, i), s.Dial(t)
					holds.Go(func() {
						time.Sleep(time.Duration(i) * time.Second / each) // at any phase of the client's intervals
						h := lock(t, c, name, opts...)
						time.Sleep(age)
						began := time.Now()
						if n, err := conn.Do("DEL", name); n != int64(1) || err != nil {
							t.Errorf("%s: %v keys, %v", name, n, err)
						}
						select {
						case <-h.Done():
						case <-time.After(toldWithin + 10*time.Second):
						}
						times[i] = time.Since(began)
						if err := h.Err(); !errors.Is(err, rlock.ErrLeaseLost) || times[i] > most {
							t.Errorf("%s: %v after %v, at most %v are promised", name, err, times[i], most)
						}
					})
				}
				all.Go(func() {
					holds.Wait()
					slices.Sort(times)
					t.Logf("%s: told after %v at the median, %v at the longest", what, times[each/2].Round(time.Millisecond), times[each-1].Round(time.Millisecond))
				})
			}
		}
		all.Wait()
	})
}

// A client without other holds turns tracking on for this one.
func TestHowSoonAClientsOnlyLossIsTold(t *testing.T) {
	ages := []time.Duration{0, 50 * time.Millisecond, 500 * time.Millisecond, 1500 * time.Millisecond}
	for range 8 { // what the client does until then happens in different orders
		ages = append(ages, momentsLast)
	}
	for _, age := range ages {
		t.Run(fmt.Sprintf("%v old", age), func(t *testing.T) {
			play(t, func(t *testing.T, s *server) {
				c, conn := open(t, s), s.Dial(t)
				if err := lock(t, c, t.Name()).Unlock(t.Context()); err != nil { // so that a round is just over
					t.Fatal(err)
				}
				h := lock(t, c, t.Name())
				time.Sleep(age)
				began := time.Now()
				if n, err := conn.Do("DEL", t.Name()); n != int64(1) || err != nil {
					t.Fatalf("%v keys, %v", n, err)
				}
				most := toldWithin
				if age >= momentsLast {
					most = toldAtOnce
				}
				<-h.Done()
				if took := time.Since(began); !errors.Is(h.Err(), rlock.ErrLeaseLost) || took > most {
					t.Errorf("%v after %v, at most %v are promised", h.Err(), took, most)
				}
			})
		})
	}
}

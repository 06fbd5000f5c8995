package virtual_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlock"
)

// The server ends permits by whole milliseconds of its clock, which have begun when an acquire arrives. Nobody may take a permit
// before its holder's trust is over, however short its lease is.
func TestPermitIsTakenForAsLongAsItsHolderTrustsIt(t *testing.T) {
	const lease = 20 * time.Millisecond
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		s := r.open().NewPermitSemaphore("seats")
		must(s.TrySetPermits(ctx, 1))(r)
		look := func(p *rlock.Permits, when string) {
			r.Helper()
			r.pass(time.Until(p.ValidUntil()) - time.Microsecond)
			if err := p.Err(); err != nil {
				r.Fatalf("%s: %v", when, err)
			}
			r.at(func() {
				c := r.server.Session(host(9))
				now, end := numbers(c.Do("TIME")), numbers(c.Do("ZRANGE", codec.PermitTimes("seats"), "0", "-1", "WITHSCORES"))
				if ms := now[0]*1000 + now[1]/1000; end[len(end)-1] <= ms {
					r.Errorf("%s it ended at %d, and it is trusted at %d ms and %d µs", when, end[len(end)-1], ms, now[1]%1000)
				}
			})
		}
		for i := range 20 {
			r.pass(137 * time.Microsecond)
			p := must(s.TryAcquire(ctx, 1, rlock.Lease(lease)))(r)
			look(p, fmt.Sprint("acquired ", i))
			_ = p.Release(ctx) // which comes behind its end
		}
		for i := range 20 {
			p := must(s.TryAcquire(ctx, 1, rlock.Lease(time.Second)))(r)
			r.pass(137 * time.Microsecond)
			if err := p.Extend(ctx, lease); err != nil {
				r.Fatal(err)
			}
			look(p, fmt.Sprint("extended ", i))
			_ = p.Release(ctx)
		}
	})
}

// numbers are those lines of a reply that are numbers.
func numbers(reply []byte) (all []int64) {
	for _, line := range regexp.MustCompile(`(?m)^\d+\r$`).FindAllString(string(reply), -1) {
		n, _ := strconv.ParseInt(line[:len(line)-1], 10, 64)
		all = append(all, n)
	}
	return all
}

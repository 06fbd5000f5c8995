package behaviour_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

func TestManyOperationsLeaveNoChannelAndNoKey(t *testing.T) {
	const operations, goroutines, names = 5000, 20, 5
	r := start(t)
	base := r.name()
	clients := []*rlock.Client{r.open(), r.open()}
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for range operations / goroutines {
				l := clients[g%2].NewLock(fmt.Sprint(base, rand.IntN(names)))
				h, err := l.TryLockFor(t.Context(), time.Minute)
				if err == nil {
					err = h.Unlock(t.Context())
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	// The clients stay open: what is left now would never go.
	r.Becomes("no channel is subscribed", func() bool {
		return len(r.Strings("PUBSUB", "CHANNELS", "redisson_lock__channel:{"+base+"*")) == 0
	})
	r.Becomes("no key and no latch is left", func() bool {
		for _, key := range r.Strings("KEYS", "*") {
			if strings.Contains(key, base) {
				return false
			}
		}
		return true
	})
}
